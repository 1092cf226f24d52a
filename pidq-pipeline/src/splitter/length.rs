//! How long a text is, in the unit that a splitter counts in.

use std::ops::Range;
use std::sync::OnceLock;

use tiktoken_rs::{CoreBPE, Rank};

/// A unit of length.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Length {
    /// Unicode code points.
    Chars,
    /// Bytes of UTF-8.
    Utf8Bytes,
    /// Units of UTF-16.
    Utf16Units,
    /// What white space separates.
    Words,
    /// Tokens of a vocabulary.
    Tokens(Encoding),
}

/// A vocabulary of tokens, by the name that its makers gave it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Encoding {
    /// About 100,000 tokens.
    Cl100k,
    /// About 200,000 tokens.
    O200k,
}

/// The names of the units. `tokens` is `cl100k_base`.
pub const LENGTHS: &[&str] = &["chars", "utf8_bytes", "utf16_units", "words", "tokens", "cl100k_base", "o200k_base"];

/// The names of the vocabularies.
pub const ENCODINGS: &[&str] = &["cl100k_base", "o200k_base"];

impl Length {
    /// The unit of a name of [`LENGTHS`].
    pub fn of_name(name: &str) -> Length {
        match name {
            "utf8_bytes" => Length::Utf8Bytes,
            "utf16_units" => Length::Utf16Units,
            "words" => Length::Words,
            "tokens" | "cl100k_base" => Length::Tokens(Encoding::Cl100k),
            "o200k_base" => Length::Tokens(Encoding::O200k),
            _ => Length::Chars,
        }
    }

    /// The same unit, or one that gives the same numbers sooner for parts of this text.
    pub fn for_text(self, text: &str) -> Length {
        match self {
            Length::Chars | Length::Utf16Units if text.is_ascii() => Length::Utf8Bytes,
            other => other,
        }
    }

    /// How long a part of a text is.
    // Hot: runs once per word. Bytes need no look at the text.
    pub fn of_part(self, text: &str, part: &Range<usize>) -> usize {
        match self {
            Length::Utf8Bytes => part.len(),
            other => other.of(&text[part.clone()]),
        }
    }

    /// How long a text is.
    pub fn of(self, text: &str) -> usize {
        match self {
            Length::Chars => text.chars().count(),
            Length::Utf8Bytes => text.len(),
            Length::Utf16Units => text.encode_utf16().count(),
            Length::Words => words(text),
            Length::Tokens(encoding) => encoding.of_text(text).len(),
        }
    }
}

impl Encoding {
    /// The vocabulary of a name of [`ENCODINGS`].
    pub fn of_name(name: &str) -> Encoding {
        if name == "o200k_base" { Encoding::O200k } else { Encoding::Cl100k }
    }

    /// The tokens of a text.
    pub fn of_text(self, text: &str) -> Vec<Rank> {
        in_runs(text).flat_map(|run| self.tokens().encode_ordinary(run)).collect()
    }

    /// The vocabulary, which is unpacked at its first use.
    pub fn tokens(self) -> &'static CoreBPE {
        static CL100K: OnceLock<CoreBPE> = OnceLock::new();
        static O200K: OnceLock<CoreBPE> = OnceLock::new();
        match self {
            Encoding::Cl100k => CL100K.get_or_init(|| shipped(tiktoken_rs::cl100k_base())),
            Encoding::O200k => O200K.get_or_init(|| shipped(tiktoken_rs::o200k_base())),
        }
    }
}

/// White space in a row, in bytes, that the vocabularies' pattern is shown at once. It gives up at a million characters.
const BLANKS: usize = 500_000;

/// The text, cut only within white space that is too long.
fn in_runs(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (run, after) = rest.split_at(end_of_run(rest));
        rest = after;
        (!run.is_empty()).then_some(run)
    })
}

/// Where the first white space that is too long is cut, or the end.
fn end_of_run(text: &str) -> usize {
    let mut start = None;
    for (at, c) in text.char_indices().filter(|_| text.len() > BLANKS) {
        let from = *start.get_or_insert(at);
        match c.is_whitespace() {
            true if at - from >= BLANKS => return at,
            true => {}
            false => start = None,
        }
    }
    text.len()
}

/// The vocabularies are part of the program, so that one that cannot be read is a fault of the build.
#[expect(clippy::expect_used, reason = "data that is compiled in")]
fn shipped<E: std::fmt::Debug>(vocabulary: Result<CoreBPE, E>) -> CoreBPE {
    vocabulary.expect("a vocabulary that is compiled in")
}

/// White space as Python sees it: Unicode's, and the four separators of ASCII.
pub fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

fn words(text: &str) -> usize {
    text.split(is_space).filter(|word| !word.is_empty()).count()
}
