//! Symbols in the place of shapes that are not in the file: at the position given, between the connection points.

use pidq_core::Value;

use crate::svg::scene::Point;
use crate::svg::symbol_marks::{attribute as stated, body_of, listed_attribute};
use crate::symbols::{self, Body, Placement, Shape, Symbol, without_actuator};
use crate::xml::escape;

use super::members::{point as pair, text};
use super::outline::{MissingUse, Outline, Step, attribute};
use super::{Bounds, Item, Picture, SheetWriter, number};

/// Millimeters per pixel of a symbol.
const SCALE: f64 = 1.0 / 3.0;
/// Heights of texts, in millimeters.
const TAG_HEIGHT: f64 = 3.3;
const SMALL_HEIGHT: f64 = 2.5;
/// Width of lines of symbols.
const STROKE: f64 = 0.33;
/// Smallest and largest half length of an off-page connector, in millimeters.
const CONNECTORS: std::ops::RangeInclusive<f64> = 5.0..=40.0;
/// Smallest and largest radius of a bubble, in millimeters.
const BUBBLES: std::ops::RangeInclusive<f64> = 2.0..=10.0;
/// Attributes with the name under which an item is shown.
pub const DISPLAY_NAMES: &[&str] = &["ObjectDisplayNameAssignmentClass", "ObjectDisplayName"];
/// Distance from the center of the letters of a label down to the center of its line, as files place texts, in units of its
/// height.
const LABEL_SHIFT: f64 = 0.14;
/// Distance from an elevation down to its leader.
const ELEVATION_GAP: f64 = 1.0;
/// Distance from a nozzle to the end of the side of the equipment that it is on, in millimeters.
const NOZZLE_MARGIN: f64 = 4.0;
/// Length of a nozzle without a connection point, in millimeters.
const NOZZLE_LENGTH: f64 = 4.0;
/// Symbols in a pipe that keep their proportions.
const ROUND: &[&str] =
    &["rotameter", "coriolis_meter", "spectacle_blind", "steam_trap", "strainer", "ball_valve", "globe_valve"];
/// Equipment with space for its tag inside.
const HOLLOW: &[&str] = &["vessel", "tank", "drum", "standing_drum", "reactor", "column", "equipment"];

