//! `pidq_cancel_t`: stops runs from another thread.

use std::sync::Arc;

use pidq_core::Cancel;

use crate::handle::{Slot, borrow, delete, handle, into_handle};
use crate::panic_guard::{guard, guard_or};

/// Cancellation flag of runs. Any thread may fire it. Delete it when no run uses it anymore.
pub struct CancelHandle(Slot<Arc<Cancel>>);

handle!(CancelHandle, Arc<Cancel>, b"cncl", "cancel");

/// Creates a cancellation flag. Returns NULL if out of memory.
#[unsafe(no_mangle)]
pub extern "C" fn pidq_cancel_new() -> *mut CancelHandle {
    guard_or(std::ptr::null_mut(), || Ok(into_handle(Arc::new(Cancel::default()))))
}

/// Stops the runs that use it, including later ones, with PQ4008.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_cancel_fire(cancel: *const CancelHandle) {
    // SAFETY: the rules of the header.
    guard_or((), || unsafe { borrow(cancel) }.map(|cancel| cancel.cancel()));
}

/// Stops the runs as `pidq_cancel_fire` does, because of a timeout: with PQ4005.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_cancel_time_out(cancel: *const CancelHandle) {
    // SAFETY: the rules of the header.
    guard_or((), || unsafe { borrow(cancel) }.map(|cancel| cancel.time_out()));
}

/// Deletes a cancellation flag. NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_cancel_delete(cancel: *mut CancelHandle) {
    // SAFETY: the rules of the header.
    guard(|| unsafe { delete(cancel) });
}
