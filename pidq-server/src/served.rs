//! A directory of files, served as it is: `<job_id>.json`, `.json.zst` or `.json.gz`, in this order of preference.
//!
//! Nothing is written there. Files are read when the directory is opened, on [`Served::reload`], and shortly after
//! they change; all are kept in memory, packed. One that cannot be used keeps its last good content. Replace a file
//! by renaming another one over it: half of a file is no graph either. The directory may be replaced too, and a link to
//! it switched.

mod watch;

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io::{self, Read};
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;

use watch::Watch;

use crate::door::{Draft, Numbering, Rules, admit};
use crate::store::packing::{ENDINGS, Growth, Packing, pack, unpack, unpack_own};
use crate::store::{
    Answer, Coding, Committed, Error, Event, Events, JobId, Meta, Precondition, Result, State, Store, StoredGraph,
    Tenant, Timestamp, Verified, Version, VersionEntry, Which, held, no_events, numbered,
};

/// A file that was changed so shortly before it was read may have been changed once more without a trace.
const CLOCK: Duration = Duration::from_secs(2);

/// How a directory is served.
#[derive(Clone)]
pub struct Options {
    /// Who sees the graphs; all tenants where nobody is named.
    pub tenant: Option<Tenant>,
    /// What a document may be.
    pub rules: Rules,
    /// Bytes of packed graphs in memory; files beyond are not served.
    pub bytes: u64,
    /// Whether changes are noticed.
    pub notice: Notice,
    /// Who is told about files that cannot be used.
    pub events: Events,
}

/// How changes of files are noticed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Notice {
    /// By [`Served::reload`] alone.
    OnDemand,
    /// By the system too, within a second.
    AtOnce,
}

impl Default for Options {
    fn default() -> Options {
        Options { tenant: None, rules: Rules::default(), bytes: 4 << 30, notice: Notice::AtOnce, events: no_events() }
    }
}

/// A served directory.
pub struct Served {
    shelf: Arc<Shelf>,
    watch: Option<Watch>,
}

impl Served {
    /// Reads all files of a directory. Blocks.
    ///
    /// # Errors
    /// `storage-failure`, when there is no such directory or it cannot be watched.
    pub fn open(path: impl AsRef<Path>, options: Options) -> Result<Served> {
        let notice = options.notice;
        let shelf = Arc::new(Shelf::new(path.as_ref(), options));
        // Watched before it is read: what changes in between is read again.
        let watch = match notice {
            Notice::AtOnce => Some(Watch::start(&shelf)?),
            Notice::OnDemand => None,
        };
        shelf.reload()?;
        Ok(Served { shelf, watch })
    }

    /// Looks for new, changed and removed files. Blocks.
    ///
    /// # Errors
    /// `storage-failure`, when the directory cannot be read: all stays as it was.
    pub fn reload(&self) -> Result<()> {
        let watched = self.watch.as_ref().map_or(Ok(()), Watch::anew);
        self.shelf.reload().and(watched)
    }
}

/// What is served, and the files that it came from.
struct Shelf {
    dir: PathBuf,
    options: Options,
    /// Held while files are read; readers of graphs do not need it.
    files: Mutex<BTreeMap<JobId, File>>,
    shown: RwLock<Arc<BTreeMap<JobId, Arc<Shown>>>>,
}

/// A file as it was when it was read.
struct File {
    mark: Mark,
    /// Its last good content.
    shown: Option<Arc<Shown>>,
}

/// What tells whether a file has changed.
#[derive(Clone, Eq, PartialEq)]
struct Mark {
    name: String,
    len: u64,
    inode: u64,
    modified: Option<SystemTime>,
    /// Whether the clock can tell the next change from this one.
    is_sure: bool,
}

/// A graph that is served.
struct Shown {
    meta: Arc<Meta>,
    packed: Bytes,
}

impl Shelf {
    fn new(dir: &Path, options: Options) -> Shelf {
        let rules = Rules { numbering: Numbering::Document, ..options.rules };
        let options = Options { rules, ..options };
        Shelf { dir: dir.into(), options, files: Mutex::default(), shown: RwLock::default() }
    }

    fn reload(&self) -> Result<()> {
        let mut files = held(&self.files);
        let found = self.find().map_err(|error| self.unreadable(&error))?;
        let mut bytes = 0;
        let mut next = BTreeMap::new();
        for (job, (mark, packing)) in found {
            let before = files.remove(&job);
            let file = self.look(&job, mark, packing, before, self.options.bytes.saturating_sub(bytes));
            bytes += file.shown.as_ref().map_or(0, |shown| shown.packed.len() as u64);
            next.insert(job, file);
        }
        *files = next;
        self.show(&files);
        Ok(())
    }

