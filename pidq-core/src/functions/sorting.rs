//! Interruptible sorts: long arrays and long keys are sorted in chunks, with checks of the limits between.

use std::cmp::Ordering;

use crate::error::Result;
use crate::limits::Limits;

/// Returns the number of items sorted between two checks, for the bytes read per comparison: a few milliseconds.
fn chunk_len(comparison_bytes: usize) -> usize {
    const WORK_PER_CHUNK: usize = 1 << 18;
    const MAX_CHUNK: usize = 1 << 17;
    (WORK_PER_CHUNK / (1 + comparison_bytes / 64)).clamp(2, MAX_CHUNK)
}

/// Returns true if items are sorted in chunks, which doubles the memory.
pub(super) fn needs_chunks(len: usize, comparison_bytes: usize) -> bool {
    len > chunk_len(comparison_bytes)
}

/// Stable merge sort that checks the limits between chunks.
pub(super) struct ChunkedSort<'l, F> {
    chunk: usize,
    limits: Limits<'l>,
    order: F,
}

impl<'l, F> ChunkedSort<'l, F> {
    /// Creates a sort whose comparisons read at most `comparison_bytes` bytes.
    pub fn new<T>(limits: &Limits<'l>, comparison_bytes: usize, order: F) -> ChunkedSort<'l, F>
    where
        F: Fn(&T, &T) -> Ordering,
    {
        ChunkedSort { chunk: chunk_len(comparison_bytes), limits: *limits, order }
    }

    /// Sorts items; equal items keep their order.
    pub fn sort<T: Copy>(&self, items: &mut Vec<T>) -> Result<()>
    where
        F: Fn(&T, &T) -> Ordering,
    {
        for chunk in items.chunks_mut(self.chunk) {
            chunk.sort_by(&self.order);
            self.limits.check()?;
        }
        let mut width = self.chunk;
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
            if merged.len().is_multiple_of(self.chunk) {
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

    /// Keeps the first `count` items, sorted. No two items may be equal.
    pub fn keep_first<T: Copy>(&self, items: &mut Vec<T>, count: usize) -> Result<()>
    where
        F: Fn(&T, &T) -> Ordering,
    {
        if count > self.chunk {
            self.sort(items)?;
            items.truncate(count);
            return Ok(());
        }
        let mut best: Vec<T> = Vec::with_capacity(self.chunk + count);
        for chunk in items.chunks(self.chunk) {
            best.extend_from_slice(chunk);
            if count < best.len() {
                best.select_nth_unstable_by(count, &self.order);
                best.truncate(count);
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
    fn chunks_are_merged_in_order() {
        for len in [0, 1, 2, 3, 7, 100, 1001] {
            for comparison_bytes in [0, 1 << 20, 1 << 30] {
                let sort = ChunkedSort::new(&Limits::default(), comparison_bytes, |a: &(u64, u64), b: &(u64, u64)| {
                    a.0.cmp(&b.0)
                });
                let (mut sorted, mut expected) = (items(len), items(len));
                sort.sort(&mut sorted).expect("not cancelled");
                expected.sort_by_key(|item| item.0);
                assert_eq!(sorted, expected, "{len} items, {comparison_bytes} bytes");
            }
        }
    }

    #[test]
    fn keep_first_returns_the_start_of_a_full_sort() {
        for count in [0, 1, 2, 3, 50, 1000, 2000] {
            for comparison_bytes in [0, 1 << 20, 1 << 30] {
                let sort =
                    ChunkedSort::new(&Limits::default(), comparison_bytes, |a: &(u64, u64), b: &(u64, u64)| a.cmp(b));
                let (mut first, mut expected) = (items(1001), items(1001));
                sort.keep_first(&mut first, count).expect("not cancelled");
                expected.sort_unstable();
                expected.truncate(count);
                assert_eq!(first, expected, "the first {count}, {comparison_bytes} bytes");
            }
        }
    }

    #[test]
    fn cancellation_stops_a_sort() {
        let cancel = Cancel::default();
        cancel.cancel();
        let limits = Limits { cancel: Some(&cancel), ..Limits::default() };
        let sort = ChunkedSort::new(&limits, 1 << 20, |a: &(u64, u64), b: &(u64, u64)| a.cmp(b));
        assert!(needs_chunks(1001, 1 << 20));
        assert!(sort.sort(&mut items(1001)).is_err());
        assert!(sort.keep_first(&mut items(1001), 5).is_err());
    }
}
