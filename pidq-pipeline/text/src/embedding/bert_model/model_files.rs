//! Files of a transformer model. Unsupported configurations are errors, because the vectors would be silently wrong.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokenizers::Tokenizer;
use tokenizers::utils::truncation::TruncationParams;

use super::super::Error;
use super::super::model_dir::invalid_file;
use super::encoder::Config;

/// Configuration files of a model, without its weights.
pub struct ModelFiles {
    path: PathBuf,
    pub config: Config,
    pub lower_case: bool,
    pub pooling: Pooling,
    pub normalizes: bool,
    /// Maximum number of tokens of a text.
    max_tokens: usize,
}

/// Pooling of the token vectors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pooling {
    /// Vector of the first token, `[CLS]`.
    First,
    /// Mean of all token vectors.
    Mean,
}

/// An entry of `modules.json`.
#[derive(Deserialize)]
struct Module {
    path: String,
    #[serde(rename = "type")]
    kind: String,
}

/// The file `sentence_bert_config.json`.
#[derive(Default, Deserialize)]
#[serde(default)]
struct SentenceConfig {
    max_seq_length: Option<usize>,
    do_lower_case: bool,
}

impl ModelFiles {
    pub fn read(path: &Path) -> Result<ModelFiles, Error> {
        let config: Config = required(path, "config.json")?;
        config.check().map_err(|reason| invalid_file("config.json", reason))?;
        let sentence: SentenceConfig = optional(path, "sentence_bert_config.json")?.unwrap_or_default();
        let max_tokens = sentence.max_seq_length.unwrap_or(config.positions()).min(config.positions());
        let modules: Option<Vec<Module>> = optional(path, "modules.json")?;
        let (pooling, normalizes) = match modules {
            Some(modules) => read_modules(path, &modules)?,
            // The default of sentence-transformers.
            None => (Pooling::Mean, false),
        };
        let (path, lower_case) = (path.to_owned(), sentence.do_lower_case);
        Ok(ModelFiles { path, config, lower_case, pooling, normalizes, max_tokens })
    }

    pub fn weights(&self) -> Result<Vec<u8>, Error> {
        fs::read(self.path.join("model.safetensors")).map_err(|error| invalid_file("model.safetensors", error))
    }

    /// Loads the tokenizer, with truncation at the model's limit and without padding, regardless of its file.
    pub fn tokenizer(&self) -> Result<Tokenizer, Error> {
        let tokenizer = Tokenizer::from_file(self.path.join("tokenizer.json"));
        let mut tokenizer = tokenizer.map_err(|error| invalid_file("tokenizer.json", error))?;
        let truncation = TruncationParams { max_length: self.max_tokens, ..TruncationParams::default() };
        tokenizer.with_truncation(Some(truncation)).map_err(|error| invalid_file("tokenizer.json", error))?;
        tokenizer.with_padding(None);
        Ok(tokenizer)
    }
}

/// Reads the modules after the transformer: the pooling, and whether vectors are normalized.
fn read_modules(path: &Path, modules: &[Module]) -> Result<(Pooling, bool), Error> {
    let (mut pooling, mut normalizes) = (Pooling::Mean, false);
    for module in modules {
        match module.kind.rsplit('.').next().unwrap_or_default() {
            "Transformer" if module.path.is_empty() => {}
            "Pooling" => pooling = read_pooling(path, &module.path)?,
            "Normalize" => normalizes = true,
            other => return Err(invalid_file("modules.json", format!("module `{other}` is not supported"))),
        }
    }
    Ok((pooling, normalizes))
}

fn read_pooling(path: &Path, module: &str) -> Result<Pooling, Error> {
    let file = format!("{module}/config.json");
    let config: serde_json::Map<String, serde_json::Value> = required(path, &file)?;
    let enabled: Vec<&str> = config
        .iter()
        .filter(|(_, value)| **value == true)
        .filter_map(|(name, _)| name.strip_prefix("pooling_mode_"))
        .collect();
    match enabled[..] {
        ["cls_token"] => Ok(Pooling::First),
        ["mean_tokens"] => Ok(Pooling::Mean),
        _ => Err(invalid_file(&file, format!("pooling by {} is not supported", enabled.join(" and ")))),
    }
}

fn required<T: DeserializeOwned>(path: &Path, file: &str) -> Result<T, Error> {
    optional(path, file)?.ok_or_else(|| invalid_file(file, "the file is missing"))
}

fn optional<T: DeserializeOwned>(path: &Path, file: &str) -> Result<Option<T>, Error> {
    match fs::read(path.join(file)) {
        Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| invalid_file(file, error)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(invalid_file(file, error)),
    }
}
