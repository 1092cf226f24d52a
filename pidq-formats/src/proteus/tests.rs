//! Tests of the Proteus import, on small synthetic plants and, if available, on real drawings.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde_json::Value;

use super::*;

/// A tank feeds a pump through a valve; the discharge is open; a level loop closes the valve.
const PLANT: &str = include_str!("../../../examples/data/skid.xml");

fn import(xml: &str) -> Import {
    read(xml.as_bytes()).expect("it is Proteus")
}

fn graph(imported: &Import) -> Value {
    serde_json::from_str(&imported.json).expect("valid JSON")
}

pub fn rows<'v>(graph: &'v Value, list: &str) -> &'v [Value] {
    graph["pid_graph"][list].as_array().expect("a list")
}

pub fn node<'v>(graph: &'v Value, id: &str) -> &'v Value {
    rows(graph, "nodes").iter().find(|node| node["id"] == id).expect("the node is there")
}

/// Returns `from > to` of all edges of a type or a class.
fn edges(graph: &Value, kind: &str) -> BTreeSet<String> {
    let matching = rows(graph, "edges").iter().filter(|edge| {
        edge["edge_type"] == kind || edge["edge_classification"].as_str().is_some_and(|class| class.ends_with(kind))
    });
    matching
        .map(|edge| format!("{} > {}", edge["from"].as_str().unwrap_or("?"), edge["to"].as_str().unwrap_or("?")))
        .collect()
}

fn codes(imported: &Import) -> BTreeSet<&'static str> {
    let warnings =
        imported.diagnostics.iter().filter(|diagnostic| diagnostic.finding.severity() == crate::Severity::Warning);
    warnings.map(|diagnostic| diagnostic.finding.code()).collect()
}

#[track_caller]
fn check_edges(kind: &str, expected: &[&str]) {
    let found = edges(&graph(&import(PLANT)), kind);
    assert_eq!(found, expected.iter().map(|text| (*text).to_owned()).collect(), "{kind}");
}

/// Returns a plant of one segment.
fn segment(inside: &str) -> Import {
    import(&format!(
        "<PlantModel><PlantInformation SchemaVersion='4.0.1'/><PipingNetworkSystem ID='L'>\
         <PipingNetworkSegment ID='S'>{inside}</PipingNetworkSegment></PipingNetworkSystem></PlantModel>"
    ))
}

#[track_caller]
fn check_run(inside: &str, expected: &[&str]) {
    let found = edges(&graph(&segment(inside)), "physically_connected_to");
    assert_eq!(found, expected.iter().map(|text| (*text).to_owned()).collect(), "{inside}");
}

#[test]
fn runs_connect_their_ends_and_items_in_order() {
    check_edges("physically_connected_to", &["T-1-N1 > V-1", "V-1 > C-1", "C-1 > P-1-N1", "P-1-N2 > S-2-end"]);
}

#[test]
fn an_end_of_a_run_may_be_any_of_its_items() {
    let items = "<PipingComponent ID='A'/><PipingComponent ID='B'/>";
    check_run(&format!("{items}<Connection FromID='B' ToID='X'/>"), &["B > A", "A > X"]);
    check_run(&format!("{items}<Connection FromID='X' ToID='A'/>"), &["X > B", "B > A"]);
    check_run(&format!("{items}<Connection FromID='A' ToID='B'/>"), &["A > B"]);
}

#[test]
fn a_run_may_declare_one_connection_per_pipe() {
    let items = "<PipingComponent ID='A'/><PipingComponent ID='B'/>";
    let connect = |from: &str, to: &str| format!("<Connection FromID='{from}' ToID='{to}'/>");
    let all = [connect("X", "A"), connect("A", "B"), connect("B", "Y")].concat();
    check_run(&format!("{items}{all}"), &["X > A", "A > B", "B > Y"]);
    let some = [connect("X", "A"), connect("A", "Y")].concat();
    check_run(&format!("{items}{some}"), &["X > B", "B > A", "A > Y"]);
    assert!(codes(&segment(&format!("{items}{some}"))).contains("I008"));
    check_run(
        "<PipingNetworkSegment ID='R'/><PipingComponent ID='A'/><Connection FromID='X' ToID='Y'/>",
        &["X > A", "A > Y"],
    );
}

#[test]
fn a_run_continues_after_an_item_named_as_its_end() {
    let port = |number: u8| format!("<Node ID='n{number}' Type='process'/>");
    let item = |id: &str, ports: u8, x: &str| {
        let nodes: String = (0..=ports).map(port).collect();
        format!("<PipingComponent ID='{id}'>{x}<ConnectionPoints>{nodes}</ConnectionPoints></PipingComponent>")
    };
    let at = |x: u8| format!("<Position><Location X='{x}' Y='0' Z='0'/></Position>");
    let connection = "<Connection FromID='X' ToID='A'/>";
    let items = [item("A", 2, ""), item("B", 1, "")].concat();
    check_run(&format!("{items}{connection}"), &["X > A", "A > B"]);
    let tee = item("X", 3, &at(0));
    let placed = |a: u8, b: u8| {
        let xml = format!(
            "<PlantModel><PlantInformation SchemaVersion='4.0.1'/><PipingNetworkSystem ID='L'><PipingNetworkSegment ID='R'>{tee}\
             </PipingNetworkSegment><PipingNetworkSegment ID='S'>{}{}{connection}</PipingNetworkSegment></PipingNetworkSystem></PlantModel>",
            item("A", 2, &at(a)),
            item("B", 2, &at(b)),
        );
        edges(&graph(&import(&xml)), "physically_connected_to").into_iter().collect::<Vec<_>>()
    };
    assert_eq!(placed(1, 2), ["A > B", "X > A"], "B is after A");
    assert_eq!(placed(2, 1), ["B > A", "X > B"], "B is before A");
}

#[test]
fn unconnected_ends_are_open_ends() {
    check_run("<PipingComponent ID='A'/><Connection FromID='A'/>", &["A > S-end"]);
    check_run("<PipingComponent ID='A'/><Connection ToID=''/>", &["S-start > A", "A > S-end"]);
    check_run("<Connection/>", &["S-start > S-end"]);
    let imported =
        segment("<Connection/><CenterLine><Coordinate X='1' Y='2.50'/><Coordinate X='3' Y='4'/></CenterLine>");
    let graph = graph(&imported);
    let end = node(&graph, "S-start");
    assert_eq!(end["node_classification"], "reference.open_end");
    assert_eq!((end["synthetic"].as_bool(), end["orig_y"].to_string()), (Some(true), "2.5".into()));
    assert!(codes(&imported).contains("I004"));
}

#[test]
fn a_custom_class_is_the_class_that_it_states() {
    let attributes = "<GenericAttributes><GenericAttribute Name='TypeNameAssignmentClass' Value='WedgeGateValve'/>\
         <GenericAttribute Name='ItemTagAssignmentClass' Value='HV-1'/>\
         <GenericAttribute Name='NominalDiameterAssignmentClass' Value='80'/></GenericAttributes>";
    let imported = segment(&format!(
        "<PipingComponent ID='A' ComponentClass='CustomOperatedValve'>{attributes}</PipingComponent>\
         <PipingComponent ID='B' ComponentClass='BallValve'>{attributes}</PipingComponent>"
    ));
    let graph = graph(&imported);
    let valve = node(&graph, "A");
    assert_eq!(valve["node_classification"], "piping_component.wedge_gate_valve");
    assert_eq!((&valve["tag"], &valve["nominal_diameter"]), (&"HV-1".into(), &80.into()));
    assert_eq!(node(&graph, "B")["component_class"], "BallValve", "the class of the standard takes precedence");
}

