//! Tests of the DEXPI 2.0 export: drawings of our own, hostile texts, and, if available, real drawings, the schema and the
//! information model.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::format::Format;
use crate::json::Json;
use crate::model::json;
use crate::proteus::tests::drawings_in;
use crate::xml::Tree;

use super::super::extension;
use super::super::objects::last_name;
use super::super::plant_model::{Kind, PlantModel};
use super::*;

const SKID: &str = include_str!("../../../../examples/data/skid_dexpi.xml");
const SKID_PROTEUS: &str = include_str!("../../../../examples/data/skid.xml");
const PLANT: &str = include_str!("../../../../examples/data/plant.json");
const VENDOR: &str = include_str!("../../../../examples/data/plant_vendor.json");
const STORAGE: &str = include_str!("../../../../examples/data/storage.json");

fn import(name: &str, bytes: &[u8]) -> Graph {
    let format = Format::find(name).expect("a format");
    Graph::from_json(format.import(&[bytes]).expect("it is read").json).expect("valid JSON")
}

fn parse(json: &str) -> Graph {
    Graph::from_json(json).expect("valid JSON")
}

/// Returns our own drawings by name.
fn own_drawings() -> Vec<(String, Graph)> {
    let drawings = [
        ("skid_dexpi", import("dexpi", SKID.as_bytes())),
        ("skid", import("proteus", SKID_PROTEUS.as_bytes())),
        ("plant", parse(PLANT)),
        ("plant_vendor", parse(VENDOR)),
        ("storage", parse(STORAGE)),
    ];
    drawings.into_iter().map(|(name, graph)| (name.to_owned(), graph)).collect()
}

/// Returns the real drawings by path, if they are available.
fn real_drawings() -> Vec<(String, Graph)> {
    let files = drawings_in(&["proteus", "proteus-4.1.1", "dexpi2"]);
    let files: BTreeMap<String, Vec<u8>> = files.into_iter().collect();
    let drawings = files.into_iter().map(|(path, bytes)| {
        let format = Format::sniff(&bytes).expect("a drawing");
        (path, import(format.name, &bytes))
    });
    drawings.collect()
}

fn export(graph: &Graph) -> String {
    String::from_utf8(write(graph.root()).expect("it is written").remove(0)).expect("text")
}

/// Returns nodes and edges as texts with their members in order, without the numbers of relations.
fn rows(graph: &Graph) -> Vec<String> {
    fn text(value: &serde_json::Value) -> String {
        match value {
            serde_json::Value::Object(members) => {
                let sorted: BTreeMap<&String, String> = members.iter().map(|(key, value)| (key, text(value))).collect();
                format!("{sorted:?}")
            }
            serde_json::Value::Array(list) => format!("{:?}", list.iter().map(text).collect::<Vec<_>>()),
            serde_json::Value::Number(number) => format!("{:?}", number.as_f64()),
            other => other.to_string(),
        }
    }
    let row = |fields: Object<'_>| {
        let mut value: serde_json::Value = serde_json::from_str(&json(Value::Object(fields))).expect("valid JSON");
        if value["id"].as_str().is_some_and(|id| id.starts_with("rel-")) {
            value["id"] = serde_json::Value::Null;
        }
        text(&value)
    };
    let model = Model::from_value(graph.root()).expect("a graph");
    let nodes = model.nodes.iter().map(|node| row(node.fields));
    let mut rows: Vec<String> = nodes.chain(model.edges.iter().map(|edge| row(edge.fields))).collect();
    rows.sort();
    rows
}

