//! P&ID functions: isolation, dead ends, lists, loops, checks and comparisons.
//!
//! All of them return candidates that are read off the drawing. None states that something is safe.

use super::graph::{between_nodes, load_drawing};
use super::graph_call::{DEPTH, GraphCall, NodeSelection, PASS, PASSES, build, to_value};
use super::string::expect_text;
use crate::error::{Code, Error, Result};
use crate::eval::EvalContext;
use crate::eval::option_spec::{OptionSpec, bad_option};
use crate::eval::plan::Plan;
use crate::eval::plan::function::{Body, Function, Param};
use crate::graph::adjacency::NodeId;
use crate::graph::drawing::Drawing;
use crate::graph::topology::EdgeFlags;
use crate::graph::walk::{EquipmentPolicy, Visitor};
use crate::pid::checks::{self, Severity};
use crate::pid::diff::{self, DiffOptions};
use crate::pid::isolate::{IsolateOptions, IsolationReport, isolate};
use crate::pid::join::{self, JoinBy};
use crate::pid::loop_parts::{self, LoopParts};
use crate::pid::loops::{Loop, Loops};
use crate::pid::sections::{self, SectionCuts};
use crate::pid::tag::{self, Tag};
use crate::pid::{Budget, ChargeFn, Datum, dead_ends, extract, geometry, graph_info, lists, pipe_lines};
use crate::value::Value;

const ACCEPT_CONDITIONAL: OptionSpec = OptionSpec::flag("acceptConditional")
    .means("valves with an actuator and blinds that must be swung end a branch too");
const ACCEPT_ONE_WAY: OptionSpec =
    OptionSpec::flag("acceptOneWay").means("check valves that open away from the volume end a branch too");
const ACCEPT_RELIEF: OptionSpec = OptionSpec::flag("acceptRelief").means("relief devices end a branch too");
const ATTRIBUTE: OptionSpec = OptionSpec::string("attribute");
pub(super) const ATTRIBUTES: &[Param] = &[Param::checked(&ATTRIBUTE).many()];
const BARRIERS: OptionSpec = OptionSpec::condition("barriers").means("items for which it holds end a branch too");
const BY: OptionSpec = OptionSpec::keyword("by", &["any", "link", "label"])
    .means("connectors are paired by their link, their label, or either");
const BY_FIELD: OptionSpec = OptionSpec::string("by");
const CUT: OptionSpec = OptionSpec::strings(
    "cut",
    |word| set_cut(&mut SectionCuts::default(), word),
    r#""control", "size", "class" or "fluid""#,
)
.means("changes and valves at which a section ends too");
const CUT_AT: OptionSpec =
    OptionSpec::condition("cut").means("a section ends at items for which it holds, instead of shutdown valves");
const DISTANCE: OptionSpec = OptionSpec::any_number("distance");
const FIELD: OptionSpec = OptionSpec::string("field");
pub(super) const IDENTITY: OptionSpec =
    OptionSpec::keyword("identity", IDENTITIES).means("field that identifies an item in both drawings");
pub(super) const IGNORE: OptionSpec =
    OptionSpec::strings("ignore", |_| true, "the name of a field, or an array of names")
        .means("fields that are not compared");
const MERGE: OptionSpec =
    OptionSpec::flag("merge").means("equipment such as pumps is part of a section instead of a boundary");
const RULES: OptionSpec = OptionSpec::strings("rules", checks::is_rule_filter, "a rule name, code or code prefix")
    .means("only findings of these rules");
