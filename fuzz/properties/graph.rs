//! Fuzz property of `graph`: for bytes as a drawing and a query, the query ends, takes the same fuel twice and no more
//! than reported, and its results are nodes and edges of the drawing, unchanged.
//!
//! Every byte is valid at every position, so that any mutation of an input defines a drawing again: items, then edges
//! that may lead nowhere, then options. Most drawings are unusual, on purpose.

use std::fmt::Write;

use pidq_core::error::{Code, Stage};
use pidq_core::{DiffOptions, Graph, JoinBy, Limits, Query, Scratch, Value, diff, join_sheets};

/// Query templates. `@` is an item, `#` a small number, `%` options of a traversal.
pub const QUERIES: &[&str] = &[
    "between(@, @, {%})",
    "components({zones: true})",
    "components({strong: true})",
    "components({edges: .edge_type != \"has_a\"})",
    "connected(@, {%})",
    "cycles({limit: #, onLimit: \"truncate\", depth: #})",
    "node(@) | degree()",
    "downstream(@, {%})",
    "edges() | endpoints()",
    "node(@) | expand(#, {%})",
    "findPattern(\"(a)-[e {1,#}]->(b)\") | limit(5)",
    "findPattern(\"(p:pump)-[e:physically_connected_to]->(v)\", .p.n != .v.n)",
    "graph().nodes | size()",
    "node(@) | incident()",
    "node(@) | incoming()",
    "node(@) | outgoing()",
    "node(@) | neighbors(\"both\")",
    "nodes(.line == \"L1\")",
    "paths(@, @, {limit: 5, onLimit: \"truncate\", depth: #, %})",
    "reachable(@, @, {%})",
    "run(\"L1\")",
    "run(@)",
    "shortestPath(@, @, {%})",
    "shortestPath(@, @, {weight: .size + 1, %})",
    "node(@) | expand(#) | subgraph()",
    "subgraph([@, @], {hops: #})",
    "trace(@, {%})",
    "upstream([@, @], {%})",
    "withGraph($root, isolate(@))",
    "withTopology({flow_kinds: [\"associated_with\"]}, downstream(@, {%}))",
    "at(#, #)",
    "bleeds(@)",
    "boundary(@, [@, @])",
    "breaks(\"size\")",
    "bypasses(@)",
    "componentCount(\"role\")",
    "cutPoints()",
    "deadEnds()",
    "diff($root, $root)",
    "drains()",
    "equipmentGraph()",
    "equipmentList(\"size\")",
    "graphInfo()",
    "group(@)",
    "hazopNodes({merge: true, cut: [\"size\", \"control\"]})",
    "hazopNodes()",
    "instrumentIndex()",
    "inventorySections()",
    "inventorySections({cut: .size == 2})",
    "causeAndEffect({scope: \"all\"})",
    "corrosionCircuits()",
    "diffRanking()",
    "materialList(\"class\", \"size\")",
    "numberingGaps()",
    "pressureInterfaces({unit: \"barg\"})",
    "rankDiff($root, $root)",
    "reliefList()",
    "specialItemList()",
    "isolate(@, {acceptConditional: true})",
    "isolationPlan(@, {pass: \"any\"})",
    "isolate(@, {pass: \"zone\"})",
    "isolate([@, @], {pass: \"any\", acceptOneWay: true})",
    "isolate(@, {scope: \"grow\", acceptRelief: true, depth: #})",
    "isolate(@, {barriers: .size == 2})",
    "joinSheets([$root, $root])",
    "lineList()",
    "loop(@)",
    "loops()",
    "near(@, #)",
    "nozzleList()",
    "offPageList()",
    "openEnds()",
    "nodes() | map(parseTag(.tag))",
    "recycles()",
    "section(@, @)",
    "segmentList()",
    "unconnected()",
    "validate({rules: [\"G\", \"P\"]})",
    "validate()",
    "valveList(\"size\", \"line\")",
    "vents()",
    "within([#, #, #, #])",
];

