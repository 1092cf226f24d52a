//! Column gathering: result columns from the columns of a document.
//!
//! Hot: a short string is copied as a block of 16 bytes, which is faster than a call that copies fewer.

use pidq_core::{ColumnRef, Value};

use crate::buffer_pool::{BOOLS, BYTES, BufferPool, INTEGERS, OFFSETS, REALS};
use crate::columns::column::{Column, Data, Texts, integer};

/// Gathers the column of a field, to be finished; equal to adding the values one by one. Returns `None` for values of
/// several types, arrays or objects.
pub fn gather_column(field: &ColumnRef<'_>, limit: usize) -> Option<Column> {
    let rows = Rows::from_field(field);
    if let Some((codes, values)) = field.codes() {
        return coded(field.name(), &rows, codes, &values, limit);
    }
    if let Some((texts, starts)) = field.strings() {
        let data = Data::Texts(many_texts(&rows, texts, starts, limit));
        return Some(Column { name: field.name().into(), data, valid: None, len: rows.len(), nulls: 0 });
    }
    match first(field, &rows) {
        Some(Value::Number(_)) => reals(field, &rows).or_else(|| gather_values(field, &rows, limit)),
        _ => gather_values(field, &rows, limit),
    }
}

/// Returns the first value that is not null.
fn first<'a>(field: &ColumnRef<'a>, rows: &Rows<'a>) -> Option<Value<'a>> {
    let value = |at: usize| field.value(rows.selected.map_or(at as u32, |rows| rows[at]));
    (0..rows.len()).map(value).find(|value| !value.is_null())
}

/// Rows of a column.
struct Rows<'a> {
    /// The selected rows; all in order if `None`.
    selected: Option<&'a [u32]>,
    height: usize,
}

impl<'a> Rows<'a> {
    fn from_field(field: &ColumnRef<'a>) -> Rows<'a> {
        Rows { selected: field.rows(), height: field.column_len() }
    }

    fn len(&self) -> usize {
        self.selected.map_or(self.height, <[u32]>::len)
    }

    fn for_each(&self, mut visit: impl FnMut(usize)) {
        match self.selected {
            Some(rows) => rows.iter().for_each(|row| visit(*row as usize)),
            None => (0..self.height).for_each(visit),
        }
    }

    fn all(&self, predicate: impl Fn(usize) -> bool) -> bool {
        match self.selected {
            Some(rows) => rows.iter().all(|row| predicate(*row as usize)),
            None => (0..self.height).all(predicate),
        }
    }

    /// Maps each row, into a buffer of the pool.
    fn map<T>(&self, pool: &BufferPool<T>, value: impl FnMut(usize) -> T) -> Vec<T> {
        let mut values = pool.acquire(self.len() + 1);
        values.clear();
        match self.selected {
            Some(rows) => values.extend(rows.iter().map(|row| *row as usize).map(value)),
            None => values.extend((0..self.height).map(value)),
        }
        values
    }
}

/// Gathers a column with few distinct values: types are determined once per value.
fn coded(name: &str, rows: &Rows<'_>, codes: &[u8], values: &[Value<'_>], limit: usize) -> Option<Column> {
    let mut counts = [0; 256];
    rows.for_each(|row| counts[codes[row] as usize] += 1);
    let used: Vec<Value<'_>> = values.iter().zip(counts).filter(|(_, count)| *count > 0).map(|used| *used.0).collect();
    let number = |value: Value<'_>| value.as_f64().unwrap_or_default();
    let data = match kind(&used)? {
        Kind::Null => Data::Null,
        Kind::Bools => Data::Bools(by_code(rows, &BOOLS, codes, values, |value| matches!(value, Value::Bool(true)))),
        Kind::Integers => {
            Data::Integers(by_code(rows, &INTEGERS, codes, values, |value| integer_value(value).unwrap_or_default()))
        }
        Kind::Reals => Data::Reals(by_code(rows, &REALS, codes, values, number)),
        Kind::Texts => Data::Texts(coded_texts(rows, codes, values, &counts, limit)),
    };
    let nulls = values.iter().zip(counts).filter(|(value, _)| value.is_null()).map(|(_, count)| count).sum();
    let valid = (nulls > 0).then(|| by_code(rows, &BOOLS, codes, values, |value| !value.is_null()));
    Some(Column { name: name.into(), data, valid, len: rows.len(), nulls })
}

/// Type of a column.
enum Kind {
    Null,
    Bools,
    Integers,
    Reals,
    Texts,
}

