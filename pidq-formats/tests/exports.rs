//! Tests of the exports, some with the external tools that read them. A test whose tool is missing prints that it is
//! skipped.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use pidq_core::Graph;
use pidq_formats::{Code, ExportedFile, FORMATS, Format};
use serde_json::Value;

/// Two nodes with difficult values, a duplicate edge, and an edge without a target.
const EDGE_CASES: &str = r#"{"pid_graph": {
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

fn export(format: &str, json: &str) -> Vec<ExportedFile> {
    let graph = Graph::from_json(json).expect("valid JSON");
    Format::find(format).and_then(|format| format.export(graph.root())).expect("it can be written")
}

fn text(format: &str, json: &str) -> String {
    String::from_utf8(export(format, json).remove(0).bytes).expect("it is text")
}

fn import(format: &str, files: &[&[u8]]) -> Value {
    let imported = Format::find(format).and_then(|format| format.import(files)).expect("it can be read");
    serde_json::from_str(&imported.json).expect("valid JSON")
}

/// Writes, reads, and compares nodes and edges field by field.
#[track_caller]
fn check_round_trip(format: &str, json: &str, keeps_ids: bool) {
    let files = export(format, json);
    let files: Vec<&[u8]> = files.iter().map(|file| file.bytes.as_slice()).collect();
    let after = import(format, &files);
    let before: Value = serde_json::from_str(json).expect("valid JSON");
    for list in ["nodes", "edges"] {
        let [before, after] = [&before, &after].map(|graph| graph["pid_graph"][list].as_array().expect("a list"));
        for (before, after) in before.iter().zip(after) {
            let fields = before.as_object().expect("an object").iter();
            for (key, value) in fields.filter(|(_, value)| !value.is_null()) {
                let is_end = ["id", "from", "to", "source", "target"].contains(&key.as_str());
                assert!(is_end && !keeps_ids || after[key] == *value, "{format}: {key} of {before} is {}", after[key]);
            }
        }
    }
}

#[test]
fn exports_are_deterministic_for_empty_and_difficult_graphs() {
    for format in FORMATS.iter().filter(|format| format.write.is_some() && format.name != "csv") {
        for json in [EMPTY, EDGE_CASES, &plant()] {
            assert_eq!(export(format.name, json), export(format.name, json), "{}", format.name);
        }
    }
}

#[test]
fn values_without_a_graph_are_rejected() {
    let graph = Graph::from_json("{\"a\": 1}").expect("valid JSON");
    for format in FORMATS.iter().filter(|format| format.write.is_some() && !["csv", "json"].contains(&format.name)) {
        let code = format.export(graph.root()).expect_err("no graph").code();
        assert!([Code::NotGraph, Code::NotTable].contains(&code), "{}", format.name);
    }
}

#[test]
fn graphml_round_trips() {
    check_round_trip("graphml", EDGE_CASES, true);
    check_round_trip("graphml", &plant(), true);
}

