//! Instruments at the end of a branch: most close it, and some let something in or out.

use super::measures_flow;
use crate::graph::adjacency::NodeId;
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::vocabulary::{self, StatedOf};
use crate::pid::tag::Tag;
use crate::pid::valve_state::state_phrases::has_state_phrase;
use crate::pid::valve_state::texts;

/// Returns what makes an instrument at the end of a branch uncertain: it measures a flow, or its class does not say what it is
/// and its tag is that of an analyzer, a sample point or a valve. The class of those is read as that of an item in a pipe.
pub(super) fn uncertainty(drawing: &Drawing<'_>, node: NodeId) -> Option<&'static str> {
    if drawing.topology.roles[node as usize] != Role::Instrument {
        return None;
    }
    if measures_flow(drawing, node) {
        return Some("flow_instrument_at_end");
    }
    if [Names::Description, Names::Remarks, Names::Status]
        .into_iter()
        .flat_map(|names| texts(drawing, node, names))
        .any(|text| has_state_phrase(text, StatedOf::Instrument))
    {
        return Some("unread_text");
    }
    let letters = drawing.tag(node).and_then(Tag::parse_letters).map(|tag| tag.letters)?;
    match () {
        () if !drawing.class_has_word(node, vocabulary::BUBBLES) => None,
        () if letters.starts_with('A') || letters == "SP" => Some("analyzer_at_end"),
        () if letters.len() > 1 && letters.ends_with('V') => Some("contradictory_tag"),
        () => None,
    }
}
