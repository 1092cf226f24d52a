//! Elements → nodes, and the edges that say who has whom.

use std::collections::HashMap;

use crate::json::{Fields, Json};
use crate::xml::Element;

use super::facts;
use super::kinds::{self, Owner, Use};
use super::plant::{Item, Meaning, Plant};

/// Adds a node for every item, in reading order.
pub fn add(plant: &mut Plant<'_>) {
    for element in 1..plant.tree.elements.len() {
        match plant.becomes(element) {
            Some(Use::Node(node_type, entity, owner)) => add_item(plant, element, node_type, entity, owner),
            Some(Use::Signal) => {
                bind_to_owner(plant, element);
                plant.name(plant.tree.elements[element].get("ID"), Meaning::Signal(element));
            }
            // A part of another item: references to it mean that one.
            Some(Use::Folded | Use::Annotation) => bind_to_owner(plant, element),
            None => bind_to_owner(plant, element),
        }
    }
    name_persistent(plant);
}

/// References may name the id of the originating system, where no item has it for its own.
fn name_persistent(plant: &mut Plant<'_>) {
    for index in 0..plant.items.len() {
        let id = persistent_id(plant, plant.items[index].element);
        plant.name(id.and_then(|element| element.get("Identifier")), Meaning::Item(index));
    }
}

fn persistent_id<'t>(plant: &Plant<'t>, element: usize) -> Option<&'t Element> {
    plant.tree.named(element, "PersistentID").next().map(|(_, id)| id)
}

/// Elements without an item of their own stand for the item around them.
fn bind_to_owner(plant: &mut Plant<'_>, element: usize) {
    // The id of a signal line means the line.
    let is_signal = plant.becomes(element) == Some(Use::Signal);
    if let (Some(owner), false) = (plant.owner(element), is_signal) {
        plant.bind(element, owner);
    }
}

fn add_item(plant: &mut Plant<'_>, element: usize, node_type: &'static str, entity: &'static str, owner: Owner) {
    let it = &plant.tree.elements[element];
    let parent = plant.owner(element);
    let id = plant.claim(element);
    let attributes = facts::attributes(plant, element);
    let tag = Some(facts::tag(it, &attributes)).filter(|tag| !tag.is_empty());
    let tag = tag.or_else(|| number_of_runs(plant, element)).unwrap_or_default();
    let ports = facts::ports(plant, element);
    let item = Item { element, id, parent, node_type, tag, attributes };
    let mut fields = named(plant, &item, entity);
    add_place(plant, &item, &mut fields);
    facts::add_fields(&mut fields, &item.attributes);
    add_origin(plant, it, &item, &mut fields);
    if !ports.is_empty() {
        fields.add("ports", Json::List(ports));
    }
    fields.maybe_text("zone", side(plant, &item).map(|owner| plant.items[owner].id.as_str()));
    add_cross_page(plant, element, &mut fields);
    if !item.attributes.is_empty() {
        fields.add("attributes", Json::List(facts::records(item.attributes.iter().cloned())));
    }
    let index = plant.items.len();
    plant.items.push(item);
    plant.draft.nodes.push(fields);
    let id = plant.items[index].id.clone();
    plant.name(Some(&id), Meaning::Item(index));
    plant.bind(element, index);
    own(plant, index, owner);
}

/// The number of a line that gives itself none: that of its runs, where they agree. Some systems number the runs.
fn number_of_runs(plant: &Plant<'_>, line: usize) -> Option<String> {
    const NAMES: &[&str] = &["LineNumberAssignmentClass", "LineNumber"];
    let tree = plant.tree;
    if tree.elements[line].name != "PipingNetworkSystem" {
        return None;
    }
    let sets = tree.named(line, "PipingNetworkSegment").flat_map(|(run, _)| tree.named(run, "GenericAttributes"));
    let all = sets.flat_map(|(set, _)| tree.named(set, "GenericAttribute"));
    let named = all.filter(|(_, it)| it.get("Name").is_some_and(|name| NAMES.contains(&name)));
    let mut numbers = named.filter_map(|(_, it)| it.get("Value")).map(str::trim);
    let first = numbers.next()?;
    numbers.all(|number| number == first).then(|| first.to_owned())
}

