//! SVG drawing of a sheet or a selection: at the positions of the drawing, or with a layered layout if it has none.
//!
//! Deterministic: the same graph gives the same bytes. Text is escaped, sizes are limited, and nothing is loaded.

mod collision_grid;
mod labels;
mod layered_layout;
mod layers;
mod positions;
mod routes;
mod scene;
mod style;

use std::collections::BTreeSet;
use std::fmt::Write;

use pidq_core::{Object, TopologyConfig, Value};

use crate::error::{Code, Error, Result};
use crate::model::{Direction, EdgeRole, Model, text};
use crate::symbols::{Body, Placement};
use crate::xml::escape;

use labels::Label;
use scene::{NodeSymbols, PlacedSymbol, Point, Route, Scene};
pub use style::Style;

/// Limits of one drawing: nodes and edges, and bytes.
const MAX_ITEMS: usize = 50_000;
const MAX_BYTES: usize = 64 << 20;
/// Margin around the drawing.
const MARGIN: f64 = 40.0;

/// Options for drawing a graph as SVG.
#[derive(Clone, Debug, Default)]
pub struct DrawOptions {
    /// The color scheme.
    pub style: Style,
    /// The ids of highlighted nodes and edges; [`ids_in`] reads them from the result of a query.
    pub highlight: BTreeSet<String>,
    /// The ids of the nodes to draw; all if `None`.
    pub only: Option<BTreeSet<String>>,
    /// The title in the corner; the name of the drawing if `None`.
    pub title: Option<String>,
}

/// Collects the ids in a value: of a node, of a list, of anything that contains nodes. Strings are ids themselves.
pub fn ids_in(value: Value<'_>) -> BTreeSet<String> {
    ids_in_document(Value::Null, value)
}

/// [`ids_in`] for a document that may configure its id fields in `metadata.topology`.
pub fn ids_in_document(document: Value<'_>, value: Value<'_>) -> BTreeSet<String> {
    let config = TopologyConfig::from_document(document);
    let names = || config.list("node_id").iter().chain(config.list("edge_id"));
    let id_of = |object: Object<'_>| names().find_map(|name| object.get(name).filter(|id| !id.is_null()).map(text));
    let mut ids = BTreeSet::new();
    let mut stack = vec![value];
    while let Some(value) = stack.pop() {
        match value {
            Value::String(id) => drop(ids.insert(id.to_owned())),
            Value::Number(_) => drop(ids.insert(text(value))),
            Value::Array(list) => stack.extend(list.iter()),
            Value::Object(object) => match id_of(object) {
                Some(id) => drop(ids.insert(id)),
                None => stack.extend(object.iter().map(|(_, value)| value).filter(|value| is_container(*value))),
            },
            _ => {}
        }
    }
    ids
}

fn is_container(value: Value<'_>) -> bool {
    matches!(value, Value::Array(_) | Value::Object(_))
}

impl DrawOptions {
    /// Draws a graph.
    ///
    /// ```
    /// use pidq_core::Graph;
    /// use pidq_formats::DrawOptions;
    ///
    /// let graph = Graph::from_json(r#"{"nodes": [
    ///     {"id": "T-1", "tag": "T-1", "node_classification": "equipment.tank"},
    ///     {"id": "P-1", "tag": "P-1", "node_classification": "equipment.centrifugal_pump"}
    /// ], "edges": [{"from": "T-1", "to": "P-1", "edge_type": "physically_connected_to"}]}"#)?;
    /// let svg = DrawOptions::default().draw(graph.root())?;
    /// assert!(svg.starts_with("<svg ") && svg.contains("data-id=\"P-1\""));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `PQ6003` if the value is not a graph, `PQ6007` if it is too large for a sheet.
    pub fn draw(&self, value: Value<'_>) -> Result<String> {
        let mut model = Model::from_value(value)?;
        let nozzle_extents = self.only.as_ref().map(|only| {
            let nozzle_extents = positions::nozzle_extents(&NodeSymbols::new(&model));
            model.retain(only);
            nozzle_extents
        });
        if model.nodes.len() + model.edges.len() > MAX_ITEMS {
            let message = format!("the graph has more than {MAX_ITEMS} nodes and edges; draw only a part of it");
            return Err(Error::new(Code::TooLarge, message));
        }
        let symbols = NodeSymbols { nozzle_extents: nozzle_extents.unwrap_or_default(), ..NodeSymbols::new(&model) };
        let scene = if positions::has_positions(&symbols) {
            positions::scene(&symbols)
        } else {
            layered_layout::scene(&symbols)
        };
        let labels = labels::labels(&symbols, &scene);
        let svg = SvgWriter { options: self, symbols: &symbols, scene: &scene, out: String::new() }.write(&labels);
        if svg.len() > MAX_BYTES {
            return Err(Error::new(Code::TooLarge, "the drawing is too large; draw only a part of it"));
        }
        Ok(svg)
    }
}

