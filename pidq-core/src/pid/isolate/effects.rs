//! Effect of an item on a branch: it ends the branch, is passed, or leaves it open, and is noted if that is not certain.

use super::hand_valves::{HandValve, hand_valve};
use super::{Conditional, Isolation, NodeEffect, bleeds, is_unknown};
use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NONE, NodeId};
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter, EdgeFlags};
use crate::graph::vocabulary;
use crate::graph::walk::Visitor;
use crate::pid::ChargeFn;
use crate::pid::dead_ends::{is_common_outlet, pipe_ends};
use crate::pid::relief::devices::may_open_inwards;
use crate::pid::valve_state::actuation::is_actuated;
use crate::pid::valve_state::check_valves::has_handwheel;
use crate::pid::valve_state::way_count::{Ways, ways};
use crate::pid::valve_state::{
    self, BlindPosition, Installation, Spool, blind_position, is_closed, is_declared, is_locked_open,
};

/// Flow through an item that a branch reaches, by the directions of its pipes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum FlowThrough {
    /// Out of the volume.
    Outwards,
    /// Into the volume, or not through the item: two pipes enter it.
    Other,
}

impl Isolation<'_, '_> {
    /// Returns the effect of an item on the branch that has reached it.
    pub(super) fn effect_of<V: Visitor>(&mut self, node: NodeId, step: u32, visitor: &mut V) -> Result<NodeEffect> {
        let topology = &self.drawing.topology;
        if visitor.ends_at(node)? {
            if let Some(reason) = valve_state::installation(self.drawing, node).uncertainty() {
                self.note(reason, node);
            }
            return Ok(NodeEffect::Ends("barrier"));
        }
        if let Some(owner) = topology.owner(node) {
            return Ok(if self.targets.contains(&owner) {
                NodeEffect::Passes
            } else {
                NodeEffect::StaysOpen(self.end_kind(owner), owner)
            });
        }
        let role = topology.roles[node as usize];
        let can_be_absent = !matches!(role, Role::Equipment | Role::OffPage | Role::OpenEnd | Role::Port);
        match valve_state::installation(self.drawing, node) {
            Installation::NotInstalled if can_be_absent => return Ok(self.absent_effect(node, step)),
            Installation::Unknown if can_be_absent => self.note("unknown_status", node),
            // A joint to another sheet.
            state if role == Role::OffPage && topology.flow_degree(node) > 1 => {
                state.uncertainty().into_iter().for_each(|reason| self.note(reason, node));
            }
            _ => {}
        }
        Ok(match role {
            Role::PositiveBarrier => self.positive_effect(node, step, visitor)?,
            Role::Blind => self.blind_effect(node, step, visitor)?,
            Role::MultiWay => self.conditional_effect(node, step, "set", false),
            Role::Barrier | Role::Control if self.has_several_ways(node, visitor)? => {
                self.conditional_effect(node, step, "set", false)
            }
            Role::Barrier => self.hand_valve_effect(node, step, visitor)?,
            Role::Control => self.conditional_effect(node, step, "close", self.options.accept_conditional),
            Role::OneWay if has_handwheel(self.drawing, node) => self.stop_check_effect(node, step, visitor)?,
            Role::OneWay if self.options.accept_one_way => self.one_way_effect(node, step),
            Role::Relief => self.relief_effect(node, step, visitor)?,
            Role::Equipment => NodeEffect::StaysOpen(self.end_kind(node), node),
            Role::OffPage if topology.flow_degree(node) < 2 => NodeEffect::StaysOpen("off_page_connector", node),
            Role::OpenEnd => NodeEffect::StaysOpen("open_end", node),
            Role::Port => match self.whole_of(node, visitor)? {
                Some(whole) => NodeEffect::StaysOpen("equipment", whole),
                None => NodeEffect::Passes,
            },
            Role::None => self.unclassified_effect(node, step, visitor)?,
            _ => NodeEffect::Passes,
        })
    }

