//! Views of values: from a loaded document or built by a run. `Copy`, three words wide, never cloned.

pub(crate) mod compare;
pub(crate) mod convert;
mod deserialize;
pub(crate) mod js_number_format;
mod keys;
mod owned;
mod pointer;
pub(crate) mod prototype;
pub(crate) mod write;

use std::fmt;

use crate::arena::{Arena, Cell, ContainerId, ItemSpans, Kind};
use crate::error::Result;

pub(crate) use keys::{Index, KeyIndex, KeyLookup, Keys};
pub use owned::{OwnedNumber, OwnedObject, OwnedValue};
pub use write::OutputChunk;

/// A JSON value or `undefined`. Borrows from the graph or from the scratch memory of its run.
#[derive(Clone, Copy)]
pub enum Value<'a> {
    /// JavaScript's `undefined`: omitted from objects, `null` in arrays and as the result of a query.
    Undefined,
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, with its source text if it comes from a document.
    Number(Number<'a>),
    /// A string.
    String(&'a str),
    /// An array.
    Array(Array<'a>),
    /// An object.
    Object(Object<'a>),
}

impl<'a> Value<'a> {
    /// Returns the value of a cell.
    ///
    /// Hot: called for every value that is read.
    #[inline]
    pub(crate) fn stored(arena: &'a Arena, cell: Cell) -> Value<'a> {
        match cell.kind() {
            Kind::Null => Value::Null,
            Kind::Bool(value) => Value::Bool(value),
            Kind::Number(value) => Value::number(value),
            Kind::Lexeme(index) => Value::Number(Number(NumberRepr::Stored(arena, index))),
            Kind::Symbol(_) | Kind::Source(..) | Kind::Text(_) => Value::String(arena.string(cell)),
            Kind::Array(id) => Value::Array(Array(Items::Stored(arena, id))),
            Kind::Object(id) => Value::Object(Object(Fields::Stored(arena, id))),
        }
    }

    /// Returns a computed number.
    #[inline]
    pub(crate) fn number(value: f64) -> Value<'a> {
        Value::Number(Number(NumberRepr::Computed(value)))
    }

    /// Returns the value of a key; `None` for a missing one, and for a value that is not an object.
    ///
    /// ```
    /// use pidq_core::{Graph, Value};
    ///
    /// let graph = Graph::from_json(r#"{"nodes": [{"tag": "P-101"}]}"#)?;
    /// let node = graph.root().get("nodes").and_then(|nodes| nodes.at(0));
    /// assert_eq!(node.and_then(|node| node.get("tag")).and_then(Value::as_str), Some("P-101"));
    /// # Ok::<(), pidq_core::Error>(())
    /// ```
    pub fn get(self, key: &str) -> Option<Value<'a>> {
        self.as_object().and_then(|object| object.get(key))
    }

    /// Returns the item at an index, from 0; `None` for a missing one, and for a value that is not an array.
    pub fn at(self, index: usize) -> Option<Value<'a>> {
        self.as_array().and_then(|array| array.get(index))
    }

    /// Returns the value at a JSON Pointer (RFC 6901), such as `/nodes/0/tag`.
    ///
    /// ```
    /// use pidq_core::{Graph, Value};
    ///
    /// let graph = Graph::from_json(r#"{"nodes": [{"line no.": 7}]}"#)?;
    /// assert_eq!(graph.root().pointer("/nodes/0/line no.").and_then(Value::as_i64), Some(7));
    /// assert!(graph.root().pointer("/nodes/1").is_none());
    /// # Ok::<(), pidq_core::Error>(())
    /// ```
    pub fn pointer(self, pointer: &str) -> Option<Value<'a>> {
        pointer::find(self, pointer, |value, step| match value {
            Value::Array(array) => array.get(pointer::index(step)?),
            Value::Object(object) => object.get(step),
            _ => None,
        })
    }

    /// Iterates over the items of an array; over nothing for any other value.
    pub fn items(self) -> impl ExactSizeIterator<Item = Value<'a>> + Clone {
        self.as_array().unwrap_or(Array(Items::Built(&[]))).iter()
    }

    /// Iterates over the keys and values of an object; over nothing for any other value.
    pub fn entries(self) -> impl ExactSizeIterator<Item = (&'a str, Value<'a>)> + Clone {
        self.as_object()
            .unwrap_or(Object(Fields::Built(&Record { keys: &Keys { names: &[], index: None }, values: &[] }, 0)))
            .iter()
    }

    /// Returns the value if it is a boolean.
    pub fn as_bool(self) -> Option<bool> {
        match self {
            Value::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the value if it is a whole number that an `i64` can hold, exactly.
    pub fn as_i64(self) -> Option<i64> {
        match self {
            Value::Number(number) => deserialize::whole(number).and_then(deserialize::Whole::as_i64),
            _ => None,
        }
    }

    /// Returns the value if it is a number.
    pub fn as_f64(self) -> Option<f64> {
        match self {
            Value::Number(number) => Some(number.value()),
            _ => None,
        }
    }

    /// Returns the value if it is a string.
    pub fn as_str(self) -> Option<&'a str> {
        match self {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the value if it is an array.
    pub fn as_array(self) -> Option<Array<'a>> {
        match self {
            Value::Array(array) => Some(array),
            _ => None,
        }
    }

    /// Returns the value if it is an object.
    pub fn as_object(self) -> Option<Object<'a>> {
        match self {
            Value::Object(object) => Some(object),
            _ => None,
        }
    }

    /// Writes the value as JSON in chunks of about 64 KiB, at most `limit` bytes. Values that the query did not change
    /// are copied verbatim from the document.
    ///
    /// # Errors
    /// `PQ4003` above the limit, or what `sink` returns.
    pub fn write_json(self, limit: usize, sink: &mut dyn FnMut(&str) -> Result<()>) -> Result<()> {
        write::write_json(self, limit, sink)
    }

    /// Returns true for `null` and `undefined`.
    pub fn is_null(self) -> bool {
        matches!(self, Value::Null | Value::Undefined)
    }

    /// Returns the condition value for `filter` and `if`: true for all values but `null`, `0` and `false`.
    pub fn is_truthy(self) -> bool {
        match self {
            Value::Null => false,
            Value::Bool(value) => value,
            Value::Number(number) => number.value() != 0.0,
            _ => true,
        }
    }

    /// Returns JavaScript's condition value, used by `and`, `or` and `not`: false also for the empty string, NaN and
    /// `undefined`.
    pub(crate) fn is_truthy_in_javascript(self) -> bool {
        match self {
            Value::Undefined => false,
            Value::Number(number) => number.value() != 0.0 && !number.value().is_nan(),
            Value::String(text) => !text.is_empty(),
            other => other.is_truthy(),
        }
    }

    /// Returns `null`, `boolean`, `number`, `string`, `array` or `object`.
    pub fn type_name(self) -> &'static str {
        match self {
            Value::Undefined | Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        }
    }

    /// Returns the container of the document if the value is one.
    pub(crate) fn container(self) -> Option<(&'a Arena, ContainerId)> {
        match self {
            Value::Array(Array(Items::Stored(arena, id))) | Value::Object(Object(Fields::Stored(arena, id))) => {
                Some((arena, id))
            }
            _ => None,
        }
    }
}

