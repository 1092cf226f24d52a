//! Closed valves in the air of an actuator: between a solenoid valve and the actuator, or in the supply of the solenoid valve.
//!
//! A valve that is closed by hand there keeps the trip from moving its valve as drawn.

use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::drawing::Drawing;
use crate::graph::topology::{Direction, EdgeFilter};
use crate::pid::ChargeFn;
use crate::pid::instrument_class::air_lines;
use crate::pid::valve_state::drawn_closed::may_be_drawn_closed;
use crate::pid::valve_state::pipes::{PipeState, pipe_state};

/// Maximum number of items of the air of one actuator.
const MAX_ITEMS: usize = 32;

/// Returns whether a closed valve is in the air of one of some items.
pub(super) fn is_any_shut_off(drawing: &Drawing<'_>, items: &[NodeId], charge: ChargeFn<'_>) -> Result<bool> {
    for item in items {
        if shut_off_at(drawing, *item, charge)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the closed valve, or the item at a pipe that is closed or not there, in the air from or to an item that feeds an
/// actuator.
pub(crate) fn shut_off_at(drawing: &Drawing<'_>, node: NodeId, charge: ChargeFn<'_>) -> Result<Option<NodeId>> {
    charge(1)?;
    if air_lines::actuators(drawing, node).is_empty() {
        return Ok(None);
    }
    for direction in [Direction::Down, Direction::Up] {
        let table = drawing.topology.table(EdgeFilter::Flow, direction);
        let mut items = vec![node];
        let mut at = 0;
        while let Some(item) = items.get(at).copied() {
            at += 1;
            charge(1 + table.degree(item) as u64)?;
            for (next, pipe) in table.arcs(item) {
                if pipe_state(drawing, pipe) != PipeState::Open || may_be_drawn_closed(drawing, next) {
                    return Ok(Some(next));
                }
                if items.len() < MAX_ITEMS && !items.contains(&next) && air_lines::passes_air(drawing, next) {
                    items.push(next);
                }
            }
        }
    }
    Ok(None)
}
