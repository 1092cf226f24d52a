//! Associations as edges. They come in pairs, one from each side, which become one edge.

use std::collections::{HashMap, HashSet};

use crate::import::Finding;
use crate::snake_case::snake_case;
use crate::xml::Element;

use super::elements;
use super::plant_import::{IdTarget, PlantImport};

/// Meaning of an association, seen from the item that has it.
enum Association {
    /// Membership: the item is a member of the other, or the other of it.
    MemberOf,
    HasMember,
    /// A named relation, from the item or towards it.
    RelationTo(&'static str),
    RelationFrom(&'static str),
    /// An end of a signal line, which is read with the signal lines.
    Signal,
}

/// Association types of the file.
const ASSOCIATION_TYPES: &[(&str, Association)] = &[
    ("is a part of", Association::MemberOf),
    ("is a collection including", Association::HasMember),
    ("is located in", Association::RelationTo("association.is_located_in")),
    ("is the location of", Association::RelationFrom("association.is_located_in")),
    ("is fulfilled by", Association::RelationTo("association.is_fulfilled_by")),
    ("fulfills", Association::RelationFrom("association.is_fulfilled_by")),
    ("refers to", Association::RelationTo("association.refers_to")),
    ("is referenced by", Association::RelationFrom("association.refers_to")),
    ("is referenced in comment", Association::RelationTo("association.is_referenced_in_comment")),
    ("is a comment referring to", Association::RelationFrom("association.is_referenced_in_comment")),
    ("has logical start", Association::Signal),
    ("is logical start of", Association::Signal),
    ("has logical end", Association::Signal),
    ("is logical end of", Association::Signal),
];

/// Compares an association type without regard to case, since exporters differ.
pub fn is_type(relation_type: &str, known: &str) -> bool {
    relation_type.trim().eq_ignore_ascii_case(known)
}

/// Adds an edge for each relation.
pub fn add(plant: &mut PlantImport<'_>) {
    let short_ids = short_ids(plant);
    for index in 0..plant.tree.elements.len() {
        let element = &plant.tree.elements[index];
        let Some(parent) = element.parent.filter(|_| !plant.is_in_catalog(index)) else { continue };
        match (element.name.as_str(), item_id_of(plant, parent)) {
            ("Association", Some(item_id)) => add_association(plant, &item_id, element, &short_ids),
            ("Association", None) => report_unresolved(plant, parent, element),
            ("Connection", item_id) => add_connection(plant, item_id, parent, element),
            _ => {}
        }
    }
    relate_functions_by_number(plant);
}

/// Relates each actuating function without such an association to the only actuating system with its number.
fn relate_functions_by_number(plant: &mut PlantImport<'_>) {
    let related = items_with_fulfillment(plant);
    let mut systems: HashMap<&str, Vec<usize>> = HashMap::new();
    for item in numbered_items(plant, "ActuatingSystem") {
        systems.entry(&plant.items[item].tag).or_default().push(item);
    }
    let pair = |function: usize| match systems.get(plant.items[function].tag.as_str()).map(Vec::as_slice) {
        Some([system]) if !related.contains(&function) && !related.contains(system) => Some((function, *system)),
        _ => None,
    };
    let pairs: Vec<(usize, usize)> = numbered_items(plant, "ActuatingFunction").filter_map(pair).collect();
    for (function, system) in pairs {
        let [from, to] = [function, system].map(|item| plant.items[item].id.clone());
        plant.relate("associated_with", Some("association.is_fulfilled_by"), &from, &to);
    }
}

/// Returns the items with a number that an element of a name describes.
fn numbered_items<'p>(plant: &'p PlantImport<'_>, name: &'static str) -> impl Iterator<Item = usize> + 'p {
    let has_number = move |item: &usize| !plant.items[*item].tag.is_empty();
    (0..plant.items.len()).filter(has_number).filter(move |item| plant.element(*item).name == name)
}