impl From<f64> for Value<'_> {
    /// Returns a number. Infinity and NaN print as `null`.
    fn from(number: f64) -> Self {
        Value::number(number)
    }
}

impl From<bool> for Value<'_> {
    fn from(value: bool) -> Self {
        Value::Bool(value)
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Value::String(text)
    }
}

impl From<i32> for Value<'_> {
    fn from(number: i32) -> Self {
        Value::number(number.into())
    }
}

impl From<u32> for Value<'_> {
    fn from(number: u32) -> Self {
        Value::number(number.into())
    }
}

/// Numbers of further types. An integer beyond 2^53 becomes the nearest double; an [`OwnedValue`] has all its digits.
macro_rules! numbers {
    ($($number:ty),*) => {
        $(impl From<$number> for Value<'_> {
            fn from(number: $number) -> Self {
                Value::number(number as f64)
            }
        })*
    };
}

numbers!(u8, u16, i8, i16, f32, i64, u64, isize, usize);

impl PartialEq for Value<'_> {
    /// Compares by content, as `==` in a query does. Time and memory depend on the values.
    fn eq(&self, other: &Self) -> bool {
        compare::is_equal(*self, *other, |_| Ok(())).unwrap_or(false)
    }
}

impl PartialEq<str> for Value<'_> {
    fn eq(&self, text: &str) -> bool {
        self.as_str() == Some(text)
    }
}

