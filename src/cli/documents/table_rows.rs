//! Rows of a table as documents: CSV (RFC 4180) and tab-separated values, whose first row may name the
//! fields.

use std::collections::{HashSet, VecDeque};
use std::io::{self, BufRead, BufReader, Chain, Cursor, Read};

use csv::{ByteRecord, Reader, ReaderBuilder};
use pidq::Value;
use pidq_formats::table_delimiter;

use crate::cli::json_texts::BYTE_ORDER_MARK;
use crate::cli::sorted_json::json;

/// Most bytes of a row, as of any document.
const MAX_ROW: u64 = u32::MAX as u64;
/// Most bytes of the first line that are searched for the delimiter.
const MAX_SEARCHED: u64 = 1 << 20;
/// Row after the last one. If it is part of a cell, the quotes of this cell are not closed.
const END: &[u8] = b"\n\0";
/// Most digits of a number that all numbers of 64 bits keep.
const EXACT_DIGITS: usize = 15;

/// Notation of a table.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Notation {
    /// Cells in quotes where needed, after commas, semicolons or tabs: the first line decides.
    Csv,
    /// Cells after tabs, without quotes, with `\t`, `\n`, `\r` and `\\` for these characters.
    Tsv,
}

/// Format of tables, beside their notation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TableFormat {
    /// Delimiter of the cells; `None` for that of the notation.
    pub delimiter: Option<u8>,
    /// False if the first row is a row like the others.
    pub has_header: bool,
    pub cells: CellTypes,
}

impl Default for TableFormat {
    fn default() -> TableFormat {
        TableFormat { delimiter: None, has_header: true, cells: CellTypes::Numbers }
    }
}

/// Types of the cells of a table that are not empty.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CellTypes {
    /// Numbers that are written as JSON writes them become numbers.
    Numbers,
    /// All are strings.
    Texts,
}

/// Row that is no document, or a source that cannot be read.
#[derive(Debug)]
pub enum RowError {
    Io(io::Error),
    /// Line of the row, and the reason.
    Malformed(usize, String),
}

/// Iterator of the rows of a table, each as the JSON text of an object and the line where it starts.
pub struct TableRows<R> {
    reader: Reader<Source<R>>,
    notation: Notation,
    format: TableFormat,
    /// True if the record is the first row of a table without a header, which was read to count the columns.
    is_record_pending: bool,
    delimiter: char,
    /// Lines before the header, which declare the delimiter.
    skipped_lines: usize,
    /// Field names as JSON strings; `None` before the header.
    names: Option<Vec<String>>,
    record: ByteRecord,
    /// Line where the record starts.
    line: usize,
}

impl<R: Read> TableRows<R> {
    /// Reads the first line, to find the delimiter.
    pub fn new(reader: R, notation: Notation, format: TableFormat) -> io::Result<TableRows<R>> {
        let mut reader = BufReader::new(reader);
        let mut first_line = Vec::new();
        (&mut reader).take(MAX_SEARCHED).read_until(b'\n', &mut first_line)?;
        if first_line.starts_with(BYTE_ORDER_MARK) {
            first_line.drain(..BYTE_ORDER_MARK.len());
        }
        let (delimiter, is_declaration) = match (format.delimiter, notation) {
            (Some(delimiter), _) => (delimiter, false),
            (None, Notation::Csv) => table_delimiter(String::from_utf8_lossy(&first_line).trim_end()),
            (None, Notation::Tsv) => (b'\t', false),
        };
        if is_declaration {
            first_line.clear();
        }
        let source = Source::new(Cursor::new(first_line).chain(reader).chain(END));
        let reader = ReaderBuilder::new()
            .delimiter(delimiter)
            .quoting(notation == Notation::Csv)
            .has_headers(false)
            .flexible(true)
            .from_reader(source);
        let skipped_lines = usize::from(is_declaration);
        let delimiter = char::from(delimiter);
        Ok(TableRows {
            reader,
            notation,
            format,
            is_record_pending: false,
            delimiter,
            skipped_lines,
            names: None,
            record: ByteRecord::new(),
            line: 1,
        })
    }

