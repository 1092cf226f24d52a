//! Output of results: JSON in the style of the options, text, and access to fields and items.

use std::io::{self, BufWriter, Write};

use pidq::Value;

use super::failure::{self, Failure, Result};
use super::json_formatter::{Indent, JsonFormatter, Style};
use super::sorted_json::json;

/// Returns a field of an object, or null.
pub fn field<'a>(value: Value<'a>, key: &str) -> Value<'a> {
    value.as_object().and_then(|object| object.get(key)).unwrap_or(Value::Null)
}

/// Returns the items of an array; none for other values.
pub fn items(value: Value<'_>) -> impl Iterator<Item = Value<'_>> {
    value.as_array().into_iter().flat_map(|array| array.iter())
}

/// JSON on one line, or indented.
#[derive(Clone, Copy)]
pub enum JsonStyle {
    Compact,
    Indented,
}

impl JsonStyle {
    pub fn new(is_compact: bool) -> JsonStyle {
        if is_compact { JsonStyle::Compact } else { JsonStyle::Indented }
    }

    /// Returns the style for standard output.
    pub fn on_stdout(self) -> Style {
        Style { colors: failure::wants_colors(&io::stdout()), ..self.in_file() }
    }

    /// Returns the style for a file.
    pub fn in_file(self) -> Style {
        let indent = match self {
            JsonStyle::Compact => None,
            JsonStyle::Indented => Some(Indent::Spaces(2)),
        };
        Style { indent, colors: false }
    }
}

/// Prints JSON text.
pub fn print_json(json: &str, style: JsonStyle) -> Result<()> {
    let mut formatter = JsonFormatter::new(BufWriter::new(io::stdout().lock()), style.on_stdout());
    formatter.push(json)?;
    formatter.finish()?;
    Ok(formatter.flush()?)
}

/// Formats JSON text.
pub fn format_json(json: &str, style: Style) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let mut formatter = JsonFormatter::new(&mut text, style);
    formatter.push(json)?;
    formatter.finish()?;
    Ok(text)
}

/// Formats a value as JSON on one line.
pub fn compact_json(value: Value<'_>) -> String {
    let line = format_json(&json(value), JsonStyle::Compact.in_file()).unwrap_or_default();
    String::from_utf8_lossy(&line).trim_end().into()
}

/// Prints text.
pub fn print(text: &str) -> Result<()> {
    Ok(io::stdout().lock().write_all(text.as_bytes())?)
}

/// Ignores a closed pipe, for commands whose exit status matters more than their output.
pub fn ignore_closed_pipe(printed: Result<()>) -> Result<()> {
    match printed {
        Err(Failure::ClosedPipe) => Ok(()),
        other => other,
    }
}
