//! Contestant pidq: all calls to it are in this file.

use std::path::PathBuf;

pub use pidq_core::{Graph, Query};
use pidq_core::{Limits, Scratch};

use crate::Result;
use crate::processes::bench_path;

pub fn load(text: Vec<u8>) -> Result<Graph> {
    Ok(Graph::from_json(text)?)
}

pub fn compile(query: &str) -> Result<Query> {
    Ok(Query::parse(query)?)
}

/// Compiled query with its drawing.
pub struct Plan<'g> {
    graph: &'g Graph,
    query: Query,
    scratch: Scratch,
}

impl<'g> Plan<'g> {
    pub fn new(graph: &'g Graph, query: &str) -> Result<Self> {
        Ok(Self { graph, query: compile(query)?, scratch: Scratch::new() })
    }

    /// Evaluates the query and counts the rows of the result.
    pub fn rows(&mut self) -> Result<usize> {
        self.scratch.reset();
        let outcome = self.query.run(self.graph, &self.scratch, Limits::default())?;
        Ok(outcome.value.as_array().map_or(1, |rows| rows.len()))
    }

    /// Evaluates the query and writes the result as JSON.
    pub fn json(&mut self, out: &mut Vec<u8>) -> Result<usize> {
        self.scratch.reset();
        let outcome = self.query.run(self.graph, &self.scratch, Limits::default())?;
        outcome.write_json(out)?;
        Ok(1)
    }
}

/// Path of the command built by `cargo build --release` of the repository.
pub fn command() -> PathBuf {
    bench_path("../../target/release/pidq")
}
