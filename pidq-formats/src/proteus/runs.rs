//! Segments → pipe edges. A segment's `Connection` names its two ends; its items lie between them in the order of the
//! flow; an end that is missing is an open end.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use crate::import::Finding;
use crate::json::{Fields, Json};
use crate::xml::Element;

use super::facts::{self, Point};
use super::kinds;
use super::plant::{Meaning, Plant};

/// Adds the pipe edges of every segment.
pub fn add(plant: &mut Plant<'_>) {
    let segments = (0..plant.items.len()).filter(|item| plant.element(*item).name == "PipingNetworkSegment");
    let segments: Vec<usize> = segments.collect();
    let joints = Joints::new(plant, &segments);
    for segment in segments {
        add_segment(plant, segment, &joints);
    }
}

/// What a segment says of its ends: its connections, or else the segment itself.
fn connections<'t>(plant: &Plant<'t>, element: usize) -> Vec<&'t Element> {
    let own: Vec<&Element> = plant.tree.named(element, "Connection").map(|(_, it)| it).collect();
    let segment = &plant.tree.elements[element];
    let says_itself = [Side::From, Side::To].iter().any(|side| side.item(segment).is_some());
    if own.is_empty() && says_itself { vec![segment] } else { own }
}

/// A stop of a run: what it is called, which port is meant, where it is.
#[derive(Clone)]
struct Stop {
    id: String,
    item: Option<usize>,
    port: Option<Json>,
    at: Option<Point>,
    /// The file names another run, and not the item.
    of_run: bool,
}

/// What a run says of itself. Read once, however many runs name it.
struct Run {
    is_connected: bool,
    /// By side: what its first connection names; nothing inside where no item has that id.
    named: [Option<Option<usize>>; 2],
    /// By side: the item in it that those who come from that side meet first. What flows from a run flows from its last item.
    tips: [Option<usize>; 2],
}

impl Run {
    fn of(plant: &Plant<'_>, run: usize) -> Run {
        let element = plant.items[run].element;
        let first = connections(plant, element).first().copied();
        let items = inline_items(plant, element);
        Run {
            is_connected: first.is_some(),
            named: [Side::From, Side::To].map(|side| Some(plant.lookup(named(plant, first?, side)?))),
            tips: [items.last(), items.first()].map(Option::<&usize>::copied),
        }
    }
}

/// Runs that name other runs, or a whole system of them.
struct Joints {
    runs: HashMap<usize, Run>,
    /// By run and side: the first run that says that it is joined there.
    named_by: HashMap<(usize, Side), usize>,
    /// By system: its runs.
    systems: HashMap<usize, Vec<usize>>,
}

impl Joints {
    fn new(plant: &Plant<'_>, segments: &[usize]) -> Joints {
        let runs = segments.iter().map(|segment| (*segment, Run::of(plant, *segment))).collect();
        let mut joints = Joints { runs, named_by: HashMap::new(), systems: HashMap::new() };
        for segment in segments {
            let system = plant.items[*segment].parent.filter(|owner| is_system(plant, *owner));
            if let Some(system) = system {
                joints.systems.entry(system).or_default().push(*segment);
            }
        }
        for (segment, side) in segments.iter().flat_map(|segment| [(*segment, Side::From), (*segment, Side::To)]) {
            let item = joints.named(segment, side).flatten();
            let run = item.and_then(|item| joints.run_meant(plant, segment, item, side));
            if let Some(run) = run {
                joints.named_by.entry((run, side.other())).or_insert(segment);
            }
        }
        joints
    }

    /// What a run names on a side.
    fn named(&self, run: usize, side: Side) -> Option<Option<usize>> {
        self.runs.get(&run)?.named[side as usize]
    }