/// Checks that an export gives the same graph, the same picture, and only the losses that are listed.
#[track_caller]
fn check_export(name: &str, graph: &Graph, export: &str) {
    let converted = converted(graph.root()).expect("a graph");
    let read = import("dexpi", export.as_bytes());
    let (before, after) = (rows(converted.as_ref().unwrap_or(graph)), rows(&read));
    assert_eq!(before.len(), after.len(), "{name}");
    for (before, after) in before.iter().zip(&after) {
        assert_eq!(before, after, "{name}");
    }
    for loss in losses::counts(graph.root(), converted.as_ref(), read.root()).expect("graphs").keys() {
        assert!(LOSSES.contains(&loss.as_str()), "{name}: {loss}");
    }
    check_picture(name, graph, &read);
}

/// Losses of a drawing that keeps all its data.
const LOSSES: &[&str] = &[
    "coordinates in other units than millimeters, or with y upwards",
    "id of a relation",
    "metadata.diagnostics",
    "metadata.source",
    "metadata that was added",
    "order of the nodes",
    "places of the nodes and edges in the document",
];

/// Returns the numbers of a picture in order, by the text between them: a curve may be drawn from its other end.
fn numbers(svg: &str) -> BTreeMap<String, Vec<f64>> {
    let mut numbers: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for line in svg.lines() {
        let parts: Vec<&str> = line.split(|c: char| !c.is_ascii_digit() && !".-".contains(c)).collect();
        let found: Vec<f64> = parts.iter().filter_map(|part| part.parse().ok()).collect();
        let text = line.replace(|c: char| c.is_ascii_digit() || ".- ".contains(c), "");
        numbers.entry(text).or_default().extend(found);
    }
    numbers.values_mut().for_each(|numbers| numbers.sort_by(f64::total_cmp));
    numbers
}

/// Compares the pictures of a drawing with graphics. Those of others depend on the order of the nodes.
#[track_caller]
fn check_picture(name: &str, graph: &Graph, read: &Graph) {
    let model = Model::from_value(graph.root()).expect("a graph");
    if model.metadata.and_then(|metadata| metadata.get("graphics")).is_none() {
        return;
    }
    let draw = |graph: &Graph| crate::svg::DrawOptions::default().draw(graph.root()).expect("it is drawn");
    let (before, after) = (draw(graph), draw(read));
    let (before, after) = (numbers(&before), numbers(&after));
    assert_eq!(before.keys().collect::<Vec<_>>(), after.keys().collect::<Vec<_>>(), "{name}");
    for (before, after) in before.values().zip(after.values()) {
        assert_eq!(before.len(), after.len(), "{name}");
        for (before, after) in before.iter().zip(after) {
            assert!((before - after).abs() < 0.011, "{name}: {before} {after}");
        }
    }
}

#[test]
fn our_drawings_are_read_back_unchanged() {
    for (name, graph) in own_drawings() {
        check_export(&name, &graph, &export(&graph));
    }
}

/// Checks real drawings against the published schema, too.
#[test]
fn real_drawings_are_read_back_unchanged() {
    let exports = real_drawings().into_iter().map(|(name, graph)| {
        let export = export(&graph);
        check_export(&name, &graph, &export);
        check_names(&name, &export);
        export
    });
    check_schema("real", exports.collect());
}

#[test]
fn an_export_that_is_read_and_exported_again_is_the_same() {
    for (name, graph) in own_drawings() {
        let first = export(&graph);
        assert_eq!(first, export(&graph), "{name}: deterministic");
        let read = import("dexpi", first.as_bytes());
        check_export(&name, &read, &export(&read));
    }
}

/// Returns the message of each loss and its count.
fn loss_counts(graph: &Graph) -> BTreeMap<String, usize> {
    let losses = losses(graph.root()).expect("a graph");
    let name = |message: &str| message.split(": ").next().unwrap_or_default().to_owned();
    losses.into_iter().map(|loss| (name(&loss.message), loss.count)).collect()
}

