//! Breadth-first walks and the subgraph that a walk can reach.
//!
//! Independent of JSON. A visitor decides which edges are followed, which nodes are entered and where a branch ends,
//! once per edge and node; all other algorithms run on the resulting [`ReachableSubgraph`] without a visitor.

use std::borrow::Cow;
use std::ops::Deref;

use hashbrown::{HashMap, HashSet};

use super::adjacency::{Adjacency, EdgeId, NONE, NodeId};
use super::roles::Role;
use super::topology::absences::Absences;
use super::topology::{BitSet, Direction, EdgeFilter, Topology};
use crate::error::Result;

/// Policy for walks that reach equipment.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum EquipmentPolicy {
    /// The walk ends at equipment.
    None,
    /// The walk continues from port to port on the same side.
    Zone,
    /// The walk continues from port to port unless the drawing states that they are on different sides.
    PossibleZone,
    Any,
}

/// Options of a walk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WalkOptions {
    pub edges: EdgeFilter,
    pub dir: Direction,
    pub pass: EquipmentPolicy,
    pub depth: u32,
}

impl WalkOptions {
    /// Returns whether a walk may follow edges in an assumed direction. A walk in both directions assumes none.
    pub fn may_assume_directions(&self, topology: &Topology) -> bool {
        !topology.undirected.is_empty() && self.dir != Direction::Both
    }
}

/// Visitor of a walk: charges fuel and decides which edges and nodes to follow.
pub(crate) trait Visitor {
    /// Charges fuel for the edges followed.
    fn charge(&mut self, units: u64) -> Result<()>;

    /// Returns whether an edge may be followed.
    fn follows(&mut self, _edge: EdgeId) -> Result<bool> {
        Ok(true)
    }

    /// Returns whether a node may be entered.
    fn enters(&mut self, _node: NodeId) -> Result<bool> {
        Ok(true)
    }

    /// Returns whether a branch ends at a node.
    fn ends_at(&mut self, _node: NodeId) -> Result<bool> {
        Ok(false)
    }
}

/// Visitor that only charges fuel.
pub(crate) struct ChargeOnly<'p>(pub &'p mut dyn FnMut(u64) -> Result<()>);

impl Visitor for ChargeOnly<'_> {
    fn charge(&mut self, units: u64) -> Result<()> {
        (self.0)(units)
    }
}

/// Visited nodes and queue memory of a walk. Kept between walks: a new walk increments the epoch instead of clearing.
#[derive(Debug, Default)]
pub(crate) struct WalkScratch {
    stamps: Vec<u32>,
    epoch: u32,
    /// Memory for the nodes that the next walk finds.
    nodes: Vec<NodeId>,
}

impl WalkScratch {
    /// Resizes the memory for a network and invalidates the previous walk.
    pub fn reset(&mut self, nodes: usize) {
        if self.stamps.len() < nodes {
            self.stamps.resize(nodes, 0);
        }
        self.epoch = self.epoch.wrapping_add(1);
        if self.epoch == 0 {
            self.stamps.fill(0);
            self.epoch = 1;
        }
    }

    /// Enters a node and returns whether that is the first time.
    pub fn enter(&mut self, node: NodeId) -> bool {
        std::mem::replace(&mut self.stamps[node as usize], self.epoch) != self.epoch
    }

    /// Returns whether a node was entered.
    pub fn contains(&self, node: NodeId) -> bool {
        self.stamps[node as usize] == self.epoch
    }

    /// Returns the frontier of a new [`Bfs`].
    fn begin_bfs(&mut self, topology: &Topology) -> BfsFrontier<'_> {
        self.reset(topology.node_count());
        if self.nodes.len() <= self.stamps.len() {
            self.nodes.resize(self.stamps.len() + 1, NONE);
        }
        BfsFrontier { nodes: &mut self.nodes, len: 0, stamps: &mut self.stamps, epoch: self.epoch }
    }

    /// Reuses the memory of the nodes that a walk has found.
    pub fn recycle(&mut self, nodes: NodeQueue) {
        if nodes.nodes.len() > self.nodes.len() {
            self.nodes = nodes.nodes;
        }
    }

    /// Memory in bytes.
    pub fn size(&self) -> usize {
        size_of_val(&*self.stamps) + size_of_val(&*self.nodes)
    }
}

