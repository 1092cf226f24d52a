//! Round trips: what a format writes and reads again is the same graph, for random documents with every type of value.

use pidq_core::Graph;
use pidq_formats::Format;
use serde_json::{Map, Value, json};

/// Random numbers of a seed, the same on every system.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    fn choose<'v, T>(&mut self, values: &'v [T]) -> &'v T {
        &values[self.below(values.len())]
    }
}

/// Texts that formats could confuse with something else.
const TEXTS: &[&str] = &[
    "",
    " ",
    "P-101",
    "1",
    "01",
    "1.50",
    "true",
    "null",
    "NaN",
    "[1]",
    "{\"a\":1}",
    "{",
    "=1+1",
    "'=x",
    "-P",
    "a,b;c",
    "a\"b",
    "line\r\nbreak\t",
    "\r",
    " x ",
    "<&>'",
    "\u{1}\u{7f}",
    "ü\u{FFFE}\u{1F600}",
    "sep=;",
    "nowhere",
    "\\u0041",
    "]]>",
];

/// Names of fields that formats could confuse with their own.
const KEYS: &[&str] = &[
    "tag",
    "name",
    "label",
    "size",
    "Size",
    "note",
    "a b",
    "a:b",
    "a_b",
    "Id",
    "ID",
    "key",
    "class",
    "type",
    "edge_type",
    "direction",
    "missing_node",
    "pidq_other_fields",
    "",
    " ",
    "x,y",
    "x;y;z",
    "\u{1}",
    "ü",
    "Target",
    "line_number",
];

/// Numbers with the digits that a document may have.
const NUMBERS: &[&str] = &["0", "-0", "7", "53.0", "1.5e3", "0.1", "-2", "12345678901234567890", "1E+2", "1e400"];

fn value(random: &mut Random, depth: usize) -> String {
    match random.below(if depth > 0 { 8 } else { 5 }) {
        0 => "null".into(),
        1 => random.choose(&["true", "false"]).to_string(),
        2 => random.choose(NUMBERS).to_string(),
        3 | 4 => Value::from(*random.choose(TEXTS)).to_string(),
        5 => format!("[{},{}]", value(random, depth - 1), value(random, depth - 1)),
        6 => "[]".into(),
        _ => format!("{{{}:{}}}", Value::from(*random.choose(KEYS)), value(random, depth - 1)),
    }
}

/// Returns fields with different names, after some given ones.
fn object(random: &mut Random, given: &[(&str, String)]) -> String {
    let mut keys: Vec<&str> = given.iter().map(|(key, _)| *key).collect();
    let mut fields: Vec<String> = given.iter().map(|(key, value)| format!("{}:{value}", Value::from(*key))).collect();
    for _ in 0..random.below(5) {
        let key = *random.choose(KEYS);
        if !keys.contains(&key) {
            keys.push(key);
            fields.push(format!("{}:{}", Value::from(key), value(random, 2)));
        }
    }
    format!("{{{}}}", fields.join(","))
}

/// Returns a node-link document. Ids are different strings and numbers; some edges end nowhere.
fn document(random: &mut Random) -> String {
    let ids = ["\"a\"", "7", "\"b c\"", "\"<&>\"", "\"01\"", "1.5", "\"P,1\"", "\"=x\""];
    let count = random.below(ids.len() + 1);
    let pairs = [["source", "target"], ["from", "to"], ["source_id", "target_id"]];
    let pair = *random.choose(&pairs);
    let nodes: Vec<String> = ids[..count].iter().map(|id| object(random, &[("id", (*id).to_owned())])).collect();
    let mut edges = Vec::new();
    for _ in 0..random.below(6) {
        let ends =
            [0, 1].map(|_| if count == 0 || random.below(9) == 0 { "\"gone\"" } else { ids[random.below(count)] });
        let id = value(random, 0);
        edges.push(object(random, &[(pair[0], ends[0].into()), (pair[1], ends[1].into()), ("id", id)]));
    }
    let graph = object(random, &[]);
    format!(
        "{{\"directed\":true,\"multigraph\":true,\"graph\":{graph},\"nodes\":[{}],\"edges\":[{}]}}",
        nodes.join(","),
        edges.join(",")
    )
}

