//! Ends of an isolation in the open air: equipment that is open by its class, a text or a field, and vent stacks.

use serde_json::{Value, json};

use crate::answers::{answer, answer_of};
use crate::drawing_notation::drawing;

/// Returns whether equipment with some fields between two hand valves is isolated, and why not.
fn judged(fields: &Value) -> Value {
    let mut document: Value = serde_json::from_str(&drawing("X-1 → V-1 → T-1 → V-2 → X-2")).expect("a drawing is JSON");
    for (name, value) in fields.as_object().expect("fields") {
        document["pid_graph"]["nodes"][2][name] = value.clone();
    }
    let query = r#"isolate("T-1") | [.isolated, .unresolved | map(.kind + " " + .at.id), .uncertain | map(.reason)]"#;
    answer_of(&document.to_string(), query)
}

#[test]
fn equipment_that_is_open_to_the_atmosphere_is_not_isolated() {
    for fields in [
        json!({"node_classification": "equipment.open_top_tank"}),
        json!({"node_classification": "OpenTank"}),
        json!({"node_classification": "equipment.basin"}),
        json!({"node_classification": "equipment.sump"}),
        json!({"node_classification": "equipment.bund"}),
        json!({"node_classification": "equipment.cooling_tower"}),
        json!({"node_classification": "equipment.flare"}),
        json!({"sub_class": "open_top_tank"}),
        json!({"description": "Open top tank"}),
        json!({"description": "Neutralization tank, open to the atmosphere"}),
        json!({"description": "atmospheric tank, free vented"}),
        json!({"description": "tank, open roof vent"}),
        json!({"description": "Behälter, oben offen"}),
        json!({"description": "cuve à ciel ouvert"}),
        json!({"remarks": "vent to atmosphere"}),
        json!({"remarks": "atmospheric, vented through roof"}),
        json!({"roof_type": "open top"}),
        json!({"RoofType": "Open"}),
        json!({"roof": "none"}),
        json!({"cover": false}),
        json!({"type": "open"}),
        json!({"tank_type": "open"}),
        json!({"is_covered": "x", "cover": "none"}),
        json!({"vent": "open vent DN80"}),
        json!({"attributes": [{"name": "Venting", "value": "free"}]}),
    ] {
        assert_eq!(judged(&fields), json!(["no", ["open_end T-1"], []]), "{fields}");
    }
}

#[test]
fn a_text_of_another_time_or_of_a_closed_sump_is_not_certain() {
    for fields in [
        json!({"remarks": "vent to atmosphere before entry"}),
        json!({"remarks": "was open top until 2011"}),
        json!({"vent": "to flare; may be vented to atmosphere"}),
        json!({"roof": "open during maintenance"}),
        json!({"node_classification": "equipment.sump", "description": "covered, vented to carbon filter"}),
    ] {
        assert_eq!(judged(&fields), json!(["unknown", [], ["unread_text"]]), "{fields}");
    }
}

#[test]
fn equipment_that_is_not_said_to_be_open_is_closed() {
    for fields in [
        json!({"description": "floating roof tank"}),
        json!({"description": "atmospheric tank, nitrogen blanketed"}),
        json!({"description": "not open to atmosphere"}),
        json!({"remarks": "PSV vents to atmosphere"}),
        json!({"remarks": "relief valve vented to atmosphere"}),
        json!({"roof_type": "fixed cone"}),
        json!({"roof_type": "closed"}),
        json!({"cover": "bolted"}),
        json!({"cover": true}),
        json!({"type": "vertical"}),
        json!({"impeller_type": "open"}),
        json!({"enclosure_type": "open"}),
        json!({"floating_roof": false}),
        json!({"top_nozzle": "none"}),
        json!({"vent_valve": "open"}),
        json!({"vent": "to flare"}),
        json!({"description": "open loop cooling water drum"}),
        json!({"node_classification": "equipment.closed_sump"}),
        json!({"node_classification": "equipment.flare_knock_out_drum"}),
    ] {
        assert_eq!(judged(&fields), json!(["yes", [], []]), "{fields}");
    }
}

