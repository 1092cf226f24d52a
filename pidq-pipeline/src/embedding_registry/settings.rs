//! Settings of the embedding service.

use pidq_http::{Setting, ValueKind, settings};

/// Settings of the embedding service.
pub const SETTINGS: &[Setting] = settings![
    "PIDQ_EMBEDDINGS_URL", "config.embeddings.url", ValueKind::Text, None, false, "Base URL of the OpenAI-compatible embedding service for the model `openai`, ending in `/v1`.";
    "PIDQ_EMBEDDINGS_KEY", "secrets.embeddingsKey", ValueKind::Text, None, true, "API key of the embedding service, if it needs one.";
    "PIDQ_EMBEDDINGS_MODEL", "config.embeddings.model", ValueKind::Text, None, false, "Model of the embedding service that `openai` without `:NAME` selects.";
    "PIDQ_EMBEDDINGS_DIMENSIONS", "config.embeddings.dimensions", ValueKind::Number, None, false, "Vector dimensions requested from the embedding service. Default: those of the model.";
    "PIDQ_EMBEDDINGS_BATCH_SIZE", "config.embeddings.batchSize", ValueKind::Number, Some("64"), false, "Texts per request to the embedding service, at most 64.";
    "PIDQ_EMBEDDINGS_TIMEOUT", "config.embeddings.timeout", ValueKind::Duration, Some("30s"), false, "Timeout of a request to the embedding service.";
];
