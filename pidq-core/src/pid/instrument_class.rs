//! Function of an instrument by its class, its connections and its tag: sensing or acting.

use super::tag::Tag;
use crate::graph::adjacency::NodeId;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter, EdgeFlags};
use crate::graph::vocabulary;

/// Function of an instrument in its loop, by its class and its tag.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum LoopFunction {
    /// It senses, transmits, shows, records or reports, and moves nothing.
    Measures,
    /// It controls, switches, computes or moves a final element.
    Acts,
    Unknown,
}

/// Returns the function of an instrument in its loop.
pub(crate) fn loop_function(drawing: &Drawing<'_>, node: NodeId) -> LoopFunction {
    if acts_by_class(drawing, node) {
        return LoopFunction::Acts;
    }
    if is_sensor_by_class(drawing, node) {
        return LoopFunction::Measures;
    }
    if drawing.class_has_word(node, vocabulary::CONTROLLERS) {
        return LoopFunction::Acts;
    }
    let by_letters = drawing.tag(node).and_then(Tag::parse_letters).as_ref().map(function_of_letters);
    match by_letters {
        Some(function) if function != LoopFunction::Unknown => function,
        _ if drawing.class_has(node, vocabulary::DISPLAYS) => LoopFunction::Measures,
        _ => LoopFunction::Unknown,
    }
}

fn function_of_letters(tag: &Tag) -> LoopFunction {
    let (modifier, functions) = tag.split();
    let has = |letters: &str| functions.iter().any(|letter| letters.contains(*letter));
    let acts = match () {
        () if functions.is_empty() && tag.protection().is_none() => return LoopFunction::Unknown,
        () if functions.is_empty() => true,
        // The letters of a position are those of limit switches: ZSO, ZSC.
        () if tag.letters.starts_with('Z') => has("V") || has("C") && !has("S"),
        // PZA switches in IEC 62424; PZT transmits.
        () if modifier == Some('Z') => !has("TE") || has("CKSUVXYZ"),
        () => has("CKSUVXYZ"),
    };
    if acts { LoopFunction::Acts } else { LoopFunction::Measures }
}

/// Returns whether an instrument moves something, by its class.
pub(crate) fn acts_by_class(drawing: &Drawing<'_>, node: NodeId) -> bool {
    drawing.class_has(node, vocabulary::ACTUATORS)
}

/// Returns whether an instrument senses: by its pipe or a signal from the process, by its class, or by a letter of its
/// tag.
pub(crate) fn senses(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let topology = &drawing.topology;
    let is_process = |other: NodeId| {
        let role = topology.roles[other as usize];
        role != Role::Instrument && !role.closes() && (topology.flow_degree(other) > 0 || topology.is_equipment(other))
    };
    let mut signals = topology.table(EdgeFilter::All, Direction::Up).arcs(node);
    let is_signaled = signals
        .any(|(other, edge)| topology.edge_flags[edge as usize].contains(EdgeFlags::SIGNAL) && is_process(other));
    // Drawings without separate sensors connect the instrument itself to the process.
    if is_signaled || topology.flow_degree(node) > 0 {
        return true;
    }
    is_transmitter(drawing, node)
}

/// Returns whether an instrument senses or transmits, by its class or by a letter of its tag.
pub(crate) fn is_transmitter(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let letters = || drawing.tag(node).and_then(Tag::parse_letters).map(|tag| tag.split().1).unwrap_or_default();
    is_sensor_by_class(drawing, node) || letters().iter().any(|letter| matches!(letter, 'T' | 'E'))
}

/// Returns whether an instrument senses, by its class.
pub(crate) fn is_sensor_by_class(drawing: &Drawing<'_>, node: NodeId) -> bool {
    drawing.class_has(node, vocabulary::SENSORS)
}
