//! Fusion of two rankings: by normalized scores, or by reciprocal ranks.
//!
//! G. Cormack, C. Clarke, S. Büttcher: Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning
//! Methods, SIGIR 2009. S. Bruch, S. Gai, A. Ingber: An Analysis of Fusion Functions for Hybrid Retrieval, TOIS 2023.

use std::collections::HashMap;
use std::hash::Hash;

/// The constant of the paper.
pub const K: f64 = 60.0;

/// Sums `weight / (k + rank)` over the rankings that contain an item. Returns the items by descending score, and equal
/// scores by ascending item.
pub fn reciprocal_ranks<T: Copy + Eq + Hash + Ord>(rankings: &[(f64, &[T])], k: f64) -> Vec<(T, f64)> {
    let mut scores: HashMap<T, f64> = HashMap::new();
    for (weight, ranking) in rankings {
        for (index, item) in ranking.iter().enumerate() {
            *scores.entry(*item).or_default() += weight / (k + (index + 1) as f64);
        }
    }
    let mut fused: Vec<_> = scores.into_iter().collect();
    fused.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    fused
}

/// A linear scale that maps scores to the range from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    min: f64,
    max: f64,
}

impl Scale {
    /// Creates the scale that maps `min` to 0 and `max` to 1.
    pub fn new(min: f64, max: f64) -> Self {
        Scale { min, max }
    }

    /// Returns the normalized score. Scores beyond the ends are mapped to the ends; without a range, the maximum is 1.
    pub fn normalize(self, score: f64) -> f64 {
        if self.max > self.min {
            ((score - self.min) / (self.max - self.min)).clamp(0.0, 1.0)
        } else {
            f64::from(u8::from(score >= self.max && score > 0.0))
        }
    }
}

/// Returns the convex combination of a sparse and a dense score; `weight` is that of the dense score, from 0 to 1.
pub fn convex(sparse: f64, dense: f64, weight: f64) -> f64 {
    (1.0 - weight) * sparse + weight * dense
}

/// Sparse scores of one query that tell whether its dense ranking agrees with its sparse ranking.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Agreement {
    /// Mean sparse score of the chunks that are best by the sparse ranking.
    pub best: f64,
    /// Mean sparse score of the chunks that are best by the dense ranking.
    pub nearest: f64,
    /// Mean sparse score of all chunks: that of the nearest ones, if the vectors were random.
    pub all: f64,
}

/// Agreement at and below which the dense ranking has no influence, and at and above which it has its full weight.
const AGREEMENT_RANGE: (f64, f64) = (0.4, 0.8);

impl Agreement {
    /// Returns the share of a model's weight that the dense ranking deserves: 0 for vectors unrelated to the terms of the
    /// query, 1 if the nearest chunks contain nearly as much of the query as the best ones by terms.
    pub fn weight(self) -> f64 {
        let ratio = Scale::new(self.all, self.best).normalize(self.nearest);
        Scale::new(AGREEMENT_RANGE.0, AGREEMENT_RANGE.1).normalize(ratio)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_without_a_range_maps_its_maximum_to_one_and_zero_to_zero() {
        assert_eq!([0.4, 0.5].map(|score| Scale::new(0.5, 0.5).normalize(score)), [0.0, 1.0]);
        assert_eq!(Scale::new(0.0, 0.0).normalize(0.0), 0.0);
    }

    #[test]
    fn a_scale_maps_scores_beyond_its_ends_to_the_ends() {
        assert_eq!(
            [-1.0, 1.0, 2.0, 3.0, 9.0].map(|score| Scale::new(1.0, 3.0).normalize(score)),
            [0.0, 0.0, 0.5, 1.0, 1.0]
        );
    }

    #[test]
    fn a_dense_ranking_that_is_no_better_than_chance_has_no_weight() {
        let agreement = |nearest| Agreement { best: 10.0, nearest, all: 2.0 }.weight();
        assert_eq!([0.0, 2.0, 5.0].map(agreement), [0.0; 3]);
        assert!((agreement(6.0) - 0.25).abs() < 1e-9);
        assert_eq!([9.0, 10.0].map(agreement), [1.0; 2]);
    }
}
