//! Symbols in the place of shapes that are not in the file: at the position given, between the connection points.

use pidq_core::Value;

use crate::svg::scene::Point;
use crate::symbols::{Body, Placement, Shape, Symbol, without_actuator};
use crate::xml::escape;

use super::members::{point as pair, text};
use super::outline::{MissingUse, Outline, Step, attribute};
use super::{Bounds, Item, Picture, SheetWriter, number};

/// Millimeters per pixel of a symbol.
const SCALE: f64 = 1.0 / 3.0;
/// Heights of texts, in millimeters.
const TAG_HEIGHT: f64 = 3.3;
const SMALL_HEIGHT: f64 = 2.5;
/// Smallest and largest half length of an off-page connector, in millimeters.
const CONNECTORS: std::ops::RangeInclusive<f64> = 5.0..=40.0;
/// Smallest and largest radius of a bubble, in millimeters.
const BUBBLES: std::ops::RangeInclusive<f64> = 2.0..=10.0;
/// Attributes with the name under which an item is shown.
const DISPLAY_NAMES: &[&str] = &["ObjectDisplayNameAssignmentClass", "ObjectDisplayName"];
/// Margins of a frame: the filing margin on the left, and the others.
const FRAME: [f64; 2] = [20.0, 10.0];

/// Symbol with its place, in millimeters.
struct Fitted {
    symbol: &'static Symbol,
    center: Point,
    half: Point,
    /// Clockwise rotation, in degrees.
    angle: f64,
    /// Signs of the axes.
    flip: Point,
}

impl<'a> SheetWriter<'_, '_, 'a> {
    /// Draws something in the place of a shape.
    pub fn substitute(&mut self, picture: &Picture<'a>, usage: &MissingUse<'a>) {
        let Some(item) = picture.item else { return self.frame(picture, usage) };
        match (item, usage.role) {
            (_, "flow_arrow") => self.mark_along(usage, "M1.5 0L-1.5 -1V1Z", true),
            (_, "pipe_slope_symbol") => self.mark_along(usage, "M-3 0H3L3 -1.2Z", false),
            (_, "insulation_symbol") => self.mark_along(usage, "M-2 -1.5V1.5M0 -1.5V1.5M2 -1.5V1.5", false),
            (Item::Node(node), "") if self.symbols.symbols[node].name == "nozzle" => self.nozzle(picture, node, usage),
            (Item::Node(node), "") => self.symbol(picture, node, usage),
            (Item::Node(node), _) => self.tag_at(picture, node, usage),
            (Item::Edge(_), _) => {}
        }
    }

    /// Returns the bounds of what is drawn in the place of a shape.
    pub fn substitute_bounds(&self, picture: &Picture<'a>, usage: &MissingUse<'a>) -> Option<Bounds> {
        match (picture.item, usage.role) {
            (Some(Item::Node(node)), "") => {
                let fitted = self.fit(picture, node, usage)?;
                let is_turned = (fitted.angle.rem_euclid(180.0) - 90.0).abs() < 45.0;
                let (w, h) = if is_turned { (fitted.half.1, fitted.half.0) } else { fitted.half };
                let (x, y) = fitted.center;
                Some(Bounds { low: (x - w, y - h), high: (x + w, y + h) })
            }
            _ => None,
        }
    }

