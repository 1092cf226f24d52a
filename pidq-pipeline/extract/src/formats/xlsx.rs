//! XLSX reader: one page per sheet, one line per row, tabs between cells. Dates are written in ISO 8601, numbers in their
//! cell format.

use std::collections::HashMap;
use std::io::{BufRead, Cursor, Read};

use calamine::{DataRef, ExcelDateTime, ExcelDateTimeType, Reader, SheetType, SheetVisible, Style, Xlsx};

use super::docx::read_title;
use super::ooxml_parts;
use super::xlsx_number_format::{NumberFormat, general};
use crate::archive::{Archive, unpack_error};
use crate::text_sink::{TextSink, one_line};
use crate::xml::{self, XmlEvent};
use crate::{ExtractError, Format, Source};

/// The `xlsx` format.
pub const XLSX: Format = Format {
    name: "xlsx",
    media_types: &[
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.template",
        "application/vnd.ms-excel.sheet.macroenabled.12",
    ],
    extensions: &["xlsx", "xlsm", "xltx", "xltm"],
    summary: "Excel: one page per sheet, with formula values, formatted numbers, ISO 8601 dates, comments, text boxes and charts",
    sniff: |content| content.has_file("xl/workbook.xml"),
    read,
};

/// Maximum number of tabs between two cells that are not empty.
const MAX_COLUMN_GAP: u32 = 32;

fn read(source: &Source<'_>, sink: &mut TextSink) -> Result<(), ExtractError> {
    let mut archive = Archive::open(source.content.bytes, source.options)?;
    archive.verify()?;
    check_shared_strings(&mut archive, source.options.max_characters)?;
    let mut book: Xlsx<_> = Xlsx::new(Cursor::new(source.content.bytes)).map_err(|_| damaged_workbook())?;
    if book.sheets_metadata().len() > source.options.max_entries {
        return Err(ExtractError::too_large(format!(
            "the workbook has more than {} sheets",
            source.options.max_entries
        )));
    }
    let sheets = book.sheets_metadata().iter().filter(|sheet| sheet.typ == SheetType::WorkSheet);
    for hidden in sheets.clone().filter(|sheet| sheet.visible != SheetVisible::Visible) {
        sink.warn(format!("the sheet {} is hidden in the workbook", hidden.name));
    }
    let mut archive = Archive::open(source.content.bytes, source.options)?;
    let paths = sheet_paths(&mut archive).unwrap_or_default();
    let mut without_value = 0;
    for name in sheets.map(|sheet| sheet.name.clone()).collect::<Vec<_>>() {
        sink.begin_page(&name)?;
        sheet(&mut book, &name, sink)?;
        if let Some(path) = paths.get(&name) {
            without_value += formulas_without_value(&mut archive, path)?;
            ooxml_parts::append_related_parts(
                &mut archive,
                path,
                &["comments", "drawing", "chart", "diagramData"],
                sink,
            )?;
        }
    }
    if without_value > 0 {
        sink.warn(format!(
            "{without_value} formulas have no cached value; open and save the file in a spreadsheet program to add them"
        ));
    }
    read_title(&mut archive, sink);
    Ok(())
}

/// Returns the paths of the sheets' parts by sheet name.
fn sheet_paths(archive: &mut Archive<'_>) -> Result<HashMap<String, String>, ExtractError> {
    let targets = archive.part("xl/_rels/workbook.xml.rels").and_then(xml::relationships).unwrap_or_default();
    let targets: HashMap<_, _> = targets.into_iter().map(|target| (target.id.clone(), target.path("xl"))).collect();
    let mut paths = HashMap::new();
    xml::walk(archive.part("xl/workbook.xml")?, |node| {
        if let XmlEvent::Start("sheet", attributes) = node
            && let (Some(name), Some(id)) =
                (attributes.get("name"), attributes.get_full("r:id").or_else(|| attributes.get("id")))
            && let Some(path) = targets.get(&id)
        {
            paths.insert(name, path.clone());
        }
        Ok(())
    })?;
    paths.retain(|_, path| archive.has(path));
    Ok(paths)
}

/// Maximum number of bytes read up to the end of a tag.
const MAX_TAG_SIZE: u64 = 1 << 16;

/// Counts formulas without a cached value: programs that generate workbooks leave the calculation to the reader.
fn formulas_without_value(archive: &mut Archive<'_>, path: &str) -> Result<usize, ExtractError> {
    let mut part = archive.part(path)?;
    let (mut count, mut after_formula, mut in_value, mut tag) = (0, false, false, Vec::new());
    loop {
        tag.clear();
        // Longer text is cut; it is not a tag.
        if part.by_ref().take(MAX_TAG_SIZE).read_until(b'>', &mut tag).map_err(|error| unpack_error(&error))? == 0 {
            return Ok(count);
        }
        match tag.as_slice() {
            [.., b'<', b'/', b'f', b'>'] => after_formula = true,
            b"<v>" if after_formula => (in_value, after_formula) = (true, false),
            b"</v>" if in_value => (count, in_value) = (count + 1, false),
            b"</c>" | b"<v/>" | b"<v />" if after_formula => (count, after_formula) = (count + 1, false),
            _ => (after_formula, in_value) = (false, false),
        }
    }
}

