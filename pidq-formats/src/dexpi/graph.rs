//! Graphs of DEXPI plant models, with the classes and attributes of the standard in the naming of pyDEXPI: `dexpi_class`,
//! `tagName`, `sourceItem`.
//!
//! Pipes and signals may be nodes there, with references to their ends; they become edges. Items get the usual fields beside
//! their own.

use std::collections::{HashMap, HashSet};

use pidq_core::vocabulary::{ENDPOINTS, NODE_IDS, TAGS};
use pidq_core::{Graph, Value};

use crate::import::{Finding, ImportBuilder};
use crate::json::{Fields, Json};
use crate::proteus::{Attribute, attribute_fields, node_of_element, tag_of_class};
use crate::snake_case::snake_case;

use super::plant::{ASSOCIATIONS, COMPONENTS};

/// Keys of the class of a node or an edge: that of a node is in both in most graphs.
const CLASS_KEYS: [&str; 2] = ["dexpi_class", "label"];

/// Key of the property by which one object contains or references another.
const PROPERTY_KEY: &str = "attr_name";

/// Class of a connection between two items: its name, the type of its edge, and the class of its edge.
type Connection = (&'static str, &'static str, Option<&'static str>);

/// Type of an edge that is a pipe.
const PIPE: &str = "physically_connected_to";

const CONNECTIONS: &[Connection] = &[
    ("Pipe", PIPE, None),
    ("DirectPipingConnection", PIPE, None),
    ("MeasuringLineFunction", "associated_with", Some("signal_line.measuring_line_function")),
    ("SignalConveyingFunction", "associated_with", Some("signal_line.signal_conveying_function")),
    ("SignalLineFunction", "associated_with", Some("signal_line.signal_line_function")),
    ("OperatedValveReference", "associated_with", Some("association.refers_to")),
];

/// Gives the nodes and edges of a graph of a DEXPI plant model the usual fields; other graphs stay as they are.
pub fn add_usual_fields(builder: &mut ImportBuilder) {
    let has_class = |item: &Fields| item.get(CLASS_KEYS[0]).is_some();
    let is_of_library = |node: &Fields| text(node, "labels").is_some_and(|labels| labels.starts_with("Dexpi"));
    let is_plant_model =
        builder.nodes.iter().any(|node| has_class(node) || is_of_library(node)) || builder.edges.iter().any(has_class);
    if !is_plant_model {
        return;
    }
    let relations = Relations::read(builder);
    for node in &mut builder.nodes {
        add_node_fields(node, &relations);
    }
    fold_ports(builder, &relations);
    connect_ends(builder, &relations);
    builder.edges.iter_mut().for_each(add_edge_fields);
}

/// Relations between the objects of a plant model, by the JSON text of their ids.
#[derive(Default)]
struct Relations {
    /// The property by which another object contains an object, and the id of this one.
    owners: HashMap<String, (String, Json)>,
    references: HashMap<String, Vec<(String, Json)>>,
}

impl Relations {
    fn read(builder: &ImportBuilder) -> Relations {
        let mut relations = Relations::default();
        for edge in &builder.edges {
            let (Some(from), Some(to), Some(property)) = (end(edge, 0), end(edge, 1), text(edge, PROPERTY_KEY)) else {
                continue;
            };
            if class(edge).as_deref() == Some("composition") {
                relations.owners.entry(to.to_text()).or_insert_with(|| (property, from.clone()));
            } else {
                relations.references.entry(from.to_text()).or_default().push((property, to.clone()));
            }
        }
        relations
    }

    /// Returns the object that an object references by one of two properties.
    fn target(&self, id: &str, properties: [&str; 2]) -> Option<&Json> {
        let references = self.references.get(id)?;
        references.iter().find(|(name, _)| properties.contains(&name.as_str())).map(|(_, to)| to)
    }

    /// Returns the property by which another object contains a node.
    fn property(&self, node: &Fields) -> Option<&str> {
        self.owners.get(&id(node)?).map(|(property, _)| property.as_str())
    }
}

/// Turns the nodes for points of connection into ports of their items.
fn fold_ports(builder: &mut ImportBuilder, relations: &Relations) {
    let mut ports: HashMap<String, Vec<Json>> = HashMap::new();
    let mut folded: HashSet<String> = HashSet::new();
    builder.nodes.retain(|node| {
        let is_port = class(node).is_some_and(|class| class == "PipingNode");
        let (Some(id), true) = (id(node), is_port) else { return true };
        let Some((_, owner)) = relations.owners.get(&id) else { return true };
        let list = ports.entry(owner.to_text()).or_default();
        let mut port = Fields::default();
        port.add("index", Json::count(list.len() + 1));
        port.add_optional("id", NODE_IDS.iter().find_map(|key| node.get(key)).cloned());
        port.add("type", Json::text("process"));
        list.push(Json::Object(port));
        folded.insert(id);
        false
    });
    for node in &mut builder.nodes {
        let list = id(node).and_then(|id| ports.remove(&id));
        node.add_optional("ports", list.map(Json::Array));
    }
    builder.edges.retain(|edge| !end(edge, 1).is_some_and(|to| folded.contains(&to.to_text())));
}

/// Turns the nodes for pipes and signals into edges between the items that they reference.
fn connect_ends(builder: &mut ImportBuilder, relations: &Relations) {
    let mut connected: HashSet<String> = HashSet::new();
    let (mut edges, mut nodes) = (Vec::new(), Vec::with_capacity(builder.nodes.len()));
    for node in std::mem::take(&mut builder.nodes) {
        let Some((id, edge_type)) = id(&node).zip(connection(&node).map(|(_, edge_type, _)| *edge_type)) else {
            nodes.push(node);
            continue;
        };
        let ends = [["sourceItem", "source"], ["targetItem", "target"]].map(|names| relations.target(&id, names));
        if ends == [None; 2] {
            nodes.push(node);
            continue;
        }
        if ends.contains(&None) {
            let message = format!("the connection {id} references only one of its ends");
            builder.report(Finding::DanglingReference, message, &[id.trim_matches('"')]);
        }
        let mut edge = node;
        let owner = relations.owners.get(&id).map(|(_, owner)| owner.clone());
        edge.add_optional(if edge_type == PIPE { "segment" } else { "parent_id" }, owner);
        let keys = [("from", ends[0]), ("to", ends[1])];
        keys.into_iter().for_each(|(key, end)| edge.add_optional(key, end.cloned()));
        for (key, property) in [("from_port", "sourceNode"), ("to_port", "targetNode")] {
            edge.add_optional(key, relations.target(&id, [property; 2]).cloned());
        }
        edges.push(edge);
        connected.insert(id);
    }
    builder.nodes = nodes;
    let is_connected = |end: Option<&Json>| end.is_some_and(|end| connected.contains(&end.to_text()));
    builder.edges.retain(|edge| ![0, 1].into_iter().any(|at| is_connected(end(edge, at))));
    builder.edges.extend(edges);
}

fn add_node_fields(node: &mut Fields, relations: &Relations) {
    let Some(class) = class(node) else { return };
    let attributes = attributes(node);
    let stated = TAGS.iter().filter_map(|key| text(node, key)).find(|tag| !tag.trim().is_empty());
    node.add_optional_text("tag", stated.or_else(|| tag_of_class(&class, &attributes)).as_deref());
    let is_named = |name: &str, property: &str| name.eq_ignore_ascii_case(property);
    let element =
        relations.property(node).and_then(|property| COMPONENTS.iter().find(|(name, _)| is_named(name, property)));
    // An object that no other contains: the name of its class may be that of an element.
    let element = element.map_or(class.as_str(), |(_, element)| element);
    if let Some((node_type, entity)) = node_of_element(element) {
        let entity = if class == "Chamber" { "equipment_component" } else { entity };
        node.add_optional_text("node_type", Some(node_type));
        node.add_optional_text("node_classification", Some(&format!("{entity}.{}", snake_case(&class))));
    }
    // The model as a whole is no item that contains the others.
    if class.ends_with("Model") {
        node.add_optional_text("node_type", Some("drawing"));
        node.add_optional_text("node_classification", Some(&format!("plant_structure.{}", snake_case(&class))));
    }
    node.add_optional_text("component_class", Some(&class));
    attribute_fields(node, &attributes);
}

fn add_edge_fields(edge: &mut Fields) {
    let property = text(edge, PROPERTY_KEY);
    if let Some((_, edge_type, edge_class)) = connection(edge) {
        edge.add_optional_text("edge_type", Some(edge_type));
        edge.add_optional_text("edge_classification", *edge_class);
        let attributes = attributes(edge);
        attribute_fields(edge, &attributes);
        let line = text(edge, "line_number");
        edge.add_optional_text("line", line.as_deref());
    } else if class(edge).as_deref() == Some("reference") {
        let known =
            |(name, _): &&(&str, &str)| property.as_deref().is_some_and(|property| name.eq_ignore_ascii_case(property));
        match ASSOCIATIONS.iter().find(known).map(|(_, association)| *association) {
            Some("is a collection including") => edge.add_optional_text("edge_type", Some("has_a")),
            Some("is a part of") => edge.add_optional_text("edge_type", Some("is_part_of")),
            Some(association) if !association.starts_with("has logical") => {
                edge.add_optional_text("edge_type", Some("associated_with"));
                edge.add_optional_text(
                    "edge_classification",
                    Some(&format!("association.{}", snake_case(association))),
                );
            }
            Some(_) => {}
            None => {
                edge.add_optional_text("edge_type", property.as_ref().map(|_| "associated_with"));
                let class = property.map(|property| format!("association.{}", snake_case(&property)));
                edge.add_optional_text("edge_classification", class.as_deref());
            }
        }
    }
}

/// Returns the kind of connection that a node or an edge is.
fn connection(fields: &Fields) -> Option<&'static Connection> {
    let class = class(fields)?;
    CONNECTIONS.iter().find(|(name, _, _)| *name == class)
}