    /// Draws the frame of a sheet.
    fn frame(&mut self, picture: &Picture<'a>, usage: &MissingUse<'a>) {
        let name = usage.shape.to_lowercase();
        let is_frame = ["border", "frame"].iter().any(|word| name.contains(word));
        let Some(Bounds { low, high }) = self.source.sheets[picture.sheet].bounds().filter(|_| is_frame) else {
            return;
        };
        let [left, margin] = FRAME;
        let [x, y, w, h] =
            [low.0 + left, low.1 + margin, high.0 - low.0 - left - margin, high.1 - low.1 - 2.0 * margin].map(number);
        let ink = self.palette.css([0; 3]);
        let title = escape(&crate::svg::title(self.options, self.symbols.model));
        let [right, bottom] = [high.0 - margin - 4.0, high.1 - margin - 4.0].map(number);
        self.write_fmt(format_args!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" fill=\"none\" stroke=\"{ink}\" stroke-width=\".7\"/>\
             <text x=\"{right}\" y=\"{bottom}\" font-size=\"5\" font-family=\"Arial,Helvetica,sans-serif\" text-anchor=\"end\" \
             fill=\"{ink}\">{title}</text>"
        ));
    }

    /// Draws a nozzle: a line from the equipment to the connection point, with its flange.
    fn nozzle(&mut self, picture: &Picture<'a>, node: usize, usage: &MissingUse<'a>) {
        let ink = self.palette.css([0; 3]);
        let start = usage.placement.apply((0.0, 0.0));
        let end = self.ports(picture, node).first().copied().unwrap_or(start);
        let length = (end.0 - start.0).hypot(end.1 - start.1);
        let angle = if length > 0.1 { (end.1 - start.1).atan2(end.0 - start.0).to_degrees() } else { direction(usage) };
        let [x, y, angle, end, gap] = [start.0, start.1, angle, length, (length - 0.8).max(0.0)].map(number);
        self.write_fmt(format_args!(
            "<path transform=\"translate({x} {y}) rotate({angle})\" d=\"M0 0H{gap}M{gap} -1.6V1.6M{end} -1.6V1.6\" fill=\"none\" \
             stroke=\"{ink}\" stroke-width=\".25\"/>"
        ));
    }

    /// Draws a mark at a place, along the x axis of its shape.
    fn mark_along(&mut self, usage: &MissingUse<'a>, path: &str, is_filled: bool) {
        let ink = self.palette.css([0; 3]);
        let (x, y) = usage.placement.apply((0.0, 0.0));
        let [x, y, angle] = [x, y, direction(usage)].map(number);
        let fill = if is_filled { ink.as_str() } else { "none" };
        self.write_fmt(format_args!(
            "<path transform=\"translate({x} {y}) rotate({angle})\" d=\"{path}\" fill=\"{fill}\" stroke=\"{ink}\" stroke-width=\".25\"/>"
        ));
    }

    /// Writes the tag of a node at the place of a label: along a line, in a bubble for an item of it.
    fn tag_at(&mut self, picture: &Picture<'a>, node: usize, usage: &MissingUse<'a>) {
        let Some(text) = self.displayed_tag(node) else { return };
        let at = usage.placement.apply((0.0, 0.0));
        let lines = crate::svg::labels::bubble_lines(&text);
        let is_inline = self.symbols.symbols[node].placement == Placement::Inline;
        if let (true, 2, Some(radius)) = (is_inline, lines.len(), leader_distance(picture, at)) {
            let ink = self.palette.css([0; 3]);
            let [x, y, r] = [at.0, at.1, radius].map(number);
            self.write_fmt(format_args!(
                "<circle cx=\"{x}\" cy=\"{y}\" r=\"{r}\" fill=\"none\" stroke=\"{ink}\" stroke-width=\".25\"/>"
            ));
            return self.bubble_text(&lines, at, radius);
        }
        self.own_text(&text, at, upright(direction(usage)), TAG_HEIGHT, "middle");
    }

    /// Writes the lines of a tag into a bubble.
    fn bubble_text(&mut self, lines: &[&str], (x, y): Point, radius: f64) {
        for (row, line) in lines.iter().enumerate() {
            let shift = (row as f64 - (lines.len() - 1) as f64 / 2.0) * radius * 0.75;
            let letters = line.chars().count().max(1) as f64;
            let height = (radius * 3.0 / letters).min(radius * 0.6);
            self.own_text(line, (x, y + shift), 0.0, height, "middle");
        }
    }

    /// Returns the displayed name or the tag of a node; `None` if it has only a generated name.
    fn displayed_tag(&self, node: usize) -> Option<String> {
        let node = &self.symbols.model.nodes[node];
        let displayed = DISPLAY_NAMES.iter().map(|name| attribute(node.fields, name));
        if let Some(displayed) = displayed.map(|name| name.trim().to_owned()).find(|name| !name.is_empty()) {
            return Some(displayed);
        }
        let other_sheet = node.fields.get("cross_page").and_then(Value::as_object);
        let other_sheet = other_sheet.map(|link| text(link, "drawing_name")).filter(|name| !name.is_empty());
        let title = node.tag().or(other_sheet).map_or_else(|| node.title(), str::to_owned);
        (!title.is_empty() && (title != node.name || node.tag() == Some(&title))).then_some(title)
    }

    fn own_text(&mut self, text: &str, at: Point, angle: f64, height: f64, anchor: &str) {
        let ink = self.palette.css([0; 3]);
        let [x, y, angle, dy, size] = [at.0, at.1, angle, height * 0.36, height].map(number);
        self.write_fmt(format_args!(
            "<text transform=\"translate({x} {y}) rotate({angle})\" y=\"{dy}\" font-size=\"{size}\" \
             font-family=\"Arial,Helvetica,sans-serif\" text-anchor=\"{anchor}\" fill=\"{ink}\">{}</text>",
            escape(text)
        ));
    }

    /// Draws the symbol of a node, with its tag if the file draws no text.
    fn symbol(&mut self, picture: &Picture<'a>, node: usize, usage: &MissingUse<'a>) {
        let Some(fitted) = self.fit(picture, node, usage) else { return };
        let Fitted { symbol, center, half, angle, flip } = fitted;
        let (body, scale) = match symbol.body {
            Body::Stretched(draw) => (draw(half.0 / SCALE, half.1 / SCALE), (SCALE, SCALE)),
            Body::Fixed(body) => (body.to_owned(), (half.0 / symbol.half.0, half.1 / symbol.half.1)),
        };
        let [x, y, turn, sx, sy] = [center.0, center.1, angle, scale.0 * flip.0, scale.1 * flip.1].map(number);
        self.write_fmt(format_args!("<g transform=\"translate({x} {y}) rotate({turn}) scale({sx} {sy})\">{body}</g>"));
        let has_text = picture.drawn.iter().any(|drawn| matches!(drawn.outline, Outline::Text(_)));
        let has_label = picture.missing.iter().any(|usage| usage.role == "label");
        if !has_text && !has_label {
            self.tag_of(node, &Fitted { symbol, center, half, angle, flip });
        }
    }

    /// Writes the tag of a node inside or next to its symbol.
    fn tag_of(&mut self, node: usize, fitted: &Fitted) {
        let Some(text) = self.displayed_tag(node) else { return };
        let (x, y) = fitted.center;
        match (fitted.symbol.placement, fitted.symbol.name) {
            (_, "actuator" | "nozzle" | "tee" | "flange" | "property_break" | "other" | "open_end" | "part") => {}
            (Placement::Bubble, _) => {
                self.bubble_text(&crate::svg::labels::bubble_lines(&text), fitted.center, fitted.half.0);
            }
            (Placement::Inline, _) => {
                let angle = upright(fitted.angle);
                let (sin, cos) = angle.to_radians().sin_cos();
                let distance = fitted.half.1 + SMALL_HEIGHT;
                self.own_text(&text, (x + sin * distance, y - cos * distance), angle, SMALL_HEIGHT, "middle");
            }
            (Placement::Connector, _) => self.own_text(&text, (x, y), upright(fitted.angle), SMALL_HEIGHT, "middle"),
            (Placement::Upright, _) => {
                self.own_text(&text, (x, y + fitted.half.1 + TAG_HEIGHT), 0.0, TAG_HEIGHT, "middle");
            }
        }
    }

    /// Fits the symbol of a node to its position, its connection points and its nozzles.
    fn fit(&self, picture: &Picture<'a>, node: usize, usage: &MissingUse<'a>) -> Option<Fitted> {
        let symbol = *self.symbols.symbols.get(node)?;
        let at = usage.placement.apply((0.0, 0.0));
        let own_half = (symbol.half.0 * SCALE, symbol.half.1 * SCALE);
        let placed = Fitted { symbol, center: at, half: own_half, angle: direction(usage), flip: (1.0, 1.0) };
        let ports = self.ports(picture, node);
        Some(match (symbol.placement, symbol.name) {
            (_, "nozzle") => between(placed, at, ports.first().copied()),
            (_, "actuator") => lifted(placed, usage),
            (Placement::Inline, _) => {
                let symbol = if self.has_actuator(node) { without_actuator(symbol) } else { symbol };
                let placed = Fitted { symbol, ..placed };
                let start = ports.first().copied().unwrap_or(at);
                upside_up(between(placed, start, ports.get(1).copied()), usage)
            }
            (Placement::Bubble, _) => {
                let distance = |port: &Point| (port.0 - at.0).hypot(port.1 - at.1);
                let radius = ports.iter().map(distance).fold(0.0, f64::max);
                let radius = if BUBBLES.contains(&radius) { radius } else { own_half.0 };
                Fitted { half: (radius, radius), angle: 0.0, ..placed }
            }
            (Placement::Connector, _) => {
                let distance = |port: &Point| (port.0 - at.0).hypot(port.1 - at.1);
                let length = ports.iter().map(distance).fold(0.0, f64::max);
                let half = if CONNECTORS.contains(&length) { (length, own_half.1) } else { own_half };
                upside_up(Fitted { half, ..placed }, usage)
            }
            (Placement::Upright, _) => {
                let half =
                    self.nozzle_half(picture, node, at).map_or(own_half, |half| proportioned(symbol, own_half, half));
                let (x, _) = usage.placement.vector((1.0, 0.0));
                Fitted { half, angle: 0.0, flip: (if x < -1e-9 { -1.0 } else { 1.0 }, 1.0), ..placed }
            }
        })
    }

    /// Returns the distinct connection points of a node.
    fn ports(&self, picture: &Picture<'a>, node: usize) -> Vec<Point> {
        let transform = self.source.transform(picture.sheet);
        let ports = self.symbols.model.nodes[node].fields.get("ports").and_then(Value::as_array);
        let ports = ports.into_iter().flat_map(|ports| ports.iter()).filter_map(Value::as_object);
        let number = |value: Option<Value<'_>>| value.and_then(Value::as_f64).filter(|number| number.abs() < 1e9);
        let mut points: Vec<Point> =
            ports.filter_map(|port| Some(transform.apply((number(port.get("x"))?, number(port.get("y"))?)))).collect();
        points.dedup_by(|a, b| (a.0 - b.0).hypot(a.1 - b.1) < 0.1);
        points
    }

    /// Returns true if an actuator is drawn for a valve.
    fn has_actuator(&self, node: usize) -> bool {
        matches!(self.symbols.model.nodes[node].fields.get("actuated"), Some(Value::Bool(true)))
    }

    /// Returns the distances from the center of equipment to its outermost nozzles.
    fn nozzle_half(&self, picture: &Picture<'a>, node: usize, at: Point) -> Option<Point> {
        let transform = self.source.transform(picture.sheet);
        let mut half = (0.0_f64, 0.0_f64);
        for part in &self.symbols.parts[node] {
            let graphics = self.symbols.model.nodes[*part].fields.get("graphics").and_then(Value::as_array);
            let places = graphics.into_iter().flat_map(|list| list.iter()).filter_map(Value::as_object);
            for (x, y) in places.filter_map(|element| pair(element, "at")).map(|point| transform.apply(point)) {
                half = (half.0.max((x - at.0).abs()), half.1.max((y - at.1).abs()));
            }
        }
        (half.0.max(half.1) > 1.0).then_some(half)
    }
}

