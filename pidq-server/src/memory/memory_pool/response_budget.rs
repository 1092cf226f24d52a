//! Memory reservations of responses until they are sent, limited per caller.
//!
//! A run waits for memory that responses hold, but a finished response never waits, because it would hold its result
//! meanwhile. So the pool may be overdrawn by the response limit until runs have released as much.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::MemoryPool;
use crate::store::lock;

/// Maximum size in bytes of a response that is not counted; the request limit bounds their number.
const UNCOUNTED_SIZE: usize = 64 << 10;
/// Maximum time to wait for other responses to be sent.
const RESERVE_TIMEOUT: Duration = Duration::from_secs(10);

/// Memory held by responses: in total and per caller.
#[derive(Debug, Default)]
pub(super) struct ResponseBudget {
    total: usize,
    by_caller: HashMap<Arc<str>, usize>,
    shared: usize,
}

/// Owner of a reservation.
#[derive(Debug)]
enum ReservationOwner {
    Caller(Arc<str>),
    /// Shared by all callers, granted only while memory is plentiful.
    Shared,
}

/// Reserved memory, released on drop.
#[derive(Debug)]
pub(crate) struct ResponseReservation {
    bytes: usize,
    owner: ReservationOwner,
    memory: Arc<MemoryPool>,
}

/// Response body with its reservation.
struct ReservedBody {
    bytes: Vec<u8>,
    _reservation: ResponseReservation,
}

impl MemoryPool {
    /// Reserves memory for a response body until it is sent. Returns `None` if the limit is reached.
    pub(crate) fn reserve_body(self: &Arc<MemoryPool>, owner: &Arc<str>, mut body: Vec<u8>) -> Option<Bytes> {
        if body.len() <= UNCOUNTED_SIZE {
            return Some(body.into());
        }
        // Release the spare capacity left from writing.
        body.shrink_to_fit();
        Some(self.reserve(owner, body.len())?.attach(body))
    }

    /// Reserves memory for a response. Returns `None` if the limit is reached.
    pub(crate) fn reserve(self: &Arc<MemoryPool>, owner: &Arc<str>, bytes: usize) -> Option<ResponseReservation> {
        self.reserve_for(ReservationOwner::Caller(owner.clone()), bytes)
    }

    /// Reserves shared memory for a response that has a slower alternative with less memory. At most a quarter of the
    /// pool.
    pub(crate) fn reserve_shared(self: &Arc<MemoryPool>, bytes: usize) -> Option<ResponseReservation> {
        self.reserve_for(ReservationOwner::Shared, bytes)
    }

    fn reserve_for(self: &Arc<MemoryPool>, owner: ReservationOwner, bytes: usize) -> Option<ResponseReservation> {
        let bytes = counted_size(bytes);
        let is_granted = bytes == 0 || self.try_charge(&owner, bytes);
        is_granted.then(|| ResponseReservation { bytes, owner, memory: self.clone() })
    }

    /// Reserves memory like [`MemoryPool::reserve`], waiting up to a timeout for other responses to be sent.
    pub(crate) async fn reserve_within_timeout(
        self: &Arc<MemoryPool>,
        owner: &Arc<str>,
        bytes: usize,
    ) -> Option<ResponseReservation> {
        let wait = async {
            loop {
                // Registered before the attempt, so no release is missed.
                let released = self.released.notified();
                if let Some(reservation) = self.reserve(owner, bytes) {
                    return reservation;
                }
                released.await;
            }
        };
        tokio::time::timeout(RESERVE_TIMEOUT, wait).await.ok()
    }

    /// Charges an owner. Responses may hold half of the pool, those of one caller an eighth. The first response is
    /// always granted, whatever its size.
    fn try_charge(&self, owner: &ReservationOwner, bytes: usize) -> bool {
        let mut budget = lock(&self.response_budget);
        let fits = |taken: usize, limit: usize| taken == 0 || taken + bytes <= limit;
        let is_granted = match owner {
            ReservationOwner::Caller(owner) => {
                let own = budget.by_caller.get(owner).copied().unwrap_or(0);
                fits(budget.total, self.total / 2) && fits(own, self.total / 8)
            }
            ReservationOwner::Shared => fits(budget.shared, self.total / 4),
        };
        if is_granted {
            self.charge(&mut budget, owner, bytes);
        }
        is_granted
    }

    fn charge(&self, budget: &mut ResponseBudget, owner: &ReservationOwner, bytes: usize) {
        *budget.reserved_by(owner) += bytes;
        if let ReservationOwner::Caller(_) = owner {
            budget.total += bytes;
        }
        lock(&self.free).bytes -= bytes as isize;
    }

    fn release(&self, owner: &ReservationOwner, bytes: usize) {
        let mut budget = lock(&self.response_budget);
        let left = budget.reserved_by(owner);
        *left -= bytes;
        let is_last = *left == 0;
        if let ReservationOwner::Caller(owner) = owner {
            budget.total -= bytes;
            if is_last {
                budget.by_caller.remove(owner);
            }
        }
        drop(budget);
        self.release_run(bytes);
        self.released.notify_waiters();
    }
}

