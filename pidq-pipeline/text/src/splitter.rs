//! Text splitters: the table of splitters, and their interface.
//!
//! Names and results are those of langchain-text-splitters 1.1.3, code point for code point; the summary marks pidq's own
//! splitters. Unlike there, every chunk has its exact span in the text.

mod character;
mod headings;
mod html_header;
mod json;
mod languages;
mod length;
mod markdown_header;
mod merge;
mod parameters;
mod python_regex;
mod recursive;
mod semantic;
mod sentence;
mod separators;
mod size_limit;
mod tag_aware;
mod token;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use serde_json::{Map, Value};

pub use parameters::{Parameter, ParameterKind, Parameters};

/// A text splitter: a row of [`SPLITTERS`].
pub struct Splitter {
    /// Name in a pipeline.
    pub name: &'static str,
    /// One-line summary for the manual.
    pub summary: &'static str,
    /// Parameters.
    pub parameters: &'static [Parameter],
    build: fn(&Parameters) -> Result<Box<dyn Split>, SplitError>,
}

/// All splitters.
pub const SPLITTERS: &[Splitter] = &[
    recursive::RECURSIVE_CHARACTER,
    character::CHARACTER,
    token::TOKEN,
    recursive::MARKDOWN,
    recursive::MARKDOWN_LITERAL,
    recursive::HTML,
    recursive::CODE,
    markdown_header::MARKDOWN_HEADER,
    html_header::HTML_HEADER,
    json::JSON,
    semantic::SEMANTIC,
    sentence::SENTENCE,
    tag_aware::TAG_AWARE,
];

/// Returns the splitter with a name.
pub fn find(name: &str) -> Option<&'static Splitter> {
    SPLITTERS.iter().find(|splitter| splitter.name == name)
}

/// Returns the length of a text in a unit: `chars`, `words`, `cl100k_base` and so on.
pub fn length(unit: &str, text: &str) -> usize {
    length::LengthUnit::from_name(unit).measure(text)
}

impl Splitter {
    /// Builds a configured splitter that is reusable from any thread.
    ///
    /// # Errors
    /// Returns a [`SplitError`] that names the parameter that is unknown, of the wrong type or out of range.
    pub fn build(&self, parameters: &Map<String, Value>) -> Result<Box<dyn Split>, SplitError> {
        (self.build)(&Parameters::parse(self.parameters, parameters)?)
    }
}

/// A configured splitter.
pub trait Split: Send + Sync {
    /// Splits a text. Only splitters that compare meanings call `embed`.
    ///
    /// # Errors
    /// Returns a [`SplitError`] if the text has the wrong format, a pattern exceeds its backtracking limit, or the chunks
    /// exceed their size limit.
    fn split<'t>(&self, text: &'t str, embed: &Embed<'_>) -> Result<Vec<Chunk<'t>>, SplitError>;
}

/// Embedding function: returns one vector per text, all of the same length.
pub type Embed<'e> = dyn Fn(&[String]) -> Result<Vec<Vec<f64>>, SplitError> + 'e;

/// A chunk of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Chunk<'t> {
    /// Text of the chunk.
    pub text: Cow<'t, str>,
    /// Byte range in the source text; none if the chunk is composed of scattered parts.
    pub span: Option<Range<usize>>,
    /// Headings above the chunk, outermost first: the name of the level and the heading.
    pub headings: Vec<(String, String)>,
}

impl<'t> Chunk<'t> {
    /// Creates a chunk that is a slice of the text.
    pub fn exact(text: &'t str, span: Range<usize>) -> Self {
        Chunk { text: Cow::Borrowed(&text[span.clone()]), span: Some(span), headings: Vec::new() }
    }

    /// Creates a chunk whose text was composed from the contents of a span.
    pub fn composed(text: String, span: Option<Range<usize>>) -> Self {
        Chunk { text: Cow::Owned(text), span, headings: Vec::new() }
    }

    /// Returns whether the text of the chunk is exactly its span.
    pub fn is_exact(&self) -> bool {
        matches!(self.text, Cow::Borrowed(_))
    }
}

/// An error of a splitter.
#[derive(Clone, Debug, Eq, thiserror::Error, PartialEq)]
pub struct SplitError {
    /// The invalid parameter, if a parameter is the cause.
    pub parameter: Option<String>,
    /// Explanation: what is wrong, and what is expected.
    pub detail: String,
    /// `true` if the chunks exceed their size limit.
    pub is_too_large: bool,
}

impl SplitError {
    /// Creates an error about a parameter.
    pub fn parameter(parameter: &str, detail: impl Into<String>) -> Self {
        SplitError { parameter: Some(parameter.to_owned()), detail: detail.into(), is_too_large: false }
    }

    /// Creates an error about the text.
    pub fn text(detail: impl Into<String>) -> Self {
        SplitError { parameter: None, detail: detail.into(), is_too_large: false }
    }

    /// Creates an error about chunks that repeat the text too often.
    pub fn too_large() -> Self {
        let detail =
            "the chunks repeat the text too often in overlaps or headings; reduce the overlap or use another splitter";
        SplitError { is_too_large: true, ..SplitError::text(detail) }
    }
}

impl fmt::Display for SplitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.parameter {
            Some(parameter) => write!(f, "{parameter}: {}", self.detail),
            None => f.write_str(&self.detail),
        }
    }
}
