//! SVG drawing of a sheet or a selection: from the graphics of the file, at the positions of the drawing, or with a layered
//! layout if it has none.
//!
//! Deterministic: the same graph gives the same bytes. Text is escaped, sizes are limited, and nothing is loaded.

mod collision_grid;
mod crossings;
mod highlight;
mod labels;
mod layered_layout;
mod layers;
mod positions;
mod routes;
mod scene;
mod sheet;
mod signals;
mod style;
mod symbol_marks;
mod symbol_sheet;

use std::collections::BTreeSet;
use std::fmt::Write;

use pidq_core::{Object, TopologyConfig, Value};

use crate::error::{Code, Error, Result};
use crate::model::{Direction, Edge, EdgeRole, Model, Node, text};
use crate::symbols::{Body, Placement};
use crate::xml::escape;

use crossings::Crossings;
use highlight::Part;
pub use highlight::{Changes, Isolation};
use labels::Label;
use scene::{NodeSymbols, PlacedSymbol, Point, Route, Scene};
pub use style::Style;
use symbol_marks::LocationLine;
pub use symbol_sheet::symbol_sheet;

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
    /// The parts of an isolation, marked in different colors with a legend; [`Isolation::in_document`] reads them from the
    /// result of `isolate`.
    pub isolation: Option<Isolation>,
    /// The changes since an older revision, marked in different colors with a legend; [`Changes::in_document`] reads them from
    /// the result of `diff` or `rankDiff`.
    pub changes: Option<Changes>,
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
        self.draw_model(Model::from_value(value)?)
    }

    /// Draws a graph together with what was removed from it: the items of an older revision that [`changes`](Self::changes)
    /// lists as removed, at their places in that revision.
    ///
    /// # Errors
    /// Those of [`draw`](Self::draw).
    pub fn draw_with_removed<'a>(&self, value: Value<'a>, older: Value<'a>) -> Result<String> {
        let mut model = Model::from_value(value)?;
        if let Some(changes) = self.changes.as_ref().filter(|changes| !changes.removed.is_empty()) {
            model.add_removed(Model::from_value(older)?, &changes.removed);
        }
        self.draw_model(model)
    }

    fn draw_model(&self, mut model: Model<'_>) -> Result<String> {
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
        if let Some(source) = sheet::Source::from_symbols(&symbols) {
            return sheet::draw(self, &symbols, &source);
        }
        let scene = if positions::has_positions(&symbols) {
            positions::scene(&symbols)
        } else {
            layered_layout::scene(&symbols)
        };
        let labels = labels::labels(&symbols, &scene);
        let widening = symbol_marks::widening_reducers(&model, &symbols.symbols);
        let writer = SvgWriter { options: self, symbols: &symbols, scene: &scene, widening, out: String::new() };
        let svg = writer.write(&labels);
        if svg.len() > MAX_BYTES {
            return Err(Error::new(Code::TooLarge, "the drawing is too large; draw only a part of it"));
        }
        Ok(svg)
    }

    /// Returns the rows of the legend: part, text.
    fn legend(&self) -> Vec<(Part, String)> {
        let isolation = self.isolation.as_ref().filter(|isolation| !isolation.is_empty());
        let changes = self.changes.iter().flat_map(Changes::legend);
        isolation.into_iter().flat_map(Isolation::legend).chain(changes).collect()
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
    /// Reducers that are drawn mirrored.
    widening: BTreeSet<usize>,
    out: String,
}

