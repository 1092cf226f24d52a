//! Memory of a loaded document: hard limits, measured rather than estimated.

use pidq::Graph;
use sha2::{Digest, Sha256};

use crate::allocator::{self, Allocations};
use crate::synthetic_plant::generate_plant;

const NODES: usize = 10_000;

#[test]
fn the_synthetic_plant_has_the_documented_hash() {
    let digest = Sha256::digest(generate_plant(NODES, 1));
    let text: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(text, "ba968c708d1480699836524a1efea6f0b531304be735cf37c96fb2cc383f1c61");
}

#[test]
fn a_loaded_node_takes_at_most_450_bytes_besides_its_text() {
    let (_, used) = load(NODES);
    let per_node = used.retained / NODES;
    assert!(per_node <= 450, "{per_node} bytes per node");
}

#[test]
fn loading_peaks_at_1_3_times_the_loaded_size() {
    let (input, used) = load(NODES);
    let (peak, retained) = (input + used.peak, input + used.retained);
    assert!(10 * peak <= 13 * retained, "{peak} bytes at the peak, {retained} retained");
}

#[test]
fn loading_allocates_at_most_once_per_20_nodes() {
    let (_, used) = load(NODES);
    assert!(20 * used.calls <= NODES, "{} allocations", used.calls);
}

#[test]
fn the_size_of_a_graph_is_its_allocation() {
    let json = generate_plant(NODES, 1);
    let (graph, used) = allocator::measure(|| Graph::from_json(json));
    let (size, retained) = (graph.expect("it loads").size() as f64, used.retained as f64);
    assert!((0.95 * retained..=1.05 * retained).contains(&size), "{size} bytes reported, {retained} retained");
}

/// Loads a plant; returns the length of its text, which is not counted, and the allocations of loading.
fn load(nodes: usize) -> (usize, Allocations) {
    let json = generate_plant(nodes, 1);
    let input = json.len();
    let (graph, used) = allocator::measure(|| Graph::from_json(json).expect("it loads"));
    drop(graph);
    (input, used)
}
