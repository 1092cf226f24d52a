//! Sides of equipment that a drawing does not state: no answer that rests on them is certain.

use pidq::{Graph, Limits, Query, Scratch};
use serde_json::{Value, json};

use crate::answers::answer;
use crate::drawing_notation::drawing;
use crate::graph::evaluate;

/// An exchanger with chambers at two of its nozzles: the side of `C` and `D` is not stated.
const PARTLY: &str = "T-1 → E-1.A@hot; E-1.B@hot → T-2; T-3 → E-1.C; E-1.D → T-4";
/// An exchanger without chambers.
const NONE: &str = "T-1 → E-1.A; E-1.B → T-2; T-3 → E-1.C; E-1.D → T-4";
const STATED: &str = "T-1 → E-1.A@hot; E-1.B@hot → T-2; T-3 → E-1.C@cold; E-1.D@cold → T-4";

/// Returns the result of a query and the messages of its warnings about sides.
fn warned(plant: &str, query: &str) -> (String, Vec<String>) {
    warned_of(&drawing(plant), query)
}

fn warned_of(document: &str, query: &str) -> (String, Vec<String>) {
    let graph = Graph::from_json(document).expect("JSON");
    let (query, scratch) = (Query::parse(query).expect("a query"), Scratch::default());
    let run = query.run(&graph, &scratch, Limits::default()).expect("a result");
    let messages = run.warnings.iter().filter(|warning| warning.code == "PQW16");
    let mut json = Vec::new();
    run.write_json(&mut json).expect("a small result");
    (String::from_utf8(json).expect("UTF-8"), messages.map(|warning| warning.message.clone()).collect())
}

