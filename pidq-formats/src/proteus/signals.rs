//! Signal lines as edges. The logical ends come from associations on either side, the drawn ends from the connection.
//! The logical ends take precedence; differing drawn ends are kept as well.

use std::collections::HashMap;

use crate::import::Finding;
use crate::json::{Fields, Json};
use crate::snake_case::snake_case;
use crate::xml::Element;

use super::attribute::Point;
use super::attributes;
use super::elements::Mapping;
use super::plant_import::{IdTarget, PlantImport};
use super::relations::is_type;

/// Adds an edge for every signal line.
pub fn add(plant: &mut PlantImport<'_>) {
    let ends = ends_from_items(plant);
    for element in 0..plant.tree.elements.len() {
        if plant.mapping(element) == Some(Mapping::Signal) {
            add_signal(plant, element, &ends);
        }
    }
}

/// Item at an end of a line according to the items; by the element of the line, and true for its start.
type SignalEnds = HashMap<(usize, bool), String>;

fn ends_from_items(plant: &PlantImport<'_>) -> SignalEnds {
    let mut ends = SignalEnds::new();
    for (item, element) in plant.items.iter().map(|item| (item, item.element)) {
        for (_, association) in plant.tree.named(element, "Association") {
            let is_start = match association.get("Type") {
                Some(association_type) if is_type(association_type, "is logical start of") => true,
                Some(association_type) if is_type(association_type, "is logical end of") => false,
                _ => continue,
            };
            if let Some(IdTarget::Signal(line)) = association.get("ItemID").and_then(|id| plant.id_target(id)) {
                ends.entry((line, is_start)).or_insert_with(|| item.id.clone());
            }
        }
    }
    ends
}

fn add_signal(plant: &mut PlantImport<'_>, element: usize, ends: &SignalEnds) {
    let xml_element = &plant.tree.elements[element];
    let id = signal_id(plant, element);
    let path = path(plant, element);
    let connection = plant.tree.named(element, "Connection").next().map(|(_, connection)| connection);
    let drawn_ends = ["FromID", "ToID"].map(|name| connection.and_then(|connection| connection.get(name)));
    let logical_ends = [true, false].map(|is_start| logical_end(plant, element, is_start, ends));
    let mut edge = Fields::default();
    edge.add("id", Json::text(&id));
    edge.add("edge_type", Json::text("associated_with"));
    let class = xml_element.get("ComponentClass").unwrap_or(&xml_element.name);
    edge.add("edge_classification", Json::String(format!("signal_line.{}", snake_case(class))));
    for (index, key) in ["from", "to"].into_iter().enumerate() {
        let item_id = logical_ends[index].clone().or(drawn_ends[index].map(str::to_owned));
        let point = if index == 0 { path.first() } else { path.last() };
        let end = end(plant, &id, key, item_id, point.cloned());
        edge.add(key, Json::String(end));
    }
    edge.add("component_class", Json::text(class));
    edge.add_optional_text("component_name", xml_element.get("ComponentName"));
    edge.add_optional_text("parent_id", plant.owner(element).map(|owner| plant.items[owner].id.as_str()));
    add_drawn(plant, &mut edge, connection, &id);
    add_details(plant, element, &mut edge, path);
    plant.signal_edges.push((element, plant.builder.edges.len()));
    plant.builder.edges.push(edge);
}

fn signal_id(plant: &mut PlantImport<'_>, element: usize) -> String {
    // The first signal line with an id owns it; a duplicate gets another one, as items do.
    let own_id = plant.tree.elements[element].get("ID");
    match own_id.map(|id| plant.id_target(id)) {
        Some(Some(IdTarget::Signal(first))) if first == element => own_id.unwrap_or_default().to_owned(),
        _ => {
            let id = plant.allocate_id(element);
            plant.set_target(Some(&id), IdTarget::Signal(element));
            id
        }
    }
}

fn path(plant: &PlantImport<'_>, element: usize) -> Vec<Point> {
    let lines = plant.tree.named(element, "CenterLine");
    lines.flat_map(|(line, _)| attributes::polyline(plant.tree, line)).collect()
}

/// Returns the item at an end: according to the line, otherwise according to an item.
fn logical_end(plant: &PlantImport<'_>, element: usize, is_start: bool, ends: &SignalEnds) -> Option<String> {
    let association_name = if is_start { "has logical start" } else { "has logical end" };
    let mut associations = plant.tree.named(element, "Association").filter(|(_, association)| {
        association.get("Type").is_some_and(|association_type| is_type(association_type, association_name))
    });
    let from_line = associations.find_map(|(_, association)| association.get("ItemID")).map(str::to_owned);
    from_line.or_else(|| ends.get(&(element, is_start)).cloned())
}

/// Returns the id of the node at an end.
fn end(
    plant: &mut PlantImport<'_>,
    line: &str,
    end_name: &str,
    item_id: Option<String>,
    point: Option<Point>,
) -> String {
    let Some(item_id) = item_id else {
        let id = plant.add_end(&format!("{line}-{end_name}"), "signal_end", point);
        plant.builder.report(
            Finding::OpenSignal,
            format!("the signal line `{line}` is not connected at `{end_name}`"),
            &[line, &id],
        );
        return id;
    };
    match plant.lookup(&item_id) {
        Some(item) => plant.items[item].id.clone(),
        None => {
            let message = format!("the signal line `{line}` connects to `{item_id}`, which is not an item");
            plant.builder.report(Finding::DanglingReference, message, &[line, &item_id]);
            item_id
        }
    }
}

/// Adds the items between which the line is drawn, if they differ from its ends.
fn add_drawn(plant: &mut PlantImport<'_>, edge: &mut Fields, connection: Option<&Element>, id: &str) {
    let Some(connection) = connection else { return };
    let mut differs = false;
    for (name, key, end) in [("FromID", "drawn_from", "from"), ("ToID", "drawn_to", "to")] {
        let Some(drawn) = connection.get(name) else { continue };
        let drawn = plant.lookup(drawn).map_or(drawn, |item| plant.items[item].id.as_str());
        if edge.get(end) != Some(&Json::text(drawn)) {
            edge.add(key, Json::text(drawn));
            differs = true;
        }
    }
    if differs {
        plant.builder.report(
            Finding::SignalEndsMismatch,
            format!("the signal line `{id}` is drawn between items other than those it connects"),
            &[id],
        );
    }
}

fn add_details(plant: &mut PlantImport<'_>, element: usize, edge: &mut Fields, path: Vec<Point>) {
    let persistent = plant.tree.named(element, "PersistentID").next().map(|(_, persistent_id)| persistent_id);
    edge.add_optional_text("persistent_id", persistent.and_then(|element| element.get("Identifier")));
    edge.add_optional_text("persistent_id_context", persistent.and_then(|element| element.get("Context")));
    if path.len() > 1 {
        edge.add("orig_path", Json::Array(path.iter().map(|point| Json::Array(point.json().into())).collect()));
    }
    let attributes = attributes::collect(plant, element);
    if !attributes.is_empty() {
        edge.add("attributes", Json::Array(attributes::to_json_list(attributes.into_iter())));
    }
}
