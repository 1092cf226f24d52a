//! Query run on a worker thread, with the query timeout.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use pidq_core::{Cancel, Graph, Limits, Query, Scratch};
use pidq_http::header::HeaderName;
use pidq_http::{JobResult, Problem, ThreadPool, codes};
use serde_json::{Value as Json, json};

use super::request::QueryRequest;
use crate::caches::{self, QueryCache};
use crate::caller::Caller;
use crate::memory::memory_pool::MemoryPool;
use crate::metrics::Metrics;
use crate::problems::{diagnostic_fields, limit_name, problem, query_problem};
use crate::response_format::{QueryFailure, Rendered, ResponseFormat, ResponseOptions};
use crate::server::{QueryLimits, Server};
use crate::store::{GraphId, GraphMeta, Tenant, VersionSelector};

/// Returns the problem for exhausted response memory.
pub(crate) fn overloaded() -> Problem {
    Problem::new(codes::OVERLOADED).detail("Too many responses are unread. Read them, then try again.").retry_after(1)
}

pub(crate) const RESULT_KIND: HeaderName = HeaderName::from_static("x-result-kind");
pub(crate) const FUEL_USED: HeaderName = HeaderName::from_static("x-fuel-used");

/// Query that is ready to run on a worker thread.
pub(crate) struct QueryTask {
    pub graph: Arc<Graph>,
    /// Graphs of the graph parameters, in the order of their names.
    pub graph_params: Vec<Arc<Graph>>,
    pub queries: Arc<QueryCache>,
    pub memory: Arc<MemoryPool>,
    pub request_body: Arc<QueryRequest>,
    pub options: ResponseOptions,
    pub query_limits: QueryLimits,
    pub cancel: Arc<Cancel>,
}

/// Output of a query run.
pub(crate) struct QueryOutput {
    pub rendered: Rendered,
    pub fuel: u64,
    /// Warnings and profile, if requested.
    pub explanation: Option<Json>,
}

/// Exports a whole graph in a non-JSON format.
pub(crate) async fn export_graph(
    server: &Server,
    caller: &Caller<'_>,
    meta: &Arc<GraphMeta>,
    format: ResponseFormat,
) -> Result<Bytes, Problem> {
    let graph =
        caches::load_version(&server.store, &server.graph_cache, &caller.tenant, meta).await.map_err(problem)?;
    let request_body = Arc::new(QueryRequest::new("get()".into(), None)?);
    let done =
        run_on_pool(server, &caller.fairness_key, (graph, Vec::new()), request_body, ResponseOptions::new(format))
            .await?;
    let output = done.value.map_err(|failure| failure_problem(failure, server, format))?;
    server.memory_pool.reserve_body(&caller.fairness_key, output.rendered.body).ok_or_else(overloaded)
}

/// Checks that the query of a batch compiles; a compile error applies to every graph.
pub(crate) async fn check_compiles(
    server: &Server,
    fairness_key: &str,
    request_body: Arc<QueryRequest>,
) -> Result<(), Problem> {
    let queries = server.query_cache.clone();
    let compiled =
        server.thread_pool.run_for(fairness_key, || {}, move || request_body.compile(&queries).map(|_| ())).await?;
    compiled.value.map_err(|error| failure_problem(error.into(), server, ResponseFormat::Lines))
}

/// Loads a graph for querying.
pub(crate) async fn load_graph(
    server: &Server,
    tenant: &Tenant,
    graph_id: &GraphId,
    selector: &VersionSelector,
) -> Result<(Arc<GraphMeta>, Arc<Graph>), Problem> {
    caches::load_graph(&server.store, &server.graph_cache, tenant, graph_id, selector).await.map_err(problem)
}

/// Runs a query on a graph, with its graph parameters, on a worker thread, with the query timeout.
pub(crate) async fn run_on_pool(
    server: &Server,
    fairness_key: &str,
    (graph, graph_params): (Arc<Graph>, Vec<Arc<Graph>>),
    request_body: Arc<QueryRequest>,
    options: ResponseOptions,
) -> Result<JobResult<Result<QueryOutput, QueryFailure>>, Problem> {
    let (queries, memory) = (server.query_cache.clone(), server.memory_pool.clone());
    let (query_limits, cancel) = (server.query_limits, Arc::new(Cancel::default()));
    let task =
        QueryTask { graph, graph_params, queries, memory, request_body, options, query_limits, cancel: cancel.clone() };
    run_with_timeout(&server.thread_pool, fairness_key, query_limits.timeout, cancel, move || task.execute()).await
}

