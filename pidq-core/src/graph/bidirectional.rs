//! Bidirectional search for the shortest path: two walks that meet visit far fewer nodes than one.
//!
//! Returns the same path as a walk from the start: of equally short ones, the path whose edges come first.

#[cfg(test)]
pub(crate) mod random;

use super::adjacency::{Adjacency, EdgeId, NONE, NodeId};
use super::topology::{Direction, EdgeFilter, Topology};
use super::walk::{CHARGE_BATCH, EquipmentPolicy, WalkOptions};
use crate::error::Result;

/// Scratch memory kept between searches, for both sides.
#[derive(Debug, Default)]
pub(crate) struct BidirectionalScratch([SearchSide; 2]);

impl BidirectionalScratch {
    /// Memory in bytes.
    pub fn size(&self) -> usize {
        self.0.iter().map(|side| size_of_val(&*side.marks) + size_of_val(&*side.found)).sum()
    }
}

/// Scratch memory of the walk from one end. Kept between walks, like [`super::walk::WalkScratch`].
#[derive(Debug, Default)]
struct SearchSide {
    /// By node: the mark of the last walk that reached it, incremented with each level. The marks of a new walk start
    /// above those of all earlier walks.
    marks: Vec<u32>,
    highest: u32,
    /// Nodes in the order in which they are found: the node, and the position of its predecessor.
    found: Vec<[u32; 2]>,
}

impl SearchSide {
    /// Resizes the memory for a network and invalidates the previous walk. Returns the mark of the first level.
    fn reset(&mut self, nodes: usize) -> u32 {
        if self.marks.len() < nodes {
            self.marks.resize(nodes, 0);
            self.found.resize(nodes, [NONE; 2]);
        }
        // A walk has at most as many levels as there are nodes.
        if self.highest >= u32::MAX - self.marks.len() as u32 - 1 {
            self.marks.fill(0);
            self.highest = 0;
        }
        self.highest += 1;
        self.highest
    }
}

/// A path: its nodes, and the edges between them.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Path {
    pub nodes: Vec<NodeId>,
    pub edges: Vec<EdgeId>,
}

/// Result of a search.
#[derive(Debug)]
pub(crate) struct PathSearch {
    pub path: Option<Path>,
    /// The number of steps that were explored.
    pub depth: u32,
}

/// Finds the shortest path from `starts` to `targets`, for options under which [`super::walk::allows_bfs`] holds.
pub(crate) fn search(
    topology: &Topology,
    scratch: &mut BidirectionalScratch,
    starts: &[NodeId],
    targets: &[NodeId],
    options: &WalkOptions,
    mut charge: impl FnMut(u64) -> Result<()>,
) -> Result<PathSearch> {
    let reverse_dir = match options.dir {
        Direction::Down => Direction::Up,
        Direction::Up => Direction::Down,
        Direction::Both => Direction::Both,
    };
    let [first, second] = &mut scratch.0;
    let forward = Frontier::new(topology, options.edges, options.dir, first, starts);
    let backward = Frontier::new(topology, options.edges, reverse_dir, second, targets);
    search_levels(topology, forward, backward, options, &mut charge)
}

/// Expands the smaller frontier, level by level.
fn search_levels(
    topology: &Topology,
    mut forward: Frontier<'_>,
    mut backward: Frontier<'_>,
    options: &WalkOptions,
    charge: &mut impl FnMut(u64) -> Result<()>,
) -> Result<PathSearch> {
    let stops_at = |node: NodeId| options.pass == EquipmentPolicy::None && topology.is_equipment(node);
    loop {
        if let Some(middle) = forward.meets(&backward) {
            let mut path = forward.path_to(middle);
            follow(&mut path, forward.table, &backward);
            return Ok(PathSearch { path: Some(path), depth: forward.level + backward.level });
        }
        let depth = forward.level + backward.level;
        if depth >= options.depth || forward.is_done() || backward.is_done() {
            return Ok(PathSearch { path: None, depth });
        }
        if forward.cost() <= backward.cost() {
            // The walk always leaves its start nodes.
            let is_first_level = forward.level == 0;
            forward.advance(|node| is_first_level || !stops_at(node), |_| true, charge)?;
        } else {
            backward.advance(|_| true, |node| !stops_at(node) || forward.level_of(node) == Some(0), charge)?;
        }
    }
}

