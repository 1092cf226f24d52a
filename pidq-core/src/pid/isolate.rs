//! Isolation of an item: the valves that separate it from the rest of the drawing, and the branches that stay open.
//!
//! The results are candidate points on the drawing, not an isolation certificate. Pressure ignores flow arrows, so
//! branches are followed in both directions. Items that do not close for certain are passed and listed; a branch that
//! ends without a barrier is a result of its own, never left out. What the drawing does not state is never a barrier,
//! and the result lists it as uncertain.
//!
//! A valve that is locked open, or without which a relief device loses its inlet or outlet, is used last: a branch
//! passes it, and the search is repeated with it as a barrier only if the branch stays open behind it. It is never used if
//! the device relieves equipment outside of the volume, as at a common header.

mod bleeds;
pub(in crate::pid) mod connections;
mod effects;
pub(crate) mod equipment_bodies;
mod equipment_tags;
mod hand_valves;
mod instrument_ends;
mod missing_pipes;
mod other_drawings;
pub(crate) mod parts;
mod plan;
mod relief_beside;
mod relief_lost;
mod relief_outlets;
mod relief_paths;
mod relief_receivers;
mod rows;
mod starts;
mod stated_lines;
mod stated_parts;
mod stated_pipes;
pub(crate) mod targets;
mod through_equipment;
mod unread_texts;

use std::cell::RefCell;

use hashbrown::{HashMap, HashSet};

use self::bleeds::{Behind, BehindSearch};
use self::parts::Parts;
use self::relief_lost::Protection;
use self::relief_paths::ReliefPaths;
use self::targets::Targets;
use super::dead_ends::{instrument_legs, is_inline_item, opens_to_air};
use super::tag::Tag;
use super::valve_state::pipes::pipe_state;
use super::valve_state::unread_texts::{has_doubtful_text, has_opening, has_unread_text};
use super::valve_state::{self, process_port_count};
use super::{ChargeFn, Datum, joints, segments};
use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NONE, NodeId};
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::roles::{Passage, Role};
use crate::graph::topology::{Direction, EdgeFilter};
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
    /// Inlets, protected equipment and paths of the devices found so far, shared as well.
    protection: &'p RefCell<Protection>,
    /// Valves that are locked open or block a relief device, and that are used all the same.
    used_last: HashSet<NodeId>,
    steps: Vec<Step>,
    /// Nodes that a branch has reached.
    visited: HashSet<NodeId>,
    targets: HashSet<NodeId>,
    parts: &'p Parts,
    /// Other equipment inside the volume.
    entered_equipment: HashSet<NodeId>,
    /// Sides by which a branch continues through equipment, with the equipment.
    entered_sides: Vec<(NodeId, u32)>,
    /// Equipment whose owners and parts of unknown class are noted.
    searched: HashSet<NodeId>,
    /// These owners and parts.
    unknown_parts: HashSet<NodeId>,
    inside: Vec<NodeId>,
    barriers: Vec<Barrier>,
    /// By node: its barrier; beyond the last one for a barrier that was moved into the volume.
    barrier_of: HashMap<NodeId, usize>,
    /// Pairs of barriers and the ports of the branches they end.
    closed: HashSet<(NodeId, NodeId)>,
    open: Vec<OpenBranch>,
    conditional: Vec<Conditional>,
    /// Steps of the relief devices inside the volume or at its boundary.
    relief: Vec<u32>,
    /// Number of relief devices of others with both sides inside the volume.
    devices_between: usize,
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
    let (relief_paths, protection) = (RefCell::default(), RefCell::default());
    let searches = Searches { drawing, targets: &found, options, relief_paths: &relief_paths, protection: &protection };
    let mut isolation = Isolation::search(&searches, HashSet::new(), visitor)?;
    loop {
        let needed = isolation.needed_last(visitor)?;
        if needed.is_empty() {
            break;
        }
        let mut used_last = std::mem::take(&mut isolation.used_last);
        used_last.extend(needed);
        isolation = Isolation::search(&searches, used_last, visitor)?;
    }
    isolation.find_gaps(visitor)?;
    let isolation = without_needless(&searches, isolation, visitor)?.finish(&found, visitor)?;
    isolation.report(report, targets, &mut |units| visitor.charge(units))
}

