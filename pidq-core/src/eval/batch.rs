//! What a part of a query gives for all items of a stored list at once, from columns.
//!
//! As in `condition`: the fuel is what it costs item by item, and where anything fails the caller goes from item to
//! item.

use std::cmp::Ordering;

use super::Cx;
use super::build::Entries;
use super::cost::Way;
use super::fuse::PROBE;
use super::plan::{Path, Plan};
use super::reads::is_pure;
use super::view::View;
use crate::arena::{Arena, Cell};
use crate::error::Result;
use crate::graph::column::Column;
use crate::value::{Array, CellList, Items, KeyIndex, Keys, Origin, Places, Record, Table, Value, write};

/// Groups by the values of a coded column.
pub(crate) struct Coded<'a> {
    /// By row: the number of its value.
    pub codes: &'a [u8],
    /// By value: its group, and how many rows have it.
    pub groups: Box<[u32; 256]>,
    pub counts: Box<[u32; 256]>,
}

impl<'a> Cx<'a> {
    /// The list of the items for which a condition holds; nothing where the items have to be taken one by one.
    pub(crate) fn filter_together(&mut self, view: View<'a>, condition: &'a Plan) -> Result<Option<Value<'a>>> {
        let Some(kept) = self.matching_rows(view, condition)? else { return Ok(None) };
        let count = kept.count();
        match view.rows {
            None => {
                let rows = self.scratch.slots(count, 0).ok_or_else(|| self.out_of_memory())?;
                kept.write(rows);
                self.rows_of(self.document, view.list, rows)
            }
            Some(rows) => self.rows_from(view, count, rows.iter().copied().filter(|row| kept.contains(*row))),
        }
        .map(Some)
    }

    /// The first `count` of some rows; there are as many.
    fn rows_from(&self, view: View<'a>, count: usize, mut rows: impl Iterator<Item = u32>) -> Result<Value<'a>> {
        self.rows_by(self.document, view.list, count, |_| rows.next().unwrap_or_default())
    }

    /// Says so where no item's condition is `decisive`. Nothing where one is: the items behind it are not to be asked.
    pub(crate) fn none_decides(&mut self, view: View<'a>, condition: &'a Plan, decisive: bool) -> Result<Option<()>> {
        if !is_pure(condition) || self.together(|cx| cx.soon_decided(view, condition, decisive)).is_some() {
            return Ok(None);
        }
        let Some(rows) = self.matching_rows(view, condition)? else { return Ok(None) };
        let wanted = if decisive { 0 } else { view.len() };
        Ok((rows.count() == wanted).then_some(()))
    }

    /// Asks the first few items one by one.
    fn soon_decided(&mut self, view: View<'a>, condition: &'a Plan, decisive: bool) -> Result<Option<()>> {
        for at in 0..view.len().min(PROBE) {
            let item = Value::stored(self.document, view.cells[view.row(at) as usize]);
            if self.eval(condition, item)?.is_truthy() == decisive {
                return Ok(Some(()));
            }
        }
        Ok(None)
    }

    /// The value of a part of a query for each item.
    pub(crate) fn map_together(&mut self, view: View<'a>, plan: &'a Plan) -> Result<Option<Value<'a>>> {
        if !is_pure(plan) {
            return Ok(None);
        }
        self.spend(view.len() as u64)?;
        if let Plan::Object(fields) = plan {
            let Some(paths) = fields.values.iter().map(plain_path).collect::<Option<Vec<_>>>() else { return Ok(None) };
            let keys = self.shared_keys(fields.record, fields.names.iter().map(|name| &**name))?;
            return self.table(view, keys, &paths, 1 + paths.len() as u64);
        }
        if let Some(path) = plain_path(plan) {
            return self.field_of_all(view, path);
        }
        if let Some(column) = self.coded_column(plan, view.list) {
            return self.map_coded(view, plan, column).map(Some);
        }
        match self.map_numbers(view, plan)? {
            Some(mapped) => Ok(Some(mapped)),
            None => self.map_from_fields(view, plan),
        }
    }

    /// One field of each item.
    fn field_of_all(&mut self, view: View<'a>, path: &'a Path) -> Result<Option<Value<'a>>> {
        let Some(column) = self.column(path, view.list) else { return Ok(None) };
        self.spend(view.len() as u64 * (1 + path.keys.len() as u64))?;
        let cells = (0..view.len()).map(|at| column.cell(view.row(at)));
        self.cells_from(view.len(), cells).map(Some)
    }

    fn cells_from(&mut self, count: usize, mut cells: impl Iterator<Item = Cell>) -> Result<Value<'a>> {
        let cells = self.scratch.slice_by(count, |_| cells.next().unwrap_or(Cell::NULL));
        self.cell_list(cells.ok_or_else(|| self.out_of_memory())?)
    }

    /// The list of cells of the document that lie in the scratch already.
    pub(crate) fn cell_list(&mut self, cells: &'a [Cell]) -> Result<Value<'a>> {
        let list = CellList { arena: self.document, cells };
        let list = self.scratch.one(list).ok_or_else(|| self.out_of_memory())?;
        Ok(Value::Array(Array(Items::Cells(list))))
    }

    /// Works out each value of a column once.
    fn map_coded(&mut self, view: View<'a>, plan: &'a Plan, column: &'a Column) -> Result<Value<'a>> {
        let Some((codes, values)) = column.codes() else { return Ok(Value::Undefined) };
        self.note(plan, Way::Values);
        let counted = view.count(codes, values);
        let mut results = vec![Value::Undefined; values.len()];
        for code in counted.order {
            let item = view.cells[values[code as usize].first_row as usize];
            results[code as usize] = self.eval_for(plan, item, counted.counts[code as usize])?;
        }
        let result = |at: usize| results[codes[view.row(at) as usize] as usize];
        let items = self.scratch.slice_by(view.len(), result).ok_or_else(|| self.out_of_memory())?;
        self.array_of(items)
    }

    /// Arithmetic, or a comparison of numbers.
    fn map_numbers(&mut self, view: View<'a>, plan: &'a Plan) -> Result<Option<Value<'a>>> {
        let Plan::Call(call) = plan else { return Ok(None) };
        let count = view.len();
        if let Some((numeric, cost)) = self.numeric(plan, view.list) {
            self.charge(call, count as u64, cost)?;
            self.note(plan, Way::Numbers);
            return self.cells_from(count, numeric.cells(&view).into_iter()).map(Some);
        }
        if let Some((comparison, left, right, cost)) = self.numeric_comparison(plan, view.list) {
            self.charge(call, count as u64, cost)?;
            self.note(plan, Way::Numbers);
            let truths = comparison.all(&left.all(&view), &right.all(&view));
            let cells = truths.into_iter().map(|truth| if truth { Cell::TRUE } else { Cell::FALSE });
            return self.cells_from(count, cells).map(Some);
        }
        Ok(None)
    }

    /// Objects of some fields of each item. `steps` is what an object costs beside the keys of its paths.
    pub(crate) fn table(
        &mut self,
        view: View<'a>,
        keys: &'a Keys<'a>,
        paths: &[&'a Path],
        steps: u64,
    ) -> Result<Option<Value<'a>>> {
        let columns = paths.iter().map(|path| path.is_plain.then(|| self.column(path, view.list))?);
        let Some(columns) = columns.collect::<Option<Vec<_>>>() else { return Ok(None) };
        let cost = steps + paths.iter().map(|path| path.keys.len() as u64).sum::<u64>();
        self.spend(view.len() as u64 * cost)?;
        let rows = (0..view.len()).map(|at| view.row(at));
        let mut cells = rows.flat_map(|row| columns.iter().map(move |column| column.cell(row)));
        let count = view.len() * columns.len();
        let cells = self.scratch.slice_by(count, |_| cells.next().unwrap_or(Cell::NULL));
        let cells = cells.ok_or_else(|| self.out_of_memory())?;
        let origin = Some(self.origin(view, paths).ok_or_else(|| self.out_of_memory())?);
        let table = Table { arena: self.document, keys, cells, len: view.len() as u32, origin };
        let table = self.scratch.one(table).ok_or_else(|| self.out_of_memory())?;
        Ok(Some(Value::Array(Array(Items::Table(table)))))
    }

    fn origin(&self, view: View<'a>, paths: &[&'a Path]) -> Option<&'a Origin<'a>> {
        let names = |path: &'a Path| {
            let mut names = path.names();
            self.scratch.slice_by(path.keys.len(), |_| names.next().unwrap_or_default())
        };
        let paths = paths.iter().map(|path| names(path)).collect::<Option<Vec<_>>>()?;
        self.scratch.one(Origin { list: view.list, rows: view.rows, paths: self.scratch.slice(&paths)? })
    }

    /// The items sorted by a field, from the order of its column. Equal ones stay as they stand.
    pub(crate) fn sort_together(
        &mut self,
        view: View<'a>,
        path: &'a Path,
        descends: bool,
    ) -> Result<Option<Value<'a>>> {
        let column = path.is_plain.then(|| self.column(path, view.list)).flatten();
        let (Some(column), true) = (column, view.is_ascending()) else { return Ok(None) };
        let Some(bits) = view.bits() else { return Ok(None) };
        self.spend(view.len() as u64 * (2 + path.keys.len() as u64))?;
        let longest = (0..view.len()).map(|at| self.document.text_len(column.cell(view.row(at)))).max();
        self.pay_sort(view.len(), longest.unwrap_or(0))?;
        let order = column.order(self.document);
        let kept = |row: &u32| bits.contains(*row);
        match descends {
            false => self.rows_from(view, view.len(), order.rows.iter().copied().filter(kept)),
            true => self.rows_from(view, view.len(), order.descending().filter(kept)),
        }
        .map(Some)
    }

    /// The group of each value of the one field that a key depends on. New groups are made by `make`.
    pub(crate) fn keys_together<T: Default>(
        &mut self,
        view: View<'a>,
        key: &'a Plan,
        groups: &mut Entries<'a, T>,
    ) -> Result<Option<Coded<'a>>> {
        self.spend(view.len() as u64)?;
        let Some(column) = self.coded_column(key, view.list) else { return Ok(None) };
        let Some((codes, values)) = column.codes() else { return Ok(None) };
        self.note(key, Way::Values);
        let counted = view.count(codes, values);
        let mut coded = Coded { codes, groups: Box::new([0; 256]), counts: counted.counts };
        for code in counted.order.into_iter().map(usize::from) {
            let before = self.used;
            let item = Value::stored(self.document, view.cells[values[code].first_row as usize]);
            let name = self.eval(key, item)?;
            let name = self.text_of(name)?;
            coded.groups[code] = groups.place(self, name, T::default)? as u32;
            self.spend((self.used - before) * u64::from(coded.counts[code] - 1))?;
        }
        Ok(Some(coded))
    }

    /// How many items are under each value of a key that depends on one field with few values.
    pub(crate) fn counts_together(&mut self, view: View<'a>, key: &'a Plan) -> Result<Option<Entries<'a, u32>>> {
        let mut counts: Entries<'a, u32> = Entries::new();
        let Some(coded) = self.keys_together(view, key, &mut counts)? else { return Ok(None) };
        for (group, count) in coded.groups.iter().zip(coded.counts.iter()) {
            if let Some(total) = counts.values.get_mut(*group as usize) {
                *total += count;
            }
        }
        Ok(Some(counts))
    }

    /// The sum of what arithmetic gives for the items, or of a field that holds a number in each.
    pub(crate) fn sum_together(&mut self, view: View<'a>, plan: &'a Plan) -> Result<Option<f64>> {
        let Some((numeric, cost)) = self.numeric(plan, view.list) else { return Ok(None) };
        let count = view.len() as u64;
        match plan {
            Plan::Call(call) => self.charge(call, count, cost)?,
            _ => self.spend(count * cost)?,
        }
        self.note(plan, Way::Numbers);
        self.spend(count)?;
        Ok(Some(numeric.all(&view).into_iter().fold(0.0, |sum, number| sum + number)))
    }

    /// The place of the first item whose field holds the least or the greatest number; where none has one, the place
    /// behind the last.
    pub(crate) fn extreme_together(
        &mut self,
        view: View<'a>,
        key: &'a Plan,
        wanted: Ordering,
    ) -> Result<Option<usize>> {
        let Some(path) = plain_path(key) else { return Ok(None) };
        let Some(column) = self.column(path, view.list) else { return Ok(None) };
        let numbers = column.numbers(self.document);
        if !numbers.is_pure {
            return Ok(None);
        }
        self.spend(view.len() as u64 * (2 + path.keys.len() as u64))?;
        let mut best = (f64::NAN, view.len());
        for at in 0..view.len() {
            let number = numbers.values[view.row(at) as usize];
            let is_better = best.0.is_nan() || number.partial_cmp(&best.0) == Some(wanted);
            if is_better && !number.is_nan() {
                best = (number, at);
            }
        }
        Ok(Some(best.1))
    }

    /// The object of all items under a field whose texts are all different: the column knows where each one stands.
    pub(crate) fn keyed_together(&mut self, view: View<'a>, key: &'a Plan) -> Result<Option<Value<'a>>> {
        let (Some(path), None) = (plain_path(key), view.rows) else { return Ok(None) };
        let Some(column) = self.column(path, view.list) else { return Ok(None) };
        let Some(texts) = column.distinct_texts(self.document) else { return Ok(None) };
        let (len, steps) = (view.len(), 2 + path.keys.len() as u64);
        self.spend(len as u64 * steps)?;
        let names = self.scratch.slice_by(len, |at| texts.get(at as u32)).ok_or_else(|| self.out_of_memory())?;
        if write::needs_reordering(names) {
            return Ok(None);
        }
        self.spend(names.iter().map(|name| name.len() as u64 / 64).sum())?;
        let known: Option<&'a ColumnKeys<'a>> = self.scratch.one(ColumnKeys { column, arena: self.document });
        let index = Some(KeyIndex::Known(known.ok_or_else(|| self.out_of_memory())?));
        let keys = self.scratch.one(Keys { names, index }).ok_or_else(|| self.out_of_memory())?;
        let value = |at: usize| Value::stored(self.document, view.cells[at]);
        let values = self.scratch.slice_by(len, value).ok_or_else(|| self.out_of_memory())?;
        let record = self.scratch.one(Record { keys, values }).ok_or_else(|| self.out_of_memory())?;
        Ok(Some(record.row(0)))
    }

    /// Pays for sorting so many values in advance: for as many comparisons as a binary merge needs at most.
    pub(crate) fn pay_sort(&mut self, count: usize, longest: usize) -> Result<()> {
        let comparisons = count as u64 * u64::from(usize::BITS - count.leading_zeros());
        self.spend(comparisons * (1 + longest as u64 / 64) / 4)
    }
}

/// A column of different texts, as the index of its keys.
#[derive(Clone, Copy)]
struct ColumnKeys<'a> {
    column: &'a Column,
    arena: &'a Arena,
}

impl Places for ColumnKeys<'_> {
    fn place(&self, text: &str) -> Option<usize> {
        self.column.rows_of(self.arena, text).next().map(|row| row as usize)
    }
}

fn plain_path(plan: &Plan) -> Option<&Path> {
    match plan {
        Plan::Get(path) if path.is_plain => Some(path),
        _ => None,
    }
}
