//! Texts of equipment, pipes and notes: connections that are not drawn, notes on the sheet that name a barrier. Classes and
//! texts of valves in the words of vendors, and positions of blinds in a label.

use serde_json::{Value, json};

use crate::answers::answer_of;

/// Returns a vessel with two pipes, each with a hand valve, with more fields of the vessel, of the second pipe in it, and of the
/// second valve, and with more nodes and edges.
fn plant(fields: [&Value; 3], nodes: &Value, edges: &Value) -> Value {
    let with = |mut item: Value, fields: &Value| {
        item.as_object_mut().expect("fields").extend(fields.as_object().expect("fields").clone());
        item
    };
    let mut all = vec![
        with(json!({"id": "V-1", "tag": "V-1", "class": "vessel"}), fields[0]),
        json!({"id": "HV-1", "tag": "HV-1", "class": "gate_valve"}),
        with(json!({"id": "HV-2", "tag": "HV-2", "class": "gate_valve"}), fields[2]),
        json!({"id": "O-1", "class": "off_page_connector"}),
        json!({"id": "O-2", "class": "off_page_connector"}),
    ];
    all.extend(nodes.as_array().expect("nodes").clone());
    let mut pipes = vec![
        json!({"from": "O-1", "to": "HV-1"}),
        json!({"from": "HV-1", "to": "V-1"}),
        with(json!({"from": "V-1", "to": "HV-2"}), fields[1]),
        json!({"from": "HV-2", "to": "O-2"}),
    ];
    pipes.extend(edges.as_array().expect("edges").clone());
    json!({"nodes": all, "edges": pipes})
}