    /// Handles a hand valve: conditional if something in the drawing says that it is no hand valve.
    fn hand_valve_effect<V: Visitor>(&mut self, node: NodeId, step: u32, visitor: &mut V) -> Result<NodeEffect> {
        let is_accepted = self.options.accept_conditional;
        Ok(match hand_valve(self.drawing, node, &mut |units| visitor.charge(units))? {
            HandValve::Certain => self.valve_effect(node, "barrier"),
            HandValve::Actuated => self.conditional_effect(node, step, "close", is_accepted),
            HandValve::ContradictoryClass => {
                let charge: ChargeFn<'_> = &mut |units| visitor.charge(units);
                // Without the option, a valve with an actuator is passed whatever else it is.
                if is_accepted || !is_actuated(self.drawing, node, charge)? {
                    self.note("contradictory_class", node);
                }
                self.conditional_effect(node, step, "close", false)
            }
            HandValve::ActuatedByTag => {
                self.note("contradictory_tag", node);
                self.conditional_effect(node, step, "close", is_accepted)
            }
            HandValve::SelfActingByTag => {
                self.note("contradictory_tag", node);
                self.conditional_effect(node, step, "close", false)
            }
            HandValve::UnknownByTag => {
                self.note("ambiguous_tag", node);
                self.valve_effect(node, "barrier")
            }
            HandValve::UnknownPart => {
                self.note("unknown_part", node);
                self.valve_effect(node, "barrier")
            }
            HandValve::ThirdPipe => {
                self.note("several_pipes", node);
                self.valve_effect(node, "barrier")
            }
        })
    }

    /// Handles an item that is not there: it separates nothing, and without a closure the pipe ends open.
    fn absent_effect(&mut self, node: NodeId, step: u32) -> NodeEffect {
        self.note("not_installed", node);
        match self.drawing.topology.roles[node as usize] {
            Role::PositiveBarrier => NodeEffect::StaysOpen("open_end", node),
            Role::None if self.drawing.is_spool(node) => NodeEffect::Passes,
            Role::None => NodeEffect::StaysOpen("open_end", node),
            Role::Relief => {
                self.relief.push(step);
                NodeEffect::Passes
            }
            _ => NodeEffect::Passes,
        }
    }

    /// Handles a blind flange: no barrier if the drawing states that it is open.
    fn positive_effect<V: Visitor>(&mut self, node: NodeId, step: u32, visitor: &mut V) -> Result<NodeEffect> {
        let is_removed_spool = valve_state::spool(self.drawing, node) == Spool::Removed;
        if valve_state::is_spool_with_other_position(self.drawing, node) {
            self.note("contradictory_class", node);
            return Ok(self.conditional_effect(node, step, "remove", false));
        }
        if blind_position(self.drawing, node) == BlindPosition::Open && !is_removed_spool {
            self.note("open_blind_flange", node);
            if self.drawing.topology.flow_degree(node) < 2 {
                return Ok(NodeEffect::StaysOpen("open_end", node));
            }
            return Ok(self.conditional_effect(node, step, "close", false));
        }
        if !is_removed_spool && valve_state::says_open(self.drawing, node) {
            self.note("open_blind_flange", node);
        }
        let pipes = bleeds::neighbors(self.drawing, node, &mut |units| visitor.charge(units))?;
        if pipes.len() > 1 && !is_removed_spool && !is_declared(self.drawing, node) {
            self.note("blind_flange_in_line", node);
        }
        Ok(NodeEffect::Ends("positive_barrier"))
    }

    /// Handles a blind that swings: a barrier only if the drawing states that it is closed.
    fn blind_effect<V: Visitor>(&mut self, node: NodeId, step: u32, visitor: &mut V) -> Result<NodeEffect> {
        let action = match valve_state::spool(self.drawing, node) {
            Spool::Removed => return Ok(NodeEffect::Ends("positive_barrier")),
            Spool::Removable => "remove",
            Spool::Installed => "swing",
        };
        match blind_position(self.drawing, node) {
            // A closed spool may be one that is installed.
            BlindPosition::Closed if action == "swing" => return Ok(NodeEffect::Ends("positive_barrier")),
            BlindPosition::Unknown if action == "swing" => self.note("blind_without_position", node),
            _ => {}
        }
        let is_accepted = self.can_be_moved(node, step, visitor)?;
        Ok(self.conditional_effect(node, step, action, is_accepted))
    }

