//! What can go wrong with graphs, as one type. Its codes are those of the HTTP contract and never change.

use std::fmt;

use super::ETag;

/// A result of this room.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// The identifier of a job has other characters or another length.
    InvalidJobId,
    /// The name of a tenant has other characters or another length.
    InvalidTenant,
    /// No such graph, or a deleted one.
    GraphNotFound,
    /// The graph is there, this version is not.
    VersionNotFound,
    /// What is stored is not what was stored.
    GraphCorrupt,
    /// A condition of the request does not hold. The tag of the latest version, if there is one.
    PreconditionFailed(Option<ETag>),
    /// Not JSON in UTF-8: what is wrong, and the byte where.
    MalformedJson {
        /// What is wrong.
        detail: String,
        /// The byte of the body.
        offset: usize,
    },
    /// `metadata.job_id` names another job: the one that it names.
    JobIdMismatch(String),
    /// A `schema_version` that this service does not know.
    UnsupportedSchemaVersion(String),
    /// JSON, but no graph: at most 20 reasons.
    InvalidGraph(Vec<Fault>),
    /// More bytes, nodes or edges than allowed.
    GraphTooLarge {
        /// `bytes`, `nodes`, `edges` or `ratio`.
        what: &'static str,
        /// The most that is allowed.
        limit: u64,
    },
    /// Graphs that wait for their readers leave no room for another one.
    NoRoom,
    /// The disk, or the share of the tenant, is full.
    InsufficientStorage(String),
    /// The store takes no writes: why.
    ReadOnly(String),
    /// Reading or writing failed; nothing was changed.
    StorageFailure(String),
    /// The store cannot be reached just now.
    StoreUnavailable(String),
    /// Another process has the data directory.
    StoreLocked(String),
}

/// Why a document is no graph: a JSON pointer into the body, and what is wrong there.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Fault {
    /// RFC 6901.
    pub pointer: String,
    /// In words.
    pub detail: String,
}

impl Error {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Error::InvalidJobId => "invalid-job-id",
            Error::InvalidTenant => "invalid-tenant",
            Error::GraphNotFound => "graph-not-found",
            Error::VersionNotFound => "graph-version-not-found",
            Error::GraphCorrupt => "graph-corrupt",
            Error::PreconditionFailed(_) => "precondition-failed",
            Error::MalformedJson { .. } => "malformed-json",
            Error::JobIdMismatch(_) => "job-id-mismatch",
            Error::UnsupportedSchemaVersion(_) => "unsupported-schema-version",
            Error::InvalidGraph(_) => "invalid-graph",
            Error::GraphTooLarge { .. } => "graph-too-large",
            Error::NoRoom => "overloaded",
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
            Error::InvalidJobId => f.write_str("a job id is 1 to 128 of `A-Z a-z 0-9 . _ : @ ~ -`"),
            Error::InvalidTenant => f.write_str("a tenant is 1 to 128 of `A-Z a-z 0-9 . _ : @ ~ -`"),
            Error::GraphNotFound => f.write_str("no such graph"),
            Error::VersionNotFound => f.write_str("the graph has no such version"),
            Error::GraphCorrupt => f.write_str("the stored graph is damaged"),
            Error::PreconditionFailed(Some(etag)) => write!(f, "the latest version is `{etag}`"),
            Error::PreconditionFailed(None) => f.write_str("there is no such graph"),
            Error::MalformedJson { detail, offset } => write!(f, "{detail} (byte {offset})"),
            Error::JobIdMismatch(job) => write!(f, "`metadata.job_id` is `{job}`, not the job of the path"),
            Error::UnsupportedSchemaVersion(version) => write!(f, "expected schema version 1, not `{version}`"),
            Error::InvalidGraph(faults) => match faults.first() {
                Some(fault) => write!(f, "`{}`: {}", fault.pointer, fault.detail),
                None => f.write_str("not a graph"),
            },
            Error::GraphTooLarge { what, limit } => write!(f, "more than {limit} {what}"),
            Error::NoRoom => f.write_str("too many graphs wait to be read; read those, and try again"),
            Error::InsufficientStorage(why)
            | Error::ReadOnly(why)
            | Error::StorageFailure(why)
            | Error::StoreUnavailable(why)
            | Error::StoreLocked(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for Error {}
