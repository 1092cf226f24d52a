//! GraphML import and export: directed, typed keys, nested values as JSON text. Compatible with NetworkX and yEd.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use pidq_core::vocabulary::{CLASSES, TAGS};
use pidq_core::{Object, TopologyConfig, Value};

use crate::columns::{Column, ColumnType, Columns};
use crate::encoding::decode_xml;
use crate::error::{Code, Error, Result};
use crate::import::{Finding, Import, ImportBuilder};
use crate::json::{Fields, Json, is_number};
use crate::model::{ENDS, Model, text};
use crate::other_fields::{self, OTHER_FIELDS};
use crate::xml::{Element, Tree, escape, is_xml_text};

/// Suffix in the key name of a value that is JSON text, for which GraphML has no type.
const JSON_TYPE: &str = "json";

/// Key that marks a node added for an id that no node has: GraphML requires a node at each end of an edge.
const MISSING_NODE_KEY: &str = "missing_node";

/// Writes a graph. What typed keys cannot hold, such as nulls, is JSON text under one more key.
pub fn write(value: Value<'_>) -> Result<Vec<Vec<u8>>> {
    let model = Model::from_value(value)?;
    let nodes = DomainKeys::new("n", "node", model.nodes.iter().map(|node| node.fields))?;
    let edges = DomainKeys::new("e", "edge", model.edges.iter().map(|edge| edge.fields))?;
    let metadata = DomainKeys::new("g", "graph", model.metadata.into_iter())?;
    let mut elements = String::from("<graph id=\"G\" edgedefault=\"directed\">\n");
    let mut has_other_fields = false;
    if let Some(fields) = model.metadata {
        has_other_fields |= write_data(&mut elements, &metadata, fields, |_, _| false);
    }
    has_other_fields |= write_nodes(&mut elements, &model, &nodes);
    has_other_fields |= write_edges(&mut elements, &model, &edges);
    let mut out = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\" \
         xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:schemaLocation=\"http://graphml.graphdrawing.org/xmlns \
         http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd\">\n",
    );
    for keys in [&nodes, &edges, &metadata] {
        write_keys(&mut out, keys);
    }
    if has_other_fields {
        write_own_key(&mut out, "all", OTHER_FIELDS, "string");
    }
    if !model.missing_nodes.is_empty() {
        write_own_key(&mut out, "node", MISSING_NODE_KEY, "boolean");
    }
    out.push_str(&elements);
    out.push_str("</graph>\n</graphml>\n");
    Ok(vec![out.into_bytes()])
}

/// Keys of the elements of one kind.
struct DomainKeys<'a> {
    /// First character of the key ids.
    prefix: &'static str,
    domain: &'static str,
    columns: Columns<'a>,
}

impl<'a> DomainKeys<'a> {
    fn new(
        prefix: &'static str,
        domain: &'static str,
        rows: impl Iterator<Item = Object<'a>>,
    ) -> Result<DomainKeys<'a>> {
        Ok(DomainKeys { prefix, domain, columns: Columns::from_rows(rows)? })
    }
}

/// Returns true if a field can have a key of its own: XML can hold its name, and the import gives it no other meaning.
fn has_own_key(column: &Column<'_>) -> bool {
    let is_reserved = [OTHER_FIELDS, MISSING_NODE_KEY].contains(&column.key);
    !is_reserved && !column.key.trim().is_empty() && is_xml_text(column.key) && column.kind != ColumnType::Null
}

fn write_keys(out: &mut String, keys: &DomainKeys<'_>) {
    for (index, column) in keys.columns.list.iter().enumerate().filter(|(_, column)| has_own_key(column)) {
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
            "<key id=\"{}{index}\" for=\"{}\" attr.name=\"{}\" attr.type=\"{kind}\">{description}</key>",
            keys.prefix,
            keys.domain,
            escape(column.key)
        );
    }
}

fn write_own_key(out: &mut String, domain: &str, name: &str, kind: &str) {
    let _ = writeln!(out, "<key id=\"{name}\" for=\"{domain}\" attr.name=\"{name}\" attr.type=\"{kind}\"/>");
}

