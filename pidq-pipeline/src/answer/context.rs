//! A chunk that was found, and a chunk that an answer names.

use serde::{Deserialize, Serialize};

use crate::citations::Cited;
use crate::prompt::Passage;

/// A chunk of a document that was found for a question, or what a drawing says.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Context {
    /// The document; none if it is a drawing.
    pub document_id: Option<String>,
    /// Which of its revisions.
    pub revision: u64,
    /// The name of its file; the job of a drawing.
    pub filename: String,
    /// The chunk.
    pub chunk_id: Option<String>,
    /// The page, in documents that have pages.
    pub page: Option<u32>,
    /// Where the chunk begins in the text of the document, in code points; none if it is made of parts from all over it.
    pub start: Option<usize>,
    /// Where it ends.
    pub end: Option<usize>,
    /// The text as the document has it.
    pub text: String,
    /// How well it fits.
    pub score: f64,
    /// The tags of equipment in it.
    pub tags: Vec<String>,
    /// The nodes of the drawing that these tags are, where the question names a drawing.
    pub nodes: Vec<String>,
    /// Where it is from, if it is what a drawing says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph: Option<Drawn>,
}

/// A query and the drawing that it was asked of.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Drawn {
    /// The job of the drawing.
    pub job_id: String,
    /// Which of its versions.
    pub change_version: Option<String>,
    /// The query.
    pub query: String,
}

/// A context that an answer names.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Citation {
    /// Its number in the answer.
    pub marker: usize,
    /// Where the answer names it, in code points.
    pub answer_spans: Vec<[usize; 2]>,
    /// What it is.
    #[serde(flatten)]
    pub context: Context,
}

impl Context {
    pub(super) fn passage(&self) -> Passage<'_> {
        let page = self.page.map(|page| format!(", page {page}")).unwrap_or_default();
        let source = match &self.graph {
            Some(drawn) => format!("P&ID graph {}, query {}", drawn.job_id, drawn.query),
            None => format!("{}{page}", self.filename),
        };
        Passage { source, text: &self.text }
    }
}

impl Citation {
    /// The context that an answer names. Numbers out of range were left out when they were read.
    pub(super) fn of(contexts: &[Context], cited: &Cited) -> Citation {
        let context = contexts.get(cited.marker - 1).cloned().unwrap_or_default();
        Citation { marker: cited.marker, answer_spans: cited.spans.clone(), context }
    }
}
