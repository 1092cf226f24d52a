//! Plant model of a graph: the drawing, the catalog of shapes, and the items with their parts.

use std::collections::HashMap;

use pidq_core::{Object, Value};

use crate::json::is_number;
use crate::model::{self, Edge, EdgeRole, Endpoint, Model, Node};
use crate::snake_case::snake_case;
use crate::xml::Tree;

use super::super::attributes::FIELDS;
use super::super::elements::{self, Mapping};
use super::graphics::{self, Lines, objects};
use super::identifiers::{NewIds, camel_case, xml_id};
use super::roles;
use super::runs::{Run, runs};

/// Plant model as a tree of elements.
pub struct PlantTree {
    pub tree: Tree,
    /// The element of the drawing.
    pub drawing: usize,
    /// By node of the graph: the id with which it is read.
    pub ids: Vec<String>,
}

/// Units of quantities other than distances.
const UNITS_OF_MEASURE: &[&str] = &["Area", "Angle", "Temperature", "Pressure", "Volume", "Weight"];
/// Maximum depth of items in items. A deeper item is at the top, with an association to the one that contains it.
const MAX_DEPTH: usize = 64;

/// Returns the plant model of a graph.
pub fn plant_tree(model: &Model<'_>) -> PlantTree {
    let mut writer = PlantWriter::new(model);
    let root = writer.tree.add(None, "PlantModel");
    writer.add_information(root);
    let drawing = writer.add_drawing(root);
    writer.add_shapes(root);
    for node in 0..model.nodes.len() {
        if writer.parents[node].is_none() && writer.is_written[node] && !writer.is_in_new_run[node] {
            writer.add_item(root, node);
        }
    }
    writer.add_new_lines(root);
    for edge in std::mem::take(&mut writer.top_signals) {
        writer.add_signal(root, edge);
    }
    if writer.grows_downwards() {
        graphics::mirror(&mut writer.tree);
    }
    PlantTree { tree: writer.tree, drawing, ids: writer.ids }
}

/// Writer of a plant model.
struct PlantWriter<'m, 'a> {
    model: &'m Model<'a>,
    tree: Tree,
    elements: Vec<&'static str>,
    ids: Vec<String>,
    /// Ids of elements that are not in the graph.
    new_ids: NewIds,
    /// False for the open ends of pipes and signals, which no element represents.
    is_written: Vec<bool>,
    parents: Vec<Option<usize>>,
    children: Vec<Vec<usize>>,
    /// By node: types and target ids of associations.
    associations: Vec<Vec<(String, String)>>,
    /// By node of a segment: its run.
    runs: HashMap<usize, Run>,
    /// Runs of pipes that are in no segment.
    new_runs: Vec<Run>,
    is_in_new_run: Vec<bool>,
    /// By node: the signal lines in it.
    signals: Vec<Vec<usize>>,
    top_signals: Vec<usize>,
    /// By name of a shape: the element of an item that uses it.
    shape_elements: HashMap<&'a str, &'static str>,
}

