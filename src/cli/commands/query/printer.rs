//! Printer of results.

use std::borrow::Cow;
use std::io;

use pidq::error::Code;
use pidq::{Error, Limits, Query, RunResult, Value};

use super::output_format::{Buffering, KeyOrder, Layout, OutputFormat, StringFormat};
use super::table_rows::TableRows;
use crate::cli::failure::Failure;
use crate::cli::json_formatter::JsonFormatter;
use crate::cli::pager::Output;
use crate::cli::sorted_json;

/// Printer of results on standard output.
pub struct Printer {
    formatter: JsonFormatter<Output>,
    layout: Layout,
    key_order: KeyOrder,
    buffering: Buffering,
    /// Text before each result.
    prefix: &'static str,
    is_ascii: bool,
    table_rows: TableRows,
    last: LastResult,
}

/// Kind of the last result.
#[derive(Clone, Copy)]
pub enum LastResult {
    None,
    Falsy,
    Truthy,
}

impl LastResult {
    pub fn from_value(value: Value<'_>) -> LastResult {
        match value {
            Value::Undefined | Value::Null | Value::Bool(false) => LastResult::Falsy,
            _ => LastResult::Truthy,
        }
    }
}

/// Error of printing a result.
pub enum PrintError {
    Output(io::Error),
    Engine(Error),
    /// The result has no form in the format.
    Unprintable(&'static str),
}

impl PrintError {
    pub fn into_failure(self, query: &Query, outcome: &RunResult<'_>) -> Failure {
        match self {
            PrintError::Output(error) => Failure::from(error),
            PrintError::Engine(error) => Failure::Query(outcome.explain_error(error), query.source().into()),
            PrintError::Unprintable(reason) => Failure::Usage(reason.into()),
        }
    }
}

impl From<io::Error> for PrintError {
    fn from(error: io::Error) -> PrintError {
        PrintError::Output(error)
    }
}

/// Result of printing.
pub type PrintResult = Result<(), PrintError>;

impl Printer {
    pub fn new(format: &OutputFormat, output: Output) -> Printer {
        Printer {
            formatter: JsonFormatter::new(output, format.style()),
            layout: format.layout(),
            key_order: format.key_order(),
            buffering: format.buffering(),
            prefix: format.prefix(),
            is_ascii: format.is_ascii(),
            table_rows: TableRows::new(format.formulas(), format.has_header()),
            last: LastResult::None,
        }
    }

    /// Returns the kind of the last result.
    pub fn last(&self) -> LastResult {
        self.last
    }

    pub fn print(&mut self, value: Value<'_>, limits: Limits<'_>) -> PrintResult {
        self.last = self.last_printed(value);
        match (self.layout, value) {
            (Layout::Table(separator), _) => {
                let rows = self.table_rows.format(value, separator);
                self.formatter.raw(&rows)?;
            }
            (Layout::Lines(format), Value::Array(items)) => {
                items.iter().try_for_each(|item| self.print_one(item, format, "\n", limits))?;
            }
            (Layout::Lines(format), _) => self.print_one(value, format, "\n", limits)?,
            (Layout::Raw { ending }, _) => self.print_one(value, StringFormat::Raw, ending, limits)?,
            (Layout::Json, _) => self.print_one(value, StringFormat::Quoted, "\n", limits)?,
        }
        match self.buffering {
            Buffering::None => Ok(self.flush()?),
            Buffering::Blocks => Ok(()),
        }
    }

    /// Returns the kind of the last line of a result, or that of the one before if the result has no line.
    fn last_printed(&self, value: Value<'_>) -> LastResult {
        let is_divided = matches!(self.layout, Layout::Lines(_) | Layout::Table(_));
        match value {
            Value::Array(items) if is_divided => items.iter().last().map_or(self.last, LastResult::from_value),
            value => LastResult::from_value(value),
        }
    }

    pub fn flush(&mut self) -> io::Result<()> {
        self.formatter.flush()
    }

    /// Returns the output, with all that was printed.
    pub fn output(&mut self) -> &mut Output {
        self.formatter.writer()
    }

    fn print_one(&mut self, value: Value<'_>, format: StringFormat, ending: &str, limits: Limits<'_>) -> PrintResult {
        self.formatter.raw(self.prefix)?;
        match (format, value) {
            (StringFormat::Raw, Value::String(text)) if ending == "\0" && text.contains('\0') => {
                let reason = "a result contains a NUL character, which separates the results with --raw-output0";
                return Err(PrintError::Unprintable(reason));
            }
            (StringFormat::Raw, Value::String(text)) => self.formatter.raw(text)?,
            _ if self.is_ascii => {
                let formatter = &mut self.formatter;
                write_json(value, self.key_order, limits.output, &mut |chunk| {
                    formatter.push(&escape_non_ascii(chunk))
                })?;
            }
            _ => {
                let formatter = &mut self.formatter;
                write_json(value, self.key_order, limits.output, &mut |chunk| formatter.push(chunk))?;
            }
        }
        Ok(self.formatter.finish_with(ending)?)
    }
}

/// Formats a value as JSON.
pub fn write_json(
    value: Value<'_>,
    key_order: KeyOrder,
    limit: usize,
    push: &mut dyn FnMut(&str) -> io::Result<()>,
) -> PrintResult {
    let mut write_error = None;
    let mut sink = |chunk: &str| {
        push(chunk).map_err(|error| {
            write_error = Some(error);
            // The engine must stop; its error is replaced.
            Error::new(Code::Cancelled, "The output is closed")
        })
    };
    let written = match key_order {
        KeyOrder::Input => value.write_json(limit, &mut sink),
        KeyOrder::Sorted => sorted_json::write(value, limit, &mut sink),
    };
    written.map_err(|error| write_error.map_or(PrintError::Engine(error), PrintError::Output))
}

/// Writes characters beyond ASCII as escapes. They occur in JSON only within strings.
fn escape_non_ascii(json: &str) -> Cow<'_, str> {
    if json.is_ascii() {
        return Cow::Borrowed(json);
    }
    let mut escaped = String::with_capacity(json.len());
    for c in json.chars() {
        if c.is_ascii() {
            escaped.push(c);
        } else {
            escaped.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::escape_non_ascii;

    #[test]
    fn characters_beyond_ascii_are_utf16_escapes() {
        assert_eq!(escape_non_ascii("\"a\\n\""), "\"a\\n\"");
        assert_eq!(escape_non_ascii("\"é 😀\""), "\"\\u00e9 \\ud83d\\ude00\"");
    }
}
