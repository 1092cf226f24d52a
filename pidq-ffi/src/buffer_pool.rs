//! Buffer pool: reuses memory of earlier results, because the first write to new memory takes several times as long as
//! later ones.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Pool of reusable buffers.
pub struct BufferPool<T>(Mutex<Vec<Vec<T>>>);

/// Booleans of columns, and bitmaps of them.
pub static BOOLS: BufferPool<bool> = BufferPool::new();
/// Strings of columns.
pub static BYTES: BufferPool<u8> = BufferPool::new();
/// Offsets of strings.
pub static OFFSETS: BufferPool<i32> = BufferPool::new();
/// Integers.
pub static INTEGERS: BufferPool<i64> = BufferPool::new();
/// Numbers.
pub static REALS: BufferPool<f64> = BufferPool::new();

/// Maximum number of buffers in a pool.
const MAX_BUFFERS: usize = 16;

/// Maximum size of all buffers of a pool.
const MAX_TOTAL_BYTES: usize = 32 << 20;

/// Minimum size of a kept buffer; smaller ones are allocated as fast.
const MIN_BUFFER_BYTES: usize = 64 << 10;

impl<T> BufferPool<T> {
    /// Creates an empty pool.
    pub const fn new() -> BufferPool<T> {
        BufferPool(Mutex::new(Vec::new()))
    }

    fn buffers(&self) -> MutexGuard<'_, Vec<Vec<T>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a buffer for `capacity` items: from the pool if one is neither too small nor much too large, with its
    /// old content.
    pub fn acquire(&self, capacity: usize) -> Vec<T> {
        if capacity * size_of::<T>() >= MIN_BUFFER_BYTES {
            let mut buffers = self.buffers();
            let fits = |buffer: &Vec<T>| (capacity..=4 * capacity).contains(&buffer.capacity());
            if let Some(at) = buffers.iter().position(fits) {
                return buffers.remove(at);
            }
        }
        Vec::with_capacity(capacity)
    }

    /// Returns a buffer to the pool. If the pool is full, the oldest buffers are freed.
    pub fn recycle(&self, buffer: Vec<T>) {
        let size = |buffer: &Vec<T>| buffer.capacity() * size_of::<T>();
        if !(MIN_BUFFER_BYTES..=MAX_TOTAL_BYTES).contains(&size(&buffer)) {
            return;
        }
        let mut buffers = self.buffers();
        buffers.push(buffer);
        while buffers.len() > MAX_BUFFERS || buffers.iter().map(size).sum::<usize>() > MAX_TOTAL_BYTES {
            drop(buffers.remove(0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recycled_buffers_are_reused_within_limits() {
        let reusable: BufferPool<u64> = BufferPool::new();
        reusable.recycle(Vec::with_capacity(100_000));
        assert_eq!(reusable.acquire(500_000).capacity(), 500_000);
        assert_eq!(reusable.acquire(5).capacity(), 5);
        assert_eq!(reusable.acquire(50_000).capacity(), 100_000);
        (0..40).for_each(|_| reusable.recycle(Vec::with_capacity(10_000)));
        reusable.recycle(Vec::with_capacity(MAX_TOTAL_BYTES));
        assert_eq!(reusable.buffers().len(), MAX_BUFFERS);
    }
}