fn write_nodes(out: &mut String, model: &Model<'_>, keys: &DomainKeys<'_>) -> bool {
    let mut has_other_fields = false;
    for node in &model.nodes {
        let _ = writeln!(out, "<node id=\"{}\">", escape(&node.name));
        let is_implied = |key: &str, value: Value<'_>| key == "id" && is_attribute(&node.name, value);
        has_other_fields |= write_data(out, keys, node.fields, is_implied);
        out.push_str("</node>\n");
    }
    for missing_node in &model.missing_nodes {
        let id = escape(missing_node);
        let _ = writeln!(out, "<node id=\"{id}\"><data key=\"{MISSING_NODE_KEY}\">true</data></node>");
    }
    has_other_fields
}

fn write_edges(out: &mut String, model: &Model<'_>, keys: &DomainKeys<'_>) -> bool {
    let mut has_other_fields = false;
    for edge in &model.edges {
        let [from, to] = [&edge.from, &edge.to].map(|end| escape(&end.name));
        let _ = writeln!(out, "<edge source=\"{from}\" target=\"{to}\">");
        let has_other_ends = ENDS[1..].iter().any(|pair| pair.iter().all(|key| edge.fields.get(key).is_some()));
        let is_implied = |key: &str, value: Value<'_>| match key {
            "from" => !has_other_ends && is_attribute(&edge.from.name, value),
            "to" => !has_other_ends && is_attribute(&edge.to.name, value),
            _ => false,
        };
        has_other_fields |= write_data(out, keys, edge.fields, is_implied);
        out.push_str("</edge>\n");
    }
    has_other_fields
}

/// Returns true if the attribute of an element holds the value of a field.
fn is_attribute(name: &str, value: Value<'_>) -> bool {
    value.as_str() == Some(name) && is_xml_text(name)
}

/// Writes the fields that the attributes of the element do not imply. Returns true if some are under the key of other
/// fields.
fn write_data<'a>(
    out: &mut String,
    keys: &DomainKeys<'a>,
    fields: Object<'a>,
    is_implied: impl Fn(&str, Value<'_>) -> bool,
) -> bool {
    let mut other_fields = Vec::new();
    for (index, column) in keys.columns.list.iter().enumerate() {
        let Some(value) = fields.get(column.key).filter(|value| !is_implied(column.key, *value)) else { continue };
        if !is_exact(column, value) {
            other_fields.push((column.key, value));
        }
        if has_own_key(column) && !value.is_null() {
            let text = if column.kind == ColumnType::Json { json_text(value) } else { text(value) };
            let _ = writeln!(out, "<data key=\"{}{index}\">{}</data>", keys.prefix, escape(&text));
        }
    }
    let Some(text) = other_fields::json_text(other_fields.into_iter()) else { return false };
    let _ = writeln!(out, "<data key=\"{OTHER_FIELDS}\">{}</data>", escape(&ascii_noncharacters(text)));
    true
}

/// Returns true if the import reads a value back from the text under its own key.
fn is_exact(column: &Column<'_>, value: Value<'_>) -> bool {
    let is_typed = match column.kind {
        ColumnType::Json => !value.is_null(),
        ColumnType::Text => value.as_str().is_some_and(is_xml_text),
        ColumnType::Number | ColumnType::Integer => is_number(&text(value)),
        kind => kind == ColumnType::of(value),
    };
    is_typed && has_own_key(column)
}

fn json_text(value: Value<'_>) -> String {
    ascii_noncharacters(crate::model::json(value))
}

/// Escapes the characters of JSON text that XML does not allow; its control characters are escaped already.
fn ascii_noncharacters(json: String) -> String {
    json.replace('\u{FFFE}', "\\ufffe").replace('\u{FFFF}', "\\uffff")
}

