//! Isolation of an item: the valves that separate it from the rest of the drawing, and the branches that stay open.
//!
//! The results are candidate points on the drawing, not an isolation certificate. Pressure ignores flow arrows, so
//! branches are followed in both directions. Items that do not close for certain are passed and listed; a branch that
//! ends without a barrier is a result of its own, never left out.

use hashbrown::{HashMap, HashSet};

use super::dead_ends::{has_instrument, is_inline_item, is_manhole};
use super::{ChargeFn, Datum, segments};
use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NONE, NodeId};
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter, EdgeFlags};
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

const RESULT: &[&str] = &[
    "target",
    "barriers",
    "unresolved",
    "inside",
    "conditional",
    "relief",
    "bleeds",
    "dead_ends",
    "swallowed",
    "data_gaps",
    "complete",
];
const BARRIER: &[&str] = &["node", "port", "ports", "path", "kind", "method", "closed", "fail_action"];
const UNRESOLVED: &[&str] = &["port", "kind", "at", "path", "partner"];
const GAP: &[&str] = &["kind", "at", "edge"];

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

/// Effect of a node on a branch.
enum NodeEffect {
    Ends(&'static str),
    Passes,
    StaysOpen(&'static str, NodeId),
}

struct Isolation<'p, 'a> {
    drawing: &'p Drawing<'a>,
    options: IsolateOptions,
    steps: Vec<Step>,
    /// Nodes that a branch has reached.
    visited: HashSet<NodeId>,
    targets: HashSet<NodeId>,
    /// Other equipment inside the volume.
    entered_equipment: HashSet<NodeId>,
    inside: Vec<NodeId>,
    barriers: Vec<Barrier>,
    /// By node: its barrier.
    barrier_of: HashMap<NodeId, usize>,
    /// Pairs of barriers and the ports of the branches they end.
    closed: HashSet<(NodeId, NodeId)>,
    open: Vec<OpenBranch>,
    conditional: Vec<NodeId>,
    relief: Vec<NodeId>,
    dead_ends: Vec<NodeId>,
    swallowed: Vec<NodeId>,
    gaps: Vec<DataGap>,
    missing_ends: segments::MissingEnds,
}

/// Follows every branch of some items to its barrier. `visitor` selects further barriers besides those by role.
pub(crate) fn isolate<'a, V: Visitor>(
    drawing: &Drawing<'a>,
    targets: &[NodeId],
    options: IsolateOptions,
    visitor: &mut V,
) -> Result<Datum<'a>> {
    let mut isolation = Isolation {
        drawing,
        options,
        steps: Vec::new(),
        visited: HashSet::new(),
        targets: targets.iter().copied().collect(),
        entered_equipment: HashSet::new(),
        inside: Vec::new(),
        barriers: Vec::new(),
        barrier_of: HashMap::new(),
        closed: HashSet::new(),
        open: Vec::new(),
        conditional: Vec::new(),
        relief: Vec::new(),
        dead_ends: Vec::new(),
        swallowed: Vec::new(),
        gaps: Vec::new(),
        missing_ends: segments::MissingEnds::default(),
    };
    for target in targets {
        isolation.include(*target);
    }
    isolation.follow(visitor)?;
    isolation.find_dangling(visitor)?;
    isolation.result(targets, &mut |units| visitor.charge(units))
}

