//! Layout from the positions of the drawing: scaled so that symbols have enough space; pipes run as drawn.

use std::collections::HashMap;

use pidq_core::{Object, Value};

use crate::model::{EdgeRole, Node};
use crate::symbols::{self, Placement};

use super::collision_grid::CollisionGrid;
use super::routes;
use super::scene::{NodeSymbols, PlacedSymbol, Point, Route, Scene};
use super::signals::{self, Obstacles};

/// Target distance of neighbors in a pipe, in pixels.
const SPACING: f64 = 30.0;
/// Largest growth of a sheet for the sake of its bubbles and equipment, and largest number of nodes whose distances are
/// compared.
const MAX_GROWTH: f64 = 2.0;
const MAX_COMPARED: usize = 3_000;
/// Minimum and maximum width or height of the sheet.
const MIN_EXTENT: f64 = 300.0;
const MAX_EXTENT: f64 = 6000.0;

/// Returns true if a number is a plausible coordinate, in any unit.
fn is_coordinate(number: f64) -> bool {
    number.abs() < 1e9
}

/// Returns the position of a node on the drawing.
pub fn position(node: &Node<'_>) -> Option<Point> {
    let fields = node.fields;
    let number =
        |object: Object<'_>, key| object.get(key).and_then(Value::as_f64).filter(|number| is_coordinate(*number));
    let pair = |object: Object<'_>, x, y| Some((number(object, x)?, number(object, y)?));
    let nested = || fields.get("position").and_then(Value::as_object);
    pair(fields, "orig_x", "orig_y")
        .or_else(|| pair(fields, "x", "y"))
        .or_else(|| pair(fields, "posX", "posY"))
        .or_else(|| pair(nested()?, "x", "y"))
        .or_else(|| bbox_center(fields))
}

fn bbox_center(fields: Object<'_>) -> Option<Point> {
    let [x, y, w, h] = bbox(fields)?;
    Some((x + w / 2.0, y + h / 2.0))
}

fn bbox(fields: Object<'_>) -> Option<[f64; 4]> {
    let list = fields.get("bbox").and_then(Value::as_array)?;
    let number = |index| list.get(index).and_then(Value::as_f64).filter(|number| is_coordinate(*number));
    Some([number(0)?, number(1)?, number(2)?, number(3)?])
}

/// Returns half the size on the drawing.
fn half_size(node: &Node<'_>) -> Option<Point> {
    let number =
        |key| node.fields.get(key).and_then(Value::as_f64).filter(|number| *number > 0.0 && is_coordinate(*number));
    let drawn_size = || Some((number("orig_bbox_width")?, number("orig_bbox_height")?));
    let (w, h) = drawn_size().or_else(|| bbox(node.fields).map(|[_, _, w, h]| (w, h)))?;
    Some((w / 2.0, h / 2.0))
}

/// Returns true if most connected nodes have a position.
pub fn has_positions(symbols: &NodeSymbols<'_, '_>) -> bool {
    let drawable = (0..symbols.symbols.len()).filter(|index| symbols.is_drawable(*index));
    let (mut total, mut positioned) = (0, 0);
    for index in drawable.filter(|index| symbols.symbols[*index].placement != Placement::Bubble) {
        total += 1;
        positioned += usize::from(position(&symbols.model.nodes[index]).is_some());
    }
    positioned * 2 > total
}

/// Returns the positions of all drawn nodes.
fn positions(symbols: &NodeSymbols<'_, '_>) -> Vec<Option<Point>> {
    let nodes = symbols.model.nodes.iter().enumerate();
    let mut at: Vec<Option<Point>> =
        nodes.map(|(index, node)| position(node).filter(|_| symbols.is_drawable(index))).collect();
    fill_gaps(symbols, &mut at);
    at
}

