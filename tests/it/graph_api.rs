//! Rust API of nodes and edges: it agrees with the functions of the language.

use std::fs;

use pidq::{Dialect, EdgeId, Function, Graph, Limits, NodeId, Query, Scratch, TopologyConfig, Value};
use proptest::prelude::*;
use serde_json::json;

use crate::cli::pidq;
use crate::drawing_notation::{VOCABULARIES, drawing, drawing_in};
use crate::graph::evaluate;
use crate::properties::cases;

type Json = serde_json::Value;

fn load(document: &str) -> Graph {
    Graph::from_json(document).expect("the drawing is JSON")
}

/// Returns the result of a query as JSON.
fn query_json(graph: &Graph, query: &str) -> Json {
    evaluate(graph, query, "{}").unwrap_or_else(|error| panic!("{query}: {error}"))
}

fn json(value: Value<'_>) -> Json {
    serde_json::from_str(&format!("{value:?}")).expect("a value shows as JSON")
}

fn list<'g>(values: impl Iterator<Item = Value<'g>>) -> Json {
    values.map(json).collect()
}

/// Checks that each node and edge agrees with the language. All of them must be objects.
fn check_items(graph: &Graph) {
    let node = |id: Option<NodeId>| id.map_or(Json::Null, |id| json(graph.node(id)));
    let ends = |id: EdgeId| json!({"source": node(graph.edge(id).source()), "target": node(graph.edge(id).target())});
    let outgoing = |id| list(graph.outgoing(id).map(|(edge, _)| graph.edge(edge).value()));
    let incoming = |id| list(graph.incoming(id).map(|(edge, _)| graph.edge(edge).value()));
    let successors = |id| unique(graph.outgoing(id).map(|(_, node)| node));
    let predecessors = |id| unique(graph.incoming(id).map(|(_, node)| node));
    let node_values = |ids: Vec<NodeId>| list(ids.into_iter().map(|id| graph.node(id)));

    assert_eq!(list(graph.nodes().map(|id| graph.node(id))), query_json(graph, "nodes()"));
    assert_eq!(list(graph.edges().map(|id| graph.edge(id).value())), query_json(graph, "edges()"));
    assert_eq!(graph.edges().map(ends).collect::<Json>(), query_json(graph, "edges() | endpoints()"));
    assert_eq!(graph.nodes().map(outgoing).collect::<Json>(), query_json(graph, "nodes() | map(outgoing())"));
    assert_eq!(graph.nodes().map(incoming).collect::<Json>(), query_json(graph, "nodes() | map(incoming())"));
    let expected_successors = query_json(graph, r#"nodes() | map(neighbors("out"))"#);
    assert_eq!(graph.nodes().map(|id| node_values(successors(id))).collect::<Json>(), expected_successors);
    let expected_predecessors = query_json(graph, r#"nodes() | map(neighbors("in"))"#);
    assert_eq!(graph.nodes().map(|id| node_values(predecessors(id))).collect::<Json>(), expected_predecessors);
    assert!(graph.nodes().all(|id| graph.node_of(graph.node(id)) == Some(id)), "a node is identified by its position");
    assert!(graph.edges().all(|id| graph.node_of(graph.edge(id).value()).is_none()), "an edge is not a node");
}

/// Removes duplicates, keeping the order.
fn unique(ids: impl Iterator<Item = NodeId>) -> Vec<NodeId> {
    let mut found = Vec::new();
    ids.for_each(|id| found.extend(Some(id).filter(|id| !found.contains(id))));
    found
}

/// Checks that `Graph::find` and the function `node` find the same node, or fail with the same error.
fn check_find(graph: &Graph, reference: Value<'_>) {
    let query = format!("node({reference:?})");
    match (graph.find(reference), evaluate(graph, &query, "{}")) {
        (Ok(Some(id)), Ok(node)) => assert_eq!(json(graph.node(id)), node, "{query}"),
        (Ok(None), Err(shown)) => assert!(shown.starts_with("PQ3002"), "{query}: {shown}"),
        (Err(error), Err(shown)) => assert!(shown.starts_with(&error.to_string()), "{query}: {error} but {shown}"),
        (found, result) => panic!("{query}: {found:?} but {result:?}"),
    }
}

/// Checks all ids and tags of nodes.
fn check_references(graph: &Graph, fields: &[&str]) {
    for node in graph.nodes().filter_map(|id| graph.node(id).as_object()) {
        fields.iter().filter_map(|field| node.get(field)).for_each(|reference| check_find(graph, reference));
    }
}

#[test]
fn the_api_agrees_with_language_functions() {
    for name in
        ["tests/data/graph/pid_small", "examples/data/plant", "examples/data/plant_vendor", "examples/data/storage"]
    {
        let path = format!("{}/{name}.json", env!("CARGO_MANIFEST_DIR"));
        let graph = Graph::from_json(fs::read(path).expect("a drawing")).expect("JSON");
        assert!(graph.nodes().len() > 10 && graph.edges().len() > 10, "{name}");
        check_items(&graph);
        check_references(&graph, &["id", "tag", "uuid", "name", "qualified_tag"]);
    }
}

#[test]
fn field_names_come_from_the_drawing() {
    let plant = "T-1 → V-1(closed) → P-1.N1; P-1.N2@hot → J-1 — V-2 → T-2; V-3 ← J-1; I-1 ⇢ V-1";
    for vocabulary in &VOCABULARIES {
        let graph = load(&drawing_in(plant, vocabulary));
        check_items(&graph);
        check_references(&graph, &[vocabulary.id, vocabulary.tag]);
        let tank = graph.find("T-1").expect("one tank").expect("a tank");
        assert_eq!(graph.outgoing(tank).len(), 1, "{}", vocabulary.id);
    }
}

#[test]
fn field_names_may_come_from_a_config() {
    let document = r#"{"items": [{"nr": 1}, {"nr": 2}], "pipes": [{"von": 1, "nach": 2}]}"#;
    let names = r#"{"paths": {"nodes": "items", "edges": "pipes"}, "node_id": "nr", "endpoints": [["von", "nach"]]}"#;
    let graph = load(document);
    assert_eq!((graph.nodes().len(), graph.edges().len()), (0, 0));
    // Tables built with one config are not reused with another.
    let graph = graph.with_topology(TopologyConfig::from_json(names).expect("a topology"));
    assert_eq!((graph.nodes().len(), graph.edges().len()), (2, 1));
    check_items(&graph);
    check_find(&graph, Value::from(2.0));
}

#[test]
fn paths_may_come_from_metadata() {
    let document = r#"{"sheet": {"items": [{"id": "a"}, {"id": "b"}], "pipes": [{"from": "a", "to": "b"}]},
        "metadata": {"topology": {"paths": {"nodes": "sheet.items", "edges": "sheet.pipes"}}}}"#;
    let graph = load(document);
    assert_eq!((graph.nodes().len(), graph.edges().len()), (2, 1));
    check_items(&graph);
    assert_eq!(json(graph.root()), query_json(&graph, "get()"));
    assert_eq!(query_json(&graph, "graph() | keys()"), json!(["items", "pipes"]));
}

#[test]
fn documents_without_a_graph_have_no_nodes() {
    let other = load(&drawing("T-1 → P-1"));
    let (node, edge) = (other.nodes().next().expect("a node"), other.edges().next().expect("an edge"));
    for document in ["{}", "[]", "1", "null", r#"{"nodes": 1, "edges": []}"#, r#"{"edges": [{"from": 1, "to": 2}]}"#] {
        let graph = load(document);
        assert_eq!((graph.nodes().len(), graph.edges().len()), (0, 0), "{document}");
        assert_eq!(graph.find("T-1").expect("no error"), None);
        assert_eq!(graph.node_of(other.node(node)), None);
        assert!(graph.warnings().is_empty());
        check_foreign(&graph, node, edge);
    }
}

fn check_foreign(graph: &Graph, node: NodeId, edge: EdgeId) {
    assert!(graph.node(node).is_null());
    assert!(graph.edge(edge).value().is_null());
    assert_eq!((graph.edge(edge).source(), graph.edge(edge).target()), (None, None));
    assert_eq!((graph.outgoing(node).len(), graph.incoming(node).len()), (0, 0));
}

#[test]
fn ids_of_another_graph_resolve_to_nothing() {
    let large = load(&drawing("T-1 → V-1 → P-1 → T-2"));
    let small = load(r#"{"nodes": [{"id": "T-1"}], "edges": []}"#);
    let (node, edge) = (large.nodes().next_back().expect("a node"), large.edges().next_back().expect("an edge"));
    check_foreign(&small, node, edge);
    // A node of another document is found by its id, like objects built by queries.
    assert_eq!(small.node_of(large.node(large.nodes().next().expect("a node"))), small.nodes().next());
    assert_eq!(small.node_of(large.node(node)), None);
}

#[test]
fn ends_without_a_node_are_none() {
    let document = r#"{"nodes": [{"id": "a"}, {"id": "b"}], "edges":
        [{"from": "a", "to": "zz"}, {"from": "a"}, {"from": null, "to": "b"}, {"from": "a", "to": "b"}]}"#;
    let graph = load(document);
    let named: Vec<(bool, bool)> =
        graph.edges().map(|id| graph.edge(id)).map(|edge| (edge.source().is_some(), edge.target().is_some())).collect();
    assert_eq!(named, [(true, false), (true, false), (false, true), (true, true)]);
    let first = graph.nodes().next().expect("a node");
    assert_eq!(
        graph.outgoing(first).map(|(edge, _)| edge).collect::<Vec<_>>(),
        [graph.edges().next_back().expect("an edge")]
    );
}

#[test]
fn items_other_than_objects_have_ids() {
    let graph = load(r#"{"nodes": [{"id": "a"}, 7, null, {"id": "b"}], "edges": [5, {"from": "a", "to": "b"}]}"#);
    let [a, seven, null, b] = graph.nodes().collect::<Vec<_>>()[..] else { panic!("four nodes") };
    assert_eq!((json(graph.node(seven)), graph.node(null).is_null()), (json!(7), true));
    assert_eq!(graph.node_of(graph.node(seven)), None);
    assert_eq!(graph.outgoing(a).map(|(_, node)| node).collect::<Vec<_>>(), [b]);
    assert_eq!(graph.outgoing(seven).len(), 0);
}

#[test]
fn references_are_ids_or_unique_tags() {
    let document = r#"{"nodes": [{"id": 1, "tag": "A"}, {"id": "1", "tag": "B"}, {"id": "x", "tag": "A"},
        {"tag": "C"}, {"id": "a", "n": 1}, {"id": "a", "n": 2}, {"id": "C"}, {"id": -0.0}], "edges": []}"#;
    let graph = load(document);
    for reference in ["1", "A", "B", "C", "a", "x", "no such tag", ""].map(Value::String) {
        check_find(&graph, reference);
    }
    [1.0, 0.0, 2.5].map(Value::from).into_iter().for_each(|reference| check_find(&graph, reference));
    let several = graph.find("A").expect_err("two have the tag");
    assert_eq!((several.code().as_str(), several.help()), ("PQ3004", Some(r#"use an id: 1, "x""#)));
    for other in [Value::Null, Value::Bool(true), graph.root()] {
        assert_eq!(graph.find(other).expect("not a reference"), None);
    }
    let twice: Vec<NodeId> = graph.nodes().skip(4).take(2).collect();
    assert_eq!(graph.find("a").expect("an id"), Some(twice[0]));
    assert_eq!(
        twice.iter().map(|id| graph.node_of(graph.node(*id))).collect::<Vec<_>>(),
        [Some(twice[0]), Some(twice[1])]
    );
}

/// Adds `fan()`: for the piped node, its index, the edges that leave it, and the nodes they lead to.
fn fan() -> Dialect {
    let fan = Function::new("fan", |cx, input, _| {
        let graph = cx.graph();
        let Some(node) = graph.node_of(input) else { return Ok(Value::Null) };
        let edges = cx.make_array(graph.outgoing(node).map(|(edge, _)| graph.edge(edge).value()))?;
        let nodes = cx.make_array(graph.outgoing(node).map(|(_, node)| graph.node(node)))?;
        cx.make_array([Value::from(graph.nodes().take_while(|other| other < &node).count() as f64), edges, nodes])
    });
    Dialect::standard().with_function(fan)
}

fn evaluate_with_fan(graph: &Graph, query: &str) -> String {
    fan()
        .parse(query)
        .and_then(|query| query.to_json(graph, Limits::default()))
        .unwrap_or_else(|error| error.to_string())
}

#[test]
fn custom_functions_read_the_graph() {
    let graph = load(&drawing("T-1 → V-1 → P-1; T-1 → V-2"));
    let shown = "fan() | [.0, .1 | map(.id), .2 | map(.id)]";
    assert_eq!(evaluate_with_fan(&graph, &format!(r#"node("T-1") | {shown}"#)), r#"[0,["e1","e3"],["V-1","V-2"]]"#);
    assert_eq!(evaluate_with_fan(&graph, &format!(r#"nodes() | last() | {shown}"#)), "[3,[],[]]");
    assert_eq!(evaluate_with_fan(&graph, &format!(r#"{{id: "V-1"}} | {shown}"#)), r#"[1,["e2"],["P-1"]]"#);
    assert_eq!(evaluate_with_fan(&graph, "edges() | map(fan()) | uniq()"), "[null]");
    assert_eq!(evaluate_with_fan(&graph, r#""T-1" | fan()"#), "null");
    assert_eq!(evaluate_with_fan(&load("{}"), "{id: 1} | fan()"), "null");
    // Custom functions get the graph of the document, even inside `withGraph`.
    let elsewhere = r#"withGraph({nodes: [{id: "P-1"}], edges: []}, nodes() | first() | fan() | .0)"#;
    assert_eq!(evaluate_with_fan(&graph, elsewhere), "2");
    let renamed = r#"withTopology({node_id: "tag"}, node("T-1") | fan() | .1 | size())"#;
    assert_eq!(evaluate_with_fan(&graph, renamed), "2");
}

fn warning_lines(document: &str) -> Vec<String> {
    load(document).warnings().into_iter().map(|warning| format!("{}: {}", warning.code, warning.message)).collect()
}

#[test]
fn warnings_are_one_line_per_rule() {
    let document = r#"{"nodes": [{"id": "a", "x": 1, "x": 2}, {"id": "a"}, {"id": "a"}, {"x": 0}, {"id": 1}, {"id": ""}],
        "edges": [{"id": "e", "from": "a", "to": "zz"}, {"from": "yy", "to": 2}, {"id": "e", "from": "a"},
                  {"id": "f", "from": "a", "to": 1, "edge_type": "physically_has_a"}, {"from": 1, "to": "a", "edge_type": "physically_has_a"}]}"#;
    let expected = [
        "PQW10: 1 duplicate key in the input; the last value is used",
        "G010: the node at index 3 has no id; 2 occurrences",
        "G011: another node has the id \"a\"; 2 occurrences",
        "G012: edge \"e\": another edge has the id \"e\"",
        "G013: the id 1 is a number, others are strings",
        "G020: edge \"e\": no node has the id \"zz\"; 2 occurrences",
        "G021: edge \"e\": the edge has no source or no target",
        "G030: these items contain each other: a, 1",
    ];
    let warnings = warning_lines(document);
    let codes = |lines: &[&str]| lines.iter().map(|line| line[..4].to_owned()).collect::<Vec<_>>();
    assert_eq!(warnings[..7], expected[..7]);
    assert_eq!(codes(&warnings.iter().map(String::as_str).collect::<Vec<_>>()), codes(&expected), "{warnings:?}");
}

#[test]
fn warnings_agree_with_validate() {
    let documents = [
        r#"{"nodes": [{"id": 1}, {"id": 1}, {"id": "1"}], "edges": []}"#,
        r#"{"nodes": [{"id": 1}, {}], "edges": [{"from": 1, "to": 1}, {"from": 1, "to": 9}]}"#,
        r#"{"nodes": [{"id": 1}, 5], "edges": [6, {"from": 1}, {"id": 1, "from": 1, "to": 1}, {"id": 1, "from": 1, "to": 1}]}"#,
        r#"{"nodes": [{"id": 1}, {"id": 2}], "edges": [{"from": 1, "to": 2}]}"#,
        include_str!("../data/graph/pid_small.json"),
        include_str!("../../examples/data/plant.json"),
    ];
    for document in documents {
        let graph = load(document);
        let found =
            query_json(&graph, r#"validate({rules: ["G01", "G020", "G021", "G030"]}) | map(.code) | uniq() | sort()"#);
        let warnings: Json = graph.warnings().iter().map(|warning| json!(warning.code)).collect();
        assert_eq!(warnings, found, "{document:.100}");
    }
}

#[test]
fn ids_in_a_configured_field_are_not_missing() {
    let document = r#"{"nodes": [{"Kennung": "a"}, {"Kennung": "a"}], "edges": [], "metadata": {"topology": {"node_id": "Kennung"}}}"#;
    assert_eq!(warning_lines(document), ["G011: another node has the id \"a\""]);
    let long = format!(r#"{{"nodes": [{{"id": "{0}"}}, {{"id": "{0}"}}], "edges": []}}"#, "é".repeat(100_000));
    assert!(warning_lines(&long)[0].len() < 200, "an id may be any string");
}

#[test]
fn a_run_reports_whether_it_used_the_graph() {
    let graph = load(&drawing("T-1 → P-1"));
    let uses_graph = |query: &str| {
        let (query, scratch) = (Query::parse(query).expect("valid query"), Scratch::new());
        query.run(&graph, &scratch, Limits::default()).expect("it runs").uses_graph
    };
    for query in ["nodes()", r#"downstream("T-1")"#, ".pid_graph.nodes | map(outgoing())", "withTopology({}, 1)"] {
        assert!(uses_graph(query), "{query}");
    }
    for query in [".pid_graph.nodes | size()", "if(false, nodes(), 1)", "withGraph({nodes: []}, nodes())"] {
        assert!(!uses_graph(query), "{query}");
    }
}

#[test]
fn the_command_prints_warnings_of_the_graph_it_uses() {
    let document = r#"{"nodes": [{"id": "a", "x": 1, "x": 2}, {"id": "a"}, {}, {}],
        "edges": [{"from": "a", "to": "zz"}, {"from": "a", "to": "yy"}]}"#;
    let twice = "warning[PQW10]: 1 duplicate key in the input; the last value is used\n";
    let others = "warning[G010]: the node at index 2 has no id; 2 occurrences\n\
        warning[G011]: another node has the id \"a\"\n\
        warning[G020]: edge 0: no node has the id \"zz\"; 2 occurrences\n  = help: `pidq validate` lists every case\n";
    let check = |query: &str, input: &str, expected: &str| {
        let output = pidq(&["query", query], input);
        assert_eq!(String::from_utf8_lossy(&output.stderr), expected, "{query}");
        assert_eq!(output.status.code(), Some(0), "{query}");
    };
    check("nodes() | size()", document, &format!("{twice}{others}"));
    check(".nodes | size()", document, twice);
    check("nodes() | size()", &drawing("T-1 → P-1"), "");
    check("tryOr(nodes(), [])", "{}", "");
}

/// A drawing with a node without an id and an edge to a missing node.
const DIRTY_DRAWING: &str = r#"{"nodes": [{"id": "a"}, {}], "edges": [{"id": "e", "from": "a", "to": "zz"}]}"#;

/// The warnings that commands print about it, one per line.
const WARNINGS: &str = "warning[G010]: the node at index 1 has no id\nwarning[G020]: edge \"e\": no node has the id \"zz\"\n  \
    = help: `pidq validate` lists every case\n";

fn run_pidq(args: &[&str], input: &str) -> String {
    let output = pidq(args, input);
    assert_eq!(output.status.code(), Some(0), "{args:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn explain_prints_warnings_of_the_graph() {
    assert_eq!(run_pidq(&["explain", "nodes() | size()"], DIRTY_DRAWING), WARNINGS);
    assert_eq!(run_pidq(&["explain", ".nodes | size()"], DIRTY_DRAWING), "");
    let output = pidq(&["explain", "--format", "json", "nodes() | size()"], DIRTY_DRAWING);
    let explanation: Json = serde_json::from_slice(&output.stdout).expect("valid JSON");
    let codes: Vec<_> =
        explanation["warnings"].as_array().expect("an array").iter().map(|warning| &warning["code"]).collect();
    assert_eq!(codes, ["G010", "G020"]);
}

#[test]
fn the_prompt_prints_warnings_at_the_first_graph_query() {
    let folder = std::env::temp_dir().join(format!("pidq-warnings-prompt-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("a.json");
    fs::write(&file, DIRTY_DRAWING).expect("a file");
    let file = file.to_str().expect("a path of text");
    assert_eq!(run_pidq(&["repl", file], ".nodes | size()\nnodes() | size()\nedges() | size()\n"), WARNINGS);
    let input = format!("nodes() | size()\n:load {file}\nnodes() | size()\n");
    assert_eq!(run_pidq(&["repl", file], &input), WARNINGS.repeat(2));
    fs::remove_dir_all(folder).expect("the folder goes");
}

/// One line per rule, regardless of the number of files and of the order in which they finish.
#[test]
fn warnings_about_many_files_are_one_line_per_rule() {
    let folder = std::env::temp_dir().join(format!("pidq-warnings-all-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let clean = r#"{"nodes": [{"id": "a"}], "edges": []}"#;
    let without_id = r#"{"nodes": [{}], "edges": []}"#;
    for (name, text) in [("1", clean), ("2", without_id), ("3", DIRTY_DRAWING), ("4", without_id), ("5", "{}")] {
        fs::write(folder.join(format!("{name}.json")), text).expect("a file");
    }
    let directory = folder.to_str().expect("a path of text");
    let file = |name: &str| folder.join(name).display().to_string();
    let expected = format!(
        "warning[G010]: {} (2 more files): the node at index 0 has no id\n\
        warning[G020]: {}: edge \"e\": no node has the id \"zz\"\n  = help: `pidq validate` lists every case\n",
        file("2.json"),
        file("3.json")
    );
    for threads in ["1", "4"] {
        let warnings =
            run_pidq(&["query", "--all", directory, "--threads", threads, "tryOr(nodes(), []) | size()"], "");
        assert_eq!(warnings, expected, "{threads} threads");
    }
    assert_eq!(run_pidq(&["query", "--all", directory, "size()"], "").matches("G0").count(), 0);
    fs::remove_dir_all(folder).expect("the folder goes");
}

const DIRECTIONS: [&str; 4] = ["forward", "backward", "both", "unknown"];

/// Generates drawings whose ids are strings, numbers, or both, and whose edges may have no node at an end.
fn any_drawing() -> impl Strategy<Value = (usize, Vec<(usize, usize, usize)>, bool)> {
    (1usize..8).prop_flat_map(|count| {
        let edge = (0..count + 1, 0..count + 1, 0..DIRECTIONS.len());
        (Just(count), prop::collection::vec(edge, 0..12), any::<bool>())
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(100), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn neighbors_agree_with_the_language_and_the_edges((count, edges, as_text) in any_drawing()) {
        let id = |at: usize| if as_text || at % 3 == 2 { json!(at.to_string()) } else { json!(at) };
        let nodes: Json = (0..count).map(|at| json!({ "id": id(at) })).collect();
        let pipes: Json = edges.iter().enumerate()
            .map(|(at, (from, to, direction))| json!({"id": at, "from": id(*from), "to": id(*to), "direction": DIRECTIONS[*direction]})).collect();
        let graph = load(&json!({"nodes": nodes, "edges": pipes}).to_string());
        check_items(&graph);

        let all: Vec<NodeId> = graph.nodes().collect();
        let position = |id: NodeId| all.iter().position(|known| *known == id).expect("a node of the graph");
        let pipes: Vec<EdgeId> = graph.edges().collect();
        let pipe = |id: EdgeId| pipes.iter().position(|known| *known == id).expect("an edge of the graph");
        for (at, node) in all.iter().enumerate() {
            let found: Vec<(usize, usize)> = graph.outgoing(*node).map(|(edge, to)| (pipe(edge), position(to))).collect();
            let expected: Vec<(usize, usize)> = edges.iter().enumerate().filter_map(|(pipe, (from, to, direction))| {
                let has_both_ends = *from < count && *to < count;
                let leaves = *from == at && DIRECTIONS[*direction] != "backward";
                let leaves_backward = *to == at && DIRECTIONS[*direction] != "forward";
                (has_both_ends && (leaves || leaves_backward)).then_some((pipe, if leaves { *to } else { *from }))
            }).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
