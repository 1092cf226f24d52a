//! Routes through a network: the shortest, the cheapest, all of them in order, and what lies between.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::adjacency::NONE;
use super::walk::Reach;
use crate::error::Result;

/// Pays for edges followed.
type Pay<'p> = &'p mut dyn FnMut(u64) -> Result<()>;

/// Pays for edges followed, and counts the bytes of what is kept of them.
type PayAndHold<'p> = &'p mut dyn FnMut(u64, usize) -> Result<()>;

/// A route: where it begins, and the places of its arcs in the network.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Route {
    pub start: u32,
    pub arcs: Vec<u32>,
}

impl Route {
    /// Bytes of one among others, with what it waits in, or half of the row that it becomes.
    fn size(&self) -> usize {
        4 * size_of::<Route>() + self.arcs.len() * size_of::<u32>()
    }

    /// The numbers that it passes.
    pub fn numbers(&self, reach: &Reach) -> Vec<u32> {
        let heads = self.arcs.iter().map(|arc| reach.arc(*arc as usize).0);
        std::iter::once(self.start).chain(heads).collect()
    }
}

/// The route with the fewest arcs; of equals the one whose edges come first. Breadth first.
pub(crate) fn shortest(reach: &Reach, targets: &[bool], pay: Pay<'_>) -> Result<Option<Route>> {
    // By number: the arc that it was found by, and from where.
    let mut found = vec![[NONE; 2]; reach.len()];
    let mut seen = vec![false; reach.len()];
    let mut queue: Vec<u32> = (0..reach.starts as u32).collect();
    seen[..reach.starts].fill(true);
    let mut at = 0;
    while at < queue.len() {
        let number = queue[at];
        if targets[number as usize] {
            return Ok(Some(trail(&found, number)));
        }
        pay(1 + reach.range(number).len() as u64)?;
        for arc in reach.range(number) {
            let (head, _) = reach.arc(arc);
            if !std::mem::replace(&mut seen[head as usize], true) {
                found[head as usize] = [arc as u32, number];
                queue.push(head);
            }
        }
        at += 1;
    }
    Ok(None)
}

/// The arcs by which a number was found.
fn trail(found: &[[u32; 2]], end: u32) -> Route {
    let mut arcs = Vec::new();
    let mut number = end;
    while found[number as usize][0] != NONE {
        let [arc, from] = found[number as usize];
        arcs.push(arc);
        number = from;
    }
    arcs.reverse();
    Route { start: number, arcs }
}

/// A cost, ordered as numbers are.
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

/// The route with the lowest sum of weights, one a place of an arc; of equals the one with fewer arcs, then the one
/// that was found first. Dijkstra 1959.
pub(crate) fn cheapest(reach: &Reach, weights: &[f64], targets: &[bool], pay: Pay<'_>) -> Result<Option<(Route, f64)>> {
    let mut best = vec![(Cost(f64::INFINITY), u32::MAX); reach.len()];
    let mut found = vec![[NONE; 2]; reach.len()];
    let mut is_done = vec![false; reach.len()];
    let mut count = 0u64;
    let mut heap = BinaryHeap::new();
    for start in 0..reach.starts as u32 {
        best[start as usize] = (Cost(0.0), 0);
        heap.push(Reverse((Cost(0.0), 0u32, count, start)));
        count += 1;
    }
    while let Some(Reverse((cost, hops, _, number))) = heap.pop() {
        if std::mem::replace(&mut is_done[number as usize], true) {
            continue;
        }
        if targets[number as usize] {
            return Ok(Some((trail(&found, number), cost.0)));
        }
        pay(1 + reach.range(number).len() as u64)?;
        for arc in reach.range(number) {
            let (head, _) = reach.arc(arc);
            let next = (Cost(cost.0 + weights[arc]), hops + 1);
            if !is_done[head as usize] && next < best[head as usize] {
                best[head as usize] = next;
                found[head as usize] = [arc as u32, number];
                heap.push(Reverse((next.0, next.1, count, head)));
                count += 1;
            }
        }
    }
    Ok(None)
}

/// Which numbers lie on a walk from the starts to the targets that comes back to neither; by number.
///
/// Targets are expected to have no arcs, so a walk does not go on from them.
pub(crate) fn between(reach: &Reach, targets: &[bool]) -> Vec<bool> {
    let back = reach.reversed();
    let mut reached = targets.to_vec();
    let mut queue: Vec<u32> = (0..reach.len() as u32).filter(|number| targets[*number as usize]).collect();
    while let Some(number) = queue.pop() {
        for before in back.nodes(number) {
            let is_new = !std::mem::replace(&mut reached[*before as usize], true);
            if is_new && *before as usize >= reach.starts {
                queue.push(*before);
            }
        }
    }
    reached
}

