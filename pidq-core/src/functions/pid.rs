//! Functions for engineers: isolation, ends, lists, loops, checks and comparisons.
//!
//! All of them give candidates that are read off the drawing. None says that something is safe.

use super::ask::{Ask, answer, bad_option, nodes_of};
use super::graph::between_nodes;
use crate::error::Result;
use crate::eval::Cx;
use crate::eval::function::{Body, Function, Param};
use crate::eval::plan::Plan;
use crate::graph::adjacency::NodeId;
use crate::graph::plant::Plant;
use crate::graph::walk::{Guide, Pass};
use crate::pid::isolate::{Terms, isolate};
use crate::pid::sections::{self, Cuts};
use crate::pid::{Datum, Pay, ends, extract, flow, info};
use crate::value::Value;

pub(crate) const FUNCTIONS: &[Function] = &[
    Function {
        name: "bleeds",
        params: &[Param::query("items").optional()],
        summary: "The valves around an item that lead to nothing: candidates for draining and venting it.",
        example: r#"bleeds("P-101A") => []"#,
        body: Body::Piped(bleeds),
    },
    Function {
        name: "boundary",
        params: &[Param::query("inside"), Param::query("stops")],
        summary: "What is reached from some items without going beyond stops: `{inside, boundary, unused, leaks}`.",
        example: r#"boundary("P-101A", ["HV-101", "HV-102"]) | .inside | map(.tag) => ["P-101A","CV-101"]"#,
        body: Body::Piped(boundary),
    },
    Function {
        name: "bypasses",
        params: &[Param::query("items").optional()],
        summary: "The ways around an item, from what feeds it to what it feeds, with the valves on them.",
        example: r#"bypasses("FV-101") => []"#,
        body: Body::Piped(|cx, input, args| {
            let (ask, items) = about(cx, input, args)?;
            let found = sections::bypasses(&ask.plant, &items, &mut |units| cx.spend(units))?;
            answer(cx, &ask.plant, found)
        }),
    },
    Function {
        name: "cutPoints",
        params: &[],
        summary: "The items without which a connected part of the plant would fall apart.",
        example: r#"cutPoints() | map(.tag) => ["E-101","V-201","PSV-201","HV-201"]"#,
        body: Body::Piped(|cx, _, _| whole(cx, sections::cut_points)),
    },
    Function {
        name: "deadEnds",
        params: &[],
        summary: "The branches that reach no equipment, no junction and no other sheet, with what they look like.",
        example: "deadEnds() | size() => 0",
        body: Body::Piped(|cx, input, _| dead_ends(cx, input, |_| true)),
    },
    Function {
        name: "drains",
        params: &[],
        summary: "The dead ends that may be drains; a drain and a vent look alike unless a word tells them apart.",
        example: "drains() | size() => 0",
        body: Body::Piped(|cx, input, _| dead_ends(cx, input, |class| matches!(class, "drain" | "drain_or_vent"))),
    },
    Function {
        name: "equipmentGraph",
        params: &[],
        summary: "Equipment and the ends of the sheet, joined by what lies between: a graph of its own.",
        example: "equipmentGraph() | .edges | first() | [.from, .to, .lines] => [\"n1\",\"n3\",[\"P-1001\"]]",
        body: Body::Piped(|cx, _, _| whole(cx, sections::equipment_graph)),
    },
    Function {
        name: "graphInfo",
        params: &[],
        summary: "What the document was found to be: counts, names and words met, and what they were taken for.",
        example: "graphInfo() | [.nodes, .edges, .endpoints] => [25,34,[\"source → target\"]]",
        body: Body::Piped(|cx, _, _| whole(cx, info::info)),
    },
    Function {
        name: "group",
        params: &[Param::query("group").optional()],
        summary: "The members of a line, a loop or another group, with the edges between them, as a graph of its own.",
        example: r#"group("F-101") | .nodes | map(.tag) => ["FV-101","FT-101","FIC-101","F-101"]"#,
        body: Body::Piped(group),
    },
    Function {
        name: "hazopNodes",
        params: &[Param::options(&["cut", "merge"])],
        summary: "A proposal for the sections of a hazard review: the piping between major equipment.",
        example: "hazopNodes() | map(.section) | size() => 6",
        body: Body::Piped(hazop_nodes),
    },
    Function {
        name: "isolate",
        params: &[
            Param::query("items").optional(),
            Param::options(&[
                "acceptConditional",
                "acceptOneWay",
                "acceptRelief",
                "pass",
                "depth",
                "barriers",
                "scope",
            ]),
        ],
        summary: "Candidate points on the drawing that separate an item from the rest, and the branches that stay open.",
        example: r#"isolate("P-101A") | [.barriers | map(.node.tag), .complete] => [["HV-101","HV-102"],true]"#,
        body: Body::Piped(isolation),
    },
    Function {
        name: "recycles",
        params: &[],
        summary: "The parts in which something flows in circles: their equipment, their items, the edges that lead back.",
        example: "recycles() | map(.returns | map(.id)) => [[\"e17\"]]",
        body: Body::Piped(|cx, _, _| whole(cx, sections::recycles)),
    },
    Function {
        name: "section",
        params: &[Param::query("from"), Param::query("to").optional()],
        summary: "What lies between some nodes and others, with the edges between, as a graph of its own.",
        example: r#"section("P-101A", "HV-102") | .edges | map(.id) => ["e4","e6"]"#,
        body: Body::Piped(section),
    },
    Function {
        name: "vents",
        params: &[],
        summary: "The dead ends that may be vents; a drain and a vent look alike unless a word tells them apart.",
        example: "vents() | size() => 0",
        body: Body::Piped(|cx, input, _| dead_ends(cx, input, |class| matches!(class, "vent" | "drain_or_vent"))),
    },
];

