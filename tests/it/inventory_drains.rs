//! Inventory sections at drains, closed valves, nozzles of other chambers, and control valves of DEXPI: what an ordinary sheet
//! has is certain.

use pidq::Graph;
use serde_json::{Value, json};

use crate::answers::answer;
use crate::drawing_notation::drawing;
use crate::graph::evaluate;

/// Returns what is uncertain in the section of a vessel between two shutdown valves, with further pipes at it.
fn uncertain(pipes: &str) -> Value {
    let plant = format!("X-1 → SDV-1 → D-1 → SDV-2 → X-2; {pipes}");
    let query = r#"inventorySections() | filter("D-1" in (.equipment | map(.id))) | first() | .uncertain | map([.reason, .at.id])"#;
    answer(&plant, query)
}

#[test]
fn what_is_behind_a_closed_hand_valve_is_not_in_the_inventory() {
    for pipes in [
        "D-1 → V-2(closed) → O-1",
        "D-1 → V-2(closed) → J-1 → V-3 → O-1; J-1 → V-4 → B-1",
        "D-1 → V-2(closed) → V-3 → Q-1(node_classification=piping_component.tundish)",
        "D-1 → V-2(closed) → Q-1(node_classification=piping_component.sample_connection)",
        "D-1 → V-2(closed) → Q-1(node_classification=piping_component.hose_connection)",
        "D-1 → V-2(closed) → Q-1(node_classification=equipment.vent_mast)",
        "D-1 → V-2(closed) → V-3(actuator=pneumatic) → O-1",
        "D-1 → V-2(locked_closed) → S-1 → J-1 → O-1; J-1 → O-2",
        "D-1 → V-2(closed) → X-3(service=to closed drain)",
        "D-1 → V-2(closed) → V-3(closed) → X-3(description=to flare)",
    ] {
        assert_eq!(uncertain(pipes), json!([]), "{pipes}");
    }
    for (pipes, expected) in [
        ("D-1 → V-2 → O-1", json!([["open_end", "O-1"]])),
        ("D-1 → V-2(closed) → X-3(service=to product tank)", json!([["off_page_connector", "X-3"]])),
        ("D-1 → V-2 → X-3(service=to closed drain)", json!([["off_page_connector", "X-3"]])),
        ("D-1 → V-2(open) → V-3 → O-1", json!([["open_end", "O-1"]])),
        ("D-1 → V-2 → J-1 → V-3(closed) → O-1; J-1 → O-2", json!([["open_end", "O-2"]])),
        // It may be open, and an actuator opens the other one.
        ("D-1 → V-2(closed,status=removed) → O-1", json!([["open_end", "O-1"]])),
        ("D-1 → V-2(closed,description=passing) → O-1", json!([["open_end", "O-1"]])),
    ] {
        assert_eq!(uncertain(pipes), expected, "{pipes}");
    }
    let actuated = uncertain("D-1 → V-2(closed,actuator=pneumatic) → O-1");
    assert!(actuated.as_array().is_some_and(|rows| rows.contains(&json!(["possible_esd_valve", "V-2"]))), "{actuated}");
}

#[test]
fn only_what_separates_two_inventories_is_a_closed_item() {
    for (pipes, expected) in [
        ("D-1 → V-1(closed) → D-2", json!([["closed_item", "V-1"]])),
        ("D-1 → V-1(closed) → D-2; D-1 → V-2(closed) → O-1; D-1 → V-3(closed) → B-1", json!([["closed_item", "V-1"]])),
        ("D-1 → V-1(closed) → V-2(closed) → D-2", json!([["closed_item", "V-1"], ["closed_item", "V-2"]])),
        (
            "D-1 → V-1(closed) → J-1 → V-2(closed) → D-2; J-1 → V-3(closed) → O-1",
            json!([["closed_item", "V-1"], ["closed_item", "V-2"]]),
        ),
        ("D-1 → V-1(open) → D-2; D-1 → V-2(closed) → O-1", json!([])),
        ("D-1 → V-1(closed) → RV-1 → O-1; D-1 → V-2(closed) → O-2", json!([["closed_item", "V-1"]])),
    ] {
        assert_eq!(uncertain(pipes), expected, "{pipes}");
    }
}