/// The fields that say what the item is.
fn named(plant: &Plant<'_>, item: &Item, entity: &str) -> Fields {
    let element = &plant.tree.elements[item.element];
    // Some systems call a break of properties what it is drawn as.
    let own = element.get("ComponentClass").filter(|class| *class != "Label");
    let class = own.unwrap_or(&element.name);
    let entity = refine(plant, item, entity, class);
    let mut fields = Fields::default();
    fields.add("id", Json::text(&item.id));
    fields.add("tag", Json::text(&item.tag));
    fields.add("node_type", Json::text(item.node_type));
    fields.add("node_classification", Json::Text(format!("{entity}.{}", kinds::snake_case(class))));
    fields.add("component_class", Json::text(class));
    fields.maybe_text("component_class_uri", element.get("ComponentClassURI"));
    fields.maybe_text("component_name", element.get("ComponentName"));
    fields.maybe("label", label(plant, item).map(Json::Text));
    fields
}

fn label(plant: &Plant<'_>, item: &Item) -> Option<String> {
    let named = facts::value(&item.attributes, &["PipingComponentNameAssignmentClass"]).map(str::to_owned);
    named.or_else(|| facts::label(plant.tree, item.element, &item.tag))
}

/// Equipment inside of equipment is a part of it, unless it has nozzles of its own and is no chamber. A valve stays a valve, though version
/// 3.3 writes control valves as instruments.
fn refine<'e>(plant: &Plant<'_>, item: &Item, entity: &'e str, class: &str) -> &'e str {
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

/// Whether an item stands in another one, and not in a line or in a section of the plant.
fn is_part(plant: &Plant<'_>, item: &Item) -> bool {
    item.parent.is_some_and(|parent| plant.items[parent].node_type == "pid_component")
}

/// A chamber is a side of its equipment, though its nozzles may stand in it. So is what makes one: a shell, a bundle of tubes.
fn is_chamber(class: &str) -> bool {
    const WORDS: &[&str] = &["chamber", "tubebundle", "shell", "casing", "jacket", "coil"];
    let class = class.to_lowercase();
    WORDS.iter().any(|word| class.ends_with(word))
}

/// Sections of a column are parts of it that are open to each other.
fn is_section(class: &str) -> bool {
    class.to_lowercase().ends_with("columnsection")
}

/// The column whose sections a nozzle belongs to: all nozzles of it are on one side, whichever section they are in.
fn side(plant: &Plant<'_>, item: &Item) -> Option<usize> {
    let class = |element: &Element| element.get("ComponentClass").is_some_and(is_section);
    let owner = item.parent.filter(|_| plant.tree.elements[item.element].name == "Nozzle")?;
    if class(plant.element(owner)) {
        return plant.items[owner].parent;
    }
    let mut parts = plant.tree.named(plant.items[owner].element, "Equipment");
    parts.any(|(_, part)| class(part)).then_some(owner)
}

/// Adds `P4711-N1` to parts of equipment, and to items whose tag others have too.
pub fn add_qualified_tags(plant: &mut Plant<'_>) {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for item in &plant.items {
        *counts.entry(item.tag.as_str()).or_default() += 1;
    }
    let is_shared: Vec<bool> = plant.items.iter().map(|item| counts[item.tag.as_str()] > 1).collect();
    for (index, is_shared) in is_shared.into_iter().enumerate() {
        let is_part = plant.items[index].parent.is_some_and(|parent| plant.element(parent).name == "Equipment");
        let qualified = if is_part || is_shared { qualified(plant, &plant.items[index]) } else { None };
        if let Some(qualified) = qualified {
            plant.draft.nodes[index].insert_after("tag", "qualified_tag", Json::Text(qualified));
        }
    }
}

/// The tag of the nearest owner that has one, and the item's own.
fn qualified(plant: &Plant<'_>, item: &Item) -> Option<String> {
    if item.tag.is_empty() {
        return None;
    }
    let mut above = item.parent;
    while let Some(owner) = above.map(|index| &plant.items[index]) {
        if !owner.tag.is_empty() && owner.tag != item.tag {
            let is_part = !item.tag.starts_with(&owner.tag);
            return is_part.then(|| format!("{}-{}", owner.tag, item.tag));
        }
        above = owner.parent;
    }
    None
}

fn add_place(plant: &Plant<'_>, item: &Item, fields: &mut Fields) {
    let bounds = facts::bounds(plant.tree, item.element);
    let position = facts::position(plant.tree, item.element).map(|point| point.json());
    let centre = bounds.map(|[x, y, width, height]| [facts::number(x + width / 2.0), facts::number(y + height / 2.0)]);
    if let Some([x, y]) = position.or(centre) {
        fields.add("orig_x", x);
        fields.add("orig_y", y);
    }
    if let Some([_, _, width, height]) = bounds {
        fields.add("orig_bbox_width", facts::number(width));
        fields.add("orig_bbox_height", facts::number(height));
        fields.maybe("bbox", facts::extent(plant.tree, item.element));
    }
}

