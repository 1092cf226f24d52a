//! Sides of equipment: whether two of its ports are open to each other, as far as the drawing states it.
//!
//! A walk that keeps to the sides of equipment continues from port to port if both name the same side, or both name
//! none. Ports without a side may still be on different ones: those of an exchanger, or of a vessel with chambers.

use super::adjacency::{NONE, NodeId};
use super::config::Names;
use super::drawing::Drawing;
use super::node_memo::Property;
use super::roles::Role;
use super::snake_case::snake_case;
use super::topology::{Direction, EdgeFilter, EdgeFlags};
use super::vocabulary;
use crate::error::Result;
use crate::value::Value;

/// Limit of a text in bytes; a longer one is not read.
const MAX_TEXT: usize = 1024;

/// Returns whether the drawing leaves open that two ports of equipment are on the same side. `may_have_several` tells
/// whether ports without a side may be on different ones.
pub(crate) fn is_unstated([from, to]: [u32; 2], may_have_several: bool) -> bool {
    match (from == NONE, to == NONE) {
        (false, false) => false,
        _ => may_have_several,
    }
}

impl Drawing<'_> {
    /// Returns whether ports of equipment without a side may be on different ones: another port names a side, it has
    /// several chambers, is of unknown kind, such as a package unit, or it has more than two pipes or nozzles and is an
    /// exchanger, or a text names a jacket or a coil. Beside a jacket with nozzles of its own, the others are those of the vessel.
    pub fn may_have_several_sides(&self, equipment: NodeId, charge: &mut dyn FnMut(u64) -> Result<()>) -> Result<bool> {
        let topology = &self.topology;
        let ports = topology.ports.nodes(equipment);
        charge(1 + ports.len() as u64)?;
        if ports.iter().any(|port| topology.zone(*port) != NONE) {
            return Ok(!self.has_jacket_apart(equipment));
        }
        let pipes = topology.flow_degree(equipment);
        let count = pipes + ports.iter().filter(|port| topology.flow_degree(**port) > 0).count();
        // A nozzle without a pipe does not say that the other two are on one side.
        let nozzles = ports.iter().filter(|port| topology.roles[**port as usize] == Role::Port).count();
        let is_exchanger = || {
            self.class_has(equipment, vocabulary::EXCHANGERS) && !self.class_has(equipment, vocabulary::SINGLE_SIDED)
                || self.class_has(equipment, vocabulary::FIRED)
        };
        Ok(count > 1
            && (self.is_of_unknown_kind(equipment)
                || count.max(nozzles) > 2 && (is_exchanger() || self.is_said_to_have_several_sides(equipment))
                || self.chamber_count(equipment, charge)? > 1))
    }

    /// Returns whether each stated side of a vessel is a jacket, a coil or the like with an inlet and an outlet of its own, and no
    /// other nozzle is named after one.
    fn has_jacket_apart(&self, equipment: NodeId) -> bool {
        let topology = &self.topology;
        let ports = topology.ports.nodes(equipment);
        let is_exchanger =
            self.class_has(equipment, vocabulary::EXCHANGERS) || self.class_has(equipment, vocabulary::FIRED);
        let is_jacket = |side: NodeId| {
            let piped = ports.iter().filter(|port| topology.zone(**port) == side && topology.flow_degree(**port) > 0);
            (side as usize) < topology.node_count()
                && self.class_has(side, vocabulary::SECOND_SIDES)
                && piped.count() > 1
        };
        !is_exchanger
            && ports.iter().all(|port| match topology.zone(*port) {
                NONE => !self.names_second_side(*port, vocabulary::SECOND_SIDES_AT_NOZZLES),
                side => is_jacket(side),
            })
    }

    /// Returns whether a text of equipment or of one of its nozzles names a second space behind a wall: `jacketed reactor`,
    /// `with internal condenser`, `jacket steam inlet`; or a mark such as `jacket: true`.
    fn is_said_to_have_several_sides(&self, equipment: NodeId) -> bool {
        let read = || {
            let is_at_nozzle = |words: &[&str]| {
                let mut ports = self.topology.ports.nodes(equipment).iter();
                ports.any(|port| self.names_second_side(*port, words))
            };
            let has_shell = || {
                is_at_nozzle(&["shell"])
                    && (!self.class_ends_with_word(equipment, vocabulary::SINGLE_SHELLS) || is_at_nozzle(&["tube"]))
            };
            let is_storage = self.class_ends_with_word(equipment, vocabulary::STORAGE);
            self.names_second_side(equipment, vocabulary::SECOND_SIDES)
                || !is_storage && self.names_second_side(equipment, vocabulary::SECOND_WALLS)
                || is_at_nozzle(vocabulary::SECOND_SIDES_AT_NOZZLES)
                || has_shell()
        };
        self.topology.memos.is_or_compute(Property::IsSaidTwoSided, equipment, read)
    }

    /// Returns whether a text of a node has one of some words, or a field with the name of one is true.
    fn names_second_side(&self, node: NodeId, words: &[&str]) -> bool {
        const TEXTS: [Names; 6] =
            [Names::Class, Names::ComponentName, Names::Description, Names::Remarks, Names::Service, Names::Tag];
        let Some(object) = self.node(node).as_object() else { return false };
        let has_word = |text: &str| {
            let text = snake_case(text);
            words.iter().any(|word| text.contains(word))
        };
        object.iter().any(|(key, value)| match value {
            Value::Bool(is_there) => is_there && vocabulary::SECOND_SIDE_MARKS.contains(&key),
            Value::String(text) => {
                (key == "side" || self.topology.config.is_key(&TEXTS, key)) && text.len() <= MAX_TEXT && has_word(text)
            }
            _ => false,
        })
    }

    /// Returns whether the class of equipment does not say which kind it is: an assembly, or no noun of a list. A class that
    /// the drawing declares itself is known.
    pub fn is_of_unknown_kind(&self, equipment: NodeId) -> bool {
        let is_declared = || self.class_texts(equipment).any(|class| self.topology.config.is_declared(class));
        self.class_has_word(equipment, vocabulary::ASSEMBLIES) || !self.has_known_kind(equipment) && !is_declared()
    }

    /// Returns the number of chambers that are parts of equipment.
    fn chamber_count(&self, equipment: NodeId, charge: &mut dyn FnMut(u64) -> Result<()>) -> Result<usize> {
        let topology = &self.topology;
        let table = topology.table(EdgeFilter::All, Direction::Both);
        charge((table.degree(equipment) + topology.field_parts(equipment).count()) as u64)?;
        let is_part = |edge: u32| {
            let flags = topology.edge_flags[edge as usize];
            [EdgeFlags::PART, EdgeFlags::MEMBER, EdgeFlags::MEMBER_REVERSED].iter().any(|flag| flags.contains(*flag))
        };
        let by_edge = table.arcs(equipment).filter(|(_, edge)| is_part(*edge)).map(|(node, _)| node);
        let mut chambers: Vec<NodeId> = by_edge
            .chain(topology.field_parts(equipment))
            .filter(|node| topology.flow_degree(*node) == 0 && self.class_has_word(*node, vocabulary::CHAMBERS))
            .collect();
        chambers.sort_unstable();
        chambers.dedup();
        Ok(chambers.len())
    }
}
