//! Field `graph` of a question: the result of a graph query becomes the first context of the prompt, and tags in
//! passages are resolved to nodes of that graph.

use std::collections::{BTreeMap, BTreeSet};

use pidq_http::{Head, Problem, codes};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::api::graph_query;
use crate::api::handlers::search::SearchWarning;
use crate::api::problems::unprocessable;
use crate::generation::rag::{Context, GraphSource};
use crate::platform::Platform;

/// Maximum size of a graph query result in the prompt, in bytes.
const MAX_RESULT_SIZE: usize = 16 << 10;
/// Maximum number of tags that are resolved.
const MAX_NAMES: usize = 500;
/// Query for the nodes with the given ids or tags.
const NODES_QUERY: &str = "[nodes(.id in $names), nodes(.tag in $names)] | flatten() | map({id: .id, tag: .tag})";

/// Graph query of a question. Its result is the first passage.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "QuestionGraph")]
pub(crate) struct GraphRequest {
    /// Graph id.
    job_id: String,
    /// Query on the graph.
    query: String,
    /// Values of the parameters of the query, by name.
    #[serde(default)]
    params: Option<Map<String, Value>>,
}

/// Result of the graph query.
pub(super) struct GraphResult {
    pub context: Context,
    /// Ids of its items; for an item without an id, its tag or the item itself.
    names: Vec<String>,
    pub warnings: Vec<SearchWarning>,
}

/// Runs the graph query with the caller's token.
pub(super) async fn run_query(
    platform: &Platform,
    head: &Head,
    request: &GraphRequest,
) -> Result<GraphResult, Problem> {
    let service = platform.generation.graph_service.get().ok_or_else(|| {
        let detail = "No graph query service is configured; set `PIDQ_GRAPH_URL` or use `pidq up`.";
        unprocessable(codes::GRAPH_SERVICE_NOT_CONFIGURED, "/graph", detail)
    })?;
    let mut body = json!({"query": request.query});
    if let Some(params) = &request.params {
        body["params"] = params.clone().into();
    }
    let response = graph_query::query(&**service, head, &request.job_id, &body, "application/x-ndjson").await?;
    let lines = String::from_utf8_lossy(&response.body);
    let (text, is_whole) = truncate_lines(&lines);
    let items: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let context = Context {
        filename: request.job_id.clone(),
        text: if text.is_empty() { "The query has no results.".to_owned() } else { text.to_owned() },
        score: 1.0,
        tags: first_strings(&items, |item| [&item["tag"], item]),
        graph: Some(GraphSource {
            job_id: request.job_id.clone(),
            change_version: response.version,
            query: request.query.clone(),
        }),
        ..Context::default()
    };
    let detail = format!(
        "The result of the graph query has {} bytes; only the first {} are passed to the model.",
        lines.len(),
        text.len()
    );
    let warnings = if is_whole { vec![] } else { vec![SearchWarning::new("graph-result-cut", detail)] };
    Ok(GraphResult { context, names: first_strings(&items, |item| [&item["id"], &item["tag"], item]), warnings })
}

/// Returns the first lines of a result that fit, one item a line, and whether these are all.
fn truncate_lines(lines: &str) -> (&str, bool) {
    let lines = lines.trim_end();
    if lines.len() <= MAX_RESULT_SIZE {
        return (lines, true);
    }
    let prefix = &lines[..lines.floor_char_boundary(MAX_RESULT_SIZE)];
    (prefix.rsplit_once('\n').map_or(prefix, |(whole, _)| whole), false)
}

/// Returns the first string among some parts of each item, in order and without duplicates.
fn first_strings<const N: usize>(items: &[Value], parts: impl Fn(&Value) -> [&Value; N]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let texts = items.iter().filter_map(|item| parts(item).into_iter().find_map(Value::as_str));
    texts.filter(|text| seen.insert(*text)).map(str::to_owned).collect()
}

/// Adds node ids to all contexts for their tags. Without a response of the graph query service, none are added.
pub(super) async fn resolve_tags(
    platform: &Platform,
    head: &Head,
    request: &GraphRequest,
    result: &mut GraphResult,
    passages: &mut [&mut Context],
) {
    let tags = passages.iter().flat_map(|passage| &passage.tags);
    let names: BTreeSet<&String> = result.names.iter().chain(tags).take(MAX_NAMES).collect();
    let (Some(service), false) = (platform.generation.graph_service.get(), names.is_empty()) else { return };
    let body = json!({"query": NODES_QUERY, "params": {"names": names}});
    let response = graph_query::query(&**service, head, &request.job_id, &body, "application/json").await;
    let Ok(response) = response.inspect_err(|problem| {
        tracing::warn!(code = problem.code(), "resolving tags failed; passages have no node ids")
    }) else {
        return;
    };
    let body: Value = serde_json::from_slice(&response.body).unwrap_or_default();
    let nodes_by_name = nodes_by_name(body["result"].as_array().map_or(&[][..], Vec::as_slice));
    result.context.nodes = nodes_of(&result.names, &nodes_by_name);
    for passage in passages {
        passage.nodes = nodes_of(&passage.tags, &nodes_by_name);
    }
}

/// Returns the node ids of names, without duplicates.
fn nodes_of(names: &[String], nodes_by_name: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let nodes = names.iter().filter_map(|name| nodes_by_name.get(name)).flatten();
    nodes.filter(|id| seen.insert(*id)).cloned().collect()
}

/// Maps ids and tags to node ids.
fn nodes_by_name(nodes: &[Value]) -> BTreeMap<String, Vec<String>> {
    let mut ids_by_name: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for node in nodes {
        let Some(id) = node_id(node) else { continue };
        for name in [Some(id.clone()), node["tag"].as_str().map(str::to_owned)].into_iter().flatten() {
            ids_by_name.entry(name).or_default().push(id.clone());
        }
    }
    ids_by_name
}

/// Returns the id of a node as a string; it may be a number.
fn node_id(node: &Value) -> Option<String> {
    match &node["id"] {
        Value::String(id) => Some(id.clone()),
        Value::Number(id) => Some(id.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_strings_are_unique_and_in_order() {
        let items = [json!({"id": "n1", "tag": "P-1"}), json!("V-1"), json!({"id": "n2", "tag": "P-1"}), json!(7)];
        assert_eq!(first_strings(&items, |item| [&item["tag"], item]), ["P-1", "V-1"]);
        assert_eq!(first_strings(&items, |item| [&item["id"], &item["tag"], item]), ["n1", "V-1", "n2"]);
    }

    #[test]
    fn a_long_result_ends_with_a_whole_item() {
        let long = "\"é\"\n".repeat(MAX_RESULT_SIZE);
        let (text, is_whole) = truncate_lines(&long);
        assert!(!is_whole && text.len() <= MAX_RESULT_SIZE && text.ends_with('"'));
        assert_eq!(truncate_lines("1\n2\n"), ("1\n2", true));
        assert_eq!(truncate_lines(&"é".repeat(MAX_RESULT_SIZE)).0.len(), MAX_RESULT_SIZE);
    }

    #[test]
    fn several_nodes_may_have_the_same_tag() {
        let nodes = [json!({"id": "a", "tag": "X"}), json!({"id": 7, "tag": "X"}), json!({"tag": "Y"})];
        assert_eq!(nodes_by_name(&nodes)["X"], ["a", "7"]);
        assert_eq!(nodes_by_name(&nodes)["a"], ["a"]);
    }
}