/// Runs a job until it finishes, times out, or its request is dropped.
pub(crate) async fn run_with_timeout<T: Send + 'static>(
    thread_pool: &ThreadPool,
    fairness_key: &str,
    timeout: Duration,
    cancel: Arc<Cancel>,
    job: impl FnOnce() -> T + Send + 'static,
) -> Result<JobResult<T>, Problem> {
    let cancel_on_drop = cancel.clone();
    let mut run = std::pin::pin!(thread_pool.run_for(fairness_key, move || cancel_on_drop.cancel(), job));
    tokio::select! {
        done = &mut run => return done,
        () = tokio::time::sleep(timeout) => cancel.time_out(),
    }
    run.await
}

impl QueryTask {
    fn execute(&self) -> Result<QueryOutput, QueryFailure> {
        let query = self.request_body.compile(&self.queries)?;
        if self.request_body.dry_run {
            return self.within_limits(|_, limits| self.check(&query, limits));
        }
        let mut output = self.within_limits(|scratch, limits| self.run(&query, scratch, limits))?;
        if self.options.explain {
            output.explanation = Some(self.within_limits(|_, limits| self.explain(&query, limits))?);
        }
        Ok(output)
    }

    fn within_limits<T>(
        &self,
        mut run: impl FnMut(&Scratch, Limits<'_>) -> Result<T, QueryFailure>,
    ) -> Result<T, QueryFailure> {
        let max_output = self.query_limits.output_limit(self.options.format);
        self.memory.run(self.query_limits.memory, &self.cancel, |scratch, memory| {
            run(scratch, QueryLimits { memory, ..self.query_limits }.limits(max_output, &self.cancel))
        })
    }

    fn graph_params(&self) -> Vec<&Graph> {
        self.graph_params.iter().map(|graph| &**graph).collect()
    }

    fn run(&self, query: &Query, scratch: &Scratch, limits: Limits<'_>) -> Result<QueryOutput, QueryFailure> {
        let graph_params = self.graph_params();
        let outcome = query.run_with_graphs(&self.graph, &graph_params, scratch, limits)?;
        let rendered = self.options.format.write(&outcome, limits.output)?;
        Ok(QueryOutput { rendered, fuel: outcome.fuel, explanation: None })
    }

    fn explain(&self, query: &Query, limits: Limits<'_>) -> Result<Json, QueryFailure> {
        let start = Instant::now();
        let explanation = query.explain_with_graphs(&self.graph, &self.graph_params(), limits)?;
        let microseconds = start.elapsed().as_micros();
        let mut explanation = json!(explanation);
        explanation["milliseconds"] = json!(microseconds as f64 / 1000.0);
        Ok(explanation)
    }

    /// Checks the query against the graph without running it (`dry_run`).
    fn check(&self, query: &Query, limits: Limits<'_>) -> Result<QueryOutput, QueryFailure> {
        let mut warnings = query.check()?;
        warnings.extend(query.check_against(&self.graph, limits));
        let rendered = Rendered { body: b"[]".to_vec(), kind: "none" };
        Ok(QueryOutput { rendered, fuel: 0, explanation: Some(json!({"warnings": warnings})) })
    }
}

/// Converts a query failure into a problem and counts it.
pub(crate) fn failure_problem(failure: QueryFailure, server: &Server, format: ResponseFormat) -> Problem {
    count_limited(&failure, &server.metrics);
    match failure {
        QueryFailure::Query(error) => {
            query_problem(&error, server.query_limits, server.query_limits.output_limit(format))
        }
        QueryFailure::File(error) => {
            Problem::new(codes::RESULT_NOT_EXPORTABLE).detail(error.to_string()).with("pq_code", error.code().as_str())
        }
    }
}

/// Counts a query that was stopped by a limit.
pub(crate) fn count_limited(failure: &QueryFailure, metrics: &Metrics) {
    if let QueryFailure::Query(error) = failure
        && let Some(limit) = limit_name(error)
    {
        metrics.count_limited_query(limit);
    }
}

/// Converts a query failure into the `error` field of a batch row.
pub(crate) fn failure_json(failure: &QueryFailure) -> Json {
    match failure {
        QueryFailure::Query(error) => {
            let mut row = json!({"code": error.code().as_str(), "message": error.message()});
            diagnostic_fields(error).into_iter().for_each(|(name, value)| row[name] = value);
            row
        }
        QueryFailure::File(error) => json!({"code": error.code().as_str(), "message": error.to_string()}),
    }
}