/// Extends the path from the meeting point to a target, each time by the first edge that reduces the distance.
fn follow(path: &mut Path, table: &Adjacency, backward: &Frontier<'_>) {
    for distance in (0..backward.level).rev() {
        let Some(from) = path.nodes.last() else { return };
        let is_closer = |(node, _): &(NodeId, EdgeId)| backward.level_of(*node) == Some(distance);
        let Some((node, edge)) = table.arcs(*from).find(is_closer) else { return };
        path.nodes.push(node);
        path.edges.push(edge);
    }
}

/// Frontier of the walk from one end.
struct Frontier<'s> {
    table: &'s Adjacency,
    /// By node: `first` plus its level, or below `first` if not reached.
    marks: &'s mut [u32],
    first: u32,
    highest: &'s mut u32,
    /// By position: the node, and the position of its predecessor; `NONE` at the start.
    found: &'s mut [[u32; 2]],
    /// The number of positions, and the first position of the last level.
    len: usize,
    level_start: usize,
    level: u32,
}

impl<'s> Frontier<'s> {
    fn new(
        topology: &'s Topology,
        edges: EdgeFilter,
        dir: Direction,
        side: &'s mut SearchSide,
        starts: &[NodeId],
    ) -> Frontier<'s> {
        let first = side.reset(topology.node_count());
        let SearchSide { marks, highest, found } = side;
        let table = topology.table(edges, dir);
        let mut frontier = Frontier { table, marks, first, highest, found, len: 0, level_start: 0, level: 0 };
        frontier.enter(starts, NONE, first, |_| true);
        frontier
    }

    /// Returns the level of a node that the walk has reached.
    fn level_of(&self, node: NodeId) -> Option<u32> {
        self.marks[node as usize].checked_sub(self.first)
    }

    fn is_done(&self) -> bool {
        self.level_start == self.len
    }

    /// Approximate cost of the next level.
    fn cost(&self) -> usize {
        self.len - self.level_start
    }

    /// Returns the first position of the last level that the other walk has reached on its last level.
    fn meets(&self, other: &Frontier<'_>) -> Option<usize> {
        (self.level_start..self.len).find(|at| other.level_of(self.found[*at][0]) == Some(other.level))
    }

    /// Hot: adds the next level. `leaves` selects the nodes to continue from, `enters` the nodes to continue to.
    fn advance(
        &mut self,
        leaves: impl Fn(NodeId) -> bool,
        enters: impl Fn(NodeId) -> bool,
        charge: &mut impl FnMut(u64) -> Result<()>,
    ) -> Result<()> {
        let end = self.len;
        self.level += 1;
        let mark = self.first + self.level;
        *self.highest = mark;
        let (table, mut uncharged) = (self.table.neighbors(), 0);
        for at in self.level_start..end {
            let [node, _] = self.found[at];
            let heads = table.get(node);
            uncharged += 1 + heads.len() as u64;
            if uncharged > CHARGE_BATCH {
                charge(std::mem::take(&mut uncharged))?;
            }
            if leaves(node) {
                self.enter(heads, at as u32, mark, &enters);
            }
        }
        self.level_start = end;
        charge(uncharged)
    }

    /// Hot: adds the nodes that were not reached before.
    #[inline]
    fn enter(&mut self, nodes: &[NodeId], from: u32, mark: u32, enters: impl Fn(NodeId) -> bool) {
        for node in nodes.iter().copied().filter(|node| enters(*node)) {
            let node_mark = &mut self.marks[node as usize];
            if *node_mark < self.first {
                *node_mark = mark;
                self.found[self.len] = [node, from];
                self.len += 1;
            }
        }
    }

    /// Returns the path from the start to a position.
    fn path_to(&self, position: usize) -> Path {
        let [mut node, mut from] = self.found[position];
        let mut path = Path { nodes: vec![node], edges: Vec::new() };
        while from != NONE {
            let [before, before_from] = self.found[from as usize];
            path.edges.extend(self.table.arcs(before).find(|(head, _)| *head == node).map(|(_, edge)| edge));
            path.nodes.push(before);
            (node, from) = (before, before_from);
        }
        path.nodes.reverse();
        path.edges.reverse();
        path
    }
}

