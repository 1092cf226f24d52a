//! Actuation of valves as the drawing states it: by fields, by signals, by parts, or by the tag.

use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NodeId};
use crate::graph::config::{MAX_CLASS, Names};
use crate::graph::drawing::Drawing;
use crate::graph::roles::{self, Role, TagLetters};
use crate::graph::snake_case::snake_case;
use crate::graph::topology::{Direction, EdgeFilter, EdgeFlags};
use crate::graph::vocabulary;
use crate::pid::instrument_class::{self, LoopFunction};
use crate::pid::tag::Tag;
use crate::pid::{ChargeFn, valve_state};

/// Returns whether a valve has an actuator: its fields say so, an instrument sends it a signal, or an actuator or a
/// solenoid belongs to it or is located on it.
pub(super) fn is_actuated(drawing: &Drawing<'_>, node: NodeId, charge: ChargeFn<'_>) -> Result<bool> {
    let topology = &drawing.topology;
    let table = topology.table(EdgeFilter::All, Direction::Both);
    charge(1 + table.degree(node) as u64)?;
    let has =
        |edge: EdgeId, flags: &[EdgeFlags]| flags.iter().any(|flag| topology.edge_flags[edge as usize].contains(*flag));
    let is_acting = |(from, edge): (NodeId, EdgeId)| {
        topology.roles[from as usize] == Role::Instrument
            && has(edge, &[EdgeFlags::SIGNAL])
            && !has(edge, &[EdgeFlags::ZONE])
            && instrument_class::loop_function(drawing, from) != LoopFunction::Measures
    };
    let is_connected_drive = |(other, edge): (NodeId, EdgeId)| {
        has(edge, &[EdgeFlags::PART, EdgeFlags::MEMBER, EdgeFlags::MEMBER_REVERSED, EdgeFlags::ZONE])
            && is_drive(drawing, other)
    };
    Ok(valve_state::is_stated_as_actuated(drawing, node)
        || is_described_as_actuated(drawing, node)
        || topology.table(EdgeFilter::All, Direction::Up).arcs(node).any(is_acting)
        || table.arcs(node).any(is_connected_drive)
        || topology.field_members(node).iter().any(|part| is_drive(drawing, *part)))
}

/// Returns whether an item moves a valve other than by hand, by its class.
fn is_drive(drawing: &Drawing<'_>, node: NodeId) -> bool {
    drawing.class_has(node, vocabulary::VALVE_DRIVES) && !drawing.class_has(node, vocabulary::HAND_DRIVES)
}

/// Returns whether a text that describes a valve names a drive.
fn is_described_as_actuated(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let object = drawing.node(node).as_object();
    let names = drawing.topology.config.names(Names::Description).iter();
    let mut texts = names.filter_map(|name| object?.get(name)?.as_str()).filter(|text| text.len() <= MAX_CLASS);
    texts.any(|text| vocabulary::VALVE_DRIVES.iter().any(|word| snake_case(text).contains(word)))
}

/// Returns what the letters of the tag of a valve say about it.
pub(super) fn tag_letters(drawing: &Drawing<'_>, node: NodeId) -> TagLetters {
    let Some(text) = drawing.tag(node) else { return TagLetters::HandValve };
    match Tag::parse(text).map_or(TagLetters::HandValve, |tag| roles::tag_letters(&tag.letters)) {
        TagLetters::HandValve if roles::names_check_valve(text) => TagLetters::SelfActing,
        letters => letters,
    }
}
