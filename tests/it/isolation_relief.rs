//! Relief devices that an isolation takes from the volume or from a machine outside of it, and those that are none of the
//! volume: as `reliefList` says what each one protects.

use pidq::Graph;
use serde_json::{Value, json};

use crate::drawing_notation::drawing;
use crate::graph::evaluate;

fn answer(plant: &str, query: &str) -> Value {
    let graph = Graph::from_json(drawing(plant)).expect("a drawing is JSON");
    evaluate(&graph, query, "{}").unwrap_or_else(|error| panic!("{query} on {plant}: {error}"))
}

fn cut_off(plant: &str, target: &str) -> Value {
    let cuts_off = ".barriers | filter((.cuts_off | size()) > 0) | map([.node.id, .cuts_off | map(.id)]) | sort()";
    answer(plant, &format!(r#"isolate("{target}") | {cuts_off}"#))
}

#[test]
fn a_valve_between_a_pump_and_its_only_relief_device_in_the_volume_cuts_it_off() {
    let dosing = "T-1 → V-1 → P-1(node_classification=dosing_pump) → V-2 → J-1 → V-3 → X-1; J-1 → RV-1 → T-1";
    let is_cut_off = [
        dosing.to_owned(),
        dosing.replace("dosing_pump", "pump"),
        dosing.replace("dosing_pump", "piston_compressor"),
        // Past a check valve, a tee, a further valve.
        dosing.replace("→ V-2", "→ CK-1 → J-2 → V-9 → V-2"),
        dosing.replace("→ V-2", "→ CK-1 → V-2(open)"),
        // The device relieves the vessel that is isolated too.
        "P-1(node_classification=gear_pump) → V-2 → J-1 → T-1 → V-3 → X-1; J-1 → RV-1 → X-2".into(),
    ];
    for plant in is_cut_off {
        assert_eq!(cut_off(&plant, "T-1"), json!([["V-2", ["RV-1"]]]), "{plant}");
    }
    let is_not = [
        // Its pressure is limited, or it has a device of its own.
        dosing.replace("dosing_pump", "centrifugal_pump"),
        dosing.replace("→ V-2", "→ J-2 → V-2") + "; J-2 → RV-2 → X-2",
        // The valve is drawn closed, or another one before it is.
        dosing.replace("→ V-2", "→ V-2(closed)"),
        dosing.replace("→ V-2", "→ V-9(closed) → V-2"),
        // The pump is behind the valve, or the device beyond the vessel.
        "T-1 → J-1 → V-2 → P-1(node_classification=dosing_pump) → V-3 → X-1; J-1 → RV-1 → X-2".into(),
        "P-1(node_classification=dosing_pump) → V-2 → T-1 → RV-1 → X-2".into(),
        // No machine feeds the line.
        dosing.replace("dosing_pump", "vessel"),
    ];
    for plant in is_not {
        let by_valve = r#"isolate("T-1").barriers | filter(.node.id == "V-2") | map(.cuts_off | size())"#;
        assert_ne!(answer(&plant, by_valve), json!([1]), "{plant}");
    }
}

#[test]
fn a_plan_closes_the_valve_between_a_pump_and_its_relief_device_behind_the_other_sources() {
    let plant =
        "T-1 → V-1 → P-1(node_classification=dosing_pump) → V-2 → J-1 → V-3 → X-1; J-1 → RV-1 → T-1; T-1 → V-4 → O-1";
    assert_eq!(
        answer(plant, r#"isolationPlan("T-1").steps | map([.action, .node.id, .cuts_off | map(.id)])"#),
        json!([
            ["close", "V-1", []],
            ["lock", "V-1", []],
            ["close", "V-3", []],
            ["lock", "V-3", []],
            ["close", "V-2", ["RV-1"]],
            ["lock", "V-2", []],
            ["open_bleed", "V-4", []],
            ["verify", "V-1", []]
        ])
    );
}

#[test]
fn a_device_of_a_line_is_none_of_a_vessel_with_devices_of_its_own() {
    let line = "D-1 → V-1 → J-1 → V-2 → T-2; J-1 → RV-1 → X-1";
    assert_eq!(cut_off(line, "D-1"), json!([["V-1", ["RV-1"]]]));
    for own in ["D-1 → RV-2 → X-2", "D-1 → V-3(lo) → RV-2 → X-2", "D-1 → TW-1 → RV-2 → X-2; TW-1 → RV-3 → X-3"]
    {
        let plant = format!("{line}; {own}");
        assert_eq!(
            answer(&plant, r#"isolate("D-1").barriers | filter(.node.id == "V-1") | map(.cuts_off)"#),
            json!([[]]),
            "{own}"
        );
        let listed = answer(&plant, r#"isolate("D-1").relief | map(.node.id)"#);
        assert!(!listed.as_array().expect("a list").contains(&json!("RV-1")), "{own}: {listed}");
    }
    // A flare takes in what others relieve.
    let flare = line.replace("D-1 →", "D-1(node_classification=equipment.flare) →");
    assert_eq!(cut_off(&flare, "D-1"), json!([]));
}

#[test]
fn the_inlet_valve_of_a_standby_device_takes_nothing_from_the_other_one() {
    for lock in ["lc", "lo", "closed", "open"] {
        let plant = format!("D-1 → J-1 → V-1(lo) → RV-1 → J-2 → X-1; J-1 → V-2({lock}) → RV-2 → J-2; J-1 → V-3 → T-2");
        let cuts = r#"isolate("RV-2").barriers | filter(.node.id == "V-2") | map(.cuts_off | map(.id))"#;
        assert_eq!(answer(&plant, cuts), json!([["RV-2"]]), "{lock}");
    }
}

#[test]
fn an_isolation_and_the_relief_list_agree_on_what_a_device_protects() {
    // A device with an open path in an isolation protects equipment of it by the list of all devices.
    for plant in [
        "D-1 → V-1(open) → J-1 → V-2 → T-2; J-1 → RV-1 → O-1",
        "D-1 → V-1(open) → J-1 → CV-1 → T-2; J-1 → RV-1 → O-1",
        "D-1 → V-1(lo) → J-1 → V-2 → T-2; J-1 → RV-1 → O-1",
        "D-1 → CV-1(node_classification=pressure_regulator) → J-1 → T-2; J-1 → RV-1 → O-1",
        "D-1 → CV-1(node_classification=pressure_regulator) → RV-1 → O-1",
        "D-1 → RV-1 → O-1",
        "D-1 → J-1 → RV-1 → O-1; J-1 → V-2 → T-2",
        "T-2 → V-2 → D-1; T-2 → RV-1 → D-1",
        "D-1 → P-1 → RV-1 → O-1",
    ] {
        let in_isolation = answer(plant, r#"isolate("D-1").relief | filter(.relief_path == "open") | map(.node.id)"#);
        let in_list =
            answer(plant, r#"reliefList() | filter(.protects == "D-1" and .relief_path == "open") | map(.tag)"#);
        assert_eq!(in_isolation, in_list, "{plant}");
    }
}
