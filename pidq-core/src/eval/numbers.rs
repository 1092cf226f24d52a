//! Arithmetic on fields that hold numbers in every row: block by block, without values in between.

use super::Cx;
use super::condition::Comparison;
use super::plan::Plan;
use super::reads::Reads;
use super::view::View;
use crate::arena::{Cell, ContainerId};
use crate::value::Value;

/// A part of a query that gives a number for every row.
pub(crate) enum Numeric<'a> {
    Field(&'a [f64]),
    Constant(f64),
    Absolute(Box<Numeric<'a>>),
    Two(Operation, Box<Numeric<'a>>, Box<Numeric<'a>>),
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

/// Rows that are worked on at a time: small enough for the cache nearest to the processor.
const BLOCK: usize = 256;

impl<'a> Cx<'a> {
    /// The arithmetic of a part of a query, and the steps that it takes for a row.
    pub(super) fn numeric(&mut self, plan: &'a Plan, list: ContainerId) -> Option<(Numeric<'a>, u64)> {
        match plan {
            Plan::Get(path) if path.is_plain => {
                let numbers = self.column(path, list)?.numbers(self.document);
                let cost = 1 + path.keys.len() as u64;
                numbers.is_complete.then_some((Numeric::Field(&numbers.values), cost))
            }
            Plan::Call(call) if call.reads != Reads::Nothing => match (call.function.standard_name()?, &*call.args) {
                ("abs", [inner]) => {
                    let (inner, cost) = self.numeric(inner, list)?;
                    Some((Numeric::Absolute(Box::new(inner)), cost + 1))
                }
                (name, [left, right]) => {
                    let operation = Operation::of(name)?;
                    let ((left, a), (right, b)) = (self.numeric(left, list)?, self.numeric(right, list)?);
                    let two = Numeric::Two(operation, Box::new(left), Box::new(right));
                    Some((two, a + b + operation.cost()))
                }
                _ => None,
            },
            _ => match self.fixed(plan)? {
                (Value::Number(number), cost) => Some((Numeric::Constant(number.value()), cost)),
                _ => None,
            },
        }
    }

    /// The truth of a comparison of two such parts, likewise.
    pub(super) fn numeric_comparison(
        &mut self,
        plan: &'a Plan,
        list: ContainerId,
    ) -> Option<(Comparison, Numeric<'a>, Numeric<'a>, u64)> {
        let Plan::Call(call) = plan else { return None };
        let [left, right] = &*call.args else { return None };
        let comparison = Comparison::of(call.function.standard_name()?)?;
        let ((left, a), (right, b)) = (self.numeric(left, list)?, self.numeric(right, list)?);
        Some((comparison, left, right, a + b + 1))
    }
}

impl Numeric<'_> {
    /// The numbers of all rows of a view.
    pub fn all(&self, view: &View<'_>) -> Vec<f64> {
        let mut numbers = vec![0.0; view.len()];
        let mut spare = Vec::new();
        for (block, start) in numbers.chunks_mut(BLOCK).zip((0..).step_by(BLOCK)) {
            self.fill(view, start, block, &mut spare);
        }
        numbers
    }

    /// The cells of all rows of a view.
    pub fn cells(&self, view: &View<'_>) -> Vec<Cell> {
        self.all(view).into_iter().map(Cell::number).collect()
    }

    /// The numbers of the rows from `start` on. Recursive: as deep as the query.
    fn fill(&self, view: &View<'_>, start: usize, block: &mut [f64], spare: &mut Vec<Vec<f64>>) {
        match self {
            Numeric::Constant(number) => block.fill(*number),
            Numeric::Field(numbers) => gather(numbers, view, start, block),
            Numeric::Absolute(inner) => {
                inner.fill(view, start, block, spare);
                block.iter_mut().for_each(|number| *number = number.abs());
            }
            Numeric::Two(operation, left, right) => {
                left.fill(view, start, block, spare);
                let mut other = spare.pop().unwrap_or_default();
                other.resize(block.len(), 0.0);
                right.fill(view, start, &mut other, spare);
                operation.apply(block, &other);
                spare.push(other);
            }
        }
    }
}

fn gather(numbers: &[f64], view: &View<'_>, start: usize, block: &mut [f64]) {
    match view.rows {
        None => block.copy_from_slice(&numbers[start..start + block.len()]),
        Some(rows) => {
            block.iter_mut().zip(&rows[start..]).for_each(|(number, row)| *number = numbers[*row as usize]);
        }
    }
}

impl Operation {
    fn of(name: &str) -> Option<Operation> {
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

    /// Steps of the call itself: `+` takes one for what it adds.
    fn cost(self) -> u64 {
        if let Operation::Add = self { 2 } else { 1 }
    }

    fn apply(self, left: &mut [f64], right: &[f64]) {
        let pairs = left.iter_mut().zip(right);
        match self {
            Operation::Add => pairs.for_each(|(a, b)| *a += b),
            Operation::Subtract => pairs.for_each(|(a, b)| *a -= b),
            Operation::Multiply => pairs.for_each(|(a, b)| *a *= b),
            Operation::Divide => pairs.for_each(|(a, b)| *a /= b),
            Operation::Remainder => pairs.for_each(|(a, b)| *a %= b),
            Operation::Power => pairs.for_each(|(a, b)| *a = power(*a, *b)),
        }
    }
}

/// `base` to the power of `exponent`.
///
/// JavaScript has NaN where IEEE 754 has 1: for `1 ^ NaN`, and for 1 or -1 to an infinite power.
pub(crate) fn power(base: f64, exponent: f64) -> f64 {
    if exponent.is_nan() || (base.abs() == 1.0 && exponent.is_infinite()) {
        return f64::NAN;
    }
    base.powf(exponent)
}