#[test]
fn notes_are_nodes_and_a_comment_is_one_relation() {
    let imported = import(
        "<PlantModel><PlantInformation SchemaVersion='4.2'/><Note ID='N' ComponentClass='Note'>\
         <Association Type='is a comment referring to' ItemID='T'/></Note>\
         <Equipment ID='T' ComponentClass='Tank'><Association Type='is referenced in comment' ItemID='N'/></Equipment></PlantModel>",
    );
    assert_eq!(edges(&graph(&imported), "is_referenced_in_comment"), ["T > N".to_owned()].into());
    assert_eq!(codes(&imported), BTreeSet::new(), "the element and the version are known");
}

#[test]
fn a_segment_without_a_connection_connects_only_its_items() {
    check_run("<PipingComponent ID='A'/><PipingComponent ID='B'/>", &["A > B"]);
    check_run("", &[]);
    assert!(codes(&segment("")).contains("I006"));
    assert!(codes(&segment("<PipingComponent ID='A'/>")).contains("I007"));
}

#[test]
fn run_ends_may_be_attributes_of_the_segment_or_ports() {
    let items =
        "<PipingComponent ID='A'><ConnectionPoints><Node/><Node ID='A-1'/></ConnectionPoints></PipingComponent>";
    check_run(&format!("{items}<PipingComponent ID='B'/><Connection FromNode='A-1' ToID='X'/>"), &["A > B", "B > X"]);
    let runs = import(
        "<PlantModel><PlantInformation SchemaVersion='4.0.1'/><PipingNetworkSystem ID='L'>\
         <PipingNetworkSegment ID='S' FromID='X' ToID='Y'><PipingComponent ID='A'/></PipingNetworkSegment>\
         </PipingNetworkSystem></PlantModel>",
    );
    assert_eq!(edges(&graph(&runs), "physically_connected_to"), ["X > A", "A > Y"].map(String::from).into());
}

#[test]
fn connected_runs_connect_their_end_items_once() {
    let runs = import(
        "<PlantModel><PlantInformation SchemaVersion='4.0.1'/><PipingNetworkSystem ID='L'>\
         <PipingNetworkSegment ID='S1'><PipingComponent ID='A'/><Connection FromID='T' ToID='S2'/></PipingNetworkSegment>\
         <PipingNetworkSegment ID='S2'><Connection FromID='S1' ToID='S3'/></PipingNetworkSegment>\
         <PipingNetworkSegment ID='S3'><PipingComponent ID='B'/><Connection FromID='S2' ToID='P'/></PipingNetworkSegment>\
         <PipingNetworkSegment ID='S4'><PipingComponent ID='C'/><Connection FromID='S4' ToID='S5'/></PipingNetworkSegment>\
         <PipingNetworkSegment ID='S5'><Connection FromID='S4' ToID='S5'/></PipingNetworkSegment>\
         </PipingNetworkSystem></PlantModel>",
    );
    let found = edges(&graph(&runs), "physically_connected_to");
    let expected = ["T > A", "A > B", "B > P", "S4-start > C", "C > S5-end"].map(String::from);
    assert_eq!(found, expected.into());
    let graph = graph(&runs);
    let connections = rows(&graph, "edges").iter().filter(|edge| edge["from"] == "A" && edge["to"] == "B");
    assert_eq!(connections.count(), 1);
}

/// Checks runs with their items and declared ends; `None` for an undeclared end.
fn check_runs(runs: &[(&str, Option<&str>, Option<&str>)], expected: &[&str]) {
    let end = |name: &str, id: Option<&str>| id.map_or(String::new(), |id| format!(" {name}='{id}'"));
    let run = |(at, (inside, from, to)): (usize, &(&str, Option<&str>, Option<&str>))| {
        let ends = end("FromID", *from) + &end("ToID", *to);
        format!("<PipingNetworkSegment ID='S{}'>{inside}<Connection{ends}/></PipingNetworkSegment>", at + 1)
    };
    let runs: String = runs.iter().enumerate().map(run).collect();
    let plant = import(&format!(
        "<PlantModel><PlantInformation SchemaVersion='4.1'/>{TANK}<PipingNetworkSystem ID='L'>{runs}</PipingNetworkSystem></PlantModel>"
    ));
    let found = edges(&graph(&plant), "physically_connected_to");
    assert_eq!(found, expected.iter().map(|text| (*text).to_owned()).collect(), "{runs}");
}

#[test]
fn a_run_referenced_by_another_has_no_open_end_there() {
    let [a, b] = ["<PipingComponent ID='A'/>", "<PipingComponent ID='B'/>"];
    let tank = Some("TN");
    check_runs(&[(a, tank, Some("S2")), (b, None, None)], &["TN > A", "A > B", "B > S2-end"]);
    check_runs(&[(a, tank, None), (b, Some("S1"), None)], &["TN > A", "A > B", "B > S2-end"]);
    check_runs(&[(a, None, tank), (b, None, Some("S1"))], &["S2-start > B", "B > A", "A > TN"]);
    check_runs(&[(a, tank, Some("S2")), ("", Some("S1"), None)], &["TN > A", "A > S2-end"]);
    check_runs(&[(a, tank, Some("S2")), ("", None, None)], &["TN > A", "A > S2-end"]);
    check_runs(&[(a, tank, Some("S2")), ("", None, Some("S3")), (b, None, None)], &["TN > A", "A > B", "B > S3-end"]);
    check_runs(&[("", tank, Some("S2")), ("", None, None)], &["TN > S2-end"]);
    check_runs(&[("", tank, Some("S2")), ("", None, Some("S3")), ("", None, None)], &["TN > S3-end"]);
    check_runs(&[("", None, Some("S2")), ("", None, None)], &["S1-start > S1-end", "S2-start > S2-end"]);
    // The referenced pipe comes from elsewhere: it does not end where this one ends.
    check_runs(&[(a, tank, Some("S2")), ("", Some("B"), None)], &["TN > A", "A > S1-end", "B > S2-end"]);
}

#[test]
fn runs_that_name_each_other_at_the_same_end_are_joined_once() {
    let [a, b, c] = ["A", "B", "C"].map(|id| format!("<PipingComponent ID='{id}'/>"));
    let (a, b, c) = (a.as_str(), b.as_str(), c.as_str());
    let [tank, pump, s1, s2, s3] = ["TN", "PN", "S1", "S2", "S3"].map(Some);
    // Ends, and starts.
    check_runs(&[(a, tank, s2), (b, pump, s1)], &["TN > A", "A > B", "PN > B"]);
    check_runs(&[(a, s2, tank), (b, s1, pump)], &["B > A", "A > TN", "B > PN"]);
    // One of the runs has no items, or neither has.
    check_runs(&[(a, tank, s2), ("", pump, s1)], &["TN > A", "PN > A"]);
    check_runs(&[(a, pump, s2), ("", tank, s1)], &["PN > A", "A > TN"]);
    check_runs(&[("", tank, s2), (b, pump, s1)], &["TN > B", "PN > B"]);
    check_runs(&[("", tank, s2), ("", pump, s1)], &["PN > TN"]);
    check_runs(&[(a, tank, s2), ("", None, s1)], &["TN > A", "S2-start > A"]);
    // A run names the item at the end of the other one.
    check_runs(&[(a, tank, s2), (b, pump, Some("A"))], &["TN > A", "A > B", "PN > B"]);
    check_runs(&[(a, tank, Some("B")), (b, pump, Some("A"))], &["TN > A", "A > B", "PN > B"]);
    check_runs(&[(a, tank, s2), (b, Some("A"), pump)], &["TN > A", "A > B", "B > PN"]);
    // A chain: the run between has no items, and meets the last one head-on.
    check_runs(&[(a, tank, s2), ("", s1, s3), (c, pump, s2)], &["TN > A", "A > C", "PN > C"]);
    // Two runs that are connected at both ends are a loop with two joints.
    check_runs(&[(a, s2, s2), (b, s1, s1)], &["A > B", "B > A"]);
}

