//! A document on its way in: in memory while it is small, then in a file that has no name.
//!
//! The file is made under a name that nobody can foresee, for its owner alone, and loses the name at once. So nobody
//! finds it, nobody can put a link in its place, and however the process ends, the system takes the bytes away with it.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pidq_http::{Problem, StatusCode, hex, uuid_v7};
use sha2::{Digest, Sha256};
use tokio::task::spawn_blocking;

/// What of a document is in memory at once; one that is no larger stays there.
pub(crate) const PIECE: usize = 256 << 10;
/// What of a document tells its kind.
const BEGINNING: usize = 4 << 10;
/// What names of files begin and end with, for the moment in which they have one.
const NAME: (&str, &str) = ("upload-", ".part");

/// The folder of the files.
#[derive(Clone, Debug)]
pub struct Spool(PathBuf);

/// A document that comes in.
pub(crate) struct Incoming {
    spool: Spool,
    limit: u64,
    size: u64,
    beginning: Vec<u8>,
    held: Vec<u8>,
    written: Option<Written>,
}

/// What is in a file already.
struct Written {
    file: File,
    digest: Sha256,
}

/// A document that came in.
#[derive(Debug)]
pub struct Spooled {
    content: Place,
    size: u64,
    sha256: String,
    beginning: Vec<u8>,
}

#[derive(Debug)]
enum Place {
    Memory(Vec<u8>),
    File(Arc<File>),
}

impl Spool {
    /// A folder, without what a process left that died in the moment between making a file and taking its name.
    /// The folder itself is made when it is needed.
    pub fn open(folder: PathBuf) -> Spool {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let is_ours = |name: &str| name.starts_with(NAME.0) && name.ends_with(NAME.1);
            if name.to_str().is_some_and(is_ours) {
                // Somebody else may do the same just now.
                let _ = fs::remove_file(entry.path());
            }
        }
        Spool(folder)
    }

    /// Takes in a document of at most so many bytes.
    pub(crate) fn take(&self, limit: u64) -> Incoming {
        let (beginning, held) = (Vec::new(), Vec::new());
        Incoming { spool: self.clone(), limit, size: 0, beginning, held, written: None }
    }

    /// A new file, open and without a name.
    fn file(&self) -> io::Result<File> {
        make_private(&self.0)?;
        let path = self.0.join(format!("{}{}{}", NAME.0, uuid_v7(), NAME.1));
        let mut options = OpenOptions::new();
        // What is there already, a link also, is not opened.
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&path)?;
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(file),
        }
    }
}

/// Makes a folder that is its owner's alone, if it is not there.
pub(crate) fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

impl Incoming {
    /// Takes some bytes; 413 if they are too many.
    pub async fn push(&mut self, bytes: &[u8]) -> Result<(), Problem> {
        self.size += bytes.len() as u64;
        if self.size > self.limit {
            return Err(Problem::too_large("payload-too-large", self.limit));
        }
        let missing = BEGINNING - self.beginning.len();
        self.beginning.extend_from_slice(&bytes[..missing.min(bytes.len())]);
        self.held.extend_from_slice(bytes);
        if self.held.len() > PIECE { self.write().await } else { Ok(()) }
    }

    /// All of them are there.
    pub async fn finish(mut self) -> Result<Spooled, Problem> {
        if self.written.is_some() {
            self.write().await?;
        }
        let (content, digest) = match self.written {
            Some(Written { file, digest }) => (Place::File(Arc::new(file)), digest.finalize()),
            None => {
                let digest = Sha256::digest(&self.held);
                (Place::Memory(self.held), digest)
            }
        };
        Ok(Spooled { content, size: self.size, sha256: hex(&digest), beginning: self.beginning })
    }

    async fn write(&mut self) -> Result<(), Problem> {
        let (mut held, written, spool) = (std::mem::take(&mut self.held), self.written.take(), self.spool.clone());
        let work = move || -> io::Result<_> {
            let mut written = match written {
                Some(written) => written,
                None => Written { file: spool.file()?, digest: Sha256::new() },
            };
            written.file.write_all(&held)?;
            written.digest.update(&held);
            held.clear();
            Ok((held, written))
        };
        let (held, written) = aside(work).await.map_err(|error| problem(&error))?;
        (self.held, self.written) = (held, Some(written));
        Ok(())
    }
}

impl Spooled {
    /// How many bytes there are.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Their SHA-256 as hexadecimal digits.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// The first few.
    pub fn beginning(&self) -> &[u8] {
        &self.beginning
    }

