//! Position feedback: limit switches and position transmitters of the final elements of a loop.
//!
//! They report what the loop did, so they do not start it. The same switch may start another trip: a pump stops when the
//! valve in its suction closes.

use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter};
use crate::graph::vocabulary;
use crate::pid::tag::Tag;
use crate::pid::{ChargeFn, instrument_class};

/// Relation of a sensor to the final elements of a loop.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Feedback {
    /// It reports nothing about them.
    No,
    /// It reports the position of a valve that the drawing does not show.
    Unknown,
    /// It reports the position of one of them.
    Yes,
}

/// Returns whether an instrument reports the position of a final element: by a connection to it, or by its number.
pub(crate) fn of(
    drawing: &Drawing<'_>,
    node: NodeId,
    final_elements: &[NodeId],
    charge: ChargeFn<'_>,
) -> Result<Feedback> {
    let tag = drawing.tag(node).and_then(Tag::parse_letters);
    if !reports_position(drawing, node, tag.as_ref()) {
        return Ok(Feedback::No);
    }
    let Connected { valves, is_at_process, is_at_equipment } = connected(drawing, node, charge)?;
    charge(1 + (valves.len() + final_elements.len()) as u64)?;
    if !valves.is_empty() {
        let is_own = valves.iter().any(|valve| final_elements.contains(valve));
        return Ok(if is_own { Feedback::Yes } else { Feedback::No });
    }
    let has_number = |valve: &NodeId| {
        let other = drawing.tag(*valve).and_then(Tag::parse);
        drawing.topology.roles[*valve as usize].closes()
            && tag.as_ref().zip(other).is_some_and(|(tag, other)| is_same_number(tag, &other))
    };
    let states_end = tag.as_ref().is_some_and(|tag| tag.letters.chars().skip(1).any(|letter| "OC".contains(letter)));
    Ok(match () {
        // The position of a lid or a gate, whatever its number. `ZSC` and `ZSO` are those of a valve.
        () if is_at_equipment && !states_end => Feedback::No,
        () if final_elements.iter().any(has_number) => Feedback::Yes,
        () if is_at_process => Feedback::No,
        () if states_end => Feedback::Unknown,
        () => Feedback::No,
    })
}

/// Returns whether an instrument reports a position, by its letters or its class.
pub(crate) fn is_position(drawing: &Drawing<'_>, node: NodeId) -> bool {
    reports_position(drawing, node, drawing.tag(node).and_then(Tag::parse_letters).as_ref())
}

/// Returns the same with a tag that has been read. A controller of a position acts.
fn reports_position(drawing: &Drawing<'_>, node: NodeId, tag: Option<&Tag>) -> bool {
    let by_tag = tag.is_some_and(|tag| {
        let controls = tag.letters.contains('C') && !tag.letters.contains('S') && tag.letters.contains('I');
        instrument_class::has_position_letters(drawing, node) && !controls && !tag.split().1.contains(&'V')
    });
    // A limit switch of a level: `LSHH`. `LS` and `LSO` may be the letters of a limit switch of a valve.
    let measures_limit = || {
        tag.is_some_and(|tag| {
            tag.measures() && !tag.is_position() && tag.letters.len() > 2 && tag.letters.ends_with(['H', 'L'])
        })
    };
    by_tag || drawing.class_has_word(node, vocabulary::POSITION_SWITCHES) && !measures_limit()
}

fn is_same_number(tag: &Tag, other: &Tag) -> bool {
    let is_same_train = tag.suffix.is_empty() || other.suffix.is_empty() || tag.suffix == other.suffix;
    !tag.number.is_empty() && tag.number == other.number && tag.prefix == other.prefix && is_same_train
}

/// Connections of an instrument other than through another instrument.
#[derive(Default)]
struct Connected {
    /// The valves, with those of the actuators at which it is.
    valves: Vec<NodeId>,
    is_at_process: bool,
    is_at_equipment: bool,
}

/// Returns the connections of an instrument.
fn connected(drawing: &Drawing<'_>, node: NodeId, charge: ChargeFn<'_>) -> Result<Connected> {
    let topology = &drawing.topology;
    let table = topology.table(EdgeFilter::All, Direction::Both);
    charge(1 + table.degree(node) as u64)?;
    let mut found = Connected::default();
    let is_piece = |other: &NodeId| {
        topology.roles[*other as usize] == Role::Equipment && !instrument_class::is_driven(drawing, *other)
    };
    found.is_at_equipment = table.nodes(node).iter().any(is_piece);
    for other in table.nodes(node).iter().copied().chain(topology.field_group(node)) {
        if topology.roles[other as usize].closes() {
            found.valves.push(other);
        } else if topology.roles[other as usize] == Role::Instrument {
            if instrument_class::acts_by_class(drawing, other) {
                found.valves.extend(drawing.moved_valve(other, charge)?);
            }
        } else {
            found.is_at_process |= instrument_class::is_process(drawing, other);
        }
    }
    Ok(found)
}
