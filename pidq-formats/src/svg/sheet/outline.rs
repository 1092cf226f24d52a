//! Outlines: elements of a drawing as paths, circles and texts in millimeters of the sheet.
//!
//! Angles run from the x axis to the y axis of the sheet: counterclockwise if y grows upwards, clockwise if it grows
//! downwards.

use std::collections::HashMap;

use pidq_core::{Array, Object, Value};

use crate::svg::scene::Point;

use super::affine::{Affine, sin_cos};
use super::members::{number, numbers, point, text};
use super::paint::Paint;

/// Drawn part of an element.
pub enum Outline {
    Path(Vec<Step>),
    Circle(Point, f64),
    Text(Text),
}

impl Outline {
    /// Returns the number of steps or characters.
    fn size(&self) -> usize {
        match self {
            Outline::Path(steps) => steps.len(),
            Outline::Circle(..) => 1,
            Outline::Text(text) => text.lines.iter().map(String::len).sum(),
        }
    }
}

/// Step of a path.
#[derive(Clone, Copy)]
pub enum Step {
    Move(Point),
    Line(Point),
    Cubic(Point, Point, Point),
    Close,
}

/// Text with its reference point, which the alignment refers to.
pub struct Text {
    pub at: Point,
    pub lines: Vec<String>,
    pub height: f64,
    /// Clockwise rotation, in degrees.
    pub rotation: f64,
    pub align: Align,
    /// Distance from the reference point down to the first baseline, in units of the height.
    pub baseline: f64,
    pub font: String,
}

/// Horizontal alignment.
#[derive(Clone, Copy, PartialEq)]
pub enum Align {
    Start,
    Middle,
    End,
}

/// Outline with its paint.
pub struct Drawn {
    pub outline: Outline,
    pub paint: Paint,
    /// True for a part of an annotation, such as a label or its leader.
    pub is_annotation: bool,
}

/// Use of a shape that is not in the file.
pub struct MissingUse<'a> {
    pub shape: &'a str,
    /// The transform from the coordinates of the shape to the sheet, in millimeters with y downwards.
    pub placement: Affine,
    /// True if y grows upwards in the coordinates of the shape.
    pub is_y_up: bool,
    /// The role of the annotation that it is a part of; empty for the symbol of an item.
    pub role: &'a str,
}

impl MissingUse<'_> {
    /// Returns the direction on the sheet that is up in the shape.
    pub fn up(&self) -> Point {
        self.placement.vector((0.0, if self.is_y_up { 1.0 } else { -1.0 }))
    }
}

/// Maximum nesting of groups and shapes.
const MAX_NESTING: usize = 16;
/// Maximum number of elements, steps and characters of a drawing, so that shapes that are used often stay bounded.
pub const MAX_SIZE: usize = 1_000_000;
/// Distance between lines of a text, in units of its height.
pub const LINE_SPACING: f64 = 1.5;

/// Reader of elements on one sheet.
pub struct Outliner<'a, 's> {
    pub shapes: &'s HashMap<&'a str, Array<'a>>,
    /// Millimeters per drawing unit.
    pub unit: f64,
    pub is_y_up: bool,
    pub drawn: Vec<Drawn>,
    pub missing: Vec<MissingUse<'a>>,
    /// Values of text patterns, from the attributes of the item.
    pub item: Option<Object<'a>>,
    pub budget: &'s mut usize,
}

/// Context of an element: its transform, the paint of its group, its nesting, and the role of its annotation.
#[derive(Clone)]
struct Context<'a> {
    transform: Affine,
    paint: Paint,
    depth: usize,
    role: &'a str,
}

