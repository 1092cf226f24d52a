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

    fn edges(&self, _index: u32) -> &[u32] {
        &[]
    }
}

struct CycleSearch {
    /// By index: its arcs, only the first one to each head.
    arcs: Vec<Vec<(u32, EdgeId)>>,
    /// The second edge between two indices, if there are parallel ones.
    parallel_edges: HashMap<[u32; 2], EdgeId>,
    depth: usize,
    found: Vec<Cycle>,
    /// By index: true if it is in the component that is searched.
    is_in_component: Vec<bool>,
    is_blocked: Vec<bool>,
    /// By index: the indices to unblock together with it.
    dependents: Vec<Vec<u32>>,
}

/// An index on the current path, the position of its next arc, and whether a circuit was closed through it.
struct Frame {
    index: u32,
    at: usize,
    has_cycle: bool,
}

impl CycleSearch {
    fn new(subgraph: &ReachableSubgraph, depth: usize) -> CycleSearch {
        let mut parallel_edges = HashMap::new();
        let mut first_arcs = |index: u32| {
            let mut heads = HashSet::new();
            let (first, more): (Vec<_>, Vec<_>) = subgraph.arcs(index).partition(|(head, _)| heads.insert(*head));
            for (head, edge) in more.into_iter().rev() {
                parallel_edges.insert([index, head], edge);
            }
            first
        };
        let count = subgraph.len();
        CycleSearch {
            arcs: (0..count as u32).map(&mut first_arcs).collect(),
            parallel_edges,
            depth,
            found: Vec::new(),
            is_in_component: vec![false; count],
            is_blocked: vec![false; count],
            dependents: vec![Vec::new(); count],
        }
    }

    /// Finds the circuits through the smallest index of a component.
    fn search_from(&mut self, component: &[u32], limit: usize, charge: ChargeReserveFn<'_>) -> Result<()> {
        for index in component {
            self.is_in_component[*index as usize] = true;
            self.is_blocked[*index as usize] = false;
            self.dependents[*index as usize].clear();
        }
        let result = self.circuits(component[0], limit, charge);
        component.iter().for_each(|index| self.is_in_component[*index as usize] = false);
        result
    }

    fn circuits(&mut self, start: u32, limit: usize, charge: ChargeReserveFn<'_>) -> Result<()> {
        let mut path = vec![Frame { index: start, at: 0, has_cycle: false }];
        self.is_blocked[start as usize] = true;
        loop {
            let length = path.len();
            let Some(frame) = path.last_mut() else { break };
            charge(1, 0)?;
            let index = frame.index;
            let Some((head, _)) = self.arcs[index as usize].get(frame.at).copied() else {
                let has_cycle = frame.has_cycle;
                self.finish(index, has_cycle);
                path.pop();
                if let Some(before) = path.last_mut() {
                    before.has_cycle |= has_cycle;
                }
                continue;
            };
            frame.at += 1;
            if !self.is_in_component[head as usize] {
                continue;
            }
            if head == start {
                frame.has_cycle = true;
                // The cost and the memory of a circuit grow with its length.
                charge(length as u64 / 8, Cycle::size(length))?;
                self.record_cycle(&path);
                if self.found.len() >= limit {
                    return Ok(());
                }
            } else if !self.is_blocked[head as usize] {
                // An index at the depth limit must not stay blocked for shorter paths.
                frame.has_cycle |= length >= self.depth;
                if length < self.depth {
                    self.is_blocked[head as usize] = true;
                    path.push(Frame { index: head, at: 0, has_cycle: false });
                }
            }
        }
        Ok(())
    }

    /// Unblocks an index through which a circuit was closed. Any other index is unblocked together with its heads.
    fn finish(&mut self, index: u32, has_cycle: bool) {
        if has_cycle {
            let mut unblocked = vec![index];
            while let Some(index) = unblocked.pop() {
                if std::mem::replace(&mut self.is_blocked[index as usize], false) {
                    unblocked.append(&mut self.dependents[index as usize]);
                }
            }
            return;
        }
        for at in 0..self.arcs[index as usize].len() {
            let (head, _) = self.arcs[index as usize][at];
            if self.is_in_component[head as usize] && !self.dependents[head as usize].contains(&index) {
                self.dependents[head as usize].push(index);
            }
        }
    }

    fn record_cycle(&mut self, path: &[Frame]) {
        let edge = |frame: &Frame| self.arcs[frame.index as usize].get(frame.at - 1).map_or(NONE, |(_, edge)| *edge);
        let indices: Vec<u32> = path.iter().map(|frame| frame.index).collect();
        let mut edges: Vec<EdgeId> = path.iter().map(edge).collect();
        if let ([forward, backward], [first, last]) = (edges.as_mut_slice(), indices.as_slice())
            && forward == backward
            && !self.use_parallel_edge([*first, *last], forward, backward)
        {
            return;
        }
        self.found.push(Cycle { indices, edges });
    }

    /// Replaces one of two uses of the same edge with a parallel edge. Returns false if there is none.
    fn use_parallel_edge(&self, [first, last]: [u32; 2], forward: &mut EdgeId, backward: &mut EdgeId) -> bool {
        let parallel = [self.parallel_edges.get(&[first, last]), self.parallel_edges.get(&[last, first])];
        match parallel {
            [Some(other), _] => *forward = *other,
            [None, Some(other)] => *backward = *other,
            [None, None] => return false,
        }
        true
    }
}
