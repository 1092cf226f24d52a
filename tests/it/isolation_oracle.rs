//! Isolation and walks through equipment on random drawings, against slow references written from their definitions.
//!
//! A reference repeats one rule until nothing changes, on sets, without the order, the tables and the scratch memory of
//! the engine. Relief paths are found by removing one valve after the other.

use std::collections::BTreeSet;

use pidq::Graph;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::graph;
use crate::properties::cases;

/// Kind of an item of a random drawing.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    Equipment,
    Nozzle,
    Valve,
    LockedValve,
    ClosedValve,
    ControlValve,
    ThreeWayValve,
    CheckValve,
    Relief,
    BlindFlange,
    ClosedBlind,
    OpenBlind,
    BlindWithoutPosition,
    Tee,
    OffPage,
    OpenEnd,
    Strainer,
    Cap,
    Unknown,
}
use Kind::*;

/// Kinds of the items in pipes, as often as they are to occur, with their class and position.
const ITEMS: &[(Kind, &str, &str)] = &[
    (Valve, "gate_valve", ""),
    (Valve, "ball_valve", "open"),
    (Valve, "globe_valve", ""),
    (LockedValve, "gate_valve", "locked_open"),
    (ClosedValve, "ball_valve", "closed"),
    (ControlValve, "control_valve", ""),
    (ThreeWayValve, "three_way_valve", ""),
    (CheckValve, "swing_check_valve", ""),
    (Relief, "safety_valve", ""),
    (BlindFlange, "blind_flange", ""),
    (ClosedBlind, "spectacle_blind", "closed"),
    (OpenBlind, "spectacle_blind", "open"),
    (BlindWithoutPosition, "line_blind", ""),
    (Tee, "pipe_tee", ""),
    (Tee, "pipe_tee", ""),
    (Tee, "pipe_tee", ""),
    (OffPage, "off_page_connector", ""),
    (OpenEnd, "open_end", ""),
    (Strainer, "strainer", ""),
    (Cap, "pipe_cap", ""),
    (Unknown, "something", ""),
];

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Pass {
    None,
    Zone,
    Any,
}

/// Side of a relief device.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Side {
    Inlet,
    Outlet,
    Either,
}

/// Items that a way from a side of a relief device leads past.
#[derive(Clone, Copy, Debug)]
struct Way {
    along_flow: bool,
    skips_relief: bool,
    skips_bleeds: bool,
    skips_closed: bool,
    is_inlet: bool,
}

impl Way {
    const ANY: Way =
        Way { along_flow: false, skips_relief: true, skips_bleeds: true, skips_closed: false, is_inlet: false };
}

/// A random drawing.
#[derive(Clone, Debug)]
struct Plant {
    kinds: Vec<Kind>,
    /// Rows of `ITEMS` for items in pipes.
    rows: Vec<usize>,
    owners: Vec<Option<usize>>,
    zones: Vec<Option<u8>>,
    pipes: Vec<(usize, usize)>,
    /// Nodes with a pipe whose other end names nothing.
    dangling: Vec<usize>,
}

impl Plant {
    fn json(&self) -> String {
        let node = |at: usize| {
            let mut node = match self.kinds[at] {
                Equipment => json!({"id": at, "class": "tank"}),
                Nozzle => json!({"id": at, "class": "nozzle", "parent_id": self.owners[at]}),
                _ => json!({"id": at, "class": ITEMS[self.rows[at]].1}),
            };
            if let Some(zone) = self.zones[at] {
                node["zone"] = json!(format!("side {zone}"));
            }
            if self.rows[at] != usize::MAX && !ITEMS[self.rows[at]].2.is_empty() {
                node["normally"] = json!(ITEMS[self.rows[at]].2);
            }
            node
        };
        let nodes: Vec<Value> = (0..self.kinds.len()).map(node).collect();
        let pipes = self.pipes.iter().map(|(from, to)| json!({"from": from, "to": to}));
        let dangling = self.dangling.iter().map(|from| json!({"from": from, "to": "nowhere"}));
        json!({ "nodes": nodes, "edges": pipes.chain(dangling).collect::<Vec<_>>() }).to_string()
    }

