//! Options of the format of results.

use std::io;

use clap::Args;

use super::table_input;
use crate::cli::failure;
use crate::cli::json_formatter::{Indent, Style};

/// Options that have no meaning for tables. A table is raw and compact anyway, as jq users write it: `jq -r '… | @csv'`.
const TABLE_CONFLICTS: [&str; 7] = ["lines", "join_output", "raw_output0", "tab", "indent", "seq", "ascii_output"];

/// Format of results.
#[derive(Args)]
pub struct OutputFormat {
    /// Print strings without quotes
    #[arg(short, long)]
    raw_output: bool,

    /// Like --raw-output, without a line break after each result
    #[arg(short, long)]
    join_output: bool,

    /// Like --raw-output, with a NUL character after each result instead of a line break
    #[arg(long, conflicts_with = "join_output")]
    raw_output0: bool,

    /// Print the items of a list, each on one line
    #[arg(short, long, conflicts_with_all = ["tab", "indent"])]
    lines: bool,

    /// Print a table as CSV (RFC 4180): a list of objects with a header, a list of lists, or one value per row
    #[arg(long, conflicts_with_all = TABLE_CONFLICTS)]
    csv: bool,

    /// Like --csv, separated by tabs; line breaks and tabs in cells are written as `\n` and `\t`
    #[arg(long, conflicts_with = "csv", conflicts_with_all = TABLE_CONFLICTS)]
    tsv: bool,

    /// With --csv, separate the cells at CHAR, such as `;`, which spreadsheets expect where the comma is a decimal sign
    #[arg(long, value_name = "CHAR", value_parser = table_input::delimiter, requires = "csv")]
    output_delimiter: Option<u8>,

    /// With --csv or --tsv, leave out the header
    #[arg(long)]
    no_output_header: bool,

    /// With --csv or --tsv, put an apostrophe before texts that a spreadsheet would take for a formula: those that begin
    /// with `=`, `+`, `-` or `@`
    #[arg(long)]
    guard_formulas: bool,

    /// Print each result on one line
    #[arg(short, long, conflicts_with_all = ["tab", "indent"])]
    compact_output: bool,

    /// Indent with tabs
    #[arg(long, conflicts_with = "indent")]
    tab: bool,

    /// Indent with N spaces; 0 prints one line
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(0..=16))]
    indent: u8,

    /// Sort the keys of objects
    #[arg(short = 'S', long)]
    sort_keys: bool,

    /// Print characters beyond ASCII as `\uXXXX`
    #[arg(short, long)]
    ascii_output: bool,

    /// Color the output even if it is not a terminal; `JQ_COLORS` sets the colors
    #[arg(short = 'C', long, overrides_with = "monochrome_output")]
    color_output: bool,

    /// Do not color the output
    #[arg(short = 'M', long, overrides_with = "color_output")]
    monochrome_output: bool,

    /// Print a record separator before each result (RFC 7464)
    #[arg(long)]
    seq: bool,

    /// Write each result at once
    #[arg(long)]
    unbuffered: bool,
}

/// Order of object keys.
#[derive(Clone, Copy)]
pub enum KeyOrder {
    Input,
    Sorted,
}

/// Arrangement of the results.
#[derive(Clone, Copy, Eq, PartialEq)]
pub enum Layout {
    /// JSON, each result with a line break after it.
    Json,
    /// Strings without quotes, other values as JSON, with this text after each result.
    Raw { ending: &'static str },
    /// Items of a list on one line each.
    Lines(StringFormat),
    /// Rows of a table.
    Table(Separator),
}

/// Format of a string.
#[derive(Clone, Copy, Eq, PartialEq)]
pub enum StringFormat {
    Quoted,
    Raw,
}

/// Separator of the cells of a row.
#[derive(Clone, Copy, Eq, PartialEq)]
pub enum Separator {
    /// One ASCII character in CSV.
    Csv(u8),
    /// A tab in TSV.
    Tab,
}

/// Cells that a spreadsheet would take for a formula.
#[derive(Clone, Copy, Eq, PartialEq)]
pub enum Formulas {
    /// Written as they are.
    Plain,
    /// With an apostrophe before them.
    Guarded,
}

/// Buffering of the results.
#[derive(Clone, Copy, Eq, PartialEq)]
pub enum Buffering {
    /// Written when a buffer is full, and before waiting for input.
    Blocks,
    /// After each result.
    None,
}

impl OutputFormat {
    pub fn layout(&self) -> Layout {
        match self {
            OutputFormat { csv: true, .. } => Layout::Table(Separator::Csv(self.output_delimiter.unwrap_or(b','))),
            OutputFormat { tsv: true, .. } => Layout::Table(Separator::Tab),
            OutputFormat { lines: true, raw_output: true, .. } => Layout::Lines(StringFormat::Raw),
            OutputFormat { lines: true, .. } => Layout::Lines(StringFormat::Quoted),
            OutputFormat { join_output: true, .. } => Layout::Raw { ending: "" },
            OutputFormat { raw_output0: true, .. } => Layout::Raw { ending: "\0" },
            OutputFormat { raw_output: true, .. } => Layout::Raw { ending: "\n" },
            _ => Layout::Json,
        }
    }

    /// Returns true if the names of the columns are printed before their rows.
    pub fn has_header(&self) -> bool {
        !self.no_output_header
    }

    pub fn formulas(&self) -> Formulas {
        if self.guard_formulas { Formulas::Guarded } else { Formulas::Plain }
    }

    pub fn style(&self) -> Style {
        let indent = match self.indent {
            _ if self.tab => Some(Indent::Tab),
            0 => None,
            _ if self.compact_output || self.lines => None,
            width => Some(Indent::Spaces(width.into())),
        };
        let colors = self.color_output || !self.monochrome_output && failure::wants_colors(&io::stdout());
        Style { indent, colors }
    }

    pub fn key_order(&self) -> KeyOrder {
        if self.sort_keys { KeyOrder::Sorted } else { KeyOrder::Input }
    }

    pub fn buffering(&self) -> Buffering {
        if self.unbuffered { Buffering::None } else { Buffering::Blocks }
    }

    /// Returns the text before each result.
    pub fn prefix(&self) -> &'static str {
        if self.seq { "\u{1E}" } else { "" }
    }

    /// Returns true if only ASCII is printed.
    pub fn is_ascii(&self) -> bool {
        self.ascii_output
    }
}