const SCOPE: OptionSpec = OptionSpec::keyword("scope", &["item", "grow"])
    .means(r#"`"grow"` includes equipment at which a branch ends, and goes on"#);
const SEVERITY: OptionSpec = OptionSpec::keyword("severity", &Severity::NAMES).means("lowest severity of the findings");
pub(super) const TOLERANCE: OptionSpec =
    OptionSpec::number("tolerance").means("distance up to which movements are ignored");

/// Options of an isolation and its plan.
const ISOLATE_OPTIONS: &[OptionSpec] =
    &[ACCEPT_CONDITIONAL, ACCEPT_ONE_WAY, ACCEPT_RELIEF, PASS, DEPTH, BARRIERS, SCOPE];

const IDENTITIES: &[&str] = &["persistent_id", "id", "tag"];

pub(crate) const FUNCTIONS: &[Function] = &[
    Function {
        name: "at",
        params: &[Param::query("x"), Param::query("y")],
        summary: "The nodes whose bounding box contains a point of the drawing.",
        example: r#"at(150, 100) | map(.tag) => ["P-101A"]"#,
        body: Body::Piped(|cx, input, args| geometry_report(cx, input, args, geometry::at)),
    },
    Function {
        name: "bleeds",
        params: &[Param::query("items").optional()],
        summary: "The valves on dead-end branches around an item: candidates for draining and venting it.",
        example: r#"bleeds("P-101A") => []"#,
        body: Body::Piped(bleeds),
    },
    Function {
        name: "boundary",
        params: &[Param::query("inside"), Param::query("stops")],
        summary: "The items reached from the given items without passing a stop: `{inside, boundary, unused, leaks}`.",
        example: r#"boundary("P-101A", ["HV-101", "HV-102"]) | .inside | map(.tag) => ["P-101A","CV-101"]"#,
        body: Body::Piped(boundary),
    },
    Function {
        name: "breaks",
        params: &[Param::checked(&FIELD)],
        summary: "The items at which a field of the pipes changes, and whether such an item may change it (`legal`).",
        example: r#"breaks("size") | filter(not(.legal)) | map(.item.tag) => ["HV-102","HV-103"]"#,
        body: Body::Piped(breaks),
    },
    Function {
        name: "bypasses",
        params: &[Param::query("items").optional()],
        summary: "The paths around an item, from the last branch of its line before it to the first one after it.",
        example: r#"bypasses("FV-101") => []"#,
        body: Body::Piped(|cx, input, args| {
            let (call, items) = call_and_flow_nodes(cx, input, args)?;
            let paths = sections::bypasses(&call.drawing, &items, &mut |units| cx.charge(units))?;
            let [nodes, edges]: [Vec<u32>; 2] = [
                paths.iter().flat_map(|bypass| bypass.nodes.iter().copied()).collect(),
                paths.iter().flat_map(|bypass| bypass.edges.iter().copied()).collect(),
            ];
            let found = to_value(cx, &call.drawing, sections::bypass_rows(&call.drawing, paths))?;
            call.warn_absences(cx, nodes, edges)?;
            Ok(found)
        }),
    },
    Function {
        name: "componentCount",
        params: &[Param::checked(&BY_FIELD).optional()],
        summary: "The number of components of each class, or with each value of a field.",
        example: r#"componentCount("role").control => 2"#,
        body: Body::Piped(component_count),
    },
    Function {
        name: "cutPoints",
        params: &[],
        summary: "The items whose removal would split a connected part of the plant.",
        example: r#"cutPoints() | map(.tag) => ["E-101","V-201","PSV-201","HV-201"]"#,
        body: Body::Piped(|cx, _, _| drawing_report(cx, sections::cut_points)),
    },
    Function {
        name: "deadEnds",
        params: &[],
        summary: "The branches that reach no equipment, no junction and no other sheet, with their probable purpose.",
        example: "deadEnds() | size() => 0",
        body: Body::Piped(|cx, input, _| dead_ends(cx, input, |_| true)),
    },
    Function {
        name: "diff",
        params: &[Param::query("old"), Param::query("new"), Param::options(&[IDENTITY, IGNORE, TOLERANCE])],
        summary: "The differences between two revisions of a drawing.",
        example: r#"diff({nodes: [{id: 1, a: 1}]}, {nodes: [{id: 1, a: 2}]}) | .changed => [{"id":1,"tag":null,"field":"a","before":1,"after":2}]"#,
        body: Body::Piped(difference),
    },
    Function {
        name: "drains",
        params: &[],
        summary: "The dead ends that may be drains. Without a word such as \"drain\" in its fields, a drain looks like a vent.",
        example: "drains() | size() => 0",
        body: Body::Piped(|cx, input, _| dead_ends(cx, input, |class| matches!(class, "drain" | "drain_or_vent"))),
    },
    Function {
        name: "equipmentGraph",
        params: &[],
        summary: "Equipment, off-page connectors and open ends, with the connections between them, as a separate graph.",
        example: "equipmentGraph() | .edges | first() | [.from, .to, .lines] => [\"n1\",\"n3\",[\"P-1001\"]]",
        body: Body::Piped(|cx, _, _| equipment_graph(cx)),
    },
    Function {
        name: "equipmentList",
        params: ATTRIBUTES,
        summary: "One row for each item of equipment; each argument adds a column for an attribute.",
        example: r#"equipmentList("material") | first() => {"id":"n1","tag":"T-101","class":"tank","nozzles":0,"lines":"P-1001, P-1007","material":"SS316"}"#,
        body: Body::Piped(|cx, input, args| list_report(cx, input, args, &lists::EQUIPMENT)),
    },
    Function {
        name: "graphInfo",
        params: &[],
        summary: "How the document is interpreted: counts, the field names and classes found, and what they mean.",
        example: "graphInfo() | [.nodes, .edges, .endpoints] => [25,34,[\"source → target\"]]",
        body: Body::Piped(|cx, _, _| drawing_report(cx, graph_info::info)),
    },
    Function {
        name: "group",
        params: &[Param::query("group").optional()],
        summary: "The members of a line, a loop or another group, with the edges between them, as a separate graph.",
        example: r#"group("F-101") | .nodes | map(.tag) => ["FV-101","FT-101","FIC-101","F-101"]"#,
        body: Body::Piped(group),
    },
    Function {
        name: "hazopNodes",
        params: &[Param::options(&[CUT, MERGE])],
        summary: "Proposed sections for a hazard review: the piping between major equipment, with its safeguards.",
        example: "hazopNodes() | map(.section) | size() => 6",
        body: Body::Piped(hazop_nodes),
    },
    Function {
        name: "instrumentIndex",
        params: ATTRIBUTES,
        summary: "One row for each instrument: its measured variable, its loop (by its tag, if it belongs to none), and the items it is attached to.",
        example: r#"instrumentIndex() | map([.tag, .variable, .loop]) | first() => ["FT-101","flow","F-101"]"#,
        body: Body::Piped(|cx, input, args| list_report(cx, input, args, &lists::INSTRUMENTS)),
    },
    Function {
        name: "inventorySections",
        params: &[Param::options(&[CUT_AT])],
        summary: "The parts of the plant between emergency shutdown valves, with equipment, lines, blowdown and relief.",
        example: r#"inventorySections({cut: .tag == "HV-101"}) | map([.section, .esd_valves | map(.tag)]) | first() => ["S1",["HV-101"]]"#,
        body: Body::Piped(inventory_sections),
    },
    Function {
        name: "isolate",
        params: &[Param::query("items").optional(), Param::options(ISOLATE_OPTIONS)],
        summary: "Whether items, lines or loops can be isolated (`isolated`: `yes`, `no` or `unknown`), the candidate points, and what stays open.",
        example: r#"isolate("P-101A") | [.isolated, .barriers | map(.node.tag), .unresolved | map(.at.tag)] => ["no",["HV-102"],["T-101","P-101B"]]"#,
        body: Body::Piped(|cx, input, args| isolation(cx, input, args, IsolationReport::Points)),
    },
    Function {
        name: "isolationPlan",
        params: &[Param::query("items").optional(), Param::options(ISOLATE_OPTIONS)],
        summary: "Candidate steps of an isolation: what to close in which order, and the bleed that proves each barrier.",
        example: r#"isolationPlan("P-101A") | .steps | map([.action, .node.tag]) => [["not_isolated","T-101"],["not_isolated","P-101B"],["close","HV-102"],["lock","HV-102"]]"#,
        body: Body::Piped(|cx, input, args| isolation(cx, input, args, IsolationReport::Plan)),
    },
    Function {
        name: "joinSheets",
        params: &[Param::query("graphs"), Param::options(&[BY])],
        summary: "Several sheets as one graph, joined at their off-page connectors; `metadata.joined` lists the pairs.",
        example: r#"joinSheets([graph()]) | .nodes | first() | .id => "PID-100-001#n1""#,
        body: Body::Piped(join_sheets),
    },
    Function {
        name: "lineList",
        params: &[],
        summary: "One row for each pipe line: fluid, class, sizes, from and to, pipes and components. `nominal_diameter` is a text with all sizes: \"80, 100\".",
        example: r#"lineList() | map([.line, .nominal_diameter, .from, .to]) | first() => ["P-1001","150",["T-101"],["P-101A","P-101B"]]"#,
        body: Body::Piped(|cx, _, _| drawing_report(cx, lists::line_list)),
    },
    Function {
        name: "loop",
        params: &[Param::query("loop").optional()],
        summary: "A loop, or the loop of an instrument or a valve: kind, sensors, functions, signals, final elements.",
        example: r#"loop("FT-101") | [.loop, .closed, .final_elements | map(.tag)] => ["F-101",true,["FV-101"]]"#,
        body: Body::Piped(find_loop),
    },
    Function {
        name: "loops",
        params: &[],
        summary: "The loops, and instruments without a loop grouped by their tags: `node` is null then. `kind`: control, indication, trip or safety.",
        example: r#"loops() | map([.loop, .kind, .closed, .node.id]) => [["F-101","control",true,"l1"],["T-101","indication",false,null],["L-201","indication",false,null]]"#,
        body: Body::Piped(|cx, _, _| {
            drawing_report(cx, |drawing, charge| {
                let loops = Loops::find(drawing, charge)?;
                loop_parts::rows(drawing, &loops, charge)
            })
        }),
    },
    Function {
        name: "near",
        params: &[Param::query("item").optional(), Param::checked(&DISTANCE)],
        summary: "The nodes within a distance of a node on its sheet, nearest first.",
        example: r#"near("P-101A", 60) | map(.tag) => ["CV-101","P-101B"]"#,
        body: Body::Piped(near),
    },
    Function {
        name: "nozzleList",
        params: ATTRIBUTES,
        summary: "One row for each nozzle: its equipment, chamber, size, line and connections.",
        example: r#"nozzleList() => []"#,
        body: Body::Piped(|cx, input, args| list_report(cx, input, args, &lists::NOZZLES)),
    },
    Function {
        name: "offPageList",
        params: ATTRIBUTES,
        summary: "One row for each connector to another sheet.",
        example: r#"offPageList() | map([.tag, .direction]) => [["FLARE","out"],["PROD","out"]]"#,
        body: Body::Piped(|cx, input, args| list_report(cx, input, args, &lists::OFF_PAGE)),
    },
    Function {
        name: "openEnds",
        params: &[],
        summary: "The open ends of lines: those drawn as such, and items with an unconnected side.",
        example: r#"openEnds() => []"#,
        body: Body::Piped(|cx, _, _| drawing_report(cx, checks::open_ends)),
    },
    Function {
        name: "parseTag",
        params: &[Param::query("tag").optional(), Param::query("scheme").optional()],
        summary: "The parts of a tag according to ISA-5.1, and the protection that its letters state; null if it is not a tag.",
        example: r#"parseTag("20-PDT-101A") | [.variable, .modifier, .number, .suffix, .loop] => ["pressure","differential","101","A","20-PD-101"]"#,
        body: Body::Piped(parse_tag),
    },
    Function {
        name: "recycles",
        params: &[],
        summary: "The recycles: their equipment, their items, and the edges that lead back.",
        example: "recycles() | map(.returns | map(.id)) => [[\"e17\"]]",
        body: Body::Piped(|cx, _, _| flow_report(cx, sections::recycles)),
    },
    Function {
        name: "section",
        params: &[Param::query("from"), Param::query("to").optional()],
        summary: "The nodes between two sets of nodes, with the edges between them, as a separate graph.",
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
        summary: "The components without a pipe, and the nozzles without a pipe or an instrument.",
        example: r#"unconnected() | map(.tag) => ["HV-999"]"#,
        body: Body::Piped(|cx, _, _| drawing_report(cx, checks::unconnected)),
    },
    Function {
        name: "validate",
        params: &[Param::options(&[RULES, SEVERITY])],
        summary: "The findings of the validation rules: `{code, name, severity, message, ids, evidence, certain}`.",
        example: r#"validate({severity: "warning"}) | map(.code) => ["P102","P104","P104"]"#,
        body: Body::Piped(validate),
    },
    Function {
        name: "valveList",
        params: ATTRIBUTES,
        summary: "One row for each valve: its role, size, line, normal position and fail action.",
        example: r#"valveList() | map([.tag, .role, .fail_action]) | first() => ["HV-101","barrier",null]"#,
        body: Body::Piped(|cx, input, args| list_report(cx, input, args, &lists::VALVES)),
    },
    Function {
        name: "vents",
        params: &[],
        summary: "The dead ends that may be vents. Without a word such as \"vent\" in its fields, a vent looks like a drain.",
        example: "vents() | size() => 0",
        body: Body::Piped(|cx, input, _| dead_ends(cx, input, |class| matches!(class, "vent" | "drain_or_vent"))),
    },
    Function {
        name: "within",
        params: &[Param::query("box")],
        summary: "The nodes that lie in a box of the drawing: `[left, top, width, height]`; where y grows upward, the top is the highest y.",
        example: r#"within([140, 90, 20, 20]) | map(.tag) => ["P-101A"]"#,
        body: Body::Piped(|cx, input, args| geometry_report(cx, input, args, geometry::within)),
    },
];

/// Returns a report on the whole drawing.
fn drawing_report<'a>(
    cx: &mut EvalContext<'a>,
    report: fn(&Drawing<'a>, ChargeFn<'_>) -> Result<Datum<'a>>,
) -> Result<Value<'a>> {
    let drawing = cx.drawing()?;
    let found = with_drawing_fuel(cx, &drawing, |charge| report(&drawing, charge))?;
    to_value(cx, &drawing, found)
}

