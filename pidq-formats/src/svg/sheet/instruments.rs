//! Instruments and actuators in the place of shapes that are not in the file: bubbles with their system, trips, boxes of
//! other functions, and actuators that reach to their signals.

use pidq_core::{Value, vocabulary};

use crate::model::Node;
use crate::svg::labels::bubble_lines;
use crate::svg::scene::Point;
use crate::svg::symbol_marks::{self, attribute};
use crate::symbols::Placement;

use super::members::point;
use super::outline::MissingUse;
use super::substitute::{DISPLAY_NAMES, with_stroke};
use super::{Picture, SheetWriter, number};

/// Codes of functions and actuators by their names in DEXPI 2.0.
const CODES: &[(&str, &str)] =
    &[("MotorControlCenter", "MCC"), ("ProcessShutdown", "PSD"), ("EmergencyShutdown", "ESD"), ("UnitShutdown", "USD")];
/// Half width of a trip, height of its box, and distance from the box to its tip without a connection point.
const TRIP: [f64; 3] = [6.0, 4.0, 14.0];
/// Half size of the box of a function without a tag.
const BOX: Point = (5.0, 2.0);
/// Smallest and largest distance from an item to its connection point.
const REACH: std::ops::RangeInclusive<f64> = 3.0..=25.0;
/// Radius of a motor, and of the diaphragm of an actuator.
const MOTOR: f64 = 3.0;
const DIAPHRAGM: f64 = 2.8;
/// Distance from a valve to the end of its actuator without a connection point.
const ACTUATOR_LENGTH: f64 = 9.0;
/// Height of texts in symbols of instruments.
const HEIGHT: f64 = 3.3;
/// Largest number of nodes among which the neighbor of a trip is searched.
const MAX_NODES: usize = 2_000;

impl<'a> SheetWriter<'_, '_, 'a> {
    /// Draws an instrument, if it is no plain bubble: a trip, or a function without a tag.
    ///
    /// Returns false if it is drawn as a bubble.
    pub fn function(&mut self, picture: &Picture<'a>, node: usize, usage: &MissingUse<'a>) -> bool {
        let item = &self.symbols.model.nodes[node];
        let code = code(item);
        let tag = item.tag().unwrap_or_default();
        let is_trip = |text: &str| text.split(|c: char| !c.is_alphabetic()).any(is_shutdown_code);
        if is_trip(&code) || code.is_empty() && is_trip(tag) {
            self.trip(picture, node, usage, &code);
            return true;
        }
        if !code.is_empty() && tag.is_empty() {
            self.code_box(picture, node, usage, &code);
            return true;
        }
        false
    }

    /// Draws a trip: a box with its name, and a triangle with its code that points to the signal.
    fn trip(&mut self, picture: &Picture<'a>, node: usize, usage: &MissingUse<'a>, code: &str) {
        let at = usage.placement.apply((0.0, 0.0));
        let [width, height, length] = TRIP;
        let port = self.ports(picture, node).into_iter().find(|port| REACH.contains(&distance(*port, at)));
        let tip = port.map(|port| port.1 - at.1).filter(|tip| tip.abs() > height);
        let side = || if self.has_neighbor_below(picture, node, at) { -1.0 } else { 1.0 };
        let name = self.display_name(node);
        let style = self.outline_style();
        // Without a code it is a further name of a trip next to it.
        let name_y = if code.is_empty() {
            let [x, y, w, h] = [at.0 - width, at.1 - height / 2.0, 2.0 * width, height].map(number);
            self.write_fmt(format_args!("<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\"{style}/>"));
            at.1
        } else {
            let tip = tip.unwrap_or_else(|| length * side());
            let base = height * tip.signum();
            let [x, y, w, base_y, tip_y] = [at.0, at.1, width, base, tip].map(number);
            self.write_fmt(format_args!(
                "<path transform=\"translate({x} {y})\" d=\"M-{w} 0H{w}V{base_y}H-{w}ZM-{w} {base_y}L0 {tip_y}L{w} {base_y}\"{style}/>"
            ));
            self.own_text(code, (at.0, at.1 + base * 1.6), 0.0, HEIGHT, "middle");
            at.1 + base / 2.0
        };
        if let Some(name) = name {
            let letters = name.chars().count() as f64;
            self.own_text(&name, (at.0, name_y), 0.0, (width * 3.6 / letters).min(HEIGHT), "middle");
        }
        let tag = self.symbols.model.nodes[node].tag().unwrap_or_default();
        let prefix = tag.split(|c: char| !c.is_alphabetic()).next().filter(|prefix| !is_shutdown_code(prefix));
        if let Some(prefix) = prefix.filter(|prefix| !prefix.is_empty()) {
            self.own_text(prefix, (at.0 - width - 0.7, name_y), 0.0, HEIGHT, "end");
        }
    }

