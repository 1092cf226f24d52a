//! The elementary circuits of a network: Johnson 1975, iterative.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hashbrown::{HashMap, HashSet};

use super::adjacency::{EdgeId, NONE};
use super::parts::{Net, strong_parts};
use super::walk::Reach;
use crate::error::Result;

/// Pays for edges followed, and counts the bytes of what is kept of them.
type Pay<'p> = &'p mut dyn FnMut(u64, usize) -> Result<()>;

/// A circuit: its numbers, and the edge that leads from each to the next.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Cycle {
    pub numbers: Vec<u32>,
    pub edges: Vec<EdgeId>,
}

impl Cycle {
    /// Bytes of one among others by its length, with the row that it becomes.
    pub fn size(length: usize) -> usize {
        4 * size_of::<Cycle>() + length * (size_of::<u32>() + size_of::<EdgeId>())
    }
}

/// The first so many circuits that pass no number twice, each once, beginning at its smallest number.
///
/// An edge that flows both ways is not a circuit of itself.
pub(crate) fn cycles(reach: &Reach, most: usize, depth: usize, pay: Pay<'_>) -> Result<Vec<Cycle>> {
    let mut search = Search::new(reach, depth);
    let mut parts: BinaryHeap<Reverse<Vec<u32>>> = BinaryHeap::new();
    parts.extend(circling(search.arcs.as_slice(), (0..reach.len() as u32).collect(), pay)?.into_iter().map(Reverse));
    while let Some(Reverse(part)) = parts.pop() {
        search.from(&part, most, pay)?;
        if search.found.len() >= most {
            break;
        }
        let rest = part[1..].to_vec();
        parts.extend(circling(search.arcs.as_slice(), rest, pay)?.into_iter().map(Reverse));
    }
    Ok(search.found)
}

/// The parts of some numbers in which something can flow in circles, each ascending.
fn circling(arcs: &[Vec<(u32, EdgeId)>], numbers: Vec<u32>, pay: Pay<'_>) -> Result<Vec<Vec<u32>>> {
    let part = Part::new(arcs, &numbers);
    let parts = strong_parts(&part, &mut |units| pay(units, 0))?;
    let mut groups: Vec<Vec<u32>> = vec![Vec::new(); parts.len()];
    for (number, part) in numbers.iter().zip(parts.of()) {
        groups[*part as usize].push(*number);
    }
    let circles = |group: &Vec<u32>| match group.as_slice() {
        [only] => arcs[*only as usize].iter().any(|(head, _)| head == only),
        _ => true,
    };
    groups.retain(circles);
    Ok(groups)
}

/// Some numbers of a network, numbered anew.
struct Part {
    heads: Vec<Vec<u32>>,
}

impl Part {
    fn new(arcs: &[Vec<(u32, EdgeId)>], numbers: &[u32]) -> Part {
        let place = |number: &u32| numbers.binary_search(number).ok().map(|at| at as u32);
        let heads = |number: &u32| arcs[*number as usize].iter().filter_map(|(head, _)| place(head)).collect();
        Part { heads: numbers.iter().map(heads).collect() }
    }
}

impl Net for Part {
    fn len(&self) -> usize {
        self.heads.len()
    }

    fn heads(&self, number: u32) -> &[u32] {
        &self.heads[number as usize]
    }

    fn edges(&self, _number: u32) -> &[u32] {
        &[]
    }
}

struct Search {
    /// By number: its arcs, the first one to each head only.
    arcs: Vec<Vec<(u32, EdgeId)>>,
    /// The second edge from a number to another, where there are several.
    second: HashMap<[u32; 2], EdgeId>,
    depth: usize,
    found: Vec<Cycle>,
    /// By number: in the part that is searched.
    is_inside: Vec<bool>,
    is_blocked: Vec<bool>,
    /// By number: who waits for it to be free again.
    waiting: Vec<Vec<u32>>,
}

/// A number on the way, the place of its next arc, and whether a circuit was closed through it.
struct Frame {
    number: u32,
    at: usize,
    closed: bool,
}

