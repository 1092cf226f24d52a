//! Isolation of an item: the valves that separate it from the rest of the drawing, and the branches that stay open.
//!
//! The results are candidate points on the drawing, not an isolation certificate. Pressure ignores flow arrows, so
//! branches are followed in both directions. Items that do not close for certain are passed and listed; a branch that
//! ends without a barrier is a result of its own, never left out. What the drawing does not state is never a barrier,
//! and the result lists it as uncertain.
//!
//! A valve that is locked open, or without which a relief device loses its inlet or outlet, is used last: a branch
//! passes it, and the search is repeated with it as a barrier only if the branch stays open behind it.

mod bleeds;
pub(in crate::pid) mod connections;
mod hand_valves;
mod parts;
mod plan;
mod relief_lost;
mod relief_paths;
mod rows;
mod targets;

use std::cell::RefCell;

use hashbrown::{HashMap, HashSet};

use self::bleeds::Behind;
use self::hand_valves::{HandValve, hand_valve};
use self::parts::Parts;
use self::relief_paths::ReliefPaths;
use self::targets::Targets;
use super::dead_ends::{has_instrument, is_inline_item, is_manhole};
use super::tag::Tag;
use super::valve_state::pipes::pipe_state;
use super::valve_state::{
    self, BlindPosition, Installation, Spool, blind_position, is_closed, is_declared, is_locked_open,
};
use super::{ChargeFn, Datum, joints, segments};
use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NONE, NodeId};
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::equipment_sides::is_unstated;
use crate::graph::roles::{Passage, Role};
use crate::graph::topology::{Direction, EdgeFilter, EdgeFlags};
use crate::graph::vocabulary;
use crate::graph::walk::{EquipmentPolicy, Visitor};
use crate::value::Value;

/// Options of an isolation: accepted barriers, and how far a branch is followed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IsolateOptions {
    pub accept_conditional: bool,
    pub accept_one_way: bool,
    pub accept_relief: bool,
    pub pass: EquipmentPolicy,
    pub depth: u32,
    /// Include other equipment at which a branch ends.
    pub include_equipment: bool,
}

impl Default for IsolateOptions {
    fn default() -> Self {
        IsolateOptions {
            accept_conditional: false,
            accept_one_way: false,
            accept_relief: false,
            pass: EquipmentPolicy::None,
            depth: 200,
            include_equipment: false,
        }
    }
}

/// Report of an isolation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum IsolationReport {
    /// The barriers, the branches that stay open, and what is inside.
    Points,
    /// The order of closing, and the bleed that proves each barrier.
    Plan,
}

/// A step to a node on a branch.
struct Step {
    node: NodeId,
    /// The previous step; `NONE` at a port of the target.
    from: u32,
    /// The step of the port at which the branch starts.
    port: u32,
    depth: u32,
    /// The branch ends here.
    is_end: bool,
}

/// A barrier, the ports of the branches it ends, and the step at which it was first reached.
struct Barrier {
    step: u32,
    ports: Vec<NodeId>,
    kind: &'static str,
}

/// A branch that stays open.
struct OpenBranch {
    step: u32,
    kind: &'static str,
    at: NodeId,
}

/// Missing information in the drawing.
struct DataGap {
    kind: &'static str,
    at: NodeId,
    edge: EdgeId,
}

/// Something that the drawing does not state and that the result rests on.
struct Uncertainty {
    reason: &'static str,
    at: NodeId,
    edge: EdgeId,
}

/// An item that closes its line only after an action that the drawing cannot promise.
struct Conditional {
    step: u32,
    action: &'static str,
}

/// Flow through an item that a branch reaches, by the directions of its pipes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum FlowThrough {
    /// Out of the volume.
    Outwards,
    /// Into the volume, or not through the item: two pipes enter it.
    Other,
}

