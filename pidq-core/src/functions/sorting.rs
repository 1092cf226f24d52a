//! Interruptible sorts: long arrays and long keys are sorted in chunks, with checks of the limits between.

use std::cmp::Ordering;

use crate::error::Result;
use crate::limits::Limits;

/// Returns the number of items sorted without a check, for comparisons of some bytes: a few milliseconds.
fn chunk_len(comparison_bytes: usize) -> usize {
    const WORK_PER_CHUNK: usize = 1 << 18;
    const MAX_CHUNK: usize = 1 << 17;
    (WORK_PER_CHUNK / (1 + comparison_bytes / 64)).clamp(2, MAX_CHUNK)
}

/// Returns whether items are sorted in chunks, which needs as much memory again.
pub(super) fn needs_chunks(len: usize, comparison_bytes: usize) -> bool {
    len > chunk_len(comparison_bytes)
}

/// A sort in chunks, with its order.
pub(super) struct ChunkedSort<'l, F> {
    part: usize,
    limits: Limits<'l>,
    order: F,
}

impl<'l, F> ChunkedSort<'l, F> {
    /// Creates a sort whose comparisons read at most `comparison_bytes` bytes.
    pub fn new<T>(limits: &Limits<'l>, comparison_bytes: usize, order: F) -> ChunkedSort<'l, F>
    where
        F: Fn(&T, &T) -> Ordering,
    {
        ChunkedSort { part: chunk_len(comparison_bytes), limits: *limits, order }
    }

    /// Sorts stably.
    pub fn sort<T: Copy>(&self, items: &mut Vec<T>) -> Result<()>
    where
        F: Fn(&T, &T) -> Ordering,
    {
        for part in items.chunks_mut(self.part) {
            part.sort_by(&self.order);
            self.limits.check()?;
        }
        let mut width = self.part;
        while width < items.len() {
            let mut merged = Vec::with_capacity(items.len());
            for pair in items.chunks(2 * width) {
                let (left, right) = pair.split_at(width.min(pair.len()));
                self.merge(left, right, &mut merged)?;
            }
            *items = merged;
            width *= 2;
        }
        Ok(())
    }

    fn merge<'t, T: Copy>(&self, mut left: &'t [T], mut right: &'t [T], merged: &mut Vec<T>) -> Result<()>
    where
        F: Fn(&T, &T) -> Ordering,
    {
        while let (Some(first), Some(second)) = (left.first(), right.first()) {
            if merged.len().is_multiple_of(self.part) {
                self.limits.check()?;
            }
            let takes_left = (self.order)(first, second).is_le();
            let from = if takes_left { &mut left } else { &mut right };
            merged.push(from[0]);
            *from = &from[1..];
        }
        merged.extend_from_slice(left);
        merged.extend_from_slice(right);
        Ok(())
    }

    /// Keeps the first items, sorted. No two may be equal.
    pub fn keep_first<T: Copy>(&self, items: &mut Vec<T>, wanted: usize) -> Result<()>
    where
        F: Fn(&T, &T) -> Ordering,
    {
        if wanted > self.part {
            self.sort(items)?;
            items.truncate(wanted);
            return Ok(());
        }
        let mut best: Vec<T> = Vec::with_capacity(self.part + wanted);
        for part in items.chunks(self.part) {
            best.extend_from_slice(part);
            if wanted < best.len() {
                best.select_nth_unstable_by(wanted, &self.order);
                best.truncate(wanted);
            }
            self.limits.check()?;
        }
        best.sort_unstable_by(&self.order);
        *items = best;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{ChunkedSort, needs_chunks};
    use crate::limits::{Cancel, Limits};

    /// Unordered numbers, each with its position.
    fn items(len: u64) -> Vec<(u64, u64)> {
        (0..len).map(|at| (at * 7919 % 101, at)).collect()
    }

    #[test]
    fn parts_are_merged_as_one_sort_would() {
        for len in [0, 1, 2, 3, 7, 100, 1001] {
            for comparison_bytes in [0, 1 << 20, 1 << 30] {
                let sorting =
                    ChunkedSort::new(&Limits::default(), comparison_bytes, |a: &(u64, u64), b: &(u64, u64)| {
                        a.0.cmp(&b.0)
                    });
                let (mut sorted, mut expected) = (items(len), items(len));
                sorting.sort(&mut sorted).expect("not cancelled");
                expected.sort_by_key(|item| item.0);
                assert_eq!(sorted, expected, "{len} items, {comparison_bytes} bytes");
            }
        }
    }

    #[test]
    fn the_first_ones_are_those_of_a_whole_sort() {
        for wanted in [0, 1, 2, 3, 50, 1000, 2000] {
            for comparison_bytes in [0, 1 << 20, 1 << 30] {
                let sorting =
                    ChunkedSort::new(&Limits::default(), comparison_bytes, |a: &(u64, u64), b: &(u64, u64)| a.cmp(b));
                let (mut first, mut expected) = (items(1001), items(1001));
                sorting.keep_first(&mut first, wanted).expect("not cancelled");
                expected.sort_unstable();
                expected.truncate(wanted);
                assert_eq!(first, expected, "{wanted} wanted, {comparison_bytes} bytes");
            }
        }
    }

    #[test]
    fn a_flag_ends_a_sort() {
        let cancel = Cancel::default();
        cancel.cancel();
        let limits = Limits { cancel: Some(&cancel), ..Limits::default() };
        let sorting = ChunkedSort::new(&limits, 1 << 20, |a: &(u64, u64), b: &(u64, u64)| a.cmp(b));
        assert!(needs_chunks(1001, 1 << 20));
        assert!(sorting.sort(&mut items(1001)).is_err());
        assert!(sorting.keep_first(&mut items(1001), 5).is_err());
    }
}
