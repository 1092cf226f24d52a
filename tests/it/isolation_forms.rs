//! Statements in forms that few drawings use: fields, texts, edges and bleeds that an isolation must understand, or else
//! call uncertain.

use serde_json::{Value, json};

use crate::answers::answer_of;

/// Returns a drawing in which a valve is between two vessels, with further fields of the valve, nodes and edges.
fn plant(fields: &Value, nodes: &Value, edges: &Value) -> Value {
    let mut valve = json!({"id": "HV-1", "tag": "HV-1", "class": "ball_valve"});
    for (name, value) in fields.as_object().into_iter().flatten() {
        valve[name] = value.clone();
    }
    let mut all = vec![
        json!({"id": "V-1", "tag": "V-1", "class": "vessel"}),
        json!({"id": "N1", "class": "nozzle", "parent_id": "V-1"}),
        valve,
        json!({"id": "V-2", "tag": "V-2", "class": "vessel"}),
    ];
    all.extend(nodes.as_array().into_iter().flatten().cloned());
    let mut pipes =
        vec![json!({"id": "e1", "from": "N1", "to": "HV-1"}), json!({"id": "e2", "from": "HV-1", "to": "V-2"})];
    pipes.extend(edges.as_array().into_iter().flatten().cloned());
    json!({"nodes": all, "edges": pipes})
}