    fn degree(&self, node: usize) -> usize {
        self.pipes.iter().map(|(a, b)| usize::from(*a == node) + usize::from(*b == node)).sum()
    }

    fn neighbors(&self, node: usize) -> BTreeSet<usize> {
        let of_pipe = |(a, b): &(usize, usize)| match (*a == node, *b == node) {
            (true, false) => Some(*b),
            (false, true) => Some(*a),
            _ => None,
        };
        self.pipes.iter().filter_map(of_pipe).collect()
    }

    fn nozzles(&self, equipment: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.kinds.len()).filter(move |node| self.owners[*node] == Some(equipment))
    }

    fn is_equipment(&self, node: usize) -> bool {
        matches!(self.kinds[node], Equipment | Nozzle)
    }

    /// Returns whether an item belongs between two pipes.
    fn is_inline(&self, node: usize) -> bool {
        !matches!(self.kinds[node], Equipment | Nozzle | BlindFlange | OffPage | OpenEnd | Cap)
    }

    /// Returns whether a valve separates its two pipes.
    fn is_hand_valve(&self, node: usize) -> bool {
        matches!(self.kinds[node], Valve | LockedValve | ClosedValve) && self.neighbors(node).len() <= 2
    }

    fn is_end(&self, node: usize) -> bool {
        self.is_equipment(node) || self.kinds[node] == OpenEnd || self.is_sheet_end(node)
    }

    /// Returns whether a connector leads to another sheet: all but those between two pipes that join another connector.
    fn is_sheet_end(&self, node: usize) -> bool {
        let goes_on = |other: usize| self.kinds[other] == OffPage && self.degree(other) > 1;
        let is_joined = || self.neighbors(node).into_iter().any(goes_on);
        self.kinds[node] == OffPage && (self.degree(node) < 2 || !is_joined())
    }

    fn leads_to_nothing(&self, node: usize, before: usize, steps: usize) -> bool {
        let next: Vec<usize> = self.neighbors(node).into_iter().filter(|next| *next != before).collect();
        match next.as_slice() {
            _ if steps == 0 || self.is_sheet_end(node) => false,
            [] => !self.is_equipment(node) && self.kinds[node] != OffPage,
            [only] => {
                self.kinds[*only] != Relief
                    && !self.is_equipment(*only)
                    && self.leads_to_nothing(*only, node, steps - 1)
            }
            _ => false,
        }
    }

    /// Returns whether a valve that is reached from a node is a drain, a vent or a bleed.
    fn is_bleed(&self, valve: usize, before: usize) -> bool {
        matches!(self.kinds[valve], Valve | LockedValve | ClosedValve) && self.leads_to_nothing(valve, before, 10)
    }

    /// Returns the first items of a relief device with their side, by the direction of its pipes or by what they lead
    /// to, without its own drains.
    fn sides_of(&self, device: usize) -> Vec<(usize, Side)> {
        let has_pipe = |from: usize, to: usize| self.pipes.contains(&(from, to));
        let side = |first: usize| match (has_pipe(first, device), has_pipe(device, first)) {
            (true, false) => Side::Inlet,
            (false, true) => Side::Outlet,
            _ => Side::Either,
        };
        let mut sides: Vec<(usize, Side)> =
            self.neighbors(device).into_iter().map(|first| (first, side(first))).collect();
        let has = |kind: Side| sides.iter().any(|(_, known)| *known == kind);
        let replaced = match (has(Side::Inlet), has(Side::Outlet), has(Side::Either)) {
            (true, true, _) => None,
            _ if sides.len() == 1 => Some(Side::Inlet),
            (true, false, true) => Some(Side::Outlet),
            (false, true, true) => Some(Side::Inlet),
            _ => {
                self.tell_sides_by_ends(device, &mut sides);
                return self.without_drains(device, sides);
            }
        };
        match replaced {
            None => sides.retain(|(_, kind)| *kind != Side::Either),
            Some(by) => {
                sides.iter_mut().filter(|(_, kind)| *kind == Side::Either).for_each(|(_, kind)| *kind = by);
            }
        }
        self.without_drains(device, sides)
    }

    fn tell_sides_by_ends(&self, device: usize, sides: &mut [(usize, Side)]) {
        let ends = |first: usize| {
            let reached = self.reached_from(device, first, &Way::ANY, None);
            reached.into_iter().filter(|node| self.is_end(*node)).collect::<Vec<_>>()
        };
        let found: Vec<Vec<usize>> = sides.iter().map(|(first, _)| ends(*first)).collect();
        let has_equipment: Vec<bool> =
            found.iter().map(|ends| ends.iter().any(|end| self.is_equipment(*end))).collect();
        let leaves_sheet = found.iter().flatten().any(|end| self.kinds[*end] == OffPage);
        for ((_, kind), has_own) in sides.iter_mut().zip(&has_equipment) {
            *kind = match (has_equipment.contains(&true), has_equipment.contains(&false)) {
                (true, true) if *has_own => Side::Inlet,
                (true, true) => Side::Outlet,
                (true, false) => Side::Either,
                (false, _) if leaves_sheet => Side::Either,
                (false, _) => Side::Outlet,
            };
        }
    }

    fn without_drains(&self, device: usize, mut sides: Vec<(usize, Side)>) -> Vec<(usize, Side)> {
        for kind in [Side::Inlet, Side::Outlet] {
            let of_kind: Vec<usize> =
                sides.iter().filter(|(_, known)| *known == kind).map(|(first, _)| *first).collect();
            if !of_kind.iter().all(|first| self.is_bleed(*first, device)) {
                sides.retain(|(first, known)| *known != kind || !self.is_bleed(*first, device));
            }
        }
        sides
    }

    /// Returns the first way on which a side leads to an end: that with the fewest concessions.
    fn way(&self, device: usize, (first, side): (usize, Side)) -> Option<Way> {
        let is_inlet = side == Side::Inlet;
        let relief_first = [(true, true), (false, true), (true, false), (false, false)];
        let bleeds_first = [(true, true), (true, false), (false, true), (false, false)];
        let along_flow: &[bool] = if side == Side::Outlet { &[true, false] } else { &[false] };
        let skips = if side == Side::Outlet { bleeds_first } else { relief_first };
        let ways = along_flow.iter().flat_map(|along_flow| {
            skips.map(|(skips_relief, skips_bleeds)| Way {
                along_flow: *along_flow,
                skips_relief,
                skips_bleeds,
                skips_closed: false,
                is_inlet,
            })
        });
        // What is closed is no way, if another one leads to an end.
        let found = ways.into_iter().find(|way| self.has_end(device, first, way, None))?;
        let open = Way { skips_closed: true, ..found };
        Some(if self.has_end(device, first, &open, None) { open } else { found })
    }

    fn has_end(&self, device: usize, first: usize, way: &Way, removed: Option<usize>) -> bool {
        self.reached_from(device, first, way, removed).iter().any(|node| self.ends_way(*node, way))
    }

    /// Returns whether a way ends at an item: an open end is no end of an inlet.
    fn ends_way(&self, node: usize, way: &Way) -> bool {
        self.is_end(node) && !(way.is_inlet && self.kinds[node] == OpenEnd)
    }

    /// Returns what a way from a side of a device reaches if a valve is removed.
    fn reached_from(&self, device: usize, first: usize, way: &Way, removed: Option<usize>) -> BTreeSet<usize> {
        let around = self.neighbors(device);
        // A closed valve between three pipes may close some of them only.
        let is_closed = |node: usize| match self.kinds[node] {
            ClosedValve => self.neighbors(node).len() < 3,
            kind => matches!(kind, BlindFlange | ClosedBlind | Cap),
        };
        let is_blocked = |node: usize| {
            Some(node) == removed
                || way.skips_relief && self.kinds[node] == Relief
                || way.skips_closed && is_closed(node)
        };
        let mut reached: BTreeSet<usize> = [first].into_iter().filter(|first| !is_blocked(*first)).collect();
        loop {
            let before = reached.len();
            for node in reached.clone().into_iter().filter(|node| !self.is_end(*node)) {
                let next = self.neighbors(node);
                let is_skipped = |valve: usize| way.skips_bleeds && next.len() > 2 && self.is_bleed(valve, node);
                let is_open = |next: &usize| {
                    *next != device
                        && !around.contains(next)
                        && !is_blocked(*next)
                        && !is_skipped(*next)
                        && (!way.along_flow || self.pipes.contains(&(node, *next)))
                };
                reached.extend(next.iter().copied().filter(is_open));
            }
            if reached.len() == before {
                return reached;
            }
        }
    }

    /// Returns the sides of all relief devices.
    fn relief_sides(&self) -> Vec<(usize, (usize, Side))> {
        let devices = (0..self.kinds.len()).filter(|node| self.kinds[*node] == Relief);
        devices.flat_map(|device| self.sides_of(device).into_iter().map(move |side| (device, side))).collect()
    }

    /// Returns what is reached from a side of a relief device past nothing that is closed or unknown.
    fn reached_openly(&self, device: usize, first: usize) -> BTreeSet<usize> {
        let around = self.neighbors(device);
        let mut reached: BTreeSet<usize> = [first].into();
        loop {
            let before = reached.len();
            for node in reached.clone() {
                let is_shut = match self.kinds[node] {
                    ClosedValve | BlindFlange | ClosedBlind | BlindWithoutPosition | Unknown => true,
                    _ => self.is_end(node),
                };
                let next = self.neighbors(node).into_iter().filter(|next| *next != device && !around.contains(next));
                reached.extend(next.filter(|_| !is_shut));
            }
            if reached.len() == before {
                return reached;
            }
        }
    }

    /// Returns whether a relief device loses a side without a valve.
    fn blocks(&self, valve: usize, (device, side): (usize, (usize, Side))) -> bool {
        self.way(device, side).is_some_and(|way| !self.has_end(device, side.0, &way, Some(valve)))
    }

    /// Returns whether a valve is to stay open: a relief device other than the target loses a side without it, or it is locked
    /// open for none.
    fn is_used_last(&self, valve: usize, target: usize) -> bool {
        let sides = self.relief_sides();
        let mut devices = sides.iter().filter(|side| self.blocks(valve, **side)).map(|(device, _)| *device).peekable();
        let is_kept = match devices.peek() {
            Some(_) => devices.any(|device| device != target),
            None => self.kinds[valve] == LockedValve,
        };
        self.is_hand_valve(valve) && self.kinds[valve] != ClosedValve && is_kept
    }

    /// Returns whether a relief device outside of a volume loses a side without a valve.
    fn blocks_device_outside(&self, valve: usize, inside: &BTreeSet<usize>) -> bool {
        self.relief_sides()
            .into_iter()
            .any(|(device, side)| !inside.contains(&device) && self.blocks(valve, (device, side)))
    }

    /// Returns whether a volume has reached a relief device by its outlet, and not by its inlet.
    fn is_outlet_reached(&self, device: usize, inside: &BTreeSet<usize>) -> bool {
        let sides = self.sides_of(device);
        let mut inlets = sides.iter().filter(|(_, side)| *side == Side::Inlet).map(|(first, _)| *first).peekable();
        self.kinds[device] == Relief
            && inlets.peek().is_some()
            && !inlets.any(|first| inside.contains(&first))
            && self.neighbors(device).iter().any(|first| inside.contains(first))
    }
}

