//! Functions for engineers: isolation, ends, lists, loops, checks and comparisons.
//!
//! All of them give candidates that are read off the drawing. None says that something is safe.

use super::ask::{Ask, DEPTH, Named, PASS, PASSES, answer, build};
use super::graph::{between_nodes, drawing};
use super::string::expect_text;
use crate::error::{Code, Error, Result};
use crate::eval::Cx;
use crate::eval::function::{Body, Function, Param};
use crate::eval::plan::Plan;
use crate::eval::setting::{Setting, bad_option};
use crate::graph::adjacency::NodeId;
use crate::graph::plant::Plant;
use crate::graph::topology::Link;
use crate::graph::walk::{Guide, Pass};
use crate::pid::checks::{self, Severity};
use crate::pid::diff::{self, DiffOptions};
use crate::pid::isolate::{Terms, isolate};
use crate::pid::join::{self, JoinBy};
use crate::pid::sections::{self, Cuts};
use crate::pid::tag::{self, Tag};
use crate::pid::{Datum, Pay, Purse, ends, extract, flow, info, lists, loops, places};
use crate::value::Value;

const ACCEPT_CONDITIONAL: Setting = Setting::flag("acceptConditional");
const ACCEPT_ONE_WAY: Setting = Setting::flag("acceptOneWay");
const ACCEPT_RELIEF: Setting = Setting::flag("acceptRelief");
const ATTRIBUTE: Setting = Setting::text("attribute");
const ATTRIBUTES: &[Param] = &[Param::setting(&ATTRIBUTE).many()];
const BARRIERS: Setting = Setting::query("barriers");
const BY: Setting = Setting::word("by", &["any", "link", "label"]);
const BY_FIELD: Setting = Setting::text("by");
const CUT: Setting =
    Setting::texts("cut", |word| cut_at(&mut Cuts::default(), word), r#""control", "size", "class" or "fluid""#);
const DISTANCE: Setting = Setting::amount("distance");
const FIELD: Setting = Setting::text("field");
const IDENTITY: Setting = Setting::word("identity", IDENTITIES);
const IGNORE: Setting = Setting::texts("ignore", |_| true, "the name of a field, or a list of names");
const MERGE: Setting = Setting::flag("merge");
const RULES: Setting = Setting::texts("rules", checks::is_wish, "the code of a rule, or its beginning");
const SCOPE: Setting = Setting::word("scope", &["item", "grow"]);
const SEVERITY: Setting = Setting::word("severity", &Severity::WORDS);
const TOLERANCE: Setting = Setting::number("tolerance");

const IDENTITIES: &[&str] = &["persistent_id", "id", "tag"];

pub(crate) const FUNCTIONS: &[Function] = &[
    Function {
        name: "at",
        params: &[Param::query("x"), Param::query("y")],
        summary: "The nodes whose box holds a point of the drawing.",
        example: r#"at(150, 100) | map(.tag) => ["P-101A"]"#,
        body: Body::Piped(|cx, input, args| placed(cx, input, args, places::at)),
    },
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
        name: "breaks",
        params: &[Param::setting(&FIELD)],
        summary: "The items at which the pipes carry different values of a field, and whether they are there to change it.",
        example: r#"breaks("size") | filter(not(.legal)) | map(.item.tag) => ["HV-102","HV-103"]"#,
        body: Body::Piped(breaks),
    },
    Function {
        name: "bypasses",
        params: &[Param::query("items").optional()],
        summary: "The ways around an item, from where its line branches before it to where it branches after it.",
        example: r#"bypasses("FV-101") => []"#,
        body: Body::Piped(|cx, input, args| {
            let (ask, items) = about(cx, input, args)?;
            let found = sections::bypasses(&ask.plant, &items, &mut |units| cx.spend(units))?;
            answer(cx, &ask.plant, found)
        }),
    },
    Function {
        name: "componentCount",
        params: &[Param::setting(&BY_FIELD).optional()],
        summary: "How many components there are under each class, or under each value of a field.",
        example: r#"componentCount("role").control => 2"#,
        body: Body::Piped(component_count),
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
        name: "diff",
        params: &[Param::query("old"), Param::query("new"), Param::options(&[IDENTITY, IGNORE, TOLERANCE])],
        summary: "What changed between two revisions of a drawing.",
        example: r#"diff({nodes: [{id: 1, a: 1}]}, {nodes: [{id: 1, a: 2}]}) | .changed => [{"id":1,"tag":null,"field":"a","before":1,"after":2}]"#,
        body: Body::Piped(difference),
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
        body: Body::Piped(|cx, _, _| equipment_graph(cx)),
    },
    Function {
        name: "equipmentList",
        params: ATTRIBUTES,
        summary: "One row for each item of equipment; more columns by name.",
        example: r#"equipmentList("material") | first() => {"id":"n1","tag":"T-101","class":"tank","nozzles":0,"lines":"P-1001, P-1007","material":"SS316"}"#,
        body: Body::Piped(|cx, input, args| listed(cx, input, args, &lists::EQUIPMENT)),
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
        params: &[Param::options(&[CUT, MERGE])],
        summary: "A proposal for the sections of a hazard review: the piping between major equipment.",
        example: "hazopNodes() | map(.section) | size() => 6",
        body: Body::Piped(hazop_nodes),
    },
    Function {
        name: "instrumentIndex",
        params: ATTRIBUTES,
        summary: "One row for each instrument: what it measures, its loop, what it is attached to.",
        example: r#"instrumentIndex() | map([.tag, .variable, .loop]) | first() => ["FT-101","flow","F-101"]"#,
        body: Body::Piped(|cx, input, args| listed(cx, input, args, &lists::INSTRUMENTS)),
    },
    Function {
        name: "isolate",
        params: &[
            Param::query("items").optional(),
            Param::options(&[ACCEPT_CONDITIONAL, ACCEPT_ONE_WAY, ACCEPT_RELIEF, PASS, DEPTH, BARRIERS, SCOPE]),
        ],
        summary: "Candidate points on the drawing that separate an item from the rest, and the branches that stay open.",
        example: r#"isolate("P-101A") | [.barriers | map(.node.tag), .complete] => [["HV-101","HV-102"],true]"#,
        body: Body::Piped(isolation),
    },
    Function {
        name: "joinSheets",
        params: &[Param::query("graphs"), Param::options(&[BY])],
        summary: "Several sheets as one graph, joined at their off-page connectors; `metadata.joined` says which were.",
        example: r#"joinSheets([graph()]) | .nodes | first() | .id => "PID-100-001#n1""#,
        body: Body::Piped(join_sheets),
    },
    Function {
        name: "lineList",
        params: &[],
        summary: "One row for each pipe line: fluid, class, sizes, from and to, pipes and components.",
        example: r#"lineList() | map([.line, .nominal_diameter, .from, .to]) | first() => ["P-1001","150",["T-101"],["P-101A","P-101B"]]"#,
        body: Body::Piped(|cx, _, _| whole(cx, lists::line_list)),
    },
    Function {
        name: "loop",
        params: &[Param::query("loop").optional()],
        summary: "A control loop, or the loop of an instrument: sensors, functions, signals, final elements.",
        example: r#"loop("FT-101") | [.loop, .closed, .final_elements | map(.tag)] => ["F-101",true,["FV-101"]]"#,
        body: Body::Piped(one_loop),
    },
    Function {
        name: "loops",
        params: &[],
        summary: "The control loops, and instruments without one by the letters and numbers of their tags.",
        example: r#"loops() | map([.loop, .closed]) => [["F-101",true],["T-101",false],["L-201",false]]"#,
        body: Body::Piped(|cx, _, _| {
            whole(cx, |plant, pay| {
                let found = loops::loops(plant, pay)?;
                loops::rows(plant, &found, pay)
            })
        }),
    },
    Function {
        name: "near",
        params: &[Param::query("item").optional(), Param::setting(&DISTANCE)],
        summary: "The nodes within a distance of a node on its sheet, nearest first.",
        example: r#"near("P-101A", 60) | map(.tag) => ["CV-101","P-101B"]"#,
        body: Body::Piped(near),
    },
    Function {
        name: "nozzleList",
        params: ATTRIBUTES,
        summary: "One row for each nozzle: its equipment, chamber, size, line and what it is connected to.",
        example: r#"nozzleList() => []"#,
        body: Body::Piped(|cx, input, args| listed(cx, input, args, &lists::NOZZLES)),
    },
    Function {
        name: "offPageList",
        params: ATTRIBUTES,
        summary: "One row for each connector to another sheet.",
        example: r#"offPageList() | map([.tag, .direction]) => [["FLARE","out"],["PROD","out"]]"#,
        body: Body::Piped(|cx, input, args| listed(cx, input, args, &lists::OFF_PAGE)),
    },
    Function {
        name: "openEnds",
        params: &[],
        summary: "The places where a line ends without an end: drawn open ends, and items with a free side.",
        example: r#"openEnds() => []"#,
        body: Body::Piped(|cx, _, _| whole(cx, checks::open_ends)),
    },
    Function {
        name: "parseTag",
        params: &[Param::query("tag").optional(), Param::query("scheme").optional()],
        summary: "The parts of a tag as ISA-5.1 has them; null for what is no tag.",
        example: r#"parseTag("20-PDT-101A") | [.variable, .modifier, .number, .suffix, .loop] => ["pressure","differential","101","A","20-P-101"]"#,
        body: Body::Piped(parse_tag),
    },
    Function {
        name: "recycles",
        params: &[],
        summary: "The parts in which something flows in circles: their equipment, their items, the edges that lead back.",
        example: "recycles() | map(.returns | map(.id)) => [[\"e17\"]]",
        body: Body::Piped(|cx, _, _| along(cx, sections::recycles)),
    },
    Function {
        name: "section",
        params: &[Param::query("from"), Param::query("to").optional()],
        summary: "What lies between some nodes and others, with the edges between, as a graph of its own.",
        example: r#"section("P-101A", "HV-102") | .edges | map(.id) => ["e4","e6"]"#,
        body: Body::Piped(section),
    },
    Function {
        name: "segmentList",
        params: ATTRIBUTES,
        summary: "One row for each segment of a pipe line.",
        example: r#"segmentList() => []"#,
        body: Body::Piped(segment_list),
    },
    Function {
        name: "unconnected",
        params: &[],
        summary: "The components without a pipe, and the nozzles without pipe or instrument.",
        example: r#"unconnected() | map(.tag) => ["HV-999"]"#,
        body: Body::Piped(|cx, _, _| whole(cx, checks::unconnected)),
    },
    Function {
        name: "validate",
        params: &[Param::options(&[RULES, SEVERITY])],
        summary: "What looks wrong on the drawing: `{code, name, severity, message, ids, evidence, certain}`.",
        example: r#"validate({severity: "warning"}) | map(.code) => ["P102","P104","P104"]"#,
        body: Body::Piped(validate),
    },
    Function {
        name: "valveList",
        params: ATTRIBUTES,
        summary: "One row for each valve: its role, size, line, normal position and how it fails.",
        example: r#"valveList() | map([.tag, .role, .fail_action]) | first() => ["HV-101","barrier",null]"#,
        body: Body::Piped(|cx, input, args| listed(cx, input, args, &lists::VALVES)),
    },
    Function {
        name: "vents",
        params: &[],
        summary: "The dead ends that may be vents; a drain and a vent look alike unless a word tells them apart.",
        example: "vents() | size() => 0",
        body: Body::Piped(|cx, input, _| dead_ends(cx, input, |class| matches!(class, "vent" | "drain_or_vent"))),
    },
    Function {
        name: "within",
        params: &[Param::query("box")],
        summary: "The nodes that lie in a box of the drawing: `[left, top, width, height]`; where y grows upwards, the top is the highest y.",
        example: r#"within([140, 90, 20, 20]) | map(.tag) => ["P-101A"]"#,
        body: Body::Piped(|cx, input, args| placed(cx, input, args, places::within)),
    },
];

