//! Joined sheets whose answer a reviewer of drawings knows in advance.

use pidq::{Graph, JoinBy, Limits, join_sheets};
use serde_json::{Value, json};

use crate::drawing_notation::drawing;
use crate::graph::evaluate;

/// A sheet in the notation of `drawing_notation.rs`, with its name, and the sheet and label that its connectors name.
fn sheet(name: &str, plant: &str, connectors: &[(&str, &str, &str)]) -> Value {
    let mut sheet: Value = serde_json::from_str(&drawing(plant)).expect("JSON");
    sheet["pid_graph"]["metadata"]["drawing_name"] = name.into();
    for node in sheet["pid_graph"]["nodes"].as_array_mut().expect("nodes") {
        if let Some((_, other, label)) = connectors.iter().find(|(id, ..)| node["id"] == *id) {
            node["cross_page"] = json!({"drawing_name": other, "link_label": label});
        }
    }
    sheet
}

/// Adds fields to the pipes of a sheet.
fn with_pipes(mut sheet: Value, fields: Value) -> Value {
    for edge in sheet["pid_graph"]["edges"].as_array_mut().expect("edges") {
        for (key, value) in fields.as_object().expect("fields") {
            edge[key] = value.clone();
        }
    }
    sheet
}

fn join(sheets: &[Value]) -> Graph {
    let graphs: Vec<Graph> =
        sheets.iter().map(|sheet| Graph::from_json(sheet.to_string()).expect("a sheet is JSON")).collect();
    let graphs: Vec<&Graph> = graphs.iter().collect();
    let joined = join_sheets(&graphs, JoinBy::Any, Limits::default()).expect("drawings");
    Graph::from_json(joined).expect("JSON")
}

fn check(sheets: &[Value], query: &str, expected: Value) {
    let found = evaluate(&join(sheets), query, "{}").unwrap_or_else(|error| panic!("{query}: {error}"));
    assert_eq!(found, expected, "{query}");
}

const PAIRS: &str = "graph().metadata.joined.pairs | map([.from, .to])";
const REPORT: &str = "graph().metadata.joined | [(.pairs | map([.from, .to])), (.unmatched | map(.id)),
    (.ambiguous | map(.id)), (.missing_partners | map([.id, .reason]))]";

/// Returns two sheets with a pipe from one to the other, with fields of the pipes of each.
fn two(from: Value, to: Value) -> [Value; 2] {
    [
        with_pipes(sheet("A", "T-1 → V-1 → X-1", &[("X-1", "B", "L")]), from),
        with_pipes(sheet("B", "X-2 → S-1 → P-1 → V-2 → T-2", &[("X-2", "A", "L")]), to),
    ]
}

#[test]
fn each_sheet_keeps_the_roles_of_its_classes() {
    let with_roles = |mut sheet: Value, roles: Value| {
        sheet["pid_graph"]["metadata"]["topology"] = json!({"roles": roles});
        sheet
    };
    let with_class = |mut sheet: Value, id: &str, class: &str| {
        let nodes = sheet["pid_graph"]["nodes"].as_array_mut().expect("nodes");
        let node = nodes.iter_mut().find(|node| node["id"] == id).expect("the item");
        let keys: Vec<String> = node.as_object().expect("an object").keys().cloned().collect();
        let key = keys.iter().find(|key| key.contains("class")).expect("a class").clone();
        node[key] = class.into();
        sheet
    };
    let first = || sheet("A", "T-1 → V-1 → X-1", &[("X-1", "B", "L")]);
    let second = || sheet("B", "X-2 → V-2 → T-2", &[("X-2", "A", "L")]);
    let barriers = r#"isolate("A#T-1") | [.isolated, (.barriers | map(.node.id))]"#;
    // Each sheet has a class of its own; both orders.
    let own = [
        with_roles(with_class(first(), "V-1", "gizmo"), json!([{"role": "none", "match": "^gizmo$"}])),
        with_roles(with_class(second(), "V-2", "widget"), json!([{"role": "barrier", "match": "^widget$"}])),
    ];
    check(&own, barriers, json!(["yes", ["B#V-2"]]));
    let [a, b] = own;
    check(&[b, a], barriers, json!(["yes", ["B#V-2"]]));
    // A class that only one sheet declares.
    let declared = with_roles(with_class(first(), "V-1", "gizmo"), json!([{"role": "barrier", "match": "^gizmo$"}]));
    let unknown = with_class(second(), "V-2", "gizmo");
    check(&[declared.clone(), unknown.clone()], barriers, json!(["yes", ["A#V-1"]]));
    check(&[unknown, declared], barriers, json!(["yes", ["A#V-1"]]));
    // One class with two roles.
    let class =
        first()["pid_graph"]["nodes"].as_array().expect("nodes").iter().find(|node| node["id"] == "V-1").cloned();
    let class =
        class.and_then(|node| node.as_object()?.iter().find(|(key, _)| key.contains("class")).map(|(_, v)| v.clone()));
    let other = with_roles(second(), json!([{"role": "none", "match": class.expect("a class")}]));
    for sheets in [[first(), other.clone()], [other, first()]] {
        let graphs = sheets.map(|sheet| Graph::from_json(sheet.to_string()).expect("JSON"));
        let error = join_sheets(&[&graphs[0], &graphs[1]], JoinBy::Any, Limits::default()).expect_err("two roles");
        assert!(error.to_string().contains("different roles"), "{error}");
    }
}

