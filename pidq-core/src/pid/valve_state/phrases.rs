//! Phrases in the texts of an item: what they say against its being there, and against its being a valve that closes.
//!
//! A text is split into clauses at its punctuation, and a clause into words: spelling, brackets, sizes and order do not
//! matter. A phrase is found wherever its words stand together; a longer one covers those in it.

mod index;
mod table;

use std::sync::LazyLock;

use self::index::is_same;
pub(super) use self::index::{Phrase, PhraseIndex, is_denied};
use self::table::Meaning::{
    Absent, ClosesByDrive, MayBeAbsent, MayNotClose, MovedByDrive, NoValve, OpensByDrive, OtherValve,
};
use self::table::{
    COMPANIONS, HEAD_NOUNS, Meaning, PHRASES, PLACES, PREPOSITIONS, SIZE_WORDS, VALVE_NOUNS, WHOLE_CLAUSES,
};
use super::Installation;
use crate::graph::roles;
use crate::graph::vocabulary::{self, has_any};

/// Limit of a text in bytes; what follows is not read.
const MAX_TEXT: usize = 4096;

/// Kind of a text, which decides when it is about the item.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum TextKind {
    /// Its class, its name or its description.
    Description,
    /// A remark: a sentence may be about anything, and only a clause that names nothing else names the item.
    Remark,
}

/// Action of the drive of a valve in an emergency.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum DriveAction {
    Closes,
    Opens,
}

/// Returns whether an item is there by a text. One that is nothing but a status, such as `future`, is one; a text with
/// such a word among others may be about the item, or about something else.
pub(crate) fn installation_by_text(text: &str) -> Installation {
    if !may_say_absent(text) {
        return Installation::Installed;
    }
    let clauses = clauses(text);
    let found = || clauses.iter().flat_map(|clause| phrases(clause));
    if meaning_of_text(&clauses) == Some(Absent) {
        return Installation::NotInstalled;
    }
    match found().any(|phrase| matches!(phrase.meaning, Absent | MayBeAbsent)) {
        true => Installation::Unknown,
        false => Installation::Installed,
    }
}

/// Returns whether a clause has a phrase that an item is not there or may not be, other than some words.
pub(super) fn says_absent(clause: &[String], is_known: impl Fn(&String) -> bool) -> bool {
    let is_other = |phrase: &Phrase<Meaning>| !clause[phrase.at..phrase.at + phrase.words].iter().any(&is_known);
    let phrases = phrases(clause);
    phrases.iter().any(|phrase| matches!(phrase.meaning, Absent | MayBeAbsent) && is_other(phrase))
}

/// Returns whether an item is there by a text that may be about something else, such as a fluid: it counts if it is nothing but
/// a status.
pub(super) fn installation_by_only_status(text: &str) -> Installation {
    if !may_say_absent(text) {
        return Installation::Installed;
    }
    match meaning_of_text(&clauses(text)) {
        Some(Absent) => Installation::NotInstalled,
        Some(MayBeAbsent) => Installation::Unknown,
        _ => Installation::Installed,
    }
}

/// Returns the meaning of a text that is nothing but one phrase.
fn meaning_of_text(clauses: &[Vec<String>]) -> Option<Meaning> {
    let [clause] = clauses else { return None };
    match phrases(clause).as_slice() {
        [only] if only.words == clause.len() => Some(only.meaning),
        _ => None,
    }
}

/// Returns false only if a text does not say that an item is not there: most have no word for it.
pub(super) fn may_say_absent(text: &str) -> bool {
    has_first_letters(&ABSENCE_LETTERS, text)
}

/// Returns whether a text says that an item may not close tightly.
pub(crate) fn says_not_tight(text: &str) -> bool {
    has_meaning(text, &[MayNotClose, MovedByDrive, ClosesByDrive, OpensByDrive])
}

/// Returns whether a text says that a valve with a drive may not close, or not open: not that its drive does that.
pub(crate) fn says_not_acting(text: &str, expected: DriveAction) -> bool {
    match expected {
        DriveAction::Closes => has_meaning(text, &[MayNotClose, OpensByDrive]),
        DriveAction::Opens => has_meaning(text, &[MayNotClose, ClosesByDrive]),
    }
}

fn has_meaning(text: &str, meanings: &[Meaning]) -> bool {
    let clauses = clauses(text);
    clauses.iter().flat_map(|clause| phrases(clause)).any(|phrase| meanings.contains(&phrase.meaning))
}

/// Returns whether a text calls an item something that is no valve that closes its pipe.
pub(crate) fn names_other_item(text: &str, kind: TextKind) -> bool {
    clauses(text).iter().any(|clause| phrases(clause).iter().any(|phrase| is_named(clause, phrase, kind)))
}

