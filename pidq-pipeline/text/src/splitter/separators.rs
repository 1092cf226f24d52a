//! Separators: splitting at a string, at a pattern, or between any two characters.

use std::ops::Range;

use memchr::memmem::Finder;

use super::SplitError;
use super::parameters::Parameters;
use super::python_regex::Pattern;

/// A separator.
#[derive(Debug)]
pub enum Separator {
    /// A string.
    Text(Finder<'static>),
    /// A pattern; `true` if it starts with a lookaround.
    Pattern(Pattern, bool),
    /// The empty separator: every character is a piece.
    EveryChar,
}

/// Treatment of separators in the pieces.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum KeepSeparator {
    /// A piece starts with its separator.
    Start,
    /// A piece ends with its separator.
    End,
    /// Separators are dropped.
    No,
}

impl KeepSeparator {
    /// Reads the parameter `keep_separator`.
    pub fn from_parameters(parameters: &Parameters) -> KeepSeparator {
        let value = parameters.value("keep_separator");
        match (value.as_bool(), value.as_str()) {
            (Some(true), _) | (_, Some("start")) => KeepSeparator::Start,
            (_, Some("end")) => KeepSeparator::End,
            _ => KeepSeparator::No,
        }
    }
}

impl Separator {
    /// Parses a separator.
    ///
    /// # Errors
    /// Fails if it must be a pattern and is not a valid one.
    pub fn new(parameter: &str, text: &str, is_pattern: bool) -> Result<Separator, SplitError> {
        let lookarounds = ["(?=", "(?!", "(?<=", "(?<!"];
        match text {
            "" => Ok(Separator::EveryChar),
            _ if is_pattern && needs_pattern(text) => Ok(Separator::Pattern(
                Pattern::new(parameter, text)?,
                lookarounds.iter().any(|prefix| text.starts_with(prefix)),
            )),
            _ => Ok(Separator::Text(Finder::new(text).into_owned())),
        }
    }

    /// Returns the positions of the separator in a text.
    ///
    /// # Errors
    /// Fails if a pattern exceeds its backtracking limit.
    pub fn find_all(&self, text: &str) -> Result<Vec<Range<usize>>, SplitError> {
        match self {
            Separator::Text(finder) if finder.needle().len() == 1 => {
                Ok(memchr::memchr_iter(finder.needle()[0], text.as_bytes()).map(|index| index..index + 1).collect())
            }
            Separator::Text(finder) => {
                let length = finder.needle().len();
                Ok(finder.find_iter(text.as_bytes()).map(|index| index..index + length).collect())
            }
            Separator::Pattern(pattern, _) => pattern.find_all(text),
            Separator::EveryChar => Ok(Vec::new()),
        }
    }
}

/// Returns whether a string differs from its meaning as a pattern. Most separators of programming languages do not.
fn needs_pattern(text: &str) -> bool {
    text.contains(['\\', '.', '^', '$', '*', '+', '?', '{', '}', '[', ']', '|', '(', ')'])
}

/// Returns the pieces of `range` between separators, without empty ones.
pub fn split_at(range: Range<usize>, matches: &[Range<usize>], keep: KeepSeparator) -> Vec<Range<usize>> {
    let mut pieces = Vec::with_capacity(matches.len() + 1);
    let mut start = 0;
    for separator in matches {
        let (end, next) = match keep {
            KeepSeparator::Start => (separator.start, separator.start),
            KeepSeparator::End => (separator.end, separator.end),
            KeepSeparator::No => (separator.start, separator.end),
        };
        pieces.push(start..end);
        start = next;
    }
    pieces.push(start..range.len());
    pieces.retain(|piece| !piece.is_empty());
    for piece in &mut pieces {
        *piece = piece.start + range.start..piece.end + range.start;
    }
    pieces
}

/// Returns every character as a piece.
pub fn characters(text: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let start = range.start;
    text[range].char_indices().map(|(index, c)| start + index..start + index + c.len_utf8()).collect()
}