/// Runs a report on the whole drawing after charging for its oversize items.
fn with_drawing_fuel<T>(
    cx: &mut EvalContext<'_>,
    drawing: &Drawing<'_>,
    report: impl FnOnce(ChargeFn<'_>) -> Result<T>,
) -> Result<T> {
    cx.charge(drawing.oversize_fuel())?;
    report(&mut |units| cx.charge(units))
}

/// Budget of the run; the reserved memory is released once the result has become a value.
pub(super) struct RunBudget<'c, 'a> {
    pub cx: &'c mut EvalContext<'a>,
    pub reserved: usize,
}

impl Budget for RunBudget<'_, '_> {
    fn charge(&mut self, units: u64) -> Result<()> {
        self.cx.charge(units)
    }

    fn reserve(&mut self, bytes: usize) -> Result<()> {
        self.reserved += bytes;
        self.cx.reserve(bytes)
    }
}

/// Returns a report whose memory is reserved until it has become a value.
pub(super) fn report_with_memory<'a>(
    cx: &mut EvalContext<'a>,
    drawing: &Drawing<'a>,
    report: impl FnOnce(&mut dyn Budget) -> Result<Datum<'a>>,
) -> Result<Value<'a>> {
    cx.charge(drawing.oversize_fuel())?;
    let mut run_budget = RunBudget { cx, reserved: 0 };
    let found = report(&mut run_budget)?;
    let reserved = run_budget.reserved;
    let found = to_value(cx, drawing, found)?;
    cx.release(reserved);
    Ok(found)
}

