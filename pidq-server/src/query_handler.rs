//! Handler of `POST /graph/{job_id}`: runs a query on a stored graph.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use pidq_core::error::Code;
use pidq_core::limits::MAX_QUERY_SIZE;
use pidq_core::{Cancel, Graph, Limits, Profile, Query, Scratch};
use pidq_http::header::HeaderName;
use pidq_http::{Fingerprint, JobResult, Problem, QueryMeasurements, Request, Response, StatusCode, ThreadPool, codes};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Value as Json, json};

use crate::caches::{self, QueryCache};
use crate::caller::Caller;
use crate::graph_handlers::{CHANGE_VERSION, graph_id, version_selector};
use crate::memory_pool::MemoryPool;
use crate::metrics::Metrics;
use crate::problems::{diagnostic_fields, limit_name, problem, query_problem};
use crate::query_execution::{self, JsonQuery};
use crate::response_format::{QueryFailure, Rendered, ResponseFormat, ResponseOptions};
use crate::result_cache::ResultKey;
use crate::server::{QueryLimits, Server};
use crate::store::{Error, GraphId, GraphMeta, Tenant, VersionSelector};
use crate::validation::json_offsets::lone_surrogate;

/// Body of a query request.
#[derive(Deserialize)]
pub(crate) struct QueryRequest {
    pub query: String,
    #[serde(default, deserialize_with = "deserialize_present")]
    params: Option<Box<RawValue>>,
    #[serde(default)]
    explain: bool,
    #[serde(default)]
    dry_run: bool,
}

/// Deserializes a field that is present, including an explicit `null`, which is a different error than a missing field.
pub(crate) fn deserialize_present<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::deserialize(deserializer).map(Some)
}

/// Parses a JSON request body. Also rejects invalid UTF-8 and lone surrogates in parts that serde skips or keeps as raw
/// JSON.
pub(crate) fn parse_body<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    let fields = Request::parse_object(body)?;
    let malformed = |detail: &str, offset| Err(problem(Error::MalformedJson { detail: detail.into(), offset }));
    match std::str::from_utf8(body).map(lone_surrogate) {
        Ok(None) => Ok(fields),
        Ok(Some(offset)) => malformed("Lone surrogate escape", offset),
        Err(error) => malformed("Invalid UTF-8", error.valid_up_to()),
    }
}

/// Query that is ready to run on a worker thread.
pub(crate) struct QueryTask {
    pub graph: Arc<Graph>,
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
    explanation: Option<Json>,
}

