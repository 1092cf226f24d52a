//! Text embedding: the table of models, and their interface.

mod batch_cache;
#[cfg(feature = "bert")]
mod bert_model;
mod calibration;
mod hash;
mod model_dir;
#[cfg(feature = "static")]
mod static_model;

use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use batch_cache::CachingEmbedder;
pub use calibration::{CALIBRATION_FILE, Calibration};
pub use hash::HASH_512;

/// An embedding model. Equal texts have equal vectors.
pub trait Embedder: Send + Sync {
    /// Returns the length of every vector.
    fn dimensions(&self) -> usize;

    /// Returns a vector for each text, in order.
    ///
    /// # Errors
    /// Fails if the model is unavailable or returns invalid vectors.
    fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, Error>;
}

/// A kind of embedding model: a row of [`MODELS`].
pub struct Model {
    /// Name in a pipeline; a colon and the name of a specific model may follow: `static:potion-base-8M`.
    pub name: &'static str,
    /// Vector length, if it is the same for every model of this kind.
    pub dimensions: Option<usize>,
    /// One-line summary for the manual.
    pub summary: &'static str,
    /// Calibration of models of this kind that have no file of their own.
    pub calibration: Calibration,
    open: fn(&ModelSource<'_>) -> Result<Arc<dyn Embedder>, Error>,
}

/// Name of the models of an OpenAI-compatible service.
pub const OPENAI: &str = "openai";

/// All kinds of models.
pub const MODELS: &[Model] = &[
    HASH_512,
    #[cfg(feature = "static")]
    static_model::STATIC,
    #[cfg(feature = "bert")]
    bert_model::TRANSFORMER,
    Model {
        name: OPENAI,
        dimensions: None,
        summary: "any service with an OpenAI-compatible embeddings endpoint; `openai:NAME` selects the model NAME",
        calibration: Calibration::unmeasured(0.5),
        open: |source| match source.remote {
            Some(remote) => remote(source.name),
            None => Err(Error::unavailable("no embeddings endpoint is configured")),
        },
    },
];

/// Sources of models: the model directory and a remote service.
#[derive(Default)]
pub struct ModelSources<'p> {
    /// Directory with a subdirectory for each model.
    pub model_dir: Option<PathBuf>,
    /// Constructor of remote models by name.
    pub remote: Option<&'p RemoteFactory>,
}

/// Constructor of remote models by name.
pub type RemoteFactory = dyn Fn(&str) -> Result<Arc<dyn Embedder>, Error> + Send + Sync;

/// Source of one model: the name after the colon, and where to find it.
struct ModelSource<'p> {
    name: &'p str,
    #[cfg_attr(not(feature = "static"), expect(dead_code, reason = "only static models are read from a directory"))]
    model_dir: Option<&'p PathBuf>,
    remote: Option<&'p RemoteFactory>,
}

/// Returns the kind of a model name such as `hash-512` or `static:potion-base-8M`.
pub fn find(name: &str) -> Option<&'static Model> {
    let name = name.split_once(':').map_or(name, |(name, _)| name);
    MODELS.iter().find(|model| model.name == name)
}

/// Opens a model by name.
///
/// # Errors
/// Fails if there is no such model, it cannot be opened, or its calibration is invalid.
pub fn open(name: &str, sources: &ModelSources<'_>) -> Result<Arc<dyn Embedder>, Error> {
    let model = find(name).ok_or_else(|| Error::unavailable(format!("unknown embedding model `{name}`")))?;
    calibration(name, sources.model_dir.as_deref())?;
    let name = specific_name(name);
    (model.open)(&ModelSource { name, model_dir: sources.model_dir.as_ref(), remote: sources.remote })
}

/// Returns the calibration of a model: that in its directory, else that of its kind.
///
/// # Errors
/// Fails if there is no such model, or the file is invalid.
pub fn calibration(name: &str, model_dir: Option<&Path>) -> Result<Calibration, Error> {
    let model = find(name).ok_or_else(|| Error::unavailable(format!("unknown embedding model `{name}`")))?;
    let dir = model_dir.and_then(|root| calibration_dir(name, root));
    let measured = dir.map(|dir| Calibration::read(&dir)).transpose()?.flatten();
    Ok(measured.unwrap_or(model.calibration))
}

/// Returns the directory with the calibration of a model; none for a built-in model and for an invalid name. In the name of a
/// model of a service, `--` replaces each slash.
pub fn calibration_dir(name: &str, model_dir: &Path) -> Option<PathBuf> {
    let model = find(name).filter(|model| model.dimensions.is_none())?;
    match specific_name(name) {
        // Models of a service have no common calibration in the root.
        "" if model.name == OPENAI => None,
        name if model.name == OPENAI => model_dir::subdirectory(model_dir, &name.replace('/', "--")),
        name => model_dir::subdirectory(model_dir, name),
    }
}

/// Returns the name after the colon.
fn specific_name(name: &str) -> &str {
    name.split_once(':').map_or("", |(_, name)| name)
}

/// An embedding error.
#[derive(Clone, Debug, Eq, thiserror::Error, PartialEq)]
pub enum Error {
    /// The model is missing or does not respond.
    #[error("{detail}")]
    Unavailable {
        /// Explanation, without any of the texts.
        detail: String,
    },
    /// The vector length differs from that of the pipeline.
    #[error("vectors must have {expected} numbers, not {found}")]
    Dimensions {
        /// Expected length.
        expected: usize,
        /// Actual length.
        found: usize,
    },
}

impl Error {
    /// Creates an error about an unavailable model.
    pub fn unavailable(detail: impl Into<String>) -> Self {
        Error::Unavailable { detail: detail.into() }
    }
}

/// Scales a vector to length 1. A zero vector is unchanged, and a vector of length 1 keeps its bits.
pub fn normalize(vector: &mut [f32]) {
    let length = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>().sqrt();
    if length > 0.0 && length.is_finite() && (length - 1.0).abs() > 1e-6 {
        vector.iter_mut().for_each(|x| *x = (f64::from(*x) / length) as f32);
    }
}

/// Encodes a vector for the database: little-endian, four bytes per number.
pub fn to_blob(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// Decodes a vector from the database; none if the length is invalid or a number is not finite.
pub fn from_blob(blob: &[u8]) -> Option<Vec<f32>> {
    let (numbers, remainder) = blob.as_chunks::<4>();
    let vector: Vec<f32> = numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    (remainder.is_empty() && vector.iter().all(|x| x.is_finite())).then_some(vector)
}
