//! Starts of the branches of an isolation: the ports of its targets, of their sides and parts, and what is mounted on them.

use super::{DataGap, Isolation, OpenBranch, Step, pipe_count};
use crate::error::Result;
use crate::graph::adjacency::{NONE, NodeId};
use crate::graph::roles::{Passage, Role};
use crate::graph::walk::Visitor;
use crate::pid::ChargeFn;
use crate::pid::dead_ends::is_unused_port;
use crate::pid::valve_state::open_equipment::{Opening, opening};
use hashbrown::HashSet;

impl Isolation<'_, '_> {
    /// Adds an item and its ports to the volume; branches start at them.
    pub(super) fn include<V: Visitor>(&mut self, item: NodeId, visitor: &mut V) -> Result<()> {
        let topology = &self.drawing.topology;
        let ports = topology.ports.nodes(item);
        let has_pipe = |node: NodeId| topology.flow_degree(node) > 0;
        let nodes: Vec<NodeId> = std::iter::once(item).chain(ports.iter().copied()).collect();
        if !nodes.iter().any(|node| has_pipe(*node)) {
            self.gaps.push(DataGap { kind: "unconnected", at: item, edge: NONE });
        }
        let mut own_step = None;
        for node in nodes {
            if !self.visited.insert(node) {
                continue;
            }
            self.inside.push(node);
            if has_pipe(node) {
                let step = self.begin_branch(node);
                own_step = own_step.or((node == item).then_some(step));
            } else if node != item && is_unused_port(self.drawing, node) {
                self.gaps.push(DataGap { kind: "unconnected_nozzle", at: node, edge: NONE });
            }
        }
        if let Some(owner) = topology.owner(item).filter(|owner| !self.targets.contains(owner)) {
            let step = own_step.unwrap_or_else(|| self.begin_branch(item));
            self.open_to_owner(step, owner, visitor)?;
        }
        self.include_with_state(item, own_step);
        self.include_end(item, own_step);
        self.include_opening(item, own_step);
        Ok(())
    }

    /// Lists a target that is itself where a branch stays open: the end of a pipe, or of the sheet.
    fn include_end(&mut self, item: NodeId, own_step: Option<u32>) {
        let topology = &self.drawing.topology;
        let kind = match topology.roles[item as usize] {
            Role::OffPage if topology.is_sheet_end(item) => "off_page_connector",
            Role::OpenEnd => "open_end",
            _ => return,
        };
        let step = own_step.unwrap_or_else(|| self.begin_branch(item));
        self.open.push(OpenBranch { step, kind, at: item });
    }

    /// Lists equipment of the volume that is open to the atmosphere: nothing isolates it.
    pub(super) fn include_opening(&mut self, equipment: NodeId, step: Option<u32>) {
        match opening(self.drawing, equipment) {
            Opening::NotStated => {}
            Opening::Possible => self.note("unread_text", equipment),
            Opening::Stated => {
                let step = step.unwrap_or_else(|| self.begin_branch(equipment));
                self.open.push(OpenBranch { step, kind: "open_end", at: equipment });
            }
        }
    }

    /// Adds a chamber and its nozzles to the volume; branches start at them.
    pub(super) fn include_side<V: Visitor>(
        &mut self,
        chamber: NodeId,
        ports: &[NodeId],
        visitor: &mut V,
    ) -> Result<()> {
        visitor.charge(1 + ports.len() as u64)?;
        self.visited.insert(chamber);
        self.inside.push(chamber);
        let topology = &self.drawing.topology;
        for port in ports.iter().copied() {
            if !self.visited.insert(port) {
                continue;
            }
            self.inside.push(port);
            if topology.flow_degree(port) > 0 {
                self.begin_branch(port);
            } else if is_unused_port(self.drawing, port) {
                self.gaps.push(DataGap { kind: "unconnected_nozzle", at: port, edge: NONE });
            }
        }
        let mut equipment: Vec<NodeId> = ports.iter().filter_map(|port| topology.owner(*port)).collect();
        equipment.dedup();
        equipment.retain(|equipment| !self.targets.contains(equipment));
        for equipment in equipment {
            self.note_other_sides(chamber, equipment, visitor)?;
        }
        Ok(())
    }

