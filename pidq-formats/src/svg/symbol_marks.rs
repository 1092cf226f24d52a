//! Marks of symbols: normally closed valves, locks, fail positions and set pressures; frames of instruments in a system.
//!
//! As in ISO 10628-2 and ISA-5.1. What a drawing does not say has no mark.

use std::collections::{BTreeMap, BTreeSet};

use pidq_core::{Object, Value, fail_mark};

use crate::model::{EdgeRole, Model, Node};
use crate::snake_case::snake_case;
use crate::symbols::{Placement, Symbol};

/// Systems of an instrument by words of its class, location or system, and the frames around its bubble.
pub const FRAMES: &[(&[&str], &str)] = &[
    (
        &["sis", "safety_instrumented", "logic_solver", "interlock"],
        "<path class=\"s\" d=\"M-16 -16H16V16H-16Z\"/><path class=\"s\" d=\"M0 -16L16 0L0 16L-16 0Z\"/>",
    ),
    (
        &["plc", "programmable"],
        "<path class=\"s\" d=\"M-16 -16H16V16H-16Z\"/><path class=\"n\" d=\"M0 -16L16 0L0 16L-16 0Z\"/>",
    ),
    (&["computer"], "<path class=\"s\" d=\"M-16 0L-9 -15H9L16 0L9 15H-9Z\"/>"),
    (
        &["dcs", "bpcs", "shared_display", "distributed_control"],
        "<path class=\"s\" d=\"M-16 -16H16V16H-16Z\"/><circle class=\"s\" r=\"16\"/>",
    ),
];
const SYSTEM_FIELDS: &[&str] = &["location", "system", "control_system", "display", "function_system"];
/// Attributes with the kind of an instrument, and words of its location that give its bubble a line.
const SYSTEM_ATTRIBUTES: &[&str] = &["ProcessInstrumentationFunctionType", "ProcessInstrumentationFunctionLocation"];
const PRIMARY_WORDS: &[&str] = &["control", "central", "panel", "board", "primary"];
const AUXILIARY_WORDS: &[&str] =
    &["auxiliary", "secondary", "local_panel", "local_control", "local_board", "field_panel", "skid_panel"];
const INACCESSIBLE_WORDS: &[&str] = &["behind", "rear", "inaccessible", "not_accessible"];

/// Returns the texts next to a symbol: fail position, lock, set pressure.
pub fn texts(node: &Node<'_>, symbol: &Symbol) -> Vec<String> {
    if symbol.placement != Placement::Inline {
        return Vec::new();
    }
    let fail = node.stated("fail_action").iter().find_map(|text| fail_mark(text)).map(str::to_owned);
    let lock = lock_of(node).map(str::to_owned);
    let is_relief = symbol.name.contains("safety_valve") || matches!(symbol.name, "rupture_disc" | "breather");
    let set = if is_relief { node.stated("set_pressure").into_iter().next() } else { None };
    fail.into_iter().chain(lock).chain(set.map(|set| format!("SET {set}"))).collect()
}

/// Returns the body of a symbol in the position that the drawing states: a valve that is normally closed is filled, and a
/// closed spectacle blind has its plate in the pipe.
pub fn body_of(node: &Node<'_>, symbol: &Symbol, body: &str) -> String {
    let is_stated_closed = |list: &str| node.stated(list).iter().any(|word| node.is_closed_value(word));
    if is_stated_closed("normal_position") || lock_of(node).is_some_and(|lock| CLOSED_LOCKS.contains(&lock)) {
        closed_body(symbol, body)
    } else {
        body.to_owned()
    }
}

/// Marks of the locks of closed valves.
const CLOSED_LOCKS: &[&str] = &["LC", "CSC"];

/// Words of a lock that do not say in which position.
const LOCKED_WORDS: &[&str] = &["true", "yes", "y", "1", "locked", "lock", "car_seal", "car_sealed", "sealed", "ja"];

