//! Subcommand `pidq query`: runs a query on documents. Short options match jq.

mod batch;

use std::cell::Cell;
use std::io::{self, BufWriter, StdoutLock, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use pidq::error::{Code, Warning};
use pidq::{Error, Graph, Limits, ProjectedDocument, Query, RunResult, Scratch, Value};

use crate::cli::failure::{self, Failure, Result, Status};
use crate::cli::json_formatter::{Indent, JsonFormatter, Style};
use crate::cli::limits::LimitOptions;
use crate::cli::query_options::QueryOptions;
use crate::cli::{input, sorted_json};

const EXAMPLES: &str = "\
Examples:
  pidq query '.pid_graph.nodes | map(.tag)' plant.json
  pidq query -c '.pid_graph.nodes | filter(.tag == $tag)' --arg tag P-101A plant.json
  pidq query -e '.pid_graph.nodes | size() > 100' plant.json && echo large
  pidq query -s 'map(.pid_graph.metadata.drawing_number)' unit-1.json unit-2.json
  pidq query --all drawings '.pid_graph.nodes | size()'
  pidq query -n '6 * 7'

In cmd and PowerShell on Windows, enclose the query in \"…\" and write \\\" inside it, or read it from a file with
--from-file.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Query; with --from-file, a document
    #[arg(required_unless_present = "from_file")]
    query: Option<String>,

    /// Documents, also `.json.gz` and `.json.zst`; `-` or none reads standard input
    files: Vec<PathBuf>,

    /// Read the query from a file
    #[arg(short, long, value_name = "FILE")]
    from_file: Option<PathBuf>,

    /// Query every `*.json`, `*.json.gz` and `*.json.zst` file below a directory and print one line `{"file", "result"
    /// or "error"}` per file
    #[arg(long, value_name = "DIR", conflicts_with_all = [
        "null_input", "slurp", "raw_output", "tab", "indent", "color_output",
    ])]
    all: Option<PathBuf>,

    /// Number of files processed in parallel
    #[arg(long, value_name = "N", default_value_t = 2, requires = "all", value_parser = clap::value_parser!(u8).range(1..=64))]
    threads: u8,

    #[command(flatten)]
    query_options: QueryOptions,

    /// Run the query once with null as input
    #[arg(short, long)]
    null_input: bool,

    /// Run the query once on the array of all documents
    #[arg(short, long)]
    slurp: bool,

    /// Print strings without quotes
    #[arg(short, long)]
    raw_output: bool,

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

    /// Color the output even if it is not a terminal
    #[arg(short = 'C', long, overrides_with = "monochrome_output")]
    color_output: bool,

    /// Do not color the output
    #[arg(short = 'M', long, overrides_with = "color_output")]
    monochrome_output: bool,

    /// Exit with 1 if the last result is false or null, with 4 if there is none
    #[arg(short, long)]
    exit_status: bool,

    #[command(flatten)]
    limits: LimitOptions,
}

/// Runs the subcommand.
pub fn run(options: &Options) -> Result {
    let (text, files) = options.text_and_files()?;
    let query = options.query_options.compile(&text).map_err(|failure| options.suggest_argument_order(failure))?;
    match &options.all {
        None => run_on_files(options, &query, &files),
        Some(_) if !files.is_empty() => Err(Failure::Usage("`--all` cannot be combined with files".into())),
        Some(dir) => batch::run(options, &query, dir),
    }
}

/// Runs the query on one document after another.
fn run_on_files(options: &Options, query: &Query, files: &[PathBuf]) -> Result {
    let mut printer = Printer::new(options);
    let mut first_failure = None;
    for document in options.documents(query, files)? {
        // One invalid document does not hide the others.
        if let Err(failure) = document
            .and_then(|found| found.map_or(Ok(()), |found| run_on_document(options, query, &found, &mut printer)))
        {
            if matches!(failure, Failure::ClosedPipe) {
                return Err(failure);
            }
            printer.formatter.flush()?;
            failure.report();
            first_failure.get_or_insert(failure.status());
        }
    }
    printer.formatter.flush()?;
    Ok(first_failure.unwrap_or_else(|| options.status(printer.last)))
}

