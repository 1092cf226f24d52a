//! Helpers of subcommands that run a fixed query on a drawing: loading, reading results, printing.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use pidq::error::{Code, Stage};
use pidq::limits::MAX_DOCUMENT_DEPTH;
use pidq::{Error, Graph, Limits, Query, Scratch, Value};

use super::failure::{self, Failure, Result};
use super::json_formatter::{Indent, JsonFormatter, Style};
use super::sorted_json::json;
use super::{import, input};

/// Maximum additional nesting of a result compared to its document.
const EXTRA_RESULT_DEPTH: usize = 8;

/// Loads a drawing from a file: JSON, or an importable format.
pub fn open(path: &Path) -> Result<Graph> {
    if path.is_dir() {
        let name = path.display();
        return Err(Failure::Usage(format!("`{name}` is a directory; name its files, as in `{name}/*.json`")));
    }
    import::graph(path)
}

/// Loads a drawing, failing if the file contains none.
pub fn open_with_graph(path: &Path) -> Result<Graph> {
    let graph = open(path)?;
    let query_text = "nodes() | size()";
    let scratch = Scratch::new();
    let query = Query::parse(query_text).map_err(|error| Failure::Query(error, query_text.into()))?;
    // Only a missing graph is reported here; other errors are reported by the actual query.
    match query.run(&graph, &scratch, Limits::default()).err().filter(|error| error.code() == Code::NoGraph) {
        Some(error) => Err(drawing_failure(error, path, query_text)),
        None => Ok(graph),
    }
}

/// Fails if standard input is named more than once.
pub fn require_single_stdin(files: &[PathBuf]) -> Result<()> {
    match files.iter().filter(|file| *file == Path::new("-")).count() {
        0 | 1 => Ok(()),
        _ => Err(Failure::Usage("`-` was given twice; only one drawing can be read from standard input".into())),
    }
}

/// Converts an engine error about a drawing. A limit is not the file's fault and has the status of a query error.
pub fn drawing_failure(error: Error, path: &Path, query_text: &str) -> Failure {
    match error.code().stage() {
        Stage::Limit => Failure::Query(error, query_text.into()),
        _ => Failure::Input(error, input::name(path)),
    }
}

/// Parses a result of the engine.
pub fn parse_result(json: String) -> Result<Graph> {
    Graph::from_json_with_max_depth(json, MAX_DOCUMENT_DEPTH + EXTRA_RESULT_DEPTH)
        .map_err(|error| Failure::Input(error, "the result".into()))
}

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
