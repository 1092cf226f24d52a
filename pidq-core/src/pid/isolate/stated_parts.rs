//! Parts of a volume that only a field states and that no pipe connects: a valve on a line of the volume, a bypass valve of
//! a barrier, a nozzle in the list of its equipment. Their pipes may be missing.

use hashbrown::HashSet;

use super::parts::parent_of;
use super::{DataGap, Isolation};
use crate::error::Result;
use crate::graph::adjacency::{NONE, NodeId};
use crate::graph::config::{MAX_CLASS, Names};
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::snake_case::snake_case;
use crate::graph::tag_spelling;
use crate::graph::topology::{Direction, EdgeFilter};
use crate::graph::vocabulary;
use crate::graph::walk::Visitor;
use crate::pid::ChargeFn;
use crate::pid::stated_values::{plain_name, stated_fields};
use crate::value::{Value, write};

/// Name of a line or a segment: that of its node, or the text itself if the drawing has none.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
enum Group {
    Node(NodeId),
    Text(String),
}

/// Nozzles that a field of equipment lists.
#[derive(Debug, Default)]
struct ListedNozzles {
    names: Vec<String>,
    /// Number of nozzles that are not closed by a cover or a blind.
    count: usize,
}

impl Isolation<'_, '_> {
    /// Finds the valves and other items without a pipe that belong to a line of the volume or are a bypass of a barrier, and
    /// the nozzles that its equipment lists and the drawing lacks.
    pub(super) fn find_stated_parts<V: Visitor>(&mut self, visitor: &mut V) -> Result<()> {
        for equipment in self.inside.clone() {
            if self.lacks_nozzle(equipment, &mut |units| visitor.charge(units))? {
                self.gaps.push(DataGap { kind: "unconnected_nozzle", at: equipment, edge: NONE });
            }
        }
        let parts = self.parts;
        let loose = parts.without_pipes();
        if loose.is_empty() {
            return Ok(());
        }
        let lines = self.lines_of_volume(&mut |units| visitor.charge(units))?;
        for item in loose.iter().copied() {
            visitor.charge(1)?;
            if self.visited.contains(&item) {
                continue;
            }
            if groups_of(self.drawing, item).any(|line| lines.contains(&line)) {
                self.gaps.push(DataGap { kind: "free_port", at: item, edge: NONE });
            }
            for barrier in bypassed_items(self.drawing, item, &mut |units| visitor.charge(units))? {
                if self.barrier_of.contains_key(&barrier) {
                    self.note("unknown_part", barrier);
                }
            }
        }
        Ok(())
    }

    /// Returns the lines and segments that items and pipes of the volume name.
    fn lines_of_volume(&self, charge: ChargeFn<'_>) -> Result<HashSet<Group>> {
        let table = self.drawing.topology.table(EdgeFilter::Flow, Direction::Both);
        let mut lines = HashSet::new();
        for node in self.inside.iter().copied() {
            charge(1 + table.degree(node) as u64)?;
            lines.extend(groups_of(self.drawing, node));
            for edge in table.edges(node) {
                let names = [Names::Line, Names::Segment].into_iter();
                lines.extend(
                    names
                        .filter_map(|names| self.drawing.edge_field(*edge, names))
                        .map(|name| group(self.drawing, name)),
                );
            }
        }
        Ok(lines)
    }

    /// Returns whether a field of equipment lists a nozzle that the drawing lacks. In a list of other things, no name is that
    /// of a nozzle.
    fn lacks_nozzle(&self, equipment: NodeId, charge: ChargeFn<'_>) -> Result<bool> {
        let topology = &self.drawing.topology;
        if topology.roles[equipment as usize] != Role::Equipment {
            return Ok(false);
        }
        let Some(listed) = listed_nozzles(self.drawing, equipment) else { return Ok(false) };
        let mut nozzles: Vec<NodeId> = topology.ports.nodes(equipment).to_vec();
        nozzles.extend(self.parts.open_to(self.drawing, equipment, charge)?);
        charge((nozzles.len() + listed.names.len()) as u64)?;
        let known: Vec<String> = nozzles.iter().flat_map(|nozzle| names_of(self.drawing, *nozzle)).collect();
        let is_known = |name: &String| known.iter().any(|known| is_same_nozzle(known, name));
        if !known.is_empty() && !listed.names.is_empty() {
            let found = listed.names.iter().filter(|name| is_known(name)).count();
            return Ok(found > 0 && found < listed.names.len());
        }
        let connections = nozzles.len() + topology.flow_degree(equipment);
        Ok(connections > 0 && listed.count > connections)
    }
}

