//! Routes through a network: the shortest, the cheapest, all in order, and the nodes between.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::adjacency::NONE;
use super::walk::ReachableSubgraph;
use super::{ChargeFn, ChargeReserveFn};
use crate::error::Result;

/// A route: its start, and the positions of its arcs in the network.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Route {
    pub start: u32,
    pub arcs: Vec<u32>,
}

impl Route {
    /// Bytes of one route, including its queue entry, or half of its result row.
    fn size(&self) -> usize {
        4 * size_of::<Route>() + self.arcs.len() * size_of::<u32>()
    }

    /// Returns the indices along the route.
    pub fn indices(&self, subgraph: &ReachableSubgraph) -> Vec<u32> {
        let heads = self.arcs.iter().map(|arc| subgraph.arc(*arc as usize).0);
        std::iter::once(self.start).chain(heads).collect()
    }
}

/// Returns the route with the fewest arcs; among equals, the one whose edges come first. Breadth first.
pub(crate) fn shortest(subgraph: &ReachableSubgraph, targets: &[bool], charge: ChargeFn<'_>) -> Result<Option<Route>> {
    // By index: the arc by which it was found, and its predecessor.
    let mut found = vec![[NONE; 2]; subgraph.len()];
    let mut seen = vec![false; subgraph.len()];
    let mut queue: Vec<u32> = (0..subgraph.starts as u32).collect();
    seen[..subgraph.starts].fill(true);
    let mut at = 0;
    while at < queue.len() {
        let index = queue[at];
        if targets[index as usize] {
            return Ok(Some(route_to(&found, index)));
        }
        charge(1 + subgraph.range(index).len() as u64)?;
        for arc in subgraph.range(index) {
            let (head, _) = subgraph.arc(arc);
            if !std::mem::replace(&mut seen[head as usize], true) {
                found[head as usize] = [arc as u32, index];
                queue.push(head);
            }
        }
        at += 1;
    }
    Ok(None)
}

/// Returns the route by which an index was found.
fn route_to(found: &[[u32; 2]], end: u32) -> Route {
    let mut arcs = Vec::new();
    let mut index = end;
    while found[index as usize][0] != NONE {
        let [arc, from] = found[index as usize];
        arcs.push(arc);
        index = from;
    }
    arcs.reverse();
    Route { start: index, arcs }
}

/// A cost with a total order.
#[derive(Clone, Copy, PartialEq)]
struct Cost(f64);

impl Eq for Cost {}

