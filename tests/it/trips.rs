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
        "BYPASS: ON",
        "MOS = 1",
        "bypass key ON",
        "bypass key in ON position",
        "key switch in BYPASS",
        "en bypass",
        "U/S",
        "o/s",
        "wired out",
        "recording only",
        "for information only",
        "nur zur Information",
        "status only",
        "advisory",
        "known to stick",
        "out of calibration",
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
        "BYPASS: OFF",
        "MOS: yes",
        "MOS = 0",
        "Pos: 1",
        "Nivel en bypass del separador",
        "for information on settings see SIF list",
        "timed delay 60 s",
        "trip delayed by 5 s",
        "forcing not allowed",
        "inhibition not permitted",
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

#[test]
fn a_text_that_a_shutdown_valve_is_kept_open_makes_its_trip_uncertain() {
    for text in [
        "locked open for commissioning",
        "handwheel only",
        "limit stop 20 % open",
        "mit Mindesthub 10 %",
        "min. stop 5 % open",
        "mechanically blocked open",
    ] {
        assert!(!is_certain("XV-1", &json!({"remarks": text})), "{text}");
    }
}

#[test]
fn a_signal_of_another_purpose_than_a_trip_makes_it_uncertain() {
    for label in ["Auf-Befehl", "abrir", "apre", "openen", "reset", "test", "FB", "ALARM", "status only", "start"] {
        assert!(!is_certain("s2", &json!({"label": label})), "{label}");
    }
    for label in ["Zu-Befehl", "cerrar", "trip", "trip / reset", "ESD signal", "24 V DC"] {
        assert!(is_certain("s2", &json!({"label": label})), "{label}");
    }
}

#[test]
fn a_start_of_a_machine_is_no_trip() {
    let plant = |switch: &str, logic: &str, signal: &str| {
        let plant = format!(
            "T-1:tank → P-1:pump → T-2:tank; T-1 ⇢ LSLL-1:level_switch(description={switch}) ⇢ \
             I-1:interlock(description={logic}) ⇢ P-1"
        );
        let mut document: Value = serde_json::from_str(&document(&plant)).expect("JSON");
        document["edges"].as_array_mut().expect("edges").last_mut().expect("a signal")["label"] = json!(signal);
        document.to_string()
    };
    for [switch, logic, signal] in [
        ["start pump", "", ""],
        ["auto start of standby pump", "", ""],
        ["", "AUTO START P-1", ""],
        ["", "", "start"],
        ["Anlauf Pumpe", "", ""],
        ["démarrage pompe", "", ""],
    ] {
        let plant = plant(switch, logic, signal);
        assert_eq!(evaluate(&plant, CERTAIN), json!([false]), "{switch} {logic} {signal}");
        assert_eq!(evaluate(&plant, SAFEGUARDS), json!([["I-1", false]]), "{switch} {logic} {signal}");
        let reasons = evaluate(&plant, "causeAndEffect().not_followed | map(.reason) | uniq()");
        assert_ne!(reasons, json!([]), "{switch} {logic} {signal}");
    }
    for [switch, logic, signal] in [
        ["", "", ""],
        ["stop pump", "", ""],
        ["low level", "stops P-1 and starts P-2", ""],
        ["", "P-1 start inhibit and trip", ""],
        ["start-up override 60 s", "", ""],
        ["", "", "stop"],
    ] {
        let plant = plant(switch, logic, signal);
        let found = evaluate(&plant, "[loops() | map(.certain), causeAndEffect().not_followed]");
        let expected = if logic.contains("inhibit") { json!([[false]]) } else { json!([[true], []]) };
        assert_eq!(found[0], expected[0], "{switch} {logic} {signal}: {found}");
    }
}