impl<'a> Outliner<'a, '_> {
    /// Adds the outlines of a list of elements.
    pub fn add(&mut self, elements: Array<'a>, transform: Affine, paint: &Paint) {
        let context = Context { transform, paint: paint.clone(), depth: 0, role: "" };
        self.elements(elements, &context);
    }

    fn elements(&mut self, elements: Array<'a>, context: &Context<'a>) {
        for element in elements.iter().filter_map(Value::as_object) {
            if *self.budget == 0 {
                return;
            }
            *self.budget -= 1;
            self.element(element, context);
        }
    }

    fn element(&mut self, element: Object<'a>, context: &Context<'a>) {
        let paint = context.paint.with(element, self.unit);
        if paint.is_hidden || context.depth > MAX_NESTING {
            return;
        }
        let transform = context.transform;
        let outline = match text(element, "type") {
            "polyline" => path(element, transform, Shape::Open),
            "polygon" => path(element, transform, Shape::Closed),
            "circle" => circle(element, transform),
            "ellipse" => ellipse(element, transform, (0.0, 360.0)),
            "arc" => arc(element, transform),
            "spline" => spline(element, transform),
            "text" => self.text(element, transform),
            "use" => return self.shape(element, context, paint),
            "group" => return self.group(element, context, paint),
            _ => None,
        };
        let Some(outline) = outline else { return };
        *self.budget = self.budget.saturating_sub(outline.size());
        self.drawn.push(Drawn { outline, paint, is_annotation: !context.role.is_empty() });
    }

    fn group(&mut self, element: Object<'a>, context: &Context<'a>, paint: Paint) {
        let role = text(element, "role");
        if let Some(elements) = element.get("elements").and_then(Value::as_array) {
            self.elements(elements, &Context { paint, depth: context.depth + 1, role, ..context.clone() });
        }
    }

    fn shape(&mut self, element: Object<'a>, context: &Context<'a>, paint: Paint) {
        let Some(at) = point(element, "at") else { return };
        let angle = number(element, "rotation").unwrap_or(0.0);
        let (x, y) = point(element, "scale").unwrap_or((1.0, 1.0));
        let is_mirrored = matches!(element.get("mirrored"), Some(Value::Bool(true)));
        // Proteus mirrors a shape at its x axis; DEXPI 2.0, where y grows downwards, at its y axis.
        let scale = match (is_mirrored, self.is_y_up) {
            (false, _) => (x, y),
            (true, true) => (x, -y),
            (true, false) => (-x, y),
        };
        let placement = context.transform.after(Affine::placement(at, angle, scale));
        let shape = text(element, "shape");
        match self.shapes.get(shape) {
            Some(elements) => {
                let context = Context { transform: placement, paint, depth: context.depth + 1, role: context.role };
                self.elements(*elements, &context);
            }
            None => {
                let is_y_up = self.is_y_up;
                self.missing.push(MissingUse { shape, placement, is_y_up, role: context.role });
            }
        }
    }

    fn text(&self, element: Object<'a>, transform: Affine) -> Option<Outline> {
        let written = text(element, "text");
        let pattern = text(element, "attribute");
        let content = if written.is_empty() {
            self.item.map_or_else(String::new, |item| fill(pattern, item))
        } else {
            written.into()
        };
        let lines: Vec<String> = content.split('\n').take(100).map(|line| line.trim_end().to_owned()).collect();
        if lines.iter().all(String::is_empty) {
            return None;
        }
        let default_height = 2.5 / self.unit;
        let height = number(element, "height").filter(|height| *height > 0.0).unwrap_or(default_height);
        let angle = number(element, "rotation").unwrap_or(0.0);
        let (sin, cos) = sin_cos(angle);
        let (dx, dy) = transform.vector((cos, sin));
        let mut rotation = dy.atan2(dx).to_degrees();
        // The right end of a mirrored text stays on the right.
        let mut align = match text(element, "align") {
            "middle" => Align::Middle,
            "end" => Align::End,
            _ => Align::Start,
        };
        let extra = LINE_SPACING * (lines.len() - 1) as f64;
        let mut baseline = match text(element, "vertical") {
            "top" => 1.0,
            "middle" => 0.5 - extra / 2.0,
            _ => -extra,
        };
        // Texts in rotated shapes are never upside down.
        if angle == 0.0 && !(-91.0..=91.0).contains(&rotation) {
            rotation += 180.0;
            baseline = 1.0 - baseline - extra;
            align = match align {
                Align::Start => Align::End,
                Align::Middle => Align::Middle,
                Align::End => Align::Start,
            };
        }
        let at = transform.apply(point(element, "at")?);
        let height = height * transform.height_scale();
        let font = text(element, "font").to_owned();
        Some(Outline::Text(Text { at, lines, height, rotation, align, baseline, font }))
    }
}

