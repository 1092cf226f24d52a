//! Ranking of chunks by terms (sparse), by vectors (dense), and by both (hybrid).

use schemars::JsonSchema;
use serde::Serialize;

use super::tag_matches::TagMatches;
use super::top_k::TopK;
use super::{Filter, Partition};
use crate::analyzer;
use crate::embedding::{Calibration, normalize};
use crate::ranking::bm25::{Bm25Params, Scores};
use crate::ranking::fusion::{Agreement, Scale, convex};

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
    /// Calibration of the model of the vector. Its weight is that of the dense score in hybrid mode; the sparse score has the rest.
    pub calibration: Calibration,
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
const FUSION_DEPTH: usize = 100;
/// Weight of the score of a document in the sparse score of its chunks.
const DOCUMENT_WEIGHT: f64 = 0.3;
/// Number of chunks of each ranking that are compared for their agreement.
const AGREEMENT_DEPTH: usize = 10;
/// Precision of sums of scores: steps per unit.
const SUM_PRECISION: f64 = 1e6;

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
        let (scores, tags) = (self.scores(query), self.tag_matches(query.text));
        let prepared = PreparedQuery { partition: self, accepted, scores, tags, vector, candidates };
        let ranked = match (query.mode, &prepared.vector) {
            (Mode::Sparse, _) | (Mode::Hybrid, None) => prepared.sparse(depth),
            (Mode::Dense, _) => prepared.dense(depth),
            (Mode::Hybrid, Some(_)) => prepared.hybrid(query.calibration.weight, depth),
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
        let terms = || terms.iter().map(String::as_str);
        let chunks = self.index.scores(terms(), Bm25Params::default());
        if self.groups.count() == self.len() {
            // Every document has one chunk.
            return chunks;
        }
        let documents = self.index.group_scores(terms(), &self.groups, Bm25Params::default());
        self.route(chunks, &documents)
    }

    /// Adds the scores of documents to those of their chunks that match the query: a page of a manual rarely repeats what
    /// the manual is about.
    fn route(&self, mut chunks: Scores, documents: &Scores) -> Scores {
        if chunks.bound == 0.0 || documents.bound == 0.0 {
            return chunks;
        }
        for (score, slot) in chunks.values.iter_mut().zip(0..).filter(|(score, _)| **score > 0.0) {
            let document = self.groups.of(slot).map_or(0.0, |group| documents.values[group]);
            *score = convex(*score / chunks.bound, document / documents.bound, DOCUMENT_WEIGHT);
        }
        chunks.bound = 1.0;
        chunks
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
    /// Chunks with the tags of the query, which are ranked first except in dense mode.
    tags: TagMatches,
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
        let slots = self.top_by_terms(depth).into_iter().map(|slot| self.ranked(slot));
        slots.map(|ranked| RankedChunk { score: self.tags.raise(ranked.slot, ranked.sparse), ..ranked }).collect()
    }

    fn dense(&self, depth: usize) -> Vec<RankedChunk> {
        let slots = self.top_by_vector(depth).into_iter();
        slots.map(|slot| self.ranked(slot)).map(|ranked| RankedChunk { score: ranked.dense, ..ranked }).collect()
    }

    fn top_by_terms(&self, depth: usize) -> Vec<u32> {
        let mut best = TopK::new(depth, |a, b| self.partition.tie_break(a, b));
        for (&score, slot) in self.scores.values.iter().zip(0..) {
            if score > 0.0 && self.accepts(slot) {
                best.offer(self.tags.raise(slot, score / self.scores.bound), slot);
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

    /// Combines both scores, each normalized to its best value for the query. The combined score is multiplied by the
    /// quality of the best match, so that it is low if no chunk matches the query. Chunks without any match are dropped.
    fn hybrid(&self, weight: f64, depth: usize) -> Vec<RankedChunk> {
        let by_terms = self.top_by_terms(depth.max(FUSION_DEPTH));
        let by_vector = self.top_by_vector(depth.max(FUSION_DEPTH));
        let weight = weight.clamp(0.0, 1.0) * self.agreement(&by_terms, &by_vector);
        if weight == 0.0 {
            return self.sparse(depth);
        }
        let mut slots = [by_terms, by_vector].concat();
        slots.sort_unstable();
        slots.dedup();
        let candidates: Vec<RankedChunk> = slots.into_iter().map(|slot| self.ranked(slot)).collect();
        let best = |score: fn(&RankedChunk) -> f64| candidates.iter().map(score).fold(0.0, f64::max);
        let sparse = Scale::new(0.0, best(|ranked| ranked.sparse));
        let dense = Scale::new(self.dense_floor(), best(|ranked| ranked.dense));
        let quality = best(|ranked| ranked.sparse).max(weight * best(|ranked| ranked.dense)).min(1.0);
        let mut top = TopK::new(depth, |a, b| self.partition.tie_break(a, b));
        for ranked in &candidates {
            let score = convex(sparse.normalize(ranked.sparse), dense.normalize(ranked.dense), weight);
            if score > 0.0 || self.tags.share(ranked.slot) > 0.0 {
                top.offer(self.tags.raise(ranked.slot, score * quality), ranked.slot);
            }
        }
        top.sorted().into_iter().map(|(score, slot)| RankedChunk { score, ..self.ranked(slot) }).collect()
    }

    /// Returns the share of its weight that the dense ranking deserves for this query; 1 if no chunk has a term of the
    /// query, because nothing contradicts the vectors then.
    fn agreement(&self, by_terms: &[u32], by_vector: &[u32]) -> f64 {
        if by_terms.is_empty() {
            return 1.0;
        }
        // A sum of integers, because it must not depend on the order of the chunks.
        let accepted = self.scores.values.iter().zip(0..).filter(|(_, slot)| self.accepts(*slot));
        let (sum, count) =
            accepted.fold((0u64, 0u32), |(sum, count), (score, _)| (sum + (score * SUM_PRECISION) as u64, count + 1));
        let all = sum as f64 / SUM_PRECISION / f64::from(count.max(1));
        let mean = |slots: &[u32]| {
            let compared = &slots[..slots.len().min(AGREEMENT_DEPTH)];
            let scores = compared.iter().filter_map(|slot| self.scores.values.get(*slot as usize));
            scores.sum::<f64>() / AGREEMENT_DEPTH as f64
        };
        Agreement { best: mean(by_terms), nearest: mean(by_vector), all }.weight()
    }

    /// Returns the cosine that counts as no similarity: the mean of all chunks, which is 0.7 for some models.
    fn dense_floor(&self) -> f64 {
        self.vector.as_ref().map_or(0.0, |vector| self.partition.vectors.mean_similarity(vector).max(0.0))
    }

    fn ranked(&self, slot: u32) -> RankedChunk {
        let sparse = self.scores.values.get(slot as usize).map_or(0.0, |score| score / self.scores.bound);
        let sparse = if sparse.is_finite() { sparse } else { 0.0 };
        let dense = self.vector.as_ref().map_or(0.0, |vector| self.partition.vectors.similarity(slot, vector));
        RankedChunk { slot, score: 0.0, sparse, dense }
    }
}
