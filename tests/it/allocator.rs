//! Counts what a thread allocates, so that tests can hold memory to what was promised.
//!
//! Other tests run beside: each thread has counters of its own.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

#[global_allocator]
static COUNTING: Counting = Counting;

struct Counting;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
    static CALLS: Cell<usize> = const { Cell::new(0) };
    static ASKED: Cell<usize> = const { Cell::new(0) };
}

/// What some work allocated on its thread.
#[derive(Clone, Copy, Debug)]
pub struct Used {
    /// Bytes held at the worst moment, beyond those held before.
    pub peak: usize,
    /// Bytes that the result still holds.
    pub kept: usize,
    /// How often memory was asked for.
    pub calls: usize,
    /// Bytes that were asked for, together.
    pub asked: usize,
}

/// Does the work, and tells what it allocated. Not to be nested.
pub fn peak<T>(work: impl FnOnce() -> T) -> (T, Used) {
    let before = HELD.get();
    PEAK.set(before);
    let (calls, asked) = (CALLS.get(), ASKED.get());
    let result = work();
    let beyond = |bytes: isize| usize::try_from(bytes - before).unwrap_or(0);
    (
        result,
        Used {
            peak: beyond(PEAK.get()),
            kept: beyond(HELD.get()),
            calls: CALLS.get() - calls,
            asked: ASKED.get() - asked,
        },
    )
}

/// The counters are constants without destructors: they can be used while a thread begins and ends.
fn count(calls: usize, bytes: isize) {
    let held = HELD.get() + bytes;
    HELD.set(held);
    PEAK.set(PEAK.get().max(held));
    CALLS.set(CALLS.get() + calls);
    ASKED.set(ASKED.get() + usize::try_from(bytes).unwrap_or(0));
}

// SAFETY: every call is passed on to the system allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(1, layout.size() as isize);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(1, layout.size() as isize);
        // SAFETY: the caller's promise.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(1, size as isize - layout.size() as isize);
        // SAFETY: the caller's promise.
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count(0, -(layout.size() as isize));
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(block, layout) }
    }
}

#[test]
fn the_worst_moment_is_counted_and_not_the_last() {
    let (length, used) = peak(|| vec![0u8; 1 << 20].len() + vec![0u8; 1 << 10].len());
    assert_eq!(length, (1 << 20) + (1 << 10));
    assert_eq!((used.peak, used.calls), ((1 << 20) + (1 << 10), 2));
    assert_eq!(peak(Vec::<u8>::new).1.calls, 0);
}
