//! Conditions on all items of a stored list at once, from columns.
//!
//! Every part costs the fuel that it would cost item by item, so fuel does not depend on what is at hand. Whenever
//! something fails, the caller goes from item to item instead: the first error is then the one that the query means.

use super::Cx;
use super::bits::Bits;
use super::cost::Way;
use super::numbers::Numeric;
use super::piped::Prepared;
use super::plan::{Call, Path, Plan};
use super::reads::{field, is_fixed, is_pure};
use super::view::View;
use crate::arena::{Cell, ContainerId};
use crate::error::Result;
use crate::graph::column::{Column, Texts};
use crate::regex::{NO_BOUNDS, Regex};
use crate::value::Value;

/// Rows of a stored list.
struct Selection<'a> {
    list: ContainerId,
    cells: &'a [Cell],
    rows: Bits,
    /// Conditions in conditions around the present one.
    depth: u32,
}

/// How a condition that is not made of others is worked out for all rows.
enum Test<'a> {
    /// It reads one field, of which few values repeat: once a value.
    Coded(&'a Plan, &'a Column),
    /// It compares a field with a number. Here and below the last part is what a row costs.
    Number(&'a Call, &'a [f64], Comparison, f64, u64),
    /// It compares the results of arithmetic.
    Numbers(&'a Call, Comparison, Numeric<'a>, Numeric<'a>, u64),
    /// It asks where a field is one of a few texts and numbers.
    OneOf(&'a Call, &'a Column, Wanted<'a>, u64),
    /// It asks whether a field is there.
    Exists(&'a Call, &'a [Cell]),
    /// It asks where the texts of a field match a pattern.
    Matches(&'a Call, &'a Texts, &'a Regex, u64),
    /// It is a call on fields: row by row, on the columns.
    Prepared(Prepared<'a>),
}

/// A condition that is made of others.
#[derive(Clone, Copy)]
enum Junction {
    All,
    Any,
    Not,
}

/// The values that a field shall, or shall not, be one of.
enum Wanted<'a> {
    In(Vec<Scalar<'a>>),
    NotIn(Vec<Scalar<'a>>),
}

/// A value whose rows are looked up.
enum Scalar<'a> {
    Text(&'a str),
    Number(f64),
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

/// Conditions in conditions; what is deeper goes from item to item.
const DEEPEST: u32 = 16;

/// Fewer rows are faster item by item.
const FEW: usize = 8;

impl<'a> Cx<'a> {
    /// The rows of a view for which a condition holds; nothing where that has to be found out item by item.
    ///
    /// # Errors
    /// Any: not always the first one.
    pub(crate) fn matching_rows(&mut self, view: View<'a>, condition: &'a Plan) -> Result<Option<Bits>> {
        let (true, Some(rows)) = (is_pure(condition), view.bits()) else { return Ok(None) };
        let mut selection = Selection { list: view.list, cells: view.cells, rows, depth: 0 };
        let test = self.test(condition, view.list);
        if test.is_none() && Junction::of(condition).is_none() {
            return Ok(None);
        }
        self.spend(view.len() as u64)?;
        self.keep_by(test, condition, &mut selection, |value| value.is_truthy())?;
        Ok(Some(selection.rows))
    }

    /// Keeps the rows for which a condition holds. What nobody asks is not looked at, as `and` and `or` mean it.
    fn keep(&mut self, plan: &'a Plan, selection: &mut Selection<'a>, truth: Truth) -> Result<()> {
        match selection.rows.count() {
            0 => Ok(()),
            1..FEW => self.keep_plain(plan, selection, truth),
            _ => {
                let test = self.test(plan, selection.list);
                self.keep_by(test, plan, selection, truth)
            }
        }
    }

    fn keep_by(
        &mut self,
        test: Option<Test<'a>>,
        plan: &'a Plan,
        selection: &mut Selection<'a>,
        truth: Truth,
    ) -> Result<()> {
        match (test, Junction::of(plan)) {
            (Some(test), _) => self.keep_tested(test, selection, truth),
            (None, Some((junction, call))) if selection.depth < DEEPEST => {
                selection.depth += 1;
                self.keep_joined(junction, call, selection)?;
                selection.depth -= 1;
                Ok(())
            }
            _ => self.keep_plain(plan, selection, truth),
        }
    }

    /// How a condition is worked out for all rows; nothing where it is made of others, or goes from item to item.
    fn test(&mut self, plan: &'a Plan, list: ContainerId) -> Option<Test<'a>> {
        if let Some(column) = self.coded_column(plan, list) {
            return Some(Test::Coded(plan, column));
        }
        let Plan::Call(call) = plan else { return None };
        match (call.function.standard_name()?, &*call.args) {
            ("and" | "or", [_, _, ..]) | ("not", [_]) => None,
            ("exists", [Plan::Get(path)]) if path.is_plain => {
                self.graph.column(list, path.names())?.cells().map(|cells| Test::Exists(call, cells))
            }
            ("in" | "not in", [_, _]) => self.membership(call, list).or_else(|| self.any_test(plan, list)),
            (name, [left, right]) => {
                let test = self.comparison(call, name, left, right, list);
                test.or_else(|| self.arithmetic(plan, call, list)).or_else(|| self.any_test(plan, list))
            }
            _ => self.any_test(plan, list),
        }
    }

    fn any_test(&mut self, plan: &'a Plan, list: ContainerId) -> Option<Test<'a>> {
        let prepared = self.prepared(plan, Some(list))?;
        Some(match prepared.as_search() {
            Some((call, texts, regex, cost)) => Test::Matches(call, texts, regex, cost),
            None => Test::Prepared(prepared),
        })
    }

    /// The column of the one field that a part of a query reads, if few values repeat there.
    pub(super) fn coded_column(&mut self, plan: &'a Plan, list: ContainerId) -> Option<&'a Column> {
        self.graph.column(list, field(plan)?.names()).filter(|column| column.codes().is_some())
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
        let scalar = Scalar::of(wanted).filter(|scalar| match scalar {
            Scalar::Text(_) => true,
            Scalar::Number(_) => column.numbers(self.document).is_index(),
        });
        match (scalar, wanted, comparison) {
            (Some(scalar), _, Comparison::Equal) => Some(Test::OneOf(call, column, Wanted::In(vec![scalar]), cost)),
            (Some(scalar), _, Comparison::NotEqual) => {
                Some(Test::OneOf(call, column, Wanted::NotIn(vec![scalar]), cost))
            }
            (_, Value::Number(number), _) => {
                let numbers = &column.numbers(self.document).values;
                Some(Test::Number(call, numbers, comparison, number.value(), cost))
            }
            _ => None,
        }
    }

    /// `.id in ["a", "b"]`.
    fn membership(&mut self, call: &'a Call, list: ContainerId) -> Option<Test<'a>> {
        let [Plan::Get(path), values] = &*call.args else { return None };
        let (values, cost) = self.fixed(values)?;
        let values = values.as_array()?.iter().map(Scalar::of).collect::<Option<Vec<_>>>()?;
        let wanted = if call.function.standard_name()? == "in" { Wanted::In(values) } else { Wanted::NotIn(values) };
        let column = path.is_plain.then(|| self.column(path, list))??;
        Some(Test::OneOf(call, column, wanted, 2 + path.keys.len() as u64 + cost))
    }

    fn arithmetic(&mut self, plan: &'a Plan, call: &'a Call, list: ContainerId) -> Option<Test<'a>> {
        let (comparison, left, right, cost) = self.numeric_comparison(plan, list)?;
        Some(Test::Numbers(call, comparison, left, right, cost))
    }

    /// The value of a part that is the same for all items, and the steps that it takes.
    pub(super) fn fixed(&mut self, plan: &'a Plan) -> Option<(Value<'a>, u64)> {
        if !is_fixed(plan) {
            return None;
        }
        let (used, inner_fuel) = (self.used, self.inner_fuel);
        let value = self.eval(plan, Value::Null).ok();
        let cost = self.used - used;
        self.refund(used, inner_fuel);
        value.map(|value| (value, cost))
    }

    fn keep_tested(&mut self, test: Test<'a>, selection: &mut Selection<'a>, truth: Truth) -> Result<()> {
        match test {
            Test::Coded(plan, column) => self.keep_coded(plan, column, selection, truth),
            Test::Number(call, numbers, comparison, wanted, cost) => {
                self.costs[call.id].way = Way::Numbers;
                self.charge(call, selection.rows.count() as u64, cost)?;
                comparison.keep(numbers, wanted, &mut selection.rows);
                Ok(())
            }
            Test::Numbers(call, comparison, left, right, cost) => {
                self.costs[call.id].way = Way::Numbers;
                self.charge(call, selection.rows.count() as u64, cost)?;
                selection.keep_compared(comparison, &left, &right);
                Ok(())
            }
            Test::OneOf(call, column, wanted, cost) => {
                self.costs[call.id].way = Way::Index;
                self.charge(call, selection.rows.count() as u64, cost)?;
                self.keep_one_of(call, column, &wanted, &mut selection.rows)
            }
            Test::Exists(call, cells) => {
                self.charge(call, selection.rows.count() as u64, 1)?;
                selection.rows.keep(cells, |cell| cell != Cell::MISSING);
                Ok(())
            }
            Test::Matches(call, texts, regex, steps) => self.keep_matches((call, steps), texts, regex, selection),
            Test::Prepared(prepared) => self.keep_prepared(prepared, selection, truth),
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

    fn keep_one_of(&mut self, call: &'a Call, column: &Column, wanted: &Wanted<'a>, rows: &mut Bits) -> Result<()> {
        let (Wanted::In(values) | Wanted::NotIn(values)) = wanted;
        let mut found = Bits::none(column.len());
        let mut compared = 0;
        for value in values {
            let before = found.clone();
            match value {
                Scalar::Text(text) => column.rows_of(self.document, text).for_each(|row| found.insert(row)),
                Scalar::Number(number) => {
                    column.numbers(self.document).rows_of(*number).for_each(|row| found.insert(row));
                }
            }
            let mut left = rows.clone();
            left.remove(&before);
            compared += left.count() as u64;
        }
        if let Some("in" | "not in") = call.function.standard_name() {
            self.attribute(call, 0, compared);
            self.spend(compared)?;
        }
        match wanted {
            Wanted::In(_) => rows.intersect(&found),
            Wanted::NotIn(_) => rows.remove(&found),
        }
        Ok(())
    }

    fn keep_joined(&mut self, junction: Junction, call: &'a Call, selection: &mut Selection<'a>) -> Result<()> {
        self.charge(call, selection.rows.count() as u64, 1)?;
        match junction {
            Junction::All => call.args.iter().try_for_each(|part| self.keep_part(part, selection)),
            Junction::Any => self.keep_any(&call.args, selection),
            Junction::Not => {
                let without = call.args.first().map(|part| self.matching(part, selection)).transpose()?;
                without.iter().for_each(|without| selection.rows.remove(without));
                Ok(())
            }
        }
    }

    fn keep_part(&mut self, part: &'a Plan, selection: &mut Selection<'a>) -> Result<()> {
        self.keep(part, selection, |value| value.is_truthy_in_javascript())
    }

    fn keep_any(&mut self, parts: &'a [Plan], selection: &mut Selection<'a>) -> Result<()> {
        let all = selection.rows.clone();
        let mut found = Bits::none(selection.cells.len());
        for part in parts {
            found.add(&self.matching(part, selection)?);
            selection.rows.remove(&found);
        }
        selection.rows = all;
        selection.rows.intersect(&found);
        Ok(())
    }

    /// Those of the rows for which a part of a condition holds; the selection stays.
    fn matching(&mut self, part: &'a Plan, selection: &mut Selection<'a>) -> Result<Bits> {
        let all = selection.rows.clone();
        self.keep_part(part, selection)?;
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
        let straight = regex.as_straight().filter(|_| texts.is_ascii());
        let (mut cost, mut bounds) = (0, NO_BOUNDS);
        for row in selection.rows.iter() {
            let text = texts.get(row);
            let (is_match, took) = match straight {
                Some(straight) => {
                    let search = regex.search_cost(text);
                    self.spend(search)?;
                    (straight.find(text.as_bytes(), 0, &mut bounds), search)
                }
                None => self.search_in(regex, text, |effort| regex.is_match(text, effort))?,
            };
            cost += took;
            if is_match {
                kept.insert(row);
            }
        }
        self.attribute(call, 0, cost);
        selection.rows = kept;
        Ok(())
    }

    fn keep_prepared(&mut self, mut prepared: Prepared<'a>, selection: &mut Selection<'a>, truth: Truth) -> Result<()> {
        let runs = selection.rows.count() as u64;
        self.pay_prepared(&prepared, runs)?;
        let mut kept = Bits::none(selection.cells.len());
        for row in selection.rows.iter() {
            if truth(self.run_prepared(&mut prepared, row, Value::Undefined)?) {
                kept.insert(row);
            }
        }
        self.note_prepared(&prepared, runs);
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

impl Selection<'_> {
    /// Keeps the rows of which two numbers compare so.
    fn keep_compared(&mut self, comparison: Comparison, left: &Numeric<'_>, right: &Numeric<'_>) {
        let rows: Vec<u32> = self.rows.iter().collect();
        let view = View { list: self.list, cells: self.cells, rows: Some(&rows) };
        let truths = comparison.all(&left.all(&view), &right.all(&view));
        rows.iter().zip(truths).filter(|(_, truth)| !truth).for_each(|(row, _)| self.rows.take(*row));
    }
}

impl<'a> Scalar<'a> {
    /// Nothing for what is not looked up. Longer texts cost fuel to compare.
    fn of(value: Value<'a>) -> Option<Scalar<'a>> {
        match value {
            Value::String(text) if text.len() < SHORT => Some(Scalar::Text(text)),
            Value::Number(number) => Some(Scalar::Number(number.value())),
            _ => None,
        }
    }
}

impl Junction {
    /// A call that is made of conditions.
    fn of(plan: &Plan) -> Option<(Junction, &Call)> {
        let Plan::Call(call) = plan else { return None };
        let junction = match (call.function.standard_name()?, &*call.args) {
            ("and", [_, _, ..]) => Junction::All,
            ("or", [_, _, ..]) => Junction::Any,
            ("not", [_]) => Junction::Not,
            _ => return None,
        };
        Some((junction, call))
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
