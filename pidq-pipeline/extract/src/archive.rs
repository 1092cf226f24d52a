//! Reader of untrusted ZIP archives: checks the declared sizes when opening, and the real sizes while reading.
//!
//! Files are unpacked to memory only, and nested archives are not opened.

use std::io::{self, BufReader, Cursor, Read};

use zip::ZipArchive;

use super::{ExtractError, Options};

/// Unpacked size that is allowed at any compression ratio, in bytes: Office templates compress very well.
const MIN_UNPACKED_LIMIT: u64 = 4 << 20;
/// Maximum unpacked size of one file, in bytes: more than any text within the limit needs.
const MAX_PART_SIZE: u64 = 512 << 20;

/// An archive in memory.
pub struct Archive<'b> {
    zip: ZipArchive<Cursor<&'b [u8]>>,
    /// Bytes that may still be unpacked. The sizes in the archive are untrusted.
    remaining: u64,
}

impl<'b> Archive<'b> {
    pub fn open(bytes: &'b [u8], options: &Options) -> Result<Self, ExtractError> {
        // Counted before parsing: a directory with millions of entries takes memory.
        let entries = memchr::memmem::find_iter(bytes, b"PK\x01\x02").take(options.max_entries + 1).count();
        if entries > options.max_entries {
            return Err(ExtractError::too_large(format!("the archive has more than {} files", options.max_entries)));
        }
        let mut zip = ZipArchive::new(Cursor::new(bytes)).map_err(open_error)?;
        if zip.has_overlapping_entries().map_err(open_error)? {
            return Err(ExtractError::corrupt("files in the archive overlap"));
        }
        let unpacked = declared_size(&mut zip)?;
        let limit = options
            .max_unpacked_size
            .min((bytes.len() as u64).saturating_mul(options.max_compression_ratio).max(MIN_UNPACKED_LIMIT));
        if unpacked > limit {
            let mega = limit >> 20;
            return Err(ExtractError::too_large(format!(
                "the archive unpacks to more than {mega} MiB, the limit for its size"
            )));
        }
        Ok(Archive { zip, remaining: limit })
    }

    /// Returns the names of the files.
    pub fn names(&self) -> Vec<String> {
        self.zip.file_names().filter_map(|name| Some(name.ok()?.into_owned())).collect()
    }

    pub fn has(&self, name: &str) -> bool {
        self.zip.index_for_name(name).is_some()
    }

    /// Opens a file as a stream that fails at the size limit.
    pub fn part(&mut self, name: &str) -> Result<Part<'_>, ExtractError> {
        let missing = || ExtractError::corrupt(format!("`{name}` is missing from the archive"));
        let index = self.zip.index_for_name(name).ok_or_else(missing)?;
        self.part_at(index)
    }

    fn part_at(&mut self, index: usize) -> Result<Part<'_>, ExtractError> {
        let file = self.zip.by_index(index).map_err(open_error)?;
        Ok(BufReader::new(LimitedReader {
            inner: Box::new(file),
            remaining: &mut self.remaining,
            part_remaining: MAX_PART_SIZE,
        }))
    }

    /// Reads a small file as text.
    pub fn text(&mut self, name: &str) -> Result<String, ExtractError> {
        let mut text = String::new();
        self.part(name)?.read_to_string(&mut text).map_err(|error| unpack_error(&error))?;
        Ok(text)
    }

    /// Unpacks every file once and discards the data, so that a reader without limits can rely on the declared sizes.
    #[cfg(feature = "spreadsheets")]
    pub fn verify(&mut self) -> Result<(), ExtractError> {
        for index in 0..self.zip.len() {
            io::copy(&mut self.part_at(index)?, &mut io::sink()).map_err(|error| unpack_error(&error))?;
        }
        Ok(())
    }
}

/// A buffered file of an archive.
pub type Part<'z> = BufReader<LimitedReader<'z>>;

/// A stream that fails at the size limit of its archive or file.
pub struct LimitedReader<'z> {
    inner: Box<dyn Read + 'z>,
    remaining: &'z mut u64,
    part_remaining: u64,
}

impl Read for LimitedReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)? as u64;
        if count > *self.remaining || count > self.part_remaining {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "the unpacked size exceeds the limit"));
        }
        *self.remaining -= count;
        self.part_remaining -= count;
        Ok(count as usize)
    }
}

/// Returns the sum of the declared unpacked sizes.
fn declared_size(zip: &mut ZipArchive<Cursor<&[u8]>>) -> Result<u64, ExtractError> {
    let mut sum = 0u64;
    for index in 0..zip.len() {
        let file = zip.by_index_raw(index).map_err(open_error)?;
        if file.encrypted() {
            return Err(ExtractError::encrypted("the archive needs a password"));
        }
        sum = sum.saturating_add(file.size());
    }
    Ok(sum)
}

/// Converts an error while unpacking: limit exceeded, or corrupt data.
pub fn unpack_error(error: &io::Error) -> ExtractError {
    match error.kind() {
        io::ErrorKind::FileTooLarge => {
            ExtractError::too_large("the archive unpacks to more than the limit for its size")
        }
        _ => ExtractError::corrupt("a file in the archive cannot be unpacked"),
    }
}

fn open_error(error: zip::result::ZipError) -> ExtractError {
    match error {
        zip::result::ZipError::UnsupportedArchive(reason) => {
            ExtractError::corrupt(format!("the archive is not supported: {reason}"))
        }
        _ => ExtractError::corrupt("the archive is damaged or truncated"),
    }
}
