//! Judgment of the sides of a relief device: what closes, could close or hides each way, as reasons.

use hashbrown::HashSet;

use super::best_route::{Route, Routes};
use super::items::{Cause, Effect};
use super::paths::Search;
use super::reasons::{PathState, Reason, is_position_stated};
use super::shared_inlets::{InletLine, inlet_line, is_line_alone, protects_line_alone};
use super::side_search::{Found, Start};
use super::sides::SideKind;
use super::tails::{Tails, Way};
use super::{ReliefPath, Side, copy_cost, machines};
use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::pid::ChargeFn;

impl ReliefPath {
    pub(super) fn add_side(
        &mut self,
        drawing: &Drawing<'_>,
        start: &Start,
        avoided: &HashSet<NodeId>,
        tails: &mut Tails,
        charge: ChargeFn<'_>,
    ) -> Result<()> {
        let before = self.reasons.len();
        if let Some(Way { path, notable }) = start.only_way(drawing, avoided, tails, charge)? {
            self.add_shared(drawing, start, &path, &notable, charge)?;
            self.add_only_way(drawing, start, &path, &notable, charge)?;
            self.add_directions(drawing, start, &path, &notable, charge)?;
            let notable = notable.iter().map(|at| path[*at]).collect();
            self.push_side(before, Side { shared: path, notable: Some(notable), ..start.side() });
            return Ok(());
        }
        let found = start.search(drawing, avoided, charge)?;
        let is_against_flow = found.is_against_flow;
        let mut branches = Vec::new();
        let shared = if found.has_end {
            // What is closed now is on no line that the device protects alone.
            let ways = match is_line_alone(drawing, start, &found, charge)? {
                true => &found.search,
                false => &found.ways,
            };
            let shared = ways.shared_positions(&found.path, charge)?;
            self.add_shared(drawing, start, &found.path, &shared, charge)?;
            branches = self.add_route(drawing, start, &found, &shared, charge)?;
            if !is_against_flow {
                self.add_directions(drawing, start, &found.path, &shared, charge)?;
            }
            if let Some(machine) = machines::only_source(drawing, start, &found.search, charge)? {
                self.add(drawing, start.reason_at(machine, &found.path));
            }
            shared.iter().map(|at| found.path[*at]).collect()
        } else {
            self.add_lost(drawing, start, &found.search, charge)?;
            found.path
        };
        if is_against_flow {
            self.add(drawing, start.reason(Cause::FlowDirection, &[start.first], true));
        }
        self.push_side(before, Side { shared, branches, ..start.side() });
        Ok(())
    }

    /// Adds a side, whose reasons are those from a number on.
    fn push_side(&mut self, before: usize, side: Side) {
        let state = self.reasons[before..].iter().map(Reason::state).max().unwrap_or(PathState::Open);
        self.sides.push(Side { state, ..side });
    }

    /// Adds what the only way of an outlet passes that is unknown or closed, and where it leads.
    fn add_only_way(
        &mut self,
        drawing: &Drawing<'_>,
        start: &Start,
        path: &[NodeId],
        notable: &[usize],
        charge: ChargeFn<'_>,
    ) -> Result<()> {
        let mut limit = Effect::Open;
        for at in notable {
            let cause = start.cause(drawing, path, *at, charge)?;
            if let Some(cause) = cause.filter(|cause| cause.effect() >= Effect::Unknown) {
                limit = limit.max(cause.effect());
                self.add(drawing, start.reason(cause, &path[..=*at], true));
            }
        }
        self.add_end(drawing, start, path, limit, charge)
    }

    /// Adds the items on all ways that are open and could be closed, or that are locked open.
    fn add_shared(
        &mut self,
        drawing: &Drawing<'_>,
        start: &Start,
        path: &[NodeId],
        shared: &[usize],
        charge: ChargeFn<'_>,
    ) -> Result<()> {
        for at in shared {
            let cause = start.cause(drawing, path, *at, charge)?;
            if let Some(cause) = cause.filter(|cause| cause.effect() < Effect::Unknown) {
                charge(copy_cost(*at))?;
                self.add(drawing, start.reason(cause, &path[..=*at], true));
            }
        }
        Ok(())
    }

