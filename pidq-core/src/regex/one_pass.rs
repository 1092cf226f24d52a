//! One-pass matcher for unambiguous patterns, such as `^([A-Z]+)-([0-9]+)$`, on short ASCII texts: nearly all tags and
//! patterns.
//!
//! The pattern is a sequence of runs, each a number of characters of one class. If the length of a run varies, the next
//! run begins with other characters: only the longest run can lead to a match, and no state is kept. The linear engine
//! finds the same matches, but its setup costs more than the search in a tag.

use std::ops::Range;

use super::INLINE_GROUPS;
use super::tree::{Assert, Class, Node, Repeat};

/// Maximum length of an accepted text in bytes.
pub(crate) const MAX_TEXT_LEN: usize = 64;
/// Maximum number of runs of a pattern.
const MAX_RUNS: usize = 16;

/// An unambiguous pattern.
#[derive(Debug, Default)]
pub(crate) struct OnePass {
    runs: Vec<Run>,
    run_bits: Box<RunBits>,
    /// For each group, from 1, its runs.
    groups: Vec<Range<usize>>,
    /// True if it only matches at the start of the text.
    anchored_start: bool,
    /// True if it only matches at the end of the text.
    anchored_end: bool,
    /// True if a match may be empty: then it may begin anywhere.
    may_be_empty: bool,
}

/// By byte: a bit for each run that may contain it, and `FIRST`.
#[derive(Debug)]
struct RunBits([u32; 256]);

/// A number of characters of a class.
#[derive(Clone, Copy, Debug)]
struct Run {
    class: Ascii,
    min: usize,
    max: usize,
}

/// The bit of bytes that can begin a match.
const FIRST: u32 = 1 << MAX_RUNS;

/// The runs of a group that was not parsed yet.
const UNREAD: Range<usize> = usize::MAX..usize::MAX;

/// The starts of the runs of a match, and the end of the last one.
pub(crate) type Bounds = [u8; MAX_RUNS + 1];

/// No match yet.
pub(crate) const NO_BOUNDS: Bounds = [0; MAX_RUNS + 1];

/// A set of ASCII characters.
#[derive(Clone, Copy, Debug, Default)]
struct Ascii([u64; 2]);

impl Default for RunBits {
    fn default() -> RunBits {
        RunBits([0; 256])
    }
}

impl Ascii {
    fn from_class(class: &Class) -> Option<Ascii> {
        let set = class.set.as_ref()?;
        let mut ascii = Ascii::default();
        (0..128u8).filter(|byte| set.contains(u32::from(*byte))).for_each(|byte| ascii.insert(byte));
        Some(ascii)
    }

    fn insert(&mut self, byte: u8) {
        self.0[usize::from(byte >> 6) & 1] |= 1 << (byte & 63);
    }

    fn contains(self, byte: u8) -> bool {
        self.0[usize::from(byte >> 6) & 1] >> (byte & 63) & 1 == 1
    }

    fn intersects(self, other: Ascii) -> bool {
        self.0[0] & other.0[0] | self.0[1] & other.0[1] != 0
    }

    fn add(&mut self, other: Ascii) {
        self.0[0] |= other.0[0];
        self.0[1] |= other.0[1];
    }
}

impl OnePass {
    /// Returns `None` if the pattern is ambiguous or has anything but groups, classes and repetitions of these.
    pub(super) fn new(node: &Node, group_count: usize) -> Option<OnePass> {
        if group_count > INLINE_GROUPS {
            return None;
        }
        let mut one_pass = OnePass { groups: vec![UNREAD; group_count], ..OnePass::default() };
        one_pass.add_node(node)?;
        // `(a){0}` leaves no runs, but its group counts: it never matches.
        if one_pass.groups.contains(&UNREAD) {
            return None;
        }
        if one_pass.runs.len() > MAX_RUNS || !(0..one_pass.runs.len()).all(|at| one_pass.has_one_length(at)) {
            return None;
        }
        one_pass.fill_run_bits();
        Some(one_pass)
    }

    fn fill_run_bits(&mut self) {
        let (first, is_whole) = self.first_set(0);
        let bit = |is_set: bool, bit: u32| if is_set { bit } else { 0 };
        let runs =
            |byte: u8| (0..).zip(&self.runs).fold(0, |bits, (at, run)| bits | bit(run.class.contains(byte), 1 << at));
        let bits = |byte: u8| if byte < 128 { runs(byte) | bit(first.contains(byte), FIRST) } else { 0 };
        (0..=u8::MAX).zip(&mut self.run_bits.0).for_each(|(byte, slot)| *slot = bits(byte));
        self.may_be_empty = !is_whole;
    }

    /// Returns true if the matcher accepts a text.
    #[inline]
    pub fn accepts(text: &str) -> bool {
        text.len() <= MAX_TEXT_LEN && text.is_ascii()
    }

