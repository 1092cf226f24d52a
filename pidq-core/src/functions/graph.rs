//! Graph functions: nodes and edges, walks, routes, circuits and patterns.
//!
//! They operate on the graph of the document, independent of the piped value. Walks are breadth first, edges in
//! document order; nodes and edges in results are the unchanged objects of the document.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::array::{filter, select};
use super::graph_call::{
    ABSENT, AVOID, DEPTH, DIR, DIRECTION, EDGES, GraphCall, NodeSelection, PASS, UNTIL, check_rows, edge_list,
    node_list, node_of, to_value, too_many, values,
};
use super::string::expect_text;
use crate::error::{Code, Error, Result};
use crate::eval::EvalContext;
use crate::eval::column_view::ColumnView;
use crate::eval::option_spec::OptionSpec;
use crate::eval::plan::Plan;
use crate::eval::plan::function::{Body, Function, Param};
use crate::graph::adjacency::{EdgeId, NONE, NodeId};
use crate::graph::bidirectional::{self, Path};
use crate::graph::config::TopologyConfig;
use crate::graph::connectivity::{Components, UnionFind, strongly_connected};
use crate::graph::cycles;
use crate::graph::drawing::Drawing;
use crate::graph::pattern::{Match, Pattern, PatternSearch};
use crate::graph::routes::{self, Route};
use crate::graph::topology::{Direction, EdgeFilter, EdgeFlags, Topology};
use crate::graph::walk::{
    self, Bfs, EquipmentPolicy, NodeFilter, NodeQueue, ReachableSubgraph, Step, WalkOptions, WalkResult,
};
use crate::pid::{Datum, extract, pipe_lines};
use crate::value::{Items, Value};

const HOPS: OptionSpec = OptionSpec::number("hops");
const LIMIT: OptionSpec = OptionSpec::number("limit").means("maximum number of results");
const NODES: OptionSpec = OptionSpec::query("nodes").means("only nodes for which it holds");
const ON_LIMIT: OptionSpec = OptionSpec::keyword("onLimit", &["error", "truncate"])
    .means(r#"what happens if there are too many results; `"truncate"` returns the first ones"#);
const STEPS: OptionSpec = OptionSpec::number("steps");
const STRONG: OptionSpec =
    OptionSpec::flag("strong").means("components of nodes that reach each other along the directions of the edges");
const WEIGHT: OptionSpec = OptionSpec::query("weight").means("cost of a step; 1 by default");
const ZONES: OptionSpec =
    OptionSpec::flag("zones").means("false: the two sides of a heat exchanger belong to one component");

const WALK: &[OptionSpec] = &[DIR, EDGES, AVOID, UNTIL, ABSENT, PASS, DEPTH, LIMIT, WEIGHT];
const ROUTES: &[OptionSpec] = &[DIR, EDGES, AVOID, UNTIL, ABSENT, PASS, DEPTH, LIMIT, WEIGHT, ON_LIMIT];

const CONDITION: &[Param] = &[Param::query("condition").optional()];
const SIDED: &[Param] = &[Param::checked(&DIRECTION).optional(), Param::query("condition").optional()];
const FROM: &[Param] = &[Param::query("from").optional(), Param::options(WALK)];
const FROM_TO: &[Param] = &[Param::query("from"), Param::query("to").optional(), Param::options(ROUTES)];

pub(crate) const FUNCTIONS: &[Function] = &[
    Function {
        name: "between",
        params: &[Param::query("from"), Param::query("to").optional(), Param::options(WALK)],
        summary: "The nodes on the paths from one set of nodes to another; paths that return to either are not followed.",
        example: r#"between("P-101A", "HV-102") | map(.tag) => ["P-101A","CV-101","HV-102"]"#,
        body: Body::Piped(between),
    },
    Function {
        name: "components",
        params: &[Param::options(&[EDGES, NODES, STRONG, ZONES])],
        summary: "The connected components of the graph, as arrays of nodes; the sides of a heat exchanger are separate.",
        example: r#"components({nodes: .line == "P-1005"}) | map(map(.tag)) => [["PSV-201","FLARE"]]"#,
        body: Body::Piped(components),
    },
    Function {
        name: "connected",
        params: FROM,
        summary: "The nodes that can be reached along or against the flow, up to the next equipment.",
        example: r#"connected("HV-102") | map(.tag) => ["CV-101","FV-101","P-101A","HV-103","E-101","CV-102","P-101B"]"#,
        body: Body::Piped(|cx, input, args| reached(cx, input, args, Direction::Both)),
    },
    Function {
        name: "cycles",
        params: &[Param::options(&[EDGES, LIMIT, DEPTH, PASS, AVOID, ABSENT, ON_LIMIT])],
        summary: "The simple cycles (no node twice), each listed once, as `{nodes, edges, length}`.",
        example: "cycles() | map(.length) => [8,8]",
        body: Body::Piped(find_cycles),
    },
    Function {
        name: "degree",
        params: SIDED,
        summary: "The number of edges of a node (\"in\", \"out\" or \"both\"), of any kind, or of those for which a condition holds.",
        example: r#"node("E-101") | degree("out", .edge_type == "piping") => 2"#,
        body: Body::Piped(degree),
    },
    Function {
        name: "downstream",
        params: FROM,
        summary: "The nodes that can be reached along the flow, up to the next equipment.",
        example: r#"downstream("T-101") | map(.tag) => ["HV-101","P-101A","P-101B"]"#,
        body: Body::Piped(|cx, input, args| reached(cx, input, args, Direction::Down)),
    },
    Function {
        name: "edges",
        params: CONDITION,
        summary: "The edges of the graph, or those for which a condition holds.",
        example: r#"edges(.line == "P-1004") | map(.id) => ["e11"]"#,
        body: Body::Piped(|cx, _, args| {
            let edges = cx.drawing()?.edges;
            filter(cx, Value::Array(edges), args)
        }),
    },
    Function {
        name: "endpoints",
        params: &[],
        summary: "The nodes that an edge connects, as `{source, target}`; an end that names no node is null.",
        example: r#"edges() | first() | endpoints() | .target.tag => "HV-101""#,
        body: Body::Piped(endpoints),
    },
    Function {
        name: "expand",
        params: &[Param::checked(&STEPS), Param::options(WALK)],
        summary: "The piped nodes, followed by the nodes within a number of steps of them.",
        example: r#"node("P-101A") | expand(1) | map(.tag) => ["P-101A","HV-101","CV-101"]"#,
        body: Body::Counted(expand, count_expanded),
    },
    Function {
        name: "findPattern",
        params: &[
            Param::graph_pattern("pattern"),
            Param::query("where").optional(),
            Param::options(&[LIMIT, ON_LIMIT]),
        ],
        summary: "The matches of a pattern such as `(a:pump)-[e:piping {1,3}]->(b)`, as objects keyed by its names.",
        example: r#"findPattern("(p:pump)-[:piping]->(v)") | map(.v.tag) => ["CV-101","CV-102"]"#,
        body: Body::Piped(find_pattern),
    },
    Function {
        name: "graph",
        params: &[],
        summary: "The object that contains the nodes and edges.",
        example: r#"graph() | keys() => ["nodes","edges","metadata"]"#,
        body: Body::Piped(|cx, _, _| Ok(cx.drawing()?.graph)),
    },
    Function {
        name: "incident",
        params: CONDITION,
        summary: "The edges at a node.",
        example: r#"node("PSV-201") | incident() | map(.id) => ["e12","e13"]"#,
        body: Body::Piped(|cx, input, args| edges_at(cx, input, args, Direction::Both)),
    },
    Function {
        name: "incoming",
        params: CONDITION,
        summary: "The edges that lead to a node.",
        example: r#"node("PSV-201") | incoming() | map(.id) => ["e12"]"#,
        body: Body::Piped(|cx, input, args| edges_at(cx, input, args, Direction::Up)),
    },
    Function {
        name: "neighbors",
        params: SIDED,
        summary: "The nodes connected to a node by edges of any kind, or by those for which a condition holds.",
        example: r#"node("P-101A") | neighbors("out", .edge_type == "piping") | map(.tag) => ["CV-101"]"#,
        body: Body::Piped(neighbors),
    },
    Function {
        name: "node",
        params: &[Param::query("reference").optional(), Param::query("default").optional()],
        summary: "The node with an id, or the only one with a tag; a default if there is none.",
        example: r#"node("P-101A").id => "n3""#,
        body: Body::Piped(node),
    },
    Function {
        name: "nodes",
        params: CONDITION,
        summary: "The nodes of the graph, or those for which a condition holds.",
        example: r#"nodes(.component_class == "pump") | map(.tag) => ["P-101A","P-101B"]"#,
        body: Body::Piped(|cx, _, args| {
            let nodes = cx.drawing()?.nodes;
            filter(cx, Value::Array(nodes), args)
        }),
    },
    Function {
        name: "outgoing",
        params: CONDITION,
        summary: "The edges that leave a node.",
        example: r#"node("E-101") | outgoing(.edge_type == "piping") | map(.id) => ["e11","e16"]"#,
        body: Body::Piped(|cx, input, args| edges_at(cx, input, args, Direction::Down)),
    },
    Function {
        name: "paths",
        params: FROM_TO,
        summary: "The simple paths (no node twice) from one set of nodes to another, shortest first.",
        example: r#"paths("T-101", "FV-101") | map(.length) => [5,5]"#,
        body: Body::Piped(paths),
    },
    Function {
        name: "reachable",
        params: FROM_TO,
        summary: "Whether the flow from one set of nodes can reach another, including through equipment.",
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
        summary: "The path with the fewest steps, or the lowest sum of a weight, as `{nodes, edges, length, cost}`; null if there is none.",
        example: r#"shortestPath("T-101", "PROD") | .length => 9"#,
        body: Body::Piped(shortest_path),
    },
    Function {
        name: "subgraph",
        params: &[Param::query("what").optional(), Param::options(&[HOPS, EDGES])],
        summary: "The given nodes with the edges between them, as a separate graph.",
        example: r#"node("P-101A") | expand(1) | subgraph() | .edges | map(.id) => ["e2","e4"]"#,
        body: Body::Piped(subgraph),
    },
    Function {
        name: "trace",
        params: FROM,
        summary: "The nodes that a walk reaches, and how it reaches them: `{node, depth, via, from, stop, assumed}`.",
        example: r#"trace("P-101A", {depth: 1}) | map([.depth, .node.tag, .via]) => [[0,"P-101A",null],[1,"CV-101","e4"]]"#,
        body: Body::Piped(trace),
    },
    Function {
        name: "upstream",
        params: FROM,
        summary: "The nodes that feed a node, up to the next equipment.",
        example: r#"upstream("FV-101") | map(.tag) => ["HV-102","HV-103","CV-101","CV-102","P-101A","P-101B"]"#,
        body: Body::Piped(|cx, input, args| reached(cx, input, args, Direction::Up)),
    },
    Function {
        name: "withGraph",
        params: &[Param::query("graph"), Param::query("query")],
        summary: "The result of a query on another graph: one of several in the document, or a constructed one.",
        example: r#"withGraph(node("P-101A") | expand(1) | subgraph(), nodes() | size()) => 3"#,
        body: Body::Piped(with_graph),
    },
    Function {
        name: "withTopology",
        params: &[Param::query("topology"), Param::query("query")],
        summary: "The result of a query on the graph, interpreted with other field names and classes.",
        example: r#"withTopology({flow_kinds: ["signal"]}, downstream("FT-101") | map(.tag)) => ["FIC-101","FV-101"]"#,
        body: Body::Piped(with_topology),
    },
];

fn node<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let drawing = cx.drawing()?;
    let reference = args.first().map_or(Ok(input), |arg| cx.eval(arg, input))?;
    match (node_of(cx, &drawing, reference), args.get(1)) {
        (Ok(node), _) => Ok(drawing.node(node)),
        (Err(error), Some(default)) if matches!(error.code(), Code::UnknownNode | Code::NoStart) => {
            cx.eval(default, input)
        }
        (Err(error), _) => Err(error),
    }
}

