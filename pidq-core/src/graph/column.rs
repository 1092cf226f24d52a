//! One field of the items of an array as a column: input of conditions, keys and sorts.
//!
//! Built when a query first reads the field, then cached. A column with few distinct values is dictionary-encoded: a
//! row is one byte, and work that depends only on this field is done once per value instead of once per row.

use std::hash::BuildHasher;
use std::sync::OnceLock;

use hashbrown::{DefaultHashBuilder, HashMap, HashTable};

use crate::arena::{Arena, Cell, ContainerId, Kind, ShapeId};
use crate::value::Value;
use crate::value::compare::{self, SortKey};

/// Minimum array length for columns; shorter arrays are faster item by item.
pub(crate) const MIN_ROWS: usize = 32;

/// A field of all items of an array.
#[derive(Debug)]
pub(crate) struct Column {
    cells: Cells,
    /// By key of the path: whether a lookup was made, and whether one succeeded.
    pub lookups: Box<[LookupResult]>,
    numbers: OnceLock<Numbers>,
    order: OnceLock<Order>,
    string_rows: OnceLock<StringRows>,
    texts: OnceLock<Option<Strings>>,
}

/// Result of the lookups of one key.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LookupResult {
    pub attempted: bool,
    pub found: bool,
}

#[derive(Debug)]
enum Cells {
    /// By row: the code of its value.
    Coded {
        codes: Box<[u8]>,
        values: Box<[Distinct]>,
    },
    Plain(Box<[Cell]>),
}

/// A value of a dictionary-encoded column. Codes follow the order of the first rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Distinct {
    pub cell: Cell,
    pub first_row: u32,
    pub count: u32,
}

/// Numbers of a column: NaN where a row has none.
#[derive(Debug)]
pub(crate) struct Numbers {
    pub values: Box<[f64]>,
    /// Every row has a number.
    pub is_complete: bool,
    /// Every row has a number or null.
    pub is_numeric_or_null: bool,
    /// Values are strictly increasing, as sequential ids are.
    is_ascending: bool,
}

/// Rows in the order of `sort`.
#[derive(Debug)]
pub(crate) struct Order {
    pub rows: Box<[u32]>,
    /// By row: the number of distinct smaller values.
    pub ranks: Box<[u32]>,
}

/// Index from strings to rows.
#[derive(Debug)]
struct StringRows {
    /// The first row of each string.
    table: HashTable<u32>,
    hasher: DefaultHashBuilder,
    /// By row: the next row with the same string.
    next: Box<[u32]>,
}

/// Strings of a column in one contiguous buffer. In the document they are scattered.
#[derive(Debug)]
pub(crate) struct Strings {
    bytes: String,
    /// By row: the offset of its string; then the end of the last one.
    starts: Box<[u32]>,
    is_ascii: bool,
}

/// Marks the absence of a row.
const NONE: u32 = u32::MAX;

/// Limit of distinct values for one-byte codes; above it, rows keep their cells.
const MAX_DISTINCT_VALUES: usize = 256;