/// A node that a walk has reached.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub node: NodeId,
    /// The edge by which it was reached; `NONE` at the start.
    pub via: EdgeId,
    /// The previous step; `NONE` at the start.
    pub from: u32,
    pub depth: u32,
    /// The walk ended here although it could have continued.
    pub stops: bool,
    /// The path contains an edge that flows both ways or in an unknown direction.
    pub assumed: bool,
    /// For the interior of equipment: the side on which it was entered. Shown for the first side only.
    inside: Interior,
}

/// Marks steps that represent the interior of equipment.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Interior {
    Outside,
    Shown(u32),
    Hidden(u32),
}

impl Step {
    fn start(node: NodeId) -> Step {
        Step { node, via: NONE, from: NONE, depth: 0, stops: false, assumed: false, inside: Interior::Outside }
    }

    /// Returns whether the step is a node of the result and not only a passage through equipment that is already shown.
    pub fn is_shown(&self) -> bool {
        !matches!(self.inside, Interior::Hidden(_))
    }
}

/// Passages through equipment that a walk has taken.
#[derive(Default)]
struct EquipmentVisits {
    /// Equipment and side.
    entered: HashMap<(NodeId, u32), ()>,
    /// Equipment that may not be entered or that ends the walk.
    closed: HashSet<NodeId>,
}

/// Returns all nodes that a walk reaches, breadth first, each once; edges in document order.
pub(crate) fn walk<V: Visitor>(
    topology: &Topology,
    scratch: &mut WalkScratch,
    starts: &[NodeId],
    options: &WalkOptions,
    visitor: &mut V,
) -> Result<Vec<Step>> {
    walk_until(topology, scratch, starts, options, visitor, |_| false).map(|(steps, _)| steps)
}

/// Like [`walk`], but stops at the first target. Returns the steps so far, and the position of the target.
pub(crate) fn walk_until<V: Visitor>(
    topology: &Topology,
    scratch: &mut WalkScratch,
    starts: &[NodeId],
    options: &WalkOptions,
    visitor: &mut V,
    is_target: impl Fn(NodeId) -> bool,
) -> Result<(Vec<Step>, Option<usize>)> {
    scratch.reset(topology.node_count());
    let mut steps: Vec<Step> = Vec::new();
    for start in starts {
        if scratch.enter(*start) {
            steps.push(Step::start(*start));
        }
    }
    let mut walker = Walker {
        topology,
        table: topology.table(options.edges, options.dir),
        options,
        visits: EquipmentVisits::default(),
    };
    let (mut at, mut checked) = (0, 0);
    while at < steps.len() {
        if let Some(found) = (checked..steps.len()).find(|at| is_target(steps[*at].node)) {
            return Ok((steps, Some(found)));
        }
        checked = steps.len();
        walker.expand(at as u32, &mut steps, scratch, visitor)?;
        at += 1;
    }
    Ok((steps, None))
}

/// Returns the steps from the start to `end`, inclusive.
pub(crate) fn path_to(steps: &[Step], end: usize) -> Vec<Step> {
    let mut path = vec![steps[end]];
    while let Some(step) = path.last().and_then(|step| steps.get(step.from as usize)) {
        path.push(*step);
    }
    path.reverse();
    path
}

/// Result of a walk.
#[derive(Debug, Default)]
pub(crate) struct WalkResult {
    pub nodes: NodeQueue,
    /// The number of start nodes; they come first.
    pub starts: usize,
    /// The depth reached.
    pub depth: u32,
    /// The edges by which nodes were first reached, of those that a warning may be about: of unknown direction, or pipes
    /// that may not be there.
    pub reported: Vec<EdgeId>,
}

/// Nodes in the order in which they were found, in reused memory.
#[derive(Debug, Default)]
pub(crate) struct NodeQueue {
    nodes: Vec<NodeId>,
    len: usize,
}

impl NodeQueue {
    /// Keeps the selected nodes from a position on. In place: an allocation would cost as much as the whole walk.
    pub fn retain(&mut self, from: usize, keeps: impl Fn(NodeId) -> bool) {
        let mut len = 0;
        for at in from..self.len {
            let node = self.nodes[at];
            if keeps(node) {
                self.nodes[len] = node;
                len += 1;
            }
        }
        self.len = len;
    }
}

impl Deref for NodeQueue {
    type Target = [NodeId];

    fn deref(&self) -> &[NodeId] {
        &self.nodes[..self.len]
    }
}

