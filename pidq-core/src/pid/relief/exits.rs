//! Exits of a side of equipment: the ways out of it along the flow, each with what makes it uncertain.
//!
//! Equipment without an open exit fills up, so it relieves nothing: only a flare, a stack or a basin is an end itself.
//! An exit is judged as the relief path is. From a side with relief devices, these count, and pipes that stay open: a
//! valve in another outlet may be closed.

use hashbrown::HashSet;

use super::best_route::{Route, Routes};
use super::devices::{is_device_by_tag, opens_inwards};
use super::items::{Cause, Effect, Flow, cause_at, pipe_cause, port_cause};
use super::paths::{Branches, Search};
use super::protected::EquipmentSide;
use super::reasons::{PathState, is_position_stated};
use super::tails::Tails;
use super::way_out::{OpenDevice, Receiver, Uncertainty};
use super::{ReliefPath, machines};
use crate::error::Result;
use crate::graph::adjacency::{NONE, NodeId};
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::snake_case::snake_case;
use crate::graph::topology::{Direction, EdgeFilter};
use crate::graph::vocabulary;
use crate::pid::ChargeFn;
use crate::pid::dead_ends::is_bleed_valve;
use crate::pid::valve_state::is_locked_open;
use crate::value::Value;

/// A way out of a side of equipment.
#[derive(Debug, Default)]
pub(super) struct Exit {
    pub uncertainty: Option<Uncertainty>,
    /// Equipment into which it leads, all of which needs a way out itself. None if the way leaves the drawing, or if no
    /// outlet is drawn.
    pub receivers: Vec<Receiver>,
}

/// Returns the exits of a side of equipment that are not closed.
pub(super) fn exits(
    drawing: &Drawing<'_>,
    side: EquipmentSide,
    tails: &mut Tails,
    charge: ChargeFn<'_>,
) -> Result<Vec<Exit>> {
    if drawing.is_relief_end(side.0) {
        return Ok(vec![Exit::default()]);
    }
    let found = routes_out(drawing, side, charge)?;
    let has_relief = found.iter().any(|route| is_device(drawing, route.end()));
    let must_stay_open = has_relief && !is_flare_equipment(drawing, side.0);
    let is_side_unstated = side.1 == NONE && drawing.may_have_several_sides(side.0, charge)?;
    let mut exits = Vec::with_capacity(found.len());
    for route in found.into_iter().filter(|route| route.effect < Effect::Closed) {
        let exit = match is_device(drawing, route.end()) {
            true => relief_exit(drawing, &route, tails, charge)?,
            false if must_stay_open && route.effect > Effect::Open => None,
            false => Some(pipe_exit(drawing, &route, charge)?),
        };
        let unstated = is_side_unstated.then(|| Uncertainty {
            cause: Cause::UnstatedSide,
            at: route.from,
            path: vec![route.from],
        });
        exits.extend(exit.map(|exit| Exit { uncertainty: unstated.or(exit.uncertainty), ..exit }));
    }
    // A package may lead on within its limits.
    if exits.is_empty() && drawing.is_of_unknown_kind(side.0) {
        let uncertainty = Uncertainty { cause: Cause::UnknownClass, at: side.0, path: Vec::new() };
        exits.push(Exit { uncertainty: Some(uncertainty), receivers: Vec::new() });
    }
    Ok(exits)
}

/// Returns the best way along the flow from a side of equipment to each end and each relief device.
pub(super) fn routes_out(drawing: &Drawing<'_>, side: EquipmentSide, charge: ChargeFn<'_>) -> Result<Vec<Route>> {
    let outlets = Outlets::find(drawing, side, charge)?;
    let search = Search::new(drawing, &outlets.ports).towards(Direction::Down).along(Branches::MainAndRelief);
    let routes = Routes { drawing, search: &search, flow: Flow::FromDevice, is_device: Some(is_device) };
    let found = routes.all(&outlets.ways, charge)?;
    if found.is_empty() { routes.all(&outlets.bleeds, charge) } else { Ok(found) }
}

/// Returns the exit by a pipe without a relief device. Nothing may flow through a machine that stands still.
fn pipe_exit(drawing: &Drawing<'_>, route: &Route, charge: ChargeFn<'_>) -> Result<Exit> {
    let topology = &drawing.topology;
    let end = route.end();
    let cause = match () {
        () if topology.roles[end as usize] == Role::OffPage => Some(Cause::OffSheet),
        () if machines::is_machine(drawing, end) => Some(Cause::Machine),
        () => None,
    };
    let at_end =
        cause.map(|cause| Uncertainty { cause, at: topology.equipment_or_self(end), path: route.with_outlet() });
    let receiver = topology.is_equipment(end).then(|| (side_of(drawing, end), route.with_outlet()));
    Ok(Exit {
        uncertainty: route_uncertainty(drawing, route, charge)?.or(at_end),
        receivers: receiver.into_iter().collect(),
    })
}

/// Returns the exit through a relief device, unless the device is blocked.
fn relief_exit(drawing: &Drawing<'_>, route: &Route, tails: &mut Tails, charge: ChargeFn<'_>) -> Result<Option<Exit>> {
    let device = route.end();
    if opens_inwards(drawing, device) {
        return Ok(None);
    }
    let Some(OpenDevice { uncertainty, receivers }) = open_device(drawing, device, tails, charge)? else {
        return Ok(None);
    };
    let way = route.with_outlet();
    let behind = |path: Vec<NodeId>| [way.as_slice(), &path].concat();
    let on_the_way = route_uncertainty(drawing, route, charge)?;
    let uncertainty =
        on_the_way.or(uncertainty.map(|uncertainty| Uncertainty { path: behind(uncertainty.path), ..uncertainty }));
    let receivers = receivers.into_iter().map(|(side, path)| (side, behind(path))).collect();
    Ok(Some(Exit { uncertainty, receivers }))
}