/// Reads a graph, and converts its nodes and edges to the usual ones. The nodes of a nested graph belong to the node that
/// contains it.
///
/// # Errors
/// `PQ6003` for XML that is not GraphML, and the errors of reading XML.
pub fn read(bytes: &[u8], convert: fn(&mut ImportBuilder)) -> Result<Import> {
    let text = decode_xml(bytes)?;
    let tree = Tree::read(&text)?;
    if tree.elements.first().is_none_or(|root| root.name != "graphml") {
        return Err(Error::new(Code::NotGraph, "the root element is not `graphml`"));
    }
    let keys = keys(&tree);
    let repeated = repeated_ids(&tree);
    let mut builder = ImportBuilder::default();
    for (graph, element) in tree.named(0, "graph") {
        let is_directed = element.get("edgedefault") != Some("undirected");
        data(&tree, graph, &keys, &mut builder.metadata);
        other_fields::restore(&mut builder.metadata);
        let all = nested_graphs(&tree, graph);
        let mut places = HashMap::new();
        for graph in all.iter().copied() {
            read_nodes(&tree, graph, &keys, &mut places, &mut builder);
        }
        for graph in all {
            let is_directed = tree.elements[graph].get("edgedefault").map_or(is_directed, |word| word != "undirected");
            for (edge, _) in tree.named(graph, "edge") {
                read_edge(&tree, edge, &keys, is_directed, &mut builder);
                name_edge(&tree.elements[edge], &repeated, &mut builder);
            }
        }
    }
    name_labels(&mut builder.nodes);
    convert(&mut builder);
    report_dangling_edges(&tree, &mut builder);
    report_invalid_boxes(&tree, &mut builder);
    report_skipped(&tree, &mut builder);
    Ok(builder.finish())
}

/// Returns a graph and those in its nodes, in document order.
fn nested_graphs(tree: &Tree, graph: usize) -> Vec<usize> {
    let mut found = Vec::new();
    let mut stack = vec![graph];
    while let Some(graph) = stack.pop() {
        found.push(graph);
        let inner: Vec<usize> =
            tree.named(graph, "node").flat_map(|(node, _)| tree.named(node, "graph").map(|(inner, _)| inner)).collect();
        stack.extend(inner.into_iter().rev());
    }
    found
}

/// Reads the nodes of a graph. Those of a nested graph name its node as their owner, except for nozzles, which belong to
/// equipment; if the node is an item with a class, such as a package unit, only its nozzles are parts of it. `places` has the nodes by their elements.
fn read_nodes(
    tree: &Tree,
    graph: usize,
    keys: &HashMap<&str, Key>,
    places: &mut HashMap<usize, usize>,
    builder: &mut ImportBuilder,
) {
    let group = tree.elements[graph].parent.and_then(|parent| builder.nodes.get_mut(*places.get(&parent)?));
    let owner = group.map(|group| {
        let has_class = CLASSES.iter().any(|key| group.get(key).is_some());
        if !has_class {
            group.add("node_type", Json::text(GROUP_TYPE));
        }
        (group.get("id").cloned(), has_class)
    });
    for (node, _) in tree.named(graph, "node") {
        let place = builder.nodes.len();
        read_node(tree, node, keys, builder);
        let Some(fields) = builder.nodes.get_mut(place) else { continue };
        places.insert(node, place);
        if let Some((id, has_class)) = &owner {
            let is_part = *has_class == is_nozzle(fields);
            fields.add_optional(if is_part { "parent_id" } else { GROUP_TYPE }, id.clone());
        }
    }
}

/// Node type of a group of items, and key of the id of one.
const GROUP_TYPE: &str = "group";

fn is_nozzle(fields: &Fields) -> bool {
    let classes = CLASSES.iter().filter_map(|key| fields.get(key));
    classes.into_iter().any(|class| matches!(class, Json::String(class) if class.to_lowercase().ends_with("nozzle")))
}