/// Handles `POST /graph/{job_id}`.
pub(crate) async fn post_query(server: &Server, mut request: Request) -> Result<Response, Problem> {
    let (graph_id, selector, format) =
        (graph_id(&request)?, version_selector(&request)?, ResponseFormat::from_request(&request)?);
    let caller = Caller::from_request(server, &request)?;
    caller.require_read(&graph_id).await?;
    let meta = server.store.head(&caller.tenant, &graph_id, &selector).await.map_err(problem)?;
    let body = request.bytes().await?;
    let key = format.is_json().then(|| ResultKey::new(&caller.tenant, &meta, &body));
    if let Some(cached) = key.as_ref().and_then(|key| server.result_cache.get(key)) {
        request.head.record_query(cached.headers.query);
        return Ok(cached.to_response());
    }
    let request_body: QueryRequest = parse_body(&body)?;
    request_body.check()?;
    let query = Fingerprint::from_text(&request_body.query);
    request.head.record_query(query);
    let graph =
        caches::load_version(&server.store, &server.graph_cache, &caller.tenant, &meta).await.map_err(problem)?;
    if let Some(key) = key.filter(|_| !request_body.explain && !request_body.dry_run) {
        let json_query = JsonQuery {
            graph,
            meta,
            queries: server.query_cache.clone(),
            request: request_body,
            query,
            query_limits: server.query_limits,
        };
        return query_execution::execute(server, &caller, json_query, &key).await;
    }
    let options = ResponseOptions { format, explain: request_body.explain };
    let request_body = Arc::new(request_body);
    // Boxed to keep the future of the cached and inline paths small.
    let done = Box::pin(run_on_pool(server, &caller.fairness_key, graph, request_body.clone(), options)).await?;
    let output = done.value.map_err(|failure| failure_problem(failure, server, format))?;
    let reserve = |result| server.memory_pool.reserve_body(&caller.fairness_key, result).ok_or_else(overloaded);
    respond(&request_body, &meta, format, output, done.queue_time, reserve)
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
    let done = run_on_pool(server, &caller.fairness_key, graph, request_body, ResponseOptions::new(format)).await?;
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

/// Runs a query on a worker thread, with the query timeout.
pub(crate) async fn run_on_pool(
    server: &Server,
    fairness_key: &str,
    graph: Arc<Graph>,
    request_body: Arc<QueryRequest>,
    options: ResponseOptions,
) -> Result<JobResult<Result<QueryOutput, QueryFailure>>, Problem> {
    let (queries, memory) = (server.query_cache.clone(), server.memory_pool.clone());
    let (query_limits, cancel) = (server.query_limits, Arc::new(Cancel::default()));
    let task = QueryTask { graph, queries, memory, request_body, options, query_limits, cancel: cancel.clone() };
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

impl QueryRequest {
    /// Creates a request with a query and parameters only.
    pub fn new(query: String, params: Option<Box<RawValue>>) -> Result<QueryRequest, Problem> {
        let request = QueryRequest { query, params, explain: false, dry_run: false };
        request.check()?;
        Ok(request)
    }

    /// Validates the constraints that serde does not check.
    fn check(&self) -> Result<(), Problem> {
        let invalid = |detail: &str| Err(Problem::new(codes::INVALID_REQUEST).detail(detail));
        match &self.params {
            _ if self.query.is_empty() => invalid("`query` is empty."),
            _ if self.query.len() > MAX_QUERY_SIZE => Err(query_too_long()),
            Some(params) if !params.get().starts_with('{') => invalid("`params` must be an object."),
            _ => Ok(()),
        }
    }

    /// Returns the parameters as JSON.
    pub fn params(&self) -> &str {
        self.params.as_ref().map_or("{}", |params| params.get())
    }

    /// Compiles the query, using the query cache. Blocks and is CPU-bound.
    pub fn compile(&self, queries: &QueryCache) -> pidq_core::Result<Arc<Query>> {
        let (text, params) = (self.query.as_str(), self.params());
        queries.load(Profile::Pidq, text, params, || Query::with_params(text, params))
    }
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

    fn run(&self, query: &Query, scratch: &Scratch, limits: Limits<'_>) -> Result<QueryOutput, QueryFailure> {
        let outcome = query.run(&self.graph, scratch, limits)?;
        let rendered = self.options.format.write(&outcome, limits.output)?;
        Ok(QueryOutput { rendered, fuel: outcome.fuel, explanation: None })
    }

    fn explain(&self, query: &Query, limits: Limits<'_>) -> Result<Json, QueryFailure> {
        let start = Instant::now();
        let explanation = query.explain(&self.graph, limits)?;
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

/// Returns the problem for an overlong query, which is reported before compilation.
fn query_too_long() -> Problem {
    Problem::new(codes::QUERY_LIMIT)
        .detail(format!("The query exceeds {MAX_QUERY_SIZE} bytes."))
        .with("pq_code", Code::QueryTooLong.as_str())
        .with("limit", "query")
        .with("value", MAX_QUERY_SIZE)
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

fn respond(
    request_body: &QueryRequest,
    meta: &GraphMeta,
    format: ResponseFormat,
    output: QueryOutput,
    queue_time: Duration,
    reserve: impl FnOnce(Vec<u8>) -> Result<Bytes, Problem>,
) -> Result<Response, Problem> {
    let QueryOutput { rendered, fuel, explanation } = output;
    // The response of a dry run is always JSON.
    let format = if request_body.dry_run { ResponseFormat::Json } else { format };
    let body = match format {
        ResponseFormat::Json => envelope(request_body, meta, &rendered.body, explanation.as_ref()),
        _ => rendered.body,
    };
    let response_size = body.len() as u64;
    Ok(Response::new(StatusCode::OK, format.media_type(), reserve(body)?)
        .header(RESULT_KIND, rendered.kind)
        .header(FUEL_USED, fuel.to_string())
        .header(CHANGE_VERSION, meta.version.as_str())
        .query_measurements(QueryMeasurements { fuel, queue_time, response_size }))
}

/// Returns the problem for exhausted response memory.
pub(crate) fn overloaded() -> Problem {
    Problem::new(codes::OVERLOADED).detail("Too many responses are unread. Read them, then try again.").retry_after(1)
}

pub(crate) const RESULT_KIND: HeaderName = HeaderName::from_static("x-result-kind");
pub(crate) const FUEL_USED: HeaderName = HeaderName::from_static("x-fuel-used");

/// Builds the JSON response envelope with the four fields of the HTTP specification, in order.
fn envelope(request_body: &QueryRequest, meta: &GraphMeta, result: &[u8], explanation: Option<&Json>) -> Vec<u8> {
    let [query, schema, version] =
        [&request_body.query, &meta.schema_version, meta.version.as_str()].map(|text| json!(text));
    let head = format!(r#"{{"query":{query},"schema_version":{schema},"change_version":{version},"result":"#);
    let tail = explanation.map_or_else(|| "}".into(), |explanation| format!(r#","explain":{explanation}}}"#));
    [head.as_bytes(), result, tail.as_bytes()].concat()
}
