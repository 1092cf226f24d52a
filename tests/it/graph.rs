//! Graph functions: the worked examples, corner cases in a notation for drawings, and oracles.

use pidq::{Dialect, Graph, Limits, Query, TopologyConfig};
use serde_json::Value;

use crate::drawing_notation::{VOCABULARIES, drawing, drawing_in};

/// Returns the result of a query with parameters, or the first line of its error.
pub fn evaluate(graph: &Graph, query: &str, params: &str) -> Result<Value, String> {
    let result =
        Dialect::standard().parse_with(query, params).and_then(|query| query.to_json(graph, Limits::default()));
    result.map(|json| serde_json::from_str(&json).expect("a result is JSON")).map_err(|error| error.to_string())
}

#[test]
fn the_worked_examples_give_their_documented_results() {
    let graph = Graph::from_json(include_str!("../data/graph/pid_small.json")).expect("the drawing is JSON");
    let cases: Value =
        serde_json::from_str(include_str!("../data/graph/graph_examples.json")).expect("the cases are JSON");
    let cases = cases["cases"].as_array().expect("an array of cases");
    let wrong: Vec<String> = cases.iter().filter_map(|case| mismatch(&graph, case)).collect();
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
    assert_eq!(cases.len(), 39);
}

/// Describes the mismatch of a case, if any.
fn mismatch(graph: &Graph, case: &Value) -> Option<String> {
    let query = case["query"].as_str().expect("a case has a query");
    let params = case.get("params").map_or("{}".into(), Value::to_string);
    let result = evaluate(graph, query, &params);
    let is_correct = match (&result, case.get("error")) {
        (Err(shown), Some(error)) => {
            *shown == format!("{}: {}", string_field(error, "code"), string_field(error, "message"))
        }
        (Ok(result), None) => json_equal(result, &case["output"]),
        _ => false,
    };
    let tree =
        Dialect::standard().tree(query).map(|tree| serde_json::from_str::<Value>(&tree).expect("a tree is JSON"));
    let same_tree =
        case.get("json_query").is_none_or(|expected| tree.as_ref().is_ok_and(|tree| json_equal(tree, expected)));
    (!is_correct || !same_tree)
        .then(|| format!("{query}\n  gives {result:?}\n  not {}", case.get("output").unwrap_or(&case["error"])))
}

/// Checks a query on a drawing in the notation of `drawing_notation.rs`.
pub fn check_graph(plant: &str, query: &str, expected: &str) {
    check_document(&drawing(plant), query, expected);
}

pub fn check_document(document: &str, query: &str, expected: &str) {
    let graph = Graph::from_json(document).expect("the drawing is JSON");
    let result = evaluate(&graph, query, "{}").map(|result| result.to_string());
    let shown = result.unwrap_or_else(|error| error);
    let is_code = expected.starts_with("PQ");
    assert!(
        shown == expected || is_code && shown.starts_with(expected),
        "{query} on {document}\n gives {shown}\n not   {expected}"
    );
}

/// Returns the result of a query on a document, or its error.
pub fn evaluate_document(document: &str, query: &str) -> String {
    let graph = Graph::from_json(document).expect("the drawing is JSON");
    evaluate(&graph, query, "{}").map_or_else(|error| error, |result| result.to_string())
}

fn string_field<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().expect("a text")
}

/// Compares JSON values, with `1` equal to `1.0`.
fn json_equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| json_equal(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| json_equal(a, b)))
        }
        _ => a == b,
    }
}