    /// The files of jobs, one for each.
    fn find(&self) -> io::Result<BTreeMap<JobId, (Mark, Packing)>> {
        let mut found: BTreeMap<JobId, (usize, Mark, Packing)> = BTreeMap::new();
        for entry in fs::read_dir(&self.dir)? {
            let Ok(name) = entry?.file_name().into_string() else { continue };
            let Some((job, at)) = job_of(&name) else { continue };
            // Gone meanwhile, or a link to nothing: not there.
            let Ok(metadata) = fs::metadata(self.dir.join(&name)) else { continue };
            let is_preferred = found.get(&job).is_none_or(|(other, ..)| at < *other);
            if metadata.is_file() && is_preferred {
                found.insert(job, (at, Mark::of(name, &metadata), ENDINGS[at].1));
            }
        }
        Ok(found.into_iter().map(|(job, (_, mark, packing))| (job, (mark, packing))).collect())
    }

    fn look(&self, job: &JobId, mark: Mark, packing: Packing, before: Option<File>, space: u64) -> File {
        let (old_mark, shown) = before.map_or((None, None), |file| (Some(file.mark), file.shown));
        if old_mark.as_ref() == Some(&mark) && mark.is_sure {
            return File { mark, shown };
        }
        match self.read(job, &mark, packing, space) {
            Ok(new) => {
                let same = shown.filter(|shown| shown.meta.sha256 == new.meta.sha256);
                File { mark, shown: Some(same.unwrap_or_else(|| Arc::new(new))) }
            }
            Err(error) => {
                // Told once, as long as the file stays as it is.
                if old_mark.as_ref() != Some(&mark) {
                    let (file, why, kept) = (mark.name.clone(), error.to_string(), shown.is_some());
                    (self.options.events)(&Event::Broken { file, why, kept });
                }
                File { mark, shown }
            }
        }
    }

    fn read(&self, job: &JobId, mark: &Mark, packing: Packing, space: u64) -> Result<Shown> {
        let most = self.options.rules.bytes;
        let file = fs::File::open(self.dir.join(&mark.name)).map_err(|error| failure(&error))?;
        let mut bytes = Vec::new();
        file.take(most as u64 + 1).read_to_end(&mut bytes).map_err(|error| failure(&error))?;
        let json = unpack(&bytes.into(), packing, Growth { bytes: most, ..Growth::TRUSTED })?;
        let draft = admit(job, json, &self.options.rules)?;
        let version = draft.change_version.clone().unwrap_or_else(|| "1".into());
        let json = draft.to_json(&version);
        let packed = Bytes::from(pack(&json)?);
        if packed.len() as u64 > space {
            return Err(Error::InsufficientStorage(format!("more than {} bytes are served", self.options.bytes)));
        }
        let created_on = mark.modified.map_or(Timestamp::default(), timestamp);
        let meta = Meta { created_on, ..numbered(&draft, Version::named(&version), &json) };
        Ok(Shown { meta: Arc::new(meta), packed })
    }

    fn show(&self, files: &BTreeMap<JobId, File>) {
        let shown = files.iter().filter_map(|(job, file)| Some((job.clone(), file.shown.clone()?)));
        let shown: BTreeMap<JobId, Arc<Shown>> = shown.collect();
        let before = std::mem::replace(
            &mut *self.shown.write().unwrap_or_else(PoisonError::into_inner),
            Arc::new(shown.clone()),
        );
        let is_same = |job: &JobId, graph: &Arc<Shown>| before.get(job).is_some_and(|old| Arc::ptr_eq(old, graph));
        let new = shown.iter().filter(|(job, graph)| !is_same(job, graph)).count();
        let removed = before.keys().filter(|job| !shown.contains_key(*job)).count();
        if new + removed > 0 {
            (self.options.events)(&Event::Reloaded { graphs: shown.len(), changed: new + removed });
        }
    }

    fn unreadable(&self, error: &io::Error) -> Error {
        let (file, why) = (self.dir.display().to_string(), error.to_string());
        (self.options.events)(&Event::Broken { file, why, kept: true });
        failure(error)
    }

