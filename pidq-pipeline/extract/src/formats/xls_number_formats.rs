//! Number formats of the cells of an XLS workbook (MS-XLS), which the library for the values does not tell.

use std::collections::HashMap;

use super::xlsx_number_format::NumberFormat;
use crate::compound_file::CompoundFile;

/// Types of records.
pub(super) mod record {
    pub const FORMULA: u16 = 0x0006;
    pub const END: u16 = 0x000A;
    pub const BOUND_SHEET: u16 = 0x0085;
    pub const MULTIPLE_RK: u16 = 0x00BD;
    pub const CELL_STYLE: u16 = 0x00E0;
    pub const DIMENSIONS: u16 = 0x0200;
    pub const NUMBER: u16 = 0x0203;
    pub const RK: u16 = 0x027E;
    pub const FORMAT: u16 = 0x041E;
    pub const BEGIN: u16 = 0x0809;

    /// Records of cells: formula, several numbers, several blank cells, texts, blank cell, number, Boolean, number.
    pub const CELLS: &[u16] = &[FORMULA, MULTIPLE_RK, 0x00BE, 0x00D6, 0x00FD, 0x0201, NUMBER, 0x0204, 0x0205, RK];
    /// Records of several cells of a row.
    pub const SEVERAL: &[u16] = &[MULTIPLE_RK, 0x00BE];
}

/// Codes of the built-in formats that show a number otherwise than it is stored, without dates and accounting formats.
const BUILT_IN: &[(u16, &str)] = &[
    (1, "0"),
    (2, "0.00"),
    (3, "#,##0"),
    (4, "#,##0.00"),
    (9, "0%"),
    (10, "0.00%"),
    (37, "#,##0 ;(#,##0)"),
    (38, "#,##0 ;[Red](#,##0)"),
    (39, "#,##0.00;(#,##0.00)"),
    (40, "#,##0.00;[Red](#,##0.00)"),
];

/// Number formats of a workbook.
#[derive(Default)]
pub struct WorkbookFormats {
    formats: HashMap<u16, NumberFormat>,
    /// For each sheet, the format numbers of its cells by row and column.
    sheets: Vec<HashMap<(u32, u32), u16>>,
}

impl WorkbookFormats {
    /// Reads the formats. A damaged workbook has none from the damage on: its numbers are written as stored.
    pub fn read(bytes: &[u8]) -> WorkbookFormats {
        workbook_stream(bytes).map(|stream| formats(&stream)).unwrap_or_default()
    }

    /// Returns the format of a cell.
    pub fn get(&self, sheet: usize, position: (u32, u32)) -> Option<&NumberFormat> {
        self.formats.get(self.sheets.get(sheet)?.get(&position)?)
    }
}

/// Returns the stream with the records of a workbook.
pub(super) fn workbook_stream(bytes: &[u8]) -> Option<Vec<u8>> {
    let file = CompoundFile::open(bytes).ok()?;
    let streams = file.children(file.root()).ok()?;
    let find = |name| streams.iter().find(|stream| stream.is_stream() && stream.name == name);
    file.read(find("Workbook").or_else(|| find("Book"))?).ok()
}

fn formats(stream: &[u8]) -> WorkbookFormats {
    let mut formats: HashMap<u16, NumberFormat> =
        BUILT_IN.iter().filter_map(|(number, code)| Some((*number, NumberFormat::parse(code)?))).collect();
    let (mut styles, mut sheets, mut is_biff8) = (Vec::new(), Vec::new(), true);
    for (kind, data) in Records(stream) {
        match kind {
            record::BEGIN => is_biff8 = u16_at(data, 0) == Some(0x0600),
            record::FORMAT => {
                if let Some((number, code)) = format_code(data, is_biff8) {
                    formats.remove(&number);
                    formats.extend(NumberFormat::parse(&code).map(|format| (number, format)));
                }
            }
            record::CELL_STYLE => styles.push(u16_at(data, 2).unwrap_or_default()),
            record::BOUND_SHEET => sheets.push(u32_at(data, 0).unwrap_or(u32::MAX)),
            record::END => break,
            _ => {}
        }
    }
    let formatted: Vec<Option<u16>> = styles.iter().map(|number| formats.get(number).map(|_| *number)).collect();
    let sheets =
        sheets.iter().map(|start| sheet_formats(stream.get(*start as usize..).unwrap_or_default(), &formatted));
    WorkbookFormats { sheets: sheets.collect(), formats }
}

/// Returns the format numbers of the cells of a sheet, for cells with a format.
fn sheet_formats(stream: &[u8], styles: &[Option<u16>]) -> HashMap<(u32, u32), u16> {
    let (mut cells, mut depth) = (HashMap::new(), 0);
    for (kind, data) in Records(stream) {
        match kind {
            record::BEGIN => depth += 1,
            record::END if depth <= 1 => break,
            // The end of an embedded chart.
            record::END => depth -= 1,
            record::NUMBER | record::RK | record::FORMULA => {
                if let (Some(row), Some(column), Some(style)) = (u16_at(data, 0), u16_at(data, 2), u16_at(data, 4)) {
                    insert(&mut cells, (row, column), style, styles);
                }
            }
            record::MULTIPLE_RK => {
                let values = data.get(4..data.len().saturating_sub(2)).unwrap_or_default().as_chunks::<6>().0;
                for (index, value) in (0..).zip(values) {
                    let column = u16_at(data, 2).unwrap_or_default().saturating_add(index);
                    let style = u16::from_le_bytes([value[0], value[1]]);
                    insert(&mut cells, (u16_at(data, 0).unwrap_or_default(), column), style, styles);
                }
            }
            _ => {}
        }
    }
    cells
}

fn insert(cells: &mut HashMap<(u32, u32), u16>, (row, column): (u16, u16), style: u16, styles: &[Option<u16>]) {
    if let Some(number) = styles.get(usize::from(style)).copied().flatten() {
        cells.insert((row.into(), column.into()), number);
    }
}

/// Returns number and code of a format: characters of one or two bytes after their count.
fn format_code(data: &[u8], is_biff8: bool) -> Option<(u16, String)> {
    let number = u16_at(data, 0)?;
    if !is_biff8 {
        let text = data.get(3..3 + usize::from(*data.get(2)?))?;
        return Some((number, encoding_rs::WINDOWS_1252.decode_without_bom_handling(text).0.into_owned()));
    }
    let (count, is_wide) = (usize::from(u16_at(data, 2)?), data.get(4)? & 1 == 1);
    let code = match is_wide {
        true => {
            let units = data.get(5..5 + 2 * count)?.as_chunks::<2>().0.iter().map(|unit| u16::from_le_bytes(*unit));
            String::from_utf16_lossy(&units.collect::<Vec<_>>())
        }
        false => data.get(5..5 + count)?.iter().map(|byte| char::from(*byte)).collect(),
    };
    Some((number, code))
}

/// The records of a stream: type, size, data.
pub(super) struct Records<'s>(pub &'s [u8]);

impl<'s> Iterator for Records<'s> {
    type Item = (u16, &'s [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let (kind, size) = (u16_at(self.0, 0)?, usize::from(u16_at(self.0, 2)?));
        let data = self.0.get(4..4 + size)?;
        self.0 = &self.0[4 + size..];
        Some((kind, data))
    }
}

pub(super) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}
