//! Signal lines → edges. What a line joins is told by associations on either side; what it is drawn between, by its
//! connection. Where the two differ the first counts, and the second is kept beside it.

use std::collections::HashMap;

use crate::import::Finding;
use crate::json::{Fields, Json};
use crate::xml::Element;

use super::facts::{self, Point};
use super::kinds::{self, Use};
use super::plant::{Meaning, Plant};
use super::relations::is_word;

/// Adds an edge for every signal line.
pub fn add(plant: &mut Plant<'_>) {
    let told = told_by_items(plant);
    for element in 0..plant.tree.elements.len() {
        if plant.becomes(element) == Some(Use::Signal) {
            add_signal(plant, element, &told);
        }
    }
}

/// The item at an end of a line, by the element of the line and whether it is its start, as the items tell it.
type Told = HashMap<(usize, bool), String>;

fn told_by_items(plant: &Plant<'_>) -> Told {
    let mut told = Told::new();
    for (item, element) in plant.items.iter().map(|item| (item, item.element)) {
        for (_, association) in plant.tree.named(element, "Association") {
            let is_start = match association.get("Type") {
                Some(words) if is_word(words, "is logical start of") => true,
                Some(words) if is_word(words, "is logical end of") => false,
                _ => continue,
            };
            if let Some(Meaning::Signal(line)) = association.get("ItemID").and_then(|id| plant.meaning(id)) {
                told.entry((line, is_start)).or_insert_with(|| item.id.clone());
            }
        }
    }
    told
}

fn add_signal(plant: &mut Plant<'_>, element: usize, told: &Told) {
    let it = &plant.tree.elements[element];
    let id = signal_id(plant, element);
    let path = path(plant, element);
    let connection = plant.tree.named(element, "Connection").next().map(|(_, connection)| connection);
    let drawn = ["FromID", "ToID"].map(|name| connection.and_then(|connection| connection.get(name)));
    let joined = [true, false].map(|is_start| logical_end(plant, element, is_start, told));
    let mut edge = Fields::default();
    edge.add("id", Json::text(&id));
    edge.add("edge_type", Json::text("associated_with"));
    let class = it.get("ComponentClass").unwrap_or(&it.name);
    edge.add("edge_classification", Json::Text(format!("signal_line.{}", kinds::snake_case(class))));
    for (index, key) in ["from", "to"].into_iter().enumerate() {
        let wanted = joined[index].clone().or(drawn[index].map(str::to_owned));
        let tip = if index == 0 { path.first() } else { path.last() };
        let end = end(plant, &id, key, wanted, tip.cloned());
        edge.add(key, Json::Text(end));
    }
    edge.add("component_class", Json::text(class));
    edge.maybe_text("component_name", it.get("ComponentName"));
    edge.maybe_text("parent_id", plant.owner(element).map(|owner| plant.items[owner].id.as_str()));
    add_drawn(plant, &mut edge, connection, &id);
    add_details(plant, element, &mut edge, path);
    plant.draft.edges.push(edge);
}

fn signal_id(plant: &mut Plant<'_>, element: usize) -> String {
    // The first with an id owns it; a second one gets another, as items do.
    let own = plant.tree.elements[element].get("ID");
    match own.map(|id| plant.meaning(id)) {
        Some(Some(Meaning::Signal(first))) if first == element => own.unwrap_or_default().to_owned(),
        _ => {
            let id = plant.claim(element);
            plant.name(Some(&id), Meaning::Signal(element));
            id
        }
    }
}

fn path(plant: &Plant<'_>, element: usize) -> Vec<Point> {
    let lines = plant.tree.named(element, "CenterLine");
    lines.flat_map(|(line, _)| facts::polyline(plant.tree, line)).collect()
}

/// The item at an end: as the line tells it, and else as an item tells it.
fn logical_end(plant: &Plant<'_>, element: usize, is_start: bool, told: &Told) -> Option<String> {
    let word = if is_start { "has logical start" } else { "has logical end" };
    let mut own = plant
        .tree
        .named(element, "Association")
        .filter(|(_, it)| it.get("Type").is_some_and(|words| is_word(words, word)));
    let named = own.find_map(|(_, it)| it.get("ItemID")).map(str::to_owned);
    named.or_else(|| told.get(&(element, is_start)).cloned())
}

/// The id of the node at an end.
fn end(plant: &mut Plant<'_>, line: &str, word: &str, wanted: Option<String>, tip: Option<Point>) -> String {
    let Some(wanted) = wanted else {
        let id = plant.add_end(&format!("{line}-{word}"), "signal_end", tip);
        plant.draft.find(
            Finding::OpenSignal,
            format!("the signal line `{line}` joins nothing at `{word}`"),
            &[line, &id],
        );
        return id;
    };
    match plant.lookup(&wanted) {
        Some(item) => plant.items[item].id.clone(),
        None => {
            let message = format!("the signal line `{line}` joins `{wanted}`, which is no item");
            plant.draft.find(Finding::DanglingReference, message, &[line, &wanted]);
            wanted
        }
    }
}

/// The items that the line is drawn between, where they are not the ones it joins.
fn add_drawn(plant: &mut Plant<'_>, edge: &mut Fields, connection: Option<&Element>, id: &str) {
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
        plant.draft.find(
            Finding::DrawnOtherwise,
            format!("the signal line `{id}` is drawn between other items"),
            &[id],
        );
    }
}

fn add_details(plant: &mut Plant<'_>, element: usize, edge: &mut Fields, path: Vec<Point>) {
    let persistent = plant.tree.named(element, "PersistentID").next().and_then(|(_, it)| it.get("Identifier"));
    edge.maybe_text("persistent_id", persistent);
    if path.len() > 1 {
        edge.add("orig_path", Json::List(path.iter().map(|point| Json::List(point.json().into())).collect()));
    }
    let attributes = facts::attributes(plant, element);
    if !attributes.is_empty() {
        edge.add("attributes", Json::List(facts::records(attributes.into_iter())));
    }
}
