//! Drawings whose results are far larger than the drawing, and drawings with many custom names: intermediate results are
//! charged too.

use pidq::{Graph, Limits, Query, Scratch, TopologyConfig};
use serde_json::{Value, json};

use crate::allocator;

const MEMORY: usize = 4 << 20;
/// Memory of traversals and tables per byte of a drawing.
const MEMORY_PER_BYTE: usize = 48;

const QUERIES: &[&str] = &[
    "bleeds()",
    "boundary(nodes(), [])",
    "breaks(\"line\")",
    "bypasses(nodes())",
    "components()",
    "cutPoints()",
    "cycles()",
    "deadEnds()",
    "diff(graph(), graph())",
    "drains()",
    "equipmentGraph()",
    "equipmentList()",
    "findPattern(\"(a)-->(b)-->(c)\")",
    "hazopNodes()",
    "instrumentIndex()",
    "causeAndEffect({scope: \"all\"})",
    "corrosionCircuits()",
    "materialList()",
    "numberingGaps()",
    "pressureInterfaces()",
    "rankDiff(graph(), graph())",
    "reliefList()",
    "specialItemList()",
    "isolate(nodes())",
    "joinSheets([graph(), graph()])",
    "joinSheets(.sheets)",
    "lineList()",
    "loops()",
    "nodes() | map(boundary(.id, []))",
    "nodes() | map(connected(.id))",
    "nodes() | map(downstream(.id))",
    "nodes() | map(isolate(.id))",
    "nodes() | map(near(.id, 1000000))",
    "nodes() | map(section(.id))",
    "nodes() | map(trace(.id))",
    "nodes() | map(withGraph(graph(), equipmentGraph()))",
    "nozzleList()",
    "openEnds()",
    "paths(nodes(), nodes())",
    "recycles()",
    "section(nodes())",
    "segmentList()",
    "subgraph(nodes())",
    "unconnected()",
    "validate()",
    "valveList()",
    "vents()",
    "within([0, 0, 1000000, 1000000])",
];

fn node(id: String, class: &str) -> Value {
    json!({"id": id, "class": class, "tag": format!("X-{id}"), "x": 1, "y": 1})
}

fn pipe(from: String, to: String) -> Value {
    json!({"source": from, "target": to, "line": format!("L-{from}")})
}

/// Many tanks that all lead to many other tanks through one long path.
fn long_path(ends: usize, length: usize) -> Value {
    let trunk = (0..length).map(|n| node(format!("k{n}"), "reducer"));
    let tanks = (0..ends).flat_map(|n| [node(format!("a{n}"), "tank"), node(format!("b{n}"), "tank")]);
    let pipes = (1..length).map(|n| pipe(format!("k{}", n - 1), format!("k{n}")));
    let last = format!("k{}", length - 1);
    let branches = (0..ends).flat_map(|n| [pipe(format!("a{n}"), "k0".into()), pipe(last.clone(), format!("b{n}"))]);
    json!({"nodes": trunk.chain(tanks).collect::<Vec<_>>(), "edges": pipes.chain(branches).collect::<Vec<_>>()})
}

/// Sheets whose connectors all match all connectors of the other sheet.
fn ambiguous(connectors: usize) -> Value {
    let sheet = |name: &str, other: &str| {
        let cross_page = json!({"drawing_name": other, "link_label": "x"});
        let node = |n: usize| json!({"id": n, "class": "off_page_connector", "cross_page": cross_page});
        let nodes: Vec<Value> = (0..connectors).map(node).collect();
        json!({"nodes": nodes, "edges": [], "metadata": {"drawing_name": name}})
    };
    json!({"nodes": [], "edges": [], "sheets": [sheet("A", "B"), sheet("B", "A")]})
}

/// Many sheets with the same name, optionally with their own rules.
fn sheets(count: usize, rules: usize) -> Value {
    let rules: Vec<Value> = (0..rules).map(|n| json!({"role": "barrier", "match": format!("\\w{{20}}{n}")})).collect();
    let topology = if rules.is_empty() { json!(null) } else { json!({"roles": rules}) };
    let sheet = json!({"nodes": [], "metadata": {"drawing_number": "A", "topology": topology}});
    json!({"nodes": [], "edges": [], "sheets": vec![sheet; count]})
}

#[test]
fn intermediate_results_respect_the_memory_limit() {
    let drawings = [long_path(300, 2), long_path(200, 200), ambiguous(400), sheets(3_000, 0), sheets(200, 10)];
    let limits = Limits { memory: MEMORY, fuel: 1_000_000, ..Limits::default() };
    for drawing in drawings {
        let json = drawing.to_string();
        let allowed = MEMORY + MEMORY / 10 + MEMORY_PER_BYTE * json.len();
        let graph = Graph::from_json(json).expect("a drawing");
        for query_text in QUERIES {
            let query = Query::parse(query_text).expect(query_text);
            let scratch = Scratch::new();
            let (outcome, used) = allocator::measure(|| query.run(&graph, &scratch, limits));
            let result = outcome.map(|_| ()).map_err(|error| error.code().as_str());
            assert!(used.peak <= allowed, "{query_text} took {} of {allowed}: {result:?}", used.peak);
        }
    }
}

