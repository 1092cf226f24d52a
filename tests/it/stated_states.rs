//! States of items in the spellings and places of many exporters: position, lock, status, removal.

use pidq::{Graph, Limits, Query, Scratch};
use serde_json::{Map, Value, json};

use crate::answers::answer_of;

/// Returns a tank, a gate valve and a vessel in a line, the valve with further fields; `V-1` is the only barrier.
fn plant(fields: &Value) -> String {
    let mut valve = json!({"id": "V-1", "class": "gate_valve"}).as_object().cloned().unwrap_or_default();
    valve.extend(fields.as_object().cloned().unwrap_or_default());
    let nodes = json!([{"id": "T-1", "class": "tank"}, valve, {"id": "P-1", "class": "vessel"}]);
    let edges = json!([{"id": "e1", "from": "T-1", "to": "V-1"}, {"id": "e2", "from": "V-1", "to": "P-1"}]);
    json!({"nodes": nodes, "edges": edges}).to_string()
}

/// Spellings of a name of two words or one.
fn spellings(name: &str) -> Vec<String> {
    let words: Vec<&str> = name.split('_').collect();
    let title = |word: &str| word[..1].to_uppercase() + &word[1..];
    let titles: Vec<String> = words.iter().map(|word| title(word)).collect();
    let camel = words[0].to_owned() + &titles[1..].concat();
    [name.into(), words.join(" "), words.join("-"), titles.join(" "), titles.join("_"), titles.concat(), camel]
        .into_iter()
        .chain([name.to_uppercase(), titles.concat() + "AssignmentClass"])
        .collect()
}

/// Returns fields that state a value under a name, in each place where exporters write it.
fn places(name: &str, value: &Value) -> Vec<Value> {
    let object = |name: &str, value: Value| Value::Object(Map::from_iter([(name.into(), value)]));
    vec![
        object(name, value.clone()),
        object(name, json!({ "value": value })),
        json!({"attributes": object(name, value.clone())}),
        json!({"attributes": object(name, json!({ "value": value }))}),
        json!({"attributes": [{"name": name, "value": value}]}),
        json!({"attributes": [{"Name": name, "Value": value}]}),
        json!({"attributes": [{"set": "Life cycle", "attributes": [{"name": name, "value": value}]}]}),
        json!({"attributes": {"Life cycle": object(name, value.clone())}}),
        json!({"attributes": {"Life cycle": [{"name": name, "value": value}]}}),
        json!({"genericAttributes": [{"name": name, "value": value}]}),
        json!({"properties": object(name, value.clone())}),
        json!({"lifecycle": object(name, value.clone())}),
    ]
}

