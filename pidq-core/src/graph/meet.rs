//! The shortest route, searched from both ends: two walks that meet in the middle see much less than one.
//!
//! The same route as that of a walk from the start: of equals the one whose edges come first.

use super::adjacency::{Adjacency, EdgeId, NONE, NodeId};
use super::topology::{Dir, Over, Topology};
use super::walk::{CREDIT, Pass, Rules};
use crate::error::Result;

/// What a search needs that is kept between searches: two sides.
#[derive(Debug, Default)]
pub(crate) struct Room([Side; 2]);

impl Room {
    /// Bytes kept.
    pub fn size(&self) -> usize {
        self.0.iter().map(|side| size_of_val(&*side.marks) + size_of_val(&*side.found)).sum()
    }
}

/// Room for a walk from one of the ends. Kept between walks, like [`super::walk::Space`].
#[derive(Debug, Default)]
struct Side {
    /// By node: the mark of the walk that came to it last, counted up with each level. Those of a new walk begin above
    /// those of all walks before.
    marks: Vec<u32>,
    highest: u32,
    /// Room for all nodes in the order in which they are found: the node, and the place of the one before it.
    found: Vec<[u32; 2]>,
}

impl Side {
    /// Makes it fit for a network, and forgets the walk before. The mark of the first level.
    fn begin(&mut self, nodes: usize) -> u32 {
        if self.marks.len() < nodes {
            self.marks.resize(nodes, 0);
            self.found.resize(nodes, [NONE; 2]);
        }
        // No walk has more levels than there are nodes.
        if self.highest >= u32::MAX - self.marks.len() as u32 - 1 {
            self.marks.fill(0);
            self.highest = 0;
        }
        self.highest += 1;
        self.highest
    }
}

/// A route: its nodes, and the edges between them.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Way {
    pub nodes: Vec<NodeId>,
    pub edges: Vec<EdgeId>,
}

/// What a search found.
#[derive(Debug)]
pub(crate) struct Search {
    pub way: Option<Way>,
    /// How many steps from start to target were looked at.
    pub depth: u32,
}

/// The shortest route from some nodes to others, for rules under which [`super::walk::is_plain`] holds.
pub(crate) fn meet(
    topology: &Topology,
    room: &mut Room,
    starts: &[NodeId],
    targets: &[NodeId],
    rules: &Rules,
    mut pay: impl FnMut(u64) -> Result<()>,
) -> Result<Search> {
    let against = match rules.dir {
        Dir::Down => Dir::Up,
        Dir::Up => Dir::Down,
        Dir::Both => Dir::Both,
    };
    let [first, second] = &mut room.0;
    let ahead = Front::new(topology, rules.over, rules.dir, first, starts);
    let back = Front::new(topology, rules.over, against, second, targets);
    search(topology, ahead, back, rules, &mut pay)
}

/// Level by level, where there is less to look at.
fn search(
    topology: &Topology,
    mut ahead: Front<'_>,
    mut back: Front<'_>,
    rules: &Rules,
    pay: &mut impl FnMut(u64) -> Result<()>,
) -> Result<Search> {
    let ends = |node: NodeId| rules.pass == Pass::None && topology.is_equipment(node);
    loop {
        if let Some(middle) = ahead.meets(&back) {
            let mut way = ahead.way_to(middle);
            follow(&mut way, ahead.table, &back);
            return Ok(Search { way: Some(way), depth: ahead.level + back.level });
        }
        let depth = ahead.level + back.level;
        if depth >= rules.depth || ahead.is_done() || back.is_done() {
            return Ok(Search { way: None, depth });
        }
        if ahead.cost() <= back.cost() {
            // Where it began it goes on, whatever that is.
            let first = ahead.level == 0;
            ahead.advance(|node| first || !ends(node), |_| true, pay)?;
        } else {
            back.advance(|_| true, |node| !ends(node) || ahead.level_of(node) == Some(0), pay)?;
        }
    }
}

/// Goes on from the middle of a way to a target: by the first edge of those that lead nearer.
fn follow(way: &mut Way, table: &Adjacency, back: &Front<'_>) {
    for left in (0..back.level).rev() {
        let Some(from) = way.nodes.last() else { return };
        let is_nearer = |(node, _): &(NodeId, EdgeId)| back.level_of(*node) == Some(left);
        let Some((node, edge)) = table.arcs(*from).find(is_nearer) else { return };
        way.nodes.push(node);
        way.edges.push(edge);
    }
}

/// A walk from one of the ends, level by level.
struct Front<'s> {
    table: &'s Adjacency,
    /// By node: above `first` by its level, or below it.
    marks: &'s mut [u32],
    first: u32,
    highest: &'s mut u32,
    /// By place: the node, and the place before; `NONE` at the start.
    found: &'s mut [[u32; 2]],
    /// How many places there are, and where those of the last level begin.
    len: usize,
    last: usize,
    level: u32,
}

