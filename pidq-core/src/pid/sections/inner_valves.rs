//! Items inside a section of the plant: valves that may be switched, and passive safeguards.

use hashbrown::HashSet;

use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::drawing::Drawing;
use crate::graph::roles::{Role, TagLetters};
use crate::graph::topology::{Direction, EdgeFilter};
use crate::graph::vocabulary;
use crate::pid::ChargeFn;
use crate::pid::relief::devices::other_fitting;
use crate::pid::tag::Tag;
use crate::pid::valve_state::actuation::{is_actuated, tag_letters};

/// Returns whether a valve has an actuator and does not only throttle by itself, by its class, its fields, the letters of its
/// tag or what is connected with it: it may be closed in an emergency. `by_controllers` are the valves that controllers move:
/// where no class says so, as in DEXPI, these throttle.
pub(super) fn may_be_switched(
    drawing: &Drawing<'_>,
    node: NodeId,
    by_controllers: &HashSet<NodeId>,
    charge: ChargeFn<'_>,
) -> Result<bool> {
    let is_throttled = by_controllers.contains(&node) && !is_switched(drawing, node);
    Ok(match drawing.topology.roles[node as usize] {
        Role::Control => !(drawing.only_throttles(node) || is_throttled) || is_closed_by_hand(drawing, node),
        Role::Barrier if is_throttled => false,
        Role::Barrier => tag_letters(drawing, node) == TagLetters::Actuated || is_actuated(drawing, node, charge)?,
        _ => false,
    })
}

/// Returns whether the letters of the tag of a valve are not those of a variable that a valve controls, or its class says that it
/// is switched.
fn is_switched(drawing: &Drawing<'_>, node: NodeId) -> bool {
    // The valve of a quantity closes at the end of a batch.
    let is_throttled = |letter: char| letter != 'Q' && vocabulary::is_controlled_variable(letter);
    let is_other = |tag: Tag| !tag.letters.starts_with(is_throttled);
    drawing.tag(node).and_then(Tag::parse_letters).is_some_and(is_other)
        || drawing.class_has_word(node, vocabulary::SWITCHED_VALVE_WORDS)
}

/// Returns whether a control valve is operated by hand from afar, as an `HCV` is: an operator may close it.
fn is_closed_by_hand(drawing: &Drawing<'_>, node: NodeId) -> bool {
    drawing.tag(node).and_then(Tag::parse).is_some_and(|tag| tag.letters.starts_with('H'))
}

/// Returns whether the drawing gives an item one direction: a pipe into it and a pipe out of it.
pub(crate) fn has_one_direction(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let degree = |direction| drawing.topology.table(EdgeFilter::Flow, direction).degree(node);
    drawing.topology.flow_degree(node) == 2 && degree(Direction::Up) == 1 && degree(Direction::Down) == 1
}

/// Returns the kind of an item that stops a flame, a leak or a reverse flow by itself.
pub(crate) fn passive_kind(drawing: &Drawing<'_>, node: NodeId) -> Option<&'static str> {
    let known = vocabulary::PASSIVE_SAFEGUARDS.iter();
    let by_class = known.copied().find(|(word, _)| drawing.class_has(node, &[*word])).map(|(_, kind)| kind);
    by_class.or_else(|| other_fitting(drawing, node))
}
