//! Errors of graph storage. The codes are those of the HTTP specification and are stable.

use super::ETag;

/// Result of a store operation.
pub type Result<T> = std::result::Result<T, Error>;

/// Error of a store operation.
#[derive(Clone, Debug, Eq, thiserror::Error, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// The graph id has invalid characters or an invalid length.
    #[error("a graph id must have 1 to 128 characters of `A-Z a-z 0-9 . _ : @ ~ -`")]
    InvalidGraphId,
    /// The tenant has invalid characters or an invalid length.
    #[error("a tenant must have 1 to 128 characters of `A-Z a-z 0-9 . _ : @ ~ -`")]
    InvalidTenant,
    /// The graph does not exist or was deleted.
    #[error("graph not found")]
    GraphNotFound,
    /// The graph exists, but not this version.
    #[error("version not found")]
    VersionNotFound,
    /// The stored content does not match its hash.
    #[error("the stored graph is corrupt")]
    GraphCorrupt,
    /// A precondition failed. Contains the tag of the latest version, if any.
    #[error("{}", latest_version(.0.as_ref()))]
    PreconditionFailed(Option<ETag>),
    /// The document is not UTF-8 JSON.
    #[error("{detail} (byte {offset})")]
    MalformedJson {
        /// Reason.
        detail: String,
        /// Offset in the body.
        offset: usize,
    },
    /// `metadata.job_id` names this other graph.
    #[error("`metadata.job_id` is `{0}`, not the graph id of the path")]
    GraphIdMismatch(String),
    /// Unsupported `schema_version`.
    #[error("expected schema version 1, not `{0}`")]
    UnsupportedSchemaVersion(String),
    /// Valid JSON, but not a graph: at most 20 findings.
    #[error("{}", first_finding(.0))]
    InvalidGraph(Vec<Finding>),
    /// Too many bytes, nodes or edges.
    #[error("the graph exceeds {limit} {what}")]
    GraphTooLarge {
        /// Exceeded limit: `bytes`, `nodes`, `edges` or `ratio`.
        what: &'static str,
        /// Value of the limit.
        limit: u64,
    },
    /// Response memory is exhausted.
    #[error("too many responses are unread; read them, then try again")]
    Overloaded,
    /// The disk or the tenant's quota is full.
    #[error("{0}")]
    InsufficientStorage(String),
    /// The store is read-only, with the reason.
    #[error("{0}")]
    ReadOnly(String),
    /// Reading or writing failed; nothing changed.
    #[error("{0}")]
    StorageFailure(String),
    /// The store is unreachable.
    #[error("{0}")]
    StoreUnavailable(String),
    /// Another process has locked the data directory.
    #[error("{0}")]
    StoreLocked(String),
}

/// Finding of a validation: a JSON pointer into the body and a description.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    /// JSON pointer (RFC 6901).
    pub pointer: String,
    /// Description.
    pub detail: String,
}

impl Error {
    /// Returns the stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Error::InvalidGraphId => "invalid-job-id",
            Error::InvalidTenant => "invalid-tenant",
            Error::GraphNotFound => "graph-not-found",
            Error::VersionNotFound => "graph-version-not-found",
            Error::GraphCorrupt => "graph-corrupt",
            Error::PreconditionFailed(_) => "precondition-failed",
            Error::MalformedJson { .. } => "malformed-json",
            Error::GraphIdMismatch(_) => "job-id-mismatch",
            Error::UnsupportedSchemaVersion(_) => "unsupported-schema-version",
            Error::InvalidGraph(_) => "invalid-graph",
            Error::GraphTooLarge { .. } => "graph-too-large",
            Error::Overloaded => "overloaded",
            Error::InsufficientStorage(_) => "insufficient-storage",
            Error::ReadOnly(_) => "read-only",
            Error::StorageFailure(_) => "storage-failure",
            Error::StoreUnavailable(_) => "store-unavailable",
            Error::StoreLocked(_) => "store-locked",
        }
    }
}

fn latest_version(latest: Option<&ETag>) -> String {
    latest.map_or_else(|| "the graph does not exist".to_owned(), |etag| format!("the latest version is `{etag}`"))
}

fn first_finding(findings: &[Finding]) -> String {
    findings
        .first()
        .map_or_else(|| "not a graph".to_owned(), |finding| format!("`{}`: {}", finding.pointer, finding.detail))
}
