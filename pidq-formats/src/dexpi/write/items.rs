//! Items of a plant as objects, with their data, nodes, pipes, signal lines and references.

use std::collections::{BTreeMap, HashMap, HashSet};

use pidq_core::{Object, Value};

use crate::model::{Edge, EdgeRole, Endpoint, Model, Node, PRESSURE_PROPERTIES, dexpi_fail_action, json};

use super::super::extension;
use super::super::objects::last_name;
use super::super::plant::{ASSOCIATIONS, COMPONENTS, OTHER_COMPONENTS, RUN_REFERENCES};
use super::super::plant_model::{Kind, PlantModel, Property};
use super::Names;
use super::document::Document;
use super::elements::{self, Description};
use super::names::text;
use super::values::{self, Attribute};

/// General class of each element, whose properties an item of another class has.
const GENERAL_CLASSES: &[(&str, &str)] = &[
    ("Equipment", "Plant/ProcessEquipment.ProcessEquipment"),
    ("Nozzle", "Plant/ProcessEquipment.Nozzle"),
    ("PipingNetworkSystem", "Plant/Piping.PipingNetworkSystem"),
    ("PipingNetworkSegment", "Plant/Piping.PipingNetworkSegment"),
    ("PipingComponent", "Plant/Piping.PipingComponent"),
    ("ProcessInstrument", "Plant/Piping.PipingComponent"),
    ("PropertyBreak", "Plant/Piping.PropertyBreak"),
    ("PipeOffPageConnector", "Plant/Piping.PipeOffPageConnector"),
    ("PipeConnectorSymbol", "Plant/Piping.PipeOffPageConnector"),
    ("SignalOffPageConnector", "Plant/Instrumentation.SignalOffPageConnector"),
    ("SignalConnectorSymbol", "Plant/Instrumentation.SignalOffPageConnector"),
    ("ProcessInstrumentationFunction", "Plant/Instrumentation.ProcessInstrumentationFunction"),
    ("ProcessSignalGeneratingFunction", "Plant/Instrumentation.ProcessSignalGeneratingFunction"),
    ("ActuatingFunction", "Plant/Instrumentation.ActuatingFunction"),
    ("ActuatingElectricalFunction", "Plant/Instrumentation.ActuatingElectricalFunction"),
    ("ActuatingSystem", "Plant/Instrumentation.ActuatingSystem"),
    ("ActuatingElectricalSystem", "Plant/Instrumentation.ActuatingElectricalSystem"),
    ("ProcessSignalGeneratingSystem", "Plant/Instrumentation.MeasuringSystem"),
    ("InstrumentationLoopFunction", "Plant/Instrumentation.InstrumentationLoopFunction"),
    ("InstrumentLoop", "Plant/Instrumentation.InstrumentationLoopFunction"),
    ("PlantStructureItem", "Plant/PlantStructure.PlantStructureItem"),
    ("PlantArea", "Plant/PlantStructure.PlantArea"),
    ("InformationFlow", "Plant/Instrumentation.SignalConveyingFunction"),
    ("SignalLine", "Plant/Instrumentation.SignalConveyingFunction"),
    ("Note", "Core/Note"),
];

/// Property that states the tag of each element, if its attributes do not.
const TAGS: &[(&str, &str)] = &[
    ("Equipment", "TagName"),
    ("Nozzle", "SubTagName"),
    ("PipingNetworkSystem", "LineNumber"),
    ("PipingNetworkSegment", "SegmentNumber"),
    ("PipingComponent", "PipingComponentName"),
    ("PipeOffPageConnector", "PipeConnectorNumber"),
    ("ProcessInstrumentationFunction", "ProcessInstrumentationFunctionNumber"),
    ("ProcessSignalGeneratingFunction", "ProcessSignalGeneratingFunctionNumber"),
    ("ActuatingFunction", "ActuatingFunctionNumber"),
    ("ActuatingSystem", "ActuatingSystemNumber"),
    ("InstrumentationLoopFunction", "InstrumentationLoopFunctionNumber"),
];

/// Property that states each common field.
const FIELDS: &[(&str, &str)] = &[
    ("line_number", "LineNumber"),
    ("segment_number", "SegmentNumber"),
    ("fluid_code", "FluidCode"),
    ("piping_class", "PipingClassCode"),
    ("nominal_diameter", "NominalDiameterNumericalValueRepresentation"),
    ("insulation", "InsulationType"),
    ("description", "EquipmentDescription"),
];

