//! In-memory file system that loses unsynced data, tears partial writes, and fails on demand.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use pidq_server::store::vfs::{DirEntry, NewFile, Vfs};

use crate::fixtures::Random;

/// In-memory file system.
#[derive(Clone)]
pub struct SimulatedDisk(Arc<Mutex<State>>);

#[derive(Clone)]
struct State {
    inodes: Vec<Inode>,
    /// Number of calls, and of those that change something.
    calls: u64,
    changes: u64,
    /// Number of changes after which the power is cut.
    cut_after: Option<u64>,
    fault: Option<Fault>,
}

/// Failure of calls.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// First call that fails.
    pub at: u64,
    /// Number of consecutive calls that fail; if more than one, only writes fail.
    pub calls: u64,
    pub kind: ErrorKind,
    /// True if the failing call takes effect nevertheless.
    pub takes_effect: bool,
}

#[derive(Clone)]
enum Inode {
    File {
        data: Vec<u8>,
        synced: Vec<u8>,
        /// A sync failed: later ones succeed without effect, as on real disks.
        is_lost: bool,
    },
    Dir {
        names: BTreeMap<String, usize>,
        synced: BTreeMap<String, usize>,
        /// Changes since the last sync. Each may or may not reach the disk, independently.
        pending: Vec<Change>,
    },
}

#[derive(Clone)]
enum Change {
    Link(String, usize),
    Unlink(String),
    Rename(String, String, usize),
}

/// Unsynced data that survives a power cut.
#[derive(Clone, Copy, Debug)]
pub enum Loss {
    All,
    Nothing,
    Some(u64),
}

#[derive(Clone, Copy, PartialEq)]
enum Call {
    Reads,
    Writes,
}

fn dir() -> Inode {
    Inode::Dir { names: BTreeMap::new(), synced: BTreeMap::new(), pending: Vec::new() }
}

fn apply(names: &mut BTreeMap<String, usize>, change: &Change) {
    match change {
        Change::Link(name, inode) => {
            names.insert(name.clone(), *inode);
        }
        Change::Unlink(name) => {
            names.remove(name);
        }
        Change::Rename(from, to, inode) => {
            names.remove(from);
            names.insert(to.clone(), *inode);
        }
    }
}

impl SimulatedDisk {
    pub fn new() -> SimulatedDisk {
        SimulatedDisk(Arc::new(Mutex::new(State {
            inodes: vec![dir()],
            calls: 0,
            changes: 0,
            cut_after: None,
            fault: None,
        })))
    }

    pub fn cut_after(self, changes: u64) -> SimulatedDisk {
        self.state().cut_after = Some(changes);
        self
    }

    pub fn fail(&self, fault: Option<Fault>) {
        let mut state = self.state();
        state.calls = 0;
        state.fault = fault;
    }

    /// Runs a closure without counting calls and without faults.
    pub fn without_faults(&self, check: impl FnOnce()) {
        let (calls, fault) = {
            let mut state = self.state();
            (state.calls, state.fault.take())
        };
        check();
        let mut state = self.state();
        (state.calls, state.fault) = (calls, fault);
    }

    pub fn calls(&self) -> u64 {
        self.state().calls
    }

    pub fn changes(&self) -> u64 {
        self.state().changes
    }

    pub fn is_cut(&self) -> bool {
        let state = self.state();
        state.cut_after.is_some_and(|limit| state.changes > limit)
    }

    /// Returns the disk after a killed process: complete, but no more durable than before.
    pub fn after_kill(&self) -> SimulatedDisk {
        let state = self.state().clone();
        SimulatedDisk(Arc::new(Mutex::new(State { calls: 0, changes: 0, cut_after: None, fault: None, ..state })))
    }

    /// Returns the disk after a power cut.
    pub fn after_cut(&self, loss: Loss) -> SimulatedDisk {
        let mut state = self.state().clone();
        let mut random = Random(match loss {
            Loss::Some(seed) => seed,
            Loss::All | Loss::Nothing => 0,
        });
        for inode in &mut state.inodes {
            inode.lose_unsynced(loss, &mut random);
        }
        SimulatedDisk(Arc::new(Mutex::new(State { calls: 0, changes: 0, cut_after: None, fault: None, ..state })))
    }

