//! Graphs as files of one machine: one file a version, acknowledged only when it outlasts a power cut.
//!
//! `graphs/<tenant>/<job>/<version>-<hash>.json.zst`, names of tenants and jobs in base32hex. One process at a time
//! has the directory. What there is, is read from names when the store opens; hashes are looked at when a file is.

mod disk;
mod layout;
mod shelves;

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use tokio::sync::Semaphore;

use super::error::{Error, Result};
use super::file::{Beginning, Packed, Stored, USUAL_HEAD};
use super::vfs::{DirEntry, RealVfs, Vfs};
use super::{
    Answer, Coding, Committed, Event, JobId, Keep, Meta, Options, Outcome, Precondition, State, Store, StoredGraph,
    Tenant, Verified, VersionEntry, Which, aside, held,
};
use crate::door::Draft;

use disk::{Disk, failure};
use layout::{Held, Seen, tombstone};
use shelves::Shelves;

/// Writes under way at once. Each holds a document and its packed form.
const WRITERS: usize = 8;
/// Locks that the jobs share: a job is always with the same one.
const TURNS: usize = 256;
/// How often a reader looks again for a file that was replaced under its eyes.
const TRIES: usize = 4;

/// A store of files.
pub struct Dir {
    core: Arc<Core>,
    writers: Semaphore,
}

impl Dir {
    /// Opens a directory, makes it if it is not there, and reads the names in it. Blocks.
    ///
    /// # Errors
    /// `store-locked` while another process has it, `storage-failure`.
    pub fn open(path: impl AsRef<Path>, options: Options) -> Result<Dir> {
        Dir::open_on(Arc::new(RealVfs), path.as_ref(), options)
    }

    /// As [`Dir::open`], on another file system.
    ///
    /// # Errors
    /// As [`Dir::open`].
    pub fn open_on(vfs: Arc<dyn Vfs>, path: &Path, options: Options) -> Result<Dir> {
        let core = Arc::new(Core::open(vfs, path, options)?);
        Ok(Dir { core, writers: Semaphore::new(WRITERS) })
    }

    async fn read<T: Send + 'static>(&self, work: impl FnOnce(&Core) -> Result<T> + Send + 'static) -> Result<T> {
        let core = self.core.clone();
        aside(move || work(&core)).await
    }

    async fn write<T: Send + 'static>(&self, work: impl FnOnce(&Core) -> Result<T> + Send + 'static) -> Result<T> {
        let _one_of_few = self.writers.acquire().await;
        self.read(work).await
    }
}

impl Store for Dir {
    fn commit<'a>(
        &'a self,
        tenant: &'a Tenant,
        job: &'a JobId,
        draft: Draft,
        precondition: &'a Precondition,
    ) -> Answer<'a, Committed> {
        let (tenant, job, precondition) = (tenant.clone(), job.clone(), precondition.clone());
        Box::pin(self.write(move |core| core.commit(&tenant, &job, &draft, &precondition)))
    }

    fn head<'a>(&'a self, tenant: &'a Tenant, job: &'a JobId, which: &'a Which) -> Answer<'a, Arc<Meta>> {
        // Nearly always known: then no other thread is asked.
        if let Some(meta) = self.core.known(tenant, job, which).transpose() {
            return Box::pin(std::future::ready(meta));
        }
        let (tenant, job, which) = (tenant.clone(), job.clone(), which.clone());
        Box::pin(self.read(move |core| core.head(&tenant, &job, &which)))
    }

    fn get<'a>(
        &'a self,
        tenant: &'a Tenant,
        job: &'a JobId,
        which: &'a Which,
        coding: Coding,
    ) -> Answer<'a, StoredGraph> {
        let (tenant, job, which) = (tenant.clone(), job.clone(), which.clone());
        Box::pin(self.read(move |core| core.get(&tenant, &job, &which, coding)))
    }

    fn versions<'a>(&'a self, tenant: &'a Tenant, job: &'a JobId) -> Answer<'a, Vec<VersionEntry>> {
        let (tenant, job) = (tenant.clone(), job.clone());
        Box::pin(self.read(move |core| core.versions(&tenant, &job)))
    }

    fn list<'a>(
        &'a self,
        tenant: &'a Tenant,
        prefix: &'a str,
        after: Option<&'a JobId>,
        limit: usize,
    ) -> Answer<'a, Vec<Arc<Meta>>> {
        let (tenant, prefix, after) = (tenant.clone(), prefix.to_owned(), after.cloned());
        Box::pin(self.read(move |core| Ok(core.list(&tenant, &prefix, after.as_ref(), limit))))
    }

    fn delete<'a>(&'a self, tenant: &'a Tenant, job: &'a JobId, precondition: &'a Precondition) -> Answer<'a, ()> {
        let (tenant, job, precondition) = (tenant.clone(), job.clone(), precondition.clone());
        Box::pin(self.write(move |core| core.delete(&tenant, &job, &precondition)))
    }

    fn verify(&self) -> Answer<'_, Verified> {
        Box::pin(self.read(|core| Ok(core.verify())))
    }

    fn state(&self) -> std::pin::Pin<Box<dyn Future<Output = State> + Send + '_>> {
        Box::pin(async {
            let state = self.read(|core| Ok(core.disk.state())).await;
            state.unwrap_or_else(|error| State::Unavailable(error.to_string()))
        })
    }
}