/// A question about the whole drawing.
fn whole<'a>(cx: &mut Cx<'a>, question: fn(&Plant<'a>, Pay<'_>) -> Result<Datum<'a>>) -> Result<Value<'a>> {
    let plant = cx.plant()?;
    let found = of_all(cx, &plant, |pay| question(&plant, pay))?;
    answer(cx, &plant, found)
}

/// What is found in a whole drawing, whose texts are paid for first.
fn of_all<T>(cx: &mut Cx<'_>, plant: &Plant<'_>, question: impl FnOnce(Pay<'_>) -> Result<T>) -> Result<T> {
    cx.spend(plant.long_texts())?;
    question(&mut |units| cx.spend(units))
}

/// Pays for an answer that is released when it stands as a value.
struct Tab<'c, 'a> {
    cx: &'c mut Cx<'a>,
    held: usize,
}

impl Purse for Tab<'_, '_> {
    fn pay(&mut self, units: u64) -> Result<()> {
        self.cx.spend(units)
    }

    fn hold(&mut self, bytes: usize) -> Result<()> {
        self.held += bytes;
        self.cx.hold(bytes)
    }
}

/// An answer whose memory counts until it stands as a value.
fn counted<'a>(
    cx: &mut Cx<'a>,
    plant: &Plant<'a>,
    question: impl FnOnce(&mut dyn Purse) -> Result<Datum<'a>>,
) -> Result<Value<'a>> {
    cx.spend(plant.long_texts())?;
    let mut tab = Tab { cx, held: 0 };
    let found = question(&mut tab)?;
    let held = tab.held;
    let found = answer(cx, plant, found)?;
    cx.release(held);
    Ok(found)
}

