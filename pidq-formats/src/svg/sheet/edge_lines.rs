//! Lines of pipes and signals that the line types of a file do not tell apart: process connections, the start of the dashes
//! of a signal, and the heat tracing of a pipe.

use std::collections::HashMap;

use crate::model::{Edge, EdgeRole, Model, text};
use crate::snake_case::snake_case;
use crate::svg::scene::Point;
use crate::svg::signals::is_process_connection;
use crate::svg::symbol_marks::listed_attribute;

use super::outline::{Drawn, Outline, Step};

/// Distance of the line of a heat tracing from its pipe, in millimeters, and its dashes.
const TRACING_DISTANCE: f64 = 1.0;
const TRACING_DASH: &str = "1.25 1.75";
/// Longest miter of the line of a heat tracing at a corner, relative to its distance.
const MAX_MITER: f64 = 3.0;
/// Words of a heat tracing, and words that deny one.
const TRACINGS: &[&str] = &["tracing", "traced", "electric", "steam", "hot_water", "jacket", "yes", "true"];
const NO_TRACING: &[&str] = &["no", "not", "none", "without", "untraced"];

/// Segments with heat tracing, by the ids to which edges refer.
pub struct TracedSegments(HashMap<String, bool>);

impl TracedSegments {
    pub fn new(model: &Model<'_>) -> TracedSegments {
        let traced = model.nodes.iter().filter(|node| node.is_group()).filter_map(|node| {
            let kind = listed_attribute(node.fields, "HeatTracingType");
            (!kind.is_empty()).then(|| (node.name.clone(), is_tracing(&kind)))
        });
        TracedSegments(traced.collect())
    }

    /// Returns true if a pipe is stated to be traced: by itself, or by its segment.
    fn contains(&self, edge: &Edge<'_>) -> bool {
        let own = listed_attribute(edge.fields, "HeatTracingType");
        let segment = || edge.fields.get("segment").is_some_and(|segment| self.0.get(&text(segment)) == Some(&true));
        if own.is_empty() { segment() } else { is_tracing(&own) }
    }
}

/// Returns true if a value names a kind of heat tracing; false for one that denies it or is not known.
fn is_tracing(value: &str) -> bool {
    let value = snake_case(value);
    let has = |word: &&str| format!("_{value}_").contains(&format!("_{word}_"));
    TRACINGS.iter().any(has) && !NO_TRACING.iter().any(has)
}

/// Adjusts the lines of a pipe or a signal.
pub fn adjust(edge: &Edge<'_>, traced: &TracedSegments, drawn: &mut Vec<Drawn>) {
    if edge.role() == EdgeRole::Flow {
        if traced.contains(edge) {
            let tracing: Vec<Drawn> = drawn.iter().filter_map(tracing_of).collect();
            drawn.extend(tracing);
        }
        return;
    }
    for line in drawn.iter_mut().filter(|line| !line.paint.dash.is_empty()) {
        if is_process_connection(edge.class()) {
            // ISA-5.1 has a solid line to the process. Some systems write the line type of signals.
            line.paint.dash = "";
        } else if let Outline::Path(steps) = &mut line.outline {
            // The signal arrives with a dash, not with a gap.
            reverse(steps);
        }
    }
}

/// Reverses a path of straight lines; others are unchanged.
fn reverse(steps: &mut [Step]) {
    let Some(points) = points(steps) else { return };
    for (index, point) in points.into_iter().rev().enumerate() {
        steps[index] = if index == 0 { Step::Move(point) } else { Step::Line(point) };
    }
}

/// Returns the corners of one open path of straight lines.
fn points(steps: &[Step]) -> Option<Vec<Point>> {
    let point = |(index, step): (usize, &Step)| match (index, step) {
        (0, Step::Move(to)) => Some(*to),
        (1.., Step::Line(to)) => Some(*to),
        _ => None,
    };
    steps.iter().enumerate().map(point).collect()
}

/// Returns the dashed line along a pipe, on its right in flow direction.
fn tracing_of(pipe: &Drawn) -> Option<Drawn> {
    let Outline::Path(steps) = &pipe.outline else { return None };
    let mut points = points(steps)?;
    points.dedup();
    let normals: Vec<Point> = points.windows(2).map(|pair| right_of(pair[0], pair[1])).collect();
    let first = *normals.first()?;
    let shifted = points.iter().enumerate().map(|(index, (x, y))| {
        let before = index.checked_sub(1).map_or(first, |index| normals[index]);
        let after = normals.get(index).copied().unwrap_or(before);
        let (dx, dy) = miter(before, after);
        let to = (x + dx * TRACING_DISTANCE, y + dy * TRACING_DISTANCE);
        if index == 0 { Step::Move(to) } else { Step::Line(to) }
    });
    let paint = pipe.paint.clone().dashed(TRACING_DASH);
    Some(Drawn { outline: Outline::Path(shifted.collect()), paint, is_annotation: false })
}

/// Returns the unit vector to the right of a direction, on a sheet whose y axis points downwards.
fn right_of(from: Point, to: Point) -> Point {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = dx.hypot(dy).max(1e-9);
    (-dy / length, dx / length)
}

/// Returns the shift of a corner that has the distance 1 from both sections.
fn miter(before: Point, after: Point) -> Point {
    let cos = before.0 * after.0 + before.1 * after.1;
    let factor = (1.0 / (1.0 + cos).max(1e-9)).min(MAX_MITER);
    ((before.0 + after.0) * factor, (before.1 + after.1) * factor)
}
