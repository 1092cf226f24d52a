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
        let (separator, table) = separated(plain::text(source, gather)?);
        read(table, separator, gather)
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

/// Separators. Of two that could be, a later one is not taken for an earlier one, but for the comma.
const SEPARATORS: [u8; 4] = *b",|\t;";

/// Records, and bytes, that are looked at to find out what separates.
const MOST_RECORDS: usize = 50;
const MOST_BYTES: usize = 1 << 16;

/// Any text can be a table with one column: the name decides.
fn is_text(look: &Look<'_>) -> Fit {
    if look.text().is_some() { Fit::Possible } else { Fit::No }
}

/// What a table may say of itself in its first line, as Excel understands it.
const SAID: &str = "sep=";

/// The separator that a table names, and the table behind that line; else the one that is found out.
fn separated(text: &str) -> (u8, &str) {
    let named = text.strip_prefix(SAID).and_then(|rest| {
        let (name, table) = rest.split_once('\n')?;
        let [separator] = name.trim_end_matches('\r').as_bytes() else { return None };
        separator.is_ascii().then_some((*separator, table))
    });
    named.unwrap_or_else(|| (separator(text), text))
}

/// The separator by which most of the first records have the same number of fields, more than one. Of two that are as
/// good the comma is not it: where something else separates, commas are those of numbers.
fn separator(text: &str) -> u8 {
    let records = records(text);
    let score = |separator: &usize| {
        let counts: Vec<usize> = records.iter().map(|record| record[*separator]).filter(|count| *count > 0).collect();
        let alike = |count: &usize| counts.iter().filter(|other| *other == count).count();
        counts.iter().map(|count| (alike(count), *count)).max().unwrap_or_default()
    };
    let best = (0..SEPARATORS.len()).max_by_key(score).filter(|best| score(best).0 > 0);
    SEPARATORS[best.unwrap_or(0)]
}

/// How often each separator stands outside of quotes in the first records.
fn records(text: &str) -> Vec<[usize; SEPARATORS.len()]> {
    let (mut records, mut quoted) = (vec![[0; SEPARATORS.len()]], false);
    for byte in text.bytes().take(MOST_BYTES) {
        quoted ^= byte == b'"';
        match SEPARATORS.iter().position(|separator| *separator == byte) {
            _ if quoted => {}
            Some(found) => records.last_mut().map_or((), |record| record[found] += 1),
            None if byte != b'\n' => {}
            None if records.len() == MOST_RECORDS => break,
            None => records.push([0; SEPARATORS.len()]),
        }
    }
    records
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
