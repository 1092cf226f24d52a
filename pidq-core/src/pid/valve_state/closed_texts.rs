//! Statements that a valve is closed or locked, beside its position: labels such as `LC`, remarks, marks such as
//! `closed: true`.
//!
//! Tools export a position for every valve, often a default, and the letters beside the symbol are a text of their own.

use super::phrases::clauses;
use super::{texts, truth};
use crate::graph::adjacency::NodeId;
use crate::graph::config::{MAX_CLASS, Names};
use crate::graph::drawing::Drawing;
use crate::graph::vocabulary::{self, Limited, Motion, MotionText, any_limits, has_any, names_motion};
use crate::pid::stated_values::stated_fields;

/// Returns whether a text of a valve has a clause that is nothing but a word for closed, or a field of another name says so.
pub(crate) fn says_closed(drawing: &Drawing<'_>, valve: NodeId) -> bool {
    let names = [Names::Remarks, Names::Description];
    let says_so = |clause: &str| is_closed_word(drawing, clause) || is_closed_now(drawing, clause);
    let has_clause = |text: &str| text.split(is_end_of_clause).any(says_so);
    names.iter().any(|names| texts(drawing, valve, *names).any(has_clause)) || has_mark(drawing, valve)
}

/// Returns whether a text of a valve has a clause that is nothing but a word for a lock in one position, or a mark such as
/// `locked_open: true` says so.
pub(crate) fn says_locked(drawing: &Drawing<'_>, valve: NodeId, position: Names) -> bool {
    let is_word = |text: &str| {
        text.len() <= MAX_CLASS && drawing.topology.config.is_spelling(position, text.trim().trim_end_matches('.'))
    };
    let has_clause = |text: &str| text.split(is_end_of_clause).any(is_word);
    let is_mark = |name: &str| is_word(name.trim().strip_prefix("is_").unwrap_or(name));
    let mut fields = drawing.node(valve).as_object().into_iter().flat_map(stated_fields);
    [Names::Remarks, Names::Description].iter().any(|names| texts(drawing, valve, *names).any(has_clause))
        || fields.any(|(name, stated)| truth(stated.value) == Some(true) && is_mark(name))
}

/// Words of a valve that is not fully open.
const THROTTLED: &[&str] =
    &["drosseln", "gedrosselt", "throttle", "throttled", "throttling", "étranglé", "étranglée", "laminée"];
const PARTLY: &[&str] = &[
    "crack",
    "cracked",
    "half",
    "halb",
    "min",
    "minimum",
    "partially",
    "partiellement",
    "partly",
    "slightly",
    "teilweise",
];

/// Words of a valve whose disc does not follow its handwheel.
const BROKEN: &[&str] = &["broken", "cassé", "cassée", "gebrochen", "sheared", "snapped"];

/// Words beside which a closed position is that of something else, or `close` is no verb.
const OTHER_SUBJECTS: &[&str] = &[
    "as", "bleed", "bypass", "circuit", "coupled", "cooling", "drain", "drains", "fail", "fails", "loop", "spare",
    "system", "vent",
];

/// Returns whether a text of a valve that is drawn open says that it is closed at times, is not fully open, or may not be
/// opened: `closed in winter`, `throttled`, `open 5 %`.
pub(crate) fn may_not_stay_open(drawing: &Drawing<'_>, valve: NodeId) -> bool {
    let says_so = |text: &str| {
        let is_in_parts = text.contains(['%', '/']);
        clauses(text).iter().any(|clause| is_closed_at_times(drawing, clause) || is_partly_open(clause, is_in_parts))
    };
    [Names::Remarks, Names::Description].iter().any(|names| texts(drawing, valve, *names).any(says_so))
}

/// Returns whether a clause says that a valve is or may be closed, without a denial, and of no other item.
fn is_closed_at_times(drawing: &Drawing<'_>, clause: &[String]) -> bool {
    // `closes`, `zu` and the codes beside a symbol are read apart.
    let is_closing = |word: &String| {
        names_motion(word, Motion::Closes, MotionText::ValveText)
            || word.len() > 4 && drawing.topology.config.is_spelling(Names::Closed, word)
    };
    let Some(at) = clause.iter().position(is_closing) else { return false };
    let is_near = clause[at] == "close" && clause.get(at + 1).is_some_and(|word| ["to", "at", "by"].contains(&&**word));
    let is_tag = |words: &[String]| words[1].starts_with(|c: char| c.is_ascii_digit()) && words[0].len() <= 4;
    !any_limits(clause, Limited::ClosedAtTimes)
        && !has_any(clause, OTHER_SUBJECTS)
        && !is_near
        && !clause[..at].windows(2).any(is_tag)
}