impl PartialEq<&str> for Value<'_> {
    fn eq(&self, text: &&str) -> bool {
        self.as_str() == Some(*text)
    }
}

impl PartialEq<f64> for Value<'_> {
    fn eq(&self, number: &f64) -> bool {
        self.as_f64() == Some(*number)
    }
}

impl PartialEq<bool> for Value<'_> {
    fn eq(&self, other: &bool) -> bool {
        matches!(self, Value::Bool(value) if value == other)
    }
}

impl<'a> From<&'a String> for Value<'a> {
    fn from(text: &'a String) -> Self {
        Value::String(text)
    }
}

impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    /// Returns null for `None`.
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::Null, Into::into)
    }
}

impl fmt::Display for Value<'_> {
    /// Writes JSON.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&write::to_string(*self))
    }
}

impl fmt::Debug for Value<'_> {
    /// Writes the value as JSON.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&write::to_string(*self))
    }
}

/// A number: computed, or from a document with its source text.
#[derive(Clone, Copy)]
pub struct Number<'a>(NumberRepr<'a>);

#[derive(Clone, Copy)]
enum NumberRepr<'a> {
    Computed(f64),
    Stored(&'a Arena, u32),
    Owned(&'a OwnedNumber),
    /// Read from a string by a run.
    Read(&'a NumberWithDigits<'a>),
}

/// A number with its source text, which differs from JavaScript's text of the number.
#[derive(Clone, Copy)]
pub(crate) struct NumberWithDigits<'a> {
    pub value: f64,
    pub lexeme: &'a str,
}

impl<'a> Number<'a> {
    /// The largest magnitude up to which every integer is a double: 2^53.
    pub const MAX_EXACT_INTEGER: f64 = crate::arena::MAX_EXACT;

    pub(crate) fn with_digits(number: &'a NumberWithDigits<'a>) -> Number<'a> {
        Number(NumberRepr::Read(number))
    }

    /// Returns the value as a double.
    pub fn value(self) -> f64 {
        match self.0 {
            NumberRepr::Computed(value) => value,
            NumberRepr::Stored(arena, index) => arena.lexeme_value(index),
            NumberRepr::Owned(number) => number.value(),
            NumberRepr::Read(number) => number.value,
        }
    }

    /// Returns the source text if it differs from JavaScript's text of the number.
    pub fn lexeme(self) -> Option<&'a str> {
        match self.0 {
            NumberRepr::Computed(_) => None,
            NumberRepr::Stored(arena, index) => Some(arena.lexeme(index).1),
            NumberRepr::Owned(number) => number.lexeme(),
            NumberRepr::Read(number) => Some(number.lexeme),
        }
    }
}

/// An array of values.
#[derive(Clone, Copy)]
pub struct Array<'a>(pub(crate) Items<'a>);

/// Storage of an array's items. Only this module and the column code of `eval` distinguish the variants.
#[derive(Clone, Copy)]
pub(crate) enum Items<'a> {
    Stored(&'a Arena, ContainerId),
    /// Selected items of a stored array.
    Rows(&'a Rows<'a>),
    /// Adjacent cells.
    Cells(&'a CellList<'a>),
    /// Objects with the same fields of selected items.
    Table(&'a Table<'a>),
    /// A slice of a stored array: `len` items from `first`. Its fields are inline and not in a struct of their own, so
    /// that values are three words wide and not four.
    Slice {
        arena: &'a Arena,
        base: ContainerId,
        first: u32,
        len: u32,
    },
    /// Values built by a run.
    Built(&'a [Value<'a>]),
    /// The objects of all rows of a record.
    Records(&'a Record<'a>),
    /// Values of the embedding program.
    Owned(&'a [OwnedValue]),
}

