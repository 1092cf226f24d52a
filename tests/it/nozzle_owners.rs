//! Nozzles by edges for members, or by their tags: every answer is that of the same drawing with edges for parts.

use pidq::Graph;
use serde_json::{Value, json};

use crate::drawing_notation::drawing;
use crate::graph::evaluate;

/// A vessel with a relief valve, pumps with a bypass, an exchanger with chambers, and a vessel that vents.
const PLANTS: &[&str] = &[
    "D-1.N1 → V-1 → P-1.S; P-1.D → CK-1 → V-2 → E-1.A@tube; E-1.B@tube → D-2.N1; D-1.N9 → RV-1 → D-3.N1; D-3.N2 → O-1;
     T-3 → E-1.C@shell; E-1.D@shell → X-1",
    "D-1.N1 → P-1.S; P-1.D → J-1 → SDV-1 → D-2.N1; J-1 → RV-1 → T-1.N1; T-1.N2 → O-1; T-1.N3 → V-3 → D-1.N2",
    "X-1 → SDV-1 → D-1.N1; D-1.N2 → BDV-1 → X-2; D-1.N3 → V-1 → O-1; D-1.N4 → B-1; D-1.N5 → P-1.S; P-1.D → V-9 → D-1.N6",
];

const QUERIES: &[&str] = &[
    "reliefList()",
    "inventorySections()",
    "hazopNodes()",
    "pressureInterfaces()",
    "nozzleList()",
    "equipmentGraph()",
    "recycles() | map({equipment: .equipment, items: .items})",
    "deadEnds()",
    "validate()",
    "openEnds()",
    "drains()",
    r#"boundary("D-1", ["V-1"])"#,
    r#"trace("D-1", {pass: "zone"})"#,
    r#"downstream("D-1", {pass: "any"}) | map(.tag)"#,
    r#"isolate("P-1")"#,
    r#"isolate("D-1")"#,
    r#"isolationPlan("P-1")"#,
    r#"isolate("E-1")"#,
];

/// Returns a drawing whose nozzles belong to equipment by edges of a kind.
fn with_owner_edges(plant: &str, kind: &str, is_reversed: bool) -> Graph {
    let mut document: Value = serde_json::from_str(&drawing(plant)).expect("a drawing is JSON");
    let edges = document["pid_graph"]["edges"].as_array_mut().expect("edges");
    for edge in edges.iter_mut().filter(|edge| edge["edge_type"] == "physically_has_a") {
        edge["edge_type"] = json!(kind);
        if is_reversed {
            (edge["from"], edge["to"]) = (edge["to"].take(), edge["from"].take());
        }
    }
    Graph::from_json(document.to_string()).expect("a drawing")
}

/// Returns the result of a query, or the message of an item that this plant lacks.
fn answer(graph: &Graph, query: &str) -> Value {
    evaluate(graph, query, "{}").unwrap_or_else(|error| {
        assert!(error.starts_with("PQ3002"), "{query}: {error}");
        json!(error)
    })
}

#[test]
fn nozzles_by_edges_for_members_are_those_of_their_equipment() {
    let kinds =
        [("has_a", false), ("contains", false), ("composition", false), ("part_of", true), ("belongs_to", true)];
    for plant in PLANTS {
        let expected = with_owner_edges(plant, "physically_has_a", false);
        for (kind, is_reversed) in kinds {
            let graph = with_owner_edges(plant, kind, is_reversed);
            for query in QUERIES {
                assert_eq!(answer(&graph, query), answer(&expected, query), "{query} with {kind} in {plant}");
            }
        }
    }
}

/// Returns a drawing with the tags of nozzles qualified, or with short ones, and with or without the edges that tie them to
/// their equipment.
fn with_nozzle_tags(plant: &str, is_qualified: bool, has_edges: bool) -> Graph {
    let mut document: Value = serde_json::from_str(&drawing(plant)).expect("a drawing is JSON");
    let owner_of = |nozzle: &str| nozzle.split_once('.').map(|(owner, own)| (owner.to_owned(), own.to_owned()));
    let nodes = document["pid_graph"]["nodes"].as_array_mut().expect("nodes");
    for node in nodes.iter_mut() {
        if let Some((owner, own)) = node["id"].as_str().and_then(owner_of) {
            node["tag"] = json!(if is_qualified { format!("{owner}-{own}") } else { own });
        }
    }
    let edges = document["pid_graph"]["edges"].as_array_mut().expect("edges");
    let is_owner = |edge: &Value| {
        let owner = edge["to"].as_str().and_then(owner_of).map(|(owner, _)| owner);
        edge["edge_type"] == "physically_has_a" && edge["from"].as_str() == owner.as_deref()
    };
    edges.retain(|edge| has_edges || !is_owner(edge));
    Graph::from_json(document.to_string()).expect("a drawing")
}

