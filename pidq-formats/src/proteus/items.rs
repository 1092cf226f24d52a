//! Items: elements as nodes, with ownership edges.

use std::collections::HashMap;

use crate::import::Finding;
use crate::json::{Fields, Json};
use crate::snake_case::snake_case;
use crate::xml::Element;

use super::attributes;
use super::corrections;
use super::elements::{Mapping, Ownership};
use super::labels;
use super::plant_import::{IdTarget, Item, PlantImport};

/// Adds a node for every item, in reading order.
pub fn add(plant: &mut PlantImport<'_>) {
    for element in 1..plant.tree.elements.len() {
        match plant.mapping(element) {
            Some(Mapping::Node(node_type, entity, owner)) => add_item(plant, element, node_type, entity, owner),
            Some(Mapping::Signal) => {
                bind_to_owner(plant, element);
                bind_signal(plant, element);
            }
            // A part of another item: references to it refer to that one.
            Some(Mapping::PartOfParent | Mapping::Annotation | Mapping::Graphic) => bind_to_owner(plant, element),
            None => bind_to_owner(plant, element),
        }
    }
    register_persistent_ids(plant);
}

/// Registers the ids of the originating system, which references may use if no item has them as its own.
fn register_persistent_ids(plant: &mut PlantImport<'_>) {
    for index in 0..plant.items.len() {
        let id = persistent_id(plant, plant.items[index].element);
        plant.set_target(id.and_then(|element| element.get("Identifier")), IdTarget::Item(index));
    }
}

fn persistent_id<'t>(plant: &PlantImport<'t>, element: usize) -> Option<&'t Element> {
    plant.tree.named(element, "PersistentID").next().map(|(_, id)| id)
}

/// Binds the id of a signal line, which may be that of an earlier item too.
fn bind_signal(plant: &mut PlantImport<'_>, element: usize) {
    let Some(id) = plant.tree.elements[element].get("ID") else { return };
    if let Some(IdTarget::Item(item)) = plant.id_target(id) {
        let message =
            format!("duplicate id `{id}` of a `{}`; it refers to the item", plant.tree.elements[element].name);
        plant.builder.report(Finding::DuplicateId, message, &[id]);
        plant.builder.mark_shared_id(item, id);
    }
    plant.set_target(Some(id), IdTarget::Signal(element));
}

/// Binds an element without an item of its own to the enclosing item.
fn bind_to_owner(plant: &mut PlantImport<'_>, element: usize) {
    // The id of a signal line refers to the line.
    let is_signal = plant.mapping(element) == Some(Mapping::Signal);
    if let (Some(owner), false) = (plant.owner(element), is_signal) {
        plant.bind(element, owner);
    }
}

fn add_item(
    plant: &mut PlantImport<'_>,
    element: usize,
    node_type: &'static str,
    entity: &'static str,
    owner: Ownership,
) {
    let xml_element = &plant.tree.elements[element];
    let parent = plant.owner(element);
    let id = plant.allocate_id(element);
    let attributes = attributes::collect(plant, element);
    let tag = Some(attributes::tag(xml_element, &attributes)).filter(|tag| !tag.is_empty());
    let tag = tag.or_else(|| line_number_of_segments(plant, element)).unwrap_or_default();
    let ports = attributes::ports(plant, element);
    let item = Item { element, id, parent, node_type, tag, attributes };
    let mut fields = identifying_fields(plant, &item, entity);
    add_position(plant, &item, &mut fields);
    attributes::add_fields(&mut fields, &item.attributes);
    add_origin(plant, xml_element, &item, &mut fields);
    if !ports.is_empty() {
        fields.add("ports", Json::Array(ports));
    }
    fields.add_optional_text("zone", column_of_nozzle(plant, &item).map(|owner| plant.items[owner].id.as_str()));
    add_cross_page(plant, element, &mut fields);
    if !item.attributes.is_empty() {
        fields.add("attributes", Json::Array(attributes::to_json_list(item.attributes.iter().cloned())));
    }
    let index = plant.items.len();
    plant.items.push(item);
    plant.builder.nodes.push(fields);
    let id = plant.items[index].id.clone();
    mark_shared_id(plant, index);
    plant.set_target(Some(&id), IdTarget::Item(index));
    plant.bind(element, index);
    add_ownership(plant, index, owner);
}