/// The store as threads that may block see it.
struct Core {
    disk: Disk,
    graphs: PathBuf,
    quarantine: PathBuf,
    options: Options,
    shelves: Shelves,
    /// Whoever writes to a job has its turn.
    turns: Vec<Mutex<()>>,
    hasher: RandomState,
    _lock: Box<dyn Send + Sync>,
}

/// What reading a file came to.
enum Found<T> {
    Read(T),
    /// The file is no longer there.
    Gone,
}

impl Core {
    fn open(vfs: Arc<dyn Vfs>, root: &Path, options: Options) -> Result<Core> {
        let disk = Disk::new(vfs.clone(), root.into(), &options);
        disk.make_root()?;
        let lock = vfs.lock(root).map_err(|error| locked(root, &error))?;
        let core = Core {
            disk,
            graphs: root.join("graphs"),
            quarantine: root.join("quarantine"),
            options,
            shelves: Shelves::default(),
            turns: (0..TURNS).map(|_| Mutex::new(())).collect(),
            hasher: RandomState::new(),
            _lock: lock,
        };
        core.disk.make_dir(&core.graphs)?;
        core.scan(root)?;
        Ok(core)
    }

    fn scan(&self, root: &Path) -> Result<()> {
        self.remove_unfinished(root, &self.entries(root)?);
        for entry in self.entries(&self.graphs)? {
            if let Some(tenant) = Tenant::from_file_name(&entry.name).filter(|_| entry.is_dir) {
                self.scan_tenant(&tenant)?;
            }
        }
        // Directories need no sync here: a version is written only when those above it are sure to stay.
        Ok(())
    }

    fn scan_tenant(&self, tenant: &Tenant) -> Result<()> {
        let dir = self.graphs.join(tenant.to_file_name());
        for entry in self.entries(&dir)? {
            if let Some(job) = JobId::from_file_name(&entry.name).filter(|_| entry.is_dir) {
                self.scan_job(tenant, &job, &dir.join(&entry.name))?;
            }
        }
        Ok(())
    }

    fn scan_job(&self, tenant: &Tenant, job: &JobId, dir: &Path) -> Result<()> {
        let entries = self.entries(dir)?;
        self.remove_unfinished(dir, &entries);
        let seen = Arc::new(Seen::read(&entries));
        if seen.counter > 0 {
            self.shelves.publish(tenant, job, seen.clone());
        }
        // What a deletion left behind goes now, once its tombstone is sure to stay.
        if !seen.stale.is_empty() && self.settle(&seen, dir).is_ok() {
            self.tidy(tenant, job, dir);
        }
        Ok(())
    }

    fn remove_unfinished(&self, dir: &Path, entries: &[DirEntry]) {
        for entry in entries.iter().filter(|entry| entry.name.starts_with(layout::UNFINISHED)) {
            let _ = self.disk.vfs.remove(&dir.join(&entry.name));
        }
    }

    fn entries(&self, dir: &Path) -> Result<Vec<DirEntry>> {
        self.disk.vfs.list(dir).map_err(|error| failure("reading a directory", &error))
    }

    fn commit(&self, tenant: &Tenant, job: &JobId, draft: &Draft, precondition: &Precondition) -> Result<Committed> {
        let _turn = held(self.turn(tenant, job));
        let seen = self.shelves.seen(tenant, job);
        let before = seen.clone().unwrap_or_default();
        precondition.check(before.latest().map(|latest| latest.etag()).as_ref())?;
        let dir = self.job_dir(tenant, job);
        if let Some(meta) = self.unchanged(job, &before, draft, &dir)? {
            return Ok(Committed { meta, outcome: Outcome::Unchanged });
        }
        self.disk.ready()?;
        if seen.is_none() {
            self.disk.make_dir(&self.graphs.join(tenant.to_file_name()))?;
            self.disk.make_dir(&dir)?;
        }
        let held = Arc::new(self.add(tenant, &before, draft, &dir)?);
        let meta = held.meta.get().cloned().ok_or(Error::GraphCorrupt)?;
        let outcome = if before.latest().is_some() { Outcome::Changed } else { Outcome::Created };
        self.shelves.publish(tenant, job, Arc::new(before.with(held)));
        self.tidy(tenant, job, &dir);
        Ok(Committed { meta, outcome })
    }