/// Returns whether a clause says that a valve is not fully open, is broken, or must not be opened.
fn is_partly_open(clause: &[String], is_in_parts: bool) -> bool {
    let Some(at) = clause.iter().position(|word| names_motion(word, Motion::Opens, MotionText::ValveText)) else {
        return (has_any(clause, THROTTLED) || has_any(clause, BROKEN)) && !any_limits(clause, Limited::ClosedAtTimes);
    };
    let is_part = |word: &String| word.parse::<u32>().is_ok_and(|part| part < 100);
    let has_part = || is_in_parts && clause.iter().any(is_part);
    let is_denied = || any_limits(&clause[at.saturating_sub(3)..at], Limited::MayBeOpened);
    [THROTTLED, PARTLY, BROKEN].iter().any(|known| has_any(clause, known))
        && !any_limits(clause, Limited::ClosedAtTimes)
        || has_part()
        || is_denied()
}

/// Marks of an open position, in snake_case.
const OPEN_MARKS: &[&str] = &["open", "is_open", "normally_open"];

fn is_end_of_clause(c: char) -> bool {
    matches!(c, ',' | ';' | ':' | '(' | ')' | '\n' | '!')
}

fn is_closed_word(drawing: &Drawing<'_>, clause: &str) -> bool {
    let clause = clause.trim().trim_end_matches('.');
    !clause.is_empty()
        && clause.len() <= MAX_CLASS
        && ([Names::Closed, Names::LockedClosed]
            .iter()
            .any(|names| drawing.topology.config.is_spelling(*names, clause))
            || vocabulary::contains(vocabulary::CLOSED_PHRASES, clause)
            || is_closed_with_lock(drawing, clause))
}

/// Returns whether a clause consists of words for closed and for a lock, in any order: `fermée cadenassée`.
fn is_closed_with_lock(drawing: &Drawing<'_>, clause: &str) -> bool {
    let is_closed = |word: &str| drawing.topology.config.is_spelling(Names::Closed, word);
    let is_lock = |word: &str| {
        let word = word.to_lowercase();
        vocabulary::LOCK_WORDS.contains(&word.as_str()) || vocabulary::OTHER_LOCK_WORDS.contains(&word.as_str())
    };
    let mut words = clause.split_whitespace();
    words.clone().any(is_closed) && words.all(|word| is_closed(word) || is_lock(word))
}

/// Words around a closed position that are about the present: `currently closed`, `closed for maintenance`, `closed since 2024`.
const BEFORE_CLOSED: &[&str] =
    &["at", "currently", "found", "is", "now", "permanently", "present", "presently", "temporarily", "this", "valve"];
const AFTER_CLOSED: &[&str] =
    &["at", "currently", "for", "now", "permanently", "presently", "since", "temporarily", "until"];

/// Returns whether a clause says that a valve is closed at present, in words around one for closed.
fn is_closed_now(drawing: &Drawing<'_>, clause: &str) -> bool {
    if clause.len() > MAX_CLASS {
        return false;
    }
    let words: Vec<String> = clause.split_whitespace().map(|word| word.trim_end_matches('.').to_lowercase()).collect();
    let is_in = |word: &String, known: &[&str]| known.contains(&word.as_str());
    let Some(at) = words.iter().position(|word| !is_in(word, BEFORE_CLOSED)) else { return false };
    is_closed_word(drawing, &words[at])
        && words.get(at + 1).is_none_or(|word| is_in(word, AFTER_CLOSED))
        && !any_limits(&words, Limited::Closed)
}

/// Returns whether a mark such as `locked_closed: true` or `valve_status: closed` says that a valve is closed.
fn has_mark(drawing: &Drawing<'_>, valve: NodeId) -> bool {
    let Some(object) = drawing.node(valve).as_object() else { return false };
    stated_fields(object).filter(|(name, _)| name.len() <= MAX_CLASS).any(|(name, stated)| {
        let is_in = |known: &[&str]| vocabulary::contains_plain(known, name.trim());
        match truth(stated.value) {
            Some(true) => is_in(vocabulary::VALVE_CLOSED_MARKS),
            Some(false) => is_in(OPEN_MARKS),
            None => {
                is_in(vocabulary::VALVE_POSITION_FIELDS)
                    && stated.value.as_str().is_some_and(|text| is_closed_word(drawing, text))
            }
        }
    })
}
