//! A file system in memory that forgets what was not synced, tears what was half written, and fails when told to.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use pidq_server::store::vfs::{DirEntry, NewFile, Vfs};

use crate::setting::Dice;

/// A file system in memory.
#[derive(Clone)]
pub struct Sim(Arc<Mutex<State>>);

#[derive(Clone)]
struct State {
    inodes: Vec<Inode>,
    /// Calls so far, and those of them that change something.
    calls: u64,
    changes: u64,
    /// After so many changes the power is gone.
    cut_after: Option<u64>,
    fault: Option<Fault>,
}

/// A failure of some calls.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// The first call that fails.
    pub at: u64,
    /// How many calls in a row fail; only those that write, when it is more than one.
    pub calls: u64,
    pub kind: ErrorKind,
    /// Whether the call does its work all the same.
    pub works: bool,
}

#[derive(Clone)]
enum Inode {
    File {
        data: Vec<u8>,
        synced: Vec<u8>,
        /// A sync has failed: later ones succeed and do nothing, as on real disks.
        is_lost: bool,
    },
    Dir {
        names: BTreeMap<String, usize>,
        synced: BTreeMap<String, usize>,
        /// Changes since the last sync. Each may reach the disk or not, whatever the others do.
        pending: Vec<Change>,
    },
}

#[derive(Clone)]
enum Change {
    Link(String, usize),
    Unlink(String),
    Rename(String, String, usize),
}

/// What a power cut leaves of what was not synced.
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

impl Sim {
    pub fn new() -> Sim {
        Sim(Arc::new(Mutex::new(State { inodes: vec![dir()], calls: 0, changes: 0, cut_after: None, fault: None })))
    }

    pub fn cut_after(self, changes: u64) -> Sim {
        self.state().cut_after = Some(changes);
        self
    }

    pub fn fail(&self, fault: Option<Fault>) {
        let mut state = self.state();
        state.calls = 0;
        state.fault = fault;
    }

    /// Looks without being counted, and without faults.
    pub fn aside(&self, look: impl FnOnce()) {
        let (calls, fault) = {
            let mut state = self.state();
            (state.calls, state.fault.take())
        };
        look();
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
        state.cut_after.is_some_and(|most| state.changes > most)
    }

    /// What is there after the process was killed: everything, but no more durable than before.
    pub fn after_kill(&self) -> Sim {
        let state = self.state().clone();
        Sim(Arc::new(Mutex::new(State { calls: 0, changes: 0, cut_after: None, fault: None, ..state })))
    }

    /// What is there when the power is back.
    pub fn after_cut(&self, loss: Loss) -> Sim {
        let mut state = self.state().clone();
        let mut dice = Dice(match loss {
            Loss::Some(seed) => seed,
            Loss::All | Loss::Nothing => 0,
        });
        for inode in &mut state.inodes {
            inode.forget(loss, &mut dice);
        }
        Sim(Arc::new(Mutex::new(State { calls: 0, changes: 0, cut_after: None, fault: None, ..state })))
    }

    /// Changes a byte of a file behind the back of the store.
    pub fn damage(&self, path: &Path, at: usize) {
        let mut state = self.state();
        let inode = state.find(path).expect("a file");
        if let Inode::File { data, .. } = &mut state.inodes[inode] {
            data[at] ^= 0x10;
        }
    }

    /// Bytes of a file.
    pub fn len(&self, path: &Path) -> usize {
        let state = self.state();
        match &state.inodes[state.find(path).expect("a file")] {
            Inode::File { data, .. } => data.len(),
            Inode::Dir { .. } => 0,
        }
    }

    /// The paths of all files.
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

    /// One call: does its work unless it is one that fails.
    fn call<T>(&self, kind: Call, work: impl FnOnce(&mut State) -> io::Result<T>) -> io::Result<T> {
        let mut state = self.state();
        state.calls += 1;
        if kind == Call::Writes {
            state.changes += 1;
        }
        if state.cut_after.is_some_and(|most| state.changes > most) {
            return Err(io::Error::other("the power is gone"));
        }
        let now = state.calls;
        match state.fault {
            Some(fault) if fault.hits(now, kind) => {
                if fault.works {
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
    fn forget(&mut self, loss: Loss, dice: &mut Dice) {
        match self {
            Inode::File { data, synced, .. } => {
                if data != synced {
                    *data = match (loss, dice.roll(4)) {
                        (Loss::Nothing, _) => data.clone(),
                        (Loss::All, _) | (_, 0) => synced.clone(),
                        (_, 1) => data[..dice.roll(data.len() as u64) as usize].to_vec(),
                        (_, 2) => vec![0; data.len()],
                        _ => torn(data, dice),
                    };
                }
                *synced = data.clone();
            }
            Inode::Dir { names, synced, pending } => {
                for change in pending.drain(..) {
                    let stays = match loss {
                        Loss::All => false,
                        Loss::Nothing => true,
                        Loss::Some(_) => dice.roll(2) == 0,
                    };
                    if stays {
                        apply(synced, &change);
                    }
                }
                *names = synced.clone();
            }
        }
    }
}

/// The bytes with a hole of zeros, as of a block that was not written.
fn torn(data: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut data = data.to_vec();
    let start = dice.roll(data.len() as u64) as usize;
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

struct Open {
    sim: Sim,
    inode: usize,
}

impl NewFile for Open {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let inode = self.inode;
        let written = self.sim.call(Call::Writes, |state| {
            if let Inode::File { data, .. } = &mut state.inodes[inode] {
                data.extend(bytes);
            }
            Ok(())
        });
        // A write that fails may have written some of it.
        if written.is_err()
            && let Inode::File { data, .. } = &mut self.sim.state().inodes[inode]
        {
            data.extend(&bytes[..bytes.len() / 2]);
        }
        written
    }

    fn sync(&mut self) -> io::Result<()> {
        let inode = self.inode;
        let synced = self.sim.call(Call::Writes, |state| {
            if let Inode::File { data, synced, is_lost } = &mut state.inodes[inode]
                && !*is_lost
            {
                *synced = data.clone();
            }
            Ok(())
        });
        if synced.is_err()
            && let Inode::File { is_lost, .. } = &mut self.sim.state().inodes[inode]
        {
            *is_lost = true;
        }
        synced
    }
}

impl Vfs for Sim {
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
        Ok(Box::new(Open { sim: self.clone(), inode }))
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

    fn read(&self, path: &Path, most: u64) -> io::Result<Bytes> {
        self.call(Call::Reads, |state| match &state.inodes[state.find(path)?] {
            Inode::File { data, .. } => Ok(Bytes::copy_from_slice(&data[..data.len().min(most as usize)])),
            Inode::Dir { .. } => Err(ErrorKind::IsADirectory.into()),
        })
    }

    fn lock(&self, _path: &Path) -> io::Result<Box<dyn Send + Sync>> {
        Ok(Box::new(()))
    }
}
