//! Read-only store of a directory of files: `<graph id>.json`, `.json.zst` or `.json.gz`, in this order of preference.
//!
//! Files are read when the directory is opened, on [`ReadOnlyDir::reload`], and shortly after they change; all are kept
//! compressed in memory. An invalid file keeps its last valid content. Replace files by renaming: a partially written
//! file is invalid. The directory itself, or a symbolic link to it, may be replaced too.

mod watcher;

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io::{self, Read};
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;

use watcher::DirWatcher;

use crate::store::compression::{
    Compression, DecompressionLimits, EXTENSIONS, compress_zstd, decompress, decompress_exact,
};
use crate::store::validation::{GraphDraft, JobIdPolicy, ValidationRules, VersionSource, validate};
use crate::store::{
    Coding, CommitResult, Error, Event, EventHandler, GraphId, GraphMeta, Precondition, Result, Store, StoreFuture,
    StoreState, StoredGraph, Tenant, Timestamp, VerifyReport, Version, VersionEntry, VersionSelector, ignore_events,
    lock, version_meta,
};

/// A file modified this shortly before it was read may have been modified again with the same timestamp.
const MTIME_GRANULARITY: Duration = Duration::from_secs(2);

/// Options of a read-only directory.
#[derive(Clone)]
pub struct Options {
    /// Tenant that sees the graphs; `None` means every tenant.
    pub tenant: Option<Tenant>,
    /// Rules for documents.
    pub rules: ValidationRules,
    /// Maximum bytes of compressed graphs in memory; further files are not served.
    pub bytes: u64,
    /// Detection of changes.
    pub watch_mode: WatchMode,
    /// Receives events about invalid files and reloads.
    pub events: EventHandler,
}

/// Detection of changed files.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum WatchMode {
    /// Only on [`ReadOnlyDir::reload`].
    Manual,
    /// Also through file system notifications, within seconds.
    Automatic,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            tenant: None,
            rules: ValidationRules::default(),
            bytes: 4 << 30,
            watch_mode: WatchMode::Automatic,
            events: ignore_events(),
        }
    }
}

/// Read-only store of a directory.
pub struct ReadOnlyDir {
    contents: Arc<DirContents>,
    watcher: Option<DirWatcher>,
}

impl ReadOnlyDir {
    /// Opens a directory and reads all of its files. Blocks.
    ///
    /// # Errors
    /// `storage-failure` if the directory does not exist or cannot be watched.
    pub fn open(path: impl AsRef<Path>, options: Options) -> Result<ReadOnlyDir> {
        let watch_mode = options.watch_mode;
        let contents = Arc::new(DirContents::new(path.as_ref(), options));
        // Watched before it is read, so no change is missed.
        let watcher = match watch_mode {
            WatchMode::Automatic => Some(DirWatcher::start(&contents)?),
            WatchMode::Manual => None,
        };
        contents.reload()?;
        Ok(ReadOnlyDir { contents, watcher })
    }

    /// Reads new and changed files and drops removed ones. Blocks.
    ///
    /// # Errors
    /// `storage-failure` if the directory cannot be read; the served graphs do not change.
    pub fn reload(&self) -> Result<()> {
        let watched = self.watcher.as_ref().map_or(Ok(()), DirWatcher::rewatch);
        self.contents.reload().and(watched)
    }
}

/// Served graphs and the files they were read from.
struct DirContents {
    dir: PathBuf,
    options: Options,
    /// Locked while files are read; readers of graphs do not take it.
    files: Mutex<BTreeMap<GraphId, TrackedFile>>,
    served: RwLock<Arc<BTreeMap<GraphId, Arc<ServedGraph>>>>,
}

/// File as it was last read.
struct TrackedFile {
    stamp: FileStamp,
    /// Last valid content.
    served: Option<Arc<ServedGraph>>,
}

