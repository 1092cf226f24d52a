//! Drawing from the graphics of a file: its lines, symbols and texts at their places, in millimeters of the sheet.
//!
//! The `viewBox` is the extent of the sheet, so that the picture can be laid over one of another program. All shapes are
//! written out where they are used: pictures on one page share no ids.

mod affine;
mod bounds;
mod edge_lines;
mod frame;
mod instruments;
mod marks;
mod members;
mod outline;
mod paint;
mod source;
mod substitute;

use std::collections::{BTreeSet, HashSet};
use std::fmt::Write;

use pidq_core::Value;

use crate::error::{Code, Error, Result};
use crate::model::{EdgeRole, text};
use crate::xml::escape;

use super::scene::{NodeSymbols, Point};
use super::{DrawOptions, MAX_BYTES, Style, signals, symbol_marks};

use bounds::Bounds;
use edge_lines::TracedSegments;
use outline::{Align, Drawn, LINE_SPACING, MissingUse, Outline, Outliner, Step};
use paint::{Fill, Paint, Palette};
pub use source::Source;

/// Line widths of elements without one, in millimeters.
const PIPE_WIDTH: f64 = 0.5;
const LINE_WIDTH: f64 = 0.25;
/// Dashes of signal lines without a line type.
const SIGNAL_DASH: &str = "2.2 2.6";
/// Margin of an extract, and of a sheet without an extent, in millimeters.
const MARGIN: f64 = 8.0;
/// Distance by which an item may extend over the sheet before the picture is larger than the sheet, in millimeters.
const OVERHANG: f64 = 1.0;
/// Largest growth of a picture relative to its sheet.
const MAX_GROWTH: f64 = 1.5;
/// Pixels per millimeter of a picture at its original size, as CSS defines them.
const PIXELS: f64 = 96.0 / 25.4;

/// Graphics of an item, or of the sheet.
pub struct Picture<'a> {
    /// The node or edge that it belongs to; `None` for the sheet.
    pub item: Option<Item>,
    pub drawn: Vec<Drawn>,
    pub missing: Vec<MissingUse<'a>>,
    pub sheet: usize,
}

/// Index of a node or an edge.
#[derive(Clone, Copy, PartialEq)]
pub enum Item {
    Node(usize),
    Edge(usize),
}

/// Draws a graph from the graphics of its file.
///
/// # Errors
/// `PQ6007` if the drawing is too large.
pub fn draw(options: &DrawOptions, symbols: &NodeSymbols<'_, '_>, source: &Source<'_>) -> Result<String> {
    let pictures = pictures(symbols, source)?;
    let is_extract = options.only.is_some() || source.is_extract;
    let mut view = view(source, &pictures, is_extract);
    if !options.legend().is_empty() {
        view.high.1 += marks::LEGEND_HEIGHT;
    }
    let background = source.sheets.first().and_then(|sheet| sheet.background);
    let lines = pictures.iter().filter(|picture| picture.item.is_some()).flat_map(|picture| &picture.drawn);
    let palette = Palette::new(options.style, background, lines.map(|drawn| &drawn.paint));
    let flanged = flanged_nozzles(symbols);
    let items = pictures.iter().filter(|picture| picture.item.is_some()).filter_map(Picture::bounds).collect();
    let widening = symbol_marks::widening_reducers(symbols.model, &symbols.symbols);
    let writer = SheetWriter { options, symbols, source, palette, view, flanged, widening, items, out: String::new() };
    writer.write(&pictures, is_extract)
}

