//! Records of an isolation: barriers, open branches, relief devices, and what is uncertain.

use hashbrown::HashSet;

use super::bleeds::{BleedEnd, bleed_at, bleed_end};
use super::relief_lost::Protection;
use super::{Barrier, DataGap, Isolation, OpenBranch, Step, Uncertainty};
use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::config::Names;
use crate::graph::roles::Role;
use crate::graph::vocabulary;
use crate::pid::dead_ends::is_cap;
use crate::pid::valve_state::{self, BlindPosition, blind_position, fail_action, is_closed, is_stated_open};
use crate::pid::{ChargeFn, Datum};

const RESULT: &[&str] = &[
    "target",
    "isolated",
    "barriers",
    "unresolved",
    "inside",
    "conditional",
    "relief",
    "kept_open",
    "internal",
    "bleeds",
    "dead_ends",
    "swallowed",
    "data_gaps",
    "complete",
    "certain",
    "uncertain",
];
const BARRIER: &[&str] = &[
    "node",
    "port",
    "ports",
    "path",
    "kind",
    "method",
    "closed",
    "position",
    "lock",
    "fail_action",
    "action",
    "cuts_off",
    "certain",
];
const CONDITIONAL: &[&str] = &["node", "action", "path", "closed", "position", "lock", "fail_action"];
const RELIEF: &[&str] = &["node", "path", "valves", "closed", "cut_off_by", "relief_path"];
const UNRESOLVED: &[&str] = &["port", "kind", "at", "path", "partner"];
const GAP: &[&str] = &["kind", "at", "edge"];
const UNCERTAINTY: &[&str] = &["reason", "at", "edge"];

/// A relief device of what is isolated, and the barriers that cut it off.
struct Device {
    node: NodeId,
    path: Vec<NodeId>,
    cut_off_by: Vec<NodeId>,
    /// The barrier takes it from a machine outside of the volume.
    is_of_machine: bool,
}

impl Device {
    fn new(node: NodeId, path: Vec<NodeId>, cut_off_by: Vec<NodeId>) -> Device {
        Device { node, path, cut_off_by, is_of_machine: false }
    }
}

/// Relief devices that a barrier cuts off.
pub(super) struct CutOff {
    pub devices: Vec<NodeId>,
    /// The barrier takes them only from machines outside of the volume.
    pub is_of_machines: bool,
}

