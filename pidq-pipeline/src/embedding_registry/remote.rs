//! Embedding models of a remote service with an OpenAI-compatible embeddings endpoint.

use std::sync::{Arc, mpsc};
use std::time::Duration;

use pidq_http::{AnySetting, Secret, SettingError, Settings, Trace};
use pidq_text::embedding::{Embedder, Error};
use tokio::runtime::Handle;

use super::settings::{
    EMBEDDINGS_BATCH_SIZE, EMBEDDINGS_DIMENSIONS, EMBEDDINGS_KEY, EMBEDDINGS_MODEL, EMBEDDINGS_TIMEOUT, EMBEDDINGS_URL,
};
use crate::llm::{BatchOptions, Client, ClientOptions, Endpoint};
use crate::net::egress::{EgressScope, Guard, LLM_CA, Policy};

/// A configured embedding service.
#[derive(Debug)]
pub struct EmbeddingService {
    client: Client,
    url: String,
    key: Secret,
    model: Option<String>,
    batch_options: BatchOptions,
}

/// Maximum number of texts per request, which keeps the response within its size limit.
const MAX_BATCH_SIZE: usize = 64;

impl EmbeddingService {
    /// Creates the service from the settings, if one is configured. `root_certificates` (PEM) are trusted in addition
    /// to the public root certificates.
    ///
    /// # Errors
    /// Fails if a setting is invalid.
    pub fn from_settings(
        settings: &Settings,
        root_certificates: Option<&str>,
    ) -> Result<Option<EmbeddingService>, SettingError> {
        let Some(url) = settings.get(&EMBEDDINGS_URL)? else { return Ok(None) };
        let key = settings.get(&EMBEDDINGS_KEY)?.unwrap_or_else(|| Secret::new(""));
        let model = settings.get(&EMBEDDINGS_MODEL)?;
        let endpoint = Endpoint::new(url, key, model.clone().unwrap_or_else(|| "any".into()));
        if let Some(error) = endpoint.validate().first() {
            let row: &dyn AnySetting = match error.pointer {
                "/base_url" => &EMBEDDINGS_URL,
                "/model" => &EMBEDDINGS_MODEL,
                _ => &EMBEDDINGS_KEY,
            };
            return Err(settings.invalid(row, &error.detail));
        }
        let dimensions = settings.get(&EMBEDDINGS_DIMENSIONS)?;
        let batch_size = settings.get(&EMBEDDINGS_BATCH_SIZE)?.clamp(1, MAX_BATCH_SIZE);
        let client = client(settings.get(&EMBEDDINGS_TIMEOUT)?, root_certificates)
            .map_err(|reason| settings.invalid(&LLM_CA, &reason))?;
        let Endpoint { base_url: url, api_key: key, .. } = endpoint;
        Ok(Some(EmbeddingService { client, url, key, model, batch_options: BatchOptions { batch_size, dimensions } }))
    }

    /// Returns a model by name, or the configured default. Without `dimensions` the service is called to determine the vector
    /// length. Blocks: call it on a blocking thread.
    ///
    /// # Errors
    /// Fails if no model is named, or the vector length cannot be determined.
    pub fn model(
        service: &Arc<EmbeddingService>,
        name: &str,
        dimensions: Option<usize>,
    ) -> Result<Arc<dyn Embedder>, Error> {
        let name = if name.is_empty() { service.model.as_deref() } else { Some(name) };
        let name = name.ok_or_else(|| {
            Error::unavailable("no model is configured; use `openai:NAME` or set PIDQ_EMBEDDINGS_MODEL")
        })?;
        let endpoint = Endpoint::new(service.url.clone(), service.key.clone(), name);
        if let Some(error) = endpoint.validate().first() {
            return Err(Error::unavailable(format!("the embedding service: {error}")));
        }
        let mut remote = RemoteModel { service: service.clone(), endpoint, dimensions: dimensions.unwrap_or(0) };
        if remote.dimensions == 0 {
            remote.dimensions = remote.embed(&[PROBE.to_owned()])?.first().map_or(0, Vec::len);
        }
        Ok(Arc::new(remote))
    }
}

/// Text that is embedded to check a service.
pub(super) const PROBE: &str = "valve";

/// Creates the client, which connects only to the configured URL. Its circuit breaker opens for a service that does not
/// respond, so that queries fall back to sparse search at once.
fn client(timeout: Duration, root_certificates: Option<&str>) -> Result<Client, String> {
    let guard = Guard::new(Policy { scope: EgressScope::Unrestricted, backends: Vec::new() }, root_certificates)?;
    let options = ClientOptions {
        first_byte_timeout: timeout,
        idle_timeout: timeout,
        failure_threshold: 3,
        cooldown: Duration::from_secs(10),
        ..ClientOptions::default()
    };
    Ok(Client::new(guard, options))
}

/// A model of an embedding service.
struct RemoteModel {
    service: Arc<EmbeddingService>,
    endpoint: Endpoint,
    dimensions: usize,
}

impl Embedder for RemoteModel {
    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, Error> {
        let runtime = Handle::try_current()
            .map_err(|_| Error::unavailable("the embedding service was called outside the runtime"))?;
        let (service, endpoint, texts) = (self.service.clone(), self.endpoint.clone(), texts.to_vec());
        let (sender, receiver) = mpsc::channel();
        // A task, which is dropped with the runtime; the channel then closes.
        let trace = Trace::current();
        runtime.spawn(trace.scope(async move {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let _ = sender.send(service.client.embeddings(&endpoint, &texts, &service.batch_options).await);
        }));
        let vectors = receiver.recv().map_err(|_| Error::unavailable("the platform is shutting down"))?;
        vectors.map_err(|error| Error::unavailable(format!("the embedding service: {error}")))
    }
}
