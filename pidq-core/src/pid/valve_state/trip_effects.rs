//! Effects that a drawing states beside a signal of a trip or its logic: `OPEN`, `permissive`, `position feedback`.
//!
//! A signal to a valve that closes on a trip may also be a permissive, a command to open it or a report of its position. The
//! text beside it is then the only statement of what it does. So may a signal to a machine start it.

use super::fail_action::{FailAction, fail_action};
use super::phrases::clauses;
use super::texts;
use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NodeId};
use crate::graph::config::{MAX_CLASS, Names};
use crate::graph::drawing::Drawing;
use crate::graph::topology::{Direction, EdgeFilter, EdgeFlags};
use crate::graph::trip_words::EmergencyValve;
use crate::graph::vocabulary::{
    self, Limited, Motion, MotionText, any_limits, any_names_motion, has_any, names_motion,
};
use crate::pid::ChargeFn;
use crate::pid::instrument_class;
use crate::pid::loops::protection;
use crate::pid::stated_values::{stated_fields, values_of};
use crate::value::Value;

/// Words of what only allows something to be done.
const PERMISSIVES: &[&str] =
    &["enable", "enables", "freigabe", "inhibit", "inhibits", "perm", "permissive", "permissives", "permits"];

/// Words at a signal that has another purpose than a trip, as the only ones of its text beside [`COMMAND_WORDS`].
const OTHER_PURPOSES: &[&str] =
    &["alarm", "alarma", "alarme", "prüfung", "reset", "rückstellung", "réarmement", "rearme", "test"];

/// Words at a signal that add nothing to what it does.
const COMMAND_WORDS: &[&str] =
    &["befehl", "cmd", "command", "commande", "kommando", "mando", "orden", "ordre", "remote", "signal", "to", "valve"];

/// Words at a signal that reports what a valve does.
const REPORTS: &[&str] =
    &["fb", "feedback", "position", "recopie", "rm", "rückmeldung", "status", "stellungsmeldung", "terugmelding"];

/// Words that name an effect as the only ones of a clause.
const OPENING_CLAUSES: &[&str] = &["auf"];
const CLOSING_CLAUSES: &[&str] = &["zu", "closed"];

/// Words beside which a word of an effect is about something else: the contact of a switch, a loss of air.
const OTHER_SUBJECTS: &[&str] = &["circuit", "contact", "contacts", "drain", "fail", "fails", "kontakt"];

/// Names of fields in which a drawing states the effect of a signal or of its logic, in snake_case.
const EFFECT_FIELDS: &[&str] = &[
    "action",
    "command",
    "effect",
    "function",
    "interlock_type",
    "purpose",
    "signal_function",
    "signal_type",
    "trip_action",
    "type",
];

/// Returns whether a text of a signal says that it only allows or starts something.
pub(super) fn names_permissive(text: &str) -> bool {
    has_word(text, PERMISSIVES) || states_start(text) || has_other_purpose(text)
}

/// Returns whether a text of a signal consists of words of another purpose than a trip.
fn has_other_purpose(text: &str) -> bool {
    let words = clauses(text).concat();
    let is_other = |word: &String| OTHER_PURPOSES.contains(&word.as_str());
    words.iter().any(is_other) && words.iter().all(|word| is_other(word) || COMMAND_WORDS.contains(&word.as_str()))
}

/// Returns whether a text says that something starts, and not that it stops.
fn states_start(text: &str) -> bool {
    let clauses = clauses(text);
    let starts = |clause: &Vec<String>| {
        has_any(clause, vocabulary::START_WORDS)
            && ![vocabulary::NO_START_WORDS, vocabulary::PHRASE_DENIALS].iter().any(|words| has_any(clause, words))
    };
    clauses.iter().any(starts) && !clauses.iter().any(|clause| has_any(clause, vocabulary::STOP_WORDS))
}

