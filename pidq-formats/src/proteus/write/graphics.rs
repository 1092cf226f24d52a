//! Graphics as elements: lines, curves, texts, annotations, and the shapes of the catalog.

use pidq_core::{Array, Object, Value};

use crate::model;
use crate::xml::{Element, Tree};

use super::super::elements::{self, Mapping};
use super::identifiers::camel_case;

/// Elements of forms.
const FORMS: &[(&str, &str)] = &[
    ("polyline", "PolyLine"),
    ("polygon", "Shape"),
    ("circle", "Circle"),
    ("ellipse", "Ellipse"),
    ("arc", "TrimmedCurve"),
    ("spline", "BsplineCurve"),
    ("text", "Text"),
];

/// Elements of groups whose role is not the element in snake case.
const ROLES: &[(&str, &str)] = &[
    ("curve", "CompositeCurve"),
    ("hatch", "CrossHatch"),
    ("border", "DrawingBorder"),
    ("flow_arrow", "PipeFlowArrow"),
];

/// Elements drawn as a line with an element of its own.
#[derive(Clone, Copy, PartialEq)]
pub enum Lines {
    /// Polylines are lines of the drawing.
    Drawn,
    /// Polylines are the center lines of a pipe or a signal.
    Center,
}

/// Returns the members of a list that are objects.
pub fn objects(value: Option<Value<'_>>) -> impl Iterator<Item = Object<'_>> {
    value.and_then(Value::as_array).into_iter().flat_map(|list: Array<'_>| list.iter()).filter_map(Value::as_object)
}

/// Maximum depth of groups. The graphics of drawings have three levels.
const MAX_DEPTH: usize = 16;

/// Adds graphics to an element.
pub fn add<'a>(tree: &mut Tree, parent: usize, graphics: impl Iterator<Item = Object<'a>>, lines: Lines) {
    for element in graphics {
        add_one(tree, parent, element, lines, 0);
    }
}

fn add_one(tree: &mut Tree, parent: usize, object: Object<'_>, lines: Lines, depth: usize) {
    let kind = object.get("type").and_then(|kind| kind.as_str()).unwrap_or_default();
    match kind {
        "use" => {
            let label = tree.add(Some(parent), "Label");
            add_use(tree, label, object);
        }
        "group" if depth < MAX_DEPTH => add_group(tree, parent, object, depth),
        _ => {
            let Some((_, name)) = FORMS.iter().find(|(form, _)| *form == kind) else { return };
            let name = if kind == "polyline" && lines == Lines::Center { "CenterLine" } else { name };
            let element = tree.add(Some(parent), name);
            add_identity(tree, element, object);
            add_style(tree, element, object);
            add_form(tree, element, object, kind);
        }
    }
}

fn add_group(tree: &mut Tree, parent: usize, object: Object<'_>, depth: usize) {
    let role = object.get("role").and_then(|role| role.as_str()).unwrap_or_default();
    let camel_case = camel_case(role);
    let of_role = ROLES.iter().find(|(name, _)| *name == role).map(|(_, element)| (*element).to_owned());
    let is_annotation = elements::find(&camel_case) == Some(Mapping::Annotation);
    let name = of_role.unwrap_or(if is_annotation { camel_case } else { "Label".into() });
    let element = tree.add(Some(parent), &name);
    add_identity(tree, element, object);
    set(tree, element, "ComponentClass", object.get("component_class"));
    if ["CompositeCurve", "CrossHatch"].contains(&name.as_str()) {
        add_style(tree, element, object);
    }
    let mut children = objects(object.get("elements")).peekable();
    if let Some(usage) = children.next_if(|child| child.get("type").and_then(|kind| kind.as_str()) == Some("use")) {
        add_use(tree, element, usage);
    }
    for child in children {
        add_one(tree, element, child, Lines::Drawn, depth + 1);
    }
}

/// Adds the id and the persistent id of a drawn element.
fn add_identity(tree: &mut Tree, element: usize, object: Object<'_>) {
    let word = |key| object.get(key).and_then(|word| word.as_str());
    if let Some(id) = word("id") {
        tree.elements[element].set("ID", &super::identifiers::xml_id(id));
    }
    let Some(id) = word("persistent_id") else { return };
    let persistent_id = tree.add(Some(element), "PersistentID");
    tree.elements[persistent_id].set("Identifier", id);
    if let Some(context) = word("persistent_id_context") {
        tree.elements[persistent_id].set("Context", context);
    }
}

/// Makes an element a use of a shape: its name, position and scale.
pub fn add_use(tree: &mut Tree, element: usize, usage: Object<'_>) {
    if let Some(shape) = usage.get("shape").and_then(|shape| shape.as_str()) {
        tree.elements[element].set("ComponentName", shape);
    }
    add_placement(tree, element, usage);
}

/// Adds the position and the scale of a use.
pub fn add_placement(tree: &mut Tree, element: usize, usage: Object<'_>) {
    let Some([x, y]) = pair(usage.get("at")) else { return };
    let is_mirrored = matches!(usage.get("mirrored"), Some(Value::Bool(true)));
    add_position(tree, element, [&x, &y], number(usage.get("rotation")), is_mirrored);
    if let Some([x, y]) = pair(usage.get("scale")) {
        let scale = tree.add(Some(element), "Scale");
        for (name, digits) in [("X", x.as_str()), ("Y", y.as_str()), ("Z", "1")] {
            tree.elements[scale].set(name, digits);
        }
    }
}

/// Adds a position with the direction of the x axis.
pub fn add_position(tree: &mut Tree, element: usize, [x, y]: [&str; 2], degrees: f64, is_mirrored: bool) {
    let position = tree.add(Some(element), "Position");
    add_point(tree, position, "Location", [x, y, "0"]);
    add_point(tree, position, "Axis", ["0", "0", if is_mirrored { "-1" } else { "1" }]);
    let (sine, cosine) = match degrees.rem_euclid(360.0) {
        0.0 => (0.0, 1.0),
        90.0 => (1.0, 0.0),
        180.0 => (0.0, -1.0),
        270.0 => (-1.0, 0.0),
        degrees => degrees.to_radians().sin_cos(),
    };
    add_point(tree, position, "Reference", [&cosine.to_string(), &sine.to_string(), "0"]);
}

/// Adds a point with three coordinates.
pub fn add_point(tree: &mut Tree, parent: usize, name: &str, digits: [&str; 3]) {
    let point = tree.add(Some(parent), name);
    for (axis, digits) in ["X", "Y", "Z"].iter().zip(digits) {
        tree.elements[point].set(axis, digits);
    }
}

/// Adds an extent of two corners.
pub fn add_extent(tree: &mut Tree, parent: usize, corners: [&str; 4]) {
    let extent = tree.add(Some(parent), "Extent");
    let [x_min, y_min, x_max, y_max] = corners;
    add_point(tree, extent, "Min", [x_min, y_min, "0"]);
    add_point(tree, extent, "Max", [x_max, y_max, "0"]);
}

/// Adds the points of a line.
pub fn add_points(tree: &mut Tree, element: usize, points: &[String]) {
    tree.elements[element].set("NumPoints", &(points.len() / 2).to_string());
    for pair in points.chunks_exact(2) {
        add_point(tree, element, "Coordinate", [&pair[0], &pair[1], "0"]);
    }
}

/// Returns the digits of the numbers of a list.
pub fn numbers(value: Option<Value<'_>>) -> Vec<String> {
    let list = value.and_then(Value::as_array).into_iter().flat_map(|list| list.iter());
    list.filter(|number| number.as_f64().is_some()).map(model::text).collect()
}

fn pair(value: Option<Value<'_>>) -> Option<[String; 2]> {
    numbers(value).try_into().ok()
}

fn number(value: Option<Value<'_>>) -> f64 {
    value.and_then(Value::as_f64).filter(|number| number.is_finite()).unwrap_or(0.0)
}

fn set(tree: &mut Tree, element: usize, name: &str, value: Option<Value<'_>>) {
    if let Some(value) = value.filter(|value| !value.is_null()) {
        tree.elements[element].set(name, &model::text(value));
    }
}

fn add_form(tree: &mut Tree, element: usize, object: Object<'_>, kind: &str) {
    add_fill(tree, element, object);
    match kind {
        "polyline" | "polygon" => add_points(tree, element, &numbers(object.get("points"))),
        "circle" | "ellipse" => add_circle(tree, element, object),
        "arc" => add_arc(tree, element, object),
        "spline" => add_spline(tree, element, object),
        _ => add_text(tree, element, object),
    }
}

fn add_fill(tree: &mut Tree, element: usize, object: Object<'_>) {
    match object.get("fill").and_then(|fill| fill.as_str()) {
        None | Some("none") => {}
        Some("hatch") => tree.elements[element].set("Filled", "Hatch"),
        Some(_) => tree.elements[element].set("Filled", "Solid"),
    }
}

fn add_circle(tree: &mut Tree, element: usize, object: Object<'_>) {
    set(tree, element, "Radius", object.get("radius"));
    if let Some([first, second]) = pair(object.get("radii")) {
        tree.elements[element].set("PrimaryAxis", &first);
        tree.elements[element].set("SecondaryAxis", &second);
    }
    if let Some([x, y]) = pair(object.get("center")) {
        add_position(tree, element, [&x, &y], number(object.get("rotation")), false);
    }
}

fn add_arc(tree: &mut Tree, element: usize, object: Object<'_>) {
    set(tree, element, "StartAngle", object.get("start"));
    set(tree, element, "EndAngle", object.get("end"));
    let name = if object.get("radii").is_some() { "Ellipse" } else { "Circle" };
    let basis = tree.add(Some(element), name);
    add_fill(tree, basis, object);
    add_style(tree, basis, object);
    add_circle(tree, basis, object);
}

fn add_spline(tree: &mut Tree, element: usize, object: Object<'_>) {
    set(tree, element, "Degree", object.get("degree"));
    add_points(tree, element, &numbers(object.get("points")));
    for (key, name) in [("knots", "Knots"), ("weights", "WeightsData")] {
        let numbers = numbers(object.get(key));
        if !numbers.is_empty() {
            let child = tree.add(Some(element), name);
            tree.elements[child].text = numbers.join(" ");
        }
    }
}

fn add_text(tree: &mut Tree, element: usize, object: Object<'_>) {
    let word = |key| object.get(key).and_then(|word| word.as_str()).unwrap_or_default();
    let text = word("text");
    if !text.is_empty() {
        tree.elements[element].set("String", text);
        tree.elements[element].set("NumberOfLines", &(1 + text.matches('\n').count()).to_string());
    }
    for (key, name) in [
        ("font", "Font"),
        ("attribute", "DependantAttribute"),
        ("height", "Height"),
        ("width", "Width"),
        ("rotation", "TextAngle"),
    ] {
        set(tree, element, name, object.get(key));
    }
    let align = match word("align") {
        "middle" => "Center",
        "end" => "Right",
        _ => "Left",
    };
    let vertical = match word("vertical") {
        "top" => "Top",
        "middle" => "Center",
        _ => "Bottom",
    };
    // The center of both directions is one word.
    let justification =
        if (align, vertical) == ("Center", "Center") { "CenterCenter".into() } else { format!("{align}{vertical}") };
    tree.elements[element].set("Justification", &justification);
    if let Some([x, y]) = pair(object.get("at")) {
        add_position(tree, element, [&x, &y], 0.0, false);
    }
}

/// Numbers of the line types.
const LINE_TYPES: &[(&str, &str)] =
    &[("dot", "1"), ("dash", "2"), ("long_dash", "3"), ("dash_dot", "4"), ("short_dash", "5"), ("dash_dot_dot", "6")];

/// Adds the style of an element, if it is not the default.
fn add_style(tree: &mut Tree, element: usize, object: Object<'_>) {
    let word = |key| object.get(key).and_then(|word| word.as_str());
    let members = ["stroke", "stroke_width", "dash", "layer"];
    if members.iter().all(|key| object.get(key).is_none()) {
        return;
    }
    let presentation = tree.add(Some(element), "Presentation");
    if let Some(layer) = word("layer") {
        tree.elements[presentation].set("Layer", layer);
    }
    if let Some((_, number)) = LINE_TYPES.iter().find(|(name, _)| Some(*name) == word("dash")) {
        tree.elements[presentation].set("LineType", number);
    }
    set(tree, presentation, "LineWeight", object.get("stroke_width"));
    for (name, part) in ["R", "G", "B"].iter().zip(color(word("stroke").unwrap_or_default())) {
        tree.elements[presentation].set(name, &part);
    }
}

/// Returns the parts of a color, from 0 to 1; black for another text.
fn color(text: &str) -> [String; 3] {
    let number = text
        .strip_prefix('#')
        .filter(|digits| digits.len() == 6)
        .and_then(|digits| u32::from_str_radix(digits, 16).ok());
    let [_, red, green, blue] = number.unwrap_or_default().to_be_bytes();
    [red, green, blue].map(|part| {
        let text = format!("{:.6}", f64::from(part) / 255.0);
        if part == 0 || part == 255 { (part / 255).to_string() } else { text }
    })
}

/// Sets the color of the paper, which is that of the drawing.
pub fn add_background(tree: &mut Tree, drawing: usize, background: Option<&str>) {
    let Some(background) = background else { return };
    let presentation = tree.add(Some(drawing), "Presentation");
    for (name, part) in ["R", "G", "B"].iter().zip(color(background)) {
        tree.elements[presentation].set(name, &part);
    }
}

/// Mirrors all coordinates at the x axis, for a drawing whose y grows downwards: in Proteus, it grows upwards.
pub fn mirror(tree: &mut Tree) {
    for index in 0..tree.elements.len() {
        let element = &mut tree.elements[index];
        match element.name.as_str() {
            "Location" | "Coordinate" | "Min" | "Max" | "Reference" => negate(element, "Y"),
            "Text" => negate(element, "TextAngle"),
            "TrimmedCurve" => mirror_angles(element),
            _ => {}
        }
        if tree.elements[index].name == "Extent" {
            swap_corners(tree, index);
        }
    }
}

fn negate(element: &mut Element, name: &str) {
    for (_, digits) in element.attributes.iter_mut().filter(|(key, _)| key == name) {
        *digits = negative(digits);
    }
}

/// Returns a number with the other sign and the same digits.
fn negative(digits: &str) -> String {
    match digits.strip_prefix('-') {
        Some(positive) => positive.to_owned(),
        None if digits.parse() == Ok(0.0_f64) => digits.to_owned(),
        None => format!("-{digits}"),
    }
}

/// An arc from a to b becomes one from -b to -a.
fn mirror_angles(element: &mut Element) {
    for (name, digits) in &mut element.attributes {
        let other = match name.as_str() {
            "StartAngle" => "EndAngle",
            "EndAngle" => "StartAngle",
            _ => continue,
        };
        (*name, *digits) = (other.to_owned(), negative(digits));
    }
}

/// Puts the corners of an extent, whose children come after it, back into order.
fn swap_corners(tree: &mut Tree, extent: usize) {
    let corners: Vec<usize> = tree.elements[extent].children.clone();
    let [low, high] = corners.as_slice() else { return };
    let y = |corner: usize| tree.elements[corner].attributes.iter().position(|(name, _)| name == "Y");
    let (Some(low_at), Some(high_at)) = (y(*low), y(*high)) else { return };
    let low_digits = tree.elements[*low].attributes[low_at].1.clone();
    let high_digits = std::mem::replace(&mut tree.elements[*high].attributes[high_at].1, low_digits);
    tree.elements[*low].attributes[low_at].1 = high_digits;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_that_grow_downwards_are_mirrored() {
        let mut tree = Tree::default();
        let root = tree.add(None, "Drawing");
        add_extent(&mut tree, root, ["0", "-1.50", "2", "3"]);
        let curve = tree.add(Some(root), "TrimmedCurve");
        tree.elements[curve].set("StartAngle", "10");
        tree.elements[curve].set("EndAngle", "0");
        mirror(&mut tree);
        let xml = tree.write();
        assert!(xml.contains("<Min X=\"0\" Y=\"-3\" Z=\"0\"/>\n<Max X=\"2\" Y=\"1.50\" Z=\"0\"/>"), "{xml}");
        assert!(xml.contains("<TrimmedCurve EndAngle=\"-10\" StartAngle=\"0\"/>"), "{xml}");
    }
}
