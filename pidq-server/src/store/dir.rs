//! Store of graphs as files on one machine: one file per version, acknowledged only when durable.
//!
//! The layout is `graphs/<tenant>/<graph id>/<version>-<hash>.json.zst`, with tenants and graph ids in base32hex. One
//! process at a time owns the directory. The index is built from file names at startup; hashes are verified when a file
//! is read.

mod durable_writer;
mod graph_files;
mod graph_index;

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use tokio::sync::Semaphore;

use super::error::{Error, Result};
use super::version_file::{CompressedVersion, HeaderParse, INITIAL_READ_SIZE, VersionHeader};
use super::vfs::{DirEntry, RealVfs, Vfs};
use super::{
    Coding, CommitOutcome, CommitResult, Event, GraphId, GraphMeta, Options, Precondition, Store, StoreFuture,
    StoreState, StoredGraph, Tenant, VerifyReport, VersionEntry, VersionRetention, VersionSelector, lock, run_blocking,
};
use crate::store::validation::GraphDraft;

use durable_writer::{DurableWriter, failure};
use graph_files::{GraphFiles, VersionFile, tombstone_name};
use graph_index::GraphIndex;

/// Maximum number of concurrent writes. Each holds a document and its compressed form.
const WRITE_LIMIT: usize = 8;
/// Number of lock stripes; a graph always maps to the same lock.
const LOCK_STRIPES: usize = 256;
/// Maximum attempts to read a file that is replaced concurrently.
const READ_ATTEMPTS: usize = 4;

/// Store of files.
pub struct DirStore {
    core: Arc<Core>,
    writers: Semaphore,
}

impl DirStore {
    /// Opens or creates a directory and indexes its files. Blocks.
    ///
    /// # Errors
    /// `store-locked` if another process owns it, `storage-failure`.
    pub fn open(path: impl AsRef<Path>, options: Options) -> Result<DirStore> {
        DirStore::open_on(Arc::new(RealVfs), path.as_ref(), options)
    }

    /// Opens a directory like [`DirStore::open`] on another file system.
    ///
    /// # Errors
    /// As [`DirStore::open`].
    pub fn open_on(vfs: Arc<dyn Vfs>, path: &Path, options: Options) -> Result<DirStore> {
        let core = Arc::new(Core::open(vfs, path, options)?);
        Ok(DirStore { core, writers: Semaphore::new(WRITE_LIMIT) })
    }

    async fn read<T: Send + 'static>(&self, task: impl FnOnce(&Core) -> Result<T> + Send + 'static) -> Result<T> {
        let core = self.core.clone();
        run_blocking(move || task(&core)).await
    }

    async fn write<T: Send + 'static>(&self, task: impl FnOnce(&Core) -> Result<T> + Send + 'static) -> Result<T> {
        let _permit = self.writers.acquire().await;
        self.read(task).await
    }
}

