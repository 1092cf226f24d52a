//! Storage of graphs: immutable versions, numbered from 1 and never reused.
//!
//! [`dir::DirStore`] keeps files on one machine, [`sql::SqlStore`] rows in PostgreSQL for several replicas, and
//! [`crate::store::read_only_dir::ReadOnlyDir`] serves an existing directory of files.

pub mod compression;
pub mod dir;
pub mod error;
mod etag;
mod id;
mod name_characters;
mod precondition;
pub mod read_only_dir;
pub mod sql;
pub mod validation;
mod version_file;

pub mod vfs;

use std::fmt;
use std::num::NonZeroUsize;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use data_encoding::HEXLOWER;

pub use etag::ETag;
pub use pidq_http::auth::Timestamp;
pub use precondition::Precondition;

use crate::store::validation::GraphDraft;

pub use error::{Error, Finding, Result};
pub use id::{GRAPH_ID_PATTERN, GraphId, Tenant};
pub(crate) use version_file::version_meta;

/// Maximum number of database connections per replica.
const CONNECTION_LIMIT: u32 = 10;

/// Future returned by store operations.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

/// Storage backend of graphs, keyed by tenant and graph id.
pub trait Store: Send + Sync {
    /// Stores a new version, unless the latest has the same content. The result is durable when returned.
    fn commit<'a>(
        &'a self,
        tenant: &'a Tenant,
        graph_id: &'a GraphId,
        draft: GraphDraft,
        precondition: &'a Precondition,
    ) -> StoreFuture<'a, CommitResult>;

    /// Returns the metadata of a version without its content. Cheap.
    fn head<'a>(
        &'a self,
        tenant: &'a Tenant,
        graph_id: &'a GraphId,
        selector: &'a VersionSelector,
    ) -> StoreFuture<'a, Arc<GraphMeta>>;

    /// Returns a version with its content in the given coding.
    fn get<'a>(
        &'a self,
        tenant: &'a Tenant,
        graph_id: &'a GraphId,
        selector: &'a VersionSelector,
        coding: Coding,
    ) -> StoreFuture<'a, StoredGraph>;

    /// Returns the retained versions, newest first.
    fn versions<'a>(&'a self, tenant: &'a Tenant, graph_id: &'a GraphId) -> StoreFuture<'a, Vec<VersionEntry>>;

    /// Returns the latest versions of graphs whose id starts with `prefix` and is greater than `after`, in order.
    fn list<'a>(
        &'a self,
        tenant: &'a Tenant,
        prefix: &'a str,
        after: Option<&'a GraphId>,
        limit: usize,
    ) -> StoreFuture<'a, Vec<Arc<GraphMeta>>>;

    /// Deletes a graph with all its versions. A later commit continues the version numbers.
    fn delete<'a>(
        &'a self,
        tenant: &'a Tenant,
        graph_id: &'a GraphId,
        precondition: &'a Precondition,
    ) -> StoreFuture<'a, ()>;

    /// Reads all versions and verifies their hashes.
    fn verify(&self) -> StoreFuture<'_, VerifyReport>;

    /// Picks up changes made outside of the store. Blocks.
    ///
    /// # Errors
    /// `storage-failure`; nothing changes.
    fn reload(&self) -> Result<()> {
        Ok(())
    }

    /// Returns whether the store accepts writes. After a failure, this call attempts recovery.
    fn state(&self) -> Pin<Box<dyn Future<Output = StoreState> + Send + '_>>;
}

/// Opens the store of a URL: `dir:PATH` for files on this machine, `postgres://…` for rows in a database.
///
/// # Errors
/// `store-unavailable`, `store-locked`, `storage-failure`.
pub async fn open(url: &str, options: Options) -> Result<Arc<dyn Store>> {
    match url.split_once(':') {
        Some(("dir", path)) => {
            let path = path.to_owned();
            Ok(Arc::new(run_blocking(move || dir::DirStore::open(path, options)).await?))
        }
        Some(("postgres" | "postgresql", _)) => {
            Ok(Arc::new(sql::SqlStore::open(url, CONNECTION_LIMIT, options).await?))
        }
        // The rest of the URL may contain a password.
        _ => Err(Error::StoreUnavailable("expected a store URL with `dir:` or `postgres:`".into())),
    }
}

/// Version of a graph: a number, or any string in a read-only directory.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Version(Arc<str>);

impl Version {
    /// Creates a version from a number.
    pub fn number(number: u64) -> Version {
        Version(number.to_string().into())
    }

    /// Creates a version from its string.
    pub fn named(name: &str) -> Version {
        Version(name.into())
    }

    /// Returns the version as a string.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the number, if the version is one that a store assigns.
    pub fn as_number(&self) -> Option<u64> {
        let number = self.0.parse().ok()?;
        (Version::number(number) == *self).then_some(number)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Selector of a version.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum VersionSelector {
    /// Latest version.
    Latest,
    /// Specific version.
    Version(Version),
}

/// Content coding of a graph.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Coding {
    /// Uncompressed JSON.
    Identity,
    /// One zstd frame, as stored.
    Zstd,
}

/// Metadata of a version.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct GraphMeta {
    /// Id of the graph.
    pub graph_id: GraphId,
    /// `change_version`.
    pub version: Version,
    /// `schema_version`.
    pub schema_version: String,
    /// `drawing_name`, if present.
    pub drawing_name: Option<String>,
    /// Number of nodes.
    pub nodes: u64,
    /// Number of edges.
    pub edges: u64,
    /// Size of the JSON in bytes.
    pub size: u64,
    /// SHA-256 of the JSON.
    pub sha256: [u8; 32],
    /// SHA-256 of the content, independent of formatting. Equal content creates no new version.
    pub content_hash: [u8; 32],
    /// Time of the commit.
    pub created_on: Timestamp,
}

