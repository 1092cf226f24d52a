//! Lines and curves: the elements of the file by their form in the document.

use crate::json::{Fields, Json, is_number};
use crate::xml::{Element, Tree};

use super::super::attributes;
use super::placement::Placement;
use super::style::Style;

/// Reads an element into the members of a form.
type Read = fn(&Tree, usize, &Style) -> Option<Fields>;

/// Drawn elements other than texts, and how they are read.
const CURVES: &[(&str, Read)] = &[
    ("Line", polyline),
    ("PolyLine", polyline),
    ("CenterLine", polyline),
    ("Shape", polygon),
    ("Circle", circle),
    ("Ellipse", ellipse),
    ("TrimmedCurve", arc),
    ("BsplineCurve", spline),
    ("CompositeCurve", composite),
    ("Curve", composite),
    ("Surface", composite),
    ("CrossHatch", hatch),
    ("Hatch", hatch),
];

/// Returns true for an element that is drawn itself.
pub fn is_primitive(name: &str) -> bool {
    CURVES.iter().any(|(element, _)| *element == name)
}

/// Returns a line or curve; `None` if it lacks a point or a size.
pub fn curve(tree: &Tree, element: usize, style: &Style) -> Option<Fields> {
    let name = &tree.elements[element].name;
    let (_, read) = CURVES.iter().find(|(element, _)| element == name)?;
    read(tree, element, style)
}

fn form(kind: &str) -> Fields {
    let mut fields = Fields::default();
    fields.add("type", Json::text(kind));
    fields
}

/// Returns the coordinates of all points, one after another; `None` if there are fewer than two.
fn points(tree: &Tree, element: usize) -> Option<Json> {
    let points = attributes::polyline(tree, element);
    (points.len() > 1).then(|| Json::Array(points.iter().flat_map(|point| point.json()).collect()))
}

/// Adds the fill of a closed form.
fn add_fill(fields: &mut Fields, element: &Element, style: &Style) {
    match element.get("Filled").map(|text| text.trim().to_lowercase()).as_deref() {
        Some("solid" | "true" | "1" | "yes") => fields.add("fill", Json::text(style.color())),
        Some("hatch") => fields.add("fill", Json::text("hatch")),
        _ => {}
    }
}

fn polyline(tree: &Tree, element: usize, style: &Style) -> Option<Fields> {
    let is_filled = tree.elements[element].get("Filled").is_some();
    if is_filled {
        return polygon(tree, element, style);
    }
    let mut fields = form("polyline");
    fields.add("points", points(tree, element)?);
    Some(fields)
}

fn polygon(tree: &Tree, element: usize, style: &Style) -> Option<Fields> {
    let mut fields = form("polygon");
    fields.add("points", points(tree, element)?);
    add_fill(&mut fields, &tree.elements[element], style);
    Some(fields)
}

/// Returns a positive length of an element.
fn length(element: &Element, names: &[&str]) -> Option<Json> {
    let digits = names.iter().find_map(|name| element.get(name))?.trim();
    let is_positive = is_number(digits) && digits.parse().is_ok_and(|length: f64| length > 0.0);
    is_positive.then(|| Json::Number(digits.to_owned()))
}

fn circle(tree: &Tree, element: usize, style: &Style) -> Option<Fields> {
    let mut fields = form("circle");
    fields.add("center", Json::Array(attributes::position(tree, element)?.json().into()));
    fields.add("radius", length(&tree.elements[element], &["Radius"])?);
    add_fill(&mut fields, &tree.elements[element], style);
    Some(fields)
}

fn ellipse(tree: &Tree, element: usize, style: &Style) -> Option<Fields> {
    let xml_element = &tree.elements[element];
    let placement = Placement::of(tree, element)?;
    let mut fields = form("ellipse");
    fields.add("center", Json::Array(placement.at.json().into()));
    let axes = [length(xml_element, &["PrimaryAxis"])?, length(xml_element, &["SecondaryAxis"])?];
    fields.add("radii", Json::Array(axes.into()));
    if placement.rotation != 0.0 {
        fields.add("rotation", attributes::number(placement.rotation));
    }
    add_fill(&mut fields, xml_element, style);
    Some(fields)
}