impl<'m, 'a> PlantWriter<'m, 'a> {
    fn new(model: &'m Model<'a>) -> PlantWriter<'m, 'a> {
        let count = model.nodes.len();
        let is_written: Vec<bool> = model.nodes.iter().map(|node| !is_open_end(node)).collect();
        let id =
            |(node, is_written): (&Node<'_>, &bool)| if *is_written { xml_id(&node.name) } else { node.name.clone() };
        let ids: Vec<String> = model.nodes.iter().zip(&is_written).map(id).collect();
        let edge_ids = model.edges.iter().filter_map(|edge| Some(xml_id(edge.id()?.as_str()?)));
        let mut writer = PlantWriter {
            model,
            tree: Tree::default(),
            elements: model.nodes.iter().map(roles::element).collect(),
            new_ids: NewIds::new(&ids, edge_ids),
            ids,
            is_written,
            parents: vec![None; count],
            children: vec![Vec::new(); count],
            associations: vec![Vec::new(); count],
            runs: HashMap::new(),
            new_runs: Vec::new(),
            is_in_new_run: vec![false; count],
            signals: vec![Vec::new(); count],
            top_signals: Vec::new(),
            shape_elements: HashMap::new(),
        };
        writer.find_parents();
        writer.find_associations();
        writer.find_runs();
        writer.find_signals();
        for node in 0..count {
            if let Some(shape) = usage(&model.nodes[node]).and_then(|usage| usage.get("shape")?.as_str()) {
                writer.shape_elements.entry(shape).or_insert(writer.elements[node]);
            }
        }
        writer
    }

    /// Finds the item that each item is in: the one that it names, or one that has it and may contain it.
    fn find_parents(&mut self) {
        let model = self.model;
        let by_name: HashMap<&str, usize> =
            model.nodes.iter().enumerate().map(|(index, node)| (node.name.as_str(), index)).collect();
        for (index, node) in model.nodes.iter().enumerate() {
            let parent = node.fields.get("parent_id").and_then(|parent| by_name.get(parent.as_str()?)).copied();
            self.parents[index] = parent.filter(|parent| *parent != index && self.is_written[*parent]);
        }
        for edge in &model.edges {
            let (Some(owner), Some(part)) = (edge.from.node, edge.to.node) else { continue };
            let is_owner = [EdgeRole::Part, EdgeRole::Member].contains(&edge.role());
            if is_owner && self.parents[part].is_none() && owner != part && self.is_written[owner] {
                let may_contain = roles::is_nested(self.elements[owner], self.elements[part]);
                self.parents[part] = Some(owner).filter(|_| may_contain);
            }
        }
        let parents = self.parents.clone();
        for index in 0..parents.len() {
            let ancestors = std::iter::successors(parents[index], |parent| parents[*parent]);
            if !self.is_written[index] || ancestors.take(MAX_DEPTH).count() == MAX_DEPTH {
                self.parents[index] = None;
            }
            if let Some(parent) = self.parents[index] {
                self.children[parent].push(index);
            }
        }
    }

    /// Finds the associations of items: memberships that are not nesting, and named relations.
    fn find_associations(&mut self) {
        for edge in &self.model.edges {
            let (Some(from), Some(to)) = (edge.from.node, edge.to.node) else { continue };
            if !self.is_written[from] || !self.is_written[to] {
                continue;
            }
            let kind = match edge.role() {
                EdgeRole::Part | EdgeRole::Member if ["starts_at", "ends_at"].contains(&edge.kind()) => continue,
                EdgeRole::Part | EdgeRole::Member if self.parents[to] == Some(from) => continue,
                EdgeRole::Part | EdgeRole::Member => "is a collection including".to_owned(),
                EdgeRole::Other => relation(edge),
                EdgeRole::Flow | EdgeRole::Signal => continue,
            };
            self.associations[from].push((kind, self.ids[to].clone()));
        }
    }

    fn find_runs(&mut self) {
        let is_free: Vec<bool> = self
            .parents
            .iter()
            .zip(&self.is_written)
            .map(|(parent, is_written)| parent.is_none() && *is_written)
            .collect();
        for run in runs(self.model, &self.elements, &is_free) {
            run.items.iter().for_each(|item| self.is_in_new_run[*item] = true);
            match run.segment {
                Some(segment) => drop(self.runs.insert(segment, run)),
                None => self.new_runs.push(run),
            }
        }
    }

    fn find_signals(&mut self) {
        let model = self.model;
        let by_name: HashMap<&str, usize> =
            model.nodes.iter().enumerate().map(|(index, node)| (node.name.as_str(), index)).collect();
        for (index, edge) in model.edges.iter().enumerate().filter(|(_, edge)| edge.role() == EdgeRole::Signal) {
            let parent = edge.fields.get("parent_id").and_then(|parent| by_name.get(parent.as_str()?));
            match parent.filter(|parent| self.is_written[**parent]) {
                Some(parent) => self.signals[*parent].push(index),
                None => self.top_signals.push(index),
            }
        }
    }

    fn set(&mut self, element: usize, name: &str, value: &str) {
        self.tree.elements[element].set(name, value);
    }

    fn set_optional(&mut self, element: usize, name: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.set(element, name, value);
        }
    }

