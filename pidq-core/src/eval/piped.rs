//! Parts of a query that begin with fields, for all items of a stored list: what comes after runs item by item, on cells
//! of the columns.
//!
//! As in `batch`: the fuel is what it costs item by item, and where anything fails the caller goes from item to item.

use super::Cx;
use super::plan::{Call, Path, Plan, Stage};
use super::view::View;
use crate::error::Result;
use crate::graph::column::Column;
use crate::value::{Array, CellList, Items, Value};

impl<'a> Cx<'a> {
    /// A part of a query for each item, where it begins with fields.
    pub(super) fn map_from_fields(&mut self, view: View<'a>, plan: &'a Plan) -> Result<Option<Value<'a>>> {
        match plan {
            Plan::Pipe(stages) => self.map_piped(view, stages),
            Plan::Array(items) => self.map_lists(view, items),
            Plan::Call(call) if call.function.standard_name() == Some("if") => self.map_choice(view, call),
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

    fn plain_column(&mut self, path: &'a Path, view: View<'a>) -> Option<&'a Column> {
        if path.is_plain { self.column(path, view.list) } else { None }
    }
}