const OPTIONS: &[&str] = &[
    "",
    "pass: \"any\"",
    "pass: \"zone\"",
    "pass: \"none\"",
    "pass: \"any\", dir: \"both\"",
    "pass: \"zone\", dir: \"up\"",
    "depth: 2",
    "until: .size == 1",
    "avoid: .size == 1, pass: \"any\"",
    "edges: .edge_type != \"has_a\"",
    "edges: .n != 3, dir: \"both\"",
];

const CLASSES: &[&str] = &[
    "equipment.tank",
    "equipment.pump",
    "equipment.heat_exchanger",
    "equipment_component.nozzle",
    "equipment_component.nozzle",
    "equipment_component.chamber",
    "piping_component.gate_valve",
    "piping_component.ball_valve",
    "piping_component.control_valve",
    "piping_component.check_valve",
    "piping_component.safety_valve",
    "piping_component.blind_flange",
    "piping_component.reducer",
    "piping_component.pipe_tee",
    "piping_component.strainer",
    "reference.off_page_connector",
    "reference.open_end",
    "instrument.transmitter",
    "gadget",
    "",
];

const TYPES: &[&str] = &["pid_component", "pid_component", "pid_component", "line", "segment", "loop"];

const KINDS: &[&str] = &[
    r#""edge_type":"physically_connected_to""#,
    r#""edge_type":"physically_connected_to""#,
    r#""edge_type":"physically_connected_to""#,
    r#""edge_type":"physically_connected_to","direction":"unknown""#,
    r#""edge_type":"physically_connected_to","direction":"backward""#,
    r#""edge_type":"physically_has_a""#,
    r#""edge_type":"physically_has_a""#,
    r#""edge_type":"has_a""#,
    r#""edge_type":"member_of""#,
    r#""edge_type":"associated_with","edge_classification":"signal_line.x""#,
    r#""edge_type":"associated_with","edge_classification":"association.is_located_in""#,
    r#""edge_type":"associated_with","edge_classification":"association.refers_to""#,
    r#""edge_type":"starts_at""#,
    r#""edge_type":"odd""#,
    r#""n":0"#,
];

/// Panics if the property is violated.
pub fn check(input: &[u8]) {
    let mut bytes = Bytes { rest: input };
    let template = bytes.template();
    let document = bytes.drawing();
    let graph = Graph::from_json(document.as_str()).expect("a drawing is JSON");
    let text = bytes.fill(template);
    let query = Query::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
    check_query(&query, &graph, &document);
    let same = diff(&graph, &graph, &DiffOptions::default(), Limits::default()).expect("a small drawing");
    assert!(same.ends_with("\"equal\":true}"), "a drawing equals itself: {same} {document}");
    let joined = join_sheets(&[&graph, &graph], JoinBy::Any, Limits::default()).expect("a small drawing");
    Graph::from_json(joined).expect("joined sheets are JSON");
}

fn check_query(query: &Query, graph: &Graph, document: &str) {
    let limits = Limits { fuel: 300_000, ..Limits::default() };
    let first = run(query, graph, limits);
    let reloaded = Graph::from_json(document).expect("a drawing is JSON");
    assert_eq!(first, run(query, &reloaded, limits), "a second run: {} {document}", query.source());
    let Ok((_, fuel)) = &first else { return };
    assert_eq!(first, run(query, graph, Limits { fuel: *fuel, ..limits }), "with the reported fuel: {document}");
    let starved = run(query, graph, Limits { fuel: fuel - 1, ..limits });
    assert_eq!(starved.err(), Some(Code::OutOfFuel), "with less fuel: {} {document}", query.source());
}

/// Returns the result and its fuel, or the error code.
fn run(query: &Query, graph: &Graph, limits: Limits<'_>) -> Result<(String, u64), Code> {
    let scratch = Scratch::new();
    let outcome = query.run(graph, &scratch, limits).map_err(|error| error.code())?;
    let mut json = Vec::new();
    match outcome.write_json(&mut json) {
        Ok(()) => {}
        Err(error) if error.code().stage() == Stage::Limit => return Err(error.code()),
        Err(error) => panic!("{error}"),
    }
    let is_moved = query.source().contains("joinSheets");
    if !is_moved {
        check_items(outcome.value, graph, 8);
    }
    Ok((String::from_utf8(json).expect("results are UTF-8"), outcome.fuel))
}

