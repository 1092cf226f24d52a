//! Queue of password hashes with two priorities, by network trust.
//!
//! Each priority has its own capacity, so that a flood of one neither fills nor delays the other.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::auth::login_throttle::NetworkTrust;

/// Queued jobs by priority.
pub(super) struct PriorityQueue<J> {
    state: Mutex<State<J>>,
    job_available: Condvar,
    capacity: usize,
}

struct State<J> {
    known: VecDeque<J>,
    unknown: VecDeque<J>,
    /// Idle workers, including those that are starting.
    idle_workers: usize,
    is_closed: bool,
}

impl<J> PriorityQueue<J> {
    /// Creates a queue for this number of workers, with this capacity per priority.
    pub fn new(threads: usize, capacity: usize) -> PriorityQueue<J> {
        let (known, unknown) = (VecDeque::new(), VecDeque::new());
        let state = State { known, unknown, idle_workers: threads, is_closed: false };
        PriorityQueue { state: Mutex::new(state), job_available: Condvar::new(), capacity }
    }

    /// Queues a job; returns it if the queue is full.
    pub fn push(&self, trust: NetworkTrust, job: J) -> Result<(), J> {
        let mut state = self.state();
        let capacity = self.capacity + state.idle_workers;
        let queue = state.queue(trust);
        if queue.len() >= capacity {
            return Err(job);
        }
        queue.push_back(job);
        self.job_available.notify_one();
        Ok(())
    }

    /// Runs jobs until the queue is closed. A job returns a function that sends its result; it is called after the
    /// worker counts as idle, so that the receiver may queue the next job at once.
    pub fn serve<T: FnOnce()>(&self, mut run: impl FnMut(J) -> T) {
        while let Some(job) = self.next() {
            let send_result = run(job);
            self.state().idle_workers += 1;
            send_result();
        }
    }

    /// Closes the queue and discards queued jobs.
    pub fn close(&self) {
        self.state().is_closed = true;
        self.job_available.notify_all();
    }

    fn next(&self) -> Option<J> {
        let mut state = self.state();
        while !state.is_closed {
            if let Some(job) = state.pop() {
                state.idle_workers -= 1;
                return Some(job);
            }
            state = self.job_available.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        None
    }

    fn state(&self) -> MutexGuard<'_, State<J>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<J> State<J> {
    fn queue(&mut self, trust: NetworkTrust) -> &mut VecDeque<J> {
        match trust {
            NetworkTrust::Known => &mut self.known,
            NetworkTrust::Unknown => &mut self.unknown,
        }
    }

    fn pop(&mut self) -> Option<J> {
        self.known.pop_front().or_else(|| self.unknown.pop_front())
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn known_networks_have_priority_and_their_own_capacity() {
        let queue = PriorityQueue::new(0, 2);
        let pushed = |trust, job| queue.push(trust, job).is_ok();
        assert!(pushed(NetworkTrust::Unknown, 1) && pushed(NetworkTrust::Unknown, 2));
        assert!(!pushed(NetworkTrust::Unknown, 3));
        assert!(pushed(NetworkTrust::Known, 4) && pushed(NetworkTrust::Known, 5));
        assert!(!pushed(NetworkTrust::Known, 6));
        let mut state = queue.state();
        assert_eq!(
            [state.pop(), state.pop(), state.pop(), state.pop(), state.pop()],
            [Some(4), Some(5), Some(1), Some(2), None]
        );
    }

    #[test]
    fn an_idle_worker_extends_the_capacity() {
        let queue = PriorityQueue::new(1, 0);
        assert!(queue.push(NetworkTrust::Unknown, 1).is_ok());
        assert!(queue.push(NetworkTrust::Unknown, 2).is_err());
    }

    #[test]
    fn the_receiver_of_a_result_finds_an_idle_worker() {
        let queue = PriorityQueue::new(1, 0);
        let push = |job: i32| queue.push(NetworkTrust::Known, job).is_ok();
        let pushed_count = Cell::new(0);
        assert!(push(1));
        queue.serve(|job| {
            let (push, pushed_count, queue) = (&push, &pushed_count, &queue);
            move || match job < 4 && push(job + 1) {
                true => pushed_count.set(pushed_count.get() + 1),
                false => queue.close(),
            }
        });
        assert_eq!(pushed_count.get(), 3);
    }
}