    /// Returns true if the next row must be read first, which may wait for its writer.
    pub fn must_read(&self) -> bool {
        // A line end at the position may belong to the last row.
        let (source, position) = (self.reader.get_ref(), self.reader.position().byte());
        self.names.is_none() || !source.is_at_end && source.line_ends.back().is_none_or(|end| *end <= position)
    }

    fn next_row(&mut self) -> Result<Option<(Vec<u8>, usize)>, RowError> {
        if self.names.is_none() {
            // Without a header, there are no rows; a malformed one is reported once.
            self.names = Some(Vec::new());
            if self.read_record()? {
                self.names = Some(if self.format.has_header { self.header_names()? } else { self.numbered_names() });
                self.is_record_pending = !self.format.has_header;
            }
        }
        let is_read = std::mem::take(&mut self.is_record_pending);
        if self.names.as_ref().is_some_and(Vec::is_empty) || !is_read && !self.read_record()? {
            return Ok(None);
        }
        Ok(Some((self.object()?, self.line)))
    }

    /// Reads a row. Returns false after the last one.
    fn read_record(&mut self) -> Result<bool, RowError> {
        let position = self.reader.position().byte();
        self.reader.get_mut().limit = position.saturating_add(MAX_ROW);
        let is_read = self.reader.read_byte_record(&mut self.record).map_err(|error| RowError::Io(error.into()))?;
        self.find_line();
        let last_cell = self.record.iter().next_back().unwrap_or_default();
        let is_at_end = self.reader.get_ref().is_at_end;
        if !is_read || is_at_end && self.record.len() == 1 && last_cell == &END[1..] {
            return Ok(false);
        }
        if is_at_end && last_cell.ends_with(END) {
            return Err(self.malformed("has a cell whose quotes are not closed: write a quote in a cell as `\"\"`"));
        }
        Ok(true)
    }

    /// Returns the names of the fields. Empty and repeated names get the number of their column.
    fn header_names(&self) -> Result<Vec<String>, RowError> {
        let (mut used, mut names) = (HashSet::new(), Vec::new());
        for (index, cell) in self.record.iter().enumerate() {
            let text = self.text(cell)?;
            let number = index + 1;
            let base = if text.is_empty() { format!("column_{number}") } else { text };
            let numbered = (number..).map(|number| format!("{base}_{number}"));
            let name = std::iter::once(base.clone()).chain(numbered).find(|name| used.insert(name.clone()));
            names.push(json(Value::String(&name.unwrap_or(base))));
        }
        Ok(names)
    }

    /// Returns the names of the fields of a table without a header.
    fn numbered_names(&self) -> Vec<String> {
        (1..=self.record.len()).map(|number| format!("\"column_{number}\"")).collect()
    }

    /// Returns the row as an object. Cells that are empty or missing are null.
    fn object(&self) -> Result<Vec<u8>, RowError> {
        let names = self.names.as_deref().unwrap_or_default();
        if self.record.len() > names.len() {
            let (cells, columns, delimiter) = (self.record.len(), names.len(), self.delimiter.escape_default());
            return Err(self.malformed(&format!(
                "has {cells} cells, but the first row has {columns}: enclose cells that contain `{delimiter}` in quotes, or \
                 name all columns"
            )));
        }
        let mut object = vec![b'{'];
        for (index, name) in names.iter().enumerate() {
            if index > 0 {
                object.push(b',');
            }
            object.extend_from_slice(name.as_bytes());
            object.push(b':');
            match self.record.get(index).unwrap_or_default() {
                b"" => object.extend_from_slice(b"null"),
                cell if self.format.cells == CellTypes::Numbers && is_exact_number(cell) => {
                    object.extend_from_slice(cell)
                }
                cell => object.extend_from_slice(json(Value::String(&self.text(cell)?)).as_bytes()),
            }
        }
        object.push(b'}');
        Ok(object)
    }

    /// Returns the text of a cell, without escapes.
    fn text(&self, cell: &[u8]) -> Result<String, RowError> {
        let text = str::from_utf8(cell).map_err(|_| self.malformed("is not UTF-8: convert it, as with `iconv`"))?;
        Ok(match self.notation {
            Notation::Csv => text.to_owned(),
            Notation::Tsv => without_escapes(text),
        })
    }

