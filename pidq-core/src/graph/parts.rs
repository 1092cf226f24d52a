//! What a network consists of: connected parts, parts that flow in circles, and nodes that hold it together.

use super::adjacency::{Adjacency, NONE};
use super::walk::Reach;
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
}

/// By number: the smallest number of its strongly connected part.
///
/// Tarjan 1972 as Pearce 2005 puts it: one array for order and parts. Iterative.
pub(crate) fn strong_parts(net: &impl Net, pay: Pay<'_>) -> Result<Vec<u32>> {
    let count = net.len();
    // 0 unseen; up to `index` being visited, lowest reached; counted down from the top: its part is known.
    let mut rank = vec![0u32; count];
    let (mut index, mut part) = (1u32, NONE - 1);
    let mut waiting: Vec<u32> = Vec::new();
    let mut open: Vec<(u32, u32, bool)> = Vec::new();
    for root in 0..count as u32 {
        if rank[root as usize] != 0 {
            continue;
        }
        rank[root as usize] = index;
        index += 1;
        open.push((root, 0, true));
        while let Some((number, next, is_root)) = open.pop() {
            let (mut next, mut is_root) = (next, is_root);
            let heads = net.heads(number);
            let mut below = NONE;
            while (next as usize) < heads.len() {
                let head = heads[next as usize];
                if rank[head as usize] == 0 {
                    below = head;
                    break;
                }
                if rank[head as usize] < rank[number as usize] {
                    rank[number as usize] = rank[head as usize];
                    is_root = false;
                }
                next += 1;
            }
            if below != NONE {
                pay(1)?;
                open.push((number, next, is_root));
                rank[below as usize] = index;
                index += 1;
                open.push((below, 0, true));
                continue;
            }
            pay(1 + heads.len() as u64)?;
            if is_root {
                index -= 1;
                while let Some(last) =
                    waiting.last().copied().filter(|last| rank[*last as usize] >= rank[number as usize])
                {
                    rank[last as usize] = part;
                    index -= 1;
                    waiting.pop();
                }
                rank[number as usize] = part;
                part -= 1;
            } else {
                waiting.push(number);
            }
        }
    }
    Ok(smallest_of(&rank))
}

/// By number: the smallest number of its part, where parts are counted down from the top.
fn smallest_of(ranks: &[u32]) -> Vec<u32> {
    let mut first = vec![NONE; ranks.len()];
    let part = |rank: u32| (NONE - 1 - rank) as usize;
    for (rank, number) in ranks.iter().zip(0..ranks.len() as u32).rev() {
        first[part(*rank)] = number;
    }
    ranks.iter().map(|rank| first[part(*rank)]).collect()
}

/// The numbers of each part, ascending; parts in the order of their smallest numbers, by which they are named.
pub(crate) struct Groups {
    first: Vec<u32>,
    members: Vec<u32>,
}

impl Groups {
    /// By number: the name of its part, or nothing where it is in none.
    pub fn new(names: &[Option<u32>]) -> Groups {
        let mut first = vec![0u32; names.len() + 1];
        names.iter().flatten().for_each(|name| first[*name as usize + 1] += 1);
        (0..names.len()).for_each(|at| first[at + 1] += first[at]);
        let mut next = first.clone();
        let mut members = vec![0; first[names.len()] as usize];
        for (number, name) in names.iter().enumerate() {
            let Some(name) = name else { continue };
            members[next[*name as usize] as usize] = number as u32;
            next[*name as usize] += 1;
        }
        Groups { first, members }
    }

    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        let ranges = self.first.windows(2).filter(|pair| pair[0] < pair[1]);
        ranges.map(|pair| &self.members[pair[0] as usize..pair[1] as usize])
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
