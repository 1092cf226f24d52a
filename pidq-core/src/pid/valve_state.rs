//! State of valves, blinds and spools as the drawing gives it: position, lock, removal.
//!
//! A field of the item counts, and so does an entry of its `attributes`, an array of names and values or an object.

use super::Datum;
use crate::graph::adjacency::NodeId;
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::snake_case::snake_case;
use crate::graph::vocabulary;
use crate::value::Value;

/// Returns whether the drawing states that an item is not installed: removed, demolished, for the future.
pub(crate) fn is_not_installed(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let states = [Names::NormalPosition, Names::BlindPosition, Names::Status];
    let states = states.map(|names| state(drawing, node, names));
    let is_no = |value: Option<Value<'_>>| match value {
        Some(Value::Bool(is_yes)) => !is_yes,
        value => value
            .and_then(|value| value.as_str())
            .is_some_and(|text| matches!(snake_case(text).as_str(), "no" | "false")),
    };
    states.into_iter().any(|value| is_in(drawing, value, Names::Removed))
        || is_yes(state(drawing, node, Names::RemovedMark))
        || is_no(state(drawing, node, Names::InstalledMark))
}

/// Returns whether the drawing states how a valve is operated, and not by hand: an operation, or the position that it
/// takes when its actuator fails.
pub(crate) fn is_stated_as_actuated(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let is_other = |value: Value<'_>| match value {
        Value::Bool(is_actuated) => is_actuated,
        value => !is_in(drawing, Some(value), Names::ManualOperation),
    };
    [Names::Actuated, Names::Operation, Names::FailAction]
        .into_iter()
        .filter_map(|names| state(drawing, node, names))
        .any(is_other)
}

/// Position of a blind or a spool.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum BlindPosition {
    Closed,
    Open,
    /// The drawing gives none, or a word in no list.
    Unknown,
}

/// Returns the normal position of a valve, as drawn.
pub(crate) fn position<'a>(drawing: &Drawing<'a>, node: NodeId) -> Option<Value<'a>> {
    state(drawing, node, Names::NormalPosition)
}

/// Returns the lock or seal of a valve, as drawn.
pub(crate) fn lock<'a>(drawing: &Drawing<'a>, node: NodeId) -> Option<Value<'a>> {
    state(drawing, node, Names::Lock)
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
        Some(Value::String(text)) => !matches!(snake_case(text).as_str(), "no" | "none" | "false" | "unlocked"),
        _ => false,
    }
}

/// Returns whether the drawing defines a valve as locked or sealed open. A lock without a position is taken as one in
/// the open position: relief and other protection depend on such valves.
pub(crate) fn is_locked_open(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let (position, lock) = (position(drawing, node), lock(drawing, node));
    is_in(drawing, position, Names::LockedOpen)
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
    let (is_closed, is_open) = (is_stated(Names::Closed), is_stated(Names::Open));
    match (is_closed, is_open, stated.iter().flatten().any(|value| value.as_str().is_some())) {
        (true, false, _) => BlindPosition::Closed,
        (false, true, _) => BlindPosition::Open,
        (true, true, _) | (_, _, true) => BlindPosition::Unknown,
        _ if has_word("closed") && !has_word("open") => BlindPosition::Closed,
        _ if has_word("open") && !has_word("closed") => BlindPosition::Open,
        _ => BlindPosition::Unknown,
    }
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
    if !drawing.class_has(node, vocabulary::SPOOLS) {
        return Spool::Installed;
    }
    let stated = [Names::NormalPosition, Names::BlindPosition].map(|names| state(drawing, node, names));
    let removable = state(drawing, node, Names::Removable);
    match () {
        () if stated.iter().any(|value| is_in(drawing, *value, Names::Removed)) => Spool::Removed,
        () if is_yes(removable) => Spool::Removable,
        () if stated.iter().flatten().any(|value| is_in(drawing, Some(*value), Names::Removable)) => Spool::Removable,
        () if drawing.topology.roles[node as usize] == Role::Blind => Spool::Removable,
        () => Spool::Installed,
    }
}

/// Returns the position and the lock of an item as columns of a row.
pub(crate) fn columns<'a>(drawing: &Drawing<'a>, node: NodeId) -> [Datum<'a>; 2] {
    let blind = || state(drawing, node, Names::BlindPosition).filter(|_| is_blind_or_spool(drawing, node));
    [position(drawing, node).or_else(blind), lock(drawing, node)].map(Datum::value)
}

fn is_blind_or_spool(drawing: &Drawing<'_>, node: NodeId) -> bool {
    drawing.topology.roles[node as usize] == Role::Blind || spool(drawing, node) != Spool::Installed
}

/// Returns the first string or Boolean of an item under one of some names.
fn state<'a>(drawing: &Drawing<'a>, node: NodeId, names: Names) -> Option<Value<'a>> {
    let object = drawing.node(node).as_object()?;
    let is_state = |value: &Value<'a>| match value {
        Value::Bool(_) => true,
        value => value.as_str().is_some_and(|text| !text.is_empty()),
    };
    let known = drawing.topology.config.names(names);
    let field = known.iter().filter_map(|name| object.get(name)).find(is_state);
    field.or_else(|| match object.get("attributes")? {
        Value::Object(attributes) => {
            let entries = attributes.iter().filter(|(name, _)| drawing.topology.config.contains(names, name));
            entries.map(|(_, value)| value).find(is_state)
        }
        Value::Array(attributes) => {
            let entries = attributes.iter().filter_map(Value::as_object);
            let mut values = entries.filter_map(|entry| {
                let name = entry.get("name")?.as_str()?;
                entry.get("value").filter(|_| drawing.topology.config.contains(names, name))
            });
            values.find(is_state)
        }
        _ => None,
    })
}

fn is_in(drawing: &Drawing<'_>, value: Option<Value<'_>>, names: Names) -> bool {
    value.and_then(|value| value.as_str()).is_some_and(|text| drawing.topology.config.contains(names, text))
}

fn is_yes(value: Option<Value<'_>>) -> bool {
    match value {
        Some(Value::Bool(is_yes)) => is_yes,
        Some(value) => value.as_str().is_some_and(|text| matches!(snake_case(text).as_str(), "yes" | "true")),
        None => false,
    }
}
