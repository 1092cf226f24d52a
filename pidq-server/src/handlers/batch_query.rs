//! Handler of `POST /graph`: runs one query on many graphs and streams one NDJSON row for each.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use pidq_core::limits::MAX_QUERY_SIZE;
use pidq_http::{Fingerprint, Problem, Request, Response, Sender, codes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value as Json, json};
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::caller::Caller;
use crate::graph_selector::GraphIdText;
use crate::handlers::graphs::list_readable;
use crate::problems::problem;
use crate::query::request::{QueryRequest, deserialize_present, parse_body};
use crate::query::task::{check_compiles, count_limited, failure_json, load_graph, run_on_pool};
use crate::response_format::{ResponseFormat, ResponseOptions};
use crate::server::Server;
use crate::store::{Error, GraphId, Tenant, Version, VersionSelector};

/// Query on several graphs. Other fields are ignored.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "BatchQuery")]
pub(crate) struct BatchRequest {
    /// The query, at most 65,536 bytes.
    #[schemars(length(min = 1, max = MAX_QUERY_SIZE))]
    query: String,
    /// Values of the parameters of the query, by name.
    #[serde(default, deserialize_with = "deserialize_present")]
    #[schemars(with = "Map<String, Json>")]
    params: Option<Box<RawValue>>,
    /// Graphs to query.
    #[schemars(with = "GraphSelection")]
    graphs: Map<String, Json>,
}

/// Selection of graphs.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum GraphSelection {
    /// All graphs whose ids have this prefix.
    Prefix(String),
    /// Graphs with these ids.
    #[schemars(with = "Vec<GraphIdText>")]
    Ids(Vec<String>),
}

impl GraphSelection {
    /// Parses the `graphs` object, which has exactly one field.
    fn from_fields(fields: Map<String, Json>) -> Result<GraphSelection, Problem> {
        let detail = "`graphs` must be an object with either `prefix`, a string, or `ids`, an array of strings.";
        serde_json::from_value(fields.into()).map_err(|_| Problem::new(codes::INVALID_REQUEST).detail(detail))
    }
}

/// Number of graphs queried concurrently: enough to keep the threads busy while a row is sent.
const CONCURRENCY: usize = 4;

/// Delay before a row is retried that did not fit into response memory.
const RETRY_DELAY: Duration = Duration::from_millis(100);

/// Row in progress. Dropping it aborts its query.
struct PendingRow(JoinHandle<Option<Bytes>>);

