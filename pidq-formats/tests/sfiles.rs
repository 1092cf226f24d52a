//! SFILES: flowsheets as text and back, compared with an independent slow check of isomorphism.

use pidq_core::Graph;
use pidq_formats::{Code, Format};
use serde_json::{Value, json};

fn format() -> &'static Format {
    Format::find("sfiles").expect("there is one")
}

fn text(document: &str) -> String {
    let graph = Graph::from_json(document).expect("valid JSON");
    let files = format().export(graph.root()).expect("it can be written");
    String::from_utf8(files[0].bytes.clone()).expect("it is text").trim_end().to_owned()
}

fn import(text: &str) -> Value {
    let imported = format().import(&[text.as_bytes()]).unwrap_or_else(|error| panic!("{error}: {text}"));
    let document: Value = serde_json::from_str(&imported.json).expect("valid JSON");
    document["pid_graph"].clone()
}

/// Returns a drawing: `id:class` of the nodes, and `from>to` of the flows or `from~to` of the signals.
fn drawing(nodes: &str, edges: &str) -> String {
    let nodes: Vec<Value> = nodes
        .split_whitespace()
        .map(|node| node.split_once(':').expect("id:class"))
        .map(|(id, class)| json!({"id": id, "tag": id, "class": class}))
        .collect();
    let edge = |edge: &str| match edge.split_once('>') {
        Some((from, to)) => json!({"from": from, "to": to, "edge_type": "flow"}),
        None => {
            let (from, to) = edge.split_once('~').expect("from~to");
            json!({"from": from, "to": to, "edge_type": "signal"})
        }
    };
    let edges: Vec<Value> = edges.split_whitespace().map(edge).collect();
    json!({"nodes": nodes, "edges": edges}).to_string()
}

#[test]
fn flowsheets_are_written_along_the_flow() {
    let check =
        |nodes: &str, edges: &str, expected: &str| assert_eq!(text(&drawing(nodes, edges)), expected, "{edges}");
    check("", "", "");
    check("T:tank P:pump V:gate_valve", "T>P P>V", "(tank)(pp)(v)");
    check("A:off_page_connector P:pump B:off_page_connector", "A>P P>B", "(raw)(pp)(prod)");
    // A branch, a recycle, a branch that enters, an independent part, and parallel streams.
    check("T:tank J:tee V:valve P:pump", "T>J J>V J>P", "(tank)(splt)[(pp)](v)");
    check("T:tank P:pump R:reactor", "T>P P>R R>P", "(tank)(pp)<1(r)1");
    check("A:off_page_connector B:tank P:pump", "A>P B>P", "(raw)(pp)<&|(tank)&|");
    check("A:tank B:pump C:valve D:reactor", "A>B C>D", "(tank)(pp)n|(v)(r)");
    check("A:tank B:pump", "A>B A>B", "(tank)1(pp)<1");
    // A cycle without a source.
    check("A:tank B:pump", "A>B B>A", "(pp)<1(tank)1");
    // An instrument outside of the flow measures a unit, and sends a signal to a valve.
    check("T:tank V:valve LIC-1:instrument", "T>V T~LIC-1 LIC-1~V", "(tank)[(C){LIC}_1](v)<_1");
}

#[test]
fn ports_are_their_unit_and_chambers_are_passes() {
    let document = r#"{"nodes": [{"id": "T", "class": "tank"}, {"id": "N", "class": "nozzle"}, {"id": "V", "class": "valve"},
        {"id": "E", "class": "heat_exchanger"}, {"id": "E1", "class": "chamber"}, {"id": "E2", "class": "chamber"},
        {"id": "P", "class": "pump"}, {"id": "L", "node_type": "line"}],
        "edges": [{"from": "T", "to": "N", "edge_type": "has_nozzle"}, {"from": "E", "to": "E1", "edge_type": "physically_has_a"},
        {"from": "E", "to": "E2", "edge_type": "physically_has_a"}, {"from": "N", "to": "E1", "edge_type": "flow"},
        {"from": "E1", "to": "V", "edge_type": "flow"}, {"from": "P", "to": "E2", "edge_type": "flow"}]}"#;
    let expected = "(pp)(hex){1}n|(tank)(hex){1}(v)";
    assert_eq!(text(document), expected);
    let graph = import(expected);
    let parts: Vec<_> = graph["nodes"].as_array().expect("a list").iter().map(|node| &node["parent_id"]).collect();
    assert_eq!(parts.iter().filter(|parent| **parent == "hex-1").count(), 2);
    assert_eq!(text(&graph.to_string()), expected);
    let graph = Graph::from_json(document).expect("valid JSON");
    let losses = format().losses(graph.root()).expect("it can be listed");
    let losses: Vec<String> = losses.iter().map(|loss| format!("{} {}", loss.count, loss.message)).collect();
    assert!(losses.iter().any(|loss| loss.starts_with("2 nodes without a stream or a signal")), "E and L: {losses:?}");
    assert!(losses.iter().any(|loss| loss.starts_with("1 ports")), "{losses:?}");
}

