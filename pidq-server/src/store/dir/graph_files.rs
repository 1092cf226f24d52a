//! State of a graph, derived from its file names: versions, tombstones and the version counter.
//!
//! `<version>-<16 hex digits of its SHA-256>.json.zst` is a version, the same name with `.corrupt` marks it as corrupt,
//! and `<version>.deleted` is a tombstone of this and all earlier versions. No file needs to be opened.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use data_encoding::HEXLOWER;

use crate::store::vfs::DirEntry;
use crate::store::{ETag, GraphMeta, Version, unhex};

const VERSION_SUFFIX: &str = ".json.zst";
const CORRUPT_SUFFIX: &str = ".corrupt";
const TOMBSTONE_SUFFIX: &str = ".deleted";
/// Prefix of temporary files.
pub(super) const TEMP_PREFIX: &str = ".tmp-";

/// Version on disk.
#[derive(Debug)]
pub(super) struct VersionFile {
    pub number: u64,
    /// First bytes of its SHA-256.
    pub tag: [u8; 8],
    /// Size of the file in bytes.
    pub len: u64,
    /// Set when found corrupt, until the version is replaced or deleted.
    is_corrupt: AtomicBool,
    /// Metadata, cached after the first read.
    pub meta: OnceLock<Arc<GraphMeta>>,
}

impl VersionFile {
    pub fn new(number: u64, tag: [u8; 8], len: u64) -> VersionFile {
        VersionFile { number, tag, len, is_corrupt: AtomicBool::new(false), meta: OnceLock::new() }
    }

    pub fn from_meta(meta: Arc<GraphMeta>, number: u64, len: u64) -> VersionFile {
        let [a, b, c, d, e, f, g, h, ..] = meta.sha256;
        VersionFile { meta: OnceLock::from(meta), ..VersionFile::new(number, [a, b, c, d, e, f, g, h], len) }
    }

    pub fn version(&self) -> Version {
        Version::number(self.number)
    }

    pub fn etag(&self) -> ETag {
        ETag::from_hash(&self.version(), &self.tag)
    }

    pub fn file_name(&self) -> String {
        format!("{}-{}{VERSION_SUFFIX}", self.number, HEXLOWER.encode(&self.tag))
    }

    /// Returns the name of the marker file of a corrupt version.
    pub fn corrupt_marker_name(&self) -> String {
        format!("{}-{}{CORRUPT_SUFFIX}", self.number, HEXLOWER.encode(&self.tag))
    }

    pub fn is_corrupt(&self) -> bool {
        self.is_corrupt.load(Ordering::Acquire)
    }

    /// Marks the version as corrupt. Returns true if it was not marked before.
    pub fn mark_corrupt(&self) -> bool {
        !self.is_corrupt.swap(true, Ordering::AcqRel)
    }
}

/// Returns the name of the tombstone of a version and all before it.
pub(super) fn tombstone_name(number: u64) -> String {
    format!("{number}{TOMBSTONE_SUFFIX}")
}

/// Files of a graph. Copy-on-write: readers keep a consistent snapshot.
#[derive(Debug, Default)]
pub(super) struct GraphFiles {
    /// Invariant: strictly increasing numbers, all above those of the tombstones.
    pub versions: Vec<Arc<VersionFile>>,
    /// Version numbers of tombstones, increasing.
    pub tombstones: Vec<u64>,
    /// Names of obsolete files.
    pub stale: Vec<String>,
    /// Highest version number ever assigned.
    pub counter: u64,
    /// True if all these names are durable.
    pub is_durable: AtomicBool,
}

impl GraphFiles {
    /// Parses the names in a directory. Unknown names are ignored.
    pub fn from_entries(entries: &[DirEntry]) -> GraphFiles {
        let mut files = GraphFiles::default();
        let regular_files = || entries.iter().filter(|entry| !entry.is_dir);
        files.tombstones =
            regular_files().filter_map(|file| number(file.name.strip_suffix(TOMBSTONE_SUFFIX)?)).collect();
        files.tombstones.sort_unstable();
        let last_tombstone = files.tombstones.last().copied().unwrap_or(0);
        for file in regular_files() {
            match version(file) {
                Some(version_file) if version_file.number > last_tombstone => files.add(version_file),
                Some(_) => files.stale.push(file.name.clone()),
                None => {}
            }
        }
        files.counter = files.latest().map_or(last_tombstone, |latest| latest.number.max(last_tombstone));
        files
    }

