//! Tests of graphics, on small drawings and, if available, on real ones.

use serde_json::{Value, json};

use super::super::read;
use super::super::tests::{drawings_in, node, rows};
use crate::import::Import;

fn import(xml: &str) -> Import {
    read(xml.as_bytes()).expect("it is Proteus")
}

fn graph(imported: &Import) -> Value {
    serde_json::from_str(&imported.json).expect("valid JSON")
}

/// Returns the plant with a tank at (3, 4) and these contents.
fn tank(inside: &str, catalog: &str) -> Value {
    let position = position("3.0", "4", "");
    graph(&import(&format!(
        "<PlantModel><PlantInformation Units='Metre'/><ShapeCatalogue>{catalog}</ShapeCatalogue>\
         <Equipment ID='T' TagName='T-1' ComponentName='TANK'>{position}{inside}</Equipment></PlantModel>"
    )))
}

fn position(x: &str, y: &str, directions: &str) -> String {
    format!("<Position><Location X='{x}' Y='{y}'/>{directions}</Position>")
}

fn points(list: &[(i32, i32)]) -> String {
    list.iter().map(|(x, y)| format!("<Coordinate X='{x}' Y='{y}'/>")).collect()
}

/// Returns the only graphics of a tank without a shape.
#[track_caller]
fn only(inside: &str) -> Value {
    let graph = tank(inside, "");
    let list = node(&graph, "T")["graphics"].as_array().cloned().unwrap_or_default();
    assert_eq!(list.len(), 1, "{list:?}");
    list[0].clone()
}

#[test]
fn drawn_elements_keep_their_attributes() {
    let attributes =
        "<GenericAttributes Set='S'><GenericAttribute Name='Angle' Value='90' Format='double'/></GenericAttributes>";
    let kept = json!([{"name": "Angle", "value": 90, "data_type": "double", "set": "S"}]);
    let line = points(&[(0, 0), (1, 0)]);
    for (xml, expected) in [
        (
            format!("<Label ID='L'>{attributes}<Line>{line}</Line></Label>"),
            json!({"type": "group", "role": "label", "id": "L", "attributes": kept,
                "elements": [{"type": "polyline", "points": [0, 0, 1, 0]}]}),
        ),
        (
            format!("<Label>{attributes}</Label>"),
            json!({"type": "group", "role": "label", "attributes": kept, "elements": []}),
        ),
        ("<Label ID='L'/>".into(), json!({"type": "group", "role": "label", "id": "L", "elements": []})),
        (
            format!("<Line>{line}{attributes}</Line>"),
            json!({"type": "polyline", "points": [0, 0, 1, 0], "attributes": kept}),
        ),
    ] {
        assert_eq!(only(&xml), expected, "{xml}");
    }
    let shape = format!("<Equipment ID='S' ComponentName='TANK'>{attributes}<Line>{line}</Line></Equipment>");
    assert_eq!(tank("", &shape)["pid_graph"]["metadata"]["graphics"]["shapes"]["TANK"]["attributes"], kept);
}

#[test]
fn drawn_elements_keep_their_ids_and_the_classes_of_annotations() {
    let line = format!(
        "<CenterLine ID='C1' NumPoints='2'><PersistentID Identifier='P1' Context='X'/>{}</CenterLine>",
        points(&[(1, 2), (3, 4)])
    );
    let drawn = only(&line);
    assert_eq!([&drawn["id"], &drawn["persistent_id"], &drawn["persistent_id_context"]], ["C1", "P1", "X"]);
    let label = format!("<Label ID='L1' ComponentClass='NoteTextLabel'><PersistentID Identifier='P2'/>{line}</Label>");
    let drawn = only(&label);
    assert_eq!([&drawn["id"], &drawn["persistent_id"], &drawn["component_class"]], ["L1", "P2", "NoteTextLabel"]);
    assert_eq!(only(&format!("<Label ID='L1' ComponentClass='Label'>{line}</Label>")).get("component_class"), None);
}

#[test]
fn a_shape_without_graphics_is_kept_for_its_attributes_and_reported() {
    let number =
        "<GenericAttributes Set='S'><GenericAttribute Name='RegistrationNumber' Value='X1'/></GenericAttributes>";
    let imported = import(&format!(
        "<PlantModel><ShapeCatalogue><Equipment ComponentName='X'>{number}</Equipment></ShapeCatalogue>\
         <Equipment ID='T' ComponentName='X'>{}</Equipment></PlantModel>",
        position("1", "2", "")
    ));
    let shape = &graph(&imported)["pid_graph"]["metadata"]["graphics"]["shapes"]["X"];
    assert_eq!((&shape["attributes"][0]["value"], &shape["elements"]), (&json!("X1"), &json!([])));
    let codes: Vec<&str> = imported.diagnostics.iter().map(|found| found.finding.code()).collect();
    assert!(codes.contains(&"I040"), "{codes:?}");
}

