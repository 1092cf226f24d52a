//! Pool of scratch memory for walks, kept with the document: a run borrows an entry and returns it at its end. The cost
//! of a walk therefore depends on what it visits, not on the size of the drawing.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::bidirectional::BidirectionalScratch;
use super::walk::WalkScratch;

/// Scratch memory for the walks of a run.
#[derive(Debug, Default)]
pub(crate) struct TraversalScratch {
    pub walk: WalkScratch,
    pub bidirectional: BidirectionalScratch,
}

/// Pool of unused scratch memory.
#[derive(Debug, Default)]
pub(crate) struct ScratchPool(Mutex<Vec<TraversalScratch>>);

impl ScratchPool {
    /// Limit of retained entries: one per concurrent run.
    const CAPACITY: usize = 4;

    pub fn acquire(&self) -> PooledScratch<'_> {
        PooledScratch { scratch: self.lock().pop().unwrap_or_default(), pool: self }
    }

    /// Memory in bytes.
    pub fn size(&self) -> usize {
        self.lock().iter().map(|scratch| scratch.walk.size() + scratch.bidirectional.size()).sum()
    }

    /// Locks the pool. A poisoned lock is ignored: no code that runs under the lock leaves the pool inconsistent.
    fn lock(&self) -> MutexGuard<'_, Vec<TraversalScratch>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Scratch memory that returns to its pool when dropped.
#[derive(Debug)]
pub(crate) struct PooledScratch<'s> {
    scratch: TraversalScratch,
    pool: &'s ScratchPool,
}

impl Deref for PooledScratch<'_> {
    type Target = TraversalScratch;

    fn deref(&self) -> &TraversalScratch {
        &self.scratch
    }
}

impl DerefMut for PooledScratch<'_> {
    fn deref_mut(&mut self) -> &mut TraversalScratch {
        &mut self.scratch
    }
}

impl Drop for PooledScratch<'_> {
    fn drop(&mut self) {
        let mut pool = self.pool.lock();
        if pool.len() < ScratchPool::CAPACITY {
            pool.push(std::mem::take(&mut self.scratch));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropped_scratch_returns_to_the_pool() {
        let pool = ScratchPool::default();
        pool.acquire().walk.reset(100);
        assert_eq!(pool.size(), 400);
        let (mut one, two) = (pool.acquire(), pool.acquire());
        assert_eq!((pool.size(), two.walk.size()), (0, 0));
        one.walk.reset(50);
        drop((one, two));
        assert_eq!(pool.size(), 400);
    }
}
