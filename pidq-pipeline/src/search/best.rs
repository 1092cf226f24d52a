//! The best of many, without sorting all of them.

use std::cmp::Ordering;

/// Keeps the best that it is given, in an order that decides between any two.
pub struct Best<F> {
    most: usize,
    /// At most twice as many as wanted; cut back when full.
    kept: Vec<(f64, u32)>,
    /// What a score must reach to matter.
    least: f64,
    tie: F,
}

impl<F: Fn(u32, u32) -> Ordering> Best<F> {
    /// Keeps `most`; of equal scores the one that `tie` puts first.
    pub fn new(most: usize, tie: F) -> Self {
        let least = if most == 0 { f64::INFINITY } else { f64::NEG_INFINITY };
        Best { most, kept: Vec::new(), least, tie }
    }

    // Hot: runs once per chunk; nearly all end at the first compare.
    pub fn offer(&mut self, score: f64, slot: u32) {
        if score >= self.least && self.most > 0 {
            self.kept.push((score, slot));
            if self.kept.len() >= self.most.saturating_mul(2) {
                self.cut();
            }
        }
    }

    fn cut(&mut self) {
        let tie = &self.tie;
        self.kept.select_nth_unstable_by(self.most - 1, |a, b| b.0.total_cmp(&a.0).then_with(|| tie(a.1, b.1)));
        self.kept.truncate(self.most);
        self.least = self.kept[self.most - 1].0;
    }

    /// The best first.
    pub fn sorted(mut self) -> Vec<(f64, u32)> {
        let tie = &self.tie;
        self.kept.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then_with(|| tie(a.1, b.1)));
        self.kept.truncate(self.most);
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_best_are_those_of_a_sort(scores in prop::collection::vec(0..20u8, 0..200), most in 0..40usize) {
            let mut best = Best::new(most, |a, b| b.cmp(&a));
            let mut all: Vec<(f64, u32)> = scores.iter().zip(0..).map(|(&score, slot)| (f64::from(score), slot)).collect();
            all.iter().for_each(|&(score, slot)| best.offer(score, slot));
            all.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
            all.truncate(most);
            prop_assert_eq!(best.sorted(), all);
        }
    }
}
