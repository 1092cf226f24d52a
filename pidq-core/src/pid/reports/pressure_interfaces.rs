//! Interfaces between high and low pressure: items at which the design pressure changes, and what protects the low side.

use std::collections::BTreeMap;

use hashbrown::{HashMap, HashSet};

use super::item_pressures::ItemPressures;
use super::relief_devices::{self, ReliefDevice};
use super::{relief_texts, side_pressures};
use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NONE, NodeId};
use crate::graph::config::Names;
use crate::graph::connectivity::UnionFind;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter, EdgeFlags};
use crate::graph::vocabulary;
use crate::pid::quantity::{self, Comparison, Pressure, PressureDefaults, Reading, Stated};
use crate::pid::relief::PathState;
use crate::pid::relief::devices::opens_inwards;
use crate::pid::relief::protected::{EquipmentSide, is_driven, may_block, open_vent, ports_of_side, sides_behind};
use crate::pid::sections::inner_valves::has_one_direction;
use crate::pid::sections::open_ways::OpenWays;
use crate::pid::sections::ways_around::is_check_valve_bypassed;
use crate::pid::stated_values::{PipeValues, joint_pipes, stated_values};
use crate::pid::valve_state::out_of_action::{may_not_act, may_pass_back};
use crate::pid::valve_state::{Installation, installation};
use crate::pid::{Budget, ChargeFn, Datum, lists, pipe_lines, push_row};
use crate::value::convert;

const RESULT: &[&str] = &["interfaces", "unknown"];
const INTERFACE: &[&str] = &["at", "kind", "from", "to", "high", "difference", "protection", "certain", "reasons"];
const SIDE: &[&str] = &["item", "lines", "design_pressure", "unit", "pressure", "reference"];
const PROTECTION: &[&str] =
    &["item", "kind", "sides", "set_pressure", "unit", "set_within_design", "valves", "relief_path"];
const UNKNOWN: &[&str] = &["item", "lines", "pipes", "reason"];

/// Returns the interfaces, and the pipes and equipment without a readable design pressure.
pub(crate) fn pressure_interfaces<'a>(
    drawing: &Drawing<'a>,
    defaults: PressureDefaults<'_>,
    budget: &mut dyn Budget,
) -> Result<Datum<'a>> {
    let mut report = Report::new(drawing, defaults, budget)?;
    let mut rows = Vec::new();
    for node in 0..drawing.topology.node_count() as u32 {
        report.add_interfaces(node, &mut rows, budget)?;
    }
    let unknown = report.unknown(budget)?;
    Ok(Datum::Record(RESULT, vec![Datum::Table(INTERFACE, rows), Datum::Table(UNKNOWN, unknown)]))
}

/// A design pressure as stated.
struct Level<'a> {
    pressure: Reading<Pressure>,
    stated: Option<Stated<'a>>,
}

/// Identity of a level: values and units as stated.
type LevelKey = Option<Vec<(String, Option<String>)>>;

/// Levels of a drawing, by index.
#[derive(Default)]
struct Levels<'a> {
    levels: Vec<Level<'a>>,
    indices: HashMap<LevelKey, u32>,
}

impl<'a> Levels<'a> {
    fn add(
        &mut self,
        stated: Option<Stated<'a>>,
        defaults: PressureDefaults<'_>,
        budget: &mut dyn Budget,
    ) -> Result<u32> {
        let key: LevelKey = stated.as_ref().map(|stated| {
            let values = std::iter::once((stated.value, &stated.unit));
            let values = values.chain(stated.others.iter().map(|(value, unit)| (*value, unit)));
            values.map(|(value, unit)| (convert::to_text(value), unit.clone())).collect()
        });
        let values = key.iter().flatten();
        let size: usize = values.map(|(text, unit)| text.len() + unit.as_deref().map_or(0, str::len)).sum();
        budget.charge(1 + size as u64 / 64)?;
        let next = self.levels.len() as u32;
        let at = *self.indices.entry(key).or_insert(next);
        if at == next {
            budget.reserve(2 * size + 4 * size_of::<Level<'_>>())?;
            let pressure = quantity::pressure(stated.as_ref(), defaults);
            self.levels.push(Level { pressure, stated });
        }
        Ok(at)
    }

    /// Returns whether two levels are the same pressure, in whatever unit.
    fn are_equal(&self, a: u32, b: u32) -> bool {
        a == b || self.get(a).pressure.is_ok_and(|known| self.get(b).pressure.is_ok_and(|other| known.is_same(other)))
    }

    fn get(&self, level: u32) -> &Level<'a> {
        &self.levels[level as usize]
    }
}