/// Returns, by name, the extent of nodes with all their nozzles, in drawing units, so that equipment keeps its size
/// when only a part of the drawing is drawn.
pub fn nozzle_extents(symbols: &NodeSymbols<'_, '_>) -> HashMap<String, Point> {
    let at = positions(symbols);
    let half_extent = |(index, node): (usize, &Node<'_>)| {
        let center = bbox_center(node.fields).or(at[index])?;
        Some((node.name.clone(), nozzle_half_extent(symbols, index, center, &at)?))
    };
    symbols.model.nodes.iter().enumerate().filter_map(half_extent).collect()
}

/// Returns the offset of each node that puts joined sheets next to each other; empty for a single sheet.
fn sheet_shifts(symbols: &NodeSymbols<'_, '_>, at: &[Option<Point>]) -> Vec<Point> {
    const GAP: f64 = 0.1;
    let is_joined = symbols.model.metadata.is_some_and(|metadata| metadata.get("joined").is_some());
    if !is_joined {
        return Vec::new();
    }
    let mut sheets = SheetBounds::default();
    let sheet_of_node: Vec<usize> =
        symbols.model.nodes.iter().zip(at).map(|(node, at)| sheets.add(node, *at)).collect();
    let bounds = || sheets.bounds.iter().map(|bounds| bounds.unwrap_or_default());
    let widest = bounds().map(|[low_x, _, high_x]| high_x - low_x).fold(0.0, f64::max);
    // Sheets with a single position have no width, but are still separated.
    let gap = if widest > 0.0 { widest * GAP } else { 1.0 };
    let mut left = 0.0;
    let shifts = bounds().map(|[low_x, low_y, high_x]| {
        let shift = (left - low_x, -low_y);
        left += high_x - low_x + gap;
        shift
    });
    let shifts: Vec<Point> = shifts.collect();
    sheet_of_node.into_iter().map(|sheet| shifts[sheet]).collect()
}

/// Bounds of joined sheets by id prefix: lowest x and y, and highest x.
#[derive(Default)]
struct SheetBounds<'n> {
    indices: HashMap<&'n str, usize>,
    bounds: Vec<Option<[f64; 3]>>,
}

impl<'n> SheetBounds<'n> {
    /// Adds a node to its sheet. Returns the index of the sheet.
    fn add(&mut self, node: &'n Node<'_>, at: Option<Point>) -> usize {
        let name = node.name.split_once('#').map_or("", |(name, _)| name);
        let sheet = *self.indices.entry(name).or_insert(self.bounds.len());
        if sheet == self.bounds.len() {
            self.bounds.push(None);
        }
        if let Some((x, y)) = at {
            let [low_x, low_y, high_x] = self.bounds[sheet].unwrap_or([x, y, x]);
            self.bounds[sheet] = Some([low_x.min(x), low_y.min(y), high_x.max(x)]);
        }
        sheet
    }
}

/// Builds the scene of a sheet as drawn.
pub fn scene(symbols: &NodeSymbols<'_, '_>) -> Scene {
    let mut at = positions(symbols);
    let shifts = sheet_shifts(symbols, &at);
    at.iter_mut().zip(&shifts).for_each(|(at, shift)| *at = at.map(|at| translated(at, *shift)));
    let transform = PixelTransform::new(symbols, &at, shifts);
    let pixels: Vec<Option<Point>> = at.iter().map(|position| position.map(|point| transform.pixel(point))).collect();
    let mut placed_symbols: Vec<Option<PlacedSymbol>> = pixels
        .iter()
        .enumerate()
        .map(|(index, at)| at.map(|at| place_symbol(symbols, index, at, &transform, &pixels)))
        .collect();
    settle_nozzles(symbols, &mut placed_symbols);
    let mut routes = routes(symbols, &placed_symbols, &transform);
    routes::rotate_symbols(&mut placed_symbols, &mut routes, symbols);
    lift_actuators(&mut placed_symbols);
    let stubs = routes::stubs(symbols, &placed_symbols);
    Scene { placed_symbols, routes, stubs, scale: transform.symbols }
}

