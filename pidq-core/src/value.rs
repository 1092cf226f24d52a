//! Views of values: of a stored document, or built by a run. `Copy`, three words wide, nothing is ever cloned.

pub(crate) mod compare;
pub(crate) mod convert;
mod keys;
pub(crate) mod prototype;
pub(crate) mod write;

use std::fmt;

use crate::arena::{Arena, Cell, ContainerId, Kind, Layout};
use crate::error::Result;

pub(crate) use keys::{Index, KeyIndex, Keys, Places};
pub use write::Written;

/// A JSON value, or nothing. Borrows from the graph or from the scratch memory of its run.
#[derive(Clone, Copy)]
pub enum Value<'a> {
    /// No value: JavaScript's `undefined`. Left out of objects, `null` in arrays and as a whole result.
    Undefined,
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, with its text where it came from a document.
    Number(Number<'a>),
    /// A text.
    String(&'a str),
    /// A list.
    Array(Array<'a>),
    /// Keys and values.
    Object(Object<'a>),
}

impl<'a> Value<'a> {
    /// A cell of a document.
    ///
    /// Hot: every value that is read comes through here.
    #[inline]
    pub(crate) fn stored(arena: &'a Arena, cell: Cell) -> Value<'a> {
        match cell.kind() {
            Kind::Null => Value::Null,
            Kind::Bool(value) => Value::Bool(value),
            Kind::Number(value) => Value::number(value),
            Kind::Lexeme(index) => Value::Number(Number(Digits::Stored(arena, index))),
            Kind::Symbol(_) | Kind::Source(..) | Kind::Text(_) => Value::String(arena.string(cell)),
            Kind::Array(id) => Value::Array(Array(Items::Stored(arena, id))),
            Kind::Object(id) => Value::Object(Object(Fields::Stored(arena, id))),
        }
    }

    /// A computed number.
    #[inline]
    pub(crate) fn number(value: f64) -> Value<'a> {
        Value::Number(Number(Digits::Computed(value)))
    }

    /// The number that this is.
    pub fn as_f64(self) -> Option<f64> {
        match self {
            Value::Number(number) => Some(number.value()),
            _ => None,
        }
    }

    /// The text that this is.
    pub fn as_str(self) -> Option<&'a str> {
        match self {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// The list that this is.
    pub fn as_array(self) -> Option<Array<'a>> {
        match self {
            Value::Array(array) => Some(array),
            _ => None,
        }
    }

    /// The object that this is.
    pub fn as_object(self) -> Option<Object<'a>> {
        match self {
            Value::Object(object) => Some(object),
            _ => None,
        }
    }

    /// Writes the value as JSON text, in pieces of about 64 KiB, at most `limit` bytes. What a query passed through
    /// is copied as it stands in the document.
    ///
    /// # Errors
    /// `PQ4003` above the limit, or what `sink` returns.
    pub fn write_json(self, limit: usize, sink: &mut dyn FnMut(&str) -> Result<()>) -> Result<()> {
        write::write_json(self, limit, sink)
    }

    /// Whether this is `null` or no value.
    pub fn is_null(self) -> bool {
        matches!(self, Value::Null | Value::Undefined)
    }

    /// What `filter` and `if` take for true: all but `null`, `0` and `false`.
    pub fn is_truthy(self) -> bool {
        match self {
            Value::Null => false,
            Value::Bool(value) => value,
            Value::Number(number) => number.value() != 0.0,
            _ => true,
        }
    }

    /// What JavaScript, and so `and`, `or` and `not`, take for true: also not the empty text, NaN and no value.
    pub(crate) fn is_truthy_in_javascript(self) -> bool {
        match self {
            Value::Undefined => false,
            Value::Number(number) => number.value() != 0.0 && !number.value().is_nan(),
            Value::String(text) => !text.is_empty(),
            other => other.is_truthy(),
        }
    }

    /// `null`, `boolean`, `number`, `string`, `array` or `object`.
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

    /// The container of a document that this is.
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
    /// A number. Infinity and NaN print as `null`.
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

impl fmt::Debug for Value<'_> {
    /// The value as JSON.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&write::to_string(*self))
    }
}

/// A number: computed, or of a document with its text.
#[derive(Clone, Copy)]
pub struct Number<'a>(Digits<'a>);

