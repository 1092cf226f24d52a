//! Results as the rows of a table, in CSV (RFC 4180) or separated by tabs.

use std::collections::HashSet;

use pidq::{Object, Value};
use pidq_formats::{plain_table_cell, table_cell};

use super::output_format::{Formulas, Separator};
use crate::cli::failure;
use crate::cli::output::items;

/// Rows of all results. The first result of objects determines the columns.
pub struct TableRows {
    formulas: Formulas,
    has_header: bool,
    columns: Option<Vec<String>>,
    /// True once a warning about other columns was printed.
    is_warned: bool,
}

impl TableRows {
    pub fn new(formulas: Formulas, has_header: bool) -> TableRows {
        TableRows { formulas, has_header, columns: None, is_warned: false }
    }

    /// Formats the rows of a result: of an object or a list of objects under one header, of a list of lists, or of one
    /// value each.
    pub fn format(&mut self, value: Value<'_>, separator: Separator) -> String {
        let mut rows = Vec::new();
        let cell = self.formulas.cell();
        match value {
            Value::Object(object) => self.add_objects(&[object], &mut rows),
            Value::Array(list) if list.iter().all(|item| item.as_object().is_some()) => {
                let objects: Vec<Object<'_>> = list.iter().filter_map(|item| item.as_object()).collect();
                self.add_objects(&objects, &mut rows);
            }
            value if self.columns.is_some() && !value.is_null() => {
                self.warn("a result is no object, so its values do not belong to the columns of the header: --slurp makes one table of all documents");
                rows.extend(plain_rows(value, cell));
            }
            Value::Array(list) if list.iter().any(|item| item.as_object().is_some()) => {
                self.warn("a list has objects and other values, so it has no header: `filter(typeOf(get()) == \"object\")` keeps the objects");
                rows.extend(plain_rows(value, cell));
            }
            value => rows.extend(plain_rows(value, cell)),
        }
        format_rows(&rows, separator)
    }

    fn add_objects(&mut self, objects: &[Object<'_>], rows: &mut Vec<Vec<String>>) {
        if self.columns.is_none() && !objects.is_empty() {
            let columns = columns_of(objects);
            rows.extend(self.has_header.then(|| columns.clone()));
            self.columns = Some(columns);
        }
        let columns = self.columns.as_deref().unwrap_or_default();
        let mut other: Option<&str> = None;
        let cell = self.formulas.cell();
        for object in objects {
            let values: Vec<Option<Value<'_>>> = columns.iter().map(|key| object.get(key)).collect();
            if values.iter().flatten().count() < object.len() {
                let mut keys = object.iter().map(|(key, _)| key);
                other = other.or_else(|| keys.find(|key| columns.iter().all(|column| column != key)));
            }
            rows.push(values.into_iter().map(|value| value.map(cell).unwrap_or_default()).collect());
        }
        if let Some(key) = other {
            let message = format!(
                "a result has the field `{key}`, which the header lacks, so its value is left out: --slurp makes one table of all documents"
            );
            self.warn(&message);
        }
    }

    /// Prints the first warning about a result that does not fit the header.
    fn warn(&mut self, message: &str) {
        if !std::mem::replace(&mut self.is_warned, true) {
            failure::warn(&format!("warning: {message}\n"));
        }
    }
}

impl Formulas {
    /// Returns the writer of cells.
    fn cell(self) -> fn(Value<'_>) -> String {
        match self {
            Formulas::Plain => plain_table_cell,
            Formulas::Guarded => table_cell,
        }
    }
}

/// Returns the rows of a list of lists, or of one value each.
fn plain_rows(value: Value<'_>, cell: fn(Value<'_>) -> String) -> Vec<Vec<String>> {
    let Value::Array(list) = value else { return vec![vec![cell(value)]] };
    let row = |item| match item {
        Value::Array(_) => items(item).map(cell).collect(),
        item => vec![cell(item)],
    };
    list.iter().map(row).collect()
}

/// Returns the keys of objects in the order of their first use.
fn columns_of(objects: &[Object<'_>]) -> Vec<String> {
    let mut seen = HashSet::new();
    let keys = objects.iter().flat_map(|object| object.iter()).map(|(key, _)| key);
    keys.filter(|key| seen.insert(*key)).map(String::from).collect()
}

/// Formats rows as CSV, or as tab-separated values with `\t`, `\n`, `\r` and `\\` for these characters.
fn format_rows(rows: &[Vec<String>], separator: Separator) -> String {
    match separator {
        Separator::Csv(delimiter) => {
            let mut csv = csv::WriterBuilder::new().delimiter(delimiter).flexible(true).from_writer(Vec::new());
            // Writing to memory does not fail.
            rows.iter().for_each(|row| drop(csv.write_record(row)));
            String::from_utf8(csv.into_inner().unwrap_or_default()).unwrap_or_default()
        }
        Separator::Tab => rows.iter().map(|row| tab_separated(row)).collect(),
    }
}

fn tab_separated(cells: &[String]) -> String {
    let escape =
        |cell: &String| cell.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r");
    cells.iter().map(escape).collect::<Vec<_>>().join("\t") + "\n"
}