/// A side of an interface at a node: the pipes of one level, or the equipment or item itself.
struct Side {
    level: u32,
    edges: Vec<EdgeId>,
    item: Option<EquipmentSide>,
}

/// A relief device that protects a pipe or equipment.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Protecting {
    /// By index.
    device: u32,
    /// Reached past nothing that may be closed or on another side.
    is_certain: bool,
}

/// A report in progress.
struct Report<'d, 'a, 'u> {
    drawing: &'d Drawing<'a>,
    defaults: PressureDefaults<'u>,
    levels: Levels<'a>,
    /// By pipe; `NONE` for other edges.
    level_of: Vec<u32>,
    /// By equipment side or item with a design pressure of its own.
    level_of_item: HashMap<EquipmentSide, u32>,
    devices: Vec<ReliefDevice>,
    /// By pipe and by equipment side: the devices that protect it.
    protecting: HashMap<EdgeId, Vec<Protecting>>,
    protecting_side: HashMap<EquipmentSide, Vec<Protecting>>,
    set_pressures: Vec<Option<Stated<'a>>>,
    /// By device: whether a text says that it is for another case than a flow from the high side, or too small.
    are_for_other_case: Vec<bool>,
    /// Equipment without a readable design pressure.
    unknown_items: Vec<(NodeId, u32)>,
    open_ways: OpenWays,
}

