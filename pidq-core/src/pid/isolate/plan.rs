//! Isolation as a plan: the order of closing, and the bleed at which each barrier can be proved.
//!
//! A candidate list. Sources are closed first; what has nothing but a relief device behind it is closed only after the volume
//! has been drained and vented, and so is what can be moved only in a line without pressure.

use hashbrown::HashSet;

use super::bleeds::{BleedEnd, has_unknown_branch, neighbors};
use super::rows::CutOff;
use super::{Barrier, Isolation, Step, is_unknown};
use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::drawing::Drawing;
use crate::graph::equipment_sides::is_unstated;
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter};
use crate::graph::vocabulary;
use crate::pid::dead_ends::{has_sensor, is_cap, only_branch};
use crate::pid::valve_state::check_valves::{has_handwheel, opens_from};
use crate::pid::valve_state::unread_texts::may_not_close;
use crate::pid::valve_state::{
    BlindPosition, Installation, blind_position, installation, is_closed, is_locked_open, is_spool_in_place,
    is_stated_open,
};
use crate::pid::{ChargeFn, Datum};

const PLAN: &[&str] = &[
    "target",
    "isolated",
    "steps",
    "barriers",
    "bleeds",
    "unresolved",
    "data_gaps",
    "complete",
    "certain",
    "uncertain",
];
const STEP: &[&str] = &["step", "action", "node", "at", "cuts_off"];
const PROOF: &[&str] = &["node", "kind", "method", "second", "bleed", "bleed_position", "cuts_off", "certain"];

/// A barrier in the plan.
struct Proof {
    node: NodeId,
    kind: &'static str,
    method: &'static str,
    action: &'static str,
    /// The next barrier in series.
    second: Option<NodeId>,
    /// Closes the second barrier: `close`, or `check_closed`.
    second_action: &'static str,
    bleed: Option<NodeId>,
    /// Between the two barriers, or in the volume.
    bleed_position: Option<&'static str>,
    cuts_off: Vec<NodeId>,
    /// There is nothing behind it but relief devices: nothing flows into the volume while it is open.
    leads_to_relief_only: bool,
    is_source: bool,
    /// The barrier is certain, and the drawing shows where its bleed ends. Nothing that may be shut is between them.
    is_certain: bool,
}

/// Connection by which a bleed proves a barrier: through machines whose casing is open, or also through all but those that are
/// shut when they stand still, and through hand valves that are drawn open.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Connection {
    Open,
    PossiblyOpen,
}

impl Proof {
    /// Returns whether it is closed only after the volume has been drained and vented.
    fn is_late(&self) -> bool {
        self.keeps_relief() || self.opens_line()
    }

    /// Returns whether a relief device needs it, and it may stay open until the volume has been drained and vented.
    fn keeps_relief(&self) -> bool {
        self.leads_to_relief_only && self.action != "check_closed"
    }

    /// Returns whether it is closed although the volume is still connected to others: it opens no line, and no relief device
    /// needs it.
    fn is_closed_under_pressure(&self) -> bool {
        !self.is_late() && (self.cuts_off.is_empty() || self.action == "check_closed")
    }

    /// Returns the place in the order of closing. What takes the relief from the volume or from a machine that feeds it comes
    /// behind the other valves, but before the volume is drained if more than relief devices is behind it.
    fn order(&self) -> (bool, bool, bool) {
        (self.is_late(), !self.cuts_off.is_empty(), !self.is_source)
    }

    /// Returns whether the line is opened to move the barrier: the second one must be closed before.
    fn opens_line(&self) -> bool {
        matches!(self.action, "swing" | "remove")
    }

    /// Returns whether the bleed between two barriers is opened.
    fn has_bleed_between(&self) -> bool {
        self.bleed_position == Some("between")
    }

    /// Returns whether the second barrier is closed too: for the first one to be moved, for a bleed before it to be opened, or
    /// as a part of a double block.
    fn needs_second(&self) -> bool {
        self.opens_line() || self.has_bleed_between() || matches!(self.method, "double_block" | "double_block_bleed")
    }
}