#[derive(Clone, Copy)]
enum Digits<'a> {
    Computed(f64),
    Stored(&'a Arena, u32),
}

impl<'a> Number<'a> {
    /// The value as a double.
    pub fn value(self) -> f64 {
        match self.0 {
            Digits::Computed(value) => value,
            Digits::Stored(arena, index) => arena.lexeme_value(index),
        }
    }

    /// The text in the document, where it is not what JavaScript would print.
    pub fn lexeme(self) -> Option<&'a str> {
        match self.0 {
            Digits::Computed(_) => None,
            Digits::Stored(arena, index) => Some(arena.lexeme(index).1),
        }
    }
}

/// A list of values.
#[derive(Clone, Copy)]
pub struct Array<'a>(pub(crate) Items<'a>);

/// Where the items of a list are. The difference does not leave this room and the columns of `eval`.
#[derive(Clone, Copy)]
pub(crate) enum Items<'a> {
    Stored(&'a Arena, ContainerId),
    /// Some items of a stored list.
    Rows(&'a Rows<'a>),
    /// Values of a document, side by side.
    Cells(&'a CellList<'a>),
    /// Objects of the same fields of some items.
    Table(&'a Table<'a>),
    /// Neighbours in a stored list: its items from `first`, `len` of them. Its fields stand here and not in a struct of
    /// their own, so that values are three words wide and not four.
    Part {
        arena: &'a Arena,
        base: ContainerId,
        first: u32,
        len: u32,
    },
    /// Values that a run has built.
    Built(&'a [Value<'a>]),
    /// The objects of all rows of a record.
    Records(&'a Record<'a>),
}

/// Some items of a stored list, in any order.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a> {
    pub arena: &'a Arena,
    pub base: ContainerId,
    pub rows: &'a [u32],
    /// How the items of the stored list stand in its input, as far as that is known.
    pub layout: Layout,
}

/// Values of a document, or numbers and truth values, side by side.
#[derive(Clone, Copy)]
pub(crate) struct CellList<'a> {
    pub arena: &'a Arena,
    pub cells: &'a [Cell],
}

/// Objects with the same keys whose values are of a document: `pick`, without an object for each.
#[derive(Clone, Copy)]
pub(crate) struct Table<'a> {
    pub arena: &'a Arena,
    pub keys: &'a Keys<'a>,
    /// Object after object, each with a cell for every key.
    pub cells: &'a [Cell],
    pub len: u32,
    /// Where the values were read, if all are fields of one list.
    pub origin: Option<&'a Origin<'a>>,
}

/// Fields of some items of a stored list.
#[derive(Clone, Copy)]
pub(crate) struct Origin<'a> {
    pub list: ContainerId,
    /// The items; all in order where there are none.
    pub rows: Option<&'a [u32]>,
    /// By key of the table: the keys that lead to its values.
    pub paths: &'a [&'a [&'a str]],
}

impl<'a> Table<'a> {
    /// The values of an object.
    pub fn row(&self, row: u32) -> &'a [Cell] {
        let width = self.keys.names.len();
        &self.cells[row as usize * width..][..width]
    }
}