/// Selected items of a stored array, in any order.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a> {
    pub arena: &'a Arena,
    pub base: ContainerId,
    pub rows: &'a [u32],
    /// Bytes of the items of the stored array in the input, if they are known and can be copied with their commas.
    pub spans: Option<&'a ItemSpans>,
}

/// Values of a document, or numbers and booleans, in one slice.
#[derive(Clone, Copy)]
pub(crate) struct CellList<'a> {
    pub arena: &'a Arena,
    pub cells: &'a [Cell],
}

/// Objects with the same keys whose values come from a document: `pick`, without an object for each row.
#[derive(Clone, Copy)]
pub(crate) struct Table<'a> {
    pub arena: &'a Arena,
    pub keys: &'a Keys<'a>,
    /// The cells of all objects, row by row, one for every key.
    pub cells: &'a [Cell],
    pub len: u32,
    /// Source of the values, if all are fields of one array.
    pub origin: Option<&'a Origin<'a>>,
}

/// Fields of selected items of a stored array.
#[derive(Clone, Copy)]
pub(crate) struct Origin<'a> {
    pub list: ContainerId,
    /// The items; `None` for all in order.
    pub rows: Option<&'a [u32]>,
    /// By key of the table: the path to its values.
    pub paths: &'a [&'a [&'a str]],
}

impl<'a> Table<'a> {
    /// Returns the values of an object.
    pub fn row(&self, row: u32) -> &'a [Cell] {
        let width = self.keys.names.len();
        &self.cells[row as usize * width..][..width]
    }
}

/// Arrays of values are the structure that queries build most.
const _: () = assert!(size_of::<Value<'_>>() <= 3 * size_of::<u64>());

/// Returns the cells of a slice of a stored array.
fn slice_cells(arena: &Arena, base: ContainerId, first: u32, len: u32) -> &[Cell] {
    arena.cells(arena.container(base).first + first, len)
}

impl<'a> Array<'a> {
    /// The array without items.
    pub(crate) const EMPTY: Array<'a> = Array(Items::Built(&[]));

    /// Returns the length of its JSON text in the document, if it is a stored array.
    pub(crate) fn text_size(self) -> usize {
        match self.0 {
            Items::Stored(arena, id) => arena.container_text(id).len(),
            _ => 0,
        }
    }

    /// Returns the number of items.
    pub fn len(self) -> usize {
        match self.0 {
            Items::Stored(arena, id) => arena.container(id).extent as usize,
            Items::Rows(rows) => rows.rows.len(),
            Items::Cells(list) => list.cells.len(),
            Items::Table(table) => table.len as usize,
            Items::Slice { len, .. } => len as usize,
            Items::Built(items) => items.len(),
            Items::Records(record) => record.rows(),
            Items::Owned(items) => items.len(),
        }
    }

    /// Returns true if there are no items.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Returns the item at an index, from 0.
    pub fn get(self, index: usize) -> Option<Value<'a>> {
        match self.0 {
            Items::Stored(arena, id) => arena.items(id).get(index).map(|cell| Value::stored(arena, *cell)),
            Items::Rows(rows) => rows.rows.get(index).map(|row| rows.item(*row)),
            Items::Cells(list) => list.cells.get(index).map(|cell| Value::stored(list.arena, *cell)),
            Items::Table(table) if index >= table.len as usize => None,
            Items::Table(table) => Some(Value::Object(Object(Fields::Row(table, index as u32)))),
            Items::Slice { arena, base, first, len } => {
                slice_cells(arena, base, first, len).get(index).map(|cell| Value::stored(arena, *cell))
            }
            Items::Built(items) => items.get(index).copied(),
            Items::Records(record) => (index < record.rows()).then(|| record.row(index as u32)),
            Items::Owned(items) => items.get(index).map(OwnedValue::as_value),
        }
    }

    /// Returns the items if they are adjacent in a document.
    #[inline]
    pub(crate) fn cells(self) -> Option<(&'a Arena, &'a [Cell])> {
        match self.0 {
            Items::Stored(arena, id) => Some((arena, arena.items(id))),
            Items::Slice { arena, base, first, len } => Some((arena, slice_cells(arena, base, first, len))),
            Items::Cells(list) => Some((list.arena, list.cells)),
            _ => None,
        }
    }

    /// Iterates over the items.
    pub fn iter(self) -> impl ExactSizeIterator<Item = Value<'a>> + Clone {
        match self.0 {
            Items::Stored(arena, id) => Iter::Cells(arena, arena.items(id).iter()),
            Items::Rows(rows) => Iter::Rows(rows.arena, rows.arena.items(rows.base), rows.rows.iter()),
            Items::Slice { arena, base, first, len } => Iter::Cells(arena, slice_cells(arena, base, first, len).iter()),
            Items::Cells(list) => Iter::Cells(list.arena, list.cells.iter()),
            Items::Built(items) => Iter::Values(items.iter()),
            Items::Table(_) | Items::Records(_) | Items::Owned(_) => Iter::Indexed(self, 0..self.len()),
        }
    }
}