/// Owner, line and segment, and the id that outlives revisions.
fn add_origin(plant: &Plant<'_>, element: &Element, item: &Item, fields: &mut Fields) {
    fields.maybe_text("parent_id", item.parent.map(|parent| plant.items[parent].id.as_str()));
    let mut above = item.parent;
    while let Some(owner) = above.map(|index| &plant.items[index]) {
        match plant.tree.elements[owner.element].name.as_str() {
            "PipingNetworkSegment" => fields.add_new("segment", Json::text(&owner.id)),
            "PipingNetworkSystem" if !owner.tag.is_empty() => fields.add_new("line", Json::text(&owner.tag)),
            _ => {}
        }
        above = owner.parent;
    }
    let persistent = persistent_id(plant, item.element);
    fields.maybe_text("persistent_id", persistent.and_then(|element| element.get("Identifier")));
    fields.maybe_text("persistent_id_context", persistent.and_then(|element| element.get("Context")));
    debug_assert!(element.parent.is_some(), "the root is no item");
}

/// Where an off-page connector goes on, as it says itself or in its reference.
fn add_cross_page(plant: &mut Plant<'_>, element: usize, fields: &mut Fields) {
    let tree = plant.tree;
    let is_reference =
        |(index, it): &(usize, &Element)| plant.becomes(*index) == Some(Use::Folded) && it.name.contains("Reference");
    let references: Vec<usize> = tree.children(element).filter(is_reference).map(|(index, _)| index).collect();
    let mut link = Fields::default();
    for place in std::iter::once(element).chain(references.iter().copied()) {
        for (index, crossing) in tree.named(place, "CrossPageConnection") {
            link.maybe_text("drawing_name", crossing.get("DrawingName"));
            link.maybe_text("link_label", crossing.get("LinkLabel"));
            let partner = tree.named(index, "LinkedPersistentID").next().map(|(_, partner)| partner);
            link.maybe_text("linked_persistent_id", partner.and_then(|partner| partner.get("Identifier")));
            link.maybe_text("linked_context", partner.and_then(|partner| partner.get("Context")));
        }
    }
    for index in references {
        let own = facts::attributes(plant, index);
        let by_name = |part: &str| own.iter().find(|one| one.name.contains(part)).and_then(|one| one.value.as_deref());
        link.maybe_text("drawing_name", by_name("Drawing").filter(|name| !name.is_empty()));
        link.maybe_text("link_label", by_name("ConnectorNumber").filter(|name| !name.is_empty()));
        if !own.is_empty() {
            link.add_new("attributes", Json::List(facts::records(own.into_iter())));
        }
    }
    if !link.is_empty() {
        fields.add("cross_page", Json::Record(link));
    }
}

/// Tells valves that an actuator stands in that they are actuated. Most systems write it elsewhere, with a reference.
pub fn mark_actuated(plant: &mut Plant<'_>) {
    for index in 0..plant.items.len() {
        if !is_actuator(plant.element(index)) {
            continue;
        }
        let above = |item: &usize| plant.items[*item].parent;
        let mut owners = std::iter::successors(above(&index), above);
        if let Some(valve) = owners.find(|owner| plant.element(*owner).name == "PipingComponent") {
            plant.draft.nodes[valve].add_new("actuated", Json::Bool(true));
        }
    }
}

/// An actuator, but none that is moved by hand.
fn is_actuator(element: &Element) -> bool {
    let class = element.get("ComponentClass").unwrap_or_default().to_lowercase();
    let is_of_system = element.name.starts_with("Actuating") && !element.name.ends_with("Function");
    let is_by_hand = ["hand", "manual"].iter().any(|word| class.contains(word));
    (is_of_system || class.contains("actuator")) && !is_by_hand
}

fn own(plant: &mut Plant<'_>, item: usize, owner: Owner) {
    let Some(parent) = plant.items[item].parent else { return };
    let (from, to) = (plant.items[parent].id.clone(), plant.items[item].id.clone());
    let kind = match owner {
        Owner::Part if is_part(plant, &plant.items[item]) => "physically_has_a",
        _ => "has_a",
    };
    plant.relate(kind, None, &from, &to);
}