#[test]
fn a_boundary_and_a_section_are_open_at_open_equipment() {
    let plant = "X-1 → V-1 → T-1(node_classification=equipment.open_top_tank) → V-2 → D-1 → V-3 → X-2";
    for (target, stops) in [("T-1", r#"["V-1", "V-2"]"#), ("D-1", r#"["V-1", "V-3"]"#)] {
        assert_eq!(answer(plant, &format!(r#"boundary("{target}", {stops}).leaks | map(.id)"#)), json!(["T-1"]));
    }
    let nozzles = plant.replace("→ T-1(", "→ T-1.N1 → T-9; T-1(").replace("tank) →", "tank); T-1.N2 →");
    assert_eq!(answer(&nozzles, r#"boundary("D-1", ["V-1", "V-3"]).leaks | map(.id)"#), json!(["T-1"]));
    let reasons = "inventorySections().0.uncertain | map([.reason, .at.id]) | filter(.1 == \"T-1\")";
    assert_eq!(answer(plant, reasons), json!([["open_end", "T-1"]]));
    // Equipment that is taken into the volume.
    let grown = r#"isolate("D-1", {scope: "grow", barriers: .id == "V-1"}) | [.isolated, .unresolved | map(.at.id)]"#;
    let line = plant.replace("→ V-2 → D-1", "→ J-1 → D-1");
    assert_eq!(answer(&line, grown), json!(["no", ["T-1"]]));
}

#[test]
fn a_vent_stack_is_the_open_end_of_its_pipe() {
    for class in ["equipment.vent_stack", "piping_component.vent_stack", "equipment.vent_mast"] {
        let plant = format!("X-1 → V-1 → D-1 → V-2 → X-2; D-1 → V-3(closed) → T-9(node_classification={class})");
        assert_eq!(answer(&plant, r#"bleeds("D-1") | map(.id)"#), json!(["V-3"]), "{class}");
        assert_eq!(
            answer(&plant, r#"isolationPlan("D-1").steps | map([.action, .node.id]) | filter(.0 != "lock")"#),
            json!([["close", "V-1"], ["close", "V-2"], ["open_bleed", "V-3"], ["verify", "V-1"], ["verify", "V-2"]]),
            "{class}"
        );
        assert_eq!(answer(&plant, r#"isolate("D-1").isolated"#), json!("yes"), "{class}");
        assert_eq!(answer(&plant, "vents() | map(.end.id)"), json!(["T-9"]), "{class}");
        let open = plant.replace("V-3(closed) → ", "");
        assert_eq!(
            answer(&open, r#"isolate("D-1").unresolved | map([.kind, .at.id])"#),
            json!([["open_end", "T-9"]]),
            "{class}"
        );
        assert_eq!(answer(&open, r#"boundary("D-1", ["V-1", "V-2"]).leaks | map(.id)"#), json!(["T-9"]), "{class}");
        // Others discharge to a stack with several pipes.
        let shared = format!("{plant}; D-2 → T-9");
        assert_eq!(answer(&shared, r#"bleeds("D-1") | map(.id)"#), json!([]), "{class}");
    }
}

#[test]
fn a_plan_verifies_only_barriers_with_a_bleed() {
    let plant = "X-1 → V-1 → D-1 → CK-1 → V-2 → X-2; D-1 → V-3 → O-1";
    assert_eq!(
        answer(plant, r#"isolationPlan("D-1").steps | filter(.action == "verify") | map([.node.id, .at.id])"#),
        json!([["V-1", "V-3"]])
    );
    let without = "X-1 → V-1 → D-1 → V-2 → X-2";
    assert_eq!(answer(without, r#"isolationPlan("D-1").steps | filter(.action == "verify")"#), json!([]));
}
