//! Tables in plain text: lines with cells that vertical bars or tabs separate, and their heading.

use std::ops::Range;
use std::sync::Arc;

use super::plain::Plain;
use super::sentences;

/// Lines of a text that are rows of tables.
pub struct Tables {
    rows: Vec<Line>,
}

/// A row.
#[derive(Clone, Debug)]
pub struct Line {
    /// Range of characters.
    pub range: Range<usize>,
    separator: char,
    /// Cells of the heading of the table: of its first row, unless this is it.
    header: Option<Arc<[Range<usize>]>>,
}

impl Tables {
    pub fn new(plain: &Plain) -> Tables {
        let mut rows: Vec<Line> = Vec::new();
        let mut header: Option<(Arc<[Range<usize>]>, char)> = None;
        let mut start = 0;
        while start < plain.chars.len() {
            let end = plain.run(start, |c| c != '\n');
            let range = start..end;
            match separator(plain, &range) {
                Some(separator) => {
                    let known = header.clone().filter(|(_, known)| *known == separator).map(|(cells, _)| cells);
                    if known.is_none() {
                        header = Some((cells(plain, range.clone(), separator).collect(), separator));
                    }
                    rows.push(Line { range, separator, header: known });
                }
                None => header = None,
            }
            start = end + 1;
        }
        Tables { rows }
    }

    /// Returns the row in which a statement is.
    pub fn line(&self, statement: &Range<usize>) -> Option<&Line> {
        let position = self.rows.partition_point(|row| row.range.end <= statement.start);
        self.rows.get(position).filter(|row| row.range.start <= statement.start)
    }

    /// Returns the statements of a text: each row, and the sentences of the rest.
    pub fn statements(&self, plain: &Plain) -> Vec<Range<usize>> {
        let is_row = |range: &Range<usize>| self.line(range).is_some();
        let mut statements: Vec<Range<usize>> =
            sentences::split(plain, &[]).into_iter().flat_map(|range| self.cut(plain, range)).collect();
        // The parts of a row are one statement.
        let rows = self.rows.iter().map(|row| row.range.clone()).filter(|range| !range.is_empty());
        statements.retain(|range| !is_row(range));
        statements.extend(rows);
        statements.sort_by_key(|range| range.start);
        statements
    }

    /// Cuts a sentence at the rows that a wrapped line joined to it.
    fn cut(&self, plain: &Plain, range: Range<usize>) -> Vec<Range<usize>> {
        let mut parts = Vec::new();
        let mut start = range.start;
        let first = self.rows.partition_point(|row| row.range.start <= range.start);
        for row in self.rows[first..].iter().take_while(|row| row.range.start < range.end) {
            parts.push(start..row.range.start.min(range.end));
            start = row.range.end.min(range.end);
        }
        parts.push(start..range.end);
        parts.retain(|part| plain.text(part.clone()).chars().any(char::is_alphanumeric));
        parts
    }
}

/// Returns the separator of the cells of a line that has several.
fn separator(plain: &Plain, range: &Range<usize>) -> Option<char> {
    let count = |separator: char| plain.chars[range.clone()].iter().filter(|c| **c == separator).count();
    [('|', 2), ('\t', 1), ('|', 1)].into_iter().find(|(separator, least)| count(*separator) >= *least).map(|row| row.0)
}

/// Characters of a cell that are read.
const MAX_CELL: usize = 200;

impl Line {
    /// Returns the number of cells that begin in a range.
    pub fn cells_in(&self, plain: &Plain, range: Range<usize>) -> usize {
        plain.chars[range].iter().filter(|c| **c == self.separator).count()
    }

    /// Returns the cell of the heading over a column, from 0.
    pub fn header_cell(&self, column: usize) -> Option<Range<usize>> {
        self.header.as_ref()?.get(column).map(shorten)
    }

    /// Returns the first cell with text.
    pub fn label(&self, plain: &Plain) -> Range<usize> {
        let mut cells = cells(plain, self.range.clone(), self.separator).map(|cell| shorten(&cell));
        cells.find(|cell| plain.text(cell.clone()).chars().any(char::is_alphanumeric)).unwrap_or(0..0)
    }
}

fn shorten(cell: &Range<usize>) -> Range<usize> {
    cell.start..cell.end.min(cell.start + MAX_CELL)
}

fn cells(plain: &Plain, range: Range<usize>, separator: char) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut start = range.start;
    let mut is_done = false;
    std::iter::from_fn(move || {
        if is_done {
            return None;
        }
        let end = plain.run(start, |c| c != separator).min(range.end);
        let cell = start..end;
        is_done = end >= range.end;
        start = end + 1;
        Some(cell)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_the_heading_of_their_table() {
        let plain = Plain::new("Text.\n| item | bar |\n|---|---|\n| P-1 | 16 |\nEnd of it.\nx\ty\n1\t2");
        let tables = Tables::new(&plain);
        let statements: Vec<String> = tables.statements(&plain).into_iter().map(|range| plain.text(range)).collect();
        assert_eq!(statements, ["Text.", "| item | bar |", "|---|---|", "| P-1 | 16 |", "End of it.", "x\ty", "1\t2"]);
        let cell = |text: &str, column: usize| {
            let start = (0..plain.chars.len()).find(|&start| plain.starts_with(start, text));
            let line = start.and_then(|start| tables.line(&(start..start + 1)));
            line.and_then(|line| line.header_cell(column)).map(|cell| plain.text(cell))
        };
        assert_eq!(cell("| P-1", 2).as_deref(), Some(" bar "));
        assert_eq!(cell("1\t2", 1).as_deref(), Some("y"));
        assert_eq!(cell("| item", 1), None);
        assert_eq!(cell("Text", 0), None);
    }
}
