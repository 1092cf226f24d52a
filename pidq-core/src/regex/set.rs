//! Sets of code points: JavaScript's classes, and its case folding without the flag `u`.

use std::fmt::Write;
use std::sync::LazyLock;

/// Code points as ranges, both ends included. Invariant: sorted, disjoint, not touching.
#[derive(Clone, Debug, Default)]
pub(super) struct Set(Vec<(u32, u32)>);

const LAST: u32 = char::MAX as u32;

/// `\d`
pub(super) const DIGITS: &[(u32, u32)] = &[(0x30, 0x39)];
/// `\w`
pub(super) const WORD: &[(u32, u32)] = &[(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)];
/// Code points that `\w` also contains with the flags `i` and `u`: the long s and the Kelvin sign, which fold to `s`
/// and `k`.
pub(super) const WORD_FOLDED: &[(u32, u32)] = &[(0x17F, 0x17F), (0x212A, 0x212A)];
/// `\s`: white space and line terminators of ECMAScript.
pub(super) const SPACE: &[(u32, u32)] = &[
    (0x09, 0x0D),
    (0x20, 0x20),
    (0xA0, 0xA0),
    (0x1680, 0x1680),
    (0x2000, 0x200A),
    (0x2028, 0x2029),
    (0x202F, 0x202F),
    (0x205F, 0x205F),
    (0x3000, 0x3000),
    (0xFEFF, 0xFEFF),
];
/// Code points that `.` does not match.
pub(super) const LINE_ENDS: &[(u32, u32)] = &[(0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029)];

/// A class of the `regex` crate that matches nothing.
pub(super) const NOTHING: &str = "[a&&b]";

impl Set {
    pub fn new(ranges: &[(u32, u32)]) -> Set {
        let mut ranges = ranges.to_vec();
        ranges.sort_unstable();
        let mut set: Vec<(u32, u32)> = Vec::with_capacity(ranges.len());
        for (first, last) in ranges {
            match set.last_mut() {
                Some((_, end)) if first <= end.saturating_add(1) => *end = last.max(*end),
                _ => set.push((first, last)),
            }
        }
        Set(set)
    }

    pub fn ranges(&self) -> &[(u32, u32)] {
        &self.0
    }

    pub fn contains(&self, point: u32) -> bool {
        let after = self.0.partition_point(|&(first, _)| first <= point);
        after.checked_sub(1).and_then(|at| self.0.get(at)).is_some_and(|&(_, last)| point <= last)
    }

    pub fn negated(&self) -> Set {
        let mut set = Vec::with_capacity(self.0.len() + 1);
        let mut next = 0;
        for &(first, last) in &self.0 {
            if next < first {
                set.push((next, first - 1));
            }
            next = last + 1;
        }
        if next <= LAST {
            set.push((next, LAST));
        }
        Set(set)
    }

    /// Returns the set with every code point that JavaScript considers equal with the flag `i` without `u`.
    pub fn folded(&self) -> Set {
        let mut seeds: Vec<u32> = FOLDS.iter().filter(|(_, point)| self.contains(*point)).map(|(to, _)| *to).collect();
        seeds.sort_unstable();
        let same = FOLDS.iter().filter(|(to, _)| seeds.binary_search(to).is_ok());
        let mut ranges = self.0.clone();
        ranges.extend(same.map(|&(_, point)| (point, point)));
        Set::new(&ranges)
    }

    /// Returns the set as a class of the `regex` crate.
    pub fn to_class(&self) -> String {
        let items = class_items(&self.0);
        if items.is_empty() { String::from(NOTHING) } else { format!("[{items}]") }
    }
}

/// Returns the ranges in the syntax of a class. Surrogates cannot occur in UTF-8 and are left out.
pub(super) fn class_items(ranges: &[(u32, u32)]) -> String {
    let mut text = String::new();
    for &(first, last) in ranges {
        for (first, last) in [(first, last.min(0xD7FF)), (first.max(0xE000), last)] {
            if first <= last {
                // Writing to a `String` cannot fail.
                let _ = write!(text, r"\x{{{first:x}}}-\x{{{last:x}}}");
            }
        }
    }
    text
}

/// Returns the character that JavaScript compares with the flag `i` without `u`: the upper case, if that is one UTF-16
/// unit and does not map a character outside ASCII into ASCII.
pub(super) fn upper(c: char) -> char {
    let mut mapped = c.to_uppercase();
    match (mapped.next(), mapped.next()) {
        (Some(up), None) if is_unit(c) && is_unit(up) && (c.is_ascii() || !up.is_ascii()) => up,
        _ => c,
    }
}

/// Returns approximately the character that JavaScript compares with the flags `i` and `u`: simple case folding.
pub(super) fn fold(c: char) -> char {
    let single = |mut mapped: std::char::ToLowercase, c| match (mapped.next(), mapped.next()) {
        (Some(one), None) => one,
        _ => c,
    };
    let mut mapped = c.to_uppercase();
    let up = match (mapped.next(), mapped.next()) {
        (Some(one), None) => one,
        _ => c,
    };
    single(up.to_lowercase(), up)
}

fn is_unit(c: char) -> bool {
    u32::from(c) <= 0xFFFF
}

/// `(upper(c), c)` for every character that shares its upper case with another.
static FOLDS: LazyLock<Vec<(u32, u32)>> = LazyLock::new(|| {
    let moved = (0..=0xFFFF).filter_map(char::from_u32).filter(|c| upper(*c) != *c);
    let mut folds: Vec<(u32, u32)> = moved.map(|c| (u32::from(upper(c)), u32::from(c))).collect();
    folds.extend(folds.clone().iter().map(|&(to, _)| (to, to)));
    folds.sort_unstable();
    folds.dedup();
    folds
});
