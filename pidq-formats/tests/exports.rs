//! What the exports promise, and that the tools they are for can read them. A test that needs a tool says aloud when it is
//! not there.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use pidq_core::Graph;
use pidq_formats::{Code, FORMATS, Format, Part};
use serde_json::Value;

/// Two nodes with everything that could go wrong, an edge twice, one into the void.
const HARD: &str = r#"{"pid_graph": {
  "nodes": [
    {"id": "a\"<&'>", "tag": "=1+1", "n": 1, "d": 53.0, "b": true, "deep": {"x": [1, "ü\n"]}, "none": null},
    {"id": "b\\n", "tag": "-P\n1", "n": 2, "d": 1.5e3, "b": false, "deep": "text",
     "big": 12345678901234567890},
    {"id": 7, "tag": "@7"}, {"id": "7", "tag": "'+x"}
  ],
  "edges": [
    {"id": "e1", "edge_type": "pipe", "from": "a\"<&'>", "to": "b\\n", "w": 1},
    {"id": "e2", "edge_type": "pipe", "from": "a\"<&'>", "to": "b\\n", "w": 2.5},
    {"edge_type": "signal", "from": {"id": 7}, "to": "7"},
    {"edge_type": "pipe", "from": "7", "to": "ghost"}
  ],
  "metadata": {"drawing_name": "D & D", "revision": "B"}}}"#;

const EMPTY: &str = r#"{"pid_graph": {"nodes": [], "edges": []}}"#;

fn plant() -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../examples/data/plant.json");
    std::fs::read_to_string(path).expect("the example drawing")
}

fn export(format: &str, json: &str) -> Vec<Part> {
    let graph = Graph::from_json(json).expect("it is JSON");
    Format::find(format).and_then(|format| format.export(graph.root())).expect("it can be written")
}

fn text(format: &str, json: &str) -> String {
    String::from_utf8(export(format, json).remove(0).bytes).expect("it is text")
}

fn import(format: &str, files: &[&[u8]]) -> Value {
    let imported = Format::find(format).and_then(|format| format.import(files)).expect("it can be read");
    serde_json::from_str(&imported.json).expect("it is JSON")
}

/// Writes, reads, and compares nodes and edges field by field.
#[track_caller]
fn check_round_trip(format: &str, json: &str, ids_stay: bool) {
    let parts = export(format, json);
    let files: Vec<&[u8]> = parts.iter().map(|part| part.bytes.as_slice()).collect();
    let after = import(format, &files);
    let before: Value = serde_json::from_str(json).expect("it is JSON");
    for list in ["nodes", "edges"] {
        let [before, after] = [&before, &after].map(|graph| graph["pid_graph"][list].as_array().expect("a list"));
        for (before, after) in before.iter().zip(after) {
            let fields = before.as_object().expect("an object").iter();
            for (key, value) in fields.filter(|(_, value)| !value.is_null()) {
                let is_end = ["id", "from", "to", "source", "target"].contains(&key.as_str());
                assert!(is_end && !ids_stay || after[key] == *value, "{format}: {key} of {before} is {}", after[key]);
            }
        }
    }
}

#[test]
fn every_format_writes_an_empty_graph_and_a_hard_one_and_does_so_twice_alike() {
    for format in FORMATS.iter().filter(|format| format.write.is_some() && format.name != "csv") {
        for json in [EMPTY, HARD, &plant()] {
            assert_eq!(export(format.name, json), export(format.name, json), "{}", format.name);
        }
    }
}

#[test]
fn what_is_no_graph_is_refused() {
    let graph = Graph::from_json("{\"a\": 1}").expect("it is JSON");
    for format in FORMATS.iter().filter(|format| format.write.is_some() && format.name != "csv") {
        let code = format.export(graph.root()).expect_err("no graph").code();
        assert!([Code::NotGraph, Code::NotTable].contains(&code), "{}", format.name);
    }
}

