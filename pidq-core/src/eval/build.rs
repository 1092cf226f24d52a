//! What a run builds: lists, objects and texts in the scratch of the run.

use std::fmt;
use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::Cx;
use super::plan::{self, Plan};
use super::view::WORTH_IT;
use crate::arena::load::array_index;
use crate::arena::{Arena, ContainerId};
use crate::error::{Code, Error, Result};
use crate::value::{Array, CellList, Items, Keys, Part, Record, Rows, Table, Value, convert, write};

impl<'a> Cx<'a> {
    /// The list of the values collected since a mark.
    pub(crate) fn list(&mut self, base: usize) -> Result<Value<'a>> {
        let items = self.scratch.slice(&self.stack[base..]).ok_or_else(|| self.out_of_memory())?;
        self.stack.truncate(base);
        self.array_of(items)
    }

    /// The list of values that lie in the scratch already.
    pub(crate) fn array_of(&self, items: &'a [Value<'a>]) -> Result<Value<'a>> {
        Ok(Value::Array(Array(Items::Built(items))))
    }

    /// Some items of a stored list, by their places.
    pub(crate) fn rows(&self, arena: &'a Arena, base: ContainerId, rows: &[u32]) -> Result<Value<'a>> {
        let rows = self.scratch.slice(rows).ok_or_else(|| self.out_of_memory())?;
        self.rows_of(arena, base, rows)
    }

    /// The same, by places that lie in the scratch already.
    pub(crate) fn rows_of(&self, arena: &'a Arena, base: ContainerId, rows: &'a [u32]) -> Result<Value<'a>> {
        let is_compact = rows.len() >= WORTH_IT && std::ptr::eq(arena, self.document) && self.graph.is_compact(base);
        let rows = Rows { arena, base, rows, is_compact };
        let rows = self.scratch.one(rows).ok_or_else(|| self.out_of_memory())?;
        Ok(Value::Array(Array(Items::Rows(rows))))
    }

    /// Some items of a stored list, each by its place in the new one.
    pub(crate) fn rows_by(
        &self,
        arena: &'a Arena,
        base: ContainerId,
        len: usize,
        row: impl FnMut(usize) -> u32,
    ) -> Result<Value<'a>> {
        let rows = self.scratch.slice_by(len, row).ok_or_else(|| self.out_of_memory())?;
        self.rows_of(arena, base, rows)
    }

    /// A list of so many values, each by its place.
    pub(crate) fn list_by(&self, len: usize, item: impl FnMut(usize) -> Value<'a>) -> Result<Value<'a>> {
        let items = self.scratch.slice_by(len, item).ok_or_else(|| self.out_of_memory())?;
        Ok(Value::Array(Array(Items::Built(items))))
    }

    /// The items of a list from `first` to before `end`, which are places in it. Copies none of them.
    pub(crate) fn part(&self, array: Array<'a>, first: usize, end: usize) -> Result<Value<'a>> {
        let (start, len) = (first as u32, (end - first) as u32);
        let items = match array.0 {
            // Columns are read for rows, where the list is long.
            Items::Stored(arena, base) if end - first >= WORTH_IT => {
                return self.rows_by(arena, base, end - first, |at| start + at as u32);
            }
            Items::Stored(arena, base) => Items::Part(Part { arena, base, first: start, len }),
            Items::Part(part) => Items::Part(Part { first: part.first + start, len, ..part }),
            Items::Built(items) => Items::Built(&items[first..end]),
            Items::Cells(list) => {
                let list = CellList { cells: &list.cells[first..end], ..*list };
                Items::Cells(self.scratch.one(list).ok_or_else(|| self.out_of_memory())?)
            }
            Items::Rows(rows) => {
                let rows = Rows { rows: &rows.rows[first..end], ..*rows };
                Items::Rows(self.scratch.one(rows).ok_or_else(|| self.out_of_memory())?)
            }
            Items::Table(table) => {
                let width = table.keys.names.len();
                let table = Table { cells: &table.cells[first * width..end * width], len, ..*table };
                Items::Table(self.scratch.one(table).ok_or_else(|| self.out_of_memory())?)
            }
            Items::Records(record) => {
                let width = record.keys.names.len();
                let record = Record { values: &record.values[first * width..end * width], ..*record };
                Items::Records(self.scratch.one(record).ok_or_else(|| self.out_of_memory())?)
            }
        };
        Ok(Value::Array(Array(items)))
    }

    /// The list of what a part of the query gives for each item of a list.
    ///
    /// Hot: the loop of most queries.
    pub(crate) fn mapped(&mut self, array: Array<'a>, plan: Option<&'a Plan>) -> Result<Value<'a>> {
        let base = self.mark();
        match plan {
            None => {
                for _ in 0..array.len() {
                    self.spend(1)?;
                    self.push(Value::Undefined)?;
                }
            }
            Some(Plan::Object(fields)) if !fields.values.is_empty() => return self.mapped_objects(array, fields),
            Some(plan) => {
                for item in array.iter() {
                    self.spend(1)?;
                    let value = self.eval(plan, item).map_err(|error| at_item(error, item))?;
                    self.push(value)?;
                }
            }
        }
        self.list(base)
    }

    /// The list of the objects that `{a: ...}` gives for each item of a list: rows of one record.
    fn mapped_objects(&mut self, array: Array<'a>, fields: &'a plan::Fields) -> Result<Value<'a>> {
        let base = self.mark();
        for item in array.iter() {
            self.spend(2)?;
            self.fields(fields, item).map_err(|error| at_item(error, item))?;
        }
        let keys = self.shared_keys(fields.record, fields.names.iter().map(|name| &**name))?;
        let record = self.record_of(keys, base)?;
        Ok(Value::Array(Array(Items::Records(record))))
    }

    /// Collects the values of `{a: ...}`.
    #[inline]
    pub(super) fn fields(&mut self, fields: &'a plan::Fields, input: Value<'a>) -> Result<()> {
        for value in &fields.values {
            let value = self.eval(value, input)?;
            self.push(value)?;
        }
        Ok(())
    }

    /// The record of the values collected since a mark: for each row one for each key.
    fn record_of(&mut self, keys: &'a Keys<'a>, base: usize) -> Result<&'a Record<'a>> {
        let values = self.scratch.slice(&self.stack[base..]).ok_or_else(|| self.out_of_memory())?;
        self.stack.truncate(base);
        self.scratch.one(Record { keys, values }).ok_or_else(|| self.out_of_memory())
    }

    /// The object of the values collected since a mark; one for each key.
    pub(crate) fn record(&mut self, keys: &'a Keys<'a>, base: usize) -> Result<Value<'a>> {
        self.record_of(keys, base).map(|record| record.row(0))
    }

    /// The keys of the objects that one part of the query builds, made at its first use.
    pub(crate) fn shared_keys(&mut self, record: usize, names: impl Iterator<Item = &'a str>) -> Result<&'a Keys<'a>> {
        if let Some(keys) = self.records[record] {
            return Ok(keys);
        }
        let names: Vec<&'a str> = names.collect();
        let keys = self.keys(&names)?;
        self.records[record] = Some(keys);
        Ok(keys)
    }

    /// A list of distinct keys in JavaScript's order.
    pub(crate) fn keys(&self, names: &[&'a str]) -> Result<&'a Keys<'a>> {
        let mut sorted: Vec<u32> = Vec::new();
        if names.len() > Keys::LINEAR {
            sorted.extend(0..names.len() as u32);
            sorted.sort_unstable_by_key(|slot| names[*slot as usize]);
        }
        let lists = (self.scratch.slice(names), self.scratch.slice(&sorted));
        let (Some(names), Some(sorted)) = lists else { return Err(self.out_of_memory()) };
        self.scratch.one(Keys { names, sorted }).ok_or_else(|| self.out_of_memory())
    }

    /// `String(x)`.
    pub(crate) fn text_of(&mut self, value: Value<'a>) -> Result<&'a str> {
        if let Value::String(text) = value {
            return Ok(text);
        }
        self.text(|out| convert::write_text(value, out))
    }

    /// A text that `write` writes.
    pub(crate) fn text(&mut self, write: impl FnOnce(&mut LimitedText) -> fmt::Result) -> Result<&'a str> {
        let room = self.limits.memory.saturating_sub(self.held + self.scratch.size());
        let mut out = LimitedText { text: String::new(), limit: self.limits.string.min(room) };
        if write(&mut out).is_err() {
            let message = format!("The query builds a text of more than {} bytes", out.limit);
            return Err(Error::new(Code::OutOfMemory, message));
        }
        self.spend_bytes(out.text.len())?;
        // For a moment the text is there twice.
        self.hold(out.text.capacity())?;
        let text = self.scratch.text(&out.text).ok_or_else(|| self.out_of_memory())?;
        self.release(out.text.capacity());
        Ok(text)
    }

    /// Whether two values are equal, as `==` has it.
    pub(crate) fn is_equal(&mut self, a: Value<'a>, b: Value<'a>) -> Result<bool> {
        if let (Value::String(a), Value::String(b)) = (a, b) {
            self.spend_bytes(a.len().min(b.len()))?;
        }
        crate::value::compare::is_equal(a, b, |units| self.spend(units))
    }
}

