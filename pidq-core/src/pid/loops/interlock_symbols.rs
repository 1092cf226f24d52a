//! Symbols of one interlock: drawings show it at its causes and at each of its effects, with the same number.

use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter, EdgeFlags};
use crate::graph::vocabulary;
use crate::pid::ChargeFn;
use crate::pid::instrument_class;
use crate::pid::tag::{Protection, Tag};

/// Returns the other symbols of the interlock that a node is one of. On joined sheets, each of which may have numbers of its own,
/// only a symbol without causes or without effects continues at another one.
pub(crate) fn others(drawing: &Drawing<'_>, node: NodeId, charge: ChargeFn<'_>) -> Result<Vec<NodeId>> {
    let Some(tag) = drawing.tag(node).filter(|_| is_symbol(drawing, node)) else { return Ok(Vec::new()) };
    let same = drawing.by_tag(tag);
    charge(1 + same.len() as u64)?;
    let topology = &drawing.topology;
    let has_signal = |symbol: NodeId, direction: Direction| {
        let mut edges = topology.table(EdgeFilter::All, direction).edges(symbol).iter();
        edges.any(|edge| topology.edge_flags[*edge as usize].contains(EdgeFlags::SIGNAL))
    };
    let is_one_sheet = !topology.all_flags.contains(EdgeFlags::JOINT);
    let continues =
        |other: &NodeId| is_one_sheet || !has_signal(node, Direction::Down) || !has_signal(*other, Direction::Up);
    Ok(same.into_iter().filter(|other| *other != node && is_symbol(drawing, *other) && continues(other)).collect())
}

/// Returns whether a node is the symbol of an interlock: the logic of a trip with a number, by its class or its letters.
fn is_symbol(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let is_numbered_trip = |tag: Tag| !tag.number.is_empty() && tag.protection() == Some(Protection::Trip);
    let has_number = |tag: Tag| !tag.number.is_empty();
    let tag = || drawing.tag(node).and_then(Tag::parse);
    drawing.topology.roles[node as usize] == Role::Instrument
        && !instrument_class::senses(drawing, node)
        && !instrument_class::is_by_hand(drawing, node)
        && match drawing.class_has_word(node, vocabulary::INTERLOCKS) {
            true => tag().is_some_and(has_number),
            false => {
                instrument_class::stage(drawing, node) == instrument_class::Stage::Logic
                    && tag().is_some_and(is_numbered_trip)
            }
        }
}
