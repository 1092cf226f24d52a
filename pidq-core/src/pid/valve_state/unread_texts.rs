//! Texts of an item that no rule understands in full, so that what they say about it is not known.
//!
//! The rules read words that they know, and a text can say the same in any other words: `spindle snapped`, `see note 4`. In
//! the texts of a barrier, a word for a negation, a doubt or a condition, a participle in no list and a question mark are
//! therefore doubtful, and in a remark any word in no list, as the name of a service or a place is seldom there.

use super::cause_texts::without_causes;
use super::phrases::{self, TextKind};
use super::state_phrases::has_state_phrase;
use super::unread_fields::{
    has_doubtful_state, has_field_of_absence, has_unlisted_text, has_unread_field, is_doubtful,
};
use super::{Installation, closures, may_not_be_tight, texts};
use crate::graph::adjacency::NodeId;
use crate::graph::config::{MAX_CLASS, Names};
use crate::graph::drawing::Drawing;
use crate::graph::node_memo::Property;
use crate::graph::roles::{self, Role};
use crate::graph::topology::{Direction, EdgeFilter};
use crate::graph::vocabulary::{self, StatedOf, has_any};
use crate::pid::stated_values::{plain_name, stated_fields};

/// Returns whether a text of a valve or a blind may say that it does not close, in words that no rule understands.
pub(crate) fn has_unread_text(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let read = || {
        let of = |names: Names, kind: TextKind| texts(drawing, node, names).map(move |text| (text, kind));
        // The letters of a tag are read apart.
        let titles = of(Names::Tag, TextKind::Description).filter(|(tag, _)| tag.contains(' '));
        let descriptions =
            of(Names::Description, TextKind::Description).filter(|(text, _)| !is_class(drawing, node, text));
        let descriptions = descriptions.chain(titles);
        // A position or a lock may be a sentence: `cannot be closed unless HV-3 is open`.
        let positions =
            [Names::NormalPosition, Names::Lock].into_iter().flat_map(|names| of(names, TextKind::Description));
        let positions = positions.filter(|(text, _)| text.contains(' '));
        let mut texts = descriptions.chain(positions).chain(of(Names::Remarks, TextKind::Remark));
        let closes_end = !matches!(drawing.topology.roles[node as usize], Role::Barrier | Role::Control);
        let mut services = of(Names::Service, TextKind::Description);
        let is_closure = closures::is_closure(drawing, node);
        let is_unread = |text: &str, kind: TextKind| match is_closure {
            true => is_unread(drawing, &closures::without_purpose(text), kind) || text.contains('?'),
            false => is_unread(drawing, text, kind),
        };
        texts.any(|(text, kind)| is_unread(text, kind) || closes_end && names_opening(text))
            || closes_end && services.any(|(text, _)| names_opening(text))
            || has_unread_type(drawing, node)
            || has_unread_field(drawing, node)
            || says_faulty(drawing, node)
            || has_unread_note(drawing, node)
    };
    drawing.topology.memos.is_or_compute(Property::HasUnreadText, node, read)
}

/// Returns whether a text of a valve or a blind says that it does not close tightly, or may say so in words that no rule
/// understands.
pub(crate) fn may_not_close(drawing: &Drawing<'_>, node: NodeId) -> bool {
    may_not_be_tight(drawing, node) || has_unread_text(drawing, node)
}

/// Returns whether a description or a remark of a safeguard has a doubt, a negation or a participle that no rule understands,
/// or a field under a name in no list a status of what is not there.
pub(crate) fn has_doubtful_text(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let may_be_against =
        |text: &str| is_doubtful_text(text) || phrases::installation_by_text(text) != Installation::Installed;
    let read = || {
        let own = [Names::Description, Names::Remarks].into_iter().flat_map(|names| texts(drawing, node, names));
        let is_doubtful = |text: &str| is_doubtful_text(text) && is_doubtful_text(&without_causes(drawing, node, text));
        own.filter(|text| !is_class(drawing, node, text)).any(is_doubtful)
            || has_field_of_absence(drawing, node)
            || says_faulty(drawing, node)
            || has_doubtful_state(drawing, node, is_doubtful_of_trip)
            || note_texts(drawing, node).any(may_be_against)
    };
    drawing.topology.memos.is_or_compute(Property::HasDoubtfulText, node, read)
}

