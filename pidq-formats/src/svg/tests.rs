//! Tests of drawings. Appearance is reviewed by eye.

use pidq_core::Graph;

use super::*;
use crate::xml::Tree;

const PLANT: &str = include_str!("../../../examples/data/plant.json");

#[track_caller]
pub(super) fn draw_with(options: &DrawOptions, json: &str) -> String {
    let graph = Graph::from_json(json).expect("valid JSON");
    let svg = options.draw(graph.root()).expect("it can be drawn");
    Tree::read(&svg).expect("it is XML");
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "every number is finite");
    svg
}

pub(super) fn draw(json: &str) -> String {
    draw_with(&DrawOptions::default(), json)
}

/// Returns the plant without its positions.
fn plant_without_positions() -> String {
    PLANT.replace("\"orig_x\"", "\"was_x\"")
}

/// Returns the position at which a node is drawn.
fn at(svg: &str, id: &str) -> (f64, f64) {
    let (_, rest) = svg.split_once(&format!("data-id=\"{id}\" transform=\"translate(")).expect("it is drawn");
    let (x, y) = rest.split(')').next().and_then(|pair| pair.split_once(' ')).expect("a position");
    (x.parse().expect("a number"), y.parse().expect("a number"))
}

#[test]
fn every_component_is_drawn_once_with_its_id_and_groups_are_not() {
    let graph: serde_json::Value = serde_json::from_str(PLANT).expect("valid JSON");
    for json in [PLANT.to_owned(), plant_without_positions()] {
        let svg = draw(&json);
        for node in graph["pid_graph"]["nodes"].as_array().expect("a list") {
            let id = node["id"].as_str().expect("an id");
            let class = node["node_classification"].as_str().unwrap_or_default();
            let is_drawn = node["node_type"] == "pid_component" && !class.ends_with(".chamber");
            let times =
                svg.matches(&format!("<g class=\"{}\" data-id=\"{id}\"", crate::symbols::find(class).name)).count();
            assert_eq!(times, usize::from(is_drawn), "{id}");
        }
    }
}

#[test]
fn the_same_graph_gives_the_same_bytes() {
    assert_eq!(draw(PLANT), draw(PLANT));
    assert_eq!(draw(&plant_without_positions()), draw(&plant_without_positions()));
}

#[test]
fn positions_are_kept_for_both_directions_of_the_y_axis() {
    let json = |axis: &str| {
        format!(
            r#"{{"nodes": [{{"id": "a", "class": "tank", "orig_x": 0, "orig_y": 0}},
                {{"id": "b", "class": "pump", "orig_x": 100, "orig_y": 50}}],
                "edges": [{{"from": "a", "to": "b"}}], "metadata": {{"coordinate_system": {{"y_axis": "{axis}"}}}}}}"#
        )
    };
    let (down, up) = (draw(&json("down")), draw(&json("up")));
    assert!(at(&down, "a").1 < at(&down, "b").1 && at(&up, "a").1 > at(&up, "b").1);
    assert!(at(&up, "a").0 < at(&up, "b").0);
}

/// Returns the ratio of width to height.
fn aspect_ratio(svg: &str) -> f64 {
    let (_, rest) = svg.split_once("viewBox=\"").expect("a box");
    let numbers = rest.split('"').next().unwrap_or_default().split(' ').map(|number| number.parse().expect("a number"));
    let numbers: Vec<f64> = numbers.collect();
    numbers[2] / numbers[3]
}

