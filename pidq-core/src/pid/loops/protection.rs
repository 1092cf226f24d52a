//! Protection: what tags, classes and attributes state about safety instrumented functions and trips.

use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::config::{MAX_CLASS, Names};
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::snake_case::snake_case;
use crate::graph::trip_words::{EmergencyValve, TripFunction, emergency_valve_by_letters};
use crate::graph::vocabulary;
use crate::pid::ChargeFn;
use crate::pid::tag::{Protection, Tag};
use crate::value::Value;

/// Returns what the tag, the classes and the attributes of an instrument, a valve or a loop state about protection.
pub(crate) fn of_node(drawing: &Drawing<'_>, node: NodeId, charge: ChargeFn<'_>) -> Result<Option<Protection>> {
    let role = drawing.topology.roles[node as usize];
    let is_loop = drawing.has_type(node, Names::LoopType);
    // A safety valve acts by itself.
    if !(is_loop || role == Role::Instrument || role.closes()) {
        return Ok(None);
    }
    let by_attribute = states_safety(drawing, node, charge)?.then_some(Protection::Safety);
    Ok(by_tag(drawing, node).max(by_class(drawing, node)).max(by_attribute))
}

/// Returns the statement of a tag. A drive or a valve is the final element that an unclear letter may stand for.
fn by_tag(drawing: &Drawing<'_>, node: NodeId) -> Option<Protection> {
    let stated = drawing.tag(node).and_then(Tag::parse_letters)?.protection();
    let is_final = drawing.topology.roles[node as usize].closes() || drawing.class_has(node, vocabulary::ACTUATORS);
    stated.filter(|stated| *stated != Protection::Unclear || !is_final)
}

fn by_class(drawing: &Drawing<'_>, node: NodeId) -> Option<Protection> {
    let is_valve = drawing.topology.roles[node as usize].closes();
    match drawing.trip_function(node) {
        Some(TripFunction::Safety) => Some(Protection::Safety),
        Some(TripFunction::Trip) if !is_valve => Some(Protection::Trip),
        _ => drawing.emergency_valve(node).filter(|valve| *valve != EmergencyValve::Possible).map(|_| Protection::Trip),
    }
}

/// Returns the function of a valve in the emergency shutdown, and what states it: its class, or the letters of its tag.
pub(crate) fn emergency_valve(drawing: &Drawing<'_>, node: NodeId) -> Option<(EmergencyValve, &'static str)> {
    let by_class = drawing.emergency_valve(node).map(|valve| (valve, "class"));
    let role = drawing.topology.roles[node as usize];
    let is_valve = matches!(role, Role::Barrier | Role::Control | Role::MultiWay | Role::None);
    let by_tag = || {
        let valve = drawing.tag(node).filter(|_| is_valve).and_then(emergency_valve_by_tag)?;
        Some((valve, "tag"))
    };
    match by_class {
        Some((EmergencyValve::Possible, _)) | None => by_tag().or(by_class),
        known => known,
    }
}

/// Returns the function of a valve in the emergency shutdown by the letters of a tag.
pub(crate) fn emergency_valve_by_tag(text: &str) -> Option<EmergencyValve> {
    if text.len() > MAX_CLASS {
        return None;
    }
    let known = Tag::parse_letters(text).and_then(|tag| emergency_valve_by_letters(&tag.letters));
    known.or_else(|| emergency_valve_by_words(text))
}

/// Returns the function of a valve whose letters before the number are written with a separator: `20-ESD-V-101A` is
/// `20-ESDV-101A`. `U-V-1` may be the valve `V-1` of area U.
fn emergency_valve_by_words(text: &str) -> Option<EmergencyValve> {
    let before_number = |at: usize| text[at..].trim_start_matches(|c: char| !c.is_alphanumeric());
    let mut words: Vec<&str> = Vec::new();
    let mut at = 0;
    for word in text.split_inclusive(|c: char| !c.is_ascii_alphabetic()) {
        let letters = word.trim_end_matches(|c: char| !c.is_ascii_alphabetic());
        at += letters.len();
        words.extend((!letters.is_empty()).then_some(letters));
        if !letters.is_empty() && before_number(at).starts_with(|c: char| c.is_ascii_digit()) {
            let known = emergency_valve_by_letters(&words.concat().to_ascii_uppercase());
            return known.filter(|valve| *valve != EmergencyValve::Possible);
        }
        at += word.len() - letters.len();
    }
    None
}

