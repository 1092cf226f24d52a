//! What the names of files say: which versions a job has, which are gone, and how far it has counted.
//!
//! `<version>-<16 hex of its SHA-256>.json.zst` is a version, the same with `.corrupt` says that it is damaged, and
//! `<version>.deleted` that it and all before it are gone. Names alone tell all of this: no file is opened.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use crate::store::vfs::DirEntry;
use crate::store::{ETag, Meta, Version, hex, unhex};

const WHOLE: &str = ".json.zst";
const CORRUPT: &str = ".corrupt";
const DELETED: &str = ".deleted";
/// The beginning of names of files that are being written.
pub(super) const UNFINISHED: &str = ".tmp-";

/// A version on disk.
#[derive(Debug)]
pub(super) struct Held {
    pub number: u64,
    /// The first bytes of its SHA-256.
    pub tag: [u8; 8],
    /// Bytes of the file.
    pub len: u64,
    /// Found damaged: it stays so until it is replaced or deleted.
    is_corrupt: AtomicBool,
    /// What is known of it, once it was read.
    pub meta: OnceLock<Arc<Meta>>,
}

impl Held {
    pub fn new(number: u64, tag: [u8; 8], len: u64) -> Held {
        Held { number, tag, len, is_corrupt: AtomicBool::new(false), meta: OnceLock::new() }
    }

    pub fn of(meta: Arc<Meta>, number: u64, len: u64) -> Held {
        let [a, b, c, d, e, f, g, h, ..] = meta.sha256;
        Held { meta: OnceLock::from(meta), ..Held::new(number, [a, b, c, d, e, f, g, h], len) }
    }

    pub fn version(&self) -> Version {
        Version::number(self.number)
    }

    pub fn etag(&self) -> ETag {
        ETag::of(&self.version(), &self.tag)
    }

    pub fn file_name(&self) -> String {
        format!("{}-{}{WHOLE}", self.number, hex(&self.tag))
    }

    /// The name of the file that says that it is damaged.
    pub fn marker(&self) -> String {
        format!("{}-{}{CORRUPT}", self.number, hex(&self.tag))
    }

    pub fn is_corrupt(&self) -> bool {
        self.is_corrupt.load(Ordering::Acquire)
    }

    /// Says that it is damaged. Whether it was not known before.
    pub fn condemn(&self) -> bool {
        !self.is_corrupt.swap(true, Ordering::AcqRel)
    }
}

/// The name of the file that says that a version and all before it are gone.
pub(super) fn tombstone(number: u64) -> String {
    format!("{number}{DELETED}")
}

/// What a job has on disk. Replaced as a whole, never changed: readers keep what they have seen.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// Invariant: strictly increasing numbers, all above those of the tombstones.
    pub versions: Vec<Arc<Held>>,
    /// The numbers of tombstones, increasing.
    pub tombs: Vec<u64>,
    /// Names of files that are of no use any more.
    pub stale: Vec<String>,
    /// The highest number that was ever given.
    pub counter: u64,
    /// Whether all these names outlast a power cut.
    pub is_settled: AtomicBool,
}

impl Seen {
    /// Reads the names of a directory. Names that are none of ours are left alone.
    pub fn read(entries: &[DirEntry]) -> Seen {
        let mut seen = Seen::default();
        let files = || entries.iter().filter(|entry| !entry.is_dir);
        seen.tombs = files().filter_map(|file| number(file.name.strip_suffix(DELETED)?)).collect();
        seen.tombs.sort_unstable();
        let floor = seen.tombs.last().copied().unwrap_or(0);
        for file in files() {
            match version(file) {
                Some(held) if held.number > floor => seen.add(held),
                Some(_) => seen.stale.push(file.name.clone()),
                None => {}
            }
        }
        seen.counter = seen.latest().map_or(floor, |latest| latest.number.max(floor));
        seen
    }

    fn add(&mut self, held: Held) {
        match self.versions.binary_search_by_key(&held.number, |version| version.number) {
            // The file and the marker of one version: what is damaged stays damaged.
            Ok(at) if held.is_corrupt() && self.versions[at].tag == held.tag => drop(self.versions[at].condemn()),
            Ok(_) => {}
            Err(at) => self.versions.insert(at, Arc::new(held)),
        }
    }