impl Store for DirStore {
    fn commit<'a>(
        &'a self,
        tenant: &'a Tenant,
        graph_id: &'a GraphId,
        draft: GraphDraft,
        precondition: &'a Precondition,
    ) -> StoreFuture<'a, CommitResult> {
        let (tenant, graph_id, precondition) = (tenant.clone(), graph_id.clone(), precondition.clone());
        Box::pin(self.write(move |core| core.commit(&tenant, &graph_id, &draft, &precondition)))
    }

    fn head<'a>(
        &'a self,
        tenant: &'a Tenant,
        graph_id: &'a GraphId,
        selector: &'a VersionSelector,
    ) -> StoreFuture<'a, Arc<GraphMeta>> {
        // Usually cached: no blocking thread is needed.
        if let Some(meta) = self.core.cached_meta(tenant, graph_id, selector).transpose() {
            return Box::pin(std::future::ready(meta));
        }
        let (tenant, graph_id, selector) = (tenant.clone(), graph_id.clone(), selector.clone());
        Box::pin(self.read(move |core| core.head(&tenant, &graph_id, &selector)))
    }

    fn get<'a>(
        &'a self,
        tenant: &'a Tenant,
        graph_id: &'a GraphId,
        selector: &'a VersionSelector,
        coding: Coding,
    ) -> StoreFuture<'a, StoredGraph> {
        let (tenant, graph_id, selector) = (tenant.clone(), graph_id.clone(), selector.clone());
        Box::pin(self.read(move |core| core.get(&tenant, &graph_id, &selector, coding)))
    }

    fn versions<'a>(&'a self, tenant: &'a Tenant, graph_id: &'a GraphId) -> StoreFuture<'a, Vec<VersionEntry>> {
        let (tenant, graph_id) = (tenant.clone(), graph_id.clone());
        Box::pin(self.read(move |core| core.versions(&tenant, &graph_id)))
    }

    fn list<'a>(
        &'a self,
        tenant: &'a Tenant,
        prefix: &'a str,
        after: Option<&'a GraphId>,
        limit: usize,
    ) -> StoreFuture<'a, Vec<Arc<GraphMeta>>> {
        let (tenant, prefix, after) = (tenant.clone(), prefix.to_owned(), after.cloned());
        Box::pin(self.read(move |core| Ok(core.list(&tenant, &prefix, after.as_ref(), limit))))
    }

    fn delete<'a>(
        &'a self,
        tenant: &'a Tenant,
        graph_id: &'a GraphId,
        precondition: &'a Precondition,
    ) -> StoreFuture<'a, ()> {
        let (tenant, graph_id, precondition) = (tenant.clone(), graph_id.clone(), precondition.clone());
        Box::pin(self.write(move |core| core.delete(&tenant, &graph_id, &precondition)))
    }

    fn verify(&self) -> StoreFuture<'_, VerifyReport> {
        Box::pin(self.read(|core| Ok(core.verify())))
    }

    fn state(&self) -> std::pin::Pin<Box<dyn Future<Output = StoreState> + Send + '_>> {
        Box::pin(async {
            let state = self.read(|core| Ok(core.writer.state())).await;
            state.unwrap_or_else(|error| StoreState::Unavailable(error.to_string()))
        })
    }
}

/// Blocking part of the store.
struct Core {
    writer: DurableWriter,
    graphs: PathBuf,
    quarantine: PathBuf,
    options: Options,
    index: GraphIndex,
    /// Striped locks of writers.
    graph_locks: Vec<Mutex<()>>,
    hasher: RandomState,
    _lock: Box<dyn Send + Sync>,
}

/// Result of reading a file.
enum ReadResult<T> {
    Read(T),
    /// The file no longer exists.
    Gone,
}

impl Core {
    fn open(vfs: Arc<dyn Vfs>, root: &Path, options: Options) -> Result<Core> {
        let writer = DurableWriter::new(vfs.clone(), root.into(), &options);
        writer.make_root()?;
        let lock = vfs.lock(root).map_err(|error| locked(root, &error))?;
        let core = Core {
            writer,
            graphs: root.join("graphs"),
            quarantine: root.join("quarantine"),
            options,
            index: GraphIndex::default(),
            graph_locks: (0..LOCK_STRIPES).map(|_| Mutex::new(())).collect(),
            hasher: RandomState::new(),
            _lock: lock,
        };
        core.writer.make_dir(&core.graphs)?;
        core.scan(root)?;
        Ok(core)
    }

    fn scan(&self, root: &Path) -> Result<()> {
        self.remove_temp_files(root, &self.entries(root)?);
        for entry in self.entries(&self.graphs)? {
            if let Some(tenant) = Tenant::from_file_name(&entry.name).filter(|_| entry.is_dir) {
                self.scan_tenant(&tenant)?;
            }
        }
        // No directory sync is needed here: a write syncs all parent directories first.
        Ok(())
    }

    fn scan_tenant(&self, tenant: &Tenant) -> Result<()> {
        let dir = self.graphs.join(tenant.to_file_name());
        for entry in self.entries(&dir)? {
            if let Some(graph_id) = GraphId::from_file_name(&entry.name).filter(|_| entry.is_dir) {
                self.scan_graph(tenant, &graph_id, &dir.join(&entry.name))?;
            }
        }
        Ok(())
    }

    fn scan_graph(&self, tenant: &Tenant, graph_id: &GraphId, dir: &Path) -> Result<()> {
        let entries = self.entries(dir)?;
        self.remove_temp_files(dir, &entries);
        let files = Arc::new(GraphFiles::from_entries(&entries));
        if files.counter > 0 {
            self.index.publish(tenant, graph_id, files.clone());
        }
        // Removes the files of an interrupted deletion once its tombstone is durable.
        if !files.stale.is_empty() && self.make_durable(&files, dir).is_ok() {
            self.remove_stale_files(tenant, graph_id, dir);
        }
        Ok(())
    }

