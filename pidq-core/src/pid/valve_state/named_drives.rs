//! Actuators, solenoid valves and motors that only a field ties to their valve: `attached_to: "XV-1"` at an actuator.

use hashbrown::HashMap;

use crate::graph::adjacency::NodeId;
use crate::graph::config::{MAX_CLASS, Names};
use crate::graph::drawing::Drawing;
use crate::graph::tag_spelling;
use crate::graph::vocabulary;
use crate::pid::stated_values::{plain_name, stated_fields};
use crate::value::Value;

/// Parts of the classes of items that move a valve, or that stand for the valve which an actuating system moves (DEXPI).
pub(super) const FINAL_ELEMENTS: &[&str] = &["final_control_element", "final_element", "operated_valve_reference"];

/// Limit of the names in one field.
const MAX_NAMES: usize = 32;

/// Returns the drives that name an item, a valve or another drive, by its id or its tag. A tag of several valves means
/// each of them: which one is moved is not known.
pub(super) fn named_drives<'d>(drawing: &'d Drawing<'_>, item: NodeId) -> impl Iterator<Item = NodeId> + 'd {
    let pairs = drawing.topology.named_drives.get_or_init(|| collect(drawing));
    let first = pairs.partition_point(|[valve, _]| *valve < item);
    pairs[first..].iter().take_while(move |[valve, _]| *valve == item).map(|[_, drive]| *drive)
}

/// Returns whether an item moves a valve other than by hand, by its class.
pub(crate) fn is_drive(drawing: &Drawing<'_>, node: NodeId) -> bool {
    (drawing.class_has(node, vocabulary::VALVE_DRIVES) || drawing.class_has(node, FINAL_ELEMENTS))
        && !drawing.class_has(node, vocabulary::HAND_DRIVES)
}

/// Finds the items that drives name, with the drives.
fn collect(drawing: &Drawing<'_>) -> Box<[[NodeId; 2]]> {
    let mut tags = None;
    let mut found = Vec::new();
    for drive in 0..drawing.topology.node_count() as NodeId {
        let names = named_by(drawing, drive);
        if names.is_empty() || !is_drive(drawing, drive) {
            continue;
        }
        let tags = tags.get_or_insert_with(|| items_by_tag(drawing));
        for name in names {
            let by_tag = name.as_str().and_then(|tag| tags.get(&tag_spelling::normalized(tag)));
            let by_tag = by_tag.map_or(&[][..], Vec::as_slice).iter().copied();
            let items = drawing.by_id(name).into_iter().chain(by_tag).filter(|item| *item != drive);
            found.extend(items.map(|item| [item, drive]));
        }
    }
    found.sort_unstable();
    found.dedup();
    found.into()
}

/// Returns the ids and tags in the fields of an item for what it belongs to or moves.
fn named_by<'a>(drawing: &Drawing<'a>, node: NodeId) -> Vec<Value<'a>> {
    let config = &drawing.topology.config;
    let is_known = |name: &str| {
        let word = plain_name(name);
        let is_owner = [Names::Parent, Names::Owner].iter().any(|names| config.words_of(*names).contains(&word));
        is_owner || vocabulary::DRIVEN_VALVE_FIELDS.contains(&word.as_str())
    };
    let fields = drawing.node(node).as_object().into_iter().flat_map(stated_fields);
    let fields = fields.filter(|(name, _)| name.len() <= MAX_CLASS && is_known(name));
    fields.flat_map(|(_, stated)| names_in(stated.value)).take(MAX_NAMES).collect()
}

/// Returns the names in a value: a text with one or several, a number, an object with an id or a tag, or a list of these.
fn names_in(value: Value<'_>) -> Vec<Value<'_>> {
    if let Some(list) = value.as_array() {
        return list.iter().filter(|item| item.as_array().is_none()).take(MAX_NAMES).flat_map(names_in).collect();
    }
    if let Some(object) = value.as_object() {
        let names = ["id", "tag"].into_iter().filter_map(|key| object.get(key));
        return names.filter(|name| name.as_str().is_some() || name.as_f64().is_some()).collect();
    }
    let Some(text) = value.as_str().filter(|text| text.len() <= MAX_CLASS) else { return vec![value] };
    let parts = text.split([',', ';', '/', '+', '&', '\n']).map(str::trim).filter(|part| part.len() < text.len());
    std::iter::once(text).chain(parts).filter(|part| !part.is_empty()).map(Value::String).collect()
}

/// Returns valves and drives by their tags, in the spelling that all tags share which differ only in case, blanks and hyphens.
fn items_by_tag(drawing: &Drawing<'_>) -> HashMap<String, Vec<NodeId>> {
    let mut found: HashMap<String, Vec<NodeId>> = HashMap::new();
    for node in 0..drawing.topology.node_count() as NodeId {
        let is_moved = || drawing.topology.roles[node as usize].closes() || is_drive(drawing, node);
        if let Some(tag) = drawing.tag(node).filter(|tag| tag.len() <= MAX_CLASS && is_moved()) {
            let tag = tag_spelling::normalized(tag);
            if !tag.is_empty() {
                found.entry(tag).or_default().push(node);
            }
        }
    }
    found
}