/// Returns whether a condition holds for an edge.
fn edge_condition_holds<'a>(
    cx: &mut EvalContext<'a>,
    drawing: &Drawing<'a>,
    condition: Option<&'a Plan>,
    edge: EdgeId,
) -> Result<bool> {
    cx.charge(1)?;
    condition.map_or(Ok(true), |condition| Ok(cx.eval(condition, drawing.edge(edge))?.is_truthy()))
}

fn neighbors<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let drawing = cx.drawing()?;
    let call = GraphCall::new(cx, input, args)?;
    let (dir, next) = call.direction(cx)?;
    let mut found = Vec::new();
    let mut seen = hashbrown::HashSet::new();
    for node in call.nodes(cx, None)?.iter().copied() {
        for (other, edge) in drawing.topology.table(EdgeFilter::All, dir).arcs(node) {
            if edge_condition_holds(cx, &drawing, call.arg_plan(next), edge)? && seen.insert(other) {
                found.push(other);
            }
        }
    }
    check_rows(cx, found.len(), None)?;
    node_list(cx, &drawing, &found)
}

fn edges_at<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan], dir: Direction) -> Result<Value<'a>> {
    let call = GraphCall::new(cx, input, args)?;
    let drawing = &call.drawing;
    let mut found = Vec::new();
    let mut seen = hashbrown::HashSet::new();
    for node in call.nodes(cx, None)?.iter().copied() {
        for edge in drawing.topology.table(EdgeFilter::All, dir).edges(node) {
            if edge_condition_holds(cx, drawing, call.arg_plan(0), *edge)? && seen.insert(*edge) {
                found.push(*edge);
            }
        }
    }
    edge_list(cx, drawing, &found)
}

/// Counts the edges of a node. A self loop counts at both of its ends.
fn degree<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let call = GraphCall::new(cx, input, args)?;
    let (dir, next) = call.direction(cx)?;
    let mut count = 0u32;
    for node in call.nodes(cx, None)?.iter().copied() {
        for edge in call.drawing.topology.table(EdgeFilter::All, dir).edges(node) {
            let [from, to] = call.drawing.topology.ends[*edge as usize];
            let ends = 1 + u32::from(from == to && dir == Direction::Both);
            count += ends * u32::from(edge_condition_holds(cx, &call.drawing, call.arg_plan(next), *edge)?);
        }
    }
    Ok(Value::number(f64::from(count)))
}

const ENDS: &[&str] = &["source", "target"];

fn endpoints<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, _: &'a [Plan]) -> Result<Value<'a>> {
    let drawing = cx.drawing()?;
    let Value::Array(edges) = input else {
        let ends = ends_of(&drawing, input)?;
        return to_value(cx, &drawing, ends);
    };
    let mut rows = Vec::with_capacity(edges.len());
    for edge in edges.iter() {
        cx.charge(1)?;
        rows.push(ends_of(&drawing, edge)?);
    }
    to_value(cx, &drawing, Datum::Array(rows))
}

/// Returns the ends of an edge of the graph, or of an object that names nodes like edges do.
fn ends_of<'a>(drawing: &Drawing<'a>, edge: Value<'a>) -> Result<Datum<'a>> {
    let ends = match drawing.edge_of(edge) {
        Some(edge) => drawing.topology.ends[edge as usize].map(Some),
        None => named_ends(drawing, edge)?,
    };
    Ok(Datum::Record(ENDS, ends.map(|end| Datum::node(end.filter(|node| *node != NONE))).into()))
}

