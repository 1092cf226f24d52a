//! API key, and the access scope of a key or an account: pipelines, classifications, permissions (verbs).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::classification;

/// All scopes of the platform.
pub const SCOPES: &[&str] =
    &["pipelines:read", "pipelines:write", "documents:read", "documents:write", "query", "admin"];

/// A key, without its secret.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ApiKey {
    /// A UUID of version 7.
    pub id: String,
    /// Free text.
    pub name: String,
    /// OAuth scopes.
    pub scopes: Vec<String>,
    /// Access by pipeline; empty means all.
    pub pipelines: BTreeMap<String, AccessScope>,
    /// Milliseconds since 1970.
    pub created_at: i64,
    /// Milliseconds since 1970.
    pub expires_at: Option<i64>,
}

/// Access of a key to one pipeline.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct AccessScope {
    /// Visible classifications.
    pub classifications: Vec<String>,
    /// Allowed verbs.
    pub verbs: Vec<Verb>,
}

/// Verb on the documents of a classification.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verb {
    /// Read documents.
    Read,
    /// Modify documents.
    Write,
    /// Ask questions.
    Query,
}

impl AccessScope {
    /// Normalizes the names of the classifications.
    pub fn normalize(&mut self) {
        self.classifications = self.classifications.iter().map(|name| classification::normalize(name)).collect();
    }
}

impl ApiKey {
    /// Returns an unrestricted key.
    pub fn root() -> ApiKey {
        ApiKey { scopes: SCOPES.iter().map(|&scope| scope.to_owned()).collect(), ..ApiKey::default() }
    }

    /// Returns true if it has access to all pipelines and classifications.
    pub fn is_unrestricted(&self) -> bool {
        self.pipelines.is_empty()
    }

    /// Returns true for the limits of an account, whose id is not that of a key.
    pub fn is_of_account(&self) -> bool {
        self.id.contains(':')
    }

    /// Returns its pipeline ids separated by spaces; none if it is unrestricted.
    pub fn pipeline_ids(&self) -> Option<String> {
        (!self.is_unrestricted()).then(|| self.pipelines.keys().map(String::as_str).collect::<Vec<_>>().join(" "))
    }

    /// Returns the visible classifications of a pipeline; none if the pipeline is outside its scope.
    pub fn visible_classifications(&self, pipeline: &str, all: &[String]) -> Option<Vec<String>> {
        if self.is_unrestricted() {
            return Some(all.to_vec());
        }
        let scope = self.pipelines.get(pipeline)?;
        Some(all.iter().filter(|classification| scope.classifications.contains(classification)).cloned().collect())
    }

    /// Returns true if it allows a verb on a classification.
    pub fn allows(&self, pipeline: &str, classification: &str, verb: Verb) -> bool {
        let grants = |scope: &AccessScope| {
            scope.verbs.contains(&verb) && scope.classifications.iter().any(|name| name == classification)
        };
        self.is_unrestricted() || self.pipelines.get(pipeline).is_some_and(grants)
    }
}
