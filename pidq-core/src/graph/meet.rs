//! The shortest route, searched from both ends: two walks that meet in the middle see much less than one.
//!
//! The same route as that of a walk from the start: of equals the one whose edges come first.

use super::adjacency::{Adjacency, EdgeId, NONE, NodeId};
use super::topology::{Dir, Topology};
use super::walk::{Pass, Rules};
use crate::error::Result;

/// How many steps nodes are away from where a walk began. Kept between walks, like [`super::walk::Space`]: the marks of
/// a new walk begin above those of all walks before.
#[derive(Debug, Default)]
pub(crate) struct Levels {
    /// By node: the mark of the walk that came to it last, counted up with each level.
    marks: Vec<u32>,
    /// The mark of the first level, and the highest that was given.
    first: u32,
    highest: u32,
}

impl Levels {
    fn begin(&mut self, nodes: usize) {
        if self.marks.len() < nodes {
            self.marks.resize(nodes, 0);
        }
        // No walk has more levels than there are nodes.
        if self.highest >= u32::MAX - self.marks.len() as u32 - 1 {
            self.marks.fill(0);
            self.highest = 0;
        }
        self.highest += 1;
        self.first = self.highest;
    }

    /// Enters a node; whether that is the first time. Levels ascend.
    fn enter(&mut self, node: NodeId, level: u32) -> bool {
        let mark = &mut self.marks[node as usize];
        let is_new = *mark < self.first;
        if is_new {
            self.highest = self.first + level;
            *mark = self.highest;
        }
        is_new
    }

    fn of(&self, node: NodeId) -> Option<u32> {
        self.marks[node as usize].checked_sub(self.first)
    }

    /// Bytes kept.
    fn size(&self) -> usize {
        size_of_val(&*self.marks)
    }
}

/// What a search needs that is kept between searches.
#[derive(Debug, Default)]
pub(crate) struct Room {
    ahead: Levels,
    back: Levels,
    /// Room for the nodes of both sides, and how each was found.
    lists: [(Vec<NodeId>, Vec<[u32; 2]>); 2],
}

