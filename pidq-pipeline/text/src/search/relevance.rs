//! Relevance of a search result: whether it is about the query at all.

use super::{Hit, Partition, SearchQuery};
use crate::analyzer;
use crate::ranking::bm25::Bm25Params;

/// Relevance below which a search has found nothing about the query. Calibrated on judged collections; the rates of
/// wrong decisions are documented in `docs/pipeline.md`.
pub const MIN_RELEVANCE: f64 = 0.08;

/// Chunks of other texts that are assumed besides those of a partition, and how many of them contain a term. In a small
/// partition, they keep the unknown words of a question from counting several times as much as the known ones.
const ASSUMED_CHUNKS: (f64, f64) = (1000.0, 5.0);

/// Weight of the terms in a hit that is full evidence: two words that are rare in the partition. A question of everyday life
/// shares one word with some document of a broad collection, but seldom two.
const FULL_EVIDENCE: f64 = 10.0;

impl Partition {
    /// Returns the relevance of the hits of a query, from 0 to 1.
    ///
    /// It is the best weighted share of the query's terms in a hit, multiplied by two factors. One is the square of the share
    /// of terms that occur anywhere in the partition: a question about something else has words that no document contains.
    /// The other is the weight of the terms in the hit, up to that of two rare words; a query whose terms weigh less needs all
    /// of them. A hit with a tag of the query is relevant in any case, and so is one that is as similar as the
    /// calibration of the model demands.
    pub fn relevance(&self, query: &SearchQuery<'_>, hits: &[Hit<'_>]) -> f64 {
        let tags = self.tag_matches(query.text);
        if hits.iter().any(|hit| tags.share(hit.slot) > 0.0) {
            return 1.0;
        }
        let terms = self.weighted_terms(query.text);
        let covered = hits.iter().map(|hit| self.covered_weight(&terms, hit.slot)).fold(0.0, f64::max);
        let by_terms = relevance_by_terms(covered, terms.iter().map(|term| term.weight).sum());
        let known = terms.iter().filter(|term| term.is_known).count() as f64 / terms.len().max(1) as f64;
        let similarity = hits.iter().map(|hit| hit.dense).fold(0.0, f64::max);
        // The cosine of the model's calibration counts as much as the threshold.
        let by_vector =
            query.calibration.sufficient_similarity().map_or(0.0, |cosine| similarity * MIN_RELEVANCE / cosine);
        (by_terms * known * known).max(by_vector).min(1.0)
    }

    /// Returns the distinct terms of a query.
    fn weighted_terms(&self, text: &str) -> Vec<WeightedTerm> {
        let mut terms = analyzer::query_terms(text);
        terms.sort_unstable();
        terms.dedup();
        let weighted = |term: String| {
            let frequency = self.index.document_frequency(&term);
            let (chunks, containing) = (self.len() as f64 + ASSUMED_CHUNKS.0, frequency as f64 + ASSUMED_CHUNKS.1);
            let weight = (1.0 + (chunks - containing + 0.5) / (containing + 0.5)).ln();
            WeightedTerm { term, weight, is_known: frequency > 0 }
        };
        terms.into_iter().map(weighted).collect()
    }

    /// Returns the weight of the terms that a chunk contains, each by its saturated frequency.
    fn covered_weight(&self, terms: &[WeightedTerm], slot: u32) -> f64 {
        let saturation = |term: &WeightedTerm| self.index.saturation(&term.term, slot, Bm25Params::default());
        terms.iter().map(|term| term.weight * saturation(term)).sum()
    }
}

/// Returns the share of the weight that is covered, multiplied by the evidence.
fn relevance_by_terms(covered: f64, all: f64) -> f64 {
    if all > 0.0 { covered / all * (covered / all.min(FULL_EVIDENCE)).min(1.0) } else { 0.0 }
}

/// A term of a query.
struct WeightedTerm {
    term: String,
    /// Inverse document frequency, with the assumed chunks.
    weight: f64,
    is_known: bool,
}