/// Result of an isolation, as sets.
#[derive(Debug, Default, Eq, PartialEq)]
struct Found {
    barriers: BTreeSet<usize>,
    internal: BTreeSet<usize>,
    inside: BTreeSet<usize>,
    /// Kind, item and last item of the branch: the nozzle of equipment.
    open: BTreeSet<(String, usize, usize)>,
    gaps: BTreeSet<(String, usize)>,
}

/// Isolates a target, with some of the valves that are to stay open as barriers. Branches end at the relief devices of `ends`.
fn isolated(plant: &Plant, target: usize, pass: Pass, used_last: &BTreeSet<usize>, ends: &BTreeSet<usize>) -> Found {
    let mut found = Found::default();
    let mut entered: BTreeSet<(usize, Option<u8>)> = BTreeSet::new();
    found.inside.insert(target);
    found.inside.extend(plant.nozzles(target));
    match plant.kinds[target] {
        OpenEnd => _ = found.open.insert(("open_end".into(), target, target)),
        OffPage if plant.is_sheet_end(target) => _ = found.open.insert(("off_page_connector".into(), target, target)),
        _ => {}
    }
    if let Some(owner) = plant.owners[target] {
        if pass == Pass::None {
            found.open.insert(("equipment".into(), owner, target));
        } else {
            entered.insert((owner, plant.zones[target]));
        }
    }
    loop {
        let before = (found.inside.len(), found.barriers.len(), found.open.len(), entered.len());
        enter_equipment(plant, pass, &mut found, &entered);
        for node in found.inside.clone() {
            // Equipment whose unnamed side was not reached is inside, but its own pipes are not.
            let is_partly_inside = plant.kinds[node] == Equipment
                && node != target
                && pass == Pass::Zone
                && !entered.contains(&(node, None));
            for next in plant.neighbors(node).into_iter().filter(|_| !is_partly_inside) {
                if ends.contains(&next) && next != target {
                    found.open.insert(("relief_device".into(), next, next));
                } else {
                    step(plant, next, target, pass, used_last, &mut found, &mut entered);
                }
            }
        }
        if before == (found.inside.len(), found.barriers.len(), found.open.len(), entered.len()) {
            break;
        }
    }
    add_gaps(plant, target, &entered, pass, &mut found);
    let has_both_sides = |barrier: &usize| {
        let around = plant.neighbors(*barrier);
        let is_complete = plant.degree(*barrier) > 1 && around.len() >= if plant.is_inline(*barrier) { 2 } else { 0 };
        around.len() > 1 && is_complete && around.is_subset(&found.inside)
    };
    found.internal = found.barriers.iter().copied().filter(has_both_sides).collect();
    found.barriers.retain(|barrier| !found.internal.contains(barrier));
    found.inside.extend(&found.internal);
    found
}

