//! Property of the allocator of the services: memory between blocks in use returns to the system.
//!
//! A service replaces its graphs all the time while small objects stay: tokens, compiled queries, metadata. An
//! allocator that returns memory only from the end of its heap keeps nearly all of it.
#![cfg(all(target_os = "linux", target_env = "gnu"))]

use std::hint::black_box;
use std::time::{Duration, Instant};

#[global_allocator]
static ALLOCATOR: pidq_http::ServiceAllocator = pidq_http::ServiceAllocator;

const MIB: usize = 1 << 20;
/// Unused pages are returned over ten seconds.
const MAX_WAIT: Duration = Duration::from_secs(40);

fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("the size of the process");
    line.trim().trim_end_matches(" kB").parse::<usize>().expect("a number") * 1024
}

/// Returns the parts of a graph: blocks of 0.5 to 32 KiB, 256 KiB together.
fn graph(seed: usize) -> Vec<Vec<u8>> {
    let mut sizes = (0..).map(|at: usize| 512 << ((at * 7 + seed) % 7));
    let mut left = 256 << 10;
    std::iter::from_fn(|| {
        let size = sizes.next().filter(|_| left > 0)?.min(left);
        left -= size;
        Some(vec![1; size])
    })
    .collect()
}

#[test]
fn memory_between_blocks_in_use_returns_to_the_system() {
    let before = resident();
    let mut kept: Vec<Box<[u8]>> = Vec::new();
    let graphs: Vec<_> = (0..512)
        .map(|seed| {
            let graph = graph(seed);
            kept.extend((0..4).map(|_| vec![1; 200].into()));
            graph
        })
        .collect();
    assert!(resident() - before >= 128 * MIB);
    drop(black_box(graphs));
    let start = Instant::now();
    let mut size = resident() - before;
    while size > 16 * MIB && start.elapsed() < MAX_WAIT {
        // Other requests go on.
        black_box(graph(start.elapsed().subsec_millis() as usize));
        std::thread::sleep(Duration::from_millis(10));
        size = resident() - before;
    }
    assert!(size <= 16 * MIB, "{} MiB for {} blocks", size / MIB, black_box(kept).len());
}