/// Iterator over the items of an array.
#[derive(Clone)]
enum Iter<'a> {
    Cells(&'a Arena, std::slice::Iter<'a, Cell>),
    Rows(&'a Arena, &'a [Cell], std::slice::Iter<'a, u32>),
    Values(std::slice::Iter<'a, Value<'a>>),
    Indexed(Array<'a>, std::ops::Range<usize>),
}

impl<'a> Iterator for Iter<'a> {
    type Item = Value<'a>;

    #[inline]
    fn next(&mut self) -> Option<Value<'a>> {
        match self {
            Iter::Cells(arena, cells) => cells.next().map(|cell| Value::stored(arena, *cell)),
            Iter::Rows(arena, cells, rows) => rows.next().map(|row| Value::stored(arena, cells[*row as usize])),
            Iter::Values(values) => values.next().copied(),
            Iter::Indexed(array, indexes) => indexes.next().and_then(|index| array.get(index)),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = match self {
            Iter::Cells(_, cells) => cells.len(),
            Iter::Rows(_, _, rows) => rows.len(),
            Iter::Values(values) => values.len(),
            Iter::Indexed(_, indexes) => indexes.len(),
        };
        (left, Some(left))
    }
}

impl ExactSizeIterator for Iter<'_> {}

impl<'a> Rows<'a> {
    /// Returns the item in a row of the stored array.
    pub fn item(&self, row: u32) -> Value<'a> {
        let first = self.arena.container(self.base).first;
        Value::stored(self.arena, self.arena.cell(first + row))
    }
}

/// An object: keys and values in JavaScript's order.
#[derive(Clone, Copy)]
pub struct Object<'a>(pub(crate) Fields<'a>);

#[derive(Clone, Copy)]
pub(crate) enum Fields<'a> {
    Stored(&'a Arena, ContainerId),
    Row(&'a Table<'a>, u32),
    /// A row of a record.
    Built(&'a Record<'a>, u32),
    /// An object of the embedding program.
    Owned(&'a OwnedObject),
}

/// Objects built by a run, one per row. Those of one `map` or `pick` share their keys.
#[derive(Clone, Copy)]
pub(crate) struct Record<'a> {
    pub keys: &'a Keys<'a>,
    /// The values of all rows.
    pub values: &'a [Value<'a>],
}

impl<'a> Record<'a> {
    /// Returns the number of objects if they have keys.
    pub fn rows(&self) -> usize {
        self.values.len() / self.keys.names.len().max(1)
    }

    /// Returns the object in a row.
    pub fn row(&'a self, row: u32) -> Value<'a> {
        Value::Object(Object(Fields::Built(self, row)))
    }

    /// Returns the values of a row.
    pub fn values(&self, row: u32) -> &'a [Value<'a>] {
        let width = self.keys.names.len();
        &self.values[row as usize * width..][..width]
    }

