//! Tests of P&ID analyses on small drawings. Isolation comes first, because its errors are the most dangerous.

use pidq::{DiffOptions, Graph, JoinBy, Limits, Query, diff, join_sheets};

use crate::drawing_notation::drawing;
use crate::graph::{check_document, check_graph};

/// Checks the barriers of an isolation, its open branches as `kind:id`, and if it is complete.
fn check_isolation(plant: &str, item: &str, expected: &str) {
    let shown = "[.barriers | map(.node.id), .unresolved | map(.kind + \":\" + .at.id), .complete]";
    check_graph(plant, &format!("isolate({item}) | {shown}"), expected);
}

#[test]
fn an_item_between_two_valves_is_isolated_by_them() {
    check_isolation("T-1 → V-1 → P-1 → V-2 → T-2", r#""P-1""#, r#"[["V-1","V-2"],[],true]"#);
    check_isolation("T-1 → V-1 → S-1 → P-1 → R-1 → V-2 → T-2", r#""P-1""#, r#"[["V-1","V-2"],[],true]"#);
    check_isolation("T-1 → V-1 → P-1 → B-1", r#""P-1""#, r#"[["V-1","B-1"],[],true]"#);
}

#[test]
fn pressure_ignores_arrows_and_check_valves() {
    check_isolation("T-1 ← V-1 ← P-1 ← V-2 ← T-2", r#""P-1""#, r#"[["V-1","V-2"],[],true]"#);
    check_isolation("T-1 → CK-1 → P-1 → CK-2 → V-2 → T-2", r#""P-1""#, r#"[["V-2"],["equipment:T-1"],false]"#);
    // A check valve that opens towards the pump does not keep the pressure of the tank out.
    let accepted = r#""P-1", {acceptOneWay: true}"#;
    check_isolation("T-1 → CK-1 → P-1 → V-2 → T-2", accepted, r#"[["V-2"],["equipment:T-1"],false]"#);
    check_isolation("T-1 → V-1 → P-1 → CK-2 → T-2", accepted, r#"[["V-1","CK-2"],[],true]"#);
}

#[test]
fn a_branch_without_a_barrier_is_reported() {
    check_isolation("T-1 → P-1 → V-2 → T-2", r#""P-1""#, r#"[["V-2"],["equipment:T-1"],false]"#);
    check_isolation("X-1 → P-1 → V-2 → T-2", r#""P-1""#, r#"[["V-2"],["off_page_connector:X-1"],false]"#);
    check_isolation("O-1 → P-1 → V-2 → T-2", r#""P-1""#, r#"[["V-2"],["open_end:O-1"],false]"#);
    check_isolation("T-1 → V-1 → J-1 → P-1; J-1 → T-2", r#""P-1""#, r#"[["V-1"],["equipment:T-2"],false]"#);
}

#[test]
fn relief_and_control_valves_are_passed_and_reported() {
    let relief = "T-1 → V-1 → D-1 → V-2 → T-2; D-1 → RV-1 → X-1";
    check_isolation(relief, r#""D-1""#, r#"[["V-1","V-2"],["off_page_connector:X-1"],false]"#);
    check_graph(relief, r#"isolate("D-1").relief | map([.node.id, .path | map(.id)])"#, r#"[["RV-1",["D-1","RV-1"]]]"#);
    check_isolation(relief, r#""D-1", {acceptRelief: true}"#, r#"[["V-1","V-2","RV-1"],[],true]"#);
    let control = "T-1 → V-1 → P-1 → CV-1(fail=closed) → T-2";
    check_isolation(control, r#""P-1""#, r#"[["V-1"],["equipment:T-2"],false]"#);
    check_graph(control, r#"isolate("P-1").conditional | map([.node.id, .action])"#, r#"[["CV-1","close"]]"#);
    check_graph(
        control,
        r#"isolate("P-1", {acceptConditional: true}).barriers | map([.node.id, .kind, .fail_action])"#,
        r#"[["V-1","barrier",null],["CV-1","conditional","closed"]]"#,
    );
    check_isolation("T-1 → V-1(actuated=true) → P-1 → V-2 → T-2", r#""P-1""#, r#"[["V-2"],["equipment:T-1"],false]"#);
}

#[test]
fn missing_data_makes_an_isolation_incomplete() {
    check_isolation("T-1 → V-1 → D-1; D-1 → RV-1", r#""D-1""#, r#"[["V-1"],["free_port:RV-1"],false]"#);
    check_graph(
        "T-1 → V-1 → D-1; D-1 → RV-1",
        r#"isolate("D-1").data_gaps | map([.kind, .at.id])"#,
        r#"[["free_port","RV-1"]]"#,
    );
    check_isolation("T-1 → V-1 → D-1; P-1", r#""P-1""#, r#"[[],[],false]"#);
    check_graph("T-1 → V-1 → D-1; P-1", r#"isolate("P-1").data_gaps | map(.kind)"#, r#"["unconnected"]"#);
    check_isolation("T-1 → V-1 → D-1; D-1 → S-1", r#""D-1""#, r#"[["V-1"],["free_port:S-1"],false]"#);
    check_isolation("T-1 → V-1 → D-1; D-1 → C-1", r#""D-1""#, r#"[["V-1"],[],true]"#);
    check_graph("T-1 → V-1 → D-1; D-1 → C-1", r#"isolate("D-1").dead_ends | map(.id)"#, r#"["C-1"]"#);
    check_isolation("T-1 → V-1 → D-1.N1; D-1.N2", r#""D-1""#, r#"[["V-1"],[],false]"#);
    check_isolation("T-1 → V-1 → D-1.N1; I-1 ⇢ D-1.N2", r#""D-1""#, r#"[["V-1"],[],true]"#);
}

#[test]
fn barriers_have_their_paths_as_evidence() {
    let plant = "T-1 → V-1 → J-1 → D-1.N1; J-1 → D-1.N2; D-1.N3 → V-2(closed) → T-2";
    check_graph(
        plant,
        r#"isolate("D-1").barriers | map([.node.id, .port.id, .path | map(.id), .closed])"#,
        r#"[["V-2","D-1.N3",["D-1.N3","V-2"],true],["V-1","D-1.N1",["D-1.N1","J-1","V-1"],false]]"#,
    );
    let shared = "J-1 → D-1.N1; J-1 → D-1.N2; T-1 → J-1";
    check_graph(
        shared,
        r#"isolate("D-1", {barriers: .id == "J-1"}).barriers | map([.node.id, .ports | map(.id)])"#,
        r#"[["J-1",["D-1.N1","D-1.N2"]]]"#,
    );
}

#[test]
fn the_isolation_method_is_derived_from_the_drawing() {
    let method = |plant: &str, expected: &str| {
        check_graph(plant, r#"isolate("P-1").barriers | map([.node.id, .method])"#, expected)
    };
    method("P-1 → V-1 → T-1", r#"[["V-1","single"]]"#);
    method("P-1 → B-1 → T-1", r#"[["B-1","positive"]]"#);
    method("P-1 → V-1 → V-2 → T-1", r#"[["V-1","double_block"]]"#);
    method("P-1 → V-1 → J-1 → V-2 → T-1; J-1 → V-3 → O-1", r#"[["V-1","double_block_bleed"]]"#);
    // The valve of the line leads to a flare on another sheet, and would look like a bleed itself.
    let flare = "X-1(description=to LP flare)";
    method(&format!("P-1 → V-1 → J-1 → V-2 → {flare}; J-1 → V-3 → O-1"), r#"[["V-1","double_block_bleed"]]"#);
    method("P-1 → V-1 → J-1 → V-2 → O-2; J-1 → V-3 → O-1", r#"[["V-1","single"]]"#);
    // A bleed does not prove itself.
    method("P-1 → J-1 → V-1 → T-1; J-1 → V-3", r#"[["V-1","block_bleed"],["V-3","single"]]"#);
    check_graph("P-1 → J-1 → V-1 → T-1; J-1 → V-3 → O-1", r#"bleeds("P-1") | map(.id)"#, r#"["V-3"]"#);
}

#[test]
fn the_volume_includes_other_equipment_with_scope_grow() {
    let plant =
        "T-1 → V-1 → P-1 → E-1.N1@hot; E-1.N2@hot → V-2 → T-2; X-1 → V-3 → E-1.N3@cold; E-1.N4@cold → V-4 → X-2";
    check_isolation(plant, r#""P-1""#, r#"[["V-1"],["equipment:E-1"],false]"#);
    check_isolation(plant, r#""P-1", {pass: "zone"}"#, r#"[["V-1","V-2"],[],true]"#);
    check_isolation(plant, r#""P-1", {pass: "any"}"#, r#"[["V-1","V-2","V-3","V-4"],[],true]"#);
    check_isolation(plant, r#""P-1", {scope: "grow"}"#, r#"[["V-1","V-2","V-3","V-4"],[],true]"#);
    check_graph(plant, r#"isolate("P-1", {scope: "grow"}).swallowed | map(.id)"#, r#"["E-1"]"#);
    check_isolation(plant, r#"["P-1", "E-1"]"#, r#"[["V-1","V-2","V-3","V-4"],[],true]"#);
    check_isolation(plant, r#""P-1", {barriers: .id == "P-1" or .id == "E-1.N1"}"#, r#"[["V-1","E-1.N1"],[],true]"#);
}

#[test]
fn a_nozzle_alone_is_open_to_its_own_equipment() {
    let plant = "T-1 → V-1 → P-1.N1; P-1.N2 → V-2 → T-2";
    check_isolation(plant, r#""P-1.N1""#, r#"[["V-1"],["equipment:P-1"],false]"#);
    check_isolation(plant, r#""P-1.N1", {pass: "any"}"#, r#"[["V-1","V-2"],[],true]"#);
    check_isolation(plant, r#"["P-1.N1", "P-1"]"#, r#"[["V-1","V-2"],[],true]"#);
    check_isolation("P-1.N1; P-1.N2 → V-2 → T-2", r#""P-1.N1""#, r#"[[],["equipment:P-1"],false]"#);
}

#[test]
fn pipes_that_join_equipment_without_a_nozzle_belong_to_its_volume() {
    let by_nozzle = "P-1 → V-1 → T-1; P-1 → D-1.N1; D-1 → V-2 → T-2";
    check_isolation(by_nozzle, r#""P-1", {scope: "grow"}"#, r#"[["V-1","V-2"],[],true]"#);
    let by_pipe = "P-1 → V-1 → T-1; P-1 → D-1; D-1.N1 → V-2 → T-2; D-1.N2@hot → V-3 → T-2";
    check_isolation(by_pipe, r#""P-1", {scope: "grow"}"#, r#"[["V-1","V-2","V-3"],[],true]"#);
    check_isolation(by_pipe, r#""P-1", {pass: "zone"}"#, r#"[["V-1","V-2"],[],true]"#);
}

#[test]
fn an_unconnected_nozzle_of_included_equipment_is_a_gap() {
    let plant = "P-1 → V-1 → T-1; P-1 → D-1.N1; D-1.N2 → V-2 → T-2; D-1.N3";
    check_isolation(plant, r#""P-1", {scope: "grow"}"#, r#"[["V-1","V-2"],[],false]"#);
    check_graph(
        plant,
        r#"isolate("P-1", {scope: "grow"}).data_gaps | map([.kind, .at.id])"#,
        r#"[["unconnected_nozzle","D-1.N3"]]"#,
    );
}

#[test]
fn finding_the_isolation_method_costs_fuel() {
    let valves: String = (0..600).map(|at| format!("; J-1 → V-{at}")).collect();
    let graph = Graph::from_json(drawing(&format!("T-1 → J-1{valves}"))).expect("a drawing is JSON");
    let query = Query::parse(r#"isolate("T-1").complete"#).expect("the query compiles");
    let limits = Limits { fuel: 100_000, ..Limits::default() };
    let error = query.to_json(&graph, limits).expect_err("each valve is compared with all others");
    assert_eq!(error.code(), pidq::error::Code::OutOfFuel);
}

#[test]
fn a_long_branch_ends_at_the_limit() {
    check_isolation("P-1 → S-1 → V-1 → T-1", r#""P-1", {depth: 4294967296}"#, r#"[["V-1"],[],true]"#);
    check_isolation("P-1 → S-1 → S-2 → V-1 → T-1", r#""P-1", {depth: 2}"#, r#"[[],["limit:S-2"],false]"#);
    check_isolation("P-1 → S-1 → S-2 → S-1; S-2 → V-1 → T-1", r#""P-1""#, r#"[["V-1"],[],true]"#);
}

#[test]
fn dead_ends_are_classified_by_their_items_and_labels() {
    let plant = "T-1 → J-1 → T-2; J-1 → V-1 → O-1; T-2 → J-2 → T-3; J-2 → V-2 → B-1; J-1 → S-1; J-2 → V-3(label=drain)";
    check_graph(
        plant,
        "deadEnds() | map([.at.id, .end.id, .class])",
        r#"[["J-1","O-1","drain_or_vent"],["J-2","B-1","plugged"],["J-1","S-1","open"],["J-2","V-3","drain"]]"#,
    );
    check_graph(plant, "drains() | map(.end.id)", r#"["O-1","V-3"]"#);
    check_graph(plant, "vents() | map(.end.id)", r#"["O-1"]"#);
    let labels = "T-1 → J-1 → T-2; J-1 → V-1(label=venturi) → O-1; T-2 → J-2 → T-3; J-2 → V-2(label=High_vent)";
    check_graph(labels, "deadEnds() | map([.end.id, .class])", r#"[["O-1","drain_or_vent"],["V-2","vent"]]"#);
    check_graph("S-1 → S-2", "deadEnds() | map([.at, .items | map(.id)])", r#"[[null,["S-2","S-1"]]]"#);
}

#[test]
fn a_bypass_is_a_second_path_around_an_item() {
    let plant = "T-1 → J-1 → V-1 → CV-1 → V-2 → J-2 → T-2; J-1 → V-3 → J-2";
    check_graph(
        plant,
        r#"bypasses("CV-1") | map([.from.id, .to.id, .valves | map(.id)])"#,
        r#"[["J-1","J-2",["V-3"]]]"#,
    );
    check_graph(
        &format!("{plant}; J-1 → V-4 → J-2"),
        r#"bypasses("CV-1") | map(.valves | map(.id))"#,
        r#"[["V-3"],["V-4"]]"#,
    );
    check_graph(&format!("{plant}; J-1 → J-2; J-1 → J-2"), r#"bypasses("CV-1") | map(.edges | size())"#, "[1,1,2]");
    let twice = "T-1 → J-1 → CV-1 → J-2 → T-2; J-1 → CV-1; J-1 → V-3 → J-2";
    check_graph(twice, r#"bypasses("CV-1") | map(.nodes | map(.id))"#, r#"[["J-1","V-3","J-2"]]"#);
    let drained = "T-1 → J-1 → V-1 → J-3 → CV-1 → V-2 → J-2 → T-2; J-1 → V-3 → J-2; J-3 → V-4 → B-1";
    check_graph(drained, r#"bypasses("CV-1") | map(.nodes | map(.id))"#, r#"[["J-1","V-3","J-2"]]"#);
    let open = "T-1 → J-1 → V-1 → CV-1 → V-2 → J-2 → O-1; J-1 → V-3 → J-2";
    check_graph(open, r#"bypasses("CV-1") | map(.nodes | map(.id))"#, r#"[["J-1","V-3","J-2"]]"#);
    check_graph("T-1 → V-1 → T-2", r#"bypasses("V-1")"#, "[]");
    check_graph("T-1 → V-1 → S-1 → V-1", r#"bypasses("V-1")"#, "[]");
    check_graph(
        "J-1 → V-1 → J-2; J-1 → V-2 → J-2",
        r#"bypasses("V-1") | map(.nodes | map(.id))"#,
        r#"[["J-1","V-2","J-2"]]"#,
    );
    check_graph(plant, "cutPoints() | map(.id)", r#"["J-1","J-2"]"#);
}

#[test]
fn a_boundary_reports_leaks_and_unused_items() {
    let plant = "X-1 → V-1 → T-1 → V-2 → T-2; T-1 → V-3 → X-2";
    check_graph(
        plant,
        r#"boundary("T-1", ["V-1", "V-2", "V-9"] | filter(. != "V-9")) | [.boundary | map(.id), .leaks | map(.id), .unused]"#,
        r#"[["V-1","V-2"],["X-2"],[]]"#,
    );
    check_graph(
        plant,
        r#"boundary("T-1", ["V-1", "V-2", "V-3", "T-2"]) | [.inside | map(.id), .unused | map(.id)]"#,
        r#"[["T-1"],["T-2"]]"#,
    );
}

#[test]
fn review_sections_end_at_equipment() {
    let plant = "T-1 → V-1 → P-1 → CK-1 → T-2; T-2 → RV-1 → X-1";
    check_graph(
        plant,
        "hazopNodes() | map([.from | map(.id), .to | map(.id), .safeguards | map([.item.id, .kind])])",
        r#"[[["T-1"],["P-1"],[]],[["P-1"],["T-2"],[["CK-1","check_valve"],["RV-1","relief"]]],[["T-2"],["X-1"],[["RV-1","relief"]]]]"#,
    );
    check_graph(plant, "hazopNodes({merge: true}) | map(.items | map(.id))", r#"[["V-1","P-1","CK-1"],["RV-1"]]"#);
    check_graph("T-1 → CV-1 → T-2", r#"hazopNodes({cut: "control"}) | size()"#, "2");
    check_graph("T-1 → CV-1 → T-2", r#"hazopNodes({cut: "color"})"#, "PQ1012");
}

#[test]
fn a_section_has_the_instruments_that_sense_in_it() {
    let instruments = |signal: &str, expected: &str| {
        let plant = format!("T-1 → S-1 → CV-1 → J-1 → T-2; J-1 → V-1; {signal}");
        check_graph(&plant, "hazopNodes() | map(.instruments | map(.id))", expected);
    };
    instruments("S-1 ⇢ I-1", r#"[["I-1"]]"#);
    instruments("I-1 ⇢ S-1", r#"[["I-1"]]"#);
    instruments("CV-1 ⇢ I-1", r#"[["I-1"]]"#);
    // A controller is connected to its valve, and its sensor is elsewhere.
    instruments("S-1 ⇢ I-1; I-1 ⇢ I-2; I-2 ⇢ CV-1", r#"[["I-1"]]"#);
    instruments("I-1 ⇢ V-1", "[[]]");
    instruments("J-1 → I-1", r#"[["I-1"]]"#);
    instruments("T-1 ⇢ I-1", "[[]]");
}

#[test]
fn an_instrument_that_is_located_in_a_run_belongs_to_the_section_of_its_pipes() {
    let plant = r#"{"nodes": [{"id": "S", "node_type": "segment", "line": "L-1", "design_pressure": 8}, {"id": "T", "class": "tank"},
        {"id": "V", "class": "gate_valve", "design_pressure": 10}, {"id": "U", "class": "tank"}, {"id": "I", "class": "instrument"}],
        "edges": [{"from": "T", "to": "V", "type": "pipe", "segment": "S"}, {"from": "V", "to": "U", "type": "pipe", "segment": "S"},
        {"from": "I", "to": "S", "type": "associated_with", "edge_classification": "association.is_located_in"}]}"#;
    let graph = Graph::from_json(plant).expect("JSON");
    let evaluate = |query: &str| Query::parse(query).and_then(|query| query.to_json(&graph, Limits::default()));
    let sections = evaluate("hazopNodes() | map([.instruments | map(.id), .design_limits])").expect("it runs");
    assert_eq!(sections, r#"[[["I"],{"design_pressure":8}]]"#);
    assert_eq!(evaluate("instrumentIndex() | map(.line)").expect("it runs"), r#"["L-1"]"#);
}

#[test]
fn open_loops_are_reported() {
    check_graph("I-1", "loops() | map([.loop, .closed])", r#"[["I-1",false]]"#);
    check_graph("T-1 → CV-1 → T-2", "loops()", "[]");
}

#[test]
fn a_control_valve_defaults_to_the_loop_of_its_tag() {
    let plant = r#"{"nodes": [{"id": "v", "class": "control_valve", "tag": "FV-1"}, {"id": "i", "class": "instrument", "tag": "FT-1"},
        {"id": "w", "class": "control_valve", "tag": "TV-2"}, {"id": "h", "class": "ball_valve", "tag": "FV-1A"}], "edges": []}"#;
    let query = "loops() | map([.loop, .members | map(.id), .final_elements | map(.id), .closed])";
    check_document(plant, query, r#"[["F-1",["v","i"],["v"],null]]"#);
}

#[test]
fn the_loop_of_a_valve_is_the_loop_that_controls_it() {
    let plant = r#"{"nodes": [{"id": "l", "node_type": "loop", "tag": "F-1"}, {"id": "c", "class": "instrument.function", "tag": "FIC-1"},
        {"id": "v", "class": "control_valve", "tag": "FV-1"}, {"id": "w", "class": "control_valve", "tag": "FV-2"}, {"id": "t", "class": "tank"}],
        "edges": [{"edge_type": "has_a", "from": "l", "to": "c"}, {"edge_type": "signal", "from": "c", "to": "v"},
        {"edge_type": "piping", "from": "t", "to": "v"}, {"edge_type": "piping", "from": "v", "to": "w"}]}"#;
    check_document(
        plant,
        r#"[loop("FV-1").loop, loop("FIC-1").loop, loop("FV-2"), loop("t")]"#,
        r#"["F-1","F-1",null,null]"#,
    );
}

#[test]
fn a_line_without_a_number_has_the_pipes_of_its_segments() {
    let plant = r#"{"nodes": [{"id": "L", "node_type": "line"}, {"id": "S", "node_type": "segment"}, {"id": "a"}, {"id": "b"}],
        "edges": [{"from": "L", "to": "S", "type": "has_a"}, {"from": "a", "to": "b", "type": "pipe", "segment": "S"}]}"#;
    let graph = Graph::from_json(plant).expect("JSON");
    let query = Query::parse("lineList() | map([.line, .from, .to])").expect("a query");
    assert_eq!(query.to_json(&graph, Limits::default()).expect("it runs"), r#"[[null,["a"],["b"]]]"#);
}

#[test]
fn an_instrument_at_a_pipe_senses_what_the_pipe_leads_to() {
    let plant = r#"{"nodes": [{"id": "L", "tag": "P-1", "node_type": "loop"}, {"id": "C", "tag": "PIC-1", "class": "instrument"},
        {"id": "B", "class": "ball_valve"}], "edges": [{"from": "L", "to": "C", "type": "has_a"}, {"from": "C", "to": "B", "type": "pipe"}]}"#;
    let graph = Graph::from_json(plant).expect("JSON");
    let query = Query::parse("loops() | map([.sensors | map(.id), .sensing_points | map(.id)])").expect("a query");
    assert_eq!(query.to_json(&graph, Limits::default()).expect("it runs"), r#"[[["C"],["B"]]]"#);
}

#[test]
fn an_instrument_with_a_signal_from_the_process_senses() {
    let loop_of = |signal: &str| {
        let plant = format!(
            r#"{{"nodes": [{{"id": "L", "tag": "L-1", "node_type": "loop"}}, {{"id": "C", "tag": "LIC-1", "class": "instrument"}},
            {{"id": "T", "class": "tank"}}, {{"id": "V", "class": "gate_valve"}}], "edges": [{{"from": "L", "to": "C", "type": "has_a"}},
            {{"from": "T", "to": "V", "type": "pipe"}}, {{{signal}, "type": "signal"}}, {{"from": "C", "to": "V", "type": "signal"}}]}}"#
        );
        let graph = Graph::from_json(plant).expect("JSON");
        let query = Query::parse("loops() | map([.sensors | map(.id), .sensing_points | map(.id), .closed])");
        query.expect("a query").to_json(&graph, Limits::default()).expect("it runs")
    };
    assert_eq!(loop_of(r#""from": "T", "to": "C""#), r#"[[["C"],["T"],true]]"#);
    assert_eq!(loop_of(r#""from": "V", "to": "C""#), r#"[[[],[],false]]"#);
}

#[test]
fn a_nozzle_in_a_line_is_not_a_port() {
    let plant = r#"{"nodes": [{"id": "S", "node_type": "segment"}, {"id": "T", "class": "tank"},
        {"id": "N", "class": "nozzle", "parent_id": "S"}, {"id": "U", "class": "tank"},
        {"id": "M", "class": "nozzle", "parent_id": "U", "zone": "shell"}],
        "edges": [{"from": "T", "to": "N"}, {"from": "N", "to": "M"}]}"#;
    let graph = Graph::from_json(plant).expect("JSON");
    let evaluate = |query: &str| Query::parse(query).and_then(|query| query.to_json(&graph, Limits::default()));
    assert_eq!(evaluate(r#"downstream("T") | map(.id)"#).expect("it runs"), r#"["N","M"]"#);
    assert_eq!(evaluate("nozzleList() | map([.id, .chamber])").expect("it runs"), r#"[["N",null],["M","shell"]]"#);
}

#[test]
fn an_item_moved_by_an_actuator_is_a_final_element_whatever_its_class() {
    let plant = r#"{"nodes": [{"id": "L", "tag": "F-1", "node_type": "loop"}, {"id": "C", "tag": "FIC-1", "class": "instrument"},
        {"id": "V", "tag": "FV-1", "class": "three_way_valve"}, {"id": "T", "class": "tank"}],
        "edges": [{"from": "L", "to": "C", "type": "has_a"}, {"from": "T", "to": "V", "type": "pipe"},
        {"from": "C", "to": "V", "type": "associated_with", "edge_classification": "association.refers_to"}]}"#;
    let graph = Graph::from_json(plant).expect("JSON");
    let query = Query::parse("loops() | map(.final_elements | map(.id))").expect("a query");
    assert_eq!(query.to_json(&graph, Limits::default()).expect("it runs"), r#"[["V"]]"#);
}

#[test]
fn a_loop_is_not_an_instrument_whatever_its_class() {
    let plant = r#"{"nodes": [{"id": "L", "tag": "LIC-1", "node_type": "loop", "class": "instrument_loop"},
        {"id": "T", "tag": "LT", "class": "instrument"}], "edges": [{"from": "L", "to": "T", "type": "has_a"}]}"#;
    let evaluate = |query: &str| {
        let graph = Graph::from_json(plant).expect("JSON");
        Query::parse(query).and_then(|query| query.to_json(&graph, Limits::default())).expect("it runs")
    };
    assert_eq!(evaluate("instrumentIndex() | map([.id, .variable, .loop])"), r#"[["T","level","LIC-1"]]"#);
    assert_eq!(evaluate("loops() | map([.loop, .sensors | map(.id)])"), r#"[["LIC-1",["T"]]]"#);
}

#[test]
fn joined_sheets_keep_their_own_topology() {
    let sheet = |number: &str, title: &str, partner: &str, nodes: &str, ends: [&str; 2]| {
        let topology = r#"{"flow_kinds": ["Rohr"], "edge_kind": ["Art"], "endpoints": [["von", "nach"]],
            "cross_page": {"field": "Verweis", "drawing": "Blatt", "label": "Marke"}, "drawing_number": "Nummer"}"#;
        format!(
            r#"{{"pid_graph": {{"nodes": [{nodes}, {{"id": "X", "class": "off_page_connector",
            "Verweis": {{"Blatt": "{partner}", "Marke": "A-1"}}}}],
            "edges": [{{"id": "r", "Art": "Rohr", "von": "{}", "nach": "{}"}}],
            "metadata": {{"drawing_name": "{title}", "Nummer": "{number}", "topology": {topology}}}}}}}"#,
            ends[0], ends[1],
        )
    };
    let first = sheet("10-1", "Speisung, Blatt eins", "10-2", r#"{"id": "P", "class": "pump"}"#, ["P", "X"]);
    let second = sheet("10-2", "Lager", "10-1", r#"{"id": "T", "class": "tank"}"#, ["X", "T"]);
    let sheets = [first, second].map(|sheet| Graph::from_json(sheet).expect("JSON"));
    let joined = join_sheets(&[&sheets[0], &sheets[1]], JoinBy::Any, Limits::default()).expect("both are drawings");
    let joined = Graph::from_json(joined).expect("JSON");
    let evaluate = |query: &str| Query::parse(query).and_then(|query| query.to_json(&joined, Limits::default()));
    assert_eq!(evaluate(r#"downstream("10-1#P") | map(.id)"#).expect("it runs"), r#"["10-1#X","10-2#X","10-2#T"]"#);
    assert_eq!(
        evaluate(
            "graph().metadata | pick(.drawing_name, .job_id, .schema_version, .change_version, .other_topologies)"
        )
        .expect("it runs"),
        r#"{"drawing_name":"Speisung, Blatt eins + Lager","job_id":"10-1~10-2","schema_version":"1.0.0","change_version":"1","other_topologies":[]}"#
    );
    assert_eq!(evaluate("validate({rules: \"G05\"})").expect("it runs"), "[]");
}

#[test]
fn a_blind_ends_a_line_whatever_its_number_of_ports() {
    let plant = |class: &str| {
        format!(
            r#"{{"nodes": [{{"id": "T", "class": "tank"}}, {{"id": "B", "class": "{class}", "ports": [{{}}, {{}}]}}],
            "edges": [{{"from": "T", "to": "B"}}]}}"#
        )
    };
    let codes = |class: &str| {
        let graph = Graph::from_json(plant(class)).expect("JSON");
        let query = Query::parse(r#"validate({rules: "P101"}) | map(.ids)"#).expect("the query compiles");
        query.to_json(&graph, Limits::default()).expect("findings")
    };
    assert_eq!(codes("blind_flange"), "[]");
    assert_eq!(codes("gate_valve"), r#"[["B"]]"#);
}

#[test]
fn ports_without_a_process_connection_are_not_open() {
    let query = "[openEnds() | map(.item.id), isolate(\"T\").data_gaps | map(.at.id)]";
    let plant = |nodes: &str, pipes: &str| {
        format!(r#"{{"nodes": [{{"id": "T", "class": "tank"}}, {nodes}], "edges": [{pipes}]}}"#)
    };
    let nozzle = r#"{"id": "N", "class": "nozzle", "parent_id": "T", "ports": [{}, {}]}"#;
    check_document(
        &plant(&format!(r#"{nozzle}, {{"id": "V", "class": "blind_flange"}}"#), r#"{"from": "N", "to": "V"}"#),
        query,
        "[[],[]]",
    );
    let bubble = |ports: &str| format!(r#"{nozzle}, {{"id": "I", "class": "instrument", "ports": [{ports}]}}"#);
    let pipe = r#"{"from": "N", "to": "I"}"#;
    check_document(&plant(&bubble("{}, {}, {}, {}"), pipe), query, "[[],[]]");
    let meter = r#"{"type": "process"}, {"type": "process"}, {"type": "signal"}"#;
    check_document(&plant(&bubble(meter), pipe), query, r#"[["I"],["I"]]"#);
}

#[test]
fn a_valve_to_an_instrument_is_not_open() {
    let open = "openEnds() | map(.item.id)";
    check_graph("T-1 → V-1; T-1 → V-2 ⇢ I-1; T-1 → CV-1; I-1 ⇢ CV-1", open, r#"["V-1","CV-1"]"#);
}

#[test]
fn a_control_valve_is_not_an_instrument_connection() {
    let classes = "deadEnds() | map([.end.id, .class])";
    check_graph("T-1 → CV-1 → O-1; I-1 ⇢ CV-1", classes, r#"[["O-1","open"]]"#);
    check_graph("T-1 → V-1 → B-1 ⇢ I-1", classes, r#"[["B-1","instrument_connection"]]"#);
}

#[test]
fn flow_into_and_out_of_one_nozzle_is_not_a_recycle() {
    let query = "recycles() | map([.equipment | map(.id), .items | map(.id) | sort()])";
    check_graph("S-1 → P-1.N1 → S-2; P-1.N2", query, "[]");
    check_graph("S-1 → P-1.N1 → S-2 → S-1; P-1.N2", query, r#"[[["P-1"],["P-1.N1","S-1","S-2"]]]"#);
}

#[test]
fn a_tee_may_have_a_smaller_branch_that_is_drawn() {
    let plant = |class: &str, branch: &str| {
        format!(
            r#"{{"nodes": [{{"id": "a"}}, {{"id": "b"}}, {{"id": "J", "class": "{class}",
            "ports": [{{"nominal_diameter": 50}}, {{"nominal_diameter": {branch}}}]}}],
            "edges": [{{"from": "a", "to": "J", "nominal_diameter": 50}}, {{"from": "J", "to": "b", "nominal_diameter": 25}}]}}"#
        )
    };
    let sizes = r#"validate({rules: "P104"}) | map(.ids)"#;
    check_document(&plant("pipe_tee", "25"), sizes, "[]");
    check_document(&plant("pipe_tee", "50"), sizes, r#"[["J"]]"#);
    check_document(&plant("pipe_tee", r#""50.000""#), sizes, r#"[["J"]]"#);
    check_document(&plant("ball_valve", "25"), sizes, r#"[["J"]]"#);
    check_document(&plant("concentric_diameter_change", "50"), sizes, "[]");
}

#[test]
fn a_smaller_branch_of_a_header_needs_no_reducer() {
    let plant = |class: &str, sizes: [u32; 3]| {
        let [inlet, outlet, branch] = sizes;
        format!(
            r#"{{"nodes": [{{"id": "a"}}, {{"id": "b"}}, {{"id": "c"}}, {{"id": "J", "class": "{class}"}}],
            "edges": [{{"from": "a", "to": "J", "nominal_diameter": {inlet}}},
            {{"from": "J", "to": "b", "nominal_diameter": {outlet}}}, {{"from": "J", "to": "c", "nominal_diameter": "{branch}"}}]}}"#
        )
    };
    let sizes = r#"validate({rules: "P104"}) | map(.ids)"#;
    for class in ["pipe_tee", "branch", "weldolet", "desuperheater"] {
        check_document(&plant(class, [150, 150, 25]), sizes, "[]");
        check_document(&plant(class, [150, 150, 200]), sizes, r#"[["J"]]"#);
        check_document(&plant(class, [150, 80, 25]), sizes, r#"[["J"]]"#);
    }
    check_document(&plant("three_way_valve", [150, 150, 25]), sizes, r#"[["J"]]"#);
}

#[test]
fn what_has_signals_or_a_shaft_instead_of_pipes_is_connected() {
    let nodes =
        r#"{"id": "I-1", "class": "instrument"}, {"id": "P-1", "class": "pump"}, {"id": "T-1", "class": "tank"}"#;
    let plant = |class: &str, edge: &str| {
        format!(
            r#"{{"nodes": [{nodes}, {{"id": "X", "class": "{class}"}}], "edges": [{{"from": "P-1", "to": "T-1"}}, {edge}]}}"#
        )
    };
    let found = r#"validate({rules: "P102"}) | map(.ids)"#;
    let signal = r#"{"from": "I-1", "to": "X", "edge_type": "signal"}"#;
    let drives = r#"{"from": "X", "to": "P-1", "edge_classification": "association.drives", "edge_type": "drives"}"#;
    for (class, edge) in [
        ("solenoid_valve", signal),
        ("instrument.solenoid_valve", signal),
        ("equipment.electric_motor", drives),
        ("equipment.steam_turbine", drives),
        ("off_page_connector", signal),
    ] {
        check_document(&plant(class, edge), found, "[]");
    }
    let member = r#"{"from": "P-1", "to": "X", "edge_type": "has_a"}"#;
    for (class, edge) in [("ball_valve", signal), ("solenoid_valve", member), ("off_page_connector", member)] {
        check_document(&plant(class, edge), found, r#"[["X"]]"#);
    }
}

#[test]
fn sizes_are_compared_as_numbers() {
    let plant = |size: &str| {
        format!(
            r#"{{"nodes": [{{"id": "a"}}, {{"id": "V", "class": "ball_valve"}}, {{"id": "b"}}],
            "edges": [{{"from": "a", "to": "V", "size": 50}}, {{"from": "V", "to": "b", "size": {size}}}]}}"#
        )
    };
    let rows = r#"[breaks("size") | map(.values), hazopNodes({cut: ["size"]}) | size()]"#;
    check_document(&plant(r#""50.000""#), rows, "[[],1]");
    let line = plant(r#""50.000""#).replace(r#""size""#, r#""line": "L", "size""#);
    check_document(&line, "lineList() | map(.nominal_diameter)", r#"["50"]"#);
    let mixed = line.replace("50.000", "9").replace(r#""line": "L", "size": 50"#, r#""line": "L", "size": 10"#);
    let mixed =
        mixed.replace(r#"{"from": "a""#, r#"{"from": "a", "to": "b", "line": "L", "size": "1a"}, {"from": "a""#);
    check_document(&mixed, "lineList() | map(.nominal_diameter)", r#"["9, 10, 1a"]"#);
    check_document(&plant(r#""80""#), rows, r#"[[[50,"80"]],2]"#);
    check_document(&plant(r#""NPS 2""#), rows, r#"[[[50,"NPS 2"]],2]"#);
}

#[test]
fn a_line_has_its_number_even_if_pipes_name_its_id() {
    let plant = |line: &str| {
        format!(
            r#"{{"nodes": [{{"id": "n7", "node_type": "line", "tag": "50-W-1"}}, {{"id": "T", "class": "tank"}},
            {{"id": "V", "class": "ball_valve", "tag": "HV-1"}}], "edges": [{{"from": "T", "to": "V", "line_id": "{line}"}}]}}"#
        )
    };
    for line in ["n7", "50-W-1"] {
        let query = "[valveList() | map(.line), hazopNodes() | map(.lines), lineList() | map(.line)]";
        check_document(&plant(line), query, r#"[["50-W-1"],[["50-W-1"]],["50-W-1"]]"#);
        for reference in [r#""50-W-1""#, r#""n7""#, r#"node("n7")"#] {
            check_document(&plant(line), &format!("run({reference}) | map(.id)"), r#"["T","V"]"#);
        }
    }
}

#[test]
fn tags_that_are_unique_within_their_run_are_not_repeated() {
    let valves = |first: &str, second: &str| {
        format!(
            r#"{{"nodes": [{{"id": 1, "class": "ball_valve", "tag": "C4", "qualified_tag": "{first}"}},
            {{"id": 2, "class": "ball_valve", "tag": "C4", "qualified_tag": "{second}"}}], "edges": []}}"#
        )
    };
    let repeated = r#"validate({rules: "P109"}) | map(.ids)"#;
    check_document(&valves("47126-C4", "47124-C4"), repeated, "[]");
    check_document(&valves("47126-C4", "47126-C4"), repeated, "[[1,2]]");
    check_document(&valves("", ""), repeated, "[[1,2]]");
}

#[test]
fn containment_cycles_through_parent_fields_are_found() {
    let query = r#"validate({rules: "G030"}) | map(.ids)"#;
    let plant = r#"{"nodes": [{"id": "a", "parent_id": "b"}, {"id": "b", "parent_id": "a"}, {"id": "c", "parent_id": "a"}], "edges": []}"#;
    check_document(plant, query, r#"[["a","b"]]"#);
    let edge = r#"{"nodes": [{"id": "a", "parent_id": "b"}, {"id": "b"}, {"id": "c"}],
        "edges": [{"edge_type": "has_a", "from": "a", "to": "b"}, {"edge_type": "has_a", "from": "c", "to": "a"}]}"#;
    check_document(edge, query, "[]");
}

#[test]
fn design_limits_are_compared_with_their_units() {
    let check = |first: &str, second: &str, expected: &str| {
        let plant = format!(
            r#"{{"nodes": [{{"id": "P", "class": "pump", {first}}}, {{"id": "V", "class": "ball_valve", {second}}}],
            "edges": [{{"from": "P", "to": "V"}}]}}"#
        );
        check_document(&plant, "hazopNodes() | map(.design_limits | .design_pressure)", &format!("[{expected}]"));
    };
    check(r#""design_pressure": 16"#, r#""design_pressure": 10"#, "10");
    check(r#""design_pressure": "16 barg""#, r#""design_pressure": "6 barg""#, r#"{"value":6,"unit":"barg"}"#);
    let with_unit =
        |value: &str, unit: &str| format!(r#""design_pressure": {value}, "design_pressure_unit": "{unit}""#);
    check(&with_unit("16", "bar"), &with_unit("10", "bar"), r#"{"value":10,"unit":"bar"}"#);
    check(r#""design_pressure": "20 mbarg""#, r#""design_pressure": "50 mbarg""#, r#"{"value":20,"unit":"mbarg"}"#);
    check(r#""design_pressure": 20, "mawp": 15"#, r#""design_pressure": 20"#, "15");
    check(r#""design_pressure": 20, "mawp": 25"#, r#""design_pressure": 30"#, "20");
    check(&with_unit("16", "bar"), &with_unit("1000", "kPa"), r#"{"value":1000,"unit":"kPa"}"#);
    check(&with_unit("1000", "kPa"), &with_unit("1", "bar"), r#"{"value":1,"unit":"bar"}"#);
    check(&with_unit("16", "bar"), &with_unit("100", "psi"), r#"{"value":100,"unit":"psi"}"#);
    // What cannot be compared is no limit.
    check(&with_unit("16", "barg"), &with_unit("17", "bara"), "null");
    check(r#""design_pressure": 16"#, r#""design_pressure": "6 barg""#, "null");
    check(r#""design_pressure": 16"#, r#""design_pressure": "see data sheet""#, "null");
    let lower = r#"{"nodes": [{"id": "P", "class": "pump", "min_design_temperature": "-20 °C"},
        {"id": "V", "class": "ball_valve", "min_design_temperature": "32 °F", "design_pressure_class": "PN16"}],
        "edges": [{"from": "P", "to": "V"}]}"#;
    check_document(
        lower,
        "hazopNodes() | map(.design_limits)",
        r#"[{"min_design_temperature":{"value":32,"unit":"°F"}}]"#,
    );
}

#[test]
fn design_limits_of_pipes_and_of_all_names_count() {
    let check = |first: &str, pipe: &str, last: &str, expected: &str| {
        let plant = format!(
            r#"{{"nodes": [{{"id": "T-1", "class": "tank"{first}}}, {{"id": "T-2", "class": "tank"{last}}}],
            "edges": [{{"from": "T-1", "to": "T-2"{pipe}}}]}}"#
        );
        check_document(&plant, "hazopNodes() | map(.design_limits)", &format!("[{expected}]"));
    };
    let attributes = |name: &str, value: &str| format!(r#", "attributes": [{{"name": "{name}", "value": "{value}"}}]"#);
    let pressure = |value: &str| format!(r#", "design_pressure": "{value}""#);
    let of_pressure = r#"{"design_pressure":{"value":6,"unit":"barg"}}"#;
    check(&pressure("16 barg"), &pressure("6 barg"), &pressure("10 barg"), of_pressure);
    check("", &pressure("6 barg"), "", of_pressure);
    let by_attribute = attributes("DesignPressure", "6 barg");
    check(
        &pressure("16 barg"),
        &by_attribute,
        "",
        r#"{"design_pressure":{"value":6,"unit":"barg"},"DesignPressure":{"value":6,"unit":"barg"}}"#,
    );
    let temperature = |value: &str| format!(r#", "design_temperature": "{value}""#);
    check(&temperature("150 °C"), &temperature("80 °C"), "", r#"{"design_temperature":{"value":80,"unit":"°C"}}"#);
    // Several names of one quantity have one limit.
    for name in ["UpperLimitDesignPressure", "design_pressure_max", "mawp"] {
        let other = format!(r#", "{name}": 6"#);
        let expected = format!(r#"{{"{name}":6,"design_pressure":6}}"#);
        check(&other, "", r#", "design_pressure": 50"#, &expected);
    }
    let upper = attributes("UpperLimitDesignTemperature", "80 °C");
    let expected =
        r#"{"UpperLimitDesignTemperature":{"value":80,"unit":"°C"},"design_temperature":{"value":80,"unit":"°C"}}"#;
    check(&upper, "", &temperature("150 °C"), expected);
    // A lower limit is another one.
    check(r#", "min_design_pressure": -1"#, "", &pressure("6"), r#"{"min_design_pressure":-1,"design_pressure":6}"#);
    // A text with two values is no limit.
    for text in ["40 barg (shell) / 10 barg (tube)", "40 barg @ 20 °C / 10 barg @ 300 °C"] {
        check(&pressure(text), "", "", "{}");
        check(&pressure(text), "", &pressure("50 barg"), r#"{"design_pressure":null}"#);
    }
    check(&pressure("40 barg @ 20 °C"), "", "", r#"{"design_pressure":{"value":40,"unit":"barg"}}"#);
}

#[test]
fn the_head_of_a_pump_is_not_a_design_limit() {
    let pump = r#"{"nodes": [{"id": "P", "class": "pump", "attributes": [{"name": "DesignPressureHead", "value": "40"},
        {"name": "UpperLimitDesignPressure", "value": "16"}]}, {"id": "V", "class": "ball_valve"}], "edges": [{"from": "P", "to": "V"}]}"#;
    check_document(pump, "hazopNodes() | map(.design_limits)", r#"[{"UpperLimitDesignPressure":16}]"#);
}

#[test]
fn a_single_unknown_word_has_no_count() {
    let plant = r#"{"nodes": [{"id": 1, "class": "gadget"}, {"id": 2, "class": "widget"}, {"id": 3, "class": "widget"}],
        "edges": [{"from": 1, "to": 2}, {"from": 2, "to": 3}]}"#;
    let graph = Graph::from_json(plant).expect("JSON");
    let messages = Query::parse(r#"validate({rules: "G042"}) | map(.message)"#)
        .and_then(|query| query.to_json(&graph, Limits::default()));
    assert_eq!(
        messages.expect("findings"),
        r#"["the class `gadget` is unknown","the class `widget` is unknown (2 times)"]"#
    );
}

#[test]
fn classes_that_other_functions_know_are_not_unknown() {
    let classes = ["strainer", "restriction_orifice", "pipe_cap", "sight_glass", "reference.signal_end", "gadget"];
    let nodes: Vec<String> =
        classes.iter().enumerate().map(|(id, class)| format!(r#"{{"id": {id}, "class": "{class}"}}"#)).collect();
    let pipes: Vec<String> = (1..classes.len()).map(|id| format!(r#"{{"from": {}, "to": {id}}}"#, id - 1)).collect();
    let plant = format!(r#"{{"nodes": [{}], "edges": [{}]}}"#, nodes.join(","), pipes.join(","));
    check_document(&plant, r#"validate({rules: "G042"}) | map(.message)"#, r#"["the class `gadget` is unknown"]"#);
}

#[test]
fn a_drawing_in_which_no_item_has_a_known_class_is_a_finding() {
    let codes = |nodes: &str, edges: &str, expected: &str| {
        let plant = format!(r#"{{"nodes": [{nodes}], "edges": [{edges}]}}"#);
        check_document(&plant, r#"validate({rules: "G043"}) | map(.severity)"#, expected);
    };
    let pipe = r#"{"from": 1, "to": 2}"#;
    codes(r#"{"id": 1, "class": "gadget"}, {"id": 2}"#, pipe, r#"["warning"]"#);
    codes(r#"{"id": 1, "Component Class": "ball_valve"}, {"id": 2}"#, pipe, r#"["warning"]"#);
    codes(r#"{"id": 1, "class": "strainer"}, {"id": 2}"#, pipe, "[]");
    codes(r#"{"id": 1, "class": "gadget"}, {"id": 2, "class": "ball_valve"}"#, pipe, "[]");
    codes(r#"{"id": 1, "class": "process_step.pumping"}, {"id": 2}"#, pipe, "[]");
    codes(r#"{"id": 1}, {"id": 2}"#, "", "[]");
}

#[test]
fn findings_have_codes_and_evidence() {
    let findings = |plant: &str, rules: &str, expected: &str| {
        check_graph(plant, &format!("validate({{rules: {rules}}}) | map([.code, .ids, .evidence])"), expected);
    };
    findings("S-1 → S-1", r#""G022""#, r#"[["G022",["S-1"],["e1"]]]"#);
    findings("S-1 → S-2; S-1 → S-2", r#""G023""#, r#"[["G023",["S-1","S-2"],["e1","e2"]]]"#);
    findings("T-1 → O-1", r#""P101""#, r#"[["P101",["O-1"],["e1"]]]"#);
    findings(
        "T-1 → V-1; P-1; D-1.N1",
        r#"["P102", "P103"]"#,
        r#"[["P102",["P-1"],[]],["P102",["D-1"],[]],["P103",["D-1.N1"],[]]]"#,
    );
    findings("T-1 → J-1; T-2 → J-1; T-3 → J-1", r#""P106""#, r#"[["P106",["J-1"],["e1","e2","e3"]]]"#);
    findings("T-1 → X-1", r#""P107""#, r#"[["P107",["X-1"],[]]]"#);
    findings("T-1 → CV-1 → T-2; T-2 → CV-2(fail=open) → T-3", r#""P112""#, r#"[["P112",["CV-1"],[]]]"#);
    findings("D-1 → V-1 → RV-1 → O-1", r#""relief_path_blocked""#, r#"[["P113",["RV-1","V-1"],["e2"]]]"#);
    findings("T-1 → P-1 → V-1 → T-2; T-1 → P-2 → CK-1 → T-2", r#""P114""#, r#"[["P114",["P-1","T-2"],["e2","e3"]]]"#);
    findings("T-1 → J-1 → T-2; J-1 → S-1 → S-2", r#""P115""#, r#"[["P115",["S-1","S-2"],["e3","e4"]]]"#);
    check_graph("S-1 → S-2", r#"validate({rules: "Q"})"#, "PQ1012");
    check_graph("T-1 → P-1 → V-1 → T-2", r#"validate() | map(.code) | filter(regex(., "P114"))"#, "[]");
}

#[test]
fn undecidable_findings_are_not_certain() {
    let judged = |plant: &str, code: &str, expected: &str| {
        let query = format!("validate({{rules: \"{code}\"}}) | map([.ids, .evidence, .certain])");
        check_graph(plant, &query, expected);
    };
    judged("P-1 → V-1 → X-1", "P114", r#"[[["P-1","X-1"],["e1","e2"],false]]"#);
    judged("P-1 → J-1 → X-1; J-1 → T-1", "P114", r#"[[["P-1","T-1"],["e1","e3"],true]]"#);
    judged("P-1 → CK-1 → X-1", "P114", "[]");
    judged("P-1 → J-1 → CK-1 → T-1; J-1 → V-1", "P114", "[]");
    judged("P-1 → J-1 → CK-1 → T-1; J-1 → R-1", "P114", r#"[[["P-1","R-1"],["e1","e4"],false]]"#);
    judged("T-1 → RV-1 → X-1", "P113", r#"[[["RV-1","X-1"],["e2"],false]]"#);
    judged("T-1 → RV-1 → V-1 → X-1", "P113", r#"[[["RV-1","V-1"],["e2"],true]]"#);
    judged("T-1 → RV-1 → O-2", "P113", "[]");
    judged("T-1 → RV-1 → T-2", "P113", r#"[[["RV-1","T-2"],["e2"],false]]"#);
    judged("T-1 → RV-1 → X-1 → X-2 → V-1 → O-2", "P113", r#"[[["RV-1","V-1"],["e2","e3","e4"],true]]"#);
    judged("T-1 → J-1 → T-2; J-1 → R-1", "P115", r#"[[["R-1"],["e3"],false]]"#);
    judged("T-1 → J-1 → T-2; J-1 → V-1", "P115", r#"[[["V-1"],["e3"],true]]"#);
}

#[test]
fn tags_are_unique_within_a_category() {
    let repeated = |items: &str, expected: &str| {
        let nodes = items
            .split(' ')
            .enumerate()
            .map(|(id, class)| format!(r#"{{"id": {id}, "tag": "A", "class": "{class}"}}"#));
        let nodes: Vec<String> = nodes.collect();
        let plant =
            format!(r#"{{"nodes": [{}], "edges": [{{"from": 0, "to": 1, "type": "signal"}}]}}"#, nodes.join(", "));
        check_document(&plant, r#"validate({rules: "P109"}) | map(.ids)"#, expected);
    };
    repeated("tank ball_valve gate_valve", "[[1,2]]");
    repeated("tank gauge pump", "[[0,2]]");
    repeated("tank gauge transmitter", "[[1,2]]");
    repeated("tank pump check_valve check_valve safety_valve", "[[2,3,4]]");
    repeated("tank gauge piping_component.strainer piping_component.strainer", "[[2,3]]");
    // Nodes connected by anything but pipes are one item: an actuator and its function.
    repeated("transmitter controller", "[]");
    repeated("transmitter controller gauge", "[[0,1,2]]");
    repeated("nozzle nozzle", "[]");
    repeated("off_page_connector off_page_connector pipe_tee pipe_tee", "[]");
}

#[test]
fn piping_items_without_a_role_may_be_unconnected() {
    let plant = r#"{"nodes": [{"id": "s", "class": "piping_component.strainer"}, {"id": "o", "class": "piping_component.orifice_plate"},
        {"id": "b", "class": "piping_component.property_break"}, {"id": "c", "class": "equipment_component.chamber"},
        {"id": "e", "class": "reference.signal_end"}, {"id": "n", "class": "note"}, {"id": "f", "class": "piping_component.flange"},
        {"id": "t", "class": "tank"}], "edges": [{"from": "t", "to": "f"}]}"#;
    check_document(
        plant,
        r#"[unconnected() | map(.id), validate({rules: "P102"}) | map(.ids)]"#,
        r#"[["s","o"],[["s"],["o"]]]"#,
    );
}

#[test]
fn the_top_of_a_box_is_its_visual_top() {
    let plant = |axis: &str| {
        format!(
            r#"{{"nodes": [{{"id": 1, "x": 5, "y": 90}}, {{"id": 2, "x": 5, "y": 110}}, {{"id": 3, "bbox": [0, 81, 4, 8]}}],
            "edges": [], "metadata": {{"coordinate_system": {{"y_axis": "{axis}"}}}}}}"#
        )
    };
    let evaluate = |axis: &str, query: &str, expected: &str| {
        check_document(&plant(axis), &format!("{query} | map(.id)"), expected)
    };
    evaluate("down", "within([0, 100, 10, 20])", "[2]");
    evaluate("up", "within([0, 100, 10, 20])", "[1,3]");
    evaluate("down", "within([0, 80, 10, 20])", "[1,3]");
    for axis in ["up", "down"] {
        evaluate(axis, "at(2, 85)", "[3]");
        evaluate(axis, "at(2, 95)", "[]");
        evaluate(axis, "near(1, 6)", "[3]");
    }
}

#[test]
fn graph_info_shows_the_config_as_given() {
    let plant = r#"{"nodes": [{"id": 1, "class": "gadget"}], "edges": [], "metadata": {"topology":
        {"endpoints": [["a", "b"]], "roles": [{"role": "barrier", "match": "^gadget$"}]}}}"#;
    check_document(
        plant,
        "graphInfo().topology | [.endpoints, .roles.0, .roles | size() > 10]",
        r#"[[["a","b"]],{"role":"barrier","match":"^gadget$"},true]"#,
    );
    check_document(
        plant,
        r#"withTopology({roles: [{role: "relief", match: "gadget"}]}, graphInfo().topology.roles | limit(2) | map(.role))"#,
        r#"["relief","barrier"]"#,
    );
}

#[test]
fn a_break_is_legal_at_items_that_may_change_the_property() {
    let sized = r#"{"nodes":[{"id":"S","class":"strainer"},{"id":"R","class":"reducer"},{"id":"a"},{"id":"b"}],
        "edges":[{"from":"a","to":"S","size_dn":50},{"from":"S","to":"R","size_dn":80},{"from":"R","to":"b","size_dn":100}]}"#;
    let graph = Graph::from_json(sized).expect("JSON");
    let query = r#"breaks("nominal_diameter") | map([.item.id, .values, .legal])"#;
    let result = Query::parse(query).and_then(|query| query.to_json(&graph, Limits::default()));
    assert_eq!(result.ok().as_deref(), Some(r#"[["S",[50,80],false],["R",[80,100],true]]"#));
}

#[test]
fn a_diff_lists_each_kind_of_change() {
    let old = Graph::from_json(drawing("T-1 → V-1(closed) → P-1 → T-2; S-9 → T-1")).expect("JSON");
    let new = Graph::from_json(drawing("T-1 → V-1(open) → V-2 → P-1 → T-2")).expect("JSON");
    let changes: serde_json::Value =
        serde_json::from_str(&diff(&old, &new, &DiffOptions::default(), Limits::default()).expect("both are drawings"))
            .expect("JSON");
    let ids =
        |list: &str| changes[list].as_array().expect(list).iter().map(|row| row["id"].clone()).collect::<Vec<_>>();
    assert_eq!(ids("added"), ["V-2"]);
    assert_eq!(ids("removed"), ["S-9"]);
    assert_eq!(
        changes["changed"].to_string(),
        r#"[{"id":"V-1","tag":"V-1","field":"normally","before":"closed","after":"open"}]"#
    );
    assert_eq!(ids("rewired"), ["T-1", "V-1", "P-1"]);
    assert_eq!((ids("edges_added").len(), ids("edges_removed").len()), (2, 2));
    let same = diff(&old, &old, &DiffOptions::default(), Limits::default()).expect("a drawing");
    assert!(same.ends_with(r#""equal":true}"#), "{same}");
    check_graph("T-1 → V-1", r#"diff($root, $root).equal"#, "true");
}

/// Checks one list in the differences of two documents.
fn check_changes(old: &str, new: &str, list: &str, expected: &str) {
    let [old, new] = [old, new].map(|text| Graph::from_json(text).expect("JSON"));
    let changes = diff(&old, &new, &DiffOptions::default(), Limits::default()).expect("both are drawings");
    let changes: serde_json::Value = serde_json::from_str(&changes).expect("JSON");
    assert_eq!(changes[list].to_string(), expected, "`{list}` of {changes}");
    assert_eq!(changes["equal"], expected == "[]", "{changes}");
}

#[test]
fn a_changed_pipe_is_reported() {
    let plant = |pipe: &str| {
        format!(
            r#"{{"nodes": [{{"id": "a"}}, {{"id": "b"}}], "edges": [{{"id": "e", "from": "a", "to": "b"{pipe}}}]}}"#
        )
    };
    check_changes(
        &plant(r#", "nominal_diameter": 100, "line": "L-1""#),
        &plant(r#", "nominal_diameter": 80, "line": "L-1", "orig_from_x": 7"#),
        "edges_changed",
        r#"[{"id":"e","from":"a","to":"b","field":"nominal_diameter","before":100,"after":80}]"#,
    );
    check_changes(
        &plant(""),
        &plant(r#", "direction": "unknown""#),
        "edges_changed",
        r#"[{"id":"e","from":"a","to":"b","field":"direction","before":null,"after":"unknown"}]"#,
    );
    let turned =
        r#"{"nodes": [{"id": "a"}, {"id": "b"}], "edges": [{"from": "b", "to": "a", "direction": "backward"}]}"#;
    check_changes(&plant(""), turned, "edges_changed", "[]");
    let parallel = |first: &str, second: &str| {
        let edge = |id: &str| format!(r#"{{"id": "{id}", "from": "a", "to": "b", "line": "{id}"}}"#);
        format!(r#"{{"nodes": [{{"id": "a"}}, {{"id": "b"}}], "edges": [{}, {}]}}"#, edge(first), edge(second))
    };
    check_changes(&parallel("e", "f"), &parallel("f", "e"), "edges_changed", "[]");
}

#[test]
fn an_item_with_a_new_id_is_renamed() {
    let plant = |id: &str| {
        format!(
            r#"{{"nodes": [{{"id": "{id}", "tag": "P-1", "persistent_id": "x"}}, {{"id": "N", "parent_id": "{id}"}}],
            "edges": [{{"from": "{id}", "to": "N"}}]}}"#
        )
    };
    check_changes(&plant("1"), &plant("2"), "renamed", r#"[{"tag":"P-1","before":"1","after":"2"}]"#);
    for list in ["changed", "rewired", "edges_added", "edges_changed"] {
        let [old, new] = [plant("1"), plant("2")].map(|text| Graph::from_json(text).expect("JSON"));
        let changes = diff(&old, &new, &DiffOptions::default(), Limits::default()).expect("both are drawings");
        assert!(changes.contains(&format!("\"{list}\":[]")), "references to a renamed item are no changes: {changes}");
    }
}

#[test]
fn attributes_are_compared_by_name_language_place_and_unit() {
    let plant = |attributes: &str| format!(r#"{{"nodes": [{{"id": 1, "attributes": [{attributes}]}}], "edges": []}}"#);
    let twice = r#"{"name": "note", "value": 1}, {"name": "note", "value": 2}"#;
    check_changes(&plant(twice), &plant(twice), "changed", "[]");
    check_changes(
        &plant(r#"{"name": "p", "value": 16, "unit": "barg"}"#),
        &plant(r#"{"name": "p", "value": 16, "unit": "psi"}"#),
        "changed",
        r#"[{"id":1,"tag":null,"field":"attributes.p unit","before":"barg","after":"psi"}]"#,
    );
    let ports = |x: u8, size: u8| format!(r#"{{"nodes": [{{"id": 1, "ports": [{{"x": {x}, "dn": {size}}}]}}]}}"#);
    check_changes(&ports(1, 50), &ports(2, 50), "changed", "[]");
    check_changes(
        &ports(1, 50),
        &ports(1, 80),
        "changed",
        r#"[{"id":1,"tag":null,"field":"ports","before":[{"x":1,"dn":50}],"after":[{"x":1,"dn":80}]}]"#,
    );
}

#[test]
fn an_invalid_drawing_equals_itself() {
    let invalid = r#"{"nodes": [{"id": 1}, {"id": 1}, {}, {}, 7, {"id": 1, "tag": "a"}],
        "edges": [{"from": 1, "to": 9}, {"from": 1, "to": 1}, {}, 5]}"#;
    check_changes(invalid, invalid, "added", "[]");
}

#[test]
fn diff_and_join_respect_limits() {
    let graph = Graph::from_json(drawing("T-1 → V-1 → P-1 → V-2 → T-2")).expect("JSON");
    let code =
        |limits: Limits<'_>| diff(&graph, &graph, &DiffOptions::default(), limits).err().map(|error| error.code());
    assert_eq!(code(Limits { fuel: 10, ..Limits::default() }), Some(pidq::error::Code::OutOfFuel));
    let joined =
        |limits: Limits<'_>| join_sheets(&[&graph, &graph], JoinBy::Any, limits).err().map(|error| error.code());
    assert_eq!(joined(Limits { fuel: 10, ..Limits::default() }), Some(pidq::error::Code::OutOfFuel));
    assert_eq!(joined(Limits { output: 99, ..Limits::default() }), Some(pidq::error::Code::OutputTooLarge));
    let cancel = pidq::Cancel::default();
    cancel.time_out();
    let large = Graph::from_json(drawing(&(0..400).map(|at| format!("S-{at}; ")).collect::<String>())).expect("JSON");
    let timed_out =
        diff(&large, &large, &DiffOptions::default(), Limits { cancel: Some(&cancel), ..Limits::default() });
    assert_eq!(timed_out.err().map(|error| error.code()), Some(pidq::error::Code::OutOfTime));
}

#[test]
fn sheets_are_joined_at_connectors_that_refer_to_each_other() {
    let sheet = |name: &str, partner: &str, label: &str, pipe: &str| {
        format!(
            r#"{{"nodes":[{{"id":"x","class":"off_page","cross_page":{{"drawing_name":"{partner}","link_label":"{label}"}}}},
            {{"id":"t","tag":"T-{name}","class":"tank"}}],"edges":[{pipe}],"metadata":{{"drawing_name":"{name}"}}}}"#
        )
    };
    let one = Graph::from_json(sheet("1", "2", "80-ME-48121-S1A", r#"{"from":"t","to":"x"}"#)).expect("JSON");
    let two = Graph::from_json(sheet("2", "1", "80ME48121S1A", r#"{"from":"x","to":"t"}"#)).expect("JSON");
    let three = Graph::from_json(sheet("3", "1", "other", r#"{"from":"x","to":"t"}"#)).expect("JSON");
    let joined = join_sheets(&[&one, &two, &three], JoinBy::Any, Limits::default()).expect("drawings");
    let graph = Graph::from_json(joined).expect("JSON");
    let evaluate =
        |query: &str| Query::parse(query).and_then(|query| query.to_json(&graph, Limits::default())).expect(query);
    assert_eq!(evaluate(r#"downstream("T-1") | map(.id)"#), r##"["1#x","2#x","2#t"]"##);
    assert_eq!(
        evaluate(".pid_graph.metadata.joined | [.pairs | map([.from, .to]), .unmatched | map(.id)]"),
        r##"[[["1#x","2#x"]],["3#x"]]"##
    );
    let backward = Graph::from_json(sheet("2", "1", "80ME48121S1A", r#"{"from":"t","to":"x"}"#)).expect("JSON");
    let joined = join_sheets(&[&one, &backward], JoinBy::Any, Limits::default()).expect("drawings");
    assert!(joined.contains(r#""pairs":[]"#), "two outgoing connectors are not joined: {joined}");
    assert!(join_sheets(&[], JoinBy::Any, Limits::default()).is_err());
}

/// Runs a query on two joined sheets: a connector of the first with the fields `out`, one of the second with `into`.
fn query_joined_sheets(out: &str, into: &str, query: &str) -> String {
    let sheet = |name: &str, connector: &str, ends: [&str; 2]| {
        let [from, to] = ends;
        let json = format!(
            r#"{{"nodes": [{{"id": "x", "class": "off_page_connector", {connector}}}, {{"id": "V", "class": "ball_valve"}},
            {{"id": "L", "tag": "50-W-1", "node_type": "line"}}], "edges": [{{"id": 1, "from": "{from}", "to": "{to}", "line": "L"}}],
            "metadata": {{"drawing_name": "{name}"}}}}"#
        );
        Graph::from_json(json).expect("JSON")
    };
    let sheets = [sheet("joint", out, ["V", "x"]), sheet("B", into, ["x", "V"])];
    let joined = join_sheets(&[&sheets[0], &sheets[1]], JoinBy::Any, Limits::default()).expect("drawings");
    let joined = Graph::from_json(joined).expect("JSON");
    Query::parse(query).and_then(|query| query.to_json(&joined, Limits::default())).expect("it runs")
}

#[test]
fn connectors_that_lead_elsewhere_are_not_joined() {
    let query = "graph().metadata.joined | [.pairs | size(), .ambiguous | size(), .unmatched | size()]";
    let out = r#""persistent_id": "p1", "cross_page": {"linked_persistent_id": "p2"}"#;
    let link = |to: &str| format!(r#""persistent_id": "p2", "cross_page": {{"linked_persistent_id": "{to}"}}"#);
    assert_eq!(query_joined_sheets(out, &link("p1"), query), "[1,0,0]");
    assert_eq!(query_joined_sheets(out, &link("p9"), query), "[0,2,0]");
    assert_eq!(query_joined_sheets(out, r#""persistent_id": "p2""#, query), "[1,0,0]");
}

#[test]
fn items_without_an_id_get_none_in_joined_sheets() {
    let sheet = |name: &str, partner: &str, id: &str| {
        let json = format!(
            r#"{{"nodes": [{{"id": {id}, "class": "off_page_connector", "cross_page": {{"drawing_name": "{partner}", "link_label": "L"}}}}],
            "edges": [], "metadata": {{"drawing_name": "{name}"}}}}"#
        );
        Graph::from_json(json).expect("JSON")
    };
    for id in ["null", r#""""#] {
        let sheets = [sheet("A", "B", id), sheet("B", "A", r#""x""#)];
        let joined = join_sheets(&sheets.each_ref(), JoinBy::Any, Limits::default()).expect("drawings");
        let query = "[nodes() | map(.id), edges(), graph().metadata.joined.unmatched | map(.id)]";
        check_document(&joined, query, &format!(r##"[[{id},"B#x"],[],[null,"B#x"]]"##));
    }
}

#[test]
fn a_connector_that_is_linked_to_another_sheet_than_the_one_it_names_is_joined_to_neither() {
    let sheet = |name: &str, connector: &str, ends: [&str; 2]| {
        let [from, to] = ends;
        let json = format!(
            r#"{{"nodes": [{{"id": "x", "class": "off_page_connector", {connector}}}, {{"id": "V", "class": "ball_valve"}}],
            "edges": [{{"from": "{from}", "to": "{to}"}}], "metadata": {{"drawing_name": "{name}"}}}}"#
        );
        Graph::from_json(json).expect("JSON")
    };
    let sheets = [
        sheet("A", r#""cross_page": {"drawing_name": "B", "link_label": "L"}"#, ["V", "x"]),
        sheet(
            "B",
            r#""cross_page": {"drawing_name": "A", "link_label": "L", "linked_persistent_id": "c"}"#,
            ["x", "V"],
        ),
        sheet("C", r#""persistent_id": "c""#, ["V", "x"]),
    ];
    let joined = join_sheets(&sheets.each_ref(), JoinBy::Any, Limits::default()).expect("drawings");
    check_document(
        &joined,
        "graph().metadata.joined | [.pairs | map([.from, .to]), .ambiguous | map([.id, .candidates])]",
        r##"[[],[["A#x",["B#x"]],["B#x",["C#x"]],["C#x",["B#x"]]]]"##,
    );
}

/// Runs a query on two joined sheets whose pipes and connectors have the given fields; the connectors name each other.
fn query_joined_pipes(pipes: [&str; 2], connectors: [&str; 2], query: &str) -> String {
    let sheet = |at: usize| {
        let ends = [r#""from": "V", "to": "x""#, r#""from": "x", "to": "V""#][at];
        let (name, pipe, connector) = (["A", "B"][at], pipes[at], connectors[at]);
        let json = format!(
            r#"{{"nodes": [{{"id": "x", "class": "off_page_connector", {connector}}}, {{"id": "V", "class": "ball_valve"}}],
            "edges": [{{"id": 1, {ends} {pipe}}}], "metadata": {{"drawing_name": "{name}"}}}}"#
        );
        Graph::from_json(json).expect("JSON")
    };
    let joined = join_sheets(&[&sheet(0), &sheet(1)], JoinBy::Any, Limits::default()).expect("drawings");
    let joined = Graph::from_json(joined).expect("JSON");
    Query::parse(query).and_then(|query| query.to_json(&joined, Limits::default())).expect("it runs")
}

#[test]
fn joined_pipes_of_different_lines_classes_sizes_or_fluids_are_listed() {
    let connectors =
        ["B", "A"].map(|other| format!(r#""cross_page": {{"drawing_name": "{other}", "link_label": "L"}}"#));
    let connectors = connectors.each_ref().map(String::as_str);
    let report = "graph().metadata.joined | [.pairs | size(), .differences | map([.property, .from_value, .to_value])]";
    let check = |pipes: [&str; 2], expected: &str| assert_eq!(query_joined_pipes(pipes, connectors, report), expected);
    check(["", ""], "[1,[]]");
    check([r#", "line": "50-W-1""#, r#", "line": "50 w 1""#], "[1,[]]");
    check([r#", "line": "50-W-1""#, r#", "line": "50-W-2""#], r#"[1,[["line","50-W-1","50-W-2"]]]"#);
    // What one side does not say is no difference.
    check([r#", "line": "50-W-1""#, r#", "line": null"#], "[1,[]]");
    check([r#", "nominal_diameter": 50"#, r#", "nominal_diameter": "DN 50.0""#], "[1,[]]");
    let [from, to] = [
        r#", "nominal_diameter": 50, "piping_class": "B1", "fluid_code": "W""#,
        r#", "nominal_diameter": "80", "piping_class": "B2", "fluid_code": "ST""#,
    ];
    let all = r#"[1,[["piping_class","B1","B2"],["nominal_diameter","50","80"],["fluid_code","W","ST"]]]"#;
    check([from, to], all);
    // A connector without such pipes has its own fields.
    let own = [r#""line": "1", "#, r#""line": "2", "#];
    let fields: [String; 2] = [0, 1].map(|at| format!("{}{}", own[at], connectors[at]));
    let found = query_joined_pipes(["", ""], fields.each_ref().map(String::as_str), report);
    assert_eq!(found, r#"[1,[["line","1","2"]]]"#);
    let findings = r#"validate({rules: "P120"}) | map([.severity, .ids, .evidence, .message])"#;
    let found = query_joined_pipes([r#", "line": "50-W-1""#, r#", "line": "50-W-2""#], connectors, findings);
    let expected =
        r##"[["warning",["A#x","B#x"],["joint#1"],"A#x and B#x are joined, but line is 50-W-1 and 50-W-2"]]"##;
    assert_eq!(found, expected);
}

#[test]
fn a_connector_that_a_present_sheet_lacks_is_listed_with_the_reason() {
    let report = "graph().metadata.joined | [.unmatched | map(.id), .missing_partners | map([.id, .sheet, .reason])]";
    let link = |drawing: &str, label: &str| format!(r#""cross_page": {{"drawing_name": "{drawing}", {label}}}"#);
    let label = |text: &str| format!(r#""link_label": "{text}""#);
    let check = |from: String, to: &str, expected: &str| {
        assert_eq!(query_joined_pipes(["", ""], [&from, to], report), expected, "{from} {to}");
    };
    let other = link("Z", &label("M"));
    check(link("B", &label("L")), &other, r##"[["A#x","B#x"],[["A#x","B","no_connector"]]]"##);
    check(link("C", &label("L")), &other, r##"[["A#x","B#x"],[]]"##);
    check(link("B", r#""link_label": null"#), &other, r##"[["A#x","B#x"],[["A#x","B","no_label"]]]"##);
    check(link("B", &label("L")), &link("Z", &label("L")), r##"[["A#x","B#x"],[["A#x","B","no_reference_back"]]]"##);
    let findings = r#"validate({rules: "P121"}) | map([.ids, .message])"#;
    let found = query_joined_pipes(["", ""], [&link("B", &label("L")), &other], findings);
    assert_eq!(found, r##"[[["A#x"],"A#x names the sheet B, which lacks its partner"]]"##);
    let same_direction = query_joined_pipes(
        ["", r#", "direction": "backward""#],
        [&link("B", &label("L")), &link("A", &label("L"))],
        report,
    );
    let expected = r##"[["A#x","B#x"],[["A#x","B","same_direction"],["B#x","A","same_direction"]]]"##;
    assert_eq!(same_direction, expected);
}

#[test]
fn many_connectors_with_the_same_label_are_joined_in_linear_time() {
    const MANY: usize = 10_000;
    let sheet = |name: &str, partner: &str| {
        let connector = |at: usize| {
            format!(
                r#"{{"id": {at}, "class": "off_page_connector", "persistent_id": "p", "cross_page": {{"drawing_name": "{partner}", "link_label": "L"}}}}"#
            )
        };
        let nodes: Vec<String> = (0..MANY).map(connector).collect();
        let json =
            format!(r#"{{"nodes": [{}], "edges": [], "metadata": {{"drawing_name": "{name}"}}}}"#, nodes.join(","));
        Graph::from_json(json).expect("JSON")
    };
    let joined = join_sheets(&[&sheet("A", "B"), &sheet("B", "A")], JoinBy::Any, Limits::default()).expect("drawings");
    let query = "graph().metadata.joined | [.pairs | size(), .ambiguous | size(), .ambiguous.0.candidates | size()]";
    check_document(&joined, query, "[0,20000,100]");
}

#[test]
fn a_joint_of_pipes_of_unknown_direction_is_undirected() {
    let sheet = |name: &str, partner: &str| {
        let json = format!(
            r#"{{"nodes": [{{"id": "x", "class": "off_page_connector", "cross_page": {{"drawing_name": "{partner}", "link_label": "L"}}}},
            {{"id": "V", "class": "ball_valve"}}], "edges": [{{"from": "V", "to": "x", "direction": "unknown"}}],
            "metadata": {{"drawing_name": "{name}"}}}}"#
        );
        Graph::from_json(json).expect("JSON")
    };
    let joined = join_sheets(&[&sheet("A", "B"), &sheet("B", "A")], JoinBy::Any, Limits::default()).expect("drawings");
    let query = r##"["A#V","B#V"] | map(downstream(get()) | map(.id))"##;
    let found = r##"[["A#x","B#x","B#V"],["B#x","A#x","A#V"]]"##;
    check_document(&joined, query, found);
}

#[test]
fn a_line_on_two_sheets_is_one_line() {
    let out = r#""cross_page": {"drawing_name": "B", "link_label": "50-W-1"}"#;
    let into = r#""cross_page": {"drawing_name": "joint", "link_label": "50 W 1"}"#;
    let run = r##"["joint~1#V","joint~1#x","B#x","B#V"]"##;
    assert_eq!(query_joined_sheets(out, into, r#"run("50-W-1") | map(.id)"#), run);
    assert_eq!(query_joined_sheets(out, into, r##"run("B#L") | map(.id)"##), run);
    assert_eq!(query_joined_sheets(out, into, "valveList() | map(.line) | uniq()"), r#"["50-W-1"]"#);
    assert_eq!(query_joined_sheets(out, into, r#"validate({rules: "G01"})"#), "[]");
}

#[test]
fn a_line_number_is_not_an_item_id() {
    let out = r#""cross_page": {"drawing_name": "B", "link_label": "a"}, "line": "V", "parent_id": "V""#;
    let fields = r##"node("joint~1#x") | [.line, .parent_id]"##;
    assert_eq!(query_joined_sheets(out, r#""tag": "1""#, fields), r##"["V","joint~1#V"]"##);
}

#[test]
fn a_number_and_its_string_are_two_ids_in_a_joined_drawing() {
    let sheet = r#"{"nodes": [{"id": 1}, {"id": "1"}, {"id": "2"}, {"id": "\"1\""}],
        "edges": [{"id": 7, "from": 1, "to": "2"}, {"id": "7", "from": "1", "to": {"id": 1}}]}"#;
    let sheet = Graph::from_json(sheet).expect("JSON");
    let joined = join_sheets(&[&sheet], JoinBy::Any, Limits::default()).expect("a drawing");
    let graph = Graph::from_json(joined).expect("JSON");
    let evaluate =
        |query: &str| Query::parse(query).and_then(|query| query.to_json(&graph, Limits::default())).expect(query);
    let ids = r##"["sheet-1#1","sheet-1#\"1\"","sheet-1#2","sheet-1#\"\\\"1\\\"\""]"##;
    assert_eq!(evaluate("nodes() | map(.id)"), ids);
    let ends = r##"[["sheet-1#7","sheet-1#1","sheet-1#2"],["sheet-1#\"7\"","sheet-1#\"1\"","sheet-1#1"]]"##;
    assert_eq!(evaluate("edges() | map([.id, .from, .to])"), ends);
    assert_eq!(evaluate(r#"validate({rules: ["G01"], severity: "error"})"#), "[]");
}

#[test]
fn items_on_another_sheet_are_not_near() {
    let sheet = |name: &str, x: u32| {
        let node = |id: &str, x: u32| format!("{{id: \"{id}\", x: {x}, y: 0}}");
        format!("{{nodes: [{}, {}], metadata: {{drawing_number: \"{name}\"}}}}", node("a", x), node("b", x + 5))
    };
    let joined = format!("joinSheets([{}, {}])", sheet("S1", 0), sheet("S2", 1));
    let near = format!(r##"withGraph({joined}, near("S1#a", 100) | map(.id))"##);
    check_graph("S-1", &near, r##"["S1#b"]"##);
}

#[test]
fn items_are_found_by_their_boxes() {
    let placed = r#"{nodes: [{id: 1, bbox: [0, 0, 10, 10]}, {id: 2, orig_x: 20, orig_y: 5, orig_bbox_width: 4, orig_bbox_height: 2}, {id: 3}]}"#;
    let evaluate =
        |query: &str, expected: &str| check_graph("S-1", &format!("withGraph({placed}, {query} | map(.id))"), expected);
    evaluate("at(5, 5)", "[1]");
    evaluate("at(21, 5)", "[2]");
    evaluate("at(15, 5)", "[]");
    evaluate("within([0, 0, 30, 30])", "[1,2]");
    evaluate("within([0, 0, 9, 9])", "[]");
    evaluate("near(1, 16)", "[2]");
    evaluate("near(1, 14)", "[]");
}
