//! Discovery document of a provider (OpenID Connect Discovery 1.0).

use serde_json::Value;

use super::fetch::{Fetcher, is_secure_url};

/// Discovery document that names its own issuer.
pub(super) struct Discovery(Value);

impl Discovery {
    /// Fetches the document of an issuer.
    pub(super) async fn fetch(fetcher: &Fetcher, issuer: &str) -> Result<Discovery, &'static str> {
        let url = format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/'));
        let document = fetcher.json(&url).await?;
        if document.get("issuer").and_then(Value::as_str) != Some(issuer) {
            return Err("the discovery document names a different issuer");
        }
        Ok(Discovery(document))
    }

    /// Returns a URL of the document; `None` if it is missing or not protected.
    pub(super) fn url(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str).filter(|url| is_secure_url(url))
    }

    /// Returns whether a flag is set.
    pub(super) fn is_set(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool) == Some(true)
    }

    /// Returns whether a list contains a value; `None` without the list.
    pub(super) fn lists(&self, name: &str, value: &str) -> Option<bool> {
        let values = self.0.get(name).and_then(Value::as_array)?;
        Some(values.iter().any(|listed| listed == value))
    }
}
