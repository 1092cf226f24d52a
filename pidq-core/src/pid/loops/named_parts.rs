//! Items of trips that only a field names: `interlock: "I-5"` at a valve, `trips: "XV-1"` at a switch.
//!
//! No signal is drawn, so that the trip is not certain; that it acts on the item is said nevertheless.

use hashbrown::{HashMap, HashSet};

use super::{protection, signals};
use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::config::MAX_CLASS;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::vocabulary;
use crate::pid::ChargeFn;
use crate::pid::stated_values::stated_fields;
use crate::pid::tag::Tag;
use crate::value::Value;

/// Limit of the names in one field.
const MAX_NAMES: usize = 32;

/// Items that fields name as parts of trips.
#[derive(Debug, Default)]
pub(crate) struct NamedParts {
    /// By instrument: the valves and machines that it acts on.
    targets: HashMap<NodeId, Vec<NodeId>>,
    /// Valves and machines that a field says to be moved by a trip.
    named: HashSet<NodeId>,
}

impl NamedParts {
    /// Finds the fields of the final elements with the tags of what moves them, and those of instruments with the tags of what
    /// they move.
    pub fn find(drawing: &Drawing<'_>, charge: ChargeFn<'_>) -> Result<NamedParts> {
        let mut found = NamedParts::default();
        for node in 0..drawing.topology.node_count() as u32 {
            charge(1)?;
            if signals::is_target(drawing, node) {
                let mut sources = named_items(drawing, node, vocabulary::CAUSE_FIELDS, charge)?;
                if protection::emergency_valve(drawing, node).is_some() {
                    sources.extend(named_items(drawing, node, vocabulary::DRIVE_FIELDS, charge)?);
                }
                for source in sources.into_iter().filter(|source| *source != Some(node)) {
                    found.named.insert(node);
                    found.add(drawing, source, node);
                }
            } else if signals::role(drawing, node) == Role::Instrument {
                let targets = named_items(drawing, node, vocabulary::EFFECT_TARGET_FIELDS, charge)?;
                for target in targets.into_iter().flatten().filter(|target| signals::is_target(drawing, *target)) {
                    found.named.insert(target);
                    found.add(drawing, Some(node), target);
                }
            }
        }
        Ok(found)
    }

    fn add(&mut self, drawing: &Drawing<'_>, source: Option<NodeId>, target: NodeId) {
        if let Some(source) = source.filter(|source| signals::role(drawing, *source) == Role::Instrument) {
            let targets = self.targets.entry(source).or_default();
            if !targets.contains(&target) {
                targets.push(target);
            }
        }
    }

    /// Returns the valves and machines that an instrument acts on by a field.
    pub fn targets(&self, source: NodeId) -> &[NodeId] {
        self.targets.get(&source).map_or(&[], Vec::as_slice)
    }

    /// Returns the valves and machines that a field says to be moved by a trip. Ascending.
    pub fn named(&self) -> Vec<NodeId> {
        let mut named: Vec<NodeId> = self.named.iter().copied().collect();
        named.sort_unstable();
        named
    }
}

/// Returns the items that the fields of an item with some names state by their ids or tags; `None` for the tag of a part of a
/// trip that is on no sheet.
fn named_items(
    drawing: &Drawing<'_>,
    node: NodeId,
    names: &[&str],
    charge: ChargeFn<'_>,
) -> Result<Vec<Option<NodeId>>> {
    let mut found = Vec::new();
    let fields = drawing.node(node).as_object().into_iter().flat_map(stated_fields);
    for (name, stated) in fields {
        if name.len() > MAX_CLASS || !vocabulary::contains_plain(names, name.trim()) {
            continue;
        }
        for text in texts(stated.value).take(MAX_NAMES) {
            charge(1)?;
            let nodes = drawing.by_tag(text);
            charge(nodes.len() as u64)?;
            let is_part = |node: &NodeId| {
                let role = signals::role(drawing, *node);
                role == Role::Instrument || signals::is_target(drawing, *node)
            };
            let mut parts = nodes.into_iter().chain(drawing.by_id(Value::String(text))).filter(is_part).peekable();
            if parts.peek().is_none() && states_protection(text) {
                found.push(None);
            }
            found.extend(parts.map(Some));
        }
    }
    Ok(found)
}

/// Returns whether the letters of a tag are those of a part of a trip.
fn states_protection(text: &str) -> bool {
    Tag::parse(text).is_some_and(|tag| tag.protection().is_some())
}

/// Returns the names in the text or the list of texts of a field.
fn texts<'a>(value: Value<'a>) -> impl Iterator<Item = &'a str> {
    let list = value.as_array().into_iter().flat_map(|list| list.iter());
    let texts = list.chain([value]).filter_map(|value| value.as_str()).filter(|text| text.len() <= MAX_CLASS);
    let parts = texts.flat_map(|text| std::iter::once(text).chain(text.split([',', ';', '/', '+', '\n'])));
    parts.map(str::trim).filter(|text| !text.is_empty())
}
