//! Parts of equipment, edges of unknown kind and shared ids in isolations and test volumes: whatever ties a nozzle or a
//! boot to a vessel, its open branch is never left out.

use pidq::Graph;
use serde_json::{Value, json};

use crate::graph::evaluate;

fn node(id: &str, class: &str) -> Value {
    json!({"id": id, "tag": id, "node_classification": class})
}

fn edge(from: &str, to: &str, kind: &str) -> Value {
    json!({"source": from, "target": to, "edge_type": kind, "direction": "forward"})
}

fn pipe(from: &str, to: &str) -> Value {
    edge(from, to, "physically_connected_to")
}

/// Returns a vessel whose nozzle leads to a valve, and further nodes and edges.
fn vessel(nodes: Vec<Value>, edges: Vec<Value>) -> Graph {
    let mut all = vec![
        node("V-1", "equipment.vessel"),
        node("V-1-N1", "equipment_component.nozzle"),
        node("HV-1", "gate_valve"),
        node("O1", "off_page_connector"),
    ];
    let mut all_edges = vec![edge("V-1", "V-1-N1", "physically_has_a"), pipe("V-1-N1", "HV-1"), pipe("HV-1", "O1")];
    all.extend(nodes);
    all_edges.extend(edges);
    let text = json!({"pid_graph": {"nodes": all, "edges": all_edges}}).to_string();
    Graph::from_json(text).expect("a drawing is JSON")
}

fn answer(graph: &Graph, query: &str) -> Value {
    evaluate(graph, query, "{}").unwrap_or_else(|error| panic!("{query}: {error}"))
}

const ANSWER: &str = "| [.barriers | map(.node.id), .unresolved | map(.at.id), .complete, .certain]";

