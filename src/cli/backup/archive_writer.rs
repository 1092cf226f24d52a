//! Writing of a backup: entries are hashed while they are compressed and encrypted.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use data_encoding::HEXLOWER;
use pidq_http::Secret;
use pidq_http::auth::Timestamp;
use pidq_store::crypto::stream::EncryptingWriter;
use sha2::{Digest, Sha256};
use tar::{Builder, EntryType, Header};
use zstd::Encoder;

use super::{ENCRYPTED, FORMAT, MANIFEST, Manifest, ManifestEntry};

/// Writer of a backup.
pub struct ArchiveWriter<W: Write> {
    tar: Builder<Encoder<'static, Output<W>>>,
    manifest: Manifest,
}

/// Output below the compression.
enum Output<W: Write> {
    Plain(W),
    Encrypted(Box<EncryptingWriter<W>>),
}

impl<W: Write> ArchiveWriter<W> {
    /// Starts a backup, encrypted if there is a key.
    pub fn new(mut out: W, key: Option<&Secret>) -> io::Result<Self> {
        let output = match key {
            None => Output::Plain(out),
            Some(key) => {
                out.write_all(ENCRYPTED)?;
                let writer = EncryptingWriter::new(out, key.expose().as_bytes(), ENCRYPTED)?;
                Output::Encrypted(Box::new(writer))
            }
        };
        let mut encoder = Encoder::new(output, zstd::DEFAULT_COMPRESSION_LEVEL)?;
        encoder.include_checksum(true)?;
        let manifest = Manifest {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").into(),
            created_at: Timestamp::now().to_rfc3339(),
            entries: Vec::new(),
        };
        Ok(ArchiveWriter { tar: Builder::new(encoder), manifest })
    }

    /// Adds a file. Returns false without an error if it no longer exists.
    pub fn add_file(&mut self, path: &str, source: &Path) -> io::Result<bool> {
        let file = match File::open(source) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        let size = file.metadata()?.len();
        let mut input = HashingReader { input: file.take(size), digest: Sha256::new() };
        self.tar.append_data(&mut header(size), path, &mut input)?;
        // The archive would be invalid after a file that became shorter.
        if input.input.limit() != 0 {
            return Err(io::Error::other(format!("{} became shorter while it was read", source.display())));
        }
        let sha256 = HEXLOWER.encode(&input.digest.finalize());
        self.manifest.entries.push(ManifestEntry { path: path.into(), size, sha256 });
        Ok(true)
    }

    /// Writes the manifest and ends the archive. A backup without it is rejected.
    pub fn finish(mut self) -> io::Result<(W, Manifest)> {
        let manifest = serde_json::to_vec_pretty(&self.manifest)?;
        self.tar.append_data(&mut header(manifest.len() as u64), MANIFEST, manifest.as_slice())?;
        let out = match self.tar.into_inner()?.finish()? {
            Output::Plain(out) => out,
            Output::Encrypted(writer) => writer.finish()?,
        };
        Ok((out, self.manifest))
    }
}

impl<W: Write> Write for Output<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Output::Plain(out) => out.write(bytes),
            Output::Encrypted(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Output::Plain(out) => out.flush(),
            Output::Encrypted(out) => out.flush(),
        }
    }
}

/// Reader that hashes what passes through it.
struct HashingReader<R> {
    input: R,
    digest: Sha256,
}

impl<R: Read> Read for HashingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.input.read(buffer)?;
        self.digest.update(&buffer[..length]);
        Ok(length)
    }
}

/// Returns the header of a file that only its owner can read.
fn header(size: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(EntryType::Regular);
    header.set_mode(0o600);
    header.set_size(size);
    header
}