fn named_ends<'a>(drawing: &Drawing<'a>, edge: Value<'a>) -> Result<[Option<NodeId>; 2]> {
    let pairs = drawing.topology.config.endpoints();
    let object = edge.as_object();
    let pair = pairs.iter().find_map(|[from, to]| Some([object?.get(from)?, object?.get(to)?]));
    let Some(pair) = pair else {
        let error = Error::new(Code::EdgeEndMissing, "not an edge of the graph: it has no ends");
        return Err(error.with_help("pipe an edge or an array of edges: `edges() | first() | endpoints()`"));
    };
    Ok(pair.map(|end| match end {
        Value::Object(_) => {
            drawing.field(end, crate::graph::config::Names::EndpointId).and_then(|id| drawing.by_id(id))
        }
        id => drawing.by_id(id),
    }))
}

/// Walks from the nodes of a call.
fn steps<'a>(
    cx: &mut EvalContext<'a>,
    call: &GraphCall<'a>,
    from: &[NodeId],
    walk_options: &WalkOptions,
) -> Result<Vec<Step>> {
    let from = call.with_open_parts(cx, from)?;
    let starts = walk::starts(&call.drawing.topology, walk_options, &from);
    let topology = &call.drawing.topology;
    let steps = cx.with_walk_scratch(|cx, scratch| {
        walk::walk(topology, &mut scratch.walk, &starts, walk_options, &mut call.visitor(cx)?)
    })?;
    check_depth(cx, walk_options, steps.last().map_or(0, |last| last.depth))?;
    Ok(steps)
}

/// Returns an error if a walk was cut off by the limit of the run instead of an option: its result would be incomplete.
fn check_depth(cx: &EvalContext<'_>, walk_options: &WalkOptions, depth: u32) -> Result<()> {
    let max_depth = u32::try_from(cx.limits().depth).unwrap_or(u32::MAX);
    if walk_options.depth < max_depth || depth < max_depth {
        return Ok(());
    }
    let error = Error::new(Code::TooDeep, format!("the walk is longer than {max_depth} steps"));
    Err(error
        .with_limit("depth", max_depth.into())
        .with_help("end it earlier with `depth` or `until`, or raise the `depth` limit of the run"))
}

/// Returns the nodes of a walk, its start nodes first, and the edges by which they were reached that a warning may be
/// about.
fn walk_nodes<'a>(
    cx: &mut EvalContext<'a>,
    call: &GraphCall<'a>,
    from: &[NodeId],
    walk_options: &WalkOptions,
) -> Result<WalkResult> {
    let topology = &call.drawing.topology;
    if call.has_visitor_queries() || !walk::allows_bfs(topology, walk_options) {
        let steps = steps(cx, call, from, walk_options)?;
        let nodes: Vec<NodeId> = steps.iter().filter(|step| step.is_shown()).map(|step| step.node).collect();
        let is_silent = !walk_options.may_assume_directions(topology) && call.absences(cx)?.is_empty();
        let reported = if is_silent { Vec::new() } else { steps.iter().map(|step| step.via).collect() };
        let starts = steps.iter().take_while(|step| step.from == NONE).count();
        return Ok(WalkResult { nodes: nodes.into(), starts, reported, depth: 0 });
    }
    let from = call.with_open_parts(cx, from)?;
    let starts = walk::starts(topology, walk_options, &from);
    let absences = call.absences(cx)?;
    let result = cx.with_walk_scratch(|cx, scratch| {
        let bfs = Bfs::new(topology, *walk_options).with_absences(absences);
        bfs.walk(&mut scratch.walk, &starts, |units| cx.charge(units))
    })?;
    check_depth(cx, walk_options, result.depth)?;
    Ok(result)
}

fn reached<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan], dir: Direction) -> Result<Value<'a>> {
    let call = GraphCall::new(cx, input, args)?;
    let walk_options = call.walk_options(cx, dir, EquipmentPolicy::None)?;
    let from = call.walk_starts(cx)?;
    let limit = call.number(cx, &LIMIT)?;
    let WalkResult { mut nodes, starts, reported, .. } = walk_nodes(cx, &call, &from, &walk_options)?;
    let mut first = starts;
    // Start equipment may be reached again through its ports.
    if call.drawing.topology.ports.arc_count() > 0 {
        let start_nodes = NodeFilter::new(&from);
        nodes.retain(std::mem::take(&mut first), |node| !start_nodes.contains(node));
    }
    check_rows(cx, nodes.len() - first, limit)?;
    call.warn_assumed(cx, &walk_options, reported.iter().copied())?;
    call.warn_unstated_sides(cx, &walk_options, &from, &nodes)?;
    call.warn_absences(cx, nodes[first..].iter().copied(), reported)?;
    let list = node_list(cx, &call.drawing, &nodes[first..]);
    cx.recycle_nodes(nodes);
    list
}

fn trace<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    const KEYS: &[&str] = &["node", "depth", "via", "from", "stop", "assumed"];
    let call = GraphCall::new(cx, input, args)?;
    let walk_options = call.walk_options(cx, Direction::Down, EquipmentPolicy::None)?;
    let from = call.walk_starts(cx)?;
    let steps = steps(cx, &call, &from, &walk_options)?;
    let limit = call.number(cx, &LIMIT)?;
    check_rows(cx, steps.len(), limit)?;
    let row = |step: &Step| {
        let before = steps.get(step.from as usize).map_or(Value::Null, |before| call.drawing.id(before.node));
        vec![
            Datum::Node(step.node),
            Datum::Number(f64::from(step.depth)),
            Datum::Value(call.drawing.edge_id(step.via)),
            Datum::Value(before),
            Datum::Bool(step.stops),
            Datum::Bool(step.assumed),
        ]
    };
    let rows = steps.iter().filter(|step| step.is_shown()).map(row).collect();
    call.warn_assumed(cx, &walk_options, steps.iter().map(|step| step.via))?;
    let nodes: Vec<NodeId> = steps.iter().map(|step| step.node).collect();
    call.warn_unstated_sides(cx, &walk_options, &from, &nodes)?;
    let others = steps.iter().filter(|step| step.from != NONE && step.is_shown() && !from.contains(&step.node));
    call.warn_absences(cx, others.map(|step| step.node), steps.iter().map(|step| step.via))?;
    to_value(cx, &call.drawing, Datum::Table(KEYS, rows))
}

fn expand<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let call = GraphCall::new(cx, input, args)?;
    let walk_options = expand_options(cx, &call)?;
    let from = call.nodes(cx, None)?;
    let limit = call.number(cx, &LIMIT)?;
    let (found, reported) = expand_nodes(cx, &call, &from, &walk_options)?;
    check_rows(cx, found.len(), limit)?;
    call.warn_assumed(cx, &walk_options, reported.iter().copied())?;
    call.warn_unstated_sides(cx, &walk_options, &from, &found)?;
    call.warn_absences(cx, found.iter().skip(from.len()).copied(), reported)?;
    let list = node_list(cx, &call.drawing, &found);
    cx.recycle_nodes(found);
    list
}

/// Returns the options of a walk limited to the number of steps in the first argument.
fn expand_options<'a>(cx: &mut EvalContext<'a>, call: &GraphCall<'a>) -> Result<WalkOptions> {
    let steps = call.value(cx, 0)?;
    let hops = STEPS.as_number(steps)?.ok_or_else(|| STEPS.invalid_value(steps))? as u32;
    let walk_options = call.walk_options(cx, Direction::Both, EquipmentPolicy::Any)?;
    Ok(WalkOptions { depth: walk_options.depth.min(hops), ..walk_options })
}

