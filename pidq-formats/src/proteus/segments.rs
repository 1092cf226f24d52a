//! Segments as pipe edges. The `Connection` of a segment names its two ends; its items are between them in flow order;
//! a missing end becomes an open end.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use crate::import::Finding;
use crate::json::{Fields, Json};
use crate::snake_case::snake_case;
use crate::xml::Element;

use super::attribute::Point;
use super::attributes;
use super::plant_import::{IdTarget, PlantImport};

/// Adds the pipe edges of every segment.
pub fn add(plant: &mut PlantImport<'_>) {
    let segments = (0..plant.items.len()).filter(|item| plant.element(*item).name == "PipingNetworkSegment");
    let segments: Vec<usize> = segments.collect();
    let connections_by_run = RunConnections::new(plant, &segments);
    for segment in segments {
        add_segment(plant, segment, &connections_by_run);
    }
}

/// Returns the elements that declare the ends of a segment: its connections, or else the segment itself.
fn connections<'t>(plant: &PlantImport<'t>, element: usize) -> Vec<&'t Element> {
    let children: Vec<&Element> = plant.tree.named(element, "Connection").map(|(_, connection)| connection).collect();
    let segment = &plant.tree.elements[element];
    let is_self_declared = [Side::From, Side::To].iter().any(|side| side.item(segment).is_some());
    if children.is_empty() && is_self_declared { vec![segment] } else { children }
}

/// Node on a run: id, port and position.
#[derive(Clone)]
struct RunNode {
    id: String,
    item: Option<usize>,
    port: Option<Json>,
    at: Option<Point>,
    /// True if the file refers to another run instead of the item, or if both runs refer to each other.
    refers_to_run: bool,
    /// True if the other run names this one at the same end, so that both flow towards or away from the joint.
    is_head_on: bool,
}

/// Declared ends of a run. Read once per run.
struct RunEnds {
    is_connected: bool,
    /// By side: the reference of its first connection; the inner option is `None` if no item has that id.
    references: [Option<Option<usize>>; 2],
    /// By side: the item reached first from that side. Flow out of a run leaves from its last item.
    end_items: [Option<usize>; 2],
}

impl RunEnds {
    fn new(plant: &PlantImport<'_>, run: usize) -> RunEnds {
        let element = plant.items[run].element;
        let first = connections(plant, element).first().copied();
        let items = inline_items(plant, element);
        RunEnds {
            is_connected: first.is_some(),
            references: [Side::From, Side::To].map(|side| Some(plant.lookup(referenced_id(plant, first?, side)?))),
            end_items: [items.last(), items.first()].map(Option::<&usize>::copied),
        }
    }
}

/// Connections between runs, and to whole systems of runs.
struct RunConnections {
    runs: HashMap<usize, RunEnds>,
    /// By run and side: the first run that declares to be connected there.
    referenced_by: HashMap<(usize, Side), usize>,
    /// Runs by system.
    systems: HashMap<usize, Vec<usize>>,
}

impl RunConnections {
    fn new(plant: &PlantImport<'_>, segments: &[usize]) -> RunConnections {
        let runs = segments.iter().map(|segment| (*segment, RunEnds::new(plant, *segment))).collect();
        let mut connections_by_run = RunConnections { runs, referenced_by: HashMap::new(), systems: HashMap::new() };
        for segment in segments {
            let system = plant.items[*segment].parent.filter(|owner| is_system(plant, *owner));
            if let Some(system) = system {
                connections_by_run.systems.entry(system).or_default().push(*segment);
            }
        }
        for (segment, side) in segments.iter().flat_map(|segment| [(*segment, Side::From), (*segment, Side::To)]) {
            let item = connections_by_run.reference(segment, side).flatten();
            let run = item.and_then(|item| connections_by_run.resolve_run(plant, segment, item, side));
            if let Some(run) = run.filter(|run| !connections_by_run.is_head_on(plant, *run, segment, side)) {
                connections_by_run.referenced_by.entry((run, side.other())).or_insert(segment);
            }
        }
        connections_by_run
    }

