//! File system abstraction of the file store, replaced in tests by one that fails.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::Path;

use bytes::Bytes;

/// Entry of a directory.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct DirEntry {
    /// Name of the entry; entries that are not UTF-8 are skipped.
    pub name: String,
    /// True for a directory.
    pub is_dir: bool,
    /// Size of the file in bytes.
    pub len: u64,
}

/// File opened for writing.
pub trait NewFile: Send {
    /// Appends all bytes.
    ///
    /// # Errors
    /// The bytes were not written, or only partially.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Makes the written bytes durable.
    ///
    /// # Errors
    /// The bytes may not be durable. Their state is unknown, and a retry proves nothing.
    fn sync(&mut self) -> io::Result<()>;
}

/// File system. Every method is one operation that can fail independently.
pub trait Vfs: Send + Sync {
    /// Creates a directory in an existing one.
    ///
    /// # Errors
    /// `AlreadyExists`, or another I/O error.
    fn make_dir(&self, path: &Path) -> io::Result<()>;

    /// Lists a directory.
    ///
    /// # Errors
    /// An I/O error.
    fn list(&self, path: &Path) -> io::Result<Vec<DirEntry>>;

    /// Creates a new file that only its owner can read.
    ///
    /// # Errors
    /// `AlreadyExists`, or another I/O error.
    fn create(&self, path: &Path) -> io::Result<Box<dyn NewFile>>;

    /// Renames a file atomically.
    ///
    /// # Errors
    /// The file may not have been renamed.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// `NotFound`, or another I/O error.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Makes the entries of a directory durable.
    ///
    /// # Errors
    /// The entries may not be durable.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;

    /// Reads up to `limit` bytes from the beginning of a file.
    ///
    /// # Errors
    /// An I/O error.
    fn read(&self, path: &Path, limit: u64) -> io::Result<Bytes>;

    /// Locks a directory for this process, until the guard is dropped or the process ends.
    ///
    /// # Errors
    /// `WouldBlock` if another process holds the lock.
    fn lock(&self, path: &Path) -> io::Result<Box<dyn Send + Sync>>;
}

/// File system of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealVfs;

impl NewFile for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_all()
    }
}

impl Vfs for RealVfs {
    fn make_dir(&self, path: &Path) -> io::Result<()> {
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            let is_dir = entry.file_type()?.is_dir();
            // Removed since the directory was read.
            let len = if is_dir { Some(0) } else { entry.metadata().ok().map(|metadata| metadata.len()) };
            if let (Ok(name), Some(len)) = (entry.file_name().into_string(), len) {
                entries.push(DirEntry { name, is_dir, len });
            }
        }
        Ok(entries)
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn NewFile>> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        Ok(Box::new(options.open(path)?))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }

    fn read(&self, path: &Path, limit: u64) -> io::Result<Bytes> {
        let file = File::open(path)?;
        let len = file.metadata()?.len().min(limit);
        let mut bytes = Vec::with_capacity(usize::try_from(len).unwrap_or(0));
        file.take(limit).read_to_end(&mut bytes)?;
        Ok(bytes.into())
    }

    fn lock(&self, path: &Path) -> io::Result<Box<dyn Send + Sync>> {
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(path.join("lock"))?;
        match file.try_lock() {
            Ok(()) => Ok(Box::new(file)),
            Err(TryLockError::WouldBlock) => Err(io::ErrorKind::WouldBlock.into()),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}
