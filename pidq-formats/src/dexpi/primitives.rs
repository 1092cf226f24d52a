//! Graphical elements of a diagram as elements of the graph's graphics.

use crate::json::{Fields, Json, is_number};
use crate::proteus::alignment;
use crate::snake_case::snake_case;

use super::extension;
use super::members;
use super::objects::{Objects, Target, last_name};

/// Point of the diagram, with the digits of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    pub x: String,
    pub y: String,
}

impl Point {
    /// Reads the point in a property of an object.
    pub fn of(objects: &Objects<'_>, object: usize, property: &str) -> Option<Point> {
        Point::read(objects, *objects.data(object, property).first()?)
    }

    fn read(objects: &Objects<'_>, value: usize) -> Option<Point> {
        let [x, y] = ["X", "Y"].map(|axis| objects.text(value, axis).map(|digits| digits.trim().to_owned()));
        Some(Point { x: x.filter(|x| is_number(x))?, y: y.filter(|y| is_number(y))? })
    }

    pub fn json(&self) -> [Json; 2] {
        [Json::Number(self.x.clone()), Json::Number(self.y.clone())]
    }
}

/// Reads the points in a property of an object.
pub fn points(objects: &Objects<'_>, object: usize, property: &str) -> Vec<Point> {
    objects.data(object, property).into_iter().filter_map(|value| Point::read(objects, value)).collect()
}

/// Reads a primitive, or the use of a shape; `None` if it is of an unknown class or has no points.
pub fn element(objects: &Objects<'_>, object: usize, line: Option<&[Point]>) -> Option<Json> {
    let mut fields = Fields::default();
    match objects.class(object) {
        "PolyLine" => add_points(&mut fields, "polyline", &points(objects, object, "Points"))?,
        "Polygon" => add_points(&mut fields, "polygon", &points(objects, object, "Points"))?,
        "ConnectorLine" => add_points(&mut fields, "polyline", line.unwrap_or_default())?,
        "Ellipse" => add_ellipse(&mut fields, objects, object)?,
        "EllipseArc" => add_arc(&mut fields, objects, object)?,
        "Text" => add_text(&mut fields, objects, object)?,
        "ShapeUsage" | "SymbolUsage" => add_use(&mut fields, objects, object)?,
        _ => return None,
    }
    add_style(&mut fields, objects, object);
    members::restore(&mut fields, members::members(objects, object));
    objects.take_all(object);
    Some(Json::Object(fields))
}

fn add_points(fields: &mut Fields, kind: &str, points: &[Point]) -> Option<()> {
    fields.add("type", Json::text(kind));
    fields.add("points", Json::Array(points.iter().flat_map(Point::json).collect()));
    (points.len() > 1).then_some(())
}

fn number(objects: &Objects<'_>, object: usize, property: &str) -> Option<Json> {
    let digits = objects.text(object, property)?.trim();
    is_number(digits).then(|| Json::Number(digits.to_owned()))
}

/// Returns a number that differs from its default value.
fn number_unless(objects: &Objects<'_>, object: usize, property: &str, default: f64) -> Option<Json> {
    let json = number(objects, object, property)?;
    let is_default = matches!(&json, Json::Number(digits) if digits.parse() == Ok(default));
    (!is_default).then_some(json)
}

/// Adds center and size: a radius for a circle, and two radii for an ellipse.
fn add_center(fields: &mut Fields, objects: &Objects<'_>, object: usize) -> Option<()> {
    let center = Point::of(objects, object, "Center")?;
    let [a, b] = ["HorizontalSemiAxis", "VerticalSemiAxis"].map(|axis| number(objects, object, axis));
    let (a, b) = (a?, b?);
    fields.add("center", Json::Array(center.json().into()));
    match a == b {
        true => fields.add("radius", a),
        false => fields.add("radii", Json::Array(vec![a, b])),
    }
    fields.add_optional("rotation", number_unless(objects, object, "Rotation", 0.0));
    Some(())
}

fn add_ellipse(fields: &mut Fields, objects: &Objects<'_>, object: usize) -> Option<()> {
    let mut form = Fields::default();
    add_center(&mut form, objects, object)?;
    fields.add("type", Json::text(if form.get("radius").is_some() { "circle" } else { "ellipse" }));
    fields.0.extend(form.0);
    Some(())
}

