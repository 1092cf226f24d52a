//! State of valves, blinds, spools and pipes as the drawing gives it: position, lock, removal.
//!
//! A field of the item counts, and so does an entry of its attributes: see [`stated_values`](super::stated_values).

pub(crate) mod absences;
pub(crate) mod actuation;
pub(crate) mod actuators;
mod cause_texts;
pub(crate) mod check_valves;
pub(crate) mod closed_texts;
mod closures;
pub(crate) mod drawn_closed;
pub(crate) mod fail_action;
mod groups;
mod inactive_parts;
mod named_drives;
pub(crate) mod open_equipment;
mod other_statements;
pub(crate) mod out_of_action;
pub(crate) mod phrases;
pub(crate) mod pipes;
pub(crate) mod state_phrases;
pub(crate) mod trip_effects;
pub(crate) mod unknown_edges;
mod unread_fields;
pub(crate) mod unread_texts;
pub(crate) mod way_count;

use self::phrases::{DriveAction, TextKind};
use self::way_count::{Ways, ways};
use super::Datum;
use super::stated_values::{is_container, may_state, plain_name, stated_fields, values, values_of};
use crate::graph::adjacency::{EdgeId, NodeId};
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::node_memo::Property;
use crate::graph::roles::Role;
use crate::graph::snake_case::snake_case;
use crate::graph::topology::{Direction, EdgeFilter};
use crate::graph::vocabulary::{self, Limited, text_limits};
use crate::value::Value;

/// Presence of an item in the plant by its life-cycle status, from installed to absent.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Installation {
    /// The drawing says that it is there, or says nothing.
    Installed,
    /// It is to be removed, or its status is in no list: it may be there or not.
    Unknown,
    /// It is not there now: removed, demolished, void, for the future.
    NotInstalled,
}

impl Installation {
    /// Returns the word in lists of what an answer is uncertain about; `None` for what is installed.
    pub fn uncertainty(self) -> Option<&'static str> {
        match self {
            Installation::Installed => None,
            Installation::Unknown => Some("unknown_status"),
            Installation::NotInstalled => Some("not_installed"),
        }
    }
}

/// Returns whether an item is there, by its status and by the marks that it is removed or installed. For a valve, the
/// position `removed` counts too; for a blind or a spool, this is a position like any other.
pub(crate) fn installation(drawing: &Drawing<'_>, node: NodeId) -> Installation {
    const ALL: [Installation; 3] = [Installation::Installed, Installation::Unknown, Installation::NotInstalled];
    let read = || read_installation(drawing, node).max(groups::installation_by_groups(drawing, node));
    drawing.topology.memos.one_of_or_compute(Property::Installation, node, &ALL, read)
}

fn read_installation(drawing: &Drawing<'_>, node: NodeId) -> Installation {
    if is_drawn_blinded(drawing, node) {
        return Installation::Installed;
    }
    let of_text = if closures::is_closure(drawing, node) {
        closures::installation_by_text
    } else {
        phrases::installation_by_text
    };
    let by_texts =
        installation_by_texts(drawing, drawing.node(node), of_text).max(match is_said_closed(drawing, node) {
            true => Installation::Unknown,
            false => Installation::Installed,
        });
    let by_texts = by_texts.max(installation_by_service(drawing, node));
    if by_texts == Installation::NotInstalled || !may_state(drawing.node(node), drawing.topology.state_names()) {
        return by_texts;
    }
    let is_removed = |names| states(drawing, node, names).any(|value| is_in(drawing, Some(value), Names::Removed));
    if !is_blind_or_spool(drawing, node) && [Names::NormalPosition, Names::BlindPosition].into_iter().any(is_removed) {
        return Installation::NotInstalled;
    }
    let by_position = if is_stated_closed(drawing, node) { Installation::Unknown } else { Installation::Installed };
    by_texts.max(by_position).max(installation_of(drawing, drawing.node(node), of_text))
}

/// Returns whether a valve is there by its service or its position, if one is nothing but a status: `removed`, `future`.
fn installation_by_service(drawing: &Drawing<'_>, node: NodeId) -> Installation {
    const NAMES: [Names; 3] = [Names::Service, Names::NormalPosition, Names::BlindPosition];
    if !matches!(drawing.topology.roles[node as usize], Role::Barrier | Role::Control | Role::MultiWay | Role::OneWay) {
        return Installation::Installed;
    }
    let stated = NAMES.into_iter().flat_map(|names| texts(drawing, node, names));
    stated.map(phrases::installation_by_only_status).max().unwrap_or(Installation::Installed)
}

