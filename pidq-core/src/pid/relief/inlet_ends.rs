//! Ends of the inlets of relief devices: a standby for a device, and what may separate a device from equipment.

use hashbrown::HashSet;

use super::exits::side_of;
use super::items::Effect;
use super::paths::{Search, path_back};
use super::protected::{EquipmentSide, Protected};
use super::side_search::Start;
use super::{PathState, Reason, ReliefPath, SideKind};
use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::drawing::Drawing;
use crate::pid::ChargeFn;
use crate::pid::dead_ends::neighbors;

/// Equipment and connectors that each inlet of a relief device leads to, whatever closes the way. To find them, all piping
/// around the device is searched.
#[derive(Debug)]
pub(crate) struct InletEnds(Vec<(Start, Vec<NodeId>)>);

impl InletEnds {
    /// Finds the ends of a device whose paths are known.
    pub fn find(drawing: &Drawing<'_>, path: &ReliefPath, charge: ChargeFn<'_>) -> Result<InletEnds> {
        let avoided: HashSet<NodeId> =
            neighbors(drawing, path.device, charge)?.into_iter().chain([path.device]).collect();
        let mut inlets = Vec::new();
        for side in path.sides.iter().filter(|side| side.kind == SideKind::Inlet) {
            let start = Start::new(drawing, path.device, side.first, side.kind);
            let found = start.search(drawing, &avoided, charge)?;
            let ends = if found.has_end { found.search.ends(side.first, charge)? } else { Vec::new() };
            inlets.push((start, ends));
        }
        Ok(InletEnds(inlets))
    }

    /// Returns the sides of equipment at the ends.
    fn equipment<'p>(&'p self, drawing: &'p Drawing<'_>) -> impl Iterator<Item = EquipmentSide> + 'p {
        let ends = self.0.iter().flat_map(|(_, ends)| ends);
        ends.filter(|end| drawing.topology.is_equipment(**end)).map(|end| side_of(drawing, *end))
    }

    /// Returns the first of some devices that is open to equipment that this one is to protect.
    pub fn standby(
        &self,
        drawing: &Drawing<'_>,
        device: NodeId,
        others: &[(ReliefPath, InletEnds)],
        charge: ChargeFn<'_>,
    ) -> Result<Option<NodeId>> {
        let own: HashSet<EquipmentSide> = self.equipment(drawing).collect();
        for (other, ends) in others.iter().filter(|(other, _)| other.device != device) {
            let mut inlets = other.sides.iter().filter(|side| side.kind == SideKind::Inlet);
            charge(1 + ends.0.iter().map(|(_, ends)| ends.len() as u64).sum::<u64>())?;
            let is_near = other.is_open_on_sheet()
                && inlets.all(|side| side.state == PathState::Open)
                && ends.equipment(drawing).any(|end| own.contains(&end));
            // A device on a line may be closed off from one of its ends.
            if is_near && Protected::find(drawing, other, charge)?.certain().iter().any(|side| own.contains(side)) {
                return Ok(Some(other.device));
            }
        }
        Ok(None)
    }

    /// Returns what may separate the device from equipment at the ends: the equipment, and the first item on the way to it
    /// that could be closed or is not open.
    ///
    /// The inlet of a device on a line may be open to one end and not to another.
    pub fn separations(
        &self,
        drawing: &Drawing<'_>,
        path: &ReliefPath,
        charge: ChargeFn<'_>,
    ) -> Result<Vec<(EquipmentSide, Reason)>> {
        let avoided = path.sides.iter().map(|side| side.first).chain([path.device]).collect();
        let mut found: Vec<(EquipmentSide, Reason)> = Vec::new();
        for (start, ends) in self.0.iter().filter(|(_, ends)| ends.len() > 1) {
            let before = Search::new(drawing, &avoided).predecessors(start.first, charge)?;
            let mut known = HashSet::new();
            for end in ends.iter().filter(|end| drawing.topology.is_equipment(**end)) {
                let equipment = side_of(drawing, *end);
                if !known.insert(equipment) {
                    continue;
                }
                let way = path_back(&before, *end);
                for at in 0..way.len() {
                    let cause = start.cause(drawing, &way, at, charge)?;
                    if let Some(cause) = cause.filter(|cause| cause.effect() > Effect::Open) {
                        found.push((equipment, start.reason(cause, &way[..=at], false)));
                        break;
                    }
                }
            }
        }
        Ok(found)
    }
}