/// Lists of values are what queries build most.
const _: () = assert!(size_of::<Value<'_>>() == 3 * size_of::<usize>());

/// Neighbours in a stored list, which has them.
fn neighbours(arena: &Arena, base: ContainerId, first: u32, len: u32) -> &[Cell] {
    arena.cells(arena.container(base).first + first, len)
}

impl<'a> Array<'a> {
    /// Bytes of its JSON text, where it stands in a document as it is.
    pub(crate) fn text_size(self) -> usize {
        match self.0 {
            Items::Stored(arena, id) => arena.container_text(id).len(),
            _ => 0,
        }
    }

    /// The number of items.
    pub fn len(self) -> usize {
        match self.0 {
            Items::Stored(arena, id) => arena.container(id).extent as usize,
            Items::Rows(rows) => rows.rows.len(),
            Items::Cells(list) => list.cells.len(),
            Items::Table(table) => table.len as usize,
            Items::Part { len, .. } => len as usize,
            Items::Built(items) => items.len(),
            Items::Records(record) => record.rows(),
        }
    }

    /// Whether there are no items.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The item at a place, from 0.
    pub fn get(self, index: usize) -> Option<Value<'a>> {
        match self.0 {
            Items::Stored(arena, id) => arena.items(id).get(index).map(|cell| Value::stored(arena, *cell)),
            Items::Rows(rows) => rows.rows.get(index).map(|row| rows.item(*row)),
            Items::Cells(list) => list.cells.get(index).map(|cell| Value::stored(list.arena, *cell)),
            Items::Table(table) if index >= table.len as usize => None,
            Items::Table(table) => Some(Value::Object(Object(Fields::Row(table, index as u32)))),
            Items::Part { arena, base, first, len } => {
                neighbours(arena, base, first, len).get(index).map(|cell| Value::stored(arena, *cell))
            }
            Items::Built(items) => items.get(index).copied(),
            Items::Records(record) => (index < record.rows()).then(|| record.row(index as u32)),
        }
    }

    /// The items, where they stand side by side in a document.
    #[inline]
    pub(crate) fn cells(self) -> Option<(&'a Arena, &'a [Cell])> {
        match self.0 {
            Items::Stored(arena, id) => Some((arena, arena.items(id))),
            Items::Part { arena, base, first, len } => Some((arena, neighbours(arena, base, first, len))),
            Items::Cells(list) => Some((list.arena, list.cells)),
            _ => None,
        }
    }

    /// The items in order.
    pub fn iter(self) -> impl ExactSizeIterator<Item = Value<'a>> + Clone {
        match self.0 {
            Items::Stored(arena, id) => Iter::Cells(arena, arena.items(id).iter()),
            Items::Rows(rows) => Iter::Rows(rows.arena, rows.arena.items(rows.base), rows.rows.iter()),
            Items::Part { arena, base, first, len } => Iter::Cells(arena, neighbours(arena, base, first, len).iter()),
            Items::Cells(list) => Iter::Cells(list.arena, list.cells.iter()),
            Items::Built(items) => Iter::Values(items.iter()),
            Items::Table(_) | Items::Records(_) => Iter::Places(self, 0..self.len()),
        }
    }
}

/// The items of a list, one after the other.
#[derive(Clone)]
enum Iter<'a> {
    Cells(&'a Arena, std::slice::Iter<'a, Cell>),
    Rows(&'a Arena, &'a [Cell], std::slice::Iter<'a, u32>),
    Values(std::slice::Iter<'a, Value<'a>>),
    Places(Array<'a>, std::ops::Range<usize>),
}

impl<'a> Iterator for Iter<'a> {
    type Item = Value<'a>;

    #[inline]
    fn next(&mut self) -> Option<Value<'a>> {
        match self {
            Iter::Cells(arena, cells) => cells.next().map(|cell| Value::stored(arena, *cell)),
            Iter::Rows(arena, cells, rows) => rows.next().map(|row| Value::stored(arena, cells[*row as usize])),
            Iter::Values(values) => values.next().copied(),
            Iter::Places(array, places) => places.next().and_then(|place| array.get(place)),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = match self {
            Iter::Cells(_, cells) => cells.len(),
            Iter::Rows(_, _, rows) => rows.len(),
            Iter::Values(values) => values.len(),
            Iter::Places(_, places) => places.len(),
        };
        (left, Some(left))
    }
}

impl ExactSizeIterator for Iter<'_> {}

impl<'a> Rows<'a> {
    /// The item in a row of the stored list.
    pub fn item(&self, row: u32) -> Value<'a> {
        let first = self.arena.container(self.base).first;
        Value::stored(self.arena, self.arena.cell(first + row))
    }
}

