//! The order of chunks by words, by vectors, and by both.

use super::best::Best;
use super::{Filter, Partition};
use crate::analyser;
use crate::embedding::normalize;
use crate::ranking::bm25::{Scores, Weights};
use crate::ranking::fusion::{K, reciprocal_ranks};

/// What a ranking goes by.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Mode {
    /// Words and vectors.
    Hybrid,
    /// Vectors.
    Dense,
    /// Words.
    Sparse,
}

/// The modes by their names.
pub const MODES: &[(&str, Mode)] = &[("hybrid", Mode::Hybrid), ("dense", Mode::Dense), ("sparse", Mode::Sparse)];

impl Mode {
    /// The mode of a name.
    pub fn find(name: &str) -> Option<Self> {
        MODES.iter().find(|(known, _)| *known == name).map(|(_, mode)| *mode)
    }
}

/// What is asked of a partition.
#[derive(Clone, Copy, Debug)]
pub struct Question<'q> {
    /// The words.
    pub text: &'q str,
    /// Their vector; without one only words are searched.
    pub vector: Option<&'q [f32]>,
    /// What the ranking goes by.
    pub mode: Mode,
    /// How much the ranking of the vectors counts in a hybrid where that of the words counts 1: the weight of the model.
    pub weight: f64,
    /// How many hits at most.
    pub top: usize,
    /// What a hit must score.
    pub min_score: f64,
    /// What the metadata of its document must be.
    pub filter: Option<&'q Filter>,
}

/// A chunk in a ranking. All scores are from 0 to 1, whatever the question, but for vectors that point away.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranked {
    pub(super) slot: u32,
    /// By the mode of the question; the ranking descends by it.
    pub score: f64,
    /// By words: how much of what the words of the question can say the chunk says. 0 if vectors alone were asked.
    pub sparse: f64,
    /// By vectors: their cosine.
    pub dense: f64,
}

/// Each ranking of a fusion goes so deep at least.
const DEPTH: usize = 100;

impl Partition {
    /// The best chunks for a question as they come, at most `depth`.
    pub fn rank(&self, question: &Question<'_>, depth: usize) -> Vec<Ranked> {
        self.rank_among(question, depth, None)
    }

    /// The same, where an index names the chunks whose vectors may be near: by document, and place there.
    pub fn rank_among(&self, question: &Question<'_>, depth: usize, near: Option<&[(String, u32)]>) -> Vec<Ranked> {
        let vector = self.vector(question);
        let near = near.map(|near| near.iter().filter_map(|(document, index)| self.slot(document, *index)).collect());
        let wanted = self.wanted(question.filter);
        let asked = Asked { partition: self, wanted, scores: self.scores(question), vector, near };
        let ranked = match (question.mode, &asked.vector) {
            (Mode::Sparse, _) | (Mode::Hybrid, None) => asked.sparse(depth),
            (Mode::Dense, _) => asked.dense(depth),
            (Mode::Hybrid, Some(_)) => asked.hybrid(question.weight, depth),
        };
        ranked.into_iter().filter(|ranked| ranked.score >= question.min_score).collect()
    }

    /// The vector of a question with length 1, if it has a direction and is asked for.
    fn vector(&self, question: &Question<'_>) -> Option<Vec<f32>> {
        let mut vector = question.vector.filter(|vector| vector.len() == self.dimensions())?.to_vec();
        normalize(&mut vector);
        vector.iter().any(|x| *x != 0.0).then_some(vector)
    }

    /// The scores of words; none where vectors alone decide.
    fn scores(&self, question: &Question<'_>) -> Scores {
        if question.mode == Mode::Dense {
            return Scores { of: Vec::new(), bound: 0.0 };
        }
        let terms = analyser::question_terms(question.text);
        self.postings.scores(terms.iter().map(String::as_str), Weights::default())
    }

    /// Which slots a filter lets through; none if it lets all through. It is asked once per document.
    fn wanted(&self, filter: Option<&Filter>) -> Option<Vec<bool>> {
        let filter = filter?;
        let mut wanted = vec![false; self.chunks.len()];
        for held in self.documents.values().filter(|held| filter.accepts(&held.metadata)) {
            wanted[held.slots.start as usize..held.slots.end as usize].fill(true);
        }
        Some(wanted)
    }

