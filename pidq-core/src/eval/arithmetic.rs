//! Vectorized arithmetic on numeric columns: block by block, without intermediate values.

use std::iter;

use super::EvalContext;
use super::column_view::ColumnView;
use super::comparison::Comparison;
use super::plan::Plan;
use super::plan::dependencies::DependencyKind;
use crate::arena::{Cell, ContainerId};
use crate::value::Value;

/// Expression that has a number for every row.
pub(crate) enum Numeric<'a> {
    Field(&'a [f64]),
    Constant(f64),
    Absolute(Box<Numeric<'a>>),
    Binary(Operation, Box<Numeric<'a>>, Box<Numeric<'a>>),
}

/// A function of two numbers.
#[derive(Clone, Copy)]
pub(crate) enum Operation {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Power,
}

/// Rows processed at a time: small enough for the L1 cache.
const BLOCK_SIZE: usize = 256;

impl<'a> EvalContext<'a> {
    /// Returns the arithmetic expression of a plan, and its cost per row.
    pub(super) fn numeric(&mut self, plan: &'a Plan, list: ContainerId) -> Option<(Numeric<'a>, u64)> {
        match plan {
            Plan::Get(path) if path.is_plain => {
                let numbers = self.column(path, list)?.numbers(self.document);
                let cost = 1 + path.keys.len() as u64;
                numbers.is_complete.then_some((Numeric::Field(&numbers.values), cost))
            }
            Plan::Call(call) if call.dependency != DependencyKind::Nothing => {
                match (call.function.standard_name()?, &*call.args) {
                    ("abs", [inner]) => {
                        let (inner, cost) = self.numeric(inner, list)?;
                        Some((Numeric::Absolute(Box::new(inner)), cost + 1))
                    }
                    (name, [left, right]) => {
                        let operation = Operation::from_name(name)?;
                        let ((left, a), (right, b)) = (self.numeric(left, list)?, self.numeric(right, list)?);
                        let two = Numeric::Binary(operation, Box::new(left), Box::new(right));
                        Some((two, a + b + operation.cost()))
                    }
                    _ => None,
                }
            }
            _ => match self.constant_value(plan)? {
                (Value::Number(number), cost) => Some((Numeric::Constant(number.value()), cost)),
                _ => None,
            },
        }
    }

    /// Returns the comparison of two such expressions, and its cost per row.
    pub(super) fn numeric_comparison(
        &mut self,
        plan: &'a Plan,
        list: ContainerId,
    ) -> Option<(Comparison, Numeric<'a>, Numeric<'a>, u64)> {
        let Plan::Call(call) = plan else { return None };
        let [left, right] = &*call.args else { return None };
        let comparison = Comparison::from_name(call.function.standard_name()?)?;
        if self.reads_rounded_integers(left, list) || self.reads_rounded_integers(right, list) {
            return None;
        }
        let ((left, a), (right, b)) = (self.numeric(left, list)?, self.numeric(right, list)?);
        Some((comparison, left, right, a + b + 1))
    }

    /// Returns whether a plan is a field with integers whose doubles are other integers.
    fn reads_rounded_integers(&mut self, plan: &'a Plan, list: ContainerId) -> bool {
        let Plan::Get(path) = plan else { return false };
        if !self.document.has_rounded_integers() || !path.is_plain {
            return false;
        }
        self.column(path, list).is_some_and(|column| self.has_rounded_integers(column))
    }
}

impl Numeric<'_> {
    /// Returns the numbers of all rows of a view.
    pub fn all(&self, view: &ColumnView<'_>) -> Vec<f64> {
        let mut numbers = vec![0.0; view.len()];
        let mut buffers = Vec::new();
        for (block, start) in numbers.chunks_mut(BLOCK_SIZE).zip((0..).step_by(BLOCK_SIZE)) {
            self.fill(view, start, block, &mut buffers);
        }
        numbers
    }

    /// Writes the numbers of all rows of a view into as many cells.
    pub fn write_cells(&self, view: &ColumnView<'_>, cells: &mut [Cell]) {
        let (mut numbers, mut buffers) = ([0.0; BLOCK_SIZE], Vec::new());
        for (block, start) in cells.chunks_mut(BLOCK_SIZE).zip((0..).step_by(BLOCK_SIZE)) {
            let numbers = &mut numbers[..block.len()];
            self.fill(view, start, numbers, &mut buffers);
            block.iter_mut().zip(numbers).for_each(|(cell, number)| *cell = Cell::number(*number));
        }
    }

    /// Computes the numbers of the rows from `start` on. Recursive: as deep as the query.
    fn fill(&self, view: &ColumnView<'_>, start: usize, block: &mut [f64], buffers: &mut Vec<Vec<f64>>) {
        match self {
            Numeric::Constant(number) => block.fill(*number),
            Numeric::Field(numbers) => gather(numbers, view, start, block),
            Numeric::Absolute(inner) => {
                inner.fill(view, start, block, buffers);
                block.iter_mut().for_each(|number| *number = number.abs());
            }
            Numeric::Binary(operation, left, right) => {
                left.fill(view, start, block, buffers);
                if let Numeric::Constant(number) = **right {
                    return operation.apply(block, iter::repeat(number));
                }
                let mut other = buffers.pop().unwrap_or_default();
                other.resize(block.len(), 0.0);
                right.fill(view, start, &mut other, buffers);
                operation.apply(block, other.iter().copied());
                buffers.push(other);
            }
        }
    }
}