impl Isolation<'_, '_> {
    /// Adds an item and its ports to the volume; branches start at them.
    fn include(&mut self, item: NodeId) {
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
            self.open_to_owner(step, owner);
        }
    }

    /// Starts a branch at a node and returns its step.
    fn begin_branch(&mut self, node: NodeId) -> u32 {
        let step = self.steps.len() as u32;
        self.steps.push(Step { node, from: NONE, port: step, depth: 0, is_end: false });
        step
    }

    /// Handles a nozzle as target: no barrier separates it from its own equipment.
    fn open_to_owner(&mut self, step: u32, owner: NodeId) {
        if self.passes_equipment() {
            self.enter(step, owner);
        } else {
            self.open.push(OpenBranch { step, kind: "equipment", at: owner });
        }
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

    /// Continues a branch to a node.
    fn visit<V: Visitor>(&mut self, from: u32, node: NodeId, visitor: &mut V) -> Result<()> {
        let Step { port, depth, .. } = self.steps[from as usize];
        if !self.visited.insert(node) {
            self.add_port(node, port);
            return Ok(());
        }
        let step = self.steps.len() as u32;
        let effect = self.effect_of(node, visitor)?;
        self.steps.push(Step { node, from, port, depth: depth + 1, is_end: false });
        match effect {
            NodeEffect::Passes => self.pass(step, visitor)?,
            NodeEffect::Ends(kind) => {
                let ports = vec![self.steps[port as usize].node];
                self.closed.insert((node, ports[0]));
                self.barrier_of.insert(node, self.barriers.len());
                self.barriers.push(Barrier { step, ports, kind });
                self.steps[step as usize].is_end = true;
            }
            NodeEffect::StaysOpen("equipment", equipment) if self.passes_equipment() => self.enter(step, equipment),
            NodeEffect::StaysOpen(kind, at) => {
                self.open.push(OpenBranch { step, kind, at });
                self.steps[step as usize].is_end = true;
            }
        }
        Ok(())
    }

    /// Adds a port to a barrier: a barrier of several branches is one row with all their ports.
    fn add_port(&mut self, node: NodeId, port: u32) {
        let port = self.steps[port as usize].node;
        let barrier = self.barrier_of.get(&node).map(|at| &mut self.barriers[*at]);
        if let Some(barrier) = barrier.filter(|_| self.closed.insert((node, port))) {
            barrier.ports.push(port);
        }
    }

    fn effect_of<V: Visitor>(&mut self, node: NodeId, visitor: &mut V) -> Result<NodeEffect> {
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
        Ok(match topology.roles[node as usize] {
            Role::PositiveBarrier => NodeEffect::Ends("positive_barrier"),
            Role::Barrier => NodeEffect::Ends("barrier"),
            Role::Control => self.conditional_effect(node),
            Role::OneWay if self.options.accept_one_way => NodeEffect::Ends("one_way"),
            Role::Relief => self.relief_effect(node),
            Role::Equipment => NodeEffect::StaysOpen("equipment", node),
            Role::OffPage if topology.flow_degree(node) < 2 => NodeEffect::StaysOpen("off_page_connector", node),
            Role::OpenEnd => NodeEffect::StaysOpen("open_end", node),
            _ => NodeEffect::Passes,
        })
    }

    fn conditional_effect(&mut self, node: NodeId) -> NodeEffect {
        self.conditional.push(node);
        if self.options.accept_conditional { NodeEffect::Ends("conditional") } else { NodeEffect::Passes }
    }

    fn relief_effect(&mut self, node: NodeId) -> NodeEffect {
        self.relief.push(node);
        if self.options.accept_relief { NodeEffect::Ends("relief") } else { NodeEffect::Passes }
    }

    /// Adds a passed item to the volume. Without a further pipe it is a dead end, or the line continues undrawn.
    fn pass<V: Visitor>(&mut self, step: u32, visitor: &mut V) -> Result<()> {
        let node = self.steps[step as usize].node;
        self.inside.push(node);
        let degree = self.drawing.topology.flow_degree(node);
        if degree < expected_pipe_count(self.drawing, node) || degree < 2 && self.continues_undrawn(node, visitor)? {
            self.gaps.push(DataGap { kind: "free_port", at: node, edge: NONE });
            self.open.push(OpenBranch { step, kind: "free_port", at: node });
        } else if degree < 2 {
            self.dead_ends.push(node);
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

    /// Continues through equipment: by the ports on the same side, or by all if it is included. Pipes connected to the
    /// equipment without a nozzle are on the unnamed side.
    fn enter(&mut self, step: u32, equipment: NodeId) {
        let topology = &self.drawing.topology;
        let Step { node, port, depth, .. } = self.steps[step as usize];
        let side = topology.zone(node);
        let is_open = |other: &NodeId| {
            self.options.include_equipment || self.options.pass == EquipmentPolicy::Any || topology.zone(*other) == side
        };
        let ports = topology.ports.nodes(equipment).iter().copied();
        let exits: Vec<NodeId> = ports.chain([equipment]).filter(is_open).collect();
        if node != equipment && !self.targets.contains(&node) {
            self.inside.push(node);
        }
        if self.entered_equipment.insert(equipment) {
            self.inside.push(equipment);
            self.swallowed.extend(self.options.include_equipment.then_some(equipment));
        }
        for exit in exits {
            if !self.visited.insert(exit) {
                continue;
            }
            if exit != equipment {
                self.inside.push(exit);
            }
            if topology.flow_degree(exit) > 0 {
                self.steps.push(Step { node: exit, from: step, port, depth: depth + 1, is_end: false });
            } else if exit != equipment && self.is_unused_port(exit) {
                self.gaps.push(DataGap { kind: "unconnected_nozzle", at: exit, edge: NONE });
            }
        }
    }

    /// Finds pipes at the volume and nozzles of its items with an end that names no node.
    fn find_dangling<V: Visitor>(&mut self, visitor: &mut V) -> Result<()> {
        let topology = &self.drawing.topology;
        visitor.charge(topology.dangling.len() as u64)?;
        let inside: HashSet<NodeId> = self.inside.iter().copied().collect();
        let may_open_volume = |edge: &&EdgeId| {
            [EdgeFlags::FLOW, EdgeFlags::PART].iter().any(|flags| topology.edge_flags[**edge as usize].contains(*flags))
        };
        for edge in topology.dangling.iter().filter(may_open_volume) {
            let end = topology.ends[*edge as usize].into_iter().find(|end| inside.contains(end));
            self.gaps.extend(end.map(|node| DataGap { kind: "dangling_edge", at: node, edge: *edge }));
        }
        Ok(())
    }

    fn path<'d>(&self, step: u32) -> Datum<'d> {
        let mut nodes = Vec::new();
        let mut at = step;
        while at != NONE {
            nodes.push(self.steps[at as usize].node);
            at = self.steps[at as usize].from;
        }
        nodes.reverse();
        Datum::Nodes(nodes)
    }
}

impl<'a> Isolation<'_, 'a> {
    fn result(&self, targets: &[NodeId], charge: ChargeFn<'_>) -> Result<Datum<'a>> {
        let target = match targets {
            [target] => Datum::Node(*target),
            several => Datum::Nodes(several.into()),
        };
        let (mut barriers, mut bleeds) = (Vec::with_capacity(self.barriers.len()), Vec::new());
        for barrier in &self.barriers {
            barriers.push(self.barrier_row(barrier, charge)?);
            let Step { node, from, .. } = self.steps[barrier.step as usize];
            if self.is_bleed(node, self.node_at(from), charge)? {
                bleeds.push(node);
            }
        }
        let open = self.open.iter().map(|open| self.open_branch_row(open)).collect();
        let gap = |gap: &DataGap| vec![Datum::Word(gap.kind), Datum::Node(gap.at), Datum::Edge(gap.edge)];
        Ok(Datum::Record(
            RESULT,
            vec![
                target,
                Datum::Table(BARRIER, barriers),
                Datum::Table(UNRESOLVED, open),
                Datum::Nodes(self.inside.clone()),
                Datum::Nodes(self.conditional.clone()),
                Datum::Nodes(self.relief.clone()),
                Datum::Nodes(bleeds),
                Datum::Nodes(self.dead_ends.clone()),
                Datum::Nodes(self.swallowed.clone()),
                Datum::Table(GAP, self.gaps.iter().map(gap).collect()),
                Datum::Bool(self.open.is_empty() && self.gaps.is_empty()),
            ],
        ))
    }

    fn barrier_row(&self, barrier: &Barrier, charge: ChargeFn<'_>) -> Result<Vec<Datum<'a>>> {
        let node = self.steps[barrier.step as usize].node;
        Ok(vec![
            Datum::Node(node),
            Datum::Node(barrier.ports[0]),
            Datum::Nodes(barrier.ports.clone()),
            self.path(barrier.step),
            Datum::Word(barrier.kind),
            Datum::Word(self.method(barrier, charge)?),
            Datum::Bool(is_closed(self.drawing, node)),
            Datum::value(self.drawing.node_field(node, Names::FailAction)),
        ])
    }

    fn open_branch_row(&self, open: &OpenBranch) -> Vec<Datum<'a>> {
        let port = self.steps[open.step as usize].port;
        let cross_page = || self.drawing.node_field(open.at, Names::CrossPage);
        let partner = (open.kind == "off_page_connector").then(cross_page).flatten();
        vec![
            Datum::Node(self.steps[port as usize].node),
            Datum::Word(open.kind),
            Datum::Node(open.at),
            self.path(open.step),
            Datum::value(partner),
        ]
    }

    /// Returns the node of a step; `NONE` before the first.
    fn node_at(&self, step: u32) -> NodeId {
        self.steps.get(step as usize).map_or(NONE, |step| step.node)
    }

    /// Returns the neighbors of a node and charges fuel for them.
    fn neighbors(&self, node: NodeId, charge: ChargeFn<'_>) -> Result<&[NodeId]> {
        let nodes = self.drawing.topology.table(EdgeFilter::Flow, Direction::Both).nodes(node);
        charge(nodes.len() as u64)?;
        Ok(nodes)
    }

    /// Returns the isolation method of a branch, by the items at its barrier and behind it.
    fn method(&self, barrier: &Barrier, charge: ChargeFn<'_>) -> Result<&'static str> {
        let Step { node, from, .. } = self.steps[barrier.step as usize];
        if self.drawing.topology.roles[node as usize] == Role::PositiveBarrier {
            return Ok("positive");
        }
        Ok(match (self.second_barrier(node, self.node_at(from), charge)?, self.has_bleed_before(from, charge)?) {
            ((true, true), _) => "double_block_bleed",
            ((true, false), _) => "double_block",
            ((false, true), _) | (_, true) => "block_bleed",
            _ => "single",
        })
    }

    /// Returns whether a second barrier follows in series, and whether a bleed branches off before it.
    fn second_barrier(&self, barrier: NodeId, before: NodeId, charge: ChargeFn<'_>) -> Result<(bool, bool)> {
        const MAX_STEPS: usize = 20;
        let topology = &self.drawing.topology;
        let (mut node, mut before, mut has_bleed) = (barrier, before, false);
        for _ in 0..MAX_STEPS {
            let mut rest = Vec::new();
            for next in self.neighbors(node, charge)?.iter().copied().filter(|next| *next != before) {
                if self.is_bleed_valve(next, node, charge)? { has_bleed = true } else { rest.push(next) }
            }
            let [only] = rest.as_slice() else { return Ok((false, has_bleed)) };
            if topology.is_equipment(*only) {
                return Ok((false, has_bleed));
            }
            match topology.roles[*only as usize] {
                Role::Barrier | Role::PositiveBarrier => return Ok((true, has_bleed)),
                Role::Control | Role::OffPage | Role::OpenEnd | Role::Relief => return Ok((false, has_bleed)),
                _ => (before, node) = (node, *only),
            }
        }
        Ok((false, has_bleed))
    }

    /// Returns whether a bleed branches off the last item before a barrier.
    fn has_bleed_before(&self, step: u32, charge: ChargeFn<'_>) -> Result<bool> {
        let Some(Step { node, from, .. }) = self.steps.get(step as usize) else { return Ok(false) };
        if self.drawing.topology.roles[*node as usize] != Role::Junction {
            return Ok(false);
        }
        let before = self.node_at(*from);
        for next in self.neighbors(*node, charge)?.iter().copied().filter(|next| *next != before) {
            if self.is_bleed_valve(next, *node, charge)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn is_bleed_valve(&self, node: NodeId, before: NodeId, charge: ChargeFn<'_>) -> Result<bool> {
        Ok(self.drawing.topology.roles[node as usize] == Role::Barrier && self.is_bleed(node, before, charge)?)
    }

    /// Returns whether a valve, reached from one side, leads to nothing: a drain, a vent or a bleed.
    fn is_bleed(&self, valve: NodeId, before: NodeId, charge: ChargeFn<'_>) -> Result<bool> {
        const MAX_STEPS: usize = 10;
        let topology = &self.drawing.topology;
        let (mut node, mut before) = (valve, before);
        if before == NONE {
            return Ok(false);
        }
        for _ in 0..MAX_STEPS {
            let mut next = self.neighbors(node, charge)?.iter().copied().filter(|next| *next != before);
            match (next.next(), next.next()) {
                (None, _) => return Ok(!topology.is_equipment(node) && topology.roles[node as usize] != Role::OffPage),
                (Some(only), None) => (before, node) = (node, only),
                _ => return Ok(false),
            }
        }
        Ok(false)
    }
}

/// Returns whether the drawing defines a valve as normally closed.
pub(crate) fn is_closed(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let position = drawing.node_field(node, Names::NormalPosition).and_then(Value::as_str);
    position.is_some_and(|position| drawing.topology.config.contains(Names::Closed, position))
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
