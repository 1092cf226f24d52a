//! Affine transformations, in the layout of PDF.

use lopdf::Object;

use super::layout::Direction;

/// An affine transformation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Matrix(pub [f64; 6]);

impl Matrix {
    pub const IDENTITY: Matrix = Matrix([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);

    pub fn from_numbers(numbers: &[Object]) -> Option<Matrix> {
        let values: Vec<f64> = numbers.iter().map(number).collect();
        Some(Matrix(values.try_into().ok()?))
    }

    pub fn translation(x: f64, y: f64) -> Matrix {
        Matrix([1.0, 0.0, 0.0, 1.0, x, y])
    }

    /// Returns the transformation that applies this one, then another.
    pub fn then(&self, next: &Matrix) -> Matrix {
        let ([a, b, c, d, e, f], [g, h, i, j, k, l]) = (self.0, next.0);
        Matrix([a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j, e * g + f * i + k, e * h + f * j + l])
    }

    pub fn apply(&self, x: f64, y: f64) -> (f64, f64) {
        let [a, b, c, d, e, f] = self.0;
        (a * x + c * y + e, b * x + d * y + f)
    }

    /// Returns the height of text of a font size.
    pub fn height(&self, size: f64) -> f64 {
        let [_, _, c, d, _, _] = self.0;
        (c.hypot(d) * size).abs().max(0.01)
    }

    /// Returns the direction of text on a page whose y axis points downward.
    pub fn direction(&self) -> Direction {
        let [a, b, ..] = self.0;
        match () {
            () if a.abs() >= 4.0 * b.abs() => {
                if a >= 0.0 {
                    Direction::Right
                } else {
                    Direction::Left
                }
            }
            () if b.abs() >= 4.0 * a.abs() => {
                if b < 0.0 {
                    Direction::Up
                } else {
                    Direction::Down
                }
            }
            () => Direction::Oblique,
        }
    }
}

pub fn number(object: &Object) -> f64 {
    object.as_float().map_or(0.0, f64::from)
}