impl From<Vec<NodeId>> for NodeQueue {
    fn from(nodes: Vec<NodeId>) -> NodeQueue {
        NodeQueue { len: nodes.len(), nodes }
    }
}

/// Fuel that accumulates before it is charged.
pub(super) const CHARGE_BATCH: u64 = 256;

/// Walk without visitor decisions and without passing ports; finds the same nodes as [`walk`].
///
/// Hot: touches only the table and the stamps, unless the drawing has edges of unknown direction.
pub(crate) struct Bfs<'t> {
    topology: &'t Topology,
    table: &'t Adjacency,
    options: WalkOptions,
    /// Nodes at edges of unknown direction, if these are to be reported.
    undirected_edge_nodes: Option<&'t BitSet>,
    /// Pipes that may not be there, if there are any and they are to be reported.
    absences: Option<&'t Absences>,
}

impl<'t> Bfs<'t> {
    pub fn new(topology: &'t Topology, options: WalkOptions) -> Bfs<'t> {
        let undirected_edge_nodes = options.may_assume_directions(topology).then(|| topology.undirected_edge_nodes());
        let table = topology.table(options.edges, options.dir);
        Bfs { topology, table, options, undirected_edge_nodes, absences: None }
    }

    /// Reports the pipes followed that may not be there.
    pub fn with_absences(self, absences: &'t Absences) -> Bfs<'t> {
        Bfs { absences: Some(absences).filter(|absences| !absences.is_empty()), ..self }
    }

    fn is_at_reported_edge(&self, node: NodeId) -> bool {
        self.undirected_edge_nodes.is_some_and(|nodes| nodes.contains(node))
            || self.absences.is_some_and(|absences| absences.is_at_pipe(node))
    }

    fn is_reported(&self, edge: EdgeId) -> bool {
        self.topology.is_assumed(edge) || self.absences.is_some_and(|absences| absences.contains_pipe(edge))
    }

    pub fn walk(
        &self,
        scratch: &mut WalkScratch,
        starts: &[NodeId],
        mut charge: impl FnMut(u64) -> Result<()>,
    ) -> Result<WalkResult> {
        let (mut frontier, mut reported) = (scratch.begin_bfs(self.topology), Vec::new());
        frontier.enter(starts);
        let starts = frontier.len;
        let (len, depth) = if self.undirected_edge_nodes.is_none() && self.absences.is_none() {
            self.expand(frontier, |_, _, _| (), &mut charge)?
        } else {
            let on_expand = |node: NodeId, frontier: &BfsFrontier<'_>, before: usize| {
                if self.is_at_reported_edge(node) {
                    let found = &frontier.nodes[before..frontier.len];
                    let followed = followed_edges(self.table, node, found);
                    reported.extend(followed.filter(|edge| self.is_reported(*edge)));
                }
            };
            self.expand(frontier, on_expand, &mut charge)?
        };
        Ok(WalkResult { nodes: NodeQueue { len, nodes: std::mem::take(&mut scratch.nodes) }, starts, depth, reported })
    }

    /// Returns the number of nodes that a walk from one node finds, including it, and the depth. Reports no assumed
    /// edges.
    pub fn count(
        &self,
        scratch: &mut WalkScratch,
        start: NodeId,
        mut charge: impl FnMut(u64) -> Result<()>,
    ) -> Result<(usize, u32)> {
        let mut frontier = scratch.begin_bfs(self.topology);
        frontier.enter(&[start]);
        self.expand(frontier, |_, _, _| (), &mut charge)
    }

    /// Expands the frontier level by level. Returns the number of nodes and the depth. `on_expand` gets each expanded
    /// node, and the number of nodes found before it was expanded.
    fn expand(
        &self,
        mut frontier: BfsFrontier<'_>,
        mut on_expand: impl FnMut(NodeId, &BfsFrontier<'_>, usize),
        charge: &mut impl FnMut(u64) -> Result<()>,
    ) -> Result<(usize, u32)> {
        let Bfs { topology, options: WalkOptions { pass, depth: max_depth, .. }, .. } = *self;
        let table = self.table.neighbors();
        let stops_at = |node| pass == EquipmentPolicy::None && topology.is_equipment(node);
        let (mut at, mut depth, mut uncharged) = (0, 0, 0);
        while at < frontier.len && depth < max_depth {
            let (end, is_wide) = (frontier.len, frontier.len - at >= BfsFrontier::WIDE_LEVEL);
            while at < end {
                let node = frontier.nodes[at];
                let neighbors = table.get(node);
                at += 1;
                uncharged += 1 + neighbors.len() as u64;
                if uncharged > CHARGE_BATCH {
                    charge(std::mem::take(&mut uncharged))?;
                }
                if depth > 0 && stops_at(node) {
                    continue;
                }
                let before = frontier.len;
                match is_wide {
                    true => frontier.enter_branchless(neighbors),
                    false => frontier.enter(neighbors),
                }
                on_expand(node, &frontier, before);
            }
            depth += u32::from(frontier.len > end);
        }
        charge(uncharged)?;
        Ok((frontier.len, depth))
    }
}

/// Frontier of a [`Bfs`]: the nodes found and the visited stamps.
struct BfsFrontier<'s> {
    /// Memory for all nodes, and one more.
    nodes: &'s mut [NodeId],
    len: usize,
    stamps: &'s mut [u32],
    epoch: u32,
}

impl BfsFrontier<'_> {
    /// Levels at least this wide are expanded without branches: predicting which neighbors are new is expensive there.
    /// On narrow levels, the next read of the queue would have to wait for the current write.
    const WIDE_LEVEL: usize = 64;