    /// All of them, if they are in memory.
    pub fn in_memory(&self) -> Option<&[u8]> {
        match &self.content {
            Place::Memory(bytes) => Some(bytes),
            Place::File(_) => None,
        }
    }

    /// So many of them, from a place on; fewer at the end.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub async fn piece(&self, from: u64, length: usize) -> io::Result<Vec<u8>> {
        let length = usize::try_from(self.size.saturating_sub(from)).unwrap_or(usize::MAX).min(length);
        let file = match &self.content {
            Place::Memory(bytes) => {
                let from = usize::try_from(from).unwrap_or(usize::MAX).min(bytes.len());
                return Ok(bytes[from..from + length].to_vec());
            }
            Place::File(file) => Arc::clone(file),
        };
        let work = move || {
            let mut piece = vec![0; length];
            let mut file = &*file;
            file.seek(SeekFrom::Start(from))?;
            file.read_exact(&mut piece).map(|()| piece)
        };
        aside(work).await
    }
}

/// Work with a file, on a thread that may wait for the disk.
async fn aside<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    spawn_blocking(work).await.unwrap_or_else(|gone| Err(io::Error::other(gone)))
}

/// What a file that cannot be written is for the caller.
fn problem(error: &io::Error) -> Problem {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => no_room(),
        _ => {
            tracing::error!(%error, "a document cannot be taken in: is the folder of PIDQ_UPLOAD_DIR there to write to?");
            Problem::unavailable("unavailable", "The document cannot be taken in now. Try again.", 5)
        }
    }
}

/// 507: the disk is full.
pub(crate) fn no_room() -> Problem {
    Problem::new(StatusCode::INSUFFICIENT_STORAGE, "insufficient-storage")
        .detail("There is no room on the disk for this. Nothing of it was kept.")
        .retry_after(60)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> usize {
        fs::read_dir(folder).map_or(0, Iterator::count)
    }

    #[tokio::test]
    async fn what_goes_in_comes_out_and_has_no_name_meanwhile() {
        let folder = tempfile::tempdir().expect("a folder");
        let spool = Spool::open(folder.path().join("uploads"));
        for size in [0, 1, PIECE, PIECE + 1, 3 * PIECE + 7] {
            let bytes: Vec<u8> = (0..size).map(|at| (at % 251) as u8).collect();
            let mut incoming = spool.take(1 << 30);
            for piece in bytes.chunks(9000) {
                incoming.push(piece).await.expect("there is room");
                assert_eq!(names(&spool.0), 0);
            }
            let spooled = incoming.finish().await.expect("there is room");
            assert_eq!((spooled.size(), spooled.in_memory().is_some()), (size as u64, size <= PIECE));
            assert_eq!(spooled.sha256(), hex(&Sha256::digest(&bytes)));
            assert!(bytes.starts_with(spooled.beginning()));
            let mut read = Vec::new();
            while (read.len() as u64) < spooled.size() {
                read.extend(spooled.piece(read.len() as u64, 100_000).await.expect("it is there"));
            }
            assert!(read == bytes, "{size}");
        }
    }

    #[tokio::test]
    async fn too_much_ends_early() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut incoming = Spool::open(folder.path().into()).take(10);
        incoming.push(b"0123456789").await.expect("so many may be");
        assert_eq!(incoming.push(b"0").await.expect_err("one too many").status(), StatusCode::PAYLOAD_TOO_LARGE);
    }

    #[test]
    fn what_a_dead_process_left_goes_and_nothing_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let (ours, other) = (folder.path().join("upload-1.part"), folder.path().join("pipeline.db"));
        fs::write(&ours, "x").and_then(|()| fs::write(&other, "x")).expect("files");
        Spool::open(folder.path().into());
        assert!(!ours.exists() && other.exists());
    }

    #[cfg(unix)]
    #[test]
    fn files_and_their_folder_are_their_owner_s_alone() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        let spool = Spool::open(folder.path().join("uploads"));
        let mode = |metadata: io::Result<fs::Metadata>| metadata.map(|it| it.permissions().mode() & 0o777).ok();
        assert_eq!(mode(spool.file().and_then(|file| file.metadata())), Some(0o600));
        assert_eq!(mode(fs::metadata(&spool.0)), Some(0o700));
    }

    #[test]
    fn a_full_disk_is_told_as_such() {
        let status = |kind| problem(&io::Error::from(kind)).status().as_u16();
        assert_eq!((status(ErrorKind::StorageFull), status(ErrorKind::PermissionDenied)), (507, 503));
    }
}
