//! Connectivity of a network: connected components, strongly connected components, articulation points.

use super::ChargeFn;
use super::adjacency::{Adjacency, NONE};
use super::walk::{CHARGE_BATCH, ReachableSubgraph};
use crate::error::Result;

/// An index-based network: a whole table, or a reachable subgraph.
pub(crate) trait IndexedGraph {
    fn len(&self) -> usize;
    fn heads(&self, index: u32) -> &[u32];
    fn edges(&self, index: u32) -> &[u32];
}

impl IndexedGraph for ReachableSubgraph {
    fn len(&self) -> usize {
        self.nodes.len()
    }

    fn heads(&self, index: u32) -> &[u32] {
        self.heads_of(index)
    }

    fn edges(&self, index: u32) -> &[u32] {
        self.edges_of(index)
    }
}

impl IndexedGraph for Adjacency {
    fn len(&self) -> usize {
        self.node_count()
    }

    fn heads(&self, index: u32) -> &[u32] {
        self.nodes(index)
    }

    fn edges(&self, index: u32) -> &[u32] {
        Adjacency::edges(self, index)
    }
}

/// Union-find over indices. Union by the smaller index, with path halving.
#[derive(Debug)]
pub(crate) struct UnionFind {
    /// Invariant: never greater than the index itself.
    parents: Vec<u32>,
}

impl UnionFind {
    pub fn new(len: usize) -> UnionFind {
        UnionFind { parents: (0..len as u32).collect() }
    }

    /// Adds an index, which is a component of its own.
    pub fn add(&mut self) -> u32 {
        let index = self.parents.len() as u32;
        self.parents.push(index);
        index
    }

    /// Returns the smallest index of the component of an index.
    pub fn find(&mut self, index: u32) -> u32 {
        let mut at = index;
        while self.parents[at as usize] != at {
            let parent = self.parents[self.parents[at as usize] as usize];
            self.parents[at as usize] = parent;
            at = parent;
        }
        at
    }

    pub fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.find(a), self.find(b));
        self.parents[a.max(b) as usize] = a.min(b);
    }

    /// Returns the components. One pass suffices: parents are smaller than their children and have their label already.
    pub fn into_components(self) -> Components {
        let UnionFind { parents: mut labels } = self;
        let mut count = 0;
        for at in 0..labels.len() {
            let parent = labels[at] as usize;
            let is_first = parent == at;
            labels[at] = if is_first { count } else { labels[parent] };
            count += u32::from(is_first);
        }
        Components { labels, count: count as usize }
    }
}

/// A partition into components, numbered in the order of their smallest members.
#[derive(Debug)]
pub(crate) struct Components {
    /// By member: its component; `NONE` if it has none.
    labels: Vec<u32>,
    count: usize,
}

impl Components {
    /// Creates components from labels: members with the same mapped label belong together; `NONE` means no component.
    /// There are `label_count` distinct labels.
    pub fn from_labels(mut labels: Vec<u32>, label_count: usize, component_label: impl Fn(u32) -> u32) -> Components {
        let mut components = vec![NONE; label_count];
        let mut count = 0;
        for member in labels.iter_mut().filter(|member| **member != NONE) {
            let component = &mut components[component_label(*member) as usize];
            if *component == NONE {
                *component = count;
                count += 1;
            }
            *member = *component;
        }
        Components { labels, count: count as usize }
    }

    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns the component of each member.
    pub fn labels(&self) -> &[u32] {
        &self.labels
    }

    /// Returns the smallest member of each component.
    pub fn smallest_members(&self) -> Vec<u32> {
        let mut first_members = Vec::with_capacity(self.count);
        for (member, component) in self.labels.iter().enumerate() {
            if *component as usize == first_members.len() {
                first_members.push(member as u32);
            }
        }
        first_members
    }

    /// Writes the members grouped by component, ascending within a component, and returns the end of each group.
    pub fn group_members(&self, members: &mut [u32]) -> Vec<u32> {
        // Offset by one, so that the start positions become the end positions once all members are written.
        let mut ends = vec![0; self.count + 1];
        let members_with_component = || self.labels.iter().zip(0..).filter(|(component, _)| **component != NONE);
        members_with_component().for_each(|(component, _)| ends[*component as usize + 1] += 1);
        (0..self.count).for_each(|component| ends[component + 1] += ends[component]);
        for (component, member) in members_with_component() {
            let offset = &mut ends[*component as usize];
            members[*offset as usize] = member;
            *offset += 1;
        }
        ends.truncate(self.count);
        ends
    }
}

/// Returns the strongly connected components.
///
/// Tarjan 1972 in the form of Pearce 2005: one array for order and components. Iterative.
pub(crate) fn strongly_connected(
    net: &impl IndexedGraph,
    mut charge: impl FnMut(u64) -> Result<()>,
) -> Result<Components> {
    let mut search =
        SccSearch { ranks: vec![0; net.len()], next_rank: 1, component: TOP, stack: Vec::new(), uncharged: 0 };
    let mut path = Vec::new();
    for root in 0..net.len() as u32 {
        if search.ranks[root as usize] == 0 {
            search.search_from(root, net, &mut path, &mut charge)?;
        }
    }
    charge(search.uncharged)?;
    Ok(Components::from_labels(search.ranks, (TOP - search.component) as usize, |rank| TOP - rank))
}

