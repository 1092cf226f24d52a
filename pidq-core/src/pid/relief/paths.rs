//! Search through the piping around a relief device: the ends that a side leads to, and the items that all ways share.

use std::collections::VecDeque;

use hashbrown::{HashMap, HashSet};

use crate::error::Result;
use crate::graph::adjacency::{NONE, NodeId};
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter};
use crate::graph::vocabulary;
use crate::pid::ChargeFn;
use crate::pid::dead_ends::{is_bleed_valve, is_common_outlet, neighbors};

/// Test whether an item is closed, or the pipe that leads to it from another one; the latter may be [`NONE`].
pub(super) type ClosedTest = fn(&Drawing<'_>, [NodeId; 2], ChargeFn<'_>) -> Result<bool>;

/// Branches that a search follows: others lead nowhere.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Branches {
    /// Neither other relief devices nor the drains, vents and bleeds of a branching.
    Main,
    MainAndBleeds,
    MainAndRelief,
    All,
}

impl Branches {
    fn has_bleeds(self) -> bool {
        matches!(self, Branches::MainAndBleeds | Branches::All)
    }

    fn has_relief(self) -> bool {
        matches!(self, Branches::MainAndRelief | Branches::All)
    }
}

/// Search from a side of a relief device, up to equipment and the ends of the sheet.
pub(crate) struct Search<'p, 'a> {
    drawing: &'p Drawing<'a>,
    /// Items that are not entered: the device, and the first items of its sides.
    avoided: &'p HashSet<NodeId>,
    direction: Direction,
    branches: Branches,
    /// An open end is an end: of an outlet, but not of an inlet.
    ends_at_open_ends: bool,
    /// Test for items and pipes that are closed and therefore lead nowhere; `None` to pass them too.
    is_closed: Option<ClosedTest>,
}

impl<'p, 'a> Search<'p, 'a> {
    /// Returns a search in both directions, past everything but other relief devices and bleeds.
    pub fn new(drawing: &'p Drawing<'a>, avoided: &'p HashSet<NodeId>) -> Search<'p, 'a> {
        Search {
            drawing,
            avoided,
            direction: Direction::Both,
            branches: Branches::Main,
            ends_at_open_ends: true,
            is_closed: None,
        }
    }

    /// Returns the same search in a direction.
    pub(super) fn towards(self, direction: Direction) -> Search<'p, 'a> {
        Search { direction, ..self }
    }

    /// Returns the same search along some branches.
    pub(super) fn along(self, branches: Branches) -> Search<'p, 'a> {
        Search { branches, ..self }
    }

    /// Returns the same search for what an inlet leads to: an open end protects nothing.
    pub(super) fn past_open_ends(self) -> Search<'p, 'a> {
        Search { ends_at_open_ends: false, ..self }
    }