    /// The run that is named: itself, or of a system the one that is open to who names it.
    fn run_meant(&self, plant: &Plant<'_>, segment: usize, item: usize, side: Side) -> Option<usize> {
        if !is_system(plant, item) {
            return Some(item).filter(|item| self.runs.contains_key(item) && *item != segment);
        }
        let owner = plant.items[segment].parent;
        let is_open = |run: &usize| match self.named(*run, side.other()) {
            Some(named) => named.is_some_and(|named| named == segment || Some(named) == owner),
            None => true,
        };
        let runs = self.systems.get(&item).filter(|runs| runs.len() <= MAX_RUNS)?;
        let others = || runs.iter().copied().filter(|run| *run != segment);
        only(others()).or_else(|| only(others().filter(is_open)))
    }

    /// What a run is joined to on a side: what it names, or the run that names it there.
    fn joined_to(&self, plant: &Plant<'_>, run: usize, side: Side) -> Option<usize> {
        match self.named(run, side) {
            Some(named) => named.map(|item| self.run_meant(plant, run, item, side).unwrap_or(item)),
            None => self.named_by.get(&(run, side)).copied(),
        }
    }

    /// Whether the pipe of a run begins at the end of another, so that there is no end of a pipe in between.
    fn continues(&self, plant: &Plant<'_>, run: usize, segment: usize, side: Side) -> bool {
        self.runs.get(&run).is_some_and(|run| run.is_connected)
            && self.joined_to(plant, run, side.other()) == Some(segment)
            && self.at_end_of_run(plant, run, segment, side.other()).is_some()
    }

    /// A run may be joined to another run instead of to an item: what is meant is the item at the end of that run, or what
    /// that run is joined to itself. Nothing where it ends open.
    fn at_end_of_run(&self, plant: &Plant<'_>, segment: usize, item: usize, side: Side) -> Option<usize> {
        let mut item = item;
        for _ in 0..MAX_RUNS {
            let Some(run) = self.runs.get(&item) else { return Some(item) };
            if item == segment {
                return None;
            }
            item = run.tips[side as usize].or_else(|| self.joined_to(plant, item, side))?;
        }
        None
    }
}

fn only(mut items: impl Iterator<Item = usize>) -> Option<usize> {
    items.next().filter(|_| items.next().is_none())
}

fn is_system(plant: &Plant<'_>, item: usize) -> bool {
    plant.items[item].node_type == "piping_network_system"
}

fn add_segment(plant: &mut Plant<'_>, segment: usize, joints: &Joints) {
    let element = plant.items[segment].element;
    let items = inline_items(plant, element);
    let connections = connections(plant, element);
    let Some((first, more)) = connections.split_first() else {
        return add_unconnected(plant, segment, &items);
    };
    if !more.is_empty() && names_all(plant, &items, &connections) {
        return add_pairs(plant, segment, &connections, joints);
    }
    let lines = centre_lines(plant, element);
    let known = known_places(plant, &items, first);
    let from = end(plant, segment, first, Side::From, &tips(&lines, &known), joints);
    let known: Vec<Point> = known.into_iter().chain(from.as_ref().and_then(|from| from.at.clone())).collect();
    let to = end(plant, segment, first, Side::To, &tips(&lines, &known), joints);
    let stops = match (from, to) {
        (Some(from), Some(to)) => in_order(plant, &items, from, to),
        (from, to) => from.into_iter().chain(items.iter().map(|item| stop(plant, *item))).chain(to).collect(),
    };
    if let [first, .., last] = stops.as_slice() {
        mark_ends(plant, segment, first, last);
    }
    add_edges(plant, segment, &chain(&stops), lines, "");
    add_more(plant, segment, more, joints);
}

