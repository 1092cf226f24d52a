//! Tests of the reports for engineers on small drawings with known answers, and against slow independent computations.

use std::collections::BTreeSet;

use pidq::{Graph, Limits, Query};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::properties::cases;

/// Returns a drawing. A node is a line `TAG class {more fields}`; an edge is `A > B` (pipe), `A - B` (pipe without a
/// direction), `A ~ B` (signal), `A ? B` (signal without a direction), `A @ B` (located in), `A has B` (nozzle),
/// `A in B` (member of) or `A KIND B`, each with more fields.
fn document(text: &str) -> String {
    let (mut nodes, mut edges) = (Vec::new(), Vec::new());
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (words, fields) = line.find('{').map_or((line, "{}"), |at| line.split_at(at));
        let mut item: Value = serde_json::from_str(fields).expect("fields are JSON");
        let set = |item: &mut Value, key: &str, value: &str| item[key] = json!(value);
        match words.split_whitespace().collect::<Vec<_>>().as_slice() {
            [tag, class] => {
                set(&mut item, "id", tag);
                set(&mut item, if class.contains('.') { "node_classification" } else { "node_type" }, class);
                if item.get("tag").is_none() {
                    set(&mut item, "tag", tag);
                }
                nodes.push(item);
            }
            [from, kind, to] => {
                set(&mut item, "id", &format!("e{}", edges.len() + 1));
                set(&mut item, "from", from);
                set(&mut item, "to", to);
                let edge_type = match *kind {
                    ">" | "-" => "physically_connected_to",
                    "has" => "physically_has_a",
                    "in" => "member_of",
                    "~" | "?" | "@" => "associated_with",
                    kind => kind,
                };
                set(&mut item, "edge_type", edge_type);
                match *kind {
                    "-" | "?" => set(&mut item, "direction", "unknown"),
                    "@" => set(&mut item, "edge_classification", "association.is_located_in"),
                    _ => {}
                }
                edges.push(item);
            }
            other => panic!("{other:?}"),
        }
    }
    json!({"pid_graph": {"nodes": nodes, "edges": edges, "metadata": {"drawing_name": "D-1"}}}).to_string()
}

fn evaluate(document: &str, query: &str) -> Value {
    let graph = Graph::from_json(document).expect("the drawing is JSON");
    let result = Query::parse(query).and_then(|query| query.to_json(&graph, Limits::default()));
    let text = result.unwrap_or_else(|error| format!("{:?}", error.code().as_str()));
    serde_json::from_str(&text).expect("JSON")
}

/// Checks the result of a query on a drawing.
#[track_caller]
fn check(drawing: &str, query: &str, expected: Value) {
    let result = evaluate(&document(drawing), query);
    assert_eq!(result, expected, "{query} on\n{drawing}\ngives {result}");
}

/// Checks a query on two revisions.
#[track_caller]
fn check_revisions(old: &str, new: &str, query: &str, expected: Value) {
    let both = format!("[{},{}]", document(old), document(new));
    let result = evaluate(&both, query);
    assert_eq!(result, expected, "{query} gives {result}");
}

const LINKS: &str = "causeAndEffect() | .links | map([.initiator.id, .final_element.id, .kind, .effect, .voting])";

