//! Relief devices: inlet and outlet, the equipment and pipes that they protect, the valves that could block them, and
//! whether their paths are open.

use hashbrown::{HashMap, HashSet};

use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NONE, NodeId};
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter};
use crate::pid::isolate::equipment_bodies::EquipmentBodies;
use crate::pid::lists::{self, EdgeField};
use crate::pid::quantity::Stated;
use crate::pid::relief::devices::{self, StatedBy};
use crate::pid::relief::items::Cause;
use crate::pid::relief::paths::is_end;
use crate::pid::relief::protected::{EquipmentSide, Protected, may_block};
use crate::pid::relief::tails::Tails;
use crate::pid::relief::{PathState, Reason, ReliefPath, SideKind};
use crate::pid::stated_values::{plain_name, stated_fields, stated_values};
use crate::pid::{Budget, ChargeFn, Datum, pipe_lines};
use crate::value::{Value, convert};

/// A relief device with its surroundings.
#[derive(Debug)]
pub(crate) struct ReliefDevice {
    pub node: NodeId,
    pub inlet: Vec<EdgeId>,
    pub outlet: Vec<EdgeId>,
    /// Valves in the inlet line, which would cut the device off.
    pub inlet_valves: Vec<NodeId>,
    pub outlet_valves: Vec<NodeId>,
    /// Equipment, connectors and open ends that the outlet leads to.
    pub discharges_to: Vec<NodeId>,
    /// Equipment connected to the inlet without a valve between that closes, except those in the inlet line.
    pub equipment: Vec<EquipmentSide>,
    /// Pipes connected in the same way.
    pub pipes: Vec<EdgeId>,
    /// The number of those that are certain, which come first: of equipment, and of pipes.
    pub certain_counts: [usize; 2],
    /// Items and pipes from the first branch or equipment before the device to the ends of its outlet, except those
    /// behind the outlets of the devices before it in the list.
    pub path: Vec<NodeId>,
    pub path_pipes: Vec<EdgeId>,
    /// True if all pipes of the device have a direction and one of them leads to it.
    pub has_direction: bool,
    pub state: PathState,
    pub reasons: Vec<Reason>,
    /// Ports of equipment that may or may not be protected: their side is not stated.
    pub unstated: Vec<NodeId>,
    /// Items that may close the way to some of the equipment, or may not be there.
    pub unknown: Vec<(Cause, NodeId)>,
    /// Only its tag or a general class says that it is a relief device.
    pub is_by_tag: bool,
    /// It lets air in, and relieves no overpressure.
    pub opens_inwards: bool,
    /// Items that all ways of a side lead through, until the path is complete.
    shared: Vec<NodeId>,
}

impl ReliefDevice {
    /// Returns the relief devices without which it relieves nothing, and which open at their own set pressure: those in its
    /// inlet, such as a rupture disc, and for a disc the valve in series.
    pub fn in_series(&self) -> impl Iterator<Item = NodeId> + '_ {
        let is_in_series = |reason: &&Reason| match reason.cause {
            Cause::ValveOfDisc => true,
            Cause::SecondDisc | Cause::ReliefDevice => reason.side == SideKind::Inlet,
            _ => false,
        };
        self.reasons.iter().filter(is_in_series).map(|reason| reason.at)
    }
}

/// Extent of the rows about relief devices.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Extent {
    /// With all items and pipes of their paths.
    WithPaths,
    /// Without, so that devices with a common header need not list it each.
    WithoutPaths,
}