/// Documents, loaded one by one; `None` for an empty file.
type Documents<'f> = Box<dyn Iterator<Item = Result<Option<ProjectedDocument<'f>>>> + 'f>;

impl Options {
    /// Returns the query text and the files.
    fn text_and_files(&self) -> Result<(String, Vec<PathBuf>)> {
        let Some(path) = &self.from_file else {
            return Ok((self.query.clone().unwrap_or_default(), self.files.clone()));
        };
        let first = self.query.iter().map(PathBuf::from);
        Ok((input::text(path)?, first.chain(self.files.iter().cloned()).collect()))
    }

    fn documents<'f>(&self, query: &'f Query, files: &'f [PathBuf]) -> Result<Documents<'f>> {
        if self.null_input {
            if !files.is_empty() {
                return Err(Failure::Usage("`--null-input` cannot be combined with files".into()));
            }
            let null = query.load("null").map_err(|error| Failure::Input(error, "null".into()));
            return Ok(Box::new([null.map(Some)].into_iter()));
        }
        let files = input::files(files);
        if self.slurp {
            let all = input::slurp(&files).map(|graph| Some(ProjectedDocument::from_graph(query, graph)));
            return Ok(Box::new([all].into_iter()));
        }
        Ok(Box::new(files.into_iter().map(|path| input::load_projected(&path, query))))
    }

    /// Adds help if the query is the name of a file, since other commands take the file first.
    fn suggest_argument_order(&self, failure: Failure) -> Failure {
        match failure {
            Failure::Query(error, text) if self.from_file.is_none() && Path::new(&text).is_file() => {
                let help = format!("`{text}` is a file: the query comes first, as in `pidq query QUERY {text}`");
                Failure::Query(error.with_help(help), text)
            }
            other => other,
        }
    }

    fn key_order(&self) -> KeyOrder {
        if self.sort_keys { KeyOrder::Sorted } else { KeyOrder::Input }
    }

    fn style(&self) -> Style {
        let indent = match self.indent {
            _ if self.tab => Some(Indent::Tab),
            0 => None,
            _ if self.compact_output => None,
            width => Some(Indent::Spaces(width.into())),
        };
        let colors = self.color_output || !self.monochrome_output && failure::wants_colors(&io::stdout());
        Style { indent, colors }
    }

    fn status(&self, last: LastResult) -> Status {
        match last {
            _ if !self.exit_status => Status::Done,
            LastResult::None => Status::NoOutput,
            LastResult::Falsy => Status::Falsy,
            LastResult::Truthy => Status::Done,
        }
    }
}

/// Runs the query on one document and prints the result.
fn run_on_document(
    options: &Options,
    query: &Query,
    document: &ProjectedDocument<'_>,
    printer: &mut Printer,
) -> Result<()> {
    let failure_of = |error| Failure::Query(error, query.source().into());
    options.limits.run(|limits| {
        let scratch = Scratch::new();
        let outcome = document.run(&scratch, limits).map_err(failure_of)?;
        warn(&outcome.warnings, query);
        if outcome.uses_graph {
            warn(&graph_warnings(document.graph(), &outcome.warnings), query);
        }
        printer.print(outcome.value, limits).map_err(|error| error.into_failure(query, &outcome))
    })
}

/// Returns data-quality warnings about the queried drawing that were not shown yet.
pub fn graph_warnings(graph: &Graph, shown: &[Warning]) -> Vec<Warning> {
    let mut graph_warnings = graph.warnings();
    graph_warnings.retain(|warning| shown.iter().all(|shown| shown.code != warning.code));
    add_validate_help(&mut graph_warnings);
    graph_warnings
}

fn add_validate_help(graph_warnings: &mut [Warning]) {
    if let Some(last) = graph_warnings.last_mut() {
        last.help = Some("`pidq validate` lists every case".into());
    }
}

