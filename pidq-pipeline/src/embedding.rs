//! Texts as vectors: one row per model, and what every model promises.

#[cfg(feature = "static")]
mod folder;
mod hash;
mod memory;
#[cfg(feature = "static")]
mod table;
#[cfg(feature = "bert")]
mod transformer;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

pub use memory::Encoder;

/// Turns texts into vectors. Equal texts have equal vectors.
pub trait Embedder: Send + Sync {
    /// The length of every vector.
    fn dimensions(&self) -> usize;

    /// A vector for each text, in order.
    ///
    /// # Errors
    /// If the model cannot be asked, or answers what it should not.
    fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, Error>;
}

/// A model: a row of [`MODELS`].
pub struct Model {
    /// Its name in a pipeline, before a colon if more follows: `static:potion-base-8M`.
    pub name: &'static str,
    /// The length of its vectors, if every model of this name has the same.
    pub dimensions: Option<usize>,
    /// One line for the manual.
    pub summary: &'static str,
    /// How much its ranking counts in a fusion where that of the words counts 1.
    pub weight: f64,
    open: fn(&Place<'_>) -> Result<Arc<dyn Embedder>, Error>,
}

/// The name of models that a service has.
pub const SERVICE: &str = "openai";

/// All models.
pub const MODELS: &[Model] = &[
    hash::HASH_512,
    #[cfg(feature = "static")]
    table::STATIC,
    #[cfg(feature = "bert")]
    transformer::TRANSFORMER,
    Model {
        name: SERVICE,
        dimensions: None,
        summary: "any service with the embeddings endpoint of OpenAI; `openai:NAME` asks for the model NAME",
        weight: 1.0,
        open: |place| match place.remote {
            Some(remote) => remote(place.name),
            None => Err(Error::unavailable("no embeddings endpoint is configured")),
        },
    },
];

/// Where models are.
#[derive(Default)]
pub struct Places<'p> {
    /// The folder that has a folder for each model.
    pub folder: Option<PathBuf>,
    /// Makes the client of a service for the name of a model.
    pub remote: Option<&'p Remote>,
}

/// Makes the client of an embeddings service for the name of a model.
pub type Remote = dyn Fn(&str) -> Result<Arc<dyn Embedder>, Error> + Send + Sync;

/// Where one model is: what follows the colon, and the places.
struct Place<'p> {
    name: &'p str,
    #[cfg_attr(not(feature = "static"), expect(dead_code, reason = "only tables of words are in folders"))]
    folder: Option<&'p PathBuf>,
    remote: Option<&'p Remote>,
}

/// The row of a name such as `hash-512` or `static:potion-base-8M`.
pub fn find(name: &str) -> Option<&'static Model> {
    let name = name.split_once(':').map_or(name, |(name, _)| name);
    MODELS.iter().find(|model| model.name == name)
}

/// Opens the model of a name.
///
/// # Errors
/// If there is no such model, or it cannot be opened.
pub fn open(name: &str, places: &Places<'_>) -> Result<Arc<dyn Embedder>, Error> {
    let model = find(name).ok_or_else(|| Error::unavailable(format!("no embedding model `{name}`")))?;
    let name = name.split_once(':').map_or("", |(_, name)| name);
    (model.open)(&Place { name, folder: places.folder.as_ref(), remote: places.remote })
}

/// Why there are no vectors.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Error {
    /// The model cannot be asked now, or is not there.
    Unavailable {
        /// What is wrong, without any text that was to be embedded.
        detail: String,
    },
    /// A vector is not as long as the pipeline's vectors are.
    Dimensions {
        /// The length wanted.
        expected: usize,
        /// The length found.
        found: usize,
    },
}

/// The code of a model that cannot be asked.
pub const UNAVAILABLE: &str = "embedding-unavailable";

impl Error {
    /// The model cannot be asked.
    pub fn unavailable(detail: impl Into<String>) -> Self {
        Error::Unavailable { detail: detail.into() }
    }

    /// The stable name of the error.
    pub fn code(&self) -> &'static str {
        match self {
            Error::Unavailable { .. } => UNAVAILABLE,
            Error::Dimensions { .. } => "embedding-dimension-mismatch",
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Unavailable { detail } => f.write_str(detail),
            Error::Dimensions { expected, found } => write!(f, "vectors must have {expected} numbers, not {found}"),
        }
    }
}

impl std::error::Error for Error {}

/// Stretches a vector to length 1; one without direction stays, and one that has the length keeps its bits.
pub fn normalize(vector: &mut [f32]) {
    let length = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>().sqrt();
    if length > 0.0 && length.is_finite() && (length - 1.0).abs() > 1e-6 {
        vector.iter_mut().for_each(|x| *x = (f64::from(*x) / length) as f32);
    }
}

/// A vector as the database keeps it: little-endian, four bytes a number.
pub fn to_blob(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// A vector from the database; none if the bytes are not whole, finite numbers.
pub fn from_blob(blob: &[u8]) -> Option<Vec<f32>> {
    let (numbers, rest) = blob.as_chunks::<4>();
    let vector: Vec<f32> = numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    (rest.is_empty() && vector.iter().all(|x| x.is_finite())).then_some(vector)
}