/// Fills a pattern such as `[TagName]` with the attributes of an item.
fn fill(pattern: &str, item: Object<'_>) -> String {
    let mut out = String::new();
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once('[') {
        let Some((name, after)) = after.split_once(']') else { break };
        out.push_str(before);
        out.push_str(&attribute(item, name));
        rest = after;
    }
    out.push_str(rest);
    out.trim().to_owned()
}

/// Returns the value of a listed attribute of an item, or its tag; empty if there is none.
pub fn attribute(item: Object<'_>, name: &str) -> String {
    let listed = item.get("attributes").and_then(Value::as_array).into_iter().flat_map(|list| list.iter());
    let mut listed = listed.filter_map(Value::as_object).filter(|row| text(*row, "name") == name);
    let value = listed.find_map(|row| row.get("value")).map(crate::model::text);
    value.or_else(|| (name == "TagName").then(|| text(item, "tag").to_owned())).unwrap_or_default()
}

/// Returns the points of a path. A list with a missing number has none.
fn points(element: Object<'_>) -> Vec<Point> {
    let length = element.get("points").and_then(Value::as_array).map_or(0, Array::len);
    let numbers = numbers(element, "points");
    if numbers.len() != length { Vec::new() } else { numbers.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect() }
}

#[derive(PartialEq)]
enum Shape {
    Open,
    Closed,
}

fn path(element: Object<'_>, transform: Affine, shape: Shape) -> Option<Outline> {
    let points = points(element).into_iter().map(|point| transform.apply(point));
    let mut steps: Vec<Step> = points
        .enumerate()
        .map(|(index, point)| if index == 0 { Step::Move(point) } else { Step::Line(point) })
        .collect();
    if shape == Shape::Closed {
        steps.push(Step::Close);
    }
    (steps.len() > 1).then_some(Outline::Path(steps))
}

fn circle(element: Object<'_>, transform: Affine) -> Option<Outline> {
    let radius = number(element, "radius").filter(|radius| *radius > 0.0)?;
    match transform.uniform_scale() {
        Some(scale) => Some(Outline::Circle(transform.apply(point(element, "center")?), radius * scale)),
        None => ellipse(element, transform, (0.0, 360.0)),
    }
}

fn arc(element: Object<'_>, transform: Affine) -> Option<Outline> {
    let (start, end) = (number(element, "start")?, number(element, "end")?);
    let sweep = (end - start).rem_euclid(360.0);
    ellipse(element, transform, (start, if sweep == 0.0 { 360.0 } else { sweep }))
}