impl<'a> Isolation<'_, 'a> {
    pub(super) fn plan(&self, targets: &[NodeId], charge: ChargeFn<'_>) -> Result<Datum<'a>> {
        let bleeds = self.bleeds(charge)?;
        let mut proofs = Vec::new();
        for (barrier, cuts_off) in self.barriers.iter().zip(self.cut_offs(charge)?) {
            let is_bleed = bleeds.contains(&self.steps[barrier.step as usize].node);
            if !is_bleed && !self.leads_to_sensor_only(barrier, charge)? {
                proofs.push(self.proof(barrier, cuts_off, &bleeds, charge)?);
            }
        }
        // Stable: barriers of one group keep the order in which they were reached.
        proofs.sort_by_key(Proof::order);
        let rows = proofs.iter().map(|proof| self.proof_row(proof)).collect();
        let steps = if self.is_complete() { steps(&proofs, &bleeds) } else { self.steps_of_open_volume(proofs) };
        Ok(Datum::Record(
            PLAN,
            vec![
                Isolation::target(targets),
                Datum::Word(self.isolated()),
                Datum::Table(STEP, step_rows(steps)),
                Datum::Table(PROOF, rows),
                Datum::Nodes(bleeds),
                self.unresolved(),
                self.data_gaps(),
                Datum::Bool(self.is_complete()),
                Datum::Bool(self.is_certain()),
                self.uncertain(),
            ],
        ))
    }

    /// Returns the steps while an end is open. The volume may be under pressure: no bleed of it is opened, and none proves
    /// anything; no line is opened to move a blind, and nothing is taken from a relief device.
    fn steps_of_open_volume(&self, mut proofs: Vec<Proof>) -> Vec<PlanStep> {
        proofs.retain(Proof::is_closed_under_pressure);
        let gaps = self.gaps.iter().map(|gap| gap.at);
        let mut ends: Vec<NodeId> = self.open.iter().map(|open| open.at).chain(gaps).collect();
        let mut seen = HashSet::new();
        ends.retain(|end| seen.insert(*end));
        let not_isolated = ends.into_iter().map(|end| PlanStep::new("not_isolated", end));
        not_isolated.chain(closing(&proofs, false)).collect()
    }

    fn proof(&self, barrier: &Barrier, cuts_off: CutOff, bleeds: &[NodeId], charge: ChargeFn<'_>) -> Result<Proof> {
        let Step { node, from, .. } = self.steps[barrier.step as usize];
        let action = self.action(barrier);
        let is_moved = matches!(action, "swing" | "remove");
        let before = self.node_at(from);
        let mut behind =
            if is_moved { self.behind_moved(node, before, charge)? } else { self.behind(node, before, charge)? };
        // Relief may depend on a valve that is locked open: the plan leaves it so, and proves nothing between the two.
        behind.second = behind.second.filter(|second| !is_locked_open(self.drawing, *second));
        let between = behind.second.and(behind.bleed);
        let (mut is_possible, mut is_shared) = (false, false);
        let (bleed, bleed_position) = match between {
            Some((bleed, _)) => (Some(bleed), Some("between")),
            None => {
                let certain = self.nearest_bleed(node, bleeds, Connection::Open, charge)?;
                let nearest = match certain {
                    None => self.nearest_bleed(node, bleeds, Connection::PossiblyOpen, charge)?,
                    certain => certain,
                };
                is_possible = certain != nearest;
                if let Some(bleed) = nearest {
                    is_shared = self.bleeds_into_shared_system(bleed, charge)?;
                }
                (nearest, nearest.map(|_| "volume"))
            }
        };
        let is_past_valve = between.is_some() && behind.passes_actuated;
        // Nothing shows that the line of a blind is without pressure.
        let is_moved_unproved = is_moved && bleed.is_none();
        let flow = self.drawing.topology.table(EdgeFilter::Flow, Direction::Down);
        charge(flow.degree(node) as u64)?;
        let is_inside = |next: &NodeId| self.visited.contains(next) && !self.barrier_of.contains_key(next);
        Ok(Proof {
            node,
            kind: barrier.kind,
            method: self.method(barrier, charge)?,
            action,
            second: behind.second,
            second_action: if behind.second.is_some_and(|second| self.is_shut(second)) {
                "check_closed"
            } else {
                "close"
            },
            bleed,
            bleed_position,
            is_certain: self.is_barrier_certain(node)
                && !is_possible
                && !is_shared
                && !is_past_valve
                && !is_moved_unproved
                && between.is_none_or(|(_, end)| end == BleedEnd::OnSheet),
            leads_to_relief_only: !cuts_off.is_of_machines
                && self.leads_to_relief_only(barrier, &cuts_off.devices, bleeds, charge)?,
            cuts_off: cuts_off.devices,
            is_source: flow.nodes(node).iter().any(is_inside),
        })
    }

    /// Returns whether a hand valve is the root valve of an instrument with nothing else behind it: the instrument shows whether
    /// the volume is under pressure, and nothing flows from there.
    fn leads_to_sensor_only(&self, barrier: &Barrier, charge: ChargeFn<'_>) -> Result<bool> {
        let Step { node, from, .. } = self.steps[barrier.step as usize];
        if self.drawing.topology.roles[node as usize] != Role::Barrier || self.targets.contains(&node) {
            return Ok(false);
        }
        let items = only_branch(self.drawing, [self.node_at(from), node], |_| false, charge)?;
        Ok(items.is_some_and(|items| items.len() > 1 && items.last().is_some_and(|end| has_sensor(self.drawing, *end))))
    }

    /// Returns whether there is nothing but the relief devices that a barrier cuts off on its other side: what they protect may
    /// be drained while it is open. At an outlet, the device itself is between the volume and the barrier. A device that is
    /// itself isolated protects nothing.
    fn leads_to_relief_only(
        &self,
        barrier: &Barrier,
        devices: &[NodeId],
        bleeds: &[NodeId],
        charge: ChargeFn<'_>,
    ) -> Result<bool> {
        if devices.is_empty() || devices.iter().any(|device| self.targets.contains(device)) {
            return Ok(false);
        }
        let passed = |path: Vec<NodeId>| devices.iter().copied().find(|device| path.contains(device));
        if let Some(device) = passed(self.path(barrier.step)) {
            let mut bleeds =
                self.barriers.iter().filter(|other| bleeds.contains(&self.steps[other.step as usize].node));
            return Ok(!bleeds.any(|bleed| self.path(bleed.step).contains(&device)));
        }
        let node = self.steps[barrier.step as usize].node;
        leads_to_devices_only(self.drawing, node, devices, |next| self.visited.contains(&next), charge)
    }

    /// Returns the nearest bleed in open connection with a barrier inside the volume: not behind a check valve, or
    /// anything else that may be shut.
    fn nearest_bleed(
        &self,
        barrier: NodeId,
        bleeds: &[NodeId],
        connection: Connection,
        charge: ChargeFn<'_>,
    ) -> Result<Option<NodeId>> {
        let topology = &self.drawing.topology;
        let table = topology.table(EdgeFilter::Flow, Direction::Both);
        let inside: HashSet<NodeId> = self.inside.iter().copied().collect();
        let mut seen: HashSet<NodeId> = [barrier].into();
        let mut queue = vec![barrier];
        let mut at = 0;
        while let Some(node) = queue.get(at).copied() {
            at += 1;
            if !self.is_open_to_its_pipes(node, connection, charge)? {
                continue;
            }
            let sides = if node == barrier { Vec::new() } else { self.same_side(node, connection, charge)? };
            charge(1 + (table.degree(node) + sides.len()) as u64)?;
            for next in table.nodes(node).iter().copied().chain(sides) {
                if bleeds.contains(&next) {
                    return Ok(Some(next));
                }
                let is_open = connection == Connection::PossiblyOpen && self.is_drawn_open(next);
                if inside.contains(&next) && (is_open || !self.may_be_shut(node, next)) && seen.insert(next) {
                    queue.push(next);
                }
            }
        }
        Ok(None)
    }

    /// Returns whether the pipes of an item are open to each other inside of it. Those of equipment without nozzles may be on
    /// different sides of it.
    fn is_open_to_its_pipes(&self, node: NodeId, connection: Connection, charge: ChargeFn<'_>) -> Result<bool> {
        let is_body = self.drawing.topology.roles[node as usize] == Role::Equipment;
        Ok(!is_body || self.is_open_inside(node, connection) && !self.drawing.may_have_several_sides(node, charge)?)
    }

    /// Returns the equipment of a port and its other ports that are certain to be on the same side, or the ports of
    /// equipment.
    fn same_side(&self, node: NodeId, connection: Connection, charge: ChargeFn<'_>) -> Result<Vec<NodeId>> {
        let topology = &self.drawing.topology;
        let owner = topology.equipment_or_self(node);
        if !self.is_open_inside(owner, connection) {
            return Ok(Vec::new());
        }
        let side = topology.zone(node);
        let may_have_several = self.drawing.may_have_several_sides(owner, charge)?;
        let is_open = |other: &NodeId| {
            *other != node
                && topology.zone(*other) == side
                && !is_unstated([side, topology.zone(*other)], may_have_several)
        };
        Ok(topology.ports.nodes(owner).iter().copied().chain([owner]).filter(is_open).collect())
    }

    /// Returns whether a pressure at one nozzle of equipment is at the others too. The valves, pistons or lobes of a machine
    /// may be shut when it stands still.
    fn is_open_inside(&self, equipment: NodeId, connection: Connection) -> bool {
        let has = |words: &[&str]| self.drawing.class_has_word(equipment, words);
        !self.drawing.is_machine(equipment)
            || has(vocabulary::OPEN_MACHINES)
            || connection == Connection::PossiblyOpen && !has(vocabulary::SHUT_MACHINES)
    }

    /// Returns whether a hand valve inside the volume is open as drawn, and nothing says that it may be shut.
    fn is_drawn_open(&self, node: NodeId) -> bool {
        self.drawing.topology.roles[node as usize] == Role::Barrier
            && is_stated_open(self.drawing, node)
            && !is_closed(self.drawing, node)
            && installation(self.drawing, node) == Installation::Installed
            && !may_not_close(self.drawing, node)
    }

    /// Returns whether an item, reached from another one, may hold pressure: it closes, it is a trap, or its class is
    /// unknown. An open blind and a spool in its place are pipe, and a check valve lets pass what leaks in its direction.
    fn may_be_shut(&self, before: NodeId, node: NodeId) -> bool {
        let role = self.drawing.topology.roles[node as usize];
        let is_open = match role {
            Role::OneWay => opens_from(self.drawing, node, before) == Some(true) && !has_handwheel(self.drawing, node),
            Role::Blind | Role::PositiveBarrier | Role::None if self.drawing.is_spool(node) => {
                is_spool_in_place(self.drawing, node)
            }
            Role::Blind => blind_position(self.drawing, node) == BlindPosition::Open,
            _ => false,
        };
        if is_open {
            return installation(self.drawing, node) != Installation::Installed;
        }
        let is_trap = || {
            let parts = [vocabulary::TRAPS, vocabulary::EXCESS_FLOW, vocabulary::SELF_CLOSING];
            parts.iter().any(|parts| self.drawing.class_has(node, parts))
        };
        role.closes() || matches!(role, Role::OneWay | Role::Relief) || is_unknown(self.drawing, node) || is_trap()
    }

    fn proof_row(&self, proof: &Proof) -> Vec<Datum<'a>> {
        vec![
            Datum::Node(proof.node),
            Datum::Word(proof.kind),
            Datum::Word(proof.method),
            Datum::node(proof.second),
            Datum::node(proof.bleed),
            proof.bleed_position.map_or(Datum::Null, Datum::Word),
            Datum::Nodes(proof.cuts_off.clone()),
            Datum::Bool(proof.is_certain),
        ]
    }
}