    /// Returns true if the nearest item within reach is below: then a trip points up, away from it.
    fn has_neighbor_below(&self, picture: &Picture<'a>, node: usize, at: Point) -> bool {
        let nodes = &self.symbols.model.nodes;
        if nodes.len() > MAX_NODES {
            return false;
        }
        let others = (0..nodes.len()).filter(|other| *other != node);
        let bubbles = others.filter(|other| self.symbols.symbols[*other].placement == Placement::Bubble);
        let places = bubbles.filter_map(|other| self.place(picture, other));
        // Trips at the same bubble are not what they belong to.
        let places =
            places.filter(|place| (place.0 - at.0).abs() < 1.0 && (5.0..=12.0).contains(&(place.1 - at.1).abs()));
        places.min_by(|a, b| distance(*a, at).total_cmp(&distance(*b, at))).is_some_and(|place| place.1 > at.1)
    }

    /// Returns the place of the first symbol of a node.
    pub fn place(&self, picture: &Picture<'a>, node: usize) -> Option<Point> {
        let graphics = self.symbols.model.nodes[node].fields.get("graphics").and_then(Value::as_array)?;
        let at = graphics.iter().filter_map(Value::as_object).find_map(|element| point(element, "at"))?;
        Some(self.source.transform(picture.sheet).apply(at))
    }