    /// Returns the value of a key in a row.
    pub fn value(&self, row: u32, slot: usize) -> Value<'a> {
        self.values[row as usize * self.keys.names.len() + slot]
    }
}

impl<'a> Object<'a> {
    /// Returns the number of keys.
    pub fn len(self) -> usize {
        match self.0 {
            Fields::Stored(arena, id) => arena.keys(id).len(),
            Fields::Row(table, _) => table.keys.names.len(),
            Fields::Built(record, _) => record.keys.names.len(),
            Fields::Owned(object) => object.len(),
        }
    }

    /// Returns true if there are no keys.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Returns the value of a key.
    pub fn get(self, key: &str) -> Option<Value<'a>> {
        match self.0 {
            Fields::Stored(arena, id) => arena.field(id, key).map(|cell| Value::stored(arena, cell)),
            Fields::Row(table, row) => {
                table.keys.slot(key).map(|slot| Value::stored(table.arena, table.row(row)[slot]))
            }
            Fields::Built(record, row) => record.keys.slot(key).map(|slot| record.value(row, slot)),
            Fields::Owned(object) => object.get(key).map(OwnedValue::as_value),
        }
    }

    /// Returns the key and the value at an index, in the order of [`Object::iter`].
    pub fn entry(self, index: usize) -> Option<(&'a str, Value<'a>)> {
        (index < self.len()).then(|| (self.key(index), self.value(index)))
    }

    /// Returns the key at an index.
    pub(crate) fn key(self, slot: usize) -> &'a str {
        match self.0 {
            Fields::Stored(arena, id) => arena.symbol_text(arena.keys(id)[slot]),
            Fields::Row(table, _) => table.keys.names[slot],
            Fields::Built(record, _) => record.keys.names[slot],
            Fields::Owned(object) => object.key(slot),
        }
    }

    /// Returns the value at an index.
    pub(crate) fn value(self, slot: usize) -> Value<'a> {
        match self.0 {
            Fields::Stored(arena, id) => Value::stored(arena, arena.cell(arena.container(id).first + slot as u32)),
            Fields::Row(table, row) => Value::stored(table.arena, table.row(row)[slot]),
            Fields::Built(record, row) => record.value(row, slot),
            Fields::Owned(object) => object.values()[slot].as_value(),
        }
    }

    /// Returns an identifier of the keys: two objects of one graph or run with the same number of keys and the same
    /// identifier have the same keys in the same order. `None` if a field is `undefined`, which readers omit, and for an
    /// object of the embedding program.
    pub fn keys_id(self) -> Option<usize> {
        match self.0 {
            Fields::Stored(arena, id) => Some(arena.keys(id).as_ptr().addr()),
            Fields::Row(table, _) => Some(std::ptr::from_ref(table.keys).addr()),
            Fields::Built(record, row) => {
                let is_omitted = |value: &Value<'_>| matches!(value, Value::Undefined);
                let has_all = !record.values(row).iter().any(is_omitted);
                has_all.then(|| std::ptr::from_ref(record.keys).addr())
            }
            Fields::Owned(object) => Some(object.keys_id()),
        }
    }

    /// Iterates over the values.
    pub fn values(self) -> impl ExactSizeIterator<Item = Value<'a>> + Clone {
        match self.0 {
            Fields::Stored(arena, id) => Iter::Cells(arena, arena.fields(id).iter()),
            Fields::Row(table, row) => Iter::Cells(table.arena, table.row(row).iter()),
            Fields::Built(record, row) => Iter::Values(record.values(row).iter()),
            Fields::Owned(object) => Iter::Indexed(Array(Items::Owned(object.values())), 0..object.len()),
        }
    }

    /// Iterates over the keys and values.
    pub fn iter(self) -> impl ExactSizeIterator<Item = (&'a str, Value<'a>)> + Clone {
        (0..self.len()).map(move |slot| (self.key(slot), self.value(slot)))
    }
}
