//! What a network consists of: connected parts, parts that flow in circles, and nodes that hold it together.

use super::adjacency::{Adjacency, NONE};
use super::walk::{CREDIT, Reach};
use crate::error::Result;

/// Pays for edges followed.
type Pay<'p> = &'p mut dyn FnMut(u64) -> Result<()>;

/// A network of numbers: a whole table, or the part of one that a walk can reach.
pub(crate) trait Net {
    fn len(&self) -> usize;
    fn heads(&self, number: u32) -> &[u32];
    fn edges(&self, number: u32) -> &[u32];
}

impl Net for Reach {
    fn len(&self) -> usize {
        self.nodes.len()
    }

    fn heads(&self, number: u32) -> &[u32] {
        self.heads_of(number)
    }

    fn edges(&self, number: u32) -> &[u32] {
        self.edges_of(number)
    }
}

impl Net for Adjacency {
    fn len(&self) -> usize {
        self.node_count()
    }

    fn heads(&self, number: u32) -> &[u32] {
        self.nodes(number)
    }

    fn edges(&self, number: u32) -> &[u32] {
        Adjacency::edges(self, number)
    }
}

/// Numbers that are joined belong together. Union by the smaller number, with path halving.
#[derive(Debug)]
pub(crate) struct Unions {
    /// Invariant: never above the number itself.
    parents: Vec<u32>,
}

impl Unions {
    pub fn new(len: usize) -> Unions {
        Unions { parents: (0..len as u32).collect() }
    }

    /// The smallest number of the part that a number is in.
    pub fn find(&mut self, number: u32) -> u32 {
        let mut at = number;
        while self.parents[at as usize] != at {
            let up = self.parents[self.parents[at as usize] as usize];
            self.parents[at as usize] = up;
            at = up;
        }
        at
    }

    pub fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.find(a), self.find(b));
        self.parents[a.max(b) as usize] = a.min(b);
    }

    /// What belongs together. One pass: whoever stands above a number is smaller and has its part already.
    pub fn into_parts(self) -> Parts {
        let Unions { parents: mut of } = self;
        let mut count = 0;
        for at in 0..of.len() {
            let up = of[at] as usize;
            let is_first = up == at;
            of[at] = if is_first { count } else { of[up] };
            count += u32::from(is_first);
        }
        Parts { of, count: count as usize }
    }
}

/// A division into parts, which are numbered in the order of their smallest members.
#[derive(Debug)]
pub(crate) struct Parts {
    /// By member: its part; `NONE` where it is in none.
    of: Vec<u32>,
    count: usize,
}

impl Parts {
    /// The parts of those that have the same name, which is made of what stands for each; `NONE` is none. There are
    /// `names` of them.
    pub fn named(mut of: Vec<u32>, names: usize, name: impl Fn(u32) -> u32) -> Parts {
        let mut parts = vec![NONE; names];
        let mut count = 0;
        for member in of.iter_mut().filter(|member| **member != NONE) {
            let part = &mut parts[name(*member) as usize];
            if *part == NONE {
                *part = count;
                count += 1;
            }
            *member = *part;
        }
        Parts { of, count: count as usize }
    }

    pub fn len(&self) -> usize {
        self.count
    }

    /// By member: its part.
    pub fn of(&self) -> &[u32] {
        &self.of
    }

    /// By part: its smallest member.
    pub fn firsts(&self) -> Vec<u32> {
        let mut firsts = Vec::with_capacity(self.count);
        for (member, part) in self.of.iter().enumerate() {
            if *part as usize == firsts.len() {
                firsts.push(member as u32);
            }
        }
        firsts
    }

    /// Puts all members where they belong, part after part, those of a part ascending; where each part ends.
    pub fn list(&self, members: &mut [u32]) -> Vec<u32> {
        // One place on, so that the places where parts begin are where they end once all members are there.
        let mut ends = vec![0; self.count + 1];
        let placed = || self.of.iter().zip(0..).filter(|(part, _)| **part != NONE);
        placed().for_each(|(part, _)| ends[*part as usize + 1] += 1);
        (0..self.count).for_each(|part| ends[part + 1] += ends[part]);
        for (part, member) in placed() {
            let place = &mut ends[*part as usize];
            members[*place as usize] = member;
            *place += 1;
        }
        ends.truncate(self.count);
        ends
    }
}

/// The strongly connected parts.
///
/// Tarjan 1972 as Pearce 2005 puts it: one array for order and parts. Iterative.
pub(crate) fn strong_parts(net: &impl Net, mut pay: impl FnMut(u64) -> Result<()>) -> Result<Parts> {
    let mut search = Strong { ranks: vec![0; net.len()], index: 1, part: TOP, waiting: Vec::new(), owed: 0 };
    let mut way = Vec::new();
    for root in 0..net.len() as u32 {
        if search.ranks[root as usize] == 0 {
            search.from(root, net, &mut way, &mut pay)?;
        }
    }
    pay(search.owed)?;
    Ok(Parts::named(search.ranks, (TOP - search.part) as usize, |rank| TOP - rank))
}