/// Draws a graph for export: light, without highlights.
pub fn write(value: Value<'_>) -> Result<Vec<Vec<u8>>> {
    DrawOptions::default().draw(value).map(|svg| vec![svg.into_bytes()])
}

struct SvgWriter<'d, 'm, 'a> {
    options: &'d DrawOptions,
    symbols: &'d NodeSymbols<'m, 'a>,
    scene: &'d Scene,
    out: String,
}

impl SvgWriter<'_, '_, '_> {
    fn write(mut self, labels: &[Label]) -> String {
        self.start(labels);
        self.layer("marks", |svg| svg.highlights());
        self.layer("lines", |svg| svg.scene.routes.iter().for_each(|route| svg.route(route)));
        self.layer("nodes", |svg| (0..svg.scene.placed_symbols.len()).for_each(|index| svg.node(index)));
        self.layer("texts", |svg| labels.iter().for_each(|label| svg.label(label)));
        self.out.push_str("</svg>\n");
        self.out
    }

    /// Appends formatted text. Writing to a `String` cannot fail.
    fn write_fmt(&mut self, text: std::fmt::Arguments<'_>) {
        let _ = self.out.write_fmt(text);
    }

    fn layer(&mut self, name: &str, draw: impl FnOnce(&mut Self)) {
        self.write_fmt(format_args!("<g id=\"{name}\">\n"));
        draw(self);
        self.out.push_str("</g>\n");
    }

    fn start(&mut self, labels: &[Label]) {
        let [left, top, right, bottom] = bounds(self.scene, labels);
        let (x, y) = (left - MARGIN, top - MARGIN);
        let (w, h) = (right - left + 2.0 * MARGIN, bottom - top + 2.0 * MARGIN);
        let title = escape(&self.title());
        self.write_fmt(format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w:.0}\" height=\"{h:.0}\" viewBox=\"{x:.1} {y:.1} {w:.1} {h:.1}\" role=\"img\">\n\
             <title>{title}</title>\n<style>{}</style>\n\
             <rect class=\"b\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{w:.1}\" height=\"{h:.1}\"/>\n\
             <text class=\"m\" x=\"{:.1}\" y=\"{:.1}\" font-size=\"10\">{title}</text>\n",
            self.options.style.css(),
            right + MARGIN - 12.0,
            bottom + MARGIN - 12.0,
        ));
    }

    fn title(&self) -> String {
        let metadata_text =
            |key| self.symbols.model.metadata.and_then(|fields| fields.get(key)).and_then(Value::as_str);
        let custom_title = self.options.title.as_deref();
        custom_title
            .or_else(|| metadata_text("drawing_name"))
            .or_else(|| metadata_text("drawing_number"))
            .unwrap_or_default()
            .to_owned()
    }

    fn is_highlighted(&self, index: usize) -> bool {
        let node = &self.symbols.model.nodes[index];
        self.options.highlight.contains(&node.name)
            || node.id().is_some_and(|id| self.options.highlight.contains(&text(id)))
    }

    /// Returns true if an edge is highlighted by its own id, or because both its ends are.
    fn is_edge_highlighted(&self, route: &Route) -> bool {
        let edge = &self.symbols.model.edges[route.edge];
        let is_own_id = edge.id().is_some_and(|id| self.options.highlight.contains(&text(id)));
        let ends = [edge.from.node, edge.to.node].map(|node| node.is_some_and(|node| self.is_highlighted(node)));
        is_own_id || ends == [true, true]
    }

    /// Draws the highlights, under everything else.
    fn highlights(&mut self) {
        if self.options.highlight.is_empty() {
            return;
        }
        for route in self.scene.routes.iter().filter(|route| self.is_edge_highlighted(route)).collect::<Vec<_>>() {
            self.write_fmt(format_args!("<path class=\"hot\" d=\"{}\"/>\n", path(&route.points)));
        }
        for (index, placed) in self.scene.placed_symbols.iter().enumerate() {
            if let Some(placed) = placed.as_ref().filter(|_| self.is_highlighted(index)) {
                let [left, top, right, bottom] = placed.bounds();
                let (w, h) = (right - left + 12.0, bottom - top + 12.0);
                self.write_fmt(format_args!(
                    "<rect class=\"hit\" x=\"{:.1}\" y=\"{:.1}\" width=\"{w:.1}\" height=\"{h:.1}\" rx=\"6\"/>\n",
                    left - 6.0,
                    top - 6.0
                ));
            }
        }
    }

    fn route(&mut self, route: &Route) {
        let class = match route.role {
            EdgeRole::Flow => "p",
            EdgeRole::Signal => "g",
            EdgeRole::Part | EdgeRole::Member | EdgeRole::Other => "o",
        };
        let edge = &self.symbols.model.edges[route.edge];
        let id = edge.id().map(|id| format!(" data-id=\"{}\"", escape(&text(id)))).unwrap_or_default();
        self.write_fmt(format_args!("<path class=\"{class}\"{id} d=\"{}\"/>\n", path(&route.points)));
        if route.role == EdgeRole::Flow {
            self.arrow(route);
        }
    }

    /// Draws the flow direction, on the longest section of a pipe that is long enough.
    fn arrow(&mut self, route: &Route) {
        let turn = match self.symbols.model.edges[route.edge].direction() {
            Direction::Forward => 0.0,
            Direction::Backward => 180.0,
            Direction::Undirected => return,
        };
        let length = |pair: &[Point]| (pair[0].0 - pair[1].0).hypot(pair[0].1 - pair[1].1);
        let longest = route.points.windows(2).max_by(|a, b| length(a).total_cmp(&length(b)));
        let Some(pair) = longest.filter(|pair| length(pair) >= 34.0 * self.scene.scale) else { return };
        let (x, y) = ((pair[0].0 + pair[1].0) / 2.0, (pair[0].1 + pair[1].1) / 2.0);
        let angle = (pair[1].1 - pair[0].1).atan2(pair[1].0 - pair[0].0).to_degrees() + turn;
        self.write_fmt(format_args!(
            "<path class=\"a\" transform=\"translate({x:.1} {y:.1}) rotate({angle:.0})\" d=\"M5 0L-4 -3.5V3.5Z\"/>\n"
        ));
    }

    fn node(&mut self, index: usize) {
        let Some(placed) = &self.scene.placed_symbols[index] else { return };
        let node = &self.symbols.model.nodes[index];
        let (x, y) = placed.at;
        let body = body(placed);
        let class = placed.symbol.name;
        let id = escape(&node.name);
        let title = escape(&node.title());
        self.write_fmt(format_args!(
            "<g class=\"{class}\" data-id=\"{id}\" transform=\"translate({x:.1} {y:.1}){}\"><title>{title}</title>{body}{}</g>\n",
            turn(placed),
            if self.is_in_control_room(index) { control_room_line(placed) } else { String::new() }
        ));
    }

    /// Returns true for instruments in the control room, which have a line through them.
    fn is_in_control_room(&self, index: usize) -> bool {
        let location =
            self.symbols.model.nodes[index].fields.get("location").and_then(Value::as_str).unwrap_or_default();
        let location = location.to_lowercase();
        let is_bubble = self.symbols.symbols[index].placement == Placement::Bubble;
        is_bubble && ["control", "central", "panel", "board"].iter().any(|word| location.contains(word))
    }

    fn label(&mut self, label: &Label) {
        let (x, y) = (label.at.0, label.at.1);
        let turn = if label.is_vertical { format!(" transform=\"rotate(-90 {x:.1} {y:.1})\"") } else { String::new() };
        let data_of = label.node.map(|node| format!(" data-of=\"{}\"", escape(&self.symbols.model.nodes[node].name)));
        self.write_fmt(format_args!(
            "<text class=\"{}\" x=\"{x:.1}\" y=\"{:.1}\" font-size=\"{:.1}\"{turn}{}>{}</text>\n",
            label.class,
            y + label.size * 0.35,
            label.size,
            data_of.unwrap_or_default(),
            escape(&label.text)
        ));
    }
}

