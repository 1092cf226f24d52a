//! Default names and words of drawings.
//!
//! Plain lists, for programs that read the same drawings. [`TopologyConfig`](crate::TopologyConfig) starts with these
//! and applies the changes of a drawing and of a query.

mod equipment;
mod inactive_parts;
mod instruments;
mod limiting_words;
mod motions;
mod notation;
mod openings;
mod relief;
mod state_phrases;
mod states;
mod texts;
mod valves;

pub use self::equipment::*;
pub use self::inactive_parts::*;
pub use self::instruments::*;
pub use self::limiting_words::*;
pub use self::motions::*;
pub use self::notation::*;
pub use self::openings::*;
pub use self::relief::*;
pub use self::state_phrases::*;
pub use self::states::*;
pub use self::texts::*;
pub use self::valves::*;

/// Returns whether a list contains a word. Both are compared in snake_case, so `hasNozzle` equals `has_nozzle`.
pub fn contains(words: &[&str], word: &str) -> bool {
    words.contains(&word) || words.contains(&super::snake_case::snake_case(word).as_str())
}

/// Like [`contains`], without a conversion of words that have other letters. The words of the list are ASCII.
pub(crate) fn contains_plain(words: &[&str], word: &str) -> bool {
    (!word.is_ascii() || words.iter().any(|known| letters(known).eq(letters(word)))) && contains(words, word)
}

/// Returns the words of a text, which end at what is no letter and no digit. Some may be empty.
pub(crate) fn words_in(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric())
}

/// Returns whether a text in lower case or snake_case has a word of a list.
pub(crate) fn text_has_any(text: &str, known: &[&str]) -> bool {
    words_in(text).any(|word| known.contains(&word))
}

/// Returns whether one of some words in lower case, such as those of a clause, is in a list.
pub(crate) fn has_any<W: AsRef<str>>(words: &[W], known: &[&str]) -> bool {
    words.iter().any(|word| known.contains(&word.as_ref()))
}

/// Returns the letters and digits of a name in ASCII, in lower case: what snake_case leaves of them.
pub(crate) fn letters(text: &str) -> impl Iterator<Item = u8> + '_ {
    text.bytes().filter(u8::is_ascii_alphanumeric).map(|byte| byte.to_ascii_lowercase())
}
