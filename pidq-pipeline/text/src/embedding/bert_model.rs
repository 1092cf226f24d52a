//! Transformer models of the BERT family in the format of sentence-transformers: a directory with `config.json`,
//! `tokenizer.json` and `model.safetensors`, and files that configure the pooling.
//!
//! J. Devlin and others: BERT, 2019; N. Reimers, I. Gurevych: Sentence-BERT, 2019. Each text is run separately, without
//! padding and masks, so its vector does not depend on the other texts of a batch.

mod encoder;
mod model_files;

use std::sync::Arc;

use candle_core::{Result, Tensor};
use tokenizers::Tokenizer;

use super::model_dir::{invalid_file, model_dir};
use super::{Calibration, Embedder, Error, Model};
use encoder::BertEncoder;
use model_files::{ModelFiles, Pooling};

/// The `transformer` model.
pub const TRANSFORMER: Model = Model {
    name: "transformer",
    dimensions: None,
    summary: "a transformer of the BERT family in the format of sentence-transformers; `transformer:NAME` loads the subdirectory NAME",
    calibration: Calibration::unmeasured(0.5),
    open: |source| Ok(Arc::new(BertModel::open(&ModelFiles::read(&model_dir(source)?)?)?)),
};

struct BertModel {
    tokenizer: Tokenizer,
    lower_case: bool,
    encoder: BertEncoder,
    pooling: Pooling,
    normalizes: bool,
}

impl BertModel {
    fn open(files: &ModelFiles) -> std::result::Result<Self, Error> {
        let encoder = BertEncoder::load(files.weights()?, &files.config)
            .map_err(|error| invalid_file("model.safetensors", error))?;
        let tokenizer = files.tokenizer()?;
        Ok(BertModel {
            tokenizer,
            lower_case: files.lower_case,
            encoder,
            pooling: files.pooling,
            normalizes: files.normalizes,
        })
    }

    fn embed(&self, text: &str) -> std::result::Result<Vec<f32>, Error> {
        let lower = self.lower_case.then(|| text.to_lowercase());
        let encoding = self.tokenizer.encode_fast(lower.as_deref().unwrap_or(text), true);
        let encoding = encoding.map_err(|error| invalid_file("tokenizer.json", error))?;
        self.vector(encoding.get_ids()).map_err(|error| invalid_file("model.safetensors", error))
    }

    fn vector(&self, tokens: &[u32]) -> Result<Vec<f32>> {
        if tokens.is_empty() {
            return Ok(vec![0.0; self.encoder.width()]);
        }
        let mut vector = self.pooling.pool(&self.encoder.run(tokens)?)?.to_vec1()?;
        if self.normalizes {
            super::normalize(&mut vector);
        }
        Ok(vector)
    }
}

impl Embedder for BertModel {
    fn dimensions(&self) -> usize {
        self.encoder.width()
    }

    fn embed(&self, texts: &[String]) -> std::result::Result<Vec<Vec<f32>>, Error> {
        texts.iter().map(|text| BertModel::embed(self, text)).collect()
    }
}

impl Pooling {
    /// Reduces the rows of the tokens to one row.
    fn pool(self, rows: &Tensor) -> Result<Tensor> {
        match self {
            Pooling::First => rows.get(0),
            Pooling::Mean => rows.mean(0),
        }
    }
}