/// The stops of a run: from one end to the other, with the items between them in the order of the file.
///
/// An end may be an item of the segment itself that is not at this end of the file's order: `From` a tee `To` the first
/// of a valve and a flange. It may be the end all the same; or the connection is only where the run is joined, and the
/// run goes on in the order of the file. That is so where the drawing shows that this way is shorter, or where something
/// with a single port would stand between two others.
fn in_order(plant: &Plant<'_>, items: &[usize], from: Stop, to: Stop) -> Vec<Stop> {
    let inner = items.iter().filter(|item| ![from.item, to.item].contains(&Some(**item)));
    let place = |end: &Stop| items.iter().position(|item| end.item == Some(*item));
    let is_joint = match (place(&from), place(&to)) {
        (None, Some(at)) => at + 1 < items.len(),
        (Some(at), None) => at > 0,
        _ => false,
    };
    let between: Vec<Stop> = inner.map(|item| stop(plant, *item)).collect();
    let usual: Vec<Stop> = std::iter::once(from.clone()).chain(between).chain([to.clone()]).collect();
    if !is_joint {
        return usual;
    }
    let named = |item: usize| [&from, &to].into_iter().find(|end| end.item == Some(item)).cloned();
    let mut listed: Vec<Stop> = items.iter().map(|item| named(*item).unwrap_or_else(|| stop(plant, *item))).collect();
    match place(&from) {
        None => listed.insert(0, from),
        Some(_) => listed.push(to),
    }
    let is_better = match (length(&usual), length(&listed)) {
        (Some(usual), Some(listed)) => listed < usual,
        _ => passes_a_cap(plant, &usual) && !passes_a_cap(plant, &listed),
    };
    if is_better { listed } else { usual }
}

/// Whether an item that has one port only is between two others.
fn passes_a_cap(plant: &Plant<'_>, stops: &[Stop]) -> bool {
    let is_cap =
        |item: usize| matches!(plant.draft.nodes[item].get("ports"), Some(Json::List(ports)) if ports.len() == 1);
    stops.windows(3).any(|stops| stops[1].item.is_some_and(is_cap))
}

/// How far it is along some stops; nothing where one has no place.
fn length(stops: &[Stop]) -> Option<f64> {
    stops.windows(2).map(|pair| Some(gap(pair[0].at.as_ref()?, pair[1].at.as_ref()?))).sum()
}

/// Whether the connections of a segment name each of its items: they say pair by pair who is joined.
fn names_all(plant: &Plant<'_>, items: &[usize], connections: &[&Element]) -> bool {
    let ends = connections.iter().flat_map(|connection| [Side::From, Side::To].map(|side| (*connection, side)));
    let all: HashSet<usize> =
        ends.filter_map(|(connection, side)| plant.lookup(named(plant, connection, side)?)).collect();
    items.iter().all(|item| all.contains(item))
}

/// The pipes of a segment that has a connection for each.
fn add_pairs(plant: &mut Plant<'_>, segment: usize, connections: &[&Element], joints: &Joints) {
    let mut pairs: Vec<[Stop; 2]> = Vec::with_capacity(connections.len());
    for connection in connections {
        pairs.extend(both_ends(plant, segment, connection, joints));
    }
    if let (Some([first, _]), Some([_, last])) = (pairs.first(), pairs.last()) {
        mark_ends(plant, segment, first, last);
    }
    let lines = centre_lines(plant, plant.items[segment].element);
    add_edges(plant, segment, &pairs, lines, "");
}

/// Each stop of a run with the next.
fn chain(stops: &[Stop]) -> Vec<[Stop; 2]> {
    stops.windows(2).map(|pair| [pair[0].clone(), pair[1].clone()]).collect()
}

/// Further connections of one segment join their ends directly.
fn add_more(plant: &mut Plant<'_>, segment: usize, connections: &[&Element], joints: &Joints) {
    for (index, connection) in connections.iter().enumerate() {
        let id = plant.items[segment].id.clone();
        plant.draft.find(Finding::ExtraConnection, format!("the segment `{id}` has several connections"), &[&id]);
        let stops = both_ends(plant, segment, connection, joints);
        add_edges(plant, segment, stops.as_slice(), Vec::new(), &format!("{}-", index + 2));
    }
}

/// A segment that does not say what it joins.
fn add_unconnected(plant: &mut Plant<'_>, segment: usize, items: &[usize]) {
    let id = plant.items[segment].id.clone();
    let finding = if items.is_empty() { Finding::EmptySegment } else { Finding::NoConnection };
    plant.draft.find(finding, format!("the segment `{id}` has no connection"), &[&id]);
    let stops: Vec<Stop> = items.iter().map(|item| stop(plant, *item)).collect();
    let lines = centre_lines(plant, plant.items[segment].element);
    add_edges(plant, segment, &chain(&stops), lines, "");
}