    /// Flips a bit of a file.
    pub fn damage(&self, path: &Path, at: usize) {
        let mut state = self.state();
        let inode = state.find(path).expect("a file");
        if let Inode::File { data, .. } = &mut state.inodes[inode] {
            data[at] ^= 0x10;
        }
    }

    /// Returns the size of a file in bytes.
    pub fn len(&self, path: &Path) -> usize {
        let state = self.state();
        match &state.inodes[state.find(path).expect("a file")] {
            Inode::File { data, .. } => data.len(),
            Inode::Dir { .. } => 0,
        }
    }

    /// Returns the paths of all files.
    pub fn files(&self) -> Vec<String> {
        let state = self.state();
        let mut found = Vec::new();
        let mut open = vec![(String::new(), 0)];
        while let Some((path, inode)) = open.pop() {
            match &state.inodes[inode] {
                Inode::File { .. } => found.push(path),
                Inode::Dir { names, .. } => {
                    open.extend(names.iter().map(|(name, inode)| (format!("{path}/{name}"), *inode)));
                }
            }
        }
        found.sort();
        found
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a call, or fails it if the fault applies.
    fn call<T>(&self, kind: Call, work: impl FnOnce(&mut State) -> io::Result<T>) -> io::Result<T> {
        let mut state = self.state();
        state.calls += 1;
        if kind == Call::Writes {
            state.changes += 1;
        }
        if state.cut_after.is_some_and(|limit| state.changes > limit) {
            return Err(io::Error::other("the power is cut"));
        }
        let now = state.calls;
        match state.fault {
            Some(fault) if fault.hits(now, kind) => {
                if fault.takes_effect {
                    let _ = work(&mut state);
                }
                Err(fault.kind.into())
            }
            _ => work(&mut state),
        }
    }
}

impl Fault {
    fn hits(&self, call: u64, kind: Call) -> bool {
        (self.at..self.at.saturating_add(self.calls)).contains(&call) && (self.calls == 1 || kind == Call::Writes)
    }
}

impl Inode {
    fn lose_unsynced(&mut self, loss: Loss, random: &mut Random) {
        match self {
            Inode::File { data, synced, .. } => {
                if data != synced {
                    *data = match (loss, random.below(4)) {
                        (Loss::Nothing, _) => data.clone(),
                        (Loss::All, _) | (_, 0) => synced.clone(),
                        (_, 1) => data[..random.below(data.len() as u64) as usize].to_vec(),
                        (_, 2) => vec![0; data.len()],
                        _ => torn(data, random),
                    };
                }
                *synced = data.clone();
            }
            Inode::Dir { names, synced, pending } => {
                for change in pending.drain(..) {
                    let is_kept = match loss {
                        Loss::All => false,
                        Loss::Nothing => true,
                        Loss::Some(_) => random.below(2) == 0,
                    };
                    if is_kept {
                        apply(synced, &change);
                    }
                }
                *names = synced.clone();
            }
        }
    }
}

/// Returns the data with a hole of zeros, as of a block that was not written.
fn torn(data: &[u8], random: &mut Random) -> Vec<u8> {
    let mut data = data.to_vec();
    let start = random.below(data.len() as u64) as usize;
    data[start..].fill(0);
    data
}

impl State {
    fn find(&self, path: &Path) -> io::Result<usize> {
        let mut at = 0;
        for part in path.components().filter_map(|part| part.as_os_str().to_str()).filter(|part| *part != "/") {
            at = match &self.inodes[at] {
                Inode::Dir { names, .. } => *names.get(part).ok_or(ErrorKind::NotFound)?,
                Inode::File { .. } => return Err(ErrorKind::NotADirectory.into()),
            };
        }
        Ok(at)
    }

    fn parent(&self, path: &Path) -> io::Result<(usize, String)> {
        let name = path.file_name().and_then(|name| name.to_str()).ok_or(ErrorKind::InvalidInput)?;
        Ok((self.find(path.parent().ok_or(ErrorKind::InvalidInput)?)?, name.into()))
    }

