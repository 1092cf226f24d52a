//! LLM connection: an endpoint referenced by id, with encrypted secrets.

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
}