impl<'d, 'a, 'u> Report<'d, 'a, 'u> {
    fn new(
        drawing: &'d Drawing<'a>,
        defaults: PressureDefaults<'u>,
        budget: &mut dyn Budget,
    ) -> Result<Report<'d, 'a, 'u>> {
        let devices = relief_devices::relief_devices(drawing, relief_devices::Extent::WithoutPaths, budget)?;
        let mut report = Report {
            drawing,
            defaults,
            levels: Levels::default(),
            level_of: vec![NONE; drawing.topology.edge_count()],
            level_of_item: HashMap::new(),
            protecting: HashMap::new(),
            protecting_side: HashMap::new(),
            set_pressures: Vec::new(),
            are_for_other_case: Vec::new(),
            devices,
            unknown_items: Vec::new(),
            open_ways: OpenWays::default(),
        };
        budget.reserve(size_of_val(&*report.level_of))?;
        let mut values = PipeValues::new(drawing, [Names::DesignPressure], &mut |units| budget.charge(units))?;
        let by_items = ItemPressures::collect(drawing, &mut |units| budget.charge(units))?;
        for edge in drawing.topology.edges_of(EdgeFlags::FLOW) {
            let [stated] = values.of_edge(edge, &mut |units| budget.charge(units))?;
            let continued = joint_pipes::continued(drawing, edge).unwrap_or(edge);
            let stated = stated.or_else(|| by_items.of_pipe(drawing, continued));
            report.level_of[edge as usize] = report.levels.add(stated, defaults, budget)?;
        }
        report.index_devices(budget)?;
        Ok(report)
    }

    fn index_devices(&mut self, budget: &mut dyn Budget) -> Result<()> {
        for (at, device) in (0u32..).zip(&self.devices) {
            let count = device.pipes.len() + device.equipment.len();
            budget.charge(1 + count as u64)?;
            budget.reserve(2 * count * size_of::<(EdgeId, Vec<u32>)>())?;
            if !device.opens_inwards {
                let [certain_equipment, certain_pipes] = device.certain_counts;
                let protecting = |number, certain_count| Protecting { device: at, is_certain: number < certain_count };
                for (number, pipe) in device.pipes.iter().enumerate() {
                    self.protecting.entry(*pipe).or_default().push(protecting(number, certain_pipes));
                }
                for (number, side) in device.equipment.iter().enumerate() {
                    self.protecting_side.entry(*side).or_default().push(protecting(number, certain_equipment));
                }
            }
            let [stated] =
                stated_values(self.drawing, self.drawing.node(device.node), [Names::SetPressure], &mut |units| {
                    budget.charge(units)
                })?;
            self.set_pressures.push(relief_texts::with_text(self.drawing, device.node, stated));
            self.are_for_other_case.push(relief_texts::is_for_other_case(self.drawing, device.node));
        }
        Ok(())
    }

    /// Adds the interfaces at a node: between its pipes, and between each pipe and the equipment or the item itself.
    fn add_interfaces(&mut self, node: NodeId, rows: &mut Vec<Vec<Datum<'a>>>, budget: &mut dyn Budget) -> Result<()> {
        let sides = self.sides_at(node, budget)?;
        let Some((reference, others)) = self.reference_first(sides) else { return Ok(()) };
        for other in &others {
            let comparison =
                self.defaults.compare(self.levels.get(reference.level).pressure, self.levels.get(other.level).pressure);
            let both_unknown = [&reference, other].iter().all(|side| self.levels.get(side.level).pressure.is_err());
            let is_equal = matches!(comparison, Comparison::Difference(difference, _) if difference == 0.0);
            if both_unknown || is_equal {
                continue;
            }
            let row = self.row(node, &reference, other, comparison, budget)?;
            push_row(rows, row, budget)?;
        }
        Ok(())
    }

    /// Returns the sides at a node, one per level of its pipes, and one for the item itself if it has a level. The pipes into
    /// equipment with a pressure of its own and those out of it are different sides, as at nozzles.
    fn sides_at(&mut self, node: NodeId, budget: &mut dyn Budget) -> Result<Vec<Side>> {
        let topology = &self.drawing.topology;
        let edges = topology.table(EdgeFilter::Flow, Direction::Both).edges(node);
        budget.charge(1 + edges.len() as u64)?;
        let item = if edges.is_empty() { None } else { self.item_level(node, budget)? };
        let is_body =
            topology.roles[node as usize] == Role::Equipment && item.is_some_and(|(_, level)| self.is_readable(level));
        let mut sides: Vec<Side> = Vec::new();
        let mut side_of: HashMap<(u32, bool), usize> = HashMap::new();
        for edge in edges {
            let level = self.level_of[*edge as usize];
            let leads_in = is_body && topology.flow_ends(*edge)[1] == node;
            let at = *side_of.entry((level, leads_in)).or_insert(sides.len());
            if at == sides.len() {
                sides.push(Side { level, edges: Vec::new(), item: None });
            }
            sides[at].edges.push(*edge);
        }
        if let Some((item, level)) = item {
            // An item with the pressure of some of its pipes is on their side.
            match sides.iter_mut().find(|side| !is_body && self.levels.are_equal(side.level, level)) {
                Some(side) => side.item = Some(item),
                None => sides.push(Side { level, edges: Vec::new(), item: Some(item) }),
            }
        }
        Ok(sides)
    }

    fn is_readable(&self, level: u32) -> bool {
        self.levels.get(level).pressure.is_ok()
    }

    /// Returns the level of equipment or one of its sides, or of an item that states one itself.
    fn item_level(&mut self, node: NodeId, budget: &mut dyn Budget) -> Result<Option<(EquipmentSide, u32)>> {
        let topology = &self.drawing.topology;
        let is_equipment = topology.is_equipment(node);
        let owner = topology.equipment_or_self(node);
        let side = (owner, if is_equipment { topology.zone(node) } else { NONE });
        if let Some(level) = self.level_of_item.get(&side) {
            return Ok(Some((side, *level)));
        }
        let zone = Some(side.1).filter(|zone| *zone != NONE && (*zone as usize) < topology.node_count());
        // A relief device states its set pressure; its rating is not that of a side.
        let holders = [Some(node).filter(|_| topology.roles[node as usize] != Role::Relief), zone, Some(owner)];
        let by_side = side_pressures::design_pressure(self.drawing, side);
        budget.charge(1)?;
        let mut stated = None;
        for holder in holders.into_iter().flatten() {
            // What the equipment states for the side, before what it states for all.
            if holder == owner && by_side.is_some() {
                stated = by_side;
                break;
            }
            let [found] =
                stated_values(self.drawing, self.drawing.node(holder), [Names::DesignPressure], &mut |units| {
                    budget.charge(units)
                })?;
            stated = found;
            if stated.is_some() {
                break;
            }
        }
        if stated.is_none() && !is_equipment {
            return Ok(None);
        }
        let level = self.levels.add(stated, self.defaults, budget)?;
        self.level_of_item.insert(side, level);
        if self.levels.get(level).pressure.is_err() {
            self.unknown_items.push((zone.unwrap_or(owner), level));
        }
        Ok(Some((side, level)))
    }

    /// Separates the side with which the others are compared: equipment with a pressure of its own, or else the side of the
    /// highest known pressure. Pressures that cannot be compared keep their order.
    fn reference_first(&self, mut sides: Vec<Side>) -> Option<(Side, Vec<Side>)> {
        if sides.len() < 2 {
            return None;
        }
        let is_body = |side: &Side| {
            let is_equipment = |(item, _): (NodeId, u32)| self.drawing.topology.roles[item as usize] == Role::Equipment;
            side.edges.is_empty() && side.item.is_some_and(is_equipment) && self.is_readable(side.level)
        };
        let value = |side: &Side| self.levels.get(side.level).pressure.map_or(f64::NEG_INFINITY, |known| known.value);
        let highest = || (0..sides.len()).rev().max_by(|a, b| value(&sides[*a]).total_cmp(&value(&sides[*b])));
        let reference = sides.iter().position(is_body).or_else(highest)?;
        Some((sides.remove(reference), sides))
    }

    fn row(
        &self,
        node: NodeId,
        first: &Side,
        second: &Side,
        comparison: Comparison,
        budget: &mut dyn Budget,
    ) -> Result<Vec<Datum<'a>>> {
        let (from, to, is_directed) = self.in_flow_order(node, first, second);
        let mut reasons = Vec::new();
        let (mut difference, mut high) = (None, None);
        match comparison {
            Comparison::Difference(found, cause) => {
                reasons.extend(cause);
                difference = Some(found.abs());
                let higher = if found >= 0.0 { first } else { second };
                high = (found != 0.0).then(|| if std::ptr::eq(higher, from) { "from" } else { "to" });
            }
            Comparison::Unknown(cause) => reasons.push(cause),
        }
        reasons.extend((!is_directed).then_some("direction_not_stated"));
        reasons.extend(self.may_be_apart(node, [first, second], budget)?.then_some("unstated_side"));
        let low = match high {
            Some("from") => vec![("to", to)],
            Some(_) => vec![("from", from)],
            // Either side may be the low one.
            None => vec![("from", from), ("to", to)],
        };
        let mut protection = self.relief(node, &low, &mut reasons, budget)?;
        if high == Some("to") {
            self.add_check_valves(node, to, &mut protection, &mut reasons, budget)?;
        }
        Ok(vec![
            Datum::Node(node),
            Datum::Word(self.kind(node)),
            self.side_record(from),
            self.side_record(to),
            high.map_or(Datum::Null, Datum::Word),
            difference.map_or(Datum::Null, Datum::Number),
            Datum::Table(PROTECTION, protection),
            Datum::Bool(reasons.is_empty()),
            Datum::Array(reasons.into_iter().map(Datum::Word).collect()),
        ])
    }

    /// Returns whether two pipes at equipment may be on different sides of it, with a wall between them.
    fn may_be_apart(&self, node: NodeId, sides: [&Side; 2], budget: &mut dyn Budget) -> Result<bool> {
        let are_pipes = sides.iter().all(|side| !side.edges.is_empty());
        let is_body = self.drawing.topology.roles[node as usize] == Role::Equipment;
        Ok(are_pipes && is_body && self.drawing.may_have_several_sides(node, &mut |units| budget.charge(units))?)
    }

    /// Orders two sides by the flow through the node; false if a pipe has no direction.
    fn in_flow_order<'s>(&self, node: NodeId, first: &'s Side, second: &'s Side) -> (&'s Side, &'s Side, bool) {
        let topology = &self.drawing.topology;
        let edges = || first.edges.iter().chain(&second.edges);
        let is_directed = edges().all(|edge| !topology.is_assumed(*edge));
        let enters = |side: &Side| side.edges.iter().any(|edge| topology.flow_ends(*edge)[1] == node);
        let leaves = |side: &Side| side.edges.iter().any(|edge| topology.flow_ends(*edge)[0] == node);
        let is_reversed = match (enters(first) || leaves(second), enters(second) || leaves(first)) {
            (false, true) => true,
            // Both sides enter or both leave.
            (true, true) => !enters(first) && enters(second),
            _ => false,
        };
        if is_reversed { (second, first, is_directed) } else { (first, second, is_directed) }
    }

    fn kind(&self, node: NodeId) -> &'static str {
        let role = self.drawing.topology.roles[node as usize];
        match role {
            _ if self.drawing.topology.is_equipment(node) => Role::Equipment.name(),
            _ if lists::is_property_break(self.drawing, node) => "property_break",
            role => role.name(),
        }
    }

    fn side_record(&self, side: &Side) -> Datum<'a> {
        let level = self.levels.get(side.level);
        let stated = level.stated.as_ref();
        let known = level.pressure.ok();
        let unit = stated.and_then(|stated| quantity::number_and_unit(stated).ok()?.1.map(String::from));
        Datum::Record(
            SIDE,
            vec![
                Datum::node(side.item.map(|side| self.item_node(side))),
                Datum::strings(pipe_lines::lines_of(self.drawing, side.edges.iter().copied())),
                Datum::value(stated.map(|stated| stated.value)),
                Datum::string(unit),
                known.filter(|known| known.has_unit).map_or(Datum::Null, |known| Datum::Number(known.value)),
                known.and_then(|known| known.reference.name()).map_or(Datum::Null, Datum::Word),
            ],
        )
    }

    /// Returns the chamber of a side, else the equipment.
    fn item_node(&self, (equipment, zone): EquipmentSide) -> NodeId {
        let is_node = zone != NONE && (zone as usize) < self.drawing.topology.node_count();
        if is_node { zone } else { equipment }
    }

    /// Returns the relief devices that are connected to the sides that may be low, each once with its sides.
    fn relief(
        &self,
        node: NodeId,
        low: &[(&'static str, &Side)],
        reasons: &mut Vec<&'static str>,
        budget: &mut dyn Budget,
    ) -> Result<Vec<Vec<Datum<'a>>>> {
        let mut sides_of: BTreeMap<u32, Vec<(&'static str, &Side)>> = BTreeMap::new();
        for (name, side) in low {
            let mut devices = self.devices_of(side, reasons, budget)?;
            devices.retain(|found| self.devices[found.device as usize].node != node);
            for found in devices.iter_mut().filter(|_| side.item.is_some()) {
                // The nozzle itself may be on another side of its equipment.
                found.is_certain &= !self.devices[found.device as usize].unstated.contains(&node);
            }
            self.add_relief_reasons(&devices, reasons);
            for found in devices {
                sides_of.entry(found.device).or_default().push((*name, *side));
            }
        }
        let mut rows: Vec<Vec<Datum<'a>>> = Vec::new();
        for (device, sides) in sides_of {
            push_row(&mut rows, self.relief_row(device as usize, &sides), budget)?;
        }
        self.add_vents(node, low, &mut rows, budget)?;
        Ok(rows)
    }

    /// Adds the open vents of equipment on the sides that may be low, and of that to which a low pipe is open: no pressure
    /// builds up while they are free.
    fn add_vents(
        &self,
        node: NodeId,
        low: &[(&'static str, &Side)],
        rows: &mut Vec<Vec<Datum<'a>>>,
        budget: &mut dyn Budget,
    ) -> Result<()> {
        let topology = &self.drawing.topology;
        let at = topology.is_equipment(node).then(|| (topology.equipment_or_self(node), topology.zone(node)));
        let mut sides_of: BTreeMap<NodeId, Vec<Datum<'a>>> = BTreeMap::new();
        for (name, side) in low {
            let charge: ChargeFn<'_> = &mut |units| budget.charge(units);
            let equipment = match side.item.or(at) {
                Some(item) => vec![item],
                None => sides_behind(self.drawing, node, &side.edges, charge)?,
            };
            let mut vents = Vec::new();
            for item in equipment {
                vents.extend(open_vent(self.drawing, item, charge)?);
            }
            vents.sort_unstable();
            vents.dedup();
            vents.into_iter().for_each(|vent| sides_of.entry(vent).or_default().push(Datum::Word(name)));
        }
        for (vent, sides) in sides_of {
            let row = vec![
                Datum::Node(vent),
                Datum::Word("vent"),
                Datum::Array(sides),
                Datum::Null,
                Datum::Null,
                Datum::Null,
                Datum::Nodes(Vec::new()),
                Datum::Word(PathState::Open.word()),
            ];
            push_row(rows, row, budget)?;
        }
        Ok(())
    }

    /// Returns the relief devices that are connected to a side, each once.
    fn devices_of(
        &self,
        side: &Side,
        reasons: &mut Vec<&'static str>,
        budget: &mut dyn Budget,
    ) -> Result<Vec<Protecting>> {
        let mut devices: Vec<Protecting> =
            side.edges.iter().filter_map(|edge| self.protecting.get(edge)).flatten().copied().collect();
        devices.extend(side.item.and_then(|side| self.protecting_side.get(&side)).into_iter().flatten());
        if devices.is_empty() {
            devices = self.behind_check_valves(side, budget)?;
            add_reason(reasons, "relief_behind_check_valve", !devices.is_empty());
        }
        budget.charge(devices.len() as u64)?;
        devices.sort_unstable_by_key(|found| (found.device, !found.is_certain));
        devices.dedup_by_key(|found| found.device);
        Ok(devices)
    }

    /// Adds what makes the relief of a side uncertain. One device whose path is open suffices.
    fn add_relief_reasons(&self, devices: &[Protecting], reasons: &mut Vec<&'static str>) {
        let device = |found: &Protecting| &self.devices[found.device as usize];
        let has = |state: PathState| devices.iter().any(|found| device(found).state == state);
        let is_for_other_case = |found: &Protecting| self.are_for_other_case[found.device as usize];
        let is_open = |found: &Protecting| found.is_certain && device(found).state == PathState::Open;
        let is_relieved = devices.iter().any(|found| is_open(found) && !is_for_other_case(found));
        add_reason(reasons, "relief_class_not_stated", devices.iter().any(|found| device(found).is_by_tag));
        add_reason(reasons, "relief_path_blocked", has(PathState::Blocked));
        add_reason(reasons, "relief_path_unknown", has(PathState::Unknown) && !is_relieved);
        add_reason(reasons, "relief_for_other_case", devices.iter().any(is_for_other_case) && !is_relieved);
        let is_possible = devices.iter().any(|found| !found.is_certain);
        add_reason(reasons, "relief_connection_unknown", is_possible && !is_relieved);
    }

    /// Adds the check valves on a high side that lies downstream.
    fn add_check_valves(
        &self,
        node: NodeId,
        high: &Side,
        rows: &mut Vec<Vec<Datum<'a>>>,
        reasons: &mut Vec<&'static str>,
        budget: &mut dyn Budget,
    ) -> Result<()> {
        let (check_valves, has_open_branch) = self.check_valves(node, high, budget)?;
        add_reason(reasons, "branch_without_check_valve", has_open_branch && !check_valves.is_empty());
        for valve in check_valves {
            let is_bypassed =
                is_check_valve_bypassed(self.drawing, valve, &self.open_ways, &mut |units| budget.charge(units))?;
            add_reason(reasons, "check_valve_bypassed", is_bypassed);
            add_reason(reasons, "check_valve_may_pass_back", may_pass_back(self.drawing, valve));
            add_reason(reasons, "check_valve_direction", !has_one_direction(self.drawing, valve));
            let row = vec![
                Datum::Node(valve),
                Datum::Word("check_valve"),
                Datum::Array(vec![Datum::Word("from")]),
                Datum::Null,
                Datum::Null,
                Datum::Null,
                Datum::Nodes(Vec::new()),
                Datum::Null,
            ];
            push_row(rows, row, budget)?;
        }
        Ok(())
    }

    /// Returns the relief devices behind the check valves through which a side discharges, also through its equipment, without
    /// a valve between: they limit its pressure as long as the check valve opens.
    fn behind_check_valves(&self, side: &Side, budget: &mut dyn Budget) -> Result<Vec<Protecting>> {
        let topology = &self.drawing.topology;
        let table = topology.table(EdgeFilter::Flow, Direction::Both);
        let mut queue: Vec<NodeId> = side.edges.iter().map(|edge| topology.flow_ends(*edge)[1]).collect();
        queue.extend(side.item.into_iter().flat_map(|side| ports_of_side(self.drawing, side)));
        let mut seen: HashSet<NodeId> = queue.iter().copied().collect();
        let mut devices = Vec::new();
        let mut at = 0;
        while let Some(node) = queue.get(at).copied() {
            at += 1;
            budget.charge(1 + table.degree(node) as u64)?;
            if topology.roles[node as usize] == Role::OneWay {
                let behind = topology.table(EdgeFilter::Flow, Direction::Down).edges(node).iter();
                devices.extend(behind.filter_map(|edge| self.protecting.get(edge)).flatten().copied());
                continue;
            }
            let is_relief = topology.roles[node as usize] == Role::Relief;
            if may_block(self.drawing, node) || is_relief || topology.is_sheet_end(node) {
                continue;
            }
            if topology.is_equipment(node) {
                let owner = topology.equipment_or_self(node);
                if is_driven(self.drawing, owner) {
                    continue;
                }
                let ports = ports_of_side(self.drawing, (owner, topology.zone(node)));
                budget.charge(ports.len() as u64)?;
                queue.extend(ports.into_iter().filter(|port| seen.insert(*port)));
            }
            let opens = |(next, edge): &(NodeId, EdgeId)| {
                let is_check_valve = topology.roles[*next as usize] == Role::OneWay;
                !topology.is_assumed(*edge) && (!is_check_valve || topology.flow_ends(*edge)[1] == *next)
            };
            queue.extend(table.arcs(node).filter(opens).map(|(next, _)| next).filter(|next| seen.insert(*next)));
        }
        Ok(devices)
    }

    fn relief_row(&self, at: usize, sides: &[(&'static str, &Side)]) -> Vec<Datum<'a>> {
        let device = &self.devices[at];
        let stated = self.set_pressures[at].as_ref();
        // A valve behind a rupture disc relieves nothing until the disc has burst, and a disc nothing until its valve opens.
        let before = |node: NodeId| self.devices.binary_search_by_key(&node, |device| device.node).ok();
        let in_series: Vec<usize> = device.in_series().filter_map(before).chain([at]).collect();
        let is_within = |at: &usize, side: &Side| {
            let set_pressure = quantity::pressure(self.set_pressures[*at].as_ref(), self.defaults);
            match self.defaults.compare(set_pressure, self.levels.get(side.level).pressure) {
                Comparison::Difference(difference, None) => Some(difference <= 0.0),
                _ => None,
            }
        };
        let within: Vec<Option<bool>> =
            sides.iter().flat_map(|(_, side)| in_series.iter().map(|at| is_within(at, side))).collect();
        let set_within_design = match () {
            () if within.contains(&Some(false)) => Datum::Bool(false),
            () if within.contains(&None) => Datum::Null,
            () => Datum::Bool(true),
        };
        let valves = device.inlet_valves.iter().chain(&device.outlet_valves).copied().collect();
        let unit = stated.and_then(|stated| quantity::number_and_unit(stated).ok()?.1.map(String::from));
        vec![
            Datum::Node(device.node),
            Datum::Word("relief"),
            Datum::Array(sides.iter().map(|(name, _)| Datum::Word(name)).collect()),
            Datum::value(stated.map(|stated| stated.value)),
            Datum::string(unit),
            set_within_design,
            Datum::Nodes(valves),
            Datum::Word(device.state.word()),
        ]
    }

    /// Returns the first check valve on each branch of a high side downstream of a node, and whether a branch has none.
    fn check_valves(&self, node: NodeId, high: &Side, budget: &mut dyn Budget) -> Result<(Vec<NodeId>, bool)> {
        let topology = &self.drawing.topology;
        // A check valve that may not be there stops nothing.
        let is_check_valve = |node: NodeId| {
            topology.roles[node as usize] == Role::OneWay && installation(self.drawing, node) == Installation::Installed
        };
        if is_check_valve(node) {
            return Ok((vec![node], false));
        }
        let down = topology.table(EdgeFilter::Flow, Direction::Down);
        let mut queue: Vec<NodeId> = match high.item {
            Some((item, zone)) => {
                let ports = topology.ports.nodes(item).iter().copied();
                std::iter::once(item)
                    .chain(ports.filter(|port| topology.zone(*port) == zone || is_driven(self.drawing, item)))
                    .collect()
            }
            None => vec![node],
        };
        let mut seen: HashSet<NodeId> = queue.iter().copied().chain([node]).collect();
        let (mut found, mut has_open_branch, mut at) = (Vec::new(), false, 0);
        let start_count = queue.len();
        while let Some(next) = queue.get(at).copied() {
            let is_start = at < start_count;
            at += 1;
            budget.charge(1 + down.degree(next) as u64)?;
            if is_check_valve(next) {
                found.push(next);
                continue;
            }
            let is_high = |edge: EdgeId| self.levels.are_equal(self.level_of[edge as usize], high.level);
            let arcs = down.arcs(next).filter(|(other, edge)| !self.is_relief_inlet(*other, *edge));
            let (inside, outside): (Vec<_>, Vec<_>) = arcs.partition(|(_, edge)| is_high(*edge));
            let is_dead_end = topology.flow_degree(next) == 1 && topology.roles[next as usize] != Role::OffPage;
            let is_relieved = inside.is_empty() && down.degree(next) > outside.len();
            let ends_branch =
                inside.is_empty() && !is_relieved && !is_start && (!is_dead_end || topology.is_equipment(next));
            has_open_branch |= ends_branch || !outside.is_empty();
            queue.extend(inside.into_iter().map(|(other, _)| other).filter(|other| seen.insert(*other)));
        }
        found.sort_unstable();
        Ok((found, has_open_branch))
    }

    /// Returns whether a pipe leads into a relief valve, which opens in its direction only: nothing flows back on its branch. A
    /// disc that has burst lets the flow back.
    fn is_relief_inlet(&self, device: NodeId, pipe: EdgeId) -> bool {
        self.drawing.topology.roles[device as usize] == Role::Relief
            && !self.drawing.topology.is_assumed(pipe)
            && !self.drawing.class_has(device, vocabulary::RUPTURE_DISCS)
            && !opens_inwards(self.drawing, device)
            && !may_not_act(self.drawing, device)
            && installation(self.drawing, device) == Installation::Installed
    }

    /// Returns the connected parts of the piping without a readable design pressure, and such equipment.
    fn unknown(&self, budget: &mut dyn Budget) -> Result<Vec<Vec<Datum<'a>>>> {
        let topology = &self.drawing.topology;
        let is_unknown = |edge: &EdgeId| {
            let level = self.level_of[*edge as usize];
            level != NONE && self.levels.get(level).pressure.is_err()
        };
        budget.reserve(topology.edge_count() * size_of::<u32>())?;
        let mut unions = UnionFind::new(topology.edge_count());
        for node in (0..topology.node_count() as u32).filter(|node| !topology.is_equipment(*node)) {
            let edges = topology.table(EdgeFilter::Flow, Direction::Both).edges(node);
            budget.charge(1 + edges.len() as u64)?;
            let unknown: Vec<EdgeId> = edges.iter().copied().filter(is_unknown).collect();
            let pairs =
                unknown.windows(2).filter(|pair| self.level_of[pair[0] as usize] == self.level_of[pair[1] as usize]);
            pairs.for_each(|pair| unions.join(pair[0], pair[1]));
        }
        let mut groups: HashMap<u32, Vec<EdgeId>> = HashMap::new();
        for edge in (0..topology.edge_count() as u32).filter(is_unknown) {
            groups.entry(unions.find(edge)).or_default().push(edge);
        }
        let mut groups: Vec<Vec<EdgeId>> = groups.into_values().collect();
        groups.sort_unstable();
        let reason = |level: u32| match self.levels.get(level).pressure {
            Err(cause) => Datum::Word(cause.name()),
            Ok(_) => Datum::Null,
        };
        let mut rows = Vec::new();
        for (item, level) in &self.unknown_items {
            let row = vec![Datum::Node(*item), Datum::Array(Vec::new()), Datum::Number(0.0), reason(*level)];
            push_row(&mut rows, row, budget)?;
        }
        for edges in groups {
            budget.charge(edges.len() as u64)?;
            let lines = Datum::strings(pipe_lines::lines_of(self.drawing, edges.iter().copied()));
            let level = self.level_of[edges[0] as usize];
            let row = vec![Datum::Null, lines, Datum::count(edges.len()), reason(level)];
            push_row(&mut rows, row, budget)?;
        }
        Ok(rows)
    }
}

/// Adds a reason once, if it applies.
fn add_reason(reasons: &mut Vec<&'static str>, reason: &'static str, applies: bool) {
    if applies && !reasons.contains(&reason) {
        reasons.push(reason);
    }
}
