//! Execution of a query with a JSON response: cached, inline, or on a worker thread.
//!
//! A connection thread runs a query inline only with little fuel, little memory and a small result. A query that
//! exceeds these limits runs again on a worker thread with the full limits; runs are deterministic. Large responses are
//! written while they are sent.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pidq_core::error::Code;
use pidq_core::{Cancel, Graph, Limits, Scratch, Value};
use pidq_http::header::HeaderValue;
use pidq_http::{Fingerprint, Problem, QueryMeasurements, Response, StatusCode};

use super::graph_params::BoundGraphs;
use super::request::QueryRequest;
use super::task::{FUEL_USED, RESULT_KIND, failure_problem, overloaded, run_with_timeout};
use crate::caches::result_cache::{CachedResponse, ExpectedCost, ResultHeaders, ResultKey};
use crate::caches::{self, QueryCache};
use crate::caller::Caller;
use crate::graph_selector::CHANGE_VERSION;
use crate::memory::memory_pool;
use crate::problems::problem;
use crate::query::splice_body::SpliceBody;
use crate::response_format::{QueryFailure, ResponseFormat};
use crate::server::{QueryLimits, Server};
use crate::store::{GraphMeta, run_blocking};

/// Maximum document size in bytes for an inline run of unknown cost.
const INLINE_DOCUMENT_SIZE: usize = 1 << 20;
/// Maximum size in bytes of a query that is compiled inline.
const INLINE_QUERY_SIZE: usize = 4 << 10;
/// Fuel of an inline run of unknown cost, and of one known to be short.
const FIRST_INLINE_FUEL: u64 = 20_000;
const INLINE_FUEL: u64 = 500_000;
/// Maximum result size in bytes of an inline run of unknown cost.
const FIRST_INLINE_OUTPUT: usize = 1 << 20;
/// Maximum duration of a run that counts as short.
const SHORT_RUN: Duration = Duration::from_micros(1500);
/// Minimum response size in bytes that is copied on a blocking thread.
const LARGE_COPY_SIZE: usize = 1 << 20;
/// Maximum size in bytes of a response that is sent from one buffer.
const SINGLE_BODY_SIZE: usize = 16 << 10;

/// Query on a graph whose response is the JSON envelope of the HTTP specification.
pub(crate) struct JsonQuery {
    pub graph: Arc<Graph>,
    /// Graphs of the graph parameters, in the order of their names, and their versions.
    pub graph_params: Vec<Arc<Graph>>,
    pub bound_graphs: BoundGraphs,
    pub meta: Arc<GraphMeta>,
    pub queries: Arc<QueryCache>,
    pub request: QueryRequest,
    pub query: Fingerprint,
    pub query_limits: QueryLimits,
}

/// Output of a query run.
struct RunOutput {
    body: SpliceBody,
    headers: ResultHeaders,
    elapsed: Duration,
}

/// Runs a query that is not in the result cache.
pub(crate) async fn execute(
    server: &Server,
    caller: &Caller<'_>,
    query: JsonQuery,
    key: &ResultKey,
) -> Result<Response, Problem> {
    let slot = server.result_cache.cost_slot(key);
    let cost = slot.expected_cost();
    let inline = query.inline_limits(cost).and_then(|limits| {
        server.memory_pool.try_run(limits.memory, |scratch| query.try_inline(scratch, limits)).flatten()
    });
    let (done, queue_time) = match inline {
        Some(done) => (done, Duration::ZERO),
        // Boxed to keep the future small: most requests do not take this path.
        None => Box::pin(query.run_on_pool(server, caller)).await?,
    };
    let output = done.map_err(|failure| failure_problem(failure, server, ResponseFormat::Json))?;
    slot.record(ExpectedCost::from_run(output.headers.fuel, output.elapsed));
    // A repeated query is likely to be repeated again.
    let is_cacheable = cost.is_some() && server.result_cache.accepts(output.body.len());
    let (fuel, response_size) = (output.headers.fuel, output.body.len() as u64);
    let response = output.respond(server, caller, is_cacheable.then_some(key)).await?;
    Ok(response.query_measurements(QueryMeasurements { fuel, queue_time, response_size }))
}