#[cfg(test)]
mod tests {
    use super::super::walk::{self, ChargeOnly, WalkScratch};
    use super::random::Rng;
    use super::*;
    use crate::Graph;
    use crate::limits::Limits;

    fn random_graph(rng: &mut Rng) -> (Graph, usize) {
        const CLASSES: [&str; 4] = ["gate_valve", "pump", "pipe_tee", "off_page"];
        const DIRECTIONS: [&str; 4] = ["forward", "forward", "backward", "unknown"];
        let count = 1 + rng.below(14);
        let node = |id: u64, class: &str| format!(r#"{{"id": {id}, "class": "{class}"}}"#);
        let nodes: Vec<String> = (0..count).map(|id| node(id, CLASSES[rng.below(4) as usize])).collect();
        let edges: Vec<String> = (0..rng.below(3 * count))
            .map(|_| {
                let (from, to, direction) = (rng.below(count), rng.below(count), DIRECTIONS[rng.below(4) as usize]);
                format!(r#"{{"type": "pipe", "from": {from}, "to": {to}, "direction": "{direction}"}}"#)
            })
            .collect();
        let text = format!(r#"{{"nodes": [{}], "edges": [{}]}}"#, nodes.join(","), edges.join(","));
        (Graph::from_json(text).expect("valid JSON"), count as usize)
    }

    #[test]
    fn bidirectional_search_finds_the_route_of_a_walk() {
        let mut rng = Rng(0x9E37_79B9_7F4A_7C15);
        let (mut walk_scratch, mut scratch, mut found) = (WalkScratch::default(), BidirectionalScratch::default(), 0);
        for _ in 0..3000 {
            let (graph, count) = random_graph(&mut rng);
            let drawing = graph.drawing(&Limits::default()).ok().flatten().expect("a drawing");
            let topology = &drawing.topology;
            let mut random_nodes = |bound: u64| -> Vec<NodeId> {
                (0..1 + rng.below(bound)).map(|_| rng.below(count as u64) as u32).collect()
            };
            let (starts, targets) = (random_nodes(3), random_nodes(3));
            let depth = if rng.below(4) == 0 { rng.below(5) as u32 } else { 100 };
            let dir = [Direction::Down, Direction::Up, Direction::Both][rng.below(3) as usize];
            let pass = [EquipmentPolicy::None, EquipmentPolicy::Any][rng.below(2) as usize];
            let options = WalkOptions { edges: EdgeFilter::Flow, dir, pass, depth };
            assert!(walk::allows_bfs(topology, &options));
            let is_target = |node| targets.contains(&node);
            let no_charge = &mut |_| Ok(());
            let visitor = &mut ChargeOnly(no_charge);
            let (steps, end) = walk::walk_until(topology, &mut walk_scratch, &starts, &options, visitor, is_target)
                .expect("no fuel limit");
            let expected = end.map(|end| {
                let path = walk::path_to(&steps, end);
                let edges = path.iter().skip(1).map(|step| step.via).collect();
                Path { nodes: path.iter().map(|step| step.node).collect(), edges }
            });
            found += usize::from(expected.is_some());
            let search =
                search(topology, &mut scratch, &starts, &targets, &options, |_| Ok(())).expect("no fuel limit");
            assert_eq!(search.path, expected, "{starts:?} {targets:?} {options:?} {:?}", graph.root());
        }
        assert!(found > 1000, "{found} routes");
    }
}
