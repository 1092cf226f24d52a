//! Relief devices that an isolation takes from the volume or from a machine outside of it, and those that are none of the
//! volume: as `reliefList` says what each one protects.

use serde_json::{Value, json};

use crate::answers::answer;

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
        assert_eq!(answer(&plant, by_valve), json!([0]), "{plant}");
    }
}

#[test]
fn a_locked_open_valve_between_a_pump_and_the_relief_of_the_vessel_cuts_it_off() {
    let plant = "P-1(node_classification=reciprocating_pump) → V-2(locked_open) → T-1 → RV-1 → X-2; T-1 → V-3 → X-1";
    assert_eq!(cut_off(plant, "T-1"), json!([["V-2", ["RV-1"]]]));
    for other in [
        plant.replace("reciprocating_pump", "centrifugal_pump"),
        plant.replace("(locked_open)", ""),
        plant.replace("→ V-2", "→ J-2 → V-2") + "; J-2 → RV-2 → X-3",
    ] {
        let by_valve = r#"isolate("T-1").barriers | filter(.node.id == "V-2") | map(.cuts_off | size())"#;
        assert_eq!(answer(&other, by_valve), json!([0]), "{other}");
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
    for (own, devices) in [
        ("D-1 → RV-2 → X-2", json!(["RV-2"])),
        ("D-1 → V-3(lo) → RV-2 → X-2", json!(["RV-2"])),
        ("D-1 → TW-1 → RV-2 → X-2; TW-1 → RV-3 → X-3", json!(["RV-2", "RV-3"])),
    ] {
        let plant = format!("{line}; {own}");
        assert_eq!(
            answer(&plant, r#"isolate("D-1").barriers | filter(.node.id == "V-1") | map(.cuts_off)"#),
            json!([[]]),
            "{own}"
        );
        assert_eq!(answer(&plant, r#"isolate("D-1").relief | map(.node.id)"#), devices, "{own}");
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

const HEADER: &str =
    "X-1 → V-1 → D-1 → CV-1 → J-1 → J-2 → V-7(lo) → D-9; X-2 → V-2 → D-2 → V-3(lo) → RV-2 → V-5(lo) → J-1;
    X-3 → V-4 → D-3 → V-6(lo) → RV-3 → J-2";

#[test]
fn the_relief_valves_of_other_vessels_on_a_header_are_not_closed() {
    let judged = r#".isolated, (.barriers | map(.node.id)), (.unresolved | map(.kind + " " + .at.id) | sort()), (.relief | map(.node.id))"#;
    let rows = format!(r#"isolate("D-1") | [{judged}]"#);
    let ends = |vessel: &[&str]| {
        let devices = ["relief_device RV-2".to_owned(), "relief_device RV-3".to_owned()];
        json!(vessel.iter().map(|id| format!("equipment {id}")).chain(devices).collect::<Vec<_>>())
    };
    for header in [
        HEADER.to_owned(),
        // Without a lock, and without a valve in the header.
        HEADER.replace("V-3(lo)", "V-3").replace("V-6(lo)", "V-6(open)"),
        HEADER.replace("V-7(lo)", "V-7"),
        HEADER.replace("V-7(lo) → ", ""),
    ] {
        assert_eq!(answer(&header, &rows), json!(["no", ["V-1"], ends(&["D-9"]), []]), "{header}");
        let closed = r#"isolationPlan("D-1").steps | filter(.action == "close") | map(.node.id)"#;
        assert_eq!(answer(&header, closed), json!(["V-1"]), "{header}");
        // The header is not taken in with the vessels that it serves.
        let grown = r#"isolate("D-1", {scope: "grow"}) | [.isolated, .swallowed | map(.id)]"#;
        assert_eq!(answer(&header, grown), json!(["no", ["D-9"]]), "{header}");
    }
    // A block valve before the header isolates the vessel.
    let blocked = HEADER.replace("CV-1 → J-1", "CV-1 → V-8 → J-1");
    assert_eq!(answer(&blocked, &rows), json!(["yes", ["V-1", "V-8"], [], []]));
    // A device of another vessel that is open to this one too.
    let open = format!("{HEADER}; D-1 → V-10(lo) → D-2");
    let found = answer(&open, r#"isolate("D-1") | [.isolated, .barriers | map([.node.id, .cuts_off | map(.id)])]"#);
    assert_eq!(found, json!(["no", [["V-1", []], ["V-10", ["RV-2"]]]]));
    // A valve that the drawing shows closed is a barrier, whatever it protects.
    let closed = HEADER.replace("V-5(lo)", "V-5(closed)").replace("RV-3 → J-2", "RV-3 → V-9(closed) → J-2");
    assert_eq!(answer(&closed, r#"isolate("D-1").unresolved | map(.at.id)"#), json!(["D-9"]));
    assert_eq!(answer(&closed, r#"isolate("D-1").barriers | map(.node.id) | sort()"#), json!(["V-1", "V-5", "V-9"]));
}

#[test]
fn what_is_isolated_in_a_relief_path_takes_the_device_out_of_service() {
    for (target, cuts) in [
        // The header, the receiver, the valve at the outlet, the device.
        ("J-2", json!([["V-7", ["RV-2", "RV-3"]], ["V-5", ["RV-2"]], ["V-6", ["RV-3"]]])),
        ("D-9", json!([["V-7", ["RV-2", "RV-3"]]])),
        ("V-5", json!([["V-3", ["RV-2"]]])),
        ("RV-2", json!([["V-3", ["RV-2"]], ["V-5", ["RV-2"]]])),
    ] {
        assert_eq!(cut_off(HEADER, target), cuts, "{target}");
    }
    // The vessel that the device protects.
    assert_eq!(cut_off(HEADER, "D-2"), json!([["V-3", ["RV-2"]]]));
    // All vessels of the header.
    let all = r#"isolate(["D-1", "D-2", "D-3"]) | [.isolated, .barriers | map(.node.id) | sort()]"#;
    assert_eq!(answer(HEADER, all), json!(["yes", ["V-1", "V-2", "V-4", "V-7"]]));
}

#[test]
fn a_device_behind_a_check_valve_that_closes_against_its_flow_is_none_of_the_volume() {
    let plant = |between: &str| format!("T-1 → V-1 → P-1 → J-1 → {between}E-1 → V-3 → X-1; J-1 → RV-1 → T-1");
    assert_eq!(cut_off(&plant("V-2 → "), "E-1"), json!([["V-2", ["RV-1"]]]));
    for between in ["CK-1 → V-2 → ", "J-2 → CK-1 → J-3 → V-2 → ", "CK-1 → V-2(lo) → "] {
        assert_eq!(cut_off(&plant(between), "E-1"), json!([]), "{between}");
        let relief = r#"isolate("E-1").relief | filter(.relief_path == "open")"#;
        assert_eq!(answer(&plant(between), relief), json!([]), "{between}");
    }
    // In the direction of the relief flow, or without a direction.
    for pipes in ["E-1 → V-2 → CK-1 → J-1", "J-1 — CK-1 — V-2; V-2 — E-1"] {
        let plant = format!("E-1 → V-3 → X-1; {pipes}; J-1 → RV-1 → O-1");
        assert_eq!(cut_off(&plant, "E-1"), json!([["V-2", ["RV-1"]]]), "{pipes}");
    }
}

#[test]
fn the_root_valve_of_a_gauge_cuts_off_nothing() {
    let plant = |gauge: &str| format!("T-1 → P-1 → J-1 → V-2 → X-1; J-1 → RV-1 → T-1; J-1 → V-3 → {gauge}");
    assert_eq!(cut_off(&plant("I-1(node_classification=instrument.pressure_gauge)"), "I-1"), json!([]));
    assert_eq!(cut_off(&plant("D-1"), "D-1"), json!([["V-3", ["RV-1"]]]));
}

#[test]
fn a_valve_behind_the_drum_of_a_flare_closes_the_way_out_of_its_devices() {
    let flare = "D-2 → RV-2 → J-2 → D-9(node_classification=equipment.knock_out_drum) → V-7 → T-9(node_classification=equipment.flare)";
    for rest in ["", "; D-9 → P-9 → X-9", "; D-9 → V-8 → D-7", "; D-9 → V-8 → O-9", "; D-3 → V-3 → J-2"]
    {
        assert_eq!(cut_off(&format!("{flare}{rest}"), "T-9"), json!([["V-7", ["RV-2"]]]), "{rest}");
    }
    assert_eq!(cut_off(&flare.replace("V-7", "V-7(lo)"), "T-9"), json!([["V-7", ["RV-2"]]]));
    // A second way out, a vessel with another outlet, a flare of its own, a valve that is closed already.
    for plant in [
        format!("{flare}; D-9 → J-9 → X-9"),
        flare.replace("knock_out_drum", "vessel") + "; D-9 → V-8 → D-7",
        flare.replace("knock_out_drum", "flare"),
        flare.replace("V-7", "V-7(closed)"),
    ] {
        assert_eq!(cut_off(&plant, "T-9"), json!([]), "{plant}");
    }
}

#[test]
fn a_device_behind_a_steam_trap_is_none_of_what_is_before_it() {
    let line = "X-1 → V-1 → E-1 → S-1 → V-5 → J-1 → X-2; J-1 → RV-1 → O-1";
    assert_eq!(cut_off(line, "E-1"), json!([["V-5", ["RV-1"]]]));
    let trap = "S-1(node_classification=piping_component.steam_trap)";
    for plant in [line.replace("S-1", trap), line.replace("S-1 → V-5", &format!("V-5 → {trap}"))] {
        assert_eq!(cut_off(&plant, "E-1"), json!([]), "{plant}");
        // The condensate header is a source.
        let open = plant.replace("V-5 → ", "");
        assert_eq!(
            answer(&open, r#"isolate("E-1").unresolved | map(.at.id) | sort()"#),
            json!(["O-1", "X-2"]),
            "{open}"
        );
    }
}
