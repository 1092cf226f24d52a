//! Upload spool: in memory while an upload is small, then in an unlinked file.
//!
//! The file is created under an unpredictable name, private to its owner, and unlinked at once. So no other process can
//! open or replace it, and the system frees it however the process ends.

use std::fs::{self, DirBuilder, File};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use data_encoding::HEXLOWER;
use pidq_http::{Problem, codes};
use sha2::{Digest, Sha256};
use tokio::task::spawn_blocking;

/// Block size; smaller uploads stay in memory.
pub const BLOCK_SIZE: usize = 256 << 10;
/// Size of the prefix for type detection.
pub const PREFIX_SIZE: usize = 4 << 10;
/// Prefix and suffix of the temporary file names.
const FILE_NAME: (&str, &str) = ("upload-", ".part");

/// Spool directory.
#[derive(Clone, Debug)]
pub struct Spool(PathBuf);

/// An upload in progress.
pub struct IncomingUpload {
    spool: Spool,
    limit: u64,
    size: u64,
    prefix: Vec<u8>,
    buffer: Vec<u8>,
    /// The file, once the upload exceeds a block.
    file: Option<SpoolFile>,
}

/// Data already written to a file.
struct SpoolFile {
    file: File,
    digest: Sha256,
}

/// A completed upload.
#[derive(Debug)]
pub struct SpooledUpload {
    content: Storage,
    size: u64,
    sha256: String,
    prefix: Vec<u8>,
}

#[derive(Debug)]
enum Storage {
    Memory(Vec<u8>),
    File(Arc<File>),
}

impl Spool {
    /// Opens a directory and removes files of processes that crashed between creating and unlinking one.
    /// The directory itself is created on first use.
    pub fn open(folder: PathBuf) -> Spool {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let is_ours = |name: &str| name.starts_with(FILE_NAME.0) && name.ends_with(FILE_NAME.1);
            if name.to_str().is_some_and(is_ours) {
                // Another process may remove the same file at the same time.
                let _ = fs::remove_file(entry.path());
            }
        }
        Spool(folder)
    }

    /// Starts an upload with a size limit.
    pub fn receive(&self, limit: u64) -> IncomingUpload {
        let (prefix, buffer) = (Vec::new(), Vec::new());
        IncomingUpload { spool: self.clone(), limit, size: 0, prefix, buffer, file: None }
    }

    /// Creates an open, unlinked file.
    fn file(&self) -> io::Result<File> {
        create_private_dir(&self.0)?;
        let file = tempfile::Builder::new().prefix(FILE_NAME.0).suffix(FILE_NAME.1).tempfile_in(&self.0)?;
        let (file, path) = file.into_parts();
        match path.close() {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(file),
        }
    }
}

/// Creates a directory that is private to its owner.
pub fn create_private_dir(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

impl IncomingUpload {
    /// Appends bytes; 413 beyond the limit.
    pub async fn push(&mut self, bytes: &[u8]) -> Result<(), Problem> {
        self.size += bytes.len() as u64;
        if self.size > self.limit {
            return Err(Problem::payload_too_large(self.limit));
        }
        let missing = PREFIX_SIZE - self.prefix.len();
        self.prefix.extend_from_slice(&bytes[..missing.min(bytes.len())]);
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() > BLOCK_SIZE { self.write().await } else { Ok(()) }
    }

    /// Completes the upload.
    pub async fn finish(mut self) -> Result<SpooledUpload, Problem> {
        if self.file.is_some() {
            self.write().await?;
        }
        let (content, digest) = match self.file {
            Some(SpoolFile { file, digest }) => (Storage::File(Arc::new(file)), digest.finalize()),
            None => {
                let digest = Sha256::digest(&self.buffer);
                (Storage::Memory(self.buffer), digest)
            }
        };
        Ok(SpooledUpload { content, size: self.size, sha256: HEXLOWER.encode(&digest), prefix: self.prefix })
    }

    async fn write(&mut self) -> Result<(), Problem> {
        let (mut buffer, file, spool) = (std::mem::take(&mut self.buffer), self.file.take(), self.spool.clone());
        let work = move || -> io::Result<_> {
            let mut file = match file {
                Some(file) => file,
                None => SpoolFile { file: spool.file()?, digest: Sha256::new() },
            };
            file.file.write_all(&buffer)?;
            file.digest.update(&buffer);
            buffer.clear();
            Ok((buffer, file))
        };
        let (buffer, file) = run_blocking(work).await.map_err(|error| spool_problem(&error))?;
        (self.buffer, self.file) = (buffer, Some(file));
        Ok(())
    }
}

impl SpooledUpload {
    /// Returns the size in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns the SHA-256 in hexadecimal.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// Returns the first bytes.
    pub fn prefix(&self) -> &[u8] {
        &self.prefix
    }

    /// Returns all bytes if they are in memory.
    pub fn in_memory(&self) -> Option<&[u8]> {
        match &self.content {
            Storage::Memory(bytes) => Some(bytes),
            Storage::File(_) => None,
        }
    }

    /// Reads a block at an offset; shorter at the end.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub async fn read_block(&self, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        let length = usize::try_from(self.size.saturating_sub(offset)).unwrap_or(usize::MAX).min(length);
        let file = match &self.content {
            Storage::Memory(bytes) => {
                let offset = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
                return Ok(bytes[offset..offset + length].to_vec());
            }
            Storage::File(file) => Arc::clone(file),
        };
        let work = move || {
            let mut block = vec![0; length];
            let mut file = &*file;
            file.seek(SeekFrom::Start(offset))?;
            file.read_exact(&mut block).map(|()| block)
        };
        run_blocking(work).await
    }
}