#[test]
fn a_joint_of_runs_that_meet_head_on_is_one_edge_of_unknown_direction() {
    let runs = "<PipingNetworkSegment ID='S1'><PipingComponent ID='A'/><Connection FromID='T' ToID='S2'/></PipingNetworkSegment>\
         <PipingNetworkSegment ID='S2'><PipingComponent ID='B'/><Connection FromID='P' ToID='A'/></PipingNetworkSegment>";
    let plant = import(&format!(
        "<PlantModel><PlantInformation SchemaVersion='4.1'/><PipingNetworkSystem ID='L'>{runs}</PipingNetworkSystem></PlantModel>"
    ));
    let graph = graph(&plant);
    let joints: Vec<_> = rows(&graph, "edges").iter().filter(|edge| edge["from"] == "A" && edge["to"] == "B").collect();
    assert_eq!(joints.iter().map(|edge| &edge["direction"]).collect::<Vec<_>>(), ["unknown"]);
    assert!(codes(&plant).contains("I030"), "{:?}", plant.diagnostics);
}

#[test]
fn invalid_coordinates_are_reported_and_left_out() {
    let item = |inside: &str| format!("<PipingComponent ID='A'>{inside}</PipingComponent>");
    let check = |inside: &str, message: Option<&str>| {
        let imported = segment(&item(inside));
        let found = imported.diagnostics.iter().find(|found| found.finding.code() == "I031");
        assert_eq!(found.map(|found| found.message.as_str()), message, "{inside}");
        let graph = graph(&imported);
        assert_eq!(node(&graph, "A").get("orig_x").is_none(), message.is_some(), "{inside}");
    };
    let extent = |min: &str, max: &str| format!("<Extent><Min X='{min}' Y='0'/><Max X='{max}' Y='5'/></Extent>");
    check(&extent("0", "5"), None);
    check(&extent("5", "0"), Some("the extent of `A` is inverted"));
    check(&extent("0", "inf"), Some("1 of `Max` of `A` are not finite numbers"));
    let position = |x: &str| format!("<Position><Location X='{x}' Y='1' Z='0'/></Position>");
    check(&position("-1.5E2"), None);
    for x in ["NaN", "1e999", "", "1,5", "-INF"] {
        check(&position(x), Some("1 of `Location` of `A` are not finite numbers"));
    }
}

#[test]
fn a_reference_to_a_system_resolves_to_its_open_run() {
    let [run, other] = ["A", "B"].map(|id| format!("<PipingComponent ID='{id}'/>"));
    let check = |more: &str, expected: &[&str]| {
        let plant = import(&format!(
            "<PlantModel><PlantInformation SchemaVersion='4.1'/>{TANK}<PipingNetworkSystem ID='L1'>\
             <PipingNetworkSegment ID='S1'>{run}<Connection FromID='TN' ToID='L2'/></PipingNetworkSegment></PipingNetworkSystem>\
             <PipingNetworkSystem ID='L2'><PipingNetworkSegment ID='S2'>{other}<Connection/></PipingNetworkSegment>{more}\
             </PipingNetworkSystem></PlantModel>"
        ));
        let found = edges(&graph(&plant), "physically_connected_to");
        assert_eq!(found, expected.iter().map(|text| (*text).to_owned()).collect(), "{more}");
    };
    check("", &["TN > A", "A > B", "B > S2-end"]);
    let branch = |from: &str| {
        format!(
            "<PipingNetworkSegment ID='S3'><PipingComponent ID='C'/><Connection FromID='{from}' ToID='D'/></PipingNetworkSegment>"
        )
    };
    check(&branch("B"), &["TN > A", "A > B", "B > C", "B > S2-end", "C > D"]);
    // Two runs are open: the import does not guess between them.
    check(&branch(""), &["TN > A", "A > L2", "S2-start > B", "B > S2-end", "S3-start > C", "C > D"]);
}

#[test]
fn bidirectional_runs_are_recognized_in_several_spellings() {
    for inside in [
        "<GenericAttributes><GenericAttribute Name='FlowDirection' Value='Bi-Directional'/></GenericAttributes>",
        "<GenericAttributes><GenericAttribute Name='X' Value='DualFlow...'/></GenericAttributes>",
        "<GenericAttributes><GenericAttribute Name='Dual_Flow' Value='Yes'/></GenericAttributes>",
    ] {
        let graph = graph(&segment(&format!("{inside}<Connection FromID='X' ToID='Y'/>")));
        let pipe = rows(&graph, "edges").iter().find(|edge| edge["from"] == "X").expect("the pipe");
        assert_eq!(pipe["direction"], "both", "{inside}");
    }
}

#[test]
fn a_chamber_with_nozzles_is_a_part_of_its_equipment() {
    let imported = import(
        "<PlantModel><PlantInformation SchemaVersion='4.0.1'/><Equipment ID='E' ComponentClass='HeatExchanger'>\
         <Equipment ID='C' ComponentClass='Chamber'><Nozzle ID='N'/></Equipment>\
         <Association Type='Is Located In' ItemID='C'/></Equipment></PlantModel>",
    );
    let graph = graph(&imported);
    assert_eq!(node(&graph, "C")["node_classification"], "equipment_component.chamber");
    assert_eq!(edges(&graph, "is_located_in"), ["E > C".to_owned()].into());
}

