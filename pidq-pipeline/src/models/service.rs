//! Vectors by a service: any that has the embeddings endpoint of OpenAI.

use std::sync::{Arc, mpsc};
use std::time::Duration;

use pidq_http::{Secret, SettingError, Settings};
use tokio::runtime::Handle;

use crate::egress::{Guard, Policy, Reach};
use crate::embedding::{Embedder, Error};
use crate::llm::{Batches, Client, Endpoint, Patience};

/// A service as the settings name it.
#[derive(Debug)]
pub struct Service {
    client: Client,
    url: String,
    key: Secret,
    model: Option<String>,
    batches: Batches,
}

/// The most texts in one request: an answer must stay under what is read of one.
const MOST_TEXTS: usize = 64;

impl Service {
    /// The service of the settings, if they name one. `authorities` (PEM) are believed beside the public ones.
    ///
    /// # Errors
    /// If a setting is wrong.
    pub fn of(settings: &Settings, authorities: Option<&str>) -> Result<Option<Service>, SettingError> {
        let Some(url) = settings.optional("PIDQ_EMBEDDINGS_URL")? else { return Ok(None) };
        let key = settings.secret("PIDQ_EMBEDDINGS_KEY")?.unwrap_or_else(|| Secret::new(""));
        let model = settings.optional("PIDQ_EMBEDDINGS_MODEL")?.map(str::to_owned);
        let endpoint = Endpoint::new(url, key, model.clone().unwrap_or_else(|| "any".into()));
        if let Some(fault) = endpoint.faults().first() {
            let setting = match fault.pointer {
                "/base_url" => "PIDQ_EMBEDDINGS_URL",
                "/model" => "PIDQ_EMBEDDINGS_MODEL",
                _ => "PIDQ_EMBEDDINGS_KEY",
            };
            return Err(settings.wrong(setting, &fault.detail));
        }
        let dimensions = settings.optional("PIDQ_EMBEDDINGS_DIMENSIONS")?;
        let dimensions = dimensions.map(|_| settings.parsed("PIDQ_EMBEDDINGS_DIMENSIONS")).transpose()?;
        let texts = settings.parsed::<usize>("PIDQ_EMBEDDINGS_BATCH")?.clamp(1, MOST_TEXTS);
        let client = client(settings.duration("PIDQ_EMBEDDINGS_TIMEOUT")?, authorities)
            .map_err(|why| settings.wrong("PIDQ_LLM_CA", &why))?;
        let Endpoint { base_url: url, api_key: key, .. } = endpoint;
        Ok(Some(Service { client, url, key, model, batches: Batches { texts, dimensions } }))
    }

    /// The model of a name, or the one of the settings. A pipeline knows how long its vectors are; for a new one the
    /// service is asked. To be called where waiting is allowed.
    ///
    /// # Errors
    /// If nobody says which model, or the service does not say how long its vectors are.
    pub fn model(service: &Arc<Service>, name: &str, dimensions: Option<usize>) -> Result<Arc<dyn Embedder>, Error> {
        let name = if name.is_empty() { service.model.as_deref() } else { Some(name) };
        let name = name.ok_or_else(|| Error::unavailable("which model: `openai:NAME`, or PIDQ_EMBEDDINGS_MODEL"))?;
        let endpoint = Endpoint::new(service.url.clone(), service.key.clone(), name);
        if let Some(fault) = endpoint.faults().first() {
            return Err(Error::unavailable(format!("the embedding service: {fault}")));
        }
        let mut remote = Remote { service: service.clone(), endpoint, dimensions: dimensions.unwrap_or(0) };
        if remote.dimensions == 0 {
            remote.dimensions = remote.embed(&[PROBE.to_owned()])?.first().map_or(0, Vec::len);
        }
        Ok(Arc::new(remote))
    }
}

/// What a service is asked to see whether it answers.
pub(super) const PROBE: &str = "valve";

/// The client goes where the administrator says and nowhere else. A service that is silent is left alone for a while, so
/// that queries fall back to words at once.
fn client(silent: Duration, authorities: Option<&str>) -> Result<Client, String> {
    let guard = Guard::new(Policy { reach: Reach::Given, back_ends: Vec::new() }, authorities)?;
    let patience = Patience {
        first_byte: silent,
        idle: silent,
        failures: 3,
        rest: Duration::from_secs(10),
        ..Patience::default()
    };
    Ok(Client::new(guard, patience))
}

/// A model of a service.
struct Remote {
    service: Arc<Service>,
    endpoint: Endpoint,
    dimensions: usize,
}

impl Embedder for Remote {
    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, Error> {
        let runtime = Handle::try_current().map_err(|_| Error::unavailable("a service cannot be asked from here"))?;
        let (service, endpoint, texts) = (self.service.clone(), self.endpoint.clone(), texts.to_vec());
        let (sender, receiver) = mpsc::channel();
        // As a task, which ends quietly with the runtime; then nobody sends.
        runtime.spawn(async move {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let _ = sender.send(service.client.embeddings(&endpoint, &texts, &service.batches).await);
        });
        let vectors = receiver.recv().map_err(|_| Error::unavailable("the platform stops"))?;
        vectors.map_err(|error| Error::unavailable(format!("the embedding service: {error}")))
    }
}
