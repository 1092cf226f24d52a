//! Counting allocator: counts allocations while they are measured, at the cost of one branch otherwise.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed};

static RUNNING: AtomicBool = AtomicBool::new(false);
static LIVE: AtomicI64 = AtomicI64::new(0);
static PEAK: AtomicI64 = AtomicI64::new(0);
static COUNT: AtomicI64 = AtomicI64::new(0);

pub struct CountingAllocator;

// SAFETY: every call is forwarded unchanged to the system allocator.
unsafe impl GlobalAlloc for CountingAllocator {
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

/// Allocations of some work.
#[derive(Clone, Copy, Default)]
pub struct Memory {
    /// Bytes held by the result.
    pub retained: i64,
    /// Peak bytes.
    pub peak: i64,
    pub allocations: i64,
}

/// Returns the result of some work and its allocations. For one thread at a time.
pub fn measure_allocations<T>(work: impl FnOnce() -> T) -> (T, Memory) {
    for counter in [&LIVE, &PEAK, &COUNT] {
        counter.store(0, Relaxed);
    }
    RUNNING.store(true, Relaxed);
    let result = work();
    RUNNING.store(false, Relaxed);
    (result, Memory { retained: LIVE.load(Relaxed), peak: PEAK.load(Relaxed), allocations: COUNT.load(Relaxed) })
}
