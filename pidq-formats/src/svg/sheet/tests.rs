//! Tests of drawings from the graphics of a file. Appearance is reviewed by eye.

use pidq_core::Graph;

use crate::svg::tests::{draw, draw_with};
use crate::svg::{Changes, DrawOptions, Isolation, Style};

/// Returns a drawing of one valve `V`, 100 mm wide and 50 mm high, with the unit and the y axis of the test.
fn sheet(metadata: &str, graphics: &str) -> String {
    let graphics = if graphics.is_empty() { String::new() } else { format!("\"graphics\": [{graphics}],") };
    format!(
        r#"{{"pid_graph": {{"nodes": [
            {{"id": "V", "tag": "HV-1", "node_classification": "piping_component.gate_valve", "orig_x": 20, "orig_y": 20, {graphics}
              "ports": [{{"index": 1, "x": 10, "y": 20}}, {{"index": 2, "x": 30, "y": 20}}]}},
            {{"id": "W", "tag": "HV-2", "node_classification": "piping_component.gate_valve", "orig_x": 50, "orig_y": 20}}],
          "edges": [{{"id": "E", "edge_type": "physically_connected_to", "from": "V", "to": "W", "line": "L-1",
            "graphics": [{{"type": "polyline", "points": [30, 20, 50, 20]}}]}}],
          "metadata": {{"drawing_name": "D", {metadata}}}}}}}"#
    )
}

const UP: &str = r#""graphics": {"unit": "mm", "mm_per_unit": 1, "extent": [0, 0, 100, 50], "y_axis": "up", "shapes": {
    "S": {"elements": [{"type": "polyline", "points": [0, 0, 4, 2]}]}},
    "elements": [{"type": "group", "role": "border", "elements": [{"type": "polygon", "points": [1, 1, 99, 1, 99, 49]}]}]}"#;

/// Draws one element of the valve on a sheet with y upwards.
fn element(graphics: &str) -> String {
    draw(&sheet(UP, graphics))
}

