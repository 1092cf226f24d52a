//! Lists of objects → columns: every key that appears, in the order of first appearance, and what its values are.

use std::collections::HashMap;

use pidq_core::{Array, Object, Value};

use crate::error::{Code, Error, Result};

/// The columns of a list of objects.
#[derive(Default)]
pub struct Columns<'a> {
    pub list: Vec<Column<'a>>,
    places: HashMap<&'a str, usize>,
}

/// A column: its key, and what all its values are.
pub struct Column<'a> {
    pub key: &'a str,
    pub kind: Kind,
}

/// What the values of a column are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Only nulls.
    Nothing,
    Bool,
    /// Whole numbers that a 64-bit integer holds.
    Integer,
    Number,
    /// Texts, or texts and others.
    Text,
    /// Lists and objects, written as JSON; alone or among others.
    Json,
}

/// Cells of a table. Objects that share no keys would make a table of the square of their number.
const MAX_CELLS: usize = 50_000_000;

impl<'a> Columns<'a> {
    /// The columns of rows.
    ///
    /// # Errors
    /// `PQ6007` when the table would have too many cells.
    pub fn of(rows: impl Iterator<Item = Object<'a>>) -> Result<Columns<'a>> {
        let mut columns = Columns::default();
        let mut count = 0_usize;
        for row in rows {
            count += 1;
            for (key, value) in row.iter() {
                columns.add(key, kind(value));
            }
        }
        if count.saturating_mul(columns.list.len()) > MAX_CELLS {
            let message = format!("the table would have more than {MAX_CELLS} cells: its objects share too few keys");
            return Err(Error::new(Code::TooLarge, message));
        }
        Ok(columns)
    }

    fn add(&mut self, key: &'a str, kind: Kind) {
        let place = *self.places.entry(key).or_insert(self.list.len());
        match self.list.get_mut(place) {
            Some(column) => column.kind = column.kind.with(kind),
            None => self.list.push(Column { key, kind }),
        }
    }
}

impl Kind {
    fn with(self, other: Kind) -> Kind {
        match (self, other) {
            (same, other) if same == other => same,
            (Kind::Nothing, kind) | (kind, Kind::Nothing) => kind,
            (Kind::Integer, Kind::Number) | (Kind::Number, Kind::Integer) => Kind::Number,
            (Kind::Json, _) | (_, Kind::Json) => Kind::Json,
            _ => Kind::Text,
        }
    }
}

fn kind(value: Value<'_>) -> Kind {
    match value {
        Value::Undefined | Value::Null => Kind::Nothing,
        Value::Bool(_) => Kind::Bool,
        Value::Number(number) if is_integer(number.value(), number.lexeme()) => Kind::Integer,
        Value::Number(_) => Kind::Number,
        Value::String(_) => Kind::Text,
        Value::Array(_) | Value::Object(_) => Kind::Json,
    }
}

/// `53.0` is no integer: its text would change.
fn is_integer(value: f64, lexeme: Option<&str>) -> bool {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    value.fract() == 0.0 && value.abs() <= EXACT && lexeme.is_none_or(|text| text.parse::<i64>().is_ok())
}

/// The objects of a list.
pub fn rows(list: Array<'_>) -> impl Iterator<Item = Object<'_>> {
    list.iter().filter_map(Value::as_object)
}
