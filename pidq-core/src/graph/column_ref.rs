//! Borrowed columns for callers that build tables, such as data frames.

use super::Graph;
use super::column::{Column, MIN_ROWS};
use crate::arena::{Arena, ContainerId, Kind};
use crate::value::{Array, Items, Value};

/// A field of the items of an array, backed by the column of the whole array.
#[derive(Clone, Copy, Debug)]
pub struct ColumnRef<'a> {
    name: &'a str,
    arena: &'a Arena,
    column: &'a Column,
    rows: Option<&'a [u32]>,
}

/// Fewer rows than one in this many are read faster item by item than by scanning the column.
const SPARSE_FACTOR: usize = 16;

/// Limit of keys: wider objects are read one by one, since columns are cached and the cache is small.
const MAX_KEYS: usize = 32;

impl<'a> ColumnRef<'a> {
    /// Returns the key in the objects.
    pub fn name(&self) -> &'a str {
        self.name
    }

    /// Returns the rows of the column, in the order of the objects; `None` means all rows in order.
    pub fn rows(&self) -> Option<&'a [u32]> {
        self.rows
    }

    /// The number of rows of the column. The objects may be a subset.
    pub fn column_len(&self) -> usize {
        self.column.len()
    }

    /// Returns the code of each row and the values, if the column is dictionary-encoded.
    pub fn codes(&self) -> Option<(&'a [u8], Vec<Value<'a>>)> {
        let (codes, values) = self.column.codes()?;
        Some((codes, values.iter().map(|value| Value::stored(self.arena, value.cell.or_null())).collect()))
    }

    /// Returns the concatenated strings of the column and the offset of each; then the end of the last one. `None`
    /// unless all rows of the column are short strings.
    pub fn strings(&self) -> Option<(&'a str, &'a [u32])> {
        let is_sparse = self.rows.is_some_and(|rows| rows.len() * SPARSE_FACTOR < self.column.len());
        if is_sparse {
            return None;
        }
        self.column.strings(self.arena).map(|texts| texts.buffer_and_offsets())
    }

    /// Returns the number of each row, NaN for null. `None` if any row holds something else.
    pub fn numbers(&self) -> Option<&'a [f64]> {
        let numbers = self.column.numbers(self.arena);
        numbers.is_numeric_or_null.then_some(&numbers.values)
    }

    /// Returns the value in a row of the column.
    #[inline]
    pub fn value(&self, row: u32) -> Value<'a> {
        Value::stored(self.arena, self.column.cell(row))
    }
}

/// Returns the fields of an array of objects; `None` unless they are fields of one array of this document.
pub(super) fn columns_of<'a>(graph: &'a Graph, list: Array<'a>) -> Option<Vec<ColumnRef<'a>>> {
    if list.len() < MIN_ROWS {
        return None;
    }
    match list.0 {
        Items::Table(table) => {
            let origin = table.origin.filter(|_| std::ptr::eq(table.arena, graph.arena()))?;
            let fields = table.keys.names.iter().copied().zip(origin.paths.iter().copied());
            columns(graph, origin.list, origin.rows, fields)
        }
        Items::Rows(rows) => stored_columns(graph, rows.arena, rows.base, Some(rows.rows)),
        Items::Stored(arena, list) => stored_columns(graph, arena, list, None),
        _ => None,
    }
}

/// Returns all fields of stored objects.
fn stored_columns<'a>(
    graph: &'a Graph,
    arena: &'a Arena,
    list: ContainerId,
    rows: Option<&'a [u32]>,
) -> Option<Vec<ColumnRef<'a>>> {
    let is_sparse = rows.is_some_and(|rows| rows.len() * SPARSE_FACTOR < arena.items(list).len());
    if is_sparse || !std::ptr::eq(arena, graph.arena()) {
        return None;
    }
    let names = keys(arena, list, rows)?;
    let paths: Vec<&[&str]> = names.iter().map(std::slice::from_ref).collect();
    columns(graph, list, rows, names.iter().copied().zip(paths))
}

/// Returns the keys of objects in order of first appearance; `None` if an item is not an object or there are too many
/// keys.
fn keys<'a>(arena: &'a Arena, list: ContainerId, rows: Option<&[u32]>) -> Option<Vec<&'a str>> {
    let items = arena.items(list);
    let mut names: Vec<&'a str> = Vec::new();
    let mut known: Vec<bool> = Vec::new();
    for at in 0..rows.map_or(items.len(), <[u32]>::len) {
        let row = rows.map_or(at, |rows| rows[at] as usize);
        let Kind::Object(id) = items[row].kind() else { return None };
        let shape = arena.shape(id).0 as usize;
        if known.get(shape) == Some(&true) {
            continue;
        }
        known.resize(known.len().max(shape + 1), false);
        known[shape] = true;
        let keys = arena.keys(id).iter().map(|key| arena.symbol_text(*key));
        keys.for_each(|key| names.extend(Some(key).filter(|key| !names.contains(key))));
        if names.len() > MAX_KEYS {
            return None;
        }
    }
    Some(names)
}

fn columns<'a, 'p>(
    graph: &'a Graph,
    list: ContainerId,
    rows: Option<&'a [u32]>,
    fields: impl Iterator<Item = (&'a str, &'p [&'p str])>,
) -> Option<Vec<ColumnRef<'a>>> {
    let field = |(name, path): (&'a str, &'p [&'p str])| {
        let column = graph.column(list, path.iter().copied())?;
        Some(ColumnRef { name, arena: graph.arena(), column, rows })
    };
    fields.map(field).collect()
}
