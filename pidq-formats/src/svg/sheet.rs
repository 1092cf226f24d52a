//! Places from the drawing itself: positions are scaled so that symbols have room, and pipes run as they were drawn.

use std::collections::HashMap;

use pidq_core::{Object, Value};

use crate::model::{Node, Purpose};
use crate::symbols::{self, Place};

use super::occupied::Occupied;
use super::routes;
use super::scene::{Cast, Placed, Point, Route, Scene};

/// How far apart neighbours in a pipe are to be, in pixels.
const SPACING: f64 = 30.0;
/// The sheet is at least and at most this wide or high.
const SMALLEST: f64 = 300.0;
const LARGEST: f64 = 6000.0;

/// Whether a number can be a place on a sheet, in any unit.
fn is_place(number: f64) -> bool {
    number.abs() < 1e9
}

/// A position on the drawing.
pub fn position(node: &Node<'_>) -> Option<Point> {
    let fields = node.fields;
    let number = |object: Object<'_>, key| object.get(key).and_then(Value::as_f64).filter(|number| is_place(*number));
    let pair = |object: Object<'_>, x, y| Some((number(object, x)?, number(object, y)?));
    let nested = || fields.get("position").and_then(Value::as_object);
    pair(fields, "orig_x", "orig_y")
        .or_else(|| pair(fields, "x", "y"))
        .or_else(|| pair(fields, "posX", "posY"))
        .or_else(|| pair(nested()?, "x", "y"))
        .or_else(|| middle(fields))
}

fn middle(fields: Object<'_>) -> Option<Point> {
    let [x, y, w, h] = bbox(fields)?;
    Some((x + w / 2.0, y + h / 2.0))
}

fn bbox(fields: Object<'_>) -> Option<[f64; 4]> {
    let list = fields.get("bbox").and_then(Value::as_array)?;
    let number = |index| list.get(index).and_then(Value::as_f64).filter(|number| is_place(*number));
    Some([number(0)?, number(1)?, number(2)?, number(3)?])
}

/// Half the size on the drawing.
fn half_size(node: &Node<'_>) -> Option<Point> {
    let number = |key| node.fields.get(key).and_then(Value::as_f64).filter(|number| *number > 0.0 && is_place(*number));
    let own = || Some((number("orig_bbox_width")?, number("orig_bbox_height")?));
    let (w, h) = own().or_else(|| bbox(node.fields).map(|[_, _, w, h]| (w, h)))?;
    Some((w / 2.0, h / 2.0))
}

/// Whether most of what is connected has a position.
pub fn is_placed(cast: &Cast<'_, '_>) -> bool {
    let drawable = (0..cast.symbols.len()).filter(|index| cast.is_drawable(*index));
    let (mut all, mut placed) = (0, 0);
    for index in drawable.filter(|index| cast.symbols[*index].place != Place::Bubble) {
        all += 1;
        placed += usize::from(position(&cast.model.nodes[index]).is_some());
    }
    placed * 2 > all
}

/// Where everything is on the drawing that is drawn.
fn positions(cast: &Cast<'_, '_>) -> Vec<Option<Point>> {
    let nodes = cast.model.nodes.iter().enumerate();
    let mut at: Vec<Option<Point>> =
        nodes.map(|(index, node)| position(node).filter(|_| cast.is_drawable(index))).collect();
    fill_gaps(cast, &mut at);
    at
}

/// How far nodes reach with all their nozzles, by name, in the units of the drawing: a part of it shows equipment no smaller.
pub fn reaches(cast: &Cast<'_, '_>) -> HashMap<String, Point> {
    let at = positions(cast);
    let reach = |(index, node): (usize, &Node<'_>)| {
        let own = middle(node.fields).or(at[index])?;
        Some((node.name.clone(), span_of_nozzles(cast, index, own, &at)?))
    };
    cast.model.nodes.iter().enumerate().filter_map(reach).collect()
}

