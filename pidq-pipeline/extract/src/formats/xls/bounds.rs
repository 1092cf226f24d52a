//! Checks of an XLS workbook before the library for the values reads it: that follows the sectors of a damaged file in a circle,
//! and allocates all cells within the bounds of a sheet, which may be larger than any sheet.

use crate::formats::xls_number_formats::{Records, record, u16_at, u32_at, workbook_stream};

/// Largest number of cells of a sheet: 65,536 rows of 256 columns.
const MAX_CELLS: u64 = 1 << 24;

/// Returns whether the stream of a workbook is complete, and the bounds of all sheets, as stated and by the positions of their
/// cells, are those of possible sheets.
pub fn are_possible(bytes: &[u8]) -> bool {
    workbook_stream(bytes).is_some_and(|stream| {
        let starts = Records(&stream).filter(|(kind, _)| *kind == record::BOUND_SHEET);
        starts
            .filter_map(|(_, data)| u32_at(data, 0))
            .all(|start| is_possible(stream.get(start as usize..).unwrap_or_default()))
    })
}

/// Returns whether the bounds of a sheet are those of a possible one.
fn is_possible(sheet: &[u8]) -> bool {
    let mut last = [0, 0];
    for (kind, data) in Records(sheet) {
        match kind {
            record::DIMENSIONS if stated_cells(data).is_some_and(|cells| cells > MAX_CELLS) => return false,
            kind if record::CELLS.contains(&kind) => {
                let number = |at: usize| u16_at(data, at).map(u64::from);
                // A record of several cells ends with the last column.
                let column =
                    number(2).max(number(data.len().saturating_sub(2)).filter(|_| record::SEVERAL.contains(&kind)));
                last = [last[0].max(number(0).unwrap_or_default()), last[1].max(column.unwrap_or_default())];
            }
            _ => {}
        }
    }
    (last[0] + 1) * (last[1] + 1) <= MAX_CELLS
}

/// Returns the number of cells within the stated bounds of a sheet: rows of four bytes, in old versions of two.
fn stated_cells(data: &[u8]) -> Option<u64> {
    let [rows, columns] = match data.len() {
        10 => [u64::from(u16_at(data, 2)?), u64::from(u16_at(data, 6)?)],
        _ => [u64::from(u32_at(data, 4)?), u64::from(u16_at(data, 10)?)],
    };
    Some(rows * columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet(records: &[(u16, &[u16])]) -> Vec<u8> {
        let bytes = |(kind, data): &(u16, &[u16])| {
            let size = 2 * data.len() as u16;
            [*kind, size].iter().chain(data.iter()).flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>()
        };
        records.iter().flat_map(bytes).collect()
    }

    #[test]
    fn bounds_beyond_the_largest_sheet_are_not_possible() {
        let dimensions = |rows: u16, columns: u16| sheet(&[(record::DIMENSIONS, &[0, 0, rows, 0, 0, columns, 0])]);
        assert!(is_possible(&dimensions(65_535, 256)));
        assert!(is_possible(&dimensions(10, 65_535)), "a width that some programs write");
        assert!(!is_possible(&dimensions(65_535, 65_535)));
        assert!(!is_possible(&sheet(&[(record::DIMENSIONS, &[0, 0xFFFF, 0, 0xFFFF, 256])])), "an old version");
        let cells = |row: u16, column: u16| sheet(&[(record::NUMBER, &[0, 0, 0]), (record::NUMBER, &[row, column, 0])]);
        assert!(is_possible(&cells(65_535, 255)));
        assert!(!is_possible(&cells(65_535, 256)));
        assert!(!is_possible(&sheet(&[(record::MULTIPLE_RK, &[65_535, 0, 0, 0, 0, 300])])));
        assert!(is_possible(&[]));
    }
}