#[test]
fn equipment_has_its_class_however_it_owns_its_nozzles_and_wherever_it_is_defined() {
    let nozzle = |id: &str| json!({"id": id, "tag": id, "class": "nozzle"});
    let tanks = ["T-1", "T-2"].map(|id| json!({"id": id, "class": "tank"}));
    for (class, expected) in [("radial_fan", "blwr"), ("equipment.fan", "blwr"), ("pump", "pp"), ("air_cooler", "hex")]
    {
        let fan = json!({"id": "K-1", "class": class});
        let pipes =
            [("T-1", "N-1"), ("N-2", "T-2")].map(|(from, to)| json!({"from": from, "to": to, "edge_type": "flow"}));
        let owned = |kind: &str| ["N-1", "N-2"].map(|part| json!({"from": "K-1", "to": part, "edge_type": kind}));
        let member = ["N-1", "N-2"].map(|part| json!({"from": part, "to": "K-1", "edge_type": "part_of"}));
        let by_edge = [owned("physically_has_a"), owned("has_a"), member];
        let by_field = ["N-1", "N-2"].map(|id| json!({"id": id, "class": "nozzle", "parent_id": "K-1"}));
        let plain = [nozzle("N-1"), nozzle("N-2")];
        let owners = by_edge.into_iter().map(|edges| (plain.to_vec(), edges.to_vec()));
        for (nozzles, edges) in owners.chain([(by_field.to_vec(), Vec::new())]) {
            let first = [std::slice::from_ref(&fan), &nozzles, &tanks].concat();
            let last = [&nozzles[..], &tanks, std::slice::from_ref(&fan)].concat();
            for nodes in [first, last] {
                let edges = [&pipes[..], &edges].concat();
                let document = json!({"nodes": nodes, "edges": edges}).to_string();
                let written = text(&document);
                assert_eq!(written, format!("(tank)({expected})(tank)"), "{document}");
                assert_eq!(text(&import(&written).to_string()), written);
            }
        }
    }
}