#[test]
fn graphml_reads_back_as_it_was() {
    check_round_trip("graphml", HARD, false);
    check_round_trip("graphml", &plant(), false);
    let parts = export("graphml", HARD);
    let graph = import("graphml", &[&parts[0].bytes]);
    let edges = graph["pid_graph"]["edges"].as_array().expect("a list");
    let ends: Vec<_> = edges.iter().map(|edge| (edge["from"].as_str(), edge["to"].as_str())).collect();
    assert_eq!(ends[2..], [(Some("7"), Some("7#2")), (Some("7#2"), Some("ghost"))]);
}

#[test]
fn a_csv_pair_reads_back_as_it_was() {
    check_round_trip("csv-graph", &plant(), false);
}

#[test]
fn node_link_reads_back_as_it_was_but_for_ids_that_only_differ_in_type() {
    check_round_trip("node-link", HARD, false);
    check_round_trip("node-link", &plant(), true);
}

#[test]
fn node_link_of_both_ages_and_without_direction_is_read() {
    let old = br#"{"directed": false, "nodes": [{"id": 1}, {"id": 2}], "links": [{"source": 1, "target": 2}]}"#;
    let graph = import("node-link", &[old]);
    assert_eq!(graph["pid_graph"]["edges"][0]["direction"], "both");
    assert_eq!(graph["pid_graph"]["edges"][0]["source"], 1);
    let new = br#"{"directed": true, "nodes": [{"id": "a"}], "edges": [{"source": "a", "target": "a", "key": 0}]}"#;
    assert!(import("node-link", &[new])["pid_graph"]["edges"][0]["direction"].is_null());
}

#[test]
fn adjacency_json_is_refused_and_says_what_to_write_instead() {
    let text = br#"{"directed": true, "nodes": [{"id": "a"}], "adjacency": [[{"id": "a"}]]}"#;
    let error = Format::find("node-link").and_then(|format| format.import(&[text])).expect_err("it has no edges");
    assert_eq!(error.code(), Code::NotGraph);
    assert!(error.to_string().contains("node_link_data"), "{error}");
}

#[test]
fn edges_of_an_undirected_graph_run_both_ways_unless_they_say_otherwise() {
    let xml = br#"<graphml><graph edgedefault="undirected"><node id="a"/><node id="b"/><edge source="a" target="b"/>
        <edge source="b" target="a" directed="true"/></graph></graphml>"#;
    let graph = import("graphml", &[xml]);
    let edges = graph["pid_graph"]["edges"].as_array().expect("edges");
    assert_eq!((&edges[0]["direction"], edges[1].get("direction")), (&"both".into(), None));
}

#[test]
fn foreign_graphml_is_read_with_types_defaults_and_without_direction() {
    let xml = br#"<?xml version="1.0"?><graphml>
        <key id="d0" for="node" attr.name="size" attr.type="int"><default>5</default></key>
        <key id="d1" for="edge" attr.name="ok" attr.type="boolean"/>
        <graph edgedefault="undirected"><node id="n1"><data key="d0">7</data></node><node id="n2"/>
        <edge source="n1" target="n2" directed="false"><data key="d1">true</data></edge></graph></graphml>"#;
    let graph = import("graphml", &[xml]);
    assert_eq!(graph["pid_graph"]["nodes"][0]["size"], 7);
    assert_eq!(graph["pid_graph"]["nodes"][1]["size"], 5);
    assert_eq!(graph["pid_graph"]["edges"][0]["ok"], true);
    assert_eq!(
        (&graph["pid_graph"]["edges"][0]["to"], &graph["pid_graph"]["edges"][0]["direction"]),
        (&"n2".into(), &"both".into())
    );
}

/// Members may come in any order.
fn parsed(json: &str) -> Value {
    serde_json::from_str(json).expect("it is JSON")
}