    /// Returns the reference of a run on a side.
    fn reference(&self, run: usize, side: Side) -> Option<Option<usize>> {
        self.runs.get(&run)?.references[side as usize]
    }

    /// Resolves a reference to a run: the run itself, or the run of a system that is open to the referring one.
    fn resolve_run(&self, plant: &PlantImport<'_>, segment: usize, item: usize, side: Side) -> Option<usize> {
        if !is_system(plant, item) {
            return Some(item).filter(|item| self.runs.contains_key(item) && *item != segment);
        }
        let owner = plant.items[segment].parent;
        let is_open = |run: &usize| match self.reference(*run, side.other()) {
            Some(reference) => reference.is_some_and(|item| item == segment || Some(item) == owner),
            None => true,
        };
        let runs = self.systems.get(&item).filter(|runs| runs.len() <= MAX_RUNS)?;
        let other_runs = || runs.iter().copied().filter(|run| *run != segment);
        single(other_runs()).or_else(|| single(other_runs().filter(is_open)))
    }

    /// Returns the connection of a run on a side: its reference, or the run that refers to it there.
    fn connection_of(&self, plant: &PlantImport<'_>, run: usize, side: Side) -> Option<usize> {
        match self.reference(run, side) {
            Some(reference) => reference.map(|item| self.resolve_run(plant, run, item, side).unwrap_or(item)),
            None => self.referenced_by.get(&(run, side)).copied(),
        }
    }

    /// Returns true if a run names another run, or the item at an end of it, on a side.
    fn refers_to(&self, plant: &PlantImport<'_>, run: usize, other: usize, side: Side) -> bool {
        let Some(item) = self.reference(run, side).flatten() else { return false };
        let item = self.resolve_run(plant, run, item, side).unwrap_or(item);
        item == other || self.runs.get(&other).is_some_and(|other| other.end_items.contains(&Some(item)))
    }

    /// Returns true if a run that another one names on a side names that one on the same side only: both end there, or
    /// both start there.
    fn is_head_on(&self, plant: &PlantImport<'_>, run: usize, other: usize, side: Side) -> bool {
        self.refers_to(plant, run, other, side) && !self.refers_to(plant, run, other, side.other())
    }

    /// Returns the side on which a run is entered from another one, which names it on a side.
    fn entered_side(&self, plant: &PlantImport<'_>, run: usize, from: usize, side: Side) -> Side {
        if self.is_head_on(plant, run, from, side) { side } else { side.other() }
    }

    /// Returns true if a pipe starts at the end of another run, so that there is no pipe end between them.
    fn continues(&self, plant: &PlantImport<'_>, run: usize, segment: usize, side: Side) -> bool {
        let entered = self.entered_side(plant, run, segment, side);
        self.runs.get(&run).is_some_and(|run| run.is_connected)
            && self.connection_of(plant, run, entered) == Some(segment)
            && self.item_at_run_end(plant, run, segment, entered).is_some()
    }

    /// Resolves a connection to a run to the item at the end of that run, or to the connection of that run. Returns
    /// `None` if it has an open end.
    fn item_at_run_end(&self, plant: &PlantImport<'_>, segment: usize, item: usize, side: Side) -> Option<usize> {
        let (mut previous, mut item, mut side) = (segment, item, side);
        for _ in 0..MAX_RUNS {
            let Some(run) = self.runs.get(&item) else { return Some(item) };
            if item == segment {
                return None;
            }
            // A run that is entered at its end is passed backwards.
            side = self.entered_side(plant, item, previous, side).other();
            let next = run.end_items[side as usize].or_else(|| self.connection_of(plant, item, side))?;
            (previous, item) = (item, next);
        }
        None
    }

