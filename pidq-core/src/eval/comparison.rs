//! Comparison operators on numbers.

use super::row_set::RowSet;

/// A comparison operator.
#[derive(Clone, Copy)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
}

impl Comparison {
    pub fn from_name(name: &str) -> Option<Comparison> {
        Some(match name {
            "eq" => Comparison::Equal,
            "ne" => Comparison::NotEqual,
            "gt" => Comparison::Greater,
            "gte" => Comparison::GreaterOrEqual,
            "lt" => Comparison::Less,
            "lte" => Comparison::LessOrEqual,
            _ => return None,
        })
    }

    /// Returns the comparison with the sides swapped.
    pub fn mirrored(self) -> Comparison {
        match self {
            Comparison::Greater => Comparison::Less,
            Comparison::GreaterOrEqual => Comparison::LessOrEqual,
            Comparison::Less => Comparison::Greater,
            Comparison::LessOrEqual => Comparison::GreaterOrEqual,
            same => same,
        }
    }

    /// Compares pairs of numbers.
    pub fn all(self, left: &[f64], right: &[f64]) -> Vec<bool> {
        let pairs = left.iter().zip(right);
        match self {
            Comparison::Equal => pairs.map(|(a, b)| a == b).collect(),
            Comparison::NotEqual => pairs.map(|(a, b)| a != b).collect(),
            Comparison::Greater => pairs.map(|(a, b)| a > b).collect(),
            Comparison::GreaterOrEqual => pairs.map(|(a, b)| a >= b).collect(),
            Comparison::Less => pairs.map(|(a, b)| a < b).collect(),
            Comparison::LessOrEqual => pairs.map(|(a, b)| a <= b).collect(),
        }
    }

    /// Keeps the rows whose number satisfies the comparison. Rows without a number hold NaN, which equals nothing.
    pub fn retain_rows(self, numbers: &[f64], constant: f64, rows: &mut RowSet) {
        match self {
            Comparison::Equal => rows.retain(numbers, |number| number == constant),
            Comparison::NotEqual => rows.retain(numbers, |number| number != constant),
            Comparison::Greater => rows.retain(numbers, |number| number > constant),
            Comparison::GreaterOrEqual => rows.retain(numbers, |number| number >= constant),
            Comparison::Less => rows.retain(numbers, |number| number < constant),
            Comparison::LessOrEqual => rows.retain(numbers, |number| number <= constant),
        }
    }
}
