//! GraphML import and export: directed, typed keys, nested values as JSON text. Compatible with NetworkX and yEd.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use pidq_core::{Object, Value};

use crate::columns::{Column, ColumnType, Columns};
use crate::encoding::decode_xml;
use crate::error::{Code, Error, Result};
use crate::import::{Finding, Import, ImportBuilder};
use crate::json::{Fields, Json, is_number};
use crate::model::{ENDS, Model, text};
use crate::xml::{Element, Tree, escape};

/// Suffix in the key name of a value that is JSON text, for which GraphML has no type.
const JSON_TYPE: &str = "json";

/// Key that marks a node added for an id that no node has: GraphML requires a node at each end of an edge.
const MISSING_NODE_KEY: &str = "missing_node";

/// Writes a graph.
pub fn write(value: Value<'_>) -> Result<Vec<Vec<u8>>> {
    let model = Model::from_value(value)?;
    let nodes = Columns::from_rows(model.nodes.iter().map(|node| node.fields))?;
    let edges = Columns::from_rows(model.edges.iter().map(|edge| edge.fields))?;
    let metadata = Columns::from_rows(model.metadata.into_iter())?;
    let mut out = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\" \
         xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:schemaLocation=\"http://graphml.graphdrawing.org/xmlns \
         http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd\">\n",
    );
    for (prefix, domain, columns) in [("n", "node", &nodes), ("e", "edge", &edges), ("g", "graph", &metadata)] {
        write_keys(&mut out, prefix, domain, columns);
    }
    if !model.missing_nodes.is_empty() {
        let _ = writeln!(
            out,
            "<key id=\"{MISSING_NODE_KEY}\" for=\"node\" attr.name=\"{MISSING_NODE_KEY}\" attr.type=\"boolean\"/>"
        );
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
    for (index, column) in columns.list.iter().enumerate().filter(|(_, column)| !is_element_attribute(prefix, column)) {
        let kind = match column.kind {
            ColumnType::Bool => "boolean",
            ColumnType::Integer => "long",
            ColumnType::Number => "double",
            ColumnType::Null | ColumnType::Text | ColumnType::Json => "string",
        };
        let description =
            if column.kind == ColumnType::Json { format!("<desc>{JSON_TYPE}</desc>") } else { String::new() };
        // Writing to a `String` cannot fail.
        let _ = writeln!(
            out,
            "<key id=\"{prefix}{index}\" for=\"{domain}\" attr.name=\"{}\" attr.type=\"{kind}\">{description}</key>",
            escape(column.key)
        );
    }
}

/// Ids and ends are attributes of the element. Integer ones are repeated as data, because XML attributes are strings.
fn is_element_attribute(prefix: &str, column: &Column<'_>) -> bool {
    let has_attribute_key = match prefix {
        "n" => column.key == "id",
        "e" => ENDS.iter().any(|pair| pair.contains(&column.key)),
        _ => false,
    };
    has_attribute_key && column.kind != ColumnType::Integer
}