/// A question about the whole drawing.
fn whole<'a>(cx: &mut Cx<'a>, question: fn(&Plant<'a>, Pay<'_>) -> Result<Datum<'a>>) -> Result<Value<'a>> {
    let plant = cx.plant()?;
    let found = question(&plant, &mut |units| cx.spend(units))?;
    answer(cx, &plant, found)
}

/// A call and the nodes that it is about.
fn about<'a>(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<(Ask<'a>, Vec<NodeId>)> {
    let ask = Ask::new(cx, input, args)?;
    let nodes = subject(cx, &ask)?;
    Ok((ask, nodes))
}

fn boundary<'a>(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let ask = Ask::new(cx, input, args)?;
    let (inside, stops) = if ask.count() > 1 { (Some(0), 1) } else { (None, 0) };
    let (inside, stops) = (ask.nodes(cx, inside)?, ask.nodes(cx, Some(stops))?);
    let found = sections::boundary(&ask.plant, &inside, &stops, &mut |units| cx.spend(units))?;
    answer(cx, &ask.plant, found)
}

/// The bleeds that the isolation of an item would meet.
fn bleeds<'a>(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let (ask, items) = about(cx, input, args)?;
    let found = isolate(&ask.plant, &items, Terms::default(), &mut Barriers { cx, ask: &ask, condition: None })?;
    match found.field("bleeds") {
        Some(bleeds) => answer(cx, &ask.plant, bleeds),
        None => Ok(Value::Null),
    }
}

fn section<'a>(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let ask = Ask::new(cx, input, args)?;
    let nodes = between_nodes(cx, &ask)?;
    as_graph(cx, &ask, nodes)
}

fn group<'a>(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let (ask, groups) = about(cx, input, args)?;
    let mut nodes = groups.clone();
    for group in groups {
        nodes.extend(flow::members(&ask.plant, group, &mut |units| cx.spend(units))?);
    }
    as_graph(cx, &ask, nodes)
}

fn as_graph<'a>(cx: &mut Cx<'a>, ask: &Ask<'a>, nodes: Vec<NodeId>) -> Result<Value<'a>> {
    let edges = extract::induced(&ask.plant, &nodes, &mut |units| cx.spend(units))?;
    let graph = extract::graph(&ask.plant, nodes, edges);
    answer(cx, &ask.plant, graph)
}

fn hazop_nodes<'a>(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let ask = Ask::new(cx, input, args)?;
    let mut cuts = Cuts::default();
    let words = match ask.option_value(cx, "cut")? {
        Value::Array(words) => words.iter().collect(),
        Value::Undefined | Value::Null => Vec::new(),
        word => vec![word],
    };
    for word in words {
        match word.as_str() {
            Some("control") => cuts.control = true,
            Some("size") => cuts.size = true,
            Some("class") => cuts.piping_class = true,
            Some("fluid") => cuts.fluid = true,
            _ => return Err(bad_option("cut", word, r#""control", "size", "class" or "fluid""#)),
        }
    }
    let plant = &ask.plant;
    let merges = ask.flag(cx, "merge")?;
    let is_minor = |node: NodeId| merges && sections::is_minor(plant, node);
    let found = sections::review_sections(plant, cuts, &is_minor, &mut |units| cx.spend(units))?;
    answer(cx, plant, found)
}

/// The nodes that the first argument names, or the piped ones.
fn subject<'a>(cx: &mut Cx<'a>, ask: &Ask<'a>) -> Result<Vec<NodeId>> {
    let value = if ask.count() > 0 { ask.value(cx, 0)? } else { ask.input };
    nodes_of(cx, &ask.plant, value)
}

fn isolation<'a>(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    const PASSES: [Pass; 3] = [Pass::None, Pass::Zone, Pass::Any];
    let ask = Ask::new(cx, input, args)?;
    let targets = subject(cx, &ask)?;
    let terms = Terms {
        accept_conditional: ask.flag(cx, "acceptConditional")?,
        accept_one_way: ask.flag(cx, "acceptOneWay")?,
        accept_relief: ask.flag(cx, "acceptRelief")?,
        pass: ask.word(cx, "pass", &["none", "zone", "any"])?.map_or(Pass::None, |at| PASSES[at]),
        depth: ask.number(cx, "depth")?.unwrap_or(200) as u32,
        grows: ask.word(cx, "scope", &["item", "grow"])? == Some(1),
    };
    let condition = ask.option("barriers");
    let found = isolate(&ask.plant, &targets, terms, &mut Barriers { cx, ask: &ask, condition })?;
    answer(cx, &ask.plant, found)
}

/// Asks the option `barriers` which nodes are barriers.
struct Barriers<'c, 'a> {
    cx: &'c mut Cx<'a>,
    ask: &'c Ask<'a>,
    condition: Option<&'a Plan>,
}

impl Guide for Barriers<'_, '_> {
    fn pay(&mut self, units: u64) -> Result<()> {
        self.cx.spend(units)
    }

    fn ends_at(&mut self, node: NodeId) -> Result<bool> {
        let Some(condition) = self.condition else { return Ok(false) };
        Ok(self.cx.eval(condition, self.ask.plant.node(node))?.is_truthy())
    }
}

fn dead_ends<'a>(cx: &mut Cx<'a>, input: Value<'a>, keeps: fn(&str) -> bool) -> Result<Value<'a>> {
    let ask = Ask::new(cx, input, &[])?;
    let found = ends::dead_ends(&ask.plant, &mut |units| cx.spend(units))?;
    answer(cx, &ask.plant, ends::rows(&found, |end| keeps(end.class)))
}