    pub fn latest(&self) -> Option<&Arc<Held>> {
        self.versions.last()
    }

    pub fn version(&self, version: &Version) -> Option<&Arc<Held>> {
        let number = version.as_number()?;
        self.versions.binary_search_by_key(&number, |held| held.number).ok().map(|at| &self.versions[at])
    }

    /// Bytes of all versions.
    pub fn bytes(&self) -> u64 {
        self.versions.iter().map(|held| held.len).sum()
    }

    pub fn is_settled(&self) -> bool {
        self.is_settled.load(Ordering::Acquire)
    }

    /// With one version more, that outlasts a power cut.
    pub fn with(&self, held: Arc<Held>) -> Seen {
        let counter = held.number;
        let versions = self.versions.iter().cloned().chain([held]).collect();
        Seen {
            versions,
            counter,
            tombs: self.tombs.clone(),
            stale: self.stale.clone(),
            is_settled: AtomicBool::new(true),
        }
    }

    /// With a tombstone behind all versions.
    pub fn buried(&self) -> Seen {
        let mut stale = self.stale.clone();
        stale.extend(self.versions.iter().flat_map(|held| [held.file_name(), held.marker()]));
        let tombs = self.tombs.iter().copied().chain([self.counter]).collect();
        Seen { versions: Vec::new(), tombs, stale, counter: self.counter, is_settled: AtomicBool::new(true) }
    }
}

/// The version, or the damage to one, that a name tells of.
fn version(file: &DirEntry) -> Option<Held> {
    let is_whole = file.name.strip_suffix(WHOLE);
    let (digits, tag) = is_whole.or_else(|| file.name.strip_suffix(CORRUPT))?.split_once('-')?;
    let held = Held::new(number(digits)?, unhex(tag)?, file.len);
    if is_whole.is_none() {
        held.condemn();
    }
    Some(held)
}

fn number(digits: &str) -> Option<u64> {
    Version::named(digits).as_number().filter(|number| *number > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(names: &[&str]) -> Seen {
        let entry = |name: &&str| DirEntry { name: (*name).into(), is_dir: false, len: 1 };
        Seen::read(&names.iter().map(entry).collect::<Vec<_>>())
    }

    #[track_caller]
    fn check(names: &[&str], versions: &[u64], counter: u64, stale: usize) {
        let seen = read(names);
        let found: Vec<u64> = seen.versions.iter().map(|held| held.number).collect();
        assert_eq!((found.as_slice(), seen.counter, seen.stale.len()), (versions, counter, stale), "{names:?}");
    }

    #[test]
    fn the_highest_version_wins() {
        check(&[], &[], 0, 0);
        check(&["1-0000000000000000.json.zst"], &[1], 1, 0);
        check(&["10-00000000000000ff.json.zst", "9-0000000000000000.json.zst"], &[9, 10], 10, 0);
    }

    #[test]
    fn a_tombstone_hides_what_came_before_and_keeps_the_count() {
        check(&["5.deleted"], &[], 5, 0);
        check(&["5.deleted", "5-0000000000000000.json.zst", "4-0000000000000000.json.zst"], &[], 5, 2);
        check(&["5.deleted", "6-0000000000000000.json.zst", "4-0000000000000000.json.zst"], &[6], 6, 1);
    }

    #[test]
    fn damage_is_remembered() {
        let seen = read(&["2-0000000000000000.corrupt", "1-0000000000000000.json.zst"]);
        assert!(seen.latest().is_some_and(|held| held.number == 2 && held.is_corrupt()));
        for names in [["2-00000000000000aa.corrupt", "2-00000000000000aa.json.zst"]; 2] {
            assert!(read(&names).latest().is_some_and(|held| held.is_corrupt()));
        }
        assert_eq!(seen.counter, 2);
    }

    #[test]
    fn other_names_are_left_alone() {
        check(
            &["x", "01-0000000000000000.json.zst", "1-00.json.zst", "0.deleted", "-1.deleted", "notes.json"],
            &[],
            0,
            0,
        );
        check(&[".tmp-1"], &[], 0, 0);
    }
}
