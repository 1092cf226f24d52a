//! Contexts of a prompt and citations of an answer.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::generation::citations::CitedPassage;
use crate::generation::prompt::Passage;

/// A retrieved chunk of a document, or the result of a graph query.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Context {
    /// Id of the document. Null for a graph.
    pub document_id: Option<String>,
    /// Revision of the document; 0 for a graph.
    pub revision: u64,
    /// File name of the document; the graph id of a graph.
    pub filename: String,
    /// Id of the chunk. Null for a graph.
    pub chunk_id: Option<String>,
    /// Page, from 1. Null in documents without pages.
    pub page: Option<u32>,
    /// Start of the chunk in the text of the document, in code points. Null if its parts are not contiguous.
    pub start: Option<usize>,
    /// End of the chunk, exclusive.
    pub end: Option<usize>,
    /// Text of the chunk.
    pub text: String,
    /// Relevance score.
    pub score: f64,
    /// Equipment tags in the text.
    pub tags: Vec<String>,
    /// Ids of the graph nodes with these tags, if the question has a graph query.
    pub nodes: Vec<String>,
    /// Source of the result of a graph query.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "GraphSource")]
    pub graph: Option<GraphSource>,
}

/// A graph query and its graph.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct GraphSource {
    /// Graph id.
    pub job_id: String,
    /// Version of the graph.
    pub change_version: Option<String>,
    /// The query.
    pub query: String,
}

/// A quote: a sentence or row of a context that supports a claim.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct QuoteSpan {
    /// Index of the context.
    pub context: usize,
    /// Span in its text, in bytes.
    pub span: Range<usize>,
}

/// A sentence or row of a document that supports an answer.
#[derive(Clone, Debug, Default, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Quote {
    /// Start in the text of the document, in code points. Null if the parts of the chunk are not contiguous.
    pub start: Option<usize>,
    /// End, exclusive.
    pub end: Option<usize>,
    /// Page, from 1. Null in documents without pages.
    pub page: Option<u32>,
    /// The text.
    pub text: String,
}

/// A context cited by an answer.
#[derive(Clone, Debug, Default, JsonSchema, PartialEq, Serialize)]
pub struct Citation {
    /// Its number in the answer.
    pub marker: usize,
    /// Spans of its citations in the answer, in code points.
    pub answer_spans: Vec<[usize; 2]>,
    /// Sentences and rows of it that support the answer. `page` is that of the first one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quotes: Vec<Quote>,
    /// The context.
    #[serde(flatten)]
    pub context: Context,
}

impl Context {
    pub(super) fn passage(&self) -> Passage<'_> {
        let page = self.page.map(|page| format!(", page {page}")).unwrap_or_default();
        let source = match &self.graph {
            Some(source) => format!("P&ID graph {}, query {}", source.job_id, source.query),
            None => format!("{}{page}", self.filename),
        };
        Passage { source, text: &self.text }
    }
}

impl Context {
    /// Returns a span of the text, in bytes, as a quote. Its page is that on which the context starts.
    fn quote(&self, span: Range<usize>) -> Option<Quote> {
        let (before, text) = (self.text.get(..span.start)?, self.text.get(span)?);
        let length = self.text.chars().count();
        let is_contiguous = self.start.zip(self.end).is_some_and(|(start, end)| end.checked_sub(start) == Some(length));
        let start = self.start.filter(|_| is_contiguous).map(|start| start + before.chars().count());
        let end = start.map(|start| start + text.chars().count());
        Some(Quote { start, end, page: self.page, text: text.to_owned() })
    }
}

impl Citation {
    /// Looks up a cited context. The parser has already dropped numbers out of range.
    pub(super) fn new(contexts: &[Context], cited: &CitedPassage) -> Citation {
        let context = contexts.get(cited.marker - 1).cloned().unwrap_or_default();
        Citation { marker: cited.marker, answer_spans: cited.spans.clone(), quotes: Vec::new(), context }
    }

    /// Adds the quotes of its context.
    pub(super) fn with_quotes(mut self, quotes: &[QuoteSpan]) -> Citation {
        let own = quotes.iter().filter(|quote| quote.context + 1 == self.marker);
        self.quotes = own.filter_map(|quote| self.context.quote(quote.span.clone())).collect();
        self
    }
}
