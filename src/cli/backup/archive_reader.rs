//! Reading of a backup: entries are verified against the manifest, which is the last of them.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Component, Path, PathBuf};

use data_encoding::HEXLOWER;
use pidq_http::Secret;
use pidq_store::crypto::stream::DecryptingReader;
use pidq_store::spool::create_private_dir;
use sha2::{Digest, Sha256};
use tar::{Archive, Entry, EntryType};

use super::{ENCRYPTED, FORMAT, MANIFEST, Manifest, ManifestEntry};
use crate::cli::failure::{Failure, Result};

/// Size limit of the manifest in bytes: about ten million entries.
const MANIFEST_LIMIT: u64 = 2 << 30;
/// Size of the blocks in which entries are copied.
const BLOCK_SIZE: usize = 64 << 10;

/// Verifies a backup and writes its entries below a directory.
///
/// # Errors
/// Returns an error if the backup is incomplete, modified, or of a newer program, if the key is missing or wrong, or if
/// a file cannot be written. Entries may have been written before that.
pub fn unpack(input: impl Read, key: Option<&Secret>, target: &Path) -> Result<Manifest> {
    read(input, key, |path, entry| {
        let file = target.join(path);
        let parent = file.parent().unwrap_or(target);
        create_private_dir(parent)
            .and_then(|()| create_private_file(&file))
            .and_then(|mut out| copy_and_hash(entry, &mut out).and_then(|hashed| out.sync_all().map(|()| hashed)))
    })
}

/// Verifies a backup without writing it.
///
/// # Errors
/// As [`unpack`].
pub fn check(input: impl Read, key: Option<&Secret>) -> Result<Manifest> {
    read(input, key, |_, entry| copy_and_hash(entry, &mut io::sink()))
}

/// Consumes an entry with a path and returns its size and hash.
type EntryConsumer<'a> = dyn FnMut(&Path, &mut dyn Read) -> io::Result<(u64, String)> + 'a;

fn read(
    input: impl Read,
    key: Option<&Secret>,
    mut consume: impl FnMut(&Path, &mut dyn Read) -> io::Result<(u64, String)>,
) -> Result<Manifest> {
    let decrypted = decrypt(input, key)?;
    let decoder = zstd::Decoder::new(decrypted).map_err(invalid)?;
    let mut archive = Archive::new(decoder);
    let (manifest, entries) = read_entries(&mut archive, &mut consume)?;
    // The end of the encryption and of the compression is verified only when it is read.
    io::copy(&mut archive.into_inner(), &mut io::sink()).map_err(invalid)?;
    verify(&manifest, &entries)?;
    Ok(manifest)
}

/// Reads entries up to the manifest. Returns it, and what the entries are.
fn read_entries<R: Read>(
    archive: &mut Archive<R>,
    consume: &mut EntryConsumer<'_>,
) -> Result<(Manifest, Vec<ManifestEntry>)> {
    let mut entries = Vec::new();
    for entry in archive.entries().map_err(invalid)? {
        let mut entry = entry.map_err(invalid)?;
        let path = safe_path(&entry)?;
        if path == Path::new(MANIFEST) {
            return Ok((parse_manifest(&mut entry)?, entries));
        }
        let (size, sha256) = consume(&path, &mut entry).map_err(|error| failed(&path, &error))?;
        entries.push(ManifestEntry { path: path.to_string_lossy().into_owned(), size, sha256 });
    }
    Err(Failure::Usage("the backup is incomplete: it has no manifest; use another backup".into()))
}

/// Returns the path of a regular file below the target.
fn safe_path<R: Read>(entry: &Entry<'_, R>) -> Result<PathBuf> {
    let path = entry.path().map_err(invalid)?;
    let is_safe = path.components().all(|part| matches!(part, Component::Normal(_))) && path.to_str().is_some();
    if is_safe && entry.header().entry_type() == EntryType::Regular {
        return Ok(path.into_owned());
    }
    Err(Failure::Usage(format!("the backup has an entry that no backup of pidq has: `{}`", path.display())))
}

fn parse_manifest(entry: &mut impl Read) -> Result<Manifest> {
    let mut text = Vec::new();
    entry.take(MANIFEST_LIMIT).read_to_end(&mut text).map_err(invalid)?;
    let manifest: Manifest = serde_json::from_slice(&text).map_err(|error| invalid(error.into()))?;
    if manifest.format > FORMAT {
        return Err(Failure::Usage(format!(
            "the backup was written by pidq {}; restore it with that version or a newer one",
            manifest.version
        )));
    }
    Ok(manifest)
}

/// Compares the entries with those that the manifest lists.
fn verify(manifest: &Manifest, entries: &[ManifestEntry]) -> Result<()> {
    let differing = entries.iter().zip(&manifest.entries).find(|(found, listed)| found != listed);
    if let Some((found, _)) = differing {
        return Err(Failure::Usage(format!("the backup is damaged: `{}` differs from the manifest", found.path)));
    }
    if entries.len() != manifest.entries.len() {
        return Err(Failure::Usage("the backup is damaged: it has other entries than the manifest".into()));
    }
    Ok(())
}

/// Returns the input below the encryption.
fn decrypt<'a>(input: impl Read + 'a, key: Option<&Secret>) -> Result<Box<dyn Read + 'a>> {
    let mut input = BufReader::new(input);
    let mut prefix = Vec::new();
    input.by_ref().take(ENCRYPTED.len() as u64).read_to_end(&mut prefix).map_err(invalid)?;
    match (prefix == ENCRYPTED, key) {
        (false, None) => Ok(Box::new(io::Cursor::new(prefix).chain(input))),
        (false, Some(_)) => Err(Failure::Usage("the backup is not encrypted; leave out `--key-file`".into())),
        (true, None) => Err(Failure::Usage("the backup is encrypted; give its key with `--key-file FILE`".into())),
        (true, Some(key)) => {
            let undecryptable = |_| {
                Failure::Usage("the backup cannot be decrypted: the key is another one, or the file is damaged".into())
            };
            let reader = DecryptingReader::new(input, key.expose().as_bytes(), ENCRYPTED).map_err(undecryptable)?;
            let mut reader = BufReader::new(reader);
            // Another key is noticed at the first block only; without this, zstd would report that its input is invalid.
            reader.fill_buf().map_err(undecryptable)?;
            Ok(Box::new(reader))
        }
    }
}

/// Copies a reader and returns the size and the SHA-256 hash.
fn copy_and_hash(input: &mut dyn Read, out: &mut impl Write) -> io::Result<(u64, String)> {
    let mut digest = Sha256::new();
    let mut block = vec![0; BLOCK_SIZE];
    let mut size = 0;
    loop {
        let length = input.read(&mut block).map_err(damaged)?;
        if length == 0 {
            return Ok((size, HEXLOWER.encode(&digest.finalize())));
        }
        digest.update(&block[..length]);
        out.write_all(&block[..length])?;
        size += length as u64;
    }
}

fn create_private_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn damaged(error: io::Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the backup is damaged: {error}"))
}

fn invalid(error: io::Error) -> Failure {
    Failure::Usage(format!("not a backup, or a damaged one: {error}"))
}

fn failed(path: &Path, error: &io::Error) -> Failure {
    Failure::Usage(format!("`{}`: {error}", path.display()))
}
