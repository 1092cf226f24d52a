//! Vectorized evaluation of plans that begin with fields: the stages after them run item by item, on cells of the
//! columns.
//!
//! As in `vectorized`, the fuel equals the cost of evaluation item by item, and if anything fails the caller evaluates
//! item by item instead.

use super::EvalContext;
use super::call_stats::Strategy;
use super::column_view::ColumnView;
use super::plan::function::{BatchBody, Body, CountBody, PipedBody, SearchBody, StrictBody};
use super::plan::fusion::is_size;
use super::plan::{Call, Path, Plan, Stage};
use super::regex_captures::{ColumnMatches, MatchMode};
use super::rename_keys::RenameCache;
use super::row_set::RowSet;
use super::vectorized_containers::ContainerFunction;
use crate::arena::{Arena, Cell, ContainerId};
use crate::error::Result;
use crate::graph::column::{Column, Strings};
use crate::regex::Regex;
use crate::value::{Array, CellList, Fields, Items, Object, Record, Value};

/// Call whose arguments are read from columns, or constant.
pub(super) struct PreparedCall<'a> {
    call: &'a Call,
    body: PreparedBody<'a>,
    batch: Option<BatchBody>,
    /// The arguments and their number. Constant ones are already set.
    args: [Value<'a>; MAX_ARGS],
    count: usize,
    /// Positions and sources of the others.
    sources: Vec<(usize, Source<'a>)>,
    /// Cost of the arguments per run.
    steps: u64,
    /// Fuel of the body so far, and items in its results.
    fuel: u64,
    rows: u64,
}

/// Function body with its compiled pattern.
#[derive(Clone, Copy)]
enum PreparedBody<'a> {
    Strict(StrictBody),
    Search(SearchBody, &'a Regex),
}

/// Source of an argument.
enum Source<'a> {
    Field(Field<'a>),
    Input,
    Call(PreparedCall<'a>),
}

/// A field, its contiguous strings if it has many short ones, and the cost of reading it.
#[derive(Clone, Copy)]
pub(super) struct Field<'a> {
    column: &'a Column,
    texts: Option<&'a Strings>,
    pub steps: u64,
}

/// Maximum number of arguments of a prepared call.
const MAX_ARGS: usize = 4;
/// Items for which one call runs before the next one: its results stay in the cache.
const BLOCK_SIZE: usize = 256;
/// Nesting depth of prepared calls; deeper ones are evaluated as written.
const MAX_DEPTH: usize = 8;

impl<'a> EvalContext<'a> {
    /// Evaluates a plan that begins with fields for each item.
    pub(super) fn map_from_fields(&mut self, view: ColumnView<'a>, plan: &'a Plan) -> Result<Option<Value<'a>>> {
        match plan {
            Plan::Pipe(stages) => self.map_piped(view, stages),
            Plan::Array(items) => self.map_lists(view, items),
            Plan::Call(call) if call.function.standard_name() == Some("if") => self.map_if(view, call),
            Plan::Call(_) => {
                let Some(prepared) = self.prepared(plan, Some(view.list)) else { return Ok(None) };
                match prepared.as_search().and_then(|_| view.row_set()) {
                    Some(rows) => self.map_searches(view, plan, &rows),
                    None => self.map_prepared(view, prepared),
                }
                .map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Evaluates `expand(2) | size()`. Records the cost once, as in [`EvalContext::leave`].
    fn map_counted(
        &mut self,
        view: ColumnView<'a>,
        call: &'a Call,
        body: CountBody,
        size: &'a Plan,
    ) -> Result<Option<Value<'a>>> {
        let runs = view.len() as u64;
        self.charge(3 * runs)?;
        let entry = self.enter();
        let Some((counts, rows)) = body(self, view, &call.args)? else { return Ok(None) };
        self.leave(call, entry, &Ok(Value::Null));
        let cost = &mut self.call_stats[call.id];
        cost.runs += runs - 1;
        cost.rows += rows;
        cost.strategy = Strategy::Count;
        if let Plan::Call(size) = size {
            self.record_calls(size, runs, 0);
        }
        Ok(Some(counts))
    }

    /// Evaluates `.a | f() | g()`.
    fn map_piped(&mut self, view: ColumnView<'a>, stages: &'a [Stage]) -> Result<Option<Value<'a>>> {
        if let [Stage { plan: Plan::Call(call), .. }, Stage { plan: size, .. }] = stages
            && let Body::Counted(_, body) = call.function.row().body
            && is_size(size)
        {
            return self.map_counted(view, call, body, size);
        }
        let [Stage { plan: Plan::Get(path), .. }, rest @ ..] = stages else { return Ok(None) };
        let Some(field) = self.column_field(path, view.list) else { return Ok(None) };
        let steps = 1 + field.steps;
        if let [Stage { plan: Plan::Call(call), .. }] = rest
            && let Body::Piped(body) | Body::Folded(body, _) = call.function.row().body
        {
            return self.map_piped_call(view, field, steps + 1, call, body).map(Some);
        }
        if let [Stage { plan: Plan::Get(inner), .. }] = rest
            && let Some(mapped) = self.map_inner_field(view, field, steps + 1, inner)?
        {
            return Ok(Some(mapped));
        }
        self.try_list_from_fn(view.len(), |cx, at| {
            let value = field.value(cx.document, view.row(at));
            match rest {
                [only] => {
                    cx.charge(steps + 1)?;
                    cx.eval_charged(&only.plan, value)
                }
                stages => {
                    cx.charge(steps)?;
                    cx.pipe(stages, value)
                }
            }
        })
        .map(Some)
    }

    /// Evaluates `.a | .b`; `None` if a value on the path is neither an object nor null.
    fn map_inner_field(
        &mut self,
        view: ColumnView<'a>,
        field: Field<'a>,
        steps: u64,
        path: &'a Path,
    ) -> Result<Option<Value<'a>>> {
        if !path.is_plain {
            return Ok(None);
        }
        let (scratch, mut has_failed) = (self.scratch, false);
        let inner = |at: usize| {
            let cell = match field.column.cell(view.row(at)) {
                Cell::NULL => Some(Cell::NULL),
                cell => cell.object_id().and_then(|id| self.follow_path(path, id)),
            };
            has_failed |= cell.is_none();
            cell.unwrap_or(Cell::NULL)
        };
        let cells = scratch.alloc_slice_from_fn(view.len(), inner).ok_or_else(|| self.out_of_memory())?;
        if has_failed {
            return Ok(None);
        }
        self.charge(view.len() as u64 * (steps + path.keys.len() as u64))?;
        self.cell_list(cells).map(Some)
    }

    /// Evaluates `.a | f()`. Records the cost once, as in [`EvalContext::leave`].
    fn map_piped_call(
        &mut self,
        view: ColumnView<'a>,
        field: Field<'a>,
        steps: u64,
        call: &'a Call,
        body: PipedBody,
    ) -> Result<Value<'a>> {
        self.charge(view.len() as u64 * steps)?;
        let entry = self.enter();
        let (result, rows) = match self.map_uniform(view, field, call)? {
            Some(mapped) => mapped,
            None => self.map_each_field(view, field, call, body)?,
        };
        self.leave(call, entry, &Ok(Value::Null));
        let cost = &mut self.call_stats[call.id];
        cost.runs += view.len() as u64 - 1;
        cost.rows += rows;
        Ok(result)
    }

    /// Runs `size`, `limit`, `keys`, `values`, `mapValues` or an aggregate of numbers on the field of all items at once; `None` if not all are arrays or
    /// objects, or for `mapValues` objects with the same keys. Returns also the number of items in the results.
    fn map_uniform(
        &mut self,
        view: ColumnView<'a>,
        field: Field<'a>,
        call: &'a Call,
    ) -> Result<Option<(Value<'a>, u64)>> {
        if let Some(function) = ContainerFunction::new(call) {
            return self.map_containers(view, field.column, function);
        }
        let Some(mut values) = self.prepared_values(call) else { return Ok(None) };
        Ok(self.map_values_of_shape(view, field, &mut values)?.map(|mapped| (mapped, 0)))
    }

    /// Runs a function on the field of each item. Returns also the number of items in the results.
    fn map_each_field(
        &mut self,
        view: ColumnView<'a>,
        field: Field<'a>,
        call: &'a Call,
        body: PipedBody,
    ) -> Result<(Value<'a>, u64)> {
        let mut rows = 0;
        let mut shapes = RenameCache::new(call);
        let (mut values, mut runs) = (self.prepared_values(call), 0);
        let result = self.try_list_from_fn(view.len(), |cx, at| {
            let input = field.value(cx.document, view.row(at));
            let value = match (input, &mut shapes, &mut values) {
                (Value::Object(Object(Fields::Stored(_, id))), Some(shapes), _) => {
                    cx.rename_object_keys(shapes, id, call, body)?
                }
                (Value::Object(Object(Fields::Stored(_, id))), _, Some(values)) => {
                    cx.map_object_values(values, id, &mut runs)?
                }
                _ => body(cx, input, &call.args)?,
            };
            if cx.has_pending_warnings() {
                cx.attach_warnings(call, &Ok(value));
            }
            if let Value::Array(array) = value {
                rows += array.len() as u64;
            }
            Ok(value)
        })?;
        if let Some(values) = &values {
            self.record_prepared(values, runs);
        }
        Ok((result, rows))
    }

    /// Returns the call that `mapValues` runs on each value.
    fn prepared_values(&mut self, call: &'a Call) -> Option<PreparedCall<'a>> {
        match (call.function.standard_name(), &*call.args) {
            (Some("mapValues"), [value]) => self.prepared(value, None),
            _ => None,
        }
    }

    /// Evaluates `[.a, .b]`.
    fn map_lists(&mut self, view: ColumnView<'a>, items: &'a [Plan]) -> Result<Option<Value<'a>>> {
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
        self.charge(view.len() as u64 * cost)?;
        let cell = |at: usize| columns[at % width].cell(view.row(at / width));
        let cells = self.scratch.alloc_slice_from_fn(view.len() * width, cell).ok_or_else(|| self.out_of_memory())?;
        let list = |at: usize| CellList { arena: self.document, cells: &cells[at * width..][..width] };
        let lists = self.scratch.alloc_slice_from_fn(view.len(), list).ok_or_else(|| self.out_of_memory())?;
        self.list_from_fn(view.len(), |at| Value::Array(Array(Items::Cells(&lists[at])))).map(Some)
    }

    /// Prepares a call whose arguments are fields of a list, constants or such calls. Without a list, the current value
    /// replaces the fields.
    pub(super) fn prepared(&mut self, plan: &'a Plan, list: Option<ContainerId>) -> Option<PreparedCall<'a>> {
        if let Plan::Call(call) = plan { self.prepared_call(call, list, 0) } else { None }
    }

    fn prepared_call(&mut self, call: &'a Call, list: Option<ContainerId>, depth: usize) -> Option<PreparedCall<'a>> {
        let (body, args) = match (&call.function.row().body, &*call.args) {
            (Body::Strict(body) | Body::Batched(body, _), args) if args.len() <= MAX_ARGS => {
                (PreparedBody::Strict(*body), args)
            }
            (Body::Search(body), [text, Plan::Pattern(pattern), ..]) => {
                (PreparedBody::Search(*body, pattern), std::slice::from_ref(text))
            }
            _ => return None,
        };
        let (arg_values, count, sources) = ([Value::Undefined; MAX_ARGS], args.len(), Vec::new());
        let batch = if let Body::Batched(_, batch) = call.function.row().body { Some(batch) } else { None };
        let mut prepared =
            PreparedCall { call, body, batch, args: arg_values, count, sources, steps: 0, fuel: 0, rows: 0 };
        for (at, arg) in args.iter().enumerate() {
            prepared.steps += self.prepare_argument(&mut prepared, at, arg, list, depth)?;
        }
        Some(prepared)
    }

    /// Prepares an argument. Returns its cost per run, without nested calls.
    fn prepare_argument(
        &mut self,
        prepared: &mut PreparedCall<'a>,
        at: usize,
        plan: &'a Plan,
        list: Option<ContainerId>,
        depth: usize,
    ) -> Option<u64> {
        match (plan, list) {
            (Plan::Constant(constant), _) => prepared.args[at] = constant.value(),
            (Plan::Get(path), None) if path.keys.is_empty() => prepared.sources.push((at, Source::Input)),
            (Plan::Get(path), Some(list)) => {
                let field = self.column_field(path, list)?;
                prepared.sources.push((at, Source::Field(field)));
                return Some(field.steps);
            }
            (Plan::Call(call), _) if depth < MAX_DEPTH => {
                prepared.sources.push((at, Source::Call(self.prepared_call(call, list, depth + 1)?)));
            }
            _ => return None,
        }
        Some(1)
    }

    /// Charges for `runs` runs of a call, without the cost of the bodies.
    pub(super) fn charge_prepared(&mut self, prepared: &PreparedCall<'a>, runs: u64) -> Result<()> {
        self.charge(runs.saturating_mul(1 + prepared.all_steps()))
    }

    /// Records the cost of `runs` runs, as [`EvalContext::leave`] does for each.
    pub(super) fn record_prepared(&mut self, prepared: &PreparedCall<'a>, runs: u64) {
        self.record_calls(prepared.call, runs, runs * prepared.steps + prepared.fuel);
        self.call_stats[prepared.call.id].rows += prepared.rows;
        prepared.calls().for_each(|call| self.record_prepared(call, runs));
    }

    /// Hot: runs once per item and call. The arguments are already charged.
    pub(super) fn run_prepared(
        &mut self,
        prepared: &mut PreparedCall<'a>,
        row: u32,
        input: Value<'a>,
    ) -> Result<Value<'a>> {
        match &mut *prepared.sources {
            // The usual case: the loop would take longer than the argument.
            [(at, only)] => prepared.args[*at] = self.argument(only, row, input)?,
            sources => {
                for (at, source) in sources {
                    prepared.args[*at] = self.argument(source, row, input)?;
                }
            }
        }
        let before = self.fuel_used;
        let value = match prepared.body {
            PreparedBody::Strict(body) => body(self, &prepared.args[..prepared.count])?,
            PreparedBody::Search(body, regex) => body(self, prepared.args[0], regex)?,
        };
        prepared.fuel += self.fuel_used - before;
        if self.has_pending_warnings() {
            self.attach_warnings(prepared.call, &Ok(value));
        }
        if let Value::Array(array) = value {
            prepared.rows += array.len() as u64;
        }
        Ok(value)
    }

    #[inline(always)]
    fn argument(&mut self, source: &mut Source<'a>, row: u32, input: Value<'a>) -> Result<Value<'a>> {
        match source {
            Source::Field(field) => Ok(field.value(self.document, row)),
            Source::Input => Ok(input),
            Source::Call(call) => self.run_prepared(call, row, input),
        }
    }

    /// Evaluates a regex test on contiguous strings. `rows` are those of the view.
    fn map_searches(&mut self, view: ColumnView<'a>, plan: &'a Plan, rows: &RowSet) -> Result<Value<'a>> {
        let matching = self.matching_rows_among(view, rows, plan)?;
        let truth = |at: usize| if matching.contains(view.row(at)) { Cell::TRUE } else { Cell::FALSE };
        let cells = self.scratch.alloc_slice_from_fn(view.len(), truth).ok_or_else(|| self.out_of_memory())?;
        self.cell_list(cells)
    }

    /// Runs a prepared call for each item.
    fn map_prepared(&mut self, view: ColumnView<'a>, mut prepared: PreparedCall<'a>) -> Result<Value<'a>> {
        let runs = view.len() as u64;
        self.charge_prepared(&prepared, runs)?;
        let results = match prepared.as_matches() {
            Some(matches) => {
                let before = self.fuel_used;
                let (results, total_matches) = self.map_matches(view, &matches)?;
                (prepared.fuel, prepared.rows) = (self.fuel_used - before, total_matches);
                results
            }
            None => {
                let values = self
                    .scratch
                    .alloc_slice_filled(view.len(), Value::Undefined)
                    .ok_or_else(|| self.out_of_memory())?;
                for (at, block) in values.chunks_mut(BLOCK_SIZE).enumerate() {
                    self.run_block(&mut prepared, Some(view), at * BLOCK_SIZE, block)?;
                }
                self.list_from_slice(values)?
            }
        };
        self.record_prepared(&prepared, runs);
        Ok(results)
    }

    /// Hot: runs a prepared call for the items from `first` on, or without a view for the values. A nested call runs for
    /// all of them first and writes its results into the same slice.
    fn run_block(
        &mut self,
        prepared: &mut PreparedCall<'a>,
        view: Option<ColumnView<'a>>,
        first: usize,
        values: &mut [Value<'a>],
    ) -> Result<()> {
        let row = |at: usize| view.map_or(0, |view| view.row(at));
        let (PreparedBody::Strict(body), [(arg_index, source)]) = (prepared.body, &mut *prepared.sources) else {
            for (at, value) in (first..).zip(values) {
                *value = self.run_prepared(prepared, row(at), *value)?;
            }
            return Ok(());
        };
        match source {
            Source::Call(call) => self.run_block(call, view, first, values)?,
            Source::Field(field) => {
                (first..).zip(&mut *values).for_each(|(at, value)| *value = field.value(self.document, row(at)));
            }
            Source::Input => {}
        }
        let done = match prepared.batch {
            Some(batch) if *arg_index == 0 => batch(self, values, &prepared.args[1..prepared.count]),
            _ => 0,
        };
        let before = self.fuel_used;
        for value in &mut values[done..] {
            prepared.args[*arg_index] = *value;
            *value = body(self, &prepared.args[..prepared.count])?;
            if self.has_pending_warnings() {
                self.attach_warnings(prepared.call, &Ok(*value));
            }
            if let Value::Array(array) = value {
                prepared.rows += array.len() as u64;
            }
        }
        prepared.fuel += self.fuel_used - before;
        Ok(())
    }

    /// Runs `mapValues` on objects of the document with the same keys; `None` if there are other values.
    fn map_values_of_shape(
        &mut self,
        view: ColumnView<'a>,
        field: Field<'a>,
        prepared: &mut PreparedCall<'a>,
    ) -> Result<Option<Value<'a>>> {
        let document = self.document;
        let object = |at: usize| field.column.cell(view.row(at)).object_id();
        let Some(first) = object(0) else { return Ok(None) };
        let shape = document.shape(first);
        let has_shape = |at: usize| object(at).is_some_and(|id| document.shape(id) == shape);
        let keys = self.shape_keys(document, first)?.keys;
        let width = keys.names.len();
        if width == 0 || !(1..view.len()).all(has_shape) {
            return Ok(None);
        }
        let values = self.mapped_values(prepared, view.len() * width)?;
        let block_len = (BLOCK_SIZE / width).max(1) * width;
        for (block, values) in values.chunks_mut(block_len).enumerate() {
            for (at, values) in (block * block_len / width..).zip(values.chunks_exact_mut(width)) {
                let fields =
                    object(at).map_or(&[][..], |id| document.cells(document.container(id).first, width as u32));
                values.iter_mut().zip(fields).for_each(|(value, cell)| *value = Value::stored(document, *cell));
            }
            self.run_block(prepared, None, 0, values)?;
        }
        self.record_prepared(prepared, values.len() as u64);
        let record = self.scratch.alloc(Record { keys, values }).ok_or_else(|| self.out_of_memory())?;
        Ok(Some(Value::Array(Array(Items::Records(record)))))
    }

    /// Runs `mapValues` on an object of the document.
    fn map_object_values(
        &mut self,
        prepared: &mut PreparedCall<'a>,
        id: ContainerId,
        runs: &mut u64,
    ) -> Result<Value<'a>> {
        let keys = self.shape_keys(self.document, id)?.keys;
        let fields = self.document.fields(id);
        *runs += fields.len() as u64;
        let values = self.mapped_values(prepared, fields.len())?;
        values.iter_mut().zip(fields).for_each(|(value, cell)| *value = Value::stored(self.document, *cell));
        self.run_block(prepared, None, 0, values)?;
        let record = self.scratch.alloc(Record { keys, values }).ok_or_else(|| self.out_of_memory())?;
        Ok(record.row(0))
    }

    /// Charges for running `mapValues` on `count` values, and allocates the results.
    fn mapped_values(&mut self, prepared: &PreparedCall<'a>, count: usize) -> Result<&'a mut [Value<'a>]> {
        self.charge(count as u64)?;
        self.charge_prepared(prepared, count as u64)?;
        self.scratch.alloc_slice_filled(count, Value::Undefined).ok_or_else(|| self.out_of_memory())
    }

    pub(super) fn column_field(&mut self, path: &'a Path, list: ContainerId) -> Option<Field<'a>> {
        let column = self.plain_column(path, list)?;
        Some(Field { column, texts: column.strings(self.document), steps: 1 + path.keys.len() as u64 })
    }

    fn plain_column(&mut self, path: &'a Path, list: ContainerId) -> Option<&'a Column> {
        if path.is_plain { self.column(path, list) } else { None }
    }
}

impl<'a> PreparedCall<'a> {
    /// Returns the nested calls.
    fn calls(&self) -> impl Iterator<Item = &PreparedCall<'a>> {
        self.sources.iter().filter_map(|(_, source)| match source {
            Source::Call(call) => Some(call),
            _ => None,
        })
    }

    /// Returns the cost of the arguments per run, including those of nested calls.
    fn all_steps(&self) -> u64 {
        self.steps + self.calls().map(PreparedCall::all_steps).sum::<u64>()
    }

    /// Returns the parts of a regex test on contiguous strings, and the cost per row without the search.
    pub fn as_search(&self) -> Option<(&'a Call, &'a Strings, &'a Regex, u64)> {
        let ("regex", texts, regex, steps) = self.search()? else { return None };
        Some((self.call, texts, regex, 1 + steps))
    }

    /// Returns `match` or `matchAll` on contiguous strings.
    fn as_matches(&self) -> Option<ColumnMatches<'a>> {
        match self.search()? {
            ("match", texts, regex, _) => ColumnMatches::new(MatchMode::First, texts, regex),
            ("matchAll", texts, regex, _) => ColumnMatches::new(MatchMode::All, texts, regex),
            _ => None,
        }
    }

    /// Returns the parts of a search in contiguous strings: function name, strings, pattern, and the cost of reading a
    /// string.
    fn search(&self) -> Option<(&'static str, &'a Strings, &'a Regex, u64)> {
        match (self.body, &*self.sources) {
            (PreparedBody::Search(_, regex), [(_, Source::Field(field))]) => {
                Some((self.call.function.standard_name()?, field.texts?, regex, field.steps))
            }
            _ => None,
        }
    }
}

impl<'a> Field<'a> {
    #[inline]
    pub fn value(&self, document: &'a Arena, row: u32) -> Value<'a> {
        match self.texts {
            Some(texts) => Value::String(texts.get(row)),
            None => Value::stored(document, self.column.cell(row)),
        }
    }
}
