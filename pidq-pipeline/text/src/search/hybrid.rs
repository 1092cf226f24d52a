//! Ranking of chunks by terms (sparse), by vectors (dense), and by both (hybrid).

use schemars::JsonSchema;
use serde::Serialize;

use super::top_k::TopK;
use super::{Filter, Partition};
use crate::analyzer;
use crate::embedding::normalize;
use crate::ranking::bm25::{Bm25Params, Scores};
use crate::ranking::fusion::{K, reciprocal_ranks};

/// Ranking mode.
#[derive(Clone, Copy, Debug, Eq, JsonSchema, PartialEq, Serialize)]
#[schemars(rename = "SearchMode")]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Terms and vectors.
    Hybrid,
    /// Vectors only.
    Dense,
    /// Terms only.
    Sparse,
}

/// Modes by name.
pub const MODES: &[(&str, Mode)] = &[("hybrid", Mode::Hybrid), ("dense", Mode::Dense), ("sparse", Mode::Sparse)];

impl Mode {
    /// Returns the mode with a name.
    pub fn find(name: &str) -> Option<Self> {
        MODES.iter().find(|(candidate, _)| *candidate == name).map(|(_, mode)| *mode)
    }
}

/// A search query.
#[derive(Clone, Copy, Debug)]
pub struct SearchQuery<'q> {
    /// Text of the query.
    pub text: &'q str,
    /// Vector of the text; without one only terms are searched.
    pub vector: Option<&'q [f32]>,
    /// Ranking mode.
    pub mode: Mode,
    /// Weight of the dense ranking in hybrid mode, relative to 1 for the sparse one: the weight of the model.
    pub weight: f64,
    /// Maximum number of hits.
    pub top: usize,
    /// Minimum score of a hit.
    pub min_score: f64,
    /// Filter on the metadata of the document.
    pub filter: Option<&'q Filter>,
}

/// A ranked chunk. Scores are from 0 to 1, except that the dense score is negative for opposite vectors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankedChunk {
    pub(super) slot: u32,
    /// Score in the mode of the query; the ranking is in descending order of it.
    pub score: f64,
    /// Sparse score: the share of the query's maximum BM25 score. 0 in dense mode.
    pub sparse: f64,
    /// Dense score: the cosine similarity.
    pub dense: f64,
}

/// Minimum depth of each ranking in a fusion.
const MIN_FUSION_DEPTH: usize = 100;

impl Partition {
    /// Returns the best chunks for a query, at most `depth`.
    pub fn rank(&self, query: &SearchQuery<'_>, depth: usize) -> Vec<RankedChunk> {
        self.rank_candidates(query, depth, None)
    }

    /// Like [`rank`](Self::rank), but only chunks in `candidates` (from a vector index) have dense matches.
    pub fn rank_candidates(
        &self,
        query: &SearchQuery<'_>,
        depth: usize,
        candidates: Option<&[(String, u32)]>,
    ) -> Vec<RankedChunk> {
        let vector = self.vector(query);
        let candidates = candidates
            .map(|candidates| candidates.iter().filter_map(|(document, index)| self.slot(document, *index)).collect());
        let accepted = self.accepted_slots(query.filter);
        let prepared = PreparedQuery { partition: self, accepted, scores: self.scores(query), vector, candidates };
        let ranked = match (query.mode, &prepared.vector) {
            (Mode::Sparse, _) | (Mode::Hybrid, None) => prepared.sparse(depth),
            (Mode::Dense, _) => prepared.dense(depth),
            (Mode::Hybrid, Some(_)) => prepared.hybrid(query.weight, depth),
        };
        ranked.into_iter().filter(|ranked| ranked.score >= query.min_score).collect()
    }

    /// Returns the normalized vector of a query, unless it is missing or zero.
    fn vector(&self, query: &SearchQuery<'_>) -> Option<Vec<f32>> {
        let mut vector = query.vector.filter(|vector| vector.len() == self.dimensions())?.to_vec();
        normalize(&mut vector);
        vector.iter().any(|x| *x != 0.0).then_some(vector)
    }

    /// Returns the sparse scores; empty in dense mode.
    fn scores(&self, query: &SearchQuery<'_>) -> Scores {
        if query.mode == Mode::Dense {
            return Scores { values: Vec::new(), bound: 0.0 };
        }
        let terms = analyzer::query_terms(query.text);
        self.index.scores(terms.iter().map(String::as_str), Bm25Params::default())
    }