#[test]
fn an_array_of_numbers_is_no_network() {
    let graph = Graph::from_json(format!(r#"{{"nodes": [{}1]}}"#, "1,".repeat(1_000_000))).expect("a document");
    let run = |text: &str, memory: usize| {
        let query = Query::parse(text).expect(text);
        let (result, used) = allocator::measure(|| query.to_json(&graph, Limits { memory, ..Limits::default() }));
        (result.map_err(|error| error.code().as_str()), used.peak)
    };
    for _ in 0..2 {
        let (result, peak) = run("nodes() | size()", MEMORY);
        assert_eq!((result, peak < MEMORY), (Err("PQ4007"), true));
        assert_eq!(run(".nodes | size()", MEMORY).0.as_deref(), Ok("1000001"));
        assert_eq!(run("nodes() | size()", 256 << 20).0.as_deref(), Ok("1000001"));
    }
}

#[test]
fn intermediate_memory_is_released() {
    let graph = Graph::from_json(long_path(50, 50).to_string()).expect("a drawing");
    let limits = Limits { memory: 1 << 20, ..Limits::default() };
    for call in ["withGraph(graph(), 1)", "withTopology({tag: [\"tag\"]}, 1)", "diff(graph(), graph()).equal"] {
        let query = format!("nodes() | map({call}) | uniq() | size()");
        assert_eq!(Query::parse(&query).expect(&query).to_json(&graph, limits).expect(&query), "1");
    }
}

/// Returns the problems that are reported for the topology of a drawing.
fn topology_problems(topology: Value) -> String {
    let document = json!({"nodes": [{"id": 1}], "metadata": {"topology": topology}}).to_string();
    let graph = Graph::from_json(document).expect("a drawing");
    let query = Query::parse("graphInfo().topology_problems").expect("a query");
    query.to_json(&graph, Limits::default()).expect("it runs")
}

#[test]
fn custom_names_of_a_drawing_are_limited() {
    let rules =
        |count: usize, pattern: &str| json!({"roles": vec![json!({"role": "barrier", "match": pattern}); count]});
    let names = |count: usize, name: &str| json!({"tag": vec![name; count]});
    let pairs = |count: usize| json!({"endpoints": vec![["a", "b"]; count]});
    for valid in [rules(100, "absperrer"), rules(1, r"\w{3}"), names(100, "nr"), pairs(100)] {
        assert_eq!(topology_problems(valid), "[]");
    }
    let no_rules = r#"["a value at `roles` that is not an array of at most 100 `{role, match}`"]"#;
    let no_pattern = r#"["a pattern at `roles` that is malformed or too large"]"#;
    for (too_large, problem) in [
        (rules(101, "absperrer"), no_rules),
        (rules(1, r"\w{300}"), no_pattern),
        (rules(60, r"\w{3}"), r#"["patterns at `roles` that together are too large"]"#),
        (rules(1, &"a".repeat(1_001)), no_pattern),
        (names(101, "nr"), r#"["a value at `tag` that is not an array of at most 100 strings"]"#),
        (names(1, &"n".repeat(1_001)), r#"["a value at `tag` that is not an array of at most 100 strings"]"#),
        (pairs(101), r#"["a value at `endpoints` that is not an array of at most 100 pairs"]"#),
    ] {
        assert_eq!(topology_problems(too_large), problem);
    }
    assert!(TopologyConfig::from_json(&rules(101, "absperrer").to_string()).is_err());
    let unknown: serde_json::Map<String, Value> = (0..300).map(|n| (format!("k{n}"), json!(n))).collect();
    assert_eq!(topology_problems(unknown.into()).matches("an unknown entry").count(), 100);
}

#[test]
fn nested_rules_are_rejected() {
    let rules = vec![json!({"role": "barrier", "match": "absperrer"}); 60];
    let document = json!({"nodes": [{"id": 1, "class": "absperrer"}], "own": {"roles": rules}}).to_string();
    let graph = Graph::from_json(document).expect("a drawing");
    let run = |query: &str| {
        let result = Query::parse(query).and_then(|query| query.to_json(&graph, Limits::default()));
        result.map_err(|error| error.message().to_owned())
    };
    assert_eq!(run("withTopology(.own, graphInfo().roles)").as_deref(), Ok(r#"{"barrier":1}"#));
    let nested = run("withTopology(.own, withTopology(.own, graphInfo().roles))");
    assert!(nested.as_ref().is_err_and(|message| message.contains("more than 100 rules at `roles`")), "{nested:?}");
}

#[test]
fn a_very_long_class_has_no_role() {
    for (count, role) in [(20, r#"{"barrier":1}"#), (40, r#"{"none":1}"#)] {
        let class = format!("{}gate_valve", "flanged_".repeat(count));
        let graph = Graph::from_json(json!({"nodes": [{"id": 1, "class": class}]}).to_string()).expect("a drawing");
        let query = Query::parse("graphInfo().roles").expect("a query");
        assert_eq!(query.to_json(&graph, Limits::default()).expect("it runs"), role);
    }
}
