//! Pipe routing: right angles, out of a nozzle away from its equipment; symbols in the pipe rotate with it.

use crate::model::EdgeRole;
use crate::symbols::{Placement, with_outlet};

use super::collision_grid::CollisionGrid;
use super::scene::{NodeSymbols, PlacedSymbol, Point, Route};

/// Distance below which two points are aligned.
pub const ALIGNMENT_TOLERANCE: f64 = 3.0;

#[derive(Clone, Copy, PartialEq)]
enum Axis {
    Horizontal,
    Vertical,
}

/// Returns a drawn path, connected to the symbols at both ends.
pub fn drawn_route(path: &[Point], from: &PlacedSymbol, to: &PlacedSymbol) -> Vec<Point> {
    let mut points = vec![from.at];
    points.extend_from_slice(path);
    points.push(to.at);
    points.dedup_by(|a, b| (a.0 - b.0).hypot(a.1 - b.1) < 0.5);
    points
}

/// Returns a route with right angles between two symbols. If neither end fixes an axis, it is the route that crosses
/// fewer symbols.
pub fn elbow(
    symbols: &NodeSymbols<'_, '_>,
    placed_symbols: &[Option<PlacedSymbol>],
    grid: &CollisionGrid,
    (from, to): (usize, usize),
) -> Vec<Point> {
    let (Some(a), Some(b)) = (&placed_symbols[from], &placed_symbols[to]) else { return Vec::new() };
    let (exit, entry) = (exit_axis(symbols, placed_symbols, from), exit_axis(symbols, placed_symbols, to));
    let default_route = bend(a.at, exit, b.at, entry);
    if exit.is_some() || entry.is_some() {
        return default_route;
    }
    let alternative = bend(a.at, Some(Axis::Vertical), b.at, None);
    if grid.crossed_count(&alternative) < grid.crossed_count(&default_route) { alternative } else { default_route }
}

fn bend(a: Point, exit: Option<Axis>, b: Point, entry: Option<Axis>) -> Vec<Point> {
    use Axis::{Horizontal, Vertical};
    if (a.0 - b.0).abs() < ALIGNMENT_TOLERANCE || (a.1 - b.1).abs() < ALIGNMENT_TOLERANCE {
        return vec![a, b];
    }
    let middle = ((a.0 + b.0) / 2.0, (a.1 + b.1) / 2.0);
    match (exit, entry) {
        (Some(Horizontal), Some(Horizontal)) => vec![a, (middle.0, a.1), (middle.0, b.1), b],
        (Some(Vertical), Some(Vertical)) => vec![a, (a.0, middle.1), (b.0, middle.1), b],
        (Some(Vertical), _) | (None, Some(Horizontal)) => vec![a, (a.0, b.1), b],
        _ => vec![a, (b.0, a.1), b],
    }
}

/// Returns the axis on which a pipe leaves a nozzle: away from its equipment. Connectors are horizontal.
fn exit_axis(symbols: &NodeSymbols<'_, '_>, placed_symbols: &[Option<PlacedSymbol>], index: usize) -> Option<Axis> {
    let placed = placed_symbols[index].as_ref()?;
    if placed.symbol.placement == Placement::Connector {
        return Some(Axis::Horizontal);
    }
    let owner = placed_symbols[symbols.visibility.owner[index]?].as_ref()?;
    let (dx, dy) = ((placed.at.0 - owner.at.0) / owner.half.0, (placed.at.1 - owner.at.1) / owner.half.1);
    Some(if dx.abs() >= dy.abs() { Axis::Horizontal } else { Axis::Vertical })
}

/// Returns the lines from nozzles to their equipment. They end in its middle, under its symbol, so that they reach it
/// whatever its outline is.
pub fn stubs(symbols: &NodeSymbols<'_, '_>, placed_symbols: &[Option<PlacedSymbol>]) -> Vec<[Point; 2]> {
    let stub = |index: usize| {
        let placed = placed_symbols[index].as_ref().filter(|placed| placed.symbol.name == "nozzle")?;
        let owner = placed_symbols[symbols.visibility.owner[index]?].as_ref()?;
        let [left, top, right, bottom] = owner.bounds();
        let (x, y) = placed.at;
        match exit_axis(symbols, placed_symbols, index)? {
            Axis::Horizontal => (top..=bottom).contains(&y).then_some([(x, y), (owner.at.0, y)]),
            Axis::Vertical => (left..=right).contains(&x).then_some([(x, y), (x, owner.at.1)]),
        }
    };
    (0..placed_symbols.len()).filter_map(stub).collect()
}