    /// Adds the nodes that were not entered yet.
    #[inline]
    fn enter(&mut self, nodes: &[NodeId]) {
        for node in nodes {
            let stamp = &mut self.stamps[*node as usize];
            if *stamp != self.epoch {
                *stamp = self.epoch;
                self.nodes[self.len] = *node;
                self.len += 1;
            }
        }
    }

    /// Like `enter`, without a branch: each node is written, and only the length depends on whether it is new.
    #[inline]
    fn enter_branchless(&mut self, nodes: &[NodeId]) {
        for node in nodes {
            let stamp = &mut self.stamps[*node as usize];
            self.nodes[self.len] = *node;
            self.len += usize::from(*stamp != self.epoch);
            *stamp = self.epoch;
        }
    }
}

/// Returns the edges by which a walk gets from a node to the nodes it found; among parallel edges, the first one.
fn followed_edges<'t>(table: &'t Adjacency, node: NodeId, found: &'t [NodeId]) -> impl Iterator<Item = EdgeId> + 't {
    // The nodes were found in edge order, so one pass over the edges suffices.
    let mut next = found.iter().copied().peekable();
    let arcs = table.arcs(node).filter(move |(head, _)| next.next_if_eq(head).is_some());
    arcs.map(|(_, edge)| edge)
}

/// Returns whether [`Bfs::walk`] finds the same nodes as [`walk`] with a visitor that only charges fuel.
pub(crate) fn allows_bfs(topology: &Topology, options: &WalkOptions) -> bool {
    options.pass == EquipmentPolicy::None || topology.ports.arc_count() == 0
}

struct Walker<'t> {
    topology: &'t Topology,
    table: &'t Adjacency,
    options: &'t WalkOptions,
    visits: EquipmentVisits,
}