fn equipment_graph<'a>(cx: &mut EvalContext<'a>) -> Result<Value<'a>> {
    let call = GraphCall::new(cx, Value::Undefined, &[])?;
    let drawing = &call.drawing;
    let found = report_with_memory(cx, drawing, |budget| sections::equipment_graph(drawing, budget))?;
    let found = with_assumed_warning(cx, found)?;
    call.warn_absences_in_piping(cx)?;
    Ok(found)
}

/// Returns a report on the whole drawing that follows the flow.
fn flow_report<'a>(
    cx: &mut EvalContext<'a>,
    report: fn(&Drawing<'a>, ChargeFn<'_>) -> Result<Datum<'a>>,
) -> Result<Value<'a>> {
    let found = drawing_report(cx, report)?;
    with_assumed_warning(cx, found)
}

/// Warns about edges of unknown direction, any of which the report may have followed.
pub(super) fn with_assumed_warning<'a>(cx: &mut EvalContext<'a>, found: Value<'a>) -> Result<Value<'a>> {
    let topology = cx.drawing()?.topology;
    if !topology.undirected.is_empty() && found.as_array().is_none_or(|rows| !rows.is_empty()) {
        let drawing = cx.drawing()?;
        let assumed = topology.edges_of(EdgeFlags::FLOW).filter(|edge| topology.is_assumed(*edge));
        cx.warn_assumed_directions(assumed, |edge| drawing.edge_id(edge))?;
    }
    Ok(found)
}