#[test]
fn a_nozzle_belongs_to_a_vessel_by_any_edge_of_parts_or_members() {
    for (kind, is_reversed) in [("has_a", false), ("contains", false), ("belongs_to", true), ("part_of", true)] {
        let ends = if is_reversed { ["N2", "V-1"] } else { ["V-1", "N2"] };
        let graph = vessel(
            vec![
                node("N2", "equipment_component.nozzle"),
                node("FV-2", "control_valve"),
                node("O2", "off_page_connector"),
            ],
            vec![edge(ends[0], ends[1], kind), pipe("N2", "FV-2"), pipe("FV-2", "O2")],
        );
        assert_eq!(
            answer(&graph, &format!(r#"isolate("V-1") {ANSWER}"#)),
            json!([["HV-1"], ["O2"], false, true]),
            "{kind}"
        );
    }
}

#[test]
fn a_nozzle_belongs_to_a_vessel_by_its_tag_but_not_for_certain() {
    let mut nozzle = node("n2", "equipment_component.nozzle");
    nozzle["tag"] = json!("N2");
    nozzle["qualified_tag"] = json!("V-1-N2");
    let graph = vessel(
        vec![nozzle, node("HV-2", "gate_valve"), node("O2", "off_page_connector")],
        vec![pipe("n2", "HV-2"), pipe("HV-2", "O2")],
    );
    let query = format!(r#"isolate("V-1") {ANSWER}"#);
    assert_eq!(answer(&graph, &query), json!([["HV-1", "HV-2"], [], true, false]));
    assert_eq!(
        answer(&graph, r#"isolate("V-1").uncertain | map([.reason, .at.id])"#),
        json!([["nozzle_by_tag", "n2"]])
    );
}

/// Edges and fields between a vessel and its boot.
fn boots() -> Vec<(&'static str, Graph)> {
    let classes = ["equipment_component.boot", "equipment_component.chamber", "equipment.column_section"];
    let ties = ["has_a", "physically_has_a", "part_of", "parent_id"];
    let pairs = classes.iter().flat_map(|class| ties.map(|tie| (*class, tie)));
    let graph = |(class, tie): (&str, &'static str)| {
        let mut boot = node("B-1", class);
        let mut edges = vec![edge("B-1", "B-1-N9", "physically_has_a"), pipe("B-1-N9", "FV-9"), pipe("FV-9", "O9")];
        match tie {
            "parent_id" => boot["parent_id"] = json!("V-1"),
            "part_of" => edges.push(edge("B-1", "V-1", tie)),
            _ => edges.push(edge("V-1", "B-1", tie)),
        }
        let nodes = vec![
            boot,
            node("B-1-N9", "equipment_component.nozzle"),
            node("FV-9", "control_valve"),
            node("O9", "off_page_connector"),
        ];
        (tie, vessel(nodes, edges))
    };
    pairs.map(graph).collect()
}

#[test]
fn a_boot_a_chamber_and_a_section_are_open_to_their_vessel() {
    for (tie, graph) in boots() {
        assert_eq!(
            answer(&graph, &format!(r#"isolate("V-1") {ANSWER}"#)),
            json!([["HV-1"], ["O9"], false, true]),
            "{tie}"
        );
    }
}

#[test]
fn a_vessel_is_open_to_its_boot() {
    for (tie, graph) in boots() {
        let open = answer(&graph, r#"isolate("B-1").unresolved | map(.at.id)"#);
        let open = open.as_array().expect("an array");
        assert!(open.contains(&json!("V-1")), "{tie}: {open:?}");
        // Entered from a pipe, the boot leads to the nozzles of the vessel too.
        let entered = answer(&graph, r#"isolate("FV-9", {pass: "any"}) | .barriers | map(.node.id)"#);
        assert_eq!(entered, json!(["HV-1"]), "{tie}");
    }
}

#[test]
fn equipment_of_a_package_and_a_motor_are_isolated_by_themselves() {
    let graph = vessel(
        vec![node("PK-1", "equipment.package_unit"), node("M-1", "equipment.electric_motor")],
        vec![edge("PK-1", "V-1", "has_a"), edge("V-1", "M-1", "has_a")],
    );
    assert_eq!(answer(&graph, &format!(r#"isolate("V-1") {ANSWER}"#)), json!([["HV-1"], [], true, true]));
    assert_eq!(answer(&graph, r#"isolate("M-1").unresolved | map(.at.id)"#), json!([]));
}

#[test]
fn a_branch_of_edges_of_unknown_kind_is_a_data_gap() {
    for class in ["gate_valve", "strainer", "something", "off_page_connector"] {
        let mut nozzle = node("V-1-N2", "equipment_component.nozzle");
        nozzle["parent_id"] = json!("V-1");
        let graph = vessel(
            vec![nozzle, node("X-2", class), node("O2", "off_page_connector")],
            vec![edge("V-1-N2", "X-2", "tubing"), edge("X-2", "O2", "tubing")],
        );
        let query = r#"isolate("V-1") | [.data_gaps | map([.kind, .at.id]), .complete, .certain]"#;
        assert_eq!(answer(&graph, query), json!([[["unknown_connection", "V-1-N2"]], false, false]), "{class}");
    }
}

#[test]
fn a_note_a_group_and_a_gauge_at_edges_of_unknown_kind_are_no_data_gaps() {
    let graph = vessel(
        vec![
            node("note", "text_note"),
            node("unit", "area"),
            node("T-7", "equipment.tank"),
            node("PI-1", "instrument.pressure_indicator"),
        ],
        vec![
            edge("note", "V-1", "annotates"),
            edge("unit", "V-1", "comprises"),
            edge("unit", "T-7", "comprises"),
            edge("unit", "HV-1", "comprises"),
            edge("V-1", "PI-1", "shown_by"),
        ],
    );
    assert_eq!(answer(&graph, &format!(r#"isolate("V-1") {ANSWER}"#)), json!([["HV-1"], [], true, true]));
}

#[test]
fn an_id_of_two_nodes_makes_an_isolation_uncertain() {
    let graph = vessel(vec![node("HV-1", "check_valve")], vec![]);
    let query = r#"isolate("V-1") | [.certain, .uncertain | map([.reason, .at.id])]"#;
    assert_eq!(answer(&graph, query), json!([false, [["shared_id", "HV-1"]]]));
}

#[test]
fn a_second_valve_and_a_bleed_that_are_not_there_prove_nothing() {
    for (status, method) in [("existing", "double_block_bleed"), ("future", "single"), ("to be removed", "single")] {
        let [mut valve, mut bleed] = [node("HV-2", "gate_valve"), node("HV-3", "gate_valve")];
        valve["status"] = json!(status);
        bleed["status"] = json!(status);
        let nodes = [
            node("V-1", "equipment.vessel"),
            node("HV-1", "gate_valve"),
            node("J-1", "pipe_tee"),
            valve,
            bleed,
            node("O1", "off_page_connector"),
        ];
        let edges =
            [pipe("V-1", "HV-1"), pipe("HV-1", "J-1"), pipe("J-1", "HV-2"), pipe("J-1", "HV-3"), pipe("HV-2", "O1")];
        let graph = Graph::from_json(json!({"nodes": nodes, "edges": edges}).to_string()).expect("a drawing is JSON");
        assert_eq!(answer(&graph, r#"isolate("V-1").barriers | map(.method)"#), json!([method]), "{status}");
    }
}

#[test]
fn a_test_volume_leaks_at_every_end_that_is_open_or_may_be() {
    let ends = ["vent", "open_drain", "hose_connection", "flange", "loading_arm", "safety_valve", "gate_valve"];
    let mut nodes: Vec<Value> = ends.iter().map(|class| node(class, class)).collect();
    let mut edges: Vec<Value> = ends.iter().map(|class| pipe("V-1", class)).collect();
    nodes.extend([node("C-1", "pipe_cap"), node("V-1-N3", "equipment_component.nozzle"), node("R-1", "reducer")]);
    edges.extend([pipe("V-1", "C-1"), edge("V-1", "V-1-N3", "physically_has_a")]);
    edges.extend([pipe("V-1-N3", "nowhere"), pipe("V-1", "R-1"), edge("R-1", "O1", "tubing")]);
    let graph = vessel(nodes, edges);
    let leaks = answer(&graph, r#"boundary("V-1", ["HV-1"]).leaks | map(.id) | sort()"#);
    let mut expected: Vec<&str> = ends.into_iter().chain(["R-1", "V-1-N3"]).collect();
    expected.sort_unstable();
    assert_eq!(leaks, json!(expected));
}

#[test]
fn a_relief_valve_that_is_classed_as_an_instrument_is_a_relief_device() {
    let mut valve = node("HV-2", "gate_valve");
    valve["lock"] = json!("LO");
    let graph = vessel(
        vec![valve, node("PSV-1", "instrument.pressure_safety_valve"), node("O2", "off_page_connector")],
        vec![pipe("V-1", "HV-2"), pipe("HV-2", "PSV-1"), pipe("PSV-1", "O2")],
    );
    let query = r#"isolate("V-1").barriers | filter(.node.id == "HV-2") | flatMap(.cuts_off) | map(.id)"#;
    assert_eq!(answer(&graph, query), json!(["PSV-1"]));
    assert_eq!(answer(&graph, "reliefList() | map(.id)"), json!(["PSV-1"]));
}