impl Room {
    /// Bytes kept.
    pub fn size(&self) -> usize {
        let list = |(nodes, from): &(Vec<NodeId>, Vec<[u32; 2]>)| 4 * nodes.capacity() + 8 * from.capacity();
        self.ahead.size() + self.back.size() + self.lists.iter().map(list).sum::<usize>()
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
    room.ahead.begin(topology.node_count());
    room.back.begin(topology.node_count());
    let against = match rules.dir {
        Dir::Down => Dir::Up,
        Dir::Up => Dir::Down,
        Dir::Both => Dir::Both,
    };
    let [first, second] = std::mem::take(&mut room.lists);
    let mut ahead = Front::new(topology.table(rules.over, rules.dir), first);
    let mut back = Front::new(topology.table(rules.over, against), second);
    ahead.begin(&mut room.ahead, starts);
    back.begin(&mut room.back, targets);
    let search = search(topology, room, [&mut ahead, &mut back], rules, &mut pay);
    room.lists = [ahead, back].map(|front| (front.nodes, front.from));
    search
}

/// Level by level, where there is less to look at.
fn search(
    topology: &Topology,
    room: &mut Room,
    [ahead, back]: [&mut Front<'_>; 2],
    rules: &Rules,
    pay: &mut impl FnMut(u64) -> Result<()>,
) -> Result<Search> {
    let ends = |node: NodeId| rules.pass == Pass::None && topology.is_equipment(node);
    loop {
        if let Some(middle) = ahead.meets(&room.back, back.level) {
            let mut way = ahead.way_to(middle);
            follow(&mut way, ahead.table, &room.back, back.level);
            return Ok(Search { way: Some(way), depth: ahead.level + back.level });
        }
        let depth = ahead.level + back.level;
        if depth >= rules.depth || ahead.is_done() || back.is_done() {
            return Ok(Search { way: None, depth });
        }
        if ahead.cost() <= back.cost() {
            // Where it began it goes on, whatever that is.
            let first = ahead.level == 0;
            ahead.advance(&mut room.ahead, |node| first || !ends(node), |_| true, pay)?;
        } else {
            let begun = &room.ahead;
            let is_passed = |node| !ends(node) || begun.of(node) == Some(0);
            back.advance(&mut room.back, |_| true, is_passed, pay)?;
        }
    }
}

/// Goes on from the middle of a way to a target: by the first edge of those that lead nearer.
fn follow(way: &mut Way, table: &Adjacency, back: &Levels, level: u32) {
    for left in (0..level).rev() {
        let Some(from) = way.nodes.last() else { return };
        let Some((node, edge)) = table.arcs(*from).find(|(node, _)| back.of(*node) == Some(left)) else { return };
        way.nodes.push(node);
        way.edges.push(edge);
    }
}

/// A walk from one of the ends, level by level.
struct Front<'t> {
    table: &'t Adjacency,
    nodes: Vec<NodeId>,
    /// By place: the place before and the edge; nothing at the start.
    from: Vec<[u32; 2]>,
    /// Where the nodes of the last level begin.
    last: usize,
    level: u32,
}

impl<'t> Front<'t> {
    /// A walk that has not begun. What the lists hold is of an earlier one.
    fn new(table: &'t Adjacency, (mut nodes, mut from): (Vec<NodeId>, Vec<[u32; 2]>)) -> Front<'t> {
        nodes.clear();
        from.clear();
        Front { table, nodes, from, last: 0, level: 0 }
    }

    fn begin(&mut self, levels: &mut Levels, nodes: &[NodeId]) {
        self.nodes.extend(nodes.iter().copied().filter(|node| levels.enter(*node, 0)));
        self.from.resize(self.nodes.len(), [NONE; 2]);
    }

    fn is_done(&self) -> bool {
        self.last == self.nodes.len()
    }

    /// What the next level costs, nearly.
    fn cost(&self) -> usize {
        self.nodes.len() - self.last
    }

    /// The first place of the last level that the other walk has come to, on its last level.
    fn meets(&self, other: &Levels, level: u32) -> Option<usize> {
        (self.last..self.nodes.len()).find(|at| other.of(self.nodes[*at]) == Some(level))
    }

    /// Hot: adds the next level. `leaves` says from which nodes it goes on, `enters` to which.
    fn advance(
        &mut self,
        levels: &mut Levels,
        leaves: impl Fn(NodeId) -> bool,
        enters: impl Fn(NodeId) -> bool,
        pay: &mut impl FnMut(u64) -> Result<()>,
    ) -> Result<()> {
        let end = self.nodes.len();
        self.level += 1;
        for at in self.last..end {
            let node = self.nodes[at];
            pay(1 + self.table.degree(node) as u64)?;
            if !leaves(node) {
                continue;
            }
            for (next, edge) in self.table.arcs(node) {
                if enters(next) && levels.enter(next, self.level) {
                    self.nodes.push(next);
                    self.from.push([at as u32, edge]);
                }
            }
        }
        self.last = end;
        Ok(())
    }

    /// The way from the start to a place.
    fn way_to(&self, place: usize) -> Way {
        let mut way = Way { nodes: vec![self.nodes[place]], edges: Vec::new() };
        let mut at = place;
        while self.from[at][0] != NONE {
            let [before, edge] = self.from[at];
            at = before as usize;
            way.nodes.push(self.nodes[at]);
            way.edges.push(edge);
        }
        way.nodes.reverse();
        way.edges.reverse();
        way
    }
}

#[cfg(test)]
mod tests {
    use super::super::topology::Over;
    use super::super::walk::{self, Payer, Space};
    use super::*;
    use crate::Graph;

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
            let plant = graph.plant().expect("a drawing");
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
