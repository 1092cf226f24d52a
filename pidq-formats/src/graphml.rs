//! GraphML: directed, keys typed, nested values as JSON text. Read and written as NetworkX and yEd do.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use pidq_core::{Object, Value};

use crate::columns::{Column, Columns, Kind};
use crate::error::{Code, Error, Result};
use crate::import::{Draft, Finding, Imported};
use crate::json::{Fields, Json, is_number};
use crate::model::{ENDS, Model, text};
use crate::text::decode_xml;
use crate::xml::{Element, Tree, escape};

/// The mark of a value that is JSON text, in the name of its key: GraphML has no type for it.
const JSON_TYPE: &str = "json";

/// The mark of a node that stands for an id which no node has: GraphML wants one at each end of an edge.
const GHOST: &str = "missing_node";

/// Writes a graph.
pub fn write(value: Value<'_>) -> Result<Vec<Vec<u8>>> {
    let model = Model::of(value)?;
    let nodes = Columns::of(model.nodes.iter().map(|node| node.fields))?;
    let edges = Columns::of(model.edges.iter().map(|edge| edge.fields))?;
    let metadata = Columns::of(model.metadata.into_iter())?;
    let mut out = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\" \
         xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:schemaLocation=\"http://graphml.graphdrawing.org/xmlns \
         http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd\">\n",
    );
    for (prefix, domain, columns) in [("n", "node", &nodes), ("e", "edge", &edges), ("g", "graph", &metadata)] {
        write_keys(&mut out, prefix, domain, columns);
    }
    if !model.ghosts.is_empty() {
        let _ = writeln!(out, "<key id=\"{GHOST}\" for=\"node\" attr.name=\"{GHOST}\" attr.type=\"boolean\"/>");
    }
    out.push_str("<graph id=\"G\" edgedefault=\"directed\">\n");
    if let Some(fields) = model.metadata {
        write_data(&mut out, "g", &metadata, fields);
    }
    write_nodes(&mut out, &model, &nodes);
    write_edges(&mut out, &model, &edges);
    out.push_str("</graph>\n</graphml>\n");
    Ok(vec![out.into_bytes()])
}

fn write_keys(out: &mut String, prefix: &str, domain: &str, columns: &Columns<'_>) {
    for (index, column) in columns.list.iter().enumerate().filter(|(_, column)| !is_element(prefix, column)) {
        let kind = match column.kind {
            Kind::Bool => "boolean",
            Kind::Integer => "long",
            Kind::Number => "double",
            Kind::Nothing | Kind::Text | Kind::Json => "string",
        };
        let note = if column.kind == Kind::Json { format!("<desc>{JSON_TYPE}</desc>") } else { String::new() };
        // Writing to a text cannot fail.
        let _ = writeln!(
            out,
            "<key id=\"{prefix}{index}\" for=\"{domain}\" attr.name=\"{}\" attr.type=\"{kind}\">{note}</key>",
            escape(column.key)
        );
    }
}

/// Ids and ends are the element's own attributes. As data they come once more only where they are integers, because an
/// attribute of XML is a text.
fn is_element(prefix: &str, column: &Column<'_>) -> bool {
    let is_own = match prefix {
        "n" => column.key == "id",
        "e" => ENDS.iter().any(|pair| pair.contains(&column.key)),
        _ => false,
    };
    is_own && column.kind != Kind::Integer
}

fn write_nodes(out: &mut String, model: &Model<'_>, columns: &Columns<'_>) {
    for node in &model.nodes {
        let _ = writeln!(out, "<node id=\"{}\">", escape(&node.name));
        write_data(out, "n", columns, node.fields);
        out.push_str("</node>\n");
    }
    for ghost in &model.ghosts {
        let id = escape(ghost);
        let _ = writeln!(out, "<node id=\"{id}\"><data key=\"{GHOST}\">true</data></node>");
    }
}

