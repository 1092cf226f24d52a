//! Impulse lines: small pipes from the process to an instrument, which are no part of the piping.

use crate::graph::adjacency::{EdgeId, NodeId};
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter, EdgeFlags};
use crate::graph::vocabulary;
use crate::value::Value;

/// Returns whether a pipe is an impulse line, by its kind or class.
pub(crate) fn is_impulse_line(drawing: &Drawing<'_>, pipe: EdgeId) -> bool {
    let words = [Names::EdgeKind, Names::EdgeClass].into_iter().filter_map(|names| drawing.edge_field(pipe, names));
    drawing.topology.edge_flags[pipe as usize].contains(EdgeFlags::FLOW)
        && words.filter_map(Value::as_str).any(|word| vocabulary::contains_plain(vocabulary::IMPULSE_LINES, word))
}

/// Returns whether an item is an instrument at the end of impulse lines.
pub(crate) fn ends_impulse_line(drawing: &Drawing<'_>, item: NodeId) -> bool {
    let topology = &drawing.topology;
    let pipes = topology.table(EdgeFilter::Flow, Direction::Both).edges(item);
    topology.roles[item as usize] == Role::Instrument
        && !pipes.is_empty()
        && pipes.iter().all(|pipe| is_impulse_line(drawing, *pipe))
}