#[test]
fn losses_are_what_is_not_read_back() {
    let losses = loss_counts(&import("dexpi", SKID.as_bytes()));
    assert_eq!(
        losses.into_iter().collect::<Vec<_>>(),
        [("id of a relation".to_owned(), 2), ("metadata.source".to_owned(), 1)]
    );
    let losses = loss_counts(&import("proteus", SKID_PROTEUS.as_bytes()));
    assert!(losses.keys().any(|loss| loss.starts_with("coordinates")), "{losses:?}");
    let document = parse(r#"{"pid_graph": {"nodes": [{"id": "a"}], "note": 1}, "other": 2}"#);
    let losses = loss_counts(&document);
    assert_eq!((losses.get("document.other"), losses.get("graph.note")), (Some(&1), Some(&1)), "{losses:?}");
}

/// Returns the elements of a document in document order.
fn tree(xml: &str) -> Tree {
    Tree::read(xml).expect("it is XML")
}

/// Checks names, ids and references as the schema states them.
#[track_caller]
fn check_names(name: &str, xml: &str) {
    let tree = tree(xml);
    let mut ids = BTreeSet::new();
    let is_path = |path: &str| {
        path.split_once('/').is_some_and(|(prefix, path)| {
            (prefix.is_empty() || names::is_name(prefix)) && path.split('.').all(names::is_name)
        })
    };
    for element in &tree.elements {
        let get = |key| element.attribute(key);
        match element.name.as_str() {
            "Object" => {
                assert!(get("type").is_some_and(is_path), "{name}: {element:?}");
                if let Some(id) = get("id") {
                    assert!(names::is_name(id) && ids.insert(id), "{name}: {id}");
                }
            }
            "Components" | "Data" => {
                assert!(!element.children.is_empty(), "{name}: {element:?}");
                let property = get("property").expect("a property");
                assert!(names::is_name(property) || is_path(property), "{name}: {property}");
            }
            "DataReference" => assert!(get("data").is_some_and(is_path), "{name}: {element:?}"),
            "Integer" => assert!(element.text.parse::<i64>().is_ok(), "{name}: {}", element.text),
            "Double" => assert!(element.text.parse::<f64>().is_ok_and(f64::is_finite), "{name}: {}", element.text),
            "Boolean" => assert!(["true", "false"].contains(&element.text.as_str()), "{name}: {}", element.text),
            _ => {}
        }
    }
    for references in tree.elements.iter().filter(|element| element.name == "References") {
        for target in references.attribute("objects").expect("targets").split(' ') {
            match target.strip_prefix('#') {
                Some(id) => assert!(ids.contains(id), "{name}: {id}"),
                None => assert!(is_path(target), "{name}: {target}"),
            }
        }
    }
}

/// Drawing with texts of every kind, and with ids that differ only in characters that DEXPI does not allow.
fn hostile() -> Graph {
    let texts =
        ["]]>", "<a b='c'>&amp;\"", "\u{1}\u{8}\u{FFFE}\u{FFFF}", "\r\n\t  ", "#1 x2D_", "", "\u{1F600}ü", "_x41_"];
    let quoted: Vec<String> = texts.iter().map(|text| Json::text(*text).to_text()).collect();
    let nodes = quoted.iter().enumerate().map(|(index, text)| {
        let other = &quoted[(index + 1) % quoted.len()];
        format!(
            r#"{{"id": {text}, "tag": {other}, {key}: {text}, "node_classification": "piping_component.gate_valve",
                "component_class": {other}, "attributes": [{{"name": {text}, "value": {other}}}, {{"value": 1}}],
                "ports": [{{"id": {text}, "index": 1, "type": "process", "x": 1e-3, "y": 2}}, 7],
                "graphics": [{{"type": "text", "text": {text}, "at": [1, 2], "font": {other}}},
                             {{"type": "use", "shape": {text}, "at": [1, 2]}}, {{"type": {other}}}, 5,
                             {{"type": "group", "role": {text}, "id": {other}, "elements": [
                                 {{"type": "group", "role": "curve", "elements": [
                                     {{"type": "polyline", "points": [0, 1, 2, 3], "stroke": {text}}}]}}]}}]}}"#,
            key = Json::text(format!("key {}", texts[index])).to_text(),
        )
    });
    let edges = quoted.iter().enumerate().map(|(index, text)| {
        let other = &quoted[(index + 1) % quoted.len()];
        format!(
            r#"{{"id": {text}, "edge_type": "physically_connected_to", "from": {text}, "to": {other}, "segment": {other}}},
               {{"id": {text}, "edge_type": "associated_with", "edge_classification": "signal_line.x", "from": {other},
                 "to": {text}}}, {{"edge_type": {text}, "from": {text}, "to": "nowhere"}}, {{}}"#
        )
    });
    parse(&format!(
        r#"{{"pid_graph": {{"nodes": [{}], "edges": [{}], "metadata": {{"title": {text}, "attributes": [{{"name":
            "ExportDateTimeAssignmentClass", "value": "yesterday", "data_type": "dateTime"}}], "source": {{"imports":
            {{"a b": "x", "Own": {text}, "Pidq": "y"}}, "name": {text}, "uri": {text}}},
            "graphics": {{"shapes": {{{text}: {{"elements": []}}}}, "extent": [0, 1], "background": "red"}}}}}}}}"#,
        nodes.collect::<Vec<_>>().join(","),
        edges.collect::<Vec<_>>().join(","),
        text = quoted[1],
    ))
}

