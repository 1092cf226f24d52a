//! Errors of graph storage. The codes are those of the HTTP specification and are stable.

use std::fmt;

use super::ETag;

/// Result of a store operation.
pub type Result<T> = std::result::Result<T, Error>;

/// Error of a store operation.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// The graph id has invalid characters or an invalid length.
    InvalidGraphId,
    /// The tenant has invalid characters or an invalid length.
    InvalidTenant,
    /// The graph does not exist or was deleted.
    GraphNotFound,
    /// The graph exists, but not this version.
    VersionNotFound,
    /// The stored content does not match its hash.
    GraphCorrupt,
    /// A precondition failed. Contains the tag of the latest version, if any.
    PreconditionFailed(Option<ETag>),
    /// The document is not UTF-8 JSON.
    MalformedJson {
        /// Reason.
        detail: String,
        /// Offset in the body.
        offset: usize,
    },
    /// `metadata.job_id` names this other graph.
    GraphIdMismatch(String),
    /// Unsupported `schema_version`.
    UnsupportedSchemaVersion(String),
    /// Valid JSON, but not a graph: at most 20 findings.
    InvalidGraph(Vec<Finding>),
    /// Too many bytes, nodes or edges.
    GraphTooLarge {
        /// Exceeded limit: `bytes`, `nodes`, `edges` or `ratio`.
        what: &'static str,
        /// Value of the limit.
        limit: u64,
    },
    /// Response memory is exhausted.
    Overloaded,
    /// The disk or the tenant's quota is full.
    InsufficientStorage(String),
    /// The store is read-only, with the reason.
    ReadOnly(String),
    /// Reading or writing failed; nothing changed.
    StorageFailure(String),
    /// The store is unreachable.
    StoreUnavailable(String),
    /// Another process has locked the data directory.
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

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::InvalidGraphId => {
                f.write_str("a graph id must have 1 to 128 characters of `A-Z a-z 0-9 . _ : @ ~ -`")
            }
            Error::InvalidTenant => f.write_str("a tenant must have 1 to 128 characters of `A-Z a-z 0-9 . _ : @ ~ -`"),
            Error::GraphNotFound => f.write_str("graph not found"),
            Error::VersionNotFound => f.write_str("version not found"),
            Error::GraphCorrupt => f.write_str("the stored graph is corrupt"),
            Error::PreconditionFailed(Some(etag)) => write!(f, "the latest version is `{etag}`"),
            Error::PreconditionFailed(None) => f.write_str("the graph does not exist"),
            Error::MalformedJson { detail, offset } => write!(f, "{detail} (byte {offset})"),
            Error::GraphIdMismatch(graph_id) => {
                write!(f, "`metadata.job_id` is `{graph_id}`, not the graph id of the path")
            }
            Error::UnsupportedSchemaVersion(version) => write!(f, "expected schema version 1, not `{version}`"),
            Error::InvalidGraph(findings) => match findings.first() {
                Some(finding) => write!(f, "`{}`: {}", finding.pointer, finding.detail),
                None => f.write_str("not a graph"),
            },
            Error::GraphTooLarge { what, limit } => write!(f, "the graph exceeds {limit} {what}"),
            Error::Overloaded => f.write_str("too many responses are unread; read them, then try again"),
            Error::InsufficientStorage(reason)
            | Error::ReadOnly(reason)
            | Error::StorageFailure(reason)
            | Error::StoreUnavailable(reason)
            | Error::StoreLocked(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for Error {}