fn control_room_line(placed: &PlacedSymbol) -> String {
    let (half, _) = placed.symbol.half;
    format!("<path class=\"n\" d=\"M{:.1} 0H{half:.1}\"/>", -half)
}

/// Returns a symbol at its size. Fixed symbols are scaled proportionally.
fn body(placed: &PlacedSymbol) -> String {
    match placed.symbol.body {
        Body::Stretched(draw) => draw(placed.half.0, placed.half.1),
        Body::Fixed(body) => {
            let symbol_half = placed.symbol.half;
            let scale = (placed.half.0 / symbol_half.0).min(placed.half.1 / symbol_half.1);
            match (scale - 1.0).abs() < 0.01 {
                true => body.to_owned(),
                false => format!("<g transform=\"scale({scale:.2})\">{body}</g>"),
            }
        }
    }
}

/// Returns the rotation of a symbol. In a pipe that runs to the left it is mirrored, so that actuators stay on top.
fn turn(placed: &PlacedSymbol) -> String {
    match placed.angle {
        0 => String::new(),
        180 => " scale(-1 1)".into(),
        angle => format!(" rotate({angle})"),
    }
}

fn path(points: &[Point]) -> String {
    let mut out = String::new();
    for (index, (x, y)) in points.iter().enumerate() {
        let _ = write!(out, "{}{x:.1} {y:.1}", if index == 0 { "M" } else { "L" });
    }
    out
}

fn bounds(scene: &Scene, labels: &[Label]) -> [f64; 4] {
    labels.iter().fold(scene.bounds(), |all, label| {
        let half = label.text.chars().count() as f64 * label.size * 0.32;
        let (w, h) = if label.is_vertical { (label.size, half) } else { (half, label.size) };
        let (x, y) = label.at;
        [all[0].min(x - w), all[1].min(y - h), all[2].max(x + w), all[3].max(y + h)]
    })
}

#[cfg(test)]
mod tests;