/// Returns whether the pipe of a nozzle leads to a blind flange or a cap only, which is there: `spare nozzle, blinded` says what
/// the drawing shows.
fn is_drawn_blinded(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let topology = &drawing.topology;
    let closes = |other: NodeId| {
        let is_closure = match topology.roles[other as usize] {
            Role::PositiveBarrier => true,
            Role::None => drawing.class_ends_with_word(other, vocabulary::CAPS),
            _ => false,
        };
        is_closure
            && topology.flow_degree(other) == 1
            && blind_position(drawing, other) != BlindPosition::Open
            && installation(drawing, other) == Installation::Installed
    };
    let pipes = || topology.table(EdgeFilter::Flow, Direction::Both).arcs(node);
    topology.roles[node as usize] == Role::Port
        && topology.flow_degree(node) == 1
        && pipes().all(|(other, pipe)| closes(other) && pipes::pipe_state(drawing, pipe) == pipes::PipeState::Open)
}

/// Returns whether the status, the lock or a mark of an item that has no position says that it is closed or blinded, as of a
/// flange or a nozzle. Whether something passes it is not known.
fn is_stated_closed(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let role = drawing.topology.roles[node as usize];
    let has_position =
        role.closes() || role == Role::Instrument || role == Role::None && drawing.class_has(node, &["valve"]);
    let is_closed =
        |value: Value<'_>| [Names::Closed, Names::LockedClosed].iter().any(|names| is_in(drawing, Some(value), *names));
    let is_marked = || {
        let is_in_pipe = role != Role::Equipment && drawing.topology.flow_degree(node) > 0;
        is_in_pipe && pipes::has_closed_mark(drawing.node(node))
    };
    !has_position
        && !is_blind_or_spool(drawing, node)
        && ([Names::Status, Names::Lock].iter().any(|names| states(drawing, node, *names).any(is_closed))
            || is_marked())
}

/// Returns whether a text or the position of an item in a pipe that has no position says that it is closed: `plugged`,
/// `spade inserted`. Whether something passes it is not known. Of a cap or a plug it says nothing new.
fn is_said_closed(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let role = drawing.topology.roles[node as usize];
    const PASSED: [Role; 7] =
        [Role::None, Role::OpenEnd, Role::Port, Role::Equipment, Role::Junction, Role::SizeBreak, Role::OffPage];
    let is_passed = PASSED.contains(&role)
        && (role == Role::Equipment || drawing.topology.flow_degree(node) > 0)
        && !(role == Role::None && drawing.class_has(node, &["valve"]))
        && !(role == Role::None && drawing.class_ends_with_word(node, vocabulary::CAPS))
        && !is_blind_or_spool(drawing, node);
    is_passed && out_of_action::is_said_closed_off(drawing, node)
}

/// Function that returns whether an item is there by a text of it.
type OfText = fn(&str) -> Installation;

/// Returns whether an item or a pipe is there by its label and its description.
fn installation_by_texts(drawing: &Drawing<'_>, holder: Value<'_>, of_text: OfText) -> Installation {
    if !may_say_absent(drawing, holder) {
        return Installation::Installed;
    }
    let descriptions = values_of(drawing, holder, Names::Description);
    // `HV-9 (FUTURE)`
    let tags =
        values_of(drawing, holder, Names::Tag).filter(|tag| tag.as_str().is_some_and(|tag| tag.contains([' ', '\n'])));
    let texts = descriptions.chain(tags).filter_map(Value::as_str);
    texts.map(of_text).max().unwrap_or(Installation::Installed)
}