/// Moves nozzles that are inside of their equipment to its side: that of their pipe, or else the nearest one.
fn settle_nozzles(symbols: &NodeSymbols<'_, '_>, placed_symbols: &mut [Option<PlacedSymbol>]) {
    /// Depth up to which a nozzle may be inside.
    const DEPTH: f64 = 2.0;
    let mut neighbors: Vec<Option<usize>> = vec![None; placed_symbols.len()];
    for (_, _, from, to) in symbols.drawn_edges() {
        for (node, other) in [(from, to), (to, from)] {
            if symbols.visibility.owner[node] != Some(other) {
                neighbors[node].get_or_insert(other);
            }
        }
    }
    let side = |index: usize, placed_symbols: &[Option<PlacedSymbol>]| {
        let nozzle = placed_symbols[index].as_ref().filter(|placed| placed.symbol.name == "nozzle")?;
        let owner = placed_symbols[symbols.visibility.owner[index]?].as_ref()?;
        let [left, top, right, bottom] = owner.bounds();
        let (x, y) = nozzle.at;
        let depth = [x - left, right - x, y - top, bottom - y].into_iter().fold(f64::MAX, f64::min);
        if depth <= DEPTH {
            return None;
        }
        let sides = [(left, y), (right, y), (x, top), (x, bottom)];
        let Some(pipe) = neighbors[index].and_then(|other| placed_symbols[other].as_ref()) else {
            let distance = |side: &Point| (side.0 - x).abs() + (side.1 - y).abs();
            return sides.into_iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
        };
        let (dx, dy) = (pipe.at.0 - x, pipe.at.1 - y);
        Some(sides[if dx.abs() >= dy.abs() { usize::from(dx > 0.0) } else { 2 + usize::from(dy > 0.0) }])
    };
    for index in 0..placed_symbols.len() {
        let at = side(index, placed_symbols);
        if let (Some(at), Some(nozzle)) = (at, &mut placed_symbols[index]) {
            nozzle.at = at;
        }
    }
}

/// Moves an actuator placed on its valve next to it, and draws the valve without its own actuator.
fn lift_actuators(placed_symbols: &mut [Option<PlacedSymbol>]) {
    let actuators: Vec<usize> =
        (0..placed_symbols.len()).filter(|index| is_actuator(&placed_symbols[*index])).collect();
    for index in actuators {
        let Some(at) = placed_symbols[index].as_ref().map(|actuator| actuator.at) else { continue };
        let is_at_actuator = |valve: &PlacedSymbol| (valve.at.0 - at.0).hypot(valve.at.1 - at.1) < valve.half.0;
        let inline = placed_symbols.iter_mut().flatten().filter(|placed| placed.symbol.placement == Placement::Inline);
        let Some(valve) = inline.into_iter().find(|valve| is_at_actuator(valve)) else { continue };
        valve.symbol = symbols::without_actuator(valve.symbol);
        let valve = valve.clone();
        if let Some(actuator) = &mut placed_symbols[index] {
            let distance = valve.half.1 + actuator.half.1;
            let is_horizontal = valve.angle % 180 == 0;
            actuator.angle = if is_horizontal { 0 } else { 90 };
            actuator.at =
                if is_horizontal { (valve.at.0, valve.at.1 - distance) } else { (valve.at.0 + distance, valve.at.1) };
        }
    }
}

fn is_actuator(placed: &Option<PlacedSymbol>) -> bool {
    placed.as_ref().is_some_and(|placed| placed.symbol.name == "actuator")
}

/// Places nodes without a position between their neighbors in the pipe, or at their owner.
fn fill_gaps(symbols: &NodeSymbols<'_, '_>, at: &mut [Option<Point>]) {
    for _ in 0..4 {
        let known = at.to_vec();
        let mut neighbor_points: Vec<Vec<Point>> = vec![Vec::new(); at.len()];
        for (_, _, from, to) in symbols.drawn_edges() {
            neighbor_points[to].extend(known[from]);
            neighbor_points[from].extend(known[to]);
        }
        for index in (0..at.len()).filter(|index| known[*index].is_none() && symbols.is_drawable(*index)) {
            let owner = symbols.visibility.owner[index].and_then(|owner| known[owner]);
            let points = if neighbor_points[index].is_empty() {
                owner.into_iter().collect()
            } else {
                neighbor_points[index].clone()
            };
            if !points.is_empty() {
                let count = points.len() as f64;
                let sum = points.iter().fold((0.0, 0.0), |sum, point| (sum.0 + point.0, sum.1 + point.1));
                at[index] = Some((sum.0 / count, sum.1 / count));
            }
        }
    }
}

