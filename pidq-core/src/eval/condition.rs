//! Conditions on all items of a stored list at once, from columns.
//!
//! Every part costs the fuel that it would cost item by item, so fuel does not depend on what is at hand. Whenever
//! something fails, the caller goes from item to item instead: the first error is then the one that the query means.

use super::Cx;
use super::bits::Bits;
use super::numbers::Numeric;
use super::plan::{Call, Path, Plan};
use super::reads::{Reads, reads};
use super::view::View;
use crate::arena::{Cell, ContainerId};
use crate::error::Result;
use crate::graph::column::Column;
use crate::value::Value;

/// Rows of a stored list.
struct Selection<'a> {
    cells: &'a [Cell],
    rows: Bits,
}

/// A condition, and how it is best worked out.
enum Test<'a> {
    /// It reads one field, of which few values repeat: once a value.
    Coded(&'a Plan, &'a Column),
    /// It compares a field with a number.
    Number(&'a Plan, &'a [f64], Comparison, f64),
    /// It compares the results of arithmetic; the number is what that costs.
    Numbers(&'a Call, Comparison, Numeric<'a>, Numeric<'a>, u64),
    /// It asks where a field is, or is not, a text.
    Text(&'a Plan, &'a Column, &'a str, bool),
    All(&'a Call, Vec<Test<'a>>),
    Any(&'a Call, Vec<Test<'a>>),
    Not(&'a Call, Box<Test<'a>>),
    /// Anything else: item by item.
    Plain(&'a Plan),
}

#[derive(Clone, Copy)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
}

/// What counts as true: it differs between `filter` and `and`.
type Truth = for<'v> fn(Value<'v>) -> bool;

/// Longer texts cost fuel to compare, and that depends on the row.
const SHORT: usize = 64;

impl<'a> Cx<'a> {
    /// The rows of a view for which a condition holds; nothing where that has to be found out item by item.
    ///
    /// # Errors
    /// Any: not always the first one.
    pub(crate) fn matching_rows(&mut self, view: View<'a>, condition: &'a Plan) -> Result<Option<Bits>> {
        let test = self.test(condition, view.list);
        let (true, Some(rows)) = (test.is_faster(), view.bits()) else { return Ok(None) };
        self.spend(view.len() as u64)?;
        let mut selection = Selection { cells: view.cells, rows };
        self.keep(&test, &mut selection, |value| value.is_truthy())?;
        Ok(Some(selection.rows))
    }

