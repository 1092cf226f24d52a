//! Application secret of `pidq up` with its own database: generated at the first start, in a file for its owner only.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use pidq_http::{Secret, uuid_v7};

use crate::cli::failure::{Failure, Result};

/// File of the data directory with the secret.
pub const FILE_NAME: &str = "app-secret";

/// Length of a generated secret: 256 bits in base64url.
const LENGTH: usize = 43;

/// Returns the secret of a data directory, and generates it if there is none.
///
/// # Errors
/// If the file can be read by others, cannot be read by this process, or is no generated secret: a new secret would make
/// everything unreadable that is encrypted with the old one.
pub fn read_or_create(data_dir: &Path) -> Result<Secret> {
    let file = data_dir.join(FILE_NAME);
    let failure = |reason: String| Failure::Usage(format!("the application secret `{}` {reason}", file.display()));
    match read(&file) {
        Err(ReadError::Io(error)) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(failure(error.reason(&file))),
        Ok(secret) => return Ok(secret),
    }
    create(data_dir, &file)
        .map_err(|error| failure(format!("cannot be created: {error}; or set `PIDQ_APP_SECRET`")))?;
    // The file may be that of another process that was faster.
    read(&file).map_err(|error| failure(error.reason(&file)))
}

/// Reason why a file is not used.
enum ReadError {
    Io(io::Error),
    /// Users other than the owner can read or change the file.
    Shared(u32),
    /// The content is no generated secret.
    Malformed,
}

impl ReadError {
    fn reason(&self, file: &Path) -> String {
        match self {
            ReadError::Io(error) => format!("cannot be read: {error}"),
            ReadError::Shared(mode) => {
                format!("is accessible to other users (mode {mode:03o}): run `chmod 600 {}`", file.display())
            }
            ReadError::Malformed => format!(
                "is damaged: expected {LENGTH} letters, digits, `-` and `_`; restore it from a backup, since stored API \
                 keys and webhook secrets cannot be decrypted without it, or delete it to generate another"
            ),
        }
    }
}

fn read(file: &Path) -> std::result::Result<Secret, ReadError> {
    let opened = File::open(file).map_err(ReadError::Io)?;
    let metadata = opened.metadata().map_err(ReadError::Io)?;
    let mode = metadata.permissions().mode() & 0o777;
    if !metadata.is_file() {
        return Err(ReadError::Malformed);
    }
    if mode & 0o077 != 0 {
        return Err(ReadError::Shared(mode));
    }
    let mut bytes = Vec::with_capacity(LENGTH + 2);
    opened.take(LENGTH as u64 + 2).read_to_end(&mut bytes).map_err(ReadError::Io)?;
    let text = String::from_utf8(bytes).map_err(|_| ReadError::Malformed)?;
    let text = text.strip_suffix('\n').unwrap_or(&text);
    let is_secret = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    if text.len() == LENGTH && text.bytes().all(is_secret) { Ok(Secret::new(text)) } else { Err(ReadError::Malformed) }
}

/// Creates the file with its whole content, unless there is one. A link, unlike a rename, does not replace the file of a
/// process that starts at the same time.
fn create(data_dir: &Path, file: &Path) -> io::Result<()> {
    fs::create_dir_all(data_dir)?;
    let secret = Secret::random().map_err(io::Error::other)?;
    let draft = data_dir.join(format!("{FILE_NAME}.{}", uuid_v7()));
    let result = write(&draft, &secret).and_then(|()| fs::hard_link(&draft, file));
    fs::remove_file(&draft)?;
    match result {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        result => result?,
    }
    File::open(data_dir)?.sync_all()
}

fn write(draft: &Path, secret: &Secret) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(draft)?;
    writeln!(file, "{}", secret.expose())?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::thread;

    use super::*;

    /// Empty directory that is removed at the end.
    struct Dir(PathBuf);

    impl Dir {
        fn new() -> Dir {
            let dir = Dir(std::env::temp_dir().join(format!("pidq-app-secret-{}", uuid_v7())));
            fs::create_dir_all(&dir.0).expect("it is new");
            dir
        }

        fn file(&self) -> PathBuf {
            self.0.join(FILE_NAME)
        }

        fn write(&self, content: &[u8], mode: u32) {
            fs::write(self.file(), content).expect("it is written");
            fs::set_permissions(self.file(), PermissionsExt::from_mode(mode)).expect("it is mine");
        }

        fn error(&self) -> String {
            match read_or_create(&self.0) {
                Err(Failure::Usage(text)) => text,
                other => panic!("it is refused: {other:?}"),
            }
        }
    }

    impl Drop for Dir {
        fn drop(&mut self) {
            drop(fs::remove_dir_all(&self.0));
        }
    }

    #[test]
    fn the_secret_is_created_once_for_its_owner() {
        let dir = Dir::new();
        let secret = |dir: &Path| read_or_create(dir).expect("a secret").expose().to_owned();
        let first = secret(&dir.0.join("data"));
        assert_eq!(first.len(), LENGTH);
        assert_eq!(secret(&dir.0.join("data")), first);
        assert_ne!(secret(&dir.0.join("other")), first);
        let names: Vec<_> =
            fs::read_dir(dir.0.join("data")).expect("it exists").map(|entry| entry.map(|e| e.file_name())).collect();
        assert_eq!(names.len(), 1, "no draft remains: {names:?}");
        let metadata = fs::metadata(dir.0.join("data").join(FILE_NAME)).expect("a file");
        assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn processes_that_start_together_agree() {
        let dir = Dir::new();
        let starts: Vec<_> = (0..8)
            .map(|_| {
                let path = dir.0.clone();
                thread::spawn(move || read_or_create(&path).expect("a secret").expose().to_owned())
            })
            .collect();
        let secrets: Vec<String> = starts.into_iter().map(|start| start.join().expect("it ends")).collect();
        assert!(secrets.iter().all(|secret| *secret == secrets[0]), "{secrets:?}");
    }

    #[test]
    fn a_file_that_others_can_read_or_that_is_damaged_is_refused_and_kept() {
        let good = [b'a'; LENGTH];
        for mode in [0o640, 0o604, 0o620, 0o602, 0o644] {
            let dir = Dir::new();
            dir.write(&good, mode);
            let error = dir.error();
            assert!(error.contains(&format!("mode {mode:03o}")) && error.contains("chmod 600"), "{error}");
            assert!(!error.contains("aaaa"), "{error}");
        }
        for content in [&b""[..], b"\n", &good[1..], &[b'a'; LENGTH + 1], &[b'\n'; LENGTH], &[0xff; LENGTH]] {
            let dir = Dir::new();
            dir.write(content, 0o600);
            assert!(dir.error().contains("is damaged"), "{content:?}");
            assert_eq!(fs::read(dir.file()).expect("a file"), content);
        }
        let dir = Dir::new();
        fs::create_dir(dir.file()).expect("it is new");
        assert!(!dir.error().is_empty());
    }

    #[test]
    fn a_file_without_the_final_newline_is_read() {
        let dir = Dir::new();
        dir.write(&[b'a'; LENGTH], 0o400);
        assert_eq!(read_or_create(&dir.0).expect("a secret").expose(), "a".repeat(LENGTH));
    }
}
