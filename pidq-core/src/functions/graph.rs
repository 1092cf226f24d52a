//! Functions of the graph: nodes and edges, walks, routes, circuits and patterns.
//!
//! The graph is that of the document wherever a function stands. Walks go breadth first, edges in the order of the
//! document; nodes and edges in results are the objects of the document, unchanged.

use std::borrow::Cow;

use super::array::{filter, select};
use super::ask::{
    AVOID, Ask, DEPTH, DIR, DIRECTION, EDGES, Named, PASS, UNTIL, answer, check_rows, edge_list, node_list, node_of,
    too_many, values,
};
use super::string::expect_text;
use crate::error::{Code, Error, Result};
use crate::eval::Cx;
use crate::eval::function::{Body, Function, Param};
use crate::eval::plan::Plan;
use crate::eval::setting::Setting;
use crate::eval::view::View;
use crate::graph::adjacency::{EdgeId, NONE, NodeId};
use crate::graph::config::TopologyConfig;
use crate::graph::cycles;
use crate::graph::meet::{self, Way};
use crate::graph::parts::{Parts, Unions, strong_parts};
use crate::graph::pattern::{Match, Pattern, Search};
use crate::graph::plant::Plant;
use crate::graph::routes::{self, Route};
use crate::graph::topology::{Dir, Link, Over, Topology};
use crate::graph::walk::{self, Among, Pass, Plain, Queue, Reach, Rules, Step, Walked};
use crate::pid::{Datum, extract, flow};
use crate::value::{Items, Value};

const HOPS: Setting = Setting::number("hops");
const LIMIT: Setting = Setting::number("limit");
const NODES: Setting = Setting::query("nodes");
const ON_LIMIT: Setting = Setting::word("onLimit", &["error", "truncate"]);
const STEPS: Setting = Setting::number("steps");
const STRONG: Setting = Setting::flag("strong");
const WEIGHT: Setting = Setting::query("weight");
const ZONES: Setting = Setting::flag("zones");

const WALK: &[Setting] = &[DIR, EDGES, AVOID, UNTIL, PASS, DEPTH, LIMIT, WEIGHT];
const ROUTES: &[Setting] = &[DIR, EDGES, AVOID, UNTIL, PASS, DEPTH, LIMIT, WEIGHT, ON_LIMIT];

const CONDITION: &[Param] = &[Param::query("condition").optional()];
const SIDED: &[Param] = &[Param::setting(&DIRECTION).optional(), Param::query("condition").optional()];
const FROM: &[Param] = &[Param::query("from").optional(), Param::options(WALK)];
const FROM_TO: &[Param] = &[Param::query("from"), Param::query("to").optional(), Param::options(ROUTES)];

