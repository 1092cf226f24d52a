//! Registry of open embedding models; each is opened once and runs on blocking threads.

mod remote;
mod settings;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use remote::EmbeddingService;
pub use settings::SETTINGS;

use pidq_http::{ProblemCode, Trace, codes};
use pidq_store::domain::model::Pipeline;
use pidq_text::embedding::{self, CachingEmbedder, Calibration, Embedder, Error, Model, ModelSources};

/// Maximum number of partitions with a query cache, and of queries in each cache.
const MAX_QUERY_CACHES: usize = 256;
const QUERY_CACHE_CAPACITY: usize = 64;

/// Open embedding models.
#[derive(Default)]
pub struct ModelRegistry {
    model_dir: Option<PathBuf>,
    service: Option<Arc<EmbeddingService>>,
    open: Mutex<HashMap<ModelKey, Arc<dyn Embedder>>>,
    query_caches: Mutex<HashMap<PartitionKey, Arc<CachingEmbedder>>>,
    /// Calibrations of the models of pipelines, which are read once.
    calibrations: Mutex<HashMap<String, Calibration>>,
}

/// Model name, and the vector length if it is known.
type ModelKey = (String, Option<usize>);

/// Key of a query cache: pipeline, generation, classification. Response times reveal cached queries, so classifications do
/// not share a cache.
type PartitionKey = (String, i64, String);

impl ModelRegistry {
    /// Creates a registry of the built-in models, the models in the subdirectories of a directory, and those of a service.
    pub fn new(model_dir: Option<PathBuf>, service: Option<EmbeddingService>) -> ModelRegistry {
        ModelRegistry { model_dir, service: service.map(Arc::new), ..ModelRegistry::default() }
    }

    /// Returns whether the model directory or service that a model needs is configured, without checking it.
    pub fn is_configured(&self, model: &Model) -> bool {
        match model.name {
            embedding::OPENAI => self.service.is_some(),
            _ => model.dimensions.is_some() || self.model_dir.is_some(),
        }
    }

    /// Returns the vector length of a model.
    ///
    /// # Errors
    /// Fails if there is no such model, or it cannot be opened.
    pub async fn dimensions(&self, name: &str) -> Result<usize, Error> {
        self.open(name, None).await.map(|model| model.dimensions())
    }

    /// Returns the model of a pipeline.
    ///
    /// # Errors
    /// Fails if the model cannot be opened, or its vector length differs from that of the pipeline.
    pub async fn for_pipeline(&self, pipeline: &Pipeline) -> Result<Arc<dyn Embedder>, Error> {
        self.sized(&pipeline.embedding_model, pipeline.embedding_dimensions).await
    }

    async fn sized(&self, name: &str, dimensions: i64) -> Result<Arc<dyn Embedder>, Error> {
        let expected = usize::try_from(dimensions).unwrap_or(0);
        let model = self.open(name, Some(expected)).await?;
        match model.dimensions() {
            found if found == expected => Ok(model),
            found => Err(Error::Dimensions { expected, found }),
        }
    }

    /// Returns the calibration of the model of a pipeline. A model that cannot be opened has no vectors that could count.
    pub async fn calibration(&self, name: &str) -> Calibration {
        if let Some(calibration) = lock(&self.calibrations).get(name) {
            return *calibration;
        }
        let (model_dir, owned_name) = (self.model_dir.clone(), name.to_owned());
        let read = run_blocking(move || embedding::calibration(&owned_name, model_dir.as_deref())).await;
        match read {
            Ok(calibration) => *lock(&self.calibrations).entry(name.to_owned()).or_insert(calibration),
            Err(_) => Calibration::unmeasured(0.0),
        }
    }

    /// Returns a model for the texts of documents, without a cache, because they are embedded only once.
    ///
    /// # Errors
    /// As [`for_pipeline`](Self::for_pipeline).
    pub async fn for_documents(&self, model: &str, dimensions: i64) -> Result<Arc<CachingEmbedder>, Error> {
        Ok(Arc::new(CachingEmbedder::new(self.sized(model, dimensions).await?, 0)))
    }

