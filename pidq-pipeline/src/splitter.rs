//! Text splitters: one row each, and what a splitter is given and gives.
//!
//! The names and their meaning are those of langchain-text-splitters 1.1.3, code point for code point; what is ours
//! says so in its summary. Unlike there, every chunk knows exactly which part of the text it is.

mod cut;
mod headings;
mod html_header;
mod json;
mod languages;
mod length;
mod markdown_header;
mod merge;
mod parameters;
mod pattern;
mod recursive;
mod room;
mod semantic;
mod sentence;
mod single;
mod tags;
mod token;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use serde_json::{Map, Value};

pub use parameters::{Kind, Parameter, Parameters};

/// A way to split texts: a row of [`SPLITTERS`].
pub struct Splitter {
    /// Its name in a pipeline.
    pub name: &'static str,
    /// One line for the manual.
    pub summary: &'static str,
    /// What can be set.
    pub parameters: &'static [Parameter],
    build: fn(&Parameters) -> Result<Box<dyn Split>, Refusal>,
}

/// All splitters.
pub const SPLITTERS: &[Splitter] = &[
    recursive::RECURSIVE_CHARACTER,
    single::CHARACTER,
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
    tags::TAG_AWARE,
];

/// The row of a name.
pub fn find(name: &str) -> Option<&'static Splitter> {
    SPLITTERS.iter().find(|splitter| splitter.name == name)
}

/// The length of a text in a unit: `chars`, `words`, `cl100k_base` and so on.
pub fn length(unit: &str, text: &str) -> usize {
    length::Length::of_name(unit).of(text)
}

impl Splitter {
    /// Makes a splitter that can be used many times, from any thread.
    ///
    /// # Errors
    /// A [`Refusal`] names the parameter that is unknown, of the wrong type or out of range.
    pub fn build(&self, parameters: &Map<String, Value>) -> Result<Box<dyn Split>, Refusal> {
        (self.build)(&Parameters::read(self.parameters, parameters)?)
    }
}

/// A splitter with its parameters.
pub trait Split: Send + Sync {
    /// Splits a text. `embed` is asked only by splitters that compare meanings.
    ///
    /// # Errors
    /// A [`Refusal`] if the text is not of the kind wanted, a pattern costs too much on it, or chunks repeat it too often.
    fn split<'t>(&self, text: &'t str, embed: &Embed<'_>) -> Result<Vec<Chunk<'t>>, Refusal>;
}

/// Turns texts into vectors of one length.
pub type Embed<'e> = dyn Fn(&[String]) -> Result<Vec<Vec<f64>>, Refusal> + 'e;

/// A part of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Chunk<'t> {
    /// What it says.
    pub text: Cow<'t, str>,
    /// The bytes of the text that it comes from; none if it is made of parts from all over it.
    pub span: Option<Range<usize>>,
    /// The headings it stands under, outermost first: the name of the level and the heading.
    pub headings: Vec<(String, String)>,
}

impl<'t> Chunk<'t> {
    /// A piece of the text as it stands there.
    pub fn exact(text: &'t str, span: Range<usize>) -> Self {
        Chunk { text: Cow::Borrowed(&text[span.clone()]), span: Some(span), headings: Vec::new() }
    }

    /// A text that was put together from what stands in a span.
    pub fn made(text: String, span: Option<Range<usize>>) -> Self {
        Chunk { text: Cow::Owned(text), span, headings: Vec::new() }
    }

    /// Whether the chunk is its span, character for character.
    pub fn is_exact(&self) -> bool {
        matches!(self.text, Cow::Borrowed(_))
    }
}

/// Why a text is not split.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Refusal {
    /// The parameter at fault, if it is one.
    pub parameter: Option<String>,
    /// What is wrong, and what would be right.
    pub detail: String,
    /// Whether the chunks would hold too much together.
    pub is_too_much: bool,
}

impl Refusal {
    /// A parameter is wrong.
    pub fn of(parameter: &str, detail: impl Into<String>) -> Self {
        Refusal { parameter: Some(parameter.to_owned()), detail: detail.into(), is_too_much: false }
    }

    /// The text is wrong.
    pub fn text(detail: impl Into<String>) -> Self {
        Refusal { parameter: None, detail: detail.into(), is_too_much: false }
    }

    /// The chunks would hold the text again and again.
    pub fn too_much() -> Self {
        let detail =
            "the chunks repeat the text too often, in overlaps or headings; take less overlap, or another splitter";
        Refusal { is_too_much: true, ..Refusal::text(detail) }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.parameter {
            Some(parameter) => write!(f, "{parameter}: {}", self.detail),
            None => f.write_str(&self.detail),
        }
    }
}

impl std::error::Error for Refusal {}