/// Marks an item that was given another id, and the item that has its id.
fn mark_shared_id(plant: &mut PlantImport<'_>, item: usize) {
    let Some(requested) = plant.element(item).get("ID").filter(|requested| *requested != plant.items[item].id) else {
        return;
    };
    let first = plant.lookup(requested);
    for shared in first.into_iter().chain([item]) {
        plant.builder.mark_shared_id(shared, requested);
    }
}

/// Returns the number of a line without one: that of its runs if they agree. Some systems number the runs.
fn line_number_of_segments(plant: &PlantImport<'_>, line: usize) -> Option<String> {
    const NAMES: &[&str] = &["LineNumberAssignmentClass", "LineNumber"];
    let tree = plant.tree;
    if tree.elements[line].name != "PipingNetworkSystem" {
        return None;
    }
    let sets = tree.named(line, "PipingNetworkSegment").flat_map(|(run, _)| tree.named(run, "GenericAttributes"));
    let sets = sets.filter(|(_, set)| !corrections::is_own_set(set));
    let attributes = sets.flat_map(|(set, _)| tree.named(set, "GenericAttribute"));
    let line_numbers =
        attributes.filter(|(_, attribute)| attribute.get("Name").is_some_and(|name| NAMES.contains(&name)));
    let mut numbers = line_numbers.filter_map(|(_, attribute)| attribute.get("Value")).map(str::trim);
    let first = numbers.next()?;
    numbers.all(|number| number == first).then(|| first.to_owned())
}

/// Returns the identifying fields of an item.
fn identifying_fields(plant: &PlantImport<'_>, item: &Item, entity: &str) -> Fields {
    let element = &plant.tree.elements[item.element];
    // Some systems write the graphic as the class of a property break.
    let class = element.get("ComponentClass").filter(|class| *class != "Label");
    let class = class.unwrap_or(&element.name);
    // A custom class states the name of the class that the standard lacks.
    let stated = attributes::value(&item.attributes, &["TypeNameAssignmentClass"]).map(str::trim);
    let class = stated.filter(|_| class.starts_with("Custom")).unwrap_or(class);
    let entity = refine(plant, item, entity, class);
    let mut fields = Fields::default();
    fields.add("id", Json::text(&item.id));
    fields.add("tag", Json::text(&item.tag));
    fields.add("node_type", Json::text(item.node_type));
    fields.add("node_classification", Json::String(format!("{entity}.{}", snake_case(class))));
    fields.add("component_class", Json::text(class));
    fields.add_optional_text("component_class_uri", element.get("ComponentClassURI"));
    fields.add_optional_text("component_name", element.get("ComponentName"));
    let texts = labels::texts(plant.tree, item.element, &item.tag, &plant.referring_texts);
    let names = ["PipingComponentNameAssignmentClass", "PipingComponentName"];
    labels::add(&mut fields, texts, attributes::value(&item.attributes, &names));
    fields
}

/// Adjusts the entity of an item. Equipment inside equipment is a part of it, unless it has nozzles and is not a
/// chamber. A valve stays a valve, although version 3.3 writes control valves as instruments.
fn refine<'e>(plant: &PlantImport<'_>, item: &Item, entity: &'e str, class: &str) -> &'e str {
    let element = &plant.tree.elements[item.element];
    let has_nozzle = plant.tree.named(item.element, "Nozzle").next().is_some();
    let is_valve = class.to_lowercase().contains("valve");
    match element.name.as_str() {
        "Equipment" if is_part(plant, item) && (!has_nozzle || is_chamber(class) || is_section(class)) => {
            "equipment_component"
        }
        "ProcessInstrument" if is_valve && item.parent.is_some() => "piping_component",
        "InstrumentComponent" if is_valve && !is_part(plant, item) => "piping_component",
        "ProcessInstrumentationFunction" if class.ends_with("Valve") => "piping_component",
        _ => entity,
    }
}