/// Returns the pictures in drawing order: the sheet, pipes and signals, groups such as lines, then items with the parts of
/// equipment after it, since symbols cover the pipes under them.
fn pictures<'a>(symbols: &NodeSymbols<'_, 'a>, source: &Source<'a>) -> Result<Vec<Picture<'a>>> {
    let model = symbols.model;
    let mut budget = outline::MAX_SIZE;
    let mut pictures = Vec::new();
    for (sheet, elements) in
        source.sheets.iter().enumerate().filter_map(|(index, sheet)| Some((index, sheet.elements?)))
    {
        let mut outliner = source.outliner(sheet, None, &mut budget);
        outliner.add(elements, source.transform(sheet), &Paint::new(LINE_WIDTH));
        let Outliner { drawn, missing, .. } = outliner;
        pictures.push(Picture { item: None, drawn, missing, sheet });
    }
    let edges = model.edges.iter().enumerate().map(|(index, edge)| {
        let paint = match edge.role() {
            EdgeRole::Flow => Paint::new(PIPE_WIDTH),
            _ if signals::is_process_connection(edge.class()) => Paint::new(LINE_WIDTH),
            _ => Paint::new(LINE_WIDTH).dashed(SIGNAL_DASH),
        };
        (Item::Edge(index), edge.fields, edge.from.node.map_or("", |node| model.nodes[node].name.as_str()), paint)
    });
    let mut nodes: Vec<usize> = (0..model.nodes.len()).collect();
    nodes.sort_by_key(|index| (symbols.visibility.is_node_visible(*index), symbols.visibility.owner[*index].is_some()));
    let nodes = nodes.into_iter().map(|index| {
        let node = &model.nodes[index];
        (Item::Node(index), node.fields, node.name.as_str(), Paint::new(LINE_WIDTH))
    });
    let traced = TracedSegments::new(model);
    for (item, fields, name, paint) in edges.chain(nodes) {
        let Some(elements) = fields.get("graphics").and_then(Value::as_array) else { continue };
        let sheet = source.sheet_of(name);
        let mut outliner = source.outliner(sheet, Some(fields), &mut budget);
        outliner.add(elements, source.transform(sheet), &paint);
        let Outliner { mut drawn, missing, .. } = outliner;
        if let Item::Edge(index) = item {
            edge_lines::adjust(&model.edges[index], &traced, &mut drawn);
        }
        pictures.push(Picture { item: Some(item), drawn, missing, sheet });
    }
    if budget == 0 {
        return Err(too_large());
    }
    Ok(pictures)
}

/// Returns the nozzles at which the pipe starts with a flange.
fn flanged_nozzles(symbols: &NodeSymbols<'_, '_>) -> HashSet<usize> {
    let is_flange = |node: usize| matches!(symbols.symbols[node].name, "flange" | "blind");
    let pipes = symbols.model.edges.iter().filter(|edge| edge.role() == EdgeRole::Flow);
    let ends = pipes.filter_map(|edge| Some([edge.from.node?, edge.to.node?]));
    ends.flat_map(|[a, b]| [(a, b), (b, a)]).filter(|(_, other)| is_flange(*other)).map(|(node, _)| node).collect()
}

fn too_large() -> Error {
    Error::new(Code::TooLarge, "the drawing is too large; draw only a part of it")
}

/// Returns the visible part: the sheets, or everything drawn if their extent is not known or only a part is drawn.
fn view(source: &Source<'_>, pictures: &[Picture<'_>], is_extract: bool) -> Bounds {
    let sheets = source.sheets.iter().map(|sheet| sheet.bounds()).reduce(|a, b| a.zip(b).map(|(a, b)| a.union(b)));
    let own = || {
        let items = pictures.iter().filter(|picture| picture.item.is_some() || !is_extract);
        items.filter_map(Picture::bounds).reduce(Bounds::union).map(|bounds| bounds.grown(MARGIN))
    };
    let whole = sheets.flatten().filter(|_| !is_extract).map(|whole| {
        // Some systems leave texts out of the extent. An item far away is an error of the drawing.
        let items = pictures.iter().filter(|picture| picture.item.is_some()).filter_map(Picture::bounds);
        let items = items.reduce(Bounds::union).filter(|items| !whole.grown(OVERHANG).contains(*items));
        let larger = items.map(|items| whole.union(items.grown(OVERHANG)));
        larger.filter(|larger| whole.scaled(MAX_GROWTH).contains(*larger)).unwrap_or(whole)
    });
    whole.or_else(own).unwrap_or(Bounds { low: (0.0, 0.0), high: (100.0, 100.0) })
}