    /// Returns the other run that an item is, or at an end of which it is.
    fn run_of(&self, plant: &PlantImport<'_>, segment: usize, item: usize) -> Option<usize> {
        let is_end_item = |run: &usize| self.runs.get(run).is_some_and(|run| run.end_items.contains(&Some(item)));
        let run = if self.runs.contains_key(&item) { Some(item) } else { plant.items[item].parent.filter(is_end_item) };
        run.filter(|run| *run != segment)
    }

    /// Returns true if a run names an item at the end of another run that names this one, too.
    fn is_mutual(&self, plant: &PlantImport<'_>, segment: usize, item: usize) -> bool {
        let refers_back =
            |run: usize| [Side::From, Side::To].iter().any(|side| self.refers_to(plant, run, segment, *side));
        self.run_of(plant, segment, item).is_some_and(refers_back)
    }

    /// Returns true if a run and the run of an item that it names meet at the same end of both.
    fn meets_head_on(&self, plant: &PlantImport<'_>, segment: usize, item: usize, side: Side) -> bool {
        self.run_of(plant, segment, item).is_some_and(|run| self.is_head_on(plant, run, segment, side))
    }
}

fn single(mut items: impl Iterator<Item = usize>) -> Option<usize> {
    items.next().filter(|_| items.next().is_none())
}

fn is_system(plant: &PlantImport<'_>, item: usize) -> bool {
    plant.items[item].node_type == "piping_network_system"
}

fn add_segment(plant: &mut PlantImport<'_>, segment: usize, connections_by_run: &RunConnections) {
    let element = plant.items[segment].element;
    let items = inline_items(plant, element);
    let connections = connections(plant, element);
    let Some((first, further)) = connections.split_first() else {
        return add_unconnected(plant, segment, &items);
    };
    if !further.is_empty() && reference_all_items(plant, &items, &connections) {
        return add_pairs(plant, segment, &connections, connections_by_run);
    }
    let lines = center_lines(plant, element);
    let known = known_positions(plant, &items, first);
    let from = end(plant, segment, first, Side::From, &open_end_points(&lines, &known), connections_by_run);
    let known: Vec<Point> = known.into_iter().chain(from.as_ref().and_then(|from| from.at.clone())).collect();
    let to = end(plant, segment, first, Side::To, &open_end_points(&lines, &known), connections_by_run);
    let nodes_on_run = match (from, to) {
        (Some(from), Some(to)) => ordered_nodes(plant, &items, from, to),
        (from, to) => from.into_iter().chain(items.iter().map(|item| run_node(plant, *item))).chain(to).collect(),
    };
    if let [first, .., last] = nodes_on_run.as_slice() {
        add_segment_ends(plant, segment, first, last);
    }
    add_edges(plant, segment, &chain(&nodes_on_run), lines, "");
    add_further_connections(plant, segment, further, connections_by_run);
}

/// Returns the nodes of a run: from one end to the other, with the items between them in the order of the file.
///
/// An end may be an item of the segment itself that is not at this end in file order: `From` a tee `To` the first of a
/// valve and a flange. It may still be the end; or the connection only declares where the run is attached, and the run
/// continues in file order. The latter holds if that path is shorter on the drawing, or if an item with a single port
/// would be between two others.
fn ordered_nodes(plant: &PlantImport<'_>, items: &[usize], from: RunNode, to: RunNode) -> Vec<RunNode> {
    let items_between = items.iter().filter(|item| ![from.item, to.item].contains(&Some(**item)));
    let file_position = |end: &RunNode| items.iter().position(|item| end.item == Some(*item));
    let has_inner_end = match (file_position(&from), file_position(&to)) {
        (None, Some(at)) => at + 1 < items.len(),
        (Some(at), None) => at > 0,
        _ => false,
    };
    let between: Vec<RunNode> = items_between.map(|item| run_node(plant, *item)).collect();
    let declared_order: Vec<RunNode> = std::iter::once(from.clone()).chain(between).chain([to.clone()]).collect();
    if !has_inner_end {
        return declared_order;
    }
    let end_node = |item: usize| [&from, &to].into_iter().find(|end| end.item == Some(item)).cloned();
    let mut file_order: Vec<RunNode> =
        items.iter().map(|item| end_node(*item).unwrap_or_else(|| run_node(plant, *item))).collect();
    match file_position(&from) {
        None => file_order.insert(0, from),
        Some(_) => file_order.push(to),
    }
    let use_file_order = match (length(&declared_order), length(&file_order)) {
        (Some(declared_order), Some(file_order)) => file_order < declared_order,
        _ => has_single_port_between(plant, &declared_order) && !has_single_port_between(plant, &file_order),
    };
    if use_file_order { file_order } else { declared_order }
}