/// Returns the number of nodes that `expand` returns for each of some nodes. `None` if the walks evaluate queries,
/// report warnings, or differ in their options.
fn count_expanded<'a>(
    cx: &mut EvalContext<'a>,
    view: ColumnView<'a>,
    args: &'a [Plan],
) -> Result<Option<(Value<'a>, u64)>> {
    let call = GraphCall::new(cx, Value::Undefined, args)?;
    if !call.is_fixed() || call.has_visitor_queries() || !is_node_view(&call.drawing, view) {
        return Ok(None);
    }
    let before = cx.fuel_used();
    let walk_options = expand_options(cx, &call)?;
    let limit = call.number(cx, &LIMIT)?;
    let topology = &call.drawing.topology;
    let may_warn = walk_options.may_assume_directions(topology) || !call.absences(cx)?.is_empty();
    if may_warn || topology.ports.arc_count() > 0 {
        return Ok(None);
    }
    let option_cost = cx.fuel_used() - before;
    cx.charge((view.len() as u64 - 1) * option_cost)?;
    let (bfs, mut total) = (Bfs::new(&call.drawing.topology, walk_options), 0);
    let counts = cx.with_walk_scratch(|cx, scratch| {
        cx.try_list_from_fn(view.len(), |cx, at| {
            let (count, depth) = bfs.count(&mut scratch.walk, view.row(at), |units| cx.charge(units))?;
            check_depth(cx, &walk_options, depth)?;
            check_rows(cx, count, limit)?;
            cx.charge(1 + count as u64)?;
            total += count as u64;
            Ok(Value::number(count as f64))
        })
    })?;
    Ok(Some((counts, total)))
}

/// Returns whether the rows of an array are the nodes of a drawing, with the same indices.
fn is_node_view<'a>(drawing: &Drawing<'a>, view: ColumnView<'a>) -> bool {
    let is_node = |at: usize| view.cells[view.row(at) as usize].object_id().is_some();
    matches!(drawing.nodes.0, Items::Stored(_, list) if list == view.list) && (0..view.len()).all(is_node)
}

/// Returns some nodes and those reached from them by a walk, and the edges that the walk followed that a warning may be
/// about.
fn expand_nodes<'a>(
    cx: &mut EvalContext<'a>,
    call: &GraphCall<'a>,
    from: &[NodeId],
    walk_options: &WalkOptions,
) -> Result<(NodeQueue, Vec<EdgeId>)> {
    let WalkResult { nodes: found, reported, .. } = walk_nodes(cx, call, from, walk_options)?;
    if found.starts_with(from) {
        return Ok((found, reported));
    }
    let start_nodes: hashbrown::HashSet<NodeId> = from.iter().copied().collect();
    let others = found.iter().filter(|node| !start_nodes.contains(*node));
    let nodes: Vec<NodeId> = from.iter().chain(others).copied().collect();
    cx.recycle_nodes(found);
    Ok((nodes.into(), reported))
}

/// Returns the start and target nodes: two arguments, or one and the piped value.
fn from_to<'a>(cx: &mut EvalContext<'a>, call: &GraphCall<'a>) -> Result<(NodeSelection, NodeSelection)> {
    let (from, to) = if call.arg_count() > 1 { (Some(0), 1) } else { (None, 0) };
    Ok((call.walk_nodes(cx, from)?, call.walk_nodes(cx, Some(to))?))
}

/// Returns the subgraph between the nodes of a call, and its target indices.
fn target_subgraph<'a>(cx: &mut EvalContext<'a>, call: &GraphCall<'a>) -> Result<(ReachableSubgraph, Vec<bool>)> {
    let (from, to) = from_to(cx, call)?;
    let walk_options = call.walk_options(cx, Direction::Down, EquipmentPolicy::Any)?;
    let topology = &call.drawing.topology;
    let [from, to] = [call.with_open_parts(cx, &from)?, call.with_open_parts(cx, &to)?];
    let targets = walk::targets(topology, &to);
    let starts = starts_to(topology, &from, &NodeFilter::new(&targets), &walk_options);
    let subgraph = walk::reachable_subgraph(topology, &starts, &targets, &walk_options, &mut call.visitor(cx)?)?;
    let is_target = subgraph.node_mask(&targets);
    Ok((subgraph, is_target))
}

fn reachable<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let call = GraphCall::new(cx, input, args)?;
    let (from, to) = from_to(cx, &call)?;
    let walk_options = call.walk_options(cx, Direction::Down, EquipmentPolicy::Any)?;
    let path = path_between(cx, &call, &from, &to, &walk_options)?;
    let unstated = unstated_exits(cx, &call, &from, &to, &walk_options, path.as_ref())?;
    call.warn_assumed(cx, &walk_options, path.iter().flat_map(|path| path.edges.iter().copied()))?;
    cx.warn_unstated_sides(&unstated, |port| call.drawing.id(port))?;
    if let Some(path) = &path {
        call.warn_absences(cx, path.nodes.iter().skip(1).copied(), path.edges.iter().copied())?;
    }
    Ok(Value::Bool(path.is_some()))
}

/// Returns the ports of unstated side that the answer to a search by sides rests on: those on the path, or without one,
/// those on a path that may exist.
fn unstated_exits<'a>(
    cx: &mut EvalContext<'a>,
    call: &GraphCall<'a>,
    from: &[NodeId],
    to: &[NodeId],
    walk_options: &WalkOptions,
    path: Option<&Path>,
) -> Result<Vec<NodeId>> {
    if walk_options.pass != EquipmentPolicy::Zone {
        return Ok(Vec::new());
    }
    if let Some(path) = path {
        return call.unstated_exits(cx, &path.nodes);
    }
    // Without nozzles, no other way is possible.
    if call.drawing.topology.ports.arc_count() == 0 {
        return Ok(Vec::new());
    }
    let possible_options = WalkOptions { pass: EquipmentPolicy::PossibleZone, ..*walk_options };
    let possible = path_between(cx, call, from, to, &possible_options)?;
    call.unstated_exits(cx, possible.as_ref().map_or(&[], |path| &path.nodes))
}

fn between<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let call = GraphCall::new(cx, input, args)?;
    let found = between_nodes(cx, &call)?;
    check_rows(cx, found.len(), None)?;
    node_list(cx, &call.drawing, &found)
}

/// Returns the nodes between those of a call, in walk order. Warns about assumed directions.
pub(super) fn between_nodes<'a>(cx: &mut EvalContext<'a>, call: &GraphCall<'a>) -> Result<Vec<NodeId>> {
    let (subgraph, targets) = target_subgraph(cx, call)?;
    let walk_options = call.walk_options(cx, Direction::Down, EquipmentPolicy::Any)?;
    check_depth(cx, &walk_options, subgraph.depth)?;
    cx.charge(subgraph.arc_count() as u64)?;
    let kept = routes::between(&subgraph, &targets);
    let inner_edges = || subgraph.inner_edges(|from, to| kept[from] && kept[to]);
    call.warn_assumed(cx, &walk_options, inner_edges())?;
    call.warn_unstated_sides(cx, &walk_options, &[], &subgraph.nodes)?;
    let inner_nodes = (subgraph.starts..subgraph.len()).filter(|index| kept[*index]);
    call.warn_absences(cx, inner_nodes.map(|index| subgraph.nodes[index]), inner_edges())?;
    let mut seen = hashbrown::HashSet::new();
    let indices = (0..subgraph.len()).filter(|index| kept[*index]);
    Ok(indices.map(|index| subgraph.nodes[index]).filter(|node| seen.insert(*node)).collect())
}

const ROUTE: &[&str] = &["nodes", "edges", "length", "cost"];

