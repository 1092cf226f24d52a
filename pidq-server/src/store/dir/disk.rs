//! Writing so that what was acknowledged outlasts a power cut, and knowing when the disk cannot be trusted.
//!
//! A file is written under another name, synced, renamed, and its directory synced. When a sync fails nobody knows
//! what is on the disk: writes stop, until what is in doubt was removed and a new file could be written and synced.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use super::layout::UNFINISHED;
use crate::store::vfs::Vfs;
use crate::store::{Clock, Error, Event, Events, Options, Result, State, held};

/// A file system, and whether it can be written.
pub(super) struct Disk {
    pub vfs: Arc<dyn Vfs>,
    root: PathBuf,
    events: Events,
    clock: Clock,
    health: Mutex<Health>,
}

enum Health {
    Good,
    /// Why, and the files that may or may not be there. They were never acknowledged.
    Doubtful(String, Vec<PathBuf>),
}

impl Disk {
    pub fn new(vfs: Arc<dyn Vfs>, root: PathBuf, options: &Options) -> Disk {
        let (events, clock) = (options.events.clone(), options.clock.clone());
        Disk { vfs, root, events, clock, health: Mutex::new(Health::Good) }
    }

    /// Puts a file in a directory. It is there whole, durably, or not at all.
    ///
    /// # Errors
    /// `insufficient-storage`, `storage-failure`, `read-only`.
    pub fn place(&self, dir: &Path, name: &str, parts: &[&[u8]]) -> Result<()> {
        let (unfinished, target) = (dir.join(fresh_name()), dir.join(name));
        self.write(&unfinished, parts)?;
        if let Err(error) = self.vfs.rename(&unfinished, &target) {
            let _ = self.vfs.remove(&unfinished);
            // A full disk is no doubt, as long as it has kept its word that nothing happened.
            let is_absent = || self.vfs.remove(&target).is_err_and(|error| error.kind() == ErrorKind::NotFound);
            if is_full(&error) && is_absent() {
                return Err(failure("renaming", &error));
            }
            return Err(self.doubt("renaming", &error, Some(target)));
        }
        self.sync_dir(dir).map_err(|error| self.doubt("syncing a directory", &error, Some(target)))
    }

    fn write(&self, path: &Path, parts: &[&[u8]]) -> Result<()> {
        let mut file = self.vfs.create(path).map_err(|error| failure("creating a file", &error))?;
        let written = parts.iter().try_for_each(|part| file.write(part));
        let written = written.map_err(|error| failure("writing", &error));
        let synced =
            written.and_then(|()| self.timed(|| file.sync()).map_err(|error| self.doubt("syncing", &error, None)));
        if synced.is_err() {
            let _ = self.vfs.remove(path);
        }
        synced
    }

    /// Makes a directory that outlasts a power cut, if it is not there.
    ///
    /// # Errors
    /// As [`Disk::place`].
    pub fn make_dir(&self, path: &Path) -> Result<()> {
        match self.vfs.make_dir(path) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(failure("making a directory", &error)),
            // One that is there may be so only until the power goes: synced all the same.
            _ => self.settle(parent(path)),
        }
    }

    /// Makes the directory of the store itself. Whoever may not look into the one above it did not make it today.
    ///
    /// # Errors
    /// As [`Disk::place`].
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

    /// Syncs the names in a directory.
    ///
    /// # Errors
    /// `storage-failure` or `insufficient-storage`, and writes stop.
    pub fn settle(&self, dir: &Path) -> Result<()> {
        self.sync_dir(dir).map_err(|error| self.doubt("syncing a directory", &error, None))
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.timed(|| self.vfs.sync_dir(dir))
    }

    /// A sync, and how long it takes.
    fn timed(&self, sync: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        let begun = Instant::now();
        let synced = sync();
        (self.clock)(begun.elapsed());
        synced
    }

    /// Goes on where writes have stopped, if a file can be written.
    ///
    /// # Errors
    /// `read-only`.
    pub fn ready(&self) -> Result<()> {
        let mut health = held(&self.health);
        let Health::Doubtful(why, files) = &mut *health else { return Ok(()) };
        if let Err(error) = self.probe(files) {
            return Err(Error::ReadOnly(format!("{why}; a new try: {error}")));
        }
        *health = Health::Good;
        drop(health);
        (self.events)(&Event::Writable);
        Ok(())
    }

    pub fn state(&self) -> State {
        match self.ready() {
            Ok(()) => State::Writable,
            Err(error) => State::ReadOnly(error.to_string()),
        }
    }

    /// Removes what is in doubt, then writes, syncs and removes a new file.
    fn probe(&self, doubtful: &[PathBuf]) -> io::Result<()> {
        for file in doubtful {
            match self.vfs.remove(file) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => self.vfs.sync_dir(parent(file))?,
            }
        }
        let path = self.root.join(fresh_name());
        let mut file = self.vfs.create(&path)?;
        let synced = file.write(b"probe").and_then(|()| file.sync());
        self.vfs.remove(&path)?;
        synced.and_then(|()| self.vfs.sync_dir(&self.root))
    }

    fn doubt(&self, doing: &str, error: &io::Error, file: Option<PathBuf>) -> Error {
        let why = format!("{doing} failed: {error}");
        let mut health = held(&self.health);
        match &mut *health {
            Health::Doubtful(_, files) => files.extend(file),
            Health::Good => *health = Health::Doubtful(why.clone(), file.into_iter().collect()),
        }
        drop(health);
        (self.events)(&Event::ReadOnly(why));
        failure(doing, error)
    }
}

/// The directory that a path is in.
fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A name that no file has.
pub(super) fn fresh_name() -> String {
    format!("{UNFINISHED}{:016x}", RandomState::new().build_hasher().finish())
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
}

/// What a failed operation is for the one who asked: nothing was stored.
pub(super) fn failure(doing: &str, error: &io::Error) -> Error {
    let why = format!("{doing} failed: {error}");
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Error::InsufficientStorage(why),
        ErrorKind::ReadOnlyFilesystem => Error::ReadOnly(why),
        _ => Error::StorageFailure(why),
    }
}