/// Returns true if an item with a single port is between two others.
fn has_single_port_between(plant: &PlantImport<'_>, nodes_on_run: &[RunNode]) -> bool {
    let is_cap =
        |item: usize| matches!(plant.builder.nodes[item].get("ports"), Some(Json::Array(ports)) if ports.len() == 1);
    nodes_on_run.windows(3).any(|nodes_on_run| nodes_on_run[1].item.is_some_and(is_cap))
}

/// Returns the length of a path along nodes; `None` if one has no position.
fn length(nodes_on_run: &[RunNode]) -> Option<f64> {
    nodes_on_run.windows(2).map(|pair| Some(distance_between(pair[0].at.as_ref()?, pair[1].at.as_ref()?))).sum()
}

/// Returns true if the connections of a segment name each of its items, so that they declare all pairs.
fn reference_all_items(plant: &PlantImport<'_>, items: &[usize], connections: &[&Element]) -> bool {
    let ends = connections.iter().flat_map(|connection| [Side::From, Side::To].map(|side| (*connection, side)));
    let referenced: HashSet<usize> =
        ends.filter_map(|(connection, side)| plant.lookup(referenced_id(plant, connection, side)?)).collect();
    items.iter().all(|item| referenced.contains(item))
}

/// Adds the pipes of a segment with one connection per pipe.
fn add_pairs(
    plant: &mut PlantImport<'_>,
    segment: usize,
    connections: &[&Element],
    connections_by_run: &RunConnections,
) {
    let mut pairs: Vec<[RunNode; 2]> = Vec::with_capacity(connections.len());
    for connection in connections {
        pairs.extend(both_ends(plant, segment, connection, connections_by_run));
    }
    if let (Some([first, _]), Some([_, last])) = (pairs.first(), pairs.last()) {
        add_segment_ends(plant, segment, first, last);
    }
    let lines = center_lines(plant, plant.items[segment].element);
    add_edges(plant, segment, &pairs, lines, "");
}

/// Returns the pairs of adjacent nodes.
fn chain(nodes_on_run: &[RunNode]) -> Vec<[RunNode; 2]> {
    nodes_on_run.windows(2).map(|pair| [pair[0].clone(), pair[1].clone()]).collect()
}

/// Adds further connections of one segment, which connect their ends directly.
fn add_further_connections(
    plant: &mut PlantImport<'_>,
    segment: usize,
    connections: &[&Element],
    connections_by_run: &RunConnections,
) {
    for (index, connection) in connections.iter().enumerate() {
        let id = plant.items[segment].id.clone();
        plant.builder.report(Finding::ExtraConnection, format!("the segment `{id}` has several connections"), &[&id]);
        let nodes_on_run = both_ends(plant, segment, connection, connections_by_run);
        add_edges(plant, segment, nodes_on_run.as_slice(), Vec::new(), &format!("{}-", index + 2));
    }
}