#[test]
fn lines_and_curves_keep_their_form_and_their_digits() {
    let line = points(&[(0, 1), (2, 3)]);
    let at = position("1.50", "2", "");
    let square = points(&[(0, 0), (1, 0), (1, 1)]);
    for (xml, expected) in [
        (format!("<Line>{line}</Line>"), json!({"type": "polyline", "points": [0, 1, 2, 3]})),
        (format!("<PolyLine>{square}</PolyLine>"), json!({"type": "polyline", "points": [0, 0, 1, 0, 1, 1]})),
        (
            format!("<Shape Filled='Solid'>{square}</Shape>"),
            json!({"type": "polygon", "points": [0, 0, 1, 0, 1, 1], "fill": "#000000"}),
        ),
        (format!("<Circle Radius='2'>{at}</Circle>"), json!({"type": "circle", "center": [1.5, 2], "radius": 2})),
        (
            format!("<Ellipse PrimaryAxis='3' SecondaryAxis='2'>{at}</Ellipse>"),
            json!({"type": "ellipse", "center": [1.5, 2], "radii": [3, 2]}),
        ),
        (
            format!("<TrimmedCurve StartAngle='90' EndAngle='270'><Circle Radius='2'>{at}</Circle></TrimmedCurve>"),
            json!({"type": "arc", "center": [1.5, 2], "radius": 2, "start": 90, "end": 270}),
        ),
        (
            format!("<BsplineCurve Degree='2'>{square}</BsplineCurve>"),
            json!({"type": "spline", "degree": 2, "points": [0, 0, 1, 0, 1, 1]}),
        ),
        (
            format!("<CompositeCurve><Line>{line}</Line></CompositeCurve>"),
            json!({"type": "group", "role": "curve", "elements": [{"type": "polyline", "points": [0, 1, 2, 3]}]}),
        ),
    ] {
        let mut element = only(&xml);
        // Numbers with the digits of the file compare as numbers here.
        element = serde_json::from_str(&element.to_string().replace("1.50", "1.5")).expect("valid JSON");
        assert_eq!(element, expected, "{xml}");
    }
}

#[test]
fn styles_are_inherited_from_the_annotation() {
    let line = format!("<Line><Presentation LineType='Dashed' LineWeight=''/>{}</Line>", points(&[(0, 1), (2, 3)]));
    let presentation = "<Presentation R='1' G='0' B='0.2' LineWeight='0.35' LineType='0' Layer='L'/>";
    let group = only(&format!("<Label ID='A'>{presentation}{line}</Label>"));
    assert_eq!((&group["role"], &group["id"]), (&json!("label"), &json!("A")));
    let element = &group["elements"][0];
    let style = [&element["stroke"], &element["stroke_width"], &element["dash"], &element["layer"]];
    assert_eq!(style, [&json!("#ff0033"), &json!(0.35), &json!("dash"), &json!("L")]);
}

#[test]
fn shapes_are_in_the_catalog_once_and_used_where_they_are_placed() {
    let catalog =
        format!("<Equipment ID='S' ComponentName='TANK'><Line>{}</Line></Equipment>", points(&[(0, 0), (1, 1)]));
    let graph = tank("<Scale X='2' Y='2' Z='1'/>", &catalog);
    assert_eq!(rows(&graph, "nodes").len(), 1, "a shape is no item");
    let shapes = &graph["pid_graph"]["metadata"]["graphics"]["shapes"];
    assert_eq!(shapes, &json!({"TANK": {"elements": [{"type": "polyline", "points": [0, 0, 1, 1]}]}}));
    let usage = json!([{"type": "use", "shape": "TANK", "at": [3.0, 4], "scale": [2, 2]}]);
    assert_eq!(node(&graph, "T")["graphics"], usage);
}

#[test]
fn rotation_is_the_direction_of_the_x_axis_and_mirroring_that_of_the_z_axis() {
    for (directions, rotation, mirrored) in [
        ("<Axis X='0' Y='0' Z='1'/><Reference X='1' Y='0'/>", json!(null), json!(null)),
        ("<Axis X='0' Y='0' Z='1'/><Reference X='0' Y='-1'/>", json!(-90), json!(null)),
        ("<Axis X='0' Y='0' Z='-1'/><Reference X='-1' Y='0'/>", json!(180), json!(true)),
        ("<Axis X='0' Y='0' Z='-1'/><Reference X='0' Y='1'/>", json!(90), json!(true)),
        ("<Axis X='0' Y='0' Z='0'/><Reference X='0' Y='0'/>", json!(null), json!(null)),
    ] {
        let label = format!("<Label ComponentName='FLAG'>{}</Label>", position("7", "8", directions));
        let graph = tank(&label, "<Label ComponentName='FLAG'/>");
        let usage = &node(&graph, "T")["graphics"][0]["elements"][0];
        assert_eq!((&usage["rotation"], &usage["mirrored"]), (&rotation, &mirrored), "{directions}");
    }
}