fn write_nodes(out: &mut String, model: &Model<'_>, columns: &Columns<'_>) {
    for node in &model.nodes {
        let _ = writeln!(out, "<node id=\"{}\">", escape(&node.name));
        write_data(out, "n", columns, node.fields);
        out.push_str("</node>\n");
    }
    for missing_node in &model.missing_nodes {
        let id = escape(missing_node);
        let _ = writeln!(out, "<node id=\"{id}\"><data key=\"{MISSING_NODE_KEY}\">true</data></node>");
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
    for (index, column) in columns.list.iter().enumerate().filter(|(_, column)| !is_element_attribute(prefix, column)) {
        let Some(value) = fields.get(column.key).filter(|value| !value.is_null()) else { continue };
        let text = if column.kind == ColumnType::Json { crate::model::json(value) } else { text(value) };
        let _ = writeln!(out, "<data key=\"{prefix}{index}\">{}</data>", escape(&text));
    }
}

/// Reads a graph. Nested graphs are reported, not read.
///
/// # Errors
/// `PQ6003` for XML that is not GraphML, and the errors of reading XML.
pub fn read(bytes: &[u8]) -> Result<Import> {
    let text = decode_xml(bytes)?;
    let tree = Tree::read(&text, |_| true)?;
    if tree.elements.first().is_none_or(|root| root.name != "graphml") {
        return Err(Error::new(Code::NotGraph, "the root element is not `graphml`"));
    }
    let keys = keys(&tree);
    let repeated = repeated_ids(&tree);
    let mut builder = ImportBuilder::default();
    for (graph, element) in tree.named(0, "graph") {
        let is_directed = element.get("edgedefault") != Some("undirected");
        data(&tree, graph, &keys, &mut builder.metadata);
        for (node, _) in tree.named(graph, "node") {
            read_node(&tree, node, &keys, &mut builder);
        }
        for (edge, _) in tree.named(graph, "edge") {
            read_edge(&tree, edge, &keys, is_directed, &mut builder);
            name_edge(&tree.elements[edge], &repeated, &mut builder);
        }
    }
    report_skipped(&tree, &mut builder);
    Ok(builder.finish())
}

/// Declaration of a key: name, type, default and domain.
struct Key {
    name: String,
    kind: String,
    default: Option<String>,
    domain: String,
}

fn keys(tree: &Tree) -> HashMap<&str, Key> {
    let read_key = |(index, key): (usize, &Element)| Key {
        name: key.get("attr.name").or(key.get("id")).unwrap_or_default().to_owned(),
        kind: match tree.named(index, "desc").next() {
            Some((_, description)) if description.text == JSON_TYPE => JSON_TYPE.into(),
            _ => key.get("attr.type").unwrap_or("string").to_owned(),
        },
        default: tree.named(index, "default").next().map(|(_, default)| default.text.clone()),
        domain: key.get("for").unwrap_or("all").to_owned(),
    };
    tree.named(0, "key").filter_map(|(index, key)| Some((key.get("id")?, read_key((index, key))))).collect()
}

fn read_node(tree: &Tree, index: usize, keys: &HashMap<&str, Key>, builder: &mut ImportBuilder) {
    let mut fields = Fields::default();
    if let Some(id) = tree.elements[index].get("id") {
        fields.add("id", Json::text(id));
    }
    data(tree, index, keys, &mut fields);
    // A node marked as missing is not imported; it has no other data.
    if fields.0.len() <= 2 && matches!(fields.get(MISSING_NODE_KEY), Some(Json::Bool(true))) {
        return;
    }
    defaults(keys, "node", &mut fields);
    builder.nodes.push(fields);
}

fn read_edge(tree: &Tree, index: usize, keys: &HashMap<&str, Key>, is_directed: bool, builder: &mut ImportBuilder) {
    let element = &tree.elements[index];
    let mut fields = Fields::default();
    data(tree, index, keys, &mut fields);
    defaults(keys, "edge", &mut fields);
    // Integer ends are in the fields already.
    if !ENDS.iter().any(|pair| pair.iter().all(|key| fields.get(key).is_some())) {
        fields.add_optional_text("from", element.get("source"));
        fields.add_optional_text("to", element.get("target"));
    }
    // The direction of an edge takes precedence over the default of its graph.
    if !element.get("directed").map_or(is_directed, |word| word != "false") {
        fields.add_if_absent("direction", Json::text("both"));
    }
    builder.edges.push(fields);
}

/// Returns the ids that several edges have. NetworkX writes the key of parallel edges there: `0` for most.
fn repeated_ids(tree: &Tree) -> HashSet<&str> {
    let mut seen = HashSet::new();
    let ids = tree.elements.iter().filter(|element| element.name == "edge").filter_map(|edge| edge.get("id"));
    ids.filter(|id| !seen.insert(*id)).collect()
}

fn name_edge(element: &Element, repeated: &HashSet<&str>, builder: &mut ImportBuilder) {
    let (Some(id), Some(edge)) = (element.get("id"), builder.edges.last_mut()) else { return };
    edge.add_optional_text(if repeated.contains(id) { "key" } else { "id" }, Some(id));
}

/// Adds the graphics that yEd stores for a node or an edge: its label and its box, whose center is its position.
fn add_graphics(tree: &Tree, index: usize, fields: &mut Fields) {
    let mut stack: Vec<usize> = vec![index];
    while let Some(index) = stack.pop() {
        let element = &tree.elements[index];
        match element.name.as_str() {
            "NodeLabel" => fields.add_optional_text("tag", Some(element.text.trim()).filter(|text| !text.is_empty())),
            "EdgeLabel" => fields.add_optional_text("text", Some(element.text.trim()).filter(|text| !text.is_empty())),
            "Geometry" => add_box(element, fields),
            _ => {}
        }
        stack.extend(element.children.iter().rev());
    }
}

fn add_box(element: &Element, fields: &mut Fields) {
    let number = |name: &str| element.get(name)?.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    let sides = ["x", "y", "width", "height"].map(number);
    let [Some(x), Some(y), Some(width), Some(height)] = sides else { return };
    let center = [("orig_x", x + width / 2.0), ("orig_y", y + height / 2.0)];
    for (key, value) in center.into_iter().chain([("orig_bbox_width", width), ("orig_bbox_height", height)]) {
        fields.add_if_absent(key, Json::number_or_text(&value.to_string()));
    }
}

fn data(tree: &Tree, index: usize, keys: &HashMap<&str, Key>, fields: &mut Fields) {
    for (at, data) in tree.named(index, "data") {
        if !data.children.is_empty() {
            add_graphics(tree, at, fields);
            continue;
        }
        let id = data.get("key").unwrap_or_default();
        let key = keys.get(id);
        let name = key.map_or(id, |key| key.name.as_str());
        let value = value(key.map_or("string", |key| key.kind.as_str()), &data.text);
        // The `id` data of a node equals the id of its element, except for the type: `1` may be a number.
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
        fields.add_optional(&key.name, key.default.as_deref().map(|text| value(&key.kind, text)));
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

fn report_skipped(tree: &Tree, builder: &mut ImportBuilder) {
    let skipped = tree.elements.iter().filter(|element| match element.name.as_str() {
        "graph" => element.parent != Some(0),
        name => matches!(name, "hyperedge" | "port"),
    });
    let count = skipped.count();
    if count > 0 {
        builder.report_counts(Finding::NestedGraph, &[("graphml".to_owned(), count)].into());
    }
}
