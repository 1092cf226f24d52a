//! A chunk that was found, and a chunk that an answer names.

use serde::{Deserialize, Serialize};

use crate::citations::Cited;
use crate::prompt::Passage;

/// A chunk of a document that was found for a question.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Context {
    /// The document.
    pub document_id: String,
    /// Which of its revisions.
    pub revision: u64,
    /// The name of its file.
    pub filename: String,
    /// The chunk.
    pub chunk_id: String,
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
    /// The nodes of a drawing that these tags are.
    pub nodes: Vec<String>,
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
        Passage { source: format!("{}{page}", self.filename), text: &self.text }
    }
}

impl Citation {
    /// The context that an answer names. Numbers out of range were left out when they were read.
    pub(super) fn of(contexts: &[Context], cited: &Cited) -> Citation {
        let context = contexts.get(cited.marker - 1).cloned().unwrap_or_default();
        Citation { marker: cited.marker, answer_spans: cited.spans.clone(), context }
    }
}