/// Names the labels of nodes with a color and a position, as Gephi writes them: they are tags if no node has a tag and no label
/// is a known class, and the size is that of the symbol.
fn name_labels(nodes: &mut [Fields]) {
    let is_drawn = |node: &Fields| ["r", "x", "y"].iter().all(|key| node.get(key).is_some());
    if !nodes.iter().any(is_drawn) {
        return;
    }
    let label = |node: &Fields| match node.get("label") {
        Some(Json::String(label)) if !label.trim().is_empty() => Some(label.trim().to_owned()),
        _ => None,
    };
    let config = TopologyConfig::default();
    let has_tag = nodes.iter().any(|node| TAGS.iter().any(|key| node.get(key).is_some()));
    if !has_tag && !nodes.iter().filter_map(label).any(|label| config.knows_class(&label)) {
        for node in nodes.iter_mut() {
            let label = label(node);
            node.add_optional_text("tag", label.as_deref());
        }
    }
    for (key, _) in nodes.iter_mut().filter(|node| is_drawn(node)).flat_map(|node| node.0.iter_mut()) {
        if key == "size" {
            *key = "symbol_size".to_owned();
        }
    }
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
    fields.add_optional_text("id", tree.elements[index].attribute("id"));
    data(tree, index, keys, &mut fields);
    // A node marked as missing is not imported; it has no other data.
    if fields.0.len() <= 2 && matches!(fields.get(MISSING_NODE_KEY), Some(Json::Bool(true))) {
        return;
    }
    other_fields::restore(&mut fields);
    defaults(keys, "node", &mut fields);
    name_label_texts(&mut fields);
    builder.nodes.push(fields);
}