/// Prints warnings about the query.
pub fn warn(warnings: &[Warning], query: &Query) {
    let styles = failure::stderr_styles();
    for warning in warnings {
        failure::warn(&warning.render_with(query.source(), &styles));
    }
}

/// Printer of results.
pub struct Printer {
    formatter: JsonFormatter<BufWriter<StdoutLock<'static>>>,
    key_order: KeyOrder,
    string_format: StringFormat,
    last: LastResult,
}

/// Order of object keys.
#[derive(Clone, Copy)]
enum KeyOrder {
    Input,
    Sorted,
}

/// Format of a string result.
#[derive(Clone, Copy)]
enum StringFormat {
    Quoted,
    Raw,
}

/// Kind of the last result.
#[derive(Clone, Copy)]
enum LastResult {
    None,
    Falsy,
    Truthy,
}

impl LastResult {
    fn from_value(value: Value<'_>) -> LastResult {
        match value {
            Value::Undefined | Value::Null | Value::Bool(false) => LastResult::Falsy,
            _ => LastResult::Truthy,
        }
    }
}

/// Error of printing a result.
enum PrintError {
    Output(io::Error),
    Engine(Error),
}

impl PrintError {
    fn into_failure(self, query: &Query, outcome: &RunResult<'_>) -> Failure {
        match self {
            PrintError::Output(error) => Failure::from(error),
            PrintError::Engine(error) => Failure::Query(outcome.explain_error(error), query.source().into()),
        }
    }
}

impl From<io::Error> for PrintError {
    fn from(error: io::Error) -> PrintError {
        PrintError::Output(error)
    }
}

impl Printer {
    fn new(options: &Options) -> Printer {
        Printer {
            key_order: options.key_order(),
            string_format: if options.raw_output { StringFormat::Raw } else { StringFormat::Quoted },
            ..Printer::plain(options.style())
        }
    }

    fn plain(style: Style) -> Printer {
        let formatter = JsonFormatter::new(BufWriter::new(io::stdout().lock()), style);
        Printer { formatter, key_order: KeyOrder::Input, string_format: StringFormat::Quoted, last: LastResult::None }
    }

    fn print(&mut self, value: Value<'_>, limits: Limits<'_>) -> std::result::Result<(), PrintError> {
        self.last = LastResult::from_value(value);
        match (self.string_format, value) {
            (StringFormat::Raw, Value::String(text)) => self.formatter.raw(text)?,
            _ => write_json(value, self.key_order, limits.output, &mut self.formatter)?,
        }
        Ok(self.formatter.finish()?)
    }
}

/// Formats a value as JSON.
fn write_json<W: Write>(
    value: Value<'_>,
    key_order: KeyOrder,
    limit: usize,
    formatter: &mut JsonFormatter<W>,
) -> std::result::Result<(), PrintError> {
    let mut write_error = None;
    let mut sink = |chunk: &str| {
        formatter.push(chunk).map_err(|error| {
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

/// Runs a query at the prompt and prints the result. Data-quality warnings are shown with the first query that uses the
/// graph.
pub fn run_and_print(
    query: &Query,
    graph: &Graph,
    limits: Limits<'_>,
    graph_warnings_shown: &Cell<bool>,
) -> Result<()> {
    let style = Style { indent: Some(Indent::Spaces(2)), colors: failure::wants_colors(&io::stdout()) };
    let failure_of = |error| Failure::Query(error, query.source().into());
    let scratch = Scratch::new();
    let outcome = query.run(graph, &scratch, limits).map_err(failure_of)?;
    warn(&outcome.warnings, query);
    if outcome.uses_graph && !graph_warnings_shown.replace(true) {
        warn(&graph_warnings(graph, &outcome.warnings), query);
    }
    let mut printer = Printer::plain(style);
    printer.print(outcome.value, limits).map_err(|error| error.into_failure(query, &outcome))?;
    Ok(printer.formatter.flush()?)
}
