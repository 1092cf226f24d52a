//! Equipment that takes in what a relief device discharges: machines, knock-out drums, and other equipment.

use hashbrown::HashSet;

use super::best_route::Routes;
use super::exits::{Outlets, is_flare_equipment, routes_out, side_of};
use super::items::{Cause, Effect, Flow};
use super::paths::{Branches, Search};
use super::protected::{EquipmentSide, Protected};
use super::reasons::{PathState, Reason};
use super::side_search::Start;
use super::tails::Tails;
use super::way_out::{Uncertainty, WayOut};
use super::ways_out::way_out;
use super::{ReliefPath, copy_cost, machines};
use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::Direction;
use crate::graph::vocabulary;
use crate::pid::ChargeFn;

impl ReliefPath {
    /// Adds what a way to a machine says. A machine that takes in what it discharged itself is relieved: it makes no
    /// pressure without a flow. What else the device protects is not, as long as nothing flows on through the machine.
    pub(super) fn add_machine(
        &mut self,
        drawing: &Drawing<'_>,
        start: &Start,
        route: &[NodeId],
        avoided: &HashSet<NodeId>,
        charge: ChargeFn<'_>,
    ) -> Result<()> {
        let protected = Protected::find(drawing, self, charge)?;
        let own = machines::own_suctions(drawing, start.first, avoided, protected.certain(), charge)?;
        for (machine, path) in &own {
            self.add(drawing, Reason { at: *machine, ..start.reason(Cause::OwnSuction, path, true) });
        }
        let is_own = |equipment: NodeId| own.iter().any(|(machine, _)| *machine == equipment);
        let receiver = match own.first() {
            Some((machine, _)) if !protected.equipment.iter().all(|(equipment, _)| is_own(*equipment)) => {
                Some(*machine)
            }
            Some(_) => None,
            None => route.last().map(|port| drawing.topology.equipment_or_self(*port)),
        };
        if let Some(machine) = receiver {
            self.add(drawing, start.reason_at(machine, route));
        }
        Ok(())
    }

    /// Adds equipment into which the device discharges and that has no way out itself, or what makes its way out only a
    /// possible one. A machine that the device protects may take in from it what it discharged.
    pub(super) fn add_receiver(
        &mut self,
        drawing: &Drawing<'_>,
        start: &Start,
        route: &[NodeId],
        tails: &mut Tails,
        charge: ChargeFn<'_>,
    ) -> Result<()> {
        let Some(port) = route.last().copied() else { return Ok(()) };
        let receiver = side_of(drawing, port);
        let is_judged = |reason: &Reason| {
            (reason.behind == Some(receiver.0) || reason.at == receiver.0) && reason.state() != PathState::Open
        };
        if self.reasons.iter().any(is_judged) || machines::is_machine(drawing, port) {
            return Ok(());
        }
        let uncertainty = match way_out(drawing, receiver, tails, charge)? {
            WayOut::Certain => return Ok(()),
            WayOut::Possible(uncertainty) => Some(uncertainty),
            WayOut::None => None,
        };
        if self.feeds_own_machine(drawing, receiver, charge)? {
            return Ok(());
        }
        let reason = match uncertainty {
            None => Reason { at: receiver.0, ..start.reason(Cause::ReceiverNotRelieved, route, true) },
            Some(Uncertainty { cause, at, path }) => {
                let way = with_exit(route, path);
                charge(copy_cost(way.len()))?;
                // The reason may be the equipment itself.
                let behind = Some(receiver.0).filter(|equipment| *equipment != at);
                Reason { at, behind, ..start.reason(cause, &way, true) }
            }
        };
        // It is judged here, and was only listed before.
        self.reasons.retain(|known| (known.cause, known.at, known.behind) != (reason.cause, reason.at, reason.behind));
        self.add(drawing, reason);
        Ok(())
    }

    /// Returns whether what enters a side of equipment leads to a machine that the device protects, past nothing that is
    /// unknown.
    fn feeds_own_machine(&self, drawing: &Drawing<'_>, receiver: EquipmentSide, charge: ChargeFn<'_>) -> Result<bool> {
        let protected = Protected::find(drawing, self, charge)?;
        let routes = routes_out(drawing, receiver, charge)?;
        charge((1 + routes.len() * protected.certain().len()) as u64)?;
        let is_own = |end: NodeId| {
            let side = side_of(drawing, end);
            drawing.raises_pressure(side.0) && protected.certain().contains(&side)
        };
        Ok(routes.iter().any(|route| route.effect < Effect::Unknown && is_own(route.end())))
    }

    /// Adds what could close all ways out of the equipment that the outlet leads to. This matters for certain behind a
    /// knock-out drum or other equipment of a flare (ISO 23251); other equipment may take in something, so only the
    /// worst item of its best way out is added, and nothing that is closed there blocks the path.
    pub(super) fn add_behind(
        &mut self,
        drawing: &Drawing<'_>,
        start: &Start,
        route: &[NodeId],
        charge: ChargeFn<'_>,
    ) -> Result<()> {
        let topology = &drawing.topology;
        let Some(port) = route.last().copied() else { return Ok(()) };
        let equipment = topology.equipment_or_self(port);
        if machines::is_machine(drawing, equipment) || drawing.is_relief_end(equipment) {
            return Ok(());
        }
        let mut outlets = Outlets::find(drawing, (equipment, topology.zone(port)), charge)?;
        outlets.ports.insert(start.device);
        outlets.ways.retain(|[_, first]| *first != start.device);
        let search = Search::new(drawing, &outlets.ports).towards(Direction::Down).along(Branches::MainAndRelief);
        let routes = Routes { drawing, search: &search, flow: Flow::FromDevice, is_device: Some(is_relief_device) };
        let mut found = routes.best(&outlets.ways, charge)?;
        if found.is_none() {
            // A valve to the atmosphere that is the only way out is no bleed.
            found = routes.best(&outlets.bleeds, charge)?;
        }
        let Some(exit) = found else {
            if drawing.class_has_word(equipment, vocabulary::FLARE_DRUMS) {
                self.add(drawing, Reason { at: equipment, ..start.reason(Cause::NoWayOut, route, true) });
            }
            return Ok(());
        };
        let is_certain = is_flare_equipment(drawing, equipment);
        let (limit, way) = (exit.effect, with_exit(route, exit.with_outlet()));
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
        // The rest of the way to the flare is not shown.
        if is_certain && limit < Effect::Closed && topology.roles[exit.end() as usize] == Role::OffPage {
            self.add(drawing, Reason { behind: Some(equipment), ..start.reason(Cause::OffSheet, &way, true) });
        }
        Ok(())
    }
}

/// Returns a way into equipment and on by one of its outlets. Equipment without nozzles is its own outlet.
fn with_exit(route: &[NodeId], exit: Vec<NodeId>) -> Vec<NodeId> {
    let is_same = route.last() == exit.first();
    route.iter().copied().chain(exit.into_iter().skip(usize::from(is_same))).collect()
}

fn is_relief_device(drawing: &Drawing<'_>, node: NodeId) -> bool {
    drawing.topology.roles[node as usize] == Role::Relief
}
