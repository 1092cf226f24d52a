//! Chunks that contain the tags of a query: they are ranked before all others.

use std::collections::HashMap;

use super::Partition;
use crate::analyzer;

/// The share of a query's tags that each chunk contains.
#[derive(Debug, Default)]
pub struct TagMatches {
    /// By slot; only chunks with at least one tag.
    shares: HashMap<u32, f64>,
}

impl Partition {
    /// Returns the chunks with tags of a query. Tags that no chunk contains are ignored.
    pub(super) fn tag_matches(&self, text: &str) -> TagMatches {
        let tags: Vec<Vec<u32>> = analyzer::query_tags(text)
            .iter()
            .map(|tag| self.index.documents_with(tag).collect::<Vec<u32>>())
            .filter(|slots| !slots.is_empty())
            .collect();
        let mut matches = TagMatches::default();
        for slot in tags.iter().flatten() {
            *matches.shares.entry(*slot).or_default() += 1.0 / tags.len() as f64;
        }
        matches
    }
}

impl TagMatches {
    /// Returns the share of the tags that a chunk contains.
    pub fn share(&self, slot: u32) -> f64 {
        self.shares.get(&slot).copied().unwrap_or(0.0)
    }

    /// Returns a score from 0 to 1 by which chunks with more tags are ranked first, and chunks with equally many by
    /// `score`. If the query has no tag, it is `score`.
    pub fn raise(&self, slot: u32, score: f64) -> f64 {
        if self.shares.is_empty() { score } else { (self.share(slot) + score) / 2.0 }
    }
}