    /// The latest version, if it says the same and will go on doing so.
    fn unchanged(&self, job: &JobId, before: &Seen, draft: &Draft, dir: &Path) -> Result<Option<Arc<Meta>>> {
        let Some(latest) = before.latest().filter(|latest| !latest.is_corrupt()) else { return Ok(None) };
        let meta = match self.meta(job, latest, dir) {
            Ok(Found::Read(meta)) if meta.content == draft.content => meta,
            // What cannot be read is written anew.
            _ => return Ok(None),
        };
        // A header may outlive the content behind it: whoever is told "stored" must find it.
        if !matches!(self.content(job, latest, dir, Coding::Zstd), Ok(Found::Read(_))) {
            return Ok(None);
        }
        self.settle(before, dir)?;
        Ok(Some(meta))
    }

    /// Writes the next version.
    fn add(&self, tenant: &Tenant, before: &Seen, draft: &Draft, dir: &Path) -> Result<Held> {
        let number = before.counter + 1;
        let packed = Packed::new(draft, super::Version::number(number))?;
        let head = packed.head();
        let len = (head.len() + packed.body.len()) as u64;
        let is_new = u64::from(before.latest().is_none());
        let _reserved = self.shelves.reserve(tenant, &self.options.share, len, is_new)?;
        let held = Held::of(Arc::new(packed.meta), number, len);
        self.disk.place(dir, &held.file_name(), &[&head, &packed.body])?;
        Ok(held)
    }

    fn delete(&self, tenant: &Tenant, job: &JobId, precondition: &Precondition) -> Result<()> {
        let _turn = held(self.turn(tenant, job));
        let seen = self.shelves.seen(tenant, job).ok_or(Error::GraphNotFound)?;
        let latest = seen.latest().ok_or(Error::GraphNotFound)?;
        precondition.check(Some(&latest.etag()))?;
        self.disk.ready()?;
        let dir = self.job_dir(tenant, job);
        self.disk.place(&dir, &tombstone(seen.counter), &[])?;
        self.shelves.publish(tenant, job, Arc::new(seen.buried()));
        self.tidy(tenant, job, &dir);
        Ok(())
    }

    /// Removes what is too old or deleted. What cannot be removed now is tried again with the next version.
    fn tidy(&self, tenant: &Tenant, job: &JobId, dir: &Path) {
        let Some(seen) = self.shelves.seen(tenant, job) else { return };
        let too_many = match self.options.keep {
            Keep::All => 0,
            Keep::Last(most) => seen.versions.len().saturating_sub(most.get()),
        };
        let (old, kept) = seen.versions.split_at(too_many);
        let names = seen.stale.iter().cloned().chain(old.iter().flat_map(|held| [held.file_name(), held.marker()]));
        let names: Vec<String> = names.collect();
        if names.is_empty() && seen.tombs.len() <= usize::from(kept.is_empty()) {
            return;
        }
        // Old versions are out of sight before they are gone.
        let stale: Vec<String> = names.into_iter().filter(|name| !self.remove(dir, name)).collect();
        let tombs = if stale.is_empty() { self.retire(&seen, dir) } else { seen.tombs.clone() };
        let is_settled = seen.is_settled().into();
        let seen = Seen { versions: kept.to_vec(), tombs, stale, counter: seen.counter, is_settled };
        self.shelves.publish(tenant, job, Arc::new(seen));
    }

    /// Removes tombstones that hide nothing and count nothing any more. The last one keeps the count of a deleted
    /// graph; one before a version may go only when what it hides is sure to be gone.
    fn retire(&self, seen: &Seen, dir: &Path) -> Vec<u64> {
        let Some((last, lower)) = seen.tombs.split_last() else { return Vec::new() };
        let mut left: Vec<u64> = lower.iter().copied().filter(|tomb| !self.remove(dir, &tombstone(*tomb))).collect();
        let is_needed = seen.versions.is_empty() || self.disk.settle(dir).is_err();
        if is_needed || !self.remove(dir, &tombstone(*last)) {
            left.push(*last);
        }
        left
    }

