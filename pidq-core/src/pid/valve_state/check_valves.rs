//! Check valves: the direction in which they open, and the spindle that may hold one shut.

use super::texts;
use crate::graph::adjacency::NodeId;
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::snake_case::snake_case;
use crate::graph::topology::{Direction, EdgeFilter};
use crate::graph::vocabulary;

/// Returns whether an item is a check valve that opens for a flow from one of its two neighbors; `None` if it is none, or the
/// drawing does not state the directions of its pipes.
pub(crate) fn opens_from(drawing: &Drawing<'_>, valve: NodeId, before: NodeId) -> Option<bool> {
    let topology = &drawing.topology;
    if topology.roles[valve as usize] != Role::OneWay || topology.flow_degree(valve) != 2 {
        return None;
    }
    let single = |direction| match topology.table(EdgeFilter::Flow, direction).nodes(valve) {
        [only] => Some(*only),
        _ => None,
    };
    let (inlet, outlet) = (single(Direction::Up)?, single(Direction::Down)?);
    let mut pipes = topology.table(EdgeFilter::Flow, Direction::Both).arcs(valve);
    if inlet == outlet || pipes.any(|(_, pipe)| topology.is_assumed(pipe)) {
        return None;
    }
    match before {
        before if before == inlet => Some(true),
        before if before == outlet => Some(false),
        _ => None,
    }
}

/// Returns whether a check valve is a stop check valve, whose disc a spindle may hold shut.
pub(crate) fn has_handwheel(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let names_it = |text: &str| {
        let text = snake_case(text);
        vocabulary::STOP_CHECKS.iter().any(|words| text.contains(words))
    };
    let texts = [Names::Description, Names::ComponentName].map(|names| texts(drawing, node, names));
    drawing.class_has(node, vocabulary::STOP_CHECKS) || texts.into_iter().flatten().any(names_it)
}
