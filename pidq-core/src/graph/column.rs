//! One field of the items of a list, side by side: what conditions, keys and sorts read.
//!
//! Built when a query first reads the field, then kept. Where few values repeat, a row is one byte: the number of its
//! value, so that whatever depends on this field alone is worked out once a value and not once a row.

use std::hash::BuildHasher;
use std::sync::OnceLock;

use hashbrown::{DefaultHashBuilder, HashMap, HashTable};

use crate::arena::{Arena, Cell, ContainerId, Kind, ShapeId};
use crate::value::Value;
use crate::value::compare::{self, SortKey};

/// Shorter lists are faster item by item.
pub(crate) const WORTH_IT: usize = 32;

/// A field of all items of a list.
#[derive(Debug)]
pub(crate) struct Column {
    cells: Cells,
    /// By key of the path: whether any object was asked for it, and whether one had it.
    pub seen: Box<[Seen]>,
    numbers: OnceLock<Numbers>,
    order: OnceLock<Order>,
    places: OnceLock<Places>,
    texts: OnceLock<Option<Texts>>,
}

/// What became of the look-ups of one key.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    pub asked: bool,
    pub found: bool,
}

#[derive(Debug)]
enum Cells {
    /// By row: the number of its value.
    Coded {
        codes: Box<[u8]>,
        values: Box<[Distinct]>,
    },
    Plain(Box<[Cell]>),
}

/// A value of a coded column. Numbered in the order of their first rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Distinct {
    pub cell: Cell,
    pub first_row: u32,
    pub count: u32,
}

/// The numbers of a column: NaN where a row has none.
#[derive(Debug)]
pub(crate) struct Numbers {
    pub values: Box<[f64]>,
    /// Every row has a number.
    pub is_complete: bool,
    /// Every row has a number or nothing.
    pub is_pure: bool,
    /// Every row has a greater number than the one before, as ids that were counted have.
    is_ascending: bool,
}

/// The rows as `sort` orders them.
#[derive(Debug)]
pub(crate) struct Order {
    pub rows: Box<[u32]>,
    /// By row: how many different values come before it.
    pub ranks: Box<[u32]>,
}

/// The rows of each text.
#[derive(Debug)]
struct Places {
    /// The first row of each text.
    table: HashTable<u32>,
    hasher: DefaultHashBuilder,
    /// By row: the next one with the same text.
    next: Box<[u32]>,
}

/// The texts of a column without gaps: in the document they stand far apart.
#[derive(Debug)]
pub(crate) struct Texts {
    bytes: String,
    /// By row: where its text begins; then the end of the last one.
    starts: Box<[u32]>,
}

/// No row.
const NONE: u32 = u32::MAX;

/// With more values than fit into a byte, rows keep their cells.
const MOST_VALUES: usize = 256;