/// Keys and values, in the order in which JavaScript lists them.
#[derive(Clone, Copy)]
pub struct Object<'a>(pub(crate) Fields<'a>);

#[derive(Clone, Copy)]
pub(crate) enum Fields<'a> {
    Stored(&'a Arena, ContainerId),
    Row(&'a Table<'a>, u32),
    /// A row of a record.
    Built(&'a Record<'a>, u32),
}

/// Objects that a run has built, one row each. Those of one `map` or `pick` share their keys.
#[derive(Clone, Copy)]
pub(crate) struct Record<'a> {
    pub keys: &'a Keys<'a>,
    /// The values of all rows.
    pub values: &'a [Value<'a>],
}

impl<'a> Record<'a> {
    /// How many objects there are, where they have keys.
    pub fn rows(&self) -> usize {
        self.values.len() / self.keys.names.len().max(1)
    }

    /// The object in a row.
    pub fn row(&'a self, row: u32) -> Value<'a> {
        Value::Object(Object(Fields::Built(self, row)))
    }

    /// The values of a row.
    pub fn values(&self, row: u32) -> &'a [Value<'a>] {
        let width = self.keys.names.len();
        &self.values[row as usize * width..][..width]
    }

    /// The value of a key in a row.
    pub fn value(&self, row: u32, slot: usize) -> Value<'a> {
        self.values[row as usize * self.keys.names.len() + slot]
    }
}

impl<'a> Object<'a> {
    /// The number of keys.
    pub fn len(self) -> usize {
        match self.0 {
            Fields::Stored(arena, id) => arena.keys(id).len(),
            Fields::Row(table, _) => table.keys.names.len(),
            Fields::Built(record, _) => record.keys.names.len(),
        }
    }

    /// Whether there are no keys.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The value of a key.
    pub fn get(self, key: &str) -> Option<Value<'a>> {
        match self.0 {
            Fields::Stored(arena, id) => arena.field(id, key).map(|cell| Value::stored(arena, cell)),
            Fields::Row(table, row) => {
                table.keys.slot(key).map(|slot| Value::stored(table.arena, table.row(row)[slot]))
            }
            Fields::Built(record, row) => record.keys.slot(key).map(|slot| record.value(row, slot)),
        }
    }

    /// The key at a place.
    pub(crate) fn key(self, slot: usize) -> &'a str {
        match self.0 {
            Fields::Stored(arena, id) => arena.symbol_text(arena.keys(id)[slot]),
            Fields::Row(table, _) => table.keys.names[slot],
            Fields::Built(record, _) => record.keys.names[slot],
        }
    }

    /// The value at a place.
    pub(crate) fn value(self, slot: usize) -> Value<'a> {
        match self.0 {
            Fields::Stored(arena, id) => Value::stored(arena, arena.cell(arena.container(id).first + slot as u32)),
            Fields::Row(table, row) => Value::stored(table.arena, table.row(row)[slot]),
            Fields::Built(record, row) => record.value(row, slot),
        }
    }

    /// The values in order.
    pub(crate) fn values(self) -> impl ExactSizeIterator<Item = Value<'a>> + Clone {
        match self.0 {
            Fields::Stored(arena, id) => Iter::Cells(arena, arena.fields(id).iter()),
            Fields::Row(table, row) => Iter::Cells(table.arena, table.row(row).iter()),
            Fields::Built(record, row) => Iter::Values(record.values(row).iter()),
        }
    }

    /// The keys and values in order.
    pub fn iter(self) -> impl ExactSizeIterator<Item = (&'a str, Value<'a>)> + Clone {
        (0..self.len()).map(move |slot| (self.key(slot), self.value(slot)))
    }
}
