//! Statements about a volume without a pipe: bypass valves, nozzles in lists, valves on a line; equipment by its nozzles or
//! in other languages; what is not there.

use serde_json::{Value, json};

use crate::answers::answer_of;

/// Returns a vessel with two nozzles, of which one has a hand valve on a line; with more fields of the vessel and nodes.
fn plant(fields: &Value, nodes: &Value) -> Value {
    let mut vessel = json!({"id": "V-1", "tag": "V-1", "node_classification": "equipment.vessel"});
    vessel.as_object_mut().expect("fields").extend(fields.as_object().expect("fields").clone());
    let nozzle = |name: &str| json!({"id": format!("V-1/{name}"), "tag": name, "node_classification": "equipment_component.nozzle"});
    let has = |name: &str| json!({"from": "V-1", "to": format!("V-1/{name}"), "edge_type": "has_a"});
    let pipe = |from: &str, to: &str, line: &str| json!({"from": from, "to": to, "edge_type": "piping", "line": line});
    let mut all = vec![
        vessel,
        nozzle("N1"),
        nozzle("N2"),
        json!({"id": "HV-1", "tag": "HV-1", "node_classification": "gate_valve"}),
        json!({"id": "HV-2", "tag": "HV-2", "node_classification": "gate_valve"}),
        json!({"id": "O-1", "node_classification": "off_page_connector"}),
        json!({"id": "O-2", "node_classification": "off_page_connector"}),
    ];
    all.extend(nodes.as_array().expect("nodes").clone());
    let edges = [
        has("N1"),
        has("N2"),
        pipe("V-1/N1", "HV-1", "L-1"),
        pipe("HV-1", "O-1", "L-9"),
        pipe("V-1/N2", "HV-2", "L-2"),
        pipe("HV-2", "O-2", "L-2"),
    ];
    json!({"pid_graph": {"nodes": all, "edges": edges}})
}

