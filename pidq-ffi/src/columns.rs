//! Results as columns of uniform type.
//!
//! A list of objects is a table with one column per key. A column is of booleans, integers, numbers or strings if all
//! its rows are; otherwise it is a column of JSON text. Missing values are null.

pub mod column;
mod gather;

use std::collections::{HashMap, HashSet};

use pidq_core::{ColumnRef, Value};

use crate::abi_error::AbiError;
use crate::columns::column::Column;
use crate::columns::gather::gather_column;
use crate::result::ResultView;

/// Columns of the same length.
pub struct Table {
    pub columns: Vec<Column>,
    pub rows: usize,
}

impl Table {
    /// Builds the columns of a result: those of its objects, or one column `value`.
    pub fn from_result(view: &ResultView<'_>) -> Result<Table, AbiError> {
        let value = view.value;
        if let Some(columns) = value.as_array().and_then(|list| view.graph.columns_of(list)) {
            return Table::from_columns(&columns, view);
        }
        let rows: Vec<Value<'_>> = value.as_array().map_or_else(|| vec![value], |list| list.iter().collect());
        let is_table = !rows.is_empty() && rows.iter().all(|row| matches!(row, Value::Object(_)));
        let columns = match is_table {
            true => fields(&rows, view)?,
            false if rows.is_empty() => Vec::new(),
            false => vec![values(&rows, view)?],
        };
        Ok(Table { columns, rows: rows.len() })
    }

    /// Returns the names of the columns that [`Table::from_result`] builds.
    pub fn column_names(view: &ResultView<'_>) -> Vec<String> {
        if let Some(columns) = view.value.as_array().and_then(|list| view.graph.columns_of(list)) {
            return columns.iter().map(|column| column.name().to_owned()).collect();
        }
        let is_list = view.value.as_array().is_some();
        let rows = || view.value.items().chain((!is_list).then_some(view.value));
        if !rows().all(|row| matches!(row, Value::Object(_))) {
            return vec!["value".to_owned()];
        }
        let mut seen = HashSet::new();
        rows().flat_map(Value::entries).filter(|(key, _)| seen.insert(*key)).map(|(key, _)| key.to_owned()).collect()
    }

    /// Appends the rows of another table. Columns that one of them lacks are null there. Returns false, and appends
    /// nothing, if a column has different types in the two, or would be too long.
    pub fn append(&mut self, mut other: Table) -> bool {
        let position = |(at, column): (usize, &Column)| match self.columns.get(at) {
            Some(own) if own.name == column.name => Some(at),
            _ => self.columns.iter().position(|own| own.name == column.name),
        };
        let positions: Vec<Option<usize>> = other.columns.iter().enumerate().map(position).collect();
        let mut pairs = positions.iter().zip(&other.columns);
        if !pairs.all(|(own, column)| own.is_none_or(|own| self.columns[own].can_append(column))) {
            return false;
        }
        for (own, mut column) in positions.into_iter().zip(other.columns.drain(..)) {
            column.pad(other.rows);
            match own {
                Some(own) => self.columns[own].append(self.rows, column),
                None => {
                    let mut new = Column::new(&column.name);
                    new.append(self.rows, column);
                    self.columns.push(new);
                }
            }
        }
        self.rows += other.rows;
        true
    }

    /// Adds a row in which all columns are null.
    pub fn push_null(&mut self) {
        self.rows += 1;
    }

    /// Finishes all columns.
    pub fn finish(self) -> Result<Table, AbiError> {
        let columns = self.columns.into_iter().map(|column| column.finish(self.rows));
        Ok(Table { columns: columns.collect::<Result<_, AbiError>>()?, rows: self.rows })
    }

    /// Builds the table from columns of the document.
    fn from_columns(fields: &[ColumnRef<'_>], view: &ResultView<'_>) -> Result<Table, AbiError> {
        let column = |field: &ColumnRef<'_>| match gather_column(field, view.output) {
            Some(column) => column.finish(view.len()),
            None => field_as_json(field, view),
        };
        let columns = fields.iter().map(column).collect::<Result<_, AbiError>>()?;
        Ok(Table { columns, rows: view.len() })
    }
}

/// Builds the column of values that are not objects.
fn values(rows: &[Value<'_>], view: &ResultView<'_>) -> Result<Column, AbiError> {
    let mut column = Column::new("value");
    let has_uniform_type = rows.iter().enumerate().all(|(row, value)| column.push(row, *value, view.output));
    if !has_uniform_type {
        column = Column::new("value");
        rows.iter().enumerate().try_for_each(|(row, value)| column.push_json(row, *value, view))?;
    }
    column.finish(rows.len())
}

/// Builds the columns of objects. Hot: objects of one shape have their keys at the same addresses, so a column is found
/// by comparing pointers.
fn fields<'a>(rows: &[Value<'a>], view: &ResultView<'_>) -> Result<Vec<Column>, AbiError> {
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
            mixed[column_index] = mixed[column_index] || !columns[column_index].push(row, value, view.output);
        }
    }
    let columns = columns.into_iter().zip(mixed);
    let finished = columns.map(|(column, is_mixed)| match is_mixed {
        true => json_column(column.name, rows, view),
        false => column.finish(rows.len()),
    });
    finished.collect()
}

/// Builds a column of values of several types.
fn json_column(key: String, rows: &[Value<'_>], view: &ResultView<'_>) -> Result<Column, AbiError> {
    let mut column = Column::new(&key);
    for (row, value) in rows.iter().enumerate() {
        let value = value.as_object().and_then(|object| object.get(&key)).unwrap_or(Value::Null);
        column.push_json(row, value, view)?;
    }
    column.finish(rows.len())
}

/// Builds a column of a field with values of several types, arrays or objects.
fn field_as_json(field: &ColumnRef<'_>, view: &ResultView<'_>) -> Result<Column, AbiError> {
    let mut column = Column::new(field.name());
    for row in 0..view.len() {
        let row_index = field.rows().map_or(row as u32, |rows| rows[row]);
        column.push_json(row, field.value(row_index), view)?;
    }
    column.finish(view.len())
}
