//! Reciprocal rank fusion.
//!
//! G. Cormack, C. Clarke, S. Büttcher: Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning
//! Methods, SIGIR 2009.

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