impl Column {
    /// Builds the column of a field. Returns `None` if a part of the path is neither an object nor null: the evaluator
    /// defines the meaning of such a path.
    pub fn build<'p>(arena: &Arena, list: ContainerId, path: impl ExactSizeIterator<Item = &'p str>) -> Option<Column> {
        let mut reader = PathReader::new(path);
        let items = arena.items(list);
        let mut cells = Vec::with_capacity(items.len());
        for item in items {
            cells.push(reader.read(arena, *item)?);
        }
        let lookups = reader.steps.iter().map(|step| step.lookup).collect();
        let cells = coded(arena, &cells).unwrap_or_else(|| Cells::Plain(cells.into()));
        Some(Column {
            cells,
            lookups,
            numbers: OnceLock::new(),
            order: OnceLock::new(),
            string_rows: OnceLock::new(),
            texts: OnceLock::new(),
        })
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        match &self.cells {
            Cells::Coded { codes, .. } => codes.len(),
            Cells::Plain(cells) => cells.len(),
        }
    }

    /// Returns the value in a row; null where it is missing.
    pub fn cell(&self, row: u32) -> Cell {
        let cell = match &self.cells {
            Cells::Coded { codes, values } => values[codes[row as usize] as usize].cell,
            Cells::Plain(cells) => cells[row as usize],
        };
        cell.or_null()
    }

    /// Returns the codes by row and the values, if the column is dictionary-encoded.
    pub fn codes(&self) -> Option<(&[u8], &[Distinct])> {
        match &self.cells {
            Cells::Coded { codes, values } => Some((codes, values)),
            Cells::Plain(_) => None,
        }
    }

    /// Returns the cells by row, missing ones marked, if the column is not dictionary-encoded.
    pub fn cells(&self) -> Option<&[Cell]> {
        match &self.cells {
            Cells::Plain(cells) => Some(cells),
            Cells::Coded { .. } => None,
        }
    }

    pub fn numbers(&self, arena: &Arena) -> &Numbers {
        self.numbers.get_or_init(|| {
            let values: Box<[f64]> = (0..self.len() as u32).map(|row| number(arena, self.cell(row))).collect();
            let is_complete = !values.iter().any(|value| value.is_nan());
            let is_null = |row: usize| self.cell(row as u32) == Cell::NULL;
            let is_numeric_or_null = (0..self.len()).all(|row| !values[row].is_nan() || is_null(row));
            let is_ascending = values.is_sorted_by(|a, b| a < b);
            Numbers { values, is_complete, is_numeric_or_null, is_ascending }
        })
    }

    pub fn order(&self, arena: &Arena) -> &Order {
        self.order.get_or_init(|| match self.codes() {
            Some((codes, values)) => coded_order(arena, codes, values),
            None => self.sorted(arena),
        })
    }

    fn sorted(&self, arena: &Arena) -> Order {
        let value = |row: u32| Value::stored(arena, self.cell(row));
        let mut keys: Vec<(SortKey, u32)> = (0..self.len() as u32).map(|row| (SortKey::new(value(row)), row)).collect();
        keys.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| compare::sort_order(value(a.1), value(b.1))));
        let mut ranks = vec![0; keys.len()];
        let mut rank = 0;
        for pair in keys.windows(2) {
            let is_same = pair[0].0 == pair[1].0 && compare::sort_order(value(pair[0].1), value(pair[1].1)).is_eq();
            rank += u32::from(!is_same);
            ranks[pair[1].1 as usize] = rank;
        }
        Order { rows: keys.iter().map(|(_, row)| *row).collect(), ranks: ranks.into() }
    }

    /// Returns the strings of all rows, if they are short and distinct.
    pub fn distinct_strings(&self, arena: &Arena) -> Option<&Strings> {
        let texts = self.strings(arena)?;
        (self.string_rows(arena).table.len() == self.len()).then_some(texts)
    }

    fn string_rows(&self, arena: &Arena) -> &StringRows {
        self.string_rows.get_or_init(|| StringRows::new(self, arena))
    }

    /// Returns the rows with a string, ascending.
    pub fn rows_with_string(&self, arena: &Arena, text: &str) -> impl Iterator<Item = u32> {
        let string_rows = self.string_rows(arena);
        let hash = string_rows.hasher.hash_one(text);
        let first = string_rows.table.find(hash, |row| arena.string(self.cell(*row)) == text).copied();
        std::iter::successors(first, |row| Some(string_rows.next[*row as usize]).filter(|next| *next != NONE))
    }

    /// Returns the strings of all rows, if the column is not dictionary-encoded and all rows are short strings.
    pub fn strings(&self, arena: &Arena) -> Option<&Strings> {
        let Cells::Plain(cells) = &self.cells else { return None };
        self.texts.get_or_init(|| Strings::new(arena, cells)).as_ref()
    }

    /// Memory in bytes.
    pub fn size(&self) -> usize {
        let cells = match &self.cells {
            Cells::Coded { codes, values } => codes.len() + size_of_val(&**values),
            Cells::Plain(cells) => size_of_val(&**cells),
        };
        let row = 8 * usize::from(self.numbers.get().is_some())
            + 8 * usize::from(self.order.get().is_some())
            + 10 * usize::from(self.string_rows.get().is_some());
        let texts = self.texts.get().and_then(Option::as_ref).map_or(0, Strings::size);
        cells + row * self.len() + texts
    }
}

impl Numbers {
    /// Returns whether a number can be found by binary search.
    pub fn is_index(&self) -> bool {
        self.is_ascending
    }

    /// Returns the rows with a number, ascending.
    pub fn rows_with(&self, number: f64) -> impl Iterator<Item = u32> {
        let rows = match self.is_ascending {
            true => {
                let first = self.values.partition_point(|value| *value < number);
                first..(first + 1).min(self.values.len())
            }
            false => 0..self.values.len(),
        };
        rows.filter(move |row| self.values[*row] == number).map(|row| row as u32)
    }
}

impl Strings {
    /// Longer strings are read from the document.
    pub const MAX_LENGTH: usize = 64;

    /// Returns `None` if a row has no string or a long one.
    fn new(arena: &Arena, cells: &[Cell]) -> Option<Strings> {
        let is_short = |cell: &Cell| is_string(*cell) && arena.text_len(*cell) <= Strings::MAX_LENGTH;
        if !cells.iter().all(is_short) {
            return None;
        }
        let mut bytes = String::with_capacity(cells.iter().map(|cell| arena.text_len(*cell)).sum());
        let mut starts = Vec::with_capacity(cells.len() + 1);
        for cell in cells {
            starts.push(u32::try_from(bytes.len()).ok()?);
            bytes.push_str(arena.string(*cell));
        }
        starts.push(u32::try_from(bytes.len()).ok()?);
        let is_ascii = bytes.is_ascii();
        Some(Strings { bytes, starts: starts.into(), is_ascii })
    }