fn equipment_graph<'a>(cx: &mut Cx<'a>) -> Result<Value<'a>> {
    let plant = cx.plant()?;
    let found = counted(cx, &plant, |purse| sections::equipment_graph(&plant, purse))?;
    assuming(cx, found)
}

/// A question about the whole drawing that goes along the flow.
fn along<'a>(cx: &mut Cx<'a>, question: fn(&Plant<'a>, Pay<'_>) -> Result<Datum<'a>>) -> Result<Value<'a>> {
    let found = whole(cx, question)?;
    assuming(cx, found)
}

/// An answer that may have followed any edge: of which nobody knows the direction is told.
fn assuming<'a>(cx: &mut Cx<'a>, found: Value<'a>) -> Result<Value<'a>> {
    let topology = cx.plant()?.topology;
    if !topology.undirected.is_empty() && found.as_array().is_none_or(|rows| !rows.is_empty()) {
        let plant = cx.plant()?;
        let assumed = topology.edges_of(Link::FLOW).filter(|edge| topology.is_assumed(*edge));
        cx.assumed(assumed, |edge| plant.edge_id(edge))?;
    }
    Ok(found)
}

/// A call and the nodes that it is about.
fn about<'a>(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<(Ask<'a>, Named)> {
    let ask = Ask::new(cx, input, args)?;
    let nodes = ask.subject(cx)?;
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
    let mut nodes = groups.to_vec();
    let members = of_all(cx, &ask.plant, |pay| flow::Members::of(&ask.plant, pay))?;
    for group in groups.iter() {
        nodes.extend(members.all(*group, &mut |units| cx.spend(units))?);
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
    for word in ask.texts(cx, &CUT)? {
        cut_at(&mut cuts, word);
    }
    let plant = &ask.plant;
    let merges = ask.flag(cx, &MERGE)? == Some(true);
    let is_minor = |node: NodeId| merges && sections::is_minor(plant, node);
    let found = of_all(cx, plant, |pay| sections::review_sections(plant, cuts, &is_minor, pay))?;
    answer(cx, plant, found)
}

/// Whether there is such a cut, which is made.
fn cut_at(cuts: &mut Cuts, word: &str) -> bool {
    let cut = match word {
        "control" => &mut cuts.control,
        "size" => &mut cuts.size,
        "class" => &mut cuts.piping_class,
        "fluid" => &mut cuts.fluid,
        _ => return false,
    };
    *cut = true;
    true
}

fn isolation<'a>(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let ask = Ask::new(cx, input, args)?;
    let targets = ask.subject(cx)?;
    let terms = Terms {
        accept_conditional: ask.flag(cx, &ACCEPT_CONDITIONAL)? == Some(true),
        accept_one_way: ask.flag(cx, &ACCEPT_ONE_WAY)? == Some(true),
        accept_relief: ask.flag(cx, &ACCEPT_RELIEF)? == Some(true),
        pass: ask.word(cx, &PASS)?.map_or(Pass::None, |at| PASSES[at]),
        depth: u32::try_from(ask.number(cx, &DEPTH)?.unwrap_or(200).min(cx.limits().depth)).unwrap_or(u32::MAX),
        grows: ask.word(cx, &SCOPE)? == Some(1),
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

/// A list with the columns that the arguments ask for.
fn listed<'a>(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan], list: &lists::List) -> Result<Value<'a>> {
    let ask = Ask::plain(cx, input, args)?;
    let more = texts(cx, &ask)?;
    counted(cx, &ask.plant, |purse| lists::list(&ask.plant, list, &more, purse))
}

fn segment_list<'a>(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let ask = Ask::plain(cx, input, args)?;
    let more = texts(cx, &ask)?;
    counted(cx, &ask.plant, |purse| lists::segment_list(&ask.plant, &more, purse))
}

/// All arguments, which are texts.
fn texts<'a>(cx: &mut Cx<'a>, ask: &Ask<'a>) -> Result<Vec<&'a str>> {
    let mut texts = Vec::with_capacity(ask.count());
    for at in 0..ask.count() {
        texts.push(expect_text(ask.value(cx, at)?)?);
    }
    Ok(texts)
}

fn breaks<'a>(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let ask = Ask::plain(cx, input, args)?;
    let field = expect_text(ask.value(cx, 0)?)?;
    counted(cx, &ask.plant, |purse| lists::breaks(&ask.plant, field, purse))
}