#[test]
fn notation_is_read() {
    let check = |text: &str, nodes: &[&str], edges: &[&str]| {
        let graph = import(text);
        let list = |name: &str| graph[name].as_array().expect("a list").clone();
        let ids: Vec<String> =
            list("nodes").iter().map(|node| node["id"].as_str().unwrap_or_default().into()).collect();
        assert_eq!(ids, nodes, "{text}");
        let mut found: Vec<String> = list("edges")
            .iter()
            .map(|edge| {
                let tags: Vec<&str> =
                    edge["stream_tags"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
                let mark = if edge["edge_type"] == "flow" { ">" } else { "~" };
                format!(
                    "{}{mark}{}{}",
                    edge["from"].as_str().unwrap_or_default(),
                    edge["to"].as_str().unwrap_or_default(),
                    tags.iter().map(|tag| format!(" {tag}")).collect::<String>()
                )
            })
            .collect();
        found.sort();
        assert_eq!(found, edges, "{text}");
    };
    check("(raw)(pp)(prod)", &["raw-1", "pp-1", "prod-1"], &["pp-1>prod-1", "raw-1>pp-1"]);
    check("(raw-7) (pp-1)\n(pp-2)", &["raw-1", "pp-1", "pp-2"], &["pp-1>pp-2", "raw-1>pp-1"]);
    check(
        "(dist){tout}1<2{bout}(reb)2(tank)<1",
        &["dist-1", "reb-1", "tank-1"],
        &["dist-1>reb-1 bout", "dist-1>tank-1 tout", "reb-1>dist-1", "reb-1>tank-1"],
    );
    check(
        "(mix)<&|(raw)[(v)](pp)&|(r)",
        &["mix-1", "raw-1", "v-1", "pp-1", "r-1"],
        &["mix-1>r-1", "pp-1>mix-1", "raw-1>pp-1", "raw-1>v-1"],
    );
    check(
        "(raw)(flash)<&|(raw)(splt){a_b}&(prod)|(v)",
        &["raw-1", "flash-1", "raw-2", "splt-1", "prod-1", "v-1"],
        &["flash-1>v-1", "raw-1>flash-1", "raw-2>splt-1", "splt-1>flash-1 a_b", "splt-1>prod-1"],
    );
    check("(splt)[1][(v)](tank)<1", &["splt-1", "v-1", "tank-1"], &["splt-1>tank-1", "splt-1>tank-1", "splt-1>v-1"]);
    check("(r)%12(v)<12", &["r-1", "v-1"], &["r-1>v-1", "r-1>v-1"]);
    check("(C){FC}_1(v)<_1", &["C-1", "v-1"], &["C-1>v-1", "C-1~v-1"]);
    check("(tank)[(C){LC}_1](v)<_1", &["tank-1", "C-1", "v-1"], &["C-1~v-1", "tank-1>v-1", "tank-1~C-1"]);
}

#[test]
fn malformed_text_is_rejected_with_the_position() {
    for (text, message) in [
        ("(pp", "`(` without `)` at character 1"),
        ("(pp)x", "unexpected `x` at character 5"),
        ("(p p)", "`p p` is not the name of a unit at character 1"),
        ("()", "`` is not the name of a unit at character 1"),
        ("1(pp)", "a unit is expected at character 1"),
        ("(pp)]", "`]` without `[` at character 5"),
        ("(pp)[(v)", "`[` without `]`"),
        ("(pp)<&|(v)|", "a branch that enters nothing ends at character 11"),
        ("(pp)<&|(v)&", "`<&|` without `|`"),
        ("(pp)&", "`&` outside of `<&|` at character 5"),
        ("(pp)|", "`|` without `<&|` at character 5"),
        ("(pp)1", "the connection `1` has only one end"),
        ("(pp)_1", "the connection `_1` has only one end"),
        ("(pp)1(v)1<1", "the number 1 occurs twice at the same end at character 9"),
        ("(pp){tout}", "a tag without a stream"),
        ("(pp)[{tout}](v)", "a tag without a stream at character 12"),
        ("(hex){tout}{1}(v)", "the number `{1}` is not after a unit at character 12"),
        ("(pp)n|", "`n|` without a unit after it"),
        ("(pp)[n|(v)]", "`n|` inside a branch or without a unit before it at character 6"),
        ("(ü)<", "`ü` is not the name of a unit at character 1"),
        ("(v)<", "`<` without a number at character 4"),
        ("(v)%99999999999999999999", "`%` without a number at character 4"),
    ] {
        let error = format().import(&[text.as_bytes()]).expect_err(text);
        assert_eq!((error.code(), error.message()), (Code::NotGraph, message), "{text}");
    }
    let deep = format!("(a){}", "[(a)".repeat(100_000));
    assert!(format().import(&[deep.as_bytes()]).is_err());
}

/// Random numbers of a seed, the same on every system.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    fn shuffle<T>(&mut self, list: &mut [T]) {
        for at in (1..list.len()).rev() {
            list.swap(at, self.below(at + 1));
        }
    }
}

const CLASSES: [&str; 5] = ["tank", "pump", "valve", "reactor", "instrument"];

/// Random flowsheet: few classes and many equal parts, so that there are symmetries.
fn random_flowsheet(random: &mut Random) -> (Vec<Value>, Vec<Value>) {
    let count = 1 + random.below(7);
    let classes = 1 + random.below(CLASSES.len());
    let nodes: Vec<Value> = (0..count).map(|at| json!({"id": at, "class": CLASSES[random.below(classes)]})).collect();
    let edge = |random: &mut Random| {
        let kind = if random.below(5) == 0 { "signal" } else { "flow" };
        let mut edge = json!({"from": random.below(count), "to": random.below(count), "edge_type": kind});
        if kind == "flow" && random.below(4) == 0 {
            let tag = ["tout", "bout", "hot_in"][random.below(3)];
            edge["stream_tags"] = json!([tag]);
        }
        edge
    };
    let edges = (0..random.below(10)).map(|_| edge(random)).collect();
    (nodes, edges)
}

