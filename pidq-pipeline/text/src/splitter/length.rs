//! Length units of splitters.

use std::ops::Range;
use std::sync::OnceLock;

use tiktoken_rs::{CoreBPE, Rank};

/// A length unit.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LengthUnit {
    /// Unicode code points.
    Chars,
    /// Bytes of UTF-8.
    Utf8Bytes,
    /// UTF-16 code units.
    Utf16Units,
    /// Words separated by white space.
    Words,
    /// Tokens of an encoding.
    Tokens(Encoding),
}

/// A tiktoken encoding.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Encoding {
    /// `cl100k_base`, with about 100,000 tokens.
    Cl100k,
    /// `o200k_base`, with about 200,000 tokens.
    O200k,
}

/// Names of the units. `tokens` means `cl100k_base`.
pub const LENGTH_UNITS: &[&str] =
    &["chars", "utf8_bytes", "utf16_units", "words", "tokens", "cl100k_base", "o200k_base"];

/// Names of the encodings.
pub const ENCODINGS: &[&str] = &["cl100k_base", "o200k_base"];

impl LengthUnit {
    /// Returns the unit with a name of [`LENGTH_UNITS`].
    pub fn from_name(name: &str) -> LengthUnit {
        match name {
            "utf8_bytes" => LengthUnit::Utf8Bytes,
            "utf16_units" => LengthUnit::Utf16Units,
            "words" => LengthUnit::Words,
            "tokens" | "cl100k_base" => LengthUnit::Tokens(Encoding::Cl100k),
            "o200k_base" => LengthUnit::Tokens(Encoding::O200k),
            _ => LengthUnit::Chars,
        }
    }

    /// Returns the unit, or a faster one with the same lengths for parts of this text.
    pub fn for_text(self, text: &str) -> LengthUnit {
        match self {
            LengthUnit::Chars | LengthUnit::Utf16Units if text.is_ascii() => LengthUnit::Utf8Bytes,
            other => other,
        }
    }

    /// Returns the length of a part of a text.
    // Hot: runs once per word. Byte lengths do not need the text.
    pub fn measure_part(self, text: &str, part: &Range<usize>) -> usize {
        match self {
            LengthUnit::Utf8Bytes => part.len(),
            other => other.measure(&text[part.clone()]),
        }
    }

    /// Returns the length of a text.
    pub fn measure(self, text: &str) -> usize {
        match self {
            LengthUnit::Chars => text.chars().count(),
            LengthUnit::Utf8Bytes => text.len(),
            LengthUnit::Utf16Units => text.encode_utf16().count(),
            LengthUnit::Words => words(text),
            LengthUnit::Tokens(encoding) => encoding.encode(text).len(),
        }
    }
}

impl Encoding {
    /// Returns the encoding with a name of [`ENCODINGS`].
    pub fn from_name(name: &str) -> Encoding {
        if name == "o200k_base" { Encoding::O200k } else { Encoding::Cl100k }
    }

    /// Returns the tokens of a text.
    pub fn encode(self, text: &str) -> Vec<Rank> {
        split_long_whitespace(text).flat_map(|run| self.vocabulary().encode_ordinary(run)).collect()
    }

    /// Returns the vocabulary, which is loaded on first use.
    pub fn vocabulary(self) -> &'static CoreBPE {
        static CL100K: OnceLock<CoreBPE> = OnceLock::new();
        static O200K: OnceLock<CoreBPE> = OnceLock::new();
        match self {
            Encoding::Cl100k => CL100K.get_or_init(|| expect_builtin(tiktoken_rs::cl100k_base())),
            Encoding::O200k => O200K.get_or_init(|| expect_builtin(tiktoken_rs::o200k_base())),
        }
    }
}

/// Maximum size of a white-space run passed to the vocabulary's pattern, in bytes. The pattern fails at a million
/// characters.
const MAX_WHITESPACE_SIZE: usize = 500_000;

/// Splits a text only inside white-space runs that are too long.
fn split_long_whitespace(text: &str) -> impl Iterator<Item = &str> {
    let mut remaining = text;
    std::iter::from_fn(move || {
        let (run, after) = remaining.split_at(end_of_run(remaining));
        remaining = after;
        (!run.is_empty()).then_some(run)
    })
}

/// Returns the position at which the first overlong white-space run is split, or the end of the text.
fn end_of_run(text: &str) -> usize {
    let mut run_start = None;
    for (index, c) in text.char_indices().filter(|_| text.len() > MAX_WHITESPACE_SIZE) {
        let start = *run_start.get_or_insert(index);
        match c.is_whitespace() {
            true if index - start >= MAX_WHITESPACE_SIZE => return index,
            true => {}
            false => run_start = None,
        }
    }
    text.len()
}

/// Unwraps a vocabulary. The data is compiled in, so a failure is a build error.
#[expect(clippy::expect_used, reason = "the data is compiled in")]
fn expect_builtin<E: std::fmt::Debug>(vocabulary: Result<CoreBPE, E>) -> CoreBPE {
    vocabulary.expect("the compiled-in vocabulary is valid")
}

/// Returns whether Python considers a character white space: Unicode white space and the four ASCII separators.
pub fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

fn words(text: &str) -> usize {
    text.split(is_space).filter(|word| !word.is_empty()).count()
}
