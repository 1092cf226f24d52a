//! ZIP archives that strangers made: opened only if what they claim is within limits, read only as far as they may.
//!
//! Nothing is unpacked to files and no archive in an archive is opened.

use std::io::{self, BufReader, Cursor, Read};

use zip::ZipArchive;

use super::{Failure, Options};

/// Bytes that a small archive may unpack to at any ratio: templates of Office are mostly blank.
const SMALL: u64 = 4 << 20;
/// Bytes of one file that is read as a whole or by XML: more than any text within the limit needs.
const MAX_PART: u64 = 512 << 20;

/// An archive in memory.
pub struct Archive<'b> {
    zip: ZipArchive<Cursor<&'b [u8]>>,
    /// What may still be unpacked: sizes in the archive are claims.
    left: u64,
}

impl<'b> Archive<'b> {
    pub fn open(bytes: &'b [u8], options: &Options) -> Result<Self, Failure> {
        // Counted before anything is read: a list of millions takes memory.
        let entries = memchr::memmem::find_iter(bytes, b"PK\x01\x02").take(options.entries + 1).count();
        if entries > options.entries {
            return Err(Failure::large(format!("the archive has more than {} files", options.entries)));
        }
        let mut zip = ZipArchive::new(Cursor::new(bytes)).map_err(broken)?;
        if zip.has_overlapping_entries().map_err(broken)? {
            return Err(Failure::corrupt("files of the archive overlap"));
        }
        let unpacked = claimed(&mut zip)?;
        let bound = options.unpacked.min((bytes.len() as u64).saturating_mul(options.ratio).max(SMALL));
        if unpacked > bound {
            let mega = bound >> 20;
            return Err(Failure::large(format!(
                "the archive unpacks to more than {mega} MiB, which is the bound for its size"
            )));
        }
        Ok(Archive { zip, left: bound })
    }

    /// The names of the files.
    pub fn names(&self) -> Vec<String> {
        self.zip.file_names().filter_map(|name| Some(name.ok()?.into_owned())).collect()
    }

    pub fn has(&self, name: &str) -> bool {
        self.zip.index_for_name(name).is_some()
    }

    /// A file as a stream that ends with an error where the limit is.
    pub fn part(&mut self, name: &str) -> Result<Part<'_>, Failure> {
        let missing = || Failure::corrupt(format!("`{name}` is missing in the archive"));
        let index = self.zip.index_for_name(name).ok_or_else(missing)?;
        self.part_at(index)
    }

    fn part_at(&mut self, index: usize) -> Result<Part<'_>, Failure> {
        let file = self.zip.by_index(index).map_err(broken)?;
        Ok(BufReader::new(Bounded { inner: Box::new(file), left: &mut self.left, of_part: MAX_PART }))
    }

    /// A small file as text.
    pub fn text(&mut self, name: &str) -> Result<String, Failure> {
        let mut text = String::new();
        self.part(name)?.read_to_string(&mut text).map_err(|error| unreadable(&error))?;
        Ok(text)
    }

    /// Unpacks everything once and keeps nothing, so that a reader that knows no limits meets what was claimed.
    pub fn verify(&mut self) -> Result<(), Failure> {
        for index in 0..self.zip.len() {
            io::copy(&mut self.part_at(index)?, &mut io::sink()).map_err(|error| unreadable(&error))?;
        }
        Ok(())
    }
}

/// A file of an archive.
pub type Part<'z> = BufReader<Bounded<'z>>;

/// A stream that stops where the archive has no more to give.
pub struct Bounded<'z> {
    inner: Box<dyn Read + 'z>,
    left: &'z mut u64,
    of_part: u64,
}

impl Read for Bounded<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)? as u64;
        if count > *self.left || count > self.of_part {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "more is packed in it than may be"));
        }
        *self.left -= count;
        self.of_part -= count;
        Ok(count as usize)
    }
}

/// What the files claim to unpack to.
fn claimed(zip: &mut ZipArchive<Cursor<&[u8]>>) -> Result<u64, Failure> {
    let mut sum = 0u64;
    for index in 0..zip.len() {
        let file = zip.by_index_raw(index).map_err(broken)?;
        if file.encrypted() {
            return Err(Failure::encrypted("the archive needs a password"));
        }
        sum = sum.saturating_add(file.size());
    }
    Ok(sum)
}

/// An error while unpacking: at the limit, or because the bytes are wrong.
pub fn unreadable(error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::FileTooLarge => Failure::large("the archive unpacks to more than its size allows"),
        _ => Failure::corrupt("a file of the archive cannot be unpacked"),
    }
}

fn broken(error: zip::result::ZipError) -> Failure {
    match error {
        zip::result::ZipError::UnsupportedArchive(what) => Failure::corrupt(format!("the archive is not read: {what}")),
        _ => Failure::corrupt("the archive is broken or cut off"),
    }
}