impl Picture<'_> {
    /// Returns the extent of everything drawn.
    pub fn bounds(&self) -> Option<Bounds> {
        let drawn = self.drawn.iter().filter_map(|drawn| bounds::of(&drawn.outline));
        let missing = self.missing.iter().map(|usage| Bounds::around(usage.placement.apply((0.0, 0.0)), 3.0));
        drawn.chain(missing).reduce(Bounds::union)
    }
}

/// Writer of one drawing.
struct SheetWriter<'d, 'm, 'a> {
    options: &'d DrawOptions,
    symbols: &'d NodeSymbols<'m, 'a>,
    source: &'d Source<'a>,
    palette: Palette,
    view: Bounds,
    /// Nozzles next to a flange or a blind in the pipe.
    flanged: HashSet<usize>,
    /// Reducers that are drawn mirrored.
    widening: BTreeSet<usize>,
    /// Extents of the items.
    items: Vec<Bounds>,
    out: String,
}

impl<'a> SheetWriter<'_, '_, 'a> {
    fn write(mut self, pictures: &[Picture<'a>], is_extract: bool) -> Result<String> {
        self.start();
        self.marks(pictures);
        for picture in pictures {
            // The frame of a sheet is not a part of an extract.
            if picture.item.is_some() || !is_extract {
                self.picture(picture);
            }
            if self.out.len() > MAX_BYTES {
                return Err(too_large());
            }
        }
        self.legend();
        self.out.push_str("</svg>\n");
        Ok(self.out)
    }

    /// Appends formatted text. Writing to a `String` cannot fail.
    fn write_fmt(&mut self, text: std::fmt::Arguments<'_>) {
        let _ = self.out.write_fmt(text);
    }

    fn start(&mut self) {
        let Bounds { low: (x, y), high } = self.view;
        let [width, height] = [high.0 - x, high.1 - y].map(|size| number((size * PIXELS).round()));
        let [x, y, w, h] = [x, y, high.0 - x, high.1 - y].map(number);
        let title = escape(&super::title(self.options, self.symbols.model));
        let paper = self.palette.paper_css();
        let paper = if self.options.style == Style::Light { "#ffffff" } else { &paper };
        self.write_fmt(format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"{x} {y} {w} {h}\" role=\"img\" class=\"pidq\">\n\
             <title>{title}</title>\n<style>{}</style>\n\
             <rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" fill=\"{paper}\"/>\n",
            self.options.style.symbol_css(),
        ));
    }

    fn picture(&mut self, picture: &Picture<'a>) {
        match picture.item {
            Some(item) => {
                let start = self.group_start(item);
                self.out.push_str(&start);
            }
            None => self.out.push_str("<g class=\"sheet\">"),
        }
        // Symbols in the place of shapes are filled, and must not cover the texts of the file.
        for usage in &picture.missing {
            self.substitute(picture, usage);
        }
        self.drawn(&picture.drawn);
        self.out.push_str("</g>\n");
    }

    /// Returns the start tag of an item: what is selected, highlighted and linked.
    fn group_start(&self, item: Item) -> String {
        let model = self.symbols.model;
        let (class, id, tag, title) = match item {
            Item::Node(index) => {
                let node = &model.nodes[index];
                (self.symbols.symbols[index].name, node.name.clone(), node.tag(), node.title())
            }
            Item::Edge(index) => {
                let edge = &model.edges[index];
                let class = if edge.role() == EdgeRole::Flow { "pipe" } else { "signal" };
                let line = edge.line().map(|line| model.resolve_line(line));
                (class, edge.id().map(text).unwrap_or_default(), line, line.unwrap_or_default().to_owned())
            }
        };
        let tag = tag.filter(|tag| !tag.is_empty()).map(|tag| format!(" data-tag=\"{}\"", escape(tag)));
        let title = if title.is_empty() { String::new() } else { format!("<title>{}</title>", escape(&title)) };
        format!("<g class=\"{class}\" data-id=\"{}\"{}>{title}", escape(&id), tag.unwrap_or_default())
    }