/// Returns whether an item or a pipe is there, by its status, its remarks and the marks of its own.
fn installation_of(drawing: &Drawing<'_>, holder: Value<'_>, of_text: OfText) -> Installation {
    let by_marks = installation_by_marks(drawing, holder);
    if by_marks == Installation::NotInstalled {
        return by_marks;
    }
    let of_status = |value: Value<'_>| match value {
        value if is_first_phase(holder, value) => Installation::Installed,
        Value::Bool(_) | Value::Number(_) => Installation::Unknown,
        value => match value.as_str().map(str::trim).filter(|text| is_statement(text)) {
            Some(text) => installation_by_status(drawing, text),
            None => Installation::Installed,
        },
    };
    let of_remark = |text: &str| match drawing.topology.config.contains(Names::Removed, text.trim()) {
        // One that is nothing but a status, such as `future`, is one. With other words, it may be about something else.
        true => Installation::NotInstalled,
        false => of_text(text),
    };
    let by_remarks = values_of(drawing, holder, Names::Remarks).filter_map(Value::as_str).map(of_remark);
    let by_status = values_of(drawing, holder, Names::Status).map(of_status);
    by_status.chain(by_remarks).max().map_or(by_marks, |found| found.max(by_marks))
}

/// Returns whether a text states something: it is not empty, and no mark of an empty cell.
fn is_statement(text: &str) -> bool {
    !text.is_empty() && !vocabulary::contains(vocabulary::EMPTY_TEXTS, text)
}

/// Returns whether an item or a pipe is there by marks such as `removed: true` and `installed: 0`. A mark that it is removed
/// with another value, such as a date, may mean either; one that it is installed, such as `installed: later`, is read as a
/// status.
fn installation_by_marks(drawing: &Drawing<'_>, holder: Value<'_>) -> Installation {
    let is_unstated = |value: Value<'_>| match value.as_str() {
        Some(text) => vocabulary::contains(vocabulary::NEGATIVES, text.trim()),
        None => value.is_null() || value.as_object().is_some() || value.as_array().is_some(),
    };
    let of_removed = |value: Value<'_>| match truth(value) {
        Some(true) => Installation::NotInstalled,
        None if !is_unstated(value) => Installation::Unknown,
        _ => Installation::Installed,
    };
    let of_installed = |value: Value<'_>| match truth(value) {
        Some(false) => Installation::NotInstalled,
        None if !is_unstated(value) => match value.as_str() {
            Some(text) => installation_by_status(drawing, text.trim()),
            None => Installation::Unknown,
        },
        _ => Installation::Installed,
    };
    let removed = values_of(drawing, holder, Names::RemovedMark).map(of_removed);
    let installed = values_of(drawing, holder, Names::InstalledMark).map(of_installed);
    removed.chain(installed).max().unwrap_or(Installation::Installed)
}

/// Returns false only if no label and no description of an item says that it is not there.
fn may_say_absent(drawing: &Drawing<'_>, holder: Value<'_>) -> bool {
    let names = drawing.topology.text_names();
    holder.as_object().is_some_and(|object| {
        object.iter().any(|(key, value)| match value.as_str() {
            Some(text) => names.may_contain(key) && phrases::may_say_absent(text),
            None => !value.is_null() && (names.may_contain(key) || is_container(key)),
        })
    }) && may_state(holder, names)
}

/// Returns what a status says. What is planned to be removed is still there, but not for sure when it is needed.
fn installation_by_status(drawing: &Drawing<'_>, text: &str) -> Installation {
    let config = &drawing.topology.config;
    let words = snake_case(text);
    let has_any = |known: &[&str]| vocabulary::text_has_any(&words, known);
    let is_position = [Names::Open, Names::Closed].iter().any(|names| config.contains(*names, text));
    match () {
        () if config.contains(Names::Removed, text) => Installation::NotInstalled,
        () if is_position || is_installed(&words) || is_phase_of_matter(text) => Installation::Installed,
        () if text_limits(&words, Limited::Status) => Installation::Unknown,
        () if has_any(vocabulary::INTENTIONS) && !has_any(vocabulary::INSTALLATIONS) => Installation::Unknown,
        () if has_any(vocabulary::INTENTIONS) || has_any(vocabulary::NOT_INSTALLED) => Installation::NotInstalled,
        () => Installation::Unknown,
    }
}

/// Returns whether a status in snake_case says that an item is there, entirely or with each of its words.
fn is_installed(status: &str) -> bool {
    let mut words = status.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let is_known = |word: &str| vocabulary::INSTALLED.contains(&word);
    is_known(status) || words.next().is_some_and(is_known) && words.all(is_known)
}