/// Returns whether the vessel is isolated, what is uncertain and what is missing.
fn judged(document: &Value) -> Value {
    let rows = ".uncertain | map(.reason + \" \" + .at.id), .data_gaps | map(.kind + \" \" + .at.id)";
    answer_of(document, &format!(r#"isolate("V-1") | [.isolated, {rows}]"#))
}

#[test]
fn a_bypass_valve_that_only_a_field_states_makes_its_valve_uncertain() {
    for field in ["bypass_of", "BypassOf", "bypass_for", "bypasses"] {
        for target in [json!("HV-1"), json!(["HV-1"]), json!({"id": "HV-1"})] {
            let bypass = json!([{"id": "HV-9", "node_classification": "globe_valve", field: target}]);
            assert_eq!(
                judged(&plant(&json!({}), &bypass)),
                json!(["unknown", ["unknown_part HV-1"], []]),
                "{field} {target}"
            );
        }
    }
    // Of another valve, or with a field that says nothing of it.
    for bypass in [
        json!([{"id": "HV-9", "node_classification": "globe_valve", "bypass_of": "HV-77"}]),
        json!([{"id": "HV-9", "node_classification": "globe_valve", "bypass_of": null}]),
        json!([{"id": "HV-9", "node_classification": "globe_valve", "near": "HV-1"}]),
    ] {
        assert_eq!(judged(&plant(&json!({}), &bypass)), json!(["yes", [], []]), "{bypass}");
    }
}

#[test]
fn a_nozzle_in_a_list_of_its_vessel_that_the_drawing_lacks_is_a_gap() {
    let gap = json!(["unknown", [], ["unconnected_nozzle V-1"]]);
    for fields in [
        json!({"nozzles": [{"tag": "N1"}, {"tag": "N2"}, {"tag": "N3", "size": 50}]}),
        json!({"nozzles": ["N1", "N2", "N3"]}),
        json!({"Nozzles": ["V-1-N1", "V-1-N2", "V-1-N3"]}),
        json!({"connections": ["N1", "N2", "K3"]}),
        json!({"number_of_nozzles": 3}),
        json!({"nozzle_count": "3"}),
    ] {
        assert_eq!(judged(&plant(&fields, &json!([]))), gap, "{fields}");
    }
    for fields in [
        json!({"nozzles": [{"tag": "N1"}, {"tag": "N2"}]}),
        json!({"nozzles": ["n1", "N 2"]}),
        json!({"nozzles": [{"tag": "N1"}, {"tag": "N2"}, {"tag": "M1", "service": "manhole"}]}),
        json!({"nozzles": [{"tag": "N1"}, {"tag": "N2"}, {"tag": "N3", "remark": "spare, blinded"}]}),
        // A list of neighbors or of types of connections.
        json!({"connections": ["HV-1", "HV-2", "LT-1"]}),
        json!({"connections": "flanged"}),
        json!({"number_of_nozzles": 2}),
        json!({"number_of_nozzles": "tbd"}),
    ] {
        assert_eq!(judged(&plant(&fields, &json!([]))), json!(["yes", [], []]), "{fields}");
    }
}

#[test]
fn a_valve_on_a_line_of_the_volume_without_a_pipe_is_a_gap() {
    let loose = |class: &str, line: &str| json!([{"id": "X-3", "node_classification": class, "line": line}]);
    for class in ["ball_valve", "control_valve", "check_valve", "safety_valve", "open_end", "off_page_connector"] {
        let expected = json!(["unknown", [], ["free_port X-3"]]);
        for line in ["L-1", "L-2"] {
            assert_eq!(judged(&plant(&json!({}), &loose(class, line))), expected, "{class} {line}");
        }
        // The line behind the valve, another line, and an item of no pipe.
        for line in ["L-9", "L-7", ""] {
            assert_eq!(judged(&plant(&json!({}), &loose(class, line))), json!(["yes", [], []]), "{class} {line}");
        }
    }
    for class in ["instrument.transmitter", "annotation.label"] {
        assert_eq!(judged(&plant(&json!({}), &loose(class, "L-1"))), json!(["yes", [], []]), "{class}");
    }
}

#[test]
fn a_line_or_an_item_that_a_field_ties_to_the_volume_without_a_pipe_is_a_gap() {
    for fields in [
        json!({"node_type": "piping_network_segment", "from": "V-1", "to": "T-9"}),
        json!({"node_type": "line", "tag": "L-77", "from_equipment": "T-9", "to_equipment": "V-1"}),
        json!({"node_classification": "piping.pipeline", "Source": "T-9", "Destination": ["V-1"]}),
        json!({"node_type": "line", "attributes": [{"name": "To Equipment", "value": "V-1"}]}),
    ] {
        let mut line = fields.clone();
        line["id"] = json!("L-77");
        assert_eq!(
            judged(&plant(&json!({}), &json!([line]))),
            json!(["unknown", [], ["unknown_connection V-1"]]),
            "{fields}"
        );
    }
    // To other equipment, or drawn by a pipe or as a member; a signal.
    for line in [
        json!({"id": "L-77", "node_type": "line", "from": "T-8", "to": "T-9"}),
        json!({"id": "L-1", "node_type": "line", "from": "V-1", "to": "O-1"}),
        json!({"id": "x1", "tag": "L-9", "node_type": "line", "from": "V-1", "to": "O-1"}),
        json!({"id": "x2", "node_classification": "signal_line", "from": "V-1", "to": "LT-1"}),
        json!({"id": "x3", "node_type": "note", "from": "V-1"}),
    ] {
        assert_eq!(judged(&plant(&json!({}), &json!([line]))), json!(["yes", [], []]), "{line}");
    }
    for class in ["ball_valve", "safety_valve", "off_page_connector"] {
        let item = |end: &str| json!([{"id": "X-3", "node_classification": class, "connected_to": end}]);
        assert_eq!(judged(&plant(&json!({}), &item("V-1"))), json!(["unknown", [], ["free_port X-3"]]), "{class}");
        assert_eq!(judged(&plant(&json!({}), &item("T-9"))), json!(["yes", [], []]), "{class}");
    }
    let mut document = plant(&json!({}), &json!([]));
    let edges = document["pid_graph"]["edges"].as_array_mut().expect("edges");
    edges.push(json!({"id": "p", "edge_type": "piping", "from_equipment": "V-1", "to_equipment": "T-9"}));
    assert_eq!(judged(&document), json!(["unknown", [], ["dangling_edge V-1"]]));
}

#[test]
fn a_nozzle_or_a_boot_belongs_to_the_equipment_that_a_field_names() {
    let other = json!({"id": "v9", "tag": "V-9", "node_classification": "equipment.vessel"});
    let nozzle = |fields: &Value| {
        let mut nozzle = json!({"id": "n9", "tag": "N9", "node_classification": "equipment_component.nozzle"});
        nozzle.as_object_mut().expect("fields").extend(fields.as_object().expect("fields").clone());
        nozzle
    };
    let with = |nodes: Value| {
        let mut document = plant(&json!({}), &nodes);
        let edges = document["pid_graph"]["edges"].as_array_mut().expect("edges");
        edges.push(json!({"from": "n9", "to": "s9", "edge_type": "piping"}));
        edges.push(json!({"from": "s9", "to": "o9", "edge_type": "piping"}));
        document
    };
    let strainer = json!({"id": "s9", "node_classification": "strainer", "equipment": "V-1"});
    let end = json!({"id": "o9", "node_classification": "off_page_connector"});
    for field in ["equipment", "equipmentId", "equipment_tag", "part_of", "partOf", "belongs_to", "parent_tag", "owner"]
    {
        for (tag, volume) in [("V-1", "V-1"), ("V-9", "v9")] {
            let document = with(json!([other, nozzle(&json!({field: tag})), strainer, end]));
            let query =
                |function: &str| format!(r#"{function}("{volume}") | map(.id) | filter(. in ["n9", "s9", "o9"])"#);
            assert_eq!(answer_of(&document, &query("downstream")), json!(["s9", "o9"]), "{field} {tag}");
            let open = answer_of(&document, &format!(r#"isolate("{volume}").unresolved | map(.at.id)"#));
            assert_eq!(open, json!(["o9"]), "{field} {tag}");
        }
        // Of a boot that a field names in turn.
        let boot = json!({"id": "b9", "tag": "B-9", "node_classification": "equipment_component.boot", field: "V-1"});
        let document = with(json!([boot, nozzle(&json!({field: "B-9"})), strainer, end]));
        let open = answer_of(&document, r#"isolate("V-1").unresolved | map(.at.id)"#);
        assert_eq!(open, json!(["o9"]), "{field}");
        assert_eq!(answer_of(&document, r#"downstream("V-1") | map(.id) | last()"#), json!("o9"), "{field}");
        // With a pipe of its own.
        for class in ["equipment_component.boot", "equipment.boot"] {
            let boot = json!({"id": "n9", "tag": "B-9", "node_classification": class, field: "V-1"});
            let document = with(json!([boot, strainer, end]));
            assert_eq!(answer_of(&document, r#"isolate("V-1").unresolved | map(.at.id)"#), json!(["o9"]), "{field}");
            assert_eq!(answer_of(&document, r#"downstream("V-1") | map(.id) | last()"#), json!("o9"), "{field}");
        }
        // Of equipment that the drawing lacks: it may be the vessel under another name.
        let document = with(json!([nozzle(&json!({field: "X-99"})), strainer, end]));
        assert_eq!(judged(&document), json!(["unknown", ["unknown_owner n9"], []]), "{field}");
    }
    // A parent by its tag, and two vessels with one tag.
    let document = with(json!([other, nozzle(&json!({"parent_id": "V-9"})), strainer, end]));
    assert_eq!(answer_of(&document, r#"downstream("v9") | map(.id)"#), json!(["s9", "o9"]));
    // What only names equipment beside it is no part of it.
    let beside = json!({"id": "s8", "node_classification": "strainer", "equipment": "V-1"});
    assert_eq!(judged(&plant(&json!({}), &json!([beside]))), json!(["yes", [], []]));
}

#[test]
fn a_machine_with_one_pipe_lacks_the_other_one() {
    let machine = |class: &str, rest: &Value| {
        let mut nodes = vec![
            json!({"id": "P-1", "node_classification": class}),
            json!({"id": "HV-1", "node_classification": "gate_valve"}),
            json!({"id": "T-1", "node_classification": "tank"}),
        ];
        nodes.extend(rest["nodes"].as_array().into_iter().flatten().cloned());
        let mut edges = vec![json!({"from": "P-1", "to": "HV-1"}), json!({"from": "HV-1", "to": "T-1"})];
        edges.extend(rest["edges"].as_array().into_iter().flatten().cloned());
        let document = json!({"nodes": nodes, "edges": edges});
        answer_of(&document, r#"isolate("P-1") | [.isolated, .complete, .uncertain | map(.reason + " " + .at.id)]"#)
    };
    for class in
        ["pump", "centrifugal_compressor", "equipment.blower", "steam_turbine", "Kreiselpumpe", "equipment.expander"]
    {
        assert_eq!(machine(class, &json!({})), json!(["unknown", true, ["missing_pipe P-1"]]), "{class}");
    }
    for class in ["heat_exchanger", "plate_heat_exchanger", "Wärmeübertrager", "ejector", "jet_pump"] {
        assert_eq!(machine(class, &json!({})), json!(["unknown", true, ["missing_pipe P-1"]]), "{class}");
    }
    for class in ["vessel", "air_cooled_heat_exchanger", "electric_heater", "agitator"] {
        assert_eq!(machine(class, &json!({}))[0], json!("yes"), "{class}");
    }
    let second = json!({
        "nodes": [{"id": "HV-2", "node_classification": "gate_valve"}],
        "edges": [{"from": "T-1", "to": "HV-2"}, {"from": "HV-2", "to": "P-1"}],
    });
    assert_eq!(machine("pump", &second), json!(["yes", true, []]));
    // An exchanger with one side, and an ejector without one of its fluids.
    for class in ["shell_and_tube_heat_exchanger", "condenser", "ejector"] {
        assert_eq!(machine(class, &second), json!(["unknown", true, ["missing_pipe P-1"]]), "{class}");
    }
    let third = json!({
        "nodes": [
            {"id": "HV-2", "node_classification": "gate_valve"}, {"id": "HV-3", "node_classification": "gate_valve"},
            {"id": "T-3", "node_classification": "tank"}
        ],
        "edges": [
            {"from": "T-1", "to": "HV-2"}, {"from": "HV-2", "to": "P-1"}, {"from": "T-3", "to": "HV-3"},
            {"from": "HV-3", "to": "P-1"}
        ],
    });
    assert_eq!(machine("ejector", &third), json!(["yes", true, []]));
}

#[test]
fn an_exchanger_on_the_way_may_have_one_side_on_the_sheet() {
    let document = json!({
        "nodes": [
            {"id": "V-1", "class": "vessel"}, {"id": "E-1", "class": "heat_exchanger"}, {"id": "H-1", "class": "gate_valve"},
            {"id": "H-2", "class": "gate_valve"}, {"id": "T-1", "class": "tank"}
        ],
        "edges": [
            {"from": "T-1", "to": "H-1"}, {"from": "H-1", "to": "V-1"}, {"from": "V-1", "to": "E-1"},
            {"from": "E-1", "to": "H-2"}, {"from": "H-2", "to": "T-1"}
        ]
    });
    let missing = |start: &str| {
        let query =
            format!(r#"isolate("{start}", {{pass: "zone"}}).uncertain | filter(.reason == "missing_pipe") | size()"#);
        answer_of(&document, &query)
    };
    assert_eq!((missing("V-1"), missing("E-1")), (json!(0), json!(1)));
}

#[test]
fn an_item_in_a_pipe_where_fluids_meet_has_three_pipes() {
    for (class, expected) in
        [("injection_quill", "unknown"), ("piping_component.ejector", "unknown"), ("strainer", "yes")]
    {
        let document = json!({
            "nodes": [
                {"id": "V-1", "class": "vessel"}, {"id": "A-1", "class": class}, {"id": "H-1", "class": "gate_valve"},
                {"id": "T-1", "class": "tank"}
            ],
            "edges": [{"from": "V-1", "to": "A-1"}, {"from": "A-1", "to": "H-1"}, {"from": "H-1", "to": "T-1"}]
        });
        assert_eq!(answer_of(&document, r#"isolate("V-1").isolated"#), json!(expected), "{class}");
    }
}

#[test]
fn a_valve_without_a_pipe_that_names_its_equipment_is_a_gap() {
    for field in ["equipment", "partOf", "mounted_on", "equipment_tag", "parent_id", "parent_equipment"] {
        for class in ["gate_valve", "safety_valve", "open_end"] {
            let item = json!([{"id": "HV-9", "tag": "HV-9", "node_classification": class, field: "V-1"}]);
            let found = judged(&plant(&json!({}), &item));
            assert_ne!(found[0], json!("yes"), "{field} {class}: {found}");
            if class == "open_end" {
                continue;
            }
            assert!(
                found[2].as_array().is_some_and(|gaps| gaps.contains(&json!("free_port HV-9"))),
                "{field} {class}: {found}"
            );
        }
    }
}

#[test]
fn an_item_that_owns_nozzles_is_equipment() {
    for class in ["Gasifier9", "XYZ Apparat", "Behälter", "Kolonne", "réservoir", "pompe", "Extruder", "PigReceiver"]
    {
        for edge in ["has_a", "physically_has_a"] {
            let mut document = plant(&json!({"node_classification": class}), &json!([]));
            for at in 0..2 {
                document["pid_graph"]["edges"][at]["edge_type"] = json!(edge);
            }
            assert_eq!(judged(&document), json!(["yes", [], []]), "{class} {edge}");
            let other = answer_of(&document, r#"isolate("HV-1").unresolved | map(.kind + " " + .at.id) | sort() | .0"#);
            assert_eq!(other, json!("equipment V-1"), "{class} {edge}");
        }
    }
    // A line has nozzles as members, and a skid has equipment and valves.
    for fields in [
        json!({"node_type": "piping_network_system", "node_classification": "my_run"}),
        json!({"node_classification": "piping_network_segment.run"}),
        json!({"node_classification": "plant_section"}),
    ] {
        let roles = answer_of(&plant(&fields, &json!([])), "equipmentList() | map(.tag)");
        assert_eq!(roles, json!([]), "{fields}");
    }
    let mut skid = plant(&json!({"node_classification": "my_gizmo"}), &json!([]));
    let edges = skid["pid_graph"]["edges"].as_array_mut().expect("edges");
    edges.push(json!({"from": "V-1", "to": "HV-1", "edge_type": "has_a"}));
    assert_eq!(answer_of(&skid, "equipmentList() | map(.tag)"), json!([]));
}

#[test]
fn classes_of_equipment_need_no_group() {
    for class in [
        "PigReceiver",
        "pig_launcher",
        "Autoclave",
        "Crystallizer",
        "Deaerator",
        "SlugCatcher",
        "Vaporizer",
        "Turboexpander",
        "Fermenter",
        "sphere",
        "Kreiselpumpe",
        "Rührkessel",
        "Verdichter",
        "échangeur de chaleur",
        "Wärmeübertrager",
        "compresseur",
    ] {
        let document = json!({
            "nodes": [{"id": "X", "class": class}, {"id": "H", "class": "gate_valve"}, {"id": "T", "class": "tank"}],
            "edges": [{"from": "X", "to": "H"}, {"from": "H", "to": "T"}]
        });
        assert_eq!(answer_of(&document, r#"isolate("X").complete"#), json!(true), "{class}");
    }
}

#[test]
fn a_seal_pot_in_a_pipe_is_a_part_of_the_pipe() {
    for class in ["seal_pot", "piping_component.seal_pot", "WaterSeal", "water_seal", "liquid_seal"] {
        let document = json!({
            "nodes": [
                {"id": "P", "class": "pump"}, {"id": "S", "class": class}, {"id": "H", "class": "gate_valve"},
                {"id": "T", "class": "tank"}
            ],
            "edges": [{"from": "P", "to": "S"}, {"from": "S", "to": "H"}, {"from": "H", "to": "T"}]
        });
        let isolated = answer_of(&document, r#"isolate("P") | [.complete, .barriers | map(.node.id)]"#);
        assert_eq!(isolated, json!([true, ["H"]]), "{class}");
    }
}

#[test]
fn equipment_and_nozzles_that_are_not_there_make_the_answer_uncertain() {
    for (status, reason) in
        [("demolished", "not_installed"), ("future", "not_installed"), ("to be removed", "unknown_status")]
    {
        let expected = json!(["unknown", [format!("{reason} V-1")], []]);
        assert_eq!(judged(&plant(&json!({"status": status}), &json!([]))), expected, "{status}");
    }
    for status in ["installed", "existing", "new"] {
        assert_eq!(judged(&plant(&json!({"status": status}), &json!([]))), json!(["yes", [], []]), "{status}");
    }
    let mut document = plant(&json!({}), &json!([]));
    document["pid_graph"]["nodes"][1]["status"] = json!("removed");
    assert_eq!(judged(&document), json!(["unknown", ["not_installed V-1/N1"], []]));
}

#[test]
fn an_item_of_unknown_class_with_one_pipe_may_have_another_side() {
    let end = |class: &str| {
        json!({
            "nodes": [
                {"id": "V-1", "node_classification": "equipment.vessel"},
                {"id": "HV-1", "node_classification": "gate_valve"},
                {"id": "X-1", "node_classification": class},
            ],
            "edges": [{"source": "V-1", "target": "HV-1"}, {"source": "HV-1", "target": "X-1"}],
        })
    };
    let gaps = |class: &str| answer_of(&end(class), r#"isolate("X-1").data_gaps | map(.kind)"#);
    for class in ["hose_connection", "tundish", "sample_point", "gizmo"] {
        assert_eq!(gaps(class), json!(["free_port"]), "{class}");
    }
    assert_eq!(gaps("cap"), json!([]));
}

#[test]
fn a_valve_that_stands_for_an_operated_one_is_actuated() {
    let reference = json!([{"id": "OV-1", "node_classification": "OperatedValveReference"}]);
    let mut document = plant(&json!({}), &reference);
    let edges = document["pid_graph"]["edges"].as_array_mut().expect("edges");
    edges.push(json!({"from": "OV-1", "to": "HV-1", "edge_type": "reference"}));
    assert_eq!(
        answer_of(&document, r#"isolate("V-1") | [.isolated, .conditional | map([.node.id, .action])]"#),
        json!(["no", [["HV-1", "close"]]])
    );
}

#[test]
fn a_drive_that_names_its_valve_in_a_field_makes_it_actuated() {
    let drive = |class: &str, fields: &Value| {
        let mut node = json!({"id": "A-1", "tag": "A-1", "node_classification": class});
        node.as_object_mut().expect("a node").extend(fields.as_object().expect("fields").clone());
        node
    };
    let conditional = |nodes: &Value| {
        answer_of(&plant(&json!({}), nodes), r#"isolate("V-1") | [.isolated, .conditional | map(.node.id)]"#)
    };
    let moved = json!(["no", ["HV-1"]]);
    let fields = [
        "attached_to",
        "attachedTo",
        "mounted_on",
        "valve",
        "Valve Tag",
        "equipment",
        "parent",
        "parent_id",
        "actuates",
        "belongs_to",
        "owner",
    ];
    for class in ["actuator", "piping_component.pneumatic_actuator", "solenoid_valve", "motor", "positioner"] {
        for field in fields {
            for name in [json!("HV-1"), json!(["HV-1"]), json!({"id": "HV-1"})] {
                assert_eq!(conditional(&json!([drive(class, &json!({field: name}))])), moved, "{class} {field} {name}");
            }
            // What is on no sheet, or is no valve, says nothing.
            for name in ["HV-77", "V-1", "", "-", "ball"] {
                let found = conditional(&json!([drive(class, &json!({field: name}))]));
                assert_eq!(found[1], json!([]), "{class} {field} {name}");
            }
        }
    }
    // What is no drive, and what a hand moves.
    for class in ["annotation.note", "instrument.position_switch", "handwheel", "manual_actuator"] {
        let found = conditional(&json!([drive(class, &json!({"attached_to": "HV-1"}))]));
        assert_eq!(found[1], json!([]), "{class}");
    }
    // By an actuator, and in the attributes.
    let chain = json!([
        drive("actuator", &json!({"attributes": [{"name": "Attached To", "value": "HV-1"}]})),
        {"id": "Y-1", "tag": "Y-1", "node_classification": "solenoid_valve", "mounted_on": "A-1"},
    ]);
    assert_eq!(conditional(&chain), moved);
}

#[test]
fn the_tag_that_a_drive_names_may_be_that_of_several_valves() {
    let tagged = |names: [&str; 2], stated: &str, field: &str| {
        let drive = json!([{"id": "A-1", "node_classification": "actuator", field: stated, "fail_action": "FO"}]);
        let mut document = plant(&json!({}), &drive);
        for node in document["pid_graph"]["nodes"].as_array_mut().expect("nodes") {
            for (id, tag) in [("HV-1", names[0]), ("HV-2", names[1])] {
                if node["id"] == id {
                    node["tag"] = json!(tag);
                    node["id"] = json!(format!("u-{id}"));
                }
            }
        }
        document.to_string().replace(r#""HV-1""#, r#""u-HV-1""#).replace(r#""HV-2""#, r#""u-HV-2""#)
    };
    let conditional =
        |document: &str| answer_of(document, r#"isolate("V-1").conditional | map([.node.id, .fail_action]) | sort()"#);
    for field in ["parent", "attached_to", "valve"] {
        for stated in ["XA 1", "xa-1", "XA1"] {
            let one = tagged(["XA-1", "XA-2"], stated, field);
            assert_eq!(conditional(&one), json!([["u-HV-1", "FO"]]), "{field} {stated}");
            let two = tagged(["XA-1", "XA-1"], stated, field);
            assert_eq!(conditional(&two), json!([["u-HV-1", "FO"], ["u-HV-2", "FO"]]), "{field} {stated}");
        }
        let both = tagged(["XA-1", "XA-2"], "XA-1 / XA-2", field);
        assert_eq!(conditional(&both), json!([["u-HV-1", "FO"], ["u-HV-2", "FO"]]), "{field}");
    }
}

#[test]
fn a_manhole_or_an_unused_nozzle_without_a_pipe_is_closed() {
    let nozzle = |fields: &Value| {
        let mut node = json!({"id": "N9", "node_classification": "equipment_component.nozzle", "parent_id": "V-1"});
        node.as_object_mut().expect("a node").extend(fields.as_object().expect("fields").clone());
        judged(&plant(&json!({}), &json!([node])))
    };
    for text in
        ["MH", "MH-1", "MH1", "MW", "HH", "HH-2", "MH 24\"", "manway", "hand hole", "blanked", "spare", "SPARE NOZZLE"]
    {
        for field in ["tag", "description", "service"] {
            assert_eq!(nozzle(&json!({field: text})), json!(["yes", [], []]), "{field} {text}");
        }
    }
    for text in ["", "N9", "M1", "vent", "spare with valve", "spare, to be piped", "MH open", "future"] {
        let found = nozzle(&json!({"description": text}));
        assert_eq!(found[2], json!(["unconnected_nozzle N9"]), "{text}");
    }
    let listed = |nozzle: Value| judged(&plant(&json!({"nozzles": ["N1", "N2", nozzle]}), &json!([])));
    for covered in [json!({"tag": "N3", "service": "spare"}), json!("MH-1"), json!({"tag": "M1", "type": "MH"})] {
        assert_eq!(listed(covered.clone())[0], json!("yes"), "{covered}");
    }
    assert_eq!(listed(json!({"tag": "N3", "service": "feed"}))[0], json!("unknown"));
}

#[test]
fn a_line_or_a_connection_that_a_field_of_equipment_names_may_not_be_drawn() {
    let uncertain = |fields: &Value| judged(&plant(fields, &json!([])))[1].clone();
    for field in ["inlet_line", "Inlet Line", "connected_lines", "bottom_outlet", "drain_line", "top_outlet"] {
        for name in [json!("PL-105"), json!(["L-1", "PL-105"]), json!("L-2, PL-105")] {
            assert_eq!(uncertain(&json!({field: name})), json!(["unread_text V-1"]), "{field} {name}");
        }
    }
    for fields in [
        json!({"inlet_line": "L-1"}),
        json!({"connected_lines": ["L-1", "L-2"]}),
        json!({"connected_lines": "l 1, L2"}),
        json!({"bottom_outlet": "HV-2"}),
        json!({"top_outlet": "N2"}),
        json!({"top_outlet": "DN 50"}),
        // It may be on another sheet.
        json!({"discharges_to": "V-201"}),
        json!({"drain": "yes"}),
        json!({"vent": "to atmosphere"}),
        json!({"lines": 2}),
        json!({"inlet_line": ""}),
    ] {
        assert_eq!(uncertain(&fields), json!([]), "{fields}");
    }
}
