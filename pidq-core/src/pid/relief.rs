//! Relief paths: for a relief device, the way from what it protects and the way to where it discharges, with all that
//! closes or could close them.
//!
//! A path is open only if the drawing shows it: a path with an item that is unknown, that leaves the sheet, or that has
//! no inlet or no outlet is unknown, never open (ISO 23251, API 520-2). Everything that judges relief reads these
//! paths: validation, the relief list, isolation, and the safeguards of a review.

pub(crate) mod devices;
pub(crate) mod items;
mod machines;
pub(crate) mod paths;
pub(crate) mod protected;
pub(crate) mod tails;
mod ways_out;

use std::collections::VecDeque;

use hashbrown::{HashMap, HashSet};

use self::items::{Cause, Effect, Flow, cause_at, direction, pipe_cause};
use self::paths::{Branches, Search, path_back};
use self::protected::{EquipmentSide, Protected};
use self::tails::{Tails, Way};
use self::ways_out::Outlets;
use super::ChargeFn;
use super::dead_ends::{is_bleed_valve, neighbors};
use super::valve_state::{Installation, has_blind_position, has_position, installation};
use crate::error::Result;
use crate::graph::adjacency::{NONE, NodeId};
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::snake_case::snake_case;
use crate::graph::topology::Direction;
use crate::graph::vocabulary;
use crate::value::Value;

/// Side of a relief device.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum SideKind {
    Inlet,
    Outlet,
    /// The drawing does not tell which one.
    Either,
}

impl SideKind {
    /// Returns the word in messages.
    pub fn word(self) -> &'static str {
        match self {
            SideKind::Inlet => "inlet",
            SideKind::Outlet => "outlet",
            SideKind::Either => "path",
        }
    }
}

/// Judgment of a relief path, the best first.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum PathState {
    Open,
    Unknown,
    Blocked,
}

impl PathState {
    /// Returns the word in results.
    pub fn word(self) -> &'static str {
        match self {
            PathState::Open => "open",
            PathState::Unknown => "unknown",
            PathState::Blocked => "blocked",
        }
    }

    fn of(effect: Effect) -> PathState {
        match effect {
            Effect::Open | Effect::MayClose => PathState::Open,
            Effect::Unknown => PathState::Unknown,
            Effect::Closed => PathState::Blocked,
        }
    }
}

/// An item that a relief path depends on, or something that it lacks.
#[derive(Clone, Debug)]
pub(crate) struct Reason {
    pub cause: Cause,
    /// The item; the device if it lacks an inlet or an outlet.
    pub at: NodeId,
    pub side: SideKind,
    /// From the device to the item.
    pub path: Vec<NodeId>,
    /// The equipment that the outlet leads to, if the item is behind it.
    pub behind: Option<NodeId>,
    pub is_certain: bool,
    /// False for a valve that could be closed and whose position the drawing does not state.
    pub is_position_stated: bool,
}

/// Way from a relief device to what it protects, or to where it discharges.
#[derive(Clone, Debug)]
pub(crate) struct Side {
    pub kind: SideKind,
    /// The neighbor of the device.
    pub first: NodeId,
    /// Items that all ways from this side lead through; without an end, those of the way to the item farthest away.
    pub shared: Vec<NodeId>,
    /// Of these, those that may close the way or be unknown; all, if they are not told apart.
    notable: Option<Vec<NodeId>>,
    /// Equipment and connectors that an inlet leads to, whatever closes the way.
    pub ends: Vec<NodeId>,
    pub state: PathState,
}

impl Side {
    /// Returns whether the side has only one way, which follows the flow.
    pub fn is_only_way(&self) -> bool {
        self.notable.is_some()
    }
}

/// Way of a side that is not judged.
#[derive(Clone, Debug)]
pub(crate) struct SideWay {
    /// The neighbor of the device.
    pub first: NodeId,
    /// A shortest way to an end, from the neighbor of the device; without an end, the way to the item farthest away.
    pub path: Vec<NodeId>,
    /// Items of it that all ways from this side lead through.
    pub shared: Vec<NodeId>,
}

/// Relief paths of a device.
#[derive(Clone, Debug)]
pub(crate) struct ReliefPath {
    pub device: NodeId,
    pub sides: Vec<Side>,
    pub state: PathState,
    pub reasons: Vec<Reason>,
    /// Ways of outlets to equipment, which is judged last: it may be what the device protects, or lead back to it.
    to_equipment: Vec<(Start, Vec<NodeId>)>,
}