pub(crate) const FUNCTIONS: &[Function] = &[
    Function {
        name: "between",
        params: &[Param::query("from"), Param::query("to").optional(), Param::options(WALK)],
        summary: "The nodes on a way from some nodes to others that comes back to neither.",
        example: r#"between("P-101A", "HV-102") | map(.tag) => ["P-101A","CV-101","HV-102"]"#,
        body: Body::Piped(between),
    },
    Function {
        name: "components",
        params: &[Param::options(&[EDGES, NODES, STRONG, ZONES])],
        summary: "The connected parts of the graph, as lists of nodes; the sides of an exchanger are kept apart.",
        example: r#"components({nodes: .line == "P-1005"}) | map(map(.tag)) => [["PSV-201","FLARE"]]"#,
        body: Body::Piped(components),
    },
    Function {
        name: "connected",
        params: FROM,
        summary: "The nodes that can be reached along or against the flow, up to the next equipment.",
        example: r#"connected("HV-102") | map(.tag) => ["CV-101","FV-101","P-101A","HV-103","E-101","CV-102","P-101B"]"#,
        body: Body::Piped(|cx, input, args| reached(cx, input, args, Dir::Both)),
    },
    Function {
        name: "cycles",
        params: &[Param::options(&[EDGES, LIMIT, DEPTH, PASS, AVOID, ON_LIMIT])],
        summary: "The circuits that pass no node twice, each once, as `{nodes, edges, length}`.",
        example: "cycles() | map(.length) => [8,8]",
        body: Body::Piped(find_cycles),
    },
    Function {
        name: "degree",
        params: SIDED,
        summary: "How many edges a node has: \"in\", \"out\" or \"both\", of any kind or those for which a condition holds.",
        example: r#"node("E-101") | degree("out", .edge_type == "piping") => 2"#,
        body: Body::Piped(degree),
    },
    Function {
        name: "downstream",
        params: FROM,
        summary: "The nodes that can be reached along the flow, up to the next equipment.",
        example: r#"downstream("T-101") | map(.tag) => ["HV-101","P-101A","P-101B"]"#,
        body: Body::Piped(|cx, input, args| reached(cx, input, args, Dir::Down)),
    },
    Function {
        name: "edges",
        params: CONDITION,
        summary: "The edges of the graph, or those for which a condition holds.",
        example: r#"edges(.line == "P-1004") | map(.id) => ["e11"]"#,
        body: Body::Piped(|cx, _, args| {
            let edges = cx.plant()?.edges;
            filter(cx, Value::Array(edges), args)
        }),
    },
    Function {
        name: "endpoints",
        params: &[],
        summary: "The nodes that an edge joins, as `{source, target}`; null where an end names no node.",
        example: r#"edges() | first() | endpoints() | .target.tag => "HV-101""#,
        body: Body::Piped(endpoints),
    },
    Function {
        name: "expand",
        params: &[Param::setting(&STEPS), Param::options(WALK)],
        summary: "The nodes within so many steps of the piped ones, these first.",
        example: r#"node("P-101A") | expand(1) | map(.tag) => ["P-101A","HV-101","CV-101"]"#,
        body: Body::Counted(expand, count_around),
    },
    Function {
        name: "findPattern",
        params: &[
            Param::graph_pattern("pattern"),
            Param::query("where").optional(),
            Param::options(&[LIMIT, ON_LIMIT]),
        ],
        summary: "The places where a pattern such as `(a:pump)-[e:piping {1,3}]->(b)` fits, as records of its names.",
        example: r#"findPattern("(p:pump)-[:piping]->(v)") | map(.v.tag) => ["CV-101","CV-102"]"#,
        body: Body::Piped(find_pattern),
    },
    Function {
        name: "graph",
        params: &[],
        summary: "The object that holds nodes and edges.",
        example: r#"graph() | keys() => ["nodes","edges","metadata"]"#,
        body: Body::Piped(|cx, _, _| Ok(cx.plant()?.graph)),
    },
    Function {
        name: "incident",
        params: CONDITION,
        summary: "The edges at a node.",
        example: r#"node("PSV-201") | incident() | map(.id) => ["e12","e13"]"#,
        body: Body::Piped(|cx, input, args| edges_at(cx, input, args, Dir::Both)),
    },
    Function {
        name: "incoming",
        params: CONDITION,
        summary: "The edges that lead to a node.",
        example: r#"node("PSV-201") | incoming() | map(.id) => ["e12"]"#,
        body: Body::Piped(|cx, input, args| edges_at(cx, input, args, Dir::Up)),
    },
    Function {
        name: "neighbors",
        params: SIDED,
        summary: "The nodes next to a node over edges of any kind, or those for which a condition holds.",
        example: r#"node("P-101A") | neighbors("out", .edge_type == "piping") | map(.tag) => ["CV-101"]"#,
        body: Body::Piped(neighbors),
    },
    Function {
        name: "node",
        params: &[Param::query("reference").optional(), Param::query("default").optional()],
        summary: "The node with an id, or the only one with a tag; a default where there is none.",
        example: r#"node("P-101A").id => "n3""#,
        body: Body::Piped(node),
    },
    Function {
        name: "nodes",
        params: CONDITION,
        summary: "The nodes of the graph, or those for which a condition holds.",
        example: r#"nodes(.component_class == "pump") | map(.tag) => ["P-101A","P-101B"]"#,
        body: Body::Piped(|cx, _, args| {
            let nodes = cx.plant()?.nodes;
            filter(cx, Value::Array(nodes), args)
        }),
    },
    Function {
        name: "outgoing",
        params: CONDITION,
        summary: "The edges that leave a node.",
        example: r#"node("E-101") | outgoing(.edge_type == "piping") | map(.id) => ["e11","e16"]"#,
        body: Body::Piped(|cx, input, args| edges_at(cx, input, args, Dir::Down)),
    },
    Function {
        name: "paths",
        params: FROM_TO,
        summary: "The ways from some nodes to others that pass no node twice, the shortest first.",
        example: r#"paths("T-101", "FV-101") | map(.length) => [5,5]"#,
        body: Body::Piped(paths),
    },
    Function {
        name: "reachable",
        params: FROM_TO,
        summary: "Whether the flow can get from some nodes to others, through equipment.",
        example: r#"reachable("V-201", "FLARE") => true"#,
        body: Body::Piped(reachable),
    },
    Function {
        name: "run",
        params: &[Param::query("line").optional()],
        summary: "The nodes on a pipe line in the order of the flow.",
        example: r#"run("P-1003") | map(.tag) => ["HV-102","HV-103","FV-101","E-101"]"#,
        body: Body::Piped(run),
    },
    Function {
        name: "shortestPath",
        params: FROM_TO,
        summary: "The way with the fewest steps, or the lowest sum of a weight, as `{nodes, edges, length, cost}`.",
        example: r#"shortestPath("T-101", "PROD") | .length => 9"#,
        body: Body::Piped(shortest_path),
    },
    Function {
        name: "subgraph",
        params: &[Param::query("what").optional(), Param::options(&[HOPS, EDGES])],
        summary: "Some nodes with the edges between them, as a graph of its own.",
        example: r#"node("P-101A") | expand(1) | subgraph() | .edges | map(.id) => ["e2","e4"]"#,
        body: Body::Piped(subgraph),
    },
    Function {
        name: "trace",
        params: FROM,
        summary: "The nodes that a walk comes to, with the evidence: `{node, depth, via, from, stop, assumed}`.",
        example: r#"trace("P-101A", {depth: 1}) | map([.depth, .node.tag, .via]) => [[0,"P-101A",null],[1,"CV-101","e4"]]"#,
        body: Body::Piped(trace),
    },
    Function {
        name: "upstream",
        params: FROM,
        summary: "The nodes that feed a node, up to the next equipment.",
        example: r#"upstream("FV-101") | map(.tag) => ["HV-102","HV-103","CV-101","CV-102","P-101A","P-101B"]"#,
        body: Body::Piped(|cx, input, args| reached(cx, input, args, Dir::Up)),
    },
    Function {
        name: "withGraph",
        params: &[Param::query("graph"), Param::query("query")],
        summary: "A query about another graph: one of several in the document, or one that was built.",
        example: r#"withGraph(node("P-101A") | expand(1) | subgraph(), nodes() | size()) => 3"#,
        body: Body::Piped(with_graph),
    },
    Function {
        name: "withTopology",
        params: &[Param::query("topology"), Param::query("query")],
        summary: "A query about the graph, read with other field names and other words for classes.",
        example: r#"withTopology({flow_kinds: ["signal"]}, downstream("FT-101") | map(.tag)) => ["FIC-101","FV-101"]"#,
        body: Body::Piped(with_topology),
    },
];

fn node<'a>(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let plant = cx.plant()?;
    let reference = args.first().map_or(Ok(input), |arg| cx.eval(arg, input))?;
    match (node_of(cx, &plant, reference), args.get(1)) {
        (Ok(node), _) => Ok(plant.node(node)),
        (Err(error), Some(default)) if matches!(error.code(), Code::UnknownNode | Code::NoStart) => {
            cx.eval(default, input)
        }
        (Err(error), _) => Err(error),
    }
}

/// Which edges of a table a condition keeps.
fn keeps<'a>(cx: &mut Cx<'a>, plant: &Plant<'a>, condition: Option<&'a Plan>, edge: EdgeId) -> Result<bool> {
    cx.spend(1)?;
    condition.map_or(Ok(true), |condition| Ok(cx.eval(condition, plant.edge(edge))?.is_truthy()))
}

fn neighbors<'a>(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let plant = cx.plant()?;
    let ask = Ask::new(cx, input, args)?;
    let (dir, next) = ask.direction(cx)?;
    let mut found = Vec::new();
    let mut seen = hashbrown::HashSet::new();
    for node in ask.nodes(cx, None)?.iter().copied() {
        for (other, edge) in plant.topology.table(Over::All, dir).arcs(node) {
            if keeps(cx, &plant, ask.plan(next), edge)? && seen.insert(other) {
                found.push(other);
            }
        }
    }
    check_rows(cx, found.len(), None)?;
    node_list(cx, &plant, &found)
}

fn edges_at<'a>(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan], dir: Dir) -> Result<Value<'a>> {
    let ask = Ask::new(cx, input, args)?;
    let plant = &ask.plant;
    let mut found = Vec::new();
    let mut seen = hashbrown::HashSet::new();
    for node in ask.nodes(cx, None)?.iter().copied() {
        for edge in plant.topology.table(Over::All, dir).edges(node) {
            if keeps(cx, plant, ask.plan(0), *edge)? && seen.insert(*edge) {
                found.push(*edge);
            }
        }
    }
    edge_list(cx, plant, &found)
}