#[test]
fn fields_that_graphml_has_no_type_for_are_text_and_other_fields() {
    let xml = text("graphml", r#"{"nodes": [{"id": 7, "tag": null, "n": 1}, {"id": "7", "n": "x"}], "edges": []}"#);
    assert!(xml.contains("<data key=\"n2\">1</data>\n<data key=\"pidq_other_fields\">{&quot;id&quot;:7,"), "{xml}");
    let plain = text("graphml", r#"{"nodes": [{"id": "a", "n": 1}], "edges": [{"from": "a", "to": "a"}]}"#);
    assert!(!plain.contains("pidq_other_fields") && !plain.contains(">a<"), "{plain}");
}

#[test]
fn edges_to_nowhere_are_reported() {
    let edges = |format: &str, files: &[&str]| {
        let files: Vec<&[u8]> = files.iter().map(|text| text.as_bytes()).collect();
        let imported = Format::find(format).and_then(|format| format.import(&files)).expect("it can be read");
        let findings = imported.diagnostics.iter().filter(|found| found.finding.code() == "I003");
        (imported.edges, findings.map(|found| found.ids.join(" ")).collect::<Vec<_>>())
    };
    let xml = "<graphml><graph edgedefault='directed'><node id='a'/><edge source='a' target='b'/><edge source='a'/>\
               <edge source='a' target='a'/></graph></graphml>";
    assert_eq!(edges("graphml", &[xml]), (3, vec!["b".into(), String::new()]));
    let json = r#"{"nodes": [{"id": "a"}], "links": [{"source": "c", "target": "a"}]}"#;
    assert_eq!(edges("node-link", &[json]), (1, vec!["c".into()]));
    assert_eq!(edges("csv-graph", &["id\na\n", "from,to\na,d\n"]), (1, vec!["d".into()]));
    assert_eq!(edges("neo4j", &[":ID\na\n", ":START_ID,:END_ID\ne,a\n"]), (1, vec!["e".into()]));
    assert_eq!(edges("ndjson", &["{\"id\":1}\n", "{\"from\":1,\"to\":\"1\"}\n"]), (1, vec!["1".into()]));
}

#[test]
fn neo4j_tables_of_other_tools_are_read() {
    let nodes = "pump:ID(Item),:LABEL,dn:int,tags:string[],ok:boolean,x:IGNORE\nP-1,Pump;Item,80,a;b,true,z\n";
    let edges = ":START_ID(Item),:END_ID(Item),:TYPE,w:double\nP-1,P-1,PIPE,2.5\n";
    let graph = import("neo4j", &[nodes.as_bytes(), edges.as_bytes()]);
    let node = r#"{"id":"P-1","pump":"P-1","dn":80,"tags":["a","b"],"ok":true,"class":"Pump.Item"}"#;
    assert_eq!(graph["pid_graph"]["nodes"][0], parsed(node));
    assert_eq!(graph["pid_graph"]["edges"][0], parsed(r#"{"w":2.5,"edge_type":"PIPE","from":"P-1","to":"P-1"}"#));
    let error = Format::find("neo4j").and_then(|format| format.import(&[b"a\n1\n", b""])).expect_err("no ids");
    assert_eq!((error.code(), error.message()), (Code::NotGraph, "the table of nodes has no column `:ID`"));
}

#[test]
fn lines_that_are_no_objects_are_rejected_with_their_number() {
    let ndjson = Format::find("ndjson").expect("there is one");
    for (nodes, code) in [("{\"id\":1}\n\n{", Code::NotJson), ("{}\n{}\n[1]", Code::NotGraph)] {
        let error = ndjson.import(&[nodes.as_bytes(), b""]).expect_err("it is refused");
        assert_eq!((error.code(), error.line()), (code, Some(3)));
    }
}

#[test]
fn csv_pairs_round_trip() {
    for format in ["csv-graph", "neo4j", "ndjson"] {
        check_round_trip(format, &plant(), true);
        check_round_trip(format, EDGE_CASES, true);
    }
}

#[test]
fn node_link_round_trips_except_for_ids_that_differ_only_in_type() {
    check_round_trip("node-link", EDGE_CASES, false);
    check_round_trip("node-link", &plant(), true);
}

#[test]
fn node_link_is_read_with_edges_or_links_and_without_direction() {
    let old = br#"{"directed": false, "nodes": [{"id": 1}, {"id": 2}], "links": [{"source": 1, "target": 2}]}"#;
    let graph = import("node-link", &[old]);
    assert_eq!(graph["pid_graph"]["edges"][0]["direction"], "both");
    assert_eq!(graph["pid_graph"]["edges"][0]["source"], 1);
    let new = br#"{"directed": true, "nodes": [{"id": "a"}], "edges": [{"source": "a", "target": "a", "key": 0}]}"#;
    assert!(import("node-link", &[new])["pid_graph"]["edges"][0]["direction"].is_null());
}

#[test]
fn an_undirected_graph_is_written_without_directions() {
    let undirected = r#"{"directed": false, "nodes": [{"id": "a"}, {"id": "b"}], "edges": [{"source": "a", "target": "b"},
        {"source": "b", "target": "a", "direction": "forward"}]}"#;
    for format in ["node-link", "graphml", "csv-graph", "neo4j", "ndjson"] {
        let files = export(format, undirected);
        let files: Vec<&[u8]> = files.iter().map(|file| file.bytes.as_slice()).collect();
        let directions = import(format, &files)["pid_graph"]["edges"].as_array().expect("edges").clone();
        let directions: Vec<&Value> = directions.iter().map(|edge| &edge["direction"]).collect();
        assert_eq!(directions, ["both", "forward"], "{format}");
    }
    assert_eq!(text("json", undirected).matches("both").count(), 0);
    let directed = undirected.replace("false", "true");
    assert!(!text("graphml", &directed).contains("both"));
}

#[test]
fn adjacency_json_is_rejected_with_an_alternative() {
    let text = br#"{"directed": true, "nodes": [{"id": "a"}], "adjacency": [[{"id": "a"}]]}"#;
    let error = Format::find("node-link").and_then(|format| format.import(&[text])).expect_err("it has no edges");
    assert_eq!(error.code(), Code::NotGraph);
    assert!(error.to_string().contains("node_link_data"), "{error}");
}

#[test]
fn edges_of_undirected_graphs_are_bidirectional_unless_declared_directed() {
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

/// Parses JSON, ignoring the order of fields.
fn parsed(json: &str) -> Value {
    serde_json::from_str(json).expect("valid JSON")
}

#[test]
fn yed_labels_and_geometry_are_read() {
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
fn yed_labels_in_several_lines_and_arrows_are_read() {
    let xml = br#"<graphml xmlns:y="http://www.yworks.com/xml/graphml"><key id="g" for="node" yfiles.type="nodegraphics"/><graph edgedefault="directed">
        <node id="n0"><data key="g"><y:ShapeNode><y:NodeLabel>HV-1
            LC</y:NodeLabel><y:NodeLabel/></y:ShapeNode></data></node>
        <node id="n1"><data key="g"><y:ShapeNode><y:NodeLabel>PSV-1</y:NodeLabel><y:NodeLabel>set 10 barg</y:NodeLabel><y:NodeLabel>FUTURE</y:NodeLabel></y:ShapeNode></data></node>
        <edge source="n0" target="n1"><data key="h"><y:PolyLineEdge><y:Arrows source="standard" target="none"/><y:EdgeLabel>FUTURE</y:EdgeLabel></y:PolyLineEdge></data></edge>
        <edge source="n0" target="n1"><data key="h"><y:PolyLineEdge><y:Arrows source="none" target="none"/></y:PolyLineEdge></data></edge>
        <edge source="n0" target="n1"><data key="h"><y:PolyLineEdge><y:Arrows source="none" target="delta"/></y:PolyLineEdge></data></edge>
        </graph></graphml>"#;
    let graph = &import("graphml", &[xml])["pid_graph"];
    let nodes = r#"[{"id":"n0","tag":"HV-1","description":"LC"},{"id":"n1","tag":"PSV-1","description":["set 10 barg","FUTURE"]}]"#;
    let edges = r#"[{"from":"n0","to":"n1","direction":"backward","remarks":"FUTURE"},{"from":"n0","to":"n1","direction":"both"},{"from":"n0","to":"n1"}]"#;
    assert_eq!([&graph["nodes"], &graph["edges"]], [&parsed(nodes), &parsed(edges)]);
}

#[test]
fn boxes_that_are_not_valid_are_reported_and_left_out() {
    for (sides, is_valid) in [
        ("x='1' y='2' width='3' height='4'", true),
        ("x='NaN' y='2' width='3' height='4'", false),
        ("x='1' y='2' width='-3' height='4'", false),
        ("x='1' y='inf' width='3' height='4'", false),
    ] {
        let xml = format!(
            "<graphml><graph edgedefault='directed'><node id='a'><data key='g'><ShapeNode><Geometry {sides}/></ShapeNode></data></node></graph></graphml>"
        );
        let imported =
            Format::find("graphml").and_then(|format| format.import(&[xml.as_bytes()])).expect("it can be read");
        assert_eq!(imported.diagnostics.iter().any(|found| found.finding.code() == "I031"), !is_valid, "{sides}");
        assert_eq!(imported.json.contains("orig_x"), is_valid, "{sides}");
    }
}

#[test]
fn keys_of_parallel_edges_are_not_ids() {
    let xml =
        br#"<graphml><graph edgedefault="directed"><node id="a"/><node id="b"/><edge id="0" source="a" target="b"/>
        <edge id="1" source="a" target="b"/><edge id="0" source="b" target="a"/></graph></graphml>"#;
    let edges = &import("graphml", &[xml])["pid_graph"]["edges"];
    let named: Vec<_> = (0..3).map(|at| (edges[at]["id"].as_str(), edges[at]["key"].as_str())).collect();
    assert_eq!(named, [(None, Some("0")), (Some("1"), None), (None, Some("0"))]);
}

#[test]
fn localized_tables_are_read_and_tags_stay_strings() {
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
fn column_names_of_other_tools_are_recognized() {
    let keys = |nodes: &str, edges: &str| {
        let graph = import("csv-graph", &[nodes.as_bytes(), edges.as_bytes()]);
        let first = |list: &str| graph["pid_graph"][list][0].clone();
        let findings = graph["pid_graph"]["metadata"]["diagnostics"].as_array().cloned().unwrap_or_default();
        let renamed = findings.iter().filter(|finding| finding["code"] == "I019").count();
        (first("nodes"), first("edges"), renamed)
    };
    let renamed = keys("Id,Label\n01,P\n2,V\n", "Source,Target\n01,2\n");
    assert_eq!(renamed, (parsed(r#"{"tag":"P","id":"01"}"#), parsed(r#"{"source":"01","target":"2"}"#), 4));
    let standard = keys("externalId\n01\n2\n", "u,v\n01,2\n");
    assert_eq!(standard, (parsed(r#"{"externalId":"01"}"#), parsed(r#"{"u":"01","v":"2"}"#), 0));
    let declared = keys("sep=;\r\nid;tag\r\n1;a,b,c\r\n", "sep=|\nfrom|to\n1|1\n");
    assert_eq!(declared, (parsed(r#"{"id":"1","tag":"a,b,c"}"#), parsed(r#"{"from":"1","to":"1"}"#), 0));
}

#[test]
fn dangling_ends_round_trip() {
    let dangling = r#"{"nodes": [{"id": "a"}], "edges": [{"id": "e", "from": "a", "to": "gone"}]}"#;
    let xml = text("graphml", dangling);
    assert!(xml.contains(r#"<node id="gone">"#), "{xml}");
    let back = import("graphml", &[xml.as_bytes()]);
    assert_eq!(back["pid_graph"]["nodes"].as_array().map(Vec::len), Some(1));
    assert_eq!(back["pid_graph"]["edges"][0]["to"], "gone");
    // A node with more data is not a placeholder.
    let custom = text("graphml", r#"{"nodes": [{"id": "a", "tag": "T", "missing_node": true}], "edges": []}"#);
    assert_eq!(import("graphml", &[custom.as_bytes()])["pid_graph"]["nodes"][0]["tag"], "T");
}

#[test]
fn tables_without_ids_or_ends_are_rejected() {
    let pair = Format::find("csv-graph").expect("there is one");
    for (nodes, edges) in [("size\nx\n", "from,to\na,b\n"), ("id\nx\n", "a,b\n1,2\n")] {
        let error = pair.import(&[nodes.as_bytes(), edges.as_bytes()]).expect_err("it is refused");
        assert_eq!(error.code(), Code::NotGraph);
    }
}

/// Imports a pair of tables and returns the graph and the codes of its findings.
fn import_tables(nodes: &str, edges: &str) -> (Value, Vec<String>) {
    let graph = import("csv-graph", &[nodes.as_bytes(), edges.as_bytes()]);
    let findings = graph["pid_graph"]["metadata"]["diagnostics"].as_array().cloned().unwrap_or_default();
    let codes = findings.iter().map(|finding| finding["code"].as_str().unwrap_or_default().to_owned());
    let codes = codes.collect();
    (graph, codes)
}

#[test]
fn headings_of_lists_of_engineers_are_read() {
    const EDGES: &str = "from,to\n1,1\n";
    for (heading, cell, field, value) in [
        ("Tag No.", "HV-1", "tag_number", "HV-1"),
        ("Item Tag", "HV-1", "tag", "HV-1"),
        ("Label", "HV-1", "tag", "HV-1"),
        ("Kennzeichen", "HV-1", "tag", "HV-1"),
        ("Item Type", "Gate valve", "component_class", "Gate valve"),
        ("Klasse", "Absperrschieber", "component_class", "Absperrschieber"),
        ("Line No.", "L-1", "line_number", "L-1"),
        ("Position", "LO", "normal_position", "LO"),
        ("Position", "23", "Position", "23"),
        ("Set Pressure (barg)", "10", "set_pressure_barg", "10"),
    ] {
        let (graph, _) = import_tables(&format!("id,{heading}\n1,{cell}\n"), EDGES);
        let found = &graph["pid_graph"]["nodes"][0][field];
        assert_eq!(found.as_str().map_or_else(|| found.to_string(), str::to_owned), value, "{heading}: {graph}");
    }
    let (graph, _) = import_tables("id,Tag\n1,A\n2,B\n", "Von;Nach;Verbindungsart\n1;2;Rohrleitung\n");
    let edge = &graph["pid_graph"]["edges"][0];
    assert_eq!((&edge["from"], &edge["to"], &edge["edge_type"]), (&"1".into(), &"2".into(), &"Rohrleitung".into()));
}

#[test]
fn a_label_beside_a_tag_stays_a_label() {
    let (graph, codes) = import_tables("Id,Label,Tag,Class\n1,text,HV-1,gate valve\n", "Source,Target\n1,1\n");
    let node = &graph["pid_graph"]["nodes"][0];
    assert_eq!((&node["Label"], &node["tag"]), (&"text".into(), &"HV-1".into()));
    assert!(!codes.contains(&"I023".to_owned()), "{codes:?}");
}

#[test]
fn columns_that_are_missing_or_not_read_are_reported() {
    const EDGES: &str = "from,to\n1,1\n";
    for (nodes, expected) in [
        ("id,tag,class\n1,HV-1,gate valve\n", &[][..]),
        ("id,class\n1,gate valve\n", &["I023"]),
        ("id,tag,class,Purchase Order\n1,HV-1,gate valve,4711\n", &["I024"]),
        ("id,tag,class,Design Pressure,Remarks,x\n1,HV-1,gate valve,10 barg,none,5\n", &[]),
        ("tag,class\n1,gate valve\n", &["I025"]),
        ("Valve list\nid,tag,class\n1,HV-1,gate valve\n", &["I026"]),
        ("id,tag,Bauform\n1,HV-1,gate valve\n", &["I022", "I024"]),
    ] {
        let (_, codes) = import_tables(nodes, EDGES);
        assert_eq!(codes, expected, "{nodes}");
    }
    let graph = import("csv-graph", &[b"id,tag,Bauform\n1,HV-1,gate valve\n", EDGES.as_bytes()]).to_string();
    assert!(graph.contains("the values of the column `Bauform` look like classes"), "{graph}");
}

#[test]
fn errors_of_tables_name_the_table_and_its_headings() {
    let format = Format::find("csv-graph").expect("a format");
    for (nodes, edges, file, parts) in [
        ("Nr;Klasse\n1;Ventil\n", "from;to\n1;1\n", 0, ["`id`", "`Klasse`"]),
        ("tag\nA\nA\n", "from,to\nA,A\n", 0, ["`A`", "twice"]),
        ("id\nA\n", "Start;Schluss\nA;A\n", 1, ["`from`", "`Start`, `Schluss`"]),
    ] {
        let error = format.import(&[nodes.as_bytes(), edges.as_bytes()]).expect_err("a column is missing");
        assert_eq!(error.file(), file, "{error}");
        assert!(parts.iter().all(|part| error.message().contains(part)), "{error}");
    }
}

#[test]
fn exports_without_metadata_say_so() {
    for format in ["csv-graph", "neo4j"] {
        let losses = |json: &str| {
            let graph = Graph::from_json(json).expect("valid JSON");
            Format::find(format).and_then(|format| format.losses(graph.root())).expect("a graph")
        };
        let found = losses(EDGE_CASES);
        assert_eq!(found.len(), 1, "{format}");
        assert!(found[0].message.contains("drawing_name, revision"), "{}", found[0].message);
        assert!(losses(EMPTY).is_empty(), "{format}");
    }
}

#[test]
fn exports_for_other_programs_have_pressures_and_tags_as_properties() {
    const JSON: &str = r#"{"pid_graph": {"nodes": [
        {"id": "V", "tag": "V-1", "node_classification": "equipment.vessel", "design_pressure": "85 barg"},
        {"id": "S", "tag": "PSV-1", "node_classification": "piping_component.safety_valve", "set_pressure": "80 bar(g)"},
        {"id": "H", "tag": "HV-1", "node_classification": "piping_component.ball_valve", "normal_position": "open",
         "lock": "locked_open"}],
      "edges": [{"id": "e1", "edge_type": "physically_connected_to", "from": "V", "to": "H"},
        {"id": "e2", "edge_type": "physically_connected_to", "from": "H", "to": "S"}],
      "metadata": {"drawing_name": "D"}}}"#;
    for (format, parts) in [
        (
            "dexpi",
            &[
                "\"UpperLimitDesignPressure\"",
                "\"SetPressureHigh\"",
                "PressureGaugeUnit.Bar",
                "\"PipingComponentName\"",
            ][..],
        ),
        (
            "proteus",
            &[
                "Name=\"UpperLimitDesignPressure\" Value=\"85\" Format=\"double\" Units=\"barg\"",
                "Name=\"SetPressureHigh\" Value=\"80\"",
                "Name=\"NormalPosition\" Value=\"open\"",
                "Name=\"LockStatus\" Value=\"locked_open\"",
            ],
        ),
    ] {
        let text = text(format, JSON);
        for part in parts {
            assert!(text.contains(part), "{part} in {text}");
        }
        check_round_trip(format, JSON, true);
    }
    let graph = Graph::from_json(JSON).expect("valid JSON");
    let losses = Format::find("dexpi").and_then(|format| format.losses(graph.root())).expect("a graph");
    let messages: Vec<&str> = losses.iter().map(|loss| loss.message.as_str()).collect();
    for part in ["normal_position, which only", "lock, which only"] {
        assert!(messages.iter().any(|message| message.starts_with(part)), "{messages:?}");
    }
    assert!(!messages.iter().any(|message| message.contains("pressure")), "{messages:?}");
}

#[test]
fn exports_state_fail_positions_in_the_words_of_the_format() {
    let json = |fail: &str| {
        format!(
            r#"{{"pid_graph": {{"nodes": [
        {{"id": "V", "tag": "XV-1", "node_classification": "piping_component.ball_valve", "fail_action": "{fail}"}},
        {{"id": "A", "tag": "XV-1", "node_classification": "instrument.actuating_system", "component_class": "ActuatingSystem"}},
        {{"id": "C", "node_classification": "instrument.controlled_actuator", "component_class": "ControlledActuator",
         "fail_action": "{fail}"}},
        {{"id": "R", "node_classification": "instrument.operated_valve_reference", "component_class": "OperatedValveReference"}}],
      "edges": [{{"id": "e1", "edge_type": "has_a", "from": "A", "to": "C"}}, {{"id": "e2", "edge_type": "has_a", "from": "A", "to": "R"}},
        {{"id": "e3", "edge_type": "associated_with", "edge_classification": "association.refers_to", "from": "R", "to": "V"}}],
      "metadata": {{"drawing_name": "D"}}}}}}"#
        )
    };
    for (fail, name) in
        [("FC", "FailClose"), ("air to open", "FailClose"), ("F.O.", "FailOpen"), ("fail last", "FailRetainPosition")]
    {
        let json = json(fail);
        let proteus = text("proteus", &json);
        assert!(proteus.contains(&format!("Name=\"FailActionSpecialization\" Value=\"{name}\"")), "{fail}: {proteus}");
        let dexpi = text("dexpi", &json);
        assert!(dexpi.contains(&format!("FailActionClassification.{name}\"")), "{fail}: {dexpi}");
        check_round_trip("proteus", &json, true);
        assert_eq!(
            fail_actions(&dexpi),
            [("C", fail), ("V", fail)].map(|(id, fail)| (id.to_owned(), fail.to_owned())),
            "{fail}"
        );
    }
    // A valve without an actuator.
    let valve = r#"{"pid_graph": {"nodes": [
        {"id": "V", "tag": "XV-1", "component_class": "BallValve", "node_classification": "piping_component.ball_valve",
         "fail_action": "FO"}], "edges": [], "metadata": {"drawing_name": "D"}}}"#;
    assert!(text("dexpi", valve).contains("FailActionClassification.FailOpen"), "{}", text("dexpi", valve));
    assert_eq!(fail_actions(&text("dexpi", valve)), [("V".to_owned(), "FO".to_owned())]);
    check_round_trip("proteus", valve, true);
    let losses =
        Format::find("dexpi").and_then(|format| format.losses(Graph::from_json(valve).expect("valid JSON").root()));
    assert!(!losses.expect("a graph").iter().any(|loss| loss.message.contains("fail_action")));
    let unknown = json("somehow");
    assert!(text("proteus", &unknown).contains("Value=\"somehow\""));
    assert_eq!(fail_actions(&text("dexpi", &unknown)).len(), 2);
}

/// Returns the ids and the fail positions of the items of a DEXPI model that have one.
fn fail_actions(dexpi: &str) -> Vec<(String, String)> {
    let graph = import("dexpi", &[dexpi.as_bytes()]);
    let nodes = graph["pid_graph"]["nodes"].as_array().expect("nodes").clone();
    let stated = nodes.iter().filter_map(|node| Some((node["id"].as_str()?, node["fail_action"].as_str()?)));
    let mut found: Vec<(String, String)> = stated.map(|(id, fail)| (id.to_owned(), fail.to_owned())).collect();
    found.sort();
    found
}

#[test]
fn ends_of_signals_that_the_extension_states_are_no_findings() {
    const JSON: &str = r#"{"pid_graph": {"nodes": [
        {"id": "H", "tag": "LV-1", "node_classification": "piping_component.control_valve"},
        {"id": "I", "tag": "LIC-1", "node_classification": "instrument.level_controller"}],
      "edges": [{"id": "s1", "edge_type": "signal", "from": "I", "to": "H"}],
      "metadata": {"drawing_name": "D"}}}"#;
    let text = text("dexpi", JSON);
    let graph = import("dexpi", &[text.as_bytes()]);
    let findings = graph["pid_graph"]["metadata"].to_string();
    assert!(!findings.contains("I005"), "{findings}");
    check_round_trip("dexpi", JSON, true);
}

#[test]
fn cells_that_look_like_formulas_are_guarded_and_numbers_are_not() {
    let csv = text("csv", r#"[{"t": "=1+1", "n": -5}, {"t": "-P", "n": 1.50}, {"t": "'=x"}, {"t": "a,\"b\"\n"}]"#);
    assert_eq!(csv, "t,n\n'=1+1,-5\n'-P,1.50\n''=x,\n\"a,\"\"b\"\"\n\",\n");
}

#[test]
fn any_array_is_a_table() {
    assert_eq!(text("csv", r#"["a", 1, null, [2]]"#), "value\na\n1\n\"\"\n[2]\n");
    assert_eq!(text("csv", r#"{"a": 1}"#), "a\n1\n");
    assert_eq!(text("csv", "[]"), "");
}

#[test]
fn ndjson_keeps_the_digits_of_the_document() {
    let files = export("ndjson", EDGE_CASES);
    let nodes = String::from_utf8(files[0].bytes.clone()).expect("it is text");
    assert_eq!(nodes.lines().count(), 4);
    assert!(nodes.contains("53.0") && nodes.contains("12345678901234567890") && nodes.contains(r#""ü\n""#));
    assert!(nodes.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
}

#[test]
fn neo4j_tables_have_typed_headers_and_unique_ids() {
    let files = export("neo4j", EDGE_CASES);
    let nodes = String::from_utf8(files[0].bytes.clone()).expect("it is text");
    assert!(nodes.starts_with(":ID,:LABEL,id:string,tag:string,n:long,d:double,b:boolean,deep:string,"), "{nodes}");
    let ids: Vec<&str> = nodes.lines().filter_map(|line| line.split(',').next()).collect();
    assert!(ids.contains(&"7") && ids.contains(&"7#2") && ids.contains(&"ghost"));
    let edges = String::from_utf8(files[1].bytes.clone()).expect("it is text");
    assert!(edges.contains("7,7#2,SIGNAL"), "{edges}");
}

/// Returns the graph that Cypher statements create: `labels {properties}` of nodes, `from -type-> to {properties}` of
/// edges.
#[derive(Debug, Default, PartialEq)]
struct CypherGraph {
    constraints: Vec<String>,
    nodes: Vec<(Vec<String>, Value)>,
    edges: Vec<(String, Value)>,
}

/// Reader of the Cypher subset that the export writes, with Neo4j's rules: character escapes are replaced first,
/// anywhere in the text.
struct CypherReader {
    text: Vec<char>,
    at: usize,
}

impl CypherReader {
    fn read(text: &str) -> CypherGraph {
        let mut cypher = CypherReader { text: CypherReader::decode_escapes(text), at: 0 };
        let mut graph = CypherGraph::default();
        while cypher.at < cypher.text.len() {
            cypher.statement(&mut graph);
            cypher.expect(";\n");
        }
        graph
    }

    fn decode_escapes(text: &str) -> Vec<char> {
        let chars: Vec<char> = text.chars().collect();
        let (mut out, mut at) = (Vec::new(), 0);
        while at < chars.len() {
            let is_escape = chars[at] == '\\' && chars.get(at + 1) == Some(&'u');
            if is_escape {
                let digits: String = chars[at + 2..at + 6].iter().collect();
                out.push(u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32).expect("four digits"));
            } else {
                out.push(chars[at]);
            }
            at += if is_escape { 6 } else { 1 };
        }
        out
    }

    fn statement(&mut self, graph: &mut CypherGraph) {
        if self.accept("CREATE CONSTRAINT pid_item_id IF NOT EXISTS FOR (n:PidItem) REQUIRE n.") {
            graph.constraints.push(self.name());
            return self.expect(" IS UNIQUE");
        }
        self.expect("UNWIND ");
        let rows = self.value();
        let rows = rows.as_array().expect("a list");
        assert!(!rows.is_empty() && rows.len() <= 500, "{} rows", rows.len());
        self.expect("AS row\n");
        if self.accept("CREATE (n:PidItem") {
            let mut labels = Vec::new();
            while self.accept(":") {
                labels.push(self.name());
            }
            self.expect(") SET n = row");
            return graph.nodes.extend(rows.iter().map(|row| (labels.clone(), row.clone())));
        }
        self.expect("MATCH (a:PidItem {");
        let key = self.name();
        self.expect(": row.from}), (b:PidItem {");
        assert_eq!(self.name(), key);
        self.expect(": row.to}) CREATE (a)-[r:");
        let kind = self.name();
        self.expect("]->(b) SET r = row.fields");
        assert!(graph.constraints.contains(&key), "the ends are found by the unique key");
        let edges = rows.iter().map(|row| {
            let [from, to] = ["from", "to"].map(|end| row[end].as_str().expect("a text"));
            (format!("{from} -{kind}-> {to}"), row["fields"].clone())
        });
        graph.edges.extend(edges);
    }

    fn accept(&mut self, token: &str) -> bool {
        let is_match = token.chars().enumerate().all(|(at, c)| self.text.get(self.at + at) == Some(&c));
        self.at += if is_match { token.chars().count() } else { 0 };
        is_match
    }

    #[track_caller]
    fn expect(&mut self, token: &str) {
        let rest: String = self.text[self.at..].iter().take(60).collect();
        assert!(self.accept(token), "`{token}` expected, not {rest}");
    }

    fn next(&mut self) -> char {
        self.at += 1;
        self.text[self.at - 1]
    }

    fn skip_white_space(&mut self) {
        while self.text.get(self.at).is_some_and(|c| c.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn name(&mut self) -> String {
        self.expect("`");
        let mut name = String::new();
        loop {
            match self.next() {
                '`' if !self.accept("`") => break,
                c => name.push(c),
            }
        }
        assert!(!name.is_empty() && !name.contains('\0'), "Neo4j has no such names");
        name
    }

    fn key(&mut self) -> String {
        if self.text[self.at] == '`' {
            return self.name();
        }
        let word: String = self.text[self.at..].iter().take_while(|c| c.is_ascii_lowercase()).collect();
        self.at += word.len();
        word
    }

    fn string(&mut self) -> String {
        self.expect("'");
        let mut text = String::new();
        loop {
            match self.next() {
                '\'' => return text,
                '\\' => text.push(match self.next() {
                    'n' => '\n',
                    'r' => '\r',
                    't' => '\t',
                    c @ ('\\' | '\'') => c,
                    c => panic!("there is no escape {c}"),
                }),
                c => text.push(c),
            }
        }
    }

    fn value(&mut self) -> Value {
        self.skip_white_space();
        let value = match self.text[self.at] {
            '[' => self.list(),
            '{' => self.map(),
            '\'' => self.string().into(),
            _ => self.word(),
        };
        self.skip_white_space();
        value
    }

    fn list(&mut self) -> Value {
        let mut items = Vec::new();
        self.expect("[");
        while !self.accept("]") {
            items.push(self.value());
            assert!(self.accept(",") || self.text[self.at] == ']');
        }
        items.into()
    }

    fn map(&mut self) -> Value {
        let mut fields = serde_json::Map::new();
        self.expect("{");
        while !self.accept("}") {
            self.skip_white_space();
            let key = self.key();
            self.expect(": ");
            let value = self.value();
            assert!(fields.insert(key, value).is_none(), "a property twice");
            assert!(self.accept(",") || self.text[self.at] == '}');
        }
        fields.into()
    }

    /// Reads `true`, `false`, 64-bit integers, and floats without `+` in the exponent.
    fn word(&mut self) -> Value {
        let is_part = |c: &&char| c.is_ascii_alphanumeric() || "-.".contains(**c);
        let word: String = self.text[self.at..].iter().take_while(is_part).collect();
        self.at += word.len();
        match word.parse::<i64>() {
            Ok(integer) => integer.into(),
            Err(_) => match word.as_str() {
                "true" => true.into(),
                "false" => false.into(),
                float => {
                    assert!(float.contains(['.', 'e']), "{float} is too large for an integer");
                    float.parse::<f64>().expect("a number").into()
                }
            },
        }
    }
}

fn cypher(json: &str) -> CypherGraph {
    CypherReader::read(&text("cypher", json))
}

#[test]
fn cypher_creates_every_node_and_edge() {
    let graph = cypher(EDGE_CASES);
    assert_eq!(graph.constraints, ["pid_id"]);
    let of = |id: &str| graph.nodes.iter().find(|(_, row)| row["pid_id"] == id).map(|(_, row)| row.clone()).expect(id);
    let deep = r#"{"x": [1, "ü\n"]}"#;
    let first = serde_json::json!({"pid_id": "a\"<&'>", "id": "a\"<&'>", "tag": "=1+1", "n": 1, "d": 53.0, "b": true, "deep": deep});
    assert_eq!(of("a\"<&'>"), first);
    assert_eq!(of("b\\n")["big"], serde_json::json!(12345678901234567890_f64));
    assert_eq!((&of("7")["id"], &of("7#2")["id"]), (&serde_json::json!(7), &serde_json::json!("7")));
    let missing: Vec<_> = graph.nodes.iter().filter(|(labels, _)| labels == &["missing"]).collect();
    assert_eq!(missing.len(), 1);
    let edges: Vec<&str> = graph.edges.iter().map(|(edge, _)| edge.as_str()).collect();
    assert_eq!(edges, ["a\"<&'> -PIPE-> b\\n", "a\"<&'> -PIPE-> b\\n", "7#2 -PIPE-> ghost", "7 -SIGNAL-> 7#2"]);
    assert_eq!(graph.edges[1].1["w"], serde_json::json!(2.5));
    assert_eq!(cypher(EMPTY), CypherGraph { constraints: vec!["pid_id".into()], ..CypherGraph::default() });
}

#[test]
fn cypher_quotes_any_name_and_string() {
    const HOSTILE: &[&str] = &[
        "a`b",
        "``",
        "`) DETACH DELETE n //",
        "'; MATCH (n) DETACH DELETE n; //",
        "a\\",
        "\\'",
        "\\u0027",
        "\\\\u0060",
        "\\\\\\u0027 u",
        "line\nbreak\r\n\t",
        "\u{1}\u{7f}\u{85}",
        "ünï\u{1F600}\u{2028}",
        "$x",
        "{y}",
        "a b",
        ":param",
        "\"",
    ];
    for text in HOSTILE {
        let json = serde_json::json!({
            "nodes": [{"id": text, "node_type": text, "class": "pump.gear", *text: text, "list": [text]}],
            "edges": [{"from": text, "to": text, "type": text, *text: {"deep": text}}],
        });
        let graph = cypher(&json.to_string());
        let (labels, row) = &graph.nodes[0];
        let kind: Vec<String> = text.split('.').map(String::from).chain(["pump".into(), "gear".into()]).collect();
        assert_eq!(labels, &kind, "{text:?}");
        assert_eq!([&row["pid_id"], &row["id"], &row[*text]], [*text; 3], "{text:?}");
        let list: Value = serde_json::from_str(row["list"].as_str().expect("JSON")).expect("JSON");
        assert_eq!(list, serde_json::json!([text]));
        let (edge, fields) = &graph.edges[0];
        assert_eq!(*edge, format!("{text} -{}-> {text}", text.to_uppercase()));
        let deep: Value = serde_json::from_str(fields[*text].as_str().expect("JSON")).expect("JSON");
        assert_eq!(deep["deep"], *text);
    }
}

#[test]
fn cypher_replaces_names_and_numbers_that_neo4j_lacks() {
    let json = r#"{"nodes": [{"id": "a", "": 1, "_": 2, "pid_id": "own", "\u0000": 3, "\ufffd": 4, "PidItem": 5,
        "n": [1e400, -0, -0.0, 1e21, 1.5E-7, 9223372036854775807, 9223372036854775808, 1e3], "gone": null,
        "a": 1e400, "b": -0, "c": 1e21, "d": 1.5E-7, "e": 9223372036854775807, "f": 9223372036854775808, "g": 1.50,
        "class": "PidItem..x.x"}], "edges": [{"from": "a", "to": "a"}]}"#;
    let graph = cypher(json);
    assert_eq!(graph.constraints, ["pid_id_"]);
    let (labels, row) = &graph.nodes[0];
    assert_eq!(labels, &["x"]);
    for (key, value) in [
        ("pid_id_", serde_json::json!("a")),
        ("pid_id", serde_json::json!("own")),
        ("_", serde_json::json!(1)),
        ("__", serde_json::json!(2)),
        ("\u{fffd}", serde_json::json!(3)),
        ("_\u{fffd}", serde_json::json!(4)),
        ("b", serde_json::json!(0)),
        ("c", serde_json::json!(1e21)),
        ("d", serde_json::json!(1.5e-7)),
        ("e", serde_json::json!(i64::MAX)),
        ("f", serde_json::json!(9223372036854775808_f64)),
        ("g", serde_json::json!(1.5)),
    ] {
        assert_eq!(row[key], value, "{key}");
    }
    assert!(row.get("a").is_none() && row.get("gone").is_none());
    assert_eq!(graph.edges[0].0, "a -CONNECTED-> a");
}

#[test]
fn cypher_statements_have_a_bounded_number_of_rows() {
    let (nodes, edges) = counts(&plant());
    let graph = cypher(&plant());
    assert_eq!((graph.nodes.len(), graph.edges.len()), (nodes, edges));
    let many: Vec<Value> = (0..1201).map(|id| serde_json::json!({"id": id})).collect();
    let text = text("cypher", &Value::from(many).to_string());
    assert_eq!((text.matches("UNWIND").count(), CypherReader::read(&text).nodes.len()), (3, 1201));
}

#[test]
fn mermaid_writes_special_characters_by_number() {
    let chart = text("mermaid", EDGE_CASES);
    assert!(chart.starts_with("flowchart LR\n"));
    assert!(!chart.contains('<') && chart.contains("n0 --> n1"), "{chart}");
    let chart = text("mermaid", r#"[{"id": "x", "tag": "a\"]; click <b>"}]"#);
    assert_eq!(chart, "flowchart LR\n    n0[\"a#34;#93;#59; click #60;b#62;\"]\n");
}

/// Runs a program on files in a temporary directory. Returns `None` if the program is not installed.
fn run(name: &str, program: &[&str], files: &[ExportedFile]) -> Option<String> {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("pidq-formats-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    for file in files {
        std::fs::write(folder.join(file.name), &file.bytes).expect("a file");
    }
    let output = Command::new(program[0]).args(&program[1..]).current_dir(&folder).output();
    std::fs::remove_dir_all(&folder).expect("the folder goes");
    let output = output.ok()?;
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Runs Python if it has the required module.
fn python(module: &str, script: &str, files: &[ExportedFile]) -> Option<String> {
    let has = Command::new("python3").args(["-c", &format!("import {module}")]).output();
    if !has.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: python3 with {module} is not there");
        return None;
    }
    run(module, &["python3", "-c", script], files)
}

/// Counts nodes, edges and edges from the first node.
fn counts(json: &str) -> (usize, usize) {
    let graph: Value = serde_json::from_str(json).expect("valid JSON");
    let of = |list: &str| graph["pid_graph"][list].as_array().map_or(0, Vec::len);
    (of("nodes"), of("edges"))
}

#[test]
fn networkx_reads_exported_graphml() {
    let script = "import networkx as nx; g = nx.read_graphml('graph.graphml', force_multigraph=True); \
                  print(g.is_directed(), len(g), g.number_of_edges(), sorted(d.get('tag', '') for _, d in g.nodes(data=True))[:1])";
    if let Some(output) = python("networkx", script, &export("graphml", EDGE_CASES)) {
        assert_eq!(output, "True 5 4 ['']");
    }
    let (nodes, edges) = counts(&plant());
    if let Some(output) = python("networkx", script, &export("graphml", &plant())) {
        assert!(output.starts_with(&format!("True {nodes} {edges} ")), "{output}");
    }
}

#[test]
fn networkx_reads_exported_node_link_json() {
    let script = "import json, inspect, networkx as nx; f = nx.node_link_graph; \
                  name = 'edges' if 'edges' in inspect.signature(f).parameters else 'link'; \
                  g = f(json.load(open('graph.json')), **{name: 'edges'}); \
                  print(type(g).__name__, len(g), g.number_of_edges(), g.graph.get('revision'))";
    if let Some(output) = python("networkx", script, &export("node-link", EDGE_CASES)) {
        assert_eq!(output, "MultiDiGraph 5 4 B");
    }
}

#[test]
fn graphs_written_by_networkx_are_read() {
    let script = "import json, sys, networkx as nx; g = nx.MultiDiGraph(name='x'); g.add_edge('a', 1, w=2.5); \
                  g.add_edge('a', 1, w=3); nx.write_graphml(g, sys.stdout.buffer); print(); print('====')\n\
                  print(json.dumps(nx.node_link_data(g, edges='links')))";
    let Some(output) = python("networkx", script, &[]) else { return };
    let (graphml, node_link) = output.split_once("====").expect("two parts");
    for (format, text) in [("graphml", graphml), ("node-link", node_link)] {
        let graph = import(format, &[text.trim().as_bytes()]);
        let edges = graph["pid_graph"]["edges"].as_array().expect("a list");
        let weights: BTreeSet<String> = edges.iter().map(|edge| edge["w"].to_string()).collect();
        assert_eq!((graph["pid_graph"]["nodes"].as_array().map(Vec::len), edges.len()), (Some(2), 2), "{format}");
        assert!(weights.contains("2.5"), "{format}");
    }
}

#[test]
fn graphviz_lays_out_exported_dot() {
    for json in [EMPTY, EDGE_CASES, &plant()] {
        let files = export("dot", json);
        match run("dot", &["dot", "-Tplain", "graph.dot"], &files) {
            None => return eprintln!("SKIPPED: graphviz is not there"),
            Some(output) => assert!(output.ends_with("stop"), "{output}"),
        }
    }
}

#[test]
fn openpyxl_reads_exported_workbooks() {
    let script = "import openpyxl; b = openpyxl.load_workbook('tables.xlsx'); \
                  print(b.sheetnames, [c.value for c in b.worksheets[0][2]], b.worksheets[0]['B2'].data_type)";
    if let Some(output) = python("openpyxl", script, &export("xlsx", EDGE_CASES)) {
        let expected = "['nodes', 'edges', 'metadata'] ['a\"<&\\'>', '=1+1', 1, 53, True, '{\"x\": [1, \"ü\\\\n\"]}', None, None] s";
        assert_eq!(output, expected);
    }
    let lists = r#"{"lines": [{"a": 1}], "LINES": [{"a": 2}], "a very long name of a list: with [more] than 31": [1]}"#;
    if let Some(output) = python("openpyxl", script, &export("xlsx", lists)) {
        assert!(output.starts_with("['lines', 'LINES_2', 'a very long name of a list_ wit'] [1]"), "{output}");
    }
}
