//! Where graphs are kept: versions of a job, each immutable, counted from 1 and never numbered twice.
//!
//! One trait. [`dir::Dir`] keeps files on one machine, [`sql::Sql`] rows in PostgreSQL for several replicas, and
//! [`crate::served::Served`] shows a directory of files as it is.

pub mod dir;
pub mod error;
mod file;
mod id;
pub mod packing;
pub mod sql;

pub mod vfs;

use std::fmt;
use std::num::NonZeroUsize;
use std::pin::Pin;
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;

use pidq_http::auth::Moment;
use pidq_http::hex;

use crate::door::Draft;

pub use error::{Error, Fault, Result};
pub(crate) use file::numbered;
pub(crate) use id::has_name_characters;
pub use id::{JobId, Tenant};

/// Connections of a replica to its database.
const CONNECTIONS: u32 = 10;

/// What a store answers, later.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

/// Graphs, by tenant and job.
pub trait Store: Send + Sync {
    /// Stores a new version, unless the latest has the same content. Durable when answered.
    fn commit<'a>(
        &'a self,
        tenant: &'a Tenant,
        job: &'a JobId,
        draft: Draft,
        precondition: &'a Precondition,
    ) -> Answer<'a, Committed>;

    /// What is known of a version, without its content: cheap, for freshness and conditions.
    fn head<'a>(&'a self, tenant: &'a Tenant, job: &'a JobId, which: &'a Which) -> Answer<'a, Arc<Meta>>;

    /// A version with its content, in the coding asked for.
    fn get<'a>(
        &'a self,
        tenant: &'a Tenant,
        job: &'a JobId,
        which: &'a Which,
        coding: Coding,
    ) -> Answer<'a, StoredGraph>;

    /// The versions kept, newest first.
    fn versions<'a>(&'a self, tenant: &'a Tenant, job: &'a JobId) -> Answer<'a, Vec<VersionEntry>>;

    /// The latest versions of jobs, by name: those that begin with `prefix` and come after `after`.
    fn list<'a>(
        &'a self,
        tenant: &'a Tenant,
        prefix: &'a str,
        after: Option<&'a JobId>,
        limit: usize,
    ) -> Answer<'a, Vec<Arc<Meta>>>;

    /// Deletes a graph with all its versions. A later commit continues the count.
    fn delete<'a>(&'a self, tenant: &'a Tenant, job: &'a JobId, precondition: &'a Precondition) -> Answer<'a, ()>;

    /// Reads everything and compares it with its hashes.
    fn verify(&self) -> Answer<'_, Verified>;

    /// Looks for changes that came another way than through the store. Blocks.
    ///
    /// # Errors
    /// `storage-failure`: all stays as it was.
    fn reload(&self) -> Result<()> {
        Ok(())
    }

    /// Whether the store takes writes. Where it stopped, this is what tries again.
    fn state(&self) -> Pin<Box<dyn Future<Output = State> + Send + '_>>;
}

/// Opens the store of a URL: `dir:PATH` for files on this machine, `postgres://…` for rows in a database.
///
/// # Errors
/// `store-unavailable`, `store-locked`, `storage-failure`.
pub async fn open(url: &str, options: Options) -> Result<Arc<dyn Store>> {
    match url.split_once(':') {
        Some(("dir", path)) => {
            let path = path.to_owned();
            Ok(Arc::new(aside(move || dir::Dir::open(path, options)).await?))
        }
        Some(("postgres" | "postgresql", _)) => Ok(Arc::new(sql::Sql::open(url, CONNECTIONS, options).await?)),
        // The rest of the text may hold a password.
        _ => Err(Error::StoreUnavailable("expected a store at `dir:` or `postgres:`".into())),
    }
}

/// The number of a version, as the interface shows it. A served file may call its version anything.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Version(Arc<str>);

impl Version {
    /// The version with this number.
    pub fn number(number: u64) -> Version {
        Version(number.to_string().into())
    }

    /// The version with this name.
    pub fn named(name: &str) -> Version {
        Version(name.into())
    }

    /// The version as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The number, if it is one that a store gives.
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

/// Which version is asked for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Which {
    /// The newest.
    Latest,
    /// This one.
    Version(Version),
}

/// How content is coded.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Coding {
    /// JSON as it is.
    Identity,
    /// One frame of zstd, as it is stored.
    Zstd,
}

/// What is known of a version.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Meta {
    /// The job that it is a version of.
    pub job: JobId,
    /// `change_version`.
    pub version: Version,
    /// `schema_version`.
    pub schema_version: String,
    /// `drawing_name`, where there is one.
    pub drawing_name: Option<String>,
    /// How many nodes it has.
    pub nodes: u64,
    /// How many edges it has.
    pub edges: u64,
    /// Bytes of the JSON.
    pub size: u64,
    /// The SHA-256 of the JSON.
    pub sha256: [u8; 32],
    /// The SHA-256 of what the JSON says, whatever its spelling. Equal content makes no new version.
    pub content: [u8; 32],
    /// When it was stored.
    pub created_on: Timestamp,
}

