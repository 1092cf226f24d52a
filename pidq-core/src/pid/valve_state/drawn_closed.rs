//! Items that the drawing shows closed.

use super::closed_texts::says_closed;
use super::{BlindPosition, blind_position, is_closed};
use crate::graph::adjacency::NodeId;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;

/// Returns whether an item is drawn closed: a valve, a blind, or a blind flange between two pipes.
pub(crate) fn is_drawn_closed(drawing: &Drawing<'_>, node: NodeId) -> bool {
    match drawing.topology.roles[node as usize] {
        Role::Blind => blind_position(drawing, node) == BlindPosition::Closed,
        Role::PositiveBarrier => blind_position(drawing, node) != BlindPosition::Open,
        role => role.closes() && is_closed(drawing, node),
    }
}

/// Returns whether an item is drawn closed, or a text of it says so: `closed`, `LC`.
pub(crate) fn may_be_drawn_closed(drawing: &Drawing<'_>, node: NodeId) -> bool {
    is_drawn_closed(drawing, node) || drawing.topology.roles[node as usize].closes() && says_closed(drawing, node)
}
