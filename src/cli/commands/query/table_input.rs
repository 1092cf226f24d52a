//! Options of tables that are read.

use clap::Args;

use crate::cli::documents::{CellTypes, TableFormat};

/// Format of the tables of the input.
#[derive(Args)]
pub struct TableInput {
    /// Separate the cells of tables that are read at CHAR, such as `|`; --output-delimiter is for printed ones [default: tabs in TSV; in CSV, commas, semicolons or
    /// tabs, as the first line has them]
    #[arg(long, value_name = "CHAR", value_parser = delimiter, conflicts_with_all = ["raw_input", "null_input", "stream"])]
    delimiter: Option<u8>,

    /// Read the first row of a table like the others: the fields are `column_1`, `column_2` and so on
    #[arg(long, conflicts_with_all = ["raw_input", "null_input", "stream"])]
    no_input_header: bool,

    /// Read all cells of a table as strings; without it, cells that are written as JSON writes numbers are numbers
    #[arg(long, conflicts_with_all = ["raw_input", "null_input", "stream"])]
    text_cells: bool,
}

impl TableInput {
    /// Returns true if a delimiter is given.
    pub fn has_delimiter(&self) -> bool {
        self.delimiter.is_some()
    }

    pub fn format(&self) -> TableFormat {
        TableFormat {
            delimiter: self.delimiter,
            has_header: !self.no_input_header,
            cells: if self.text_cells { CellTypes::Texts } else { CellTypes::Numbers },
        }
    }
}

/// Parses a delimiter: one ASCII character, or `\t`.
pub fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"\\t" => Ok(b'\t'),
        [b'"' | b'\n' | b'\r'] => Err("a quote or a line break cannot separate cells".into()),
        [byte] if byte.is_ascii() => Ok(*byte),
        _ => Err("one ASCII character is expected, or `\\t`".into()),
    }
}
