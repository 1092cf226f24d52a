//! Reader of compound files (MS-CFB): storages and streams in sectors, as in old Office documents and Outlook messages.
//!
//! The file is in memory, and nothing is allocated beyond its size. A stream is read only if it is complete.

use std::collections::HashSet;

/// First bytes of a compound file.
pub const SIGNATURE: &[u8] = b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1";
/// Sizes of the header, an entry of the directory, and a sector of the mini stream.
const HEADER_SIZE: usize = 512;
const ENTRY_SIZE: usize = 128;
const MINI_SECTOR_SIZE: usize = 64;
/// Streams below this size are in the mini stream.
const MINI_STREAM_CUTOFF: u64 = 4096;
/// Highest sector number; higher values are marks, such as the end of a chain.
const MAX_SECTOR: u32 = 0xFFFF_FFFA;
const END_OF_CHAIN: u32 = 0xFFFF_FFFE;
/// Offset of the sectors of the allocation table in the header; the rest of them is in a chain of sectors.
const TABLE_SECTORS: usize = 76;

/// Error of a file that is damaged or truncated.
#[derive(Debug)]
pub struct Damaged;

/// An open compound file.
pub struct CompoundFile<'b> {
    sectors: Sectors<'b>,
    /// The sector that follows each sector in its chain.
    table: Vec<u32>,
    mini_table: Vec<u32>,
    mini_stream: Vec<u8>,
    entries: Vec<Entry>,
}

/// A storage or a stream: an entry of the directory.
pub struct Entry {
    pub name: String,
    kind: u8,
    /// Siblings in a binary tree, and the root of the tree of children.
    left: u32,
    right: u32,
    child: u32,
    start: u32,
    /// Size in bytes.
    pub size: u64,
}

impl Entry {
    const STORAGE: u8 = 1;
    const STREAM: u8 = 2;
    const ROOT: u8 = 5;

    fn parse(bytes: &[u8], sector_size: usize) -> Entry {
        let name_size = usize::from(u16_at(bytes, 64)).saturating_sub(2).min(62);
        let units: Vec<u16> =
            bytes[..name_size].as_chunks::<2>().0.iter().map(|unit| u16::from_le_bytes(*unit)).collect();
        let size = u64::from(u32_at(bytes, 120)) | u64::from(u32_at(bytes, 124)) << 32;
        Entry {
            name: String::from_utf16_lossy(&units),
            kind: bytes[66],
            left: u32_at(bytes, 68),
            right: u32_at(bytes, 72),
            child: u32_at(bytes, 76),
            start: u32_at(bytes, 116),
            // In files with small sectors, the upper half of the size may be undefined.
            size: if sector_size == 512 { size & 0xFFFF_FFFF } else { size },
        }
    }

    pub fn is_stream(&self) -> bool {
        self.kind == Entry::STREAM
    }

    pub fn is_storage(&self) -> bool {
        matches!(self.kind, Entry::STORAGE | Entry::ROOT)
    }
}

/// The sectors of a file.
struct Sectors<'b> {
    bytes: &'b [u8],
    size: usize,
}

impl<'b> Sectors<'b> {
    /// Returns a sector. The last one of a file may be short.
    fn get(&self, number: u32) -> Result<&'b [u8], Damaged> {
        let start =
            (number as usize + 1).checked_mul(self.size).filter(|start| *start < self.bytes.len()).ok_or(Damaged)?;
        Ok(&self.bytes[start..self.bytes.len().min(start + self.size)])
    }

    /// Returns the numbers in a sector, which must be whole.
    fn numbers(&self, sector: u32) -> Result<Vec<u32>, Damaged> {
        let bytes = self.get(sector)?;
        let numbers = bytes.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect();
        if bytes.len() == self.size { Ok(numbers) } else { Err(Damaged) }
    }

    fn count(&self) -> usize {
        self.bytes.len() / self.size
    }
}

