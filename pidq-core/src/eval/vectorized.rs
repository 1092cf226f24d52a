//! Vectorized evaluation: evaluates a plan for all items of a stored list at once, from columns.
//!
//! As in `vectorized_filter`, the fuel equals the cost of evaluation item by item, and if anything fails the caller
//! evaluates item by item instead.

use std::cmp::Ordering;

use super::EvalContext;
use super::build::Entries;
use super::call_stats::Strategy;
use super::column_view::ColumnView;
use super::plan::dependencies::is_deterministic;
use super::plan::fusion::PROBE_SIZE;
use super::plan::{Path, Plan};
use crate::arena::{Arena, Cell};
use crate::error::Result;
use crate::graph::column::Column;
use crate::value::{Array, CellList, Items, KeyIndex, KeyLookup, Keys, Origin, Record, Table, Value, compare, write};

/// Groups by the values of a coded column.
pub(crate) struct CodedGroups<'a> {
    /// By row: the code of its value.
    pub codes: &'a [u8],
    /// By code: its group, and the number of rows that have it.
    pub groups: Box<[u32; 256]>,
    pub counts: Box<[u32; 256]>,
}

impl<'a> EvalContext<'a> {
    /// Returns the items for which a condition holds, or `None` if they must be evaluated one by one.
    pub(crate) fn filter_vectorized(&mut self, view: ColumnView<'a>, condition: &'a Plan) -> Result<Option<Value<'a>>> {
        let Some(matching) = self.matching_rows(view, condition)? else { return Ok(None) };
        let count = matching.count();
        match view.rows {
            None => {
                let rows = self.scratch.alloc_slice_filled(count, 0).ok_or_else(|| self.out_of_memory())?;
                matching.write_rows(rows);
                self.select_scratch_rows(self.document, view.list, rows)
            }
            Some(rows) => self.list_of_rows(view, count, rows.iter().copied().filter(|row| matching.contains(*row))),
        }
        .map(Some)
    }

    /// Returns the list of the first `count` rows of an iterator that has at least as many.
    fn list_of_rows(
        &self,
        view: ColumnView<'a>,
        count: usize,
        mut rows: impl Iterator<Item = u32>,
    ) -> Result<Value<'a>> {
        self.select_rows_by(self.document, view.list, count, |_| rows.next().unwrap_or_default())
    }

    /// Returns `Some` if the condition equals `decisive` for no item. Returns `None` if it does for one: items after
    /// that one must not be evaluated.
    pub(crate) fn no_item_decides(
        &mut self,
        view: ColumnView<'a>,
        condition: &'a Plan,
        decisive: bool,
    ) -> Result<Option<()>> {
        if !is_deterministic(condition)
            || self.try_vectorized(|cx| cx.probe_decides(view, condition, decisive)).is_some()
        {
            return Ok(None);
        }
        let Some(rows) = self.matching_rows(view, condition)? else { return Ok(None) };
        let expected = if decisive { 0 } else { view.len() };
        Ok((rows.count() == expected).then_some(()))
    }

    /// Evaluates the first few items one by one.
    fn probe_decides(&mut self, view: ColumnView<'a>, condition: &'a Plan, decisive: bool) -> Result<Option<()>> {
        for at in 0..view.len().min(PROBE_SIZE) {
            let item = Value::stored(self.document, view.cells[view.row(at) as usize]);
            if self.eval(condition, item)?.is_truthy() == decisive {
                return Ok(Some(()));
            }
        }
        Ok(None)
    }

    /// Evaluates a plan for each item.
    pub(crate) fn map_vectorized(&mut self, view: ColumnView<'a>, plan: &'a Plan) -> Result<Option<Value<'a>>> {
        if !is_deterministic(plan) {
            return Ok(None);
        }
        self.charge(view.len() as u64)?;
        if let Plan::Object(fields) = plan {
            let Some(paths) = fields.values.iter().map(plain_path).collect::<Option<Vec<_>>>() else { return Ok(None) };
            let keys = self.shared_keys(fields.record, fields.names.iter().map(|name| &**name))?;
            return self.table(view, keys, &paths, 1 + paths.len() as u64);
        }
        if let Some(path) = plain_path(plan) {
            return self.map_field(view, path);
        }
        if let Some(column) = self.coded_column(plan, view.list) {
            return self.map_coded(view, plan, column).map(Some);
        }
        match self.map_numbers(view, plan)? {
            Some(mapped) => Ok(Some(mapped)),
            None => self.map_from_fields(view, plan),
        }
    }

    /// Returns one field of each item.
    fn map_field(&mut self, view: ColumnView<'a>, path: &'a Path) -> Result<Option<Value<'a>>> {
        let Some(column) = self.column(path, view.list) else { return Ok(None) };
        self.charge(view.len() as u64 * (1 + path.keys.len() as u64))?;
        let cells = (0..view.len()).map(|at| column.cell(view.row(at)));
        self.list_of_cells(view.len(), cells).map(Some)
    }

    fn list_of_cells(&mut self, count: usize, mut cells: impl Iterator<Item = Cell>) -> Result<Value<'a>> {
        let cells = self.scratch.alloc_slice_from_fn(count, |_| cells.next().unwrap_or(Cell::NULL));
        self.cell_list(cells.ok_or_else(|| self.out_of_memory())?)
    }

    /// Returns a list of cells of the document that are in the scratch memory already.
    pub(crate) fn cell_list(&mut self, cells: &'a [Cell]) -> Result<Value<'a>> {
        let list = CellList { arena: self.document, cells };
        let list = self.scratch.alloc(list).ok_or_else(|| self.out_of_memory())?;
        Ok(Value::Array(Array(Items::Cells(list))))
    }

    /// Evaluates a plan once per distinct value of a column.
    fn map_coded(&mut self, view: ColumnView<'a>, plan: &'a Plan, column: &'a Column) -> Result<Value<'a>> {
        let Some((codes, values)) = column.codes() else { return Ok(Value::Undefined) };
        self.set_plan_strategy(plan, Strategy::DistinctValues);
        let counted = view.value_counts(codes, values);
        let mut results = vec![Value::Undefined; values.len()];
        for code in counted.order {
            let item = view.cells[values[code as usize].first_row as usize];
            results[code as usize] = self.eval_repeated(plan, item, counted.counts[code as usize])?;
        }
        let result = |at: usize| results[codes[view.row(at) as usize] as usize];
        let items = self.scratch.alloc_slice_from_fn(view.len(), result).ok_or_else(|| self.out_of_memory())?;
        self.list_from_slice(items)
    }

    /// Evaluates arithmetic, or a comparison of numbers.
    fn map_numbers(&mut self, view: ColumnView<'a>, plan: &'a Plan) -> Result<Option<Value<'a>>> {
        let Plan::Call(call) = plan else { return Ok(None) };
        let count = view.len();
        if let Some((numeric, cost)) = self.numeric(plan, view.list) {
            self.charge_calls(call, count as u64, cost)?;
            self.set_plan_strategy(plan, Strategy::Numbers);
            let cells = self.cell_buffer(count)?;
            numeric.write_cells(&view, cells);
            return self.cell_list(cells).map(Some);
        }
        if let Some((comparison, left, right, cost)) = self.numeric_comparison(plan, view.list) {
            self.charge_calls(call, count as u64, cost)?;
            self.set_plan_strategy(plan, Strategy::Numbers);
            let truths = comparison.all(&left.all(&view), &right.all(&view));
            let cells = truths.into_iter().map(|truth| if truth { Cell::TRUE } else { Cell::FALSE });
            return self.list_of_cells(count, cells).map(Some);
        }
        Ok(None)
    }

    /// Returns objects of some fields of each item. `steps` is the cost of an object without the keys of its paths.
    pub(crate) fn table(
        &mut self,
        view: ColumnView<'a>,
        keys: &'a Keys<'a>,
        paths: &[&'a Path],
        steps: u64,
    ) -> Result<Option<Value<'a>>> {
        let columns = paths.iter().map(|path| path.is_plain.then(|| self.column(path, view.list))?);
        let Some(columns) = columns.collect::<Option<Vec<_>>>() else { return Ok(None) };
        let cost = steps + paths.iter().map(|path| path.keys.len() as u64).sum::<u64>();
        self.charge(view.len() as u64 * cost)?;
        let rows = (0..view.len()).map(|at| view.row(at));
        let mut cells = rows.flat_map(|row| columns.iter().map(move |column| column.cell(row)));
        let count = view.len() * columns.len();
        let cells = self.scratch.alloc_slice_from_fn(count, |_| cells.next().unwrap_or(Cell::NULL));
        let cells = cells.ok_or_else(|| self.out_of_memory())?;
        let origin = Some(self.origin(view, paths).ok_or_else(|| self.out_of_memory())?);
        let table = Table { arena: self.document, keys, cells, len: view.len() as u32, origin };
        let table = self.scratch.alloc(table).ok_or_else(|| self.out_of_memory())?;
        Ok(Some(Value::Array(Array(Items::Table(table)))))
    }

    fn origin(&self, view: ColumnView<'a>, paths: &[&'a Path]) -> Option<&'a Origin<'a>> {
        let names = |path: &'a Path| {
            let mut names = path.names();
            self.scratch.alloc_slice_from_fn(path.keys.len(), |_| names.next().unwrap_or_default())
        };
        let paths = paths.iter().map(|path| names(path)).collect::<Option<Vec<_>>>()?;
        self.scratch.alloc(Origin { list: view.list, rows: view.rows, paths: self.scratch.alloc_slice(&paths)? })
    }

    /// Sorts the items by a field, from the order of its column. The sort is stable.
    pub(crate) fn sort_vectorized(
        &mut self,
        view: ColumnView<'a>,
        path: &'a Path,
        descends: bool,
    ) -> Result<Option<Value<'a>>> {
        let column = path.is_plain.then(|| self.column(path, view.list)).flatten();
        let (Some(column), true) = (column, view.is_ascending()) else { return Ok(None) };
        let Some(row_set) = view.row_set() else { return Ok(None) };
        self.charge(view.len() as u64 * (2 + path.keys.len() as u64))?;
        let max_len = (0..view.len()).map(|at| self.document.text_len(column.cell(view.row(at)))).max();
        self.charge_sort(view.len(), max_len.unwrap_or(0))?;
        let order = column.order(self.document);
        let is_selected = |row: &u32| row_set.contains(*row);
        match descends {
            false => self.list_of_rows(view, view.len(), order.rows.iter().copied().filter(is_selected)),
            true => self.list_of_rows(view, view.len(), order.descending().filter(is_selected)),
        }
        .map(Some)
    }

    /// Returns the group of each value of the one field that a key depends on. New groups are added to `groups`.
    pub(crate) fn group_by_code<T: Default>(
        &mut self,
        view: ColumnView<'a>,
        key: &'a Plan,
        groups: &mut Entries<'a, T>,
    ) -> Result<Option<CodedGroups<'a>>> {
        self.charge(view.len() as u64)?;
        let Some(column) = self.coded_column(key, view.list) else { return Ok(None) };
        let Some((codes, values)) = column.codes() else { return Ok(None) };
        self.set_plan_strategy(key, Strategy::DistinctValues);
        let counted = view.value_counts(codes, values);
        let mut coded = CodedGroups { codes, groups: Box::new([0; 256]), counts: counted.counts };
        let mut rounded = None;
        for code in counted.order.into_iter().map(usize::from) {
            let before = self.fuel_used;
            let item = Value::stored(self.document, view.cells[values[code].first_row as usize]);
            let name = self.eval(key, item)?;
            if let Value::Number(number) = name
                && compare::is_rounded(number)
            {
                rounded = Some(name);
            }
            let name = self.convert_to_text(name)?;
            coded.groups[code] = groups.entry_index(self, name, T::default)? as u32;
            self.charge((self.fuel_used - before) * u64::from(coded.counts[code] - 1))?;
        }
        self.warn_rounded_key(rounded)?;
        Ok(Some(coded))
    }

    /// Returns the object of the items grouped by a key that depends on one field with few values.
    pub(crate) fn group_vectorized(&mut self, view: ColumnView<'a>, key: &'a Plan) -> Result<Option<Value<'a>>> {
        let mut groups: Entries<'a, u32> = Entries::new();
        let Some(coded) = self.group_by_code(view, key, &mut groups)? else { return Ok(None) };
        let rows = self.row_buffer(view.len())?;
        let ends = coded.sort_rows(view, rows);
        let (mut rest, mut start) = (&*rows, 0);
        let mut lists = Vec::with_capacity(groups.values.len());
        for (number, end) in groups.values.iter_mut().zip(&*ends) {
            let (list, others) = rest.split_at((end - start) as usize);
            *number = lists.len() as u32;
            lists.push(self.select_scratch_rows(self.document, view.list, list)?);
            (rest, start) = (others, *end);
        }
        groups.into_object_by(self, |number| lists[*number as usize]).map(Some)
    }

    /// Counts the items per value of a key that depends on one field with few values.
    pub(crate) fn count_vectorized(&mut self, view: ColumnView<'a>, key: &'a Plan) -> Result<Option<Entries<'a, u32>>> {
        let mut counts: Entries<'a, u32> = Entries::new();
        let Some(coded) = self.group_by_code(view, key, &mut counts)? else { return Ok(None) };
        for (group, count) in coded.groups.iter().zip(coded.counts.iter()) {
            if let Some(total) = counts.values.get_mut(*group as usize) {
                *total += count;
            }
        }
        Ok(Some(counts))
    }

    /// Returns the sum of an arithmetic expression over the items, or of a field that holds a number in each.
    pub(crate) fn sum_vectorized(&mut self, view: ColumnView<'a>, plan: &'a Plan) -> Result<Option<f64>> {
        let Some((numeric, cost)) = self.numeric(plan, view.list) else { return Ok(None) };
        let count = view.len() as u64;
        match plan {
            Plan::Call(call) => self.charge_calls(call, count, cost)?,
            _ => self.charge(count * cost)?,
        }
        self.set_plan_strategy(plan, Strategy::Numbers);
        self.charge(count)?;
        Ok(Some(numeric.all(&view).into_iter().fold(0.0, |sum, number| sum + number)))
    }

    /// Returns the position of the first item whose field holds the smallest or the largest number; the number of items
    /// if none has a number.
    pub(crate) fn extreme_vectorized(
        &mut self,
        view: ColumnView<'a>,
        key: &'a Plan,
        ordering: Ordering,
    ) -> Result<Option<usize>> {
        let Some(path) = plain_path(key) else { return Ok(None) };
        let Some(column) = self.column(path, view.list) else { return Ok(None) };
        let numbers = column.numbers(self.document);
        if !numbers.is_numeric_or_null {
            return Ok(None);
        }
        self.charge(view.len() as u64 * (2 + path.keys.len() as u64))?;
        let mut best = (f64::NAN, view.len());
        for at in 0..view.len() {
            let number = numbers.values[view.row(at) as usize];
            let is_better = best.0.is_nan() || number.partial_cmp(&best.0) == Some(ordering);
            if is_better && !number.is_nan() {
                best = (number, at);
            }
        }
        Ok(Some(best.1))
    }

    /// Returns the object of all items keyed by a field whose strings are all distinct; the column serves as its index.
    pub(crate) fn key_by_vectorized(&mut self, view: ColumnView<'a>, key: &'a Plan) -> Result<Option<Value<'a>>> {
        let (Some(path), None) = (plain_path(key), view.rows) else { return Ok(None) };
        let Some(column) = self.column(path, view.list) else { return Ok(None) };
        let Some(texts) = column.distinct_strings(self.document) else { return Ok(None) };
        let (len, steps) = (view.len(), 2 + path.keys.len() as u64);
        self.charge(len as u64 * steps)?;
        let names =
            self.scratch.alloc_slice_from_fn(len, |at| texts.get(at as u32)).ok_or_else(|| self.out_of_memory())?;
        if write::needs_reordering(names) {
            return Ok(None);
        }
        self.charge(names.iter().map(|name| name.len() as u64 / 64).sum())?;
        let column_keys: Option<&'a ColumnKeys<'a>> = self.scratch.alloc(ColumnKeys { column, arena: self.document });
        let index = Some(KeyIndex::External(column_keys.ok_or_else(|| self.out_of_memory())?));
        let keys = self.scratch.alloc(Keys { names, index }).ok_or_else(|| self.out_of_memory())?;
        let value = |at: usize| Value::stored(self.document, view.cells[at]);
        let values = self.scratch.alloc_slice_from_fn(len, value).ok_or_else(|| self.out_of_memory())?;
        let record = self.scratch.alloc(Record { keys, values }).ok_or_else(|| self.out_of_memory())?;
        Ok(Some(record.row(0)))
    }

    /// Charges the fuel of a sort in advance: the maximum number of comparisons of a binary merge sort.
    pub(crate) fn charge_sort(&mut self, count: usize, max_len: usize) -> Result<()> {
        let comparisons = count as u64 * u64::from(usize::BITS - count.leading_zeros());
        self.charge(comparisons * (1 + max_len as u64 / 64) / 4)
    }
}