/// A loop from a node to itself counts at both of its ends.
fn degree<'a>(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let ask = Ask::new(cx, input, args)?;
    let (dir, next) = ask.direction(cx)?;
    let mut count = 0u32;
    for node in ask.nodes(cx, None)?.iter().copied() {
        for edge in ask.plant.topology.table(Over::All, dir).edges(node) {
            let [from, to] = ask.plant.topology.ends[*edge as usize];
            let ends = 1 + u32::from(from == to && dir == Dir::Both);
            count += ends * u32::from(keeps(cx, &ask.plant, ask.plan(next), *edge)?);
        }
    }
    Ok(Value::number(f64::from(count)))
}

const ENDS: &[&str] = &["source", "target"];

fn endpoints<'a>(cx: &mut Cx<'a>, input: Value<'a>, _: &'a [Plan]) -> Result<Value<'a>> {
    let plant = cx.plant()?;
    let Value::Array(edges) = input else {
        let ends = ends_of(&plant, input)?;
        return answer(cx, &plant, ends);
    };
    let mut rows = Vec::with_capacity(edges.len());
    for edge in edges.iter() {
        cx.spend(1)?;
        rows.push(ends_of(&plant, edge)?);
    }
    answer(cx, &plant, Datum::List(rows))
}

/// The ends of an edge of the graph, or of an object that names nodes as edges do.
fn ends_of<'a>(plant: &Plant<'a>, edge: Value<'a>) -> Result<Datum<'a>> {
    let ends = match plant.edge_of(edge) {
        Some(edge) => plant.topology.ends[edge as usize].map(Some),
        None => named_ends(plant, edge)?,
    };
    Ok(Datum::Record(ENDS, ends.map(|end| Datum::node(end.filter(|node| *node != NONE))).into()))
}

fn named_ends<'a>(plant: &Plant<'a>, edge: Value<'a>) -> Result<[Option<NodeId>; 2]> {
    let pairs = plant.topology.config.endpoints();
    let object = edge.as_object();
    let pair = pairs.iter().find_map(|[from, to]| Some([object?.get(from)?, object?.get(to)?]));
    let Some(pair) = pair else {
        let error = Error::new(Code::EdgeEndMissing, "not an edge of the graph: it has no ends");
        return Err(error.with_help("pipe an edge or a list of edges: `edges() | first() | endpoints()`"));
    };
    Ok(pair.map(|end| match end {
        Value::Object(_) => plant.field(end, crate::graph::config::Names::EndpointId).and_then(|id| plant.by_id(id)),
        id => plant.by_id(id),
    }))
}

/// A walk from the nodes of a call.
fn steps<'a>(cx: &mut Cx<'a>, ask: &Ask<'a>, from: &[NodeId], rules: &Rules) -> Result<Vec<Step>> {
    let starts = walk::starts(&ask.plant.topology, rules, from);
    let topology = &ask.plant.topology;
    let steps =
        cx.with_tools(|cx, tools| walk::walk(topology, &mut tools.space, &starts, rules, &mut ask.guide(cx)))?;
    check_depth(cx, rules, steps.last().map_or(0, |last| last.depth))?;
    Ok(steps)
}

/// A walk that was cut off by the limit of the run, and not by an option, is not complete.
fn check_depth(cx: &Cx<'_>, rules: &Rules, depth: u32) -> Result<()> {
    let deepest = u32::try_from(cx.limits().depth).unwrap_or(u32::MAX);
    if rules.depth < deepest || depth < deepest {
        return Ok(());
    }
    let error = Error::new(Code::TooDeep, format!("the walk is longer than {deepest} steps"));
    Err(error
        .with_limit("depth", deepest.into())
        .with_help("end it earlier with `depth` or `until`, or let the run have more `depth`"))
}

/// The nodes of a walk from the nodes of a call, these first, and the edges of unknown direction that led to them.
fn walked<'a>(cx: &mut Cx<'a>, ask: &Ask<'a>, from: &[NodeId], rules: &Rules) -> Result<Walked> {
    let topology = &ask.plant.topology;
    if ask.asks() || !walk::is_plain(topology, rules) {
        let steps = steps(cx, ask, from, rules)?;
        let nodes: Vec<NodeId> = steps.iter().filter(|step| step.is_shown()).map(|step| step.node).collect();
        let assumed = if rules.assumes(topology) { steps.iter().map(|step| step.via).collect() } else { Vec::new() };
        let starts = steps.iter().take_while(|step| step.from == NONE).count();
        return Ok(Walked { nodes: nodes.into(), starts, assumed, depth: 0 });
    }
    let starts = walk::starts(topology, rules, from);
    let walked = cx.with_tools(|cx, tools| {
        Plain::new(topology, *rules).walk(&mut tools.space, &starts, |units| cx.spend(units))
    })?;
    check_depth(cx, rules, walked.depth)?;
    Ok(walked)
}

fn reached<'a>(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan], dir: Dir) -> Result<Value<'a>> {
    let ask = Ask::new(cx, input, args)?;
    let rules = ask.rules(cx, dir, Pass::None)?;
    let from = ask.subject(cx)?;
    let limit = ask.number(cx, &LIMIT)?;
    let Walked { mut nodes, starts, assumed, .. } = walked(cx, &ask, &from, &rules)?;
    let mut first = starts;
    // Equipment that the walk began at may come again by its ports.
    if ask.plant.topology.ports.arc_count() > 0 {
        let given = Among::new(&from);
        nodes.keep(std::mem::take(&mut first), |node| !given.has(node));
    }
    check_rows(cx, nodes.len() - first, limit)?;
    ask.tell_assumed(cx, &rules, assumed)?;
    let list = node_list(cx, &ask.plant, &nodes[first..]);
    cx.keep_nodes(nodes);
    list
}

fn trace<'a>(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    const KEYS: &[&str] = &["node", "depth", "via", "from", "stop", "assumed"];
    let ask = Ask::new(cx, input, args)?;
    let rules = ask.rules(cx, Dir::Down, Pass::None)?;
    let from = ask.subject(cx)?;
    let steps = steps(cx, &ask, &from, &rules)?;
    let limit = ask.number(cx, &LIMIT)?;
    check_rows(cx, steps.len(), limit)?;
    let row = |step: &Step| {
        let before = steps.get(step.from as usize).map_or(Value::Null, |before| ask.plant.id(before.node));
        vec![
            Datum::Node(step.node),
            Datum::Number(f64::from(step.depth)),
            Datum::Value(ask.plant.edge_id(step.via)),
            Datum::Value(before),
            Datum::Bool(step.stops),
            Datum::Bool(step.assumed),
        ]
    };
    let rows = steps.iter().filter(|step| step.is_shown()).map(row).collect();
    ask.tell_assumed(cx, &rules, steps.iter().map(|step| step.via))?;
    answer(cx, &ask.plant, Datum::Table(KEYS, rows))
}

