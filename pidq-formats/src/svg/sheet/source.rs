//! Graphics of a document: its sheets with their units, extents and shapes.

use std::collections::HashMap;

use pidq_core::{Array, Object, Value};

use crate::svg::scene::NodeSymbols;
use crate::symbols::Placement;

use super::affine::Affine;
use super::bounds::Bounds;
use super::members::{number, text};
use super::outline::Outliner;
use super::paint::{Color, parse};

/// Distance between joined sheets, in millimeters.
const GAP: f64 = 20.0;

/// Sheets of a document. A joined drawing has several, side by side.
pub struct Source<'a> {
    pub sheets: Vec<Sheet<'a>>,
    /// By prefix of the names of a joined drawing: its sheet.
    prefixes: HashMap<String, usize>,
    /// True for a part of a drawing.
    pub is_extract: bool,
}

/// Sheet with graphics.
pub struct Sheet<'a> {
    /// Millimeters per drawing unit.
    unit: f64,
    /// Lowest and highest coordinates, in drawing units.
    extent: Option<[f64; 4]>,
    is_y_up: bool,
    pub background: Option<Color>,
    shapes: HashMap<&'a str, Array<'a>>,
    /// Elements that belong to no item.
    pub elements: Option<Array<'a>>,
    /// Distance from the left of the drawing, in millimeters.
    left: f64,
}

impl<'a> Source<'a> {
    /// Returns the graphics of a document; `None` if it has none, if most items have none, or if a joined sheet has none.
    pub fn from_symbols(symbols: &NodeSymbols<'_, 'a>) -> Option<Source<'a>> {
        let model = symbols.model;
        let metadata = model.metadata?;
        if !is_mostly_drawn(symbols) {
            return None;
        }
        let is_extract = metadata.get("extract_of").is_some();
        if let Some(graphics) = metadata.get("graphics").and_then(Value::as_object) {
            let mut sheet = Sheet::new(graphics);
            let older = model.older_metadata.and_then(|metadata| metadata.get("graphics")?.as_object());
            for (name, elements) in older.into_iter().flat_map(shapes) {
                sheet.shapes.entry(name).or_insert(elements);
            }
            return Some(Source { sheets: vec![sheet], prefixes: HashMap::new(), is_extract });
        }
        let list = metadata.get("sheets").and_then(Value::as_array)?;
        let graphics = |sheet: Value<'a>| sheet.as_object()?.get("graphics")?.as_object();
        let mut sheets: Vec<Sheet<'a>> =
            list.iter().map(|sheet| graphics(sheet).map(Sheet::new)).collect::<Option<_>>()?;
        let mut left = 0.0;
        for sheet in &mut sheets {
            let [low, _, high, _] = sheet.extent?;
            sheet.left = left;
            left += (high - low) * sheet.unit + GAP;
        }
        let mut prefixes = HashMap::new();
        for node in &model.nodes {
            let next = prefixes.len();
            if let Some((prefix, _)) = node.name.split_once('#').filter(|(prefix, _)| !prefixes.contains_key(*prefix)) {
                prefixes.insert(prefix.to_owned(), next);
            }
        }
        (!sheets.is_empty() && prefixes.len() <= sheets.len()).then_some(Source { sheets, prefixes, is_extract })
    }

    /// Returns the sheet of a node by its name.
    pub fn sheet_of(&self, name: &str) -> usize {
        let prefix = name.split_once('#').map_or("", |(prefix, _)| prefix);
        self.prefixes.get(prefix).copied().unwrap_or(0)
    }

    /// Returns the transform from drawing units to millimeters with y downwards.
    pub fn transform(&self, sheet: usize) -> Affine {
        let Sheet { unit, extent, is_y_up, left, .. } = self.sheets[sheet];
        let [x, low_y, _, high_y] = extent.unwrap_or_default();
        let (flip, y) = if is_y_up { (-unit, high_y * unit) } else { (unit, -low_y * unit) };
        Affine::new(unit, 0.0, 0.0, flip, left - x * unit, y)
    }

    /// Returns a reader of the elements of a sheet.
    pub fn outliner<'s>(&'s self, sheet: usize, item: Option<Object<'a>>, budget: &'s mut usize) -> Outliner<'a, 's> {
        let Sheet { shapes, unit, is_y_up, .. } = &self.sheets[sheet];
        Outliner { shapes, unit: *unit, is_y_up: *is_y_up, drawn: Vec::new(), missing: Vec::new(), item, budget }
    }
}