impl JsonQuery {
    /// Returns the limits of an inline run, or `None` if the query must run on a worker thread.
    fn inline_limits(&self, cost: Option<ExpectedCost>) -> Option<Limits<'static>> {
        let is_quickly_compiled = self.request.query.len() + self.request.params().len() <= INLINE_QUERY_SIZE
            && !caches::compiles_patterns(&self.request.query);
        let (fuel, output) = match cost {
            _ if !is_quickly_compiled => return None,
            Some(ExpectedCost::Short) => (INLINE_FUEL, usize::MAX),
            None if self.documents_size() <= INLINE_DOCUMENT_SIZE => (FIRST_INLINE_FUEL, FIRST_INLINE_OUTPUT),
            Some(ExpectedCost::Long) | None => return None,
        };
        let QueryLimits { fuel: max_fuel, memory, output: max_output, .. } = self.query_limits;
        let (fuel, output) = (fuel.min(max_fuel), output.min(max_output));
        Some(Limits { fuel, output, memory: memory.min(memory_pool::INITIAL_MEMORY), ..Limits::default() })
    }

    /// Returns the size of all documents that the query can read, in bytes.
    fn documents_size(&self) -> usize {
        self.graph_params.iter().chain([&self.graph]).map(|graph| graph.source().len()).sum()
    }

    /// Runs the query inline. Returns `None` if the inline limits were too low.
    fn try_inline(&self, scratch: &Scratch, limits: Limits<'_>) -> Option<Result<RunOutput, QueryFailure>> {
        match self.run(scratch, limits) {
            Err(QueryFailure::Query(error)) if is_resource_limit(error.code()) => None,
            done => Some(done),
        }
    }

    /// Runs the query on a worker thread with the query timeout. Also returns the time spent in the queue.
    async fn run_on_pool(
        self,
        server: &Server,
        caller: &Caller<'_>,
    ) -> Result<(Result<RunOutput, QueryFailure>, Duration), Problem> {
        let (memory, cancel) = (server.memory_pool.clone(), Arc::new(Cancel::default()));
        let (query_limits, job_cancel) = (self.query_limits, cancel.clone());
        let job = move || {
            memory.run(query_limits.memory, &job_cancel, |scratch, memory| {
                self.run(scratch, QueryLimits { memory, ..query_limits }.limits(query_limits.output, &job_cancel))
            })
        };
        let done =
            run_with_timeout(&server.thread_pool, &caller.fairness_key, query_limits.timeout, cancel, job).await?;
        Ok((done.value, done.queue_time))
    }

    fn run(&self, scratch: &Scratch, limits: Limits<'_>) -> Result<RunOutput, QueryFailure> {
        let started = Instant::now();
        let query = self.request.compile(&self.queries)?;
        let graph_params: Vec<&Graph> = self.graph_params.iter().map(|graph| &**graph).collect();
        let outcome = query.run_with_graphs(&self.graph, &graph_params, scratch, limits)?;
        let head = envelope_head(&self.request.query, &self.meta, &self.bound_graphs);
        let mut body = SpliceBody::new(self.graph.clone(), head);
        let kind = match outcome.value {
            Value::Array(_) => "array",
            Value::Undefined => "none",
            _ => "value",
        };
        match kind {
            "array" => body.add_result(&outcome)?,
            "none" => body.add(b"[]"),
            _ => {
                body.add(b"[");
                body.add_result(&outcome)?;
                body.add(b"]");
            }
        }
        body.add(b"}");
        let headers = ResultHeaders::new(kind, outcome.fuel, &self.meta, self.query);
        Ok(RunOutput { body, headers, elapsed: started.elapsed() })
    }
}

