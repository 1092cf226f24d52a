//! Several rankings made one.
//!
//! G. Cormack, C. Clarke, S. Büttcher: Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning
//! Methods, SIGIR 2009.

use std::collections::HashMap;
use std::hash::Hash;

/// The constant of the paper.
pub const K: f64 = 60.0;

/// Adds `weight / (k + rank)` of each ranking; one that does not name a thing adds nothing. The best come first, and of
/// equals the lesser.
pub fn reciprocal_ranks<T: Copy + Eq + Hash + Ord>(rankings: &[(f64, &[T])], k: f64) -> Vec<(T, f64)> {
    let mut scores: HashMap<T, f64> = HashMap::new();
    for (weight, ranking) in rankings {
        for (at, thing) in ranking.iter().enumerate() {
            *scores.entry(*thing).or_default() += weight / (k + (at + 1) as f64);
        }
    }
    let mut fused: Vec<_> = scores.into_iter().collect();
    fused.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    fused
}