/// Adds the path of the item that a part of the query failed on.
#[cold]
fn at_item(error: Error, item: Value<'_>) -> Error {
    match item.container() {
        Some((arena, id)) if error.data_path().is_none() => error.with_data_path(arena.path_of(id)),
        _ => error,
    }
}

/// A text that refuses to grow above a limit.
pub(crate) struct LimitedText {
    text: String,
    limit: usize,
}

impl fmt::Write for LimitedText {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let needed = self.text.len() + text.len();
        if needed > self.limit {
            return Err(fmt::Error);
        }
        if needed > self.text.capacity() {
            // Twice as much each time, but never room for more than is allowed.
            let wanted = (2 * needed).min(self.limit);
            self.text.reserve_exact(wanted - self.text.len());
        }
        self.text.push_str(text);
        Ok(())
    }
}

/// Keys and values that are being collected: a key that comes again replaces or keeps the first value.
pub(crate) struct Entries<'a, T> {
    names: Vec<&'a str>,
    pub values: Vec<T>,
    table: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl<'a, T> Entries<'a, T> {
    /// Bytes of a key and its value, with the room that growing lists keep.
    const ROW: usize = 2 * (size_of::<&str>() + size_of::<T>() + 2 * size_of::<u32>());

    pub fn new() -> Entries<'a, T> {
        Entries {
            names: Vec::new(),
            values: Vec::new(),
            table: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
        }
    }

    /// The value of a key; where it is new, `T` from `make` is put there.
    pub fn entry(&mut self, cx: &mut Cx<'a>, name: &'a str, make: impl FnOnce() -> T) -> Result<&mut T> {
        let place = self.place(cx, name, make)?;
        Ok(&mut self.values[place])
    }

    /// The place of a key among the values; where it is new, `T` from `make` is put there.
    pub fn place(&mut self, cx: &mut Cx<'a>, name: &'a str, make: impl FnOnce() -> T) -> Result<usize> {
        cx.spend_bytes(name.len())?;
        let Entries { names, values, table, hasher } = self;
        let hash = hasher.hash_one(name);
        if let Some(at) = table.find(hash, |at| names[*at as usize] == name) {
            return Ok(*at as usize);
        }
        cx.hold(Self::ROW)?;
        table.insert_unique(hash, names.len() as u32, |at| hasher.hash_one(names[*at as usize]));
        names.push(name);
        values.push(make());
        Ok(values.len() - 1)
    }

    /// Keys and values in JavaScript's order: array indexes first, ascending.
    pub fn into_order(self, cx: &mut Cx<'a>) -> (Vec<&'a str>, Vec<T>) {
        cx.release(self.names.len() * Self::ROW);
        if !write::needs_reordering(&self.names) {
            return (self.names, self.values);
        }
        let mut pairs: Vec<(&'a str, T)> = self.names.into_iter().zip(self.values).collect();
        pairs.sort_by_key(|(name, _)| array_index(name).map_or(u64::MAX, u64::from));
        pairs.into_iter().unzip()
    }
}

impl<'a> Entries<'a, Value<'a>> {
    /// The object of the collected entries.
    pub fn into_object(self, cx: &mut Cx<'a>) -> Result<Value<'a>> {
        let (names, values) = self.into_order(cx);
        let base = cx.mark();
        for value in values {
            cx.push(value)?;
        }
        let keys = cx.keys(&names)?;
        cx.record(keys, base)
    }
}
