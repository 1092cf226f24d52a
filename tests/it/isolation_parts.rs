//! Parts of equipment, edges of unknown kind and shared ids in isolations and test volumes: whatever ties a nozzle or a
//! boot to a vessel, its open branch is never left out.

use pidq::Graph;
use serde_json::{Value, json};

use crate::drawing_notation::drawing;
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

#[test]
fn a_boundary_includes_the_parts_of_equipment_and_an_open_flange() {
    let boot =
        vec![node("B-1", "equipment.boot"), node("B-1-D1", "equipment_component.nozzle"), node("O9", "open_end")];
    let tied =
        vec![edge("V-1", "B-1", "physically_has_a"), edge("B-1", "B-1-D1", "physically_has_a"), pipe("B-1-D1", "O9")];
    let leaks = r#"boundary("V-1", ["HV-1"]) | [(.leaks | map(.id)), (.unused | map(.id))]"#;
    assert_eq!(answer(&vessel(boot, tied), leaks), json!([["O9"], []]));
    let flange = |position: &str| {
        let mut flange = node("BF-1", "piping_component.blind_flange");
        flange["position"] = json!(position);
        let nodes = vec![node("V-1-N2", "equipment_component.nozzle"), flange];
        vessel(nodes, vec![edge("V-1", "V-1-N2", "physically_has_a"), pipe("V-1-N2", "BF-1")])
    };
    assert_eq!(answer(&flange("open"), leaks), json!([["BF-1"], []]));
    assert_eq!(answer(&flange("closed"), leaks), json!([[], []]));
}

#[test]
fn an_edge_of_unknown_kind_at_a_barrier_with_two_pipes_may_open_the_volume() {
    let isolated = r#"isolate("V-1") | [.isolated, (.uncertain | map([.reason, .at.id]))]"#;
    let graph = |kind: &str| vessel(vec![node("O7", "off_page_connector")], vec![edge("HV-1", "O7", kind)]);
    for kind in ["hose_line", "Foo", "tubing"] {
        assert_eq!(answer(&graph(kind), isolated), json!(["unknown", [["unknown_connection", "HV-1"]]]), "{kind}");
    }
    // What measures is connected by other edges too.
    let note = vessel(vec![node("PI-1", "instrument.indicator")], vec![edge("HV-1", "PI-1", "Foo")]);
    assert_eq!(answer(&note, isolated), json!(["yes", []]));
}