/// Returns the relief devices of a drawing, in document order.
pub(crate) fn relief_devices(
    drawing: &Drawing<'_>,
    extent: Extent,
    budget: &mut dyn Budget,
) -> Result<Vec<ReliefDevice>> {
    let (mut tails, mut outlets) = (Tails::default(), OutletEnds::default());
    let mut followed: HashSet<NodeId> = HashSet::new();
    let mut devices = Vec::new();
    let nodes = devices::devices(drawing, &mut |units| budget.charge(units))?;
    let bodies = match nodes.is_empty() {
        true => EquipmentBodies::default(),
        false => EquipmentBodies::collect(drawing, &mut |units| budget.charge(units))?,
    };
    for (node, stated_by) in nodes {
        let mut device = relief_device(drawing, node, &bodies, &mut tails, budget)?;
        device.is_by_tag = stated_by != StatedBy::Class;
        device.discharges_to = outlets.ends(drawing, &device, budget)?;
        if extent == Extent::WithPaths {
            add_paths(drawing, &mut device, &mut followed, budget)?;
        }
        device.shared = Vec::new();
        let count = device.pipes.len() + device.equipment.len() + device.path.len() + device.path_pipes.len();
        let reasons = device.reasons.iter().map(|reason| size_of::<Reason>() + size_of_val(&*reason.path));
        budget.reserve(size_of::<ReliefDevice>() + 2 * count * size_of::<EquipmentSide>() + reasons.sum::<usize>())?;
        devices.push(device);
    }
    Ok(devices)
}

fn relief_device(
    drawing: &Drawing<'_>,
    node: NodeId,
    bodies: &EquipmentBodies,
    tails: &mut Tails,
    budget: &mut dyn Budget,
) -> Result<ReliefDevice> {
    let topology = &drawing.topology;
    let edges = topology.table(EdgeFilter::Flow, Direction::Both).edges(node);
    let is_stated = |edge: &EdgeId| !topology.is_assumed(*edge);
    let path = ReliefPath::find(drawing, node, tails, &mut |units| budget.charge(units))?;
    let bodies = |equipment: NodeId, charge: ChargeFn<'_>| bodies.open_to(drawing, equipment, charge);
    let protected = Protected::find_through(drawing, &path, &bodies, &mut |units| budget.charge(units))?;
    // Without arrows, what is protected follows from the ends alone.
    let certain_counts = match devices::has_stated_inlet(drawing, node) {
        true => [protected.certain().len(), protected.certain_pipe_count],
        false => [0, 0],
    };
    let Protected { equipment, pipes, unstated, unknown, .. } = protected;
    let is_valve = |node: NodeId| may_block(drawing, node);
    // What a pipe without a direction is, the ends of its side may say.
    let is_of_side = |edge: EdgeId, kind: SideKind| {
        path.sides.iter().any(|side| side.kind == kind && side.first == other_end(drawing, edge, node))
    };
    let side = |at: usize, kind: SideKind| {
        let is_at_side = |edge: &EdgeId| match is_stated(edge) {
            true => topology.flow_ends(*edge)[at] == node,
            false => is_of_side(*edge, kind),
        };
        edges.iter().copied().filter(is_at_side).collect::<Vec<EdgeId>>()
    };
    let (inlet, outlet) = (side(1, SideKind::Inlet), side(0, SideKind::Outlet));
    Ok(ReliefDevice {
        node,
        has_direction: edges.iter().all(is_stated) && !inlet.is_empty(),
        inlet,
        outlet,
        inlet_valves: [SideKind::Inlet, SideKind::SensingLine].map(|kind| path.valves(kind, is_valve)).concat(),
        outlet_valves: path.valves(SideKind::Outlet, is_valve),
        discharges_to: Vec::new(),
        equipment,
        pipes,
        certain_counts,
        path: Vec::new(),
        path_pipes: Vec::new(),
        state: path.state,
        reasons: path.reasons,
        unstated,
        unknown,
        is_by_tag: false,
        opens_inwards: devices::opens_inwards(drawing, node),
        // A way along the flow is a part of what the outlet leads to.
        shared: path.sides.into_iter().filter(|side| !side.is_only_way()).flat_map(|side| side.shared).collect(),
    })
}