fn shortest_path<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let call = GraphCall::new(cx, input, args)?;
    let Some(weight) = call.option("weight") else { return fewest_steps(cx, &call) };
    let (subgraph, targets) = target_subgraph(cx, &call)?;
    let weights = weights(cx, &call, &subgraph, weight)?;
    let found = routes::cheapest(&subgraph, &weights, &targets, &mut |units| cx.charge(units))?;
    let walk_options = call.walk_options(cx, Direction::Down, EquipmentPolicy::Any)?;
    let Some((route, cost)) = found else {
        // A subgraph cut off by the limit of the run does not prove that there is no path.
        check_depth(cx, &walk_options, subgraph.depth)?;
        call.warn_unstated_sides(cx, &walk_options, &[], &subgraph.nodes)?;
        return Ok(Value::Null);
    };
    call.warn_assumed(cx, &walk_options, edges_of(&subgraph, &route))?;
    call.warn_unstated_sides(cx, &walk_options, &[], &subgraph.nodes)?;
    warn_absences_on(cx, &call, &subgraph, std::slice::from_ref(&route))?;
    let [nodes, edges, length] = route_fields(&subgraph, &route);
    to_value(cx, &call.drawing, Datum::Record(ROUTE, vec![nodes, edges, length, Datum::Number(cost)]))
}

/// Returns the route with the fewest steps, without building a subgraph.
fn fewest_steps<'a>(cx: &mut EvalContext<'a>, call: &GraphCall<'a>) -> Result<Value<'a>> {
    let (from, to) = from_to(cx, call)?;
    let walk_options = call.walk_options(cx, Direction::Down, EquipmentPolicy::Any)?;
    let path = path_between(cx, call, &from, &to, &walk_options)?;
    let unstated = unstated_exits(cx, call, &from, &to, &walk_options, path.as_ref())?;
    let Some(Path { nodes, mut edges }) = path else {
        cx.warn_unstated_sides(&unstated, |port| call.drawing.id(port))?;
        return Ok(Value::Null);
    };
    edges.retain(|edge| *edge != NONE);
    call.warn_assumed(cx, &walk_options, edges.iter().copied())?;
    cx.warn_unstated_sides(&unstated, |port| call.drawing.id(port))?;
    call.warn_absences(cx, nodes.iter().skip(1).copied(), edges.iter().copied())?;
    let length = (nodes.len() - 1) as f64;
    let route = [Datum::Nodes(nodes), Datum::Edges(edges), Datum::Number(length), Datum::Number(length)];
    to_value(cx, &call.drawing, Datum::Record(ROUTE, route.into()))
}

/// Returns the shortest path from some nodes to others.
fn path_between<'a>(
    cx: &mut EvalContext<'a>,
    call: &GraphCall<'a>,
    from: &[NodeId],
    to: &[NodeId],
    walk_options: &WalkOptions,
) -> Result<Option<Path>> {
    let topology = &call.drawing.topology;
    let [from, to] = [call.with_open_parts(cx, from)?, call.with_open_parts(cx, to)?];
    let targets = walk::targets(topology, &to);
    let target_filter = NodeFilter::new(&targets);
    let starts = starts_to(topology, &from, &target_filter, walk_options);
    let (path, depth) = match call.has_visitor_queries() || !walk::allows_bfs(topology, walk_options) {
        true => path_by_walk(cx, call, &starts, |node| target_filter.contains(node), walk_options)?,
        false => {
            let search = cx.with_walk_scratch(|cx, scratch| {
                bidirectional::search(topology, &mut scratch.bidirectional, &starts, &targets, walk_options, |units| {
                    cx.charge(units)
                })
            })?;
            (search.path, search.depth)
        }
    };
    if path.is_none() {
        check_depth(cx, walk_options, depth)?;
    }
    Ok(path)
}

/// Warns about items and pipes on routes that may not be there.
fn warn_absences_on<'a>(
    cx: &mut EvalContext<'a>,
    call: &GraphCall<'a>,
    subgraph: &ReachableSubgraph,
    routes: &[Route],
) -> Result<()> {
    let nodes = routes.iter().flat_map(|route| route.indices(subgraph).into_iter().skip(1));
    let nodes = nodes.map(|index| subgraph.nodes[index as usize]);
    call.warn_absences(cx, nodes, routes.iter().flat_map(|route| edges_of(subgraph, route)))
}

/// Returns the path of a walk to the first target, and the depth reached.
fn path_by_walk<'a>(
    cx: &mut EvalContext<'a>,
    call: &GraphCall<'a>,
    starts: &[NodeId],
    is_target: impl Fn(NodeId) -> bool,
    walk_options: &WalkOptions,
) -> Result<(Option<Path>, u32)> {
    let topology = &call.drawing.topology;
    let (steps, end) = cx.with_walk_scratch(|cx, scratch| {
        walk::walk_until(topology, &mut scratch.walk, starts, walk_options, &mut call.visitor(cx)?, is_target)
    })?;
    let path = end.map(|end| walk::path_to(&steps, end)).map(|path| Path {
        nodes: path.iter().map(|step| step.node).collect(),
        edges: path.iter().skip(1).map(|step| step.via).collect(),
    });
    Ok((path, steps.last().map_or(0, |last| last.depth)))
}

/// Returns the start nodes of a walk to some nodes. Nodes that are both start and target are included, even if no edge
/// leaves them.
fn starts_to<'n>(
    topology: &Topology,
    from: &'n [NodeId],
    targets: &NodeFilter<'_>,
    walk_options: &WalkOptions,
) -> Cow<'n, [NodeId]> {
    let mut starts = walk::starts(topology, walk_options, from);
    let mut targets_in_from: Vec<NodeId> = from.iter().copied().filter(|node| targets.contains(*node)).collect();
    let start_filter = NodeFilter::new(&starts);
    targets_in_from.retain(|node| !start_filter.contains(*node));
    if !targets_in_from.is_empty() {
        starts.to_mut().append(&mut targets_in_from);
    }
    starts
}

/// Returns the weight of each arc. Passing through equipment is free.
fn weights<'a>(
    cx: &mut EvalContext<'a>,
    call: &GraphCall<'a>,
    subgraph: &ReachableSubgraph,
    weight: &'a Plan,
) -> Result<Vec<f64>> {
    let mut weights = Vec::with_capacity(subgraph.arc_count());
    for arc in 0..subgraph.arc_count() {
        let (_, edge) = subgraph.arc(arc);
        cx.charge(1)?;
        let is_inside = edge == NONE || call.drawing.topology.edge_flags[edge as usize].contains(EdgeFlags::PART);
        weights.push(if is_inside { 0.0 } else { weight_of(cx, call, edge, weight)? });
    }
    Ok(weights)
}

fn weight_of<'a>(cx: &mut EvalContext<'a>, call: &GraphCall<'a>, edge: EdgeId, weight: &'a Plan) -> Result<f64> {
    let value = cx.eval(weight, call.drawing.edge(edge))?;
    match value.as_f64() {
        Some(weight) if weight >= 0.0 && weight.is_finite() => Ok(weight),
        _ => {
            let id = crate::value::write::to_string(call.drawing.edge_id(edge));
            let message = format!("the weight of edge {id} is not a nonnegative number");
            Err(Error::new(Code::BadWeight, message).with_help("set a default: `coalesce(.length, 1)`"))
        }
    }
}

/// Returns nodes, edges and length of a route.
fn route_fields<'a>(subgraph: &ReachableSubgraph, route: &Route) -> [Datum<'a>; 3] {
    let nodes = route.indices(subgraph).iter().map(|index| subgraph.nodes[*index as usize]).collect();
    [Datum::Nodes(nodes), Datum::Edges(edges_of(subgraph, route).collect()), Datum::count(route.arcs.len())]
}

fn edges_of(subgraph: &ReachableSubgraph, route: &Route) -> impl Iterator<Item = EdgeId> {
    route.arcs.iter().map(|arc| subgraph.arc(*arc as usize).1).filter(|edge| *edge != NONE)
}

