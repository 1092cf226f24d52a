//! Reads a served directory again when the system says that it has changed: a file in it, or what its path leads to.
//!
//! The system watches directories, and not paths. So the parents of the directory and of links to it are watched as well,
//! and all is watched anew before each reading: the directory may be another one by now.

use std::collections::{BTreeSet, VecDeque};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use notify::event::{AccessKind, AccessMode, EventKind};
use notify::{RecommendedWatcher, RecursiveMode, Watcher};

use super::Shelf;
use crate::store::{Error, Result, held};

/// How long it must be quiet before changes are looked at.
const QUIET: Duration = Duration::from_millis(200);
/// How long changes wait at most, when it is never quiet.
const PATIENCE: Duration = Duration::from_secs(2);
/// Links on the way to a directory; more go in a circle.
const MOST_LINKS: usize = 40;

/// A directory that is watched, until it is dropped.
pub(super) struct Watch {
    eyes: Arc<Eyes>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Watches the directory of a shelf, and reads it again when it has changed.
    ///
    /// # Errors
    /// `storage-failure`, when it cannot be watched.
    pub fn start(shelf: &Arc<Shelf>) -> Result<Watch> {
        let (changed, changes) = channel();
        let tell = move || {
            // Nobody listens any more only when this ends.
            let _ = changed.send(());
        };
        let eyes = Arc::new(Eyes::new(&shelf.dir, tell)?);
        eyes.look()?;
        let (shelf, own) = (shelf.clone(), eyes.clone());
        let thread = thread::spawn(move || follow(&shelf, &own, &changes));
        Ok(Watch { eyes, thread: Some(thread) })
    }

    /// Watches what the path leads to now. To be called before that is read: what changes in between is read again.
    ///
    /// # Errors
    /// As [`Watch::start`].
    pub fn anew(&self) -> Result<()> {
        self.eyes.look()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        // Without the watcher nobody sends any more, and the thread ends.
        *held(&self.eyes.watcher) = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// What the system watches for us.
struct Eyes {
    dir: PathBuf,
    watcher: Mutex<Option<RecommendedWatcher>>,
    places: Arc<Mutex<Vec<Place>>>,
}

/// A directory, and the entry of it that matters; all do where none is named.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Place {
    folder: PathBuf,
    entry: Option<OsString>,
}

impl Eyes {
    fn new(dir: &Path, changed: impl Fn() + Send + 'static) -> Result<Eyes> {
        let places: Arc<Mutex<Vec<Place>>> = Arc::default();
        let known = places.clone();
        let tell = move |event: notify::Result<notify::Event>| {
            if event.as_ref().map_or(true, |event| matters(event, &held(&known))) {
                changed();
            }
        };
        let watcher = Mutex::new(Some(notify::recommended_watcher(tell).map_err(unwatched)?));
        Ok(Eyes { dir: dir.into(), watcher, places })
    }

    fn look(&self) -> Result<()> {
        let mut watcher = held(&self.watcher);
        let Some(watcher) = watcher.as_mut() else { return Ok(()) };
        let places = places(&self.dir);
        // Not held meanwhile: whoever tells of changes needs it, and the watcher waits for them.
        let before = std::mem::replace(&mut *held(&self.places), places.clone());
        for folder in folders(&before) {
            // What was removed is watched no more.
            let _ = watcher.unwatch(folder);
        }
        let is_served = |folder: &Path| places.iter().any(|place| place.entry.is_none() && place.folder == folder);
        folders(&places).into_iter().try_for_each(|folder| match watcher.watch(folder, RecursiveMode::NonRecursive) {
            Err(error) if is_served(folder) => Err(unwatched(error)),
            // A parent that may not be read hides only that its entry is another one.
            _ => Ok(()),
        })
    }
}

/// Each directory once: the system knows a second watch of it as the first.
fn folders(places: &[Place]) -> BTreeSet<&Path> {
    places.iter().map(|place| place.folder.as_path()).collect()
}

/// Where a change may matter: in the directory, and where its name or that of a link to it stands.
fn places(dir: &Path) -> Vec<Place> {
    let mut places = Vec::new();
    let (mut at, mut links) = (PathBuf::new(), 0);
    let mut left = parts(&std::path::absolute(dir).unwrap_or_else(|_| dir.into()));
    while let Some(part) = left.pop_front() {
        let next = at.join(&part);
        let link = fs::read_link(&next).ok().filter(|_| links < MOST_LINKS);
        if link.is_some() || left.is_empty() || !next.exists() {
            places.push(Place { folder: at.clone(), entry: Some(part.clone()) });
        }
        match link {
            Some(target) => {
                links += 1;
                parts(&target).into_iter().rev().for_each(|part| left.push_front(part));
            }
            None if part == "." => {}
            None if part == ".." => {
                at.pop();
            }
            None => at = next,
        }
    }
    places.push(Place { folder: at, entry: None });
    places
}

/// The parts of a path. The root is one, and leads there from anywhere.
fn parts(path: &Path) -> VecDeque<OsString> {
    path.components().map(|part| part.as_os_str().to_owned()).collect()
}

fn unwatched(error: notify::Error) -> Error {
    Error::StorageFailure(format!("watching failed: {error}"))
}

/// Our own reading is seen as well. It is no change.
fn matters(event: &notify::Event, places: &[Place]) -> bool {
    let is_change = match event.kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => true,
        EventKind::Access(_) => false,
        _ => true,
    };
    // An event of no path says that others were lost.
    let is_here = event.paths.is_empty() || event.paths.iter().any(|path| places.iter().any(|place| place.has(path)));
    is_change && is_here
}

impl Place {
    fn has(&self, path: &Path) -> bool {
        match &self.entry {
            Some(entry) => path.parent() == Some(&self.folder) && path.file_name() == Some(entry),
            None => path.starts_with(&self.folder),
        }
    }
}

fn follow(shelf: &Shelf, eyes: &Eyes, changes: &Receiver<()>) {
    while changes.recv().is_ok() {
        let first = Instant::now();
        while first.elapsed() < PATIENCE {
            match changes.recv_timeout(QUIET) {
                Ok(()) => {}
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
        // An error was told as an event; the next change is another chance.
        let _ = eyes.look();
        let _ = shelf.reload();
    }
}