/// Adds the items and pipes of the paths of a device. `followed` has the items behind the outlets of other devices.
fn add_paths(
    drawing: &Drawing<'_>,
    device: &mut ReliefDevice,
    followed: &mut HashSet<NodeId>,
    budget: &mut dyn Budget,
) -> Result<()> {
    for edge in device.inlet.clone() {
        follow_inlet(drawing, device, edge, budget)?;
    }
    follow_outlet(drawing, device, followed, budget)?;
    budget.charge(device.shared.len() as u64)?;
    let is_item = |node: &NodeId| !is_end(drawing, *node) && !followed.contains(node);
    device.path.extend(device.shared.iter().copied().filter(is_item));
    Ok(())
}

/// Ends of outlets along the flow, by item, kept for the devices that discharge into the same header.
#[derive(Default)]
struct OutletEnds {
    /// By item with one way on: the end of it; `NONE` if there is none, or several.
    end_of: HashMap<NodeId, NodeId>,
}

impl OutletEnds {
    /// Returns what the outlet of a device leads to.
    fn ends(&mut self, drawing: &Drawing<'_>, device: &ReliefDevice, budget: &mut dyn Budget) -> Result<Vec<NodeId>> {
        let topology = &drawing.topology;
        if let [edge] = device.outlet.as_slice() {
            let end = self.only_end(drawing, other_end(drawing, *edge, device.node), budget)?;
            if end != NONE {
                return Ok(vec![topology.equipment_or_self(end)]);
            }
        }
        let mut ends = Vec::new();
        outlet_items(drawing, device, budget, |node, is_end| {
            ends.extend(is_end.then(|| topology.equipment_or_self(node)));
        })?;
        Ok(ends)
    }

    /// Returns the end of the only way along the flow from an item.
    fn only_end(&mut self, drawing: &Drawing<'_>, first: NodeId, budget: &mut dyn Budget) -> Result<NodeId> {
        let table = drawing.topology.table(EdgeFilter::Flow, Direction::Down);
        let (mut items, mut node) = (Vec::new(), first);
        let end = loop {
            if let Some(end) = self.end_of.get(&node) {
                break *end;
            }
            budget.charge(1 + table.degree(node) as u64)?;
            // Until its end is known: a way that comes back to it has none.
            self.end_of.insert(node, NONE);
            items.push(node);
            if is_end(drawing, node) {
                break node;
            }
            match table.nodes(node) {
                [only, others @ ..] if others.iter().all(|other| other == only) => node = *only,
                _ => break NONE,
            }
        };
        self.end_of.extend(items.into_iter().map(|node| (node, end)));
        Ok(end)
    }
}

/// Follows the inlet line to the first branch or equipment.
fn follow_inlet(drawing: &Drawing<'_>, device: &mut ReliefDevice, edge: EdgeId, budget: &mut dyn Budget) -> Result<()> {
    let topology = &drawing.topology;
    let table = topology.table(EdgeFilter::Flow, Direction::Both);
    let (mut node, mut edge) = (other_end(drawing, edge, device.node), edge);
    loop {
        budget.charge(1)?;
        device.path_pipes.push(edge);
        let next = table.edges(node).iter().copied().find(|next| *next != edge);
        let is_inner = table.degree(node) == 2 && !topology.is_equipment(node) && node != device.node;
        let Some(next) = next.filter(|_| is_inner) else { return Ok(()) };
        device.path.push(node);
        (node, edge) = (other_end(drawing, next, node), next);
    }
}

/// Follows the flow from the outlet to equipment and the ends of the sheet, up to what is behind another one.
fn follow_outlet(
    drawing: &Drawing<'_>,
    device: &mut ReliefDevice,
    followed: &mut HashSet<NodeId>,
    budget: &mut dyn Budget,
) -> Result<()> {
    let topology = &drawing.topology;
    let table = topology.table(EdgeFilter::Flow, Direction::Down);
    let mut queue: Vec<NodeId> = device.outlet.iter().map(|edge| other_end(drawing, *edge, device.node)).collect();
    device.path_pipes.extend(&device.outlet);
    while let Some(node) = queue.pop() {
        budget.charge(1)?;
        if is_end(drawing, node) || !followed.insert(node) {
            continue;
        }
        budget.charge(table.degree(node) as u64)?;
        device.path.push(node);
        device.path_pipes.extend(table.edges(node));
        queue.extend(table.nodes(node));
    }
    Ok(())
}