/// Returns the mark of the lock of a valve, by its normal position or its lock. A lock without a position locks the normal
/// one.
fn lock_of(node: &Node<'_>) -> Option<&'static str> {
    let (positions, locks) = (node.stated("normal_position"), node.stated("lock"));
    let named = positions.iter().chain(&locks).find_map(|word| node.lock_mark(word));
    named.or_else(|| {
        let is_locked = locks.iter().any(|lock| LOCKED_WORDS.contains(&words(lock).as_str()));
        let of_position = |word: &String| match () {
            () if node.is_closed_value(word) => Some("LC"),
            () if node.has_value("open_values", word) => Some("LO"),
            () => None,
        };
        positions.iter().filter(|_| is_locked).find_map(of_position)
    })
}

/// Symbols with a part that stays white when the valve is closed: the ball, the plug, the actuator.
const WHITE_PARTS: &[&str] = &["ball_valve", "plug_valve", "control_valve"];

/// Returns the body of a symbol in the closed position.
pub fn closed_body(symbol: &Symbol, body: &str) -> String {
    let (outline, filled) = ("class=\"s\"", "class=\"f\"");
    match symbol.name {
        "spectacle_blind" => body.replace(filled, "class=\"\"").replace(outline, filled).replace("class=\"\"", outline),
        name if WHITE_PARTS.contains(&name) => body.replacen(outline, filled, 1),
        name if name.contains("valve") => body.replace(outline, filled),
        _ => body.to_owned(),
    }
}

/// Returns the bubble of an instrument in a system; `None` for a plain one.
pub fn frame(node: &Node<'_>) -> Option<&'static str> {
    let class = node.class();
    let fields = SYSTEM_FIELDS.iter().filter_map(|key| node.fields.get(key).and_then(Value::as_str)).map(words);
    let attributes = SYSTEM_ATTRIBUTES.iter().map(|name| snake_case(&attribute(node, name)));
    let all: Vec<String> = fields.chain(attributes).chain([words(&class)]).collect();
    let has_word = |word: &str| all.iter().any(|text| format!("_{text}_").contains(&format!("_{word}_")));
    FRAMES.iter().find(|(names, _)| names.iter().any(|name| has_word(name))).map(|(_, frame)| *frame)
}

/// Line through the bubble of an instrument, by its location (ISA-5.1).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LocationLine {
    /// True for an auxiliary location, such as a local panel.
    pub is_double: bool,
    /// True behind the panel, where the operator has no access.
    pub is_dashed: bool,
}

impl LocationLine {
    /// Returns the path of the line through a bubble with a radius.
    pub fn path(self, radius: f64) -> String {
        let line = |y: f64| format!("M{:.1} {y:.1}H{radius:.1}", -radius);
        if self.is_double { line(-0.09 * radius) + &line(0.09 * radius) } else { line(0.0) }
    }
}

/// Returns the line of the location of an instrument; `None` in the field, or if the location is not known.
pub fn location_line(node: &Node<'_>) -> Option<LocationLine> {
    let field = words(node.fields.get("location").and_then(Value::as_str).unwrap_or_default());
    let location = snake_case(&attribute(node, SYSTEM_ATTRIBUTES[1]));
    let has = |list: &[&str]| list.iter().any(|word| field.contains(word) || location.contains(word));
    let (is_double, is_dashed) = (has(AUXILIARY_WORDS), has(INACCESSIBLE_WORDS));
    (is_double || is_dashed || has(PRIMARY_WORDS)).then_some(LocationLine { is_double, is_dashed })
}

/// Returns the first listed attribute of a node with a name; empty if there is none.
pub fn attribute(node: &Node<'_>, name: &str) -> String {
    listed_attribute(node.fields, name)
}

/// Returns the first listed attribute with one of the endings that profiles add to a name; empty if there is none.
pub fn listed_attribute(fields: Object<'_>, name: &str) -> String {
    const ENDINGS: &[&str] = &["", "AssignmentClass", "Specialization", "RepresentationAssignmentClass"];
    let listed = fields.get("attributes").and_then(Value::as_array);
    let listed = listed.into_iter().flat_map(|list| list.iter()).filter_map(Value::as_object);
    let is_named = |found: &str| found.strip_prefix(name).is_some_and(|ending| ENDINGS.contains(&ending));
    let named = listed.filter(|row| row.get("name").and_then(Value::as_str).is_some_and(is_named));
    let values = named.filter_map(|row| row.get("value").and_then(Value::as_str));
    values.map(str::trim).find(|value| !value.is_empty()).unwrap_or_default().to_owned()
}

/// Fields with the diameter at the outlet of a reducer.
const OUTLET_SIZES: &[&str] = &["outlet_diameter", "nominal_diameter_out", "outlet_size"];

/// Returns the reducers that widen in flow direction: by their own sizes, or else by those of their pipes.
pub fn widening_reducers(model: &Model<'_>, symbols: &[&Symbol]) -> BTreeSet<usize> {
    let is_reducer = |node: &usize| symbols[*node].name == "reducer";
    let mut sizes: BTreeMap<usize, [Option<f64>; 2]> = BTreeMap::new();
    for edge in model.edges.iter().filter(|edge| edge.role() == EdgeRole::Flow) {
        for (side, node) in [edge.to.node, edge.from.node].into_iter().enumerate() {
            if let Some(node) = node.filter(is_reducer) {
                sizes.entry(node).or_default()[side] = edge.size();
            }
        }
    }
    let reducers = (0..model.nodes.len()).filter(is_reducer);
    let widens = |node: &usize| {
        let fields = &model.nodes[*node];
        let outlet = OUTLET_SIZES.iter().find_map(|key| fields.fields.get(key)).and_then(Value::as_f64);
        let [pipe_in, pipe_out] = sizes.get(node).copied().unwrap_or_default();
        match (fields.size(), outlet) {
            (Some(inlet), Some(outlet)) => inlet < outlet,
            _ => pipe_in.zip(pipe_out).is_some_and(|(inlet, outlet)| inlet < outlet),
        }
    };
    reducers.filter(widens).collect()
}

/// Returns a text in lower case, with underscores between words.
fn words(text: &str) -> String {
    text.trim().to_lowercase().replace([' ', '-', '.', '/'], "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_valve_keeps_its_ball_and_its_actuator_visible() {
        for (name, outlines) in [("ball_valve", 1), ("control_valve", 1), ("gate_valve", 0), ("three_way_valve", 0)] {
            let symbol = crate::symbols::SYMBOLS.iter().find(|symbol| symbol.name == name).expect("a symbol");
            let crate::symbols::Body::Fixed(body) = symbol.body else { panic!("{name} is fixed") };
            let closed = closed_body(symbol, body);
            assert_eq!(closed.matches("class=\"s\"").count(), outlines, "{name}");
            assert!(closed.starts_with("<path class=\"f\""), "{name}");
        }
    }
}