/// Adds the nozzles of equipment that was entered, on the sides on which it was.
fn enter_equipment(plant: &Plant, pass: Pass, found: &mut Found, entered: &BTreeSet<(usize, Option<u8>)>) {
    for (equipment, side) in entered {
        found.inside.insert(*equipment);
        found
            .inside
            .extend(plant.nozzles(*equipment).filter(|nozzle| pass == Pass::Any || plant.zones[*nozzle] == *side));
    }
}

/// Continues from the inside to a neighbor.
fn step(
    plant: &Plant,
    node: usize,
    target: usize,
    pass: Pass,
    used_last: &BTreeSet<usize>,
    found: &mut Found,
    entered: &mut BTreeSet<(usize, Option<u8>)>,
) {
    if node == target || plant.owners[node] == Some(target) {
        return;
    }
    match plant.kinds[node] {
        Equipment | Nozzle => {
            let equipment = plant.owners[node].unwrap_or(node);
            if pass == Pass::None {
                found.open.insert(("equipment".into(), equipment, node));
            } else {
                entered.insert((equipment, plant.zones[node]));
                found.inside.insert(node);
            }
        }
        BlindFlange | ClosedBlind => {
            found.barriers.insert(node);
        }
        OpenEnd => {
            found.open.insert(("open_end".into(), node, node));
        }
        OffPage if plant.is_sheet_end(node) => {
            found.open.insert(("off_page_connector".into(), node, node));
            if plant.degree(node) > 1 {
                found.inside.insert(node);
            }
        }
        _ if plant.is_hand_valve(node) && (!plant.is_used_last(node, target) || used_last.contains(&node)) => {
            found.barriers.insert(node);
        }
        _ => {
            found.inside.insert(node);
            if plant.is_inline(node) && plant.degree(node) < 2 {
                found.open.insert(("free_port".into(), node, node));
                found.gaps.insert(("free_port".into(), node));
            }
        }
    }
}