/// Returns whether a word of a text that no phrase covers matches a condition on the word and on whether a number is beside
/// it. Numbers and single letters are no words.
pub(super) fn has_word_outside(text: &str, matches: impl Fn(&str, bool) -> bool) -> bool {
    let is_number = |word: Option<&String>| word.is_some_and(|word| word.chars().all(char::is_numeric));
    clauses(text).iter().any(|clause| {
        let covered = phrases(clause);
        let is_covered = |at: usize| covered.iter().any(|phrase| (phrase.at..phrase.at + phrase.words).contains(&at));
        let is_beside_number =
            |at: usize| is_number(clause.get(at + 1)) || at.checked_sub(1).is_some_and(|at| is_number(clause.get(at)));
        clause.iter().enumerate().any(|(at, word)| {
            let is_word = !is_number(Some(word)) && word.chars().nth(1).is_some();
            is_word && !is_covered(at) && matches(word, is_beside_number(at))
        })
    })
}

/// Returns the clauses of a text that may name the item, in snake_case: without sizes, without what follows the word
/// `valve`, and not those with a purpose, such as `bypass of control valve`.
pub(crate) fn names_in(text: &str) -> impl Iterator<Item = String> {
    const MAX_WORDS: usize = 4;
    clauses(text).into_iter().filter_map(|mut clause| {
        let mut end = clause.len();
        // A tag or a size may follow the name.
        let is_tag = |at: usize| clause[at].len() <= 3 && clause[..at].iter().any(|word| word == "valve");
        while end > 0 && (is_size(&clause[end - 1]) || is_tag(end - 1)) {
            end -= 1;
        }
        clause.truncate(end);
        let is_purpose =
            |word: &String| [vocabulary::PURPOSE_WORDS, HEAD_NOUNS].iter().any(|words| words.contains(&word.as_str()));
        (clause.len() <= MAX_WORDS && !clause.iter().any(is_purpose)).then(|| clause.join("_"))
    })
}

/// Returns whether a phrase names the item whose text a clause is from.
fn is_named(clause: &[String], phrase: &Phrase<Meaning>, kind: TextKind) -> bool {
    let (before, rest) = clause.split_at(phrase.at);
    let (words, after) = rest.split_at(phrase.words);
    let is_noun = phrase.meaning == NoValve || has_any(words, VALVE_NOUNS);
    let is_neighbor = matches!(after, [place] if PLACES.contains(&place.as_str()));
    let is_companion = phrase.meaning == NoValve && has_any(before, COMPANIONS);
    let is_other_item = has_any(before, PREPOSITIONS) || is_noun && is_neighbor || is_companion;
    // A preposition behind the phrase ends what it names.
    let end = after.iter().position(|word| PREPOSITIONS.contains(&word.as_str()));
    let after = &after[..end.unwrap_or(after.len())];
    let valves = words.iter().chain(after).filter(|word| VALVE_NOUNS.contains(&word.as_str())).count();
    let is_item = match phrase.meaning {
        OtherValve => !has_any(after, HEAD_NOUNS) && valves <= 1,
        NoValve => after.iter().all(|word| is_size(word)),
        _ => false,
    };
    let names_nothing_else = || before.iter().chain(after).all(|word| is_size(word) || roles::is_hand_valve_word(word));
    is_item && !is_other_item && (kind == TextKind::Description || end.is_none() && names_nothing_else())
}

/// Returns whether a word is a number, a letter or a word of a size.
fn is_size(word: &str) -> bool {
    word.chars().all(char::is_numeric) || word.chars().nth(1).is_none() || SIZE_WORDS.contains(&word)
}

/// Phrases of the table.
static INDEX: LazyLock<PhraseIndex<Meaning>> = LazyLock::new(|| PhraseIndex::new(all_phrases()));

fn all_phrases() -> impl Iterator<Item = (&'static str, Meaning)> {
    let rows = PHRASES.iter().flat_map(|(meaning, phrases)| phrases.iter().map(|phrase| (*phrase, *meaning)));
    rows.chain(vocabulary::NOT_INSTALLED.iter().map(|word| (*word, Absent)))
}

/// Returns the phrases in a clause, the longest at each word.
fn phrases(clause: &[String]) -> Vec<Phrase<Meaning>> {
    match meaning_of_clause(clause) {
        Some(meaning) => vec![Phrase { meaning, at: 0, words: clause.len() }],
        None => INDEX.longest_in(clause),
    }
}

