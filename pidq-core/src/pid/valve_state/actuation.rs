//! Actuation of valves of the class of a hand valve: stated by fields, by signals, by parts, or by the tag.

use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NodeId};
use crate::graph::config::{MAX_CLASS, Names};
use crate::graph::drawing::Drawing;
use crate::graph::node_memo::Property;
use crate::graph::roles::{self, Role, TagLetters};
use crate::graph::snake_case::snake_case;
use crate::graph::topology::{Direction, EdgeFilter, EdgeFlags};
use crate::graph::vocabulary;
use crate::pid::ChargeFn;
use crate::pid::instrument_class::{self, LoopFunction};
use crate::pid::loops::protection;
use crate::pid::stated_values::values;
use crate::pid::tag::Tag;
use crate::pid::valve_state::{is_stated_as_actuated, phrases, texts, truth};
use crate::value::Value;

pub(crate) use super::actuators::parts;
use super::actuators::{is_by_edge, is_drive, is_fluid_signal, with_tag_of};
use super::named_drives::named_drives;

/// Words in the classes of items between a controller and an actuator. A key interlock is none: it is mechanical.
const CONVERTERS: &[&str] = &["converter", "relay", "logic_solver"];

/// Parts of the classes of fittings in the air or oil lines of actuators.
const AIR_FITTINGS: &[&str] = &["quick_exhaust", "filter_regulator", "fusible_plug", "power_unit"];

/// Returns whether a valve has an actuator: its fields say so, an instrument sends it a signal, an air line that is drawn as a
/// signal leads to it, an actuator or a solenoid is connected with it or names it, or it is the final element of a loop that controls or
/// trips.
pub(crate) fn is_actuated(drawing: &Drawing<'_>, node: NodeId, charge: ChargeFn<'_>) -> Result<bool> {
    let topology = &drawing.topology;
    let table = topology.table(EdgeFilter::All, Direction::Both);
    charge(1 + table.degree(node) as u64)?;
    let has = |edge: EdgeId, flag: EdgeFlags| topology.edge_flags[edge as usize].contains(flag);
    let is_acting = |(from, edge): (NodeId, EdgeId)| {
        has(edge, EdgeFlags::SIGNAL) && !has(edge, EdgeFlags::ZONE) && sends_to_valves(drawing, from)
    };
    Ok(is_stated_as_actuated(drawing, node)
        || topology.table(EdgeFilter::All, Direction::Up).arcs(node).any(is_acting)
        || table.arcs(node).any(|arc| is_by_edge(drawing, arc) || is_fluid_signal(drawing, arc.1))
        || topology.field_members(node).iter().any(|part| is_drive(drawing, *part))
        || topology.field_group(node).is_some_and(|group| is_drive(drawing, group))
        || named_drives(drawing, node).next().is_some()
        || !with_tag_of(drawing, node, charge)?.is_empty()
        || is_in_acting_loop(drawing, node, charge)?)
}

/// Returns whether a signal from an item to a valve moves it: the item is an instrument that does not only measure, or its
/// class is that of a controller, a converter or a part of the air supply of an actuator.
fn sends_to_valves(drawing: &Drawing<'_>, from: NodeId) -> bool {
    drawing.topology.roles[from as usize] == Role::Instrument
        && instrument_class::loop_function(drawing, from) != LoopFunction::Measures
        || drawing.class_has_word(from, vocabulary::CONTROLLERS)
        || drawing.class_has_word(from, CONVERTERS)
        || drawing.class_has(from, AIR_FITTINGS)
}

/// Returns whether a field of a valve states that it is operated by hand.
pub(crate) fn says_manual(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let says_hand = |names: Names| {
        let mut stated = values(drawing, node, names).peekable();
        stated.peek().is_some() && stated.all(super::is_by_hand)
    };
    let is_not_actuated = |value: Value<'_>| truth(value) == Some(false);
    says_hand(Names::Operation)
        || says_hand(Names::Operator)
        || values(drawing, node, Names::Actuated).any(is_not_actuated)
}