fn expand<'a>(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let ask = Ask::new(cx, input, args)?;
    let rules = within(cx, &ask)?;
    let from = ask.nodes(cx, None)?;
    let limit = ask.number(cx, &LIMIT)?;
    let (found, assumed) = around(cx, &ask, &from, &rules)?;
    check_rows(cx, found.len(), limit)?;
    ask.tell_assumed(cx, &rules, assumed)?;
    let list = node_list(cx, &ask.plant, &found);
    cx.keep_nodes(found);
    list
}

/// How a walk of so many steps goes as the first argument says.
fn within<'a>(cx: &mut Cx<'a>, ask: &Ask<'a>) -> Result<Rules> {
    let steps = ask.value(cx, 0)?;
    let hops = STEPS.as_number(steps)?.ok_or_else(|| STEPS.refuse(steps))? as u32;
    let rules = ask.rules(cx, Dir::Both, Pass::Any)?;
    Ok(Rules { depth: rules.depth.min(hops), ..rules })
}

/// How many nodes `expand` gives for each of some nodes. Nothing where the walks have something to ask or to tell, or are
/// not alike.
fn count_around<'a>(cx: &mut Cx<'a>, view: View<'a>, args: &'a [Plan]) -> Result<Option<(Value<'a>, u64)>> {
    let ask = Ask::new(cx, Value::Undefined, args)?;
    if !ask.is_fixed() || ask.asks() || !is_about(&ask.plant, view) {
        return Ok(None);
    }
    let before = cx.fuel_used();
    let rules = within(cx, &ask)?;
    let limit = ask.number(cx, &LIMIT)?;
    if rules.assumes(&ask.plant.topology) || ask.plant.topology.ports.arc_count() > 0 {
        return Ok(None);
    }
    let steps = cx.fuel_used() - before;
    cx.spend((view.len() as u64 - 1) * steps)?;
    let (plain, mut total) = (Plain::new(&ask.plant.topology, rules), 0);
    let counts = cx.with_tools(|cx, tools| {
        cx.list_of(view.len(), |cx, at| {
            let (count, depth) = plain.count(&mut tools.space, view.row(at), |units| cx.spend(units))?;
            check_depth(cx, &rules, depth)?;
            check_rows(cx, count, limit)?;
            cx.spend(1 + count as u64)?;
            total += count as u64;
            Ok(Value::number(count as f64))
        })
    })?;
    Ok(Some((counts, total)))
}

/// Whether the rows of a list are nodes of a drawing, by the same numbers.
fn is_about<'a>(plant: &Plant<'a>, view: View<'a>) -> bool {
    let is_node = |at: usize| view.cells[view.row(at) as usize].object_id().is_some();
    matches!(plant.nodes.0, Items::Stored(_, list) if list == view.list) && (0..view.len()).all(is_node)
}

/// Some nodes and what a walk finds around them, and the edges of unknown direction that led to it.
fn around<'a>(cx: &mut Cx<'a>, ask: &Ask<'a>, from: &[NodeId], rules: &Rules) -> Result<(Queue, Vec<EdgeId>)> {
    let Walked { nodes: found, assumed, .. } = walked(cx, ask, from, rules)?;
    if found.starts_with(from) {
        return Ok((found, assumed));
    }
    let given: hashbrown::HashSet<NodeId> = from.iter().copied().collect();
    let others = found.iter().filter(|node| !given.contains(*node));
    let nodes: Vec<NodeId> = from.iter().chain(others).copied().collect();
    cx.keep_nodes(found);
    Ok((nodes.into(), assumed))
}

/// From where to where: two arguments, or one and the piped value.
fn from_to<'a>(cx: &mut Cx<'a>, ask: &Ask<'a>) -> Result<(Named, Named)> {
    let (from, to) = if ask.count() > 1 { (Some(0), 1) } else { (None, 0) };
    Ok((ask.nodes(cx, from)?, ask.nodes(cx, Some(to))?))
}

/// The network between the nodes of a call, and which of its numbers are targets.
fn network<'a>(cx: &mut Cx<'a>, ask: &Ask<'a>) -> Result<(Reach, Vec<bool>)> {
    let (from, to) = from_to(cx, ask)?;
    let rules = ask.rules(cx, Dir::Down, Pass::Any)?;
    let topology = &ask.plant.topology;
    let targets = walk::targets(topology, &to);
    let starts = starts_to(topology, &from, &Among::new(&targets), &rules);
    let reach = walk::reach(topology, &starts, &targets, &rules, &mut ask.guide(cx))?;
    let is_target = reach.mark(&targets);
    Ok((reach, is_target))
}

fn reachable<'a>(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let ask = Ask::new(cx, input, args)?;
    let (from, to) = from_to(cx, &ask)?;
    let rules = ask.rules(cx, Dir::Down, Pass::Any)?;
    let way = way_between(cx, &ask, &from, &to, &rules)?;
    ask.tell_assumed(cx, &rules, way.iter().flat_map(|way| way.edges.iter().copied()))?;
    Ok(Value::Bool(way.is_some()))
}

fn between<'a>(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let ask = Ask::new(cx, input, args)?;
    let found = between_nodes(cx, &ask)?;
    check_rows(cx, found.len(), None)?;
    node_list(cx, &ask.plant, &found)
}

/// The nodes between those of a call, in the order of the walk. Tells what was assumed.
pub(super) fn between_nodes<'a>(cx: &mut Cx<'a>, ask: &Ask<'a>) -> Result<Vec<NodeId>> {
    let (reach, targets) = network(cx, ask)?;
    let rules = ask.rules(cx, Dir::Down, Pass::Any)?;
    check_depth(cx, &rules, reach.depth)?;
    cx.spend(reach.arc_count() as u64)?;
    let kept = routes::between(&reach, &targets);
    ask.tell_assumed(cx, &rules, reach.inner_edges(|from, to| kept[from] && kept[to]))?;
    let mut seen = hashbrown::HashSet::new();
    let numbers = (0..reach.len()).filter(|number| kept[*number]);
    Ok(numbers.map(|number| reach.nodes[number]).filter(|node| seen.insert(*node)).collect())
}

const ROUTE: &[&str] = &["nodes", "edges", "length", "cost"];