fn write_edges(out: &mut String, model: &Model<'_>, columns: &Columns<'_>) {
    for edge in &model.edges {
        let [from, to] = [&edge.from, &edge.to].map(|end| escape(&end.name));
        let _ = writeln!(out, "<edge source=\"{from}\" target=\"{to}\">");
        write_data(out, "e", columns, edge.fields);
        out.push_str("</edge>\n");
    }
}

fn write_data(out: &mut String, prefix: &str, columns: &Columns<'_>, fields: Object<'_>) {
    for (index, column) in columns.list.iter().enumerate().filter(|(_, column)| !is_element(prefix, column)) {
        let Some(value) = fields.get(column.key).filter(|value| !value.is_null()) else { continue };
        let text = if column.kind == Kind::Json { crate::model::json(value) } else { text(value) };
        let _ = writeln!(out, "<data key=\"{prefix}{index}\">{}</data>", escape(&text));
    }
}

/// Reads a graph. Graphs inside of nodes are told, not read.
///
/// # Errors
/// `PQ6003` for XML that is no GraphML, and what reading XML can give.
pub fn read(bytes: &[u8]) -> Result<Imported> {
    let text = decode_xml(bytes)?;
    let tree = Tree::read(&text, |_| true)?;
    if tree.elements.first().is_none_or(|root| root.name != "graphml") {
        return Err(Error::new(Code::NotGraph, "the root element is not `graphml`"));
    }
    let keys = keys(&tree);
    let repeated = repeated_ids(&tree);
    let mut draft = Draft::default();
    for (graph, element) in tree.named(0, "graph") {
        let is_directed = element.get("edgedefault") != Some("undirected");
        data(&tree, graph, &keys, &mut draft.metadata);
        for (node, _) in tree.named(graph, "node") {
            read_node(&tree, node, &keys, &mut draft);
        }
        for (edge, _) in tree.named(graph, "edge") {
            read_edge(&tree, edge, &keys, is_directed, &mut draft);
            name_edge(&tree.elements[edge], &repeated, &mut draft);
        }
    }
    find_unread(&tree, &mut draft);
    Ok(draft.finish())
}

/// What a key is called, and how its values are read.
struct Key {
    name: String,
    kind: String,
    default: Option<String>,
    domain: String,
}

fn keys(tree: &Tree) -> HashMap<&str, Key> {
    let of = |(index, key): (usize, &Element)| Key {
        name: key.get("attr.name").or(key.get("id")).unwrap_or_default().to_owned(),
        kind: match tree.named(index, "desc").next() {
            Some((_, note)) if note.text == JSON_TYPE => JSON_TYPE.into(),
            _ => key.get("attr.type").unwrap_or("string").to_owned(),
        },
        default: tree.named(index, "default").next().map(|(_, default)| default.text.clone()),
        domain: key.get("for").unwrap_or("all").to_owned(),
    };
    tree.named(0, "key").filter_map(|(index, key)| Some((key.get("id")?, of((index, key))))).collect()
}

fn read_node(tree: &Tree, index: usize, keys: &HashMap<&str, Key>, draft: &mut Draft) {
    let mut fields = Fields::default();
    if let Some(id) = tree.elements[index].get("id") {
        fields.add("id", Json::text(id));
    }
    data(tree, index, keys, &mut fields);
    // What stands for a node that the graph has not is none here either, and says nothing else of itself.
    if fields.0.len() <= 2 && matches!(fields.get(GHOST), Some(Json::Bool(true))) {
        return;
    }
    defaults(keys, "node", &mut fields);
    draft.nodes.push(fields);
}

fn read_edge(tree: &Tree, index: usize, keys: &HashMap<&str, Key>, is_directed: bool, draft: &mut Draft) {
    let element = &tree.elements[index];
    let mut fields = Fields::default();
    data(tree, index, keys, &mut fields);
    defaults(keys, "edge", &mut fields);
    // Integers came as fields.
    if !ENDS.iter().any(|pair| pair.iter().all(|key| fields.get(key).is_some())) {
        fields.maybe_text("from", element.get("source"));
        fields.maybe_text("to", element.get("target"));
    }
    // What an edge says of itself counts more than what its graph says of all.
    if !element.get("directed").map_or(is_directed, |word| word != "false") {
        fields.add_new("direction", Json::text("both"));
    }
    draft.edges.push(fields);
}