    /// Whether a file is gone.
    fn remove(&self, dir: &Path, name: &str) -> bool {
        let removed = self.disk.vfs.remove(&dir.join(name));
        removed.is_ok() || removed.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    }

    fn settle(&self, seen: &Seen, dir: &Path) -> Result<()> {
        if !seen.is_settled() {
            self.disk.settle(dir)?;
            seen.is_settled.store(true, Ordering::Release);
        }
        Ok(())
    }

    /// What is in memory about a version, without a look at the disk.
    fn known(&self, tenant: &Tenant, job: &JobId, which: &Which) -> Result<Option<Arc<Meta>>> {
        let (_, held) = self.pick(tenant, job, which)?;
        Ok(held.meta.get().cloned())
    }

    fn head(&self, tenant: &Tenant, job: &JobId, which: &Which) -> Result<Arc<Meta>> {
        self.look(tenant, job, which, |held, dir| self.meta(job, held, dir))
    }

    fn get(&self, tenant: &Tenant, job: &JobId, which: &Which, coding: Coding) -> Result<StoredGraph> {
        self.look(tenant, job, which, |held, dir| self.content(job, held, dir, coding))
    }

    fn versions(&self, tenant: &Tenant, job: &JobId) -> Result<Vec<VersionEntry>> {
        let seen = self.shelves.seen(tenant, job).filter(|seen| seen.latest().is_some()).ok_or(Error::GraphNotFound)?;
        let dir = self.job_dir(tenant, job);
        let mut entries = Vec::with_capacity(seen.versions.len());
        for held in seen.versions.iter().rev().filter(|held| !held.is_corrupt()) {
            match self.meta(job, held, &dir) {
                Ok(Found::Read(meta)) => {
                    entries.push(VersionEntry { version: held.version(), created_on: meta.created_on });
                }
                Ok(Found::Gone) => {}
                Err(Error::GraphCorrupt) => self.quarantine(tenant, job, held),
                Err(other) => return Err(other),
            }
        }
        Ok(entries)
    }

    fn list(&self, tenant: &Tenant, prefix: &str, after: Option<&JobId>, limit: usize) -> Vec<Arc<Meta>> {
        let mut found: Vec<Arc<Meta>> = Vec::new();
        let mut after = after.cloned();
        // Damaged graphs are left out, so a page may take several looks.
        while found.len() < limit {
            let wanted = limit - found.len();
            let jobs = self.shelves.jobs(tenant, prefix, after.as_ref(), wanted);
            found.extend(jobs.iter().filter_map(|job| self.head(tenant, job, &Which::Latest).ok()));
            if jobs.len() < wanted {
                break;
            }
            after = jobs.last().cloned();
        }
        found
    }

    fn verify(&self) -> Verified {
        let mut verified = Verified::default();
        for (tenant, job, seen) in self.shelves.all() {
            let dir = self.job_dir(&tenant, &job);
            for held in &seen.versions {
                verified.versions += 1;
                if !held.is_corrupt() && self.is_sound(&job, held, &dir) == Some(false) {
                    self.quarantine(&tenant, &job, held);
                }
                if held.is_corrupt() {
                    verified.corrupt.push((tenant.clone(), job.clone(), held.version()));
                }
            }
        }
        verified
    }

    /// Whether a file is what was stored. `None` where it cannot be read, or is no longer there.
    fn is_sound(&self, job: &JobId, held: &Held, dir: &Path) -> Option<bool> {
        let file = self.disk.vfs.read(&dir.join(held.file_name()), u64::MAX).ok()?;
        Some(self.open_file(job, held, &file).is_ok_and(|stored| stored.is_sound(&file)))
    }

    fn pick(&self, tenant: &Tenant, job: &JobId, which: &Which) -> Result<(Arc<Seen>, Arc<Held>)> {
        let seen = self.shelves.seen(tenant, job).ok_or(Error::GraphNotFound)?;
        let latest = seen.latest().ok_or(Error::GraphNotFound)?;
        let held = match which {
            Which::Latest => latest,
            Which::Version(version) => seen.version(version).ok_or(Error::VersionNotFound)?,
        };
        let held = held.clone();
        if held.is_corrupt() { Err(Error::GraphCorrupt) } else { Ok((seen, held)) }
    }