    /// Returns whether a blind or a spool that an option accepts can be moved: its line is opened for that, so a valve
    /// behind it must be closed before.
    fn can_be_moved<V: Visitor>(&mut self, node: NodeId, step: u32, visitor: &mut V) -> Result<bool> {
        if !self.options.accept_conditional {
            return Ok(false);
        }
        let before = self.node_at(self.steps[step as usize].from);
        let Some(valve) = self.behind_moved(node, before, &mut |units| visitor.charge(units))?.second else {
            return Ok(false);
        };
        self.find_relief_paths(valve, visitor)?;
        Ok(!self.is_used_last(valve))
    }

    /// Handles a valve that closes its line: passed at first if it is to stay open.
    fn valve_effect(&mut self, node: NodeId, kind: &'static str) -> NodeEffect {
        if self.is_used_last(node) && !self.used_last.contains(&node) {
            self.kept_open.push(node);
            return NodeEffect::Passes;
        }
        self.note_class(node);
        NodeEffect::Ends(kind)
    }

    /// Notes a valve whose type the drawing leaves open.
    fn note_class(&mut self, node: NodeId) {
        let config = &self.drawing.topology.config;
        if is_declared(self.drawing, node) {
            return;
        }
        let role = self.drawing.topology.roles[node as usize];
        if role == Role::Barrier && self.drawing.class_texts(node).any(|class| config.is_unspecified_valve(class)) {
            self.note("unspecified_valve", node);
        }
    }

    /// Returns whether a valve is to stay open: a relief device that is not isolated itself depends on it, or it is locked open and
    /// none does.
    fn is_used_last(&self, node: NodeId) -> bool {
        if is_closed(self.drawing, node) {
            return false;
        }
        let relief_paths = self.relief_paths.borrow();
        if !relief_paths.blocks(node) {
            return is_locked_open(self.drawing, node);
        }
        // What is isolated needs no path: a relief device that is taken out.
        relief_paths.blocked_by(node).iter().any(|device| !self.targets.contains(device))
    }

    fn conditional_effect(&mut self, node: NodeId, step: u32, action: &'static str, is_accepted: bool) -> NodeEffect {
        self.conditional.push(Conditional { step, action });
        if !is_accepted {
            return NodeEffect::Passes;
        }
        match self.valve_effect(node, "conditional") {
            NodeEffect::Ends(kind) => self.accepted(node, "accepted_conditional", kind),
            other => other,
        }
    }

    /// Handles a stop check valve: its spindle closes it as a hand valve, if the drawing does not show it open.
    fn stop_check_effect<V: Visitor>(&mut self, node: NodeId, step: u32, visitor: &mut V) -> Result<NodeEffect> {
        let is_accepted = self.options.accept_conditional && !self.has_several_ways(node, visitor)?;
        let effect = self.conditional_effect(node, step, "close", is_accepted);
        let is_check_valve = self.options.accept_one_way && !is_accepted;
        Ok(if is_check_valve { self.one_way_effect(node, step) } else { effect })
    }

    /// Handles a check valve that an option accepts: it closes against a flow into the volume only if the drawing states
    /// that it opens outwards.
    fn one_way_effect(&mut self, node: NodeId, step: u32) -> NodeEffect {
        if self.flow_through(node, step) == Some(FlowThrough::Outwards) {
            return self.accepted(node, "accepted_one_way", "one_way");
        }
        self.note("one_way_direction", node);
        NodeEffect::Passes
    }