/// Returns the names of the connected nodes, and the sorted connections: from, to, kind and tags. A flow that ends at an
/// instrument is a signal: the instrument measures.
fn network(graph: &Value) -> (Vec<String>, Vec<(usize, usize, String)>) {
    let list = |name: &str| graph[name].as_array().cloned().unwrap_or_default();
    let edges = list("edges");
    let is_used = |node: &&Value| edges.iter().any(|edge| edge["from"] == node["id"] || edge["to"] == node["id"]);
    let nodes: Vec<Value> = list("nodes").iter().filter(is_used).cloned().collect();
    let index = |id: &Value| nodes.iter().position(|node| node["id"] == *id).expect("a node");
    let class = |node: &Value| node.get("class").or(node.get("node_classification")).cloned().unwrap_or_default();
    let names = nodes.iter().map(|node| class(node).as_str().unwrap_or_default().to_owned()).collect();
    let is_flow = |edge: &Value| edge["edge_type"] == "flow";
    let is_instrument = |id: &Value| class(&nodes[index(id)]) == "instrument";
    let is_measurement = |edge: &Value| {
        let ends_there = !edges.iter().any(|other| is_flow(other) && other["from"] == edge["to"]);
        is_flow(edge) && ends_there && is_instrument(&edge["to"]) && !is_instrument(&edge["from"])
    };
    let kind = |edge: &Value| if is_measurement(edge) { json!("signal") } else { edge["edge_type"].clone() };
    let mut connections: Vec<(usize, usize, String)> = edges
        .iter()
        .map(|edge| (index(&edge["from"]), index(&edge["to"]), format!("{} {}", kind(edge), edge["stream_tags"])))
        .collect();
    connections.sort();
    (names, connections)
}

/// Returns true if a renumbering of the nodes makes two networks equal: tries all of them.
fn is_isomorphic(
    a: &(Vec<String>, Vec<(usize, usize, String)>),
    b: &(Vec<String>, Vec<(usize, usize, String)>),
) -> bool {
    fn extend(
        a: &(Vec<String>, Vec<(usize, usize, String)>),
        b: &(Vec<String>, Vec<(usize, usize, String)>),
        map: &mut Vec<usize>,
    ) -> bool {
        if map.len() == a.0.len() {
            let mut mapped: Vec<_> = a.1.iter().map(|(from, to, kind)| (map[*from], map[*to], kind.clone())).collect();
            mapped.sort();
            return mapped == b.1;
        }
        (0..b.0.len()).any(|to| {
            let is_free = !map.contains(&to) && a.0[map.len()] == b.0[to];
            is_free && {
                map.push(to);
                let found = extend(a, b, map);
                map.pop();
                found
            }
        })
    }
    a.0.len() == b.0.len() && a.1.len() == b.1.len() && extend(a, b, &mut Vec::new())
}

#[test]
fn the_text_is_the_same_for_every_order_and_gives_the_same_flowsheet() {
    let mut random = Random(5);
    for _ in 0..800 {
        let (mut nodes, mut edges) = random_flowsheet(&mut random);
        let document = json!({"nodes": nodes, "edges": edges});
        let expected = text(&document.to_string());
        for _ in 0..4 {
            random.shuffle(&mut nodes);
            random.shuffle(&mut edges);
            let permuted = json!({"nodes": nodes, "edges": edges}).to_string();
            assert_eq!(text(&permuted), expected, "{document}\n{permuted}");
        }
        let read = import(&expected);
        assert!(is_isomorphic(&network(&document), &network(&read)), "{document}\n{expected}\n{read}");
        assert_eq!(text(&read.to_string()), expected, "{document}");
    }
}

#[test]
fn large_flowsheets_with_equal_parts_are_written_in_any_order() {
    // A header with equal branches of several units each, a ring of equal units, and a long line.
    let mut nodes = vec![json!({"id": "H", "class": "tank"})];
    let mut edges = Vec::new();
    let mut connect = |from: String, to: String| edges.push(json!({"from": from, "to": to, "edge_type": "flow"}));
    for branch in 0..40 {
        let mut last = "H".to_owned();
        for (step, class) in ["valve", "pump", "valve", "tank"].iter().enumerate() {
            let id = format!("b{branch}-{step}");
            nodes.push(json!({"id": id, "class": class}));
            connect(std::mem::replace(&mut last, id.clone()), id);
        }
    }
    for at in 0..30 {
        nodes.push(json!({"id": format!("r{at}"), "class": "reactor"}));
        connect(format!("r{at}"), format!("r{}", (at + 1) % 30));
    }
    for at in 0..2000 {
        nodes.push(json!({"id": format!("l{at}"), "class": "pump"}));
        if at > 0 {
            connect(format!("l{}", at - 1), format!("l{at}"));
        }
    }
    let expected = text(&json!({"nodes": nodes, "edges": edges}).to_string());
    let mut random = Random(9);
    random.shuffle(&mut nodes);
    random.shuffle(&mut edges);
    let document = json!({"nodes": nodes, "edges": edges}).to_string();
    assert_eq!(text(&document), expected);
    assert_eq!(text(&import(&expected).to_string()), expected);
    let graph = Graph::from_json(document).expect("valid JSON");
    let losses = format().losses(graph.root()).expect("it can be listed");
    assert!(losses.iter().all(|loss| loss.finding.code() != "I046"), "the order is proved: {losses:?}");
}