impl CodedGroups<'_> {
    /// Writes the rows, group after group, and returns where each group ends: a counting sort, in one pass and without
    /// a list per group.
    fn sort_rows(&self, view: ColumnView<'_>, sorted: &mut [u32]) -> Box<[u32; 256]> {
        let mut sizes = [0; 256];
        for (group, count) in self.groups.iter().zip(self.counts.iter()) {
            sizes[*group as usize] += count;
        }
        let mut ends = Box::new([0; 256]);
        let mut total = 0;
        for (end, size) in ends.iter_mut().zip(sizes) {
            *end = total;
            total += size;
        }
        let mut add = |row: u32, code: u8| {
            let end = &mut ends[self.groups[code as usize] as usize];
            sorted[*end as usize] = row;
            *end += 1;
        };
        match view.rows {
            None => (0..).zip(self.codes).for_each(|(row, code)| add(row, *code)),
            Some(rows) => rows.iter().for_each(|row| add(*row, self.codes[*row as usize])),
        }
        ends
    }
}

/// A column of distinct strings as the index of an object's keys.
#[derive(Clone, Copy)]
struct ColumnKeys<'a> {
    column: &'a Column,
    arena: &'a Arena,
}

impl KeyLookup for ColumnKeys<'_> {
    fn position(&self, text: &str) -> Option<usize> {
        self.column.rows_with_string(self.arena, text).next().map(|row| row as usize)
    }
}

fn plain_path(plan: &Plan) -> Option<&Path> {
    match plan {
        Plan::Get(path) if path.is_plain => Some(path),
        _ => None,
    }
}