/// Returns whether a status is the first phase of a project, which is built first: `phase 1`, or `1` in a field for a phase.
fn is_first_phase(holder: Value<'_>, status: Value<'_>) -> bool {
    let first = |value: Value<'_>| match value.as_f64() {
        Some(number) => number == 1.0,
        None => value.as_str().is_some_and(|text| matches!(text.trim(), "1" | "I" | "i" | "01")),
    };
    let named =
        || status.as_str().is_some_and(|text| vocabulary::FIRST_PHASES.contains(&snake_case(text.trim()).as_str()));
    let is_phase = |name: &str| vocabulary::PHASE_FIELDS.contains(&plain_name(name).as_str());
    let in_phase_field = || {
        let fields = || holder.as_object().into_iter().flat_map(stated_fields);
        // A status of another kind with the same value is not known.
        let is_other = |name: &str| is_status_word(name) && !is_phase(name);
        fields().any(|(name, stated)| is_phase(name) && first(stated.value))
            && !fields().any(|(name, stated)| is_other(name) && first(stated.value))
    };
    named() || first(status) && in_phase_field()
}

fn is_status_word(name: &str) -> bool {
    let name = plain_name(name);
    ["status", "state", "lifecycle", "life_cycle", "existence", "stage"].iter().any(|word| name.contains(word))
}

/// Returns whether a text names phases such as `liquid` or `gas/liquid`, and not those of a project.
fn is_phase_of_matter(text: &str) -> bool {
    let mut phases = text.split(['/', ',', '+', '&']).map(|phase| snake_case(phase.trim()));
    phases.all(|phase| vocabulary::PHASES_OF_MATTER.contains(&phase.as_str()))
}

/// Returns whether the drawing states that an item is not there now: removed, demolished, void, for the future.
pub(crate) fn is_not_installed(drawing: &Drawing<'_>, node: NodeId) -> bool {
    installation(drawing, node) == Installation::NotInstalled
}

/// Returns whether the drawing states how a valve is operated, and not by hand: an operation, the position that it takes
/// when its actuator fails, or a text that names a drive.
pub(crate) fn is_stated_as_actuated(drawing: &Drawing<'_>, node: NodeId) -> bool {
    drawing.topology.memos.is_or_compute(Property::IsStatedAsActuated, node, || reads_actuated(drawing, node))
}

fn reads_actuated(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let is_other = |value: Value<'_>| match truth(value) {
        Some(is_actuated) => is_actuated,
        None => !is_in(drawing, Some(value), Names::ManualOperation) && !is_by_hand(value),
    };
    // `state` reads no numbers, such as the 1 of a table for true.
    let marks = [Names::Actuated, Names::Operation].into_iter().flat_map(|names| values(drawing, node, names));
    let is_marked = marks.into_iter().any(|value| truth(value) == Some(true));
    is_marked
        || [Names::Actuated, Names::Operation, Names::FailAction]
            .into_iter()
            .filter_map(|names| state(drawing, node, names))
            .any(is_other)
        || actuation::is_described_as_actuated(drawing, node)
}

/// Fields with a position, a lock or a purpose, whose text may say more.
const STATE_TEXTS: [Names; 4] = [Names::NormalPosition, Names::BlindPosition, Names::Lock, Names::Service];

/// Returns whether a text of an item says that it may not close tightly: its disc is drilled, or it leaks.
pub(crate) fn may_not_be_tight(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let read = || {
        let of_texts = all_texts(drawing, node).map(|(text, _)| text);
        let of_states = STATE_TEXTS.into_iter().flat_map(|names| texts(drawing, node, names));
        of_texts.chain(of_states).any(phrases::says_not_tight)
    };
    drawing.topology.memos.is_or_compute(Property::MayNotBeTight, node, read)
}

/// Returns whether a text of a valve with a drive says that it may not do what it has to do in an emergency.
pub(crate) fn may_not_move(drawing: &Drawing<'_>, node: NodeId, expected: DriveAction) -> bool {
    all_texts(drawing, node).any(|(text, _)| phrases::says_not_acting(text, expected))
}