/// The items of a segment in the order of the file.
fn inline_items(plant: &Plant<'_>, element: usize) -> Vec<usize> {
    let children = plant.tree.children(element).map(|(child, _)| child);
    let nodes = children.filter_map(|child| plant.item_of(child));
    // A run in a run is one of its own.
    nodes.filter(|item| plant.items[*item].node_type == "pid_component").collect()
}

fn centre_lines(plant: &Plant<'_>, element: usize) -> Vec<Vec<Point>> {
    let lines = plant.tree.named(element, "CenterLine").map(|(line, _)| facts::polyline(plant.tree, line));
    lines.filter(|line| !line.is_empty()).collect()
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

    /// The id of the item that a connection names on this side.
    fn item(self, connection: &Element) -> Option<&str> {
        connection.get(self.names()[0])
    }

    /// Names in the file of the item and of its port, and what an open end on this side is called.
    fn names(self) -> [&'static str; 3] {
        match self {
            Side::From => ["FromID", "FromNode", "start"],
            Side::To => ["ToID", "ToNode", "end"],
        }
    }
}

/// Where the items of a run are, and the ends that join something.
fn known_places(plant: &Plant<'_>, items: &[usize], connection: &Element) -> Vec<Point> {
    let ends = [Side::From, Side::To]
        .into_iter()
        .filter_map(|side| named(plant, connection, side))
        .filter_map(|id| plant.lookup(id));
    items.iter().copied().chain(ends).filter_map(|item| place(plant, item)).collect()
}

/// Pairs of centre lines and pipes that are compared. A segment has a dozen of each.
const MAX_PAIRS: usize = 1_000_000;

/// Ends of centre lines, those first that are farthest from everything known: a pipe that is open ends there. The lines are
/// not always drawn in the direction of the flow.
fn tips(lines: &[Vec<Point>], known: &[Point]) -> Vec<Point> {
    let mut tips: Vec<Point> =
        lines.iter().flat_map(|line| line.first().into_iter().chain(line.last()).cloned()).collect();
    let gap = |point: &Point| known.iter().map(|other| gap(point, other)).fold(f64::INFINITY, f64::min);
    if tips.len().saturating_mul(known.len()) <= MAX_PAIRS {
        tips.sort_by_cached_key(|tip| Reverse(gap(tip).to_bits()));
    }
    tips
}

fn gap(a: &Point, b: &Point) -> f64 {
    let ((x, y), (to_x, to_y)) = (a.xy(), b.xy());
    (x - to_x).hypot(y - to_y)
}

/// What a run is joined to on a side. Nothing where the pipe goes on in another run, which ends open: its end is the only one.
fn end(
    plant: &mut Plant<'_>,
    segment: usize,
    connection: &Element,
    side: Side,
    tips: &[Point],
    joints: &Joints,
) -> Option<Stop> {
    let [_, port_name, word] = side.names();
    let port = connection.get(port_name).map(Json::guess);
    let item = match named(plant, connection, side) {
        // Another run may say what this one leaves open.
        None => joints.named_by.get(&(segment, side)).copied(),
        Some(id) => match plant.meaning(id) {
            Some(Meaning::Item(item)) => Some(joints.run_meant(plant, segment, item, side).unwrap_or(item)),
            // Dangling or a signal line: kept as the file has it.
            _ => return Some(dangling(plant, segment, id, port)),
        },
    };
    let last = item.and_then(|item| joints.at_end_of_run(plant, segment, item, side));
    match (item, last) {
        (Some(item), Some(last)) => Some(Stop { port, of_run: last != item, ..stop(plant, last) }),
        (Some(run), None) if joints.continues(plant, run, segment, side) => None,
        _ => Some(open_end(plant, segment, word, tips)),
    }
}

/// Both ends of a connection that stands for itself.
fn both_ends(plant: &mut Plant<'_>, segment: usize, connection: &Element, joints: &Joints) -> Option<[Stop; 2]> {
    let [from, to] = [Side::From, Side::To].map(|side| end(plant, segment, connection, side, &[], joints));
    from.zip(to).map(|(from, to)| [from, to])
}

