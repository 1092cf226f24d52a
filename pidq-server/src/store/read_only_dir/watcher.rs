//! File system watcher of a read-only directory: reloads it when a file or the target of its path changes.
//!
//! Operating systems watch directories, not paths. So the parents of the directory and of symbolic links to it are
//! watched as well, and all watches are renewed before each reload, because the path may lead to another directory.

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

use super::DirContents;
use crate::store::{Error, Result, lock};

/// Quiet period before a reload.
const DEBOUNCE_DELAY: Duration = Duration::from_millis(200);
/// Maximum delay of a reload while changes continue.
const MAX_DEBOUNCE_DELAY: Duration = Duration::from_secs(2);
/// Maximum number of symbolic links on the path, to detect cycles.
const LINK_LIMIT: usize = 40;

/// Watcher of a directory, active until dropped.
pub(super) struct DirWatcher {
    watch_set: Arc<WatchSet>,
    thread: Option<JoinHandle<()>>,
}

impl DirWatcher {
    /// Starts to watch a directory and to reload it on changes.
    ///
    /// # Errors
    /// `storage-failure` if the directory cannot be watched.
    pub fn start(contents: &Arc<DirContents>) -> Result<DirWatcher> {
        let (changed, changes) = channel();
        let notify_change = move || {
            // The receiver is dropped only during shutdown.
            let _ = changed.send(());
        };
        let watch_set = Arc::new(WatchSet::new(&contents.dir, notify_change)?);
        watch_set.rewatch()?;
        let (contents, thread_watch_set) = (contents.clone(), watch_set.clone());
        let thread = thread::spawn(move || reload_on_change(&contents, &thread_watch_set, &changes));
        Ok(DirWatcher { watch_set, thread: Some(thread) })
    }

    /// Renews the watches for the current target of the path. Call it before reading the directory, so no change is
    /// missed.
    ///
    /// # Errors
    /// As [`DirWatcher::start`].
    pub fn rewatch(&self) -> Result<()> {
        self.watch_set.rewatch()
    }
}

impl Drop for DirWatcher {
    fn drop(&mut self) {
        // Dropping the watcher closes the channel and ends the thread.
        *lock(&self.watch_set.watcher) = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Current set of watches.
struct WatchSet {
    dir: PathBuf,
    watcher: Mutex<Option<RecommendedWatcher>>,
    watched_paths: Arc<Mutex<Vec<WatchedPath>>>,
}

/// Watched directory and its relevant entry; `None` means all entries.
#[derive(Clone, Debug, Eq, PartialEq)]
struct WatchedPath {
    folder: PathBuf,
    entry: Option<OsString>,
}

impl WatchSet {
    fn new(dir: &Path, changed: impl Fn() + Send + 'static) -> Result<WatchSet> {
        let watched_paths: Arc<Mutex<Vec<WatchedPath>>> = Arc::default();
        let known = watched_paths.clone();
        let notify_change = move |event: notify::Result<notify::Event>| {
            if event.as_ref().map_or(true, |event| is_relevant(event, &lock(&known))) {
                changed();
            }
        };
        let watcher = Mutex::new(Some(notify::recommended_watcher(notify_change).map_err(watch_error)?));
        Ok(WatchSet { dir: dir.into(), watcher, watched_paths })
    }

    fn rewatch(&self) -> Result<()> {
        let mut watcher = lock(&self.watcher);
        let Some(watcher) = watcher.as_mut() else { return Ok(()) };
        let watched_paths = watched_paths(&self.dir);
        // The lock is released first: the event callback takes it, and the watcher waits for the callback.
        let before = std::mem::replace(&mut *lock(&self.watched_paths), watched_paths.clone());
        for folder in directories(&before) {
            // A removed directory is no longer watched.
            let _ = watcher.unwatch(folder);
        }
        let is_served =
            |folder: &Path| watched_paths.iter().any(|watched| watched.entry.is_none() && watched.folder == folder);
        directories(&watched_paths).into_iter().try_for_each(|folder| {
            match watcher.watch(folder, RecursiveMode::NonRecursive) {
                Err(error) if is_served(folder) => Err(watch_error(error)),
                // Without permission for a parent, only a replaced link is not detected.
                _ => Ok(()),
            }
        })
    }
}

/// Returns each directory once: a second watch would replace the first.
fn directories(watched_paths: &[WatchedPath]) -> BTreeSet<&Path> {
    watched_paths.iter().map(|watched| watched.folder.as_path()).collect()
}

/// Returns the paths where a change is relevant: the directory itself, and the parents of every name and link on its
/// path.
fn watched_paths(dir: &Path) -> Vec<WatchedPath> {
    let mut watched_paths = Vec::new();
    let (mut at, mut links) = (PathBuf::new(), 0);
    let mut remaining = parts(&std::path::absolute(dir).unwrap_or_else(|_| dir.into()));
    while let Some(part) = remaining.pop_front() {
        let next = at.join(&part);
        let link = fs::read_link(&next).ok().filter(|_| links < LINK_LIMIT);
        if link.is_some() || remaining.is_empty() || !next.exists() {
            watched_paths.push(WatchedPath { folder: at.clone(), entry: Some(part.clone()) });
        }
        match link {
            Some(target) => {
                links += 1;
                parts(&target).into_iter().rev().for_each(|part| remaining.push_front(part));
            }
            None if part == "." => {}
            None if part == ".." => {
                at.pop();
            }
            None => at = next,
        }
    }
    watched_paths.push(WatchedPath { folder: at, entry: None });
    watched_paths
}

/// Returns the components of a path, including the root.
fn parts(path: &Path) -> VecDeque<OsString> {
    path.components().map(|part| part.as_os_str().to_owned()).collect()
}

fn watch_error(error: notify::Error) -> Error {
    Error::StorageFailure(format!("watching failed: {error}"))
}

/// Returns true for an event that may change a served graph. Our own reads generate events too, which are ignored.
fn is_relevant(event: &notify::Event, watched_paths: &[WatchedPath]) -> bool {
    let is_change = match event.kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => true,
        EventKind::Access(_) => false,
        _ => true,
    };
    // An event without paths reports lost events.
    let is_here = event.paths.is_empty()
        || event.paths.iter().any(|path| watched_paths.iter().any(|watched| watched.matches(path)));
    is_change && is_here
}

impl WatchedPath {
    fn matches(&self, path: &Path) -> bool {
        match &self.entry {
            Some(entry) => path.parent() == Some(&self.folder) && path.file_name() == Some(entry),
            None => path.starts_with(&self.folder),
        }
    }
}

fn reload_on_change(contents: &DirContents, watch_set: &WatchSet, changes: &Receiver<()>) {
    while changes.recv().is_ok() {
        let first = Instant::now();
        while first.elapsed() < MAX_DEBOUNCE_DELAY {
            match changes.recv_timeout(DEBOUNCE_DELAY) {
                Ok(()) => {}
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
        // Errors were reported as events; the next change retries.
        let _ = watch_set.rewatch();
        let _ = contents.reload();
    }
}
