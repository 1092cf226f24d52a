//! Notation for small drawings: `T-1 → V-1(closed) → P-1; P-1 → V-2`.
//!
//! `→` and `←` are pipes with a direction, `—` is one without, `⇢` is a signal. The letters of a tag define the class;
//! words in parentheses define fields. `E-1.N1@hot` is the nozzle N1 of E-1, in its chamber hot. Ids are the tags as
//! written.

use serde_json::{Map, Value, json};

/// Classes by the letters of tags.
const CLASSES: &[(&str, &str)] = &[
    ("T", "equipment.tank"),
    ("P", "equipment.pump"),
    ("E", "equipment.heat_exchanger"),
    ("D", "equipment.vessel"),
    ("V", "piping_component.gate_valve"),
    ("CV", "piping_component.control_valve"),
    ("CK", "piping_component.check_valve"),
    ("RV", "piping_component.safety_valve"),
    ("RD", "piping_component.rupture_disc"),
    ("B", "piping_component.blind_flange"),
    ("R", "piping_component.reducer"),
    ("J", "piping_component.pipe_tee"),
    ("X", "reference.off_page_connector"),
    ("O", "reference.open_end"),
    ("I", "instrument.function"),
    ("S", "piping_component.strainer"),
    ("SP", "piping_component.pipe_spool"),
    ("SB", "piping_component.spectacle_blind"),
    ("TW", "piping_component.three_way_valve"),
    ("SDV", "piping_component.shutdown_valve"),
    ("BDV", "piping_component.blowdown_valve"),
    ("H", "piping_component.hose"),
    ("C", "piping_component.pipe_cap"),
    ("W", "equipment_component.sensorwell"),
];

/// Field names and edge kinds of one exporter.
pub struct Vocabulary {
    pub id: &'static str,
    pub tag: &'static str,
    pub class: &'static str,
    pub end_fields: [&'static str; 2],
    /// True if the ends of edges are objects with an id.
    pub ends_are_objects: bool,
    pub edge_kind: &'static str,
    /// Kinds of a pipe, of the edge to a nozzle, and of a signal.
    pub kinds: [&'static str; 3],
    pub unknown_direction: &'static str,
    /// Key of the object with the nodes and edges; empty for the document itself.
    pub root: &'static str,
    pub camel_case: bool,
    /// Topology in the metadata of the drawing, as JSON.
    pub topology: &'static str,
}

/// Five exporters; the first one uses the default names.
pub const VOCABULARIES: [Vocabulary; 5] = [
    Vocabulary {
        id: "id",
        tag: "tag",
        class: "node_classification",
        end_fields: ["from", "to"],
        ends_are_objects: false,
        edge_kind: "edge_type",
        kinds: ["physically_connected_to", "physically_has_a", "associated_with"],
        unknown_direction: "unknown",
        root: "pid_graph",
        camel_case: false,
        topology: "null",
    },
    Vocabulary {
        id: "uuid",
        tag: "tag_number",
        class: "component_class",
        end_fields: ["source", "target"],
        ends_are_objects: true,
        edge_kind: "type",
        kinds: ["flowsTo", "hasNozzle", "signal"],
        unknown_direction: "dual",
        root: "",
        camel_case: true,
        topology: "null",
    },
    Vocabulary {
        id: "node_id",
        tag: "name",
        class: "class",
        end_fields: ["startNodeId", "endNodeId"],
        ends_are_objects: false,
        edge_kind: "label",
        kinds: ["process_line", "hasTerminal", "manipulates"],
        unknown_direction: "bidirectional",
        root: "pid_graph",
        camel_case: true,
        topology: "null",
    },
    Vocabulary {
        id: "externalId",
        tag: "text_associated",
        class: "label",
        end_fields: ["u", "v"],
        ends_are_objects: false,
        edge_kind: "edge_type",
        kinds: ["connection", "has_nozzle", "controls"],
        unknown_direction: "both",
        root: "",
        camel_case: false,
        topology: "null",
    },
    Vocabulary {
        id: "Kennung",
        tag: "Kennzeichen",
        class: "Bauteil",
        end_fields: ["von", "nach"],
        ends_are_objects: false,
        edge_kind: "Art",
        kinds: ["Rohr", "Stutzen", "Wirklinie"],
        unknown_direction: "egal",
        root: "pid_graph",
        camel_case: true,
        topology: r#"{"node_id": "Kennung", "tag": "Kennzeichen", "class_fields": ["Bauteil"], "endpoints": [["von", "nach"]],
                      "edge_kind": "Art", "flow_kinds": ["Rohr"], "port_kinds": ["Stutzen"], "signal_kinds": ["Wirklinie"],
                      "undirected_values": ["egal"], "zone_edge": "association.is_located_in"}"#,
    },
];

/// Returns a drawing as a document in the default vocabulary.
pub fn drawing(text: &str) -> String {
    drawing_in(text, &VOCABULARIES[0])
}

/// Returns a drawing as a document.
pub fn drawing_in(text: &str, vocabulary: &Vocabulary) -> String {
    let mut sheet = Sheet { vocabulary, nodes: Vec::new(), edges: Vec::new() };
    for chain in text.split([';', '\n']).map(str::trim).filter(|chain| !chain.is_empty()) {
        sheet.chain(chain);
    }
    sheet.document()
}

struct Sheet<'v> {
    vocabulary: &'v Vocabulary,
    nodes: Vec<Map<String, Value>>,
    edges: Vec<Value>,
}

