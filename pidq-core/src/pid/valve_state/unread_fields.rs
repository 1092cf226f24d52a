//! Fields of a valve, a blind or a safeguard under names in no list that say, by their name or their value, that it may not
//! close or act.
//!
//! Each company has columns of its own, such as `valve_condition`, `tight_shutoff` or `controlled_by`. What they mean in full
//! is not known; that one of them speaks against the valve is.

use super::phrases;
use super::{Installation, is_by_hand, is_installed, truth};
use crate::graph::adjacency::NodeId;
use crate::graph::config::{MAX_CLASS, Names, TopologyConfig};
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::snake_case::snake_case;
use crate::graph::vocabulary::{self, letters};
use crate::pid::stated_values::{plain_name, stated_fields};
use crate::value::Value;

/// Maximum number of words in a value that is a status: a longer text may be about anything.
const MAX_WORDS: usize = 4;

/// Returns whether a field under a name in no list may say that a valve or a blind is not there, or does not close by hand.
pub(super) fn has_unread_field(drawing: &Drawing<'_>, node: NodeId) -> bool {
    has_unlisted_field(drawing, node, |name, value| speaks_against(&drawing.topology.config, name, value))
        || has_doubtful_state(drawing, node, is_doubtful)
}

/// Returns whether a field for a state or a condition of an item has a doubtful word: `valve_status: suspended`. A blind and a
/// spool have a position there.
pub(super) fn has_doubtful_state(drawing: &Drawing<'_>, node: NodeId, is_doubtful_word: impl Fn(&str) -> bool) -> bool {
    let is_state_field = |name: &str| vocabulary::contains_plain(vocabulary::STATE_FIELDS, name.trim());
    let is_doubtful_state = |text: &str| {
        let is_short = text.len() <= MAX_CLASS && text.split_whitespace().count() <= MAX_WORDS;
        let is_read = |text: &str| {
            is_installed(&snake_case(text))
                || [vocabulary::NEGATIVES, vocabulary::EMPTY_TEXTS]
                    .iter()
                    .any(|known| vocabulary::contains(known, text))
        };
        let is_doubtful = || {
            phrases::has_word_outside(text, |word, _| is_doubtful_word(word))
                || phrases::installation_by_text(text) != Installation::Installed
        };
        is_short && !is_read(text.trim()) && is_doubtful()
    };
    let mut fields = drawing.node(node).as_object().into_iter().flat_map(stated_fields);
    drawing.topology.roles[node as usize] != Role::Blind
        && !drawing.is_spool(node)
        && fields.any(|(name, stated)| {
            let text = stated.value.as_str().filter(|_| name.len() <= MAX_CLASS);
            text.is_some_and(|text| is_doubtful_state(text) && is_state_field(name))
        })
}

/// Returns whether a word is a negation, a doubt, a condition or a state, or a participle in no list.
pub(super) fn is_doubtful(word: &str) -> bool {
    vocabulary::UNCERTAIN_WORDS.contains(&word)
        || word.len() > 4 && word.ends_with("ed") && !word.ends_with("eed") && !vocabulary::is_plain_participle(word)
}

/// Returns whether a field under a name in no list has a status of what is not there.
pub(super) fn has_field_of_absence(drawing: &Drawing<'_>, node: NodeId) -> bool {
    has_unlisted_text(drawing, node, |text| is_status_of_absence(&drawing.topology.config, text))
}

/// Returns whether a field under a name in no list has a short text that matches a condition.
pub(super) fn has_unlisted_text(drawing: &Drawing<'_>, node: NodeId, matches: impl Fn(&str) -> bool) -> bool {
    has_unlisted_field(drawing, node, |_, value| {
        value.as_str().is_some_and(|text| text.len() <= MAX_CLASS && matches(text))
    })
}

fn has_unlisted_field(drawing: &Drawing<'_>, node: NodeId, matches: impl Fn(&str, Value<'_>) -> bool) -> bool {
    let mut fields = drawing.node(node).as_object().into_iter().flat_map(stated_fields);
    fields.any(|(name, stated)| {
        name.len() <= MAX_CLASS && matches(name, stated.value) && !is_read(&drawing.topology.config, name)
    })
}

fn speaks_against(config: &TopologyConfig, name: &str, value: Value<'_>) -> bool {
    if value.as_str().is_some_and(|text| text.len() <= MAX_CLASS && says_absent_or_leaking(config, text)) {
        return true;
    }
    let name = plain_name(name);
    let has_any = |known: &[&str]| vocabulary::text_has_any(&name, known);
    let denies = || truth(value) == Some(false) || value.as_str().is_some_and(is_denial);
    has_any(vocabulary::HINDERING_FIELD_WORDS)
        && !has_any(vocabulary::HARMLESS_FIELD_WORDS)
        && !denies()
        && !is_by_hand(value)
        || has_any(vocabulary::CLOSING_FIELD_WORDS) && denies()
        || has_any(vocabulary::REFERENCES) && is_number(value)
}

/// Returns whether a short text is nothing but a status of what is not there, or says that a valve is not tight.
fn says_absent_or_leaking(config: &TopologyConfig, text: &str) -> bool {
    is_status_of_absence(config, text) || phrases::says_not_tight(text)
}

fn is_status_of_absence(config: &TopologyConfig, text: &str) -> bool {
    let is_short = || text.split_whitespace().count() <= MAX_WORDS;
    config.contains(Names::Removed, text.trim())
        || is_short() && phrases::installation_by_text(text) == Installation::NotInstalled
}

fn is_denial(text: &str) -> bool {
    let text = text.trim();
    let first = text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_lowercase();
    vocabulary::contains(vocabulary::NEGATIVES, text)
        || letters(text).eq(*b"na")
        || ["not", "nicht", "non", "kein", "no"].contains(&first.as_str())
}

/// Returns whether a value is a number, or a list of numbers: that of a note on the sheet.
fn is_number(value: Value<'_>) -> bool {
    let is_numeric = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || ", ;/".contains(c));
    let is_one =
        |value: Value<'_>| value.as_f64().is_some() || value.as_str().is_some_and(|text| is_numeric(text.trim()));
    match value.as_array() {
        Some(list) => !list.is_empty() && list.iter().all(is_one),
        None => is_one(value),
    }
}

/// Returns whether other rules read a field in full: its name is in a list of the topology, or states a type of valve. A
/// note that is nothing but a number, and an operator that is neither by hand nor a drive, are read by none.
fn is_read(config: &TopologyConfig, name: &str) -> bool {
    let in_part = ["remarks", "operator"];
    vocabulary::contains_plain(vocabulary::VALVE_TYPE_FIELDS, name.trim())
        || config.is_known_name(&plain_name(name)) && !in_part.iter().any(|list| config.contains_word(list, name))
}
