//! Relief paths: for a relief device, the way from what it protects and the way to where it discharges, with all that
//! closes or could close them.
//!
//! A path is open only if the drawing shows it: a path with an item that is unknown, that leaves the sheet, or that has
//! no inlet or no outlet is unknown, never open (ISO 23251, API 520-2). Everything that judges relief reads these
//! paths: validation, the relief list, isolation, and the safeguards of a review.

mod best_route;
mod changeover;
pub(crate) mod devices;
mod exits;
pub(crate) mod inlet_ends;
pub(crate) mod items;
mod judgment;
mod machines;
pub(crate) mod paths;
pub(crate) mod protected;
mod reasons;
mod receivers;
mod sensing_lines;
mod shared_inlets;
mod side_search;
pub(crate) mod sides;
pub(crate) mod tails;
mod uncertainties;
mod way_out;
mod ways_out;

use self::items::{Cause, Effect, Flow};

pub(crate) use self::reasons::{PathState, Reason};
use self::side_search::Start;
pub(crate) use self::sides::SideKind;
use self::sides::sides_of;
use self::tails::{Tails, Way};
use super::ChargeFn;
use super::dead_ends::neighbors;
use super::valve_state::out_of_action::{is_hindered, is_out_of_action};
use super::valve_state::unread_texts::has_doubtful_text;
use super::valve_state::{Installation, installation};
use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NONE, NodeId};
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::vocabulary;