/// Visits the items that the flow reaches from the outlet, with whether the outlet ends there.
fn outlet_items(
    drawing: &Drawing<'_>,
    device: &ReliefDevice,
    budget: &mut dyn Budget,
    mut visit: impl FnMut(NodeId, bool),
) -> Result<()> {
    let topology = &drawing.topology;
    let table = topology.table(EdgeFilter::Flow, Direction::Down);
    let mut seen: HashSet<NodeId> = [device.node].into_iter().collect();
    let mut queue: Vec<NodeId> = device.outlet.iter().map(|edge| other_end(drawing, *edge, device.node)).collect();
    queue.retain(|node| seen.insert(*node));
    let mut at = 0;
    while let Some(node) = queue.get(at).copied() {
        at += 1;
        budget.charge(1 + table.degree(node) as u64)?;
        let is_end = is_end(drawing, node);
        visit(node, is_end);
        if !is_end {
            // A header without directions leads to the outlets of other devices too.
            let leads_on = |(next, pipe): &(NodeId, EdgeId)| {
                !topology.is_assumed(*pipe) || topology.roles[*next as usize] != Role::Relief
            };
            queue.extend(table.arcs(node).filter(leads_on).map(|(next, _)| next).filter(|next| seen.insert(*next)));
        }
    }
    Ok(())
}

/// Returns the end of a pipe at a node that is not the node.
fn other_end(drawing: &Drawing<'_>, pipe: EdgeId, node: NodeId) -> NodeId {
    let [from, to] = drawing.topology.ends[pipe as usize];
    if from == node { to } else { from }
}

/// Returns the name of a side of equipment: that of the chamber, or of the equipment, with the word for the side that its
/// nozzles have.
pub(crate) fn side_name(drawing: &Drawing<'_>, (equipment, zone): EquipmentSide) -> String {
    let topology = &drawing.topology;
    let name = drawing.name(equipment);
    if zone != NONE && (zone as usize) < topology.node_count() {
        return match drawing.tag(zone) {
            Some(_) => drawing.name(zone),
            None => format!("{name} ({})", chamber_word(drawing, zone)),
        };
    }
    let ports = topology.ports.nodes(equipment).iter().filter(|port| zone != NONE && topology.zone(**port) == zone);
    let word = ports.filter_map(|port| drawing.node_field(*port, Names::Zone)).next();
    word.map_or(name.clone(), |word| format!("{name} ({})", convert::to_text(word)))
}

/// Returns what a chamber without a tag is for, as it states it, or else its id.
fn chamber_word(drawing: &Drawing<'_>, chamber: NodeId) -> String {
    const NAMES: [&str; 4] = ["chamber_function", "chamber_description", "function", "description"];
    let stated: Vec<_> = drawing.node(chamber).as_object().into_iter().flat_map(stated_fields).collect();
    let text =
        |name: &str| stated.iter().find_map(|(key, found)| found.value.as_str().filter(|_| plain_name(key) == name));
    NAMES.into_iter().find_map(text).map_or_else(|| convert::to_text(drawing.id(chamber)), String::from)
}

/// Returns one row per relief device with additional columns for the requested attributes.
pub(crate) fn relief_list<'a>(
    drawing: &Drawing<'a>,
    extra_names: &[&str],
    budget: &mut dyn Budget,
) -> Result<Datum<'a>> {
    let mut rows = Vec::new();
    for device in relief_devices(drawing, Extent::WithoutPaths, budget)? {
        let stated =
            stated_values(drawing, drawing.node(device.node), [Names::SetPressure, Names::OutletSize], &mut |units| {
                budget.charge(units)
            })?;
        budget.charge(
            (device.equipment.len() + device.discharges_to.len() + device.unstated.len() + device.unknown.len()) as u64
                + 1,
        )?;
        let fixed = row(drawing, &device, stated).map(|(key, datum)| (String::from(key), datum));
        budget.reserve(fixed.iter().map(|(key, datum)| key.len() + datum.size()).sum())?;
        let extra = lists::extra_columns(drawing, device.node, extra_names, budget)?;
        rows.push(Datum::Map(fixed.into_iter().chain(extra).collect()));
    }
    Ok(Datum::Array(rows))
}

