//! Best way from a relief device or from equipment to an end: the one whose worst item hinders the flow the least.

use std::collections::VecDeque;

use hashbrown::{HashMap, HashSet};

use super::items::{Cause, Effect, Flow, is_synthetic, is_there, item_cause, pipe_cause};
use super::paths::{Search, path_back};
use super::reasons::is_position_stated;
use crate::error::Result;
use crate::graph::adjacency::{NONE, NodeId};
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::pid::ChargeFn;

/// A way to an end.
#[derive(Debug)]
pub(super) struct Route {
    /// Effect of its worst item.
    pub effect: Effect,
    /// The item before the first one, which is not entered: a relief device, or a port of equipment.
    pub from: NodeId,
    pub items: Vec<NodeId>,
}

impl Route {
    /// Returns the end of the way.
    pub fn end(&self) -> NodeId {
        self.items.last().copied().unwrap_or(self.from)
    }

    /// Returns the items of the way, with the one before the first.
    pub fn with_outlet(&self) -> Vec<NodeId> {
        std::iter::once(self.from).chain(self.items.iter().copied()).collect()
    }
}

/// Worst effect of the items that a way may contain.
#[derive(Clone, Copy)]
struct Limit {
    effect: Effect,
    /// Valves that could be closed have a position.
    with_positions: bool,
}

const LIMITS: &[Limit] = &[
    Limit { effect: Effect::Open, with_positions: true },
    Limit { effect: Effect::MayClose, with_positions: true },
    Limit { effect: Effect::MayClose, with_positions: false },
    Limit { effect: Effect::Unknown, with_positions: false },
    Limit { effect: Effect::Closed, with_positions: false },
];

/// Ways through the piping. Starts are pairs of an item that is not entered and the first item behind it.
pub(super) struct Routes<'r, 'p, 'a> {
    pub drawing: &'r Drawing<'a>,
    pub search: &'r Search<'p, 'a>,
    pub flow: Flow,
    /// Relief devices at which a way ends.
    pub is_device: Option<fn(&Drawing<'_>, NodeId) -> bool>,
}

impl Routes<'_, '_, '_> {
    /// Returns the way to an end whose worst item is the best, of several such ways the one to the end that says most.
    pub fn best(&self, starts: &[[NodeId; 2]], charge: ChargeFn<'_>) -> Result<Option<Route>> {
        for limit in LIMITS {
            let routes = self.within(starts, *limit, |end| self.rank(end) == 0, charge)?;
            let best = routes.into_iter().min_by_key(|route| self.rank(route.end()));
            if best.is_some() {
                return Ok(best);
            }
        }
        Ok(None)
    }

    /// Returns the rank of an end, the best first: of an outlet, the atmosphere, and equipment, which needs a way out
    /// itself; last, where the sheet ends, and what may not be there.
    fn rank(&self, end: NodeId) -> u8 {
        let topology = &self.drawing.topology;
        let is_closed = || !self.drawing.is_relief_end(topology.equipment_or_self(end));
        match topology.roles[end as usize] {
            Role::OffPage => 2,
            Role::OpenEnd if is_synthetic(self.drawing, end) => 2,
            _ if !is_there(self.drawing, end) => 2,
            _ if self.flow == Flow::FromDevice && topology.is_equipment(end) && is_closed() => 1,
            _ => 0,
        }
    }

    /// Returns the best way to each end.
    pub fn all(&self, starts: &[[NodeId; 2]], charge: ChargeFn<'_>) -> Result<Vec<Route>> {
        let mut found: Vec<Route> = Vec::new();
        let mut ends: HashSet<NodeId> = HashSet::new();
        for limit in LIMITS {
            let routes = self.within(starts, *limit, |_| false, charge)?;
            found.extend(routes.into_iter().filter(|route| ends.insert(route.end())));
        }
        Ok(found)
    }

    /// Returns a shortest way to each end past items up to a limit, up to an end that is enough.
    fn within(
        &self,
        starts: &[[NodeId; 2]],
        limit: Limit,
        is_enough: impl Fn(NodeId) -> bool,
        charge: ChargeFn<'_>,
    ) -> Result<Vec<Route>> {
        let mut before: HashMap<NodeId, NodeId> = HashMap::new();
        let mut outside: HashMap<NodeId, NodeId> = HashMap::new();
        let mut queue: VecDeque<NodeId> = VecDeque::new();
        let mut routes = Vec::new();
        for [from, first] in starts.iter().copied() {
            let of_pipe = pipe_cause(self.drawing, [from, first], charge)?;
            let is_allowed = of_pipe.is_none_or(|cause| cause.effect() <= limit.effect);
            if is_allowed && before.insert(first, NONE).is_none() {
                outside.insert(first, from);
                queue.push_back(first);
            }
        }
        while let Some(node) = queue.pop_front() {
            charge(1)?;
            if self.is_end(node) {
                let items = path_back(&before, node);
                let from = items.first().and_then(|first| outside.get(first)).copied().unwrap_or(NONE);
                routes.push(Route { effect: limit.effect, from, items });
                if is_enough(node) {
                    return Ok(routes);
                }
                continue;
            }
            let from = before.get(&node).copied().filter(|from| *from != NONE);
            let from = from.or_else(|| outside.get(&node).copied()).unwrap_or(NONE);
            for next in self.search.continuations(node, charge)? {
                if !before.contains_key(&next) && self.is_passed([from, node, next], limit, charge)? {
                    before.insert(next, node);
                    queue.push_back(next);
                }
            }
        }
        Ok(routes)
    }

    fn is_end(&self, node: NodeId) -> bool {
        self.search.is_end(node) || self.is_device.is_some_and(|is_device| is_device(self.drawing, node))
    }

    /// Returns whether a way within a limit leads past an item and the pipe behind it. Another way may lead to the next
    /// item past a pipe that is open. The pipe before the item is within the limit, or the way would not lead to it.
    fn is_passed(&self, [from, node, next]: [NodeId; 3], limit: Limit, charge: ChargeFn<'_>) -> Result<bool> {
        let cause = item_cause(self.drawing, [from, node, next], self.flow, charge)?;
        let of_pipe = pipe_cause(self.drawing, [node, next], charge)?;
        let is_allowed = |cause: Cause| {
            let is_stated = !limit.with_positions || is_position_stated(self.drawing, cause, node);
            cause.effect() <= limit.effect && is_stated
        };
        Ok([cause, of_pipe].into_iter().flatten().all(is_allowed))
    }
}
