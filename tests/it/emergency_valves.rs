//! Sections between shutdown valves and test volumes: what a drawing states against a shutdown valve, a blowdown valve or a
//! relief device that ends a section, and where a volume is open; actuators that make a hand valve none.

use serde_json::{Value, json};

use crate::answers::answer_of;
use crate::drawing_notation::drawing;
use crate::graph::evaluate;

fn node(id: &str, class: &str) -> Value {
    json!({"id": id, "tag": id, "node_classification": class})
}

fn with(mut node: Value, fields: &Value) -> Value {
    for (name, value) in fields.as_object().into_iter().flatten() {
        node[name] = value.clone();
    }
    node
}

fn edge(from: &str, to: &str, kind: &str) -> Value {
    json!({"id": format!("{from}-{to}-{kind}"), "source": from, "target": to, "edge_type": kind, "direction": "forward"})
}

fn pipe(from: &str, to: &str) -> Value {
    edge(from, to, "physically_connected_to")
}

fn answer(nodes: Vec<Value>, edges: Vec<Value>, query: &str) -> Value {
    answer_of(&json!({"pid_graph": {"nodes": nodes, "edges": edges}}), query)
}

/// Returns the uncertainties of the section of the vessel `V-1`, between a shutdown valve and a blowdown valve with further
/// fields, nodes and edges.
fn uncertain(
    [shutdown, blowdown]: [&Value; 2],
    more_nodes: impl IntoIterator<Item = Value>,
    more_edges: impl IntoIterator<Item = Value>,
) -> Value {
    let mut nodes = vec![
        node("V-1", "equipment.vessel"),
        with(node("ESDV-1", "piping_component.ball_valve"), shutdown),
        node("V-2", "equipment.vessel"),
        with(node("BDV-1", "piping_component.ball_valve"), blowdown),
        node("FLARE", "equipment.flare"),
    ];
    let mut edges = vec![pipe("V-1", "ESDV-1"), pipe("ESDV-1", "V-2"), pipe("V-1", "BDV-1"), pipe("BDV-1", "FLARE")];
    nodes.extend(more_nodes);
    edges.extend(more_edges);
    let query = r#"inventorySections() | filter("V-1" in (.equipment | map(.id))) | map(.uncertain | map([.reason, .at.id])) | first()"#;
    answer(nodes, edges, query)
}

#[test]
fn a_section_is_uncertain_where_a_text_or_a_field_says_that_its_shutdown_valve_may_not_close() {
    for (fields, reason) in [
        (json!({"remarks": "seized open"}), "not_tight"),
        (json!({"remarks": "passing"}), "not_tight"),
        (json!({"remarks": "function inhibited"}), "out_of_action"),
        (json!({"remarks": "overridden"}), "out_of_action"),
        (json!({"description": "ESD valve, bypassed"}), "out_of_action"),
        (json!({"remarks": "LO"}), "locked_open"),
        (json!({"label": "CSO"}), "locked_open"),
        (json!({"lock": "LO"}), "locked_open"),
        (json!({"description": "check valve"}), "contradictory_class"),
        (json!({"description": "3-way valve"}), "contradictory_class"),
        (json!({"symbol_name": "check_valve"}), "contradictory_class"),
        (json!({"operation": "manual"}), "operated_by_hand"),
        (json!({"operation": "handwheel"}), "operated_by_hand"),
        (json!({"actuated": false}), "operated_by_hand"),
        (json!({"fail_action": "FO"}), "fails_open"),
        (json!({"fail_action": "F.O."}), "fails_open"),
        (json!({"fail_action": "F O"}), "fails_open"),
        (json!({"fail_action": "air to close"}), "fails_open"),
        (json!({"remarks": "pinned open"}), "unread_text"),
        (json!({"remarks": "solenoid not connected"}), "unread_text"),
        (json!({"description": "ESD valve, seat damaged"}), "unread_text"),
        (json!({"remarks": "kept open by chain block"}), "unread_text"),
    ] {
        assert_eq!(uncertain([&fields, &json!({})], [], []), json!([[reason, "ESDV-1"]]), "{fields}");
    }
    for fields in [
        json!({}),
        json!({"fail_action": "FC", "description": "emergency shutdown valve, 8\"", "remarks": "see note 3"}),
        json!({"normal_position": "open", "label": "NO"}),
        json!({"operation": "pneumatic", "remarks": "fail closed on loss of air"}),
        json!({"remarks": "may be overridden during start-up"}),
        json!({"remarks": "not to be bypassed"}),
        json!({"actuated": true}),
        json!({"operation": "manual", "actuator": "pneumatic"}),
    ] {
        assert_eq!(uncertain([&fields, &json!({})], [], []), json!([]), "{fields}");
    }
}