    /// The name of a ranked chunk: its document's id and its place there.
    pub fn ranked(&self, ranked: &Ranked) -> (&str, u32) {
        self.name(ranked.slot)
    }
}

/// A question with what was computed for it.
struct Asked<'p> {
    partition: &'p Partition,
    wanted: Option<Vec<bool>>,
    scores: Scores,
    vector: Option<Vec<f32>>,
    /// The only slots whose vectors are looked at; none if all are.
    near: Option<Vec<u32>>,
}

impl Asked<'_> {
    fn wants(&self, slot: u32) -> bool {
        match &self.wanted {
            Some(wanted) => wanted[slot as usize],
            None => self.partition.chunks[slot as usize].is_some(),
        }
    }

    fn sparse(&self, depth: usize) -> Vec<Ranked> {
        let slots = self.by_words(depth).into_iter();
        slots.map(|slot| self.ranked(slot)).map(|ranked| Ranked { score: ranked.sparse, ..ranked }).collect()
    }

    fn dense(&self, depth: usize) -> Vec<Ranked> {
        let slots = self.by_vector(depth).into_iter();
        slots.map(|slot| self.ranked(slot)).map(|ranked| Ranked { score: ranked.dense, ..ranked }).collect()
    }

    fn by_words(&self, depth: usize) -> Vec<u32> {
        let mut best = Best::new(depth, |a, b| self.partition.tie(a, b));
        for (&score, slot) in self.scores.of.iter().zip(0..) {
            if score > 0.0 && self.wants(slot) {
                best.offer(score, slot);
            }
        }
        best.sorted().into_iter().map(|(_, slot)| slot).collect()
    }

    fn by_vector(&self, depth: usize) -> Vec<u32> {
        let Some(vector) = &self.vector else { return Vec::new() };
        let tie = |a, b| self.partition.tie(a, b);
        if let Some(near) = &self.near {
            let mut best = Best::new(depth, tie);
            let wanted = near.iter().filter(|slot| self.wants(**slot));
            wanted.for_each(|slot| best.offer(self.partition.vectors.nearness(*slot, vector), *slot));
            return best.sorted().into_iter().map(|(_, slot)| slot).collect();
        }
        let nearest = self.partition.vectors.nearest(vector, depth, |slot| self.wants(slot), tie);
        nearest.into_iter().map(|(_, slot)| slot).collect()
    }

    /// Both rankings fused. The score is the share of the best place that a chunk could have, first in both, times how
    /// good the best match is: so it descends with the ranking, and is low if nothing fits the question.
    fn hybrid(&self, weight: f64, depth: usize) -> Vec<Ranked> {
        let named = |slot: u32| (self.partition.name(slot), slot);
        let words: Vec<_> = self.by_words(depth.max(DEPTH)).into_iter().map(named).collect();
        let vectors: Vec<_> = self.by_vector(depth.max(DEPTH)).into_iter().map(named).collect();
        let mut fused = reciprocal_ranks(&[(1.0, &words), (weight, &vectors)], K);
        fused.truncate(depth);
        let best_place = (1.0 + weight) / (K + 1.0);
        let mut ranked: Vec<Ranked> =
            fused.iter().map(|((_, slot), score)| Ranked { score: score / best_place, ..self.ranked(*slot) }).collect();
        let best =
            ranked.iter().map(|ranked| (ranked.sparse + weight * ranked.dense) / (1.0 + weight)).fold(0.0, f64::max);
        ranked.iter_mut().for_each(|ranked| ranked.score *= best.min(1.0));
        ranked
    }

    fn ranked(&self, slot: u32) -> Ranked {
        let sparse = self.scores.of.get(slot as usize).map_or(0.0, |score| score / self.scores.bound);
        let sparse = if sparse.is_finite() { sparse } else { 0.0 };
        let dense = self.vector.as_ref().map_or(0.0, |vector| self.partition.vectors.nearness(slot, vector));
        Ranked { slot, score: 0.0, sparse, dense }
    }
}
