//! Columns of a list of objects: every key, in the order of first appearance, and the type of its values.

use std::collections::HashMap;

use pidq_core::{Array, Number, Object, Value};

use crate::error::{Code, Error, Result};

/// The columns of a list of objects.
#[derive(Default)]
pub struct Columns<'a> {
    pub list: Vec<Column<'a>>,
    indices: HashMap<&'a str, usize>,
}

/// A column: its key, and the type of all its values.
pub struct Column<'a> {
    pub key: &'a str,
    pub kind: ColumnType,
}

/// Type of the values of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ColumnType {
    /// Only nulls.
    Null,
    Bool,
    /// Integers that fit into 64 bits.
    Integer,
    Number,
    /// Strings, or strings and values of other types.
    Text,
    /// Arrays and objects, written as JSON, alone or with values of other types.
    Json,
}

/// Maximum number of cells of a table. For objects without shared keys it grows with the square of their number.
const MAX_CELLS: usize = 50_000_000;

impl<'a> Columns<'a> {
    /// Determines the columns of rows.
    ///
    /// # Errors
    /// `PQ6007` when the table would have too many cells.
    pub fn from_rows(rows: impl Iterator<Item = Object<'a>>) -> Result<Columns<'a>> {
        let mut columns = Columns::default();
        let mut count = 0_usize;
        for row in rows {
            count += 1;
            for (key, value) in row.iter() {
                columns.add(key, ColumnType::of(value));
            }
        }
        if count.saturating_mul(columns.list.len()) > MAX_CELLS {
            let message = format!("the table would have more than {MAX_CELLS} cells: its objects share too few keys");
            return Err(Error::new(Code::TooLarge, message));
        }
        Ok(columns)
    }

    fn add(&mut self, key: &'a str, kind: ColumnType) {
        let index = *self.indices.entry(key).or_insert(self.list.len());
        match self.list.get_mut(index) {
            Some(column) => column.kind = column.kind.with(kind),
            None => self.list.push(Column { key, kind }),
        }
    }
}

impl ColumnType {
    /// Returns the type of a value.
    pub fn of(value: Value<'_>) -> ColumnType {
        match value {
            Value::Undefined | Value::Null => ColumnType::Null,
            Value::Bool(_) => ColumnType::Bool,
            Value::Number(number) if is_integer(number.value(), number.lexeme()) => ColumnType::Integer,
            Value::Number(_) => ColumnType::Number,
            Value::String(_) => ColumnType::Text,
            Value::Array(_) | Value::Object(_) => ColumnType::Json,
        }
    }

    fn with(self, other: ColumnType) -> ColumnType {
        match (self, other) {
            (same, other) if same == other => same,
            (ColumnType::Null, kind) | (kind, ColumnType::Null) => kind,
            (ColumnType::Integer, ColumnType::Number) | (ColumnType::Number, ColumnType::Integer) => ColumnType::Number,
            (ColumnType::Json, _) | (_, ColumnType::Json) => ColumnType::Json,
            _ => ColumnType::Text,
        }
    }
}

/// `53.0` is not an integer, since its text would change.
fn is_integer(value: f64, lexeme: Option<&str>) -> bool {
    value.fract() == 0.0
        && value.abs() <= Number::MAX_EXACT_INTEGER
        && lexeme.is_none_or(|text| text.parse::<i64>().is_ok())
}

/// Returns the objects of a list.
pub fn rows(list: Array<'_>) -> impl Iterator<Item = Object<'_>> {
    list.iter().filter_map(Value::as_object)
}
