//! Change-over valves before relief devices: the valve stands to one of them, and the drawing does not state to which.

use hashbrown::HashSet;

use super::ReliefPath;
use super::devices::opens_inwards;
use super::exits::open_device;
use super::items::{Cause, is_changeover};
use super::paths::{Branches, Search};
use super::reasons::Reason;
use super::sides::SideKind;
use super::tails::Tails;
use super::way_out::{OpenDevice, WayOut};
use super::ways_out::way_out;
use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::snake_case::snake_case;
use crate::graph::vocabulary;
use crate::pid::ChargeFn;
use crate::pid::dead_ends::neighbors;
use crate::pid::valve_state::texts;

impl ReliefPath {
    /// Adds the change-over valves in the inlet that may stand to another device whose path is not open.
    pub(super) fn add_changeovers(
        &mut self,
        drawing: &Drawing<'_>,
        tails: &mut Tails,
        charge: ChargeFn<'_>,
    ) -> Result<()> {
        let mut found = Vec::new();
        for side in self.sides.iter().filter(|side| side.kind == SideKind::Inlet) {
            for (at, valve) in side.shared.iter().copied().enumerate() {
                charge(1)?;
                if !is_changeover(drawing, valve) {
                    continue;
                }
                for device in devices_behind(drawing, valve, charge)? {
                    if device != self.device && !is_open(drawing, device, tails, charge)? {
                        let path = [&[self.device], &side.shared[..=at]].concat();
                        let reason = Reason::of_device(self.device, Cause::SeveralWays, SideKind::Inlet);
                        found.push(Reason { at: valve, path, ..reason });
                        break;
                    }
                }
            }
        }
        found.extend(self.crossed_changeover(drawing, charge)?);
        found.into_iter().for_each(|reason| self.add(drawing, reason));
        Ok(())
    }

    /// Returns a change-over valve in the outlet that may stand to another device than that in the inlet: neither of them is
    /// open then. Valves that are linked stand to the same one.
    fn crossed_changeover(&self, drawing: &Drawing<'_>, charge: ChargeFn<'_>) -> Result<Option<Reason>> {
        let of_kind = |kind: SideKind| self.sides.iter().filter(move |side| side.kind == kind);
        let inlets: Vec<NodeId> = of_kind(SideKind::Inlet).flat_map(|side| &side.shared).copied().collect();
        charge(1 + inlets.len() as u64)?;
        if !inlets.iter().any(|node| is_changeover(drawing, *node) && !is_linked(drawing, *node)) {
            return Ok(None);
        }
        for side in of_kind(SideKind::Outlet) {
            for (at, valve) in side.shared.iter().copied().enumerate() {
                charge(1)?;
                if !is_changeover(drawing, valve) || is_linked(drawing, valve) {
                    continue;
                }
                let devices = devices_behind(drawing, valve, charge)?;
                if devices.iter().any(|device| *device != self.device) {
                    let path = [&[self.device], &side.shared[..=at]].concat();
                    let reason = Reason::of_device(self.device, Cause::SeveralWays, SideKind::Outlet);
                    return Ok(Some(Reason { at: valve, path, ..reason }));
                }
            }
        }
        Ok(None)
    }
}

/// Returns whether a text or the lock of a valve says that it is moved together with another one.
fn is_linked(drawing: &Drawing<'_>, valve: NodeId) -> bool {
    let says_linked = |text: &str| {
        let text = snake_case(text);
        vocabulary::LINKED.iter().any(|part| text.contains(part))
    };
    let names = [Names::Remarks, Names::Description, Names::Lock, Names::ComponentName];
    names.iter().any(|names| texts(drawing, valve, *names).any(says_linked))
}

/// Returns the relief devices to which the ways of a valve lead, each past items with one way on.
fn devices_behind(drawing: &Drawing<'_>, valve: NodeId, charge: ChargeFn<'_>) -> Result<Vec<NodeId>> {
    const MAX_STEPS: usize = 20;
    let mut devices = Vec::new();
    for first in neighbors(drawing, valve, charge)? {
        let (mut before, mut node) = (valve, first);
        for _ in 0..MAX_STEPS {
            if drawing.topology.roles[node as usize] == Role::Relief {
                devices.push(node);
                break;
            }
            let avoided = HashSet::from([before]);
            let search = Search::new(drawing, &avoided).along(Branches::MainAndRelief);
            if search.is_end(node) {
                break;
            }
            let next = search.continuations(node, charge)?;
            let [only] = next.as_slice() else { break };
            (before, node) = (node, *only);
        }
    }
    Ok(devices)
}

/// Returns whether a device relieves, and has an open path to where it discharges.
fn is_open(drawing: &Drawing<'_>, device: NodeId, tails: &mut Tails, charge: ChargeFn<'_>) -> Result<bool> {
    let known = open_device(drawing, device, tails, charge)?;
    let Some(OpenDevice { uncertainty: None, receivers }) = known.filter(|_| !opens_inwards(drawing, device)) else {
        return Ok(false);
    };
    for (side, _) in receivers {
        if !matches!(way_out(drawing, side, tails, charge)?, WayOut::Certain) {
            return Ok(false);
        }
    }
    Ok(true)
}
