//! States of items in the spellings and places of many exporters: position, lock, status, removal.

use pidq::Graph;
use serde_json::{Map, Value, json};

use crate::graph::evaluate;

/// Returns a tank, a gate valve and a pump in a line, the valve with further fields; `V-1` is the only barrier.
fn plant(fields: &Value) -> String {
    let mut valve = json!({"id": "V-1", "class": "gate_valve"}).as_object().cloned().unwrap_or_default();
    valve.extend(fields.as_object().cloned().unwrap_or_default());
    let nodes = json!([{"id": "T-1", "class": "tank"}, valve, {"id": "P-1", "class": "pump"}]);
    let edges = json!([{"id": "e1", "from": "T-1", "to": "V-1"}, {"id": "e2", "from": "V-1", "to": "P-1"}]);
    json!({"nodes": nodes, "edges": edges}).to_string()
}

fn answer(document: &str, query: &str) -> Value {
    let graph = Graph::from_json(document).expect("JSON");
    evaluate(&graph, query, "{}").unwrap_or_else(|error| panic!("{query} on {document}: {error}"))
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
                    let found = answer(&plant(&fields), r#"isolate("P-1") | [(.barriers | size()), .certain]"#);
                    assert_eq!(found, json!([0, false]), "{fields}");
                }
            }
        }
    }
    for (name, value) in [("removed", true), ("is_demolished", true), ("installed", false)] {
        for fields in places(name, &json!(value)) {
            assert_eq!(answer(&plant(&fields), r#"isolate("P-1").barriers | size()"#), json!(0), "{fields}");
        }
    }
}

#[test]
fn a_status_that_is_not_known_makes_a_barrier_uncertain_wherever_it_stands() {
    for fields in places("Status", &json!("to be demolished")) {
        let query = r#"isolate("P-1") | [(.barriers | size()), .certain, (.uncertain | map(.reason) | uniq())]"#;
        assert_eq!(answer(&plant(&fields), query), json!([1, false, ["unknown_status"]]), "{fields}");
    }
    for fields in places("Status", &json!("In Service")) {
        assert_eq!(answer(&plant(&fields), r#"isolate("P-1").certain"#), json!(true), "{fields}");
    }
}

#[test]
fn positions_and_locks_are_read_in_every_spelling() {
    let is_closed = |fields: &Value| answer(&plant(fields), r#"isolate("P-1").barriers | map([.closed, .action])"#);
    for spelling in spellings("normal_position") {
        for fields in places(&spelling, &json!("Closed")) {
            assert_eq!(is_closed(&fields), json!([[true, "check_closed"]]), "{fields}");
        }
    }
    for spelling in spellings("lock_status") {
        for fields in places(&spelling, &json!("Locked Open")) {
            let lock = answer(&plant(&fields), r#"isolate("P-1").barriers | map(.lock)"#);
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
        assert_eq!(answer(&plant(&fields), query), json!([[false], true]), "{fields}");
    }
}

#[test]
fn a_drive_makes_a_valve_no_hand_valve_wherever_the_drawing_names_it() {
    let barriers = |fields: &Value| answer(&plant(fields), r#"isolate("P-1").barriers | size()"#);
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
    for spelling in spellings("fail_position") {
        for fields in places(&spelling, &json!("FC")) {
            assert_eq!(barriers(&fields), json!(0), "{fields}");
        }
    }
}

#[test]
fn remarks_that_an_item_is_not_there_are_read_in_every_spelling() {
    let judged = |fields: &Value| answer(&plant(fields), r#"isolate("P-1") | [(.barriers | size()), .certain]"#);
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
