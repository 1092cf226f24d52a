//! BM25 scores of groups of documents: of a whole text whose parts are the documents of an index.
//!
//! The parts of a long text rarely contain the words that tell what the text is about. The score of the whole does.

use std::ops::Range;

use super::{Bm25Params, InvertedIndex, Scores};

/// Groups of consecutive documents of an index.
#[derive(Debug, Default)]
pub struct Groups {
    /// Group of each document.
    group_of: Vec<u32>,
    /// Number of terms of each group; 0 for removed groups.
    lengths: Vec<u64>,
    /// Number of groups with documents that are not removed.
    count: usize,
}

impl Groups {
    /// Adds the documents of the index that have no group yet as one group.
    pub fn push(&mut self, index: &InvertedIndex) {
        self.push_range(index, self.group_of.len() as u32..index.lengths.len() as u32);
    }

    /// Adds a range of documents of the index that follows the last group as one group.
    pub fn push_range(&mut self, index: &InvertedIndex, documents: Range<u32>) {
        let Some(lengths) = index.lengths.get(documents.start as usize..documents.end as usize) else { return };
        if !lengths.is_empty() {
            self.group_of.extend(std::iter::repeat_n(self.lengths.len() as u32, lengths.len()));
            self.lengths.push(lengths.iter().map(|length| u64::from(*length)).sum());
            self.count += 1;
        }
    }

    /// Removes the group of a document.
    pub fn remove(&mut self, document: u32) {
        if let Some(group) = self.of(document) {
            self.lengths[group] = 0;
            self.count -= 1;
        }
    }

    /// Returns the group of a document.
    pub fn of(&self, document: u32) -> Option<usize> {
        self.group_of.get(document as usize).map(|group| *group as usize)
    }

    /// Returns the number of groups.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the memory use in bytes.
    pub fn bytes(&self) -> usize {
        self.group_of.capacity() * size_of::<u32>() + self.lengths.capacity() * size_of::<u64>()
    }
}

impl InvertedIndex {
    /// Scores every group as one document that consists of its documents. A repeated query term counts as often as it
    /// occurs.
    pub fn group_scores<'t>(
        &self,
        query: impl IntoIterator<Item = &'t str>,
        groups: &Groups,
        weights: Bm25Params,
    ) -> Scores {
        let mut scores = Scores { values: vec![0.0; groups.lengths.len()], bound: 0.0 };
        let average = self.total_length as f64 / groups.count.max(1) as f64;
        let mut query: Vec<&str> = query.into_iter().collect();
        query.sort_unstable();
        for term in query.chunk_by(|a, b| a == b) {
            let frequencies = self.group_frequencies(term[0], groups);
            let (all, containing) = (groups.count as f64, frequencies.len() as f64);
            let weight = (1.0 + (all - containing + 0.5) / (containing + 0.5)).ln() * term.len() as f64;
            scores.bound += weight;
            for (group, frequency) in frequencies {
                let length = groups.lengths[group] as f64 / average;
                let saturation = weights.k1 * (1.0 - weights.b + weights.b * length);
                scores.values[group] += weight * frequency as f64 / (frequency as f64 + saturation);
            }
        }
        scores
    }

    /// Returns the groups that contain a term, each with the frequency of the term.
    fn group_frequencies(&self, term: &str, groups: &Groups) -> Vec<(usize, u64)> {
        let mut frequencies: Vec<(usize, u64)> = Vec::new();
        let postings = self.terms.get(term).map_or(&[][..], |list| &list.postings);
        for posting in postings.iter().filter(|posting| !self.removed[posting.document as usize]) {
            let Some(group) = groups.of(posting.document) else { continue };
            match frequencies.last_mut() {
                Some((last, frequency)) if *last == group => *frequency += u64::from(posting.frequency),
                _ => frequencies.push((group, u64::from(posting.frequency))),
            }
        }
        frequencies
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns an index of texts with the groups of its documents.
    fn index(texts: &[&[&str]]) -> (InvertedIndex, Groups) {
        let (mut index, mut groups) = (InvertedIndex::default(), Groups::default());
        for parts in texts {
            for part in *parts {
                index.add(part.split(' '));
            }
            groups.push(&index);
        }
        (index, groups)
    }

    fn scores(index: &InvertedIndex, groups: &Groups) -> Scores {
        index.group_scores(["pump", "oil", "pump"], groups, Bm25Params::default())
    }

    #[test]
    fn a_group_has_the_score_of_its_documents_joined_into_one() {
        let (parts, groups) = index(&[&["pump oil", "oil", "seal"], &["seal seal"], &["pump", "valve"]]);
        let whole = index(&[&["pump oil oil seal"], &["seal seal"], &["pump valve"]]).0;
        let expected = whole.scores(["pump", "oil", "pump"], Bm25Params::default());
        let found = scores(&parts, &groups);
        let pairs = found.values.iter().zip(&expected.values).chain([(&found.bound, &expected.bound)]);
        for (found, expected) in pairs {
            assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
        }
    }

    #[test]
    fn removed_groups_have_no_influence() {
        let (mut removed, mut groups) = index(&[&["oil", "oil pump"], &["pump oil", "seal"], &["valve"]]);
        for (document, text) in ["oil", "oil pump"].iter().enumerate() {
            removed.remove(document as u32, text.split(' '));
        }
        groups.remove(0);
        let (index, fresh) = index(&[&["pump oil", "seal"], &["valve"]]);
        let (found, expected) = (scores(&removed, &groups), scores(&index, &fresh));
        assert_eq!((&found.values[1..], found.bound), (&expected.values[..], expected.bound));
    }
}
