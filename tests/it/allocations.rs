//! Number of allocations of a run: constant per query, not per row.

use pidq::{Graph, Limits, Query, Scratch};

use crate::allocator;
use crate::synthetic_plant::generate_plant;

/// Limit of allocations of a run, for arrays of any length.
const MAX_ALLOCATIONS: usize = 20;
const NODES: usize = 10_000;

/// Runs once before measuring, so that the scratch has its memory and the symbols of the query are cached.
#[track_caller]
fn check(text: &str, graph: &Graph) {
    let query = Query::parse(text).expect("valid query");
    let mut scratch = Scratch::new();
    query.run(graph, &scratch, Limits::default()).expect("it runs");
    scratch.reset();
    let (rows, used) = allocator::measure(|| {
        let outcome = query.run(graph, &scratch, Limits::default()).expect("it runs");
        outcome.value.as_array().map(|rows| rows.len())
    });
    assert!(rows.is_none_or(|rows| rows > 100), "{text}: {rows:?} rows");
    assert!(used.calls < MAX_ALLOCATIONS, "{text}: {} allocations for {rows:?} rows", used.calls);
}

#[test]
fn a_warm_run_allocates_per_query_and_not_per_row() {
    let graph = Graph::from_json(generate_plant(NODES, 1)).expect("valid JSON");
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

/// A chain of pumps, some with a nozzle in between: each step of a traversal leads to the next.
fn chain() -> Graph {
    let pump = |at: usize| format!(r#"{{"id": "P{at}", "class": "pump"}}"#);
    let nozzle = r#"{"id": "N", "class": "nozzle", "parent": "P0"}"#.to_owned();
    let edge = |at: usize| format!(r#"{{"from": "P{at}", "to": "P{}"}}"#, at + 1);
    let from_nozzle = r#"{"from": "N", "to": "P9"}"#.to_owned();
    let nodes: Vec<String> = (0..NODES).map(pump).chain([nozzle]).collect();
    let edges: Vec<String> = (0..NODES - 1).map(edge).chain([from_nozzle]).collect();
    Graph::from_json(format!(r#"{{"nodes": [{}], "edges": [{}]}}"#, nodes.join(","), edges.join(",")))
        .expect("valid JSON")
}

#[test]
fn a_traversal_of_few_nodes_allocates_for_few_nodes() {
    const WALKS: usize = 200;
    let graph = chain();
    for walk in [
        "downstream(.id) | size()",
        "expand(1) | size()",
        "subgraph(.id, {hops: 1}) | size()",
        "trace(.id) | size()",
        "downstream(expand(1) | map(.id)) | size()",
    ] {
        let text = format!("nodes() | limit({WALKS}) | map({walk})");
        let query = Query::parse(&text).expect("valid query");
        let scratch = Scratch::new();
        let run = || query.run(&graph, &scratch, Limits::default()).map(|_| ()).expect("it runs");
        run();
        let used = allocator::measure(run).1;
        assert!(used.requested < WALKS * NODES, "{text}: {used:?}");
    }
}
