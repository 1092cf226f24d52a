//! Tests of the DEXPI 2.0 import: a small model of our own, hostile input, and, if available, real models.

use std::collections::BTreeSet;

use serde_json::Value;

use super::*;

/// A tank feeds a pump through a valve; the discharge is open; a level loop closes the valve.
const SKID: &str = include_str!("../../../examples/data/skid_dexpi.xml");
const SKID_PROTEUS: &str = include_str!("../../../examples/data/skid.xml");

fn import(xml: &str) -> Import {
    read(&[xml.as_bytes()]).expect("it is DEXPI")
}

fn graph(imported: &Import) -> Value {
    serde_json::from_str(&imported.json).expect("valid JSON")
}

fn rows<'v>(graph: &'v Value, list: &str) -> &'v [Value] {
    graph["pid_graph"][list].as_array().expect("a list")
}

fn node<'v>(graph: &'v Value, id: &str) -> &'v Value {
    rows(graph, "nodes").iter().find(|node| node["id"] == id).expect("the node is there")
}

fn codes(imported: &Import) -> BTreeSet<&'static str> {
    imported.diagnostics.iter().map(|diagnostic| diagnostic.finding.code()).collect()
}

/// Returns the fields of nodes or edges that do not depend on the format, with ids as Proteus writes them.
fn facts(graph: &Value, list: &str) -> BTreeSet<String> {
    const KEYS: &[&str] = &[
        "id",
        "tag",
        "qualified_tag",
        "node_type",
        "node_classification",
        "component_class",
        "parent_id",
        "label",
        "line",
        "segment",
        "fail_action",
        "actuated",
        "fluid_code",
        "nominal_diameter",
        "persistent_id",
        "edge_type",
        "edge_classification",
        "from",
        "to",
        "direction",
        "drawn_to",
    ];
    let fact = |row: &Value| {
        let fields = KEYS.iter().filter(|key| !(**key == "id" && row["edge_type"].is_string()));
        let fields = fields.filter(|key| !row[**key].is_null()).map(|key| format!("{key}={}", row[*key]));
        fields.collect::<Vec<_>>().join(" ").replace('_', "-")
    };
    rows(graph, list).iter().map(fact).collect()
}

#[test]
fn the_same_plant_in_proteus_and_in_dexpi_gives_the_same_graph() {
    // This part of the Proteus drawing has no counterpart in DEXPI 2.0.
    let start = SKID_PROTEUS.find("  <PipeOffPageConnector").expect("a connector");
    let end = SKID_PROTEUS.find("  <ProcessInstrumentationFunction").expect("a function");
    let proteus = [&SKID_PROTEUS[..start], &SKID_PROTEUS[end..]].concat().replace(" ToID=\"AS-A\"", "");
    let proteus = graph(&proteus::read(proteus.as_bytes()).expect("it is Proteus"));
    let dexpi = graph(&import(SKID));
    for list in ["nodes", "edges"] {
        let (expected, found) = (facts(&proteus, list), facts(&dexpi, list));
        let differences: Vec<_> = expected.symmetric_difference(&found).collect();
        assert!(differences.is_empty(), "{list}: {differences:#?}");
    }
}

#[test]
fn values_are_attributes_under_the_names_of_proteus() {
    let graph = graph(&import(SKID));
    let attribute = |id: &str, name: &str| {
        let attributes = node(&graph, id)["attributes"].as_array().expect("attributes");
        let named = attributes.iter().filter(|attribute| attribute["name"] == name);
        named
            .map(|attribute| format!("{} {} {}", attribute["value"], attribute["unit"], attribute["language"]))
            .collect::<Vec<_>>()
    };
    assert_eq!(attribute("T_1", "Volume"), ["26.5 \"MetreCubed\" null"]);
    assert_eq!(
        attribute("T_1", "ServiceAssignmentClass"),
        ["\"feed water\" null \"en\"", "\"Speisewasser\" null \"de\""]
    );
    assert_eq!(attribute("V_1", "ValvePositionSpecialization"), ["\"NormallyOpen\" null null"]);
    assert_eq!(attribute("AS_A", "FailActionSpecialization"), ["\"FailClose\" null null"]);
}