/// Vessels with dished heads at the top and at the bottom.
const DISHED: &[&str] = &["vessel", "standing_drum", "reactor", "column"];

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
            (_, "pipe_slope_symbol") => self.mark_along(usage, "M0 0H-12L0 -2.9Z", false),
            (_, "insulation_symbol") => self.mark_along(usage, "M-2 -1.5V1.5M0 -1.5V1.5M2 -1.5V1.5", false),
            (Item::Node(node), "") if self.symbols.symbols[node].name == "nozzle" => self.nozzle(picture, node, usage),
            (Item::Node(node), "") => match self.symbols.symbols[node].name {
                "actuator" => self.actuator(picture, node, usage),
                "instrument" if self.function(picture, node, usage) => {}
                "property_break" if self.property_break(node, usage) => {}
                _ => self.symbol(picture, node, usage),
            },
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

    /// Draws a property break with its values on both sides; false if the item does not state them.
    fn property_break(&mut self, node: usize, usage: &MissingUse<'a>) -> bool {
        let item = &self.symbols.model.nodes[node];
        let [before, after] = ["BreakValue1", "BreakValue2"].map(|name| stated(item, name));
        if before.is_empty() || after.is_empty() {
            return false;
        }
        let (x, y) = usage.placement.apply((0.0, 0.0));
        let style = self.outline_style();
        let ink = self.palette.ink_css();
        let [left, top] = [x, y].map(number);
        self.write_fmt(format_args!(
            "<g transform=\"translate({left} {top})\"><path d=\"M0 0V-12M-8 -10H8\"{style}/>\
             <path d=\"M0 -10L-2 -10.9V-9.1ZM0 -10L2 -10.9V-9.1Z\" fill=\"{ink}\"/></g>"
        ));
        self.own_text(&before, (x - 2.0, y - 12.7), 0.0, TAG_HEIGHT, "end");
        self.own_text(&after, (x + 2.0, y - 12.7), 0.0, TAG_HEIGHT, "start");
        true
    }

    /// Draws a nozzle: a line from the equipment to the connection point, with its flange unless the pipe has one.
    fn nozzle(&mut self, picture: &Picture<'a>, node: usize, usage: &MissingUse<'a>) {
        let ink = self.palette.ink_css();
        let start = usage.placement.apply((0.0, 0.0));
        let end = self.ports(picture, node).first().copied().unwrap_or(start);
        let start = self.outside_circle(picture, node, start, end);
        let start = self.on_head(picture, node, start, end);
        let length = (end.0 - start.0).hypot(end.1 - start.1);
        // One without a connection point, such as a manhole, has its size.
        let has_length = length > 0.1;
        let length = if has_length { length } else { NOZZLE_LENGTH };
        let angle = if has_length { (end.1 - start.1).atan2(end.0 - start.0).to_degrees() } else { direction(usage) };
        let [x, y, angle, end, gap] = [start.0, start.1, angle, length, (length - 0.8).max(0.0)].map(number);
        let path = match self.flanged.contains(&node) {
            true => format!("M0 0H{end}"),
            false => format!("M0 0H{gap}M{gap} -1.6V1.6M{end} -1.6V1.6"),
        };
        self.write_fmt(format_args!(
            "<path transform=\"translate({x} {y}) rotate({angle})\" d=\"{path}\" fill=\"none\" stroke=\"{ink}\" \
             stroke-width=\".25\"/>"
        ));
    }

    /// Returns the start of a nozzle, which some systems place in the center of a pump, on the circle of the pump.
    fn outside_circle(&self, picture: &Picture<'a>, nozzle: usize, start: Point, end: Point) -> Point {
        let on_circle = || {
            let owner = self.symbols.visibility.owner[nozzle]?;
            let symbol = self.symbols.symbols[owner];
            let is_circle = symbol.shape == Shape::Circle && matches!(symbol.body, Body::Fixed(_));
            let center = self.place(picture, owner).filter(|_| is_circle)?;
            let radius = self.nozzle_half(picture, owner, center)?;
            let radius = radius.0.max(radius.1);
            // The larger solution of |start + t · (end - start) - center| = radius.
            let (dx, dy) = (end.0 - start.0, end.1 - start.1);
            let (x, y) = (start.0 - center.0, start.1 - center.1);
            let (a, b, c) = (dx * dx + dy * dy, x * dx + y * dy, x * x + y * y - radius * radius);
            let root = (b * b - a * c).sqrt();
            let share = (root - b) / a;
            (c < 0.0 && share > 0.0 && share < 1.0).then_some((start.0 + share * dx, start.1 + share * dy))
        };
        on_circle().unwrap_or(start)
    }

    /// Returns the start of a nozzle beside the middle of a dished head: on the head, which is lower there than its top.
    fn on_head(&self, picture: &Picture<'a>, nozzle: usize, start: Point, end: Point) -> Point {
        let on_head = || {
            let owner = self.symbols.visibility.owner[nozzle]?;
            let symbol = self.symbols.symbols[owner];
            let center = self.place(picture, owner)?;
            let half = self.upright_half(picture, owner, symbol, center);
            let (x, y) = (start.0 - center.0, start.1 - center.1);
            let (dx, dy) = ((end.0 - start.0).abs(), (end.1 - start.1).abs());
            // Both heads are half ellipses whose depth is at most half of the radius of the vessel.
            let drop = |offset: f64, radius: f64, depth: f64| {
                let head = (radius / 2.0).min(depth / 2.0);
                head * (1.0 - (1.0 - (offset / radius).powi(2)).max(0.0).sqrt())
            };
            match symbol.name {
                name if DISHED.contains(&name) && dy > dx && y.abs() >= half.1 - 0.1 => {
                    Some((start.0, start.1 - y.signum() * drop(x, half.0, half.1)))
                }
                "drum" if dx > dy && x.abs() >= half.0 - 0.1 => {
                    Some((start.0 - x.signum() * drop(y, half.1, half.0), start.1))
                }
                _ => None,
            }
        };
        on_head().unwrap_or(start)
    }

    /// Draws a mark at a place, along the x axis of its shape.
    fn mark_along(&mut self, usage: &MissingUse<'a>, path: &str, is_filled: bool) {
        let ink = self.palette.ink_css();
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
        let placement = self.symbols.symbols[node].placement;
        let is_inline = placement == Placement::Inline;
        if placement == Placement::Upright && usage.role == "label" {
            // The tag of equipment is at its symbol. What else a label of it shows is in its shape, but for an elevation.
            let elevation = stated(&self.symbols.model.nodes[node], "Elevation");
            if !elevation.is_empty() {
                let (at, anchor) = on_leader(picture, at);
                self.own_text(&format!("EL: {elevation}"), at, 0.0, TAG_HEIGHT, anchor);
            }
            return;
        }
        if let (true, 2, Some(radius)) = (is_inline, lines.len(), leader_distance(picture, at)) {
            let ink = self.palette.ink_css();
            let [x, y, r] = [at.0, at.1, radius].map(number);
            self.write_fmt(format_args!(
                "<circle cx=\"{x}\" cy=\"{y}\" r=\"{r}\" fill=\"none\" stroke=\"{ink}\" stroke-width=\".25\"/>"
            ));
            self.bubble_tag(&text, at, radius);
            // The kind of its loop, by which its details are found.
            let typical = stated(&self.symbols.model.nodes[node], "TypicalReference");
            return self.own_text(&typical, (at.0, at.1 + radius + 0.95 * TAG_HEIGHT), 0.0, TAG_HEIGHT, "middle");
        }
        let angle = upright(direction(usage));
        let (sin, cos) = angle.to_radians().sin_cos();
        let shift = LABEL_SHIFT * TAG_HEIGHT;
        self.own_text(&text, (at.0 - sin * shift, at.1 + cos * shift), angle, TAG_HEIGHT, "middle");
    }

    /// Writes the lines of a tag into a bubble.
    pub fn bubble_text(&mut self, lines: &[&str], (x, y): Point, radius: f64) {
        for (row, line) in lines.iter().enumerate() {
            let shift = (row as f64 - (lines.len() - 1) as f64 / 2.0) * radius * 0.8;
            let letters = line.chars().count().max(1) as f64;
            let height = (radius * 3.0 / letters).min(radius * 0.55);
            self.own_text(line, (x, y + shift), 0.0, height, "middle");
        }
    }

    /// Returns the displayed name or the tag of a node; `None` if it has only a generated name.
    fn displayed_tag(&self, index: usize) -> Option<String> {
        let node = &self.symbols.model.nodes[index];
        let displayed = DISPLAY_NAMES.iter().map(|name| attribute(node.fields, name));
        if let Some(displayed) = displayed.map(|name| name.trim().to_owned()).find(|name| !name.is_empty()) {
            return Some(displayed);
        }
        let other_sheet = node.fields.get("cross_page").and_then(Value::as_object);
        let other_sheet = other_sheet.map(|link| text(link, "drawing_name")).filter(|name| !name.is_empty());
        let is_connector = self.symbols.symbols[index].placement == Placement::Connector;
        let other_sheet_first = other_sheet.filter(|_| is_connector);
        let title = other_sheet_first.or(node.tag()).or(other_sheet).map_or_else(|| node.title(), str::to_owned);
        (!title.is_empty() && (title != node.name || node.tag() == Some(&title))).then_some(title)
    }

    pub fn own_text(&mut self, text: &str, at: Point, angle: f64, height: f64, anchor: &str) {
        if text.is_empty() {
            return;
        }
        let ink = self.palette.ink_css();
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
        if symbol.placement == Placement::Bubble {
            self.bubble(node, center, half.0);
            return self.tag_unless_written(picture, node, &fitted);
        }
        let (body, scale) = match symbol.body {
            Body::Stretched(draw) => (draw(half.0 / SCALE, half.1 / SCALE), (SCALE, SCALE)),
            Body::Fixed(body) => {
                let scale = (half.0 / symbol.half.0, half.1 / symbol.half.1);
                let body = body_of(&self.symbols.model.nodes[node], symbol, body);
                (with_stroke(&body, STROKE / (scale.0 * scale.1).sqrt().max(1e-6)), scale)
            }
        };
        let mirror = if self.widening.contains(&node) { -1.0 } else { 1.0 };
        let [x, y, turn, sx, sy] = [center.0, center.1, angle, scale.0 * flip.0 * mirror, scale.1 * flip.1].map(number);
        self.write_fmt(format_args!("<g transform=\"translate({x} {y}) rotate({turn}) scale({sx} {sy})\">{body}</g>"));
        self.tag_unless_written(picture, node, &fitted);
    }

    /// Writes the tag of a node, unless the file draws a text for it.
    fn tag_unless_written(&mut self, picture: &Picture<'a>, node: usize, fitted: &Fitted) {
        let is_equipment = fitted.symbol.placement == Placement::Upright;
        let displayed = self.displayed_tag(node);
        let has_text = picture.drawn.iter().any(|drawn| match &drawn.outline {
            // A note at equipment is not its tag.
            Outline::Text(text) => !is_equipment || text.lines.iter().any(|line| displayed.as_deref() == Some(line)),
            _ => false,
        });
        let has_label = !is_equipment && picture.missing.iter().any(|usage| usage.role == "label");
        if !has_text && !has_label {
            self.tag_of(picture, node, fitted);
        } else if has_label && !has_text && fitted.symbol.placement == Placement::Inline {
            let size = self.sizes(node);
            self.inline_texts(&[size], fitted);
        }
    }

    /// Writes texts along a pipe, below a symbol in it or to its right, where actuators and leaders are rare.
    fn inline_texts(&mut self, texts: &[String], fitted: &Fitted) {
        let angle = upright(fitted.angle);
        let (sin, cos) = angle.to_radians().sin_cos();
        for (row, text) in texts.iter().filter(|text| !text.is_empty()).enumerate() {
            let distance = fitted.half.1 + (1.4 + row as f64) * TAG_HEIGHT;
            let (x, y) = fitted.center;
            self.own_text(text, (x - sin * distance, y + cos * distance), angle, TAG_HEIGHT, "middle");
        }
    }

    /// Returns the stated size of an item in a pipe, or both sizes of a reducer; empty if there is none.
    fn sizes(&self, node: usize) -> String {
        let node = &self.symbols.model.nodes[node];
        let first = |names: [&str; 2]| names.iter().map(|name| stated(node, name)).find(|size| !size.is_empty());
        let inlet = first(["NominalDiameterIn", "NominalDiameterRepresentationIn"]);
        let outlet = first(["NominalDiameterOut", "NominalDiameterRepresentationOut"]);
        match (inlet, outlet) {
            (Some(inlet), Some(outlet)) => format!("{inlet}x{outlet}"),
            _ => stated(node, "NominalDiameter"),
        }
    }

    /// Writes the tag of equipment inside of it, or next to it on a side without nozzles.
    fn equipment_tag(&mut self, picture: &Picture<'a>, node: usize, fitted: &Fitted, text: &str) {
        let ((x, y), half) = (fitted.center, fitted.half);
        let width = text.chars().count() as f64 * TAG_HEIGHT * 0.6;
        if HOLLOW.contains(&fitted.symbol.name) && width < 2.0 * half.0 {
            // Notes and nozzles are in the middle and at the bottom of a vessel.
            return self.own_text(text, (x, y - 0.4 * half.1), 0.0, TAG_HEIGHT, "middle");
        }
        let nozzles: Vec<Point> =
            self.symbols.parts[node].iter().filter_map(|part| self.place(picture, *part)).collect();
        // The pipe of a nozzle at this side crosses the text.
        let is_crossed = |side: f64| {
            let is_at_side = |nozzle: &&Point| (nozzle.1 - y) * side > 0.5 * half.1;
            nozzles.iter().filter(is_at_side).any(|nozzle| (nozzle.0 - x).abs() < 0.5 * width + 1.0)
        };
        let shift = half.1 + 1.6 * TAG_HEIGHT;
        match [1.0, -1.0].into_iter().find(|side| !is_crossed(*side)) {
            Some(side) => self.own_text(text, (x, y + side * shift), 0.0, TAG_HEIGHT, "middle"),
            None => self.own_text(text, (x + half.0 + 2.0, y), 0.0, TAG_HEIGHT, "start"),
        }
    }

    /// Writes the tag of a node inside or next to its symbol.
    fn tag_of(&mut self, picture: &Picture<'a>, node: usize, fitted: &Fitted) {
        let Some(text) = self.displayed_tag(node) else {
            if fitted.symbol.name == "reducer" {
                let sizes = self.sizes(node);
                self.inline_texts(&[sizes], fitted);
            }
            return;
        };
        let (x, y) = fitted.center;
        match (fitted.symbol.placement, fitted.symbol.name) {
            (_, "actuator" | "nozzle" | "tee" | "flange" | "property_break" | "other" | "open_end" | "part") => {}
            (Placement::Bubble, _) => {
                self.bubble_tag(&text, fitted.center, fitted.half.0);
            }
            (Placement::Inline, _) => {
                let sizes = self.sizes(node);
                self.inline_texts(&[text, sizes], fitted);
            }
            (Placement::Connector, _) => {
                let letters = text.chars().count().max(1) as f64;
                let height = (fitted.half.0 * 2.6 / letters).clamp(SMALL_HEIGHT, TAG_HEIGHT);
                self.own_text(&text, (x, y), upright(fitted.angle), height, "middle");
                // Next to it is what the drawing says of the other sheet.
                let link = self.symbols.model.nodes[node].fields.get("cross_page").and_then(Value::as_object);
                let other = link.map(|link| listed_attribute(link, "ReferencedDrawingDescriptor")).unwrap_or_default();
                let above = fitted.half.1 + 0.8 * TAG_HEIGHT;
                let (sin, cos) = upright(fitted.angle).to_radians().sin_cos();
                let place = (x + sin * above, y - cos * above);
                self.own_text(&other, place, upright(fitted.angle), TAG_HEIGHT, "middle");
            }
            (Placement::Upright, _) => self.equipment_tag(picture, node, fitted, &text),
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
            (_, "safety_valve" | "angle_valve") if ports.len() == 2 => angled(placed, at, [ports[0], ports[1]]),
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
                let angle = ports.first().and_then(|port| self.connector_angle(node, at, *port));
                upside_up(Fitted { half, angle: angle.unwrap_or(placed.angle), ..placed }, usage)
            }
            (Placement::Upright, _) => {
                let half = self.upright_half(picture, node, symbol, at);
                let (x, _) = usage.placement.vector((1.0, 0.0));
                let center = if symbol.name == "electric_heater" { self.line_from_end(picture, node, at) } else { at };
                Fitted { center, half, angle: 0.0, flip: (if x < -1e-9 { -1.0 } else { 1.0 }, 1.0), ..placed }
            }
        })
    }

    /// Returns the half size of equipment: its nozzles are on its sides.
    fn upright_half(&self, picture: &Picture<'a>, node: usize, symbol: &Symbol, at: Point) -> Point {
        let own = (symbol.half.0 * SCALE, symbol.half.1 * SCALE);
        let half = self.nozzle_half(picture, node, at).map_or(own, |half| proportioned(symbol, own, half));
        let sides = self.nozzle_sides(picture, node, at);
        let is_circle = symbol.shape == Shape::Circle && matches!(symbol.body, Body::Fixed(_));
        if is_circle { half } else { (half.0.max(sides.0), half.1.max(sides.1)) }
    }

    /// Returns the center of equipment whose place is its end: a connection point for its supply is there, and its nozzles are
    /// on one side of it.
    fn line_from_end(&self, picture: &Picture<'a>, node: usize, at: Point) -> Point {
        let is_end = self.ports(picture, node).iter().any(|port| (port.0 - at.0).hypot(port.1 - at.1) < 0.5);
        let places: Vec<Point> =
            self.symbols.parts[node].iter().filter_map(|part| self.place(picture, *part)).collect();
        let mean = places.iter().map(|place| place.0 - at.0).sum::<f64>() / places.len().max(1) as f64;
        let is_one_sided = places.iter().all(|place| (place.0 - at.0) * mean > 1.0);
        if is_end && is_one_sided { (at.0 + mean, at.1) } else { at }
    }

    /// Returns the angle of an off-page connector, which points along the flow whatever its shape does; `None` if its class
    /// states no direction.
    fn connector_angle(&self, node: usize, at: Point, port: Point) -> Option<f64> {
        let class = self.symbols.model.nodes[node].class();
        let (dx, dy) = (at.0 - port.0, at.1 - port.1);
        let away = dy.atan2(dx).to_degrees();
        match dx.hypot(dy) > 0.5 {
            true if class.contains("flow_out") => Some(away),
            true if class.contains("flow_in") => Some(away + 180.0),
            _ => None,
        }
    }

    /// Returns the distinct connection points of a node.
    pub fn ports(&self, picture: &Picture<'a>, node: usize) -> Vec<Point> {
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

    /// Returns the half size that equipment has at least, since it extends beyond the nozzles on each of its sides.
    fn nozzle_sides(&self, picture: &Picture<'a>, node: usize, at: Point) -> Point {
        let mut half = (0.0_f64, 0.0_f64);
        for part in &self.symbols.parts[node] {
            let port = self.ports(picture, *part).first().copied();
            let Some((place, port)) = self.place(picture, *part).zip(port) else { continue };
            let (dx, dy) = ((place.0 - at.0).abs(), (place.1 - at.1).abs());
            if (port.0 - place.0).abs() < (port.1 - place.1).abs() {
                half.0 = half.0.max(dx + NOZZLE_MARGIN);
            } else {
                half.1 = half.1.max(dy + NOZZLE_MARGIN);
            }
        }
        half
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

/// Returns the place and the anchor of a text of a label: on its leader, if that ends at the label.
fn on_leader(picture: &Picture<'_>, at: Point) -> (Point, &'static str) {
    let is_near = |point: Point| (point.0 - at.0).hypot(point.1 - at.1) < 0.5;
    let lines = picture.drawn.iter().filter_map(|drawn| match &drawn.outline {
        Outline::Path(steps) => match steps.as_slice() {
            [Step::Move(from), Step::Line(to)] if (from.1 - to.1).abs() < 0.1 => Some((*from, *to)),
            _ => None,
        },
        _ => None,
    });
    let mut others = lines.filter_map(|(from, to)| match (is_near(from), is_near(to)) {
        (true, false) => Some(to),
        (false, true) => Some(from),
        _ => None,
    });
    let above = (at.0, at.1 - ELEVATION_GAP - 0.36 * TAG_HEIGHT);
    match others.next_back() {
        Some(other) if other.0 < at.0 => (above, "end"),
        Some(_) => (above, "start"),
        None => ((at.0, at.1 + LABEL_SHIFT * TAG_HEIGHT), "start"),
    }
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
    let height = placed.symbol.half.1 * scale;
    let height = if ROUND.contains(&placed.symbol.name) { height } else { height.clamp(1.2, placed.half.1) };
    Fitted { center, half: (half, height), angle: dy.atan2(dx).to_degrees(), ..placed }
}

/// Fits a safety valve or an angle valve to its inlet and outlet, which are at a right angle or in line.
fn angled(placed: Fitted, at: Point, [inlet, outlet]: [Point; 2]) -> Fitted {
    let (a, b) = ((at.0 - inlet.0, at.1 - inlet.1), (outlet.0 - at.0, outlet.1 - at.1));
    let length = a.0.hypot(a.1);
    let turn = (a.0 * b.1 - a.1 * b.0).atan2(a.0 * b.0 + a.1 * b.1).to_degrees();
    let symbol = symbols::with_outlet(placed.symbol, (turn / 90.0).round() as i32);
    if length < 0.5 || symbol.name == placed.symbol.name {
        return between(placed, inlet, Some(outlet));
    }
    Fitted { symbol, half: (length, length), angle: a.1.atan2(a.0).to_degrees(), ..placed }
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

/// Returns the body of a symbol with another width of its lines, in its own units. Wide lines stay wider than others.
pub fn with_stroke(body: &str, width: f64) -> String {
    let style = |width: f64, class: &str| format!("style=\"stroke-width:{}\" class=\"{class}", number(width));
    body.replace("class=\"", &style(width, "")).replace(&style(width, "w"), &style(2.5 * width, "w"))
}