/// Returns the meaning of a clause that is a statement as a whole.
fn meaning_of_clause(clause: &[String]) -> Option<Meaning> {
    let is_clause = |words: &str| {
        let mut words = words.split(' ');
        clause.iter().all(|word| words.next().is_some_and(|known| is_same(known, word))) && words.next().is_none()
    };
    WHOLE_CLAUSES.iter().find(|(_, known)| known.iter().any(|words| is_clause(words))).map(|(meaning, _)| *meaning)
}

/// Returns the clauses of a text as words in lower case. Letters and digits are words of their own: `3way`, `DN50`.
pub(crate) fn clauses(text: &str) -> Vec<Vec<String>> {
    let mut clauses: Vec<Vec<String>> = vec![Vec::new()];
    let mut before = ' ';
    let end = (0..=text.len().min(MAX_TEXT)).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    let mut chars = text[..end].chars().peekable();
    while let Some(c) = chars.next() {
        let begins_word = !before.is_alphanumeric()
            || before.is_numeric() != c.is_numeric()
            || before.is_lowercase() && c.is_uppercase();
        let ends_clause = match c {
            ',' | ';' | ':' | '(' | ')' | '[' | ']' | '{' | '}' | '\n' | '!' | '?' => true,
            // A number follows an abbreviation: `ph. 2`.
            '.' => match (chars.next_if(|next| next.is_whitespace()), chars.peek()) {
                (Some(_), Some(next)) => !next.is_numeric(),
                (_, next) => next.is_none(),
            },
            '-' | '–' | '—' => before.is_whitespace() && chars.peek().is_none_or(|next| next.is_whitespace()),
            _ => false,
        };
        let clause = clauses.last_mut().filter(|_| c.is_alphanumeric());
        if let Some(clause) = clause {
            if begins_word || clause.is_empty() {
                clause.push(String::new());
            }
            if let Some(word) = clause.last_mut() {
                word.extend(c.to_lowercase());
            }
        }
        if ends_clause && clauses.last().is_some_and(|clause| !clause.is_empty()) {
            clauses.push(Vec::new());
        }
        before = c;
    }
    clauses.retain(|clause| !clause.is_empty());
    clauses
}

/// Set of the first letters of words, by [`first_letters`].
type FirstLetters = [bool; SLOTS];

/// A prime number: few letters share a slot.
const SLOTS: usize = 32_749;

/// First letters of the phrases that say that an item is not there. Most texts have no such word, and are excluded
/// without a conversion.
static ABSENCE_LETTERS: LazyLock<Box<FirstLetters>> = LazyLock::new(|| {
    let mut letters = Box::new([false; SLOTS]);
    let clauses = WHOLE_CLAUSES.iter().flat_map(|(meaning, clauses)| clauses.iter().map(|clause| (*clause, *meaning)));
    for (phrase, _) in all_phrases().chain(clauses).filter(|(_, meaning)| matches!(meaning, Absent | MayBeAbsent)) {
        letters[first_letters(phrase.as_bytes())] = true;
    }
    letters
});

/// Returns an index for the first four letters of a word.
fn first_letters(text: &[u8]) -> usize {
    let mut index = 0;
    for at in 0..4 {
        let ends = at > 0 && text[..at.min(text.len())].last().is_some_and(u8::is_ascii_lowercase);
        let letter = match text.get(at) {
            Some(letter) if letter.is_ascii_alphabetic() && !(ends && letter.is_ascii_uppercase()) => *letter,
            _ => break,
        };
        index |= usize::from(letter.to_ascii_lowercase() - b'a' + 1) << (5 * (3 - at));
    }
    index % SLOTS
}

