//! What an administrator decides about services that make vectors.

use pidq_http::{Kind, Setting, settings};

/// The rows.
pub const SETTINGS: &[Setting] = settings![
    "PIDQ_EMBEDDINGS_URL", "config.embeddings.url", Kind::Text, None, false, "A service with the embeddings endpoint of OpenAI, with `/v1` at its end: what the model `openai` asks.";
    "PIDQ_EMBEDDINGS_KEY", "secrets.embeddingsKey", Kind::Text, None, true, "The key of that service; none, if it wants none.";
    "PIDQ_EMBEDDINGS_MODEL", "config.embeddings.model", Kind::Text, None, false, "The model of that service that `openai` means without a name behind a colon.";
    "PIDQ_EMBEDDINGS_DIMENSIONS", "config.embeddings.dimensions", Kind::Number, None, false, "How long that service is asked to make its vectors; without it they are as long as they come.";
    "PIDQ_EMBEDDINGS_BATCH", "config.embeddings.batch", Kind::Number, Some("64"), false, "Texts in one request to that service, 64 at most.";
    "PIDQ_EMBEDDINGS_TIMEOUT", "config.embeddings.timeout", Kind::Duration, Some("30s"), false, "How long that service may be silent before it counts as down.";
];