impl ResponseBudget {
    /// Returns the counter of an owner.
    fn reserved_by(&mut self, owner: &ReservationOwner) -> &mut usize {
        match owner {
            ReservationOwner::Caller(owner) => self.by_caller.entry(owner.clone()).or_default(),
            ReservationOwner::Shared => &mut self.shared,
        }
    }
}

impl ResponseReservation {
    /// Attaches the reservation to a body, released when the body is sent.
    pub(crate) fn attach(self, bytes: Vec<u8>) -> Bytes {
        Bytes::from_owner(ReservedBody { bytes, _reservation: self })
    }

    /// Replaces an estimated reservation by the actual size.
    pub(crate) fn resize(&mut self, bytes: usize) {
        let before = std::mem::replace(&mut self.bytes, counted_size(bytes));
        match self.bytes.checked_sub(before) {
            Some(more) => self.memory.charge(&mut lock(&self.memory.response_budget), &self.owner, more),
            None => self.memory.release(&self.owner, before - self.bytes),
        }
    }
}

fn counted_size(bytes: usize) -> usize {
    if bytes <= UNCOUNTED_SIZE { 0 } else { bytes }
}

impl AsRef<[u8]> for ReservedBody {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for ResponseReservation {
    fn drop(&mut self) {
        if self.bytes > 0 {
            self.memory.release(&self.owner, self.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    fn memory() -> Arc<MemoryPool> {
        Arc::new(MemoryPool::new(16 * MIB))
    }

    fn reserve_for_test(memory: &Arc<MemoryPool>, owner: &str, bytes: usize) -> Option<Bytes> {
        memory.reserve_body(&owner.into(), vec![b'x'; bytes])
    }

    #[test]
    fn a_caller_gets_an_eighth_and_all_callers_half() {
        let memory = memory();
        let ann: Vec<Bytes> = (0..3).filter_map(|_| reserve_for_test(&memory, "ann", MIB)).collect();
        assert_eq!(ann.len(), 2, "an eighth of 16 MiB");
        let others = ["b", "c", "d", "e"].map(|owner| reserve_for_test(&memory, owner, 2 * MIB));
        assert_eq!(others.iter().flatten().count(), 3, "half of 16 MiB");
        drop(ann);
        assert!(reserve_for_test(&memory, "e", 2 * MIB).is_some(), "a sent body is released");
        drop(others);
        assert_eq!(lock(&memory.free).bytes, 16 * MIB as isize);
        assert!(lock(&memory.response_budget).by_caller.is_empty());
    }

    #[test]
    fn the_first_response_is_granted_and_small_ones_are_not_counted() {
        let memory = memory();
        let long = reserve_for_test(&memory, "ann", 20 * MIB).expect("the first");
        assert!(
            reserve_for_test(&memory, "bob", MIB).is_none()
                && reserve_for_test(&memory, "bob", UNCOUNTED_SIZE).is_some()
        );
        assert_eq!(lock(&memory.free).bytes, -4 * MIB as isize, "runs wait until it is sent");
        drop(long);
        assert!(reserve_for_test(&memory, "bob", MIB).is_some());
    }

    #[test]
    fn a_slice_of_a_body_keeps_the_whole_reservation() {
        let memory = memory();
        let mut result = reserve_for_test(&memory, "ann", 2 * MIB).expect("free memory");
        let piece = result.split_to(10);
        drop(result);
        assert!(reserve_for_test(&memory, "ann", MIB).is_none(), "the slice is not sent yet");
        drop(piece);
        assert!(reserve_for_test(&memory, "ann", MIB).is_some());
    }

    #[test]
    fn shared_reservations_are_bounded_and_leave_memory_for_callers() {
        let (memory, owner): (_, Arc<str>) = (memory(), "ann".into());
        let some = memory.reserve_shared(3 * MIB).expect("the first is granted");
        assert!(memory.reserve_shared(2 * MIB).is_none());
        assert!(memory.reserve(&owner, 2 * MIB).is_some(), "shared memory is not charged to callers");
        drop(some);
        assert!(memory.reserve_shared(2 * MIB).is_some());
    }

    #[tokio::test]
    async fn a_waiting_reservation_is_granted_after_a_release() {
        let (memory, owner): (_, Arc<str>) = (memory(), "ann".into());
        let mut first = memory.reserve(&owner, 2 * MIB).expect("free memory");
        assert!(memory.reserve(&owner, MIB).is_none());
        let waiting = tokio::spawn({
            let (memory, owner) = (memory.clone(), owner.clone());
            async move { memory.reserve_within_timeout(&owner, MIB / 2).await.is_some() }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        first.resize(MIB / 4);
        assert!(waiting.await.expect("no crash"));
        first.resize(2 * MIB);
        assert!(memory.reserve(&owner, MIB).is_none(), "the new size is charged");
    }
}