    /// Returns the vector of a query, cached per classification.
    ///
    /// # Errors
    /// Fails if the model is unavailable or returns invalid vectors.
    pub async fn embed_query(&self, pipeline: &Pipeline, classification: &str, text: &str) -> Result<Vec<f32>, Error> {
        let embedder = self.query_cache(pipeline, classification, self.for_pipeline(pipeline).await?);
        let texts = [text.to_owned()];
        let mut vectors = run_blocking(move || embedder.embed(&texts)).await?;
        vectors.pop().ok_or_else(|| Error::unavailable("the model returned no vector"))
    }

    /// Checks that a model is available, by embedding one word.
    ///
    /// # Errors
    /// Returns the error of the model.
    pub async fn check(&self, name: &str, dimensions: i64) -> Result<(), Error> {
        let embedder = CachingEmbedder::new(self.sized(name, dimensions).await?, 0);
        run_blocking(move || embedder.embed(&[remote::PROBE.to_owned()])).await.map(drop)
    }

    async fn open(&self, name: &str, dimensions: Option<usize>) -> Result<Arc<dyn Embedder>, Error> {
        let key = (name.to_owned(), dimensions);
        if let Some(model) = lock(&self.open).get(&key) {
            return Ok(model.clone());
        }
        let (model_dir, service, name) = (self.model_dir.clone(), self.service.clone(), name.to_owned());
        let is_remote = embedding::find(&name).is_some_and(|model| model.name == embedding::OPENAI);
        let model = run_blocking(move || open_model(&name, dimensions, model_dir, service)).await?;
        // Remote models are cheap to create, and their names are arbitrary, so they are not cached.
        Ok(if is_remote { model } else { lock(&self.open).entry(key).or_insert(model).clone() })
    }

    fn query_cache(&self, pipeline: &Pipeline, classification: &str, model: Arc<dyn Embedder>) -> Arc<CachingEmbedder> {
        let key = (pipeline.id.clone(), pipeline.generation, classification.to_owned());
        let mut query_caches = lock(&self.query_caches);
        if query_caches.len() >= MAX_QUERY_CACHES && !query_caches.contains_key(&key) {
            // Rare. All caches are cleared, so that evictions reveal nothing about other partitions.
            query_caches.clear();
        }
        query_caches.entry(key).or_insert_with(|| Arc::new(CachingEmbedder::new(model, QUERY_CACHE_CAPACITY))).clone()
    }
}

fn open_model(
    name: &str,
    dimensions: Option<usize>,
    model_dir: Option<PathBuf>,
    service: Option<Arc<EmbeddingService>>,
) -> Result<Arc<dyn Embedder>, Error> {
    let Some(service) = service else { return embedding::open(name, &ModelSources { model_dir, remote: None }) };
    let remote = move |name: &str| EmbeddingService::model(&service, name, dimensions);
    embedding::open(name, &ModelSources { model_dir, remote: Some(&remote) })
}

/// Runs blocking work on a blocking thread.
async fn run_blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, Error> + Send + 'static) -> Result<T, Error> {
    let trace = Trace::current();
    tokio::task::spawn_blocking(move || trace.sync_scope(work)).await.unwrap_or_else(|error| {
        tracing::error!(%error, "embedding failed: the model panicked");
        Err(Error::unavailable("the model failed"))
    })
}

/// Locks a mutex, ignoring poisoning: every change is a single call, so the data is consistent.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Problem code of an unavailable model.
pub const UNAVAILABLE_CODE: &str = codes::EMBEDDING_UNAVAILABLE.name;

/// Returns the problem code of an error.
pub fn problem_code(error: &Error) -> &'static ProblemCode {
    match error {
        Error::Unavailable { .. } => codes::EMBEDDING_UNAVAILABLE,
        Error::Dimensions { .. } => codes::EMBEDDING_DIMENSION_MISMATCH,
    }
}
