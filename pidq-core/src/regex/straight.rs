//! Patterns without choices, such as `^([A-Z]+)-([0-9]+)$`, on short ASCII texts: what nearly all tags and patterns are.
//!
//! A pattern is a row of runs here, each so many characters of one class. Where a run may be longer or shorter, what
//! comes next begins with other characters: the longest run is then the only one that can lead to a match, and there is
//! no state to keep. The linear engine gives the same matches, but what it does before the first byte costs more than
//! the search in a tag.

use std::ops::Range;

use super::FEW;
use super::tree::{Assert, Class, Node, Repeat};

/// Bytes of a text that is searched here.
pub(crate) const LONGEST: usize = 64;
/// Runs of a pattern.
const MOST_RUNS: usize = 16;

/// A pattern without choices.
#[derive(Debug, Default)]
pub(crate) struct Straight {
    runs: Vec<Run>,
    /// By byte: a bit for each run that it may be in, and `FIRST`.
    places: Vec<u32>,
    /// For each group, from 1, its runs.
    groups: Vec<Range<usize>>,
    /// It matches at the start of the text only.
    from_start: bool,
    /// It matches at the end of the text only.
    to_end: bool,
    /// A match may be empty: then it may begin anywhere.
    may_be_empty: bool,
}

/// So many characters of a class.
#[derive(Clone, Copy, Debug)]
struct Run {
    class: Ascii,
    min: usize,
    max: usize,
}

/// The bit of the bytes that a match may begin with.
const FIRST: u32 = 1 << MOST_RUNS;

/// The runs of a group that was not read yet.
const UNREAD: Range<usize> = usize::MAX..usize::MAX;

/// Where the runs of a match begin, and where the last one ends.
pub(crate) type Bounds = [u8; MOST_RUNS + 1];

/// No match yet.
pub(crate) const NO_BOUNDS: Bounds = [0; MOST_RUNS + 1];

/// A set of ASCII characters.
#[derive(Clone, Copy, Debug, Default)]
struct Ascii([u64; 2]);

impl Ascii {
    fn of(class: &Class) -> Option<Ascii> {
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

    fn meets(self, other: Ascii) -> bool {
        self.0[0] & other.0[0] | self.0[1] & other.0[1] != 0
    }

    fn add(&mut self, other: Ascii) {
        self.0[0] |= other.0[0];
        self.0[1] |= other.0[1];
    }
}

impl Straight {
    /// Nothing where the pattern has choices, or anything but groups, classes and repetitions of these.
    pub(super) fn new(node: &Node, group_count: usize) -> Option<Straight> {
        if group_count > FEW {
            return None;
        }
        let mut straight = Straight { groups: vec![UNREAD; group_count], ..Straight::default() };
        straight.read(node)?;
        // Of `(a){0}` nothing is left, but the group counts: it never matches.
        if straight.groups.contains(&UNREAD) {
            return None;
        }
        if straight.runs.len() > MOST_RUNS || !(0..straight.runs.len()).all(|at| straight.has_one_length(at)) {
            return None;
        }
        straight.look_up_places();
        Some(straight)
    }

    fn look_up_places(&mut self) {
        let (first, is_whole) = self.beginning(0);
        let bit = |is_set: bool, bit: u32| if is_set { bit } else { 0 };
        let runs =
            |byte: u8| (0..).zip(&self.runs).fold(0, |bits, (at, run)| bits | bit(run.class.contains(byte), 1 << at));
        let places = |byte: u8| if byte < 128 { runs(byte) | bit(first.contains(byte), FIRST) } else { 0 };
        self.places = (0..=u8::MAX).map(places).collect();
        self.may_be_empty = !is_whole;
    }

    /// Whether this can search in a text.
    #[inline]
    pub fn takes(text: &str) -> bool {
        text.len() <= LONGEST && text.is_ascii()
    }

