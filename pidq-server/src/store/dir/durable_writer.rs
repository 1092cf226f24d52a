//! Durable writes, and detection of a disk that cannot be trusted.
//!
//! A file is written under a temporary name, synced, renamed, and its directory synced. After a failed sync the disk
//! state is unknown: writes stop until the affected files are removed and a new file can be written and synced.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use super::graph_files::TEMP_PREFIX;
use crate::store::vfs::Vfs;
use crate::store::{Error, Event, EventHandler, Options, Result, StoreState, SyncObserver, lock};

/// Size of the probe file: a disk with less space is full.
const PROBE_SIZE: usize = 64 << 10;

/// Durable writer on a file system, with its health.
pub(super) struct DurableWriter {
    pub vfs: Arc<dyn Vfs>,
    root: PathBuf,
    events: EventHandler,
    on_sync: SyncObserver,
    health: Mutex<DiskHealth>,
}

enum DiskHealth {
    Healthy,
    /// The latest failure was a full disk. Writes go on, since a deletion makes space; the store is not ready.
    Full(String),
    /// Reason, and the files in an unknown state. They were never acknowledged.
    Failed(String, Vec<PathBuf>),
}

impl DurableWriter {
    pub fn new(vfs: Arc<dyn Vfs>, root: PathBuf, options: &Options) -> DurableWriter {
        let (events, on_sync) = (options.events.clone(), options.on_sync.clone());
        DurableWriter { vfs, root, events, on_sync, health: Mutex::new(DiskHealth::Healthy) }
    }

    /// Writes a file atomically and durably.
    ///
    /// # Errors
    /// `insufficient-storage`, `storage-failure`, `read-only`.
    pub fn write_file(&self, dir: &Path, name: &str, parts: &[&[u8]]) -> Result<()> {
        let (unfinished, target) = (dir.join(temp_name()), dir.join(name));
        self.write(&unfinished, parts)?;
        if let Err(error) = self.vfs.rename(&unfinished, &target) {
            let _ = self.vfs.remove(&unfinished);
            // A full disk is a clean failure if the target was not created.
            let is_absent = || self.vfs.remove(&target).is_err_and(|error| error.kind() == ErrorKind::NotFound);
            if is_full(&error) && is_absent() {
                return Err(self.clean_failure("renaming", &error));
            }
            return Err(self.record_failure("renaming", &error, Some(target)));
        }
        self.sync_dir(dir).map_err(|error| self.record_failure("syncing a directory", &error, Some(target)))
    }

    fn write(&self, path: &Path, parts: &[&[u8]]) -> Result<()> {
        let mut file = self.vfs.create(path).map_err(|error| self.clean_failure("creating a file", &error))?;
        let written = parts.iter().try_for_each(|part| file.write(part));
        let written = written.map_err(|error| self.clean_failure("writing", &error));
        let synced = written
            .and_then(|()| self.timed(|| file.sync()).map_err(|error| self.record_failure("syncing", &error, None)));
        if synced.is_err() {
            let _ = self.vfs.remove(path);
        }
        synced
    }