impl<'b> CompoundFile<'b> {
    /// Opens a file.
    ///
    /// # Errors
    /// Fails if the file is truncated or its tables are malformed.
    pub fn open(bytes: &'b [u8]) -> Result<Self, Damaged> {
        let header = bytes.get(..HEADER_SIZE).filter(|header| header.starts_with(SIGNATURE)).ok_or(Damaged)?;
        let size = match u16_at(header, 30) {
            9 => 512,
            12 => 4096,
            _ => return Err(Damaged),
        };
        let sectors = Sectors { bytes, size };
        let table = allocation_table(header, &sectors)?;
        let directory = read_whole_chain(u32_at(header, 48), &table, |sector| sectors.get(sector))?;
        let entries: Vec<_> =
            directory.as_chunks::<ENTRY_SIZE>().0.iter().map(|entry| Entry::parse(entry, size)).collect();
        let root = entries.first().filter(|root| root.kind == Entry::ROOT).ok_or(Damaged)?;
        let mini_stream = read_chain(root.start, root.size, size, &table, |sector| sectors.get(sector))?;
        let mini_bytes = match u32_at(header, 60) {
            END_OF_CHAIN => Vec::new(),
            start => read_whole_chain(start, &table, |sector| sectors.get(sector))?,
        };
        let mini_table = mini_bytes.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect();
        Ok(CompoundFile { table, mini_table, mini_stream, entries, sectors })
    }

    /// Returns the top-level storage.
    pub fn root(&self) -> &Entry {
        &self.entries[0]
    }

    /// Returns the entries of a storage.
    ///
    /// # Errors
    /// Fails if the tree of entries is malformed.
    pub fn children(&self, storage: &Entry) -> Result<Vec<&Entry>, Damaged> {
        let (mut found, mut seen, mut left) = (Vec::new(), HashSet::new(), vec![storage.child]);
        while let Some(number) = left.pop() {
            if number > MAX_SECTOR {
                continue;
            }
            let entry = self.entries.get(number as usize).ok_or(Damaged)?;
            if !seen.insert(number) {
                return Err(Damaged);
            }
            left.extend([entry.left, entry.right]);
            found.push(entry);
        }
        Ok(found)
    }

    /// Reads a stream.
    ///
    /// # Errors
    /// Fails if the stream is shorter than its declared size.
    pub fn read(&self, stream: &Entry) -> Result<Vec<u8>, Damaged> {
        let (start, size) = (stream.start, stream.size);
        if size >= MINI_STREAM_CUTOFF {
            return read_chain(start, size, self.sectors.size, &self.table, |sector| self.sectors.get(sector));
        }
        read_chain(start, size, MINI_SECTOR_SIZE, &self.mini_table, |sector| {
            let start = sector as usize * MINI_SECTOR_SIZE;
            let end = self.mini_stream.len().min(start + MINI_SECTOR_SIZE);
            self.mini_stream.get(start..end).ok_or(Damaged)
        })
    }
}

/// Reads the allocation table, whose sectors are listed in the header and in a chain of sectors.
fn allocation_table(header: &[u8], sectors: &Sectors<'_>) -> Result<Vec<u32>, Damaged> {
    let count = u32_at(header, 44) as usize;
    if count > sectors.count() {
        return Err(Damaged);
    }
    let listed = header[TABLE_SECTORS..].as_chunks::<4>().0;
    let mut numbers: Vec<u32> = listed.iter().map(|bytes| u32::from_le_bytes(*bytes)).take(count).collect();
    let mut next = u32_at(header, 68);
    while numbers.len() < count {
        // Each sector lists at least 127 others, so that the loop ends.
        let mut more = sectors.numbers(next)?;
        next = more.pop().ok_or(Damaged)?;
        numbers.extend(more.into_iter().take(count - numbers.len()));
    }
    let mut table = Vec::new();
    for number in numbers {
        table.extend(sectors.numbers(number)?);
    }
    Ok(table)
}