/// Returns the items at either end of an association that says what fulfills a function, or where it acts.
fn items_with_fulfillment(plant: &PlantImport<'_>) -> HashSet<usize> {
    const TYPES: &[&str] = &["is fulfilled by", "fulfills", "is located in", "is the location of"];
    let mut found = HashSet::new();
    for (index, element) in plant.tree.elements.iter().enumerate().filter(|(_, element)| element.name == "Association")
    {
        let is_known = element.get("Type").is_some_and(|text| TYPES.iter().any(|known| is_type(text, known)));
        if is_known {
            found.extend(plant.owner(index));
            found.extend(element.get("ItemID").and_then(|id| plant.lookup(id)));
        }
    }
    found
}

/// Reports an association without a node at its start, as of a signal line. The ends of signal lines were read before.
fn report_unresolved(plant: &mut PlantImport<'_>, parent: usize, association: &Element) {
    let relation_type = association.get("Type").unwrap_or("is associated with");
    if ASSOCIATION_TYPES
        .iter()
        .any(|(name, association_type)| is_type(relation_type, name) && matches!(association_type, Association::Signal))
    {
        return;
    }
    let xml_element = &plant.tree.elements[parent];
    let id = xml_element.get("ID").unwrap_or(&xml_element.name).to_owned();
    let (message, ids) = match association.get("ItemID").or(association.get("TagName")) {
        Some(other) => (format!("`{id}` {relation_type} `{other}`, but `{id}` is not a node"), vec![&*id, other]),
        None => (format!("`{id}` {relation_type} an item without an id, and `{id}` is not a node"), vec![&*id]),
    };
    plant.builder.report(Finding::UnresolvedMembership, message, &ids);
}

/// Adds a connection outside of segments and signal lines: for a line it is a pipe, otherwise a relation.
fn add_connection(plant: &mut PlantImport<'_>, item_id: Option<String>, parent: usize, connection: &Element) {
    let element_name = plant.tree.elements[parent].name.as_str();
    let is_signal = plant.mapping(parent) == Some(elements::Mapping::Signal);
    if element_name == "PipingNetworkSegment" || is_signal {
        return;
    }
    let resolve =
        |name| connection.get(name).map(|id| plant.lookup(id).map_or(id, |item| &plant.items[item].id).to_owned());
    let [from, to] = ["FromID", "ToID"].map(|name| resolve(name).or(item_id.clone()));
    match (from, to) {
        (Some(from), Some(to)) if from != to && element_name == "PipingNetworkSystem" => {
            plant.relate("physically_connected_to", None, &from, &to);
        }
        (Some(from), Some(to)) if from != to => {
            plant.relate("associated_with", Some("association.is_connected_to"), &from, &to);
        }
        _ => {
            let message = format!("a connection of `{}` has no ends", item_id.as_deref().unwrap_or(element_name));
            plant.builder.report(Finding::UnresolvedMembership, message, &[]);
        }
    }
}

/// Returns the item that an association belongs to. Those of signal lines are read with the lines.
fn item_id_of(plant: &PlantImport<'_>, element: usize) -> Option<String> {
    if plant.mapping(element) == Some(elements::Mapping::Signal) {
        return None;
    }
    let item = plant.item_of(element).or_else(|| plant.owner(element))?;
    Some(plant.items[item].id.clone())
}

