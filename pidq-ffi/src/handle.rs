//! What stands behind a pointer that C holds.
//!
//! The memory of a handle goes back to a pool of its kind and never to the system. So a pointer to a deleted handle can
//! still be looked at, and using it or deleting it again is an error with a code instead of a crash, for as long as the
//! place has not been given to a new handle; places are given again in turn, the longest unused first.

use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::error::Fault;
use crate::slice::write_to;

/// A place for a value, with a word that says whether there is one. The word comes first in every kind of place: so a
/// handle of another kind is found out without reading past its end.
#[repr(C)]
pub struct Slot<T> {
    state: AtomicU32,
    value: UnsafeCell<MaybeUninit<T>>,
}

/// So many places rest before one is given again.
const RESTING: usize = 64;

/// A kind of handle.
pub trait Handle: Sized + 'static {
    /// What it holds.
    type Value: 'static;
    /// What a live one is marked with; each kind has its own.
    const LIVE: u32;
    /// What it is called in messages.
    const NAME: &'static str;

    /// The handle of a slot. Handles are slots and nothing else.
    fn slot(&self) -> &Slot<Self::Value>;

    /// An empty place.
    fn empty() -> Self;

    /// Where places rest.
    fn pool() -> &'static Pool<Self>;
}

/// Places that rest.
pub struct Pool<H: 'static>(Mutex<VecDeque<&'static H>>);

// SAFETY: a place in the pool is empty; nobody but the pool knows of it.
unsafe impl<H> Sync for Pool<H> {}

impl<T> Slot<T> {
    /// A place without a value.
    pub fn empty() -> Slot<T> {
        Slot { state: AtomicU32::new(0), value: UnsafeCell::new(MaybeUninit::uninit()) }
    }
}

impl<H: Handle> Pool<H> {
    /// A pool without places.
    pub const fn new() -> Pool<H> {
        Pool(Mutex::new(VecDeque::new()))
    }

    /// The longest unused place, or a new one.
    fn take(&self) -> &'static H {
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let rested = if places.len() > RESTING { places.pop_front() } else { None };
        rested.unwrap_or_else(|| Box::leak(Box::new(H::empty())))
    }

    fn put_back(&self, place: &'static H) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_back(place);
    }
}

/// Hands a value out as a handle.
pub fn give<H: Handle>(value: H::Value) -> *mut H {
    let place = H::pool().take();
    let slot = place.slot();
    // SAFETY: the place is empty and known to nobody else, so this is the only access.
    unsafe { (*slot.value.get()).write(value) };
    slot.state.store(H::LIVE, Ordering::Release);
    std::ptr::from_ref(place).cast_mut()
}

/// Makes a value where somebody takes it. The place holds NULL until there is one, whatever goes wrong.
///
/// # Safety
/// `out` is null or a place that can be written.
pub unsafe fn hand_out<H: Handle>(
    out: *mut *mut H,
    make: impl FnOnce() -> Result<H::Value, Fault>,
) -> Result<(), Fault> {
    // SAFETY: the caller promises the same. It comes first: no work for a place that is none.
    unsafe { write_to(out, std::ptr::null_mut()) }?;
    let made = give(make()?);
    // SAFETY: as above.
    unsafe { write_to(out, made) }
}

/// The value of a handle.
///
/// # Safety
/// The pointer is null or came from [`give`], and no other thread deletes the handle meanwhile.
pub unsafe fn lend<'a, H: Handle>(handle: *const H) -> Result<&'a H::Value, Fault> {
    // SAFETY: places are never freed, so what came from `give` can be read.
    let place = unsafe { handle.as_ref() }.ok_or_else(|| Fault::null(H::NAME))?;
    let slot = place.slot();
    if slot.state.load(Ordering::Acquire) != H::LIVE {
        return Err(Fault::deleted(H::NAME));
    }
    // SAFETY: it is live, so there is a value, and it stays as long as nobody deletes it.
    Ok(unsafe { (*slot.value.get()).assume_init_ref() })
}

/// The value of a handle that may change: one thread at a time.
///
/// # Safety
/// As [`lend`], and no other thread uses the handle.
pub unsafe fn lend_mut<'a, H: Handle>(handle: *mut H) -> Result<&'a mut H::Value, Fault> {
    // SAFETY: the caller promises what `lend` asks.
    unsafe { lend(handle.cast_const()) }?;
    // SAFETY: `lend` found it live, and the caller is alone with it.
    Ok(unsafe { (*(*handle).slot().value.get()).assume_init_mut() })
}

/// Drops the value of a handle. Null and what was deleted already are fine.
///
/// # Safety
/// As [`lend`].
pub unsafe fn delete<H: Handle>(handle: *mut H) {
    // SAFETY: places are never freed, so what came from `give` can be read.
    let Some(place) = (unsafe { handle.as_ref::<'static>() }) else { return };
    let slot = place.slot();
    // Of two threads that delete the same handle only one gets through.
    if slot.state.compare_exchange(H::LIVE, 0, Ordering::AcqRel, Ordering::Relaxed).is_err() {
        return;
    }
    // SAFETY: it was live, and is not any more: nobody else reaches the value.
    unsafe { (*slot.value.get()).assume_init_drop() };
    H::pool().put_back(place);
}

/// Declares a kind of handle: the type that C sees, what it holds, its mark and its name. The type itself stands beside
/// it, where cbindgen sees it.
macro_rules! handle {
    ($name:ident, $value:ty, $mark:literal, $text:literal) => {
        impl $crate::handle::Handle for $name {
            type Value = $value;
            const LIVE: u32 = u32::from_be_bytes(*$mark);
            const NAME: &'static str = $text;

            fn slot(&self) -> &$crate::handle::Slot<$value> {
                &self.0
            }

            fn empty() -> Self {
                $name($crate::handle::Slot::empty())
            }

            fn pool() -> &'static $crate::handle::Pool<Self> {
                static POOL: $crate::handle::Pool<$name> = $crate::handle::Pool::new();
                &POOL
            }
        }
    };
}

pub(crate) use handle;

#[cfg(test)]
mod tests {
    use super::*;

    struct Number(Slot<u64>);

    handle!(Number, u64, b"test", "number");

    #[test]
    fn a_deleted_handle_is_known_as_long_as_its_place_rests() {
        let first: *mut Number = give(7);
        // SAFETY: all of these came from `give`.
        unsafe {
            assert_eq!(lend(first).copied().ok(), Some(7));
            delete(first);
            delete(first);
            assert!(lend(first).is_err());
            for number in 0..RESTING as u64 {
                let other: *mut Number = give(number);
                assert!(!std::ptr::eq(first, other));
                delete(other);
            }
            delete::<Number>(std::ptr::null_mut());
        }
    }
}
