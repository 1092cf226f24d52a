//! Reranking of search results by an external service, if one is configured.
//!
//! The service receives passages, so the egress rules of a classification for language models apply to it too. If it does
//! not respond in time, the order of the search stays and the response has a warning.

use std::time::Duration;

use pidq_http::{AnySetting, Secret, SettingError, Settings, settings};

use crate::llm::{Client, ClientOptions, Endpoint, LlmError};
use crate::net::egress::{AllowList, EgressScope, Guard, LLM_CA, Policy};

settings! {
    /// Settings of the reranker.
    pub SETTINGS {
        RERANK_URL: Option<String> = ("PIDQ_RERANK_URL", "config.rerank.url", "Base URL of a reranking service with a `/rerank` endpoint (format of Jina and Cohere), ending in `/v1`.");
        RERANK_KEY: Option<Secret> = ("PIDQ_RERANK_KEY", "secrets.rerankKey", "API key of the reranking service, if it needs one.");
        RERANK_MODEL: String = ("PIDQ_RERANK_MODEL", "config.rerank.model", "Model of the reranking service.") or "default";
        RERANK_TIMEOUT: Duration = ("PIDQ_RERANK_TIMEOUT", "config.rerank.timeout", "Timeout of reranking; after it, hits keep the order of the search.") or "5s";
    }
}

/// Minimum number of passages to rerank, even if fewer are requested.
pub(crate) const CANDIDATES: usize = 40;

/// Client of a reranking service.
#[derive(Debug)]
pub struct Reranker {
    client: Client,
    endpoint: Endpoint,
    timeout: Duration,
}

impl Reranker {
    /// Creates the client from the settings, if a service is configured. `root_certificates` (PEM) are trusted in addition
    /// to the public root certificates.
    ///
    /// # Errors
    /// Fails if a setting is invalid.
    pub fn from_settings(
        settings: &Settings,
        root_certificates: Option<&str>,
    ) -> Result<Option<Reranker>, SettingError> {
        let Some(url) = settings.get(&RERANK_URL)? else { return Ok(None) };
        let key = settings.get(&RERANK_KEY)?.unwrap_or_else(|| Secret::new(""));
        let endpoint = Endpoint::new(url, key, settings.get(&RERANK_MODEL)?);
        if let Some(error) = endpoint.validate().first() {
            let row: &dyn AnySetting = match error.pointer {
                "/base_url" => &RERANK_URL,
                "/model" => &RERANK_MODEL,
                _ => &RERANK_KEY,
            };
            return Err(settings.invalid(row, &error.detail));
        }
        let guard = Guard::new(Policy { scope: EgressScope::Unrestricted, backends: Vec::new() }, root_certificates);
        let guard = guard.map_err(|reason| settings.invalid(&LLM_CA, &reason))?;
        // The caller waits: no retries, and a circuit breaker for a failing service.
        let options = ClientOptions {
            max_retries: 0,
            failure_threshold: 3,
            cooldown: Duration::from_secs(10),
            ..ClientOptions::default()
        };
        let client = Client::new(guard, options);
        Ok(Some(Reranker { client, endpoint, timeout: settings.get(&RERANK_TIMEOUT)? }))
    }

    /// Returns the indexes of the passages with their relevance, best first. Passages that the service omits are missing.
    ///
    /// # Errors
    /// Fails if the service times out or returns an invalid response, or if the classification does not allow it.
    pub(crate) async fn order(
        &self,
        query: &str,
        passages: &[&str],
        allow: Option<AllowList>,
    ) -> Result<Vec<(usize, f64)>, LlmError> {
        let endpoint = Endpoint { allow, ..self.endpoint.clone() };
        let reranking = self.client.rerank(&endpoint, query, passages, self.timeout);
        tokio::time::timeout(self.timeout, reranking).await.unwrap_or_else(|_| Err(LlmError::caller_timeout()))
    }
}
