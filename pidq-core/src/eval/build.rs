//! What a run builds: lists, objects and texts in the scratch of the run.

use std::fmt;

use super::Cx;
use super::plan::{self, Plan};
use crate::arena::load::array_index;
use crate::arena::{Arena, ContainerId, Layout};
use crate::error::{Code, Error, Result};
use crate::graph::column::WORTH_IT;
use crate::value::{
    Array, CellList, Fields, Index, Items, KeyIndex, Keys, Object, Record, Rows, Table, Value, convert, write,
};

/// The keys of the stored objects of a shape, and the same as a list.
#[derive(Clone, Copy)]
pub(super) struct Shape<'a> {
    pub(super) keys: &'a Keys<'a>,
    names: &'a [Value<'a>],
}

/// The room of a run for the text that is being written is kept up to so many bytes, which do not count as memory.
const SMALL_TEXT: usize = 16 << 10;

/// How many shapes a run remembers.
const SHAPES: usize = 64;

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
        if let Some(part) = neighbours(arena, base, rows) {
            return Ok(part);
        }
        let rows = self.scratch.slice(rows).ok_or_else(|| self.out_of_memory())?;
        self.rows_in_scratch(arena, base, rows)
    }

    /// The same, by places that lie in the scratch already.
    pub(crate) fn rows_of(&self, arena: &'a Arena, base: ContainerId, rows: &'a [u32]) -> Result<Value<'a>> {
        match neighbours(arena, base, rows) {
            Some(part) => Ok(part),
            None => self.rows_in_scratch(arena, base, rows),
        }
    }

    fn rows_in_scratch(&self, arena: &'a Arena, base: ContainerId, rows: &'a [u32]) -> Result<Value<'a>> {
        let is_known = rows.len() >= WORTH_IT && std::ptr::eq(arena, self.document);
        let layout = if is_known { self.graph.layout(base) } else { Layout::Loose };
        let rows = Rows { arena, base, rows, layout };
        let rows = self.scratch.one(rows).ok_or_else(|| self.out_of_memory())?;
        Ok(Value::Array(Array(Items::Rows(rows))))
    }

    /// A list of lists of items of one stored list, by their places, which lie in the scratch already.
    pub(crate) fn lists_of_rows(
        &self,
        arena: &'a Arena,
        base: ContainerId,
        mut parts: impl ExactSizeIterator<Item = &'a [u32]>,
    ) -> Result<Value<'a>> {
        let mut failed = None;
        let lists = self.scratch.slice_by(parts.len(), |_| {
            let rows = parts.next().unwrap_or_default();
            neighbours(arena, base, rows).unwrap_or_else(|| {
                self.rows_in_scratch(arena, base, rows).unwrap_or_else(|error| {
                    failed = Some(error);
                    Value::Undefined
                })
            })
        });
        match (failed, lists) {
            (None, Some(lists)) => self.array_of(lists),
            (failed, _) => Err(failed.unwrap_or_else(|| self.out_of_memory())),
        }
    }

    /// Room for so many places in the scratch.
    pub(crate) fn places(&self, count: usize) -> Result<&'a mut [u32]> {
        self.scratch.slots(count, 0).ok_or_else(|| self.out_of_memory())
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
            Items::Stored(arena, base) => Items::Part { arena, base, first: start, len },
            Items::Part { arena, base, first, .. } => Items::Part { arena, base, first: first + start, len },
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
                let cells = &table.cells[first * width..end * width];
                let table = Table { cells, len, origin: None, ..*table };
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
        let mut items = array.iter();
        match plan {
            None => {
                self.spend(array.len() as u64)?;
                self.list_by(array.len(), |_| Value::Undefined)
            }
            Some(Plan::Object(fields)) if !fields.values.is_empty() => self.mapped_objects(array, fields),
            Some(plan) => self.list_of(array.len(), |cx, _| {
                let item = items.next().unwrap_or(Value::Undefined);
                cx.spend(2)?;
                cx.eval_paid(plan, item).map_err(|error| at_item(error, item))
            }),
        }
    }

    /// A list of so many values, each worked out from its place.
    ///
    /// Hot: the values are written where they stay. To collect them first would touch fresh memory twice.
    #[inline]
    pub(crate) fn list_of(
        &mut self,
        len: usize,
        mut make: impl FnMut(&mut Self, usize) -> Result<Value<'a>>,
    ) -> Result<Value<'a>> {
        let items = self.scratch.slots(len, Value::Undefined).ok_or_else(|| self.out_of_memory())?;
        for (at, item) in items.iter_mut().enumerate() {
            *item = make(self, at)?;
        }
        self.array_of(items)
    }

    /// The list of the objects that `{a: ...}` gives for each item of a list: rows of one record.
    fn mapped_objects(&mut self, array: Array<'a>, fields: &'a plan::Fields) -> Result<Value<'a>> {
        let base = self.mark();
        for item in array.iter() {
            self.spend(2)?;
            self.fields(fields, item).map_err(|error| at_item(error, item))?;
        }
        let keys = self.shared_keys(fields.record, fields.names.iter().map(|name| &**name))?;
        self.records(keys, base)
    }

    /// Collects the values of `{a: ...}`.
    #[inline]
    pub(super) fn fields(&mut self, fields: &'a plan::Fields, input: Value<'a>) -> Result<()> {
        if let Some(leads) = &fields.leads {
            return self.shared_fields(fields, leads, input);
        }
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

    /// The objects of the values collected since a mark, object after object, each with a value for every key.
    pub(crate) fn records(&mut self, keys: &'a Keys<'a>, base: usize) -> Result<Value<'a>> {
        self.record_of(keys, base).map(|record| Value::Array(Array(Items::Records(record))))
    }

    /// An object of so many values, one for each key.
    pub(crate) fn object_of(&self, keys: &'a Keys<'a>, values: &[Value<'a>]) -> Result<Value<'a>> {
        let values = self.scratch.slice(values).ok_or_else(|| self.out_of_memory())?;
        let record = self.scratch.one(Record { keys, values }).ok_or_else(|| self.out_of_memory())?;
        Ok(record.row(0))
    }

    /// An object of two keys.
    pub(crate) fn pair(&self, keys: &'a Keys<'a>, first: Value<'a>, second: Value<'a>) -> Result<Value<'a>> {
        let values = self.scratch.one([first, second]).ok_or_else(|| self.out_of_memory())?;
        let record = self.scratch.one(Record { keys, values }).ok_or_else(|| self.out_of_memory())?;
        Ok(record.row(0))
    }

    /// The keys of an object: one list for all objects of a shape, as long as few shapes come in turns.
    pub(crate) fn keys_of(&mut self, object: Object<'a>) -> Result<&'a Keys<'a>> {
        match object.0 {
            Fields::Built(record, _) => Ok(record.keys),
            Fields::Row(table, _) => Ok(table.keys),
            Fields::Stored(arena, id) => Ok(self.shape(arena, id)?.keys),
        }
    }

    /// The keys of an object as texts.
    #[inline]
    pub(crate) fn key_list(&mut self, object: Object<'a>) -> Result<&'a [Value<'a>]> {
        if let Fields::Stored(arena, id) = object.0 {
            return Ok(self.shape(arena, id)?.names);
        }
        let names = self.keys_of(object)?.names;
        let values = self.scratch.slice_by(names.len(), |at| Value::String(names[at]));
        values.ok_or_else(|| self.out_of_memory())
    }

    /// The values of an object as a list. Costs a step for each.
    #[inline]
    pub(crate) fn value_list(&mut self, object: Object<'a>) -> Result<Value<'a>> {
        let (arena, cells) = match object.0 {
            Fields::Built(record, row) => {
                self.spend(record.values(row).len() as u64)?;
                return self.array_of(record.values(row));
            }
            Fields::Row(table, row) => (table.arena, table.row(row)),
            Fields::Stored(arena, id) => (arena, arena.fields(id)),
        };
        self.spend(cells.len() as u64)?;
        let list = self.scratch.one(CellList { arena, cells }).ok_or_else(|| self.out_of_memory())?;
        Ok(Value::Array(Array(Items::Cells(list))))
    }

    #[inline]
    pub(super) fn shape(&mut self, arena: &'a Arena, id: ContainerId) -> Result<Shape<'a>> {
        let number = arena.shape(id).0;
        let place = number as usize % SHAPES;
        match self.shapes.get(place) {
            Some(Some((known, shape))) if *known == number && std::ptr::eq(arena, self.document) => Ok(*shape),
            _ => self.new_shape(arena, id, place),
        }
    }

    #[cold]
    fn new_shape(&mut self, arena: &'a Arena, id: ContainerId, place: usize) -> Result<Shape<'a>> {
        let names: Vec<&'a str> = arena.keys(id).iter().map(|key| arena.symbol_text(*key)).collect();
        let keys = self.keys(&names)?;
        let names = self.scratch.slice_by(names.len(), |at| Value::String(keys.names[at]));
        let shape = Shape { keys, names: names.ok_or_else(|| self.out_of_memory())? };
        if std::ptr::eq(arena, self.document) {
            self.shapes.resize(SHAPES, None);
            self.shapes[place] = Some((arena.shape(id).0, shape));
        }
        Ok(shape)
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

    /// A list of distinct keys in JavaScript's order. The objects of a list mostly have the keys of the one before.
    pub(crate) fn keys(&mut self, names: &[&'a str]) -> Result<&'a Keys<'a>> {
        if let Some(keys) = self.last_keys.filter(|keys| keys.names == names) {
            return Ok(keys);
        }
        let keys = self.new_keys(names)?;
        self.last_keys = (names.len() <= Keys::LINEAR).then_some(keys);
        Ok(keys)
    }

    fn new_keys(&self, names: &[&'a str]) -> Result<&'a Keys<'a>> {
        match names.len() > Keys::LINEAR {
            true => self.indexed_keys(names, &Index::of(names, self.scratch.hasher())),
            false => self.keys_with(names, None),
        }
    }

    /// The keys that an index was made for.
    fn indexed_keys(&self, names: &[&'a str], index: &Index) -> Result<&'a Keys<'a>> {
        let index = self.scratch.slice(index.places()).ok_or_else(|| self.out_of_memory())?;
        self.keys_with(names, Some(index))
    }

    fn keys_with(&self, names: &[&'a str], index: Option<&'a [u32]>) -> Result<&'a Keys<'a>> {
        let names = self.scratch.slice(names).ok_or_else(|| self.out_of_memory())?;
        let index = index.map(|index| KeyIndex::Made(index, self.scratch.hasher()));
        self.scratch.one(Keys { names, index }).ok_or_else(|| self.out_of_memory())
    }

    /// `String(x)`.
    #[inline]
    pub(crate) fn text_of(&mut self, value: Value<'a>) -> Result<&'a str> {
        match value {
            Value::String(text) => Ok(text),
            other => self.text_of_other(other),
        }
    }

    fn text_of_other(&mut self, value: Value<'a>) -> Result<&'a str> {
        match value {
            Value::Number(number) => self.short_text(convert::NumberRoom::new().text(number.value())),
            Value::Bool(value) => Ok(if value { "true" } else { "false" }),
            other => self.text(|out| convert::write_text(other, out)),
        }
    }

    /// A copy of a text of less than 64 bytes, which costs nothing.
    fn short_text(&mut self, text: &str) -> Result<&'a str> {
        if text.len() > self.limits.string {
            return Err(text_too_long(self.limits.string));
        }
        self.scratch.text(text).ok_or_else(|| self.out_of_memory())
    }

    /// Two texts as one.
    pub(crate) fn concat(&mut self, left: &str, right: &str) -> Result<&'a str> {
        if left.len() + right.len() < 64 && left.len() + right.len() <= self.limits.string {
            self.text.clear();
            self.text.push_str(left);
            self.text.push_str(right);
            return self.scratch.text(&self.text).ok_or_else(|| self.out_of_memory());
        }
        self.text(|out| {
            fmt::Write::write_str(out, left)?;
            fmt::Write::write_str(out, right)
        })
    }

    /// A text that `write` writes.
    pub(crate) fn text(&mut self, write: impl FnOnce(&mut LimitedText) -> fmt::Result) -> Result<&'a str> {
        let room = self.limits.memory.saturating_sub(self.held + self.scratch.size());
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        let mut out = LimitedText { text, limit: self.limits.string.min(room) };
        if write(&mut out).is_err() {
            return Err(text_too_long(out.limit));
        }
        let text = out.text;
        self.spend_bytes(text.len())?;
        if text.capacity() <= SMALL_TEXT {
            let copy = self.scratch.text(&text).ok_or_else(|| self.out_of_memory())?;
            self.text = text;
            return Ok(copy);
        }
        // For a moment the text is there twice.
        self.hold(text.capacity())?;
        let copy = self.scratch.text(&text).ok_or_else(|| self.out_of_memory())?;
        self.release(text.capacity());
        Ok(copy)
    }

    /// Whether two values are equal, as `==` has it.
    pub(crate) fn is_equal(&mut self, a: Value<'a>, b: Value<'a>) -> Result<bool> {
        if let (Value::String(a), Value::String(b)) = (a, b) {
            self.spend_bytes(a.len().min(b.len()))?;
            return Ok(a == b);
        }
        crate::value::compare::is_equal(a, b, |units| self.spend(units))
    }
}

/// A few places that follow each other: they need no list of places. Longer ones get one, which columns are read for.
fn neighbours<'a>(arena: &'a Arena, base: ContainerId, rows: &[u32]) -> Option<Value<'a>> {
    let first = *rows.first()?;
    let follow = rows.len() < WORTH_IT && rows.windows(2).all(|pair| pair[0] + 1 == pair[1]);
    follow.then_some(Value::Array(Array(Items::Part { arena, base, first, len: rows.len() as u32 })))
}

/// Adds the path of the item that a part of the query failed on.
#[cold]
fn at_item(error: Error, item: Value<'_>) -> Error {
    match item.container() {
        Some((arena, id)) if error.data_path().is_none() => error.with_data_path(arena.path_of(id)),
        _ => error,
    }
}

#[cold]
fn text_too_long(limit: usize) -> Error {
    let message = format!("The query builds a text of more than {limit} bytes");
    Error::new(Code::OutOfMemory, message).with_limit("memory", limit as u64)
}

/// A text that refuses to grow above a limit.
pub(crate) struct LimitedText {
    text: String,
    limit: usize,
}

impl LimitedText {
    /// Adds two texts, or fails before both.
    #[inline]
    pub(crate) fn push_both(&mut self, first: &str, second: &str) -> fmt::Result {
        self.make_room(first.len() + second.len())?;
        self.text.push_str(first);
        self.text.push_str(second);
        Ok(())
    }

    #[inline]
    fn make_room(&mut self, bytes: usize) -> fmt::Result {
        let needed = self.text.len() + bytes;
        if needed <= self.text.capacity().min(self.limit) { Ok(()) } else { self.grow(needed) }
    }

    #[cold]
    fn grow(&mut self, needed: usize) -> fmt::Result {
        if needed > self.limit {
            return Err(fmt::Error);
        }
        // Twice as much each time, but never room for more than is allowed.
        let wanted = (2 * needed).min(self.limit);
        self.text.reserve_exact(wanted - self.text.len());
        Ok(())
    }
}

impl fmt::Write for LimitedText {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.make_room(text.len())?;
        self.text.push_str(text);
        Ok(())
    }
}

/// The members of an object that is being built, of equal keys the last one: on the stack of collected values, key and
/// value in turns, as long as there are few.
pub(crate) struct Members<'a> {
    base: usize,
    many: Option<Entries<'a, Value<'a>>>,
}

impl<'a> Members<'a> {
    /// Above this many members a table is made.
    const FEW: usize = 16;

    pub fn new(cx: &Cx<'a>) -> Members<'a> {
        Members { base: cx.mark(), many: None }
    }

    /// Adds a member, or replaces the value of its key.
    pub fn put(&mut self, cx: &mut Cx<'a>, name: &'a str, value: Value<'a>) -> Result<()> {
        if let Some(entries) = &mut self.many {
            *entries.entry(cx, name, || value)? = value;
            return Ok(());
        }
        cx.spend_bytes(name.len())?;
        let (pairs, _) = cx.collected(self.base).as_chunks_mut::<2>();
        let is_known = |pair: &&mut [Value<'a>; 2]| matches!(pair[0], Value::String(known) if known == name);
        if let Some(pair) = pairs.iter_mut().find(is_known) {
            pair[1] = value;
            return Ok(());
        }
        if pairs.len() == Members::FEW {
            return self.put_in_table(cx, name, value);
        }
        cx.push(Value::String(name))?;
        cx.push(value)
    }

    /// Moves what there is into a table.
    #[cold]
    fn put_in_table(&mut self, cx: &mut Cx<'a>, name: &'a str, value: Value<'a>) -> Result<()> {
        let pairs: Vec<(&'a str, Value<'a>)> = self.pairs(cx).collect();
        cx.forget(self.base);
        let entries = self.many.insert(Entries::new());
        for (name, value) in pairs.into_iter().chain([(name, value)]) {
            entries.entry(cx, name, || value)?;
        }
        Ok(())
    }

    fn pairs(&self, cx: &mut Cx<'a>) -> impl ExactSizeIterator<Item = (&'a str, Value<'a>)> {
        let (pairs, _) = cx.collected(self.base).as_chunks::<2>();
        pairs.iter().map(|pair| (pair[0].as_str().unwrap_or_default(), pair[1]))
    }

    #[cold]
    fn into_reordered(self, cx: &mut Cx<'a>) -> Result<Value<'a>> {
        let mut entries = Entries::new();
        let pairs: Vec<(&'a str, Value<'a>)> = self.pairs(cx).collect();
        cx.forget(self.base);
        for (name, value) in pairs {
            entries.entry(cx, name, || value)?;
        }
        entries.into_object(cx)
    }

    /// The object of the members.
    pub fn into_object(self, cx: &mut Cx<'a>) -> Result<Value<'a>> {
        if let Some(entries) = self.many {
            return entries.into_object(cx);
        }
        let mut names = [""; Members::FEW];
        let count = self.pairs(cx).len();
        names.iter_mut().zip(self.pairs(cx)).for_each(|(name, pair)| *name = pair.0);
        let names = &names[..count];
        if write::needs_reordering(names) {
            return self.into_reordered(cx);
        }
        let keys = cx.keys(names)?;
        let values = {
            let stack = &cx.stack[self.base..];
            cx.scratch.slice_by(count, |at| stack[2 * at + 1])
        };
        cx.forget(self.base);
        let values = values.ok_or_else(|| cx.out_of_memory())?;
        let record = cx.scratch.one(Record { keys, values }).ok_or_else(|| cx.out_of_memory())?;
        Ok(record.row(0))
    }
}

/// Keys and values that are being collected: a key that comes again replaces or keeps the first value.
pub(crate) struct Entries<'a, T> {
    names: Vec<&'a str>,
    pub values: Vec<T>,
    index: Index,
}

impl<'a, T> Entries<'a, T> {
    /// Bytes of a key and its value, with the room that growing lists keep.
    const ROW: usize = 2 * (size_of::<&str>() + size_of::<T>() + 2 * size_of::<u32>());

    pub fn new() -> Entries<'a, T> {
        Entries { names: Vec::new(), values: Vec::new(), index: Index::default() }
    }

    /// The value of a key; where it is new, `T` from `make` is put there.
    pub fn entry(&mut self, cx: &mut Cx<'a>, name: &'a str, make: impl FnOnce() -> T) -> Result<&mut T> {
        let place = self.place(cx, name, make)?;
        Ok(&mut self.values[place])
    }

    /// The place of a key among the values; where it is new, `T` from `make` is put there.
    pub fn place(&mut self, cx: &mut Cx<'a>, name: &'a str, make: impl FnOnce() -> T) -> Result<usize> {
        cx.spend_bytes(name.len())?;
        if let Some(place) = self.index.find_or_add(name, &self.names, cx.scratch.hasher()) {
            return Ok(place);
        }
        cx.hold(Self::ROW)?;
        self.names.push(name);
        self.values.push(make());
        Ok(self.values.len() - 1)
    }

    /// Keys and values in JavaScript's order: array indexes first, ascending.
    pub fn into_order(self, cx: &mut Cx<'a>) -> (Vec<&'a str>, Vec<T>) {
        cx.release(self.names.len() * Self::ROW);
        self.in_order()
    }

    fn in_order(self) -> (Vec<&'a str>, Vec<T>) {
        if !write::needs_reordering(&self.names) {
            return (self.names, self.values);
        }
        let mut pairs: Vec<(&'a str, T)> = self.names.into_iter().zip(self.values).collect();
        pairs.sort_by_key(|(name, _)| array_index(name).map_or(u64::MAX, u64::from));
        pairs.into_iter().unzip()
    }
}

impl<'a, T> Entries<'a, T> {
    /// The object of the collected entries; `value` makes its values.
    pub fn into_object_by(self, cx: &mut Cx<'a>, value: impl Fn(&T) -> Value<'a>) -> Result<Value<'a>> {
        // What was collected stays until the object stands beside it.
        let held = self.names.len() * Self::ROW;
        let in_order = self.names.len() > Keys::LINEAR && !write::needs_reordering(&self.names);
        let (keys, values) = if in_order {
            (cx.indexed_keys(&self.names, &self.index)?, self.values)
        } else {
            let (names, values) = self.in_order();
            (cx.keys(&names)?, values)
        };
        let values = cx.scratch.slice_by(values.len(), |at| value(&values[at])).ok_or_else(|| cx.out_of_memory())?;
        let record = cx.scratch.one(Record { keys, values }).ok_or_else(|| cx.out_of_memory())?;
        cx.release(held);
        Ok(record.row(0))
    }
}

impl<'a> Entries<'a, Value<'a>> {
    /// The object of the collected entries.
    pub fn into_object(self, cx: &mut Cx<'a>) -> Result<Value<'a>> {
        self.into_object_by(cx, |value| *value)
    }
}