/// Returns the common type of all values that are not null; `None` for several types, arrays or objects.
fn kind(values: &[Value<'_>]) -> Option<Kind> {
    let non_null = || values.iter().filter(|value| !value.is_null());
    let all = |predicate: fn(Value<'_>) -> bool| non_null().all(|value| predicate(*value));
    match non_null().next() {
        None => Some(Kind::Null),
        Some(_) if all(|value| matches!(value, Value::Bool(_))) => Some(Kind::Bools),
        Some(_) if all(|value| integer_value(value).is_some()) => Some(Kind::Integers),
        Some(_) if all(|value| matches!(value, Value::Number(_))) => Some(Kind::Reals),
        Some(_) if all(|value| matches!(value, Value::String(_))) => Some(Kind::Texts),
        Some(_) => None,
    }
}

/// Returns the integer value of a number.
fn integer_value(value: Value<'_>) -> Option<i64> {
    match value {
        Value::Number(number) => integer(number),
        _ => None,
    }
}

/// Maps the code of each row.
fn by_code<'a, T: Copy + Default>(
    rows: &Rows<'_>,
    pool: &BufferPool<T>,
    codes: &[u8],
    values: &[Value<'a>],
    convert: impl Fn(Value<'a>) -> T,
) -> Vec<T> {
    let mut by_value = [T::default(); 256];
    by_value.iter_mut().zip(values).for_each(|(by_value, value)| *by_value = convert(*value));
    rows.map(pool, |row| by_value[codes[row] as usize])
}

fn coded_texts(rows: &Rows<'_>, codes: &[u8], values: &[Value<'_>], counts: &[usize; 256], limit: usize) -> Texts {
    let (mut pool, mut ranges, mut total) = (String::new(), [(0, 0); 256], 0);
    for ((range, value), count) in ranges.iter_mut().zip(values).zip(counts) {
        let text = value.as_str().unwrap_or_default();
        *range = (pool.len(), text.len());
        total += text.len() * count;
        pool.push_str(text);
    }
    texts(rows, &pool, total, limit, |row| ranges[codes[row] as usize])
}

/// Gathers a column of many strings. Strings of consecutive rows are contiguous and copied together.
fn many_texts(rows: &Rows<'_>, pool: &str, starts: &[u32], limit: usize) -> Texts {
    let len = |row: usize| (starts[row + 1] - starts[row]) as usize;
    let mut total = 0;
    rows.for_each(|row| total += len(row));
    let Some(selected) = rows.selected else { return all_texts(pool, starts, limit) };
    let (mut texts, mut neighbors) = (Texts::new(0, limit), 0);
    selected.windows(2).for_each(|pair| neighbors += usize::from(pair[1] == pair[0] + 1));
    if total > texts.limit || 2 * neighbors < selected.len() {
        return self::texts(rows, pool, total, limit, |row| (starts[row] as usize, len(row)));
    }
    texts.bytes = BYTES.acquire(total);
    texts.bytes.clear();
    texts.offsets = OFFSETS.acquire(selected.len() + 1);
    texts.offsets.clear();
    for run in selected.chunk_by(|a, b| *b == *a + 1) {
        let (first, end) = (run[0] as usize, run[0] as usize + run.len());
        let before = (texts.bytes.len() as i32).wrapping_sub(starts[first] as i32);
        texts.offsets.extend(starts[first..end].iter().map(|start| (*start as i32).wrapping_add(before)));
        texts.bytes.extend_from_slice(&pool.as_bytes()[starts[first] as usize..starts[end] as usize]);
    }
    texts.offsets.push(total as i32);
    texts
}

/// Returns all strings of a column.
fn all_texts(pool: &str, starts: &[u32], limit: usize) -> Texts {
    let mut texts = Texts::new(0, limit);
    texts.is_full = pool.len() > texts.limit;
    if !texts.is_full {
        texts.offsets = starts.iter().map(|start| *start as i32).collect();
        texts.bytes = pool.as_bytes().to_vec();
    }
    texts
}

/// Bytes copied at a time.
const BLOCK: usize = 16;

/// Gathers substrings of a longer string, `total` bytes together.
fn texts(rows: &Rows<'_>, pool: &str, total: usize, limit: usize, range: impl Fn(usize) -> (usize, usize)) -> Texts {
    let mut texts = Texts::new(0, limit);
    if total > texts.limit {
        texts.is_full = true;
        return texts;
    }
    let mut bytes = BYTES.acquire(total + BLOCK);
    bytes.resize(total + BLOCK, 0);
    let mut end = 0;
    texts.offsets = rows.map(&OFFSETS, |row| {
        let ((start, len), begin) = (range(row), end);
        copy(&mut bytes, begin, pool.as_bytes(), start, len);
        end += len;
        begin as i32
    });
    texts.offsets.push(end as i32);
    bytes.truncate(total);
    texts.bytes = bytes;
    texts
}

/// Copies `len` bytes, as a block if they are few. Bytes after them in `to` are overwritten.
#[inline]
fn copy(to: &mut [u8], at: usize, from: &[u8], start: usize, len: usize) {
    let block = from.get(start..start + BLOCK).filter(|_| len <= BLOCK);
    match (block, to.get_mut(at..at + BLOCK)) {
        (Some(block), Some(to)) => to.copy_from_slice(block),
        _ => to[at..at + len].copy_from_slice(&from[start..start + len]),
    }
}

/// Gathers a column of numbers. Returns `None` if there are other types, or integers only.
fn reals(field: &ColumnRef<'_>, rows: &Rows<'_>) -> Option<Column> {
    let (mut nulls, numbers) = (0, field.numbers()?);
    let is_whole = |number: f64| number as i64 as f64 == number || number.is_nan();
    if integer_value(first(field, rows)?).is_some() && rows.all(|row| is_whole(numbers[row])) {
        return None;
    }
    let values = rows.map(&REALS, |row| {
        let number = numbers[row];
        nulls += usize::from(number.is_nan());
        if number.is_nan() { 0.0 } else { number }
    });
    let valid = (nulls > 0).then(|| rows.map(&BOOLS, |row| !numbers[row].is_nan()));
    Some(Column { name: field.name().into(), data: Data::Reals(values), valid, len: rows.len(), nulls })
}

/// Gathers a column value by value.
fn gather_values(field: &ColumnRef<'_>, rows: &Rows<'_>, limit: usize) -> Option<Column> {
    let mut column = Column::new(field.name());
    let mut at = 0;
    let mut has_uniform_type = true;
    rows.for_each(|row| {
        has_uniform_type = has_uniform_type && column.push(at, field.value(row as u32), limit);
        at += 1;
    });
    has_uniform_type.then_some(column)
}