#[test]
fn layered_layouts_are_wrapped_into_rows() {
    let chain = |count: usize| {
        let nodes = (0..count).map(|at| format!(r#"{{"id": "{at}", "class": "gate_valve"}}"#));
        let edges = (1..count).map(|at| format!(r#"{{"from": "{}", "to": "{at}"}}"#, at - 1));
        let [nodes, edges] = [nodes.collect::<Vec<_>>(), edges.collect()].map(|list| list.join(","));
        format!(r#"{{"nodes": [{nodes}], "edges": [{edges}]}}"#)
    };
    for json in [plant_without_positions(), chain(40), chain(300)] {
        let aspect_ratio = aspect_ratio(&draw(&json));
        assert!((0.8..3.0).contains(&aspect_ratio), "{aspect_ratio}");
    }
    let svg = draw(&chain(40));
    let rows: BTreeSet<i64> = (0..40).map(|id| at(&svg, &id.to_string()).1.round() as i64).collect();
    assert!((2..8).contains(&rows.len()), "in rows: {rows:?}");
    let single_row = draw(&chain(4));
    assert_eq!(at(&single_row, "0").1, at(&single_row, "3").1, "a short chain is one row");
}

#[test]
fn a_bypass_is_drawn_next_to_the_bypassed_items() {
    let json = r#"{"nodes": [{"id": "a", "class": "pipe_tee", "orig_x": 0, "orig_y": 0},
        {"id": "v", "class": "gate_valve", "orig_x": 40, "orig_y": 0}, {"id": "b", "class": "pipe_tee", "orig_x": 80, "orig_y": 0},
        {"id": "w", "class": "gate_valve", "orig_x": 60, "orig_y": 30}],
        "edges": [{"from": "a", "to": "v"}, {"from": "v", "to": "b"}, {"id": "in", "from": "a", "to": "w"}, {"from": "w", "to": "b"}]}"#;
    let svg = draw(json);
    let ((ax, _), (wx, wy)) = (at(&svg, "a"), at(&svg, "w"));
    let (_, path) = svg.split_once("data-id=\"in\"").expect("the pipe is drawn");
    let bend = format!("{ax} {wy}");
    assert!(path.split('>').next().is_some_and(|path| path.contains(&bend)), "down first, not along to {wx}: {path}");
}

#[test]
fn layered_layouts_follow_the_flow_from_left_to_right() {
    let svg = draw(&plant_without_positions());
    for (left, right) in [("OPC-101", "HV-1001"), ("HV-1001", "T-101"), ("T-101", "P-101A"), ("P-101A", "HV-1004A")] {
        assert!(at(&svg, left).0 < at(&svg, right).0, "{left} {right}");
    }
    assert!(at(&svg, "P-101A").1 != at(&svg, "P-101B").1);
}

#[test]
fn highlighted_nodes_edges_and_connections_are_marked() {
    let highlight = ["HV-1001", "T-101-N1"].map(String::from).into();
    let svg = draw_with(&DrawOptions { highlight, ..DrawOptions::default() }, PLANT);
    assert_eq!((svg.matches("class=\"hit\"").count(), svg.matches("class=\"hot\"").count()), (2, 1));
    let highlight = ["e1"].map(String::from).into();
    let svg = draw_with(&DrawOptions { highlight, ..DrawOptions::default() }, PLANT);
    assert_eq!((svg.matches("class=\"hit\"").count(), svg.matches("class=\"hot\"").count()), (0, 1));
}

/// Returns the size of a box symbol: width and height.
fn box_of(svg: &str, id: &str) -> (f64, f64) {
    let (_, node) = svg.split_once(&format!("data-id=\"{id}\"")).expect("the node is drawn");
    let number = |key: &str| {
        let (_, rest) = node.split_once(&format!(" {key}=\"")).expect("a box");
        rest.split('"').next().and_then(|number| number.parse().ok()).expect("a number")
    };
    (number("width"), number("height"))
}

#[test]
fn equipment_extends_to_its_nozzles_even_if_some_are_omitted() {
    let nozzle =
        |id: &str, x: i32, y: i32| format!(r#"{{"id": "{id}", "class": "nozzle", "orig_x": {x}, "orig_y": {y}}}"#);
    let json = format!(
        r#"{{"nodes": [{{"id": "E", "class": "plate_heat_exchanger", "orig_x": 50, "orig_y": 50}}, {}, {},
        {{"id": "V", "class": "gate_valve", "orig_x": 20, "orig_y": 10}}, {{"id": "W", "class": "gate_valve", "orig_x": 300, "orig_y": 99}}],
        "edges": [{{"edge_type": "physically_has_a", "from": "E", "to": "N1"}}, {{"edge_type": "physically_has_a", "from": "E", "to": "N2"}},
        {{"edge_type": "piping", "from": "V", "to": "N1"}}]}}"#,
        nozzle("N1", 35, 10),
        nozzle("N2", 65, 90)
    );
    let (width, height) = box_of(&draw(&json), "E");
    assert!((height / width - 80.0 / 30.0).abs() < 0.1, "{width} × {height}");
    let only = Some(["V", "W", "N1", "E"].map(String::from).into());
    let part = draw_with(&DrawOptions { only, ..DrawOptions::default() }, &json);
    assert!(!part.contains("data-id=\"N2\""));
    assert_eq!(box_of(&part, "E"), (width, height));
}

#[test]
fn joined_sheets_are_drawn_side_by_side() {
    let node = |id: &str, x: i32| format!(r#"{{"id": "{id}", "class": "gate_valve", "orig_x": {x}, "orig_y": 5}}"#);
    let sheets = |metadata: &str| {
        let nodes = [node("A#1", 0), node("A#2", 90), node("B#1", 10), node("B#2", 100)].join(",");
        let pipe = |from: &str, to: &str| {
            format!(r#"{{"id": "{from}", "from": "{from}", "to": "{to}", "orig_path": [[20, 5], [70, 5]]}}"#)
        };
        let pipes = [pipe("A#1", "A#2"), pipe("B#1", "B#2")].join(",");
        draw(&format!(r#"{{"nodes": [{nodes}], "edges": [{pipes}], "metadata": {{{metadata}}}}}"#))
    };
    let joined = sheets(r#""joined": {}"#);
    assert!(at(&joined, "A#2").0 < at(&joined, "B#1").0);
    let width = |svg: &str, from: &str, to: &str| at(svg, to).0 - at(svg, from).0;
    assert_eq!(width(&joined, "A#1", "A#2"), width(&joined, "B#1", "B#2"));
    let (_, pipe) = joined.split_once("class=\"p\" data-id=\"B#1\"").expect("the pipe is drawn");
    let start_x = pipe.split_once(" d=\"M").and_then(|(_, path)| path.split(' ').next()?.parse::<f64>().ok());
    assert!(start_x.expect("a path") > at(&joined, "A#2").0, "{pipe}");
    let unjoined = sheets("");
    assert!(at(&unjoined, "B#1").0 < at(&unjoined, "A#2").0);
}

#[test]
fn joined_sheets_with_one_position_each_are_separated() {
    let node = |id: &str| format!(r#"{{"id": "{id}", "class": "gate_valve", "orig_x": 7, "orig_y": 5}}"#);
    let nodes = [node("A#1"), node("B#1"), node("C#1")].join(",");
    let svg = draw(&format!(r#"{{"nodes": [{nodes}], "edges": [], "metadata": {{"joined": {{}}}}}}"#));
    assert!(at(&svg, "A#1").0 < at(&svg, "B#1").0 && at(&svg, "B#1").0 < at(&svg, "C#1").0, "{svg}");
}

#[test]
fn joined_sheets_use_their_declared_y_axis() {
    let node = |id: &str, y: i32| format!(r#"{{"id": "{id}", "class": "gate_valve", "orig_x": 0, "orig_y": {y}}}"#);
    let nodes = [node("A#1", 0), node("A#2", 50), node("B#1", 0), node("B#2", 90)].join(",");
    let sheets = r#"[null, {}, {"coordinate_system": {"y_axis": "up"}}]"#;
    let svg =
        draw(&format!(r#"{{"nodes": [{nodes}], "edges": [], "metadata": {{"joined": {{}}, "sheets": {sheets}}}}}"#));
    assert!(at(&svg, "A#1").1 > at(&svg, "A#2").1 && at(&svg, "B#1").1 > at(&svg, "B#2").1, "{svg}");
}

#[test]
fn lines_are_labeled_with_their_number() {
    let json = r#"{"nodes": [{"id": "n7", "node_type": "line", "tag": "50-W-1"}, {"id": "a", "class": "tank"}, {"id": "b", "class": "tank"}],
        "edges": [{"from": "a", "to": "b", "line_id": "n7"}]}"#;
    let svg = draw(json);
    assert!(svg.contains(">50-W-1<") && !svg.contains(">n7<"), "{svg}");
}

#[test]
fn ids_are_collected_from_results_of_any_structure() {
    let graph = Graph::from_json(r#"[{"id": "a", "x": {"id": "no"}}, "b", {"nodes": [{"id": 7}], "why": "not this"}]"#)
        .expect("valid JSON");
    assert_eq!(ids_in(graph.root()), ["a", "b", "7"].map(String::from).into());
}

#[test]
fn texts_are_escaped_and_truncated() {
    let long = "x".repeat(5000);
    let svg = draw(&format!(
        r#"{{"nodes": [{{"id": "\"><script>", "tag": "<b>&\u0000"}}, {{"id": "b", "tag": "{long}"}}], "edges": []}}"#
    ));
    assert!(!svg.contains("<script>") && !svg.contains("<b>"));
    assert!(svg.matches(&long).count() <= 1, "a long text is truncated, except in the tooltip");
}

#[test]
fn degenerate_graphs_are_drawn() {
    for json in [
        r#"{"nodes": []}"#,
        r#"{"nodes": [{"id": "a"}]}"#,
        r#"{"nodes": [{"id": "a"}], "edges": [{"from": "a", "to": "a"}, {"from": "a", "to": "?"}, {}]}"#,
        r#"{"nodes": [{"id": "a", "orig_x": 1e308, "orig_y": -1e308}, {"id": "b", "orig_x": 0, "orig_y": 0}]}"#,
        r#"{"nodes": [{"id": "a", "orig_x": 5, "orig_y": 5}, {"id": "b", "orig_x": 5, "orig_y": 5}], "edges": [{"from": "a", "to": "b"}]}"#,
        r#"{"nodes": [{"id": "a"}, {"id": "b"}], "edges": [{"from": "a", "to": "b"}, {"from": "b", "to": "a"}]}"#,
        r#"{"nodes": [{"id": "t", "class": "tank", "bbox": [0, 0, -5, 0], "orig_path": 3}], "edges": []}"#,
    ] {
        draw(json);
    }
}

#[test]
fn graphs_above_the_item_limit_are_rejected() {
    let nodes: Vec<String> = (0..MAX_ITEMS + 1).map(|n| format!("{{\"id\":{n}}}")).collect();
    let graph = Graph::from_json(format!("[{}]", nodes.join(","))).expect("valid JSON");
    assert_eq!(DrawOptions::default().draw(graph.root()).expect_err("too large").code(), Code::TooLarge);
}

#[test]
fn long_chains_are_drawn_in_reasonable_time() {
    let nodes: Vec<String> = (0..3000).map(|n| format!("{{\"id\":{n},\"class\":\"valve\"}}")).collect();
    let edges: Vec<String> = (1..3000).map(|n| format!("{{\"from\":{},\"to\":{n}}}", n - 1)).collect();
    draw(&format!("{{\"nodes\":[{}],\"edges\":[{}]}}", nodes.join(","), edges.join(",")));
}

#[test]
fn both_styles_color_everything() {
    let dark = draw_with(&DrawOptions { style: Style::Dark, ..DrawOptions::default() }, PLANT);
    let light = draw(PLANT);
    assert_ne!(dark, light);
    assert_eq!(dark.lines().count(), light.lines().count());
}

#[test]
fn an_isolation_is_shown_as_three_parts_with_a_legend() {
    let document = Graph::from_json(PLANT).expect("valid JSON");
    let result = r#"{"target": {"id": "P-101A"}, "barriers": [{"node": {"id": "HV-1003A"}, "path": [{"id": "P-101A"}, {"id": "STR-101A"}, {"id": "HV-1003A"}]}],
        "inside": [{"id": "P-101A"}], "unresolved": [{"at": {"id": "T-101"}, "path": [{"id": "P-101A"}]}],
        "conditional": [{"node": {"id": "HV-1004A"}, "why": "actuated"}], "relief": [{"id": "PSV-1106"}]}"#;
    let result = Graph::from_json(result).expect("valid JSON");
    let isolation = Isolation::in_document(document.root(), result.root()).expect("it is an isolation");
    let set = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<BTreeSet<String>>();
    assert_eq!(isolation.close, set(&["HV-1003A"]));
    assert_eq!(isolation.inside, set(&["P-101A", "STR-101A"]));
    assert_eq!(isolation.open, set(&["T-101", "HV-1004A", "PSV-1106"]));
    let svg = draw_with(&DrawOptions { isolation: Some(isolation), ..DrawOptions::default() }, PLANT);
    // Each part once more in the legend.
    let count = |part: &str| svg.matches(&format!("class=\"hit {part}\"")).count();
    assert_eq!([count("close"), count("inside"), count("open")], [2, 3, 4]);
    assert!(svg.contains(">close: 1<") && svg.contains(">stays open or uncertain: 3<"));
    let other = Graph::from_json(r#"{"nodes": []}"#).expect("valid JSON");
    assert_eq!(Isolation::in_document(document.root(), other.root()), None);
}

#[test]
fn what_stays_open_is_never_shown_as_closed() {
    let result = r#"{"barriers": [{"node": {"id": "V"}}], "inside": [], "conditional": [{"id": "V"}]}"#;
    let result = Graph::from_json(result).expect("valid JSON");
    let isolation = Isolation::in_document(result.root(), result.root()).expect("it is an isolation");
    for doubtful in [
        r#"{"barriers": [{"node": {"id": "V"}, "certain": false}], "inside": []}"#,
        r#"{"barriers": [{"node": {"id": "V"}}], "inside": [], "uncertain": [{"reason": "unknown_class", "at": {"id": "V"}, "edge": null}]}"#,
        r#"{"barriers": [], "inside": [{"id": "V"}], "kept_open": [{"id": "V"}]}"#,
    ] {
        let result = Graph::from_json(doubtful).expect("valid JSON");
        let isolation = Isolation::in_document(result.root(), result.root()).expect("it is an isolation");
        assert!(isolation.open.contains("V"), "{doubtful}");
    }
    let json = r#"{"nodes": [{"id": "V", "class": "gate_valve"}], "edges": []}"#;
    let svg = draw_with(&DrawOptions { isolation: Some(isolation), ..DrawOptions::default() }, json);
    assert!(svg.contains("close: 0") && svg.matches("class=\"hit open\"").count() == 2, "{svg}");
}

/// Two revisions of a line: the new one has another valve `N` in the place of `R`, and `P` has changed.
const REVISIONS: [&str; 2] = [
    r#"{"nodes": [{"id": "T", "class": "tank", "orig_x": 0, "orig_y": 0}, {"id": "R", "tag": "HV-1", "class": "gate_valve", "orig_x": 50, "orig_y": 30},
        {"id": "P", "class": "pump", "orig_x": 100, "orig_y": 0}],
      "edges": [{"id": "e1", "from": "T", "to": "R"}, {"id": "e2", "from": "R", "to": "P"}]}"#,
    r#"{"nodes": [{"id": "T", "class": "tank", "orig_x": 0, "orig_y": 0}, {"id": "N", "tag": "HV-2", "class": "ball_valve", "orig_x": 50, "orig_y": 0},
        {"id": "P", "class": "pump", "orig_x": 100, "orig_y": 0}],
      "edges": [{"id": "e1", "from": "T", "to": "N"}, {"from": "N", "to": "P"}]}"#,
];
const DIFFERENCE: &str = r#"{"added": [{"id": "N"}], "removed": [{"id": "R"}], "changed": [{"id": "P", "field": "power"}], "moved": [],
    "renamed": [{"tag": "X", "before": "Y", "after": "Z"}], "retagged": [], "rewired": [],
    "edges_added": [{"id": "e1"}], "edges_removed": [{"id": "e1"}, {"id": "e2"}], "edges_changed": [], "equal": false}"#;

fn changes(result: &str) -> Option<Changes> {
    let result = Graph::from_json(result).expect("valid JSON");
    Changes::in_document(Value::Null, result.root())
}

#[test]
fn changes_are_read_from_differences_and_their_ranking() {
    let set = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<BTreeSet<String>>();
    let expected = Changes { added: set(&["N", "e1"]), removed: set(&["R", "e1", "e2"]), changed: set(&["P", "Z"]) };
    assert_eq!(changes(DIFFERENCE), Some(expected));
    let ranked = r#"[{"significance": "high", "id": "R", "change": "removed"}, {"significance": "low", "id": "N", "change": "added"},
        {"significance": "low", "id": "P", "change": "rewired"}, {"significance": "low", "id": "e9", "change": "edge_added"}]"#;
    let expected = Changes { added: set(&["N", "e9"]), removed: set(&["R"]), changed: set(&["P"]) };
    assert_eq!(changes(ranked), Some(expected));
    for other in [r#"{"added": []}"#, r#"[{"id": "N"}]"#, r#"["N"]"#, "null", "1"] {
        assert_eq!(changes(other), None, "{other}");
    }
}

#[test]
fn changes_have_a_color_for_each_kind_and_what_was_removed_is_drawn() {
    let [older, newer] = REVISIONS.map(|json| Graph::from_json(json).expect("valid JSON"));
    let options = DrawOptions { changes: changes(DIFFERENCE), ..DrawOptions::default() };
    let svg = options.draw_with_removed(newer.root(), older.root()).expect("it can be drawn");
    let count = |class: &str| svg.matches(&format!("class=\"{class}\"")).count();
    // Each kind once more in the legend. The pipe without an id leads to an item that has only changed.
    assert_eq!(["hit added", "hit removed", "hit changed"].map(count), [2, 2, 2], "{svg}");
    assert_eq!(["hot added", "hot removed", "hot changed"].map(count), [1, 2, 0], "{svg}");
    assert_eq!(
        ["T", "P", "N", "R"].map(|id| svg.matches(&format!("<g class=\"{}\" data-id=\"{id}\"", class_of(id))).count()),
        [1; 4]
    );
    assert!(at(&svg, "R").1 > at(&svg, "N").1 && svg.contains(">HV-1</text>"), "{svg}");
    let without = options.draw(newer.root()).expect("it can be drawn");
    assert!(!without.contains("data-id=\"R\"") && without.contains("class=\"hit added\""), "{without}");
    let equal = DrawOptions { changes: Some(Changes::default()), ..DrawOptions::default() };
    let equal = equal.draw_with_removed(newer.root(), older.root()).expect("it can be drawn");
    assert_eq!(equal, DrawOptions::default().draw(newer.root()).expect("it can be drawn"));
}

fn class_of(id: &str) -> &'static str {
    match id {
        "T" => "tank",
        "P" => "pump",
        "N" => "ball_valve",
        _ => "gate_valve",
    }
}

#[test]
fn the_id_of_a_removed_item_that_a_new_one_has_stays_with_the_new_one() {
    let [older, newer] = [REVISIONS[0].replace("\"R\"", "\"N\""), REVISIONS[1].to_owned()];
    let [older, newer] = [older, newer].map(|json| Graph::from_json(json).expect("valid JSON"));
    let changes = Changes { removed: ["N".to_owned()].into(), added: ["N".to_owned()].into(), ..Changes::default() };
    let options = DrawOptions { changes: Some(changes), ..DrawOptions::default() };
    let svg = options.draw_with_removed(newer.root(), older.root()).expect("it can be drawn");
    assert!(svg.contains("class=\"ball_valve\" data-id=\"N\"") && !svg.contains("class=\"gate_valve\""), "{svg}");
}

/// Returns the drawing of one item between two others in a horizontal pipe.
fn in_pipe(class: &str, fields: &str) -> String {
    draw(&format!(
        r#"{{"nodes": [{{"id": "a", "class": "tank", "orig_x": 0, "orig_y": 0}},
        {{"id": "v", "tag": "X-1", "class": "{class}", "orig_x": 100, "orig_y": 0, {fields}}},
        {{"id": "b", "class": "tank", "orig_x": 200, "orig_y": 0}}], "edges": [{{"from": "a", "to": "v"}}, {{"from": "v", "to": "b"}}]}}"#
    ))
}

#[test]
fn valves_have_marks_for_their_positions_and_set_pressures() {
    let svg = in_pipe("control valve", r#""fail_action": "open", "normal_position": "locked closed""#);
    assert!(svg.contains(">FO<") && svg.contains(">LC<"), "{svg}");
    assert!(in_pipe("safety_valve", r#""set_pressure": 16"#).contains(">SET 16<"));
    assert!(!in_pipe("gate_valve", r#""set_pressure": 16"#).contains("SET"));
    for (class, fields, mark) in [
        ("gate_valve", r#""lock": "locked_open""#, ">LO<"),
        ("gate_valve", r#""locking": "CSO""#, ">CSO<"),
        ("gate_valve", r#""lock": "L.O.""#, ">LO<"),
        ("gate_valve", r#""lock": "l/c""#, ">LC<"),
        ("gate_valve", r#""normal_position": "CarSealClose""#, ">CSC<"),
        ("control_valve", r#""fail_action": "air to open""#, ">FC<"),
        ("control_valve", r#""fail_action": "F.C.""#, ">FC<"),
        ("control_valve", r#""fail_action": "Air-to-close""#, ">FO<"),
        ("control_valve", r#""fail_action": "FailRetainPosition""#, ">FL<"),
        ("control_valve", r#""fail_action": "fail closed""#, ">FC<"),
        ("control_valve", r#""fail_action": "indeterminate""#, ">FI<"),
        ("gate_valve", r#""lock": true, "normal_position": "closed""#, ">LC<"),
        ("gate_valve", r#""attributes": [{"name": "ValvePosition", "value": "LockedOpen"}]"#, ">LO<"),
        ("gate_valve", r#""Normal Position": "verriegelt_geschlossen""#, ">LC<"),
        ("control_valve", r#""attributes": [{"name": "FailAction", "value": "FailClose"}]"#, ">FC<"),
        ("safety_valve", r#""set_pressure": "85 barg""#, ">SET 85 barg<"),
        ("safety_valve", r#""set_pressure_barg": 85"#, ">SET 85 barg<"),
        (
            "safety_valve",
            r#""attributes": [{"name": "SetPressureHigh", "value": 85, "unit": "barg"}]"#,
            ">SET 85 barg<",
        ),
    ] {
        let svg = in_pipe(class, fields);
        assert!(svg.contains(mark), "{fields}: {svg}");
    }
    for fields in [r#""lock": "unlocked""#, r#""lock": true"#, r#""attributes": [{"name": "Lock", "value": "no"}]"#] {
        let svg = in_pipe("gate_valve", fields);
        assert!(!svg.contains(">LO<") && !svg.contains(">LC<"), "{fields}: {svg}");
    }
    let body =
        |svg: &str| svg.split_once("data-id=\"v\"").map(|(_, rest)| rest.split("</g>").next().unwrap_or("").to_owned());
    assert!(body(&in_pipe("gate_valve", r#""normal_position": "closed""#)).expect("drawn").contains("class=\"f\""));
    assert!(!body(&in_pipe("gate_valve", r#""normal_position": "open""#)).expect("drawn").contains("class=\"f\""));
    for closed in [r#""lock": "LC""#, r#""attributes": [{"name": "ValvePosition", "value": "NormallyClosed"}]"#] {
        assert!(body(&in_pipe("gate_valve", closed)).expect("drawn").contains("class=\"f\""), "{closed}");
    }
}

#[test]
fn a_reducer_is_wide_at_its_wide_end() {
    let transform = |fields: &str| {
        let svg = in_pipe("pipe_reducer", fields);
        let (_, rest) = svg.split_once("data-id=\"v\" transform=\"").expect("it is drawn");
        rest.split('"').next().unwrap_or_default().contains("scale(-1 1)")
    };
    assert!(!transform(r#""nominal_diameter": 100, "outlet_diameter": 80"#));
    assert!(transform(r#""nominal_diameter": 80, "outlet_diameter": 100"#));
    assert!(!transform(r#""nominal_diameter": 80"#));
}

#[test]
fn a_relief_valve_between_pipes_at_a_right_angle_is_an_angle_valve() {
    let json = |x: i32, y: i32| {
        format!(
            r#"{{"nodes": [{{"id": "a", "class": "valve", "orig_x": 0, "orig_y": 0}},
            {{"id": "v", "class": "safety_valve", "orig_x": 100, "orig_y": 0}},
            {{"id": "b", "class": "valve", "orig_x": {x}, "orig_y": {y}}}], "edges": [{{"from": "a", "to": "v"}}, {{"from": "v", "to": "b"}}]}}"#
        )
    };
    assert!(draw(&json(200, 0)).contains("<g class=\"safety_valve\""));
    assert!(draw(&json(100, 100)).contains("<g class=\"angle_safety_valve\""));
    assert!(draw(&json(100, -100)).contains("<g class=\"angle_safety_valve_left\""));
    let angle = |x, y| json(x, y).replace("safety_valve", "angle_globe_valve");
    // In line, the pipe leaves at the side and turns back to the line.
    let in_line = draw(&angle(200, 0));
    assert!(in_line.contains("<g class=\"angle_valve_right\""), "{in_line}");
    let route = in_line.split("class=\"p\"").nth(2).and_then(|rest| rest.split('"').nth(1)).expect("the second pipe");
    let points: Vec<&str> = route.split(['M', 'L']).skip(1).collect();
    assert_eq!(points.len(), 5, "{route}");
    let number = |text: &str| text.parse::<f64>().expect("a number");
    let points = points.iter().map(|point| point.split_once(' ').expect("two numbers"));
    let points: Vec<(f64, f64)> = points.map(|(x, y)| (number(x), number(y))).collect();
    assert!(points[1].1 > points[0].1 + 10.0 && points[1].0 == points[0].0, "{route}");
    assert!(points[3].1 == points[0].1 && points[4].1 == points[0].1, "{route}");
    assert!(draw(&angle(100, 100)).contains("<g class=\"angle_valve_right\""));
    assert!(draw(&angle(100, -100)).contains("<g class=\"angle_valve_left\""));
}

#[test]
fn instruments_of_a_system_have_its_frame() {
    let bubble = |fields: &str| {
        let svg = draw(&format!(
            r#"{{"nodes": [{{"id": "i", "tag": "FIC-1", "class": "instrument.flow_controller", {fields}}}], "edges": []}}"#
        ));
        svg.split_once("data-id=\"i\"")
            .map(|(_, rest)| rest.split("</g>").next().unwrap_or("").to_owned())
            .expect("drawn")
    };
    assert!(
        bubble(r#""system": "DCS""#).contains("M-16 -16H16V16H-16Z")
            && bubble(r#""system": "DCS""#).contains("<circle")
    );
    assert!(bubble(r#""system": "SIS""#).contains("M0 -16L16 0L0 16L-16 0Z"));
    assert!(!bubble(r#""location": "field""#).contains("M-16 -16H16V16H-16Z"));
}

#[test]
fn the_location_of_an_instrument_is_the_line_through_its_bubble() {
    let bubble = |location: &str| {
        let json = format!(
            r#"{{"nodes": [{{"id": "i", "tag": "FIC-1", "class": "instrument.flow_controller", "location": "{location}"}}], "edges": []}}"#
        );
        draw(&json)
            .split("<g class=\"instrument\"")
            .nth(1)
            .and_then(|rest| rest.split("</g>").next())
            .expect("drawn")
            .to_owned()
    };
    const ONE: &str = "M-16.0 0.0H16.0";
    const TWO: &str = "M-16.0 -1.4H16.0M-16.0 1.4H16.0";
    for (location, line) in [
        ("Control room", Some(("n", ONE))),
        ("local panel", Some(("n", TWO))),
        ("behind the control panel", Some(("d", ONE))),
        ("rear of local panel", Some(("d", TWO))),
        ("Field", None),
        ("", None),
    ] {
        let bubble = bubble(location);
        match line {
            Some((class, path)) => {
                assert!(bubble.contains(&format!("class=\"{class}\" d=\"{path}\"")), "{location}: {bubble}");
            }
            None => assert!(!bubble.contains("H16.0"), "{location}: {bubble}"),
        }
    }
}

#[test]
fn signals_have_right_angles_and_the_marks_of_their_kind() {
    let json = |class: &str| {
        format!(
            r#"{{"nodes": [{{"id": "t", "class": "instrument.flow_transmitter", "orig_x": 0, "orig_y": 0}},
            {{"id": "v", "class": "control_valve", "orig_x": 100, "orig_y": 60}}, {{"id": "w", "class": "valve", "orig_x": 200, "orig_y": 60}}],
            "edges": [{{"from": "v", "to": "w"}}, {{"id": "s", "edge_type": "associated_with", "edge_classification": "signal_line.{class}", "from": "t", "to": "v"}}]}}"#
        )
    };
    let path = |svg: &str| {
        let (_, rest) = svg.split_once("data-id=\"s\" d=\"M").expect("the signal is drawn");
        let points = rest.split('"').next().unwrap_or_default().split('L');
        points.filter_map(|point| point.split_once(' ').map(|(x, y)| (x.to_owned(), y.to_owned()))).collect::<Vec<_>>()
    };
    let electric = draw(&json("electric"));
    let points = path(&electric);
    assert_eq!(points.len(), 3);
    assert!(points.windows(2).all(|pair| pair[0].0 == pair[1].0 || pair[0].1 == pair[1].1), "{points:?}");
    assert!(electric.contains("class=\"g\" data-id=\"s\""));
    let pneumatic = draw(&json("pneumatic"));
    assert!(pneumatic.contains("class=\"o\" data-id=\"s\"") && pneumatic.contains("d=\"M-4 4L0 -4M0 4L4 -4\""));
}

#[test]
fn a_pipe_jumps_over_a_pipe_that_it_crosses() {
    let node =
        |id: &str, x: i32, y: i32| format!(r#"{{"id": "{id}", "class": "gate_valve", "orig_x": {x}, "orig_y": {y}}}"#);
    let nodes = [node("a", 0, 50), node("b", 100, 50), node("c", 50, 0), node("d", 50, 100)].join(",");
    let svg = draw(&format!(
        r#"{{"nodes": [{nodes}], "edges": [{{"id": "h", "from": "a", "to": "b"}}, {{"id": "v", "from": "c", "to": "d"}}]}}"#
    ));
    let path = |id: &str| {
        svg.split_once(&format!("data-id=\"{id}\" d=\""))
            .map(|(_, rest)| rest.split('"').next().unwrap_or("").to_owned())
    };
    assert!(
        path("h").is_some_and(|path| path.contains("A4 4")) && path("v").is_some_and(|path| !path.contains('A')),
        "{svg}"
    );
}

/// Returns the drawing of a tank with a nozzle at a place, and a valve in its pipe.
fn tank_with_nozzle(nozzle: [i32; 2], valve: [i32; 2]) -> String {
    let [[x, y], [valve_x, valve_y]] = [nozzle, valve];
    draw(&format!(
        r#"{{"nodes": [{{"id": "T", "class": "tank", "orig_x": 100, "orig_y": 100, "orig_bbox_width": 80, "orig_bbox_height": 80}},
        {{"id": "N", "class": "nozzle", "orig_x": {x}, "orig_y": {y}}}, {{"id": "V", "class": "gate_valve", "orig_x": {valve_x}, "orig_y": {valve_y}}},
        {{"id": "W", "class": "gate_valve", "orig_x": 300, "orig_y": 300}}],
        "edges": [{{"from": "T", "to": "N", "edge_type": "physically_has_a"}}, {{"id": "e", "from": "N", "to": "V"}}, {{"from": "V", "to": "W"}}]}}"#
    ))
}

#[test]
fn a_nozzle_inside_of_its_equipment_is_moved_to_the_side_of_its_pipe() {
    let outside = tank_with_nozzle([60, 100], [20, 100]);
    assert_eq!(at(&tank_with_nozzle([75, 100], [20, 100]), "N"), at(&outside, "N"));
    let below = tank_with_nozzle([110, 110], [110, 200]);
    assert!(at(&below, "N").1 > at(&below, "T").1 + 20.0, "{below}");
}

#[test]
fn a_line_leads_from_a_nozzle_to_its_equipment() {
    let svg = tank_with_nozzle([125, 60], [125, 20]);
    // From the nozzle above the slope of the roof down to the middle of the tank, which covers the end.
    let ((x, y), (_, middle)) = (at(&svg, "N"), at(&svg, "T"));
    assert!(svg.contains(&format!("<path class=\"p\" d=\"M{x:.1} {y:.1}L{x:.1} {middle:.1}\"/>")), "{svg}");
}

#[test]
fn bubbles_and_equipment_have_space() {
    let json = r#"{"nodes": [{"id": "T", "class": "tank", "orig_x": 0, "orig_y": 0}, {"id": "V", "class": "gate_valve", "orig_x": 10, "orig_y": 0},
        {"id": "W", "class": "gate_valve", "orig_x": 20, "orig_y": 0}, {"id": "X", "class": "gate_valve", "orig_x": 30, "orig_y": 0},
        {"id": "A", "tag": "FT-1", "class": "instrument", "orig_x": 20, "orig_y": 8}, {"id": "B", "tag": "FI-1", "class": "instrument", "orig_x": 20, "orig_y": 16}],
        "edges": [{"from": "T", "to": "V"}, {"from": "V", "to": "W"}, {"from": "W", "to": "X"}]}"#;
    let svg = draw(json);
    let distance = |a: &str, b: &str| {
        let (a, b) = (at(&svg, a), at(&svg, b));
        (a.0 - b.0).hypot(a.1 - b.1)
    };
    assert!(distance("A", "B") > 32.0 && distance("A", "W") > 23.0 && distance("T", "V") > 38.0, "{svg}");
}

#[test]
fn a_tag_is_not_over_the_spring_of_a_relief_valve() {
    let svg = draw(
        r#"{"nodes": [{"id": "a", "class": "tank", "orig_x": 0, "orig_y": 100}, {"id": "v", "tag": "PSV-1106", "class": "safety_valve", "orig_x": 0, "orig_y": 50},
        {"id": "b", "class": "gate_valve", "orig_x": 0, "orig_y": 0}], "edges": [{"from": "a", "to": "v"}, {"from": "v", "to": "b"}]}"#,
    );
    let ((x, y), half) = (at(&svg, "v"), 8.0 * 8.0 * 0.64 / 2.0);
    let tag =
        svg.split_once("data-of=\"v\"").map(|(before, _)| before.rsplit("<text").next().unwrap_or_default().to_owned());
    let tag = tag.expect("the tag is drawn");
    let number = |key: &str| -> f64 {
        let (_, rest) = tag.split_once(&format!(" {key}=\"")).expect("a place");
        rest.split('"').next().and_then(|number| number.parse().ok()).expect("a number")
    };
    // The pipe runs up, so that the spring is on the left, 20 pixels long.
    let (is_right, is_left) = (number("x") - half > x, number("x") + half < x - 20.0);
    assert!(is_right || is_left || (number("y") - y).abs() > 8.0, "{svg}");
}
