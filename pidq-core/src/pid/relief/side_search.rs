//! Search from a side of a relief device: the ends that it leads to, and what is in the way.

use std::collections::VecDeque;

use hashbrown::{HashMap, HashSet};

use super::Side;
use super::items::{self, Cause, Effect, Flow, cause_at, port_cause};
use super::paths::{Branches, Search, path_back};
use super::reasons::{PathState, Reason};
use super::sides::{SideKind, flow_of};
use super::tails::{Tails, Way};
use crate::error::Result;
use crate::graph::adjacency::{NONE, NodeId};
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::Direction;
use crate::graph::vocabulary;
use crate::pid::ChargeFn;

/// First item of a side.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    pub device: NodeId,
    pub first: NodeId,
    pub kind: SideKind,
    pub flow: Flow,
}

/// Search that finds the ends of a side, with a shortest path to one.
pub(super) struct Found<'p, 'a> {
    pub search: Search<'p, 'a>,
    /// The same past nothing that is closed, if it leads to an end.
    pub ways: Search<'p, 'a>,
    pub path: Vec<NodeId>,
    pub has_end: bool,
    /// Only against the direction of the pipes.
    pub is_against_flow: bool,
}

impl Found<'_, '_> {
    /// Returns the items that all ways lead through; without an end, the path.
    pub(super) fn shared(&self, charge: ChargeFn<'_>) -> Result<Vec<NodeId>> {
        if !self.has_end {
            return Ok(self.path.clone());
        }
        let positions = self.ways.shared_positions(&self.path, charge)?;
        Ok(positions.iter().map(|at| self.path[*at]).collect())
    }
}

impl Start {
    pub(super) fn new(drawing: &Drawing<'_>, device: NodeId, first: NodeId, kind: SideKind) -> Start {
        Start { device, first, kind, flow: flow_of(drawing, device, kind) }
    }

    /// Returns the side of its path, of which nothing is known yet.
    pub(super) fn side(&self) -> Side {
        let (shared, branches) = (Vec::new(), Vec::new());
        Side { kind: self.kind, first: self.first, shared, branches, notable: None, state: PathState::Open }
    }

    /// Returns the only way of an outlet along the flow, if it has one.
    pub(super) fn only_way(
        &self,
        drawing: &Drawing<'_>,
        avoided: &HashSet<NodeId>,
        tails: &mut Tails,
        charge: ChargeFn<'_>,
    ) -> Result<Option<Way>> {
        match self.flow {
            Flow::FromDevice => tails.way(drawing, self.first, avoided, charge),
            _ => Ok(None),
        }
    }

    /// Searches the ends: an outlet first in the direction of its pipes. Bleeds and other relief devices are passed only
    /// if nothing else leads to an end.
    pub(super) fn search<'p, 'a>(
        &self,
        drawing: &'p Drawing<'a>,
        avoided: &'p HashSet<NodeId>,
        charge: ChargeFn<'_>,
    ) -> Result<Found<'p, 'a>> {
        let mut path = Vec::new();
        for direction in self.directions() {
            for branches in self.branches(drawing) {
                let search = self.search_along(drawing, avoided, *direction, *branches);
                path = search.path_to_end(self.first, charge)?;
                if path.last().is_some_and(|last| search.is_end(*last)) {
                    let is_against_flow = self.flow == Flow::FromDevice && *direction == Direction::Both;
                    return self.found(search, path, is_against_flow, charge);
                }
            }
        }
        let search = self.search_along(drawing, avoided, Direction::Both, Branches::All);
        let ways = search.avoiding(avoided);
        Ok(Found { search, ways, path, has_end: false, is_against_flow: false })
    }