/// Returns true if an item is inside another one, and not directly in a line or a plant section.
fn is_part(plant: &PlantImport<'_>, item: &Item) -> bool {
    item.parent.is_some_and(|parent| plant.items[parent].node_type == "pid_component")
}

/// Returns true for a chamber: a side of its equipment, although it may contain nozzles. A shell or a tube bundle
/// counts too.
fn is_chamber(class: &str) -> bool {
    const CHAMBER_CLASSES: &[&str] = &["chamber", "tubebundle", "shell", "casing", "jacket", "coil"];
    let class = class.to_lowercase();
    CHAMBER_CLASSES.iter().any(|word| class.ends_with(word))
}

/// Returns true for a section of a column; sections are open to each other.
fn is_section(class: &str) -> bool {
    class.to_lowercase().ends_with("columnsection")
}

/// Returns the column to whose sections a nozzle belongs: all its nozzles are on one side, in any section.
fn column_of_nozzle(plant: &PlantImport<'_>, item: &Item) -> Option<usize> {
    let class = |element: &Element| element.get("ComponentClass").is_some_and(is_section);
    let owner = item.parent.filter(|_| plant.tree.elements[item.element].name == "Nozzle")?;
    if class(plant.element(owner)) {
        return plant.items[owner].parent;
    }
    let mut parts = plant.tree.named(plant.items[owner].element, "Equipment");
    parts.any(|(_, part)| class(part)).then_some(owner)
}

/// Adds qualified tags such as `P4711-N1` to parts of equipment, and to items with a shared tag.
pub fn add_qualified_tags(plant: &mut PlantImport<'_>) {
    // The parts of an actuator have the tag of its valve.
    let is_of_actuator = |item: &Item| plant.tree.elements[item.element].name.starts_with("Actuating");
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for item in plant.items.iter().filter(|item| !is_of_actuator(item)) {
        *counts.entry(item.tag.as_str()).or_default() += 1;
    }
    let is_shared: Vec<bool> =
        plant.items.iter().map(|item| !is_of_actuator(item) && counts[item.tag.as_str()] > 1).collect();
    for (index, is_shared) in is_shared.into_iter().enumerate() {
        let is_part = plant.items[index].parent.is_some_and(|parent| plant.element(parent).name == "Equipment");
        let qualified = if is_part || is_shared { qualified(plant, &plant.items[index]) } else { None };
        if let Some(qualified) = qualified {
            plant.builder.nodes[index].insert_after("tag", "qualified_tag", Json::String(qualified));
        }
    }
}

/// Returns the tag of the nearest owner with one, followed by the item's own. The number of a segment is no tag.
fn qualified(plant: &PlantImport<'_>, item: &Item) -> Option<String> {
    if item.tag.is_empty() {
        return None;
    }
    let mut ancestor = item.parent;
    while let Some(owner) = ancestor.map(|index| &plant.items[index]) {
        let is_segment = plant.tree.elements[owner.element].name == "PipingNetworkSegment";
        if !owner.tag.is_empty() && owner.tag != item.tag && !is_segment {
            let is_part = !item.tag.starts_with(&owner.tag);
            return is_part.then(|| format!("{}-{}", owner.tag, item.tag));
        }
        ancestor = owner.parent;
    }
    None
}

fn add_position(plant: &PlantImport<'_>, item: &Item, fields: &mut Fields) {
    let bounds = attributes::bounds(plant.tree, item.element);
    let position = attributes::position(plant.tree, item.element).map(|point| point.json());
    let center =
        bounds.map(|[x, y, width, height]| [attributes::number(x + width / 2.0), attributes::number(y + height / 2.0)]);
    if let Some([x, y]) = position.or(center) {
        fields.add("orig_x", x);
        fields.add("orig_y", y);
    }
    if let Some([_, _, width, height]) = bounds {
        fields.add("orig_bbox_width", attributes::number(width));
        fields.add("orig_bbox_height", attributes::number(height));
        fields.add_optional("bbox", attributes::extent(plant.tree, item.element));
    }
}