impl<'s> Front<'s> {
    fn new(topology: &'s Topology, over: Over, dir: Dir, side: &'s mut Side, begin: &[NodeId]) -> Front<'s> {
        let first = side.begin(topology.node_count());
        let Side { marks, highest, found } = side;
        let table = topology.table(over, dir);
        let mut front = Front { table, marks, first, highest, found, len: 0, last: 0, level: 0 };
        front.enter(begin, NONE, first, |_| true);
        front
    }

    /// The level of a node that the walk has come to.
    fn level_of(&self, node: NodeId) -> Option<u32> {
        self.marks[node as usize].checked_sub(self.first)
    }

    fn is_done(&self) -> bool {
        self.last == self.len
    }

    /// What the next level costs, nearly.
    fn cost(&self) -> usize {
        self.len - self.last
    }

    /// The first place of the last level that the other walk has come to, on its last level.
    fn meets(&self, other: &Front<'_>) -> Option<usize> {
        (self.last..self.len).find(|at| other.level_of(self.found[*at][0]) == Some(other.level))
    }

    /// Hot: adds the next level. `leaves` says from which nodes it goes on, `enters` to which.
    fn advance(
        &mut self,
        leaves: impl Fn(NodeId) -> bool,
        enters: impl Fn(NodeId) -> bool,
        pay: &mut impl FnMut(u64) -> Result<()>,
    ) -> Result<()> {
        let end = self.len;
        self.level += 1;
        let mark = self.first + self.level;
        *self.highest = mark;
        let (table, mut owed) = (self.table.neighbours(), 0);
        for at in self.last..end {
            let [node, _] = self.found[at];
            let heads = table.of(node);
            owed += 1 + heads.len() as u64;
            if owed > CREDIT {
                pay(std::mem::take(&mut owed))?;
            }
            if leaves(node) {
                self.enter(heads, at as u32, mark, &enters);
            }
        }
        self.last = end;
        pay(owed)
    }

    /// Hot: adds those of some nodes that are new.
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

    /// The way from the start to a place.
    fn way_to(&self, place: usize) -> Way {
        let [mut node, mut from] = self.found[place];
        let mut way = Way { nodes: vec![node], edges: Vec::new() };
        while from != NONE {
            let [before, its_from] = self.found[from as usize];
            way.edges.extend(self.table.arcs(before).find(|(head, _)| *head == node).map(|(_, edge)| edge));
            way.nodes.push(before);
            (node, from) = (before, its_from);
        }
        way.nodes.reverse();
        way.edges.reverse();
        way
    }
}

#[cfg(test)]
mod tests {
    use super::super::walk::{self, Payer, Space};
    use super::*;
    use crate::Graph;
    use crate::limits::Limits;

    /// Numbers that look random and are the same each time. Xorshift.
    struct Dice(u64);

    impl Dice {
        fn below(&mut self, most: u64) -> u64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            self.0 % most
        }
    }

    fn drawing(dice: &mut Dice) -> (Graph, usize) {
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
        (Graph::from_json(text).expect("it is JSON"), count as usize)
    }

    #[test]
    fn both_ends_find_the_route_that_one_finds() {
        let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
        let (mut space, mut room, mut found) = (Space::default(), Room::default(), 0);
        for _ in 0..3000 {
            let (graph, count) = drawing(&mut dice);
            let plant = graph.plant(&Limits::default()).ok().flatten().expect("a drawing");
            let topology = &plant.topology;
            let mut some = |most: u64| -> Vec<NodeId> {
                (0..1 + dice.below(most)).map(|_| dice.below(count as u64) as u32).collect()
            };
            let (starts, targets) = (some(3), some(3));
            let depth = if dice.below(4) == 0 { dice.below(5) as u32 } else { 100 };
            let dir = [Dir::Down, Dir::Up, Dir::Both][dice.below(3) as usize];
            let pass = [Pass::None, Pass::Any][dice.below(2) as usize];
            let rules = Rules { over: Over::Flow, dir, pass, depth };
            assert!(walk::is_plain(topology, &rules));
            let is_wanted = |node| targets.contains(&node);
            let free = &mut |_| Ok(());
            let guide = &mut Payer(free);
            let (steps, end) =
                walk::walk_until(topology, &mut space, &starts, &rules, guide, is_wanted).expect("nothing to pay");
            let expected = end.map(|end| {
                let way = walk::way_to(&steps, end);
                let edges = way.iter().skip(1).map(|step| step.via).collect();
                Way { nodes: way.iter().map(|step| step.node).collect(), edges }
            });
            found += usize::from(expected.is_some());
            let search = meet(topology, &mut room, &starts, &targets, &rules, |_| Ok(())).expect("nothing to pay");
            assert_eq!(search.way, expected, "{starts:?} {targets:?} {rules:?} {:?}", graph.root());
        }
        assert!(found > 1000, "{found} routes");
    }
}