/// Returns whether each way behind a valve ends at one of the relief devices that it cuts off, at a closed valve, at a blind or
/// at an instrument.
fn leads_to_devices_only(
    drawing: &Drawing<'_>,
    valve: NodeId,
    devices: &[NodeId],
    is_before: impl Fn(NodeId) -> bool,
    charge: ChargeFn<'_>,
) -> Result<bool> {
    const MAX_ITEMS: usize = 60;
    let topology = &drawing.topology;
    let mut seen: HashSet<NodeId> = [valve].into();
    let mut queue = vec![valve];
    let mut at = 0;
    while let Some(node) = queue.get(at).copied() {
        at += 1;
        for next in neighbors(drawing, node, charge)? {
            if node == valve && is_before(next) || !seen.insert(next) {
                continue;
            }
            let role = topology.roles[next as usize];
            let is_end = devices.contains(&next)
                || role == Role::PositiveBarrier
                || is_cap(drawing, next)
                || role.closes() && is_closed(drawing, next)
                || role == Role::Instrument && topology.flow_degree(next) == 1;
            if is_end {
                continue;
            }
            // The outlet of the relief device of others, and a side that is free, lead on too.
            let may_leave = topology.is_equipment(next)
                || matches!(role, Role::Port | Role::OffPage | Role::OpenEnd | Role::Relief)
                || topology.flow_degree(next) < 2
                || is_unknown(drawing, next)
                || topology.has_dangling_pipe(next);
            if may_leave || queue.len() == MAX_ITEMS || has_unknown_branch(drawing, next, [node, valve], charge)? {
                return Ok(false);
            }
            queue.push(next);
        }
    }
    Ok(true)
}