    /// Finds the line where the row starts. The reader counts from empty lines before it.
    fn find_line(&mut self) {
        let terminator = self.reader.position().byte().saturating_sub(1);
        let source = self.reader.get_mut();
        while source.line_ends.front().is_some_and(|end| *end < terminator) {
            source.line_ends.pop_front();
            source.lines += 1;
        }
        let lines_of_cells = self.record.as_slice().iter().filter(|byte| **byte == b'\n').count();
        self.line = self.skipped_lines + 1 + source.lines.saturating_sub(lines_of_cells);
    }

    fn malformed(&self, reason: &str) -> RowError {
        RowError::Malformed(self.line, reason.to_owned())
    }
}

impl<R: Read> Iterator for TableRows<R> {
    type Item = Result<(Vec<u8>, usize), RowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_row().transpose()
    }
}

/// Returns true for a number that is written back as it was read, and computed with as it is written: without exponent,
/// which tags may look like, and without leading zeros.
fn is_exact_number(cell: &[u8]) -> bool {
    let digits = cell.strip_prefix(b"-").unwrap_or(cell);
    let (whole, fraction) = match digits.iter().position(|byte| *byte == b'.') {
        Some(point) => (&digits[..point], Some(&digits[point + 1..])),
        None => (digits, None),
    };
    let are_digits = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    are_digits(whole)
        && fraction.is_none_or(are_digits)
        && (whole.len() == 1 || whole[0] != b'0')
        && whole.len() + fraction.map_or(0, <[u8]>::len) <= EXACT_DIGITS
        && cell != b"-0"
}

