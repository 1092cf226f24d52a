//! LLM connection: an endpoint referenced by id, with encrypted secrets.

use pidq_http::auth::Timestamp;
use serde_json::{Value, json};

/// An LLM connection with encrypted secrets.
#[derive(Clone, Debug, PartialEq)]
pub struct LlmConnection {
    /// A UUID of version 7.
    pub id: String,
    /// Unique name.
    pub name: String,
    /// Revision, from 1.
    pub revision: i64,
    /// API kind.
    pub provider: String,
    /// The name of the model.
    pub model: String,
    /// Base URL, usually ending with `/v1`.
    pub base_url: String,
    /// Context window in tokens.
    pub context_window: Option<i64>,
    /// Names of extra headers; their values are encrypted.
    pub header_names: Vec<String>,
    /// Encrypted API key and header values.
    pub encrypted_secrets: String,
    /// Milliseconds since 1970.
    pub created_at: i64,
    /// Milliseconds since 1970.
    pub updated_at: i64,
}

impl LlmConnection {
    /// Returns the entity tag.
    pub fn etag(&self) -> String {
        format!("{}-{}", self.id, self.revision)
    }

    /// Returns the JSON representation, without secrets.
    pub fn to_json(&self) -> Value {
        json!({
            "id": self.id, "name": self.name, "provider": self.provider, "model": self.model,
            "base_url": self.base_url, "context_window": self.context_window, "extra_headers": self.header_names,
            "created_at": Timestamp(self.created_at).to_rfc3339(), "updated_at": Timestamp(self.updated_at).to_rfc3339(),
            "revision": self.revision,
        })
    }
}
