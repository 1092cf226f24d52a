//! JSON formats: the document itself, node-link JSON of NetworkX, and newline-delimited JSON.

use pidq_core::{Graph, Object, Value};

use crate::encoding::decode_plain;
use crate::error::{Code, Error, Result};
use crate::import::{Import, ImportBuilder};
use crate::json::{Fields, Json, quote};
use crate::model::{ENDS, Edge, Endpoint, Model};

/// Writes a value as JSON.
pub fn write_json(value: Value<'_>) -> Result<Vec<Vec<u8>>> {
    let mut out = crate::model::json(value);
    out.push('\n');
    Ok(vec![out.into_bytes()])
}

/// Writes nodes and edges as NDJSON, with the digits of the document.
pub fn write_lines(value: Value<'_>) -> Result<Vec<Vec<u8>>> {
    let model = Model::from_value(value)?;
    let lines = |rows: &mut dyn Iterator<Item = Object<'_>>| {
        let mut out = String::new();
        for row in rows {
            compact(&crate::model::json(Value::Object(row)), &mut out);
            out.push('\n');
        }
        out.into_bytes()
    };
    let nodes = lines(&mut model.nodes.iter().map(|node| node.fields));
    Ok(vec![nodes, lines(&mut model.edges.iter().map(|edge| edge.fields))])
}

/// Reads nodes and edges as NDJSON: one object per line.
///
/// # Errors
/// `PQ6011` with the line for one that is not JSON, and `PQ6003` for one that is not an object, or an edge without ends.
pub fn read_lines(nodes: &[u8], edges: &[u8]) -> Result<Import> {
    let mut builder = ImportBuilder { nodes: objects(nodes)?, edges: objects(edges)?, ..ImportBuilder::default() };
    builder.edges.iter().try_for_each(check_ends)?;
    builder.report_dangling_edges();
    Ok(builder.finish())
}

fn objects(bytes: &[u8]) -> Result<Vec<Fields>> {
    let text = decode_plain(bytes)?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(at, line)| object(line).map_err(|error| error.with_line(at + 1))).collect()
}

fn object(line: &str) -> Result<Fields> {
    let graph = Graph::from_json(line.as_bytes().to_vec())
        .map_err(|error| Error::new(Code::NotJson, error.message().to_owned()))?;
    let object = graph.root().as_object().map(raw);
    object.ok_or_else(|| Error::new(Code::NotGraph, "a line is not an object"))
}

/// Removes whitespace between JSON tokens, so that a value fits on one line.
fn compact(json: &str, out: &mut String) {
    let (mut in_text, mut escaped) = (false, false);
    for c in json.chars() {
        if in_text || !c.is_ascii_whitespace() {
            out.push(c);
        }
        match c {
            _ if escaped => escaped = false,
            '\\' if in_text => escaped = true,
            '"' => in_text = !in_text,
            _ => {}
        }
    }
}

/// Writes node-link JSON for `networkx.node_link_graph(data, edges="edges")`.
pub fn write_node_link(value: Value<'_>) -> Result<Vec<Vec<u8>>> {
    let model = Model::from_value(value)?;
    let mut out = String::from("{\"directed\":true,\"multigraph\":true,\"graph\":");
    out.push_str(&model.metadata.map_or_else(|| "{}".into(), |fields| crate::model::json(Value::Object(fields))));
    out.push_str(",\"nodes\":[");
    for (index, node) in model.nodes.iter().enumerate() {
        out.push_str(if index > 0 { ",\n" } else { "\n" });
        let mut fields = Fields(vec![("id".into(), Json::text(&node.name))]);
        add_other_fields(&mut fields, node.fields, &["id"]);
        fields.write(&mut out);
    }
    out.push_str("],\"edges\":[");
    for (index, edge) in model.edges.iter().enumerate() {
        out.push_str(if index > 0 { ",\n" } else { "\n" });
        write_link(edge, &mut out);
    }
    out.push_str("]}\n");
    Ok(vec![out.into_bytes()])
}

fn write_link(edge: &Edge<'_>, out: &mut String) {
    let name = |end: &Endpoint| Json::text(&end.name);
    let mut fields = Fields(vec![("source".into(), name(&edge.from)), ("target".into(), name(&edge.to))]);
    // The key distinguishes parallel edges; the id serves for it.
    fields.add_optional("key", edge.id().map(|id| Json::Raw(crate::model::json(id))));
    add_other_fields(&mut fields, edge.fields, &["source", "target", "key"]);
    fields.write(out);
}