/// A step of the plan.
struct PlanStep {
    action: &'static str,
    node: NodeId,
    /// The bleed at which a barrier is verified.
    at: Option<NodeId>,
    cuts_off: Vec<NodeId>,
}

impl PlanStep {
    fn new(action: &'static str, node: NodeId) -> PlanStep {
        PlanStep { action, node, at: None, cuts_off: Vec::new() }
    }
}

/// Returns the steps: close and lock, open the bleeds, close what comes late, open the bleeds between two valves, prove each
/// barrier. The bleed before the valve behind a blind or a spool is one of the volume until that is moved.
fn steps(proofs: &[Proof], bleeds: &[NodeId]) -> Vec<PlanStep> {
    let between = |is_of_volume: bool, keeps_relief: Option<bool>| {
        let is_selected = move |proof: &&Proof| {
            proof.has_bleed_between()
                && proof.opens_line() == is_of_volume
                && keeps_relief.is_none_or(|keeps| keeps == proof.keeps_relief())
        };
        proofs.iter().filter(is_selected).filter_map(|proof| proof.bleed)
    };
    let mut seen = HashSet::new();
    let mut bleeding = |valves: &mut dyn Iterator<Item = NodeId>| -> Vec<PlanStep> {
        valves.filter(|valve| seen.insert(*valve)).map(|valve| PlanStep::new("open_bleed", valve)).collect()
    };
    let early = bleeding(&mut bleeds.iter().copied().chain(between(true, Some(false))));
    let before_moving = bleeding(&mut between(true, Some(true)));
    let late = bleeding(&mut between(false, None));
    // Without a bleed, nothing on the drawing proves a barrier.
    let proved = proofs.iter().filter(|proof| proof.bleed.is_some());
    let proving = proved.map(|proof| PlanStep { at: proof.bleed, ..PlanStep::new("verify", proof.node) });
    let first = closing(proofs, false).chain(early);
    let then = seconds(proofs, &Proof::keeps_relief).into_iter().chain(before_moving).chain(own(proofs, true));
    first.chain(then).chain(late).chain(proving).collect()
}

