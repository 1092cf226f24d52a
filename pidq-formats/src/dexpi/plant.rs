//! Plant model as the elements of a Proteus plant model, which the Proteus import turns into a graph: so the same
//! drawing in both formats gives the same graph.

use std::collections::{HashMap, HashSet};

use crate::xml::{Element, Tree};

use super::diagram::{Diagram, Drawing};
use super::extension;
use super::members;
use super::objects::{Objects, Target, last_name};
use super::primitives::Point;
use super::segments::{self, Ends};
use super::values::{self, DataValue};

/// Element of each component property, in the order in which the parts of a plant are read.
pub const COMPONENTS: &[(&str, &str)] = &[
    ("PlantStructureItems", "PlantStructureItem"),
    ("Notes", "Note"),
    ("TaggedPlantItems", "Equipment"),
    ("Nozzles", "Nozzle"),
    ("Chambers", "Equipment"),
    ("PipingNetworkSystems", "PipingNetworkSystem"),
    ("Segments", "PipingNetworkSegment"),
    ("Items", "PipingComponent"),
    ("ActuatingSystems", "ActuatingSystem"),
    ("ActuatingElectricalSystems", "ActuatingElectricalSystem"),
    ("MeasuringSystems", "ProcessSignalGeneratingSystem"),
    ("ControlledActuator", "ActuatingSystemComponent"),
    ("OperatedValveReference", "ActuatingSystemComponent"),
    ("Positioner", "ActuatingSystemComponent"),
    ("ElectronicFrequencyConverter", "ActuatingElectricalSystemComponent"),
    ("MeasuringElement", "ProcessSignalGeneratingSystemComponent"),
    ("SensorwellReference", "ProcessSignalGeneratingSystemComponent"),
    ("Transmitter", "ProcessSignalGeneratingSystemComponent"),
    ("ProcessInstrumentationFunctions", "ProcessInstrumentationFunction"),
    ("ProcessSignalGeneratingFunctions", "ProcessSignalGeneratingFunction"),
    ("ActuatingFunctions", "ActuatingFunction"),
    ("ActuatingElectricalFunctions", "ActuatingElectricalFunction"),
    ("SignalConnectors", "SignalOffPageConnector"),
    ("SignalConveyingFunctions", "InformationFlow"),
    ("InstrumentationLoopFunctions", "InstrumentationLoopFunction"),
];

/// Association of each reference property. Others are associations under their own names.
pub const ASSOCIATIONS: &[(&str, &str)] = &[
    ("ParentStructure", "is a part of"),
    ("PlantArea", "is located in"),
    ("PlantSystem", "is located in"),
    ("PlantTrain", "is located in"),
    ("Chamber", "is located in"),
    ("SensingLocation", "is located in"),
    ("ActuatingLocation", "is located in"),
    ("ActuatingElectricalLocation", "is located in"),
    ("Systems", "is fulfilled by"),
    ("Valve", "refers to"),
    ("Sensorwell", "refers to"),
    ("InlineMeasuringElement", "refers to"),
    ("ReferencedConnector", "refers to"),
    ("ReferencedNotes", "is referenced in comment"),
    ("ProcessInstrumentationFunctions", "is a collection including"),
    ("Source", "has logical start"),
    ("Target", "has logical end"),
];

/// References that are read with the segments.
pub const RUN_REFERENCES: &[&str] = &["SourceItem", "SourceNode", "TargetItem", "TargetNode"];

/// Plant model as elements, and what the elements cannot hold.
pub struct Plant<'o, 't> {
    objects: &'o Objects<'t>,
    diagram: &'o Diagram<'t>,
    pub tree: Tree,
    /// Names of the imported information models by prefix.
    sources: HashMap<&'t str, &'t str>,
    /// Items and port numbers by the id of a node; segments by that of a pipe.
    nodes: HashMap<&'t str, (&'t str, usize)>,
    /// Ids given to objects without one.
    pub generated_ids: Vec<String>,
    counts: HashMap<&'t str, usize>,
    pub pipes: Vec<Pipe<'t>>,
    /// Elements of the connection points of items by the ids of the items.
    points: HashMap<&'t str, usize>,
}

