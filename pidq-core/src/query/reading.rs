//! A document that is read for one query and asked once: what the query does not look at is checked, and not kept.

use std::cell::OnceCell;

use super::{Outcome, Query, parts};
use crate::arena::load;
use crate::arena::wanted::{PartId, Wanted};
use crate::error::Result;
use crate::eval::Scratch;
use crate::graph::Graph;
use crate::limits::{Limits, MAX_DEPTH};

/// A document for one query, from [`Query::read`].
#[derive(Debug)]
pub struct Reading<'q> {
    query: &'q Query,
    graph: Graph,
    is_whole: bool,
    /// The whole document, where its parts were not enough.
    whole: OnceCell<(Graph, Scratch)>,
}

impl Query {
    /// Reads a document for this query alone, in less time and memory than [`Graph::from_json`]: parts that the query does
    /// not look at are checked as the others are, but not kept.
    ///
    /// ```
    /// use pidq_core::{Limits, Query, Scratch};
    ///
    /// let query = Query::parse(".nodes | filter(.kw > 10) | size()")?;
    /// let document = query.read(r#"{"nodes": [{"tag": "P-1", "kw": 15}], "edges": [{"source": "P-1"}]}"#)?;
    /// assert_eq!(document.run(&Scratch::new(), Limits::default())?.value.as_f64(), Some(1.0));
    /// # Ok::<(), pidq_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Graph::from_json`].
    pub fn read(&self, json: impl Into<Vec<u8>>) -> Result<Reading<'_>> {
        let wanted = self.parts();
        if wanted.is_whole(PartId::DOCUMENT) {
            return Ok(Reading::of(self, Graph::from_json(json)?));
        }
        let arena = load::load_parts(json.into(), MAX_DEPTH, &wanted)?;
        Ok(Reading { is_whole: false, ..Reading::of(self, Graph::of(arena)) })
    }

    /// The parts of a document that it looks at.
    pub(crate) fn parts(&self) -> Wanted {
        parts::of(&self.compiled.plan)
    }
}

impl<'q> Reading<'q> {
    /// A document that was read as a whole.
    pub fn of(query: &'q Query, graph: Graph) -> Reading<'q> {
        Reading { query, graph, is_whole: true, whole: OnceCell::new() }
    }

    /// Runs the query: as [`Query::run`] on the whole document.
    ///
    /// # Errors
    /// As [`Query::run`].
    pub fn run<'a>(&'a self, scratch: &'a Scratch, limits: Limits<'a>) -> Result<Outcome<'a>> {
        let first = self.query.run(&self.graph, scratch, limits);
        match first {
            Ok(outcome) if outcome.warnings.is_empty() => Ok(outcome),
            first if self.is_whole => first,
            // Errors show values, and warnings suggest fields, of parts that nobody looked at.
            _ => {
                let (graph, scratch) = self.whole()?;
                self.query.run(graph, scratch, limits)
            }
        }
    }

    /// The document that the last run asked. Parts of it that the query did not look at may be null.
    pub fn graph(&self) -> &Graph {
        self.whole.get().map_or(&self.graph, |(graph, _)| graph)
    }

    fn whole(&self) -> Result<&(Graph, Scratch)> {
        if let Some(whole) = self.whole.get() {
            return Ok(whole);
        }
        let graph = Graph::from_json(self.graph.source())?;
        Ok(self.whole.get_or_init(|| (graph, Scratch::new())))
    }
}
