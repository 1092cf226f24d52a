//! Benchmark of queries on a loaded document, and of compiling them.

#[path = "synthetic_plant.rs"]
mod synthetic_plant;

use criterion::{Criterion, criterion_group, criterion_main};
use pidq::{Graph, Limits, Query, Scratch};
use std::hint::black_box;

/// Queries of the comparison with peers.
const QUERIES: &[(&str, &str)] = &[
    ("q1", r#".pid_graph.nodes | filter(.node_type == "pid_component")"#),
    ("q2", r#".pid_graph.nodes | filter(.node_type == "pid_component") | sort(.tag) | pick(.id, .tag, .class)"#),
    ("q3", ".pid_graph.nodes | groupBy(.class) | mapValues(size())"),
    ("q4", r#".pid_graph.nodes | filter(.class == "GateValve" and .attributes.design_pressure > 40) | size()"#),
];

fn run(criterion: &mut Criterion) {
    let graph = Graph::from_json(synthetic_plant::generate_plant(10_000, 1)).expect("a plant is JSON");
    for (name, text) in QUERIES {
        let query = Query::parse(text).expect("the query compiles");
        let (mut scratch, mut out) = (Scratch::new(), Vec::new());
        criterion.bench_function(&format!("run/10k/{name}"), |bencher| {
            bencher.iter(|| {
                scratch.reset();
                out.clear();
                let outcome = query.run(&graph, &scratch, Limits::default()).expect("the query runs");
                outcome.write_json(&mut out).expect("the result fits");
                black_box(out.len())
            });
        });
    }
}

fn compile(criterion: &mut Criterion) {
    for (name, text) in QUERIES {
        criterion.bench_function(&format!("compile/{name}"), |bencher| bencher.iter(|| black_box(Query::parse(text))));
    }
}

criterion_group!(benches, run, compile);
criterion_main!(benches);