/// Pipe of a segment.
pub struct Pipe<'t> {
    pub id: Option<&'t str>,
    pub segment: String,
    pub ends: Ends<'t>,
    pub values: Vec<DataValue<'t>>,
    pub persistent_id: Option<&'t str>,
}

impl<'o, 't> Plant<'o, 't> {
    /// Converts the items of a plant model.
    pub fn read(objects: &'o Objects<'t>, diagram: &'o Diagram<'t>, model: usize) -> Plant<'o, 't> {
        let imports = objects.tree.named(0, "Import");
        let mut plant = Plant {
            objects,
            diagram,
            tree: Tree::default(),
            sources: imports.filter_map(|(_, import)| Some((import.get("prefix")?, import.get("source")?))).collect(),
            nodes: node_owners(objects),
            generated_ids: Vec::new(),
            counts: HashMap::new(),
            pipes: Vec::new(),
            points: HashMap::new(),
        };
        let root = plant.push(None, "PlantModel", Vec::new());
        plant.add_components(root, model);
        plant
    }

    fn push(&mut self, parent: Option<usize>, name: &str, attributes: Vec<(String, String)>) -> usize {
        let index = self.tree.elements.len();
        if let Some(parent) = parent {
            self.tree.elements[parent].children.push(index);
        }
        let (name, text, children) = (name.to_owned(), String::new(), Vec::new());
        self.tree.elements.push(Element { name, attributes, text, parent, children });
        index
    }

    /// Adds the components of an object: known ones in the order of their table, then all others.
    fn add_components(&mut self, element: usize, object: usize) {
        for (property, name) in COMPONENTS {
            for component in self.objects.components(object, property) {
                self.add_object(element, component, name);
            }
        }
        for (components, property) in self.objects.properties(object, "Components") {
            let is_known = COMPONENTS.iter().any(|(known, _)| *known == property);
            if is_known || OTHER_COMPONENTS.contains(&property) {
                continue;
            }
            for component in self.objects.objects_in(components).collect::<Vec<_>>() {
                self.add_other(element, component, components);
            }
        }
        for (components, _) in self.objects.extension(object, "Components") {
            self.objects.take(components);
            for component in self.objects.objects_in(components) {
                self.objects.take(component);
                self.add_object(element, component, self.objects.class(component));
            }
        }
    }

    /// Adds a component of an unknown property: an item if it has an id. One without was read with the values.
    fn add_other(&mut self, element: usize, component: usize, components: usize) {
        if is_value(self.objects, component) {
            return;
        }
        self.objects.take(components);
        self.objects.take(component);
        let is_equipment = ["Equipment", "Nozzle"].contains(&self.tree.elements[element].name.as_str());
        let name = if is_equipment { "Equipment" } else { self.objects.class(component) };
        self.add_object(element, component, name);
    }

    fn add_object(&mut self, parent: usize, object: usize, name: &str) {
        let class = self.objects.class(object);
        let stated = members::texts(self.objects, object, extension::ELEMENT).first().copied();
        let name = match stated.unwrap_or(name) {
            "PipingComponent" if class == "PropertyBreak" => "PropertyBreak",
            "PipingComponent" if class.ends_with("PipeOffPageConnector") => "PipeOffPageConnector",
            name => name,
        };
        let id = self.id(object);
        let drawing = self.objects.id(object).and_then(|id| self.diagram.drawings.get(id));
        let mut attributes = attributes(&[("ID", &id), ("ComponentClass", class)]);
        attributes.extend(self.class_uri(object).map(|uri| ("ComponentClassURI".to_owned(), uri)));
        let symbol = drawing.and_then(|drawing| drawing.symbol.as_ref());
        attributes.extend(symbol.map(|(symbol, _)| ("ComponentName".to_owned(), symbol.clone())));
        let element = self.push(Some(parent), name, attributes);
        self.add_persistent_ids(element, object);
        if let Some(drawing) = drawing {
            self.add_drawing(element, drawing, name);
        }
        self.add_ports(element, object, drawing);
        self.add_values(element, object);
        self.add_references(element, object);
        self.add_connector_reference(element, object);
        self.add_components(element, object);
        if name == "PipingNetworkSegment" {
            self.add_run(element, object, &id);
        }
    }