impl Search {
    fn new(reach: &Reach, depth: usize) -> Search {
        let mut second = HashMap::new();
        let mut first_arcs = |number: u32| {
            let mut heads = HashSet::new();
            let (first, more): (Vec<_>, Vec<_>) = reach.arcs(number).partition(|(head, _)| heads.insert(*head));
            for (head, edge) in more.into_iter().rev() {
                second.insert([number, head], edge);
            }
            first
        };
        let count = reach.len();
        Search {
            arcs: (0..count as u32).map(&mut first_arcs).collect(),
            second,
            depth,
            found: Vec::new(),
            is_inside: vec![false; count],
            is_blocked: vec![false; count],
            waiting: vec![Vec::new(); count],
        }
    }

    /// The circuits through the smallest number of a part.
    fn from(&mut self, part: &[u32], most: usize, pay: Pay<'_>) -> Result<()> {
        for number in part {
            self.is_inside[*number as usize] = true;
            self.is_blocked[*number as usize] = false;
            self.waiting[*number as usize].clear();
        }
        let result = self.circuits(part[0], most, pay);
        part.iter().for_each(|number| self.is_inside[*number as usize] = false);
        result
    }

    fn circuits(&mut self, start: u32, most: usize, pay: Pay<'_>) -> Result<()> {
        let mut way = vec![Frame { number: start, at: 0, closed: false }];
        self.is_blocked[start as usize] = true;
        loop {
            let length = way.len();
            let Some(frame) = way.last_mut() else { break };
            pay(1, 0)?;
            let number = frame.number;
            let Some((head, _)) = self.arcs[number as usize].get(frame.at).copied() else {
                let closed = frame.closed;
                self.leave(number, closed);
                way.pop();
                if let Some(before) = way.last_mut() {
                    before.closed |= closed;
                }
                continue;
            };
            frame.at += 1;
            if !self.is_inside[head as usize] {
                continue;
            }
            if head == start {
                frame.closed = true;
                // As long as the way is, and so is what is kept of it.
                pay(length as u64 / 8, Cycle::size(length))?;
                self.note(&way);
                if self.found.len() >= most {
                    return Ok(());
                }
            } else if !self.is_blocked[head as usize] {
                // Whoever is cut off by the depth must not stay blocked for shorter ways.
                frame.closed |= length >= self.depth;
                if length < self.depth {
                    self.is_blocked[head as usize] = true;
                    way.push(Frame { number: head, at: 0, closed: false });
                }
            }
        }
        Ok(())
    }

    /// Frees a number through which a circuit was closed; another waits until one of its heads is free.
    fn leave(&mut self, number: u32, closed: bool) {
        if closed {
            let mut free = vec![number];
            while let Some(number) = free.pop() {
                if std::mem::replace(&mut self.is_blocked[number as usize], false) {
                    free.append(&mut self.waiting[number as usize]);
                }
            }
            return;
        }
        for at in 0..self.arcs[number as usize].len() {
            let (head, _) = self.arcs[number as usize][at];
            if self.is_inside[head as usize] && !self.waiting[head as usize].contains(&number) {
                self.waiting[head as usize].push(number);
            }
        }
    }

    fn note(&mut self, way: &[Frame]) {
        let edge = |frame: &Frame| self.arcs[frame.number as usize].get(frame.at - 1).map_or(NONE, |(_, edge)| *edge);
        let numbers: Vec<u32> = way.iter().map(|frame| frame.number).collect();
        let mut edges: Vec<EdgeId> = way.iter().map(edge).collect();
        if let ([there, back], [first, last]) = (edges.as_mut_slice(), numbers.as_slice())
            && there == back
            && !self.returns_otherwise([*first, *last], there, back)
        {
            return;
        }
        self.found.push(Cycle { numbers, edges });
    }

    /// Whether another edge leads there, or back, beside the one that leads both ways.
    fn returns_otherwise(&self, [first, last]: [u32; 2], there: &mut EdgeId, back: &mut EdgeId) -> bool {
        let others = [self.second.get(&[first, last]), self.second.get(&[last, first])];
        match others {
            [Some(other), _] => *there = *other,
            [None, Some(other)] => *back = *other,
            [None, None] => return false,
        }
        true
    }
}