fn component_count<'a>(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let ask = Ask::plain(cx, input, args)?;
    let by = if ask.count() > 0 { expect_text(ask.value(cx, 0)?)? } else { "class" };
    let found = of_all(cx, &ask.plant, |pay| lists::component_count(&ask.plant, by, pay))?;
    answer(cx, &ask.plant, found)
}

/// The loop that a node is, or that it is a member of.
fn one_loop<'a>(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let (ask, nodes) = about(cx, input, args)?;
    let all = of_all(cx, &ask.plant, |pay| loops::loops(&ask.plant, pay))?;
    let nodes: hashbrown::HashSet<NodeId> = nodes.iter().copied().collect();
    let is_it = |found: &&loops::Loop| found.node.is_some_and(|node| nodes.contains(&node));
    let has_it = |found: &&loops::Loop| found.members.iter().any(|member| nodes.contains(member));
    let mut found: Vec<&loops::Loop> = all.iter().filter(is_it).collect();
    if found.is_empty() {
        found = all.iter().filter(has_it).collect();
    }
    if found.is_empty() {
        found = acting_on(cx, &ask, &all, &nodes)?;
    }
    match found.as_slice() {
        [] => Ok(Value::Null),
        [only] => {
            let record = loops::record(&ask.plant, only, &mut |units| cx.spend(units))?;
            answer(cx, &ask.plant, record)
        }
        several => {
            let names: Vec<&str> = several.iter().map(|found| found.name.as_str()).collect();
            let error = Error::new(Code::AmbiguousNode, format!("it belongs to {} loops", several.len()));
            Err(error.with_help(format!("ask for one of them: {}", names.join(", "))))
        }
    }
}

