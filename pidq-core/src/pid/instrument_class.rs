//! Function of an instrument by its class, its connections and its tag: sensing or acting.

use super::tag::Tag;
use crate::graph::adjacency::NodeId;
use crate::graph::config::{MAX_CLASS, Names};
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::snake_case::snake_case;
use crate::graph::topology::{Direction, EdgeFilter, EdgeFlags};

/// Returns whether an instrument moves something, by its class.
pub(crate) fn acts_by_class(drawing: &Drawing<'_>, node: NodeId) -> bool {
    has_word(drawing, node, &["actuat", "positioner"])
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
    if is_sensor_by_class(drawing, node) {
        return true;
    }
    let letters = drawing.tag(node).and_then(Tag::parse_letters).map(|tag| tag.split().1).unwrap_or_default();
    letters.iter().any(|letter| matches!(letter, 'T' | 'E'))
}

/// Returns whether an instrument senses, by its class.
pub(crate) fn is_sensor_by_class(drawing: &Drawing<'_>, node: NodeId) -> bool {
    has_word(drawing, node, &["sensor", "transmitter", "element", "signal_generating", "sensing"])
}

/// Returns whether a class of a node contains one of the words. Strings longer than a class are skipped, since scanning
/// them on each call would be too slow.
fn has_word(drawing: &Drawing<'_>, node: NodeId, words: &[&str]) -> bool {
    let object = drawing.node(node).as_object();
    let classes = drawing.topology.config.names(Names::Class).iter();
    let classes = classes.filter_map(|name| object?.get(name)?.as_str()).filter(|class| class.len() <= MAX_CLASS);
    classes.map(snake_case).any(|class| words.iter().any(|word| class.contains(word)))
}