fn shortest_path<'a>(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let ask = Ask::new(cx, input, args)?;
    let Some(weight) = ask.option("weight") else { return fewest_steps(cx, &ask) };
    let (reach, targets) = network(cx, &ask)?;
    let weights = weights(cx, &ask, &reach, weight)?;
    let found = routes::cheapest(&reach, &weights, &targets, &mut |units| cx.spend(units))?;
    let rules = ask.rules(cx, Dir::Down, Pass::Any)?;
    let Some((route, cost)) = found else {
        // A network that was cut off by the limit of the run does not say what is not there.
        check_depth(cx, &rules, reach.depth)?;
        return Ok(Value::Null);
    };
    ask.tell_assumed(cx, &rules, edges_of(&reach, &route))?;
    let [nodes, edges, length] = parts_of(&reach, &route);
    answer(cx, &ask.plant, Datum::Record(ROUTE, vec![nodes, edges, length, Datum::Number(cost)]))
}

/// The route with the fewest steps: it needs no network.
fn fewest_steps<'a>(cx: &mut Cx<'a>, ask: &Ask<'a>) -> Result<Value<'a>> {
    let (from, to) = from_to(cx, ask)?;
    let rules = ask.rules(cx, Dir::Down, Pass::Any)?;
    let Some(Way { nodes, mut edges }) = way_between(cx, ask, &from, &to, &rules)? else { return Ok(Value::Null) };
    edges.retain(|edge| *edge != NONE);
    ask.tell_assumed(cx, &rules, edges.iter().copied())?;
    let length = (nodes.len() - 1) as f64;
    let route = [Datum::Nodes(nodes), Datum::Edges(edges), Datum::Number(length), Datum::Number(length)];
    answer(cx, &ask.plant, Datum::Record(ROUTE, route.into()))
}

/// The shortest way from some nodes to others.
fn way_between<'a>(
    cx: &mut Cx<'a>,
    ask: &Ask<'a>,
    from: &[NodeId],
    to: &[NodeId],
    rules: &Rules,
) -> Result<Option<Way>> {
    let topology = &ask.plant.topology;
    let targets = walk::targets(topology, to);
    let wanted = Among::new(&targets);
    let starts = starts_to(topology, from, &wanted, rules);
    let (way, depth) = match ask.asks() || !walk::is_plain(topology, rules) {
        true => walk_to(cx, ask, &starts, |node| wanted.has(node), rules)?,
        false => {
            let search = cx.with_tools(|cx, tools| {
                meet::meet(topology, &mut tools.room, &starts, &targets, rules, |units| cx.spend(units))
            })?;
            (search.way, search.depth)
        }
    };
    if way.is_none() {
        check_depth(cx, rules, depth)?;
    }
    Ok(way)
}

/// The way of a walk that ends where it first comes to a node that is wanted, and how deep it went.
fn walk_to<'a>(
    cx: &mut Cx<'a>,
    ask: &Ask<'a>,
    starts: &[NodeId],
    is_wanted: impl Fn(NodeId) -> bool,
    rules: &Rules,
) -> Result<(Option<Way>, u32)> {
    let topology = &ask.plant.topology;
    let (steps, end) = cx.with_tools(|cx, tools| {
        walk::walk_until(topology, &mut tools.space, starts, rules, &mut ask.guide(cx), is_wanted)
    })?;
    let way = end.map(|end| walk::way_to(&steps, end)).map(|way| Way {
        nodes: way.iter().map(|step| step.node).collect(),
        edges: way.iter().skip(1).map(|step| step.via).collect(),
    });
    Ok((way, steps.last().map_or(0, |last| last.depth)))
}

/// Where a walk to some nodes begins. Where both are the same there is nothing to walk, also for a node that nothing
/// leaves.
fn starts_to<'n>(topology: &Topology, from: &'n [NodeId], wanted: &Among<'_>, rules: &Rules) -> Cow<'n, [NodeId]> {
    let mut starts = walk::starts(topology, rules, from);
    let mut there: Vec<NodeId> = from.iter().copied().filter(|node| wanted.has(*node)).collect();
    let known = Among::new(&starts);
    there.retain(|node| !known.has(*node));
    if !there.is_empty() {
        starts.to_mut().append(&mut there);
    }
    starts
}

/// What each arc costs. The way through equipment is free.
fn weights<'a>(cx: &mut Cx<'a>, ask: &Ask<'a>, reach: &Reach, weight: &'a Plan) -> Result<Vec<f64>> {
    let mut weights = Vec::with_capacity(reach.arc_count());
    for arc in 0..reach.arc_count() {
        let (_, edge) = reach.arc(arc);
        cx.spend(1)?;
        let is_inside = edge == NONE || ask.plant.topology.links[edge as usize].has(Link::PART);
        weights.push(if is_inside { 0.0 } else { weight_of(cx, ask, edge, weight)? });
    }
    Ok(weights)
}

fn weight_of<'a>(cx: &mut Cx<'a>, ask: &Ask<'a>, edge: EdgeId, weight: &'a Plan) -> Result<f64> {
    let value = cx.eval(weight, ask.plant.edge(edge))?;
    match value.as_f64() {
        Some(weight) if weight >= 0.0 && weight.is_finite() => Ok(weight),
        _ => {
            let id = crate::value::write::to_string(ask.plant.edge_id(edge));
            let message = format!("the weight of edge {id} is not a number of at least zero");
            Err(Error::new(Code::BadWeight, message).with_help("give a default: `coalesce(.length, 1)`"))
        }
    }
}

/// Nodes, edges and length of a route.
fn parts_of<'a>(reach: &Reach, route: &Route) -> [Datum<'a>; 3] {
    let nodes = route.numbers(reach).iter().map(|number| reach.nodes[*number as usize]).collect();
    [Datum::Nodes(nodes), Datum::Edges(edges_of(reach, route).collect()), Datum::count(route.arcs.len())]
}

fn edges_of(reach: &Reach, route: &Route) -> impl Iterator<Item = EdgeId> {
    route.arcs.iter().map(|arc| reach.arc(*arc as usize).1).filter(|edge| *edge != NONE)
}

/// How many rows a function may list, and whether it stops there instead of failing.
fn most<'a>(cx: &mut Cx<'a>, ask: &Ask<'a>, default: usize) -> Result<(usize, bool)> {
    let limit = ask.number(cx, &LIMIT)?.unwrap_or(default).min(cx.limits().rows);
    let truncates = ask.word(cx, &ON_LIMIT)? == Some(1);
    Ok((limit, truncates))
}