impl Ord for Cost {
    fn cmp(&self, other: &Cost) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Cost {
    fn partial_cmp(&self, other: &Cost) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Returns the route with the lowest sum of weights, one per arc position; among equals, the one with fewer arcs, then
/// the one found first. Dijkstra 1959.
pub(crate) fn cheapest(
    subgraph: &ReachableSubgraph,
    weights: &[f64],
    targets: &[bool],
    charge: ChargeFn<'_>,
) -> Result<Option<(Route, f64)>> {
    let mut best = vec![(Cost(f64::INFINITY), u32::MAX); subgraph.len()];
    let mut found = vec![[NONE; 2]; subgraph.len()];
    let mut is_done = vec![false; subgraph.len()];
    let mut count = 0u64;
    let mut heap = BinaryHeap::new();
    for start in 0..subgraph.starts as u32 {
        best[start as usize] = (Cost(0.0), 0);
        heap.push(Reverse((Cost(0.0), 0u32, count, start)));
        count += 1;
    }
    while let Some(Reverse((cost, hops, _, index))) = heap.pop() {
        if std::mem::replace(&mut is_done[index as usize], true) {
            continue;
        }
        if targets[index as usize] {
            return Ok(Some((route_to(&found, index), cost.0)));
        }
        charge(1 + subgraph.range(index).len() as u64)?;
        for arc in subgraph.range(index) {
            let (head, _) = subgraph.arc(arc);
            let next = (Cost(cost.0 + weights[arc]), hops + 1);
            if !is_done[head as usize] && next < best[head as usize] {
                best[head as usize] = next;
                found[head as usize] = [arc as u32, index];
                heap.push(Reverse((next.0, next.1, count, head)));
                count += 1;
            }
        }
    }
    Ok(None)
}

/// Returns, by index, whether it lies on a walk from the starts to the targets that returns to neither.
///
/// Targets must have no arcs, so that a walk does not continue from them.
pub(crate) fn between(subgraph: &ReachableSubgraph, targets: &[bool]) -> Vec<bool> {
    let reversed = subgraph.reversed();
    let mut reached = targets.to_vec();
    let mut queue: Vec<u32> = (0..subgraph.len() as u32).filter(|index| targets[*index as usize]).collect();
    while let Some(index) = queue.pop() {
        for before in reversed.nodes(index) {
            let is_new = !std::mem::replace(&mut reached[*before as usize], true);
            if is_new && *before as usize >= subgraph.starts {
                queue.push(*before);
            }
        }
    }
    reached
}

/// Result of [`routes`].
#[derive(Debug)]
pub(crate) struct FoundRoutes {
    pub routes: Vec<Route>,
    /// There are routes longer than allowed.
    pub has_longer: bool,
}

/// Returns the first `limit` routes that pass no node twice: the shortest first, then by the order of their edges.
///
/// Yen 1971, with Lawler's improvement: a route need not be varied before the position where it left its parent.
pub(crate) fn routes(
    subgraph: &ReachableSubgraph,
    targets: &[bool],
    limit: usize,
    depth: usize,
    charge: ChargeReserveFn<'_>,
) -> Result<FoundRoutes> {
    let mut finder = SpurFinder { subgraph, reversed: subgraph.reversed(), targets, distance: Vec::new() };
    let mut candidates: BinaryHeap<Reverse<(usize, Route, usize)>> = BinaryHeap::new();
    for start in 0..subgraph.starts as u32 {
        let route = finder.spur(Route { start, arcs: Vec::new() }, &[], &mut |units| charge(units, 0))?;
        charge(0, route.as_ref().map_or(0, Route::size))?;
        candidates.extend(route.map(|route| Reverse((route.arcs.len(), route, 0))));
    }
    let mut found: Vec<Route> = Vec::new();
    while let Some(Reverse((length, route, deviation))) = candidates.pop() {
        if found.len() == limit || length > depth {
            return Ok(FoundRoutes { has_longer: found.len() < limit, routes: found });
        }
        charge(0, route.size())?;
        found.push(route.clone());
        for at in deviation..route.arcs.len() {
            let root = &route.arcs[..at];
            let shares_root =
                |other: &&Route| other.start == route.start && other.arcs.len() > at && other.arcs[..at] == *root;
            let banned: Vec<u32> = found.iter().filter(shares_root).map(|other| other.arcs[at]).collect();
            charge((found.len() + at) as u64, 0)?;
            let root = Route { start: route.start, arcs: root.to_vec() };
            let spur = finder.spur(root, &banned, &mut |units| charge(units, 0))?;
            charge(0, spur.as_ref().map_or(0, Route::size))?;
            candidates.extend(spur.map(|spur| Reverse((spur.arcs.len(), spur, at))));
        }
    }
    Ok(FoundRoutes { routes: found, has_longer: false })
}

struct SpurFinder<'r> {
    subgraph: &'r ReachableSubgraph,
    reversed: super::adjacency::Adjacency,
    targets: &'r [bool],
    /// By index: the number of arcs to the nearest target, avoiding the nodes of the root.
    distance: Vec<u32>,
}

impl SpurFinder<'_> {
    /// Returns the root extended by the shortest path from its end that does not start with a banned arc.
    fn spur(&mut self, root: Route, banned: &[u32], charge: ChargeFn<'_>) -> Result<Option<Route>> {
        let mut indices = root.indices(self.subgraph);
        let end = indices.pop().unwrap_or(root.start);
        if self.targets[end as usize] && banned.is_empty() {
            return Ok(Some(root));
        }
        self.compute_distances(&indices, end, charge)?;
        let first = self.subgraph.range(end).filter(|arc| !banned.contains(&(*arc as u32)));
        let mut next = self.nearest(first);
        let mut route = root;
        while let Some(arc) = next {
            route.arcs.push(arc as u32);
            let (head, _) = self.subgraph.arc(arc);
            if self.distance[head as usize] == 0 {
                route.arcs.shrink_to_fit();
                return Ok(Some(route));
            }
            next = self.nearest(self.subgraph.range(head));
        }
        Ok(None)
    }

    /// Returns the first arc that leads nearest to a target.
    fn nearest(&self, arcs: impl Iterator<Item = usize>) -> Option<usize> {
        let distance = |arc: usize| self.distance[self.subgraph.arc(arc).0 as usize];
        arcs.filter(|arc| distance(*arc) != NONE).min_by_key(|arc| distance(*arc))
    }

    /// Computes the distances to the targets, avoiding the nodes of the root and its end.
    fn compute_distances(&mut self, root: &[u32], end: u32, charge: ChargeFn<'_>) -> Result<()> {
        let mut blocked = vec![false; self.subgraph.len()];
        root.iter().chain([&end]).for_each(|index| blocked[*index as usize] = true);
        self.distance.clear();
        self.distance.resize(self.subgraph.len(), NONE);
        let is_open_target = |index: &u32| self.targets[*index as usize] && !blocked[*index as usize];
        let mut queue: Vec<u32> = (0..self.subgraph.len() as u32).filter(is_open_target).collect();
        queue.iter().for_each(|index| self.distance[*index as usize] = 0);
        charge((self.subgraph.len() + self.subgraph.arc_count()) as u64 / 4 + 1)?;
        let mut at = 0;
        while at < queue.len() {
            let index = queue[at];
            for before in self.reversed.nodes(index) {
                if !blocked[*before as usize] && self.distance[*before as usize] == NONE {
                    self.distance[*before as usize] = self.distance[index as usize] + 1;
                    queue.push(*before);
                }
            }
            at += 1;
        }
        Ok(())
    }
}