/// Returns all texts that may name an item or say something about it.
pub(crate) fn all_texts<'a>(drawing: &Drawing<'a>, node: NodeId) -> impl Iterator<Item = (&'a str, TextKind)> {
    let of = |names: Names| texts(drawing, node, names);
    // The letters of a tag are read apart.
    let titles = of(Names::Tag).filter(|tag| tag.contains(' '));
    let names = of(Names::ComponentName).chain(of(Names::Description)).chain(titles);
    let descriptions = of(Names::Class).chain(names).map(|text| (text, TextKind::Description));
    descriptions.chain(of(Names::Remarks).map(|text| (text, TextKind::Remark)))
}

/// Returns whether a text says with each of its words that a valve is operated by hand: `manual gear`.
fn is_by_hand(value: Value<'_>) -> bool {
    let text = value.as_str().map(snake_case).unwrap_or_default();
    let mut words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).peekable();
    words.peek().is_some() && words.all(|word| vocabulary::HAND_OPERATION_WORDS.contains(&word))
}

/// Returns whether a class of a valve is one that the drawing or the program declares to be what it is.
pub(crate) fn is_declared(drawing: &Drawing<'_>, node: NodeId) -> bool {
    drawing.class_texts(node).any(|class| drawing.topology.config.is_declared(class))
}

/// Returns whether a class or a field of a valve states that it has more than two ways.
pub(crate) fn has_several_ways(drawing: &Drawing<'_>, node: NodeId) -> bool {
    ways(drawing, node) == Ways::Several
}

/// Returns the number of ports of the process that the drawing lists for an item, and of those without a kind.
pub(crate) fn process_port_count(drawing: &Drawing<'_>, node: NodeId) -> usize {
    let ports = drawing.node_field(node, Names::Ports).and_then(Value::as_array);
    let is_process = |port: Value<'_>| {
        let kind = drawing.field(port, Names::PortType).and_then(Value::as_str);
        kind.is_none_or(|kind| kind == "process")
    };
    ports.map_or(0, |ports| ports.iter().filter(|port| is_process(*port)).count())
}

/// Position of a blind or a spool.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum BlindPosition {
    Closed,
    Open,
    /// The drawing gives none, or a word in no list.
    Unknown,
}

/// Returns the normal position of a valve, as drawn: by its field, or by letters beside its symbol.
pub(crate) fn position<'a>(drawing: &Drawing<'a>, node: NodeId) -> Option<Value<'a>> {
    let by_label = || label_of(drawing, node, [Names::Open, Names::Closed]);
    state(drawing, node, Names::NormalPosition).or_else(by_label)
}

/// Returns the lock or seal of a valve, as drawn: by its field, or by letters beside its symbol.
pub(crate) fn lock<'a>(drawing: &Drawing<'a>, node: NodeId) -> Option<Value<'a>> {
    let position = state(drawing, node, Names::NormalPosition);
    // A label that contradicts the field for the position is no statement alone.
    let contradicts = |label: &Value<'_>| {
        [(Names::LockedOpen, Names::Closed), (Names::LockedClosed, Names::Open)]
            .iter()
            .any(|(locked, other)| is_in(drawing, Some(*label), *locked) && is_in(drawing, position, *other))
    };
    let by_label =
        || label_of(drawing, node, [Names::LockedOpen, Names::LockedClosed]).filter(|label| !contradicts(label));
    state(drawing, node, Names::Lock).or_else(by_label)
}

/// Returns the label, the description or the remark of a valve that is nothing but a word of one of two lists: `NC`, `LO`.
fn label_of<'a>(drawing: &Drawing<'a>, node: NodeId, lists: [Names; 2]) -> Option<Value<'a>> {
    if !drawing.topology.roles[node as usize].closes() {
        return None;
    }
    let has_label = || {
        let all = [Names::Open, Names::Closed, Names::LockedOpen, Names::LockedClosed];
        labels(drawing, node).any(|label| all.iter().any(|names| is_in(drawing, Some(label), *names)))
    };
    let has_label = drawing.topology.memos.is_or_compute(Property::HasPositionLabel, node, has_label);
    let is_word = |label: &Value<'a>| lists.iter().any(|names| is_in(drawing, Some(*label), *names));
    has_label.then(|| labels(drawing, node).find(is_word)).flatten()
}

fn labels<'a>(drawing: &Drawing<'a>, node: NodeId) -> impl Iterator<Item = Value<'a>> {
    [Names::Description, Names::Remarks].into_iter().flat_map(move |names| states(drawing, node, names))
}