#[test]
fn plain_json_has_no_graph() {
    check_document("{}", "nodes()", "PQ3006");
    check_document("[1]", "graphInfo()", "PQ3006");
    check_document(r#"{"nodes": 1}"#, "edges()", "PQ3006");
    check_document("{}", "tryOr(nodes(), [])", "[]");
}

#[test]
fn every_function_accepts_an_empty_graph() {
    for graph in [r#"{"nodes": []}"#, r#"{"nodes": [], "edges": []}"#, r#"{"pid_graph": {"nodes": [], "edges": []}}"#] {
        for query in
            ["nodes()", "edges()", "cycles()", "components()", "cutPoints()", "loops()", "lineList()", "deadEnds()"]
        {
            check_document(graph, query, "[]");
        }
        check_document(graph, r#"downstream("P-1")"#, "PQ3002");
        check_document(graph, "[] | downstream()", "[]");
        check_document(graph, "graphInfo().nodes", "0");
    }
}

#[test]
fn walks_start_at_nodes_ids_tags_and_arrays_of_them() {
    let plant = "T-1 → V-1 → P-1; T-2 → V-2 → P-1";
    for query in [
        r#"downstream("T-1")"#,
        r#"node("T-1") | downstream()"#,
        r#""T-1" | downstream()"#,
        r#"["T-1"] | downstream()"#,
        r#"{id: "T-1"} | downstream()"#,
        r#"nodes(.tag == "T-1") | downstream()"#,
    ] {
        check_graph(plant, &format!("{query} | map(.id)"), r#"["V-1","P-1"]"#);
    }
    check_graph(plant, r#"downstream(["T-1", "T-2"]) | map(.id)"#, r#"["V-1","V-2","P-1"]"#);
    check_graph(plant, "null | downstream()", "PQ3003");
    check_graph(plant, "true | downstream()", "PQ3001");
    check_graph(plant, "edges() | first() | downstream()", "PQ3001");
    check_graph(plant, "downstream()", "PQ3001");
    check_graph(plant, r#"downstream("T1") | map(.id)"#, r#"["V-1","P-1"]"#);
    check_graph(plant, r#"downstream("t1")"#, r#"PQ3002: no node with id or tag "t1"; did you mean "T-1""#);
    let pumps = "T-101 → P-101A; T-101 → P-101B";
    let error = r#"PQ3002: no node with id or tag "P101C"; did you mean "P-101A", "P-101B"?"#;
    check_graph(pumps, r#"downstream("P101C")"#, error);
}

#[test]
fn pipes_drawn_to_equipment_itself_lead_to_its_nozzles_and_back() {
    let (by_pipe, by_nozzle) = ("S-1 → T-1; T-1.N1 → V-1 → T-2", "S-1 → T-1.N1; T-1 → V-1 → T-2");
    for pass in ["any", "zone"] {
        let down = format!(r#"downstream("S-1", {{pass: "{pass}"}}) | map(.id)"#);
        check_graph(by_pipe, &down, r#"["T-1","T-1.N1","V-1","T-2"]"#);
        check_graph(by_nozzle, &down, r#"["T-1.N1","T-1","V-1","T-2"]"#);
        let route = format!(r#"shortestPath("S-1", "T-2", {{pass: "{pass}"}}).nodes | map(.id)"#);
        check_graph(by_pipe, &route, r#"["S-1","T-1","T-1.N1","V-1","T-2"]"#);
        check_graph(by_nozzle, &route, r#"["S-1","T-1.N1","T-1","V-1","T-2"]"#);
    }
    check_graph(by_nozzle, r#"downstream("S-1") | map(.id)"#, r#"["T-1.N1"]"#);
    check_graph("S-1 → T-1.N1; T-1 → V-1 → S-1", "cycles() | map(.length)", "[4]");
    let other_side = "S-1 → T-1.N1@hot; T-1 → V-1 → T-2";
    check_graph(other_side, r#"reachable("S-1", "T-2", {pass: "zone"})"#, "false");
    check_graph(other_side, r#"reachable("S-1", "T-2")"#, "true");
    check_graph(other_side, "components() | map(map(.id)) | first()", r#"["S-1","T-1.N1"]"#);
    let both_sides = "S-1 → E-1.N1@hot; E-1.N2@hot → S-2 → E-1 → S-3; E-1.N3@cold → S-4";
    check_graph(
        both_sides,
        r#"downstream("S-1", {pass: "zone"}) | map(.id) | sort()"#,
        r#"["E-1","E-1.N1","E-1.N2","S-2","S-3"]"#,
    );
    let two_ways = "S-1 → T-1; S-1 → S-2 → T-1.N1; T-1.N2 → S-3";
    check_graph(two_ways, r#"downstream("S-1", {pass: "any", avoid: .id == "T-1"}) | map(.id)"#, r#"["S-2","T-1.N1"]"#);
    check_graph(
        two_ways,
        r#"downstream("S-1", {pass: "any", until: .id == "T-1"}) | map(.id)"#,
        r#"["T-1","S-2","T-1.N1"]"#,
    );
}

#[test]
fn routes_respect_depth() {
    let plant = "T-1 → V-1 → J-1 → P-1 → T-2";
    for (depth, length, between) in [(3, "null", "0"), (4, "4", "5")] {
        let options = format!("{{depth: {depth}}}");
        check_graph(plant, &format!(r#"shortestPath("T-1", "T-2", {options}).length"#), length);
        check_graph(plant, &format!(r#"between("T-1", "T-2", {options}) | size()"#), between);
        check_graph(plant, &format!(r#"reachable("T-1", "T-2", {options})"#), &(depth == 4).to_string());
    }
}

#[test]
fn a_short_route_is_cheap_in_a_large_drawing() {
    let chain = (0..400).map(|at| format!("S-{at}")).collect::<Vec<_>>().join(" → ");
    let graph = Graph::from_json(drawing(&chain)).expect("the drawing is JSON");
    let limits = Limits { fuel: 100, ..Limits::default() };
    let evaluate = |query: &str| Query::parse(query).expect("the query compiles").to_json(&graph, limits);
    assert_eq!(evaluate(r#"shortestPath("S-3", "S-9").length"#).expect("six steps"), "6");
    assert_eq!(evaluate(r#"reachable("S-3", "S-9")"#).expect("six steps"), "true");
    assert!(evaluate(r#"reachable("S-9", "S-3")"#).is_err(), "everything downstream is searched");
}

#[test]
fn a_route_beyond_the_depth_limit_is_an_error() {
    let chain = (0..60).map(|at| format!("S-{at}")).collect::<Vec<_>>().join(" → ");
    let graph = Graph::from_json(drawing(&chain)).expect("the drawing is JSON");
    let limits = Limits { depth: 50, ..Limits::default() };
    let evaluate = |query: &str| Query::parse(query).expect("the query compiles").to_json(&graph, limits);
    let cut_off = evaluate(r#"shortestPath("S-0", "S-59")"#).expect_err("too long");
    assert_eq!(cut_off.code(), pidq::error::Code::TooDeep);
    assert!(evaluate(r#"between("S-0", "S-59")"#).is_err(), "the nodes between are unknown");
    assert_eq!(evaluate(r#"shortestPath("S-0", "S-9").length"#).expect("a short path"), "9");
    assert_eq!(evaluate(r#"shortestPath("S-0", "S-59", {depth: 20})"#).expect("the depth option applies"), "null");
}

#[test]
fn a_nozzle_may_name_itself_as_its_parent() {
    const TEE: &str = r#"{"id": "m", "class": "tee"}"#;
    let drawing = |edges: &str| {
        format!(r#"{{"nodes": [{{"id": "n", "class": "nozzle", "parent_id": "n"}}, {TEE}], "edges": [{edges}]}}"#)
    };
    check_document(&drawing(r#"{"type": "pipe", "from": "n", "to": "n"}"#), r#"downstream("n")"#, "[]");
    check_document(
        &drawing(r#"{"type": "pipe", "from": "n", "to": "m"}"#),
        r#"downstream("n") | map(.id)"#,
        r#"["m"]"#,
    );
}

#[test]
fn options_are_checked_when_a_query_is_compiled() {
    let plant = "T-1 → V-1";
    check_graph(plant, r#"[] | downstream({untill: .x})"#, "PQ1011");
    check_graph(plant, r#"downstream("T-1", 5)"#, "PQ1010");
    check_graph(plant, r#"downstream("T-1", {depth: "far"})"#, "PQ1012");
    check_graph(plant, r#"downstream("T-1", {pass: "most"})"#, "PQ1012");
    check_graph(plant, r#"downstream("T-1", {limit: 0})"#, "PQ4004");
    check_graph(plant, r#"shortestPath("T-1", "V-1", {weight: 0 - 1})"#, "PQ3005");
    check_graph(plant, r#"shortestPath("T-1", "V-1", {weight: .nothing})"#, "PQ3005");
}

#[test]
fn a_walk_visits_each_node_once_and_terminates_on_cycles() {
    check_graph("S-1 → S-2 → S-3 → S-1", r#"downstream("S-1") | map(.id)"#, r#"["S-2","S-3"]"#);
    check_graph("S-1 → S-1 → S-2", r#"downstream("S-1") | map(.id)"#, r#"["S-2"]"#);
    check_graph("S-1 → S-2; S-1 → S-2", r#"downstream("S-1") | map(.id)"#, r#"["S-2"]"#);
    check_graph("S-1 → S-2; S-3 → S-4", r#"downstream("S-1") | map(.id)"#, r#"["S-2"]"#);
    check_graph("S-1 → S-2 → S-3", r#"downstream("S-1", {depth: 1}) | map(.id)"#, r#"["S-2"]"#);
    check_graph("S-1 → S-2 → S-3", r#"downstream("S-1", {depth: 0})"#, "[]");
}

#[test]
fn until_includes_a_node_and_avoid_excludes_it() {
    let plant = "S-1 → S-2 → S-3 → S-4; S-1 → S-5 → S-4";
    check_graph(plant, r#"downstream("S-1", {until: .id == "S-2"}) | map(.id)"#, r#"["S-2","S-5","S-4"]"#);
    check_graph(plant, r#"downstream("S-1", {avoid: .id == "S-5"}) | map(.id)"#, r#"["S-2","S-3","S-4"]"#);
    check_graph(plant, r#"downstream("S-1", {edges: .id != "e4"}) | map(.id)"#, r#"["S-2","S-3","S-4"]"#);
}

#[test]
fn an_edge_of_unknown_direction_is_followed_both_ways_and_marked() {
    let plant = "S-1 — S-2 → S-3";
    check_graph(plant, r#"trace("S-1") | map([.node.id, .assumed])"#, r#"[["S-1",false],["S-2",true],["S-3",true]]"#);
    check_graph(plant, r#"upstream("S-3") | map(.id)"#, r#"["S-2","S-1"]"#);
    check_graph("S-1 — S-2", "cycles()", "[]");
    let backward = r#"{"nodes":[{"id":1},{"id":2}],"edges":[{"from":1,"to":2,"direction":"backward"}]}"#;
    check_document(backward, "downstream(2) | map(.id)", "[1]");
    check_document(backward, "downstream(1)", "[]");
    check_document(backward, "edges() | first() | endpoints() | [.source.id, .target.id]", "[1,2]");
}

#[test]
fn identities_are_never_guessed() {
    let mixed = r#"{"nodes":[{"id":1,"tag":"A"},{"id":"1","tag":"B"},{"id":"x","tag":"A"},{"tag":"C"}],"edges":[{"from":1,"to":"1"}]}"#;
    check_document(mixed, "node(1).tag", r#""A""#);
    check_document(mixed, r#"node("1").tag"#, r#""B""#);
    check_document(mixed, r#"downstream(1) | map(.tag)"#, r#"["B"]"#);
    check_document(mixed, r#"node("A")"#, "PQ3004");
    check_document(mixed, r#"node("A", "none")"#, "PQ3004");
    check_document(mixed, r#"node("C") | downstream()"#, "[]");
    let duplicates = r#"{"nodes":[{"id":"a","n":1},{"id":"a","n":2},{"id":"b"}],"edges":[{"from":"a","to":"b"}]}"#;
    check_document(duplicates, r#"node("a").n"#, "1");
    check_document(duplicates, r#"upstream("b") | map(.n)"#, "[1]");
    check_document(duplicates, r#"nodes(.n == 2) | downstream()"#, "[]");
    check_document(duplicates, r#"validate({rules: "G011"}) | map([.code, .ids])"#, r#"[["G011",["a","a"]]]"#);
}

#[test]
fn invalid_edges_and_nodes_are_tolerated() {
    let invalid = r#"{"nodes":[{"id":"a"},7,null,{"id":"b"}],"edges":[{"from":"a","to":"zz"},{"from":"a"},5,{"from":null,"to":"b"},{"from":"a","to":"b"}]}"#;
    check_document(invalid, r#"downstream("a") | map(.id)"#, r#"["b"]"#);
    check_document(invalid, r#"nodes() | last() | upstream() | map(.id)"#, r#"["a"]"#);
    check_document(
        invalid,
        "edges() | filter(typeOf(.) == \"object\") | endpoints() | map(.target.id)",
        r#"[null,null,"b","b"]"#,
    );
    check_document(
        invalid,
        r#"validate({severity: "error"}) | map(.code)"#,
        r#"["G004","G004","G005","G020","G020","G021"]"#,
    );
    check_document(
        invalid,
        r#"isolate("a") | [.complete, .data_gaps | map(.kind)]"#,
        r#"[false,["free_port","free_port","dangling_edge","dangling_edge","dangling_edge"]]"#,
    );
}

#[test]
fn equipment_is_reached_through_its_nozzles() {
    let plant = "T-1.N1 → V-1 → E-1.N1@hot; E-1.N2@hot → V-2 → D-1.N1; X-1 → E-1.N3@cold; E-1.N4@cold → X-2";
    check_graph(plant, r#"downstream("T-1") | map(.id)"#, r#"["V-1","E-1.N1"]"#);
    check_graph(
        plant,
        r#"downstream("T-1", {pass: "zone"}) | map(.id)"#,
        r#"["V-1","E-1.N1","E-1","E-1.N2","V-2","D-1.N1","D-1"]"#,
    );
    check_graph(plant, r#"downstream("T-1", {pass: "any"}) | map(.id) | filter(regex(., "X"))"#, r#"["X-2"]"#);
    check_graph(plant, r#"downstream("X-1", {pass: "zone"}) | map(.id)"#, r#"["E-1.N3","E-1","E-1.N4","X-2"]"#);
    check_graph(plant, r#"downstream("E-1") | map(.id)"#, r#"["V-2","X-2","D-1.N1"]"#);
    check_graph(
        plant,
        r#"upstream("D-1", {pass: "zone"}) | map(.id)"#,
        r#"["V-2","E-1.N2","E-1","E-1.N1","V-1","T-1.N1","T-1"]"#,
    );
    check_graph(plant, r#"reachable("T-1", "D-1")"#, "true");
    check_graph(plant, r#"reachable("X-1", "D-1", {pass: "zone"})"#, "false");
    check_graph(plant, r#"reachable("X-1", "D-1")"#, "true");
    check_graph(
        plant,
        r#"shortestPath("T-1", "D-1") | [.length, .nodes | map(.id)]"#,
        r#"[6,["T-1.N1","V-1","E-1.N1","E-1","E-1.N2","V-2","D-1.N1"]]"#,
    );
    check_graph(plant, r#"components() | map(map(.id)) | filter(size() > 1) | map(size())"#, "[9,4]");
    check_graph(plant, r#"node("E-1-N3").id"#, r#""E-1.N3""#);
    check_graph(plant, r#"node("N1")"#, "PQ3004");
}

#[test]
fn a_walk_does_not_go_backward_into_its_start() {
    let plant = "T-1.N1 → V-1; T-1.N2 → V-2; V-3 → T-1.N3";
    check_graph(plant, r#"downstream("T-1.N1", {pass: "any"}) | map(.id)"#, r#"["V-1"]"#);
    check_graph(plant, r#"downstream("T-1.N3", {pass: "any"}) | map(.id)"#, r#"["T-1","T-1.N1","T-1.N2","V-1","V-2"]"#);
    check_graph(plant, r#"downstream("V-3") | map(.id)"#, r#"["T-1.N3"]"#);
}

#[test]
fn the_same_plant_in_five_vocabularies_gives_the_same_results() {
    let plant = "T-1.N1 → V-1(closed) → J-1 → P-1.N1; P-1.N2 → CK-1 → V-2 → E-1.N1@hot; E-1.N2@hot → D-1.N1; J-1 — V-3 — X-1; \
                 X-2 → E-1.N3@cold; E-1.N4@cold → X-3; I-1 ⇢ V-2; D-1.N2 → RV-1 → X-4";
    let queries = [
        r#"downstream("T-1") | map(TAG)"#,
        r#"downstream("T-1", {pass: "zone"}) | map(TAG)"#,
        r#"upstream("D-1", {pass: "any"}) | map(TAG)"#,
        r#"isolate("P-1") | [.barriers | map(.node TAG), .unresolved | map(.kind), .inside | map(TAG), .complete]"#,
        r#"isolate("D-1") | [.barriers | map(.node TAG), .unresolved | map([.kind, .at TAG]), .relief | map(.node TAG)]"#,
        r#"paths("T-1", "X-4") | map(.nodes | map(TAG))"#,
        r#"neighbors("out") | map(TAG)"#,
        r#"cutPoints() | map(TAG)"#,
        r#"components() | map(map(TAG)) | filter(size() > 1)"#,
        r#"graphInfo().roles"#,
        r#"valveList() | map([.tag, .role, .normal_position])"#,
        r#"nozzleList() | map([.tag, .equipment, .qualified_tag])"#,
        r#"equipmentList() | map([.tag, .nozzles])"#,
        r#"offPageList() | map([.tag, .direction])"#,
        r#"deadEnds() | map(.class)"#,
        r#"equipmentGraph() | .edges | map(.items | map(TAG))"#,
    ];
    for query in queries {
        let results: Vec<Result<Value, String>> = VOCABULARIES
            .iter()
            .map(|vocabulary| {
                let graph = Graph::from_json(drawing_in(plant, vocabulary)).expect("the drawing is JSON");
                let query = query
                    .replace(" TAG", &format!(".{}", vocabulary.tag))
                    .replace("TAG", &format!(".{}", vocabulary.tag));
                let query = if query.starts_with("neighbors") { format!("node(\"I-1\") | {query}") } else { query };
                evaluate(&graph, &query, "{}")
            })
            .collect();
        assert!(results[0].is_ok(), "{query}: {:?}", results[0]);
        for (result, vocabulary) in results.iter().zip(&VOCABULARIES) {
            assert_eq!(result, &results[0], "{query} in the vocabulary of `{}`", vocabulary.id);
        }
    }
}

#[test]
fn a_topology_may_come_with_the_graph_or_with_the_call() {
    let document =
        r#"{"items":[{"key":"a","kind":"Absperrer"},{"key":"b"}],"pipes":[{"x":"a","y":"b","what":"Rohr"}]}"#;
    let names = r#"{"paths": {"nodes": ["items"], "edges": ["pipes"]}, "node_id": ["key"], "endpoints": [["x", "y"]],
        "edge_kind": "what", "flow_kinds": ["Rohr"], "class_fields": ["kind"], "roles": [{"role": "barrier", "match": "absperrer"}]}"#;
    let config = TopologyConfig::from_json(names).expect("a topology");
    let graph = Graph::from_json(document).expect("JSON").with_topology(config);
    assert_eq!(
        evaluate(&graph, "[downstream(\"a\") | map(.key), graphInfo().roles]", "{}").map(|a| a.to_string()),
        Ok(r#"[["b"],{"barrier":1,"none":1}]"#.into())
    );
    assert!(TopologyConfig::from_json(r#"{"flow_kinds": 1}"#).is_err());
    assert!(TopologyConfig::from_json(r#"{"flow_kind": []}"#).is_err());
    assert!(TopologyConfig::from_json(r#"{"roles": [{"role": "barrier", "match": "("}]}"#).is_err());
    check_graph(
        "S-1 ⇢ S-2",
        r#"withTopology({flow_kinds: ["associated_with"]}, downstream("S-1") | map(.id))"#,
        r#"["S-2"]"#,
    );
    check_graph("S-1 ⇢ S-2", r#"withTopology({flow_kind: []}, 1)"#, "PQ1012");
    check_graph("S-1 ⇢ S-2", r#"withGraph({nodes: [{id: 7}]}, nodes() | map(.id))"#, "[7]");
    check_graph("S-1 ⇢ S-2", r#"withGraph(7, nodes())"#, "PQ3006");
    check_graph(
        "S-1 → S-2 → S-3",
        r#"withGraph(node("S-2") | expand(1) | subgraph(), downstream("S-1") | map(.id))"#,
        r#"["S-2","S-3"]"#,
    );
}

#[test]
fn routes_are_ordered_by_length_then_by_edges() {
    let plant = "S-1 → S-2 → S-4; S-1 → S-3 → S-4; S-1 → S-4; S-2 → S-3";
    check_graph(
        plant,
        r#"paths("S-1", "S-4") | map(.edges | map(.id) | join(" "))"#,
        r#"["e5","e1 e2","e3 e4","e1 e6 e4"]"#,
    );
    check_graph(plant, r#"paths("S-1", "S-4", {limit: 2})"#, "PQ4004");
    check_graph(plant, r#"paths("S-1", "S-4", {limit: 2, onLimit: "truncate"}) | size()"#, "2");
    check_graph(plant, r#"paths("S-1", "S-4", {depth: 1}) | size()"#, "1");
    check_graph(plant, r#"paths("S-4", "S-1")"#, "[]");
    check_graph(plant, r#"shortestPath("S-4", "S-1")"#, "null");
    check_graph(plant, r#"shortestPath("S-1", "S-1") | [.length, .nodes | map(.id)]"#, r#"[0,["S-1"]]"#);
    check_graph(plant, r#"paths("S-1", "S-1") | map(.length)"#, "[0]");
    check_graph(
        plant,
        r#"shortestPath("S-1", "S-4", {weight: if(.id == "e5", 10, 1)}) | [.cost, .edges | map(.id)]"#,
        r#"[2,["e1","e2"]]"#,
    );
    check_graph("S-1 → S-2; S-1 → S-2", r#"paths("S-1", "S-2") | map(.edges | map(.id))"#, r#"[["e1"],["e2"]]"#);
}

#[test]
fn cycles_are_listed_once_from_their_first_node() {
    check_graph(
        "S-1 → S-2 → S-3 → S-1; S-2 → S-1",
        "cycles() | map(.nodes | map(.id))",
        r#"[["S-1","S-2","S-3"],["S-1","S-2"]]"#,
    );
    check_graph("S-1 → S-1", "cycles() | map(.length)", "[1]");
    check_graph("S-1 → S-2 → S-3", "cycles()", "[]");
    check_graph("S-1 → S-2 → S-1; S-3 → S-4 → S-3", "cycles({limit: 1})", "PQ4004");
    check_graph("S-1 → S-2 → S-1; S-2 → S-3 → S-1", "cycles({depth: 2}) | map(.length)", "[2]");
    check_graph("S-1 → S-2 → S-1; S-2 → S-3 → S-1", "recycles() | map(.returns | map(.id))", r#"[["e2","e4"]]"#);
    check_graph("T-1.N2 → P-1.N1; P-1.N2 → T-1.N1", "cycles() | map(.length)", "[6]");
}

#[test]
fn a_parallel_pipe_to_an_undirected_one_closes_a_cycle() {
    let cycles = "cycles() | map(.edges | map(.id))";
    check_graph("S-1 — S-2; S-1 → S-2", cycles, r#"[["e2","e1"]]"#);
    check_graph("S-1 — S-2; S-2 → S-1", cycles, r#"[["e1","e2"]]"#);
    check_graph("S-1 — S-2", cycles, "[]");
}

#[test]
fn a_weight_is_a_finite_number() {
    for weight in ["1 / 0", "0 / 0", "-1", "true", ".missing"] {
        check_graph("S-1 → S-2", &format!(r#"shortestPath("S-1", "S-2", {{weight: {weight}}})"#), "PQ3005");
    }
}

#[test]
fn patterns_bind_names_and_repeat_no_edge() {
    let plant = "P-1 → V-1 → V-2 → CV-1; V-1 → CV-2; CV-1 → P-1";
    check_graph(plant, r#"findPattern("(a:pump)-->(b:gate_valve)") | map(.b.id)"#, r#"["V-1"]"#);
    check_graph(
        plant,
        r#"findPattern("(a:pump)-[r {1,3}]->(b:control_valve)") | map([.b.id, .r | size()])"#,
        r#"[["CV-1",3],["CV-2",2]]"#,
    );
    check_graph(plant, r#"findPattern("(a)-->(b)-->(c)<--(a)") | size()"#, "0");
    check_graph(plant, r#"findPattern("(a:pump)-[{4}]->(a)") | map(.a.id)"#, r#"["P-1"]"#);
    check_graph(plant, r#"findPattern("(v:gate_valve|control_valve)<--(p:pump)") | map(.v.id)"#, r#"["V-1"]"#);
    check_graph(plant, r#"findPattern("(:control_valve)--(x)", .x.id != "P-1") | map(.x.id)"#, r#"["V-2","V-1"]"#);
    for invalid in [
        "(a)-[e]->(b)-[e]->(c)",
        "(a)-[a]->(b)",
        "",
        "(a",
        "(a)-(b)",
        "(a)-[r{1,}]->(b)",
        "(a)-[r{3,1}]->(b)",
        "(a)-->",
        "(a) x",
    ] {
        check_graph(plant, &format!("findPattern({invalid:?})"), "PQ1020");
    }
}

#[test]
fn extracts_of_a_drawing_are_graphs() {
    let plant = "T-1 → V-1 → P-1 → V-2 → T-2; I-1 ⇢ V-1";
    check_graph(
        plant,
        r#"subgraph(["V-1", "P-1"]) | [.nodes | map(.id), .edges | map(.id), .metadata.extract_of]"#,
        r#"[["V-1","P-1"],["e2"],"D-1"]"#,
    );
    check_graph(plant, r#"subgraph("P-1", {hops: 1}) | .edges | map(.id)"#, r#"["e2","e3"]"#);
    check_graph(plant, r#"nodes() | subgraph(.edge_type == "associated_with") | .edges | map(.id)"#, r#"["e5"]"#);
    check_graph(plant, r#"section("T-1", "P-1") | .nodes | map(.id)"#, r#"["T-1","V-1","P-1"]"#);
}

#[test]
fn rows_and_depth_are_limited() {
    let chain: Vec<String> = (0..50).map(|at| format!("S-{at}")).collect();
    let graph = Graph::from_json(drawing(&chain.join(" → "))).expect("JSON");
    let code = |query: &str, limits: Limits<'_>| {
        let result = Dialect::standard().parse(query).and_then(|query| query.to_json(&graph, limits));
        result.err().map(|error| error.code().as_str())
    };
    let query = r#"downstream("S-0")"#;
    assert_eq!(code(query, Limits::default()), None);
    assert_eq!(code(query, Limits { rows: 10, ..Limits::default() }), Some("PQ4004"));
    assert_eq!(code(query, Limits { depth: 10, ..Limits::default() }), Some("PQ4002"));
    assert_eq!(code(query, Limits { depth: usize::MAX, ..Limits::default() }), None);
    assert_eq!(code(r#"downstream("S-0", {depth: 5})"#, Limits { depth: 10, ..Limits::default() }), None);
    assert_eq!(code(query, Limits { fuel: 30, ..Limits::default() }), Some("PQ4001"));
}

#[test]
fn the_error_for_too_many_rows_names_the_limit() {
    let chain: Vec<String> = (0..50).map(|at| format!("S-{at}")).collect();
    let graph = Graph::from_json(drawing(&chain.join(" → "))).expect("JSON");
    let help = |query: &str| {
        let limits = Limits { rows: 10, ..Limits::default() };
        let result = Dialect::standard().parse(query).and_then(|query| query.to_json(&graph, limits));
        result.expect_err("too long").help().map(str::to_owned).unwrap_or_default()
    };
    assert!(help(r#"downstream("S-0", {limit: 5})"#).starts_with("raise `limit`"));
    assert!(help(r#"downstream("S-0", {limit: 100})"#).contains("raise the `rows` limit of the run"));
    assert!(help(r#"downstream("S-0")"#).contains("raise the `rows` limit of the run"));
}

/// Counting the nodes around each node builds no arrays, and changes neither results nor costs.
#[test]
fn counting_expanded_nodes_equals_their_lists() {
    let count = 40;
    let node = |at: usize| format!(r#"{{"id": "n{at}", "class": "{}"}}"#, ["gate_valve", "pump", "pipe_tee"][at % 3]);
    let edge = |at: usize| {
        let kind = ["piping", "signal"][usize::from(at.is_multiple_of(5))];
        let direction = ["forward", "backward", "unknown"][at % 3];
        let to = if at.is_multiple_of(4) { at } else { at * 7 % count };
        format!(r#"{{"type": "{kind}", "from": "n{at}", "to": "n{to}", "direction": "{direction}"}}"#)
    };
    let nodes: Vec<String> = (0..count).map(node).collect();
    let edges: Vec<String> = (0..count).chain(0..count).map(edge).collect();
    let document =
        |extra: &str| format!(r#"{{"nodes": [{}{extra}], "edges": [{}]}}"#, nodes.join(","), edges.join(","));
    for extra in ["", r#", "n3""#, ", null", r#", {"id": "N-1", "class": "nozzle", "parent": "n1"}"#] {
        let graph = Graph::from_json(document(extra)).expect("valid JSON");
        for hops in ["0", "2", "100", "$hops", "0 - 1", "$root.none", ".id"] {
            for options in
                ["", ", {edges: true}", ", {dir: \"down\"}", ", {limit: 3}", ", {pass: $pass}", ", {depth: 1}"]
            {
                let text = format!("nodes() | map(expand({hops}{options}) | size())");
                let [fast, plain] = [false, true].map(|plain| run_and_explain(&text, &graph, plain));
                assert_eq!(fast, plain, "{text} {extra}");
            }
        }
    }
    let graph = Graph::from_json(document("")).expect("valid JSON");
    let query = Query::parse("nodes() | map(expand(2) | size())").expect("valid query");
    let steps = query.explain(&graph, Limits::default()).expect("it runs").steps;
    assert!(steps.iter().any(|step| step.strategy == "count only"), "{steps:?}");
}

/// Every call that follows edges of unknown direction adds a warning.
#[test]
fn common_prefixes_keep_the_warnings_of_each_call() {
    let document = r#"{"nodes": [{"id": "a"}, {"id": "b"}, {"id": "c"}], "edges": [
        {"id": 1, "from": "a", "to": "b", "direction": "unknown"}, {"id": 2, "from": "b", "to": "c"}]}"#;
    let query = r#"{a: downstream("a") | size(), b: downstream("a") | map(.id), c: downstream("b") | size(), d: downstream("b")}"#;
    assert_eq!(graph_run_warnings(document, query).len(), 4);
    let graph = Graph::from_json(document).expect("valid JSON");
    assert_eq!(run_and_explain(query, &graph, false), run_and_explain(query, &graph, true));
}

/// Returns the observable results of a run, without the strategies of its calls.
fn run_and_explain(text: &str, graph: &Graph, plain: bool) -> Result<String, String> {
    let query = Query::with_params(text, r#"{"hops": 3, "pass": "none"}"#).expect("valid query");
    let query = if plain { query.without_optimizations() } else { query };
    let result = query.to_json(graph, Limits::default()).map_err(|error| error.render(text))?;
    let explanation = query.explain(graph, Limits::default()).map_err(|error| error.render(text))?;
    let steps = explanation.steps.into_iter().map(|step| (step.text, step.runs, step.rows, step.fuel));
    Ok(format!("{result} {:?} {}", steps.collect::<Vec<_>>(), explanation.fuel))
}

/// Returns the graph warnings of a run, with and without optimizations.
fn graph_run_warnings(document: &str, query: &str) -> Vec<String> {
    let graph = Graph::from_json(document).expect("the drawing is JSON");
    let [fast, plain] = [false, true].map(|plain| {
        let query = Query::parse(query).expect("the query compiles");
        let query = if plain { query.without_optimizations() } else { query };
        let scratch = pidq::Scratch::new();
        let warnings = query.run(&graph, &scratch, Limits::default()).expect("the query runs").warnings;
        let graph_warnings = warnings.into_iter().filter(|warning| matches!(warning.code, "PQW08" | "PQW09" | "PQW19"));
        graph_warnings.map(|warning| format!("{}: {}", warning.code, warning.message)).collect::<Vec<_>>()
    });
    assert_eq!(fast, plain, "{query}");
    fast
}

/// a ?-> b -> c <-> d, and e -> f.
const UNDIRECTED: &str = r#"{"nodes": [{"id": "a"}, {"id": "b"}, {"id": "c"}, {"id": "d"}, {"id": "e"}, {"id": "f"}], "edges": [
    {"id": "e1", "type": "piping", "from": "a", "to": "b", "direction": "unknown"},
    {"id": "e2", "type": "piping", "from": "b", "to": "c"},
    {"id": "e3", "type": "piping", "from": "d", "to": "c", "direction": "both"},
    {"id": "e4", "type": "piping", "from": "e", "to": "f"}]}"#;

#[test]
fn a_walk_along_the_flow_warns_about_assumed_directions() {
    let both = "PQW08: this follows 2 edges of unknown or dual direction, such as \"e1\"";
    let last = "PQW08: this follows an edge of unknown or dual direction, such as \"e3\"";
    let first = "PQW08: this follows an edge of unknown or dual direction, such as \"e1\"";
    for (query, expected) in [
        (r#"downstream("a")"#, both),
        (r#"downstream("a", {until: false})"#, both),
        (r#"downstream("a", {avoid: .id == "d"})"#, first),
        (r#"downstream("a", {depth: 1})"#, first),
        (r#"upstream("b")"#, first),
        (r#"trace("b")"#, both),
        (r#"nodes() | map(downstream() | size())"#, both),
        (r#"reachable("b", "d")"#, last),
        (r#"shortestPath("a", "c")"#, first),
        (r#"shortestPath("a", "d", {weight: 1})"#, both),
        (r#"paths("a", "d")"#, both),
        (r#"between("b", "d")"#, last),
        (r#"section("b", "d")"#, last),
        (r#"components({strong: true})"#, both),
        (r#"findPattern("(x)-[e]->(y)", .e.id == "e3")"#, last),
        (r#"equipmentGraph() | .nodes"#, both),
    ] {
        assert_eq!(graph_run_warnings(UNDIRECTED, query), [expected], "{query}");
    }
}

/// A line of which a pipe is blanked (`e1`), an item is planned (`c`) and a pipe has a status in no list (`e4`), with a
/// way around `c`.
const ABSENT: &str = r#"{"nodes": [{"id": "a"}, {"id": "b"}, {"id": "c", "status": "Future"}, {"id": "d"}, {"id": "e"}, {"id": "f"}], "edges": [
    {"id": "e1", "type": "piping", "from": "a", "to": "b", "status": "blanked"},
    {"id": "e2", "type": "piping", "from": "b", "to": "c"},
    {"id": "e3", "type": "piping", "from": "c", "to": "d", "status": "New"},
    {"id": "e4", "type": "piping", "from": "d", "to": "e", "attributes": [{"name": "Life Cycle Status", "value": "mothballed"}]},
    {"id": "e5", "type": "piping", "from": "b", "to": "f"},
    {"id": "e6", "type": "piping", "from": "f", "to": "d"}]}"#;

#[test]
fn a_walk_past_what_may_not_be_there_says_so() {
    let several = |count: usize, name: &str, state: &str| {
        format!("PQW19: this passes {count} items and pipes that may not carry flow, such as {name}: `{state}`")
    };
    let one = |name: &str, state: &str| format!("PQW19: this passes {name}, which may not carry flow: `{state}`");
    let all = several(3, "the pipe \"e1\"", "closed_pipe");
    for (query, expected) in [
        (r#"downstream("a")"#, all.clone()),
        (r#"downstream("a", {until: false})"#, all.clone()),
        (r#"connected("a")"#, all.clone()),
        (r#"trace("a")"#, all.clone()),
        (r#"node("a") | expand(9)"#, all.clone()),
        (r#"upstream("e")"#, several(3, "the pipe \"e1\"", "closed_pipe")),
        (r#"downstream("a", {depth: 1})"#, one("the pipe \"e1\"", "closed_pipe")),
        (r#"downstream("b", {depth: 1})"#, one("\"c\"", "not_installed")),
        (r#"downstream("c", {depth: 2})"#, one("the pipe \"e4\"", "unknown_status")),
        (r#"reachable("a", "f")"#, one("the pipe \"e1\"", "closed_pipe")),
        (r#"reachable("b", "d")"#, one("\"c\"", "not_installed")),
        (r#"shortestPath("d", "e")"#, one("the pipe \"e4\"", "unknown_status")),
        (r#"shortestPath("f", "e", {weight: 1})"#, one("the pipe \"e4\"", "unknown_status")),
        (r#"paths("b", "e")"#, several(2, "the pipe \"e4\"", "unknown_status")),
        (r#"between("b", "d")"#, one("\"c\"", "not_installed")),
        (r#"section("b", "d")"#, one("\"c\"", "not_installed")),
        (r#"bypasses("f")"#, one("\"c\"", "not_installed")),
        (r#"findPattern("(x)-[e]->(y)", .y.id == "c")"#, one("\"c\"", "not_installed")),
        (r#"findPattern("(x)-[e]->(y)", .x.id == "d")"#, one("the pipe \"e4\"", "unknown_status")),
        ("components()", all.clone()),
        (r#"components({nodes: .id in ["c", "d"]})"#, one("\"c\"", "not_installed")),
        ("hazopNodes()", all.clone()),
        ("equipmentGraph()", all.clone()),
        (r#"downstream("c", {absent: "avoid"})"#, one("the pipe \"e4\"", "unknown_status")),
        (r#"downstream("a", {absent: "pass"})"#, all),
    ] {
        assert_eq!(graph_run_warnings(ABSENT, query), [expected], "{query}");
    }
    for query in [
        r#"downstream("b", {avoid: .id == "c", depth: 2})"#,
        r#"downstream("c", {depth: 1})"#,
        r#"downstream("a", {edges: .status != "blanked"})"#,
        r#"shortestPath("b", "d", {avoid: .status == "Future"})"#,
        r#"reachable("b", "a")"#,
        r#"tryOr(downstream("a") | regex("x"), 0)"#,
        r#"findPattern("(x)-[e]->(y)", .x.id == "f")"#,
        r#"components({nodes: .id in ["b", "f"]})"#,
        r#"paths("b", "d", {absent: "avoid"})"#,
    ] {
        assert_eq!(graph_run_warnings(ABSENT, query), Vec::<String>::new(), "{query}");
    }
}

#[test]
fn a_walk_leaves_out_what_is_not_there_if_it_is_asked_to() {
    for (query, expected) in [
        (r#"downstream("b", {absent: "avoid"}) | map(.id)"#, r#"["f","d","e"]"#),
        (r#"downstream("b", {absent: "pass"}) | map(.id)"#, r#"["c","f","d","e"]"#),
        (r#"downstream("b") | map(.id)"#, r#"["c","f","d","e"]"#),
        (r#"downstream("a", {absent: "avoid"}) | map(.id)"#, "[]"),
        (r#"trace("b", {absent: "avoid", depth: 1}) | map(.node.id)"#, r#"["b","f"]"#),
        (r#"shortestPath("b", "d", {absent: "avoid"}).nodes | map(.id)"#, r#"["b","f","d"]"#),
        (r#"shortestPath("b", "d", {absent: "avoid", weight: 1}).nodes | map(.id)"#, r#"["b","f","d"]"#),
        (r#"paths("b", "d", {absent: "avoid"}) | size()"#, "1"),
        (r#"paths("b", "d") | size()"#, "2"),
        (r#"reachable("a", "f", {absent: "avoid"})"#, "false"),
        // A status that does not say whether a pipe is there keeps nothing apart.
        (r#"reachable("d", "e", {absent: "avoid"})"#, "true"),
        (r#"between("b", "d", {absent: "avoid"}) | map(.id)"#, r#"["b","f","d"]"#),
        (r#"node("b") | expand(1, {absent: "avoid"}) | map(.id)"#, r#"["b","f"]"#),
        (r#"downstream("b", {absent: "none"})"#, "PQ2003"),
    ] {
        match expected.starts_with("PQ") {
            true => assert!(Query::parse(query).is_err(), "{query}"),
            false => check_document(ABSENT, query, expected),
        }
    }
}

#[test]
fn no_direction_is_assumed_where_it_is_known_or_irrelevant() {
    for query in [
        r#"downstream("e")"#,
        r#"connected("a")"#,
        r#"node("a") | expand(3)"#,
        r#"trace("a", {dir: "both"})"#,
        r#"shortestPath("a", "f")"#,
        r#"reachable("c", "f")"#,
        r#"isolate("b")"#,
        "cycles()",
        "recycles()",
        "components()",
        r#"tryOr(downstream("a") | regex("x"), 0)"#,
        r#"findPattern("(x)-[e]-(y)")"#,
    ] {
        assert_eq!(graph_run_warnings(UNDIRECTED, query), Vec::<String>::new(), "{query}");
    }
}

#[test]
fn an_edge_of_unknown_direction_is_not_a_cycle() {
    check_document(UNDIRECTED, "recycles() | size()", "0");
    check_document(UNDIRECTED, "cycles() | size()", "0");
}

#[test]
fn truncated_results_warn() {
    let document = drawing("J-1 → J-2 → J-3 → J-1; J-1 → J-3");
    let cut = ["PQW09: there are more than 1 paths: the result is truncated"];
    assert_eq!(graph_run_warnings(&document, r#"paths("J-1", "J-3", {limit: 1, onLimit: "truncate"})"#), cut);
    assert_eq!(
        graph_run_warnings(&document, r#"paths("J-1", "J-3", {limit: 2, onLimit: "truncate"})"#),
        Vec::<String>::new()
    );
    let cut = ["PQW09: there are more than 1 cycles: the result is truncated"];
    assert_eq!(graph_run_warnings(&document, r#"cycles({limit: 1, onLimit: "truncate"})"#), cut);
    let cut = ["PQW09: there are more than 2 matches: the result is truncated"];
    assert_eq!(graph_run_warnings(&document, r#"findPattern("(a)-[]->(b)", {limit: 2, onLimit: "truncate"})"#), cut);
}

#[test]
fn longer_paths_are_not_omitted_silently() {
    let long: Vec<String> = (0..=250).map(|at| format!("J-{at}")).collect();
    let document = drawing(&format!("{}; J-0 → J-250", long.join(" → ")));
    check_document(&document, r#"paths("J-0", "J-250")"#, "PQ4004: there are paths with more than 200 edges");
    check_document(&document, r#"paths("J-0", "J-250", {depth: 250}) | map(.length)"#, "[1,250]");
    check_document(&document, r#"paths("J-0", "J-250", {depth: 20}) | map(.length)"#, "[1]");
    let cut = ["PQW09: there are more than 200 edges on a path: the result is truncated"];
    assert_eq!(graph_run_warnings(&document, r#"paths("J-0", "J-250", {onLimit: "truncate"})"#), cut);
}