fn add_other_fields(fields: &mut Fields, object: Object<'_>, without: &[&str]) {
    for (key, value) in object.iter().filter(|(key, _)| !without.contains(key)) {
        fields.add(key, Json::Raw(crate::model::json(value)));
    }
}

/// Reads node-link JSON, and converts its nodes and edges to the usual ones: edges under `edges` or `links`, ends under any of
/// the usual names.
pub fn read_node_link(bytes: &[u8], convert: fn(&mut ImportBuilder)) -> Result<Import> {
    let text = decode_plain(bytes)?;
    let graph = Graph::from_json(text.into_owned().into_bytes())
        .map_err(|error| Error::new(Code::NotJson, error.message().to_owned()))?;
    let root = graph.root();
    reject_adjacency(root)?;
    let model = Model::from_value(root)?;
    let is_undirected = is_undirected(root);
    let nodes = model.nodes.iter().map(|node| raw(node.fields)).collect();
    let mut builder = ImportBuilder { nodes, ..ImportBuilder::default() };
    for edge in &model.edges {
        let mut fields = raw(edge.fields);
        check_ends(&fields)?;
        for (key, end) in [("start", &edge.from), ("end", &edge.to)].into_iter().filter(|(_, end)| end.node.is_none()) {
            builder.report_dangling_end(key, &Json::text(&end.name).to_text());
        }
        if is_undirected {
            add_unknown_direction(&mut fields, edge);
        }
        builder.edges.push(fields);
    }
    builder.metadata = model.metadata.map(raw).unwrap_or_default();
    convert(&mut builder);
    Ok(builder.finish())
}

/// Returns whether a graph is stated as undirected.
pub fn is_undirected(value: Value<'_>) -> bool {
    let is_stated = |object: Object<'_>| matches!(object.get("directed"), Some(Value::Bool(false)));
    let root = value.as_object();
    root.into_iter().chain(root.and_then(|root| root.get("pid_graph")?.as_object())).any(is_stated)
}

/// Returns a graph whose edges without a direction state that it is unknown.
///
/// # Errors
/// `PQ6003` if the value has no nodes.
pub fn stated_directions(value: Value<'_>) -> Result<Graph> {
    let model = Model::from_value(value)?;
    let list = |rows: Vec<Fields>| Json::Array(rows.into_iter().map(Json::Object).collect());
    let edges = model.edges.iter().map(|edge| {
        let mut fields = raw(edge.fields);
        add_unknown_direction(&mut fields, edge);
        fields
    });
    let mut graph = Fields::default();
    graph.add("nodes", list(model.nodes.iter().map(|node| raw(node.fields)).collect()));
    graph.add("edges", list(edges.collect()));
    graph.add_optional("metadata", model.metadata.map(raw).map(Json::Object));
    let mut text = String::new();
    graph.write(&mut text);
    Graph::from_json(text.into_bytes()).map_err(|error| Error::new(Code::NotJson, error.message().to_owned()))
}

/// Adds an unknown direction to an edge that states none.
fn add_unknown_direction(fields: &mut Fields, edge: &Edge<'_>) {
    if !edge.states_direction() {
        fields.0.retain(|(key, _)| key != "direction");
        fields.add("direction", Json::text("both"));
    }
}

/// Rejects adjacency JSON of NetworkX, which would be read as a graph without edges.
fn reject_adjacency(root: Value<'_>) -> Result<()> {
    let has = |name: &str| root.as_object().is_some_and(|root| root.get(name).is_some());
    if !has("adjacency") || has("edges") || has("links") {
        return Ok(());
    }
    let message =
        "this is adjacency JSON: export node-link JSON with `networkx.node_link_data(graph, edges=\"edges\")`";
    Err(Error::new(Code::NotGraph, message))
}

fn raw(object: Object<'_>) -> Fields {
    let mut fields = Fields::default();
    add_other_fields(&mut fields, object, &[]);
    fields
}

fn check_ends(edge: &Fields) -> Result<()> {
    if ENDS.iter().any(|pair| pair.iter().all(|key| edge.get(key).is_some())) {
        return Ok(());
    }
    let mut text = String::new();
    quote(edge.0.first().map_or("", |(key, _)| key), &mut text);
    Err(Error::new(Code::NotGraph, format!("an edge that begins with {text} has no ends: add `source` and `target`")))
}