#[test]
fn the_diagram_becomes_positions_and_graphics() {
    let graph = graph(&import(SKID));
    let valve = node(&graph, "V_1");
    assert_eq!((valve["orig_x"].to_string(), valve["orig_y"].to_string()), ("122.0".into(), "187.0".into()));
    assert_eq!((&valve["ports"][0]["x"], &valve["ports"][0]["flow"]), (&120.0.into(), &"in".into()));
    assert_eq!((&valve["graphics"][0]["type"], &valve["graphics"][0]["shape"]), (&"use".into(), &"Valve".into()));
    let label = &valve["graphics"][1];
    assert_eq!((&label["role"], &label["elements"][0]["text"]), (&"label".into(), &"73KH12".into()));
    assert_eq!(
        (&label["elements"][0]["vertical"], &label["elements"][0]["stroke"]),
        (&"top".into(), &"#0000ff".into())
    );
    let check_valve = &node(&graph, "C_1")["graphics"][0];
    assert_eq!((&check_valve["rotation"], &check_valve["mirrored"]), (&90.0.into(), &true.into()));
    let pipe =
        rows(&graph, "edges").iter().find(|edge| edge["to"] == "V_1" && edge["from"] == "T_1_N1").expect("a pipe");
    assert_eq!(pipe["graphics"][0]["points"].to_string(), "[82.0,187.0,100.0,187.0,120.0,187.0]");
    assert_eq!(
        (&pipe["graphics"][0]["dash"], pipe["orig_path"].as_array().map(Vec::len)),
        (&"long_dash".into(), Some(3))
    );
    let sheet = &graph["pid_graph"]["metadata"]["graphics"];
    assert_eq!(sheet["extent"].to_string(), "[0.0,0.0,420.0,297.0]");
    assert_eq!((&sheet["y_axis"], &sheet["elements"][0]["role"]), (&"down".into(), &"border".into()));
    assert_eq!(sheet["shapes"]["Valve"]["elements"][0]["fill"], "#ff0000");
    assert_eq!(sheet["shapes"]["Valve"]["elements"][1]["radius"].to_string(), "1.0");
    assert_eq!(sheet["shapes"]["NozzleShape"]["elements"][0]["radii"].to_string(), "[2.0,1.0]");
}

#[test]
fn white_paper_with_parts_up_to_1_is_white() {
    let unit = SKID.replacen("<Integer>255</Integer>", "<Integer>1</Integer>", 3);
    assert_ne!(unit, SKID);
    for xml in [SKID, unit.as_str()] {
        assert_eq!(graph(&import(xml))["pid_graph"]["metadata"]["graphics"]["background"], "#ffffff");
    }
}

#[test]
fn symbols_come_from_a_profile_that_follows_the_drawing() {
    let shape = "<Object type='Core/Diagram.PolyLine'><Data property='Points'>\
        <AggregatedDataValue type='Core/Diagram.Point'><Data property='X'><Double>1</Double></Data><Data property='Y'><Double>2</Double></Data></AggregatedDataValue>\
        <AggregatedDataValue type='Core/Diagram.Point'><Data property='X'><Double>3</Double></Data><Data property='Y'><Double>4</Double></Data></AggregatedDataValue>\
        </Data></Object>";
    let profile = format!(
        "<Model name='Own' uri='u'><Object type='Profile/SymbolCatalogue'><Components property='Symbols'>\
         <Object name='CheckValve' type='Profile/Symbol'><Components property='Variants'><Object type='Profile/SymbolVariant'>\
         <Components property='Primitives'>{shape}</Components></Object></Components></Object></Components></Object></Model>"
    );
    assert!(codes(&import(SKID)).contains("I040"), "the symbol is missing");
    let imported = read(&[SKID.as_bytes(), profile.as_bytes()]).expect("a drawing and a profile");
    assert!(!codes(&imported).contains("I040"));
    let shape = &graph(&imported)["pid_graph"]["metadata"]["graphics"]["shapes"]["CheckValve"]["elements"][0];
    assert_eq!(shape["points"].to_string(), "[1,2,3,4]");
    let error = read(&[profile.as_bytes()]).expect_err("no drawing");
    assert!(error.code() == Code::NotDexpi && error.message().contains("not a drawing"), "{error}");
}

