//! What a loaded document costs in memory: hard limits, counted and not estimated.
//!
//! A test binary has one allocator, so this one counts for all tests; the counters are per thread, since tests run side
//! by side.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use pidq::Graph;
use sha2::{Digest, Sha256};

#[path = "../../benches/plant.rs"]
mod plant;

use plant::plant;

const NODES: usize = 10_000;

#[test]
fn the_plant_of_10k_nodes_is_the_one_that_the_figures_are_about() {
    let digest = Sha256::digest(plant(NODES, 1));
    let text: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(text, "ba968c708d1480699836524a1efea6f0b531304be735cf37c96fb2cc383f1c61");
}

#[test]
fn a_loaded_node_takes_at_most_450_bytes_beside_its_text() {
    let used = load(NODES);
    let per_node = used.kept / NODES as i64;
    assert!(per_node <= 450, "{per_node} bytes per node");
}

#[test]
fn loading_takes_at_most_1_3_times_of_what_is_kept_with_the_text() {
    let used = load(NODES);
    let (peak, kept) = (used.input + used.peak, used.input + used.kept);
    assert!(10 * peak <= 13 * kept, "{peak} bytes at the peak, {kept} kept");
}

#[test]
fn loading_allocates_at_most_once_in_20_nodes() {
    let used = load(NODES);
    assert!(20 * used.allocations <= NODES as i64, "{} allocations", used.allocations);
}

#[test]
fn the_size_of_a_graph_is_what_it_allocated() {
    let json = plant(NODES, 1);
    let (graph, used) = counted(json.len(), || Graph::from_json(json));
    let (size, kept) = (graph.expect("it loads").size() as f64, used.kept as f64);
    assert!((0.95 * kept..=1.05 * kept).contains(&size), "{size} bytes reported, {kept} kept");
}

fn load(nodes: usize) -> Used {
    let json = plant(nodes, 1);
    let (graph, used) = counted(json.len(), || Graph::from_json(json));
    graph.expect("it loads");
    used
}

/// What some work allocated on this thread, in bytes; the input is not counted.
struct Used {
    input: i64,
    kept: i64,
    peak: i64,
    allocations: i64,
}

fn counted<T>(input: usize, work: impl FnOnce() -> T) -> (T, Used) {
    let start = LIVE.get();
    PEAK.set(start);
    let before = ALLOCATIONS.get();
    let result = work();
    let used = Used {
        input: input as i64,
        kept: LIVE.get() - start,
        peak: PEAK.get() - start,
        allocations: ALLOCATIONS.get() - before,
    };
    (result, used)
}

thread_local! {
    static LIVE: Cell<i64> = const { Cell::new(0) };
    static PEAK: Cell<i64> = const { Cell::new(0) };
    static ALLOCATIONS: Cell<i64> = const { Cell::new(0) };
}

fn count(allocations: i64, bytes: i64) {
    LIVE.set(LIVE.get() + bytes);
    PEAK.set(PEAK.get().max(LIVE.get()));
    ALLOCATIONS.set(ALLOCATIONS.get() + allocations);
}

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: every call is passed on to the system allocator as it came. The counters allocate nothing: they are constants
// at first and have no destructor.
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