impl Walker<'_> {
    /// Hot: once per node. Adds the successors of a step.
    fn expand<V: Visitor>(
        &mut self,
        at: u32,
        steps: &mut Vec<Step>,
        scratch: &mut WalkScratch,
        visitor: &mut V,
    ) -> Result<()> {
        let step = steps[at as usize];
        visitor.charge(1 + self.table.degree(step.node) as u64)?;
        if step.stops || step.depth >= self.options.depth {
            return Ok(());
        }
        match (step.inside, self.options.pass) {
            (Interior::Outside, EquipmentPolicy::None) => self.follow(at, steps, scratch, visitor),
            (Interior::Outside, _) => {
                self.follow(at, steps, scratch, visitor)?;
                // A pipe connected to equipment without a port is on the unnamed side.
                self.leave_by_ports(at, NONE, steps, scratch, visitor)?;
                self.enter_equipment(at, steps, scratch, visitor)
            }
            (Interior::Shown(zone) | Interior::Hidden(zone), _) => {
                if zone == NONE || self.options.pass == EquipmentPolicy::PossibleZone {
                    self.follow(at, steps, scratch, visitor)?;
                }
                self.leave_by_ports(at, zone, steps, scratch, visitor)
            }
        }
    }

    /// Follows the arcs of a node.
    fn follow<V: Visitor>(
        &mut self,
        at: u32,
        steps: &mut Vec<Step>,
        scratch: &mut WalkScratch,
        visitor: &mut V,
    ) -> Result<()> {
        let step = steps[at as usize];
        for (node, edge) in self.table.arcs(step.node) {
            if scratch.contains(node) && !self.has_another_side(node) || !visitor.follows(edge)? {
                continue;
            }
            let assumed = step.assumed || self.topology.is_assumed(edge);
            let arrival = Step { node, via: edge, from: at, depth: step.depth + 1, assumed, ..Step::start(node) };
            if !scratch.enter(node) {
                self.visits.entered.insert((node, NONE), ());
                steps.push(Step { inside: Interior::Hidden(NONE), ..arrival });
                continue;
            }
            let enters = visitor.enters(node)?;
            let stops = enters && (visitor.ends_at(node)? || self.ends_at(node));
            if enters {
                steps.push(Step { stops, ..arrival });
            }
            self.record_arrival(node, enters && !stops);
        }
        Ok(())
    }

    /// Returns whether a pipe drawn to the equipment itself leads to a side that was not reached through a port.
    fn has_another_side(&self, node: NodeId) -> bool {
        matches!(self.options.pass, EquipmentPolicy::Zone | EquipmentPolicy::PossibleZone)
            && self.topology.ports.degree(node) > 0
            && !self.visits.closed.contains(&node)
            && !self.visits.entered.contains_key(&(node, NONE))
    }

    /// Records that the walk has reached equipment by a pipe, and whether it continues from it.
    fn record_arrival(&mut self, node: NodeId, continues: bool) {
        if self.options.pass == EquipmentPolicy::None || self.topology.ports.degree(node) == 0 {
            return;
        }
        self.visits.entered.insert((node, NONE), ());
        if !continues {
            self.visits.closed.insert(node);
        }
    }

    /// Returns whether a branch ends at a node by its role.
    fn ends_at(&self, node: NodeId) -> bool {
        match self.topology.roles[node as usize] {
            Role::OffPage | Role::OpenEnd => self.topology.flow_degree(node) <= 1,
            _ => self.options.pass == EquipmentPolicy::None && self.topology.is_equipment(node),
        }
    }

    /// Steps from a port into its equipment, if the options allow it.
    fn enter_equipment<V: Visitor>(
        &mut self,
        at: u32,
        steps: &mut Vec<Step>,
        scratch: &mut WalkScratch,
        visitor: &mut V,
    ) -> Result<()> {
        let step = steps[at as usize];
        let Some((owner, zone)) = equipment_entry(self.topology, self.options, step.node, step.from == NONE) else {
            return Ok(());
        };
        let previous = (step.from != NONE).then(|| steps[step.from as usize].node);
        let came_from_owner = previous == Some(owner) && step.via == self.topology.owner_edge(step.node);
        if came_from_owner
            || self.visits.closed.contains(&owner)
            || self.visits.entered.insert((owner, zone), ()).is_some()
        {
            return Ok(());
        }
        let is_first = scratch.enter(owner);
        if is_first && !visitor.enters(owner)? {
            self.visits.closed.insert(owner);
            return Ok(());
        }
        let stops = is_first && visitor.ends_at(owner)?;
        if stops {
            self.visits.closed.insert(owner);
        }
        let inside = if is_first { Interior::Shown(zone) } else { Interior::Hidden(zone) };
        let via = self.topology.owner_edge(step.node);
        steps.push(Step { node: owner, via, from: at, depth: step.depth + 1, stops, inside, ..step });
        Ok(())
    }

    /// Steps from equipment to its ports on one side.
    fn leave_by_ports<V: Visitor>(
        &mut self,
        at: u32,
        zone: u32,
        steps: &mut Vec<Step>,
        scratch: &mut WalkScratch,
        visitor: &mut V,
    ) -> Result<()> {
        let step = steps[at as usize];
        visitor.charge(self.topology.ports.degree(step.node) as u64)?;
        for (port, edge) in exit_ports(self.topology, self.options, self.table, step.node, zone) {
            if !scratch.enter(port) || !visitor.enters(port)? {
                continue;
            }
            let stops = visitor.ends_at(port)?;
            let depth = step.depth + 1;
            steps.push(Step { node: port, via: edge, from: at, depth, stops, inside: Interior::Outside, ..step });
        }
        Ok(())
    }
}