/// Returns a part of a circle or an ellipse. Angles are counterclockwise; clockwise if the basis is mirrored.
fn arc(tree: &Tree, element: usize, style: &Style) -> Option<Fields> {
    let (basis, basis_element) =
        tree.children(element).find(|(_, child)| matches!(child.name.as_str(), "Circle" | "Ellipse"))?;
    let shape = curve(tree, basis, style)?;
    let placement = Placement::of(tree, basis)?;
    let angle = |name| {
        let angle: f64 = tree.elements[element].get(name)?.trim().parse().ok()?;
        angle.is_finite().then_some(angle)
    };
    let (start, end) = (angle("StartAngle")?, angle("EndAngle")?);
    let (start, end) = if placement.is_mirrored { (-end, -start) } else { (start, end) };
    let mut fields = form("arc");
    for key in ["center", "radius", "radii"] {
        fields.add_optional(key, shape.get(key).cloned());
    }
    // An arc is drawn in the style of the curve it is a part of.
    Style::of(tree, basis).add_to(&mut fields);
    if placement.rotation != 0.0 {
        fields.add("rotation", attributes::number(placement.rotation));
    }
    fields.add("start", attributes::number(start));
    fields.add("end", attributes::number(end));
    add_fill(&mut fields, basis_element, style);
    Some(fields)
}

/// Returns a B-spline: its degree and control points, and its knots and weights if there are any.
fn spline(tree: &Tree, element: usize, _: &Style) -> Option<Fields> {
    let xml_element = &tree.elements[element];
    let degree: usize = xml_element.get("Degree")?.trim().parse().ok().filter(|degree| (1..=10).contains(degree))?;
    let own = points(tree, element);
    let nested = || tree.children(element).find_map(|(child, _)| points(tree, child));
    let mut fields = form("spline");
    fields.add("degree", Json::count(degree));
    fields.add("points", own.or_else(nested)?);
    let knots = numbers(tree, element, &["KnotsData", "Knots"]);
    let multiplicities = numbers(tree, element, &["MultiplicitiesData", "KnotMultiplicities"]);
    let knots = knots.map(|knots| repeated(knots, multiplicities));
    fields.add_optional("knots", knots.map(json_numbers));
    fields.add_optional("weights", numbers(tree, element, &["WeightsData", "Weights"]).map(json_numbers));
    Some(fields)
}

/// Returns the numbers in the text of a child element.
fn numbers(tree: &Tree, element: usize, names: &[&str]) -> Option<Vec<String>> {
    let (_, child) = tree.children(element).find(|(_, child)| names.contains(&child.name.as_str()))?;
    let numbers: Vec<String> =
        child.text.split([' ', '\n', '\t', '\r', ',', ';']).filter(|text| is_number(text)).map(str::to_owned).collect();
    (!numbers.is_empty()).then_some(numbers)
}

/// Repeats each knot as often as its multiplicity says, which is at most the degree plus one.
fn repeated(knots: Vec<String>, multiplicities: Option<Vec<String>>) -> Vec<String> {
    let Some(multiplicities) = multiplicities.filter(|list| list.len() == knots.len()) else { return knots };
    let counts = multiplicities.iter().map(|text| text.parse::<usize>().unwrap_or(1).clamp(1, 11));
    knots.iter().zip(counts).flat_map(|(knot, count)| std::iter::repeat_n(knot.clone(), count)).collect()
}

fn json_numbers(numbers: Vec<String>) -> Json {
    Json::Array(numbers.into_iter().map(Json::Number).collect())
}

/// Returns a curve of several parts.
fn composite(tree: &Tree, element: usize, style: &Style) -> Option<Fields> {
    grouped(tree, element, style, "curve")
}

fn hatch(tree: &Tree, element: usize, style: &Style) -> Option<Fields> {
    grouped(tree, element, style, "hatch")
}

fn grouped(tree: &Tree, element: usize, style: &Style, role: &str) -> Option<Fields> {
    let parts = tree.children(element).filter_map(|(child, _)| {
        let own = Style::of(tree, child).or(style);
        let mut fields = curve(tree, child, &own)?;
        own.add_to(&mut fields);
        Some(Json::Object(fields))
    });
    let parts: Vec<Json> = parts.collect();
    let mut fields = form("group");
    fields.add("role", Json::text(role));
    fields.add("elements", Json::Array(parts.clone()));
    (!parts.is_empty()).then_some(fields)
}