    /// Adds what the best way passes that is unknown or closed, and where it leaves the drawing. Returns the items of the
    /// open branches of a shared inlet.
    fn add_route(
        &mut self,
        drawing: &Drawing<'_>,
        start: &Start,
        found: &Found<'_, '_>,
        shared: &[usize],
        charge: ChargeFn<'_>,
    ) -> Result<Vec<NodeId>> {
        let starts = [[start.device, start.first]];
        let routes = Routes { drawing, search: &found.ways, flow: start.flow, is_device: None };
        let Some(Route { effect: limit, items: route, .. }) = routes.best(&starts, charge)? else {
            return Ok(Vec::new());
        };
        let on_all_ways: HashSet<NodeId> = shared.iter().map(|at| found.path[*at]).collect();
        let mut causes = Vec::with_capacity(route.len());
        for at in 0..route.len() {
            causes.extend(start.cause(drawing, &route, at, charge)?.map(|cause| (at, cause)));
        }
        // A valve beside another one blocks nothing alone, and is named if no way past them is stated to be open.
        let is_one_of_several = |(at, cause): (usize, Cause)| {
            cause.effect() == Effect::MayClose
                && !is_position_stated(drawing, cause, route[at])
                && !on_all_ways.contains(&route[at])
        };
        let depends_on_line = limit == Effect::Closed || causes.iter().copied().any(is_one_of_several);
        let has_branches = route.last().is_some_and(|end| !on_all_ways.contains(end));
        let line = match depends_on_line || has_branches {
            true => inlet_line(drawing, start, found, shared, charge)?,
            false => InletLine::ToOneEnd,
        };
        let is_on_line = line == InletLine::GoesOn;
        let may_be_on_line = is_on_line || line == InletLine::MayGoOn;
        let is_certain = !(limit == Effect::Closed && may_be_on_line);
        let is_alone = is_on_line && protects_line_alone(drawing, start, charge)?;
        for (at, cause) in causes {
            // What may close farther on closes the line in, from which the device protects it.
            if is_alone && (cause.effect() == Effect::Closed || !on_all_ways.contains(&route[at])) {
                continue;
            }
            let is_one_of_several = is_one_of_several((at, cause)) && !is_on_line;
            if cause.effect() >= Effect::Unknown || is_one_of_several {
                charge(copy_cost(at))?;
                self.add(drawing, start.reason(cause, &route[..=at], is_certain && !is_one_of_several));
            }
        }
        let branches = match line {
            InletLine::Shared => self.add_branches(drawing, start, &routes, &on_all_ways, charge)?,
            InletLine::ToOneEnd | InletLine::GoesOn | InletLine::MayGoOn => Vec::new(),
        };
        let is_off_sheet = route.last().is_some_and(|end| drawing.topology.roles[*end as usize] == Role::OffPage);
        if !(is_alone && is_off_sheet) {
            self.add_end(drawing, start, &route, limit, charge)?;
        }
        Ok(branches)
    }

    /// Adds what is known about the end of a way whose worst item has an effect.
    fn add_end(
        &mut self,
        drawing: &Drawing<'_>,
        start: &Start,
        route: &[NodeId],
        limit: Effect,
        charge: ChargeFn<'_>,
    ) -> Result<()> {
        let Some(end) = route.last().filter(|_| limit < Effect::Closed) else { return Ok(()) };
        if drawing.topology.roles[*end as usize] == Role::OffPage {
            self.add(drawing, start.reason(Cause::OffSheet, route, true));
        }
        if start.kind == SideKind::Outlet && drawing.topology.is_equipment(*end) {
            self.to_equipment.push((*start, route.into()));
            self.add_behind(drawing, start, route, charge)?;
        }
        Ok(())
    }

    /// Handles a side that leads to no end: closed if all its branches are, else lost.
    fn add_lost(
        &mut self,
        drawing: &Drawing<'_>,
        start: &Start,
        search: &Search<'_, '_>,
        charge: ChargeFn<'_>,
    ) -> Result<()> {
        if let Some((cause, path)) = start.closure(drawing, search, charge)? {
            self.add(drawing, start.reason(cause, &path, true));
            return Ok(());
        }
        let cause = if start.takes_in() { Cause::NoInlet } else { Cause::NoOutlet };
        self.add(drawing, Reason { path: Vec::new(), ..start.reason(cause, &[start.device], true) });
        Ok(())
    }
}
