//! Open partitions as files of this process, so that a start or a turn in memory need not analyse their texts again.
//!
//! A file is locked with a key that stands in the database, beside the count of changes of its partition. The key goes in
//! the transaction in which a document is deleted, replaced or relabelled: from then on no file that has it opens, in
//! whatever process and whatever became of the process. What only grew since is read, and then the difference.
//!
//! The files are a cache. One that is not whole, of another version or of something else does not open and goes; all
//! together they take no more than they may, and the one that was used the longest time ago goes first.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, SystemTime};

use pidq_http::{hex, uuid_v7};
use sha2::{Digest, Sha256};

use super::Index;
use crate::analyser;
use crate::records::Pipeline;
use crate::seal::pieces::{Opening, Sealing};
use crate::spool::make_private;
use crate::wire::{Reader, Writer};

/// What the names of files end with, and those of files that are being written.
const NAMED: &str = "snapshot";
const UNFINISHED: &str = "part";
/// After this whoever wrote a file is gone.
const LEFT: Duration = Duration::from_secs(3600);
/// Grows when something is written in another way.
const FORM: u32 = 2;
/// With fewer chunks it is not worth it: analysing them takes no longer than a person notices.
const FEWEST: usize = 1000;

/// The folder of the files.
#[derive(Debug)]
pub struct Snapshots {
    folder: PathBuf,
    budget: u64,
    fewest: usize,
    /// Partitions that were opened from a file.
    pub opened: AtomicU64,
    /// Partitions that were written.
    pub written: AtomicU64,
    /// Files that did not open.
    pub refused: AtomicU64,
}

/// What a snapshot is of.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    pub pipeline: String,
    pub label: String,
    generation: i64,
    /// All that its bytes depend on beside what is in the database.
    made_of: String,
}

impl Subject {
    pub fn of(pipeline: &Pipeline, label: &str) -> Subject {
        let versions = (FORM, env!("CARGO_PKG_VERSION"), analyser::VERSION);
        let model = (&pipeline.embedding_model, pipeline.embedding_dimensions, pipeline.has_chunk_header());
        let of = (&pipeline.id, pipeline.generation, label);
        Subject {
            pipeline: pipeline.id.clone(),
            label: label.to_owned(),
            generation: pipeline.generation,
            made_of: format!("{versions:?} {model:?} {of:?}"),
        }
    }

    fn name(&self, key: &[u8]) -> String {
        name(&self.pipeline, self.generation, &self.label, key)
    }
}

/// The name of a file. It tells nothing, and another key has another one.
fn name(pipeline: &str, generation: i64, label: &str, key: &[u8]) -> String {
    let of = format!("{:?}", (pipeline, generation, label));
    let digest = Sha256::new().chain_update(key).chain_update(of).finalize();
    format!("{}.{NAMED}", &hex(&digest)[..32])
}

impl Snapshots {
    /// A folder for files that take so many bytes together. It is made when it is needed.
    pub fn new(folder: PathBuf, budget: u64) -> Snapshots {
        let [opened, written, refused] = [const { AtomicU64::new(0) }; 3];
        Snapshots { folder, budget, fewest: FEWEST, opened, written, refused }
    }

    /// The same for partitions with so many chunks or more.
    #[must_use]
    pub fn from_chunks(self, fewest: usize) -> Snapshots {
        Snapshots { fewest, ..self }
    }

    /// Whether a partition is worth a file.
    pub(super) fn wants(&self, index: &Index) -> bool {
        index.partition.len() >= self.fewest.max(1)
    }

    /// Takes in what is in the file of a partition, if there is one that opens.
    pub(super) fn read(&self, index: &mut Index, key: &[u8]) {
        let path = self.folder.join(index.subject.name(key));
        let Ok(file) = File::open(&path) else { return };
        let what = index.subject.made_of.clone();
        match Opening::new(&file, key, what.as_bytes()).and_then(|opening| index.take_in(&mut Reader(opening))) {
            Ok(()) => {
                self.opened.fetch_add(1, Relaxed);
                // The order in which files go. Without it, another one goes.
                let _ = file.set_modified(SystemTime::now());
            }
            Err(error) => {
                tracing::info!(%error, "a snapshot of a partition does not open: it is built anew");
                self.refused.fetch_add(1, Relaxed);
                let _ = fs::remove_file(&path);
            }
        }
    }