/// Identity of a file's content, for change detection.
#[derive(Clone, Eq, PartialEq)]
struct FileStamp {
    name: String,
    len: u64,
    inode: u64,
    modified: Option<SystemTime>,
    /// True if a later change will have another modification time.
    is_stable: bool,
}

/// Served graph.
struct ServedGraph {
    meta: Arc<GraphMeta>,
    compressed: Bytes,
}

impl DirContents {
    fn new(dir: &Path, options: Options) -> DirContents {
        let (version_source, job_id) = (VersionSource::Document, JobIdPolicy::Replace);
        let rules = ValidationRules { version_source, job_id, ..options.rules };
        let options = Options { rules, ..options };
        DirContents { dir: dir.into(), options, files: Mutex::default(), served: RwLock::default() }
    }

    fn reload(&self) -> Result<()> {
        let mut files = lock(&self.files);
        let found = self.list_files().map_err(|error| self.report_unreadable(&error))?;
        let mut bytes = 0;
        let mut next = BTreeMap::new();
        for (graph_id, (stamp, compression)) in found {
            let previous = files.remove(&graph_id);
            let file = self.refresh(&graph_id, stamp, compression, previous, self.options.bytes.saturating_sub(bytes));
            bytes += file.served.as_ref().map_or(0, |served| served.compressed.len() as u64);
            next.insert(graph_id, file);
        }
        *files = next;
        self.publish(&files);
        Ok(())
    }

    /// Returns the preferred file of each graph.
    fn list_files(&self) -> io::Result<BTreeMap<GraphId, (FileStamp, Compression)>> {
        let mut found: BTreeMap<GraphId, (usize, FileStamp, Compression)> = BTreeMap::new();
        for entry in fs::read_dir(&self.dir)? {
            let Ok(name) = entry?.file_name().into_string() else { continue };
            let Some((graph_id, at)) = parse_file_name(&name) else { continue };
            // Removed in the meantime, or a dangling link.
            let Ok(metadata) = fs::metadata(self.dir.join(&name)) else { continue };
            let is_preferred = found.get(&graph_id).is_none_or(|(other, ..)| at < *other);
            if metadata.is_file() && is_preferred {
                found.insert(graph_id, (at, FileStamp::new(name, &metadata), EXTENSIONS[at].1));
            }
        }
        Ok(found.into_iter().map(|(graph_id, (_, stamp, compression))| (graph_id, (stamp, compression))).collect())
    }

    fn refresh(
        &self,
        graph_id: &GraphId,
        stamp: FileStamp,
        compression: Compression,
        previous: Option<TrackedFile>,
        space: u64,
    ) -> TrackedFile {
        let (old_stamp, served) = previous.map_or((None, None), |file| (Some(file.stamp), file.served));
        if old_stamp.as_ref() == Some(&stamp) && stamp.is_stable {
            return TrackedFile { stamp, served };
        }
        match self.read(graph_id, &stamp, compression, space) {
            Ok(new) => {
                let same = served.filter(|served| served.meta.sha256 == new.meta.sha256);
                TrackedFile { stamp, served: Some(same.unwrap_or_else(|| Arc::new(new))) }
            }
            Err(error) => {
                // Reported once per change of the file.
                if old_stamp.as_ref() != Some(&stamp) {
                    let (file, reason, keeps_previous) = (stamp.name.clone(), error.to_string(), served.is_some());
                    (self.options.events)(&Event::InvalidFile { file, reason, keeps_previous });
                }
                TrackedFile { stamp, served }
            }
        }
    }