    /// Notes the sides of equipment beside a chamber that is isolated: the wall between them may leak. If a nozzle states no
    /// side, the chamber may be open to it, such as that of a boot.
    fn note_other_sides<V: Visitor>(&mut self, chamber: NodeId, equipment: NodeId, visitor: &mut V) -> Result<()> {
        let topology = &self.drawing.topology;
        let ports = topology.ports.nodes(equipment);
        visitor.charge(1 + ports.len() as u64)?;
        let mut seen: HashSet<NodeId> = [chamber].into();
        let mut is_open = false;
        for port in ports.iter().copied().chain([equipment]).filter(|port| topology.flow_degree(*port) > 0) {
            let side = topology.zone(port);
            if side == NONE {
                self.note_unstated_side(port);
                is_open = true;
            } else if !self.targets.contains(&side) && seen.insert(side) {
                self.note("other_side", self.side_node(side, port));
            }
        }
        if is_open {
            let step = self.begin_branch(chamber);
            self.open_to_owner(step, equipment, visitor)?;
        }
        Ok(())
    }

    /// Adds the parts of a target that are open to it, and a branch to the equipment that it is a part of.
    pub(super) fn include_parts<V: Visitor>(&mut self, target: NodeId, visitor: &mut V) -> Result<()> {
        let parts = self.parts;
        let open = parts.open_to(self.drawing, target, &mut |units| visitor.charge(units))?;
        if !open.is_empty() {
            // Equipment that is drawn by its parts needs no pipe of its own.
            self.gaps.retain(|gap| gap.kind != "unconnected" || gap.at != target);
        }
        for part in open {
            if self.targets.insert(part) {
                self.include_part(part);
                self.include_opening(part, None);
            }
        }
        self.note_unknown_parts(target, visitor)?;
        for whole in parts.wholes_of(self.drawing, target, &mut |units| visitor.charge(units))? {
            if !self.targets.contains(&whole) && self.drawing.topology.owner(target) != Some(whole) {
                let step = self.steps.iter().position(|step| step.node == target).map(|step| step as u32);
                let step = step.unwrap_or_else(|| self.begin_branch(target));
                self.open_to_owner(step, whole, visitor)?;
            }
        }
        Ok(())
    }

