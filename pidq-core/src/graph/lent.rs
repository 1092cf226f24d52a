//! Columns lent to callers that want columns themselves, such as tables of other programs.

use super::Graph;
use super::column::{Column, WORTH_IT};
use crate::arena::{Arena, ContainerId, Kind};
use crate::value::{Array, Items, Value};

/// A field of some items of a list, read from where all items have it side by side.
#[derive(Clone, Copy, Debug)]
pub struct Field<'a> {
    name: &'a str,
    arena: &'a Arena,
    column: &'a Column,
    rows: Option<&'a [u32]>,
}

/// With fewer rows of a list than one in so many, what looks at the whole list is slower.
const SPARSE: usize = 16;

/// Objects with more keys are read one by one: columns are kept, and there is room for few.
const MOST_KEYS: usize = 32;

impl<'a> Field<'a> {
    /// The key in the objects.
    pub fn name(&self) -> &'a str {
        self.name
    }

    /// The rows of the column, in the order of the objects; all of them in order where there are none.
    pub fn rows(&self) -> Option<&'a [u32]> {
        self.rows
    }

    /// The number of rows of the column, of which the objects may be some.
    pub fn height(&self) -> usize {
        self.column.len()
    }

    /// By row of the column: the number of its value; and the values. Where few values repeat.
    pub fn codes(&self) -> Option<(&'a [u8], Vec<Value<'a>>)> {
        let (codes, values) = self.column.codes()?;
        Some((codes, values.iter().map(|value| Value::stored(self.arena, value.cell.or_null())).collect()))
    }

    /// All texts of the column one after the other, and where each begins; then the end of the last one. Where all rows
    /// of the column are short texts.
    pub fn texts(&self) -> Option<(&'a str, &'a [u32])> {
        let is_sparse = self.rows.is_some_and(|rows| rows.len() * SPARSE < self.column.len());
        if is_sparse {
            return None;
        }
        self.column.texts(self.arena).map(|texts| texts.all())
    }

    /// By row of the column: its number, NaN where it has none. Where no row has anything else.
    pub fn numbers(&self) -> Option<&'a [f64]> {
        let numbers = self.column.numbers(self.arena);
        numbers.is_pure.then_some(&numbers.values)
    }

    /// The value in a row of the column.
    #[inline]
    pub fn value(&self, row: u32) -> Value<'a> {
        Value::stored(self.arena, self.column.cell(row))
    }
}

/// The fields of a list of objects; nothing where they are not fields of one list of this document.
pub(super) fn fields_of<'a>(graph: &'a Graph, list: Array<'a>) -> Option<Vec<Field<'a>>> {
    if list.len() < WORTH_IT {
        return None;
    }
    match list.0 {
        Items::Table(table) => {
            let origin = table.origin.filter(|_| std::ptr::eq(table.arena, graph.arena()))?;
            let fields = table.keys.names.iter().copied().zip(origin.paths.iter().copied());
            columns(graph, origin.list, origin.rows, fields)
        }
        Items::Rows(rows) => whole(graph, rows.arena, rows.base, Some(rows.rows)),
        Items::Stored(arena, list) => whole(graph, arena, list, None),
        _ => None,
    }
}

/// The fields of objects of the document as they are.
fn whole<'a>(graph: &'a Graph, arena: &'a Arena, list: ContainerId, rows: Option<&'a [u32]>) -> Option<Vec<Field<'a>>> {
    let is_sparse = rows.is_some_and(|rows| rows.len() * SPARSE < arena.items(list).len());
    if is_sparse || !std::ptr::eq(arena, graph.arena()) {
        return None;
    }
    let names = keys(arena, list, rows)?;
    let paths: Vec<&[&str]> = names.iter().map(std::slice::from_ref).collect();
    columns(graph, list, rows, names.iter().copied().zip(paths))
}

/// The keys of some objects in the order in which they first come; nothing where not all are objects, or they have many
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
        if names.len() > MOST_KEYS {
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
) -> Option<Vec<Field<'a>>> {
    let field = |(name, path): (&'a str, &'p [&'p str])| {
        let column = graph.column(list, path.iter().copied())?;
        Some(Field { name, arena: graph.arena(), column, rows })
    };
    fields.map(field).collect()
}