    fn remove_temp_files(&self, dir: &Path, entries: &[DirEntry]) {
        for entry in entries.iter().filter(|entry| entry.name.starts_with(graph_files::TEMP_PREFIX)) {
            let _ = self.writer.vfs.remove(&dir.join(&entry.name));
        }
    }

    fn entries(&self, dir: &Path) -> Result<Vec<DirEntry>> {
        self.writer.vfs.list(dir).map_err(|error| failure("reading a directory", &error))
    }

    fn commit(
        &self,
        tenant: &Tenant,
        graph_id: &GraphId,
        draft: &GraphDraft,
        precondition: &Precondition,
    ) -> Result<CommitResult> {
        let _graph_lock = lock(self.graph_lock(tenant, graph_id));
        let files = self.index.get(tenant, graph_id);
        let before = files.clone().unwrap_or_default();
        precondition.check(before.latest().map(|latest| latest.etag()).as_ref())?;
        let dir = self.graph_dir(tenant, graph_id);
        if let Some(meta) = self.unchanged(graph_id, &before, draft, &dir)? {
            return Ok(CommitResult { meta, outcome: CommitOutcome::Unchanged });
        }
        self.writer.recover()?;
        if files.is_none() {
            self.writer.make_dir(&self.graphs.join(tenant.to_file_name()))?;
            self.writer.make_dir(&dir)?;
        }
        let version_file = Arc::new(self.add(tenant, &before, draft, &dir)?);
        let meta = version_file.meta.get().cloned().ok_or(Error::GraphCorrupt)?;
        let outcome = if before.latest().is_some() { CommitOutcome::Changed } else { CommitOutcome::Created };
        self.index.publish(tenant, graph_id, Arc::new(before.with_version(version_file)));
        self.remove_stale_files(tenant, graph_id, &dir);
        Ok(CommitResult { meta, outcome })
    }

    /// Returns the latest version if its content equals the draft and it is durable.
    fn unchanged(
        &self,
        graph_id: &GraphId,
        before: &GraphFiles,
        draft: &GraphDraft,
        dir: &Path,
    ) -> Result<Option<Arc<GraphMeta>>> {
        let Some(latest) = before.latest().filter(|latest| !latest.is_corrupt()) else { return Ok(None) };
        let meta = match self.meta(graph_id, latest, dir) {
            Ok(ReadResult::Read(meta)) if meta.content_hash == draft.content_hash => meta,
            // An unreadable version is written again.
            _ => return Ok(None),
        };
        // A readable header does not prove a readable body: an acknowledged graph must be readable.
        if !matches!(self.content(graph_id, latest, dir, Coding::Zstd), Ok(ReadResult::Read(_))) {
            return Ok(None);
        }
        self.make_durable(before, dir)?;
        Ok(Some(meta))
    }

    /// Writes the next version.
    fn add(&self, tenant: &Tenant, before: &GraphFiles, draft: &GraphDraft, dir: &Path) -> Result<VersionFile> {
        let number = before.counter + 1;
        let compressed = CompressedVersion::new(draft, super::Version::number(number))?;
        let head = compressed.head();
        let len = (head.len() + compressed.body.len()) as u64;
        let is_new = u64::from(before.latest().is_none());
        let _reserved = self.index.reserve(tenant, &self.options.quota, len, is_new)?;
        let version_file = VersionFile::from_meta(Arc::new(compressed.meta), number, len);
        self.writer.write_file(dir, &version_file.file_name(), &[&head, &compressed.body])?;
        Ok(version_file)
    }

    fn delete(&self, tenant: &Tenant, graph_id: &GraphId, precondition: &Precondition) -> Result<()> {
        let _graph_lock = lock(self.graph_lock(tenant, graph_id));
        let files = self.index.get(tenant, graph_id).ok_or(Error::GraphNotFound)?;
        let latest = files.latest().ok_or(Error::GraphNotFound)?;
        precondition.check(Some(&latest.etag()))?;
        self.writer.recover()?;
        let dir = self.graph_dir(tenant, graph_id);
        self.writer.write_file(&dir, &tombstone_name(files.counter), &[])?;
        self.index.publish(tenant, graph_id, Arc::new(files.with_tombstone()));
        self.remove_stale_files(tenant, graph_id, &dir);
        Ok(())
    }

