//! Permits of graphs that are parsed at the same time, which takes several times the memory of their JSON.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Size up to which a graph as JSON needs no permit.
const FREE_SIZE: usize = 1 << 20;
/// Size of the unit in which the sizes of graphs are counted.
const UNIT: usize = 1 << 10;

/// Permits of graphs as JSON, together at most as large as the largest graph. Numbers of one digit need 14 times their
/// size.
#[derive(Debug)]
pub struct GraphPermits {
    sizes: Arc<Semaphore>,
    units: u32,
}

impl GraphPermits {
    /// Creates the permits for graphs of a maximum size.
    pub fn new(max_graph_size: usize) -> GraphPermits {
        let units = units(max_graph_size).max(1);
        GraphPermits { sizes: Arc::new(Semaphore::new(units as usize)), units }
    }

    /// Waits until a graph of this size may be parsed; `None` if it needs no permit. The permit belongs to the work, which
    /// goes on if the request ends.
    pub async fn acquire(&self, size: usize) -> Option<OwnedSemaphorePermit> {
        if size <= FREE_SIZE {
            return None;
        }
        self.sizes.clone().acquire_many_owned(units(size).min(self.units)).await.ok()
    }
}

fn units(size: usize) -> u32 {
    u32::try_from(size.div_ceil(UNIT)).unwrap_or(u32::MAX).min(Semaphore::MAX_PERMITS as u32)
}

#[cfg(test)]
pub(super) mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    const MIB: usize = 1 << 20;

    /// Returns the output of a future that is ready at once.
    pub(in crate::memory) fn granted<T>(request: impl Future<Output = T>) -> Option<T> {
        match pin!(request).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(permit) => Some(permit),
            Poll::Pending => None,
        }
    }

    #[test]
    fn graphs_that_are_parsed_together_are_at_most_as_large_as_the_largest() {
        for (sizes, expected, cause) in [
            (vec![64 * MIB], vec![true], "the largest graph"),
            (vec![64 * MIB, MIB + 1], vec![true, false], "nothing is left"),
            (vec![64 * MIB, MIB, MIB, 0], vec![true; 4], "small graphs do not wait"),
            (vec![32 * MIB, 32 * MIB, 2 * MIB], vec![true, true, false], "two halves"),
            (vec![32 * MIB + 1, 32 * MIB], vec![true, false], "a byte too many"),
            (vec![100 * MIB, MIB], vec![true, true], "larger than allowed: alone"),
        ] {
            let permits = GraphPermits::new(64 * MIB);
            let mut held = Vec::new();
            let is_granted = |size| granted(permits.acquire(size)).map(|permit| held.push(permit)).is_some();
            assert_eq!(sizes.into_iter().map(is_granted).collect::<Vec<_>>(), expected, "{cause}");
            drop(held);
            assert!(granted(permits.acquire(64 * MIB)).is_some(), "{cause}: all permits are released");
        }
    }

    #[test]
    fn any_maximum_size_gives_permits() {
        for max_size in [0, 1, UNIT, MIB, usize::MAX] {
            let permits = GraphPermits::new(max_size);
            assert!(granted(permits.acquire(2 * MIB)).is_some(), "{max_size}");
        }
    }
}
