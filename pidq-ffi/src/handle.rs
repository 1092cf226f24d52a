//! Handles: the values behind pointers held by C.
//!
//! The memory of a handle returns to a pool of its type and never to the system. So a pointer to a deleted handle can
//! still be read, and using it or deleting it again is an error with a code instead of a crash, until the slot is
//! reused; slots are reused in turn, the longest unused first.

use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::abi_error::AbiError;
use crate::arguments::write_to;

/// Slot for a value, with a state word. The state comes first in every type of slot, so that a handle of another type
/// is detected without reading past its end.
#[repr(C)]
pub struct Slot<T> {
    state: AtomicU32,
    value: UnsafeCell<MaybeUninit<T>>,
}

/// Number of unused slots kept before one is reused.
const QUARANTINE_SIZE: usize = 64;

/// Type of handle.
pub trait Handle: Sized + 'static {
    /// The value type.
    type Value: 'static;
    /// The state of a live handle; unique per type.
    const LIVE: u32;
    /// The name in messages.
    const NAME: &'static str;

    /// Returns the slot of a handle. Handles are slots and nothing else.
    fn slot(&self) -> &Slot<Self::Value>;

    /// Creates an empty slot.
    fn empty() -> Self;

    /// Returns the pool of unused slots.
    fn pool() -> &'static Pool<Self>;
}

/// Pool of unused slots.
pub struct Pool<H: 'static>(Mutex<VecDeque<&'static H>>);

// SAFETY: a slot in the pool is empty; only the pool refers to it.
unsafe impl<H> Sync for Pool<H> {}

impl<T> Slot<T> {
    /// Creates a slot without a value.
    pub fn empty() -> Slot<T> {
        Slot { state: AtomicU32::new(0), value: UnsafeCell::new(MaybeUninit::uninit()) }
    }
}

impl<H: Handle> Pool<H> {
    /// Creates a pool without slots.
    pub const fn new() -> Pool<H> {
        Pool(Mutex::new(VecDeque::new()))
    }

    /// Returns the longest unused slot, or a new one.
    fn acquire(&self) -> &'static H {
        let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let reusable = if slots.len() > QUARANTINE_SIZE { slots.pop_front() } else { None };
        reusable.unwrap_or_else(|| Box::leak(Box::new(H::empty())))
    }

    fn release(&self, handle: &'static H) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_back(handle);
    }
}

/// Converts a value to a handle.
pub fn into_handle<H: Handle>(value: H::Value) -> *mut H {
    let handle = H::pool().acquire();
    let slot = handle.slot();
    // SAFETY: the slot is empty and referred to by nothing else, so this is the only access.
    unsafe { (*slot.value.get()).write(value) };
    slot.state.store(H::LIVE, Ordering::Release);
    std::ptr::from_ref(handle).cast_mut()
}

/// Creates a value and writes its handle to `out`, which is NULL on any failure.
///
/// # Safety
/// `out` is null or valid for writes.
pub unsafe fn write_handle<H: Handle>(
    out: *mut *mut H,
    make: impl FnOnce() -> Result<H::Value, AbiError>,
) -> Result<(), AbiError> {
    // SAFETY: the caller promises the same. It comes first: no work for an invalid pointer.
    unsafe { write_to(out, std::ptr::null_mut()) }?;
    let handle = into_handle(make()?);
    // SAFETY: as above.
    unsafe { write_to(out, handle) }
}

/// Returns the value of a handle.
///
/// # Safety
/// The pointer is null or came from [`into_handle`], and no other thread deletes the handle meanwhile.
pub unsafe fn borrow<'a, H: Handle>(handle: *const H) -> Result<&'a H::Value, AbiError> {
    // SAFETY: slots are never freed, so every handle can be read.
    let live_handle = unsafe { handle.as_ref() }.ok_or_else(|| AbiError::null(H::NAME))?;
    let slot = live_handle.slot();
    if slot.state.load(Ordering::Acquire) != H::LIVE {
        return Err(AbiError::deleted(H::NAME));
    }
    // SAFETY: it is live, so there is a value, which stays until the handle is deleted.
    Ok(unsafe { (*slot.value.get()).assume_init_ref() })
}

/// Returns the mutable value of a handle: one thread at a time.
///
/// # Safety
/// As [`borrow`], and no other thread uses the handle.
pub unsafe fn borrow_mut<'a, H: Handle>(handle: *mut H) -> Result<&'a mut H::Value, AbiError> {
    // SAFETY: the caller promises the same.
    unsafe { borrow(handle.cast_const()) }?;
    // SAFETY: it is live, and the caller has exclusive access.
    Ok(unsafe { (*(*handle).slot().value.get()).assume_init_mut() })
}

/// Drops the value of a handle. Null and deleted handles are allowed.
///
/// # Safety
/// As [`borrow`].
pub unsafe fn delete<H: Handle>(handle: *mut H) {
    // SAFETY: slots are never freed, so every handle can be read.
    let Some(deleted_handle) = (unsafe { handle.as_ref::<'static>() }) else { return };
    let slot = deleted_handle.slot();
    // If two threads delete the same handle, only one succeeds.
    if slot.state.compare_exchange(H::LIVE, 0, Ordering::AcqRel, Ordering::Relaxed).is_err() {
        return;
    }
    // SAFETY: it was live and no longer is, so nothing else reaches the value.
    unsafe { (*slot.value.get()).assume_init_drop() };
    H::pool().release(deleted_handle);
}

/// Declares a type of handle: the type visible to C, its value type, its state word and its name. The type itself is
/// defined next to it, where cbindgen finds it.
macro_rules! handle {
    ($name:ident, $value:ty, $state:literal, $name_text:literal) => {
        impl $crate::handle::Handle for $name {
            type Value = $value;
            const LIVE: u32 = u32::from_be_bytes(*$state);
            const NAME: &'static str = $name_text;

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
    fn deleted_handles_are_detected_during_quarantine() {
        let first: *mut Number = into_handle(7);
        // SAFETY: all of these are handles.
        unsafe {
            assert_eq!(borrow(first).copied().ok(), Some(7));
            delete(first);
            delete(first);
            assert!(borrow(first).is_err());
            for number in 0..QUARANTINE_SIZE as u64 {
                let other: *mut Number = into_handle(number);
                assert!(!std::ptr::eq(first, other));
                delete(other);
            }
            delete::<Number>(std::ptr::null_mut());
        }
    }
}
