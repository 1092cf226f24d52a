//! Ways of pipes: with right angles, out of a nozzle away from its equipment; symbols in the pipe turn with it.

use crate::model::Purpose;
use crate::symbols::Place;

use super::occupied::Occupied;
use super::scene::{Cast, Placed, Point, Route};

/// Closer than this is in line.
const IN_LINE: f64 = 3.0;

#[derive(Clone, Copy, PartialEq)]
enum Axis {
    Horizontal,
    Vertical,
}

/// A drawn path, tied to the symbols at both ends.
pub fn along(path: &[Point], from: &Placed, to: &Placed) -> Vec<Point> {
    let mut points = vec![from.at];
    points.extend_from_slice(path);
    points.push(to.at);
    points.dedup_by(|a, b| (a.0 - b.0).hypot(a.1 - b.1) < 0.5);
    points
}

/// A way with right angles between two symbols. Where nothing says how it leaves, the one that passes fewer others.
pub fn elbow(
    cast: &Cast<'_, '_>,
    places: &[Option<Placed>],
    occupied: &Occupied,
    (from, to): (usize, usize),
) -> Vec<Point> {
    let (Some(a), Some(b)) = (&places[from], &places[to]) else { return Vec::new() };
    let (leaves, enters) = (axis(cast, places, from), axis(cast, places, to));
    let usual = bend(a.at, leaves, b.at, enters);
    if leaves.is_some() || enters.is_some() {
        return usual;
    }
    let other = bend(a.at, Some(Axis::Vertical), b.at, None);
    if occupied.passed(&other) < occupied.passed(&usual) { other } else { usual }
}

fn bend(a: Point, leaves: Option<Axis>, b: Point, enters: Option<Axis>) -> Vec<Point> {
    use Axis::{Horizontal, Vertical};
    if (a.0 - b.0).abs() < IN_LINE || (a.1 - b.1).abs() < IN_LINE {
        return vec![a, b];
    }
    let middle = ((a.0 + b.0) / 2.0, (a.1 + b.1) / 2.0);
    match (leaves, enters) {
        (Some(Horizontal), Some(Horizontal)) => vec![a, (middle.0, a.1), (middle.0, b.1), b],
        (Some(Vertical), Some(Vertical)) => vec![a, (a.0, middle.1), (b.0, middle.1), b],
        (Some(Vertical), _) | (None, Some(Horizontal)) => vec![a, (a.0, b.1), b],
        _ => vec![a, (b.0, a.1), b],
    }
}

/// The way on which a pipe leaves a nozzle: away from its equipment. Connectors lie.
fn axis(cast: &Cast<'_, '_>, places: &[Option<Placed>], index: usize) -> Option<Axis> {
    let place = places[index].as_ref()?;
    if place.symbol.place == Place::Connector {
        return Some(Axis::Horizontal);
    }
    let owner = places[cast.outline.owner[index]?].as_ref()?;
    let (dx, dy) = ((place.at.0 - owner.at.0) / owner.half.0, (place.at.1 - owner.at.1) / owner.half.1);
    Some(if dx.abs() >= dy.abs() { Axis::Horizontal } else { Axis::Vertical })
}

/// Turns the symbols that are in a pipe along it.
pub fn turn(places: &mut [Option<Placed>], routes: &[Route], cast: &Cast<'_, '_>) {
    let mut angles: Vec<Option<i32>> = vec![None; places.len()];
    for route in routes.iter().filter(|route| route.purpose == Purpose::Flow) {
        let edge = &cast.model.edges[route.edge];
        let ends = [
            (cast.drawn_end(edge.to.node), last(&route.points)),
            (cast.drawn_end(edge.from.node), first(&route.points)),
        ];
        for (node, angle) in ends {
            if let (Some(node), Some(angle)) = (node, angle) {
                // The pipe that comes in decides; where none does, the one that leaves.
                angles[node].get_or_insert(angle);
            }
        }
    }
    for (place, angle) in places.iter_mut().zip(angles) {
        let Some(place) = place else { continue };
        if matches!(place.symbol.place, Place::Inline | Place::Connector) {
            place.angle = angle.unwrap_or(0);
        }
    }
}

fn first(points: &[Point]) -> Option<i32> {
    points.windows(2).find_map(|pair| angle(pair[0], pair[1]))
}

fn last(points: &[Point]) -> Option<i32> {
    points.windows(2).rev().find_map(|pair| angle(pair[0], pair[1]))
}

/// The direction of a stretch, to the nearest right angle. A stretch of no length has none.
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