/// Returns the row limit of a function, and whether it truncates instead of failing.
fn row_limit<'a>(cx: &mut EvalContext<'a>, call: &GraphCall<'a>, default: usize) -> Result<(usize, bool)> {
    let limit = call.number(cx, &LIMIT)?.unwrap_or(default).min(cx.limits().rows);
    let truncates = call.keyword(cx, &ON_LIMIT)? == Some(1);
    Ok((limit, truncates))
}

/// Truncates results that exceed the limit and warns, or fails.
fn truncate_rows<T>(
    cx: &mut EvalContext<'_>,
    mut found: Vec<T>,
    items: &'static str,
    (limit, truncates): (usize, bool),
) -> Result<Vec<T>> {
    if found.len() <= limit {
        return Ok(found);
    }
    if !truncates {
        let error = too_many(cx, items, limit);
        let help = error.help().map(|help| format!("{help}, or truncate the result: `{{onLimit: \"truncate\"}}`"));
        return Err(error.with_help(help.unwrap_or_default()));
    }
    cx.warn_truncated(limit, items)?;
    found.truncate(limit);
    Ok(found)
}

fn paths<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let call = GraphCall::new(cx, input, args)?;
    let (subgraph, targets) = target_subgraph(cx, &call)?;
    let limit = row_limit(cx, &call, cx.limits().paths.min(100))?;
    let depth = call.number(cx, &DEPTH)?;
    cx.charge(subgraph.arc_count() as u64)?;
    let kept = subgraph.can_reach(&targets);
    let reached = subgraph.nodes.clone();
    let subgraph = subgraph.retain(&kept);
    let targets: Vec<bool> = targets.iter().zip(&kept).filter(|(_, kept)| **kept).map(|(target, _)| *target).collect();
    let walk_options = call.walk_options(cx, Direction::Down, EquipmentPolicy::Any)?;
    let max_edges = depth.unwrap_or(MAX_PATH_EDGES);
    let mut reserved = 0;
    let mut charge = |units, bytes| charge_and_reserve(cx, &mut reserved, units, bytes);
    let routes::FoundRoutes { routes: found, has_longer } =
        routes::routes(&subgraph, &targets, limit.0.saturating_add(1), max_edges, &mut charge)?;
    if found.is_empty() {
        check_depth(cx, &walk_options, subgraph.depth)?;
    }
    let found = truncate_rows(cx, found, "paths", limit)?;
    if has_longer && depth.is_none() {
        longer_paths_omitted(cx, limit.1)?;
    }
    call.warn_assumed(cx, &walk_options, found.iter().flat_map(|route| edges_of(&subgraph, route)))?;
    call.warn_unstated_sides(cx, &walk_options, &[], &reached)?;
    warn_absences_on(cx, &call, &subgraph, &found)?;
    let rows = found.into_iter().map(|route| route_fields(&subgraph, &route).into()).collect();
    let list = to_value(cx, &call.drawing, Datum::Table(&ROUTE[..3], rows))?;
    cx.release(reserved);
    Ok(list)
}

/// Charges for the edges followed, and reserves the memory of results until they have become a value.
fn charge_and_reserve(cx: &mut EvalContext<'_>, reserved: &mut usize, units: u64, bytes: usize) -> Result<()> {
    if bytes > 0 {
        *reserved += bytes;
        cx.reserve(bytes)?;
    }
    cx.charge(units)
}

/// Limit of edges on a path unless `depth` sets another.
const MAX_PATH_EDGES: usize = 200;

/// Warns or fails because longer paths exist and `depth` was not set.
fn longer_paths_omitted(cx: &mut EvalContext<'_>, truncates: bool) -> Result<()> {
    if truncates {
        return cx.warn_truncated(MAX_PATH_EDGES, "edges on a path");
    }
    let error = Error::new(Code::TooManyRows, format!("there are paths with more than {MAX_PATH_EDGES} edges"));
    Err(error.with_limit("depth", MAX_PATH_EDGES as u64).with_help("set their maximum length: `{depth: 500}`"))
}

fn find_cycles<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let call = GraphCall::new(cx, input, args)?;
    let walk_options = call.walk_options(cx, Direction::Down, EquipmentPolicy::Any)?;
    let limit = row_limit(cx, &call, cx.limits().paths)?;
    let depth = call.number(cx, &DEPTH)?.unwrap_or(usize::MAX);
    let topology = &call.drawing.topology;
    let table = topology.table(walk_options.edges, Direction::Down);
    let starts: Vec<NodeId> = (0..topology.node_count() as u32).filter(|node| table.degree(*node) > 0).collect();
    let walk_options = WalkOptions { depth: u32::MAX, ..walk_options };
    let subgraph = walk::reachable_subgraph(topology, &starts, &[], &walk_options, &mut call.visitor(cx)?)?;
    let mut reserved = 0;
    let mut charge = |units, bytes| charge_and_reserve(cx, &mut reserved, units, bytes);
    let found = cycles::cycles(&subgraph, limit.0.saturating_add(1), depth, &mut charge)?;
    let found = truncate_rows(cx, found, "cycles", limit)?;
    let cycle_edges = || found.iter().flat_map(|cycle| cycle.edges.iter().copied());
    call.warn_assumed(cx, &walk_options, cycle_edges())?;
    let cycle_nodes = found.iter().flat_map(|cycle| cycle.indices.iter().map(|index| subgraph.nodes[*index as usize]));
    call.warn_absences(cx, cycle_nodes, cycle_edges())?;
    let rows = found.into_iter().map(|cycle| cycle_fields(&subgraph, cycle)).collect();
    let list = to_value(cx, &call.drawing, Datum::Table(&ROUTE[..3], rows))?;
    cx.release(reserved);
    Ok(list)
}

/// Returns a circuit, starting at the node that is first in the document.
fn cycle_fields<'a>(subgraph: &ReachableSubgraph, cycle: cycles::Cycle) -> Vec<Datum<'a>> {
    let mut nodes: Vec<NodeId> = cycle.indices.iter().map(|index| subgraph.nodes[*index as usize]).collect();
    let mut edges = cycle.edges;
    let first = (0..nodes.len()).min_by_key(|at| nodes[*at]).unwrap_or(0);
    nodes.rotate_left(first);
    edges.rotate_left(first);
    edges.retain(|edge| *edge != NONE);
    let length = Datum::count(nodes.len());
    vec![Datum::Nodes(nodes), Datum::Edges(edges), length]
}

fn components<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let call = GraphCall::new(cx, input, args)?;
    let strong = call.flag(cx, &STRONG)? == Some(true);
    let zones = call.flag(cx, &ZONES)? != Some(false);
    let mask = NodeMask::new(cx, &call)?;
    let (components, cycle_edges) = if strong {
        strong_components(cx, &call, &mask)?
    } else {
        (connected_components(cx, &call, &mask, zones)?, Vec::new())
    };
    let list = component_list(cx, &call.drawing, &components)?;
    let flow_options =
        WalkOptions { edges: EdgeFilter::Flow, dir: Direction::Down, pass: EquipmentPolicy::Zone, depth: 0 };
    call.warn_assumed(cx, &flow_options, cycle_edges)?;
    let topology = &call.drawing.topology;
    let in_piping = |node: &NodeId| topology.flow_degree(*node) > 0 && mask.contains(*node);
    let pipes = topology.edges_of(EdgeFlags::FLOW);
    let pipes = pipes.filter(|pipe| topology.flow_ends(*pipe).into_iter().all(|end| end == NONE || mask.contains(end)));
    call.warn_absences(cx, (0..topology.node_count() as u32).filter(in_piping), pipes)?;
    Ok(list)
}

