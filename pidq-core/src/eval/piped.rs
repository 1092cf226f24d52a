//! Parts of a query that begin with fields, for all items of a stored list: what comes after runs item by item, on cells
//! of the columns.
//!
//! As in `batch`: the fuel is what it costs item by item, and where anything fails the caller goes from item to item.

use super::Cx;
use super::function::{Body, PipedBody, SearchBody, StrictBody};
use super::plan::{Call, Path, Plan, Stage};
use super::renamed::Shapes;
use super::view::View;
use crate::arena::{Arena, ContainerId};
use crate::error::Result;
use crate::graph::column::{Column, Texts};
use crate::regex::Regex;
use crate::value::{Array, CellList, Items, Value};

/// A part of a query whose fields are read from columns.
pub(super) enum Prepared<'a> {
    Fixed(Value<'a>),
    Field(Field<'a>),
    Call(Box<PreparedCall<'a>>),
    Search(&'a Call, SearchBody, Box<Prepared<'a>>, &'a Regex),
}

/// A field, its texts side by side where it has many short ones, and the steps to it.
#[derive(Clone, Copy)]
pub(super) struct Field<'a> {
    column: &'a Column,
    texts: Option<&'a Texts>,
    steps: u64,
}

/// A call, with the arguments that are the same for all rows in place.
pub(super) struct PreparedCall<'a> {
    call: &'a Call,
    body: StrictBody,
    args: [Value<'a>; MOST],
    /// The other arguments, and where they belong.
    rest: Vec<(usize, Prepared<'a>)>,
    /// The steps that the arguments in place cost.
    steps: u64,
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
            Plan::Call(_) => match self.prepared_call(plan, view.list) {
                Some(prepared) => self.list_of(view.len(), |cx, at| cx.run_prepared(&prepared, view.row(at))).map(Some),
                None => Ok(None),
            },
            _ => Ok(None),
        }
    }

    /// `.a | f() | g()`.
    fn map_piped(&mut self, view: View<'a>, stages: &'a [Stage]) -> Result<Option<Value<'a>>> {
        let [Stage { plan: Plan::Get(path), .. }, rest @ ..] = stages else { return Ok(None) };
        let Some(field) = self.column_field(path, view.list) else { return Ok(None) };
        let steps = 1 + field.steps;
        if let [Stage { plan: Plan::Call(call), .. }] = rest
            && let Body::Piped(body) = call.function.row().body
        {
            return self.map_piped_call(view, field, steps + 1, call, body).map(Some);
        }
        self.list_of(view.len(), |cx, at| {
            let value = field.value(cx.document, view.row(at));
            match rest {
                [only] => {
                    cx.spend(steps + 1)?;
                    cx.eval_paid(&only.plan, value)
                }
                stages => {
                    cx.spend(steps)?;
                    cx.pipe(stages, value)
                }
            }
        })
        .map(Some)
    }

    /// `.a | f()`: what it costs is noted once, as in [`Cx::leave`].
    fn map_piped_call(
        &mut self,
        view: View<'a>,
        field: Field<'a>,
        steps: u64,
        call: &'a Call,
        body: PipedBody,
    ) -> Result<Value<'a>> {
        self.spend(view.len() as u64 * steps)?;
        let entry = self.enter();
        let mut rows = 0;
        let mut shapes = Shapes::of(call);
        let result = self.list_of(view.len(), |cx, at| {
            let input = field.value(cx.document, view.row(at));
            let value = match (&mut shapes, input.container()) {
                (Some(shapes), Some((_, id))) if input.as_object().is_some() => cx.renamed(shapes, id, call, body)?,
                _ => body(cx, input, &call.args)?,
            };
            if let Value::Array(array) = value {
                rows += array.len() as u64;
            }
            Ok(value)
        });
        self.leave(call, entry, &Ok(Value::Null));
        let cost = &mut self.costs[call.id];
        cost.runs += view.len() as u64 - 1;
        cost.rows += rows;
        result
    }

    /// `[.a, .b]`.
    fn map_lists(&mut self, view: View<'a>, items: &'a [Plan]) -> Result<Option<Value<'a>>> {
        let width = items.len();
        let mut columns = Vec::with_capacity(width);
        let mut cost = 1;
        for item in items {
            let Plan::Get(path) = item else { return Ok(None) };
            let Some(column) = self.plain_column(path, view.list) else { return Ok(None) };
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
    pub(super) fn prepared_call(&mut self, plan: &'a Plan, list: ContainerId) -> Option<Prepared<'a>> {
        if let Plan::Call(_) = plan { self.prepared(plan, list, 0) } else { None }
    }

    fn prepared(&mut self, plan: &'a Plan, list: ContainerId, depth: usize) -> Option<Prepared<'a>> {
        match plan {
            Plan::Constant(constant) => Some(Prepared::Fixed(constant.value())),
            Plan::Get(path) => self.column_field(path, list).map(Prepared::Field),
            Plan::Call(call) if depth < DEEPEST => match (&call.function.row().body, &*call.args) {
                (Body::Strict(body), args) if args.len() <= MOST => self.prepared_strict(call, *body, list, depth),
                (Body::Search(body), [text, Plan::Pattern(pattern), ..]) => {
                    let text = self.prepared(text, list, depth + 1)?;
                    Some(Prepared::Search(call, *body, Box::new(text), pattern))
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn prepared_strict(
        &mut self,
        call: &'a Call,
        body: StrictBody,
        list: ContainerId,
        depth: usize,
    ) -> Option<Prepared<'a>> {
        let mut made = PreparedCall { call, body, args: [Value::Undefined; MOST], rest: Vec::new(), steps: 0 };
        for (at, arg) in call.args.iter().enumerate() {
            match self.prepared(arg, list, depth + 1)? {
                Prepared::Fixed(value) => {
                    made.args[at] = value;
                    made.steps += 1;
                }
                other => made.rest.push((at, other)),
            }
        }
        Some(Prepared::Call(Box::new(made)))
    }

    fn column_field(&mut self, path: &'a Path, list: ContainerId) -> Option<Field<'a>> {
        let column = self.plain_column(path, list)?;
        Some(Field { column, texts: column.texts(self.document), steps: 1 + path.keys.len() as u64 })
    }

    /// Hot: nearly all are fields, which are not worth a step down.
    #[inline]
    fn prepared_argument(&mut self, prepared: &Prepared<'a>, row: u32) -> Result<Value<'a>> {
        match prepared {
            Prepared::Field(field) => {
                self.spend(field.steps)?;
                Ok(field.value(self.document, row))
            }
            other => self.run_prepared(other, row),
        }
    }

    /// Hot: runs once an item and part.
    pub(super) fn run_prepared(&mut self, prepared: &Prepared<'a>, row: u32) -> Result<Value<'a>> {
        match prepared {
            Prepared::Fixed(value) => self.spend(1).map(|()| *value),
            Prepared::Field(field) => {
                self.spend(field.steps)?;
                Ok(field.value(self.document, row))
            }
            Prepared::Call(made) => {
                self.spend(1)?;
                let entry = self.enter();
                self.spend(made.steps)?;
                let mut args = made.args;
                for (at, arg) in &made.rest {
                    args[*at] = self.prepared_argument(arg, row)?;
                }
                let result = (made.body)(self, &args[..made.call.args.len()]);
                self.leave(made.call, entry, &result);
                result
            }
            Prepared::Search(call, body, text, regex) => {
                self.spend(1)?;
                let entry = self.enter();
                let text = self.prepared_argument(text, row)?;
                let result = body(self, text, regex);
                self.leave(call, entry, &result);
                result
            }
        }
    }

    fn plain_column(&mut self, path: &'a Path, list: ContainerId) -> Option<&'a Column> {
        if path.is_plain { self.column(path, list) } else { None }
    }
}

impl<'a> Prepared<'a> {
    /// The call that asks whether texts side by side match a pattern, and the texts and steps of their field.
    pub fn as_search(&self) -> Option<(&'a Call, &'a Texts, u64, &'a Regex)> {
        match self {
            Prepared::Search(call, _, text, regex) if call.function.standard_name() == Some("regex") => match **text {
                Prepared::Field(field) => Some((call, field.texts?, field.steps, regex)),
                _ => None,
            },
            _ => None,
        }
    }
}

impl<'a> Field<'a> {
    #[inline]
    fn value(&self, document: &'a Arena, row: u32) -> Value<'a> {
        match self.texts {
            Some(texts) => Value::String(texts.get(row)),
            None => Value::stored(document, self.column.cell(row)),
        }
    }
}