#[test]
fn a_section_is_uncertain_where_a_text_or_a_field_says_that_its_blowdown_valve_may_not_open() {
    for (fields, reason) in [
        (json!({"remarks": "seized"}), "out_of_action"),
        (json!({"remarks": "inhibited"}), "out_of_action"),
        (json!({"operation": "manual"}), "operated_by_hand"),
        (json!({"remarks": "LC"}), "locked_closed"),
        (json!({"fail_action": "closed"}), "fails_closed"),
        (json!({"fail_action": "as is"}), "fails_in_place"),
        (json!({"fail_action": "?"}), "unknown_fail_action"),
        (json!({"description": "check valve"}), "contradictory_class"),
    ] {
        assert_eq!(uncertain([&json!({}), &fields], [], []), json!([[reason, "BDV-1"]]), "{fields}");
    }
    for fields in [json!({"fail_action": "FO"}), json!({"normal_position": "closed", "label": "NC"})] {
        assert_eq!(uncertain([&json!({}), &fields], [], []), json!([]), "{fields}");
    }
}

#[test]
fn the_fail_position_and_the_status_of_an_actuator_are_those_of_its_valve() {
    let actuator = |class: &str, fields: &Value| with(node("A-1", class), fields);
    for class in ["piping_component.actuator", "instrument.controlled_actuator", "instrument.actuating_system"] {
        for (valve, fails, reason) in [
            ("ESDV-1", "open", Some("fails_open")),
            ("ESDV-1", "FL", Some("fails_in_place")),
            ("ESDV-1", "FC", None),
            ("BDV-1", "closed", Some("fails_closed")),
            ("BDV-1", "FO", None),
        ] {
            let expected = reason.map_or(json!([]), |reason| json!([[reason, valve]]));
            let stated = json!({"fail_action": fails});
            for (kind, is_reversed) in
                [("has_a", false), ("part_of", true), ("associated_with", true), ("controls", true), ("actuates", true)]
            {
                let ends = if is_reversed { ["A-1", valve] } else { [valve, "A-1"] };
                let edges = [edge(ends[0], ends[1], kind)];
                let found = uncertain([&json!({}), &json!({})], [actuator(class, &stated)], edges);
                assert_eq!(found, expected, "{class} {valve} {fails} {kind}");
            }
            let by_field = json!({"fail_action": fails, "parent_id": valve});
            let found = uncertain([&json!({}), &json!({})], [actuator(class, &by_field)], []);
            assert_eq!(found, expected, "{class} {valve} {fails}");
        }
    }
    let has = [edge("ESDV-1", "A-1", "has_a")];
    let future = actuator("piping_component.actuator", &json!({"status": "future"}));
    let found = uncertain([&json!({}), &json!({})], [future], has.clone());
    assert_eq!(found, json!([["not_installed", "A-1"]]));
    // A solenoid valve that closes lets the valve move.
    let solenoid = actuator("instrument.solenoid_valve", &json!({"fail_action": "open"}));
    assert_eq!(uncertain([&json!({}), &json!({})], [solenoid], has.clone()), json!([]));
    // A valve that is a part of a shutdown valve is a way around it.
    let bypass = actuator("piping_component.globe_valve", &json!({}));
    assert_eq!(uncertain([&json!({}), &json!({})], [bypass], has), json!([["unknown_part", "A-1"]]));
}