/// How far each node is moved, so that sheets that were joined stand beside each other; nothing where there is one sheet.
fn sheet_shifts(cast: &Cast<'_, '_>, at: &[Option<Point>]) -> Vec<Point> {
    const GAP: f64 = 0.1;
    let is_joined = cast.model.metadata.is_some_and(|metadata| metadata.get("joined").is_some());
    if !is_joined {
        return Vec::new();
    }
    let mut sheets = Sheets::default();
    let of_node: Vec<usize> = cast.model.nodes.iter().zip(at).map(|(node, at)| sheets.note(node, *at)).collect();
    let bounds = || sheets.bounds.iter().map(|bounds| bounds.unwrap_or_default());
    let widest = bounds().map(|[low_x, _, high_x]| high_x - low_x).fold(0.0, f64::max);
    // Sheets with one place each have no width, and stand apart all the same.
    let gap = if widest > 0.0 { widest * GAP } else { 1.0 };
    let mut left = 0.0;
    let shifts = bounds().map(|[low_x, low_y, high_x]| {
        let shift = (left - low_x, -low_y);
        left += high_x - low_x + gap;
        shift
    });
    let shifts: Vec<Point> = shifts.collect();
    of_node.into_iter().map(|sheet| shifts[sheet]).collect()
}

/// Sheets that were joined, by what ids begin with, and how far each reaches: the lowest x and y, and the highest x.
#[derive(Default)]
struct Sheets<'n> {
    places: HashMap<&'n str, usize>,
    bounds: Vec<Option<[f64; 3]>>,
}

