//! BM25 as in Lucene, on an in-memory inverted index.
//!
//! S. Robertson, H. Zaragoza: The Probabilistic Relevance Framework: BM25 and Beyond, 2009; with Lucene's inverse
//! document frequency, which is never negative, and without the constant factor `k1 + 1`.

mod groups;

use std::collections::HashMap;

pub use groups::Groups;
use serde::{Deserialize, Serialize};

/// Parameters of BM25.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bm25Params {
    /// Saturation of the term frequency.
    pub k1: f64,
    /// Length normalization, from 0 to 1.
    pub b: f64,
}

impl Default for Bm25Params {
    fn default() -> Self {
        Bm25Params { k1: 0.9, b: 0.4 }
    }
}

/// Inverted index of documents.
#[derive(Debug, Default)]
pub struct InvertedIndex {
    terms: HashMap<String, PostingList>,
    /// Number of terms of each document.
    lengths: Vec<u32>,
    /// Removed documents; posting lists may still contain them.
    removed: Vec<bool>,
    document_count: usize,
    total_length: u64,
}

/// Documents that contain a term.
#[derive(Debug, Default)]
struct PostingList {
    /// Invariant: strictly increasing by document.
    postings: Vec<Posting>,
    /// Number of postings of removed documents.
    stale: usize,
}

/// A document that contains a term.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Posting {
    /// Number of the document.
    pub document: u32,
    /// Term frequency.
    pub frequency: u32,
}

/// Scores of documents, with an upper bound.
#[derive(Clone, Debug, PartialEq)]
pub struct Scores {
    /// Score by document number; 0 if no term matches.
    pub values: Vec<f64>,
    /// Upper bound that no score reaches: the score of a document that repeats the query infinitely often.
    pub bound: f64,
}