/// Property of an actuator for its fail position, and its enumeration.
const FAIL_ACTION: &str = "FailAction";
const FAIL_ACTIONS: &str = "Plant/Enumerations.FailActionClassification";

/// Classes of an actuator that is added to a valve.
const OPERATED_VALVE: &str = "Plant/Piping.OperatedValve";
const ACTUATING_SYSTEM: &str = "Plant/Instrumentation.ActuatingSystem";
const ACTUATOR: &str = "Plant/Instrumentation.ControlledActuator";
const VALVE_REFERENCE: &str = "Plant/Instrumentation.OperatedValveReference";

const CHAMBER: &str = "Plant/ProcessEquipment.Chamber";
/// Classes of equipment with one side, unless the drawing has chambers for it.
const ONE_SIDED: &[&str] = &["Plant/ProcessEquipment.Vessel", "Plant/ProcessEquipment.ProcessColumn"];

/// Property of the components that no property of their owner may have.
const OTHER_ITEMS: &str = "Items";
const SEGMENT: &str = "Plant/Piping.PipingNetworkSegment";
const SYSTEM: &str = "Plant/Piping.PipingNetworkSystem";
const FUNCTION: &str = "Plant/Instrumentation.ProcessInstrumentationFunction";

/// Item or signal line as an object.
pub struct Item {
    pub written_id: String,
    pub object: usize,
    /// The class whose properties it has; empty if it has none.
    pub class: &'static str,
    element: &'static str,
}

/// Position of a node of an item, or of a signal port.
pub struct NodePosition {
    /// The node of the graph whose item it is of.
    pub item: usize,
    /// The id of the node of a pipe; `None` for a signal port.
    pub node: Option<String>,
    pub written_id: String,
    pub x: String,
    pub y: String,
}

/// Items of a plant while they are written.
pub struct Items<'m, 'a, 'd> {
    pub model: &'m Model<'a>,
    names: &'d Names<'a>,
    pub document: &'d mut Document,
    plant: usize,
    /// Items by the index of their node.
    pub nodes: Vec<Option<Item>>,
    /// Objects and ids of pipes and signal lines by the index of their edge.
    pub edges: Vec<Option<(usize, String)>>,
    owners: Vec<Option<usize>>,
    by_name: HashMap<&'m str, usize>,
    /// Lines by their tags and ids.
    lines: HashMap<&'m str, usize>,
    /// Ids of the nodes of an item, by the index of its node in the graph and the number of the port.
    ports: HashMap<(usize, usize), String>,
    pub positions: Vec<NodePosition>,
    /// Segments that were added to lines, by the node of the line; `None` for pipes without a line.
    segments: HashMap<Option<usize>, usize>,
    /// Properties that have their only value, by object.
    full: HashSet<(usize, &'static str)>,
    /// Equipment with chambers in the graph.
    chambered: HashSet<usize>,
    /// Counts of the values that only the extension states, by name.
    pub extension_only: BTreeMap<String, usize>,
}