/// Cuts a list that is one longer than allowed and tells so, or fails.
fn cut<T>(cx: &mut Cx<'_>, mut found: Vec<T>, what: &'static str, (limit, truncates): (usize, bool)) -> Result<Vec<T>> {
    if found.len() <= limit {
        return Ok(found);
    }
    if !truncates {
        let error = too_many(cx, what, limit);
        let help = error.help().map(|help| format!("{help}, or take the first ones: `{{onLimit: \"truncate\"}}`"));
        return Err(error.with_help(help.unwrap_or_default()));
    }
    cx.cut(limit, what)?;
    found.truncate(limit);
    Ok(found)
}

fn paths<'a>(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let ask = Ask::new(cx, input, args)?;
    let (reach, targets) = network(cx, &ask)?;
    let limit = most(cx, &ask, cx.limits().paths.min(100))?;
    let depth = ask.number(cx, &DEPTH)?;
    cx.spend(reach.arc_count() as u64)?;
    let kept = reach.can_reach(&targets);
    let reach = reach.keep(&kept);
    let targets: Vec<bool> = targets.iter().zip(&kept).filter(|(_, kept)| **kept).map(|(target, _)| *target).collect();
    let rules = ask.rules(cx, Dir::Down, Pass::Any)?;
    let longest = depth.unwrap_or(LONGEST);
    let mut held = 0;
    let mut pay = |units, bytes| pay_and_hold(cx, &mut held, units, bytes);
    let routes::Found { routes: found, left_longer } =
        routes::routes(&reach, &targets, limit.0.saturating_add(1), longest, &mut pay)?;
    if found.is_empty() {
        check_depth(cx, &rules, reach.depth)?;
    }
    let found = cut(cx, found, "paths", limit)?;
    if left_longer && depth.is_none() {
        no_longer(cx, limit.1)?;
    }
    ask.tell_assumed(cx, &rules, found.iter().flat_map(|route| edges_of(&reach, route)))?;
    let rows = found.into_iter().map(|route| parts_of(&reach, &route).into()).collect();
    let list = answer(cx, &ask.plant, Datum::Table(&ROUTE[..3], rows))?;
    cx.release(held);
    Ok(list)
}

/// Pays for edges followed, and holds what is kept of them until the answer stands as a value.
fn pay_and_hold(cx: &mut Cx<'_>, held: &mut usize, units: u64, bytes: usize) -> Result<()> {
    if bytes > 0 {
        *held += bytes;
        cx.hold(bytes)?;
    }
    cx.spend(units)
}

/// Routes with more edges than this are not looked for unless `depth` says so.
const LONGEST: usize = 200;

/// There are longer routes, and nobody asked to leave them out.
fn no_longer(cx: &mut Cx<'_>, truncates: bool) -> Result<()> {
    if truncates {
        return cx.cut(LONGEST, "edges on a path");
    }
    let error = Error::new(Code::TooManyRows, format!("there are paths with more than {LONGEST} edges"));
    Err(error.with_limit("depth", LONGEST as u64).with_help("say how long they may be: `{depth: 500}`"))
}

fn find_cycles<'a>(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let ask = Ask::new(cx, input, args)?;
    let rules = ask.rules(cx, Dir::Down, Pass::Any)?;
    let limit = most(cx, &ask, cx.limits().paths)?;
    let depth = ask.number(cx, &DEPTH)?.unwrap_or(usize::MAX);
    let topology = &ask.plant.topology;
    let table = topology.table(rules.over, Dir::Down);
    let starts: Vec<NodeId> = (0..topology.node_count() as u32).filter(|node| table.degree(*node) > 0).collect();
    let rules = Rules { depth: u32::MAX, ..rules };
    let reach = walk::reach(topology, &starts, &[], &rules, &mut ask.guide(cx))?;
    let mut held = 0;
    let mut pay = |units, bytes| pay_and_hold(cx, &mut held, units, bytes);
    let found = cycles::cycles(&reach, limit.0.saturating_add(1), depth, &mut pay)?;
    let found = cut(cx, found, "cycles", limit)?;
    ask.tell_assumed(cx, &rules, found.iter().flat_map(|cycle| cycle.edges.iter().copied()))?;
    let rows = found.into_iter().map(|cycle| from_first(&reach, cycle)).collect();
    let list = answer(cx, &ask.plant, Datum::Table(&ROUTE[..3], rows))?;
    cx.release(held);
    Ok(list)
}

/// A circuit, beginning at the node that stands first in the document.
fn from_first<'a>(reach: &Reach, cycle: cycles::Cycle) -> Vec<Datum<'a>> {
    let mut nodes: Vec<NodeId> = cycle.numbers.iter().map(|number| reach.nodes[*number as usize]).collect();
    let mut edges = cycle.edges;
    let first = (0..nodes.len()).min_by_key(|at| nodes[*at]).unwrap_or(0);
    nodes.rotate_left(first);
    edges.rotate_left(first);
    edges.retain(|edge| *edge != NONE);
    let length = Datum::count(nodes.len());
    vec![Datum::Nodes(nodes), Datum::Edges(edges), length]
}

fn components<'a>(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let ask = Ask::new(cx, input, args)?;
    let strong = ask.flag(cx, &STRONG)? == Some(true);
    let zones = ask.flag(cx, &ZONES)? != Some(false);
    let kept = Kept::new(cx, &ask)?;
    let (parts, circular) =
        if strong { strong_components(cx, &ask, &kept)? } else { (joined(cx, &ask, &kept, zones)?, Vec::new()) };
    let list = part_list(cx, &ask.plant, &parts)?;
    let along = Rules { over: Over::Flow, dir: Dir::Down, pass: Pass::Zone, depth: 0 };
    ask.tell_assumed(cx, &along, circular)?;
    Ok(list)
}

/// The nodes of each part as a list of lists.
fn part_list<'a>(cx: &mut Cx<'a>, plant: &Plant<'a>, parts: &Parts) -> Result<Value<'a>> {
    let members = cx.places(parts.of().len())?;
    let ends = parts.list(members);
    let members: &'a [NodeId] = members;
    cx.spend(ends.last().map_or(0, |end| u64::from(*end)))?;
    let mut start = 0;
    let parts = ends.iter().map(|end| &members[std::mem::replace(&mut start, *end as usize)..*end as usize]);
    match plant.nodes.0 {
        Items::Stored(arena, base) => cx.lists_of_rows(arena, base, parts),
        _ => {
            let base = cx.mark();
            for part in parts {
                let part = select(cx, plant.nodes, part)?;
                cx.push(part)?;
            }
            cx.list(base)
        }
    }
}

/// The nodes that the option `nodes` keeps: all where it is not given.
struct Kept(Option<Vec<bool>>);