/// Returns the distance from the center of a label to its leader, if there is one: the radius of its bubble.
fn leader_distance(picture: &Picture<'_>, at: Point) -> Option<f64> {
    let steps = picture.drawn.iter().flat_map(|drawn| match &drawn.outline {
        Outline::Path(steps) => steps.as_slice(),
        _ => &[],
    });
    let distances = steps.filter_map(|step| match *step {
        Step::Move(to) | Step::Line(to) => Some((to.0 - at.0).hypot(to.1 - at.1)),
        Step::Cubic(..) | Step::Close => None,
    });
    distances.reduce(f64::min).filter(|distance| BUBBLES.contains(distance))
}

/// Returns the clockwise angle of the x axis of a shape on the sheet.
fn direction(usage: &MissingUse<'_>) -> f64 {
    let (x, y) = usage.placement.vector((1.0, 0.0));
    let degrees = y.atan2(x).to_degrees();
    if degrees == -180.0 { 180.0 } else { degrees }
}

/// Returns the angle at which a text along a line can be read from below or from the right.
fn upright(angle: f64) -> f64 {
    let angle = angle.rem_euclid(360.0);
    match angle {
        angle if angle <= 89.0 => angle,
        angle if angle < 270.0 - 1.0 => angle - 180.0,
        angle => angle - 360.0,
    }
}

