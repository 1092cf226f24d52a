//! Number of ways of a valve, as its class and its fields state it: `3`, `"3.0"`, `III`, `ThreePortValve`.

use super::phrases::clauses;
use super::{is_declared, process_port_count, texts, values};
use crate::graph::adjacency::NodeId;
use crate::graph::config::{MAX_CLASS, Names};
use crate::graph::drawing::Drawing;
use crate::graph::node_memo::Property;
use crate::graph::vocabulary;
use crate::value::Value;

/// Number of ways of a valve.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Ways {
    /// One or two, or the drawing states none.
    AtMostTwo,
    /// A number is stated that is not understood.
    Unknown,
    Several,
}

/// Words for two ways, for one, and for the rest of a name such as `TwoPortValve`.
const FEW: &[&str] = &["one", "single", "two", "double", "dual", "i", "ii"];
const NEUTRAL: &[&str] =
    &["port", "ports", "ported", "way", "ways", "valve", "straight", "through", "angle", "full", "reduced", "bore"];
const SEVERAL: &[&str] =
    &["three", "four", "five", "six", "seven", "eight", "multi", "multiple", "many", "several", "iii", "iv", "v", "vi"];

/// Returns the number of ways that the class and the fields of a valve state.
pub(crate) fn ways(drawing: &Drawing<'_>, node: NodeId) -> Ways {
    const ALL: [Ways; 3] = [Ways::AtMostTwo, Ways::Unknown, Ways::Several];
    drawing.topology.memos.one_of_or_compute(Property::Ways, node, &ALL, || read_ways(drawing, node))
}

fn read_ways(drawing: &Drawing<'_>, node: NodeId) -> Ways {
    let config = &drawing.topology.config;
    if is_declared(drawing, node) {
        return Ways::AtMostTwo;
    }
    let is_several = drawing.class_texts(node).any(|class| config.has_several_ways(class))
        || texts(drawing, node, Names::ComponentName).any(|name| config.has_several_ways(name))
        || texts(drawing, node, Names::WayCount).any(|text| config.has_several_ways(text))
        || process_port_count(drawing, node) > 2;
    let ports = drawing.node_field(node, Names::Ports).filter(|ports| ports.as_array().is_none());
    // A text in this field may name the ports instead.
    let of_ports = ports.map(ways_of_value).filter(|ways| *ways != Ways::Unknown);
    match is_several {
        true => Ways::Several,
        false => {
            values(drawing, node, Names::WayCount).map(ways_of_value).chain(of_ports).max().unwrap_or(Ways::AtMostTwo)
        }
    }
}

fn ways_of_value(value: Value<'_>) -> Ways {
    match (value.as_f64(), value.as_str()) {
        (Some(number), _) => ways_of_number(number),
        (None, Some(text)) => ways_of_text(text.trim()),
        _ => Ways::AtMostTwo,
    }
}

fn ways_of_number(number: f64) -> Ways {
    if number > 2.0 { Ways::Several } else { Ways::AtMostTwo }
}

/// Returns the number of ways in a text. A larger number beside another one counts: `2/3` may be three.
fn ways_of_text(text: &str) -> Ways {
    if vocabulary::contains(vocabulary::NEGATIVES, text) {
        return Ways::AtMostTwo;
    }
    if let Ok(number) = text.replace(',', ".").parse::<f64>() {
        return ways_of_number(number);
    }
    if text.len() > MAX_CLASS || text.contains(['>', '<', '~', '?', '+', '≥', '≤']) {
        return Ways::Unknown;
    }
    let words = clauses(text).concat();
    let words = words.iter().map(String::as_str).filter(|word| !NEUTRAL.contains(word));
    words.map(ways_of_word).max().unwrap_or(Ways::Unknown)
}

fn ways_of_word(word: &str) -> Ways {
    match word.parse::<f64>() {
        Ok(number) => ways_of_number(number),
        Err(_) if SEVERAL.contains(&word) => Ways::Several,
        Err(_) if FEW.contains(&word) => Ways::AtMostTwo,
        Err(_) => Ways::Unknown,
    }
}