impl Meta {
    /// The tag of the version, without the suffix of a coding.
    pub fn etag(&self) -> ETag {
        ETag::new(&self.version, &self.sha256)
    }
}

/// A version with its content.
#[derive(Clone, Debug)]
pub struct StoredGraph {
    /// What is known of it.
    pub meta: Arc<Meta>,
    /// The content, in `coding`.
    pub bytes: Bytes,
    /// The coding that was asked for.
    pub coding: Coding,
}

/// A version in the list of versions.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct VersionEntry {
    /// `change_version`.
    pub version: Version,
    /// When it was stored.
    pub created_on: Timestamp,
}

/// What became of a commit.
#[derive(Clone, Debug)]
pub struct Committed {
    /// The latest version now.
    pub meta: Arc<Meta>,
    /// What happened.
    pub outcome: Outcome,
}

/// What happened to a graph that was put.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Outcome {
    /// The job had no graph.
    Created,
    /// The job has a new version.
    Changed,
    /// The latest version says the same: nothing was stored.
    Unchanged,
}

/// What a request demands of the latest version.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum Precondition {
    /// Nothing.
    #[default]
    None,
    /// `If-Match: *`.
    Exists,
    /// `If-Match` with tags: the latest version is one of these.
    Is(Vec<ETag>),
    /// `If-None-Match: *`.
    Absent,
}

impl Precondition {
    /// Whether it holds, given the tag of the latest version.
    ///
    /// # Errors
    /// `precondition-failed`.
    pub fn check(&self, latest: Option<&ETag>) -> Result<()> {
        let holds = match self {
            Precondition::None => true,
            Precondition::Exists => latest.is_some(),
            Precondition::Is(tags) => latest.is_some_and(|latest| tags.contains(latest)),
            Precondition::Absent => latest.is_none(),
        };
        if holds { Ok(()) } else { Err(Error::PreconditionFailed(latest.cloned())) }
    }
}

/// The strong tag of a version: `<change_version>-<16 hex of its SHA-256>`, without quotes.
///
/// The hash is in it because a served file may change without a new `change_version`.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct ETag(String);

impl ETag {
    fn new(version: &Version, sha256: &[u8; 32]) -> ETag {
        let [a, b, c, d, e, f, g, h, ..] = *sha256;
        ETag::of(version, &[a, b, c, d, e, f, g, h])
    }

    /// The tag of a version, given the first bytes of its SHA-256.
    fn of(version: &Version, sha256: &[u8; 8]) -> ETag {
        // A served file may call its version what no header can carry.
        let version = Some(version.as_str()).filter(|text| has_name_characters(text)).unwrap_or_default();
        ETag(format!("{version}-{}", hex(sha256)))
    }

    /// Reads a tag of `If-Match` or `If-None-Match`, with or without the suffix of a coding. `None` for a weak tag
    /// and for what is no tag.
    pub fn parse(text: &str) -> Option<ETag> {
        let tag = text.trim().strip_prefix('"')?.strip_suffix('"')?;
        let tag = ["-zstd", "-br", "-gzip"].iter().find_map(|coding| tag.strip_suffix(coding)).unwrap_or(tag);
        (!tag.is_empty() && !tag.contains('"')).then(|| ETag(tag.into()))
    }

    /// The tag as a header has it, for content in this coding.
    pub fn to_header(&self, coding: Coding) -> String {
        match coding {
            Coding::Identity => format!("\"{}\"", self.0),
            Coding::Zstd => format!("\"{}-zstd\"", self.0),
        }
    }

    /// The tag without quotes.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ETag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Milliseconds since 1970, UTC.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub struct Timestamp(pub u64);

impl Timestamp {
    /// This moment.
    pub fn now() -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(since.as_millis().try_into().unwrap_or(u64::MAX))
    }

    /// RFC 3339 in UTC, such as `2026-11-21T08:00:00.000Z`.
    pub fn to_rfc3339(self) -> String {
        Moment(i64::try_from(self.0).unwrap_or(i64::MAX)).to_rfc3339()
    }
}

/// What a look at everything found.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Verified {
    /// How many versions were read.
    pub versions: u64,
    /// Those that are not what was stored.
    pub corrupt: Vec<(Tenant, JobId, Version)>,
}

/// Whether a store takes writes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum State {
    /// It does.
    Writable,
    /// It does not, and never will: graphs come another way.
    Served,
    /// It does not: why.
    ReadOnly(String),
    /// It cannot be reached: why.
    Unavailable(String),
}

