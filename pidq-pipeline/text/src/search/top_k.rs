//! Selection of the best k items without sorting all of them.

use std::cmp::Ordering;

/// Collector of the best items in a total order.
pub struct TopK<F> {
    limit: usize,
    /// At most twice the limit; pruned when full.
    items: Vec<(f64, u32)>,
    /// Minimum score of an item that can be among the best.
    threshold: f64,
    tie_break: F,
}

impl<F: Fn(u32, u32) -> Ordering> TopK<F> {
    /// Creates a collector of `limit` items; `tie_break` orders equal scores.
    pub fn new(limit: usize, tie_break: F) -> Self {
        let threshold = if limit == 0 { f64::INFINITY } else { f64::NEG_INFINITY };
        TopK { limit, items: Vec::new(), threshold, tie_break }
    }

    // Hot: runs once per chunk; nearly all calls end at the first comparison.
    pub fn offer(&mut self, score: f64, slot: u32) {
        if score >= self.threshold && self.limit > 0 {
            self.items.push((score, slot));
            if self.items.len() >= self.limit.saturating_mul(2) {
                self.prune();
            }
        }
    }

    fn prune(&mut self) {
        let tie_break = &self.tie_break;
        self.items.select_nth_unstable_by(self.limit - 1, |a, b| b.0.total_cmp(&a.0).then_with(|| tie_break(a.1, b.1)));
        self.items.truncate(self.limit);
        self.threshold = self.items[self.limit - 1].0;
    }

    /// Returns the items, best first.
    pub fn sorted(mut self) -> Vec<(f64, u32)> {
        let tie_break = &self.tie_break;
        self.items.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then_with(|| tie_break(a.1, b.1)));
        self.items.truncate(self.limit);
        self.items
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_best_items_are_those_of_a_full_sort(scores in prop::collection::vec(0..20u8, 0..200), limit in 0..40usize) {
            let mut best = TopK::new(limit, |a, b| b.cmp(&a));
            let mut all: Vec<(f64, u32)> = scores.iter().zip(0..).map(|(&score, slot)| (f64::from(score), slot)).collect();
            all.iter().for_each(|&(score, slot)| best.offer(score, slot));
            all.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
            all.truncate(limit);
            prop_assert_eq!(best.sorted(), all);
        }
    }
}
