//! Static embedding models in the format of model2vec: a directory with `model.safetensors` and `tokenizer.json`.
//!
//! The vector of a text is the normalized weighted mean of its tokens' vectors.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use tokenizers::Tokenizer;

use super::model_dir::{invalid_file, model_dir};
use super::{Calibration, Embedder, Error, Model, normalize};

/// The `static` model.
pub const STATIC: Model = Model {
    name: "static",
    dimensions: None,
    summary: "a static embedding model in the format of model2vec; `static:NAME` loads the subdirectory NAME",
    calibration: Calibration::unmeasured(0.3),
    open: |source| Ok(Arc::new(StaticModel::open(&model_dir(source)?)?)),
};

/// Maximum number of tokens of a text, as in model2vec.
const MAX_TOKENS: usize = 512;

struct StaticModel {
    tokenizer: Tokenizer,
    /// Id of the unknown token.
    unknown: Option<u32>,
    dimensions: usize,
    rows: Vec<f32>,
    /// Weight of each token; empty if all weights are 1.
    weights: Vec<f32>,
    /// Row of each token; empty if the row is the token id.
    mapping: Vec<u32>,
}

impl StaticModel {
    fn open(dir: &Path) -> Result<Self, Error> {
        let tokenizer =
            Tokenizer::from_file(dir.join("tokenizer.json")).map_err(|error| invalid_file("tokenizer.json", error))?;
        let bytes =
            fs::read(dir.join("model.safetensors")).map_err(|error| invalid_file("model.safetensors", error))?;
        let tensors = SafeTensors::deserialize(&bytes).map_err(|error| invalid_file("model.safetensors", error))?;
        StaticModel::from_tensors(tokenizer, &tensors)
    }

    fn from_tensors(tokenizer: Tokenizer, tensors: &SafeTensors<'_>) -> Result<Self, Error> {
        let embeddings = tensors.tensor("embeddings").map_err(|error| invalid_file("embeddings", error))?;
        let &[_, dimensions] = embeddings.shape() else { return Err(invalid_file("embeddings", "not a table")) };
        let optional = |name: &str| tensors.tensor(name).ok().map_or(Ok(Vec::new()), |tensor| numbers(name, &tensor));
        let weights = optional("weights")?.into_iter().map(|x| x as f32).collect();
        let mapping = optional("mapping")?.into_iter().map(|x| x as u32).collect();
        let rows: Vec<f32> = numbers("embeddings", &embeddings)?.into_iter().map(|x| x as f32).collect();
        if dimensions == 0 || rows.is_empty() || rows.iter().any(|x| !x.is_finite()) {
            return Err(invalid_file("embeddings", "not a table of numbers"));
        }
        Ok(StaticModel { unknown: unknown_token(&tokenizer), tokenizer, dimensions, rows, weights, mapping })
    }

    fn embed(&self, text: &str) -> Result<Vec<f32>, Error> {
        let encoding =
            self.tokenizer.encode_fast(text, false).map_err(|error| invalid_file("tokenizer.json", error))?;
        let tokens = encoding.get_ids().iter().copied().filter(|token| Some(*token) != self.unknown);
        let mut sums = vec![0.0f64; self.dimensions];
        for token in tokens.take(MAX_TOKENS) {
            self.add(token, &mut sums);
        }
        let mut vector: Vec<f32> = sums.into_iter().map(|sum| sum as f32).collect();
        normalize(&mut vector);
        Ok(vector)
    }

    /// Adds the weighted vector of a token. Summing suffices, because the result is normalized.
    fn add(&self, token: u32, sums: &mut [f64]) {
        let weight = self.weights.get(token as usize).copied().unwrap_or(1.0);
        let row = self.mapping.get(token as usize).copied().unwrap_or(token) as usize;
        if let Some(row) = self.rows.chunks_exact(self.dimensions).nth(row) {
            sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += f64::from(weight) * f64::from(*x));
        }
    }
}

impl Embedder for StaticModel {
    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, Error> {
        texts.iter().map(|text| StaticModel::embed(self, text)).collect()
    }
}

fn unknown_token(tokenizer: &Tokenizer) -> Option<u32> {
    use tokenizers::models::ModelWrapper;
    match tokenizer.get_model() {
        ModelWrapper::WordPiece(model) => tokenizer.token_to_id(&model.unk_token),
        ModelWrapper::WordLevel(model) => tokenizer.token_to_id(&model.unk_token),
        ModelWrapper::BPE(model) => tokenizer.token_to_id(model.unk_token.as_ref()?),
        ModelWrapper::Unigram(_) => tokenizer.token_to_id("<unk>"),
    }
}

fn numbers(name: &str, tensor: &TensorView<'_>) -> Result<Vec<f64>, Error> {
    let data = tensor.data();
    match tensor.dtype() {
        Dtype::F64 => Ok(data.as_chunks().0.iter().map(|x| f64::from_le_bytes(*x)).collect()),
        Dtype::F32 => Ok(data.as_chunks().0.iter().map(|x| f64::from(f32::from_le_bytes(*x))).collect()),
        Dtype::F16 => Ok(data.as_chunks().0.iter().map(|x| f16_to_f64(u16::from_le_bytes(*x))).collect()),
        Dtype::I64 => Ok(data.as_chunks().0.iter().map(|x| i64::from_le_bytes(*x) as f64).collect()),
        Dtype::I32 => Ok(data.as_chunks().0.iter().map(|x| f64::from(i32::from_le_bytes(*x))).collect()),
        Dtype::I8 => Ok(data.iter().map(|x| f64::from(*x as i8)).collect()),
        other => Err(invalid_file(name, format!("numbers of the type {other:?} are not supported"))),
    }
}

/// Converts a half-precision number (IEEE 754 binary16).
fn f16_to_f64(bits: u16) -> f64 {
    let sign = if bits >> 15 == 0 { 1.0 } else { -1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    match exponent {
        0 => sign * fraction * 2f64.powi(-24),
        31 => f64::NAN,
        _ => sign * (1.0 + fraction / 1024.0) * 2f64.powi(exponent - 15),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_precision_numbers_are_converted() {
        assert_eq!([0x3c00, 0xc000, 0x3555, 0x0001, 0x7bff].map(f16_to_f64)[..2], [1.0, -2.0]);
        assert!((f16_to_f64(0x3555) - 0.333_251_953_125).abs() < 1e-12);
        assert_eq!((f16_to_f64(0x0001), f16_to_f64(0x7bff)), (2f64.powi(-24), 65504.0));
    }
}