impl<'m, 'a, 'd> Items<'m, 'a, 'd> {
    /// Adds all items, pipes and signal lines to the object of the plant.
    pub fn write(
        model: &'m Model<'a>,
        names: &'d Names<'a>,
        document: &'d mut Document,
        plant: usize,
    ) -> Items<'m, 'a, 'd> {
        let by_name: HashMap<&str, usize> =
            model.nodes.iter().enumerate().map(|(index, node)| (node.name.as_str(), index)).collect();
        let is_line = |node: &Node<'_>| node.kind().is_some_and(|kind| model.config.contains_word("line_types", kind));
        let mut lines = HashMap::new();
        for (index, node) in model.nodes.iter().enumerate().filter(|(_, node)| is_line(node)) {
            for name in node.tag().into_iter().chain([node.name.as_str()]) {
                lines.entry(name).or_insert(index);
            }
        }
        let mut items = Items {
            model,
            names,
            document,
            plant,
            nodes: model.nodes.iter().map(|_| None).collect(),
            edges: vec![None; model.edges.len()],
            owners: elements::owners(model),
            by_name,
            lines,
            ports: HashMap::new(),
            positions: Vec::new(),
            segments: HashMap::new(),
            full: HashSet::new(),
            chambered: HashSet::new(),
            extension_only: BTreeMap::new(),
        };
        items.add_objects();
        let chambers = items.nodes.iter().zip(&items.owners);
        let chambers = chambers.filter(|(item, _)| item.as_ref().is_some_and(|item| item.class == CHAMBER));
        items.chambered = chambers.filter_map(|(_, owner)| *owner).collect();
        (0..model.nodes.len()).for_each(|node| items.add_contents(node));
        let operated = operated(model);
        for (index, node) in model.nodes.iter().enumerate() {
            let is_property = items.nodes[index].as_ref().is_some_and(|item| fail_action(node, item.class).is_some());
            let has_actuator = is_property || operated.contains(&index) || items.add_actuator(index);
            items.count_unstated(node, has_actuator);
        }
        for (index, edge) in model.edges.iter().enumerate() {
            match edge.role() {
                _ if elements::is_signal(edge) => items.add_signal(index, edge),
                EdgeRole::Flow => items.add_pipe(index, edge),
                _ => {}
            }
        }
        model.edges.iter().for_each(|edge| items.add_reference(edge));
        items
    }

    /// Adds an object for every item, owners first.
    fn add_objects(&mut self) {
        let mut parts: Vec<Vec<usize>> = vec![Vec::new(); self.owners.len()];
        let mut open = Vec::new();
        for (node, owner) in self.owners.iter().enumerate().rev() {
            match owner {
                Some(owner) => parts[*owner].push(node),
                None => open.push(node),
            }
        }
        while let Some(node) = open.pop() {
            if !elements::is_open_end(&self.model.nodes[node]) {
                self.add_object(node);
            }
            open.append(&mut parts[node]);
        }
    }

    fn add_object(&mut self, index: usize) {
        let node = &self.model.nodes[index];
        let mut description = elements::describe(self.model, node);
        let owner = self.owners[index];
        let is_in_segment =
            owner.and_then(|owner| self.nodes[owner].as_ref()).is_some_and(|owner| owner.class == SEGMENT);
        if is_in_segment && description.element == "ProcessInstrumentationFunction" {
            description.element = "ProcessInstrument";
        }
        let (path, class) = self.class(node, &description);
        let written_id = self.document.id(&node.name);
        let (object, property) = self.place(index, description.element, class);
        let (property, read_as) = match property {
            Some(property) => (property.to_owned(), element_of(property, object.1, &path)),
            None => (format!("{}/{OTHER_ITEMS}", extension::PREFIX), ""),
        };
        let is_read = read_as == description.element || !read_as.is_empty() && class == path;
        let object = self.document.component(object.0, &property, &path, Some(&written_id));
        if !is_read {
            let property = format!("{}/{}", extension::PREFIX, extension::encode(extension::ELEMENT));
            self.document.datum(object, &property, "String", description.element);
        }
        self.nodes[index] = Some(Item { written_id, object, class, element: description.element });
    }

    /// Returns the object that has an item with its element, and the property: that of its owner or of the plant, or else
    /// of the segment of its line.
    fn place(
        &mut self,
        index: usize,
        element: &'static str,
        class: &'static str,
    ) -> ((usize, &'static str), Option<&'static str>) {
        let owner = self.owners[index];
        let place =
            owner.and_then(|owner| self.nodes[owner].as_ref()).map(|item| (item.object, item.class, item.element));
        if let Some((object, owner_class, owner_element)) = place
            && let Some(property) = self.property(object, owner_class, element, class)
        {
            return ((object, owner_element), Some(property));
        }
        let plant = (self.plant, "PlantModel");
        if let Some(property) = self.property(self.plant, "Plant/PlantModel", element, class) {
            return (plant, Some(property));
        }
        if PlantModel::get().is_a(class, "Plant/Piping.PipingNetworkSegmentItem") {
            let line = owner.filter(|owner| self.nodes[*owner].as_ref().is_some_and(|owner| owner.class == SYSTEM));
            return ((self.segment_of(line), "PipingNetworkSegment"), Some("Items"));
        }
        if class == SEGMENT {
            let system = self.system();
            return ((system, "PipingNetworkSystem"), Some("Segments"));
        }
        (place.map_or(plant, |(object, _, element)| (object, element)), None)
    }

    /// Returns the segment that was added to a line.
    fn segment_of(&mut self, line: Option<usize>) -> usize {
        if let Some(segment) = self.segments.get(&line) {
            return *segment;
        }
        let system = match line.and_then(|line| self.nodes[line].as_ref()) {
            Some(item) => item.object,
            None => self.system(),
        };
        let id = self.document.generated_id();
        let segment = self.document.component(system, "Segments", SEGMENT, Some(&id));
        self.segments.insert(line, segment);
        segment
    }

    /// Adds a line for segments and pipes without one.
    fn system(&mut self) -> usize {
        let id = self.document.generated_id();
        self.document.component(self.plant, "PipingNetworkSystems", SYSTEM, Some(&id))
    }

    /// Returns the class of an item, and the class of the information model whose properties it has.
    fn class(&self, node: &Node<'_>, description: &Description) -> (String, &'static str) {
        let model = PlantModel::get();
        let general = GENERAL_CLASSES.iter().find(|(name, _)| *name == description.element).map(|(_, class)| *class);
        let general = general.unwrap_or_default();
        let name = description.class.as_str();
        let address = text(Some(node.fields), "component_class_uri");
        let stated = address.and_then(|address| self.names.path_of(address)).filter(|path| last_name(path) == name);
        if let Some(path) = stated {
            let class = model.known(&path).unwrap_or(general);
            return (path, class);
        }
        let is_general = name == description.element && model.is_concrete(general);
        match model.path(name).or(is_general.then_some(general)) {
            Some(class) => (class.to_owned(), class),
            None => (format!("{}/{}", extension::PREFIX, extension::encode(name)), general),
        }
    }

    /// Returns the property under which an owner has a component: one that is read as the element, or else another.
    fn property(
        &mut self,
        object: usize,
        owner_class: &str,
        element: &str,
        class: &'static str,
    ) -> Option<&'static str> {
        let model = PlantModel::get();
        let properties = model.properties(owner_class, Kind::Component);
        let fits = |property: &&&Property| {
            !OTHER_COMPONENTS.contains(&property.name)
                && model.is_a(class, property.target)
                && (property.is_many || !self.full.contains(&(object, property.name)))
        };
        let is_read = |property: &&&Property| {
            COMPONENTS.iter().any(|(name, read_as)| *name == property.name && *read_as == element)
        };
        let found = properties.iter().filter(fits).find(is_read).or_else(|| properties.iter().find(fits))?;
        let (name, is_many) = (found.name, found.is_many);
        if !is_many {
            self.full.insert((object, name));
        }
        Some(name)
    }

    fn add_contents(&mut self, index: usize) {
        let Some(Item { object, class, element, .. }) = &self.nodes[index] else { return };
        let (object, class, element) = (*object, *class, *element);
        let node = &self.model.nodes[index];
        self.add_persistent_id(node.fields, object);
        let attributes = values::attributes(node.fields);
        values::add(self.document, object, class, self.names, &attributes);
        self.add_tag(node, object, class, element, &attributes);
        self.add_fields(node, object, class, &attributes);
        self.add_pressures(index, object, class, &attributes);
        self.add_fail_action(node, object, class, &attributes);
        self.add_ports(index, node, object, class);
        self.add_connector_reference(node, object, class);
    }

    fn add_persistent_id(&mut self, fields: Object<'_>, object: usize) {
        let Some(id) = text(Some(fields), "persistent_id") else { return };
        let component = self.document.component(object, "PersistentIdentifiers", "Core/PersistentIdentifier", None);
        let context = text(Some(fields), "persistent_id_context").unwrap_or_default();
        self.document.datum(component, "Context", "String", context);
        self.document.datum(component, "Value", "String", id);
    }

    /// Adds common fields as the properties that state them, unless the attributes do.
    fn add_fields(&mut self, node: &Node<'_>, object: usize, class: &str, attributes: &[Attribute<'_>]) {
        let properties = PlantModel::get().properties(class, Kind::Data);
        for (key, property) in FIELDS {
            let value = match node.fields.get(key) {
                Some(Value::String(text)) if !text.trim().is_empty() => text.to_owned(),
                Some(number @ Value::Number(_)) => json(number),
                _ => continue,
            };
            let stem = property.trim_end_matches("NumericalValueRepresentation").trim_end_matches("Code");
            let is_stated = attributes.iter().any(|attribute| attribute.name.starts_with(stem));
            let is_known = properties.iter().any(|known| known.name == *property && known.target == "text");
            let is_tag = node.tag() == Some(value.as_str());
            if is_known && !is_stated && !is_tag {
                self.document.datum(object, property, "String", &value);
            }
        }
    }

    /// Adds pressures as the properties that state them, unless the attributes do. One whose unit does not say whether it is
    /// a gauge or an absolute pressure has no unit in DEXPI.
    fn add_pressures(&mut self, index: usize, object: usize, class: &str, attributes: &[Attribute<'_>]) {
        let properties = PlantModel::get().properties(class, Kind::Data);
        for (list, property) in PRESSURE_PROPERTIES {
            let has_property = properties.iter().any(|known| known.name == *property && known.target == "quantity");
            if has_property && attributes.iter().any(|attribute| attribute.name.starts_with(property)) {
                continue;
            }
            let stated = self.model.nodes[index].stated(list);
            let quantity = stated.iter().find_map(|text| values::pressure(text));
            let quantity = quantity.filter(|(_, unit)| self.names.is_path(unit));
            let owner = match quantity {
                Some(_) if has_property => Some(object),
                Some(_) => self.chamber(index, class, property),
                None => None,
            };
            match quantity.zip(owner) {
                Some(((value, unit), owner)) => {
                    values::add_quantity(self.document, owner, property, value, Some(unit));
                }
                None if !stated.is_empty() => self.count_extension_only(list),
                None => {}
            }
        }
    }

    /// Adds the fail position of an actuator as the property that states it, unless the attributes do.
    fn add_fail_action(&mut self, node: &Node<'_>, object: usize, class: &str, attributes: &[Attribute<'_>]) {
        let is_stated = attributes.iter().any(|attribute| attribute.name.starts_with(FAIL_ACTION));
        let found = fail_action(node, class).filter(|_| !is_stated);
        if let Some(name) = found {
            self.document.enumerated(object, FAIL_ACTION, &format!("{FAIL_ACTIONS}.{name}"));
        }
    }

    /// Adds an actuator to a valve without one, for its fail position: only an actuator has the property. Returns false for
    /// what is no valve of DEXPI, and for a fail position that is not stated or not understood.
    fn add_actuator(&mut self, index: usize) -> bool {
        let is_valve = |item: &&Item| PlantModel::get().is_a(item.class, OPERATED_VALVE);
        let Some(valve) = self.nodes[index].as_ref().filter(is_valve).map(|item| format!("#{}", item.written_id))
        else {
            return false;
        };
        let stated = self.model.nodes[index].stated("fail_action");
        let Some(name) = stated.iter().find_map(|text| dexpi_fail_action(text)) else { return false };
        let [system, actuator, reference] = [(); 3].map(|()| self.document.generated_id());
        let system = self.document.component(self.plant, "ActuatingSystems", ACTUATING_SYSTEM, Some(&system));
        let actuator = self.document.component(system, "ControlledActuator", ACTUATOR, Some(&actuator));
        self.document.enumerated(actuator, FAIL_ACTION, &format!("{FAIL_ACTIONS}.{name}"));
        let reference = self.document.component(system, "OperatedValveReference", VALVE_REFERENCE, Some(&reference));
        self.document.reference(reference, "Valve", &valve);
        true
    }

    /// Adds a chamber to a vessel or a column without one, for a property that only chambers have. Which side of other
    /// equipment a pressure is of is not known.
    fn chamber(&mut self, index: usize, class: &str, property: &str) -> Option<usize> {
        let model = PlantModel::get();
        let has_one_side =
            ONE_SIDED.iter().any(|general| model.is_a(class, general)) && !self.chambered.contains(&index);
        let is_of_chamber = model.properties(CHAMBER, Kind::Data).iter().any(|known| known.name == property);
        let id = (has_one_side && is_of_chamber).then(|| self.document.generated_id())?;
        Some(self.document.component(self.nodes[index].as_ref()?.object, "Chambers", CHAMBER, Some(&id)))
    }

    /// Counts the values of a node for which no class of DEXPI has a property: positions, locks, and the fail position of a
    /// valve without an actuator. Attributes of a profile, and those of an actuator, are properties.
    fn count_unstated(&mut self, node: &Node<'_>, has_fail_action: bool) {
        let attributes = values::attributes(node.fields);
        for list in ["normal_position", "lock", "fail_action"] {
            let is_property = |attribute: &Attribute<'_>| {
                self.model.config.is_name_of(list, attribute.name)
                    && (attribute.uri.is_some() || attribute.name.starts_with("FailAction"))
            };
            let is_stated = node.first_text(list).is_some_and(|text| !text.trim().is_empty());
            let is_elsewhere = list == "fail_action" && has_fail_action || attributes.iter().any(is_property);
            if is_stated && !is_elsewhere {
                self.count_extension_only(list);
            }
        }
    }

    fn count_extension_only(&mut self, name: &str) {
        *self.extension_only.entry(format!("{name}, which only the extension states")).or_default() += 1;
    }

    /// Adds the tag as the property of the class that states it, unless the attributes state it or its parts.
    fn add_tag(&mut self, node: &Node<'_>, object: usize, class: &str, element: &str, attributes: &[Attribute<'_>]) {
        let Some(tag) = node.tag().filter(|tag| !tag.trim().is_empty()) else { return };
        let Some((_, property)) = TAGS.iter().find(|(name, _)| *name == element) else { return };
        // The tag of a function may be stated by its parts.
        let stem = match *property {
            "ProcessInstrumentationFunctionNumber" => "ProcessInstrumentationFunction",
            property => property,
        };
        let states_it = |attribute: &Attribute<'_>| attribute.name.starts_with(stem) || attribute.value == Some(tag);
        let is_stated = attributes.iter().any(states_it);
        let properties = PlantModel::get().properties(class, Kind::Data);
        let is_known = properties.iter().any(|known| known.name == *property && known.target == "text");
        if is_known && !is_stated {
            self.document.datum(object, property, "String", tag);
        }
    }

    /// Adds the ports of an item as the nodes of pipes, or as positions of signals.
    fn add_ports(&mut self, index: usize, node: &Node<'_>, object: usize, class: &str) {
        let ports = node.fields.get("ports").and_then(Value::as_array);
        let is_owner = PlantModel::get().is_a(class, "Plant/Piping.PipingNodeOwner");
        for (at, port) in ports.into_iter().flat_map(|ports| ports.iter().filter_map(Value::as_object).enumerate()) {
            let digits = |key| port.get(key).filter(|value| matches!(value, Value::Number(_))).map(json);
            let position = digits("x").zip(digits("y"));
            let is_signal = text(Some(port), "type").is_some_and(|kind| kind != "process");
            if is_signal && position.is_none() || !is_signal && !is_owner {
                continue;
            }
            let written_id = match text(Some(port), "id") {
                Some(id) => self.document.id(id),
                None => self.document.generated_id(),
            };
            if !is_signal {
                let class = "Plant/Piping.PipingNode";
                let component = self.document.component(object, "Nodes", class, Some(&written_id));
                values::add(self.document, component, class, self.names, &values::attributes(port));
                let number = port.get("index").and_then(Value::as_f64).map_or(at + 1, |number| number as usize);
                self.ports.entry((index, number)).or_insert_with(|| written_id.clone());
            }
            if let Some((x, y)) = position {
                let (node, written_id) = match is_signal {
                    true => (None, written_id),
                    false => (Some(written_id), self.document.generated_id()),
                };
                self.positions.push(NodePosition { item: index, node, written_id, x, y });
            }
        }
    }

    /// Adds the reference of an off-page connector to its partner.
    fn add_connector_reference(&mut self, node: &Node<'_>, object: usize, class: &str) {
        let model = PlantModel::get();
        let (kind, path) = match () {
            () if model.is_a(class, "Plant/Piping.PipeOffPageConnector") => ("Pipe", "Plant/Piping"),
            () if model.is_a(class, "Plant/Instrumentation.SignalOffPageConnector") => {
                ("Signal", "Plant/Instrumentation")
            }
            () => return,
        };
        let Some(link) = node.fields.get("cross_page").and_then(Value::as_object) else { return };
        let name = format!("{path}.{kind}OffPageConnectorReferenceByNumber");
        let Some(class) = model.known(&name) else { return };
        let component = self.document.component(object, "ConnectorReference", class, None);
        let attributes = values::attributes(link);
        values::add(self.document, component, class, self.names, &attributes);
        for (property, key) in
            [("ReferencedConnectorNumber", "link_label"), ("ReferencedDrawingNumber", "drawing_name")]
        {
            let is_stated = attributes.iter().any(|attribute| attribute.name.starts_with(property));
            let is_known = model.properties(class, Kind::Data).iter().any(|known| known.name == property);
            if let Some(value) = text(Some(link), key).filter(|_| is_known && !is_stated) {
                self.document.datum(component, property, "String", value);
            }
        }
    }

    fn item(&self, end: &Endpoint) -> Option<(usize, &Item)> {
        let node = end.node?;
        Some((node, self.nodes[node].as_ref()?))
    }

    /// Adds a pipe to its segment, or to one of its line.
    fn add_pipe(&mut self, index: usize, edge: &Edge<'_>) {
        if [&edge.from, &edge.to].iter().all(|end| self.item(end).is_none()) {
            return;
        }
        let segment = match text(Some(edge.fields), "segment").and_then(|id| self.by_name.get(id).copied()) {
            Some(node) => self.nodes[node].as_ref().filter(|item| item.class == SEGMENT).map(|item| item.object),
            None => None,
        };
        let segment = match segment {
            Some(segment) => segment,
            None => {
                let line = edge.line().and_then(|line| self.lines.get(line).copied());
                let line = line.filter(|line| self.nodes[*line].as_ref().is_some_and(|item| item.class == SYSTEM));
                self.segment_of(line)
            }
        };
        let written_id = self.document.generated_id();
        let pipe = self.document.component(segment, "Connections", "Plant/Piping.Pipe", Some(&written_id));
        for (end, port, item_property, node_property) in
            [(&edge.from, "from_port", "SourceItem", "SourceNode"), (&edge.to, "to_port", "TargetItem", "TargetNode")]
        {
            let Some((node, item)) = self.item(end) else { continue };
            let target = format!("#{}", item.written_id);
            let number = edge.fields.get(port).and_then(Value::as_f64).map(|number| number as usize);
            let port = number.and_then(|number| self.ports.get(&(node, number))).cloned();
            self.document.reference(pipe, item_property, &target);
            if let Some(port) = port {
                self.document.reference(pipe, node_property, &format!("#{port}"));
            }
        }
        let attributes = values::attributes(edge.fields);
        values::add(self.document, pipe, "Plant/Piping.Pipe", self.names, &attributes);
        self.add_persistent_id(edge.fields, pipe);
        self.edges[index] = Some((pipe, written_id));
    }

    /// Adds a signal line to the function at one of its ends, or else to the plant.
    fn add_signal(&mut self, index: usize, edge: &Edge<'_>) {
        let model = PlantModel::get();
        let general = "Plant/Instrumentation.SignalConveyingFunction";
        let name = text(Some(edge.fields), "component_class").unwrap_or_default();
        let class = model.path(name).filter(|class| model.is_a(class, general)).unwrap_or(general);
        let written_id = match text(Some(edge.fields), "id") {
            Some(id) => self.document.id(id),
            None => self.document.generated_id(),
        };
        let owner = text(Some(edge.fields), "parent_id").and_then(|id| self.by_name.get(id).copied());
        let owners = owner.into_iter().chain(edge.from.node).chain(edge.to.node);
        let function = owners.filter_map(|node| self.function(node)).next();
        let object = match function {
            Some(object) => self.document.component(object, "SignalConveyingFunctions", class, Some(&written_id)),
            None => {
                let property = format!("{}/{OTHER_ITEMS}", extension::PREFIX);
                let object = self.document.component(self.plant, &property, class, Some(&written_id));
                let property = format!("{}/{}", extension::PREFIX, extension::encode(extension::ELEMENT));
                self.document.datum(object, &property, "String", "InformationFlow");
                object
            }
        };
        let ends = [
            (&edge.from, "Source", "Plant/Instrumentation.SignalConveyingFunctionSource"),
            (&edge.to, "Target", "Plant/Instrumentation.SignalConveyingFunctionTarget"),
        ];
        for (end, property, general) in ends {
            let item = self.item(end).filter(|(_, item)| model.is_a(item.class, general));
            match item.map(|(_, item)| format!("#{}", item.written_id)) {
                Some(target) => self.document.reference(object, property, &target),
                None if end.node.is_some_and(|node| !elements::is_open_end(&self.model.nodes[node])) => {
                    self.count_extension_only("end of a signal at an item that no function moves");
                }
                None => {}
            }
        }
        values::add(self.document, object, class, self.names, &values::attributes(edge.fields));
        self.add_persistent_id(edge.fields, object);
        self.edges[index] = Some((object, written_id));
    }

    /// Returns the function that a node is or is a part of.
    fn function(&self, node: usize) -> Option<usize> {
        let ancestors = std::iter::successors(Some(node), |node| self.owners[*node]);
        let items = ancestors.filter_map(|node| self.nodes[node].as_ref());
        items.filter(|item| item.class == FUNCTION).map(|item| item.object).next()
    }

    /// Adds a relation as a reference, if the class of one of its ends has a property for it.
    fn add_reference(&mut self, edge: &Edge<'_>) {
        let (Some((from, from_item)), Some((to, to_item))) = (self.item(&edge.from), self.item(&edge.to)) else {
            return;
        };
        let from_end = (from_item.object, from_item.class, from_item.written_id.clone());
        let to_end = (to_item.object, to_item.class, to_item.written_id.clone());
        match edge.class().strip_prefix("association.") {
            Some(association) => {
                self.refer(&from_end, &to_end, &association.replace('_', " "));
            }
            None if edge.role() == EdgeRole::Member && self.owners[to] != Some(from) => {
                let is_collection = self.refer(&from_end, &to_end, "is a collection including");
                let _ = is_collection || self.refer(&to_end, &from_end, "is a part of");
            }
            None => {}
        }
    }

    /// Adds a reference from an object to another. Returns false if its class has no property for it.
    fn refer(&mut self, from: &End, to: &End, association: &str) -> bool {
        let model = PlantModel::get();
        let (object, class, _) = from;
        let properties = model.properties(class, Kind::Reference);
        let property = properties.iter().find(|property| {
            !RUN_REFERENCES.contains(&property.name)
                && kind_of(property.name).eq_ignore_ascii_case(association)
                && model.is_a(to.1, property.target)
                && (property.is_many || !self.full.contains(&(*object, property.name)))
        });
        if let Some(property) = property {
            self.full.insert((*object, property.name));
            self.document.reference(*object, property.name, &format!("#{}", to.2));
        }
        property.is_some()
    }
}