fn add_association(
    plant: &mut PlantImport<'_>,
    item_id: &str,
    association: &Element,
    short_ids: &HashMap<String, usize>,
) {
    let relation_type = association.get("Type").unwrap_or("is associated with");
    let association_type = ASSOCIATION_TYPES
        .iter()
        .find(|(text, _)| is_type(relation_type, text))
        .map(|(_, association_type)| association_type);
    if matches!(association_type, Some(Association::Signal)) {
        return;
    }
    let Some(other_id) = other_id(plant, item_id, association, relation_type, short_ids) else { return };
    match association_type {
        Some(Association::MemberOf) => plant.relate("has_a", None, &other_id, item_id),
        Some(Association::HasMember) => plant.relate("has_a", None, item_id, &other_id),
        Some(Association::RelationTo(class)) => plant.relate("associated_with", Some(class), item_id, &other_id),
        Some(Association::RelationFrom(class)) => plant.relate("associated_with", Some(class), &other_id, item_id),
        _ => {
            let class = format!("association.{}", snake_case(relation_type));
            plant.relate("associated_with", Some(&class), item_id, &other_id)
        }
    };
}

/// Returns the id of the other side. Version 3.3 has it in `TagName`, as tag or as id without the first letters.
fn other_id(
    plant: &mut PlantImport<'_>,
    item_id: &str,
    association: &Element,
    relation_type: &str,
    short_ids: &HashMap<String, usize>,
) -> Option<String> {
    let by_id = association.get("ItemID");
    let by_tag = association.get("TagName");
    let Some(text) = by_id.or(by_tag) else {
        let message = format!("the relation `{relation_type}` of `{item_id}` has no target");
        plant.builder.report(Finding::UnresolvedMembership, message, &[item_id]);
        return None;
    };
    let found = match plant.id_target(text) {
        Some(IdTarget::Item(item)) => Some(item),
        _ => short_ids.get(text).copied(),
    };
    if let Some(item) = found {
        return Some(plant.items[item].id.clone());
    }
    if let Some(IdTarget::Signal(line)) = plant.id_target(text) {
        // A relation with a signal line refers to the id of its edge.
        return plant.tree.elements[line].get("ID").map(str::to_owned);
    }
    let finding = if by_id.is_some() { Finding::DanglingReference } else { Finding::UnresolvedMembership };
    plant.builder.report(
        finding,
        format!("`{item_id}` {relation_type} `{text}`, which is not an item"),
        &[item_id, text],
    );
    by_id.map(str::to_owned)
}

/// Returns items by tag, and by id without the first two letters, if unique.
fn short_ids(plant: &PlantImport<'_>) -> HashMap<String, usize> {
    let mut by_name: HashMap<String, Option<usize>> = HashMap::new();
    for (index, item) in plant.items.iter().enumerate() {
        let short = item.id.get(2..).filter(|extra| extra.len() >= 8);
        for name in short.into_iter().chain(Some(item.tag.as_str()).filter(|tag| !tag.is_empty())) {
            by_name.entry(name.to_owned()).and_modify(|item| *item = None).or_insert(Some(index));
        }
    }
    by_name.into_iter().filter_map(|(name, item)| item.map(|item| (name, item))).collect()
}

/// Returns the items operated by a component of an actuating system: those that its sibling components refer to.
pub fn operated_by(plant: &PlantImport<'_>, actuator: usize) -> Vec<usize> {
    let Some(system) = plant.items[actuator].parent else { return Vec::new() };
    if !plant.element(system).name.starts_with("Actuating") {
        return Vec::new();
    }
    let elements: Vec<usize> = plant.tree.children(plant.items[system].element).map(|(child, _)| child).collect();
    let references = elements.iter().flat_map(|element| plant.tree.named(*element, "Association"));
    let ids = references
        .filter(|(_, association)| {
            association.get("Type").is_some_and(|relation_type| is_type(relation_type, "refers to"))
        })
        .filter_map(|(_, association)| association.get("ItemID"));
    ids.filter_map(|id| plant.lookup(id)).collect()
}

/// Copies the fail action of actuators to their valves.
pub fn copy_fail_actions(plant: &mut PlantImport<'_>) {
    for index in 0..plant.items.len() {
        let Some(action) = plant.builder.nodes[index].get("fail_action").cloned() else { continue };
        for valve in operated_by(plant, index) {
            plant.builder.nodes[valve].add_if_absent("fail_action", action.clone());
        }
    }
}
