//! Results as columns.
//!
//! A list of objects is a table with a column for each key. A column is truth values, whole numbers, numbers or texts
//! where all its rows are; anything else in it makes it a column of JSON texts. What is missing is null.

use std::collections::HashMap;

use pidq_core::error::Code;
use pidq_core::{Field, Number, Value};

use crate::error::Fault;
use crate::gather::gathered;
use crate::result::Answer;

/// Columns of the same length.
pub struct Table {
    pub columns: Vec<Column>,
    pub rows: usize,
}

/// The values of a key, row by row.
pub struct Column {
    pub name: String,
    pub data: Data,
    /// Whether a row has a value. None where all have one.
    pub valid: Option<Vec<bool>>,
    pub len: usize,
    pub nulls: usize,
}

pub enum Data {
    /// Only nulls so far.
    Nothing,
    Bools(Vec<bool>),
    Integers(Vec<i64>),
    Reals(Vec<f64>),
    Texts(Texts),
}

/// Texts one after the other, and where each begins; then the end of the last.
pub struct Texts {
    pub offsets: Vec<i32>,
    pub bytes: Vec<u8>,
    /// What does not fit is left out, and told at the end.
    pub limit: usize,
    pub is_full: bool,
}

impl Table {
    /// The columns of a result: those of its objects, or one column `value`.
    pub fn of(answer: &Answer) -> Result<Table, Fault> {
        let value = answer.value();
        if let Some(columns) = value.as_array().and_then(|list| answer.graph().fields_of(list)) {
            return Table::gathered(&columns, answer);
        }
        let rows: Vec<Value<'_>> = value.as_array().map_or_else(|| vec![value], |list| list.iter().collect());
        let is_table = !rows.is_empty() && rows.iter().all(|row| matches!(row, Value::Object(_)));
        let columns = match is_table {
            true => fields(&rows, answer)?,
            false if rows.is_empty() => Vec::new(),
            false => vec![values(&rows, answer)?],
        };
        Ok(Table { columns, rows: rows.len() })
    }

    /// From columns of the document.
    fn gathered(fields: &[Field<'_>], answer: &Answer) -> Result<Table, Fault> {
        let column = |field: &Field<'_>| match gathered(field, answer.output) {
            Some(column) => column.finish(answer.len()),
            None => field_as_json(field, answer),
        };
        let columns = fields.iter().map(column).collect::<Result<_, Fault>>()?;
        Ok(Table { columns, rows: answer.len() })
    }
}