/// Returns a call and the items in the flow that it refers to.
fn call_and_flow_nodes<'a>(
    cx: &mut EvalContext<'a>,
    input: Value<'a>,
    args: &'a [Plan],
) -> Result<(GraphCall<'a>, NodeSelection)> {
    let call = GraphCall::new(cx, input, args)?;
    let nodes = call.flow_subject_nodes(cx)?;
    Ok((call, nodes))
}

/// Returns a call and the nodes it refers to.
fn call_and_nodes<'a>(
    cx: &mut EvalContext<'a>,
    input: Value<'a>,
    args: &'a [Plan],
) -> Result<(GraphCall<'a>, NodeSelection)> {
    let call = GraphCall::new(cx, input, args)?;
    let nodes = call.subject_nodes(cx)?;
    Ok((call, nodes))
}

fn boundary<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let call = GraphCall::new(cx, input, args)?;
    let (inside, stops) = if call.arg_count() > 1 { (Some(0), 1) } else { (None, 0) };
    let (inside, stops) = (call.walk_nodes(cx, inside)?, call.flow_nodes(cx, Some(stops))?);
    let found = sections::boundary(&call.drawing, &inside, &stops, &mut |units| cx.charge(units))?;
    to_value(cx, &call.drawing, found)
}

/// Returns the bleeds that the isolation of an item finds.
fn bleeds<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let (call, items) = call_and_flow_nodes(cx, input, args)?;
    let found = isolate(
        &call.drawing,
        &items,
        IsolateOptions::default(),
        IsolationReport::Points,
        &mut BarrierVisitor { cx, call: &call, condition: None },
    )?;
    match found.field("bleeds") {
        Some(bleeds) => to_value(cx, &call.drawing, bleeds),
        None => Ok(Value::Null),
    }
}

fn section<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let call = GraphCall::new(cx, input, args)?;
    let nodes = between_nodes(cx, &call)?;
    as_graph(cx, &call, nodes)
}