fn add_gaps(plant: &Plant, target: usize, entered: &BTreeSet<(usize, Option<u8>)>, pass: Pass, found: &mut Found) {
    let has_pipe = |node: usize| plant.degree(node) > 0;
    let mut gap = |kind: &str, node: usize| {
        found.gaps.insert((kind.into(), node));
    };
    if !has_pipe(target) && !plant.nozzles(target).any(has_pipe) {
        gap("unconnected", target);
    }
    if plant.is_inline(target) && plant.degree(target) == 1 {
        gap("free_port", target);
    }
    plant.nozzles(target).filter(|nozzle| !has_pipe(*nozzle)).for_each(|nozzle| gap("unconnected_nozzle", nozzle));
    for (equipment, side) in entered {
        let open = plant.nozzles(*equipment).filter(|nozzle| pass == Pass::Any || plant.zones[*nozzle] == *side);
        open.filter(|nozzle| !has_pipe(*nozzle) && *nozzle != target)
            .for_each(|nozzle| gap("unconnected_nozzle", nozzle));
    }
    // A third pipe of a barrier may be on the side of the volume.
    let is_open = |node: &&usize| {
        found.inside.contains(*node) || found.barriers.contains(*node) && plant.neighbors(**node).len() > 1
    };
    plant.dangling.iter().filter(is_open).collect::<Vec<_>>().into_iter().for_each(|node| {
        found.gaps.insert(("dangling_edge".into(), *node));
    });
}