impl Kept {
    fn new<'a>(cx: &mut Cx<'a>, ask: &Ask<'a>) -> Result<Kept> {
        let Some(condition) = ask.option("nodes") else { return Ok(Kept(None)) };
        let count = ask.plant.topology.node_count();
        let mut kept = Vec::with_capacity(count);
        for node in 0..count as u32 {
            cx.spend(1)?;
            kept.push(cx.eval(condition, ask.plant.node(node))?.is_truthy());
        }
        Ok(Kept(Some(kept)))
    }

    fn has(&self, node: NodeId) -> bool {
        self.0.as_ref().is_none_or(|kept| kept[node as usize])
    }

    /// The parts of the nodes that are kept, by the names of the parts of all.
    fn parts(&self, names: impl Iterator<Item = u32>) -> Parts {
        let of_kept = names.zip(0..).map(|(name, node)| if self.has(node) { name } else { NONE });
        let of_kept: Vec<u32> = of_kept.collect();
        let count = of_kept.len();
        Parts::named(of_kept, count, |name| name)
    }
}

/// Nodes that are joined by the option `edges`, or by what flows and by ports.
fn joined<'a>(cx: &mut Cx<'a>, ask: &Ask<'a>, kept: &Kept, zones: bool) -> Result<Parts> {
    let topology = &ask.plant.topology;
    let mut unions = Unions::new(topology.node_count());
    cx.spend((topology.edge_count() + topology.node_count()) as u64)?;
    match ask.option("edges") {
        Some(condition) => join_edges(cx, ask, kept, condition, &mut unions)?,
        None => {
            join_flow(topology, kept, &mut unions);
            join_ports(cx, topology, kept, zones, &mut unions)?;
        }
    }
    let parts = unions.into_parts();
    Ok(if kept.0.is_none() { parts } else { kept.parts(parts.of().iter().copied()) })
}

fn join_edges<'a>(cx: &mut Cx<'a>, ask: &Ask<'a>, kept: &Kept, condition: &'a Plan, unions: &mut Unions) -> Result<()> {
    let topology = &ask.plant.topology;
    for edge in (0..topology.edge_count() as u32).filter(|edge| topology.is_whole(*edge)) {
        let [from, to] = topology.ends[edge as usize];
        if kept.has(from) && kept.has(to) && cx.eval(condition, ask.plant.edge(edge))?.is_truthy() {
            unions.join(from, to);
        }
    }
    Ok(())
}

/// Hot: straight over all edges.
fn join_flow(topology: &Topology, kept: &Kept, unions: &mut Unions) {
    for (ends, link) in topology.ends.iter().zip(&topology.links) {
        if link.has(Link::FLOW) && !ends.contains(&NONE) && kept.has(ends[0]) && kept.has(ends[1]) {
            unions.join(ends[0], ends[1]);
        }
    }
}

/// The ports of one side of equipment belong together; the equipment goes with the first of them, or with the side that
/// nobody names where pipes are drawn to it.
fn join_ports(cx: &mut Cx<'_>, topology: &Topology, kept: &Kept, zones: bool, unions: &mut Unions) -> Result<()> {
    let nodes = (0..topology.node_count() as u32).filter(|node| kept.has(*node));
    if topology.ports.arc_count() == 0 {
        return cx.spend(nodes.count() as u64);
    }
    let mut sides: hashbrown::HashMap<(NodeId, u32), NodeId> = hashbrown::HashMap::new();
    for port in nodes {
        cx.spend(1)?;
        let Some(owner) = topology.owner(port) else { continue };
        let zone = if zones { topology.zone(port) } else { NONE };
        let is_own_side = match topology.flow_degree(owner) {
            0 => topology.ports.nodes(owner).first() == Some(&port),
            _ => zone == NONE,
        };
        let first = *sides.entry((owner, zone)).or_insert(port);
        unions.join(first, port);
        if kept.has(owner) && (is_own_side || !zones) {
            unions.join(owner, port);
        }
    }
    Ok(())
}

/// Nodes that are in a circle of flow together; and the edges in circles.
fn strong_components<'a>(cx: &mut Cx<'a>, ask: &Ask<'a>, kept: &Kept) -> Result<(Parts, Vec<EdgeId>)> {
    let topology = &ask.plant.topology;
    let is_whole = ask.option("edges").is_none() && kept.0.is_none() && topology.ports.arc_count() == 0;
    if is_whole {
        let parts = strong_parts(topology.table(Over::Flow, Dir::Down), |units| cx.spend(units))?;
        // An edge that is followed both ways is a circle of its own.
        let circular = topology.undirected.iter().copied().filter(|edge| topology.is_whole(*edge));
        return Ok((parts, circular.collect()));
    }
    let rules = ask.rules(cx, Dir::Down, Pass::Zone)?;
    let starts: Vec<NodeId> = (0..topology.node_count() as u32).filter(|node| kept.has(*node)).collect();
    let reach = walk::reach(topology, &starts, &[], &rules, &mut ask.guide(cx))?;
    let mut allowed: Vec<bool> = reach.nodes.iter().map(|node| kept.has(*node)).collect();
    allowed[..reach.starts].fill(true);
    let reach = reach.keep(&allowed);
    let parts = strong_parts(&reach, |units| cx.spend(units))?;
    let firsts = parts.firsts();
    let mut names: Vec<u32> = (0..topology.node_count() as u32).collect();
    for (number, part) in parts.of().iter().enumerate() {
        names[reach.nodes[number] as usize] = reach.nodes[firsts[*part as usize] as usize];
    }
    let circular = if !topology.undirected.is_empty() {
        reach.inner_edges(|from, to| parts.of()[from] == parts.of()[to]).collect()
    } else {
        Vec::new()
    };
    Ok((kept.parts(names.into_iter()), circular))
}

fn subgraph<'a>(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let ask = Ask::new(cx, input, args)?;
    let is_piped = is_about_nodes(&ask.plant, input);
    let from = ask.nodes(cx, (!is_piped).then_some(0))?;
    let condition = ask.option("edges").or_else(|| ask.plan(0).filter(|_| is_piped));
    let nodes = match ask.number(cx, &HOPS)? {
        None => from.to_vec(),
        Some(hops) => {
            let rules = ask.rules(cx, Dir::Both, Pass::Any)?;
            let rules = Rules { depth: rules.depth.min(hops.min(u32::MAX as usize) as u32), ..rules };
            let (found, _) = around(cx, &ask, &from, &rules)?;
            let nodes = found.to_vec();
            cx.keep_nodes(found);
            nodes
        }
    };
    let induced = extract::induced(&ask.plant, &nodes, &mut |units| cx.spend(units))?;
    let mut edges = Vec::with_capacity(induced.len());
    for edge in induced {
        if keeps(cx, &ask.plant, condition, edge)? {
            edges.push(edge);
        }
    }
    let graph = extract::graph(&ask.plant, nodes, edges);
    answer(cx, &ask.plant, graph)
}

