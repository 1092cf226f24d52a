//! Process model as a graph: process steps with their ports as nodes, streams and energy flows as edges, and all other
//! objects as nodes that are related by their references.

use std::collections::HashMap;

use crate::import::{Finding, ImportBuilder};
use crate::json::{Fields, Json};
use crate::snake_case::snake_case;

use super::diagram::Diagram;
use super::objects::{Objects, Target};
use super::plant::{is_value, values};
use super::values::DataValue;

/// Component properties with their entity types.
const ENTITIES: &[(&str, &str)] = &[("ProcessSteps", "process_step"), ("SubProcessSteps", "process_step")];

/// Component properties of connections.
const CONNECTIONS: &[&str] = &["ProcessConnections"];

/// Reads a process model.
pub fn read<'t>(objects: &Objects<'t>, diagram: &Diagram<'t>, model: usize, builder: &mut ImportBuilder) {
    let mut process = Process {
        objects,
        diagram,
        builder,
        ports: HashMap::new(),
        ids: HashMap::new(),
        connections: Vec::new(),
        relations: Vec::new(),
        shared_ids: Vec::new(),
    };
    process.add_components(model, None);
    process.add_connections();
    process.add_relations();
    process.mark_shared_ids();
}

struct Process<'p, 't> {
    objects: &'p Objects<'t>,
    diagram: &'p Diagram<'t>,
    builder: &'p mut ImportBuilder,
    /// Steps and port numbers by the id of a port.
    ports: HashMap<&'t str, (String, usize)>,
    /// Number of uses of an id or a generated id.
    ids: HashMap<String, usize>,
    /// Nodes whose id in the file is that of another one, by the id here.
    shared_ids: Vec<(String, String)>,
    connections: Vec<usize>,
    /// References of nodes: from, property, to.
    relations: Vec<(String, &'t str, &'t str)>,
}