/// Returns whether a vessel is isolated, by an answer that is certain.
fn is_isolated(document: &Value) -> bool {
    answer_of(document, r#"isolate("V-1") | [.isolated, .certain]"#) == json!(["yes", true])
}

fn valve(fields: &Value) -> Value {
    plant(fields, &json!([]), &json!([]))
}

#[test]
fn a_valve_whose_fields_say_that_it_may_not_close_is_no_certain_barrier() {
    for fields in [
        // Several ways.
        json!({"sub_class": "3/2-way"}),
        json!({"component_class": "3/2-way ball valve"}),
        json!({"description": "4/2-way valve"}),
        json!({"valve_type": "3/2"}),
        json!({"ports": 3}),
        json!({"ports": "4"}),
        // Values that are objects and lists.
        json!({"actuator": {"type": "diaphragm"}}),
        json!({"actuators": ["A-1"]}),
        json!({"status": {"code": "F", "text": "future"}}),
        json!({"notes": [{"text": "removed"}]}),
        json!({"description": {"en": "check valve", "de": "Klappe"}}),
        json!({"attributes": [{"actuator": "motor"}]}),
        json!({"attributes": [["actuator", "motor"]]}),
        json!({"attributes": [{"name": "actuator", "value": {"text": "motor"}}]}),
        // Texts in the tag.
        json!({"tag": "HV-1 (FUTURE)"}),
        json!({"tag": "HV-1\nFUTURE"}),
        json!({"tag": "HV-1 (removed)"}),
        // It does not close.
        json!({"remarks": "cannot close fully"}),
        json!({"remarks": "known to pass"}),
        json!({"remarks": "not for isolation"}),
        json!({"remarks": "do not use for isolation"}),
        json!({"remarks": "with travel stop, min. 5 % open"}),
        json!({"remarks": "spindle broken"}),
        json!({"description": "gate valve with integral bypass valve"}),
        // It may not be there.
        json!({"remarks": "HOLD"}),
        json!({"remarks": "HOLD 3"}),
        json!({"remarks": "if required"}),
        json!({"description": "provision only"}),
        json!({"description": "dummy valve"}),
        json!({"remarks": "not found in field"}),
        // It is moved by a drive.
        json!({"description": "air operated"}),
        json!({"description": "self-acting regulator"}),
        json!({"label": "FC"}),
        json!({"label": "F.C."}),
        json!({"label": "FC, TSO"}),
        json!({"label": "M"}),
        json!({"description": "spring return"}),
        json!({"sub_class": "anti-surge valve"}),
        json!({"remarks": "motor operated"}),
        json!({"remarks": "shutdown valve"}),
        json!({"solenoid": "XY-101"}),
        json!({"actuated_by": "XY-101"}),
        json!({"fail_safe": "open"}),
        json!({"tag": "DPCV-1"}),
        json!({"tag": "HIPPS-1"}),
        json!({"tag": "ST-1"}),
        json!({"tag": "XV-XXX"}),
        json!({"tag": "XV-?"}),
    ] {
        assert!(!is_isolated(&valve(&fields)), "{fields}");
    }
}

#[test]
fn ordinary_statements_leave_a_hand_valve_a_certain_barrier() {
    for fields in [
        json!({}),
        json!({"sub_class": "2/2-way"}),
        json!({"ports": 2}),
        json!({"ports": "inlet, outlet"}),
        json!({"operation": "Handrad"}),
        json!({"operation": "volant"}),
        json!({"actuator": "nan"}),
        json!({"status": "AFC"}),
        json!({"status": "N/A"}),
        json!({"status": "nan"}),
        json!({"phase": "VL"}),
        json!({"remarks": "seat leakage class VI"}),
        json!({"remarks": "size to be confirmed"}),
        json!({"remarks": "lock if required"}),
        json!({"description": "isolation valve of hold tank"}),
        json!({"description": "bypass of control valve"}),
        json!({"label": "NC"}),
        json!({"label": "LC, TSO"}),
        json!({"remarks": "bypass of motor operated valve"}),
        json!({"actuator": {"type": "handwheel"}}),
        json!({"notes": [{"id": 3, "text": "see data sheet"}]}),
    ] {
        assert!(is_isolated(&valve(&fields)), "{fields}");
    }
}

#[test]
fn an_edge_with_the_class_or_the_fields_of_a_pipe_may_be_one() {
    let other = json!([{"id": "V-4", "tag": "V-4", "class": "vessel"}]);
    let edge = |fields: &Value| {
        let mut edge = json!({"id": "x", "from": "V-1", "to": "V-4", "edge_type": "associated_with"});
        for (name, value) in fields.as_object().into_iter().flatten() {
            edge[name] = value.clone();
        }
        json!([edge])
    };
    for fields in [
        json!({"edge_classification": "pipe_run"}),
        json!({"edge_classification": "main_process_line"}),
        json!({"edge_classification": "connection.pipe"}),
        json!({"edge_classification": "tubing"}),
        json!({"nominal_diameter": 50}),
        json!({"piping_class": "A1A"}),
    ] {
        assert!(!is_isolated(&plant(&json!({}), &other, &edge(&fields))), "{fields}");
    }
    for fields in [
        json!({}),
        json!({"edge_classification": "signal_line.pneumatic"}),
        json!({"edge_classification": "data_line"}),
    ] {
        assert!(is_isolated(&plant(&json!({}), &other, &edge(&fields))), "{fields}");
    }
}

#[test]
fn a_shaft_between_a_pump_and_its_motor_is_no_pipe() {
    let nodes = json!([{"id": "M-1", "tag": "M-1", "class": "equipment.electric_motor"}]);
    for kind in ["drives", "coupled_to", "mechanical_coupling"] {
        let edges = json!([{"id": "x", "from": "M-1", "to": "V-1", "edge_type": kind}]);
        assert!(is_isolated(&plant(&json!({}), &nodes, &edges)), "{kind}");
    }
}

#[test]
fn a_segment_that_is_stated_by_its_ends_only_is_open() {
    let nodes = json!([
        {"id": "V-4", "tag": "V-4", "class": "vessel"},
        {"id": "S-1", "type": "piping_network_segment"}
    ]);
    let edges = json!([
        {"id": "x1", "from": "S-1", "to": "V-1", "edge_type": "starts_at"},
        {"id": "x2", "from": "S-1", "to": "V-4", "edge_type": "ends_at"}
    ]);
    assert!(!is_isolated(&plant(&json!({}), &nodes, &edges)));
    // That of the pipe with the valve.
    let edges = json!([
        {"id": "x1", "from": "S-1", "to": "N1", "edge_type": "starts_at"},
        {"id": "x2", "from": "S-1", "to": "V-2", "edge_type": "ends_at"}
    ]);
    assert!(is_isolated(&plant(&json!({}), &nodes, &edges)));
}

#[test]
fn the_owner_of_a_nozzle_is_read_in_any_form_or_the_answer_is_not_certain() {
    let edges = json!([{"id": "x", "from": "N9", "to": "V-4"}]);
    let with = |nozzle: Value| {
        let mut node = json!({"id": "N9", "class": "nozzle"});
        for (name, value) in nozzle.as_object().into_iter().flatten() {
            node[name] = value.clone();
        }
        plant(&json!({}), &json!([node, {"id": "V-4", "tag": "V-4", "class": "vessel"}]), &edges)
    };
    for nozzle in [
        json!({"parentId": "V-1"}),
        json!({"parent": {"id": "V-1"}}),
        json!({"parent": ["V-1"]}),
        json!({"tag": "V1-N9"}),
        json!({"tag": "v-1/N9"}),
        json!({"tag": "N9 (V-1)"}),
        json!({"tag": "N9 of V-1"}),
        json!({"parent_id": "v-1"}),
        json!({"parent_id": "VESSEL-1"}),
    ] {
        assert!(!is_isolated(&with(nozzle.clone())), "{nozzle}");
    }
    let other = json!({"parent_id": "V-4"});
    assert!(is_isolated(&with(other)), "the nozzle belongs to the other vessel");
    let associated = json!([
        {"id": "x", "from": "N9", "to": "V-4"},
        {"id": "y", "from": "N9", "to": "V-1", "edge_type": "associated_with"}
    ]);
    let nodes = json!([{"id": "N9", "class": "nozzle"}, {"id": "V-4", "tag": "V-4", "class": "vessel"}]);
    assert!(!is_isolated(&plant(&json!({}), &nodes, &associated)));
}

#[test]
fn a_pipe_that_names_an_item_of_the_volume_without_being_its_id_is_a_gap() {
    let nodes = json!([{"id": "V-4", "tag": "V-4", "class": "vessel"}]);
    for edge in [
        json!({"id": "x", "source": {"node": "V-1", "port": "N2"}, "target": {"node": "V-4"}}),
        json!({"id": "x", "source": "V-1:N2", "target": "V-4"}),
        json!({"id": "x", "source": "V-1 ", "target": "V-4"}),
        json!({"id": "x", "source": "v-1", "target": "V-4"}),
        json!({"id": "x", "source": ["V-1"], "target": ["V-4"]}),
        json!({"id": "x", "nodes": ["V-1", "V-4"]}),
    ] {
        assert!(!is_isolated(&plant(&json!({}), &nodes, &json!([edge]))), "{edge}");
    }
    let elsewhere = json!([{"id": "x", "source": "V-9:N2", "target": "V-4"}]);
    assert!(is_isolated(&plant(&json!({}), &nodes, &elsewhere)));
}

#[test]
fn equipment_is_drawn_twice_in_any_spelling_of_its_tag() {
    for tag in ["V1", "V 1", "v-1", "V_1", "V-1 (CONT.)", "*V-1", "V-1\nSEPARATOR"] {
        let nodes =
            json!([{"id": "u2", "tag": tag, "class": "vessel"}, {"id": "V-4", "tag": "V-4", "class": "vessel"}]);
        let edges = json!([{"id": "x", "from": "u2", "to": "V-4"}]);
        assert!(!is_isolated(&plant(&json!({}), &nodes, &edges)), "{tag:?}");
    }
    let nodes = json!([{"id": "u2", "tag": "V-11", "class": "vessel"}, {"id": "V-4", "tag": "V-4", "class": "vessel"}]);
    assert!(is_isolated(&plant(&json!({}), &nodes, &json!([{"id": "x", "from": "u2", "to": "V-4"}]))));
}

#[test]
fn a_relief_device_or_a_vent_on_a_vessel_without_a_pipe_is_not_left_out() {
    for class in ["safety_valve", "open_end"] {
        let nodes = json!([{"id": "X-1", "tag": "X-1", "class": class, "parent_id": "V-1"}]);
        assert!(!is_isolated(&plant(&json!({}), &nodes, &json!([]))), "{class}");
    }
}

#[test]
fn a_valve_that_is_a_part_of_a_valve_makes_it_uncertain() {
    for class in ["globe_valve", "check_valve", "relief_valve"] {
        let nodes = json!([{"id": "HV-1B", "class": class}]);
        let edges = json!([{"id": "x", "from": "HV-1", "to": "HV-1B", "edge_type": "has_a"}]);
        assert!(!is_isolated(&plant(&json!({}), &nodes, &edges)), "{class}");
    }
}

#[test]
fn a_bypass_from_a_valve_to_itself_or_on_a_second_line_is_a_third_pipe() {
    let edges = json!([{"id": "x", "from": "HV-1", "to": "HV-1", "line": "bypass"}]);
    assert!(!is_isolated(&plant(&json!({}), &json!([]), &edges)));
    let edges = json!([
        {"id": "x", "from": "HV-1", "to": "V-2", "line": "L-2"},
        {"id": "y", "from": "HV-1", "to": "V-2", "line": "L-3"}
    ]);
    assert!(!is_isolated(&plant(&json!({}), &json!([]), &edges)));
    // One pipe, listed in both directions.
    let edges = json!([{"id": "x", "from": "V-2", "to": "HV-1"}]);
    assert!(is_isolated(&plant(&json!({}), &json!([]), &edges)));
}

#[test]
fn a_header_or_a_receiver_of_instrument_air_is_no_instrument() {
    for class in ["equipment.instrument_air_receiver", "instrument_air_header", "instrument_air_compressor"] {
        let nodes = json!([{"id": "X-1", "tag": "X-1", "class": class}]);
        let edges = json!([{"id": "x", "from": "V-1", "to": "X-1"}]);
        assert!(!is_isolated(&plant(&json!({}), &nodes, &edges)), "{class}");
    }
}

#[test]
fn a_cap_that_is_open_or_opens_by_pressure_closes_no_branch() {
    for (class, is_closed) in [("pipe_cap", true), ("open_cap", false), ("burst_cap", false), ("frangible_cap", false)]
    {
        let nodes = json!([{"id": "C-1", "tag": "C-1", "class": class}]);
        let edges = json!([{"id": "x", "from": "V-1", "to": "C-1"}]);
        assert_eq!(is_isolated(&plant(&json!({}), &nodes, &edges)), is_closed, "{class}");
    }
}

#[test]
fn a_blind_flange_with_a_hole_is_not_tight() {
    for text in ["drilled and tapped", "vented", "with vent hole", "tapped for drain"] {
        let nodes = json!([{"id": "BF-1", "class": "blind_flange", "description": text}]);
        let edges = json!([{"id": "x", "from": "V-1", "to": "BF-1"}]);
        assert!(!is_isolated(&plant(&json!({}), &nodes, &edges)), "{text}");
    }
    let nodes = json!([{"id": "BF-1", "class": "blind_flange", "description": "blind flange DN50"}]);
    assert!(is_isolated(&plant(&json!({}), &nodes, &json!([{"id": "x", "from": "V-1", "to": "BF-1"}]))));
}

#[test]
fn an_item_that_names_a_line_belongs_to_it() {
    let nodes = json!([{"id": "L1", "tag": "100-PL-1", "type": "piping_network_system", "status": "future"}]);
    for name in ["L1", "100-PL-1"] {
        assert!(!is_isolated(&plant(&json!({"line": name}), &nodes, &json!([]))), "{name}");
    }
    let line = json!([{"id": "L1", "tag": "100-PL-1", "type": "piping_network_system"}]);
    let document = plant(&json!({"line": "L1"}), &line, &json!([]));
    assert!(is_isolated(&document));
    assert_eq!(answer_of(&document, r#"isolate("L1").inside | map(.id)"#), json!(["HV-1"]));
}

/// Returns a line from V-1 to V-2 with two valves and a bleed between them; with fields of the bleed, its end, and pipes.
fn double_block(bleed: &Value, end: &Value, branch: &Value, pipe: &Value) -> Value {
    let merged = |node: Value, fields: &Value| {
        let mut node = node;
        for (name, value) in fields.as_object().into_iter().flatten() {
            node[name] = value.clone();
        }
        node
    };
    json!({
        "nodes": [
            {"id": "V-1", "tag": "V-1", "class": "vessel"},
            {"id": "HV-1", "tag": "HV-1", "class": "ball_valve"},
            {"id": "TEE-1", "class": "pipe_tee"},
            {"id": "HV-2", "tag": "HV-2", "class": "ball_valve"},
            {"id": "V-2", "tag": "V-2", "class": "vessel"},
            merged(json!({"id": "HV-3", "tag": "HV-3", "class": "ball_valve"}), bleed),
            merged(json!({"id": "OE-1", "class": "open_end"}), end)
        ],
        "edges": [
            {"id": "e1", "from": "V-1", "to": "HV-1"},
            {"id": "e2", "from": "HV-1", "to": "TEE-1"},
            merged(json!({"id": "e3", "from": "TEE-1", "to": "HV-2"}), pipe),
            {"id": "e4", "from": "HV-2", "to": "V-2"},
            {"id": "e5", "from": "TEE-1", "to": "HV-3"},
            merged(json!({"id": "e6", "from": "HV-3", "to": "OE-1"}), branch)
        ]
    })
}

#[test]
fn a_bleed_proves_a_barrier_only_if_it_lets_something_out() {
    let none = json!({});
    let method = |document: &Value| answer_of(document, r#"isolationPlan("V-1").barriers | map([.method, .bleed.id])"#);
    assert_eq!(method(&double_block(&none, &none, &none, &none)), json!([["double_block_bleed", "HV-3"]]));
    for (bleed, end, branch) in [
        (json!({"remarks": "seized"}), none.clone(), none.clone()),
        (json!({"status": "future"}), none.clone(), none.clone()),
        (json!({"tag": "XV-3"}), none.clone(), none.clone()),
        (json!({"description": "chemical injection valve"}), none.clone(), none.clone()),
        (none.clone(), json!({"status": "future"}), none.clone()),
        (none.clone(), json!({"service": "N2 hose connection"}), none.clone()),
        (none.clone(), none.clone(), json!({"status": "blanked"})),
        (none.clone(), none.clone(), json!({"status": "future"})),
    ] {
        let document = double_block(&bleed, &end, &branch, &none);
        let found = method(&document);
        assert!(!found.to_string().contains("HV-3"), "{bleed} {end} {branch}: {found}");
    }
    let found = method(&double_block(&none, &none, &none, &json!({"status": "removed"})));
    assert_eq!(found[0][0], json!("single"), "the pipe to the second valve is not there");
}

#[test]
fn a_barrier_is_not_proved_at_a_bleed_on_the_other_side_of_a_machine_that_is_shut() {
    let proof = |class: &str| {
        let document = json!({
            "nodes": [
                {"id": "P-1", "tag": "P-1", "class": class},
                {"id": "N1", "class": "nozzle", "parent_id": "P-1"},
                {"id": "N2", "class": "nozzle", "parent_id": "P-1"},
                {"id": "TEE-1", "class": "pipe_tee"},
                {"id": "HV-1", "tag": "HV-1", "class": "ball_valve"},
                {"id": "HV-2", "tag": "HV-2", "class": "ball_valve"},
                {"id": "HV-3", "tag": "HV-3", "class": "ball_valve"},
                {"id": "OE-1", "class": "open_end"},
                {"id": "V-1", "tag": "V-1", "class": "vessel"},
                {"id": "V-2", "tag": "V-2", "class": "vessel"}
            ],
            "edges": [
                {"id": "e1", "from": "V-1", "to": "HV-1"},
                {"id": "e2", "from": "HV-1", "to": "TEE-1"},
                {"id": "e3", "from": "TEE-1", "to": "N1"},
                {"id": "e4", "from": "TEE-1", "to": "HV-3"},
                {"id": "e5", "from": "HV-3", "to": "OE-1"},
                {"id": "e6", "from": "N2", "to": "HV-2"},
                {"id": "e7", "from": "HV-2", "to": "V-2"}
            ]
        });
        answer_of(
            &document,
            r#"isolationPlan("P-1").barriers | filter(.node.id == "HV-2") | map([.bleed.id, .certain])"#,
        )
    };
    assert_eq!(proof("equipment.centrifugal_pump"), json!([["HV-3", true]]));
    assert_eq!(proof("equipment.pump"), json!([["HV-3", false]]), "the class does not say");
    for class in
        ["equipment.reciprocating_pump", "equipment.piston_pump", "equipment.gear_pump", "equipment.screw_compressor"]
    {
        assert_eq!(proof(class), json!([[null, true]]), "{class}");
    }
}

#[test]
fn a_valve_that_a_text_calls_locked_open_is_used_last() {
    let kept_open = |fields: Value| {
        let mut valve = json!({"id": "HV-1", "tag": "HV-1", "class": "ball_valve"});
        for (name, value) in fields.as_object().into_iter().flatten() {
            valve[name] = value.clone();
        }
        let document = json!({
            "nodes": [
                {"id": "V-1", "tag": "V-1", "class": "vessel"},
                valve,
                {"id": "HV-2", "tag": "HV-2", "class": "ball_valve"},
                {"id": "V-2", "tag": "V-2", "class": "vessel"}
            ],
            "edges": [
                {"id": "e1", "from": "V-1", "to": "HV-1"},
                {"id": "e2", "from": "HV-1", "to": "HV-2"},
                {"id": "e3", "from": "HV-2", "to": "V-2"}
            ]
        });
        answer_of(&document, r#"isolate("V-1").kept_open | map(.id)"#)
    };
    for fields in [
        json!({"lock": "LO"}),
        json!({"remarks": "LO"}),
        json!({"label": "L.O."}),
        json!({"description": "ball valve, CSO"}),
    ] {
        assert_eq!(kept_open(fields.clone()), json!(["HV-1"]), "{fields}");
    }
    assert_eq!(kept_open(json!({"remarks": "NO"})), json!([]));
}

#[test]
fn two_valves_in_series_at_a_drain_are_a_double_block() {
    for (class, description) in [
        ("off_page_connector", "closed drain header"),
        ("off_page_connector", "to HP flare header"),
        ("open_end", "drain to funnel"),
        ("drain_funnel", ""),
    ] {
        let nodes = json!([
            {"id": "HV-2", "tag": "HV-2", "class": "gate_valve"}, {"id": "HV-3", "tag": "HV-3", "class": "globe_valve"},
            {"id": "O-1", "class": class, "description": description}
        ]);
        let edges = json!([{"id": "x1", "from": "V-1", "to": "HV-2"}, {"id": "x2", "from": "HV-2", "to": "HV-3"},
            {"id": "x3", "from": "HV-3", "to": "O-1"}]);
        let document = plant(&json!({}), &nodes, &edges);
        let methods = r#"isolate("V-1").barriers | filter(.node.id == "HV-2") | map(.method)"#;
        assert_eq!(answer_of(&document, methods), json!(["double_block"]), "{class} {description}");
    }
}

#[test]
fn a_valve_that_only_an_option_accepts_makes_no_double_block() {
    for (item, expected) in [
        (json!({"id": "X-2", "tag": "X-2", "class": "gate_valve"}), "double_block"),
        (json!({"id": "X-2", "tag": "X-2", "class": "control_valve", "fail_action": "open"}), "single"),
        (json!({"id": "X-2", "tag": "X-2", "class": "check_valve"}), "single"),
    ] {
        let nodes = json!([
            {"id": "HV-2", "tag": "HV-2", "class": "gate_valve"}, item, {"id": "O-1", "class": "off_page_connector"}
        ]);
        let edges = json!([{"id": "x1", "from": "V-1", "to": "HV-2"}, {"id": "x2", "from": "HV-2", "to": "X-2"},
            {"id": "x3", "from": "X-2", "to": "O-1"}]);
        let query = r#"isolate("V-1", {acceptConditional: true, acceptOneWay: true}).barriers
            | filter(.node.id == "HV-2") | map(.method)"#;
        assert_eq!(answer_of(&plant(&json!({}), &nodes, &edges), query), json!([expected]), "{item}");
    }
}

#[test]
fn a_relief_device_is_not_cut_off_behind_the_outlet_of_another_one() {
    let nodes = json!([
        {"id": "H-1", "class": "gate_valve", "lock": "LO"}, {"id": "PSV-1", "tag": "PSV-1", "class": "safety_valve"},
        {"id": "H-2", "class": "gate_valve", "lock": "LO"}, {"id": "H-3", "class": "gate_valve", "lock": "LO"},
        {"id": "PSV-2", "tag": "PSV-2", "class": "safety_valve"}, {"id": "H-4", "class": "gate_valve", "lock": "LO"},
        {"id": "T-1", "class": "tee"}, {"id": "F-1", "class": "flare"}
    ]);
    let ends = [
        ("V-1", "H-1"),
        ("H-1", "PSV-1"),
        ("PSV-1", "H-2"),
        ("H-2", "T-1"),
        ("V-1", "H-3"),
        ("H-3", "PSV-2"),
        ("PSV-2", "H-4"),
        ("H-4", "T-1"),
        ("T-1", "F-1"),
    ];
    let edges: Vec<Value> = ends
        .iter()
        .enumerate()
        .map(|(at, (from, to))| json!({"id": format!("x{at}"), "from": from, "to": to}))
        .collect();
    let document = plant(&json!({}), &nodes, &json!(edges));
    let cut_off = r#"isolate("PSV-1") | .barriers | map([.node.id, .cuts_off | map(.id)])"#;
    assert_eq!(answer_of(&document, cut_off), json!([["H-1", ["PSV-1"]], ["H-2", ["PSV-1"]]]));
}

#[test]
fn the_bypass_of_a_valve_in_its_text_is_no_other_item() {
    for text in [
        "wedge gate, pressure seal bonnet, with 1\" bypass HV-1104A",
        "gate valve c/w warm-up bypass",
        "with by-pass DN25",
        "main steam stop valve, 1\" bypass",
        "slab gate, with equalizing bypass valve HV-2",
        "with equalizing line",
        "gate valve, bypass NO",
        "gate valve w/ 1\" bypass",
    ] {
        assert!(!is_isolated(&valve(&json!({ "description": text }))), "{text}");
    }
    for text in ["bypass of control valve", "gate valve without bypass", "check valve bypass", "bypass valve"] {
        assert!(is_isolated(&valve(&json!({ "description": text }))), "{text}");
    }
}

#[test]
fn valves_of_wells_and_fire_water_rings_are_hand_valves_with_their_usual_tags() {
    for (class, tag) in [
        ("swab_valve", "SV-18"),
        ("lower_master_valve", "LMV-18"),
        ("annulus_wing_valve", "AV-18"),
        ("annulus_wing_valve", "AWV-18"),
        ("kill_wing_valve", "KWV-18"),
        ("post_indicator_valve", "PIV-3"),
        ("os_and_y_gate_valve", "HV-3"),
        ("tank_bottom_valve", "HV-3"),
    ] {
        assert!(is_isolated(&valve(&json!({"class": class, "tag": tag}))), "{class} {tag}");
    }
    for (class, tag) in [("ball_valve", "SV-18"), ("ball_valve", "LMV-18"), ("swab_valve", "XV-18")] {
        assert!(!is_isolated(&valve(&json!({"class": class, "tag": tag}))), "{class} {tag}");
    }
}

/// Returns the answer for a vessel with a further nozzle, and a branch from it to an item.
fn with_branch(nozzle: &Value, item: Option<&str>) -> Value {
    let mut nodes = vec![json!({"id": "N2", "class": "nozzle", "parent_id": "V-1"})];
    for (name, value) in nozzle.as_object().into_iter().flatten() {
        nodes[0][name] = value.clone();
    }
    nodes.extend(item.map(|class| json!({"id": "X-1", "class": class})));
    let edges = item.map_or(json!([]), |_| json!([{"id": "x1", "from": "N2", "to": "X-1"}]));
    answer_of(&plant(&json!({}), &json!(nodes), &edges), r#"isolate("V-1").isolated"#)
}

#[test]
fn a_closed_vessel_or_probe_with_one_connection_ends_a_branch() {
    for class in ["pulsation_dampener", "bladder_accumulator", "air_chamber", "corrosion_probe", "coupon_holder"] {
        assert_eq!(with_branch(&json!({}), Some(class)), json!("yes"), "{class}");
    }
    for class in ["loading_arm", "calibration_cylinder", "strainer"] {
        assert_ne!(with_branch(&json!({}), Some(class)), json!("yes"), "{class}");
    }
}

#[test]
fn a_nozzle_with_a_cover_or_a_blind_is_closed() {
    for service in [
        "manhole",
        "hand hole",
        "inspection door",
        "quick opening closure",
        "clean-out",
        "spare (blinded)",
        "blanked",
        "spare",
    ] {
        assert_eq!(with_branch(&json!({ "service": service }), None), json!("yes"), "{service}");
    }
    for service in ["spare with valve", "not blinded", "to be blinded", "PSV", "utility connection"] {
        assert_eq!(with_branch(&json!({ "service": service }), None), json!("unknown"), "{service}");
    }
}

#[test]
fn a_valve_with_more_ways_than_pipes_lacks_a_pipe() {
    let branch = |class: &str, fields: &str| {
        let mut item = json!({"id": "X-1", "class": class});
        let more: Value = serde_json::from_str(fields).expect("JSON");
        more.as_object().into_iter().flatten().for_each(|(name, value)| item[name] = value.clone());
        let nodes = json!([item, {"id": "HV-2", "class": "gate_valve"}, {"id": "O-1", "class": "off_page_connector"}]);
        let edges = json!([{"id": "x1", "from": "V-1", "to": "X-1"}, {"id": "x2", "from": "X-1", "to": "HV-2"},
            {"id": "x3", "from": "HV-2", "to": "O-1"}]);
        answer_of(&plant(&json!({}), &nodes, &edges), r#"isolate("V-1") | [.isolated, .uncertain | map(.reason)]"#)
    };
    for (class, fields) in [
        ("three_way_valve", "{}"),
        ("three_way_control_valve", "{}"),
        ("control_valve", r#"{"number_of_ports": 3}"#),
        ("four_way_valve", "{}"),
        ("pipe_cross", "{}"),
    ] {
        let found = branch(class, fields);
        assert_eq!(found[0], json!("unknown"), "{class} {fields}");
        assert_eq!(found[1][0], json!("missing_pipe"), "{class} {fields}");
    }
    assert_eq!(branch("strainer", "{}"), json!(["yes", []]));
}

#[test]
fn an_item_at_the_start_of_a_pipe_with_the_tag_of_a_nozzle_may_be_one() {
    let document = |class: &str, tag: &str| {
        let nodes = json!([{"id": "X-1", "class": class, "tag": tag}, {"id": "O-1", "class": "off_page_connector"}]);
        plant(&json!({}), &nodes, &json!([{"id": "x1", "from": "X-1", "to": "O-1"}]))
    };
    for (class, tag) in [
        ("piping_component.nozzle", "V-1/N5"),
        ("nozzle", "V-1/N5"),
        ("flange", "V-1-N5"),
        ("weld_neck_flange", "V-1/N5"),
    ] {
        assert!(!is_isolated(&document(class, tag)), "{class} {tag}");
    }
    for (class, tag) in [("piping_component.nozzle", "V-9/N5"), ("flange", "F-12")] {
        assert!(is_isolated(&document(class, tag)), "{class} {tag}");
    }
}

#[test]
fn a_valve_with_an_actuator_is_passed_whatever_its_texts_say() {
    let nodes = json!([
        {"id": "X-1", "class": "globe_valve", "operation": "pneumatic", "description": "mixing valve"},
        {"id": "HV-2", "class": "gate_valve"}, {"id": "O-1", "class": "off_page_connector"}
    ]);
    let edges = json!([{"id": "x1", "from": "V-1", "to": "X-1"}, {"id": "x2", "from": "X-1", "to": "HV-2"},
        {"id": "x3", "from": "HV-2", "to": "O-1"}]);
    let document = plant(&json!({}), &nodes, &edges);
    assert!(is_isolated(&document));
    assert_eq!(answer_of(&document, r#"isolate("V-1", {acceptConditional: true}).isolated"#), json!("unknown"));
}

#[test]
fn a_text_that_something_else_moves_a_valve_makes_it_no_certain_barrier() {
    for text in [
        "spring return to open",
        "spring to close",
        "pilot operated",
        "pressure controlled",
        "mechanical stop at 20% open",
        "min. flow stop 10%",
        "self closing",
        "operated from PLC",
        "closed by ESD",
        "closes on low level",
        "float operated",
        "regulating",
        "rotork",
        "SDNR",
        "excess flow",
        "spool in place of valve",
        "weep hole 3 mm",
        "F.O.",
    ] {
        for name in ["remarks", "description"] {
            assert!(!is_isolated(&valve(&json!({ name: text }))), "{name} {text}");
        }
    }
    for text in [
        "heat traced",
        "spec break",
        "battery limit valve",
        "with limit switches",
        "low emission packing",
        "ext. stem",
        "self draining",
        "locate at grade",
        "PWHT",
        "for PSV testing",
        "install with stem horizontal",
        "reuse existing",
        "supplied loose",
        "existing valve reused",
    ] {
        for name in ["remarks", "description"] {
            assert!(is_isolated(&valve(&json!({ name: text }))), "{name} {text}");
        }
    }
}

#[test]
fn a_pipe_from_a_line_or_from_a_pipe_branches_off_somewhere_in_it() {
    let document = |nodes: Value, edge: Value| {
        let mut all = vec![
            json!({"id": "O-9", "class": "off_page_connector"}),
            json!({"id": "F-1", "class": "strainer"}),
            json!({"id": "HV-2", "class": "gate_valve"}),
        ];
        all.extend(nodes.as_array().into_iter().flatten().cloned());
        let edges = json!([{"id": "p1", "from": "V-1", "to": "F-1", "line": "L1"}, {"id": "p2", "from": "F-1", "to": "HV-2", "line": "L1"},
            {"id": "p3", "from": "HV-2", "to": "V-2"}, edge]);
        plant(&json!({}), &json!(all), &edges)
    };
    let line = json!([{"id": "L1", "tag": "L1", "node_type": "pipe_line"}]);
    let system = json!([{"id": "L1", "tag": "L1", "node_type": "piping_network_system"}]);
    for (nodes, edge) in [
        (line.clone(), json!({"id": "x", "from": "L1", "to": "O-9"})),
        (line, json!({"id": "x", "from": "O-9", "to": "L1"})),
        (system, json!({"id": "x", "from": "L1", "to": "O-9"})),
        (json!([]), json!({"id": "x", "from": "L1", "to": "O-9"})),
        (json!([]), json!({"id": "x", "from": "p1", "to": "O-9"})),
    ] {
        assert!(!is_isolated(&document(nodes.clone(), edge.clone())), "{nodes} {edge}");
    }
    let other = json!([{"id": "L2", "tag": "L2", "node_type": "piping_network_system"}]);
    assert!(is_isolated(&document(other, json!({"id": "x", "from": "L2", "to": "O-9"}))));
}

#[test]
fn a_valve_or_a_connection_on_a_vessel_without_a_pipe_is_a_gap() {
    for class in ["gate_valve", "control_valve", "check_valve", "off_page_connector"] {
        let nodes = json!([{"id": "HV-2", "tag": "HV-2", "class": class, "parent_id": "V-1"}]);
        assert!(!is_isolated(&plant(&json!({}), &nodes, &json!([]))), "{class}");
    }
}

#[test]
fn a_blind_or_a_cap_with_a_valve_in_its_text_is_no_certain_end() {
    for class in ["blind_flange", "pipe_cap", "pipe_plug"] {
        for text in [
            "with 3/4\" vent valve",
            "c/w bleed valve",
            "with hose connection",
            "with drain hole",
            "with tapped connection",
        ] {
            for name in ["remarks", "description"] {
                let nodes = json!([{"id": "N2", "class": "nozzle", "parent_id": "V-1"}, {"id": "X-1", "class": class, name: text}]);
                let edges = json!([{"id": "x1", "from": "N2", "to": "X-1"}]);
                assert!(!is_isolated(&plant(&json!({}), &nodes, &edges)), "{class} {name} {text}");
            }
        }
        let nodes = json!([{"id": "N2", "class": "nozzle", "parent_id": "V-1"}, {"id": "X-1", "class": class, "remarks": "with gasket"}]);
        let edges = json!([{"id": "x1", "from": "N2", "to": "X-1"}]);
        assert!(is_isolated(&plant(&json!({}), &nodes, &edges)), "{class}");
    }
}

#[test]
fn a_blind_that_is_open_by_its_status_is_no_barrier() {
    for status in ["open", "swung open"] {
        let fields = json!({"class": "spectacle_blind", "blind_position": "closed", "status": status});
        assert!(!is_isolated(&valve(&fields)), "{status}");
    }
    assert!(is_isolated(&valve(
        &json!({"class": "spectacle_blind", "blind_position": "closed", "status": "installed"})
    )));
}

#[test]
fn a_breather_is_an_open_vent_and_no_relief_device() {
    for class in ["desiccant_breather", "air_breather", "breather_cap"] {
        let nodes = json!([{"id": "N2", "class": "nozzle", "parent_id": "V-1"}, {"id": "X-1", "class": class}]);
        let document = plant(&json!({}), &nodes, &json!([{"id": "x1", "from": "N2", "to": "X-1"}]));
        assert_eq!(answer_of(&document, "reliefList()"), json!([]), "{class}");
        assert!(!is_isolated(&document), "{class}");
    }
}

#[test]
fn a_branch_whose_text_names_another_purpose_is_no_bleed() {
    let opened = |text: &str, at: &str| {
        let mut nodes = json!([
            {"id": "T-1", "class": "tee"}, {"id": "HV-2", "tag": "HV-2", "class": "gate_valve"},
            {"id": "HV-3", "tag": "HV-3", "class": "gate_valve", "normal_position": "closed"}, {"id": "O-1", "class": "open_end"}
        ]);
        for node in nodes.as_array_mut().into_iter().flatten().filter(|node| node["id"] == at) {
            node["description"] = json!(text);
        }
        let edges = json!([{"id": "x1", "from": "V-1", "to": "T-1"}, {"id": "x2", "from": "T-1", "to": "HV-2"},
            {"id": "x3", "from": "HV-2", "to": "V-2"}, {"id": "x4", "from": "T-1", "to": "HV-3"}, {"id": "x5", "from": "HV-3", "to": "O-1"}]);
        let query = r#"isolationPlan("V-1").steps | filter(.action == "open_bleed") | map(.node.id)"#;
        answer_of(&plant(&json!({}), &nodes, &edges), query)
    };
    for text in [
        "steam out",
        "priming connection",
        "fire water",
        "wash water",
        "kill line",
        "make-up",
        "methanol",
        "tie-in",
        "vacuum",
    ] {
        for at in ["HV-3", "O-1"] {
            assert_eq!(opened(text, at), json!([]), "{text} {at}");
        }
    }
    for text in [
        "",
        "drain",
        "low point drain",
        "high point vent",
        "gate valve, DN 25",
        "NC",
        "bleed valve",
        "vent to atmosphere",
    ] {
        for at in ["HV-3", "O-1"] {
            assert_eq!(opened(text, at), json!(["HV-3"]), "{text} {at}");
        }
    }
}

#[test]
fn a_field_of_another_name_that_speaks_against_a_valve_makes_it_uncertain() {
    for fields in [
        json!({"valve_status": "removed"}),
        json!({"install_status": "not installed"}),
        json!({"valve_condition": "removed"}),
        json!({"Zustand": "ausgebaut"}),
        json!({"statut": "supprimé"}),
        json!({"Bemerkung": "demontiert"}),
        json!({"remarque": "déposée"}),
        json!({"observations": "removed"}),
        json!({"annotation": "valve passing"}),
        json!({"fitted": false}),
        json!({"motorized": true}),
        json!({"Antrieb": "pneumatisch"}),
        json!({"commande": "pneumatique"}),
        json!({"operated_by": "LIC-101"}),
        json!({"controlled_by": "LIC-101"}),
        json!({"actuator_id": "ACT-1"}),
        json!({"signal_from": "LIC-101"}),
        json!({"interlock": "I-101"}),
        json!({"air_failure": "FC"}),
        json!({"no_of_ports": "3"}),
        json!({"integral_bypass": true}),
        json!({"bypass_valve": "HV-9"}),
        json!({"tight_shutoff": false}),
        json!({"tightness": "not tight"}),
        json!({"limit_stop": "10 %"}),
        json!({"leaking": "yes"}),
        json!({"stuck": "open"}),
        json!({"note_refs": ["4"]}),
        json!({"notes": "4"}),
        json!({"attributes": [{"name": "IntegralBypass", "value": "yes"}]}),
        json!({"description": "mit Pneumatikantrieb"}),
        json!({"description": "Kugelhahn mit Umgang DN25"}),
        json!({"description": "vanne tout ou rien"}),
        json!({"description": "air to open"}),
        json!({"description": "internal leakage"}),
        json!({"remarks": "blocked in open position"}),
    ] {
        assert!(!is_isolated(&valve(&with_class(&fields))), "{fields}");
    }
    for fields in [
        json!({"motorized": false}),
        json!({"Antrieb": "Handrad"}),
        json!({"commande": "manuelle"}),
        json!({"operated_by": "hand wheel"}),
        json!({"integral_bypass": "no"}),
        json!({"bypass_valve": ""}),
        json!({"interlock": "none"}),
        json!({"tight_shutoff": true}),
        json!({"tightness": "class A"}),
        json!({"leakage_class": "VI"}),
        json!({"flange_drilled": "ASME B16.5"}),
        json!({"remarks": "none"}),
        json!({"Bemerkung": "keine"}),
        json!({"observations": "aucune"}),
        json!({"statut": "existant"}),
        json!({"statut": "en service"}),
        json!({"Zustand": "neu"}),
        json!({"actionneur": "aucun"}),
        json!({"actuator_supplier": "n.a."}),
        json!({"final_inspection": "2025-02-01"}),
        json!({"operating_status": "normal"}),
        json!({"shutoff_class": "ANSI class IV"}),
        json!({"heat_tracing": "electric"}),
        json!({"project": "Phase 2 Expansion"}),
        json!({"fitted": true}),
        json!({"manufacturer": "Velan", "model": "B-3", "weight": 12.5, "order_number": 4711}),
        json!({"material_note": "carbon steel", "revision": "2", "coordinates": {"x": 1, "y": 2}}),
    ] {
        assert!(is_isolated(&valve(&with_class(&fields))), "{fields}");
    }
}

/// Returns the fields of a ball valve with others.
fn with_class(fields: &Value) -> Value {
    let mut all = fields.clone();
    all["class"] = json!("ball_valve");
    all
}

#[test]
fn a_note_that_an_edge_ties_to_a_valve_is_a_text_of_it() {
    let tied = |class: &str, text: &str, kind: &str| {
        let nodes = json!([{"id": "A-1", "class": class, "description": text}]);
        let edges = json!([{"id": "a1", "from": "A-1", "to": "HV-1", "edge_type": kind}]);
        is_isolated(&plant(&json!({"class": "ball_valve"}), &nodes, &edges))
    };
    for class in ["annotation.note", "annotation.text", "drawing_note"] {
        for kind in ["associated_with", "has_note", "refers_to"] {
            for text in ["valve removed, spool installed", "valve passing, do not use for isolation", "see note 4"] {
                assert!(!tied(class, text, kind), "{class} {kind} {text}");
            }
        }
    }
    for text in ["flanged", "locate at grade", "DN 50"] {
        assert!(tied("annotation.note", text, "associated_with"), "{text}");
    }
}

#[test]
fn an_opening_whose_cover_is_off_is_open() {
    let manhole = |fields: &Value| {
        let mut node = json!({"id": "M1", "class": "nozzle", "parent_id": "V-1"});
        node.as_object_mut().expect("a node").extend(fields.as_object().expect("fields").clone());
        is_isolated(&plant(&json!({"class": "ball_valve"}), &json!([node]), &json!([])))
    };
    for fields in [
        json!({"description": "manhole, cover removed"}),
        json!({"description": "open manhole"}),
        json!({"description": "manhole without cover"}),
        json!({"description": "manway with vent valve"}),
        json!({"description": "blind removed"}),
        json!({"description": "manhole", "status": "open"}),
        json!({"description": "manhole", "remarks": "opened for entry"}),
        json!({"description": "Mannloch offen"}),
    ] {
        assert!(!manhole(&fields), "{fields}");
    }
    for text in ["manhole", "manway with davit", "blinded", "quick opening closure"] {
        assert!(manhole(&json!({"description": text})), "{text}");
    }
}

#[test]
fn an_item_in_a_pipe_with_a_connection_in_its_text_may_be_open() {
    let flange = |text: &str| {
        let nodes = json!([
            {"id": "N2", "class": "nozzle", "parent_id": "V-1"},
            {"id": "FL-2", "class": "piping_component.flange", "description": text},
            {"id": "HV-2", "class": "gate_valve"},
            {"id": "O-2", "class": "off_page_connector"}
        ]);
        let edges = json!([{"id": "f1", "from": "N2", "to": "FL-2"}, {"id": "f2", "from": "FL-2", "to": "HV-2"}, {"id": "f3", "from": "HV-2", "to": "O-2"}]);
        is_isolated(&plant(&json!({"class": "ball_valve"}), &nodes, &edges))
    };
    for text in
        ["flange with open drain", "flange with 3/4\" drain connection", "with hose connection", "tapped flange"]
    {
        assert!(!flange(text), "{text}");
    }
    for text in ["flange", "weld neck flange", "flange with gasket"] {
        assert!(flange(text), "{text}");
    }
}

#[test]
fn the_type_of_a_valve_with_a_general_class_is_read_from_other_fields() {
    // The type, and what it makes of the valve: a barrier, an action that closes it, what is passed, or a reason.
    let types = [
        ("gate", "barrier"),
        ("Gate Valve", "barrier"),
        ("Ball", "barrier"),
        ("check", "passed"),
        ("Swing check valve", "passed"),
        ("NRV", "passed"),
        ("relief", "passed"),
        ("Safety valve", "passed"),
        ("control", "close"),
        ("Control Valve", "close"),
        // Its third pipe is not drawn.
        ("3-way", "missing_pipe"),
        ("three-way valve", "missing_pipe"),
    ];
    let judged = |fields: &Value| {
        let found = answer_of(
            &valve(fields),
            r#"isolate("V-1") | [.barriers | map(.kind), .conditional | map(.action), .uncertain | map(.reason)]"#,
        );
        match (found[0].as_array().map_or(0, Vec::len), found[1][0].as_str(), found[2][0].as_str()) {
            (_, _, Some(reason)) => reason.to_owned(),
            (1, _, _) => "barrier".to_owned(),
            (_, Some(action), _) => action.to_owned(),
            _ => "passed".to_owned(),
        }
    };
    for class in ["valve", "Valve", "piping_component.valve", "valves"] {
        for field in ["valve_type", "kind", "subtype", "component_type", "type_description"] {
            for (text, expected) in types {
                assert_eq!(judged(&json!({"class": class, field: text})), expected, "{class} {field} {text}");
            }
        }
        // Another field with a class.
        for (text, expected) in types {
            assert_eq!(judged(&json!({"class": class, "type": text})), expected, "{class} type {text}");
        }
        assert_eq!(judged(&json!({"class": class})), "unknown_class", "{class}");
        for field in ["category", "valve_type"] {
            assert_eq!(judged(&json!({"class": class, field: "piping"})), "unknown_class", "{class} {field}");
        }
        // A category beside the type says nothing.
        assert_eq!(judged(&json!({"class": class, "category": "piping", "valve_type": "gate"})), "barrier", "{class}");
        // Two types that differ.
        let two = json!({"class": class, "valve_type": "gate", "subtype": "check valve"});
        assert_ne!(judged(&two), "barrier", "{class}");
    }
    // Without the word for valves in the class, the type names one.
    for class in ["piping_component", "component", "inline_component"] {
        for (text, expected) in types.iter().filter(|(text, _)| text.to_lowercase().contains("valve")) {
            assert_eq!(judged(&json!({"class": class, "valve_type": text})), *expected, "{class} {text}");
        }
    }
}