#[test]
fn names_and_ids_are_those_that_the_schema_allows() {
    for (name, graph) in own_drawings().into_iter().chain([("hostile".to_owned(), hostile())]) {
        check_names(&name, &export(&graph));
    }
}

#[test]
fn hostile_texts_are_read_back() {
    let graph = hostile();
    let read = import("dexpi", export(&graph).as_bytes());
    let ids = |graph: &Graph| {
        let model = Model::from_value(graph.root()).expect("a graph");
        model.nodes.iter().filter_map(|node| text(Some(node.fields), "id").map(str::to_owned)).collect::<BTreeSet<_>>()
    };
    assert!(ids(&graph).is_subset(&ids(&read)), "{:?} {:?}", ids(&graph), ids(&read));
    let (before, after): (BTreeSet<_>, BTreeSet<_>) =
        (rows(&graph).into_iter().collect(), rows(&read).into_iter().collect());
    assert!(before == after, "{:?}", before.symmetric_difference(&after).next());
}

#[test]
fn graphs_of_any_shape_are_written_and_read() {
    for json in [
        r#"{"nodes": []}"#,
        r#"{"nodes": [{}, {}, {"id": null}]}"#,
        r#"{"nodes": [{"id": 1}, {"id": "1"}, {"id": 2.5}], "edges": [{"source": 1, "target": "1"}, {"from": 1, "to": 9}]}"#,
        r#"{"nodes": [{"id": "a", "parent_id": "b"}, {"id": "b", "parent_id": "a"}, {"id": "c", "parent_id": "c"}]}"#,
        r#"{"nodes": [{"id": "a", "attributes": 5, "ports": {}, "graphics": [[]], "persistent_id": "x"}]}"#,
        r#"[{"id": "a"}, 7, "x"]"#,
    ] {
        let graph = parse(json);
        let read = import("dexpi", export(&graph).as_bytes());
        let (before, after) =
            (Model::from_value(graph.root()).expect("nodes"), Model::from_value(read.root()).expect("nodes"));
        assert_eq!(before.nodes.len(), after.nodes.len(), "{json}");
        losses(graph.root()).expect("a graph");
    }
    assert_eq!(write(parse("[1]").root()).map(|files| files.len()).ok(), Some(1));
    assert_eq!(write(parse("5").root()).expect_err("no graph").code(), Code::NotGraph);
}

