//! Text tables.

use pidq::Value;

use super::output::{compact_json, items};

/// Maximum column width; longer cells overflow instead of widening the column.
const MAX_COLUMN_WIDTH: usize = 40;
/// Separator of columns.
const COLUMN_SEPARATOR: &str = "  ";

/// Formats rows as text.
pub fn text(rows: &[Vec<String>]) -> String {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..count).map(|column| width(rows, column)).collect();
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        text.push_str(cells.collect::<Vec<_>>().join(COLUMN_SEPARATOR).trim_end());
        text.push('\n');
    }
    text
}

fn width(rows: &[Vec<String>], column: usize) -> usize {
    let lengths = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
    lengths.filter(|length| *length <= MAX_COLUMN_WIDTH).max().unwrap_or(0)
}

/// Formats a value as a cell: strings without quotes, arrays with commas, nothing for null.
pub fn cell(value: Value<'_>) -> String {
    match value {
        Value::Undefined | Value::Null => String::new(),
        Value::Array(_) => items(value).map(scalar).collect::<Vec<_>>().join(", "),
        other => scalar(other),
    }
}

fn scalar(value: Value<'_>) -> String {
    escape_controls(&value.as_str().map_or_else(|| compact_json(value), String::from))
}

/// Escapes control characters, so that document text cannot control the terminal.
pub fn escape_controls(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() { escaped.extend(c.escape_default()) } else { escaped.push(c) }
    }
    escaped
}

/// Formats a count with its noun.
pub fn count(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use pidq::Graph;

    #[track_caller]
    fn check(rows: &[&[&str]], expected: &str) {
        let rows: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(|cell| (*cell).into()).collect()).collect();
        assert_eq!(text(&rows), expected);
    }

    #[test]
    fn columns_are_as_wide_as_their_cells() {
        check(&[], "");
        check(&[&["a"]], "a\n");
        check(&[&["tag", "size"], &["P-101", ""], &["é", "80"]], "tag    size\nP-101\né      80\n");
    }

    #[test]
    fn a_long_cell_does_not_widen_its_column() {
        let long = "x".repeat(MAX_COLUMN_WIDTH + 1);
        check(&[&["a", "b"], &[&long, "c"]], &format!("a  b\n{long}  c\n"));
    }

    #[test]
    fn cells_have_no_quotes_and_no_control_characters() {
        let graph = Graph::from_json(r#"["a", ["b", 1.0, null], null, true, "\u001b[31m\n", { "c" : 1 }]"#);
        let graph = graph.expect("the case is JSON");
        let cells: Vec<String> = items(graph.root()).map(cell).collect();
        assert_eq!(cells, ["a", "b, 1.0, null", "", "true", "\\u{1b}[31m\\n", "{\"c\":1}"]);
    }
}
