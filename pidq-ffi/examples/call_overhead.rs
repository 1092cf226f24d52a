//! Measures the cost of one trivial call, in Rust and through the C ABI.
//!
//!     cargo run --release -p pidq-ffi --example call_overhead

use std::hint::black_box;
use std::time::Instant;

use pidq_core::{Graph, Limits, Query};
use pidq_ffi::{
    pidq_graph_delete, pidq_graph_parse, pidq_query_delete, pidq_query_parse, pidq_query_run, pidq_result_delete,
    pidq_result_json,
};

const DOCUMENT: &str = r#"{"a": [1, 2, 3]}"#;
const TEXT: &str = ".a | size()";
const CALLS: u32 = 100_000;

fn main() -> pidq_core::Result<()> {
    let (graph, query) = (Graph::from_json(DOCUMENT)?, Query::parse(TEXT)?);
    let mut in_rust = || drop(black_box(query.to_json(&graph, Limits::default())));

    let (mut c_graph, mut c_query) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: texts with their lengths, and valid output pointers.
    let errors = unsafe {
        let text = TEXT.as_ptr().cast();
        let document = DOCUMENT.as_ptr().cast();
        [
            pidq_graph_parse(document, DOCUMENT.len(), &raw mut c_graph),
            pidq_query_parse(text, TEXT.len(), &raw mut c_query),
        ]
    };
    assert!(errors.iter().all(|error| error.is_null()), "both are valid");
    let mut in_c = || {
        let mut result = std::ptr::null_mut();
        // SAFETY: the handles are alive.
        unsafe {
            let error = pidq_query_run(c_query, c_graph, std::ptr::null(), &raw mut result);
            black_box((error, pidq_result_json(result)));
            pidq_result_delete(result);
        }
    };
    let (rust, c) = fastest_times(&mut in_rust, &mut in_c);
    println!("one call: {rust:.0} ns in Rust, {c:.0} ns through the C ABI, {:.0} ns more", c - rust);
    // SAFETY: they are not used any more.
    unsafe {
        pidq_graph_delete(c_graph);
        pidq_query_delete(c_query);
    }
    Ok(())
}

/// Measures both alternately and returns the shortest times in nanoseconds, which other processes disturbed least.
fn fastest_times(first: &mut dyn FnMut(), second: &mut dyn FnMut()) -> (f64, f64) {
    let mut fastest = (f64::INFINITY, f64::INFINITY);
    for _ in 0..20 {
        fastest = (fastest.0.min(time(first)), fastest.1.min(time(second)));
    }
    fastest
}

fn time(work: &mut dyn FnMut()) -> f64 {
    let start = Instant::now();
    (0..CALLS).for_each(|_| work());
    start.elapsed().as_nanos() as f64 / f64::from(CALLS)
}
