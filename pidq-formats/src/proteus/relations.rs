//! Associations → edges. They come in pairs that say the same from both sides; one edge is enough.

use std::collections::HashMap;

use crate::import::Finding;
use crate::xml::Element;

use super::kinds;
use super::plant::{Meaning, Plant};

/// What an association says, seen from the item that has it.
enum Says {
    /// Membership: the item is in the other, or the other is in it.
    In,
    Has,
    /// A relation by this name, from the item or towards it.
    To(&'static str),
    From(&'static str),
    /// An end of a signal line: read with the signal lines.
    Signal,
}

/// The words of the file, one row each.
const WORDS: &[(&str, Says)] = &[
    ("is a part of", Says::In),
    ("is a collection including", Says::Has),
    ("is located in", Says::To("association.is_located_in")),
    ("is the location of", Says::From("association.is_located_in")),
    ("is fulfilled by", Says::To("association.is_fulfilled_by")),
    ("fulfills", Says::From("association.is_fulfilled_by")),
    ("refers to", Says::To("association.refers_to")),
    ("is referenced by", Says::From("association.refers_to")),
    ("has logical start", Says::Signal),
    ("is logical start of", Says::Signal),
    ("has logical end", Says::Signal),
    ("is logical end of", Says::Signal),
];

/// Whether the words of a file are some: exporters write them with capitals or without.
pub fn is_word(words: &str, known: &str) -> bool {
    words.trim().eq_ignore_ascii_case(known)
}

/// Adds an edge for each relation.
pub fn add(plant: &mut Plant<'_>) {
    let short = short_ids(plant);
    for index in 0..plant.tree.elements.len() {
        let element = &plant.tree.elements[index];
        let Some(parent) = element.parent else { continue };
        match (element.name.as_str(), subject(plant, parent)) {
            ("Association", Some(own)) => add_association(plant, &own, element, &short),
            ("Association", None) => tell_lost(plant, parent, element),
            ("Connection", own) => add_connection(plant, own, parent, element),
            _ => {}
        }
    }
}

/// A relation of a signal line, or of nothing, has no node to begin at. Ends of signal lines were read before.
fn tell_lost(plant: &mut Plant<'_>, parent: usize, association: &Element) {
    let words = association.get("Type").unwrap_or("is associated with");
    if WORDS.iter().any(|(text, says)| is_word(words, text) && matches!(says, Says::Signal)) {
        return;
    }
    let it = &plant.tree.elements[parent];
    let id = it.get("ID").unwrap_or(&it.name).to_owned();
    let other = association.get("ItemID").or(association.get("TagName")).unwrap_or("nothing");
    plant.draft.find(Finding::UnresolvedMembership, format!("`{id}` {words} `{other}`, but is no node"), &[&id, other]);
}

/// A connection outside of segments and signal lines: of a line it is a pipe, of anything else a relation.
fn add_connection(plant: &mut Plant<'_>, own: Option<String>, parent: usize, connection: &Element) {
    let place = plant.tree.elements[parent].name.as_str();
    let is_signal = plant.becomes(parent) == Some(kinds::Use::Signal);
    if place == "PipingNetworkSegment" || is_signal {
        return;
    }
    let named =
        |name| connection.get(name).map(|id| plant.lookup(id).map_or(id, |item| &plant.items[item].id).to_owned());
    let [from, to] = ["FromID", "ToID"].map(|name| named(name).or(own.clone()));
    match (from, to) {
        (Some(from), Some(to)) if from != to && place == "PipingNetworkSystem" => {
            plant.relate("physically_connected_to", None, &from, &to);
        }
        (Some(from), Some(to)) if from != to => {
            plant.relate("associated_with", Some("association.is_connected_to"), &from, &to);
        }
        _ => {
            let message = format!("a connection of `{}` joins nothing", own.as_deref().unwrap_or(place));
            plant.draft.find(Finding::UnresolvedMembership, message, &[]);
        }
    }
}

/// What an association is about: the item around it. Those of signal lines are read with the lines.
fn subject(plant: &Plant<'_>, element: usize) -> Option<String> {
    if plant.becomes(element) == Some(kinds::Use::Signal) {
        return None;
    }
    let item = plant.item_of(element).or_else(|| plant.owner(element))?;
    Some(plant.items[item].id.clone())
}

fn add_association(plant: &mut Plant<'_>, own: &str, association: &Element, short: &HashMap<String, usize>) {
    let words = association.get("Type").unwrap_or("is associated with");
    let says = WORDS.iter().find(|(text, _)| is_word(words, text)).map(|(_, says)| says);
    if matches!(says, Some(Says::Signal)) {
        return;
    }
    let Some(other) = other(plant, own, association, words, short) else { return };
    match says {
        Some(Says::In) => plant.relate("has_a", None, &other, own),
        Some(Says::Has) => plant.relate("has_a", None, own, &other),
        Some(Says::To(class)) => plant.relate("associated_with", Some(class), own, &other),
        Some(Says::From(class)) => plant.relate("associated_with", Some(class), &other, own),
        _ => {
            let class = format!("association.{}", kinds::snake_case(words));
            plant.relate("associated_with", Some(&class), own, &other)
        }
    };
}

/// The id of the other side. Version 3.3 names it in `TagName`, by its tag or by its id without the first letters.
fn other(
    plant: &mut Plant<'_>,
    own: &str,
    association: &Element,
    words: &str,
    short: &HashMap<String, usize>,
) -> Option<String> {
    let by_id = association.get("ItemID");
    let by_tag = association.get("TagName");
    let Some(text) = by_id.or(by_tag) else {
        plant.draft.find(Finding::UnresolvedMembership, format!("`{own}` {words} nothing"), &[own]);
        return None;
    };
    let found = match plant.meaning(text) {
        Some(Meaning::Item(item)) => Some(item),
        _ => short.get(text).copied(),
    };
    if let Some(item) = found {
        return Some(plant.items[item].id.clone());
    }
    if let Some(Meaning::Signal(line)) = plant.meaning(text) {
        // A relation with a signal line is told by its id: edges have ids too.
        return plant.tree.elements[line].get("ID").map(str::to_owned);
    }
    let finding = if by_id.is_some() { Finding::DanglingReference } else { Finding::UnresolvedMembership };
    plant.draft.find(finding, format!("`{own}` {words} `{text}`, which is no item"), &[own, text]);
    by_id.map(str::to_owned)
}

/// Tags, and ids without their first two letters, where one item alone has them.
fn short_ids(plant: &Plant<'_>) -> HashMap<String, usize> {
    let mut all: HashMap<String, Option<usize>> = HashMap::new();
    for (index, item) in plant.items.iter().enumerate() {
        let short = item.id.get(2..).filter(|rest| rest.len() >= 8);
        for name in short.into_iter().chain(Some(item.tag.as_str()).filter(|tag| !tag.is_empty())) {
            all.entry(name.to_owned()).and_modify(|one| *one = None).or_insert(Some(index));
        }
    }
    all.into_iter().filter_map(|(name, item)| item.map(|item| (name, item))).collect()
}

/// The nodes of the items that a component of an actuating system operates: those that its sisters refer to.
pub fn operated_by(plant: &Plant<'_>, actuator: usize) -> Vec<usize> {
    let Some(system) = plant.items[actuator].parent else { return Vec::new() };
    if !plant.element(system).name.starts_with("Actuating") {
        return Vec::new();
    }
    let elements: Vec<usize> = plant.tree.children(plant.items[system].element).map(|(child, _)| child).collect();
    let references = elements.iter().flat_map(|element| plant.tree.named(*element, "Association"));
    let ids = references
        .filter(|(_, it)| it.get("Type").is_some_and(|words| is_word(words, "refers to")))
        .filter_map(|(_, it)| it.get("ItemID"));
    ids.filter_map(|id| plant.lookup(id)).collect()
}