/// Adds a segment without declared ends.
fn add_unconnected(plant: &mut PlantImport<'_>, segment: usize, items: &[usize]) {
    let id = plant.items[segment].id.clone();
    let finding = if items.is_empty() { Finding::EmptySegment } else { Finding::NoConnection };
    plant.builder.report(finding, format!("the segment `{id}` has no connection"), &[&id]);
    let nodes_on_run: Vec<RunNode> = items.iter().map(|item| run_node(plant, *item)).collect();
    let lines = center_lines(plant, plant.items[segment].element);
    add_edges(plant, segment, &chain(&nodes_on_run), lines, "");
}

/// Returns the items of a segment in the order of the file.
fn inline_items(plant: &PlantImport<'_>, element: usize) -> Vec<usize> {
    let children = plant.tree.children(element).map(|(child, _)| child);
    let nodes = children.filter_map(|child| plant.item_of(child));
    // A nested run is a run of its own.
    nodes.filter(|item| plant.items[*item].node_type == "pid_component").collect()
}

/// Center line of a segment: its element, and its points in flow direction.
struct CenterLine {
    element: usize,
    points: Vec<Point>,
}

fn center_lines(plant: &PlantImport<'_>, element: usize) -> Vec<CenterLine> {
    let lines = plant.tree.named(element, "CenterLine");
    let lines = lines.map(|(line, _)| CenterLine { element: line, points: attributes::polyline(plant.tree, line) });
    lines.filter(|line| !line.points.is_empty()).collect()
}

#[derive(Clone, Copy, Eq, Hash, PartialEq)]
enum Side {
    From,
    To,
}

impl Side {
    fn other(self) -> Side {
        if self == Side::From { Side::To } else { Side::From }
    }

    /// Returns the id of the item that a connection names on this side.
    fn item(self, connection: &Element) -> Option<&str> {
        connection.get(self.names()[0])
    }

    /// Returns the XML names of item and port, and the name of an open end on this side.
    fn names(self) -> [&'static str; 3] {
        match self {
            Side::From => ["FromID", "FromNode", "start"],
            Side::To => ["ToID", "ToNode", "end"],
        }
    }
}

/// Returns the positions of the items of a run and of its connected ends.
fn known_positions(plant: &PlantImport<'_>, items: &[usize], connection: &Element) -> Vec<Point> {
    let ends = [Side::From, Side::To]
        .into_iter()
        .filter_map(|side| referenced_id(plant, connection, side))
        .filter_map(|id| plant.lookup(id));
    items.iter().copied().chain(ends).filter_map(|item| position(plant, item)).collect()
}

/// Maximum number of pairs of center lines and pipes compared. A segment has a dozen of each.
const MAX_PAIRS: usize = 1_000_000;

/// Returns the ends of center lines, farthest from all known positions first: an open pipe ends there. The lines are
/// not always drawn in flow direction.
fn open_end_points(lines: &[CenterLine], known: &[Point]) -> Vec<Point> {
    let mut open_end_points: Vec<Point> =
        lines.iter().flat_map(|line| line.points.first().into_iter().chain(line.points.last()).cloned()).collect();
    let distance_between =
        |point: &Point| known.iter().map(|other| distance_between(point, other)).fold(f64::INFINITY, f64::min);
    if open_end_points.len().saturating_mul(known.len()) <= MAX_PAIRS {
        open_end_points.sort_by_cached_key(|point| Reverse(distance_between(point).to_bits()));
    }
    open_end_points
}

fn distance_between(a: &Point, b: &Point) -> f64 {
    let ((x, y), (to_x, to_y)) = (a.xy(), b.xy());
    (x - to_x).hypot(y - to_y)
}

