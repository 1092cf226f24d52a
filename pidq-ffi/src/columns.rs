//! Results as columns of uniform type.
//!
//! A list of objects is a table with one column per key. A column is of booleans, integers, numbers or strings if all
//! its rows are; otherwise it is a column of JSON text. Missing values are null.

use std::collections::HashMap;

use pidq_core::error::Code;
use pidq_core::{ColumnRef, Number, Value};

use crate::column_gather::gather_column;
use crate::error::AbiError;
use crate::result::OwnedResult;

/// Columns of the same length.
pub struct Table {
    pub columns: Vec<Column>,
    pub rows: usize,
}

/// Values of a key, row by row.
pub struct Column {
    pub name: String,
    pub data: Data,
    /// Validity by row; `None` if all rows have a value.
    pub valid: Option<Vec<bool>>,
    pub len: usize,
    pub nulls: usize,
}

pub enum Data {
    /// Only nulls so far.
    Null,
    Bools(Vec<bool>),
    Integers(Vec<i64>),
    Reals(Vec<f64>),
    Texts(Texts),
}

/// Concatenated strings with their start offsets, followed by the end of the last.
pub struct Texts {
    pub offsets: Vec<i32>,
    pub bytes: Vec<u8>,
    /// Strings beyond this size are dropped, and reported at the end.
    pub limit: usize,
    pub is_full: bool,
}

impl Table {
    /// Builds the columns of a result: those of its objects, or one column `value`.
    pub fn from_result(result_data: &OwnedResult) -> Result<Table, AbiError> {
        let value = result_data.value();
        if let Some(columns) = value.as_array().and_then(|list| result_data.graph().columns_of(list)) {
            return Table::from_columns(&columns, result_data);
        }
        let rows: Vec<Value<'_>> = value.as_array().map_or_else(|| vec![value], |list| list.iter().collect());
        let is_table = !rows.is_empty() && rows.iter().all(|row| matches!(row, Value::Object(_)));
        let columns = match is_table {
            true => fields(&rows, result_data)?,
            false if rows.is_empty() => Vec::new(),
            false => vec![values(&rows, result_data)?],
        };
        Ok(Table { columns, rows: rows.len() })
    }

    /// Builds the table from columns of the document.
    fn from_columns(fields: &[ColumnRef<'_>], result_data: &OwnedResult) -> Result<Table, AbiError> {
        let column = |field: &ColumnRef<'_>| match gather_column(field, result_data.output) {
            Some(column) => column.finish(result_data.len()),
            None => field_as_json(field, result_data),
        };
        let columns = fields.iter().map(column).collect::<Result<_, AbiError>>()?;
        Ok(Table { columns, rows: result_data.len() })
    }
}