#[test]
fn what_a_drawing_program_shows_of_a_graph_is_read() {
    let xml = br#"<graphml xmlns:y="http://www.yworks.com/xml/graphml"><key id="g" for="node" yfiles.type="nodegraphics"/><graph edgedefault="directed">
        <node id="n0"><data key="g"><y:ShapeNode><y:Geometry x="100.0" y="50.0" width="30.0" height="20.0"/>
        <y:NodeLabel x="1.0">T-1</y:NodeLabel></y:ShapeNode></data></node><node id="n1"/>
        <edge id="e" source="n0" target="n1"><data key="h"><y:PolyLineEdge><y:EdgeLabel>50-W-1</y:EdgeLabel></y:PolyLineEdge></data></edge>
        </graph></graphml>"#;
    let graph = &import("graphml", &[xml])["pid_graph"];
    let node = r#"{"id":"n0","orig_bbox_height":20,"orig_bbox_width":30,"orig_x":115,"orig_y":60,"tag":"T-1"}"#;
    let edge = r#"{"from":"n0","id":"e","text":"50-W-1","to":"n1"}"#;
    assert_eq!([&graph["nodes"][0], &graph["edges"][0]], [&parsed(node), &parsed(edge)]);
}

#[test]
fn a_number_that_tells_parallel_edges_apart_is_no_id() {
    let xml =
        br#"<graphml><graph edgedefault="directed"><node id="a"/><node id="b"/><edge id="0" source="a" target="b"/>
        <edge id="1" source="a" target="b"/><edge id="0" source="b" target="a"/></graph></graphml>"#;
    let edges = &import("graphml", &[xml])["pid_graph"]["edges"];
    let named: Vec<_> = (0..3).map(|at| (edges[at]["id"].as_str(), edges[at]["key"].as_str())).collect();
    assert_eq!(named, [(None, Some("0")), (Some("1"), None), (None, Some("0"))]);
}

#[test]
fn tables_of_other_countries_are_read_and_tags_stay_texts() {
    let nodes = b"\xEF\xBB\xBFid;tag;dn;ok;\n1;0815;80;true;x\n2;4711;50;false\n";
    let graph = import("csv-graph", &[nodes, b"from;to\n1;2\n"]);
    let first = &graph["pid_graph"]["nodes"][0];
    assert_eq!(
        (&first["id"], &first["tag"], &first["dn"], &first["ok"]),
        (&"1".into(), &"0815".into(), &80.into(), &true.into())
    );
    assert_eq!(first["column_5"], "x");
    assert_eq!(graph["pid_graph"]["edges"][0]["to"], "2");
}