/// Returns the fail position of a node in DEXPI, if its class has the property and the text is understood.
fn fail_action(node: &Node<'_>, class: &str) -> Option<&'static str> {
    let has_property = PlantModel::get().properties(class, Kind::Data).iter().any(|known| known.name == FAIL_ACTION);
    node.stated("fail_action").iter().filter(|_| has_property).find_map(|text| dexpi_fail_action(text))
}

/// Returns the items that others refer to, as the reference of an actuator does to its valve.
fn operated(model: &Model<'_>) -> HashSet<usize> {
    let references = model.edges.iter().filter(|edge| edge.class() == "association.refers_to");
    references.filter_map(|edge| edge.to.node).collect()
}

/// End of a reference: object, class and id.
type End = (usize, &'static str, String);

/// Returns the type of association that a reference is read as.
fn kind_of(property: &'static str) -> &'static str {
    ASSOCIATIONS.iter().find(|(name, _)| *name == property).map_or(property, |(_, kind)| *kind)
}

/// Returns the element that a component is read as.
fn element_of<'p>(property: &str, owner: &str, path: &'p str) -> &'p str {
    let class = last_name(path);
    let element = COMPONENTS.iter().find(|(name, _)| *name == property).map(|(_, element)| *element);
    match element {
        Some("PipingComponent") if class == "PropertyBreak" => "PropertyBreak",
        Some("PipingComponent") if class.ends_with("PipeOffPageConnector") => "PipeOffPageConnector",
        Some(element) => element,
        None if ["Equipment", "Nozzle"].contains(&owner) => "Equipment",
        None => class,
    }
}