/// Effect of a node on a branch.
enum NodeEffect {
    Ends(&'static str),
    Passes,
    StaysOpen(&'static str, NodeId),
}

/// One search from the targets to the barriers.
struct Isolation<'p, 'a> {
    drawing: &'p Drawing<'a>,
    options: IsolateOptions,
    /// Found as far as the search gets, and shared by all searches of an isolation.
    relief_paths: &'p RefCell<ReliefPaths>,
    /// Valves that are locked open or block a relief device, and that are used all the same.
    used_last: &'p HashSet<NodeId>,
    steps: Vec<Step>,
    /// Nodes that a branch has reached.
    visited: HashSet<NodeId>,
    targets: HashSet<NodeId>,
    parts: &'p Parts,
    /// Other equipment inside the volume.
    entered_equipment: HashSet<NodeId>,
    inside: Vec<NodeId>,
    barriers: Vec<Barrier>,
    /// By node: its barrier.
    barrier_of: HashMap<NodeId, usize>,
    /// Pairs of barriers and the ports of the branches they end.
    closed: HashSet<(NodeId, NodeId)>,
    open: Vec<OpenBranch>,
    conditional: Vec<Conditional>,
    /// Steps of the relief devices inside the volume or at its boundary.
    relief: Vec<u32>,
    /// Valves that are passed since they are to stay open.
    kept_open: Vec<NodeId>,
    /// Barriers with both sides inside the volume.
    internal: Vec<NodeId>,
    dead_ends: Vec<NodeId>,
    swallowed: Vec<NodeId>,
    gaps: Vec<DataGap>,
    uncertainties: Vec<Uncertainty>,
    missing_ends: segments::MissingEnds,
}

/// Follows every branch of some items, or of what belongs to a line or another group, to its barrier. `visitor` selects
/// further barriers besides those by role.
///
/// The search is repeated with valves that are to stay open as barriers where a branch needs them.
pub(crate) fn isolate<'a, V: Visitor>(
    drawing: &Drawing<'a>,
    targets: &[NodeId],
    options: IsolateOptions,
    report: IsolationReport,
    visitor: &mut V,
) -> Result<Datum<'a>> {
    let found = targets::targets(drawing, targets, &mut |units| visitor.charge(units))?;
    let relief_paths = RefCell::default();
    let mut used_last = HashSet::new();
    let first = Isolation::search(drawing, &found, options, &relief_paths, &used_last, visitor)?;
    let mut needed = first.needed_last(visitor)?;
    if needed.is_empty() {
        return first.report(report, targets, &mut |units| visitor.charge(units));
    }
    while !needed.is_empty() {
        used_last.extend(needed);
        let next = Isolation::search(drawing, &found, options, &relief_paths, &used_last, visitor)?;
        needed = next.needed_last(visitor)?;
    }
    remove_needless(drawing, &found, options, &relief_paths, &mut used_last, visitor)?;
    let last = Isolation::search(drawing, &found, options, &relief_paths, &used_last, visitor)?;
    last.report(report, targets, &mut |units| visitor.charge(units))
}

/// Keeps valves open again that close no branch: another way to the same end stays open.
fn remove_needless<V: Visitor>(
    drawing: &Drawing<'_>,
    targets: &Targets,
    options: IsolateOptions,
    relief_paths: &RefCell<ReliefPaths>,
    used_last: &mut HashSet<NodeId>,
    visitor: &mut V,
) -> Result<()> {
    let mut candidates: Vec<NodeId> = used_last.iter().copied().collect();
    candidates.sort_unstable();
    if candidates.is_empty() {
        return Ok(());
    }
    // A valve that is needed leaves the number of open branches as it was before.
    let mut open = Isolation::search(drawing, targets, options, relief_paths, used_last, visitor)?.open_count();
    for candidate in candidates {
        used_last.remove(&candidate);
        let without = Isolation::search(drawing, targets, options, relief_paths, used_last, visitor)?.open_count();
        if without > open {
            used_last.insert(candidate);
        } else {
            open = without;
        }
    }
    Ok(())
}