/// Returns the JSON text of the id of a node.
fn id(node: &Fields) -> Option<String> {
    NODE_IDS.iter().find_map(|key| node.get(key)).map(Json::to_text)
}

fn class(fields: &Fields) -> Option<String> {
    CLASS_KEYS.iter().find_map(|key| text(fields, key))
}

/// Returns an end of an edge.
fn end(edge: &Fields, at: usize) -> Option<&Json> {
    ENDPOINTS.iter().find_map(|pair| edge.get(pair[at]).filter(|_| edge.get(pair[1 - at]).is_some()))
}

/// Returns the fields as attributes with the names of the standard: `fluidCode` is `FluidCode` or
/// `FluidCodeAssignmentClass`.
fn attributes(fields: &Fields) -> Vec<Attribute> {
    let mut list = Vec::new();
    for (key, value) in &fields.0 {
        let (Some(first), Some(value)) = (key.chars().next(), text_of(value)) else { continue };
        let name = format!("{}{}", first.to_ascii_uppercase(), &key[first.len_utf8()..]);
        for name in [format!("{name}AssignmentClass"), name] {
            list.push(Attribute { name, value: Some(value.clone()), extra: Fields::default() });
        }
    }
    list
}

fn text(fields: &Fields, key: &str) -> Option<String> {
    text_of(fields.get(key)?)
}