/// Returns an ellipse or a part of it, as cubic curves of at most a quarter.
fn ellipse(element: Object<'_>, transform: Affine, (start, sweep): (f64, f64)) -> Option<Outline> {
    let radius = number(element, "radius").map(|radius| (radius, radius));
    let radii = radius.or_else(|| point(element, "radii")).filter(|(a, b)| *a > 0.0 && *b > 0.0)?;
    let rotation = number(element, "rotation").unwrap_or(0.0);
    let basis = transform.after(Affine::placement(point(element, "center")?, rotation, radii));
    let parts = (sweep / 90.0).ceil().clamp(1.0, 4.0) as usize;
    let part = sweep / parts as f64;
    // The distance of the control points of a unit arc.
    let handle = 4.0 / 3.0 * (part.to_radians() / 4.0).tan();
    let at = |degrees: f64| {
        let (sin, cos) = sin_cos(degrees);
        ((cos, sin), (-sin * handle, cos * handle))
    };
    let mut steps = vec![Step::Move(basis.apply(at(start).0))];
    for index in 0..parts {
        let (from, from_handle) = at(start + part * index as f64);
        let (to, to_handle) = at(start + part * (index + 1) as f64);
        let first = basis.apply((from.0 + from_handle.0, from.1 + from_handle.1));
        let second = basis.apply((to.0 - to_handle.0, to.1 - to_handle.1));
        steps.push(Step::Cubic(first, second, basis.apply(to)));
    }
    if sweep >= 360.0 {
        steps.push(Step::Close);
    }
    Some(Outline::Path(steps))
}

/// Maximum number of control points of a spline, and number of lines per control point.
const MAX_CONTROL_POINTS: usize = 10_000;
const LINES_PER_POINT: usize = 8;

/// Returns a B-spline as a line through many of its points.
fn spline(element: Object<'_>, transform: Affine) -> Option<Outline> {
    let points = points(element);
    let degree = number(element, "degree").unwrap_or(3.0).clamp(1.0, 10.0) as usize;
    if points.len() <= degree || points.len() > MAX_CONTROL_POINTS {
        return path(element, transform, Shape::Open);
    }
    let knots = knots(element, points.len(), degree);
    let weights = Some(numbers(element, "weights")).filter(|weights| weights.len() == points.len());
    let (low, high) = (knots[degree], knots[points.len()]);
    let count = (points.len() - degree) * LINES_PER_POINT;
    let steps = (0..=count).map(|index| {
        let at = low + (high - low) * index as f64 / count as f64;
        let point = transform.apply(de_boor(&points, weights.as_deref(), &knots, degree, at));
        if index == 0 { Step::Move(point) } else { Step::Line(point) }
    });
    Some(Outline::Path(steps.collect()))
}

/// Returns the knots of a spline: those of the file if they fit, otherwise uniform ones that start and end at its ends.
fn knots(element: Object<'_>, points: usize, degree: usize) -> Vec<f64> {
    let own = numbers(element, "knots");
    let is_sorted = own.windows(2).all(|pair| pair[0] <= pair[1]);
    if own.len() == points + degree + 1 && is_sorted && own[degree] < own[points] {
        return own;
    }
    let last = (points - degree) as f64;
    (0..points + degree + 1).map(|index| (index as f64 - degree as f64).clamp(0.0, last)).collect()
}

/// Evaluates a B-spline by de Boor's algorithm, with weights as a rational one.
fn de_boor(points: &[Point], weights: Option<&[f64]>, knots: &[f64], degree: usize, at: f64) -> Point {
    let span = (degree..points.len()).rev().find(|index| knots[*index] <= at).unwrap_or(degree);
    let homogeneous = |index: usize| {
        let weight = weights.map_or(1.0, |weights| weights[index]);
        [points[index].0 * weight, points[index].1 * weight, weight]
    };
    let mut parts: Vec<[f64; 3]> = (0..=degree).map(|offset| homogeneous(span - degree + offset)).collect();
    for level in 1..=degree {
        for offset in (level..=degree).rev() {
            let index = span - degree + offset;
            let width = knots[index + degree + 1 - level] - knots[index];
            let share = if width > 0.0 { (at - knots[index]) / width } else { 0.0 };
            let (before, after) = (parts[offset - 1], parts[offset]);
            parts[offset] = [0, 1, 2].map(|axis| before[axis] * (1.0 - share) + after[axis] * share);
        }
    }
    let [x, y, weight] = parts[degree];
    if weight.abs() > 1e-12 { (x / weight, y / weight) } else { points[span] }
}