impl<'a> Isolation<'_, 'a> {
    pub(super) fn result(&self, targets: &[NodeId], charge: ChargeFn<'_>) -> Result<Datum<'a>> {
        let mut protection = self.protection.borrow_mut();
        let cut_off = self.devices_cut_off(&mut protection, charge)?;
        let mut barriers = Vec::with_capacity(self.barriers.len());
        for (barrier, devices) in self.barriers.iter().zip(&cut_off) {
            barriers.push(self.barrier_row(barrier, devices, charge)?);
        }
        let mut conditional = Vec::with_capacity(self.conditional.len());
        for item in &self.conditional {
            conditional.push(self.conditional_row(item.step, item.action, charge)?);
        }
        Ok(Datum::Record(
            RESULT,
            vec![
                Isolation::target(targets),
                Datum::Word(self.isolated()),
                Datum::Table(BARRIER, barriers),
                self.unresolved(),
                Datum::Nodes(self.inside.clone()),
                Datum::Table(CONDITIONAL, conditional),
                self.relief_table(&cut_off, &mut protection, charge)?,
                Datum::Nodes(self.kept_open.clone()),
                Datum::Nodes(self.internal.clone()),
                Datum::Nodes(self.bleeds(charge)?),
                Datum::Nodes(self.dead_ends.clone()),
                Datum::Nodes(self.swallowed.clone()),
                self.data_gaps(),
                Datum::Bool(self.is_complete()),
                Datum::Bool(self.is_certain()),
                self.uncertain(),
            ],
        ))
    }

    pub(super) fn target<'d>(targets: &[NodeId]) -> Datum<'d> {
        match targets {
            [target] => Datum::Node(*target),
            several => Datum::Nodes(several.into()),
        }
    }

    /// Returns whether all is isolated: `no` if a branch stays open, `yes` if none does and the drawing states
    /// everything that this rests on, `unknown` otherwise.
    pub(super) fn isolated(&self) -> &'static str {
        match () {
            () if !self.open.is_empty() => "no",
            () if self.is_complete() && self.is_certain() => "yes",
            () => "unknown",
        }
    }

    /// Returns whether no branch stays open and nothing is missing in the drawing.
    pub(super) fn is_complete(&self) -> bool {
        self.open.is_empty() && self.gaps.is_empty()
    }

    /// Returns whether the drawing states everything that the result rests on.
    pub(super) fn is_certain(&self) -> bool {
        let is_cut_short = self.open.iter().any(|open| open.kind == "limit");
        self.uncertainties.is_empty() && self.gaps.is_empty() && !is_cut_short
    }

    pub(super) fn unresolved(&self) -> Datum<'a> {
        Datum::Table(UNRESOLVED, self.open.iter().map(|open| self.open_branch_row(open)).collect())
    }

    pub(super) fn data_gaps(&self) -> Datum<'a> {
        let row = |gap: &DataGap| vec![Datum::Word(gap.kind), Datum::Node(gap.at), Datum::Edge(gap.edge)];
        Datum::Table(GAP, self.gaps.iter().map(row).collect())
    }

    pub(super) fn uncertain(&self) -> Datum<'a> {
        let row = |uncertainty: &Uncertainty| {
            vec![Datum::Word(uncertainty.reason), Datum::Node(uncertainty.at), Datum::Edge(uncertainty.edge)]
        };
        Datum::Table(UNCERTAINTY, self.uncertainties.iter().map(row).collect())
    }

    /// Returns the barriers on branches that lead to nothing: drains, vents and bleeds of the volume.
    pub(super) fn bleeds(&self, charge: ChargeFn<'_>) -> Result<Vec<NodeId>> {
        let mut bleeds = Vec::new();
        for barrier in &self.barriers {
            let Step { node, from, .. } = self.steps[barrier.step as usize];
            if bleed_end(self.drawing, node, self.node_at(from), charge)?.is_some_and(BleedEnd::is_drawn) {
                bleeds.push(node);
            }
        }
        Ok(bleeds)
    }

    /// Returns whether a bleed of the volume ends in a system into which others discharge too.
    pub(super) fn bleeds_into_shared_system(&self, bleed: NodeId, charge: ChargeFn<'_>) -> Result<bool> {
        let barrier = self.barrier_of.get(&bleed).and_then(|at| self.barriers.get(*at));
        let Some(Step { node, from, .. }) = barrier.and_then(|barrier| self.steps.get(barrier.step as usize)) else {
            return Ok(false);
        };
        Ok(bleed_end(self.drawing, *node, self.node_at(*from), charge)? == Some(BleedEnd::SharedSystem))
    }

    fn barrier_row(&self, barrier: &Barrier, cut_off: &[Device], charge: ChargeFn<'_>) -> Result<Vec<Datum<'a>>> {
        let node = self.steps[barrier.step as usize].node;
        let [position, lock] = valve_state::columns(self.drawing, node);
        Ok(vec![
            Datum::Node(node),
            Datum::Node(barrier.ports[0]),
            Datum::Nodes(barrier.ports.clone()),
            Datum::Nodes(self.path(barrier.step)),
            Datum::Word(barrier.kind),
            Datum::Word(self.method(barrier, charge)?),
            Datum::Bool(self.is_closed(barrier)),
            position,
            lock,
            Datum::value(fail_action::stated(self.drawing, node, charge)?),
            Datum::Word(self.action(barrier)),
            Datum::Nodes(cut_off.iter().map(|device| device.node).collect()),
            Datum::Bool(self.is_barrier_certain(node)),
        ])
    }

    pub(super) fn is_barrier_certain(&self, node: NodeId) -> bool {
        self.uncertainties.iter().all(|uncertainty| uncertainty.at != node)
            && self.gaps.iter().all(|gap| gap.at != node)
    }

    /// Returns whether the drawing states that a barrier is closed.
    pub(super) fn is_closed(&self, barrier: &Barrier) -> bool {
        barrier.kind == "positive_barrier" || is_closed(self.drawing, self.steps[barrier.step as usize].node)
    }

    /// Returns whether the drawing states that a valve or a blind is closed.
    pub(super) fn is_shut(&self, node: NodeId) -> bool {
        let role = self.drawing.topology.roles[node as usize];
        role == Role::Blind && blind_position(self.drawing, node) == BlindPosition::Closed
            || role == Role::PositiveBarrier
            || is_cap(self.drawing, node)
            || is_closed(self.drawing, node) && !is_stated_open(self.drawing, node)
    }

    /// Returns what makes a barrier of an item. A relief device or a check valve cannot be closed.
    pub(super) fn action(&self, barrier: &Barrier) -> &'static str {
        if matches!(barrier.kind, "relief" | "one_way") {
            return "rely_on";
        }
        let conditional = self.conditional.iter().find(|item| item.step == barrier.step).map(|item| item.action);
        if self.is_closed(barrier) { "check_closed" } else { conditional.unwrap_or("close") }
    }

    fn conditional_row(&self, step: u32, action: &'static str, charge: ChargeFn<'_>) -> Result<Vec<Datum<'a>>> {
        let node = self.steps[step as usize].node;
        let [position, lock] = valve_state::columns(self.drawing, node);
        Ok(vec![
            Datum::Node(node),
            Datum::Word(action),
            Datum::Nodes(self.path(step)),
            Datum::Bool(is_closed(self.drawing, node)),
            position,
            lock,
            Datum::value(fail_action::stated(self.drawing, node, charge)?),
        ])
    }

    fn open_branch_row(&self, open: &OpenBranch) -> Vec<Datum<'a>> {
        let port = self.steps[open.step as usize].port;
        let cross_page = || self.drawing.node_field(open.at, Names::CrossPage);
        let partner = (open.kind == "off_page_connector").then(cross_page).flatten();
        vec![
            Datum::Node(self.steps[port as usize].node),
            Datum::Word(open.kind),
            Datum::Node(open.at),
            Datum::Nodes(self.path(open.step)),
            Datum::value(partner),
        ]
    }

    /// Returns the isolation method of a branch, by the items at its barrier and behind it.
    pub(super) fn method(&self, barrier: &Barrier, charge: ChargeFn<'_>) -> Result<&'static str> {
        let Step { node, from, .. } = self.steps[barrier.step as usize];
        if barrier.kind == "positive_barrier" || self.drawing.topology.roles[node as usize] == Role::PositiveBarrier {
            return Ok("positive");
        }
        // Two seats and a bleed in one body.
        if self.drawing.class_has(node, vocabulary::DOUBLE_BLOCKS) {
            return Ok("double_block_bleed");
        }
        let behind = self.behind(node, self.node_at(from), charge)?;
        Ok(match (behind.second, behind.bleed, self.bleed_before(from, node, charge)?) {
            (Some(_), Some(_), _) => "double_block_bleed",
            (Some(_), None, _) => "double_block",
            // A bleed on the side of the pressure proves nothing.
            (None, _, Some(_)) => "block_bleed",
            _ => "single",
        })
    }

    /// Returns the bleed at the last item before a barrier. A bleed that is a barrier does not prove itself.
    fn bleed_before(&self, step: u32, barrier: NodeId, charge: ChargeFn<'_>) -> Result<Option<NodeId>> {
        let Some(Step { node, from, .. }) = self.steps.get(step as usize) else { return Ok(None) };
        bleed_at(self.drawing, *node, [self.node_at(*from), barrier], charge)
    }

    /// Returns, by barrier, the relief devices that it cuts off.
    fn devices_cut_off(&self, protection: &mut Protection, charge: ChargeFn<'_>) -> Result<Vec<Vec<Device>>> {
        let is_inside: HashSet<NodeId> = self.relief.iter().map(|step| self.steps[*step as usize].node).collect();
        let relief_paths = self.relief_paths.borrow();
        let mut all = Vec::with_capacity(self.barriers.len());
        for barrier in &self.barriers {
            let Step { node, .. } = self.steps[barrier.step as usize];
            let path = |rest: Vec<NodeId>| [self.path(barrier.step), rest].concat();
            let device = |device, rest| Device::new(device, path(rest), vec![node]);
            let blocked = relief_paths.blocked_by(node);
            charge(blocked.len() as u64)?;
            let mut devices: Vec<Device> =
                blocked.iter().map(|found| device(*found, relief_paths.path_from(node, *found))).collect();
            let is_known = |found: NodeId| is_inside.contains(&found) || blocked.contains(&found);
            let mut lost = self.relief_behind(barrier, is_known, protection, charge)?;
            lost.extend(self.relief_lost_at(node, protection, charge)?);
            lost.extend(self.devices_without_way_out(barrier, charge)?);
            for (found, rest) in lost {
                if devices.iter().all(|known| known.node != found) {
                    devices.push(device(found, rest));
                }
            }
            for (found, rest) in self.relief_of_machine_lost_at(barrier, protection, charge)? {
                if devices.iter().all(|known| known.node != found) {
                    devices.push(Device { is_of_machine: true, ..device(found, rest) });
                }
            }
            all.push(devices);
        }
        Ok(all)
    }

    /// Returns the relief devices of what is isolated: those inside and those that a barrier cuts off.
    fn relief_table(
        &self,
        cut_off: &[Vec<Device>],
        protection: &mut Protection,
        charge: ChargeFn<'_>,
    ) -> Result<Datum<'a>> {
        let mut devices: Vec<Device> = Vec::new();
        for step in &self.relief {
            let node = self.steps[*step as usize].node;
            if devices.iter().all(|known| known.node != node) {
                devices.push(Device::new(node, self.path(*step), Vec::new()));
            }
        }
        for device in cut_off.iter().flatten() {
            charge(1 + devices.len() as u64)?;
            match devices.iter_mut().find(|known| known.node == device.node) {
                Some(known) => known.cut_off_by.extend(&device.cut_off_by),
                None => devices.push(Device::new(device.node, device.path.clone(), device.cut_off_by.clone())),
            }
        }
        let mut rows = Vec::with_capacity(devices.len());
        for device in devices {
            rows.push(self.relief_row(device, protection, charge)?);
        }
        Ok(Datum::Table(RELIEF, rows))
    }

    fn relief_row(&self, device: Device, protection: &mut Protection, charge: ChargeFn<'_>) -> Result<Vec<Datum<'a>>> {
        let closes = |node: &NodeId| self.drawing.topology.roles[*node as usize].closes();
        let relief_paths = self.relief_paths.borrow();
        let mut seen = HashSet::new();
        let on_path = device.path.iter().copied().filter(closes);
        let valves: Vec<NodeId> =
            on_path.chain(relief_paths.valves_of(device.node)).filter(|valve| seen.insert(*valve)).collect();
        let is_shut = |valve: &NodeId| self.is_shut(*valve);
        let closed = valves.iter().copied().filter(is_shut).collect();
        let path = protection.path(self.drawing, device.node, charge)?;
        let way: Vec<NodeId> = device.path.iter().rev().skip(1).copied().collect();
        let state = self.state_for_volume(path, &way, charge)?;
        Ok(vec![
            Datum::Node(device.node),
            Datum::Nodes(device.path),
            Datum::Nodes(valves),
            Datum::Nodes(closed),
            Datum::Nodes(device.cut_off_by),
            Datum::Word(state.word()),
        ])
    }

    /// Returns, by barrier, the relief devices that it cuts off.
    pub(super) fn cut_offs(&self, charge: ChargeFn<'_>) -> Result<Vec<CutOff>> {
        let cut_off = |devices: &Vec<Device>| CutOff {
            devices: devices.iter().map(|device| device.node).collect(),
            is_of_machines: !devices.is_empty() && devices.iter().all(|device| device.is_of_machine),
        };
        Ok(self.devices_cut_off(&mut self.protection.borrow_mut(), charge)?.iter().map(cut_off).collect())
    }
}