#[test]
fn a_shape_that_is_only_named_is_used_and_reported() {
    let imported = import(&format!(
        "<PlantModel><ShapeCatalogue><Equipment ComponentName='X'/></ShapeCatalogue>\
         <Equipment ID='T' ComponentName='X'>{}</Equipment></PlantModel>",
        position("1", "2", "")
    ));
    let graph = graph(&imported);
    assert_eq!(node(&graph, "T")["graphics"], json!([{"type": "use", "shape": "X", "at": [1, 2]}]));
    assert_eq!(graph["pid_graph"]["metadata"]["graphics"]["shapes"], json!({}));
    assert!(imported.diagnostics.iter().any(|found| found.finding.code() == "I040" && found.message.starts_with("X:")));
}

#[test]
fn an_equipment_and_a_nozzle_may_have_shapes_of_one_name() {
    let line = |x: i32| format!("<Line>{}</Line>", points(&[(0, 0), (x, 0)]));
    let graph = graph(&import(&format!(
        "<PlantModel><ShapeCatalogue><Equipment ComponentName='X'>{}</Equipment><Nozzle ComponentName='X'>{}</Nozzle>\
         </ShapeCatalogue><Nozzle ID='N' ComponentName='X'>{}</Nozzle></PlantModel>",
        line(1),
        line(2),
        position("1", "2", "")
    )));
    let shape = node(&graph, "N")["graphics"][0]["shape"].as_str().expect("a shape").to_owned();
    let shapes = &graph["pid_graph"]["metadata"]["graphics"]["shapes"];
    assert_eq!(shapes[&shape]["elements"][0]["points"], json!([0, 0, 2, 0]));
}

#[test]
fn texts_are_written_or_composed_of_attributes() {
    let at = position("1", "2", "");
    let attributes =
        "<GenericAttributes><GenericAttribute Name='VolumeAssignmentClass' Value='12' Units='m3'/></GenericAttributes>";
    let reference = |contents: &str| {
        format!(
            "<ObjectAttributesReference ItemID='T' DependantAttribute='Volume' DependantAttributeContents='{contents}'/>"
        )
    };
    let literal = "<ObjectAttributesReference DependantAttribute='V = '/>";
    for (text, expected) in [
        (format!("<Text String='as drawn'>{at}</Text>"), "as drawn"),
        (format!("<Text><String>two</String><String>lines</String>{at}</Text>"), "two\nlines"),
        (format!("<Text String='' ItemID='T' DependantAttribute='[TagName]: [Volume]'>{at}</Text>"), "T-1: 12"),
        (
            format!(
                "<Text><TextStringFormatSpecification>{literal}{}</TextStringFormatSpecification>{at}</Text>",
                reference("ValueAndUnits")
            ),
            "V = 12 m3",
        ),
        (format!("<Label><Text String=''>{at}</Text></Label>"), "T-1"),
    ] {
        let mut element = only(&format!("{attributes}{text}"));
        if element["type"] == "group" {
            element = element["elements"][0].clone();
        }
        assert_eq!(element["text"], expected, "{text}");
    }
    let unknown = only(&format!("<Text String='' ItemID='T' DependantAttribute='[Nothing]'>{at}</Text>"));
    assert_eq!((&unknown["text"], &unknown["attribute"]), (&json!(""), &json!("[Nothing]")));
}

#[test]
fn texts_have_an_alignment_and_a_rotation() {
    let text = |attributes: &str, directions: &str| {
        only(&format!("<Text String='x' {attributes}>{}</Text>", position("1", "2", directions)))
    };
    let element = text("Justification='RightTop' Height='2.5' TextAngle='90' Font='Arial'", "");
    let members = [&element["align"], &element["vertical"], &element["height"], &element["rotation"], &element["font"]];
    assert_eq!(members, [&json!("end"), &json!("top"), &json!(2.5), &json!(90), &json!("Arial")]);
    let element = text("", "<Axis X='0' Y='0' Z='1'/><Reference X='0' Y='1'/>");
    assert_eq!(
        (&element["align"], &element["vertical"], &element["rotation"]),
        (&json!("start"), &json!("bottom"), &json!(90))
    );
}

