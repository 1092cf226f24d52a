//! Parts of a query that begin with fields, for all items of a stored list: what comes after runs item by item, on cells
//! of the columns.
//!
//! As in `batch`: the fuel is what it costs item by item, and where anything fails the caller goes from item to item.

use super::Cx;
use super::function::{Body, StrictBody};
use super::plan::{Call, Path, Plan, Stage};
use super::view::View;
use crate::error::Result;
use crate::graph::column::Column;
use crate::value::{Array, CellList, Items, Value};

/// A part of a query whose fields are read from columns.
enum Prepared<'a> {
    Fixed(Value<'a>),
    /// A field, and the steps to it.
    Field(&'a Column, u64),
    Call(&'a Call, StrictBody, Vec<Prepared<'a>>),
}

/// Arguments of a prepared call.
const MOST: usize = 4;
/// Calls in calls; the rest is evaluated as it is written.
const DEEPEST: usize = 8;

impl<'a> Cx<'a> {
    /// A part of a query for each item, where it begins with fields.
    pub(super) fn map_from_fields(&mut self, view: View<'a>, plan: &'a Plan) -> Result<Option<Value<'a>>> {
        match plan {
            Plan::Pipe(stages) => self.map_piped(view, stages),
            Plan::Array(items) => self.map_lists(view, items),
            Plan::Call(call) if call.function.standard_name() == Some("if") => self.map_choice(view, call),
            Plan::Call(_) => match self.prepared(plan, view, 0) {
                Some(prepared) => self.list_of(view.len(), |cx, at| cx.run_prepared(&prepared, view.row(at))).map(Some),
                None => Ok(None),
            },
            _ => Ok(None),
        }
    }

    /// `.a | f() | g()`.
    fn map_piped(&mut self, view: View<'a>, stages: &'a [Stage]) -> Result<Option<Value<'a>>> {
        let [Stage { plan: Plan::Get(path), .. }, rest @ ..] = stages else { return Ok(None) };
        let Some(column) = self.plain_column(path, view) else { return Ok(None) };
        let steps = 2 + path.keys.len() as u64;
        self.list_of(view.len(), |cx, at| {
            let field = Value::stored(cx.document, column.cell(view.row(at)));
            match rest {
                [only] => {
                    cx.spend(steps + 1)?;
                    cx.eval_paid(&only.plan, field)
                }
                stages => {
                    cx.spend(steps)?;
                    cx.pipe(stages, field)
                }
            }
        })
        .map(Some)
    }

    /// `[.a, .b]`.
    fn map_lists(&mut self, view: View<'a>, items: &'a [Plan]) -> Result<Option<Value<'a>>> {
        let width = items.len();
        let mut columns = Vec::with_capacity(width);
        let mut cost = 1;
        for item in items {
            let Plan::Get(path) = item else { return Ok(None) };
            let Some(column) = self.plain_column(path, view) else { return Ok(None) };
            cost += 1 + path.keys.len() as u64;
            columns.push(column);
        }
        if columns.is_empty() {
            return Ok(None);
        }
        self.spend(view.len() as u64 * cost)?;
        let cell = |at: usize| columns[at % width].cell(view.row(at / width));
        let cells = self.scratch.slice_by(view.len() * width, cell).ok_or_else(|| self.out_of_memory())?;
        let list = |at: usize| CellList { arena: self.document, cells: &cells[at * width..][..width] };
        let lists = self.scratch.slice_by(view.len(), list).ok_or_else(|| self.out_of_memory())?;
        self.list_by(view.len(), |at| Value::Array(Array(Items::Cells(&lists[at])))).map(Some)
    }

    /// `if(condition, a, b)`, where the condition is worked out for all items.
    fn map_choice(&mut self, view: View<'a>, call: &'a Call) -> Result<Option<Value<'a>>> {
        let [condition, branches @ ..] = &*call.args else { return Ok(None) };
        let Some(kept) = self.matching_rows(view, condition)? else { return Ok(None) };
        self.charge(call, view.len() as u64, 0)?;
        self.list_of(view.len(), |cx, at| {
            let row = view.row(at);
            match branches.get(usize::from(!kept.contains(row))) {
                Some(branch) => cx.eval(branch, Value::stored(cx.document, view.cells[row as usize])),
                None => Ok(Value::Undefined),
            }
        })
        .map(Some)
    }

    /// A call whose arguments are fields and constants, or such calls again.
    fn prepared(&mut self, plan: &'a Plan, view: View<'a>, depth: usize) -> Option<Prepared<'a>> {
        match plan {
            Plan::Constant(constant) => Some(Prepared::Fixed(constant.value())),
            Plan::Get(path) => {
                let column = self.plain_column(path, view)?;
                Some(Prepared::Field(column, 1 + path.keys.len() as u64))
            }
            Plan::Call(call) => match call.function.row().body {
                Body::Strict(body) if call.args.len() <= MOST && depth < DEEPEST => {
                    let args = call.args.iter().map(|arg| self.prepared(arg, view, depth + 1));
                    Some(Prepared::Call(call, body, args.collect::<Option<Vec<_>>>()?))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Hot: runs once an item and part.
    fn run_prepared(&mut self, prepared: &Prepared<'a>, row: u32) -> Result<Value<'a>> {
        match prepared {
            Prepared::Fixed(value) => self.spend(1).map(|()| *value),
            Prepared::Field(column, steps) => {
                self.spend(*steps)?;
                Ok(Value::stored(self.document, column.cell(row)))
            }
            Prepared::Call(call, body, args) => {
                self.spend(1)?;
                let entry = self.enter();
                let mut values = [Value::Undefined; MOST];
                for (value, arg) in values.iter_mut().zip(args) {
                    *value = self.run_prepared(arg, row)?;
                }
                let result = body(self, &values[..args.len()]);
                self.leave(call, entry, &result);
                result
            }
        }
    }

    fn plain_column(&mut self, path: &'a Path, view: View<'a>) -> Option<&'a Column> {
        if path.is_plain { self.column(path, view.list) } else { None }
    }
}