impl<'p, 'a> Isolation<'p, 'a> {
    fn search<V: Visitor>(
        drawing: &'p Drawing<'a>,
        targets: &'p Targets,
        options: IsolateOptions,
        relief_paths: &'p RefCell<ReliefPaths>,
        used_last: &'p HashSet<NodeId>,
        visitor: &mut V,
    ) -> Result<Isolation<'p, 'a>> {
        let gap = |(kind, node): &(&'static str, NodeId)| DataGap { kind, at: *node, edge: NONE };
        let mut isolation = Isolation {
            drawing,
            options,
            relief_paths,
            used_last,
            steps: Vec::new(),
            visited: HashSet::new(),
            targets: targets.items.iter().copied().collect(),
            parts: &targets.parts,
            entered_equipment: HashSet::new(),
            inside: Vec::new(),
            barriers: Vec::new(),
            barrier_of: HashMap::new(),
            closed: HashSet::new(),
            open: Vec::new(),
            conditional: Vec::new(),
            relief: Vec::new(),
            kept_open: Vec::new(),
            internal: Vec::new(),
            dead_ends: Vec::new(),
            swallowed: Vec::new(),
            gaps: targets.missing.iter().map(gap).collect(),
            uncertainties: Vec::new(),
            missing_ends: segments::MissingEnds::default(),
        };
        for target in &targets.items {
            match targets.sides.get(target) {
                Some(ports) => isolation.include_side(*target, ports, visitor)?,
                None => isolation.include(*target, visitor)?,
            }
            if targets.has_group && is_unknown(drawing, *target) {
                isolation.note("unknown_class", *target);
            }
        }
        // A side is not open to the rest of its equipment.
        for target in targets.items.iter().filter(|target| !targets.sides.contains_key(*target)) {
            isolation.include_parts(*target, visitor)?;
        }
        for at in 0..isolation.steps.len() {
            isolation.find_relief_paths(isolation.steps[at].node, visitor)?;
        }
        isolation.follow(visitor)?;
        for end in &targets.ends {
            isolation.visit(NONE, *end, visitor)?;
            isolation.follow(visitor)?;
        }
        isolation.find_dangling(visitor)?;
        isolation.find_unknown_connections(visitor)?;
        isolation.find_shared_ids(visitor)?;
        isolation.find_contradicting_joints(visitor)?;
        isolation.find_absent_pipes(visitor)?;
        isolation.remove_internal_barriers(visitor)?;
        Ok(isolation)
    }

    fn report(&self, report: IsolationReport, targets: &[NodeId], charge: ChargeFn<'_>) -> Result<Datum<'a>> {
        match report {
            IsolationReport::Points => self.result(targets, charge),
            IsolationReport::Plan => self.plan(targets, charge),
        }
    }

    /// Adds an item and its ports to the volume; branches start at them.
    fn include<V: Visitor>(&mut self, item: NodeId, visitor: &mut V) -> Result<()> {
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
            } else if node != item && self.is_unused_port(node) {
                self.gaps.push(DataGap { kind: "unconnected_nozzle", at: node, edge: NONE });
            }
        }
        if let Some(owner) = topology.owner(item).filter(|owner| !self.targets.contains(owner)) {
            let step = own_step.unwrap_or_else(|| self.begin_branch(item));
            self.open_to_owner(step, owner, visitor)?;
        }
        self.include_with_state(item, own_step);
        Ok(())
    }