/// Returns the nodes of each component as an array of arrays.
fn component_list<'a>(cx: &mut EvalContext<'a>, drawing: &Drawing<'a>, components: &Components) -> Result<Value<'a>> {
    let members = cx.row_buffer(components.labels().len())?;
    let ends = components.group_members(members);
    let members: &'a [NodeId] = members;
    cx.charge(ends.last().map_or(0, |end| u64::from(*end)))?;
    let mut start = 0;
    let components = ends.iter().map(|end| &members[std::mem::replace(&mut start, *end as usize)..*end as usize]);
    match drawing.nodes.0 {
        Items::Stored(arena, base) => cx.lists_of_rows(arena, base, components),
        _ => {
            let base = cx.mark();
            for component in components {
                let component = select(cx, drawing.nodes, component)?;
                cx.push(component)?;
            }
            cx.collect_list(base)
        }
    }
}

/// Nodes selected by the option `nodes`: all if it is missing.
struct NodeMask(Option<Vec<bool>>);

impl NodeMask {
    fn new<'a>(cx: &mut EvalContext<'a>, call: &GraphCall<'a>) -> Result<NodeMask> {
        let Some(condition) = call.option("nodes") else { return Ok(NodeMask(None)) };
        let count = call.drawing.topology.node_count();
        let mut mask = Vec::with_capacity(count);
        for node in 0..count as u32 {
            cx.charge(1)?;
            mask.push(cx.eval(condition, call.drawing.node(node))?.is_truthy());
        }
        Ok(NodeMask(Some(mask)))
    }

    fn contains(&self, node: NodeId) -> bool {
        self.0.as_ref().is_none_or(|mask| mask[node as usize])
    }

    /// Returns the components of the selected nodes, from the labels of all nodes.
    fn components(&self, labels: impl Iterator<Item = u32>) -> Components {
        let selected_labels = labels.zip(0..).map(|(label, node)| if self.contains(node) { label } else { NONE });
        let selected_labels: Vec<u32> = selected_labels.collect();
        let count = selected_labels.len();
        Components::from_labels(selected_labels, count, |label| label)
    }
}

/// Returns the connected components by the option `edges`, or by flow and ports.
fn connected_components<'a>(
    cx: &mut EvalContext<'a>,
    call: &GraphCall<'a>,
    mask: &NodeMask,
    zones: bool,
) -> Result<Components> {
    let topology = &call.drawing.topology;
    let mut unions = UnionFind::new(topology.node_count());
    cx.charge((topology.edge_count() + topology.node_count()) as u64)?;
    match call.option("edges") {
        Some(condition) => join_edges(cx, call, mask, condition, &mut unions)?,
        None => {
            join_flow(topology, mask, &mut unions);
            join_ports(cx, topology, mask, zones, &mut unions)?;
        }
    }
    let components = unions.into_components();
    Ok(if mask.0.is_none() { components } else { mask.components(components.labels().iter().copied()) })
}

fn join_edges<'a>(
    cx: &mut EvalContext<'a>,
    call: &GraphCall<'a>,
    mask: &NodeMask,
    condition: &'a Plan,
    unions: &mut UnionFind,
) -> Result<()> {
    let topology = &call.drawing.topology;
    for edge in (0..topology.edge_count() as u32).filter(|edge| topology.has_both_ends(*edge)) {
        let [from, to] = topology.ends[edge as usize];
        if mask.contains(from) && mask.contains(to) && cx.eval(condition, call.drawing.edge(edge))?.is_truthy() {
            unions.join(from, to);
        }
    }
    Ok(())
}

/// Hot: one pass over all edges.
fn join_flow(topology: &Topology, mask: &NodeMask, unions: &mut UnionFind) {
    for (ends, flags) in topology.ends.iter().zip(&topology.edge_flags) {
        if flags.contains(EdgeFlags::FLOW) && !ends.contains(&NONE) && mask.contains(ends[0]) && mask.contains(ends[1])
        {
            unions.join(ends[0], ends[1]);
        }
    }
}

/// Joins the ports of one side of equipment; the equipment joins the first of them, or the unnamed side if pipes are
/// drawn to it.
fn join_ports(
    cx: &mut EvalContext<'_>,
    topology: &Topology,
    mask: &NodeMask,
    zones: bool,
    unions: &mut UnionFind,
) -> Result<()> {
    let nodes = (0..topology.node_count() as u32).filter(|node| mask.contains(*node));
    if topology.ports.arc_count() == 0 {
        return cx.charge(nodes.count() as u64);
    }
    let mut sides: hashbrown::HashMap<(NodeId, u32), NodeId> = hashbrown::HashMap::new();
    for port in nodes {
        cx.charge(1)?;
        let Some(owner) = topology.owner(port) else { continue };
        let zone = if zones { topology.zone(port) } else { NONE };
        let is_own_side = match topology.flow_degree(owner) {
            0 => topology.ports.nodes(owner).first() == Some(&port),
            _ => zone == NONE,
        };
        let first = *sides.entry((owner, zone)).or_insert(port);
        unions.join(first, port);
        if mask.contains(owner) && (is_own_side || !zones) {
            unions.join(owner, port);
        }
    }
    Ok(())
}

/// Returns the strongly connected components along the flow, and the edges on cycles.
fn strong_components<'a>(
    cx: &mut EvalContext<'a>,
    call: &GraphCall<'a>,
    mask: &NodeMask,
) -> Result<(Components, Vec<EdgeId>)> {
    let topology = &call.drawing.topology;
    let is_unrestricted = call.option("edges").is_none() && mask.0.is_none() && topology.ports.arc_count() == 0;
    if is_unrestricted {
        let components =
            strongly_connected(topology.table(EdgeFilter::Flow, Direction::Down), |units| cx.charge(units))?;
        // An edge followed in both directions is a cycle by itself.
        let cycle_edges = topology.undirected.iter().copied().filter(|edge| topology.has_both_ends(*edge));
        return Ok((components, cycle_edges.collect()));
    }
    let walk_options = call.walk_options(cx, Direction::Down, EquipmentPolicy::Zone)?;
    let starts: Vec<NodeId> = (0..topology.node_count() as u32).filter(|node| mask.contains(*node)).collect();
    let subgraph = walk::reachable_subgraph(topology, &starts, &[], &walk_options, &mut call.visitor(cx)?)?;
    let mut allowed: Vec<bool> = subgraph.nodes.iter().map(|node| mask.contains(*node)).collect();
    allowed[..subgraph.starts].fill(true);
    let subgraph = subgraph.retain(&allowed);
    let components = strongly_connected(&subgraph, |units| cx.charge(units))?;
    let first_members = components.smallest_members();
    let mut labels: Vec<u32> = (0..topology.node_count() as u32).collect();
    for (index, component) in components.labels().iter().enumerate() {
        labels[subgraph.nodes[index] as usize] = subgraph.nodes[first_members[*component as usize] as usize];
    }
    let cycle_edges = if !topology.undirected.is_empty() {
        subgraph.inner_edges(|from, to| components.labels()[from] == components.labels()[to]).collect()
    } else {
        Vec::new()
    };
    Ok((mask.components(labels.into_iter()), cycle_edges))
}

fn subgraph<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let call = GraphCall::new(cx, input, args)?;
    let is_piped = is_node_value(&call.drawing, input);
    let from = call.nodes(cx, (!is_piped).then_some(0))?;
    let condition = call.option("edges").or_else(|| call.arg_plan(0).filter(|_| is_piped));
    let mut nodes = match call.number(cx, &HOPS)? {
        None => from.to_vec(),
        Some(hops) => {
            let walk_options = call.walk_options(cx, Direction::Both, EquipmentPolicy::Any)?;
            let walk_options =
                WalkOptions { depth: walk_options.depth.min(hops.min(u32::MAX as usize) as u32), ..walk_options };
            let (found, _) = expand_nodes(cx, &call, &from, &walk_options)?;
            let nodes = found.to_vec();
            cx.recycle_nodes(found);
            nodes
        }
    };
    extract::add_item_ports(&call.drawing, &mut nodes);
    let induced = extract::induced(&call.drawing, &nodes, &mut |units| cx.charge(units))?;
    let mut edges = Vec::with_capacity(induced.len());
    for edge in induced {
        if edge_condition_holds(cx, &call.drawing, condition, edge)? {
            edges.push(edge);
        }
    }
    let graph = extract::graph(&call.drawing, nodes, edges);
    to_value(cx, &call.drawing, graph)
}