/// The parts of a control loop or a trip as DEXPI draws them: a measuring function of the transmitter, and the function, the
/// system and the reference by which an instrument moves its valve.
fn dexpi_chain(function: &str, valve: &str) -> String {
    format!(
        "V-1 equipment.vessel\nT instrument.process_instrumentation_function {{\"tag\": \"FT-1\"}}
        M instrument.process_signal_generating_function {{\"tag\": \"\", \"parent_id\": \"T\"}}\nF instrument.process_instrumentation_function {{\"tag\": \"{function}\"}}
        A instrument.actuating_function {{\"tag\": \"{valve}\", \"parent_id\": \"F\"}}\nS instrument.actuating_system {{\"tag\": \"\"}}
        R instrument.operated_valve_reference {{\"tag\": \"\", \"parent_id\": \"S\"}}\nX piping_component.globe_valve {{\"tag\": \"{valve}\"}}\nP-1 equipment.centrifugal_pump
        V-1 > X\nX > P-1\nM ~ T\nM @ V-1\nT ~ F\nF ~ A
        A ~ S {{\"edge_classification\": \"association.is_fulfilled_by\"}}\nR ~ X {{\"edge_classification\": \"association.refers_to\"}}"
    )
}

#[test]
fn a_controller_makes_no_trip_of_its_chain_through_the_parts_of_an_actuator() {
    let links = "causeAndEffect().links | map([.initiator.tag, .final_element.tag, .kind])";
    for (function, valve, expected) in [
        ("UIC-1", "UV-1", json!([])),
        ("FIC-1", "XV-1", json!([])),
        ("FIC-1", "FV-1", json!([])),
        ("FZ-1", "UV-1", json!([["FT-1", "UV-1", "trip"]])),
        ("FSLL-1", "XV-1", json!([["FT-1", "XV-1", "trip"]])),
        ("FIC-1", "ESDV-1", json!([["FT-1", "ESDV-1", "trip"]])),
    ] {
        check(&dexpi_chain(function, valve), links, expected);
    }
    let all = r#"causeAndEffect({scope: "all"}).links | map([.initiator.tag, .final_element.tag, .kind])"#;
    check(&dexpi_chain("FIC-1", "UV-1"), all, json!([["FT-1", "UV-1", "control"]]));
    let both = dexpi_chain("FIC-1", "UV-1") + "\nI instrument.interlock {\"tag\": \"I-1\"}\nT ~ I\nI ~ A";
    check(&both, links, json!([["FT-1", "UV-1", "trip"]]));
}

#[test]
fn two_trips_of_one_valve_have_no_common_sensor_behind_its_actuator() {
    let drawing = dexpi_chain("FSLL-1", "XV-1").replace(r#"A instrument.actuating_function {"tag": "XV-1""#, r#"A instrument.actuating_function {"tag": """#)
        .replace(r#"S instrument.actuating_system {"tag": """#, r#"S instrument.actuating_system {"tag": "XV-1""#)
        + "\nU instrument.process_instrumentation_function {\"tag\": \"PT-2\"}\nN instrument.process_signal_generating_function {\"tag\": \"\", \"parent_id\": \"U\"}
        W instrument.process_instrumentation_function {\"tag\": \"PSHH-2\"}\nN @ V-1\nN ~ U\nU ~ W\nW ~ A";
    let loops = "loops() | map([.loop, .kind, .certain, (.sensors | map(.tag)), (.functions | map(.tag)), .final_elements | map(.tag)])";
    let expected = json!([
        ["F-1", "trip", true, ["FT-1"], ["FSLL-1"], ["XV-1"]],
        ["P-2", "trip", true, ["PT-2"], ["PSHH-2"], ["XV-1"]],
    ]);
    check(&drawing, loops, expected);
    let links = "causeAndEffect().links | map([.initiator.tag, .final_element.tag])";
    check(&drawing, links, json!([["FT-1", "XV-1"], ["PT-2", "XV-1"]]));
    // A level trip and a pressure controller: the transmitter of the controller trips nothing.
    let controlled = drawing.replace("PSHH-2", "PIC-2");
    let expected = json!([
        ["F-1", "trip", true, ["FT-1"], ["FSLL-1"], ["XV-1"]],
        ["P-2", "control", true, ["PT-2"], ["PIC-2"], ["XV-1"]],
    ]);
    check(&controlled, loops, expected);
    // A valve to which no signal leads has no cause, and its actuator is none.
    let without = drawing.replace("\nF ~ A", "").replace("\nW ~ A", "").replace(r#", "parent_id": "F""#, "");
    let not_followed = "causeAndEffect() | [(.links | size()), .not_followed, .without_cause | map(.tag)]";
    check(&without, not_followed, json!([0, [], ["XV-1"]]));
    // Each trip is one safeguard, which its function stands for, also if the transmitter and the logic have loops of their own.
    let safeguards =
        "hazopNodes() | map(.safeguards | filter(.kind == \"trip\") | map([.item.tag, .certain])) | flatten() | uniq()";
    check(&drawing, safeguards, json!([["FSLL-1", true], ["PSHH-2", true]]));
    let loop_nodes = "\nL1 loop {\"tag\": \"F-1\"}\nL2 loop {\"tag\": \"U-1\"}\nT in L1\nF in L1\nU in L2\nA in L2
        U instrument.process_instrumentation_function {\"tag\": \"UZ-1\"}\nU ~ A";
    let one =
        dexpi_chain("FSLL-1", "XV-1").replace("F ~ A", "F ~ U").replace(r#""parent_id": "F""#, r#""parent_id": "U""#)
            + loop_nodes;
    check(
        &one,
        "hazopNodes() | map(.safeguards | filter(.kind == \"trip\") | map(.loop)) | flatten() | uniq()",
        json!(["F-1"]),
    );
    // The actuator of a valve alone, with the tag of the valve, is no loop.
    let split = dexpi_chain("PIC-7", "FV-1")
        .replace("FT-1", "PT-7")
        .replace(r#"S instrument.actuating_system {"tag": """#, r#"S instrument.actuating_system {"tag": "FV-1""#);
    check(&split, loops, json!([["P-7", "control", true, ["PT-7"], ["PIC-7"], ["FV-1"]]]));
}

#[test]
fn the_parts_of_an_instrument_are_shown_as_the_instrument() {
    let drawing = dexpi_chain("FSLL-1", "XV-1");
    check(&drawing, "causeAndEffect().matrix", json!([{"initiator": "FT-1", "XV-1": "X"}]));
    let index = "instrumentIndex() | map([.tag, .attached_to])";
    check(&drawing, index, json!([["FT-1", "V-1"], ["FSLL-1", "XV-1"]]));
    let loops = "loops() | map([(.sensors | map(.tag)), (.functions | map(.tag)), (.sensing_points | map(.tag))])";
    check(&drawing, loops, json!([[["FT-1"], ["FSLL-1"], ["V-1"]]]));
    check(&drawing, r#"validate({rules: "P108"})"#, json!([]));
    // A measuring function with a tag, or of two instruments, stays apart.
    let tagged = drawing.replace(r#"{"tag": "", "parent_id": "T"}"#, r#"{"tag": "M", "parent_id": "T"}"#);
    check(&tagged, index, json!([["FT-1", ""], ["M", "V-1"], ["FSLL-1", "XV-1"]]));
    check(&(drawing.clone() + "\nM in F\nM in T"), "instrumentIndex() | size()", json!(3));
    let located = drawing + "\nN other.note\nT ~ N {\"edge_classification\": \"association.is_referenced_in_comment\"}";
    check(&located, index, json!([["FT-1", "V-1"], ["FSLL-1", "XV-1"]]));
    check(&located, "causeAndEffect().not_followed", json!([]));
    let in_area = located + "\nU plant_structure_item\nT @ U";
    check(&in_area, index, json!([["FT-1", "V-1"], ["FSLL-1", "XV-1"]]));
}

#[test]
fn items_of_a_drawing_with_renewed_ids_are_paired_by_their_connections() {
    let drawing = |prefix: &str, more: &str| {
        let text =
            "#V equipment.vessel {'tag': 'V-1'}\n#T piping_component.pipe_tee {'tag': '', 'ports': [{'id': '#p'}]}
            #H piping_component.ball_valve {'tag': 'HV-1'}\n#I piping_component.ball_valve {'tag': 'HV-2'}
            #L instrument.level_transmitter {'tag': 'LT-1'}\n#M instrument.sensor {'tag': '', 'parent_id': '#L'}
            #V > #T {'to_port': '#p'}\n#T > #H {'from_port': '#p'}\n#M @ #V\n";
        (text.to_owned() + more).replace('\'', "\"").replace('#', prefix)
    };
    let counts = "diff(.0, .1) | [(.added | map(.id)), (.removed | map(.id)), (.changed | map(.field)), .rewired | size(), \
        .edges_added | size(), .edges_removed | size(), .renamed | size()]";
    let old = drawing("a", "#T > #I");
    check_revisions(&old, &drawing("b", "#T > #I"), counts, json!([[], [], [], 0, 0, 0, 6]));
    // Only the tee has another id: nothing says that it is the same.
    let tee = drawing("a", "#T > #I").replace("aT", "bT");
    check_revisions(&old, &tee, counts, json!([["bT"], ["aT"], [], 3, 3, 3, 0]));
    let changed = drawing("b", "#T > #I").replace("HV-2", "HV-3");
    check_revisions(&old, &changed, counts, json!([["bI"], ["aI"], [], 1, 1, 1, 5]));
    let without = drawing("b", "#H > #I");
    // Most connections of the tee are the same.
    check_revisions(&old, &without, counts, json!([[], [], [], 3, 1, 1, 6]));
}

/// Returns a chain of valves between vessels, each with a pipe without a tag before it; a valve is a tag and a size.
fn numbered_chain(valves: &[(&str, u32)]) -> String {
    let mut rows =
        vec!["A equipment.vessel {\"tag\": \"D-1\"}".to_owned(), "Z equipment.vessel {\"tag\": \"D-2\"}".into()];
    let mut last = "A".to_owned();
    for (n, (tag, size)) in valves.iter().enumerate() {
        rows.push(format!("XP{n} piping_segment {{\"tag\": \"\"}}\nXV{n} piping_component.ball_valve {{\"tag\": \"{tag}\", \"size\": {size}}}"));
        rows.push(format!("{last} > XP{n}\nXP{n} > XV{n}"));
        last = format!("XV{n}");
    }
    rows.push(format!("{last} > Z"));
    rows.join("\n")
}

#[test]
fn items_with_new_numbers_are_paired_by_tags() {
    let old = [("HV-1", 50), ("HV-2", 80), ("HV-3", 25), ("HV-4", 40)];
    let kinds = "diff(.0, .1) | [(.added | map(.id)), (.removed | map(.id)), (.changed | map([.tag, .field])), (.renamed | map(.tag)), \
        (.retagged | map([.before, .after])), .rewired | size()]";
    let compare = |new: &[(&str, u32)], expected: Value| {
        check_revisions(&numbered_chain(&old), &numbered_chain(new), kinds, expected);
    };
    // A valve is inserted, and the export numbers the items after it anew, pipes without a tag too.
    let inserted = [("HV-1", 50), ("HV-9", 15), ("HV-2", 80), ("HV-3", 25), ("HV-4", 40)];
    compare(&inserted, json!([["XV1", "XP2"], [], [], ["HV-2", null, "HV-3", null, "HV-4"], [], 2]));
    let changed = [("HV-1", 50), ("HV-9", 15), ("HV-2", 80), ("HV-3", 20), ("HV-4", 40)];
    compare(&changed, json!([["XV1", "XP2"], [], [["HV-3", "size"]], ["HV-2", null, "HV-3", null, "HV-4"], [], 2]));
    let removed = [("HV-1", 50), ("HV-3", 25), ("HV-4", 40)];
    compare(&removed, json!([[], ["XV1", "XP2"], [], ["HV-3", null, "HV-4"], [], 2]));
    // The tags are numbered anew, and the items stay.
    let retagged = [("HV-2", 50), ("HV-3", 80), ("HV-4", 25), ("HV-5", 40)];
    let tags = json!([["HV-1", "HV-2"], ["HV-2", "HV-3"], ["HV-3", "HV-4"], ["HV-4", "HV-5"]]);
    compare(&retagged, json!([[], [], [], [], tags, 0]));
    let exchanged = [("HV-1", 50), ("HV-3", 80), ("HV-2", 25), ("HV-4", 40)];
    compare(&exchanged, json!([[], [], [], [], [["HV-2", "HV-3"], ["HV-3", "HV-2"]], 0]));
}

#[test]
fn an_actuating_function_acts_on_the_machine_at_which_it_is_located() {
    let drawing = |class: &str, place: &str| {
        format!(
            "D-1 equipment.vessel\nP-1 equipment.centrifugal_pump\nP-1-N1 equipment_component.nozzle {{\"tag\": \"N1\"}}
            E-1 equipment.heat_exchanger\nLT-1 instrument.level_transmitter\nLSLL-1 instrument.function\nA instrument.{class} {{\"tag\": \"\"}}
            P-1 has P-1-N1\nD-1 > P-1-N1\nLT-1 @ D-1\nLT-1 ~ LSLL-1\nLSLL-1 ~ A\nA in LSLL-1\nA @ {place}"
        )
    };
    let links = "causeAndEffect() | [(.links | map([.initiator.tag, .final_element.tag])), (.not_followed | map([.item.tag, .reason]))]";
    let loops = "loops() | map([.closed, .certain, .final_elements | map(.tag)])";
    for place in ["P-1", "P-1-N1"] {
        let drawing = drawing("actuating_electrical_function", place);
        check(&drawing, links, json!([[["LT-1", "P-1"]], []]));
        check(&drawing, loops, json!([[true, true, ["P-1"]]]));
        check(
            &drawing,
            "instrumentIndex() | map([.tag, .attached_to])",
            json!([["LT-1", "D-1"], ["LSLL-1", if place == "P-1" { "P-1" } else { "P-1-N1" }]]),
        );
    }
    check(&drawing("actuating_electrical_function", "E-1"), links, json!([[], [["E-1", "effect_not_stated"]]]));
    check(&drawing("process_signal_generating_function", "P-1"), links, json!([[], []]));
    check(&drawing("process_signal_generating_function", "P-1"), loops, json!([[false, true, []]]));
}

#[test]
fn a_chamber_without_a_tag_is_named_after_its_equipment() {
    let protects = |chamber: &str| {
        let drawing = format!(
            "E-1 equipment.heat_exchanger\nC1 equipment_component.chamber {{{chamber}}}\nC2 equipment_component.chamber {{\"tag\": \"C2\"}}
            N1 equipment_component.nozzle\nN2 equipment_component.nozzle\nN3 equipment_component.nozzle\nN4 equipment_component.nozzle
            PSV-1 piping_component.safety_valve\nF-1 equipment.flare\nE-1 has C1\nE-1 has C2\nE-1 has N1\nE-1 has N2\nE-1 has N3\nE-1 has N4
            N1 @ C1\nN2 @ C1\nN3 @ C2\nN4 @ C2\nN1 > PSV-1\nPSV-1 > F-1"
        );
        evaluate(&document(&drawing), "reliefList() | map(.protects)")
    };
    let attribute = r#""tag": "", "attributes": [{"name": "ChamberFunctionSpecialization", "value": "Cooling"}]"#;
    assert_eq!(protects(attribute), json!(["E-1 (Cooling)"]));
    assert_eq!(protects(r#""tag": """#), json!(["E-1 (C1)"]));
    assert_eq!(protects(r#""tag": "Tube""#), json!(["Tube"]));
}

const TRIP: &str = r#"
    D-1 equipment.vessel
    LT-1 instrument.level_transmitter
    LZ-1 instrument.function {"description": "low low level, 2oo3"}
    SDV-1 piping_component.ball_valve {"fail_action": "closed"}
    P-1 equipment.pump
    LAL-1 instrument.function
    LIC-1 instrument.controller
    LV-1 piping_component.control_valve
    D-1 > SDV-1
    SDV-1 > P-1
    LT-1 @ D-1
    LT-1 ~ LZ-1
    LZ-1 ~ SDV-1
    LZ-1 ~ P-1
    LZ-1 ~ LAL-1
    LT-1 ~ LIC-1
    LIC-1 ~ LV-1
"#;

#[test]
fn a_trip_links_its_sensor_to_valves_motors_and_alarms() {
    check(
        TRIP,
        LINKS,
        json!([["LT-1", "SDV-1", "trip", "valve", "2oo3"], ["LT-1", "P-1", "trip", "equipment", "2oo3"]]),
    );
    check(
        TRIP,
        "causeAndEffect().alarms | map([.initiator.id, .final_element.id, .kind, .effect])",
        json!([["LT-1", "LAL-1", "alarm", "alarm"]]),
    );
    check(
        TRIP,
        r#"causeAndEffect({scope: "all"}).links | filter(.kind == "control") | map([.initiator.id, .final_element.id])"#,
        json!([["LT-1", "LV-1"]]),
    );
    check(
        TRIP,
        "causeAndEffect().links | first() | [.fail_action, .trip_item.id, .basis, .path | map(.id), .signals | map(.id)]",
        json!(["closed", "LZ-1", "tag", ["LT-1", "LZ-1", "SDV-1"], ["e4", "e5"]]),
    );
    check(TRIP, "causeAndEffect().matrix", json!([{"initiator": "LT-1", "SDV-1": "2oo3", "P-1": "2oo3"}]));
}

#[test]
fn a_signal_is_followed_in_its_direction_only() {
    let plant = "
        HS-1 instrument.function
        XV-1 piping_component.ball_valve
        HS-2 instrument.function
        XV-2 piping_component.ball_valve
        XV-1 ~ HS-1
        HS-2 ? XV-2
    ";
    check(plant, LINKS, json!([]));
    check(plant, "causeAndEffect().without_effect | map(.id)", json!(["HS-1", "HS-2"]));
    check(plant, "causeAndEffect().without_cause | map(.id)", json!(["XV-1", "XV-2"]));
    check(
        plant,
        "causeAndEffect().not_followed | map([.item.id, .edge.id, .reason])",
        json!([["HS-2", "e2", "direction_not_stated"]]),
    );
}

#[test]
fn a_signal_that_cannot_be_followed_is_listed() {
    let reasons = "causeAndEffect().not_followed | map([.item.id, .reason])";
    check(
        "HS-1 instrument.function\nX-1 reference.off_page_connector\nHS-1 ~ X-1",
        reasons,
        json!([["X-1", "off_page"]]),
    );
    check("HS-1 instrument.function\nHS-1 ~ gone", reasons, json!([["HS-1", "end_missing"]]));
    check("HS-1 instrument.function\nT-1 equipment.tank\nHS-1 ~ T-1", reasons, json!([["T-1", "effect_not_stated"]]));
    check(
        "PT-1 instrument.transmitter\nP-1 equipment.pump\nPT-1 ~ P-1",
        reasons,
        json!([["P-1", "sensing_point_or_effect"]]),
    );
    check(
        "HS-1 instrument.function\nEND-1 reference.signal_end\nHS-1 ~ END-1",
        reasons,
        json!([["END-1", "no_further_signal"]]),
    );
    // A cause on another sheet, also where nothing on this one leads to the logic.
    check(
        "X-1 reference.off_page_connector\nLZ-1 instrument.function\nXV-1 piping_component.ball_valve\nX-1 ~ LZ-1\nLZ-1 ~ XV-1",
        reasons,
        json!([["X-1", "off_page"]]),
    );
    check(
        "X-1 reference.off_page_connector\nLZ-1 instrument.function\nX-1 ? LZ-1",
        reasons,
        json!([["X-1", "direction_not_stated"]]),
    );
    // A connector of a pipe carries no signal.
    check("X-1 reference.off_page_connector\nP-1 equipment.pump\nX-1 > P-1", reasons, json!([]));
}

#[test]
fn an_edge_of_unknown_kind_at_an_instrument_is_listed_among_the_signals_that_are_not_followed() {
    let plant = |to: &str| {
        format!(
            r#"{{"nodes": [{{"id": "LZ-1", "class": "instrument.function"}}, {{"id": "b", "class": "{to}"}}],
            "edges": [{{"id": "x", "from": "b", "to": "LZ-1", "type": "capillary_or_so"}}]}}"#
        )
    };
    let reasons = "causeAndEffect().not_followed | map([.item.id, .edge.id, .reason])";
    for (class, expected) in [
        ("instrument.transmitter", json!([["b", "x", "unknown_kind"]])),
        ("piping_component.ball_valve", json!([["b", "x", "unknown_kind"]])),
        ("equipment.pump", json!([["b", "x", "unknown_kind"]])),
        ("reference.off_page_connector", json!([["b", "x", "unknown_kind"]])),
        ("equipment.tank", json!([])),
        ("note", json!([])),
    ] {
        assert_eq!(evaluate(&plant(class), reasons), expected, "{class}");
    }
}

#[test]
fn a_solenoid_valve_without_a_pipe_passes_a_trip_on_to_the_valve_that_it_moves() {
    let plant = "
        D-1 equipment.vessel
        LZ-1 instrument.function
        SOV-1 instrument.solenoid_valve
        SDV-1 piping_component.ball_valve
        P-1 equipment.pump
        D-1 > SDV-1
        SDV-1 > P-1
        LT-1 instrument.transmitter
        LT-1 ~ LZ-1
        LZ-1 ~ SOV-1
        SOV-1 ~ SDV-1
    ";
    check(plant, LINKS, json!([["LT-1", "SDV-1", "trip", "valve", null]]));
    // Without a signal that leaves it, it is all that the drawing shows.
    check(&plant.replace("SOV-1 ~ SDV-1", ""), LINKS, json!([["LT-1", "SOV-1", "trip", "valve", null]]));
}

#[test]
fn a_switch_that_overrides_or_resets_a_trip_is_no_cause() {
    let query = "causeAndEffect() | [(.links | map(.initiator.id)), (.not_followed | map([.item.id, .reason]))]";
    let plant = |switch: &str| {
        format!(
            "PSHH-1 instrument.function\nHS-1 {switch}\nXV-1 piping_component.shutdown_valve\nPSHH-1 ~ XV-1\nHS-1 ~ XV-1"
        )
    };
    let prevents = json!([["PSHH-1"], [["HS-1", "effect_not_stated"]]]);
    for switch in [
        r#"instrument.function {"description": "override switch"}"#,
        r#"instrument.function {"label": "MOS"}"#,
        r#"instrument.function {"service": "start-up bypass"}"#,
        r#"instrument.function {"description": "auto/manual selector"}"#,
        r#"instrument.function {"description": "start push button"}"#,
        r#"instrument.function {"remarks": "lamp test"}"#,
        r#"instrument.function {"service": "alarm acknowledge"}"#,
        "instrument.bypass_switch",
        "instrument.reset_switch",
    ] {
        check(&plant(switch), query, prevents.clone());
    }
    for text in [
        "Entriegelung",
        "Quittierung",
        "Wartungsüberbrückung",
        "Freigabe",
        "réarmement",
        "acquittement",
        "marche",
        "POS",
    ] {
        check(&plant(&format!(r#"instrument.function {{"description": "{text}"}}"#)), query, prevents.clone());
    }
    for trips in [
        "emergency stop",
        "start/stop",
        "local push button",
        "manual trip",
        "NOT-AUS",
        "Not-Halt",
        "arrêt d'urgence",
        "Ein/Aus",
    ] {
        let switch = format!(r#"instrument.function {{"description": "{trips}"}}"#);
        check(&plant(&switch), query, json!([["PSHH-1", "HS-1"], []]));
    }
}

#[test]
fn a_switch_that_only_alarms_trips_nothing() {
    let query = "causeAndEffect() | [(.links | size()), (.matrix | size()), (.alarms | map(.final_element.id)), (.without_effect | map(.id))]";
    let plant = |signals: &str, alarm: &str| {
        format!(
            "V-1 equipment.vessel\nLSHH-1 instrument.level_switch\nI-1 instrument.interlock\n{alarm}\nLSHH-1 @ V-1\n{signals}"
        )
    };
    let by_logic = "LSHH-1 ~ I-1\nI-1 ~ XA-1";
    for alarm in ["instrument.annunciator", "instrument.horn", "instrument.function", "instrument.pressure_indicator"] {
        check(&plant(by_logic, &format!("XA-1 {alarm}")), query, json!([0, 0, ["XA-1"], ["LSHH-1"]]));
    }
    check(&plant("LSHH-1 ~ LAHH-1", "LAHH-1 instrument.alarm"), query, json!([0, 0, ["LAHH-1"], ["LSHH-1"]]));
    // A function that alarms and trips is no alarm.
    for function in ["LZAHH-1", "LIZA-1"] {
        let trip = format!("{function} instrument.function\nSDV-1 piping_component.ball_valve\nV-1 > SDV-1");
        check(&plant(&format!("LSHH-1 ~ {function}\n{function} ~ SDV-1"), &trip), query, json!([1, 1, [], []]));
    }
}

#[test]
fn a_controller_trips_no_valve_by_the_letters_of_its_tag() {
    let kinds = |controller: &str, valve: &str| {
        format!(
            "FT-1 instrument.transmitter\n{controller} instrument.function\n{valve}\nFT-1 ~ {controller}\n{controller} ~ XV-1"
        )
    };
    for valve in ["control_valve", "globe_valve", "ball_valve"] {
        let valve = format!("XV-1 piping_component.{valve}");
        check(&kinds("FIC-1", &valve), LINKS, json!([]));
        check(&kinds("FZ-1", &valve), LINKS, json!([["FT-1", "XV-1", "trip", "valve", null]]));
    }
    // Its class says that a trip closes it.
    check(
        &kinds("FIC-1", "XV-1 piping_component.shutdown_valve"),
        LINKS,
        json!([["FT-1", "XV-1", "trip", "valve", null]]),
    );
}

#[test]
fn an_integrity_level_that_says_that_there_is_none_makes_no_trip() {
    let kinds = |level: &str| {
        let plant = format!(
            "PT-1 instrument.transmitter\nPIC-1 instrument.function {{\"sil\": {level}}}\n\
             PV-1 piping_component.control_valve\nPT-1 ~ PIC-1\nPIC-1 ~ PV-1"
        );
        evaluate(&document(&plant), "[(causeAndEffect().links | size()), (loops() | map(.kind))]")
    };
    for level in [
        "0",
        "false",
        r#""none""#,
        r#""-""#,
        r#""no SIL""#,
        r#""non-SIL""#,
        r#""not required""#,
        r#""TBD""#,
        r#""NR""#,
        r#""BPCS""#,
        r#""SIL a""#,
        r#""kein""#,
        r#""< SIL 1""#,
        r#""n/a""#,
    ] {
        assert_eq!(kinds(level), json!([0, ["control"]]), "{level}");
    }
    for level in ["2", r#""SIL 1""#, r#""SIL2""#, r#""yes""#] {
        assert_eq!(kinds(level), json!([1, ["safety"]]), "{level}");
    }
}

#[test]
fn a_limit_switch_of_the_valve_that_closes_is_no_cause() {
    let feedback = format!("{TRIP}    ZSC-1 instrument.limit_switch\n    ZSC-1 @ SDV-1\n    ZSC-1 ~ LZ-1\n");
    check(&feedback, "causeAndEffect().links | map(.initiator.id) | uniq()", json!(["LT-1"]));
    check(&feedback, "causeAndEffect() | [.without_effect, .without_cause]", json!([[], []]));
    // The position of another valve may be the cause.
    let other = feedback.replace("ZSC-1 @ SDV-1", "ZSC-1 @ LV-1");
    check(&other, "causeAndEffect().links | map(.initiator.id) | uniq()", json!(["LT-1", "ZSC-1"]));
}

#[test]
fn a_strip_is_no_trip() {
    let plant = "\n    PT-1 instrument.transmitter\n    X-1 instrument.strip_chart\n    V-1 piping_component.control_valve\n    PT-1 ~ X-1\n    X-1 ~ V-1\n";
    check(plant, "causeAndEffect().links", json!([]));
    check(&plant.replace("strip_chart", "trip_unit"), "causeAndEffect().links | map(.basis)", json!(["class"]));
}

#[test]
fn a_drawing_without_trips_has_an_empty_table() {
    check(
        "",
        "causeAndEffect()",
        json!({"links": [], "matrix": [], "alarms": [], "without_effect": [], "without_cause": [], "not_followed": []}),
    );
    let control = "FT-1 instrument.transmitter\nFIC-1 instrument.controller\nFV-1 piping_component.control_valve\nFT-1 ~ FIC-1\nFIC-1 ~ FV-1";
    check(control, LINKS, json!([]));
    check(control, r#"causeAndEffect({scope: "all"}).matrix"#, json!([{"initiator": "FT-1", "FV-1": "X"}]));
    check("HS-1 instrument.function", r#"causeAndEffect({scope: "some"})"#, json!("PQ1012"));
}

#[test]
fn an_initiator_in_a_cycle_of_signals_is_not_lost() {
    let cycle = "
        PSH-1 instrument.function
        PSH-2 instrument.function
        XV-1 piping_component.ball_valve
        PSH-1 ~ PSH-2
        PSH-2 ~ PSH-1
        PSH-2 ~ XV-1
    ";
    check(cycle, LINKS, json!([["PSH-1", "XV-1", "trip", "valve", null]]));
    let sensors = "
        TT-1 instrument.transmitter
        TT-2 instrument.transmitter
        XV-1 piping_component.ball_valve
        TT-1 ~ TT-2
        TT-2 ~ TT-1
        TT-2 ~ XV-1
    ";
    check(sensors, LINKS, json!([["TT-1", "XV-1", "trip", "valve", null]]));
}

#[test]
fn final_elements_with_the_same_tag_are_separate_columns() {
    let plant = r#"
        HS-1 instrument.function
        a piping_component.ball_valve {"tag": "XV-1"}
        b piping_component.ball_valve {"tag": "XV-1"}
        HS-1 ~ a
        HS-1 ~ b
    "#;
    check(plant, "causeAndEffect().matrix", json!([{"initiator": "HS-1", "XV-1 (a)": "X", "XV-1 (b)": "X"}]));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(60), failure_persistence: None, ..ProptestConfig::default() })]

    /// Every hand switch acts on the valves that a chain of signals reaches, computed by repeated relaxation.
    #[test]
    fn links_are_those_of_reachability(signals in prop::collection::vec((0..10usize, 0..14usize), 0..30)) {
        const SWITCHES: usize = 10;
        let name = |at: usize| if at < SWITCHES { format!("HS-{at}") } else { format!("XV-{at}") };
        let class = |at: usize| if at < SWITCHES { "instrument.function" } else { "piping_component.ball_valve" };
        let mut text: String = (0..14).map(|at| format!("{} {}\n", name(at), class(at))).collect();
        text.extend(signals.iter().map(|(from, to)| format!("{} ~ {}\n", name(*from), name(*to))));
        let mut reached: BTreeSet<(usize, usize)> = signals.iter().copied().collect();
        loop {
            let more: Vec<(usize, usize)> = reached
                .iter()
                .flat_map(|(from, middle)| signals.iter().filter(move |(next, _)| next == middle).map(move |(_, to)| (*from, *to)))
                .collect();
            let before = reached.len();
            reached.extend(more);
            if reached.len() == before {
                break;
            }
        }
        let expected: Vec<(String, String)> =
            reached.into_iter().filter(|(_, to)| *to >= SWITCHES).map(|(from, to)| (name(from), name(to))).collect();
        let found = evaluate(&document(&text), "causeAndEffect().links | map([.initiator.id, .final_element.id])");
        prop_assert_eq!(found, json!(expected));
    }

    /// Numbers and gaps together are all numbers between the first and the last one.
    #[test]
    fn gaps_are_the_missing_numbers(numbers in prop::collection::btree_set(1..60u32, 1..20)) {
        let text: String = numbers.iter().map(|number| format!("HV-{number} piping_component.gate_valve\n")).collect();
        let found = evaluate(&document(&text), "numberingGaps().series | first() | [.count, .missing, .gaps]");
        let (first, last) = (numbers.first().expect("one number"), numbers.last().expect("one number"));
        let missing: Vec<u32> = (*first..=*last).filter(|number| !numbers.contains(number)).collect();
        let listed: Vec<u32> = found[2].as_array().expect("gaps").iter().flat_map(|gap| {
            let end = |key: &str| gap[key].as_str().expect("a number").parse::<u32>().expect("a number");
            end("first")..=end("last")
        }).collect();
        prop_assert_eq!(&listed, &missing);
        prop_assert_eq!((found[0].as_u64(), found[1].as_u64()), (Some(numbers.len() as u64), Some(missing.len() as u64)));
    }
}

const RANKED: &str = "rankDiff(.0, .1) | map([.significance, .change, .id, .field])";

#[test]
fn differences_are_ranked_by_their_significance() {
    let old = r#"
        D-1 equipment.vessel {"design_pressure": 10, "x": 1, "y": 1}
        RV-1 piping_component.safety_valve {"set_pressure": 10}
        X-1 reference.off_page_connector
        XV-1 piping_component.ball_valve {"fail_action": "closed"}
        V-1 piping_component.gate_valve
        FI-1 instrument.indicator {"note": "a"}
        D-1 > RV-1
        RV-1 > X-1
    "#;
    let new = r#"
        D-1 equipment.vessel {"design_pressure": 12, "x": 2, "y": 1}
        RV-1 piping_component.safety_valve {"set_pressure": 12}
        X-1 reference.off_page_connector
        XV-1 piping_component.ball_valve {"fail_action": "open"}
        FI-1 instrument.indicator {"note": "b"}
        D-1 > RV-1
        RV-1 > X-1
    "#;
    check_revisions(
        old,
        new,
        RANKED,
        json!([
            ["critical", "changed", "RV-1", "set_pressure"],
            ["critical", "changed", "XV-1", "fail_action"],
            ["high", "removed", "V-1", null],
            ["high", "changed", "D-1", "design_pressure"],
            ["low", "changed", "FI-1", "note"],
            ["geometry", "moved", "D-1", null]
        ]),
    );
    check_revisions(old, old, RANKED, json!([]));
    check_revisions("", "", RANKED, json!([]));
}

#[test]
fn a_valve_in_a_relief_path_is_critical() {
    let old = "D-1 equipment.vessel\nRV-1 piping_component.safety_valve\nX-1 reference.off_page_connector\nD-1 > RV-1\nRV-1 > X-1";
    let new = "D-1 equipment.vessel\nRV-1 piping_component.safety_valve\nX-1 reference.off_page_connector\nV-1 piping_component.gate_valve\nD-1 > RV-1\nRV-1 > V-1\nV-1 > X-1";
    let critical = r#"rankDiff(.0, .1) | filter(.significance == "critical") | map([.change, .id, .reason])"#;
    check_revisions(
        old,
        new,
        critical,
        json!([
            ["rewired", "RV-1", "connections of a relief device changed"],
            ["added", "V-1", "path of a relief device changed"],
            ["rewired", "X-1", "path of a relief device changed"],
            ["removed", "e2", "path of a relief device changed"],
            ["added", "e2", "path of a relief device changed"],
            ["added", "e3", "path of a relief device changed"]
        ]),
    );
}

#[test]
fn positions_locks_and_removals_are_significant() {
    let plant = |extra: &[(&str, &str)]| {
        let fields =
            |id: &str| extra.iter().find(|(name, _)| *name == id).map_or("{}", |(_, fields)| *fields).to_owned();
        format!(
            "D-1 equipment.vessel\nHV-1 piping_component.gate_valve {}\nRV-1 piping_component.safety_valve {}\n\
            X-1 reference.off_page_connector\nSB-1 piping_component.spectacle_blind {}\nCK-1 piping_component.check_valve {}\n\
            HV-2 piping_component.gate_valve {}\nD-1 > HV-1\nHV-1 > RV-1\nRV-1 > X-1\nD-1 > SB-1\nSB-1 > CK-1\nCK-1 > HV-2",
            fields("HV-1"),
            fields("RV-1"),
            fields("SB-1"),
            fields("CK-1"),
            fields("HV-2")
        )
    };
    let old = plant(&[("HV-1", r#"{"lock": "locked_open"}"#), ("SB-1", r#"{"blind_position": "open"}"#)]);
    let new = plant(&[
        ("HV-1", r#"{"lock": "locked_closed"}"#),
        ("RV-1", r#"{"status": "demolished"}"#),
        ("SB-1", r#"{"blind_position": "closed"}"#),
        ("CK-1", r#"{"removed": true}"#),
        ("HV-2", r#"{"operation": "motor"}"#),
    ]);
    let expected = json!([
        ["critical", "changed", "RV-1", "status"],
        ["critical", "changed", "HV-1", "lock"],
        ["high", "changed", "SB-1", "blind_position"],
        ["high", "changed", "CK-1", "removed"],
        ["high", "changed", "HV-2", "operation"]
    ]);
    check_revisions(&old, &new, RANKED, expected);
}

#[test]
fn what_decides_an_isolation_is_ranked_as_high_as_the_position_of_a_valve() {
    let plant = |valve: &str, tee: &str, actuator: &str, edges: &str| {
        format!(
            "D-1 equipment.vessel\nHV-1 piping_component.gate_valve {valve}\nJ-1 piping_component.pipe_tee {tee}\n\
            T-1 equipment.tank\nA-1 instrument.actuator {actuator}\nD-1 > HV-1\nHV-1 > J-1\nJ-1 > T-1\n{edges}"
        )
    };
    let old = plant("{}", "{}", "{}", "");
    let significance = "rankDiff(.0, .1) | map([.significance, .change, .id])";
    for (valve, tee, actuator, edges, expected) in [
        (r#"{"remarks": "removed"}"#, "{}", "{}", "", json!([["high", "changed", "HV-1"]])),
        (r#"{"label": "NC"}"#, "{}", "{}", "", json!([["high", "changed", "HV-1"]])),
        (r#"{"position": "closed"}"#, "{}", "{}", "", json!([["high", "changed", "HV-1"]])),
        (r#"{"position": {"x": 1, "y": 2}}"#, "{}", "{}", "", json!([])),
        (r#"{"valve_type": "three-way"}"#, "{}", "{}", "", json!([["high", "changed", "HV-1"]])),
        (r#"{"parent_id": "T-1"}"#, "{}", "{}", "", json!([["high", "changed", "HV-1"]])),
        (r#"{"number_of_ports": 3}"#, "{}", "{}", "", json!([["high", "changed", "HV-1"]])),
        (r#"{"locked_closed": true}"#, "{}", "{}", "", json!([["high", "changed", "HV-1"]])),
        (r#"{"color": "red"}"#, "{}", "{}", "", json!([["low", "changed", "HV-1"]])),
        ("{}", r#"{"blinded": true}"#, "{}", "", json!([["high", "changed", "J-1"]])),
        ("{}", r#"{"removed": true}"#, "{}", "", json!([["high", "changed", "J-1"]])),
        ("{}", r#"{"remarks": "see detail"}"#, "{}", "", json!([["low", "changed", "J-1"]])),
        ("{}", "{}", r#"{"parent_id": "HV-1"}"#, "", json!([["high", "changed", "A-1"]])),
        ("{}", "{}", "{}", "A-1 ~ HV-1", json!([["high", "added", "e4"]])),
    ] {
        check_revisions(&old, &plant(valve, tee, actuator, edges), significance, expected);
    }
}

#[test]
fn a_turned_check_valve_is_significant() {
    let old = "P-1 equipment.pump\nCK-1 piping_component.check_valve\nT-1 equipment.tank\nP-1 > CK-1\nCK-1 > T-1";
    let new = "P-1 equipment.pump\nCK-1 piping_component.check_valve\nT-1 equipment.tank\nCK-1 > P-1\nT-1 > CK-1";
    let of_valve = r#"rankDiff(.0, .1) | filter(.id == "CK-1") | map([.significance, .field, .reason]) | first()"#;
    let expected = json!(["high", "in", "connections of a check valve changed: it may be turned"]);
    check_revisions(old, new, of_valve, expected);
}

#[test]
fn sides_restrictions_and_the_ends_and_lines_of_relief_paths_are_significant() {
    let old = r#"E-1 equipment.heat_exchanger {"design_pressure_tube": "50 barg"}
        V-1 equipment.vessel
        RO-1 piping_component.restriction_orifice
        V-2 equipment.vessel
        V-3 equipment.vessel
        L-1 line {"node_type": "line", "nominal_diameter": 50}
        PSV-1 piping_component.safety_valve
        OPC-1 reference.off_page_connector {"service": "to HP flare"}
        V-2 > RO-1
        RO-1 > V-3
        V-1 > PSV-1 {"line": "L-1"}
        PSV-1 > OPC-1"#;
    let rows = "rankDiff(.0, .1) | map([.significance, .change, .id, .field])";
    let changed = |from: &str, to: &str, expected: Value| {
        check_revisions(old, &old.replace(from, to), &(rows.to_owned() + " | first()"), expected);
    };
    changed("50 barg", "40 barg", json!(["high", "changed", "E-1", "design_pressure_tube"]));
    changed("HP flare", "LP flare", json!(["critical", "changed", "OPC-1", "service"]));
    changed(
        r#""nominal_diameter": 50"#,
        r#""nominal_diameter": 25"#,
        json!(["critical", "changed", "L-1", "nominal_diameter"]),
    );
    let without = old.replace("RO-1 piping_component.restriction_orifice", "").replace("V-2 > RO-1", "V-2 > V-3");
    let without = without.replace("RO-1 > V-3", "");
    check_revisions(old, &without, &(rows.to_owned() + " | first()"), json!(["high", "removed", "RO-1", null]));
}

#[test]
fn the_ranking_may_be_overridden_by_data() {
    let old = r#"TI-1 instrument.indicator {"note": "a"}"#;
    let new = r#"TI-1 instrument.indicator {"note": "b"}"#;
    let with = |rules: &str| format!("rankDiff(.0, .1, {{ranking: {rules}}}) | map([.significance, .reason])");
    check_revisions(
        old,
        new,
        &with(r#"[{subjects: ["instrument"], fields: ["note"], significance: "critical", reason: "note"}]"#),
        json!([["critical", "note"]]),
    );
    check_revisions(old, new, &with(r#"[{classes: "indicator", significance: "high"}]"#), json!([["high", ""]]));
    check_revisions(
        old,
        new,
        &with(r#"[{classes: "valve", significance: "high"}]"#),
        json!([["low", "field changed"]]),
    );
    check_revisions(old, new, &with("diffRanking()"), json!([["low", "field changed"]]));
    for wrong in [
        r#"[{significance: "urgent"}]"#,
        r#"[{subject: ["relief"], significance: "high"}]"#,
        r#"[{subjects: ["reliefs"], significance: "high"}]"#,
        r#"[{changes: ["turned"], significance: "high"}]"#,
        r#"[{}]"#,
        r#""high""#,
    ] {
        check_revisions(old, new, &with(wrong), json!("PQ1012"));
    }
}

const INTERFACES: &str =
    "pressureInterfaces().interfaces | map([.at.id, .kind, .high, .difference, .certain, .reasons])";

#[test]
fn a_change_of_design_pressure_is_an_interface() {
    let plant = |low: &str, high: &str| {
        format!(
            r#"
            T-1 equipment.tank {{"design_pressure": "{low}"}}
            V-1 piping_component.gate_valve
            D-1 equipment.vessel {{"design_pressure": "{high}"}}
            T-1 > V-1 {{"design_pressure": "{low}"}}
            V-1 > D-1 {{"design_pressure": "{high}"}}
            "#
        )
    };
    check(&plant("2 barg", "16 barg"), INTERFACES, json!([["V-1", "barrier", "to", 14, true, []]]));
    check(&plant("1600 kPag", "2 barg"), INTERFACES, json!([["V-1", "barrier", "from", 14, true, []]]));
    check(&plant("16 barg", "1.6 MPag"), INTERFACES, json!([]));
    // The same pressure, rounded in another unit.
    for (low, high) in [("16 barg", "232 psig"), ("150 psig", "10.3 barg")] {
        check(&plant(low, high), INTERFACES, json!([]));
        check(&plant(high, low), INTERFACES, json!([]));
    }
    check(&plant("15.9 barg", "16 barg"), "pressureInterfaces().interfaces | map(.high)", json!(["to"]));
    check(
        &plant("16 bar", "2 bar"),
        INTERFACES,
        json!([["V-1", "barrier", "from", 14, false, ["reference_not_stated"]]]),
    );
    check(&plant("16", "2"), INTERFACES, json!([["V-1", "barrier", "from", 14, false, ["unit_not_stated"]]]));
    check(
        &plant("16", "2"),
        r#"pressureInterfaces({unit: "barg"}).interfaces | map([.high, .certain])"#,
        json!([["from", true]]),
    );
}

#[test]
fn design_pressures_under_different_names_that_differ_are_unknown() {
    let found = |stated: Value| {
        let plant = format!(
            "T-1 equipment.tank {stated}\nV-1 piping_component.gate_valve\n\
             T-1 > V-1 {{\"design_pressure\": \"16 barg\"}}"
        );
        let query = r#"[(pressureInterfaces().unknown | map([.item.id, .reason])),
            (pressureInterfaces().interfaces | map(.certain))]"#;
        evaluate(&document(&plant), query)
    };
    let unknown = json!([[["T-1", "contradictory_values"]], [false]]);
    // The allowable pressure may be above the design pressure, but not below.
    assert_eq!(found(json!({"mawp": "17 barg", "design_pressure": "16 barg"})), json!([[], []]));
    assert_eq!(found(json!({"design_pressure": "16 barg", "mawp": "17 barg"})), json!([[], []]));
    assert_eq!(found(json!({"design_pressure": "16 barg", "mawp": "7 barg"})), unknown);
    for other in ["UpperLimitDesignPressure", "max_design_pressure", "design_pressure_max"] {
        assert_eq!(found(json!({"design_pressure": "16 barg", other: "7 barg"})), unknown, "{other}");
        assert_eq!(found(json!({other: "7 barg", "design_pressure": "16 barg"})), unknown, "{other}");
        let attributes = json!([{"name": other, "value": 7, "unit": "barg"}]);
        assert_eq!(found(json!({"attributes": attributes, "design_pressure": "16 barg"})), unknown, "{other}");
        assert_eq!(found(json!({other: "1.6 MPag", "design_pressure": "16 barg"})), json!([[], []]), "{other}");
    }
}

#[test]
fn gauge_and_absolute_pressures_are_not_mixed() {
    let plant = r#"
        D-1 equipment.vessel {"design_pressure": "16 barg"}
        T-1 equipment.tank {"design_pressure": "16 bara"}
        D-1 > T-1 {"design_pressure": "16 barg"}
    "#;
    check(plant, INTERFACES, json!([["T-1", "equipment", null, null, false, ["gauge_and_absolute"]]]));
    check(
        plant,
        "pressureInterfaces({atmosphere: 1}).interfaces | map([.high, .difference, .certain])",
        json!([["from", 1, true]]),
    );
}

#[test]
fn design_pressures_are_read_as_european_sheets_write_them() {
    let high = |pressure: &str| {
        let plant = format!(
            r#"
            D-1 equipment.vessel {{"design_pressure": "{pressure}"}}
            D-2 equipment.vessel {{"design_pressure": "10,0 barg"}}
            D-1 > D-2 {{"design_pressure": "10,0 barg"}}
            "#
        );
        evaluate(&document(&plant), "pressureInterfaces().interfaces | map([.from.pressure, .to.pressure])")
    };
    for text in ["40,0 barg", "40/FV barg", "40 barg & FV", "40 barg @ 120 °C", "-1/40 barg", "40 / FV barg @ 120 °C"]
    {
        assert_eq!(high(text), json!([[40, 10]]), "{text}");
    }
}

#[test]
fn an_unknown_design_pressure_is_listed_and_never_certain() {
    let plant = r#"
        T-1 equipment.tank {"design_pressure": "2 barg"}
        V-1 piping_component.gate_valve
        D-1 equipment.vessel
        T-1 > V-1 {"line": "L-1"}
        V-1 > D-1 {"line": "L-1"}
        D-2 equipment.vessel {"design_pressure": "16/25 barg"}
        D-1 > D-2 {"design_pressure": "2 furlong", "line": "L-2"}
    "#;
    check(plant, INTERFACES, json!([["T-1", "equipment", null, null, false, ["not_stated"]]]));
    check(
        plant,
        "pressureInterfaces().unknown | map([.item.id, .lines, .pipes, .reason])",
        json!([
            ["D-1", [], 0, "not_stated"],
            ["D-2", [], 0, "not_a_number"],
            [null, ["L-1"], 2, "not_stated"],
            [null, ["L-2"], 1, "unknown_unit"]
        ]),
    );
    check("", "pressureInterfaces()", json!({"interfaces": [], "unknown": []}));
}

const PROTECTION: &str = "pressureInterfaces().interfaces | map([.at.id, .protection | map([.item.id, .kind, .set_within_design, .valves | map(.id)])])";

#[test]
fn the_unit_of_a_set_pressure_may_be_that_of_all_pressures() {
    let plant = |fields: &str| {
        format!(
            r#"
            D-1 equipment.vessel {{"design_pressure": "40 barg"}}
            CV-1 piping_component.control_valve
            D-2 equipment.vessel {{"design_pressure": "10 barg"}}
            RV-1 piping_component.safety_valve {{"set_pressure": 9, {fields}}}
            O-1 reference.open_end
            D-1 > CV-1 {{"design_pressure": "40 barg"}}
            CV-1 > D-2 {{"design_pressure": "10 barg"}}
            D-2 > RV-1 {{"design_pressure": "10 barg"}}
            RV-1 > O-1 {{"design_pressure": "10 barg"}}
            "#
        )
    };
    let within = r#"pressureInterfaces({unit: "barg"}).interfaces | map(.protection | map(.set_within_design)) | .0"#;
    for (fields, expected) in [
        (r#""unit": "MPag""#, false),
        (r#""pressure_unit": "MPag""#, false),
        (r#""pressure_unit": "psig""#, true),
        (r#""unit": "100""#, true),
        (r#""unit": "barg""#, true),
    ] {
        check(&plant(fields), within, json!([expected]));
    }
}

#[test]
fn a_text_about_another_set_pressure_or_another_case_makes_a_relief_device_no_certain_protection() {
    let plant = |class: &str, fields: &str| {
        format!(
            r#"
            D-1 equipment.vessel {{"design_pressure": "40 barg"}}
            CV-1 piping_component.control_valve
            D-2 equipment.vessel {{"design_pressure": "10 barg"}}
            RV-1 {class} {{"set_pressure": "10 barg"{fields}}}
            O-1 reference.open_end
            D-1 > CV-1 {{"design_pressure": "40 barg"}}
            CV-1 > D-2 {{"design_pressure": "10 barg"}}
            D-2 > RV-1 {{"design_pressure": "10 barg"}}
            RV-1 > O-1 {{"design_pressure": "10 barg"}}
            "#
        )
    };
    let row = r#"pressureInterfaces().interfaces | filter(.at.id == "CV-1")
        | map([.reasons, .protection | map(.set_within_design)]) | .0"#;
    let valve = "piping_component.safety_valve";
    let other_case = json!([["relief_for_other_case"], [true]]);
    for fields in [
        r#", "description": "thermal relief valve""#,
        r#", "service": "thermal expansion""#,
        r#", "description": "fire case only""#,
        r#", "remarks": "Brandfall""#,
        r#", "sizing_case": "fire""#,
        r#", "remarks": "capacity insufficient""#,
        r#", "remarks": "governing case: fire""#,
        r#", "remarks": "cas feu""#,
        r#", "remarks": "caso fuego""#,
        r#", "remarks": "capacity 20 % of PCV-1""#,
    ] {
        check(&plant(valve, fields), row, other_case.clone());
    }
    check(&plant("piping_component.thermal_relief_valve", ""), row, other_case);
    for fields in [
        r#", "remarks": "set @ 12 barg""#,
        r#", "description": "set at 174 psig""#,
        r#", "remarks": "reset to 8 barg""#,
        r#", "remarks": "cold set 9.6 barg, set 12 barg""#,
        r#", "remarks": "Pset = 12 barg""#,
        r#", "remarks": "Einstelldruck 12 bar(g)""#,
        r#", "remarks": "presión de tarado 12 barg""#,
        r#", "remarks": "SP raised from 10 to 12 barg""#,
    ] {
        check(&plant(valve, fields), row, json!([[], [null]]));
    }
    for fields in [
        "",
        r#", "remarks": "set @ 10 barg""#,
        r#", "remarks": "set 145 psig""#,
        r#", "description": "fire water main relief""#,
        r#", "sizing_case": "control valve failure""#,
        r#", "description": "fire case and blowby""#,
        r#", "remarks": "set of 2 valves""#,
        r#", "remarks": "CDTP 7.6 barg""#,
        r#", "remarks": "cold set pressure 7.6 barg""#,
        r#", "remarks": "reset pressure 9 barg""#,
        r#", "remarks": "SP raised from 8 to 10 barg""#,
        r#", "remarks": "capacity 120 % of CV-1""#,
        r#", "remarks": "cold differential test pressure 7.6 barg""#,
    ] {
        check(&plant(valve, fields), row, json!([[], [true]]));
    }
}

#[test]
fn an_exchanger_states_the_design_pressures_of_its_sides() {
    let plant = |fields: &str| {
        format!(
            r#"
            E-1 equipment.shell_and_tube_heat_exchanger {fields}
            N1 equipment_component.nozzle {{"chamber": "tube"}}
            N2 equipment_component.nozzle {{"chamber": "shell"}}
            V-1 equipment.vessel {{"design_pressure": "25 barg"}}
            V-2 equipment.vessel {{"design_pressure": "10 barg"}}
            E-1 has N1
            E-1 has N2
            V-1 > N1 {{"design_pressure": "25 barg"}}
            N2 > V-2 {{"design_pressure": "10 barg"}}
            "#
        )
    };
    let report = "pressureInterfaces() | [.interfaces | map(.at.id), .unknown | map(.item.tag)]";
    for fields in [
        r#"{"design_pressure_shell": "10 barg", "design_pressure_tube": "25 barg"}"#,
        r#"{"shell_design_pressure": "10 barg", "tube_design_pressure": "25 barg"}"#,
        r#"{"design_pressure": "SHELL 10 barg / TUBE 25 barg"}"#,
        r#"{"design_pressure": "10 barg (S) / 25 barg (T)"}"#,
        r#"{"design_pressure": {"shell": "10 barg", "tube": "25 barg"}}"#,
        r#"{"attributes": [{"name": "DesignPressureShellSide", "value": 10, "unit": "barg"},
            {"name": "DesignPressureTubeSide", "value": 25, "unit": "barg"}]}"#,
    ] {
        check(&plant(&fields.replace('\n', " ")), report, json!([[], []]));
    }
    let low = r#"{"design_pressure_shell": "10 barg", "design_pressure_tube": "16 barg"}"#;
    check(&plant(low), report, json!([["N1"], []]));
    check(&plant(r#"{"design_pressure": "10/25 barg"}"#), report, json!([["N1", "N2"], ["E-1", "E-1"]]));
}

#[test]
fn a_pump_that_a_trip_stops_is_a_final_element_in_all_reports() {
    let plant = |signals: &str| {
        format!(
            "V-1 equipment.vessel\nXV-1 piping_component.shutdown_valve\nP-7 equipment.centrifugal_pump\nV-2 equipment.vessel\n\
             LSLL-1 instrument.level_switch\nZ-1 instrument.interlock\nV-1 > XV-1\nXV-1 > P-7\nP-7 > V-2\n\
             V-1 ~ LSLL-1\n{signals}"
        )
    };
    let links = "causeAndEffect().links | map([.initiator.id, .final_element.id])";
    let expected = json!([["LSLL-1", "XV-1"], ["LSLL-1", "P-7"]]);
    for signals in ["LSLL-1 ~ Z-1\nZ-1 ~ XV-1\nZ-1 ~ P-7", "LSLL-1 ~ XV-1\nLSLL-1 ~ P-7"] {
        check(&plant(signals), links, expected.clone());
        let loops = r#"loops() | filter(.loop == "L-1") | map(.final_elements | map(.id))"#;
        check(&plant(signals), loops, json!([["XV-1", "P-7"]]));
    }
    // A transmitter at the pump acts on nothing.
    let measures = "P-7 equipment.pump\nST-1 instrument.speed_transmitter\nST-1 ~ P-7";
    check(measures, links, json!([]));
}

#[test]
fn the_kinds_of_lines_of_instruments_are_signals() {
    let plant = |kind: &str| {
        json!({
            "nodes": [
                {"id": "V-1", "class": "vessel"}, {"id": "LSHH-1", "tag": "LSHH-1", "class": "instrument.level_switch"},
                {"id": "I-1", "tag": "I-1", "class": "instrument.interlock"},
                {"id": "XV-1", "tag": "XV-1", "class": "shutdown_valve"}, {"id": "V-2", "class": "vessel"}
            ],
            "edges": [
                {"from": "V-1", "to": "XV-1"}, {"from": "XV-1", "to": "V-2"}, {"from": "V-1", "to": "LSHH-1", "type": "signal"},
                {"from": "LSHH-1", "to": "I-1", "type": kind}, {"from": "I-1", "to": "XV-1", "type": kind}
            ]
        })
        .to_string()
    };
    let found = |kind: &str| evaluate(&plant(kind), "loops() | map([.closed, .certain])");
    for kind in ["electrical", "instrument_signal", "pneumatic", "hydraulic", "capillary", "data_link", "wireless"] {
        assert_eq!(found(kind), json!([[true, true]]), "{kind}");
    }
    for kind in ["mechanical_or_so", "reference"] {
        assert_eq!(found(kind), json!([[false, false], [false, false]]), "{kind}");
    }
}

#[test]
fn a_limit_switch_with_the_letters_of_a_level_is_a_sensor() {
    let plant = |tag: &str, class: &str| {
        format!(
            "V-1 equipment.vessel\nXV-1 piping_component.shutdown_valve\nV-2 equipment.vessel\n{tag} {class}\n\
             I-1 instrument.interlock\nV-1 > XV-1\nXV-1 > V-2\nV-1 ~ {tag}\n{tag} ~ I-1\nI-1 ~ XV-1"
        )
    };
    let links = "causeAndEffect().links | map([.initiator.id, .final_element.id])";
    for class in ["instrument.limit_switch", "instrument.level_limit_switch", "instrument.level_switch"] {
        check(&plant("LSHH-1", class), links, json!([["LSHH-1", "XV-1"]]));
    }
    let position = "XV-1 piping_component.shutdown_valve\nZSO-1 instrument.limit_switch\nI-1 instrument.interlock\n\
                    XV-1 ~ ZSO-1\nZSO-1 ~ I-1\nI-1 ~ XV-1";
    check(position, links, json!([]));
}

#[test]
fn an_open_vent_protects_a_tank() {
    let plant = |vent: &str| {
        format!(
            r#"
            D-1 equipment.vessel {{"design_pressure": "10 barg"}}
            CV-1 piping_component.control_valve
            T-1 equipment.tank {{"design_pressure": "0.02 barg"}}
            {vent}
            D-1 > CV-1 {{"design_pressure": "10 barg"}}
            CV-1 > T-1 {{"design_pressure": "10 barg"}}
            T-1 > VT-1 {{"design_pressure": "0.02 barg"}}
            "#
        )
    };
    let rows = "pressureInterfaces().interfaces | map([.at.id, .protection | map([.item.id, .kind, .relief_path])])";
    let protection = |vent: &str, expected: Value| check(&plant(vent), rows, json!([["T-1", expected]]));
    protection("VT-1 reference.open_end", json!([["VT-1", "vent", "open"]]));
    protection("VT-1 vent_hood", json!([["VT-1", "vent", "open"]]));
    protection("VT-1 equipment.flare_stack {\"design_pressure\": \"0.02 barg\"}", json!([["VT-1", "vent", "open"]]));
    protection("VT-1 equipment.flare_stack {\"status\": \"future\", \"design_pressure\": \"0.02 barg\"}", json!([]));
    protection("VT-1 equipment.flare_drum {\"design_pressure\": \"0.02 barg\"}", json!([]));
    protection("VT-1 piping_component.blind_flange", json!([]));
    protection("V-1 piping_component.gate_valve\nVT-1 reference.open_end {\"status\": \"removed\"}", json!([]));
}

#[test]
fn a_relief_valve_is_set_within_the_design_pressure_if_the_disc_before_it_is() {
    let plant = |disc: &str| {
        format!(
            r#"
            D-1 equipment.vessel {{"design_pressure": "40 barg"}}
            CV-1 piping_component.control_valve
            D-2 equipment.vessel {{"design_pressure": "10 barg"}}
            RD-1 piping_component.rupture_disc {disc}
            RV-1 piping_component.safety_valve {{"set_pressure": "10 barg"}}
            O-1 reference.open_end
            D-1 > CV-1 {{"design_pressure": "40 barg"}}
            CV-1 > D-2 {{"design_pressure": "10 barg"}}
            D-2 > RD-1 {{"design_pressure": "10 barg"}}
            RD-1 > RV-1 {{"design_pressure": "10 barg"}}
            RV-1 > O-1 {{"design_pressure": "10 barg"}}
            "#
        )
    };
    let rows = "pressureInterfaces().interfaces | map(.protection | map([.item.id, .set_within_design])) | .0";
    for (disc, of_disc, of_valve) in [
        (r#"{"set_pressure": "10 barg"}"#, json!(true), json!(true)),
        (r#"{"set_pressure": "20 barg"}"#, json!(false), json!(false)),
        ("", Value::Null, Value::Null),
    ] {
        check(&plant(disc), rows, json!([["RD-1", of_disc], ["RV-1", of_valve]]));
    }
}

#[test]
fn a_relief_device_of_two_sides_that_may_be_low_is_listed_once() {
    let plant = r#"
        T-1 equipment.tank {"design_pressure": "2 barg"}
        V-1 piping_component.gate_valve
        D-1 equipment.vessel
        RV-1 piping_component.safety_valve {"set_pressure": "2 barg"}
        O-1 reference.open_end
        T-1 > V-1
        V-1 > D-1
        T-1 > RV-1 {"design_pressure": "2 barg"}
        RV-1 > O-1 {"design_pressure": "2 barg"}
    "#;
    let rows = "pressureInterfaces().interfaces | map([.at.id, .high, .reasons, .protection | map([.item.id, .sides, .set_within_design])])";
    check(plant, rows, json!([["T-1", null, ["not_stated"], [["RV-1", ["from", "to"], null]]]]));
}

#[test]
fn equipment_without_nozzles_is_compared_with_each_of_its_pipes() {
    let plant = |equipment: &str, pipes: &str| {
        let connectors = (1..5).map(|number| format!("X-{number} reference.off_page_connector\n")).collect::<String>();
        format!("B-1 {equipment}\nO-1 reference.open_end\n{connectors}{pipes}")
    };
    let rows = "pressureInterfaces().interfaces | map([.from.pressure, .to.pressure, .high, .reasons])";
    let tank = r#"equipment.tank {"design_pressure": "0.1 barg"}"#;
    let of = |pressure: &str| format!(r#"{{"design_pressure": "{pressure} barg"}}"#);
    let through = format!("X-1 > B-1 {}\nB-1 > X-2 {}", of("10"), of("3"));
    check(&plant(tank, &through), rows, json!([[10, 0.1, "from", []], [0.1, 3, "to", []]]));
    let two_feeds = format!("X-1 > B-1 {}\nX-2 > B-1 {}", of("10"), of("40"));
    check(&plant(tank, &two_feeds), rows, json!([[10, 0.1, "from", []], [40, 0.1, "from", []]]));
    let same = format!("X-1 > B-1 {}\nB-1 > X-2 {}", of("10"), of("10"));
    check(&plant(tank, &same), rows, json!([[10, 0.1, "from", []], [0.1, 10, "to", []]]));
    // Two sides of an exchanger are not told apart.
    let sides = format!("X-1 > B-1 {0}\nB-1 > X-2 {0}\nX-3 > B-1 {1}\nB-1 > X-4 {1}", of("6"), of("40"));
    let found = json!([[40, 6, "from", ["unstated_side"]], [40, null, null, ["not_stated"]]]);
    check(&plant("equipment.heat_exchanger", &sides), rows, found);
    // A vent on both sides of a row is one.
    let vented = format!("X-1 > B-1 {}\nB-1 > O-1", of("10"));
    let vents = "pressureInterfaces().interfaces | map(.protection | map([.item.id, .kind, .sides]))";
    let found = json!([[["O-1", "vent", ["to"]]], [["O-1", "vent", ["from", "to"]]]]);
    check(&plant(tank, &vented), vents, found);
}

#[test]
fn an_open_vent_behind_a_pipe_keeps_its_pressure_low() {
    let plant = |item: &str| {
        format!(
            r#"
            X-1 reference.off_page_connector
            LV-1 piping_component.control_valve
            Q-1 {item}
            T-1 equipment.tank
            O-1 reference.open_end
            X-1 > LV-1 {{"design_pressure": "40 barg"}}
            LV-1 > Q-1 {{"design_pressure": "10 barg"}}
            Q-1 > T-1 {{"design_pressure": "10 barg"}}
            T-1 > O-1
            "#
        )
    };
    let vents = r#"pressureInterfaces().interfaces | filter(.at.id == "LV-1") | map(.protection | map([.item.id, .sides])) | .0"#;
    for item in ["piping_component.strainer", "piping_component.pipe_tee", "piping_component.pipe"] {
        check(&plant(item), vents, json!([["O-1", ["to"]]]));
    }
    for item in ["piping_component.gate_valve", "piping_component.check_valve", "piping_component.gadget"] {
        check(&plant(item), vents, json!([]));
    }
}

#[test]
fn a_relief_device_past_an_item_of_unknown_class_protects_nothing_for_certain() {
    let plant = |class: &str| {
        format!(
            r#"
            D-1 equipment.vessel {{"design_pressure": "16 barg"}}
            CV-1 piping_component.control_valve
            Q-1 {class}
            T-1 equipment.tank {{"design_pressure": "2 barg"}}
            RV-1 piping_component.safety_valve {{"set_pressure": "2 barg"}}
            O-1 reference.open_end
            D-1 > CV-1 {{"design_pressure": "16 barg"}}
            CV-1 > Q-1 {{"design_pressure": "2 barg"}}
            Q-1 > T-1 {{"design_pressure": "2 barg"}}
            T-1 > RV-1 {{"design_pressure": "2 barg"}}
            RV-1 > O-1 {{"design_pressure": "2 barg"}}
            "#
        )
    };
    let rows =
        "pressureInterfaces().interfaces | map([.at.id, .certain, .reasons, .protection | map([.item.id, .sides])])";
    let expected = |reasons: &[&str]| json!([["CV-1", reasons.is_empty(), reasons, [["RV-1", ["to"]]]]]);
    check(&plant("piping_component.strainer"), rows, expected(&[]));
    check(&plant("piping_component.gadget"), rows, expected(&["relief_connection_unknown"]));
    check(&plant("piping_component.steam_trap"), rows, expected(&["relief_connection_unknown"]));
}

#[test]
fn a_relief_device_on_the_low_side_is_listed_with_its_valves() {
    let plant = |set_pressure: &str| {
        format!(
            r#"
            D-1 equipment.vessel {{"design_pressure": "16 barg"}}
            CV-1 piping_component.control_valve
            J-1 piping_component.pipe_tee
            T-1 equipment.tank {{"design_pressure": "2 barg"}}
            V-1 piping_component.gate_valve
            RV-1 piping_component.safety_valve {{"set_pressure": "{set_pressure}"}}
            X-1 reference.off_page_connector
            D-1 > CV-1 {{"design_pressure": "16 barg"}}
            CV-1 > J-1 {{"design_pressure": "2 barg"}}
            J-1 > T-1 {{"design_pressure": "2 barg"}}
            J-1 > V-1 {{"design_pressure": "2 barg"}}
            V-1 > RV-1 {{"design_pressure": "2 barg"}}
            RV-1 > X-1 {{"design_pressure": "2 barg"}}
            "#
        )
    };
    check(&plant("2 barg"), PROTECTION, json!([["CV-1", [["RV-1", "relief", true, ["V-1"]]]]]));
    check(&plant("3 barg"), PROTECTION, json!([["CV-1", [["RV-1", "relief", false, ["V-1"]]]]]));
    check(&plant("3 bara"), PROTECTION, json!([["CV-1", [["RV-1", "relief", null, ["V-1"]]]]]));
}

#[test]
fn a_relief_device_behind_a_valve_or_a_pump_does_not_protect() {
    let plant = |item: &str| {
        format!(
            r#"
            D-1 equipment.vessel {{"design_pressure": "16 barg"}}
            CV-1 piping_component.control_valve
            Y-1 {item} {{"design_pressure": "2 barg"}}
            T-1 equipment.tank {{"design_pressure": "2 barg"}}
            RV-1 piping_component.safety_valve {{"set_pressure": "2 barg"}}
            X-1 reference.off_page_connector
            D-1 > CV-1 {{"design_pressure": "16 barg"}}
            CV-1 > Y-1 {{"design_pressure": "2 barg"}}
            Y-1 > T-1 {{"design_pressure": "2 barg"}}
            T-1 > RV-1 {{"design_pressure": "2 barg"}}
            RV-1 > X-1 {{"design_pressure": "2 barg"}}
            "#
        )
    };
    check(&plant("piping_component.strainer"), PROTECTION, json!([["CV-1", [["RV-1", "relief", true, []]]]]));
    check(&plant("piping_component.gate_valve"), PROTECTION, json!([["CV-1", []]]));
    check(&plant("piping_component.unheard_of_valve"), PROTECTION, json!([["CV-1", []]]));
    check(&plant("equipment.pump"), PROTECTION, json!([["CV-1", []]]));
    check(&plant("equipment.heat_exchanger"), PROTECTION, json!([["CV-1", [["RV-1", "relief", true, []]]]]));
}

#[test]
fn a_pressure_with_two_values_is_none() {
    let plant = |device: &str, tank: &str| {
        format!(
            r#"
            T-1 equipment.tank {tank}
            V-1 equipment.vessel {{"design_pressure": "16 barg"}}
            FV-1 piping_component.control_valve
            PSV-1 piping_component.safety_valve {device}
            O-1 open_end
            V-1 > FV-1 {{"design_pressure": "16 barg"}}
            FV-1 > T-1 {{"design_pressure": "2 barg"}}
            T-1 > PSV-1 {{"design_pressure": "2 barg"}}
            PSV-1 > O-1 {{"design_pressure": "2 barg"}}
            "#
        )
    };
    let attribute = |name: &str, first: &str, second: &str| {
        format!(r#"{{"{name}": "{first}", "attributes": [{{"name": "{name}", "value": "{second}"}}]}}"#)
    };
    let tank = r#"{"design_pressure": "2 barg"}"#;
    let set = r#"pressureInterfaces().interfaces | map(.protection | map(.set_within_design)) | flatten()"#;
    for (first, second, expected) in [
        ("1.5 barg", "60 barg", json!([null])),
        ("60 barg", "1.5 barg", json!([null])),
        ("1.5 barg", "150 kPag", json!([true])),
    ] {
        check(&plant(&attribute("set_pressure", first, second), tank), set, expected);
    }
    let device = r#"{"set_pressure": "1.5 barg"}"#;
    let unknown = r#"pressureInterfaces().unknown | map([.item.id, .reason])"#;
    let two = attribute("design_pressure", "2 barg", "16 barg");
    check(&plant(device, &two), unknown, json!([["T-1", "contradictory_values"]]));
}

#[test]
fn a_device_that_opens_inwards_protects_no_low_side() {
    let plant = |device: &str| {
        format!(
            r#"
            D-1 equipment.vessel {{"design_pressure": "40 barg"}}
            V-1 piping_component.control_valve
            D-2 equipment.vessel {{"design_pressure": "FV / 5 barg"}}
            S-1 piping_component.{device}
            D-1 > V-1 {{"design_pressure": "40 barg"}}
            V-1 > D-2 {{"design_pressure": "5 barg"}}
            D-2 > S-1 {{"design_pressure": "5 barg"}}
            "#
        )
    };
    let query = "pressureInterfaces().interfaces | map([.at.id, .high, .protection | map(.item.id)])";
    for (device, expected) in [
        (r#"breather_valve {"set_pressure": "2 barg"}"#, json!([["V-1", "from", ["S-1"]]])),
        (r#"vacuum_breaker {"set_pressure": "-0.02 barg"}"#, json!([["V-1", "from", []]])),
        ("vacuum_relief_valve {}", json!([["V-1", "from", []]])),
        (r#"safety_valve {"set_pressure_barg": -0.02}"#, json!([["V-1", "from", []]])),
        (r#"safety_valve {"description": "Vacuum breaker"}"#, json!([["V-1", "from", []]])),
        (r#"safety_valve {"set_pressure": "50 mbar vacuum"}"#, json!([["V-1", "from", []]])),
        (r#"safety_valve {"set_pressure": "0.5 bara"}"#, json!([["V-1", "from", []]])),
        (r#"safety_valve {"set_pressure": "FV"}"#, json!([["V-1", "from", []]])),
        (r#"safety_valve {"set_vacuum": "50 mbar"}"#, json!([["V-1", "from", []]])),
        (r#"safety_valve {"description": "Unterdruckventil"}"#, json!([["V-1", "from", []]])),
        (r#"safety_valve {"service": "vacuum protection"}"#, json!([["V-1", "from", []]])),
        (r#"safety_valve {"set_pressure": "5 barg", "set_vacuum": "50 mbar"}"#, json!([["V-1", "from", ["S-1"]]])),
        (r#"safety_valve {"set_pressure": "6 bara"}"#, json!([["V-1", "from", ["S-1"]]])),
        (r#"safety_valve {"set_pressure": "5 barg", "service": "vacuum column"}"#, json!([["V-1", "from", ["S-1"]]])),
    ] {
        check(&plant(device), query, expected);
    }
    check(
        &plant("vacuum_breaker {}"),
        "reliefList() | map([.reasons, .certain])",
        json!([["opens_inwards S-1", false]]),
    );
}

#[test]
fn a_check_valve_protects_against_reverse_flow_only_on_its_branch() {
    let pump = |branch: &str| {
        format!(
            r#"
            T-1 equipment.tank {{"design_pressure": "2 barg"}}
            P-1 equipment.pump {{"design_pressure": "16 barg"}}
            CK-1 piping_component.check_valve
            J-1 piping_component.pipe_tee
            D-1 equipment.vessel {{"design_pressure": "16 barg"}}
            T-1 > P-1 {{"design_pressure": "2 barg"}}
            P-1 > {branch} {{"design_pressure": "16 barg"}}
            "#
        )
    };
    let single = pump("CK-1") + r#"CK-1 > D-1 {"design_pressure": "16 barg"}"#;
    check(&single, PROTECTION, json!([["P-1", [["CK-1", "check_valve", null, []]]]]));
    let branched = pump("J-1")
        + r#"J-1 > CK-1 {"design_pressure": "16 barg"}
             CK-1 > D-1 {"design_pressure": "16 barg"}
             J-1 > D-1 {"design_pressure": "16 barg"}"#;
    check(&branched, PROTECTION, json!([["P-1", [["CK-1", "check_valve", null, []]]]]));
    let reasons = ["branch_without_check_valve", "check_valve_bypassed"];
    check(&branched, INTERFACES, json!([["P-1", "equipment", "to", 14, false, reasons]]));
    // Nothing flows back through the relief valve of a displacement pump.
    let relieved = |device: &str, pipe: &str| {
        pump("J-1")
            + &format!(
                r#"J-1 > CK-1 {{"design_pressure": "16 barg"}}
                   CK-1 > D-1 {{"design_pressure": "16 barg"}}
                   RV-1 piping_component.{device}
                   J-1 > RV-1 {pipe}
                   RV-1 > T-1 {{"design_pressure": "2 barg"}}"#
            )
    };
    let at_pump = r#"pressureInterfaces().interfaces | filter(.at.id == "P-1") | map([.certain, .reasons])"#;
    for (device, pipe, reasons) in [
        ("safety_valve", r#"{"design_pressure": "16 barg"}"#, json!([])),
        ("safety_valve", r#"{"design_pressure": "2 barg"}"#, json!([])),
        ("rupture_disc", r#"{"design_pressure": "2 barg"}"#, json!(["branch_without_check_valve"])),
        ("globe_valve", r#"{"design_pressure": "16 barg"}"#, json!(["branch_without_check_valve"])),
        (r#"safety_valve {"remarks": "stuck open"}"#, "{}", json!(["branch_without_check_valve"])),
    ] {
        let expected = json!([[reasons == json!([]), reasons]]);
        check(&relieved(device, pipe), at_pump, expected);
    }
    let unknown_branch = pump("J-1")
        + r#"J-1 > CK-1 {"design_pressure": "16 barg"}
             CK-1 > D-1 {"design_pressure": "16 barg"}
             J-1 > D-1"#;
    check(
        &unknown_branch,
        r#"pressureInterfaces().interfaces | filter(.at.id == "P-1") | map([.certain, .reasons])"#,
        json!([[false, reasons]]),
    );
    let with_flow = r#"
        D-1 equipment.vessel {"design_pressure": "16 barg"}
        CK-1 piping_component.check_valve
        T-1 equipment.tank {"design_pressure": "2 barg"}
        D-1 > CK-1 {"design_pressure": "16 barg"}
        CK-1 > T-1 {"design_pressure": "2 barg"}
    "#;
    check(with_flow, PROTECTION, json!([["CK-1", []]]));
}

#[test]
fn a_check_valve_that_is_bypassed_or_may_not_be_there_protects_nothing_for_certain() {
    let plant = |check_valve: &str, bypass: &str| {
        format!(
            r#"
            T-1 equipment.tank {{"design_pressure": "2 barg"}}
            P-1 equipment.pump {{"design_pressure": "16 barg"}}
            J-1 piping_component.pipe_tee
            CK-1 piping_component.check_valve {check_valve}
            J-2 piping_component.pipe_tee
            V-1 piping_component.gate_valve {bypass}
            D-1 equipment.vessel {{"design_pressure": "16 barg"}}
            T-1 > P-1 {{"design_pressure": "2 barg"}}
            P-1 > J-1 {{"design_pressure": "16 barg"}}
            J-1 > CK-1 {{"design_pressure": "16 barg"}}
            CK-1 > J-2 {{"design_pressure": "16 barg"}}
            J-2 > V-1 {{"design_pressure": "16 barg", "direction": "unknown"}}
            V-1 > J-1 {{"design_pressure": "16 barg", "direction": "unknown"}}
            J-2 > D-1 {{"design_pressure": "16 barg"}}
            "#
        )
    };
    let rows = r#"pressureInterfaces().interfaces | filter(.at.id == "P-1")
        | map([.protection | map(.item.id), .certain, .reasons])"#;
    for (check_valve, bypass, expected) in [
        ("{}", r#"{"normal_position": "closed"}"#, json!([[["CK-1"], false, ["branch_without_check_valve"]]])),
        ("{}", "{}", json!([[["CK-1"], false, ["branch_without_check_valve", "check_valve_bypassed"]]])),
    ] {
        check(&plant(check_valve, bypass), rows, expected);
    }
    let alone = |fields: &str| {
        format!(
            r#"
            T-1 equipment.tank {{"design_pressure": "2 barg"}}
            P-1 equipment.pump {{"design_pressure": "16 barg"}}
            CK-1 piping_component.check_valve {fields}
            D-1 equipment.vessel {{"design_pressure": "16 barg"}}
            T-1 > P-1 {{"design_pressure": "2 barg"}}
            P-1 > CK-1 {{"design_pressure": "16 barg"}}
            CK-1 > D-1 {{"design_pressure": "16 barg"}}
            "#
        )
    };
    check(&alone("{}"), rows, json!([[["CK-1"], true, []]]));
    let held = json!([[["CK-1"], false, ["check_valve_may_pass_back"]]]);
    check(&alone(r#"{"remarks": "flap pinned open"}"#), rows, held.clone());
    check(&alone(r#"{"lock": "locked_open"}"#), rows, held);
    check(&alone(r#"{"status": "removed"}"#), rows, json!([[[], true, []]]));
    check(&alone(r#"{"status": "to be removed"}"#), rows, json!([[[], true, []]]));
}

#[test]
fn an_interface_in_a_recycle_is_found_once_and_direction_is_never_assumed_silently() {
    let cycle = r#"
        V-1 piping_component.gate_valve
        V-2 piping_component.gate_valve
        V-1 > V-2 {"design_pressure": "2 barg"}
        V-2 > V-1 {"design_pressure": "16 barg"}
    "#;
    check(cycle, INTERFACES, json!([["V-1", "barrier", "from", 14, true, []], ["V-2", "barrier", "to", 14, true, []]]));
    let undirected = r#"
        R-1 piping_component.reducer
        D-1 equipment.vessel {"design_pressure": "16 barg"}
        D-2 equipment.vessel {"design_pressure": "2 barg"}
        D-1 - R-1 {"design_pressure": "16 barg"}
        R-1 - D-2 {"design_pressure": "2 barg"}
    "#;
    check(
        undirected,
        "pressureInterfaces().interfaces | map([.at.id, .certain, .reasons])",
        json!([["R-1", false, ["direction_not_stated"]]]),
    );
}

#[test]
fn numbers_have_gaps_within_their_series() {
    let series =
        "numberingGaps().series | map([.kind, .prefix, .letters, .count, .first, .last, .gaps | map([.first, .last])])";
    let of_pipes = r#"V-1 equipment.vessel
        V-2 equipment.vessel
        HV-1 piping_component.gate_valve
        HV-2 piping_component.gate_valve
        V-1 > HV-1 {"line": "100-PL-1001-A1A"}
        HV-1 > HV-2 {"line": "100-PL-1001-A1A"}
        HV-2 > V-2 {"line": "100-PL-1004A-A1A"}"#;
    let lines = r#"numberingGaps().series | filter(.kind == "line") | map([.count, .first, .last, .missing])"#;
    check(of_pipes, lines, json!([[2, "1001", "1004", 2]]));
    check("", "numberingGaps()", json!({"series": [], "duplicates": [], "not_numbered": []}));
    check(
        "20-HV-007 piping_component.gate_valve\n20-HV-010 piping_component.gate_valve\n30-HV-9 piping_component.gate_valve",
        series,
        json!([
            ["component", "20", "HV", 2, "007", "010", [["008", "009"]]],
            ["component", "30", "HV", 1, "9", "9", []]
        ]),
    );
    // The number of a line is the longest one in its tag.
    for (first, second) in [
        ("80-CWS-35001-W1", "50-CWS-35003"),
        ("DN50-CWS-35001-W1", "20-35003-CWS-50-W1-H"),
        ("35001-CWS-2", "CWS-35003"),
    ] {
        let lines = format!("{first} piping_network_system\n{second} piping_network_system");
        let found = "numberingGaps().series | map([.kind, .first, .last, .missing])";
        check(&lines, found, json!([["line", "35001", "35003", 1]]));
    }
    let instruments = "FT-1 instrument.transmitter\nFIC-2 instrument.controller\nFIC-4 instrument.controller\nPI-9 instrument.indicator";
    check(
        instruments,
        r#"numberingGaps({by: "variable"}).series | map([.letters, .gaps | map(.first)])"#,
        json!([["F", ["3"]], ["P", []]]),
    );
    check(instruments, r#"numberingGaps({by: "prefix"}).series | map([.missing])"#, json!([[5]]));
    check("PI-4712.01 instrument.indicator\nPI-4712.04 instrument.indicator", series, {
        json!([["component", "4712.", "PI", 2, "01", "04", [["02", "03"]]]])
    });
    check(
        "L-1 line {\"tag\": \"100-PL-101-A\"}\nL-2 line {\"tag\": \"50-CW-103-B\"}",
        series,
        json!([["line", "", "", 2, "101", "103", [["102", "102"]]]]),
    );
}

#[test]
fn duplicate_tags_are_listed_with_their_candidates() {
    let plant = r#"
        a piping_component.gate_valve {"tag": "HV-1"}
        b piping_component.gate_valve {"tag": "HV-1"}
        c piping_component.gate_valve {"tag": "HV 1"}
        d piping_component.gate_valve {"tag": "drain"}
        T-1 equipment.tank
        T-2 equipment.tank
        n1 equipment_component.nozzle {"tag": "N1"}
        n2 equipment_component.nozzle {"tag": "N1"}
        n3 equipment_component.nozzle {"tag": "N1"}
        T-1 has n1
        T-2 has n2
        T-2 has n3
    "#;
    check(
        plant,
        "numberingGaps() | [.duplicates | map([.tag, .kind, .items | map(.id), .exact]), .not_numbered | map(.id)]",
        json!([[["HV-1", "component", ["a", "b", "c"], false], ["N1", "nozzle", ["n2", "n3"], true]], ["d"]]),
    );
    let actuator = "FV-1 piping_component.control_valve\na instrument.actuating_system {\"tag\": \"FV-1\"}\nb instrument.function {\"tag\": \"T\"}\nc instrument.function {\"tag\": \"T\"}";
    check(actuator, "numberingGaps().duplicates", json!([]));
    let huge = "a piping_component.gate_valve {\"tag\": \"HV-1\"}\nb piping_component.gate_valve {\"tag\": \"HV-18446744073709551615\"}";
    check(huge, "numberingGaps().series | first() | .gaps | size()", json!(1));
    let zeros = format!("a piping_component.gate_valve {{\"tag\": \"HV-{}1\"}}", "0".repeat(5000));
    check(&zeros, "numberingGaps().series | first() | .first", json!(format!("{}1", "0".repeat(19))));
}

#[test]
fn material_is_counted_by_class_size_and_piping_class() {
    let rows = "materialList() | map([.kind, .class, .nominal_diameter, .piping_class, .count, .without_length])";
    check("", rows, json!([]));
    let plant = r#"
        T-1 equipment.tank
        V-1 piping_component.gate_valve {"nominal_diameter": "50"}
        V-2 piping_component.gate_valve
        R-1 piping_component.reducer
        FI-1 instrument.indicator
        X-1 reference.off_page_connector
        T-1 > V-1 {"nominal_diameter": 50, "piping_class": "A", "line": "L-1"}
        V-1 > V-2 {"nominal_diameter": 50, "piping_class": "A", "line": "L-1"}
        V-2 > R-1 {"nominal_diameter": 50, "piping_class": "A", "line": "L-1"}
        R-1 > X-1 {"nominal_diameter": 80, "piping_class": "A", "line": "L-1"}
        FI-1 ~ V-1
    "#;
    check(
        plant,
        rows,
        json!([
            ["component", "piping_component.gate_valve", "50", "A", 2, 0],
            ["component", "piping_component.reducer", null, "A", 1, 0],
            ["pipe", "pipe", 50, "A", 1, 1],
            ["pipe", "pipe", 80, "A", 1, 1]
        ]),
    );
    check(plant, r#"materialList("class") | map([.class, .count])"#, {
        json!([["piping_component.gate_valve", 2], ["piping_component.reducer", 1], ["pipe", 1]])
    });
}

#[test]
fn what_is_not_there_is_material_of_rows_of_its_own() {
    let rows = r#"materialList("class") | map([.class, .status, .count])"#;
    let plant = r#"
        V-1 piping_component.gate_valve {"status": "new"}
        V-2 piping_component.gate_valve {"status": "demolished"}
        V-3 piping_component.gate_valve {"status": "future"}
        V-4 piping_component.gate_valve {"remarks": "by others"}
        V-5 piping_component.gate_valve {"status": "existing", "remarks": "supplied by vendor"}
        V-6 piping_component.gate_valve {"removed": true}
        V-7 piping_component.gate_valve {"status": "to be demolished"}
        V-1 > V-2
        V-2 > V-3 {"status": "demolished"}
        V-3 > V-4 {"status": "blanked"}
        V-4 > V-5
        V-5 > V-6
    "#;
    check(
        plant,
        rows,
        json!([
            ["piping_component.gate_valve", null, 2],
            ["piping_component.gate_valve", "not_installed", 3],
            ["piping_component.gate_valve", "by_others", 1],
            ["piping_component.gate_valve", "unknown_status", 1],
            ["pipe", null, 2],
            ["pipe", "not_installed", 1]
        ]),
    );
}

#[test]
fn lengths_are_summed_by_unit_and_never_invented() {
    let lengths = "materialList() | filter(.kind == \"pipe\") | map([.count, .lengths | map([.unit, .total, .count]), .without_length])";
    let plant = r#"
        V-1 piping_component.gate_valve
        V-2 piping_component.gate_valve
        V-3 piping_component.gate_valve
        V-4 piping_component.gate_valve
        V-1 > V-2 {"line": "L-1", "length": 2.5, "length_unit": "m"}
        V-2 > V-3 {"line": "L-1", "attributes": [{"name": "Length", "value": "1.5", "unit": "m"}]}
        V-3 > V-4 {"line": "L-2", "length": "900 mm"}
        V-4 > V-1 {"line": "L-3"}
    "#;
    check(plant, lengths, json!([[3, [["m", 4, 2], ["mm", 900, 1]], 1]]));
    // A segment with two sizes has one length, which belongs to neither size.
    let segment = r#"
        S-1 segment {"length": 7}
        V-1 piping_component.gate_valve
        R-1 piping_component.reducer
        V-2 piping_component.gate_valve
        V-1 > R-1 {"segment": "S-1", "nominal_diameter": 50}
        R-1 > V-2 {"segment": "S-1", "nominal_diameter": 80}
    "#;
    check(segment, lengths, json!([[1, [], 1], [1, [], 1]]));
    let cycle = "V-1 piping_component.gate_valve\nV-2 piping_component.gate_valve\nV-1 > V-2\nV-2 > V-1\nV-1 > V-1";
    check(cycle, lengths, json!([[1, [], 1]]));
}

#[test]
fn a_corrosion_circuit_ends_where_a_property_changes() {
    let circuits = "corrosionCircuits() | map([.circuit, .fluid, .temperature, .unknown, .breaks | map([.at.id, .kind, .changes, .circuits])])";
    check("", circuits, json!([]));
    let pipe = |fluid: &str, temperature: &str| {
        format!(
            r#"{{"fluid_code": "{fluid}", "piping_class": "A", "material": "CS", "design_temperature": "{temperature}", "design_pressure": "10 barg"}}"#
        )
    };
    let plant = format!(
        "T-1 equipment.tank\nV-1 piping_component.gate_valve\nH-1 piping_component.in_line_mixer\nX-1 reference.off_page_connector\n\
         T-1 > V-1 {}\nV-1 > H-1 {}\nH-1 > X-1 {}",
        pipe("W", "80 °C"),
        pipe("W", "353.15 K"),
        pipe("A", "80 °C")
    );
    let range = json!({"low": 80, "high": 80, "unit": "°C", "basis": "design"});
    check(
        &plant,
        circuits,
        json!([
            ["C1", "W", range, [], [["T-1", "equipment", [], []], ["H-1", "none", ["fluid"], ["C2"]]]],
            ["C2", "A", range, [], [["H-1", "none", ["fluid"], ["C1"]], ["X-1", "off_page", [], []]]]
        ]),
    );
    check(&plant, r#"corrosionCircuits({by: ["temperature"]}) | map([.fluid, .certain])"#, json!([["A, W", true]]));
    check(&plant, r#"corrosionCircuits({by: ["colors"]})"#, json!("PQ1012"));
    // An operating temperature that is no number is unknown; the design temperature does not stand for it.
    let operating = |temperature: &str| {
        format!(
            r#"T-1 equipment.tank
            V-1 piping_component.gate_valve
            T-1 > V-1 {{"fluid_code": "W", "piping_class": "A", "material": "CS", "design_temperature": "60 °C",
                        "operating_temperature": "{temperature}", "design_pressure": "10 barg"}}"#
        )
        .replace("\n                        ", " ")
    };
    let unknown = "corrosionCircuits() | map([.temperature.high, .unknown])";
    for range in ["40..50 °C", "40-50 °C", "20 to 90 °C", "min 5 / max 45"] {
        check(&operating(range), unknown, json!([[null, ["temperature"]]]));
    }
    check(&operating("40 °C"), unknown, json!([[40, []]]));
}

#[test]
fn a_pressure_in_another_unit_ends_no_circuit() {
    let plant = |first: &str, second: &str| {
        let pipe = |pressure: &str| {
            format!(
                r#"{{"fluid_code": "W", "piping_class": "A", "material": "CS", "design_temperature": "60 °C", "design_pressure": "{pressure}"}}"#
            )
        };
        format!(
            "V-1 piping_component.gate_valve\nV-2 piping_component.gate_valve\nV-3 piping_component.gate_valve\n\
             V-1 > V-2 {}\nV-2 > V-3 {}",
            pipe(first),
            pipe(second)
        )
    };
    for (first, second, count) in [
        ("16 barg", "232 psig", 1),
        ("232 psig", "16 barg", 1),
        ("16 barg", "1600 kPag", 1),
        ("16 barg", "15.95 barg", 2),
        ("16 barg", "16 bara", 2),
    ] {
        check(&plant(first, second), "corrosionCircuits() | size()", json!(count));
    }
}

#[test]
fn a_circuit_with_unknown_properties_says_so() {
    let plant = r#"
        V-1 piping_component.gate_valve
        V-2 piping_component.gate_valve
        V-3 piping_component.gate_valve
        V-1 > V-2 {"fluid_code": "W"}
        V-2 > V-3 {"fluid_code": "W", "material": "CS"}
        V-3 > V-1 {"fluid_code": "W"}
    "#;
    check(
        plant,
        "corrosionCircuits() | map([.circuit, .material, .pipes | map(.id), .unknown, .certain])",
        json!([
            ["C1", null, ["e1", "e3"], ["piping_class", "material", "temperature", "pressure"], false],
            ["C2", "CS", ["e2"], ["piping_class", "temperature", "pressure"], false]
        ]),
    );
}

#[test]
fn an_instrument_index_has_set_points_and_alarm_limits_as_stated() {
    let index = "instrumentIndex() | map([.tag, .set_point, .unit, .range_low, .range_high, .alarm_hh, .alarm_h, .alarm_l, .alarm_ll])";
    let plant = r#"
        PT-1 instrument.transmitter {"range_min": 0, "range_max": 25, "unit": "barg"}
        PIC-1 instrument.controller
        PV-1 piping_component.control_valve
        LSHH-2 instrument.switch {"attributes": [{"name": "SetPoint", "value": 80, "unit": "%"}]}
        TI-3 instrument.indicator {"attributes": {"alarm_high": 90, "alarm_hh": 95, "alarm_low": null, "alarm_ll": ""}, "unit": "100"}
        LI-4 instrument.indicator
        P-1 loop {"set_point": 8, "unit": "bar g"}
        PT-1 in P-1
        PIC-1 in P-1
        PV-1 in P-1
    "#;
    check(
        plant,
        index,
        json!([
            ["PT-1", null, "barg", 0, 25, null, null, null, null],
            ["PIC-1", 8, "bar g", null, null, null, null, null, null],
            ["LSHH-2", 80, "%", null, null, null, null, null, null],
            ["TI-3", null, null, null, null, 95, 90, null, null],
            ["LI-4", null, null, null, null, null, null, null, null]
        ]),
    );
    check("", index, json!([]));
}

#[test]
fn a_relief_list_has_what_is_protected_and_what_could_block_it() {
    let list = "reliefList() | map([.tag, .set_pressure, .unit, .size, .outlet_size, .protects, .inlet_valves, .discharges_to, .outlet_valves, .certain])";
    let plant = r#"
        D-1 equipment.vessel
        V-1 piping_component.gate_valve
        RV-1 piping_component.safety_valve {"attributes": [{"name": "SetPressureHigh", "value": "6.00", "units": "barg"}]}
        V-2 piping_component.gate_valve
        X-1 reference.off_page_connector
        D-1 > V-1 {"nominal_diameter": 50}
        V-1 > RV-1 {"nominal_diameter": 50}
        RV-1 > V-2 {"nominal_diameter": 80}
        V-2 > X-1 {"nominal_diameter": 80}
    "#;
    check(plant, list, json!([["RV-1", "6.00", "barg", 50, 80, "D-1", "V-1", "X-1", "V-2", false]]));
    let open = "D-1 equipment.vessel\nRV-1 piping_component.safety_valve\nF-1 equipment.flare\nD-1 > RV-1\nRV-1 > F-1";
    check(open, list, json!([["RV-1", null, null, null, null, "D-1", "", "F-1", "", true]]));
    check("", list, json!([]));
    let alone = "RV-1 piping_component.safety_valve";
    check(alone, list, json!([["RV-1", null, null, null, null, "", "", "", "", false]]));
    let undirected = "D-1 equipment.vessel\nRV-1 piping_component.safety_valve\nD-1 - RV-1";
    check(undirected, list, json!([["RV-1", null, null, null, null, "D-1", "", "", "", false]]));
    let cycle = "V-1 piping_component.gate_valve\nRV-1 piping_component.safety_valve\nV-1 > RV-1\nRV-1 > V-1";
    check(cycle, list, json!([["RV-1", null, null, null, null, "", "V-1", "", "", false]]));
}

#[test]
fn a_hatch_that_opens_to_the_air_is_no_open_end() {
    let plant = |class: &str| format!("T-1 equipment.tank\nEV-1 piping_component.{class}\nT-1 > EV-1");
    let query = r#"[(openEnds() | size()), (validate({rules: "P101"}) | size()), (reliefList() | map(.relief_path))]"#;
    for class in
        ["emergency_relief_hatch", "weighted_hatch", "pressure_relief_manhole", "explosion_panel", "breather_valve"]
    {
        check(&plant(class), query, json!([0, 0, ["open"]]));
    }
    check(&plant("safety_valve"), query, json!([1, 1, ["unknown"]]));
}

#[test]
fn a_relief_valve_known_by_its_tag_alone_is_listed_and_not_certain() {
    let plant =
        |class: &str| format!("D-1 equipment.vessel\nPSV-1 {class}\nO-1 reference.open_end\nD-1 > PSV-1\nPSV-1 > O-1");
    let list = "reliefList() | map([.tag, .protects, .discharges_to, .relief_path, .reasons, .certain])";
    let row = |path: &str, reasons: &str| json!([["PSV-1", "D-1", "O-1", path, reasons, path == "open"]]);
    check(&plant("piping_component.safety_valve"), list, row("open", ""));
    for class in ["piping_component.valve", "piping_component.custom_item", "custom.thing"] {
        check(&plant(class), list, row("unknown", "class_not_stated PSV-1"));
    }
    // The bubble of a relief valve has no pipe, and `PRV` may be a reducing valve.
    check("PSV-1 instrument.function", list, json!([]));
    check(&plant("piping_component.valve").replace("PSV-1", "PRV-1"), list, json!([]));
    let changed = "rankDiff(.0, .1) | map([.significance, .reason, .field])";
    let set = |pressure: u32| plant(&format!("piping_component.valve {{\"set_pressure\": {pressure}}}"));
    let expected = json!([["critical", "set pressure of a relief device changed", "set_pressure"]]);
    check_revisions(&set(10), &set(12), changed, expected);
}

#[test]
fn a_relief_device_behind_a_check_valve_protects_while_that_opens() {
    let plant = |check_valve: &str| {
        format!(
            "X-1 reference.off_page_connector
         PV-1 piping_component.control_valve
         CK-1 piping_component.check_valve
         D-1 equipment.vessel {{\"design_pressure\": \"16 barg\"}}
         RV-1 piping_component.safety_valve {{\"set_pressure\": \"16 barg\"}}
         O-1 reference.open_end
         X-1 > PV-1 {{\"design_pressure\": \"100 barg\"}}
         {check_valve}
         D-1 > RV-1
         RV-1 > O-1"
        )
    };
    let rows = r#"pressureInterfaces().interfaces | filter(.at.id == "PV-1") | map([.protection | map(.item.id), .certain, .reasons])"#;
    let low = "{\"design_pressure\": \"16 barg\"}";
    let with = format!("PV-1 > CK-1 {low}\nCK-1 > D-1 {low}");
    check(&plant(&with), rows, json!([[["RV-1"], false, ["relief_behind_check_valve"]]]));
    let against = format!("PV-1 > D-1 {low}\nCK-1 > D-1 {low}");
    check(&plant(&against), rows, json!([[["RV-1"], true, []]]));
}

#[test]
fn a_relief_device_whose_path_is_not_shown_to_be_open_makes_an_interface_uncertain() {
    let plant = |outlet: &str| {
        format!(
            "X-1 reference.off_page_connector
         PV-1 piping_component.control_valve
         D-1 equipment.vessel {{\"design_pressure\": \"16 barg\"}}
         RV-1 piping_component.safety_valve
         RV-2 piping_component.safety_valve
         V-1 piping_component.gate_valve {{\"normally\": \"closed\"}}
         X-2 reference.off_page_connector
         O-1 reference.open_end
         X-1 > PV-1 {{\"design_pressure\": \"100 barg\"}}
         PV-1 > D-1 {{\"design_pressure\": \"16 barg\"}}
         {outlet}"
        )
    };
    let rows = r#"pressureInterfaces().interfaces | filter(.at.id == "PV-1") | map([.certain, .reasons])"#;
    let open = "D-1 > RV-1\nRV-1 > O-1";
    let unknown = "D-1 > RV-2\nRV-2 > X-2";
    check(&plant(open), rows, json!([[true, []]]));
    check(&plant(unknown), rows, json!([[false, ["relief_path_unknown"]]]));
    check(&plant(&format!("{open}\n{unknown}")), rows, json!([[true, []]]));
    check(&plant("D-1 > RV-2\nRV-2 > V-1\nV-1 > O-1"), rows, json!([[false, ["relief_path_blocked"]]]));
}

#[test]
fn special_items_are_neither_valves_nor_fittings() {
    let plant = "S-1 piping_component.strainer\nV-1 piping_component.gate_valve\nJ-1 piping_component.pipe_tee\nS-2 piping_component.strainer\nS-1 > V-1\nV-1 > J-1";
    check(plant, "specialItemList() | map(.id)", json!(["S-1"]));
    check(plant, r#"specialItemList("mesh") | map(.mesh)"#, json!([null]));
    check("", "specialItemList()", json!([]));
}

#[test]
fn a_passive_safeguard_that_is_removed_is_significant() {
    let plant = |class: &str| {
        format!("V-1 equipment.vessel\nX-1 piping_component.{class}\nV-2 equipment.vessel\nV-1 > X-1\nX-1 > V-2")
    };
    let without = "V-1 equipment.vessel\nV-2 equipment.vessel\nV-1 > V-2";
    for (class, significance) in
        [("excess_flow_valve", "high"), ("flame_arrester", "high"), ("backflow_preventer", "high"), ("strainer", "low")]
    {
        let removed = r#"rankDiff(.0, .1) | filter(.change == "removed" and .id == "X-1") | map(.significance)"#;
        check_revisions(&plant(class), without, removed, json!([significance]));
    }
}

#[test]
fn a_way_around_a_safeguard_is_significant() {
    let plant = |safeguard: &str, more: &str| {
        format!(
            "V-1 equipment.vessel\nN-1 equipment.nozzle\nX-1 piping_component.{safeguard}\nT-1 piping_component.pipe_tee\n\
             V-2 equipment.vessel\nV-3 equipment.vessel\nPSHH-1 instrument.pressure_switch\nI-1 instrument.interlock\n\
             V-1 has N-1\nN-1 > X-1\nX-1 > T-1\nT-1 > V-2\nPSHH-1 ~ I-1\nI-1 ~ X-1\n{more}"
        )
    };
    let added = r#"rankDiff(.0, .1) | filter(.change == "added") | map([.significance, .id])"#;
    let valve = |fields: &str| format!("HV-1 piping_component.globe_valve {fields}");
    for safeguard in ["shutdown_valve", "ball_valve", "check_valve", "flame_arrester"] {
        let old = plant(safeguard, "");
        for fields in ["{}", r#"{"normal_position": "closed"}"#] {
            let bypass = format!("{}\nN-1 > HV-1\nHV-1 > T-1", valve(fields));
            let expected = json!([["high", "HV-1"], ["high", "e7"], ["high", "e8"]]);
            check_revisions(&old, &plant(safeguard, &bypass), added, expected);
        }
        // A drain, and a line to another vessel.
        let drain = format!("{}\nT-1 > HV-1", valve("{}"));
        check_revisions(&old, &plant(safeguard, &drain), added, json!([["medium", "HV-1"], ["medium", "e7"]]));
        let line = format!("{}\nN-1 > HV-1\nHV-1 > V-3", valve("{}"));
        let expected = json!([["medium", "HV-1"], ["medium", "e7"], ["medium", "e8"]]);
        check_revisions(&old, &plant(safeguard, &line), added, expected);
    }
}

#[test]
fn a_way_around_two_shutdown_valves_in_series_is_significant() {
    let old = "N-1 equipment.nozzle\nX-1 piping_component.shutdown_valve\nS-1 piping_component.strainer\n\
               X-2 piping_component.shutdown_valve\nT-1 piping_component.pipe_tee\nV-2 equipment.vessel\n\
               N-1 > X-1\nX-1 > S-1\nS-1 > X-2\nX-2 > T-1\nT-1 > V-2";
    let new = format!("{old}\nHV-1 piping_component.globe_valve {{}}\nN-1 > HV-1\nHV-1 > T-1");
    let added = r#"rankDiff(.0, .1) | filter(.change == "added") | map([.significance, .id])"#;
    check_revisions(old, &new, added, json!([["high", "HV-1"], ["high", "e6"], ["high", "e7"]]));
}

#[test]
fn what_belongs_to_a_trip_or_to_the_end_of_a_relief_path_is_significant_whatever_its_tag() {
    let plant = |changed: &[(&str, &str)]| {
        let fields = |id: &str| changed.iter().find(|(name, _)| *name == id).map_or("{}", |(_, fields)| *fields);
        let [sensor, other, connector, vent, stack] = ["PT-1", "PT-2", "X-1", "O-1", "FS-1"].map(fields);
        let [relief_nozzle, nozzle, orifice] = ["N-1", "N-2", "RO-1"].map(fields);
        format!(
            "V-1 equipment.vessel\nXV-1 piping_component.shutdown_valve\nV-2 equipment.vessel\n\
             PT-1 instrument.pressure_transmitter {sensor}\nPZ-1 instrument.function\n\
             PT-2 instrument.pressure_transmitter {other}\nPI-2 instrument.indicator\nX-1 reference.off_page_connector {connector}\n\
             PSV-1 piping_component.safety_valve\nO-1 reference.open_end {vent}\nFS-1 equipment.flare_stack {stack}\n\
             N-1 equipment_component.nozzle {relief_nozzle}\nN-2 equipment_component.nozzle {nozzle}\n\
             RO-1 piping_component.restriction_orifice {orifice}\nV-1 has N-1\nV-1 has N-2\n\
             V-1 > XV-1\nXV-1 > V-2\nN-1 > PSV-1\nPSV-1 > O-1\nV-2 > RO-1\nRO-1 > FS-1\nN-2 ~ PT-1\n\
             PT-1 ~ PZ-1\nPZ-1 ~ XV-1\nPZ-1 ~ X-1\nPT-2 ~ PI-2"
        )
    };
    let significance = "rankDiff(.0, .1) | map([.significance, .tag])";
    for (item, fields, expected) in [
        ("PT-1", r#"{"status": "future"}"#, "critical"),
        ("PT-1", r#"{"remarks": "root valve closed"}"#, "high"),
        ("PT-2", r#"{"status": "future"}"#, "low"),
        ("X-1", r#"{"cross_page": {"link_label": "PZ-1/XV-3"}}"#, "high"),
        ("O-1", r#"{"remarks": "capped"}"#, "critical"),
        ("N-1", r#"{"status": "blinded"}"#, "critical"),
        ("N-1", r#"{"remarks": "plugged"}"#, "critical"),
        ("N-2", r#"{"status": "blinded"}"#, "critical"),
        ("N-2", r#"{"height": 3}"#, "high"),
        ("RO-1", r#"{"bore": "25 mm"}"#, "high"),
        ("RO-1", r#"{"vendor": "A"}"#, "low"),
        ("FS-1", r#"{"status": "out of service"}"#, "high"),
        ("FS-1", r#"{"power": 3}"#, "medium"),
    ] {
        check_revisions(&plant(&[]), &plant(&[(item, fields)]), significance, json!([[expected, item]]));
    }
}

#[test]
fn another_spelling_of_a_value_is_no_significant_change() {
    let plant = |value: &str| {
        format!(
            "V-1 equipment.vessel\nPSV-1 piping_component.safety_valve {{\"set_pressure\": {value}}}\nO-1 reference.open_end\nV-1 > PSV-1\nPSV-1 > O-1"
        )
    };
    let rows = "rankDiff(.0, .1) | map([.significance, .field])";
    for (before, after, expected) in [
        (r#""16 barg""#, r#""16.0 barg ""#, json!([["low", "set_pressure"]])),
        (r#""16 barg""#, r#""16barg""#, json!([["low", "set_pressure"]])),
        ("16", r#""16""#, json!([["low", "set_pressure"]])),
        ("16", "16.0", json!([])),
        (r#""16 barg""#, r#""16 bara""#, json!([["critical", "set_pressure"]])),
        ("16", r#""16 barg""#, json!([["critical", "set_pressure"]])),
        (r#""1.500 barg""#, r#""1.5 barg""#, json!([["critical", "set_pressure"]])),
    ] {
        check_revisions(&plant(before), &plant(after), rows, expected);
    }
}

#[test]
fn a_drawing_with_new_ids_differs_only_in_what_changed() {
    let plant = |prefix: &str, size: u32| {
        let id = |name: &str| format!("{prefix}{name}");
        json!({
            "nodes": [
                {"id": id("1"), "tag": "V-1", "class": "vessel"}, {"id": id("2"), "tag": "N1", "class": "nozzle"},
                {"id": id("3"), "tag": "V-2", "class": "vessel"}, {"id": id("4"), "tag": "N1", "class": "nozzle"},
                {"id": id("5"), "tag": "XV-1", "class": "shutdown_valve"}
            ],
            "edges": [
                {"id": id("6"), "from": id("1"), "to": id("2"), "edge_type": "physically_has_a"},
                {"id": id("7"), "from": id("3"), "to": id("4"), "edge_type": "physically_has_a"},
                {"id": id("8"), "from": id("2"), "to": id("5"), "edge_type": "physically_connected_to", "nominal_diameter": size},
                {"id": id("9"), "from": id("5"), "to": id("4"), "edge_type": "physically_connected_to"}
            ]
        })
        .to_string()
    };
    let found = |new: String| {
        let query =
            r#"rankDiff(.0, .1) | filter(.change != "renamed" and .field != "id") | map([.change, .ends, .field])"#;
        evaluate(&format!("[{}, {new}]", plant("a", 50)), query)
    };
    assert_eq!(found(plant("b", 50)), json!([]));
    assert_eq!(found(plant("b", 80)), json!([["changed", ["V-1-N1", "XV-1"], "nominal_diameter"]]));
}

#[test]
fn a_function_with_the_letter_of_an_alarm_that_sends_a_signal_is_no_end_of_it() {
    let plant = "
        D-1 equipment.vessel
        LT-1 instrument.level_transmitter
        LZAHH-1 instrument.function
        XV-1 piping_component.ball_valve
        D-1 > XV-1
        LT-1 @ D-1
        LT-1 ~ LZAHH-1
        LZAHH-1 ~ XV-1
    ";
    check(plant, LINKS, json!([["LT-1", "XV-1", "trip", "valve", null]]));
}

#[test]
fn a_pipe_that_ends_in_the_open_air_is_not_plugged() {
    let classes = |end: &str| {
        format!(
            "V-1 equipment.vessel\nT-1 piping_component.pipe_tee\nX-1 {end}\nV-2 equipment.vessel\nV-1 > T-1\nT-1 > V-2\nT-1 > X-1"
        )
    };
    for (end, class) in [
        ("reference.open_end", "open"),
        ("piping_component.gooseneck", "open"),
        ("piping_component.bird_screen", "open"),
        ("piping_component.blind_flange", "plugged"),
        ("piping_component.pipe_cap", "plugged"),
    ] {
        check(&classes(end), "deadEnds() | map(.class)", json!([class]));
    }
}

#[test]
fn words_of_a_class_make_no_trip_uncertain() {
    for class in ["fired_heater", "FiredHeater", "forced_draft_fan"] {
        let plant = format!(
            "V-1 equipment.vessel\nH-1 equipment.heater {{\"component_class\": \"{class}\"}}\nI-1 instrument.interlock\n\
             TSHH-1 instrument.temperature_switch\nV-1 > H-1\nTSHH-1 @ V-1\nTSHH-1 ~ I-1\nI-1 ~ H-1"
        );
        check(&plant, "causeAndEffect().not_followed", json!([]));
    }
}

#[test]
fn a_voting_that_the_drawn_sensors_cannot_meet_is_not_certain() {
    let plant = |sensors: &[&str], voting: &str| {
        let nodes: String = sensors.iter().map(|tag| format!("{tag} instrument.pressure_transmitter\n")).collect();
        let edges: String = sensors.iter().map(|tag| format!("{tag} @ V-1\n{tag} ~ I-1\n")).collect();
        format!(
            "V-1 equipment.vessel\nV-2 equipment.vessel\nXV-1 piping_component.shutdown_valve {{\"fail_action\": \"closed\"}}\n\
             I-1 instrument.interlock {{\"voting\": \"{voting}\"}}\n{nodes}V-1 > XV-1\nXV-1 > V-2\n{edges}I-1 ~ XV-1"
        )
    };
    let certain = r#"loops() | filter(.kind == "trip" or .kind == "safety") | map(.certain) | first()"#;
    // A gate that needs all of its inputs.
    for (statement, expected) in [
        (r#""label": "AND""#, false),
        (r#""logic": "&""#, false),
        (r#""description": "LSLL-1 AND PSHH-2""#, false),
        (r#""description": "trips on LSLL-1 OR PSHH-2""#, true),
        (r#""description": "stops pump and valve""#, true),
    ] {
        let plant = format!(
            "V-1 equipment.vessel\nV-2 equipment.vessel\nXV-1 piping_component.shutdown_valve {{\"fail_action\": \"closed\"}}\n\
             I-1 instrument.interlock {{{statement}}}\nLSLL-1 instrument.level_switch\nPSHH-2 instrument.pressure_switch\n\
             V-1 > XV-1\nXV-1 > V-2\nLSLL-1 @ V-1\nLSLL-1 ~ I-1\nPSHH-2 @ V-1\nPSHH-2 ~ I-1\nI-1 ~ XV-1"
        );
        check(&plant, r#"loops() | filter(.loop == "L-1") | map(.certain) | first()"#, json!(expected));
    }
    for (sensors, voting, expected) in [
        (&["PT-1A"][..], "2oo3", false),
        (&["PT-1A", "PT-1B"][..], "2oo3", false),
        (&["PT-1A", "PT-1B", "PT-1C"][..], "2oo3", true),
        (&["PT-1A"][..], "1oo2", false),
        (&["PT-1A"][..], "1oo1", true),
        (&["PT-1A/B/C"][..], "2oo3", true),
    ] {
        check(&plant(sensors, voting), certain, json!(expected));
    }
}

#[test]
fn the_switch_that_operates_a_valve_in_both_directions_trips_nothing() {
    let links = "causeAndEffect() | [(.links | map(.initiator.id)), (.not_followed | map([.item.id, .reason]))]";
    let plant = |text: &str| {
        format!(
            "HS-1 instrument.function {{\"description\": \"{text}\"}}\nXV-1 piping_component.shutdown_valve\nHS-1 ~ XV-1"
        )
    };
    for text in ["open/close", "open / close / local", "O/S/C", "local / off / remote", "Auf/Zu"] {
        check(&plant(text), links, json!([[], [["HS-1", "effect_not_stated"]]]));
    }
    for text in ["close XV-1", "open/close, ESD", "emergency close", "stop"] {
        check(&plant(text), links, json!([["HS-1"], []]));
    }
}

#[test]
fn a_vessel_that_is_drawn_twice_may_have_the_relief_device_of_the_other_drawing() {
    let plant = |tag: &str, fields: &str| {
        format!(
            r#"
            X-1 reference.off_page_connector
            PV-1 piping_component.control_valve
            a equipment.vessel {{"tag": "V-1", "design_pressure": "12 barg"}}
            b equipment.vessel {{"tag": "{tag}", "design_pressure": "12 barg"{fields}}}
            RV-1 piping_component.safety_valve {{"set_pressure": "12 barg"}}
            O-1 reference.open_end
            X-1 > PV-1 {{"design_pressure": "40 barg"}}
            PV-1 > a {{"design_pressure": "40 barg"}}
            b > RV-1 {{"design_pressure": "12 barg"}}
            RV-1 > O-1 {{"design_pressure": "12 barg"}}
            "#
        )
    };
    let rows = r#"pressureInterfaces().interfaces | filter(.at.id == "a") | map([.protection | map(.item.id), .certain, .reasons])"#;
    let safeguards = "hazopNodes() | map(.safeguards | map([.item.id, .certain])) | first()";
    for tag in ["V-1", "v1", "V-1 (CONT.)"] {
        let plant = plant(tag, "");
        check(&plant, rows, json!([[["RV-1"], false, ["relief_connection_unknown"]]]));
        check(&plant, safeguards, json!([["RV-1", false]]));
        check(&plant, "reliefList() | map([.relief_path, .certain])", json!([["open", true]]));
    }
    // Other equipment.
    check(&plant("V-2", ""), rows, json!([[[], true, []]]));
    check(&plant("V-2", ""), safeguards, json!([]));
}

#[test]
fn a_relief_device_behind_a_check_valve_of_the_low_equipment_protects_it_while_that_opens() {
    let plant = |check_valve: &str| {
        format!(
            r#"
            X-1 reference.off_page_connector
            PV-1 piping_component.control_valve
            D-1 equipment.vessel {{"design_pressure": "12 barg"}}
            CK-1 piping_component.check_valve
            D-2 equipment.vessel {{"design_pressure": "12 barg"}}
            RV-1 piping_component.safety_valve {{"set_pressure": "12 barg"}}
            O-1 reference.open_end
            X-1 > PV-1 {{"design_pressure": "40 barg"}}
            PV-1 > D-1 {{"design_pressure": "40 barg"}}
            {check_valve}
            D-2 > RV-1
            RV-1 > O-1
            "#
        )
    };
    let rows = r#"pressureInterfaces().interfaces | filter(.at.id == "D-1" and .high == "from") | map([.protection | map(.item.id), .certain, .reasons])"#;
    let low = r#"{"design_pressure": "12 barg"}"#;
    let opens = format!("D-1 > CK-1 {low}\nCK-1 > D-2 {low}");
    check(&plant(&opens), rows, json!([[["RV-1"], false, ["relief_behind_check_valve"]]]));
    let against = format!("CK-1 > D-1 {low}\nD-2 > CK-1 {low}");
    check(&plant(&against), rows, json!([[[], true, []]]));
}

#[test]
fn an_item_of_a_general_class_is_a_relief_device_unless_it_is_called_another_one() {
    let plant = |tag: &str, fields: &str| {
        format!(
            "D-1 equipment.vessel\nO-1 reference.open_end\n{tag} piping_component.item {fields}\nD-1 > {tag}\n{tag} > O-1"
        )
    };
    let list = "reliefList() | map([.tag, .reasons, .certain])";
    for class in ["SafetyValveOrFitting", "CustomSafetyValveOrFitting"] {
        let of = |more: &str| format!(r#"{{"component_class": "{class}"{more}}}"#);
        for tag in ["FA-1", "EFV-1"] {
            check(&plant(tag, &of("")), list, json!([]));
        }
        check(&plant("X-1", &of(r#", "description": "Flame arrester""#)), list, json!([]));
        check(&plant("X-1", &of(r#", "description": "Excess flow valve""#)), list, json!([]));
        check(&plant("PSV-1", &of("")), list, json!([["PSV-1", "", true]]));
        check(&plant("X-1", &of(r#", "description": "Safety valve""#)), list, json!([["X-1", "", true]]));
        check(&plant("X-1", &of("")), list, json!([["X-1", "class_not_stated X-1", false]]));
    }
    let own = r#"{"component_class": "SpringLoadedGlobeSafetyValve"}"#;
    check(&plant("FA-1", own), list, json!([["FA-1", "", true]]));
    let safeguards = "hazopNodes() | map(.safeguards | map([.item.id, .kind])) | flatten()";
    let arrester = r#"{"component_class": "SafetyValveOrFitting"}"#;
    check(&plant("FA-1", arrester), safeguards, json!([["FA-1", "flame_arrester"]]));
}

#[test]
fn the_items_of_a_line_state_its_design_pressure_fluid_class_and_size() {
    let plant = |first: &str, second: &str, line: &str| {
        format!(
            r#"
            D-1 equipment.vessel {{"design_pressure": "16 barg"}}
            V-1 piping_component.gate_valve {{"line": "L-1", "design_pressure": "{first}", "size": 50, "fluid_code": "P", "piping_class": "A1"}}
            V-2 piping_component.gate_valve {{"line": "L-1", "design_pressure": "{second}", "size": 50, "fluid_code": "P", "piping_class": "A1"}}
            D-2 equipment.vessel {{"design_pressure": "7 barg"}}
            D-1 > V-1 {line}
            V-1 > V-2 {line}
            V-2 > D-2 {line}
            "#
        )
    };
    let line = r#"{"line": "L-1"}"#;
    let rows = "pressureInterfaces().interfaces | map([.at.id, .high, .from.pressure, .to.pressure])";
    check(&plant("16 barg", "16 barg", line), rows, json!([["D-2", "from", 16, 7]]));
    let columns = "lineList() | map([.line, .fluid_code, .piping_class, .nominal_diameter])";
    check(&plant("16 barg", "16 barg", line), columns, json!([["L-1", "P", "A1", "50"]]));
    // One item or two that differ state no pressure of the line: the rating of a valve is its own.
    let unknown = "pressureInterfaces().unknown | size() > 0";
    check(&plant("16 barg", "40 barg", line), unknown, json!(true));
    check(&plant("16 barg", "", line), unknown, json!(true));
    // Without the number of the line, what the items at both ends state.
    let between = r#"pressureInterfaces().interfaces | filter(.at.id == "V-1") | map([.from.pressure, .to.pressure])"#;
    check(&plant("16 barg", "16 barg", ""), between, json!([[null, 16]]));
}

#[test]
fn an_instrument_on_equipment_is_in_no_line_of_it() {
    let plant = "
        V-1 equipment.vessel
        N1 equipment_component.nozzle
        O-1 reference.open_end
        LT-1 instrument.level_transmitter
        FT-1 instrument.flow_transmitter
        FE-1 piping_component.orifice_plate
        V-1 has N1
        N1 > FE-1 {\"line\": \"L-1\"}
        FE-1 > O-1 {\"line\": \"L-1\"}
        LT-1 @ V-1
        FT-1 @ FE-1
    ";
    let rows = "instrumentIndex() | map([.tag, .attached_to, .line])";
    check(plant, rows, json!([["LT-1", "V-1", ""], ["FT-1", "FE-1", "L-1"]]));
}

#[test]
fn the_number_of_a_line_may_have_the_letter_of_a_train() {
    let series = "numberingGaps() | .series | map([.first, .last, .missing])";
    let plant =
        |tags: [&str; 2]| tags.map(|tag| format!("{} pipe_system {{\"tag\": \"{tag}\"}}", tag.len())).join("\n");
    for (tags, expected) in [
        (["100-VE-81004A-B1A", "100-VE-81005-B1A"], json!([["81004", "81005", 0]])),
        (["100-VE-81005A-A1", "1000-VE-81007B-A1"], json!([["81005", "81007", 1]])),
        (["4-P-1001A-A1A", "10-P-1002-A1A"], json!([["1001", "1002", 0]])),
        // A piping class of three digits and a letter.
        (["4-P-101-300A", "10-P-102-300A"], json!([["101", "102", 0]])),
    ] {
        check(&plant(tags), series, expected);
    }
}

#[test]
fn a_smaller_branch_of_a_header_needs_no_reducer_whatever_the_unit_of_its_size() {
    let plant = |header: &str, branch: &str, behind: &str| {
        format!(
            r#"T-1 piping_component.pipe_tee
            A reference.open_end
            B reference.open_end
            C reference.open_end
            A > T-1 {{"size": "{header}"}}
            T-1 > B {{"size": "{behind}"}}
            T-1 > C {{"size": "{branch}"}}"#
        )
    };
    let findings = r#"validate({rules: "P104"}) | map(.message)"#;
    for (header, branch) in [("6\\\"", "4\\\""), ("DN150", "DN100"), ("150", "100"), ("1 1/2\\\"", "3/4\\\"")] {
        check(&plant(header, branch, header), findings, json!([]));
    }
    check(&plant("DN150", "DN100", "DN80"), findings, json!(["T-1 joins DN150 and DN80 and DN100"]));
    check(&plant("large", "small", "large"), findings, json!(["T-1 joins large and small"]));
}

#[test]
fn a_stop_from_another_sheet_and_the_end_of_a_relief_path_are_critical() {
    let plant = |signal: &str, label: &str, chamber: &str| {
        format!(
            r#"K-1 equipment.compressor
            D-1 equipment.vessel
            N1 equipment_component.nozzle {{"chamber": "{chamber}"}}
            S-1 reference.off_page_connector {{"service": "from ESD"}}
            RV-1 piping_component.safety_valve
            X-1 reference.off_page_connector {{"cross_page": {{"link_label": "{label}"}}}}
            D-1 has N1
            D-1 > RV-1
            RV-1 > X-1
            {signal}"#
        )
    };
    let ranks = "rankDiff(.0, .1) | map(.significance)";
    let base = plant("S-1 ~ K-1", "FL-2", "shell");
    check_revisions(&base, &plant("", "FL-2", "shell"), ranks, json!(["critical"]));
    check_revisions(&base, &plant("S-1 ~ K-1", "FL-9", "shell"), ranks, json!(["critical"]));
    check_revisions(&base, &plant("S-1 ~ K-1", "FL-2", "tube"), ranks, json!(["high"]));
}

#[test]
fn a_relief_valve_in_a_line_ends_a_section() {
    let plant = |branch: &str| {
        format!(
            r#"V-1 equipment.vessel
            V-2 equipment.vessel
            V-3 equipment.vessel
            V-9 equipment.flare_stack
            T-1 piping_component.pipe_tee
            T-9 piping_component.pipe_tee
            PSV-1 piping_component.safety_valve
            PSV-3 piping_component.safety_valve
            T-1 > PSV-1
            PSV-1 > T-9
            T-9 > V-9
            V-3 > PSV-3
            PSV-3 > T-9
            {branch}"#
        )
    };
    let sections = "hazopNodes() | map([(.from | map(.id)), (.to | map(.id)), (.safeguards | map([.item.id, .acts]))])";
    check(
        &plant("V-1 > T-1\nT-1 > V-2"),
        sections,
        json!([
            [["V-1"], ["PSV-1", "V-2"], [["PSV-1", "boundary"]]],
            [["PSV-1", "PSV-3"], ["V-9"], []],
            [["V-3"], ["PSV-3"], [["PSV-3", "boundary"]]]
        ]),
    );
    // Nor does a blowdown valve join its line to the header.
    let blowdown = "T-2 piping_component.pipe_tee\nBDV-1 piping_component.blowdown_valve\nV-1 > T-1\nT-1 > T-2\nT-2 > V-2\nT-2 > BDV-1\nBDV-1 > T-9";
    let ends = "hazopNodes() | map([(.from | map(.id) | sort()), (.to | map(.id) | sort())])";
    check(
        &plant(blowdown),
        ends,
        json!([[["V-1"], ["BDV-1", "PSV-1", "V-2"]], [["BDV-1", "PSV-1", "PSV-3"], ["V-9"]], [["V-3"], ["PSV-3"]]]),
    );
    // The device protects the vessel at the other end of the section into which it discharges.
    check(
        &plant("V-1 > T-1\nV-1 > T-9"),
        sections,
        json!([
            [["V-1"], ["PSV-1"], [["PSV-1", "boundary"]]],
            [["PSV-1", "PSV-3", "V-1"], ["V-9"], [["PSV-1", "boundary"]]],
            [["V-3"], ["PSV-3"], [["PSV-3", "boundary"]]]
        ]),
    );
    // A device between a vessel and its own way out is in one section.
    let own =
        "V-1 equipment.vessel\nPSV-1 piping_component.safety_valve\nO-1 reference.open_end\nV-1 > PSV-1\nPSV-1 > O-1";
    check(own, sections, json!([[["V-1"], ["O-1"], [["PSV-1", "inside"]]]]));
}

#[test]
fn an_undirected_relief_device_protects_what_is_no_flare() {
    let columns = "reliefList() | map([.protects, .inlet_valves, .discharges_to, .relief_path, .certain])";
    let plant = "V-1 equipment.vessel\nFS-1 equipment.flare_stack\nHV-1 piping_component.gate_valve {\"lock\": \"LO\"}\nPSV-1 piping_component.safety_valve\nV-1 - HV-1\nHV-1 - PSV-1\nPSV-1 - FS-1";
    check(plant, columns, json!([["V-1", "HV-1", "FS-1", "open", false]]));
    // Two vessels: either may be protected.
    let vessels = plant.replace("flare_stack", "vessel");
    check(&vessels, columns, json!([["", "", "", "unknown", false]]));
}

#[test]
fn an_instrument_moves_nothing_at_which_it_measures() {
    let plant = |kind: &str, alarm: &str| {
        format!(
            "T-1 equipment.tank
             HV-1 piping_component.gate_valve
             K-1 equipment.compressor
             TSHH-1 instrument.temperature_switch
             VSHH-2 instrument.vibration_switch
             FSLL-3 instrument.flow_switch
             XV-3 piping_component.shutdown_valve
             TAH-1 instrument.alarm
             T-1 > HV-1
             HV-1 > K-1
             K-1 > XV-3
             TSHH-1 {kind} HV-1
             VSHH-2 {kind} K-1
             FSLL-3 {kind} XV-3
             {alarm}"
        )
    };
    for kind in ["measures", "measuring_line_function", "@"] {
        let drawing = plant(kind, "TSHH-1 ~ TAH-1\nVSHH-2 ~ TAH-1\nFSLL-3 ~ TAH-1");
        check(
            &drawing,
            "causeAndEffect() | [.links, .not_followed, .without_effect | map(.id)]",
            json!([[], [], ["TSHH-1", "VSHH-2", "FSLL-3"]]),
        );
        check(
            &drawing,
            r#"loops() | map([.kind, .final_elements | map(.id), .sensors | map(.id)]) | filter(.0 == "trip")"#,
            json!([["trip", [], ["TSHH-1"]], ["trip", [], ["VSHH-2"]], ["trip", [], ["FSLL-3"]]]),
        );
    }
    // A gauge, too, is a sensor where it measures.
    let gauge =
        "T-1 equipment.tank\nN1 equipment_component.nozzle\nLG-1 instrument.level_gauge\nT-1 has N1\nLG-1 measures N1";
    check(gauge, "loops() | map(.sensors | map(.id))", json!([["LG-1"]]));
}

#[test]
fn impulse_lines_are_no_part_of_the_piping() {
    let plant = |flow: &str, level: &str| {
        format!(
            r#"T-1 equipment.tank
               FE-1 piping_component.orifice_plate
               FV-1 piping_component.control_valve
               T-2 equipment.tank
               FT-1 instrument.flow_transmitter
               FIC-1 instrument.flow_controller
               LT-2 instrument.level_transmitter
               LI-2 instrument.level_indicator
               T-1 > FE-1 {{"line": "L-1", "nominal_diameter": 100, "piping_class": "A1"}}
               FE-1 > FV-1 {{"line": "L-1", "nominal_diameter": 100, "piping_class": "A1"}}
               FV-1 > T-2 {{"line": "L-1", "nominal_diameter": 100, "piping_class": "A1"}}
               {flow}
               FT-1 ~ FIC-1
               FIC-1 ~ FV-1
               {level}
               LT-2 ~ LI-2"#
        )
    };
    let located = plant("FT-1 @ FE-1", "LT-2 @ T-2");
    let impulse = plant("FE-1 impulse_line FT-1", "T-2 impulse_line LT-2");
    for query in [
        "hazopNodes() | map([.lines, .from | map(.id), .instruments | map(.id)])",
        "materialList() | map([.kind, .class, .nominal_diameter, .count])",
        "corrosionCircuits() | map([.lines, .unknown])",
    ] {
        assert_eq!(evaluate(&document(&impulse), query), evaluate(&document(&located), query), "{query}");
    }
}

#[test]
fn logic_and_starters_have_no_measured_variable() {
    for (tag, class, variable) in [
        ("I-1", "instrument.interlock", json!(null)),
        ("MCC-1", "instrument.motor_starter", json!(null)),
        ("PLC-1", "instrument.plc", json!(null)),
        ("FGS-1", "instrument.fgs", json!(null)),
        ("II-1", "instrument.current_indicator", json!("current")),
        ("PZ-1", "instrument.protection_function", json!("pressure")),
        ("LSHH-1", "instrument.interlock", json!("level")),
        ("PT-1", "instrument.pt", json!("pressure")),
    ] {
        check(&format!("{tag} {class}"), "instrumentIndex() | map(.variable)", json!([variable]));
    }
}

#[test]
fn a_relief_line_to_the_air_is_open_whatever_measures_at_it() {
    for gauge in ["", "PI-1 @ PSE-1", "PI-1 @ PSV-1", "PI-1 @ TEE-2"] {
        let drawing = format!(
            "R-1 equipment.vessel
             TEE-1 piping_component.pipe_tee
             PSE-1 piping_component.rupture_disc
             TEE-2 piping_component.pipe_tee
             PSV-1 piping_component.safety_valve
             OE-1 reference.open_end
             PI-1 instrument.pressure_gauge
             R-1 > TEE-1
             TEE-1 > PSE-1
             PSE-1 > TEE-2
             TEE-2 > PSV-1
             PSV-1 > OE-1
             {gauge}"
        );
        check(&drawing, "deadEnds() | map(.class)", json!(["open"]));
    }
}

#[test]
fn another_word_or_unit_for_the_same_state_is_no_significant_change() {
    for (class, field, before, after, significance) in [
        ("control_valve", "fail_action", "FC", "closed", "low"),
        ("control_valve", "fail_action", "fail_closed", "FC", "low"),
        ("control_valve", "fail_action", "FC", "FO", "critical"),
        ("control_valve", "fail_action", "?", "FI", "critical"),
        ("gate_valve", "normal_position", "NC", "closed", "low"),
        ("gate_valve", "normal_position", "NC", "NO", "high"),
        ("gate_valve", "normal_position", "NC", "LC", "high"),
        ("safety_valve", "set_pressure", "16 barg", "1.6 MPag", "low"),
        ("safety_valve", "set_pressure", "16 barg", "16 bara", "critical"),
        ("safety_valve", "set_pressure", "16 barg", "1.61 MPag", "critical"),
        ("safety_valve", "set_pressure", "16", "1.6", "critical"),
        ("gate_valve", "design_temperature", "120 °C", "248 °F", "low"),
        ("gate_valve", "design_temperature", "120 °C", "121 °C", "high"),
    ] {
        let revision = |value: &str| {
            format!("T-1 equipment.tank\nX-1 piping_component.{class} {}\nT-1 > X-1", json!({field: value}))
        };
        let query = "rankDiff(.0, .1) | map(.significance)";
        check_revisions(&revision(before), &revision(after), query, json!([significance]));
    }
}

#[test]
fn a_change_of_a_capacity_or_of_a_set_point_in_a_text_is_significant() {
    let plant = |valve: &Value, alarm: &Value, trip: &Value| {
        format!(
            "T-1 equipment.tank
             LV-1 piping_component.control_valve {valve}
             LAHH-5 instrument.level_alarm {alarm}
             LT-6 instrument.level_transmitter
             LSHH-6 instrument.level_switch {trip}
             XV-6 piping_component.shutdown_valve
             T-1 > LV-1
             LV-1 > XV-6
             LAHH-5 @ T-1
             LT-6 @ T-1
             LT-6 ~ LSHH-6
             LSHH-6 ~ XV-6"
        )
    };
    let none = json!({});
    let rows = "rankDiff(.0, .1) | map([.significance, .reason])";
    let text = |text: &str| json!({"description": text});
    for (before, after, expected) in [
        (
            plant(&json!({"cv": 20}), &none, &none),
            plant(&json!({"cv": 80}), &none, &none),
            json!([["high", "capacity of a control valve or a restriction changed"]]),
        ),
        (
            plant(&none, &text("SP 85 %"), &none),
            plant(&none, &text("SP 95 %"), &none),
            json!([["medium", "setting of an instrument changed"]]),
        ),
        (
            plant(&none, &json!({"SP": "85 %"}), &none),
            plant(&none, &json!({"SP": "95 %"}), &none),
            json!([["medium", "setting of an instrument changed"]]),
        ),
        (
            plant(&none, &none, &text("trip setting 85 %")),
            plant(&none, &none, &text("trip setting 95 %")),
            json!([["critical", "setting of a trip changed"]]),
        ),
        (
            plant(&none, &text("high level"), &none),
            plant(&none, &text("level high"), &none),
            json!([["low", "field changed"]]),
        ),
    ] {
        check_revisions(&before, &after, rows, expected);
    }
    check(
        &plant(&none, &text("SP 85 %"), &none),
        r#"instrumentIndex() | filter(.tag == "LAHH-5") | map(.set_point)"#,
        json!(["85 %"]),
    );
}

#[test]
fn the_zero_of_a_unit_in_brackets_is_no_remark() {
    for text in [
        "SHELL 10 barg / TUBE 60 barg",
        "MANTEL 10 bar(ü) / ROHR 60 bar(ü)",
        "shell 10 bar (g) / tube 60 bar (g)",
        "Shell 10 barg (at 200 °C) / Tube 60 barg (at 50 °C)",
    ] {
        let drawing = format!(
            r#"E-1 equipment.heat_exchanger {{"design_pressure": "{text}"}}
               S1 equipment_component.nozzle {{"zone": "shell"}}
               T1 equipment_component.nozzle {{"zone": "tube"}}
               V-1 equipment.vessel {{"design_pressure": "10 barg"}}
               V-2 equipment.vessel {{"design_pressure": "60 barg"}}
               E-1 has S1
               E-1 has T1
               V-1 > S1 {{"design_pressure": "10 barg"}}
               V-2 > T1 {{"design_pressure": "60 barg"}}"#
        );
        check(&drawing, "pressureInterfaces().interfaces", json!([]));
    }
}

#[test]
fn what_others_supply_or_is_to_be_removed_is_no_ordinary_material() {
    for (text, status) in [
        ("by others", json!("by_others")),
        ("vendor scope", json!("by_others")),
        ("package scope", json!("by_others")),
        ("by client", json!("by_others")),
        ("not in contract", json!("by_others")),
        ("hors fourniture", json!("by_others")),
        ("nicht im Lieferumfang", json!("by_others")),
        ("to be demolished", json!("unknown_status")),
        ("demolition", json!("unknown_status")),
        ("à démonter", json!("unknown_status")),
        ("a desmontar", json!("unknown_status")),
        ("scope of supply", json!(null)),
    ] {
        let drawing = format!(r#"HV-1 piping_component.gate_valve {{"remarks": "{text}"}}"#);
        check(&drawing, "materialList() | map(.status)", json!([status]));
    }
}

/// Drawing in which one interlock is shown at its cause and at each of its effects.
const SYMBOLS: &str = r#"
    T-1 equipment.tank
    XV-1 piping_component.shutdown_valve {"fail_action": "FC"}
    V-1 equipment.vessel
    P-1 equipment.pump
    PSHH-1 instrument.pressure_switch
    a instrument.interlock {"tag": "I-101"}
    b instrument.interlock {"tag": "I-101"}
    c instrument.interlock {"tag": "I-101"}
    d instrument.interlock {"tag": "I-102"}
    T-1 > XV-1
    XV-1 > V-1
    V-1 > P-1
    PSHH-1 @ V-1
    PSHH-1 ~ a
    b ~ XV-1
    c ~ P-1"#;

#[test]
fn the_symbols_of_an_interlock_with_one_number_are_one_interlock() {
    let matrix = json!([{"initiator": "PSHH-1", "XV-1": "X", "P-1": "X"}]);
    check(
        SYMBOLS,
        "causeAndEffect() | [.matrix, .not_followed, .without_effect, .without_cause]",
        json!([matrix, [], [], []]),
    );
    let trip = r#"loops() | filter(.final_elements != []) | map([.closed, .certain, .sensors | map(.id), .final_elements | map(.id)])"#;
    check(SYMBOLS, trip, json!([[true, true, ["PSHH-1"], ["XV-1", "P-1"]]]));
    let safeguards = "hazopNodes() | map(.safeguards | map([.kind, .certain]))";
    check(SYMBOLS, safeguards, json!([[["shutdown_valve", true], ["trip", true]], [["trip", true]]]));
    // Another number is another interlock.
    let other = SYMBOLS.replace("b ~ XV-1", "d ~ XV-1");
    check(
        &other,
        "causeAndEffect() | [.matrix, .without_cause | map(.id)]",
        json!([
            [{"initiator": "PSHH-1", "P-1": "X"}],
            ["XV-1"]
        ]),
    );
}

#[test]
fn the_switches_of_a_transmitter_with_different_effects_are_causes_of_their_own() {
    let plant = |signals: &str| {
        format!(
            "T-1 equipment.tank
             XV-1 piping_component.shutdown_valve
             V-1 equipment.vessel
             XV-2 piping_component.shutdown_valve
             P-1 equipment.pump
             LT-1 instrument.level_transmitter
             LSHH-1 instrument.level_switch
             LSLL-1 instrument.level_switch
             LAH-1 instrument.level_alarm
             LIC-1 instrument.level_controller
             I-1 instrument.interlock
             T-1 > XV-1
             XV-1 > V-1
             V-1 > XV-2
             XV-2 > P-1
             LT-1 @ V-1
             LT-1 ~ LSHH-1
             LT-1 ~ LSLL-1
             LT-1 ~ LAH-1
             {signals}"
        )
    };
    let matrix = "causeAndEffect().matrix";
    check(
        &plant("LSHH-1 ~ XV-1\nLSLL-1 ~ XV-2\nLSLL-1 ~ P-1"),
        matrix,
        json!([
            {"initiator": "LT-1 (LSHH-1)", "XV-1": "X", "XV-2": "", "P-1": ""},
            {"initiator": "LT-1 (LSLL-1)", "XV-1": "", "XV-2": "X", "P-1": "X"}
        ]),
    );
    check(
        &plant("LSHH-1 ~ XV-1\nLSLL-1 ~ XV-1\nLSLL-1 ~ P-1"),
        matrix,
        json!([
            {"initiator": "LT-1 (LSHH-1)", "XV-1": "X", "P-1": ""},
            {"initiator": "LT-1 (LSLL-1)", "XV-1": "X", "P-1": "X"}
        ]),
    );
    // The same effects, or only one switch with any: one row.
    check(&plant("LSHH-1 ~ I-1\nLSLL-1 ~ I-1\nI-1 ~ XV-1"), matrix, json!([{"initiator": "LT-1", "XV-1": "X"}]));
    check(&plant("LSHH-1 ~ XV-1"), matrix, json!([{"initiator": "LT-1", "XV-1": "X"}]));
    let links = "causeAndEffect().links | map([.initiator.id, .trip_item.id, .final_element.id])";
    check(&plant("LSHH-1 ~ XV-1\nLSLL-1 ~ P-1"), links, json!([["LT-1", "LSHH-1", "XV-1"], ["LT-1", "LSLL-1", "P-1"]]));
}

#[test]
fn a_gauge_at_a_rupture_disc_is_no_outlet_of_it() {
    let drawing = "R-1 equipment.vessel
        PSE-1 piping_component.rupture_disc
        TEE-1 piping_component.pipe_tee
        PSV-1 piping_component.safety_valve
        OE-1 reference.open_end
        PI-1 instrument.pressure_gauge
        R-1 > PSE-1
        PSE-1 > TEE-1
        TEE-1 > PSV-1
        PSV-1 > OE-1
        PSE-1 impulse_line PI-1";
    check(
        drawing,
        "reliefList() | map([.tag, .relief_path, .certain])",
        json!([["PSE-1", "open", true], ["PSV-1", "open", true]]),
    );
}

#[test]
fn one_size_in_several_spellings_is_one_row_of_material() {
    let sizes = [json!(50), json!("DN50"), json!("DN 50"), json!("50 mm"), json!("2\""), json!("2 in")];
    let valves = sizes.iter().enumerate();
    let valves: Vec<String> = valves
        .map(|(at, size)| format!("HV-{at} piping_component.gate_valve {}", json!({"nominal_diameter": size})))
        .collect();
    check(&valves.join("\n"), "materialList() | map([.nominal_diameter, .count])", json!([[50, 6]]));
}

#[test]
fn a_valve_list_has_positions_that_a_label_states() {
    for (label, position) in [
        ("NC", json!("NC")),
        ("HV-1 NC", json!("NC")),
        ("normally closed", json!("normally closed")),
        ("HV-1", json!(null)),
    ] {
        let drawing =
            format!("T-1 equipment.tank\nHV-1 piping_component.gate_valve {}\nT-1 > HV-1", json!({"label": label}));
        check(&drawing, "valveList() | map(.normal_position)", json!([position]));
    }
}