/// Adds owner, line and segment, and the persistent id.
fn add_origin(plant: &PlantImport<'_>, element: &Element, item: &Item, fields: &mut Fields) {
    fields.add_optional_text("parent_id", item.parent.map(|parent| plant.items[parent].id.as_str()));
    let mut ancestor = item.parent;
    while let Some(owner) = ancestor.map(|index| &plant.items[index]) {
        match plant.tree.elements[owner.element].name.as_str() {
            "PipingNetworkSegment" => fields.add_if_absent("segment", Json::text(&owner.id)),
            "PipingNetworkSystem" if !owner.tag.is_empty() => fields.add_if_absent("line", Json::text(&owner.tag)),
            _ => {}
        }
        ancestor = owner.parent;
    }
    let persistent = persistent_id(plant, item.element);
    fields.add_optional_text("persistent_id", persistent.and_then(|element| element.get("Identifier")));
    fields.add_optional_text("persistent_id_context", persistent.and_then(|element| element.get("Context")));
    debug_assert!(element.parent.is_some(), "the root is no item");
}

/// Adds the target of an off-page connector, from the element itself or its reference.
fn add_cross_page(plant: &mut PlantImport<'_>, element: usize, fields: &mut Fields) {
    let tree = plant.tree;
    let is_reference = |(index, reference): &(usize, &Element)| {
        plant.mapping(*index) == Some(Mapping::PartOfParent) && reference.name.contains("Reference")
    };
    let references: Vec<usize> = tree.children(element).filter(is_reference).map(|(index, _)| index).collect();
    let mut link = Fields::default();
    for source in std::iter::once(element).chain(references.iter().copied()) {
        for (index, connection) in tree.named(source, "CrossPageConnection") {
            link.add_optional_text("drawing_name", connection.get("DrawingName"));
            link.add_optional_text("link_label", connection.get("LinkLabel"));
            let partner = tree.named(index, "LinkedPersistentID").next().map(|(_, partner)| partner);
            link.add_optional_text("linked_persistent_id", partner.and_then(|partner| partner.get("Identifier")));
            link.add_optional_text("linked_context", partner.and_then(|partner| partner.get("Context")));
        }
    }
    for index in references {
        let attributes = attributes::collect(plant, index);
        let by_name = |part: &str| {
            attributes
                .iter()
                .find(|attribute| attribute.name.contains(part))
                .and_then(|attribute| attribute.value.as_deref())
        };
        link.add_optional_text("drawing_name", by_name("Drawing").filter(|name| !name.is_empty()));
        link.add_optional_text("link_label", by_name("ConnectorNumber").filter(|name| !name.is_empty()));
        if !attributes.is_empty() {
            link.add_if_absent("attributes", Json::Array(attributes::to_json_list(attributes.into_iter())));
        }
    }
    if !link.is_empty() {
        fields.add("cross_page", Json::Object(link));
    }
}

/// Marks valves that contain an actuator as actuated. Most systems write actuators elsewhere, with a reference.
pub fn mark_actuated(plant: &mut PlantImport<'_>) {
    for index in 0..plant.items.len() {
        if !is_actuator(plant.element(index)) {
            continue;
        }
        let parent = |item: &usize| plant.items[*item].parent;
        let mut owners = std::iter::successors(parent(&index), parent);
        if let Some(valve) = owners.find(|owner| plant.element(*owner).name == "PipingComponent") {
            plant.builder.nodes[valve].add_if_absent("actuated", Json::Bool(true));
        }
    }
}

/// Returns true for an actuator that is not manual.
fn is_actuator(element: &Element) -> bool {
    let class = element.get("ComponentClass").unwrap_or_default().to_lowercase();
    let is_system_component = element.name.starts_with("Actuating") && !element.name.ends_with("Function");
    let is_manual = ["hand", "manual"].iter().any(|word| class.contains(word));
    (is_system_component || class.contains("actuator")) && !is_manual
}

fn add_ownership(plant: &mut PlantImport<'_>, item: usize, owner: Ownership) {
    let Some(parent) = plant.items[item].parent else { return };
    let (from, to) = (plant.items[parent].id.clone(), plant.items[item].id.clone());
    let kind = match owner {
        Ownership::Part if is_part(plant, &plant.items[item]) => "physically_has_a",
        _ => "has_a",
    };
    plant.relate(kind, None, &from, &to);
}
