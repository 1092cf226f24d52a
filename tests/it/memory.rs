//! What a loaded document costs in memory: hard limits, counted and not estimated.

use pidq::Graph;
use sha2::{Digest, Sha256};

use crate::allocator::{self, Used};
use crate::generator::plant;

const NODES: usize = 10_000;

#[test]
fn the_plant_of_10k_nodes_is_the_one_that_the_figures_are_about() {
    let digest = Sha256::digest(plant(NODES, 1));
    let text: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(text, "ba968c708d1480699836524a1efea6f0b531304be735cf37c96fb2cc383f1c61");
}

#[test]
fn a_loaded_node_takes_at_most_450_bytes_beside_its_text() {
    let (_, used) = load(NODES);
    let per_node = used.kept / NODES;
    assert!(per_node <= 450, "{per_node} bytes per node");
}

#[test]
fn loading_takes_at_most_1_3_times_of_what_is_kept_with_the_text() {
    let (input, used) = load(NODES);
    let (peak, kept) = (input + used.peak, input + used.kept);
    assert!(10 * peak <= 13 * kept, "{peak} bytes at the peak, {kept} kept");
}

#[test]
fn loading_allocates_at_most_once_in_20_nodes() {
    let (_, used) = load(NODES);
    assert!(20 * used.calls <= NODES, "{} allocations", used.calls);
}

#[test]
fn the_size_of_a_graph_is_what_it_allocated() {
    let json = plant(NODES, 1);
    let (graph, used) = allocator::peak(|| Graph::from_json(json));
    let (size, kept) = (graph.expect("it loads").size() as f64, used.kept as f64);
    assert!((0.95 * kept..=1.05 * kept).contains(&size), "{size} bytes reported, {kept} kept");
}

/// Loads a plant; gives the bytes of its text, which are not counted, and what loading allocated.
fn load(nodes: usize) -> (usize, Used) {
    let json = plant(nodes, 1);
    let input = json.len();
    let (graph, used) = allocator::peak(|| Graph::from_json(json).expect("it loads"));
    drop(graph);
    (input, used)
}