/// Runs file work on a blocking thread.
async fn run_blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    spawn_blocking(work).await.unwrap_or_else(|join_error| Err(io::Error::other(join_error)))
}

/// Converts an I/O error of the spool.
fn spool_problem(error: &io::Error) -> Problem {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => storage_full(),
        _ => {
            tracing::error!(%error, "spooling an upload failed; check that PIDQ_UPLOAD_DIR is writable");
            Problem::new(codes::UNAVAILABLE)
                .detail("The document cannot be stored right now. Try again later.")
                .retry_after(5)
        }
    }
}

/// Returns 507: the disk is full.
pub fn storage_full() -> Problem {
    Problem::new(codes::INSUFFICIENT_STORAGE).detail("The disk is full. Nothing was stored.").retry_after(60)
}

#[cfg(test)]
mod tests {
    use pidq_http::StatusCode;

    use super::*;

    fn file_count(folder: &Path) -> usize {
        fs::read_dir(folder).map_or(0, Iterator::count)
    }

    #[tokio::test]
    async fn an_upload_is_read_back_and_its_file_has_no_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let spool = Spool::open(folder.path().join("uploads"));
        for size in [0, 1, BLOCK_SIZE, BLOCK_SIZE + 1, 3 * BLOCK_SIZE + 7] {
            let bytes: Vec<u8> = (0..size).map(|at| (at % 251) as u8).collect();
            let mut incoming = spool.receive(1 << 30);
            for block in bytes.chunks(9000) {
                incoming.push(block).await.expect("within the limit");
                assert_eq!(file_count(&spool.0), 0);
            }
            let spooled = incoming.finish().await.expect("within the limit");
            assert_eq!((spooled.size(), spooled.in_memory().is_some()), (size as u64, size <= BLOCK_SIZE));
            assert_eq!(spooled.sha256(), HEXLOWER.encode(&Sha256::digest(&bytes)));
            assert!(bytes.starts_with(spooled.prefix()));
            let mut read = Vec::new();
            while (read.len() as u64) < spooled.size() {
                read.extend(spooled.read_block(read.len() as u64, 100_000).await.expect("readable"));
            }
            assert!(read == bytes, "{size}");
        }
    }

    #[tokio::test]
    async fn an_upload_beyond_the_limit_fails_early() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut incoming = Spool::open(folder.path().into()).receive(10);
        incoming.push(b"0123456789").await.expect("within the limit");
        assert_eq!(incoming.push(b"0").await.expect_err("beyond the limit").status(), StatusCode::PAYLOAD_TOO_LARGE);
    }

    #[test]
    fn only_files_of_crashed_processes_are_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let (ours, other) = (folder.path().join("upload-1.part"), folder.path().join("pipeline.db"));
        fs::write(&ours, "x").and_then(|()| fs::write(&other, "x")).expect("files");
        Spool::open(folder.path().into());
        assert!(!ours.exists() && other.exists());
    }

    #[cfg(unix)]
    #[test]
    fn files_and_their_directory_are_private() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        let spool = Spool::open(folder.path().join("uploads"));
        let mode =
            |metadata: io::Result<fs::Metadata>| metadata.map(|metadata| metadata.permissions().mode() & 0o777).ok();
        assert_eq!(mode(spool.file().and_then(|file| file.metadata())), Some(0o600));
        assert_eq!(mode(fs::metadata(&spool.0)), Some(0o700));
    }

    #[test]
    fn a_full_disk_is_reported() {
        let status = |kind| spool_problem(&io::Error::from(kind)).status().as_u16();
        assert_eq!((status(ErrorKind::StorageFull), status(ErrorKind::PermissionDenied)), (507, 503));
    }
}