/// The loops that end at some nodes: a valve need be no member of the loop that moves it.
fn acting_on<'l, 'a>(
    cx: &mut Cx<'a>,
    ask: &Ask<'a>,
    all: &'l [loops::Loop],
    nodes: &hashbrown::HashSet<NodeId>,
) -> Result<Vec<&'l loops::Loop>> {
    let mut found = Vec::new();
    for one in all {
        let finals = loops::final_elements(&ask.plant, &one.members, &mut |units| cx.spend(units))?;
        if finals.iter().any(|node| nodes.contains(node)) {
            found.push(one);
        }
    }
    Ok(found)
}

fn parse_tag<'a>(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let text = args.first().map_or(Ok(input), |arg| cx.eval(arg, input))?;
    let scheme = args.get(1).map_or(Ok(Value::Null), |arg| cx.eval(arg, input))?;
    if text.is_null() { Ok(Value::Null) } else { parsed_tag(cx, expect_text(text)?, scheme) }
}

fn parsed_tag<'a>(cx: &mut Cx<'a>, text: &'a str, scheme: Value<'a>) -> Result<Value<'a>> {
    cx.spend_bytes(text.len())?;
    let tag = match scheme {
        Value::Null => Tag::parse(text),
        scheme => cx.with_scheme(expect_text(scheme)?, |scheme| scheme.parse(text))?,
    };
    build(cx, tag::parsed(tag))
}