impl ReliefPath {
    /// Finds the paths of a relief device and judges them. `tails` is shared by the devices of a drawing.
    pub fn find(drawing: &Drawing<'_>, device: NodeId, tails: &mut Tails, charge: ChargeFn<'_>) -> Result<ReliefPath> {
        let mut path = ReliefPath {
            device,
            sides: Vec::new(),
            state: PathState::Open,
            reasons: Vec::new(),
            to_equipment: Vec::new(),
        };
        let found = sides_of(drawing, device, charge)?;
        let cause = match installation(drawing, device) {
            Installation::Installed => None,
            Installation::Unknown => Some(Cause::UnknownDeviceStatus),
            Installation::NotInstalled => Some(Cause::DeviceNotInstalled),
        };
        if let Some(cause) = cause {
            path.add(drawing, Reason::of_device(device, cause, SideKind::Either));
        }
        let has = |kind: SideKind| found.iter().any(|(_, known)| [kind, SideKind::Either].contains(known));
        if !has(SideKind::Inlet) {
            path.add(drawing, Reason::of_device(device, Cause::NoInlet, SideKind::Inlet));
        }
        let needs_outlet = !drawing.class_has(device, vocabulary::ATMOSPHERIC_RELIEF);
        if !has(SideKind::Outlet) && needs_outlet || found.len() == 1 && found[0].1 == SideKind::Either {
            path.add(drawing, Reason::of_device(device, Cause::NoOutlet, SideKind::Outlet));
        }
        let avoided = neighbors(drawing, device, charge)?.into_iter().chain([device]).collect();
        for (first, kind) in &found {
            let start = Start::new(drawing, device, *first, *kind);
            path.add_side(drawing, &start, &avoided, tails, charge)?;
        }
        for (start, route) in std::mem::take(&mut path.to_equipment) {
            if route.last().is_some_and(|end| machines::is_machine(drawing, *end)) {
                path.add_machine(drawing, &start, &route, &avoided, charge)?;
            } else {
                path.add_receiver(drawing, &start, &route, tails, charge)?;
            }
        }
        Ok(path)
    }

    /// Finds the way of each side of a relief device, without judging it: neither states nor the ends of inlets are found,
    /// which takes much longer on a large drawing.
    pub fn side_ways(
        drawing: &Drawing<'_>,
        device: NodeId,
        tails: &mut Tails,
        charge: ChargeFn<'_>,
    ) -> Result<Vec<SideWay>> {
        let sides = sides_of(drawing, device, charge)?;
        ReliefPath::ways(drawing, device, &sides, tails, charge)
    }

    /// Finds the ways of the inlets of a relief device, without judging them.
    pub fn inlet_ways(drawing: &Drawing<'_>, device: NodeId, charge: ChargeFn<'_>) -> Result<Vec<SideWay>> {
        let mut sides = sides_of(drawing, device, charge)?;
        sides.retain(|(_, kind)| *kind == SideKind::Inlet);
        ReliefPath::ways(drawing, device, &sides, &mut Tails::default(), charge)
    }

    fn ways(
        drawing: &Drawing<'_>,
        device: NodeId,
        sides: &[(NodeId, SideKind)],
        tails: &mut Tails,
        charge: ChargeFn<'_>,
    ) -> Result<Vec<SideWay>> {
        let avoided = neighbors(drawing, device, charge)?.into_iter().chain([device]).collect();
        let mut ways = Vec::with_capacity(sides.len());
        for (first, kind) in sides.iter().copied() {
            let start = Start::new(drawing, device, first, kind);
            ways.push(match start.only_way(drawing, &avoided, tails, charge)? {
                Some(Way { path, .. }) => SideWay { first, shared: path.clone(), path },
                None => {
                    let found = start.search(drawing, &avoided, charge)?;
                    SideWay { first, shared: found.shared(charge)?, path: found.path }
                }
            });
        }
        Ok(ways)
    }

    fn add(&mut self, drawing: &Drawing<'_>, mut reason: Reason) {
        reason.is_position_stated = is_position_stated(drawing, reason.cause, reason.at);
        self.state = self.state.max(reason.state());
        self.reasons.push(reason);
    }