    /// Handles a relief device. One that discharges into the volume is opened by the pressure of others: no barrier.
    fn relief_effect<V: Visitor>(&mut self, node: NodeId, step: u32, visitor: &mut V) -> Result<NodeEffect> {
        let before = self.node_at(self.steps[step as usize].from);
        let end = match before {
            NONE => None,
            before => self.relief_outlet_effect(node, before, &mut |units| visitor.charge(units))?,
        };
        if let Some(end) = end {
            return Ok(end);
        }
        self.relief.push(step);
        if !self.options.accept_relief {
            return Ok(NodeEffect::Passes);
        }
        let discharges_inwards = self.flow_through(node, step) == Some(FlowThrough::Other);
        if discharges_inwards || may_open_inwards(self.drawing, node) {
            self.note("relief_direction", node);
            return Ok(NodeEffect::Passes);
        }
        Ok(self.accepted(node, "accepted_relief", "relief"))
    }

    /// Returns the flow through an item that a branch reaches, by all its pipes; `None` if the drawing leaves the
    /// direction of one open, or the item has pipes on one side only.
    fn flow_through(&self, node: NodeId, step: u32) -> Option<FlowThrough> {
        let topology = &self.drawing.topology;
        let before = self.node_at(self.steps[step as usize].from);
        let is_undirected = |edge: EdgeId| topology.edge_flags[edge as usize].contains(EdgeFlags::UNDIRECTED);
        let flows_out = |other: NodeId, edge: EdgeId| {
            topology.flow_ends(edge) == if other == before { [other, node] } else { [node, other] }
        };
        let arcs = topology.table(EdgeFilter::Flow, Direction::Both).arcs(node);
        let (mut is_stated, mut has_other_side) = (true, false);
        for (other, edge) in arcs {
            has_other_side |= other != before;
            match is_undirected(edge) {
                true => is_stated = false,
                false if !flows_out(other, edge) => return Some(FlowThrough::Other),
                false => {}
            }
        }
        (is_stated && has_other_side && before != NONE).then_some(FlowThrough::Outwards)
    }

    /// Handles a barrier that only an option accepts.
    fn accepted(&mut self, node: NodeId, reason: &'static str, kind: &'static str) -> NodeEffect {
        self.note(reason, node);
        NodeEffect::Ends(kind)
    }

    /// Handles an item without a role: a spool that the drawing states to be removed separates, all others are passed.
    fn unclassified_effect<V: Visitor>(&mut self, node: NodeId, step: u32, visitor: &mut V) -> Result<NodeEffect> {
        Ok(match valve_state::spool(self.drawing, node) {
            Spool::Removed => NodeEffect::Ends("positive_barrier"),
            Spool::Removable => {
                let is_accepted = self.can_be_moved(node, step, visitor)?;
                self.conditional_effect(node, step, "remove", is_accepted)
            }
            Spool::Installed => {
                if is_unknown(self.drawing, node) {
                    self.note("unknown_class", node);
                }
                match is_common_outlet(self.drawing, node) {
                    true => NodeEffect::StaysOpen("open_end", node),
                    false => NodeEffect::Passes,
                }
            }
        })
    }

    /// Returns the kind of the end of a branch at equipment: a vent stack is an open end.
    fn end_kind(&self, equipment: NodeId) -> &'static str {
        if self.drawing.class_has(equipment, vocabulary::VENT_STACKS) { "open_end" } else { "equipment" }
    }

    /// Returns the equipment of a nozzle that is tied to it by other data than `owner` reads.
    fn whole_of<V: Visitor>(&self, nozzle: NodeId, visitor: &mut V) -> Result<Option<NodeId>> {
        let wholes = self.parts.wholes_of(self.drawing, nozzle, &mut |units| visitor.charge(units))?;
        Ok(wholes.first().copied())
    }

    /// Returns whether a valve joins three pipes or more, by its class or on the drawing. It closes no branch for
    /// certain: some of its ways are open to each other in any position.
    fn has_several_ways<V: Visitor>(&mut self, node: NodeId, visitor: &mut V) -> Result<bool> {
        if is_declared(self.drawing, node) {
            return Ok(false);
        }
        match ways(self.drawing, node) {
            Ways::Several => return Ok(true),
            Ways::Unknown => self.note("unknown_ways", node),
            Ways::AtMostTwo => {}
        }
        let has_third = pipe_ends(self.drawing, node, &mut |units| visitor.charge(units))? > 2;
        if has_third {
            self.note("several_pipes", node);
        }
        Ok(has_third)
    }
}
