//! Backups of an installation: one archive with its databases and files, and their restoration.
//!
//! A backup is a tar archive compressed with zstd, so that `tar --zstd -tf` lists it, and optionally encrypted. `data/`
//! has the files of the data directory, `database/` and `graphs/` have the databases elsewhere. The last entry,
//! `manifest.json`, lists all others with their sizes and SHA-256 hashes, so a truncated or modified backup is rejected.

mod archive_reader;
mod archive_writer;
mod installation;
mod postgres;
#[cfg(unix)]
mod signal_cleanup;
mod sqlite;

use std::io;
use std::path::Path;

use pidq_http::Secret;
use serde::{Deserialize, Serialize};

use crate::cli::failure::{Failure, Result};

pub use archive_reader::{check, unpack};
pub use archive_writer::ArchiveWriter;
pub use installation::Installation;
#[cfg(unix)]
pub use signal_cleanup::remove_on_signals;

/// Version of the layout. Increased when an older program could not restore a backup.
const FORMAT: u32 = 1;
/// Name of the last entry.
const MANIFEST: &str = "manifest.json";
/// First bytes of an encrypted backup; a plain one starts with those of zstd.
const ENCRYPTED: &[u8] = b"pidq encrypted backup 1\n";
/// Minimum size of a key file in bytes, without white space at its end.
const KEY_SIZE: usize = 32;

/// Contents of a backup.
#[derive(Debug, Deserialize, Serialize)]
pub struct Manifest {
    /// Version of the layout.
    pub format: u32,
    /// Version of the program that wrote the backup.
    pub version: String,
    /// Start of the backup, RFC 3339.
    pub created_at: String,
    /// Entries, in the order of the archive.
    pub entries: Vec<ManifestEntry>,
}

/// Entry of a backup.
#[derive(Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct ManifestEntry {
    /// Path in the archive, with `/` between its parts.
    pub path: String,
    /// Size in bytes.
    pub size: u64,
    /// SHA-256 in lower-case hexadecimal digits.
    pub sha256: String,
}

impl Manifest {
    /// Returns the number and the size of the entries as a text: "4 files, 470275 bytes".
    pub fn contents(&self) -> String {
        let (count, size) = (self.entries.len(), self.entries.iter().map(|entry| entry.size).sum::<u64>());
        format!("{count} {}, {size} bytes", if count == 1 { "file" } else { "files" })
    }
}

/// Reads the key of an encrypted backup.
///
/// # Errors
/// Returns an error if the file cannot be read or is too short for a key.
pub fn read_key(path: &Path) -> Result<Secret> {
    let text = std::fs::read_to_string(path).map_err(|error| Failure::unreadable(path, &error))?;
    let key = text.trim_end();
    if key.len() < KEY_SIZE {
        return Err(Failure::Usage(format!(
            "the key file `{}` has fewer than {KEY_SIZE} characters; create one with `openssl rand -base64 32`",
            path.display()
        )));
    }
    Ok(Secret::new(key))
}

/// Returns a function that converts an I/O error into a failure that says what was attempted.
fn during(action: &str) -> impl Fn(io::Error) -> Failure {
    move |error| Failure::Usage(format!("{action}: {error}"))
}
