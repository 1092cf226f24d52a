//! XLSX export: one sheet per list. Strings are written as string cells, so that no cell becomes a formula.

use pidq_core::{Array, Object, Value};
use rust_xlsxwriter::{DocProperties, ExcelDateTime, Format, Workbook, Worksheet, XlsxError};

use crate::columns::{Columns, rows};
use crate::error::{Code, Error, Result};
use crate::model::text;

const MAX_SHEETS: usize = 250;
/// Limits of XLSX: rows, columns and characters per cell.
const MAX_ROWS: usize = 1_048_576;
const MAX_COLUMNS: usize = 16_384;
const MAX_TEXT: usize = 32_767;

/// Writes a workbook: a sheet for a list, or a sheet for each list of an object. A `pid_graph` has nodes and edges.
pub fn write_workbook(value: Value<'_>) -> Result<Vec<Vec<u8>>> {
    let mut book = Workbook::new();
    // A fixed date: the same values give the same bytes.
    let date = ExcelDateTime::from_ymd(2026, 1, 1).map_err(write_error)?;
    book.set_properties(&DocProperties::new().set_creation_datetime(&date));
    let mut names = Vec::new();
    let lists = lists(value)?;
    if lists.len() > MAX_SHEETS {
        return Err(Error::new(Code::TooLarge, format!("the workbook would have more than {MAX_SHEETS} sheets")));
    }
    for (name, list) in lists {
        let name = sheet_name(name, &names);
        write_sheet(book.add_worksheet(), &name, list)?;
        names.push(name);
    }
    Ok(vec![book.save_to_buffer().map_err(write_error)?])
}

fn write_error(error: XlsxError) -> Error {
    Error::new(Code::NotTable, error.to_string())
}

/// Content of a sheet.
enum SheetContent<'a> {
    Rows(Array<'a>),
    Object(Object<'a>),
}

fn lists(value: Value<'_>) -> Result<Vec<(&str, SheetContent<'_>)>> {
    let lists: Vec<(&str, SheetContent<'_>)> = match value {
        Value::Array(list) => vec![("list", SheetContent::Rows(list))],
        Value::Object(object) => graph_or_self(object)
            .iter()
            .filter_map(|(key, value)| match value {
                Value::Array(list) => Some((key, SheetContent::Rows(list))),
                Value::Object(object) => Some((key, SheetContent::Object(object))),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    };
    if lists.is_empty() {
        return Err(Error::new(Code::NotTable, "the value contains no array to write as a sheet"));
    }
    Ok(lists)
}

fn graph_or_self(object: Object<'_>) -> Object<'_> {
    object.get("pid_graph").and_then(Value::as_object).unwrap_or(object)
}

/// Returns a valid sheet name: at most 31 characters, some excluded, unique without regard to case.
fn sheet_name(requested: &str, used: &[String]) -> String {
    let replace_invalid =
        |c: char| if matches!(c, '[' | ']' | ':' | '*' | '?' | '/' | '\\' | '\'') || c.is_control() { '_' } else { c };
    let prefix = |text: &str, length: usize| text.chars().map(replace_invalid).take(length).collect::<String>();
    let base = if requested.trim().is_empty() { "list".to_owned() } else { prefix(requested, 31) };
    let is_free = |name: &str| !used.iter().any(|other| other.to_lowercase() == name.to_lowercase());
    let numbered = (2..).map(|n| format!("{}_{n}", prefix(&base, 26)));
    std::iter::once(base.clone()).chain(numbered).find(|name| is_free(name)).unwrap_or_default()
}

fn write_sheet(sheet: &mut Worksheet, name: &str, list: SheetContent<'_>) -> Result<()> {
    sheet.set_name(name).map_err(write_error)?;
    match list {
        SheetContent::Object(object) => {
            write_rows(sheet, &Columns::from_rows([object].into_iter())?, [object].into_iter())
        }
        SheetContent::Rows(list) if list.iter().all(|item| matches!(item, Value::Object(_))) => {
            write_rows(sheet, &Columns::from_rows(rows(list))?, rows(list))
        }
        SheetContent::Rows(list) => {
            list.iter().enumerate().try_for_each(|(row, item)| write_cell(sheet, cell_index(row, MAX_ROWS)?, 0, item))
        }
    }
}

fn write_rows<'a>(sheet: &mut Worksheet, columns: &Columns<'a>, rows: impl Iterator<Item = Object<'a>>) -> Result<()> {
    let bold = Format::new().set_bold();
    for (index, column) in columns.list.iter().enumerate() {
        let column_index = cell_index(index, MAX_COLUMNS)? as u16;
        sheet.write_string_with_format(0, column_index, truncate(column.key.to_owned()), &bold).map_err(write_error)?;
    }
    sheet.set_freeze_panes(1, 0).map_err(write_error)?;
    for (index, fields) in rows.enumerate() {
        let row = cell_index(index + 1, MAX_ROWS)?;
        for (index, column) in columns.list.iter().enumerate() {
            write_cell(sheet, row, index as u16, fields.get(column.key).unwrap_or(Value::Undefined))?;
        }
    }
    Ok(())
}

fn cell_index(index: usize, limit: usize) -> Result<u32> {
    let too_large = || Error::new(Code::TooLarge, format!("the sheet would have more than {limit} rows or columns"));
    u32::try_from(index).ok().filter(|_| index < limit).ok_or_else(too_large)
}

fn write_cell(sheet: &mut Worksheet, row: u32, column: u16, value: Value<'_>) -> Result<()> {
    let result = match value {
        Value::Undefined | Value::Null => return Ok(()),
        Value::Bool(value) => sheet.write_boolean(row, column, value),
        Value::Number(number) if number.value().is_finite() => sheet.write_number(row, column, number.value()),
        other => sheet.write_string(row, column, truncate(text(other))),
    };
    result.map(drop).map_err(write_error)
}

/// Truncates a string to the limit of a cell, with an ellipsis.
fn truncate(text: String) -> String {
    if text.encode_utf16().count() <= MAX_TEXT {
        return text;
    }
    let mut units = 0;
    let prefix = text.chars().take_while(|c| {
        units += c.len_utf16();
        units < MAX_TEXT
    });
    prefix.chain(['…']).collect()
}