impl<'a> Sheet<'a> {
    fn new(graphics: Object<'a>) -> Sheet<'a> {
        let unit = number(graphics, "mm_per_unit").filter(|unit| *unit > 1e-6).unwrap_or(1.0);
        Sheet {
            unit,
            extent: extent(graphics, unit),
            is_y_up: text(graphics, "y_axis") != "down",
            background: parse(text(graphics, "background")),
            shapes: shapes(graphics).collect(),
            elements: graphics.get("elements").and_then(Value::as_array),
            left: 0.0,
        }
    }

    /// Returns the extent in millimeters of the drawing.
    pub fn bounds(&self) -> Option<Bounds> {
        let [x, y, high_x, high_y] = self.extent?;
        let (width, height) = ((high_x - x) * self.unit, (high_y - y) * self.unit);
        Some(Bounds { low: (self.left, 0.0), high: (self.left + width, height) })
    }
}

/// Returns the shapes of a sheet: name, elements.
fn shapes<'a>(graphics: Object<'a>) -> impl Iterator<Item = (&'a str, Array<'a>)> {
    let shapes = graphics.get("shapes").and_then(Value::as_object);
    // A shape without elements may be blank on purpose. One that only has attributes names a symbol of a library.
    let elements = |shape: Value<'a>| {
        let shape = shape.as_object()?;
        let elements = shape.get("elements")?.as_array()?;
        (!elements.is_empty() || shape.get("attributes").is_none()).then_some(elements)
    };
    let all = shapes.into_iter().flat_map(|shapes| shapes.iter());
    all.filter_map(move |(name, shape)| Some((name, elements(shape)?)))
}

/// Returns true if the file draws at least half of the items. One with lines and texts only is drawn with symbols.
fn is_mostly_drawn(symbols: &NodeSymbols<'_, '_>) -> bool {
    let nodes = &symbols.model.nodes;
    let has_graphics = |index: &usize| nodes[*index].fields.get("graphics").and_then(Value::as_array).is_some();
    let is_counted = |index: &usize| {
        let (symbol, node) = (symbols.symbols[*index], &nodes[*index]);
        // Bubbles and small fittings often have no symbol of their own.
        let is_small = symbol.placement == Placement::Bubble || matches!(symbol.name, "tee" | "open_end" | "nozzle");
        symbols.is_drawable(*index) && (!is_small || node.fields.get("graphics").is_some())
    };
    let counted: Vec<usize> = (0..nodes.len()).filter(is_counted).collect();
    let drawn = counted.iter().filter(|index| has_graphics(index)).count();
    drawn > 0 && drawn * 2 >= counted.len()
}

/// Largest plausible width or height of a sheet, in millimeters.
const MAX_SIZE: f64 = 100_000.0;

fn extent(graphics: Object<'_>, unit: f64) -> Option<[f64; 4]> {
    let list = graphics.get("extent").and_then(Value::as_array)?;
    let number = |index| list.get(index).and_then(Value::as_f64).filter(|number| number.abs() < 1e9);
    let extent = [number(0)?, number(1)?, number(2)?, number(3)?];
    let is_size = |size: f64| size > 0.0 && size * unit < MAX_SIZE;
    (is_size(extent[2] - extent[0]) && is_size(extent[3] - extent[1])).then_some(extent)
}
