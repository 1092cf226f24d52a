//! The few things that a store of files asks of a file system, so that a test can be one that fails.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::Path;

use bytes::Bytes;

/// What stands in a directory.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct DirEntry {
    /// Its name; those that are not UTF-8 are none of ours and left out.
    pub name: String,
    /// Whether it is a directory.
    pub is_dir: bool,
    /// Bytes of a file.
    pub len: u64,
}

/// A file that is being written.
pub trait NewFile: Send {
    /// Appends all bytes.
    ///
    /// # Errors
    /// When they were not written, or only some of them.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Returns when the bytes outlast a power cut.
    ///
    /// # Errors
    /// When they may not. What becomes of them is unknown then, and a second try proves nothing.
    fn sync(&mut self) -> io::Result<()>;
}

/// A file system. Every call is one operation that can fail by itself.
pub trait Vfs: Send + Sync {
    /// Makes a directory in an existing one.
    ///
    /// # Errors
    /// `AlreadyExists` among others.
    fn make_dir(&self, path: &Path) -> io::Result<()>;

    /// What stands in a directory.
    ///
    /// # Errors
    /// As reading does.
    fn list(&self, path: &Path) -> io::Result<Vec<DirEntry>>;

    /// Makes a file that only its owner reads. It must not be there.
    ///
    /// # Errors
    /// `AlreadyExists` among others.
    fn create(&self, path: &Path) -> io::Result<Box<dyn NewFile>>;

    /// Gives a file another name, at once for all who look.
    ///
    /// # Errors
    /// When it may not have happened.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// `NotFound` among others.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Returns when the names in a directory outlast a power cut.
    ///
    /// # Errors
    /// When they may not.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;

    /// The first bytes of a file, at most so many.
    ///
    /// # Errors
    /// As reading does.
    fn read(&self, path: &Path, most: u64) -> io::Result<Bytes>;

    /// Takes a directory for this process, until the guard is dropped or the process ends.
    ///
    /// # Errors
    /// `WouldBlock` when another process has it.
    fn lock(&self, path: &Path) -> io::Result<Box<dyn Send + Sync>>;
}

/// The file system of the machine.
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
            // Gone since the directory was read: then it is not there.
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

    fn read(&self, path: &Path, most: u64) -> io::Result<Bytes> {
        let file = File::open(path)?;
        let len = file.metadata()?.len().min(most);
        let mut bytes = Vec::with_capacity(usize::try_from(len).unwrap_or(0));
        file.take(most).read_to_end(&mut bytes)?;
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