    /// Removes expired and deleted versions. Failed removals are retried with the next commit.
    fn remove_stale_files(&self, tenant: &Tenant, graph_id: &GraphId, dir: &Path) {
        let Some(files) = self.index.get(tenant, graph_id) else { return };
        let excess = match self.options.retention {
            VersionRetention::All => 0,
            VersionRetention::Last(limit) => files.versions.len().saturating_sub(limit.get()),
        };
        let (old, retained) = files.versions.split_at(excess);
        let names =
            files.stale.iter().cloned().chain(
                old.iter().flat_map(|version_file| [version_file.file_name(), version_file.corrupt_marker_name()]),
            );
        let names: Vec<String> = names.collect();
        if names.is_empty() && files.tombstones.len() <= usize::from(retained.is_empty()) {
            return;
        }
        // Old versions are unlisted before they are removed.
        let stale: Vec<String> = names.into_iter().filter(|name| !self.remove(dir, name)).collect();
        let tombstones = if stale.is_empty() { self.remove_tombstones(&files, dir) } else { files.tombstones.clone() };
        let is_durable = files.is_durable().into();
        let files = GraphFiles { versions: retained.to_vec(), tombstones, stale, counter: files.counter, is_durable };
        self.index.publish(tenant, graph_id, Arc::new(files));
    }

    /// Removes obsolete tombstones. The last one keeps the version counter of a deleted graph; one before an existing
    /// version is removed only after the removal of the versions it hides is durable.
    fn remove_tombstones(&self, files: &GraphFiles, dir: &Path) -> Vec<u64> {
        let Some((last, lower)) = files.tombstones.split_last() else { return Vec::new() };
        let mut remaining: Vec<u64> =
            lower.iter().copied().filter(|number| !self.remove(dir, &tombstone_name(*number))).collect();
        let is_needed = files.versions.is_empty() || self.writer.make_durable(dir).is_err();
        if is_needed || !self.remove(dir, &tombstone_name(*last)) {
            remaining.push(*last);
        }
        remaining
    }

    /// Removes a file. Returns true if it no longer exists.
    fn remove(&self, dir: &Path, name: &str) -> bool {
        let removed = self.writer.vfs.remove(&dir.join(name));
        removed.is_ok() || removed.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    }

    fn make_durable(&self, files: &GraphFiles, dir: &Path) -> Result<()> {
        if !files.is_durable() {
            self.writer.make_durable(dir)?;
            files.is_durable.store(true, Ordering::Release);
        }
        Ok(())
    }

    /// Returns cached metadata without disk access.
    fn cached_meta(
        &self,
        tenant: &Tenant,
        graph_id: &GraphId,
        selector: &VersionSelector,
    ) -> Result<Option<Arc<GraphMeta>>> {
        let (_, version_file) = self.find_version(tenant, graph_id, selector)?;
        Ok(version_file.meta.get().cloned())
    }

    fn head(&self, tenant: &Tenant, graph_id: &GraphId, selector: &VersionSelector) -> Result<Arc<GraphMeta>> {
        self.read_version(tenant, graph_id, selector, |version_file, dir| self.meta(graph_id, version_file, dir))
    }

    fn get(
        &self,
        tenant: &Tenant,
        graph_id: &GraphId,
        selector: &VersionSelector,
        coding: Coding,
    ) -> Result<StoredGraph> {
        self.read_version(tenant, graph_id, selector, |version_file, dir| {
            self.content(graph_id, version_file, dir, coding)
        })
    }

