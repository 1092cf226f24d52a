//! Elementary circuits of a network: Johnson 1975, iterative.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hashbrown::{HashMap, HashSet};

use super::ChargeReserveFn;
use super::adjacency::{EdgeId, NONE};
use super::connectivity::{IndexedGraph, strongly_connected};
use super::walk::ReachableSubgraph;
use crate::error::Result;

/// A circuit: its indices, and the edge from each to the next.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Cycle {
    pub indices: Vec<u32>,
    pub edges: Vec<EdgeId>,
}

impl Cycle {
    /// Bytes of one circuit by its length, including the result row.
    pub fn size(length: usize) -> usize {
        4 * size_of::<Cycle>() + length * (size_of::<u32>() + size_of::<EdgeId>())
    }
}

/// Returns the first `limit` circuits that pass no index twice, each once, starting at its smallest index.
///
/// An edge that flows both ways is not a circuit by itself.
pub(crate) fn cycles(
    subgraph: &ReachableSubgraph,
    limit: usize,
    depth: usize,
    charge: ChargeReserveFn<'_>,
) -> Result<Vec<Cycle>> {
    let mut search = CycleSearch::new(subgraph, depth);
    let mut components: BinaryHeap<Reverse<Vec<u32>>> = BinaryHeap::new();
    components.extend(
        cyclic_components(search.arcs.as_slice(), (0..subgraph.len() as u32).collect(), charge)?
            .into_iter()
            .map(Reverse),
    );
    while let Some(Reverse(component)) = components.pop() {
        search.search_from(&component, limit, charge)?;
        if search.found.len() >= limit {
            break;
        }
        let rest = component[1..].to_vec();
        components.extend(cyclic_components(search.arcs.as_slice(), rest, charge)?.into_iter().map(Reverse));
    }
    Ok(search.found)
}

/// Returns the strongly connected components with a cycle, each ascending.
fn cyclic_components(
    arcs: &[Vec<(u32, EdgeId)>],
    indices: Vec<u32>,
    charge: ChargeReserveFn<'_>,
) -> Result<Vec<Vec<u32>>> {
    let component = Subgraph::new(arcs, &indices);
    let components = strongly_connected(&component, &mut |units| charge(units, 0))?;
    let mut groups: Vec<Vec<u32>> = vec![Vec::new(); components.len()];
    for (index, component) in indices.iter().zip(components.labels()) {
        groups[*component as usize].push(*index);
    }
    let has_cycle = |group: &Vec<u32>| match group.as_slice() {
        [only] => arcs[*only as usize].iter().any(|(head, _)| head == only),
        _ => true,
    };
    groups.retain(has_cycle);
    Ok(groups)
}

/// Selected indices of a network, renumbered.
struct Subgraph {
    heads: Vec<Vec<u32>>,
}

impl Subgraph {
    fn new(arcs: &[Vec<(u32, EdgeId)>], indices: &[u32]) -> Subgraph {
        let position = |index: &u32| indices.binary_search(index).ok().map(|at| at as u32);
        let heads = |index: &u32| arcs[*index as usize].iter().filter_map(|(head, _)| position(head)).collect();
        Subgraph { heads: indices.iter().map(heads).collect() }
    }
}

impl IndexedGraph for Subgraph {
    fn len(&self) -> usize {
        self.heads.len()
    }

    fn heads(&self, index: u32) -> &[u32] {
        &self.heads[index as usize]
    }

    fn edges(&self, _number: u32) -> &[u32] {
        &[]
    }
}

struct CycleSearch {
    /// By index: its arcs, only the first one to each head.
    arcs: Vec<Vec<(u32, EdgeId)>>,
    /// The second edge between two indices, if there are several.
    second: HashMap<[u32; 2], EdgeId>,
    depth: usize,
    found: Vec<Cycle>,
    /// By index: in the component that is searched.
    is_inside: Vec<bool>,
    is_blocked: Vec<bool>,
    /// By index: the indices to unblock with it.
    waiting: Vec<Vec<u32>>,
}