#[test]
fn center_lines_belong_to_their_pipes_and_signals_and_the_frame_to_the_sheet() {
    let line = |x: i32| format!("<CenterLine>{}</CenterLine>", points(&[(x, 0), (x, 9)]));
    let graph = graph(&import(&format!(
        "<PlantModel><Drawing><Extent><Min X='0' Y='0'/><Max X='84' Y='59'/></Extent><Presentation R='1' G='1' B='1'/>\
         <DrawingBorder><Line>{}</Line></DrawingBorder></Drawing><Equipment ID='A'/><Equipment ID='B'/>\
         <PipingNetworkSystem ID='L'><PipingNetworkSegment ID='S'>{}<Label><Text String='50'>{}</Text></Label>\
         <Connection FromID='A' ToID='B'/></PipingNetworkSegment></PipingNetworkSystem>\
         <InformationFlow ID='I'>{}<Connection FromID='A' ToID='B'/></InformationFlow></PlantModel>",
        points(&[(0, 0), (1, 1)]),
        line(5),
        position("5", "5", ""),
        line(6),
    )));
    let edge =
        |id: &str| rows(&graph, "edges").iter().find(|edge| edge["id"] == id).expect("the edge is there").clone();
    assert_eq!(edge("S/1")["graphics"], json!([{"type": "polyline", "points": [5, 0, 5, 9]}]));
    assert_eq!(edge("I")["graphics"], json!([{"type": "polyline", "points": [6, 0, 6, 9]}]));
    assert_eq!(node(&graph, "S")["graphics"][0]["role"], "label");
    let sheet = &graph["pid_graph"]["metadata"]["graphics"];
    assert_eq!((&sheet["extent"], &sheet["background"]), (&json!([0, 0, 84, 59]), &json!("#ffffff")));
    assert_eq!(sheet["elements"][0]["role"], "border");
}

#[test]
fn graphics_without_points_or_sizes_are_reported() {
    for xml in [
        "<Line/>",
        "<Line><Coordinate X='1' Y='x'/></Line>",
        "<Circle Radius='0'/>",
        "<TrimmedCurve/>",
        "<CenterLine/>",
    ] {
        let imported = import(&format!("<PlantModel><Equipment ID='T'>{xml}</Equipment></PlantModel>"));
        assert!(imported.diagnostics.iter().any(|found| found.finding.code() == "I014"), "{xml}");
        assert!(node(&graph(&imported), "T").get("graphics").is_none(), "{xml}");
    }
}

/// Elements of the file and the types as which they are imported.
const COUNTED: &[(&[&str], &str)] = &[
    (&["Line", "PolyLine", "CenterLine"], "polyline"),
    (&["Shape"], "polygon"),
    (&["TrimmedCurve"], "arc"),
    (&["Text"], "text"),
];

/// Counts start tags without the reader.
fn count(text: &str, name: &str) -> usize {
    let tags = text.split('<').skip(1).map(|tag| tag.split([' ', '>', '/', '\n', '\r', '\t']).next());
    tags.filter(|tag| *tag == Some(name)).count()
}

fn count_types(elements: &Value, kind: &str) -> usize {
    let list = elements.as_array().into_iter().flatten();
    list.map(|element| usize::from(element["type"] == kind) + count_types(&element["elements"], kind)).sum()
}

#[test]
fn all_lines_and_texts_of_real_drawings_are_imported_or_reported() {
    for (path, bytes) in drawings_in(&["proteus", "proteus-4.1.1"]) {
        let imported = read(&bytes).expect("it is Proteus");
        let text = String::from_utf8(bytes).expect("it is UTF-8");
        let graph = graph(&imported);
        let sheet = &graph["pid_graph"]["metadata"]["graphics"];
        let shapes = sheet["shapes"].as_object().into_iter().flatten().map(|(_, shape)| &shape["elements"]);
        let items = ["nodes", "edges"].into_iter().flat_map(|list| rows(&graph, list)).map(|item| &item["graphics"]);
        let lists: Vec<&Value> = shapes.chain(items).chain([&sheet["elements"]]).collect();
        for (names, kind) in COUNTED {
            let imported_count: usize = lists.iter().map(|list| count_types(list, kind)).sum();
            let omitted = imported.diagnostics.iter().filter(|found| found.finding.code() == "I014");
            let omitted =
                omitted.filter(|found| names.iter().any(|name| found.message.starts_with(&format!("{name}:"))));
            let omitted: usize = omitted.map(|found| found.count).sum();
            let expected: usize = names.iter().map(|name| count(&text, name)).sum();
            assert_eq!(imported_count + omitted, expected, "{path}: {kind}");
        }
    }
}
