//! Conditions on all items of a stored list at once, from columns.
//!
//! Every part costs the fuel that it would cost item by item, so fuel does not depend on what is at hand. Whenever
//! something fails, the caller goes from item to item instead: the first error is then the one that the query means.

use std::cell::RefCell;

use super::Cx;
use super::bits::Bits;
use super::cost::Way;
use super::numbers::Numeric;
use super::piped::Prepared;
use super::plan::{Call, Path, Plan};
use super::reads::{Reads, reads};
use super::view::View;
use crate::arena::{Cell, ContainerId};
use crate::error::Result;
use crate::graph::column::{Column, Texts};
use crate::regex::Regex;
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
    /// It compares a field with a number. Here and below the last part is what a row costs.
    Number(&'a Call, &'a [f64], Comparison, f64, u64),
    /// It compares the results of arithmetic.
    Numbers(&'a Call, Comparison, Numeric<'a>, Numeric<'a>, u64),
    /// It asks where a field is one of a few texts.
    Texts(&'a Call, &'a Column, Wanted<'a>, u64),
    /// It asks whether a field is there.
    Exists(&'a Call, &'a [Cell]),
    All(&'a Call, Vec<Test<'a>>),
    Any(&'a Call, Vec<Test<'a>>),
    Not(&'a Call, Box<Test<'a>>),
    /// It asks where the texts of a field match a pattern.
    Matches(&'a Call, &'a Texts, &'a Regex, u64),
    /// It is a call on fields: row by row, on the columns.
    Prepared(RefCell<Prepared<'a>>),
    /// Anything else: item by item.
    Plain(&'a Plan),
}

/// The texts that a field shall, or shall not, be one of.
enum Wanted<'a> {
    In(Vec<&'a str>),
    NotIn(Vec<&'a str>),
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
            (Some("exists"), [Plan::Get(path)]) if path.is_plain => {
                let cells = self.graph.column(list, path.names()).and_then(Column::cells);
                cells.map_or(Test::Plain(plan), |cells| Test::Exists(call, cells))
            }
            (Some("not"), [inner]) => Test::Not(call, Box::new(self.test(inner, list))),
            (Some("in" | "not in"), [_, _]) => self.membership(call, list).unwrap_or_else(|| self.any_test(plan, list)),
            (Some(name), [left, right]) => {
                let test = self.comparison(call, name, left, right, list);
                test.or_else(|| self.arithmetic(plan, call, list)).unwrap_or_else(|| self.any_test(plan, list))
            }
            _ => self.any_test(plan, list),
        }
    }

    fn any_test(&mut self, plan: &'a Plan, list: ContainerId) -> Test<'a> {
        let Some(prepared) = self.prepared(plan, Some(list)) else { return Test::Plain(plan) };
        match prepared.as_search() {
            Some((call, texts, regex, cost)) => Test::Matches(call, texts, regex, cost),
            None => Test::Prepared(RefCell::new(prepared)),
        }
    }

    fn tests(&mut self, plans: &'a [Plan], list: ContainerId) -> Vec<Test<'a>> {
        plans.iter().map(|plan| self.test(plan, list)).collect()
    }

    /// The column of the one field that a part of a query reads, if few values repeat there.
    pub(super) fn coded_column(&mut self, plan: &'a Plan, list: ContainerId) -> Option<&'a Column> {
        let Reads::Field(path) = reads(plan) else { return None };
        self.graph.column(list, path.names()).filter(|column| column.codes().is_some())
    }

    /// The column of a field that is read. Notes for the warnings what it has seen.
    pub(super) fn column(&mut self, path: &'a Path, list: ContainerId) -> Option<&'a Column> {
        let column = self.graph.column(list, path.names())?;
        for (at, seen) in column.seen.iter().enumerate() {
            self.caches[path.first + at].note(*seen);
        }
        Some(column)
    }

    fn comparison(
        &mut self,
        call: &'a Call,
        name: &str,
        left: &'a Plan,
        right: &'a Plan,
        list: ContainerId,
    ) -> Option<Test<'a>> {
        let comparison = Comparison::of(name)?;
        let (path, (wanted, cost), comparison) = match (left, right) {
            (Plan::Get(path), other) => (path, self.fixed(other)?, comparison),
            (other, Plan::Get(path)) => (path, self.fixed(other)?, comparison.mirrored()),
            _ => return None,
        };
        let column = path.is_plain.then(|| self.column(path, list))??;
        let cost = 2 + path.keys.len() as u64 + cost;
        match (wanted, comparison) {
            (Value::Number(number), _) => {
                let numbers = &column.numbers(self.document).values;
                Some(Test::Number(call, numbers, comparison, number.value(), cost))
            }
            (Value::String(text), Comparison::Equal) if text.len() < SHORT => {
                Some(Test::Texts(call, column, Wanted::In(vec![text]), cost))
            }
            (Value::String(text), Comparison::NotEqual) if text.len() < SHORT => {
                Some(Test::Texts(call, column, Wanted::NotIn(vec![text]), cost))
            }
            _ => None,
        }
    }

    /// `.id in ["a", "b"]`.
    fn membership(&mut self, call: &'a Call, list: ContainerId) -> Option<Test<'a>> {
        let [Plan::Get(path), texts] = &*call.args else { return None };
        let (texts, cost) = self.fixed(texts)?;
        let texts = texts.as_array()?.iter().map(|text| text.as_str().filter(|text| text.len() < SHORT));
        let texts = texts.collect::<Option<Vec<_>>>()?;
        let wanted = if call.function.standard_name()? == "in" { Wanted::In(texts) } else { Wanted::NotIn(texts) };
        let column = path.is_plain.then(|| self.column(path, list))??;
        Some(Test::Texts(call, column, wanted, 2 + path.keys.len() as u64 + cost))
    }

    fn arithmetic(&mut self, plan: &'a Plan, call: &'a Call, list: ContainerId) -> Option<Test<'a>> {
        let (comparison, left, right, cost) = self.numeric_comparison(plan, list)?;
        Some(Test::Numbers(call, comparison, left, right, cost))
    }

    /// The value of a part that is the same for all items, and the steps that it takes.
    pub(super) fn fixed(&mut self, plan: &'a Plan) -> Option<(Value<'a>, u64)> {
        let Reads::Nothing = reads(plan) else { return None };
        let (used, inner_fuel) = (self.used, self.inner_fuel);
        let value = self.eval(plan, Value::Null).ok();
        let cost = self.used - used;
        (self.used, self.inner_fuel) = (used, inner_fuel);
        value.map(|value| (value, cost))
    }

    fn keep(&mut self, test: &Test<'a>, selection: &mut Selection<'a>, truth: Truth) -> Result<()> {
        match test {
            Test::Coded(plan, column) => self.keep_coded(plan, column, selection, truth),
            Test::Number(call, numbers, comparison, wanted, cost) => {
                self.costs[call.id].way = Way::Numbers;
                self.charge(call, selection.rows.count() as u64, *cost)?;
                comparison.keep(numbers, *wanted, &mut selection.rows);
                Ok(())
            }
            Test::Numbers(call, comparison, left, right, cost) => {
                self.costs[call.id].way = Way::Numbers;
                self.charge(call, selection.rows.count() as u64, *cost)?;
                let rows: Vec<u32> = selection.rows.iter().collect();
                let view = View { list: ContainerId(0), cells: selection.cells, rows: Some(&rows) };
                let truths = comparison.all(&left.all(&view), &right.all(&view));
                rows.iter().zip(truths).filter(|(_, truth)| !truth).for_each(|(row, _)| selection.rows.take(*row));
                Ok(())
            }
            Test::Texts(call, column, wanted, cost) => {
                self.costs[call.id].way = Way::Index;
                self.charge(call, selection.rows.count() as u64, *cost)?;
                self.keep_texts(call, column, wanted, &mut selection.rows)
            }
            Test::Exists(call, cells) => {
                self.charge(call, selection.rows.count() as u64, 1)?;
                selection.rows.keep(cells, |cell| cell != Cell::MISSING);
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
            Test::Matches(call, texts, regex, steps) => self.keep_matches((call, *steps), texts, regex, selection),
            Test::Prepared(prepared) => self.keep_prepared(&mut prepared.borrow_mut(), selection, truth),
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
        self.note(plan, Way::Values);
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

    fn keep_texts(&mut self, call: &'a Call, column: &Column, wanted: &Wanted<'a>, rows: &mut Bits) -> Result<()> {
        let (Wanted::In(texts) | Wanted::NotIn(texts)) = wanted;
        let mut found = Bits::none(column.len());
        let mut compared = 0;
        for text in texts {
            let before = found.clone();
            column.rows_of(self.document, text).for_each(|row| found.insert(row));
            let mut left = rows.clone();
            left.remove(&before);
            compared += left.count() as u64;
        }
        if let Some("in" | "not in") = call.function.standard_name() {
            self.charge_more(call, compared)?;
        }
        match wanted {
            Wanted::In(_) => rows.intersect(&found),
            Wanted::NotIn(_) => rows.remove(&found),
        }
        Ok(())
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

    /// Hot: a tag is searched in less time than a call takes.
    fn keep_matches(
        &mut self,
        (call, steps): (&'a Call, u64),
        texts: &'a Texts,
        regex: &'a Regex,
        selection: &mut Selection<'a>,
    ) -> Result<()> {
        self.charge(call, selection.rows.count() as u64, steps)?;
        let mut kept = Bits::none(selection.cells.len());
        let mut cost = 0;
        for row in selection.rows.iter() {
            let text = texts.get(row);
            let search = regex.search_cost(text);
            cost += search;
            self.spend(search)?;
            if regex.is_match(text, self.limits.backtracks)? {
                kept.insert(row);
            }
        }
        self.costs[call.id].fuel += cost;
        self.inner_fuel += cost;
        selection.rows = kept;
        Ok(())
    }

    fn keep_prepared(
        &mut self,
        prepared: &mut Prepared<'a>,
        selection: &mut Selection<'a>,
        truth: Truth,
    ) -> Result<()> {
        let runs = selection.rows.count() as u64;
        self.pay_prepared(prepared, runs)?;
        let mut kept = Bits::none(selection.cells.len());
        for row in selection.rows.iter() {
            if truth(self.run_prepared(prepared, row, Value::Undefined)?) {
                kept.insert(row);
            }
        }
        self.note_prepared(prepared, runs);
        selection.rows = kept;
        Ok(())
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