/// Returns whether two tags are those of a nozzle, of which one may have the tag of its equipment before it: `N2` and `V1N2`.
fn is_same_nozzle(a: &str, b: &str) -> bool {
    let (long, short) = if a.len() < b.len() { (b, a) } else { (a, b) };
    let ends_tag = |rest: &str| rest.ends_with(|c: char| c.is_ascii_digit() || !c.is_alphanumeric());
    long == short || short.starts_with(char::is_alphabetic) && long.strip_suffix(short).is_some_and(ends_tag)
}

/// Returns the tag and the id of a nozzle as they are compared.
fn names_of(drawing: &Drawing<'_>, nozzle: NodeId) -> impl Iterator<Item = String> {
    let id = write::to_string(drawing.id(nozzle));
    let tag = drawing.tag(nozzle).map(tag_spelling::normalized);
    tag.into_iter().chain([tag_spelling::normalized(id.trim_matches('"'))])
}

/// Returns the nozzles that equipment lists, by their names or their number.
fn listed_nozzles(drawing: &Drawing<'_>, equipment: NodeId) -> Option<ListedNozzles> {
    let fields = drawing.node(equipment).as_object()?;
    let value = |known: &[&str]| {
        let is_known = |name: &str| name.len() <= MAX_CLASS && known.contains(&plain_name(name).as_str());
        stated_fields(fields).find(|(name, _)| is_known(name)).map(|(_, stated)| stated.value)
    };
    if let Some(list) = value(vocabulary::NOZZLE_LISTS) {
        return Some(match list.as_array() {
            Some(list) => {
                let open: Vec<Value<'_>> = list.iter().filter(|nozzle| !is_covered(*nozzle)).collect();
                ListedNozzles { names: open.iter().filter_map(|nozzle| name_of(*nozzle)).collect(), count: open.len() }
            }
            None => ListedNozzles { names: Vec::new(), count: count_of(list) },
        });
    }
    value(vocabulary::NOZZLE_COUNTS).map(|number| ListedNozzles { names: Vec::new(), count: count_of(number) })
}

fn count_of(value: Value<'_>) -> usize {
    let number = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok());
    number.filter(|number| *number >= 0.0).map_or(0, |number| number as usize)
}

/// Returns the name of a nozzle in a list.
fn name_of(nozzle: Value<'_>) -> Option<String> {
    let name = match nozzle.as_object() {
        Some(fields) => ["tag", "name", "id", "nozzle", "number"].into_iter().find_map(|key| fields.get(key)?.as_str()),
        None => nozzle.as_str(),
    };
    name.map(tag_spelling::normalized).filter(|name| !name.is_empty())
}

/// Returns whether a nozzle in a list is closed by a cover or a blind.
fn is_covered(nozzle: Value<'_>) -> bool {
    let is_cover = |text: &str| {
        let words = snake_case(text);
        let is_closed = |word: &str| {
            matches!(word, "blind" | "blinded" | "blanked" | "capped" | "plugged")
                || vocabulary::UNUSED_NOZZLES.contains(&word)
                || vocabulary::COVERED_OPENING_CODES.contains(&word.trim_end_matches(char::is_numeric))
        };
        vocabulary::COVERED_OPENINGS.iter().any(|opening| words.contains(opening))
            || vocabulary::words_in(&words).flat_map(|word| word.split('_')).any(is_closed)
    };
    let fields = nozzle.as_object().into_iter().flat_map(|fields| fields.iter());
    fields.filter_map(|(_, value)| value.as_str()).chain(nozzle.as_str()).any(is_cover)
}

/// Returns the lines and segments that an item names.
fn groups_of<'d>(drawing: &'d Drawing<'_>, node: NodeId) -> impl Iterator<Item = Group> + 'd {
    let names = [Names::Line, Names::Segment].into_iter().filter_map(move |names| drawing.node_field(node, names));
    names.map(move |name| group(drawing, name))
}

fn group(drawing: &Drawing<'_>, name: Value<'_>) -> Group {
    let node = drawing.by_id(name).or_else(|| drawing.first_by_tag(name.as_str()?));
    node.map_or_else(|| Group::Text(write::to_string(name)), Group::Node)
}

/// Returns the items that a field of an item calls its line: `bypass_of: "HV-1"`.
fn bypassed_items(drawing: &Drawing<'_>, item: NodeId, charge: ChargeFn<'_>) -> Result<Vec<NodeId>> {
    let fields = drawing.node(item).as_object().into_iter().flat_map(stated_fields);
    let is_known =
        |name: &str| name.len() <= MAX_CLASS && vocabulary::BYPASS_REFERENCES.contains(&plain_name(name).as_str());
    let mut found = Vec::new();
    for (_, stated) in fields.filter(|(name, _)| is_known(name)) {
        found.extend(parent_of(drawing, stated.value, charge)?);
    }
    Ok(found)
}