    /// Returns the directions in which the ends are searched, one after the other.
    fn directions(&self) -> &'static [Direction] {
        match self.flow {
            Flow::FromDevice => &[Direction::Down, Direction::Both],
            _ => &[Direction::Both],
        }
    }

    /// Returns the branches along which the ends are searched, one after the other.
    fn branches(&self, drawing: &Drawing<'_>) -> &'static [Branches] {
        use Branches::{All, Main, MainAndBleeds, MainAndRelief};
        // A relief valve follows a rupture disc in series, whatever drains the pipe between them.
        let is_before_valve = drawing.class_has(self.device, vocabulary::RUPTURE_DISCS);
        match self.kind {
            SideKind::Outlet if !is_before_valve => &[Main, MainAndBleeds, MainAndRelief, All],
            _ => &[Main, MainAndRelief, MainAndBleeds, All],
        }
    }

    /// Returns whether the pressure comes from its ends: an open end is none of them.
    pub(super) fn takes_in(&self) -> bool {
        matches!(self.kind, SideKind::Inlet | SideKind::SensingLine)
    }

    fn search_along<'p, 'a>(
        &self,
        drawing: &'p Drawing<'a>,
        avoided: &'p HashSet<NodeId>,
        direction: Direction,
        branches: Branches,
    ) -> Search<'p, 'a> {
        let search = Search::new(drawing, avoided).towards(direction).along(branches);
        if self.takes_in() { search.past_open_ends() } else { search }
    }

    /// Returns what a search has found by a path to an end: past nothing that is closed, if that leads to an end too.
    fn found<'p, 'a>(
        &self,
        search: Search<'p, 'a>,
        path: Vec<NodeId>,
        is_against_flow: bool,
        charge: ChargeFn<'_>,
    ) -> Result<Found<'p, 'a>> {
        let open = search.past_open(items::is_closed);
        let open_path = open.path_to_end(self.first, charge)?;
        let is_open = open_path.last().is_some_and(|last| open.is_end(*last));
        let (ways, path) = if is_open { (open, open_path) } else { (search.past_all(), path) };
        Ok(Found { search, ways, path, has_end: true, is_against_flow })
    }

    /// Returns what may be wrong at a position of a path that starts at this side.
    pub(super) fn cause(
        &self,
        drawing: &Drawing<'_>,
        path: &[NodeId],
        at: usize,
        charge: ChargeFn<'_>,
    ) -> Result<Option<Cause>> {
        charge(1)?;
        let before = if at == 0 { self.device } else { path[at - 1] };
        let next = path.get(at + 1).copied().unwrap_or(NONE);
        if drawing.topology.is_equipment(path[at]) {
            return port_cause(drawing, [before, path[at]], charge);
        }
        let cause = cause_at(drawing, [before, path[at], next], self.flow, charge)?;
        if cause == Some(Cause::Restriction) && self.flow == Flow::ToDevice && drawing.class_has(path[at], &["orifice"])
        {
            return Ok(Some(Cause::Orifice));
        }
        Ok(cause.or_else(|| self.device_in_series(drawing, path[at])))
    }

    /// Returns what a relief device before the inlet or behind the outlet is for this one. A disc and the valve before or
    /// behind it are one device.
    fn device_in_series(&self, drawing: &Drawing<'_>, node: NodeId) -> Option<Cause> {
        if drawing.topology.roles[node as usize] != Role::Relief || self.flow == Flow::Unknown {
            return None;
        }
        let is_disc = |node: NodeId| drawing.class_has(node, vocabulary::RUPTURE_DISCS);
        match [is_disc(self.device), is_disc(node)] {
            [true, false] => Some(Cause::ValveOfDisc),
            // The disc behind this one is named at that one.
            [true, true] if self.flow == Flow::FromDevice => None,
            [_, true] => Some(Cause::SecondDisc),
            [false, false] => Some(Cause::ReliefDevice),
        }
    }

    /// Returns the first item that closes a side without an end, with the path to it; `None` if a branch is not closed.
    pub(super) fn closure(
        &self,
        drawing: &Drawing<'_>,
        search: &Search<'_, '_>,
        charge: ChargeFn<'_>,
    ) -> Result<Option<(Cause, Vec<NodeId>)>> {
        let mut before: HashMap<NodeId, NodeId> = [(self.first, NONE)].into();
        let mut queue: VecDeque<NodeId> = [self.first].into();
        let mut closure = None;
        while let Some(node) = queue.pop_front() {
            let from = before.get(&node).copied().filter(|from| *from != NONE).unwrap_or(self.device);
            let mut next = search.continuations(node, charge)?;
            // The way back is no way on.
            next.retain(|next| *next != from);
            let ends = if next.is_empty() { vec![NONE] } else { next };
            for next in ends {
                charge(1)?;
                let cause = cause_at(drawing, [from, node, next], self.flow, charge)?;
                match cause.filter(|cause| cause.effect() == Effect::Closed) {
                    Some(cause) => closure = closure.or(Some((cause, node))),
                    None if next == NONE => return Ok(None),
                    None if before.contains_key(&next) => {}
                    None => {
                        before.insert(next, node);
                        queue.push_back(next);
                    }
                }
            }
        }
        Ok(closure.map(|(cause, node)| (cause, path_back(&before, node))))
    }

    /// Returns a machine as a reason, with the path to its port.
    pub(super) fn reason_at(&self, machine: NodeId, path: &[NodeId]) -> Reason {
        Reason { at: machine, ..self.reason(Cause::Machine, path, true) }
    }

    /// Returns a reason at the last item of a path.
    pub(super) fn reason(&self, cause: Cause, path: &[NodeId], is_certain: bool) -> Reason {
        let at = path.last().copied().unwrap_or(self.device);
        let path = std::iter::once(self.device).chain(path.iter().copied()).collect();
        Reason { cause, at, side: self.kind, path, behind: None, is_certain, is_position_stated: true }
    }
}
