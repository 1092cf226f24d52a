//! Items and pipes that may not be there, and what the drawing states about each.

use super::pipes::{PipeState, pipe_state};
use super::{Installation, groups, installation, may_say_absent};
use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::drawing::Drawing;
use crate::graph::topology::EdgeFlags;
use crate::graph::topology::absences::Absences;
use crate::pid::stated_values::name_scan::NameScan;

/// Items between two looks at whether the run is cancelled.
const CHECK_INTERVAL: u32 = 1024;

/// Returns the items and pipes of a drawing that may not be there. They are found once per network and charge no fuel,
/// like the network itself; `check` stops a run that is cancelled.
pub(crate) fn absences<'d>(drawing: &'d Drawing<'_>, check: &dyn Fn() -> Result<()>) -> Result<&'d Absences> {
    let topology = &drawing.topology;
    if let Some(known) = topology.absences.get() {
        return Ok(known);
    }
    let (mut nodes, mut pipes) = (Vec::new(), Vec::new());
    let (mut scan, mut texts) = (NameScan::new(topology.state_names()), NameScan::new(topology.text_names()));
    for node in 0..topology.node_count() as NodeId {
        if node % CHECK_INTERVAL == 0 {
            check()?;
        }
        let may_be_absent = scan.may_state(drawing.node(node))
            || texts.may_state(drawing.node(node)) && may_say_absent(drawing, drawing.node(node))
            || groups::installation_by_groups(drawing, node) != Installation::Installed;
        let is_absent = may_be_absent && installation(drawing, node) != Installation::Installed;
        nodes.extend(is_absent.then_some(node));
    }
    let (mut scan, mut texts) = (NameScan::new(topology.state_names()), NameScan::new(topology.text_names()));
    for pipe in topology.edges_of(EdgeFlags::FLOW) {
        if pipe % CHECK_INTERVAL == 0 {
            check()?;
        }
        // The line or the segment of the pipe may be one of the nodes.
        let edge = drawing.edge(pipe);
        let may_be_absent =
            !nodes.is_empty() || scan.may_state(edge) || texts.may_state(edge) && may_say_absent(drawing, edge);
        let is_absent = may_be_absent && pipe_state(drawing, pipe) != PipeState::Open;
        pipes.extend(is_absent.then(|| (pipe, topology.ends[pipe as usize])));
    }
    let counts = (topology.node_count(), topology.edge_count());
    Ok(topology.absences.get_or_init(|| Absences::new(counts, &nodes, &pipes)))
}