    /// Returns the valves that all ways of an inlet or an outlet lead through, by a condition for valves.
    pub fn valves(&self, kind: SideKind, is_valve: impl Fn(NodeId) -> bool) -> Vec<NodeId> {
        let sides = self.sides.iter().filter(|side| side.kind == kind);
        let notable = sides.flat_map(|side| side.notable.as_ref().unwrap_or(&side.shared));
        notable.copied().filter(|node| is_valve(*node)).collect()
    }

    /// Returns whether the outlet leads to the suction of a machine whose outlet the device protects.
    pub fn returns_to_suction(&self) -> bool {
        self.reasons.iter().any(|reason| reason.cause == Cause::OwnSuction)
    }

    /// Returns whether the path is open, and stays so: nothing on all its ways can be closed without breaking a lock.
    pub fn is_secured(&self) -> bool {
        let may_close = |reason: &Reason| reason.is_certain && reason.cause.effect() == Effect::MayClose;
        self.state == PathState::Open && !self.reasons.iter().any(may_close)
    }

    /// Returns the first of some devices that is open to equipment that this one is to protect.
    pub fn standby(
        &self,
        drawing: &Drawing<'_>,
        others: &[ReliefPath],
        charge: ChargeFn<'_>,
    ) -> Result<Option<NodeId>> {
        let own: HashSet<NodeId> = self.protected(drawing).collect();
        for other in others.iter().filter(|other| other.device != self.device) {
            let mut inlets = other.sides.iter().filter(|side| side.kind == SideKind::Inlet);
            charge(1 + other.sides.iter().map(|side| side.ends.len() as u64).sum::<u64>())?;
            if other.is_open_on_sheet()
                && inlets.all(|side| side.state == PathState::Open)
                && other.protected(drawing).any(|end| own.contains(&end))
            {
                return Ok(Some(other.device));
            }
        }
        Ok(None)
    }

    /// Returns whether nothing on this sheet makes the path unknown or closes it.
    fn is_open_on_sheet(&self) -> bool {
        self.reasons.iter().all(|reason| reason.cause == Cause::OffSheet || reason.state() == PathState::Open)
    }

    /// Returns what may separate a device from equipment at the ends of its inlet: the equipment, and the first item on
    /// the way to it that could be closed or is not open.
    ///
    /// The inlet of a device on a line may be open to one end and not to another.
    pub fn separations(&self, drawing: &Drawing<'_>, charge: ChargeFn<'_>) -> Result<Vec<(EquipmentSide, Reason)>> {
        let topology = &drawing.topology;
        let avoided = self.sides.iter().map(|side| side.first).chain([self.device]).collect();
        let mut found: Vec<(EquipmentSide, Reason)> = Vec::new();
        for side in self.sides.iter().filter(|side| side.kind == SideKind::Inlet && side.ends.len() > 1) {
            let start = Start::new(drawing, self.device, side.first, side.kind);
            let before = Search::new(drawing, &avoided).predecessors(side.first, charge)?;
            let mut known = HashSet::new();
            for end in side.ends.iter().filter(|end| topology.is_equipment(**end)) {
                let equipment = (topology.equipment_or_self(*end), topology.zone(*end));
                if !known.insert(equipment) {
                    continue;
                }
                let path = path_back(&before, *end);
                for at in 0..path.len() {
                    let cause = start.cause(drawing, &path, at, charge)?;
                    if let Some(cause) = cause.filter(|cause| cause.effect() > Effect::Open) {
                        found.push((equipment, start.reason(cause, &path[..=at], false)));
                        break;
                    }
                }
            }
        }
        Ok(found)
    }