/// Rotates the symbols in a pipe along it. The pipe of an angle valve in line leaves it at its side.
pub fn rotate_symbols(
    placed_symbols: &mut [Option<PlacedSymbol>],
    routes: &mut [Route],
    symbols: &NodeSymbols<'_, '_>,
) {
    turn_outlets(placed_symbols, routes, symbols);
    let mut angles: Vec<Option<i32>> = vec![None; placed_symbols.len()];
    let mut outlets: Vec<Option<i32>> = vec![None; placed_symbols.len()];
    for route in routes.iter().filter(|route| route.role == EdgeRole::Flow) {
        let edge = &symbols.model.edges[route.edge];
        let ends = [
            (symbols.drawn_end(edge.to.node), last(&route.points)),
            (symbols.drawn_end(edge.from.node), first(&route.points)),
        ];
        if let (Some(node), Some(angle)) = ends[1] {
            outlets[node].get_or_insert(angle);
        }
        for (node, angle) in ends {
            if let (Some(node), Some(angle)) = (node, angle) {
                // The incoming pipe decides; without one, the outgoing pipe.
                angles[node].get_or_insert(angle);
            }
        }
    }
    for ((placed, angle), outlet) in placed_symbols.iter_mut().zip(angles).zip(outlets) {
        let Some(placed) = placed else { continue };
        if let (Some(inlet), Some(outlet)) = (angle, outlet) {
            let straight = placed.symbol;
            placed.symbol = with_outlet(straight, (outlet - inlet) / 90);
            let scale = placed.half.0 / straight.half.0;
            if straight.name != placed.symbol.name {
                placed.half = (placed.symbol.half.0 * scale, placed.symbol.half.1 * scale);
            }
        }
        if matches!(placed.symbol.placement, Placement::Inline | Placement::Connector) {
            placed.angle = angle.unwrap_or(0);
        }
    }
}

/// Lengths of the turn behind an angle valve in line: to the side, and along the pipe; and the shortest one along it.
const TURN: Point = (16.0, 20.0);
const MIN_TURN: f64 = 11.0;

/// Leads the pipe out of an angle valve in line from the side of the valve back to the line, if it is long enough.
fn turn_outlets(placed_symbols: &[Option<PlacedSymbol>], routes: &mut [Route], symbols: &NodeSymbols<'_, '_>) {
    let mut inlets: Vec<Option<i32>> = vec![None; placed_symbols.len()];
    for route in routes.iter().filter(|route| route.role == EdgeRole::Flow) {
        if let Some(node) = symbols.drawn_end(symbols.model.edges[route.edge].to.node) {
            inlets[node] = inlets[node].or(last(&route.points));
        }
    }
    for route in routes.iter_mut().filter(|route| route.role == EdgeRole::Flow) {
        let Some(node) = symbols.drawn_end(symbols.model.edges[route.edge].from.node) else { continue };
        let Some(placed) = placed_symbols[node].as_ref().filter(|placed| placed.symbol.name == "angle_valve") else {
            continue;
        };
        // A further pipe out of the valve is not its outlet.
        let inlet = inlets[node].take();
        if inlet.is_some() && inlet == first(&route.points) {
            turn_outlet(&mut route.points, placed.half.0 / placed.symbol.half.0);
        }
    }
}

fn turn_outlet(points: &mut Vec<Point>, scale: f64) {
    let [start, end, ..] = points[..] else { return };
    let (dx, dy) = (end.0 - start.0, end.1 - start.1);
    let length = dx.hypot(dy).max(1e-9);
    let along = (TURN.1 * scale).min(length * 0.4);
    if along < MIN_TURN * scale {
        return;
    }
    let (dx, dy) = (dx / length, dy / length);
    let side = (-dy * TURN.0 * scale, dx * TURN.0 * scale);
    let back = (start.0 + dx * along, start.1 + dy * along);
    points.splice(1..1, [(start.0 + side.0, start.1 + side.1), (back.0 + side.0, back.1 + side.1), back]);
}

fn first(points: &[Point]) -> Option<i32> {
    points.windows(2).find_map(|pair| angle(pair[0], pair[1]))
}

fn last(points: &[Point]) -> Option<i32> {
    points.windows(2).rev().find_map(|pair| angle(pair[0], pair[1]))
}

/// Returns the direction of a section, to the nearest right angle; `None` for an empty one.
fn angle(a: Point, b: Point) -> Option<i32> {
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    if dx.hypot(dy) < 1.0 {
        return None;
    }
    Some(match (dx.abs() >= dy.abs(), dx >= 0.0, dy >= 0.0) {
        (true, true, _) => 0,
        (true, false, _) => 180,
        (false, _, true) => 90,
        (false, _, false) => 270,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pipe_of_an_angle_valve_turns_only_where_it_is_long_enough() {
        let turned = |end: Point, scale: f64| {
            let mut points = vec![(0.0, 0.0), end];
            turn_outlet(&mut points, scale);
            points
        };
        assert_eq!(turned((100.0, 0.0), 1.0), [(0.0, 0.0), (0.0, 16.0), (20.0, 16.0), (20.0, 0.0), (100.0, 0.0)]);
        assert_eq!(turned((0.0, 30.0), 1.0)[1..3], [(-16.0, 0.0), (-16.0, 12.0)]);
        assert_eq!(turned((20.0, 0.0), 1.0).len(), 2);
        assert_eq!(turned((20.0, 0.0), 0.5).len(), 5);
    }
}
