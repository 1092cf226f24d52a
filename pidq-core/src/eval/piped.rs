//! Parts of a query that begin with fields, for all items of a stored list: what comes after runs item by item, on cells
//! of the columns.
//!
//! As in `batch`: the fuel is what it costs item by item, and where anything fails the caller goes from item to item.

use super::Cx;
use super::cost::Way;
use super::function::{Body, CountBody, PipedBody, SearchBody, StrictBody};
use super::fuse::is_size;
use super::matches::{Matches, Wanted};
use super::plan::{Call, Path, Plan, Stage};
use super::renamed::Shapes;
use super::view::View;
use crate::arena::{Arena, ContainerId};
use crate::error::Result;
use crate::graph::column::{Column, Texts};
use crate::regex::Regex;
use crate::value::{Array, CellList, Fields, Items, Object, Record, Value};

/// A call whose arguments are read from columns, or given.
pub(super) struct Prepared<'a> {
    call: &'a Call,
    body: Ready<'a>,
    /// The arguments, and how many there are. Those that are the same for all rows are in place.
    args: [Value<'a>; MOST],
    count: usize,
    /// Where the others belong, and where they come from.
    sources: Vec<(usize, Source<'a>)>,
    /// What the arguments cost a run.
    steps: u64,
    /// What the body has cost so far, and the items that it gave.
    fuel: u64,
    rows: u64,
}

/// A function that is ready to run.
#[derive(Clone, Copy)]
enum Ready<'a> {
    Strict(StrictBody),
    Search(SearchBody, &'a Regex),
}

/// Where an argument of a row comes from.
enum Source<'a> {
    Field(Field<'a>),
    Input,
    Call(Prepared<'a>),
}

/// A field, its texts side by side where it has many short ones, and the steps to it.
#[derive(Clone, Copy)]
pub(super) struct Field<'a> {
    column: &'a Column,
    texts: Option<&'a Texts>,
    steps: u64,
}

/// Arguments of a prepared call.
const MOST: usize = 4;
/// Items for which one call runs before the next one does: what it gives stays near.
const BLOCK: usize = 256;
/// Calls in calls; the rest is evaluated as it is written.
const DEEPEST: usize = 8;

impl<'a> Cx<'a> {
    /// A part of a query for each item, where it begins with fields.
    pub(super) fn map_from_fields(&mut self, view: View<'a>, plan: &'a Plan) -> Result<Option<Value<'a>>> {
        match plan {
            Plan::Pipe(stages) => self.map_piped(view, stages),
            Plan::Array(items) => self.map_lists(view, items),
            Plan::Call(call) if call.function.standard_name() == Some("if") => self.map_choice(view, call),
            Plan::Call(_) => match self.prepared(plan, Some(view.list)) {
                Some(prepared) => self.map_prepared(view, prepared).map(Some),
                None => Ok(None),
            },
            _ => Ok(None),
        }
    }

    /// `expand(2) | size()`: what it costs is noted once, as in [`Cx::leave`].
    fn map_counted(
        &mut self,
        view: View<'a>,
        call: &'a Call,
        body: CountBody,
        size: &'a Plan,
    ) -> Result<Option<Value<'a>>> {
        let runs = view.len() as u64;
        self.spend(3 * runs)?;
        let entry = self.enter();
        let Some((counts, rows)) = body(self, view, &call.args)? else { return Ok(None) };
        self.leave(call, entry, &Ok(Value::Null));
        let cost = &mut self.costs[call.id];
        cost.runs += runs - 1;
        cost.rows += rows;
        cost.way = Way::Count;
        if let Plan::Call(size) = size {
            self.attribute(size, runs, 0);
        }
        Ok(Some(counts))
    }

    /// `.a | f() | g()`.
    fn map_piped(&mut self, view: View<'a>, stages: &'a [Stage]) -> Result<Option<Value<'a>>> {
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
        let (mut values, mut runs) = (self.prepared_values(call), 0);
        let result = self.list_of(view.len(), |cx, at| {
            let input = field.value(cx.document, view.row(at));
            let value = match (input, &mut shapes, &mut values) {
                (Value::Object(Object(Fields::Stored(_, id))), Some(shapes), _) => {
                    cx.renamed(shapes, id, call, body)?
                }
                (Value::Object(Object(Fields::Stored(_, id))), _, Some(values)) => {
                    cx.mapped_values(values, id, &mut runs)?
                }
                _ => body(cx, input, &call.args)?,
            };
            if let Value::Array(array) = value {
                rows += array.len() as u64;
            }
            Ok(value)
        });
        if let Some(values) = &values {
            self.note_prepared(values, runs);
        }
        self.leave(call, entry, &Ok(Value::Null));
        let cost = &mut self.costs[call.id];
        cost.runs += view.len() as u64 - 1;
        cost.rows += rows;
        result
    }

    /// The call that `mapValues` makes of each value.
    fn prepared_values(&mut self, call: &'a Call) -> Option<Prepared<'a>> {
        match (call.function.standard_name(), &*call.args) {
            (Some("mapValues"), [value]) => self.prepared(value, None),
            _ => None,
        }
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

    /// A call whose arguments are fields of a list and constants, or such calls again. Without a list, the current
    /// value stands for the fields.
    pub(super) fn prepared(&mut self, plan: &'a Plan, list: Option<ContainerId>) -> Option<Prepared<'a>> {
        if let Plan::Call(call) = plan { self.prepared_call(call, list, 0) } else { None }
    }

    fn prepared_call(&mut self, call: &'a Call, list: Option<ContainerId>, depth: usize) -> Option<Prepared<'a>> {
        let (body, args) = match (&call.function.row().body, &*call.args) {
            (Body::Strict(body), args) if args.len() <= MOST => (Ready::Strict(*body), args),
            (Body::Search(body), [text, Plan::Pattern(pattern), ..]) => {
                (Ready::Search(*body, pattern), std::slice::from_ref(text))
            }
            _ => return None,
        };
        let (in_place, count, sources) = ([Value::Undefined; MOST], args.len(), Vec::new());
        let mut made = Prepared { call, body, args: in_place, count, sources, steps: 0, fuel: 0, rows: 0 };
        for (at, arg) in args.iter().enumerate() {
            made.steps += self.prepare_argument(&mut made, at, arg, list, depth)?;
        }
        Some(made)
    }

    /// Prepares an argument, and says what it costs a run; that does not include calls.
    fn prepare_argument(
        &mut self,
        made: &mut Prepared<'a>,
        at: usize,
        plan: &'a Plan,
        list: Option<ContainerId>,
        depth: usize,
    ) -> Option<u64> {
        match (plan, list) {
            (Plan::Constant(constant), _) => made.args[at] = constant.value(),
            (Plan::Get(path), None) if path.keys.is_empty() => made.sources.push((at, Source::Input)),
            (Plan::Get(path), Some(list)) => {
                let field = self.column_field(path, list)?;
                made.sources.push((at, Source::Field(field)));
                return Some(field.steps);
            }
            (Plan::Call(call), _) if depth < DEEPEST => {
                made.sources.push((at, Source::Call(self.prepared_call(call, list, depth + 1)?)));
            }
            _ => return None,
        }
        Some(1)
    }

    /// Pays for so many runs of a call, but for what the bodies will cost.
    pub(super) fn pay_prepared(&mut self, prepared: &Prepared<'a>, runs: u64) -> Result<()> {
        self.spend(runs.saturating_mul(1 + prepared.all_steps()))
    }

    /// Notes what so many runs have cost, as [`Cx::leave`] does for each.
    pub(super) fn note_prepared(&mut self, prepared: &Prepared<'a>, runs: u64) {
        self.attribute(prepared.call, runs, runs * prepared.steps + prepared.fuel);
        self.costs[prepared.call.id].rows += prepared.rows;
        prepared.calls().for_each(|call| self.note_prepared(call, runs));
    }

    /// Hot: runs once an item and call. The arguments are paid for.
    pub(super) fn run_prepared(
        &mut self,
        prepared: &mut Prepared<'a>,
        row: u32,
        input: Value<'a>,
    ) -> Result<Value<'a>> {
        match &mut *prepared.sources {
            // Nearly always: the loop would take longer than the argument.
            [(at, only)] => prepared.args[*at] = self.argument(only, row, input)?,
            sources => {
                for (at, source) in sources {
                    prepared.args[*at] = self.argument(source, row, input)?;
                }
            }
        }
        let before = self.used;
        let value = match prepared.body {
            Ready::Strict(body) => body(self, &prepared.args[..prepared.count])?,
            Ready::Search(body, regex) => body(self, prepared.args[0], regex)?,
        };
        prepared.fuel += self.used - before;
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

    /// A prepared call for each item.
    fn map_prepared(&mut self, view: View<'a>, mut prepared: Prepared<'a>) -> Result<Value<'a>> {
        let runs = view.len() as u64;
        self.pay_prepared(&prepared, runs)?;
        let made = match prepared.as_matches() {
            Some(matches) => {
                let before = self.used;
                let (made, listed) = self.map_matches(view, &matches)?;
                (prepared.fuel, prepared.rows) = (self.used - before, listed);
                made
            }
            None => {
                let values = self.scratch.slots(view.len(), Value::Undefined).ok_or_else(|| self.out_of_memory())?;
                for (at, block) in values.chunks_mut(BLOCK).enumerate() {
                    self.run_block(&mut prepared, view, at * BLOCK, block)?;
                }
                self.array_of(values)?
            }
        };
        self.note_prepared(&prepared, runs);
        Ok(made)
    }

    /// Hot: a prepared call for the items from `first` on. A call in the call runs for all of them before, in the place
    /// of what it gives.
    fn run_block(
        &mut self,
        prepared: &mut Prepared<'a>,
        view: View<'a>,
        first: usize,
        values: &mut [Value<'a>],
    ) -> Result<()> {
        let (Ready::Strict(body), [(place, source)]) = (prepared.body, &mut *prepared.sources) else {
            for (at, value) in (first..).zip(values) {
                *value = self.run_prepared(prepared, view.row(at), Value::Undefined)?;
            }
            return Ok(());
        };
        match source {
            Source::Call(call) => self.run_block(call, view, first, values)?,
            Source::Field(field) => {
                (first..).zip(&mut *values).for_each(|(at, value)| *value = field.value(self.document, view.row(at)));
            }
            Source::Input => {}
        }
        let before = self.used;
        for value in values {
            prepared.args[*place] = *value;
            *value = body(self, &prepared.args[..prepared.count])?;
            if let Value::Array(array) = value {
                prepared.rows += array.len() as u64;
            }
        }
        prepared.fuel += self.used - before;
        Ok(())
    }

    /// What `mapValues` makes of an object of the document.
    fn mapped_values(&mut self, prepared: &mut Prepared<'a>, id: ContainerId, runs: &mut u64) -> Result<Value<'a>> {
        let document = self.document;
        let keys = self.shape(document, id)?.keys;
        let fields = document.fields(id);
        let count = fields.len() as u64;
        *runs += count;
        self.spend(count)?;
        self.pay_prepared(prepared, count)?;
        let values = self.scratch.slots(fields.len(), Value::Undefined).ok_or_else(|| self.out_of_memory())?;
        let inputs = fields.iter().map(|cell| Value::stored(document, *cell));
        match prepared.on_input() {
            Some(body) => self.run_on_inputs(prepared, body, inputs, values)?,
            None => {
                for (value, input) in values.iter_mut().zip(inputs) {
                    *value = self.run_prepared(prepared, 0, input)?;
                }
            }
        }
        let record = self.scratch.one(Record { keys, values }).ok_or_else(|| self.out_of_memory())?;
        Ok(record.row(0))
    }

    /// Runs a call that is given nothing but the current value.
    #[inline]
    fn run_on_inputs(
        &mut self,
        prepared: &mut Prepared<'a>,
        body: StrictBody,
        inputs: impl Iterator<Item = Value<'a>>,
        values: &mut [Value<'a>],
    ) -> Result<()> {
        let before = self.used;
        for (value, input) in values.iter_mut().zip(inputs) {
            *value = body(self, &[input])?;
            if let Value::Array(array) = value {
                prepared.rows += array.len() as u64;
            }
        }
        prepared.fuel += self.used - before;
        Ok(())
    }

    fn column_field(&mut self, path: &'a Path, list: ContainerId) -> Option<Field<'a>> {
        let column = self.plain_column(path, list)?;
        Some(Field { column, texts: column.texts(self.document), steps: 1 + path.keys.len() as u64 })
    }

    fn plain_column(&mut self, path: &'a Path, list: ContainerId) -> Option<&'a Column> {
        if path.is_plain { self.column(path, list) } else { None }
    }
}

impl<'a> Prepared<'a> {
    /// The calls among the arguments.
    fn calls(&self) -> impl Iterator<Item = &Prepared<'a>> {
        self.sources.iter().filter_map(|(_, source)| match source {
            Source::Call(call) => Some(call),
            _ => None,
        })
    }

    /// What the arguments cost a run, and those of the calls among them.
    fn all_steps(&self) -> u64 {
        self.steps + self.calls().map(Prepared::all_steps).sum::<u64>()
    }

    /// The function, where it is given the current value alone.
    fn on_input(&self) -> Option<StrictBody> {
        match (self.body, self.count, &*self.sources) {
            (Ready::Strict(body), 1, [(_, Source::Input)]) => Some(body),
            _ => None,
        }
    }

    /// The call that asks whether texts side by side match a pattern, and what a row costs but for the search.
    pub fn as_search(&self) -> Option<(&'a Call, &'a Texts, &'a Regex, u64)> {
        let ("regex", texts, regex, steps) = self.search()? else { return None };
        Some((self.call, texts, regex, 1 + steps))
    }

    /// `match` or `matchAll` of texts side by side.
    fn as_matches(&self) -> Option<Matches<'a>> {
        match self.search()? {
            ("match", texts, regex, _) => Matches::new(Wanted::First, texts, regex),
            ("matchAll", texts, regex, _) => Matches::new(Wanted::All, texts, regex),
            _ => None,
        }
    }

    /// What is searched for in texts side by side: the name of the function, the texts, the pattern, and the steps to a
    /// text.
    fn search(&self) -> Option<(&'static str, &'a Texts, &'a Regex, u64)> {
        match (self.body, &*self.sources) {
            (Ready::Search(_, regex), [(_, Source::Field(field))]) => {
                Some((self.call.function.standard_name()?, field.texts?, regex, field.steps))
            }
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
