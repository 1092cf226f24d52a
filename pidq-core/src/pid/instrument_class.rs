//! Function of an instrument by its class, its connections and its tag: sensing or acting.

pub(crate) mod air_lines;
pub(crate) mod parts;

use super::tag::{Protection, Tag};
use crate::graph::adjacency::{EdgeId, NodeId};
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter, EdgeFlags};
use crate::graph::vocabulary;

/// Function of an instrument in its loop, by its class and its tag.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum LoopFunction {
    /// It senses, transmits, shows, records or reports, and moves nothing.
    Measures,
    /// It controls, switches, computes or moves a final element.
    Acts,
    Unknown,
}

/// Returns whether the class of an instrument is that of logic, of a voter or of a relay.
fn is_logic_by_class(drawing: &Drawing<'_>, node: NodeId) -> bool {
    acts_by_class(drawing, node) || is_voter(drawing, node) || is_relay(drawing, node)
}

/// Returns whether an instrument passes signals on, by its class: a timer, a selector of signals.
pub(crate) fn is_relay(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let is_by_hand = || drawing.tag(node).and_then(Tag::parse_letters).is_some_and(|tag| tag.letters.starts_with('H'));
    drawing.class_has_word(node, vocabulary::RELAYS)
        || drawing.class_ends_with_word(node, &["selector"]) && !is_by_hand()
}

/// Returns whether an instrument is a switch by its letters: not a selector of signals, and no system such as `DCS`.
pub(crate) fn has_switch_letter(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let tag = drawing.tag(node).and_then(Tag::parse_letters);
    tag.is_some_and(|tag| tag.split().1.contains(&'S')) && !is_no_switch(drawing, node)
}

/// Returns whether the letters of an instrument are no functions, by its class or as the code of a system that controls.
pub(crate) fn is_no_switch(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let letters = || drawing.tag(node).and_then(Tag::parse_letters).map(|tag| (tag.letters, tag.number));
    let is_system = |(letters, number): (String, String)| {
        // `LCS-1` may be a switch of a level.
        vocabulary::CONTROL_SYSTEMS.contains(&&*letters)
            && (number.is_empty() || drawing.class_has_word(node, &[&letters.to_ascii_lowercase()]))
    };
    is_relay(drawing, node) || letters().is_some_and(is_system)
}

/// Returns the function of an instrument in its loop.
pub(crate) fn loop_function(drawing: &Drawing<'_>, node: NodeId) -> LoopFunction {
    if is_logic_by_class(drawing, node) {
        return LoopFunction::Acts;
    }
    if is_sensor_by_class(drawing, node) {
        return LoopFunction::Measures;
    }
    let acting = [vocabulary::CONTROLLERS, vocabulary::INTERLOCKS, vocabulary::MOTOR_STARTERS];
    if acting.iter().any(|words| drawing.class_has_word(node, words)) {
        return LoopFunction::Acts;
    }
    let by_letters = drawing.tag(node).and_then(Tag::parse_letters).as_ref().map(function_of_letters);
    match by_letters {
        Some(function) if function != LoopFunction::Unknown => function,
        _ if drawing.class_has(node, vocabulary::DISPLAYS) => LoopFunction::Measures,
        _ => LoopFunction::Unknown,
    }
}

/// Returns whether an instrument may move a valve that it has a signal to: it acts, or it is a transmitter, an alarm or of
/// unknown function. A display and a limit switch do not.
pub(crate) fn may_move(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let tag = drawing.tag(node).and_then(Tag::parse_letters);
    let is_position = has_position_letters(drawing, node) && tag.as_ref().is_some_and(|tag| tag.protection().is_none());
    let is_alarm = tag.is_some_and(|tag| tag.split().1.contains(&'A'));
    !is_position
        && (loop_function(drawing, node) != LoopFunction::Measures || is_alarm || is_transmitter(drawing, node))
}

/// Returns whether the letters of an instrument name no measured variable, by its class: those of a motor starter, the letters
/// of a system that its class repeats (`PLC-1`), and the `I` of an interlock. `PZ-1` and `LSHH-1` have functions.
pub(crate) fn has_no_variable(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let is_logic = || is_logic_by_class(drawing, node) || drawing.class_has_word(node, vocabulary::INTERLOCKS);
    let is_name = |tag: Tag| {
        let (modifier, functions) = tag.split();
        let word = tag.letters.to_ascii_lowercase();
        vocabulary::INTERLOCKS.contains(&word.as_str()) && drawing.class_has_word(node, &[&word])
            || modifier.is_none() && functions.is_empty() && is_logic()
    };
    drawing.class_has_word(node, vocabulary::MOTOR_STARTERS)
        || drawing.tag(node).and_then(Tag::parse_letters).is_some_and(is_name)
}

