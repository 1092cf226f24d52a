//! pidq itself: every call to it is here.

use std::path::PathBuf;

pub use pidq_core::{Graph, Query};
use pidq_core::{Limits, Scratch};

use crate::Result;
use crate::processes::local;

pub fn load(text: Vec<u8>) -> Result<Graph> {
    Ok(Graph::from_json(text)?)
}

pub fn compile(query: &str) -> Result<Query> {
    Ok(Query::parse(query)?)
}

/// A compiled query beside the drawing that it is asked of.
pub struct Plan<'g> {
    graph: &'g Graph,
    query: Query,
    scratch: Scratch,
}

impl<'g> Plan<'g> {
    pub fn new(graph: &'g Graph, query: &str) -> Result<Self> {
        Ok(Self { graph, query: compile(query)?, scratch: Scratch::new() })
    }

    /// Evaluates, and counts the rows of the answer.
    pub fn rows(&mut self) -> Result<usize> {
        self.scratch.reset();
        let outcome = self.query.run(self.graph, &self.scratch, Limits::default())?;
        Ok(outcome.value.as_array().map_or(1, |rows| rows.len()))
    }

    /// Evaluates, and writes the answer as JSON.
    pub fn json(&mut self, out: &mut Vec<u8>) -> Result<usize> {
        self.scratch.reset();
        let outcome = self.query.run(self.graph, &self.scratch, Limits::default())?;
        outcome.write_json(out)?;
        Ok(1)
    }
}

/// The command, as `cargo build --release` of the repository leaves it.
pub fn command() -> PathBuf {
    local("../../target/release/pidq")
}
