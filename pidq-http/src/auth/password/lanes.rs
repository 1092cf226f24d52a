//! Who waits for a thread that hashes: two lanes, and the better one goes first.
//!
//! Each lane has room of its own, so that a flood in one neither fills the other nor makes it wait.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::auth::throttle::Acquaintance;

/// Jobs that wait, of those who are known and of strangers.
pub(super) struct Lanes<J> {
    state: Mutex<State<J>>,
    more: Condvar,
    room: usize,
}

struct State<J> {
    known: VecDeque<J>,
    strangers: VecDeque<J>,
    /// Threads that do nothing, or will do nothing as soon as they have started.
    idle: usize,
    is_closed: bool,
}

impl<J> Lanes<J> {
    /// For so many threads; and so many jobs may wait in each lane.
    pub fn new(threads: usize, room: usize) -> Lanes<J> {
        let (known, strangers) = (VecDeque::new(), VecDeque::new());
        let state = State { known, strangers, idle: threads, is_closed: false };
        Lanes { state: Mutex::new(state), more: Condvar::new(), room }
    }

    /// Puts a job into its lane; gives it back if the lane is full.
    pub fn push(&self, who: Acquaintance, job: J) -> Result<(), J> {
        let mut state = self.state();
        let room = self.room + state.idle;
        let lane = state.lane(who);
        if lane.len() >= room {
            return Err(job);
        }
        lane.push_back(job);
        self.more.notify_one();
        Ok(())
    }

    /// Does one job after the other, until there will be no more. What a job gives back tells that it is done: whoever
    /// hears that may come with the next one at once, and finds the thread idle.
    pub fn serve<T: FnOnce()>(&self, mut run: impl FnMut(J) -> T) {
        while let Some(job) = self.next() {
            let tell = run(job);
            self.state().idle += 1;
            tell();
        }
    }

    /// No job comes any more. Those that wait are forgotten.
    pub fn close(&self) {
        self.state().is_closed = true;
        self.more.notify_all();
    }

    fn next(&self) -> Option<J> {
        let mut state = self.state();
        while !state.is_closed {
            if let Some(job) = state.take() {
                state.idle -= 1;
                return Some(job);
            }
            state = self.more.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        None
    }

    fn state(&self) -> MutexGuard<'_, State<J>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<J> State<J> {
    fn lane(&mut self, who: Acquaintance) -> &mut VecDeque<J> {
        match who {
            Acquaintance::Known => &mut self.known,
            Acquaintance::Stranger => &mut self.strangers,
        }
    }

    fn take(&mut self) -> Option<J> {
        self.known.pop_front().or_else(|| self.strangers.pop_front())
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn who_is_known_goes_first_and_has_room_when_strangers_have_none() {
        let lanes = Lanes::new(0, 2);
        let pushed = |who, job| lanes.push(who, job).is_ok();
        assert!(pushed(Acquaintance::Stranger, 1) && pushed(Acquaintance::Stranger, 2));
        assert!(!pushed(Acquaintance::Stranger, 3));
        assert!(pushed(Acquaintance::Known, 4) && pushed(Acquaintance::Known, 5));
        assert!(!pushed(Acquaintance::Known, 6));
        let mut state = lanes.state();
        assert_eq!(
            [state.take(), state.take(), state.take(), state.take(), state.take()],
            [Some(4), Some(5), Some(1), Some(2), None]
        );
    }

    #[test]
    fn a_thread_that_is_idle_is_room_for_one_more() {
        let lanes = Lanes::new(1, 0);
        assert!(lanes.push(Acquaintance::Stranger, 1).is_ok());
        assert!(lanes.push(Acquaintance::Stranger, 2).is_err());
    }

    #[test]
    fn who_hears_that_a_job_is_done_finds_an_idle_thread() {
        let lanes = Lanes::new(1, 0);
        let come = |job: i32| lanes.push(Acquaintance::Known, job).is_ok();
        let came = Cell::new(0);
        assert!(come(1));
        lanes.serve(|job| {
            let (come, came, lanes) = (&come, &came, &lanes);
            move || match job < 4 && come(job + 1) {
                true => came.set(came.get() + 1),
                false => lanes.close(),
            }
        });
        assert_eq!(came.get(), 3);
    }
}
