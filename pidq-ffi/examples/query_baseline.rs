//! Rust baseline of the Python benchmark: runs the query of each input line on a drawing, and prints the size of the
//! result.
//!
//!     query_baseline DRAWING
//!
//! A line is a repetition count and a query. The benchmark measures the time of this process.

use std::io::{BufRead, stdin};

use pidq_core::{Graph, Limits, Query, Scratch};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: query_baseline DRAWING")?;
    let graph = Graph::from_json(std::fs::read(path)?)?;
    let (mut scratch, mut out) = (Scratch::new(), Vec::new());
    for line in stdin().lock().lines() {
        let line = line?;
        let (repetitions, text) = line.split_once(' ').ok_or("a line is a repetition count and a query")?;
        let query = Query::parse(text)?;
        for _ in 0..repetitions.parse()? {
            scratch.reset();
            out.clear();
            query.run(&graph, &scratch, Limits::default())?.write_json(&mut out)?;
        }
        println!("{}", out.len());
    }
    Ok(())
}