/// Whether a piped value is a node, or a list that begins with one.
fn is_about_nodes<'a>(plant: &Plant<'a>, value: Value<'a>) -> bool {
    match value {
        Value::Array(items) => items.get(0).is_none_or(|item| is_node_like(plant, item)),
        value => is_node_like(plant, value),
    }
}

fn is_node_like<'a>(plant: &Plant<'a>, value: Value<'a>) -> bool {
    match value {
        Value::Object(_) => {
            plant.node_of(value).is_some()
                || plant.by_id(plant.field(value, crate::graph::config::Names::NodeId).unwrap_or(Value::Null)).is_some()
        }
        Value::String(_) | Value::Number(_) => true,
        _ => false,
    }
}

fn run<'a>(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let ask = Ask::new(cx, input, args)?;
    let line = if ask.count() > 0 { ask.value(cx, 0)? } else { input };
    if line.is_null() {
        return node_of(cx, &ask.plant, line).map(|_| Value::Null);
    }
    // One line has one number, on however many sheets it is drawn.
    let line = flow::number_of(&ask.plant, line).map_or(line, Value::String);
    let edges = match line {
        Value::String(_) | Value::Number(_) => flow::edges_with_line(&ask.plant, line, &mut |units| cx.spend(units))?,
        _ => Vec::new(),
    };
    let nodes = if edges.is_empty() {
        let node = node_of(cx, &ask.plant, line)?;
        flow::line_run(&ask.plant, node, &mut |units| cx.spend(units))?
    } else {
        flow::order(&ask.plant, &edges, &[], &mut |units| cx.spend(units))?
    };
    node_list(cx, &ask.plant, &nodes)
}

fn find_pattern<'a>(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let ask = Ask::new(cx, input, args)?;
    let text = expect_text(ask.value(cx, 0)?)?;
    cx.spend_bytes(text.len())?;
    let pattern = Pattern::parse(text)?;
    let limit = most(cx, &ask, cx.limits().rows)?;
    let names = names_of(cx, &pattern)?;
    let mut search = Search::new(&pattern, &ask.plant);
    let mut found = Vec::new();
    let keys = cx.keys(&names)?;
    let mut assumed: Vec<EdgeId> = Vec::new();
    while let Some(fit) = search.next(&mut |units| cx.spend(units))? {
        let base = cx.mark();
        bind(cx, &ask.plant, &pattern, &fit, &names)?;
        let binding = cx.record(keys, base)?;
        let holds = ask.plan(1).map_or(Ok(true), |plan| Ok(cx.eval(plan, binding)?.is_truthy()))?;
        if holds {
            found.push(binding);
            assumed.extend(pattern.directed(&fit).filter(|edge| ask.plant.topology.is_assumed(*edge)));
        }
        if found.len() > limit.0 {
            break;
        }
    }
    let found = cut(cx, found, "matches", limit)?;
    cx.assumed(assumed.into_iter(), |edge| ask.plant.edge_id(edge))?;
    values(cx, found.into_iter())
}

/// The names of a pattern, each once, in the order of the text.
fn names_of<'a>(cx: &mut Cx<'a>, pattern: &Pattern) -> Result<Vec<&'a str>> {
    let mut names: Vec<&'a str> = Vec::new();
    for at in 0..pattern.nodes.len() {
        let edge = pattern.edges.get(at).and_then(|edge| edge.name.as_ref());
        for name in [pattern.nodes[at].name.as_ref(), edge].into_iter().flatten() {
            if !names.contains(&name.as_str()) {
                names.push(cx.text(|out| std::fmt::Write::write_str(out, name))?);
            }
        }
    }
    Ok(names)
}

/// Collects what the names of a pattern stand for.
fn bind<'a>(cx: &mut Cx<'a>, plant: &Plant<'a>, pattern: &Pattern, fit: &Match, names: &[&str]) -> Result<()> {
    for name in names {
        let is_it = |other: &Option<String>| other.as_deref() == Some(name);
        if let Some(at) = pattern.nodes.iter().position(|node| is_it(&node.name)) {
            cx.push(plant.node(fit.nodes[at]))?;
        } else if let Some(at) = pattern.edges.iter().position(|edge| is_it(&edge.name)) {
            let value = match (pattern.edges[at].is_list, fit.edges[at].as_slice()) {
                (false, [edge]) => plant.edge(*edge),
                (_, edges) => edge_list(cx, plant, edges)?,
            };
            cx.push(value)?;
        }
    }
    Ok(())
}

fn with_graph<'a>(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let value = args.first().map_or(Ok(Value::Undefined), |arg| cx.eval(arg, input))?;
    let (plant, held) = drawing(cx, value)?;
    let result = args.get(1).map_or(Ok(Value::Undefined), |query| cx.eval_in(plant, query, value));
    cx.release(held);
    result
}

/// The drawing of a value: a document, or the object with nodes and edges. It takes memory, which is to be released.
pub(super) fn drawing<'a>(cx: &mut Cx<'a>, value: Value<'a>) -> Result<(Plant<'a>, usize)> {
    let none = || Error::new(Code::NoGraph, format!("no graph in the given {}", value.type_name()));
    let plant = Plant::of(value, cx.topology_config(), cx.limits())?.ok_or_else(none)?;
    let held = charge(cx, &plant)?;
    Ok((plant, held))
}

/// Pays for a network that a run has made, and counts its memory.
fn charge(cx: &mut Cx<'_>, plant: &Plant<'_>) -> Result<usize> {
    let topology = &plant.topology;
    // Names and rules of its own were read and compiled.
    const OWN_CONFIG: u64 = 10_000;
    let config = if topology.has_own_config() { OWN_CONFIG } else { 0 };
    cx.spend((topology.node_count() + topology.edge_count()) as u64 + config + plant.long_texts())?;
    let held = topology.size();
    cx.hold(held)?;
    Ok(held)
}

fn with_topology<'a>(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let changes = args.first().map_or(Ok(Value::Undefined), |arg| cx.eval(arg, input))?;
    let outer = cx.plant()?;
    // A copy of all names and rules, whether or not the changes are any good.
    const COPIED: u64 = 1_000;
    cx.spend(COPIED)?;
    let mut config = TopologyConfig::clone(&outer.topology.config);
    if let Some(problem) = config.change(changes).first() {
        return Err(Error::new(Code::BadOption, format!("the topology has {problem}")));
    }
    let plant = Plant::again(&outer, cx.root(), config, cx.limits())?;
    let held = charge(cx, &plant)?;
    let result = args.get(1).map_or(Ok(Value::Undefined), |query| cx.eval_in(plant, query, input));
    cx.release(held);
    result
}