/// Returns the node at a side of a run; `None` if the pipe continues in another run with an open end, which is the only
/// end.
fn end(
    plant: &mut PlantImport<'_>,
    segment: usize,
    connection: &Element,
    side: Side,
    open_end_points: &[Point],
    connections_by_run: &RunConnections,
) -> Option<RunNode> {
    let [_, port_name, end_name] = side.names();
    let port = connection.get(port_name).map(Json::number_or_text);
    let item = match referenced_id(plant, connection, side) {
        // Another run may declare the connection that this one omits.
        None => connections_by_run.referenced_by.get(&(segment, side)).copied(),
        Some(id) => match plant.id_target(id) {
            Some(IdTarget::Item(item)) => {
                Some(connections_by_run.resolve_run(plant, segment, item, side).unwrap_or(item))
            }
            // Dangling or a signal line: kept as in the file.
            _ => return Some(dangling_end(plant, segment, id, port)),
        },
    };
    let last = item.and_then(|item| connections_by_run.item_at_run_end(plant, segment, item, side));
    match (item, last) {
        (Some(item), Some(last)) => Some(RunNode {
            port,
            refers_to_run: last != item || connections_by_run.is_mutual(plant, segment, item),
            is_head_on: connections_by_run.meets_head_on(plant, segment, item, side),
            ..run_node(plant, last)
        }),
        (Some(run), None) if connections_by_run.continues(plant, run, segment, side) => None,
        _ => Some(open_end(plant, segment, end_name, open_end_points)),
    }
}

/// Returns both ends of a standalone connection.
fn both_ends(
    plant: &mut PlantImport<'_>,
    segment: usize,
    connection: &Element,
    connections_by_run: &RunConnections,
) -> Option<[RunNode; 2]> {
    let [from, to] = [Side::From, Side::To].map(|side| end(plant, segment, connection, side, &[], connections_by_run));
    from.zip(to).map(|(from, to)| [from, to])
}

/// Returns the id that a connection names on a side: of an item, or else of a port.
fn referenced_id<'e>(plant: &PlantImport<'_>, connection: &'e Element, side: Side) -> Option<&'e str> {
    let by_port = || connection.get(side.names()[1]).filter(|id| plant.lookup(id).is_some());
    side.item(connection).or_else(by_port)
}

/// Maximum length of a chain of connected runs, and of runs per system: longer chains, and cycles, are not valid
/// drawings.
const MAX_RUNS: usize = 64;

fn open_end(plant: &mut PlantImport<'_>, segment: usize, end_name: &str, open_end_points: &[Point]) -> RunNode {
    let at = open_end_points.first().cloned();
    let segment_id = plant.items[segment].id.clone();
    let id = plant.add_end(&format!("{segment_id}-{end_name}"), "open_end", at.clone());
    plant.builder.report(
        Finding::OpenEnd,
        format!("the {end_name} of the segment `{segment_id}` is not connected"),
        &[&segment_id, &id],
    );
    RunNode { id, item: None, port: None, at, refers_to_run: false, is_head_on: false }
}

fn dangling_end(plant: &mut PlantImport<'_>, segment: usize, id: &str, port: Option<Json>) -> RunNode {
    let segment_id = plant.items[segment].id.clone();
    plant.builder.report(
        Finding::DanglingReference,
        format!("the segment `{segment_id}` connects to `{id}`, which is not an item"),
        &[&segment_id, id],
    );
    RunNode { id: id.to_owned(), item: None, port, at: None, refers_to_run: false, is_head_on: false }
}

fn run_node(plant: &PlantImport<'_>, item: usize) -> RunNode {
    let item_data = &plant.items[item];
    RunNode {
        id: item_data.id.clone(),
        item: Some(item),
        port: None,
        at: position(plant, item),
        refers_to_run: false,
        is_head_on: false,
    }
}

fn position(plant: &PlantImport<'_>, item: usize) -> Option<Point> {
    let digits = |key| match plant.builder.nodes[item].get(key) {
        Some(Json::Number(digits)) => Some(digits.clone()),
        _ => None,
    };
    Some(Point { x: digits("orig_x")?, y: digits("orig_y")? })
}

/// Adds the start and the end of a segment.
fn add_segment_ends(plant: &mut PlantImport<'_>, segment: usize, from: &RunNode, to: &RunNode) {
    let id = plant.items[segment].id.clone();
    plant.relate("starts_at", None, &id, &from.id);
    plant.relate("ends_at", None, &id, &to.id);
}

