//! Gaps in drawings: missing ends of pipes and segments, owners that are only named by a field. Each case is a minimal
//! drawing.

use crate::graph::check_document;

const GAPS: &str =
    r#"isolate("t") | [.unresolved | map([.kind, .at.id]), .data_gaps | map([.kind, .at.id]), .complete]"#;

/// A tank, a gate valve and another tank, with one more edge.
fn with_edge(edge: &str) -> String {
    format!(
        r#"{{"nodes": [{{"id": "t", "class": "tank"}}, {{"id": "v", "class": "gate_valve"}}, {{"id": "u", "class": "tank"}}],
        "edges": [{{"from": "t", "to": "v"}}, {{"from": "v", "to": "u"}}, {{{edge}}}]}}"#
    )
}

#[test]
fn a_pipe_with_one_end_is_a_gap_at_that_end() {
    let gap = r#"[[],[["dangling_edge","t"]],false]"#;
    check_document(&with_edge(r#""from": "t""#), GAPS, gap);
    check_document(&with_edge(r#""to": "t""#), GAPS, gap);
    check_document(&with_edge(r#""target": {"id": "t"}"#), GAPS, gap);
    check_document(&with_edge(r#""from": "zz", "target": "t""#), GAPS, gap);
    check_document(&with_edge(r#""from": "t", "to": null"#), GAPS, gap);
    check_document(&with_edge(r#""from": "u""#), GAPS, "[[],[],true]");
    check_document(&with_edge(r#""from": "t", "edge_type": "signal""#), GAPS, "[[],[],true]");
    let lone = with_edge(r#""id": "e", "from": "t""#);
    check_document(&lone, r#"validate({rules: "G02"}) | map([.code, .ids, .evidence])"#, r#"[["G021",["t"],["e"]]]"#);
    check_document(&lone, r#"[node("t") | degree(), downstream("t") | map(.id)]"#, r#"[1,["v","u"]]"#);
}

#[test]
fn a_missing_nozzle_is_a_gap() {
    let nozzle = |ends: &str| with_edge(&format!(r#""edge_type": "physically_has_a", {ends}"#));
    let gap = r#"[[],[["dangling_edge","t"]],false]"#;
    check_document(&nozzle(r#""from": "t", "to": "n9""#), GAPS, gap);
    check_document(&nozzle(r#""from": "t""#), GAPS, gap);
    check_document(&nozzle(r#""from": "u", "to": "n9""#), GAPS, "[[],[],true]");
}

#[test]
fn a_nozzle_without_equipment_is_open() {
    let plant = |parent: &str| {
        format!(
            r#"{{"nodes": [{{"id": "t", "class": "tank"}}, {{"id": "n", "class": "nozzle"{parent}}}, {{"id": "u", "class": "tank"}}],
            "edges": [{{"from": "t", "to": "n"}}]}}"#
        )
    };
    check_document(&plant(""), GAPS, r#"[[["free_port","n"]],[["free_port","n"]],false]"#);
    check_document(&plant(r#", "parent_id": "u""#), GAPS, r#"[[["equipment","u"]],[],false]"#);
    // A child of equipment that is not a nozzle is no nozzle.
    let area =
        plant(r#", "parent_id": "A""#).replacen('[', r#"[{"id": "A", "node_type": "plant_structure_item"}, "#, 1);
    check_document(&area, GAPS, r#"[[["free_port","n"]],[["free_port","n"]],false]"#);
    check_document(&area, r#"group("A").nodes | map(.id)"#, r#"["A","n"]"#);
}

/// A tank, a pipe to an item, and the segment of the pipe with some edges.
fn with_segment(class: &str, item: &str, pipe: &str, edges: &str) -> String {
    format!(
        r#"{{"nodes": [{{"id": "t", "class": "tank"}}, {{"id": "p", "class": "{class}"{item}}}, {{"id": "S", "node_type": "segment"}}],
        "edges": [{{"from": "t", "to": "p"{pipe}}}, {edges}]}}"#
    )
}

#[test]
fn the_last_item_of_a_segment_without_an_end_is_open() {
    let open = r#"[[["free_port","p"]],[["free_port","p"]],false]"#;
    let start = r#"{"from": "S", "to": "t", "edge_type": "starts_at"}"#;
    let member = format!(r#"{start}, {{"from": "S", "to": "p", "edge_type": "has_a"}}"#);
    for class in ["strainer", "flange", "orifice_plate", "pipe_fitting"] {
        check_document(&with_segment(class, "", "", &member), GAPS, open);
    }
    let reversed = format!(r#"{start}, {{"from": "p", "to": "S", "edge_type": "part_of"}}"#);
    check_document(&with_segment("strainer", "", "", &reversed), GAPS, open);
    check_document(&with_segment("strainer", "", r#", "segment": "S""#, start), GAPS, open);
    check_document(&with_segment("strainer", r#", "parent_id": "S""#, "", start), GAPS, open);
    check_document(&with_segment("strainer", r#", "segment": "S""#, "", start), GAPS, open);
    let lost = format!(r#"{member}, {{"from": "S", "to": "zz", "edge_type": "ends_at"}}"#);
    check_document(&with_segment("strainer", "", "", &lost), GAPS, open);
    // The pipe to the item belongs to another segment, and one that starts at it leads nowhere.
    let onward = start.replace(r#""t""#, r#""p""#);
    check_document(&with_segment("strainer", "", "", &onward), GAPS, open);
    let backwards = member.replace("starts_at", "ends_at");
    check_document(&with_segment("strainer", "", "", &backwards), GAPS, open);
}

#[test]
fn a_segment_with_named_ends_has_no_open_end() {
    // A strainer at the end of a pipe is open: what follows is not drawn.
    let ended_at =
        r#"{"from": "S", "to": "t", "edge_type": "starts_at"}, {"from": "S", "to": "p", "edge_type": "ends_at"}"#;
    let open = r#"[[["free_port","p"]],[["free_port","p"]],false]"#;
    check_document(&with_segment("strainer", "", r#", "segment": "S""#, ended_at), GAPS, open);
    let closed = "[[],[],true]";
    let start = r#"{"from": "S", "to": "t", "edge_type": "starts_at"}"#;
    let pipe = r#", "segment": "S""#;
    let ended = format!(r#"{start}, {{"from": "S", "to": "p", "edge_type": "ends_at"}}"#);
    check_document(&with_segment("pipe_cap", "", pipe, &ended), GAPS, closed);
    let other_end = start.replace(r#""t""#, r#""p""#);
    check_document(&with_segment("pipe_cap", "", pipe, &other_end), GAPS, closed);
    let camel = ended.replace("starts_at", "StartsAt").replace("ends_at", "EndsAt");
    check_document(&with_segment("pipe_cap", "", pipe, &camel), GAPS, closed);
    // If a drawing names no ends of segments, their absence means nothing.
    let member = r#"{"from": "S", "to": "p", "edge_type": "has_a"}"#;
    check_document(&with_segment("pipe_cap", "", pipe, member), GAPS, closed);
    // The same for a segment that does not contain the item.
    check_document(&with_segment("pipe_cap", "", "", start), GAPS, closed);
    // A closed valve isolates everything after it.
    check_document(&with_segment("gate_valve", "", pipe, start), GAPS, closed);
    // If edges do not distinguish start and end, two edges are both.
    let own = |edges: &str| {
        let plant = with_segment("pipe_cap", r#", "parent_id": "S""#, "", edges);
        plant.replacen('{', r#"{"metadata": {"topology": {"segment_ends": ["Halt"]}}, "#, 1)
    };
    let halt = r#"{"from": "S", "to": "t", "edge_type": "Halt"}"#;
    check_document(&own(halt), GAPS, r#"[[["free_port","p"]],[["free_port","p"]],false]"#);
    check_document(&own(&format!(r#"{halt}, {{"from": "S", "to": "t", "edge_type": "Halt"}}"#)), GAPS, closed);
}

#[test]
fn a_nozzle_at_which_a_segment_starts_without_a_pipe_is_a_gap() {
    let plant = r#"{"nodes": [{"id": "t", "class": "tank"}, {"id": "n", "class": "nozzle", "parent_id": "t"},
        {"id": "m", "class": "nozzle", "parent_id": "t"}, {"id": "v", "class": "gate_valve"}, {"id": "S", "node_type": "segment"}],
        "edges": [{"from": "n", "to": "v"}, {"from": "S", "to": "m", "edge_type": "starts_at"}]}"#;
    check_document(plant, GAPS, r#"[[],[["unconnected_nozzle","m"]],false]"#);
}

#[test]
fn segments_without_their_ends_are_reported() {
    let open = r#"validate({rules: "P101"}) | map([.ids, .message, .evidence])"#;
    let plant = |edges: &str| {
        format!(
            r#"{{"nodes": [{{"id": "t", "class": "tank"}}, {{"id": "u", "class": "tank"}}, {{"id": "S", "node_type": "segment"}},
            {{"id": "R", "node_type": "segment"}}], "edges": [{{"from": "t", "to": "u"}}, {edges}]}}"#
        )
    };
    let segments = r#"{"id": 1, "from": "R", "to": "t", "edge_type": "starts_at"}, {"id": 2, "from": "R", "to": "u", "edge_type": "ends_at"}"#;
    let end = |kind: &str| format!(r#"{segments}, {{"id": 3, "from": "S", "to": "u", "edge_type": "{kind}"}}"#);
    check_document(&plant(segments), open, r#"[[["S"],"the segment S has neither a start nor an end",[]]]"#);
    check_document(&plant(&end("starts_at")), open, r#"[[["S"],"the segment S has no end",[3]]]"#);
    check_document(&plant(&end("target_item")), open, r#"[[["S"],"the segment S has no start",[3]]]"#);
    check_document(&plant(r#"{"from": "S", "to": "t", "edge_type": "has_a"}"#), open, "[]");
}

/// A line and a loop whose parts are only named by fields, and more nodes and edges.
fn with_parents(nodes: &str, edges: &str) -> String {
    format!(
        r#"{{"nodes": [{{"id": "L", "tag": "L-1", "node_type": "line"}},
        {{"id": "S", "node_type": "segment", "parent_id": "L", "nominal_diameter": 50}},
        {{"id": "v", "class": "ball_valve", "parent_id": "S"}}, {{"id": "w", "class": "ball_valve", "parent_id": "S"}},
        {{"id": "F", "tag": "F-1", "node_type": "loop"}}, {{"id": "i", "tag": "FT-1", "class": "instrument", "parent_id": "F"}},
        {{"id": "c", "tag": "FV-1", "class": "control_valve", "parent_id": "F"}}{nodes}],
        "edges": [{{"from": "v", "to": "w", "type": "pipe"}}{edges}]}}"#
    )
}

#[test]
fn an_owner_named_by_a_field_is_a_group() {
    let plant = with_parents("", "");
    check_document(&plant, r#"group("L-1").nodes | map(.id)"#, r#"["L","S","v","w"]"#);
    check_document(&plant, r#"group("F-1").nodes | map(.id)"#, r#"["F","i","c"]"#);
    check_document(&plant, "segmentList() | map([.id, .line, .components])", r#"[["S","L-1",2]]"#);
    check_document(
        &plant,
        "lineList() | map([.line, .nominal_diameter, .segments, .components])",
        r#"[["L-1","50",1,2]]"#,
    );
    check_document(
        &plant,
        "loops() | map([.loop, .members | map(.id), .final_elements | map(.id), .closed])",
        r#"[["F-1",["i","c"],["c"],null]]"#,
    );
    check_document(&plant, r#"validate({rules: ["P110", "P111", "G03"]}) | map(.code)"#, "[]");
    check_document(&plant, "valveList() | map([.id, .line])", r#"[["v","L-1"],["w","L-1"],["c",""]]"#);
}

#[test]
fn an_edge_takes_precedence_over_the_field_of_an_owner() {
    let other = r#", {"id": "M", "tag": "L-2", "node_type": "line"}"#;
    let members = r#"["L-1", "L-2"] | map(group(get()).nodes | map(.id))"#;
    let has = |edge: &str| with_parents(other, &format!(", {{{edge}}}"));
    check_document(&has(r#""from": "M", "to": "v", "type": "has_a""#), members, r#"[["L","S","w"],["v","M"]]"#);
    check_document(&has(r#""from": "v", "to": "M", "type": "part_of""#), members, r#"[["L","S","w"],["v","M"]]"#);
    // Membership in a loop does not replace membership in a line.
    check_document(&has(r#""from": "F", "to": "v", "type": "has_a""#), members, r#"[["L","S","v","w"],["M"]]"#);
    check_document(&has(r#""from": "S", "to": "v", "type": "has_a""#), members, r#"[["L","S","v","w"],["M"]]"#);
}

#[test]
fn a_part_assigned_to_equipment_by_a_field_is_its_port() {
    let plant = r#"{"nodes": [{"id": "t", "class": "tank"}, {"id": "x", "class": "PLS401", "parent_id": "t"},
        {"id": "v", "class": "ball_valve"}, {"id": "c", "class": "chamber", "parent_id": "t"},
        {"id": "n", "class": "nozzle", "parent_id": "c"}, {"id": "b", "class": "blind_flange"}],
        "edges": [{"from": "x", "to": "v"}, {"from": "n", "to": "b"}]}"#;
    check_document(plant, r#"isolate("t").barriers | map([.node.id, .port.id])"#, r#"[["v","x"],["b","n"]]"#);
    check_document(plant, "nozzleList() | map([.id, .chamber])", r#"[["x",null],["n","c"]]"#);
    check_document(plant, r#"group("t").nodes | map(.id)"#, r#"["t"]"#);
}

#[test]
fn an_actuator_assigned_to_a_function_by_a_field_controls_the_valve_of_its_loop() {
    let plant = r#"{"nodes": [{"id": "F", "tag": "F-1", "node_type": "loop"}, {"id": "f", "class": "instrument", "tag": "FIC-1"},
        {"id": "a", "class": "instrument", "parent_id": "f"}, {"id": "v", "class": "control_valve"}, {"id": "t", "class": "tank"}],
        "edges": [{"from": "F", "to": "f", "type": "has_a"}, {"from": "t", "to": "v", "type": "pipe"},
        {"from": "a", "to": "v", "type": "signal"}]}"#;
    check_document(plant, r#"loop("FIC-1").final_elements | map(.id)"#, r#"["v"]"#);
}

#[test]
fn a_sensor_assigned_to_a_function_by_a_field_is_no_separate_loop() {
    let plant = r#"{"nodes": [{"id": "F", "tag": "F-1", "node_type": "loop"}, {"id": "f", "class": "instrument", "tag": "FIC-1"},
        {"id": "s", "class": "instrument", "tag": "FE-2", "parent_id": "g"}, {"id": "g", "class": "instrument", "tag": "FT-2"}],
        "edges": [{"from": "F", "to": "f", "type": "has_a"}, {"from": "g", "to": "f", "type": "signal"}]}"#;
    check_document(plant, "loops() | map(.loop)", r#"["F-1"]"#);
}

#[test]
fn a_label_is_a_signal() {
    let plant = r#"{"nodes": [{"id": "i", "class": "instrument"}, {"id": "v", "class": "strainer"}],
        "edges": [{"from": "v", "to": "i", "edge_type": "labeled"}]}"#;
    check_document(plant, r#"[validate({rules: "G041"}), instrumentIndex() | map(.attached_to)]"#, r#"[[],["v"]]"#);
}

/// A drawing in node-link JSON: two vessels with nozzles, a pump with a check valve, and a relief device. `root` is further
/// fields of the document, `edge` of each pipe.
fn node_link(root: &str, edge: &str) -> String {
    let nodes = [
        ("D", "vessel"),
        ("DN", "nozzle"),
        ("V", "gate_valve"),
        ("P", "pump"),
        ("C", "check_valve"),
        ("T", "tank"),
        ("R", "safety_valve"),
        ("O", "open_end"),
    ];
    let nodes = nodes.map(|(id, class)| format!(r#"{{"id": "{id}", "class": "{class}"}}"#)).join(", ");
    let pipes = [("DN", "V"), ("V", "P"), ("P", "C"), ("C", "T"), ("T", "R"), ("R", "O")];
    let pipes = pipes.map(|(from, to)| format!(r#"{{"source": "{from}", "target": "{to}"{edge}}}"#)).join(", ");
    // The writer of an undirected graph orders the ends of edges as it likes.
    let nozzle = format!(r#"{{"source": "DN", "target": "D", "edge_type": "physically_has_a"{edge}}}"#);
    format!(r#"{{{root}"nodes": [{nodes}], "links": [{pipes}, {nozzle}]}}"#)
}

const DIRECTION_QUERIES: [&str; 7] = [
    r#"downstream("P") | map(.id)"#,
    r#"trace("T") | map([.node.id, .assumed])"#,
    r#"isolate("P") | [.isolated, .barriers | map(.node.id), .uncertain | map([.reason, .at.id])]"#,
    r#"isolate("D") | [.isolated, .barriers | map(.node.id), .inside | map(.id)]"#,
    r#"isolate("P", {acceptOneWay: true}) | [.isolated, .uncertain | map([.reason, .at.id])]"#,
    "reliefList() | map([.relief_path, .certain, .reasons])",
    r#"recycles() | size()"#,
];

#[test]
fn an_undirected_graph_is_read_as_if_no_pipe_had_a_direction() {
    let stated = node_link("", r#", "direction": "unknown""#);
    for root in [r#""directed": false, "#, r#""directed": false, "multigraph": true, "graph": {}, "#] {
        for query in DIRECTION_QUERIES {
            let expected = crate::graph::evaluate_document(&stated, query);
            check_document(&node_link(root, ""), query, &expected);
            check_document(&format!(r#"{{"pid_graph": {}}}"#, node_link(root, "")), query, &expected);
            check_document(&node_link(root, r#", "direction": """#), query, &expected);
        }
    }
    let directed = node_link(r#""directed": true, "#, "");
    check_document(&directed, DIRECTION_QUERIES[0], r#"["C","T"]"#);
    check_document(
        &node_link(r#""directed": false, "#, r#", "direction": "forward""#),
        DIRECTION_QUERIES[0],
        r#"["C","T"]"#,
    );
    check_document(&node_link(r#""directed": false, "#, ""), DIRECTION_QUERIES[0], r#"["V","C","DN","T"]"#);
    // An extract keeps what the root says.
    let extract = r#"subgraph(["P", "C", "T", "V", "DN"]) | .directed"#;
    check_document(&node_link(r#""directed": false, "#, ""), extract, "false");
}
