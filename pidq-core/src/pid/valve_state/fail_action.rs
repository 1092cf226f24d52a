//! Fail position of a valve, as the drawing states it: `FO`, `air to close`, `fail last`.

use super::actuators::actuators;
use super::phrases::clauses;
use super::{all_texts, states, texts};
use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::config::{MAX_CLASS, Names};
use crate::graph::drawing::Drawing;
use crate::graph::snake_case::snake_case;
use crate::graph::vocabulary::{self, has_any};
use crate::pid::ChargeFn;
use crate::value::Value;

/// Longest code of a fail position.
const MAX_CODE: usize = 3;

/// Position that a valve takes when its actuator fails.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum FailAction {
    Closes,
    /// A text states one that is not understood.
    Unknown,
    /// It stays where it is, and may drift.
    Stays,
    Opens,
}

/// Returns the fail positions that the drawing states for a valve: at the valve, and at its actuators, of which they are an
/// attribute in DEXPI. Those of a solenoid valve or a positioner are their own.
pub(crate) fn fail_actions(drawing: &Drawing<'_>, node: NodeId, charge: ChargeFn<'_>) -> Result<Vec<FailAction>> {
    let mut found: Vec<FailAction> = texts(drawing, node, Names::FailAction).filter_map(of_text).collect();
    for actuator in holders(drawing, node, charge)? {
        found.extend(texts(drawing, actuator, Names::FailAction).filter_map(of_text));
    }
    Ok(found)
}

/// Returns the stated fail position of a valve; of several ones that which keeps it from closing. `None` if the drawing
/// states none.
pub(crate) fn fail_action(drawing: &Drawing<'_>, node: NodeId, charge: ChargeFn<'_>) -> Result<Option<FailAction>> {
    Ok(fail_actions(drawing, node, charge)?.into_iter().max())
}

/// Returns whether a valve may close when its actuator fails: the drawing does not state that it opens or stays.
pub(crate) fn may_fail_closed(drawing: &Drawing<'_>, node: NodeId, charge: ChargeFn<'_>) -> Result<bool> {
    let lowest = fail_actions(drawing, node, charge)?.into_iter().min();
    Ok(lowest.is_none_or(|action| action < FailAction::Stays))
}

/// Returns the value for the fail position of a valve as drawn, at the valve or at an actuator of it.
pub(crate) fn stated<'a>(drawing: &Drawing<'a>, node: NodeId, charge: ChargeFn<'_>) -> Result<Option<Value<'a>>> {
    let of = |item: NodeId| {
        let field = drawing.node_field(item, Names::FailAction);
        field.or_else(|| states(drawing, item, Names::FailAction).find(|value| value.as_str().is_some_and(is_filled)))
    };
    if let Some(value) = of(node) {
        return Ok(Some(value));
    }
    Ok(holders(drawing, node, charge)?.into_iter().find_map(of))
}

/// Returns whether a text is more than spaces.
fn is_filled(text: &str) -> bool {
    !text.trim().is_empty()
}

/// Returns the mark of the fail position in a text, as in ISA-5.1: `FO`, `FC`, `FL` for the last position, `FI` for an
/// indeterminate one; `None` if it states none that is understood.
pub fn fail_mark(text: &str) -> Option<&'static str> {
    const CODES: [&str; 4] = ["FO", "FC", "FL", "FI"];
    let code = CODES.into_iter().find(|code| code.eq_ignore_ascii_case(text.trim()));
    let is_indeterminate = || vocabulary::contains(vocabulary::FAIL_INDETERMINATE, text.trim());
    code.or_else(|| match of_text(text)? {
        FailAction::Opens => Some("FO"),
        FailAction::Closes => Some("FC"),
        FailAction::Stays => Some("FL"),
        FailAction::Unknown => is_indeterminate().then_some("FI"),
    })
}

/// Returns the actuators of a valve whose fail position is that of the valve.
fn holders(drawing: &Drawing<'_>, node: NodeId, charge: ChargeFn<'_>) -> Result<Vec<NodeId>> {
    if !drawing.topology.roles[node as usize].closes() {
        return Ok(Vec::new());
    }
    let mut found = actuators(drawing, node, charge)?;
    found.retain(|item| !drawing.class_has(*item, vocabulary::SOLENOIDS) && !drawing.class_has(*item, &["positioner"]));
    Ok(found)
}

/// Returns the fail position in a label or another text of a valve, such as `FO` or `fails open on loss of air`; of several
/// ones that which keeps it from closing. `None` if no text is about a failure.
pub(crate) fn fail_action_in_texts(drawing: &Drawing<'_>, node: NodeId) -> Option<FailAction> {
    all_texts(drawing, node).flat_map(|(text, _)| clauses(text)).filter_map(|words| of_clause(&words)).max()
}

/// Returns the fail position in a clause that is about a failure.
fn of_clause(words: &[String]) -> Option<FailAction> {
    let is_about_failure = has_any(words, vocabulary::FAILURES);
    let action = match words {
        [label] if vocabulary::FAIL_LABELS.contains(&label.as_str()) => of_text(label)?,
        words if is_about_failure => of_words(words),
        _ => return None,
    };
    (action != FailAction::Unknown).then_some(action)
}

/// Returns the fail position in a text; `None` if it states none, such as `n/a`.
fn of_text(text: &str) -> Option<FailAction> {
    let text = text.trim();
    if vocabulary::contains(vocabulary::NEGATIVES, text) {
        return None;
    }
    if text.len() > MAX_CLASS || text.contains('?') {
        return Some(FailAction::Unknown);
    }
    let is_mark = |c: char| matches!(c, '.' | '/' | '(' | ')');
    let plain = snake_case(text).replace(is_mark, "");
    // The letters of a code may be written apart: `F C`.
    let letters = plain.replace('_', "");
    let plain = if letters.chars().count() <= MAX_CODE { letters } else { plain };
    let is_in = |known: &[&str]| known.contains(&plain.as_str());
    Some(match () {
        () if is_in(vocabulary::FAIL_OPEN) => FailAction::Opens,
        () if is_in(vocabulary::FAIL_IN_PLACE) => FailAction::Stays,
        () if is_in(vocabulary::FAIL_CLOSED) => FailAction::Closes,
        () => of_words(&clauses(text).concat()),
    })
}

/// Returns the fail position in words such as `valve fails open on loss of air`: all that are not about the failure must
/// name the same one.
fn of_words(words: &[String]) -> FailAction {
    // Air moves the valve in `air to open`; in `loss of air` it is the cause.
    let is_moved_by_air = words.windows(2).any(|pair| pair[0] == "air" && pair[1] == "to")
        || has_any(words, &["air"]) && !has_any(words, vocabulary::AIR_FAILURES);
    if is_moved_by_air {
        return FailAction::Unknown;
    }
    let words = words.iter().map(String::as_str).filter(|word| !vocabulary::FAIL_WORDS.contains(word));
    let action_of = |word: &str| match word {
        word if vocabulary::FAIL_OPEN.contains(&word) => FailAction::Opens,
        word if vocabulary::FAIL_CLOSED.contains(&word) => FailAction::Closes,
        word if vocabulary::FAIL_IN_PLACE.contains(&word) => FailAction::Stays,
        _ => FailAction::Unknown,
    };
    let mut actions = words.map(action_of);
    let first = actions.next().unwrap_or(FailAction::Unknown);
    if actions.all(|other| other == first) { first } else { FailAction::Unknown }
}
