//! Uncertainties of a relief path that nothing closes: pipes whose direction is not that of the relief flow, edges that may be
//! pipes.

use hashbrown::HashSet;

use super::ReliefPath;
use super::items::{Cause, Flow};
use super::reasons::Reason;
use super::side_search::Start;
use super::sides::SideKind;
use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::drawing::Drawing;
use crate::graph::topology::{Direction, EdgeFilter, EdgeFlags};
use crate::pid::ChargeFn;
use crate::pid::valve_state::unknown_edges::unknown_connections;

impl ReliefPath {
    /// Adds the first pipe of the path of a side, between items at some positions, that has no direction or runs against the
    /// relief flow. Those at the device itself tell its sides.
    pub(super) fn add_directions(
        &mut self,
        drawing: &Drawing<'_>,
        start: &Start,
        path: &[NodeId],
        positions: &[usize],
        charge: ChargeFn<'_>,
    ) -> Result<()> {
        if start.flow == Flow::Unknown {
            return Ok(());
        }
        for pair in positions.windows(2).filter(|pair| pair[0] + 1 == pair[1]) {
            let [near, far] = [path[pair[0]], path[pair[1]]];
            // Behind a branch, the pipe to what an inlet protects may run either way.
            if start.flow == Flow::ToDevice && drawing.topology.flow_degree(near) > 2 {
                break;
            }
            let along = if start.flow == Flow::FromDevice { [near, far] } else { [far, near] };
            if !has_pipe(drawing, along, charge)? {
                self.add(drawing, start.reason(Cause::PipeDirection, &path[..=pair[1]], true));
                break;
            }
        }
        Ok(())
    }

    /// Adds that the device has an edge of unknown kind to an item, which may be a pipe.
    pub(super) fn add_unknown_connection(&mut self, drawing: &Drawing<'_>, charge: ChargeFn<'_>) -> Result<()> {
        let has_any = drawing.topology.all_flags.contains(EdgeFlags::UNKNOWN);
        if has_any && !unknown_connections(drawing, self.device, &HashSet::new(), charge)?.is_empty() {
            let reason = Reason::of_device(self.device, Cause::UnknownConnection, SideKind::Either);
            self.add(drawing, Reason { path: vec![self.device], ..reason });
        }
        Ok(())
    }
}

/// Returns whether a pipe states that it runs from an item to another one.
fn has_pipe(drawing: &Drawing<'_>, [from, to]: [NodeId; 2], charge: ChargeFn<'_>) -> Result<bool> {
    let topology = &drawing.topology;
    let [down, up] = [Direction::Down, Direction::Up].map(|direction| topology.table(EdgeFilter::Flow, direction));
    // A header may have many pipes.
    let (table, near, far) = if up.degree(to) < down.degree(from) { (up, to, from) } else { (down, from, to) };
    charge(1 + table.degree(near) as u64)?;
    Ok(table.arcs(near).any(|(other, edge)| other == far && !topology.is_assumed(edge)))
}
