//! Ordinary sheets that are drawn completely: instruments at tees and nozzles, open blinds, drains with their texts, stop check
//! valves. They are certain, and their relatives with something missing are not.

use serde_json::{Value, json};

use crate::answers::{answer, answer_of};
use crate::drawing_notation::drawing;

/// Returns a drawing with further edges: source, target, kind, direction.
fn with_edges(plant: &str, edges: &[[&str; 4]]) -> String {
    let mut document: Value = serde_json::from_str(&drawing(plant)).expect("a drawing is JSON");
    for [from, to, kind, direction] in edges {
        let edge = json!({"from": from, "to": to, "edge_type": kind, "direction": direction});
        document["pid_graph"]["edges"].as_array_mut().expect("edges").push(edge);
    }
    document.to_string()
}

const JUDGED: &str = "[.isolated, .uncertain | map([.reason, .at.id])]";

#[test]
fn a_barrier_is_proved_past_what_is_open_between_it_and_the_bleed() {
    for (item, bleed) in [
        ("SB-1(normal_position=open)", Some("V-2")),
        ("SB-1(normal_position=closed)", None),
        ("SB-1", None),
        ("SB-1(node_classification=piping_component.figure_8_blind,position=open)", Some("V-2")),
        ("SP-1(node_classification=piping_component.removable_spool,position=installed)", Some("V-2")),
        ("SP-1(node_classification=piping_component.removable_spool)", None),
        ("SP-1(node_classification=piping_component.removable_spool,position=removed)", None),
        ("CK-1", Some("V-2")),
        ("CK-1(node_classification=piping_component.stop_check_valve)", None),
        ("CK-1(status=planned)", None),
        ("CV-1", None),
        ("S-1", Some("V-2")),
    ] {
        let plant = format!("X-1 → V-1 → {item} → D-1 → V-2(closed) → O-1");
        let proofs = answer(&plant, r#"isolationPlan("D-1").barriers | filter(.node.id == "V-1") | map(.bleed.id)"#);
        // A spool that is removed, or a closed blind, is the barrier itself.
        let has_barrier = proofs.as_array().is_some_and(|proofs| !proofs.is_empty());
        assert_eq!(proofs, if has_barrier { json!([bleed]) } else { json!([]) }, "{item}");
        assert!(has_barrier || bleed.is_none(), "{item}");
    }
    // Against its direction, and without one.
    for pipes in ["X-1 → V-1; D-1 → CK-1 → V-1", "X-1 → V-1 — CK-1 — D-1"] {
        let plant = format!("{pipes}; D-1 → V-2(closed) → O-1");
        let proofs = answer(&plant, r#"isolationPlan("D-1").barriers | filter(.node.id == "V-1") | map(.bleed.id)"#);
        assert_eq!(proofs, json!([null]), "{pipes}");
    }
}

#[test]
fn a_measuring_line_is_a_small_pipe_that_ends_at_its_instrument() {
    let plant = "X-1 → V-1 → D-1 → J-1 → V-2 → X-2; V-3(node_classification=root_valve); \
                 I-1(node_classification=instrument.pressure_transmitter)";
    for kind in ["measuring_line", "impulse_line", "process_tap", "Messleitung"] {
        let document = with_edges(plant, &[["J-1", "V-3", kind, "forward"], ["V-3", "I-1", kind, "forward"]]);
        assert_eq!(answer_of(&document, &format!("isolate(\"D-1\") | {JUDGED}")), json!(["yes", []]), "{kind}");
        // What is at the other end is no instrument.
        let document = with_edges(plant, &[["J-1", "V-3", kind, "forward"], ["V-3", "X-2", kind, "forward"]]);
        let ways = r#"isolate("D-1").barriers | map(.node.id) | sort()"#;
        assert_eq!(answer_of(&document, ways), json!(["V-1", "V-2", "V-3"]), "{kind}");
    }
}

#[test]
fn an_instrument_is_the_third_leg_of_a_tee() {
    let plant = "X-1 → V-1 → D-1 → J-1 → V-2 → X-2; I-1(node_classification=instrument.pressure_gauge)";
    for kind in ["measures", "signal", "process_connection", "association.is_located_in"] {
        let found =
            answer_of(&with_edges(plant, &[["J-1", "I-1", kind, "forward"]]), &format!("isolate(\"D-1\") | {JUDGED}"));
        assert_eq!(found, json!(["yes", []]), "{kind}");
    }
    // A tee with a list of its ports.
    let ports = plant.replace("J-1 →", r#"J-1(ports=[{"port_type": "process"}]) →"#);
    let three = ports.replace(r#"[{"port_type": "process"}]"#, "[[], [], []]");
    for plant in [&ports, &three] {
        let found =
            answer_of(&with_edges(plant, &[["J-1", "I-1", "measures", "forward"]]), r#"isolate("D-1").isolated"#);
        assert_eq!(found, json!("yes"), "{plant}");
    }
    let without = answer(plant, &format!("isolate(\"D-1\") | {JUDGED}"));
    assert_eq!(without, json!(["unknown", [["junction_with_two_pipes", "J-1"]]]));
    // A label is no leg.
    let label = plant.replace("instrument.pressure_gauge", "label");
    let found = answer_of(&with_edges(&label, &[["J-1", "I-1", "measures", "forward"]]), r#"isolate("D-1").isolated"#);
    assert_eq!(found, json!("unknown"));
}

#[test]
fn an_instrument_with_two_taps_at_a_vessel_leads_nowhere_else() {
    let plant =
        |class: &str| format!("X-1 → V-1 → D-1.N1; D-1.N2; D-1.N3; I-1(node_classification=instrument.{class})");
    let kinds = ["Process connection", "impulse line", "sensing line", "capillary", "hook-up", "measures"];
    for kind in kinds {
        for class in ["level_transmitter", "level_gauge", "function"] {
            let taps = [["D-1.N2", "I-1", kind, "forward"], ["D-1.N3", "I-1", kind, "forward"]];
            let found = answer_of(&with_edges(&plant(class), &taps), &format!("isolate(\"D-1\") | {JUDGED}"));
            assert_eq!(found, json!(["yes", []]), "{kind} {class}");
        }
    }
    // To something else, only the class tells a transmitter from an item in a pipe.
    let other = |class: &str| plant(class) + "; X-2 → V-2 → T-2.N1; T-2.N2";
    for (class, isolated) in [
        ("level_transmitter", "yes"),
        ("differential_pressure_transmitter", "yes"),
        ("flow_transmitter", "unknown"),
        ("function", "unknown"),
    ] {
        let taps = [
            ["D-1.N2", "I-1", "process connection", "forward"],
            ["I-1", "T-2.N2", "process connection", "forward"],
            ["D-1.N3", "I-1", "measures", "forward"],
        ];
        let found = answer_of(&with_edges(&other(class), &taps), r#"isolate("D-1").isolated"#);
        assert_eq!(found, json!(isolated), "{class}");
    }
}

#[test]
fn a_line_is_no_part_of_its_valves_whatever_the_direction_of_the_edge() {
    let plant = "X-1 → V-1 → D-1; L-1(node_classification=pipe_system,node_type=pipe_system)";
    for ends in [["L-1", "V-1"], ["V-1", "L-1"]] {
        for direction in ["forward", "unknown"] {
            let [from, to] = ends;
            let document = with_edges(plant, &[[from, to, "has_a", direction]]);
            assert_eq!(answer_of(&document, r#"isolate("D-1").uncertain"#), json!([]), "{ends:?} {direction}");
        }
    }
    // An unknown part may be an actuator.
    let part = with_edges(plant, &[["V-1", "L-1", "has_a", "forward"]]).replace("pipe_system", "gadget");
    assert_eq!(answer_of(&part, r#"isolate("D-1").uncertain | map(.reason)"#), json!(["unknown_part"]));
}

#[test]
fn a_text_that_names_where_a_drain_leads_makes_no_supply_of_it() {
    let plant = |fields: &str| format!("X-1 → V-1 → D-1 → V-2 → O-1({fields})");
    for text in
        ["drain to sump", "drain to grade", "vent to safe location", "drain to closed drain drum", "local drain"]
    {
        for fields in [
            format!("description={text}"),
            format!("service={text}"),
            format!("remarks={text}"),
            format!(r#"attributes={{"Description": "{text}"}}"#),
            format!(r#"attributes={{"DescriptionAssignmentClass": "{text}"}}"#),
            format!(r#"attributes={{"Service": "{text}"}}"#),
            format!(r#"attributes={{"Remarks": "{text}"}}"#),
        ] {
            assert_eq!(answer(&plant(&fields), r#"bleeds("D-1") | map(.id)"#), json!(["V-2"]), "{fields}");
        }
    }
    for text in ["steam out", "nitrogen supply", "drain supply", "hose"] {
        for fields in [format!("description={text}"), format!(r#"attributes={{"Description": "{text}"}}"#)] {
            assert_eq!(answer(&plant(&fields), r#"bleeds("D-1") | map(.id)"#), json!([]), "{fields}");
        }
    }
    // A remark that denies it.
    assert_eq!(answer(&plant("remarks=not to be used as drain"), r#"bleeds("D-1") | map(.id)"#), json!([]));
}

#[test]
fn the_class_of_an_outlet_is_read_alike_in_each_field() {
    for class in ["sample_connection", "SamplePoint", "tundish", "drain_funnel"] {
        for field in ["node_classification", "component_class", "class"] {
            let plant = format!("X-1 → V-1 → D-1 → V-2 → Q-1({field}={class})");
            assert_eq!(answer(&plant, r#"bleeds("D-1") | map(.id)"#), json!(["V-2"]), "{field} {class}");
        }
    }
    for field in ["node_classification", "component_class"] {
        let plant = format!("X-1 → V-1 → D-1 → V-2 → Q-1({field}=battery_limit)");
        assert_eq!(answer(&plant, r#"bleeds("D-1") | map(.id)"#), json!([]), "{field}");
    }
}

#[test]
fn a_valve_whose_service_or_position_is_a_status_is_no_certain_barrier() {
    let isolated =
        |field: &str, text: &str| answer(&format!("X-1 → V-1({field}={text}) → D-1"), r#"isolate("D-1").isolated"#);
    for field in ["service", "position", "valve_position", "status"] {
        for text in ["removed", "future", "FUTURE", "demolished", "not installed", "abandoned", "out of service"] {
            assert_ne!(isolated(field, text), json!("yes"), "{field} {text}");
        }
    }
    for text in ["future gas supply", "removed water", "drain", "optional fuel gas", "void gas"] {
        assert_eq!(isolated("service", text), json!("yes"), "{text}");
    }
}

#[test]
fn a_blind_that_a_label_calls_open_is_pipe() {
    for text in ["NO", "N.O.", "LO", "L.O.", "open", "normally open", "locked open"] {
        for field in ["label", "description", "remarks"] {
            let plant = format!("X-1 → V-1 → SB-1({field}={text}) → D-1");
            let found =
                answer(&plant, r#"isolate("D-1") | [.isolated, .barriers | map(.node.id), .uncertain | map(.reason)]"#);
            assert_eq!(found, json!(["yes", ["V-1"], []]), "{field} {text}");
        }
    }
    let both = answer("X-1 → V-1 → SB-1(label=NO,remarks=NC) → D-1", r#"isolate("D-1").uncertain | map(.reason)"#);
    assert_eq!(both, json!(["blind_without_position"]));
}

#[test]
fn a_closure_is_there_for_what_is_future_or_unused() {
    let judged = |end: &str, field: &str, text: &str| {
        let plant = format!("X-1 → V-1 → D-1; D-1 → {end}({field}={text})");
        answer(&plant, &format!("isolate(\"D-1\") | {JUDGED}"))
    };
    let texts = [
        "future tie-in",
        "FUTURE TIE-IN",
        "tie-in point for future P-102",
        "future connection",
        "for future use",
        "future expansion",
        "future P-102",
        "blind flange for future pump",
        "reserved for future exchanger",
        "spare",
        "spare connection",
        "blinded",
        "künftiger Anschluss",
        "piquage futur",
    ];
    for end in ["B-1", "C-1"] {
        for field in ["description", "remarks", "service"] {
            for text in texts {
                assert_eq!(judged(end, field, text), json!(["yes", []]), "{end} {field} {text}");
            }
        }
    }
    // The closure itself is not there, or may not be.
    for end in ["B-1", "C-1"] {
        for text in [
            "future",
            "future blind flange",
            "flange future",
            "removed",
            "future tie-in, removed",
            "future removal",
            "future installation",
            "future tie-in?",
        ] {
            assert_ne!(judged(end, "description", text)[0], json!("yes"), "{end} {text}");
        }
        assert_ne!(judged(end, "status", "future")[0], json!("yes"), "{end}");
        assert_ne!(judged(end, "description", "future connection with open valve")[0], json!("yes"), "{end}");
    }
}

#[test]
fn pipes_and_junctions_that_are_nodes_are_passed() {
    let passed = [
        "PipeSegment",
        "pipe_segment",
        "PipingSegment",
        "PipingNetworkSegment",
        "PipeRun",
        "Pipe",
        "Pipeline",
        "process_line",
        "SpecBreak",
        "Rohrleitung",
        "junction",
        "PipeJunction",
        "branch_connection",
    ];
    for class in passed {
        let point = format!("Q-1(node_classification={class})");
        for branch in ["", "; Q-1 → V-3(closed) → B-1"] {
            let plant = format!("X-1 → V-1 → {point} → P-1 → V-2 → X-2{branch}");
            let tee_lacks_pipe = class == "branch_connection" && branch.is_empty();
            let expected = if tee_lacks_pipe {
                json!(["unknown", [["junction_with_two_pipes", "Q-1"]]])
            } else {
                json!(["yes", []])
            };
            assert_eq!(answer(&plant, &format!("isolate(\"P-1\") | {JUDGED}")), expected, "{plant}");
        }
        // One with a single pipe goes on somewhere.
        let plant = format!("X-1 → V-1 → P-1 → V-2 → X-2; P-1 → {point}");
        assert_ne!(answer(&plant, r#"isolate("P-1").isolated"#), json!("yes"), "{class}");
    }
    for class in ["Node", "Piping", "Connection", "gadget"] {
        let plant = format!("X-1 → V-1 → Q-1(node_classification={class}) → P-1 → V-2 → X-2");
        assert_eq!(answer(&plant, r#"isolate("P-1").isolated"#), json!("unknown"), "{class}");
    }
}

#[test]
fn an_automatic_recirculation_valve_has_three_ways() {
    for class in [
        "piping_component.automatic_recirculation_valve",
        "AutomaticRecirculationValve",
        "auto_recirculation_valve",
        "arc_valve",
    ] {
        let plant = format!("X-1 → V-1 → P-1 → Q-1(node_classification={class}) → V-2 → X-2; Q-1 → V-3 → X-3");
        let found = answer(
            &plant,
            r#"isolate("P-1") | [.isolated, .conditional | map([.node.id, .action]), .uncertain | map(.reason)]"#,
        );
        assert_eq!(found, json!(["yes", [["Q-1", "set"]], []]), "{class}");
    }
}

#[test]
fn a_cap_or_a_plug_is_one_in_each_field_for_a_class() {
    for class in ["Plug", "plug", "Cap", "PipePlug", "pipe_cap", "BlindFlange"] {
        for field in ["node_classification", "component_class", "class", "label"] {
            let plant = format!("X-1 → V-1 → D-1 → V-2(closed) → Q-1({field}={class})");
            assert_eq!(answer(&plant, r#"bleeds("D-1") | map(.id)"#), json!(["V-2"]), "{field} {class}");
            // Without the valve, it closes the branch.
            let plant = format!("X-1 → V-1 → D-1 → Q-1({field}={class})");
            assert_eq!(answer(&plant, &format!("isolate(\"D-1\") | {JUDGED}")), json!(["yes", []]), "{field} {class}");
        }
    }
    for text in ["capped", "plugged", "plug"] {
        let plant =
            format!("X-1 → V-1 → D-1 → V-2(closed) → Q-1(node_classification=piping_component.cap,description={text})");
        assert_eq!(answer(&plant, r#"bleeds("D-1") | map(.id)"#), json!(["V-2"]), "{text}");
    }
}

#[test]
fn a_cap_closes_a_branch_as_a_blind_flange_does() {
    for (end, class, method) in [
        ("B-1", "plugged", "double_block"),
        ("C-1", "plugged", "double_block"),
        ("C-1(node_classification=piping_component.threaded_plug)", "plugged", "double_block"),
        // Nothing says that it closes the pipe for certain.
        ("C-1(status=planned)", "plugged", "single"),
        ("C-1(description=cap with 1/2 inch drain valve)", "drain", "single"),
        ("O-1", "drain_or_vent", "single"),
        ("Q-1(node_classification=piping_component.corrosion_probe)", "drain_or_vent", "single"),
    ] {
        let plant = format!("X-1 → V-1 → D-1 → V-2 → {end}");
        let methods = answer(&plant, r#"isolate("D-1").barriers | filter(.node.id == "V-2") | map(.method)"#);
        assert_eq!(methods, json!([method]), "{end}");
        assert_eq!(answer(&plant, r#"deadEnds() | map(.class)"#), json!([class]), "{end}");
    }
}

#[test]
fn a_stop_check_valve_is_closed_by_hand_only_with_the_option() {
    let plant = |class: &str| format!("X-1 → V-1 → D-1 → CK-1(node_classification=piping_component.{class}) → X-2");
    let judged = "[.barriers | map(.node.id), .conditional | map([.node.id, .action]), .isolated]";
    for class in ["stop_check_valve", "screw_down_non_return_valve", "globe_stop_check_valve"] {
        let found = |options: &str| answer(&plant(class), &format!("isolate(\"D-1\"{options}) | {judged}"));
        assert_eq!(found(""), json!([["V-1"], [["CK-1", "close"]], "no"]), "{class}");
        let closed = json!([["V-1", "CK-1"], [["CK-1", "close"]], "unknown"]);
        assert_eq!(found(", {acceptConditional: true}"), closed, "{class}");
        assert_eq!(found(", {acceptOneWay: true}"), closed, "{class}");
        let plan =
            |options: &str| answer(&plant(class), &format!("isolationPlan(\"D-1\"{options}).steps | map(.action)"));
        assert_eq!(plan(", {acceptConditional: true}"), json!(["close", "lock", "close", "lock"]), "{class}");
        assert_eq!(plan(", {acceptOneWay: true}"), json!(["close", "lock", "rely_on"]), "{class}");
    }
    let found = answer(&plant("check_valve"), &format!("isolate(\"D-1\", {{acceptConditional: true}}) | {judged}"));
    assert_eq!(found, json!([["V-1"], [], "no"]));
}

#[test]
fn a_double_block_and_bleed_in_a_drain_that_ends_open_is_one() {
    for (behind, method) in [
        ("V-3 → O-1; J-1 → V-4 → B-1", "double_block_bleed"),
        ("V-3(closed) → O-1; J-1 → V-4 → C-1", "double_block_bleed"),
        // Either of them may be the bleed.
        ("V-3 → O-1; J-1 → V-4 → O-2", "single"),
        ("V-3 → B-1; J-1 → V-4 → B-2", "single"),
    ] {
        let plant = format!("X-1 → V-1 → D-1 → V-2(closed) → J-1 → {behind}");
        let found = answer(&plant, r#"isolate("D-1").barriers | filter(.node.id == "V-2") | map(.method)"#);
        assert_eq!(found, json!([method]), "{behind}");
    }
}

#[test]
fn the_valve_list_has_positions_of_attributes() {
    for fields in [
        "normal_position=NC",
        r#"attributes={"NormalPosition": "NC"}"#,
        r#"attributes={"ValvePosition": "NC"}"#,
        r#"attributes={"ValvePositionAssignmentClass": "NC"}"#,
    ] {
        let plant = format!("X-1 → V-1({fields}) → D-1");
        assert_eq!(answer(&plant, "valveList() | map(.normal_position)"), json!(["NC"]), "{fields}");
    }
    assert_eq!(answer("X-1 → V-1 → D-1", "valveList() | map(.normal_position)"), json!([null]));
}