#[test]
fn nozzles_belong_to_the_equipment_that_their_tag_or_id_begins_with() {
    // `isolate` says that a nozzle belongs to equipment only by its tag, which its other answers depend on.
    let is_compared = |query: &&&str| !query.starts_with("isolat") && **query != "validate()";
    for plant in PLANTS {
        for is_qualified in [true, false] {
            let [expected, graph] = [true, false].map(|has_edges| with_nozzle_tags(plant, is_qualified, has_edges));
            for query in QUERIES.iter().filter(is_compared) {
                // The way to a nozzle without an edge has none to name.
                let query = query.replace(r#"{pass: "zone"})"#, r#"{pass: "zone"}) | map(.node.id)"#);
                assert_eq!(answer(&graph, &query), answer(&expected, &query), "{query}, {is_qualified} in {plant}");
            }
        }
    }
    let graph = with_nozzle_tags(PLANTS[0], true, false);
    assert_eq!(answer(&graph, r#"isolate("P-1").uncertain | map(.reason) | uniq()"#), json!(["nozzle_by_tag"]));
}

/// A package, its vessel and two nozzles, with edges for members.
fn package(edges: Value) -> Graph {
    let node = |id: &str, class: &str| json!({"id": id, "tag": id, "node_classification": class});
    let nodes = json!([
        node("K-1", "equipment.package_unit"),
        node("V-1", "equipment.vessel"),
        node("C-1", "equipment_component.chamber"),
        node("A-1", "plant_area"),
        node("N1", "equipment_component.nozzle"),
        node("HV-1", "piping_component.gate_valve"),
    ]);
    let pipe = json!({"from": "N1", "to": "HV-1", "edge_type": "physically_connected_to"});
    let mut all = vec![pipe];
    all.extend(edges.as_array().expect("edges").iter().cloned());
    Graph::from_json(json!({"pid_graph": {"nodes": nodes, "edges": all}}).to_string()).expect("a drawing")
}

#[test]
fn the_innermost_equipment_has_the_nozzle() {
    let has = |whole: &str, part: &str| json!({"from": whole, "to": part, "edge_type": "contains"});
    let cases = [
        (json!([has("V-1", "N1")]), json!(["V-1"])),
        // The package contains all that is in it.
        (json!([has("K-1", "N1"), has("K-1", "V-1"), has("V-1", "N1")]), json!(["V-1"])),
        (json!([has("V-1", "N1"), has("K-1", "V-1"), has("K-1", "N1")]), json!(["V-1"])),
        (json!([has("A-1", "N1"), has("V-1", "N1"), has("A-1", "V-1")]), json!(["V-1"])),
        (json!([has("C-1", "N1"), has("V-1", "C-1")]), json!(["V-1"])),
        // An edge for parts takes precedence.
        (json!([has("K-1", "N1"), {"from": "V-1", "to": "N1", "edge_type": "physically_has_a"}]), json!(["V-1"])),
        (json!([has("A-1", "N1")]), json!([null])),
        (json!([has("N1", "N1")]), json!([null])),
    ];
    for (edges, owner) in cases {
        let found = answer(&package(edges.clone()), "nozzleList() | map(.equipment)");
        assert_eq!(found, owner, "{edges}");
    }
}

/// Returns a drawing in which each pipe ends at a port of its own of an item in a pipe, tied to it by an edge or a field.
fn with_item_ports(plant: &str, class: &str, is_by_field: bool) -> String {
    let mut document: Value = serde_json::from_str(&drawing(plant)).expect("a drawing is JSON");
    let nodes = document["pid_graph"]["nodes"].as_array().expect("nodes").clone();
    let is_item = |id: &Value| {
        nodes.iter().any(|node| {
            let class = node["node_classification"].as_str().unwrap_or_default();
            node["id"] == *id && (class.starts_with("piping_component.") || class.starts_with("reference."))
        })
    };
    let mut edges = document["pid_graph"]["edges"].as_array().expect("edges").clone();
    let (mut ports, mut owners) = (Vec::new(), Vec::new());
    for (number, edge) in edges.iter_mut().enumerate() {
        for end in ["from", "to"] {
            let item = edge[end].clone();
            if edge["edge_type"] == "physically_connected_to" && is_item(&item) {
                let port = format!("{}/{number}", item.as_str().expect("an id"));
                edge[end] = json!(port);
                match is_by_field {
                    true => ports.push(json!({"id": port, "node_classification": class, "parent_id": item})),
                    false => {
                        ports.push(json!({"id": port, "node_classification": class}));
                        owners.push(json!({"from": item, "to": port, "edge_type": "physically_has_a"}));
                    }
                }
            }
        }
    }
    edges.extend(owners);
    document["pid_graph"]["edges"] = json!(edges);
    document["pid_graph"]["nodes"].as_array_mut().expect("nodes").extend(ports);
    document.to_string()
}

/// Returns a result without the numbers of ports behind the ids of items, as in `V-1/3`.
fn without_ports(result: Result<Value, String>) -> String {
    let text = result.map_or_else(|error| error, |value| value.to_string());
    let mut parts = text.split('/');
    let first = parts.next().unwrap_or_default().to_owned();
    let is_digit = |c: char| c.is_ascii_digit();
    parts.fold(first, |text, part| match part.trim_start_matches(is_digit) {
        rest if rest.len() < part.len() => text + rest,
        _ => text + "/" + part,
    })
}

#[test]
fn a_pipe_may_end_at_a_port_of_an_item_in_a_pipe() {
    for plant in PLANTS {
        let plain = Graph::from_json(drawing(plant)).expect("a drawing is JSON");
        for class in ["Node", "PipingNode", "port", "ConnectionPoint", "equipment_component.nozzle"] {
            for is_by_field in [false, true] {
                let graph = Graph::from_json(with_item_ports(plant, class, is_by_field)).expect("a drawing is JSON");
                for query in QUERIES.iter().filter(|query| !query.starts_with("validate")) {
                    let [expected, found] = [&plain, &graph].map(|graph| without_ports(evaluate(graph, query, "{}")));
                    assert_eq!(found, expected, "{class} {is_by_field} {query} {plant}");
                }
            }
        }
    }
}

#[test]
fn a_port_of_a_valve_stands_for_the_valve_in_walks_and_extracts() {
    let document = with_item_ports("T-1 → V-1 → D-1", "port", false);
    let answer = |query: &str| evaluate(&Graph::from_json(document.as_str()).expect("JSON"), query, "{}").expect(query);
    assert_eq!(answer(r#"downstream("V-1/1") | map(.id)"#), json!(["D-1"]));
    assert_eq!(answer(r#"downstream("T-1") | map(.id)"#), json!(["V-1", "D-1"]));
    let extract = answer(r#"section("T-1", "D-1") | [.nodes | size(), .edges | size()]"#);
    assert_eq!(extract, json!([5, 4]));
}

#[test]
fn the_unique_tag_of_a_nozzle_has_that_of_its_equipment_once() {
    for (tag, expected) in [
        ("N1", "E-1-N1"),
        ("E-1.N1", "E-1.N1"),
        ("E-1/N1", "E-1/N1"),
        ("E-1-N1", "E-1-N1"),
        ("E-1 N1", "E-1 N1"),
        ("E-10", "E-1-E-10"),
    ] {
        let document = json!({
            "nodes": [
                {"id": "a", "tag": "E-1", "class": "heat_exchanger"},
                {"id": "b", "tag": tag, "class": "nozzle", "parent_id": "a"},
            ],
            "edges": []
        });
        let graph = Graph::from_json(document.to_string()).expect("a drawing is JSON");
        assert_eq!(answer(&graph, "nozzleList() | map(.qualified_tag)"), json!([expected]), "{tag}");
    }
}