    /// Notes the owners of equipment that may be equipment, and the parts that may be nozzles: their class is unknown.
    /// Many branches enter the same equipment, which is searched once.
    pub(super) fn note_unknown_parts<V: Visitor>(&mut self, equipment: NodeId, visitor: &mut V) -> Result<()> {
        if !self.searched.insert(equipment) {
            return Ok(());
        }
        let (parts, charge): (_, ChargeFn<'_>) = (self.parts, &mut |units| visitor.charge(units));
        let mut unknown = parts.unknown_wholes_of(self.drawing, equipment, charge)?;
        unknown.extend(parts.unknown_parts_of(self.drawing, equipment, charge)?);
        for node in unknown {
            if !self.unknown_parts.insert(node) {
                continue;
            }
            match self.drawing.passage(node) {
                // A connection by its class, such as a flange.
                Some(Passage::Through) => {
                    self.gaps.push(DataGap { kind: "unconnected_nozzle", at: node, edge: NONE });
                }
                _ => self.note("unknown_class", node),
            }
        }
        Ok(())
    }

    /// Adds a part and its ports to the volume; branches start at them. A part needs no pipe of its own.
    fn include_part(&mut self, part: NodeId) {
        let topology = &self.drawing.topology;
        let ports = topology.ports.nodes(part).iter().copied();
        for node in std::iter::once(part).chain(ports) {
            if !self.visited.insert(node) {
                continue;
            }
            self.inside.push(node);
            if topology.flow_degree(node) > 0 {
                self.begin_branch(node);
            } else if topology.roles[node as usize] == Role::Port && is_unused_port(self.drawing, node) {
                self.gaps.push(DataGap { kind: "unconnected_nozzle", at: node, edge: NONE });
            }
        }
    }

    /// Notes the nozzles of the volume that belong to their equipment only by their tag.
    pub(super) fn note_nozzles_by_tag<V: Visitor>(&mut self, visitor: &mut V) -> Result<()> {
        visitor.charge(self.inside.len() as u64)?;
        let nozzles: Vec<NodeId> = self.inside.iter().copied().filter(|node| self.parts.is_by_tag(*node)).collect();
        nozzles.into_iter().for_each(|node| self.note("nozzle_by_tag", node));
        Ok(())
    }

    /// Lists a target that is a relief device or lacks a pipe: the search does not visit it.
    fn include_with_state(&mut self, item: NodeId, step: Option<u32>) {
        let topology = &self.drawing.topology;
        if topology.roles[item as usize] == Role::Relief {
            self.relief.extend(step);
        }
        let degree = topology.flow_degree(item);
        // Of an item of unknown class, it is not known whether it has another side.
        if degree > 0 && !topology.is_equipment(item) && degree < pipe_count(self.drawing, item) {
            self.gaps.push(DataGap { kind: "free_port", at: item, edge: NONE });
        }
    }

    /// Starts a branch at a node and returns its step.
    fn begin_branch(&mut self, node: NodeId) -> u32 {
        let step = self.steps.len() as u32;
        self.steps.push(Step { node, from: NONE, port: step, depth: 0, is_end: false });
        step
    }

    /// Notes that the drawing is a part of another one, which may have more pipes at the volume.
    pub(super) fn note_extract(&mut self, targets: &[NodeId]) {
        let is_extract = self.drawing.metadata.as_object().is_some_and(|metadata| metadata.get("extract_of").is_some());
        if let Some(target) = targets.first().filter(|_| is_extract) {
            self.note("extract", *target);
        }
    }

    /// Handles a nozzle as target: no barrier separates it from its own equipment.
    fn open_to_owner<V: Visitor>(&mut self, step: u32, owner: NodeId, visitor: &mut V) -> Result<()> {
        if self.passes_equipment() {
            return self.enter(step, owner, visitor);
        }
        self.open.push(OpenBranch { step, kind: "equipment", at: owner });
        Ok(())
    }

    /// Continues by valves and other items of pipes that are mounted on equipment inside the volume: they have a pipe on
    /// one side, and the equipment on the other.
    pub(super) fn follow_mounted<V: Visitor>(&mut self, visitor: &mut V) -> Result<()> {
        let parts = self.parts;
        let mut at = 0;
        while let Some(node) = self.inside.get(at).copied() {
            at += 1;
            for item in parts.mounted_on(node) {
                if !self.visited.contains(item) {
                    self.visit(NONE, *item, visitor)?;
                    self.follow(visitor)?;
                }
            }
            for item in parts.unpiped_on(node) {
                self.add_unpiped(*item);
            }
        }
        Ok(())
    }

    /// Adds a relief device, a valve or an open end on equipment inside the volume of which no pipe is drawn: where it leads is
    /// not known, and an open end is open.
    fn add_unpiped(&mut self, item: NodeId) {
        if !self.visited.insert(item) {
            return;
        }
        let step = self.begin_branch(item);
        match self.drawing.topology.roles[item as usize] {
            Role::OpenEnd => self.open.push(OpenBranch { step, kind: "open_end", at: item }),
            role => {
                self.inside.push(item);
                self.relief.extend((role == Role::Relief).then_some(step));
                self.gaps.push(DataGap { kind: "free_port", at: item, edge: NONE });
            }
        }
    }

    /// Notes nozzles that name an owner that the drawing lacks: it may be equipment of the volume under another name.
    pub(super) fn note_unknown_owners<V: Visitor>(&mut self, visitor: &mut V) -> Result<()> {
        let topology = &self.drawing.topology;
        let parts = self.parts;
        visitor.charge(1 + parts.with_unknown_owner().len() as u64)?;
        let has_equipment = self.inside.iter().any(|node| topology.roles[*node as usize] == Role::Equipment);
        for nozzle in parts.with_unknown_owner().iter().filter(|_| has_equipment) {
            if topology.owner(*nozzle).is_none() && topology.flow_degree(*nozzle) > 0 && !self.visited.contains(nozzle)
            {
                self.note("unknown_owner", *nozzle);
            }
        }
        Ok(())
    }
}