    /// Returns the equipment or the sides of equipment at the ends of the inlet.
    fn protected<'p>(&'p self, drawing: &'p Drawing<'_>) -> impl Iterator<Item = NodeId> + 'p {
        let ends = self.sides.iter().filter(|side| side.kind == SideKind::Inlet).flat_map(|side| &side.ends);
        ends.filter(|end| drawing.topology.is_equipment(**end)).map(|end| chamber(drawing, *end))
    }

    fn add_side(
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
            let notable = notable.iter().map(|at| path[*at]).collect();
            self.push_side(start, before, (path, Some(notable)), Vec::new());
            return Ok(());
        }
        let found = start.search(drawing, avoided, charge)?;
        let is_against_flow = found.is_against_flow;
        let (shared, ends) = if found.has_end {
            let shared = found.ways.shared_positions(&found.path, charge)?;
            let ends = match start.kind {
                SideKind::Inlet => found.search.ends(start.first, charge)?,
                _ => Vec::new(),
            };
            self.add_shared(drawing, start, &found.path, &shared, charge)?;
            self.add_route(drawing, start, &found, (&shared, &ends), charge)?;
            if let Some(machine) = machines::only_source(drawing, start, &found.search, &ends, charge)? {
                self.add(drawing, start.reason_at(machine, &found.path));
            }
            (shared.iter().map(|at| found.path[*at]).collect(), ends)
        } else {
            self.add_lost(drawing, start, &found.search, charge)?;
            (found.path, Vec::new())
        };
        if is_against_flow {
            self.add(drawing, start.reason(Cause::FlowDirection, &[start.first], true));
        }
        self.push_side(start, before, (shared, None), ends);
        Ok(())
    }

    /// Adds a side, whose reasons are those from a number on.
    fn push_side(
        &mut self,
        start: &Start,
        before: usize,
        (shared, notable): (Vec<NodeId>, Option<Vec<NodeId>>),
        ends: Vec<NodeId>,
    ) {
        let state = self.reasons[before..].iter().map(Reason::state).max().unwrap_or(PathState::Open);
        self.sides.push(Side { kind: start.kind, first: start.first, shared, notable, ends, state });
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

    /// Adds what the best way passes that is unknown or closed, and where it leaves the drawing.
    fn add_route(
        &mut self,
        drawing: &Drawing<'_>,
        start: &Start,
        found: &Found<'_, '_>,
        (shared, ends): (&[usize], &[NodeId]),
        charge: ChargeFn<'_>,
    ) -> Result<()> {
        let starts = [[start.device, start.first]];
        let Some((limit, route)) = best_route(drawing, &found.ways, &starts, start.flow, false, charge)? else {
            return Ok(());
        };
        let is_on_line = limit != Effect::Open && self.is_on_line(drawing, start, found, shared, ends, charge)?;
        let is_certain = !(limit == Effect::Closed && is_on_line);
        let on_all_ways: HashSet<NodeId> = shared.iter().map(|at| found.path[*at]).collect();
        for at in 0..route.len() {
            let Some(cause) = start.cause(drawing, &route, at, charge)? else { continue };
            // A valve beside another one blocks nothing alone, and is named if no way past them is stated to be open.
            let is_one_of_several = cause.effect() == Effect::MayClose
                && !is_position_stated(drawing, cause, route[at])
                && !on_all_ways.contains(&route[at])
                && !is_on_line;
            if cause.effect() >= Effect::Unknown || is_one_of_several {
                charge(copy_cost(at))?;
                self.add(drawing, start.reason(cause, &route[..=at], is_certain && !is_one_of_several));
            }
        }
        self.add_end(drawing, start, &route, limit, charge)
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

    /// Returns whether a device is on a line between several ends and open to it: it may protect the pipe alone.
    fn is_on_line(
        &self,
        drawing: &Drawing<'_>,
        start: &Start,
        found: &Found<'_, '_>,
        shared: &[usize],
        ends: &[NodeId],
        charge: ChargeFn<'_>,
    ) -> Result<bool> {
        if start.kind != SideKind::Inlet {
            return Ok(false);
        }
        let distinct =
            |ends: &[NodeId]| ends.iter().map(|end| chamber(drawing, *end)).collect::<HashSet<NodeId>>().len();
        let mut last_shared = shared.last().copied().unwrap_or(0);
        if distinct(ends) < 2 {
            // The line may go on past the item at the outlet: a device around a valve.
            let avoided = HashSet::from([start.device]);
            let around = found.search.avoiding(&avoided);
            if distinct(&around.ends(start.first, charge)?) < 2 {
                return Ok(false);
            }
            last_shared = around.shared_positions(&found.path, charge)?.last().copied().unwrap_or(0);
        }
        for at in 0..=last_shared {
            let cause = start.cause(drawing, &found.path, at, charge)?;
            if cause.is_some_and(|cause| cause.effect() >= Effect::Unknown) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Adds what a way to a machine says. A machine that takes in what it discharged itself is relieved: it makes no
    /// pressure without a flow. What else the device protects is not, as long as nothing flows on through the machine.
    fn add_machine(
        &mut self,
        drawing: &Drawing<'_>,
        start: &Start,
        route: &[NodeId],
        avoided: &HashSet<NodeId>,
        charge: ChargeFn<'_>,
    ) -> Result<()> {
        let protected = Protected::find(drawing, self, charge)?.equipment;
        let own = machines::own_suctions(drawing, start.first, avoided, &protected, charge)?;
        for (machine, path) in &own {
            self.add(drawing, Reason { at: *machine, ..start.reason(Cause::OwnSuction, path, true) });
        }
        let is_own = |equipment: NodeId| own.iter().any(|(machine, _)| *machine == equipment);
        let receiver = match own.first() {
            Some((machine, _)) if !protected.iter().all(|(equipment, _)| is_own(*equipment)) => Some(*machine),
            Some(_) => None,
            None => machines::only_receiver(drawing, route, charge)?,
        };
        if let Some(machine) = receiver {
            self.add(drawing, start.reason_at(machine, route));
        }
        Ok(())
    }

    /// Adds equipment into which the device discharges and that has no way out itself. A machine that the device protects
    /// may take in from it what it discharged.
    fn add_receiver(
        &mut self,
        drawing: &Drawing<'_>,
        start: &Start,
        route: &[NodeId],
        tails: &mut Tails,
        charge: ChargeFn<'_>,
    ) -> Result<()> {
        let topology = &drawing.topology;
        let Some(port) = route.last().copied() else { return Ok(()) };
        let receiver = (topology.equipment_or_self(port), topology.zone(port));
        let is_judged = |reason: &Reason| {
            (reason.behind == Some(receiver.0) || reason.at == receiver.0) && reason.state() != PathState::Open
        };
        if self.reasons.iter().any(is_judged) || protected::is_driven(drawing, receiver.0) {
            return Ok(());
        }
        if tails.ways_out.has_way_out(drawing, receiver, charge)? {
            return Ok(());
        }
        let protected = Protected::find(drawing, self, charge)?.equipment;
        let feeds = ways_out::exits(drawing, receiver, charge)?.sides;
        charge((feeds.len() * protected.len()) as u64)?;
        let is_own = |side: &EquipmentSide| drawing.raises_pressure(side.0) && protected.contains(side);
        if !feeds.iter().any(is_own) {
            self.add(drawing, Reason { at: receiver.0, ..start.reason(Cause::ReceiverNotRelieved, route, true) });
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
        let cause = if start.kind == SideKind::Inlet { Cause::NoInlet } else { Cause::NoOutlet };
        self.add(drawing, Reason { path: Vec::new(), ..start.reason(cause, &[start.device], true) });
        Ok(())
    }

    /// Adds what could close all ways out of the equipment that the outlet leads to. This matters for certain behind a
    /// knock-out drum or other equipment of a flare (ISO 23251); other equipment may take in what is relieved, so only
    /// the worst item of its best way out is added, and the path is not judged by it unless all ways are closed.
    fn add_behind(
        &mut self,
        drawing: &Drawing<'_>,
        start: &Start,
        route: &[NodeId],
        charge: ChargeFn<'_>,
    ) -> Result<()> {
        let topology = &drawing.topology;
        let Some(port) = route.last().copied() else { return Ok(()) };
        let equipment = topology.equipment_or_self(port);
        if protected::is_driven(drawing, equipment) {
            return Ok(());
        }
        let mut outlets = Outlets::find(drawing, (equipment, topology.zone(port)), charge)?;
        outlets.ports.insert(start.device);
        outlets.ways.retain(|[_, first]| *first != start.device);
        let search = Search::new(drawing, &outlets.ports).towards(Direction::Down).along(Branches::MainAndRelief);
        let mut found = best_route(drawing, &search, &outlets.ways, Flow::FromDevice, true, charge)?;
        if found.is_none() {
            // A valve to the atmosphere that is the only way out is no bleed.
            found = best_route(drawing, &search, &outlets.bleeds, Flow::FromDevice, true, charge)?;
        }
        let Some((limit, exit)) = found else {
            if drawing.class_has_word(equipment, vocabulary::FLARE_DRUMS) {
                self.add(drawing, Reason { at: equipment, ..start.reason(Cause::NoWayOut, route, true) });
            }
            return Ok(());
        };
        let is_certain = is_flare_equipment(drawing, equipment);
        let way = [route, &exit].concat();
        for at in route.len()..way.len() {
            let cause = start.cause(drawing, &way, at, charge)?;
            let is_worst = |cause: &Cause| cause.effect() == limit || is_certain;
            let Some(cause) = cause.filter(|cause| cause.effect() > Effect::Open && is_worst(cause)) else { continue };
            charge(copy_cost(at))?;
            let reason = Reason { behind: Some(equipment), ..start.reason(cause, &way[..=at], is_certain) };
            self.add(drawing, reason);
            if !is_certain {
                break;
            }
        }
        Ok(())
    }
}

impl Reason {
    /// Returns the judgment of a path with this item.
    fn state(&self) -> PathState {
        match (self.is_certain, self.behind) {
            (true, _) if !self.is_position_stated => PathState::of(self.cause.effect()).max(PathState::Unknown),
            (true, _) => PathState::of(self.cause.effect()),
            (false, None) if !self.is_position_stated => PathState::Unknown,
            (false, None) => PathState::of(self.cause.effect()).min(PathState::Unknown),
            (false, Some(_)) if self.cause.effect() == Effect::Closed => PathState::Unknown,
            (false, Some(_)) => PathState::Open,
        }
    }

    fn of_device(device: NodeId, cause: Cause, side: SideKind) -> Reason {
        Reason { cause, at: device, side, path: Vec::new(), behind: None, is_certain: true, is_position_stated: true }
    }
}

/// First item of a side.
#[derive(Clone, Copy, Debug)]
struct Start {
    device: NodeId,
    first: NodeId,
    kind: SideKind,
    flow: Flow,
}

/// Search that finds the ends of a side, with a shortest path to one.
struct Found<'p, 'a> {
    search: Search<'p, 'a>,
    /// The same past nothing that is closed, if it leads to an end.
    ways: Search<'p, 'a>,
    path: Vec<NodeId>,
    has_end: bool,
    /// Only against the direction of the pipes.
    is_against_flow: bool,
}

impl Found<'_, '_> {
    /// Returns the items that all ways lead through; without an end, the path.
    fn shared(&self, charge: ChargeFn<'_>) -> Result<Vec<NodeId>> {
        if !self.has_end {
            return Ok(self.path.clone());
        }
        let positions = self.ways.shared_positions(&self.path, charge)?;
        Ok(positions.iter().map(|at| self.path[*at]).collect())
    }
}

impl Start {
    fn new(drawing: &Drawing<'_>, device: NodeId, first: NodeId, kind: SideKind) -> Start {
        Start { device, first, kind, flow: flow_of(drawing, device, kind) }
    }

    /// Returns the only way of an outlet along the flow, if it has one.
    fn only_way(
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
    fn search<'p, 'a>(
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

    fn search_along<'p, 'a>(
        &self,
        drawing: &'p Drawing<'a>,
        avoided: &'p HashSet<NodeId>,
        direction: Direction,
        branches: Branches,
    ) -> Search<'p, 'a> {
        let search = Search::new(drawing, avoided).towards(direction).along(branches);
        if self.kind == SideKind::Inlet { search.past_open_ends() } else { search }
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
    fn cause(&self, drawing: &Drawing<'_>, path: &[NodeId], at: usize, charge: ChargeFn<'_>) -> Result<Option<Cause>> {
        charge(1)?;
        let before = if at == 0 { self.device } else { path[at - 1] };
        let next = path.get(at + 1).copied().unwrap_or(NONE);
        if drawing.topology.is_equipment(path[at]) {
            return pipe_cause(drawing, [before, path[at]], charge);
        }
        cause_at(drawing, [before, path[at], next], self.flow, charge)
    }

    /// Returns the first item that closes a side without an end, with the path to it; `None` if a branch is not closed.
    fn closure(
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
            let next = search.continuations(node, charge)?;
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
    fn reason_at(&self, machine: NodeId, path: &[NodeId]) -> Reason {
        Reason { at: machine, ..self.reason(Cause::Machine, path, true) }
    }

    /// Returns a reason at the last item of a path.
    fn reason(&self, cause: Cause, path: &[NodeId], is_certain: bool) -> Reason {
        let at = path.last().copied().unwrap_or(self.device);
        let path = std::iter::once(self.device).chain(path.iter().copied()).collect();
        Reason { cause, at, side: self.kind, path, behind: None, is_certain, is_position_stated: true }
    }
}

/// Returns whether a cause is not that of a valve that could be closed, or a spool that could be removed, and whose
/// position the drawing does not state.
fn is_position_stated(drawing: &Drawing<'_>, cause: Cause, at: NodeId) -> bool {
    match cause {
        Cause::NotLocked | Cause::Actuated => has_position(drawing, at),
        Cause::RemovableSpool => has_blind_position(drawing, at),
        Cause::SomeWaysClosed => false,
        _ => true,
    }
}

/// Returns the fuel for a copy of a path.
fn copy_cost(length: usize) -> u64 {
    const ITEMS_PER_UNIT: usize = 64;
    1 + (length / ITEMS_PER_UNIT) as u64
}

/// Returns the first items of a device, and whether they are on its inlet or its outlet.
///
/// The pipes tell it. Where they do not, and for a device that opens in both directions, the inlet is the side that
/// leads to equipment if the other does not.
fn sides_of(drawing: &Drawing<'_>, device: NodeId, charge: ChargeFn<'_>) -> Result<Vec<(NodeId, SideKind)>> {
    let around = neighbors(drawing, device, charge)?;
    let is_breathing = drawing.class_has(device, vocabulary::VACUUM_RELIEF);
    let mut sides = Vec::with_capacity(around.len());
    for first in around {
        let kind = match direction(drawing, first, device, charge)?.filter(|_| !is_breathing) {
            Some(true) => SideKind::Inlet,
            Some(false) => SideKind::Outlet,
            None => SideKind::Either,
        };
        sides.push((first, kind));
    }
    let has = |sides: &[(NodeId, SideKind)], kind: SideKind| sides.iter().any(|(_, known)| *known == kind);
    match (has(&sides, SideKind::Inlet), has(&sides, SideKind::Outlet)) {
        (true, true) => sides.retain(|(_, kind)| *kind != SideKind::Either),
        _ if sides.len() == 1 => replace_unknown(&mut sides, SideKind::Inlet),
        (true, false) if has(&sides, SideKind::Either) => replace_unknown(&mut sides, SideKind::Outlet),
        (false, true) if has(&sides, SideKind::Either) => replace_unknown(&mut sides, SideKind::Inlet),
        _ => infer_sides(drawing, device, &mut sides, charge)?,
    }
    remove_drains(drawing, device, &mut sides, charge)?;
    Ok(sides)
}

/// Removes drains of the device itself, if it has another pipe on that side.
fn remove_drains(
    drawing: &Drawing<'_>,
    device: NodeId,
    sides: &mut Vec<(NodeId, SideKind)>,
    charge: ChargeFn<'_>,
) -> Result<()> {
    for kind in [SideKind::Inlet, SideKind::Outlet] {
        let mut drains = HashSet::new();
        for (first, _) in sides.iter().filter(|(_, known)| *known == kind) {
            drains.extend(is_bleed_valve(drawing, *first, device, charge)?.then_some(*first));
        }
        if sides.iter().any(|(first, known)| *known == kind && !drains.contains(first)) {
            sides.retain(|(first, _)| !drains.contains(first));
        }
    }
    Ok(())
}

fn replace_unknown(sides: &mut [(NodeId, SideKind)], by: SideKind) {
    sides.iter_mut().filter(|(_, kind)| *kind == SideKind::Either).for_each(|(_, kind)| *kind = by);
}

/// Takes the sides that lead to equipment as inlets if others do not. If none does, only another sheet can have what the
/// device protects.
fn infer_sides(
    drawing: &Drawing<'_>,
    device: NodeId,
    sides: &mut [(NodeId, SideKind)],
    charge: ChargeFn<'_>,
) -> Result<()> {
    let topology = &drawing.topology;
    let avoided = sides.iter().map(|(first, _)| *first).chain([device]).collect();
    let (mut reaches_equipment, mut leaves_sheet) = (Vec::with_capacity(sides.len()), false);
    for (first, _) in sides.iter() {
        let ends = Search::new(drawing, &avoided).ends(*first, charge)?;
        reaches_equipment.push(ends.iter().any(|end| topology.is_equipment(*end)));
        leaves_sheet |= ends.iter().any(|end| topology.roles[*end as usize] == Role::OffPage);
    }
    let is_decided = reaches_equipment.contains(&true) && reaches_equipment.contains(&false);
    let undecided = match reaches_equipment.contains(&true) || leaves_sheet {
        true => SideKind::Either,
        false => SideKind::Outlet,
    };
    for ((_, kind), reaches) in sides.iter_mut().zip(reaches_equipment) {
        *kind = match (is_decided, reaches) {
            (false, _) => undecided,
            (true, true) => SideKind::Inlet,
            (true, false) => SideKind::Outlet,
        };
    }
    Ok(())
}

fn flow_of(drawing: &Drawing<'_>, device: NodeId, kind: SideKind) -> Flow {
    match kind {
        _ if drawing.class_has(device, vocabulary::VACUUM_RELIEF) => Flow::Unknown,
        SideKind::Inlet => Flow::ToDevice,
        SideKind::Outlet => Flow::FromDevice,
        SideKind::Either => Flow::Unknown,
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

/// Returns the way to an end whose worst item is the best, and that item's effect. Starts are pairs of an item that is
/// not entered and the first item behind it; `stops_at_relief` makes other relief devices ends.
fn best_route(
    drawing: &Drawing<'_>,
    search: &Search<'_, '_>,
    starts: &[[NodeId; 2]],
    flow: Flow,
    stops_at_relief: bool,
    charge: ChargeFn<'_>,
) -> Result<Option<(Effect, Vec<NodeId>)>> {
    for limit in LIMITS {
        if let Some(route) = route_within(drawing, search, starts, (flow, *limit), stops_at_relief, charge)? {
            return Ok(Some((limit.effect, route)));
        }
    }
    Ok(None)
}

/// Returns a shortest way to an end past items up to an effect; one that leaves the sheet only if there is no other.
fn route_within(
    drawing: &Drawing<'_>,
    search: &Search<'_, '_>,
    starts: &[[NodeId; 2]],
    (flow, limit): (Flow, Limit),
    stops_at_relief: bool,
    charge: ChargeFn<'_>,
) -> Result<Option<Vec<NodeId>>> {
    let roles = &drawing.topology.roles;
    let mut before: HashMap<NodeId, NodeId> = starts.iter().map(|[_, first]| (*first, NONE)).collect();
    let outside: HashMap<NodeId, NodeId> = starts.iter().map(|[from, first]| (*first, *from)).collect();
    let mut queue: VecDeque<NodeId> = starts.iter().map(|[_, first]| *first).collect();
    let mut off_sheet = None;
    while let Some(node) = queue.pop_front() {
        charge(1)?;
        if search.is_end(node) || stops_at_relief && roles[node as usize] == Role::Relief {
            if roles[node as usize] != Role::OffPage {
                return Ok(Some(path_back(&before, node)));
            }
            off_sheet = off_sheet.or(Some(node));
            continue;
        }
        let from = before.get(&node).copied().filter(|from| *from != NONE);
        let from = from.or_else(|| outside.get(&node).copied()).unwrap_or(NONE);
        for next in search.continuations(node, charge)? {
            if before.contains_key(&next) {
                continue;
            }
            let cause = cause_at(drawing, [from, node, next], flow, charge)?;
            // Another way may lead to the next item past a pipe that is open.
            let of_pipe = pipe_cause(drawing, [node, next], charge)?;
            let is_allowed = |cause: Cause| {
                cause.effect() <= limit.effect && (!limit.with_positions || is_position_stated(drawing, cause, node))
            };
            if [cause, of_pipe].into_iter().flatten().all(is_allowed) {
                before.insert(next, node);
                queue.push_back(next);
            }
        }
    }
    Ok(off_sheet.map(|node| path_back(&before, node)))
}

/// Returns the equipment that an end is or belongs to, or the side of it.
fn chamber(drawing: &Drawing<'_>, end: NodeId) -> NodeId {
    let zone = drawing.topology.zone(end);
    if zone == NONE { drawing.topology.equipment_or_self(end) } else { zone }
}

/// Returns whether equipment belongs to a flare or blowdown system, by its class or its description.
fn is_flare_equipment(drawing: &Drawing<'_>, equipment: NodeId) -> bool {
    let description = drawing.node_field(equipment, Names::Description).and_then(Value::as_str);
    let description = description.map(snake_case).unwrap_or_default();
    drawing.class_has_word(equipment, vocabulary::FLARE_EQUIPMENT)
        || vocabulary::FLARE_EQUIPMENT.iter().any(|word| description.contains(word))
}