/// Something that an operator wants to know.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A stored version is damaged and was put aside.
    Quarantined {
        /// Whose.
        tenant: Tenant,
        /// Which job.
        job: JobId,
        /// Which version.
        version: Version,
    },
    /// Writes stopped: why.
    ReadOnly(String),
    /// Writes go on.
    Writable,
    /// A served file cannot be used: the file, why, and whether its last good content stays.
    Broken {
        /// The name of the file.
        file: String,
        /// Why.
        why: String,
        /// Whether an earlier content is still served.
        kept: bool,
    },
    /// The served directory was read: how many graphs it has, and how many of them changed.
    Reloaded {
        /// All graphs.
        graphs: usize,
        /// New, changed and removed ones.
        changed: usize,
    },
}

/// Who is told about events.
pub type Events = Arc<dyn Fn(&Event) + Send + Sync>;

/// Who is told how long a sync of the disk took.
pub type Clock = Arc<dyn Fn(Duration) + Send + Sync>;

/// Nobody is told.
pub fn no_events() -> Events {
    Arc::new(|_| {})
}

/// How a store behaves.
#[derive(Clone)]
pub struct Options {
    /// Versions kept of each job.
    pub keep: Keep,
    /// What each tenant may store.
    pub share: Share,
    /// Who is told about damage and stopped writes.
    pub events: Events,
    /// Who is told how long syncs take.
    pub clock: Clock,
}

/// How many versions of a job are kept. The latest one always is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Keep {
    /// All.
    All,
    /// So many of the last.
    Last(NonZeroUsize),
}

impl Default for Keep {
    fn default() -> Keep {
        Keep::Last(const { NonZeroUsize::new(10).expect("ten is not zero") })
    }
}

impl FromStr for Keep {
    type Err = &'static str;

    /// Reads `all`, or a number from 1.
    fn from_str(text: &str) -> std::result::Result<Keep, &'static str> {
        match text {
            "all" => Ok(Keep::All),
            _ => text.parse().map(Keep::Last).map_err(|_| "expected a whole number from 1, or `all`"),
        }
    }
}

/// What a tenant may store.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    /// Bytes as they are stored, all versions kept.
    pub bytes: u64,
    /// Graphs.
    pub graphs: u64,
}

impl Share {
    /// Whether there is anything to count.
    fn is_limited(&self) -> bool {
        self.bytes < Share::default().bytes || self.graphs < Share::default().graphs
    }
}

impl Default for Share {
    fn default() -> Share {
        Share { bytes: u64::MAX / 4, graphs: u64::MAX / 4 }
    }
}

impl Default for Options {
    fn default() -> Options {
        Options { keep: Keep::default(), share: Share::default(), events: no_events(), clock: Arc::new(|_| {}) }
    }
}

/// Work that blocks, or takes a processor for a while.
pub(crate) async fn aside<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| Err(Error::StorageFailure("a defect in the store".into())))
}

/// The bytes of a text of [`hex`].
pub(crate) fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    if text.len() != 2 * N || !text.is_ascii() {
        return None;
    }
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok()?;
    }
    Some(bytes)
}

/// A lock whose holder may have panicked: what is behind it is replaced as a whole, never half.
pub(crate) fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_calendars_have_them() {
        let check = |milliseconds, text: &str| assert_eq!(Timestamp(milliseconds).to_rfc3339(), text);
        check(0, "1970-01-01T00:00:00.000Z");
        check(951_782_399_999, "2000-02-28T23:59:59.999Z");
        check(951_782_400_000, "2000-02-29T00:00:00.000Z");
        check(1_795_248_000_001, "2026-11-21T08:00:00.001Z");
        check(4_107_542_400_000, "2100-03-01T00:00:00.000Z");
    }

    #[test]
    fn a_tag_is_one_whatever_the_coding() {
        let tag = ETag::new(&Version::number(12), &[0xab; 32]);
        assert_eq!(tag.as_str(), "12-abababababababab");
        assert_eq!(ETag::parse(&tag.to_header(Coding::Identity)), Some(tag.clone()));
        assert_eq!(ETag::parse(&tag.to_header(Coding::Zstd)), Some(tag));
        for text in ["W/\"1-ab\"", "1-ab", "\"\"", "*", "", "\"", "\"a\"b\""] {
            assert_eq!(ETag::parse(text), None, "{text}");
        }
    }

    #[test]
    fn versions_are_numbers_in_one_spelling() {
        assert_eq!(Version::named("7").as_number(), Some(7));
        for text in ["07", "+7", "-7", "", "7.0", "99999999999999999999"] {
            assert_eq!(Version::named(text).as_number(), None, "{text}");
        }
    }
}
