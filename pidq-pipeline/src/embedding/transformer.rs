//! Models that are transformers of the BERT family, in the format of sentence-transformers: a folder with `config.json`,
//! `tokenizer.json` and `model.safetensors`, and files that say how a text's tokens become its vector.
//!
//! J. Devlin and others: BERT, 2019; N. Reimers, I. Gurevych: Sentence-BERT, 2019. Each text is run by itself: nothing is
//! padded, so nothing has to be masked, and a vector does not depend on what it was asked together with.

mod bert;
mod folder;

use std::sync::Arc;

use candle_core::{Result, Tensor};
use tokenizers::Tokenizer;

use super::folder::{broken, folder as place_of};
use super::{Embedder, Error, Model};
use bert::Bert;
use folder::{Folder, Pooling};

/// The row.
pub const TRANSFORMER: Model = Model {
    name: "transformer",
    dimensions: None,
    summary: "a transformer of the BERT family from a folder, as sentence-transformers keeps it; `transformer:NAME` takes the folder NAME",
    weight: 1.0,
    open: |place| Ok(Arc::new(Transformer::open(&Folder::read(&place_of(place)?)?)?)),
};

struct Transformer {
    tokenizer: Tokenizer,
    lower_case: bool,
    bert: Bert,
    pooling: Pooling,
    normalizes: bool,
}

impl Transformer {
    fn open(folder: &Folder) -> std::result::Result<Self, Error> {
        let bert = Bert::load(folder.weights()?, &folder.config).map_err(|error| broken("model.safetensors", error))?;
        let tokenizer = folder.tokenizer()?;
        Ok(Transformer {
            tokenizer,
            lower_case: folder.lower_case,
            bert,
            pooling: folder.pooling,
            normalizes: folder.normalizes,
        })
    }

    fn embed(&self, text: &str) -> std::result::Result<Vec<f32>, Error> {
        let lower = self.lower_case.then(|| text.to_lowercase());
        let encoding = self.tokenizer.encode_fast(lower.as_deref().unwrap_or(text), true);
        let encoding = encoding.map_err(|error| broken("tokenizer.json", error))?;
        self.vector(encoding.get_ids()).map_err(|error| broken("model.safetensors", error))
    }

    fn vector(&self, tokens: &[u32]) -> Result<Vec<f32>> {
        if tokens.is_empty() {
            return Ok(vec![0.0; self.bert.width()]);
        }
        let mut vector = self.pooling.pool(&self.bert.run(tokens)?)?.to_vec1()?;
        if self.normalizes {
            super::normalize(&mut vector);
        }
        Ok(vector)
    }
}

impl Embedder for Transformer {
    fn dimensions(&self) -> usize {
        self.bert.width()
    }

    fn embed(&self, texts: &[String]) -> std::result::Result<Vec<Vec<f32>>, Error> {
        texts.iter().map(|text| Transformer::embed(self, text)).collect()
    }
}

impl Pooling {
    /// From a row for each token to one.
    fn pool(self, rows: &Tensor) -> Result<Tensor> {
        match self {
            Pooling::First => rows.get(0),
            Pooling::Mean => rows.mean(0),
        }
    }
}
