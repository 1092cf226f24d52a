//! Builders of lists, objects and strings in the scratch memory of a run.

use std::fmt;

use super::EvalContext;
use super::plan::{self, Plan};
use crate::arena::{Arena, Cell, ContainerId};
use crate::error::{Code, Error, Result};
use crate::graph::column::MIN_ROWS;
use crate::value::js_number_format::{MAX_NUMBER_LEN, NumberBuffer};
use crate::value::{
    Array, CellList, Fields, Index, Items, KeyIndex, Keys, Number, NumberWithDigits, Object, Record, Rows, Table,
    Value, compare, convert, write,
};

/// The keys of the stored objects of a shape, also as a list of values.
#[derive(Clone, Copy)]
pub(super) struct ShapeKeys<'a> {
    pub(super) keys: &'a Keys<'a>,
    pub(super) names: &'a [Value<'a>],
}

/// Capacity up to which the string buffer of a run is kept; it does not count toward the memory limit.
const TEXT_BUFFER_SIZE: usize = 16 << 10;

/// Values whose text is built together, in the string buffer.
const TEXT_BLOCK_SIZE: usize = 256;

/// Entries of the shape cache of a run.
const SHAPE_CACHE_SIZE: usize = 64;

impl<'a> EvalContext<'a> {
    /// Returns the list of the values collected since a mark.
    pub(crate) fn collect_list(&mut self, base: usize) -> Result<Value<'a>> {
        let items = self.scratch.alloc_slice(&self.stack[base..]).ok_or_else(|| self.out_of_memory())?;
        self.stack.truncate(base);
        self.list_from_slice(items)
    }

    /// Returns a list of values that are in the scratch memory already.
    pub(crate) fn list_from_slice(&self, items: &'a [Value<'a>]) -> Result<Value<'a>> {
        Ok(Value::Array(Array(Items::Built(items))))
    }

    /// Returns some items of a stored list, by their positions.
    pub(crate) fn select_rows(&self, arena: &'a Arena, base: ContainerId, rows: &[u32]) -> Result<Value<'a>> {
        if let Some(part) = contiguous_part(arena, base, rows) {
            return Ok(part);
        }
        let rows = self.scratch.alloc_slice(rows).ok_or_else(|| self.out_of_memory())?;
        self.rows_in_scratch(arena, base, rows)
    }

    /// [`EvalContext::select_rows`] for positions that are in the scratch memory already.
    pub(crate) fn select_scratch_rows(
        &self,
        arena: &'a Arena,
        base: ContainerId,
        rows: &'a [u32],
    ) -> Result<Value<'a>> {
        match contiguous_part(arena, base, rows) {
            Some(part) => Ok(part),
            None => self.rows_in_scratch(arena, base, rows),
        }
    }

    fn rows_in_scratch(&self, arena: &'a Arena, base: ContainerId, rows: &'a [u32]) -> Result<Value<'a>> {
        let is_known = rows.len() >= MIN_ROWS && std::ptr::eq(arena, self.document);
        let spans = if is_known { self.graph.item_spans(base) } else { None };
        let rows = Rows { arena, base, rows, spans };
        let rows = self.scratch.alloc(rows).ok_or_else(|| self.out_of_memory())?;
        Ok(Value::Array(Array(Items::Rows(rows))))
    }

    /// Returns a list of lists of items of one stored list, by positions that are in the scratch memory already.
    pub(crate) fn lists_of_rows(
        &self,
        arena: &'a Arena,
        base: ContainerId,
        mut parts: impl ExactSizeIterator<Item = &'a [u32]>,
    ) -> Result<Value<'a>> {
        let mut failed = None;
        let lists = self.scratch.alloc_slice_from_fn(parts.len(), |_| {
            let rows = parts.next().unwrap_or_default();
            contiguous_part(arena, base, rows).unwrap_or_else(|| {
                self.rows_in_scratch(arena, base, rows).unwrap_or_else(|error| {
                    failed = Some(error);
                    Value::Undefined
                })
            })
        });
        match (failed, lists) {
            (None, Some(lists)) => self.list_from_slice(lists),
            (failed, _) => Err(failed.unwrap_or_else(|| self.out_of_memory())),
        }
    }

    /// Allocates `count` positions in the scratch memory.
    pub(crate) fn row_buffer(&self, count: usize) -> Result<&'a mut [u32]> {
        self.scratch.alloc_slice_filled(count, 0).ok_or_else(|| self.out_of_memory())
    }

    /// Allocates `count` cells in the scratch memory.
    pub(crate) fn cell_buffer(&self, count: usize) -> Result<&'a mut [Cell]> {
        self.scratch.alloc_slice_filled(count, Cell::NULL).ok_or_else(|| self.out_of_memory())
    }

    /// Returns some items of a stored list; `row` maps a position in the new list to one in the stored list.
    pub(crate) fn select_rows_by(
        &self,
        arena: &'a Arena,
        base: ContainerId,
        len: usize,
        row: impl FnMut(usize) -> u32,
    ) -> Result<Value<'a>> {
        let rows = self.scratch.alloc_slice_from_fn(len, row).ok_or_else(|| self.out_of_memory())?;
        self.select_scratch_rows(arena, base, rows)
    }

    /// Returns a list of `len` values, each computed from its position.
    pub(crate) fn list_from_fn(&self, len: usize, item: impl FnMut(usize) -> Value<'a>) -> Result<Value<'a>> {
        let items = self.scratch.alloc_slice_from_fn(len, item).ok_or_else(|| self.out_of_memory())?;
        Ok(Value::Array(Array(Items::Built(items))))
    }

    /// Returns the items of a list from position `first` up to, but not including, `end`, without copying them.
    pub(crate) fn slice_list(&self, array: Array<'a>, first: usize, end: usize) -> Result<Value<'a>> {
        let (start, len) = (first as u32, (end - first) as u32);
        let items = match array.0 {
            // Columns work on rows; a long list becomes rows so that they can be used.
            Items::Stored(arena, base) if end - first >= MIN_ROWS => {
                return self.select_rows_by(arena, base, end - first, |at| start + at as u32);
            }
            Items::Stored(arena, base) => Items::Slice { arena, base, first: start, len },
            Items::Slice { arena, base, first, .. } => Items::Slice { arena, base, first: first + start, len },
            Items::Built(items) => Items::Built(&items[first..end]),
            Items::Owned(items) => Items::Owned(&items[first..end]),
            Items::Cells(list) => {
                let list = CellList { cells: &list.cells[first..end], ..*list };
                Items::Cells(self.scratch.alloc(list).ok_or_else(|| self.out_of_memory())?)
            }
            Items::Rows(rows) => {
                let rows = Rows { rows: &rows.rows[first..end], ..*rows };
                Items::Rows(self.scratch.alloc(rows).ok_or_else(|| self.out_of_memory())?)
            }
            Items::Table(table) => {
                let width = table.keys.names.len();
                let cells = &table.cells[first * width..end * width];
                let table = Table { cells, len, origin: None, ..*table };
                Items::Table(self.scratch.alloc(table).ok_or_else(|| self.out_of_memory())?)
            }
            Items::Records(record) => {
                let width = record.keys.names.len();
                let record = Record { values: &record.values[first * width..end * width], ..*record };
                Items::Records(self.scratch.alloc(record).ok_or_else(|| self.out_of_memory())?)
            }
        };
        Ok(Value::Array(Array(items)))
    }

    /// Evaluates a part of the query for each item of a list.
    ///
    /// Hot: the loop of most queries.
    pub(crate) fn map_each(&mut self, array: Array<'a>, plan: Option<&'a Plan>) -> Result<Value<'a>> {
        let mut items = array.iter();
        match plan {
            None => {
                self.charge(array.len() as u64)?;
                self.list_from_fn(array.len(), |_| Value::Undefined)
            }
            Some(Plan::Object(fields)) if !fields.values.is_empty() => self.map_objects(array, fields),
            Some(plan) => self.try_list_from_fn(array.len(), |cx, _| {
                let item = items.next().unwrap_or(Value::Undefined);
                cx.charge(2)?;
                cx.eval_charged(plan, item).map_err(|error| with_item_path(error, item))
            }),
        }
    }

    /// Returns a list of `len` values, each computed from its position by a fallible function.
    ///
    /// Hot: the values are written in place. Collecting them first would touch fresh memory twice.
    #[inline]
    pub(crate) fn try_list_from_fn(
        &mut self,
        len: usize,
        mut make: impl FnMut(&mut Self, usize) -> Result<Value<'a>>,
    ) -> Result<Value<'a>> {
        let items = self.scratch.alloc_slice_filled(len, Value::Undefined).ok_or_else(|| self.out_of_memory())?;
        for (at, item) in items.iter_mut().enumerate() {
            *item = make(self, at)?;
        }
        self.list_from_slice(items)
    }

    /// Evaluates `{a: ...}` for each item of a list: rows of one record.
    fn map_objects(&mut self, array: Array<'a>, fields: &'a plan::Fields) -> Result<Value<'a>> {
        let base = self.mark();
        for item in array.iter() {
            self.charge(2)?;
            self.collect_fields(fields, item).map_err(|error| with_item_path(error, item))?;
        }
        let keys = self.shared_keys(fields.record, fields.names.iter().map(|name| &**name))?;
        self.collect_objects(keys, base)
    }

    /// Collects the values of `{a: ...}`.
    #[inline]
    pub(super) fn collect_fields(&mut self, fields: &'a plan::Fields, input: Value<'a>) -> Result<()> {
        if let Some(common_prefixes) = &fields.common_prefixes {
            return self.collect_shared_fields(fields, common_prefixes, input);
        }
        for value in &fields.values {
            let value = self.eval(value, input)?;
            self.push(value)?;
        }
        Ok(())
    }

    /// Builds the record of the values collected since a mark: per row, one value per key.
    fn collect_record(&mut self, keys: &'a Keys<'a>, base: usize) -> Result<&'a Record<'a>> {
        let values = self.scratch.alloc_slice(&self.stack[base..]).ok_or_else(|| self.out_of_memory())?;
        self.stack.truncate(base);
        self.scratch.alloc(Record { keys, values }).ok_or_else(|| self.out_of_memory())
    }

    /// Builds the object of the values collected since a mark, one per key.
    pub(crate) fn collect_object(&mut self, keys: &'a Keys<'a>, base: usize) -> Result<Value<'a>> {
        self.collect_record(keys, base).map(|record| record.row(0))
    }

    /// Builds a list of objects from the values collected since a mark: object after object, one value per key.
    pub(crate) fn collect_objects(&mut self, keys: &'a Keys<'a>, base: usize) -> Result<Value<'a>> {
        self.collect_record(keys, base).map(|record| Value::Array(Array(Items::Records(record))))
    }

    /// Builds an object of the given values, one per key.
    pub(crate) fn object_from_values(&self, keys: &'a Keys<'a>, values: &[Value<'a>]) -> Result<Value<'a>> {
        let values = self.scratch.alloc_slice(values).ok_or_else(|| self.out_of_memory())?;
        let record = self.scratch.alloc(Record { keys, values }).ok_or_else(|| self.out_of_memory())?;
        Ok(record.row(0))
    }

    /// Builds an object of two keys.
    pub(crate) fn pair_object(&self, keys: &'a Keys<'a>, first: Value<'a>, second: Value<'a>) -> Result<Value<'a>> {
        let values = self.scratch.alloc([first, second]).ok_or_else(|| self.out_of_memory())?;
        let record = self.scratch.alloc(Record { keys, values }).ok_or_else(|| self.out_of_memory())?;
        Ok(record.row(0))
    }

    /// Returns the keys of an object. Objects of one shape share one list of keys while the shape is cached.
    pub(crate) fn object_keys(&mut self, object: Object<'a>) -> Result<&'a Keys<'a>> {
        match object.0 {
            Fields::Built(record, _) => Ok(record.keys),
            Fields::Row(table, _) => Ok(table.keys),
            Fields::Stored(arena, id) => Ok(self.shape_keys(arena, id)?.keys),
            Fields::Owned(owned) => {
                let names: Vec<&'a str> = owned.iter().map(|(name, _)| name).collect();
                self.intern_keys(&names)
            }
        }
    }

    /// Returns the keys of an object as string values.
    #[inline]
    pub(crate) fn key_list(&mut self, object: Object<'a>) -> Result<&'a [Value<'a>]> {
        if let Fields::Stored(arena, id) = object.0 {
            return Ok(self.shape_keys(arena, id)?.names);
        }
        let names = self.object_keys(object)?.names;
        let values = self.scratch.alloc_slice_from_fn(names.len(), |at| Value::String(names[at]));
        values.ok_or_else(|| self.out_of_memory())
    }

    /// Returns the values of an object as a list. Costs one step per value.
    #[inline]
    pub(crate) fn value_list(&mut self, object: Object<'a>) -> Result<Value<'a>> {
        let (arena, cells) = match object.0 {
            Fields::Built(record, row) => {
                self.charge(record.values(row).len() as u64)?;
                return self.list_from_slice(record.values(row));
            }
            Fields::Owned(owned) => {
                self.charge(owned.len() as u64)?;
                return Ok(Value::Array(Array(Items::Owned(owned.values()))));
            }
            Fields::Row(table, row) => (table.arena, table.row(row)),
            Fields::Stored(arena, id) => (arena, arena.fields(id)),
        };
        self.charge(cells.len() as u64)?;
        let list = self.scratch.alloc(CellList { arena, cells }).ok_or_else(|| self.out_of_memory())?;
        Ok(Value::Array(Array(Items::Cells(list))))
    }

    #[inline]
    pub(super) fn shape_keys(&mut self, arena: &'a Arena, id: ContainerId) -> Result<ShapeKeys<'a>> {
        let shape_id = arena.shape(id).0;
        let slot = shape_id as usize % SHAPE_CACHE_SIZE;
        match self.shapes.get(slot) {
            Some(Some((known, shape))) if *known == shape_id && std::ptr::eq(arena, self.document) => Ok(*shape),
            _ => self.load_shape_keys(arena, id, slot),
        }
    }

    #[cold]
    fn load_shape_keys(&mut self, arena: &'a Arena, id: ContainerId, slot: usize) -> Result<ShapeKeys<'a>> {
        let names: Vec<&'a str> = arena.keys(id).iter().map(|key| arena.symbol_text(*key)).collect();
        let keys = self.intern_keys(&names)?;
        let names = self.scratch.alloc_slice_from_fn(names.len(), |at| Value::String(keys.names[at]));
        let shape = ShapeKeys { keys, names: names.ok_or_else(|| self.out_of_memory())? };
        if std::ptr::eq(arena, self.document) {
            self.shapes.resize(SHAPE_CACHE_SIZE, None);
            self.shapes[slot] = Some((arena.shape(id).0, shape));
        }
        Ok(shape)
    }

    /// Returns the keys of the objects that one part of the query builds; creates them at the first use.
    pub(crate) fn shared_keys(&mut self, record: usize, names: impl Iterator<Item = &'a str>) -> Result<&'a Keys<'a>> {
        if let Some(keys) = self.records[record] {
            return Ok(keys);
        }
        let names: Vec<&'a str> = names.collect();
        let keys = self.intern_keys(&names)?;
        self.records[record] = Some(keys);
        Ok(keys)
    }

    /// Returns a list of distinct keys in JavaScript's order. Reuses the previous list if it is equal, as it mostly is
    /// for the objects of a list.
    pub(crate) fn intern_keys(&mut self, names: &[&'a str]) -> Result<&'a Keys<'a>> {
        if let Some(keys) = self.last_keys.filter(|keys| keys.names == names) {
            return Ok(keys);
        }
        let keys = self.build_keys(names)?;
        self.last_keys = (names.len() <= Keys::LINEAR_SEARCH_LIMIT).then_some(keys);
        Ok(keys)
    }

    /// As [`EvalContext::intern_keys`], for names that do not live as long as the result.
    pub(crate) fn intern_copied_keys(&mut self, names: &[&str]) -> Result<&'a Keys<'a>> {
        if let Some(keys) = self.last_keys.filter(|keys| keys.names == names) {
            return Ok(keys);
        }
        let copy = |name: &&str| self.scratch.alloc_str(name).ok_or_else(|| self.out_of_memory());
        let names = names.iter().map(copy).collect::<Result<Vec<&'a str>>>()?;
        self.intern_keys(&names)
    }

    fn build_keys(&self, names: &[&'a str]) -> Result<&'a Keys<'a>> {
        match names.len() > Keys::LINEAR_SEARCH_LIMIT {
            true => self.indexed_keys(names, &Index::from_names(names, self.scratch.hasher())),
            false => self.keys_with(names, None),
        }
    }

    /// Returns keys with an existing index.
    fn indexed_keys(&self, names: &[&'a str], index: &Index) -> Result<&'a Keys<'a>> {
        let index = self.scratch.alloc_slice(index.slots()).ok_or_else(|| self.out_of_memory())?;
        self.keys_with(names, Some(index))
    }

    fn keys_with(&self, names: &[&'a str], index: Option<&'a [u32]>) -> Result<&'a Keys<'a>> {
        let names = self.scratch.alloc_slice(names).ok_or_else(|| self.out_of_memory())?;
        let index = index.map(|index| KeyIndex::HashTable(index, self.scratch.hasher()));
        self.scratch.alloc(Keys { names, index }).ok_or_else(|| self.out_of_memory())
    }

    /// Creates a number that keeps its digits.
    pub(crate) fn number_with_digits(&mut self, lexeme: &'a str) -> Result<Value<'a>> {
        let value = lexeme.parse().unwrap_or(f64::NAN);
        let number = self.scratch.alloc(NumberWithDigits { value, lexeme }).ok_or_else(|| self.out_of_memory())?;
        Ok(Value::Number(Number::with_digits(number)))
    }

    /// `String(x)`.
    #[inline]
    pub(crate) fn convert_to_text(&mut self, value: Value<'a>) -> Result<&'a str> {
        match value {
            Value::String(text) => Ok(text),
            other => self.convert_other_to_text(other),
        }
    }

    fn convert_other_to_text(&mut self, value: Value<'a>) -> Result<&'a str> {
        match value {
            Value::Number(number) => self.short_text(NumberBuffer::new().text(number.value())),
            Value::Bool(value) => Ok(if value { "true" } else { "false" }),
            other => self.build_text(|out| convert::write_text(other, out)),
        }
    }

    /// Copies a string of less than 64 bytes, which costs no fuel.
    fn short_text(&mut self, text: &str) -> Result<&'a str> {
        if text.len() > self.limits.string {
            return Err(text_too_long(self.limits.string));
        }
        self.scratch.alloc_str(text).ok_or_else(|| self.out_of_memory())
    }

    /// Converts leading numbers, booleans and strings as [`EvalContext::convert_to_text`] does, and returns how many: none
    /// of a few values, for which this takes longer.
    pub(crate) fn convert_scalars_to_text(&mut self, values: &mut [Value<'a>]) -> usize {
        const MIN_VALUES: usize = 16;
        if values.len() < MIN_VALUES || self.limits.string < MAX_NUMBER_LEN {
            return 0;
        }
        let mut converted = 0;
        for block in values.chunks_mut(TEXT_BLOCK_SIZE) {
            let count = self.convert_block_to_text(block);
            converted += count;
            if count < block.len() {
                break;
            }
        }
        converted
    }

    /// Hot: the text of all numbers of a block is checked and allocated once.
    fn convert_block_to_text(&mut self, values: &mut [Value<'a>]) -> usize {
        let (mut digits, mut buffer) = (std::mem::take(&mut self.text_buffer).into_bytes(), NumberBuffer::new());
        let (mut ends, mut count) = ([0; TEXT_BLOCK_SIZE], 0);
        digits.clear();
        for value in &*values {
            match value {
                Value::Number(number) => buffer.append_to(&mut digits, number.value()),
                Value::String(_) | Value::Bool(_) => {}
                _ => break,
            }
            ends[count] = digits.len();
            count += 1;
        }
        self.text_buffer = String::from_utf8(digits).unwrap_or_default();
        let Some(text) = self.scratch.alloc_str(&self.text_buffer) else { return 0 };
        let mut start = 0;
        for (value, end) in values.iter_mut().zip(&ends[..count]) {
            match value {
                Value::Number(_) => *value = Value::String(&text[start..*end]),
                Value::Bool(known) => *value = Value::String(if *known { "true" } else { "false" }),
                _ => {}
            }
            start = *end;
        }
        count
    }

    /// Concatenates two strings.
    pub(crate) fn concat(&mut self, left: &str, right: &str) -> Result<&'a str> {
        if left.len() + right.len() < 64 && left.len() + right.len() <= self.limits.string {
            self.text_buffer.clear();
            self.text_buffer.push_str(left);
            self.text_buffer.push_str(right);
            return self.scratch.alloc_str(&self.text_buffer).ok_or_else(|| self.out_of_memory());
        }
        self.build_text(|out| {
            fmt::Write::write_str(out, left)?;
            fmt::Write::write_str(out, right)
        })
    }

    /// Returns the string that `write` writes.
    pub(crate) fn build_text(&mut self, write: impl FnOnce(&mut LimitedText) -> fmt::Result) -> Result<&'a str> {
        let available = self.limits.memory.saturating_sub(self.reserved + self.scratch.size());
        let mut text = std::mem::take(&mut self.text_buffer);
        text.clear();
        let mut out = LimitedText { text, limit: self.limits.string.min(available) };
        if write(&mut out).is_err() {
            return Err(text_too_long(out.limit));
        }
        let text = out.text;
        self.charge_bytes(text.len())?;
        if text.capacity() <= TEXT_BUFFER_SIZE {
            let copy = self.scratch.alloc_str(&text).ok_or_else(|| self.out_of_memory())?;
            self.text_buffer = text;
            return Ok(copy);
        }
        // The string exists twice for a moment.
        self.reserve(text.capacity())?;
        let copy = self.scratch.alloc_str(&text).ok_or_else(|| self.out_of_memory())?;
        self.release(text.capacity());
        Ok(copy)
    }

    /// Returns the string of `len` bytes that `fill` writes over zeros. It must write UTF-8.
    pub(crate) fn text_of_len(&mut self, len: usize, fill: impl FnOnce(&mut [u8])) -> Result<&'a str> {
        let available = self.limits.memory.saturating_sub(self.reserved + self.scratch.size());
        let limit = self.limits.string.min(available);
        if len > limit {
            return Err(text_too_long(limit));
        }
        self.charge_bytes(len)?;
        let bytes = self.scratch.alloc_slice_filled(len, 0).ok_or_else(|| self.out_of_memory())?;
        fill(bytes);
        Ok(str::from_utf8(bytes).expect("`fill` writes whole strings"))
    }

    /// Returns true if two values are equal in the sense of `==`.
    pub(crate) fn is_equal(&mut self, a: Value<'a>, b: Value<'a>) -> Result<bool> {
        if let (Value::String(a), Value::String(b)) = (a, b) {
            self.charge_bytes(a.len().min(b.len()))?;
            return Ok(a == b);
        }
        let mut rounded = None;
        let is_equal = compare::is_equal_as_doubles(a, b, |units| self.charge(units), |number| rounded = Some(number))?;
        if let Some(number) = rounded.filter(|_| is_equal) {
            self.warn_rounded(number)?;
        }
        Ok(is_equal)
    }
}

/// Returns a part of a list for a few consecutive positions, which need no list of positions. Longer runs become rows,
/// so that columns can be used.
fn contiguous_part<'a>(arena: &'a Arena, base: ContainerId, rows: &[u32]) -> Option<Value<'a>> {
    let first = *rows.first()?;
    let are_consecutive = rows.len() < MIN_ROWS && rows.windows(2).all(|pair| pair[0] + 1 == pair[1]);
    are_consecutive.then_some(Value::Array(Array(Items::Slice { arena, base, first, len: rows.len() as u32 })))
}

/// Adds the path of the item for which evaluation failed.
#[cold]
fn with_item_path(error: Error, item: Value<'_>) -> Error {
    match item.container() {
        Some((arena, id)) if error.data_path().is_none() => error.with_data_path(arena.path_of(id)),
        _ => error,
    }
}

#[cold]
fn text_too_long(limit: usize) -> Error {
    let message = format!("The query builds a string of more than {limit} bytes");
    Error::new(Code::OutOfMemory, message).with_limit("memory", limit as u64)
}

/// String buffer with a size limit.
pub(crate) struct LimitedText {
    text: String,
    limit: usize,
}

impl LimitedText {
    /// Appends two strings, or neither.
    #[inline]
    pub(crate) fn push_pair(&mut self, first: &str, second: &str) -> fmt::Result {
        self.ensure_capacity(first.len() + second.len())?;
        self.text.push_str(first);
        self.text.push_str(second);
        Ok(())
    }

    #[inline]
    fn ensure_capacity(&mut self, bytes: usize) -> fmt::Result {
        let needed = self.text.len() + bytes;
        if needed <= self.text.capacity().min(self.limit) { Ok(()) } else { self.grow(needed) }
    }

    #[cold]
    fn grow(&mut self, needed: usize) -> fmt::Result {
        if needed > self.limit {
            return Err(fmt::Error);
        }
        // Doubles the capacity, up to the limit.
        let new_capacity = (2 * needed).min(self.limit);
        self.text.reserve_exact(new_capacity - self.text.len());
        Ok(())
    }
}

impl fmt::Write for LimitedText {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.ensure_capacity(text.len())?;
        self.text.push_str(text);
        Ok(())
    }
}

/// Builder of an object; the last of equal keys wins. Few fields are on the stack of collected values, as alternating
/// keys and values; many are in a table.
pub(crate) struct ObjectBuilder<'a> {
    base: usize,
    entries: Option<Entries<'a, Value<'a>>>,
}

impl<'a> ObjectBuilder<'a> {
    /// Number of fields above which the builder uses a table.
    const INLINE_LIMIT: usize = 16;

    pub fn new(cx: &EvalContext<'a>) -> ObjectBuilder<'a> {
        ObjectBuilder { base: cx.mark(), entries: None }
    }

    /// Adds a field, or replaces the value of its key.
    pub fn insert(&mut self, cx: &mut EvalContext<'a>, name: &'a str, value: Value<'a>) -> Result<()> {
        if let Some(entries) = &mut self.entries {
            *entries.entry(cx, name, || value)? = value;
            return Ok(());
        }
        cx.charge_bytes(name.len())?;
        let (pairs, _) = cx.collected(self.base).as_chunks_mut::<2>();
        let is_known = |pair: &&mut [Value<'a>; 2]| matches!(pair[0], Value::String(known) if known == name);
        if let Some(pair) = pairs.iter_mut().find(is_known) {
            pair[1] = value;
            return Ok(());
        }
        if pairs.len() == ObjectBuilder::INLINE_LIMIT {
            return self.spill_to_entries(cx, name, value);
        }
        cx.push(Value::String(name))?;
        cx.push(value)
    }

    /// Moves the fields into a table.
    #[cold]
    fn spill_to_entries(&mut self, cx: &mut EvalContext<'a>, name: &'a str, value: Value<'a>) -> Result<()> {
        let pairs: Vec<(&'a str, Value<'a>)> = self.pairs(cx).collect();
        cx.discard_collected(self.base);
        let entries = self.entries.insert(Entries::new());
        for (name, value) in pairs.into_iter().chain([(name, value)]) {
            entries.entry(cx, name, || value)?;
        }
        Ok(())
    }

    fn pairs(&self, cx: &mut EvalContext<'a>) -> impl ExactSizeIterator<Item = (&'a str, Value<'a>)> {
        let (pairs, _) = cx.collected(self.base).as_chunks::<2>();
        pairs.iter().map(|pair| (pair[0].as_str().unwrap_or_default(), pair[1]))
    }

    #[cold]
    fn into_reordered(self, cx: &mut EvalContext<'a>) -> Result<Value<'a>> {
        let mut entries = Entries::new();
        let pairs: Vec<(&'a str, Value<'a>)> = self.pairs(cx).collect();
        cx.discard_collected(self.base);
        for (name, value) in pairs {
            entries.entry(cx, name, || value)?;
        }
        entries.into_object(cx)
    }

    /// Returns the object.
    pub fn into_object(self, cx: &mut EvalContext<'a>) -> Result<Value<'a>> {
        if let Some(entries) = self.entries {
            return entries.into_object(cx);
        }
        let mut names = [""; ObjectBuilder::INLINE_LIMIT];
        let count = self.pairs(cx).len();
        names.iter_mut().zip(self.pairs(cx)).for_each(|(name, pair)| *name = pair.0);
        let names = &names[..count];
        if write::needs_reordering(names) {
            return self.into_reordered(cx);
        }
        let keys = cx.intern_keys(names)?;
        let values = {
            let stack = &cx.stack[self.base..];
            cx.scratch.alloc_slice_from_fn(count, |at| stack[2 * at + 1])
        };
        cx.discard_collected(self.base);
        let values = values.ok_or_else(|| cx.out_of_memory())?;
        let record = cx.scratch.alloc(Record { keys, values }).ok_or_else(|| cx.out_of_memory())?;
        Ok(record.row(0))
    }
}

/// Insertion-ordered map of keys and values. The caller decides whether a repeated key replaces its value.
pub(crate) struct Entries<'a, T> {
    names: Vec<&'a str>,
    pub values: Vec<T>,
    index: Index,
}

impl<'a, T> Entries<'a, T> {
    /// Bytes of a key and its value, including the spare capacity of growing vectors.
    const ENTRY_SIZE: usize = 2 * (size_of::<&str>() + size_of::<T>() + 2 * size_of::<u32>());

    pub fn new() -> Entries<'a, T> {
        Entries { names: Vec::new(), values: Vec::new(), index: Index::default() }
    }

    /// Returns the value of a key; inserts the result of `make` if the key is new.
    pub fn entry(&mut self, cx: &mut EvalContext<'a>, name: &'a str, make: impl FnOnce() -> T) -> Result<&mut T> {
        let index = self.entry_index(cx, name, make)?;
        Ok(&mut self.values[index])
    }

    /// Returns the index of a key among the values; inserts the result of `make` if the key is new.
    pub fn entry_index(&mut self, cx: &mut EvalContext<'a>, name: &'a str, make: impl FnOnce() -> T) -> Result<usize> {
        cx.charge_bytes(name.len())?;
        if let Some(index) = self.index.find_or_add(name, &self.names, cx.scratch.hasher()) {
            return Ok(index);
        }
        cx.reserve(Self::ENTRY_SIZE)?;
        self.names.push(name);
        self.values.push(make());
        Ok(self.values.len() - 1)
    }

    /// Returns keys and values in JavaScript's order: array indexes first, ascending.
    pub fn into_js_order(self, cx: &mut EvalContext<'a>) -> (Vec<&'a str>, Vec<T>) {
        cx.release(self.names.len() * Self::ENTRY_SIZE);
        self.sort_js_order()
    }

    fn sort_js_order(self) -> (Vec<&'a str>, Vec<T>) {
        write::in_js_order(self.names, self.values)
    }
}

impl<'a, T> Entries<'a, T> {
    /// Builds the object of the collected entries; `value` maps its values.
    pub fn into_object_by(self, cx: &mut EvalContext<'a>, value: impl Fn(&T) -> Value<'a>) -> Result<Value<'a>> {
        // The entries stay allocated until the object is built.
        let entry_bytes = self.names.len() * Self::ENTRY_SIZE;
        let in_order = self.names.len() > Keys::LINEAR_SEARCH_LIMIT && !write::needs_reordering(&self.names);
        let (keys, values) = if in_order {
            (cx.indexed_keys(&self.names, &self.index)?, self.values)
        } else {
            let (names, values) = self.sort_js_order();
            (cx.intern_keys(&names)?, values)
        };
        let values =
            cx.scratch.alloc_slice_from_fn(values.len(), |at| value(&values[at])).ok_or_else(|| cx.out_of_memory())?;
        let record = cx.scratch.alloc(Record { keys, values }).ok_or_else(|| cx.out_of_memory())?;
        cx.release(entry_bytes);
        Ok(record.row(0))
    }
}

impl<'a> Entries<'a, Value<'a>> {
    /// Builds the object of the collected entries.
    pub fn into_object(self, cx: &mut EvalContext<'a>) -> Result<Value<'a>> {
        self.into_object_by(cx, |value| *value)
    }
}