    fn versions(&self, tenant: &Tenant, graph_id: &GraphId) -> Result<Vec<VersionEntry>> {
        let files =
            self.index.get(tenant, graph_id).filter(|files| files.latest().is_some()).ok_or(Error::GraphNotFound)?;
        let dir = self.graph_dir(tenant, graph_id);
        let mut entries = Vec::with_capacity(files.versions.len());
        for version_file in files.versions.iter().rev().filter(|version_file| !version_file.is_corrupt()) {
            match self.meta(graph_id, version_file, &dir) {
                Ok(ReadResult::Read(meta)) => {
                    entries.push(VersionEntry { version: version_file.version(), created_on: meta.created_on });
                }
                Ok(ReadResult::Gone) => {}
                Err(Error::GraphCorrupt) => self.quarantine(tenant, graph_id, version_file),
                Err(other) => return Err(other),
            }
        }
        Ok(entries)
    }

    fn list(&self, tenant: &Tenant, prefix: &str, after: Option<&GraphId>, limit: usize) -> Vec<Arc<GraphMeta>> {
        let mut found: Vec<Arc<GraphMeta>> = Vec::new();
        let mut after = after.cloned();
        // Corrupt graphs are skipped, so a page may take several passes.
        while found.len() < limit {
            let missing = limit - found.len();
            let graph_ids = self.index.graph_ids(tenant, prefix, after.as_ref(), missing);
            found.extend(
                graph_ids.iter().filter_map(|graph_id| self.head(tenant, graph_id, &VersionSelector::Latest).ok()),
            );
            if graph_ids.len() < missing {
                break;
            }
            after = graph_ids.last().cloned();
        }
        found
    }

    fn verify(&self) -> VerifyReport {
        let mut verified = VerifyReport::default();
        for (tenant, graph_id, files) in self.index.all() {
            let dir = self.graph_dir(&tenant, &graph_id);
            for version_file in &files.versions {
                verified.versions += 1;
                if !version_file.is_corrupt() && self.is_intact(&graph_id, version_file, &dir) == Some(false) {
                    self.quarantine(&tenant, &graph_id, version_file);
                }
                if version_file.is_corrupt() {
                    verified.corrupt.push((tenant.clone(), graph_id.clone(), version_file.version()));
                }
            }
        }
        verified
    }

    /// Verifies the hashes of a file. Returns `None` if it is unreadable or was removed.
    fn is_intact(&self, graph_id: &GraphId, version_file: &VersionFile, dir: &Path) -> Option<bool> {
        let file = self.writer.vfs.read(&dir.join(version_file.file_name()), u64::MAX).ok()?;
        Some(self.open_file(graph_id, version_file, &file).is_ok_and(|stored| stored.is_intact(&file)))
    }

    fn find_version(
        &self,
        tenant: &Tenant,
        graph_id: &GraphId,
        selector: &VersionSelector,
    ) -> Result<(Arc<GraphFiles>, Arc<VersionFile>)> {
        let files = self.index.get(tenant, graph_id).ok_or(Error::GraphNotFound)?;
        let latest = files.latest().ok_or(Error::GraphNotFound)?;
        let version_file = match selector {
            VersionSelector::Latest => latest,
            VersionSelector::Version(version) => files.version(version).ok_or(Error::VersionNotFound)?,
        };
        let version_file = version_file.clone();
        if version_file.is_corrupt() { Err(Error::GraphCorrupt) } else { Ok((files, version_file)) }
    }

    /// Reads a file of a version, retrying if it is replaced concurrently.
    fn read_version<T>(
        &self,
        tenant: &Tenant,
        graph_id: &GraphId,
        selector: &VersionSelector,
        read_version: impl Fn(&VersionFile, &Path) -> Result<ReadResult<T>>,
    ) -> Result<T> {
        let dir = self.graph_dir(tenant, graph_id);
        for _ in 0..READ_ATTEMPTS {
            let (files, version_file) = self.find_version(tenant, graph_id, selector)?;
            let _ = self.make_durable(&files, &dir);
            match read_version(&version_file, &dir) {
                Ok(ReadResult::Read(read)) => return Ok(read),
                Ok(ReadResult::Gone) => {}
                Err(error) => {
                    if error == Error::GraphCorrupt {
                        self.quarantine(tenant, graph_id, &version_file);
                    }
                    return Err(error);
                }
            }
        }
        // Indexed but missing: another process removed the file.
        Err(Error::GraphCorrupt)
    }