    /// Returns the id of an object, or one made of its class and a number.
    fn id(&mut self, object: usize) -> String {
        if let Some(id) = self.objects.id(object) {
            return id.to_owned();
        }
        let class = self.objects.class(object);
        let count = self.counts.entry(class).or_insert(0);
        let id = loop {
            *count += 1;
            let id = format!("{class}{count}");
            if self.objects.by_id(&id).is_none() {
                break id;
            }
        };
        self.generated_ids.push(id.clone());
        id
    }

    /// Returns the class as a URI: the source of its information model, and the name in it.
    fn class_uri(&self, object: usize) -> Option<String> {
        let (prefix, class) = self.objects.class_path(object).split_once('/')?;
        if self.objects.has_extension && prefix == extension::PREFIX {
            return None;
        }
        Some(format!("{}#{class}", self.sources.get(prefix)?))
    }

    fn add_persistent_ids(&mut self, element: usize, object: usize) {
        for identifier in self.objects.components(object, "PersistentIdentifiers") {
            let [context, value] = ["Context", "Value"].map(|name| self.objects.text(identifier, name));
            let attributes =
                attributes(&[("Context", context.unwrap_or_default()), ("Identifier", value.unwrap_or_default())]);
            self.push(Some(element), "PersistentID", attributes);
        }
    }

    /// Adds position, extent, labels and lines.
    fn add_drawing(&mut self, element: usize, drawing: &Drawing<'t>, name: &str) {
        match &drawing.symbol {
            Some((_, at)) => self.add_position(element, at),
            None => self.add_extent(element, &drawing.points),
        }
        if !drawing.texts.is_empty() {
            let label = self.push(Some(element), "Label", Vec::new());
            for text in &drawing.texts {
                self.push(Some(label), "Text", attributes(&[("String", text)]));
            }
        }
        if ["InformationFlow", "PipingNetworkSegment"].contains(&name) {
            drawing.lines.iter().for_each(|line| self.add_center_line(element, &line.points));
        }
        if let Some(line) = drawing.lines.first().filter(|_| name == "InformationFlow") {
            let ends = line.ends.map(|end| end.map(|id| self.nodes.get(id).map_or(id, |(owner, _)| *owner)));
            let pairs = [("FromID", ends[0]), ("ToID", ends[1])];
            let attributes: Vec<_> =
                pairs.into_iter().filter_map(|(key, id)| Some((key.to_owned(), id?.to_owned()))).collect();
            if !attributes.is_empty() {
                self.push(Some(element), "Connection", attributes);
            }
        }
    }

    fn add_position(&mut self, element: usize, at: &Point) {
        let position = self.push(Some(element), "Position", Vec::new());
        self.push(Some(position), "Location", attributes(&[("X", &at.x), ("Y", &at.y)]));
    }

    fn add_extent(&mut self, element: usize, points: &[Point]) {
        let by_number = |a: &&String, b: &&String| {
            let [a, b] = [a, b].map(|digits| digits.parse::<f64>().unwrap_or_default());
            a.total_cmp(&b)
        };
        let (xs, ys) = (|| points.iter().map(|point| &point.x), || points.iter().map(|point| &point.y));
        let low = xs().min_by(by_number).zip(ys().min_by(by_number));
        let high = xs().max_by(by_number).zip(ys().max_by(by_number));
        let (Some((min_x, min_y)), Some((max_x, max_y))) = (low, high) else { return };
        let extent = self.push(Some(element), "Extent", Vec::new());
        self.push(Some(extent), "Min", attributes(&[("X", min_x), ("Y", min_y)]));
        self.push(Some(extent), "Max", attributes(&[("X", max_x), ("Y", max_y)]));
    }

    fn add_center_line(&mut self, element: usize, points: &[Point]) {
        let line = self.push(Some(element), "CenterLine", Vec::new());
        for point in points {
            self.push(Some(line), "Coordinate", attributes(&[("X", &point.x), ("Y", &point.y)]));
        }
    }