#[test]
fn a_nozzle_of_two_vessels_may_be_open_to_both() {
    let shared = |owner: &str| {
        let nodes = vec![node("V-2", "equipment.vessel")];
        vessel(nodes, vec![edge(owner, "V-1-N1", "physically_has_a")])
    };
    let uncertain =
        |graph: &Graph| answer(graph, r#"isolate("V-1") | [.isolated, .uncertain | map([.reason, .at.id])]"#);
    assert_eq!(uncertain(&shared("V-2")), json!(["unknown", [["several_owners", "V-1-N1"]]]));
    assert_eq!(uncertain(&shared("V-1")), json!(["yes", []]));
}

#[test]
fn an_owner_of_unknown_class_may_be_equipment_that_a_target_is_open_to() {
    let judged = |class: &str| {
        let nodes = vec![node("A-1", class), node("V-9", "equipment.vessel")];
        let edges = vec![edge("A-1", "V-1", "physically_has_a"), edge("A-1", "V-9", "physically_has_a")];
        answer(&vessel(nodes, edges), r#"isolate("V-1") | [.isolated, .uncertain | map([.reason, .at.id])]"#)
    };
    for class in ["pit", "piping_component.foo", ""] {
        assert_eq!(judged(class), json!(["unknown", [["unknown_class", "A-1"]]]), "{class}");
    }
    assert_eq!(judged("equipment.tank")[0], json!("no"));
    for class in ["package_unit", "area", "plant.building"] {
        assert_eq!(judged(class), json!(["yes", []]), "{class}");
    }
}

#[test]
fn a_nozzle_of_a_boot_that_the_file_lacks_is_a_gap() {
    let gaps = |edges: Vec<Value>| {
        let graph = vessel(vec![node("B-1", "equipment.boot"), node("O9", "open_end")], edges);
        answer(&graph, r#"isolate("V-1") | [.isolated, .data_gaps | map([.kind, .at.id])]"#)
    };
    let part = || edge("V-1", "B-1", "physically_has_a");
    assert_eq!(gaps(vec![part()]), json!(["yes", []]));
    let missing = vec![part(), edge("B-1", "B-1-D1", "physically_has_a"), pipe("B-1-D1", "O9")];
    assert_eq!(gaps(missing), json!(["unknown", [["dangling_edge", "B-1"]]]));
}

#[test]
fn a_list_of_ports_says_how_many_pipes_a_valve_has_but_not_that_it_ends_one() {
    let with_ports = |class: &str, count: usize, edges: Vec<Value>| {
        let mut item = node("Q-1", class);
        item["ports"] = (1..=count).map(|index| json!({"index": index, "type": "process"})).collect();
        let mut all = vec![edge("V-1", "V-1-N2", "physically_has_a"), pipe("V-1-N2", "Q-1")];
        all.extend(edges);
        vessel(vec![node("V-1-N2", "equipment_component.nozzle"), node("O2", "off_page_connector"), item], all)
    };
    for class in ["pipe_tee", "reducer", "check_valve", "control_valve", "three_way_valve", "strainer"] {
        let found = answer(&with_ports(class, 1, vec![]), r#"isolate("V-1") | [.isolated, .unresolved | map(.kind)]"#);
        assert_eq!(found, json!(["no", ["free_port"]]), "{class}");
    }
    let isolated = |ports: Value| {
        let mut valve = node("HV-9", "gate_valve");
        valve["ports"] = ports;
        let edges = vec![edge("V-1", "V-1-N2", "physically_has_a"), pipe("V-1-N2", "HV-9"), pipe("HV-9", "O2")];
        let nodes = vec![node("V-1-N2", "equipment_component.nozzle"), node("O2", "off_page_connector"), valve];
        answer(&vessel(nodes, edges), r#"isolate("V-1") | [.isolated, .conditional | map(.action)]"#)
    };
    let process = json!({"type": "process"});
    assert_eq!(isolated(json!([process, process])), json!(["yes", []]));
    assert_eq!(isolated(json!([process, process, {"type": "signal"}])), json!(["yes", []]));
    assert_eq!(isolated(json!([process, process, process])), json!(["no", ["set"]]));
    assert_eq!(isolated(json!([{"index": 1}, {"index": 2}, {"index": 3}])), json!(["no", ["set"]]));
}

#[test]
fn a_part_of_unknown_class_may_be_a_nozzle_whose_pipe_is_missing() {
    let judged = |class: &str, tie: &str| {
        let graph = vessel(vec![node("Q-1", class)], vec![edge("V-1", "Q-1", tie)]);
        answer(&graph, r#"isolate("V-1") | [.isolated, .uncertain | map(.reason), .data_gaps | map(.kind)]"#)
    };
    for class in ["equipment_component.connection", "Stutzen", "piping_component.foo", ""] {
        assert_eq!(judged(class, "physically_has_a"), json!(["unknown", ["unknown_class"], []]), "{class}");
    }
    let gap = json!(["unknown", [], ["unconnected_nozzle"]]);
    assert_eq!(judged("equipment_component.flanged_connection", "physically_has_a"), gap);
    for class in ["impeller", "manhole", "pump_casing", "tube_bundle", "chamber", "instrument.gauge"] {
        assert_eq!(
            judged(&format!("equipment_component.{class}"), "physically_has_a"),
            json!(["yes", [], []]),
            "{class}"
        );
    }
    // A note or a group may be tied by an edge for members.
    assert_eq!(judged("foo", "has_a"), json!(["yes", [], []]));
}

#[test]
fn a_part_that_the_file_lacks_is_a_gap_but_a_group_is_none() {
    let judged = |ends: [&str; 2], kind: &str| {
        let graph = vessel(vec![], vec![edge(ends[0], ends[1], kind)]);
        answer(&graph, r#"isolate("V-1") | [.isolated, .data_gaps | map([.kind, .at.id])]"#)
    };
    let gap = json!(["unknown", [["dangling_edge", "V-1"]]]);
    for (ends, kind) in
        [(["V-1", "gone"], "has_a"), (["gone", "V-1"], "part_of"), (["V-1", "gone"], "physically_has_a")]
    {
        assert_eq!(judged(ends, kind), gap, "{kind}");
    }
    for (ends, kind) in [(["gone", "V-1"], "has_a"), (["V-1", "gone"], "part_of"), (["HV-1", "gone"], "has_a")] {
        assert_eq!(judged(ends, kind), json!(["yes", []]), "{kind}");
    }
}

#[test]
fn a_nozzle_of_a_vessel_of_a_package_or_of_its_own_section_has_one_owner() {
    let judged = |class: &str, edges: &[Value]| {
        let graph = vessel(vec![node("Q-1", class)], [edges, &[edge("Q-1", "V-1-N1", "has_a")]].concat());
        answer(&graph, r#"isolate("V-1") | [.isolated, .uncertain | map(.reason)]"#)
    };
    assert_eq!(judged("equipment.vessel", &[]), json!(["unknown", ["several_owners"]]));
    assert_eq!(judged("equipment.package_unit", &[]), json!(["yes", []]));
    let section = [edge("V-1", "Q-1", "physically_has_a")];
    assert_eq!(judged("equipment.column_section", &section), json!(["yes", []]));
}

#[test]
fn a_third_connection_of_a_barrier_may_be_on_the_side_of_the_volume() {
    let judged = |edges: Vec<Value>| {
        let graph = vessel(vec![node("O9", "off_page_connector"), node("PI-1", "instrument.gauge")], edges);
        answer(&graph, r#"isolate("V-1") | [.isolated, .uncertain | map([.reason, .at.id])]"#)
    };
    let unknown = json!(["unknown", [["unknown_connection", "HV-1"]]]);
    for kind in ["tubing", "hose_line", "piping_connection"] {
        assert_eq!(judged(vec![edge("HV-1", "O9", kind)]), unknown, "{kind}");
        assert_eq!(judged(vec![edge("O9", "HV-1", kind)]), unknown, "{kind}");
    }
    assert_eq!(judged(vec![edge("HV-1", "PI-1", "shown_by")]), json!(["yes", []]));
}

#[test]
fn a_valve_whose_pipes_are_at_one_of_its_two_ports_may_be_beside_the_line() {
    let judged = |ports: usize, ends: [u32; 2]| {
        let mut valve = node("HV-9", "gate_valve");
        valve["ports"] = (1..=ports).map(|index| json!({"index": index, "type": "process"})).collect();
        let [mut before, mut behind] = [pipe("V-1-N2", "HV-9"), pipe("HV-9", "O9")];
        before["to_port"] = json!(ends[0]);
        behind["from_port"] = json!(ends[1]);
        let nodes = vec![node("V-1-N2", "equipment_component.nozzle"), valve, node("O9", "off_page_connector")];
        let graph = vessel(nodes, vec![edge("V-1", "V-1-N2", "physically_has_a"), before, behind]);
        answer(&graph, r#"isolate("V-1") | [.isolated, .uncertain | map([.reason, .at.id])]"#)
    };
    assert_eq!(judged(2, [1, 2]), json!(["yes", []]));
    assert_eq!(judged(2, [1, 1]), json!(["unknown", [["shared_port", "HV-9"]]]));
    // Some exports list one port for both pipes.
    assert_eq!(judged(1, [1, 1]), json!(["yes", []]));
}

#[test]
fn equipment_of_the_instrument_air_is_equipment() {
    for class in
        ["instrument_air_receiver", "equipment.instrument_air_receiver", "instrument air dryer", "instrument_gas_drum"]
    {
        let graph = vessel(vec![node("Q-1", class)], vec![pipe("V-1", "Q-1")]);
        assert_eq!(answer(&graph, r#"isolate("V-1").unresolved | map(.kind)"#), json!(["equipment"]), "{class}");
    }
}

#[test]
fn a_fitting_of_an_instrument_that_is_not_drawn_is_open() {
    let judged = |class: &str, nodes: Vec<Value>, edges: Vec<Value>| {
        let nodes = [vec![node("Q-1", class)], nodes].concat();
        answer(&vessel(nodes, [vec![pipe("V-1", "Q-1")], edges].concat()), r#"isolate("V-1").unresolved | map(.kind)"#)
    };
    for class in ["instrument_manifold", "instrument_hose", "instrument_tubing", "instrument_valve"] {
        assert_eq!(judged(class, vec![], vec![]), json!(["free_port"]), "{class}");
        let gauge = || node("PI-1", "instrument.gauge");
        assert_eq!(judged(class, vec![gauge()], vec![edge("Q-1", "PI-1", "measures")]), json!([]), "{class}");
    }
    assert_eq!(judged("instrument.pressure_gauge", vec![], vec![]), json!([]));
}

#[test]
fn a_test_volume_leaks_at_the_boot_of_its_vessel_and_at_an_open_blind_flange() {
    for (tie, graph) in boots() {
        assert_eq!(answer(&graph, r#"boundary("V-1", ["HV-1"]).leaks | map(.id)"#), json!(["O9"]), "{tie}");
        let stops = answer(&graph, r#"boundary("V-1", ["HV-1", "FV-9"]) | [.unused, .leaks] | map(map(.id))"#);
        assert_eq!(stops, json!([[], []]), "{tie}");
    }
    for (position, leaks) in [("open", json!(["B-9"])), ("closed", json!([]))] {
        let mut flange = node("B-9", "blind_flange");
        flange["position"] = json!(position);
        let graph = vessel(vec![flange], vec![pipe("V-1", "B-9")]);
        assert_eq!(answer(&graph, r#"boundary("V-1", ["HV-1"]).leaks | map(.id)"#), leaks, "{position}");
    }
}

#[test]
fn a_boot_is_in_the_section_of_its_vessel() {
    for (tie, graph) in boots() {
        let sections = answer(&graph, r#"inventorySections() | map(.items | map(.id))"#);
        let sections = sections.as_array().expect("an array");
        let has = |section: &Value, id: &str| section.as_array().expect("items").contains(&json!(id));
        let is_chamber = answer(&graph, r#"node("B-1").node_classification"#) == "equipment_component.chamber";
        let is_joined = sections.iter().any(|section| has(section, "V-1-N1") && has(section, "B-1-N9"));
        assert_ne!(is_joined, is_chamber, "{tie}: {sections:?}");
    }
}

#[test]
fn walks_from_a_vessel_and_to_it_use_the_nozzles_of_its_boot() {
    for (tie, graph) in boots() {
        assert_eq!(
            answer(&graph, r#"downstream("V-1") | map(.id) | sort()"#),
            json!(["FV-9", "HV-1", "O1", "O9"]),
            "{tie}"
        );
        let traced = answer(&graph, r#"trace("V-1", {until: .id == "FV-9"}) | map(.node.id) | sort()"#);
        assert_eq!(traced, json!(["B-1-N9", "FV-9", "HV-1", "O1", "V-1-N1"]), "{tie}");
        assert_eq!(answer(&graph, r#"reachable("V-1", "O9")"#), json!(true), "{tie}");
        assert_eq!(answer(&graph, r#"shortestPath("V-1", "O9").length"#), json!(2), "{tie}");
        assert_eq!(answer(&graph, r#"upstream("O9") | map(.id)"#), json!(["FV-9", "B-1-N9"]), "{tie}");
    }
    let driven = vessel(
        vec![
            node("M-1", "equipment.steam_turbine"),
            node("M-1-N1", "equipment_component.nozzle"),
            node("O9", "open_end"),
        ],
        vec![edge("V-1", "M-1", "has_a"), edge("M-1", "M-1-N1", "physically_has_a"), pipe("M-1-N1", "O9")],
    );
    assert_eq!(answer(&driven, r#"downstream("V-1") | map(.id)"#), json!(["HV-1", "O1"]));
}

#[test]
fn a_hand_valve_of_a_loop_that_controls_or_trips_is_its_final_element() {
    let isolated = r#"isolate("V-1") | [.isolated, .conditional | map(.node.id)]"#;
    let graph = |instrument: &str, kind: &str| {
        let mut loop_node = node("F-1", "instrumentation_loop.loop");
        loop_node["node_type"] = json!("instrumentation_loop");
        let mut member = node(instrument, "instrument.process_instrument");
        let mut edges = vec![edge("F-1", "HV-1", kind)];
        match kind {
            "has_a" => edges.push(edge("F-1", instrument, kind)),
            _ => {
                edges = vec![edge("HV-1", "F-1", kind)];
                member["parent_id"] = json!("F-1");
            }
        }
        vessel(vec![loop_node, member], edges)
    };
    for kind in ["has_a", "belongs_to"] {
        for (instrument, expected) in [
            ("FIC-1", json!(["no", ["HV-1"]])),
            ("PSHH-1", json!(["no", ["HV-1"]])),
            // Its root valve.
            ("PI-1", json!(["yes", []])),
        ] {
            assert_eq!(answer(&graph(instrument, kind), isolated), expected, "{instrument} {kind}");
        }
    }
}

#[test]
fn an_edge_whose_class_names_a_pipe_may_be_one() {
    let graph = |class: &str| {
        let mut connection = edge("V-1-N1", "V-2-N1", "associated_with");
        connection["edge_classification"] = json!(class);
        let nodes = vec![node("V-2", "equipment.vessel"), node("V-2-N1", "equipment_component.nozzle")];
        vessel(nodes, vec![edge("V-2", "V-2-N1", "physically_has_a"), connection])
    };
    let uncertain = r#"isolate("V-1") | [.isolated, .uncertain | map([.reason, .at.id])]"#;
    let pipe = graph("piping.piping_network_segment");
    assert_eq!(answer(&pipe, uncertain), json!(["unknown", [["unknown_connection", "V-1-N1"]]]));
    assert_eq!(answer(&graph("association.is_located_in"), uncertain), json!(["yes", []]));
}

#[test]
fn an_edge_of_unknown_kind_connects_no_nozzle_for_certain() {
    let isolated = r#"isolate("V-1") | [.isolated, .data_gaps | map([.kind, .at.id])]"#;
    let graph = |more: Vec<Value>, class: &str, target: &str| {
        let nodes =
            vec![node("V-1-N2", "equipment_component.nozzle"), node("X", class), node("O2", "off_page_connector")];
        let edges = vec![edge("V-1", "V-1-N2", "physically_has_a"), edge("V-1-N2", target, "tubing")];
        vessel(nodes, [edges, more].concat())
    };
    let unconnected = json!(["unconnected_nozzle", "V-1-N2"]);
    let unknown = json!(["unknown_connection", "V-1-N2"]);
    let connected = json!(["unknown", [unknown]]);
    let on = || vec![edge("X", "O2", "tubing")];
    assert_eq!(answer(&graph(vec![], "piping_component.foo", "X"), isolated), connected);
    assert_eq!(answer(&graph(vec![], "note", "X"), isolated), json!(["unknown", [unconnected]]));
    assert_eq!(answer(&graph(on(), "foo", "X"), isolated), connected);
    assert_eq!(answer(&graph(on(), "instrument.sample_cooler", "X"), isolated), connected);
    assert_eq!(answer(&graph(vec![], "instrument.pressure_gauge", "X"), isolated), json!(["yes", []]));
}

#[test]
fn an_instrument_without_a_pipe_is_the_only_connection_of_a_nozzle_that_is_none() {
    let isolated = r#"isolate("V-1") | [.isolated, .data_gaps | map([.kind, .at.id])]"#;
    let graph = |class: &str, kind: &str, more: Vec<Value>| {
        let nodes = vec![node("V-1-N2", "equipment_component.nozzle"), node("X", class), node("OE", "open_end")];
        let edges = vec![edge("V-1", "V-1-N2", "physically_has_a"), edge("V-1-N2", "X", kind)];
        vessel(nodes, [edges, more].concat())
    };
    let unconnected = json!(["unknown", [["unconnected_nozzle", "V-1-N2"]]]);
    for class in ["annotation.label", "document"] {
        for kind in ["labeled", "associated_with", "is_located_in"] {
            assert_eq!(answer(&graph(class, kind, vec![]), isolated), unconnected, "{class} {kind}");
        }
    }
    let gauge = |more: Vec<Value>| graph("instrument.level_gauge", "associated_with", more);
    assert_eq!(answer(&gauge(vec![]), isolated), json!(["yes", []]));
    // A pipe leads on from it.
    assert_eq!(answer(&gauge(vec![pipe("X", "OE")]), isolated), unconnected);
}

#[test]
fn a_branch_goes_on_by_items_that_are_mounted_on_a_vessel() {
    let isolated = r#"isolate("V-1") | [.isolated, .barriers | map(.node.id), .unresolved | map(.at.id), .relief | map(.node.id)]"#;
    let graph = |class: &str, more: Vec<Value>| {
        let nodes = vec![node("X", class), node("OE", "open_end"), node("T-2", "equipment.tank")];
        vessel(nodes, [vec![edge("V-1", "X", "physically_has_a"), pipe("X", "OE")], more].concat())
    };
    assert_eq!(answer(&graph("safety_valve", vec![]), isolated), json!(["no", ["HV-1"], ["OE"], ["X"]]));
    assert_eq!(answer(&graph("gate_valve", vec![]), isolated), json!(["yes", ["HV-1", "X"], [], []]));
    for class in ["control_valve", "pipe_tee", "instrument.level_gauge"] {
        assert_eq!(answer(&graph(class, vec![]), isolated), json!(["no", ["HV-1"], ["OE"], []]), "{class}");
    }
    // A valve with pipes on both sides is in a line.
    let in_line = graph("gate_valve", vec![pipe("T-2", "X")]);
    assert_eq!(answer(&in_line, isolated), json!(["yes", ["HV-1"], [], []]));
}

#[test]
fn a_package_that_is_drawn_by_its_parts_needs_no_pipe_of_its_own() {
    let isolated = r#"isolate("PK-1") | [.isolated, .barriers | map(.node.id)]"#;
    for class in ["equipment.package_unit", "equipment.skid"] {
        let graph = vessel(vec![node("PK-1", class)], vec![edge("PK-1", "V-1", "physically_has_a")]);
        assert_eq!(answer(&graph, isolated), json!(["yes", ["HV-1"]]), "{class}");
    }
}

#[test]
fn an_isolation_needs_an_item() {
    let graph = vessel(vec![], vec![]);
    for query in ["isolate([])", "isolationPlan([])", r#"nodes() | filter(.id == "V-9") | isolate()"#] {
        let error = evaluate(&graph, query, "{}").expect_err(query);
        assert!(error.contains("PQ3003"), "{query}: {error}");
    }
}

#[test]
fn fittings_that_never_close_are_passed() {
    let isolated = r#"isolate("D-1") | [.isolated, .barriers | map(.node.id), .uncertain | map(.reason)]"#;
    let plant = |class: &str| {
        Graph::from_json(drawing(&format!("D-1 → Q-1(node_classification=piping_component.{class}) → V-1 → T-1")))
            .expect("a drawing is JSON")
    };
    for class in ["rotameter", "annubar", "weldolet", "wye", "drip_leg", "header", "detonation_arrester"] {
        assert_eq!(answer(&plant(class), isolated), json!(["yes", ["V-1"], []]), "{class}");
    }
    assert_eq!(answer(&plant("gadget"), isolated), json!(["unknown", ["V-1"], ["unknown_class"]]));
}

#[test]
fn a_direction_in_no_list_is_unknown() {
    let relief = |field: &str, direction: Value| {
        let mut outlet = pipe("PSV-1", "OE");
        outlet["direction"] = json!(null);
        outlet[field] = direction;
        let nodes =
            vec![node("V-1-N2", "equipment_component.nozzle"), node("PSV-1", "safety_valve"), node("OE", "open_end")];
        let edges = vec![edge("V-1", "V-1-N2", "physically_has_a"), pipe("V-1-N2", "PSV-1"), outlet];
        answer(&vessel(nodes, edges), "reliefList().0.certain")
    };
    for unknown in ["backwards", "two-way", "<-", "reverse flow", "tbd", "N/A", "in"] {
        assert_eq!(relief("direction", json!(unknown)), json!(false), "{unknown}");
        assert_eq!(relief("flow_direction", json!(unknown)), json!(false), "{unknown}");
    }
    assert_eq!(relief("direction", json!(-1)), json!(false));
    for forward in [json!("forward"), json!("Downstream"), json!("->"), json!(""), json!(null), json!(1)] {
        assert_eq!(relief("direction", forward.clone()), json!(true), "{forward}");
    }
    // Not a direction.
    assert_eq!(relief("flow", json!("steam")), json!(true));
}

#[test]
fn a_bleed_behind_an_item_of_unknown_class_proves_no_barrier() {
    let graph = |class: &str| {
        let nodes = vec![
            node("V-1-N2", "equipment_component.nozzle"),
            node("V-1-N3", "equipment_component.nozzle"),
            node("Q-1", class),
            node("HV-2", "gate_valve"),
            node("O2", "off_page_connector"),
            node("HV-B", "gate_valve"),
            node("OE-1", "open_end"),
        ];
        let edges = vec![
            edge("V-1", "V-1-N2", "physically_has_a"),
            edge("V-1", "V-1-N3", "physically_has_a"),
            pipe("V-1-N2", "Q-1"),
            pipe("Q-1", "HV-2"),
            pipe("HV-2", "O2"),
            pipe("V-1-N3", "HV-B"),
            pipe("HV-B", "OE-1"),
        ];
        vessel(nodes, edges)
    };
    let bleeds = r#"isolationPlan("V-1").barriers | map([.node.id, .bleed.id])"#;
    assert_eq!(answer(&graph("foo"), bleeds), json!([["HV-1", "HV-B"], ["HV-2", null]]));
    assert_eq!(answer(&graph("steam_trap"), bleeds), json!([["HV-1", "HV-B"], ["HV-2", null]]));
    assert_eq!(answer(&graph("reducer"), bleeds), json!([["HV-1", "HV-B"], ["HV-2", "HV-B"]]));
}

#[test]
fn an_edge_of_unknown_kind_to_what_the_file_lacks_may_be_a_pipe() {
    let judged = |edges: Vec<Value>| {
        let nodes = vec![node("RE-1", "reducer"), node("HV-2", "gate_valve"), node("O2", "off_page_connector")];
        let line = vec![pipe("V-1-N1", "RE-1"), pipe("RE-1", "HV-2"), pipe("HV-2", "O2")];
        let query = r#"[(isolate("V-1") | [.isolated, (.data_gaps | map([.kind, .at.id]))]),
            (inventorySections() | map(.uncertain | filter(.reason == "open_end") | map(.at.id)) | flatten())]"#;
        answer(&vessel(nodes, [line, edges].concat()), query)
    };
    for at in ["V-1-N1", "RE-1"] {
        let expected = json!([["unknown", [["dangling_edge", at]]], [at]]);
        assert_eq!(judged(vec![edge(at, "V-9-N1", "tubing")]), expected, "{at}");
        assert_eq!(judged(vec![edge("V-9-N1", at, "tubing")]), expected, "{at}");
    }
    // Equipment may refer to anything.
    assert_eq!(judged(vec![edge("V-1", "DOC-1", "described_by")]), json!([["yes", []], []]));
    assert_eq!(judged(vec![edge("PI-1", "V-1-N1", "measures")]), json!([["yes", []], []]));
}

#[test]
fn what_belongs_to_a_hand_valve_may_be_an_actuator_or_a_third_pipe() {
    let judged = |nodes: Vec<Value>, edges: Vec<Value>| {
        answer(&vessel(nodes, edges), r#"isolate("V-1") | [.isolated, .uncertain | map([.reason, .at.id])]"#)
    };
    let part = |class: &str| judged(vec![node("Q-1", class)], vec![edge("HV-1", "Q-1", "physically_has_a")]);
    for class in ["piping_component.foo", "drive_unit"] {
        assert_eq!(part(class), json!(["unknown", [["unknown_part", "HV-1"]]]), "{class}");
    }
    for class in ["handwheel", "equipment_component.nameplate", "instrument.limit_switch"] {
        assert_eq!(part(class), json!(["yes", []]), "{class}");
    }
    let drain = |edges: &[Value]| {
        let nodes = vec![node("D-1", "equipment_component.nozzle"), node("O9", "open_end")];
        judged(nodes, [&[edge("HV-1", "D-1", "physically_has_a")], edges].concat())
    };
    assert_eq!(drain(&[pipe("D-1", "O9")]), json!(["unknown", [["several_pipes", "HV-1"]]]));
    assert_eq!(drain(&[]), json!(["yes", []]));
}

#[test]
fn a_label_at_a_nozzle_is_no_connection() {
    let judged = |class: &str, kind: &str| {
        let nodes = vec![node("V-1-N2", "equipment_component.nozzle"), node("Q-1", class)];
        let edges = vec![edge("V-1", "V-1-N2", "physically_has_a"), edge("Q-1", "V-1-N2", kind)];
        answer(&vessel(nodes, edges), r#"isolate("V-1") | [.isolated, .data_gaps | map([.kind, .at.id])]"#)
    };
    let unconnected = json!(["unknown", [["unconnected_nozzle", "V-1-N2"]]]);
    for class in ["annotation.label", "document.drawing", "off_page_connector", "gate_valve", "equipment.vessel", "foo"]
    {
        for kind in ["labeled", "associated_with"] {
            assert_eq!(judged(class, kind), unconnected, "{class} {kind}");
        }
    }
    assert_eq!(judged("instrument.level_gauge", "associated_with"), json!(["yes", []]));
}

#[test]
fn parts_of_the_standard_classes_have_no_connection() {
    let judged = |class: &str| {
        let part = node("Q-1", &format!("equipment_component.{class}"));
        answer(&vessel(vec![part], vec![edge("V-1", "Q-1", "physically_has_a")]), r#"isolate("V-1").isolated"#)
    };
    for class in
        ["column_trays_arrangement", "motor_as_component", "gear_box", "mount", "sieve_element", "access_nozzle"]
    {
        assert_eq!(judged(class), json!("yes"), "{class}");
    }
    for class in ["equipment_vent", "instrument_nozzle", "process_nozzle", "coupling"] {
        assert_eq!(judged(class), json!("unknown"), "{class}");
    }
}

#[test]
fn an_actuator_with_the_tag_of_a_hand_valve_moves_it() {
    let judged = |tag: &str, class: &str| {
        let mut drive = node("A-1", class);
        drive["tag"] = json!(tag);
        answer(&vessel(vec![drive], vec![]), r#"isolate("V-1") | [.isolated, .conditional | map(.node.id)]"#)
    };
    assert_eq!(judged("HV-1", "instrument.actuating_system"), json!(["no", ["HV-1"]]));
    assert_eq!(judged("HV-2", "instrument.actuating_system"), json!(["yes", []]));
    assert_eq!(judged("HV-1", "instrument.limit_switch"), json!(["yes", []]));
}

#[test]
fn an_item_that_had_the_id_of_another_one_in_the_imported_file_makes_an_isolation_uncertain() {
    let query = r#"isolate("V-1") | [.isolated, .uncertain | map([.reason, .at.id])]"#;
    for (item, id, expected) in [
        ("V-1-N1", json!("N1"), json!(["unknown", [["shared_id", "V-1-N1"]]])),
        ("HV-1", json!(7), json!(["unknown", [["shared_id", "HV-1"]]])),
        ("HV-1", json!(null), json!(["yes", []])),
        ("O1", json!("N1"), json!(["yes", []])),
    ] {
        let mut document: Value =
            serde_json::from_str(&answer(&vessel(vec![], vec![]), "$root").to_string()).expect("JSON");
        for node in document["pid_graph"]["nodes"].as_array_mut().expect("nodes") {
            if node["id"] == item {
                node["shared_id"] = id.clone();
            }
        }
        let graph = Graph::from_json(document.to_string()).expect("a drawing is JSON");
        assert_eq!(answer(&graph, query), expected, "{item}");
    }
}

#[test]
fn a_class_of_a_valve_has_the_role_of_its_kind() {
    /// Classes, with whether such a valve isolates for certain (`yes`), only as a valve of unstated type (`unknown`), or not
    /// at all (`no`).
    const CLASSES: &[(&str, &str)] = &[
        ("master_valve", "yes"),
        ("LowerMasterValve", "yes"),
        ("manual_master_valve", "yes"),
        ("hydraulic_upper_master_valve", "no"),
        ("upper_master_valve", "unknown"),
        ("production_wing_valve", "unknown"),
        ("wing_valve", "yes"),
        ("kill_wing_valve", "yes"),
        ("SwabValve", "yes"),
        ("crown_valve", "yes"),
        ("annulus_master_valve", "yes"),
        ("balancing_valve", "yes"),
        ("automatic_balancing_valve", "no"),
        ("dynamic_balancing_valve", "no"),
        ("knife_valve", "yes"),
        ("bellow_seal_globe_valve", "yes"),
        ("drain_cock", "yes"),
        ("three_way_plug_cock", "no"),
        ("choke_valve", "no"),
        ("ChokeValve", "no"),
        ("adjustable_choke", "no"),
        ("fixed_choke_valve", "no"),
        ("float_valve", "no"),
        ("ball_float_valve", "no"),
        ("ballcock", "no"),
        ("float_gate_valve", "no"),
        ("throttle_valve", "no"),
        ("throttling_globe_valve", "no"),
        ("expansion_valve", "no"),
        ("reducing_valve", "no"),
        ("metering_valve", "no"),
        ("dump_valve", "no"),
        ("hipps_valve", "no"),
        ("sssv", "no"),
        ("reflux_valve", "no"),
        ("v_notch_ball_valve", "no"),
        ("Strangregulierventil", "unknown"),
        ("Abgleichventil", "unknown"),
        ("Eckventil", "unknown"),
        ("Schwimmerventil", "no"),
        ("Drosselventil", "no"),
        ("Druckminderer", "no"),
        ("Fußventil", "no"),
        ("vanne d'équilibrage", "no"),
        ("vanne_d_équilibrage", "unknown"),
        ("vanne maîtresse", "unknown"),
        ("vanne latérale", "unknown"),
        ("robinet à flotteur", "no"),
        ("duse", "no"),
        ("détendeur", "no"),
        ("vanne de laminage", "no"),
        ("Armatur", "unknown"),
        ("Vanne", "unknown"),
        ("clapet", "no"),
        ("válvula de bola", "unknown"),
        ("Valvula_de_compuerta", "unknown"),
        ("válvula de retención", "no"),
        ("válvula de control", "no"),
        ("válvula de seguridad", "no"),
        ("Kogelkraan", "unknown"),
        ("afsluiter", "unknown"),
        ("vlinderklep", "unknown"),
        ("terugslagklep", "no"),
        ("regelklep", "no"),
        ("veiligheidsklep", "no"),
    ];
    for (class, expected) in CLASSES {
        let nodes = [node("T-1", "equipment.tank"), node("V-1", class), node("T-2", "equipment.tank")];
        let edges = [pipe("T-1", "V-1"), pipe("V-1", "T-2")];
        let graph = Graph::from_json(json!({"nodes": nodes, "edges": edges}).to_string()).expect("a drawing is JSON");
        assert_eq!(answer(&graph, r#"isolate("T-1").isolated"#), json!(expected), "{class}");
    }
}

#[test]
fn a_master_valve_with_an_actuator_is_conditional() {
    let mut valve = node("MV-1", "master_valve");
    valve["actuator_type"] = json!("hydraulic");
    let nodes = [node("T-1", "equipment.tank"), valve, node("T-2", "equipment.tank")];
    let edges = [pipe("T-1", "MV-1"), pipe("MV-1", "T-2")];
    let graph = Graph::from_json(json!({"nodes": nodes, "edges": edges}).to_string()).expect("a drawing is JSON");
    let query = r#"isolate("T-1") | [.isolated, .conditional | map(.node.id)]"#;
    assert_eq!(answer(&graph, query), json!(["no", ["MV-1"]]));
}

#[test]
fn a_valve_that_leads_to_the_nozzle_of_another_vessel_is_no_bleed() {
    for (kind, is_reversed) in [
        ("has_a", false),
        ("contains", false),
        ("physically_has_a", false),
        ("part_of", true),
        ("member_of", true),
        ("belongs_to", true),
        ("label_of", true),
    ] {
        let ends = if is_reversed { ["N8", "V-2"] } else { ["V-2", "N8"] };
        let graph = vessel(
            vec![
                node("V-2", "equipment.vessel"),
                node("N8", "equipment_component.nozzle"),
                node("HV-2", "gate_valve"),
                node("N2", "equipment_component.nozzle"),
            ],
            vec![
                edge("V-1", "N2", "physically_has_a"),
                edge(ends[0], ends[1], kind),
                pipe("N2", "HV-2"),
                pipe("HV-2", "N8"),
            ],
        );
        let methods = r#"isolate("V-1").barriers | filter(.node.id == "HV-2") | map(.method)"#;
        assert_eq!(answer(&graph, methods), json!(["single"]), "{kind}");
        let opened = r#"isolationPlan("V-1").steps | filter(.action == "open_bleed") | map(.node.id)"#;
        assert_eq!(answer(&graph, opened), json!([]), "{kind}");
        assert_eq!(answer(&graph, r#"[bleeds("V-1"), deadEnds()]"#), json!([[], []]), "{kind}");
    }
}

#[test]
fn valves_for_bulk_solids_and_vessel_bottoms_close_or_are_unknown() {
    let judged = |class: &str| {
        let text = drawing(&format!("X-1 → V-1 → D-1 → Y-1(node_classification=piping_component.{class}) → D-2"));
        let graph = Graph::from_json(text).expect("a drawing is JSON");
        let rows = ".barriers | map(.node.id), .conditional | map([.node.id, .action])";
        answer(&graph, &format!(r#"isolate("D-1") | [.isolated, {rows}]"#))
    };
    for class in [
        "slide_gate_valve",
        "knife_gate_valve",
        "flush_bottom_valve",
        "tank_bottom_valve",
        "bottom_outlet_valve",
        "needle_valve",
        "pinch_valve",
    ] {
        assert_eq!(judged(class), json!(["yes", ["V-1", "Y-1"], []]), "{class}");
    }
    for class in ["diverter_valve", "diverter", "flow_diverter", "flap_diverter"] {
        assert_eq!(judged(class), json!(["no", ["V-1"], [["Y-1", "set"]]]), "{class}");
    }
    for class in ["double_dump_valve", "Drosselklappe"] {
        assert_eq!(judged(class), json!(["no", ["V-1"], [["Y-1", "close"]]]), "{class}");
    }
    for class in [
        "slide_gate",
        "knife_gate",
        "double_flap_valve",
        "double_flap",
        "rotary_valve",
        "star_valve",
        "rotary_airlock",
        "rotary_feeder",
        "iris_valve",
        "iris_diaphragm_valve",
        "guillotine_damper",
        "mixproof_valve",
        "Zellenradschleuse",
        "Doppelpendelklappe",
        "Rohrweiche",
    ] {
        assert_eq!(judged(class), json!(["no", ["V-1"], []]), "{class}");
        let text = drawing(&format!("X-1 → V-1 → D-1 → Y-1(node_classification=piping_component.{class}) → V-2 → D-2"));
        let graph = Graph::from_json(text).expect("a drawing is JSON");
        assert_eq!(
            answer(&graph, r#"isolate("D-1") | [.isolated, .uncertain | map(.reason)]"#),
            json!(["unknown", ["unknown_class"]]),
            "{class}"
        );
    }
}