impl InvertedIndex {
    /// Adds a document and returns its number.
    pub fn add<'t>(&mut self, terms: impl IntoIterator<Item = &'t str>) -> u32 {
        let document = self.lengths.len() as u32;
        let mut length = 0;
        for term in terms {
            length += 1;
            self.count(term, document);
        }
        self.push(length);
        document
    }

    fn push(&mut self, length: u32) {
        self.lengths.push(length);
        self.removed.push(false);
        self.document_count += 1;
        self.total_length += u64::from(length);
    }

    fn count(&mut self, term: &str, document: u32) {
        let list = match self.terms.get_mut(term) {
            Some(list) => list,
            None => self.terms.entry(term.to_owned()).or_default(),
        };
        match list.postings.last_mut() {
            Some(last) if last.document == document => last.frequency += 1,
            _ => list.postings.push(Posting { document, frequency: 1 }),
        }
    }

    /// Removes a document with these terms. Its number is not reused.
    pub fn remove<'t>(&mut self, document: u32, terms: impl IntoIterator<Item = &'t str>) {
        if self.removed.get(document as usize).is_none_or(|removed| *removed) {
            return;
        }
        self.removed[document as usize] = true;
        self.document_count -= 1;
        self.total_length -= u64::from(self.lengths[document as usize]);
        let mut terms: Vec<&str> = terms.into_iter().collect();
        terms.sort_unstable();
        terms.dedup();
        terms.into_iter().for_each(|term| self.mark_stale(term));
    }

    /// Counts a posting as stale, and removes the stale ones when they are the majority (amortized constant cost).
    fn mark_stale(&mut self, term: &str) {
        let Some(list) = self.terms.get_mut(term) else { return };
        list.stale += 1;
        if list.stale * 2 > list.postings.len() {
            list.postings.retain(|posting| !self.removed[posting.document as usize]);
            list.stale = 0;
        }
        if list.postings.is_empty() {
            self.terms.remove(term);
        }
    }

    /// Returns the approximate memory use in bytes.
    pub fn bytes(&self) -> usize {
        let term_bytes = |(term, list): (&String, &PostingList)| {
            term.capacity() + size_of::<(String, PostingList)>() + list.postings.capacity() * size_of::<Posting>()
        };
        let lengths = self.lengths.capacity() * size_of::<u32>() + self.removed.capacity();
        self.terms.iter().map(term_bytes).sum::<usize>() + lengths
    }

    /// Returns the number of documents.
    pub fn document_count(&self) -> usize {
        self.document_count
    }

    /// Scores every document number; 0 if no term matches. A repeated query term counts as often as it occurs.
    pub fn scores<'t>(&self, query: impl IntoIterator<Item = &'t str>, weights: Bm25Params) -> Scores {
        let mut scores = Scores { values: vec![0.0; self.lengths.len()], bound: 0.0 };
        let mut query: Vec<&str> = query.into_iter().collect();
        query.sort_unstable();
        // Grouped, so that a term that is repeated a thousand times reads its postings once.
        for group in query.chunk_by(|a, b| a == b) {
            let empty = PostingList::default();
            let list = self.terms.get(group[0]).unwrap_or(&empty);
            let weight = self.idf(list.postings.len() - list.stale) * group.len() as f64;
            scores.bound += weight;
            self.score(list, weight, weights, &mut scores.values);
        }
        scores
    }

    // Hot: runs once per posting. Removed documents are scored too, because checking costs more than scoring; their scores
    // are reset after each term with stale postings.
    fn score(&self, list: &PostingList, weight: f64, weights: Bm25Params, scores: &mut [f64]) {
        let average = self.total_length as f64 / self.document_count as f64;
        let constant = weights.k1 * (1.0 - weights.b);
        let length_factor = weights.k1 * weights.b / average;
        for posting in &list.postings {
            let document = posting.document as usize;
            let frequency = f64::from(posting.frequency);
            scores[document] +=
                weight * frequency / (frequency + constant + length_factor * f64::from(self.lengths[document]));
        }
        if list.stale > 0 {
            let stale = list.postings.iter().filter(|posting| self.removed[posting.document as usize]);
            stale.for_each(|posting| scores[posting.document as usize] = 0.0);
        }
    }

    /// Returns the documents that contain a term.
    pub fn documents_with(&self, term: &str) -> impl Iterator<Item = u32> + '_ {
        let postings = self.terms.get(term).map_or(&[][..], |list| &list.postings);
        postings.iter().map(|posting| posting.document).filter(move |document| !self.removed[*document as usize])
    }

    /// Returns the number of documents that contain a term.
    pub fn document_frequency(&self, term: &str) -> usize {
        self.terms.get(term).map_or(0, |list| list.postings.len() - list.stale)
    }

    /// Returns the saturated frequency of a term in a document, from 0 to 1: its score without the inverse document
    /// frequency.
    pub fn saturation(&self, term: &str, document: u32, weights: Bm25Params) -> f64 {
        let Some(list) = self.terms.get(term) else { return 0.0 };
        let Ok(index) = list.postings.binary_search_by_key(&document, |posting| posting.document) else { return 0.0 };
        let frequency = f64::from(list.postings[index].frequency);
        let average = self.total_length as f64 / self.document_count.max(1) as f64;
        let length = f64::from(self.lengths[document as usize]) / average;
        frequency / (frequency + weights.k1 * (1.0 - weights.b + weights.b * length))
    }

    /// Returns the inverse document frequency of a term that a number of documents contain.
    fn idf(&self, document_frequency: usize) -> f64 {
        let (all, document_frequency) = (self.document_count as f64, document_frequency as f64);
        (1.0 + (all - document_frequency + 0.5) / (document_frequency + 0.5)).ln()
    }

    /// Returns every term in order, with its postings.
    pub fn terms(&self) -> impl Iterator<Item = (&str, impl Iterator<Item = Posting> + '_)> {
        let mut terms: Vec<_> = self.terms.iter().collect();
        terms.sort_unstable_by_key(|(term, _)| term.as_str());
        let is_current = |posting: &Posting| !self.removed[posting.document as usize];
        terms.into_iter().map(move |(term, list)| (term.as_str(), list.postings.iter().copied().filter(is_current)))
    }

    /// Builds the index of a number of documents from its terms; none if a posting list is empty of occurrences, unsorted, or
    /// refers to a missing document, or if a term is repeated.
    pub fn from_terms(documents: u32, terms: impl IntoIterator<Item = (String, Vec<Posting>)>) -> Option<Self> {
        let mut lengths = vec![0u32; documents as usize];
        let mut lists = HashMap::new();
        for (term, postings) in terms {
            let is_increasing = postings.windows(2).all(|pair| pair[0].document < pair[1].document);
            for posting in &postings {
                let length = lengths.get_mut(posting.document as usize).filter(|_| posting.frequency > 0)?;
                *length = length.checked_add(posting.frequency)?;
            }
            let is_new = lists.insert(term, PostingList { postings, stale: 0 }).is_none();
            (is_increasing && is_new).then_some(())?;
        }
        let mut index = InvertedIndex { terms: lists, ..InvertedIndex::default() };
        lengths.into_iter().for_each(|length| index.push(length));
        Some(index)
    }
}