/// Returns what is known about a relief device without the equipment behind it; `None` if it is blocked.
pub(super) fn open_device(
    drawing: &Drawing<'_>,
    device: NodeId,
    tails: &mut Tails,
    charge: ChargeFn<'_>,
) -> Result<Option<OpenDevice>> {
    if let Some(known) = tails.open_devices.get(&device) {
        return Ok(known.clone());
    }
    let mut path = ReliefPath::before_receivers(drawing, device, tails, charge)?;
    let behind = |path: &[NodeId]| path.iter().copied().skip(1).collect::<Vec<NodeId>>();
    let reason = path.reasons.iter().find(|reason| reason.state() == PathState::Unknown);
    let mut uncertainty =
        reason.map(|reason| Uncertainty { cause: reason.cause, at: reason.at, path: behind(&reason.path) });
    if is_device_by_tag(drawing, device) {
        uncertainty = Some(Uncertainty { cause: Cause::UnknownClass, at: device, path: Vec::new() });
    }
    let receivers = std::mem::take(&mut path.to_equipment).into_iter();
    let receivers = receivers.filter_map(|(_, route)| Some((side_of(drawing, *route.last()?), route)));
    let found = (path.state != PathState::Blocked).then(|| OpenDevice { uncertainty, receivers: receivers.collect() });
    tails.open_devices.insert(device, found.clone());
    Ok(found)
}

/// Returns the first item of a way that is unknown, or a valve that could be closed and whose position the drawing does
/// not state.
fn route_uncertainty(drawing: &Drawing<'_>, route: &Route, charge: ChargeFn<'_>) -> Result<Option<Uncertainty>> {
    let before = |at: usize| if at == 0 { route.from } else { route.items[at - 1] };
    for (at, node) in route.items.iter().copied().enumerate() {
        charge(1)?;
        let cause = match route.items.get(at + 1) {
            Some(next) => cause_at(drawing, [before(at), node, *next], Flow::FromDevice, charge)?,
            None if drawing.topology.is_equipment(node) => port_cause(drawing, [before(at), node], charge)?,
            None if is_device(drawing, node) => pipe_cause(drawing, [before(at), node], charge)?,
            None => cause_at(drawing, [before(at), node, NONE], Flow::FromDevice, charge)?,
        };
        let is_uncertain =
            |cause: &Cause| cause.effect() >= Effect::Unknown || !is_position_stated(drawing, *cause, node);
        if let Some(cause) = cause.filter(is_uncertain) {
            let path = route.with_outlet();
            let length = path.len() - route.items.len() + at + 1;
            return Ok(Some(Uncertainty { cause, at: node, path: path[..length].into() }));
        }
    }
    Ok(None)
}

/// Returns whether an item is a relief device, or is one by its tag.
fn is_device(drawing: &Drawing<'_>, node: NodeId) -> bool {
    drawing.topology.roles[node as usize] == Role::Relief || is_device_by_tag(drawing, node)
}

/// Returns the side of equipment that a port is on.
pub(super) fn side_of(drawing: &Drawing<'_>, port: NodeId) -> EquipmentSide {
    (drawing.topology.equipment_or_self(port), drawing.topology.zone(port))
}

/// Returns whether equipment belongs to a flare or blowdown system, by its class or its description.
pub(super) fn is_flare_equipment(drawing: &Drawing<'_>, equipment: NodeId) -> bool {
    let description = drawing.node_field(equipment, Names::Description).and_then(Value::as_str);
    let description = description.map(snake_case).unwrap_or_default();
    drawing.class_has_word(equipment, vocabulary::FLARE_EQUIPMENT)
        || vocabulary::FLARE_EQUIPMENT.iter().any(|word| description.contains(word))
}

/// Outlets of a side of equipment: pairs of a port and the first item behind it along the flow.
#[derive(Default)]
pub(super) struct Outlets {
    /// The equipment and all its ports, which no way out enters.
    pub ports: HashSet<NodeId>,
    pub ways: Vec<[NodeId; 2]>,
    /// Drains, vents and bleeds that are not locked open, which are no ways out unless there are no others.
    pub bleeds: Vec<[NodeId; 2]>,
}

impl Outlets {
    pub fn find(drawing: &Drawing<'_>, (equipment, zone): EquipmentSide, charge: ChargeFn<'_>) -> Result<Outlets> {
        let topology = &drawing.topology;
        let ports = topology.ports.nodes(equipment).iter().copied().chain([equipment]);
        let mut found = Outlets { ports: ports.clone().collect(), ..Outlets::default() };
        charge(found.ports.len() as u64)?;
        let down = topology.table(EdgeFilter::Flow, Direction::Down);
        for port in ports.filter(|port| topology.zone(*port) == zone) {
            charge(down.degree(port) as u64)?;
            for first in down.nodes(port).iter().copied().filter(|first| !found.ports.contains(first)) {
                let is_bleed = !is_locked_open(drawing, first) && is_bleed_valve(drawing, first, port, charge)?;
                if is_bleed { &mut found.bleeds } else { &mut found.ways }.push([port, first]);
            }
        }
        Ok(found)
    }
}