#[test]
fn the_circuits_of_a_system_in_kks_are_loops_of_their_own() {
    let control = "10LAB10BB001:tank → 10LAB10AA001:control_valve → 10LAB10AP001:pump → 10LAB10AA002:control_valve; \
        10LAB10BB001 ⇢ 10LAB10CL001:level_transmitter ⇢ 10LAB10DL001:level_controller ⇢ 10LAB10AA001; \
        10LAB10AA002 ⇢ 10LAB10CP001:pressure_transmitter ⇢ 10LAB10DP001:pressure_controller ⇢ 10LAB10AA002";
    assert_eq!(
        loops(control),
        [
            "10LAB10-CL-001 control: 10LAB10CL001 | 10LAB10DL001 | 10LAB10AA001 | closed",
            "10LAB10-CP-001 control: 10LAB10CP001 | 10LAB10DP001 | 10LAB10AA002 | closed",
        ]
    );
    let protection = |system: &str| {
        format!(
            "{system}BB001:tank → {system}AP001:pump; {system}BB001 ⇢ {system}CL001:level_transmitter ⇢ \
             {system}EZ001:sis_logic ⇢ {system}AP001"
        )
    };
    let both = format!("{}; {}", protection("10LAB10"), protection("10LAB20"));
    assert_eq!(
        loops(&both),
        ["10LAB10", "10LAB20"]
            .map(|system| format!("{system}-EZ-001 safety: {system}CL001 | {system}EZ001 | {system}AP001 | closed"))
    );
    check(&both, "instrumentIndex() | filter(.tag == \"10LAB10EZ001\") | map(.variable)", "[null]");
}