/// Returns whether the drawing gives a valve a position, or a lock that holds it in one. That a valve is not locked says
/// nothing about its position.
pub(crate) fn has_position(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let lock = lock(drawing, node);
    position(drawing, node).is_some() || is_locked(lock) || is_in(drawing, lock, Names::Closed)
}

/// Returns whether one statement calls a valve open and another one closed.
pub(crate) fn contradicts_open(drawing: &Drawing<'_>, node: NodeId) -> bool {
    const FIELDS: [Names; 4] = [Names::NormalPosition, Names::BlindPosition, Names::Lock, Names::Status];
    let says = |names: &[Names]| {
        let mut values = FIELDS.into_iter().flat_map(|fields| states(drawing, node, fields));
        values.any(|value| names.iter().any(|names| is_in(drawing, Some(value), *names)))
    };
    says(&[Names::Open, Names::LockedOpen]) && says(&[Names::Closed, Names::LockedClosed])
}

/// Returns whether the drawing defines a valve as normally closed.
pub(crate) fn is_closed(drawing: &Drawing<'_>, node: NodeId) -> bool {
    is_in(drawing, position(drawing, node), Names::Closed) || is_in(drawing, lock(drawing, node), Names::Closed)
}

/// Returns whether the drawing defines a valve as locked or sealed closed.
pub(crate) fn is_locked_closed(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let (position, lock) = (position(drawing, node), lock(drawing, node));
    is_in(drawing, position, Names::LockedClosed)
        || is_in(drawing, lock, Names::LockedClosed)
        || is_locked(lock) && is_closed(drawing, node)
}

/// Returns whether the drawing gives a valve a position that is in no list.
pub(crate) fn has_unknown_position(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let is_text = |value: &Value<'_>| value.as_str().is_some();
    position(drawing, node).filter(is_text).is_some_and(|position| {
        ![Names::Open, Names::Closed, Names::LockedOpen].iter().any(|names| is_in(drawing, Some(position), *names))
    })
}

/// Returns whether a valve has a lock, and the drawing does not state in which position.
pub(crate) fn is_locked_in_unknown_position(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let lock = lock(drawing, node);
    let is_stated = |names: &Names| is_in(drawing, position(drawing, node), *names) || is_in(drawing, lock, *names);
    is_locked(lock) && ![Names::Open, Names::Closed, Names::LockedOpen, Names::LockedClosed].iter().any(is_stated)
}

/// Returns whether a value of a lock says that there is one.
fn is_locked(lock: Option<Value<'_>>) -> bool {
    match lock {
        Some(Value::Bool(is_locked)) => is_locked,
        Some(Value::String(text)) => says_locked(text),
        _ => false,
    }
}

/// Returns whether the text of a field for a lock says that there is one: by a position, or by a word for a lock. A material,
/// as in `seal: PTFE`, and a word for nothing say that there is none.
fn says_locked(text: &str) -> bool {
    let text = snake_case(text.trim());
    let has_any = |known: &[&str]| vocabulary::text_has_any(&text, known);
    let is_position = [vocabulary::LOCK_CODES, vocabulary::LOCK_WORDS].into_iter().any(has_any);
    // `padlock to be fitted`, but not `to be locked open`.
    let is_planned = text.split_once("to_be_").is_some_and(|(_, rest)| {
        !["locked", "sealed", "car_sealed", "chained", "kept"].iter().any(|word| rest.starts_with(word))
    });
    is_position && !is_planned && !has_any(vocabulary::NO_LOCK_WORDS) && !vocabulary::NO_LOCK.contains(&text.as_str())
}

/// Returns whether the drawing defines a valve as locked or sealed open. A lock without a position is taken as one in
/// the open position: relief and other protection depend on such valves.
pub(crate) fn is_locked_open(drawing: &Drawing<'_>, node: NodeId) -> bool {
    drawing.topology.memos.is_or_compute(Property::IsLockedOpen, node, || reads_locked_open(drawing, node))
}

/// Returns whether the drawing states that a valve is open in operation, locked or not.
pub(crate) fn is_stated_open(drawing: &Drawing<'_>, node: NodeId) -> bool {
    is_in(drawing, position(drawing, node), Names::Open) || is_locked_open(drawing, node)
}