fn row<'a>(
    drawing: &Drawing<'a>,
    device: &ReliefDevice,
    [set_pressure, outlet_size]: [Option<Stated<'a>>; 2],
) -> [(&'static str, Datum<'a>); 16] {
    let node = device.node;
    let names = |nodes: &[NodeId]| joined(nodes.iter().map(|node| drawing.name(*node)));
    let lines = |edges: &[EdgeId]| joined(pipe_lines::lines_of(drawing, edges.iter().copied()));
    let pipe_size = |edges: &[EdgeId]| -> Option<Value<'a>> {
        edges.iter().find_map(|edge| lists::edge_value(drawing, *edge, &EdgeField::Named(Names::Size)))
    };
    let size = drawing.node_field(node, Names::Size).or_else(|| pipe_size(&device.inlet));
    let outlet_size = outlet_size.map(|stated| stated.value).or_else(|| pipe_size(&device.outlet));
    let reasons = device.reasons.iter().map(|reason| reason_text(drawing, reason));
    let sides = device.unstated.iter().map(|port| format!("unstated_side {}", drawing.name(*port)));
    let unknown = device.unknown.iter().map(|(cause, item)| format!("{} {}", cause.word(), drawing.name(*item)));
    let by_tag = device.is_by_tag.then(|| format!("class_not_stated {}", drawing.name(node)));
    let inwards = device.opens_inwards.then(|| format!("opens_inwards {}", drawing.name(node)));
    let is_stated = device.has_direction
        && device.unstated.is_empty()
        && device.unknown.is_empty()
        && !device.is_by_tag
        && !device.opens_inwards;
    let is_sure = |reason: &Reason| reason.is_position_stated && !reason.cause.is_uncertainty();
    let is_certain = is_stated && device.state == PathState::Open && device.reasons.iter().all(is_sure);
    let unit = set_pressure.as_ref().and_then(|stated| stated.unit.clone());
    [
        ("id", Datum::Value(drawing.id(node))),
        ("tag", Datum::string(drawing.tag(node))),
        ("class", Datum::string(drawing.class(node))),
        ("set_pressure", Datum::value(set_pressure.map(|stated| stated.value))),
        ("unit", Datum::string(unit)),
        ("size", Datum::value(size)),
        ("outlet_size", Datum::value(outlet_size)),
        ("inlet_line", lines(&device.inlet)),
        ("outlet_line", lines(&device.outlet)),
        ("protects", joined(device.equipment.iter().map(|side| side_name(drawing, *side)))),
        ("inlet_valves", names(&device.inlet_valves)),
        ("discharges_to", names(&device.discharges_to)),
        ("outlet_valves", names(&device.outlet_valves)),
        ("relief_path", Datum::Word(device.state.word())),
        ("reasons", joined(by_tag.into_iter().chain(inwards).chain(reasons).chain(sides).chain(unknown))),
        ("certain", Datum::Bool(is_certain)),
    ]
}

/// Returns a reason with its item: `closed_valve HV-1`.
fn reason_text(drawing: &Drawing<'_>, reason: &Reason) -> String {
    match (reason.path.is_empty(), reason.behind) {
        (true, _) => reason.cause.word().into(),
        (false, None) => format!("{} {}", reason.cause.word(), drawing.name(reason.at)),
        (false, Some(equipment)) => {
            format!("{} {} behind {}", reason.cause.word(), drawing.name(reason.at), drawing.name(equipment))
        }
    }
}

/// Returns names as one text, each once.
fn joined<'a>(names: impl IntoIterator<Item = String>) -> Datum<'a> {
    let mut seen = HashSet::new();
    let names: Vec<String> = names.into_iter().filter(|name| seen.insert(name.clone())).collect();
    Datum::String(names.join(", "))
}