/// Returns the text of a string or a number.
fn text_of(value: &Json) -> Option<String> {
    match value {
        Json::String(text) | Json::Number(text) => Some(text.clone()),
        Json::Raw(text) if text.starts_with('"') && !text.contains('\\') => Some(text.trim_matches('"').to_owned()),
        Json::Raw(text) => match Graph::from_json(text.as_str()).ok()?.root() {
            Value::String(text) => Some(text.to_owned()),
            Value::Number(_) => Some(text.clone()),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::json_formats::read_node_link;

    /// Checks a query on an imported graph, and the codes of its warnings.
    #[track_caller]
    fn check(graph: &Value, query: &str, expected: Value, codes: &[&str]) {
        let imported = read_node_link(graph.to_string().as_bytes(), super::add_usual_fields).expect("a graph");
        let found: Vec<&str> = imported.diagnostics.iter().map(|diagnostic| diagnostic.finding.code()).collect();
        assert_eq!(found, codes, "{query}");
        let graph = pidq_core::Graph::from_json(imported.json).expect("JSON");
        let result =
            pidq_core::Query::parse(query).and_then(|query| query.to_json(&graph, pidq_core::Limits::default()));
        let result: Value = serde_json::from_str(&result.expect("it runs")).expect("JSON");
        assert_eq!(result, expected, "{query}");
    }

    fn node(id: &str, class: &str, fields: Value) -> Value {
        let mut node = json!({"id": id, "dexpi_class": class});
        fields.as_object().expect("fields").iter().for_each(|(key, value)| node[key] = value.clone());
        node
    }

    #[test]
    fn classes_tags_and_edges_of_the_standard_are_read() {
        let edge = |from: &str, class: &str, to: &str| json!({"source": from, "target": to, "dexpi_class": class});
        let graph = json!({"nodes": [
            node("1", "PressureVessel", json!({"tagName": "V-1"})),
            node("2", "BallValve", json!({"pipingComponentName": "XV-2", "nominalDiameterRepresentation": "DN 100"})),
            node("3", "CentrifugalPump", json!({"tagName": "P-1"})),
            node("4", "ProcessInstrumentationFunction", json!({"processInstrumentationFunctionCategory": "L",
                "processInstrumentationFunctions": "T", "processInstrumentationFunctionNumber": "2"})),
            node("5", "ProcessInstrumentationFunction", json!({"tagName": "LIC-2"})),
            node("6", "ControlledActuator", json!({"controlledActuatorNumber": "XV-2"})),
        ], "links": [edge("1", "Pipe", "2"), edge("2", "Pipe", "3"), edge("1", "MeasuringLineFunction", "4"),
            edge("4", "SignalConveyingFunction", "5"), edge("5", "SignalLineFunction", "6"), edge("6", "OperatedValveReference", "2")]});
        check(&graph, "nodes() | map(.tag)", json!(["V-1", "XV-2", "P-1", "LT 2", "LIC-2", "XV-2"]), &[]);
        check(&graph, "valveList() | map([.tag, .role, .size])", json!([["XV-2", "control", 100]]), &[]);
        let loops = "loops() | map([.kind, (.sensors | map(.tag)), (.final_elements | map(.tag)), .closed])";
        check(&graph, loops, json!([["control", ["LT 2"], ["XV-2"], true]]), &[]);
        check(&graph, r#"downstream("V-1") | map(.tag)"#, json!(["XV-2", "P-1"]), &[]);
    }

    #[test]
    fn pipes_that_are_nodes_become_edges() {
        let edge = |from: &str, label: &str, name: &str, to: &str| json!({"source": from, "target": to, "label": label, "attr_name": name});
        let graph = |ends: &[Value]| {
            let nodes =
                [("1", "Tank"), ("2", "BallValve"), ("3", "Pipe"), ("4", "PipingNetworkSegment"), ("5", "PipingNode")];
            let nodes: Vec<Value> = nodes
                .iter()
                .map(|(id, class)| {
                    json!({"id": id, "label": class,
                "labels": format!("DexpiBaseModel:{class}"), "tagName": format!("T-{id}")})
                })
                .collect();
            let mut links = vec![
                edge("4", "composition", "connections", "3"),
                edge("4", "composition", "items", "2"),
                edge("2", "composition", "nodes", "5"),
                edge("3", "reference", "targetNode", "5"),
            ];
            links.extend_from_slice(ends);
            json!({"nodes": nodes, "links": links})
        };
        let [source, target] = [edge("3", "reference", "sourceItem", "1"), edge("3", "reference", "targetItem", "2")];
        let whole = graph(&[source.clone(), target]);
        check(
            &whole,
            "edges() | filter(.edge_type == \"physically_connected_to\") | map([.from, .to, .segment, .to_port])",
            json!([["1", "2", "4", "5"]]),
            &[],
        );
        check(&whole, "nodes() | map(.id)", json!(["1", "2", "4"]), &[]);
        check(&whole, "validate({rules: \"G02\"}) | map(.code)", json!([]), &[]);
        check(&graph(&[source]), "validate({rules: \"G02\"}) | map(.code)", json!(["G021"]), &["I003"]);
        check(&graph(&[]), "nodes() | map(.id)", json!(["1", "2", "3", "4"]), &[]);
    }

    #[test]
    fn the_model_is_no_item() {
        let pump = node("2", "CentrifugalPump", json!({"tagName": "P-1"}));
        let graph = json!({"nodes": [node("1", "ConceptualModel", json!({})), pump],
            "links": [{"source": "1", "target": "2", "label": "composition", "attr_name": "taggedPlantItems"}]});
        check(&graph, "nodes() | map(.node_type)", json!(["drawing", "pid_component"]), &[]);
        check(&graph, "equipmentList() | map(.tag)", json!(["P-1"]), &[]);
    }

    #[test]
    fn lines_that_no_model_contains_are_lines() {
        let graph = json!({"nodes": [node("1", "PipingNetworkSystem", json!({"lineNumber": "L-1"})),
            node("2", "PipingNetworkSegment", json!({"segmentNumber": "7", "fluidCode": "W"})),
            node("3", "CentrifugalPump", json!({"tagName": "P-1"}))],
            "links": [{"source": "1", "target": "2", "label": "composition", "attr_name": "segments"}]});
        check(&graph, "lineList() | map(.line)", json!(["L-1"]), &[]);
        check(&graph, "segmentList() | map([.tag, .line])", json!([["7", "L-1"]]), &[]);
    }

    #[test]
    fn a_graph_without_classes_of_the_standard_stays_as_it_is() {
        let graph = json!({"nodes": [{"id": "1", "label": "Pipe"}, {"id": "2", "class": "tank"}],
            "links": [{"source": "1", "target": "2", "attr_name": "items"}]});
        check(&graph, "nodes()", json!([{"id": "1", "label": "Pipe"}, {"id": "2", "class": "tank"}]), &[]);
    }
}