    fn metadata(&self, key: &str) -> Option<Value<'a>> {
        self.model.metadata?.get(key)
    }

    fn metadata_text(&self, key: &str) -> Option<&'a str> {
        self.metadata(key)?.as_str()
    }

    fn sheet(&self) -> Option<Object<'a>> {
        self.metadata("graphics")?.as_object()
    }

    /// Returns true for a drawing that states that its y grows downwards.
    fn grows_downwards(&self) -> bool {
        let coordinates = self.metadata("coordinate_system").and_then(Value::as_object);
        [self.sheet(), coordinates]
            .iter()
            .flatten()
            .any(|system| system.get("y_axis").and_then(|axis| axis.as_str()) == Some("down"))
    }

    fn add_information(&mut self, root: usize) {
        let information = self.tree.add(Some(root), "PlantInformation");
        let source = self.metadata("source").and_then(Value::as_object);
        let of_sheet = self.sheet().and_then(|sheet| sheet.get("unit")?.as_str());
        let coordinates = self.metadata("coordinate_system").and_then(Value::as_object);
        let unit = coordinates.and_then(|coordinates| coordinates.get("unit")?.as_str());
        let fixed = [("SchemaVersion", "4.2"), ("OriginatingSystem", "pidq"), ("Is3D", "no"), ("Discipline", "PID")];
        for (name, default) in fixed {
            let known = source.and_then(|source| source.get(&snake_case(name))?.as_str());
            let known = known.filter(|_| name != "SchemaVersion");
            self.set(information, name, known.unwrap_or(default));
        }
        self.set(information, "Units", of_sheet.or(unit).unwrap_or("mm"));
        // The remaining texts of the source, such as the date, are attributes under their own names.
        let is_fixed = |key: &str| {
            ["schema_version", "originating_system", "is3_d", "is3d", "discipline", "units", "format"].contains(&key)
        };
        for (key, value) in source.into_iter().flat_map(|source| source.iter()).filter(|(key, _)| !is_fixed(key)) {
            let name = camel_case(key);
            let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.is_ascii();
            let is_new = self.tree.elements[information].attribute(&name).is_none();
            if let Some(text) =
                value.as_str().filter(|_| is_name && is_new && self.tree.elements[information].attributes.len() < 64)
            {
                self.set(information, &name, text);
            }
        }
        let units = self.tree.add(Some(information), "UnitsOfMeasure");
        self.set(units, "Distance", unit.or(of_sheet).unwrap_or("mm"));
        let others = source.and_then(|source| source.get("units_of_measure")?.as_object());
        for (key, value) in others.into_iter().flat_map(|units| units.iter()) {
            if let Some(name) = UNITS_OF_MEASURE.iter().find(|name| snake_case(name) == key) {
                self.set_optional(units, name, value.as_str());
            }
        }
    }

    fn add_drawing(&mut self, root: usize) -> usize {
        let drawing = self.tree.add(Some(root), "Drawing");
        self.set(drawing, "Name", self.metadata_text("drawing_name").unwrap_or("drawing"));
        self.set(drawing, "Type", "PID");
        for (key, name) in [("title", "Title"), ("revision", "Revision"), ("size", "Size")] {
            self.set_optional(drawing, name, self.metadata_text(key));
        }
        let sheet = self.sheet();
        graphics::add_background(&mut self.tree, drawing, sheet.and_then(|sheet| sheet.get("background")?.as_str()));
        let corners = graphics::numbers(sheet.and_then(|sheet| sheet.get("extent")));
        if let [x_min, y_min, x_max, y_max] = corners.as_slice() {
            graphics::add_extent(&mut self.tree, drawing, [x_min, y_min, x_max, y_max]);
        }
        self.add_attributes(drawing, objects(self.metadata("attributes")));
        graphics::add(&mut self.tree, drawing, objects(sheet.and_then(|sheet| sheet.get("elements"))), Lines::Drawn);
        drawing
    }

    fn add_shapes(&mut self, root: usize) {
        let Some(shapes) = self.sheet().and_then(|sheet| sheet.get("shapes")?.as_object()) else { return };
        let catalog = self.tree.add(Some(root), "ShapeCatalogue");
        self.set(catalog, "Name", "shapes");
        for (name, shape) in shapes.iter() {
            let element = self.shape_elements.get(name).copied().unwrap_or("PipingComponent");
            let shape_element = self.tree.add(Some(catalog), element);
            let id = self.new_ids.next("shape");
            self.set(shape_element, "ID", &id);
            self.set(shape_element, "ComponentName", name);
            self.add_attributes(shape_element, objects(shape.as_object().and_then(|shape| shape.get("attributes"))));
            let elements = shape.as_object().and_then(|shape| shape.get("elements"));
            graphics::add(&mut self.tree, shape_element, objects(elements), Lines::Drawn);
        }
    }

    /// Adds an item with everything in it. The depth is limited by [`MAX_DEPTH`].
    fn add_item(&mut self, parent: usize, index: usize) {
        let node = &self.model.nodes[index];
        let element = self.tree.add(Some(parent), self.elements[index]);
        let id = self.ids[index].clone();
        self.set(element, "ID", &id);
        self.set_optional(element, "TagName", node.tag());
        self.set_optional(
            element,
            "ComponentClass",
            Some(roles::class(node).as_str()).filter(|class| !class.is_empty()),
        );
        let text = |key| node.fields.get(key).and_then(|value: Value<'a>| value.as_str());
        self.set_optional(element, "ComponentClassURI", text("component_class_uri"));
        let usage = usage(node);
        let shape = usage.and_then(|usage| usage.get("shape")?.as_str());
        self.set_optional(element, "ComponentName", shape.or(text("component_name")));
        self.add_persistent_id(element, node.fields);
        self.add_position(element, node.fields, usage);
        self.add_attributes(element, objects(node.fields.get("attributes")));
        self.add_common_attributes(element, node.fields);
        self.add_stated_values(element, node.fields);
        self.add_ports(element, node.fields);
        self.add_cross_page(element, node.fields);
        for (kind, target) in std::mem::take(&mut self.associations[index]) {
            let association = self.tree.add(Some(element), "Association");
            self.set(association, "Type", &kind);
            self.set(association, "ItemID", &target);
        }
        let drawn = objects(node.fields.get("graphics")).skip(usize::from(usage.is_some()));
        graphics::add(&mut self.tree, element, drawn, Lines::Drawn);
        for child in std::mem::take(&mut self.children[index]) {
            self.add_item(element, child);
        }
        if let Some(run) = self.runs.remove(&index) {
            self.add_run(element, &run);
        }
        for signal in std::mem::take(&mut self.signals[index]) {
            self.add_signal(element, signal);
        }
    }

    fn add_persistent_id(&mut self, element: usize, fields: Object<'_>) {
        let Some(id) = fields.get("persistent_id").and_then(|id| id.as_str()) else { return };
        let persistent_id = self.tree.add(Some(element), "PersistentID");
        self.set(persistent_id, "Identifier", id);
        let context = fields.get("persistent_id_context").and_then(|context| context.as_str());
        self.set_optional(persistent_id, "Context", context);
    }

    fn add_position(&mut self, element: usize, fields: Object<'_>, usage: Option<Object<'_>>) {
        let corners: Vec<f64> =
            graphics::numbers(fields.get("bbox")).iter().filter_map(|digits| digits.parse().ok()).collect();
        if let [x, y, width, height] = corners.as_slice() {
            let corners = [*x, *y, x + width, y + height].map(|number| super::super::number(number).to_text());
            graphics::add_extent(&mut self.tree, element, corners.each_ref().map(String::as_str));
        }
        if let Some(usage) = usage {
            return graphics::add_placement(&mut self.tree, element, usage);
        }
        let digits = |key| fields.get(key).filter(|value| value.as_f64().is_some()).map(model::text);
        if let (Some(x), Some(y)) = (digits("orig_x"), digits("orig_y")) {
            graphics::add_position(&mut self.tree, element, [&x, &y], 0.0, false);
        }
    }

    /// Adds attributes: one set of generic attributes for each name of a set.
    fn add_attributes(&mut self, element: usize, attributes: impl Iterator<Item = Object<'a>>) {
        const KEYS: &[(&str, &str)] = &[
            ("value", "Value"),
            ("data_type", "Format"),
            ("unit", "Units"),
            ("uri", "AttributeURI"),
            ("value_uri", "ValueURI"),
            ("unit_uri", "UnitsURI"),
            ("language", "Language"),
        ];
        let mut set: Option<(Option<&str>, usize)> = None;
        for attribute in attributes {
            let Some(name) = attribute.get("name").and_then(|name| name.as_str()) else { continue };
            let set_name = attribute.get("set").and_then(|set| set.as_str());
            let index = match set {
                Some((last, index)) if last == set_name => index,
                _ => {
                    let index = self.tree.add(Some(element), "GenericAttributes");
                    self.set_optional(index, "Set", set_name);
                    index
                }
            };
            set = Some((set_name, index));
            let generic = self.tree.add(Some(index), "GenericAttribute");
            self.set(generic, "Name", name);
            for (key, name) in KEYS {
                let value = attribute.get(key).filter(|value| !value.is_null());
                let text = value.map(model::text);
                self.set_optional(generic, name, text.as_deref());
            }
        }
    }

    /// Adds the common fields that no attribute of the item holds, under the names of DEXPI.
    fn add_common_attributes(&mut self, element: usize, fields: Object<'a>) {
        const DIAMETER: (&str, &[&str]) = (
            "nominal_diameter",
            &["NominalDiameterNumericalValueRepresentationAssignmentClass", "NominalDiameterStandardSpecialization"],
        );
        let mut set = None;
        for (field, names) in FIELDS.iter().copied().chain([DIAMETER]) {
            let has_attribute = objects(fields.get("attributes"))
                .filter_map(|attribute| attribute.get("name")?.as_str())
                .any(|name| names.contains(&name) || name.contains("Diameter") && field == DIAMETER.0);
            let value = fields.get(field).filter(|value| value.as_str().is_some() || value.as_f64().is_some());
            let Some(value) = value.filter(|_| !has_attribute) else { continue };
            let set = *set.get_or_insert_with(|| {
                let set = self.tree.add(Some(element), "GenericAttributes");
                self.tree.elements[set].set("Set", "DexpiAttributes");
                set
            });
            let attribute = self.tree.add(Some(set), "GenericAttribute");
            self.set(attribute, "Name", names[0]);
            let text = model::text(value);
            let named = Some(&text).filter(|_| field == "fail_action").and_then(|text| model::dexpi_fail_action(text));
            self.set(attribute, "Value", named.unwrap_or(&text));
            let format = if value.as_str().is_some() { "string" } else { "double" };
            self.set(attribute, "Format", if named.is_some() { "anyURI" } else { format });
        }
    }

    /// Adds pressures, positions and locks under names that other programs read, unless an attribute has them.
    fn add_stated_values(&mut self, element: usize, fields: Object<'a>) {
        const STATES: &[(&str, &str)] = &[("normal_position", "NormalPosition"), ("lock", "LockStatus")];
        let config = self.model.config.clone();
        let mut set = None;
        for (list, name) in model::PRESSURE_PROPERTIES.iter().chain(STATES) {
            let names = || objects(fields.get("attributes")).filter_map(|attribute| attribute.get("name")?.as_str());
            if names().any(|known| config.is_name_of(list, known)) {
                continue;
            }
            let Some(text) = config.stated_texts(fields, list).into_iter().next() else { continue };
            let (value, unit) = match text.split_once(' ') {
                Some((value, unit)) if list.ends_with("pressure") && is_number(value) => (value, Some(unit.trim())),
                _ => (text.as_str(), None),
            };
            let set = *set.get_or_insert_with(|| {
                let set = self.tree.add(Some(element), "GenericAttributes");
                self.tree.elements[set].set("Set", "DexpiAttributes");
                set
            });
            let attribute = self.tree.add(Some(set), "GenericAttribute");
            self.set(attribute, "Name", name);
            self.set(attribute, "Value", value);
            self.set(attribute, "Format", if is_number(value) { "double" } else { "string" });
            self.set_optional(attribute, "Units", unit);
        }
    }

    fn add_ports(&mut self, element: usize, fields: Object<'_>) {
        let ports: Vec<Object<'_>> = objects(fields.get("ports")).collect();
        if ports.is_empty() {
            return;
        }
        let points = self.tree.add(Some(element), "ConnectionPoints");
        self.set(points, "NumPoints", &(ports.len() + 1).to_string());
        // Point 0 is the item itself.
        self.tree.add(Some(points), "Node");
        for (index, port) in ports.into_iter().enumerate() {
            let text = |key| port.get(key).and_then(|value| value.as_str());
            let flow = match text("flow") {
                Some("in") => Some("FlowIn"),
                Some("out") => Some("FlowOut"),
                _ => None,
            };
            if let Some(flow) = flow.filter(|flow| self.tree.elements[points].attribute(flow).is_none()) {
                self.set(points, flow, &(index + 1).to_string());
            }
            let node = self.tree.add(Some(points), "Node");
            for (key, name) in [("name", "Name"), ("type", "Type")] {
                self.set_optional(node, name, text(key));
            }
            // Ids are unique in the file; an item with this id is another element.
            let id = text("id").map(xml_id).filter(|id| self.new_ids.take(id));
            self.set_optional(node, "ID", id.as_deref());
            self.add_port_position(node, port);
        }
    }

    fn add_port_position(&mut self, node: usize, port: Object<'_>) {
        let digits = |key| port.get(key).filter(|value| value.as_f64().is_some()).map(model::text);
        if let (Some(x), Some(y)) = (digits("x"), digits("y")) {
            graphics::add_position(&mut self.tree, node, [&x, &y], 0.0, false);
        }
        for attribute in objects(port.get("attributes")) {
            let name = attribute.get("name").and_then(|name| name.as_str());
            let value = attribute.get("value").filter(|value| !value.is_null()).map(model::text);
            // The diameter of a port is an element of its own.
            if let (Some("NominalDiameter"), Some(value)) = (name, value) {
                let diameter = self.tree.add(Some(node), "NominalDiameter");
                self.set(diameter, "Value", &value);
                self.set_optional(diameter, "Units", attribute.get("unit").and_then(|unit| unit.as_str()));
            }
        }
    }

    fn add_cross_page(&mut self, element: usize, fields: Object<'_>) {
        let Some(link) = fields.get("cross_page").and_then(|link| link.as_object()) else { return };
        let text = |key| link.get(key).and_then(|value: Value<'_>| value.as_str());
        let connection = self.tree.add(Some(element), "CrossPageConnection");
        self.set_optional(connection, "DrawingName", text("drawing_name"));
        self.set_optional(connection, "LinkLabel", text("link_label"));
        if let Some(partner) = text("linked_persistent_id") {
            let linked = self.tree.add(Some(connection), "LinkedPersistentID");
            self.set(linked, "Identifier", partner);
            self.set_optional(linked, "Context", text("linked_context"));
        }
    }

    /// Adds lines and segments for the pipes that are in none.
    fn add_new_lines(&mut self, root: usize) {
        let mut lines: Vec<(String, Vec<Run>)> = Vec::new();
        let mut index_by_line: HashMap<String, usize> = HashMap::new();
        for run in std::mem::take(&mut self.new_runs) {
            let index = *index_by_line.entry(run.line.clone()).or_insert(lines.len());
            match lines.get_mut(index) {
                Some((_, runs)) => runs.push(run),
                None => lines.push((run.line.clone(), vec![run])),
            }
        }
        for (line, runs) in lines {
            let system = self.add_structure(root, "PipingNetworkSystem", "line");
            self.set_optional(system, "TagName", Some(line.as_str()).filter(|line| !line.is_empty()));
            for run in runs {
                let segment = self.add_structure(system, "PipingNetworkSegment", "segment");
                for item in &run.items {
                    self.add_item(segment, *item);
                }
                self.add_run(segment, &run);
            }
        }
    }

    fn add_structure(&mut self, parent: usize, name: &str, base: &str) -> usize {
        let element = self.tree.add(Some(parent), name);
        let id = self.new_ids.next(base);
        self.set(element, "ID", &id);
        self.set(element, "ComponentClass", name);
        element
    }

    /// Adds the connections and the center lines of a run.
    fn add_run(&mut self, segment: usize, run: &Run) {
        let model = self.model;
        let edges: Vec<&Edge<'a>> = run.edges.iter().map(|edge| &model.edges[*edge]).collect();
        match edges.as_slice() {
            [] => {}
            [first, .., last] if run.is_chain(model) => self.add_connection(segment, first, last),
            all => all.iter().for_each(|edge| self.add_connection(segment, edge, edge)),
        }
        for edge in edges {
            self.add_center_lines(segment, edge);
        }
    }

    fn add_connection(&mut self, parent: usize, first: &Edge<'_>, last: &Edge<'_>) {
        let connection = self.tree.add(Some(parent), "Connection");
        let ends = [
            (&first.from, first.fields.get("from_port"), ["FromID", "FromNode"]),
            (&last.to, last.fields.get("to_port"), ["ToID", "ToNode"]),
        ];
        for (end, port, [id_name, port_name]) in ends {
            let Some(id) = self.end_id(end) else { continue };
            self.set(connection, id_name, &id);
            let port = port.filter(|port| !port.is_null()).map(model::text);
            self.set_optional(connection, port_name, port.as_deref());
        }
    }

    /// Returns the id of an end; `None` for an open end.
    fn end_id(&self, end: &Endpoint) -> Option<String> {
        match end.node {
            Some(node) => Some(self.ids[node].clone()).filter(|_| self.is_written[node]),
            None => Some(xml_id(&end.name)),
        }
    }

    fn add_center_lines(&mut self, parent: usize, edge: &Edge<'a>) {
        let drawn: Vec<Object<'a>> = objects(edge.fields.get("graphics")).collect();
        if !drawn.is_empty() {
            return graphics::add(&mut self.tree, parent, drawn.into_iter(), Lines::Center);
        }
        let path = edge.fields.get("orig_path").and_then(|path| path.as_array());
        let points: Vec<String> =
            path.into_iter().flat_map(|path| path.iter()).flat_map(|point| graphics::numbers(Some(point))).collect();
        if points.len() > 2 {
            let line = self.tree.add(Some(parent), "CenterLine");
            graphics::add_points(&mut self.tree, line, &points);
        }
    }

    fn add_signal(&mut self, parent: usize, index: usize) {
        let model = self.model;
        let edge = &model.edges[index];
        let class = edge.fields.get("component_class").and_then(|class| class.as_str()).map(str::to_owned);
        let class = class.unwrap_or_else(|| camel_case(edge.class().trim_start_matches("signal_line")));
        let is_signal = elements::find(&class) == Some(Mapping::Signal);
        let element = self.tree.add(Some(parent), if is_signal { &class } else { "InformationFlow" });
        let id = edge.id().and_then(|id| id.as_str()).map(xml_id).filter(|id| self.new_ids.take_edge(id));
        let id = id.unwrap_or_else(|| self.new_ids.next("signal"));
        self.set(element, "ID", &id);
        self.set_optional(element, "ComponentClass", Some(class.as_str()).filter(|class| !class.is_empty()));
        let name = edge.fields.get("component_name").and_then(|name| name.as_str());
        self.set_optional(element, "ComponentName", name);
        self.add_persistent_id(element, edge.fields);
        self.add_attributes(element, objects(edge.fields.get("attributes")));
        for (end, kind) in [(&edge.from, "has logical start"), (&edge.to, "has logical end")] {
            if let Some(id) = self.end_id(end) {
                let association = self.tree.add(Some(element), "Association");
                self.set(association, "Type", kind);
                self.set(association, "ItemID", &id);
            }
        }
        self.add_connection(element, edge, edge);
        self.add_center_lines(element, edge);
    }
}

/// Returns true for the open end of a pipe or a signal that an import has added.
fn is_open_end(node: &Node<'_>) -> bool {
    let is_synthetic = matches!(node.fields.get("synthetic"), Some(Value::Bool(true)));
    let class = node.class_name().unwrap_or_default();
    is_synthetic && ["reference.open_end", "reference.signal_end"].contains(&class)
}

/// Returns the use of a shape by which an item is drawn.
fn usage<'a>(node: &Node<'a>) -> Option<Object<'a>> {
    let first = objects(node.fields.get("graphics")).next()?;
    (first.get("type")?.as_str() == Some("use")).then_some(first)
}

/// Returns the type of an association: its class, or the type of the edge, in words.
fn relation(edge: &Edge<'_>) -> String {
    let class = edge.class().rsplit('.').next().unwrap_or_default();
    let words = if class.is_empty() { edge.kind() } else { class };
    let words = words.replace('_', " ");
    if words.trim().is_empty() { "is associated with".into() } else { words }
}
