//! Plans of isolations: the second barrier behind the first one, the bleeds, and the order of the steps.

use pidq::Graph;
use serde_json::{Value, json};

use crate::answers::answer_of;
use crate::drawing_notation::drawing;
use crate::graph::evaluate;

fn answer(plant: &str, query: &str) -> Value {
    let graph = Graph::from_json(drawing(plant)).expect("a drawing is JSON");
    evaluate(&graph, query, "{}").unwrap_or_else(|error| panic!("{query} on {plant}: {error}"))
}

/// Returns the steps of a plan without those that lock.
fn steps(plant: &str, arguments: &str) -> Value {
    let query = format!(r#"isolationPlan({arguments}).steps | filter(.action != "lock") | map([.action, .node.id])"#);
    answer(plant, &query)
}

/// Returns the method, the second barrier and the bleed of a barrier.
fn proof(plant: &str, arguments: &str, barrier: &str) -> Value {
    let query = format!(
        r#"isolationPlan({arguments}).barriers | filter(.node.id == "{barrier}") | map([.method, .second.id, .bleed.id])"#
    );
    answer(plant, &query)
}

#[test]
fn a_control_valve_between_two_hand_valves_hides_neither() {
    for (line, expected) in [
        ("V-2 → CV-1 → V-5 → X-1", json!([["double_block", "V-5", null]])),
        ("V-2 → SDV-1 → V-5 → X-1", json!([["double_block", "V-5", null]])),
        ("V-2 → J-1 → CV-1 → V-5 → X-1; J-1 → V-6 → O-1", json!([["double_block_bleed", "V-5", "V-6"]])),
        ("V-2 → J-1 → CV-1 → V-5 → X-1; J-1 → V-6 → B-1", json!([["double_block_bleed", "V-5", "V-6"]])),
        // It is no second barrier itself.
        ("V-2 → CV-1 → X-1", json!([["single", null, null]])),
        ("V-2 → CV-1 → D-2", json!([["single", null, null]])),
        ("V-2 → TW-1 → V-5 → X-1", json!([["single", null, null]])),
        ("V-2 → J-1 → CV-1 → X-1; J-1 → V-6 → O-1", json!([["single", null, null]])),
    ] {
        assert_eq!(proof(&format!("D-1 → {line}"), r#""D-1""#, "V-2"), expected, "{line}");
    }
    // It may be shut, and keep a leak of the second valve from the bleed.
    let certain = |line: &str| answer(&format!("D-1 → {line}"), r#"isolationPlan("D-1").barriers | map(.certain)"#);
    assert_eq!(certain("V-2 → J-1 → CV-1 → V-5 → X-1; J-1 → V-6 → O-1"), json!([false]));
    assert_eq!(certain("V-2 → J-1 → V-5 → X-1; J-1 → V-6 → O-1"), json!([true]));
}

#[test]
fn ways_that_meet_again_have_one_second_valve() {
    let drains = "X-1 → V-1 → D-1; D-1 → V-2 → J-1; D-1 → V-3 → J-1; J-1 → V-5";
    for (plant, method) in [
        (format!("{drains} → D-2"), "double_block"),
        (format!("{drains} → O-1"), "double_block"),
        (format!("{drains} → X-2"), "double_block"),
        // A further way from the junction stays open.
        (format!("{drains} → D-2; J-1 → D-3"), "single"),
        (format!("{drains} → D-2; J-1 → V-6 → D-3"), "single"),
        // A bypass, with an item in one of the ways.
        ("X-1 → V-1 → D-1 → J-5 → V-2 → S-1 → J-4 → V-5 → D-2; J-5 → V-3 → J-4".to_owned(), "double_block"),
    ] {
        for valve in ["V-2", "V-3"] {
            let found = answer(
                &plant,
                &format!(r#"isolate("D-1").barriers | filter(.node.id == "{valve}") | map(.method) | first()"#),
            );
            assert_eq!(found, json!(method), "{valve} in {plant}");
        }
    }
}

#[test]
fn the_common_outlet_of_running_equipment_is_no_bleed() {
    for (second, outlet) in [
        ("P-2", "V-9(open) → X-4(service=to slops tank)"),
        ("P-2", "V-9 → X-4(service=to closed drain header)"),
        ("P-2", "V-9(closed) → X-4(service=to flare)"),
        ("D-2", "V-9 → X-4(service=to flare)"),
        ("P-2", "V-9 → O-1"),
        ("P-2", "V-9 → E-7(node_classification=equipment.sump)"),
    ] {
        let plant = format!("X-1 → V-1 → P-1 → V-2 → J-2 → {outlet}; {second} → V-3 → J-2");
        assert_eq!(proof(&plant, r#""P-1""#, "V-2"), json!([["single", null, null]]), "{plant}");
        assert_eq!(steps(&plant, r#""P-1""#), json!([["close", "V-1"], ["close", "V-2"]]), "{plant}");
    }
    // A drain between two valves of one line, in both directions.
    for line in ["D-1 → V-2 → J-2 → V-3 → D-2", "D-2 → V-3 → J-2 → V-2 → D-1"] {
        let plant = format!("{line}; J-2 → V-9 → X-4(service=to closed drain)");
        assert_eq!(proof(&plant, r#""D-1""#, "V-2"), json!([["double_block_bleed", "V-3", "V-9"]]), "{plant}");
        let open = plant.replace("V-9", "V-9(open)");
        assert_eq!(proof(&open, r#""D-1""#, "V-2"), json!([["single", null, null]]), "{open}");
    }
}

#[test]
fn all_ways_to_a_source_are_closed_before_a_bleed_is_opened() {
    for source in [
        "X-1 → J-1 → X-2; J-1 → RV-1 → X-3; J-1 → V-1 → D-1",
        "D-2 → J-1 → V-1 → D-1; J-1 → RV-1 → X-3",
        "D-2 → J-1 → RV-1 → X-3; J-1 → V-1 → P-1 → D-1",
    ] {
        let plant = format!("{source}; D-1 → V-3 → O-1");
        let found = steps(&plant, r#""D-1""#);
        let found = found.as_array().expect("steps");
        let at = |action: &str| found.iter().position(|step| step[0] == action);
        if let (Some(close), Some(open)) = (found.iter().rposition(|step| step[0] == "close"), at("open_bleed")) {
            assert!(close < open, "{found:?} of {plant}");
        }
    }
    let plant = "X-1 → J-1 → X-2; J-1 → RV-1 → X-3; J-1 → V-1 → D-1; D-1 → V-3 → O-1";
    assert_eq!(steps(plant, r#""D-1""#), json!([["close", "V-1"], ["open_bleed", "V-3"], ["verify", "V-1"]]));
    // Nothing but the device is behind the valve: it keeps its path until the volume is vented.
    for inlet in [
        "D-1 → V-2 → RV-1 → X-3",
        "D-1 → V-2 → J-2 → RV-1 → X-3; J-2 → V-7(closed) → X-4",
        "D-1 → V-2 → J-2 → V-7 → RV-1 → X-3; J-2 → V-8 → RV-2 → X-4",
    ] {
        let plant = format!("X-1 → V-1 → D-1; {inlet}; D-1 → V-3 → O-1");
        let found = steps(&plant, r#""D-1""#);
        assert_eq!(found[0], json!(["close", "V-1"]), "{plant}");
        assert_eq!(found[1], json!(["open_bleed", "V-3"]), "{plant}");
        assert_eq!(found[2], json!(["close", "V-2"]), "{plant}");
    }
}

#[test]
fn a_relief_device_that_is_taken_out_keeps_no_path_of_its_own() {
    let at_line = "X-1 → V-1 → J-1 → V-2 → X-2; J-1 → V-3(cso) → RV-1 → V-4(cso) → X-3";
    let found = answer(at_line, r#"isolate("RV-1") | [.isolated, .barriers | map(.node.id), .kept_open | map(.id)]"#);
    assert_eq!(found, json!(["yes", ["V-3", "V-4"], []]));
    let with_bleed = "D-1 → V-2(cso) → J-1 → RV-1 → V-3(cso) → X-2; J-1 → V-4 → O-1";
    assert_eq!(
        steps(with_bleed, r#""RV-1""#),
        json!([["close", "V-2"], ["close", "V-3"], ["open_bleed", "V-4"], ["verify", "V-2"]])
    );
}

#[test]
fn a_bleed_is_opened_only_between_valves_that_are_closed() {
    let options = r#""D-1", {acceptConditional: true}"#;
    for actuated in ["SDV-1", "CV-1", "CV-1(fail_action=open)"] {
        let plant = format!("X-1 → V-1 → D-1 → V-2 → J-1 → {actuated} → X-2; J-1 → V-3 → B-1");
        assert_eq!(proof(&plant, options, "V-2"), json!([["single", null, null]]), "{plant}");
        assert_eq!(steps(&plant, options), json!([["close", "V-1"], ["close", "V-2"]]), "{plant}");
    }
    let plant = "X-1 → V-1 → D-1 → V-2 → J-1 → SDV-1 → V-4 → X-2; J-1 → V-3 → B-1";
    assert_eq!(proof(plant, options, "V-2"), json!([["double_block_bleed", "V-4", "V-3"]]));
    assert_eq!(
        steps(plant, options),
        json!([["close", "V-4"], ["close", "V-1"], ["close", "V-2"], ["open_bleed", "V-3"], ["verify", "V-2"]])
    );
    // Behind a blind that is closed already.
    let plant = "X-1 → V-1 → D-1 → SB-1(closed) → J-1 → V-4 → X-2; J-1 → V-3 → O-1";
    assert_eq!(
        steps(plant, r#""D-1""#),
        json!([
            ["close", "V-4"],
            ["close", "V-1"],
            ["check_closed", "SB-1"],
            ["open_bleed", "V-3"],
            ["verify", "SB-1"]
        ])
    );
    // At the outlet of a relief device, both valves are closed late, and the bleed between them is opened behind.
    let plant = "X-1 → V-1 → D-1 → RV-1 → V-2 → J-1 → V-4 → X-2; J-1 → V-3 → O-1";
    assert_eq!(
        steps(plant, r#""D-1""#),
        json!([["close", "V-1"], ["close", "V-4"], ["close", "V-2"], ["open_bleed", "V-3"], ["verify", "V-2"]])
    );
    // A side that is free and the outlet of the relief device of another vessel lead on: nothing is opened before.
    for behind in ["D-1 → V-2 → J-1 → RV-1 → X-3; D-2 → RV-2 → J-1", "D-1 → V-2 → J-1 → RV-1 → X-3; J-1 → V-9"]
    {
        let plant = format!("X-1 → V-1 → D-1; {behind}; D-1 → V-3 → O-1");
        let found = steps(&plant, r#""D-1""#);
        let at = |action: &str, item: &str| {
            found.as_array().and_then(|steps| steps.iter().position(|step| *step == json!([action, item])))
        };
        assert!(
            matches!((at("close", "V-2"), at("open_bleed", "V-3")), (Some(close), Some(open)) if close < open),
            "{found}"
        );
    }
}

#[test]
fn a_volume_is_vented_before_a_blind_or_a_spool_is_moved() {
    for (item, action) in
        [("SB-1(open)", "swing"), ("SP-1(node_classification=piping_component.removable_spool)", "remove")]
    {
        let plant = format!("X-1 → V-1 → J-1 → {item} → D-1; J-1 → V-3 → O-1");
        let name = &item[..4];
        assert_eq!(
            steps(&plant, r#""D-1", {acceptConditional: true}"#),
            json!([["close", "V-1"], ["open_bleed", "V-3"], [action, name], ["verify", name]]),
            "{item}"
        );
    }
}

#[test]
fn a_valve_with_two_seats_and_a_bleed_is_a_double_block() {
    for class in ["double_block_and_bleed_valve", "ball_valve"] {
        let plant = format!("D-1 → V-1(node_classification=piping_component.{class}) → X-1");
        let method = if class == "ball_valve" { "single" } else { "double_block_bleed" };
        assert_eq!(answer(&plant, r#"isolate("D-1").barriers | map(.method)"#), json!([method]), "{class}");
    }
}

#[test]
fn equipment_has_bypasses_too() {
    let around = "D-1 → J-1 → V-1 → E-1.N1; E-1.N2 → V-2 → J-2 → D-2; J-1 → V-3(closed) → J-2";
    let valves = r#"bypasses("E-1") | map(.valves | map(.id))"#;
    assert_eq!(answer(around, valves), json!([["V-3"]]));
    // Around the other side of its wall, and of equipment without nozzles.
    let sides = around.replace("N1", "N1@tube").replace("N2", "N2@tube") + "; X-8 → E-1.N3@shell; E-1.N4@shell → X-9";
    assert_eq!(answer(&sides, valves), json!([["V-3"]]));
    let other_side = around.replace("N1", "N1@tube").replace("N2", "N2@shell");
    assert_eq!(answer(&other_side, valves), json!([]));
    let without_nozzles = "D-1 → J-1 → V-1 → E-1 → V-2 → J-2 → D-2; J-1 → V-3(closed) → J-2";
    assert_eq!(answer(without_nozzles, valves), json!([["V-3"]]));
    assert_eq!(answer("D-1 → V-1 → E-1.N1; E-1.N2 → V-2 → D-2", valves), json!([]));
}

#[test]
fn a_bypass_around_another_one_has_ends_of_its_own() {
    let plant = "X-1 → J-1 → J-3 → V-1 → F-1.N1; F-1.N2 → V-2 → J-4 → J-2 → X-2; J-3 → V-4 → J-4; J-1 → V-3 → J-2";
    let ends = r#"bypasses("F-1") | map([.from.id, .valves | map(.id), .to.id])"#;
    assert_eq!(answer(plant, ends), json!([["J-3", ["V-4"], "J-4"], ["J-1", ["V-3"], "J-2"]]));
}

#[test]
fn no_bypass_of_equipment_with_many_pipes_is_left_out() {
    let inlets: String = (1..=9).map(|at| format!("T-{at} → V-{at} → D-1; ")).collect();
    let outlets: String = (11..=19).map(|at| format!("D-1 → V-{at} → J-{at} → T-{at}; ")).collect();
    let plant = format!("{inlets}{outlets} T-0 → J-0 → V-99 → D-1; J-0 → V-90(closed) → J-19");
    assert_eq!(answer(&plant, r#"bypasses("D-1") | map(.valves | map(.id))"#), json!([["V-90"]]));
}

#[test]
fn nothing_is_opened_or_taken_from_a_relief_device_while_an_end_is_open() {
    let open = "D-1 → S-1 → D-2";
    for (branch, closed) in [
        ("D-1 → V-2 → X-2", json!(["V-2"])),
        // A blind that is swung, a spool that is removed, also with a valve behind it.
        ("D-1 → V-2 → X-2; D-1 → SB-1(open) → V-3 → X-3", json!(["V-2"])),
        (
            "D-1 → V-2 → X-2; D-1 → SP-1(node_classification=piping_component.removable_spool) → V-3 → X-3",
            json!(["V-2"]),
        ),
        // The only way to a relief device, and one with more behind it.
        ("D-1 → V-2 → X-2; D-1 → V-3 → RV-1 → X-3", json!(["V-2"])),
        ("D-1 → V-2 → X-2; D-1 → V-3 → J-1 → RV-1 → X-3; J-1 → V-4 → T-4", json!(["V-2"])),
        ("D-1 → V-2 → X-2; D-1 → RV-1 → V-3 → X-3", json!(["V-2"])),
    ] {
        let options = r#""D-1", {acceptConditional: true}"#;
        let found = steps(&format!("{open}; {branch}"), options);
        let actions = found.as_array().expect("steps").iter().filter(|step| step[0] != "not_isolated");
        let closing: Vec<Value> = actions.clone().map(|step| step[1].clone()).collect();
        assert_eq!(json!(closing), closed, "{branch}: {found}");
        assert!(actions.into_iter().all(|step| step[0] == "close"), "{branch}: {found}");
    }
}

#[test]
fn an_edge_of_unknown_kind_behind_a_barrier_may_be_a_branch() {
    let plant = |line: &str, edge: [&str; 2]| {
        let mut document: Value =
            serde_json::from_str(&drawing(&format!("D-1 → {line}; T-9 → V-9 → X-9"))).expect("JSON");
        let edge = json!({"id": "u", "from": edge[0], "to": edge[1], "edge_type": "strange"});
        document["pid_graph"]["edges"].as_array_mut().expect("edges").push(edge);
        answer_of(&document, r#"isolate("D-1").barriers | map([.node.id, .method])"#)
    };
    // At the second valve, at a bleed and at its end, and on a way to another valve that is closed.
    assert_eq!(plant("V-1 → V-2 → X-1", ["V-2", "T-9"]), json!([["V-1", "single"]]));
    let with_bleed = "V-1 → J-1 → V-2 → X-1; J-1 → V-3 → O-1";
    for end in ["V-3", "O-1"] {
        assert_eq!(plant(with_bleed, [end, "T-9"]), json!([["V-1", "single"]]), "{end}");
    }
    assert_eq!(plant(with_bleed, ["T-9", "X-9"]), json!([["V-1", "double_block_bleed"]]));
    let two_ways = "V-1 → J-1 → V-2 → X-1; D-1 → V-4 → S-1 → J-1";
    assert_eq!(plant(two_ways, ["S-1", "T-9"]), json!([["V-1", "single"], ["V-4", "single"]]));
    assert_eq!(plant(two_ways, ["T-9", "X-9"]), json!([["V-1", "double_block"], ["V-4", "double_block"]]));
}

#[test]
fn a_bleed_into_a_system_of_others_or_to_a_welded_cap_lets_nothing_out_for_certain() {
    let plant = |end: &str| format!("X-1 → V-1 → D-1 → V-2 → J-1 → V-5 → X-2; J-1 → V-6 → {end}");
    let certain = |end: &str| {
        let rows = r#"isolationPlan("D-1").barriers | filter(.node.id == "V-2") | map([.bleed.id, .certain])"#;
        answer(&plant(end), rows)
    };
    for text in ["closed drain", "to flare", "LP vent header", "to blowdown system"] {
        assert_eq!(certain(&format!("O-1(service={text})")), json!([["V-6", false]]), "{text}");
        let drain = format!("X-1 → V-1 → D-1; D-1 → V-3 → O-1(description={text})");
        let rows = r#"isolationPlan("D-1").barriers | map([.node.id, .bleed.id, .certain])"#;
        assert_eq!(answer(&drain, rows), json!([["V-1", "V-3", false]]), "{text}");
    }
    for text in ["to grade", "oily water drain", "to atmosphere at safe location"] {
        assert_eq!(certain(&format!("O-1(service={text})")), json!([["V-6", true]]), "{text}");
    }
    assert_eq!(certain("C-1"), json!([["V-6", true]]));
    assert_eq!(certain("C-1(node_classification=piping_component.weld_cap)"), json!([[null, true]]));
}

#[test]
fn fittings_before_the_valve_of_a_bleed_are_part_of_its_branch() {
    let proved = |branch: &str| proof(&format!("D-1 → V-1 → J-1 → V-2 → X-1; J-1 → {branch}"), r#""D-1""#, "V-1");
    for fitting in [
        "R-1",
        "R-1 → J-2; J-2 → I-1; J-2",
        "J-2; J-2 → V-5 → I-1; J-2",
        "SP-1",
        "S-1",
        "Q-1(node_classification=piping_component.flange)",
        "Q-1(node_classification=piping_component.weldolet)",
        "Q-1(node_classification=piping_component.orifice_plate)",
        "Q-1(node_classification=piping_component.pipe)",
    ] {
        for end in ["O-1", "C-1", "B-1"] {
            let branch = format!("{fitting} → V-3(closed) → {end}");
            assert_eq!(proved(&branch), json!([["double_block_bleed", "V-2", "V-3"]]), "{branch}");
        }
    }
    // What may close, may lead inwards or is not there is no fitting.
    for item in [
        "CK-1",
        "CV-1",
        "SB-1",
        "Q-1(node_classification=piping_component.steam_trap)",
        "Q-1(node_classification=gadget)",
        "R-1(status=removed)",
        "SP-1(node_classification=piping_component.removable_spool)",
        "R-1(description=nitrogen supply)",
        "J-2; J-2 → V-5 → X-9; J-2",
    ] {
        assert_eq!(proved(&format!("{item} → V-3(closed) → O-1"))[0][2], json!(null), "{item}");
    }
    // The second valve behind a fitting, beside a bleed.
    let plant = "D-1 → V-1 → J-1 → R-1 → V-2 → O-1; J-1 → V-3 → O-2";
    assert_eq!(proof(plant, r#""D-1""#, "V-1"), json!([["double_block_bleed", "V-2", "V-3"]]));
}

#[test]
fn a_drain_on_a_closed_parallel_way_does_not_hide_the_second_valve() {
    let plant =
        |drain: &str| format!("X-1 → V-3 → J-1 → CV-1 → J-2 → V-2 → J-3 → D-1; J-1 → V-6(closed) → J-3; J-2 → {drain}");
    for drain in ["V-7(closed) → B-1", "V-7(closed) → C-1", "V-7(closed) → O-1", "R-1 → V-7(closed) → O-1", "V-7 → I-1"]
    {
        assert_eq!(proof(&plant(drain), r#""D-1""#, "V-6")[0][1], json!("V-3"), "{drain}");
    }
    for branch in ["V-7(closed) → X-2", "V-7 → T-2", "CK-1 → X-2", "RV-1 → O-1"] {
        assert_eq!(proof(&plant(branch), r#""D-1""#, "V-6")[0][1], json!(null), "{branch}");
    }
}

#[test]
fn a_bleed_proves_a_barrier_past_a_valve_of_the_volume_that_is_drawn_open() {
    let proved = |valve: &str| {
        let plant = format!("X-1 → V-1 → D-1 → {valve} → D-2 → V-6 → X-2; D-2 → V-7(closed) → O-1");
        let query =
            r#"isolationPlan(["D-1", "D-2"]).barriers | filter(.node.id == "V-1") | map([.bleed.id, .certain])"#;
        answer(&plant, query)
    };
    assert_eq!(proved("V-5(open)"), json!([["V-7", false]]));
    assert_eq!(proved("V-5(locked_open)"), json!([["V-7", false]]));
    for valve in ["V-5", "V-5(closed)", "CV-5(open)", "V-5(normal_position=open,status=planned)"] {
        assert_eq!(proved(valve)[0][0], json!(null), "{valve}");
    }
}
