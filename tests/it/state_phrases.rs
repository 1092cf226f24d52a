//! Texts that speak against the state of an item: a valve that does not close, a blind that holds no pressure, a relief
//! device, a check valve or an open end that does not act. Plain texts of the same items leave the answer certain.

use serde_json::{Value, json};

use crate::answers::answer_of;

/// Fields in which exporters write a text about an item.
const FIELDS: [&str; 4] = ["description", "label", "status", "condition"];

/// Returns whether an answer about two vessels joined by an item with a text is that of the item without one.
fn check(item: &Value, query: &str, expected: &Value, texts: &[(bool, &[&str])]) {
    let plant = |field: &str, text: &str| {
        let mut item = item.clone();
        item[field] = json!(text);
        json!({
            "nodes": [
                {"id": "D-1", "class": "vessel"}, {"id": "D-2", "class": "vessel"}, {"id": "O-2", "class": "open_end"},
                {"id": "RV-2", "class": "safety_valve"}, item
            ],
            "edges": [
                {"from": "D-1", "to": "A-1"}, {"from": "A-1", "to": "D-2"}, {"from": "D-2", "to": "RV-2"},
                {"from": "RV-2", "to": "O-2"}
            ]
        })
    };
    for (is_plain, texts) in texts {
        for text in *texts {
            // A status in no list is unknown by itself.
            let fields = if *is_plain { &FIELDS[..2] } else { &FIELDS[..] };
            for field in fields {
                let found = answer_of(&plant(field, text), query);
                assert_eq!(found == *expected, *is_plain, "{field}: {text}: {found}");
            }
        }
    }
}

const ISOLATED: &str = r#"isolate("D-1").isolated"#;

#[test]
fn of_a_valve() {
    let valve = json!({"id": "A-1", "class": "gate_valve"});
    check(
        &valve,
        ISOLATED,
        &json!("yes"),
        &[
            (
                false,
                &[
                    "lets by",
                    "gate valve, lets by when shut",
                    "seat worn",
                    "seat weeps",
                    "stem bent",
                    "gate has come off",
                    "handwheel missing",
                    "handwheel removed",
                    "no handle",
                    "very stiff, needs two men",
                    "inaccessible, below grating",
                    "must remain open",
                    "needs overhaul",
                    "awaiting spares",
                    "leak test failed",
                    "leakage class II",
                    "lässt durch",
                    "Handrad fehlt",
                    "festgefressen",
                    "grippée",
                    "siège usé",
                    "klemmt",
                ],
            ),
            (
                true,
                &[
                    "gate valve with handwheel",
                    "drain of leak detection",
                    "leak test connection",
                    "seat leakage class VI",
                    "no leak by",
                    "P-101 suction, two-pass cooler",
                    "Frischwasser",
                ],
            ),
        ],
    );
}

#[test]
fn of_a_blind() {
    let blind = json!({"id": "A-1", "class": "spectacle_blind", "position": "closed"});
    check(
        &blind,
        ISOLATED,
        &json!("yes"),
        &[
            (
                false,
                &[
                    "dust cover",
                    "plywood blank",
                    "two bolts only",
                    "gasket missing",
                    "hand tight",
                    "wrong rating",
                    "partially inserted",
                    "Schutzkappe",
                    "Schrauben fehlen",
                    "weeps",
                ],
            ),
            (true, &["spectacle blind", "with gasket and bolts", "class 300"]),
        ],
    );
}

#[test]
fn of_a_check_valve() {
    let valve = json!({"id": "A-1", "class": "check_valve"});
    let query = r#"hazopNodes() | map(.safeguards) | flatten() | filter(.item.id == "A-1") | map(.certain) | uniq()"#;
    let expected = json!([true]);
    check(
        &valve,
        query,
        &expected,
        &[
            (
                false,
                &[
                    "passes",
                    "sticks open",
                    "flapper missing",
                    "no flapper",
                    "flap off",
                    "installed backwards",
                    "wrong way round",
                    "for inspection, needs repair",
                    "Klappe fehlt",
                    "hinge broken",
                ],
            ),
            (true, &["dual plate", "swing check, soft seat", "on discharge of P-1"]),
        ],
    );
}

#[test]
fn of_a_relief_device_and_its_outlet() {
    let path = |device: &str, end: &str| {
        let plant = json!({
            "nodes": [
                {"id": "D-1", "class": "vessel"},
                {"id": "RV-1", "class": "safety_valve", "description": device},
                {"id": "O-1", "class": "open_end", "description": end}
            ],
            "edges": [{"from": "D-1", "to": "RV-1"}, {"from": "RV-1", "to": "O-1"}]
        });
        answer_of(&plant, "reliefList() | map(.relief_path) | .0")
    };
    for text in [
        "test overdue",
        "certificate expired",
        "spring missing",
        "simmers",
        "frozen",
        "tied down",
        "wrong set pressure",
        "needs repair",
        "Feder fehlt",
        "périmée",
    ] {
        assert_eq!(path(text, ""), json!("unknown"), "{text}");
    }
    for text in ["bird's nest", "vent, iced up", "covered with tarpaulin", "plugged", "screwed plug", "vereist"] {
        assert_eq!(path("", text), json!("unknown"), "{text}");
    }
    for (device, end) in [
        ("spring loaded, 2J3", "to safe location"),
        ("thermal relief", "vent to atmosphere, 3 m above platform"),
        ("balanced bellows", "with bird screen"),
    ] {
        assert_eq!(path(device, end), json!("open"), "{device} {end}");
    }
}