#[test]
fn nozzles_of_all_column_sections_are_in_one_zone() {
    let imported = import(
        "<PlantModel><PlantInformation SchemaVersion='4.1'/><Equipment ID='K' TagName='K' ComponentClass='ProcessColumn'>\
         <Equipment ID='S1' ComponentClass='SubTaggedColumnSection'><Nozzle ID='N1'/></Equipment>\
         <Equipment ID='S2' ComponentClass='TaggedColumnSection'><Nozzle ID='N2'/></Equipment><Nozzle ID='N3'/></Equipment>\
         <PipingNetworkSystem ID='L'><PipingNetworkSegment ID='A'><PipingComponent ID='X'/><Connection FromID='N1' ToID='Y'/>\
         </PipingNetworkSegment><PipingNetworkSegment ID='B'><PipingComponent ID='Z'/><Connection ToID='N3'/>\
         </PipingNetworkSegment></PipingNetworkSystem></PlantModel>",
    );
    for nozzle in ["N1", "N2", "N3"] {
        assert_eq!(node(&graph(&imported), nozzle)["zone"], "K");
    }
    check_results(
        &imported,
        &[
            ("equipmentList() | map(.id)", r#"["K"]"#),
            (r#"downstream("K") | map(.id)"#, r#"["X"]"#),
            (r#"downstream("Z", {pass: "zone"}) | map(.id)"#, r#"["N3","K","N1","X"]"#),
        ],
    );
}

/// Checks queries on an imported drawing and their results.
#[track_caller]
fn check_results(imported: &Import, queries: &[(&str, &str)]) {
    let graph = pidq_core::Graph::from_json(imported.json.as_str()).expect("JSON");
    for (query, answer) in queries {
        let compiled = pidq_core::Query::parse(query).expect("valid query");
        let found = compiled.to_json(&graph, pidq_core::Limits::default()).expect("it runs");
        assert_eq!(found, *answer, "{query}");
    }
}

/// Returns a plant: some items, and runs between two ends each.
fn piped(items: &str, runs: &[(&str, &str, &str)]) -> Import {
    let run = |(at, (from, inside, to)): (usize, &(&str, &str, &str))| {
        format!(
            "<PipingNetworkSegment ID='S{at}'>{inside}<Connection FromID='{from}' ToID='{to}'/></PipingNetworkSegment>"
        )
    };
    let runs: String = runs.iter().enumerate().map(run).collect();
    import(&format!(
        "<PlantModel><PlantInformation SchemaVersion='4.1'/>{items}<PipingNetworkSystem ID='L'>{runs}</PipingNetworkSystem></PlantModel>"
    ))
}

const TANK: &str = "<Equipment ID='T' TagName='T' ComponentClass='Tank'><Nozzle ID='TN'/></Equipment>";

#[test]
fn nozzles_of_a_tube_bundle_are_on_one_side_of_the_exchanger() {
    let exchanger = "<Equipment ID='E' TagName='E' ComponentClass='HeatExchanger'><Nozzle ID='N1'/><Nozzle ID='N2'/>\
        <Equipment ID='B' ComponentClass='TubeBundle'><Equipment ID='C' ComponentClass='Chamber'>\
        <Nozzle ID='N3'/><Nozzle ID='N4'/></Equipment></Equipment></Equipment>";
    let pipe = |id: &str| format!("<PipingComponent ID='{id}'/>");
    let [a, b, c, d] = ["P1", "P2", "P3", "P4"].map(pipe);
    let imported = piped(exchanger, &[("X", &a, "N1"), ("N2", &b, "X"), ("X", &c, "N3"), ("N4", &d, "X")]);
    check_results(
        &imported,
        &[
            ("equipmentList() | map([.id, .nozzles])", r#"[["E",4]]"#),
            (r#"downstream("N1", {pass: "zone"}) | map(.id)"#, r#"["E","N2","P2"]"#),
            (r#"upstream("N4", {pass: "zone"}) | map(.id)"#, r#"["E","N3","P3"]"#),
            ("nozzleList() | map(.chamber)", r#"[null,null,"C","C"]"#),
        ],
    );
}

#[test]
fn flow_nozzles_are_not_nozzles_of_equipment() {
    let inside =
        "<PipingComponent ID='FN' ComponentClass='FlowNozzle'/><PipingComponent ID='V' ComponentClass='BallValve'/>";
    let imported = piped(TANK, &[("TN", inside, "X")]);
    check_results(&imported, &[(r#"downstream("T") | map(.id)"#, r#"["FN","V"]"#), ("nozzleList() | size()", "1")]);
}

#[test]
fn equipment_in_a_line_is_not_a_part_of_the_line() {
    let inside = "<Equipment ID='F' TagName='F' ComponentClass='Filter'/><Nozzle ID='N'/>";
    let imported = piped(TANK, &[("TN", inside, "V")]);
    let graph = graph(&imported);
    assert_eq!(node(&graph, "F")["node_classification"], "equipment.filter");
    assert_eq!(edges(&graph, "physically_has_a"), ["T > TN".to_owned()].into());
    check_results(&imported, &[(r#"downstream("T", {pass: "any"}) | map(.id)"#, r#"["F","N"]"#)]);
}

#[test]
fn connectors_and_valves_are_classified_for_any_element() {
    let inside = "<InstrumentComponent ID='V' ComponentClass='GateValve'/>";
    let connector = "<PipeConnectorSymbol ID='O' ComponentClass='X8178'/>";
    let imported = piped(TANK, &[("TN", inside, "O"), ("O", connector, "")]);
    check_results(
        &imported,
        &[(r#"isolate("T").barriers | map(.node.id)"#, r#"["V"]"#), ("offPageList() | map(.id)", r#"["O"]"#)],
    );
}

#[test]
fn a_valve_that_contains_an_actuator_is_actuated() {
    let valve = |inside: &str| {
        let valve = format!("<PipingComponent ID='V' ComponentClass='BallValve'>{inside}</PipingComponent>");
        let other = "<Equipment ID='U' ComponentClass='Tank'><Nozzle ID='UN'/></Equipment>";
        piped(&format!("{TANK}{other}"), &[("TN", &valve, "UN")])
    };
    let query = r#"isolate("T") | [.barriers | size(), .conditional | size()]"#;
    check_results(&valve("<InstrumentComponent ID='A' ComponentClass='Actuator'/>"), &[(query, "[0,1]")]);
    check_results(
        &valve("<ActuatingSystem ID='A'><ActuatingSystemComponent ID='B'/></ActuatingSystem>"),
        &[(query, "[0,1]")],
    );
    check_results(&valve("<InstrumentComponent ID='A' ComponentClass='HandActuator'/>"), &[(query, "[1,0]")]);
}

#[test]
fn off_page_references_define_the_target_of_a_connector() {
    for (reference, crossing, name, label) in [
        ("PipeOffPageConnectorReference", "<CrossPageConnection DrawingName='B' LinkLabel='7'/>", "B", "7"),
        (
            "PipeOffPageConnectorReferenceByNumber",
            "<GenericAttributes><GenericAttribute Name='ReferencedDrawingNumberAssignmentClass' Value='D'/>\
             <GenericAttribute Name='ReferencedConnectorNumberAssignmentClass' Value='8'/></GenericAttributes>",
            "D",
            "8",
        ),
    ] {
        let connector =
            format!("<PipeOffPageConnector ID='O'><{reference} ID='R'>{crossing}</{reference}></PipeOffPageConnector>");
        let imported = piped(TANK, &[("TN", &connector, "O")]);
        let graph = graph(&imported);
        let link = &node(&graph, "O")["cross_page"];
        assert_eq!((&link["drawing_name"], &link["link_label"]), (&name.into(), &label.into()), "{reference}");
        assert!(!codes(&imported).contains("I011"));
        check_results(&imported, &[("offPageList() | size()", "1")]);
    }
}

#[test]
fn a_line_without_a_number_gets_the_number_of_its_runs() {
    let number = |text: &str| {
        format!("<GenericAttributes><GenericAttribute Name='LineNumber' Value='{text}'/></GenericAttributes>")
    };
    let line = |first: &str, second: &str| {
        let imported = piped(TANK, &[("TN", &number(first), "A"), ("A", &number(second), "B")]);
        node(&graph(&imported), "L")["tag"].as_str().map(str::to_owned)
    };
    assert_eq!(line("10081", "10081").as_deref(), Some("10081"));
    assert_eq!(line("10081", "10082").as_deref(), Some(""));
}

#[test]
fn vendor_tag_attributes_apply_to_items_but_not_to_runs() {
    let tag = "<GenericAttributes><GenericAttribute Name='ItemTag' Value='SV 1'/></GenericAttributes>";
    let imported = piped(TANK, &[("TN", &format!("{tag}<PipingComponent ID='V'>{tag}</PipingComponent>"), "X")]);
    let graph = graph(&imported);
    assert_eq!((&node(&graph, "V")["tag"], &node(&graph, "S0")["tag"]), (&"SV 1".into(), &"".into()));
}

#[test]
fn references_may_use_persistent_ids() {
    let items = "<Equipment ID='E'><PersistentID Identifier='P1'/></Equipment><Equipment ID='P2'><PersistentID Identifier='E'/></Equipment>";
    let imported = piped(items, &[("P1", "", "E"), ("E", "", "P2")]);
    assert_eq!(edges(&graph(&imported), "physically_connected_to"), ["E > E", "E > P2"].map(String::from).into());
    assert!(!codes(&imported).contains("I003"));
}

#[test]
fn the_drawing_frame_is_not_an_item() {
    let imported = import("<PlantModel><Drawing Name='D'><Component ComponentClass='Border'/></Drawing></PlantModel>");
    assert_eq!(imported.nodes, 0);
    assert!(imported.diagnostics.iter().any(|diagnostic| diagnostic.finding == Finding::AnnotationOmitted));
}

#[test]
fn the_element_of_a_sensor_is_not_a_final_element() {
    let inside = "<PipingComponent ID='FE' ComponentClass='OrificePlate'/><PipingComponent ID='V' ComponentClass='OperatedValve'/>";
    let functions = "<ProcessInstrumentationFunction ID='FIC' TagName='FIC 1'>\
        <ProcessSignalGeneratingFunction ID='G'><Association Type='is fulfilled by' ItemID='GS'/></ProcessSignalGeneratingFunction>\
        <ActuatingFunction ID='A'><Association Type='is fulfilled by' ItemID='AS'/></ActuatingFunction></ProcessInstrumentationFunction>\
        <ProcessSignalGeneratingSystem ID='GS'><ProcessSignalGeneratingSystemComponent ID='GR' ComponentClass='InlinePrimaryElementReference'>\
        <Association Type='refers to' ItemID='FE'/></ProcessSignalGeneratingSystemComponent></ProcessSignalGeneratingSystem>\
        <ActuatingSystem ID='AS'><ActuatingSystemComponent ID='AR' ComponentClass='OperatedValveReference'>\
        <Association Type='refers to' ItemID='V'/></ActuatingSystemComponent></ActuatingSystem>\
        <InstrumentationLoopFunction ID='LP' TagName='F-1'><Association Type='is a collection including' ItemID='FIC'/>\
        </InstrumentationLoopFunction>";
    let imported = piped(&format!("{TANK}{functions}"), &[("TN", inside, "X")]);
    check_results(
        &imported,
        &[("loops() | map([.loop, .final_elements | map(.id), .closed])", r#"[["F-1",["V"],true]]"#)],
    );
}

#[test]
fn an_actuating_function_is_fulfilled_by_the_system_with_its_number() {
    let number = |class: &str, tag: &str| {
        format!(
            "<GenericAttributes Set='DexpiAttributes'><GenericAttribute Name='{class}NumberAssignmentClass' Value='{tag}'/></GenericAttributes>"
        )
    };
    let system = |id: &str, tag: &str, valve: &str| {
        let number = number("ActuatingSystem", tag);
        format!(
            "<ActuatingSystem ID='{id}'>{number}<ActuatingSystemComponent ID='{id}R' ComponentClass='OperatedValveReference'>\
            <Association Type='refers to' ItemID='{valve}'/></ActuatingSystemComponent></ActuatingSystem>"
        )
    };
    let related = |tag: &str, others: &str| {
        let function = number("ActuatingFunction", tag);
        let valves = "<PipingComponent ID='V' TagName='XV-1' ComponentClass='OperatedValve'/>";
        let functions = format!(
            "<ProcessInstrumentationFunction ID='F' TagName='UZ-1'><ActuatingFunction ID='A'>{function}</ActuatingFunction>\
            </ProcessInstrumentationFunction>{}{others}",
            system("AS", "XV-1", "V")
        );
        let imported = piped(&format!("{TANK}{functions}"), &[("TN", valves, "X")]);
        edges(&graph(&imported), "is_fulfilled_by").len()
    };
    assert_eq!(related("XV-1", ""), 1);
    assert_eq!(related("XV-2", ""), 0);
    assert_eq!(related("XV-1", &system("AT", "XV-1", "V")), 0);
}

#[test]
fn dangling_references_are_kept_and_reported() {
    let imported = segment("<Connection FromID='GHOST' ToID='L'/>");
    assert!(edges(&graph(&imported), "physically_connected_to").contains("GHOST > L"));
    assert!(codes(&imported).contains("I003"));
}

#[test]
fn pipes_have_line_fields_and_a_direction() {
    let graph = graph(&import(PLANT));
    let pipe = rows(&graph, "edges").iter().find(|edge| edge["from"] == "V-1").expect("a pipe");
    assert_eq!(
        (&pipe["line"], &pipe["nominal_diameter"], &pipe["fluid_code"]),
        (&"80-W-101".into(), &80.into(), &"W".into())
    );
    assert_eq!((&pipe["direction"], &pipe["segment"]), (&"forward".into(), &"S-1".into()));
    let open = rows(&graph, "edges").iter().find(|edge| edge["from"] == "P-1-N2").expect("a pipe");
    assert_eq!(open["direction"], "both");
}

#[test]
fn pipes_name_their_ports_and_point_0_is_not_a_port() {
    let graph = graph(&import(PLANT));
    let pipe = rows(&graph, "edges").iter().find(|edge| edge["from"] == "T-1-N1").expect("a pipe");
    assert_eq!((&pipe["from_port"], &pipe["to_port"]), (&1.into(), &1.into()));
    let ports = node(&graph, "V-1")["ports"].as_array().expect("ports");
    let flows: Vec<_> = ports.iter().map(|port| (port["index"].as_u64(), port["flow"].as_str())).collect();
    assert_eq!(flows, [(Some(1), Some("in")), (Some(2), Some("out"))]);
}

#[test]
fn equipment_has_its_nozzles_and_chambers() {
    check_edges("physically_has_a", &["T-1 > T-1-N1", "T-1 > T-1-C1", "P-1 > P-1-N1", "P-1 > P-1-N2"]);
    let graph = graph(&import(PLANT));
    assert_eq!(node(&graph, "T-1-C1")["node_classification"], "equipment_component.chamber");
    assert_eq!(node(&graph, "T-1")["node_classification"], "equipment.tank");
}

#[test]
fn tags_are_read_or_composed_of_their_parts() {
    let graph = graph(&import(PLANT));
    for (id, tag, qualified) in [
        ("T-1", "T4711", Value::Null),
        ("T-1-N1", "N1", "T4711-N1".into()),
        ("P-1", "P4712A", Value::Null),
        ("L-1", "80-W-101", Value::Null),
        ("LC", "LICA 4711", Value::Null),
        ("V-1", "", Value::Null),
    ] {
        let node = node(&graph, id);
        assert_eq!((&node["tag"], &node["qualified_tag"]), (&tag.into(), &qualified), "{id}");
    }
    assert_eq!(node(&graph, "V-1")["label"], "73KH12");
}

#[test]
fn shared_tags_are_qualified_by_their_owner() {
    let graph = graph(&import(
        "<PlantModel><PipingNetworkSystem ID='L' TagName='L1'><PipingNetworkSegment ID='S'><PipingComponent ID='A' TagName='C1'/>\
         <PipingComponent ID='B' TagName='V7'/></PipingNetworkSegment></PipingNetworkSystem><Equipment ID='E' TagName='C1'/>\
         </PlantModel>",
    ));
    assert_eq!(node(&graph, "A")["qualified_tag"], "L1-C1");
    assert_eq!(node(&graph, "B")["qualified_tag"], Value::Null);
}

#[test]
fn neither_the_number_of_a_segment_nor_the_parts_of_an_actuator_qualify_the_tag_of_a_valve() {
    let plant = |more: &str| {
        let text = format!(
            "<PlantModel><PipingNetworkSystem ID='L'><PipingNetworkSegment ID='S' TagName='1'>\
             <PipingComponent ID='V' TagName='XV-1' ComponentClass='BallValve'/></PipingNetworkSegment></PipingNetworkSystem>\
             <ActuatingSystem ID='A' TagName='XV-1' ComponentClass='ActuatingSystem'/>{more}</PlantModel>"
        );
        let imported = graph(&import(&text));
        node(&imported, "V")["qualified_tag"].clone()
    };
    assert_eq!(plant(""), Value::Null);
    assert_eq!(plant("<PipingComponent ID='W' TagName='XV-1'/>"), Value::Null);
    let line = "<PipingNetworkSystem ID='M' TagName='M1'><PipingNetworkSegment ID='R'><PipingComponent ID='W' TagName='XV-1'/>\
        </PipingNetworkSegment></PipingNetworkSystem>";
    assert_eq!(plant(line), Value::Null, "only the other valve is in a line with a number");
}

#[test]
fn the_texts_beside_a_piping_component_are_kept() {
    let texts = |inside: &str, attributes: &str| {
        let valve = format!(
            "<PipingComponent ID='V' TagName='HV-1' ComponentClass='BallValve'>{inside}<GenericAttributes Set='DexpiAttributes'>\
             {attributes}</GenericAttributes></PipingComponent>"
        );
        let imported = graph(&piped(TANK, &[("TN", &valve, "X")]));
        let valve = node(&imported, "V");
        serde_json::json!([valve["label"], valve["label_texts"]]).to_string()
    };
    let label = |text: &str| format!("<Label ID='B'><Text String='{text}'/></Label>");
    let named = "<GenericAttribute Name='PipingComponentNameAssignmentClass' Value='73KH12'/>";
    assert_eq!(texts(&label("LC"), named), r#"["73KH12",["LC"]]"#);
    assert_eq!(texts("<Text String='NOT INSTALLED'/>", named), r#"["73KH12",["NOT INSTALLED"]]"#);
    assert_eq!(texts(&label("73KH12"), named), r#"["73KH12",null]"#);
    assert_eq!(texts(&label("HV-1"), ""), "[null,null]");
    assert_eq!(texts(&label("LC"), ""), r#"["LC",null]"#);
    assert_eq!(texts(&format!("{}<Text String='FC'/>", label("LC")), ""), r#"["LC FC",["LC","FC"]]"#);
}

#[test]
fn a_text_on_the_sheet_that_refers_to_an_item_is_one_beside_it() {
    let texts = |sheet: &str| {
        let valve = "<PipingComponent ID='V' TagName='HV-1' ComponentClass='BallValve'/>";
        let plant = piped(&format!("{TANK}{sheet}"), &[("TN", valve, "X")]);
        let valve = node(&graph(&plant), "V").clone();
        serde_json::json!([valve["label"], valve["label_texts"]]).to_string()
    };
    for sheet in [
        "<Drawing><Text ItemID='V' String='LC'/></Drawing>",
        "<Drawing><Label ID='B'><Text ItemID='V' String=' LC '/></Label></Drawing>",
        "<Label ID='B' ItemID='V'><Text String='LC'/></Label>",
        "<Drawing><Label ID='B'><Association Type='refers to' ItemID='V'/><Text><String>LC</String></Text></Label></Drawing>",
    ] {
        assert_eq!(texts(sheet), r#"["LC",null]"#, "{sheet}");
    }
    for sheet in [
        "<Drawing><Text String='LC'/></Drawing>",
        "<Drawing><Text ItemID='T' String='LC'/></Drawing>",
        "<Drawing><Text ItemID='V' String='HV-1'/></Drawing>",
        "<Drawing><Text ItemID='V' DependantAttribute='[TagName]' String='80'/></Drawing>",
    ] {
        assert_eq!(texts(sheet), "[null,null]", "{sheet}");
    }
}

#[test]
fn a_text_beside_a_relief_device_or_its_valve_is_read() {
    let relief = |valve_text: &str, device_text: &str| {
        let item = |id: &str, class: &str, text: &str| {
            format!(
                "<PipingComponent ID='{id}' TagName='{id}' ComponentClass='{class}'><Label><Text String='{text}'/></Label>\
                 <GenericAttributes><GenericAttribute Name='PipingComponentNameAssignmentClass' Value='73KH12'/>\
                 </GenericAttributes></PipingComponent>"
            )
        };
        let items = item("HV-1", "BallValve", valve_text) + &item("PSV-1", "SpringLoadedGlobeSafetyValve", device_text);
        let flare = "<Equipment ID='FS' TagName='FS' ComponentClass='Flare'><Nozzle ID='FN'/></Equipment>";
        let imported = piped(&format!("{TANK}{flare}"), &[("TN", &items, "FN")]);
        let graph = pidq_core::Graph::from_json(imported.json).expect("JSON");
        let query = pidq_core::Query::parse("reliefList() | map([.relief_path, .certain]) | first()").expect("a query");
        query.to_json(&graph, pidq_core::Limits::default()).expect("it runs")
    };
    for (valve, device, expected) in [
        ("LO", "PSV-1", r#"["open",true]"#),
        ("CSO", "SET @ 17.5 barg", r#"["open",true]"#),
        ("LO", "80 x 150", r#"["open",true]"#),
        ("HV-1", "PSV-1", r#"["unknown",false]"#),
        ("LC", "PSV-1", r#"["blocked",false]"#),
        ("LO", "NOT INSTALLED", r#"["blocked",false]"#),
        ("LO", "FUTURE", r#"["blocked",false]"#),
        ("LO", "GAGGED", r#"["unknown",false]"#),
    ] {
        assert_eq!(relief(valve, device), expected, "{valve}, {device}");
    }
}

#[test]
fn relations_declared_on_both_sides_give_one_edge() {
    check_edges("is_located_in", &["T-1-N1 > T-1-C1", "LS > T-1-C1"]);
    check_edges("is_fulfilled_by", &["LA > AS"]);
    check_edges("refers_to", &["AS-V > V-1"]);
}

#[test]
fn signal_lines_connect_their_logical_ends() {
    check_edges("signal_conveying_function", &["LS > LC", "LC > LA"]);
    let imported = import(PLANT);
    let graph = graph(&imported);
    let line = rows(&graph, "edges").iter().find(|edge| edge["id"] == "SIG-2").expect("a line");
    assert_eq!((&line["drawn_to"], &line["parent_id"]), (&"AS-A".into(), &"LC".into()));
    assert!(codes(&imported).contains("I009"));
}

#[test]
fn valves_have_the_fail_action_of_their_actuator() {
    assert_eq!(node(&graph(&import(PLANT)), "V-1")["fail_action"], "FailClose");
}

#[test]
fn off_page_connectors_have_their_target() {
    let graph = graph(&import(PLANT));
    let link = &node(&graph, "OPC")["cross_page"];
    assert_eq!((&link["drawing_name"], &link["link_label"]), (&"SHEET-2".into(), &"A1".into()));
    assert_eq!(link["linked_persistent_id"], "OTHER-OPC");
}

#[test]
fn attributes_keep_language_unit_and_number() {
    let graph = graph(&import(PLANT));
    let attributes = node(&graph, "T-1")["attributes"].as_array().expect("attributes");
    let services: Vec<_> = attributes.iter().filter(|attribute| attribute["name"] == "Service").collect();
    assert_eq!(
        (services.len(), &services[0]["language"], &services[1]["value"]),
        (2, &"en".into(), &"Speisewasser".into())
    );
    let volume = attributes.iter().find(|attribute| attribute["name"] == "Volume").expect("the volume");
    assert_eq!((volume["value"].to_string(), &volume["unit"]), ("26.5".into(), &"MetreCubed".into()));
    assert!(import(PLANT).json.contains("26.50"), "digits are those of the file");
}

#[test]
fn duplicate_ids_are_made_unique() {
    let imported =
        segment("<PipingComponent ID='A'/><PipingComponent ID='A'/><PipingComponent/><Connection ToID='A'/>");
    let nodes = graph(&imported);
    let ids: BTreeSet<&str> = rows(&nodes, "nodes").iter().filter_map(|node| node["id"].as_str()).collect();
    assert_eq!(ids.len(), imported.nodes);
    assert!(ids.contains("A#2"));
    // What the file states about the id may be about each of them.
    let shared =
        rows(&nodes, "nodes").iter().filter(|node| node["shared_id"] == "A").filter_map(|node| node["id"].as_str());
    assert_eq!(shared.collect::<Vec<_>>(), ["A", "A#2"]);
    assert!(codes(&imported).is_superset(&["I001", "I002"].into()));
}

#[test]
fn connections_and_relations_of_other_elements_are_imported_or_reported() {
    let imported = import(
        "<PlantModel><Equipment ID='A'><Connection ToID='B'/><Connection/></Equipment><Equipment ID='B'/>\
         <PipingNetworkSystem ID='L'><Connection FromID='A' ToID='B'/></PipingNetworkSystem>\
         <InformationFlow ID='I'><Association Type='is a part of' ItemID='L'/></InformationFlow></PlantModel>",
    );
    let graph = graph(&imported);
    assert!(edges(&graph, "is_connected_to").contains("A > B"));
    assert!(edges(&graph, "physically_connected_to").contains("A > B"));
    let reported =
        imported.diagnostics.iter().filter(|diagnostic| diagnostic.finding == Finding::UnresolvedMembership).count();
    assert_eq!(reported, 2);
}

#[test]
fn version_3_3_references_members_by_short_ids() {
    let graph = graph(&import(
        "<PlantModel><PlantInformation SchemaVersion='3.3.3'/><InstrumentComponent ID='SP12345678' TagName='LI 1'/>\
         <InstrumentLoop ID='LOOP'><Association Type='is a collection including' TagName='12345678'/></InstrumentLoop>\
         </PlantModel>",
    ));
    assert!(edges(&graph, "has_a").contains("LOOP > SP12345678"));
}

#[test]
fn unknown_elements_are_nodes_if_they_have_an_id_and_reported_otherwise() {
    let imported = import("<PlantModel><Widget ID='W' ComponentClass='BigWidget'/><Gadget/></PlantModel>");
    assert_eq!(node(&graph(&imported), "W")["node_classification"], "other.big_widget");
    assert!(
        imported
            .diagnostics
            .iter()
            .any(|diagnostic| diagnostic.finding == Finding::UnknownElement && diagnostic.message.contains("Gadget"))
    );
}

#[test]
fn documents_other_than_proteus_are_rejected() {
    for (xml, code) in [
        ("<svg/>", Code::NotProteus),
        ("<Drawing/>", Code::NotProteus),
        ("{\"pid_graph\": {}}", Code::NotXml),
        ("", Code::NotXml),
        ("<PlantModel>", Code::NotXml),
        ("<!DOCTYPE a [<!ENTITY x 'y'>]><PlantModel/>", Code::Entity),
    ] {
        assert_eq!(read(xml.as_bytes()).expect_err(xml).code(), code, "{xml}");
    }
}

#[test]
fn a_fragment_of_a_plant_model_is_imported_and_reported() {
    let imported = import("<Equipment ID='E' TagName='T-1'>…<Nozzle ID='N'/></Equipment>");
    let graph = graph(&imported);
    assert_eq!((&node(&graph, "E")["tag"], &node(&graph, "N")["parent_id"]), (&"T-1".into(), &"E".into()));
    let found = imported.diagnostics.iter().find(|diagnostic| diagnostic.finding == Finding::Fragment);
    assert!(found.is_some_and(|diagnostic| diagnostic.message.contains("`Equipment`")));
}

#[test]
fn an_empty_plant_is_an_empty_graph() {
    let imported = import("<PlantModel/>");
    assert_eq!((imported.nodes, imported.edges), (0, 0));
    assert_eq!(graph(&imported)["pid_graph"]["metadata"]["schema_version"], "1.0.0");
}

#[test]
fn encoded_files_are_imported() {
    let text = "<PlantModel><Equipment ID='E' TagName='Behälter'/></PlantModel>";
    let utf_16: Vec<u8> = format!("\u{FEFF}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    let latin_1: Vec<u8> =
        format!("<?xml version='1.0' encoding='iso-8859-1'?>{text}").chars().map(|c| c as u8).collect();
    let utf_8_with_bom = format!("\u{FEFF}{text}").into_bytes();
    for bytes in [utf_16, latin_1, utf_8_with_bom] {
        assert_eq!(node(&graph(&read(&bytes).expect("it is Proteus")), "E")["tag"], "Behälter");
    }
}

#[test]
fn many_duplicates_and_center_lines_take_linear_time() {
    const MANY: usize = 6_000;
    let duplicates = "<PipingComponent ID='A'/>".repeat(MANY);
    let line = "<CenterLine><Coordinate X='1' Y='2'/><Coordinate X='3' Y='4'/></CenterLine>".repeat(MANY / 2);
    let imported = segment(&format!("{duplicates}{line}<Connection FromID='A'/>"));
    assert_eq!((imported.nodes, imported.diagnostics.len()), (MANY + 3, MANY));
    let graph = pidq_core::Graph::from_json(imported.json).expect("valid JSON");
    for format in crate::FORMATS.iter().filter(|format| format.write.is_some() && format.name != "csv") {
        format.export(graph.root()).expect("it can be written");
    }
}

fn drawings() -> Vec<(String, Vec<u8>)> {
    drawings_in(&["proteus"])
}

/// Returns the real drawings of these folders, if available.
pub fn drawings_in(names: &[&str]) -> Vec<(String, Vec<u8>)> {
    let neighbor_dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    let folder = std::env::var_os("PIDQ_TEST_DRAWINGS").map_or(neighbor_dir, PathBuf::from);
    let mut found = Vec::new();
    for folder in names.iter().map(|name| folder.join(name)).chain([folder.clone()]) {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
        let is_xml = |path: &PathBuf| path.extension().is_some_and(|end| end.eq_ignore_ascii_case("xml"));
        found.extend(
            paths.filter(is_xml).filter_map(|path| Some((path.display().to_string(), std::fs::read(path).ok()?))),
        );
    }
    if found.is_empty() {
        eprintln!("SKIPPED: no drawings in ../shared/data and none in PIDQ_TEST_DRAWINGS");
    }
    found.sort();
    found
}

/// Normalizes the attributes: some exporters write one per line, some `ID = "..."`.
fn normalized_whitespace(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace(" = \"", "=\"")
}

/// Counts the start tags of an element without the reader, outside `ShapeCatalogue`.
fn count(text: &str, name: &str) -> usize {
    let (before, rest) = text.split_once("<ShapeCatalogue").unwrap_or((text, ""));
    let after = rest.split_once("</ShapeCatalogue>").map_or("", |(_, after)| after);
    let start = format!("<{name}");
    let starts = |text: &str| {
        let tags = text.split(&start).skip(1);
        tags.filter(|rest| rest.starts_with([' ', '>', '/', '\n', '\r', '\t'])).count()
    };
    starts(before) + starts(after)
}

#[test]
fn all_items_pipes_and_signals_of_real_drawings_are_imported() {
    for (path, bytes) in drawings() {
        let imported = read(&bytes).expect("it is Proteus");
        let text = normalized_whitespace(&String::from_utf8(bytes).expect("it is UTF-8"));
        let graph = graph(&imported);
        let count_kind = |matching: fn(elements::Mapping) -> bool| -> usize {
            elements::ELEMENTS.iter().filter(|kind| matching(kind.mapping)).map(|kind| count(&text, kind.element)).sum()
        };
        let synthetic = rows(&graph, "nodes").iter().filter(|node| node["synthetic"] == true).count();
        let items = count_kind(|kind| matches!(kind, elements::Mapping::Node(..)));
        assert_eq!(imported.nodes, items + synthetic, "{path}: items");
        let signals = rows(&graph, "edges")
            .iter()
            .filter(|edge| edge["edge_classification"].as_str().is_some_and(|class| class.starts_with("signal_line.")));
        assert_eq!(signals.count(), count_kind(|kind| kind == elements::Mapping::Signal), "{path}: signal lines");
        check_segments(&graph, &text, &path);
        let ids: BTreeSet<&str> = rows(&graph, "nodes").iter().filter_map(|node| node["id"].as_str()).collect();
        assert_eq!(ids.len(), imported.nodes, "{path}: ids");
    }
}

/// Checks that every segment with a connection gives one pipe more than it has items between its ends.
fn check_segments(graph: &Value, text: &str, path: &str) {
    let segments = text.split("<PipingNetworkSegment").skip(1).map(|rest| rest.split("</PipingNetworkSegment").next());
    let mut expected = 0;
    for segment in segments.flatten().filter(|segment| count(segment, "Connection") > 0) {
        let items = ["PipingComponent", "PipeConnectorSymbol", "PipeOffPageConnector", "ProcessInstrument"];
        let inside: Vec<&str> = items.iter().flat_map(|name| ids_of(segment, name)).collect();
        let (_, connection) = segment.split_once("<Connection ").unwrap_or(("", ""));
        let connection = connection.split('>').next().unwrap_or("");
        let ends = inside.iter().filter(|id| connection.contains(&format!("ID=\"{id}\""))).count();
        expected += 1 + inside.len() - ends;
    }
    let pipes = rows(graph, "edges").iter().filter(|edge| edge["edge_type"] == "physically_connected_to").count();
    assert_eq!(pipes, expected, "{path}: pipes");
}

fn ids_of<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
    let start = format!("<{name}");
    let tags = text.split(&start).skip(1).filter(|rest| rest.starts_with(char::is_whitespace));
    tags.filter_map(|rest| rest.split_once(" ID=\"")?.1.split('"').next()).collect()
}

#[test]
fn tags_of_real_drawings_are_found_with_and_without_blank_or_hyphen() {
    let separators = [' ', '-', '_'];
    for (path, bytes) in drawings() {
        let imported = read(&bytes).expect("it is Proteus");
        let document = graph(&imported);
        let mut by_characters: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
        let mut tags: Vec<(&str, &str)> = Vec::new();
        for node in rows(&document, "nodes") {
            let id = node["id"].as_str().expect("an id");
            for tag in ["tag", "qualified_tag"].iter().filter_map(|field| node[*field].as_str()) {
                by_characters.entry(tag.replace(separators, "")).or_default().insert(id);
            }
            tags.extend(node["tag"].as_str().filter(|tag| !tag.is_empty()).map(|tag| (tag, id)));
        }
        tags.retain(|(tag, _)| by_characters[&tag.replace(separators, "")].len() == 1);
        let parsed = pidq_core::Graph::from_json(imported.json.clone()).expect("valid JSON");
        let is_id = |text: &str| rows(&document, "nodes").iter().any(|node| node["id"] == text);
        for (tag, id) in tags {
            let Some(at) = tag.find(|c: char| c.is_ascii_digit()) else { continue };
            let (letters, number) = (tag[..at].trim_end_matches(separators), &tag[at..]);
            if !letters.ends_with(|c: char| c.is_ascii_alphabetic()) {
                continue;
            }
            for other in ["", " ", "-"].map(|separator| format!("{letters}{separator}{number}")) {
                let found = parsed.find(other.as_str()).expect("the tag is unique").map(|node| parsed.node(node));
                let found = found.and_then(|node| node.as_object()?.get("id")?.as_str());
                assert!(found == Some(id) || is_id(&other), "{path}: {other} is {found:?}, not {id}");
            }
        }
    }
}

#[test]
fn a_drawing_is_named_by_its_name_title_or_number_or_not_at_all() {
    let number = "<GenericAttributes><GenericAttribute Name='DrawingNumberAssignmentClass' Value='100-PID-1'/></GenericAttributes>";
    for (drawing, expected) in [
        (format!("<Drawing Name='Feed' Title='Unit 100'>{number}</Drawing>"), Some("Feed")),
        (format!("<Drawing Name=' ' Title='Unit 100'>{number}</Drawing>"), Some("Unit 100")),
        (format!("<Drawing Name='' Title=''>{number}</Drawing>"), Some("100-PID-1")),
        ("<Drawing Name=''/>".to_owned(), None),
        (String::new(), None),
    ] {
        let xml = format!("<PlantModel><PlantInformation SchemaVersion='4.0.1'/>{drawing}</PlantModel>");
        let metadata = &graph(&import(&xml))["pid_graph"]["metadata"];
        assert_eq!(metadata.get("drawing_name").and_then(Value::as_str), expected, "{drawing}");
        assert_eq!(metadata["job_id"], expected.unwrap_or("drawing"), "{drawing}");
    }
}

#[test]
fn units_of_all_quantities_are_kept() {
    let xml = "<PlantModel><PlantInformation SchemaVersion='4.0.1'><UnitsOfMeasure Distance='Metre' Area='MetreSquared' \
               Angle='deg'/></PlantInformation></PlantModel>";
    let metadata = &graph(&import(xml))["pid_graph"]["metadata"];
    let units = serde_json::json!({"area": "MetreSquared", "angle": "deg"});
    assert_eq!(
        (&metadata["source"]["units_of_measure"], &metadata["coordinate_system"]["unit"]),
        (&units, &"Metre".into())
    );
}

/// Returns the edges of unknown kind of two runs: the second one has an open start at a position, and the first one has a
/// line along x from 0 to 100.
fn edges_of_touching_end(x: &str, y: &str) -> BTreeSet<String> {
    let line = |points: &str| format!("<CenterLine><Coordinate X='0' Y='0' Z='0'/>{points}</CenterLine>");
    let position = "<Position><Location X='0' Y='0' Z='0'/></Position>";
    let plant = import(&format!(
        "<PlantModel><PlantInformation SchemaVersion='4.0.1'/>\
         <Equipment ID='T-1'>{position}</Equipment><Equipment ID='T-2'>{position}</Equipment><Equipment ID='T-3'>{position}</Equipment>\
         <PipingNetworkSystem ID='L'><PipingNetworkSegment ID='S1'>{}<Connection FromID='T-1' ToID='T-2'/></PipingNetworkSegment>\
         <PipingNetworkSegment ID='S2'><CenterLine><Coordinate X='{x}' Y='{y}' Z='0'/><Coordinate X='0' Y='0' Z='0'/></CenterLine>\
         <Connection ToID='T-3'/></PipingNetworkSegment></PipingNetworkSystem></PlantModel>",
        line("<Coordinate X='100' Y='0' Z='0'/>")
    ));
    edges(&graph(&plant), "may_be_connected_to")
}

#[test]
fn an_open_end_on_the_line_of_another_run_may_be_connected_to_it() {
    let both: BTreeSet<String> = ["S2-start > T-1", "S2-start > T-2"].map(str::to_owned).into();
    for (x, y) in [("40", "0"), ("100", "0"), ("40", "0.005"), ("0.5", "0")] {
        assert_eq!(edges_of_touching_end(x, y), both, "{x} {y}");
    }
    for (x, y) in [("40", "1"), ("101", "0"), ("40", "-0.5")] {
        assert_eq!(edges_of_touching_end(x, y), BTreeSet::new(), "{x} {y}");
    }
}
