//! Vectorized evaluation of `if`: the condition is evaluated for all items at once, and so is that of an `if` in one of
//! the branches. Branches that are constants, fields or calls on fields are prepared.
//!
//! As in `vectorized`, the fuel equals the cost of evaluation item by item, and if anything fails the caller evaluates
//! item by item instead.

use super::EvalContext;
use super::column_view::ColumnView;
use super::plan::{Call, Plan};
use super::row_set::RowSet;
use super::vectorized_pipe::{Field, PreparedCall};
use crate::error::Result;
use crate::value::Value;

/// `if` for some rows of a list.
struct PreparedIf<'a> {
    /// The rows for which the condition holds.
    matching: RowSet,
    /// The branch of these rows, and that of the others.
    branches: [Branch<'a>; 2],
}

/// Branch of an `if`. The cost is already charged, except for plans and for the bodies of calls.
enum Branch<'a> {
    Constant(Value<'a>),
    Field(Field<'a>),
    /// A call, and the number of its runs.
    Call(Box<PreparedCall<'a>>, u64),
    If(Box<PreparedIf<'a>>),
    /// Evaluated for each item.
    Plan(&'a Plan),
}

/// Nesting depth of prepared conditions; deeper ones are evaluated as written.
const MAX_DEPTH: u32 = 8;

impl<'a> EvalContext<'a> {
    /// Evaluates `if(condition, a, b)` for each item; `None` if the condition must be evaluated item by item.
    pub(super) fn map_if(&mut self, view: ColumnView<'a>, call: &'a Call) -> Result<Option<Value<'a>>> {
        let Some(condition) = call.args.first() else { return Ok(None) };
        let Some(matching) = self.matching_rows(view, condition)? else { return Ok(None) };
        let Some(rows) = view.row_set() else { return Ok(None) };
        let mut prepared = self.prepared_if(view, call, &rows, matching, 0)?;
        if let [Branch::Constant(first), Branch::Constant(second)] = prepared.branches {
            let chosen = |at: usize| [first, second][usize::from(!prepared.matching.contains(view.row(at)))];
            return self.list_from_fn(view.len(), chosen).map(Some);
        }
        let results =
            self.scratch.alloc_slice_filled(view.len(), Value::Undefined).ok_or_else(|| self.out_of_memory())?;
        for (at, result) in results.iter_mut().enumerate() {
            *result = self.chosen_value(view, &mut prepared, view.row(at))?;
        }
        self.record_if(&prepared);
        self.list_from_slice(results).map(Some)
    }

    /// Prepares the branches of an `if` whose condition holds for the `matching` rows among `rows`. The condition is
    /// already charged.
    fn prepared_if(
        &mut self,
        view: ColumnView<'a>,
        call: &'a Call,
        rows: &RowSet,
        matching: RowSet,
        depth: u32,
    ) -> Result<PreparedIf<'a>> {
        self.charge_calls(call, rows.count() as u64, 0)?;
        let mut others = rows.clone();
        others.subtract(&matching);
        let first = self.branch(view, call.args.get(1), &matching, depth)?;
        let second = self.branch(view, call.args.get(2), &others, depth)?;
        Ok(PreparedIf { matching, branches: [first, second] })
    }

    /// Prepares a branch for some rows. The branch of no rows is not looked at: it might warn about its fields.
    fn branch(
        &mut self,
        view: ColumnView<'a>,
        plan: Option<&'a Plan>,
        rows: &RowSet,
        depth: u32,
    ) -> Result<Branch<'a>> {
        let (Some(plan), runs @ 1..) = (plan, rows.count() as u64) else {
            return Ok(Branch::Constant(Value::Undefined));
        };
        match plan {
            Plan::Constant(constant) => {
                self.charge(runs)?;
                Ok(Branch::Constant(constant.value()))
            }
            Plan::Get(path) => match self.column_field(path, view.list) {
                Some(field) => {
                    self.charge(runs * field.steps)?;
                    Ok(Branch::Field(field))
                }
                None => Ok(Branch::Plan(plan)),
            },
            Plan::Call(call) if call.function.standard_name() == Some("if") && depth < MAX_DEPTH => {
                let Some(condition) = call.args.first() else { return Ok(Branch::Plan(plan)) };
                self.charge(runs)?;
                let matching = self.matching_rows_among(view, rows, condition)?;
                self.prepared_if(view, call, rows, matching, depth + 1).map(|prepared| Branch::If(Box::new(prepared)))
            }
            _ => match self.prepared(plan, Some(view.list)) {
                Some(prepared) => {
                    self.charge_prepared(&prepared, runs)?;
                    Ok(Branch::Call(Box::new(prepared), runs))
                }
                None => Ok(Branch::Plan(plan)),
            },
        }
    }

    /// Returns the value of the branch of a row. Recursive: as deep as the prepared conditions.
    ///
    /// Hot: runs once per item.
    #[inline]
    fn chosen_value(&mut self, view: ColumnView<'a>, prepared: &mut PreparedIf<'a>, row: u32) -> Result<Value<'a>> {
        match &mut prepared.branches[usize::from(!prepared.matching.contains(row))] {
            Branch::Constant(value) => Ok(*value),
            Branch::Field(field) => Ok(field.value(self.document, row)),
            Branch::Call(call, _) => self.run_prepared(call, row, Value::Undefined),
            Branch::If(inner) => self.chosen_value(view, inner, row),
            Branch::Plan(plan) => self.eval(plan, Value::stored(self.document, view.cells[row as usize])),
        }
    }

    /// Records the cost of the calls in the branches.
    fn record_if(&mut self, prepared: &PreparedIf<'a>) {
        for branch in &prepared.branches {
            match branch {
                Branch::Call(call, runs) => self.record_prepared(call, *runs),
                Branch::If(inner) => self.record_if(inner),
                _ => {}
            }
        }
    }
}