/// The first component. Components are numbered downward from here, while the visiting order counts up.
const TOP: u32 = NONE - 1;

/// Search for strongly connected components.
struct SccSearch {
    /// By index: 0 if not visited; below `next_rank` while its component is incomplete, as the lowest rank reached;
    /// above that the component, numbered downward from `TOP`.
    ranks: Vec<u32>,
    next_rank: u32,
    component: u32,
    /// Finished indices whose component is incomplete.
    stack: Vec<u32>,
    /// Fuel not charged yet.
    uncharged: u64,
}

/// An index on the current path, the position of its next arc, and its own rank.
type Visit = (u32, u32, u32);

impl SccSearch {
    /// Visits everything reachable from an index.
    fn search_from(
        &mut self,
        root: u32,
        net: &impl IndexedGraph,
        path: &mut Vec<Visit>,
        charge: &mut impl FnMut(u64) -> Result<()>,
    ) -> Result<()> {
        let (mut index, mut at, mut own_rank) = (root, 0, self.enter(root));
        loop {
            let heads = net.heads(index);
            if let Some(below) = self.follow(index, heads, &mut at) {
                self.charge_batched(1, charge)?;
                path.push((index, at as u32, own_rank));
                (index, at, own_rank) = (below, 0, self.enter(below));
                continue;
            }
            self.charge_batched(1 + heads.len() as u64, charge)?;
            self.finish(index, own_rank);
            let Some((before, next, rank)) = path.pop() else { return Ok(()) };
            (index, at, own_rank) = (before, next as usize, rank);
        }
    }

    /// Charges fuel in batches, also on a long descent.
    fn charge_batched(&mut self, units: u64, charge: &mut impl FnMut(u64) -> Result<()>) -> Result<()> {
        self.uncharged += units;
        if self.uncharged > CHARGE_BATCH { charge(std::mem::take(&mut self.uncharged)) } else { Ok(()) }
    }

    fn enter(&mut self, index: u32) -> u32 {
        self.ranks[index as usize] = self.next_rank;
        self.next_rank += 1;
        self.next_rank - 1
    }

    /// Hot: scans the heads of an index, up to the first one not visited.
    #[inline]
    fn follow(&mut self, index: u32, heads: &[u32], at: &mut usize) -> Option<u32> {
        let mut lowest = self.ranks[index as usize];
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
        self.ranks[index as usize] = lowest;
        below
    }

    /// Leaves an index. If it reached nothing before itself, it completes a component.
    fn finish(&mut self, index: u32, own_rank: u32) {
        if self.ranks[index as usize] < own_rank {
            self.stack.push(index);
            return;
        }
        self.next_rank -= 1;
        while let Some(last) = self.stack.pop_if(|last| self.ranks[*last as usize] >= own_rank) {
            self.ranks[last as usize] = self.component;
            self.next_rank -= 1;
        }
        self.ranks[index as usize] = self.component;
        self.component -= 1;
    }
}

/// Returns the articulation points. Hopcroft and Tarjan 1973, iterative.
///
/// The network has every arc in both directions.
pub(crate) fn articulation_points(net: &impl IndexedGraph, charge: ChargeFn<'_>) -> Result<Vec<bool>> {
    let count = net.len();
    let mut order = vec![0u32; count];
    let mut low = vec![0u32; count];
    let mut is_cut = vec![false; count];
    let mut last_order = 0;
    // Index, position of the next arc, and the edge it was reached by.
    let mut stack: Vec<(u32, usize, u32)> = Vec::new();
    for root in 0..count as u32 {
        if order[root as usize] != 0 {
            continue;
        }
        let mut branches = 0;
        last_order += 1;
        (order[root as usize], low[root as usize]) = (last_order, last_order);
        stack.push((root, 0, NONE));
        while let Some((index, at, via)) = stack.pop() {
            let heads = net.heads(index);
            if at < heads.len() {
                charge(1)?;
                stack.push((index, at + 1, via));
                let (head, edge) = (heads[at], net.edges(index)[at]);
                if order[head as usize] == 0 {
                    last_order += 1;
                    (order[head as usize], low[head as usize]) = (last_order, last_order);
                    branches += u32::from(index == root);
                    stack.push((head, 0, edge));
                } else if edge != via {
                    low[index as usize] = low[index as usize].min(order[head as usize]);
                }
                continue;
            }
            if let Some((before, _, _)) = stack.last().copied() {
                low[before as usize] = low[before as usize].min(low[index as usize]);
                is_cut[before as usize] |= before != root && low[index as usize] >= order[before as usize];
            }
        }
        is_cut[root as usize] = branches > 1;
    }
    Ok(is_cut)
}
