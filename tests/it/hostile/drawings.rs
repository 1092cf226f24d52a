//! Drawings whose answers are far larger than they are, and drawings that bring many words of their own: what is found
//! on the way to an answer counts as memory too.

use pidq::{Graph, Limits, Query, Scratch, TopologyConfig};
use serde_json::{Value, json};

use crate::allocator;

const MEMORY: usize = 4 << 20;
/// What walks and tables take for each byte of a drawing.
const A_BYTE: usize = 48;

const QUESTIONS: &[&str] = &[
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

/// Much equipment leads to much other equipment, all by one long way.
fn comet(ends: usize, length: usize) -> Value {
    let trunk = (0..length).map(|n| node(format!("k{n}"), "reducer"));
    let tanks = (0..ends).flat_map(|n| [node(format!("a{n}"), "tank"), node(format!("b{n}"), "tank")]);
    let pipes = (1..length).map(|n| pipe(format!("k{}", n - 1), format!("k{n}")));
    let last = format!("k{}", length - 1);
    let branches = (0..ends).flat_map(|n| [pipe(format!("a{n}"), "k0".into()), pipe(last.clone(), format!("b{n}"))]);
    json!({"nodes": trunk.chain(tanks).collect::<Vec<_>>(), "edges": pipes.chain(branches).collect::<Vec<_>>()})
}

/// Sheets whose connectors all fit to all of the other one.
fn ambiguous(connectors: usize) -> Value {
    let sheet = |name: &str, other: &str| {
        let cross_page = json!({"drawing_name": other, "link_label": "x"});
        let node = |n: usize| json!({"id": n, "class": "off_page_connector", "cross_page": cross_page});
        let nodes: Vec<Value> = (0..connectors).map(node).collect();
        json!({"nodes": nodes, "edges": [], "metadata": {"drawing_name": name}})
    };
    json!({"nodes": [], "edges": [], "sheets": [sheet("A", "B"), sheet("B", "A")]})
}

/// Many sheets of one name; each brings rules of its own if it is to.
fn sheets(count: usize, rules: usize) -> Value {
    let rules: Vec<Value> = (0..rules).map(|n| json!({"role": "barrier", "match": format!("\\w{{20}}{n}")})).collect();
    let topology = if rules.is_empty() { json!(null) } else { json!({"roles": rules}) };
    let sheet = json!({"nodes": [], "metadata": {"drawing_number": "A", "topology": topology}});
    json!({"nodes": [], "edges": [], "sheets": vec![sheet; count]})
}

#[test]
fn an_answer_takes_no_more_memory_than_allowed_on_its_way() {
    let drawings = [comet(300, 2), comet(200, 200), ambiguous(400), sheets(3_000, 0), sheets(200, 10)];
    let limits = Limits { memory: MEMORY, fuel: 1_000_000, ..Limits::default() };
    for drawing in drawings {
        let json = drawing.to_string();
        let allowed = MEMORY + MEMORY / 10 + A_BYTE * json.len();
        let graph = Graph::from_json(json).expect("a drawing");
        for question in QUESTIONS {
            let query = Query::parse(question).expect(question);
            let scratch = Scratch::new();
            let (outcome, used) = allocator::peak(|| query.run(&graph, &scratch, limits));
            let end = outcome.map(|_| ()).map_err(|error| error.code().as_str());
            assert!(used.peak <= allowed, "{question} took {} of {allowed}: {end:?}", used.peak);
        }
    }
}

#[test]
fn a_list_of_numbers_is_no_network() {
    let graph = Graph::from_json(format!(r#"{{"nodes": [{}1]}}"#, "1,".repeat(1_000_000))).expect("a document");
    let ask = |text: &str, memory: usize| {
        let query = Query::parse(text).expect(text);
        let (answer, used) = allocator::peak(|| query.to_json(&graph, Limits { memory, ..Limits::default() }));
        (answer.map_err(|error| error.code().as_str()), used.peak)
    };
    for _ in 0..2 {
        let (refused, peak) = ask("nodes() | size()", MEMORY);
        assert_eq!((refused, peak < MEMORY), (Err("PQ4007"), true));
        assert_eq!(ask(".nodes | size()", MEMORY).0.as_deref(), Ok("1000001"));
        assert_eq!(ask("nodes() | size()", 256 << 20).0.as_deref(), Ok("1000001"));
    }
}

#[test]
fn what_was_counted_on_the_way_is_given_back() {
    let graph = Graph::from_json(comet(50, 50).to_string()).expect("a drawing");
    let limits = Limits { memory: 1 << 20, ..Limits::default() };
    for call in ["withGraph(graph(), 1)", "withTopology({tag: [\"tag\"]}, 1)", "diff(graph(), graph()).equal"] {
        let again = format!("nodes() | map({call}) | uniq() | size()");
        assert_eq!(Query::parse(&again).expect(&again).to_json(&graph, limits).expect(&again), "1");
    }
}

/// What a drawing says of its own words, and what the engine says of that.
fn problems(topology: Value) -> String {
    let document = json!({"nodes": [{"id": 1}], "metadata": {"topology": topology}}).to_string();
    let graph = Graph::from_json(document).expect("a drawing");
    let query = Query::parse("graphInfo().topology_problems").expect("a query");
    query.to_json(&graph, Limits::default()).expect("an answer")
}

#[test]
fn a_drawing_has_few_words_of_its_own() {
    let rules =
        |count: usize, pattern: &str| json!({"roles": vec![json!({"role": "barrier", "match": pattern}); count]});
    let names = |count: usize, name: &str| json!({"tag": vec![name; count]});
    let pairs = |count: usize| json!({"endpoints": vec![["a", "b"]; count]});
    for fine in [rules(100, "absperrer"), rules(1, r"\w{3}"), names(100, "nr"), pairs(100)] {
        assert_eq!(problems(fine), "[]");
    }
    let no_rules = r#"["no list of up to 100 `{role, match}` at `roles`"]"#;
    let no_pattern = r#"["a pattern at `roles` that is malformed or too large"]"#;
    for (much, problem) in [
        (rules(101, "absperrer"), no_rules),
        (rules(1, r"\w{300}"), no_pattern),
        (rules(60, r"\w{3}"), r#"["patterns at `roles` that are too large together"]"#),
        (rules(1, &"a".repeat(1_001)), no_pattern),
        (names(101, "nr"), r#"["no list of up to 100 texts at `tag`"]"#),
        (names(1, &"n".repeat(1_001)), r#"["no list of up to 100 texts at `tag`"]"#),
        (pairs(101), r#"["no list of up to 100 pairs at `endpoints`"]"#),
    ] {
        assert_eq!(problems(much), problem);
    }
    assert!(TopologyConfig::from_json(&rules(101, "absperrer").to_string()).is_err());
    let strange: serde_json::Map<String, Value> = (0..300).map(|n| (format!("k{n}"), json!(n))).collect();
    assert_eq!(problems(strange.into()).matches("an unknown entry").count(), 100);
}

#[test]
fn rules_within_rules_are_no_more() {
    let rules = vec![json!({"role": "barrier", "match": "absperrer"}); 60];
    let document = json!({"nodes": [{"id": 1, "class": "absperrer"}], "own": {"roles": rules}}).to_string();
    let graph = Graph::from_json(document).expect("a drawing");
    let ask = |query: &str| {
        let answer = Query::parse(query).and_then(|query| query.to_json(&graph, Limits::default()));
        answer.map_err(|error| error.message().to_owned())
    };
    assert_eq!(ask("withTopology(.own, graphInfo().roles)").as_deref(), Ok(r#"{"barrier":1}"#));
    let twice = ask("withTopology(.own, withTopology(.own, graphInfo().roles))");
    assert!(twice.as_ref().is_err_and(|message| message.contains("more than 100 rules at `roles`")), "{twice:?}");
}

#[test]
fn a_class_as_long_as_a_text_has_no_role() {
    for (length, role) in [(200, r#"{"barrier":1}"#), (300, r#"{"none":1}"#)] {
        let class = format!("{}_gate_valve", "x".repeat(length));
        let graph = Graph::from_json(json!({"nodes": [{"id": 1, "class": class}]}).to_string()).expect("a drawing");
        let query = Query::parse("graphInfo().roles").expect("a query");
        assert_eq!(query.to_json(&graph, Limits::default()).expect("an answer"), role);
    }
}