    fn read(&self, graph_id: &GraphId, stamp: &FileStamp, compression: Compression, space: u64) -> Result<ServedGraph> {
        let limit = self.options.rules.bytes;
        let file = fs::File::open(self.dir.join(&stamp.name)).map_err(|error| failure(&error))?;
        let mut bytes = Vec::new();
        file.take(limit as u64 + 1).read_to_end(&mut bytes).map_err(|error| failure(&error))?;
        let json = decompress(
            &bytes.into(),
            compression,
            DecompressionLimits { bytes: limit, ..DecompressionLimits::TRUSTED },
        )?;
        let draft = validate(graph_id, json, &self.options.rules)?;
        let version = draft.change_version.clone().unwrap_or_else(|| "1".into());
        let json = draft.to_json(&version);
        let compressed = Bytes::from(compress_zstd(&json)?);
        if compressed.len() as u64 > space {
            return Err(Error::InsufficientStorage(format!(
                "the served graphs exceed {} bytes in memory",
                self.options.bytes
            )));
        }
        let created_on = stamp.modified.map_or(Timestamp::default(), timestamp);
        let meta = GraphMeta { created_on, ..version_meta(&draft, Version::named(&version), &json) };
        Ok(ServedGraph { meta: Arc::new(meta), compressed })
    }

    fn publish(&self, files: &BTreeMap<GraphId, TrackedFile>) {
        let served = files.iter().filter_map(|(graph_id, file)| Some((graph_id.clone(), file.served.clone()?)));
        let served: BTreeMap<GraphId, Arc<ServedGraph>> = served.collect();
        let previous = std::mem::replace(
            &mut *self.served.write().unwrap_or_else(PoisonError::into_inner),
            Arc::new(served.clone()),
        );
        let is_same = |graph_id: &GraphId, graph: &Arc<ServedGraph>| {
            previous.get(graph_id).is_some_and(|old| Arc::ptr_eq(old, graph))
        };
        let new = served.iter().filter(|(graph_id, graph)| !is_same(graph_id, graph)).count();
        let removed = previous.keys().filter(|graph_id| !served.contains_key(*graph_id)).count();
        if new + removed > 0 {
            (self.options.events)(&Event::Reloaded { graphs: served.len(), changed: new + removed });
        }
    }

    fn report_unreadable(&self, error: &io::Error) -> Error {
        let (file, reason) = (self.dir.display().to_string(), error.to_string());
        (self.options.events)(&Event::InvalidFile { file, reason, keeps_previous: true });
        failure(error)
    }

    fn all(&self, tenant: &Tenant) -> Arc<BTreeMap<GraphId, Arc<ServedGraph>>> {
        match &self.options.tenant {
            Some(owner) if owner != tenant => Arc::default(),
            _ => self.served.read().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }

    fn find_graph(&self, tenant: &Tenant, graph_id: &GraphId, selector: &VersionSelector) -> Result<Arc<ServedGraph>> {
        let served = self.all(tenant).get(graph_id).cloned().ok_or(Error::GraphNotFound)?;
        match selector {
            VersionSelector::Version(version) if *version != served.meta.version => Err(Error::VersionNotFound),
            _ => Ok(served),
        }
    }
}

impl FileStamp {
    fn new(name: String, metadata: &Metadata) -> FileStamp {
        #[cfg(unix)]
        let inode = std::os::unix::fs::MetadataExt::ino(metadata);
        #[cfg(not(unix))]
        let inode = 0;
        let modified = metadata.modified().ok();
        let age = modified.and_then(|modified| modified.elapsed().ok());
        FileStamp {
            name,
            len: metadata.len(),
            inode,
            modified,
            is_stable: age.is_some_and(|age| age > MTIME_GRANULARITY),
        }
    }
}

impl ServedGraph {
    fn graph(&self, coding: Coding) -> Result<StoredGraph> {
        let size = self.meta.size.try_into().unwrap_or(usize::MAX);
        let bytes = match coding {
            Coding::Zstd => Some(self.compressed.clone()),
            Coding::Identity => decompress_exact(&self.compressed, size),
        };
        Ok(StoredGraph { meta: self.meta.clone(), bytes: bytes.ok_or(Error::GraphCorrupt)?, coding })
    }
}

/// Returns the graph id of a file name and the index of its extension.
fn parse_file_name(name: &str) -> Option<(GraphId, usize)> {
    // Editors and tools keep temporary data in hidden files.
    let name = Some(name).filter(|name| !name.starts_with('.'))?;
    EXTENSIONS
        .iter()
        .enumerate()
        .find_map(|(at, (extension, _))| Some((GraphId::parse(name.strip_suffix(extension)?).ok()?, at)))
}

fn timestamp(time: SystemTime) -> Timestamp {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(since.as_millis().try_into().unwrap_or(i64::MAX))
}

fn failure(error: &io::Error) -> Error {
    Error::StorageFailure(format!("reading failed: {error}"))
}

fn read_only_error<T>() -> Result<T> {
    Err(Error::ReadOnly("the graphs are served from a read-only directory: change its files instead".into()))
}

impl Store for ReadOnlyDir {
    fn reload(&self) -> Result<()> {
        ReadOnlyDir::reload(self)
    }