#[test]
fn tables_of_other_tools_are_read_in_their_words() {
    let keys = |nodes: &str, edges: &str| {
        let graph = import("csv-graph", &[nodes.as_bytes(), edges.as_bytes()]);
        let first = |list: &str| graph["pid_graph"][list][0].clone();
        let findings = graph["pid_graph"]["metadata"]["diagnostics"].as_array().map_or(0, Vec::len);
        (first("nodes"), first("edges"), findings)
    };
    let spelt = keys("Id,Label\n01,P\n2,V\n", "Source,Target\n01,2\n");
    assert_eq!(spelt, (parsed(r#"{"Label":"P","id":"01"}"#), parsed(r#"{"source":"01","target":"2"}"#), 3));
    let known = keys("externalId\n01\n2\n", "u,v\n01,2\n");
    assert_eq!(known, (parsed(r#"{"externalId":"01"}"#), parsed(r#"{"u":"01","v":"2"}"#), 0));
    let marked = keys("sep=;\r\nid;tag\r\n1;a,b,c\r\n", "sep=|\nfrom|to\n1|1\n");
    assert_eq!(marked, (parsed(r#"{"id":"1","tag":"a,b,c"}"#), parsed(r#"{"from":"1","to":"1"}"#), 0));
}

#[test]
fn an_end_without_a_node_has_none_after_a_round_trip() {
    let lost = r#"{"nodes": [{"id": "a"}], "edges": [{"id": "e", "from": "a", "to": "gone"}]}"#;
    let xml = text("graphml", lost);
    assert!(xml.contains(r#"<node id="gone">"#), "{xml}");
    let back = import("graphml", &[xml.as_bytes()]);
    assert_eq!(back["pid_graph"]["nodes"].as_array().map(Vec::len), Some(1));
    assert_eq!(back["pid_graph"]["edges"][0]["to"], "gone");
    // Whoever says more of itself stands for no other.
    let own = text("graphml", r#"{"nodes": [{"id": "a", "tag": "T", "missing_node": true}], "edges": []}"#);
    assert_eq!(import("graphml", &[own.as_bytes()])["pid_graph"]["nodes"][0]["tag"], "T");
}

#[test]
fn tables_without_ids_or_ends_are_refused() {
    let pair = Format::find("csv-graph").expect("there is one");
    for (nodes, edges) in [("tag\nx\n", "from,to\na,b\n"), ("id\nx\n", "a,b\n1,2\n")] {
        let error = pair.import(&[nodes.as_bytes(), edges.as_bytes()]).expect_err("it is refused");
        assert_eq!(error.code(), Code::NotGraph);
    }
}

#[test]
fn cells_that_look_like_formulas_are_guarded_and_numbers_are_not() {
    let csv = text("csv", r#"[{"t": "=1+1", "n": -5}, {"t": "-P", "n": 1.50}, {"t": "'=x"}, {"t": "a,\"b\"\n"}]"#);
    assert_eq!(csv, "t,n\n'=1+1,-5\n'-P,1.50\n''=x,\n\"a,\"\"b\"\"\n\",\n");
}

#[test]
fn a_list_of_anything_is_a_table() {
    assert_eq!(text("csv", r#"["a", 1, null, [2]]"#), "value\na\n1\n\"\"\n[2]\n");
    assert_eq!(text("csv", r#"{"a": 1}"#), "a\n1\n");
    assert_eq!(text("csv", "[]"), "");
}

#[test]
fn lines_have_the_digits_of_the_document() {
    let parts = export("ndjson", HARD);
    let nodes = String::from_utf8(parts[0].bytes.clone()).expect("it is text");
    assert_eq!(nodes.lines().count(), 4);
    assert!(nodes.contains("53.0") && nodes.contains("12345678901234567890") && nodes.contains(r#""ü\n""#));
    assert!(nodes.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
}

#[test]
fn neo4j_tables_have_typed_headers_and_unique_ids() {
    let parts = export("neo4j", HARD);
    let nodes = String::from_utf8(parts[0].bytes.clone()).expect("it is text");
    assert!(nodes.starts_with(":ID,:LABEL,id:string,tag:string,n:long,d:double,b:boolean,deep:string,"), "{nodes}");
    let ids: Vec<&str> = nodes.lines().filter_map(|line| line.split(',').next()).collect();
    assert!(ids.contains(&"7") && ids.contains(&"7#2") && ids.contains(&"ghost"));
    let edges = String::from_utf8(parts[1].bytes.clone()).expect("it is text");
    assert!(edges.contains("7,7#2,SIGNAL"), "{edges}");
}

#[test]
fn mermaid_writes_special_characters_by_number() {
    let chart = text("mermaid", HARD);
    assert!(chart.starts_with("flowchart LR\n"));
    assert!(!chart.contains('<') && chart.contains("n0 --> n1"), "{chart}");
    let chart = text("mermaid", r#"[{"id": "x", "tag": "a\"]; click <b>"}]"#);
    assert_eq!(chart, "flowchart LR\n    n0[\"a#34;#93;#59; click #60;b#62;\"]\n");
}

/// Runs a program on files in a folder of its own. Nothing when the program is not there.
fn run(name: &str, program: &[&str], parts: &[Part]) -> Option<String> {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("pidq-formats-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    for part in parts {
        std::fs::write(folder.join(part.name), &part.bytes).expect("a file");
    }
    let output = Command::new(program[0]).args(&program[1..]).current_dir(&folder).output();
    std::fs::remove_dir_all(&folder).expect("the folder goes");
    let output = output.ok()?;
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Runs Python where it has the module that is needed.
fn python(module: &str, script: &str, parts: &[Part]) -> Option<String> {
    let has = Command::new("python3").args(["-c", &format!("import {module}")]).output();
    if !has.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: python3 with {module} is not there");
        return None;
    }
    run(module, &["python3", "-c", script], parts)
}

/// Nodes, edges and edges from the first node, as our document has them.
fn counts(json: &str) -> (usize, usize) {
    let graph: Value = serde_json::from_str(json).expect("it is JSON");
    let of = |list: &str| graph["pid_graph"][list].as_array().map_or(0, Vec::len);
    (of("nodes"), of("edges"))
}

#[test]
fn networkx_reads_our_graphml() {
    let script = "import networkx as nx; g = nx.read_graphml('graph.graphml', force_multigraph=True); \
                  print(g.is_directed(), len(g), g.number_of_edges(), sorted(d.get('tag', '') for _, d in g.nodes(data=True))[:1])";
    if let Some(said) = python("networkx", script, &export("graphml", HARD)) {
        assert_eq!(said, "True 5 4 ['']");
    }
    let (nodes, edges) = counts(&plant());
    if let Some(said) = python("networkx", script, &export("graphml", &plant())) {
        assert!(said.starts_with(&format!("True {nodes} {edges} ")), "{said}");
    }
}

#[test]
fn networkx_reads_our_node_link_json() {
    let script = "import json, inspect, networkx as nx; f = nx.node_link_graph; \
                  name = 'edges' if 'edges' in inspect.signature(f).parameters else 'link'; \
                  g = f(json.load(open('graph.json')), **{name: 'edges'}); \
                  print(type(g).__name__, len(g), g.number_of_edges(), g.graph.get('revision'))";
    if let Some(said) = python("networkx", script, &export("node-link", HARD)) {
        assert_eq!(said, "MultiDiGraph 5 4 B");
    }
}

#[test]
fn graphs_of_networkx_are_read() {
    let script = "import json, sys, networkx as nx; g = nx.MultiDiGraph(name='x'); g.add_edge('a', 1, w=2.5); \
                  g.add_edge('a', 1, w=3); nx.write_graphml(g, sys.stdout.buffer); print(); print('====')\n\
                  print(json.dumps(nx.node_link_data(g, edges='links')))";
    let Some(said) = python("networkx", script, &[]) else { return };
    let (graphml, node_link) = said.split_once("====").expect("two parts");
    for (format, text) in [("graphml", graphml), ("node-link", node_link)] {
        let graph = import(format, &[text.trim().as_bytes()]);
        let edges = graph["pid_graph"]["edges"].as_array().expect("a list");
        let weights: BTreeSet<String> = edges.iter().map(|edge| edge["w"].to_string()).collect();
        assert_eq!((graph["pid_graph"]["nodes"].as_array().map(Vec::len), edges.len()), (Some(2), 2), "{format}");
        assert!(weights.contains("2.5"), "{format}");
    }
}

#[test]
fn graphviz_draws_our_dot() {
    for json in [EMPTY, HARD, &plant()] {
        let parts = export("dot", json);
        match run("dot", &["dot", "-Tplain", "graph.dot"], &parts) {
            None => return eprintln!("SKIPPED: graphviz is not there"),
            Some(said) => assert!(said.ends_with("stop"), "{said}"),
        }
    }
}

#[test]
fn openpyxl_reads_our_workbooks() {
    let script = "import openpyxl; b = openpyxl.load_workbook('tables.xlsx'); \
                  print(b.sheetnames, [c.value for c in b.worksheets[0][2]], b.worksheets[0]['B2'].data_type)";
    if let Some(said) = python("openpyxl", script, &export("xlsx", HARD)) {
        let expected = "['nodes', 'edges', 'metadata'] ['a\"<&\\'>', '=1+1', 1, 53, True, '{\"x\": [1, \"ü\\\\n\"]}', None, None] s";
        assert_eq!(said, expected);
    }
    let lists = r#"{"lines": [{"a": 1}], "LINES": [{"a": 2}], "a very long name of a list: with [more] than 31": [1]}"#;
    if let Some(said) = python("openpyxl", script, &export("xlsx", lists)) {
        assert!(said.starts_with("['lines', 'LINES_2', 'a very long name of a list_ wit'] [1]"), "{said}");
    }
}
