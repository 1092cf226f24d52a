//! Queue for permits that callers share: free permits go to the waiting callers in turn, whatever number of requests each has.
//!
//! A caller may hold at most as many permits as remain free, as in [`SharedBudget`]. The turns are those of fair queuing
//! (J. Nagle: On Packet Switches With Infinite Storage, RFC 970).

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;

use crate::shared_budget::{BudgetPermit, SharedBudget};

/// Queue of the requests that wait for one of a number of permits.
pub struct FairQueue(Arc<Queue>);

struct Queue {
    permits: SharedBudget,
    waiting: Mutex<VecDeque<WaitingCaller>>,
}

/// Caller with its waiting requests, oldest first. Callers are in the order of their turns.
struct WaitingCaller {
    caller: String,
    requests: VecDeque<oneshot::Sender<QueuePermit>>,
}

/// Permit of a caller. On drop, it goes to the next request.
pub struct QueuePermit {
    permit: Option<BudgetPermit>,
    queue: Arc<Queue>,
}

impl FairQueue {
    /// Creates a queue with a number of permits.
    pub fn new(permits: usize) -> FairQueue {
        let permits = SharedBudget::new(permits as u64);
        FairQueue(Arc::new(Queue { permits, waiting: Mutex::default() }))
    }

    /// Waits for a permit; none if the caller gets none within the timeout.
    pub async fn acquire(&self, caller: &str, timeout: Duration) -> Option<QueuePermit> {
        let (sender, receiver) = oneshot::channel();
        self.0.enqueue(caller, sender);
        self.0.grant();
        tokio::time::timeout(timeout, receiver).await.ok()?.ok()
    }
}

impl Queue {
    fn enqueue(&self, caller: &str, request: oneshot::Sender<QueuePermit>) {
        let mut waiting = self.lock();
        match waiting.iter_mut().find(|entry| entry.caller == caller) {
            Some(entry) => entry.requests.push_back(request),
            None => waiting.push_back(WaitingCaller { caller: caller.to_owned(), requests: [request].into() }),
        }
    }

    /// Grants the free permits.
    fn grant(self: &Arc<Self>) {
        while let Some((request, permit)) = self.next() {
            // A permit that a cancelled request does not take is dropped here, after the lock, and goes to the next one.
            let _ = request.send(QueuePermit { permit: Some(permit), queue: self.clone() });
        }
    }

    /// Removes the next request whose caller may have a permit. The turn of this caller comes again after that of the others.
    fn next(&self) -> Option<(oneshot::Sender<QueuePermit>, BudgetPermit)> {
        let mut waiting = self.lock();
        for entry in waiting.iter_mut() {
            entry.requests.retain(|request| !request.is_closed());
        }
        waiting.retain(|entry| !entry.requests.is_empty());
        let found = waiting.iter().enumerate().find_map(|(turn, entry)| {
            let permit = self.permits.try_acquire(&entry.caller, 1)?;
            Some((turn, permit))
        });
        let (turn, permit) = found?;
        let mut entry = waiting.remove(turn)?;
        let request = entry.requests.pop_front()?;
        if !entry.requests.is_empty() {
            waiting.push_back(entry);
        }
        Some((request, permit))
    }

    /// Locks the waiting callers, ignoring poisoning: no change can be interrupted.
    fn lock(&self) -> MutexGuard<'_, VecDeque<WaitingCaller>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for QueuePermit {
    fn drop(&mut self) {
        drop(self.permit.take());
        self.queue.grant();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    const LONG: Duration = Duration::from_secs(60);
    const SHORT: Duration = Duration::from_millis(20);

    #[tokio::test]
    async fn a_caller_holds_at_most_as_many_as_remain_free() {
        for (permits, expected) in [(0, [0, 0, 0]), (1, [1, 0, 0]), (2, [1, 1, 0]), (4, [2, 1, 1])] {
            let queue = FairQueue::new(permits);
            let mut held = Vec::new();
            for (caller, expected) in ["ann", "bob", "eve"].into_iter().zip(expected) {
                let before = held.len();
                while let Some(permit) = queue.acquire(caller, SHORT).await {
                    held.push(permit);
                }
                assert_eq!(held.len() - before, expected, "{caller} of {permits}");
            }
            drop(held);
            assert_eq!(queue.0.permits.available(), permits as u64, "everything is released");
        }
    }

    /// Starts a request that records its caller when it gets a permit, which it releases at once.
    fn request(queue: &Arc<FairQueue>, caller: &'static str, order: &Arc<Mutex<Vec<&'static str>>>) {
        let (queue, order) = (queue.clone(), order.clone());
        tokio::spawn(async move {
            let permit = queue.acquire(caller, LONG).await;
            order.lock().expect("not poisoned").push(caller);
            drop(permit);
        });
    }

    #[tokio::test]
    async fn waiting_callers_get_permits_in_turn() {
        for permits in [1, 2] {
            let (queue, order) = (Arc::new(FairQueue::new(permits)), Arc::default());
            let mut held = Vec::new();
            for caller in ["kim", "lee"].into_iter().take(permits) {
                held.push(queue.acquire(caller, LONG).await.expect("free"));
            }
            for caller in ["ann", "ann", "ann", "ann", "bob", "bob", "eve"] {
                request(&queue, caller, &order);
            }
            tokio::time::sleep(SHORT).await;
            assert!(order.lock().expect("not poisoned").is_empty());
            // One permit is released: the requests run one after another.
            held.pop();
            tokio::time::sleep(SHORT).await;
            let expected = ["ann", "bob", "eve", "ann", "bob", "ann", "ann"];
            assert_eq!(*order.lock().expect("not poisoned"), expected, "of {permits}");
        }
    }

    #[tokio::test]
    async fn a_cancelled_request_takes_no_permit_and_is_forgotten() {
        let queue = FairQueue::new(1);
        let held = queue.acquire("ann", LONG).await.expect("free");
        for caller in ["ann", "bob", "eve"] {
            assert!(queue.acquire(caller, SHORT).await.is_none());
        }
        drop(held);
        assert_eq!(queue.0.permits.available(), 1);
        assert!(queue.0.lock().is_empty());
        assert!(queue.acquire("bob", Duration::ZERO).await.is_some(), "a free permit is granted without waiting");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn under_load_no_permit_is_lost_and_none_is_granted_twice() {
        let (queue, running) = (Arc::new(FairQueue::new(3)), Arc::new(AtomicUsize::new(0)));
        let requests: Vec<_> = (0..2000)
            .map(|number| {
                let (queue, running) = (queue.clone(), running.clone());
                tokio::spawn(async move {
                    let caller = ["ann", "bob", "eve", "kim"][number % 4];
                    let timeout = if number % 3 == 0 { Duration::from_micros(number as u64) } else { LONG };
                    let Some(_permit) = queue.acquire(caller, timeout).await else { return number % 3 == 0 };
                    assert!(running.fetch_add(1, Ordering::SeqCst) < 3);
                    tokio::task::yield_now().await;
                    running.fetch_sub(1, Ordering::SeqCst);
                    true
                })
            })
            .collect();
        for request in requests {
            assert!(request.await.expect("no panic"), "a request without a short timeout gets a permit");
        }
        assert_eq!(queue.0.permits.available(), 3);
    }
}