#[test]
fn three_sheets_in_a_chain_are_one_plant() {
    let sheets = [
        sheet("A", "T-1 → V-1 → X-1", &[("X-1", "B", "L1")]),
        sheet("B", "X-2 → S-1 → X-3", &[("X-2", "A", "L1"), ("X-3", "C", "L2")]),
        sheet("C", "X-4 → P-1 → V-2 → T-2", &[("X-4", "B", "L2")]),
    ];
    check(&sheets, PAIRS, json!([["A#X-1", "B#X-2"], ["B#X-3", "C#X-4"]]));
    let isolation = r#"isolate("P-1") | [(.barriers | map(.node.id)), .complete, .certain]"#;
    check(&sheets, isolation, json!([["C#V-2", "A#V-1"], true, true]));
    let walk = r##"downstream("T-1") | map(.id) | filter(regex(get(), "#[^X]"))"##;
    check(&sheets, walk, json!(["A#V-1", "B#S-1", "C#P-1"]));
}

#[test]
fn a_relief_device_behind_a_barrier_on_another_sheet_is_listed() {
    let sheets = [
        sheet("A", "T-1 → V-1 → X-1", &[("X-1", "B", "L1")]),
        sheet("B", "X-2 → J-1 → RV-1 → O-1; T-2 → J-1", &[("X-2", "A", "L1")]),
    ];
    let isolation =
        r#"isolate("T-1") | [(.barriers | map([.node.id, (.cuts_off | map(.id))])), (.relief | map(.node.id))]"#;
    check(&sheets, isolation, json!([[["A#V-1", ["B#RV-1"]]], ["B#RV-1"]]));
}

#[test]
fn the_second_valve_of_a_double_block_may_be_on_another_sheet() {
    let sheets = [
        sheet("A", "T-1 → V-1 → X-1", &[("X-1", "B", "L1")]),
        sheet("B", "X-2 → J-1 → V-2 → T-2; J-1 → V-3", &[("X-2", "A", "L1")]),
    ];
    check(
        &sheets,
        r#"isolate("T-1") | .barriers | map([.node.id, .method])"#,
        json!([["A#V-1", "double_block_bleed"]]),
    );
}

#[test]
fn a_relief_device_protects_equipment_of_another_sheet() {
    let sheets = [
        sheet("A", "T-1 → X-1", &[("X-1", "B", "L1")]),
        sheet("B", "X-2 → J-1 → RV-1 → O-1; J-1 → V-1 → T-2", &[("X-2", "A", "L1")]),
    ];
    check(&sheets, "reliefList() | map([.protects, .relief_path])", json!([["T-1", "open"]]));
}

