//! Ways without a valve around a safeguard, through pipes and vessels.
//!
//! Lines with valves meet in some header or drum of every plant, so a way through equipment counts only if nothing on it
//! can close. They are found for all safeguards of a drawing at once.

use std::cell::OnceCell;

use hashbrown::HashSet;

use super::inner_valves::{has_one_direction, passive_kind};
use super::partition::Partition;
use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter, EdgeFlags};
use crate::pid::ChargeFn;
use crate::pid::dead_ends::neighbors;
use crate::pid::isolate::measures_flow;
use crate::pid::valve_state::drawn_closed::is_drawn_closed;
use crate::pid::valve_state::pipes::{PipeState, pipe_state};
use crate::pid::valve_state::unknown_edges::unknown_connections;
use crate::pid::valve_state::{BlindPosition, blind_position, is_locked_open, is_not_installed};

/// Ways of a drawing on which nothing can close. They are found when the first item is looked at.
#[derive(Debug, Default)]
pub(crate) struct OpenWays {
    /// By node: the part of the plant that such ways connect.
    parts: OnceCell<Vec<u32>>,
    /// Parts that a check valve joins in one direction: that at its inlet and that at its outlet.
    one_way: OnceCell<HashSet<[u32; 2]>>,
}

impl OpenWays {
    /// Returns whether such a way leads around an item with two pipes, from one end of its line to the other.
    pub fn lead_around(&self, drawing: &Drawing<'_>, node: NodeId, charge: ChargeFn<'_>) -> Result<bool> {
        let part_of = self.part_of(drawing, charge)?;
        let mut parts = Vec::new();
        for next in neighbors(drawing, node, charge)? {
            let end = line_end(drawing, [node, next], charge)?;
            parts.extend(end.map(|end| part_of[end as usize]));
        }
        parts.sort_unstable();
        Ok(parts.windows(2).any(|pair| pair[0] == pair[1]))
    }

    /// Returns whether such a way leads back around a check valve through another one, which opens from its outlet to its
    /// inlet.
    pub fn lead_back(&self, drawing: &Drawing<'_>, node: NodeId, charge: ChargeFn<'_>) -> Result<bool> {
        let topology = &drawing.topology;
        let part_of = self.part_of(drawing, charge)?;
        let one_way = match self.one_way.get() {
            Some(known) => known,
            None => {
                let found = find_one_way(drawing, part_of, charge)?;
                self.one_way.get_or_init(|| found)
            }
        };
        let beside = |side| topology.table(EdgeFilter::Flow, side).nodes(node).first().copied();
        let (Some(inlet), Some(outlet)) = (beside(Direction::Up), beside(Direction::Down)) else { return Ok(false) };
        let ends = [line_end(drawing, [node, outlet], charge)?, line_end(drawing, [node, inlet], charge)?];
        let [Some(from), Some(to)] = ends else { return Ok(false) };
        let [from, to] = [from, to].map(|end| part_of[end as usize]);
        Ok(from != to && one_way.contains(&[from, to]))
    }

    fn part_of(&self, drawing: &Drawing<'_>, charge: ChargeFn<'_>) -> Result<&[u32]> {
        if let Some(known) = self.parts.get() {
            return Ok(known);
        }
        let found = find_parts(drawing, charge)?;
        Ok(self.parts.get_or_init(|| found))
    }
}

/// Returns the parts that check valves with a pipe into them and one out of them join.
fn find_one_way(drawing: &Drawing<'_>, part_of: &[u32], charge: ChargeFn<'_>) -> Result<HashSet<[u32; 2]>> {
    let topology = &drawing.topology;
    charge(topology.node_count() as u64)?;
    let is_check_valve = |node: &NodeId| {
        topology.roles[*node as usize] == Role::OneWay
            && has_one_direction(drawing, *node)
            && !is_not_installed(drawing, *node)
    };
    let beside = |node, side| topology.table(EdgeFilter::Flow, side).nodes(node).first().copied();
    let ends = |node| Some([beside(node, Direction::Up)?, beside(node, Direction::Down)?]);
    let valves = (0..topology.node_count() as NodeId).filter(is_check_valve);
    Ok(valves.filter_map(ends).map(|ends| ends.map(|end| part_of[end as usize])).collect())
}

/// Returns by node the part of a plant in which nothing can close.
fn find_parts(drawing: &Drawing<'_>, charge: ChargeFn<'_>) -> Result<Vec<u32>> {
    let topology = &drawing.topology;
    let nodes = 0..topology.node_count() as NodeId;
    let stops: Vec<bool> = nodes.clone().map(|node| stops(drawing, node)).collect();
    let is_stop = |node: NodeId| stops[node as usize];
    let is_there = |pipe| !matches!(pipe_state(drawing, pipe), PipeState::NotInstalled | PipeState::Closed);
    let mut partition = Partition::along(drawing, is_stop, is_there, charge)?;
    // An edge of unknown kind may be a pipe.
    let unknown = topology.edges_of(EdgeFlags::UNKNOWN).map(|edge| (edge, topology.ends[edge as usize]));
    for (edge, ends) in unknown.filter(|(_, ends)| !ends.iter().any(|end| is_stop(*end))) {
        for [from, to] in [ends, [ends[1], ends[0]]] {
            if unknown_connections(drawing, from, &HashSet::new(), charge)?.contains(&edge) {
                partition.join(from, to);
            }
        }
    }
    Ok(nodes.map(|node| partition.root_of(drawing, node)).collect())
}

/// Returns whether nothing flows through an item, or something may close it: a machine, a valve, another safeguard, an
/// instrument, or what is not there.
fn stops(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let role = drawing.topology.roles[node as usize];
    let is_stop = match role {
        Role::Relief | Role::OneWay => true,
        Role::Instrument => !measures_flow(drawing, node),
        Role::Equipment => drawing.is_machine(node),
        Role::Blind => blind_position(drawing, node) != BlindPosition::Open,
        role if role.closes() => !is_locked_open(drawing, node) || is_drawn_closed(drawing, node),
        _ => passive_kind(drawing, node).is_some(),
    };
    is_stop || is_not_installed(drawing, node)
}

/// Returns the end of the line of an item behind its other valves, which are open when it is in use; `None` if one is
/// drawn closed.
fn line_end(
    drawing: &Drawing<'_>,
    [mut before, mut node]: [NodeId; 2],
    charge: ChargeFn<'_>,
) -> Result<Option<NodeId>> {
    const MAX_STEPS: usize = 20;
    let table = drawing.topology.table(EdgeFilter::Flow, Direction::Both);
    for _ in 0..MAX_STEPS {
        charge(1)?;
        if is_drawn_closed(drawing, node) {
            return Ok(None);
        }
        let is_valve = drawing.topology.roles[node as usize].closes() && !drawing.topology.is_equipment(node);
        let [a, b] = table.nodes(node) else { break };
        let next = if *a == before { *b } else { *a };
        if !is_valve || next == before {
            break;
        }
        (before, node) = (node, next);
    }
    Ok(Some(node))
}
