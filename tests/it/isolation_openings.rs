//! Openings to the air and ends of drains: funnels of several pipes, silencers, breather valves, texts of open ends; the walls
//! and nozzles of equipment at a boundary.

use pidq::Graph;
use serde_json::{Value, json};

use crate::drawing_notation::drawing;
use crate::graph::evaluate;

fn answer_of(document: &str, query: &str) -> Value {
    let graph = Graph::from_json(document).expect("a drawing is JSON");
    evaluate(&graph, query, "{}").unwrap_or_else(|error| panic!("{query} on {document}: {error}"))
}

fn answer(plant: &str, query: &str) -> Value {
    answer_of(&drawing(plant), query)
}

const JUDGED: &str = r#"isolate("D-1") | [.isolated, .unresolved | map([.kind, .at.id])]"#;

#[test]
fn a_funnel_is_open_to_the_air_whatever_the_number_of_its_pipes() {
    for class in ["drain_funnel", "tundish", "hub_drain", "floor_drain", "open_drain", "DrainFunnel"] {
        let funnel = format!("H-1(node_classification=piping_component.{class})");
        let relieved = format!("X-1 → V-1 → D-1; D-1 → V-2(closed) → {funnel}; D-1 → RV-1 → H-1");
        assert_eq!(answer(&relieved, JUDGED), json!(["no", [["open_end", "H-1"]]]), "{class}");
        assert_eq!(answer(&relieved, r#"isolate("D-1").internal | map(.id)"#), json!([]), "{class}");
        assert_eq!(answer(&relieved, r#"boundary("D-1", ["V-1", "V-2"]).leaks | map(.id)"#), json!(["H-1"]), "{class}");
        let overflow = format!("X-1 → V-1 → D-1; D-1 → {funnel}; D-1 → V-2 → H-1");
        assert_eq!(answer(&overflow, JUDGED), json!(["no", [["open_end", "H-1"]]]), "{class}");
        let closed = format!("X-1 → V-1 → D-1; D-1 → V-2 → {funnel}; D-1 → V-3 → H-1");
        assert_eq!(answer(&closed, JUDGED), json!(["yes", []]), "{class}");
    }
    // A tee of several pipes is none.
    let tee = "X-1 → V-1 → D-1; D-1 → V-2(closed) → J-1; D-1 → RV-1 → J-1; J-1 → V-3 → X-2";
    assert_eq!(answer(tee, r#"isolate("D-1").isolated"#), json!("yes"));
}

#[test]
fn drains_that_share_an_end_are_bleeds_and_dead_ends() {
    for end in ["H-1(node_classification=piping_component.drain_funnel)", "O-1"] {
        let id = &end[..3];
        let plant = format!("X-1 → V-1 → D-1; D-1 → V-2 → {end}; D-1 → V-3 → {id}");
        assert_eq!(answer(&plant, r#"bleeds("D-1") | map(.id)"#), json!(["V-2", "V-3"]), "{plant}");
        let items = answer(&plant, "deadEnds() | map(.items | map(.id))");
        assert_eq!(items, json!([["V-2", id], ["V-3", id]]), "{plant}");
        // The pipe from the funnel to the sewer is no dead end.
        let sewer = format!("{plant}; {id} → X-9");
        assert_eq!(answer(&sewer, "deadEnds() | size()"), json!(2), "{sewer}");
    }
}

#[test]
fn equipment_with_one_pipe_that_blows_out_is_open() {
    let judged = |class: &str| {
        let plant = format!("X-1 → V-1 → D-1 → E-9(node_classification=equipment.{class})");
        answer(&plant, r#"[(isolate("D-1", {scope: "grow"}).isolated), (boundary("D-1", ["V-1"]).leaks | map(.id))]"#)
    };
    let outlets = ["silencer", "exhaust_silencer", "vent_silencer", "exhaust_head", "vent_head", "muffler"];
    for class in outlets.into_iter().chain(["flame_arrester", "end_of_line_flame_arrester", "bird_screen", "gooseneck"])
    {
        assert_eq!(judged(class), json!(["no", ["E-9"]]), "{class}");
    }
    for class in ["hydrant", "safety_shower"] {
        assert_eq!(judged(class)[0], json!("unknown"), "{class}");
    }
    assert_eq!(judged("vessel"), json!(["yes", []]));
    // In a line, it is passed.
    let in_line = "X-1 → V-1 → D-1 → E-9(node_classification=equipment.silencer) → V-2 → X-2";
    assert_eq!(answer(in_line, r#"isolate("D-1", {scope: "grow"}).isolated"#), json!("yes"));
}

#[test]
fn a_breather_valve_is_a_vent_and_no_gap() {
    let plant = "X-1 → V-1 → D-1; D-1 → RV-1(node_classification=piping_component.breather_valve)";
    assert_eq!(answer(plant, JUDGED), json!(["no", [["open_end", "RV-1"]]]));
    assert_eq!(answer(plant, r#"isolate("D-1").data_gaps"#), json!([]));
    assert_eq!(answer(plant, "deadEnds() | map([.class, .end.id])"), json!([["vent", "RV-1"]]));
    let without_outlet = "X-1 → V-1 → D-1; D-1 → RV-1";
    assert_eq!(answer(without_outlet, JUDGED), json!(["no", [["free_port", "RV-1"]]]));
}

#[test]
fn an_open_end_that_names_where_it_leads_is_that_of_a_drain() {
    for (text, expected) in [
        ("to grade", json!(["V-2"])),
        ("to bund sump", json!(["V-2"])),
        ("to pit", json!(["V-2"])),
        ("to safe location", json!(["V-2"])),
        ("to gutter", json!(["V-2"])),
        ("to OWS", json!(["V-2"])),
        ("to catch pot", json!(["V-2"])),
        ("to containment", json!(["V-2"])),
        ("free blow to grade", json!(["V-2"])),
        ("wash water", json!([])),
        ("steam out to grade", json!([])),
        ("nitrogen supply", json!([])),
    ] {
        let plant = format!("X-1 → V-1 → D-1; D-1 → V-2(closed) → O-1(description={text})");
        assert_eq!(answer(&plant, r#"bleeds("D-1") | map(.id)"#), expected, "{text}");
    }
}

/// Returns a drawing of nodes (id, class, further fields) and pipes.
fn document(nodes: &[(&str, &str, Value)], pipes: &[[&str; 2]]) -> String {
    let node = |(id, class, fields): &(&str, &str, Value)| {
        let mut node = json!({"id": id, "tag": id, "node_type": "pid_component", "node_classification": class});
        for (key, value) in fields.as_object().into_iter().flatten() {
            node[key] = value.clone();
        }
        node
    };
    let pipe = |[from, to]: &[&str; 2]| json!({"from": from, "to": to, "edge_type": "physically_connected_to"});
    let nodes: Vec<Value> = nodes.iter().map(node).collect();
    let edges: Vec<Value> = pipes.iter().map(pipe).collect();
    json!({"pid_graph": {"nodes": nodes, "edges": edges}}).to_string()
}

const NOZZLE: &str = "equipment_component.nozzle";

#[test]
fn a_nozzle_that_is_said_to_be_blinded_is_so_where_its_blind_is_drawn() {
    let judged = |text: &str, end: &str| {
        let nodes = [
            ("X-1", "reference.off_page_connector", json!({})),
            ("V-1", "piping_component.gate_valve", json!({})),
            ("D-1", "equipment.vessel", json!({})),
            ("N1", NOZZLE, json!({"parent_id": "D-1"})),
            ("N2", NOZZLE, json!({"parent_id": "D-1", "description": text})),
            ("B-1", end, json!({})),
        ];
        answer_of(&document(&nodes, &[["X-1", "V-1"], ["V-1", "N1"], ["N2", "B-1"]]), r#"isolate("D-1").isolated"#)
    };
    for text in ["Spare nozzle, blinded", "blinded", "Spare (blinded)", "Future connection", "spare"] {
        assert_eq!(judged(text, "piping_component.blind_flange"), json!("yes"), "{text}");
    }
    assert_eq!(judged("Spare nozzle, blinded", "piping_component.pipe_cap"), json!("yes"));
    // A valve is no blind.
    assert_eq!(judged("Spare nozzle, blinded", "reference.off_page_connector"), json!("no"));
}

#[test]
fn the_shell_of_a_tank_is_its_wall() {
    let judged = |class: &str, texts: [&str; 3]| {
        let nozzle =
            |at: usize| (["N1", "N2", "N3"][at], NOZZLE, json!({"parent_id": "D-1", "description": texts[at]}));
        let nodes = [("D-1", class, json!({})), nozzle(0), nozzle(1), nozzle(2)];
        let ends = ["V-1", "V-2", "V-3"].map(|id| (id, "piping_component.gate_valve", json!({})));
        let sheets = ["X-1", "X-2", "X-3"].map(|id| (id, "reference.off_page_connector", json!({})));
        let nodes: Vec<_> = nodes.into_iter().chain(ends).chain(sheets).collect();
        let pipes = [["X-1", "V-1"], ["V-1", "N1"], ["N2", "V-2"], ["V-2", "X-2"], ["N3", "V-3"], ["V-3", "X-3"]];
        answer_of(&document(&nodes, &pipes), r#"isolate("N1", {pass: "zone"}).uncertain | map(.reason) | uniq()"#)
    };
    for class in ["equipment.tank", "equipment.storage_tank", "equipment.column", "equipment.vessel"] {
        assert_eq!(judged(class, ["Inlet", "Outlet", "Shell manhole 24\""]), json!([]), "{class}");
        assert_eq!(judged(class, ["Inlet", "Jacket", "Shell nozzle"]), json!(["unstated_side"]), "{class}");
        assert_eq!(judged(class, ["Inlet", "Tube outlet", "Shell outlet"]), json!(["unstated_side"]), "{class}");
    }
    assert_eq!(judged("equipment.reactor", ["Inlet", "Outlet", "Shell outlet"]), json!(["unstated_side"]));
}

#[test]
fn a_boundary_keeps_to_the_side_of_an_exchanger() {
    let plant = "X-1 → V-1 → E-1.N1@shell; E-1.N2@shell → V-2 → X-2; X-3 → V-3 → E-1.N3@tube; E-1.N4@tube → V-4 → X-4";
    let leaks = |stops: &str| answer(plant, &format!(r#"boundary("E-1.N1", {stops}).leaks | map(.id)"#));
    assert_eq!(leaks(r#"["V-1", "V-2"]"#), json!([]));
    assert_eq!(leaks(r#"["V-1"]"#), json!(["X-2"]));
    // Where the sides are not stated, the wall is not known.
    let unstated = plant.replace("@shell", "").replace("@tube", "");
    let found = answer(&unstated, r#"boundary("E-1.N1", ["V-1", "V-2"]).leaks | map(.id)"#);
    assert_eq!(found, json!(["X-3", "X-4"]));
    let partly = plant.replace("N2@shell", "N2").replace("N3@tube", "N3");
    let found = answer(&partly, r#"boundary("E-1.N1", ["V-1", "V-2"]).leaks | map(.id)"#);
    assert_eq!(found, json!(["E-1.N2", "E-1.N3"]));
}

#[test]
fn the_valves_of_a_well_are_hand_valves_by_their_description() {
    let judged = |tag: &str, text: &str| {
        let plant = format!("X-1 → V-1(tag={tag},description={text}) → D-1");
        answer(&plant, r#"isolate("D-1").isolated"#)
    };
    for (tag, text) in [
        ("LMV-1", "Lower master valve manual"),
        ("SV-1", "Swab valve"),
        ("KV-1", "Kill valve"),
        ("AV-1", "Annulus valve"),
        ("WV-1", "Wing valve manual"),
        ("XOV-1", "Crossover valve manual"),
        ("PIV-1", "Post indicator valve"),
    ] {
        assert_eq!(judged(tag, text), json!("yes"), "{tag} {text}");
    }
    for (tag, text) in [("SV-1", "Isolation"), ("LMV-1", "Upper master valve"), ("XOV-1", "Overboard valve")] {
        assert_ne!(judged(tag, text), json!("yes"), "{tag} {text}");
    }
}

#[test]
fn fittings_and_flow_instruments_in_a_pipe_are_known() {
    for class in
        ["diaphragm_seal", "chemical_seal", "swage", "snubber", "coriolis_meter", "vortex_meter", "averaging_pitot"]
    {
        let plant = format!("X-1 → V-1 → S-1(node_classification=piping_component.{class}) → D-1");
        assert_eq!(answer(&plant, r#"isolate("D-1").isolated"#), json!("yes"), "{class}");
    }
    let unknown = "X-1 → V-1 → S-1(node_classification=piping_component.gizmo) → D-1";
    assert_eq!(answer(unknown, r#"isolate("D-1").isolated"#), json!("unknown"));
}

#[test]
fn a_walk_from_a_line_begins_at_its_items() {
    let mut drawing: Value = serde_json::from_str(&drawing("D-1 → V-1 → D-2 → V-2 → D-3")).expect("a drawing is JSON");
    let graph = &mut drawing["pid_graph"];
    let line = json!({"id": "L-1", "tag": "8-AM-1", "node_type": "pipe_system"});
    graph["nodes"].as_array_mut().expect("nodes").push(line);
    for edge in graph["edges"].as_array_mut().expect("edges") {
        if edge["from"] == "D-1" || edge["to"] == "D-2" {
            edge["line"] = json!("L-1");
        }
    }
    let document = drawing.to_string();
    for (query, expected) in [
        (r#"reachable("8-AM-1", "D-2")"#, json!(true)),
        (r#"reachable("8-AM-1", "D-1")"#, json!(false)),
        (r#"reachable("D-1", "8-AM-1")"#, json!(true)),
        (r#"shortestPath("8-AM-1", "D-2") | .nodes | map(.id)"#, json!(["V-1", "D-2"])),
        (r#"downstream("8-AM-1") | map(.id)"#, json!(["D-2"])),
        (r#"upstream("8-AM-1") | map(.id)"#, json!(["D-1"])),
        (r#"trace("8-AM-1") | map(.node.id)"#, json!(["V-1", "D-2"])),
        (
            r#"boundary("8-AM-1", ["D-1", "D-2"]) | [.inside, .boundary] | map(map(.id))"#,
            json!([["V-1"], ["D-1", "D-2"]]),
        ),
        // The line is one of its neighbors by its edges of other kinds, and has none here.
        (r#"connected("8-AM-1") | map(.id)"#, json!(["D-1", "D-2"])),
    ] {
        assert_eq!(answer_of(&document, query), expected, "{query}");
    }
}