/// Returns a plant model with these components.
fn plant(components: &str) -> Import {
    import(&format!(
        "<Model name='m' uri='u'><Import prefix='Core' source='http://x/2.0.0/Core.xml'/><Object type='Core/EngineeringModel'>\
         <Components property='ConceptualModel'><Object type='Plant/PlantModel'>{components}</Object></Components></Object></Model>"
    ))
}

fn tanks(objects: &str) -> Import {
    plant(&format!("<Components property='TaggedPlantItems'>{objects}</Components>"))
}

#[track_caller]
fn check_finding(imported: &Import, code: &str, part: &str) {
    let found = imported.diagnostics.iter().find(|diagnostic| diagnostic.finding.code() == code);
    assert!(found.is_some_and(|diagnostic| diagnostic.message.contains(part)), "{:?}", imported.diagnostics);
}

#[test]
fn every_loss_is_reported() {
    let tank = "<Object id='T' type='Plant/ProcessEquipment.Tank'/>";
    check_finding(&tanks(&tank.repeat(2)), "I001", "duplicate id `T`");
    check_finding(&tanks("<Object type='Plant/ProcessEquipment.Tank'/>"), "I002", "`Tank1`");
    let dangling =
        "<Object id='T' type='Plant/ProcessEquipment.Tank'><References property='PlantSystem' objects='#S'/></Object>";
    check_finding(&tanks(dangling), "I003", "`S`");
    let nested = "<Object id='T' type='P/Tank'><Components property='Parts'><Object type='P/Part'>\
         <References property='Maker' objects='#M'/></Object></Components></Object>";
    check_finding(&tanks(nested), "I050", "Part.Maker");
    assert_eq!(codes(&tanks(tank)), BTreeSet::new());
    let unknown_version = "<Model><Object type='Core/EngineeringModel'/></Model>";
    check_finding(&import(unknown_version), "I012", "the version is `none`");
}

#[test]
fn pipes_that_are_no_single_run_are_connected_one_by_one() {
    let pipe = |from: &str, to: &str| {
        format!(
            "<Object type='P/Pipe'><References property='SourceItem' objects='#{from}'/><References property='TargetItem' objects='#{to}'/></Object>"
        )
    };
    let item = |id: &str| format!("<Object id='{id}' type='P/BallValve'/>");
    let imported = plant(&format!(
        "<Components property='PipingNetworkSystems'><Object id='L' type='P/PipingNetworkSystem'><Components property='Segments'>\
         <Object id='S' type='P/PipingNetworkSegment'><Components property='Connections'>{}</Components>\
         <Components property='Items'>{}</Components></Object></Components></Object></Components>",
        [pipe("A", "B"), pipe("A", "C")].concat(),
        ["A", "B", "C"].map(item).concat()
    ));
    let graph = graph(&imported);
    let edges = rows(&graph, "edges").iter().filter(|edge| edge["edge_type"] == "physically_connected_to");
    let ends: Vec<String> = edges.map(|edge| format!("{} > {}", edge["from"], edge["to"])).collect();
    assert_eq!(ends, ["\"A\" > \"B\"", "\"A\" > \"C\""]);
}