    /// Returns the slots that a filter accepts, or none without a filter. Evaluates the filter once per document.
    fn accepted_slots(&self, filter: Option<&Filter>) -> Option<Vec<bool>> {
        let filter = filter?;
        let mut accepted = vec![false; self.chunks.len()];
        for entry in self.documents.values().filter(|entry| filter.matches(&entry.metadata)) {
            accepted[entry.slots.start as usize..entry.slots.end as usize].fill(true);
        }
        Some(accepted)
    }

    /// Returns the position of a ranked chunk: the id of its document and its index there.
    pub fn chunk_position(&self, ranked: &RankedChunk) -> (&str, u32) {
        self.position(ranked.slot)
    }
}

/// A query with everything computed for it.
struct PreparedQuery<'p> {
    partition: &'p Partition,
    accepted: Option<Vec<bool>>,
    scores: Scores,
    vector: Option<Vec<f32>>,
    /// Slots that are considered in dense search; none means all.
    candidates: Option<Vec<u32>>,
}

impl PreparedQuery<'_> {
    fn accepts(&self, slot: u32) -> bool {
        match &self.accepted {
            Some(accepted) => accepted[slot as usize],
            None => self.partition.chunks[slot as usize].is_some(),
        }
    }

    fn sparse(&self, depth: usize) -> Vec<RankedChunk> {
        let slots = self.top_by_terms(depth).into_iter();
        slots.map(|slot| self.ranked(slot)).map(|ranked| RankedChunk { score: ranked.sparse, ..ranked }).collect()
    }

    fn dense(&self, depth: usize) -> Vec<RankedChunk> {
        let slots = self.top_by_vector(depth).into_iter();
        slots.map(|slot| self.ranked(slot)).map(|ranked| RankedChunk { score: ranked.dense, ..ranked }).collect()
    }

    fn top_by_terms(&self, depth: usize) -> Vec<u32> {
        let mut best = TopK::new(depth, |a, b| self.partition.tie_break(a, b));
        for (&score, slot) in self.scores.values.iter().zip(0..) {
            if score > 0.0 && self.accepts(slot) {
                best.offer(score, slot);
            }
        }
        best.sorted().into_iter().map(|(_, slot)| slot).collect()
    }

    fn top_by_vector(&self, depth: usize) -> Vec<u32> {
        let Some(vector) = &self.vector else { return Vec::new() };
        let tie = |a, b| self.partition.tie_break(a, b);
        if let Some(candidates) = &self.candidates {
            let mut best = TopK::new(depth, tie);
            let accepted = candidates.iter().filter(|slot| self.accepts(**slot));
            accepted.for_each(|slot| best.offer(self.partition.vectors.similarity(*slot, vector), *slot));
            return best.sorted().into_iter().map(|(_, slot)| slot).collect();
        }
        let nearest = self.partition.vectors.nearest(vector, depth, |slot| self.accepts(slot), tie);
        nearest.into_iter().map(|(_, slot)| slot).collect()
    }

    /// Fuses both rankings. The score is the fused score relative to the maximum (first in both rankings), multiplied by the
    /// quality of the best match: it descends with the ranking, and is low if no chunk matches the query.
    fn hybrid(&self, weight: f64, depth: usize) -> Vec<RankedChunk> {
        let with_position = |slot: u32| (self.partition.position(slot), slot);
        let by_terms: Vec<_> = self.top_by_terms(depth.max(MIN_FUSION_DEPTH)).into_iter().map(with_position).collect();
        let by_vector: Vec<_> =
            self.top_by_vector(depth.max(MIN_FUSION_DEPTH)).into_iter().map(with_position).collect();
        let mut fused = reciprocal_ranks(&[(1.0, &by_terms), (weight, &by_vector)], K);
        fused.truncate(depth);
        let max_score = (1.0 + weight) / (K + 1.0);
        let mut ranked: Vec<RankedChunk> = fused
            .iter()
            .map(|((_, slot), score)| RankedChunk { score: score / max_score, ..self.ranked(*slot) })
            .collect();
        let best =
            ranked.iter().map(|ranked| (ranked.sparse + weight * ranked.dense) / (1.0 + weight)).fold(0.0, f64::max);
        ranked.iter_mut().for_each(|ranked| ranked.score *= best.min(1.0));
        ranked
    }

    fn ranked(&self, slot: u32) -> RankedChunk {
        let sparse = self.scores.values.get(slot as usize).map_or(0.0, |score| score / self.scores.bound);
        let sparse = if sparse.is_finite() { sparse } else { 0.0 };
        let dense = self.vector.as_ref().map_or(0.0, |vector| self.partition.vectors.similarity(slot, vector));
        RankedChunk { slot, score: 0.0, sparse, dense }
    }
}