#[test]
fn sheets_joined_one_after_the_other_are_joined_like_all_at_once() {
    let a = sheet("A", "T-1 → V-1 → X-1", &[("X-1", "B", "L1")]);
    let b = sheet("B", "X-2 → S-1 → X-3", &[("X-2", "A", "L1"), ("X-3", "C", "L2")]);
    let c = sheet("C", "X-4 → P-1", &[("X-4", "B", "L2")]);
    let first: Value = evaluate(&join(&[a, b]), "get()", "{}").expect("a document");
    let isolation = r#"isolate("P-1") | [(.barriers | map(.node.tag)), .complete]"#;
    check(&[first.clone(), c], isolation, json!([["V-1"], true]));
    // Nothing is joined again.
    check(&[first], "graph().metadata.joined | [.pairs | size(), (.unmatched | size())]", json!([0, 1]));
}

#[test]
fn connectors_are_paired_only_if_nothing_else_is_possible() {
    let b = |connectors: &[(&str, &str, &str)]| sheet("B", "X-2 → V-2; X-3 → V-3", connectors);
    let a = |name: &str, label: &str| sheet("A", "V-1 → X-1", &[("X-1", name, label)]);
    // A label that a sheet has twice.
    let found = json!([[], [], ["A#X-1", "B#X-2", "B#X-3"], []]);
    check(&[a("B", "L"), b(&[("X-2", "A", "L"), ("X-3", "A", "L")])], REPORT, found);
    // A connector that names its own sheet.
    check(&[a("A", "L")], REPORT, json!([[], ["A#X-1"], [], [["A#X-1", "same_sheet"]]]));
    // Labels in another case and spelling are the same; a hyphen between digits tells two numbers apart.
    check(&[a("b", "50-pl 1"), b(&[("X-2", " a ", "50PL-1")])], PAIRS, json!([["A#X-1", "B#X-2"]]));
    let found = json!([["A#X-1", "B#X-2"]]);
    check(&[a("B", "1-11"), b(&[("X-2", "A", "1-11"), ("X-3", "A", "11-1")])], PAIRS, found);
    // A name with the revision or leading zeros is another name: nothing is guessed.
    for other in ["A Rev. 2", "0A", "A1"] {
        check(&[a("B", "L"), b(&[("X-2", other, "L")])], PAIRS, json!([]));
    }
    // Both flows leave their sheets.
    let out = sheet("B", "V-2 → X-2", &[("X-2", "A", "L")]);
    let found = json!([[], ["A#X-1", "B#X-2"], [], [["A#X-1", "same_direction"], ["B#X-2", "same_direction"]]]);
    check(&[a("B", "L"), out], REPORT, found);
}

#[test]
fn a_pipe_does_not_continue_as_a_signal() {
    let sheets = [sheet("A", "T-1 → X-1", &[("X-1", "B", "L")]), sheet("B", "X-2 ⇢ I-1", &[("X-2", "A", "L")])];
    let found = json!([[], ["A#X-1", "B#X-2"], [], [["A#X-1", "pipe_and_signal"], ["B#X-2", "pipe_and_signal"]]]);
    check(&sheets, REPORT, found);
}