/// Transform from drawing units to pixels.
struct PixelTransform {
    scale: f64,
    origin: Point,
    flip: bool,
    /// Scale of the symbols.
    symbols: f64,
    /// By node: offset of its sheet; empty for a single sheet.
    shifts: Vec<Point>,
}

/// Returns true if y grows upwards, according to the drawing or the first joined sheet that declares it.
fn is_y_up(symbols: &NodeSymbols<'_, '_>) -> bool {
    let sheets = symbols.model.metadata.and_then(|fields| fields.get("sheets")).and_then(Value::as_array);
    let sheets = sheets.into_iter().flat_map(|sheets| sheets.iter()).filter_map(Value::as_object);
    symbols.model.metadata.into_iter().chain(sheets).find_map(y_axis) == Some("up")
}

fn y_axis(metadata: Object<'_>) -> Option<&str> {
    metadata.get("coordinate_system")?.as_object()?.get("y_axis")?.as_str()
}

fn translated(point: Point, by: Point) -> Point {
    (point.0 + by.0, point.1 + by.1)
}

impl PixelTransform {
    fn new(symbols: &NodeSymbols<'_, '_>, at: &[Option<Point>], shifts: Vec<Point>) -> PixelTransform {
        let points = || at.iter().flatten();
        let min = points().fold((f64::MAX, f64::MAX), |min, point| (min.0.min(point.0), min.1.min(point.1)));
        let max = points().fold((f64::MIN, f64::MIN), |max, point| (max.0.max(point.0), max.1.max(point.1)));
        let extent = (max.0 - min.0).max(max.1 - min.1);
        // A single position has no extent.
        let extent = if extent > 1e-6 { extent } else { 1.0 };
        let target_scale = pipe_scale(symbols, at).unwrap_or(SPACING / (extent / 10.0));
        let crowded = [bubble_scale(symbols, at), equipment_scale(symbols, at)].into_iter().flatten();
        let target_scale = crowded.fold(target_scale, f64::max).min(target_scale * MAX_GROWTH);
        let scale = target_scale.clamp(MIN_EXTENT / extent, MAX_EXTENT / extent);
        let flip = is_y_up(symbols);
        let origin = if flip { (min.0, max.1) } else { min };
        PixelTransform { scale, origin, flip, symbols: (scale / target_scale).clamp(0.35, 1.0), shifts }
    }

    /// Transforms a point on the sheet of a node.
    fn node_pixel(&self, node: usize, point: Point) -> Point {
        self.pixel(self.shifts.get(node).map_or(point, |shift| translated(point, *shift)))
    }

    fn pixel(&self, (x, y): Point) -> Point {
        let y = if self.flip { self.origin.1 - y } else { y - self.origin.1 };
        ((x - self.origin.0) * self.scale, y * self.scale)
    }
}

/// Returns the scale at which neighbors in pipes have their distance, for all but the closest tenth of them.
fn pipe_scale(symbols: &NodeSymbols<'_, '_>, at: &[Option<Point>]) -> Option<f64> {
    let distances = neighbors(symbols, at).map(|(_, (dx, dy))| dx.hypot(dy));
    lowest_of_most(distances.map(|distance| SPACING / distance).collect())
}

/// Returns the scale at which the symbols of equipment do not overlap their neighbors in pipes, for all but the closest tenth.
fn equipment_scale(symbols: &NodeSymbols<'_, '_>, at: &[Option<Point>]) -> Option<f64> {
    let scale = |([from, to], (dx, dy)): ([usize; 2], Point)| {
        let reach = |node: usize| own_half(symbols, node).map_or(0.0, |half| if dx >= dy { half.0 } else { half.1 });
        let reach = reach(from) + reach(to);
        (reach > 0.0).then(|| (reach + SPACING / 2.0) / dx.hypot(dy))
    };
    lowest_of_most(neighbors(symbols, at).filter_map(scale).collect())
}

