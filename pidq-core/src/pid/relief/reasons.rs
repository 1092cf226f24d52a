//! Reasons of the judgment of a relief path: the items that it depends on, and what they make of it.

use super::items::{Cause, Effect};
use super::sides::SideKind;
use crate::graph::adjacency::NodeId;
use crate::graph::drawing::Drawing;
use crate::pid::valve_state::fail_action::may_fail_closed;
use crate::pid::valve_state::{has_blind_position, has_position};

/// Judgment of a relief path, the best first.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum PathState {
    Open,
    Unknown,
    Blocked,
}

impl PathState {
    /// Returns the word in results.
    pub fn word(self) -> &'static str {
        match self {
            PathState::Open => "open",
            PathState::Unknown => "unknown",
            PathState::Blocked => "blocked",
        }
    }

    fn of(effect: Effect) -> PathState {
        match effect {
            Effect::Open | Effect::MayClose => PathState::Open,
            Effect::Unknown => PathState::Unknown,
            Effect::Closed => PathState::Blocked,
        }
    }
}

/// An item that a relief path depends on, or something that it lacks.
#[derive(Clone, Debug)]
pub(crate) struct Reason {
    pub cause: Cause,
    /// The item; the device if it lacks an inlet or an outlet.
    pub at: NodeId,
    pub side: SideKind,
    /// From the device to the item.
    pub path: Vec<NodeId>,
    /// The equipment that the outlet leads to, if the item is behind it.
    pub behind: Option<NodeId>,
    pub is_certain: bool,
    /// False for a valve that could be closed and whose position the drawing does not state.
    pub is_position_stated: bool,
}

impl Reason {
    /// Returns the judgment of a path with this item.
    pub fn state(&self) -> PathState {
        match (self.is_certain, self.behind) {
            (true, _) if !self.is_position_stated => PathState::of(self.cause.effect()).max(PathState::Unknown),
            (true, _) => PathState::of(self.cause.effect()),
            (false, None) if !self.is_position_stated => PathState::Unknown,
            (false, None) => PathState::of(self.cause.effect()).min(PathState::Unknown),
            (false, Some(_)) if self.cause.effect() >= Effect::Unknown => PathState::Unknown,
            (false, Some(_)) => PathState::Open,
        }
    }

    pub(super) fn of_device(device: NodeId, cause: Cause, side: SideKind) -> Reason {
        Reason { cause, at: device, side, path: Vec::new(), behind: None, is_certain: true, is_position_stated: true }
    }
}

/// Returns whether a cause is not that of a valve that could be closed, or a spool that could be removed, and whose
/// position the drawing does not state. That of a valve that closes when its actuator fails is none to rely on.
pub(super) fn is_position_stated(drawing: &Drawing<'_>, cause: Cause, at: NodeId) -> bool {
    match cause {
        Cause::NotLocked => has_position(drawing, at),
        // Finding the cause was charged for the same edges.
        Cause::Actuated => has_position(drawing, at) && !may_fail_closed(drawing, at, &mut |_| Ok(())).unwrap_or(true),
        Cause::RemovableSpool => has_blind_position(drawing, at),
        Cause::SomeWaysClosed => false,
        _ => true,
    }
}
