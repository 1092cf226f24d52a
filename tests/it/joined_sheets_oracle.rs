//! Random plants that are drawn on one sheet, and on two that are joined again: both give the same answers.
//!
//! The plant on one sheet is the reference. Connectors are left out of the answers, since only one of the drawings has
//! them.

use pidq::{Graph, JoinBy, Limits, join_sheets};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::graph::evaluate;
use crate::properties::cases;

/// Classes of items in pipes and their position, as often as they are to occur.
const CLASSES: &[(&str, &str)] = &[
    ("piping_component.gate_valve", ""),
    ("piping_component.ball_valve", "open"),
    ("piping_component.gate_valve", "locked_open"),
    ("piping_component.ball_valve", "closed"),
    ("piping_component.control_valve", ""),
    ("piping_component.swing_check_valve", ""),
    ("piping_component.safety_valve", ""),
    ("piping_component.shutdown_valve", ""),
    ("piping_component.spectacle_blind", "open"),
    ("piping_component.blind_flange", ""),
    ("piping_component.pipe_tee", ""),
    ("piping_component.pipe_tee", ""),
    ("piping_component.pipe_tee", ""),
    ("piping_component.strainer", ""),
    ("piping_component.orifice_plate", ""),
    ("reference.open_end", ""),
    ("piping_component.something", ""),
];

/// A pipe or a signal between two items.
#[derive(Clone, Copy, Debug)]
struct Connection {
    ends: [usize; 2],
    is_signal: bool,
    has_direction: bool,
    line: usize,
}

/// A random plant. Items that belong together are on the same sheet.
#[derive(Clone, Debug, Default)]
struct Plant {
    nodes: Vec<Value>,
    sheets: Vec<usize>,
    connections: Vec<Connection>,
    /// Edges between items of one sheet: nozzles, and what instruments measure.
    inner: Vec<Value>,
    /// Items that queries ask for.
    subjects: Vec<usize>,
}

fn id(node: usize) -> String {
    format!("n{node}")
}

impl Plant {
    fn add(&mut self, class: &str, tag: String, sheet: usize) -> usize {
        let at = self.nodes.len();
        self.nodes.push(json!({
            "id": id(at), "tag": tag, "node_type": "pid_component", "node_classification": class,
        }));
        self.sheets.push(sheet);
        at
    }

    /// Returns a plant of equipment with nozzles, items in pipes, and loops across them.
    fn new(equipment: &[u8], items: &[(usize, u8)], pipes: &[[usize; 2]], loops: &[([usize; 2], u8)]) -> Plant {
        let mut plant = Plant::default();
        let mut pipe_ends = Vec::new();
        for (at, bits) in equipment.iter().enumerate() {
            let sheet = usize::from(bits & 1);
            let owner = plant.add("equipment.vessel", format!("D-{at}"), sheet);
            plant.subjects.push(owner);
            for nozzle in 0..1 + usize::from(bits >> 1 & 3) {
                let port = plant.add("equipment_component.nozzle", format!("N{nozzle}"), sheet);
                plant.inner.push(json!({"from": id(owner), "to": id(port), "edge_type": "physically_has_a"}));
                pipe_ends.push(port);
            }
        }
        for (at, (class, bits)) in items.iter().enumerate() {
            let (class, position) = CLASSES[class % CLASSES.len()];
            let item = plant.add(class, format!("I-{at}"), usize::from(bits & 1));
            if !position.is_empty() {
                plant.nodes[item]["normal_position"] = position.into();
            }
            plant.subjects.push(item);
            pipe_ends.push(item);
        }
        let items_in_pipes: Vec<usize> = pipe_ends.iter().copied().filter(|end| plant.subjects.contains(end)).collect();
        for [from, to] in pipes {
            let ends = [from, to].map(|end| pipe_ends[end % pipe_ends.len()]);
            let is_known = |pipe: &Connection| pipe.ends == ends || pipe.ends == [ends[1], ends[0]];
            if ends[0] != ends[1] && !plant.connections.iter().any(is_known) {
                let has_direction = (from + to) % 4 > 0;
                plant.connections.push(Connection { ends, is_signal: false, has_direction, line: from % 3 });
            }
        }
        for (at, (items, bits)) in loops.iter().enumerate() {
            let [sensed, driven] = items.map(|item| items_in_pipes[item % items_in_pipes.len()]);
            let sensor = plant.add("instrument.flow_transmitter", format!("FT-{at}"), plant.sheets[sensed]);
            let controller = plant.add("instrument.flow_controller", format!("FIC-{at}"), usize::from(bits & 1));
            plant.inner.push(json!({"from": id(sensor), "to": id(sensed), "edge_type": "associated_with"}));
            for ends in [[sensor, controller], [controller, driven]] {
                plant.connections.push(Connection { ends, is_signal: true, has_direction: true, line: 0 });
            }
        }
        plant
    }

