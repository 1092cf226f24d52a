//! Checks of loops, trips and the valves that they drive.

use super::Checker;
use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::roles::Role;
use crate::pid::ChargeFn;
use crate::pid::loop_parts::{self, Gap, LoopParts};
use crate::pid::loops::Loops;
use crate::pid::valve_state::actuation::is_actuated;
use crate::pid::valve_state::fail_action;

pub(super) fn without_fail_action(checker: &mut Checker<'_, '_>, charge: ChargeFn<'_>) -> Result<()> {
    charge(checker.nodes().len() as u64)?;
    let drawing = checker.drawing;
    for node in checker.nodes().collect::<Vec<_>>() {
        let is_actuated = match drawing.topology.roles[node as usize] {
            Role::Control => true,
            Role::Barrier => is_actuated(drawing, node, charge)?,
            _ => false,
        };
        let by_text = || fail_action::fail_action_in_texts(drawing, node).is_some();
        if is_actuated && fail_action::stated(drawing, node, charge)?.is_none() && !by_text() {
            checker.report(format!("{} has no fail action", checker.name(node)), &[node], &[]);
        }
    }
    Ok(())
}

pub(super) fn loops_without_members(checker: &mut Checker<'_, '_>, charge: ChargeFn<'_>) -> Result<()> {
    for found in Loops::find(checker.drawing, charge)?.list {
        if let Some(node) = found.node.filter(|_| found.members.is_empty()) {
            checker.report(format!("loop {} has no members", found.name), &[node], &[]);
        }
    }
    Ok(())
}

/// Reports loops that lack a sensor or a final element, and trips without a signal between them. An indication needs no
/// final element, and what is operated by hand no sensor. Of the loops without a node, only trips are reported, since a
/// trip that does not act is a missing safeguard; its parts may be on another sheet.
pub(super) fn open_loops(checker: &mut Checker<'_, '_>, charge: ChargeFn<'_>) -> Result<()> {
    let loops = Loops::find(checker.drawing, charge)?;
    for (at, found) in loops.list.iter().enumerate() {
        if found.members.is_empty() || found.node.is_none() && found.protection.is_none() {
            continue;
        }
        let parts = LoopParts::find(checker.drawing, &loops, at, charge)?;
        let (kind, _) = loop_parts::kind(checker.drawing, found, &parts);
        let lacks_final_element = parts.final_elements.is_empty() && kind != Some("indication");
        let lacks_sensor = parts.sensors.is_empty() && !loop_parts::is_hand_operated(checker.drawing, &parts);
        let is_protective = found.protection.is_some();
        let missing = match (lacks_sensor, lacks_final_element) {
            (true, true) => "lacks a sensor and a final element",
            (true, false) => "lacks a sensor",
            (false, true) => "lacks a final element",
            (false, false) if is_protective && parts.gap() == Some(Gap::NoSignal) => {
                "has no signal from a sensor to a final element"
            }
            (false, false) => continue,
        };
        let noun = if is_protective { "trip" } else { "loop" };
        let nodes: Vec<NodeId> = found.node.into_iter().chain(found.members.iter().copied()).collect();
        let is_certain = found.node.is_some() && parts.closed().is_some();
        checker.report_finding(is_certain, format!("{noun} {} {missing}", found.name), &nodes, &[]);
    }
    Ok(())
}