/// Checks that every object with an index is the node or edge with that index, unchanged.
fn check_items(value: Value<'_>, graph: &Graph, levels: usize) {
    let inner: Vec<Value<'_>> = match value {
        Value::Array(array) => array.iter().collect(),
        Value::Object(object) => {
            for (key, list) in [("item", "nodes"), ("pipe", "edges")] {
                let Some(index) = object.get(key).and_then(Value::as_f64) else { continue };
                let original =
                    graph.root().as_object().and_then(|root| root.get(list)?.as_array()?.get(index as usize));
                assert_eq!(
                    original.map(|original| format!("{original:?}")),
                    Some(format!("{value:?}")),
                    "an item of the result is unchanged"
                );
            }
            object.iter().map(|(_, value)| value).collect()
        }
        _ => return,
    };
    if levels > 0 {
        inner.into_iter().for_each(|value| check_items(value, graph, levels - 1));
    }
}

/// Input reader that continues with zeros after the end.
struct Bytes<'i> {
    rest: &'i [u8],
}

impl Bytes<'_> {
    fn next(&mut self) -> usize {
        let Some((first, rest)) = self.rest.split_first() else { return 0 };
        self.rest = rest;
        usize::from(*first)
    }

    fn choose<'t>(&mut self, table: &[&'t str]) -> &'t str {
        table[self.next() % table.len()]
    }

    fn template(&mut self) -> &'static str {
        self.choose(QUERIES)
    }

    fn drawing(&mut self) -> String {
        let nodes = 1 + self.next() % 20;
        let edges = self.next() % 40;
        let mut json = String::from("{\"nodes\":[");
        for at in 0..nodes {
            json.push_str(if at > 0 { "," } else { "" });
            self.node(at, &mut json);
        }
        json.push_str("],\"edges\":[");
        for at in 0..edges {
            json.push_str(if at > 0 { "," } else { "" });
            self.edge(at, nodes, &mut json);
        }
        json.push_str("],\"metadata\":{\"drawing_name\":\"D\"}}");
        json
    }

    fn node(&mut self, at: usize, json: &mut String) {
        let (class, more) = (self.choose(CLASSES), self.next());
        // Some share an id, some have an id that no string can name.
        let id = if more % 16 == 15 { at / 2 } else { at };
        let kind = TYPES[more / 16 % TYPES.len()];
        let (size, line) = (more % 3, more % 2);
        write!(
            json,
            r#"{{"id":"n{id}","item":{at},"tag":"{}-{}","node_type":"{kind}","node_classification":"{class}","size":{size},"line":"L{line}","x":{},"y":{}}}"#,
            ["P", "FT", "FIC", "V"][more / 4 % 4],
            at / 2,
            at % 5,
            more % 7,
        )
        .expect("writing to a string succeeds");
    }

    fn edge(&mut self, at: usize, nodes: usize, json: &mut String) {
        // Some edges lead nowhere.
        let end = |byte: usize| byte % (nodes + 1);
        let (from, to, kind) = (end(self.next()), end(self.next()), self.choose(KINDS));
        let size = (from + to) % 3;
        write!(
            json,
            r#"{{"id":"e{at}","pipe":{at},"from":"n{from}","to":"n{to}","size":{size},"line":"L{}",{kind}}}"#,
            to % 2
        )
        .expect("writing to a string succeeds");
    }

    /// Fills the placeholders of a template.
    fn fill(&mut self, template: &str) -> String {
        let mut text = String::new();
        for character in template.chars() {
            match character {
                '@' => write!(text, "\"n{}\"", self.next() % 20).expect("writing to a string succeeds"),
                '#' => write!(text, "{}", 1 + self.next() % 6).expect("writing to a string succeeds"),
                '%' => text.push_str(self.choose(OPTIONS)),
                other => text.push(other),
            }
        }
        text.replace(", }", "}").replace("{}", "{depth: 9}")
    }
}
