//! Vectorized filter: evaluates a condition for all items of a stored list at once, from columns.
//!
//! The fuel equals the cost of evaluation item by item, so it does not depend on the available columns. If anything
//! fails, the caller evaluates item by item instead, so that the first error is the one that the query defines.

use super::EvalContext;
use super::arithmetic::Numeric;
use super::budget::CHECK_INTERVAL;
use super::call_stats::Strategy;
use super::column_view::ColumnView;
use super::comparison::Comparison;
use super::plan::dependencies::{is_deterministic, is_fixed, single_field};
use super::plan::{Call, Path, Plan};
use super::row_set::RowSet;
use super::vectorized_pipe::PreparedCall;
use crate::arena::{Cell, ContainerId};
use crate::error::Result;
use crate::graph::column::{Column, Strings};
use crate::regex::{NO_BOUNDS, Regex};
use crate::value::Value;
use crate::value::compare::is_rounded;

/// Rows of a stored list that still match.
struct Selection<'a> {
    list: ContainerId,
    cells: &'a [Cell],
    rows: RowSet,
    /// Nesting depth of the current condition.
    depth: u32,
}

/// Evaluation strategy of a condition that is not a conjunction, disjunction or negation.
enum ColumnTest<'a> {
    /// It reads one field with few distinct values: evaluated once per value.
    Coded(&'a Plan, &'a Column),
    /// It compares a field with a number. Here and below the last element is the cost per row.
    Number(&'a Call, &'a [f64], Comparison, f64, u64),
    /// It compares the results of arithmetic.
    Numbers(&'a Call, Comparison, Numeric<'a>, Numeric<'a>, u64),
    /// It tests whether a field is one of a few strings and numbers.
    OneOf(&'a Call, &'a Column, Membership<'a>, u64),
    /// It tests whether a field exists.
    Exists(&'a Call, &'a [Cell]),
    /// It tests whether the strings of a field match a pattern.
    Matches(&'a Call, &'a Strings, &'a Regex, u64),
    /// It is a call on fields, evaluated row by row on the columns.
    Prepared(PreparedCall<'a>),
}

/// Logical operator of a compound condition.
#[derive(Clone, Copy)]
enum LogicalOperator {
    All,
    Any,
    Not,
}

/// Values for `in` and `not in`.
enum Membership<'a> {
    In(Vec<Scalar<'a>>),
    NotIn(Vec<Scalar<'a>>),
}

/// Value that is looked up in an index.
enum Scalar<'a> {
    Text(&'a str),
    Number(f64),
}

/// Definition of true, which differs between `filter` and `and`.
type TruthFn = for<'v> fn(Value<'v>) -> bool;

/// Maximum string size with a fixed comparison cost; the cost of longer strings depends on the row.
const SHORT_TEXT_SIZE: usize = 64;

/// Nesting depth up to which conditions are vectorized.
const MAX_DEPTH: u32 = 16;

/// Number of rows below which evaluation item by item is faster.
const MIN_ROWS: usize = 8;

impl<'a> EvalContext<'a> {
    /// Returns the rows of a view for which a condition holds, or `None` if it must be evaluated item by item.
    ///
    /// # Errors
    /// Any: not always the first one.
    pub(crate) fn matching_rows(&mut self, view: ColumnView<'a>, condition: &'a Plan) -> Result<Option<RowSet>> {
        let (true, Some(rows)) = (is_deterministic(condition), view.row_set()) else { return Ok(None) };
        let mut selection = Selection { list: view.list, cells: view.cells, rows, depth: 0 };
        let test = self.column_test(condition, view.list);
        if test.is_none() && LogicalOperator::from_plan(condition).is_none() {
            return Ok(None);
        }
        self.charge(view.len() as u64)?;
        self.retain_by_test(test, condition, &mut selection, |value| value.is_truthy())?;
        Ok(Some(selection.rows))
    }

    /// Returns the rows among some rows of a view for which a condition holds.
    ///
    /// # Errors
    /// Any: not always the first one.
    pub(super) fn matching_rows_among(
        &mut self,
        view: ColumnView<'a>,
        rows: &RowSet,
        condition: &'a Plan,
    ) -> Result<RowSet> {
        let mut selection = Selection { list: view.list, cells: view.cells, rows: rows.clone(), depth: 0 };
        self.retain(condition, &mut selection, |value| value.is_truthy())?;
        Ok(selection.rows)
    }

    /// Keeps the rows for which a condition holds. Short-circuits as `and` and `or` do.
    fn retain(&mut self, plan: &'a Plan, selection: &mut Selection<'a>, truth: TruthFn) -> Result<()> {
        match selection.rows.count() {
            0 => Ok(()),
            1..MIN_ROWS => self.retain_plain(plan, selection, truth),
            _ => {
                let test = self.column_test(plan, selection.list);
                self.retain_by_test(test, plan, selection, truth)
            }
        }
    }

    fn retain_by_test(
        &mut self,
        test: Option<ColumnTest<'a>>,
        plan: &'a Plan,
        selection: &mut Selection<'a>,
        truth: TruthFn,
    ) -> Result<()> {
        match (test, LogicalOperator::from_plan(plan)) {
            (Some(test), _) => self.retain_tested(test, selection, truth),
            (None, Some((operator, call))) if selection.depth < MAX_DEPTH => {
                selection.depth += 1;
                self.retain_logical(operator, call, selection)?;
                selection.depth -= 1;
                Ok(())
            }
            _ => self.retain_plain(plan, selection, truth),
        }
    }

    /// Returns the strategy for a condition, or `None` if it is compound or must be evaluated item by item.
    fn column_test(&mut self, plan: &'a Plan, list: ContainerId) -> Option<ColumnTest<'a>> {
        if let Some(column) = self.coded_column(plan, list) {
            return Some(ColumnTest::Coded(plan, column));
        }
        let Plan::Call(call) = plan else { return None };
        match (call.function.standard_name()?, &*call.args) {
            ("and" | "or", [_, _, ..]) | ("not", [_]) => None,
            ("exists", [Plan::Get(path)]) if path.is_plain => {
                self.graph.column(list, path.names())?.cells().map(|cells| ColumnTest::Exists(call, cells))
            }
            ("in" | "not in", [_, _]) => self.membership(call, list).or_else(|| self.prepared_test(plan, list)),
            (name, [left, right]) => {
                let test = self.comparison(call, name, left, right, list);
                test.or_else(|| self.arithmetic(plan, call, list)).or_else(|| self.prepared_test(plan, list))
            }
            _ => self.prepared_test(plan, list),
        }
    }

    fn prepared_test(&mut self, plan: &'a Plan, list: ContainerId) -> Option<ColumnTest<'a>> {
        let prepared = self.prepared(plan, Some(list))?;
        Some(match prepared.as_search() {
            Some((call, texts, regex, cost)) => ColumnTest::Matches(call, texts, regex, cost),
            None => ColumnTest::Prepared(prepared),
        })
    }

    /// Returns the column of the single field that a plan reads, if it has few distinct values.
    pub(super) fn coded_column(&mut self, plan: &'a Plan, list: ContainerId) -> Option<&'a Column> {
        self.graph.column(list, single_field(plan)?.names()).filter(|column| column.codes().is_some())
    }

    /// Returns the column of a field. Records for the warnings whether the field was found.
    pub(super) fn column(&mut self, path: &'a Path, list: ContainerId) -> Option<&'a Column> {
        let column = self.graph.column(list, path.names())?;
        for (at, lookup) in column.lookups.iter().enumerate() {
            self.caches[path.first + at].record(*lookup);
        }
        Some(column)
    }

    /// Returns whether a column has integers whose doubles are other integers. They are compared one by one, which gives a
    /// warning.
    pub(super) fn has_rounded_integers(&self, column: &Column) -> bool {
        let document = self.document;
        document.has_rounded_integers() && (0..column.len() as u32).any(|row| document.is_rounded(column.cell(row)))
    }

    fn comparison(
        &mut self,
        call: &'a Call,
        name: &str,
        left: &'a Plan,
        right: &'a Plan,
        list: ContainerId,
    ) -> Option<ColumnTest<'a>> {
        let comparison = Comparison::from_name(name)?;
        let (path, (constant, cost), comparison) = match (left, right) {
            (Plan::Get(path), other) => (path, self.constant_value(other)?, comparison),
            (other, Plan::Get(path)) => (path, self.constant_value(other)?, comparison.mirrored()),
            _ => return None,
        };
        let column = path.is_plain.then(|| self.column(path, list))??;
        if let Value::Number(number) = constant
            && (is_rounded(number) || self.has_rounded_integers(column))
        {
            return None;
        }
        let cost = 2 + path.keys.len() as u64 + cost;
        let scalar = Scalar::from_value(constant).filter(|scalar| match scalar {
            Scalar::Text(_) => true,
            Scalar::Number(_) => column.numbers(self.document).is_index(),
        });
        match (scalar, constant, comparison) {
            (Some(scalar), _, Comparison::Equal) => {
                Some(ColumnTest::OneOf(call, column, Membership::In(vec![scalar]), cost))
            }
            (Some(scalar), _, Comparison::NotEqual) => {
                Some(ColumnTest::OneOf(call, column, Membership::NotIn(vec![scalar]), cost))
            }
            (_, Value::Number(number), _) => {
                let numbers = &column.numbers(self.document).values;
                Some(ColumnTest::Number(call, numbers, comparison, number.value(), cost))
            }
            _ => None,
        }
    }

    /// `.id in ["a", "b"]`.
    fn membership(&mut self, call: &'a Call, list: ContainerId) -> Option<ColumnTest<'a>> {
        let [Plan::Get(path), values] = &*call.args else { return None };
        let (values, cost) = self.constant_value(values)?;
        let values = values.as_array()?;
        if values.iter().any(|value| matches!(value, Value::Number(number) if is_rounded(number))) {
            return None;
        }
        let values = values.iter().map(Scalar::from_value).collect::<Option<Vec<_>>>()?;
        let membership =
            if call.function.standard_name()? == "in" { Membership::In(values) } else { Membership::NotIn(values) };
        let column = path.is_plain.then(|| self.column(path, list))??;
        if self.has_rounded_integers(column) {
            return None;
        }
        Some(ColumnTest::OneOf(call, column, membership, 2 + path.keys.len() as u64 + cost))
    }

    fn arithmetic(&mut self, plan: &'a Plan, call: &'a Call, list: ContainerId) -> Option<ColumnTest<'a>> {
        let (comparison, left, right, cost) = self.numeric_comparison(plan, list)?;
        Some(ColumnTest::Numbers(call, comparison, left, right, cost))
    }

    /// Returns the value of a plan that is the same for all items, and its cost.
    pub(super) fn constant_value(&mut self, plan: &'a Plan) -> Option<(Value<'a>, u64)> {
        if !is_fixed(plan) {
            return None;
        }
        let (used, inner_fuel) = (self.fuel_used, self.inner_fuel);
        let value = self.eval(plan, Value::Null).ok();
        let cost = self.fuel_used - used;
        self.refund(used, inner_fuel);
        value.map(|value| (value, cost))
    }

    fn retain_tested(&mut self, test: ColumnTest<'a>, selection: &mut Selection<'a>, truth: TruthFn) -> Result<()> {
        match test {
            ColumnTest::Coded(plan, column) => self.retain_coded(plan, column, selection, truth),
            ColumnTest::Number(call, numbers, comparison, constant, cost) => {
                self.call_stats[call.id].strategy = Strategy::Numbers;
                self.charge_calls(call, selection.rows.count() as u64, cost)?;
                comparison.retain_rows(numbers, constant, &mut selection.rows);
                Ok(())
            }
            ColumnTest::Numbers(call, comparison, left, right, cost) => {
                self.call_stats[call.id].strategy = Strategy::Numbers;
                self.charge_calls(call, selection.rows.count() as u64, cost)?;
                selection.retain_compared(comparison, &left, &right);
                Ok(())
            }
            ColumnTest::OneOf(call, column, membership, cost) => {
                self.call_stats[call.id].strategy = Strategy::Index;
                self.charge_calls(call, selection.rows.count() as u64, cost)?;
                self.retain_members(call, column, &membership, &mut selection.rows)
            }
            ColumnTest::Exists(call, cells) => {
                self.charge_calls(call, selection.rows.count() as u64, 1)?;
                selection.rows.retain(cells, |cell| cell != Cell::MISSING);
                Ok(())
            }
            ColumnTest::Matches(call, texts, regex, steps) => {
                self.retain_matches((call, steps), texts, regex, selection)
            }
            ColumnTest::Prepared(prepared) => self.retain_prepared(prepared, selection, truth),
        }
    }

    /// Keeps the rows whose value passes. Charges the cost of each value once per row.
    fn retain_coded(
        &mut self,
        plan: &'a Plan,
        column: &'a Column,
        selection: &mut Selection<'a>,
        truth: TruthFn,
    ) -> Result<()> {
        let Some((codes, values)) = column.codes() else { return Ok(()) };
        self.set_plan_strategy(plan, Strategy::DistinctValues);
        let mut matching = [false; 256];
        let counts = selection.rows.count_by_code(codes, values.iter().map(|value| value.count));
        for (code, value) in values.iter().enumerate().filter(|(code, _)| counts[*code] > 0) {
            let result = self.eval_repeated(plan, selection.cells[value.first_row as usize], counts[code])?;
            matching[code] = truth(result);
        }
        let mut passing = (0..values.len()).filter(|code| matching[*code]);
        match (passing.next(), passing.next()) {
            (Some(only), None) => selection.rows.retain_byte(codes, only as u8),
            _ => selection.rows.retain(codes, |code| matching[code as usize]),
        }
        Ok(())
    }

    /// Evaluates on one item a plan with the same result for `times` items, and charges for all of them.
    pub(super) fn eval_repeated(&mut self, plan: &'a Plan, item: Cell, times: u32) -> Result<Value<'a>> {
        let before = self.fuel_used;
        let value = self.eval(plan, Value::stored(self.document, item))?;
        let cost = self.fuel_used - before;
        match plan {
            Plan::Call(call) => self.charge_calls(call, u64::from(times) - 1, cost)?,
            _ => self.charge((u64::from(times) - 1) * cost)?,
        }
        Ok(value)
    }

    fn retain_members(
        &mut self,
        call: &'a Call,
        column: &Column,
        membership: &Membership<'a>,
        rows: &mut RowSet,
    ) -> Result<()> {
        let (Membership::In(values) | Membership::NotIn(values)) = membership;
        let mut found = RowSet::empty(column.len());
        let mut compared = 0;
        for value in values {
            let before = found.clone();
            match value {
                Scalar::Text(text) => column.rows_with_string(self.document, text).for_each(|row| found.insert(row)),
                Scalar::Number(number) => {
                    column.numbers(self.document).rows_with(*number).for_each(|row| found.insert(row));
                }
            }
            let mut remaining = rows.clone();
            remaining.subtract(&before);
            compared += remaining.count() as u64;
        }
        if let Some("in" | "not in") = call.function.standard_name() {
            self.record_calls(call, 0, compared);
            self.charge(compared)?;
        }
        match membership {
            Membership::In(_) => rows.intersect(&found),
            Membership::NotIn(_) => rows.subtract(&found),
        }
        Ok(())
    }

    fn retain_logical(
        &mut self,
        operator: LogicalOperator,
        call: &'a Call,
        selection: &mut Selection<'a>,
    ) -> Result<()> {
        self.charge_calls(call, selection.rows.count() as u64, 1)?;
        match operator {
            LogicalOperator::All => call.args.iter().try_for_each(|operand| self.retain_operand(operand, selection)),
            LogicalOperator::Any => self.retain_any(&call.args, selection),
            LogicalOperator::Not => {
                let excluded = call.args.first().map(|operand| self.rows_matching(operand, selection)).transpose()?;
                excluded.iter().for_each(|excluded| selection.rows.subtract(excluded));
                Ok(())
            }
        }
    }

    fn retain_operand(&mut self, operand: &'a Plan, selection: &mut Selection<'a>) -> Result<()> {
        self.retain(operand, selection, |value| value.is_truthy_in_javascript())
    }

    fn retain_any(&mut self, operands: &'a [Plan], selection: &mut Selection<'a>) -> Result<()> {
        let original = selection.rows.clone();
        let mut found = RowSet::empty(selection.cells.len());
        for operand in operands {
            found.union(&self.rows_matching(operand, selection)?);
            selection.rows.subtract(&found);
        }
        selection.rows = original;
        selection.rows.intersect(&found);
        Ok(())
    }

    /// Returns the rows for which an operand holds, without changing the selection.
    fn rows_matching(&mut self, operand: &'a Plan, selection: &mut Selection<'a>) -> Result<RowSet> {
        let original = selection.rows.clone();
        self.retain_operand(operand, selection)?;
        Ok(std::mem::replace(&mut selection.rows, original))
    }

    /// Hot: searching a tag takes less time than a call.
    fn retain_matches(
        &mut self,
        (call, steps): (&'a Call, u64),
        texts: &'a Strings,
        regex: &'a Regex,
        selection: &mut Selection<'a>,
    ) -> Result<()> {
        self.charge_calls(call, selection.rows.count() as u64, steps)?;
        let before = self.fuel_used;
        match regex.as_one_pass().filter(|_| texts.is_ascii()) {
            Some(one_pass) => {
                let (mut bounds, mut cost) = (NO_BOUNDS, 0);
                selection.rows.try_retain_rows(|row| {
                    let text = texts.bytes(row);
                    cost += regex.search_cost(text.len());
                    if cost >= CHECK_INTERVAL {
                        self.charge(std::mem::take(&mut cost))?;
                    }
                    Ok(one_pass.find(text, 0, &mut bounds))
                })?;
                self.charge(cost)?;
            }
            None => selection.rows.try_retain_rows(|row| {
                let text = texts.get(row);
                self.search_in(regex, text, |budget| regex.is_match(text, budget))
            })?,
        }
        self.record_calls(call, 0, self.fuel_used - before);
        Ok(())
    }

    fn retain_prepared(
        &mut self,
        mut prepared: PreparedCall<'a>,
        selection: &mut Selection<'a>,
        truth: TruthFn,
    ) -> Result<()> {
        let runs = selection.rows.count() as u64;
        self.charge_prepared(&prepared, runs)?;
        selection.rows.try_retain_rows(|row| self.run_prepared(&mut prepared, row, Value::Undefined).map(truth))?;
        self.record_prepared(&prepared, runs);
        Ok(())
    }

    fn retain_plain(&mut self, plan: &'a Plan, selection: &mut Selection<'a>, truth: TruthFn) -> Result<()> {
        selection.rows.try_retain_rows(|row| {
            let item = Value::stored(self.document, selection.cells[row as usize]);
            self.eval(plan, item).map(truth)
        })
    }
}

impl Selection<'_> {
    /// Keeps the rows whose two numbers satisfy the comparison.
    fn retain_compared(&mut self, comparison: Comparison, left: &Numeric<'_>, right: &Numeric<'_>) {
        let rows: Vec<u32> = self.rows.iter().collect();
        let view = ColumnView { list: self.list, cells: self.cells, rows: Some(&rows) };
        let truths = comparison.all(&left.all(&view), &right.all(&view));
        rows.iter().zip(truths).filter(|(_, truth)| !truth).for_each(|(row, _)| self.rows.remove_row(*row));
    }
}

impl<'a> Scalar<'a> {
    /// Returns `None` for values without an index lookup. Comparing longer strings costs fuel.
    fn from_value(value: Value<'a>) -> Option<Scalar<'a>> {
        match value {
            Value::String(text) if text.len() < SHORT_TEXT_SIZE => Some(Scalar::Text(text)),
            Value::Number(number) => Some(Scalar::Number(number.value())),
            _ => None,
        }
    }
}

impl LogicalOperator {
    /// Returns the operator and the call of a composed condition.
    fn from_plan(plan: &Plan) -> Option<(LogicalOperator, &Call)> {
        let Plan::Call(call) = plan else { return None };
        let operator = match (call.function.standard_name()?, &*call.args) {
            ("and", [_, _, ..]) => LogicalOperator::All,
            ("or", [_, _, ..]) => LogicalOperator::Any,
            ("not", [_]) => LogicalOperator::Not,
            _ => return None,
        };
        Some((operator, call))
    }
}