/// Replaces the escapes of tab-separated values. Other backslashes stay.
fn without_escapes(text: &str) -> String {
    let (mut unescaped, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find('\\') {
        unescaped.push_str(&rest[..at]);
        let character = match rest.as_bytes().get(at + 1) {
            Some(b't') => '\t',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            _ => '\\',
        };
        unescaped.push(character);
        let is_escape = character != '\\' || rest[at + 1..].starts_with('\\');
        rest = &rest[at + 1 + usize::from(is_escape)..];
    }
    unescaped + rest
}

/// Bytes of a table: what was read to find the delimiter, the rest, and the end of the last row.
type Input<R> = Chain<Chain<Cursor<Vec<u8>>, BufReader<R>>, &'static [u8]>;

/// Source of a table, which counts its bytes.
struct Source<R> {
    reader: Input<R>,
    /// Number of bytes that were read.
    read: u64,
    /// Offsets of the line ends that were read, except those before the current row.
    line_ends: VecDeque<u64>,
    /// Number of line ends before them.
    lines: usize,
    /// Offset up to which the current row may extend.
    limit: u64,
    is_at_end: bool,
}

impl<R> Source<R> {
    fn new(reader: Input<R>) -> Source<R> {
        Source { reader, read: 0, line_ends: VecDeque::new(), lines: 0, limit: MAX_ROW, is_at_end: false }
    }
}

impl<R: Read> Read for Source<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.read >= self.limit {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a row is longer than 4 GiB"));
        }
        let len = self.reader.read(buffer)?;
        let offsets = (self.read..).zip(&buffer[..len]);
        self.line_ends.extend(offsets.filter(|(_, byte)| **byte == b'\n').map(|(offset, _)| offset));
        self.read += len as u64;
        self.is_at_end = len == 0;
        Ok(len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(table: &str, notation: Notation) -> Vec<String> {
        rows_in(table, notation, TableFormat::default())
    }

    fn rows_in(table: &str, notation: Notation, format: TableFormat) -> Vec<String> {
        let rows = TableRows::new(table.as_bytes(), notation, format).expect("it reads");
        rows.map(|row| match row {
            Ok((object, line)) => format!("{line} {}", String::from_utf8_lossy(&object)),
            Err(RowError::Malformed(line, reason)) => format!("{line} {reason}"),
            Err(RowError::Io(error)) => error.to_string(),
        })
        .collect()
    }

    #[test]
    fn the_format_of_a_table_can_be_given() {
        let plain = TableFormat::default();
        let without_header = TableFormat { has_header: false, ..plain };
        for (table, format, expected) in [
            ("a|b\n1|x,y\n", TableFormat { delimiter: Some(b'|'), ..plain }, vec![r#"2 {"a":1,"b":"x,y"}"#]),
            (
                "1,2\n3,\n",
                without_header,
                vec![r#"1 {"column_1":1,"column_2":2}"#, r#"2 {"column_1":3,"column_2":null}"#],
            ),
            (
                "1\n2,3\n",
                without_header,
                vec![
                    r#"1 {"column_1":1}"#,
                    "2 has 2 cells, but the first row has 1: enclose cells that contain `,` in quotes, or name all columns",
                ],
            ),
            ("", without_header, vec![]),
            (
                "zip\n01234\n5\n\"\"\n",
                TableFormat { cells: CellTypes::Texts, ..plain },
                vec![r#"2 {"zip":"01234"}"#, r#"3 {"zip":"5"}"#, r#"4 {"zip":null}"#],
            ),
        ] {
            assert_eq!(rows_in(table, Notation::Csv, format), expected, "{table:?}");
        }
        assert_eq!(
            rows_in("a;b\n1;2\n", Notation::Tsv, TableFormat { delimiter: Some(b';'), ..plain }),
            [r#"2 {"a":1,"b":2}"#]
        );
    }

    #[test]
    fn rows_are_objects() {
        let cases: [(&str, &[&str]); 9] = [
            ("", &[]),
            ("tag,kw", &[]),
            ("tag,kw\nP-1,15", &[r#"2 {"tag":"P-1","kw":15}"#]),
            (
                "\u{FEFF}tag,kw\r\nP-1,\r\n\r\nP-2,1.50\r\n",
                &[r#"2 {"tag":"P-1","kw":null}"#, r#"4 {"tag":"P-2","kw":1.50}"#],
            ),
            ("a;b\n1,5;x\n", &[r#"2 {"a":"1,5","b":"x"}"#]),
            ("sep=;\na;b\n1\n", &[r#"3 {"a":1,"b":null}"#]),
            ("a,,a\n1,2,3\n", &[r#"2 {"a":1,"column_2":2,"a_3":3}"#]),
            (
                "\"a\nb\",c\n\"x\"\"y,\n\",'=1\n4,'-5",
                &[r#"3 {"a\nb":"x\"y,\n","c":"'=1"}"#, r#"5 {"a\nb":4,"c":"'-5"}"#],
            ),
            ("a\n6\" pipe\n\0\n", &[r#"2 {"a":"6\" pipe"}"#, r#"3 {"a":"\u0000"}"#]),
        ];
        for (table, expected) in cases {
            assert_eq!(rows(table, Notation::Csv), expected, "{table:?}");
        }
    }

    #[test]
    fn tabs_separate_cells_without_quotes() {
        let table = "tag\tnote\nP-1\t\"a\\tb\\\\n\\x\\\n";
        assert_eq!(rows(table, Notation::Tsv), [r#"2 {"tag":"P-1","note":"\"a\tb\\n\\x\\"}"#]);
    }

    #[test]
    fn malformed_rows_are_named_by_their_lines() {
        let long = rows("a,b\n1,2,3\n4,5\n", Notation::Csv);
        assert!(long[0].starts_with("2 has 3 cells, but the first row has 2"), "{long:?}");
        assert_eq!(long[1..], [r#"3 {"a":4,"b":5}"#]);
        for table in ["a,b\n1,\"2\n3,4\n", "\"a,b\n", "a\n\"1\n", "a\n\""] {
            let unclosed = rows(table, Notation::Csv);
            assert!(unclosed[0].contains("quotes are not closed"), "{table:?} {unclosed:?}");
            assert_eq!(unclosed.len(), 1, "{table:?}");
        }
    }

    #[test]
    fn numbers_are_those_that_stay_as_they_are_written() {
        for number in ["0", "-1", "10", "0.5", "-0.0", "1.50", "123456789012345"] {
            assert!(is_exact_number(number.as_bytes()), "{number}");
        }
        for text in ["", "-", ".5", "5.", "007", "+1", "1e5", "1,5", "-0", "1234567890123456", "0x1", "1 ", "٣", "NaN"]
        {
            assert!(!is_exact_number(text.as_bytes()), "{text}");
        }
    }
}