/// Builds the column of values that are not objects.
fn values(rows: &[Value<'_>], result_data: &OwnedResult) -> Result<Column, AbiError> {
    let mut column = Column::new("value");
    let has_uniform_type = rows.iter().enumerate().all(|(row, value)| column.push(row, *value, result_data.output));
    if !has_uniform_type {
        column = Column::new("value");
        rows.iter().enumerate().try_for_each(|(row, value)| column.push_json(row, *value, result_data))?;
    }
    column.finish(rows.len())
}

/// Builds the columns of objects. Hot: objects of one shape have their keys at the same addresses, so a column is found
/// by comparing pointers.
fn fields<'a>(rows: &[Value<'a>], result_data: &OwnedResult) -> Result<Vec<Column>, AbiError> {
    let mut columns: Vec<Column> = Vec::new();
    let mut column_indices: HashMap<&'a str, usize> = HashMap::new();
    // By slot: the key in the previous row, and its column.
    let mut last_columns: Vec<(&'a str, usize)> = Vec::new();
    let mut mixed: Vec<bool> = Vec::new();
    for (row, value) in rows.iter().enumerate() {
        let Value::Object(object) = value else { continue };
        for (slot, (key, value)) in object.iter().enumerate() {
            let column_index = match last_columns.get(slot) {
                Some((known, column_index)) if std::ptr::eq(*known, key) => *column_index,
                _ => {
                    let column_index = *column_indices.entry(key).or_insert(columns.len());
                    if column_index == columns.len() {
                        columns.push(Column::new(key));
                        mixed.push(false);
                    }
                    last_columns.resize(last_columns.len().max(slot + 1), ("", 0));
                    last_columns[slot] = (key, column_index);
                    column_index
                }
            };
            mixed[column_index] = mixed[column_index] || !columns[column_index].push(row, value, result_data.output);
        }
    }
    let columns = columns.into_iter().zip(mixed);
    let finished = columns.map(|(column, is_mixed)| match is_mixed {
        true => json_column(column.name, rows, result_data),
        false => column.finish(rows.len()),
    });
    finished.collect()
}

/// Builds a column of values of several types.
fn json_column(key: String, rows: &[Value<'_>], result_data: &OwnedResult) -> Result<Column, AbiError> {
    let mut column = Column::new(&key);
    for (row, value) in rows.iter().enumerate() {
        let value = value.as_object().and_then(|object| object.get(&key)).unwrap_or(Value::Null);
        column.push_json(row, value, result_data)?;
    }
    column.finish(rows.len())
}

/// Builds a column of a field with values of several types, arrays or objects.
fn field_as_json(field: &ColumnRef<'_>, result_data: &OwnedResult) -> Result<Column, AbiError> {
    let mut column = Column::new(field.name());
    for row in 0..result_data.len() {
        let row_index = field.rows().map_or(row as u32, |rows| rows[row]);
        column.push_json(row, field.value(row_index), result_data)?;
    }
    column.finish(result_data.len())
}

impl Column {
    /// Creates a column without rows.
    pub fn new(name: &str) -> Column {
        Column { name: name.into(), data: Data::Null, valid: None, len: 0, nulls: 0 }
    }

    /// Adds the value of a row; returns false if the types differ.
    #[inline]
    pub fn push(&mut self, row: usize, value: Value<'_>, limit: usize) -> bool {
        if value.is_null() {
            return true;
        }
        if self.len < row {
            self.pad(row);
        }
        if matches!(self.data, Data::Null) {
            self.data = Data::begin(value, self.len, limit);
        }
        let fits = self.data.push(value);
        if fits {
            self.mark_valid();
        }
        fits
    }

    fn push_json(&mut self, row: usize, value: Value<'_>, result_data: &OwnedResult) -> Result<(), AbiError> {
        if value.is_null() {
            return Ok(());
        }
        self.pad(row);
        if matches!(self.data, Data::Null) {
            self.data = Data::Texts(Texts::new(self.len, result_data.output));
        }
        let Data::Texts(texts) = &mut self.data else { return Ok(()) };
        texts.push_json(value).map_err(|error| result_data.abi_error(&error))?;
        self.mark_valid();
        Ok(())
    }

    fn mark_valid(&mut self) {
        if let Some(valid) = &mut self.valid {
            valid.push(true);
        }
        self.len += 1;
    }

    /// Adds null rows up to a row.
    fn pad(&mut self, row: usize) {
        let (len, missing) = (self.len, row.saturating_sub(self.len));
        if missing > 0 {
            self.valid.get_or_insert_with(|| vec![true; len]).resize(row, false);
            self.data.pad(row);
            self.nulls += missing;
            self.len = row;
        }
    }

    /// Finishes the column with the given number of rows.
    pub fn finish(mut self, rows: usize) -> Result<Column, AbiError> {
        self.pad(rows);
        match &self.data {
            Data::Texts(texts) if texts.is_full => {
                let message = format!("The column `{}` exceeds the output limit", self.name);
                Err(pidq_core::Error::new(Code::OutputTooLarge, message).into())
            }
            _ => Ok(self),
        }
    }
}

impl Data {
    /// Starts a column with the type of its first value. Arrays and objects have no column type.
    fn begin(value: Value<'_>, before: usize, limit: usize) -> Data {
        match value {
            Value::Bool(_) => Data::Bools(vec![false; before]),
            Value::Number(number) if integer(number).is_some() => Data::Integers(vec![0; before]),
            Value::Number(_) => Data::Reals(vec![0.0; before]),
            Value::String(_) => Data::Texts(Texts::new(before, limit)),
            _ => Data::Null,
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
            Data::Null => {}
            Data::Bools(values) => values.resize(rows, false),
            Data::Integers(values) => values.resize(rows, 0),
            Data::Reals(values) => values.resize(rows, 0.0),
            Data::Texts(texts) => texts.offsets.resize(rows + 1, texts.bytes.len() as i32),
        }
    }

    /// Returns the format string of Arrow.
    pub fn format(&self) -> &'static str {
        match self {
            Data::Null => "n",
            Data::Bools(_) => "b",
            Data::Integers(_) => "l",
            Data::Reals(_) => "g",
            Data::Texts(_) => "u",
        }
    }
}

impl Texts {
    /// Creates `before` empty strings.
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
        value.write_json(self.limit - bytes.len(), &mut |buffer| {
            bytes.extend_from_slice(buffer.as_bytes());
            Ok(())
        })?;
        self.offsets.push(self.bytes.len() as i32);
        Ok(())
    }
}

/// Returns the integer value of a number whose text has neither point nor exponent.
#[inline]
pub fn integer(number: Number<'_>) -> Option<i64> {
    /// Largest integer that a double represents exactly.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let value = number.value();
    match number.lexeme() {
        Some(text) => text.parse().ok(),
        None => (value.fract() == 0.0 && value.abs() <= EXACT).then_some(value as i64),
    }
}
