//! How often a run asks for memory: for the query, not for each row.

use pidq::{Graph, Limits, Query, Scratch};

use crate::allocator;
use crate::generator::plant::plant;

/// What a run may ask for, however long the list.
const FEW: usize = 20;
const NODES: usize = 10_000;

/// Runs warm: the scratch has its memory, the symbols of the query are known.
#[track_caller]
fn check(text: &str, graph: &Graph) {
    let query = Query::parse(text).expect("it compiles");
    let mut scratch = Scratch::new();
    query.run(graph, &scratch, Limits::default()).expect("it runs");
    scratch.reset();
    let (rows, used) = allocator::peak(|| {
        let outcome = query.run(graph, &scratch, Limits::default()).expect("it runs");
        outcome.value.as_array().map(|rows| rows.len())
    });
    assert!(rows.is_none_or(|rows| rows > 100), "{text}: {rows:?} rows");
    assert!(used.calls < FEW, "{text}: {} allocations for {rows:?} rows", used.calls);
}

#[test]
fn a_warm_run_asks_for_memory_a_few_times_and_not_for_each_row() {
    let graph = Graph::from_json(plant(NODES, 1)).expect("it is JSON");
    for text in [
        ".pid_graph.nodes | filter(.node_type == \"pid_component\")",
        ".pid_graph.nodes | filter(.node_type == \"pid_component\" and .id != null)",
        ".pid_graph.nodes | filter(exists(.tag) or .position.x > 3)",
        ".pid_graph.nodes | map(.tag)",
        ".pid_graph.nodes | size()",
        ".pid_graph.nodes | filter(.node_type == \"pid_component\") | size()",
        ".pid_graph.nodes | pick(.id, .tag)",
        ".pid_graph.nodes | map(match(.tag, \"([A-Z]+)-([0-9]+)\"))",
        ".pid_graph.nodes | map(matchAll(.tag, \"[0-9]\"))",
        ".pid_graph.nodes | map(.position | mapValues(string(get())))",
    ] {
        check(text, &graph);
    }
}
