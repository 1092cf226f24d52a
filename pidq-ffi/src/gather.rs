//! Columns of a document → columns of a result, where the engine has the fields side by side.
//!
//! Hot: a short text is copied as a block of sixteen bytes, since a call to copy fewer takes longer than copying.

use pidq_core::{Field, Value};

use crate::columns::{Column, Data, Texts, integer};
use crate::spare::{BOOLS, BYTES, INTEGERS, OFFSETS, REALS, Spare};

/// The column of a field, to be finished: the same as its values one by one would give. Nothing where these are of several
/// kinds, lists or objects.
pub fn gathered(field: &Field<'_>, limit: usize) -> Option<Column> {
    let rows = Rows::of(field);
    if let Some((codes, values)) = field.codes() {
        return coded(field.name(), &rows, codes, &values, limit);
    }
    if let Some((texts, starts)) = field.texts() {
        let data = Data::Texts(many_texts(&rows, texts, starts, limit));
        return Some(Column { name: field.name().into(), data, valid: None, len: rows.len(), nulls: 0 });
    }
    match first(field, &rows) {
        Some(Value::Number(_)) => reals(field, &rows).or_else(|| one_by_one(field, &rows, limit)),
        _ => one_by_one(field, &rows, limit),
    }
}

/// The first value that is there.
fn first<'a>(field: &Field<'a>, rows: &Rows<'a>) -> Option<Value<'a>> {
    let value = |at: usize| field.value(rows.chosen.map_or(at as u32, |rows| rows[at]));
    (0..rows.len()).map(value).find(|value| !value.is_null())
}

/// Rows of a column.
struct Rows<'a> {
    /// All in order where there are none.
    chosen: Option<&'a [u32]>,
    height: usize,
}

impl<'a> Rows<'a> {
    fn of(field: &Field<'a>) -> Rows<'a> {
        Rows { chosen: field.rows(), height: field.height() }
    }

    fn len(&self) -> usize {
        self.chosen.map_or(self.height, <[u32]>::len)
    }

    fn each(&self, mut visit: impl FnMut(usize)) {
        match self.chosen {
            Some(rows) => rows.iter().for_each(|row| visit(*row as usize)),
            None => (0..self.height).for_each(visit),
        }
    }

    fn all(&self, is: impl Fn(usize) -> bool) -> bool {
        match self.chosen {
            Some(rows) => rows.iter().all(|row| is(*row as usize)),
            None => (0..self.height).all(is),
        }
    }

    /// What each row gives, in memory that waits for it.
    fn map<T>(&self, spare: &Spare<T>, value: impl FnMut(usize) -> T) -> Vec<T> {
        let mut values = spare.take(self.len() + 1);
        values.clear();
        match self.chosen {
            Some(rows) => values.extend(rows.iter().map(|row| *row as usize).map(value)),
            None => values.extend((0..self.height).map(value)),
        }
        values
    }
}

/// A column of few values: what each of them is, is decided once.
fn coded(name: &str, rows: &Rows<'_>, codes: &[u8], values: &[Value<'_>], limit: usize) -> Option<Column> {
    let mut counts = [0; 256];
    rows.each(|row| counts[codes[row] as usize] += 1);
    let used: Vec<Value<'_>> = values.iter().zip(counts).filter(|(_, count)| *count > 0).map(|used| *used.0).collect();
    let number = |value: Value<'_>| value.as_f64().unwrap_or_default();
    let data = match kind(&used)? {
        Kind::Nothing => Data::Nothing,
        Kind::Bools => Data::Bools(by_code(rows, &BOOLS, codes, values, |value| matches!(value, Value::Bool(true)))),
        Kind::Integers => {
            Data::Integers(by_code(rows, &INTEGERS, codes, values, |value| whole(value).unwrap_or_default()))
        }
        Kind::Reals => Data::Reals(by_code(rows, &REALS, codes, values, number)),
        Kind::Texts => Data::Texts(coded_texts(rows, codes, values, &counts, limit)),
    };
    let nulls = values.iter().zip(counts).filter(|(value, _)| value.is_null()).map(|(_, count)| count).sum();
    let valid = (nulls > 0).then(|| by_code(rows, &BOOLS, codes, values, |value| !value.is_null()));
    Some(Column { name: name.into(), data, valid, len: rows.len(), nulls })
}

/// What a column of some values is.
enum Kind {
    Nothing,
    Bools,
    Integers,
    Reals,
    Texts,
}