    fn sheet_name(&self, node: usize) -> &'static str {
        ["S1", "S2"][self.sheets[node]]
    }

    /// Returns the plant on one sheet, with fittings in the place of connectors: the pipes are as long.
    fn in_one_piece(&self) -> Value {
        // Joined sheets list the nodes of the first one first.
        let of_sheet = |sheet: usize| (0..self.nodes.len()).filter(move |at| self.sheets[*at] == sheet);
        let mut nodes: Vec<Value> = of_sheet(0).chain(of_sheet(1)).map(|at| self.nodes[at].clone()).collect();
        let mut edges = self.inner.clone();
        for (at, connection) in self.connections.iter().enumerate() {
            let [from, to] = connection.ends.map(id);
            let sheets = connection.ends.map(|end| self.sheets[end]);
            if connection.is_signal || sheets[0] == sheets[1] {
                edges.push(connection.edge([from, to]));
                continue;
            }
            let fittings = [0, 1].map(|side| format!("x{at}-{side}"));
            nodes.extend(fittings.iter().map(|id| {
                json!({"id": id, "node_type": "pid_component", "node_classification": "piping_component.coupling"})
            }));
            let ends = [&from, &fittings[0], &fittings[1], &to];
            edges.extend(ends.windows(2).map(|ends| connection.edge([ends[0].clone(), ends[1].clone()])));
        }
        json!({
            "nodes": nodes,
            "edges": edges,
            "metadata": {"drawing_name": "S0"},
        })
    }

    /// Returns the plant on two sheets, with connectors where pipes and signals go from one to the other.
    fn in_two_pieces(&self) -> [Value; 2] {
        let mut nodes = [0, 1].map(|sheet| {
            let own = self.nodes.iter().zip(&self.sheets).filter(|(_, of)| **of == sheet);
            own.map(|(node, _)| node.clone()).collect::<Vec<Value>>()
        });
        let mut edges: [Vec<Value>; 2] = Default::default();
        for edge in &self.inner {
            let owner: usize = edge["from"].as_str().expect("an id")[1..].parse().expect("an index");
            edges[self.sheets[owner]].push(edge.clone());
        }
        for (at, connection) in self.connections.iter().enumerate() {
            let sheets = connection.ends.map(|end| self.sheets[end]);
            if sheets[0] == sheets[1] {
                edges[sheets[0]].push(connection.edge(connection.ends.map(id)));
                continue;
            }
            for (side, sheet) in sheets.into_iter().enumerate() {
                let connector = format!("x{at}-{side}");
                let other = self.sheet_name(connection.ends[1 - side]);
                nodes[sheet].push(json!({
                    "id": connector, "node_type": "pid_component", "node_classification": "reference.off_page_connector",
                    "cross_page": {"drawing_name": other, "link_label": format!("C{at}")},
                }));
                let own = id(connection.ends[side]);
                edges[sheet].push(connection.edge(if side == 0 { [own, connector] } else { [connector, own] }));
            }
        }
        let [mut nodes_of, mut edges_of] = [nodes.into_iter(), edges.into_iter()];
        ["S1", "S2"]
            .map(|name| json!({"nodes": nodes_of.next(), "edges": edges_of.next(), "metadata": {"drawing_name": name}}))
    }
}

impl Connection {
    fn edge(&self, [from, to]: [String; 2]) -> Value {
        let kind = if self.is_signal { "associated_with" } else { "physically_connected_to" };
        let mut edge = json!({"from": from, "to": to, "edge_type": kind});
        if self.is_signal {
            edge["edge_classification"] = "signal_line.electrical".into();
        } else {
            edge["line"] = format!("100-PL-{}", self.line).into();
        }
        if !self.has_direction {
            edge["direction"] = "unknown".into();
        }
        edge
    }
}