/// Returns whether a valve is moved by a trip, by its tag or its class.
pub(crate) fn is_shutdown_valve(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let stated = by_tag(drawing, node).max(by_class(drawing, node));
    drawing.topology.roles[node as usize].closes() && stated.is_some_and(|stated| stated != Protection::Unclear)
}

/// Returns whether only the letters of the tag of a valve say that it may be one of a trip. A controller may move it too: `UV`
/// is the usual tag of an anti-surge valve.
pub(crate) fn may_be_control_valve(drawing: &Drawing<'_>, valve: NodeId) -> bool {
    emergency_valve(drawing, valve) == Some((EmergencyValve::Possible, "tag"))
}

/// Returns whether a field or an attribute states a safety instrumented function: `sil: 2`, `sis: true`.
fn states_safety(drawing: &Drawing<'_>, node: NodeId, charge: ChargeFn<'_>) -> Result<bool> {
    if drawing.node_field(node, Names::Safety).is_some_and(is_stated) {
        return Ok(true);
    }
    let attributes = drawing.node(node).as_object().and_then(|object| object.get("attributes"));
    let is_safety = |name: &str, value: Value<'_>| {
        name.len() <= MAX_CLASS && drawing.topology.config.contains(Names::Safety, name) && is_stated(value)
    };
    match attributes {
        Some(Value::Object(attributes)) => {
            charge(attributes.iter().count() as u64)?;
            Ok(attributes.iter().any(|(name, value)| is_safety(name, value)))
        }
        Some(Value::Array(attributes)) => {
            charge(attributes.len() as u64)?;
            Ok(attributes.iter().any(|entry| {
                let field = |key: &str| entry.as_object()?.get(key);
                let name = field("name").and_then(Value::as_str);
                name.zip(field("value")).is_some_and(|(name, value)| is_safety(name, value))
            }))
        }
        _ => Ok(false),
    }
}

/// Words in texts of an integrity level that say that there is none, or that it is open.
const NO_LEVEL: &[&str] = &["bpcs", "hold", "kein", "keine", "non", "none", "not", "no", "nr", "tba", "tbc", "tbd"];

/// Returns whether a text states no integrity level: `no SIL`, `SIL a` (IEC 61511), `< SIL 1`, `-`.
fn states_no_level(text: &str) -> bool {
    let text = snake_case(text.trim());
    let mut words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).peekable();
    vocabulary::NEGATIVES.contains(&text.as_str())
        || text.starts_with('<')
        || matches!(text.as_str(), "a" | "sil_a" | "sila")
        || words.peek().is_none()
        || words.any(|word| NO_LEVEL.contains(&word))
}

/// Returns whether a value states what its field is for.
pub(crate) fn is_stated(value: Value<'_>) -> bool {
    match value {
        Value::Bool(is_stated) => is_stated,
        Value::Number(number) => number.value() > 0.0,
        Value::String(text) => !states_no_level(text),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Graph;
    use crate::limits::Limits;

    #[test]
    fn the_letters_of_a_tag_state_an_emergency_valve_with_and_without_hyphens() {
        let valve = |tag: &str| {
            let document = format!(r#"{{"nodes": [{{"id": 1, "tag": "{tag}", "class": "ball_valve"}}], "edges": []}}"#);
            let graph = Graph::from_json(document).expect("valid JSON");
            let drawing = graph.drawing(&Limits::default()).ok().flatten().expect("a drawing");
            emergency_valve(&drawing, 0).map(|(valve, _)| valve)
        };
        for (tag, expected) in [
            ("ESDV-1", Some(EmergencyValve::Shutdown)),
            ("ESD-V-1", Some(EmergencyValve::Shutdown)),
            ("BD-V-7", Some(EmergencyValve::Blowdown)),
            ("20-ESD-V-101A", Some(EmergencyValve::Shutdown)),
            ("20-ESDV-101A", Some(EmergencyValve::Shutdown)),
            ("20-BD-V-101", Some(EmergencyValve::Blowdown)),
            ("20-HV-101", None),
            ("XV-1", Some(EmergencyValve::Possible)),
            // The valve V-1 of area U.
            ("U-V-1", None),
            ("HV-1", None),
            ("V-1", None),
            ("", None),
        ] {
            assert_eq!(valve(tag), expected, "{tag}");
        }
    }
}