/// Returns whether a text beside a signal, or beside the logic that sends it, states another effect on one of some final
/// elements than the trip.
pub(crate) fn has_other_effect(
    drawing: &Drawing<'_>,
    [from, to]: [NodeId; 2],
    signal: Option<EdgeId>,
    final_elements: &[NodeId],
    charge: ChargeFn<'_>,
) -> Result<bool> {
    if starts_machine(drawing, from, signal, final_elements, charge)? {
        return Ok(true);
    }
    // A switch beside the logic starts or prevents the trip.
    let is_beside = instrument_class::senses(drawing, from)
        || instrument_class::senses_at_location(drawing, from)
        || instrument_class::is_hand_switch(drawing, from);
    if is_beside || final_elements.contains(&from) {
        return Ok(false);
    }
    let logic_texts: Vec<&str> = texts_of_logic(drawing, from).collect();
    let signal_texts: Vec<&str> = signal.into_iter().flat_map(|signal| texts_of_signal(drawing, signal)).collect();
    charge(1 + (logic_texts.len() + signal_texts.len()) as u64)?;
    let signals = Signals { drawing, ends: [from, to], read: signal };
    let says_close = || signal_texts.iter().any(|text| names_effect(text, Motion::Closes));
    if logic_texts.iter().chain(&signal_texts).any(|text| has_word(text, PERMISSIVES))
        || signal_texts.iter().any(|text| has_word(text, REPORTS)) && !says_close()
    {
        let expected = match final_elements.contains(&to) {
            true => expected_effect(drawing, to, charge)?.unwrap_or(Motion::Closes),
            false => Motion::Closes,
        };
        return Ok(!signals.have_another_for(expected, charge)?);
    }
    let ends = if final_elements.contains(&to) { std::slice::from_ref(&to) } else { final_elements };
    for valve in ends.iter().copied() {
        let mut stated = signal_texts.iter().filter_map(|text| effect_in(text));
        let of_logic = || {
            let is_about = |text: &&&str| names_item(drawing, text, valve) || !names_object(text);
            logic_texts.iter().filter(is_about).find_map(|text| effect_in(text))
        };
        let Some(effect) = stated.next().or_else(of_logic) else { continue };
        let Some(expected) = expected_effect(drawing, valve, charge)?.filter(|expected| *expected != effect) else {
            continue;
        };
        if !signals.have_another_for(expected, charge)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns whether all of some final elements are machines, and a text of an instrument of a trip or of its signal says that it
/// starts them. A switch that starts them by hand is beside the trip.
fn starts_machine(
    drawing: &Drawing<'_>,
    from: NodeId,
    signal: Option<EdgeId>,
    final_elements: &[NodeId],
    charge: ChargeFn<'_>,
) -> Result<bool> {
    let is_machine = |node: &NodeId| instrument_class::is_driven(drawing, *node);
    let is_beside = final_elements.contains(&from) || instrument_class::is_hand_switch(drawing, from);
    if is_beside || final_elements.is_empty() || !final_elements.iter().all(is_machine) {
        return Ok(false);
    }
    let stated: Vec<&str> = texts_of_logic(drawing, from)
        .chain(signal.into_iter().flat_map(|signal| texts_of_signal(drawing, signal)))
        .collect();
    charge(1 + stated.len() as u64)?;
    let stops = |text: &&str| has_word(text, vocabulary::STOP_WORDS);
    Ok(stated.iter().any(|text| states_start(text)) && !stated.iter().any(stops))
}

/// Returns what a trip has to do to a valve: that of a shutdown valve or of one that fails closed is to close it.
fn expected_effect(drawing: &Drawing<'_>, valve: NodeId, charge: ChargeFn<'_>) -> Result<Option<Motion>> {
    if !drawing.topology.roles[valve as usize].closes() {
        return Ok(None);
    }
    let fails = fail_action(drawing, valve, charge)?;
    let is_blowdown = matches!(protection::emergency_valve(drawing, valve), Some((EmergencyValve::Blowdown, _)));
    Ok(match fails {
        Some(FailAction::Opens) => Some(Motion::Opens),
        _ if is_blowdown => Some(Motion::Opens),
        Some(FailAction::Closes) => Some(Motion::Closes),
        _ => protection::is_shutdown_valve(drawing, valve).then_some(Motion::Closes),
    })
}

/// Signals with the same ends: an on-off valve may have one for each direction.
struct Signals<'p, 'a> {
    drawing: &'p Drawing<'a>,
    ends: [NodeId; 2],
    /// The one whose texts are read; `None` for the texts of the logic.
    read: Option<EdgeId>,
}

impl Signals<'_, '_> {
    /// Returns whether another one is stated to have an effect.
    fn have_another_for(&self, effect: Motion, charge: ChargeFn<'_>) -> Result<bool> {
        let topology = &self.drawing.topology;
        let [from, to] = self.ends;
        let table = topology.table(EdgeFilter::All, Direction::Down);
        charge(1 + table.degree(from) as u64)?;
        let is_for_effect = |edge: EdgeId| {
            topology.edge_flags[edge as usize].contains(EdgeFlags::SIGNAL)
                && texts_of_signal(self.drawing, edge).any(|text| effect_in(text) == Some(effect))
        };
        Ok(self.read.is_some()
            && table.arcs(from).any(|(next, edge)| next == to && Some(edge) != self.read && is_for_effect(edge)))
    }
}

/// Returns the effect that a text states; `None` if it states none or both.
fn effect_in(text: &str) -> Option<Motion> {
    let has = |effect: Motion, whole: &[&str]| {
        clauses(text).iter().any(|clause| {
            let is_whole = match clause.as_slice() {
                [word] => whole.contains(&word.as_str()),
                [word, next] => whole.contains(&word.as_str()) && COMMAND_WORDS.contains(&next.as_str()),
                _ => false,
            };
            is_whole || is_effect(clause, effect)
        })
    };
    match (has(Motion::Opens, OPENING_CLAUSES), has(Motion::Closes, CLOSING_CLAUSES)) {
        (true, false) => Some(Motion::Opens),
        (false, true) => Some(Motion::Closes),
        _ => None,
    }
}

/// Returns whether a clause states an effect: not with a condition, and not of something else.
fn is_effect(clause: &[String], effect: Motion) -> bool {
    any_names_motion(clause, effect, MotionText::TripSignal)
        && !has_any(clause, OTHER_SUBJECTS)
        && !any_limits(clause, Limited::TripEffect)
}

/// Returns whether a text has a word of an effect, with a condition or without one.
fn names_effect(text: &str, effect: Motion) -> bool {
    clauses(text).iter().any(|clause| any_names_motion(clause, effect, MotionText::TripSignal))
}

fn has_word(text: &str, words: &[&str]) -> bool {
    clauses(text).iter().any(|clause| has_any(clause, words))
}

/// Returns whether a text has letters and a number, as of a tag, behind a word of an effect: `opens BDV-2`.
fn names_object(text: &str) -> bool {
    let is_effect = |word: &String| {
        [Motion::Opens, Motion::Closes].into_iter().any(|effect| names_motion(word, effect, MotionText::TripSignal))
    };
    let is_number = |word: &String| word.starts_with(|c: char| c.is_ascii_digit());
    clauses(text).iter().any(|clause| clause.windows(3).any(|words| is_effect(&words[0]) && is_number(&words[2])))
}

/// Returns whether a text has the tag of an item.
fn names_item(drawing: &Drawing<'_>, text: &str, item: NodeId) -> bool {
    let Some(tag) = drawing.tag(item).filter(|tag| tag.len() <= MAX_CLASS) else { return false };
    let tag = clauses(tag).concat();
    !tag.is_empty() && clauses(text).iter().any(|clause| clause.windows(tag.len()).any(|words| *words == *tag))
}

/// Returns the texts of the logic of a trip that may state what it does.
fn texts_of_logic<'a>(drawing: &Drawing<'a>, node: NodeId) -> impl Iterator<Item = &'a str> {
    let names = [Names::Description, Names::Remarks, Names::Service, Names::Class];
    let stated = names.into_iter().flat_map(move |names| texts(drawing, node, names).collect::<Vec<_>>());
    stated.chain(effect_fields(drawing.node(node)))
}

fn texts_of_signal<'a>(drawing: &Drawing<'a>, signal: EdgeId) -> impl Iterator<Item = &'a str> {
    let edge = drawing.edge(signal);
    let names = [Names::Description, Names::Remarks];
    let stated = names.into_iter().flat_map(move |names| values_of(drawing, edge, names).collect::<Vec<_>>());
    stated.filter_map(Value::as_str).chain(effect_fields(edge)).filter(|text| text.len() <= MAX_CLASS)
}

/// Returns the texts of an item or a signal in fields for its effect.
fn effect_fields<'a>(holder: Value<'a>) -> impl Iterator<Item = &'a str> {
    let fields = holder.as_object().into_iter().flat_map(stated_fields);
    let of_effect = fields.filter(|(name, _)| vocabulary::contains_plain(EFFECT_FIELDS, name.trim()));
    of_effect.filter_map(|(_, stated)| stated.value.as_str())
}
