//! Reports of an isolation besides its barriers: relief devices, states of valves, uncertain connections, plans, and
//! the sections between emergency shutdown valves.

use pidq::Graph;
use serde_json::{Value, json};

use crate::drawing_notation::drawing;
use crate::graph::{check_document, check_graph, evaluate};

/// Joins the lines of a result that is too long for one.
fn one_line(text: &str) -> String {
    text.lines().map(str::trim).collect()
}

const RELIEF: &str =
    ".relief | map([.node.id, .path | map(.id), .valves | map(.id), .closed | map(.id), .cut_off_by | map(.id)])";

#[test]
fn relief_devices_are_listed_with_the_valves_that_would_block_them() {
    let check = |plant: &str, target: &str, expected: &str| {
        check_graph(plant, &format!("isolate({target}) | {RELIEF}"), expected);
    };
    let sealed = "T-1 → V-1 → D-1; D-1 → V-3(cso) → RV-1 → V-4(lo) → X-1";
    check(sealed, r#""D-1""#, r#"[["RV-1",["D-1","V-3","RV-1"],["V-3","V-4"],[],["V-3"]]]"#);
    check_graph(sealed, r#"isolate("D-1") | .kept_open"#, "[]");
    let spared = "D-1 → J-1 → V-3(lo) → RV-1 → J-2 → O-1; J-1 → V-4(lc) → RV-2 → J-2";
    let rows = r#"[["RV-1",["D-1","J-1","V-3","RV-1"],["V-3"],[],["V-3"]],["RV-2",["D-1","J-1","V-4","RV-2"],["V-4"],["V-4"],["V-4"]]]"#;
    check(spared, r#""D-1""#, rows);
    let in_series = "D-1 → V-3(cso) → RD-1 → RV-1 → X-1";
    let rows =
        r#"[["RD-1",["D-1","V-3","RD-1"],["V-3"],[],["V-3"]],["RV-1",["D-1","V-3","RD-1","RV-1"],["V-3"],[],["V-3"]]]"#;
    check(in_series, r#""D-1""#, rows);
    // A device inside that no valve cuts off, with a valve to set on its way.
    check(
        "D-1 → TW-1 → RV-1 → D-2; TW-1 → RV-2 → D-2",
        r#"["D-1", "D-2"]"#,
        r#"[["RV-1",["D-2","RV-1"],["TW-1"],[],[]],["RV-2",["D-2","RV-2"],["TW-1"],[],[]]]"#,
    );
    check("T-1 → V-1 → D-1", r#""D-1""#, "[]");
}

#[test]
fn a_barrier_names_the_relief_devices_that_it_cuts_off() {
    let cuts = ".barriers | map([.node.id, .cuts_off | map(.id)])";
    let check = |plant: &str, expected: &str| check_graph(plant, &format!(r#"isolate("D-1") | {cuts}"#), expected);
    // The device is behind the block valve of the line.
    check("D-1 → V-1 → J-1 → V-2 → T-2; J-1 → RV-1 → X-1", r#"[["V-1",["RV-1"]]]"#);
    // The valve in the discharge blocks both devices of the vessel; that of a common discharge is not closed.
    check("D-1 → RV-1 → J-1 → V-1 → X-1; D-1 → RV-2 → J-1", r#"[["V-1",["RV-1","RV-2"]]]"#);
    check("D-1 → RV-1 → J-1 → V-1 → X-1; D-2 → RV-2 → J-1", "[]");
    check("D-1 → V-1 → T-2 → RV-1 → X-1", r#"[["V-1",[]]]"#);
}

#[test]
fn a_barrier_beyond_the_locked_open_valve_is_preferred() {
    let plant = "T-1 → V-1 → V-2(lo) → P-1 → V-3 → T-2";
    check_graph(
        plant,
        r#"isolate("P-1") | [.barriers | map(.node.id), .kept_open | map(.id), .inside | map(.id)]"#,
        r#"[["V-3","V-1"],["V-2"],["P-1","V-2"]]"#,
    );
    // A condition of the query is a declaration.
    check_graph(
        plant,
        r#"isolate("P-1", {barriers: .id == "V-2"}) | [.barriers | map(.node.id), .kept_open | map(.id)]"#,
        r#"[["V-2","V-3"],[]]"#,
    );
}

#[test]
fn positions_and_locks_are_shown_from_fields_and_attributes() {
    let check = |valve: &str, expected: &str| {
        let plant = format!(
            r#"{{"nodes": [{{"id": "p", "class": "pump"}}, {{"id": "v", "class": "gate_valve", {valve}}}, {{"id": "t", "class": "tank"}}],
            "edges": [{{"from": "p", "to": "v"}}, {{"from": "v", "to": "t"}}]}}"#
        );
        check_document(&plant, r#"isolate("p").barriers | map([.closed, .position, .lock, .action])"#, expected);
    };
    check(r#""normal_position": "closed""#, r#"[[true,"closed",null,"check_closed"]]"#);
    check(
        r#""attributes": [{"name": "NormalPosition", "value": "Closed"}]"#,
        r#"[[true,"Closed",null,"check_closed"]]"#,
    );
    check(r#""attributes": {"Normal position": "open", "Lock": "LO"}"#, r#"[[false,"open","LO","close"]]"#);
    check(r#""car_seal": "CSC""#, r#"[[true,null,"CSC","check_closed"]]"#);
    check(r#""normally": "somewhere""#, r#"[[false,"somewhere",null,"close"]]"#);
}

#[test]
fn blinds_and_spools_need_an_action() {
    let check = |item: &str, expected: &str| {
        let plant = format!("T-1 → V-1 → {item} → P-1 → V-2 → T-2");
        check_graph(
            &plant,
            r#"isolate("P-1") | [.conditional | map([.node.id, .action, .position]), .uncertain | map([.reason, .at.id])]"#,
            expected,
        );
    };
    check("SB-1(open)", r#"[[["SB-1","swing","open"]],[]]"#);
    check("SB-1(state=swung out)", r#"[[["SB-1","swing","swung out"]],[["blind_without_position","SB-1"]]]"#);
    check("SB-1", r#"[[["SB-1","swing",null]],[["blind_without_position","SB-1"]]]"#);
    check("SP-1(removable=true)", r#"[[["SP-1","remove",null]],[]]"#);
    check("SP-1", "[[],[]]");
    check("B-1(open)", r#"[[["B-1","close","open"]],[["open_blind_flange","B-1"]]]"#);
    check("TW-1", r#"[[["TW-1","set",null]],[["missing_pipe","TW-1"]]]"#);
    check("Z-1", r#"[[],[["unknown_class","Z-1"]]]"#);
}

#[test]
fn a_declared_role_takes_precedence() {
    let plant = |role: &str| {
        format!(
            r#"{{"metadata": {{"topology": {{"roles": [{{"role": "{role}", "match": "^thing$"}}]}}}},
            "nodes": [{{"id": "p", "class": "drum"}}, {{"id": "v", "class": "thing"}}, {{"id": "t", "class": "tank"}}, {{"id": "u", "class": "tank"}}],
            "edges": [{{"from": "p", "to": "v"}}, {{"from": "v", "to": "t"}}, {{"from": "v", "to": "u"}}]}}"#
        )
    };
    let answer = r#"isolate("p") | [.barriers | map([.node.id, .kind]), .certain]"#;
    check_document(&plant("barrier"), answer, r#"[[["v","barrier"]],true]"#);
    check_document(&plant("positive_barrier"), answer, r#"[[["v","positive_barrier"]],true]"#);
    check_document(&plant("none"), answer, "[[],true]");
    check_document(&plant("blind"), answer, "[[],false]");
    check_document(&plant("multi_way"), answer, "[[],true]");
}

#[test]
fn an_edge_of_unknown_kind_makes_an_answer_uncertain() {
    let plant = |kind: &str, to: &str| {
        format!(
            r#"{{"nodes": [{{"id": "p", "class": "drum"}}, {{"id": "v", "class": "gate_valve"}}, {{"id": "t", "class": "tank"}}, {{"id": "n", "class": "note"}}],
            "edges": [{{"from": "p", "to": "v"}}, {{"from": "v", "to": "t"}}, {{"id": "x", "from": "p", "to": "{to}", "type": "{kind}"}}]}}"#
        )
    };
    let answer = r#"isolate("p") | [.complete, .certain, .uncertain | map([.reason, .at.id, .edge])]"#;
    check_document(
        &plant("whatever", "t"),
        answer,
        r#"[false,false,[["unknown_connection","p",{"id":"x","from":"p","to":"t","type":"whatever"}]]]"#,
    );
    check_document(&plant("whatever", "n"), answer, "[true,true,[]]");
    check_document(&plant("signal", "t"), answer, "[true,true,[]]");
}

#[test]
fn lines_loops_and_groups_are_isolated_by_what_belongs_to_them() {
    let plant = r#"{"nodes": [{"id": "L", "node_type": "line", "tag": "L-1"}, {"id": "S", "node_type": "segment"},
        {"id": "F", "node_type": "loop", "tag": "F-1"}, {"id": "E", "node_type": "loop", "tag": "E-1"}, {"id": "A", "node_type": "plant_structure_item"},
        {"id": "T", "class": "tank"}, {"id": "v1", "class": "gate_valve"}, {"id": "s", "class": "strainer"}, {"id": "c", "class": "control_valve"},
        {"id": "v2", "class": "gate_valve"}, {"id": "P", "class": "pump"}, {"id": "i", "class": "instrument"}, {"id": "x", "class": "note"}],
        "edges": [{"from": "L", "to": "S", "type": "has_a"}, {"from": "F", "to": "c", "type": "has_a"}, {"from": "F", "to": "i", "type": "has_a"},
        {"from": "E", "to": "i", "type": "has_a"}, {"from": "A", "to": "P", "type": "has_a"},
        {"from": "T", "to": "v1", "type": "pipe", "line": "L-0"}, {"from": "v1", "to": "s", "type": "pipe", "line": "L-1"},
        {"from": "s", "to": "c", "type": "pipe", "segment": "S"}, {"from": "c", "to": "v2", "type": "pipe", "line": "L-1"},
        {"from": "v2", "to": "P", "type": "pipe", "line": "L-2"}]}"#;
    let answer = |target: &str, expected: &str| {
        let rows = ".barriers | map(.node.id), .inside | map(.id), .unresolved | map(.at.id), .data_gaps | map([.kind, .at.id]), .complete";
        check_document(plant, &format!(r#"isolate({target}) | [{rows}]"#), expected);
    };
    answer(r#""L-1""#, r#"[["v1","v2"],["s","c"],[],[],true]"#);
    answer(r#""S""#, r#"[["v1","v2"],["s","c"],[],[],true]"#);
    answer(r#""F""#, r#"[["v2","v1"],["c","s"],[],[],true]"#);
    answer(r#""A""#, r#"[["v2"],["P"],[],[],true]"#);
    answer(r#"["L-1", "P"]"#, r#"[["v1"],["s","c","P","v2"],[],[],true]"#);
    answer(r#""E""#, r#"[[],[],[],[["no_item_in_a_pipe","E"]],false]"#);
    answer(r#""i""#, r#"[[],[],[],[["not_in_a_pipe","i"]],false]"#);
    answer(r#""x""#, r#"[[],["x"],[],[["unconnected","x"]],false]"#);
}

#[test]
fn a_plan_closes_relief_valves_last_and_verifies_each_barrier() {
    let plant =
        "T-1 → V-1 → J-1 → V-2 → J-2 → D-1 → V-4 → T-2; J-1 → V-5 → O-1; J-2 → V-6 → O-2; D-1 → V-3(cso) → RV-1 → X-1";
    check_graph(
        plant,
        r#"isolationPlan("D-1").steps | map([.step, .action, .node.id, .at.id])"#,
        &one_line(
            r#"[[1,"close","V-1",null],[2,"lock","V-1",null],[3,"close","V-2",null],[4,"lock","V-2",null],
            [5,"close","V-4",null],[6,"lock","V-4",null],
            [7,"open_bleed","V-6",null],[8,"close","V-3",null],[9,"lock","V-3",null],[10,"open_bleed","V-5",null],
            [11,"verify","V-2","V-5"],[12,"verify","V-4","V-6"],[13,"verify","V-3","V-6"]]"#,
        ),
    );
    check_graph(
        plant,
        r#"isolationPlan("D-1").barriers | map([.node.id, .method, .second.id, .bleed.id, .bleed_position, .cuts_off | map(.id)])"#,
        r#"[["V-2","double_block_bleed","V-1","V-5","between",[]],["V-4","single",null,"V-6","volume",[]],["V-3","single",null,"V-6","volume",["RV-1"]]]"#,
    );
    // A second valve that is drawn closed is checked, and one that is locked open stays so.
    let block = |second: &str| plant.replace("T-1 → V-1 →", &format!("T-1 → V-1({second}) →"));
    let first =
        r#"isolationPlan("D-1") | [(.steps | map([.action, .node.id]) | first()), (.barriers | first() | .bleed.id)]"#;
    check_graph(&block("closed"), first, r#"[["check_closed","V-1"],"V-5"]"#);
    check_graph(&block("cso"), first, r#"[["close","V-2"],"V-6"]"#);
    // A bleed behind a check valve does not show a leak of the barrier.
    let checked = "P-1 → CK-1 → V-1 → T-1; P-1 → J-1 → V-2 → O-1; J-1 → V-3 → T-2";
    check_graph(
        checked,
        r#"isolationPlan("P-1") | [.barriers | map([.node.id, .bleed.id]), .complete, .certain]"#,
        r#"[[["V-1",null],["V-3","V-2"]],true,true]"#,
    );
    check_graph(
        "T-1 → V-0 → SB-1(open) → P-1 → V-1 → T-2",
        r#"isolationPlan("P-1", {acceptConditional: true}).steps | map([.action, .node.id])"#,
        &one_line(
            r#"[["close","V-0"],["lock","V-0"],["close","V-1"],["lock","V-1"],["swing","SB-1"],["lock","SB-1"]]"#,
        ),
    );
    // Nothing closes the line in which the blind is to be swung.
    check_graph(
        "T-1 → SB-1(open) → P-1 → V-1 → T-2",
        r#"isolationPlan("P-1", {acceptConditional: true}).steps | map([.action, .node.id])"#,
        r#"[["not_isolated","T-1"],["close","V-1"],["lock","V-1"]]"#,
    );
}

#[test]
fn a_second_barrier_is_in_series_with_the_first_past_nothing_that_may_be_open_elsewhere() {
    for (plant, has_second) in [
        ("T-1 → V-2 → V-1 → P-1", true),
        ("T-1 → V-2 → R-1 → V-1 → P-1", true),
        ("T-1 → V-2 → S-1 → V-1 → P-1", true),
        ("T-1 → V-2 → CK-1 → V-1 → P-1", true),
        // The branch leaves the sheet at a connector, whatever else is connected to it.
        ("T-1 → V-2 → X-1 → V-1 → P-1", false),
        ("T-1 → V-2 → CV-1 → V-1 → P-1", true),
        ("T-1 → V-2 → TW-1 → V-1 → P-1", false),
        ("T-1 → V-2 → RV-1 → V-1 → P-1", false),
        ("T-1 → V-2 → O-1 → V-1 → P-1", false),
        ("T-1 → V-2 → T-3 → V-1 → P-1", false),
        ("T-1 → V-2 → Q-1(node_classification=something) → V-1 → P-1", false),
        // Three pipes: the second valve may be one of several ways.
        ("T-1 → V-2 → V-1 → P-1; V-2 → T-3", false),
        ("T-1 → SDV-2 → V-1 → P-1", false),
    ] {
        let expected = if has_second { r#"[["V-1","double_block","V-2"]]"# } else { r#"[["V-1","single",null]]"# };
        check_graph(plant, r#"isolationPlan("P-1").barriers | map([.node.id, .method, .second.id])"#, expected);
    }
}

#[test]
fn a_bleed_proves_barriers_on_its_own_side_of_equipment_only() {
    for (plant, target, expected) in [
        (
            "T-1 → V-1 → E-1.N1@tubes; E-1.N2@tubes → V-2 → T-2; T-3 → V-3 → E-1.N3@shell; E-1.N4@shell → V-4 → O-1",
            "E-1",
            r#"[["V-1",null],["V-3","V-4"],["V-2",null]]"#,
        ),
        ("T-1 → V-1 → D-1.N1; D-1.N2 → V-2 → O-1", "D-1", r#"[["V-1","V-2"]]"#),
        ("T-1 → V-1 → D-1.N1@a; D-1.N2@b → V-2 → O-1", "D-1", r#"[["V-1",null]]"#),
        // More than two pipes of an exchanger without sides may be on either.
        (
            "T-1 → V-1 → E-1.N1; E-1.N2 → V-2 → O-1; E-1.N3 → V-3 → T-2; E-1.N4 → V-4 → T-3",
            "E-1",
            r#"[["V-1",null],["V-3",null],["V-4",null]]"#,
        ),
    ] {
        check_graph(plant, &format!(r#"isolationPlan("{target}").barriers | map([.node.id, .bleed.id])"#), expected);
    }
}

#[test]
fn a_target_without_pipes_is_one_gap() {
    check_graph("V-9; T-1 → V-1 → P-1", r#"isolate("V-9").data_gaps | map(.kind)"#, r#"["unconnected"]"#);
}

#[test]
fn inventory_sections_end_at_emergency_shutdown_valves() {
    let rows = "map([.section, .equipment | map(.id), .items | map(.id), .esd_valves | map(.id), .blowdown_valves | map(.id), .relief | map(.id), .continues | map(.id), .certain])";
    let plant = "T-1 → SDV-1 → V-1 → P-1 → CV-1 → E-1.N1@tubes; E-1.N2@tubes → SDV-2 → T-2; P-1 → BDV-1 → T-3; P-1 → RV-1 → T-3; T-2 → V-9 → X-1";
    check_graph(
        plant,
        &format!("inventorySections() | {rows}"),
        &one_line(
            r#"[["S1",["T-1"],[],["SDV-1"],[],[],[],true],
            ["S2",["P-1","E-1"],["V-1","CV-1","E-1.N1","E-1.N2"],["SDV-1","SDV-2"],["BDV-1"],["RV-1"],[],true],
            ["S3",["T-2"],["V-9","X-1"],["SDV-2"],[],[],["X-1"],false],
            ["S4",["T-3"],[],[],["BDV-1"],["RV-1"],[],false]]"#,
        ),
    );
    let reasons = "map(.uncertain | map([.reason, .at.id]))";
    check_graph("T-1 → V-1 → T-2", &format!("inventorySections() | {reasons}"), r#"[[["no_esd_valve",null]]]"#);
    check_graph(
        "T-1 → V-1(tag=XV-1) → T-2 → V-2(tag=ESDV-2) → T-3",
        &format!("inventorySections() | {reasons}"),
        r#"[[["possible_esd_valve","V-1"]],[]]"#,
    );
    check_graph(
        "T-1 → V-1 → T-2",
        r#"inventorySections({cut: .id == "V-1"}) | map([.equipment | map(.id), .esd_valves | map(.id), .certain])"#,
        r#"[[["T-1"],["V-1"],true],[["T-2"],["V-1"],true]]"#,
    );
    // An edge of unknown kind may lead out of a section, also from a nozzle that has no pipe.
    let plant = |from: &str| {
        format!(
            r#"{{"nodes": [{{"id": "t", "class": "tank"}}, {{"id": "n", "class": "nozzle"}}, {{"id": "v", "class": "shutdown_valve"}},
            {{"id": "u", "class": "tank"}}, {{"id": "h", "class": "gate_valve"}}, {{"id": "o", "class": "tank"}}],
            "edges": [{{"from": "t", "to": "v"}}, {{"from": "v", "to": "u"}}, {{"from": "t", "to": "n", "type": "has_nozzle"}},
            {{"id": "x", "from": "{from}", "to": "h", "type": "somehow"}}, {{"from": "h", "to": "o", "type": "somehow"}}]}}"#
        )
    };
    for from in ["t", "n"] {
        let nozzle = if from == "t" { r#",["unconnected_nozzle","n"]"# } else { "" };
        let expected = format!(r#"[[["unknown_connection","{from}"]{nozzle}],[]]"#);
        check_document(&plant(from), &format!("inventorySections() | {reasons}"), &expected);
    }
    // The sides of an exchanger are sections of their own.
    check_graph(
        "T-1 → SDV-1 → E-1.N1@tubes; T-2 → SDV-2 → E-1.N2@shell",
        "inventorySections() | map([.equipment | map(.id), .esd_valves | map(.id)])",
        r#"[[["T-1"],["SDV-1"]],[["E-1"],["SDV-1"]],[["T-2"],["SDV-2"]],[["E-1"],["SDV-2"]]]"#,
    );
}

#[test]
fn isolated_is_yes_only_if_the_isolation_is_complete_and_certain() {
    for (plant, expected) in [
        ("T-1 → V-1 → P-1 → V-2 → T-2", "yes"),
        ("T-1 → CV-1 → P-1 → V-2 → T-2", "no"),
        ("T-1 → V-1 → Q-1(node_classification=something) → P-1 → V-2 → T-2", "unknown"),
        ("T-1 → P-1; P-1 → Q-1(node_classification=something) → V-2 → T-2", "no"),
        ("P-1", "unknown"),
    ] {
        let graph = Graph::from_json(drawing(plant)).expect("JSON");
        for function in ["isolate", "isolationPlan"] {
            let query = format!(r#"{function}("P-1") | .isolated"#);
            assert_eq!(evaluate(&graph, &query, "{}"), Ok(json!(expected)), "{function} on {plant}");
        }
    }
}

#[test]
fn a_class_that_is_stated_to_be_unknown_makes_a_barrier_uncertain() {
    let plant = |class: &str| {
        format!(
            r#"{{"nodes": [{{"id": "p", "class": "drum"}}, {{"id": "v", "class": "{class}", "label": "gate_valve"}}, {{"id": "t", "class": "tank"}}],
            "edges": [{{"from": "p", "to": "v"}}, {{"from": "v", "to": "t"}}]}}"#
        )
    };
    let answer =
        r#"isolate("p") | [.isolated, .barriers | map([.node.id, .certain]), .uncertain | map([.reason, .at.id])]"#;
    check_document(
        &plant("piping_component.unknown"),
        answer,
        r#"["unknown",[["v",false]],[["unspecified_valve","v"]]]"#,
    );
    check_document(&plant("piping_component.valve"), answer, r#"["yes",[["v",true]],[]]"#);
}

#[test]
fn a_branch_that_ends_at_a_flow_instrument_is_uncertain() {
    // A flow goes on behind its meter, unless this is the end of an impulse line. A pressure is measured at an end.
    let answer = r#"isolate("P-1") | [.isolated, .dead_ends | map(.id), .uncertain | map([.reason, .at.id])]"#;
    for (item, expected) in [
        ("I-1(tag=FT-1)", r#"["unknown",["I-1"],[["flow_instrument_at_end","I-1"]]]"#),
        (
            "I-1(node_classification=instrument.flow_transmitter)",
            r#"["unknown",["I-1"],[["flow_instrument_at_end","I-1"]]]"#,
        ),
        ("I-1(tag=PT-1)", r#"["yes",["I-1"],[]]"#),
        ("I-1(tag=FT-1) → V-9 → T-9", r#"["yes",[],[]]"#),
    ] {
        check_graph(&format!("T-1 → V-1 → J-1 → P-1 → V-2 → T-2; J-1 → {item}"), answer, expected);
    }
}

#[test]
fn a_third_pipe_of_a_barrier_to_nowhere_is_a_gap() {
    let plant = |edges: &str| {
        format!(
            r#"{{"nodes": [{{"id": "p", "class": "drum"}}, {{"id": "v", "class": "gate_valve"}}, {{"id": "t", "class": "tank"}}],
            "edges": [{{"from": "p", "to": "v"}}, {edges}]}}"#
        )
    };
    let answer =
        r#"isolate("p") | [.isolated, .barriers | map([.node.id, .certain]), .data_gaps | map([.kind, .at.id])]"#;
    let both = r#"{"from": "v", "to": "t"}, {"from": "v", "to": "gone"}"#;
    check_document(&plant(both), answer, r#"["unknown",[["v",false]],[["dangling_edge","v"]]]"#);
    // The other pipe of a barrier is outside.
    check_document(&plant(r#"{"from": "v", "to": "gone"}"#), answer, r#"["yes",[["v",true]],[]]"#);
}

/// Returns, by barrier of a pump, its method in `isolate`, and its bleed and whether its proof is certain in the plan.
fn bleed_of(branch: &str) -> Value {
    let plant = format!("T-1 → V-1 → J-1 → V-2 → P-1 → V-3 → T-2; {branch}");
    let graph = Graph::from_json(drawing(&plant)).expect("a drawing is JSON");
    let query = r#"[
        isolate("P-1").barriers | filter(.node.id == "V-2") | map(.method) | first(),
        isolationPlan("P-1").barriers | filter(.node.id == "V-2") | map([.bleed.id, .certain]) | first()
    ]"#;
    evaluate(&graph, query, "{}").unwrap_or_else(|error| panic!("{plant}: {error}"))
}

#[test]
fn a_bleed_lets_something_out() {
    let proved = json!(["double_block_bleed", ["V-9", true]]);
    assert_eq!(bleed_of("J-1 → V-9(closed) → O-1"), proved);
    assert_eq!(bleed_of("J-1 → V-9(closed) → C-1"), proved);
    assert_eq!(bleed_of("J-1 → V-9(closed)"), proved);
    assert_eq!(bleed_of("J-1 → V-9(closed) → CK-1 → O-1"), proved);
    let unproved = json!(["single", [null, true]]);
    // The root valve of a gauge, which lets nothing out: two valves without a bleed.
    let blocked = json!(["double_block", [null, true]]);
    assert_eq!(bleed_of("J-1 → V-9 → I-1(node_classification=instrument.pressure_gauge)"), blocked);
    // A purge connection, a branch into equipment.
    assert_eq!(bleed_of("O-1 → CK-1 → V-9(closed) → J-1"), unproved);
    assert_eq!(bleed_of("J-1 → V-9(closed) → CK-1 — O-1"), unproved);
    assert_eq!(bleed_of("J-1 → V-9(closed) → T-9"), unproved);
    // A blind, a valve or a trap behind the bleed: nothing may come out, whatever is before it.
    for between in [
        "SB-9(closed)",
        "SB-9",
        "V-8",
        "Y-9(node_classification=control_valve)",
        "Y-9(node_classification=steam_trap)",
        "Y-9(node_classification=foo)",
    ] {
        assert_eq!(bleed_of(&format!("J-1 → V-9(closed) → {between} → O-1")), unproved, "{between}");
    }
    assert_eq!(bleed_of("J-1 → V-9(closed) → SB-9(open) → O-1"), proved);
    // The branch is closed, and no bleed.
    assert_eq!(bleed_of("J-1 → SB-9(closed) → V-9(closed) → O-1"), blocked);
    // A pipe that leads inwards, a connection for a supply.
    assert_eq!(bleed_of("J-1 → V-9(closed); O-1 → V-9"), unproved);
    assert_eq!(bleed_of("V-9(closed) → J-1; V-9 → O-1"), unproved);
    for class in ["loading_arm", "quick_coupling", "hose", "filling_connection", "nitrogen_cylinder", "utility_station"]
    {
        let branch = |service: &str| format!("J-1 → V-9(closed) → O-1(node_classification={class}, service={service})");
        assert_eq!(bleed_of(&branch("truck")), unproved, "{class}");
        assert_eq!(bleed_of(&branch("drain to truck")), proved, "{class}");
    }
}

#[test]
fn a_blind_or_a_flange_of_a_volume_is_no_bleed() {
    for branch in ["D-1 → C-1", "D-1 → SB-1(closed) → V-9 → O-1", "D-1 → SB-1(closed) → O-1"] {
        let plant = format!("{branch}; D-1 → V-2 → T-2");
        check_graph(&plant, r#"bleeds("D-1") | map(.id)"#, "[]");
        check_graph(&plant, r#"isolationPlan("D-1").steps | filter(.action == "open_bleed") | size()"#, "0");
    }
}

#[test]
fn a_pipe_that_goes_on_is_no_bleed() {
    let plant = |end: &str| {
        format!(
            r#"{{"nodes": [
              {{"id": "V-1", "node_classification": "equipment.vessel"}}, {{"id": "HV-2", "node_classification": "ball_valve"}},
              {{"id": "T-1", "node_classification": "pipe_tee"}} {end}],
              "edges": [{{"source": "V-1", "target": "HV-2"}}, {{"source": "HV-2", "target": "X"}}]}}"#
        )
    };
    let check = |end: &str, expected: &str| check_document(&plant(end), r#"bleeds("V-1") | map(.id)"#, expected);
    for (class, expected) in [
        ("tie_in", "[]"),
        ("tie_in_point", "[]"),
        ("battery_limit", "[]"),
        ("matchline", "[]"),
        ("gizmo", "[]"),
        ("open_end", "[\"HV-2\"]"),
        ("tundish", "[\"HV-2\"]"),
        ("drain_funnel", "[\"HV-2\"]"),
        ("sample_connection", "[\"HV-2\"]"),
        ("flange", "[\"HV-2\"]"),
        ("drain_cup", "[\"HV-2\"]"),
    ] {
        check(&format!(r#", {{"id": "X", "node_classification": "piping_component.{class}"}}"#), expected);
    }
    // The pipe leads to an item that the drawing lacks.
    check("", "[]");
    check_document(&plant(""), "deadEnds()", "[]");
}

#[test]
fn a_plan_relies_on_relief_devices_and_check_valves_and_closes_none() {
    let steps = r#"isolationPlan("D-1", {acceptRelief: true, acceptOneWay: true}).steps | map([.action, .node.id])"#;
    let expected = |device: &str| format!(r#"[["rely_on","{device}"],["close","V-2"],["lock","V-2"]]"#);
    check_graph("D-1 → RV-1 → X-1; D-1 → V-2 → T-2", steps, &expected("RV-1"));
    check_graph("D-1 → CK-1 → X-1; D-1 → V-2 → T-2", steps, &expected("CK-1"));
}

#[test]
fn a_relief_device_that_opens_inwards_too_is_no_barrier() {
    let query = r#"isolate("D-1", {acceptRelief: true}) |
        [.isolated, (.barriers | map(.node.id)), (.uncertain | map([.reason, .at.id]))]"#;
    let plant = |class: &str| format!("D-1 → Y-1(node_classification={class}) → X-1; D-1 → V-2 → T-2");
    for class in ["vacuum_breaker", "breather_valve", "conservation_vent", "vacuum_relief_valve"] {
        check_graph(&plant(class), query, r#"["no",["V-2"],[["relief_direction","Y-1"]]]"#);
    }
    check_graph(&plant("safety_valve"), query, r#"["unknown",["Y-1","V-2"],[["accepted_relief","Y-1"]]]"#);
}

#[test]
fn a_plan_closes_the_valve_of_a_supply_and_opens_it_for_no_proof() {
    let plan = |arm: &str| {
        let plant = format!("{arm}; D-1 → V-2 → T-2; D-1 → V-3 → C-1");
        let graph = Graph::from_json(drawing(&plant)).expect("a drawing is JSON");
        let query = r#"isolationPlan("D-1").steps | map([.action, .node.id])"#;
        evaluate(&graph, query, "{}").expect("a plan")
    };
    let closed = json!([
        ["close", "V-1"],
        ["lock", "V-1"],
        ["close", "V-2"],
        ["lock", "V-2"],
        ["open_bleed", "V-3"],
        ["verify", "V-1"],
        ["verify", "V-2"]
    ]);
    assert_eq!(plan("O-1(node_classification=loading_arm) → V-1 → D-1"), closed);
    assert_eq!(plan("O-1 → V-1 → D-1"), closed);
}

#[test]
fn an_extract_lacks_pipes_of_the_drawing() {
    let plant = drawing("T-1 → V-1 → D-1 → V-2 → T-2");
    let isolated =
        |part: &str| format!(r#"withGraph({part}, isolate("D-1") | [.isolated, .uncertain | map(.reason)])"#);
    check_document(&plant, &isolated("subgraph(nodes())"), r#"["unknown",["extract"]]"#);
    check_document(&plant, r#"isolate("D-1").isolated"#, r#""yes""#);
}

#[test]
fn an_end_of_a_pipe_among_the_targets_stays_open() {
    let isolated = |targets: &str| {
        format!("isolate({targets}) | [.isolated, .barriers | map(.node.id), .unresolved | map([.kind, .at.id])]")
    };
    let plant = drawing("X-1 → V-1 → D-1 → V-2 → O-1");
    for (targets, expected) in [
        (r#"["D-1", "X-1"]"#, json!(["no", ["V-2"], [["off_page_connector", "X-1"]]])),
        (r#"["D-1", "O-1"]"#, json!(["no", ["V-1"], [["open_end", "O-1"]]])),
        (r#""X-1""#, json!(["no", ["V-1"], [["off_page_connector", "X-1"]]])),
        (r#""O-1""#, json!(["no", ["V-2"], [["open_end", "O-1"]]])),
        (r#""D-1""#, json!(["yes", ["V-1", "V-2"], []])),
    ] {
        check_document(&plant, &isolated(targets), &expected.to_string());
    }
}

#[test]
fn a_locked_open_valve_closes_its_branch_although_another_one_stays_open_to_the_same_equipment() {
    let isolated = r#"isolate("D-1") | [.barriers | map(.node.id), .unresolved | map(.at.id), .kept_open | map(.id)]"#;
    let plant = |lock: &str| drawing(&format!("D-1.N1 → V-1({lock}) → T-1.N1; D-1.N2 → T-1.N2; D-1.N3 → V-3 → X-1"));
    for lock in ["lock=locked_open", ""] {
        check_document(&plant(lock), isolated, r#"[["V-1","V-3"],["T-1"],[]]"#);
    }
    // A way around it leads to the same nozzle.
    let plant = drawing("D-1 → J-1 → V-1(lock=locked_open) → J-2 → T-1.N1; J-1 → J-2; D-1 → V-3 → X-1");
    check_document(&plant, isolated, r#"[["V-3"],["T-1"],["V-1"]]"#);
}

#[test]
fn a_condition_on_items_is_true_false_or_null() {
    let plant = drawing("T-1 → V-1 → D-1 → V-2 → T-2");
    let graph = Graph::from_json(&*plant).expect("a drawing is JSON");
    for query in [
        r#"isolate("D-1", {barriers: ["V-1"]})"#,
        r#"isolate("D-1", {barriers: "V-1"})"#,
        r#"isolate("D-1", {barriers: .id})"#,
        r#"isolationPlan("D-1", {barriers: 1})"#,
        r#"inventorySections({cut: "V-1"})"#,
        r#"downstream("T-1", {avoid: ["V-1"]})"#,
        r#"downstream("T-1", {until: "V-1"})"#,
    ] {
        let error = evaluate(&graph, query, "{}").expect_err(query);
        assert!(error.contains("PQ1012"), "{query}: {error}");
    }
    let barriers = |condition: &str| format!("isolate(\"D-1\", {{barriers: {condition}}}).barriers | map(.kind)");
    check_document(&plant, &barriers(r#".id == "V-1""#), r#"["barrier","barrier"]"#);
    check_document(&plant, &barriers(".no_such_field"), r#"["barrier","barrier"]"#);
}

#[test]
fn a_bleed_to_another_sheet_is_named_and_not_certain() {
    let proved = json!(["double_block_bleed", ["V-9", false]]);
    assert_eq!(bleed_of("J-1 → V-9(closed) → X-1(service=to flare header)"), proved);
    assert_eq!(bleed_of("J-1 → V-9(closed, description=closed drain) → X-1"), proved);
    let unproved = json!(["single", [null, true]]);
    assert_eq!(bleed_of("J-1 → V-9(closed) → X-1"), unproved, "another consumer");
    assert_eq!(bleed_of("X-1(service=flare gas) → V-9(closed) → J-1"), unproved, "flow from the other sheet");
    // A flare on the sheet takes in what others discharge too.
    assert_eq!(bleed_of("J-1 → V-9(closed) → FL-1(node_classification=equipment.flare)"), proved);
    assert_eq!(bleed_of("J-1 → V-9(closed) → FL-1.A; FL-1(node_classification=equipment.flare)"), proved);
    for other in [
        "FL-1(node_classification=equipment.flare) → V-9(closed) → J-1",
        "J-1 → V-9(closed) → FL-1(node_classification=equipment.flare_knock_out_drum)",
        "J-1 → V-9(closed) → J-7 → FL-1(node_classification=equipment.flare); T-9 → J-7",
        "J-1 → V-9(closed) → V-8(closed) → FL-1(node_classification=equipment.flare)",
        "J-1 → V-9(closed) → V-8(closed) → O-1",
        "J-1 → V-9(closed) → T-9",
    ] {
        assert_eq!(bleed_of(other), unproved, "{other}");
    }
    // One on the sheet is taken first.
    let both = "J-1 → J-2 → V-2; J-2 → V-8(closed) → X-1(service=flare); J-1 → V-9(closed) → O-1";
    let plant = format!("T-1 → V-1 → J-1; {both} → P-1 → V-3 → T-2").replace("O-1 → P-1", "O-1; V-2 → P-1");
    let graph = Graph::from_json(drawing(&plant)).expect("a drawing is JSON");
    let query = r#"isolationPlan("P-1").barriers | filter(.node.id == "V-2") | map(.bleed.id) | first()"#;
    assert_eq!(evaluate(&graph, query, "{}").expect("a plan"), json!("V-9"));
}

#[test]
fn a_chamber_without_nozzles_is_a_data_gap() {
    let mut plant: Value = serde_json::from_str(&drawing("T-1 → V-1 → E-1.A; E-1.B → V-2 → T-2")).expect("JSON");
    let chamber = json!({"id": "E-1/tube", "node_classification": "equipment_component.chamber", "parent_id": "E-1"});
    plant["pid_graph"]["nodes"].as_array_mut().expect("nodes").push(chamber);
    let graph = Graph::from_json(plant.to_string()).expect("a drawing is JSON");
    let query = r#"isolate("E-1/tube") | [.isolated, (.data_gaps | map([.kind, .at.id]))]"#;
    let found = evaluate(&graph, query, "{}").expect("an isolation");
    assert_eq!(found, json!(["unknown", [["no_nozzle_in_chamber", "E-1/tube"]]]));
}

#[test]
fn the_other_sides_of_a_chamber_are_reported() {
    let plant = "T-1 → V-1 → E-1.A@tube; E-1.B@tube → V-2 → T-2; X-1 → E-1.C@shell; E-1.D@shell → X-2";
    let graph = Graph::from_json(drawing(plant)).expect("a drawing is JSON");
    let query = r#"isolate("E-1/tube") | [.isolated, (.uncertain | map([.reason, .at.id])), (.inside | map(.id))]"#;
    let found = evaluate(&graph, query, "{}").expect("an isolation");
    assert_eq!(found, json!(["unknown", [["other_side", "E-1/shell"]], ["E-1/tube", "E-1.A", "E-1.B"]]));
}