    fn all(&self, tenant: &Tenant) -> Arc<BTreeMap<JobId, Arc<Shown>>> {
        match &self.options.tenant {
            Some(owner) if owner != tenant => Arc::default(),
            _ => self.shown.read().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }

    fn pick(&self, tenant: &Tenant, job: &JobId, which: &Which) -> Result<Arc<Shown>> {
        let shown = self.all(tenant).get(job).cloned().ok_or(Error::GraphNotFound)?;
        match which {
            Which::Version(version) if *version != shown.meta.version => Err(Error::VersionNotFound),
            _ => Ok(shown),
        }
    }
}

impl Mark {
    fn of(name: String, metadata: &Metadata) -> Mark {
        #[cfg(unix)]
        let inode = std::os::unix::fs::MetadataExt::ino(metadata);
        #[cfg(not(unix))]
        let inode = 0;
        let modified = metadata.modified().ok();
        let age = modified.and_then(|modified| modified.elapsed().ok());
        Mark { name, len: metadata.len(), inode, modified, is_sure: age.is_some_and(|age| age > CLOCK) }
    }
}

impl Shown {
    fn graph(&self, coding: Coding) -> Result<StoredGraph> {
        let size = self.meta.size.try_into().unwrap_or(usize::MAX);
        let bytes = match coding {
            Coding::Zstd => Some(self.packed.clone()),
            Coding::Identity => unpack_own(&self.packed, size),
        };
        Ok(StoredGraph { meta: self.meta.clone(), bytes: bytes.ok_or(Error::GraphCorrupt)?, coding })
    }
}

/// The job of a file, and the place of its ending.
fn job_of(name: &str) -> Option<(JobId, usize)> {
    // Editors and tools keep what is not finished in hidden files.
    let name = Some(name).filter(|name| !name.starts_with('.'))?;
    ENDINGS.iter().enumerate().find_map(|(at, (ending, _))| Some((JobId::parse(name.strip_suffix(ending)?).ok()?, at)))
}

fn timestamp(time: SystemTime) -> Timestamp {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(since.as_millis().try_into().unwrap_or(u64::MAX))
}

fn failure(error: &io::Error) -> Error {
    Error::StorageFailure(format!("reading failed: {error}"))
}

fn only_served<T>() -> Result<T> {
    Err(Error::ReadOnly("graphs are served from a directory: change its files".into()))
}

impl Store for Served {
    fn reload(&self) -> Result<()> {
        Served::reload(self)
    }

    fn commit<'a>(&'a self, _: &'a Tenant, _: &'a JobId, _: Draft, _: &'a Precondition) -> Answer<'a, Committed> {
        Box::pin(std::future::ready(only_served()))
    }

    fn head<'a>(&'a self, tenant: &'a Tenant, job: &'a JobId, which: &'a Which) -> Answer<'a, Arc<Meta>> {
        Box::pin(std::future::ready(self.shelf.pick(tenant, job, which).map(|shown| shown.meta.clone())))
    }

    fn get<'a>(
        &'a self,
        tenant: &'a Tenant,
        job: &'a JobId,
        which: &'a Which,
        coding: Coding,
    ) -> Answer<'a, StoredGraph> {
        Box::pin(async move {
            let shown = self.shelf.pick(tenant, job, which)?;
            let graph = tokio::task::spawn_blocking(move || shown.graph(coding)).await;
            graph.unwrap_or(Err(Error::GraphCorrupt))
        })
    }

    fn versions<'a>(&'a self, tenant: &'a Tenant, job: &'a JobId) -> Answer<'a, Vec<VersionEntry>> {
        let entry = |meta: &Meta| VersionEntry { version: meta.version.clone(), created_on: meta.created_on };
        let only = self.shelf.pick(tenant, job, &Which::Latest).map(|shown| vec![entry(&shown.meta)]);
        Box::pin(std::future::ready(only))
    }

    fn list<'a>(
        &'a self,
        tenant: &'a Tenant,
        prefix: &'a str,
        after: Option<&'a JobId>,
        limit: usize,
    ) -> Answer<'a, Vec<Arc<Meta>>> {
        let all = self.shelf.all(tenant);
        let after = after.map_or(Bound::Unbounded, Bound::Excluded);
        let found = all.range::<JobId, _>((after, Bound::Unbounded)).map(|(_, shown)| shown.meta.clone());
        let found = found.filter(|meta| meta.job.as_str().starts_with(prefix)).take(limit).collect();
        Box::pin(std::future::ready(Ok(found)))
    }

    fn delete<'a>(&'a self, _: &'a Tenant, _: &'a JobId, _: &'a Precondition) -> Answer<'a, ()> {
        Box::pin(std::future::ready(only_served()))
    }

    /// What is in memory was looked at when it was read: this counts it.
    fn verify(&self) -> Answer<'_, Verified> {
        let versions = self.shelf.shown.read().unwrap_or_else(PoisonError::into_inner).len() as u64;
        Box::pin(std::future::ready(Ok(Verified { versions, corrupt: Vec::new() })))
    }

    fn state(&self) -> Pin<Box<dyn Future<Output = State> + Send + '_>> {
        Box::pin(std::future::ready(State::Served))
    }
}