fn gather(numbers: &[f64], view: &ColumnView<'_>, start: usize, block: &mut [f64]) {
    match view.rows {
        None => block.copy_from_slice(&numbers[start..start + block.len()]),
        Some(rows) => {
            block.iter_mut().zip(&rows[start..]).for_each(|(number, row)| *number = numbers[*row as usize]);
        }
    }
}

impl Operation {
    fn from_name(name: &str) -> Option<Operation> {
        Some(match name {
            "add" => Operation::Add,
            "subtract" => Operation::Subtract,
            "multiply" => Operation::Multiply,
            "divide" => Operation::Divide,
            "mod" => Operation::Remainder,
            "pow" => Operation::Power,
            _ => return None,
        })
    }

    /// Steps of the call itself: `+` takes one for the operation.
    fn cost(self) -> u64 {
        if let Operation::Add = self { 2 } else { 1 }
    }

    fn apply(self, left: &mut [f64], right: impl Iterator<Item = f64>) {
        let pairs = left.iter_mut().zip(right);
        match self {
            Operation::Add => pairs.for_each(|(a, b)| *a += b),
            Operation::Subtract => pairs.for_each(|(a, b)| *a -= b),
            Operation::Multiply => pairs.for_each(|(a, b)| *a *= b),
            Operation::Divide => pairs.for_each(|(a, b)| *a /= b),
            Operation::Remainder => pairs.for_each(|(a, b)| *a = remainder(*a, b)),
            Operation::Power => pairs.for_each(|(a, b)| *a = power(*a, b)),
        }
    }
}

/// Returns the remainder of a division, as `%` does: with the sign of the dividend, and exact.
///
/// Hot: the function of the platform takes several times as long. With a small integer as divisor, the product with the
/// quotient is exact, and with the right quotient the difference too. A quotient that was rounded up is one too large.
#[inline]
pub(crate) fn remainder(dividend: f64, divisor: f64) -> f64 {
    const DIVISOR_LIMIT: f64 = (1 << 21) as f64;
    const QUOTIENT_LIMIT: f64 = (1_u32 << 31) as f64;
    let is_small_integer = divisor > 0.0 && divisor <= DIVISOR_LIMIT && f64::from(divisor as i32) == divisor;
    let quotient = dividend / divisor;
    if is_small_integer && dividend >= 0.0 && quotient < QUOTIENT_LIMIT {
        let rest = dividend - f64::from(quotient as i32) * divisor;
        if rest >= 0.0 && rest < divisor {
            return rest;
        }
    }
    dividend % divisor
}

/// Returns `base` to the power of `exponent`.
///
/// JavaScript has NaN where IEEE 754 has 1: for `1 ^ NaN`, and for 1 or -1 to an infinite power. V8 rounds a square like a
/// product, which the power function of the platform does not always do.
#[inline]
pub(crate) fn power(base: f64, exponent: f64) -> f64 {
    if exponent == 2.0 {
        return base * base;
    }
    if exponent.is_nan() || (base.abs() == 1.0 && exponent.is_infinite()) {
        return f64::NAN;
    }
    base.powf(exponent)
}

#[cfg(test)]
mod tests {
    use super::{power, remainder};

    /// Asserts that a remainder has the same bits as that of the platform, or is NaN like it.
    fn check_remainder(dividend: f64, divisor: f64) {
        let (ours, expected) = (remainder(dividend, divisor), dividend % divisor);
        let is_same = ours.to_bits() == expected.to_bits() || (ours.is_nan() && expected.is_nan());
        assert!(is_same, "{dividend:?} % {divisor:?}: {ours:?} instead of {expected:?}");
    }

    #[test]
    fn remainders_are_those_of_the_platform() {
        let divisors =
            [1.0, 2.0, 3.0, 7.0, 10.0, 360.0, 2_097_151.0, 2_097_152.0, 2_097_153.0, 1e9, 0.1, 2.5, 1e-300, 1e300];
        let special = [0.0, f64::MIN_POSITIVE, 5e-324, 0.1, f64::MAX, f64::INFINITY, f64::NAN, 9_007_199_254_740_993.0];
        let around = |number: f64| [number.next_down(), number, number.next_up()];
        for divisor in divisors.into_iter().chain(special).flat_map(|divisor| [divisor, -divisor]) {
            let multiples =
                [1.0, 2.0, 3.0, 5.0, 97.0, 1e6, 2_147_483_647.0, 2_147_483_648.0, 1e15].map(|n| n * divisor);
            for dividend in special.into_iter().chain(multiples).flat_map(around) {
                check_remainder(dividend, divisor);
                check_remainder(-dividend, divisor);
            }
        }
    }

    #[test]
    fn remainders_of_random_numbers_are_those_of_the_platform() {
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 11
        };
        for _ in 0..200_000 {
            let (dividend, divisor) = (random() as f64 / 1e6, (random() % 3_000_000) as f64);
            check_remainder(dividend, divisor);
            check_remainder((random() % 1_000_000) as f64 / 10.0, (random() % 400) as f64);
        }
    }

    #[test]
    fn squares_are_rounded_as_in_javascript() {
        assert_eq!(power(995.3, 2.0), 990_622.09);
        assert_eq!(power(1358.1, 2.0), 1_844_435.609_999_999_6);
        assert_eq!(power(1e200, 2.0), f64::INFINITY);
        assert!(power(f64::NAN, 2.0).is_nan());
        assert!(power(-0.0, 2.0).is_sign_positive());
    }
}
