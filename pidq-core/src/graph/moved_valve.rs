//! Valves that actuators, actuating systems and their functions move.

use hashbrown::HashSet;

use super::adjacency::NodeId;
use super::drawing::Drawing;
use super::roles::Role;
use super::topology::{Direction, EdgeFilter, EdgeFlags};
use super::vocabulary;
use crate::error::Result;

impl Drawing<'_> {
    /// Returns the valve that a node moves: the node is an actuator, a part of one, an actuating system or its function,
    /// and moves exactly one valve. In many drawings, these have the tag of the valve. A controller has a tag of its
    /// own, so it moves nothing here.
    pub fn moved_valve(&self, node: NodeId, charge: &mut dyn FnMut(u64) -> Result<()>) -> Result<Option<NodeId>> {
        const MAX_PARTS: usize = 32;
        if !self.is_actuator(node) {
            return Ok(None);
        }
        let topology = &self.topology;
        let mut valves = Vec::new();
        let mut seen: HashSet<NodeId> = [node].into_iter().collect();
        let mut queue = vec![node];
        let mut at = 0;
        while let Some(part) = queue.get(at).copied().filter(|_| at < MAX_PARTS) {
            at += 1;
            let table = topology.table(EdgeFilter::All, Direction::Both);
            let members = topology.field_members(part);
            charge(1 + (table.degree(part) + members.len()) as u64)?;
            let by_edge = table.arcs(part).map(|(other, edge)| {
                let flags = topology.edge_flags[edge as usize];
                let is_source = topology.flow_ends(edge)[0] == part || flags.contains(EdgeFlags::UNDIRECTED);
                (other, flags, is_source)
            });
            let in_group = members.iter().copied().chain(topology.field_group(part));
            for (other, flags, is_source) in by_edge.chain(in_group.map(|other| (other, EdgeFlags::MEMBER, true))) {
                charge(1 + topology.table(EdgeFilter::All, Direction::Down).degree(other) as u64)?;
                if self.is_moved(other, flags, is_source) {
                    valves.push(other);
                } else if self.is_actuator(other) && seen.insert(other) {
                    queue.push(other);
                }
            }
        }
        valves.sort_unstable();
        valves.dedup();
        Ok(Some(valves).filter(|valves| valves.len() == 1).and_then(|valves| valves.first().copied()))
    }

    /// Returns whether a node is an actuator, a part of one, an actuating system or its function.
    fn is_actuator(&self, node: NodeId) -> bool {
        let topology = &self.topology;
        let refers = || {
            let mut arcs = topology.table(EdgeFilter::All, Direction::Down).arcs(node);
            let is_sensor = self.class_has(node, vocabulary::SENSORS);
            !is_sensor && arcs.any(|(_, edge)| topology.edge_flags[edge as usize].contains(EdgeFlags::ACTUATES))
        };
        let is_called_actuator = || self.class_has(node, vocabulary::ACTUATORS);
        topology.flow_degree(node) == 0
            && match topology.roles[node as usize] {
                Role::Instrument => is_called_actuator() || refers(),
                // A class such as `piping_component.actuator`.
                Role::None => is_called_actuator(),
                _ => false,
            }
    }

    /// Returns whether an edge connects an actuator with the valve that it moves: a reference or a signal to it, or an
    /// edge of a valve that contains its actuator.
    fn is_moved(&self, valve: NodeId, flags: EdgeFlags, is_source: bool) -> bool {
        let is_part = flags.contains(EdgeFlags::MEMBER) || flags.contains(EdgeFlags::PART);
        match () {
            () if self.topology.flow_degree(valve) == 0 => false,
            () if flags.contains(EdgeFlags::ACTUATES) => is_source,
            () if flags.contains(EdgeFlags::SIGNAL) => is_source && self.topology.roles[valve as usize].closes(),
            () => is_part && self.topology.roles[valve as usize].closes(),
        }
    }
}
