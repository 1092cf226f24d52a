//! Gates of the logic of a trip (ISA-5.2, IEC 60617-12): an AND gate acts only if all of its inputs do.

use hashbrown::HashSet;

use crate::graph::adjacency::NodeId;
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::topology::{Direction, EdgeFilter, EdgeFlags};
use crate::pid::stated_values::stated_fields;
use crate::pid::valve_state::texts;

/// Words of an AND gate, as the whole text of a field or between two tags.
const AND_WORDS: [&str; 4] = ["AND", "&", "UND", "ET"];
/// Words between tags of which one is enough.
const OR_WORDS: [&str; 5] = ["OR", "ODER", "OU", ">=1", "≥1"];

/// Returns the voting of an AND gate, such as `2oo2` for one with two inputs; `None` for other items and for one input.
pub(super) fn voting_of_gate(drawing: &Drawing<'_>, node: NodeId) -> Option<String> {
    if !is_and_gate(drawing, node) {
        return None;
    }
    let topology = &drawing.topology;
    let signals = topology.table(EdgeFilter::All, Direction::Up).arcs(node);
    let is_signal = |edge: u32| topology.edge_flags[edge as usize].contains(EdgeFlags::SIGNAL);
    let inputs: HashSet<NodeId> = signals.filter(|(_, edge)| is_signal(*edge)).map(|(from, _)| from).collect();
    (inputs.len() > 1).then(|| format!("{0}oo{0}", inputs.len()))
}

/// Returns whether a class, the whole text of a field, or a text such as `LSLL-1 AND PSHH-2` says that a logic needs all
/// inputs.
fn is_and_gate(drawing: &Drawing<'_>, node: NodeId) -> bool {
    if drawing.class_has_word(node, &["and_gate", "and_logic"]) || drawing.class_ends_with_word(node, &["and"]) {
        return true;
    }
    let mut fields = drawing.node(node).as_object().into_iter().flat_map(stated_fields);
    let is_and = |text: &str| AND_WORDS.iter().any(|and| text.trim().eq_ignore_ascii_case(and));
    fields.any(|(_, stated)| stated.value.as_str().is_some_and(is_and))
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