    /// Adds a chamber and its nozzles to the volume; branches start at them.
    fn include_side<V: Visitor>(&mut self, chamber: NodeId, ports: &[NodeId], visitor: &mut V) -> Result<()> {
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
            } else if self.is_unused_port(port) {
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
                // A side may be named by a field only.
                let at = if (side as usize) < topology.node_count() { side } else { port };
                self.note("other_side", at);
            }
        }
        if is_open {
            let step = self.begin_branch(chamber);
            self.open_to_owner(step, equipment, visitor)?;
        }
        Ok(())
    }

    /// Adds the parts of a target that are open to it, and a branch to the equipment that it is a part of.
    fn include_parts<V: Visitor>(&mut self, target: NodeId, visitor: &mut V) -> Result<()> {
        let parts = self.parts;
        for part in parts.open_to(self.drawing, target, &mut |units| visitor.charge(units))? {
            if self.targets.insert(part) {
                self.include_part(part);
            }
        }
        for whole in parts.wholes_of(self.drawing, target, &mut |units| visitor.charge(units))? {
            if !self.targets.contains(&whole) && self.drawing.topology.owner(target) != Some(whole) {
                let step = self.steps.iter().position(|step| step.node == target).map(|step| step as u32);
                let step = step.unwrap_or_else(|| self.begin_branch(target));
                self.open_to_owner(step, whole, visitor)?;
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
            if self.parts.is_by_tag(node) {
                self.note("nozzle_by_tag", node);
            }
            if topology.flow_degree(node) > 0 {
                self.begin_branch(node);
            } else if topology.roles[node as usize] == Role::Port && self.is_unused_port(node) {
                self.gaps.push(DataGap { kind: "unconnected_nozzle", at: node, edge: NONE });
            }
        }
    }

    /// Lists a target that is a relief device or lacks a pipe: the search does not visit it.
    fn include_with_state(&mut self, item: NodeId, step: Option<u32>) {
        let topology = &self.drawing.topology;
        if topology.roles[item as usize] == Role::Relief {
            self.relief.extend(step);
        }
        let degree = topology.flow_degree(item);
        let belongs_in_pipe = !topology.is_equipment(item) && !is_unknown(self.drawing, item);
        if degree > 0 && belongs_in_pipe && degree < pipe_count(self.drawing, item) {
            self.gaps.push(DataGap { kind: "free_port", at: item, edge: NONE });
        }
    }

    /// Starts a branch at a node and returns its step.
    fn begin_branch(&mut self, node: NodeId) -> u32 {
        let step = self.steps.len() as u32;
        self.steps.push(Step { node, from: NONE, port: step, depth: 0, is_end: false });
        step
    }

    /// Handles a nozzle as target: no barrier separates it from its own equipment.
    fn open_to_owner<V: Visitor>(&mut self, step: u32, owner: NodeId, visitor: &mut V) -> Result<()> {
        if self.passes_equipment() {
            return self.enter(step, owner, visitor);
        }
        self.open.push(OpenBranch { step, kind: "equipment", at: owner });
        Ok(())
    }

    /// Returns whether a nozzle has no pipe and no instrument and is not a manhole: its connection may be missing.
    fn is_unused_port(&self, port: NodeId) -> bool {
        let topology = &self.drawing.topology;
        let edges = topology.table(EdgeFilter::All, Direction::Both).edges(port).iter();
        let is_used = edges.map(|edge| topology.edge_flags[*edge as usize]).any(|flags| {
            !flags.contains(EdgeFlags::PART)
                && !flags.contains(EdgeFlags::ZONE)
                && !flags.contains(EdgeFlags::MEMBER)
                && !flags.contains(EdgeFlags::MEMBER_REVERSED)
                && !flags.contains(EdgeFlags::SEGMENT_END)
        });
        !is_used && !is_manhole(self.drawing, port) && !has_instrument(self.drawing, port)
    }

    fn follow<V: Visitor>(&mut self, visitor: &mut V) -> Result<()> {
        let mut at = 0;
        while at < self.steps.len() {
            self.expand(at as u32, visitor)?;
            at += 1;
        }
        Ok(())
    }

    /// Visits the neighbors of a step.
    fn expand<V: Visitor>(&mut self, at: u32, visitor: &mut V) -> Result<()> {
        let node = self.steps[at as usize].node;
        let table = self.drawing.topology.table(EdgeFilter::Flow, Direction::Both);
        visitor.charge(1 + table.degree(node) as u64)?;
        if self.steps[at as usize].is_end {
            return Ok(());
        }
        if self.steps[at as usize].depth >= self.options.depth {
            self.open.push(OpenBranch { step: at, kind: "limit", at: node });
            return Ok(());
        }
        for next in table.nodes(node) {
            self.visit(at, *next, visitor)?;
        }
        Ok(())
    }

    fn find_relief_paths<V: Visitor>(&self, node: NodeId, visitor: &mut V) -> Result<()> {
        self.relief_paths.borrow_mut().explore(self.drawing, node, &mut |units| visitor.charge(units))
    }

    /// Continues a branch to a node; from `NONE`, a branch starts before the node.
    fn visit<V: Visitor>(&mut self, from: u32, node: NodeId, visitor: &mut V) -> Result<()> {
        let step = self.steps.len() as u32;
        let (port, depth) = match self.steps.get(from as usize) {
            Some(step) => (step.port, step.depth + 1),
            None => (step, 0),
        };
        if !self.visited.insert(node) {
            self.add_port(node, port);
            return Ok(());
        }
        self.steps.push(Step { node, from, port, depth, is_end: false });
        self.find_relief_paths(node, visitor)?;
        match self.effect_of(node, step, visitor)? {
            NodeEffect::Passes => self.pass(step, visitor)?,
            NodeEffect::Ends(kind) => {
                let ports = vec![self.steps[port as usize].node];
                self.closed.insert((node, ports[0]));
                self.barrier_of.insert(node, self.barriers.len());
                self.barriers.push(Barrier { step, ports, kind });
                self.steps[step as usize].is_end = true;
            }
            NodeEffect::StaysOpen("equipment", equipment) if self.passes_equipment() => {
                self.enter(step, equipment, visitor)?;
            }
            NodeEffect::StaysOpen(kind, at) => {
                self.open.push(OpenBranch { step, kind, at });
                self.steps[step as usize].is_end = true;
            }
        }
        Ok(())
    }

    /// Adds a port to a barrier: a barrier of several branches is one row with all their ports.
    fn add_port(&mut self, node: NodeId, port: u32) {
        let Some(port) = self.steps.get(port as usize).map(|step| step.node) else { return };
        let barrier = self.barrier_of.get(&node).map(|at| &mut self.barriers[*at]);
        if let Some(barrier) = barrier.filter(|_| self.closed.insert((node, port))) {
            barrier.ports.push(port);
        }
    }

    fn effect_of<V: Visitor>(&mut self, node: NodeId, step: u32, visitor: &mut V) -> Result<NodeEffect> {
        let topology = &self.drawing.topology;
        if visitor.ends_at(node)? {
            return Ok(NodeEffect::Ends("barrier"));
        }
        if let Some(owner) = topology.owner(node) {
            return Ok(if self.targets.contains(&owner) {
                NodeEffect::Passes
            } else {
                NodeEffect::StaysOpen("equipment", owner)
            });
        }
        let role = topology.roles[node as usize];
        let can_be_absent = !matches!(role, Role::Equipment | Role::OffPage | Role::OpenEnd | Role::Port);
        match valve_state::installation(self.drawing, node) {
            Installation::NotInstalled if can_be_absent => return Ok(self.absent_effect(node, step)),
            Installation::Unknown if can_be_absent => self.note("unknown_status", node),
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
            Role::OneWay if self.options.accept_one_way => self.one_way_effect(node, step),
            Role::Relief => self.relief_effect(node, step),
            Role::Equipment => NodeEffect::StaysOpen("equipment", node),
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
                self.note("contradictory_class", node);
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
        let Some(valve) = self.behind(node, before, &mut |units| visitor.charge(units))?.second else {
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

    /// Returns whether a valve is to stay open: it is locked open, or a relief device depends on it.
    fn is_used_last(&self, node: NodeId) -> bool {
        !is_closed(self.drawing, node)
            && (is_locked_open(self.drawing, node) || self.relief_paths.borrow().blocks(node))
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
    fn relief_effect(&mut self, node: NodeId, step: u32) -> NodeEffect {
        self.relief.push(step);
        if !self.options.accept_relief {
            return NodeEffect::Passes;
        }
        if self.flow_through(node, step) == Some(FlowThrough::Other) {
            self.note("relief_direction", node);
            return NodeEffect::Passes;
        }
        self.accepted(node, "accepted_relief", "relief")
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
                NodeEffect::Passes
            }
        })
    }

    /// Returns the equipment of a nozzle that is tied to it by other data than `owner` reads.
    fn whole_of<V: Visitor>(&self, nozzle: NodeId, visitor: &mut V) -> Result<Option<NodeId>> {
        let wholes = self.parts.wholes_of(self.drawing, nozzle, &mut |units| visitor.charge(units))?;
        Ok(wholes.first().copied())
    }

    /// Returns the second barrier in series behind an item. With the option, also a valve that an actuator closes.
    fn behind(&self, node: NodeId, before: NodeId, charge: ChargeFn<'_>) -> Result<Behind> {
        bleeds::behind(self.drawing, [before, node], self.options.accept_conditional, charge)
    }

    /// Returns whether a valve joins three pipes or more, by its class or on the drawing. It closes no branch for
    /// certain: some of its ways are open to each other in any position.
    fn has_several_ways<V: Visitor>(&mut self, node: NodeId, visitor: &mut V) -> Result<bool> {
        if is_declared(self.drawing, node) {
            return Ok(false);
        }
        if valve_state::has_several_ways(self.drawing, node) {
            return Ok(true);
        }
        let pipes = bleeds::neighbors(self.drawing, node, &mut |units| visitor.charge(units))?;
        if pipes.len() > 2 {
            self.note("several_pipes", node);
        }
        Ok(pipes.len() > 2)
    }

    fn note(&mut self, reason: &'static str, at: NodeId) {
        self.uncertainties.push(Uncertainty { reason, at, edge: NONE });
    }

    /// Adds a passed item to the volume. Without a further pipe it is a dead end, or the line continues undrawn.
    fn pass<V: Visitor>(&mut self, step: u32, visitor: &mut V) -> Result<()> {
        let node = self.steps[step as usize].node;
        self.inside.push(node);
        let degree = self.drawing.topology.flow_degree(node);
        // Several pipes of the sheet meet at a connector: the branch leaves the sheet, and goes on by the others.
        if self.drawing.topology.is_sheet_end(node) {
            self.open.push(OpenBranch { step, kind: "off_page_connector", at: node });
        }
        if degree < pipe_count(self.drawing, node) || degree < 2 && self.continues_undrawn(node, visitor)? {
            self.gaps.push(DataGap { kind: "free_port", at: node, edge: NONE });
            self.open.push(OpenBranch { step, kind: "free_port", at: node });
        } else if degree < 2 {
            self.dead_ends.push(node);
            if measures_flow(self.drawing, node) {
                self.note("flow_instrument_at_end", node);
            }
        }
        // The third pipe of a tee may be missing on the drawing.
        if degree == 2 && self.drawing.topology.roles[node as usize] == Role::Junction {
            self.note("junction_with_two_pipes", node);
        }
        Ok(())
    }

    /// Returns whether the line continues outside the drawing: at the end of a segment, or at a nozzle without
    /// equipment.
    fn continues_undrawn<V: Visitor>(&mut self, node: NodeId, visitor: &mut V) -> Result<bool> {
        let topology = &self.drawing.topology;
        let is_unowned = topology.roles[node as usize] == Role::Port && topology.owner(node).is_none();
        Ok(is_unowned
            || self.missing_ends.ends_at_missing_side(self.drawing, node, &mut |units| visitor.charge(units))?)
    }

    fn passes_equipment(&self) -> bool {
        self.options.include_equipment || self.options.pass != EquipmentPolicy::None
    }

    /// Continues through equipment: by the ports on the same side, or by all if it is included and no side is asked for.
    /// Pipes connected to the equipment without a nozzle are on the unnamed side, which may be any. Its parts are open to
    /// it.
    fn enter<V: Visitor>(&mut self, step: u32, equipment: NodeId, visitor: &mut V) -> Result<()> {
        let node = self.steps[step as usize].node;
        let is_all_by_default = self.options.include_equipment && self.options.pass == EquipmentPolicy::None;
        let all_sides = is_all_by_default || self.options.pass == EquipmentPolicy::Any;
        let side = Some(self.drawing.topology.zone(node)).filter(|_| !all_sides);
        if node != equipment && !self.targets.contains(&node) {
            self.inside.push(node);
        }
        self.enter_body(step, equipment, side, visitor)?;
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
        }
        let may_have_several = match side {
            Some(NONE) => self.drawing.may_have_several_sides(body, &mut |units| visitor.charge(units))?,
            _ => false,
        };
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
            } else if exit != body && self.is_unused_port(exit) {
                self.gaps.push(DataGap { kind: "unconnected_nozzle", at: exit, edge: NONE });
            }
        }
        Ok(())
    }

    /// Notes a port that may or may not be on the side of the branch: it is passed only if no side is stated.
    fn note_unstated_side(&mut self, port: NodeId) {
        if self.drawing.topology.flow_degree(port) > 0 && !self.visited.contains(&port) {
            self.note("unstated_side", port);
        }
    }

    /// Finds joints of two sheets inside the volume whose pipes differ: the connectors may be no pair, and the line may
    /// go elsewhere.
    fn find_contradicting_joints<V: Visitor>(&mut self, visitor: &mut V) -> Result<()> {
        let topology = &self.drawing.topology;
        let mut seen = HashSet::new();
        let connectors = self.inside.iter().copied().filter(|node| topology.roles[*node as usize] == Role::OffPage);
        for node in connectors.collect::<Vec<NodeId>>() {
            let edges = topology.table(EdgeFilter::Flow, Direction::Both).edges(node);
            visitor.charge(1 + edges.len() as u64)?;
            for edge in edges.iter().copied().filter(|edge| topology.is_joint(*edge)) {
                let is_new = seen.insert(edge);
                if is_new && joints::is_contradicting(self.drawing, edge, &mut |units| visitor.charge(units))? {
                    let reason = "joint_of_different_pipes";
                    self.uncertainties.push(Uncertainty { reason, at: node, edge });
                }
            }
        }
        Ok(())
    }

    /// Finds pipes at the volume that are not there, are closed, or may be either. They are passed like others: they
    /// separate nothing, and may be taken for what they are not.
    fn find_absent_pipes<V: Visitor>(&mut self, visitor: &mut V) -> Result<()> {
        let table = self.drawing.topology.table(EdgeFilter::Flow, Direction::Both);
        let mut seen = HashSet::new();
        for node in self.inside.iter().copied() {
            visitor.charge(1 + table.degree(node) as u64)?;
            for edge in table.edges(node).iter().copied() {
                let Some(reason) = pipe_state(self.drawing, edge).uncertainty() else { continue };
                if seen.insert(edge) {
                    self.uncertainties.push(Uncertainty { reason, at: node, edge });
                }
            }
        }
        Ok(())
    }

    /// Moves barriers with both sides inside the volume into it: closing them separates nothing.
    fn remove_internal_barriers<V: Visitor>(&mut self, visitor: &mut V) -> Result<()> {
        let inside: HashSet<NodeId> = self.inside.iter().copied().collect();
        for at in (0..self.barriers.len()).rev() {
            let node = self.steps[self.barriers[at].step as usize].node;
            let pipes = bleeds::neighbors(self.drawing, node, &mut |units| visitor.charge(units))?;
            let is_complete = pipes.len() > 1 && pipes.len() >= expected_pipe_count(self.drawing, node);
            if is_complete && pipes.iter().all(|next| inside.contains(next)) {
                self.barriers.remove(at);
                self.uncertainties.retain(|uncertainty| uncertainty.at != node);
                self.internal.push(node);
            }
        }
        self.internal.reverse();
        self.inside.extend(&self.internal);
        Ok(())
    }

    /// Returns the valves that are to stay open but are needed as barriers: on the way to each end that stays open, the
    /// first one that no relief device depends on, or else the first one.
    fn needed_last<V: Visitor>(&self, visitor: &mut V) -> Result<Vec<NodeId>> {
        let kept_open: HashSet<NodeId> = self.kept_open.iter().copied().collect();
        let mut needed = Vec::new();
        for open in self.open.iter().filter(|_| !kept_open.is_empty()) {
            visitor.charge(1 + u64::from(self.steps[open.step as usize].depth))?;
            let on_path: Vec<NodeId> =
                self.path(open.step).into_iter().filter(|node| kept_open.contains(node)).collect();
            let without_relief = on_path.iter().find(|node| !self.relief_paths.borrow().blocks(**node));
            needed.extend(without_relief.or(on_path.first()));
        }
        Ok(needed)
    }

    /// The number of open ends and data gaps.
    fn open_count(&self) -> usize {
        let ends: HashSet<(&str, NodeId)> = self.open.iter().map(|open| (open.kind, open.at)).collect();
        ends.len() + self.gaps.len()
    }

    /// Returns the nodes from the port to a step.
    fn path(&self, step: u32) -> Vec<NodeId> {
        let mut nodes = Vec::new();
        let mut at = step;
        while at != NONE {
            nodes.push(self.steps[at as usize].node);
            at = self.steps[at as usize].from;
        }
        nodes.reverse();
        nodes
    }

    /// Returns the node of a step; `NONE` before the first.
    fn node_at(&self, step: u32) -> NodeId {
        self.steps.get(step as usize).map_or(NONE, |step| step.node)
    }
}