/// Returns whether a valve is a member of a loop that controls or trips: what closes a line there is a final element.
fn is_in_acting_loop(drawing: &Drawing<'_>, node: NodeId, charge: ChargeFn<'_>) -> Result<bool> {
    for group in connected_by_membership(drawing, node) {
        if !drawing.has_type(group, Names::LoopType) {
            continue;
        }
        let topology = &drawing.topology;
        let members: Vec<NodeId> =
            connected_by_membership(drawing, group).chain(topology.field_members(group).iter().copied()).collect();
        charge(1 + topology.table(EdgeFilter::All, Direction::Both).degree(group) as u64 + members.len() as u64)?;
        for item in members.into_iter().chain([group]) {
            let is_instrument = topology.roles[item as usize] == Role::Instrument;
            let acts = match instrument_class::loop_function(drawing, item) {
                LoopFunction::Acts => item == group || is_instrument,
                // A loop node without letters says nothing.
                LoopFunction::Unknown => is_instrument,
                LoopFunction::Measures => false,
            };
            if acts || (is_instrument || item == group) && protection::of_node(drawing, item, charge)?.is_some() {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Returns the groups and the members of a node by edges, and its group by a field.
fn connected_by_membership<'d>(drawing: &'d Drawing<'_>, node: NodeId) -> impl Iterator<Item = NodeId> + 'd {
    let topology = &drawing.topology;
    let is_member = |edge: EdgeId| {
        let flags = topology.edge_flags[edge as usize];
        [EdgeFlags::PART, EdgeFlags::MEMBER, EdgeFlags::MEMBER_REVERSED].iter().any(|flag| flags.contains(*flag))
    };
    let arcs = topology.table(EdgeFilter::All, Direction::Both).arcs(node);
    arcs.filter(move |(_, edge)| is_member(*edge)).map(|(other, _)| other).chain(topology.field_group(node))
}

/// Returns the roles of valves that a description of an item names: `shutdown valve, 4"`, `MOV`, or the ports of one, such
/// as `L-port`. A clause that names another valve too, such as `bypass of control valve`, is about the purpose.
pub(crate) fn described_roles(drawing: &Drawing<'_>, node: NodeId) -> impl Iterator<Item = Role> {
    let config = &drawing.topology.config;
    texts(drawing, node, Names::Description).flat_map(phrases::names_in).filter_map(|name| {
        match name.ends_with("_valve") {
            true => config.role_of(&name),
            false if vocabulary::ACTUATED_VALVE_CODES.contains(&name.as_str()) => Some(Role::Control),
            false => config.role_of_valve(&name).filter(|role| *role == Role::MultiWay),
        }
    })
}

/// Returns whether a text that describes a valve or its operator, or another class of it, names a drive.
pub(super) fn is_described_as_actuated(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let has = |text: &str, parts: &[&str]| {
        let text = snake_case(text);
        parts.iter().any(|part| text.contains(part))
    };
    let names_drive = |text: &str| {
        has(text, vocabulary::VALVE_DRIVES) || has(text, vocabulary::ACTUATED_VALVE_WORDS) || is_mark(text)
    };
    let is_code = |text: &str| vocabulary::OPERATOR_CODES.iter().any(|code| text.trim().eq_ignore_ascii_case(code));
    let names_operator = |text: &str| has(text, vocabulary::OPERATORS) || is_code(text);
    let short = |names: Names| texts(drawing, node, names).filter(|text| text.len() <= MAX_CLASS);
    short(Names::Description).chain(short(Names::ComponentName)).chain(short(Names::Operator)).any(names_drive)
        || short(Names::Operator).any(names_operator)
        || drawing.class_texts(node).any(|class| {
            drawing.topology.config.role_of_valve(class) == Some(Role::Control)
                || has(class, vocabulary::ACTUATED_VALVE_WORDS)
        })
        || described_roles(drawing, node).any(|role| role == Role::Control)
        || remarks_name_drive(drawing, node)
        || texts(drawing, node, Names::Remarks).any(is_mark)
}

/// Returns whether a text is nothing but marks beside a symbol, one of them of a position on failure, or the mark of a
/// drive: `FC`, `FC, TSO`, `F.C.`, `M`.
fn is_mark(text: &str) -> bool {
    const MAX_MARKS: usize = 16;
    if text.len() > MAX_MARKS {
        return false;
    }
    let text = text.trim().replace('.', "").to_lowercase();
    let words = || text.split([' ', ',', ';', '(', ')', '\n']).filter(|word| !word.is_empty());
    let is_known =
        |word: &str| [vocabulary::FAIL_MARKS, vocabulary::POSITION_MARKS].iter().any(|marks| marks.contains(&word));
    vocabulary::DRIVE_MARKS.contains(&text.as_str())
        || words().all(is_known) && words().any(|word| vocabulary::FAIL_MARKS.contains(&word))
}

/// Returns whether a remark has a clause that names a drive or a valve with one, and nothing else.
fn remarks_name_drive(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let config = &drawing.topology.config;
    let names_drive = |name: String| {
        let is_code = vocabulary::ACTUATED_VALVE_CODES.contains(&name.as_str());
        let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
        is_code
            || has(vocabulary::VALVE_DRIVES)
            || has(vocabulary::ACTUATED_VALVE_WORDS)
            || name.ends_with("_valve") && config.role_of(&name) == Some(Role::Control)
    };
    let remarks = texts(drawing, node, Names::Remarks).filter(|text| text.len() <= MAX_CLASS);
    remarks.flat_map(phrases::names_in).any(names_drive)
}

/// Returns what the letters of the tag of a valve say about it: those of its loop, or else any before a number, as in
/// `ESD-V-1` and `U2-FV-101`.
pub(crate) fn tag_letters(drawing: &Drawing<'_>, node: NodeId) -> TagLetters {
    const ALL: [TagLetters; 4] =
        [TagLetters::HandValve, TagLetters::Actuated, TagLetters::SelfActing, TagLetters::Ambiguous];
    let read = || read_tag_letters(drawing, node);
    drawing.topology.memos.one_of_or_compute(Property::TagLetters, node, &ALL, read)
}

fn read_tag_letters(drawing: &Drawing<'_>, node: NodeId) -> TagLetters {
    let Some(text) = drawing.tag(node) else { return TagLetters::HandValve };
    let has_letters =
        |known: &[&str]| Tag::parse_letters(text).is_some_and(|tag| known.contains(&tag.letters.as_str()));
    let mut own_letters = vocabulary::HAND_VALVE_TAGS.iter();
    let is_called =
        |words: &[&str]| drawing.class_has_word(node, words) || is_described_as_hand_valve(drawing, node, words);
    if own_letters.any(|(words, letters)| has_letters(letters) && is_called(words)) {
        return TagLetters::HandValve;
    }
    let by_loop = |tag: Tag| roles::tag_letters_behind(&tag.prefix, &tag.letters);
    match Tag::parse_letters(text).map_or(TagLetters::HandValve, by_loop) {
        TagLetters::HandValve if roles::names_self_acting_valve(text) => TagLetters::SelfActing,
        TagLetters::HandValve if has_letters_of_actuator(text) => TagLetters::Actuated,
        letters => letters,
    }
}

/// Returns whether a description calls a valve one of the hand valves of some words: `Lower master valve, manual`. An upper
/// master valve and a production wing valve often have an actuator.
fn is_described_as_hand_valve(drawing: &Drawing<'_>, node: NodeId, words: &[&str]) -> bool {
    texts(drawing, node, Names::Description).map(snake_case).any(|text| {
        let has = |known: &[&str]| known.iter().any(|word| format!("_{text}_").contains(&format!("_{word}_")));
        has(words) && has(&["valve"]) && (has(&["manual", "hand"]) || !has(&["upper", "production"]))
    })
}

/// Returns whether a text stands for a number that is not given yet: `-XXX`, `-?`, ` ###`.
fn is_placeholder(text: &str) -> bool {
    let number = text.trim_start_matches(['-', ' ', '_', '.', '/']);
    !number.is_empty() && number.len() < text.len() && number.chars().all(|c| matches!(c, 'X' | 'x' | '?' | '#' | '*'))
}

/// Returns whether the rest of a tag is the letter of a train or the tag of equipment in place of a number: `-A`, `-A01`,
/// `-LP-1`, as in `XV-R1`. `-HV-1` is a hand valve.
fn is_train_or_equipment_number(text: &str) -> bool {
    let is_separator = |c: char| !c.is_ascii_alphanumeric();
    let code = text.trim_start_matches(is_separator);
    let rest = code.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let letters = &code[..code.len() - rest.len()];
    code.len() < text.len()
        && (letters.len() == 1 || letters.len() == 2 && !letters.ends_with(['V', 'v']))
        && (rest.is_empty() || rest.trim_start_matches(is_separator).starts_with(|c: char| c.is_ascii_digit()))
}

/// Returns whether a tag ends with letters behind its number: `101-FV`.
fn is_behind_number(before: &str, behind: &str) -> bool {
    let number = before.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
    behind.is_empty() && number.len() < before.len() && number.ends_with(|c: char| c.is_ascii_digit())
}

/// Returns whether some letters before a number of a tag, with the word before them, are those of a valve with an
/// actuator.
fn has_letters_of_actuator(text: &str) -> bool {
    let is_separator = |c: char| !c.is_ascii_alphabetic();
    let mut at = 0;
    for word in text.split_inclusive(is_separator).filter(|_| text.len() <= MAX_CLASS) {
        let letters = word.trim_end_matches(is_separator);
        let rest = &text[at + letters.len()..];
        let is_numbered =
            rest.trim_start_matches(|c: char| !c.is_alphanumeric()).starts_with(|c: char| c.is_ascii_digit());
        if (is_numbered
            || is_placeholder(rest)
            || is_train_or_equipment_number(rest)
            || is_behind_number(&text[..at], rest))
            && roles::tag_letters_behind(&text[..at], &letters.to_ascii_uppercase()) == TagLetters::Actuated
        {
            return true;
        }
        at += word.len();
    }
    false
}