fn group<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let (call, groups) = call_and_nodes(cx, input, args)?;
    let mut nodes = groups.to_vec();
    let members = with_drawing_fuel(cx, &call.drawing, |charge| pipe_lines::Members::collect(&call.drawing, charge))?;
    for group in groups.iter() {
        nodes.extend(members.all_members(*group, &mut |units| cx.charge(units))?);
    }
    as_graph(cx, &call, nodes)
}

fn as_graph<'a>(cx: &mut EvalContext<'a>, call: &GraphCall<'a>, mut nodes: Vec<NodeId>) -> Result<Value<'a>> {
    extract::add_item_ports(&call.drawing, &mut nodes);
    let edges = extract::induced(&call.drawing, &nodes, &mut |units| cx.charge(units))?;
    let graph = extract::graph(&call.drawing, nodes, edges);
    to_value(cx, &call.drawing, graph)
}

fn hazop_nodes<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let call = GraphCall::new(cx, input, args)?;
    let mut cuts = SectionCuts::default();
    for word in call.strings(cx, &CUT)? {
        set_cut(&mut cuts, word);
    }
    let drawing = &call.drawing;
    let merges = call.flag(cx, &MERGE)? == Some(true);
    let is_minor = |node: NodeId| merges && sections::is_minor(drawing, node);
    let found = with_drawing_fuel(cx, drawing, |charge| sections::review_sections(drawing, cuts, &is_minor, charge))?;
    let found = to_value(cx, drawing, found)?;
    call.warn_absences_in_piping(cx)?;
    Ok(found)
}

/// Sets a cut by its name; returns whether it exists.
fn set_cut(cuts: &mut SectionCuts, word: &str) -> bool {
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

fn isolation<'a>(
    cx: &mut EvalContext<'a>,
    input: Value<'a>,
    args: &'a [Plan],
    report: IsolationReport,
) -> Result<Value<'a>> {
    let call = GraphCall::new(cx, input, args)?;
    let targets = call.flow_subject_nodes(cx)?;
    if targets.is_empty() {
        let error = Error::new(Code::NoStart, "there is no item to isolate: the list is empty");
        return Err(error.with_help("check the condition that selects the items, or pass a tag: `isolate(\"P-101\")`"));
    }
    let options = IsolateOptions {
        accept_conditional: call.flag(cx, &ACCEPT_CONDITIONAL)? == Some(true),
        accept_one_way: call.flag(cx, &ACCEPT_ONE_WAY)? == Some(true),
        accept_relief: call.flag(cx, &ACCEPT_RELIEF)? == Some(true),
        pass: call.keyword(cx, &PASS)?.map_or(EquipmentPolicy::None, |at| PASSES[at]),
        depth: u32::try_from(call.number(cx, &DEPTH)?.unwrap_or(200).min(cx.limits().depth)).unwrap_or(u32::MAX),
        include_equipment: call.keyword(cx, &SCOPE)? == Some(1),
    };
    let condition = call.option("barriers");
    let found = isolate(&call.drawing, &targets, options, report, &mut BarrierVisitor { cx, call: &call, condition })?;
    to_value(cx, &call.drawing, found)
}

fn inventory_sections<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let call = GraphCall::new(cx, input, args)?;
    let drawing = &call.drawing;
    cx.charge(drawing.oversize_fuel())?;
    let cut = match call.option(CUT_AT.name) {
        None => None,
        Some(condition) => {
            let mut selected = hashbrown::HashSet::new();
            for node in 0..drawing.topology.node_count() as NodeId {
                cx.charge(1)?;
                if CUT_AT.holds(cx.eval(condition, drawing.node(node))?)? {
                    selected.insert(node);
                }
            }
            Some(selected)
        }
    };
    let found = sections::inventory::sections(drawing, cut.as_ref(), &mut |units| cx.charge(units))?;
    to_value(cx, drawing, found)
}

/// Visitor that evaluates the option `barriers`.
struct BarrierVisitor<'c, 'a> {
    cx: &'c mut EvalContext<'a>,
    call: &'c GraphCall<'a>,
    condition: Option<&'a Plan>,
}

impl Visitor for BarrierVisitor<'_, '_> {
    fn charge(&mut self, units: u64) -> Result<()> {
        self.cx.charge(units)
    }

    fn ends_at(&mut self, node: NodeId) -> Result<bool> {
        let Some(condition) = self.condition else { return Ok(false) };
        BARRIERS.holds(self.cx.eval(condition, self.call.drawing.node(node))?)
    }
}