/// Reads a chain of sectors up to its end. A chain without an end is rejected.
fn read_whole_chain<'a>(
    start: u32,
    table: &[u32],
    sector: impl Fn(u32) -> Result<&'a [u8], Damaged>,
) -> Result<Vec<u8>, Damaged> {
    let (mut bytes, mut next) = (Vec::new(), start);
    for _ in 0..=table.len() {
        if next == END_OF_CHAIN {
            return Ok(bytes);
        }
        bytes.extend(sector(next)?);
        next = *table.get(next as usize).ok_or(Damaged)?;
    }
    Err(Damaged)
}

/// Reads the first bytes of a chain of sectors. A shorter chain is rejected.
fn read_chain<'a>(
    start: u32,
    size: u64,
    sector_size: usize,
    table: &[u32],
    sector: impl Fn(u32) -> Result<&'a [u8], Damaged>,
) -> Result<Vec<u8>, Damaged> {
    let size = usize::try_from(size).map_err(|_| Damaged)?;
    // A chain has no sector twice.
    if size.div_ceil(sector_size) > table.len() {
        return Err(Damaged);
    }
    let (mut bytes, mut next) = (Vec::new(), start);
    while bytes.len() < size {
        let content = sector(next)?;
        // A short sector at the end of the file can only be the last one.
        let part = content.get(..(size - bytes.len()).min(sector_size)).ok_or(Damaged)?;
        bytes.extend(part);
        next = *table.get(next as usize).ok_or(Damaged)?;
    }
    Ok(bytes)
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
mod tests {
    use std::io::{Cursor, Write};

    use super::*;

    /// A file of the crate `cfb`, with streams of many sizes, more than one sector of the allocation table, and a storage.
    fn file(version: cfb::Version) -> Vec<u8> {
        let mut file = cfb::CompoundFile::create_with_version(version, Cursor::new(Vec::new())).unwrap();
        file.create_storage("/inner").unwrap();
        for size in SIZES {
            let content: Vec<u8> = (0..size).map(|at| (at * 7 / 3) as u8).collect();
            for folder in ["/", "/inner/"] {
                file.create_stream(format!("{folder}{size}")).unwrap().write_all(&content).unwrap();
            }
        }
        file.into_inner().into_inner()
    }

    const SIZES: [usize; 10] = [0, 1, 63, 64, 65, 4095, 4096, 4097, 100_000, 9_000_000];

    #[test]
    fn streams_are_read_as_written() {
        for version in [cfb::Version::V3, cfb::Version::V4] {
            let bytes = file(version);
            let file = CompoundFile::open(&bytes).unwrap();
            let inner = file.children(file.root()).unwrap().into_iter().find(|entry| entry.is_storage()).unwrap();
            for storage in [file.root(), inner] {
                let streams: Vec<_> = file.children(storage).unwrap().into_iter().filter(|e| e.is_stream()).collect();
                assert_eq!(streams.len(), SIZES.len());
                for stream in streams {
                    let size: usize = stream.name.parse().unwrap();
                    let content = file.read(stream).unwrap();
                    assert!(
                        content.len() == size && content.iter().enumerate().all(|(at, b)| *b == (at * 7 / 3) as u8)
                    );
                }
            }
        }
    }

    #[test]
    fn a_cycle_in_the_tree_of_entries_is_rejected() {
        let mut bytes = file(cfb::Version::V3);
        let name: Vec<u8> = "inner\0".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let entry = memchr::memmem::find(&bytes, &name).unwrap();
        let number =
            CompoundFile::open(&bytes).unwrap().entries.iter().position(|entry| entry.name == "inner").unwrap();
        bytes[entry + 68..entry + 72].copy_from_slice(&(number as u32).to_le_bytes());
        let file = CompoundFile::open(&bytes).unwrap();
        assert!(file.children(file.root()).is_err());
    }

    #[test]
    fn a_truncated_file_yields_only_complete_streams() {
        let whole = file(cfb::Version::V3);
        for size in (0..whole.len()).step_by(99_991) {
            let Ok(file) = CompoundFile::open(&whole[..size]) else { continue };
            for stream in file.children(file.root()).unwrap_or_default().into_iter().filter(|entry| entry.is_stream()) {
                if let Ok(content) = file.read(stream) {
                    assert_eq!(content.len().to_string(), stream.name);
                }
            }
        }
    }
}