    fn meta(&self, graph_id: &GraphId, version_file: &VersionFile, dir: &Path) -> Result<ReadResult<Arc<GraphMeta>>> {
        if let Some(meta) = version_file.meta.get() {
            return Ok(ReadResult::Read(meta.clone()));
        }
        let mut limit = INITIAL_READ_SIZE as u64;
        loop {
            let ReadResult::Read(start) = self.bytes(version_file, dir, limit)? else { return Ok(ReadResult::Gone) };
            match VersionHeader::parse(&start, graph_id) {
                HeaderParse::Incomplete(len) if len as u64 > limit => limit = len as u64,
                _ => break,
            }
        }
        let ReadResult::Read(start) = self.bytes(version_file, dir, limit)? else { return Ok(ReadResult::Gone) };
        let stored = self.open_file(graph_id, version_file, &start)?;
        Ok(ReadResult::Read(version_file.meta.get_or_init(|| Arc::new(stored.meta)).clone()))
    }

    fn content(
        &self,
        graph_id: &GraphId,
        version_file: &VersionFile,
        dir: &Path,
        coding: Coding,
    ) -> Result<ReadResult<StoredGraph>> {
        let ReadResult::Read(file) = self.bytes(version_file, dir, u64::MAX)? else { return Ok(ReadResult::Gone) };
        let stored = self.open_file(graph_id, version_file, &file)?;
        let bytes = stored.content(&file, coding).ok_or(Error::GraphCorrupt)?;
        let meta = version_file.meta.get_or_init(|| Arc::new(stored.meta)).clone();
        Ok(ReadResult::Read(StoredGraph { meta, bytes, coding }))
    }

    fn bytes(&self, version_file: &VersionFile, dir: &Path, limit: u64) -> Result<ReadResult<Bytes>> {
        match self.writer.vfs.read(&dir.join(version_file.file_name()), limit) {
            Ok(bytes) => Ok(ReadResult::Read(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(ReadResult::Gone),
            Err(error) => Err(failure("reading", &error)),
        }
    }

    /// Parses the header of a file and checks it against the file name.
    fn open_file(&self, graph_id: &GraphId, version_file: &VersionFile, file: &[u8]) -> Result<VersionHeader> {
        match VersionHeader::parse(file, graph_id) {
            HeaderParse::Complete(stored) if stored.meta.etag() == version_file.etag() => Ok(*stored),
            _ => Err(Error::GraphCorrupt),
        }
    }

    /// Quarantines a corrupt file. A marker remains: after a restart, an older version must not become the latest, and
    /// the number must not be reused.
    fn quarantine(&self, tenant: &Tenant, graph_id: &GraphId, version_file: &VersionFile) {
        if !version_file.mark_corrupt() {
            return;
        }
        let (tenant, graph_id, version) = (tenant.clone(), graph_id.clone(), version_file.version());
        let dir = self.graph_dir(&tenant, &graph_id);
        if self.writer.write_file(&dir, &version_file.corrupt_marker_name(), &[]).is_ok() {
            let _ = self.move_to_quarantine(&tenant, &graph_id, &dir, &version_file.file_name());
        }
        (self.options.events)(&Event::Quarantined { tenant, graph_id, version });
    }

    fn move_to_quarantine(&self, tenant: &Tenant, graph_id: &GraphId, dir: &Path, name: &str) -> Result<()> {
        let tenant_dir = self.quarantine.join(tenant.to_file_name());
        let graph_dir = tenant_dir.join(graph_id.to_file_name());
        [&self.quarantine, &tenant_dir, &graph_dir].into_iter().try_for_each(|dir| self.writer.make_dir(dir))?;
        let moved = self.writer.vfs.rename(&dir.join(name), &graph_dir.join(name));
        moved.map_err(|error| failure("renaming", &error))
    }

    fn graph_dir(&self, tenant: &Tenant, graph_id: &GraphId) -> PathBuf {
        self.graphs.join(tenant.to_file_name()).join(graph_id.to_file_name())
    }

    fn graph_lock(&self, tenant: &Tenant, graph_id: &GraphId) -> &Mutex<()> {
        let hash = self.hasher.hash_one((tenant, graph_id));
        &self.graph_locks[hash as usize % LOCK_STRIPES]
    }
}

fn locked(root: &Path, error: &io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::WouldBlock => Error::StoreLocked(format!("another process has locked `{}`", root.display())),
        _ => failure("locking", error),
    }
}