    fn test(&mut self, plan: &'a Plan, list: ContainerId) -> Test<'a> {
        if let Some(column) = self.coded_column(plan, list) {
            return Test::Coded(plan, column);
        }
        let Plan::Call(call) = plan else { return Test::Plain(plan) };
        match (call.function.standard_name(), &*call.args) {
            (Some("and"), [_, _, ..]) => Test::All(call, self.tests(&call.args, list)),
            (Some("or"), [_, _, ..]) => Test::Any(call, self.tests(&call.args, list)),
            (Some("not"), [inner]) => Test::Not(call, Box::new(self.test(inner, list))),
            (Some(name), [left, right]) => {
                let test = self.comparison(plan, name, left, right, list);
                test.or_else(|| self.arithmetic(plan, call, list)).unwrap_or(Test::Plain(plan))
            }
            _ => Test::Plain(plan),
        }
    }

    fn tests(&mut self, plans: &'a [Plan], list: ContainerId) -> Vec<Test<'a>> {
        plans.iter().map(|plan| self.test(plan, list)).collect()
    }

    /// The column of the one field that a part of a query reads, if few values repeat there.
    pub(super) fn coded_column(&mut self, plan: &'a Plan, list: ContainerId) -> Option<&'a Column> {
        let Reads::Field(path) = reads(plan) else { return None };
        self.column(path, list).filter(|column| column.codes().is_some())
    }

    /// The column of a field. Notes for the warnings what it has seen.
    pub(super) fn column(&mut self, path: &'a Path, list: ContainerId) -> Option<&'a Column> {
        let column = self.graph.column(list, path.names())?;
        for (at, seen) in column.seen.iter().enumerate() {
            self.caches[path.first + at].note(*seen);
        }
        Some(column)
    }

    fn comparison(
        &mut self,
        plan: &'a Plan,
        name: &str,
        left: &'a Plan,
        right: &'a Plan,
        list: ContainerId,
    ) -> Option<Test<'a>> {
        let comparison = Comparison::of(name)?;
        let (path, wanted, comparison) = match (left, right) {
            (Plan::Get(path), other) => (path, self.fixed(other)?, comparison),
            (other, Plan::Get(path)) => (path, self.fixed(other)?, comparison.mirrored()),
            _ => return None,
        };
        let column = path.is_plain.then(|| self.column(path, list))??;
        match (wanted, comparison) {
            (Value::Number(number), _) => {
                Some(Test::Number(plan, &column.numbers(self.document).values, comparison, number.value()))
            }
            (Value::String(text), Comparison::Equal) if text.len() < SHORT => {
                Some(Test::Text(plan, column, text, true))
            }
            (Value::String(text), Comparison::NotEqual) if text.len() < SHORT => {
                Some(Test::Text(plan, column, text, false))
            }
            _ => None,
        }
    }

    fn arithmetic(&mut self, plan: &'a Plan, call: &'a Call, list: ContainerId) -> Option<Test<'a>> {
        let (comparison, left, right, cost) = self.numeric_comparison(plan, list)?;
        Some(Test::Numbers(call, comparison, left, right, cost))
    }

    /// The value of a part that is the same for all items, and costs one step.
    pub(super) fn fixed(&self, plan: &'a Plan) -> Option<Value<'a>> {
        match plan {
            Plan::Constant(constant) => Some(constant.value()),
            Plan::Parameter(cell) => Some(Value::stored(self.params, *cell)),
            Plan::Variable(index) => Some(self.variables[*index]),
            _ => None,
        }
    }

    fn keep(&mut self, test: &Test<'a>, selection: &mut Selection<'a>, truth: Truth) -> Result<()> {
        match test {
            Test::Coded(plan, column) => self.keep_coded(plan, column, selection, truth),
            Test::Number(plan, numbers, comparison, wanted) => {
                self.pay_for(plan, selection.rows.count() as u64)?;
                comparison.keep(numbers, *wanted, &mut selection.rows);
                Ok(())
            }
            Test::Numbers(call, comparison, left, right, cost) => {
                self.charge(call, selection.rows.count() as u64, *cost)?;
                let rows: Vec<u32> = selection.rows.iter().collect();
                let view = View { list: ContainerId(0), cells: selection.cells, rows: Some(&rows) };
                let truths = comparison.all(&left.all(&view), &right.all(&view));
                rows.iter().zip(truths).filter(|(_, truth)| !truth).for_each(|(row, _)| selection.rows.take(*row));
                Ok(())
            }
            Test::Text(plan, column, text, wanted) => {
                self.pay_for(plan, selection.rows.count() as u64)?;
                self.keep_text(column, text, *wanted, &mut selection.rows);
                Ok(())
            }
            Test::All(call, tests) => self.keep_all(call, tests, selection),
            Test::Any(call, tests) => self.keep_any(call, tests, selection),
            Test::Not(call, test) => {
                self.charge(call, selection.rows.count() as u64, 1)?;
                let without = self.matching(test, selection)?;
                selection.rows.remove(&without);
                Ok(())
            }
            Test::Plain(plan) => self.keep_plain(plan, selection, truth),
        }
    }

    /// Keeps the rows whose value passes. What the values cost is paid as often as they are there.
    fn keep_coded(
        &mut self,
        plan: &'a Plan,
        column: &'a Column,
        selection: &mut Selection<'a>,
        truth: Truth,
    ) -> Result<()> {
        let Some((codes, values)) = column.codes() else { return Ok(()) };
        let mut kept = [false; 256];
        let counts = selection.rows.counts(codes, values.iter().map(|value| value.count));
        for (code, value) in values.iter().enumerate().filter(|(code, _)| counts[*code] > 0) {
            let result = self.eval_for(plan, selection.cells[value.first_row as usize], counts[code])?;
            kept[code] = truth(result);
        }
        let mut passing = (0..values.len()).filter(|code| kept[*code]);
        match (passing.next(), passing.next()) {
            (Some(only), None) => selection.rows.keep_byte(codes, only as u8),
            _ => selection.rows.keep(codes, |code| kept[code as usize]),
        }
        Ok(())
    }

    /// Evaluates on one item what has the same result for `times` items, and pays for all of them.
    pub(super) fn eval_for(&mut self, plan: &'a Plan, item: Cell, times: u32) -> Result<Value<'a>> {
        let before = self.used;
        let value = self.eval(plan, Value::stored(self.document, item))?;
        let cost = self.used - before;
        match plan {
            Plan::Call(call) => self.charge(call, u64::from(times) - 1, cost)?,
            _ => self.spend((u64::from(times) - 1) * cost)?,
        }
        Ok(value)
    }

    fn keep_text(&self, column: &Column, text: &str, wanted: bool, rows: &mut Bits) {
        let mut found = Bits::none(column.len());
        column.rows_of(self.document, text).for_each(|row| found.insert(row));
        match wanted {
            true => rows.intersect(&found),
            false => rows.remove(&found),
        }
    }

    fn keep_all(&mut self, call: &'a Call, tests: &[Test<'a>], selection: &mut Selection<'a>) -> Result<()> {
        self.charge(call, selection.rows.count() as u64, 1)?;
        for test in tests {
            self.keep(test, selection, |value| value.is_truthy_in_javascript())?;
        }
        Ok(())
    }

    fn keep_any(&mut self, call: &'a Call, tests: &[Test<'a>], selection: &mut Selection<'a>) -> Result<()> {
        self.charge(call, selection.rows.count() as u64, 1)?;
        let all = selection.rows.clone();
        let mut found = Bits::none(selection.cells.len());
        for test in tests {
            found.add(&self.matching(test, selection)?);
            selection.rows.remove(&found);
        }
        selection.rows = all;
        selection.rows.intersect(&found);
        Ok(())
    }

    /// Those of the rows for which a part of a condition holds; the selection stays.
    fn matching(&mut self, test: &Test<'a>, selection: &mut Selection<'a>) -> Result<Bits> {
        let all = selection.rows.clone();
        self.keep(test, selection, |value| value.is_truthy_in_javascript())?;
        Ok(std::mem::replace(&mut selection.rows, all))
    }

    fn keep_plain(&mut self, plan: &'a Plan, selection: &mut Selection<'a>, truth: Truth) -> Result<()> {
        let mut kept = Bits::none(selection.cells.len());
        for row in selection.rows.iter() {
            let item = Value::stored(self.document, selection.cells[row as usize]);
            if truth(self.eval(plan, item)?) {
                kept.insert(row);
            }
        }
        selection.rows = kept;
        Ok(())
    }

    /// Pays for a comparison of a field with a constant.
    fn pay_for(&mut self, plan: &'a Plan, times: u64) -> Result<()> {
        match plan {
            Plan::Call(call) => self.charge(call, times, fixed_cost(plan)),
            _ => Ok(()),
        }
    }
}

/// Steps of a call of fields and constants, where the function itself takes none.
pub(super) fn fixed_cost(plan: &Plan) -> u64 {
    match plan {
        Plan::Get(path) => 1 + path.keys.len() as u64,
        Plan::Call(call) => 1 + call.args.iter().map(fixed_cost).sum::<u64>(),
        _ => 1,
    }
}

impl Test<'_> {
    /// Whether any part is worked out for all items at once.
    fn is_faster(&self) -> bool {
        match self {
            Test::Plain(_) => false,
            Test::All(_, tests) | Test::Any(_, tests) => tests.iter().any(Test::is_faster),
            Test::Not(_, test) => test.is_faster(),
            _ => true,
        }
    }
}

impl Comparison {
    pub fn of(name: &str) -> Option<Comparison> {
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

    /// The same with the sides exchanged.
    fn mirrored(self) -> Comparison {
        match self {
            Comparison::Greater => Comparison::Less,
            Comparison::GreaterOrEqual => Comparison::LessOrEqual,
            Comparison::Less => Comparison::Greater,
            Comparison::LessOrEqual => Comparison::GreaterOrEqual,
            same => same,
        }
    }

    /// Whether pairs of numbers compare so.
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

    /// Keeps the rows whose number compares so. Rows without a number hold NaN, which is not equal to anything.
    fn keep(self, numbers: &[f64], wanted: f64, rows: &mut Bits) {
        match self {
            Comparison::Equal => rows.keep(numbers, |number| number == wanted),
            Comparison::NotEqual => rows.keep(numbers, |number| number != wanted),
            Comparison::Greater => rows.keep(numbers, |number| number > wanted),
            Comparison::GreaterOrEqual => rows.keep(numbers, |number| number >= wanted),
            Comparison::Less => rows.keep(numbers, |number| number < wanted),
            Comparison::LessOrEqual => rows.keep(numbers, |number| number <= wanted),
        }
    }
}