/// Position of an instrument on the way from the process to a final element.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Stage {
    /// It senses or transmits.
    Sensor,
    /// It shows, controls or switches a measured variable.
    Function,
    /// Logic, a relay, a converter or an actuator, which has no variable of its own.
    Logic,
}

/// Returns the position of an instrument on the way from the process to a final element.
pub(crate) fn stage(drawing: &Drawing<'_>, node: NodeId) -> Stage {
    if is_logic_by_class(drawing, node) {
        return Stage::Logic;
    }
    if senses(drawing, node) {
        return Stage::Sensor;
    }
    let is_logic = |tag: &Tag| {
        let functions = tag.split().1;
        let converts = functions.iter().all(|letter| matches!(letter, 'Y' | 'V' | 'X'));
        !tag.measures() || !functions.is_empty() && converts
    };
    let is_logic = drawing.class_has_word(node, vocabulary::LOGIC)
        || has_logic_class(drawing, node)
        || drawing.class_has_word(node, vocabulary::MOTOR_STARTERS)
        || drawing.tag(node).and_then(Tag::parse_letters).is_some_and(|tag| is_logic(&tag));
    if is_logic { Stage::Logic } else { Stage::Function }
}

/// Returns whether an instrument is a controller, by its class or the letter C of its tag.
pub(crate) fn is_controller(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let has_letter = |tag: Tag| !tag.is_position() && tag.split().1.contains(&'C');
    drawing.class_has_word(node, vocabulary::CONTROLLERS)
        || !is_motor_starter(drawing, node) && drawing.tag(node).and_then(Tag::parse_letters).is_some_and(has_letter)
}

/// Returns whether the letters or the class of an instrument state that it is operated by hand.
pub(crate) fn is_by_hand(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let has_letter = || drawing.tag(node).and_then(Tag::parse_letters).is_some_and(|tag| tag.letters.starts_with('H'));
    // The interlock `HZ-1` or `HIPPS-1` that a signal feeds is the logic of a trip.
    let is_logic = || drawing.class_has_word(node, vocabulary::INTERLOCKS) && is_fed_by_signal(drawing, node);
    is_hand_switch_by_class(drawing, node)
        || !is_detector(drawing, node) && has_letter() && !is_logic() && !is_relay(drawing, node)
}

/// Returns whether a signal leads to an item.
fn is_fed_by_signal(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let topology = &drawing.topology;
    let edges = topology.table(EdgeFilter::All, Direction::Up).edges(node);
    edges.iter().any(|edge| topology.edge_flags[*edge as usize].contains(EdgeFlags::SIGNAL))
}

/// Returns whether an instrument is a switch that is operated by hand, by its class.
pub(crate) fn is_hand_switch_by_class(drawing: &Drawing<'_>, node: NodeId) -> bool {
    drawing.class_has(node, vocabulary::HAND_SWITCH_CLASSES)
}

/// Returns whether an instrument detects a fire, a gas or a flame, by its class.
pub(crate) fn is_detector(drawing: &Drawing<'_>, node: NodeId) -> bool {
    drawing.class_has(node, vocabulary::DETECTORS)
}

/// Returns whether the first letter of an instrument is that of a position, and its class does not say that it measures
/// something else.
pub(crate) fn has_position_letters(drawing: &Drawing<'_>, node: NodeId) -> bool {
    drawing.tag(node).and_then(Tag::parse_letters).is_some_and(|tag| tag.is_position())
        && !drawing.class_has_word(node, vocabulary::INTERLOCKS)
        && !is_detector(drawing, node)
        && !is_hand_switch_by_class(drawing, node)
}

/// Returns whether an instrument is a switch that is operated by hand: `HS`, `HZS`, a push button.
pub(crate) fn is_hand_switch(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let tag = drawing.tag(node).and_then(Tag::parse_letters);
    let by_tag = tag.is_some_and(|tag| {
        let (modifier, functions) = tag.split();
        let switches = modifier == Some('Z') || functions.iter().any(|letter| matches!(letter, 'S' | 'Z'));
        tag.letters.starts_with('H') && switches
    });
    is_hand_switch_by_class(drawing, node) || !is_detector(drawing, node) && by_tag && !is_relay(drawing, node)
}

