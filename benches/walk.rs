//! Benchmark of graph traversals as queries, with the full cost of a query.

#[path = "synthetic_plant.rs"]
mod synthetic_plant;

use criterion::{Criterion, criterion_group, criterion_main};
use pidq::{Graph, Limits, Query, Scratch};
use std::hint::black_box;

/// Starts at the first pump of the plant, most of which is connected.
const QUERIES: &[(&str, &str)] = &[
    ("khop", "nodes() | limit(1000) | map(expand(3) | size()) | sum()"),
    ("reach", r#"nodes(.class == "CentrifugalPump") | first() | downstream({pass: "any"}) | size()"#),
    ("bfs", r#"nodes(.class == "CentrifugalPump") | first() | connected({pass: "any"}) | size()"#),
    ("weak", "components() | size()"),
    ("strong", "components({strong: true}) | size()"),
    ("cuts", "cutPoints() | size()"),
    ("isolate", r#"nodes(.class == "CentrifugalPump") | limit(10) | map(isolate().complete)"#),
];

fn walk(criterion: &mut Criterion) {
    let graph = Graph::from_json(synthetic_plant::generate_plant(10_000, 1)).expect("a plant is JSON");
    for (name, text) in QUERIES {
        let query = Query::parse(text).expect("the query compiles");
        let mut scratch = Scratch::new();
        criterion.bench_function(&format!("walk/10k/{name}"), |bencher| {
            bencher.iter(|| {
                scratch.reset();
                black_box(query.run(&graph, &scratch, Limits::default()).expect("the query runs").fuel)
            });
        });
    }
}

/// Benchmarks building the network, which happens at the first graph query, compared with loading the document.
fn network(criterion: &mut Criterion) {
    let text = synthetic_plant::generate_plant(10_000, 1);
    let query = Query::parse("edges() | size()").expect("the query compiles");
    criterion.bench_function("walk/10k/network", |bencher| {
        bencher.iter_batched(
            || Graph::from_json(text.clone()).expect("a plant is JSON"),
            |graph| black_box(query.to_json(&graph, Limits::default()).expect("the query runs")),
            criterion::BatchSize::LargeInput,
        );
    });
}

criterion_group!(benches, walk, network);
criterion_main!(benches);
