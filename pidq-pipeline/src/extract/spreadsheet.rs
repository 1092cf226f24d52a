//! XLSX: a page a sheet, a line a row, cells with tabs between. Dates are written as ISO 8601 has them.

use std::io::Cursor;

use calamine::{DataRef, ExcelDateTime, Reader, SheetType, Xlsx};

use super::archive::Archive;
use super::gather::Gather;
use super::word::properties;
use super::xml::{self, Node};
use super::{Failure, Format, Source};

/// The row.
pub const XLSX: Format = Format {
    name: "xlsx",
    media_types: &[
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.template",
        "application/vnd.ms-excel.sheet.macroenabled.12",
    ],
    extensions: &["xlsx", "xlsm", "xltx", "xltm"],
    summary: "Excel: a page a sheet, the values of formulas, dates by ISO 8601",
    sniff: |look| look.has_file("xl/workbook.xml"),
    read,
};

/// Empty cells between two that say something; a table that is wider is no table.
const MAX_GAP: u32 = 32;

fn read(source: &Source<'_>, gather: &mut Gather) -> Result<(), Failure> {
    let mut archive = Archive::open(source.look.bytes, source.options)?;
    archive.verify()?;
    strings(&mut archive, source.options.characters)?;
    let mut book: Xlsx<_> = Xlsx::new(Cursor::new(source.look.bytes)).map_err(|_| broken())?;
    if book.sheets_metadata().len() > source.options.entries {
        return Err(Failure::large(format!("the workbook has more than {} sheets", source.options.entries)));
    }
    let sheets = book.sheets_metadata().iter().filter(|sheet| sheet.typ == SheetType::WorkSheet);
    for name in sheets.map(|sheet| sheet.name.clone()).collect::<Vec<_>>() {
        gather.page(&name)?;
        sheet(&mut book, &name, gather)?;
    }
    let mut archive = Archive::open(source.look.bytes, source.options)?;
    properties(&mut archive, gather);
    Ok(())
}

/// Checks the texts that cells share: their reader makes room for as many as they claim to be.
fn strings(archive: &mut Archive<'_>, limit: usize) -> Result<(), Failure> {
    let names = archive.names().into_iter().filter(|name| name.to_ascii_lowercase().ends_with("sharedstrings.xml"));
    for name in names.collect::<Vec<_>>() {
        let (mut claimed, mut found, mut bytes) = (0, 0, 0);
        xml::walk(archive.part(&name)?, |node| {
            match node {
                Node::Start("sst", attributes) => {
                    claimed = attributes.get("uniqueCount").map_or(0, |count| number(&count))
                }
                Node::Start("si", _) => found += 1,
                Node::Text(text) => bytes += text.len(),
                _ => {}
            }
            Ok(())
        })?;
        if bytes > limit.saturating_mul(4) {
            return Err(Failure::large(format!("the workbook has more than {limit} characters")));
        }
        if claimed > 2 * found + 1000 {
            return Err(Failure::corrupt("the workbook claims to have texts that it has not"));
        }
    }
    Ok(())
}

/// A number of any length: one that is too large is the largest.
fn number(digits: &str) -> usize {
    match digits.trim().trim_start_matches('+') {
        digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => digits.parse().unwrap_or(usize::MAX),
        _ => 0,
    }
}

fn sheet(book: &mut Xlsx<Cursor<&[u8]>>, name: &str, gather: &mut Gather) -> Result<(), Failure> {
    let mut cells = book.worksheet_cells_reader(name).map_err(|_| broken())?;
    // Cell by cell: a sheet with one cell in each corner would be a table of 17 billion.
    let mut at = None;
    while let Some(cell) = cells.next_cell().map_err(|_| broken())? {
        let text = text(cell.get_value());
        if text.is_empty() {
            continue;
        }
        let (row, column) = cell.get_position();
        match at {
            Some((last, before)) if last == row => gather.push(&"\t".repeat(gap(before, column)))?,
            _ => gather.line()?,
        }
        gather.push(&text)?;
        at = Some((row, column));
    }
    gather.line()
}

/// Tabs from one cell to the next one.
fn gap(before: u32, column: u32) -> usize {
    column.saturating_sub(before).clamp(1, MAX_GAP) as usize
}

fn text(value: &DataRef<'_>) -> String {
    match value {
        DataRef::Empty => String::new(),
        DataRef::Int(number) => number.to_string(),
        DataRef::Float(number) => number.to_string(),
        DataRef::Bool(value) => if *value { "TRUE" } else { "FALSE" }.into(),
        DataRef::String(text) | DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => one_line(text),
        DataRef::SharedString(text) => one_line(text),
        DataRef::DateTime(time) => date(time),
        DataRef::Error(error) => error.to_string(),
    }
}

/// A cell is one line, so that a row is.
pub fn one_line(text: &str) -> String {
    text.trim().replace("\r\n", " ").replace(['\r', '\n', '\t'], " ")
}

fn date(time: &ExcelDateTime) -> String {
    if time.is_duration() {
        let minutes = (time.as_f64() * 24.0 * 60.0).round();
        return format!("{}:{:02}", (minutes / 60.0).trunc(), minutes.rem_euclid(60.0));
    }
    let (year, month, day, hour, minute, second, _) = time.to_ymd_hms_milli();
    match (hour, minute, second) {
        _ if time.as_f64() < 1.0 => format!("{hour:02}:{minute:02}:{second:02}"),
        (0, 0, 0) => format!("{year:04}-{month:02}-{day:02}"),
        _ => format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}"),
    }
}

fn broken() -> Failure {
    Failure::corrupt("the workbook is broken")
}
