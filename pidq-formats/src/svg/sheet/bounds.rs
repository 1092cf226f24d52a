//! Bounds: rectangles around what is drawn.

use crate::svg::scene::Point;

use super::outline::{Align, LINE_SPACING, Outline, Step, Text};

/// Mean width of a character relative to the height of a text.
const LETTER_WIDTH: f64 = 0.55;

/// Rectangle from its lowest to its highest coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    pub low: Point,
    pub high: Point,
}

impl Bounds {
    /// Returns the square around a point.
    pub fn around((x, y): Point, half: f64) -> Bounds {
        Bounds { low: (x - half, y - half), high: (x + half, y + half) }
    }

    pub fn union(self, other: Bounds) -> Bounds {
        Bounds {
            low: (self.low.0.min(other.low.0), self.low.1.min(other.low.1)),
            high: (self.high.0.max(other.high.0), self.high.1.max(other.high.1)),
        }
    }

    /// Returns true if another rectangle is inside.
    pub fn contains(self, other: Bounds) -> bool {
        self.union(other) == self
    }

    pub fn overlaps(self, other: Bounds) -> bool {
        self.low.0 < other.high.0 && other.low.0 < self.high.0 && self.low.1 < other.high.1 && other.low.1 < self.high.1
    }

    /// Returns the rectangle enlarged by a factor around its center.
    pub fn scaled(self, factor: f64) -> Bounds {
        let (x, y) =
            ((self.high.0 - self.low.0) * (factor - 1.0) / 2.0, (self.high.1 - self.low.1) * (factor - 1.0) / 2.0);
        Bounds { low: (self.low.0 - x, self.low.1 - y), high: (self.high.0 + x, self.high.1 + y) }
    }

    pub fn grown(self, by: f64) -> Bounds {
        Bounds { low: (self.low.0 - by, self.low.1 - by), high: (self.high.0 + by, self.high.1 + by) }
    }

    fn of_points(points: impl Iterator<Item = Point>) -> Option<Bounds> {
        points.map(|point| Bounds { low: point, high: point }).reduce(Bounds::union)
    }
}

/// Returns the bounds of an outline. Those of a curve include its control points.
pub fn of(outline: &Outline) -> Option<Bounds> {
    match outline {
        Outline::Path(steps) => Bounds::of_points(steps.iter().flat_map(|step| match *step {
            Step::Move(to) | Step::Line(to) => vec![to],
            Step::Cubic(a, b, to) => vec![a, b, to],
            Step::Close => Vec::new(),
        })),
        Outline::Circle(center, radius) => Some(Bounds::around(*center, *radius)),
        Outline::Text(text) => of_text(text),
    }
}

fn of_text(text: &Text) -> Option<Bounds> {
    let letters = text.lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
    let width = letters as f64 * LETTER_WIDTH * text.height;
    let left = match text.align {
        Align::Start => 0.0,
        Align::Middle => -width / 2.0,
        Align::End => -width,
    };
    let top = (text.baseline - 0.8) * text.height;
    let bottom = top + (1.0 + LINE_SPACING * (text.lines.len() - 1) as f64) * text.height;
    let (sin, cos) = text.rotation.to_radians().sin_cos();
    let corners = [(left, top), (left + width, top), (left, bottom), (left + width, bottom)];
    Bounds::of_points(corners.into_iter().map(|(x, y)| (text.at.0 + x * cos - y * sin, text.at.1 + x * sin + y * cos)))
}