/// The column of what are no objects.
fn values(rows: &[Value<'_>], answer: &Answer) -> Result<Column, Fault> {
    let mut column = Column::new("value");
    let is_of_one_kind = rows.iter().enumerate().all(|(row, value)| column.push(row, *value, answer.output));
    if !is_of_one_kind {
        column = Column::new("value");
        rows.iter().enumerate().try_for_each(|(row, value)| column.push_json(row, *value, answer))?;
    }
    column.finish(rows.len())
}

/// The columns of objects. Hot: objects of one kind have their keys in the same places of memory, so a column is found
/// by comparing pointers.
fn fields<'a>(rows: &[Value<'a>], answer: &Answer) -> Result<Vec<Column>, Fault> {
    let mut columns: Vec<Column> = Vec::new();
    let mut places: HashMap<&'a str, usize> = HashMap::new();
    // By slot: the key that was there in the row before, and its column.
    let mut guesses: Vec<(&'a str, usize)> = Vec::new();
    let mut mixed: Vec<bool> = Vec::new();
    for (row, value) in rows.iter().enumerate() {
        let Value::Object(object) = value else { continue };
        for (slot, (key, value)) in object.iter().enumerate() {
            let place = match guesses.get(slot) {
                Some((known, place)) if std::ptr::eq(*known, key) => *place,
                _ => {
                    let place = *places.entry(key).or_insert(columns.len());
                    if place == columns.len() {
                        columns.push(Column::new(key));
                        mixed.push(false);
                    }
                    guesses.resize(guesses.len().max(slot + 1), ("", 0));
                    guesses[slot] = (key, place);
                    place
                }
            };
            mixed[place] = mixed[place] || !columns[place].push(row, value, answer.output);
        }
    }
    let columns = columns.into_iter().zip(mixed);
    let finished = columns.map(|(column, is_mixed)| match is_mixed {
        true => json_column(column.name, rows, answer),
        false => column.finish(rows.len()),
    });
    finished.collect()
}

/// A column whose values are of several kinds.
fn json_column(key: String, rows: &[Value<'_>], answer: &Answer) -> Result<Column, Fault> {
    let mut column = Column::new(&key);
    for (row, value) in rows.iter().enumerate() {
        let value = value.as_object().and_then(|object| object.get(&key)).unwrap_or(Value::Null);
        column.push_json(row, value, answer)?;
    }
    column.finish(rows.len())
}

/// A field whose values are of several kinds, lists or objects.
fn field_as_json(field: &Field<'_>, answer: &Answer) -> Result<Column, Fault> {
    let mut column = Column::new(field.name());
    for row in 0..answer.len() {
        let place = field.rows().map_or(row as u32, |rows| rows[row]);
        column.push_json(row, field.value(place), answer)?;
    }
    column.finish(answer.len())
}

impl Column {
    /// A column without rows.
    pub fn new(name: &str) -> Column {
        Column { name: name.into(), data: Data::Nothing, valid: None, len: 0, nulls: 0 }
    }

    /// Adds the value of a row; false where the values are of several kinds.
    #[inline]
    pub fn push(&mut self, row: usize, value: Value<'_>, limit: usize) -> bool {
        if value.is_null() {
            return true;
        }
        if self.len < row {
            self.pad(row);
        }
        if matches!(self.data, Data::Nothing) {
            self.data = Data::begin(value, self.len, limit);
        }
        let fits = self.data.push(value);
        if fits {
            self.has_value();
        }
        fits
    }

    fn push_json(&mut self, row: usize, value: Value<'_>, answer: &Answer) -> Result<(), Fault> {
        if value.is_null() {
            return Ok(());
        }
        self.pad(row);
        if matches!(self.data, Data::Nothing) {
            self.data = Data::Texts(Texts::new(self.len, answer.output));
        }
        let Data::Texts(texts) = &mut self.data else { return Ok(()) };
        texts.push_json(value).map_err(|error| answer.fault(&error))?;
        self.has_value();
        Ok(())
    }

    fn has_value(&mut self) {
        if let Some(valid) = &mut self.valid {
            valid.push(true);
        }
        self.len += 1;
    }

    /// Rows without a value, up to a row.
    fn pad(&mut self, row: usize) {
        let (len, missing) = (self.len, row.saturating_sub(self.len));
        if missing > 0 {
            self.valid.get_or_insert_with(|| vec![true; len]).resize(row, false);
            self.data.pad(row);
            self.nulls += missing;
            self.len = row;
        }
    }

    /// The column with so many rows.
    pub fn finish(mut self, rows: usize) -> Result<Column, Fault> {
        self.pad(rows);
        match &self.data {
            Data::Texts(texts) if texts.is_full => {
                let message = format!("The column `{}` is larger than the output may be", self.name);
                Err(pidq_core::Error::new(Code::OutputTooLarge, message).into())
            }
            _ => Ok(self),
        }
    }
}

impl Data {
    /// The kind of the first value is the kind of the column. Lists and objects begin none.
    fn begin(value: Value<'_>, before: usize, limit: usize) -> Data {
        match value {
            Value::Bool(_) => Data::Bools(vec![false; before]),
            Value::Number(number) if integer(number).is_some() => Data::Integers(vec![0; before]),
            Value::Number(_) => Data::Reals(vec![0.0; before]),
            Value::String(_) => Data::Texts(Texts::new(before, limit)),
            _ => Data::Nothing,
        }
    }

    #[inline]
    fn push(&mut self, value: Value<'_>) -> bool {
        match (&mut *self, value) {
            (Data::Texts(texts), Value::String(text)) => texts.push(text),
            (Data::Reals(values), Value::Number(number)) => values.push(number.value()),
            (Data::Bools(values), Value::Bool(value)) => values.push(value),
            (Data::Integers(values), Value::Number(number)) => match integer(number) {
                Some(integer) => values.push(integer),
                None => {
                    let reals = values.iter().map(|value| *value as f64).chain([number.value()]);
                    *self = Data::Reals(reals.collect());
                }
            },
            _ => return false,
        }
        true
    }

    fn pad(&mut self, rows: usize) {
        match self {
            Data::Nothing => {}
            Data::Bools(values) => values.resize(rows, false),
            Data::Integers(values) => values.resize(rows, 0),
            Data::Reals(values) => values.resize(rows, 0.0),
            Data::Texts(texts) => texts.offsets.resize(rows + 1, texts.bytes.len() as i32),
        }
    }

    /// The letter that Arrow has for it.
    pub fn format(&self) -> &'static str {
        match self {
            Data::Nothing => "n",
            Data::Bools(_) => "b",
            Data::Integers(_) => "l",
            Data::Reals(_) => "g",
            Data::Texts(_) => "u",
        }
    }
}

impl Texts {
    /// So many empty texts.
    pub fn new(before: usize, limit: usize) -> Texts {
        Texts { offsets: vec![0; before + 1], bytes: Vec::new(), limit: limit.min(i32::MAX as usize), is_full: false }
    }

    #[inline]
    fn push(&mut self, text: &str) {
        match self.bytes.len() + text.len() > self.limit {
            true => self.is_full = true,
            false => self.bytes.extend_from_slice(text.as_bytes()),
        }
        self.offsets.push(self.bytes.len() as i32);
    }

    fn push_json(&mut self, value: Value<'_>) -> pidq_core::Result<()> {
        let bytes = &mut self.bytes;
        value.write_json(self.limit - bytes.len(), &mut |piece| {
            bytes.extend_from_slice(piece.as_bytes());
            Ok(())
        })?;
        self.offsets.push(self.bytes.len() as i32);
        Ok(())
    }
}

/// The whole number that a number is: one without point and exponent in its text.
#[inline]
pub fn integer(number: Number<'_>) -> Option<i64> {
    /// Numbers up to here are whole as doubles, too.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let value = number.value();
    match number.lexeme() {
        Some(text) => text.parse().ok(),
        None => (value.fract() == 0.0 && value.abs() <= EXACT).then_some(value as i64),
    }
}