impl Drop for PendingRow {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Result of a query on one graph.
struct BatchRow {
    graph_id: GraphId,
    version: Option<Version>,
    /// Result as JSON, or the error object.
    result: Result<Box<RawValue>, Json>,
}

/// Handles `POST /graph`.
pub(crate) async fn post_batch(server: &Arc<Server>, mut request: Request) -> Result<Response, Problem> {
    let batch: BatchRequest = parse_body(&request.bytes().await?)?;
    let query_request = Arc::new(QueryRequest::new(batch.query, batch.params)?);
    request.head.record_query(Fingerprint::from_text(&query_request.query));
    let caller = Caller::from_request(server, &request)?;
    let selection = GraphSelection::from_fields(batch.graphs)?;
    check_compiles(server, &caller.fairness_key, query_request.clone()).await?;
    let graph_ids = select_graphs(server, &caller, selection).await?;
    let (lines, response) = Response::stream("application/x-ndjson");
    let batch = Batch {
        server: server.clone(),
        tenant: caller.tenant.clone(),
        fairness_key: caller.fairness_key.clone(),
        query_request,
    };
    tokio::spawn(stream_rows(Arc::new(batch), graph_ids, lines));
    Ok(response)
}

/// Resolves the selected graphs and whether the caller may read each. An unreadable id gets an error row.
async fn select_graphs(
    server: &Server,
    caller: &Caller<'_>,
    selection: GraphSelection,
) -> Result<Vec<(GraphId, bool)>, Problem> {
    let access = caller.access_scope().await?;
    let limit = server.query_limits.batch_graphs;
    match selection {
        GraphSelection::Prefix(prefix) => {
            let found = list_readable(server, &caller.tenant, &access, &prefix, None, limit + 1).await?;
            // A truncated result would look complete.
            if found.len() > limit {
                return Err(too_many_graphs(limit));
            }
            Ok(found.iter().map(|meta| (meta.graph_id.clone(), true)).collect())
        }
        GraphSelection::Ids(ids) if ids.len() > limit => {
            Err(Problem::new(codes::INVALID_REQUEST).detail(format!("`graphs.ids` has more than {limit} ids.")))
        }
        GraphSelection::Ids(ids) => {
            let graph_ids = ids.iter().map(|id| GraphId::parse(id).map_err(problem));
            let graph_ids: Vec<GraphId> = graph_ids.collect::<Result<_, _>>()?;
            Ok(graph_ids
                .into_iter()
                .map(|graph_id| (access.may_read(&graph_id), graph_id))
                .map(|(may, graph_id)| (graph_id, may))
                .collect())
        }
    }
}

fn too_many_graphs(limit: usize) -> Problem {
    let detail = format!("`graphs.prefix` matches more than {limit} graphs; use a longer prefix or several requests.");
    Problem::new(codes::TOO_MANY_GRAPHS).detail(detail).with("limit", limit)
}

/// State shared by all rows of a batch.
struct Batch {
    server: Arc<Server>,
    tenant: Tenant,
    fairness_key: Arc<str>,
    query_request: Arc<QueryRequest>,
}

/// Queries a few graphs concurrently and sends their rows in order, until the client disconnects.
async fn stream_rows(batch: Arc<Batch>, graph_ids: Vec<(GraphId, bool)>, mut lines: Sender) {
    let (mut next, mut concurrency) = (0, CONCURRENCY);
    let mut pending: VecDeque<PendingRow> = VecDeque::new();
    loop {
        while pending.len() < concurrency
            && let Some((graph_id, may_read)) = graph_ids.get(next)
        {
            pending.push_back(PendingRow(tokio::spawn(row_line(batch.clone(), graph_id.clone(), *may_read))));
            next += 1;
        }
        let Some(first) = pending.front_mut() else { break };
        let line = tokio::select! {
            line = &mut first.0 => line,
            () = lines.closed() => return,
        };
        match line {
            Ok(Some(line)) => {
                if lines.send(line).await.is_err() {
                    return;
                }
                pending.pop_front();
                concurrency = CONCURRENCY;
            }
            Ok(None) => {
                // Later rows release the memory that the first row needs.
                next -= pending.len();
                pending.clear();
                concurrency = 1;
                tokio::select! { () = sleep(RETRY_DELAY) => {}, () = lines.closed() => return }
            }
            // A panic: the truncated response signals the failure.
            Err(_) => return,
        }
    }
    // If the client disconnected, only the end of the stream is lost.
    let _ = lines.finish().await;
}

/// Returns the row of a graph as an NDJSON line, or `None` if response memory is exhausted.
async fn row_line(batch: Arc<Batch>, graph_id: GraphId, may_read: bool) -> Option<Bytes> {
    let row = query_row(&batch, graph_id, may_read).await.into_json();
    let mut line = serde_json::to_vec(&row).unwrap_or_default();
    drop(row);
    line.push(b'\n');
    batch.server.memory_pool.reserve_body(&batch.fairness_key, line)
}

async fn query_row(batch: &Batch, graph_id: GraphId, may_read: bool) -> BatchRow {
    if !may_read {
        return BatchRow { graph_id, version: None, result: Err(problem_json(&problem(Error::GraphNotFound))) };
    }
    let (meta, graph) = match load_graph(&batch.server, &batch.tenant, &graph_id, &VersionSelector::Latest).await {
        Ok(found) => found,
        Err(problem) => return BatchRow { graph_id, version: None, result: Err(problem_json(&problem)) },
    };
    let done = run_on_pool(
        &batch.server,
        &batch.fairness_key,
        (graph, Vec::new()),
        batch.query_request.clone(),
        ResponseOptions::new(ResponseFormat::Json),
    )
    .await;
    let result = match done {
        Ok(done) => match done.value {
            Ok(output) => raw_json(output.rendered.body),
            Err(failure) => {
                count_limited(&failure, &batch.server.metrics);
                Err(failure_json(&failure))
            }
        },
        Err(problem) => Err(problem_json(&problem)),
    };
    BatchRow { graph_id, version: Some(meta.version.clone()), result }
}

fn raw_json(json: Vec<u8>) -> Result<Box<RawValue>, Json> {
    let internal = || json!({"code": "internal", "message": "the result is not JSON"});
    let text = String::from_utf8(json).map_err(|_| internal())?;
    RawValue::from_string(text).map_err(|_| internal())
}

fn problem_json(problem: &Problem) -> Json {
    json!({"code": problem.code(), "message": problem.code().replace('-', " ")})
}

impl BatchRow {
    fn into_json(self) -> BatchRowJson {
        let (result, error) = match self.result {
            Ok(result) => (Some(result), None),
            Err(error) => (None, Some(error)),
        };
        BatchRowJson {
            job_id: self.graph_id.as_str().into(),
            change_version: self.version.map(|v| v.to_string()),
            result,
            error,
        }
    }
}

/// Result of a query on one of several graphs: either `result` or `error`.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "BatchRow")]
pub(crate) struct BatchRowJson {
    /// Graph id.
    job_id: String,
    /// Version of the graph. Null if the graph was not found or could not be read.
    change_version: Option<String>,
    /// The result; a value that is no array is the only item.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<Json>")]
    result: Option<Box<RawValue>>,
    /// Error, with `code` and `message`, and the position for an error of the query.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Map<String, Json>")]
    error: Option<Json>,
}
