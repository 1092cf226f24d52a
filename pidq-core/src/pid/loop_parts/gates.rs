//! Gates of the logic of a trip (ISA-5.2, IEC 60617-12): an AND gate acts only if all of its inputs do.

use hashbrown::HashSet;

use crate::graph::adjacency::NodeId;
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter, EdgeFlags};
use crate::graph::vocabulary;
use crate::pid::instrument_class;
use crate::pid::stated_values::stated_fields;
use crate::pid::valve_state::texts;

/// Words of an AND gate, as the whole text of a field or between two tags.
const AND_WORDS: [&str; 4] = ["AND", "&", "UND", "ET"];
/// Words of a gate that passes on what its input does not say, as the whole text of a field.
const NOT_WORDS: [&str; 5] = ["NOT", "NAND", "NOR", "XOR", "XNOR"];
/// Words between tags of which one is enough.
const OR_WORDS: [&str; 5] = ["OR", "ODER", "OU", ">=1", "≥1"];

/// Returns the voting of an AND gate, such as `2oo2` for one with two inputs; `None` for other items and for one input.
pub(super) fn voting_of_gate(drawing: &Drawing<'_>, node: NodeId) -> Option<String> {
    if !is_and_gate(drawing, node) {
        return None;
    }
    let count = input_count(drawing, node);
    (count > 1).then(|| format!("{count}oo{count}"))
}

/// Returns the reason for which the drawing does not state that a signal passes a gate: it has to be absent (`inverted`), or the
/// other inputs of an AND gate (`one_input`) or the output of a gate (`no_output`) are not drawn.
pub(crate) fn uncertainty(drawing: &Drawing<'_>, node: NodeId) -> Option<&'static str> {
    match () {
        () if !may_be_gate(drawing, node) => None,
        () if inverts(drawing, node) => Some("inverted"),
        () if instrument_class::is_voter(drawing, node) && !instrument_class::sends_signal(drawing, node) => {
            Some("no_output")
        }
        () if is_and_gate_by_class(drawing, node) && input_count(drawing, node) < 2 => Some("one_input"),
        () => None,
    }
}

/// Returns the number of items that send a signal to a gate.
fn input_count(drawing: &Drawing<'_>, node: NodeId) -> usize {
    let topology = &drawing.topology;
    let signals = topology.table(EdgeFilter::All, Direction::Up).arcs(node);
    let is_signal = |edge: u32| topology.edge_flags[edge as usize].contains(EdgeFlags::SIGNAL);
    let inputs: HashSet<NodeId> = signals.filter(|(_, edge)| is_signal(*edge)).map(|(from, _)| from).collect();
    inputs.len()
}

/// Returns whether an item may be a gate: not equipment, a valve or a sensor.
fn may_be_gate(drawing: &Drawing<'_>, node: NodeId) -> bool {
    matches!(drawing.topology.roles[node as usize], Role::Instrument | Role::None)
        && !drawing.topology.is_equipment(node)
        && !instrument_class::senses(drawing, node)
}

fn inverts(drawing: &Drawing<'_>, node: NodeId) -> bool {
    drawing.class_has_word(node, vocabulary::INVERTING_GATES) || states(drawing, node, &NOT_WORDS)
}

/// Returns whether a class or the whole text of a field says that an item is an AND gate.
fn is_and_gate_by_class(drawing: &Drawing<'_>, node: NodeId) -> bool {
    drawing.class_has_word(node, &["and_gate", "and_logic"])
        || drawing.class_ends_with_word(node, &["and"])
        || states(drawing, node, &AND_WORDS)
}

/// Returns whether a field has one of some words as its whole text.
fn states(drawing: &Drawing<'_>, node: NodeId, words: &[&str]) -> bool {
    let mut fields = drawing.node(node).as_object().into_iter().flat_map(stated_fields);
    let is_word = |text: &str| words.iter().any(|word| text.trim().eq_ignore_ascii_case(word));
    fields.any(|(_, stated)| stated.value.as_str().is_some_and(is_word))
}

/// Returns whether a class, the whole text of a field, or a text such as `LSLL-1 AND PSHH-2` says that a logic needs all
/// inputs.
fn is_and_gate(drawing: &Drawing<'_>, node: NodeId) -> bool {
    is_and_gate_by_class(drawing, node)
        || [Names::Description, Names::Remarks].into_iter().any(|names| texts(drawing, node, names).any(joins_tags))
}

/// Returns whether a text joins two tags by a word for AND in capitals, and none by one for OR.
fn joins_tags(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_tag = |word: &&str| word.contains(|c: char| c.is_ascii_digit());
    let joins =
        |known: &[&str]| words.windows(3).any(|part| known.contains(&part[1]) && is_tag(&part[0]) && is_tag(&part[2]));
    joins(&AND_WORDS) && !joins(&OR_WORDS)
}

#[cfg(test)]
mod tests {
    use super::joins_tags;

    #[test]
    fn tags_are_joined_by_and() {
        for (text, expected) in [
            ("LSLL-1 AND PSHH-2", true),
            ("trips on LSLL-1 & PSHH-2", true),
            ("LSLL-1 AND PSHH-2 OR TSHH-3", false),
            ("LSLL-1 and PSHH-2", false),
            ("High level AND high pressure", false),
            ("AND", false),
        ] {
            assert_eq!(joins_tags(text), expected, "{text}");
        }
    }
}