    /// Creates a directory durably, unless it exists.
    ///
    /// # Errors
    /// As [`DurableWriter::write_file`].
    pub fn make_dir(&self, path: &Path) -> Result<()> {
        match self.vfs.make_dir(path) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                Err(self.clean_failure("making a directory", &error))
            }
            // An existing directory may not be durable yet, so its parent is synced too.
            _ => self.make_durable(parent(path)),
        }
    }

    /// Creates the directory of the store. A parent without read permission cannot be synced; then the directory
    /// existed before.
    ///
    /// # Errors
    /// As [`DurableWriter::write_file`].
    pub fn make_root(&self) -> Result<()> {
        match self.vfs.make_dir(&self.root) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                return Err(failure("making a directory", &error));
            }
            _ => {}
        }
        match self.vfs.sync_dir(parent(&self.root)) {
            Err(error) if error.kind() != ErrorKind::PermissionDenied => Err(failure("syncing a directory", &error)),
            _ => Ok(()),
        }
    }

    /// Makes the entries of a directory durable.
    ///
    /// # Errors
    /// `storage-failure` or `insufficient-storage`; writes stop.
    pub fn make_durable(&self, dir: &Path) -> Result<()> {
        self.sync_dir(dir).map_err(|error| self.record_failure("syncing a directory", &error, None))
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.timed(|| self.vfs.sync_dir(dir))
    }

    /// Runs a sync and reports its duration.
    fn timed(&self, sync: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        let started = Instant::now();
        let synced = sync();
        (self.on_sync)(started.elapsed());
        synced
    }

    /// Resumes stopped writes if a probe file can be written.
    ///
    /// # Errors
    /// `insufficient-storage`, `read-only`.
    pub fn recover(&self) -> Result<()> {
        let health = lock(&self.health);
        match *health {
            DiskHealth::Failed(..) => self.probe_if_unhealthy(health),
            DiskHealth::Healthy | DiskHealth::Full(_) => Ok(()),
        }
    }

    pub fn state(&self) -> StoreState {
        match self.probe_if_unhealthy(lock(&self.health)) {
            Ok(()) => StoreState::Writable,
            Err(error) => StoreState::ReadOnly(error.to_string()),
        }
    }

    /// Returns to health if a probe file can be written, after a failure or on a disk that was full.
    fn probe_if_unhealthy(&self, mut health: MutexGuard<'_, DiskHealth>) -> Result<()> {
        let (reason, is_space_missing, probed) = match &*health {
            DiskHealth::Healthy => return Ok(()),
            DiskHealth::Full(reason) => (reason, true, self.probe(&[])),
            DiskHealth::Failed(reason, files) => (reason, false, self.probe(files)),
        };
        if let Err(error) = probed {
            let reason = format!("{reason}; retry failed: {error}");
            let is_full = is_space_missing || is_full(&error);
            return Err(if is_full { Error::InsufficientStorage(reason) } else { Error::ReadOnly(reason) });
        }
        *health = DiskHealth::Healthy;
        drop(health);
        (self.events)(&Event::Writable);
        Ok(())
    }

    /// Removes files in an unknown state, then writes, syncs and removes a probe file.
    fn probe(&self, uncertain: &[PathBuf]) -> io::Result<()> {
        for file in uncertain {
            match self.vfs.remove(file) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => self.vfs.sync_dir(parent(file))?,
            }
        }
        let path = self.root.join(temp_name());
        let mut file = self.vfs.create(&path)?;
        let synced = file.write(&[0; PROBE_SIZE]).and_then(|()| file.sync());
        self.vfs.remove(&path)?;
        synced.and_then(|()| self.vfs.sync_dir(&self.root))
    }

    /// Returns the error of an operation that stored nothing, and records a full disk.
    fn clean_failure(&self, operation: &str, error: &io::Error) -> Error {
        let mut health = lock(&self.health);
        if is_full(error) && matches!(*health, DiskHealth::Healthy) {
            let reason = format!("{operation} failed: {error}");
            *health = DiskHealth::Full(reason.clone());
            drop(health);
            (self.events)(&Event::ReadOnly(reason));
        }
        failure(operation, error)
    }

    fn record_failure(&self, operation: &str, error: &io::Error, file: Option<PathBuf>) -> Error {
        let reason = format!("{operation} failed: {error}");
        let mut health = lock(&self.health);
        match &mut *health {
            DiskHealth::Failed(_, files) => files.extend(file),
            DiskHealth::Healthy | DiskHealth::Full(_) => {
                *health = DiskHealth::Failed(reason.clone(), file.into_iter().collect())
            }
        }
        drop(health);
        (self.events)(&Event::ReadOnly(reason));
        failure(operation, error)
    }
}

/// Returns the parent directory of a path.
fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns a random temporary file name.
pub(super) fn temp_name() -> String {
    format!("{TEMP_PREFIX}{:016x}", RandomState::new().build_hasher().finish())
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
}

/// Converts an I/O error of an operation that stored nothing.
pub(super) fn failure(operation: &str, error: &io::Error) -> Error {
    let reason = format!("{operation} failed: {error}");
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Error::InsufficientStorage(reason),
        ErrorKind::ReadOnlyFilesystem => Error::ReadOnly(reason),
        _ => Error::StorageFailure(reason),
    }
}
