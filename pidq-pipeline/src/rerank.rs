//! A service that puts found passages into a better order, if an administrator names one.
//!
//! It sees passages, so what a label allows language models holds for it as well. Without an answer in time the order
//! of the search stays, and the answer says so.

use std::time::Duration;

use pidq_http::{Kind, Secret, Setting, SettingError, Settings, settings};

use crate::egress::{AllowList, Guard, Policy, Reach};
use crate::llm::{Client, Endpoint, LlmError, Patience};

/// What an administrator decides about it.
pub const SETTINGS: &[Setting] = settings![
    "PIDQ_RERANK_URL", "config.rerank.url", Kind::Text, None, false, "A service with `/rerank` as Jina and Cohere have it, with `/v1` at its end: it puts what is found into a better order.";
    "PIDQ_RERANK_KEY", "secrets.rerankKey", Kind::Text, None, true, "The key of that service; none, if it wants none.";
    "PIDQ_RERANK_MODEL", "config.rerank.model", Kind::Text, Some("default"), false, "The model of that service.";
    "PIDQ_RERANK_TIMEOUT", "config.rerank.timeout", Kind::Duration, Some("5s"), false, "How long a question waits for that service before the order of the search stays.";
];

/// How many passages are put into order at least, however few are wanted.
pub(crate) const CANDIDATES: usize = 40;

/// A service that puts passages into order.
#[derive(Debug)]
pub struct Reranker {
    client: Client,
    endpoint: Endpoint,
    patience: Duration,
}

impl Reranker {
    /// The service of the settings, if they name one. `authorities` (PEM) are believed beside the public ones.
    ///
    /// # Errors
    /// If a setting is wrong.
    pub fn of(settings: &Settings, authorities: Option<&str>) -> Result<Option<Reranker>, SettingError> {
        let Some(url) = settings.optional("PIDQ_RERANK_URL")? else { return Ok(None) };
        let key = settings.secret("PIDQ_RERANK_KEY")?.unwrap_or_else(|| Secret::new(""));
        let endpoint = Endpoint::new(url, key, settings.text("PIDQ_RERANK_MODEL")?);
        if let Some(fault) = endpoint.faults().first() {
            let setting = match fault.pointer {
                "/base_url" => "PIDQ_RERANK_URL",
                "/model" => "PIDQ_RERANK_MODEL",
                _ => "PIDQ_RERANK_KEY",
            };
            return Err(settings.wrong(setting, &fault.detail));
        }
        let guard = Guard::new(Policy { reach: Reach::Given, back_ends: Vec::new() }, authorities);
        let guard = guard.map_err(|why| settings.wrong("PIDQ_LLM_CA", &why))?;
        // Whoever asks waits: nothing is asked twice, and a service that fails is left alone for a while.
        let patience = Patience { retries: 0, failures: 3, rest: Duration::from_secs(10), ..Patience::default() };
        let client = Client::new(guard, patience);
        Ok(Some(Reranker { client, endpoint, patience: settings.duration("PIDQ_RERANK_TIMEOUT")? }))
    }

    /// The passages by number with their relevance, best first; those of which the service says nothing are not there.
    ///
    /// # Errors
    /// If it does not answer in time, or not as it should, or the label does not allow it.
    pub(crate) async fn order(
        &self,
        query: &str,
        passages: &[&str],
        allow: Option<AllowList>,
    ) -> Result<Vec<(usize, f64)>, LlmError> {
        let endpoint = Endpoint { allow, ..self.endpoint.clone() };
        let asking = self.client.rerank(&endpoint, query, passages, self.patience);
        tokio::time::timeout(self.patience, asking).await.unwrap_or_else(|_| Err(LlmError::silent()))
    }
}
