//! Benchmark of loading documents, compared with parsing JSON into a tree of values.

#[path = "synthetic_plant.rs"]
mod synthetic_plant;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use pidq::Graph;
use std::hint::black_box;

fn load(criterion: &mut Criterion) {
    for (name, nodes) in [("1k", 1_000), ("10k", 10_000)] {
        let json = synthetic_plant::generate_plant(nodes, 1);
        let mut group = criterion.benchmark_group(format!("load/{name}"));
        group.throughput(Throughput::Bytes(json.len() as u64));
        group.bench_function("pidq", |bencher| bencher.iter(|| black_box(Graph::from_json(json.clone()))));
        group.bench_function("serde_json", |bencher| {
            bencher.iter(|| black_box(serde_json::from_slice::<serde_json::Value>(&json)));
        });
        group.finish();
    }
}

criterion_group!(benches, load);
criterion_main!(benches);