#[test]
fn large_and_deep_drawings_take_linear_time() {
    let nodes = (0..3000).map(|n| format!(r#"{{"id": "n{n}", "parent_id": "n{}", "k{n}": 1}}"#, n - 1));
    let many = (0..20_000).map(|n| format!(r#""m{n}": {n}"#)).collect::<Vec<_>>().join(",");
    let attributes = (0..5000).map(|n| format!(r#"{{"name": "N", "value": "{n}"}}"#)).collect::<Vec<_>>().join(",");
    let json = format!(
        r#"{{"nodes": [{}, {{"id": "x", {many}, "attributes": [{attributes}]}}]}}"#,
        nodes.collect::<Vec<_>>().join(",")
    );
    let graph = parse(&json);
    check_export("deep", &graph, &export(&graph));
}

/// Removes what belongs to the extension.
fn without_extension(xml: &str) -> String {
    let tree = tree(xml);
    fn write(tree: &Tree, index: usize, out: &mut String) {
        let element = &tree.elements[index];
        let is_extension = |key| element.attribute(key).is_some_and(|path: &str| path.starts_with("Pidq/"));
        if is_extension("property") || element.attribute("prefix") == Some("Pidq") {
            return;
        }
        let attributes =
            element.attributes.iter().map(|(key, value)| format!(" {key}=\"{}\"", crate::xml::escape(value)));
        out.push_str(&format!(
            "<{}{}>{}",
            element.name,
            attributes.collect::<String>(),
            crate::xml::escape(&element.text)
        ));
        element.children.iter().for_each(|child| write(tree, *child, out));
        out.push_str(&format!("</{}>", element.name));
    }
    let mut out = String::new();
    write(&tree, 0, &mut out);
    out
}

#[test]
fn without_the_extension_the_plant_is_still_there() {
    let plain = import("dexpi", without_extension(&export(&import("dexpi", SKID.as_bytes()))).as_bytes());
    let skid = import("dexpi", SKID.as_bytes());
    let facts = |graph: &Graph| -> BTreeSet<String> {
        let model = Model::from_value(graph.root()).expect("a graph");
        let nodes = model.nodes.iter().map(|node| {
            ["id", "tag", "component_class", "parent_id", "orig_x", "orig_y", "label"]
                .map(|key| node.fields.get(key).map(json).unwrap_or_default())
                .join(" ")
        });
        let pipes = model.edges.iter().filter(|edge| edge.fields.get("segment").is_some());
        nodes.chain(pipes.map(|pipe| format!("{} > {}", pipe.from.name, pipe.to.name))).collect()
    };
    let (before, after) = (facts(&skid), facts(&plain));
    let differences: Vec<_> = before.symmetric_difference(&after).collect();
    assert!(differences.is_empty(), "{differences:#?}");
}

/// Returns true if a class is a special case of one with a name.
fn is_general(path: &str, name: &str) -> bool {
    let model = PlantModel::get();
    model.named(name).is_some_and(|general| model.is_a(path, general))
}

/// Returns the folder of the published schema and information model, if it is there.
fn standard() -> Option<PathBuf> {
    let folder = std::env::var_os("PIDQ_TEST_DRAWINGS").map(PathBuf::from);
    let neighbor = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    let folder = folder.unwrap_or(neighbor).join("dexpi2");
    let is_there = folder.join("DEXPI_XML_Schema.xsd").is_file();
    if !is_there {
        eprintln!("SKIPPED: no DEXPI schema in ../shared/data/dexpi2 or PIDQ_TEST_DRAWINGS");
    }
    is_there.then_some(folder)
}

#[test]
fn our_exports_are_valid_by_the_published_schema() {
    let drawings = own_drawings().into_iter().chain([("hostile".to_owned(), hostile())]);
    check_schema("own", drawings.map(|(_, graph)| export(&graph)).collect());
}

/// Validates exports, if the schema and a validator are there.
#[track_caller]
fn check_schema(kind: &str, exports: Vec<String>) {
    let Some(folder) = standard() else { return };
    let validate = "import sys, lxml.etree as e\ns = e.XMLSchema(e.parse(sys.argv[1]))\n\
                    [s.assertValid(e.parse(f)) for f in sys.argv[2:]]";
    let is_available = Command::new("python3").args(["-c", "import lxml.etree"]).output();
    if !is_available.is_ok_and(|output| output.status.success()) {
        return eprintln!("SKIPPED: no python3 with lxml, which validates against the schema");
    }
    let target = std::env::temp_dir().join(format!("pidq-dexpi-{kind}-{}", std::process::id()));
    std::fs::create_dir_all(&target).expect("a folder");
    let files = exports.into_iter().enumerate().map(|(index, export)| {
        let path = target.join(format!("{index}.xml"));
        std::fs::write(&path, export).expect("it is written");
        path
    });
    let files: Vec<PathBuf> = files.collect();
    let schema = folder.join("DEXPI_XML_Schema.xsd");
    let output = Command::new("python3").args(["-c", validate]).arg(schema).args(&files).output().expect("it runs");
    std::fs::remove_dir_all(&target).expect("the folder is removed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn standard_properties_belong_to_the_classes_that_have_them() {
    let model = PlantModel::get();
    for (name, graph) in own_drawings() {
        let tree = tree(&export(&graph));
        for (index, object) in tree.elements.iter().enumerate().filter(|(_, element)| element.name == "Object") {
            let Some(class) = object.attribute("type").filter(|class| model.is_concrete(class)) else { continue };
            for (kind, element) in
                [(Kind::Data, "Data"), (Kind::Component, "Components"), (Kind::Reference, "References")]
            {
                let known: BTreeSet<&str> =
                    model.properties(class, kind).iter().map(|property| property.name).collect();
                for (_, property) in tree.named(index, element) {
                    let property = property.attribute("property").expect("a property");
                    assert!(property.contains('/') || known.contains(property), "{name}: {class} {property}");
                }
            }
        }
    }
}

#[test]
fn the_table_of_classes_agrees_with_the_published_information_model() {
    let Some(folder) = standard() else { return };
    for file in ["Core", "Plant"] {
        let text = std::fs::read_to_string(folder.join(format!("model/{file}.xml"))).expect("the model");
        let tree = tree(&text);
        for (index, element) in tree.elements.iter().enumerate() {
            if !["ConcreteClass", "AbstractClass"].contains(&element.name.as_str()) {
                continue;
            }
            let name = element.attribute("name").expect("a name");
            let package = tree.elements[element.parent.expect("a parent")].attribute("name").unwrap_or_default();
            let path = if package == file { format!("{file}/{name}") } else { format!("{file}/{package}.{name}") };
            let Some(path) = PlantModel::get().known(&path) else {
                assert!(package == "Diagram" || name == "EngineeringModel", "{path}");
                continue;
            };
            assert_eq!(PlantModel::get().is_concrete(path), element.name == "ConcreteClass", "{path}");
            let kinds = [
                ("DataProperty", Kind::Data),
                ("CompositionProperty", Kind::Component),
                ("ReferenceProperty", Kind::Reference),
            ];
            for (kind, property_kind) in kinds {
                let known = PlantModel::get().properties(path, property_kind);
                for (_, property) in tree.named(index, kind) {
                    let name = property.attribute("name").expect("a name");
                    let known = known.iter().find(|known| known.name == name);
                    let known = known.unwrap_or_else(|| panic!("{path}.{name}"));
                    assert_eq!(
                        known.is_many,
                        kind != "DataProperty" && property.attribute("upper").is_none(),
                        "{path}.{name}"
                    );
                }
            }
            for general in element.attribute("superTypes").unwrap_or_default().split_whitespace() {
                assert!(is_general(path, last_name(general)), "{path}: {general}");
            }
        }
    }
    assert!(extension::SOURCE.starts_with("https://"));
}