/// What [`routes`] finds.
#[derive(Debug)]
pub(crate) struct Found {
    pub routes: Vec<Route>,
    /// There are routes that are longer than was allowed.
    pub left_longer: bool,
}

/// The first so many routes that pass no node twice: the shortest first, then by the order of their edges.
///
/// Yen 1971, with Lawler's remark that a route need not be varied before the place where it left its parent.
pub(crate) fn routes(reach: &Reach, targets: &[bool], most: usize, depth: usize, pay: PayAndHold<'_>) -> Result<Found> {
    let mut finder = Finder { reach, back: reach.reversed(), targets, distance: Vec::new() };
    let mut candidates: BinaryHeap<Reverse<(usize, Route, usize)>> = BinaryHeap::new();
    for start in 0..reach.starts as u32 {
        let route = finder.spur(Route { start, arcs: Vec::new() }, &[], &mut |units| pay(units, 0))?;
        pay(0, route.as_ref().map_or(0, Route::size))?;
        candidates.extend(route.map(|route| Reverse((route.arcs.len(), route, 0))));
    }
    let mut found: Vec<Route> = Vec::new();
    while let Some(Reverse((length, route, deviation))) = candidates.pop() {
        if found.len() == most || length > depth {
            return Ok(Found { left_longer: found.len() < most, routes: found });
        }
        pay(0, route.size())?;
        found.push(route.clone());
        for at in deviation..route.arcs.len() {
            let root = &route.arcs[..at];
            let shares =
                |other: &&Route| other.start == route.start && other.arcs.len() > at && other.arcs[..at] == *root;
            let banned: Vec<u32> = found.iter().filter(shares).map(|other| other.arcs[at]).collect();
            pay((found.len() + at) as u64, 0)?;
            let root = Route { start: route.start, arcs: root.to_vec() };
            let varied = finder.spur(root, &banned, &mut |units| pay(units, 0))?;
            pay(0, varied.as_ref().map_or(0, Route::size))?;
            candidates.extend(varied.map(|varied| Reverse((varied.arcs.len(), varied, at))));
        }
    }
    Ok(Found { routes: found, left_longer: false })
}

struct Finder<'r> {
    reach: &'r Reach,
    back: super::adjacency::Adjacency,
    targets: &'r [bool],
    /// By number: arcs to the nearest target without the nodes of the root.
    distance: Vec<u32>,
}

impl Finder<'_> {
    /// The root with the shortest way on from its end that takes none of the banned arcs first.
    fn spur(&mut self, root: Route, banned: &[u32], pay: Pay<'_>) -> Result<Option<Route>> {
        let mut numbers = root.numbers(self.reach);
        let end = numbers.pop().unwrap_or(root.start);
        if self.targets[end as usize] && banned.is_empty() {
            return Ok(Some(root));
        }
        self.measure(&numbers, end, pay)?;
        let first = self.reach.range(end).filter(|arc| !banned.contains(&(*arc as u32)));
        let mut next = self.nearest(first);
        let mut route = root;
        while let Some(arc) = next {
            route.arcs.push(arc as u32);
            let (head, _) = self.reach.arc(arc);
            if self.distance[head as usize] == 0 {
                route.arcs.shrink_to_fit();
                return Ok(Some(route));
            }
            next = self.nearest(self.reach.range(head));
        }
        Ok(None)
    }

    /// The first arc that leads nearest to a target.
    fn nearest(&self, arcs: impl Iterator<Item = usize>) -> Option<usize> {
        let distance = |arc: usize| self.distance[self.reach.arc(arc).0 as usize];
        arcs.filter(|arc| distance(*arc) != NONE).min_by_key(|arc| distance(*arc))
    }

    /// Measures distances to the targets, around the nodes of the root and its end.
    fn measure(&mut self, root: &[u32], end: u32, pay: Pay<'_>) -> Result<()> {
        let mut closed = vec![false; self.reach.len()];
        root.iter().chain([&end]).for_each(|number| closed[*number as usize] = true);
        self.distance.clear();
        self.distance.resize(self.reach.len(), NONE);
        let is_open_target = |number: &u32| self.targets[*number as usize] && !closed[*number as usize];
        let mut queue: Vec<u32> = (0..self.reach.len() as u32).filter(is_open_target).collect();
        queue.iter().for_each(|number| self.distance[*number as usize] = 0);
        pay((self.reach.len() + self.reach.arc_count()) as u64 / 4 + 1)?;
        let mut at = 0;
        while at < queue.len() {
            let number = queue[at];
            for before in self.back.nodes(number) {
                if !closed[*before as usize] && self.distance[*before as usize] == NONE {
                    self.distance[*before as usize] = self.distance[number as usize] + 1;
                    queue.push(*before);
                }
            }
            at += 1;
        }
        Ok(())
    }
}