/// The kind that all values have, nulls aside; nothing where they are of several, or lists or objects.
fn kind(values: &[Value<'_>]) -> Option<Kind> {
    let there = || values.iter().filter(|value| !value.is_null());
    let all = |is: fn(Value<'_>) -> bool| there().all(|value| is(*value));
    match there().next() {
        None => Some(Kind::Nothing),
        Some(_) if all(|value| matches!(value, Value::Bool(_))) => Some(Kind::Bools),
        Some(_) if all(|value| whole(value).is_some()) => Some(Kind::Integers),
        Some(_) if all(|value| matches!(value, Value::Number(_))) => Some(Kind::Reals),
        Some(_) if all(|value| matches!(value, Value::String(_))) => Some(Kind::Texts),
        Some(_) => None,
    }
}

/// The whole number that a value is.
fn whole(value: Value<'_>) -> Option<i64> {
    match value {
        Value::Number(number) => integer(number),
        _ => None,
    }
}

/// By row: something of its value.
fn by_code<'a, T: Copy + Default>(
    rows: &Rows<'_>,
    spare: &Spare<T>,
    codes: &[u8],
    values: &[Value<'a>],
    of: impl Fn(Value<'a>) -> T,
) -> Vec<T> {
    let mut known = [T::default(); 256];
    known.iter_mut().zip(values).for_each(|(known, value)| *known = of(*value));
    rows.map(spare, |row| known[codes[row] as usize])
}

fn coded_texts(rows: &Rows<'_>, codes: &[u8], values: &[Value<'_>], counts: &[usize; 256], limit: usize) -> Texts {
    let (mut pool, mut places, mut total) = (String::new(), [(0, 0); 256], 0);
    for ((place, value), count) in places.iter_mut().zip(values).zip(counts) {
        let text = value.as_str().unwrap_or_default();
        *place = (pool.len(), text.len());
        total += text.len() * count;
        pool.push_str(text);
    }
    texts(rows, &pool, total, limit, |row| places[codes[row] as usize])
}

/// A column of many texts. Those of rows that follow each other stand side by side, and are copied together.
fn many_texts(rows: &Rows<'_>, all: &str, starts: &[u32], limit: usize) -> Texts {
    let len = |row: usize| (starts[row + 1] - starts[row]) as usize;
    let mut total = 0;
    rows.each(|row| total += len(row));
    let Some(chosen) = rows.chosen else { return whole_texts(all, starts, limit) };
    let (mut texts, mut neighbours) = (Texts::new(0, limit), 0);
    chosen.windows(2).for_each(|pair| neighbours += usize::from(pair[1] == pair[0] + 1));
    if total > texts.limit || 2 * neighbours < chosen.len() {
        return self::texts(rows, all, total, limit, |row| (starts[row] as usize, len(row)));
    }
    texts.bytes = BYTES.take(total);
    texts.bytes.clear();
    texts.offsets = OFFSETS.take(chosen.len() + 1);
    texts.offsets.clear();
    for run in chosen.chunk_by(|a, b| *b == *a + 1) {
        let (first, end) = (run[0] as usize, run[0] as usize + run.len());
        let before = (texts.bytes.len() as i32).wrapping_sub(starts[first] as i32);
        texts.offsets.extend(starts[first..end].iter().map(|start| (*start as i32).wrapping_add(before)));
        texts.bytes.extend_from_slice(&all.as_bytes()[starts[first] as usize..starts[end] as usize]);
    }
    texts.offsets.push(total as i32);
    texts
}

/// All texts of a column.
fn whole_texts(all: &str, starts: &[u32], limit: usize) -> Texts {
    let mut texts = Texts::new(0, limit);
    texts.is_full = all.len() > texts.limit;
    if !texts.is_full {
        texts.offsets = starts.iter().map(|start| *start as i32).collect();
        texts.bytes = all.as_bytes().to_vec();
    }
    texts
}

/// Bytes that are copied at a time.
const BLOCK: usize = 16;

/// The texts at some places of a longer one, `total` bytes together.
fn texts(rows: &Rows<'_>, pool: &str, total: usize, limit: usize, place: impl Fn(usize) -> (usize, usize)) -> Texts {
    let mut texts = Texts::new(0, limit);
    if total > texts.limit {
        texts.is_full = true;
        return texts;
    }
    let mut bytes = BYTES.take(total + BLOCK);
    bytes.resize(total + BLOCK, 0);
    let mut end = 0;
    texts.offsets = rows.map(&OFFSETS, |row| {
        let ((start, len), begin) = (place(row), end);
        copy(&mut bytes, begin, pool.as_bytes(), start, len);
        end += len;
        begin as i32
    });
    texts.offsets.push(end as i32);
    bytes.truncate(total);
    texts.bytes = bytes;
    texts
}

/// Copies `len` bytes, as a block where they are few. What stands after them in `to` is written over.
#[inline]
fn copy(to: &mut [u8], at: usize, from: &[u8], start: usize, len: usize) {
    let block = from.get(start..start + BLOCK).filter(|_| len <= BLOCK);
    match (block, to.get_mut(at..at + BLOCK)) {
        (Some(block), Some(to)) => to.copy_from_slice(block),
        _ => to[at..at + len].copy_from_slice(&from[start..start + len]),
    }
}

/// A column of numbers, not all of them whole. Nothing where it has something else, or whole ones only.
fn reals(field: &Field<'_>, rows: &Rows<'_>) -> Option<Column> {
    let (mut nulls, numbers) = (0, field.numbers()?);
    let is_whole = |number: f64| number as i64 as f64 == number || number.is_nan();
    if whole(first(field, rows)?).is_some() && rows.all(|row| is_whole(numbers[row])) {
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

/// A column whose values are read where they stand.
fn one_by_one(field: &Field<'_>, rows: &Rows<'_>, limit: usize) -> Option<Column> {
    let mut column = Column::new(field.name());
    let mut at = 0;
    let mut is_of_one_kind = true;
    rows.each(|row| {
        is_of_one_kind = is_of_one_kind && column.push(at, field.value(row as u32), limit);
        at += 1;
    });
    is_of_one_kind.then_some(column)
}