/// Input shared by all searches of an isolation.
struct Searches<'p, 'a> {
    drawing: &'p Drawing<'a>,
    targets: &'p Targets,
    options: IsolateOptions,
    relief_paths: &'p RefCell<ReliefPaths>,
    protection: &'p RefCell<Protection>,
}

/// Returns the isolation without those of the valves used last that close no branch: another way to the same end stays
/// open.
fn without_needless<'p, 'a, V: Visitor>(
    searches: &Searches<'p, 'a>,
    mut isolation: Isolation<'p, 'a>,
    visitor: &mut V,
) -> Result<Isolation<'p, 'a>> {
    let mut candidates: Vec<NodeId> = isolation.used_last.iter().copied().collect();
    candidates.sort_unstable();
    for candidate in candidates {
        let mut used_last = isolation.used_last.clone();
        used_last.remove(&candidate);
        let mut trial = Isolation::search(searches, used_last, visitor)?;
        trial.find_gaps(visitor)?;
        // Without a valve that is needed, more branches are open.
        if trial.open_count() <= isolation.open_count() {
            isolation = trial;
        }
    }
    Ok(isolation)
}

impl<'p, 'a> Isolation<'p, 'a> {
    fn search<V: Visitor>(
        searches: &Searches<'p, 'a>,
        used_last: HashSet<NodeId>,
        visitor: &mut V,
    ) -> Result<Isolation<'p, 'a>> {
        let Searches { drawing, targets, options, relief_paths, protection } = *searches;
        let gap = |(kind, node): &(&'static str, NodeId)| DataGap { kind, at: *node, edge: NONE };
        let mut isolation = Isolation {
            drawing,
            options,
            relief_paths,
            protection,
            used_last,
            steps: Vec::new(),
            visited: HashSet::new(),
            targets: targets.items.iter().copied().collect(),
            parts: &targets.parts,
            entered_equipment: HashSet::new(),
            entered_sides: Vec::new(),
            searched: HashSet::new(),
            unknown_parts: HashSet::new(),
            inside: Vec::new(),
            barriers: Vec::new(),
            barrier_of: HashMap::new(),
            closed: HashSet::new(),
            open: Vec::new(),
            conditional: Vec::new(),
            relief: Vec::new(),
            devices_between: 0,
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
        isolation.follow_mounted(visitor)?;
        isolation.follow_own_devices(visitor)?;
        Ok(isolation)
    }

    /// Finds the gaps of the drawing at the volume: with the open ends, they are all that two searches are compared by.
    fn find_gaps<V: Visitor>(&mut self, visitor: &mut V) -> Result<()> {
        self.find_shared_nozzles(visitor)?;
        self.find_dangling(visitor)?;
        self.find_unknown_connections(visitor)?;
        self.find_branches_of_lines(visitor)?;
        self.find_stated_parts(visitor)?;
        self.find_stated_pipes(visitor)?;
        self.find_undrawn_segments(visitor)
    }

    /// Finds what the result rests on besides the gaps, for a report.
    fn finish<V: Visitor>(mut self, targets: &Targets, visitor: &mut V) -> Result<Isolation<'p, 'a>> {
        self.note_extract(&targets.items);
        self.find_other_sides(visitor)?;
        self.note_unknown_owners(visitor)?;
        self.find_shared_ports(visitor)?;
        self.find_shared_ids(visitor)?;
        self.find_contradicting_joints(visitor)?;
        self.find_absent_pipes(visitor)?;
        self.note_absent_equipment(visitor)?;
        self.note_nozzles_by_tag(visitor)?;
        self.note_missing_pipes(visitor)?;
        self.note_unread_texts(visitor)?;
        self.note_undrawn_lines(visitor)?;
        self.find_other_drawings(visitor)?;
        self.remove_internal_barriers(visitor)?;
        Ok(self)
    }

    fn report(&self, report: IsolationReport, targets: &[NodeId], charge: ChargeFn<'_>) -> Result<Datum<'a>> {
        match report {
            IsolationReport::Points => self.result(targets, charge),
            IsolationReport::Plan => self.plan(targets, charge),
        }
    }

    fn follow<V: Visitor>(&mut self, visitor: &mut V) -> Result<()> {
        self.follow_from(0, visitor)
    }

    /// Continues from a step and all later ones.
    fn follow_from<V: Visitor>(&mut self, first: usize, visitor: &mut V) -> Result<()> {
        let mut at = first;
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
                if valve_state::may_not_be_tight(self.drawing, node) {
                    self.note("not_tight", node);
                } else if self.is_barrier_certain(node) && has_unread_text(self.drawing, node) {
                    self.note("unread_text", node);
                }
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

    /// Returns the second barrier in series behind an item, and the bleed before it: one that is closed by hand.
    fn behind(&self, node: NodeId, before: NodeId, charge: ChargeFn<'_>) -> Result<Behind> {
        self.search_behind(node, before, false, charge)
    }

    /// Returns the same for a blind or a spool that is moved. With the option, also a valve that an actuator closes.
    fn behind_moved(&self, node: NodeId, before: NodeId, charge: ChargeFn<'_>) -> Result<Behind> {
        self.search_behind(node, before, self.options.accept_conditional, charge)
    }

    fn search_behind(
        &self,
        node: NodeId,
        before: NodeId,
        accepts_actuated: bool,
        charge: ChargeFn<'_>,
    ) -> Result<Behind> {
        let is_closed_too = |other: NodeId| {
            let barrier = self.barrier_of.get(&other).and_then(|at| self.barriers.get(*at));
            other != node && barrier.is_some_and(|barrier| !matches!(barrier.kind, "relief" | "one_way"))
        };
        let search = BehindSearch { accepts_actuated, is_closed_too: &is_closed_too };
        let mut behind = bleeds::behind(self.drawing, [before, node], &search, charge)?;
        // Behind another barrier of the volume is the volume again.
        behind.second = behind.second.filter(|second| !self.barrier_of.contains_key(second));
        Ok(behind)
    }

    fn note(&mut self, reason: &'static str, at: NodeId) {
        self.uncertainties.push(Uncertainty { reason, at, edge: NONE });
    }

    /// Adds a passed item to the volume. Without a further pipe it is a dead end, or the line continues undrawn.
    fn pass<V: Visitor>(&mut self, step: u32, visitor: &mut V) -> Result<()> {
        let node = self.steps[step as usize].node;
        self.inside.push(node);
        let degree = self.drawing.topology.flow_degree(node) + usize::from(self.parts.is_mounted(node));
        // Several pipes of the sheet meet at a connector: the branch leaves the sheet, and goes on by the others.
        if self.drawing.topology.is_sheet_end(node) {
            self.open.push(OpenBranch { step, kind: "off_page_connector", at: node });
        }
        if opens_to_air(self.drawing, node) {
            self.open.push(OpenBranch { step, kind: "open_end", at: node });
        } else if degree < pipe_count(self.drawing, node) || degree < 2 && self.continues_undrawn(node, visitor)? {
            self.gaps.push(DataGap { kind: "free_port", at: node, edge: NONE });
            self.open.push(OpenBranch { step, kind: "free_port", at: node });
        } else if degree < 2 {
            self.dead_ends.push(node);
            // A cap, or a plug.
            let closes_end = self.drawing.passage(node) == Some(Passage::End);
            if closes_end && has_unread_text(self.drawing, node) {
                self.note("unread_text", node);
            }
            if let Some(reason) = instrument_ends::uncertainty(self.drawing, node) {
                self.note(reason, node);
            }
        }
        if degree > 1 && degree < stated_way_count(self.drawing, node) {
            self.note("missing_pipe", node);
        }
        let is_in_pipe = self.drawing.topology.roles[node as usize] == Role::None && degree == 2;
        if is_in_pipe && has_opening(self.drawing, node) {
            self.note("unread_text", node);
        }
        // The third pipe of a tee may be missing on the drawing. A junction may be any point of a pipe.
        let is_tee = self.drawing.topology.roles[node as usize] == Role::Junction
            && !self.drawing.class_ends_with_word(node, &["junction"]);
        if degree == 2 && is_tee && instrument_legs(self.drawing, node) == 0 {
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

    /// Finds joints of two sheets inside the volume whose pipes differ: the connectors may be no pair, and the line may
    /// go elsewhere.
    fn find_contradicting_joints<V: Visitor>(&mut self, visitor: &mut V) -> Result<()> {
        let topology = &self.drawing.topology;
        let mut seen = HashSet::new();
        let connectors = self.inside.iter().copied().filter(|node| topology.roles[*node as usize] == Role::OffPage);
        for node in connectors.collect::<Vec<NodeId>>() {
            let edges = topology.table(EdgeFilter::Flow, Direction::Both).edges(node);
            visitor.charge(1 + edges.len() as u64)?;
            if edges.iter().any(|edge| topology.is_joint(*edge)) && has_doubtful_text(self.drawing, node) {
                self.note("unread_text", node);
            }
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

    /// Notes targets, equipment and nozzles of the volume that are not there or may not be: where their pipes end is not stated.
    fn note_absent_equipment<V: Visitor>(&mut self, visitor: &mut V) -> Result<()> {
        visitor.charge(1 + self.inside.len() as u64)?;
        let reasons = ["not_installed", "unknown_status"];
        let noted = self.uncertainties.iter().filter(|noted| reasons.contains(&noted.reason));
        let noted: HashSet<NodeId> = noted.map(|noted| noted.at).collect();
        let topology = &self.drawing.topology;
        let is_body = |node: &NodeId| match topology.roles[*node as usize] {
            Role::Equipment => true,
            Role::Port => topology.flow_degree(*node) > 0,
            _ => self.targets.contains(node),
        };
        let bodies = self.inside.iter().copied().filter(|node| is_body(node) && !noted.contains(node));
        let reason = |node: NodeId| Some((valve_state::installation(self.drawing, node).uncertainty()?, node));
        let found: Vec<(&str, NodeId)> = bodies.filter_map(reason).collect();
        found.into_iter().for_each(|(reason, node)| self.note(reason, node));
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
                // It is none of the barriers that are closed.
                self.barrier_of.insert(node, usize::MAX);
            }
        }
        for (at, barrier) in self.barriers.iter().enumerate() {
            self.barrier_of.insert(self.steps[barrier.step as usize].node, at);
        }
        self.internal.reverse();
        self.inside.extend(&self.internal);
        Ok(())
    }

    /// Returns the valves that are to stay open but are needed as barriers: on the way to each end that stays open, the
    /// first one that no relief device depends on, or else the first one. None that the relief of others depends on.
    fn needed_last<V: Visitor>(&self, visitor: &mut V) -> Result<Vec<NodeId>> {
        let kept_open = self.closable_last(&mut |units| visitor.charge(units))?;
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

    /// The number of open ends and data gaps. Equipment that several of its nozzles lead to counts for each of them: a
    /// valve before one closes a branch, although another one stays open to the same equipment. A relief device of others counts,
    /// whether a branch ends at it or leads around it.
    fn open_count(&self) -> usize {
        let end = |open: &OpenBranch| (open.kind, open.at, self.node_at(open.step));
        let ends: HashSet<(&str, NodeId, NodeId)> = self.open.iter().map(end).collect();
        ends.len() + self.devices_between + self.gaps.len()
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
pub(crate) fn is_unknown(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let topology = &drawing.topology;
    topology.roles[node as usize] == Role::None && topology.owner(node).is_none() && drawing.passage(node).is_none()
}

/// Returns whether an item is an instrument that measures a flow, by its class or its tag.
pub(crate) fn measures_flow(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let is_flow_tag = || drawing.tag(node).and_then(Tag::parse_letters).is_some_and(|tag| tag.letters.starts_with('F'));
    drawing.topology.roles[node as usize] == Role::Instrument
        && (drawing.class_has(node, vocabulary::FLOW_INSTRUMENTS) || is_flow_tag())
        && !drawing.class_ends_with_word(node, vocabulary::POSITIONERS)
}

/// Returns the number of pipes that an item needs for a branch to end at it or pass it as drawn.
pub(crate) fn pipe_count(drawing: &Drawing<'_>, node: NodeId) -> usize {
    let is_through = match drawing.topology.roles[node as usize] {
        Role::Blind => true,
        // A sample flows on behind an analyzer, and a purge comes from there.
        Role::Instrument => {
            drawing.class_has(node, vocabulary::SAMPLING_INSTRUMENTS) || is_instrument_fitting(drawing, node)
        }
        Role::None => drawing.topology.owner(node).is_none() && drawing.passage(node) != Some(Passage::End),
        _ => false,
    };
    expected_pipe_count(drawing, node).max(if is_through { 2 } else { 0 })
}

/// Returns the number of ways of a valve of several ways, a cross or an ejector by its class or its fields; zero for other items.
fn stated_way_count(drawing: &Drawing<'_>, node: NodeId) -> usize {
    let role = drawing.topology.roles[node as usize];
    let is_valve = matches!(role, Role::MultiWay | Role::Barrier | Role::Control);
    match () {
        () if is_valve && drawing.class_has(node, vocabulary::FOUR_WAYS) => 4,
        () if role == Role::MultiWay || is_valve && valve_state::has_several_ways(drawing, node) => 3,
        () if role == Role::Junction && drawing.class_ends_with_word(node, &["cross"]) => 4,
        () if role == Role::None && drawing.class_ends_with_word(node, vocabulary::THREE_CONNECTIONS) => 3,
        () => 0,
    }
}

/// Returns whether an item with the class of an instrument is a fitting of one that is not drawn, such as a manifold.
fn is_instrument_fitting(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let topology = &drawing.topology;
    let is_instrument = |other: &NodeId| topology.roles[*other as usize] == Role::Instrument;
    drawing.class_ends_with_word(node, vocabulary::INSTRUMENT_FITTINGS)
        && !topology.table(EdgeFilter::All, Direction::Both).nodes(node).iter().any(is_instrument)
}

/// Returns the number of pipes an item is designed for: its process ports, or two if it belongs in a line.
///
/// A nozzle may be drawn with a port to its equipment, and an instrument bubble with ports on each side: a nozzle
/// therefore counts as one pipe, and an instrument by its process ports only.
pub(crate) fn expected_pipe_count(drawing: &Drawing<'_>, node: NodeId) -> usize {
    let is_inline = is_inline_item(drawing, node);
    let Some(kinds) = port_kinds(drawing, node) else { return if is_inline { 2 } else { 0 } };
    let process_ports = kinds.iter().filter(|kind| **kind == Some("process")).count();
    let listed_ports = process_port_count(drawing, node);
    match drawing.topology.roles[node as usize] {
        _ if drawing.topology.owner(node).is_some() => listed_ports.min(1),
        Role::Junction => listed_ports.saturating_sub(instrument_legs(drawing, node)).max(2),
        Role::Instrument => process_ports,
        // A list of one port is incomplete.
        _ if is_inline => listed_ports.max(2),
        _ => listed_ports,
    }
}

/// Returns the kinds of the ports that an item lists; `None` if it lists none.
fn port_kinds<'a>(drawing: &Drawing<'a>, node: NodeId) -> Option<Vec<Option<&'a str>>> {
    let ports = drawing.node_field(node, Names::Ports)?.as_array()?;
    Some(ports.iter().map(|port| drawing.field(port, Names::PortType).and_then(Value::as_str)).collect())
}