/// Returns the same from the engine.
fn isolated_by_engine(graph: &Graph, target: usize, pass: Pass) -> Found {
    let rows = ".barriers | map(.node.id), .internal | map(.id), .inside | map(.id), .unresolved | map([.kind, .at.id, .path | last().id]), .data_gaps | map([.kind, .at.id]), .complete";
    let query = format!("isolate({target}{}) | [{rows}]", option(pass));
    let found = evaluate(graph, &query);
    let ids = |at: usize| serde_json::from_value::<Vec<usize>>(found[at].clone()).expect("ids");
    let pairs = |at: usize| serde_json::from_value::<Vec<(String, usize)>>(found[at].clone()).expect("pairs");
    for list in 0..3 {
        assert_eq!(ids(list).len(), ids(list).into_iter().collect::<BTreeSet<_>>().len(), "a node twice: {found}");
    }
    let open: Vec<(String, usize, usize)> = serde_json::from_value(found[3].clone()).expect("open branches");
    assert_eq!(found[5] == true, open.is_empty() && pairs(4).is_empty());
    Found {
        barriers: ids(0).into_iter().collect(),
        internal: ids(1).into_iter().collect(),
        inside: ids(2).into_iter().collect(),
        open: open.into_iter().collect(),
        gaps: pairs(4).into_iter().collect(),
    }
}

fn option(pass: Pass) -> &'static str {
    match pass {
        Pass::None => "",
        Pass::Zone => r#", {pass: "zone"}"#,
        Pass::Any => r#", {pass: "any"}"#,
    }
}

fn evaluate(graph: &Graph, query: &str) -> Value {
    graph::evaluate(graph, query, "{}").unwrap_or_else(|error| panic!("{query}: {error}"))
}