/// Returns false only if no word of a text begins with letters of a set. Letters with accents are not judged.
fn has_first_letters(known: &FirstLetters, text: &str) -> bool {
    let bytes = text.as_bytes();
    let begins_word = |at: usize| {
        let before = at.checked_sub(1).map(|before| bytes[before]);
        before.is_none_or(|before| {
            !before.is_ascii_alphabetic() || before.is_ascii_lowercase() && bytes[at].is_ascii_uppercase()
        })
    };
    (0..bytes.len().min(MAX_TEXT)).any(|at| {
        !bytes[at].is_ascii()
            || bytes[at].is_ascii_alphabetic() && begins_word(at) && known[first_letters(&bytes[at..])]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phrase_has_one_row_and_is_written_as_it_is_read() {
        let phrases: Vec<&str> = all_phrases().map(|(phrase, _)| phrase).collect();
        for (at, phrase) in phrases.iter().enumerate() {
            assert!(!phrases[..at].contains(phrase), "{phrase} has two rows");
            let written = phrase.replace('#', "7").replace('*', "x").replace(" $", "");
            assert_eq!(clauses(&written).concat().join(" "), written);
        }
    }

    #[test]
    fn texts_that_name_another_item_differ_from_those_about_the_item() {
        let check = |expected: bool, texts: &[&str]| {
            for text in texts {
                assert_eq!(names_other_item(text, TextKind::Description), expected, "{text}");
            }
        };
        check(
            true,
            &[
                "3-way ball valve, L-port",
                "ball valve (3-way)",
                "BALL VALVE 3-WAY L-PORT",
                "3WAY valve",
                "ball valve, T-port",
                "manual 3-way valve for sampling",
                "swing check valve, DN50",
                "DN 50 check valve",
                "Non-Return",
                "steam trap",
                "2\" steam trap DN25",
                "restriction orifice [RO-1]",
                "Pipe spool",
                "removed spool",
                "spectacle blind, open",
                "safety relief",
                "check valve DN 50",
                "3-way valve downstream",
                "ball valve with L-port",
                "Check valve. 2 off",
                "gate valve / relief valve",
                "Dreiwege-Kugelhahn",
                "CheckValve",
            ],
        );
        check(
            false,
            &[
                "two-way ball valve",
                "ball valve, full bore",
                "isolation of check valve",
                "check valve bypass",
                "relief valve inlet valve",
                "PSV-101 inlet block valve",
                "steam trap inlet valve",
                "drain for 3-way valve",
                "removable spool downstream",
                "temporary strainer downstream, remove after commissioning",
                "check valve upstream",
                "gate valve with strainer",
                "thermal relief bypass",
                "check weekly",
                "bellows sealed globe valve",
                "orifice flange drain",
                "Spool drain valve",
            ],
        );
    }

    #[test]
    fn a_remark_names_the_item_only_if_it_names_nothing_else() {
        for (text, expected) in [
            ("3-way valve", true),
            ("L-port, DN 50", true),
            ("this is a swing check valve", true),
            ("check valve position weekly", false),
            ("see 3-way valve TV-3", false),
            ("steam trap to be cleaned", false),
        ] {
            assert_eq!(names_other_item(text, TextKind::Remark), expected, "{text}");
        }
    }

    #[test]
    fn words_for_what_is_not_there_are_read_in_any_spelling() {
        let cases: &[(Installation, &[&str])] = &[
            (
                Installation::NotInstalled,
                &["removed", "(REMOVED)", "Not installed.", "not inst.", "[future]", "Void!", "ausgebaut"],
            ),
            (
                Installation::Unknown,
                &[
                    "internals removed",
                    "valve removed",
                    "gate valve (removed)",
                    "to be removed in phase 2",
                    "replaced by spool",
                    "by others in phase 2",
                    "Phase II",
                    "not installed, see MOC 7",
                    "BONNET REMOVED",
                    "spool removed, see downstream",
                    "note 3: removed in revision 2",
                    "valve deleted, old tag HV-2",
                    "for future use",
                    "future tie-in",
                    "isolation valve for future tie-in, not installed",
                    "to be installed",
                    "to be installed by contractor in phase 2",
                    "to be installed by others",
                    "to be installed at next turnaround",
                    "by ph. 2",
                    "not in use",
                    "out of service",
                    "Ventil demontiert",
                    "vanne déposée",
                ],
            ),
            (
                Installation::Installed,
                &[
                    "",
                    "gate valve",
                    "gasket replaced with PTFE",
                    "replaced by new valve in 2019",
                    "must not be removed",
                    "HANDWHEEL REMOVED",
                    "key removed in closed position",
                    "old tag HV-2 deleted",
                    "isolation valve for future tie-in",
                    "valve to be installed by piping contractor",
                    "to be installed close to nozzle",
                    "must not be blinded",
                    "pH 2",
                    "insulation removed",
                    "two-phase flow",
                    "unplanned",
                    "for planned shutdown only",
                    "avoid",
                    "removable handle",
                ],
            ),
        ];
        for (expected, texts) in cases {
            for text in *texts {
                assert_eq!(installation_by_text(text), *expected, "{text}");
            }
        }
        // What follows in a long text is read too.
        assert_eq!(installation_by_text(&("see note 4 ".repeat(40) + "removed")), Installation::Unknown);
    }

    #[test]
    fn defects_differ_from_tests_and_bores() {
        for text in ["disc drilled", "trim/disc drilled", "valve body only", "PASSING", "does not hold", "seized open"]
        {
            assert!(says_not_tight(text), "{text}");
        }
        for text in ["flange drilled to PN16", "leak test", "not leaking", "bypassing", "tight shut-off", "plug valve"]
        {
            assert!(!says_not_tight(text), "{text}");
        }
    }
}