/// Parses JSON; numbers keep the digits that the document has.
fn parsed(json: &str) -> Value {
    // `1e400` has no value in other libraries.
    serde_json::from_str(&json.replace("1e400", "\"1e400\"")).unwrap_or_else(|error| panic!("{error}: {json}"))
}

/// Writes a document, reads it again, and returns nodes, edges and metadata before and after.
fn round_trip(format: &Format, json: &str) -> [Value; 2] {
    let graph = Graph::from_json(json).expect("valid JSON");
    let files = format.export(graph.root()).unwrap_or_else(|error| panic!("{}: {error}\n{json}", format.name));
    let bytes: Vec<&[u8]> = files.iter().map(|file| file.bytes.as_slice()).collect();
    let imported = format.import(&bytes).unwrap_or_else(|error| {
        let texts: Vec<_> = bytes.iter().map(|bytes| String::from_utf8_lossy(bytes)).collect();
        panic!("{}: {error}\n{json}\n{}", format.name, texts.join("\n"))
    });
    let after = parsed(&imported.json)["pid_graph"].clone();
    let before = parsed(json);
    let mut metadata: Map<String, Value> = after["metadata"].as_object().cloned().unwrap_or_default();
    metadata.remove("diagnostics");
    let before = json!({"nodes": before["nodes"], "edges": before["edges"], "graph": before["graph"]});
    [before, json!({"nodes": after["nodes"], "edges": after["edges"], "graph": metadata})]
}

#[test]
fn graphml_holds_any_node_link_document() {
    let format = Format::find("graphml").expect("there is one");
    let mut random = Random(1);
    for _ in 0..1000 {
        let json = document(&mut random);
        let [before, after] = round_trip(format, &json);
        assert_eq!(before, after, "{json}");
    }
}

/// These formats have no metadata.
#[test]
fn tables_and_lines_hold_all_nodes_and_edges() {
    for (name, seed) in [("csv-graph", 2), ("neo4j", 3), ("ndjson", 4)] {
        let format = Format::find(name).expect("there is one");
        let mut random = Random(seed);
        for _ in 0..1000 {
            let json = document(&mut random);
            let [before, after] = round_trip(format, &json);
            assert_eq!([&before["nodes"], &before["edges"]], [&after["nodes"], &after["edges"]], "{name} {json}");
        }
    }
}

#[test]
fn proteus_holds_any_node_link_document() {
    let format = Format::find("proteus").expect("there is one");
    let mut random = Random(5);
    for _ in 0..1000 {
        let json = document(&mut random);
        let [before, after] = round_trip(format, &json);
        assert_eq!(before, after, "{json}");
    }
}

/// Writes a drawing as Proteus XML, reads it again, and compares everything.
#[track_caller]
fn check_proteus(name: &str, json: &str) -> usize {
    let format = Format::find("proteus").expect("there is one");
    let graph = Graph::from_json(json).unwrap_or_else(|error| panic!("{name}: {error}"));
    let files = format.export(graph.root()).unwrap_or_else(|error| panic!("{name}: {error}"));
    let imported = format.import(&[&files[0].bytes]).unwrap_or_else(|error| panic!("{name}: {error}"));
    let [mut before, mut after] = [parsed(json), parsed(&imported.json)];
    // A drawing of another system configures where its lists are.
    if let Some(model) = before.get("model") {
        before = json!({"pid_graph": {"nodes": model["items"], "edges": model["relations"], "metadata": before["metadata"]}});
    }
    if before["pid_graph"]["metadata"].get("diagnostics").is_none() {
        let metadata = after["pid_graph"]["metadata"].as_object_mut().expect("metadata");
        assert_eq!(metadata.remove("diagnostics"), Some(json!([])), "{name}");
    }
    for list in ["nodes", "edges"] {
        let [before, after] = [&before, &after].map(|graph| graph["pid_graph"][list].as_array().expect("a list"));
        for (before, after) in before.iter().zip(after) {
            assert_eq!(before, after, "{name}");
        }
        assert_eq!(before.len(), after.len(), "{name}: {list}");
    }
    assert_eq!(before["pid_graph"]["metadata"], after["pid_graph"]["metadata"], "{name}");
    assert_eq!(format.losses(graph.root()).map(|losses| losses.len()), Ok(0), "{name}");
    files[0].bytes.len()
}