fn read_edge(tree: &Tree, index: usize, keys: &HashMap<&str, Key>, is_directed: bool, builder: &mut ImportBuilder) {
    let element = &tree.elements[index];
    let mut fields = Fields::default();
    data(tree, index, keys, &mut fields);
    other_fields::restore(&mut fields);
    defaults(keys, "edge", &mut fields);
    // Ends of other types and with other names are in the fields already.
    if !ENDS.iter().any(|pair| pair.iter().all(|key| fields.get(key).is_some())) {
        fields.add_optional_text("from", element.attribute("source"));
        fields.add_optional_text("to", element.attribute("target"));
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

/// Adds the graphics that yEd stores for a node or an edge: its labels, its arrows, and its box, whose center is its
/// position. The first line of the labels of a node is its tag; the others, such as `LC`, are texts.
fn add_graphics(tree: &Tree, index: usize, fields: &mut Fields) {
    let mut lines: Vec<&str> = Vec::new();
    let mut stack: Vec<usize> = vec![index];
    while let Some(index) = stack.pop() {
        let element = &tree.elements[index];
        match element.name.as_str() {
            // A group has a label for each of its states.
            "NodeLabel" => {
                let texts = element.text.lines().map(str::trim).filter(|line| !line.is_empty());
                texts.for_each(|line| lines.extend((!lines.contains(&line)).then_some(line)));
            }
            "EdgeLabel" => add_edge_label(element.text.trim(), fields),
            "Arrows" => add_direction(element, fields),
            "Geometry" => add_box(element, fields),
            _ => {}
        }
        stack.extend(element.children.iter().rev());
    }
    let mut lines = lines.into_iter();
    fields.add_optional_text("tag", lines.next());
    let texts: Vec<Json> = lines.map(Json::text).collect();
    if !texts.is_empty() {
        fields.add_if_absent(LABEL_TEXTS, Json::Array(texts));
    }
}

/// Key of the texts beside the tag, until all fields of the node are known.
const LABEL_TEXTS: &str = "\0labels";

/// Names the texts beside the tag as a description, or as remarks if there is one.
fn name_label_texts(fields: &mut Fields) {
    let Some(at) = fields.0.iter().position(|(key, _)| key == LABEL_TEXTS) else { return };
    let (_, texts) = fields.0.remove(at);
    let texts = match texts {
        Json::Array(mut texts) if texts.len() == 1 => texts.remove(0),
        texts => texts,
    };
    if let Some(key) = ["description", "remarks", "label_texts"].into_iter().find(|key| fields.get(key).is_none()) {
        fields.add(key, texts);
    }
}

/// Adds the label of an edge: the number of its line, or a remark such as `FUTURE`.
fn add_edge_label(text: &str, fields: &mut Fields) {
    let is_number = text.contains(|c: char| c.is_ascii_digit()) && !text.contains(char::is_whitespace);
    let key = if is_number { "text" } else { "remarks" };
    if !text.is_empty() && fields.get(key).is_none() {
        fields.add(key, Json::text(text));
    }
}

/// Adds the direction of an edge whose arrows state another one than from its source to its target. Without an arrow, the
/// ends have the order in which they were drawn.
fn add_direction(arrows: &Element, fields: &mut Fields) {
    let has_arrow = |end: &str| arrows.get(end).is_some_and(|arrow| arrow != "none");
    let direction = match [has_arrow("source"), has_arrow("target")] {
        [false, true] => return,
        [true, false] => "backward",
        [true, true] | [false, false] => "both",
    };
    fields.add_if_absent("direction", Json::text(direction));
}

fn add_box(element: &Element, fields: &mut Fields) {
    let number = |name: &str| element.get(name)?.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    let sides = ["x", "y", "width", "height"].map(number);
    let [Some(x), Some(y), Some(width), Some(height)] = sides else { return };
    if width < 0.0 || height < 0.0 {
        return;
    }
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
        fields.set(name, value);
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

/// Reports the edges with an end that is no node of the file, or without one.
fn report_dangling_edges(tree: &Tree, builder: &mut ImportBuilder) {
    let is_placeholder =
        |node: usize| tree.named(node, "data").any(|(_, data)| data.get("key") == Some(MISSING_NODE_KEY));
    let nodes = tree.elements.iter().enumerate();
    let nodes = nodes.filter(|(index, node)| node.name == "node" && !is_placeholder(*index));
    let ids: HashSet<&str> = nodes.filter_map(|(_, node)| node.attribute("id")).collect();
    for edge in tree.elements.iter().filter(|element| element.name == "edge") {
        for end in ["source", "target"] {
            match edge.attribute(end) {
                Some(id) if ids.contains(id) => {}
                Some(id) => builder.report_dangling_end(end, &Json::text(id).to_text()),
                None => builder.report(Finding::DanglingReference, format!("an edge has no {end}"), &[]),
            }
        }
    }
}

/// Reports the boxes that are not read: with a side that is not a finite number, or a negative size.
fn report_invalid_boxes(tree: &Tree, builder: &mut ImportBuilder) {
    for element in tree.elements.iter().filter(|element| element.name == "Geometry") {
        let is_valid = |name: &str, least: f64| {
            let number = element.attribute(name).map(|text| text.trim().parse::<f64>());
            number.is_none_or(|number| number.is_ok_and(|number| number.is_finite() && number >= least))
        };
        let sides = [("x", f64::MIN), ("y", f64::MIN), ("width", 0.0), ("height", 0.0)];
        if !sides.into_iter().all(|(name, least)| is_valid(name, least)) {
            builder.report(Finding::InvalidCoordinates, "the box of a node is not valid", &[]);
        }
    }
}

fn report_skipped(tree: &Tree, builder: &mut ImportBuilder) {
    let is_in_node = |element: &Element| element.parent.is_some_and(|parent| tree.elements[parent].name == "node");
    let skipped = tree.elements.iter().filter(|element| match element.name.as_str() {
        "graph" => element.parent != Some(0) && !is_in_node(element),
        name => matches!(name, "hyperedge" | "port"),
    });
    let count = skipped.count();
    if count > 0 {
        builder.report_counts(Finding::NestedGraph, &[("graphml".to_owned(), count)].into());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// Returns the nodes and edges of a graph with keys for labels, classes, sizes and positions.
    fn graph(inside: &str) -> (Vec<Value>, Vec<Value>, Vec<&'static str>) {
        let keys: String = ["label", "class", "size", "r", "x", "y"]
            .iter()
            .map(|key| format!("<key id='{key}' for='node' attr.name='{key}' attr.type='string'/>"))
            .collect();
        let text = format!("<graphml>{keys}<graph edgedefault='directed'>{inside}</graph></graphml>");
        let imported = read(text.as_bytes(), |_| ()).expect("it is GraphML");
        let document: Value = serde_json::from_str(&imported.json).expect("JSON");
        let list = |key: &str| document["pid_graph"][key].as_array().expect("a list").clone();
        let codes = imported.diagnostics.iter().map(|diagnostic| diagnostic.finding.code()).collect();
        (list("nodes"), list("edges"), codes)
    }

    fn node(id: &str, data: &[(&str, &str)], inside: &str) -> String {
        let data: String = data.iter().map(|(key, text)| format!("<data key='{key}'>{text}</data>")).collect();
        format!("<node id='{id}'>{data}{inside}</node>")
    }

    #[test]
    fn the_nodes_of_a_nested_graph_belong_to_its_node() {
        let parts = node("N", &[("class", "nozzle")], "") + &node("V", &[("class", "gate_valve")], "");
        let nested = format!("<graph edgedefault='undirected'>{parts}<edge source='N' target='V'/></graph>");
        let edge = "<edge source='V' target='T'/>";
        let tank = node("T", &[("class", "tank")], "");
        let (nodes, edges, codes) = graph(&(node("G", &[], &nested) + &tank + edge));
        let owners: Vec<[&Value; 4]> =
            nodes.iter().map(|node| [&node["id"], &node["node_type"], &node["parent_id"], &node["group"]]).collect();
        let expected = json!([
            ["G", "group", null, null],
            ["T", null, null, null],
            ["N", null, null, "G"],
            ["V", null, "G", null]
        ]);
        assert_eq!(json!(owners), expected);
        let ends: Vec<[&Value; 3]> =
            edges.iter().map(|edge| [&edge["from"], &edge["to"], &edge["direction"]]).collect();
        assert_eq!(json!(ends), json!([["V", "T", null], ["N", "V", "both"]]));
        assert!(codes.is_empty(), "{codes:?}");
        let (nodes, _, _) = graph(&node("G", &[("class", "vessel")], &nested));
        let owners: Vec<[&Value; 3]> =
            nodes.iter().map(|node| [&node["node_type"], &node["parent_id"], &node["group"]]).collect();
        assert_eq!(json!(owners), json!([[null, null, null], [null, "G", null], [null, null, "G"]]));
    }

    #[test]
    fn a_missing_end_in_a_nested_graph_is_reported() {
        let nested = "<graph><node id='V'/><edge source='V' target='W'/></graph>";
        let (_, _, codes) = graph(&node("G", &[("class", "vessel")], nested));
        assert_eq!(codes, ["I003"]);
    }

    #[test]
    fn a_label_is_a_tag_if_nothing_else_is_and_it_is_no_class() {
        let drawn = [("label", "HV-1"), ("class", "gate_valve"), ("size", "10.0"), ("r", "1"), ("x", "1"), ("y", "2")];
        let first = |fields: &[(&str, &str)], more: &str| {
            let (nodes, _, _) = graph(&(node("1", fields, "") + more));
            json!([nodes[0]["tag"], nodes[0]["size"], nodes[0]["symbol_size"]])
        };
        assert_eq!(first(&drawn, ""), json!(["HV-1", null, "10.0"]));
        assert_eq!(first(&drawn[..3], ""), json!([null, "10.0", null]));
        assert_eq!(first(&drawn, &node("2", &[("label", "tank")], "")), json!([null, null, "10.0"]));
    }

    #[test]
    fn a_drawing_without_any_known_class_is_reported() {
        for (class, expected) in [("gadget", vec!["I022"]), ("gate_valve", vec![]), ("strainer", vec![])] {
            let (_, _, codes) = graph(&(node("1", &[("class", class)], "") + &node("2", &[], "")));
            assert_eq!(codes, expected, "{class}");
        }
        assert!(graph("").2.is_empty());
    }
}
