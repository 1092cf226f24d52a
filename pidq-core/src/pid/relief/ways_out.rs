//! Ways out of equipment that takes in what relief devices discharge.
//!
//! Relief into a vessel protects only if the vessel has a way out itself (API 521). Two vessels that relieve only into
//! each other have none, nor has an expansion tank that leads only back into its loop.

use hashbrown::{HashMap, HashSet};

use super::items::{Effect, Flow, cause_at};
use super::paths::{Branches, Search};
use super::protected::EquipmentSide;
use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter};
use crate::graph::vocabulary;
use crate::pid::ChargeFn;
use crate::pid::dead_ends::is_bleed_valve;
use crate::pid::valve_state::{Installation, installation};

/// Sides of equipment that have been judged so far, each of which is searched once.
#[derive(Default)]
pub(super) struct WaysOut {
    known: HashMap<EquipmentSide, bool>,
}

impl WaysOut {
    /// Returns whether what enters a side of equipment can leave the drawing or stay in equipment without an outlet,
    /// possibly through further equipment. A cycle has no way out.
    pub fn has_way_out(&mut self, drawing: &Drawing<'_>, side: EquipmentSide, charge: ChargeFn<'_>) -> Result<bool> {
        let mut feeders: HashMap<EquipmentSide, Vec<EquipmentSide>> = HashMap::new();
        let mut found = vec![side];
        let mut seen: HashSet<EquipmentSide> = [side].into();
        let mut open = Vec::new();
        let mut at = 0;
        while let Some(side) = found.get(at).copied() {
            at += 1;
            let known = self.known.get(&side).copied();
            let exits = if known.is_none() { exits(drawing, side, charge)? } else { Exits::default() };
            open.extend((known == Some(true) || exits.leaves).then_some(side));
            for next in exits.sides {
                charge(1)?;
                found.extend(seen.insert(next).then_some(next));
                feeders.entry(next).or_default().push(side);
            }
        }
        let mut with_way_out = HashSet::new();
        while let Some(side) = open.pop() {
            charge(1)?;
            if with_way_out.insert(side) {
                open.extend(feeders.get(&side).into_iter().flatten());
            }
        }
        self.known.extend(found.into_iter().map(|side| (side, with_way_out.contains(&side))));
        Ok(with_way_out.contains(&side))
    }
}

/// Ends of the ways out of a side of equipment.
#[derive(Debug, Default)]
pub(super) struct Exits {
    /// A way leads out of the drawing or to the atmosphere, or none is drawn.
    pub leaves: bool,
    /// Sides of equipment to which the others lead, each once.
    pub sides: Vec<EquipmentSide>,
    has_relief: bool,
}

/// Returns the ends of the ways along the flow from a side of equipment. A side with relief devices is relieved by them
/// or by pipes that stay open, since a valve in another outlet may be closed.
pub(super) fn exits(drawing: &Drawing<'_>, side: EquipmentSide, charge: ChargeFn<'_>) -> Result<Exits> {
    let outlets = Outlets::find(drawing, side, charge)?;
    let mut found = Exits::default();
    found.follow(drawing, &outlets, Effect::Unknown, charge)?;
    if found.has_relief {
        found = Exits { has_relief: true, ..Exits::default() };
        found.follow(drawing, &outlets, Effect::Open, charge)?;
    }
    let is_sink = found.sides.is_empty() && !found.has_relief;
    found.leaves |= is_sink && !drawing.class_has_word(side.0, vocabulary::FLARE_DRUMS);
    Ok(found)
}

/// Outlets of a side of equipment: pairs of a port and the first item behind it along the flow.
#[derive(Default)]
pub(super) struct Outlets {
    /// The equipment and all its ports, which no way out enters.
    pub ports: HashSet<NodeId>,
    pub ways: Vec<[NodeId; 2]>,
    /// Drains, vents and bleeds, which are no ways out unless there are no others.
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
                let is_bleed = is_bleed_valve(drawing, first, port, charge)?;
                if is_bleed { &mut found.bleeds } else { &mut found.ways }.push([port, first]);
            }
        }
        Ok(found)
    }
}

impl Exits {
    /// Follows the ways past items up to an effect, and behind a relief device past all that is not closed: what is there
    /// is judged with the device.
    fn follow(&mut self, drawing: &Drawing<'_>, outlets: &Outlets, limit: Effect, charge: ChargeFn<'_>) -> Result<()> {
        let search = Search::new(drawing, &outlets.ports).towards(Direction::Down).along(Branches::MainAndRelief);
        let starts = if outlets.ways.is_empty() { &outlets.bleeds } else { &outlets.ways };
        let mut queue: Vec<([NodeId; 2], Effect)> = starts.iter().map(|start| (*start, limit)).collect();
        let mut seen: HashSet<(NodeId, Effect)> = queue.iter().map(|([_, first], limit)| (*first, *limit)).collect();
        while let Some(([before, node], limit)) = queue.pop() {
            charge(1)?;
            if search.is_end(node) {
                self.add_end(drawing, node);
                continue;
            }
            let is_relief = drawing.topology.roles[node as usize] == Role::Relief;
            if is_relief && installation(drawing, node) != Installation::Installed {
                continue;
            }
            let limit = if is_relief { Effect::Unknown } else { limit };
            let next = search.continuations(node, charge)?;
            self.has_relief |= is_relief;
            self.leaves |= is_relief && next.is_empty() && drawing.class_has(node, vocabulary::ATMOSPHERIC_RELIEF);
            for next in next {
                let cause = cause_at(drawing, [before, node, next], Flow::FromDevice, charge)?;
                let is_passed = cause.is_none_or(|cause| cause.effect() <= limit);
                if is_passed && seen.insert((next, limit)) {
                    queue.push(([node, next], limit));
                }
            }
        }
        Ok(())
    }

    fn add_end(&mut self, drawing: &Drawing<'_>, end: NodeId) {
        let topology = &drawing.topology;
        if !topology.is_equipment(end) {
            self.leaves = true;
            return;
        }
        let side = (topology.equipment_or_self(end), topology.zone(end));
        if !self.sides.contains(&side) {
            self.sides.push(side);
        }
    }
}