/// Questions about the plant as a whole.
const PLANT: &[(&str, &str)] = &[
    (
        "loops",
        "loops() | map([.loop, .kind, .closed, (.members | map(.id)), (.sensors | map(.id)), (.final_elements | map(.id))])",
    ),
    ("lineList", "lineList() | map([.line, .from, .to])"),
    (
        "hazopNodes",
        "hazopNodes() | map([.lines, (.items | map(.id)), (.equipment | map(.id)), (.instruments | map(.id))])",
    ),
    ("instrumentIndex", "instrumentIndex() | map([.id, .loop, .attached_to])"),
    ("equipmentGraph", r#"equipmentGraph() | .edges | map([.from, .to, (.items | map(.id))])"#),
    ("deadEnds", "deadEnds() | map([.at.id, .end.id, (.items | map(.id)), .class])"),
    ("cutPoints", "cutPoints() | map(.id)"),
    ("causeAndEffect", "causeAndEffect() | .links | size()"),
    ("reliefList", "reliefList() | map([.id, .relief_path, .certain, (.protects | split(\", \"))])"),
    ("inventorySections", "inventorySections() | map([.items | map(.id)])"),
];

/// Questions about an item, `$id`.
const ITEM: &[(&str, &str)] = &[
    (
        "isolate",
        "isolate($id) | [(.barriers | map([.node.id, .kind, .method, (.cuts_off | map(.id))])), (.unresolved | map([.kind, .at.id])),
            (.conditional | map([.node.id, .action])), (.relief | map(.node.id)), (.inside | map(.id)),
            (.data_gaps | map([.kind, .at.id])), .complete, .certain]",
    ),
    (
        "isolate through equipment",
        r#"isolate($id, {pass: "any"}) | [(.barriers | map(.node.id)), (.unresolved | map([.kind, .at.id])), .complete]"#,
    ),
    ("downstream", "downstream($id) | map(.id)"),
    ("upstream", "upstream($id) | map(.id)"),
    ("connected", "connected($id) | map(.id)"),
    ("downstream through equipment", r#"downstream($id, {pass: "any"}) | map(.id)"#),
    ("upstream through equipment", r#"upstream($id, {pass: "zone"}) | map(.id)"#),
    ("trace", "trace($id) | map([.node.id, .assumed])"),
    ("boundary", r#"boundary($id, $stops) | [(.inside | map(.id)), (.boundary | map(.id)), (.leaks | map(.id))]"#),
    ("bypasses", "bypasses($id) | map([.nodes | map(.id)])"),
];

/// Returns an answer without sheets and connectors, in a fixed order.
fn normalized(answer: Value) -> Value {
    match answer {
        Value::String(text) => {
            let own = ["S1#", "S2#"].iter().find_map(|prefix| text.strip_prefix(prefix));
            own.map_or_else(|| text.clone().into(), Into::into)
        }
        Value::Array(items) => {
            let is_connector_id = |id: &str| id.rsplit('#').next().is_some_and(|id| id.starts_with('x'));
            let is_connector = |item: &Value| match item {
                Value::String(id) => is_connector_id(id),
                // A step of a trace.
                Value::Array(row) => {
                    row.first().and_then(Value::as_str).is_some_and(is_connector_id)
                        && row.get(1).is_some_and(Value::is_boolean)
                }
                _ => false,
            };
            let items = items.into_iter().filter(|item| !is_connector(item));
            let mut items: Vec<Value> = items.map(normalized).collect();
            items.sort_by_key(Value::to_string);
            items.into()
        }
        other => other,
    }
}

fn answer(graph: &Graph, query: &str, params: &Value) -> Value {
    normalized(evaluate(graph, query, &params.to_string()).unwrap_or_else(|error| panic!("{query}: {error}")))
}

/// Returns the differences between the answers about a plant in one piece and joined from two.
fn differences(plant: &Plant) -> Vec<String> {
    let parse = |document: &Value| Graph::from_json(document.to_string()).expect("JSON");
    let whole = parse(&plant.in_one_piece());
    let [first, second] = plant.in_two_pieces().map(|sheet| parse(&sheet));
    let joined = join_sheets(&[&first, &second], JoinBy::Any, Limits::default()).expect("drawings");
    let joined = Graph::from_json(joined).expect("JSON");
    let mut found = Vec::new();
    let mut compare = |name: &str, query: &str, params: [&Value; 2]| {
        let [expected, actual] = [answer(&whole, query, params[0]), answer(&joined, query, params[1])];
        if expected != actual {
            found.push(format!("{name} of {}\n   in one piece {expected}\n   joined       {actual}", params[0]));
        }
    };
    for (name, query) in PLANT {
        compare(name, query, [&json!({}), &json!({})]);
    }
    let stop = plant.subjects[plant.subjects.len() / 2];
    for subject in &plant.subjects {
        let joined_id = |node: usize| format!("{}#{}", plant.sheet_name(node), id(node));
        let params = json!({"id": id(*subject), "stops": [id(stop)]});
        let joined_params = json!({"id": joined_id(*subject), "stops": [joined_id(stop)]});
        for (name, query) in ITEM {
            compare(name, query, [&params, &joined_params]);
        }
    }
    found
}

fn plants() -> impl Strategy<Value = Plant> {
    let equipment = proptest::collection::vec(any::<u8>(), 1..4);
    let items = proptest::collection::vec((0..CLASSES.len(), any::<u8>()), 2..12);
    let pipes = proptest::collection::vec([0..64usize, 0..64usize], 1..20);
    let loops = proptest::collection::vec(([0..64usize, 0..64usize], any::<u8>()), 0..3);
    (equipment, items, pipes, loops)
        .prop_map(|(equipment, items, pipes, loops)| Plant::new(&equipment, &items, &pipes, &loops))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(40), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn joined_sheets_answer_as_the_plant_in_one_piece(plant in plants()) {
        let found = differences(&plant);
        let sheets = plant.in_two_pieces();
        prop_assert!(found.is_empty(), "{}\n{}\n{}", found.join("\n"), sheets[0], sheets[1]);
    }
}
