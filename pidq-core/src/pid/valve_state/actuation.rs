//! Actuation of valves of the class of a hand valve: stated by fields, by signals, by parts, or by the tag.

use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NodeId};
use crate::graph::config::{MAX_CLASS, Names};
use crate::graph::drawing::Drawing;
use crate::graph::roles::{self, Role, TagLetters};
use crate::graph::snake_case::snake_case;
use crate::graph::topology::{Direction, EdgeFilter, EdgeFlags};
use crate::graph::vocabulary;
use crate::pid::ChargeFn;
use crate::pid::instrument_class::{self, LoopFunction};
use crate::pid::tag::Tag;
use crate::pid::valve_state::{is_stated_as_actuated, texts};

/// Returns whether a valve has an actuator: its fields say so, an instrument sends it a signal, or an actuator or a
/// solenoid belongs to it or is located on it.
pub(crate) fn is_actuated(drawing: &Drawing<'_>, node: NodeId, charge: ChargeFn<'_>) -> Result<bool> {
    let topology = &drawing.topology;
    let table = topology.table(EdgeFilter::All, Direction::Both);
    charge(1 + table.degree(node) as u64)?;
    let has =
        |edge: EdgeId, flags: &[EdgeFlags]| flags.iter().any(|flag| topology.edge_flags[edge as usize].contains(*flag));
    let is_acting = |(from, edge): (NodeId, EdgeId)| {
        topology.roles[from as usize] == Role::Instrument
            && has(edge, &[EdgeFlags::SIGNAL])
            && !has(edge, &[EdgeFlags::ZONE])
            && instrument_class::loop_function(drawing, from) != LoopFunction::Measures
    };
    let is_connected_drive = |(other, edge): (NodeId, EdgeId)| {
        has(edge, &[EdgeFlags::PART, EdgeFlags::MEMBER, EdgeFlags::MEMBER_REVERSED, EdgeFlags::ZONE])
            && is_drive(drawing, other)
    };
    Ok(is_stated_as_actuated(drawing, node)
        || topology.table(EdgeFilter::All, Direction::Up).arcs(node).any(is_acting)
        || table.arcs(node).any(is_connected_drive)
        || topology.field_members(node).iter().any(|part| is_drive(drawing, *part)))
}

/// Returns whether an item moves a valve other than by hand, by its class.
fn is_drive(drawing: &Drawing<'_>, node: NodeId) -> bool {
    drawing.class_has(node, vocabulary::VALVE_DRIVES) && !drawing.class_has(node, vocabulary::HAND_DRIVES)
}

/// Returns the roles of valves that are all that a description of an item says: `shutdown valve`, or the ports of one, such as
/// `L-port`. One that names another valve too, such as `bypass of control valve`, is about the purpose.
pub(crate) fn described_roles(drawing: &Drawing<'_>, node: NodeId) -> impl Iterator<Item = Role> {
    let config = &drawing.topology.config;
    let described = texts(drawing, node, Names::Description).filter(|text| text.len() <= MAX_CLASS);
    described.map(|text| snake_case(text.trim())).filter(|text| is_about_item(text)).filter_map(|text| {
        match text.ends_with("_valve") {
            true => config.role_of(&text),
            false => config.role_of_valve(&text).filter(|role| *role == Role::MultiWay),
        }
    })
}

/// Returns whether a description in snake_case is short and names no purpose.
fn is_about_item(text: &str) -> bool {
    const MAX_WORDS: usize = 4;
    text.split('_').count() <= MAX_WORDS && !text.split('_').any(|word| vocabulary::PURPOSE_WORDS.contains(&word))
}

/// Returns whether a text that describes a valve or its operator, or another class of it, names a drive.
pub(super) fn is_described_as_actuated(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let has = |text: &str, parts: &[&str]| {
        let text = snake_case(text);
        parts.iter().any(|part| text.contains(part))
    };
    let names_drive = |text: &str| has(text, vocabulary::VALVE_DRIVES);
    let names_operator = |text: &str| has(text, vocabulary::OPERATORS) || text.trim().eq_ignore_ascii_case("air");
    let short = |names: Names| texts(drawing, node, names).filter(|text| text.len() <= MAX_CLASS);
    short(Names::Description).chain(short(Names::ComponentName)).chain(short(Names::Operator)).any(names_drive)
        || short(Names::Operator).any(names_operator)
        || drawing.class_texts(node).any(|class| drawing.topology.config.role_of_valve(class) == Some(Role::Control))
        || described_roles(drawing, node).any(|role| role == Role::Control)
}

/// Returns what the letters of the tag of a valve say about it: those of its loop, or else any before a number, as in
/// `ESD-V-1` and `U2-FV-101`.
pub(crate) fn tag_letters(drawing: &Drawing<'_>, node: NodeId) -> TagLetters {
    let Some(text) = drawing.tag(node) else { return TagLetters::HandValve };
    let by_loop = |tag: Tag| roles::tag_letters_behind(&tag.prefix, &tag.letters);
    match Tag::parse_letters(text).map_or(TagLetters::HandValve, by_loop) {
        TagLetters::HandValve if roles::names_check_valve(text) => TagLetters::SelfActing,
        TagLetters::HandValve if has_letters_of_actuator(text) => TagLetters::Actuated,
        letters => letters,
    }
}

/// Returns whether some letters before a number of a tag, with the word before them, are those of a valve with an
/// actuator.
fn has_letters_of_actuator(text: &str) -> bool {
    let is_separator = |c: char| !c.is_ascii_alphabetic();
    let mut at = 0;
    for word in text.split_inclusive(is_separator).filter(|_| text.len() <= MAX_CLASS) {
        let letters = word.trim_end_matches(is_separator);
        let rest = text[at + letters.len()..].trim_start_matches(|c: char| !c.is_alphanumeric());
        if rest.starts_with(|c: char| c.is_ascii_digit())
            && roles::tag_letters_behind(&text[..at], &letters.to_ascii_uppercase()) == TagLetters::Actuated
        {
            return true;
        }
        at += word.len();
    }
    false
}
