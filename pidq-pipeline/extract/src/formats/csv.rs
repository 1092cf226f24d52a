//! CSV and TSV reader: writes one line per record, with tabs between the fields, as for other tables.

use crate::formats::txt;
use crate::sniff::{Confidence, Content};
use crate::text_sink::TextSink;
use crate::text_sink::one_line;
use crate::{ExtractError, Format};

/// CSV with a detected separator.
pub const CSV: Format = Format {
    name: "csv",
    media_types: &["text/csv", "application/csv"],
    extensions: &["csv"],
    summary: "CSV, separated by comma, semicolon, tab or vertical bar",
    sniff: is_text,
    read: |source, sink| {
        let (separator, table) = split_separator(txt::text(source, sink)?);
        read(table, separator, sink)
    },
};

/// Tab-separated values.
pub const TSV: Format = Format {
    name: "tsv",
    media_types: &["text/tab-separated-values"],
    extensions: &["tsv", "tab"],
    summary: "fields separated by tabs",
    sniff: is_text,
    read: |source, sink| {
        let text = txt::text(source, sink)?;
        read(text, b'\t', sink)
    },
};

/// Candidate separators, in ascending priority.
const SEPARATORS: [u8; 4] = *b",|\t;";

/// Maximum number of records and bytes that separator detection examines.
const MAX_SAMPLE_RECORDS: usize = 50;
const MAX_SAMPLE_SIZE: usize = 1 << 16;

/// Returns `Possible` for any text, which could be a table with one column: the name decides.
fn is_text(content: &Content<'_>) -> Confidence {
    if content.text().is_some() { Confidence::Possible } else { Confidence::No }
}

/// Prefix of a first line that declares the separator, as Excel writes it.
const SEPARATOR_PREFIX: &str = "sep=";

/// Returns the separator and the table: the declared separator with the lines after it, or else the detected one.
fn split_separator(text: &str) -> (u8, &str) {
    let declared = text.strip_prefix(SEPARATOR_PREFIX).and_then(|rest| {
        let (name, table) = rest.split_once('\n')?;
        let [separator] = name.trim_end_matches('\r').as_bytes() else { return None };
        separator.is_ascii().then_some((*separator, table))
    });
    declared.unwrap_or_else(|| (detect_separator(text), text))
}

/// Returns the separator that gives most of the first records the same number of fields, more than one. In a tie the comma
/// loses, because it may be a decimal comma.
fn detect_separator(text: &str) -> u8 {
    let records = separator_counts(text);
    let score = |separator: &usize| {
        let counts: Vec<usize> = records.iter().map(|record| record[*separator]).filter(|count| *count > 0).collect();
        let equal_counts = |count: &usize| counts.iter().filter(|other| *other == count).count();
        counts.iter().map(|count| (equal_counts(count), *count)).max().unwrap_or_default()
    };
    let best = (0..SEPARATORS.len()).max_by_key(score).filter(|best| score(best).0 > 0);
    SEPARATORS[best.unwrap_or(0)]
}

/// Counts each separator outside quotes in the first records.
fn separator_counts(text: &str) -> Vec<[usize; SEPARATORS.len()]> {
    let (mut records, mut quoted) = (vec![[0; SEPARATORS.len()]], false);
    for byte in text.bytes().take(MAX_SAMPLE_SIZE) {
        quoted ^= byte == b'"';
        match SEPARATORS.iter().position(|separator| *separator == byte) {
            _ if quoted => {}
            Some(found) => records.last_mut().map_or((), |record| record[found] += 1),
            None if byte != b'\n' => {}
            None if records.len() == MAX_SAMPLE_RECORDS => break,
            None => records.push([0; SEPARATORS.len()]),
        }
    }
    records
}

fn read(text: &str, separator: u8, sink: &mut TextSink) -> Result<(), ExtractError> {
    let mut reader =
        csv::ReaderBuilder::new().delimiter(separator).flexible(true).has_headers(false).from_reader(text.as_bytes());
    let mut record = csv::StringRecord::new();
    while reader.read_record(&mut record).map_err(|_| ExtractError::corrupt("the table is malformed"))? {
        for (number, field) in record.iter().enumerate() {
            sink.push(if number > 0 { "\t" } else { "" })?;
            sink.push(&one_line(field))?;
        }
        sink.push("\n")?;
    }
    Ok(())
}
