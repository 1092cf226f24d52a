//! Bidirectional search of the shortest path: two walks that meet in the middle visit far fewer nodes than one.
//!
//! The result is the path that a walk from the start finds: among equals, the one whose edges come first.

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
    let against = match options.dir {
        Direction::Down => Direction::Up,
        Direction::Up => Direction::Down,
        Direction::Both => Direction::Both,
    };
    let [first, second] = &mut scratch.0;
    let ahead = Frontier::new(topology, options.edges, options.dir, first, starts);
    let back = Frontier::new(topology, options.edges, against, second, targets);
    search_levels(topology, ahead, back, options, &mut charge)
}

/// Expands the smaller frontier, level by level.
fn search_levels(
    topology: &Topology,
    mut ahead: Frontier<'_>,
    mut back: Frontier<'_>,
    options: &WalkOptions,
    charge: &mut impl FnMut(u64) -> Result<()>,
) -> Result<PathSearch> {
    let ends = |node: NodeId| options.pass == EquipmentPolicy::None && topology.is_equipment(node);
    loop {
        if let Some(middle) = ahead.meets(&back) {
            let mut path = ahead.path_to(middle);
            follow(&mut path, ahead.table, &back);
            return Ok(PathSearch { path: Some(path), depth: ahead.level + back.level });
        }
        let depth = ahead.level + back.level;
        if depth >= options.depth || ahead.is_done() || back.is_done() {
            return Ok(PathSearch { path: None, depth });
        }
        if ahead.cost() <= back.cost() {
            // The walk always leaves its start nodes.
            let first = ahead.level == 0;
            ahead.advance(|node| first || !ends(node), |_| true, charge)?;
        } else {
            back.advance(|_| true, |node| !ends(node) || ahead.level_of(node) == Some(0), charge)?;
        }
    }
}

/// Extends the path from the middle to a target, by the first edge that leads closer.
fn follow(path: &mut Path, table: &Adjacency, back: &Frontier<'_>) {
    for left in (0..back.level).rev() {
        let Some(from) = path.nodes.last() else { return };
        let is_nearer = |(node, _): &(NodeId, EdgeId)| back.level_of(*node) == Some(left);
        let Some((node, edge)) = table.arcs(*from).find(is_nearer) else { return };
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
    last: usize,
    level: u32,
}

impl<'s> Frontier<'s> {
    fn new(
        topology: &'s Topology,
        edges: EdgeFilter,
        dir: Direction,
        side: &'s mut SearchSide,
        begin: &[NodeId],
    ) -> Frontier<'s> {
        let first = side.reset(topology.node_count());
        let SearchSide { marks, highest, found } = side;
        let table = topology.table(edges, dir);
        let mut front = Frontier { table, marks, first, highest, found, len: 0, last: 0, level: 0 };
        front.enter(begin, NONE, first, |_| true);
        front
    }

    /// Returns the level of a node that the walk has reached.
    fn level_of(&self, node: NodeId) -> Option<u32> {
        self.marks[node as usize].checked_sub(self.first)
    }

    fn is_done(&self) -> bool {
        self.last == self.len
    }

    /// Approximate cost of the next level.
    fn cost(&self) -> usize {
        self.len - self.last
    }

    /// Returns the first position of the last level that the other walk has reached on its last level.
    fn meets(&self, other: &Frontier<'_>) -> Option<usize> {
        (self.last..self.len).find(|at| other.level_of(self.found[*at][0]) == Some(other.level))
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
        for at in self.last..end {
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
        self.last = end;
        charge(uncharged)
    }

    /// Hot: adds the nodes that are new.
    #[inline]
    fn enter(&mut self, nodes: &[NodeId], from: u32, mark: u32, enters: impl Fn(NodeId) -> bool) {
        for node in nodes.iter().copied().filter(|node| enters(*node)) {
            let known = &mut self.marks[node as usize];
            if *known < self.first {
                *known = mark;
                self.found[self.len] = [node, from];
                self.len += 1;
            }
        }
    }

    /// Returns the path from the start to a position.
    fn path_to(&self, place: usize) -> Path {
        let [mut node, mut from] = self.found[place];
        let mut path = Path { nodes: vec![node], edges: Vec::new() };
        while from != NONE {
            let [before, its_from] = self.found[from as usize];
            path.edges.extend(self.table.arcs(before).find(|(head, _)| *head == node).map(|(_, edge)| edge));
            path.nodes.push(before);
            (node, from) = (before, its_from);
        }
        path.nodes.reverse();
        path.edges.reverse();
        path
    }
}

#[cfg(test)]
mod tests {
    use super::super::walk::{self, ChargeOnly, WalkScratch};
    use super::*;
    use crate::Graph;
    use crate::limits::Limits;

    /// Deterministic pseudorandom numbers. Xorshift.
    struct Dice(u64);

    impl Dice {
        fn below(&mut self, most: u64) -> u64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            self.0 % most
        }
    }

    fn random_graph(dice: &mut Dice) -> (Graph, usize) {
        const CLASSES: [&str; 4] = ["gate_valve", "pump", "pipe_tee", "off_page"];
        const DIRECTIONS: [&str; 4] = ["forward", "forward", "backward", "unknown"];
        let count = 1 + dice.below(14);
        let node = |id: u64, class: &str| format!(r#"{{"id": {id}, "class": "{class}"}}"#);
        let nodes: Vec<String> = (0..count).map(|id| node(id, CLASSES[dice.below(4) as usize])).collect();
        let edges: Vec<String> = (0..dice.below(3 * count))
            .map(|_| {
                let (from, to, direction) = (dice.below(count), dice.below(count), DIRECTIONS[dice.below(4) as usize]);
                format!(r#"{{"type": "pipe", "from": {from}, "to": {to}, "direction": "{direction}"}}"#)
            })
            .collect();
        let text = format!(r#"{{"nodes": [{}], "edges": [{}]}}"#, nodes.join(","), edges.join(","));
        (Graph::from_json(text).expect("valid JSON"), count as usize)
    }

    #[test]
    fn both_ends_find_the_route_that_one_finds() {
        let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
        let (mut walk_scratch, mut scratch, mut found) = (WalkScratch::default(), BidirectionalScratch::default(), 0);
        for _ in 0..3000 {
            let (graph, count) = random_graph(&mut dice);
            let drawing = graph.drawing(&Limits::default()).ok().flatten().expect("a drawing");
            let topology = &drawing.topology;
            let mut some = |most: u64| -> Vec<NodeId> {
                (0..1 + dice.below(most)).map(|_| dice.below(count as u64) as u32).collect()
            };
            let (starts, targets) = (some(3), some(3));
            let depth = if dice.below(4) == 0 { dice.below(5) as u32 } else { 100 };
            let dir = [Direction::Down, Direction::Up, Direction::Both][dice.below(3) as usize];
            let pass = [EquipmentPolicy::None, EquipmentPolicy::Any][dice.below(2) as usize];
            let options = WalkOptions { edges: EdgeFilter::Flow, dir, pass, depth };
            assert!(walk::allows_bfs(topology, &options));
            let is_wanted = |node| targets.contains(&node);
            let free = &mut |_| Ok(());
            let visitor = &mut ChargeOnly(free);
            let (steps, end) = walk::walk_until(topology, &mut walk_scratch, &starts, &options, visitor, is_wanted)
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