#[test]
fn the_view_box_is_the_sheet_in_millimeters() {
    let line = r#"{"type": "polyline", "points": [10, 20, 30, 20]}"#;
    let up = element(line);
    assert!(up.contains("viewBox=\"0 0 100 50\"") && up.contains("d=\"M10 30L30 30\""), "{up}");
    let down = draw(&sheet(&UP.replace("\"up\"", "\"down\""), line));
    assert!(down.contains("d=\"M10 20L30 20\""), "{down}");
    let scaled =
        UP.replace("[0, 0, 100, 50]", "[0.5, 0, 0.6, 0.05]").replace("\"mm_per_unit\": 1", "\"mm_per_unit\": 1000");
    let scaled = draw(&sheet(&scaled, r#"{"type": "polyline", "points": [0.51, 0.02, 0.53, 0.02]}"#));
    assert!(scaled.contains("viewBox=\"0 0 100 50\"") && scaled.contains("d=\"M10 30L30 30\""), "{scaled}");
}

#[test]
fn texts_next_to_the_sheet_are_visible_and_items_far_away_do_not_count() {
    let text = |x: i32| element(&format!(r#"{{"type": "text", "text": "A", "at": [{x}, 20], "height": 2}}"#));
    assert!(text(105).contains("viewBox=\"0 0 107.1 50\""), "{}", text(105));
    assert!(text(5_000).contains("viewBox=\"0 0 100 50\""));
}

#[test]
fn items_pipes_and_the_sheet_are_groups() {
    let svg = element(r#"{"type": "circle", "center": [20, 20], "radius": 4}"#);
    assert!(svg.contains(
        "<g class=\"gate_valve\" data-id=\"V\" data-tag=\"HV-1\"><title>HV-1</title><circle cx=\"20\" cy=\"30\" r=\"4\""
    ));
    assert!(svg.contains("<g class=\"pipe\" data-id=\"E\" data-tag=\"L-1\">"));
    assert!(svg.contains("<g class=\"sheet\"><path d=\"M1 49L99 49L99 1Z\""));
}

#[test]
fn shapes_are_mirrored_then_rotated_counterclockwise_and_moved() {
    for (placement, path) in [
        ("", "M20 30L24 28"),
        (r#", "rotation": 90"#, "M20 30L18 26"),
        (r#", "mirrored": true"#, "M20 30L24 32"),
        (r#", "mirrored": true, "rotation": 90"#, "M20 30L22 26"),
        (r#", "scale": [2, 3]"#, "M20 30L28 24"),
    ] {
        let svg = element(&format!(r#"{{"type": "use", "shape": "S", "at": [20, 20]{placement}}}"#));
        assert!(svg.contains(&format!("d=\"{path}\"")), "{placement}: {svg}");
    }
}

#[test]
fn shapes_on_a_sheet_with_y_downwards_are_mirrored_left_to_right_then_rotated_clockwise() {
    for (placement, path) in [
        ("", "M20 20L24 22"),
        (r#", "rotation": 90"#, "M20 20L18 24"),
        (r#", "rotation": 270"#, "M20 20L22 16"),
        (r#", "mirrored": true"#, "M20 20L16 22"),
        (r#", "mirrored": true, "rotation": 90"#, "M20 20L18 16"),
        (r#", "mirrored": true, "scale": [2, 3]"#, "M20 20L12 26"),
    ] {
        let usage = format!(r#"{{"type": "use", "shape": "S", "at": [20, 20]{placement}}}"#);
        let svg = draw(&sheet(&UP.replace("\"up\"", "\"down\""), &usage));
        assert!(svg.contains(&format!("d=\"{path}\"")), "{placement}: {svg}");
    }
}

/// Returns the numbers of the first path of the valve.
fn numbers(svg: &str) -> Vec<f64> {
    let (_, rest) = svg.split_once("data-id=\"V\"").expect("the valve is drawn");
    let (_, rest) = rest.split_once(" d=\"").expect("a path");
    let path = rest.split('"').next().unwrap_or_default();
    path.split(|c: char| c.is_alphabetic() || c == ' ').filter_map(|number| number.parse().ok()).collect()
}

#[test]
fn arcs_run_from_start_to_end_in_the_direction_of_the_axes() {
    let arc = |angles: &str| element(&format!(r#"{{"type": "arc", "center": [20, 20], "radius": 10, {angles}}}"#));
    let quarter = numbers(&arc(r#""start": 0, "end": 90"#));
    assert_eq!((&quarter[..2], &quarter[6..]), (&[30.0, 30.0][..], &[20.0, 20.0][..]));
    let across_zero = numbers(&arc(r#""start": 270, "end": 0"#));
    assert_eq!((&across_zero[..2], &across_zero[6..]), (&[20.0, 40.0][..], &[30.0, 30.0][..]));
    let arc = r#"{"type": "arc", "center": [20, 20], "radius": 10, "start": 0, "end": 90}"#;
    let down = numbers(&draw(&sheet(&UP.replace("\"up\"", "\"down\""), arc)));
    assert_eq!((&down[..2], &down[6..]), (&[30.0, 20.0][..], &[20.0, 30.0][..]));
}

#[test]
fn splines_start_and_end_at_their_ends_and_stay_inside_their_points() {
    let svg = element(r#"{"type": "spline", "degree": 2, "points": [10, 10, 20, 30, 30, 10]}"#);
    let points = numbers(&svg);
    assert_eq!((&points[..2], &points[points.len() - 2..]), (&[10.0, 40.0][..], &[30.0, 40.0][..]));
    // The middle of a quadratic curve is halfway to its control point.
    let middle = &points[points.len() / 2 - 1..][..2];
    assert_eq!(middle, [20.0, 30.0]);
}

#[test]
fn texts_have_their_place_alignment_and_rotation() {
    let svg = element(
        r#"{"type": "text", "text": "A\nB", "at": [20, 20], "height": 2, "align": "end", "vertical": "top", "rotation": 90, "font": "Ari<al"}"#,
    );
    let text = |dy: &str, line: &str| {
        format!(
            "<text transform=\"translate(20 30) rotate(-90)\" y=\"{dy}\" font-size=\"2\" font-family=\"Arial,Helvetica,sans-serif\" \
             fill=\"#000000\" text-anchor=\"end\">{line}</text>"
        )
    };
    assert!(svg.contains(&text("2", "A")) && svg.contains(&text("5", "B")), "{svg}");
}

#[test]
fn texts_on_a_sheet_with_y_downwards_are_rotated_clockwise() {
    let text = r#"{"type": "text", "text": "A", "at": [20, 20], "height": 2, "rotation": 270}"#;
    let svg = draw(&sheet(&UP.replace("\"up\"", "\"down\""), text));
    assert!(svg.contains("translate(20 20) rotate(-90)"), "{svg}");
}

#[test]
fn a_pattern_is_filled_with_the_attributes_of_the_item() {
    let svg = element(r#"{"type": "text", "text": "", "attribute": "[TagName] [None]", "at": [20, 20]}"#);
    assert!(svg.contains(">HV-1</text>"), "{svg}");
}

#[test]
fn styles_are_inherited_and_hidden_layers_are_not_drawn() {
    let svg = element(
        r##"{"type": "group", "role": "label", "stroke": "#ff0000", "stroke_width": 0.7, "dash": "dash", "elements": [
            {"type": "polyline", "points": [1, 2, 3, 4]}, {"type": "polyline", "points": [7, 7, 8, 8], "layer": "HiddenObjects"}]}"##,
    );
    assert!(svg.contains("d=\"M1 48L3 46\" fill=\"none\" stroke=\"#ff0000\" stroke-width=\"0.7\""), "{svg}");
    assert!(svg.contains("stroke-dasharray=\"3 1.5\"") && !svg.contains("M7 43"), "{svg}");
}

#[test]
fn a_drawing_made_on_a_dark_screen_is_black_on_white_paper() {
    let line = r##"{"type": "polyline", "points": [1, 2, 3, 4], "stroke": "#ffffff"}"##;
    let dark = UP.replace("\"y_axis\"", "\"background\": \"#000000\", \"y_axis\"");
    assert!(draw(&sheet(&dark, line)).contains("d=\"M1 48L3 46\" fill=\"none\" stroke=\"#000000\""));
    assert!(element(line).contains("d=\"M1 48L3 46\" fill=\"none\" stroke=\"#ffffff\""));
    let options = DrawOptions { style: Style::Dark, ..DrawOptions::default() };
    let on_screen = draw_with(&options, &sheet(UP, line));
    assert!(!on_screen.contains("\"#ffffff\"") && !on_screen.contains("\"#000000\""), "{on_screen}");
}

#[test]
fn black_lines_on_a_black_background_are_black_on_white_paper() {
    let dark = UP.replace("\"y_axis\"", "\"background\": \"#000000\", \"y_axis\"");
    let line =
        |color: &str, y: u8| format!(r##"{{"type": "polyline", "points": [1, {y}, 3, {y}], "stroke": "{color}"}}"##);
    let strokes = |colors: &[&str]| {
        let lines: Vec<String> = colors.iter().zip(1..).map(|(color, y)| line(color, y)).collect();
        let svg = draw(&sheet(&dark, &lines.join(",")));
        let strokes = svg.split(" stroke=\"").skip(1).filter_map(|rest| rest.split('"').next().map(str::to_owned));
        strokes.collect::<Vec<String>>()
    };
    let is_black = |stroke: &String| matches!(stroke.as_str(), "#000000" | "#101010");
    for colors in [&["#000000", "#000000"][..], &["#101010"], &["#ffffff", "#000000", "#ffffff"]] {
        let found = strokes(colors);
        assert!(!found.is_empty() && found.iter().all(is_black), "{colors:?}: {found:?}");
    }
    assert!(strokes(&["#000000", "#ff0000"]).contains(&"#ff0000".to_owned()));
    let among_green = strokes(&["#00ff00", "#00ff00", "#00ff00", "#ffffff"]);
    assert!(!among_green.contains(&"#ffffff".to_owned()), "{among_green:?}");
}

#[test]
fn a_missing_shape_is_drawn_between_the_connection_points() {
    let svg = element(r#"{"type": "use", "shape": "MISSING", "at": [20, 20]}"#);
    // The symbol is 20 pixels wide, the points are 20 mm apart.
    assert!(svg.contains("<g transform=\"translate(20 30) rotate(0) scale(1 "), "{svg}");
    assert!(svg.contains(">HV-1</text>"));
}

#[test]
fn shapes_that_use_each_other_are_bounded() {
    let shapes = |name: &str, other: &str| {
        let usage = format!(r#"{{"type": "use", "shape": "{other}", "at": [1, 1]}}"#);
        format!(r#""{name}": {{"elements": [{usage}, {usage}]}}"#)
    };
    let cyclic =
        format!(r#""graphics": {{"extent": [0, 0, 9, 9], "shapes": {{{}, {}}}}}"#, shapes("A", "B"), shapes("B", "A"));
    draw(&sheet(&cyclic, r#"{"type": "use", "shape": "A", "at": [1, 1]}"#));
}

#[test]
fn a_large_shape_that_is_used_often_is_rejected() {
    let points: Vec<String> = (0..2_000).map(|at| at.to_string()).collect();
    let line = format!(r#"{{"type": "polyline", "points": [{}]}}"#, points.join(","));
    let shapes = format!(r#""graphics": {{"shapes": {{"A": {{"elements": [{line}]}}}}}}"#);
    let usage = vec![r#"{"type": "use", "shape": "A", "at": [1, 1]}"#; 2_000].join(",");
    let graph = Graph::from_json(sheet(&shapes, &usage)).expect("valid JSON");
    let error = DrawOptions::default().draw(graph.root()).expect_err("too large");
    assert_eq!(error.code(), crate::Code::TooLarge);
}

#[test]
fn an_extract_is_cropped_to_its_items() {
    let circle = r#"{"type": "circle", "center": [20, 20], "radius": 4}"#;
    let only = Some(["V"].map(String::from).into());
    let svg = draw_with(&DrawOptions { only, ..DrawOptions::default() }, &sheet(UP, circle));
    assert!(svg.contains("viewBox=\"8 18 24 24\"") && !svg.contains("class=\"sheet\""), "{svg}");
    let extract = draw(&sheet(&format!("\"extract_of\": \"D\", {UP}"), circle));
    assert!(extract.contains("viewBox=\"8 18 50 24\"") && extract.contains("data-id=\"E\""), "{extract}");
}

#[test]
fn joined_sheets_are_side_by_side() {
    let node = |id: &str| {
        format!(r#"{{"id": "{id}", "class": "tank", "graphics": [{{"type": "polyline", "points": [1, 2, 3, 4]}}]}}"#)
    };
    let json = format!(
        r#"{{"nodes": [{}, {}], "edges": [], "metadata": {{"joined": {{}}, "sheets": [{{{UP}}}, {{{UP}}}]}}}}"#,
        node("A#1"),
        node("B#1")
    );
    let svg = draw(&json);
    assert!(
        svg.contains("viewBox=\"0 0 220 50\"") && svg.contains("M1 48L3 46") && svg.contains("M121 48L123 46"),
        "{svg}"
    );
}

#[test]
fn highlights_are_marked_and_an_isolation_has_a_legend() {
    let circle = r#"{"type": "circle", "center": [20, 20], "radius": 4}"#;
    let highlight = ["V", "E"].map(String::from).into();
    let svg = draw_with(&DrawOptions { highlight, ..DrawOptions::default() }, &sheet(UP, circle));
    assert_eq!((svg.matches("class=\"hit\"").count(), svg.matches("class=\"hot\"").count()), (1, 1));
    assert!(!svg.contains("class=\"legend\""));
    let isolation = Isolation {
        close: ["V".to_owned()].into(),
        inside: ["E".to_owned()].into(),
        open: ["W".to_owned()].into(),
        isolated: Some("no".to_owned()),
    };
    let options = DrawOptions { isolation: Some(isolation.clone()), ..DrawOptions::default() };
    let svg = draw_with(&options, &sheet(UP, circle));
    assert!(svg.contains("class=\"hit close\"") && svg.contains("class=\"hot inside\""), "{svg}");
    assert!(
        svg.contains("close: 1")
            && svg.contains("stays open or uncertain: 1")
            && svg.contains("viewBox=\"0 0 100 62\"")
    );
    for (isolated, text) in [
        (Some("yes"), "inside: isolated"),
        (Some("no"), "inside: not isolated"),
        (Some("unknown"), "inside: isolation uncertain"),
        (Some("other"), "inside"),
        (None, "inside"),
    ] {
        let isolation = Isolation { isolated: isolated.map(String::from), ..isolation.clone() };
        let options = DrawOptions { isolation: Some(isolation), ..DrawOptions::default() };
        let svg = draw_with(&options, &sheet(UP, circle));
        assert!(svg.contains(&format!(">{text}<")), "{text}: {svg}");
    }
}

#[test]
fn removed_items_have_the_shapes_of_their_own_revision() {
    let newer = sheet(UP, r#"{"type": "use", "shape": "S", "at": [20, 20]}"#);
    let older = newer.replace("\"W\"", "\"O\"").replace("\"shape\": \"S\"", "\"shape\": \"OLD\"");
    let older = older.replace("\"V\"", "\"R\"").replace("\"S\": {", "\"OLD\": {").replace("0, 0, 4, 2", "0, 0, 4, 3");
    let [older, newer] = [older, newer].map(|json| Graph::from_json(json).expect("valid JSON"));
    let changes = Changes { removed: ["R".to_owned()].into(), ..Changes::default() };
    let options = DrawOptions { changes: Some(changes), ..DrawOptions::default() };
    let svg = options.draw_with_removed(newer.root(), older.root()).expect("it can be drawn");
    assert!(svg.contains("data-id=\"R\"") && svg.contains("M20 30L24 27"), "{svg}");
    assert!(svg.contains("data-id=\"V\"") && svg.contains("M20 30L24 28"), "{svg}");
    assert!(svg.contains("class=\"hit removed\"") && svg.contains(">removed</text>"), "{svg}");
}

#[test]
fn white_whose_parts_were_written_from_0_to_1_is_paper_with_a_black_outline() {
    let fill = |color: &str| {
        element(&format!(
            r#"{{"type": "circle", "center": [20, 20], "radius": 4, "stroke": "{color}", "fill": "{color}"}}"#
        ))
    };
    assert!(fill("#010101").contains("r=\"4\" fill=\"#ffffff\" stroke=\"#010101\""), "{}", fill("#010101"));
    assert!(fill("#000000").contains("r=\"4\" fill=\"#000000\" stroke=\"#000000\""), "{}", fill("#000000"));
}

/// Returns a sheet of 420 mm by 297 mm with a border that is not in the file, and a circle at a place.
fn bordered(center: [i32; 2], metadata: &str) -> String {
    let border = r#"{"type": "use", "shape": "BORDER_A3", "at": [0, 297]}"#;
    let up =
        format!(r#""graphics": {{"extent": [0, 0, 420, 297], "y_axis": "up", "elements": [{border}]}}, {metadata}"#);
    draw(&sheet(&up, &format!(r#"{{"type": "circle", "center": {center:?}, "radius": 4}}"#)))
}

#[test]
fn a_border_that_is_not_in_the_file_is_a_frame_with_grid_references_and_a_title_block() {
    let metadata = r#""revision": "C", "attributes": [{"name": "DrawingNumberAssignmentClass", "value": "D-7"},
        {"name": "DrawingName", "value": "Feed & flash"}, {"name": "DrawingSubTitle", "value": "Unit 3"}]"#;
    let svg = bordered([100, 100], metadata);
    assert!(svg.contains("<rect x=\"20\" y=\"10\" width=\"390\" height=\"277\" fill=\"none\""), "{svg}");
    // An A3 sheet has eight columns and six rows.
    for (text, count) in [("1", 2), ("8", 2), ("9", 0), ("A", 2), ("F", 2), ("G", 0)] {
        assert_eq!(svg.matches(&format!(">{text}</text>")).count(), count, "{text}: {svg}");
    }
    for text in ["D-7", "Feed &amp; flash – Unit 3", "Revision", "C"] {
        assert!(svg.contains(&format!(">{text}</text>")), "{text}: {svg}");
    }
    // Nothing is drawn over an item in the corner.
    let occupied = bordered([400, 20], metadata);
    assert!(!occupied.contains(">Revision</text>") && occupied.contains(">D</text>"), "{occupied}");
}

#[test]
fn a_drawing_with_center_lines_only_is_drawn_with_symbols() {
    let svg = element("");
    assert!(svg.contains("data-id=\"V\" transform=") && svg.contains("data-id=\"W\" transform="), "{svg}");
}

#[test]
fn malformed_graphics_are_left_out() {
    for graphics in [
        r#"1, null, "x", [], {}"#,
        r#"{"type": "polyline"}, {"type": "polyline", "points": [1]}, {"type": "polyline", "points": [1, "x", 2, 3]}"#,
        r#"{"type": "circle", "center": [1], "radius": 1}, {"type": "circle", "center": [1, 1], "radius": -1}"#,
        r#"{"type": "text", "text": "x"}, {"type": "text", "at": [1, 1]}, {"type": "use"}, {"type": "group"}"#,
        r#"{"type": "polyline", "points": [1e300, 0, 0, 0]}, {"type": "arc", "center": [0, 0], "radii": [0, 0], "start": 0, "end": 1}"#,
        r#"{"type": "spline", "degree": 0, "points": [1, 2]}, {"type": "use", "shape": "MISSING", "at": [0, 0], "scale": [0, 0]}"#,
    ] {
        element(graphics);
    }
    for metadata in [
        r#""graphics": {}"#,
        r#""graphics": {"extent": [9, 9, 0, 0], "mm_per_unit": 0}"#,
        r#""graphics": {"extent": [0, 0, 1e12, 1]}"#,
    ] {
        draw(&sheet(metadata, r#"{"type": "polyline", "points": [1, 2, 3, 4]}"#));
    }
}

#[test]
fn texts_and_fonts_are_escaped() {
    let svg = element(r#"{"type": "text", "text": "<script>", "font": "x'\"><script>", "at": [1, 1]}"#);
    assert!(!svg.contains("<script>") && svg.contains("&lt;script&gt;"), "{svg}");
}

/// Returns the picture of a node whose shape is not in the file, at (20, 20) of the sheet, 30 mm from its upper side.
fn substitute(class: &str, members: &str, ports: &str, graphics: &str) -> String {
    let json = format!(
        r#"{{"pid_graph": {{"nodes": [{{"id": "V", "node_classification": "{class}", {members}
            "graphics": [{{"type": "use", "shape": "MISSING", "at": [20, 20]}}{graphics}], "ports": [{ports}]}}],
          "edges": [], "metadata": {{{UP}}}}}}}"#
    );
    let svg = draw(&json);
    let start = svg.find("data-id=\"V\"").expect("the node is drawn");
    let end = svg[start..].find("</g>\n").expect("the group of the node ends");
    svg[start..start + end].to_owned()
}

#[test]
fn the_system_and_the_location_of_an_instrument_are_read_from_its_attributes() {
    let instrument = |kind: &str, location: &str| {
        let members = format!(
            r#""tag": "A-20TT0007", "attributes": [
                {{"name": "ProcessInstrumentationFunctionTypeAssignmentClass", "value": "{kind}"}},
                {{"name": "ProcessInstrumentationFunctionLocationAssignmentClass", "value": "{location}"}}],"#
        );
        substitute("instrument.process_instrumentation_function", &members, r#"{"x": 26, "y": 20}"#, "")
    };
    let shared = instrument("SharedDisplaySharedControl", "Primary");
    assert!(
        shared.contains("M-16 -16H16V16H-16Z") && shared.contains("translate(20 30)\" d=\"M-6.0 0.0H6.0\""),
        "{shared}"
    );
    assert!([">TT<", ">0007<", ">A-20<"].iter().all(|text| shared.contains(text)), "{shared}");
    let field = instrument("Discrete", "Field");
    assert!(field.contains("<circle cx=\"20\" cy=\"30\" r=\"6\"") && !field.contains("H6.0"), "{field}");
}

#[test]
fn a_trip_points_to_its_signal_and_a_function_without_a_tag_is_a_box() {
    let trip = |code: &str, y: i32| {
        let members = format!(
            r#""tag": "A-ESD2-10", "attributes": [{{"name": "TypeCodeAssignmentClass", "value": "{code}"}},
                {{"name": "ObjectDisplayNameAssignmentClass", "value": "2-10"}}],"#
        );
        let port = format!(r#"{{"x": 20, "y": {y}}}"#);
        substitute("instrument.process_instrumentation_function", &members, &port, "")
    };
    let down = trip("ESD", 6);
    assert!(
        down.contains("M-6 0H6V4H-6ZM-6 4L0 14L6 4") && down.contains(">ESD<") && down.contains(">2-10<"),
        "{down}"
    );
    assert!(trip("EmergencyShutdown", 34).contains("M-6 0H6V-4H-6ZM-6 -4L0 -14L6 -4"));
    let function = r#""attributes": [{"name": "TypeCodeSpecialization", "value": "MotorControlCenter"}],"#;
    let ports = r#"{"x": 15, "y": 20}, {"x": 20, "y": 18}"#;
    let function = substitute("instrument.process_instrumentation_function", function, ports, "");
    assert!(
        function.contains("x=\"15\" y=\"28\" width=\"10\" height=\"4\"") && function.contains(">MCC<"),
        "{function}"
    );
}

#[test]
fn an_actuator_reaches_to_its_signal_and_shows_its_code_and_fail_position() {
    let members = r#""attributes": [{"name": "TypeCodeAssignmentClass", "value": "M"},
        {"name": "FailActionSpecialization", "value": "FailClose"}],"#;
    let motor = substitute("instrument.controlled_actuator", members, r#"{"x": 7, "y": 20}"#, "");
    assert!(motor.contains("translate(20 30) rotate(270)"), "{motor}");
    assert!(motor.contains("M0 0V-7") && motor.contains("cy=\"-10\" r=\"3\""), "{motor}");
    assert!(motor.contains(">M<") && motor.contains(">FC<"), "{motor}");
    let diaphragm = substitute("instrument.controlled_actuator", "", r#"{"x": 20, "y": 29}"#, "");
    assert!(diaphragm.contains("M0 0V-6.2M-2.8 -6.2A"), "{diaphragm}");
}

#[test]
fn an_angle_safety_valve_has_its_spring_opposite_the_inlet() {
    let valve = |outlet: &str| {
        let ports = format!(r#"{{"x": 20, "y": 16}}, {outlet}"#);
        substitute("piping_component.safety_valve_or_fitting", "", &ports, "")
    };
    // The inlet is below, so that the symbol is turned by a quarter, and its size is the distance of the inlet.
    let left = valve(r#"{"x": 16, "y": 20}"#);
    assert!(left.contains("translate(20 30) rotate(-90) scale(0.4 0.4)") && left.contains("M-7 -10H7L0 0Z"), "{left}");
    assert!(valve(r#"{"x": 24, "y": 20}"#).contains("M-7 10H7L0 0Z"));
    assert!(left.contains("M0 0H4") && left.contains("L17 0"), "{left}");
    assert!(valve(r#"{"x": 20, "y": 24}"#).contains("M-10 -7V7L10 -7V7Z"));
}

#[test]
fn an_off_page_connector_points_along_the_flow() {
    let connector = |class: &str| substitute(class, "", r#"{"x": 10, "y": 20}"#, "");
    assert!(connector("reference.flow_out_pipe_off_page_connector").contains("rotate(0)"));
    let inward = connector("reference.flow_in_pipe_off_page_connector");
    assert!(inward.contains("rotate(180)"), "{inward}");
}

#[test]
fn a_label_of_equipment_without_its_shape_shows_an_elevation_and_the_tag_is_at_the_symbol() {
    let label = r#", {"type": "group", "role": "label", "elements": [{"type": "use", "shape": "L", "at": [40, 10]}]},
        {"type": "group", "role": "label", "elements": [{"type": "text", "text": "NOTE 1", "at": [20, 20], "height": 2}]}"#;
    let members = r#""tag": "B-1", "attributes": [{"name": "Elevation", "value": "500"}],"#;
    let vessel = substitute("equipment.pressure_vessel", members, "", label);
    assert_eq!((vessel.matches(">B-1</text>").count(), vessel.matches(">EL: 500<").count()), (1, 1), "{vessel}");
    let (symbol, note) = (vessel.find("class=\"s\""), vessel.find(">NOTE 1<"));
    assert!(symbol.is_some() && symbol < note, "the note is not covered: {vessel}");
}

#[test]
fn a_property_break_shows_its_values() {
    let members = r#""attributes": [{"name": "BreakValue1AssignmentClass", "value": "AS1"},
        {"name": "BreakValue2AssignmentClass", "value": "AD7"}],"#;
    let both = substitute("piping_component.property_break", members, "", "");
    assert!(both.contains(">AS1<") && both.contains(">AD7<"), "{both}");
    assert!(!substitute("piping_component.property_break", "", "", "").contains("<text"));
}

#[test]
fn items_in_a_pipe_have_their_tag_and_size_below() {
    let ports = r#"{"x": 16, "y": 20}, {"x": 24, "y": 20}"#;
    let members =
        r#""tag": "HV-7", "attributes": [{"name": "NominalDiameterRepresentationAssignmentClass", "value": "4 in"}],"#;
    let valve = substitute("piping_component.gate_valve", members, ports, "");
    // The valve is 30 mm from the upper side of the sheet.
    let height = |text: &str| {
        let before = valve.split(&format!(">{text}</text>")).next().expect("the first part");
        let place = before.rsplit("translate(20 ").next().and_then(|rest| rest.split(')').next()).expect("a place");
        place.parse::<f64>().expect("a number")
    };
    assert!(30.0 < height("HV-7") && height("HV-7") < height("4 in"), "{valve}");
    let sizes = r#""attributes": [{"name": "NominalDiameterIn", "value": "100"}, {"name": "NominalDiameterOut", "value": "80"}],"#;
    assert!(substitute("piping_component.pipe_reducer", sizes, ports, "").contains(">100x80</text>"));
    assert!(!substitute("piping_component.gate_valve", "", ports, "").contains("<text"));
}

#[test]
fn the_position_of_a_blind_and_of_a_valve_is_visible() {
    let ports = r#"{"x": 16, "y": 20}, {"x": 24, "y": 20}"#;
    let is_filled = |class: &str, position: &str| {
        let members = format!(r#""normal_position": "{position}","#);
        let item = substitute(class, &members, ports, "");
        let body = item.split_once("<g transform").expect("a symbol").1;
        body.contains("class=\"f\" r=\"4\"") || body.contains("class=\"f\" d=\"M-10 -7")
    };
    for class in ["piping_component.spectacle_blind", "piping_component.gate_valve"] {
        assert_eq!([is_filled(class, "open"), is_filled(class, "closed")], [false, true], "{class}");
    }
}

#[test]
fn a_nozzle_without_a_connection_point_has_a_length() {
    let nozzle = substitute("equipment_component.nozzle", "", "", "");
    assert!(nozzle.contains("d=\"M0 0H3.2M3.2 -1.6V1.6M4 -1.6V1.6\""), "{nozzle}");
}

#[test]
fn every_line_type_of_both_formats_has_dashes() {
    for dash in ["dash", "long_dash", "dash_short_dash", "long_dash_short_dash", "long_dash_short_dash_short_dash"] {
        let svg = element(&format!(r#"{{"type": "polyline", "points": [1, 2, 3, 4], "dash": "{dash}"}}"#));
        assert!(svg.contains("stroke-dasharray"), "{dash}: {svg}");
    }
}

#[test]
fn the_tag_of_equipment_is_on_a_side_without_nozzles() {
    let json = |nozzles: &[[i32; 2]]| {
        let shape = |at: [i32; 2]| format!(r#""graphics": [{{"type": "use", "shape": "MISSING", "at": {at:?}}}]"#);
        let nodes: Vec<String> = nozzles
            .iter()
            .enumerate()
            .map(|(index, at)| format!(r#"{{"id": "N{index}", "class": "nozzle", {}}}"#, shape(*at)))
            .collect();
        let edges: Vec<String> = (0..nozzles.len())
            .map(|index| format!(r#"{{"from": "P", "to": "N{index}", "edge_type": "physically_has_a"}}"#))
            .collect();
        format!(
            r#"{{"pid_graph": {{"nodes": [{{"id": "P", "tag": "P-1", "class": "centrifugal_pump", {}}}, {}], "edges": [{}], "metadata": {{{UP}}}}}}}"#,
            shape([50, 25]),
            nodes.join(","),
            edges.join(",")
        )
    };
    let place = |nozzles: &[[i32; 2]]| {
        let svg = draw(&json(nozzles));
        let before = svg.split(">P-1</text>").next().expect("the first part").to_owned();
        let place = before.rsplit("translate(").next().and_then(|rest| rest.split(')').next()).expect("a place");
        let (x, y) = place.split_once(' ').expect("two numbers");
        (x.parse::<f64>().expect("a number"), y.parse::<f64>().expect("a number"))
    };
    // The pump is at (50, 25) from the upper left corner.
    assert!(place(&[[40, 25], [60, 25]]).1 > 25.0);
    assert!(place(&[[40, 25], [50, 15]]).1 < 25.0);
    assert!(place(&[[50, 35], [50, 15]]).0 > 60.0);
}

/// Returns the lines of an edge with these members, which is drawn from (30, 20) to (50, 20) and (50, 40) of the sheet.
fn edge(members: &str, dash: &str) -> String {
    let node = |id: &str, x: i32| {
        format!(
            r#"{{"id": "{id}", "class": "valve", "graphics": [{{"type": "circle", "center": [{x}, 20], "radius": 4}}]}}"#
        )
    };
    let json = format!(
        r#"{{"pid_graph": {{"nodes": [{}, {}], "edges": [{{"id": "E", "from": "V", "to": "W", {members}, "graphics": [
            {{"type": "polyline", "points": [30, 20, 50, 20, 50, 40], "dash": "{dash}"}}]}}], "metadata": {{{UP}}}}}}}"#,
        node("V", 30),
        node("W", 50)
    );
    let svg = draw(&json);
    let start = svg.find("data-id=\"E\"").expect("the edge is drawn");
    let length = svg[start..].find("</g>").expect("the group of the edge ends");
    svg[start..start + length].to_owned()
}

#[test]
fn a_signal_arrives_with_a_dash_and_a_line_to_the_process_is_solid() {
    let signal =
        |class: &str| edge(&format!(r#""edge_type": "associated_with", "edge_classification": "{class}""#), "dash");
    let conveying = signal("signal_line.signal_conveying_function");
    assert!(conveying.contains("d=\"M50 10L50 30L30 30\"") && conveying.contains("stroke-dasharray"), "{conveying}");
    let measuring = signal("signal_line.measuring_line_function");
    assert!(measuring.contains("d=\"M30 30L50 30L50 10\"") && !measuring.contains("stroke-dasharray"), "{measuring}");
}

#[test]
fn a_traced_pipe_has_a_dashed_line_at_its_side() {
    let pipe = |value: &str| {
        let attributes = format!(r#"[{{"name": "HeatTracingTypeSpecialization", "value": "{value}"}}]"#);
        edge(&format!(r#""edge_type": "physically_connected_to", "attributes": {attributes}"#), "solid")
    };
    let is_traced = |value: &str| pipe(value).contains("d=\"M30 31L51 31L51 10\"");
    for (value, traced) in [
        ("HeatTracingSystem", true),
        ("ElectricalHeatTracingSystem", true),
        ("steam traced", true),
        ("NoHeatTracingSystem", false),
        ("not traced", false),
        ("somehow", false),
        ("", false),
    ] {
        assert_eq!(is_traced(value), traced, "{value}: {}", pipe(value));
    }
}

#[test]
fn an_elevation_stands_on_the_end_of_its_leader() {
    let vessel = |leader: &str| {
        let label = format!(
            r#", {{"type": "group", "role": "label", "elements": [{{"type": "use", "shape": "L", "at": [40, 10]}}{leader}]}}"#
        );
        let members = r#""tag": "B-1", "attributes": [{"name": "Elevation", "value": "500"}],"#;
        let svg = substitute("equipment.pressure_vessel", members, "", &label);
        let before = svg.split(">EL: 500<").next().expect("the first part").to_owned();
        before.rsplit("text-anchor=\"").next().and_then(|rest| rest.split('"').next()).expect("an anchor").to_owned()
    };
    let leader = |from: i32, to: i32| format!(r#", {{"type": "polyline", "points": [{from}, 10, {to}, 10]}}"#);
    assert_eq!([vessel(&leader(20, 40)), vessel(&leader(60, 40))], ["end", "start"]);
    assert_eq!([vessel(&leader(20, 60)), vessel("")], ["start", "start"]);
}

#[test]
fn the_arrow_of_an_off_page_connector_has_one_angle_at_every_length() {
    let connector = |x: i32| {
        let members = r#""cross_page": {"drawing_name": "D-2", "attributes": [
            {"name": "ReferencedDrawingDescriptorAssignmentClass", "value": "FROM UNIT 2"}]},"#;
        let port = format!(r#"{{"x": {x}, "y": 20}}"#);
        substitute("reference.flow_out_pipe_off_page_connector", members, &port, "")
    };
    for (x, path) in [(10, "M-30.0 -8.0H22.0L30.0 0L22.0 8.0H-30.0Z"), (5, "M-45.0 -8.0H37.0L45.0 0L37.0 8.0H-45.0Z")] {
        let svg = connector(x);
        assert!(svg.contains(path) && svg.contains(">D-2<") && svg.contains(">FROM UNIT 2<"), "{svg}");
    }
}

#[test]
fn a_nozzle_beside_the_top_of_a_vessel_starts_at_the_dished_head() {
    let item = |id: &str, class: &str, at: [i32; 2], ports: &str| {
        format!(
            r#"{{"id": "{id}", "class": "{class}", "ports": [{ports}], "graphics": [{{"type": "use", "shape": "MISSING", "at": {at:?}}}]}}"#
        )
    };
    let nozzle = |at: [i32; 2], end: [i32; 2]| {
        let items = [
            item("V", "pressure_vessel", [50, 25], ""),
            item("N", "nozzle", at, &format!(r#"{{"x": {}, "y": {}}}"#, end[0], end[1])),
            item("M", "nozzle", [62, 25], r#"{"x": 66, "y": 25}"#),
        ];
        let owned = |id: &str| format!(r#"{{"from": "V", "to": "{id}", "edge_type": "physically_has_a"}}"#);
        let svg = draw(&format!(
            r#"{{"pid_graph": {{"nodes": [{}], "edges": [{}, {}], "metadata": {{{UP}}}}}}}"#,
            items.join(","),
            owned("N"),
            owned("M")
        ));
        let start = svg.find("data-id=\"N\"").expect("the nozzle is drawn");
        let place = svg[start..].split("translate(").nth(1).and_then(|rest| rest.split(')').next());
        place.expect("a place").to_owned()
    };
    // The head is a half ellipse, 12 mm wide on each side and 6 mm high: 6 * (1 - sqrt(1 - (8 / 12)^2)) = 1.528.
    assert_eq!(nozzle([58, 45], [58, 49]), "58 6.528");
    assert_eq!(nozzle([58, 5], [58, 1]), "58 43.472");
    assert_eq!(nozzle([50, 45], [50, 49]), "50 5");
    assert_eq!(nozzle([38, 30], [34, 30]), "38 20");
}

#[test]
fn a_shape_that_only_has_attributes_is_replaced_by_a_symbol() {
    let shape = |members: &str| {
        let metadata = UP.replace("\"S\": {\"elements\"", &format!("\"X\": {{{members}}}, \"S\": {{\"elements\""));
        let svg = draw(&sheet(&metadata, r#"{"type": "use", "shape": "X", "at": [20, 20]}"#));
        svg.contains("M-10 -7V7L10 -7V7Z")
    };
    assert!(shape(r#""attributes": [{"name": "RegistrationNumber", "value": "X1"}], "elements": []"#));
    assert!(!shape(r#""elements": []"#), "it is blank");
}

#[test]
fn a_highlighted_item_is_marked_without_its_labels() {
    let label = r#"{"type": "circle", "center": [20, 20], "radius": 4}, {"type": "group", "role": "label", "elements": [
        {"type": "polyline", "points": [20, 20, 80, 40]}, {"type": "text", "text": "EL: 1", "at": [80, 40], "height": 2}]}"#;
    let options = || DrawOptions { highlight: ["V"].map(String::from).into(), ..DrawOptions::default() };
    let svg = draw_with(&options(), &sheet(UP, label));
    assert!(svg.contains("x=\"14.8\" y=\"24.8\" width=\"10.4\" height=\"10.4\""), "{svg}");
    let only_label = draw_with(&options(), &sheet(UP, label.split_once("}, ").expect("two parts").1));
    assert!(only_label.contains("class=\"hit\""), "{only_label}");
}
