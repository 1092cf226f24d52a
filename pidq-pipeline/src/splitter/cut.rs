//! Where a text can be cut: at a text, at a pattern, or between any two characters.

use std::ops::Range;

use memchr::memmem::Finder;

use super::Refusal;
use super::parameters::Parameters;
use super::pattern::Pattern;

/// What separates.
#[derive(Debug)]
pub enum Separator {
    /// A text.
    Text(Finder<'static>),
    /// A pattern, and whether it only looks around and takes nothing.
    Pattern(Pattern, bool),
    /// Nothing: every character stands alone.
    Nothing,
}

/// What becomes of separators.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Keep {
    /// A piece begins with its separator.
    Start,
    /// A piece ends with its separator.
    End,
    /// They are dropped.
    No,
}

impl Keep {
    /// Reads `keep_separator`.
    pub fn of(parameters: &Parameters) -> Keep {
        let value = parameters.value("keep_separator");
        match (value.as_bool(), value.as_str()) {
            (Some(true), _) | (_, Some("start")) => Keep::Start,
            (_, Some("end")) => Keep::End,
            _ => Keep::No,
        }
    }
}

impl Separator {
    /// A separator as it was written.
    ///
    /// # Errors
    /// If it should be a pattern and is none.
    pub fn new(parameter: &str, text: &str, is_pattern: bool) -> Result<Separator, Refusal> {
        let looks = ["(?=", "(?!", "(?<=", "(?<!"];
        match text {
            "" => Ok(Separator::Nothing),
            _ if is_pattern && needs_pattern(text) => {
                Ok(Separator::Pattern(Pattern::new(parameter, text)?, looks.iter().any(|look| text.starts_with(look))))
            }
            _ => Ok(Separator::Text(Finder::new(text).into_owned())),
        }
    }

    /// The places of the separator in a text; none if it does not occur.
    ///
    /// # Errors
    /// If a pattern costs too much.
    pub fn places(&self, text: &str) -> Result<Vec<Range<usize>>, Refusal> {
        match self {
            Separator::Text(finder) if finder.needle().len() == 1 => {
                Ok(memchr::memchr_iter(finder.needle()[0], text.as_bytes()).map(|at| at..at + 1).collect())
            }
            Separator::Text(finder) => {
                let length = finder.needle().len();
                Ok(finder.find_iter(text.as_bytes()).map(|at| at..at + length).collect())
            }
            Separator::Pattern(pattern, _) => pattern.find_all(text),
            Separator::Nothing => Ok(Vec::new()),
        }
    }
}

/// Whether a text means anything else as a pattern. Most separators of programming languages do not.
fn needs_pattern(text: &str) -> bool {
    text.contains(['\\', '.', '^', '$', '*', '+', '?', '{', '}', '[', ']', '|', '(', ')'])
}

/// The pieces of `whole` between the places, without the empty ones.
pub fn pieces(whole: Range<usize>, places: &[Range<usize>], keep: Keep) -> Vec<Range<usize>> {
    let mut pieces = Vec::with_capacity(places.len() + 1);
    let mut from = 0;
    for place in places {
        let (end, next) = match keep {
            Keep::Start => (place.start, place.start),
            Keep::End => (place.end, place.end),
            Keep::No => (place.start, place.end),
        };
        pieces.push(from..end);
        from = next;
    }
    pieces.push(from..whole.len());
    pieces.retain(|piece| !piece.is_empty());
    for piece in &mut pieces {
        *piece = piece.start + whole.start..piece.end + whole.start;
    }
    pieces
}

/// Every character as a piece.
pub fn characters(text: &str, whole: Range<usize>) -> Vec<Range<usize>> {
    let start = whole.start;
    text[whole].char_indices().map(|(at, c)| start + at..start + at + c.len_utf8()).collect()
}