#[test]
fn logic_without_a_number_that_several_loops_feed_gives_each_its_own_sensor() {
    for logic in ["BMS:burner_management_system", "SIS:sis_logic", "ESD:logic_solver"] {
        let id = logic.split(':').next().expect("an id");
        let plant = format!(
            "OPC-1:off_page_connector → XV-1:ball_valve(fail_action=closed) → F-6:furnace; \
             BSLL-61:flame_scanner @ F-6; FSLL-63:flow_switch @ F-6; BSLL-61 ⇢ {logic} ⇢ XV-1; FSLL-63 ⇢ {id}; \
             HS-64:push_button(description=emergency stop) ⇢ {id}"
        );
        let sensors = "loops() | filter(regex(.loop, \"-6[13]$\")) | map(.sensors | map(.id))";
        check(&plant, sensors, r#"[["BSLL-61"],["FSLL-63"]]"#);
        let by_hand = "loops() | filter(.loop == \"H-64\") | map([.kind, .closed, .certain])";
        assert_ne!(evaluate(&document(&plant), by_hand), json!([["control", true, true]]), "{logic}");
        let trips = "hazopNodes() | map(.safeguards | filter(.kind != \"shutdown_valve\") | map(.item.id)) | flatten(1) | uniq()";
        let found = evaluate(&document(&plant), trips);
        assert!(["BSLL-61", "FSLL-63"].iter().all(|id| found.as_array().expect("ids").contains(&json!(id))), "{found}");
    }
    // The starter of a motor that two trips stop.
    let plant = "T-1:tank → P-1:pump → T-2:tank; TSHH-1:temperature_switch @ P-1; VSHH-2:vibration_switch @ P-1; \
        TSHH-1 ⇢ MCC:motor_control_center ⇢ P-1; VSHH-2 ⇢ MCC";
    check(plant, "loops() | map(.sensors | map(.id))", r#"[["TSHH-1"],["VSHH-2"]]"#);
    check(plant, SAFEGUARDS, r#"[["TSHH-1",true],["VSHH-2",true]]"#);
}

#[test]
fn a_switch_of_unknown_class_whose_tag_states_a_trip_is_listed() {
    for class in ["Grenzwertgeber", "component"] {
        let plant = format!("T-1:tank → P-1:pump → T-2:tank; LSLL-1:{class} @ T-1; LSLL-1 ⇢ P-1");
        check(&plant, NOT_FOLLOWED, r#"[["LSLL-1","unknown_class"]]"#);
        let plant = format!("T-1:tank → P-1:pump; LSL-1:{class} @ T-1; LSL-1 ⇢ MCC-1:motor_starter ⇢ P-1");
        check(&plant, NOT_FOLLOWED, r#"[["LSL-1","unknown_class"]]"#);
    }
}

#[test]
fn protective_systems_in_other_languages_trip() {
    for class in [
        "instrument.protection_system",
        "instrument.protection_logic",
        "instrument.protective_function",
        "instrument.Verriegelung",
        "instrument.Schutz",
        "instrument.Schutzfunktion",
        "instrument.verrouillage",
        "instrument.enclavamiento",
        "instrument.vergrendeling",
    ] {
        let plant = format!("T-1:tank → P-1:pump → T-2:tank; LT-1:level_transmitter @ T-1; LT-1 ⇢ UC-1:{class} ⇢ P-1");
        assert_eq!(loops(&plant), ["U-1 trip: LT-1 | UC-1 | P-1 | closed"], "{class}");
        check(&plant, "causeAndEffect().matrix", r#"[{"initiator":"LT-1","P-1":"X"}]"#);
    }
}

#[test]
fn the_air_to_an_actuator_that_is_a_part_of_its_valve_leads_to_the_valve() {
    let plant = |class: &str| {
        json!({
            "nodes": [
                {"id": "V-1", "tag": "V-1", "class": "vessel"}, {"id": "O-1", "class": "off_page_connector"},
                {"id": "XV-1", "tag": "XV-1", "class": "ball_valve", "fail_action": "FC"},
                {"id": "PSHH-1", "tag": "PSHH-1", "class": "pressure_switch"}, {"id": "I-1", "tag": "I-1", "class": "interlock"},
                {"id": "A-1", "tag": "XV-1-ACT", "class": class}, {"id": "XY-1", "tag": "XY-1", "class": "piping_component.solenoid_valve"},
                {"id": "IA-1", "class": "off_page_connector"}
            ],
            "edges": [
                {"from": "O-1", "to": "XV-1"}, {"from": "XV-1", "to": "V-1"},
                {"from": "PSHH-1", "to": "V-1", "type": "associated_with", "edge_classification": "association.is_located_in"},
                {"from": "XV-1", "to": "A-1", "type": "physically_has_a"}, {"from": "IA-1", "to": "XY-1"}, {"from": "XY-1", "to": "A-1"},
                {"from": "PSHH-1", "to": "I-1", "type": "signal"}, {"from": "I-1", "to": "XY-1", "type": "signal"}
            ]
        })
        .to_string()
    };
    for class in [
        "piping_component.actuator",
        "piping_component.pneumatic_actuator",
        "actuator.pneumatic",
        "instrument.actuator",
    ] {
        let found = "causeAndEffect() | [.matrix, .without_effect, .without_cause, .not_followed]";
        assert_eq!(
            evaluate(&plant(class), found),
            json!([[{"initiator": "PSHH-1", "XV-1": "X"}], [], [], []]),
            "{class}"
        );
    }
}

#[test]
fn a_solenoid_valve_on_the_way_is_no_valve_without_a_cause() {
    for class in ["instrument.solenoid_valve", "piping_component.solenoid_valve", "Magnetventil", "électrovanne"] {
        for tag in ["UV-1", "XSV-1", "EV-1"] {
            let plant = format!("{VALVE}; LSHH-1:level_switch @ T-1; LSHH-1 ⇢ {tag}:{class} ⇢ XV-1");
            let found = "causeAndEffect() | [.links | map([.initiator.id, .final_element.id]), .without_cause]";
            check(&plant, found, r#"[[["LSHH-1","XV-1"]],[]]"#);
            check(&plant, "loops() | map(.final_elements | map(.id)) | uniq()", r#"[["XV-1"]]"#);
            let rows = "hazopNodes() | map(.safeguards | map([.kind, .certain])) | flatten(1) | uniq()";
            check(&plant, rows, r#"[["shutdown_valve",true],["trip",true]]"#);
        }
    }
}

#[test]
fn a_timer_passes_a_trip_on_whatever_its_letters() {
    let plant =
        format!("{VALVE}; LSHH-1:level_switch @ T-1; LSHH-1 ⇢ TD-1:instrument.time_delay(description=TON 30 s) ⇢ XV-1");
    check(&plant, "causeAndEffect().links | map([.initiator.id, .final_element.id])", r#"[["LSHH-1","XV-1"]]"#);
    check(&plant, SAFEGUARDS, r#"[["XV-1",true],["TD-1",true]]"#);
}

#[test]
fn a_control_system_and_a_selector_of_signals_trip_nothing() {
    for item in [
        "DCS:instrument.dcs",
        "DCS-1:instrument.dcs",
        "BPCS:instrument.dcs",
        "PCS:instrument.dcs",
        "LCS:instrument.dcs",
        "LSS-2:low_signal_selector",
        "HSS-2:high_signal_selector",
        "LSY-2:selector",
    ] {
        let plant = format!(
            "T-1:tank → LV-2:control_valve(fail_action=closed) → T-2:tank; LT-2:level_transmitter @ T-1; \
             LT-2 ⇢ LIC-2:controller ⇢ {item} ⇢ LV-2"
        );
        check(&plant, "causeAndEffect() | [.links, .matrix, .not_followed]", "[[],[],[]]");
        check(&plant, SAFEGUARDS, "[]");
    }
}

#[test]
fn a_push_button_is_no_sensor_whatever_its_letters() {
    for item in ["PB-101:push_button", "EPB-101:emergency_push_button", "MCP-1:manual_call_point", "HS-101:hand_switch"]
    {
        let plant = format!("{VALVE}; {item} @ T-1; {} ⇢ I-5:interlock ⇢ XV-1", item.split(':').next().expect("an id"));
        check(&plant, "loops() | map([.closed, .gap, .certain])", r#"[[null,"only_by_hand",false]]"#);
    }
}

#[test]
fn a_switch_that_feeds_alarms_only_is_an_indication() {
    let plant = format!("{VALVE}; PSL-1:pressure_switch @ T-1; PSL-1 ⇢ PAL-1:instrument.alarm");
    check(&plant, "loops() | map([.kind, .certain])", r#"[["indication",true]]"#);
}

#[test]
fn a_voting_of_logic_may_be_written_with_of_and_a_push_button_votes_not() {
    let plant = |at_logic: &str, at_sensor: &str| {
        let sensor = |suffix: &str| format!("PT-1{suffix}:pressure_transmitter{at_sensor} @ T-1; PT-1{suffix} ⇢ UZ-1");
        let sensors = ["A", "B", "C"].map(sensor).join("; ");
        format!("{VALVE}; UZ-1:sis_logic({at_logic}) ⇢ XV-1; {sensors}; HS-9:push_button(description=ESD) ⇢ UZ-1")
    };
    let votings = "causeAndEffect().links | map([.initiator.id, .voting])";
    for text in ["2 of 3", "2 de 3", "2 uit 3", "2 su 3", "2 out of 3", "voting 2 of 3", "2oo3"] {
        let expected = r#"[["PT-1A","2oo3"],["PT-1B","2oo3"],["PT-1C","2oo3"],["HS-9",null]]"#;
        let found = evaluate(&document(&plant(&format!("remarks={text}"), "")), &format!("{votings} | sort(.0)"));
        let mut expected: Value = serde_json::from_str(expected).expect("JSON");
        expected.as_array_mut().expect("rows").sort_by_key(|row| row[0].as_str().map(String::from));
        assert_eq!(found, expected, "{text}");
    }
    for (at_logic, at_sensor) in
        [("remarks=sheet 2 of 3", ""), ("remarks=see page 2 of 3", ""), ("x=1", "(remarks=2 of 3)")]
    {
        let found = evaluate(&document(&plant(at_logic, at_sensor)), &format!("{votings} | map(.1) | uniq()"));
        assert_eq!(found, json!([null]), "{at_logic} {at_sensor}");
    }
}

#[test]
fn an_edge_of_any_sort_with_the_class_of_a_signal_is_a_signal() {
    let plant = |class: &str| {
        json!({
            "nodes": [
                {"id": "V-1", "tag": "V-1", "class": "vessel"}, {"id": "O-1", "class": "off_page_connector"},
                {"id": "ESDV-1", "tag": "ESDV-1", "class": "ball_valve", "fail_action": "FC"},
                {"id": "PSHH-1", "tag": "PSHH-1", "class": "pressure_switch"}, {"id": "I-1", "tag": "I-1", "class": "interlock"}
            ],
            "edges": [
                {"from": "O-1", "to": "ESDV-1", "edge_type": "connected_to"}, {"from": "ESDV-1", "to": "V-1", "edge_type": "connected_to"},
                {"from": "PSHH-1", "to": "V-1", "edge_type": "associated_with", "edge_classification": "association.is_located_in"},
                {"from": "PSHH-1", "to": "I-1", "edge_type": "connected_to", "edge_classification": class},
                {"from": "I-1", "to": "ESDV-1", "edge_type": "connected_to", "edge_classification": class}
            ]
        })
        .to_string()
    };
    for class in ["signal", "signal_line.electrical", "electric_signal", "data_link"] {
        let found = "causeAndEffect() | [.matrix, .not_followed]";
        assert_eq!(evaluate(&plant(class), found), json!([[{"initiator": "PSHH-1", "ESDV-1": "X"}], []]), "{class}");
        assert_eq!(
            evaluate(&plant(class), "loops() | map([.certain, .sensors | map(.id)])"),
            json!([[true, ["PSHH-1"]]])
        );
    }
}

#[test]
fn a_trip_senses_where_the_element_of_its_transmitter_is() {
    let plant = "OPC-1:off_page_connector → XV-1:shutdown_valve(fail_action=closed) → V-1:vessel → TW-1:thermowell → \
        TV-1:control_valve → T-2:tank; TE-1:instrument.temperature_element @ TW-1; TE-1 ⇢ TT-1:instrument.temperature_transmitter ⇢ \
        TSHH-1:temperature_switch ⇢ XV-1; TT-1 ⇢ TIC-1:controller ⇢ TV-1";
    let rows =
        r#"hazopNodes() | map(.safeguards | filter(.item.id == "TSHH-1") | map([.senses, .certain])) | flatten(1)"#;
    check(plant, rows, r#"[["outside",true],["inside",true]]"#);
}

#[test]
fn a_trip_whose_bubble_an_unknown_item_feeds_is_not_certain() {
    let plant = |class: &str| {
        format!("{VALVE}; PT-1:{class} @ T-1; PT-1 ⇢ PZAHH-1:process_instrumentation_function(sil=2) ⇢ XV-1")
    };
    check(&plant("pressure_transmitter"), CERTAIN, "[true]");
    check(&plant("Druckgeber"), CERTAIN, "[false]");
}

#[test]
fn a_member_of_a_loop_node_without_a_signal_makes_its_trip_uncertain() {
    let plant = |signals: &str| {
        format!(
            "T-1:tank → PV-1:control_valve → XV-1:shutdown_valve(fail_action=closed) → T-2:tank; PT-1:transmitter @ T-1; \
             PSHH-1:pressure_switch @ T-1; P-1:loop ⊃ PT-1; P-1 ⊃ PIC-1:controller; P-1 ⊃ PV-1; P-1 ⊃ PSHH-1; P-1 ⊃ XV-1; \
             PT-1 ⇢ PIC-1 ⇢ PV-1{signals}"
        )
    };
    check(&plant(""), CERTAIN, "[false]");
    check(&plant(""), "hazopNodes() | map(.safeguards | map(.certain)) | flatten() | uniq()", "[false]");
    check(&plant("; PSHH-1 ⇢ XV-1"), CERTAIN, "[true]");
    let trip = |second: &str| {
        format!(
            "T-1:tank → XV-1A:shutdown_valve(fail_action=closed) → XV-1B:shutdown_valve(fail_action=closed) → T-2:tank; \
             PSHH-1:pressure_switch @ T-1; P-1:loop ⊃ PSHH-1; P-1 ⊃ XV-1A; P-1 ⊃ XV-1B; PSHH-1 ⇢ XV-1A{second}"
        )
    };
    check(&trip(""), CERTAIN, "[false]");
    check(&trip("; PSHH-1 ⇢ XV-1B"), CERTAIN, "[true]");
}

#[test]
fn a_solenoid_valve_at_the_end_of_the_signals_is_no_certain_final_element() {
    let plant = "T-1:tank; PSHH-1:pressure_switch @ T-1; PSHH-1 ⇢ PY-1:instrument.solenoid_valve";
    check(plant, "loops() | map(.gap)", r#"["no_final_element"]"#);
    check(plant, NOT_FOLLOWED, r#"[["PY-1","no_further_signal"]]"#);
}

#[test]
fn a_position_switch_at_equipment_starts_a_trip_of_a_valve_with_its_number() {
    let plant = |place: &str| format!("{VALVE}; ZSL-1:instrument.function @ {place}; ZSL-1 ⇢ I-1:interlock ⇢ XV-1");
    check(&plant("T-1"), "causeAndEffect().links | map([.initiator.id, .final_element.id])", r#"[["ZSL-1","XV-1"]]"#);
    check(&plant("XV-1"), "causeAndEffect().links", "[]");
}

#[test]
fn an_instrument_that_feeds_only_a_trip_belongs_to_it() {
    for item in ["PIS-101:pressure_switch", "LIRSA-101:level_switch", "GD-501:gas_detector", "PS-101:pressure_switch"] {
        let id = item.split(':').next().expect("an id");
        let plant = format!("{VALVE}; {item} @ T-1; {id} ⇢ I-5:interlock ⇢ XV-1");
        check(&plant, "loops() | map([.loop, .sensors | map(.id), .certain])", &format!(r#"[["I-5",["{id}"],true]]"#));
    }
}

#[test]
fn a_trip_with_a_signal_to_equipment_without_a_drive_is_not_certain() {
    for class in ["equipment.burner", "vessel", "equipment.generator"] {
        let plant =
            format!("T-1:tank → Q-1:{class} → T-2:tank; TSHH-1:temperature_switch @ T-1; TSHH-1 ⇢ I-1:interlock ⇢ Q-1");
        check(&plant, CERTAIN, "[false]");
        check(&plant, NOT_FOLLOWED, r#"[["Q-1","effect_not_stated"]]"#);
    }
}

#[test]
fn logic_may_vote_on_the_signals_of_two_trips() {
    let plant = |voting: &str| {
        format!(
            "{VALVE}; TSHH-1:temperature_switch @ T-1; PSHH-2:pressure_switch @ T-1; \
             TSHH-1 ⇢ I-1:interlock(voting={voting}) ⇢ XV-1; PSHH-2 ⇢ I-1"
        )
    };
    let certain = |voting: &str| evaluate(&document(&plant(voting)), "loops() | map([.loop, .certain])");
    assert_eq!(certain("1oo2"), json!([["T-1", true], ["P-2", true], ["I-1", true]]));
    // One of the trips alone does nothing.
    assert_eq!(certain("2oo2"), json!([["T-1", false], ["P-2", false], ["I-1", true]]));
    // An input is missing.
    assert_eq!(certain("1oo3"), json!([["T-1", false], ["P-2", false], ["I-1", false]]));
    check(&plant("1oo2"), SAFEGUARDS, &json!([["XV-1", true], ["TSHH-1", true], ["PSHH-2", true]]).to_string());
}

#[test]
fn a_solenoid_behind_the_logic_of_a_trip_does_not_stand_for_it() {
    let signals = "PT-1:pressure_transmitter @ T-1; PT-1 ⇢ PZHH-1 ⇢ XY-1 ⇢ XV-1";
    for items in ["PZHH-1:interlock; XY-1:solenoid_valve", "XY-1:solenoid_valve; PZHH-1:interlock"] {
        let plant = format!("{VALVE}; {items}; {signals}");
        let found =
            r#"hazopNodes() | flatMap(.safeguards) | filter(.kind != "shutdown_valve") | map(.item.id) | uniq()"#;
        check(&plant, found, &json!(["PZHH-1"]).to_string());
    }
}

#[test]
fn the_service_of_logic_may_say_that_it_trips_nothing() {
    for service in ["start permissive", "alarm only", "bypassed", "out of service", "MOS active"] {
        assert!(!is_certain("I-1", &json!({"service": service})), "{service}");
    }
    for service in ["separator high level", "reactor feed", "overfill protection"] {
        assert!(is_certain("I-1", &json!({"service": service})), "{service}");
    }
}

#[test]
fn a_part_of_a_valve_that_is_stuck_makes_its_trip_uncertain() {
    for part in ["pallet", "plug", "seat", "spring", "stem", "disc"] {
        assert!(!is_certain("XV-1", &json!({"remarks": format!("{part} stuck")})), "{part}");
    }
}

#[test]
fn a_sensor_at_a_blinded_nozzle_measures_nothing() {
    let plant = |fields: Value| {
        let nozzle = json!({"id": "N6", "tag": "N6", "node_classification": "equipment_component.nozzle"});
        let mut plant: Value =
            serde_json::from_str(&document(&format!("{VALVE}; LSHH-1:level_switch ⇢ XV-1"))).expect("JSON");
        let mut nozzle = nozzle;
        fields.as_object().expect("fields").iter().for_each(|(key, value)| nozzle[key] = value.clone());
        let graph = &mut plant;
        graph["nodes"].as_array_mut().expect("nodes").push(nozzle);
        let edges = graph["edges"].as_array_mut().expect("edges");
        edges.push(json!({"id": "x", "from": "T-1", "to": "N6", "edge_type": "physically_has_a"}));
        edges.push(json!({"id": "y", "from": "LSHH-1", "to": "N6", "edge_type": "associated_with",
            "edge_classification": "association.is_located_in"}));
        plant.to_string()
    };
    for (fields, is_certain) in [
        (json!({}), true),
        (json!({"remarks": "blinded"}), false),
        (json!({"status": "blinded"}), false),
        (json!({"description": "spare, blinded"}), false),
        (json!({"remarks": "blind flange"}), false),
        (json!({"remarks": "not blinded"}), true),
        (json!({"remarks": "DN 50"}), true),
    ] {
        let plant = plant(fields.clone());
        assert_eq!(evaluate(&plant, CERTAIN), json!([is_certain]), "{fields}");
        let reasons = if is_certain { json!([]) } else { json!([["N6", "sensor_shut_off"]]) };
        assert_eq!(evaluate(&plant, NOT_FOLLOWED), reasons, "{fields}");
    }
}
