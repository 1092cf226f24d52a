//! Trips that a drawing does not show to work, or shows in another way than by a signal: texts and fields against them, logic
//! without a number, gates and votings, starters of motors, air lines, and fields that name what they act on.

use serde_json::{Value, json};

use crate::loop_drawings::{certain_trip, check, document, evaluate, loops, trip_with};

/// Plant with a shutdown valve.
const VALVE: &str = "T-1:tank → XV-1:shutdown_valve(fail_action=closed) → T-2:tank";

const CERTAIN: &str = "loops() | map(.certain)";
const SAFEGUARDS: &str = "hazopNodes() | map(.safeguards | map([.item.id, .certain])) | flatten(1) | uniq()";
const NOT_FOLLOWED: &str = "causeAndEffect().not_followed | map([.item.id, .reason])";

/// Returns whether a trip with a field of an item or a signal is certain in all functions.
fn is_certain(at: &str, fields: &Value) -> bool {
    let not_followed = evaluate(&trip_with(&json!(at), fields), "causeAndEffect().not_followed");
    let is_certain = certain_trip(at, fields);
    assert_eq!(is_certain, not_followed == json!([]), "{at} {fields}: {not_followed}");
    is_certain
}

#[test]
fn a_text_that_a_part_of_a_trip_does_not_act_makes_it_uncertain() {
    for text in [
        "bypassed",
        "bypass on",
        "MOS active",
        "POS active",
        "maintenance override active",
        "in maintenance override",
        "inhibited",
        "defeated",
        "forced",
        "out of service",
        "OOS",
        "disabled",
        "not connected",
        "spare",
        "future",
        "HOLD",
        "alarm only",
        "High level, alarm only",
        "manual reset only",
        "startup bypass",
        "degraded",
        "under test",
        "removed",
        "mothballed",
        "deleted",
        "by vendor",
        "jumper installed",
        "außer Betrieb",
        "überbrückt",
        "Brücke gesetzt",
        "nur Alarm",
        "in Wartung",
        "hors service",
        "shunté",
        "shunt en place",
        "alarme seule",
        "désactivé",
        "fuera de servicio",
        "disparo puenteado",
        "sólo alarma",
        "buiten gebruik",
        "overbrugd",
        "alleen alarm",
        "fuori servizio",
    ] {
        for at in ["LSHH-1", "I-1", "XV-1", "s1"] {
            for name in ["remarks", "description"] {
                assert!(!is_certain(at, &json!({name: text})), "{at} {name} {text}");
            }
        }
    }
}

#[test]
fn a_text_that_denies_an_override_or_is_about_something_else_leaves_a_trip_certain() {
    for text in [
        "not bypassed",
        "no bypass",
        "bypass not permitted",
        "cannot be bypassed",
        "never to be bypassed",
        "override not permitted",
        "without override",
        "no jumpers",
        "not forced",
        "nicht überbrückt",
        "Überbrückung nicht zulässig",
        "ohne Bypass",
        "non shunté",
        "no puenteado",
        "niet overbrugd",
        "bypass line level",
        "Level in bypass separator",
        "with MOS",
        "maintenance override provided",
        "forced draft fan trip",
        "Hold up drum level",
        "Supplied by vendor",
        "Spare parts list 3",
        "test interval 12 months",
        "reset in field",
        "de-energise to trip",
        "Überfüllsicherung",
        "sécurité niveau haut",
        "Nivel muy alto",
    ] {
        for at in ["LSHH-1", "I-1", "XV-1"] {
            for name in ["remarks", "description"] {
                assert!(is_certain(at, &json!({name: text})), "{at} {name} {text}");
            }
        }
    }
}

