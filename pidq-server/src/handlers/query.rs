//! Handler of `POST /graph/{job_id}`: runs a query on a stored graph.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use pidq_http::{Fingerprint, Problem, QueryMeasurements, Request, Response, StatusCode};
use serde_json::Value as Json;

use crate::caches;
use crate::caches::result_cache::ResultKey;
use crate::caller::Caller;
use crate::graph_selector::{CHANGE_VERSION, graph_id, version_selector};
use crate::problems::problem;
use crate::query::execution::{self, JsonQuery, envelope_head};
use crate::query::graph_params::BoundGraphs;
use crate::query::request::{QueryRequest, parse_body};
use crate::query::task::{FUEL_USED, QueryOutput, RESULT_KIND, failure_problem, overloaded, run_on_pool};
use crate::response_format::{ResponseFormat, ResponseOptions};
use crate::server::Server;
use crate::store::GraphMeta;

/// Handles `POST /graph/{job_id}`.
pub(crate) async fn post_query(server: &Server, mut request: Request) -> Result<Response, Problem> {
    let (graph_id, selector, format) =
        (graph_id(&request)?, version_selector(&request)?, ResponseFormat::from_request(&request)?);
    let caller = Caller::from_request(server, &request)?;
    caller.require_read(&graph_id).await?;
    let meta = server.store.head(&caller.tenant, &graph_id, &selector).await.map_err(problem)?;
    let body = request.bytes().await?;
    let mut key = format.is_json().then(|| ResultKey::new(&caller.tenant, &meta, &body));
    // A request with graph parameters has no result under this key.
    if let Some(response) = cached_response(server, &request, key.as_ref()) {
        return Ok(response);
    }
    let request_body: QueryRequest = parse_body(&body)?;
    request_body.check()?;
    let query = Fingerprint::from_text(&request_body.query);
    request.head.record_query(query);
    let mut bound_graphs = BoundGraphs::default();
    if !request_body.graph_params.is_empty() {
        // Boxed, as below, to keep the future of most requests small.
        bound_graphs = Box::pin(BoundGraphs::resolve(server, &caller, &graph_id, &request_body.graph_params)).await?;
        key = key.map(|key| key.with_graph_params(bound_graphs.keys(&caller.tenant)));
        if let Some(response) = cached_response(server, &request, key.as_ref()) {
            return Ok(response);
        }
    }
    let graph =
        caches::load_version(&server.store, &server.graph_cache, &caller.tenant, &meta).await.map_err(problem)?;
    let graph_params = match bound_graphs.is_empty() {
        true => Vec::new(),
        false => Box::pin(bound_graphs.load(server, &caller.tenant)).await?,
    };
    if let Some(key) = key.filter(|_| !request_body.explain && !request_body.dry_run) {
        let json_query = JsonQuery {
            graph,
            graph_params,
            bound_graphs,
            meta,
            queries: server.query_cache.clone(),
            request: request_body,
            query,
            query_limits: server.query_limits,
        };
        return execution::execute(server, &caller, json_query, &key).await;
    }
    let options = ResponseOptions { format, explain: request_body.explain };
    let request_body = Arc::new(request_body);
    let done =
        Box::pin(run_on_pool(server, &caller.fairness_key, (graph, graph_params), request_body.clone(), options))
            .await?;
    let output = done.value.map_err(|failure| failure_problem(failure, server, format))?;
    let reserve = |result| server.memory_pool.reserve_body(&caller.fairness_key, result).ok_or_else(overloaded);
    let envelope_head = envelope_head(&request_body.query, &meta, &bound_graphs);
    respond(&request_body, &meta, format, (envelope_head, output), done.queue_time, reserve)
}

/// Returns the response from the result cache.
fn cached_response(server: &Server, request: &Request, key: Option<&ResultKey>) -> Option<Response> {
    let cached = server.result_cache.get(key?)?;
    request.head.record_query(cached.headers.query);
    Some(cached.to_response())
}

fn respond(
    request_body: &QueryRequest,
    meta: &GraphMeta,
    format: ResponseFormat,
    (envelope_head, output): (Vec<u8>, QueryOutput),
    queue_time: Duration,
    reserve: impl FnOnce(Vec<u8>) -> Result<Bytes, Problem>,
) -> Result<Response, Problem> {
    let QueryOutput { rendered, fuel, explanation } = output;
    // The response of a dry run is always JSON.
    let format = if request_body.dry_run { ResponseFormat::Json } else { format };
    let body = match format {
        ResponseFormat::Json => envelope(envelope_head, &rendered.body, explanation.as_ref()),
        _ => rendered.body,
    };
    let response_size = body.len() as u64;
    Ok(Response::new(StatusCode::OK, format.media_type(), reserve(body)?)
        .header(RESULT_KIND, rendered.kind)
        .header(FUEL_USED, fuel.to_string())
        .header(CHANGE_VERSION, meta.version.as_str())
        .query_measurements(QueryMeasurements { fuel, queue_time, response_size }))
}

/// Builds the JSON response envelope with the fields of the HTTP specification, in order.
fn envelope(head: Vec<u8>, result: &[u8], explanation: Option<&Json>) -> Vec<u8> {
    let tail = explanation.map_or_else(|| "}".into(), |explanation| format!(r#","explain":{explanation}}}"#));
    [&head, result, tail.as_bytes()].concat()
}