#[test]
fn a_valve_that_only_a_controller_moves_throttles() {
    let plant = |tag: &str, by: &str| {
        format!(
            "X-1 → SDV-1 → D-1 → V-3(node_classification=GlobeValve,tag={tag},operation=pneumatic) → SDV-2 → X-2; {by}"
        )
    };
    let query = r#"inventorySections() | filter("D-1" in (.equipment | map(.id))) | first() | .uncertain | map([.reason, .at.id])"#;
    let controller = "I-1(tag=LT-3) ⇢ I-2(tag=LIC-3) ⇢ V-3";
    let possible = json!([["possible_esd_valve", "V-3"]]);
    for (tag, by, expected) in [
        ("LV-3", controller, json!([])),
        ("LV-3", "I-2(tag=LI-3)", possible.clone()),
        ("LV-3", "I-1(tag=LSHH-3) ⇢ I-2(tag=LZ-3) ⇢ V-3", possible.clone()),
        ("XV-3", controller, possible.clone()),
        // A trip moves it too.
        ("LV-3", "I-1(tag=LT-3) ⇢ I-2(tag=LIC-3) ⇢ V-3; I-4(tag=PSHH-4) ⇢ V-3", possible.clone()),
    ] {
        assert_eq!(answer(&plant(tag, by), query), expected, "{tag} {by}");
    }
}

/// Returns a drawing with a valve that an actuating system moves, as an import of DEXPI ties them, and a function that moves it.
fn actuated_by(function: &str) -> Graph {
    let plant = format!(
        "X-1 → SDV-1 → D-1 → V-3(node_classification=piping_component.globe_valve,tag=LV-3,fail_action=FailClose) → SDV-2 → X-2;
        F-1(node_classification=instrument.process_instrumentation_function,tag={function});
        F-2(node_classification=instrument.actuating_function,tag=LV-3);
        A-1(node_classification=instrument.actuating_system,tag=LV-3);
        A-2(node_classification=instrument.operated_valve_reference,tag=null)"
    );
    let mut document: Value = serde_json::from_str(&drawing(&plant)).expect("a drawing is JSON");
    for (from, to, kind, class) in [
        ("F-1", "F-2", "has_a", ""),
        ("F-1", "F-2", "associated_with", "signal_line.signal_conveying_function"),
        ("F-2", "A-1", "associated_with", "association.is_fulfilled_by"),
        ("A-1", "A-2", "has_a", ""),
        ("A-2", "V-3", "associated_with", "association.refers_to"),
    ] {
        let edge = json!({"from": from, "to": to, "edge_type": kind, "edge_classification": class});
        document["pid_graph"]["edges"].as_array_mut().expect("edges").push(edge);
    }
    Graph::from_json(document.to_string()).expect("a drawing is JSON")
}

#[test]
fn a_valve_of_an_actuating_system_throttles_if_a_controller_moves_it() {
    let query = r#"inventorySections() | map(.uncertain | filter(.at.id == "V-3") | map(.reason)) | flatten()"#;
    let judged = |function: &str| evaluate(&actuated_by(function), query, "{}").expect("sections");
    assert_eq!(judged("LIC-3"), json!([]));
    for function in ["LZ-3", "HS-3", "I-3"] {
        assert_eq!(judged(function), json!(["possible_esd_valve"]), "{function}");
    }
}

#[test]
fn a_nozzle_without_a_pipe_is_in_the_section_of_its_own_chamber() {
    let plant = "X-1 → SDV-1 → E-1.N1@shell; E-1.N2@shell → SDV-2 → X-2; X-3 → SDV-3 → E-1.N3@tubes; E-1.N4@tubes → SDV-4 → X-4";
    let rows =
        r#"inventorySections() | filter("E-1" in (.equipment | map(.id))) | map(.uncertain | map([.reason, .at.id]))"#;
    let of_shell = json!([[["unconnected_nozzle", "E-1.N5"]], []]);
    assert_eq!(answer(&format!("{plant}; E-1.N5@shell"), rows), of_shell);
    // Without a chamber, it may be on either side.
    let either = json!([[["unconnected_nozzle", "E-1.N5"]], [["unconnected_nozzle", "E-1.N5"]]]);
    assert_eq!(answer(&format!("{plant}; E-1.N5"), rows), either);
}
