//! Contexts of a prompt and citations of an answer.

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

/// A context cited by an answer.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct Citation {
    /// Its number in the answer.
    pub marker: usize,
    /// Spans of its citations in the answer, in code points.
    pub answer_spans: Vec<[usize; 2]>,
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

impl Citation {
    /// Looks up a cited context. The parser has already dropped numbers out of range.
    pub(super) fn new(contexts: &[Context], cited: &CitedPassage) -> Citation {
        let context = contexts.get(cited.marker - 1).cloned().unwrap_or_default();
        Citation { marker: cited.marker, answer_spans: cited.spans.clone(), context }
    }
}
