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
    /// The ids of its items; of an item without one, its tag or itself.
    names: Vec<String>,
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
    let items: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let context = Context {
        filename: asked.job_id.clone(),
        text: if text.is_empty() { "The query finds nothing.".to_owned() } else { text.to_owned() },
        score: 1.0,
        tags: texts(&items, |item| [&item["tag"], item]),
        graph: Some(Drawn { job_id: asked.job_id.clone(), change_version: answer.version, query: asked.query.clone() }),
        ..Context::default()
    };
    let detail =
        format!("The result of the graph query has {} bytes: the model sees its first {}.", lines.len(), text.len());
    let warnings = if is_whole { vec![] } else { vec![json!({"code": "graph-result-cut", "detail": detail})] };
    Ok(Found { context, names: texts(&items, |item| [&item["id"], &item["tag"], item]), warnings })
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

/// Of each item the first text among some parts of it, in their order and once each.
fn texts<const N: usize>(items: &[Value], parts: impl Fn(&Value) -> [&Value; N]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let texts = items.iter().filter_map(|item| parts(item).into_iter().find_map(Value::as_str));
    texts.filter(|text| seen.insert(*text)).map(str::to_owned).collect()
}

/// Says of each tag in passages which node of the graph it is, and which nodes were found. Without an answer nothing is said.
pub(super) async fn name_nodes(
    platform: &Platform,
    head: &Head,
    asked: &Asked,
    found: &mut Found,
    passages: &mut [&mut Context],
) {
    let tags = passages.iter().flat_map(|passage| &passage.tags);
    let names: BTreeSet<&String> = found.names.iter().chain(tags).take(NAMES).collect();
    let (Some(service), false) = (platform.graphs.get(), names.is_empty()) else { return };
    let body = json!({"query": NODES_OF, "params": {"names": names}});
    let answer = graphs::query(&**service, head, &asked.job_id, &body, "application/json").await;
    let Ok(answer) = answer.inspect_err(|problem| tracing::warn!(code = problem.code(), "tags are not looked up"))
    else {
        return;
    };
    let told: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let known = by_name(told["result"].as_array().map_or(&[][..], Vec::as_slice));
    found.context.nodes = nodes_of(&found.names, &known);
    for passage in passages {
        passage.nodes = nodes_of(&passage.tags, &known);
    }
}

/// The nodes of names, once each.
fn nodes_of(names: &[String], known: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let nodes = names.iter().filter_map(|name| known.get(name)).flatten();
    nodes.filter(|id| seen.insert(*id)).cloned().collect()
}

/// The ids of nodes under their ids and tags.
fn by_name(nodes: &[Value]) -> BTreeMap<String, Vec<String>> {
    let mut known: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for node in nodes {
        let Some(id) = id_of(node) else { continue };
        for name in [Some(id.clone()), node["tag"].as_str().map(str::to_owned)].into_iter().flatten() {
            known.entry(name).or_default().push(id.clone());
        }
    }
    known
}

/// An id may be a number.
fn id_of(node: &Value) -> Option<String> {
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
    fn texts_of_items_come_once_in_their_order() {
        let items = [json!({"id": "n1", "tag": "P-1"}), json!("V-1"), json!({"id": "n2", "tag": "P-1"}), json!(7)];
        assert_eq!(texts(&items, |item| [&item["tag"], item]), ["P-1", "V-1"]);
        assert_eq!(texts(&items, |item| [&item["id"], &item["tag"], item]), ["n1", "V-1", "n2"]);
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
        let nodes = [json!({"id": "a", "tag": "X"}), json!({"id": 7, "tag": "X"}), json!({"tag": "Y"})];
        assert_eq!(by_name(&nodes)["X"], ["a", "7"]);
        assert_eq!(by_name(&nodes)["a"], ["a"]);
    }
}