impl GraphMeta {
    /// Returns the ETag without the coding suffix.
    pub fn etag(&self) -> ETag {
        ETag::new(&self.version, &self.sha256)
    }
}

/// Version with its content.
#[derive(Clone, Debug)]
pub struct StoredGraph {
    /// Metadata of the version.
    pub meta: Arc<GraphMeta>,
    /// Content in `coding`.
    pub bytes: Bytes,
    /// Coding of the content.
    pub coding: Coding,
}

/// Entry in the list of versions.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct VersionEntry {
    /// `change_version`.
    pub version: Version,
    /// Time of the commit.
    pub created_on: Timestamp,
}

/// Result of a commit.
#[derive(Clone, Debug)]
pub struct CommitResult {
    /// Latest version after the commit.
    pub meta: Arc<GraphMeta>,
    /// Effect of the commit.
    pub outcome: CommitOutcome,
}

/// Effect of a commit.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CommitOutcome {
    /// The graph did not exist.
    Created,
    /// The graph has a new version.
    Changed,
    /// The latest version has the same content; nothing was stored.
    Unchanged,
}

/// Result of a verification.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct VerifyReport {
    /// Number of versions read.
    pub versions: u64,
    /// Versions whose content does not match their hashes.
    pub corrupt: Vec<(Tenant, GraphId, Version)>,
}

/// State of a store.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum StoreState {
    /// Accepts writes.
    Writable,
    /// Never accepts writes: graphs come from a directory.
    ReadOnlyDir,
    /// Stopped accepting writes, with the reason.
    ReadOnly(String),
    /// Unreachable, with the reason.
    Unavailable(String),
}

/// Event for operators.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A stored version is corrupt and was quarantined.
    Quarantined {
        /// Tenant that owns the graph.
        tenant: Tenant,
        /// Id of the graph.
        graph_id: GraphId,
        /// Corrupt version.
        version: Version,
    },
    /// Writes stopped, with the reason.
    ReadOnly(String),
    /// Writes resumed.
    Writable,
    /// A file in a read-only directory is invalid.
    InvalidFile {
        /// Name of the file.
        file: String,
        /// Reason.
        reason: String,
        /// True if the previous content is still served.
        keeps_previous: bool,
    },
    /// A read-only directory was reloaded.
    Reloaded {
        /// Number of served graphs.
        graphs: usize,
        /// Number of new, changed and removed graphs.
        changed: usize,
    },
}

/// Callback for store events.
pub type EventHandler = Arc<dyn Fn(&Event) + Send + Sync>;

/// Callback for the duration of each file system sync.
pub type SyncObserver = Arc<dyn Fn(Duration) + Send + Sync>;

/// Returns a callback that ignores all events.
pub fn ignore_events() -> EventHandler {
    Arc::new(|_| {})
}

/// Options of a store.
#[derive(Clone)]
pub struct Options {
    /// Number of retained versions per graph.
    pub retention: VersionRetention,
    /// Quota of each tenant.
    pub quota: TenantQuota,
    /// Receives events about corrupt data and stopped writes.
    pub events: EventHandler,
    /// Receives sync durations.
    pub on_sync: SyncObserver,
}

/// Number of retained versions of a graph. The latest is always retained.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum VersionRetention {
    /// All versions.
    All,
    /// The given number of latest versions.
    Last(NonZeroUsize),
}

impl Default for VersionRetention {
    fn default() -> VersionRetention {
        VersionRetention::Last(const { NonZeroUsize::new(10).expect("ten is not zero") })
    }
}

/// Storage quota of a tenant.
#[derive(Clone, Copy, Debug)]
pub struct TenantQuota {
    /// Maximum stored bytes, including all retained versions.
    pub bytes: u64,
    /// Maximum number of graphs.
    pub graphs: u64,
}

impl TenantQuota {
    /// Returns true if the quota limits anything.
    fn is_limited(&self) -> bool {
        self.bytes < TenantQuota::default().bytes || self.graphs < TenantQuota::default().graphs
    }
}

impl Default for TenantQuota {
    fn default() -> TenantQuota {
        TenantQuota { bytes: u64::MAX / 4, graphs: u64::MAX / 4 }
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            retention: VersionRetention::default(),
            quota: TenantQuota::default(),
            events: ignore_events(),
            on_sync: Arc::new(|_| {}),
        }
    }
}

/// Runs blocking or CPU-bound work on a blocking thread.
pub(crate) async fn run_blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| Err(Error::StorageFailure("internal error in the store".into())))
}

/// Decodes bytes in lower-case hexadecimal digits.
pub(crate) fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    HEXLOWER.decode(text.as_bytes()).ok()?.try_into().ok()
}

/// Locks a mutex, ignoring poisoning: the protected state is replaced atomically and is never left inconsistent.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_formatted_as_rfc_3339() {
        let check = |milliseconds, text: &str| assert_eq!(Timestamp(milliseconds).to_rfc3339(), text);
        check(0, "1970-01-01T00:00:00.000Z");
        check(951_782_399_999, "2000-02-28T23:59:59.999Z");
        check(951_782_400_000, "2000-02-29T00:00:00.000Z");
        check(1_795_248_000_001, "2026-11-21T08:00:00.001Z");
        check(4_107_542_400_000, "2100-03-01T00:00:00.000Z");
    }

    #[test]
    fn versions_are_numbers_in_one_spelling() {
        assert_eq!(Version::named("7").as_number(), Some(7));
        for text in ["07", "+7", "-7", "", "7.0", "99999999999999999999"] {
            assert_eq!(Version::named(text).as_number(), None, "{text}");
        }
    }
}
