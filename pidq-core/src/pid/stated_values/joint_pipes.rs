//! Pipes between the connectors of joined sheets, which state nothing themselves: each has the values of a pipe that it joins.

use crate::graph::adjacency::EdgeId;
use crate::graph::drawing::Drawing;
use crate::graph::topology::{Direction, EdgeFilter};

/// Returns the pipe that a joint continues: the only other one at the connector from which it comes, or else at that to which
/// it leads. `None` for a pipe that is no joint.
pub(crate) fn continued(drawing: &Drawing<'_>, joint: EdgeId) -> Option<EdgeId> {
    let topology = &drawing.topology;
    if !topology.is_joint(joint) {
        return None;
    }
    let table = topology.table(EdgeFilter::Flow, Direction::Both);
    topology.flow_ends(joint).into_iter().find_map(|connector| {
        let mut pipes = table.edges(connector).iter().filter(|pipe| **pipe != joint);
        pipes.next().copied().filter(|_| pipes.next().is_none())
    })
}