impl<'n> Sheets<'n> {
    /// The sheet of a node, which reaches as far as the node.
    fn note(&mut self, node: &'n Node<'_>, at: Option<Point>) -> usize {
        let name = node.name.split_once('#').map_or("", |(name, _)| name);
        let sheet = *self.places.entry(name).or_insert(self.bounds.len());
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

/// The sheet as it was drawn.
pub fn scene(cast: &Cast<'_, '_>) -> Scene {
    let mut at = positions(cast);
    let shifts = sheet_shifts(cast, &at);
    at.iter_mut().zip(&shifts).for_each(|(at, shift)| *at = at.map(|at| moved(at, *shift)));
    let frame = Frame::of(cast, &at, shifts);
    let pixels: Vec<Option<Point>> = at.iter().map(|place| place.map(|point| frame.pixel(point))).collect();
    let mut places: Vec<Option<Placed>> =
        pixels.iter().enumerate().map(|(index, at)| at.map(|at| placed(cast, index, at, &frame, &pixels))).collect();
    let routes = routes(cast, &places, &frame);
    routes::turn(&mut places, &routes, cast);
    lift_actuators(&mut places);
    Scene { places, routes, scale: frame.symbols }
}

/// An actuator that was inserted in the middle of its valve is drawn beside it, and the valve without one of its own.
fn lift_actuators(places: &mut [Option<Placed>]) {
    let actuators: Vec<usize> = (0..places.len()).filter(|index| is_actuator(&places[*index])).collect();
    for index in actuators {
        let Some(at) = places[index].as_ref().map(|actuator| actuator.at) else { continue };
        let is_here = |valve: &Placed| (valve.at.0 - at.0).hypot(valve.at.1 - at.1) < valve.half.0;
        let inline = places.iter_mut().flatten().filter(|place| place.symbol.place == Place::Inline);
        let Some(valve) = inline.into_iter().find(|valve| is_here(valve)) else { continue };
        valve.symbol = symbols::plain(valve.symbol);
        let valve = valve.clone();
        if let Some(actuator) = &mut places[index] {
            let reach = valve.half.1 + actuator.half.1;
            let is_lying = valve.angle % 180 == 0;
            actuator.angle = if is_lying { 0 } else { 90 };
            actuator.at = if is_lying { (valve.at.0, valve.at.1 - reach) } else { (valve.at.0 + reach, valve.at.1) };
        }
    }
}

fn is_actuator(place: &Option<Placed>) -> bool {
    place.as_ref().is_some_and(|place| place.symbol.name == "actuator")
}

/// What has no position stands between its neighbours in the pipe, or beside its owner.
fn fill_gaps(cast: &Cast<'_, '_>, at: &mut [Option<Point>]) {
    for _ in 0..4 {
        let known = at.to_vec();
        let mut near: Vec<Vec<Point>> = vec![Vec::new(); at.len()];
        for (_, _, from, to) in cast.drawn_edges() {
            near[to].extend(known[from]);
            near[from].extend(known[to]);
        }
        for index in (0..at.len()).filter(|index| known[*index].is_none() && cast.is_drawable(*index)) {
            let owner = cast.outline.owner[index].and_then(|owner| known[owner]);
            let points = if near[index].is_empty() { owner.into_iter().collect() } else { near[index].clone() };
            if !points.is_empty() {
                let count = points.len() as f64;
                let sum = points.iter().fold((0.0, 0.0), |sum, point| (sum.0 + point.0, sum.1 + point.1));
                at[index] = Some((sum.0 / count, sum.1 / count));
            }
        }
    }
}

/// From the drawing to pixels.
struct Frame {
    scale: f64,
    origin: Point,
    flip: bool,
    /// How large symbols are.
    symbols: f64,
    /// By node: how far its sheet was moved; none where there is one sheet.
    shifts: Vec<Point>,
}

/// Whether y grows upwards: as the drawing says, or the first of the sheets that were joined which says it.
fn counts_upwards(cast: &Cast<'_, '_>) -> bool {
    let sheets = cast.model.metadata.and_then(|fields| fields.get("sheets")).and_then(Value::as_array);
    let sheets = sheets.into_iter().flat_map(|sheets| sheets.iter()).filter_map(Value::as_object);
    cast.model.metadata.into_iter().chain(sheets).find_map(y_axis) == Some("up")
}

fn y_axis(metadata: Object<'_>) -> Option<&str> {
    metadata.get("coordinate_system")?.as_object()?.get("y_axis")?.as_str()
}

fn moved(point: Point, by: Point) -> Point {
    (point.0 + by.0, point.1 + by.1)
}

impl Frame {
    fn of(cast: &Cast<'_, '_>, at: &[Option<Point>], shifts: Vec<Point>) -> Frame {
        let points = || at.iter().flatten();
        let min = points().fold((f64::MAX, f64::MAX), |low, point| (low.0.min(point.0), low.1.min(point.1)));
        let max = points().fold((f64::MIN, f64::MIN), |high, point| (high.0.max(point.0), high.1.max(point.1)));
        let extent = (max.0 - min.0).max(max.1 - min.1);
        // One place alone has no extent.
        let extent = if extent > 1e-6 { extent } else { 1.0 };
        let wanted = SPACING / spacing(cast, at).unwrap_or(extent / 10.0);
        let scale = wanted.clamp(SMALLEST / extent, LARGEST / extent);
        let flip = counts_upwards(cast);
        let origin = if flip { (min.0, max.1) } else { min };
        Frame { scale, origin, flip, symbols: (scale / wanted).clamp(0.35, 1.0), shifts }
    }

    /// What stands on the sheet of a node.
    fn pixel_by(&self, node: usize, point: Point) -> Point {
        self.pixel(self.shifts.get(node).map_or(point, |shift| moved(point, *shift)))
    }

    fn pixel(&self, (x, y): Point) -> Point {
        let y = if self.flip { self.origin.1 - y } else { y - self.origin.1 };
        ((x - self.origin.0) * self.scale, y * self.scale)
    }
}

/// The distance of close neighbours in pipes: one in ten is closer.
fn spacing(cast: &Cast<'_, '_>, at: &[Option<Point>]) -> Option<f64> {
    let flow = cast.drawn_edges().filter(|(_, purpose, ..)| *purpose == Purpose::Flow);
    let gaps = flow.filter_map(|(_, _, from, to)| {
        let (a, b) = (at[from]?, at[to]?);
        Some((a.0 - b.0).hypot(a.1 - b.1))
    });
    let mut gaps: Vec<f64> = gaps.filter(|gap| *gap > 0.0).collect();
    gaps.sort_by(f64::total_cmp);
    gaps.get(gaps.len() / 10).copied()
}

/// Equipment is as large as it is drawn, or as its nozzles say; all else has the size of its symbol.
fn placed(cast: &Cast<'_, '_>, index: usize, at: Point, frame: &Frame, pixels: &[Option<Point>]) -> Placed {
    let symbol = cast.symbols[index];
    let usual = (symbol.half.0 * frame.symbols, symbol.half.1 * frame.symbols);
    let is_equipment = symbol.place == Place::Upright && symbol.name != "actuator";
    // The position is where the symbol was inserted, which need not be its middle.
    let at = middle(cast.model.nodes[index].fields)
        .filter(|_| is_equipment)
        .map_or(at, |middle| frame.pixel_by(index, middle));
    let own = half_size(&cast.model.nodes[index]).map(|(w, h)| (w * frame.scale, h * frame.scale));
    let spanned = span_of_nozzles(cast, index, at, pixels);
    let whole = cast.reaches.get(&cast.model.nodes[index].name).map(|(w, h)| (w * frame.scale, h * frame.scale));
    let larger = [own, spanned, whole].into_iter().flatten().reduce(|a, b| (a.0.max(b.0), a.1.max(b.1)));
    let half = match larger {
        Some((w, h)) if is_equipment => (w.clamp(usual.0 * 0.6, usual.0 * 8.0), h.clamp(usual.1 * 0.6, usual.1 * 8.0)),
        _ => usual,
    };
    Placed { symbol, at, half, angle: 0 }
}

fn span_of_nozzles(cast: &Cast<'_, '_>, index: usize, at: Point, pixels: &[Option<Point>]) -> Option<Point> {
    let points: Vec<Point> = cast.parts[index].iter().filter_map(|part| pixels[*part]).collect();
    let reach = |of: fn(&Point, &Point) -> f64| points.iter().map(|point| of(point, &at)).fold(0.0, f64::max);
    let half = (reach(|point, at| (point.0 - at.0).abs()), reach(|point, at| (point.1 - at.1).abs()));
    (points.len() > 1 && half.0.max(half.1) > 0.0).then_some(half)
}

/// The ways of pipes and signals: as drawn where that is told, and else with right angles.
fn routes(cast: &Cast<'_, '_>, places: &[Option<Placed>], frame: &Frame) -> Vec<Route> {
    let names = cast.by_name();
    let occupied = Occupied::by_symbols(places);
    let drawn: Vec<(usize, Purpose, usize, usize)> = cast.drawn_edges().collect();
    let mut list = Vec::new();
    for (edge, purpose, from, to) in drawn {
        let fields = cast.model.edges[edge].fields;
        let other = |key: &str| fields.get(key).and_then(Value::as_str).and_then(|name| names.get(name).copied());
        let (Some(a), Some(b)) = (
            places[other("drawn_from").unwrap_or(from)].as_ref().or(places[from].as_ref()),
            places[other("drawn_to").unwrap_or(to)].as_ref().or(places[to].as_ref()),
        ) else {
            continue;
        };
        let points = match (path(fields, frame, from), purpose) {
            (Some(path), Purpose::Flow) => routes::along(&path, a, b),
            (Some(path), _) => path,
            (None, Purpose::Flow) => routes::elbow(cast, places, &occupied, (from, to)),
            (None, _) => vec![a.at, b.at],
        };
        list.push(Route { edge, purpose, points });
    }
    list
}

fn path(fields: Object<'_>, frame: &Frame, node: usize) -> Option<Vec<Point>> {
    let list = fields.get("orig_path").and_then(Value::as_array)?;
    let point = |value: Value<'_>| {
        let pair = value.as_array()?;
        let number = |index| pair.get(index).and_then(Value::as_f64).filter(|number| is_place(*number));
        Some(frame.pixel_by(node, (number(0)?, number(1)?)))
    };
    let points: Vec<Point> = list.iter().filter_map(point).collect();
    (points.len() > 1).then_some(points)
}
