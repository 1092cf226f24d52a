//! Actuators of a valve: the items that move it other than by hand, however the drawing connects them to it.
//!
//! An item with the class of an actuator acts on a valve that it has any edge to but a pipe: nothing else has an actuator at
//! a valve. A solenoid valve, a motor or a hydraulic unit may be near a valve for another purpose, and acts by a signal or as
//! a part.

use hashbrown::HashSet;

pub(crate) use super::named_drives::is_drive;
use super::named_drives::{FINAL_ELEMENTS, named_drives};
use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NodeId};
use crate::graph::config::{MAX_CLASS, Names};
use crate::graph::drawing::Drawing;
use crate::graph::snake_case::snake_case;
use crate::graph::topology::{Direction, EdgeFilter, EdgeFlags};
use crate::graph::vocabulary;
use crate::pid::ChargeFn;
use crate::pid::instrument_class::is_sensor_by_class;

/// Types of the groups that have valves.
const GROUPS: [Names; 3] = [Names::LineType, Names::SegmentType, Names::LoopType];

/// Kinds of edges that carry air or oil to an actuator, as parts of their class.
const FLUID_SIGNALS: &[&str] = &["pneumatic", "hydraul"];

/// Returns the actuators of a valve with their parts: actuating systems, actuators, solenoids.
pub(crate) fn actuators(drawing: &Drawing<'_>, valve: NodeId, charge: ChargeFn<'_>) -> Result<Vec<NodeId>> {
    const MAX_ITEMS: usize = 32;
    let topology = &drawing.topology;
    let table = topology.table(EdgeFilter::All, Direction::Both);
    charge(1 + table.degree(valve) as u64)?;
    let connected = table.arcs(valve).filter(|arc| is_by_edge(drawing, *arc)).map(|(item, _)| item);
    let mut found: Vec<NodeId> = connected.collect();
    let by_field = topology.field_members(valve).iter().copied().chain(topology.field_group(valve));
    found.extend(by_field.filter(|item| is_drive(drawing, *item)));
    found.extend(named_drives(drawing, valve));
    found.extend(with_tag_of(drawing, valve, charge)?);
    let mut at = 0;
    while let Some(item) = found.get(at).copied().filter(|_| at < MAX_ITEMS) {
        at += 1;
        found.extend(parts(drawing, item, charge)?.into_iter().filter(|part| is_drive(drawing, *part)));
        found.extend(named_drives(drawing, item));
        let mut seen: HashSet<NodeId> = [valve].into();
        found.retain(|item| seen.insert(*item));
    }
    Ok(found)
}

/// Returns what belongs to a valve, by edges and by fields. The lines and loops that an edge without a direction ties to it are
/// what it belongs to.
pub(crate) fn parts(drawing: &Drawing<'_>, node: NodeId, charge: ChargeFn<'_>) -> Result<Vec<NodeId>> {
    let topology = &drawing.topology;
    let [down, up] = [Direction::Down, Direction::Up].map(|side| topology.table(EdgeFilter::All, side));
    charge(1 + (down.degree(node) + up.degree(node)) as u64)?;
    let has = |edge: EdgeId, flag: EdgeFlags| topology.edge_flags[edge as usize].contains(flag);
    let is_whole = |edge: EdgeId| has(edge, EdgeFlags::PART) || has(edge, EdgeFlags::MEMBER);
    let of_whole = down.arcs(node).filter(|(_, edge)| is_whole(*edge));
    let of_part = up.arcs(node).filter(|(_, edge)| has(*edge, EdgeFlags::MEMBER_REVERSED));
    let is_group = |node: NodeId| GROUPS.iter().any(|types| drawing.has_type(node, *types));
    let by_edge = of_whole.chain(of_part).map(|(part, _)| part).filter(|part| !is_group(*part));
    Ok(by_edge.chain(topology.field_members(node).iter().copied()).chain(topology.field_parts(node)).collect())
}

/// Returns whether an edge to an item states that the item is an actuator of the valve at its other end.
pub(super) fn is_by_edge(drawing: &Drawing<'_>, (item, edge): (NodeId, EdgeId)) -> bool {
    const STRUCTURE: [EdgeFlags; 5] =
        [EdgeFlags::PART, EdgeFlags::MEMBER, EdgeFlags::MEMBER_REVERSED, EdgeFlags::ZONE, EdgeFlags::ACTUATES];
    let flags = drawing.topology.edge_flags[edge as usize];
    let has = |known: &[EdgeFlags]| known.iter().any(|flag| flags.contains(*flag));
    !flags.contains(EdgeFlags::FLOW)
        && is_drive(drawing, item)
        && (has(&STRUCTURE)
            || is_actuator(drawing, item)
            || has(&[EdgeFlags::SIGNAL, EdgeFlags::UNKNOWN]) && !is_sensor_by_class(drawing, item))
}

/// Returns whether an edge of a valve is an air or oil line that is drawn as a signal: it has an actuator, whatever the line
/// comes from.
pub(super) fn is_fluid_signal(drawing: &Drawing<'_>, edge: EdgeId) -> bool {
    let flags = drawing.topology.edge_flags[edge as usize];
    let is_signal = flags.contains(EdgeFlags::SIGNAL) || flags.contains(EdgeFlags::UNKNOWN);
    let has_fluid = |names: Names| {
        let text = drawing.edge_field(edge, names).and_then(|value| value.as_str());
        let class = text.filter(|text| text.len() <= MAX_CLASS).map(snake_case).unwrap_or_default();
        FLUID_SIGNALS.iter().any(|part| class.contains(part))
    };
    is_signal && !flags.contains(EdgeFlags::ZONE) && [Names::EdgeClass, Names::EdgeKind].into_iter().any(has_fluid)
}

/// Returns whether an item is an actuator, an actuating system, one of its functions or a positioner, by its class.
fn is_actuator(drawing: &Drawing<'_>, node: NodeId) -> bool {
    drawing.class_has(node, vocabulary::ACTUATORS) || drawing.class_has(node, FINAL_ELEMENTS)
}

/// Returns the actuators that no edge connects to a valve and that have its tag.
pub(super) fn with_tag_of(drawing: &Drawing<'_>, valve: NodeId, charge: ChargeFn<'_>) -> Result<Vec<NodeId>> {
    let Some(tag) = drawing.tag(valve).filter(|tag| !tag.trim().is_empty()) else { return Ok(Vec::new()) };
    let mut same = drawing.by_tag(tag);
    charge(same.len() as u64)?;
    same.retain(|other| *other != valve && drawing.topology.flow_degree(*other) == 0 && is_drive(drawing, *other));
    Ok(same)
}