fn add_arc(fields: &mut Fields, objects: &Objects<'_>, object: usize) -> Option<()> {
    fields.add("type", Json::text("arc"));
    add_center(fields, objects, object)?;
    fields.add("start", number(objects, object, "StartAngle")?);
    fields.add("end", number(objects, object, "EndAngle")?);
    Some(())
}

fn add_text(fields: &mut Fields, objects: &Objects<'_>, object: usize) -> Option<()> {
    let at = Point::of(objects, object, "Position")?;
    fields.add("type", Json::text("text"));
    fields.add("text", Json::text(objects.text(object, "Text").unwrap_or_default()));
    fields.add("at", Json::Array(at.json().into()));
    fields.add_optional("height", number(objects, object, "Size"));
    fields.add_optional_text("font", objects.text(object, "Font"));
    let (align, vertical) = alignment(objects.text(object, "Alignment").unwrap_or_default());
    fields.add("align", Json::text(align));
    fields.add("vertical", Json::text(vertical));
    fields.add_optional("rotation", number_unless(objects, object, "Rotation", 0.0));
    Some(())
}

fn add_use(fields: &mut Fields, objects: &Objects<'_>, object: usize) -> Option<()> {
    let shape = shape_of_use(objects, object)?;
    let at = Point::of(objects, object, "Position")?;
    fields.add("type", Json::text("use"));
    fields.add("shape", Json::String(shape));
    fields.add("at", Json::Array(at.json().into()));
    fields.add_optional("rotation", number_unless(objects, object, "Rotation", 0.0));
    let scale = ["ScaleX", "ScaleY"].map(|axis| number(objects, object, axis).unwrap_or(Json::Number("1".into())));
    let is_one = |json: &Json| matches!(json, Json::Number(digits) if digits.parse() == Ok(1.0));
    if !scale.iter().all(is_one) {
        fields.add("scale", Json::Array(scale.into()));
    }
    if objects.text(object, "IsMirrored").is_some_and(|text| text.trim() == "true") {
        fields.add("mirrored", Json::Bool(true));
    }
    Some(())
}

/// Returns the name of the shape that an element uses.
pub fn shape_of_use(objects: &Objects<'_>, object: usize) -> Option<String> {
    let target = ["Shape", "Symbol"].iter().find_map(|property| objects.references(object, property).first().copied());
    Some(match target? {
        Target::Id(id) => objects.by_id(id).map_or_else(|| id.to_owned(), |shape| shape_name(objects, shape)),
        Target::Name(path) if objects.has_extension => extension::decode(last_name(path)),
        Target::Name(path) => last_name(path).to_owned(),
    })
}

/// Returns the name of a shape: of the object, or else its id or the name that it states.
pub fn shape_name(objects: &Objects<'_>, shape: usize) -> String {
    let stated = objects.text(shape, "Name");
    let name = objects.element(shape).get("name").or(objects.own_id(shape)).or(stated);
    name.unwrap_or_default().to_owned()
}

const BLACK: &str = "#000000";

fn add_style(fields: &mut Fields, objects: &Objects<'_>, object: usize) {
    let stroke = objects.data(object, "Stroke").first().copied();
    let color = color(objects, stroke.unwrap_or(object), "Color");
    fields.add_optional_text("stroke", color.as_deref().filter(|color| *color != BLACK));
    fields.add_optional("stroke_width", stroke.and_then(|stroke| number(objects, stroke, "Width")));
    let dash = stroke.and_then(|stroke| objects.text(stroke, "DashStyle")).filter(|dash| *dash != "Solid");
    fields.add_optional("dash", dash.map(|dash| Json::String(snake_case(dash))));
    match objects.text(object, "FillStyle") {
        Some("Solid") => fields.add("fill", Json::String(color.unwrap_or_else(|| BLACK.to_owned()))),
        Some("Hatch") => fields.add("fill", Json::text("hatch")),
        _ => {}
    }
}

/// Returns the color in a property, as `#rrggbb`.
pub fn color(objects: &Objects<'_>, owner: usize, property: &str) -> Option<String> {
    let value = *objects.data(owner, property).first()?;
    let part = |name| objects.text(value, name).and_then(|digits| digits.trim().parse::<u8>().ok());
    Some(format!("#{:02x}{:02x}{:02x}", part("R")?, part("G")?, part("B")?))
}
