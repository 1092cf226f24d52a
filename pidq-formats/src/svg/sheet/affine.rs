//! Affine transforms of the plane.

use crate::svg::scene::Point;

/// Transform of a point (x, y) to (a·x + c·y + e, b·x + d·y + f).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Affine {
    a: f64,
    b: f64,
    c: f64,
    d: f64,
    e: f64,
    f: f64,
}

impl Affine {
    pub fn new(a: f64, b: f64, c: f64, d: f64, e: f64, f: f64) -> Affine {
        Affine { a, b, c, d, e, f }
    }

    /// Returns the placement of a shape: scaled, mirrored by a negative scale, rotated by the angle, and moved.
    pub fn placement(at: Point, degrees: f64, scale: Point) -> Affine {
        let (sin, cos) = sin_cos(degrees);
        let (sx, sy) = scale;
        Affine::new(cos * sx, sin * sx, -sin * sy, cos * sy, at.0, at.1)
    }

    /// Returns the transform that applies `inner` first.
    pub fn after(self, inner: Affine) -> Affine {
        let (e, f) = self.apply((inner.e, inner.f));
        let (a, b) = self.vector((inner.a, inner.b));
        let (c, d) = self.vector((inner.c, inner.d));
        Affine { a, b, c, d, e, f }
    }

    pub fn apply(self, point: Point) -> Point {
        let (x, y) = self.vector(point);
        (x + self.e, y + self.f)
    }

    /// Transforms a direction, which does not move.
    pub fn vector(self, (x, y): Point) -> Point {
        (self.a * x + self.c * y, self.b * x + self.d * y)
    }

    /// Returns the factor by which lengths grow, if it is the same in all directions.
    pub fn uniform_scale(self) -> Option<f64> {
        let (x, y) = (self.a.hypot(self.b), self.c.hypot(self.d));
        let is_right_angle = (self.a * self.c + self.b * self.d).abs() < 1e-9 * x * y;
        (is_right_angle && (x - y).abs() < 1e-6 * x.max(y)).then_some(x)
    }

    /// Returns the factor by which heights grow.
    pub fn height_scale(self) -> f64 {
        self.c.hypot(self.d)
    }
}

/// Returns sine and cosine of an angle in degrees; exact for right angles.
pub fn sin_cos(degrees: f64) -> Point {
    match degrees.rem_euclid(360.0) {
        0.0 => (0.0, 1.0),
        90.0 => (1.0, 0.0),
        180.0 => (0.0, -1.0),
        270.0 => (-1.0, 0.0),
        degrees => degrees.to_radians().sin_cos(),
    }
}