impl SvgWriter<'_, '_, '_> {
    fn write(mut self, labels: &[Label]) -> String {
        self.start(labels);
        self.layer("marks", |svg| svg.highlights());
        let pipes = self.scene.routes.iter().filter(|route| route.role == EdgeRole::Flow);
        let crossings = Crossings::new(pipes.map(|route| route.points.as_slice()));
        self.layer("lines", |svg| {
            svg.scene.routes.iter().for_each(|route| svg.route(route, &crossings));
            let scene = svg.scene;
            scene
                .stubs
                .iter()
                .for_each(|stub| svg.write_fmt(format_args!("<path class=\"p\" d=\"{}\"/>\n", path(stub))));
        });
        self.layer("nodes", |svg| (0..svg.scene.placed_symbols.len()).for_each(|index| svg.node(index)));
        self.layer("texts", |svg| labels.iter().for_each(|label| svg.label(label)));
        self.legend(bounds(self.scene, labels));
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
        let legend_width = if self.options.legend().is_empty() { 0.0 } else { 440.0 };
        let (w, h) = ((right - left + 2.0 * MARGIN).max(legend_width), bottom - top + 2.0 * MARGIN);
        let title = escape(&title(self.options, self.symbols.model));
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

    /// Draws the highlights, under everything else.
    fn highlights(&mut self) {
        let model = self.symbols.model;
        for route in &self.scene.routes {
            if let Some(part) = edge_part(self.options, model, &model.edges[route.edge]) {
                self.write_fmt(format_args!("<path class=\"{}\" d=\"{}\"/>\n", part.classes()[1], path(&route.points)));
            }
        }
        for (index, placed) in self.scene.placed_symbols.iter().enumerate() {
            let Some(placed) = placed else { continue };
            if let Some(part) = part_of(self.options, &model.nodes[index]) {
                let [left, top, right, bottom] = placed.bounds();
                let (w, h) = (right - left + 12.0, bottom - top + 12.0);
                self.write_fmt(format_args!(
                    "<rect class=\"{}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{w:.1}\" height=\"{h:.1}\" rx=\"6\"/>\n",
                    part.classes()[0],
                    left - 6.0,
                    top - 6.0
                ));
            }
        }
    }

    /// Draws the legend of an isolation or of changes below the drawing.
    fn legend(&mut self, [left, _, _, bottom]: [f64; 4]) {
        let rows = self.options.legend();
        if rows.is_empty() {
            return;
        }
        let (mut x, y) = (left - MARGIN + 14.0, bottom + MARGIN - 18.0);
        self.out.push_str("<g class=\"legend\">\n");
        for (part, text) in rows {
            self.write_fmt(format_args!(
                "<rect class=\"{}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"14\" height=\"10\" rx=\"3\"/>\
                 <text class=\"k\" x=\"{:.1}\" y=\"{:.1}\" font-size=\"10\">{text}</text>\n",
                part.classes()[0],
                x + 20.0,
                y + 8.5
            ));
            x += 38.0 + text.chars().count() as f64 * 5.6;
        }
        self.out.push_str("</g>\n");
    }

    fn route(&mut self, route: &Route, crossings: &Crossings) {
        let edge = &self.symbols.model.edges[route.edge];
        let kind = signals::kind(edge.class());
        let (class, data) = match route.role {
            EdgeRole::Flow => ("p", path_with_jumps(&route.points, crossings)),
            EdgeRole::Signal => (kind.class, path(&route.points)),
            EdgeRole::Part | EdgeRole::Member | EdgeRole::Other => ("o", path(&route.points)),
        };
        let id = edge.id().map(|id| format!(" data-id=\"{}\"", escape(&text(id)))).unwrap_or_default();
        self.write_fmt(format_args!("<path class=\"{class}\"{id} d=\"{data}\"/>\n"));
        if route.role == EdgeRole::Signal && !kind.mark.is_empty() {
            for ((x, y), angle) in signals::marks(&route.points) {
                self.write_fmt(format_args!(
                    "<path class=\"o\" transform=\"translate({x:.1} {y:.1}) rotate({angle:.0})\" d=\"{}\"/>\n",
                    kind.mark
                ));
            }
        }
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
        let mut body = symbol_marks::body_of(node, placed.symbol, &body(placed));
        if let Some(frame) = symbol_marks::frame(node).filter(|_| placed.symbol.placement == Placement::Bubble) {
            body = frame.to_owned();
        }
        let location = symbol_marks::location_line(node).filter(|_| placed.symbol.placement == Placement::Bubble);
        let class = placed.symbol.name;
        let id = escape(&node.name);
        let title = escape(&node.title());
        let mirror = if self.widening.contains(&index) { " scale(-1 1)" } else { "" };
        self.write_fmt(format_args!(
            "<g class=\"{class}\" data-id=\"{id}\" transform=\"translate({x:.1} {y:.1}){}{mirror}\"><title>{title}</title>{body}{}</g>\n",
            turn(placed),
            location.map(|line| location_path(line, placed.symbol.half.0)).unwrap_or_default()
        ));
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

/// Returns the title of a drawing.
fn title(options: &DrawOptions, model: &Model<'_>) -> String {
    let metadata_text = |key| model.metadata.and_then(|fields| fields.get(key)).and_then(Value::as_str);
    let custom_title = options.title.as_deref();
    custom_title
        .or_else(|| metadata_text("drawing_name"))
        .or_else(|| metadata_text("drawing_number"))
        .unwrap_or_default()
        .to_owned()
}

/// Returns the part of a highlight that an id belongs to.
fn part_of_id(options: &DrawOptions, id: &str) -> Option<Part> {
    let changed = options.changes.as_ref().and_then(|changes| changes.part(id));
    let isolated = || options.isolation.as_ref().and_then(|isolation| isolation.part(id));
    changed.or_else(isolated).or_else(|| options.highlight.contains(id).then_some(Part::Selected))
}

/// Returns the part of a highlight that a node belongs to.
fn part_of(options: &DrawOptions, node: &Node<'_>) -> Option<Part> {
    if node.is_removed {
        return Some(Part::Removed);
    }
    node.id().and_then(|id| part_of_id(options, &text(id))).or_else(|| part_of_id(options, &node.name))
}

/// Returns the part of a highlight that an edge belongs to: by its own id, or between two highlighted nodes, of which one
/// that is not a barrier decides.
fn edge_part(options: &DrawOptions, model: &Model<'_>, edge: &Edge<'_>) -> Option<Part> {
    if edge.is_removed {
        return Some(Part::Removed);
    }
    let own = edge.id().and_then(|id| part_of_id(options, &text(id)));
    let end = |node: Option<usize>| part_of(options, &model.nodes[node?]);
    let between = || match (end(edge.from.node)?, end(edge.to.node)?) {
        (Part::Selected, Part::Selected) => Some(Part::Selected),
        (Part::Added, Part::Added) => Some(Part::Added),
        (Part::Open, _) | (_, Part::Open) => Some(Part::Open),
        (Part::Inside, _) | (_, Part::Inside) => Some(Part::Inside),
        // A pipe between two barriers is not isolated.
        _ => None,
    };
    own.or_else(between)
}

/// Returns the line through the bubble of an instrument.
fn location_path(line: LocationLine, radius: f64) -> String {
    format!("<path class=\"{}\" d=\"{}\"/>", if line.is_dashed { "d" } else { "n" }, line.path(radius))
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

/// Returns the path of a pipe, with jumps over the pipes that it crosses.
fn path_with_jumps(points: &[Point], crossings: &Crossings) -> String {
    let mut out = path(&points[..points.len().min(1)]);
    for pair in points.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        let (sign, sweep) = if to.0 >= from.0 { (1.0, 1) } else { (-1.0, 0) };
        let radius = crossings::RADIUS;
        for x in crossings.on(from, to) {
            let (start, end) = (x - sign * radius, x + sign * radius);
            let _ = write!(out, "L{start:.1} {:.1}A{radius} {radius} 0 0 {sweep} {end:.1} {:.1}", from.1, from.1);
        }
        let _ = write!(out, "L{:.1} {:.1}", to.0, to.1);
    }
    out
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
