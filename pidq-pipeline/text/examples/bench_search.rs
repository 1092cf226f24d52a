//! Benchmark of vector search: the CPU time and the recall of searches in a large partition.
//!
//! `bench_search FOLDER` reads `vectors.f32` and `questions.f32` (little-endian, 384 numbers each), as
//! `benches/compare/vector_search.py` writes them, and prints milliseconds of CPU per question.
//! The script also runs the compared libraries.

use std::hint::black_box;
use std::time::Instant;
use std::{env, fs, io};

use pidq_text::embedding::{Calibration, from_blob};
use pidq_text::search::{Chunk, Document, Mode, Partition, SearchQuery};
use serde_json::Map;

const DIMENSIONS: usize = 384;
/// Size of the vocabulary of the texts.
const WORDS: usize = 20_000;

fn main() -> io::Result<()> {
    let folder = env::args().nth(1).ok_or_else(|| io::Error::other("a folder is missing"))?;
    let vectors = read_vectors(&format!("{folder}/vectors.f32"))?;
    let questions = read_vectors(&format!("{folder}/questions.f32"))?;
    let started = thread_cpu();
    let partition = fill(&vectors)?;
    println!("fill {:.2} s of CPU for {} chunks", thread_cpu() - started, partition.len());
    snapshot(&partition);
    recall(&partition, &vectors, &questions);
    for (name, mode) in [("dense", Mode::Dense), ("sparse", Mode::Sparse), ("hybrid", Mode::Hybrid)] {
        measure(name, mode, &partition, &questions);
    }
    Ok(())
}

fn read_vectors(file: &str) -> io::Result<Vec<Vec<f32>>> {
    let numbers = from_blob(&fs::read(file)?).ok_or_else(|| io::Error::other("not numbers"))?;
    Ok(numbers.chunks_exact(DIMENSIONS).map(<[f32]>::to_vec).collect())
}

fn fill(vectors: &[Vec<f32>]) -> io::Result<Partition> {
    let mut partition = Partition::new(DIMENSIONS);
    let mut state = 1;
    for (number, vectors) in vectors.chunks(20).enumerate() {
        let chunks = (0..).zip(vectors).map(|(index, vector)| chunk(number, index, vector, &mut state));
        let document = Document { id: format!("{number:06}"), metadata: Map::new(), chunks: chunks.collect() };
        partition.put(document).map_err(io::Error::other)?;
    }
    Ok(partition)
}

fn chunk(document: usize, index: u32, vector: &[f32], state: &mut u64) -> Chunk {
    let text = words(100, state);
    let (id, header) = (format!("{document:06}.{index}"), String::new());
    Chunk { id, index, span: None, header, text, vector: vector.to_vec() }
}

/// Returns words with a Zipf distribution: the frequency of the word of rank r is proportional to 1 / r.
fn words(count: usize, state: &mut u64) -> String {
    let mut word = || {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let uniform = (*state >> 40) as f64 / (1u64 << 24) as f64;
        format!("w{}", to_letters((WORDS as f64).powf(uniform) as usize))
    };
    (0..count).map(|_| word()).collect::<Vec<_>>().join(" ")
}

/// Returns a number in letters, so that it is indexed as a word.
fn to_letters(number: usize) -> String {
    number.to_string().bytes().map(|digit| char::from(digit - b'0' + b'k')).collect()
}

fn snapshot(partition: &Partition) {
    let started = Instant::now();
    let bytes = partition.to_bytes();
    let written = started.elapsed().as_secs_f64();
    let started = Instant::now();
    let is_complete = Partition::from_bytes(&bytes).is_some_and(|decoded| decoded.len() == partition.len());
    let megabytes = bytes.len() / 1_000_000;
    println!(
        "snapshot {megabytes} MB, write {written:.2} s, read {:.2} s, complete {is_complete}",
        started.elapsed().as_secs_f64()
    );
}

fn search_query<'q>(text: &'q str, vector: &'q [f32], mode: Mode) -> SearchQuery<'q> {
    SearchQuery {
        text,
        vector: Some(vector),
        mode,
        calibration: Calibration::unmeasured(1.0),
        top: 10,
        min_score: -1.0,
        filter: None,
    }
}

fn recall(partition: &Partition, vectors: &[Vec<f32>], questions: &[Vec<f32>]) {
    let questions = &questions[..questions.len().min(100)];
    let mut found = 0;
    for vector in questions {
        let ranked = partition.rank(&search_query("", vector, Mode::Dense), 10);
        let neighbors: Vec<usize> =
            ranked.iter().map(|ranked| vector_index(partition.chunk_position(ranked))).collect();
        found += exact_neighbors(vectors, vector).iter().filter(|index| neighbors.contains(index)).count();
    }
    println!("recall@10 {:.4} over {} questions", found as f64 / (questions.len() * 10) as f64, questions.len());
}

fn vector_index((document, index): (&str, u32)) -> usize {
    document.parse::<usize>().unwrap_or(0) * 20 + index as usize
}

fn exact_neighbors(vectors: &[Vec<f32>], query: &[f32]) -> Vec<usize> {
    let dot = |vector: &[f32]| vector.iter().zip(query).map(|(a, b)| a * b).sum::<f32>();
    let mut all: Vec<(f32, usize)> = vectors.iter().map(|vector| dot(vector)).zip(0..).collect();
    all.select_nth_unstable_by(9, |a, b| b.0.total_cmp(&a.0));
    all[..10].iter().map(|(_, index)| *index).collect()
}

fn measure(name: &str, mode: Mode, partition: &Partition, questions: &[Vec<f32>]) {
    let mut state = 99;
    let texts: Vec<String> = questions.iter().map(|_| words(6, &mut state)).collect();
    let started = thread_cpu();
    let mut minimum = f64::INFINITY;
    for (text, vector) in texts.iter().zip(questions) {
        let started = Instant::now();
        black_box(partition.rank(&search_query(text, vector, mode), 10));
        minimum = minimum.min(started.elapsed().as_secs_f64());
    }
    let mean = (thread_cpu() - started) / questions.len() as f64;
    println!("{name}: mean {:.2} ms of CPU, minimum {:.2} ms", mean * 1e3, minimum * 1e3);
}

/// Returns the CPU seconds of this thread on Linux, and 0 on other systems.
fn thread_cpu() -> f64 {
    let times = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    times.split(' ').next().and_then(|time| time.parse::<f64>().ok()).unwrap_or(0.0) / 1e9
}
