//! `graph` of a question: what a query finds in a P&ID graph goes to the model before the passages of documents, and tags
//! in passages are told as nodes of that graph.

use std::collections::{BTreeMap, BTreeSet};

use pidq_http::{Head, Problem};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::answer::{Context, Drawn};
use crate::graphs;
use crate::platform::Platform;
use crate::problems::unprocessable;

/// The most bytes of a result that a model is shown.
const SHOWN: usize = 16 << 10;
/// The most tags that are looked up.
const NAMES: usize = 500;
/// The nodes of names: ids or tags.
const NODES_OF: &str = "[nodes(.id in $names), nodes(.tag in $names)] | flatten() | map({id: .id, tag: .tag})";

/// What is asked of a graph.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    job_id: String,
    query: String,
    #[serde(default)]
    params: Option<Map<String, Value>>,
}

/// What was found in a graph.
pub(super) struct Found {
    pub context: Context,
    pub warnings: Vec<Value>,
}

/// Asks the graph query service, as whoever asks the question.
pub(super) async fn ask(platform: &Platform, head: &Head, asked: &Asked) -> Result<Found, Problem> {
    let service = platform.graphs.get().ok_or_else(|| {
        let detail = "This platform knows no graph query service: `PIDQ_GRAPH_URL` names one, and `pidq up` has one.";
        unprocessable("no-graph-service", "/graph", detail)
    })?;
    let mut body = json!({"query": asked.query});
    if let Some(params) = &asked.params {
        body["params"] = params.clone().into();
    }
    let answer = graphs::query(&**service, head, &asked.job_id, &body, "application/x-ndjson").await?;
    let lines = String::from_utf8_lossy(&answer.body);
    let (text, is_whole) = shown(&lines);
    let tags = names_in(text);
    let context = Context {
        filename: asked.job_id.clone(),
        text: if text.is_empty() { "The query finds nothing.".to_owned() } else { text.to_owned() },
        score: 1.0,
        tags,
        graph: Some(Drawn { job_id: asked.job_id.clone(), change_version: answer.version, query: asked.query.clone() }),
        ..Context::default()
    };
    let detail =
        format!("The result of the graph query has {} bytes: the model sees its first {}.", lines.len(), text.len());
    let warnings = if is_whole { vec![] } else { vec![json!({"code": "graph-result-cut", "detail": detail})] };
    Ok(Found { context, warnings })
}

/// The first lines of a result, one of its items a line.
fn shown(lines: &str) -> (&str, bool) {
    let lines = lines.trim_end();
    if lines.len() <= SHOWN {
        return (lines, true);
    }
    let fits = &lines[..lines.floor_char_boundary(SHOWN)];
    (fits.rsplit_once('\n').map_or(fits, |(whole, _)| whole), false)
}

/// What may be the id or the tag of a node, in the order of the items.
fn names_in(lines: &str) -> Vec<String> {
    let mut names = Vec::new();
    for item in lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        let own = [&item, &item["tag"], &item["id"]];
        if let Some(name) = own.into_iter().find_map(Value::as_str) {
            names.push(name.to_owned());
        }
    }
    let mut seen = BTreeSet::new();
    names.retain(|name| seen.insert(name.clone()));
    names
}

/// Says of each tag in contexts which node of the graph it is. Without an answer they stay tags.
pub(super) async fn name_nodes(platform: &Platform, head: &Head, asked: &Asked, contexts: &mut [&mut Context]) {
    let names: BTreeSet<&String> = contexts.iter().flat_map(|context| &context.tags).take(NAMES).collect();
    let (Some(service), false) = (platform.graphs.get(), names.is_empty()) else { return };
    let body = json!({"query": NODES_OF, "params": {"names": names}});
    let answer = graphs::query(&**service, head, &asked.job_id, &body, "application/json").await;
    let Ok(answer) = answer.inspect_err(|problem| tracing::warn!(code = problem.code(), "tags are not looked up"))
    else {
        return;
    };
    let told: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let known = by_name(told["result"].as_array().map_or(&[][..], Vec::as_slice));
    for context in contexts {
        let mut seen = BTreeSet::new();
        let nodes = context.tags.iter().filter_map(|tag| known.get(tag.as_str())).flatten();
        context.nodes = nodes.filter(|id| seen.insert(**id)).map(|id| (*id).to_owned()).collect();
    }
}

/// The ids of nodes under their ids and tags.
fn by_name(nodes: &[Value]) -> BTreeMap<&str, Vec<&str>> {
    let mut known: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for node in nodes {
        let Some(id) = node["id"].as_str() else { continue };
        for name in [Some(id), node["tag"].as_str()].into_iter().flatten() {
            known.entry(name).or_default().push(id);
        }
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_items_or_their_tags_or_their_ids() {
        let lines = "{\"id\":\"n1\",\"tag\":\"P-101A\"}\n\"V-101\"\n{\"id\":\"n2\"}\n7\n\"V-101\"";
        assert_eq!(names_in(lines), ["P-101A", "V-101", "n2"]);
        assert!(names_in("").is_empty());
    }

    #[test]
    fn a_long_result_ends_with_a_whole_item() {
        let long = "\"é\"\n".repeat(SHOWN);
        let (text, is_whole) = shown(&long);
        assert!(!is_whole && text.len() <= SHOWN && text.ends_with('"'));
        assert_eq!(shown("1\n2\n"), ("1\n2", true));
        assert_eq!(shown(&"é".repeat(SHOWN)).0.len(), SHOWN);
    }

    #[test]
    fn a_tag_may_be_that_of_several_nodes() {
        let nodes = [json!({"id": "a", "tag": "X"}), json!({"id": "b", "tag": "X"}), json!({"id": 7})];
        assert_eq!(by_name(&nodes)["X"], ["a", "b"]);
        assert_eq!(by_name(&nodes)["a"], ["a"]);
    }
}