#[test]
fn signals_pass_to_the_items_of_the_other_sheet() {
    let sheets = [
        sheet("A", "I-1 ⇢ X-1", &[("X-1", "B", "L")]),
        sheet("B", "X-2 ⇢ CV-1; T-1 → CV-1 → T-2", &[("X-2", "A", "L")]),
    ];
    check(&sheets, "instrumentIndex() | map(.attached_to)", json!(["CV-1"]));
    check(&sheets, r#"downstream("T-1") | map(.id)"#, json!(["B#CV-1", "B#T-2"]));
    let ids = r#"edges() | map(.id) | filter(regex(get(), "^joint"))"#;
    check(&sheets, ids, json!(["joint#1", "joint#1.1"]));
}

#[test]
fn a_signal_without_a_direction_has_none_on_the_other_sheet() {
    let signal = "edges() | filter(.id == \"joint#1.1\") | map(.direction)";
    for at in 0..2 {
        let mut sheets = [
            sheet("A", "I-1 ⇢ X-1", &[("X-1", "B", "L")]),
            sheet("B", "X-2 ⇢ CV-1; T-1 → CV-1 → T-2", &[("X-2", "A", "L")]),
        ];
        let ids = [["I-1", "X-1"], ["X-2", "CV-1"]];
        let edges = sheets[at]["pid_graph"]["edges"].as_array_mut().expect("edges");
        let edge = edges.iter_mut().find(|edge| edge["from"] == ids[at][0] && edge["to"] == ids[at][1]);
        edge.expect("the signal")["direction"] = json!("unknown");
        for (sheet, side) in [(0, "flow_out"), (1, "flow_in")] {
            let nodes = sheets[sheet]["pid_graph"]["nodes"].as_array_mut().expect("nodes");
            let connector = nodes.iter_mut().find(|node| node["id"] == ["X-1", "X-2"][sheet]);
            connector.expect("the connector")["node_classification"] =
                json!(format!("reference.{side}_signal_off_page_connector"));
        }
        check(&sheets, signal, json!(["both"]));
    }
}

#[test]
fn a_signal_over_a_connector_that_is_not_there_makes_a_trip_uncertain() {
    let query = "[(loops() | map(.certain)), (causeAndEffect().not_followed | map([.edge.id, .reason]))]";
    for (connector, expected) in [
        ("X-2", json!([[true], []])),
        ("X-2(status=future)", json!([[false], [["joint#1.1", "not_installed"]]])),
        ("X-2(status=to be removed)", json!([[false], [["joint#1.1", "unknown_status"]]])),
        ("X-2(remarks=signal for alarm only)", json!([[false], [["joint#1.1", "unknown_status"]]])),
        ("X-2(remarks=permissive)", json!([[false], [["joint#1.1", "unknown_status"]]])),
        ("X-2(remarks=not yet connected)", json!([[false], [["joint#1.1", "unknown_status"]]])),
        ("X-2(remarks=continued from sheet A)", json!([[true], []])),
    ] {
        let valve = format!("{connector} ⇢ SDV-1; T-1 → SDV-1 → T-2");
        let mut sheets = [sheet("A", "I-1 ⇢ X-1", &[("X-1", "B", "L")]), sheet("B", &valve, &[("X-2", "A", "L")])];
        sheets[0]["pid_graph"]["nodes"][0]["tag"] = json!("PSHH-1");
        check(&sheets, query, expected);
    }
}

#[test]
fn a_relief_line_over_a_connector_with_a_doubtful_remark_is_not_open() {
    let path = |remark: &str, expected: &str| {
        let connector = format!("T-1 → RV-1 → X-1(remarks={remark})");
        let sheets = [sheet("A", &connector, &[("X-1", "B", "L")]), sheet("B", "X-2 → O-1", &[("X-2", "A", "L")])];
        check(&sheets, "reliefList().0.relief_path", json!(expected));
    };
    path("line not yet connected", "unknown");
    path("out of service", "unknown");
    path("continued on sheet B", "open");
    path("to flare", "open");
}

#[test]
fn sheets_may_have_numbers_as_names() {
    let mut sheets = [sheet("1", "T-1 → X-1", &[("X-1", "2", "L")]), sheet("2", "X-2 → T-2", &[("X-2", "1", "L")])];
    for (sheet, other) in [(0, 2), (1, 1)] {
        sheets[sheet]["pid_graph"]["metadata"]["drawing_name"] = json!(sheet + 1);
        let nodes = sheets[sheet]["pid_graph"]["nodes"].as_array_mut().expect("nodes");
        let connector = nodes.iter_mut().find(|node| node.get("cross_page").is_some()).expect("the connector");
        connector["cross_page"] = json!({"drawing_name": other, "link_label": 17});
    }
    check(&sheets, PAIRS, json!([["1#X-1", "2#X-2"]]));
}

#[test]
fn a_line_that_is_blanked_on_one_sheet_is_not_open_in_any_order_of_the_sheets() {
    let line = |name: &str, plant: &str, other: &str, status: &str| {
        let mut sheet =
            with_pipes(sheet(name, plant, &[("X-1", other, "L"), ("X-2", other, "L")]), json!({"line": "L-9"}));
        let node = json!({"id": "L", "tag": "L-9", "node_type": "pipe_system", "status": status});
        sheet["pid_graph"]["nodes"].as_array_mut().expect("nodes").push(node);
        sheet
    };
    let [from, to] = [line("A", "D-1 → RV-1 → X-1", "B", "existing"), line("B", "X-2 → O-1", "A", "blanked")];
    for sheets in [[from.clone(), to.clone()], [to, from]] {
        check(&sheets, "reliefList().0.certain", json!(false));
    }
}

#[test]
fn the_same_size_in_inches_is_no_difference() {
    let query = "graph().metadata.joined.differences | map([.property, .from_value, .to_value])";
    for (from, to) in [(json!(100), json!("4\"")), (json!("DN 40"), json!("1 1/2 in")), (json!("NPS 2"), json!(50))] {
        check(&two(json!({"nominal_diameter": from}), json!({"nominal_diameter": to})), query, json!([]));
    }
    let found = json!([["nominal_diameter", "100", "3\""]]);
    check(&two(json!({"nominal_diameter": 100}), json!({"nominal_diameter": "3\""})), query, found);
}

#[test]
fn a_class_break_at_the_border_of_sheets_is_a_finding() {
    let sheets = two(json!({"piping_class": "A1A"}), json!({"piping_class": "B3B"}));
    let findings = r#"validate({rules: "P120"}) | map([.ids, .evidence])"#;
    check(&sheets, findings, json!([[["A#X-1", "B#X-2"], ["joint#1"]]]));
}

#[test]
fn a_line_that_has_its_connector_as_a_member_is_compared() {
    let with_line = |mut sheet: Value, line: &str, member: &str| {
        let nodes = sheet["pid_graph"]["nodes"].as_array_mut().expect("nodes");
        nodes.push(json!({"id": "line", "tag": line, "node_type": "piping_network_system"}));
        nodes.push(json!({"id": "segment", "node_type": "piping_network_segment"}));
        let edges = sheet["pid_graph"]["edges"].as_array_mut().expect("edges");
        for [from, to] in [["line", "segment"], ["segment", member]] {
            edges.push(json!({"from": from, "to": to, "edge_type": "physically_has_a"}));
        }
        sheet
    };
    // The connectors, or the items beside them, are members.
    for [from, other] in [["X-1", "X-2"], ["V-1", "S-1"], ["X-1", "S-1"]] {
        let sheets = |to: &str| {
            let [from_sheet, to_sheet] = two(json!({}), json!({}));
            [with_line(from_sheet, "100-PL-1", from), with_line(to_sheet, to, other)]
        };
        let query = "graph().metadata.joined.differences | map([.property, .from_value, .to_value])";
        check(&sheets("100-PL-1"), query, json!([]));
        check(&sheets("200-CW-9"), query, json!([["line", "100-PL-1", "200-CW-9"]]));
    }
}

#[test]
fn an_isolation_across_a_contradicting_pair_is_uncertain() {
    let query = r#"isolate("P-1") | [(.barriers | map(.node.id)), .certain, (.uncertain | map([.reason, .at.id]))]"#;
    let line = |number: &str| json!({"line": number});
    let certain = json!([["B#V-2", "A#V-1"], true, []]);
    check(&two(line("100-PL-1"), line("100-PL-1")), query, certain);
    let found = json!([["B#V-2", "A#V-1"], false, [["joint_of_different_pipes", "B#X-2"]]]);
    check(&two(line("100-PL-1"), line("200-CW-9")), query, found);
}

#[test]
fn a_boundary_leaks_at_the_border_of_the_plant_only() {
    let sheets = two(json!({}), json!({}));
    check(&sheets, r#"boundary("P-1", ["V-1", "V-2"]).leaks"#, json!([]));
    check(&sheets[1..], r#"boundary("P-1", ["V-2"]).leaks | map(.id)"#, json!(["B#X-2"]));
}

#[test]
fn a_boundary_leaks_where_a_pipe_leads_to_nothing() {
    let mut plant: Value = serde_json::from_str(&drawing("V-1 → P-1 → V-2")).expect("JSON");
    let edges = plant["pid_graph"]["edges"].as_array_mut().expect("edges");
    edges.push(json!({"id": "e9", "from": "P-1", "to": "missing", "edge_type": "physically_connected_to"}));
    check_leaks(&plant, &["P-1"]);
    plant["pid_graph"]["edges"][2]["edge_type"] = "associated_with".into();
    check_leaks(&plant, &[]);
}

fn check_leaks(plant: &Value, expected: &[&str]) {
    let graph = Graph::from_json(plant.to_string()).expect("JSON");
    let found = evaluate(&graph, r#"boundary("P-1", ["V-1", "V-2"]).leaks | map(.id)"#, "{}");
    assert_eq!(found, Ok(json!(expected)));
}

#[test]
fn a_line_across_sheets_is_listed_once_from_its_start_to_its_end() {
    let line = || json!({"line": "100-PL-1"});
    check(&two(line(), line()), "lineList() | map([.line, .from, .to])", json!([["100-PL-1", ["T-1"], ["T-2"]]]));
    check(
        &two(line(), line()),
        "hazopNodes() | map(.items | map(.id)) | first()",
        json!(["A#V-1", "A#X-1", "B#X-2", "B#S-1"]),
    );
}

#[test]
fn a_line_that_only_passes_through_a_sheet_is_joined_on_both_sides() {
    let from = sheet("A", "T-1 → V-1 → X-1", &[("X-1", "B", "L1")]);
    let through = sheet("B", "X-2 → X-3", &[("X-2", "A", "L1"), ("X-3", "C", "L2")]);
    let to = sheet("C", "X-4 → P-1 → V-2 → T-2", &[("X-4", "B", "L2")]);
    let sheets = [from.clone(), through.clone(), to.clone()];
    check(&sheets, PAIRS, json!([["A#X-1", "B#X-2"], ["B#X-3", "C#X-4"]]));
    let isolation = r#"isolate("P-1") | [.isolated, (.barriers | map(.node.tag))]"#;
    check(&sheets, isolation, json!(["yes", ["V-2", "V-1"]]));
    // One after the other.
    let first: Value = evaluate(&join(&[from, through]), "get()", "{}").expect("a document");
    check(&[first, to], isolation, json!(["yes", ["V-2", "V-1"]]));
    // Back to the sheet that it comes from.
    let sheets = [
        sheet("A", "T-1 → V-1 → X-1; X-4 → P-1 → V-2 → T-2", &[("X-1", "B", "L1"), ("X-4", "B", "L2")]),
        sheet("B", "X-2 → X-3", &[("X-2", "A", "L1"), ("X-3", "A", "L2")]),
    ];
    check(&sheets, PAIRS, json!([["A#X-1", "B#X-2"], ["B#X-3", "A#X-4"]]));
    check(&sheets, isolation, json!(["yes", ["V-2", "V-1"]]));
}

#[test]
fn the_pipe_of_a_line_through_a_sheet_is_compared_at_both_of_its_ends() {
    let class = |class: &str| json!({"piping_class": class});
    let sheets = [
        with_pipes(sheet("A", "T-1 → V-1 → X-1", &[("X-1", "B", "L1")]), class("A1A")),
        with_pipes(sheet("B", "X-2 → X-3", &[("X-2", "A", "L1"), ("X-3", "C", "L2")]), class("B3B")),
        with_pipes(sheet("C", "X-4 → P-1", &[("X-4", "B", "L2")]), class("B3B")),
    ];
    check(&sheets, r#"validate({rules: "P120"}) | map(.ids)"#, json!([["A#X-1", "B#X-2"]]));
}

#[test]
fn a_label_that_is_not_known_yet_joins_nothing() {
    let sheets = |label: &str| {
        [sheet("A", "T-1 → V-1 → X-1", &[("X-1", "B", label)]), sheet("B", "X-2 → P-1", &[("X-2", "A", label)])]
    };
    for label in
        ["-", "--", "?", "TBD", "t.b.d.", "N/A", "XXX", "xx", "later", "Hold", "to be confirmed", "...", "Unknown"]
    {
        check(&sheets(label), PAIRS, json!([]));
        check(
            &sheets(label),
            REPORT,
            json!([[], ["A#X-1", "B#X-2"], [], [["A#X-1", "no_label"], ["B#X-2", "no_label"]]]),
        );
    }
    for label in ["X", "1", "A-1", "XX-1", "HOLD-7", "TBD 3"] {
        check(&sheets(label), PAIRS, json!([["A#X-1", "B#X-2"]]));
    }
}

#[test]
fn a_link_to_another_sheet_than_the_named_one_joins_nothing() {
    let linked = |mut sheet: Value, id: &str, own: &str, partner: Option<&str>| {
        let nodes = sheet["pid_graph"]["nodes"].as_array_mut().expect("nodes");
        let node = nodes.iter_mut().find(|node| node["id"] == id).expect("a connector");
        node["persistent_id"] = own.into();
        if let Some(partner) = partner {
            node["cross_page"]["linked_persistent_id"] = partner.into();
        }
        sheet
    };
    let sheets = [
        linked(sheet("A", "T-1 → V-1 → X-1", &[("X-1", "B", "L")]), "X-1", "g1", Some("g3")),
        sheet("B", "X-2 → P-1", &[("X-2", "A", "L")]),
        linked(sheet("C", "X-3 → P-2", &[("X-3", "A", "L")]), "X-3", "g3", None),
    ];
    check(&sheets, REPORT, json!([[], [], ["A#X-1", "B#X-2", "C#X-3"], []]));
    check(&sheets, r#"isolate("P-1").isolated"#, json!("no"));
}

#[test]
fn a_relief_path_and_a_section_across_a_contradicting_pair_are_not_certain() {
    let sheets = |from: &str, to: &str| {
        [
            with_pipes(
                sheet("A", "D-1 → X-1; ESDV-1(node_classification=shutdown_valve) → D-1", &[("X-1", "B", "L")]),
                json!({"fluid_code": from}),
            ),
            with_pipes(sheet("B", "X-2 → RV-1 → O-1", &[("X-2", "A", "L")]), json!({"fluid_code": to})),
        ]
    };
    let relief = "reliefList() | map([.relief_path, .certain, .reasons])";
    check(&sheets("PL", "PL"), relief, json!([["open", true, ""]]));
    check(&sheets("PL", "CW"), relief, json!([["unknown", false, "joint_of_different_pipes X-1"]]));
    let sections = "inventorySections().0.uncertain | map(.reason)";
    check(&sheets("PL", "PL"), sections, json!([]));
    check(&sheets("PL", "CW"), sections, json!(["joint_of_different_pipes"]));
    // The outlets of two devices over the same joint.
    let outlet = [
        with_pipes(sheet("A", "D-1 → RV-1 → J-1 → X-1; D-2 → RV-2 → J-1", &[("X-1", "B", "L")]), json!({"line": "1"})),
        with_pipes(sheet("B", "X-2 → O-1", &[("X-2", "A", "L")]), json!({"line": "2"})),
    ];
    check(&outlet, "reliefList() | map(.relief_path)", json!(["unknown", "unknown"]));
}

#[test]
fn equipment_that_is_drawn_twice_is_not_isolated_for_certain_by_one_of_its_drawings() {
    let isolated = r#"isolate("A#D-1") | [.isolated, (.uncertain | map([.reason, .at.id]))]"#;
    let sheets = |other: &str| [sheet("A", "T-1 → V-1 → D-1 → V-2 → T-2", &[]), sheet("B", other, &[])];
    check(&sheets("D-1 → O-1"), isolated, json!(["unknown", [["same_tag", "A#D-1"]]]));
    check(&sheets("D-1.N1 → V-7 → T-7"), isolated, json!(["unknown", [["same_tag", "A#D-1"]]]));
    for other in ["D-2 → O-1", "D-9(tag=D-1); D-2 → O-1", "D-9(tag=D-1, node_classification=equipment.motor) → T-9"]
    {
        check(&sheets(other), isolated, json!(["yes", []]));
    }
    // Tags are counted in each part of a plant; a pump is no vessel.
    let tagged = |fields: &str| sheets(&format!("D-1({fields}) → O-1"));
    check(&tagged("area=200"), isolated, json!(["unknown", [["same_tag", "A#D-1"]]]));
    check(&tagged("node_classification=equipment.centrifugal_pump"), isolated, json!(["yes", []]));
    for name in ["area", "Unit", "project_id", "qualified_tag"] {
        let one = sheet("A", &format!("T-1 → V-1 → D-1({name}=100) → V-2 → T-2"), &[]);
        let other = |value: &str| sheet("B", &format!("D-1({name}={value}) → O-1"), &[]);
        check(&[one.clone(), other("200")], isolated, json!(["yes", []]));
        check(&[one, other("100")], isolated, json!(["unknown", [["same_tag", "A#D-1"]]]));
    }
    // An attribute, and a field of the group that equipment belongs to, count like its own field.
    for (one, other, expected) in [
        (json!({"attributes": [{"name": "Unit", "value": "100"}]}), json!({"unit": "200"}), json!(["yes", []])),
        (json!({"parent_id": "U"}), json!({"unit": "200"}), json!(["yes", []])),
        (json!({"parent_id": "U"}), json!({"unit": "100"}), json!(["unknown", [["same_tag", "A#D-1"]]])),
        (json!({"parent_id": "L"}), json!({"unit": "200"}), json!(["unknown", [["same_tag", "A#D-1"]]])),
    ] {
        let mut pair = sheets("D-1 → O-1");
        let groups = [
            json!({"id": "U", "node_type": "plant_structure_item", "unit": "100"}),
            json!({"id": "L", "node_type": "piping_network_system", "unit": "100"}),
        ];
        let nodes = pair[0]["pid_graph"]["nodes"].as_array_mut().expect("nodes");
        nodes.extend(groups);
        for (sheet, fields) in pair.iter_mut().zip([one, other]) {
            let nodes = sheet["pid_graph"]["nodes"].as_array_mut().expect("nodes");
            let vessel = nodes.iter_mut().find(|node| node["id"] == "D-1").expect("a vessel");
            for (key, value) in fields.as_object().expect("fields") {
                vessel[key] = value.clone();
            }
        }
        check(&pair, isolated, expected);
    }
    // Equipment may be shown again on the sheet of another area.
    let [mut one, mut other] = sheets("D-1 → O-1");
    one["pid_graph"]["metadata"]["area"] = json!("100");
    other["pid_graph"]["metadata"]["area"] = json!("200");
    check(&[one, other], isolated, json!(["unknown", [["same_tag", "A#D-1"]]]));
}

#[test]
fn a_pair_by_label_with_the_id_of_another_partner_is_uncertain() {
    let sheets = |id: &str, status: &str| {
        let mut sheets = two(json!({}), json!({}));
        sheets[0]["pid_graph"]["nodes"][2]["cross_page"]["linked_persistent_id"] = json!("PB");
        sheets[1]["pid_graph"]["nodes"][0]["persistent_id"] = json!(id);
        sheets[1]["pid_graph"]["nodes"][0]["status"] = json!(status);
        sheets
    };
    let isolated = r#"isolate("P-1") | [.isolated, (.uncertain | map(.reason) | uniq())]"#;
    check(&sheets("PB", ""), isolated, json!(["yes", []]));
    check(&sheets("PX", ""), isolated, json!(["unknown", ["joint_of_different_pipes"]]));
    check(&sheets("PB", "future"), isolated, json!(["unknown", ["not_installed"]]));
}

#[test]
fn the_pipe_between_two_sheets_has_the_values_of_those_that_it_joins() {
    let pipe = |pressure: &str| json!({"line": "100-P-1-A1A", "piping_class": "A1A", "nominal_diameter": 100, "design_pressure": pressure});
    let sheets = |from: &str, to: &str| {
        [
            with_pipes(sheet("A", "T-1 → V-1 → X-1", &[("X-1", "B", "L")]), pipe(from)),
            with_pipes(sheet("B", "X-2 → CK-1 → T-2", &[("X-2", "A", "L")]), pipe(to)),
        ]
    };
    let interfaces = r#"pressureInterfaces().interfaces | filter(regex(.at.id, "X-|CK"))
        | map([.at.id, .from.pressure, .to.pressure, .high, .protection | map(.item.id)])"#;
    let same = sheets("10 barg", "10 barg");
    check(&same, interfaces, json!([]));
    check(&same, "corrosionCircuits() | map([.lines, .pressure | .high])", json!([[["100-P-1-A1A"], 10]]));
    check(
        &same,
        r#"materialList() | filter(.kind == "pipe") | map([.nominal_diameter, .piping_class, .count])"#,
        json!([[100, "A1A", 1]]),
    );
    check(&sheets("10 barg", "40 barg"), interfaces, json!([["B#X-2", 10, 40, "to", ["B#CK-1"]]]));
}