/// Checks the shared strings: their parser allocates memory for the declared count.
fn check_shared_strings(archive: &mut Archive<'_>, limit: usize) -> Result<(), ExtractError> {
    let names = archive.names().into_iter().filter(|name| name.to_ascii_lowercase().ends_with("sharedstrings.xml"));
    for name in names.collect::<Vec<_>>() {
        let (mut declared, mut found, mut bytes) = (0, 0, 0);
        xml::walk(archive.part(&name)?, |node| {
            match node {
                XmlEvent::Start("sst", attributes) => {
                    declared = attributes.get("uniqueCount").map_or(0, |count| parse_count(&count))
                }
                XmlEvent::Start("si", _) => found += 1,
                XmlEvent::Text(text) => bytes += text.len(),
                _ => {}
            }
            Ok(())
        })?;
        if bytes > limit.saturating_mul(4) {
            return Err(ExtractError::too_large(format!("the workbook has more than {limit} characters")));
        }
        if declared > 2 * found + 1000 {
            return Err(ExtractError::corrupt("the workbook declares more shared strings than it contains"));
        }
    }
    Ok(())
}

/// Parses a number; one that is too large saturates.
fn parse_count(digits: &str) -> usize {
    match digits.trim().trim_start_matches('+') {
        digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => digits.parse().unwrap_or(usize::MAX),
        _ => 0,
    }
}

fn sheet(book: &mut Xlsx<Cursor<&[u8]>>, name: &str, sink: &mut TextSink) -> Result<(), ExtractError> {
    let mut cells = book.worksheet_cells_reader(name).map_err(|_| damaged_workbook())?;
    let formats: Vec<_> = cells.styles().iter().map(format_of).collect();
    // Cell by cell: a sheet with a cell in each corner would be a table of 17 billion cells.
    let mut last_position = None;
    while let Some((cell, style)) = cells.next_cell_with_style_id().map_err(|_| damaged_workbook())? {
        let text = cell_text(cell.get_value(), formats.get(style).and_then(Option::as_ref));
        write_cell(&text, cell.get_position(), &mut last_position, sink)?;
    }
    sink.end_line()
}

/// Writes a cell after the last one that was written: after tabs, or on a new line.
pub fn write_cell(
    text: &str,
    (row, column): (u32, u32),
    last_position: &mut Option<(u32, u32)>,
    sink: &mut TextSink,
) -> Result<(), ExtractError> {
    if text.is_empty() {
        return Ok(());
    }
    match *last_position {
        Some((last_row, last_column)) if last_row == row => sink.push(&"\t".repeat(column_gap(last_column, column)))?,
        _ => sink.end_line()?,
    }
    *last_position = Some((row, column));
    sink.push(text)
}

/// Returns the number of tabs between two cells.
fn column_gap(last_column: u32, column: u32) -> usize {
    column.saturating_sub(last_column).clamp(1, MAX_COLUMN_GAP) as usize
}

fn format_of(style: &Style) -> Option<NumberFormat> {
    NumberFormat::parse(&style.number_format.as_ref()?.format_code)
}

/// Formats a number as in its cell, or plainly if the cell format yields an empty text.
pub fn number_text(number: f64, format: Option<&NumberFormat>) -> String {
    format.and_then(|format| format.format(number)).unwrap_or_else(|| general(number))
}

fn cell_text(value: &DataRef<'_>, format: Option<&NumberFormat>) -> String {
    match value {
        DataRef::Empty => String::new(),
        DataRef::Int(number) if format.is_none() => number.to_string(),
        DataRef::Int(number) => number_text(*number as f64, format),
        DataRef::Float(number) => number_text(*number, format),
        DataRef::Bool(value) => if *value { "TRUE" } else { "FALSE" }.into(),
        DataRef::String(text) | DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => one_line(text),
        DataRef::SharedString(text) => one_line(text),
        DataRef::DateTime(time) => date(time),
        DataRef::Error(error) => error.to_string(),
    }
}

/// Formats a date, a time of day or a duration.
pub fn date(time: &ExcelDateTime) -> String {
    if time.is_duration() {
        let minutes = (time.as_f64() * 24.0 * 60.0).round();
        return format!("{}:{:02}", (minutes / 60.0).trunc(), minutes.rem_euclid(60.0));
    }
    let (year, month, day, hour, minute, second, _) = round_to_seconds(time).to_ymd_hms_milli();
    match (hour, minute, second) {
        _ if time.as_f64() < 1.0 => format!("{hour:02}:{minute:02}:{second:02}"),
        (0, 0, 0) => format!("{year:04}-{month:02}-{day:02}"),
        _ => format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}"),
    }
}

/// Rounds to the nearest second: a time of day is stored as a fraction of a day.
fn round_to_seconds(time: &ExcelDateTime) -> ExcelDateTime {
    const DAY: f64 = 86_400.0;
    // A small offset, because the conversion below truncates.
    let value = ((time.as_f64() * DAY).round() + 1e-4) / DAY;
    let is_1904 = *time == ExcelDateTime::new(time.as_f64(), ExcelDateTimeType::DateTime, true);
    ExcelDateTime::new(value, ExcelDateTimeType::DateTime, is_1904)
}

fn damaged_workbook() -> ExtractError {
    ExtractError::corrupt("the workbook is damaged")
}