#[test]
fn reachable_says_that_it_rests_on_a_side_that_is_not_stated() {
    let warns = |plant: &str, query: &str| {
        let (found, messages) = warned(plant, query);
        (found, messages.len())
    };
    let by_side = |from: &str, to: &str| format!(r#"reachable("{from}", "{to}", {{pass: "zone"}})"#);
    assert_eq!(warns(STATED, &by_side("T-1", "T-4")), ("false".into(), 0));
    assert_eq!(warns(STATED, &by_side("T-1", "T-2")), ("true".into(), 0));
    // The nozzle may be on the hot side, or not.
    assert_eq!(warns(PARTLY, &by_side("T-1", "T-4")), ("false".into(), 1));
    assert_eq!(warns(PARTLY, &by_side("T-1", "T-2")), ("true".into(), 0));
    assert_eq!(warns(PARTLY, &by_side("T-3", "T-2")), ("false".into(), 1));
    assert_eq!(warns(PARTLY, &by_side("T-3", "T-4")), ("true".into(), 1));
    // All are passed, and may be on different sides.
    assert_eq!(warns(NONE, &by_side("T-1", "T-4")), ("true".into(), 1));
    // No side matters to what cannot be reached at all, or on all sides.
    assert_eq!(warns(NONE, &by_side("T-2", "T-1")), ("false".into(), 0));
    assert_eq!(warns(NONE, r#"reachable("T-1", "T-4", {pass: "any"})"#), ("true".into(), 0));
    let (_, messages) = warned(PARTLY, &by_side("T-1", "T-4"));
    assert_eq!(messages, [r#"the drawing does not state on which side of its equipment "E-1.D" is"#]);
}

#[test]
fn walks_by_sides_warn_of_nozzles_whose_side_is_not_stated() {
    let count = |plant: &str, query: &str| warned(plant, query).1.len();
    for query in [
        r#"downstream("T-1", {pass: "zone"})"#,
        r#"trace("T-1", {pass: "zone"})"#,
        r#"connected("T-1", {pass: "zone"})"#,
        r#"between("T-1", "T-4", {pass: "zone"})"#,
        r#"paths("T-1", "T-4", {pass: "zone"})"#,
        r#"shortestPath("T-1", "T-4", {pass: "zone"})"#,
        r#"shortestPath("T-1", "T-4", {pass: "zone", weight: 1})"#,
    ] {
        assert_eq!(count(PARTLY, query), 1, "{query}");
        assert_eq!(count(NONE, query), 1, "{query}");
        assert_eq!(count(STATED, query), 0, "{query}");
        assert_eq!(count(PARTLY, &query.replace("zone", "any")), 0, "{query}");
    }
}

#[test]
fn only_exchangers_and_vessels_with_chambers_have_several_sides() {
    let warns = |plant: &str| !warned(plant, r#"downstream("T-1", {pass: "zone"})"#).1.is_empty();
    let through = |class: &str| format!("E-1(node_classification={class}); {NONE}");
    for class in ["equipment.plate_heat_exchanger", "Condenser", "equipment.kettle_reboiler", "jacketed_vessel"] {
        assert!(warns(&through(class)), "{class}");
    }
    for class in ["equipment.vessel", "CentrifugalPump", "equipment.air_cooled_heat_exchanger", "equipment.column"] {
        assert!(!warns(&through(class)), "{class}");
    }
    // One side is drawn.
    assert!(!warns("T-1 → E-1.A; E-1.B → T-2"));
    // The other side has no pipe on this sheet.
    assert!(warns("T-1 → E-1.A; E-1.B → T-2; E-1.C ⇢ I-1"));
    assert!(!warns("D-1(node_classification=equipment.vessel); T-1 → D-1.A; D-1.B → T-2; D-1.C ⇢ I-1"));
}

#[test]
fn a_vessel_with_two_chambers_has_several_sides() {
    let vessel = |chambers: &str| {
        let nozzle = |id: &str| json!({"id": id, "class": "nozzle", "parent_id": "D-1"});
        let mut nodes = vec![
            json!({"id": "T-1", "class": "tank"}),
            json!({"id": "D-1", "class": "vessel"}),
            json!({"id": "T-2", "class": "tank"}),
            nozzle("N1"),
            nozzle("N2"),
        ];
        nodes.extend(
            chambers
                .split_whitespace()
                .map(|chamber| json!({"id": chamber, "class": "equipment_component.chamber", "parent_id": "D-1"})),
        );
        let edges = json!([{"id": 1, "from": "T-1", "to": "N1"}, {"id": 2, "from": "N2", "to": "T-2"}]);
        json!({"nodes": nodes, "edges": edges}).to_string()
    };
    let count = |chambers: &str| {
        let (found, messages) = warned_of(&vessel(chambers), r#"reachable("T-1", "T-2", {pass: "zone"})"#);
        assert_eq!(found, "true");
        messages.len()
    };
    assert_eq!(count(""), 0);
    assert_eq!(count("C1"), 0);
    assert_eq!(count("C1 C2"), 1);
}

#[test]
fn an_isolation_past_nozzles_without_a_side_is_not_certain() {
    let judged = |plant: &str| {
        let query = r#"isolate("T-1", {pass: "zone"}) | [.certain, .uncertain | map([.reason, .at.id])]"#;
        answer(plant, query)
    };
    let valves = |plant: &str| {
        plant.replace("→ T-2", "→ V-2 → T-2").replace("→ T-4", "→ V-4 → T-4").replace("T-3 →", "T-3 → V-3 →")
    };
    assert_eq!(judged(&valves(STATED)), json!([false, [["other_side", "E-1/cold"]]]));
    assert_eq!(judged(&valves(PARTLY)), json!([false, [["unstated_side", "E-1.C"], ["unstated_side", "E-1.D"]]]));
    let all = json!([["unstated_side", "E-1.B"], ["unstated_side", "E-1.C"], ["unstated_side", "E-1.D"]]);
    assert_eq!(judged(&valves(NONE)), json!([false, all]));
    // Both chambers of a vessel are one volume.
    assert_eq!(judged("T-1 → D-1.A; D-1.B → V-2 → T-2; D-1.C → V-3 → T-3"), json!([true, []]));
}

#[test]
fn a_volume_that_grows_through_exchangers_by_side_leaves_the_other_side_out() {
    let plant = "T-1 → E-1.A@hot; E-1.B@hot → V-2 → T-2; T-3 → V-3 → E-1.C@cold; E-1.D@cold → V-4 → T-4";
    let barriers = |options: &str| {
        let query = format!(r#"isolate("T-1", {{scope: "grow"{options}}}) | [.barriers | map(.node.id), .certain]"#);
        answer(plant, &query)
    };
    assert_eq!(barriers(""), json!([["V-2", "V-3", "V-4"], true]));
    // The wall between the sides may leak.
    assert_eq!(barriers(r#", pass: "zone""#), json!([["V-2"], false]));
    assert_eq!(barriers(r#", pass: "any""#), json!([["V-2", "V-3", "V-4"], true]));
}

#[test]
fn what_a_relief_device_protects_past_a_side_that_is_not_stated_is_not_certain() {
    let rows = |plant: &str| answer(plant, "reliefList() | map([.protects, .reasons, .certain])");
    let relief = "; J-1 → RV-1 → O-1";
    let at_outlet = |plant: &str| plant.replace("→ T-2", "→ J-1 → T-2") + relief;
    assert_eq!(rows(&at_outlet(STATED)), json!([["E-1/hot, T-2, T-1", "", true]]));
    let partly = "unstated_side E-1-C, unstated_side E-1-D";
    assert_eq!(rows(&at_outlet(PARTLY)), json!([["E-1/hot, T-2, T-1", partly, false]]));
    let none = "unstated_side E-1-A, unstated_side E-1-C, unstated_side E-1-D";
    assert_eq!(rows(&at_outlet(NONE)), json!([["E-1, T-2, T-1, T-3, T-4", none, false]]));
}

#[test]
fn a_relief_device_behind_a_side_that_is_not_stated_is_no_certain_safeguard() {
    let safeguards = |plant: &str| {
        let row = r#".item.id + if(.certain, "", "?")"#;
        answer(plant, &format!("hazopNodes() | map([(.from | map(.id) | first()), .safeguards | map({row})])"))
    };
    let own_device = "T-1.N → V-1 → E-1.A; E-1.B → RV-1 → O-1; T-3.N → V-3 → E-1.C; E-1.D → T-4.N";
    let expected = json!([["T-1.N", ["RV-1?"]], ["E-1.B", ["RV-1"]], ["T-3.N", ["RV-1?"]], ["E-1.D", ["RV-1?"]]]);
    // Which of them are on its side is not stated.
    assert_eq!(safeguards(own_device), expected);
    let beyond = "T-1.N → V-1 → D-1.A; D-1.B → E-1.A; E-1.B → RV-1 → O-1; T-3.N → V-3 → E-1.C; E-1.D → V-4 → T-4.N";
    assert_eq!(safeguards(beyond)[0], json!(["T-1.N", ["RV-1?"]]));
}

#[test]
fn a_relief_device_at_one_nozzle_is_no_certain_protection_of_the_others() {
    let rows = |equipment: &str| {
        let plant = format!("{equipment}; E-1.A → RV-1 → O-1; D-1 → E-1.B; E-1.C → T-2");
        let mut document: Value = serde_json::from_str(&drawing(&plant)).expect("JSON");
        for edge in document["pid_graph"]["edges"].as_array_mut().expect("edges") {
            if edge["from"] == "D-1" {
                edge["design_pressure"] = json!("40 barg");
            }
        }
        let graph = Graph::from_json(document.to_string()).expect("a drawing is JSON");
        let query = r#"pressureInterfaces().interfaces | filter(.at.id == "E-1.B") | map([.certain, .reasons])"#;
        evaluate(&graph, query, "{}").expect("a result")
    };
    let vessel = "E-1(node_classification=equipment.vessel, design_pressure=10 barg";
    let unknown = json!([[false, ["relief_connection_unknown"]]]);
    assert_eq!(rows(&format!("{vessel})")), json!([[true, []]]));
    assert_eq!(rows("E-1(design_pressure=10 barg)"), unknown);
    for fields in [
        "description=jacketed reactor",
        "remarks=with half-pipe coil",
        "component_name=Rührkessel mit Doppelmantel",
        "jacket=true",
    ] {
        assert_eq!(rows(&format!("{vessel}, {fields})")), unknown, "{fields}");
    }
    for fields in ["description=jacket steam inlet", "service=jacket", "side=jacket"] {
        assert_eq!(rows(&format!("{vessel}); E-1.B; E-1.B({fields})")), unknown, "{fields}");
    }
    assert_eq!(rows(&format!("{vessel}); E-1.B; E-1.B(description=feed inlet, side=left)")), json!([[true, []]]));
}

#[test]
fn a_side_that_nozzles_name_by_a_word_is_named_with_its_equipment() {
    let plant = "E-1.A; E-1.A(zone=jacket); E-1.B; E-1.B(zone=vessel); E-1.A → RV-1 → O-1; D-1 → E-1.B";
    assert_eq!(answer(plant, "reliefList() | map([.protects, .certain])"), json!([["E-1 (jacket)", true]]));
}

#[test]
fn the_wall_to_a_side_that_a_branch_does_not_reach_makes_an_isolation_uncertain() {
    let isolated = |rest: &str, pass: &str| {
        let plant = format!("D-1 → E-1.A@hot; E-1.B@hot → V-2 → T-2; {rest}");
        answer(&plant, &format!(r#"isolate("D-1", {{pass: "{pass}"}}) | [.isolated, (.uncertain | map(.reason))]"#))
    };
    assert_eq!(isolated("T-3 → E-1.C@cold; E-1.D@cold → T-4", "zone"), json!(["unknown", ["other_side"]]));
    assert_eq!(isolated("D-1 → E-1.C@cold; E-1.D@cold → V-4 → T-4", "zone"), json!(["yes", []]));
    assert_eq!(isolated("D-1 → V-3 → T-3", "zone"), json!(["yes", []]));
}

#[test]
fn a_section_with_an_exchanger_is_certain_if_its_sides_are_stated() {
    let uncertain = |sides: [&str; 2]| {
        let [hot, cold] = sides;
        let plant = format!(
            "T-1 → SDV-1 → E-1.A{hot}; E-1.B{hot} → SDV-2 → T-2; T-3 → SDV-3 → E-1.C{cold}; E-1.D{cold} → SDV-4 → T-4"
        );
        let query =
            r#"inventorySections() | filter("E-1" in (.equipment | map(.id))) | map(.uncertain | map(.reason))"#;
        answer(&plant, query)
    };
    assert_eq!(uncertain(["@hot", "@cold"]), json!([[], []]));
    let unstated = |count: usize| vec!["unstated_side"; count];
    assert_eq!(uncertain(["@hot", ""]), json!([unstated(2), unstated(4)]));
    assert_eq!(uncertain(["", ""]), json!([unstated(4)]));
}

#[test]
fn the_sides_of_an_exchanger_without_nozzles_are_not_stated() {
    const PIPES: &str = "T-1 → V-1 → J-1 → E-1 → V-2 → T-2; T-3 → V-3 → E-1 → V-4 → T-4";
    const TWO_PIPES: &str = "T-1 → V-1 → J-1 → E-1 → V-2 → T-2";
    let walk = |plant: &str, query: &str| warned(plant, query).1.len();
    for query in [
        r#"downstream("T-1", {pass: "zone"})"#,
        r#"trace("T-1", {pass: "zone"})"#,
        r#"reachable("T-1", "T-4", {pass: "zone"})"#,
        r#"paths("T-1", "T-4", {pass: "zone"})"#,
    ] {
        assert_eq!(walk(PIPES, query), 1, "{query}");
        assert_eq!(walk(&PIPES.replace("E-1", "D-1"), query), 0, "{query}");
        assert_eq!(walk(PIPES, &query.replace("zone", "any")), 0, "{query}");
    }
    assert_eq!(walk(TWO_PIPES, r#"downstream("T-1", {pass: "zone"})"#), 0);
    let (_, messages) = warned(PIPES, r#"downstream("T-1", {pass: "zone"})"#);
    assert_eq!(messages, [r#"the drawing does not state on which side of its equipment "E-1" is"#]);
    let isolated = r#"isolate("J-1", {pass: "zone"}) | [.isolated, .uncertain | map([.reason, .at.id])]"#;
    assert_eq!(answer(PIPES, isolated), json!(["unknown", [["unstated_side", "E-1"]]]));
    assert_eq!(answer(&PIPES.replace("E-1", "D-1"), isolated), json!(["yes", []]));
    assert_eq!(answer(TWO_PIPES, isolated), json!(["yes", []]));
    assert_eq!(answer(PIPES, &isolated.replace("zone", "any")), json!(["yes", []]));
    let whole = r#"isolate("E-1", {pass: "zone"}).uncertain | map(.reason)"#;
    assert_eq!(answer(PIPES, whole), json!(["junction_with_two_pipes"]));
}

#[test]
fn a_storage_tank_with_a_second_wall_has_one_side() {
    let is_certain = |class: &str| {
        let node = |id: &str, class: &str| json!({"id": id, "class": class});
        let pipe = |from: &str, to: &str| json!({"from": from, "to": to});
        let ends = ["1", "2", "3"].map(|end| (format!("V-{end}"), format!("X-{end}")));
        let mut nodes = vec![json!({"id": "T-1", "class": class})];
        let mut pipes = Vec::new();
        for (valve, end) in &ends {
            nodes.extend([node(valve, "gate_valve"), node(end, "off_page_connector")]);
            pipes.extend([pipe("T-1", valve), pipe(valve, end)]);
        }
        let graph = Graph::from_json(json!({"nodes": nodes, "edges": pipes}).to_string()).expect("a drawing");
        evaluate(&graph, r#"isolate("V-1", {pass: "zone"}).certain"#, "{}").expect("an answer")
    };
    assert_eq!(is_certain("tank"), json!(true));
    assert_eq!(is_certain("double_wall_tank"), json!(true));
    assert_eq!(is_certain("double_walled_storage_tank"), json!(true));
    assert_eq!(is_certain("double_walled_reactor"), json!(false));
}

#[test]
fn the_pipes_of_equipment_without_nozzles_may_be_on_different_sides() {
    let plant = |class: &str| {
        format!(
            "E-1(node_classification=equipment.{class}); X-1 → V-1 → E-1 → V-2 → X-2; X-3 → V-3 → E-1 → V-4 → X-4; \
             E-1 → V-5(closed) → O-1"
        )
    };
    let proofs = r#"isolationPlan("E-1").barriers | filter(.node.id != "V-5") | map([.bleed.id, .certain]) | uniq()"#;
    let verified = r#"isolationPlan("E-1").steps | filter(.action == "verify") | size()"#;
    for class in ["shell_and_tube_heat_exchanger", "plate_heat_exchanger", "condenser", "jacketed_vessel"] {
        assert_eq!(answer(&plant(class), proofs), json!([[null, true]]), "{class}");
        assert_eq!(answer(&plant(class), verified), json!(0), "{class}");
    }
    for class in ["vessel", "drum", "centrifugal_pump"] {
        assert_eq!(answer(&plant(class), proofs), json!([["V-5", true]]), "{class}");
    }
    assert_eq!(answer(&plant("piston_pump"), proofs), json!([[null, true]]));
    assert_eq!(answer(&plant("pump"), proofs), json!([["V-5", false]]));
    let inventory = |class: &str| {
        let plant = plant(class).replace("V-", "SDV-");
        answer(
            &plant,
            "inventorySections() | filter(.equipment | any(.id == \"E-1\")) | map(.uncertain | map(.reason))",
        )
    };
    assert_eq!(inventory("plate_heat_exchanger")[0][0], json!("unstated_side"));
    assert_eq!(inventory("vessel")[0], json!([]));
}

/// Returns what the relief valve of a reactor protects and whether that is certain, and the certainty of its inventory section,
/// of a reactor with a jacket that owns some nozzles.
fn answers_beside_a_jacket(reactor: &str, jacket: &str, of_jacket: &[&str], service: &str) -> Value {
    let node = |id: &str, class: &str| json!({"id": id, "tag": id, "node_classification": class});
    let nozzles = ["N1", "N2", "J1", "J2"];
    let mut nodes = vec![
        node("R-1", reactor),
        node("R-1-J", jacket),
        node("PSV-1", "piping_component.safety_valve"),
        node("O-1", "reference.open_end"),
        node("V-2", "piping_component.shutdown_valve"),
        node("D-1", "equipment.vessel"),
        node("X-1", "reference.off_page_connector"),
        node("X-2", "reference.off_page_connector"),
    ];
    nodes.extend(nozzles.map(|nozzle| node(nozzle, "equipment_component.nozzle")));
    nodes.iter_mut().filter(|node| node["id"] == "N2").for_each(|node| node["service"] = json!(service));
    let edge = |from: &str, to: &str, kind: &str| json!({"from": from, "to": to, "edge_type": kind});
    let pipe = |from: &str, to: &str| edge(from, to, "physically_connected_to");
    let mut edges = vec![
        edge("R-1", "R-1-J", "physically_has_a"),
        pipe("N1", "PSV-1"),
        pipe("PSV-1", "O-1"),
        pipe("N2", "V-2"),
        pipe("V-2", "D-1"),
        pipe("X-1", "J1"),
        pipe("J2", "X-2"),
    ];
    let owner = |nozzle: &str| if of_jacket.contains(&nozzle) { "R-1-J" } else { "R-1" };
    edges.extend(nozzles.map(|nozzle| edge(owner(nozzle), nozzle, "physically_has_a")));
    let graph =
        Graph::from_json(json!({"pid_graph": {"nodes": nodes, "edges": edges}}).to_string()).expect("a drawing");
    let query = r#"[
        reliefList() | map([.protects, .certain]),
        inventorySections() | filter(.items | map(.id) | "N2" in get()) | map(.uncertain | map(.reason) | "unstated_side" in get())
    ]"#;
    evaluate(&graph, query, "{}").expect("it runs")
}

#[test]
fn what_a_jacket_does_not_own_belongs_to_the_vessel() {
    let both = ["J1", "J2"].as_slice();
    let answers = |reactor, of_jacket, service| {
        answers_beside_a_jacket(reactor, "equipment_component.jacket", of_jacket, service)
    };
    let reactor = "equipment.reactor";
    assert_eq!(answers(reactor, both, "product"), json!([[["R-1", true]], [false]]));
    // The outlet of the jacket may be among the others.
    assert_eq!(answers(reactor, &["J1"], "product"), json!([[["R-1", false]], [true]]));
    assert_eq!(answers(reactor, both, "jacket drain"), json!([[["R-1", false]], [true]]));
    assert_eq!(answers("equipment.heat_exchanger", both, "product"), json!([[["R-1", false]], [true]]));
    let chamber = answers_beside_a_jacket(reactor, "equipment_component.chamber", both, "product");
    assert_eq!(chamber, json!([[["R-1", false]], [true]]));
}