    fn add(&mut self, version_file: VersionFile) {
        match self.versions.binary_search_by_key(&version_file.number, |version| version.number) {
            // Version file and marker of the same version: it stays corrupt.
            Ok(at) if version_file.is_corrupt() && self.versions[at].tag == version_file.tag => {
                let _ = self.versions[at].mark_corrupt();
            }
            Ok(_) => {}
            Err(at) => self.versions.insert(at, Arc::new(version_file)),
        }
    }

    pub fn latest(&self) -> Option<&Arc<VersionFile>> {
        self.versions.last()
    }

    pub fn version(&self, version: &Version) -> Option<&Arc<VersionFile>> {
        let number = version.as_number()?;
        self.versions
            .binary_search_by_key(&number, |version_file| version_file.number)
            .ok()
            .map(|at| &self.versions[at])
    }

    /// Returns the size of all versions in bytes.
    pub fn bytes(&self) -> u64 {
        self.versions.iter().map(|version_file| version_file.len).sum()
    }

    pub fn is_durable(&self) -> bool {
        self.is_durable.load(Ordering::Acquire)
    }

    /// Returns a copy with one more durable version.
    pub fn with_version(&self, version_file: Arc<VersionFile>) -> GraphFiles {
        let counter = version_file.number;
        let versions = self.versions.iter().cloned().chain([version_file]).collect();
        GraphFiles {
            versions,
            counter,
            tombstones: self.tombstones.clone(),
            stale: self.stale.clone(),
            is_durable: AtomicBool::new(true),
        }
    }

    /// Returns a copy with a tombstone after all versions.
    pub fn with_tombstone(&self) -> GraphFiles {
        let mut stale = self.stale.clone();
        stale.extend(
            self.versions
                .iter()
                .flat_map(|version_file| [version_file.file_name(), version_file.corrupt_marker_name()]),
        );
        let tombstones = self.tombstones.iter().copied().chain([self.counter]).collect();
        GraphFiles { versions: Vec::new(), tombstones, stale, counter: self.counter, is_durable: AtomicBool::new(true) }
    }
}

/// Parses the name of a version file or corruption marker.
fn version(file: &DirEntry) -> Option<VersionFile> {
    let is_version = file.name.strip_suffix(VERSION_SUFFIX);
    let (digits, tag) = is_version.or_else(|| file.name.strip_suffix(CORRUPT_SUFFIX))?.split_once('-')?;
    let version_file = VersionFile::new(number(digits)?, unhex(tag)?, file.len);
    if is_version.is_none() {
        version_file.mark_corrupt();
    }
    Some(version_file)
}

fn number(digits: &str) -> Option<u64> {
    Version::named(digits).as_number().filter(|number| *number > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(names: &[&str]) -> GraphFiles {
        let entry = |name: &&str| DirEntry { name: (*name).into(), is_dir: false, len: 1 };
        GraphFiles::from_entries(&names.iter().map(entry).collect::<Vec<_>>())
    }

    #[track_caller]
    fn check(names: &[&str], versions: &[u64], counter: u64, stale: usize) {
        let files = read(names);
        let found: Vec<u64> = files.versions.iter().map(|version_file| version_file.number).collect();
        assert_eq!((found.as_slice(), files.counter, files.stale.len()), (versions, counter, stale), "{names:?}");
    }

    #[test]
    fn the_highest_version_wins() {
        check(&[], &[], 0, 0);
        check(&["1-0000000000000000.json.zst"], &[1], 1, 0);
        check(&["10-00000000000000ff.json.zst", "9-0000000000000000.json.zst"], &[9, 10], 10, 0);
    }

    #[test]
    fn a_tombstone_hides_earlier_versions_and_keeps_the_counter() {
        check(&["5.deleted"], &[], 5, 0);
        check(&["5.deleted", "5-0000000000000000.json.zst", "4-0000000000000000.json.zst"], &[], 5, 2);
        check(&["5.deleted", "6-0000000000000000.json.zst", "4-0000000000000000.json.zst"], &[6], 6, 1);
    }

    #[test]
    fn corruption_is_recorded() {
        let files = read(&["2-0000000000000000.corrupt", "1-0000000000000000.json.zst"]);
        assert!(files.latest().is_some_and(|version_file| version_file.number == 2 && version_file.is_corrupt()));
        for names in [["2-00000000000000aa.corrupt", "2-00000000000000aa.json.zst"]; 2] {
            assert!(read(&names).latest().is_some_and(|version_file| version_file.is_corrupt()));
        }
        assert_eq!(files.counter, 2);
    }

    #[test]
    fn unknown_names_are_ignored() {
        check(
            &["x", "01-0000000000000000.json.zst", "1-00.json.zst", "0.deleted", "-1.deleted", "notes.json"],
            &[],
            0,
            0,
        );
        check(&[".tmp-1"], &[], 0, 0);
    }
}