impl Sheet<'_> {
    fn chain(&mut self, chain: &str) {
        let mut previous: Option<String> = None;
        let mut arrow = ' ';
        for part in chain.split_inclusive(['→', '←', '—', '⇢']) {
            let next = part.chars().last().filter(|c| matches!(c, '→' | '←' | '—' | '⇢'));
            let item = part.trim_end_matches(['→', '←', '—', '⇢']).trim();
            let id = self.item(item);
            if let Some(previous) = previous {
                self.pipe(&previous, arrow, &id);
            }
            previous = Some(id);
            arrow = next.unwrap_or(' ');
        }
    }

    fn pipe(&mut self, from: &str, arrow: char, to: &str) {
        let (from, to) = if arrow == '←' { (to, from) } else { (from, to) };
        let kind = if arrow == '⇢' { self.vocabulary.kinds[2] } else { self.vocabulary.kinds[0] };
        let direction = (arrow == '—').then_some(self.vocabulary.unknown_direction);
        self.edge(kind, from, to, direction);
    }

    fn edge(&mut self, kind: &str, from: &str, to: &str, direction: Option<&str>) {
        let end =
            |id: &str| if self.vocabulary.ends_are_objects { json!({ self.vocabulary.id: id }) } else { json!(id) };
        let mut edge = json!({
            "id": format!("e{}", self.edges.len() + 1),
            self.vocabulary.end_fields[0]: end(from),
            self.vocabulary.end_fields[1]: end(to),
            self.vocabulary.edge_kind: kind,
        });
        if let Some(direction) = direction {
            edge["direction"] = direction.into();
        }
        self.edges.push(edge);
    }

    /// Adds a node for an item at its first mention, adds fields at any, and returns its id.
    fn item(&mut self, item: &str) -> String {
        let (item, fields) = item.strip_suffix(')').and_then(|item| item.split_once('(')).unwrap_or((item, ""));
        let (id, chamber) = item.split_once('@').unwrap_or((item, ""));
        if let Some(node) = self.nodes.iter_mut().find(|node| node[self.vocabulary.id] == id) {
            node.extend(fields_of(fields));
            return id.into();
        }
        match id.split_once('.') {
            Some((owner, port)) => self.nozzle(id, owner, port, chamber),
            None => self.node(id, id, class_of(id), fields),
        }
        id.into()
    }

    fn node(&mut self, id: &str, tag: &str, class: &str, fields: &str) {
        let class = if self.vocabulary.camel_case { camel_case(class) } else { class.into() };
        let mut node = Map::from_iter([
            (self.vocabulary.id.to_owned(), json!(id)),
            (self.vocabulary.tag.to_owned(), json!(tag)),
            (self.vocabulary.class.to_owned(), json!(class)),
        ]);
        node.extend(fields_of(fields));
        self.nodes.push(node);
    }

    fn nozzle(&mut self, id: &str, owner: &str, port: &str, chamber: &str) {
        self.item(owner);
        self.node(id, port, "equipment_component.nozzle", "");
        self.edge(self.vocabulary.kinds[1], owner, id, None);
        if !chamber.is_empty() {
            let chamber = format!("{owner}/{chamber}");
            if !self.nodes.iter().any(|node| node[self.vocabulary.id] == chamber) {
                self.node(&chamber, &chamber, "equipment_component.chamber", "");
            }
            self.edge("association.is_located_in", id, &chamber, None);
        }
    }

    fn document(self) -> String {
        let topology: Value = serde_json::from_str(self.vocabulary.topology).expect("a topology is JSON");
        let mut metadata = json!({ "drawing_name": "D-1" });
        if !topology.is_null() {
            metadata["topology"] = topology;
        }
        let graph = json!({ "nodes": self.nodes, "edges": self.edges, "metadata": metadata });
        if self.vocabulary.root.is_empty() {
            graph.to_string()
        } else {
            json!({ self.vocabulary.root: graph }).to_string()
        }
    }
}

/// Returns the fields that words in parentheses define.
fn fields_of(fields: &str) -> impl Iterator<Item = (String, Value)> + '_ {
    fields.split(',').map(str::trim).filter(|field| !field.is_empty()).map(|field| {
        let (key, value) = field.split_once('=').unwrap_or(("normally", field));
        (key.to_owned(), serde_json::from_str(value).unwrap_or_else(|_| json!(value)))
    })
}

fn class_of(tag: &str) -> &'static str {
    let letters: &str = tag.split(|c: char| !c.is_ascii_uppercase()).next().unwrap_or("");
    CLASSES.iter().find(|(known, _)| *known == letters).map_or("piping_component.pipe_item", |(_, class)| class)
}

/// Converts `piping_component.gate_valve` to `GateValve`.
fn camel_case(class: &str) -> String {
    let last = class.rsplit('.').next().unwrap_or(class);
    // Instruments are defined by the first part of their class.
    let last = if class.starts_with("instrument") { class.split('.').next().unwrap_or(class) } else { last };
    let word = |word: &str| word[..1].to_uppercase() + &word[1..];
    last.split('_').map(word).collect()
}