/// Returns the nodes that a walk reaches, with its starts: a set of nodes and of sides of equipment, closed under the
/// steps of the walk.
fn walked(plant: &Plant, start: usize, pass: Pass, dir: &str) -> BTreeSet<usize> {
    let next = |node: usize| -> BTreeSet<usize> {
        let of_pipe = |(from, to): &(usize, usize)| match dir {
            _ if dir != "up" && *from == node => Some(*to),
            _ if dir != "down" && *to == node => Some(*from),
            _ => None,
        };
        plant.pipes.iter().filter_map(of_pipe).collect()
    };
    let is_inlet = |node: usize| match dir {
        "down" => plant.pipes.iter().any(|(_, to)| *to == node),
        "up" => plant.pipes.iter().any(|(from, _)| *from == node),
        _ => true,
    };
    let mut nodes: BTreeSet<usize> = plant.nozzles(start).filter(|nozzle| !next(*nozzle).is_empty()).collect();
    if plant.nozzles(start).next().is_none() || !next(start).is_empty() {
        nodes.insert(start);
    }
    let starts = nodes.clone();
    let mut arrived: BTreeSet<usize> = BTreeSet::new();
    let mut sides: BTreeSet<(usize, Option<u8>)> = BTreeSet::new();
    let has_nozzles = |node: usize| plant.nozzles(node).next().is_some();
    loop {
        let before = (nodes.len(), arrived.len(), sides.len());
        for node in nodes.clone() {
            let ends = pass == Pass::None && plant.is_equipment(node) && !starts.contains(&node);
            // Its own pipes are on the unnamed side, which a nozzle on a named side does not lead to.
            let is_shown_only = has_nozzles(node) && !starts.contains(&node) && !arrived.contains(&node);
            if !ends && (pass == Pass::None || !is_shown_only) {
                arrived.extend(next(node));
                nodes.extend(next(node));
                if pass != Pass::None && has_nozzles(node) {
                    sides.insert((node, None));
                }
            }
            let owner = plant.owners[node].filter(|_| pass != Pass::None);
            if let Some(owner) = owner.filter(|_| !starts.contains(&node) || is_inlet(node)) {
                sides.insert((owner, if pass == Pass::Zone { plant.zones[node] } else { None }));
            }
        }
        for (equipment, side) in sides.clone() {
            nodes.insert(equipment);
            if side.is_none() {
                arrived.insert(equipment);
            }
            let open = plant.nozzles(equipment).filter(|nozzle| pass == Pass::Any || plant.zones[*nozzle] == side);
            nodes.extend(open.filter(|nozzle| !next(*nozzle).is_empty()));
        }
        if before == (nodes.len(), arrived.len(), sides.len()) {
            return nodes;
        }
    }
}