/// Returns the neighbors in pipes that are at different places, with their distances along both axes.
fn neighbors<'s>(
    symbols: &'s NodeSymbols<'_, '_>,
    at: &'s [Option<Point>],
) -> impl Iterator<Item = ([usize; 2], Point)> + 's {
    let flow = symbols.drawn_edges().filter(|(_, role, ..)| *role == EdgeRole::Flow);
    let distances = flow.filter_map(|(_, _, from, to)| {
        let (a, b) = (at[from]?, at[to]?);
        Some(([from, to], ((a.0 - b.0).abs(), (a.1 - b.1).abs())))
    });
    distances.filter(|(_, (dx, dy))| dx.hypot(*dy) > 0.0)
}

/// Returns half the size of equipment that has it from its symbol: without nozzles and a size on the drawing.
fn own_half(symbols: &NodeSymbols<'_, '_>, node: usize) -> Option<Point> {
    let symbol = symbols.symbols[node];
    let is_equipment = symbol.placement == Placement::Upright && symbol.name != "actuator";
    let has_size = !symbols.parts[node].is_empty() || half_size(&symbols.model.nodes[node]).is_some();
    (is_equipment && !has_size).then_some(symbol.half)
}

/// Returns the scale at which bubbles do not overlap each other and the symbols in pipes, for all but the closest tenth of
/// them.
fn bubble_scale(symbols: &NodeSymbols<'_, '_>, at: &[Option<Point>]) -> Option<f64> {
    let placement = |node: usize| symbols.symbols[node].placement;
    let is_in_pipe = |node: usize| {
        placement(node) == Placement::Inline && !matches!(symbols.symbols[node].name, "nozzle" | "tee" | "open_end")
    };
    let placed: Vec<(usize, Point)> = (0..at.len()).filter_map(|node| Some((node, at[node]?))).collect();
    if placed.len() > MAX_COMPARED {
        return None;
    }
    let scale = |(bubble, (x, y)): &(usize, Point)| {
        let others = placed.iter().filter(|(node, _)| node != bubble);
        let needed = |(node, (other_x, other_y)): &(usize, Point)| {
            let half = symbols.symbols[*node].half;
            let needed = match placement(*node) {
                Placement::Bubble => symbols.symbols[*bubble].half.0 + half.0 + 2.0,
                Placement::Inline if is_in_pipe(*node) => symbols.symbols[*bubble].half.0 + half.1 + 2.0,
                _ => return None,
            };
            Some(needed / (x - other_x).hypot(y - other_y)).filter(|scale| scale.is_finite())
        };
        others.filter_map(needed).reduce(f64::max)
    };
    lowest_of_most(placed.iter().filter(|(node, _)| placement(*node) == Placement::Bubble).filter_map(scale).collect())
}

/// Returns the 90th percentile.
fn lowest_of_most(mut scales: Vec<f64>) -> Option<f64> {
    scales.sort_by(|a, b| b.total_cmp(a));
    scales.get(scales.len() / 10).copied()
}