/// Returns whether a text of an item has a phrase that speaks against its state: `passes`, `test overdue`. The tag is read if
/// it has several words, and so is each short text in a field under a name in no list.
pub(crate) fn says_faulty(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let role = drawing.topology.roles[node as usize];
    let is_cap = || role == Role::None && drawing.class_ends_with_word(node, vocabulary::CAPS);
    let Some(kind) = stated_kind(role).or_else(|| is_cap().then_some(StatedOf::Blind)) else { return false };
    let of = |names: Names| texts(drawing, node, names);
    let titles = of(Names::Tag).filter(|tag| tag.contains(' '));
    let own = [Names::Description, Names::Remarks, Names::ComponentName, Names::Status, Names::Service];
    own.into_iter().flat_map(of).chain(titles).any(|text| has_state_phrase(text, kind))
        || note_texts(drawing, node).any(|text| has_state_phrase(text, kind))
        || has_unlisted_text(drawing, node, |text| has_state_phrase(text, kind))
}

/// Returns the kind of the phrases that speak against the state of an item, by its role.
fn stated_kind(role: Role) -> Option<StatedOf> {
    match role {
        Role::Barrier | Role::Control | Role::MultiWay => Some(StatedOf::Valve),
        Role::Blind | Role::PositiveBarrier => Some(StatedOf::Blind),
        Role::Relief => Some(StatedOf::Relief),
        Role::OneWay => Some(StatedOf::CheckValve),
        Role::OpenEnd => Some(StatedOf::Exit),
        _ => None,
    }
}

/// Returns whether a text is a class of an item, such as `FiredHeater`: its words are read as those of a class. A label, which
/// may be a class too, may have several words.
pub(crate) fn is_class(drawing: &Drawing<'_>, node: NodeId, text: &str) -> bool {
    !text.contains(char::is_whitespace) && drawing.class_texts(node).any(|class| class == text)
}

/// Returns whether a note on the drawing that an edge ties to an item may say that it does not close: its text is read as a
/// remark.
pub(crate) fn has_unread_note(drawing: &Drawing<'_>, node: NodeId) -> bool {
    note_texts(drawing, node).any(|text| {
        is_unread(drawing, text, TextKind::Remark)
            || phrases::installation_by_text(text) != Installation::Installed
            || phrases::says_not_tight(text)
    })
}

/// Returns whether a note that names a valve or a blind says that it does not close, or is not there.
pub(crate) fn speaks_against_valve(note: &str) -> bool {
    phrases::installation_by_text(note) != Installation::Installed
        || phrases::says_not_tight(note)
        || [StatedOf::Valve, StatedOf::Blind].iter().any(|kind| has_state_phrase(note, *kind))
}

/// Returns the texts of the notes on the drawing that an edge ties to an item.
pub(crate) fn note_texts<'a>(drawing: &Drawing<'a>, node: NodeId) -> impl Iterator<Item = &'a str> {
    let topology = &drawing.topology;
    let nodes = topology.table(EdgeFilter::All, Direction::Both).nodes(node).iter().copied();
    nodes.filter(|other| drawing.is_note(*other)).flat_map(move |note| texts_of_note(drawing, note))
}

/// Returns the texts of a note on the drawing.
pub(crate) fn texts_of_note<'a>(drawing: &Drawing<'a>, note: NodeId) -> impl Iterator<Item = &'a str> {
    let names = [Names::Description, Names::Remarks, Names::ComponentName, Names::Tag];
    let fields = drawing.node(note).as_object().into_iter().flat_map(stated_fields);
    let own = fields.filter(|(name, _)| {
        name.len() <= MAX_CLASS && vocabulary::NOTE_TEXT_FIELDS.contains(&plain_name(name).as_str())
    });
    let own = own.filter_map(|(_, stated)| stated.value.as_str());
    names.into_iter().flat_map(move |names| texts(drawing, note, names)).chain(own)
}

/// Returns whether a text of a safeguard or a signal has a doubt, a negation or a participle that no rule understands.
pub(super) fn is_doubtful_text(text: &str) -> bool {
    phrases::has_word_outside(text, |word, _| is_doubtful_of_trip(word))
}