#[test]
fn a_field_that_a_part_of_a_trip_does_not_act_makes_it_uncertain() {
    for fields in [
        json!({"bypass": "active"}),
        json!({"override_status": "on"}),
        json!({"mos": "aktiv"}),
        json!({"out_of_service": true}),
        json!({"jumper_installed": "yes"}),
        json!({"alarm_only": true}),
        json!({"in_service": false}),
        json!({"connected": false}),
        json!({"trip_status": "bypassed"}),
    ] {
        for at in ["LSHH-1", "I-1", "s1"] {
            assert!(!is_certain(at, &fields), "{at} {fields}");
        }
    }
    for fields in [
        json!({"override_status": "off"}),
        json!({"mos": "available"}),
        json!({"out_of_service": false}),
        json!({"in_service": true}),
        json!({"trip_status": "enabled"}),
    ] {
        for at in ["LSHH-1", "I-1", "s1"] {
            assert!(is_certain(at, &fields), "{at} {fields}");
        }
    }
}

#[test]
fn a_voting_that_cannot_be_met_or_read_is_not_certain() {
    let plant = |voting: &str| {
        format!(
            "{VALVE}; T-1 ⇢ LT-1A:transmitter ⇢ I-1:interlock(voting={voting}) ⇢ XV-1; T-1 ⇢ LT-1B:transmitter ⇢ I-1"
        )
    };
    for voting in ["2oo3", "2 of 3", "2/3", "1oo0", "0oo2", "3oo2", "?", "23", "majority"] {
        check(&plant(voting), CERTAIN, "[false]");
        check(&plant(voting), NOT_FOLLOWED, r#"[["I-1","voting"]]"#);
    }
    for voting in ["1oo2", "2oo2", "1oo2D", "2 of 2", "none", "OR", "AND", "n/a"] {
        check(&plant(voting), CERTAIN, "[true]");
        check(&plant(voting), NOT_FOLLOWED, "[]");
    }
    // At the transmitters.
    let at_sensors = |voting: &str| {
        let sensor = |suffix: &str| format!("T-1 ⇢ LT-1{suffix}:transmitter(voting={voting}) ⇢ I-1:interlock");
        format!("{VALVE}; {} ⇢ XV-1; {}", sensor("A"), sensor("B"))
    };
    check(&at_sensors("2oo3"), CERTAIN, "[false]");
    check(&at_sensors("1oo2"), CERTAIN, "[true]");
}

#[test]
fn a_gate_passes_a_trip_on_unless_it_inverts_or_lacks_an_input_or_its_output() {
    let one = |gate: &str| format!("{VALVE}; T-1 ⇢ LSHH-1:level_switch ⇢ _g:{gate} ⇢ XV-1");
    let two = |gate: &str| format!("{}; T-1 ⇢ PSHH-2:pressure_switch ⇢ _g", one(gate));
    let certain = "hazopNodes() | map(.safeguards | filter(.item.id == \"XV-1\") | map(.certain)) | flatten() | uniq()";
    for plant in [two("and_gate"), two("or_gate"), one("or_gate"), two("logic_gate(gate_type=AND)")] {
        check(&plant, certain, "[true]");
        check(&plant, NOT_FOLLOWED, "[]");
    }
    for (plant, reason) in [
        (one("and_gate"), "one_input"),
        (one("logic_gate(gate_type=AND)"), "one_input"),
        (one("not_gate"), "inverted"),
        (one("instrument(label=NOT)"), "inverted"),
        (two("nand_gate"), "inverted"),
        (two("xor_gate"), "inverted"),
    ] {
        check(&plant, certain, "[false]");
        check(&plant, &format!("{NOT_FOLLOWED} | uniq()"), &format!(r#"[["_g","{reason}"]]"#));
    }
    let without_output = format!("{VALVE}; T-1 ⇢ LSHH-1:level_switch ⇢ _g:or_gate; T-1 ⇢ PSHH-2:pressure_switch ⇢ _g");
    check(&without_output, &format!("{NOT_FOLLOWED} | uniq()"), r#"[["_g","no_further_signal"]]"#);
    check(&without_output, CERTAIN, "[false,false]");
}

#[test]
fn logic_without_a_number_is_the_logic_of_a_trip() {
    for (logic, kind) in [
        ("interlock", "trip"),
        ("logic_solver", "trip"),
        ("interlock_diamond", "trip"),
        ("instrument(tag=I)", "trip"),
        ("instrument(tag=ESD)", "trip"),
        ("instrument(tag=SIS)", "safety"),
        ("sis_logic", "safety"),
        ("bms", "trip"),
        ("burner_management_system", "trip"),
        ("fire_and_gas_system", "trip"),
        ("hipps_logic", "safety"),
    ] {
        for valve in ["XV-1:shutdown_valve", "BV-1:ball_valve"] {
            let plant =
                format!("T-1:tank → {valve}(fail_action=closed) → T-2:tank; T-1 ⇢ LT-1:transmitter ⇢ _l:{logic}");
            let id = &valve[..4];
            assert_eq!(
                loops(&format!("{plant} ⇢ {id}")),
                [format!("L-1 {kind}: LT-1 | _l | {id} | closed")],
                "{logic}"
            );
        }
    }
    // The transmitter feeds a controller too.
    let shared =
        "T-1:tank → FV-1:control_valve → BV-1:ball_valve → T-2:tank; FT-1 ⇢ FIC-1 ⇢ FV-1; FT-1 ⇢ _l:interlock ⇢ BV-1";
    assert_eq!(
        loops(shared),
        ["F-1 control: FT-1 | FIC-1 | FV-1 | closed", "F-1 trip: FT-1 | _l | BV-1 | closed | FT-1 of F-1"]
    );
    // Logic that no instrument feeds has the name of its valve.
    assert_eq!(loops(&format!("{VALVE}; _l:interlock ⇢ XV-1")), ["X-1 trip:  | _l | XV-1 | open"]);
}

#[test]
fn the_systems_of_trips_are_trips_by_their_tags() {
    for tag in ["BMS-1", "FGS-1", "ESD-1", "PSD-1", "HIPPS-1", "I-1"] {
        let plant =
            format!("T-1:tank → BV-1:ball_valve(fail_action=closed) → T-2:tank; T-1 ⇢ PT-9:transmitter ⇢ {tag} ⇢ BV-1");
        let links = "causeAndEffect().links | map([.initiator.id, .final_element.id, .kind])";
        check(&plant, links, r#"[["PT-9","BV-1","trip"]]"#);
        check(&plant, SAFEGUARDS, &format!(r#"[["BV-1",true],["{tag}",true]]"#));
    }
}

#[test]
fn an_alarm_is_no_trip_and_switches_at_two_limits_are_two() {
    for alarm in ["T-1 ⇢ LAHH-1", "T-1 ⇢ PT-1:transmitter ⇢ PAH-1"] {
        check(&format!("{VALVE}; {alarm}"), SAFEGUARDS, r#"[["XV-1",false]]"#);
    }
    let both = r#"[["XV-1",true],["LSHH-1",true],["LSLL-1",true]]"#;
    let direct = "T-1 ⇢ LSHH-1:level_switch ⇢ XV-1; T-1 ⇢ LSLL-1:level_switch ⇢ XV-1";
    check(&format!("{VALVE}; {direct}"), SAFEGUARDS, both);
    let through = "T-1 ⇢ LSHH-1:level_switch ⇢ I-1:interlock ⇢ XV-1; T-1 ⇢ LSLL-1:level_switch ⇢ I-1";
    check(&format!("{VALVE}; {through}"), SAFEGUARDS, both);
}

#[test]
fn a_starter_of_a_motor_stops_its_pump() {
    let plant = |starter: &str| {
        format!("T-1:tank → P-1:pump → T-2:tank; T-1 ⇢ LSLL-1:level_switch ⇢ I-1:interlock ⇢ {starter}")
    };
    let elements = "loops() | map([.final_elements | map(.id), .certain])";
    for starter in ["_s:motor_starter", "MCC-1:mcc", "K-1:contactor", "CB-1:circuit_breaker", "_s:variable_speed_drive"]
    {
        check(&plant(&format!("{starter} ⇢ P-1")), elements, r#"[[["P-1"],true]]"#);
        check(&plant(&format!("{starter} ⇢ P-1")), SAFEGUARDS, r#"[["I-1",true]]"#);
        check(&plant(&format!("{starter} ⇢ M-1:motor")), elements, r#"[[["M-1"],true]]"#);
        // A motor that is not drawn.
        let id = starter.split(':').next().expect("an id");
        check(&plant(starter), elements, &format!(r#"[[["{id}"],true]]"#));
        check(&plant(starter), "causeAndEffect().links | map(.final_element.id)", &format!(r#"["{id}"]"#));
    }
    let driven = json!({
        "nodes": [
            {"id": "T-1", "class": "tank"}, {"id": "P-1", "class": "pump"}, {"id": "T-2", "class": "tank"}, {"id": "M-1", "class": "motor"},
            {"id": "LSLL-1", "tag": "LSLL-1", "class": "level_switch"}, {"id": "K-1", "tag": "K-1", "class": "contactor"}
        ],
        "edges": [
            {"from": "T-1", "to": "P-1"}, {"from": "P-1", "to": "T-2"}, {"from": "T-1", "to": "LSLL-1", "type": "signal"},
            {"from": "LSLL-1", "to": "K-1", "type": "signal"}, {"from": "K-1", "to": "M-1", "type": "signal"},
            {"from": "M-1", "to": "P-1", "edge_type": "associated_with", "edge_classification": "association.drives"}
        ]
    });
    assert_eq!(evaluate(&driven.to_string(), SAFEGUARDS), json!([["LSLL-1", true]]));
}

#[test]
fn the_air_of_an_actuator_is_a_part_of_the_way_of_a_trip() {
    let plant = |air: &str| {
        format!(
            "{VALVE}; T-1 ⇢ LSHH-1:level_switch ⇢ I-1:interlock ⇢ XY-1:solenoid_valve; IA-1:air_supply → {air} → _a:actuator; XV-1 ⊃ _a"
        )
    };
    let links = "causeAndEffect().links | map([.initiator.id, .final_element.id])";
    for air in [
        "XY-1",
        "XY-1 → _q:quick_exhaust_valve",
        "XY-1 → _b:volume_booster",
        "_r:filter_regulator → XY-1",
        "XY-1 → _y:solenoid_valve",
        "XY-1 → HV-9:ball_valve(normal_position=open)",
        "HV-9:ball_valve(normal_position=open) → XY-1",
    ] {
        check(&plant(air), "loops() | map([.final_elements | map(.id), .certain])", r#"[[["XV-1"],true]]"#);
        check(&plant(air), links, r#"[["LSHH-1","XV-1"]]"#);
    }
    for air in [
        "XY-1 → HV-9:ball_valve(normal_position=closed)",
        "HV-9:ball_valve(normal_position=closed) → XY-1",
        "HV-9:ball_valve(normal_position=closed) → _m:air_manifold → XY-1",
    ] {
        check(&plant(air), "loops() | map([.final_elements | map(.id), .certain])", r#"[[["XV-1"],false]]"#);
        check(&plant(air), NOT_FOLLOWED, r#"[["HV-9","air_shut_off"]]"#);
    }
    let by_signal = |accessory: &str| {
        format!("{VALVE}; T-1 ⇢ LSHH-1:level_switch ⇢ I-1:interlock ⇢ XY-1:solenoid_valve ⇢ {accessory} ⇢ XV-1")
    };
    for accessory in ["_q:quick_exhaust_valve", "_b:volume_booster", "_y:solenoid_valve"] {
        check(&by_signal(accessory), SAFEGUARDS, r#"[["XV-1",true],["I-1",true]]"#);
    }
}

#[test]
fn an_item_that_only_a_field_names_belongs_to_its_trip_and_is_not_certain() {
    let plant = |field: &str, trip: &str| {
        format!(
            "T-1:tank → XV-1:shutdown_valve(fail_action=closed{field}) → T-2:tank; T-1 ⇢ PSHH-1:pressure_switch{trip}"
        )
    };
    let rows = "loops() | map([.final_elements | map(.id), .certain, .closed, .gap])";
    for (field, trip) in [
        (",trip=PSHH-1", ""),
        (",tripped_by=PSHH-1", ""),
        (",trippedBy=PSHH-1", ""),
        (",interlock=I-5", " ⇢ I-5:interlock"),
        (",actuator=SOV-101", " ⇢ I-5:interlock ⇢ SOV-101:solenoid_valve"),
        ("", " ⇢ I-5:interlock(final_element=XV-1)"),
        ("", "(trips=XV-1)"),
    ] {
        check(&plant(field, trip), rows, r#"[[["XV-1"],false,null,"named_by_field"]]"#);
        let valve = r#"hazopNodes() | map(.safeguards | filter(.item.id == "XV-1") | map([.loop, .certain])) | flatten(1) | uniq()"#;
        check(&plant(field, trip), valve, r#"[["P-1",false]]"#);
        check(&plant(field, trip), NOT_FOLLOWED, r#"[["XV-1","named_by_field"]]"#);
    }
    // An interlock that is on no sheet, and a pump.
    check(&plant(",interlock=I-7", ""), NOT_FOLLOWED, r#"[["XV-1","named_by_field"]]"#);
    let pump = "T-1:tank → P-1:pump(tripped_by=LSLL-1) → T-2:tank; T-1 ⇢ LSLL-1:level_switch";
    check(pump, NOT_FOLLOWED, r#"[["P-1","named_by_field"]]"#);
    // A signal is drawn, or the field names nothing that moves the valve.
    check(&plant(",trip=PSHH-1", " ⇢ XV-1"), rows, r#"[[["XV-1"],true,true,null]]"#);
    check(&plant(",actuator=pneumatic,trip=yes", " ⇢ XV-1"), rows, r#"[[["XV-1"],true,true,null]]"#);
    check(&plant(",actuator=pneumatic,trip=yes", " ⇢ XV-1"), NOT_FOLLOWED, "[]");
}

#[test]
fn an_open_way_around_shutdown_valves_in_series_makes_their_section_bypassed() {
    let plant = |position: &str| {
        document(&format!(
            "T-1:tank → _a:tee → ESDV-1:shutdown_valve(fail_action=closed) → _m:strainer → \
             ESDV-2:shutdown_valve(fail_action=closed) → _b:tee → T-2:tank; _a → HV-1:ball_valve(normal_position={position}) → _b; T-1 ⇢ LSHH-1:level_switch ⇢ \
             I-1:interlock ⇢ ESDV-1; I-1 ⇢ ESDV-2"
        ))
    };
    let safeguards = |position: &str| evaluate(&plant(position), SAFEGUARDS);
    assert_eq!(safeguards("open"), json!([["ESDV-1", false], ["ESDV-2", false], ["I-1", false]]));
    assert_eq!(safeguards("closed"), json!([["ESDV-1", true], ["ESDV-2", true], ["I-1", true]]));
    let bypassed = r#"inventorySections() | map(.uncertain | filter(.reason == "bypassed") | map(.at.id)) | flatten()"#;
    assert_eq!(evaluate(&plant("open"), bypassed), json!(["ESDV-1", "ESDV-2"]));
    assert_eq!(evaluate(&plant("closed"), bypassed), json!([]));
    // Directly one behind the other, and with a vessel between, which they isolate.
    let line = |between: &str| {
        document(&format!(
            "T-1:tank → _a:tee → ESDV-1:shutdown_valve → {between}ESDV-2:shutdown_valve → _b:tee → T-2:tank; _a → _b"
        ))
    };
    assert_eq!(evaluate(&line(""), bypassed), json!(["ESDV-1", "ESDV-2"]));
    assert_eq!(evaluate(&line("V-3:vessel → "), bypassed), json!([]));
}
