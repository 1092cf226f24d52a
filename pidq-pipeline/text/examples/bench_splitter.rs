//! Benchmark of text splitting: prints megabytes per second of CPU for each file, with chunks of 1000 characters and an
//! overlap of 200.
//!
//! `bench_splitter FILE…`; `benches/compare/splitter.py` writes the files and measures langchain-text-splitters on them.

use std::hint::black_box;
use std::{env, fs, io};

use pidq_text::splitter;
use serde_json::json;

const ROUNDS: usize = 20;

fn main() -> io::Result<()> {
    let parameters = json!({"chunk_size": 1000, "chunk_overlap": 200});
    let parameters = parameters.as_object().ok_or_else(|| io::Error::other("not an object"))?;
    let splitter = splitter::find("recursive_character").ok_or_else(|| io::Error::other("no splitter"))?;
    let splitter = splitter.build(parameters).map_err(io::Error::other)?;
    let no_vectors = |_: &[String]| Ok(Vec::new());
    for file in env::args().skip(1) {
        let text = fs::read_to_string(&file)?;
        let started = thread_cpu();
        let mut chunks = 0;
        for _ in 0..ROUNDS {
            chunks = black_box(splitter.split(&text, &no_vectors).map_err(io::Error::other)?).len();
        }
        let megabytes = (text.len() * ROUNDS) as f64 / 1e6;
        println!("{file}: {chunks} chunks, {:.0} MB/s", megabytes / (thread_cpu() - started));
    }
    Ok(())
}

/// Returns the CPU seconds of this thread on Linux, and 0 on other systems.
fn thread_cpu() -> f64 {
    let times = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    times.split(' ').next().and_then(|time| time.parse::<f64>().ok()).unwrap_or(0.0) / 1e9
}