#[test]
fn a_process_model_is_steps_and_streams() {
    let step = |id: &str, port: &str, direction: &str| {
        format!(
            "<Object id='{id}' type='Process/Process.Pumping'><Components property='Ports'><Object id='{port}' type='Process/Process.MaterialPort'>\
             <Data property='NominalDirection'><DataReference data='Process/Enumerations.PortDirection.{direction}'/></Data></Object></Components></Object>"
        )
    };
    let imported = import(&format!(
        "<Model name='m' uri='u'><Import prefix='Core' source='http://x/2.1.0/Core.xml'/><Object type='Core/EngineeringModel'>\
         <Components property='ConceptualModel'><Object type='Process/ProcessModel'>\
         <Components property='ProcessConnections'><Object id='S' type='Process/Process.Stream'><Data property='Identifier'><String>7</String></Data>\
         <Components property='MassFlow'><Object id='q' type='Core/QualifiedValue'><Data property='Value'>\
         <AggregatedDataValue type='Core/PhysicalQuantities.PhysicalQuantity'><Data property='Value'><Double>1.50</Double></Data>\
         <Data property='Unit'><DataReference data='Core/PhysicalQuantities.MassFlowRateUnit.KilogramPerHour'/></Data></AggregatedDataValue></Data></Object></Components>\
         <References property='Source' objects='#A1'/><References property='Target' objects='#B1'/></Object></Components>\
         <Components property='ProcessSteps'>{}{}</Components></Object></Components></Object></Model>",
        step("A", "A1", "Outlet"),
        step("B", "B1", "Inlet"),
    ));
    assert_eq!(codes(&imported), BTreeSet::new());
    let graph = graph(&imported);
    assert_eq!(node(&graph, "A")["node_classification"], "process_step.pumping");
    assert_eq!(node(&graph, "A")["ports"][0]["flow"], "out");
    let stream = &rows(&graph, "edges")[0];
    assert_eq!((&stream["from"], &stream["to"], &stream["tag"]), (&"A".into(), &"B".into(), &"7".into()));
    assert_eq!(
        (stream["attributes"][1]["name"].as_str(), stream["attributes"][1]["unit"].as_str()),
        (Some("MassFlow"), Some("KilogramPerHour"))
    );
    assert_eq!(stream["attributes"][1]["value"].to_string(), "1.5");
}

#[test]
fn other_xml_and_hostile_xml_are_rejected() {
    let code = |text: &str| read(&[text.as_bytes()]).err().map(|error| error.code());
    assert_eq!(code("<PlantModel/>"), Some(Code::NotDexpi));
    assert_eq!(code("<Model name='Plant' uri='u'><Package name='Piping'/></Model>"), Some(Code::NotDexpi));
    assert_eq!(code("<Model"), Some(Code::NotXml));
    assert_eq!(code(&"<Model>".repeat(1_000_000)), Some(Code::TooDeep));
    assert_eq!(code("<!DOCTYPE Model [<!ENTITY a 'b'>]><Model/>"), Some(Code::Entity));
}

#[test]
fn large_models_take_linear_time() {
    const COUNT: usize = 20_000;
    let repeat = |text: &dyn Fn(usize) -> String| (0..COUNT).map(text).collect::<String>();
    let valve = |n| {
        format!(
            "<Object id='V{n}' type='P/BallValve'><Components property='Nodes'><Object id='N{n}' type='P/PipingNode'/></Components></Object>"
        )
    };
    let pipe = |n| {
        let target = n + 1;
        format!(
            "<Object type='P/Pipe'><References property='SourceItem' objects='#V{n}'/><References property='SourceNode' objects='#N{n}'/>\
             <References property='TargetItem' objects='#V{target}'/></Object>"
        )
    };
    let shape = |n| format!("<Object name='S{n}' type='Core/Diagram.Shape'/>");
    let import_element = |n| format!("<Import prefix='P{n}' source='s'/>");
    let text = format!(
        "<Model>{}<Object type='Core/EngineeringModel'><Components property='ConceptualModel'><Object type='P/PlantModel'>\
         <Components property='PipingNetworkSystems'><Object id='L' type='P/PipingNetworkSystem'><Components property='Segments'>\
         <Object id='S' type='P/PipingNetworkSegment'><Components property='Items'>{}</Components><Components property='Connections'>{}</Components>\
         </Object></Components></Object></Components></Object></Components><Components property='ShapeCatalogues'><Object type='C/ShapeCatalogue'>\
         <Components property='Shapes'>{}</Components></Object></Components></Object></Model>",
        repeat(&import_element),
        repeat(&valve),
        repeat(&pipe),
        repeat(&shape),
    );
    let start = std::time::Instant::now();
    let imported = import(&text);
    assert_eq!(imported.nodes, COUNT + 2);
    assert!(start.elapsed().as_secs() < 30, "{:?}", start.elapsed());
}

