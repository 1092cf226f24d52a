//! Settings of the embedding service.

use std::time::Duration;

use pidq_http::{Secret, settings};

settings! {
    /// Settings of the embedding service.
    pub SETTINGS {
        pub(super) EMBEDDINGS_URL: Option<String> = ("PIDQ_EMBEDDINGS_URL", "config.embeddings.url", "Base URL of the OpenAI-compatible embedding service for the model `openai`, ending in `/v1`.");
        pub(super) EMBEDDINGS_KEY: Option<Secret> = ("PIDQ_EMBEDDINGS_KEY", "secrets.embeddingsKey", "API key of the embedding service, if it needs one.");
        pub(super) EMBEDDINGS_MODEL: Option<String> = ("PIDQ_EMBEDDINGS_MODEL", "config.embeddings.model", "Model of the embedding service that `openai` without `:NAME` selects.");
        pub(super) EMBEDDINGS_DIMENSIONS: Option<usize> = ("PIDQ_EMBEDDINGS_DIMENSIONS", "config.embeddings.dimensions", "Vector dimensions requested from the embedding service. Default: those of the model.");
        pub(super) EMBEDDINGS_BATCH_SIZE: usize = ("PIDQ_EMBEDDINGS_BATCH_SIZE", "config.embeddings.batchSize", "Texts per request to the embedding service, at most 64.") or "64";
        pub(super) EMBEDDINGS_TIMEOUT: Duration = ("PIDQ_EMBEDDINGS_TIMEOUT", "config.embeddings.timeout", "Timeout of a request to the embedding service.") or "30s";
    }
}