#[test]
fn an_item_that_is_removed_is_no_barrier_wherever_the_drawing_says_so() {
    for name in ["status", "lifecycle_status", "life_cycle_status", "construction_status"] {
        for spelling in spellings(name) {
            for value in ["demolished", "Demolished", "REMOVED", " removed ", "Not Installed", "future", "VOID"] {
                for fields in places(&spelling, &json!(value)) {
                    let found = answer_of(&plant(&fields), r#"isolate("P-1") | [(.barriers | size()), .certain]"#);
                    assert_eq!(found, json!([0, false]), "{fields}");
                }
            }
        }
    }
    for (name, value) in [
        ("removed", true),
        ("is_demolished", true),
        ("deleted", true),
        ("future", true),
        ("is_planned", true),
        ("installed", false),
        ("exists", false),
        ("is_present", false),
        ("active", false),
        ("in_service", false),
    ] {
        for fields in places(name, &json!(value)) {
            assert_eq!(answer_of(&plant(&fields), r#"isolate("P-1").barriers | size()"#), json!(0), "{fields}");
        }
    }
}

#[test]
fn a_status_that_is_not_known_makes_a_barrier_uncertain_wherever_it_stands() {
    for fields in places("Status", &json!("to be demolished")) {
        let query = r#"isolate("P-1") | [(.barriers | size()), .certain, (.uncertain | map(.reason) | uniq())]"#;
        assert_eq!(answer_of(&plant(&fields), query), json!([1, false, ["unknown_status"]]), "{fields}");
    }
    for fields in places("Status", &json!("In Service")) {
        assert_eq!(answer_of(&plant(&fields), r#"isolate("P-1").certain"#), json!(true), "{fields}");
    }
}

#[test]
fn a_phase_or_a_life_cycle_in_one_word_is_a_status() {
    let judged = |fields: &Value| answer_of(&plant(fields), r#"isolate("P-1") | [(.barriers | size()), .certain]"#);
    for name in ["lifecycle", "life_cycle", "phase", "project_phase", "construction_phase", "project_status"] {
        for spelling in spellings(name) {
            for value in ["future", "Planned", "DEMOLISHED", "phase 3 (future)"] {
                assert_eq!(judged(&json!({ &spelling: value })), json!([0, false]), "{spelling} {value}");
            }
            for value in ["phase 2", "2", "II", "early works", "phase 1 and 2"] {
                assert_eq!(judged(&json!({ &spelling: value })), json!([1, false]), "{spelling} {value}");
            }
            for value in ["existing", "As built", "liquid", "Gas / liquid", "two-phase", "V", "Phase 1", "PHASE I"] {
                assert_eq!(judged(&json!({ &spelling: value })), json!([1, true]), "{spelling} {value}");
            }
        }
        for fields in places(name, &json!("future")) {
            assert_eq!(judged(&fields), json!([0, false]), "{fields}");
        }
        assert_eq!(judged(&json!({ name: 2 })), json!([1, false]), "{name}");
        let is_phase = name.ends_with("phase");
        for value in [json!(1), json!("1"), json!("I")] {
            assert_eq!(judged(&json!({ name: value })), json!([1, is_phase]), "{name} {value}");
        }
        assert_eq!(judged(&json!({ name: {"owner": "A"} })), json!([1, true]), "{name}");
    }
    // A number in a field for something else.
    for fields in [json!({"area": "2", "unit": "1"}), json!({"phase": "1", "area": 12, "unit": "U2"})] {
        assert_eq!(judged(&fields), json!([1, true]), "{fields}");
    }
    assert_eq!(judged(&json!({"phase": "1", "status": "1"})), json!([1, false]));
    // What else says nothing is passed, and said.
    let walk = |fields: &Value| {
        let graph = Graph::from_json(plant(fields)).expect("JSON");
        let (query, scratch) = (Query::parse(r#"downstream("T-1") | map(.id)"#).expect("a query"), Scratch::default());
        let outcome = query.run(&graph, &scratch, Limits::default()).expect("a result");
        outcome.warnings.iter().map(|warning| warning.message.clone()).collect::<Vec<String>>()
    };
    assert!(walk(&json!({"phase": "phase 2"}))[0].contains("unknown_status"));
    assert!(walk(&json!({"lifecycle": "future"}))[0].contains("not_installed"));
    assert_eq!(walk(&json!({"phase": "liquid"})), Vec::<String>::new());
}

#[test]
fn what_a_project_builds_modifies_or_keeps_is_there() {
    let mut pipe: Value = serde_json::from_str(&plant(&json!({}))).expect("JSON");
    let mut judged = |status: &str| {
        pipe["edges"][1]["ConstructionStatus"] = json!(status);
        let of_valve = plant(&json!({"ConstructionStatus": status}));
        let query = r#"isolate("P-1") | [(.barriers | size()), (.uncertain | map(.reason) | uniq())]"#;
        [answer_of(&of_valve, query), answer_of(&pipe.to_string(), query)]
    };
    for status in [
        "New",
        "NEW",
        "Existing",
        "As Built",
        "AsBuilt",
        "as-built",
        "Modified",
        "Relocated",
        "Current",
        "Active",
        "Existing / Modified",
        "new, modified",
        "Existing to remain",
        "To be modified",
        "Unchanged",
        "No change",
        "Retained",
        "Re-used",
        "Reused",
        // An empty cell of a table.
        "-",
        "N/A",
        "nan",
    ] {
        // A hyphen separates words: `Re-used` is in no list.
        let expected = if status == "Re-used" { json!([1, ["unknown_status"]]) } else { json!([1, []]) };
        assert_eq!(judged(status), [expected.clone(), expected], "{status}");
    }
    for status in [
        "To be relocated",
        "New, to be removed",
        "Existing for demolition",
        "On hold",
        "Abandoned",
        "not new",
        "renewed",
        "?",
    ] {
        let expected = json!([1, ["unknown_status"]]);
        assert_eq!(judged(status), [expected.clone(), expected], "{status}");
    }
    for status in ["New (future)", "Existing, removed", "to be built", "for future use"] {
        let [valve, pipe] = judged(status);
        assert_eq!((valve[0].clone(), pipe[1].clone()), (json!(0), json!(["not_installed"])), "{status}");
    }
}

#[test]
fn positions_and_locks_are_read_in_every_spelling() {
    let is_closed = |fields: &Value| answer_of(&plant(fields), r#"isolate("P-1").barriers | map([.closed, .action])"#);
    for spelling in spellings("normal_position") {
        for fields in places(&spelling, &json!("Closed")) {
            assert_eq!(is_closed(&fields), json!([[true, "check_closed"]]), "{fields}");
        }
    }
    for spelling in spellings("lock_status") {
        for fields in places(&spelling, &json!("Locked Open")) {
            let lock = answer_of(&plant(&fields), r#"isolate("P-1").barriers | map(.lock)"#);
            assert_eq!(lock, json!(["Locked Open"]), "{fields}");
        }
    }
}

#[test]
fn fields_of_the_graphics_of_an_item_state_nothing() {
    for fields in [
        json!({"geometry": {"position": "closed", "locked": true}}),
        json!({"layer": {"status": "deleted", "state": "closed"}}),
        json!({"position": {"x": 1, "y": 2}}),
        json!({"status": null}),
        json!({"status": " "}),
    ] {
        let query = r#"isolate("P-1") | [(.barriers | map(.closed)), .certain]"#;
        assert_eq!(answer_of(&plant(&fields), query), json!([[false], true]), "{fields}");
    }
}

#[test]
fn a_drive_makes_a_valve_no_hand_valve_wherever_the_drawing_names_it() {
    let barriers = |fields: &Value| answer_of(&plant(fields), r#"isolate("P-1").barriers | size()"#);
    for name in ["operation_type", "operator", "actuator_type"] {
        for spelling in spellings(name) {
            for fields in places(&spelling, &json!("Pneumatic")) {
                assert_eq!(barriers(&fields), json!(0), "{fields}");
            }
            for fields in places(&spelling, &json!("Hand Wheel")) {
                assert_eq!(barriers(&fields), json!(1), "{fields}");
            }
        }
    }
    for name in ["operation", "operator", "actuator", "drive_type", "operated_by"] {
        for (value, expected) in [("Electric Motor", 0), ("solenoid", 0), ("Manual", 1), ("none", 1)] {
            assert_eq!(barriers(&json!({ name: value })), json!(expected), "{name} {value}");
        }
    }
    for name in ["operation", "actuator"] {
        for (value, expected) in [(1, 0), (0, 1)] {
            assert_eq!(barriers(&json!({ name: value })), json!(expected), "{name} {value}");
        }
    }
    for spelling in spellings("fail_position") {
        for fields in places(&spelling, &json!("FC")) {
            assert_eq!(barriers(&fields), json!(0), "{fields}");
        }
    }
}

#[test]
fn remarks_that_an_item_is_not_there_are_read_in_every_spelling() {
    let judged = |fields: &Value| answer_of(&plant(fields), r#"isolate("P-1") | [(.barriers | size()), .certain]"#);
    for spelling in spellings("remarks") {
        for fields in places(&spelling, &json!("Future")) {
            assert_eq!(judged(&fields), json!([0, false]), "{fields}");
        }
        for fields in places(&spelling, &json!("to be removed in 2031")) {
            assert_eq!(judged(&fields), json!([1, false]), "{fields}");
        }
        for fields in places(&spelling, &json!("see detail A")) {
            assert_eq!(judged(&fields), json!([1, true]), "{fields}");
        }
    }
}

#[test]
fn a_pipe_that_is_not_there_or_closed_separates_nothing_and_makes_an_isolation_uncertain() {
    let document = |fields: &Value| {
        let mut document: Value = serde_json::from_str(&plant(&json!({}))).expect("JSON");
        let edge = document["edges"][1].as_object_mut().expect("a pipe");
        edge.extend(fields.as_object().cloned().unwrap_or_default());
        document.to_string()
    };
    let query = r#"isolate("P-1") | [.isolated, (.barriers | map(.node.id)), (.uncertain | map([.reason, .edge.id]))]"#;
    for (status, reason) in [
        ("removed", "not_installed"),
        ("Future", "not_installed"),
        ("to be demolished", "unknown_status"),
        ("mothballed", "unknown_status"),
        ("blanked", "closed_pipe"),
        ("BLINDED", "closed_pipe"),
        ("closed", "closed_pipe"),
    ] {
        for fields in places("Status", &json!(status)) {
            let expected = json!(["unknown", ["V-1"], [[reason, "e2"]]]);
            assert_eq!(answer_of(&document(&fields), query), expected, "{fields}");
        }
    }
    for (name, value) in [("is_closed", json!(true)), ("Blinded", json!("yes")), ("normal_position", json!("NC"))] {
        for fields in places(name, &value) {
            let expected = json!(["unknown", ["V-1"], [["closed_pipe", "e2"]]]);
            assert_eq!(answer_of(&document(&fields), query), expected, "{fields}");
        }
    }
    for fields in [json!({}), json!({"status": "existing"}), json!({"closed": false}), json!({"state": "open"})] {
        assert_eq!(answer_of(&document(&fields), query), json!(["yes", ["V-1"], []]), "{fields}");
    }
    // Outside the barriers, the state of a pipe does not matter.
    let outside = answer_of(&document(&json!({"status": "removed"})), r#"isolate("T-1") | .isolated"#);
    assert_eq!(outside, json!("yes"));
}

#[test]
fn a_pipe_of_a_line_that_is_removed_is_not_there_whether_it_names_the_line_by_id_or_by_tag() {
    for name in ["line-7", "P-1005"] {
        let mut document: Value = serde_json::from_str(&plant(&json!({}))).expect("JSON");
        let line =
            json!({"id": "line-7", "tag": "P-1005", "node_type": "piping_network_system", "status": "Demolished"});
        document["nodes"].as_array_mut().expect("nodes").push(line);
        document["edges"][1]["line"] = json!(name);
        let found = answer_of(&document.to_string(), r#"isolate("P-1") | .uncertain | map([.reason, .edge.id])"#);
        assert_eq!(found, json!([["not_installed", "e2"]]), "{name}");
    }
}

#[test]
fn a_pipe_of_one_of_several_lines_with_a_tag_is_uncertain_in_either_order() {
    let lines = |states: [&str; 2]| {
        let mut document: Value = serde_json::from_str(&plant(&json!({}))).expect("JSON");
        for (at, status) in states.iter().enumerate() {
            let line = json!({"id": format!("line-{at}"), "tag": "L-9", "node_type": "pipe_system", "status": status});
            document["nodes"].as_array_mut().expect("nodes").push(line);
        }
        document["edges"][1]["line"] = json!("l-9");
        answer_of(&document.to_string(), r#"isolate("P-1").uncertain | map([.reason, .edge.id])"#)
    };
    for states in [["existing", "blanked"], ["blanked", "existing"]] {
        assert_eq!(lines(states), json!([["unknown_status", "e2"]]), "{states:?}");
    }
    assert_eq!(lines(["blanked", "blanked"]), json!([["closed_pipe", "e2"]]));
    assert_eq!(lines(["existing", "existing"]), json!([]));
}

#[test]
fn an_inventory_section_with_a_pipe_that_is_not_there_is_not_certain() {
    let sections = |status: &str| {
        let nodes = json!([
            {"id": "X-1", "class": "off_page_connector"}, {"id": "ESDV-1", "class": "shutdown_valve"},
            {"id": "T-1", "class": "tank"}, {"id": "P-1", "class": "pump"}
        ]);
        let edges = json!([
            {"id": "e1", "from": "X-1", "to": "ESDV-1"}, {"id": "e2", "from": "ESDV-1", "to": "T-1", "status": status},
            {"id": "e3", "from": "T-1", "to": "P-1", "status": status}
        ]);
        let document = json!({"nodes": nodes, "edges": edges}).to_string();
        let query =
            "inventorySections() | map([.equipment | map(.id), .certain, .uncertain | map([.reason, .edge.id])])";
        answer_of(&document, query)[1].clone()
    };
    assert_eq!(sections("existing"), json!([["T-1", "P-1"], true, []]));
    let expected = json!([["T-1", "P-1"], false, [["not_installed", "e2"], ["not_installed", "e3"]]]);
    assert_eq!(sections("planned"), expected);
    assert_eq!(sections("blanked")[2], json!([["closed_pipe", "e2"], ["closed_pipe", "e3"]]));
}

#[test]
fn a_valve_with_a_tag_of_an_actuated_one_may_be_closed_in_an_emergency_however_it_is_written() {
    let sections = |tag: &str| {
        let nodes = json!([
            {"id": "X-1", "class": "off_page_connector"}, {"id": "V", "tag": tag, "class": "ball_valve"},
            {"id": "T-1", "class": "tank"}, {"id": "ESDV-9", "class": "shutdown_valve"}, {"id": "P-1", "class": "pump"}
        ]);
        let edges = json!([{"from": "X-1", "to": "V"}, {"from": "V", "to": "T-1"}, {"from": "T-1", "to": "ESDV-9"},
            {"from": "ESDV-9", "to": "P-1"}]);
        let document = json!({"nodes": nodes, "edges": edges}).to_string();
        let query = r#"inventorySections() | filter((.equipment | size()) > 0)
            | [.0.esd_valves | map(.id), .0.uncertain | map(.reason)]"#;
        answer_of(&document, query)
    };
    for tag in ["ESDV-1", "ESD-V-1", "20-ESD-V-101A", "20-ESDV-101A", "20-SD-V-7"] {
        assert_eq!(sections(tag), json!([["V", "ESDV-9"], []]), "{tag}");
    }
    let possible = json!([["ESDV-9"], ["possible_esd_valve", "off_page_connector"]]);
    for tag in ["XV-1", "20-XV-101", "XY-1", "U2-FV-101", "ESD-HV-101", "20-FV-101A"] {
        let [found, expected] = [sections(tag), possible.clone()].map(|found| {
            let mut reasons: Vec<String> = found[1].as_array().into_iter().flatten().map(Value::to_string).collect();
            reasons.sort();
            (found[0].clone(), reasons)
        });
        assert_eq!(found, expected, "{tag}");
    }
    assert_eq!(sections("HV-101")[1], json!(["off_page_connector"]));
}

/// Judges an isolation of the vessel behind a valve with further fields.
fn judged(fields: &Value) -> Value {
    answer_of(&plant(fields), r#"isolate("P-1") | [.isolated, (.uncertain | map(.reason) | uniq())]"#)
}

#[test]
fn words_that_a_valve_is_not_there_are_read_in_its_label_and_description() {
    for name in ["description", "label", "remarks", "note"] {
        for text in ["removed", "(Demolished)", "not installed", "not inst.", "FUTURE.", "ausgebaut"] {
            assert_eq!(judged(&json!({ name: text })), json!(["no", ["not_installed"]]), "{name} {text}");
        }
        for text in [
            "internals removed",
            "to be removed in phase 2",
            "by others in phase 2",
            "gate valve (removed)",
            "not yet installed",
            "by ph. 2",
            "not in use",
            "spool removed, see downstream",
            "to be installed in phase 2",
        ] {
            assert_eq!(judged(&json!({ name: text })), json!(["unknown", ["unknown_status"]]), "{name} {text}");
        }
        for text in ["disc drilled", "body only", "passing"] {
            assert_eq!(judged(&json!({ name: text })), json!(["unknown", ["not_tight"]]), "{name} {text}");
        }
        for text in [
            "gate valve, full bore",
            "replaced gasket",
            "two-way",
            "flange drilled to PN16",
            "old tag HV-2 deleted",
            "isolation valve for future tie-in",
            "to be installed by contractor",
        ] {
            assert_eq!(judged(&json!({ name: text })), json!(["yes", []]), "{name} {text}");
        }
    }
    for name in ["description", "remarks"] {
        assert_eq!(judged(&json!({ name: "valve replaced by spool" }))[0], json!("unknown"), "{name}");
        assert_eq!(judged(&json!({ name: "check weekly" })), json!(["yes", []]), "{name}");
    }
    // The class of a valve that is not there is that of no hand valve.
    assert_eq!(judged(&json!({"sub_class": "removed"})), json!(["no", ["contradictory_class"]]));
    let long = "see note 4 ".repeat(40) + "removed";
    assert_eq!(judged(&json!({ "remarks": long })), json!(["unknown", ["unknown_status"]]));
}

#[test]
fn a_text_of_a_barrier_that_no_rule_reads_makes_the_answer_uncertain() {
    for text in [
        "spindle snapped",
        "hand wheel is a sham",
        "see note 4",
        "NOTE 12",
        "Stellungsanzeige prüfen",
        "waiting on spare seats",
        "plumbers took the wedge",
    ] {
        assert_eq!(judged(&json!({ "remarks": text })), json!(["unknown", ["unread_text"]]), "{text}");
        assert_eq!(judged(&json!({"attributes": [{"name": "Remark", "value": text}]}))[0], json!("unknown"), "{text}");
    }
    for text in [
        "gate valve, disc bored",
        "gate valve (note 3)",
        "gate valve?",
        "may not seal against reverse flow",
        "isolation valve until unit 300 is tied in",
        "temporary valve for commissioning",
        "gate valve, wedge gone",
        "Absperrschieber, nicht gangbar",
        "valve kept ajar",
        "unit 2 block valve, severed",
        "mechanically interlocked with HV-2, one always open",
        "linked with HV-2",
    ] {
        for name in ["description", "label", "remarks", "title"] {
            assert_eq!(judged(&json!({ name: text }))[0], json!("unknown"), "{name} {text}");
        }
    }
    for kind in ["mixproof", "fusible", "dump"] {
        for name in ["sub_class", "valve_type", "Type of valve"] {
            assert_ne!(judged(&json!({ name: kind }))[0], json!("yes"), "{name} {kind}");
        }
    }
}

#[test]
fn plain_texts_of_a_barrier_leave_the_answer_certain() {
    for text in [
        "Handwheel extension by vendor",
        "Used for P-101 maintenance",
        "Bolted bonnet, rising stem, carbon steel, class 300 RF",
        "To be located at grade, accessible from platform",
        "Min. distance 500 mm",
        "By others",
        "DN 80 PN 16 EN 1092-1",
        "for maintenance only",
        "Rev. 2",
        "fire safe to API 607",
        "steam traced and insulated",
        "Valve No. 12",
        "N.C.",
        "-",
        "n/a",
    ] {
        for name in ["description", "remarks"] {
            assert_eq!(judged(&json!({ name: text })), json!(["yes", []]), "{name} {text}");
        }
    }
    for kind in ["ball valve, full bore", "Gate Valve, wedge, 150 lb", "GLOBE", "manual"] {
        assert_eq!(judged(&json!({ "valve_type": kind })), json!(["yes", []]), "{kind}");
    }
    for text in ["Feed water pump suction", "Benzolkolonne Zulauf", "Kerosene rundown to Tankfarm", "P-101 A/B suction"]
    {
        assert_eq!(judged(&json!({ "description": text })), json!(["yes", []]), "{text}");
    }
}

#[test]
fn a_second_barrier_and_a_bleed_with_an_unread_text_prove_nothing() {
    let plan = |fields: [Value; 2]| {
        let with = |id: &str, fields: &Value| {
            let mut valve = json!({"id": id, "class": "gate_valve"}).as_object().cloned().unwrap_or_default();
            valve.extend(fields.as_object().cloned().unwrap_or_default());
            Value::Object(valve)
        };
        let [second, bleed] = fields;
        let document = json!({
            "nodes": [{"id": "T-1", "class": "tank"}, with("V-2", &second), {"id": "J", "class": "tee"},
                with("B", &bleed), {"id": "D", "class": "drain_funnel"}, {"id": "V-1", "class": "gate_valve"}, {"id": "P-1", "class": "vessel"}],
            "edges": [{"from": "T-1", "to": "V-2"}, {"from": "V-2", "to": "J"}, {"from": "J", "to": "B"}, {"from": "B", "to": "D"},
                {"from": "J", "to": "V-1"}, {"from": "V-1", "to": "P-1"}]
        });
        answer_of(&document.to_string(), r#"isolate("P-1").barriers | map(.method)"#)
    };
    let unread = json!({"remarks": "spindle snapped"});
    assert_eq!(plan([json!({}), json!({})]), json!(["double_block_bleed"]));
    assert_eq!(plan([unread.clone(), json!({})]), json!(["single"]));
    assert_eq!(plan([json!({}), unread]), json!(["single"]));
}

#[test]
fn a_text_that_calls_a_valve_something_else_is_read_whatever_its_punctuation() {
    let contradicted = json!(["no", ["contradictory_class"]]);
    for text in [
        "3-way ball valve, L-port",
        "ball valve (3-way)",
        "BALL VALVE 3-WAY L-PORT",
        "ball valve, T-port",
        "swing check valve, DN50",
        "non-return",
        "steam trap",
        "restriction orifice",
        "relief valve, 2 inch",
        "safety relief",
        "spectacle blind, open",
    ] {
        for fields in [json!({ "description": text }), json!({ "name": format!("{text} A") })] {
            assert_eq!(judged(&fields), contradicted, "{fields}");
        }
        // A class or a symbol with several ways is that of such a valve.
        for name in ["label", "sub_class", "type", "component_name"] {
            assert_eq!(judged(&json!({ name: text }))[0], json!("no"), "{name} {text}");
        }
    }
    for text in [
        "two-way ball valve",
        "ball valve, full bore",
        "bypass of control valve",
        "check valve bypass",
        "relief valve inlet valve",
        "steam trap inlet valve",
        "bellows sealed, DN 50",
        "removable spool downstream",
        "removable strainer downstream",
        "gate valve with strainer",
    ] {
        assert_eq!(judged(&json!({ "description": text })), json!(["yes", []]), "{text}");
    }
    for (text, expected) in [("L-port", "no"), ("3-way valve", "no"), ("see 3-way valve TV-3", "yes")] {
        assert_eq!(judged(&json!({ "remarks": text }))[0], json!(expected), "{text}");
    }
    assert_eq!(judged(&json!({"description": "removed spool"}))[0], json!("no"));
    for text in ["shutdown valve, 4\"", "MOV", "XV, DN 50"] {
        assert_eq!(judged(&json!({ "description": text })), json!(["no", []]), "{text}");
    }
}

#[test]
fn a_state_in_no_list_makes_a_valve_uncertain_in_any_field_for_it() {
    let judged = |fields: &Value| {
        answer_of(&plant(fields), r#"isolate("P-1") | [(.barriers | size()), .certain, (.uncertain | map(.reason))]"#)
    };
    for name in ["state", "condition", "valve_status", "valve_state", "current_state"] {
        for state in ["suspended", "flooded", "Frozen", "dead", "partially assembled", "not suspended"] {
            for fields in places(name, &json!(state)) {
                let found = judged(&fields);
                assert_eq!([&found[0], &found[1]], [&json!(1), &json!(false)], "{fields}");
            }
        }
        for state in
            ["good", "new", "unchanged", "as built", "in service", "open", "not applicable", "N/A", "normally closed"]
        {
            assert_eq!(judged(&json!({ name: state })), json!([1, true, []]), "{name}: {state}");
        }
    }
    for fields in [json!({"revision_status": "superseded"}), json!({"flow_condition": "flooded"})] {
        assert_eq!(judged(&fields), json!([1, true, []]), "{fields}");
    }
    // A safeguard does not act for certain.
    let relief = |fields: &Value| {
        let mut plant = json!({"nodes": [{"id": "D-1", "class": "vessel"}, {"id": "RV-1", "class": "safety_valve"},
            {"id": "O-1", "class": "flare"}], "edges": [{"from": "D-1", "to": "RV-1"}, {"from": "RV-1", "to": "O-1"}]});
        plant["nodes"][1].as_object_mut().expect("an object").extend(fields.as_object().cloned().unwrap_or_default());
        answer_of(&plant.to_string(), "reliefList() | map(.certain)")
    };
    for (state, is_certain) in
        [("suspended", false), ("flooded", false), ("tested", true), ("good", true), ("latched", true)]
    {
        assert_eq!(relief(&json!({ "valve_state": state })), json!([is_certain]), "{state}");
    }
    // A remark says the same.
    for text in ["suspended", "flooded"] {
        assert_eq!(judged(&json!({ "remarks": text })), json!([1, false, ["unread_text"]]), "{text}");
    }
}

#[test]
fn positions_are_read_with_dots_slashes_and_brackets() {
    let position = |value: &str| {
        let query = r#"isolate("P-1").barriers | map([.closed, .action]) | first()"#;
        answer_of(&plant(&json!({"normal_position": value, "id": "V-1"})), query)
    };
    for text in [
        "N.C.",
        "n.c",
        "N/C",
        "(NC)",
        "L.C.",
        "C.S.C.",
        "l/c",
        "N C",
        "C-S-C",
        "L. C.",
        "Locked closed (LC)",
        "NC (note 3)",
        "chained closed",
    ] {
        assert_eq!(position(text), json!([true, "check_closed"]), "{text}");
    }
    let locked = |fields: Value| {
        let document = plant(&fields).replace(r#""class":"tank""#, r#""class":"safety_valve""#);
        answer_of(&document, "reliefList() | map(.reasons) | first()")
    };
    for text in ["L.O.", "C.S.O.", "LO", "l/o", "L O", "l-o", "locked open (LO)", "LO (see note 2)", "ILO"] {
        assert!(locked(json!({"normal_position": text})).as_str().is_some_and(|text| text.contains("locked_open")));
    }
    let blind = json!({"class": "spectacle_blind", "position": "N.C."});
    assert_eq!(answer_of(&plant(&blind), r#"isolate("P-1").isolated"#), json!("yes"));
}

#[test]
fn a_closed_blind_that_another_statement_calls_open_has_no_position() {
    let blind = |fields: Value| {
        let mut all = json!({"class": "spectacle_blind", "normal_position": "closed"});
        all.as_object_mut().expect("an object").extend(fields.as_object().cloned().unwrap_or_default());
        judged(&all)
    };
    for fields in [
        json!({"label": "OPEN"}),
        json!({"label": "N.O."}),
        json!({"remarks": "swung open"}),
        json!({"remarks": "spacer installed"}),
        json!({"description": "open"}),
        json!({"open": true}),
        json!({"closed": 0}),
        json!({"valve_status": "open"}),
        json!({"attributes": [{"name": "OpenCloseStatus", "value": "open"}]}),
    ] {
        assert_eq!(blind(fields.clone()), json!(["no", ["blind_without_position"]]), "{fields}");
    }
    for fields in [
        json!({"label": "CLOSED"}),
        json!({"remarks": "do not open before startup"}),
        json!({"description": "spade and spacer"}),
        json!({"closed": true}),
    ] {
        assert_eq!(blind(fields.clone()), json!(["yes", []]), "{fields}");
    }
    let spool = |remarks: &str| {
        judged(&json!({"class": "removable_spool", "normal_position": "removed", "remarks": remarks}))[0].clone()
    };
    assert_eq!(spool("spool installed"), json!("no"));
    assert_eq!(spool("spool to be installed in phase 2"), json!("unknown"));
    assert_eq!(spool("by vendor"), json!("yes"));
    assert_eq!(spool("note 3"), json!("unknown"));
}

#[test]
fn how_often_a_valve_is_operated_is_no_drive() {
    for value in ["ContinuousOperation", "IntermittentOperation", "continuous", "normal"] {
        assert_eq!(
            judged(&json!({"attributes": [{"name": "Operation", "value": value}]})),
            json!(["yes", []]),
            "{value}"
        );
    }
    for fields in [json!({"operation": "motor"}), json!({"ActuatorPresent": "true"})] {
        assert_eq!(judged(&fields)[0], json!("no"), "{fields}");
    }
    assert_eq!(judged(&json!({"Existing": "No"})), json!(["no", ["not_installed"]]));
}

#[test]
fn marks_are_read_as_numbers_and_in_lists() {
    for fields in [
        json!({"removed": 1}),
        json!({"removed": "1"}),
        json!({"installed": 0}),
        json!({"status": ["removed"]}),
        json!({"remarks": ["see note 3", "removed"]}),
    ] {
        assert_eq!(judged(&fields), json!(["no", ["not_installed"]]), "{fields}");
    }
    for fields in [json!({"removed": "2019-05-01"}), json!({"planned": "2027"}), json!({"removed": 2019})] {
        assert_eq!(judged(&fields), json!(["unknown", ["unknown_status"]]), "{fields}");
    }
    for fields in [json!({"removed": 0}), json!({"installed": 1}), json!({"removed": "n/a"}), json!({"future": null})] {
        assert_eq!(judged(&fields), json!(["yes", []]), "{fields}");
    }
    for fields in [json!({"actuated": 1}), json!({"operator": "M"}), json!({"operator": "motor"})] {
        assert_eq!(judged(&fields), json!(["no", []]), "{fields}");
    }
    for fields in [json!({"actuated": 0}), json!({"drive": "manual gear"}), json!({"operator": "HW"})] {
        assert_eq!(judged(&fields), json!(["yes", []]), "{fields}");
    }
    // The kind of a valve as SmartPlant P&ID writes it.
    let of_kind = |kind: &str| judged(&json!({"attributes": [{"name": "PipingCompType", "value": kind}]}));
    assert_eq!(of_kind("Ball valve"), json!(["yes", []]));
    for kind in ["Check valve", "Motor operated valve", "3-way ball valve"] {
        assert_ne!(of_kind(kind)[0], json!("yes"), "{kind}");
    }
    let by_type = json!({"attributes": [{"name": "ValveType", "value": "three-way"}]});
    assert_eq!(judged(&by_type), json!(["no", ["missing_pipe"]]));
}

#[test]
fn positions_of_dexpi_are_read() {
    let step = |position: &str| {
        let document = plant(&json!({"normal_position": position}));
        answer_of(&document, r#"isolationPlan("P-1").steps | filter(.node.id == "V-1") | map(.action) | first()"#)
    };
    for position in ["NormallyClose", "LockedClose", "CarSealClose", "Close", "NormallyClosed"] {
        assert_eq!(step(position), json!("check_closed"), "{position}");
    }
    for position in ["NormallyOpen", "Open"] {
        assert_eq!(step(position), json!("close"), "{position}");
    }
}

#[test]
fn letters_of_a_tag_that_stand_for_several_valves_are_not_certain() {
    for tag in ["RV-1", "CV-1", "DHSV-1", "GOV-1", "20-RV-0001"] {
        assert_eq!(judged(&json!({ "tag": tag })), json!(["unknown", ["ambiguous_tag"]]), "{tag}");
    }
    // Numbered by the equipment or the train.
    for tag in [
        "LIC-V-1",
        "D-20PSV0002",
        "PSV-1",
        "XV-A01",
        "XV-A-01",
        "XV-R1",
        "XV-A",
        "MOV-T1",
        "SDV-HP1",
        "SDV-LP-1",
        "TV-E101",
        "LV-V101",
        "PV-C101A",
        "FCV-A-101",
        "101-FV",
        "BSDV-3",
    ] {
        assert_eq!(judged(&json!({ "tag": tag })), json!(["no", ["contradictory_tag"]]), "{tag}");
    }
    for tag in [
        "HV-PSV-1", "BV-101", "V-1", "ST-V-1", "HV-101", "HV-A01", "V-R1", "BV-A", "GV-LP-1", "101-HV", "HV-101-A",
        "A-HV-1",
    ] {
        assert_eq!(judged(&json!({ "tag": tag })), json!(["yes", []]), "{tag}");
    }
}

#[test]
fn a_line_that_is_closed_closes_its_pipes() {
    let found = |fields: Value| {
        let mut document: Value = serde_json::from_str(&plant(&json!({}))).expect("JSON");
        let mut line = json!({"id": "line-7", "node_type": "piping_network_system"});
        line.as_object_mut().expect("an object").extend(fields.as_object().cloned().unwrap_or_default());
        document["nodes"].as_array_mut().expect("nodes").push(line);
        document["edges"][1]["line"] = json!("line-7");
        answer_of(&document.to_string(), r#"isolate("P-1") | .uncertain | map(.reason)"#)
    };
    assert_eq!(found(json!({"closed": true})), json!(["closed_pipe"]));
    assert_eq!(found(json!({"status": "blanked"})), json!(["closed_pipe"]));
    assert_eq!(found(json!({"remarks": "blanked both ends"})), json!(["unknown_status"]));
    assert_eq!(found(json!({"description": "Cooling water"})), json!([]));
}

#[test]
fn a_valve_that_a_condition_selects_is_no_certain_barrier_if_it_may_not_be_there() {
    let found = |fields: &Value| {
        answer_of(
            &plant(fields),
            r#"isolate("P-1", {barriers: .id == "V-1"}) | [.isolated, (.uncertain | map(.reason))]"#,
        )
    };
    assert_eq!(found(&json!({})), json!(["yes", []]));
    assert_eq!(found(&json!({"status": "removed"})), json!(["unknown", ["not_installed"]]));
}

#[test]
fn classes_among_the_attributes_contradict_like_those_in_fields() {
    for (name, value) in [("Type", "Check"), ("SubClass", "check_valve"), ("Sub Class", "3-way ball valve")] {
        let fields = json!({"attributes": [{"name": name, "value": value}]});
        assert_eq!(judged(&fields), json!(["no", ["contradictory_class"]]), "{fields}");
    }
}

#[test]
fn a_number_of_ports_is_read_in_any_notation() {
    for name in ["number_of_ports", "NumberOfPorts", "ways"] {
        for value in [json!(3), json!("3.0"), json!("3"), json!("III"), json!("2/3"), json!("1x3"), json!("many")] {
            for fields in places(name, &value) {
                assert_eq!(judged(&fields)[0], json!("no"), "{fields}");
            }
        }
        for value in ["> 2", "2+", "tbd", "see note 3?", "x"] {
            for fields in places(name, &json!(value)) {
                assert_eq!(judged(&fields), json!(["unknown", ["unknown_ways"]]), "{fields}");
            }
        }
        for value in [json!(2), json!("2.0"), json!("2,0"), json!("II"), json!("two-way"), json!("n/a"), json!(null)] {
            for fields in places(name, &value) {
                assert_eq!(judged(&fields), json!(["yes", []]), "{fields}");
            }
        }
    }
}

#[test]
fn a_mark_that_a_valve_is_installed_is_read_as_a_status() {
    for value in [json!("not yet"), json!("tbd"), json!("later"), json!("2031"), json!(2031)] {
        for fields in places("installed", &value) {
            assert_eq!(judged(&fields), json!(["unknown", ["unknown_status"]]), "{fields}");
        }
    }
    for value in [json!("existing"), json!("Installed"), json!("n/a"), json!(""), json!(1)] {
        assert_eq!(judged(&json!({"installed": value})), json!(["yes", []]), "{value}");
    }
}