    fn read(&mut self, node: &Node) -> Option<()> {
        match node {
            Node::Empty => Some(()),
            Node::Char(_) | Node::Class(_) => self.run(node, 1, 1),
            Node::Concat(parts) => parts.iter().try_for_each(|part| self.read(part)),
            Node::Group(number, body) => {
                let first = self.runs.len();
                self.read(body)?;
                *self.groups.get_mut(number.checked_sub(1)?)? = first..self.runs.len();
                Some(())
            }
            Node::Assert(Assert::TextStart) if self.runs.is_empty() => {
                self.from_start = true;
                Some(())
            }
            Node::Assert(Assert::TextEnd) => {
                self.to_end = true;
                Some(())
            }
            Node::Repeat(repeat) => self.repeat(repeat),
            Node::Assert(_) | Node::Alt(_) | Node::Look(_) | Node::Backref(_) => None,
        }
    }

    fn repeat(&mut self, repeat: &Repeat) -> Option<()> {
        let max = repeat.max.map_or(LONGEST, |max| max as usize);
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
            Node::Class(class) => Ascii::of(class)?,
            _ => return None,
        };
        if self.to_end {
            return None;
        }
        self.runs.push(Run { class, min, max });
        Some(())
    }

    /// The characters that the runs from one on may begin with, and whether they cannot all be empty.
    fn beginning(&self, from: usize) -> (Ascii, bool) {
        let mut first = Ascii::default();
        for run in &self.runs[from..] {
            first.add(run.class);
            if run.min > 0 {
                return (first, true);
            }
        }
        (first, false)
    }

    /// Whether a shorter run than the longest one leads nowhere.
    fn has_one_length(&self, at: usize) -> bool {
        let run = &self.runs[at];
        run.min == run.max || !run.class.meets(self.beginning(at + 1).0)
    }

    /// Whether there is a match at or after `start`: then `bounds` tells where.
    #[inline]
    pub fn find(&self, text: &[u8], start: usize, bounds: &mut Bounds) -> bool {
        if self.from_start {
            return start == 0 && self.matches(text, 0, bounds).is_ok();
        }
        let mut at = start;
        while at <= text.len() {
            if !self.may_be_empty {
                let Some(next) = text[at..].iter().position(|byte| self.fits(*byte, FIRST)) else { return false };
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
    fn fits(&self, byte: u8, bit: u32) -> bool {
        self.places.get(usize::from(byte)).is_some_and(|places| places & bit != 0)
    }

    /// Whether a match begins at a place; if not, where the next one may.
    ///
    /// Hot: a look at a table and a step for each byte.
    #[inline]
    fn matches(&self, text: &[u8], start: usize, bounds: &mut Bounds) -> Result<(), usize> {
        let mut at = start;
        let mut next = start + 1;
        for (place, run) in self.runs.iter().enumerate() {
            bounds[place] = at as u8;
            let end = text.len().min(at + run.max);
            let least = at + run.min;
            while at < end && self.fits(text[at], 1 << place) {
                at += 1;
            }
            if at < least {
                return Err(next);
            }
            // Where the first run may be as long as it likes, it ends here whichever of its characters it begins with.
            if place == 0 && run.max == LONGEST {
                next = next.max(at);
            }
        }
        bounds[self.runs.len()] = at as u8;
        if self.to_end && at < text.len() { Err(next) } else { Ok(()) }
    }

    /// The whole match.
    #[inline]
    pub fn whole(&self, bounds: &Bounds) -> Range<usize> {
        usize::from(bounds[0])..usize::from(bounds[self.runs.len()])
    }

    pub fn group_count(&self) -> usize {
        self.groups.len()
    }

    /// What the groups have matched, beginning with group 1.
    #[inline]
    pub fn groups(&self, bounds: &Bounds) -> impl Iterator<Item = Range<u8>> {
        self.groups.iter().map(|runs| bounds[runs.start]..bounds[runs.end])
    }
}
