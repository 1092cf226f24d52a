//! Allocator that counts the allocations of a thread, for tests of memory limits.
//!
//! Other tests run concurrently: each thread has its own counters.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

#[global_allocator]
static COUNTING: CountingAllocator = CountingAllocator;

struct CountingAllocator;

thread_local! {
    static IN_USE: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
    static CALLS: Cell<usize> = const { Cell::new(0) };
    static REQUESTED: Cell<usize> = const { Cell::new(0) };
}

/// Allocations of some work on its thread.
#[derive(Clone, Copy, Debug)]
pub struct Allocations {
    /// Peak of the bytes in use, beyond those in use before.
    pub peak: usize,
    /// Bytes still in use by the result.
    pub retained: usize,
    /// Number of allocations.
    pub calls: usize,
    /// Total number of bytes requested.
    pub requested: usize,
}

/// Runs `work` and returns its result and allocations. Not reentrant.
pub fn measure<T>(work: impl FnOnce() -> T) -> (T, Allocations) {
    let before = IN_USE.get();
    PEAK.set(before);
    let (calls, requested) = (CALLS.get(), REQUESTED.get());
    let result = work();
    let beyond = |bytes: isize| usize::try_from(bytes - before).unwrap_or(0);
    (
        result,
        Allocations {
            peak: beyond(PEAK.get()),
            retained: beyond(IN_USE.get()),
            calls: CALLS.get() - calls,
            requested: REQUESTED.get() - requested,
        },
    )
}

/// Adds to the counters. They are constants without destructors, so they can be used while a thread starts and ends.
fn count(calls: usize, bytes: isize) {
    let in_use = IN_USE.get() + bytes;
    IN_USE.set(in_use);
    PEAK.set(PEAK.get().max(in_use));
    CALLS.set(CALLS.get() + calls);
    REQUESTED.set(REQUESTED.get() + usize::try_from(bytes).unwrap_or(0));
}

// SAFETY: every call is passed on unchanged to the system allocator.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(1, layout.size() as isize);
        // SAFETY: promised by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(1, layout.size() as isize);
        // SAFETY: promised by the caller.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(1, size as isize - layout.size() as isize);
        // SAFETY: promised by the caller.
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count(0, -(layout.size() as isize));
        // SAFETY: promised by the caller.
        unsafe { System.dealloc(block, layout) }
    }
}

#[test]
fn the_peak_is_counted_and_not_the_last_value() {
    let (length, used) = measure(|| vec![0u8; 1 << 20].len() + vec![0u8; 1 << 10].len());
    assert_eq!(length, (1 << 20) + (1 << 10));
    assert_eq!((used.peak, used.calls), ((1 << 20) + (1 << 10), 2));
    assert_eq!(measure(Vec::<u8>::new).1.calls, 0);
}