/// Returns whether a value is a node, or an array that starts with one.
fn is_node_value<'a>(drawing: &Drawing<'a>, value: Value<'a>) -> bool {
    match value {
        Value::Array(items) => items.get(0).is_none_or(|item| is_node_like(drawing, item)),
        value => is_node_like(drawing, value),
    }
}

fn is_node_like<'a>(drawing: &Drawing<'a>, value: Value<'a>) -> bool {
    match value {
        Value::Object(_) => {
            drawing.node_of(value).is_some()
                || drawing
                    .by_id(drawing.field(value, crate::graph::config::Names::NodeId).unwrap_or(Value::Null))
                    .is_some()
        }
        Value::String(_) | Value::Number(_) => true,
        _ => false,
    }
}

fn run<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let call = GraphCall::new(cx, input, args)?;
    let line = if call.arg_count() > 0 { call.value(cx, 0)? } else { input };
    if line.is_null() {
        return node_of(cx, &call.drawing, line).map(|_| Value::Null);
    }
    // A line has one number, even if it is drawn on several sheets.
    let line = pipe_lines::line_number(&call.drawing, line).map_or(line, Value::String);
    let edges = match line {
        Value::String(_) | Value::Number(_) => {
            pipe_lines::edges_with_line(&call.drawing, line, &mut |units| cx.charge(units))?
        }
        _ => Vec::new(),
    };
    let nodes = if edges.is_empty() {
        let node = node_of(cx, &call.drawing, line)?;
        pipe_lines::flow_run(&call.drawing, node, &mut |units| cx.charge(units))?
    } else {
        pipe_lines::flow_order(&call.drawing, &edges, &[], &mut |units| cx.charge(units))?
    };
    node_list(cx, &call.drawing, &nodes)
}

fn find_pattern<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let call = GraphCall::new(cx, input, args)?;
    let text = expect_text(call.value(cx, 0)?)?;
    cx.charge_bytes(text.len())?;
    let pattern = Pattern::parse(text)?;
    let limit = row_limit(cx, &call, cx.limits().rows)?;
    let names = names_of(cx, &pattern)?;
    let mut search = PatternSearch::new(&pattern, &call.drawing);
    let mut found = Vec::new();
    let keys = cx.intern_keys(&names)?;
    let mut assumed: Vec<EdgeId> = Vec::new();
    let absences = call.absences(cx)?;
    let (mut absent_nodes, mut absent_pipes) = (BTreeSet::new(), BTreeSet::new());
    while let Some(found_match) = search.next(&mut |units| cx.charge(units))? {
        let base = cx.mark();
        bind(cx, &call.drawing, &pattern, &found_match, &names)?;
        let binding = cx.collect_object(keys, base)?;
        let is_match = call.arg_plan(1).map_or(Ok(true), |plan| Ok(cx.eval(plan, binding)?.is_truthy()))?;
        if is_match {
            found.push(binding);
            assumed.extend(pattern.directed(&found_match).filter(|edge| call.drawing.topology.is_assumed(*edge)));
            absent_nodes.extend(found_match.nodes.iter().filter(|node| absences.contains_node(**node)));
            absent_pipes.extend(found_match.edges.iter().flatten().filter(|pipe| absences.contains_pipe(**pipe)));
        }
        if found.len() > limit.0 {
            break;
        }
    }
    let found = truncate_rows(cx, found, "matches", limit)?;
    cx.warn_assumed_directions(assumed.into_iter(), |edge| call.drawing.edge_id(edge))?;
    call.warn_absences(cx, absent_nodes, absent_pipes)?;
    values(cx, found.into_iter())
}

/// Returns the names of a pattern, each once, in order of appearance.
fn names_of<'a>(cx: &mut EvalContext<'a>, pattern: &Pattern) -> Result<Vec<&'a str>> {
    let mut names: Vec<&'a str> = Vec::new();
    for at in 0..pattern.nodes.len() {
        let edge = pattern.edges.get(at).and_then(|edge| edge.name.as_ref());
        for name in [pattern.nodes[at].name.as_ref(), edge].into_iter().flatten() {
            if !names.contains(&name.as_str()) {
                names.push(cx.build_text(|out| std::fmt::Write::write_str(out, name))?);
            }
        }
    }
    Ok(names)
}

/// Collects the bindings of the names of a pattern.
fn bind<'a>(
    cx: &mut EvalContext<'a>,
    drawing: &Drawing<'a>,
    pattern: &Pattern,
    found_match: &Match,
    names: &[&str],
) -> Result<()> {
    for name in names {
        let is_match = |other: &Option<String>| other.as_deref() == Some(name);
        if let Some(at) = pattern.nodes.iter().position(|node| is_match(&node.name)) {
            cx.push(drawing.node(found_match.nodes[at]))?;
        } else if let Some(at) = pattern.edges.iter().position(|edge| is_match(&edge.name)) {
            let value = match (pattern.edges[at].is_list, found_match.edges[at].as_slice()) {
                (false, [edge]) => drawing.edge(*edge),
                (_, edges) => edge_list(cx, drawing, edges)?,
            };
            cx.push(value)?;
        }
    }
    Ok(())
}

fn with_graph<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let value = args.first().map_or(Ok(Value::Undefined), |arg| cx.eval(arg, input))?;
    let (drawing, reserved) = load_drawing(cx, value)?;
    let result = args.get(1).map_or(Ok(Value::Undefined), |query| cx.eval_on_drawing(drawing, query, value));
    cx.release(reserved);
    result
}

/// Loads the drawing of a value: a document, or the object with nodes and edges. Returns the reserved bytes, to be
/// released by the caller.
pub(super) fn load_drawing<'a>(cx: &mut EvalContext<'a>, value: Value<'a>) -> Result<(Drawing<'a>, usize)> {
    let none = || Error::new(Code::NoGraph, format!("no graph in the given {}", value.type_name()));
    let drawing = Drawing::from_value(value, cx.topology_config(), cx.limits())?.ok_or_else(none)?;
    let reserved = charge_network(cx, &drawing)?;
    Ok((drawing, reserved))
}

/// Charges for a network that a run has built, and reserves its memory.
fn charge_network(cx: &mut EvalContext<'_>, drawing: &Drawing<'_>) -> Result<usize> {
    let topology = &drawing.topology;
    // The drawing's own names and rules were parsed and compiled.
    const OWN_CONFIG: u64 = 10_000;
    let config = if topology.has_own_config() { OWN_CONFIG } else { 0 };
    cx.charge((topology.node_count() + topology.edge_count()) as u64 + config + drawing.oversize_fuel())?;
    let reserved = topology.size();
    cx.reserve(reserved)?;
    Ok(reserved)
}

fn with_topology<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let changes = args.first().map_or(Ok(Value::Undefined), |arg| cx.eval(arg, input))?;
    let outer = cx.drawing()?;
    // All names and rules are copied, even if the changes are invalid.
    const COPY_COST: u64 = 1_000;
    cx.charge(COPY_COST)?;
    let mut config = TopologyConfig::clone(&outer.topology.config);
    if let Some(problem) = config.apply(changes).first() {
        return Err(Error::new(Code::BadOption, format!("the topology has {problem}")));
    }
    let drawing = Drawing::with_config(&outer, cx.root(), config, cx.limits())?;
    let reserved = charge_network(cx, &drawing)?;
    let result = args.get(1).map_or(Ok(Value::Undefined), |query| cx.eval_on_drawing(drawing, query, input));
    cx.release(reserved);
    result
}
