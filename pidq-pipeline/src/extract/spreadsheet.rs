//! XLSX: a page a sheet, a line a row, cells with tabs between. Dates are written as ISO 8601 has them, numbers as cells
//! show them.

use std::collections::HashMap;
use std::io::{BufRead, Cursor, Read};

use calamine::{DataRef, ExcelDateTime, ExcelDateTimeType, Reader, SheetType, Style, Xlsx};

use super::archive::{Archive, unreadable};
use super::figures;
use super::gather::Gather;
use super::numbers::{NumberFormat, plain};
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
    summary: "Excel: a page a sheet, the values of formulas, numbers as cells show them, dates by ISO 8601, comments, text boxes, charts",
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
    let mut archive = Archive::open(source.look.bytes, source.options)?;
    let paths = paths(&mut archive).unwrap_or_default();
    let mut without_value = 0;
    for name in sheets.map(|sheet| sheet.name.clone()).collect::<Vec<_>>() {
        gather.page(&name)?;
        sheet(&mut book, &name, gather)?;
        if let Some(path) = paths.get(&name) {
            without_value += formulas_without_value(&mut archive, path)?;
            figures::beside(&mut archive, path, &["comments", "drawing", "chart", "diagramData"], gather)?;
        }
    }
    if without_value > 0 {
        gather
            .warn(format!("{without_value} formulas have no value in the file; a spreadsheet that saves it adds them"));
    }
    properties(&mut archive, gather);
    Ok(())
}

/// The parts of sheets by their names.
fn paths(archive: &mut Archive<'_>) -> Result<HashMap<String, String>, Failure> {
    let targets = archive.part("xl/_rels/workbook.xml.rels").and_then(xml::relationships).unwrap_or_default();
    let targets: HashMap<_, _> = targets.into_iter().map(|target| (target.id.clone(), target.path("xl"))).collect();
    let mut paths = HashMap::new();
    xml::walk(archive.part("xl/workbook.xml")?, |node| {
        if let Node::Start("sheet", own) = node
            && let (Some(name), Some(id)) = (own.get("name"), own.get_full("r:id").or_else(|| own.get("id")))
            && let Some(path) = targets.get(&id)
        {
            paths.insert(name, path.clone());
        }
        Ok(())
    })?;
    paths.retain(|_, path| archive.has(path));
    Ok(paths)
}

/// Bytes between two tags that are looked at.
const MAX_TAG: u64 = 1 << 16;

/// Formulas whose cells have no value: programs that write workbooks leave it to the one that opens them.
fn formulas_without_value(archive: &mut Archive<'_>, path: &str) -> Result<usize, Failure> {
    let mut part = archive.part(path)?;
    let (mut count, mut after_formula, mut in_value, mut tag) = (0, false, false, Vec::new());
    loop {
        tag.clear();
        // Longer texts are cut: they are no tags.
        if part.by_ref().take(MAX_TAG).read_until(b'>', &mut tag).map_err(|error| unreadable(&error))? == 0 {
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
    let formats: Vec<_> = cells.styles().iter().map(format_of).collect();
    // Cell by cell: a sheet with one cell in each corner would be a table of 17 billion.
    let mut at = None;
    while let Some((cell, style)) = cells.next_cell_with_style_id().map_err(|_| broken())? {
        let text = text(cell.get_value(), formats.get(style).and_then(Option::as_ref));
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

fn format_of(style: &Style) -> Option<NumberFormat> {
    NumberFormat::of(&style.number_format.as_ref()?.format_code)
}

/// A number as its cell shows it; as it is, where the cell would show nothing.
fn number_text(number: f64, format: Option<&NumberFormat>) -> String {
    format.and_then(|format| format.show(number)).unwrap_or_else(|| plain(number))
}

fn text(value: &DataRef<'_>, format: Option<&NumberFormat>) -> String {
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

/// A cell is one line, so that a row is.
pub fn one_line(text: &str) -> String {
    text.trim().replace("\r\n", " ").replace(['\r', '\n', '\t'], " ")
}

fn date(time: &ExcelDateTime) -> String {
    if time.is_duration() {
        let minutes = (time.as_f64() * 24.0 * 60.0).round();
        return format!("{}:{:02}", (minutes / 60.0).trunc(), minutes.rem_euclid(60.0));
    }
    let (year, month, day, hour, minute, second, _) = in_seconds(time).to_ymd_hms_milli();
    match (hour, minute, second) {
        _ if time.as_f64() < 1.0 => format!("{hour:02}:{minute:02}:{second:02}"),
        (0, 0, 0) => format!("{year:04}-{month:02}-{day:02}"),
        _ => format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}"),
    }
}

/// The nearest second: a time of day is a part of a day, which seldom comes out even.
fn in_seconds(time: &ExcelDateTime) -> ExcelDateTime {
    const DAY: f64 = 86_400.0;
    // A hair more, so that what follows, which cuts off, does not cut the second.
    let value = ((time.as_f64() * DAY).round() + 1e-4) / DAY;
    let is_1904 = *time == ExcelDateTime::new(time.as_f64(), ExcelDateTimeType::DateTime, true);
    ExcelDateTime::new(value, ExcelDateTimeType::DateTime, is_1904)
}

fn broken() -> Failure {
    Failure::corrupt("the workbook is broken")
}