fn reads_locked_open(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let (position, lock) = (position(drawing, node), lock(drawing, node));
    is_in(drawing, position, Names::LockedOpen)
        || !is_closed(drawing, node) && closed_texts::says_locked(drawing, node, Names::LockedOpen)
        || is_in(drawing, lock, Names::LockedOpen)
        || is_locked(lock) && !is_closed(drawing, node)
}

/// Returns the position of a blind, by its fields or by the words of its class.
pub(crate) fn blind_position(drawing: &Drawing<'_>, node: NodeId) -> BlindPosition {
    let stated = [Names::NormalPosition, Names::BlindPosition].map(|names| state(drawing, node, names));
    let is_stated = |values: Names| stated.iter().any(|value| is_in(drawing, *value, values));
    let has_word = |word: &str| {
        let mut classes = drawing.class_texts(node).map(snake_case);
        classes.any(|class| class.split(['_', '.']).any(|part| part == word))
    };
    // A spacer is the open ring: it cannot be closed.
    let is_spacer = drawing.class_has(node, vocabulary::SPACERS) && !drawing.class_has(node, vocabulary::BLINDS);
    let (is_closed, is_open) = (is_stated(Names::Closed), is_stated(Names::Open));
    match (is_closed, is_open || is_closed && is_spacer, stated.iter().flatten().any(|value| value.as_str().is_some()))
    {
        (true, false, _) if other_statements::say_open(drawing, node) => BlindPosition::Unknown,
        (true, false, _) => BlindPosition::Closed,
        (false, true, _) => BlindPosition::Open,
        (true, true, _) | (_, _, true) => BlindPosition::Unknown,
        _ if other_statements::consist_of_closed(drawing, node) => match other_statements::say_open(drawing, node) {
            true => BlindPosition::Unknown,
            false => BlindPosition::Closed,
        },
        _ if drawing.topology.roles[node as usize] == Role::Blind
            && other_statements::consist_of_open(drawing, node)
            && !has_word("closed") =>
        {
            BlindPosition::Open
        }
        _ if has_word("closed") && !has_word("open") && is_position_in_class(drawing, node) => BlindPosition::Closed,
        _ if has_word("open") && !has_word("closed") => BlindPosition::Open,
        _ => BlindPosition::Unknown,
    }
}

/// Returns whether a text, a mark or another field of an item says that it is open.
pub(crate) fn says_open(drawing: &Drawing<'_>, node: NodeId) -> bool {
    other_statements::say_open(drawing, node)
}

/// Returns whether the classes of a blind with the word `closed` give its position: all their other words name the
/// blind. In `not_closed`, `to_be_closed` and `closed_type`, the word means something else.
fn is_position_in_class(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let is_known = |part: &str| part == "closed" || vocabulary::BLIND_WORDS.contains(&part);
    let mut classes = drawing.class_texts(node).map(snake_case).filter(|class| class.contains("closed"));
    classes.all(|class| class.rsplit('.').next().is_some_and(|class| class.split('_').all(is_known)))
}

/// State of a pipe spool.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Spool {
    Removed,
    Removable,
    /// Not a spool, or one that stays.
    Installed,
}

/// Returns whether an item is a pipe spool that is removed or removable.
pub(crate) fn spool(drawing: &Drawing<'_>, node: NodeId) -> Spool {
    if !drawing.is_spool(node) {
        return Spool::Installed;
    }
    let stated = [Names::NormalPosition, Names::BlindPosition].map(|names| state(drawing, node, names));
    let removable = state(drawing, node, Names::Removable);
    match () {
        () if stated.iter().any(|value| is_in(drawing, *value, Names::Removed)) => {
            // Where another statement says that it is there, it may be.
            if other_statements::say_installed(drawing, node) { Spool::Removable } else { Spool::Removed }
        }
        () if is_yes(removable) || other_statements::say_removable(drawing, node) => Spool::Removable,
        () if stated.iter().flatten().any(|value| is_in(drawing, Some(*value), Names::Removable)) => Spool::Removable,
        () if drawing.topology.roles[node as usize] == Role::Blind => Spool::Removable,
        () => Spool::Installed,
    }
}

/// Returns whether the drawing states that a pipe spool is in its place. One that is removable may be taken out.
pub(crate) fn is_spool_in_place(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let says_so = || other_statements::say_installed(drawing, node);
    drawing.is_spool(node)
        && spool(drawing, node) != Spool::Removed
        && (blind_position(drawing, node) == BlindPosition::Open || is_stated_installed(drawing, node) || says_so())
}