/// Returns a list with the columns in the arguments.
pub(super) fn list_report<'a>(
    cx: &mut EvalContext<'a>,
    input: Value<'a>,
    args: &'a [Plan],
    list: &lists::ListSpec,
) -> Result<Value<'a>> {
    let call = GraphCall::without_options(cx, input, args)?;
    let columns = string_args(cx, &call)?;
    report_with_memory(cx, &call.drawing, |budget| lists::list(&call.drawing, list, &columns, budget))
}

fn segment_list<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let call = GraphCall::without_options(cx, input, args)?;
    let columns = string_args(cx, &call)?;
    report_with_memory(cx, &call.drawing, |budget| lists::segment_list(&call.drawing, &columns, budget))
}

/// Returns all arguments as strings.
pub(super) fn string_args<'a>(cx: &mut EvalContext<'a>, call: &GraphCall<'a>) -> Result<Vec<&'a str>> {
    let mut strings = Vec::with_capacity(call.arg_count());
    for at in 0..call.arg_count() {
        strings.push(expect_text(call.value(cx, at)?)?);
    }
    Ok(strings)
}

fn breaks<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let call = GraphCall::without_options(cx, input, args)?;
    let field = expect_text(call.value(cx, 0)?)?;
    report_with_memory(cx, &call.drawing, |budget| lists::breaks(&call.drawing, field, budget))
}

fn component_count<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let call = GraphCall::without_options(cx, input, args)?;
    let by = if call.arg_count() > 0 { expect_text(call.value(cx, 0)?)? } else { "class" };
    let found = with_drawing_fuel(cx, &call.drawing, |charge| lists::component_count(&call.drawing, by, charge))?;
    to_value(cx, &call.drawing, found)
}

/// Returns the loop of a loop node, of a member, or of an item that it moves.
fn find_loop<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let (call, nodes) = call_and_nodes(cx, input, args)?;
    let loops = with_drawing_fuel(cx, &call.drawing, |charge| Loops::find(&call.drawing, charge))?;
    let nodes: hashbrown::HashSet<NodeId> = nodes.iter().copied().collect();
    let all = || loops.list.iter().enumerate();
    let is_loop_node = |found: &Loop| found.node.is_some_and(|node| nodes.contains(&node));
    let mut found: Vec<usize> = all().filter(|(_, found)| is_loop_node(found)).map(|(at, _)| at).collect();
    if found.is_empty() {
        let has_member = |found: &Loop| found.members.iter().any(|member| nodes.contains(member));
        found = all().filter(|(_, found)| has_member(found)).map(|(at, _)| at).collect();
    }
    if found.is_empty() {
        found = loops_acting_on(cx, &call, &loops, &nodes)?;
    }
    match found.as_slice() {
        [] => Ok(Value::Null),
        [only] => {
            let record = loop_parts::record(&call.drawing, &loops, *only, &mut |units| cx.charge(units))?;
            to_value(cx, &call.drawing, record)
        }
        several => {
            let names: Vec<&str> = several.iter().map(|at| loops.list[*at].name.as_str()).collect();
            let error = Error::new(Code::AmbiguousNode, format!("the node belongs to {} loops", several.len()));
            Err(error.with_help(format!("name one of them: {}", names.join(", "))))
        }
    }
}

/// Returns the loops that act on some nodes: a valve need not be a member of the loop that moves it.
fn loops_acting_on<'a>(
    cx: &mut EvalContext<'a>,
    call: &GraphCall<'a>,
    loops: &Loops,
    nodes: &hashbrown::HashSet<NodeId>,
) -> Result<Vec<usize>> {
    let mut found = Vec::new();
    for at in 0..loops.list.len() {
        let parts = LoopParts::find(&call.drawing, loops, at, &mut |units| cx.charge(units))?;
        if parts.final_elements.iter().any(|node| nodes.contains(node)) {
            found.push(at);
        }
    }
    Ok(found)
}

fn parse_tag<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let text = args.first().map_or(Ok(input), |arg| cx.eval(arg, input))?;
    let scheme = args.get(1).map_or(Ok(Value::Null), |arg| cx.eval(arg, input))?;
    if text.is_null() { Ok(Value::Null) } else { parsed_tag(cx, expect_text(text)?, scheme) }
}

fn parsed_tag<'a>(cx: &mut EvalContext<'a>, text: &'a str, scheme: Value<'a>) -> Result<Value<'a>> {
    cx.charge_bytes(text.len())?;
    let tag = match scheme {
        Value::Null => Tag::parse(text),
        scheme => cx.with_scheme(expect_text(scheme)?, |scheme| scheme.parse(text))?,
    };
    build(cx, tag::to_datum(tag))
}