/// The first part. The others are counted down from it, while the order of numbers counts up.
const TOP: u32 = NONE - 1;

/// A search for strongly connected parts.
struct Strong {
    /// By number: 0 unseen; up to `index` being visited, the lowest reached; counted down from the top: its part is
    /// known.
    ranks: Vec<u32>,
    index: u32,
    part: u32,
    /// Numbers whose part is not complete.
    waiting: Vec<u32>,
    /// Fuel that is not paid yet.
    owed: u64,
}

/// A number on the way down, the place of its next arc, and its own rank.
type Visit = (u32, u32, u32);

impl Strong {
    /// Visits all that can be reached from a number.
    fn from(
        &mut self,
        root: u32,
        net: &impl Net,
        way: &mut Vec<Visit>,
        pay: &mut impl FnMut(u64) -> Result<()>,
    ) -> Result<()> {
        let (mut number, mut at, mut own) = (root, 0, self.enter(root));
        loop {
            let heads = net.heads(number);
            if let Some(below) = self.follow(number, heads, &mut at) {
                self.owe(1, pay)?;
                way.push((number, at as u32, own));
                (number, at, own) = (below, 0, self.enter(below));
                continue;
            }
            self.owe(1 + heads.len() as u64, pay)?;
            self.leave(number, own);
            let Some((before, next, rank)) = way.pop() else { return Ok(()) };
            (number, at, own) = (before, next as usize, rank);
        }
    }

    /// Pays as soon as it is worth the call: also on a long way down.
    fn owe(&mut self, units: u64, pay: &mut impl FnMut(u64) -> Result<()>) -> Result<()> {
        self.owed += units;
        if self.owed > CREDIT { pay(std::mem::take(&mut self.owed)) } else { Ok(()) }
    }

    fn enter(&mut self, number: u32) -> u32 {
        self.ranks[number as usize] = self.index;
        self.index += 1;
        self.index - 1
    }

    /// Hot: looks at the heads of a number, up to the first unseen one.
    #[inline]
    fn follow(&mut self, number: u32, heads: &[u32], at: &mut usize) -> Option<u32> {
        let mut lowest = self.ranks[number as usize];
        let mut below = None;
        for head in &heads[*at..] {
            let rank = self.ranks[*head as usize];
            if rank == 0 {
                below = Some(*head);
                break;
            }
            lowest = lowest.min(rank);
            *at += 1;
        }
        self.ranks[number as usize] = lowest;
        below
    }

    /// A number that reached nothing before itself completes a part.
    fn leave(&mut self, number: u32, own: u32) {
        if self.ranks[number as usize] < own {
            self.waiting.push(number);
            return;
        }
        self.index -= 1;
        while let Some(last) = self.waiting.pop_if(|last| self.ranks[*last as usize] >= own) {
            self.ranks[last as usize] = self.part;
            self.index -= 1;
        }
        self.ranks[number as usize] = self.part;
        self.part -= 1;
    }
}

/// The numbers without which a connected part would fall apart. Hopcroft and Tarjan 1973, iterative.
///
/// The network has every arc in both directions.
pub(crate) fn cut_points(net: &impl Net, pay: Pay<'_>) -> Result<Vec<bool>> {
    let count = net.len();
    let mut order = vec![0u32; count];
    let mut low = vec![0u32; count];
    let mut is_cut = vec![false; count];
    let mut index = 0;
    // Number, place of the next arc, and the edge it came by.
    let mut open: Vec<(u32, usize, u32)> = Vec::new();
    for root in 0..count as u32 {
        if order[root as usize] != 0 {
            continue;
        }
        let mut branches = 0;
        index += 1;
        (order[root as usize], low[root as usize]) = (index, index);
        open.push((root, 0, NONE));
        while let Some((number, at, via)) = open.pop() {
            let heads = net.heads(number);
            if at < heads.len() {
                pay(1)?;
                open.push((number, at + 1, via));
                let (head, edge) = (heads[at], net.edges(number)[at]);
                if order[head as usize] == 0 {
                    index += 1;
                    (order[head as usize], low[head as usize]) = (index, index);
                    branches += u32::from(number == root);
                    open.push((head, 0, edge));
                } else if edge != via {
                    low[number as usize] = low[number as usize].min(order[head as usize]);
                }
                continue;
            }
            if let Some((before, _, _)) = open.last().copied() {
                low[before as usize] = low[before as usize].min(low[number as usize]);
                is_cut[before as usize] |= before != root && low[number as usize] >= order[before as usize];
            }
        }
        is_cut[root as usize] = branches > 1;
    }
    Ok(is_cut)
}