/// Returns whether the position of a spool says that it is installed.
fn is_stated_installed(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let names = [Names::NormalPosition, Names::BlindPosition];
    let mut stated = names.into_iter().flat_map(|names| texts(drawing, node, names)).peekable();
    stated.peek().is_some() && stated.all(|text| is_installed(&snake_case(text.trim())))
}

/// Returns whether an item is a spool with a position that is not `removed`, whatever its class says.
pub(crate) fn is_spool_with_other_position(drawing: &Drawing<'_>, node: NodeId) -> bool {
    drawing.is_spool(node) && spool(drawing, node) != Spool::Removed && has_blind_position(drawing, node)
}

/// Returns whether the drawing gives a blind or a spool a position.
pub(crate) fn has_blind_position(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let has_position = |names: Names| texts(drawing, node, names).any(|text| !text.is_empty());
    [Names::NormalPosition, Names::BlindPosition].into_iter().any(has_position)
}

/// Returns the position and the lock of an item as columns of a row.
pub(crate) fn columns<'a>(drawing: &Drawing<'a>, node: NodeId) -> [Datum<'a>; 2] {
    let blind = || state(drawing, node, Names::BlindPosition).filter(|_| is_blind_or_spool(drawing, node));
    [position(drawing, node).or_else(blind), lock(drawing, node)].map(Datum::value)
}

fn is_blind_or_spool(drawing: &Drawing<'_>, node: NodeId) -> bool {
    drawing.topology.roles[node as usize] == Role::Blind || drawing.is_spool(node)
}

/// Returns the first string or Boolean of an item under one of some names.
fn state<'a>(drawing: &Drawing<'a>, node: NodeId, names: Names) -> Option<Value<'a>> {
    states(drawing, node, names).next()
}

/// Returns the texts of an item under some names.
pub(crate) fn texts<'a>(drawing: &Drawing<'a>, node: NodeId, names: Names) -> impl Iterator<Item = &'a str> {
    values(drawing, node, names).filter_map(Value::as_str)
}

/// Returns the texts of a pipe: its label, its description and its remarks.
pub(crate) fn texts_of_pipe<'a>(drawing: &Drawing<'a>, pipe: EdgeId) -> impl Iterator<Item = &'a str> {
    let names = [Names::ComponentName, Names::Description, Names::Remarks];
    let edge = drawing.edge(pipe);
    names.into_iter().flat_map(move |names| values_of(drawing, edge, names)).filter_map(Value::as_str)
}

/// Returns the strings and Booleans of an item under some names.
fn states<'a>(drawing: &Drawing<'a>, node: NodeId, names: Names) -> impl Iterator<Item = Value<'a>> {
    values(drawing, node, names).filter(is_state)
}

/// Returns the strings and Booleans of an item or a pipe under some names.
fn states_of<'a>(drawing: &Drawing<'a>, holder: Value<'a>, names: Names) -> impl Iterator<Item = Value<'a>> {
    values_of(drawing, holder, names).filter(is_state)
}

/// Returns whether a value is a Boolean or a text that is not empty.
fn is_state(value: &Value<'_>) -> bool {
    matches!(value, Value::Bool(_)) || value.as_str().is_some_and(|text| !text.trim().is_empty())
}

fn is_in(drawing: &Drawing<'_>, value: Option<Value<'_>>, names: Names) -> bool {
    value.and_then(|value| value.as_str()).is_some_and(|text| drawing.topology.config.is_spelling(names, text))
}

fn is_yes(value: Option<Value<'_>>) -> bool {
    value.and_then(truth) == Some(true)
}

/// Returns the meaning of a Boolean or of a text such as `yes`.
pub(crate) fn truth(value: Value<'_>) -> Option<bool> {
    match value {
        Value::Bool(is_yes) => Some(is_yes),
        // Tables write 0 and 1.
        value if value.as_f64() == Some(1.0) => Some(true),
        value if value.as_f64() == Some(0.0) => Some(false),
        value => match snake_case(value.as_str()?).as_str() {
            "yes" | "true" | "y" | "1" => Some(true),
            "no" | "false" | "n" | "0" => Some(false),
            _ => None,
        },
    }
}
