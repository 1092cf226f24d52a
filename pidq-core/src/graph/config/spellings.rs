//! Spellings of the words of positions and locks: `N.C.`, `N/C`, `(LO)`, `L O`, `CarSealOpen`.

use super::{MAX_CLASS, NAMES, Names, TopologyConfig};
use crate::graph::snake_case::snake_case;
use crate::graph::vocabulary;

/// Longest code of which the letters may be written apart.
const MAX_CODE: usize = 3;

impl TopologyConfig {
    /// Returns whether a list, by its key in JSON, has a word of a position or a lock in any of its spellings.
    pub fn has_spelling(&self, key: &str, text: &str) -> bool {
        let row = NAMES.iter().find(|(_, known, _)| *known == key);
        row.is_some_and(|(list, _, _)| self.is_spelling(*list, text))
    }

    /// Returns the mark of the lock in a text: `LO`, `LC`, `CSO` or `CSC`; `None` if it names no locked position.
    pub fn lock_mark(&self, text: &str) -> Option<&'static str> {
        let is_sealed = || vocabulary::CAR_SEALS.iter().any(|known| spellings(text).any(|word| word == **known));
        match () {
            () if self.is_spelling(Names::LockedOpen, text) => Some(if is_sealed() { "CSO" } else { "LO" }),
            () if self.is_spelling(Names::LockedClosed, text) => Some(if is_sealed() { "CSC" } else { "LC" }),
            () => None,
        }
    }

    /// Returns whether a list has a word, which may be abbreviated with dots, slashes or in brackets.
    pub(crate) fn is_spelling(&self, list: Names, text: &str) -> bool {
        if self.contains(list, text.trim()) {
            return true;
        }
        if text.len() > MAX_CLASS {
            return false;
        }
        let is_word = |text: &str| spellings(text).any(|word| self.contains(list, &word));
        // `locked open (LO)`, `NC (note 3)`
        let parts = text.trim().strip_suffix(')').and_then(|text| text.split_once('('));
        let is_with_bracket = |(word, inside): (&str, &str)| {
            let is_note = || snake_case(inside.trim()).trim_start_matches("see_").starts_with("note");
            !word.trim().is_empty() && is_word(word) && (is_note() || is_word(inside))
        };
        is_word(text) || parts.is_some_and(is_with_bracket)
    }
}

/// Returns the usual spellings of a position or a lock in snake_case: as written, without marks, without the blanks between
/// the letters of a code, and as a participle.
fn spellings(text: &str) -> impl Iterator<Item = String> {
    let is_mark = |c: char| matches!(c, '.' | '/' | '(' | ')' | '[' | ']');
    let is_separator = move |c: char| is_mark(c) || matches!(c, ' ' | '-' | '_');
    let word = snake_case(text.trim());
    let plain = text.contains(is_mark).then(|| snake_case(text.replace(is_mark, "").trim()));
    let is_code = text.chars().filter(|c| !is_separator(*c)).count() <= MAX_CODE;
    let code = is_code.then(|| text.replace(is_separator, "").to_lowercase());
    let participle = participle(&word);
    [Some(word), plain, code, participle].into_iter().flatten()
}

/// Returns a position of DEXPI 2.0 in the usual spelling: `NormallyClose` is `normally_closed`, `CarSealOpen` is
/// `car_sealed_open`.
fn participle(word: &str) -> Option<String> {
    let changed = word.replace("car_seal_", "car_sealed_");
    let changed = if changed.ends_with("close") { changed + "d" } else { changed };
    (changed != word).then_some(changed)
}