/// Returns whether an instrument is a switch of an unclassified variable that measures, by its class: the earth switch `XS`.
pub(crate) fn is_unclassified_switch(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let tag = drawing.tag(node).and_then(Tag::parse_letters);
    tag.is_some_and(|tag| tag.letters.starts_with('X') && tag.split().1.contains(&'S'))
        && drawing.class_has(node, vocabulary::SWITCH_CLASSES)
        && !drawing.class_has(node, vocabulary::OVERRIDES)
        && !is_by_hand(drawing, node)
}

/// Returns whether an item has a drive, by its class: a pump, a compressor.
pub(crate) fn has_drive(drawing: &Drawing<'_>, node: NodeId) -> bool {
    drawing.has_drive(node)
}

/// Returns whether an item is equipment with a drive, which a signal can stop, or the starter of a motor that is not drawn.
pub(crate) fn is_driven(drawing: &Drawing<'_>, node: NodeId) -> bool {
    if is_motor_starter(drawing, node) {
        return !sends_signal(drawing, node);
    }
    matches!(drawing.topology.roles[node as usize], Role::Equipment | Role::None)
        && has_drive(drawing, node)
        && !drawing.class_has(node, vocabulary::AIR_ACCESSORIES)
}

/// Returns whether an item starts and stops a motor for the functions that feed it, by its class.
pub(crate) fn is_motor_starter(drawing: &Drawing<'_>, node: NodeId) -> bool {
    !drawing.topology.is_equipment(node) && drawing.class_has_word(node, vocabulary::MOTOR_STARTERS)
}

/// Returns whether a signal leaves an item.
pub(crate) fn sends_signal(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let topology = &drawing.topology;
    let mut arcs = topology.table(EdgeFilter::All, Direction::Down).arcs(node);
    arcs.any(|(next, edge)| next != node && topology.edge_flags[edge as usize].contains(EdgeFlags::SIGNAL))
}

/// Returns whether an instrument is a switch whose signals lead only to alarms and displays.
pub(crate) fn only_reports(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let topology = &drawing.topology;
    let arcs = topology.table(EdgeFilter::All, Direction::Down).arcs(node);
    let is_signal = |edge: EdgeId| {
        let flags = topology.edge_flags[edge as usize];
        flags.contains(EdgeFlags::SIGNAL) && !flags.contains(EdgeFlags::ZONE)
    };
    let mut targets = arcs.filter(|(_, edge)| is_signal(*edge)).peekable();
    has_switch_letter(drawing, node)
        && !is_controller(drawing, node)
        && targets.peek().is_some()
        && targets.all(|(target, _)| {
            topology.roles[target as usize] == Role::Instrument
                && loop_function(drawing, target) == LoopFunction::Measures
        })
}

/// Returns whether an instrument only shows or records, by its class.
pub(crate) fn is_display(drawing: &Drawing<'_>, node: NodeId) -> bool {
    drawing.class_has(node, vocabulary::DISPLAYS)
}

/// Returns whether a bubble without a separate sensor senses by itself: it has a measured variable, it is located at a
/// process item, and nothing feeds it. Drawings according to IEC 62424 show one bubble for sensor, display and control.
pub(crate) fn senses_at_location(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let topology = &drawing.topology;
    let measures = drawing.tag(node).and_then(Tag::parse_letters).is_some_and(|tag| tag.measures());
    let mut below = topology.table(EdgeFilter::All, Direction::Down).arcs(node);
    let mut above = topology.table(EdgeFilter::All, Direction::Up).arcs(node);
    let has = |edge: EdgeId, flag: EdgeFlags| topology.edge_flags[edge as usize].contains(flag);
    measures
        && !acts_by_class(drawing, node)
        && !is_hand_switch_by_class(drawing, node)
        && stage(drawing, node) == Stage::Function
        && below.any(|(item, edge)| has(edge, EdgeFlags::ZONE) && is_process(drawing, item))
        && !above.any(|(from, edge)| {
            has(edge, EdgeFlags::SIGNAL)
                && !has(edge, EdgeFlags::UNDIRECTED)
                && topology.roles[from as usize] == Role::Instrument
        })
}