/// Numbers and a question about places.
fn placed<'a>(
    cx: &mut Cx<'a>,
    input: Value<'a>,
    args: &'a [Plan],
    question: fn(&Plant<'a>, &[f64], Pay<'_>) -> Result<Datum<'a>>,
) -> Result<Value<'a>> {
    let ask = Ask::plain(cx, input, args)?;
    let mut numbers = Vec::new();
    for at in 0..ask.count() {
        let value = ask.value(cx, at)?;
        let items: Vec<Value<'a>> = value.as_array().map_or(vec![value], |array| array.iter().collect());
        for item in items {
            numbers.push(item.as_f64().ok_or_else(|| bad_option("place", item, "a number"))?);
        }
    }
    let found = of_all(cx, &ask.plant, |pay| question(&ask.plant, &numbers, pay))?;
    answer(cx, &ask.plant, found)
}

fn near<'a>(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let ask = Ask::plain(cx, input, args)?;
    let (item, distance) = if ask.count() > 1 { (Some(0), 1) } else { (None, 0) };
    let items = ask.nodes(cx, item)?;
    let value = ask.value(cx, distance)?;
    let distance = value.as_f64().ok_or_else(|| bad_option("distance", value, "a number"))?;
    let found = places::near(&ask.plant, &items, distance, &mut |units| cx.spend(units))?;
    answer(cx, &ask.plant, found)
}

/// How often the checks together read a text of an item.
const CHECKS_OF_TEXTS: u64 = 4;

fn validate<'a>(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let ask = Ask::new(cx, input, args)?;
    let least = ask.word(cx, &SEVERITY)?.map_or(Severity::Info, Severity::of);
    let wishes: Vec<String> = ask.texts(cx, &RULES)?.into_iter().map(String::from).collect();
    cx.spend(ask.plant.long_texts().saturating_mul(CHECKS_OF_TEXTS))?;
    let found = checks::validate(&ask.plant, &wishes, least, &mut |units| cx.spend(units))?;
    answer(cx, &ask.plant, found)
}

fn difference<'a>(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let ask = Ask::anywhere(input, args, 2);
    let (old, new) = (ask.value(cx, 0)?, ask.value(cx, 1)?);
    let ((old, old_size), (new, new_size)) = (drawing(cx, old)?, drawing(cx, new)?);
    let options = DiffOptions {
        identity: ask.word(cx, &IDENTITY)?.map(|at| IDENTITIES[at].into()),
        ignore: ask.texts(cx, &IGNORE)?.into_iter().map(String::from).collect(),
        tolerance: TOLERANCE.as_number(ask.option_value(cx, TOLERANCE.name)?)?.unwrap_or(0.0),
    };
    let found = diff::diff(&old, &new, &options, &mut |units| cx.spend(units))?;
    cx.release(old_size + new_size);
    answer(cx, &new, found)
}

fn join_sheets<'a>(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    const WAYS: [JoinBy; 3] = [JoinBy::Any, JoinBy::Link, JoinBy::Label];
    let ask = Ask::anywhere(input, args, 1);
    let sheets = if ask.count() > 0 { ask.value(cx, 0)? } else { input };
    let by = ask.word(cx, &BY)?.map_or(JoinBy::Any, |at| WAYS[at]);
    joined(cx, sheets, by)
}

fn joined<'a>(cx: &mut Cx<'a>, sheets: Value<'a>, by: JoinBy) -> Result<Value<'a>> {
    let (mut plants, mut sizes) = (Vec::new(), 0);
    for sheet in super::array::list(sheets)?.iter() {
        let (plant, size) = drawing(cx, sheet)?;
        plants.push(plant);
        sizes += size;
    }
    let mut tab = Tab { cx, held: sizes };
    let joined = join::join(&plants, by, &mut tab)?;
    let held = tab.held;
    let joined = build(cx, joined)?;
    cx.release(held);
    Ok(joined)
}

fn dead_ends<'a>(cx: &mut Cx<'a>, input: Value<'a>, keeps: fn(&str) -> bool) -> Result<Value<'a>> {
    let ask = Ask::new(cx, input, &[])?;
    let found = of_all(cx, &ask.plant, |pay| ends::dead_ends(&ask.plant, pay))?;
    answer(cx, &ask.plant, ends::rows(&found, |end| keeps(end.class)))
}