    fn names(&self, dir: usize) -> io::Result<&BTreeMap<String, usize>> {
        match &self.inodes[dir] {
            Inode::Dir { names, .. } => Ok(names),
            Inode::File { .. } => Err(ErrorKind::NotADirectory.into()),
        }
    }

    fn change(&mut self, dir: usize, change: Change) {
        if let Inode::Dir { names, pending, .. } = &mut self.inodes[dir] {
            apply(names, &change);
            pending.push(change);
        }
    }

    fn add(&mut self, path: &Path, inode: Inode) -> io::Result<usize> {
        let (dir, name) = self.parent(path)?;
        if self.names(dir)?.contains_key(&name) {
            return Err(ErrorKind::AlreadyExists.into());
        }
        self.inodes.push(inode);
        let added = self.inodes.len() - 1;
        self.change(dir, Change::Link(name, added));
        Ok(added)
    }
}

struct OpenFile {
    disk: SimulatedDisk,
    inode: usize,
}

impl NewFile for OpenFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let inode = self.inode;
        let written = self.disk.call(Call::Writes, |state| {
            if let Inode::File { data, .. } = &mut state.inodes[inode] {
                data.extend(bytes);
            }
            Ok(())
        });
        // A failed write may have written a part.
        if written.is_err()
            && let Inode::File { data, .. } = &mut self.disk.state().inodes[inode]
        {
            data.extend(&bytes[..bytes.len() / 2]);
        }
        written
    }

    fn sync(&mut self) -> io::Result<()> {
        let inode = self.inode;
        let synced = self.disk.call(Call::Writes, |state| {
            if let Inode::File { data, synced, is_lost } = &mut state.inodes[inode]
                && !*is_lost
            {
                *synced = data.clone();
            }
            Ok(())
        });
        if synced.is_err()
            && let Inode::File { is_lost, .. } = &mut self.disk.state().inodes[inode]
        {
            *is_lost = true;
        }
        synced
    }
}

impl Vfs for SimulatedDisk {
    fn make_dir(&self, path: &Path) -> io::Result<()> {
        self.call(Call::Writes, |state| state.add(path, dir()).map(drop))
    }

    fn list(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        self.call(Call::Reads, |state| {
            let entry = |(name, inode): (&String, &usize)| match &state.inodes[*inode] {
                Inode::File { data, .. } => DirEntry { name: name.clone(), is_dir: false, len: data.len() as u64 },
                Inode::Dir { .. } => DirEntry { name: name.clone(), is_dir: true, len: 0 },
            };
            Ok(state.names(state.find(path)?)?.iter().map(entry).collect())
        })
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn NewFile>> {
        let file = Inode::File { data: Vec::new(), synced: Vec::new(), is_lost: false };
        let inode = self.call(Call::Writes, |state| state.add(path, file))?;
        Ok(Box::new(OpenFile { disk: self.clone(), inode }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.call(Call::Writes, |state| {
            let inode = state.find(from)?;
            let ((old, from), (new, to)) = (state.parent(from)?, state.parent(to)?);
            if old == new {
                state.change(old, Change::Rename(from, to, inode));
            } else {
                state.change(new, Change::Link(to, inode));
                state.change(old, Change::Unlink(from));
            }
            Ok(())
        })
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.call(Call::Writes, |state| {
            state.find(path)?;
            let (dir, name) = state.parent(path)?;
            state.change(dir, Change::Unlink(name));
            Ok(())
        })
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.call(Call::Writes, |state| {
            let dir = state.find(path)?;
            if let Inode::Dir { names, synced, pending } = &mut state.inodes[dir] {
                *synced = names.clone();
                pending.clear();
            }
            Ok(())
        })
    }

    fn read(&self, path: &Path, limit: u64) -> io::Result<Bytes> {
        self.call(Call::Reads, |state| match &state.inodes[state.find(path)?] {
            Inode::File { data, .. } => Ok(Bytes::copy_from_slice(&data[..data.len().min(limit as usize)])),
            Inode::Dir { .. } => Err(ErrorKind::IsADirectory.into()),
        })
    }

    fn lock(&self, _path: &Path) -> io::Result<Box<dyn Send + Sync>> {
        Ok(Box::new(()))
    }
}