/// Adds one edge per pair of nodes.
fn add_edges(
    plant: &mut PlantImport<'_>,
    segment: usize,
    pairs: &[[RunNode; 2]],
    lines: Vec<CenterLine>,
    prefix: &str,
) {
    let mut paths = assign_center_lines(lines, pairs);
    for (index, pair) in pairs.iter().enumerate() {
        // Two runs that refer to each other are connected once.
        let connects_runs = pair.iter().any(|run_node| run_node.refers_to_run);
        let is_head_on = pair.iter().any(|run_node| run_node.is_head_on);
        if connects_runs && !is_new_joint(plant, pair, is_head_on) {
            continue;
        }
        if is_head_on {
            report_head_on_joint(plant, pair);
        }
        let mut edge = Fields::default();
        edge.add("id", Json::String(format!("{}/{prefix}{}", plant.items[segment].id, index + 1)));
        edge.add("edge_type", Json::text("physically_connected_to"));
        edge.add("edge_classification", Json::String(class(plant, segment)));
        edge.add("from", Json::text(&pair[0].id));
        edge.add("to", Json::text(&pair[1].id));
        // The inlet of an item that is entered at the outlet of its run is not the port.
        let flow_port = |node: &RunNode, attribute| if is_head_on { None } else { port(plant, node, attribute) };
        edge.add_optional("from_port", pair[0].port.clone().or_else(|| flow_port(&pair[0], "FlowOut")));
        edge.add_optional("to_port", pair[1].port.clone().or_else(|| flow_port(&pair[1], "FlowIn")));
        edge.add("direction", Json::text(if is_head_on { "unknown" } else { direction(plant, segment) }));
        add_segment_fields(plant, segment, &mut edge);
        let Path { points, lines } = std::mem::take(&mut paths[index]);
        add_geometry(&mut edge, &pair[0], &pair[1], points);
        if !lines.is_empty() {
            plant.edge_lines.push((plant.builder.edges.len(), lines));
        }
        plant.builder.edges.push(edge);
    }
}

/// Returns true the first time two runs are connected. Runs that meet head-on name the joint in opposite directions.
fn is_new_joint(plant: &mut PlantImport<'_>, pair: &[RunNode; 2], is_head_on: bool) -> bool {
    let (from, to) = (&pair[0].id, &pair[1].id);
    match is_head_on && to < from {
        true => plant.is_new("joint of runs", to, from),
        false => plant.is_new("joint of runs", from, to),
    }
}

fn report_head_on_joint(plant: &mut PlantImport<'_>, pair: &[RunNode; 2]) {
    let (from, to) = (&pair[0].id, &pair[1].id);
    let message = format!("the runs of `{from}` and `{to}` name each other at the same end; the flow there is unknown");
    plant.builder.report(Finding::HeadOnRuns, message, &[from, to]);
}

fn class(plant: &PlantImport<'_>, segment: usize) -> String {
    let class = plant.element(segment).get("ComponentClass").unwrap_or("PipingNetworkSegment");
    format!("piping.{}", snake_case(class))
}

fn port(plant: &PlantImport<'_>, run_node: &RunNode, attribute: &str) -> Option<Json> {
    attributes::flow_port(plant.tree, plant.items[run_node.item?].element, attribute)
}

