//! Sensing lines of pilot-operated relief devices: without its pressure, the pilot does not open the device (API 520-1).

use hashbrown::HashSet;

use super::ReliefPath;
use super::items::direction;
use super::paths::Search;
use super::side_search::Start;
use super::sides::SideKind;
use super::tails::Tails;
use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter, EdgeFlags};
use crate::pid::ChargeFn;
use crate::pid::dead_ends::neighbors;

/// Word in the classes of pilots and of the devices that have one.
const PILOT: &[&str] = &["pilot"];

impl ReliefPath {
    /// Adds the sensing lines that the drawing shows. A pilot without pipes senses the pressure in the device itself.
    pub(super) fn add_sensing_lines(
        &mut self,
        drawing: &Drawing<'_>,
        tails: &mut Tails,
        charge: ChargeFn<'_>,
    ) -> Result<()> {
        for start in sensing_lines(drawing, self.device, charge)? {
            let avoided = HashSet::from([self.device, start.device]);
            self.add_side(drawing, &start, &avoided, tails, charge)?;
        }
        Ok(())
    }
}

/// Returns the starts of the sensing lines of a device: at the pipes of its pilot, or at an item in a pipe with a signal to it.
fn sensing_lines(drawing: &Drawing<'_>, device: NodeId, charge: ChargeFn<'_>) -> Result<Vec<Start>> {
    let topology = &drawing.topology;
    let line = |pilot: NodeId, first: NodeId| Start::new(drawing, pilot, first, SideKind::SensingLine);
    let mut lines = Vec::new();
    for (item, is_signal) in connected_items(drawing, device, charge)? {
        if drawing.class_has(item, PILOT) {
            lines.extend(lines_of_pilot(drawing, device, item, charge)?.into_iter().map(|first| line(item, first)));
        } else if is_signal
            && drawing.class_has(device, PILOT)
            && !matches!(topology.roles[item as usize], Role::Instrument | Role::Equipment | Role::Relief)
        {
            lines.push(line(device, item));
        }
    }
    Ok(lines)
}

/// Returns the items with pipes that are parts of a device or have a signal to it, and whether it is a signal.
fn connected_items(drawing: &Drawing<'_>, device: NodeId, charge: ChargeFn<'_>) -> Result<Vec<(NodeId, bool)>> {
    let topology = &drawing.topology;
    let table = topology.table(EdgeFilter::All, Direction::Both);
    let members = topology.field_members(device);
    charge(1 + (table.degree(device) + members.len()) as u64)?;
    let flags = |edge: u32| topology.edge_flags[edge as usize];
    let by_edge = table.arcs(device).filter(|(_, edge)| !flags(*edge).contains(EdgeFlags::FLOW));
    let by_edge = by_edge.map(|(item, edge)| (item, flags(edge).contains(EdgeFlags::SIGNAL)));
    let mut items: Vec<(NodeId, bool)> = by_edge.chain(members.iter().map(|item| (*item, false))).collect();
    items.retain(|(item, _)| topology.flow_degree(*item) > 0);
    items.sort_unstable();
    items.dedup_by_key(|(item, _)| *item);
    Ok(items)
}

/// Returns the first items of the pipes of a pilot by which it senses the pressure: not those out of it. Where the pipes have
/// no direction, those that lead to equipment, if there are any.
fn lines_of_pilot(drawing: &Drawing<'_>, device: NodeId, pilot: NodeId, charge: ChargeFn<'_>) -> Result<Vec<NodeId>> {
    let avoided = HashSet::from([device, pilot]);
    let (mut into, mut to_equipment, mut others) = (Vec::new(), Vec::new(), Vec::new());
    for first in neighbors(drawing, pilot, charge)?.into_iter().filter(|first| *first != device) {
        match direction(drawing, first, pilot, charge)? {
            Some(true) => into.push(first),
            Some(false) => {}
            None => {
                let ends = Search::new(drawing, &avoided).ends(first, charge)?;
                let leads_to_equipment = ends.iter().any(|end| drawing.topology.is_equipment(*end));
                if leads_to_equipment { to_equipment.push(first) } else { others.push(first) }
            }
        }
    }
    Ok([into, to_equipment, others].into_iter().find(|found| !found.is_empty()).unwrap_or_default())
}