#[test]
fn proteus_holds_the_example_drawings() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/data/");
    for name in ["plant.json", "plant_b.json", "plant_vendor.json", "storage.json"] {
        let json = std::fs::read_to_string(format!("{folder}{name}")).expect(name);
        check_proteus(name, &json);
    }
    for (name, format) in [("skid.xml", "proteus"), ("skid_dexpi.xml", "dexpi")] {
        let bytes = std::fs::read(format!("{folder}{name}")).expect(name);
        let imported = Format::find(format).and_then(|format| format.import(&[&bytes])).expect(name);
        check_proteus(name, &imported.json);
    }
    let imported = Format::find("sfiles").and_then(|format| format.import(&[b"(raw)(pp)<&|(raw)&|(r)(prod)"]));
    check_proteus("sfiles", &imported.expect("a flowsheet").json);
}

#[test]
fn proteus_holds_real_drawings() {
    let neighbor_dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data");
    let folder = std::env::var_os("PIDQ_TEST_DRAWINGS").map_or_else(|| neighbor_dir.into(), std::path::PathBuf::from);
    let folders = ["proteus", "proteus-4.1.1", "dexpi2", "."].map(|name| folder.join(name));
    let entries = folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten();
    let mut count = 0;
    for path in entries.map(|entry| entry.path()) {
        let Ok(bytes) = std::fs::read(&path) else { continue };
        let Some(format) = Format::sniff(&bytes).filter(|format| ["proteus", "dexpi"].contains(&format.name)) else {
            continue;
        };
        let Ok(imported) = format.import(&[&bytes]) else { continue };
        let size = check_proteus(&path.display().to_string(), &imported.json);
        println!("{}: {} bytes, written {size}", path.display(), bytes.len());
        count += 1;
    }
    if count == 0 {
        eprintln!("SKIPPED: no drawings in ../shared/data and none in PIDQ_TEST_DRAWINGS");
    }
}

#[test]
fn proteus_reports_what_it_does_not_hold() {
    let format = Format::find("proteus").expect("there is one");
    let json = r#"{"pid_graph": {"nodes": [{"id": "a"}, 1], "edges": [], "views": []}, "note": "x"}"#;
    let graph = Graph::from_json(json).expect("valid JSON");
    let losses = format.losses(graph.root()).expect("a graph");
    let messages: Vec<_> = losses.iter().map(|loss| loss.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "the member `note` of the document is not part of the drawing; it is not written",
            "the member `views` of the document is not part of the drawing; it is not written",
            "entries of the lists of nodes and edges that are not objects are not written",
        ]
    );
}

/// Another program may remove an item, change one and add one; the corrections of the others still apply.
#[test]
fn changes_of_an_exported_proteus_file_are_kept() {
    let format = Format::find("proteus").expect("there is one");
    let json = r#"{"pid_graph": {"nodes": [
        {"id": "T 1", "node_type": "pid_component", "node_classification": "equipment.tank", "tag": "T-1", "note": 1},
        {"id": "P", "node_type": "pid_component", "node_classification": "equipment.pump", "tag": "P-1", "note": 2}],
        "edges": [], "metadata": {"drawing_name": "d"}}}"#;
    let graph = Graph::from_json(json).expect("valid JSON");
    let text = String::from_utf8(format.export(graph.root()).expect("a graph").remove(0).bytes).expect("it is text");
    let (before, after) = text.split_once("<Equipment ID=\"P\"").expect("the pump");
    let (_, after) = after.split_once("</Equipment>").expect("its end");
    let text = format!("{before}<Equipment ID=\"N\" TagName=\"N-1\"/>{after}").replace("\"T-1\"", "\"T-9\"");
    let imported = format.import(&[text.as_bytes()]).expect("it can be read");
    let graph = parsed(&imported.json);
    let nodes = graph["pid_graph"]["nodes"].as_array().expect("a list");
    let rows: Vec<_> = nodes.iter().map(|node| [&node["id"], &node["tag"], &node["note"]]).collect();
    assert_eq!(rows, [[&json!("T 1"), &json!("T-9"), &json!(1)], [&json!("N"), &json!("N-1"), &Value::Null]]);
}