/// Returns the real models, or says that there are none.
fn real_models() -> Vec<(String, Vec<u8>)> {
    let shared = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data/dexpi2");
    let folder = std::env::var("PIDQ_TEST_DRAWINGS").map_or_else(|_| shared.into(), std::path::PathBuf::from);
    let entries =
        std::fs::read_dir(&folder).into_iter().flatten().filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let mut files: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|extension| extension == "xml")).collect();
    files.sort();
    let read = |path: std::path::PathBuf| Some((path.display().to_string(), std::fs::read(&path).ok()?));
    let models: Vec<_> = files
        .into_iter()
        .filter_map(read)
        .filter(|(_, bytes)| String::from_utf8_lossy(bytes).contains("EngineeringModel"))
        .collect();
    if models.is_empty() {
        eprintln!("skipped: no DEXPI 2.0 models in {}", folder.display());
    }
    models
}

/// Counts texts between these tags, without the reader.
fn count(text: &str, start: &str) -> usize {
    text.matches(start).count()
}

#[test]
fn real_models_lose_nothing_that_is_not_listed() {
    for (name, bytes) in real_models() {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let imported = read(&[&bytes]).expect(&name);
        let graph = graph(&imported);
        assert!(!codes(&imported).contains("I050"), "{name}: {:?}", imported.diagnostics);
        let drawn = imported.json.matches("\"type\":\"text\"").count();
        assert_eq!(drawn, count(&text, "type=\"Core/Diagram.Text\""), "{name}: texts");
        let primitives: usize = ["polyline", "polygon", "circle", "ellipse", "arc"]
            .iter()
            .map(|kind| imported.json.matches(&format!("\"type\":\"{kind}\"")).count())
            .sum();
        let expected: usize = ["PolyLine", "Polygon", "ConnectorLine", "Ellipse", "EllipseArc"]
            .iter()
            .map(|class| count(&text, &format!("type=\"Core/Diagram.{class}\"")))
            .sum();
        assert_eq!(primitives, expected, "{name}: primitives");
        let uses = count(&text, "type=\"Core/Diagram.ShapeUsage\"") + count(&text, "type=\"Profile/SymbolUsage\"");
        assert_eq!(imported.json.matches("\"type\":\"use\"").count(), uses, "{name}: uses of shapes");
        assert!(!rows(&graph, "nodes").is_empty(), "{name}");
    }
}

#[test]
fn the_diagram_is_no_metadata() {
    let graph = graph(&import(SKID));
    let attributes = graph["pid_graph"]["metadata"]["attributes"].as_array().expect("attributes");
    let names: Vec<&str> = attributes.iter().filter_map(|attribute| attribute["name"].as_str()).collect();
    assert_eq!(names.len(), 3, "{names:?}");
    assert!(names.iter().all(|name| !name.contains('.')), "{names:?}");
}

#[test]
fn a_seed_of_the_fuzzer_with_the_extension_is_read() {
    let imported = import(include_str!("../../../fuzz/corpus/proteus/dexpi_extension"));
    let graph = graph(&imported);
    let tank = node(&graph, "T-1");
    assert_eq!((&tank["level"], &tank["attributes"][1]["uri"]), (&serde_json::json!([1, {"a": null}]), &"u".into()));
    assert_eq!(
        (&tank["attributes"][0]["set"], &tank["attributes"][1]["set"]),
        (&"DexpiAttributes".into(), &Value::Null)
    );
    let ids: Vec<&str> = rows(&graph, "nodes").iter().filter_map(|node| node["id"].as_str()).collect();
    assert_eq!(ids, ["T-1", "E"]);
    assert_eq!((rows(&graph, "edges").len(), &graph["pid_graph"]["metadata"]["note"]), (1, &"text".into()));
    assert_eq!(import(include_str!("../../../fuzz/corpus/proteus/dexpi")).nodes, 5);
}