    /// Adds the nodes of an item, and its signal ports. Point 0 is the item itself.
    fn add_ports(&mut self, element: usize, object: usize, drawing: Option<&Drawing<'t>>) {
        let nodes = self.objects.components(object, "Nodes");
        let signal_ports = drawing.map(|drawing| drawing.signal_ports.as_slice()).unwrap_or_default();
        // A line has its ends at other items.
        let is_line = self.tree.elements[element].name == "InformationFlow";
        if is_line || nodes.is_empty() && signal_ports.is_empty() {
            return;
        }
        let points = self.push(Some(element), "ConnectionPoints", Vec::new());
        if let Some(id) = self.objects.id(object) {
            self.points.entry(id).or_insert(points);
        }
        self.push(Some(points), "Node", Vec::new());
        for node in nodes {
            let id = self.objects.id(node);
            let mut attributes = attributes(&[("Type", "process")]);
            attributes.extend(self.objects.own_id(node).map(|id| ("ID".to_owned(), id.to_owned())));
            let port = self.push(Some(points), "Node", attributes);
            if let Some(at) = id.and_then(|id| self.diagram.node_points.get(id)) {
                self.add_position(port, at);
            }
            self.add_values(port, node);
        }
        for (id, at) in signal_ports {
            let mut attributes = attributes(&[("Type", "signal")]);
            attributes.extend(id.map(|id| ("ID".to_owned(), id.to_owned())));
            let port = self.push(Some(points), "Node", attributes);
            self.add_position(port, at);
        }
    }

    /// Adds the values of an object: those of the standard, then those of its extensions.
    fn add_values(&mut self, element: usize, object: usize) {
        let (custom, standard): (Vec<_>, Vec<_>) =
            values(self.objects, object).into_iter().partition(|value| value.property.is_some());
        for (set, values) in [("DexpiAttributes", standard), ("DexpiCustomAttributes", custom)] {
            if values.is_empty() {
                continue;
            }
            let set = self.push(Some(element), "GenericAttributes", attributes(&[("Set", set)]));
            for value in values {
                self.push(Some(set), "GenericAttribute", value.xml_attributes());
            }
        }
    }

    fn add_references(&mut self, element: usize, object: usize) {
        for (references, property) in self.objects.properties(object, "References") {
            if RUN_REFERENCES.contains(&property) {
                continue;
            }
            let known = ASSOCIATIONS.iter().find(|(name, _)| *name == property);
            let kind = known.map_or(property, |(_, association)| *association);
            for target in self.objects.targets(references) {
                let Target::Id(target) = target else { continue };
                let target = self.nodes.get(target).map_or(target, |(owner, _)| *owner);
                self.push(Some(element), "Association", attributes(&[("Type", kind), ("ItemID", target)]));
            }
        }
    }

    /// Adds the reference of an off-page connector to its partner.
    fn add_connector_reference(&mut self, element: usize, object: usize) {
        let is_signal = self.tree.elements[element].name == "SignalOffPageConnector";
        let name = if is_signal { "SignalOffPageConnectorReference" } else { "PipeOffPageConnectorReference" };
        for reference in self.objects.components(object, "ConnectorReference") {
            let class = self.objects.class(reference);
            let mut attributes = attributes(&[("ComponentClass", class)]);
            attributes.extend(self.objects.id(reference).map(|id| ("ID".to_owned(), id.to_owned())));
            let reference_element = self.push(Some(element), name, attributes);
            self.add_values(reference_element, reference);
            self.add_references(reference_element, reference);
        }
    }