/// Returns whether a word is doubtful in the texts of safeguards and signals, whose participles are known.
fn is_doubtful_of_trip(word: &str) -> bool {
    is_doubtful(word) && !vocabulary::TRIP_PARTICIPLES.contains(&word)
}

/// Returns whether a field for the type of a valve has a word in no list: the types of hand valves are known.
fn has_unread_type(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let is_type =
        |name: &str| name.len() <= MAX_CLASS && vocabulary::contains_plain(vocabulary::VALVE_TYPE_FIELDS, name);
    let is_unread_type = |text: &str| {
        phrases::has_word_outside(text, |word, is_beside_number| !is_beside_number && !is_plain(drawing, word))
    };
    let mut fields = drawing.node(node).as_object().into_iter().flat_map(stated_fields);
    fields.any(|(name, stated)| is_type(name.trim()) && stated.value.as_str().is_some_and(is_unread_type))
}

fn is_unread(drawing: &Drawing<'_>, text: &str, kind: TextKind) -> bool {
    let is_unread_word = |word: &str, is_beside_number: bool| {
        is_doubtful(word)
            || vocabulary::MOVED_WORDS.contains(&word)
            || kind == TextKind::Remark && !(is_beside_number && is_short(word)) && !is_plain(drawing, word)
    };
    if vocabulary::contains(vocabulary::EMPTY_TEXTS, text.trim()) {
        return false;
    }
    phrases::has_word_outside(text, is_unread_word)
        || text.contains('?')
        || phrases::clauses(text).iter().any(|clause| refers_to_note(clause) || depends_on_other(clause))
}

/// Returns whether a word beside a number may be a part of a tag, or a unit: `PSV 101`, `25 mm`.
fn is_short(word: &str) -> bool {
    word.len() <= 4
}

/// Returns whether a word says nothing about whether an item is there and closes, or is one that other rules read.
fn is_plain(drawing: &Drawing<'_>, word: &str) -> bool {
    const LISTS: [&[&str]; 2] = [vocabulary::LOCK_WORDS, vocabulary::LOCK_CODES];
    let positions = [Names::Open, Names::Closed, Names::LockedOpen, Names::LockedClosed];
    vocabulary::is_plain_word(word)
        || vocabulary::is_plain_participle(word)
        || LISTS.iter().any(|known| known.contains(&word))
        || roles::is_hand_valve_word(word)
        || positions.iter().any(|names| drawing.topology.config.contains(*names, word))
}

/// Returns whether a clause refers to a note of the drawing, such as `note 4` or `see notes`.
fn refers_to_note(clause: &[String]) -> bool {
    clause.len() > 1 && has_any(clause, vocabulary::REFERENCES)
}

/// Returns whether a clause says that an item is interlocked or linked with another one: both cannot be closed at a time,
/// or only together.
fn depends_on_other(clause: &[String]) -> bool {
    let is_link = |word: &String| vocabulary::INTERLOCK_WORDS.contains(&word.as_str());
    let is_other = |word: &String| vocabulary::COMPANION_WORDS.contains(&word.as_str());
    let at = clause.iter().position(is_link);
    at.is_some_and(|at| clause[at..].iter().any(is_other))
}

/// Returns whether a text of an item in a pipe says that it has a valve, a connection or a hole: `flange with drain valve`.
pub(crate) fn has_opening(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let is_open = |text: &str| {
        let words = || text.split(|c: char| !c.is_alphanumeric());
        names_opening(text) || words().any(|word| word.eq_ignore_ascii_case("tapped"))
    };
    [Names::Description, Names::Remarks].into_iter().any(|names| texts(drawing, node, names).any(is_open))
}

/// Returns whether a text of a blind or a cap says that it has a valve or a connection: `with 3/4" drain valve`.
fn names_opening(text: &str) -> bool {
    let is_in = |word: &String, known: &[&str]| known.contains(&word.as_str());
    phrases::clauses(text).iter().any(|clause| {
        let with = clause.iter().position(|word| is_in(word, vocabulary::FITTED_WORDS));
        with.is_some_and(|at| clause[at..].iter().any(|word| is_in(word, vocabulary::OPENING_WORDS)))
    })
}