/// An index on the current path, the position of its next arc, and whether a circuit was closed through it.
struct Frame {
    index: u32,
    at: usize,
    closed: bool,
}

impl CycleSearch {
    fn new(subgraph: &ReachableSubgraph, depth: usize) -> CycleSearch {
        let mut second = HashMap::new();
        let mut first_arcs = |index: u32| {
            let mut heads = HashSet::new();
            let (first, more): (Vec<_>, Vec<_>) = subgraph.arcs(index).partition(|(head, _)| heads.insert(*head));
            for (head, edge) in more.into_iter().rev() {
                second.insert([index, head], edge);
            }
            first
        };
        let count = subgraph.len();
        CycleSearch {
            arcs: (0..count as u32).map(&mut first_arcs).collect(),
            second,
            depth,
            found: Vec::new(),
            is_inside: vec![false; count],
            is_blocked: vec![false; count],
            waiting: vec![Vec::new(); count],
        }
    }

    /// Finds the circuits through the smallest index of a component.
    fn search_from(&mut self, component: &[u32], limit: usize, charge: ChargeReserveFn<'_>) -> Result<()> {
        for index in component {
            self.is_inside[*index as usize] = true;
            self.is_blocked[*index as usize] = false;
            self.waiting[*index as usize].clear();
        }
        let result = self.circuits(component[0], limit, charge);
        component.iter().for_each(|index| self.is_inside[*index as usize] = false);
        result
    }

    fn circuits(&mut self, start: u32, limit: usize, charge: ChargeReserveFn<'_>) -> Result<()> {
        let mut path = vec![Frame { index: start, at: 0, closed: false }];
        self.is_blocked[start as usize] = true;
        loop {
            let length = path.len();
            let Some(frame) = path.last_mut() else { break };
            charge(1, 0)?;
            let index = frame.index;
            let Some((head, _)) = self.arcs[index as usize].get(frame.at).copied() else {
                let closed = frame.closed;
                self.finish(index, closed);
                path.pop();
                if let Some(before) = path.last_mut() {
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
                // The cost and the memory of a circuit grow with its length.
                charge(length as u64 / 8, Cycle::size(length))?;
                self.record_cycle(&path);
                if self.found.len() >= limit {
                    return Ok(());
                }
            } else if !self.is_blocked[head as usize] {
                // An index at the depth limit must not stay blocked for shorter paths.
                frame.closed |= length >= self.depth;
                if length < self.depth {
                    self.is_blocked[head as usize] = true;
                    path.push(Frame { index: head, at: 0, closed: false });
                }
            }
        }
        Ok(())
    }

    /// Unblocks an index through which a circuit was closed; any other waits until one of its heads is unblocked.
    fn finish(&mut self, index: u32, closed: bool) {
        if closed {
            let mut free = vec![index];
            while let Some(index) = free.pop() {
                if std::mem::replace(&mut self.is_blocked[index as usize], false) {
                    free.append(&mut self.waiting[index as usize]);
                }
            }
            return;
        }
        for at in 0..self.arcs[index as usize].len() {
            let (head, _) = self.arcs[index as usize][at];
            if self.is_inside[head as usize] && !self.waiting[head as usize].contains(&index) {
                self.waiting[head as usize].push(index);
            }
        }
    }

    fn record_cycle(&mut self, path: &[Frame]) {
        let edge = |frame: &Frame| self.arcs[frame.index as usize].get(frame.at - 1).map_or(NONE, |(_, edge)| *edge);
        let indices: Vec<u32> = path.iter().map(|frame| frame.index).collect();
        let mut edges: Vec<EdgeId> = path.iter().map(edge).collect();
        if let ([there, back], [first, last]) = (edges.as_mut_slice(), indices.as_slice())
            && there == back
            && !self.returns_otherwise([*first, *last], there, back)
        {
            return;
        }
        self.found.push(Cycle { indices, edges });
    }

    /// Returns whether a parallel edge closes the circuit instead of the same edge followed twice; replaces the edge if
    /// so.
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