    /// Adds the ends of a segment and its center lines, with its items in flow order.
    fn add_run(&mut self, element: usize, object: usize, id: &str) {
        let pipes = self.objects.components(object, "Connections");
        let ends: Vec<Ends<'t>> = pipes.iter().map(|pipe| Ends::of(self.objects, *pipe)).collect();
        let mut items = self.objects.components(object, "Items");
        for (components, _) in self.objects.extension(object, "Components") {
            items.extend(self.objects.objects_in(components));
        }
        let item_ids: Vec<Option<&str>> = items.iter().map(|item| self.objects.id(*item)).collect();
        let segment_ends = Ends::of(self.objects, object);
        self.add_flow_ports(&ends, &item_ids);
        let run = segments::run(&ends, &item_ids);
        let order = run.as_ref().map_or_else(|| (0..pipes.len()).collect(), |run| run.pipes.clone());
        match &run {
            Some(run) => {
                self.order_items(element, &item_ids, &run.items);
                let whole = whole_run(&ends, run, segment_ends);
                self.add_connection(element, whole);
            }
            None if ends.is_empty() => self.add_connection(element, segment_ends),
            None => ends.iter().for_each(|ends| self.add_connection(element, *ends)),
        }
        for index in order {
            let drawing = self.objects.id(pipes[index]).and_then(|id| self.diagram.drawings.get(id));
            for line in drawing.into_iter().flat_map(|drawing| &drawing.lines) {
                self.add_center_line(element, &line.points);
            }
            self.add_pipe(pipes[index], ends[index], id);
        }
    }

    fn add_pipe(&mut self, pipe: usize, ends: Ends<'t>, segment: &str) {
        let identifiers = self.objects.components(pipe, "PersistentIdentifiers");
        let persistent_id = identifiers.first().and_then(|identifier| self.objects.text(*identifier, "Value"));
        identifiers.iter().take(1).for_each(|identifier| self.objects.take_all(*identifier));
        let values = values(self.objects, pipe);
        let id = self.objects.id(pipe);
        self.pipes.push(Pipe { id, segment: segment.to_owned(), ends, values, persistent_id });
    }

    /// Marks the ports by which the pipes of a segment enter and leave its items.
    fn add_flow_ports(&mut self, ends: &[Ends<'t>], items: &[Option<&'t str>]) {
        let items: HashSet<&str> = items.iter().copied().flatten().collect();
        let flows = ends.iter().flat_map(|ends| [("FlowOut", ends.source_node), ("FlowIn", ends.target_node)]);
        for (key, node) in flows {
            let Some((owner, number)) = node.and_then(|node| self.nodes.get(node)).copied() else { continue };
            let Some(points) = self.points.get(owner).filter(|_| items.contains(owner)) else { continue };
            let points = &mut self.tree.elements[*points];
            if points.get(key).is_none() {
                points.attributes.push((key.to_owned(), number.to_string()));
            }
        }
    }

    /// Puts the items of a segment, which are among the children of its element, into flow order.
    fn order_items(&mut self, element: usize, ids: &[Option<&str>], order: &[usize]) {
        let ids: HashSet<&str> = ids.iter().copied().flatten().collect();
        let is_item = |child: &usize| self.tree.elements[*child].get("ID").is_some_and(|id| ids.contains(id));
        let children = &self.tree.elements[element].children;
        let items: Vec<usize> = children.iter().copied().filter(|child| is_item(child)).collect();
        let mut in_order = order.iter().filter_map(|index| items.get(*index).copied());
        let children: Vec<usize> = children
            .iter()
            .map(|child| if is_item(child) { in_order.next().unwrap_or(*child) } else { *child })
            .collect();
        self.tree.elements[element].children = children;
    }

    fn add_connection(&mut self, element: usize, ends: Ends<'t>) {
        let number =
            |node: Option<&str>| node.and_then(|node| self.nodes.get(node)).map(|(_, number)| number.to_string());
        let owner = |node: Option<&'t str>| node.and_then(|node| self.nodes.get(node)).map(|(owner, _)| *owner);
        let pairs = [
            ("FromID", ends.source.or_else(|| owner(ends.source_node)).map(str::to_owned)),
            ("FromNode", number(ends.source_node)),
            ("ToID", ends.target.or_else(|| owner(ends.target_node)).map(str::to_owned)),
            ("ToNode", number(ends.target_node)),
        ];
        let attributes = pairs.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect();
        self.push(Some(element), "Connection", attributes);
    }
}

/// Components that are not items: read with the item that has them.
pub const OTHER_COMPONENTS: &[&str] = &[
    "Nodes",
    "PersistentIdentifiers",
    "ConnectorReference",
    "Connections",
    "MetaData",
    "ConceptualModel",
    "Diagram",
    "ShapeCatalogues",
];