    /// Returns the same search with other items that are not entered.
    pub fn avoiding<'q>(&self, avoided: &'q HashSet<NodeId>) -> Search<'q, 'a>
    where
        'p: 'q,
    {
        Search { drawing: self.drawing, avoided, ..*self }
    }

    /// Returns the same search past nothing that is closed by a test.
    pub fn past_open(&self, is_closed: ClosedTest) -> Search<'p, 'a> {
        Search { is_closed: Some(is_closed), ..*self }
    }

    /// Returns the same search past what is closed too.
    pub fn past_all(&self) -> Search<'p, 'a> {
        Search { is_closed: None, ..*self }
    }

    /// Returns whether a path ends at an item: at equipment, where the sheet ends, at an open end.
    pub fn is_end(&self, node: NodeId) -> bool {
        match self.drawing.topology.roles[node as usize] {
            Role::OpenEnd => self.ends_at_open_ends,
            Role::None => self.ends_at_open_ends && is_air_end(self.drawing, node),
            _ => is_end(self.drawing, node),
        }
    }

    /// Returns the items that a path continues to.
    pub fn continuations(&self, node: NodeId, charge: ChargeFn<'_>) -> Result<Vec<NodeId>> {
        // Nothing follows an open end, also where the drawing has more pipes at it.
        if self.drawing.topology.roles[node as usize] == Role::OpenEnd {
            return Ok(Vec::new());
        }
        let around = neighbors(self.drawing, node, charge)?;
        let is_branching = !self.branches.has_bleeds() && around.len() > 2;
        let downstream = (self.direction != Direction::Both).then(|| self.leads_to(node));
        let mut next = Vec::with_capacity(around.len());
        for other in around.into_iter().filter(|other| !self.avoided.contains(other)) {
            let leads_nowhere = self.is_skipped([node, other], charge)?
                || downstream.as_ref().is_some_and(|downstream| downstream.binary_search(&other).is_err())
                || is_branching && is_bleed_valve(self.drawing, other, node, charge)?;
            if !leads_nowhere {
                next.push(other);
            }
        }
        Ok(next)
    }

    /// Returns the items to which pipes lead in the direction of the search. Ascending.
    fn leads_to(&self, node: NodeId) -> Vec<NodeId> {
        let mut nodes = self.drawing.topology.table(EdgeFilter::Flow, self.direction).nodes(node).to_vec();
        nodes.sort_unstable();
        nodes
    }

    /// Returns whether an item is not entered, from another one or from [`NONE`].
    fn is_skipped(&self, [before, node]: [NodeId; 2], charge: ChargeFn<'_>) -> Result<bool> {
        let is_relief = !self.branches.has_relief() && self.drawing.topology.roles[node as usize] == Role::Relief;
        match self.is_closed.filter(|_| !is_relief) {
            Some(is_closed) => is_closed(self.drawing, [before, node], charge),
            None => Ok(is_relief),
        }
    }

    /// Returns all ends, in the order in which they are reached.
    pub fn ends(&self, first: NodeId, charge: ChargeFn<'_>) -> Result<Vec<NodeId>> {
        Ok(self.ends_if_all(first, |_| true, charge)?.unwrap_or_default())
    }

    /// Returns all ends if a condition holds for each of them: the search stops at the first one for which it does not.
    pub(super) fn ends_if_all(
        &self,
        first: NodeId,
        mut holds: impl FnMut(NodeId) -> bool,
        charge: ChargeFn<'_>,
    ) -> Result<Option<Vec<NodeId>>> {
        if self.is_skipped([NONE, first], charge)? {
            return Ok(None);
        }
        let mut seen: HashSet<NodeId> = [first].into();
        let mut queue: VecDeque<NodeId> = [first].into();
        let mut ends = Vec::new();
        while let Some(node) = queue.pop_front() {
            charge(1)?;
            if !self.is_end(node) {
                queue.extend(self.continuations(node, charge)?.into_iter().filter(|next| seen.insert(*next)));
            } else if holds(node) {
                ends.push(node);
            } else {
                return Ok(None);
            }
        }
        Ok(Some(ends).filter(|ends| !ends.is_empty()))
    }

    /// Returns, by item, the one before it on a shortest path that leads past no end.
    pub fn predecessors(&self, first: NodeId, charge: ChargeFn<'_>) -> Result<HashMap<NodeId, NodeId>> {
        let mut before: HashMap<NodeId, NodeId> = [(first, NONE)].into();
        let mut queue: VecDeque<NodeId> = [first].into();
        while let Some(node) = queue.pop_front() {
            charge(1)?;
            if self.is_end(node) {
                continue;
            }
            for next in self.continuations(node, charge)? {
                before.entry(next).or_insert_with(|| {
                    queue.push_back(next);
                    node
                });
            }
        }
        Ok(before)
    }

    /// Returns a shortest path to an end; without one, the path to the item farthest away.
    pub fn path_to_end(&self, first: NodeId, charge: ChargeFn<'_>) -> Result<Vec<NodeId>> {
        if self.is_skipped([NONE, first], charge)? {
            return Ok(Vec::new());
        }
        let mut before: HashMap<NodeId, NodeId> = [(first, NONE)].into();
        let mut queue: VecDeque<NodeId> = [first].into();
        let mut last = first;
        while let Some(node) = queue.pop_front() {
            charge(1)?;
            last = node;
            if self.is_end(node) {
                break;
            }
            for next in self.continuations(node, charge)? {
                before.entry(next).or_insert_with(|| {
                    queue.push_back(next);
                    node
                });
            }
        }
        Ok(path_back(&before, last))
    }

    /// Returns the positions of the items of a path that no other path to an end avoids.
    ///
    /// From the items up to a position, everything beside the path is explored. An item is shared if nothing found so
    /// far leads past it.
    pub fn shared_positions(&self, path: &[NodeId], charge: ChargeFn<'_>) -> Result<Vec<usize>> {
        let position: HashMap<NodeId, usize> = path.iter().copied().zip(0..).collect();
        let mut seen: HashSet<NodeId> = HashSet::new();
        let (mut shared, mut reached) = (Vec::new(), 0);
        for (at, node) in path.iter().enumerate() {
            if at >= reached {
                shared.push(at);
            }
            reached = reached.max(at + 1);
            let mut queue = vec![*node];
            while let Some(node) = queue.pop() {
                charge(1)?;
                // Another way to an end: no further item is on all paths.
                if self.is_end(node) {
                    return Ok(shared);
                }
                for next in self.continuations(node, charge)? {
                    match position.get(&next) {
                        Some(position) => reached = reached.max(*position),
                        None if seen.insert(next) => queue.push(next),
                        None => {}
                    }
                }
            }
        }
        Ok(shared)
    }
}

/// Returns whether the piping ends at an item: at equipment, where the sheet ends, at an open end.
pub(crate) fn is_end(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let topology = &drawing.topology;
    match topology.roles[node as usize] {
        Role::OffPage => topology.is_sheet_end(node),
        Role::OpenEnd => true,
        Role::None if is_air_end(drawing, node) => true,
        _ => topology.is_equipment(node),
    }
}

/// Returns whether an item is one at which a pipe ends in the open air, by its class: a vent line, a funnel, a hood. In a
/// pipe that goes on, it is no end, unless several pipes lead to an open funnel.
pub(crate) fn is_air_end(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let topology = &drawing.topology;
    topology.roles[node as usize] == Role::None
        && (topology.flow_degree(node) == 1 || is_common_outlet(drawing, node))
        && [vocabulary::AIR_ENDS, vocabulary::LIKELY_AIR_ENDS]
            .iter()
            .any(|ends| drawing.class_ends_with_word(node, ends))
}

/// Returns the path to an item from the predecessors of a search.
pub(super) fn path_back(before: &HashMap<NodeId, NodeId>, last: NodeId) -> Vec<NodeId> {
    let back = std::iter::successors(Some(last), |node| before.get(node).copied());
    let mut path: Vec<NodeId> = back.take_while(|node| *node != NONE).collect();
    path.reverse();
    path
}