/// The id that a connection names on a side: of an item, or where there is none of a port.
fn named<'e>(plant: &Plant<'_>, connection: &'e Element, side: Side) -> Option<&'e str> {
    let by_port = || connection.get(side.names()[1]).filter(|id| plant.lookup(id).is_some());
    side.item(connection).or_else(by_port)
}

/// Runs that join runs are followed so far, and so many of a system are looked at: longer chains, and circles, are no
/// drawing.
const MAX_RUNS: usize = 64;

fn open_end(plant: &mut Plant<'_>, segment: usize, word: &str, tips: &[Point]) -> Stop {
    let at = tips.first().cloned();
    let of = plant.items[segment].id.clone();
    let id = plant.add_end(&format!("{of}-{word}"), "open_end", at.clone());
    plant.draft.find(Finding::OpenEnd, format!("the {word} of the segment `{of}` joins nothing"), &[&of, &id]);
    Stop { id, item: None, port: None, at, of_run: false }
}

fn dangling(plant: &mut Plant<'_>, segment: usize, id: &str, port: Option<Json>) -> Stop {
    let of = plant.items[segment].id.clone();
    plant.draft.find(
        Finding::DanglingReference,
        format!("the segment `{of}` joins `{id}`, which is no item"),
        &[&of, id],
    );
    Stop { id: id.to_owned(), item: None, port, at: None, of_run: false }
}

fn stop(plant: &Plant<'_>, item: usize) -> Stop {
    let it = &plant.items[item];
    Stop { id: it.id.clone(), item: Some(item), port: None, at: place(plant, item), of_run: false }
}

fn place(plant: &Plant<'_>, item: usize) -> Option<Point> {
    let digits = |key| match plant.draft.nodes[item].get(key) {
        Some(Json::Number(digits)) => Some(digits.clone()),
        _ => None,
    };
    Some(Point { x: digits("orig_x")?, y: digits("orig_y")? })
}

/// The segment itself knows where it begins and ends.
fn mark_ends(plant: &mut Plant<'_>, segment: usize, from: &Stop, to: &Stop) {
    let id = plant.items[segment].id.clone();
    plant.relate("starts_at", None, &id, &from.id);
    plant.relate("ends_at", None, &id, &to.id);
}

/// One edge between the two stops of each pair.
fn add_edges(plant: &mut Plant<'_>, segment: usize, pairs: &[[Stop; 2]], lines: Vec<Vec<Point>>, prefix: &str) {
    let mut paths = share_out(lines, pairs);
    for (index, pair) in pairs.iter().enumerate() {
        // Two runs that name each other are joined once.
        let is_joint = pair.iter().any(|stop| stop.of_run);
        if is_joint && !plant.is_new("joint of runs", &pair[0].id, &pair[1].id) {
            continue;
        }
        let mut edge = Fields::default();
        edge.add("id", Json::Text(format!("{}/{prefix}{}", plant.items[segment].id, index + 1)));
        edge.add("edge_type", Json::text("physically_connected_to"));
        edge.add("edge_classification", Json::Text(class(plant, segment)));
        edge.add("from", Json::text(&pair[0].id));
        edge.add("to", Json::text(&pair[1].id));
        edge.maybe("from_port", pair[0].port.clone().or_else(|| port(plant, &pair[0], "FlowOut")));
        edge.maybe("to_port", pair[1].port.clone().or_else(|| port(plant, &pair[1], "FlowIn")));
        edge.add("direction", Json::text(direction(plant, segment)));
        add_segment_fields(plant, segment, &mut edge);
        add_geometry(&mut edge, &pair[0], &pair[1], std::mem::take(&mut paths[index]));
        plant.draft.edges.push(edge);
    }
}

fn class(plant: &Plant<'_>, segment: usize) -> String {
    let class = plant.element(segment).get("ComponentClass").unwrap_or("PipingNetworkSegment");
    format!("piping.{}", kinds::snake_case(class))
}

