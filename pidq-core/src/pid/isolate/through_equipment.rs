//! Continuation of a branch through equipment, on the side of its nozzle, and the sides that it may be open to.

use super::{DataGap, Isolation, Step};
use crate::error::Result;
use crate::graph::adjacency::{NONE, NodeId};
use crate::graph::equipment_sides::is_unstated;
use crate::graph::roles::Role;
use crate::graph::walk::{EquipmentPolicy, Visitor};
use crate::pid::dead_ends::is_unused_port;
use hashbrown::HashSet;

impl Isolation<'_, '_> {
    pub(super) fn passes_equipment(&self) -> bool {
        self.options.include_equipment || self.options.pass != EquipmentPolicy::None
    }

    /// Continues through equipment: by the ports on the same side, or by all if it is included and no side is asked for.
    /// Pipes connected to the equipment without a nozzle are on the unnamed side, which may be any. Its parts are open to
    /// it.
    pub(super) fn enter<V: Visitor>(&mut self, step: u32, equipment: NodeId, visitor: &mut V) -> Result<()> {
        let node = self.steps[step as usize].node;
        let is_all_by_default = self.options.include_equipment && self.options.pass == EquipmentPolicy::None;
        let all_sides = is_all_by_default || self.options.pass == EquipmentPolicy::Any;
        let side = Some(self.drawing.topology.zone(node)).filter(|_| !all_sides);
        if node != equipment && !self.targets.contains(&node) {
            self.inside.push(node);
        }
        self.enter_body(step, equipment, side, visitor)?;
        self.note_unknown_parts(equipment, visitor)?;
        let parts = self.parts;
        let mut body = parts.open_to(self.drawing, equipment, &mut |units| visitor.charge(units))?;
        body.extend(parts.wholes_of(self.drawing, equipment, &mut |units| visitor.charge(units))?);
        for part in body {
            // The sides of equipment say nothing about those of its parts.
            self.enter_body(step, part, None, visitor)?;
        }
        Ok(())
    }

    /// Continues by the ports of equipment or of a part of it on one side, or on all.
    fn enter_body<V: Visitor>(&mut self, step: u32, body: NodeId, side: Option<u32>, visitor: &mut V) -> Result<()> {
        let topology = &self.drawing.topology;
        let Step { port, depth, .. } = self.steps[step as usize];
        let ports = topology.ports.nodes(body);
        visitor.charge(1 + ports.len() as u64)?;
        let is_nozzle_inside = topology.roles[body as usize] == Role::Port && self.visited.contains(&body);
        if !is_nozzle_inside && !self.targets.contains(&body) && self.entered_equipment.insert(body) {
            self.inside.push(body);
            self.swallowed.extend(self.options.include_equipment.then_some(body));
            self.include_opening(body, Some(step));
        }
        let may_have_several = match side {
            Some(_) => self.drawing.may_have_several_sides(body, &mut |units| visitor.charge(units))?,
            None => false,
        };
        self.entered_sides.extend(side.filter(|side| *side != NONE).map(|side| (body, side)));
        // The pipes of equipment without nozzles may be on any side, and all are passed.
        let is_entered_by_pipe = self.steps[step as usize].node == body && !self.targets.contains(&body);
        if is_entered_by_pipe && may_have_several && topology.flow_degree(body) > 1 {
            self.note("unstated_side", body);
        }
        for exit in ports.iter().copied().chain([body]) {
            if side.is_some_and(|side| is_unstated([side, topology.zone(exit)], may_have_several)) {
                self.note_unstated_side(exit);
            }
            if side.is_some_and(|side| topology.zone(exit) != side) {
                continue;
            }
            if !self.visited.insert(exit) {
                continue;
            }
            if exit != body {
                self.inside.push(exit);
            }
            if topology.flow_degree(exit) > 0 {
                self.steps.push(Step { node: exit, from: step, port, depth: depth + 1, is_end: false });
            } else if exit != body && is_unused_port(self.drawing, exit) {
                self.gaps.push(DataGap { kind: "unconnected_nozzle", at: exit, edge: NONE });
            }
        }
        Ok(())
    }

    /// Finds the sides of equipment that no branch has reached beside those by which one continues: the wall between
    /// them may leak.
    pub(super) fn find_other_sides<V: Visitor>(&mut self, visitor: &mut V) -> Result<()> {
        let topology = &self.drawing.topology;
        let mut seen: HashSet<(NodeId, u32)> = self.entered_sides.iter().copied().collect();
        for (equipment, _) in std::mem::take(&mut self.entered_sides) {
            let ports = topology.ports.nodes(equipment);
            visitor.charge(1 + ports.len() as u64)?;
            for port in ports.iter().copied().filter(|port| topology.flow_degree(*port) > 0) {
                let side = topology.zone(port);
                if side != NONE && !self.visited.contains(&port) && seen.insert((equipment, side)) {
                    self.note("other_side", self.side_node(side, port));
                }
            }
        }
        Ok(())
    }

    /// Finds nozzles of the volume that belong to other equipment too: it may be open to them.
    pub(super) fn find_shared_nozzles<V: Visitor>(&mut self, visitor: &mut V) -> Result<()> {
        visitor.charge(1 + self.inside.len() as u64)?;
        let inside: HashSet<NodeId> = self.inside.iter().copied().collect();
        let is_shared = |node: &NodeId| {
            self.drawing.topology.roles[*node as usize] == Role::Port
                && self.parts.is_shared(self.drawing, *node, |whole| inside.contains(&whole))
        };
        let shared: Vec<NodeId> = self.inside.iter().copied().filter(is_shared).collect();
        shared.into_iter().for_each(|nozzle| self.note("several_owners", nozzle));
        Ok(())
    }

    /// Returns the node of a side, or a port of it: a side may be named by a field only.
    pub(super) fn side_node(&self, side: u32, port: NodeId) -> NodeId {
        if (side as usize) < self.drawing.topology.node_count() { side } else { port }
    }

    /// Notes a port that may or may not be on the side of the branch: it is passed only if no side is stated.
    pub(super) fn note_unstated_side(&mut self, port: NodeId) {
        if self.drawing.topology.flow_degree(port) > 0 && !self.visited.contains(&port) {
            self.note("unstated_side", port);
        }
    }
}
