//! Counts what is allocated while a meter runs, and costs one branch while none does.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed};

static RUNNING: AtomicBool = AtomicBool::new(false);
static LIVE: AtomicI64 = AtomicI64::new(0);
static PEAK: AtomicI64 = AtomicI64::new(0);
static COUNT: AtomicI64 = AtomicI64::new(0);

pub struct Counting;

// SAFETY: every call is passed on to the system allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(1, layout.size() as i64);
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(1, layout.size() as i64);
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count(0, -(layout.size() as i64));
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(1, size as i64 - layout.size() as i64);
        unsafe { System.realloc(block, layout, size) }
    }
}

fn count(calls: i64, bytes: i64) {
    if RUNNING.load(Relaxed) {
        COUNT.fetch_add(calls, Relaxed);
        let live = LIVE.fetch_add(bytes, Relaxed) + bytes;
        PEAK.fetch_max(live, Relaxed);
    }
}

/// What some work allocated.
#[derive(Clone, Copy, Default)]
pub struct Memory {
    /// Bytes that the result holds.
    pub kept: i64,
    /// Bytes at the highest moment.
    pub peak: i64,
    pub allocations: i64,
}

/// The result of some work and what it allocated. Not for two threads at once.
pub fn metered<T>(work: impl FnOnce() -> T) -> (T, Memory) {
    for counter in [&LIVE, &PEAK, &COUNT] {
        counter.store(0, Relaxed);
    }
    RUNNING.store(true, Relaxed);
    let result = work();
    RUNNING.store(false, Relaxed);
    (result, Memory { kept: LIVE.load(Relaxed), peak: PEAK.load(Relaxed), allocations: COUNT.load(Relaxed) })
}