    fn commit<'a>(
        &'a self,
        _: &'a Tenant,
        _: &'a GraphId,
        _: GraphDraft,
        _: &'a Precondition,
    ) -> StoreFuture<'a, CommitResult> {
        Box::pin(std::future::ready(read_only_error()))
    }

    fn head<'a>(
        &'a self,
        tenant: &'a Tenant,
        graph_id: &'a GraphId,
        selector: &'a VersionSelector,
    ) -> StoreFuture<'a, Arc<GraphMeta>> {
        Box::pin(std::future::ready(
            self.contents.find_graph(tenant, graph_id, selector).map(|served| served.meta.clone()),
        ))
    }

    fn get<'a>(
        &'a self,
        tenant: &'a Tenant,
        graph_id: &'a GraphId,
        selector: &'a VersionSelector,
        coding: Coding,
    ) -> StoreFuture<'a, StoredGraph> {
        Box::pin(async move {
            let served = self.contents.find_graph(tenant, graph_id, selector)?;
            let graph = tokio::task::spawn_blocking(move || served.graph(coding)).await;
            graph.unwrap_or(Err(Error::GraphCorrupt))
        })
    }

    fn versions<'a>(&'a self, tenant: &'a Tenant, graph_id: &'a GraphId) -> StoreFuture<'a, Vec<VersionEntry>> {
        let entry = |meta: &GraphMeta| VersionEntry { version: meta.version.clone(), created_on: meta.created_on };
        let only = self
            .contents
            .find_graph(tenant, graph_id, &VersionSelector::Latest)
            .map(|served| vec![entry(&served.meta)]);
        Box::pin(std::future::ready(only))
    }

    fn list<'a>(
        &'a self,
        tenant: &'a Tenant,
        prefix: &'a str,
        after: Option<&'a GraphId>,
        limit: usize,
    ) -> StoreFuture<'a, Vec<Arc<GraphMeta>>> {
        let all = self.contents.all(tenant);
        let after = after.map_or(Bound::Unbounded, Bound::Excluded);
        let found = all.range::<GraphId, _>((after, Bound::Unbounded)).map(|(_, served)| served.meta.clone());
        let found = found.filter(|meta| meta.graph_id.as_str().starts_with(prefix)).take(limit).collect();
        Box::pin(std::future::ready(Ok(found)))
    }

    fn delete<'a>(&'a self, _: &'a Tenant, _: &'a GraphId, _: &'a Precondition) -> StoreFuture<'a, ()> {
        Box::pin(std::future::ready(read_only_error()))
    }

    /// Counts the graphs: their content was verified when it was read.
    fn verify(&self) -> StoreFuture<'_, VerifyReport> {
        let versions = self.contents.served.read().unwrap_or_else(PoisonError::into_inner).len() as u64;
        Box::pin(std::future::ready(Ok(VerifyReport { versions, corrupt: Vec::new() })))
    }

    fn state(&self) -> Pin<Box<dyn Future<Output = StoreState> + Send + '_>> {
        Box::pin(std::future::ready(StoreState::ReadOnlyDir))
    }
}
