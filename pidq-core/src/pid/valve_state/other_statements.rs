//! Positions that a drawing states beside the field for them: a label such as `OPEN`, a remark such as `swung open`, a mark
//! such as `closed: false`. They may contradict the field.

use super::phrases::clauses;
use super::{all_texts, texts, truth};
use crate::graph::adjacency::NodeId;
use crate::graph::config::{MAX_CLASS, Names};
use crate::graph::drawing::Drawing;
use crate::graph::snake_case::snake_case;
use crate::graph::vocabulary::{Limited, any_limits, has_any};
use crate::pid::stated_values::stated_fields;

/// Marks of an open and of a closed position, in snake_case.
const OPEN_MARKS: &[&str] = &["open", "is_open", "opened", "normally_open", "locked_open"];
const CLOSED_MARKS: &[&str] = &["closed", "is_closed", "normally_closed", "locked_closed"];

/// Fields with a position beside the names of the topology, in snake_case.
const POSITION_FIELDS: &[&str] =
    &["valve_status", "valve_state", "blind_status", "blind_state", "open_close_status", "operating_position"];

/// Words for an open position of a valve or a blind, and for a spool that is there.
const OPEN_WORDS: &[&str] = &["open", "opened", "spacer"];
const INSTALLED_WORDS: &[&str] = &["installed", "inserted", "in"];

/// Words for a spool that is taken out and put in again.
const REMOVABLE_WORDS: &[&str] = &["removable", "dropout", "demountable", "detachable"];

/// Words beside which a position is that on a failure, or of another item.
const OTHER_SUBJECTS: &[&str] = &["blank", "fail", "fails", "spade", "spring"];

/// Returns whether a text, a mark or another field of an item says that it is open.
pub(super) fn say_open(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let is_open_word = |text: &str| {
        [Names::Open, Names::LockedOpen].iter().any(|names| drawing.topology.config.is_spelling(*names, text))
    };
    let says_open = |text: &str| is_open_word(text) || has_word(text, OPEN_WORDS);
    let is_open_field = |name: &str, value: crate::value::Value<'_>| {
        let name = snake_case(name.trim());
        let is_one_of = |known: &[&str]| known.contains(&name.as_str());
        is_one_of(OPEN_MARKS) && truth(value) == Some(true)
            || is_one_of(CLOSED_MARKS) && truth(value) == Some(false)
            || is_one_of(POSITION_FIELDS) && value.as_str().is_some_and(says_open)
    };
    let mut fields = drawing.node(node).as_object().into_iter().flat_map(stated_fields);
    all_texts(drawing, node).any(|(text, _)| says_open(text))
        || texts(drawing, node, Names::Status).any(says_open)
        || fields.any(|(name, stated)| name.len() <= MAX_CLASS && is_open_field(name, stated.value))
}

/// Returns whether a text or the status of an item is nothing but a closed position: `NC`, `normally closed`.
pub(super) fn consist_of_closed(drawing: &Drawing<'_>, node: NodeId) -> bool {
    consist_of(drawing, node, [Names::Closed, Names::LockedClosed])
}

/// Returns the same for an open position: `NO`, `LO`, `normally open`.
pub(super) fn consist_of_open(drawing: &Drawing<'_>, node: NodeId) -> bool {
    consist_of(drawing, node, [Names::Open, Names::LockedOpen])
}

fn consist_of(drawing: &Drawing<'_>, node: NodeId, positions: [Names; 2]) -> bool {
    let is_position =
        |text: &str| positions.iter().any(|names| drawing.topology.config.is_spelling(*names, text.trim()));
    all_texts(drawing, node).any(|(text, _)| is_position(text)) || texts(drawing, node, Names::Status).any(is_position)
}

/// Returns whether a text of a spool says that it is in its place.
pub(super) fn say_installed(drawing: &Drawing<'_>, node: NodeId) -> bool {
    all_texts(drawing, node).any(|(text, _)| has_word(text, INSTALLED_WORDS))
}

/// Returns whether a text of a spool calls it removable, by one of the words for it.
pub(super) fn say_removable(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let is_removable =
        |clause: &Vec<String>| has_any(clause, REMOVABLE_WORDS) && !has_any(clause, &["no", "non", "not"]);
    all_texts(drawing, node).any(|(text, _)| clauses(text).iter().any(is_removable))
}

/// Returns whether a clause of a text has one of some words, and is not about another time, a condition or something else: not
/// `do not open before startup`.
fn has_word(text: &str, words: &[&str]) -> bool {
    let is_limited = |clause: &[String]| has_any(clause, OTHER_SUBJECTS) || any_limits(clause, Limited::OtherPosition);
    clauses(text).iter().any(|clause| has_any(clause, words) && !is_limited(clause))
}