    /// Looks at a file of a version; again, when it was replaced meanwhile.
    fn look<T>(
        &self,
        tenant: &Tenant,
        job: &JobId,
        which: &Which,
        look: impl Fn(&Held, &Path) -> Result<Found<T>>,
    ) -> Result<T> {
        let dir = self.job_dir(tenant, job);
        for _ in 0..TRIES {
            let (seen, held) = self.pick(tenant, job, which)?;
            let _ = self.settle(&seen, &dir);
            match look(&held, &dir) {
                Ok(Found::Read(read)) => return Ok(read),
                Ok(Found::Gone) => {}
                Err(error) => {
                    if error == Error::GraphCorrupt {
                        self.quarantine(tenant, job, &held);
                    }
                    return Err(error);
                }
            }
        }
        // Still listed, and yet not there: somebody else has removed it.
        Err(Error::GraphCorrupt)
    }

    fn meta(&self, job: &JobId, held: &Held, dir: &Path) -> Result<Found<Arc<Meta>>> {
        if let Some(meta) = held.meta.get() {
            return Ok(Found::Read(meta.clone()));
        }
        let mut most = USUAL_HEAD as u64;
        loop {
            let Found::Read(start) = self.bytes(held, dir, most)? else { return Ok(Found::Gone) };
            match Stored::begin(&start, job) {
                Beginning::Longer(len) if len as u64 > most => most = len as u64,
                _ => break,
            }
        }
        let Found::Read(start) = self.bytes(held, dir, most)? else { return Ok(Found::Gone) };
        let stored = self.open_file(job, held, &start)?;
        Ok(Found::Read(held.meta.get_or_init(|| Arc::new(stored.meta)).clone()))
    }

    fn content(&self, job: &JobId, held: &Held, dir: &Path, coding: Coding) -> Result<Found<StoredGraph>> {
        let Found::Read(file) = self.bytes(held, dir, u64::MAX)? else { return Ok(Found::Gone) };
        let stored = self.open_file(job, held, &file)?;
        let bytes = stored.content(&file, coding).ok_or(Error::GraphCorrupt)?;
        let meta = held.meta.get_or_init(|| Arc::new(stored.meta)).clone();
        Ok(Found::Read(StoredGraph { meta, bytes, coding }))
    }

    fn bytes(&self, held: &Held, dir: &Path, most: u64) -> Result<Found<Bytes>> {
        match self.disk.vfs.read(&dir.join(held.file_name()), most) {
            Ok(bytes) => Ok(Found::Read(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Found::Gone),
            Err(error) => Err(failure("reading", &error)),
        }
    }

    /// What a file says of itself, if its name says the same.
    fn open_file(&self, job: &JobId, held: &Held, file: &[u8]) -> Result<Stored> {
        match Stored::begin(file, job) {
            Beginning::Whole(stored) if stored.meta.etag() == held.etag() => Ok(*stored),
            _ => Err(Error::GraphCorrupt),
        }
    }

    /// Puts a damaged file aside. A marker stays: an older version must not pass for the latest after a restart, and
    /// the number must not be given again.
    fn quarantine(&self, tenant: &Tenant, job: &JobId, held: &Held) {
        if !held.condemn() {
            return;
        }
        let (tenant, job, version) = (tenant.clone(), job.clone(), held.version());
        let dir = self.job_dir(&tenant, &job);
        if self.disk.place(&dir, &held.marker(), &[]).is_ok() {
            let _ = self.put_aside(&tenant, &job, &dir, &held.file_name());
        }
        (self.options.events)(&Event::Quarantined { tenant, job, version });
    }

    fn put_aside(&self, tenant: &Tenant, job: &JobId, dir: &Path, name: &str) -> Result<()> {
        let of_tenant = self.quarantine.join(tenant.to_file_name());
        let of_job = of_tenant.join(job.to_file_name());
        [&self.quarantine, &of_tenant, &of_job].into_iter().try_for_each(|dir| self.disk.make_dir(dir))?;
        let moved = self.disk.vfs.rename(&dir.join(name), &of_job.join(name));
        moved.map_err(|error| failure("renaming", &error))
    }

    fn job_dir(&self, tenant: &Tenant, job: &JobId) -> PathBuf {
        self.graphs.join(tenant.to_file_name()).join(job.to_file_name())
    }

    fn turn(&self, tenant: &Tenant, job: &JobId) -> &Mutex<()> {
        let hash = self.hasher.hash_one((tenant, job));
        &self.turns[hash as usize % TURNS]
    }
}

fn locked(root: &Path, error: &io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::WouldBlock => Error::StoreLocked(format!("another process uses `{}`", root.display())),
        _ => failure("locking", error),
    }
}