impl Column {
    /// Reads a field of all items. Nothing where a part of the path is neither an object nor null: what such a path
    /// means is for the evaluator to say.
    pub fn build<'p>(arena: &Arena, list: ContainerId, path: impl ExactSizeIterator<Item = &'p str>) -> Option<Column> {
        let mut reader = Reader::new(path);
        let items = arena.items(list);
        let mut cells = Vec::with_capacity(items.len());
        for item in items {
            cells.push(reader.read(arena, *item)?);
        }
        let seen = reader.steps.iter().map(|step| step.seen).collect();
        let cells = coded(arena, &cells).unwrap_or_else(|| Cells::Plain(cells.into()));
        Some(Column {
            cells,
            seen,
            numbers: OnceLock::new(),
            order: OnceLock::new(),
            places: OnceLock::new(),
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

    /// The value in a row; null where it is missing.
    pub fn cell(&self, row: u32) -> Cell {
        let cell = match &self.cells {
            Cells::Coded { codes, values } => values[codes[row as usize] as usize].cell,
            Cells::Plain(cells) => cells[row as usize],
        };
        cell.or_null()
    }

    /// The numbers of the values by row, and the values; where few values repeat.
    pub fn codes(&self) -> Option<(&[u8], &[Distinct])> {
        match &self.cells {
            Cells::Coded { codes, values } => Some((codes, values)),
            Cells::Plain(_) => None,
        }
    }

    /// The cells by row, with those that are missing marked; where values do not repeat.
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
            let is_nothing = |row: usize| self.cell(row as u32) == Cell::NULL;
            let is_pure = (0..self.len()).all(|row| !values[row].is_nan() || is_nothing(row));
            let is_ascending = values.is_sorted_by(|a, b| a < b);
            Numbers { values, is_complete, is_pure, is_ascending }
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
        let mut keys: Vec<(SortKey, u32)> = (0..self.len() as u32).map(|row| (SortKey::of(value(row)), row)).collect();
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

    /// The texts of all rows, where they are short and all different.
    pub fn distinct_texts(&self, arena: &Arena) -> Option<&Texts> {
        let texts = self.texts(arena)?;
        (self.places(arena).table.len() == self.len()).then_some(texts)
    }

    fn places(&self, arena: &Arena) -> &Places {
        self.places.get_or_init(|| Places::new(self, arena))
    }

    /// The rows that hold a text, ascending.
    pub fn rows_of(&self, arena: &Arena, text: &str) -> impl Iterator<Item = u32> {
        let places = self.places(arena);
        let hash = places.hasher.hash_one(text);
        let first = places.table.find(hash, |row| arena.string(self.cell(*row)) == text).copied();
        std::iter::successors(first, |row| Some(places.next[*row as usize]).filter(|next| *next != NONE))
    }

    /// The texts of all rows, where these are many different ones and short.
    pub fn texts(&self, arena: &Arena) -> Option<&Texts> {
        let Cells::Plain(cells) = &self.cells else { return None };
        self.texts.get_or_init(|| Texts::new(arena, cells)).as_ref()
    }

    /// Bytes kept.
    pub fn size(&self) -> usize {
        let cells = match &self.cells {
            Cells::Coded { codes, values } => codes.len() + size_of_val(&**values),
            Cells::Plain(cells) => size_of_val(&**cells),
        };
        let row = 8 * usize::from(self.numbers.get().is_some())
            + 8 * usize::from(self.order.get().is_some())
            + 10 * usize::from(self.places.get().is_some());
        let texts = self.texts.get().and_then(Option::as_ref).map_or(0, Texts::size);
        cells + row * self.len() + texts
    }
}

impl Numbers {
    /// Whether a number is found without looking at all rows.
    pub fn is_index(&self) -> bool {
        self.is_ascending
    }

    /// The rows that hold a number, ascending.
    pub fn rows_of(&self, number: f64) -> impl Iterator<Item = u32> {
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

impl Texts {
    /// Longer texts are read where they stand.
    pub const LONGEST: usize = 64;

    /// Nothing where a row has no text, or a long one.
    fn new(arena: &Arena, cells: &[Cell]) -> Option<Texts> {
        let is_short = |cell: &Cell| is_text(*cell) && arena.text_len(*cell) <= Texts::LONGEST;
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
        Some(Texts { bytes, starts: starts.into() })
    }

    /// The text in a row.
    #[inline]
    pub fn get(&self, row: u32) -> &str {
        let at = row as usize;
        &self.bytes[self.starts[at] as usize..self.starts[at + 1] as usize]
    }

    /// The texts one after the other, and where each begins; then the end of the last one.
    pub fn all(&self) -> (&str, &[u32]) {
        (&self.bytes, &self.starts)
    }

    /// Whether all texts are ASCII.
    pub fn is_ascii(&self) -> bool {
        self.bytes.is_ascii()
    }

    fn size(&self) -> usize {
        self.bytes.len() + size_of_val(&*self.starts)
    }
}

impl Order {
    /// The rows from the greatest value to the least; rows with equal values stay in their order.
    pub fn descending(&self) -> impl Iterator<Item = u32> {
        let is_equal = |a: &u32, b: &u32| self.ranks[*a as usize] == self.ranks[*b as usize];
        let runs: Vec<&[u32]> = self.rows.chunk_by(is_equal).collect();
        runs.into_iter().rev().flatten().copied()
    }
}

impl Places {
    /// From the last row to the first, so that the rows of a text come in ascending order.
    fn new(column: &Column, arena: &Arena) -> Places {
        let hasher = DefaultHashBuilder::default();
        let text = |row: u32| arena.string(column.cell(row));
        let mut table: HashTable<u32> = HashTable::with_capacity(column.len());
        let mut next = vec![NONE; column.len()];
        for row in (0..column.len() as u32).rev().filter(|row| is_text(column.cell(*row))) {
            let hash = hasher.hash_one(text(row));
            match table.find_mut(hash, |other| text(*other) == text(row)) {
                Some(first) => next[row as usize] = std::mem::replace(first, row),
                None => drop(table.insert_unique(hash, row, |row| hasher.hash_one(text(*row)))),
            }
        }
        Places { table, hasher, next: next.into() }
    }
}

fn is_text(cell: Cell) -> bool {
    matches!(cell.kind(), Kind::Symbol(_) | Kind::Source(..) | Kind::Text(_))
}

fn number(arena: &Arena, cell: Cell) -> f64 {
    match cell.kind() {
        Kind::Number(value) => value,
        Kind::Lexeme(index) => arena.lexeme(index).0,
        _ => f64::NAN,
    }
}

/// One byte a row, if few values repeat.
fn coded(arena: &Arena, cells: &[Cell]) -> Option<Cells> {
    let mut values: Vec<Distinct> = Vec::new();
    let mut codes = Vec::with_capacity(cells.len());
    let mut table = Codes::new();
    let mut texts = SameTexts { arena, known: HashMap::new() };
    for (row, cell) in cells.iter().enumerate() {
        let code = table.code(texts.one_for(*cell), &mut values, row as u32)?;
        values[code as usize].count += 1;
        codes.push(code);
    }
    let repeats = values.len() * 2 <= cells.len();
    repeats.then(|| Cells::Coded { codes: codes.into(), values: values.into() })
}

/// Texts that nobody expected to repeat stand wherever they were read: of equal ones the first is taken for all.
struct SameTexts<'a> {
    arena: &'a Arena,
    known: HashMap<&'a str, Cell>,
}

impl SameTexts<'_> {
    fn one_for(&mut self, cell: Cell) -> Cell {
        let Kind::Source(..) = cell.kind() else { return cell };
        let text = self.arena.string(cell);
        let stored = || self.arena.find_symbol(text).map_or(cell, Cell::symbol);
        *self.known.entry(text).or_insert_with(stored)
    }
}

/// Cells to their numbers: open addressing, four places for each that may come.
struct Codes {
    places: Box<[u16]>,
    last: Option<(Cell, u8)>,
}

impl Codes {
    const BITS: u32 = 10;

    fn new() -> Codes {
        Codes { places: vec![u16::MAX; 1 << Codes::BITS].into(), last: None }
    }

    /// The number of a cell; nothing where there are too many.
    fn code(&mut self, cell: Cell, values: &mut Vec<Distinct>, row: u32) -> Option<u8> {
        if let Some((_, code)) = self.last.filter(|(last, _)| *last == cell) {
            return Some(code);
        }
        let mut place = (cell.bits().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - Codes::BITS)) as usize;
        let code = loop {
            match self.places[place] {
                u16::MAX if values.len() == MOST_VALUES => return None,
                u16::MAX => {
                    self.places[place] = values.len() as u16;
                    values.push(Distinct { cell, first_row: row, count: 0 });
                    break values.len() - 1;
                }
                code if values[code as usize].cell == cell => break code as usize,
                _ => place = (place + 1) % self.places.len(),
            }
        };
        self.last = Some((cell, code as u8));
        Some(code as u8)
    }
}

/// The order of a coded column: its values sorted, then the rows counted into place.
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
        let place = &mut starts[ranks[*code as usize] as usize];
        rows[*place as usize] = row as u32;
        *place += 1;
    }
    Order { rows: rows.into(), ranks: codes.iter().map(|code| ranks[*code as usize]).collect() }
}

/// Reads one path in many items. A key is looked up once a shape.
struct Reader<'p> {
    steps: Box<[Step<'p>]>,
}

struct Step<'p> {
    key: &'p str,
    shape: Option<ShapeId>,
    slot: Option<u32>,
    seen: Seen,
}

impl<'p> Reader<'p> {
    fn new(path: impl Iterator<Item = &'p str>) -> Reader<'p> {
        let steps = path.map(|key| Step { key, shape: None, slot: None, seen: Seen::default() });
        Reader { steps: steps.collect() }
    }

    /// The cell at the path; nothing where a part is neither an object nor null.
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

impl Step<'_> {
    fn slot(&mut self, arena: &Arena, shape: ShapeId) -> Option<u32> {
        if self.shape != Some(shape) {
            self.shape = Some(shape);
            self.slot = arena.find_symbol(self.key).and_then(|symbol| arena.slot(shape, symbol));
            self.seen.asked = true;
            self.seen.found |= self.slot.is_some();
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

    /// So many different texts at first look like those of ids, and are stored wherever they stand.
    #[test]
    fn texts_that_repeat_late_are_coded_too() {
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