/// Returns a report for numbers that denote positions.
fn geometry_report<'a>(
    cx: &mut EvalContext<'a>,
    input: Value<'a>,
    args: &'a [Plan],
    report: fn(&Drawing<'a>, &[f64], ChargeFn<'_>) -> Result<Datum<'a>>,
) -> Result<Value<'a>> {
    let call = GraphCall::without_options(cx, input, args)?;
    let mut numbers = Vec::new();
    for at in 0..call.arg_count() {
        let value = call.value(cx, at)?;
        let items: Vec<Value<'a>> = value.as_array().map_or(vec![value], |array| array.iter().collect());
        for item in items {
            numbers.push(item.as_f64().ok_or_else(|| bad_option("position", item, "a number"))?);
        }
    }
    let found = with_drawing_fuel(cx, &call.drawing, |charge| report(&call.drawing, &numbers, charge))?;
    to_value(cx, &call.drawing, found)
}

fn near<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let call = GraphCall::without_options(cx, input, args)?;
    let (item, distance) = if call.arg_count() > 1 { (Some(0), 1) } else { (None, 0) };
    let items = call.nodes(cx, item)?;
    let value = call.value(cx, distance)?;
    let distance = value.as_f64().ok_or_else(|| bad_option("distance", value, "a number"))?;
    let found = geometry::near(&call.drawing, &items, distance, &mut |units| cx.charge(units))?;
    to_value(cx, &call.drawing, found)
}

/// Number of times that all checks together read a string of an item.
const TEXT_READS: u64 = 4;

fn validate<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let call = GraphCall::new(cx, input, args)?;
    let min_severity = call.keyword(cx, &SEVERITY)?.map_or(Severity::Info, Severity::from_index);
    let filters: Vec<String> = call.strings(cx, &RULES)?.into_iter().map(String::from).collect();
    cx.charge(call.drawing.oversize_fuel().saturating_mul(TEXT_READS))?;
    let found = checks::validate(&call.drawing, &filters, min_severity, &mut |units| cx.charge(units))?;
    to_value(cx, &call.drawing, found)
}

fn difference<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let call = GraphCall::without_graph(input, args, 2);
    let (old, new) = (call.value(cx, 0)?, call.value(cx, 1)?);
    let ((old, old_size), (new, new_size)) = (load_drawing(cx, old)?, load_drawing(cx, new)?);
    let options = diff_options(cx, &call)?;
    let found = diff::diff(&old, &new, &options, &mut |units| cx.charge(units))?;
    cx.release(old_size + new_size);
    to_value(cx, &new, found)
}

/// Returns the options of a comparison.
pub(super) fn diff_options<'a>(cx: &mut EvalContext<'a>, call: &GraphCall<'a>) -> Result<DiffOptions> {
    Ok(DiffOptions {
        identity: call.keyword(cx, &IDENTITY)?.map(|at| IDENTITIES[at].into()),
        ignore: call.strings(cx, &IGNORE)?.into_iter().map(String::from).collect(),
        tolerance: TOLERANCE.as_number(call.option_value(cx, TOLERANCE.name)?)?.unwrap_or(0.0),
    })
}

fn join_sheets<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    const JOIN_BY: [JoinBy; 3] = [JoinBy::Any, JoinBy::Link, JoinBy::Label];
    let call = GraphCall::without_graph(input, args, 1);
    let sheets = if call.arg_count() > 0 { call.value(cx, 0)? } else { input };
    let by = call.keyword(cx, &BY)?.map_or(JoinBy::Any, |at| JOIN_BY[at]);
    join_drawings(cx, sheets, by)
}

fn join_drawings<'a>(cx: &mut EvalContext<'a>, sheets: Value<'a>, by: JoinBy) -> Result<Value<'a>> {
    let (mut drawings, mut sizes) = (Vec::new(), 0);
    for sheet in super::array::list(sheets)?.iter() {
        let (drawing, size) = load_drawing(cx, sheet)?;
        drawings.push(drawing);
        sizes += size;
    }
    let mut run_budget = RunBudget { cx, reserved: sizes };
    let joined = join::join(&drawings, by, &mut run_budget)?;
    let reserved = run_budget.reserved;
    let joined = build(cx, joined)?;
    cx.release(reserved);
    Ok(joined)
}

fn dead_ends<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, includes: fn(&str) -> bool) -> Result<Value<'a>> {
    let call = GraphCall::new(cx, input, &[])?;
    let found = with_drawing_fuel(cx, &call.drawing, |charge| dead_ends::dead_ends(&call.drawing, charge))?;
    to_value(cx, &call.drawing, dead_ends::rows(&found, |end| includes(end.class)))
}