/// Returns whether the vessel is isolated, and the reasons for which it is not certain.
fn judged(document: &Value) -> Value {
    answer_of(document, r#"isolate("V-1") | [.isolated, .uncertain | map(.reason) | uniq()]"#)
}

fn nothing() -> Value {
    json!({})
}

#[test]
fn a_text_of_equipment_says_that_connections_are_not_drawn() {
    let of = |text: &str, field: &str| {
        judged(&plant([&json!({field: text}), &nothing(), &nothing()], &json!([]), &json!([])))
    };
    for text in [
        "Utility connections not shown for clarity",
        "drain and vents not shown",
        "typ drain on each nozzle",
        "instruments continued on PID-102",
        "see also sheet 3 for instrument nozzles",
        "Anschlüsse nicht dargestellt",
        "knock-out drum, vented",
        "Behälter, drucklos, belüftet",
    ] {
        for field in ["description", "remarks"] {
            assert_eq!(of(text, field), json!(["unknown", ["unread_text"]]), "{field}: {text}");
        }
    }
    for text in [
        "insulation not shown",
        "trays and internals not shown",
        "ladders and platforms not shown",
        "feed drum",
        "vent condenser drum",
        "vented to flare",
    ] {
        assert_eq!(of(text, "description"), json!(["yes", []]), "{text}");
    }
    for text in ["gooseneck vent", "overflow to pit"] {
        assert_eq!(of(text, "remarks")[0], json!("no"), "{text}");
    }
}

#[test]
fn a_text_of_a_pipe_says_that_it_has_a_branch() {
    let of = |text: &str| judged(&plant([&nothing(), &json!({"remarks": text}), &nothing()], &json!([]), &json!([])));
    for text in ["with 3/4\" drain valve", "with drain valve, see detail 4", "bypass not shown", "continued on sheet 2"]
    {
        assert_eq!(of(text), json!(["unknown", ["unread_text"]]), "{text}");
    }
    for text in ["insulated", "traced, heat tracing not shown", "slope 1:100 to V-1", "drain line of V-1"] {
        assert_eq!(of(text), json!(["yes", []]), "{text}");
    }
}

#[test]
fn a_note_on_the_sheet_speaks_against_the_item_that_it_names() {
    for (text, is_plain) in [
        ("HV-1 AND HV-2 ARE NOT TO BE USED FOR ISOLATION", false),
        ("HV-2 IS PASSING", false),
        ("hv-2 does not close tight", false),
        ("HV-2 removed, replaced by spool", false),
        ("CONNECTIONS OF V-1 NOT SHOWN ON THIS SHEET", false),
        ("V-1 vents to atmosphere via N7", false),
        ("HV-21 IS PASSING", true),
        ("XHV-2 IS PASSING", true),
        ("HV-2 TO BE ACCESSIBLE FROM GRADE", true),
        ("ALL VALVES NC UNLESS NOTED", true),
    ] {
        let expected = if is_plain { json!(["yes", []]) } else { json!(["unknown", ["unread_text"]]) };
        let node = json!([{"id": "N-1", "class": "annotation.note", "text": text}]);
        assert_eq!(judged(&plant([&nothing(); 3], &node, &json!([]))), expected, "{text}");
        for notes in [json!(text), json!(["General", text])] {
            let mut document = plant([&nothing(); 3], &json!([]), &json!([]));
            document["metadata"] = json!({"notes": notes});
            assert_eq!(judged(&document), expected, "metadata: {text}");
        }
    }
}

#[test]
fn a_note_tied_to_equipment_is_read() {
    for (text, expected) in [
        ("V-1 vents to atmosphere via N7", json!(["unknown", ["unread_text"]])),
        ("HOLD: nozzle to be added", json!(["unknown", ["unread_text"]])),
        ("VESSEL BY OTHERS", json!(["yes", []])),
    ] {
        let node = json!([{"id": "N-1", "class": "annotation.note", "text": text}]);
        let edge = json!([{"from": "N-1", "to": "V-1", "edge_type": "association.refers_to"}]);
        assert_eq!(judged(&plant([&nothing(); 3], &node, &edge)), expected, "{text}");
    }
}

#[test]
fn texts_of_valves_in_the_words_of_vendors() {
    let of = |field: &str, text: &Value| {
        judged(&plant([&nothing(), &nothing(), &json!({field: text})], &json!([]), &json!([])))
    };
    for (field, text) in [
        ("remarks", json!("valve body used as spool")),
        ("remarks", json!("mechanical limit stop 20 % open")),
        ("revision_status", json!("deleted")),
        ("change", json!("DELETE")),
        ("bypassed", json!(true)),
        ("inspection", json!("failed")),
        ("last_test", json!("failed 2021")),
        ("integrity", json!("not proven")),
        ("min_opening", json!("10 %")),
        ("isolation_rating", json!("not suitable")),
        ("suitable_for_isolation", json!("no")),
        ("is_isolation", json!(false)),
        ("is_automated", json!("Y")),
        ("io_type", json!("DO")),
        ("partial_stroke_test", json!(true)),
        ("normal_position", json!("seized open")),
        ("normal_position", json!("passing")),
        ("normal_position", json!("welded open")),
        ("normal_position", json!("disc removed")),
        ("normal_position", json!("open, cannot be closed")),
        ("lock", json!("permanently open")),
        ("lock", json!("interlock: cannot close unless HV-3 open")),
        ("lock", json!("key interlock with HV-12, one always open")),
        ("lock", json!("stop pin at 15 %")),
        ("remarks", json!("U/S")),
        ("remarks", json!("on order")),
        ("remarks", json!("self venting ball")),
        ("remarks", json!("bypass cast in body")),
        ("remarks", json!("body cracked")),
    ] {
        assert_ne!(of(field, &text)[0], json!("yes"), "{field}: {text}");
    }
    for (field, text) in [
        ("description", "ARC valve"),
        ("description", "auto drain valve"),
        ("description", "Air release valve"),
        ("block_name", "VALVE_CHECK"),
    ] {
        assert_eq!(of(field, &json!(text)), json!(["no", ["contradictory_class"]]), "{field}: {text}");
    }
    for (field, text) in [
        ("remarks", json!("valve shown open for clarity")),
        ("remarks", json!("TSO")),
        ("remarks", json!("provide for maintenance isolation of E-101")),
        ("remarks", json!("LOCKABLE")),
        ("remarks", json!("with locking device, bubble tight, bidirectional")),
        ("remarks", json!("gemäß Spezifikation")),
        ("normal_position", json!("open")),
        ("service", json!("to future unit 300")),
        ("service", json!("drain of E-1")),
        ("operator", json!("chainwheel")),
        ("actuator", json!("T-bar")),
        ("integrity", json!("good")),
    ] {
        assert_eq!(of(field, &text), json!(["yes", []]), "{field}: {text}");
    }
}

#[test]
fn classes_of_hand_valves_have_details_behind_their_name() {
    let of = |class: &str| {
        judged(&plant([&nothing(), &nothing(), &json!({"class": class})], &json!([]), &json!([])))[0].clone()
    };
    for class in [
        "Ball Valve, Full Bore",
        "Butterfly Valve (wafer)",
        "Isolating Valve, ball",
        "GATE VLV",
        "gate valve (normally closed)",
        "Gate_valve_NC",
        "Isolation_Valve_Manual",
        "VALV GATE",
        "gatevalve",
        "DoubleBlockAndBleed",
        "ball_valve_three_piece",
    ] {
        assert_eq!(of(class), json!("yes"), "{class}");
    }
    for class in
        ["gate_valve_stem", "Ball Valve (Actuated)", "ball valve, 3-way", "ball_valve_three_port", "gate_valve_bypass"]
    {
        assert_eq!(of(class), json!("no"), "{class}");
    }
    // A globe valve, in French, and a valve that holds the pressure before it by itself.
    let relief = |class: &str| {
        let document = plant([&nothing(), &nothing(), &json!({"class": class})], &json!([]), &json!([]));
        answer_of(&document, r#"reliefList() | size()"#)
    };
    assert_eq!(relief("robinet à soupape"), json!(0));
    assert_eq!(relief("Überströmventil"), json!(0));
    assert_eq!(relief("soupape de sûreté"), json!(1));
}

#[test]
fn a_label_states_the_position_of_a_blind() {
    let of = |fields: &Value| {
        let mut fields = fields.clone();
        fields["class"] = json!("spectacle_blind");
        judged(&plant([&nothing(), &nothing(), &fields], &json!([]), &json!([])))[0].clone()
    };
    for (field, text) in
        [("remarks", "NC"), ("description", "normally closed"), ("status", "closed"), ("label", "N.C.")]
    {
        assert_eq!(of(&json!({field: text})), json!("yes"), "{field}: {text}");
    }
    for fields in [json!({}), json!({"remarks": "NO"}), json!({"remarks": "NC", "description": "open"})] {
        assert_eq!(of(&fields), json!("no"), "{fields}");
    }
}

#[test]
fn texts_speak_against_a_blind_flange_and_an_instrument_at_the_end_of_a_branch() {
    let of = |class: &str, field: &str, text: &str| {
        let nodes = json!([{"id": "A-1", "class": class, field: text}]);
        judged(&plant([&nothing(); 3], &nodes, &json!([{"from": "V-1", "to": "A-1"}])))[0].clone()
    };
    for (class, field, text, expected) in [
        ("blind_flange", "remarks", "open", "unknown"),
        ("blind_flange", "status", "open", "unknown"),
        ("blind_flange", "remarks", "cracked", "unknown"),
        ("blind_flange", "service", "with vent valve", "unknown"),
        ("blind_flange", "remarks", "with gasket", "yes"),
        ("cap", "remarks", "cracked", "unknown"),
        ("cap", "remarks", "2 bolts only", "unknown"),
        ("cap", "remarks", "screwed", "yes"),
        ("instrument.pressure_gauge", "remarks", "out for calibration", "unknown"),
        ("instrument.pressure_gauge", "remarks", "vent plug removed", "unknown"),
        ("instrument.pressure_gauge", "description", "tubing open", "unknown"),
        ("instrument.pressure_gauge", "description", "vessel pressure", "yes"),
    ] {
        assert_eq!(of(class, field, text), json!(expected), "{class} {field}: {text}");
    }
}

#[test]
fn open_basins_and_second_places_of_equipment_are_not_certain() {
    let vessel = |fields: &Value| judged(&plant([fields, &nothing(), &nothing()], &json!([]), &json!([])))[0].clone();
    for class in ["api_separator", "equipment.clarifier", "oil_water_separator"] {
        assert_ne!(vessel(&json!({"class": class})), json!("yes"), "{class}");
        let covered = json!({"class": class, "description": "covered, gas blanketed"});
        assert_eq!(vessel(&covered), json!("yes"), "{class}");
    }
    for tag in ["V-1 SHT 2", "V-1 BOTTOM SECTION", "V-1 TOP", "V 1 cont.", "V-1 (CONT'D)"] {
        let nodes = json!([{"id": "X-1", "tag": tag, "class": "vessel"}, {"id": "X-2", "class": "off_page_connector"}]);
        let document = plant([&nothing(); 3], &nodes, &json!([{"from": "X-1", "to": "X-2"}]));
        assert_eq!(judged(&document), json!(["unknown", ["same_tag"]]), "{tag}");
    }
    for tag in ["V-12", "V-1A", "V-1 PUMP"] {
        let nodes = json!([{"id": "X-1", "tag": tag, "class": "vessel"}, {"id": "X-2", "class": "off_page_connector"}]);
        let document = plant([&nothing(); 3], &nodes, &json!([{"from": "X-1", "to": "X-2"}]));
        assert_eq!(judged(&document), json!(["yes", []]), "{tag}");
    }
}

#[test]
fn a_plug_at_the_end_of_a_pipe_closes_it() {
    for class in ["plug", "piping_component.plug", "cap"] {
        let nodes = json!([{"id": "A-1", "class": class}]);
        let document = plant([&nothing(); 3], &nodes, &json!([{"from": "V-1", "to": "A-1"}]));
        assert_eq!(judged(&document), json!(["yes", []]), "{class}");
    }
}

#[test]
fn a_root_valve_of_an_instrument_stays_open_in_the_plan() {
    let nodes = json!([{"id": "HV-5", "class": "gate_valve"}, {"id": "PT-1", "tag": "PT-1", "class": "instrument.pressure_transmitter"}]);
    let edges = json!([{"from": "V-1", "to": "HV-5"}, {"from": "HV-5", "to": "PT-1"}]);
    let document = plant([&nothing(); 3], &nodes, &edges);
    let steps = answer_of(&document, r#"isolationPlan("V-1").steps | map(.node.id) | uniq()"#);
    assert_eq!(steps, json!(["HV-1", "HV-2"]));
}

#[test]
fn a_branch_that_ends_closed_does_not_part_a_double_block() {
    for (class, expected) in [
        ("instrument.pressure_gauge", "double_block"),
        ("blind_flange", "double_block"),
        ("cap", "double_block"),
        ("open_end", "single"),
        ("off_page_connector", "single"),
    ] {
        let document = json!({
            "nodes": [
                {"id": "V-1", "class": "vessel"}, {"id": "H-1", "class": "gate_valve"}, {"id": "T-1", "class": "tee"},
                {"id": "A-1", "class": class}, {"id": "H-2", "class": "gate_valve"}, {"id": "T-9", "class": "tank"}
            ],
            "edges": [
                {"from": "V-1", "to": "H-1"}, {"from": "H-1", "to": "T-1"}, {"from": "T-1", "to": "A-1"},
                {"from": "T-1", "to": "H-2"}, {"from": "H-2", "to": "T-9"}
            ]
        });
        let methods = answer_of(&document, r#"isolate("V-1").barriers | map(.method)"#);
        assert_eq!(methods, json!([expected]), "{class}");
    }
}

#[test]
fn drains_and_vents_have_names_in_other_languages() {
    let of = |fields: &Value| {
        let mut valve = json!({"id": "HV-5", "class": "gate_valve"});
        valve.as_object_mut().expect("fields").extend(fields.as_object().expect("fields").clone());
        let document = plant([&nothing(); 3], &json!([valve]), &json!([{"from": "V-1", "to": "HV-5"}]));
        answer_of(&document, "[drains() | size(), vents() | size()]")
    };
    for (field, text, expected) in [
        ("service", "Entleerung", [1, 0]),
        ("description", "vidange", [1, 0]),
        ("description", "LPD", [1, 0]),
        ("service", "Entlüftung", [0, 1]),
        ("description", "évent", [0, 1]),
        ("description", "HPV", [0, 1]),
        ("remarks", "HIGH POINT VENT", [0, 1]),
        ("description", "bleeder", [0, 1]),
        ("service", "venturi", [1, 1]),
        ("description", "not a drain", [1, 1]),
    ] {
        assert_eq!(of(&json!({field: text})), json!(expected), "{field}: {text}");
    }
}