/// Returns the steps that close and lock the barriers that are closed early, or late: the second valves first, since a blind or
/// a spool is moved between two closed valves, but those of a barrier that cuts off a relief device behind all others.
fn closing(proofs: &[Proof], is_late: bool) -> impl Iterator<Item = PlanStep> + '_ {
    let is_of_relief = move |proof: &Proof| !is_late && !proof.cuts_off.is_empty() && !proof.opens_line();
    let is_first = move |proof: &Proof| proof.keeps_relief() == is_late && !is_of_relief(proof);
    let is_last = move |proof: &Proof| proof.keeps_relief() == is_late && is_of_relief(proof);
    seconds(proofs, &is_first).into_iter().chain(own(proofs, is_late)).chain(seconds(proofs, &is_last))
}

/// Returns the steps that close and lock the second valves of some barriers.
fn seconds(proofs: &[Proof], is_selected: &dyn Fn(&Proof) -> bool) -> Vec<PlanStep> {
    let barriers: HashSet<NodeId> = proofs.iter().map(|proof| proof.node).collect();
    let mut seen = HashSet::new();
    proofs
        .iter()
        .filter(|proof| is_selected(proof) && proof.needs_second())
        .filter_map(|proof| Some((proof, proof.second?)))
        .filter(|(_, second)| !barriers.contains(second) && seen.insert(*second))
        .flat_map(|(proof, second)| {
            let cuts_off = proof.cuts_off.clone();
            [PlanStep { cuts_off, ..PlanStep::new(proof.second_action, second) }, PlanStep::new("lock", second)]
        })
        .collect()
}

/// Returns the steps that close and lock the barriers that are closed early, or late.
fn own(proofs: &[Proof], is_late: bool) -> impl Iterator<Item = PlanStep> + '_ {
    proofs.iter().filter(move |proof| proof.is_late() == is_late).flat_map(|proof| {
        let close = PlanStep { cuts_off: proof.cuts_off.clone(), ..PlanStep::new(proof.action, proof.node) };
        let lock = (proof.action != "rely_on").then(|| PlanStep::new("lock", proof.node));
        [Some(close), lock].into_iter().flatten()
    })
}

/// Returns the steps as numbered rows.
fn step_rows<'a>(steps: Vec<PlanStep>) -> Vec<Vec<Datum<'a>>> {
    let row = |(number, step): (usize, PlanStep)| {
        let [action, node, at] = [Datum::Word(step.action), Datum::Node(step.node), Datum::node(step.at)];
        vec![Datum::count(number), action, node, at, Datum::Nodes(step.cuts_off)]
    };
    (1..).zip(steps).map(row).collect()
}