    /// Writes the file of a partition.
    ///
    /// # Errors
    /// If it cannot be written, is too large, or somebody wants to change the partition.
    pub(super) fn write(&self, index: &Index, key: &[u8]) -> io::Result<()> {
        let about = index.bytes() as u64;
        if about > self.budget {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        make_private(&self.folder)?;
        // Whatever else is there goes before, and not when the disk is full.
        self.make_room(about);
        let path = self.folder.join(index.subject.name(key));
        let part = path.with_extension(format!("{}.{UNFINISHED}", uuid_v7()));
        let written = self.write_part(index, key, &part).and_then(|()| fs::rename(&part, &path));
        if written.is_err() {
            let _ = fs::remove_file(&part);
        }
        written?;
        self.written.fetch_add(1, Relaxed);
        self.make_room(0);
        Ok(())
    }

    /// Not waited for until it is on the disk: what a crash tears does not open.
    fn write_part(&self, index: &Index, key: &[u8], part: &Path) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let out = Careful { file: options.open(part)?, left: self.budget, index };
        let mut out = Writer(Sealing::new(out, key, index.subject.made_of.as_bytes())?);
        index.write(&mut out)?;
        out.0.finish().map(drop)
    }

    /// Removes the files that were used the longest time ago, until so much more may come.
    fn make_room(&self, more: u64) {
        let mut files = self.files();
        files.sort_unstable_by_key(|file| file.used);
        let mut bytes: u64 = files.iter().map(|file| file.bytes).sum::<u64>() + more;
        // Not what is being written.
        for file in files.iter().filter(|file| file.ends_with(NAMED)) {
            if bytes <= self.budget {
                break;
            }
            bytes -= file.bytes;
            let _ = fs::remove_file(&file.path);
        }
    }

    /// All files that are ours.
    pub(super) fn files(&self) -> Vec<Found> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let found = entries.filter_map(|entry| {
            let metadata = entry.metadata().ok().filter(fs::Metadata::is_file)?;
            Some(Found { path: entry.path(), bytes: metadata.len(), used: metadata.modified().ok()? })
        });
        found.filter(|file| file.ends_with(NAMED) || file.ends_with(UNFINISHED)).collect()
    }

    /// Removes those of some files that are of nothing any more, and those that nobody finished.
    pub(super) fn sweep(&self, files: Vec<Found>, known: &[(String, i64, String, Vec<u8>)]) {
        let name = |(pipeline, generation, label, key): &(String, i64, String, Vec<u8>)| {
            self.folder.join(name(pipeline, *generation, label, key))
        };
        let known: HashSet<PathBuf> = known.iter().map(name).collect();
        let left = |file: &Found| file.used.elapsed().is_ok_and(|age| age > LEFT);
        let gone = |file: &Found| if file.ends_with(NAMED) { !known.contains(&file.path) } else { left(file) };
        for file in files.iter().filter(|file| gone(file)) {
            let _ = fs::remove_file(&file.path);
        }
    }
}

/// A file of ours.
pub(super) struct Found {
    path: PathBuf,
    bytes: u64,
    used: SystemTime,
}

impl Found {
    fn ends_with(&self, ending: &str) -> bool {
        self.path.extension().is_some_and(|extension| extension == ending)
    }
}

/// A file that stops when it is too large, or somebody waits to change what is written.
struct Careful<'i> {
    file: File,
    left: u64,
    index: &'i Index,
}

impl Write for Careful<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.index.is_wanted() {
            return Err(io::Error::other("somebody wants to change it"));
        }
        let written = self.file.write(bytes)?;
        self.left = self.left.checked_sub(written as u64).ok_or(io::ErrorKind::FileTooLarge)?;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
