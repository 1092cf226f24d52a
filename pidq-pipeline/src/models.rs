//! The embedding models that are open: each is opened once, and asked where waiting is allowed.

mod service;
mod settings;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use service::Service;
pub use settings::SETTINGS;

use crate::embedding::{self, Embedder, Encoder, Error, Model, Places};
use crate::records::Pipeline;

/// How many partitions have questions that are remembered, and how many questions each.
const PARTITIONS: usize = 256;
const QUESTIONS: usize = 64;

/// The models that are open.
#[derive(Default)]
pub struct Models {
    folder: Option<PathBuf>,
    service: Option<Arc<Service>>,
    open: Mutex<HashMap<Name, Arc<dyn Embedder>>>,
    encoders: Mutex<HashMap<Partition, Arc<Encoder>>>,
}

/// A model, and how long its vectors are, if somebody knows.
type Name = (String, Option<usize>);

/// Whose questions are remembered together: pipeline, generation, label. How fast a question is answered tells whether
/// it was asked before, so no label shares with another.
type Partition = (String, i64, String);

impl Models {
    /// Models of a folder that has a folder for each, and of a service, beside those that are built in.
    pub fn new(folder: Option<PathBuf>, service: Option<Service>) -> Models {
        Models { folder, service: service.map(Arc::new), ..Models::default() }
    }

    /// Whether the settings name what a model needs: a folder, or a service. Whether that is well is another question.
    pub fn offers(&self, model: &Model) -> bool {
        match model.name {
            embedding::SERVICE => self.service.is_some(),
            _ => model.dimensions.is_some() || self.folder.is_some(),
        }
    }

    /// The length of the vectors of a model.
    ///
    /// # Errors
    /// If there is no such model, or it cannot be opened.
    pub async fn dimensions(&self, name: &str) -> Result<usize, Error> {
        self.open(name, None).await.map(|model| model.dimensions())
    }

    /// The model of a pipeline, which gives vectors of the length that the pipeline has, or none.
    ///
    /// # Errors
    /// If it cannot be opened, or its vectors have another length now.
    pub async fn of(&self, pipeline: &Pipeline) -> Result<Arc<dyn Embedder>, Error> {
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

    /// The model of a pipeline for texts of documents: it is checked, and remembers nothing, since they come but once.
    ///
    /// # Errors
    /// As [`of`](Self::of).
    pub async fn of_texts(&self, pipeline: &Pipeline) -> Result<Arc<Encoder>, Error> {
        Ok(Arc::new(Encoder::new(self.of(pipeline).await?, 0)))
    }

    /// The vector of a question under a label.
    ///
    /// # Errors
    /// If the model does not answer, or not with what it should.
    pub async fn question(&self, pipeline: &Pipeline, label: &str, text: &str) -> Result<Vec<f32>, Error> {
        let encoder = self.encoder(pipeline, label, self.of(pipeline).await?);
        let texts = [text.to_owned()];
        let mut vectors = beside(move || encoder.embed(&texts)).await?;
        vectors.pop().ok_or_else(|| Error::unavailable("the model gave no vector"))
    }

    /// Whether a model answers now: it is asked for the vector of one word.
    ///
    /// # Errors
    /// Why it does not.
    pub async fn check(&self, name: &str, dimensions: i64) -> Result<(), Error> {
        let encoder = Encoder::new(self.sized(name, dimensions).await?, 0);
        beside(move || encoder.embed(&[service::PROBE.to_owned()])).await.map(drop)
    }

    async fn open(&self, name: &str, dimensions: Option<usize>) -> Result<Arc<dyn Embedder>, Error> {
        let key = (name.to_owned(), dimensions);
        if let Some(model) = locked(&self.open).get(&key) {
            return Ok(model.clone());
        }
        let (folder, service, name) = (self.folder.clone(), self.service.clone(), name.to_owned());
        let of_service = embedding::find(&name).is_some_and(|model| model.name == embedding::SERVICE);
        let model = beside(move || opened(&name, dimensions, folder, service)).await?;
        // Those of a service cost nothing to make, and callers make up as many names as they like.
        Ok(if of_service { model } else { locked(&self.open).entry(key).or_insert(model).clone() })
    }

    fn encoder(&self, pipeline: &Pipeline, label: &str, model: Arc<dyn Embedder>) -> Arc<Encoder> {
        let key = (pipeline.id.clone(), pipeline.generation, label.to_owned());
        let mut encoders = locked(&self.encoders);
        if encoders.len() >= PARTITIONS && !encoders.contains_key(&key) {
            // Rarely: then all begin anew, and nobody learns from whose place is free.
            encoders.clear();
        }
        encoders.entry(key).or_insert_with(|| Arc::new(Encoder::new(model, QUESTIONS))).clone()
    }
}

fn opened(
    name: &str,
    dimensions: Option<usize>,
    folder: Option<PathBuf>,
    service: Option<Arc<Service>>,
) -> Result<Arc<dyn Embedder>, Error> {
    let Some(service) = service else { return embedding::open(name, &Places { folder, remote: None }) };
    let remote = move |name: &str| Service::model(&service, name, dimensions);
    embedding::open(name, &Places { folder, remote: Some(&remote) })
}

/// Runs what waits or computes beside the threads that answer.
async fn beside<T: Send + 'static>(work: impl FnOnce() -> Result<T, Error> + Send + 'static) -> Result<T, Error> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| {
        tracing::error!(%error, "a model gave up");
        Err(Error::unavailable("the model gave up"))
    })
}

/// What a thread that failed left behind is whole: every change is one call.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