    /// Returns the string in a row.
    #[inline]
    pub fn get(&self, row: u32) -> &str {
        let at = row as usize;
        &self.bytes[self.starts[at] as usize..self.starts[at + 1] as usize]
    }

    /// Returns the bytes of the string in a row.
    #[inline]
    pub fn bytes(&self, row: u32) -> &[u8] {
        let at = row as usize;
        &self.bytes.as_bytes()[self.starts[at] as usize..self.starts[at + 1] as usize]
    }

    /// Returns the concatenated strings and the offset of each; then the end of the last one.
    pub fn buffer_and_offsets(&self) -> (&str, &[u32]) {
        (&self.bytes, &self.starts)
    }

    /// Returns whether all strings are ASCII.
    pub fn is_ascii(&self) -> bool {
        self.is_ascii
    }

    fn size(&self) -> usize {
        self.bytes.len() + size_of_val(&*self.starts)
    }
}

impl Order {
    /// Returns the rows from the greatest value to the smallest; rows with equal values keep their order.
    pub fn descending(&self) -> impl Iterator<Item = u32> {
        let is_equal = |a: &u32, b: &u32| self.ranks[*a as usize] == self.ranks[*b as usize];
        let runs: Vec<&[u32]> = self.rows.chunk_by(is_equal).collect();
        runs.into_iter().rev().flatten().copied()
    }
}

impl StringRows {
    /// Iterates from the last row to the first, so that the rows of a string are in ascending order.
    fn new(column: &Column, arena: &Arena) -> StringRows {
        let hasher = DefaultHashBuilder::default();
        let text = |row: u32| arena.string(column.cell(row));
        let mut table: HashTable<u32> = HashTable::with_capacity(column.len());
        let mut next = vec![NONE; column.len()];
        for row in (0..column.len() as u32).rev().filter(|row| is_string(column.cell(*row))) {
            let hash = hasher.hash_one(text(row));
            match table.find_mut(hash, |other| text(*other) == text(row)) {
                Some(first) => next[row as usize] = std::mem::replace(first, row),
                None => drop(table.insert_unique(hash, row, |row| hasher.hash_one(text(*row)))),
            }
        }
        StringRows { table, hasher, next: next.into() }
    }
}

fn is_string(cell: Cell) -> bool {
    matches!(cell.kind(), Kind::Symbol(_) | Kind::Source(..) | Kind::Text(_))
}

fn number(arena: &Arena, cell: Cell) -> f64 {
    match cell.kind() {
        Kind::Number(value) => value,
        Kind::Lexeme(index) => arena.lexeme(index).0,
        _ => f64::NAN,
    }
}

/// Dictionary-encodes a column if it has few distinct values.
fn coded(arena: &Arena, cells: &[Cell]) -> Option<Cells> {
    let mut values: Vec<Distinct> = Vec::new();
    let mut codes = Vec::with_capacity(cells.len());
    let mut table = Codes::new();
    let mut texts = StringDeduplicator { arena, known: HashMap::new() };
    for (row, cell) in cells.iter().enumerate() {
        let code = table.code(texts.canonical(*cell), &mut values, row as u32)?;
        values[code as usize].count += 1;
        codes.push(code);
    }
    let repeats = values.len() * 2 <= cells.len();
    repeats.then(|| Cells::Coded { codes: codes.into(), values: values.into() })
}

/// Maps equal strings to one cell: strings that the loader did not intern have one cell per occurrence.
struct StringDeduplicator<'a> {
    arena: &'a Arena,
    known: HashMap<&'a str, Cell>,
}

impl StringDeduplicator<'_> {
    fn canonical(&mut self, cell: Cell) -> Cell {
        let Kind::Source(..) = cell.kind() else { return cell };
        let text = self.arena.string(cell);
        let stored = || self.arena.find_symbol(text).map_or(cell, Cell::symbol);
        *self.known.entry(text).or_insert_with(stored)
    }
}

/// Hash table from cells to codes: open addressing, four slots per possible value.
struct Codes {
    slots: Box<[u16]>,
    last: Option<(Cell, u8)>,
}

impl Codes {
    const BITS: u32 = 10;

    fn new() -> Codes {
        Codes { slots: vec![u16::MAX; 1 << Codes::BITS].into(), last: None }
    }

