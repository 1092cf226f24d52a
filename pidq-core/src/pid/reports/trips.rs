//! Parts of trips and interlocks, by their class, their tag and their stated safety level.

use crate::graph::adjacency::NodeId;
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::vocabulary;
use crate::pid::instrument_class;
use crate::pid::loops::protection;
use crate::pid::stated_values::stated_values;
use crate::pid::tag::{Protection, Tag};

/// Returns the reason for which a node is part of a trip or an interlock; `None` if nothing says so. Callers charge for
/// the node: its fields are read once.
pub(crate) fn trip_reason(drawing: &Drawing<'_>, node: NodeId) -> Option<&'static str> {
    let role = drawing.topology.roles[node as usize];
    let is_instrument = role == Role::Instrument;
    if !(is_instrument || role.closes() || role == Role::None) {
        return None;
    }
    let valve = protection::emergency_valve(drawing, node).map(|(_, basis)| basis);
    if valve == Some("class") || !role.closes() && drawing.trip_function(node).is_some() {
        return Some("class");
    }
    let stated = stated_values(drawing, drawing.node(node), [Names::IntegrityLevel], &mut |_| Ok(()));
    if stated.is_ok_and(|[level]| level.is_some_and(|level| protection::is_stated(level.value))) {
        return Some("integrity_level");
    }
    let has_letter = || {
        drawing.tag(node).and_then(Tag::parse_letters).is_some_and(|tag| has_trip_letter(&tag))
            && !instrument_class::is_no_switch(drawing, node)
    };
    valve.or_else(|| (is_instrument && has_letter()).then_some("tag"))
}

/// Returns whether the letters after the first contain the S of a switch or the Z of a safety function (ISA-5.1,
/// IEC 62424), or are those of a trip as a whole, as `I` and `ESD`. The S of a safety device, as in PSV, is a modifier.
pub(super) fn has_trip_letter(tag: &Tag) -> bool {
    if matches!(tag.protection(), Some(Protection::Trip | Protection::Safety)) {
        return true;
    }
    let (modifier, functions) = tag.split();
    // ZSO and ZSC are the limit switches of a valve; ZSHH trips.
    let is_limit_switch = tag.is_position();
    !is_limit_switch && (modifier == Some('Z') || functions.iter().any(|letter| matches!(letter, 'S' | 'Z')))
}

/// Returns whether an instrument is a switch by its tag or class.
pub(crate) fn is_switch(drawing: &Drawing<'_>, node: NodeId) -> bool {
    instrument_class::has_switch_letter(drawing, node) || drawing.class_has(node, vocabulary::SWITCH_CLASSES)
}

/// Returns whether an instrument raises an alarm: A among the letters after the first, or its class.
pub(crate) fn is_alarm(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let tag = drawing.tag(node).and_then(Tag::parse_letters);
    tag.is_some_and(|tag| tag.split().1.contains(&'A')) || is_alarm_by_class(drawing, node)
}

/// Returns whether an instrument raises an alarm, by its class.
pub(crate) fn is_alarm_by_class(drawing: &Drawing<'_>, node: NodeId) -> bool {
    drawing.class_has(node, vocabulary::ALARM_CLASSES)
}