    /// Draws a function without a tag as a box with its code, between its connection points.
    fn code_box(&mut self, picture: &Picture<'a>, node: usize, usage: &MissingUse<'a>, code: &str) {
        let at = usage.placement.apply((0.0, 0.0));
        let near = self.ports(picture, node).into_iter().filter(|port| distance(*port, at) < *REACH.end());
        let reach = near.fold((0.0_f64, 0.0_f64), |reach, port| {
            (reach.0.max((port.0 - at.0).abs()), reach.1.max((port.1 - at.1).abs()))
        });
        let half = |reach: f64, least: f64| if reach > 1.0 { reach } else { least };
        let (w, h) = (half(reach.0, BOX.0), half(reach.1, BOX.1));
        let style = self.outline_style();
        let [x, y, width, height] = [at.0 - w, at.1 - h, 2.0 * w, 2.0 * h].map(number);
        self.write_fmt(format_args!("<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"{style}/>"));
        let letters = code.chars().count() as f64;
        self.own_text(code, at, 0.0, (w * 3.2 / letters).min(HEIGHT), "middle");
    }

    /// Draws the lines of a bubble of an instrument, as ISA-5.1: the frame of its system, and the line of its location.
    pub fn bubble(&mut self, node: usize, (x, y): Point, radius: f64) {
        let item = &self.symbols.model.nodes[node];
        let style = self.outline_style();
        let [cx, cy, r] = [x, y, radius].map(number);
        match symbol_marks::frame(item) {
            Some(frame) => {
                let scale = number(radius / 16.0);
                let frame = with_stroke(frame, 0.3 * 16.0 / radius);
                self.write_fmt(format_args!("<g transform=\"translate({cx} {cy}) scale({scale})\">{frame}</g>"));
            }
            None => self.write_fmt(format_args!("<circle cx=\"{cx}\" cy=\"{cy}\" r=\"{r}\"{style}/>")),
        }
        if let Some(line) = symbol_marks::location_line(item) {
            let dash = if line.is_dashed { " stroke-dasharray=\"1.5 1\"" } else { "" };
            let path = line.path(radius);
            self.write_fmt(format_args!("<path transform=\"translate({cx} {cy})\" d=\"{path}\"{style}{dash}/>"));
        }
    }

    /// Writes the tag of an instrument into its bubble, and the letters of the unit next to it.
    pub fn bubble_tag(&mut self, text: &str, at: Point, radius: f64) {
        let lines = bubble_lines(text);
        self.bubble_text(&lines, at, radius);
        let rest = lines
            .iter()
            .rev()
            .try_fold(text, |rest, line| rest.strip_suffix(line).map(|rest| rest.trim_end_matches(['-', ' ', '_'])));
        if let Some(prefix) = rest.filter(|prefix| !prefix.is_empty()) {
            let place = (at.0 - radius * 1.1, at.1 - radius * 0.8);
            self.own_text(prefix, place, 0.0, (radius * 0.55).min(HEIGHT), "end");
        }
    }

    /// Draws an actuator from its valve to its signal: a motor if its code says so, a diaphragm otherwise.
    pub fn actuator(&mut self, picture: &Picture<'a>, node: usize, usage: &MissingUse<'a>) {
        let item = &self.symbols.model.nodes[node];
        let at = usage.placement.apply((0.0, 0.0));
        let (up, port) = (usage.up(), self.ports(picture, node).into_iter().next());
        let port = port.filter(|port| REACH.contains(&distance(*port, at)));
        let (dx, dy) = port.map_or(up, |port| (port.0 - at.0, port.1 - at.1));
        let length = dx.hypot(dy).max(1e-9);
        let (dx, dy) = (dx / length, dy / length);
        let length = if port.is_some() { length } else { ACTUATOR_LENGTH };
        let code = code(item);
        let fail = item.first_text("fail_action").map(str::to_owned);
        let fail = fail.unwrap_or_else(|| attribute(item, "FailAction"));
        let style = self.outline_style();
        let angle = number(dy.atan2(dx).to_degrees() + 90.0);
        let [x, y] = [at.0, at.1].map(number);
        if code.is_empty() {
            let [stem, r] = [length - DIAPHRAGM, DIAPHRAGM].map(number);
            self.write_fmt(format_args!(
                "<path transform=\"translate({x} {y}) rotate({angle})\" d=\"M0 0V-{stem}M-{r} -{stem}A{r} {r} 0 0 1 {r} -{stem}Z\"{style}/>"
            ));
        } else {
            let [stem, center, r] = [length - 2.0 * MOTOR, length - MOTOR, MOTOR].map(number);
            self.write_fmt(format_args!(
                "<g transform=\"translate({x} {y}) rotate({angle})\"><path d=\"M0 0V-{stem}\"{style}/><circle cy=\"-{center}\" r=\"{r}\"{style}/></g>"
            ));
            let place = (at.0 + dx * (length - MOTOR), at.1 + dy * (length - MOTOR));
            let letters = code.chars().count() as f64;
            self.own_text(&code, place, 0.0, (MOTOR * 3.2 / letters).min(HEIGHT), "middle");
        }
        if let Some(mark) = pidq_core::fail_mark(&fail) {
            let place = (at.0 + dx * 5.4 - dy.abs() * 2.0, at.1 + dy * 5.4 - dx.abs() * 2.5);
            self.own_text(mark, place, 0.0, HEIGHT, if dy.abs() > 0.5 { "end" } else { "middle" });
        }
    }

    /// Returns the name under which an item is shown, if it differs from its tag.
    fn display_name(&self, node: usize) -> Option<String> {
        let item = &self.symbols.model.nodes[node];
        let names = DISPLAY_NAMES.iter().map(|name| attribute(item, name));
        names.into_iter().find(|name| !name.is_empty())
    }

    /// Returns the style of thin lines of symbols, filled with paper so that pipes end at them.
    pub fn outline_style(&self) -> String {
        let (paper, ink) = self.options.style.paper_and_ink();
        format!(" fill=\"{paper}\" stroke=\"{ink}\" stroke-width=\".3\" stroke-linejoin=\"round\"")
    }
}

/// Returns whether a code is that of a shutdown system, whose functions are triangles.
fn is_shutdown_code(code: &str) -> bool {
    vocabulary::SHUTDOWN_CODES.iter().any(|(known, _)| *known == code)
}

/// Returns the code of a function or an actuator: as stated, or the capitals of its name.
fn code(node: &Node<'_>) -> String {
    let stated = attribute(node, "TypeCode");
    if let Some((_, code)) = CODES.iter().find(|(name, _)| *name == stated) {
        return (*code).to_owned();
    }
    let is_name = stated.chars().any(char::is_lowercase);
    if is_name { stated.chars().filter(|c| c.is_uppercase()).collect() } else { stated }
}

fn distance(a: Point, b: Point) -> f64 {
    (a.0 - b.0).hypot(a.1 - b.1)
}