    /// Returns the code of a cell; `None` if there are too many values.
    fn code(&mut self, cell: Cell, values: &mut Vec<Distinct>, row: u32) -> Option<u8> {
        if let Some((_, code)) = self.last.filter(|(last, _)| *last == cell) {
            return Some(code);
        }
        let mut slot = (cell.bits().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - Codes::BITS)) as usize;
        let code = loop {
            match self.slots[slot] {
                u16::MAX if values.len() == MAX_DISTINCT_VALUES => return None,
                u16::MAX => {
                    self.slots[slot] = values.len() as u16;
                    values.push(Distinct { cell, first_row: row, count: 0 });
                    break values.len() - 1;
                }
                code if values[code as usize].cell == cell => break code as usize,
                _ => slot = (slot + 1) % self.slots.len(),
            }
        };
        self.last = Some((cell, code as u8));
        Some(code as u8)
    }
}

/// Returns the order of a dictionary-encoded column: a counting sort of the rows by their sorted values.
fn coded_order(arena: &Arena, codes: &[u8], values: &[Distinct]) -> Order {
    let value = |code: usize| Value::stored(arena, values[code].cell.or_null());
    let mut sorted: Vec<usize> = (0..values.len()).collect();
    sorted.sort_by(|a, b| compare::sort_order(value(*a), value(*b)));
    let (mut ranks, mut starts) = (vec![0; values.len()], vec![0; values.len() + 1]);
    for pair in sorted.windows(2) {
        let is_same = compare::sort_order(value(pair[0]), value(pair[1])).is_eq();
        ranks[pair[1]] = ranks[pair[0]] + u32::from(!is_same);
    }
    for (code, value) in values.iter().enumerate() {
        starts[ranks[code] as usize + 1] += value.count;
    }
    for rank in 1..starts.len() {
        starts[rank] += starts[rank - 1];
    }
    let mut rows = vec![0; codes.len()];
    for (row, code) in codes.iter().enumerate() {
        let slot = &mut starts[ranks[*code as usize] as usize];
        rows[*slot as usize] = row as u32;
        *slot += 1;
    }
    Order { rows: rows.into(), ranks: codes.iter().map(|code| ranks[*code as usize]).collect() }
}

/// Reader of one path in many items. A key is looked up once per shape.
struct PathReader<'p> {
    steps: Box<[PathStep<'p>]>,
}

struct PathStep<'p> {
    key: &'p str,
    shape: Option<ShapeId>,
    slot: Option<u32>,
    lookup: LookupResult,
}

impl<'p> PathReader<'p> {
    fn new(path: impl Iterator<Item = &'p str>) -> PathReader<'p> {
        let steps = path.map(|key| PathStep { key, shape: None, slot: None, lookup: LookupResult::default() });
        PathReader { steps: steps.collect() }
    }

    /// Returns the cell at the path; `None` if a part is neither an object nor null.
    fn read(&mut self, arena: &Arena, item: Cell) -> Option<Cell> {
        let mut cell = item;
        for step in &mut self.steps {
            let id = match cell.kind() {
                Kind::Object(id) => id,
                Kind::Null => return Some(Cell::MISSING),
                _ => return None,
            };
            let Some(slot) = step.slot(arena, arena.shape(id)) else { return Some(Cell::MISSING) };
            cell = arena.cell(arena.container(id).first + slot);
        }
        Some(cell)
    }
}

impl PathStep<'_> {
    fn slot(&mut self, arena: &Arena, shape: ShapeId) -> Option<u32> {
        if self.shape != Some(shape) {
            self.shape = Some(shape);
            self.slot = arena.find_symbol(self.key).and_then(|symbol| arena.slot(shape, symbol));
            self.lookup.attempted = true;
            self.lookup.found |= self.slot.is_some();
        }
        self.slot
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::load;
    use crate::value::Value;

    fn column(texts: impl Iterator<Item = String>) -> Option<Column> {
        let items: Vec<String> = texts.map(|text| format!(r#"{{"line": "{text}"}}"#)).collect();
        let arena = load::load(format!("[{}]", items.join(",")).into(), 8).ok()?;
        let (_, list) = Value::stored(&arena, arena.root()).container()?;
        Column::build(&arena, list, ["line"].into_iter())
    }

    /// The first values are distinct like ids, so the loader does not intern them.
    #[test]
    fn strings_that_repeat_late_are_dictionary_encoded() {
        let values = |rows: usize, different: usize| {
            let column = column((0..rows).map(|row| format!("P-{}", row % different)));
            column.and_then(|column| Some(column.codes()?.1.len()))
        };
        assert_eq!(values(1_000, 20), Some(20));
        assert_eq!(values(1_000, 97), Some(97));
        assert_eq!(values(5_000, 256), Some(256));
        assert_eq!(values(5_000, 257), None);
        assert_eq!(values(1_000, 1_000), None);
    }
}