fn any_plant() -> impl Strategy<Value = Plant> {
    let nozzles = prop::collection::vec(prop::option::of(0..2u8), 0..4);
    let equipment = prop::collection::vec(nozzles, 1..4);
    let items = prop::collection::vec(0..ITEMS.len(), 2..12);
    (equipment, items, prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 3..18))
        .prop_flat_map(|(equipment, items, pipes)| {
            let dangling = prop::collection::vec(any::<prop::sample::Index>(), 0..2);
            (Just(equipment), Just(items), Just(pipes), dangling)
        })
        .prop_map(|(equipment, items, pipes, dangling)| {
            let mut plant = Plant {
                kinds: items.iter().map(|row| ITEMS[*row].0).collect(),
                owners: vec![None; items.len()],
                zones: vec![None; items.len()],
                rows: items,
                pipes: Vec::new(),
                dangling: Vec::new(),
            };
            let add = |plant: &mut Plant, kind, owner, zone| {
                plant.kinds.push(kind);
                plant.owners.push(owner);
                plant.zones.push(zone);
                plant.rows.push(usize::MAX);
                plant.kinds.len() - 1
            };
            for nozzles in equipment {
                let owner = add(&mut plant, Equipment, None, None);
                for zone in nozzles {
                    add(&mut plant, Nozzle, Some(owner), zone);
                }
            }
            let count = plant.kinds.len();
            let pipes = pipes.iter().map(|(from, to)| (from.index(count), to.index(count)));
            plant.pipes = pipes.filter(|(from, to)| from != to).collect();
            plant.dangling = dangling.iter().map(|at| at.index(count)).collect();
            plant
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(120), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn isolations_equal_the_reference(plant in any_plant()) {
        let graph = Graph::from_json(plant.json()).expect("JSON");
        // On a side without an end, the drawing does not show what the device protects.
        let has_ends = plant.relief_sides().iter().all(|(device, side)| plant.way(*device, *side).is_some());
        prop_assume!(has_ends);
        for target in 0..plant.kinds.len() {
            let kept_open: BTreeSet<usize> =
                (0..plant.kinds.len()).filter(|node| plant.is_used_last(*node, target)).collect();
            for pass in [Pass::None, Pass::Zone, Pass::Any] {
                let found = isolated_by_engine(&graph, target, pass);
                let used: BTreeSet<usize> =
                    found.barriers.union(&found.internal).copied().filter(|node| kept_open.contains(node)).collect();
                let is_device_at_end = |(kind, ..): &&(String, usize, usize)| kind == "relief_device";
                let ends: BTreeSet<usize> = found.open.iter().filter(is_device_at_end).map(|(_, at, _)| *at).collect();
                for device in &ends {
                    prop_assert!(plant.is_outlet_reached(*device, &found.inside), "{device} of isolate({target}{}) on {}", option(pass), plant.json());
                }
                let expected = isolated(&plant, target, pass, &used, &ends);
                prop_assert_eq!(&found, &expected, "isolate({}{}) on {}", target, option(pass), plant.json());
                // All of them together close no more ends, without those that the relief of something outside needs.
                let is_own = |valve: &usize| used.contains(valve) || !plant.blocks_device_outside(*valve, &found.inside);
                let all: BTreeSet<usize> = kept_open.iter().copied().filter(is_own).collect();
                prop_assert_eq!(&found.open, &isolated(&plant, target, pass, &all, &ends).open, "isolate({}{}) on {}", target, option(pass), plant.json());
                for valve in &used {
                    let fewer = used.iter().copied().filter(|other| other != valve).collect();
                    let without = isolated(&plant, target, pass, &fewer, &ends);
                    prop_assert!(
                        without.open.len() + without.gaps.len() > found.open.len() + found.gaps.len(),
                        "isolate({target}{}) needs no {valve} on {}", option(pass), plant.json()
                    );
                }
            }
        }
    }

    #[test]
    fn an_open_relief_path_leads_past_nothing_that_is_closed_or_unknown(plant in any_plant()) {
        let graph = Graph::from_json(plant.json()).expect("JSON");
        let open = graph::evaluate(&graph, r#"reliefList() | filter(.relief_path == "open") | map(.id)"#, "{}");
        for device in open.expect("a list").as_array().expect("a list").iter().filter_map(Value::as_u64) {
            let device = device as usize;
            let around = plant.neighbors(device);
            let reached = |first: &usize| plant.reached_openly(device, *first);
            let has_end = |first: &usize| reached(first).iter().any(|node| plant.is_end(*node) && plant.kinds[*node] != OffPage);
            let has_equipment = |first: &usize| reached(first).iter().any(|node| plant.is_equipment(*node));
            prop_assert!(around.len() > 1, "{} on {}", device, plant.json());
            prop_assert!(around.iter().any(has_equipment), "{} on {}", device, plant.json());
            // Of more than two pipes, some may be drains.
            prop_assert!(around.len() > 2 || around.iter().all(has_end), "{} on {}", device, plant.json());
        }
    }

    #[test]
    fn walks_through_equipment_equal_the_reference(plant in any_plant()) {
        let graph = Graph::from_json(plant.json()).expect("JSON");
        for start in 0..plant.kinds.len() {
            for pass in [Pass::None, Pass::Zone, Pass::Any] {
                for (dir, function) in [("down", "downstream"), ("up", "upstream"), ("both", "connected")] {
                    let options = option(pass).replace(", {", "").replace('}', "");
                    let separator = if options.is_empty() { "" } else { ", " };
                    let traced = evaluate(&graph, &format!("trace({start}, {{dir: \"{dir}\"{separator}{options}}}) | map(.node.id)"));
                    let traced: Vec<usize> = serde_json::from_value(traced).expect("ids");
                    let expected = walked(&plant, start, pass, dir);
                    let set: BTreeSet<usize> = traced.iter().copied().collect();
                    prop_assert_eq!(set.len(), traced.len());
                    prop_assert_eq!(&set, &expected, "trace({}, {} {:?}) on {}", start, dir, pass, plant.json());
                    let listed = evaluate(&graph, &format!("{function}({start}{}) | map(.id)", option(pass)));
                    let listed: BTreeSet<usize> = serde_json::from_value(listed).expect("ids");
                    prop_assert!(listed.is_subset(&expected));
                    let starts: BTreeSet<usize> = plant.nozzles(start).chain([start]).collect();
                    prop_assert!(expected.difference(&listed).all(|node| starts.contains(node)), "{} of {}", function, start);
                }
            }
        }
    }
}
