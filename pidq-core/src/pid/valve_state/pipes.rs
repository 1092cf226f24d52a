//! State of a pipe as the drawing gives it: not there, closed, or of a status that does not say so.
//!
//! Most drawings state nothing about their pipes, which are open then.

use super::{Installation, installation, installation_by_texts, installation_of, is_in, phrases, states_of, truth};
use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NodeId};
use crate::graph::config::{MAX_CLASS, Names};
use crate::graph::drawing::Drawing;
use crate::graph::topology::{Direction, EdgeFilter};
use crate::graph::vocabulary;
use crate::pid::ChargeFn;
use crate::pid::stated_values::{may_state, stated_fields};
use crate::value::Value;

/// State of a pipe, from open to closed.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum PipeState {
    /// It is there, or the drawing says nothing.
    Open,
    /// Its status does not say whether it is there.
    Unknown,
    /// It is not there now: removed, demolished, for the future.
    NotInstalled,
    /// It is blanked, or has a position that is closed.
    Closed,
}

impl PipeState {
    /// Returns the word in lists of what an answer is uncertain about; `None` for an open pipe.
    pub fn uncertainty(self) -> Option<&'static str> {
        match self {
            PipeState::Open => None,
            PipeState::Unknown => Some("unknown_status"),
            PipeState::NotInstalled => Some("not_installed"),
            PipeState::Closed => Some("closed_pipe"),
        }
    }
}

/// Returns the state of a pipe: its own, or that of the segment or the line that it names.
pub(crate) fn pipe_state(drawing: &Drawing<'_>, pipe: EdgeId) -> PipeState {
    const ALL: [PipeState; 4] = [PipeState::Open, PipeState::Unknown, PipeState::NotInstalled, PipeState::Closed];
    let read = || read_state(drawing, pipe) as u8;
    ALL[usize::from(drawing.topology.pipe_states.get_or_compute(pipe, read))]
}

fn read_state(drawing: &Drawing<'_>, pipe: EdgeId) -> PipeState {
    let edge = drawing.edge(pipe);
    let by_texts = state_by(installation_by_texts(drawing, edge, phrases::installation_by_text));
    let own_state = match may_state(edge, drawing.topology.state_names()) {
        true => own_state(drawing, edge).max(by_texts),
        false => by_texts,
    };
    if own_state >= PipeState::NotInstalled {
        return own_state;
    }
    let segment = drawing.edge_field(pipe, Names::Segment).and_then(|id| drawing.by_id(id));
    let of_segment = segment.map_or(PipeState::Open, |segment| group_state(drawing, segment));
    let of_line = drawing.edge_field(pipe, Names::Line).map_or(PipeState::Open, |name| line_state(drawing, name));
    own_state.max(of_segment).max(of_line)
}

/// Returns the state that the line with an id, or else the lines with a tag, give to a pipe. It may be a pipe of any of
/// several lines with the same tag: of one that is there, and of one that is blanked.
fn line_state(drawing: &Drawing<'_>, name: Value<'_>) -> PipeState {
    let by_id = drawing.by_id(name);
    let lines = match by_id {
        Some(_) => by_id.as_slice(),
        None => name.as_str().map_or(&[][..], |tag| drawing.lines_by_tag(tag)),
    };
    let states = lines.iter().take(MAX_LINES).map(|line| group_state(drawing, *line));
    let (lowest, highest) = states
        .fold((PipeState::Closed, PipeState::Open), |(lowest, highest), state| (state.min(lowest), state.max(highest)));
    match highest {
        PipeState::Open => PipeState::Open,
        highest if lowest == highest => highest,
        _ => PipeState::Unknown,
    }
}

/// Returns the state that a segment or a line gives to its pipes.
fn group_state(drawing: &Drawing<'_>, group: NodeId) -> PipeState {
    let fields = drawing.node(group);
    let own_state = match may_state(fields, drawing.topology.state_names()) {
        true => own_state(drawing, fields),
        false => PipeState::Open,
    };
    own_state.max(state_by(installation(drawing, group)))
}

/// Returns the state of a pipe by its own fields and attributes.
fn own_state(drawing: &Drawing<'_>, edge: Value<'_>) -> PipeState {
    if is_closed(drawing, edge) {
        return PipeState::Closed;
    }
    let mut positions = POSITIONS.iter().flat_map(|names| states_of(drawing, edge, *names));
    if positions.any(|position| is_in(drawing, Some(position), Names::Removed)) {
        return PipeState::NotInstalled;
    }
    state_by(installation_of(drawing, edge, phrases::installation_by_text))
}

fn state_by(installation: Installation) -> PipeState {
    match installation {
        Installation::NotInstalled => PipeState::NotInstalled,
        Installation::Unknown => PipeState::Unknown,
        Installation::Installed => PipeState::Open,
    }
}

/// Limit of the lines with the same tag that are read.
const MAX_LINES: usize = 32;

const POSITIONS: [Names; 3] = [Names::NormalPosition, Names::BlindPosition, Names::Lock];

/// Returns whether a position, a status or a mark says that a pipe is closed.
fn is_closed(drawing: &Drawing<'_>, edge: Value<'_>) -> bool {
    let says_closed = |value: Value<'_>| {
        let is_listed = [Names::Closed, Names::LockedClosed].iter().any(|names| is_in(drawing, Some(value), *names));
        is_listed || value.as_str().is_some_and(|text| vocabulary::contains(vocabulary::BLANKED, text.trim()))
    };
    let mut names = POSITIONS.into_iter().chain([Names::Status]);
    names.any(|names| states_of(drawing, edge, names).any(says_closed)) || has_closed_mark(edge)
}

/// Returns whether a mark such as `blinded: true` says that a pipe or an item in one is closed.
pub(super) fn has_closed_mark(holder: Value<'_>) -> bool {
    let is_mark = |name: &str| name.len() <= MAX_CLASS && vocabulary::contains(vocabulary::CLOSED_MARKS, name.trim());
    let mut fields = holder.as_object().into_iter().flat_map(stated_fields);
    fields.any(|(name, stated)| truth(stated.value) == Some(true) && is_mark(name))
}

/// Returns the state of the pipes between two items: that of the most open one.
pub(crate) fn state_between(drawing: &Drawing<'_>, [from, to]: [NodeId; 2], charge: ChargeFn<'_>) -> Result<PipeState> {
    let table = drawing.topology.table(EdgeFilter::Flow, Direction::Both);
    // A header may have many pipes.
    let [near, far] = if table.degree(to) < table.degree(from) { [to, from] } else { [from, to] };
    charge(table.degree(near) as u64)?;
    let pipes = table.arcs(near).filter(|(other, _)| *other == far);
    Ok(pipes.map(|(_, pipe)| pipe_state(drawing, pipe)).min().unwrap_or(PipeState::Open))
}