impl<'t> Process<'_, 't> {
    fn add_components(&mut self, owner: usize, owner_id: Option<&str>) {
        for (components, property) in self.objects.properties(owner, "Components") {
            if ["Ports", "MetaData", "PersistentIdentifiers"].contains(&property) {
                continue;
            }
            let entity =
                ENTITIES.iter().find(|(name, _)| *name == property).map_or("process_data", |(_, entity)| entity);
            for object in self.objects.objects_in(components).collect::<Vec<_>>() {
                if is_value(self.objects, object) && entity == "process_data" {
                    continue;
                }
                self.objects.take(components);
                self.objects.take(object);
                match CONNECTIONS.contains(&property) {
                    true => self.connections.push(object),
                    false => self.add_node(object, entity, owner_id),
                }
            }
        }
    }

    /// Returns a unique id for an object.
    fn id(&mut self, object: usize) -> String {
        let class = self.objects.class(object);
        let stated = self.objects.id(object);
        let count = self.ids.entry(stated.unwrap_or(class).to_owned()).or_insert(0);
        *count += 1;
        let id = match (stated, *count) {
            (Some(id), 1) => return id.to_owned(),
            (Some(id), count) => format!("{id}#{count}"),
            (None, count) => format!("{class}#{count}"),
        };
        match stated {
            Some(stated) => {
                let message = format!("duplicate id `{stated}` of a `{class}`; it was renamed to `{id}`");
                self.builder.report(Finding::DuplicateId, message, &[stated, &id]);
                self.shared_ids.extend([stated, &id].map(|shared| (shared.to_owned(), stated.to_owned())));
            }
            None => {
                let message = format!("a `{class}` has no id; it was named `{id}`");
                self.builder.report(Finding::MissingId, message, &[&id]);
            }
        }
        id
    }

    /// Marks the nodes that had one id in the file.
    fn mark_shared_ids(&mut self) {
        let shared: HashMap<String, String> = std::mem::take(&mut self.shared_ids).into_iter().collect();
        for node in 0..self.builder.nodes.len() {
            let shared_id = match self.builder.nodes[node].get("id") {
                Some(Json::String(id)) => shared.get(id),
                _ => None,
            };
            if let Some(id) = shared_id {
                self.builder.mark_shared_id(node, id);
            }
        }
    }

    fn add_node(&mut self, object: usize, entity: &str, owner: Option<&str>) {
        let id = self.id(object);
        let class = self.objects.class(object);
        let values = values(self.objects, object);
        let mut node = Fields::default();
        node.add("id", Json::text(&id));
        node.add("tag", Json::text(tag(&values)));
        node.add("node_type", Json::text("pid_component"));
        node.add("node_classification", Json::String(format!("{entity}.{}", snake_case(class))));
        node.add("component_class", Json::text(class));
        node.add_optional("label", self.label(object, &values).map(Json::String));
        self.add_position(&mut node, object);
        node.add_optional_text("parent_id", owner);
        add_persistent_id(self.objects, object, &mut node);
        let ports = self.ports(object, &id);
        if !ports.is_empty() {
            node.add("ports", Json::Array(ports));
        }
        add_attributes(&mut node, values);
        self.builder.nodes.push(node);
        if let Some(owner) = owner {
            self.add_edge("has_a", None, owner, &id);
        }
        self.note_relations(object, &id);
        self.add_components(object, Some(&id));
    }

    /// Returns the description of a step, or else the text next to it.
    fn label(&self, object: usize, values: &[DataValue<'_>]) -> Option<String> {
        let description = values.iter().find(|value| value.name == "DescriptionAssignmentClass");
        let drawing = self.objects.id(object).and_then(|id| self.diagram.drawings.get(id));
        let texts = drawing.map(|drawing| drawing.texts.join(" ")).filter(|text| !text.trim().is_empty());
        description.and_then(|value| value.value.clone()).or(texts)
    }

    fn add_position(&self, node: &mut Fields, object: usize) {
        let drawing = self.objects.id(object).and_then(|id| self.diagram.drawings.get(id));
        if let Some((_, at)) = drawing.and_then(|drawing| drawing.symbol.as_ref()) {
            let [x, y] = at.json();
            node.add("orig_x", x);
            node.add("orig_y", y);
        }
    }

    fn ports(&mut self, object: usize, step: &str) -> Vec<Json> {
        let mut list = Vec::new();
        for (index, port) in self.objects.components(object, "Ports").into_iter().enumerate() {
            let id = self.objects.id(port);
            let values = values(self.objects, port);
            let direction = values.iter().find(|value| value.name == "NominalDirectionSpecialization");
            let flow = match direction.and_then(|value| value.value.as_deref()) {
                Some("Inlet") => Some("in"),
                Some("Outlet") => Some("out"),
                _ => None,
            };
            let mut fields = Fields::default();
            fields.add("index", Json::count(index + 1));
            fields.add_optional_text("id", id);
            fields.add("type", Json::String(snake_case(self.objects.class(port))));
            fields.add_optional_text("flow", flow);
            add_attributes(&mut fields, values);
            // The same fact as the ends of the connection.
            self.objects.references(port, "ConnectorReference");
            list.push(Json::Object(fields));
            if let Some(id) = id {
                self.ports.entry(id).or_insert_with(|| (step.to_owned(), index + 1));
            }
        }
        list
    }

    fn note_relations(&mut self, object: usize, id: &str) {
        for (references, property) in self.objects.properties(object, "References") {
            for target in self.objects.targets(references) {
                if let Target::Id(target) = target {
                    self.relations.push((id.to_owned(), property, target));
                }
            }
        }
    }

    /// Adds the streams and energy flows, whose ends are ports.
    fn add_connections(&mut self) {
        for object in std::mem::take(&mut self.connections) {
            let id = self.id(object);
            let class = self.objects.class(object);
            let values = values(self.objects, object);
            let is_material = class.ends_with("Stream");
            let mut edge = Fields::default();
            edge.add("id", Json::text(&id));
            edge.add("edge_type", Json::text(if is_material { "physically_connected_to" } else { "associated_with" }));
            edge.add("edge_classification", Json::String(format!("process.{}", snake_case(class))));
            let [from, to] = ["Source", "Target"].map(|property| self.end(object, &id, property));
            edge.add("from", Json::String(from.0));
            edge.add("to", Json::String(to.0));
            edge.add_optional("from_port", from.1.map(Json::count));
            edge.add_optional("to_port", to.1.map(Json::count));
            edge.add("tag", Json::text(tag(&values)));
            edge.add("component_class", Json::text(class));
            if is_material {
                edge.add("direction", Json::text("forward"));
            }
            self.add_path(&mut edge, object);
            add_persistent_id(self.objects, object, &mut edge);
            add_attributes(&mut edge, values);
            self.builder.edges.push(edge);
            self.note_relations(object, &id);
        }
    }

    /// Returns the step at an end, with the number of its port.
    fn end(&mut self, object: usize, id: &str, property: &str) -> (String, Option<usize>) {
        match self.objects.reference(object, property) {
            Some(port) => match self.ports.get(port) {
                Some((step, number)) => (step.clone(), Some(*number)),
                None => {
                    if self.objects.by_id(port).is_none() {
                        let message = format!("`{id}` connects to `{port}`, which is not in the file");
                        self.builder.report(Finding::DanglingReference, message, &[id, port]);
                    }
                    (port.to_owned(), None)
                }
            },
            None => {
                let end = format!("{id}-{}", property.to_lowercase());
                let mut node = Fields::default();
                node.add("id", Json::text(&end));
                node.add("tag", Json::text(""));
                node.add("node_type", Json::text("pid_component"));
                node.add("node_classification", Json::text("reference.open_end"));
                node.add("synthetic", Json::Bool(true));
                self.builder.nodes.push(node);
                let message = format!("the connection `{id}` has no {}", property.to_lowercase());
                self.builder.report(Finding::OpenEnd, message, &[id, &end]);
                (end, None)
            }
        }
    }

    fn add_path(&self, edge: &mut Fields, object: usize) {
        let drawing = self.objects.id(object).and_then(|id| self.diagram.drawings.get(id));
        let lines = drawing.into_iter().flat_map(|drawing| &drawing.lines);
        let points: Vec<Json> =
            lines.flat_map(|line| &line.points).map(|point| Json::Array(point.json().into())).collect();
        if points.len() > 1 {
            edge.add("orig_path", Json::Array(points));
        }
    }

    fn add_relations(&mut self) {
        for (from, property, target) in std::mem::take(&mut self.relations) {
            // The ends of a connection.
            if ["Source", "Target"].contains(&property) {
                continue;
            }
            let to = self.ports.get(target).map_or(target, |(step, _)| step).to_owned();
            if self.objects.by_id(target).is_none() {
                let message = format!("`{from}` refers to `{target}`, which is not in the file");
                self.builder.report(Finding::DanglingReference, message, &[&from, target]);
            }
            self.add_edge("associated_with", Some(&format!("association.{}", snake_case(property))), &from, &to);
        }
    }

    fn add_edge(&mut self, kind: &str, class: Option<&str>, from: &str, to: &str) {
        let mut edge = Fields::default();
        edge.add("id", Json::String(format!("rel-{}", self.builder.edges.len() + 1)));
        edge.add("edge_type", Json::text(kind));
        edge.add_optional_text("edge_classification", class);
        edge.add("from", Json::text(from));
        edge.add("to", Json::text(to));
        self.builder.edges.push(edge);
    }
}

/// Returns the tag of a step or a stream.
fn tag<'v>(values: &'v [DataValue<'_>]) -> &'v str {
    let names = ["TagNameAssignmentClass", "IdentifierAssignmentClass"];
    let tag = names.iter().find_map(|name| values.iter().find(|value| value.name == *name));
    tag.and_then(|value| value.value.as_deref()).unwrap_or_default()
}

fn add_persistent_id(objects: &Objects<'_>, object: usize, fields: &mut Fields) {
    for identifier in objects.components(object, "PersistentIdentifiers") {
        fields.add_optional_text("persistent_id", objects.text(identifier, "Value"));
        fields.add_optional_text("persistent_id_context", objects.text(identifier, "Context"));
    }
}

/// Adds values as attributes.
pub fn add_attributes(fields: &mut Fields, values: Vec<DataValue<'_>>) {
    if !values.is_empty() {
        fields.add("attributes", Json::Array(values.into_iter().map(DataValue::into_json).collect()));
    }
}