/// Returns the fields of the JSON envelope of the HTTP specification that come before the result.
pub(crate) fn envelope_head(query: &str, meta: &GraphMeta, bound_graphs: &BoundGraphs) -> Vec<u8> {
    let mut head = Vec::with_capacity(256);
    let fields = [
        (r#"{"query":"#, query),
        (r#","schema_version":"#, &meta.schema_version),
        (r#","change_version":"#, meta.version.as_str()),
    ];
    // Writing to memory does not fail.
    for (name, text) in fields {
        head.extend_from_slice(name.as_bytes());
        let _ = serde_json::to_writer(&mut head, text);
    }
    if let Some(versions) = bound_graphs.versions_read() {
        head.extend_from_slice(br#","graph_params":"#);
        let _ = serde_json::to_writer(&mut head, &versions);
    }
    head.extend_from_slice(br#","result":"#);
    head
}

/// Returns true if the run may succeed with higher limits.
fn is_resource_limit(code: Code) -> bool {
    matches!(code, Code::OutOfFuel | Code::OutOfMemory | Code::OutputTooLarge)
}

impl ExpectedCost {
    fn from_run(fuel: u64, elapsed: Duration) -> ExpectedCost {
        // A run beyond the inline fuel is never short: the inline attempt would fail every time.
        let is_short = fuel <= FIRST_INLINE_FUEL || fuel <= INLINE_FUEL && elapsed <= SHORT_RUN;
        if is_short { ExpectedCost::Short } else { ExpectedCost::Long }
    }
}

impl RunOutput {
    /// Builds the response and adds it to the result cache if a key is given.
    async fn respond(
        self,
        server: &Server,
        caller: &Caller<'_>,
        cache_key: Option<&ResultKey>,
    ) -> Result<Response, Problem> {
        let RunOutput { body, headers, .. } = self;
        if let Some(key) = cache_key {
            let body = server.result_cache.put(key, into_bytes(body).await?.into(), headers.clone());
            return Ok(headers.apply_to(Response::ok("application/json", body)));
        }
        // Boxed: small responses do not take this path.
        match body.len() {
            ..=SINGLE_BODY_SIZE => Ok(headers.apply_to(Response::ok("application/json", body.into_bytes()))),
            _ => Box::pin(stream_large(server, caller, body, headers)).await,
        }
    }
}

/// Streams a response while it is written.
async fn stream_large(
    server: &Server,
    caller: &Caller<'_>,
    body: SpliceBody,
    headers: ResultHeaders,
) -> Result<Response, Problem> {
    // A splice body keeps its graph alive until the response is sent.
    if server.graph_cache.exceeds_in_use_limit() {
        let reservation = server.memory_pool.reserve(&caller.fairness_key, body.len()).ok_or_else(overloaded)?;
        return Ok(headers.apply_to(Response::ok("application/json", reservation.attach(into_bytes(body).await?))));
    }
    let reservation = server.memory_pool.reserve(&caller.fairness_key, body.size()).ok_or_else(overloaded)?;
    Ok(headers.apply_to(match body.is_coarse() {
        true => Response::vectored("application/json", body.into_vectored(reservation)),
        false => Response::from_producer("application/json", body.into_buffered(&server.buffer_pool, reservation)),
    }))
}

/// Collects a body into memory. Connection threads copy at most one megabyte.
async fn into_bytes(body: SpliceBody) -> Result<Vec<u8>, Problem> {
    match body.len() {
        ..=LARGE_COPY_SIZE => Ok(body.into_bytes()),
        _ => run_blocking(move || Ok(body.into_bytes())).await.map_err(problem),
    }
}

impl CachedResponse {
    /// Builds a response from the cached result.
    pub fn to_response(&self) -> Response {
        let response =
            self.headers.clone().apply_to(Response::new(StatusCode::OK, "application/json", self.body.clone()));
        response.query_measurements(QueryMeasurements {
            fuel: self.headers.fuel,
            queue_time: Duration::ZERO,
            response_size: self.body.len() as u64,
        })
    }
}

impl ResultHeaders {
    fn new(kind: &'static str, fuel: u64, meta: &GraphMeta, query: Fingerprint) -> ResultHeaders {
        // A file in a read-only directory may have a version that is no valid header value.
        let version = HeaderValue::from_str(meta.version.as_str()).ok();
        ResultHeaders { kind, fuel, fuel_used: fuel.into(), version, query }
    }

    fn apply_to(self, response: Response) -> Response {
        let response = response.with(RESULT_KIND, HeaderValue::from_static(self.kind)).with(FUEL_USED, self.fuel_used);
        match self.version {
            Some(version) => response.with(CHANGE_VERSION, version),
            None => response,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_short_only_within_the_inline_fuel() {
        let (quick, slow) = (SHORT_RUN, SHORT_RUN * 2);
        assert_eq!(
            [quick, slow].map(|elapsed| ExpectedCost::from_run(FIRST_INLINE_FUEL, elapsed)),
            [ExpectedCost::Short, ExpectedCost::Short]
        );
        assert_eq!(
            [quick, slow].map(|elapsed| ExpectedCost::from_run(INLINE_FUEL, elapsed)),
            [ExpectedCost::Short, ExpectedCost::Long]
        );
        assert_eq!(
            [quick, slow].map(|elapsed| ExpectedCost::from_run(INLINE_FUEL + 1, elapsed)),
            [ExpectedCost::Long, ExpectedCost::Long]
        );
    }
}