    /// Writes outlines. Neighbors with the same paint become one path.
    fn drawn(&mut self, list: &[Drawn]) {
        let mut at = 0;
        while at < list.len() {
            let paint = &list[at].paint;
            match &list[at].outline {
                Outline::Path(_) => {
                    let is_same = |drawn: &&Drawn| {
                        matches!(drawn.outline, Outline::Path(_)) && drawn.paint == *paint && paint.fill == Fill::None
                    };
                    let count = list[at..].iter().take_while(is_same).count().max(1);
                    let data = path_data(&list[at..at + count]);
                    let attributes = self.attributes(paint);
                    self.write_fmt(format_args!("<path d=\"{data}\"{attributes}/>"));
                    at += count;
                }
                Outline::Circle((x, y), radius) => {
                    let attributes = self.attributes(paint);
                    let [x, y, radius] = [*x, *y, *radius].map(number);
                    self.write_fmt(format_args!("<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"{attributes}/>"));
                    at += 1;
                }
                Outline::Text(text) => {
                    self.text(text, &self.palette.line_css(paint.stroke));
                    at += 1;
                }
            }
        }
    }

    fn attributes(&self, paint: &Paint) -> String {
        let fill = match paint.fill {
            Fill::None => "none".to_owned(),
            Fill::Solid(color) => self.palette.css(color),
            Fill::Hatch => format!("{}\" fill-opacity=\".2", self.palette.line_css(paint.stroke)),
        };
        let dash = match paint.dash {
            "" => String::new(),
            dash => format!(" stroke-dasharray=\"{dash}\""),
        };
        let (stroke, width) = (self.palette.line_css(paint.stroke), number(paint.width));
        format!(" fill=\"{fill}\" stroke=\"{stroke}\" stroke-width=\"{width}\" stroke-linecap=\"round\"{dash}")
    }

    fn text(&mut self, text: &outline::Text, color: &str) {
        let anchor = match text.align {
            Align::Start => "",
            Align::Middle => " text-anchor=\"middle\"",
            Align::End => " text-anchor=\"end\"",
        };
        let family = font_family(&text.font);
        let (x, y) = (number(text.at.0), number(text.at.1));
        let rotation = match number(text.rotation).as_str() {
            "0" => String::new(),
            angle => format!(" rotate({angle})"),
        };
        for (row, line) in text.lines.iter().enumerate().filter(|(_, line)| !line.is_empty()) {
            let dy = number((text.baseline + LINE_SPACING * row as f64) * text.height);
            let (size, line) = (number(text.height), escape(line));
            self.write_fmt(format_args!(
                "<text transform=\"translate({x} {y}){rotation}\" y=\"{dy}\" font-size=\"{size}\" font-family=\"{family}\" \
                 fill=\"{color}\"{anchor}>{line}</text>"
            ));
        }
    }
}

/// Returns a font with replacements that look alike. Only letters and digits of a name are used.
fn font_family(font: &str) -> String {
    let name: String = font.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-')).take(60).collect();
    let name = name.trim();
    match name {
        "" | "Arial" => "Arial,Helvetica,sans-serif".to_owned(),
        name => format!("'{}',Arial,Helvetica,sans-serif", escape(name)),
    }
}

fn path_data(list: &[Drawn]) -> String {
    let mut data = String::new();
    for step in list
        .iter()
        .filter_map(|drawn| if let Outline::Path(steps) = &drawn.outline { Some(steps) } else { None })
        .flatten()
    {
        let pair = |(x, y): Point| format!("{} {}", number(x), number(y));
        match *step {
            Step::Move(to) => data.extend(["M", &pair(to)]),
            Step::Line(to) => data.extend(["L", &pair(to)]),
            Step::Cubic(a, b, to) => data.extend(["C", &pair(a), " ", &pair(b), " ", &pair(to)]),
            Step::Close => data.push('Z'),
        }
    }
    data
}

/// Returns a number with at most three decimals: micrometers.
fn number(value: f64) -> String {
    let text = format!("{value:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests;
