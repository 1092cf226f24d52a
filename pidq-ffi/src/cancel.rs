//! `pidq_cancel_t`: stops runs from another thread.

use std::sync::Arc;

use pidq_core::Cancel;

use crate::boundary::{quiet, quietly};
use crate::handle::{Slot, delete, give, handle, lend};

/// Stops the runs that were given it. Any thread may fire it. Delete it when no run looks at it any more.
pub struct CancelHandle(Slot<Arc<Cancel>>);

handle!(CancelHandle, Arc<Cancel>, b"cncl", "cancel");

/// A new one, not fired. NULL when there is no memory for it.
#[unsafe(no_mangle)]
pub extern "C" fn pidq_cancel_new() -> *mut CancelHandle {
    quiet(std::ptr::null_mut(), || Ok(give(Arc::new(Cancel::default()))))
}

/// Stops the runs that look at it, also those that begin later; they end with PQ4008.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_cancel_fire(cancel: *const CancelHandle) {
    // SAFETY: the rules of the header.
    quiet((), || unsafe { lend(cancel) }.map(|cancel| cancel.cancel()));
}

/// As `pidq_cancel_fire`, because the time is over: the runs end with PQ4005.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_cancel_time_out(cancel: *const CancelHandle) {
    // SAFETY: the rules of the header.
    quiet((), || unsafe { lend(cancel) }.map(|cancel| cancel.time_out()));
}

/// Deletes it. NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_cancel_delete(cancel: *mut CancelHandle) {
    // SAFETY: the rules of the header.
    quietly(|| unsafe { delete(cancel) });
}