/// Returns whether nothing is known about the class of an item.
fn is_unknown(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let topology = &drawing.topology;
    topology.roles[node as usize] == Role::None && topology.owner(node).is_none() && drawing.passage(node).is_none()
}

/// Returns whether an item is an instrument that measures a flow, by its class or its tag.
fn measures_flow(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let is_flow_tag = || drawing.tag(node).and_then(Tag::parse_letters).is_some_and(|tag| tag.letters.starts_with('F'));
    drawing.topology.roles[node as usize] == Role::Instrument
        && (drawing.class_has(node, vocabulary::FLOW_INSTRUMENTS) || is_flow_tag())
}

/// Returns the number of pipes that an item needs for a branch to end at it or pass it as drawn.
pub(crate) fn pipe_count(drawing: &Drawing<'_>, node: NodeId) -> usize {
    let is_through = match drawing.topology.roles[node as usize] {
        Role::Blind => true,
        // A sample flows on behind an analyzer.
        Role::Instrument => drawing.class_has(node, vocabulary::ANALYZERS),
        Role::None => drawing.topology.owner(node).is_none() && drawing.passage(node) != Some(Passage::End),
        _ => false,
    };
    expected_pipe_count(drawing, node).max(if is_through { 2 } else { 0 })
}

/// Returns the number of pipes an item is designed for: its process ports, or two if it belongs in a line.
///
/// A nozzle may be drawn with a port to its equipment, and an instrument bubble with ports on each side: a nozzle
/// therefore counts as one pipe, and an instrument by its process ports only.
pub(crate) fn expected_pipe_count(drawing: &Drawing<'_>, node: NodeId) -> usize {
    let Some(kinds) = port_kinds(drawing, node) else { return if is_inline_item(drawing, node) { 2 } else { 0 } };
    let process_ports = kinds.iter().filter(|kind| **kind == Some("process")).count();
    let untyped_ports = kinds.iter().filter(|kind| kind.is_none()).count();
    match drawing.topology.roles[node as usize] {
        _ if drawing.topology.owner(node).is_some() => (process_ports + untyped_ports).min(1),
        Role::Instrument => process_ports,
        _ => process_ports + untyped_ports,
    }
}

/// Returns the kinds of the ports that an item lists; `None` if it lists none.
fn port_kinds<'a>(drawing: &Drawing<'a>, node: NodeId) -> Option<Vec<Option<&'a str>>> {
    let ports = drawing.node_field(node, Names::Ports)?.as_array()?;
    Some(ports.iter().map(|port| drawing.field(port, Names::PortType).and_then(Value::as_str)).collect())
}
