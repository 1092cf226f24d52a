//! A document loaded for one query: values that the query does not read are validated but not stored.

use std::cell::OnceCell;

use serde::de::DeserializeOwned;

use super::{Query, RunResult, projection};
use crate::arena::load;
use crate::arena::projection::ProjectionId;
use crate::error::Result;
use crate::eval::{Parameters, Scratch};
use crate::graph::Graph;
use crate::limits::{Limits, MAX_DOCUMENT_DEPTH};

/// A document loaded for one query by [`Query::load`] or [`BoundQuery::load`](crate::BoundQuery::load).
#[derive(Debug)]
pub struct ProjectedDocument<'q> {
    query: &'q Query,
    /// Values of a bound query; otherwise those that the query was compiled with.
    params: Option<Parameters<'q>>,
    graph: Graph,
    is_complete: bool,
    /// The complete document, loaded if the projection was not enough.
    complete: OnceCell<(Graph, Scratch)>,
}

impl Query {
    /// Loads a document for this query alone, with less time and memory than [`Graph::from_json`]: values that the
    /// query does not read are validated like the others, but not stored.
    ///
    /// ```
    /// use pidq_core::{Limits, Query, Scratch};
    ///
    /// let query = Query::parse(".nodes | filter(.kw > 10) | size()")?;
    /// let document = query.load(r#"{"nodes": [{"tag": "P-1", "kw": 15}], "edges": [{"source": "P-1"}]}"#)?;
    /// assert_eq!(document.run(&Scratch::new(), Limits::default())?.value.as_f64(), Some(1.0));
    /// # Ok::<(), pidq_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Graph::from_json`].
    pub fn load(&self, json: impl Into<Vec<u8>>) -> Result<ProjectedDocument<'_>> {
        self.load_for(None, json.into())
    }

    /// Loads a document for a run with values of the parameters.
    pub(super) fn load_for<'q>(
        &'q self,
        params: Option<Parameters<'q>>,
        json: Vec<u8>,
    ) -> Result<ProjectedDocument<'q>> {
        let projection = self.projection.get_or_init(|| projection::projection_of(&self.compiled.plan));
        if projection.includes_all(ProjectionId::ROOT) {
            return Ok(ProjectedDocument { params, ..ProjectedDocument::from_graph(self, Graph::from_json(json)?) });
        }
        let graph = Graph::from_arena(load::load_projected(json, MAX_DOCUMENT_DEPTH, projection)?);
        Ok(ProjectedDocument { params, is_complete: false, ..ProjectedDocument::from_graph(self, graph) })
    }
}

impl<'q> ProjectedDocument<'q> {
    /// Wraps a complete document.
    pub fn from_graph(query: &'q Query, graph: Graph) -> ProjectedDocument<'q> {
        ProjectedDocument { query, params: None, graph, is_complete: true, complete: OnceCell::new() }
    }

    /// Runs the query with the result of [`Query::run`] on the complete document.
    ///
    /// # Errors
    /// As [`Query::run`].
    pub fn run<'a>(&'a self, scratch: &'a Scratch, limits: Limits<'a>) -> Result<RunResult<'a>> {
        let first = self.run_on(&self.graph, scratch, limits);
        match first {
            Ok(result) if result.warnings.is_empty() => Ok(result),
            first if self.is_complete => first,
            // Errors show values, and warnings suggest fields, that the projection omits.
            _ => {
                let (graph, scratch) = self.complete()?;
                self.run_on(graph, scratch, limits)
            }
        }
    }

    /// Runs the query without warnings: its result is that of [`ProjectedDocument::run`], but a run that finds
    /// something to warn about does not load the complete document for it.
    ///
    /// # Errors
    /// As [`Query::run`].
    pub fn run_without_warnings<'a>(&'a self, scratch: &'a Scratch, limits: Limits<'a>) -> Result<RunResult<'a>> {
        let result = match self.run_on(&self.graph, scratch, limits) {
            // Errors show values that the projection omits.
            Err(_) if !self.is_complete => {
                let (graph, scratch) = self.complete()?;
                self.run_on(graph, scratch, limits)
            }
            first => first,
        };
        Ok(RunResult { warnings: Vec::new(), ..result? })
    }

    /// Runs the query and returns the result as JSON.
    ///
    /// ```
    /// use pidq_core::{Limits, Query};
    ///
    /// let query = Query::parse("{tag: .tag, kw: .kw}")?;
    /// for line in [r#"{"tag": "P-101", "kw": 15, "log": []}"#, r#"{"tag": "P-102", "kw": 7.5, "log": []}"#] {
    ///     println!("{}", query.load(line)?.to_json(Limits::default())?);
    /// }
    /// # Ok::<(), pidq_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Query::to_json`].
    pub fn to_json(&self, limits: Limits<'_>) -> Result<String> {
        let scratch = Scratch::new();
        self.run_without_warnings(&scratch, limits)?.to_json()
    }

    /// Runs the query and converts the result to a type.
    ///
    /// # Errors
    /// As [`Query::run_as`].
    pub fn run_as<T: DeserializeOwned>(&self, limits: Limits<'_>) -> Result<T> {
        let scratch = Scratch::new();
        self.run_without_warnings(&scratch, limits)?.deserialize()
    }

    /// Returns the document of the last run. Values that the query did not read may be null.
    pub fn graph(&self) -> &Graph {
        self.complete.get().map_or(&self.graph, |(graph, _)| graph)
    }

    fn run_on<'a>(&'a self, graph: &'a Graph, scratch: &'a Scratch, limits: Limits<'a>) -> Result<RunResult<'a>> {
        match self.params {
            Some(params) => self.query.run_with_parameters(graph, &[], params, scratch, limits),
            None => self.query.run(graph, scratch, limits),
        }
    }

    fn complete(&self) -> Result<&(Graph, Scratch)> {
        if let Some(complete) = self.complete.get() {
            return Ok(complete);
        }
        let graph = Graph::from_json(self.graph.source())?;
        Ok(self.complete.get_or_init(|| (graph, Scratch::new())))
    }
}