/// Returns the ends of a run: those of its first and last pipe, or else those that the segment declares.
fn whole_run<'t>(pipes: &[Ends<'t>], run: &segments::Run, declared: Ends<'t>) -> Ends<'t> {
    let end = |index: Option<&usize>| index.map(|index| pipes[*index]).unwrap_or_default();
    let (first, last) = (end(run.pipes.first()), end(run.pipes.last()));
    let mut ends = Ends {
        source: first.source,
        source_node: first.source_node,
        target: last.target,
        target_node: last.target_node,
    };
    if ends.source.is_none() {
        (ends.source, ends.source_node) = (declared.source, declared.source_node);
    }
    if ends.target.is_none() {
        (ends.target, ends.target_node) = (declared.target, declared.target_node);
    }
    ends
}

/// Returns the item and the port number of every node by id, and the segment of every pipe.
fn node_owners<'t>(objects: &Objects<'t>) -> HashMap<&'t str, (&'t str, usize)> {
    let mut owners = HashMap::new();
    for owner in 0..objects.tree.elements.len() {
        let Some(owner_id) = objects.id(owner).filter(|_| objects.element(owner).name == "Object") else { continue };
        let lists =
            objects.properties(owner, "Components").filter(|(_, property)| ["Nodes", "Connections"].contains(property));
        let nodes = lists.flat_map(|(components, _)| objects.objects_in(components));
        for (index, node) in nodes.enumerate() {
            if let Some(id) = objects.id(node) {
                owners.entry(id).or_insert((owner_id, index + 1));
            }
        }
    }
    owners
}

/// Returns true for an object that only holds values of its owner.
pub fn is_value(objects: &Objects<'_>, object: usize) -> bool {
    objects.id(object).is_none() || objects.class(object) == "QualifiedValue"
}

/// Returns the values of an object, and of the objects without an id that it has.
pub fn values<'t>(objects: &Objects<'t>, object: usize) -> Vec<DataValue<'t>> {
    let mut list: Vec<DataValue<'t>> =
        objects.properties(object, "Data").flat_map(|(data, _)| values::read(objects, data)).collect();
    for (references, property) in objects.properties(object, "References") {
        let path = objects.element(references).get("objects").unwrap_or_default();
        list.extend(
            path.split_whitespace()
                .filter(|word| !word.starts_with('#'))
                .map(|word| named(objects, references, property, word)),
        );
    }
    for (components, property) in objects.properties(object, "Components") {
        if OTHER_COMPONENTS.contains(&property) || COMPONENTS.iter().any(|(known, _)| *known == property) {
            continue;
        }
        for component in objects.objects_in(components).filter(|component| is_value(objects, *component)) {
            objects.take(components);
            objects.take(component);
            add_component_values(objects, component, property, &mut list);
        }
    }
    list
}

/// Returns the value of a reference to a name in an information model.
fn named<'t>(objects: &Objects<'t>, references: usize, property: &str, path: &'t str) -> DataValue<'t> {
    let full = objects.element(references).get("property").filter(|name| name.contains('/'));
    DataValue {
        name: format!("{property}Specialization"),
        value: Some(last_name(path).to_owned()),
        format: "anyURI",
        reference: Some(path),
        property: full,
        ..DataValue::default()
    }
}

/// Adds the values of a component. The value of a quantity has the name of the property, others that of the class.
fn add_component_values<'t>(objects: &Objects<'t>, component: usize, property: &str, list: &mut Vec<DataValue<'t>>) {
    let class = objects.class(component);
    let is_quantity = class == "QualifiedValue";
    let prefix = if is_quantity { property } else { class };
    if !is_quantity {
        let name = format!("{class}AssignmentClass");
        list.push(DataValue { name, value: Some(class.to_owned()), format: "string", ..DataValue::default() });
    }
    for mut value in values(objects, component) {
        value.name = match is_quantity && value.name.starts_with("Value") {
            true => format!("{prefix}{}", &value.name["Value".len()..]),
            false => format!("{prefix}.{}", value.name),
        };
        list.push(value);
    }
}

fn attributes(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}