/// Places a symbol. Equipment has its size on the drawing, or the extent of its nozzles; everything else has the size
/// of its symbol.
fn place_symbol(
    symbols: &NodeSymbols<'_, '_>,
    index: usize,
    at: Point,
    transform: &PixelTransform,
    pixels: &[Option<Point>],
) -> PlacedSymbol {
    let symbol = symbols.symbols[index];
    let symbol_half = (symbol.half.0 * transform.symbols, symbol.half.1 * transform.symbols);
    let is_equipment = symbol.placement == Placement::Upright && symbol.name != "actuator";
    // The position is the insertion point of the symbol, which need not be its center.
    let at = bbox_center(symbols.model.nodes[index].fields)
        .filter(|_| is_equipment)
        .map_or(at, |bbox_center| transform.node_pixel(index, bbox_center));
    let drawn_half = half_size(&symbols.model.nodes[index]).map(|(w, h)| (w * transform.scale, h * transform.scale));
    let nozzle_half = nozzle_half_extent(symbols, index, at, pixels);
    let full_nozzle_half = symbols
        .nozzle_extents
        .get(&symbols.model.nodes[index].name)
        .map(|(w, h)| (w * transform.scale, h * transform.scale));
    let largest =
        [drawn_half, nozzle_half, full_nozzle_half].into_iter().flatten().reduce(|a, b| (a.0.max(b.0), a.1.max(b.1)));
    let half = match largest {
        Some((w, h)) if is_equipment => {
            (w.clamp(symbol_half.0 * 0.6, symbol_half.0 * 8.0), h.clamp(symbol_half.1 * 0.6, symbol_half.1 * 8.0))
        }
        _ => symbol_half,
    };
    PlacedSymbol { symbol, at, half, angle: 0 }
}

fn nozzle_half_extent(
    symbols: &NodeSymbols<'_, '_>,
    index: usize,
    at: Point,
    pixels: &[Option<Point>],
) -> Option<Point> {
    let points: Vec<Point> = symbols.parts[index].iter().filter_map(|part| pixels[*part]).collect();
    let max_offset =
        |offset: fn(&Point, &Point) -> f64| points.iter().map(|point| offset(point, &at)).fold(0.0, f64::max);
    let half = (max_offset(|point, at| (point.0 - at.0).abs()), max_offset(|point, at| (point.1 - at.1).abs()));
    (points.len() > 1 && half.0.max(half.1) > 0.0).then_some(half)
}

/// Returns the routes of pipes and signals: as drawn if known, otherwise with right angles.
fn routes(
    symbols: &NodeSymbols<'_, '_>,
    placed_symbols: &[Option<PlacedSymbol>],
    transform: &PixelTransform,
) -> Vec<Route> {
    let names = symbols.by_name();
    let grid = CollisionGrid::from_symbols(placed_symbols);
    let mut drawn: Vec<(usize, EdgeRole, usize, usize)> = symbols.drawn_edges().collect();
    // Signals avoid the pipes, so pipes come first.
    drawn.sort_by_key(|(_, role, ..)| *role != EdgeRole::Flow);
    let mut routes: Vec<Route> = Vec::new();
    let mut obstacles: Option<Obstacles> = None;
    for (edge, role, from, to) in drawn {
        let fields = symbols.model.edges[edge].fields;
        let named_node = |key: &str| fields.get(key).and_then(Value::as_str).and_then(|name| names.get(name).copied());
        let (Some(a), Some(b)) = (
            placed_symbols[named_node("drawn_from").unwrap_or(from)].as_ref().or(placed_symbols[from].as_ref()),
            placed_symbols[named_node("drawn_to").unwrap_or(to)].as_ref().or(placed_symbols[to].as_ref()),
        ) else {
            continue;
        };
        let points = match (path(fields, transform, from), role) {
            (Some(path), EdgeRole::Flow) => routes::drawn_route(&path, a, b),
            (Some(path), _) => path,
            (None, EdgeRole::Flow) => routes::elbow(symbols, placed_symbols, &grid, (from, to)),
            (None, EdgeRole::Signal) => {
                let obstacles = obstacles.get_or_insert_with(|| Obstacles::new(&routes, placed_symbols));
                signals::route(a, b, obstacles)
            }
            (None, _) => vec![a.at, b.at],
        };
        routes.push(Route { edge, role, points });
    }
    routes
}

fn path(fields: Object<'_>, transform: &PixelTransform, node: usize) -> Option<Vec<Point>> {
    let list = fields.get("orig_path").and_then(Value::as_array)?;
    let point = |value: Value<'_>| {
        let pair = value.as_array()?;
        let number = |index| pair.get(index).and_then(Value::as_f64).filter(|number| is_coordinate(*number));
        Some(transform.node_pixel(node, (number(0)?, number(1)?)))
    };
    let points: Vec<Point> = list.iter().filter_map(point).collect();
    (points.len() > 1).then_some(points)
}