/// Stretches a symbol between two points.
fn between(placed: Fitted, start: Point, end: Option<Point>) -> Fitted {
    let Some(end) = end.filter(|end| (end.0 - start.0).hypot(end.1 - start.1) > 0.5) else { return placed };
    let (dx, dy) = (end.0 - start.0, end.1 - start.1);
    let half = dx.hypot(dy) / 2.0;
    let scale = half / placed.symbol.half.0;
    let center = ((start.0 + end.0) / 2.0, (start.1 + end.1) / 2.0);
    let height = (placed.symbol.half.1 * scale).clamp(1.2, placed.half.1 * 1.5);
    Fitted { center, half: (half, height), angle: dy.atan2(dx).to_degrees(), ..placed }
}

/// Turns a symbol so that its upper side is that of the shape.
fn upside_up(placed: Fitted, usage: &MissingUse<'_>) -> Fitted {
    let (up_x, up_y) = usage.up();
    let (sin, cos) = placed.angle.to_radians().sin_cos();
    let is_up = sin * up_x - cos * up_y >= -1e-9;
    Fitted { flip: (1.0, if is_up { 1.0 } else { -1.0 }), ..placed }
}

/// Puts an actuator onto its valve, which is at the origin of its shape.
fn lifted(placed: Fitted, usage: &MissingUse<'_>) -> Fitted {
    let placed = upside_up(placed, usage);
    let (up_x, up_y) = usage.up();
    let length = up_x.hypot(up_y).max(1e-9);
    let distance = 12.0 * SCALE;
    let center = (placed.center.0 + up_x / length * distance, placed.center.1 + up_y / length * distance);
    Fitted { center, ..placed }
}

/// Returns the half size of equipment with nozzles on all or only some of its sides.
fn proportioned(symbol: &Symbol, own: Point, nozzles: Point) -> Point {
    if symbol.shape == Shape::Circle && matches!(symbol.body, Body::Fixed(_)) {
        let radius = nozzles.0.max(nozzles.1);
        return (radius, radius);
    }
    // A side without nozzles has the proportions of the symbol.
    let ratio = own.1 / own.0;
    let width = if nozzles.0 > 1.0 { nozzles.0 } else { nozzles.1 / ratio };
    let height = if nozzles.1 > 1.0 { nozzles.1 } else { nozzles.0 * ratio };
    (width, height)
}