/// Returns the direction of a segment; dual flow is bidirectional.
fn direction(plant: &PlantImport<'_>, segment: usize) -> &'static str {
    let attributes = &plant.items[segment].attributes;
    let is_yes = |text: &str| ["true", "yes", "1"].contains(&text.trim().to_lowercase().as_str());
    let dual_flow = attributes.iter().filter(|attribute| ["DualFlow", "Dual_Flow"].contains(&attribute.name.as_str()));
    let is_dual = dual_flow.filter_map(|attribute| attribute.value.as_deref()).any(is_yes);
    let is_specialized = attributes
        .iter()
        .any(|attribute| attribute.value.as_deref().is_some_and(|value| value.starts_with("DualFlow")));
    let flow_direction =
        attributes::value(attributes, &["FlowDirection"]).unwrap_or_default().to_lowercase().replace('-', "");
    if is_dual || is_specialized || ["bidirectional", "both", "dual"].contains(&flow_direction.as_str()) {
        "both"
    } else {
        "forward"
    }
}

/// Adds the fields of the segment, or else of its line.
fn add_segment_fields(plant: &PlantImport<'_>, segment: usize, edge: &mut Fields) {
    let segment_item = &plant.items[segment];
    edge.add("segment", Json::text(&segment_item.id));
    let line = segment_item.parent.filter(|parent| plant.items[*parent].node_type == "piping_network_system");
    if let Some(line) = line.map(|line| &plant.items[line]).filter(|line| !line.tag.is_empty()) {
        edge.add("line", Json::text(&line.tag));
    }
    for owner in std::iter::once(segment).chain(line) {
        for key in ["nominal_diameter", "piping_class", "fluid_code"] {
            edge.add_optional(key, plant.builder.nodes[owner].get(key).cloned());
        }
    }
}

fn add_geometry(edge: &mut Fields, from: &RunNode, to: &RunNode, path: Vec<Point>) {
    let first = path.first().or(from.at.as_ref());
    let last = path.last().or(to.at.as_ref());
    for (point, [x_key, y_key]) in [(first, ["orig_from_x", "orig_from_y"]), (last, ["orig_to_x", "orig_to_y"])] {
        if let Some([x, y]) = point.map(Point::json) {
            edge.add(x_key, x);
            edge.add(y_key, y);
        }
    }
    if path.len() > 1 {
        edge.add("orig_path", Json::Array(path.iter().map(|point| Json::Array(point.json().into())).collect()));
    }
}

/// Path of an edge: its points, and the elements of its center lines.
#[derive(Default)]
struct Path {
    points: Vec<Point>,
    lines: Vec<usize>,
}

/// Assigns center lines to edges: in order if the counts are equal, otherwise to the nearest edge. Each line is
/// oriented along its edge.
fn assign_center_lines(lines: Vec<CenterLine>, pairs: &[[RunNode; 2]]) -> Vec<Path> {
    let edges = pairs.len();
    let is_one_per_edge = lines.len() == edges;
    let is_small = lines.len().saturating_mul(edges) <= MAX_PAIRS;
    let mut paths: Vec<Path> = pairs.iter().map(|_| Path::default()).collect();
    for (index, CenterLine { element, points: mut line }) in lines.into_iter().enumerate() {
        let cost = |line: &[Point], edge: usize| distance(line, &pairs[edge][0], &pairs[edge][1]);
        let reversed: Vec<Point> = line.iter().rev().cloned().collect();
        let candidates = if is_small { 0..edges } else { 0..0 };
        let nearest = candidates.min_by(|a, b| {
            let either = |edge: usize| cost(&line, edge).min(cost(&reversed, edge));
            either(*a).total_cmp(&either(*b))
        });
        let owner = if is_one_per_edge { Some(index) } else { nearest };
        let Some(edge) = owner else { continue };
        if cost(&reversed, edge) < cost(&line, edge) {
            line = reversed;
        }
        paths[edge].points.extend(line);
        paths[edge].lines.push(element);
    }
    paths
}

/// Returns the distance of the ends of a line from two nodes. A node without a position is far from everything.
fn distance(line: &[Point], from: &RunNode, to: &RunNode) -> f64 {
    let distance_between = |point: Option<&Point>, run_node: &RunNode| match (point, &run_node.at) {
        (Some(point), Some(at)) => distance_between(point, at),
        _ => 1e6,
    };
    distance_between(line.first(), from) + distance_between(line.last(), to)
}