fn port(plant: &Plant<'_>, stop: &Stop, way: &str) -> Option<Json> {
    facts::flow_port(plant.tree, plant.items[stop.item?].element, way)
}

/// A segment with dual flow is passed both ways.
fn direction(plant: &Plant<'_>, segment: usize) -> &'static str {
    let attributes = &plant.items[segment].attributes;
    let is_yes = |text: &str| ["true", "yes", "1"].contains(&text.trim().to_lowercase().as_str());
    let named = attributes.iter().filter(|one| ["DualFlow", "Dual_Flow"].contains(&one.name.as_str()));
    let says_dual = named.filter_map(|one| one.value.as_deref()).any(is_yes);
    let specialised =
        attributes.iter().any(|one| one.value.as_deref().is_some_and(|value| value.starts_with("DualFlow")));
    let word = facts::value(attributes, &["FlowDirection"]).unwrap_or_default().to_lowercase().replace('-', "");
    if says_dual || specialised || ["bidirectional", "both", "dual"].contains(&word.as_str()) {
        "both"
    } else {
        "forward"
    }
}

/// What the segment says, and else its line.
fn add_segment_fields(plant: &Plant<'_>, segment: usize, edge: &mut Fields) {
    let it = &plant.items[segment];
    edge.add("segment", Json::text(&it.id));
    let line = it.parent.filter(|parent| plant.items[*parent].node_type == "piping_network_system");
    if let Some(line) = line.map(|line| &plant.items[line]).filter(|line| !line.tag.is_empty()) {
        edge.add("line", Json::text(&line.tag));
    }
    for owner in std::iter::once(segment).chain(line) {
        for key in ["nominal_diameter", "piping_class", "fluid_code"] {
            edge.maybe(key, plant.draft.nodes[owner].get(key).cloned());
        }
    }
}

fn add_geometry(edge: &mut Fields, from: &Stop, to: &Stop, path: Vec<Point>) {
    let first = path.first().or(from.at.as_ref());
    let last = path.last().or(to.at.as_ref());
    for (point, [x_key, y_key]) in [(first, ["orig_from_x", "orig_from_y"]), (last, ["orig_to_x", "orig_to_y"])] {
        if let Some([x, y]) = point.map(Point::json) {
            edge.add(x_key, x);
            edge.add(y_key, y);
        }
    }
    if path.len() > 1 {
        edge.add("orig_path", Json::List(path.iter().map(|point| Json::List(point.json().into())).collect()));
    }
}

/// Which centre line belongs to which edge: in order where there are as many, and else to the edge that it lies nearest.
/// Each line is turned to run with its edge.
fn share_out(lines: Vec<Vec<Point>>, pairs: &[[Stop; 2]]) -> Vec<Vec<Point>> {
    let edges = pairs.len();
    let in_order = lines.len() == edges;
    let is_small = lines.len().saturating_mul(edges) <= MAX_PAIRS;
    let mut paths = vec![Vec::new(); edges];
    for (index, mut line) in lines.into_iter().enumerate() {
        let cost = |line: &[Point], edge: usize| distance(line, &pairs[edge][0], &pairs[edge][1]);
        let reversed: Vec<Point> = line.iter().rev().cloned().collect();
        let near = if is_small { 0..edges } else { 0..0 };
        let nearest = near.min_by(|a, b| {
            let either = |edge: usize| cost(&line, edge).min(cost(&reversed, edge));
            either(*a).total_cmp(&either(*b))
        });
        let owner = if in_order { Some(index) } else { nearest };
        let Some(edge) = owner else { continue };
        if cost(&reversed, edge) < cost(&line, edge) {
            line = reversed;
        }
        paths[edge].extend(line);
    }
    paths
}

/// How far the ends of a line are from two stops. A stop without a place is far from everything.
fn distance(line: &[Point], from: &Stop, to: &Stop) -> f64 {
    let gap = |point: Option<&Point>, stop: &Stop| match (point, &stop.at) {
        (Some(point), Some(at)) => gap(point, at),
        _ => 1e6,
    };
    gap(line.first(), from) + gap(line.last(), to)
}