/// Returns the equipment that a walk enters from a node, and the side.
///
/// A walk along the flow that starts at a port enters equipment only by an inlet: from the outlet of a tank it does not
/// run backward into the tank.
fn equipment_entry(topology: &Topology, options: &WalkOptions, node: NodeId, is_start: bool) -> Option<(NodeId, u32)> {
    if options.pass == EquipmentPolicy::None {
        return None;
    }
    let owner = topology.owner(node)?;
    let reverse_dir = match options.dir {
        Direction::Down => Some(Direction::Up),
        Direction::Up => Some(Direction::Down),
        Direction::Both => None,
    };
    let is_inlet = reverse_dir.is_none_or(|reverse_dir| topology.table(options.edges, reverse_dir).degree(node) > 0);
    let zone = match options.pass {
        EquipmentPolicy::Zone | EquipmentPolicy::PossibleZone => topology.zone(node),
        EquipmentPolicy::None | EquipmentPolicy::Any => NONE,
    };
    (!is_start || is_inlet).then_some((owner, zone))
}

/// Returns the ports by which a walk leaves equipment: on the same side, and with outgoing arcs.
fn exit_ports<'t>(
    topology: &'t Topology,
    options: &'t WalkOptions,
    table: &'t Adjacency,
    owner: NodeId,
    zone: u32,
) -> impl Iterator<Item = (NodeId, EdgeId)> + 't {
    let is_on_side = move |port: NodeId| match options.pass {
        EquipmentPolicy::Any => true,
        EquipmentPolicy::PossibleZone => {
            let side = topology.zone(port);
            side == zone || side == NONE || zone == NONE
        }
        EquipmentPolicy::Zone | EquipmentPolicy::None => topology.zone(port) == zone,
    };
    let is_exit = move |port: NodeId| table.degree(port) > 0 && is_on_side(port);
    topology.ports.arcs(owner).filter(move |(port, _)| is_exit(*port))
}

/// Returns the start nodes of a walk from some nodes: the ports of equipment that has them, in the direction of the
/// walk. Each once, in the order of the nodes.
pub(crate) fn starts<'n>(topology: &Topology, options: &WalkOptions, nodes: &'n [NodeId]) -> Cow<'n, [NodeId]> {
    if topology.ports.arc_count() == 0 {
        return Cow::Borrowed(nodes);
    }
    let table = topology.table(options.edges, options.dir);
    let mut starts = Vec::with_capacity(nodes.len());
    for node in nodes {
        let ports = topology.ports.nodes(*node);
        if ports.is_empty() || table.degree(*node) > 0 {
            starts.push(*node);
        }
        starts.extend(ports.iter().copied().filter(|port| table.degree(*port) > 0));
    }
    let mut seen = HashSet::new();
    starts.retain(|start| nodes.len() == 1 || seen.insert(*start));
    Cow::Owned(starts)
}

/// Returns the target nodes of a walk to some nodes: the nodes and their ports.
pub(crate) fn targets<'n>(topology: &Topology, nodes: &'n [NodeId]) -> Cow<'n, [NodeId]> {
    if topology.ports.arc_count() == 0 {
        return Cow::Borrowed(nodes);
    }
    let ports = nodes.iter().flat_map(|node| topology.ports.nodes(*node));
    nodes.iter().chain(ports).copied().collect()
}

/// Set of nodes. Small sets are searched linearly.
pub(crate) enum NodeFilter<'n> {
    Few(&'n [NodeId]),
    Many(HashSet<NodeId>),
}

impl<'n> NodeFilter<'n> {
    pub fn new(nodes: &'n [NodeId]) -> NodeFilter<'n> {
        const FEW: usize = 8;
        if nodes.len() <= FEW { NodeFilter::Few(nodes) } else { NodeFilter::Many(nodes.iter().copied().collect()) }
    }

    pub fn contains(&self, node: NodeId) -> bool {
        match self {
            NodeFilter::Few(nodes) => nodes.contains(&node),
            NodeFilter::Many(nodes) => nodes.contains(&node),
        }
    }
}

/// Subgraph that a walk can reach, with all arcs in it and indices of its own.
#[derive(Debug, Default)]
pub(crate) struct ReachableSubgraph {
    /// By index: the node. Equipment has one index per side.
    pub nodes: Vec<NodeId>,
    /// By index: the position of its first arc; one more entry for the end.
    first: Vec<u32>,
    heads: Vec<u32>,
    edges: Vec<EdgeId>,
    /// The number of start indices; they come first.
    pub starts: usize,
    /// The depth of the farthest index.
    pub depth: u32,
}

impl ReachableSubgraph {
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the arcs of an index: head and edge.
    pub fn arcs(&self, index: u32) -> impl ExactSizeIterator<Item = (u32, EdgeId)> + Clone + '_ {
        let range = self.range(index);
        self.heads[range.clone()].iter().copied().zip(self.edges[range].iter().copied())
    }