/// Returns whether a bubble may stand for the measurement too: it has a measured variable, and no signal leads to it. A
/// signal without a direction may.
pub(crate) fn may_sense(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let topology = &drawing.topology;
    let measures = drawing.tag(node).and_then(Tag::parse_letters).is_some_and(|tag| tag.measures());
    let mut above = topology.table(EdgeFilter::All, Direction::Up).arcs(node);
    measures
        && !is_hand_switch_by_class(drawing, node)
        && stage(drawing, node) == Stage::Function
        && !above.any(|(from, edge)| {
            topology.edge_flags[edge as usize].contains(EdgeFlags::SIGNAL)
                && matches!(topology.roles[from as usize], Role::Instrument | Role::OffPage)
        })
}

/// Returns whether a node is a process item: equipment, or an item in a pipe other than a valve.
pub(crate) fn is_process(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let topology = &drawing.topology;
    let role = topology.roles[node as usize];
    role != Role::Instrument && !role.closes() && (topology.flow_degree(node) > 0 || topology.is_equipment(node))
}

fn function_of_letters(tag: &Tag) -> LoopFunction {
    let (modifier, functions) = tag.split();
    let has = |letters: &str| functions.iter().any(|letter| letters.contains(*letter));
    let acts = match () {
        () if functions.is_empty() && tag.protection().is_none() => return LoopFunction::Unknown,
        () if functions.is_empty() => true,
        // The letters of a position are those of limit switches: ZSO, ZSC. ZSHH trips.
        () if tag.letters.starts_with('Z') => {
            has("V") || has("C") && !has("S") || tag.protection() == Some(Protection::Trip)
        }
        // PZA switches in IEC 62424; PZT transmits.
        () if modifier == Some('Z') => !has("TE") || has("CKSUVXYZ"),
        () => has("CKSUVXYZ"),
    };
    if acts { LoopFunction::Acts } else { LoopFunction::Measures }
}

/// Returns whether an instrument moves something, by its class.
pub(crate) fn acts_by_class(drawing: &Drawing<'_>, node: NodeId) -> bool {
    drawing.class_has(node, vocabulary::ACTUATORS)
}

/// Returns whether an instrument senses: by its pipe or a signal from the process, by its class, or by a letter of its
/// tag.
pub(crate) fn senses(drawing: &Drawing<'_>, node: NodeId) -> bool {
    // The pipe of an actuator or a solenoid valve is its air, and a hand switch may be drawn with a signal from where it is.
    let is_solenoid = drawing.class_has(node, vocabulary::SOLENOIDS);
    if is_logic_by_class(drawing, node) || is_solenoid || is_hand_switch(drawing, node) {
        return false;
    }
    let topology = &drawing.topology;
    let mut signals = topology.table(EdgeFilter::All, Direction::Up).arcs(node);
    // A signal without a direction leads from the logic to what it stops.
    let is_logic = has_logic_class(drawing, node);
    let is_signaled = signals.any(|(other, edge)| {
        let flags = topology.edge_flags[edge as usize];
        flags.contains(EdgeFlags::SIGNAL)
            && is_process(drawing, other)
            && !(is_logic && flags.contains(EdgeFlags::UNDIRECTED))
    });
    // Drawings without separate sensors connect the instrument itself to the process.
    let has_line = || topology.flow_degree(node) > 0 && air_lines::actuators(drawing, node).is_empty();
    if is_signaled || has_line() {
        return true;
    }
    is_transmitter(drawing, node)
}

/// Returns whether an instrument senses or transmits, by its class or by a letter of its tag.
pub(crate) fn is_transmitter(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let letters = || drawing.tag(node).and_then(Tag::parse_letters).map(|tag| tag.split().1).unwrap_or_default();
    let has_letter = || letters().iter().any(|letter| matches!(letter, 'T' | 'E'));
    // `MFT` is the master fuel trip of a boiler if its class is that of logic.
    let is_other = || is_hand_switch_by_class(drawing, node) || has_logic_class(drawing, node);
    is_sensor_by_class(drawing, node) || !is_other() && has_letter()
}

/// Returns whether the class of an instrument is that of the logic of a trip, whatever the letters of its tag.
fn has_logic_class(drawing: &Drawing<'_>, node: NodeId) -> bool {
    drawing.class_has_word(node, vocabulary::INTERLOCKS)
}

/// Returns whether an instrument votes on the signals of several sensors, by its class.
pub(crate) fn is_voter(drawing: &Drawing<'_>, node: NodeId) -> bool {
    drawing.class_has_word(node, vocabulary::VOTERS)
}

/// Returns whether an instrument senses, by its class.
pub(crate) fn is_sensor_by_class(drawing: &Drawing<'_>, node: NodeId) -> bool {
    drawing.class_has(node, vocabulary::SENSORS) || is_detector(drawing, node)
}