/// Way from a relief device to what it protects, or to where it discharges.
#[derive(Clone, Debug)]
pub(crate) struct Side {
    pub kind: SideKind,
    /// The neighbor of the device.
    pub first: NodeId,
    /// Items that all ways from this side lead through; without an end, those of the way to the item farthest away.
    pub shared: Vec<NodeId>,
    /// Items beside them on the branches of a shared inlet that are stated to be open.
    pub branches: Vec<NodeId>,
    /// Of the shared ones, those that may close the way or be unknown; all, if they are not told apart.
    notable: Option<Vec<NodeId>>,
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
        let mut path = ReliefPath::before_receivers(drawing, device, tails, charge)?;
        path.add_changeovers(drawing, tails, charge)?;
        for (start, route) in std::mem::take(&mut path.to_equipment) {
            path.add_receiver(drawing, &start, &route, tails, charge)?;
        }
        // They say nothing about a path that is not open anyway.
        let is_open = path.state == PathState::Open;
        path.reasons.retain(|reason| is_open || !reason.cause.is_uncertainty());
        Ok(path)
    }

    /// Finds and judges the same paths up to the equipment into which the device discharges, without the ways out of it.
    fn before_receivers(
        drawing: &Drawing<'_>,
        device: NodeId,
        tails: &mut Tails,
        charge: ChargeFn<'_>,
    ) -> Result<ReliefPath> {
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
        if cause.is_none() && devices::is_closed_off(drawing, device) {
            path.add(drawing, Reason::of_device(device, Cause::DeviceIsolated, SideKind::Either));
        } else if cause.is_none() && (is_out_of_action(drawing, device) || is_hindered(drawing, device)) {
            path.add(drawing, Reason::of_device(device, Cause::DeviceOutOfAction, SideKind::Either));
        } else if cause.is_none() && has_doubtful_text(drawing, device) {
            path.add(drawing, Reason::of_device(device, Cause::UnreadText, SideKind::Either));
        }
        path.add_valve_by_tag(drawing, charge)?;
        path.add_unknown_connection(drawing, charge)?;
        let has = |kind: SideKind| found.iter().any(|(_, known)| [kind, SideKind::Either].contains(known));
        if !has(SideKind::Inlet) {
            path.add(drawing, Reason::of_device(device, Cause::NoInlet, SideKind::Inlet));
        }
        charge(drawing.topology.dangling.len() as u64)?;
        // A pipe to nowhere is an outlet whose end the drawing lacks.
        let is_dangling = |edge: &EdgeId| drawing.topology.ends[*edge as usize].contains(&device);
        let needs_outlet = !drawing.class_has(device, vocabulary::ATMOSPHERIC_RELIEF)
            || drawing.topology.dangling.iter().any(is_dangling);
        if !has(SideKind::Outlet) && needs_outlet || found.len() == 1 && found[0].1 == SideKind::Either {
            path.add(drawing, Reason::of_device(device, Cause::NoOutlet, SideKind::Outlet));
        }
        let avoided = neighbors(drawing, device, charge)?.into_iter().chain([device]).collect();
        for (first, kind) in &found {
            let start = Start::new(drawing, device, *first, *kind);
            path.add_side(drawing, &start, &avoided, tails, charge)?;
            path.add_contradicting_direction(drawing, &start, charge)?;
        }
        let is_breathing = drawing.class_has(device, vocabulary::VACUUM_RELIEF);
        let is_unstated = found.len() > 1 && found.iter().all(|(_, kind)| *kind == SideKind::Either);
        if is_unstated && !is_breathing && path.state == PathState::Open {
            path.add(drawing, Reason::of_device(device, Cause::UnstatedInlet, SideKind::Either));
        }
        path.add_sensing_lines(drawing, tails, charge)?;
        for (start, route) in path.to_equipment.clone() {
            if route.last().is_some_and(|end| machines::is_machine(drawing, *end)) {
                path.add_machine(drawing, &start, &route, &avoided, charge)?;
            }
        }
        Ok(path)
    }

    /// Adds what is known about a device that only its tag states: a valve, which may be closed.
    fn add_valve_by_tag(&mut self, drawing: &Drawing<'_>, charge: ChargeFn<'_>) -> Result<()> {
        let device = self.device;
        if drawing.topology.roles[device as usize] == Role::Relief {
            return Ok(());
        }
        self.state = PathState::Unknown;
        let cause = items::item_cause(drawing, [NONE, device, NONE], Flow::Unknown, charge)?;
        if let Some(cause) = cause.filter(|cause| cause.effect() == Effect::Closed) {
            let reason = Reason::of_device(device, cause, SideKind::Either);
            self.add(drawing, Reason { path: vec![device], ..reason });
        }
        Ok(())
    }

    /// Adds an inlet or an outlet whose pipe runs the other way: all pipes of the device point into it, or out of it.
    fn add_contradicting_direction(
        &mut self,
        drawing: &Drawing<'_>,
        start: &Start,
        charge: ChargeFn<'_>,
    ) -> Result<()> {
        let expected = match start.flow {
            Flow::ToDevice => Some(true),
            Flow::FromDevice => Some(false),
            // A device that breathes has both; that of others is unknown if the pipes of all sides lead into it, or out.
            Flow::Unknown if drawing.class_has(self.device, vocabulary::VACUUM_RELIEF) => return Ok(()),
            Flow::Unknown => None,
        };
        let stated = items::direction(drawing, start.first, self.device, charge)?;
        let is_known =
            self.reasons.iter().any(|reason| reason.cause == Cause::FlowDirection && reason.at == start.first);
        if stated.is_some() && stated != expected && !is_known {
            self.add(drawing, start.reason(Cause::FlowDirection, &[start.first], true));
        }
        Ok(())
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
        // Of equipment that is not there, its name says more than that of its nozzle.
        if matches!(reason.cause, Cause::NotInstalled | Cause::UnknownStatus)
            && installation(drawing, reason.at) == Installation::Installed
        {
            reason.at = drawing.topology.equipment_or_self(reason.at);
        }
        reason.is_position_stated = reasons::is_position_stated(drawing, reason.cause, reason.at);
        self.state = self.state.max(reason.state());
        self.reasons.push(reason);
    }

    /// Returns the valves that all ways of an inlet or an outlet lead through, and those of the open branches of a shared
    /// inlet, by a condition for valves.
    pub fn valves(&self, kind: SideKind, is_valve: impl Fn(NodeId) -> bool) -> Vec<NodeId> {
        let sides = self.sides.iter().filter(|side| side.kind == kind);
        let notable = sides.flat_map(|side| side.notable.as_ref().unwrap_or(&side.shared).iter().chain(&side.branches));
        notable.copied().filter(|node| is_valve(*node)).collect()
    }

    /// Returns whether the outlet leads to the suction of a machine whose outlet the device protects.
    pub fn returns_to_suction(&self) -> bool {
        self.reasons.iter().any(|reason| reason.cause == Cause::OwnSuction)
    }

    /// Returns whether the path is open, and stays so: nothing on all its ways, and on those out of the equipment into which it
    /// leads, can be closed without breaking a lock.
    pub fn is_secured(&self) -> bool {
        let may_close = |reason: &Reason| {
            (reason.is_certain || reason.behind.is_some()) && reason.cause.effect() == Effect::MayClose
        };
        self.state == PathState::Open && !self.reasons.iter().any(may_close)
    }

    /// Returns whether the outlet is open and secured: nothing on the ways can be closed without breaking a lock. States of the
    /// device itself do not count, so that it holds for blowdown valves too.
    pub fn is_way_secured(&self) -> bool {
        let is_of_ways = |reason: &&Reason| reason.at != self.device || reason.cause == Cause::NoOutlet;
        self.reasons.iter().filter(is_of_ways).all(|reason| match reason.cause.effect() {
            Effect::MayClose | Effect::Closed => !reason.is_certain && reason.state() == PathState::Open,
            _ => reason.side != SideKind::Outlet || reason.state() == PathState::Open,
        })
    }

    /// Returns whether nothing on this sheet makes the path unknown or closes it.
    pub fn is_open_on_sheet(&self) -> bool {
        self.reasons.iter().all(|reason| reason.cause == Cause::OffSheet || reason.state() == PathState::Open)
    }
}

/// Returns the fuel for a copy of a path.
fn copy_cost(length: usize) -> u64 {
    const ITEMS_PER_UNIT: usize = 64;
    1 + (length / ITEMS_PER_UNIT) as u64
}