    /// Returns the heads of the arcs of an index.
    pub fn heads_of(&self, index: u32) -> &[u32] {
        &self.heads[self.range(index)]
    }

    /// Returns the edges of the arcs of an index.
    pub fn edges_of(&self, index: u32) -> &[EdgeId] {
        &self.edges[self.range(index)]
    }

    /// Returns the positions of the arcs of an index.
    pub fn range(&self, index: u32) -> std::ops::Range<usize> {
        self.first[index as usize] as usize..self.first[index as usize + 1] as usize
    }

    /// Returns the arc at a position.
    pub fn arc(&self, at: usize) -> (u32, EdgeId) {
        (self.heads[at], self.edges[at])
    }

    pub fn arc_count(&self) -> usize {
        self.heads.len()
    }

    /// Returns the edges of the arcs between selected indices.
    pub fn inner_edges(&self, keeps: impl Fn(usize, usize) -> bool) -> impl Iterator<Item = EdgeId> {
        let arcs = (0..self.len() as u32).flat_map(move |from| self.arcs(from).map(move |(to, edge)| (from, to, edge)));
        arcs.filter(move |(from, to, _)| keeps(*from as usize, *to as usize)).map(|(_, _, edge)| edge)
    }

    /// Returns, by index, whether its node is one of `nodes`.
    pub fn node_mask(&self, nodes: &[NodeId]) -> Vec<bool> {
        let node_set: HashSet<NodeId> = nodes.iter().copied().collect();
        self.nodes.iter().map(|node| node_set.contains(node)).collect()
    }

    /// Returns the subgraph of the kept indices; start indices come first.
    pub fn retain(&self, kept: &[bool]) -> ReachableSubgraph {
        let mut indices = vec![NONE; self.len()];
        let mut subgraph = ReachableSubgraph { first: vec![0], ..ReachableSubgraph::default() };
        for index in (0..self.len()).filter(|index| kept[*index]) {
            indices[index] = subgraph.nodes.len() as u32;
            subgraph.nodes.push(self.nodes[index]);
            subgraph.starts += usize::from(index < self.starts);
        }
        for index in (0..self.len()).filter(|index| kept[*index]) {
            for (head, edge) in self.arcs(index as u32).filter(|(head, _)| kept[*head as usize]) {
                subgraph.heads.push(indices[head as usize]);
                subgraph.edges.push(edge);
            }
            subgraph.first.push(subgraph.heads.len() as u32);
        }
        subgraph
    }

    /// Returns the reversed arcs.
    pub fn reversed(&self) -> Adjacency {
        let tails = (0..self.len() as u32).flat_map(|tail| self.range(tail).map(move |at| (tail, at)));
        Adjacency::new(self.len(), || tails.clone().map(|(tail, at)| (self.heads[at], tail, at as u32)))
    }

    /// Returns, by index, whether it can reach a target.
    pub fn can_reach(&self, targets: &[bool]) -> Vec<bool> {
        let reversed = self.reversed();
        let mut reached = targets.to_vec();
        let mut queue: Vec<u32> = (0..self.len() as u32).filter(|index| targets[*index as usize]).collect();
        while let Some(index) = queue.pop() {
            for before in reversed.nodes(index) {
                if !std::mem::replace(&mut reached[*before as usize], true) {
                    queue.push(*before);
                }
            }
        }
        reached
    }
}