#[test]
fn an_actuator_has_the_fail_position_of_its_valve_in_all_reports() {
    let nodes = || {
        vec![
            node("V-1", "equipment.vessel"),
            node("PT-1", "instrument.transmitter"),
            node("PZ-1", "instrument.interlock"),
            node("XV-1", "piping_component.ball_valve"),
            with(node("A-1", "instrument.controlled_actuator"), &json!({"fail_action": "closed", "parent_id": "XV-1"})),
            node("V-2", "equipment.vessel"),
        ]
    };
    let edges = || {
        vec![
            pipe("V-1", "XV-1"),
            pipe("XV-1", "V-2"),
            edge("V-1", "PT-1", "measures"),
            edge("PT-1", "PZ-1", "signal"),
            edge("PZ-1", "XV-1", "signal"),
        ]
    };
    for (query, expected) in [
        (r#"valveList() | map(.fail_action)"#, json!(["closed"])),
        (r#"isolate("V-1").conditional | map(.fail_action)"#, json!(["closed"])),
        (r#"isolate("V-1", {acceptConditional: true}).barriers | map(.fail_action)"#, json!(["closed"])),
        (r#"causeAndEffect().links | map(.fail_action) | uniq()"#, json!(["closed"])),
        (r#"validate({rules: ["P112"]}) | size()"#, json!(0)),
    ] {
        assert_eq!(answer(nodes(), edges(), query), expected, "{query}");
    }
}

#[test]
fn a_section_is_uncertain_if_all_ways_behind_its_blowdown_valve_or_relief_device_are_closed() {
    let reasons = r#"inventorySections() | filter("T-1" in (.equipment | map(.id))) | map(.uncertain | map([.reason, .at.id])) | first()"#;
    for end in ["BDV-1", "RV-1"] {
        for (behind, expected) in [
            ("T-9", json!([])),
            ("V-1 → T-9", json!([])),
            ("V-1(normal_position=closed) → T-9", json!([["closed_item", "V-1"]])),
            ("V-1(remarks=closed) → T-9", json!([["closed_item", "V-1"]])),
            ("V-2 → V-1(normal_position=closed) → X-1", json!([["closed_item", "V-1"]])),
            ("B-1", json!([["closed_item", "B-1"]])),
            // The other branch is open.
            ("J-1 → V-1(normal_position=closed) → T-9; J-1 → T-8", json!([])),
            ("J-1 → V-1(normal_position=closed) → T-9; J-1 → B-1", json!([["closed_item", "V-1"]])),
        ] {
            let plant = format!("T-1 → SDV-1 → T-2; T-1 → {end} → {behind}");
            let graph = pidq::Graph::from_json(drawing(&plant)).expect("a drawing is JSON");
            let found = evaluate(&graph, reasons, "{}").unwrap_or_else(|error| panic!("{plant}: {error}"));
            assert_eq!(found, expected, "{plant}");
        }
    }
    let isolated = [
        with(node("PSV-1", "piping_component.safety_valve"), &json!({"remarks": "isolated"})),
        node("OPC-1", "off_page_connector"),
    ];
    let pipes = [pipe("V-1", "PSV-1"), pipe("PSV-1", "OPC-1")];
    assert_eq!(uncertain([&json!({}), &json!({})], isolated, pipes), json!([["device_isolated", "PSV-1"]]));
    let graph = pidq::Graph::from_json(drawing("T-1 → SDV-1 → T-2; T-1 → BDV-1")).expect("a drawing is JSON");
    assert_eq!(evaluate(&graph, reasons, "{}").expect("sections"), json!([["no_outlet", "BDV-1"]]));
}

#[test]
fn the_tag_of_a_shutdown_valve_may_be_at_its_actuator() {
    let untagged = json!({"id": "X-1", "node_classification": "piping_component.ball_valve"});
    for (tag, expected) in [
        ("ESDV-1", json!([[["X-1"], []], [["X-1"], []]])),
        // It may be closed in an emergency.
        ("A-1", json!([[[], [["possible_esd_valve", "X-1"], ["no_esd_valve", null]]]])),
    ] {
        let actuator = json!({"id": "A", "tag": tag, "node_classification": "instrument.actuating_system"});
        for kind in ["has_a", "physically_has_a"] {
            let nodes = vec![
                node("V-1", "equipment.vessel"),
                untagged.clone(),
                actuator.clone(),
                node("V-2", "equipment.vessel"),
            ];
            let edges = vec![pipe("V-1", "X-1"), pipe("X-1", "V-2"), edge("X-1", "A", kind)];
            let query = "inventorySections() | map([.esd_valves | map(.id), .uncertain | map([.reason, .at.id])])";
            assert_eq!(answer(nodes, edges, query), expected, "{tag} {kind}");
        }
    }
    let plant = "T-1 → V-1(tag=HIPPS-2) → T-2";
    let graph = pidq::Graph::from_json(drawing(plant)).expect("a drawing is JSON");
    let found = evaluate(&graph, "inventorySections() | map(.esd_valves | map(.id))", "{}").expect("sections");
    assert_eq!(found, json!([["V-1"], ["V-1"]]));
}

#[test]
fn a_volume_is_open_at_stops_that_are_not_there_and_at_nozzles_without_a_pipe() {
    let nodes = |stop: &Value| {
        vec![
            node("V-1", "equipment.vessel"),
            node("N1", "equipment_component.nozzle"),
            with(node("HV-1", "gate_valve"), stop),
            node("OE-1", "open_end"),
        ]
    };
    let edges = || vec![edge("V-1", "N1", "physically_has_a"), pipe("N1", "HV-1"), pipe("HV-1", "OE-1")];
    let leaks = r#"boundary("V-1", ["HV-1"]).leaks | map(.id)"#;
    for (stop, expected) in [
        (json!({}), json!([])),
        (json!({"status": "installed"}), json!([])),
        (json!({"status": "future"}), json!(["HV-1"])),
        (json!({"remarks": "to be installed"}), json!(["HV-1"])),
    ] {
        assert_eq!(answer(nodes(&stop), edges(), leaks), expected, "{stop}");
    }
    let sections = r#"inventorySections({cut: .id == "HV-1"}) | map(.uncertain | map([.reason, .at.id])) | first()"#;
    let gauge = node("PG-1", "instrument.pressure_gauge");
    for (more_nodes, more_edges, open, uncertain) in [
        (
            vec![with(node("N9", "equipment_component.nozzle"), &json!({"parent_id": "V-1"}))],
            vec![],
            json!(["N9"]),
            json!([["unconnected_nozzle", "N9"]]),
        ),
        (
            vec![with(node("PSV-1", "piping_component.safety_valve"), &json!({"parent_id": "V-1"}))],
            vec![],
            json!(["PSV-1"]),
            json!([["free_port", "PSV-1"]]),
        ),
        (
            vec![with(node("HV-9", "piping_component.gate_valve"), &json!({"parent_id": "V-1"}))],
            vec![],
            json!(["HV-9"]),
            json!([["free_port", "HV-9"]]),
        ),
        (
            vec![with(
                node("HV-9", "piping_component.gate_valve"),
                &json!({"parent_id": "V-1", "normal_position": "closed"}),
            )],
            vec![],
            json!(["HV-9"]),
            json!([]),
        ),
        (
            vec![with(node("OPC-9", "off_page_connector"), &json!({"parent_id": "V-1"}))],
            vec![],
            json!(["OPC-9"]),
            json!([["free_port", "OPC-9"]]),
        ),
        // A manhole is closed, and so is a nozzle with an instrument.
        (
            vec![
                with(node("M1", "equipment_component.nozzle"), &json!({"parent_id": "V-1", "service": "manhole"})),
                with(node("N8", "equipment_component.nozzle"), &json!({"parent_id": "V-1"})),
                gauge,
            ],
            vec![edge("N8", "PG-1", "associated_with")],
            json!([]),
            json!([]),
        ),
        // It may be a hose to another vessel.
        (vec![], vec![edge("V-1", "V-77", "hose")], json!(["V-1"]), json!([])),
    ] {
        let all: Vec<Value> = nodes(&json!({})).into_iter().chain(more_nodes).collect();
        let all_edges: Vec<Value> = edges().into_iter().chain(more_edges).collect();
        assert_eq!(answer(all.clone(), all_edges.clone(), leaks), open, "{all:?}");
        assert_eq!(answer(all, all_edges, sections), uncertain, "{open}");
    }
    let psv = with(node("PSV-1", "piping_component.safety_valve"), &json!({"parent_id": "V-1"}));
    let all: Vec<Value> = nodes(&json!({})).into_iter().chain([psv]).collect();
    let relief = r#"inventorySections({cut: .id == "HV-1"}) | map(.relief | map(.id)) | first()"#;
    assert_eq!(answer(all, edges(), relief), json!(["PSV-1"]));
}

#[test]
fn a_shutdown_valve_with_a_way_around_it_limits_no_section() {
    let rows = "inventorySections() | map([.equipment | map(.id), .esd_valves | map(.id), .uncertain | map([.reason, .at.id])])";
    for (plant, expected) in [
        ("T-1 → SDV-1 → T-2; T-1 → V-1 → T-2", json!([[["T-1", "T-2"], ["SDV-1"], [["bypassed", "SDV-1"]]]])),
        (
            "T-1 → SDV-1 → T-2; T-1 → V-1 → T-2; T-1 → V-9(normal_position=closed) → T-3",
            json!([[["T-1", "T-2", "T-3"], ["SDV-1"], [["closed_item", "V-9"], ["bypassed", "SDV-1"]]]]),
        ),
        (
            "T-1 → SDV-1 → T-2; T-1 → V-1(normal_position=closed) → T-2",
            json!([[["T-1", "T-2"], ["SDV-1"], [["closed_item", "V-1"]]]]),
        ),
        ("T-1 → SDV-1 → T-2", json!([[["T-1"], ["SDV-1"], []], [["T-2"], ["SDV-1"], []]])),
    ] {
        let graph = pidq::Graph::from_json(drawing(plant)).expect("a drawing is JSON");
        assert_eq!(evaluate(&graph, rows, "{}").expect("sections"), expected, "{plant}");
    }
    // The internal valve of a tank has one pipe.
    let nodes = vec![
        node("V-1", "equipment.vessel"),
        with(node("ESDV-1", "piping_component.ball_valve"), &json!({"parent_id": "V-1"})),
        node("V-2", "equipment.vessel"),
        node("HV-3", "piping_component.ball_valve"),
    ];
    let edges = vec![pipe("ESDV-1", "V-2"), pipe("V-1", "HV-3")];
    let found = answer(nodes, edges, r#"inventorySections() | map([.equipment | map(.id), .esd_valves | map(.id)])"#);
    assert_eq!(found, json!([[["V-1"], ["ESDV-1"]], [["V-2"], ["ESDV-1"]]]));
}

/// Returns whether the only valve of a vessel is a barrier and has an actuator, by a further item and its edge.
fn isolated(item: Value, edge: Value) -> Value {
    let nodes =
        vec![node("V-1", "equipment.vessel"), node("HV-1", "piping_component.ball_valve"), item, node("V-2", "tank")];
    let query = r#"isolate("V-1") | [.isolated, .barriers | map(.node.id), .conditional | map(.node.id)]"#;
    answer(nodes, vec![pipe("V-1", "HV-1"), pipe("HV-1", "V-2"), edge], query)
}

#[test]
fn an_actuator_acts_on_a_valve_that_it_has_any_edge_to() {
    let is_actuated = json!(["no", [], ["HV-1"]]);
    for class in [
        "piping_component.actuator",
        "equipment.actuator",
        "instrument.actuator",
        "actuating_system",
        "controlled_actuator",
        "piping_component.diaphragm_actuator",
        "instrument.final_control_element",
    ] {
        for kind in ["associated_with", "controls", "signal", "has_a", "part_of", "actuates", "operates", "mechanical"]
        {
            for ends in [["A-1", "HV-1"], ["HV-1", "A-1"]] {
                let found = isolated(node("A-1", class), edge(ends[0], ends[1], kind));
                assert_eq!(found, is_actuated, "{class} {kind} {ends:?}");
            }
        }
    }
    let is_by_hand = json!(["yes", ["HV-1"], []]);
    for class in ["piping_component.manual_actuator", "piping_component.hand_lever", "piping_component.gearbox"] {
        assert_eq!(isolated(node("A-1", class), edge("HV-1", "A-1", "has_a")), is_by_hand, "{class}");
    }
}

#[test]
fn an_air_line_or_a_solenoid_valve_acts_on_a_valve() {
    let signal = |from: &str, to: &str, class: &str| {
        let mut signal = edge(from, to, "associated_with");
        signal["edge_classification"] = class.into();
        signal
    };
    let is_actuated = json!(["no", [], ["HV-1"]]);
    for (tag, class) in [
        ("XY-1", "instrument.solenoid_valve"),
        ("SOV-1", "piping_component.solenoid_valve"),
        ("IP-1", "instrument.converter"),
        ("X-7", "process_control_function"),
        ("QE-1", "instrument.quick_exhaust"),
        ("AFR-1", "instrument.air_filter_regulator"),
        ("HPU-1", "equipment.hydraulic_power_unit"),
        ("FP-1", "instrument.fusible_plug"),
    ] {
        for kind in ["signal_line.pneumatic", "signal_line.electrical", "signal_line"] {
            assert_eq!(isolated(node(tag, class), signal(tag, "HV-1", kind)), is_actuated, "{class} {kind}");
        }
    }
    for (tag, class) in
        [("PT-1", "instrument.pressure_transmitter"), ("FIC-1", "instrument.flow_controller"), ("PI-1", "instrument")]
    {
        for kind in ["signal_line.pneumatic", "signal_line.hydraulic"] {
            for ends in [[tag, "HV-1"], ["HV-1", tag]] {
                let found = isolated(node(tag, class), signal(ends[0], ends[1], kind));
                assert_eq!(found, is_actuated, "{class} {kind} {ends:?}");
            }
        }
    }
    // A limit switch is moved by the valve, and a key interlock is mechanical.
    for (tag, class, kind) in [
        ("ZSC-1", "instrument.limit_switch", "signal_line.electrical"),
        ("KI-1", "instrument.key_interlock", "signal_line.mechanical"),
        ("PI-1", "instrument.pressure_indicator", "signal_line.electrical"),
    ] {
        let found = isolated(node(tag, class), signal("HV-1", tag, kind));
        assert_eq!(found, json!(["yes", ["HV-1"], []]), "{class}");
    }
}

#[test]
fn an_instrument_at_the_end_of_a_branch_may_let_something_in_or_out() {
    let found = |tag: &str, class: &str| {
        let nodes = vec![
            node("V-1", "equipment.vessel"),
            node("HV-1", "gate_valve"),
            node("OPC-1", "off_page_connector"),
            json!({"id": "X", "tag": tag, "node_classification": class}),
        ];
        let query = r#"isolate("V-1") | [.isolated, .unresolved | map(.kind), .uncertain | map(.reason)]"#;
        answer(nodes, vec![pipe("V-1", "HV-1"), pipe("HV-1", "OPC-1"), pipe("V-1", "X")], query)
    };
    for class in ["sampling_system", "sampler", "sample_point", "bubbler", "purge_meter", "injection_quill", "analyzer"]
    {
        assert_eq!(found("X-1", &format!("instrument.{class}")), json!(["no", ["free_port"], []]), "{class}");
    }
    for (tag, reason) in [
        ("FT-1", "flow_instrument_at_end"),
        ("AT-1", "analyzer_at_end"),
        ("AIT-1", "analyzer_at_end"),
        ("AE-1", "analyzer_at_end"),
        ("SP-1", "analyzer_at_end"),
        ("PCV-1", "contradictory_tag"),
        ("XV-1", "contradictory_tag"),
    ] {
        let expected = json!(["unknown", [], [reason]]);
        assert_eq!(found(tag, "instrument.process_instrumentation_function"), expected, "{tag}");
    }
    for (tag, class) in [
        ("PT-1", "process_instrumentation_function"),
        ("LG-1", "process_instrumentation_function"),
        ("AE-1", "ph_probe"),
        ("PG-1", "pressure_gauge"),
        ("TW-1", "thermowell"),
    ] {
        assert_eq!(found(tag, &format!("instrument.{class}")), json!(["yes", [], []]), "{tag} {class}");
    }
}
