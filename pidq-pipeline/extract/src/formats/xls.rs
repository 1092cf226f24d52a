//! XLS reader (Excel 97 to 2003): one page per sheet, one line per row, tabs between cells. Dates are written in ISO 8601,
//! numbers in their cell format.

mod bounds;

use std::io::Cursor;
use std::panic;

use calamine::{Data, Range, Reader, Sheet, SheetVisible, Xls, XlsError};

use super::xls_number_formats::WorkbookFormats;
use super::xlsx::{date, number_text, write_cell};
use super::xlsx_number_format::NumberFormat;
use crate::sniff::{Confidence, Content};
use crate::text_sink::{TextSink, one_line};
use crate::{ExtractError, Format, Source};

/// The `xls` format.
pub const XLS: Format = Format {
    name: "xls",
    media_types: &["application/vnd.ms-excel"],
    extensions: &["xls", "xlt"],
    summary: "Excel 97 to 2003: one page per sheet, with formula values, formatted numbers and ISO 8601 dates",
    sniff,
    read,
};

fn sniff(content: &Content<'_>) -> Confidence {
    let is_book = content.has_stream("Workbook") || content.has_stream("Book");
    // Texts and presentations may contain workbooks.
    let is_other = content.has_stream("WordDocument") || content.has_stream("PowerPoint Document");
    Confidence::certain_if(is_book && !is_other)
}

fn read(source: &Source<'_>, sink: &mut TextSink) -> Result<(), ExtractError> {
    if !bounds::are_possible(source.content.bytes) {
        return Err(ExtractError::corrupt("the workbook is damaged"));
    }
    // The library panics on some damaged workbooks.
    let sheets = match panic::catch_unwind(|| sheets(source.content.bytes)) {
        Ok(Ok(sheets)) => sheets,
        Ok(Err(XlsError::Password)) => {
            return Err(ExtractError::encrypted("the workbook is encrypted; save it without a password"));
        }
        _ => return Err(ExtractError::corrupt("the workbook is damaged")),
    };
    let formats = WorkbookFormats::read(source.content.bytes);
    for (index, sheet, cells) in sheets {
        if sheet.visible != SheetVisible::Visible {
            sink.warn(format!("the sheet {} is hidden in the workbook", sheet.name));
        }
        sink.begin_page(&sheet.name)?;
        let (top, left) = cells.start().unwrap_or_default();
        let mut last_position = None;
        for (row, column, value) in cells.used_cells() {
            let position = (top + row as u32, left + column as u32);
            write_cell(&cell_text(value, formats.get(index, position)), position, &mut last_position, sink)?;
        }
        sink.end_line()?;
    }
    Ok(())
}

/// Returns the sheets with their numbers and cells. Charts have none.
fn sheets(bytes: &[u8]) -> Result<Vec<(usize, Sheet, Range<Data>)>, XlsError> {
    let mut book: Xls<_> = Xls::new(Cursor::new(bytes))?;
    let sheets = book.sheets_metadata().to_vec();
    Ok(sheets
        .into_iter()
        .enumerate()
        .filter_map(|(index, sheet)| book.worksheet_range(&sheet.name).ok().map(|cells| (index, sheet, cells)))
        .collect())
}

fn cell_text(value: &Data, format: Option<&NumberFormat>) -> String {
    match value {
        Data::Empty => String::new(),
        Data::Int(number) if format.is_none() => number.to_string(),
        Data::Int(number) => number_text(*number as f64, format),
        Data::Float(number) => number_text(*number, format),
        Data::Bool(value) => if *value { "TRUE" } else { "FALSE" }.into(),
        Data::String(text) | Data::DateTimeIso(text) | Data::DurationIso(text) => one_line(text),
        Data::DateTime(time) => date(time),
        Data::Error(error) => error.to_string(),
    }
}
