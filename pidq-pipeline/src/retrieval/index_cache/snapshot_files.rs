//! Encrypted snapshots of partitions on disk, which avoid analyzing the texts again after a restart or an eviction.
//!
//! The key of a snapshot is stored in the database with the change count of its partition. The transaction that deletes,
//! replaces or reclassifies a document also deletes the key: from then on no process can decrypt the old snapshot. If
//! documents were only added since, the snapshot is loaded and the difference is read.
//!
//! The files are a cache. Damaged or outdated files are removed, and the least recently used ones are evicted when the
//! total size exceeds the limit.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, SystemTime};

use data_encoding::HEXLOWER;
use pidq_store::crypto::stream::{DecryptingReader, EncryptingWriter};
use pidq_store::domain::model::Pipeline;
use pidq_store::spool::create_private_dir;
use pidq_text::analyzer;
use pidq_text::codec::{Reader, Writer};
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;

use super::PartitionIndex;

/// Extensions of snapshots, and of files that are being written.
const SNAPSHOT_EXTENSION: &str = "snapshot";
const TEMP_EXTENSION: &str = "part";
/// Age after which an unfinished file is abandoned.
const STALE_AFTER: Duration = Duration::from_secs(3600);
/// Version of the file format. Increase it with every change of the format.
const FORMAT_VERSION: u32 = 3;
/// Minimum number of chunks for a snapshot: fewer are analyzed faster than a user notices.
const MIN_CHUNKS: usize = 1000;

/// Directory of snapshots.
#[derive(Debug)]
pub struct SnapshotFiles {
    dir: PathBuf,
    budget: u64,
    min_chunks: usize,
    /// Number of snapshots loaded.
    pub loaded: AtomicU64,
    /// Number of snapshots written.
    pub written: AtomicU64,
    /// Number of invalid snapshots.
    pub invalid: AtomicU64,
}

/// Identity of a snapshot.
#[derive(Clone, Debug)]
pub(super) struct SnapshotId {
    pub pipeline: String,
    pub classification: String,
    generation: i64,
    /// Everything the bytes depend on except the contents of the database; authenticated as associated data.
    fingerprint: String,
}

impl SnapshotId {
    pub fn new(pipeline: &Pipeline, classification: &str) -> SnapshotId {
        let versions = (FORMAT_VERSION, env!("CARGO_PKG_VERSION"), analyzer::VERSION);
        let model = (&pipeline.embedding_model, pipeline.embedding_dimensions, pipeline.has_chunk_header());
        let partition = (&pipeline.id, pipeline.generation, classification);
        SnapshotId {
            pipeline: pipeline.id.clone(),
            classification: classification.to_owned(),
            generation: pipeline.generation,
            fingerprint: format!("{versions:?} {model:?} {partition:?}"),
        }
    }

    fn file_name(&self, key: &[u8]) -> String {
        file_name(&self.pipeline, self.generation, &self.classification, key)
    }
}

/// Returns a file name: a digest that depends on the key and reveals nothing about the partition.
fn file_name(pipeline: &str, generation: i64, classification: &str, key: &[u8]) -> String {
    let partition = format!("{:?}", (pipeline, generation, classification));
    let digest = Sha256::new().chain_update(key).chain_update(partition).finalize();
    format!("{}.{SNAPSHOT_EXTENSION}", HEXLOWER.encode(&digest[..16]))
}

impl SnapshotFiles {
    /// Creates a store of snapshots with a total size limit in bytes. The directory is created on first use.
    pub fn new(dir: PathBuf, budget: u64) -> SnapshotFiles {
        let [loaded, written, invalid] = [const { AtomicU64::new(0) }; 3];
        SnapshotFiles { dir, budget, min_chunks: MIN_CHUNKS, loaded, written, invalid }
    }

    /// Sets the minimum number of chunks of a partition with a snapshot.
    #[must_use]
    pub fn with_min_chunks(self, min_chunks: usize) -> SnapshotFiles {
        SnapshotFiles { min_chunks, ..self }
    }

    /// Returns whether a partition is large enough for a snapshot.
    pub(super) fn is_large_enough(&self, index: &PartitionIndex) -> bool {
        index.partition.len() >= self.min_chunks.max(1)
    }

    /// Loads the snapshot of a partition, if there is a valid one.
    pub(super) fn read(&self, index: &mut PartitionIndex, key: &[u8]) {
        let path = self.dir.join(index.snapshot_id.file_name(key));
        let Ok(file) = File::open(&path) else { return };
        let context = index.snapshot_id.fingerprint.clone();
        match DecryptingReader::new(&file, key, context.as_bytes())
            .and_then(|reader| index.replace_from(&mut Reader::new(reader)))
        {
            Ok(()) => {
                self.loaded.fetch_add(1, Relaxed);
                // The modification time is the order of eviction; a failure only affects the order.
                let _ = file.set_modified(SystemTime::now());
            }
            Err(error) => {
                tracing::info!(%error, "a snapshot of a partition is invalid; the partition is rebuilt");
                self.invalid.fetch_add(1, Relaxed);
                let _ = fs::remove_file(&path);
            }
        }
    }

