//! Ways out of equipment that takes in what relief devices discharge, through whatever equipment.
//!
//! Relief into a vessel protects only if the vessel has a way out itself (API 521). Two vessels that relieve only into
//! each other have none, nor has an expansion tank that leads only back into its loop. A way out is certain only if all
//! that it rests on is: the relief device of a vessel whose path is unknown is a possible way out.

use std::collections::VecDeque;

use hashbrown::{HashMap, HashSet};

use super::copy_cost;
use super::exits::{Exit, exits};
use super::protected::EquipmentSide;
use super::tails::Tails;
use super::way_out::{Receiver, Uncertainty, WayOut};
use crate::error::Result;
use crate::graph::drawing::Drawing;
use crate::pid::ChargeFn;

/// Returns whether what enters a side of equipment can leave the drawing or stay in equipment without an outlet, possibly
/// through further equipment. A cycle has no way out.
pub(super) fn way_out(
    drawing: &Drawing<'_>,
    side: EquipmentSide,
    tails: &mut Tails,
    charge: ChargeFn<'_>,
) -> Result<WayOut> {
    if let Some(known) = tails.ways_out.get(&side) {
        return Ok(known.clone());
    }
    let network = Network::find(drawing, side, tails, charge)?;
    let found = network.solve(tails, charge)?;
    let way_out = found.get(&side).cloned().unwrap_or(WayOut::None);
    tails.ways_out.extend(found);
    Ok(way_out)
}

/// Sides of equipment that what enters one of them may reach, with the exits of each.
#[derive(Default)]
struct Network {
    sides: Vec<EquipmentSide>,
    exits: Vec<(EquipmentSide, Exit)>,
    /// By side: the exits that lead into it.
    into: HashMap<EquipmentSide, Vec<usize>>,
}

impl Network {
    /// Finds the network of a side, up to sides whose way out is known.
    fn find(drawing: &Drawing<'_>, first: EquipmentSide, tails: &mut Tails, charge: ChargeFn<'_>) -> Result<Network> {
        let mut network = Network::default();
        let mut seen: HashSet<EquipmentSide> = [first].into();
        let mut queue = vec![first];
        while let Some(side) = queue.pop() {
            charge(1)?;
            network.sides.push(side);
            if tails.ways_out.contains_key(&side) {
                continue;
            }
            for exit in exits(drawing, side, tails, charge)? {
                charge(1 + exit.receivers.len() as u64)?;
                for (receiver, _) in &exit.receivers {
                    network.into.entry(*receiver).or_default().push(network.exits.len());
                    queue.extend(seen.insert(*receiver).then_some(*receiver));
                }
                network.exits.push((side, exit));
            }
        }
        Ok(network)
    }

    /// Returns the way out of each side.
    fn solve(&self, tails: &Tails, charge: ChargeFn<'_>) -> Result<HashMap<EquipmentSide, WayOut>> {
        let mut found: HashMap<EquipmentSide, WayOut> = HashMap::new();
        for side in &self.sides {
            found.insert(*side, tails.ways_out.get(side).cloned().unwrap_or(WayOut::None));
        }
        let is_certain = |way_out: &WayOut| matches!(way_out, WayOut::Certain);
        for exit in self.open_exits(&found, is_certain, |exit| exit.uncertainty.is_none(), charge)? {
            found.insert(self.exits[exit].0, WayOut::Certain);
        }
        let is_possible = |way_out: &WayOut| !matches!(way_out, WayOut::None);
        for at in self.open_exits(&found, is_possible, |_| true, charge)? {
            let (side, exit) = &self.exits[at];
            if matches!(found.get(side), Some(WayOut::None)) {
                let uncertainty = uncertainty_of(exit, &found);
                charge(copy_cost(uncertainty.as_ref().map_or(0, |uncertainty| uncertainty.path.len())))?;
                found.insert(*side, uncertainty.map_or(WayOut::Certain, WayOut::Possible));
            }
        }
        Ok(found)
    }

    /// Returns the exits that lead only into equipment with a way out, each after those that it rests on. Sides with a
    /// way out by `has_way_out` are known, the others have one if an exit that counts leads out.
    fn open_exits(
        &self,
        known: &HashMap<EquipmentSide, WayOut>,
        has_way_out: impl Fn(&WayOut) -> bool,
        counts: impl Fn(&Exit) -> bool,
        charge: ChargeFn<'_>,
    ) -> Result<Vec<usize>> {
        let mut with_way_out: HashSet<EquipmentSide> =
            known.iter().filter(|(_, way_out)| has_way_out(way_out)).map(|(side, _)| *side).collect();
        let lacks = |(side, _): &&Receiver| !with_way_out.contains(side);
        let mut missing: Vec<usize> =
            self.exits.iter().map(|(_, exit)| exit.receivers.iter().filter(lacks).count()).collect();
        let mut queue: VecDeque<usize> = (0..self.exits.len()).filter(|at| missing[*at] == 0).collect();
        let mut open = Vec::new();
        while let Some(at) = queue.pop_front() {
            charge(1)?;
            let (side, exit) = &self.exits[at];
            if !counts(exit) {
                continue;
            }
            open.push(at);
            if with_way_out.insert(*side) {
                for before in self.into.get(side).into_iter().flatten().copied() {
                    missing[before] -= 1;
                    queue.extend((missing[before] == 0).then_some(before));
                }
            }
        }
        Ok(open)
    }
}

/// Returns what makes an exit uncertain: something on its way, or on the way out of the equipment behind it.
fn uncertainty_of(exit: &Exit, found: &HashMap<EquipmentSide, WayOut>) -> Option<Uncertainty> {
    let behind = || {
        exit.receivers.iter().find_map(|(side, path)| match found.get(side) {
            Some(WayOut::Possible(uncertainty)) => {
                Some(Uncertainty { path: [path.as_slice(), &uncertainty.path].concat(), ..uncertainty.clone() })
            }
            _ => None,
        })
    };
    exit.uncertainty.clone().or_else(behind)
}
