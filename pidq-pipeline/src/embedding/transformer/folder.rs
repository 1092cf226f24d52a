//! The files of a transformer, and what they say. What is not understood is refused: vectors would be wrong in silence.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokenizers::Tokenizer;
use tokenizers::utils::truncation::TruncationParams;

use super::super::Error;
use super::super::folder::broken;
use super::bert::Config;

/// A folder that was read, but for its weights.
pub struct Folder {
    path: PathBuf,
    pub config: Config,
    pub lower_case: bool,
    pub pooling: Pooling,
    pub normalizes: bool,
    /// What of a text is looked at.
    tokens: usize,
}

/// How the rows of tokens become one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pooling {
    /// The row of the first token, `[CLS]`.
    First,
    /// The mean of all.
    Mean,
}

/// A line of `modules.json`.
#[derive(Deserialize)]
struct Module {
    path: String,
    #[serde(rename = "type")]
    kind: String,
}

/// `sentence_bert_config.json`.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Sentence {
    max_seq_length: Option<usize>,
    do_lower_case: bool,
}

impl Folder {
    pub fn read(path: &Path) -> Result<Folder, Error> {
        let config: Config = required(path, "config.json")?;
        config.check().map_err(|why| broken("config.json", why))?;
        let sentence: Sentence = optional(path, "sentence_bert_config.json")?.unwrap_or_default();
        let tokens = sentence.max_seq_length.unwrap_or(config.positions()).min(config.positions());
        let modules: Option<Vec<Module>> = optional(path, "modules.json")?;
        let (pooling, normalizes) = match modules {
            Some(modules) => after(path, &modules)?,
            // What sentence-transformers does with a folder that says nothing.
            None => (Pooling::Mean, false),
        };
        let (path, lower_case) = (path.to_owned(), sentence.do_lower_case);
        Ok(Folder { path, config, lower_case, pooling, normalizes, tokens })
    }

    pub fn weights(&self) -> Result<Vec<u8>, Error> {
        fs::read(self.path.join("model.safetensors")).map_err(|error| broken("model.safetensors", error))
    }

    /// The tokenizer, which cuts where the model ends and pads nothing, whatever its file says.
    pub fn tokenizer(&self) -> Result<Tokenizer, Error> {
        let read = Tokenizer::from_file(self.path.join("tokenizer.json"));
        let mut tokenizer = read.map_err(|error| broken("tokenizer.json", error))?;
        let truncation = TruncationParams { max_length: self.tokens, ..TruncationParams::default() };
        tokenizer.with_truncation(Some(truncation)).map_err(|error| broken("tokenizer.json", error))?;
        tokenizer.with_padding(None);
        Ok(tokenizer)
    }
}

/// What comes after the transformer: pooling, and whether vectors get the length 1.
fn after(path: &Path, modules: &[Module]) -> Result<(Pooling, bool), Error> {
    let (mut pooling, mut normalizes) = (Pooling::Mean, false);
    for module in modules {
        match module.kind.rsplit('.').next().unwrap_or_default() {
            "Transformer" if module.path.is_empty() => {}
            "Pooling" => pooling = pooling_of(path, &module.path)?,
            "Normalize" => normalizes = true,
            other => return Err(broken("modules.json", format!("`{other}` is not known here"))),
        }
    }
    Ok((pooling, normalizes))
}

fn pooling_of(path: &Path, module: &str) -> Result<Pooling, Error> {
    let file = format!("{module}/config.json");
    let said: serde_json::Map<String, serde_json::Value> = required(path, &file)?;
    let on: Vec<&str> = said
        .iter()
        .filter(|(_, value)| **value == true)
        .filter_map(|(name, _)| name.strip_prefix("pooling_mode_"))
        .collect();
    match on[..] {
        ["cls_token"] => Ok(Pooling::First),
        ["mean_tokens"] => Ok(Pooling::Mean),
        _ => Err(broken(&file, format!("pooling by {} is not known here", on.join(" and ")))),
    }
}

fn required<T: DeserializeOwned>(path: &Path, file: &str) -> Result<T, Error> {
    optional(path, file)?.ok_or_else(|| broken(file, "there is none"))
}

fn optional<T: DeserializeOwned>(path: &Path, file: &str) -> Result<Option<T>, Error> {
    match fs::read(path.join(file)) {
        Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| broken(file, error)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(broken(file, error)),
    }
}