    /// Writes the snapshot of a partition.
    ///
    /// # Errors
    /// Fails if the file cannot be written or is too large, or if an update of the partition is pending.
    pub(super) fn write(&self, index: &PartitionIndex, key: &[u8]) -> io::Result<()> {
        let estimated_size = index.bytes() as u64;
        if estimated_size > self.budget {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        create_private_dir(&self.dir)?;
        // Evict other snapshots first, before the disk is full.
        self.evict_for(estimated_size);
        let path = self.dir.join(index.snapshot_id.file_name(key));
        self.write_temp_file(index, key)?.persist(path).map_err(|error| error.error)?;
        self.written.fetch_add(1, Relaxed);
        self.evict_for(0);
        Ok(())
    }

    /// Writes a file without syncing it: a file that is torn by a crash fails authentication. It is removed on failure.
    fn write_temp_file(&self, index: &PartitionIndex, key: &[u8]) -> io::Result<NamedTempFile> {
        let file = tempfile::Builder::new().suffix(&format!(".{TEMP_EXTENSION}")).tempfile_in(&self.dir)?;
        let out = AbortableFile { file: file.as_file(), remaining: self.budget, index };
        let mut out = Writer(EncryptingWriter::new(out, key, index.snapshot_id.fingerprint.as_bytes())?);
        index.write(&mut out)?;
        out.0.finish()?;
        Ok(file)
    }

    /// Removes the least recently used files until `additional` bytes fit into the limit.
    fn evict_for(&self, additional: u64) {
        let mut files = self.files();
        files.sort_unstable_by_key(|file| file.last_used);
        let mut bytes: u64 = files.iter().map(|file| file.bytes).sum::<u64>() + additional;
        // Files being written are kept.
        for file in files.iter().filter(|file| file.has_extension(SNAPSHOT_EXTENSION)) {
            if bytes <= self.budget {
                break;
            }
            bytes -= file.bytes;
            let _ = fs::remove_file(&file.path);
        }
    }

    /// Returns all snapshots and unfinished files.
    pub(super) fn files(&self) -> Vec<SnapshotFile> {
        let entries = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        let found = entries.filter_map(|entry| {
            let metadata = entry.metadata().ok().filter(fs::Metadata::is_file)?;
            Some(SnapshotFile { path: entry.path(), bytes: metadata.len(), last_used: metadata.modified().ok()? })
        });
        found.filter(|file| file.has_extension(SNAPSHOT_EXTENSION) || file.has_extension(TEMP_EXTENSION)).collect()
    }

    /// Removes files without a current partition, and abandoned unfinished ones.
    pub(super) fn remove_obsolete(&self, files: Vec<SnapshotFile>, current: &[(String, i64, String, Vec<u8>)]) {
        let path = |(pipeline, generation, classification, key): &(String, i64, String, Vec<u8>)| {
            self.dir.join(file_name(pipeline, *generation, classification, key))
        };
        let current: HashSet<PathBuf> = current.iter().map(path).collect();
        let is_abandoned = |file: &SnapshotFile| file.last_used.elapsed().is_ok_and(|age| age > STALE_AFTER);
        let is_obsolete = |file: &SnapshotFile| {
            if file.has_extension(SNAPSHOT_EXTENSION) { !current.contains(&file.path) } else { is_abandoned(file) }
        };
        for file in files.iter().filter(|file| is_obsolete(file)) {
            let _ = fs::remove_file(&file.path);
        }
    }
}

/// A file in the snapshot directory.
pub(super) struct SnapshotFile {
    path: PathBuf,
    bytes: u64,
    last_used: SystemTime,
}

impl SnapshotFile {
    fn has_extension(&self, expected: &str) -> bool {
        self.path.extension().is_some_and(|extension| extension == expected)
    }
}

/// A file whose writes fail at the size limit or when an update of the partition is pending.
struct AbortableFile<'i> {
    file: &'i File,
    remaining: u64,
    index: &'i PartitionIndex,
}

impl Write for AbortableFile<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.index.is_update_pending() {
            return Err(io::Error::other("an update of the partition is pending"));
        }
        let written = self.file.write(bytes)?;
        self.remaining = self.remaining.checked_sub(written as u64).ok_or(io::ErrorKind::FileTooLarge)?;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