    fn add_node(&mut self, node: &Node) -> Option<()> {
        match node {
            Node::Empty => Some(()),
            Node::Char(_) | Node::Class(_) => self.run(node, 1, 1),
            Node::Concat(parts) => parts.iter().try_for_each(|part| self.add_node(part)),
            Node::Group(number, body) => {
                let first = self.runs.len();
                self.add_node(body)?;
                *self.groups.get_mut(number.checked_sub(1)?)? = first..self.runs.len();
                Some(())
            }
            Node::Assert(Assert::TextStart) if self.runs.is_empty() => {
                self.anchored_start = true;
                Some(())
            }
            Node::Assert(Assert::TextEnd) => {
                self.anchored_end = true;
                Some(())
            }
            Node::Repeat(repeat) => self.repeat(repeat),
            Node::Assert(_) | Node::Alt(_) | Node::Lookaround(_) | Node::Backref(_) => None,
        }
    }

    fn repeat(&mut self, repeat: &Repeat) -> Option<()> {
        let max = repeat.max.map_or(MAX_TEXT_LEN, |max| max as usize);
        let min = repeat.min as usize;
        if repeat.greedy || repeat.max == Some(repeat.min) { self.run(&repeat.body, min, max) } else { None }
    }

    fn run(&mut self, body: &Node, min: usize, max: usize) -> Option<()> {
        let class = match body {
            Node::Char(c) if c.is_ascii() => {
                let mut class = Ascii::default();
                class.insert(*c as u8);
                class
            }
            Node::Class(class) => Ascii::from_class(class)?,
            _ => return None,
        };
        if self.anchored_end {
            return None;
        }
        self.runs.push(Run { class, min, max });
        Some(())
    }

    /// Returns the characters that the runs from `from` on may begin with, and true if they cannot all be empty.
    fn first_set(&self, from: usize) -> (Ascii, bool) {
        let mut first = Ascii::default();
        for run in &self.runs[from..] {
            first.add(run.class);
            if run.min > 0 {
                return (first, true);
            }
        }
        (first, false)
    }

    /// Returns true if a run shorter than the longest one cannot lead to a match.
    fn has_one_length(&self, at: usize) -> bool {
        let run = &self.runs[at];
        run.min == run.max || !run.class.intersects(self.first_set(at + 1).0)
    }

    /// Finds a match at or after `start` and sets its `bounds`.
    ///
    /// Hot: most strings of a column begin with another character than an anchored pattern.
    #[inline(always)]
    pub fn find(&self, text: &[u8], start: usize, bounds: &mut Bounds) -> bool {
        if !self.anchored_start {
            return self.find_from(text, start, bounds);
        }
        let can_match = self.may_be_empty || text.first().is_some_and(|byte| self.is_in_run(*byte, FIRST));
        start == 0 && can_match && self.matches(text, 0, bounds).is_ok()
    }

    fn find_from(&self, text: &[u8], start: usize, bounds: &mut Bounds) -> bool {
        let mut at = start;
        while at <= text.len() {
            if !self.may_be_empty {
                let Some(next) = text[at..].iter().position(|byte| self.is_in_run(*byte, FIRST)) else { return false };
                at += next;
            }
            match self.matches(text, at, bounds) {
                Ok(()) => return true,
                Err(next) => at = next,
            }
        }
        false
    }

    #[inline]
    fn is_in_run(&self, byte: u8, bit: u32) -> bool {
        self.run_bits.0[usize::from(byte)] & bit != 0
    }

    /// Matches at a position; if there is no match, returns the next position to try.
    ///
    /// Hot: one table lookup and one step per byte.
    fn matches(&self, text: &[u8], start: usize, bounds: &mut Bounds) -> Result<(), usize> {
        let mut at = start;
        for (index, (run, bound)) in self.runs.iter().zip(&mut *bounds).enumerate() {
            *bound = at as u8;
            let end = text.len().min(at + run.max);
            let min_end = at + run.min;
            while at < end && self.is_in_run(text[at], 1 << index) {
                at += 1;
            }
            if at < min_end {
                return Err(self.next_start(start, index, bounds));
            }
        }
        let count = self.runs.len();
        bounds[count] = at as u8;
        if self.anchored_end && at < text.len() { Err(self.next_start(start, count, bounds)) } else { Ok(()) }
    }

    /// Returns the next position to try after the runs up to the one at `failed` were read from `start` on. If the first
    /// run is unbounded, it ends at the same position for each of its possible starts.
    fn next_start(&self, start: usize, failed: usize, bounds: &Bounds) -> usize {
        match self.runs.first() {
            Some(run) if failed > 0 && run.max == MAX_TEXT_LEN => usize::from(bounds[1]).max(start + 1),
            _ => start + 1,
        }
    }

    /// Returns the range of the overall match.
    #[inline]
    pub fn match_range(&self, bounds: &Bounds) -> Range<usize> {
        usize::from(bounds[0])..usize::from(bounds[self.runs.len()])
    }

    pub fn group_count(&self) -> usize {
        self.groups.len()
    }

    /// Returns the ranges of the groups, beginning with group 1.
    #[inline]
    pub fn groups(&self, bounds: &Bounds) -> impl Iterator<Item = Range<u8>> {
        self.groups.iter().map(|runs| bounds[runs.start]..bounds[runs.end])
    }
}