/// Returns the subgraph that a walk can reach from `starts`. Nodes that end a branch, `closed` nodes and nodes at the
/// depth limit have no arcs.
pub(crate) fn reachable_subgraph<V: Visitor>(
    topology: &Topology,
    starts: &[NodeId],
    closed: &[NodeId],
    options: &WalkOptions,
    visitor: &mut V,
) -> Result<ReachableSubgraph> {
    let table = topology.table(options.edges, options.dir);
    let closed: HashSet<NodeId> = closed.iter().copied().collect();
    let mut builder = SubgraphBuilder {
        topology,
        options,
        closed,
        indices: HashMap::new(),
        subgraph: ReachableSubgraph::default(),
        stops: Vec::new(),
        sides: Vec::new(),
    };
    for start in starts {
        let side = builder.side_of_pipes(*start);
        builder.indices.entry((*start, side)).or_insert_with(|| {
            builder.subgraph.nodes.push(*start);
            builder.stops.push(false);
            builder.sides.push(side);
            builder.subgraph.nodes.len() as u32 - 1
        });
    }
    builder.subgraph.starts = builder.subgraph.len();
    builder.subgraph.first.push(0);
    let (mut at, mut level_end) = (0, builder.subgraph.starts);
    while at < builder.subgraph.len() {
        if builder.subgraph.depth < options.depth {
            builder.expand(at as u32, table, visitor)?;
        }
        builder.subgraph.first.push(builder.subgraph.heads.len() as u32);
        at += 1;
        if at == level_end && level_end < builder.subgraph.len() {
            builder.subgraph.depth += 1;
            level_end = builder.subgraph.len();
        }
    }
    Ok(builder.subgraph)
}

/// Side of an index that is not the interior of equipment.
const OUTSIDE: u32 = u32::MAX - 1;

/// Index of a node that may not be entered.
const REJECTED: u32 = NONE;

struct SubgraphBuilder<'t> {
    topology: &'t Topology,
    options: &'t WalkOptions,
    closed: HashSet<NodeId>,
    /// Indices by node and side.
    indices: HashMap<(NodeId, u32), u32>,
    subgraph: ReachableSubgraph,
    stops: Vec<bool>,
    /// By index: the side, or `OUTSIDE`.
    sides: Vec<u32>,
}

impl SubgraphBuilder<'_> {
    fn expand<V: Visitor>(&mut self, index: u32, table: &Adjacency, visitor: &mut V) -> Result<()> {
        let node = self.subgraph.nodes[index as usize];
        visitor.charge(1 + table.degree(node) as u64)?;
        if self.stops[index as usize] {
            return Ok(());
        }
        let side = self.sides[index as usize];
        if matches!(side, OUTSIDE | NONE) {
            for (next, edge) in table.arcs(node) {
                if visitor.follows(edge)? {
                    self.arc((next, self.side_of_pipes(next)), edge, visitor)?;
                }
            }
        }
        if side != OUTSIDE {
            visitor.charge(self.topology.ports.degree(node) as u64)?;
            for (port, edge) in exit_ports(self.topology, self.options, table, node, side) {
                self.arc((port, OUTSIDE), edge, visitor)?;
            }
            return Ok(());
        }
        match equipment_entry(self.topology, self.options, node, (index as usize) < self.subgraph.starts) {
            Some((owner, zone)) => self.arc((owner, zone), self.topology.owner_edge(node), visitor),
            None => Ok(()),
        }
    }

    /// Returns the side for a pipe drawn to a node itself: the interior, if the node is equipment with ports on other
    /// sides.
    fn side_of_pipes(&self, node: NodeId) -> u32 {
        let passes = self.options.pass != EquipmentPolicy::None && self.topology.ports.degree(node) > 0;
        if passes { NONE } else { OUTSIDE }
    }

    fn arc<V: Visitor>(&mut self, to: (NodeId, u32), edge: EdgeId, visitor: &mut V) -> Result<()> {
        let index = match self.indices.get(&to) {
            Some(index) => *index,
            None => self.assign_index(to, visitor)?,
        };
        if index != REJECTED {
            self.subgraph.heads.push(index);
            self.subgraph.edges.push(edge);
        }
        Ok(())
    }

    /// Assigns an index to a node, unless it may not be entered.
    fn assign_index<V: Visitor>(&mut self, to: (NodeId, u32), visitor: &mut V) -> Result<u32> {
        let (node, side) = to;
        let index = if visitor.enters(node)? { self.subgraph.nodes.len() as u32 } else { REJECTED };
        self.indices.insert(to, index);
        if index != REJECTED {
            let is_end =
                self.options.pass == EquipmentPolicy::None && side == OUTSIDE && self.topology.is_equipment(node);
            self.subgraph.nodes.push(node);
            self.sides.push(side);
            self.stops.push(self.closed.contains(&node) || visitor.ends_at(node)? || is_end);
        }
        Ok(index)
    }
}