/// The ids that several edges have. NetworkX writes there what tells parallel edges apart: `0` for most.
fn repeated_ids(tree: &Tree) -> HashSet<&str> {
    let mut seen = HashSet::new();
    let ids = tree.elements.iter().filter(|element| element.name == "edge").filter_map(|edge| edge.get("id"));
    ids.filter(|id| !seen.insert(*id)).collect()
}

fn name_edge(element: &Element, repeated: &HashSet<&str>, draft: &mut Draft) {
    let (Some(id), Some(edge)) = (element.get("id"), draft.edges.last_mut()) else { return };
    edge.maybe_text(if repeated.contains(id) { "key" } else { "id" }, Some(id));
}

/// What a drawing program shows of a node or an edge: its text and its box, whose middle is its place.
fn shown(tree: &Tree, index: usize, fields: &mut Fields) {
    let mut open: Vec<usize> = vec![index];
    while let Some(index) = open.pop() {
        let element = &tree.elements[index];
        match element.name.as_str() {
            "NodeLabel" => fields.maybe_text("tag", Some(element.text.trim()).filter(|text| !text.is_empty())),
            "EdgeLabel" => fields.maybe_text("text", Some(element.text.trim()).filter(|text| !text.is_empty())),
            "Geometry" => add_box(element, fields),
            _ => {}
        }
        open.extend(element.children.iter().rev());
    }
}

fn add_box(element: &Element, fields: &mut Fields) {
    let number = |name: &str| element.get(name)?.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    let sides = ["x", "y", "width", "height"].map(number);
    let [Some(x), Some(y), Some(width), Some(height)] = sides else { return };
    let places = [("orig_x", x + width / 2.0), ("orig_y", y + height / 2.0)];
    for (key, value) in places.into_iter().chain([("orig_bbox_width", width), ("orig_bbox_height", height)]) {
        fields.add_new(key, Json::guess(&value.to_string()));
    }
}

fn data(tree: &Tree, index: usize, keys: &HashMap<&str, Key>, fields: &mut Fields) {
    for (at, data) in tree.named(index, "data") {
        if !data.children.is_empty() {
            shown(tree, at, fields);
            continue;
        }
        let id = data.get("key").unwrap_or_default();
        let key = keys.get(id);
        let name = key.map_or(id, |key| key.name.as_str());
        let value = value(key.map_or("string", |key| key.kind.as_str()), &data.text);
        // The `id` of a node is the one of its element, but for its type: `1` may be a number.
        match fields.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = value,
            None => fields.add(name, value),
        }
    }
}

fn defaults(keys: &HashMap<&str, Key>, domain: &str, fields: &mut Fields) {
    let mut with_default: Vec<&Key> = keys.values().filter(|key| key.domain == domain || key.domain == "all").collect();
    with_default.sort_by(|a, b| a.name.cmp(&b.name));
    for key in with_default {
        fields.maybe(&key.name, key.default.as_deref().map(|text| value(&key.kind, text)));
    }
}

fn value(kind: &str, text: &str) -> Json {
    match kind {
        "boolean" => Json::Bool(matches!(text.trim(), "true" | "1" | "True")),
        "int" | "long" | "float" | "double" if is_number(text.trim()) => Json::Number(text.trim().into()),
        JSON_TYPE => Json::raw(text).unwrap_or_else(|| Json::text(text)),
        _ => Json::text(text),
    }
}

fn find_unread(tree: &Tree, draft: &mut Draft) {
    let inner = tree.elements.iter().filter(|element| match element.name.as_str() {
        "graph" => element.parent != Some(0),
        name => matches!(name, "hyperedge" | "port"),
    });
    let count = inner.count();
    if count > 0 {
        draft.find_counts(Finding::NestedGraph, &[("graphml".to_owned(), count)].into());
    }
}
