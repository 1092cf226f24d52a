//! CSV and TSV: a line a record, fields with tabs between, as in the other tables.

use super::gather::Gather;
use super::look::{Fit, Look};
use super::spreadsheet::one_line;
use super::{Failure, Format, plain};

/// Fields with a separator that is found out.
pub const CSV: Format = Format {
    name: "csv",
    media_types: &["text/csv", "application/csv"],
    extensions: &["csv"],
    summary: "CSV, separated by comma, semicolon, tab or bar",
    sniff: is_text,
    read: |source, gather| {
        let text = plain::text(source, gather)?;
        read(text, separator(text), gather)
    },
};

/// Fields with tabs between.
pub const TSV: Format = Format {
    name: "tsv",
    media_types: &["text/tab-separated-values"],
    extensions: &["tsv", "tab"],
    summary: "fields separated by tabs",
    sniff: is_text,
    read: |source, gather| {
        let text = plain::text(source, gather)?;
        read(text, b'\t', gather)
    },
};

/// Separators, the likeliest first.
const SEPARATORS: [u8; 4] = *b",;\t|";

/// Any text can be a table with one column: the name decides.
fn is_text(look: &Look<'_>) -> Fit {
    if look.text().is_some() { Fit::Possible } else { Fit::No }
}

/// The separator by which the first lines have the same number of fields, more than one; else the first one.
fn separator(text: &str) -> u8 {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).take(10).collect();
    let count = |line: &str, separator: u8| outside_quotes(line).filter(|byte| *byte == separator).count();
    let even = |separator: &u8| {
        let first = lines.first().map_or(0, |line| count(line, *separator));
        let is_even = lines.iter().all(|line| count(line, *separator) == first);
        (is_even && first > 0, first)
    };
    SEPARATORS.into_iter().rev().max_by_key(even).unwrap_or(b',')
}

fn outside_quotes(line: &str) -> impl Iterator<Item = u8> {
    let mut quoted = false;
    line.bytes().filter(move |byte| {
        quoted ^= *byte == b'"';
        !quoted
    })
}

fn read(text: &str, separator: u8, gather: &mut Gather) -> Result<(), Failure> {
    let mut reader =
        csv::ReaderBuilder::new().delimiter(separator).flexible(true).has_headers(false).from_reader(text.as_bytes());
    let mut record = csv::StringRecord::new();
    while reader.read_record(&mut record).map_err(|_| Failure::corrupt("the table is broken"))? {
        for (number, field) in record.iter().enumerate() {
            gather.push(if number > 0 { "\t" } else { "" })?;
            gather.push(&one_line(field))?;
        }
        gather.push("\n")?;
    }
    Ok(())
}
