//! Subcommand `pidq query`: runs a query on documents. Short options match jq.

mod batch;
mod output_format;
mod printer;
mod table_input;
mod table_rows;

use std::cell::Cell;
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use output_format::{Buffering, KeyOrder, OutputFormat};
use pidq::error::{Code, Warning};
use pidq::{Cancel, Error, Graph, Limits, ProjectedDocument, Query, Scratch, Value};
use printer::{LastResult, Printer, write_json};
use table_input::TableInput;

use crate::cli::documents::{self, Division, Documents, Notation, TableFormat};
use crate::cli::failure::{self, Failure, Result, Status};
use crate::cli::json_formatter::{Indent, JsonFormatter, Style};
use crate::cli::limits::LimitOptions;
use crate::cli::pager::Output;
use crate::cli::query_options::{self, QueryOptions};
use crate::cli::{input, sorted_json};

const EXAMPLES: &str = "\
Examples:
  pidq query '.pid_graph.nodes | map(.tag)' plant.json
  pidq query -c '.pid_graph.nodes | filter(.tag == $tag)' --arg tag P-101A plant.json
  pidq query -e '.pid_graph.nodes | size() > 100' plant.json && echo large
  pidq query -s 'map(.pid_graph.metadata.drawing_number)' unit-1.json unit-2.json
  pidq query --csv '.pid_graph.nodes | map(pick(.tag, .dexpi_class))' plant.json > nodes.csv
  pidq query -r .message events.ndjson
  pidq query 'if(.kw > 10, .tag, null)' pumps.csv
  pidq query --all drawings '.pid_graph.nodes | size()'
  pidq query -n '6 * 7'

In cmd and PowerShell on Windows, enclose the query in \"…\" and write \\\" inside it, or read it from a file with
--from-file.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Query; with --from-file, a document
    #[arg(required_unless_present_any = ["from_file", "args", "jsonargs"])]
    query: Option<String>,

    /// Files of one or more documents, such as NDJSON, and tables (`.csv`, `.tsv`), also `.json.gz` and `.json.zst`; `-` or
    /// none reads standard input, compressed or not
    files: Vec<PathBuf>,

    /// Read the query from a file
    #[arg(short, long, value_name = "FILE")]
    from_file: Option<PathBuf>,

    /// Query every `*.json`, `*.json.gz` and `*.json.zst` file below a directory and print one line `{"file", "result"
    /// or "error"}` per file
    #[arg(long, value_name = "DIR", conflicts_with_all = [
        "null_input", "slurp", "raw_output", "join_output", "raw_output0", "lines", "csv", "tsv", "tab", "indent",
        "ascii_output", "color_output", "seq", "unbuffered", "stream",
    ])]
    all: Option<PathBuf>,

    /// Number of files processed in parallel
    #[arg(long, value_name = "N", default_value_t = 2, requires = "all", value_parser = clap::value_parser!(u8).range(1..=64))]
    threads: u8,

    #[command(flatten)]
    query_options: QueryOptions,

    /// Set $ARGS.positional to the strings that follow, up to the next option; `--args=-x` adds one that begins with `-`
    #[arg(long, num_args = 0.., value_name = "VALUE", conflicts_with = "jsonargs")]
    args: Vec<String>,

    /// Set $ARGS.positional to the JSON values that follow
    #[arg(long, num_args = 0.., value_name = "JSON")]
    jsonargs: Vec<String>,

    /// Run the query once with null as input
    #[arg(short, long)]
    null_input: bool,

    /// Run the query once on the array of all documents; with --raw-input, once on the whole text
    #[arg(short, long)]
    slurp: bool,

    /// Run the query on each line as a string instead of on JSON documents
    #[arg(short = 'R', long, conflicts_with_all = ["null_input", "all"])]
    raw_input: bool,

    /// Format of the input: each row of a table is an object with the fields that its first row names, and empty cells are
    /// null [default: that of the file name, or else json]
    #[arg(long, value_name = "FORMAT", value_enum, conflicts_with_all = ["raw_input", "null_input", "stream", "all"])]
    from: Option<InputFormat>,

    #[command(flatten)]
    table_input: TableInput,

    /// Run the query on the events of each document: `[path, value]` for a value that is no list or object, or an empty
    /// one, and at the end of each other list or object `[path]`, with the path of its last item
    #[arg(long, conflicts_with_all = ["raw_input", "null_input"])]
    stream: bool,

    #[command(flatten)]
    output_format: OutputFormat,

    /// Print long results on a terminal without a pager; else `PIDQ_PAGER` or `PAGER` is used, or `less`
    #[arg(long)]
    no_pager: bool,

    /// Exit with 1 if the last result is false or null, with 4 if there is none
    #[arg(short, long)]
    exit_status: bool,

    #[command(flatten)]
    limits: LimitOptions,
}

/// Formats of the input.
#[derive(Clone, Copy, ValueEnum)]
enum InputFormat {
    /// JSON texts, one after another
    Json,
    /// CSV (RFC 4180), also with semicolons or tabs
    Csv,
    /// Tab-separated values
    Tsv,
}

impl InputFormat {
    fn division(self, table: TableFormat) -> Division {
        match self {
            InputFormat::Json => Division::JsonTexts,
            InputFormat::Csv => Division::Rows(Notation::Csv, table),
            InputFormat::Tsv => Division::Rows(Notation::Tsv, table),
        }
    }
}

/// Runs the subcommand.
pub fn run(options: &Options) -> Result {
    let (text, files) = options.text_and_files()?;
    let query = options
        .query_options
        .compile_with_positional(&text, &options.positional()?)
        .map_err(|failure| options.suggest_argument_order(failure).of_query_file(options.from_file.as_deref()))?;
    match &options.all {
        None => run_on_files(options, &query, &files),
        Some(_) if !files.is_empty() => Err(Failure::Usage("`--all` cannot be combined with files".into())),
        Some(dir) => batch::run(options, &query, dir),
    }
}

/// Runs the query on one document after another.
fn run_on_files(options: &Options, query: &Query, files: &[PathBuf]) -> Result {
    let output = if options.is_paged(files) { Output::paged() } else { Output::direct() };
    let (mut printer, mut printed_warnings) =
        (Printer::new(&options.output_format, output), PrintedWarnings::default());
    let mut first_failure = None;
    let mut documents = options.documents(query, files)?;
    while let Some(document) = documents.next() {
        // One invalid document does not hide the others.
        if let Err(failure) =
            document.and_then(|found| run_on_document(options, query, &found, &mut printer, &mut printed_warnings))
        {
            if matches!(failure, Failure::ClosedPipe) {
                return Err(failure);
            }
            printer.output().release()?;
            let failure = failure.of_query_file(options.from_file.as_deref());
            failure.report();
            first_failure.get_or_insert(failure.status());
        }
        if documents.must_read() {
            printed_warnings.print_missing(query);
            printer.flush()?;
        }
    }
    printed_warnings.print_missing(query);
    let status = first_failure.unwrap_or_else(|| options.status(printer.last()));
    match status {
        Status::Done => printer.output().show()?,
        // The pager would replace the exit status.
        _ => printer.output().release()?,
    }
    Ok(status)
}

/// Documents of a run: one that exists already, or those of files.
enum Inputs<'q> {
    One(Option<Box<ProjectedDocument<'q>>>),
    Files(Box<Documents<'q>>),
}

impl<'q> Inputs<'q> {
    fn must_read(&mut self) -> bool {
        match self {
            Inputs::One(_) => false,
            Inputs::Files(documents) => documents.must_read(),
        }
    }
}

impl<'q> Iterator for Inputs<'q> {
    type Item = Result<ProjectedDocument<'q>>;

    fn next(&mut self) -> Option<Result<ProjectedDocument<'q>>> {
        match self {
            Inputs::One(document) => document.take().map(|document| Ok(*document)),
            Inputs::Files(documents) => documents.next(),
        }
    }
}

impl Options {
    /// Returns the query text and the files.
    fn text_and_files(&self) -> Result<(String, Vec<PathBuf>)> {
        let first = self.query.iter().map(PathBuf::from);
        match &self.from_file {
            Some(path) => Ok((input::text(path)?, first.chain(self.files.iter().cloned()).collect())),
            None => Ok((
                self.query.as_ref().or(self.values_after_args().first()).cloned().unwrap_or_default(),
                self.files.clone(),
            )),
        }
    }

    fn values_after_args(&self) -> &[String] {
        if self.args.is_empty() { &self.jsonargs } else { &self.args }
    }

    /// Returns the values of `$ARGS.positional` as JSON. The query may be the first value, as for jq.
    fn positional(&self) -> Result<String> {
        let is_first_query = self.query.is_none() && self.from_file.is_none();
        let values = self.values_after_args().iter().skip(usize::from(is_first_query));
        let as_json = |value: &String| match self.args.is_empty() {
            true => query_options::json_argument(value, "--jsonargs"),
            false => Ok(sorted_json::json(Value::String(value))),
        };
        let values: Vec<String> = values.map(as_json).collect::<Result<_>>()?;
        Ok(format!("[{}]", values.join(",")))
    }

    fn documents<'q>(&self, query: &'q Query, files: &[PathBuf]) -> Result<Inputs<'q>> {
        let files = match files {
            [_, ..] if self.null_input => {
                let reads_args = self.query.as_deref().is_some_and(|text| text.contains("$ARGS"));
                let hint = match reads_args {
                    false => "",
                    true => "; what follows `--` is a file: `--args=-x` adds a string that begins with `-`",
                };
                return Err(Failure::Usage(format!("`--null-input` cannot be combined with files{hint}")));
            }
            files => input::files(files),
        };
        if self.table_input.has_delimiter() && !self.division().reads_table(&files) {
            failure::warn(
                "warning: `--delimiter` is for tables that are read, and there is none; `--from csv` reads one, and `--output-delimiter` separates printed cells\n",
            );
        }
        if self.null_input {
            let null = query.load("null").map_err(|error| Failure::Input(error, "null".to_owned().into()))?;
            return Ok(Inputs::One(Some(Box::new(null))));
        }
        if self.slurp {
            let all = documents::slurp(files, self.division())?;
            return Ok(Inputs::One(Some(Box::new(ProjectedDocument::from_graph(query, all)))));
        }
        Ok(Inputs::Files(Box::new(Documents::new(query, files, self.division()))))
    }

    /// Returns true if a pager may show the results: they come at once, not as the input is written.
    fn is_paged(&self, files: &[PathBuf]) -> bool {
        let is_complete = self.null_input || !files.is_empty() && files.iter().all(|file| file.is_file());
        is_complete && !self.no_pager && self.output_format.buffering() == Buffering::Blocks
    }

    fn division(&self) -> Division {
        match self {
            Options { raw_input: true, .. } => Division::Lines,
            Options { stream: true, .. } => Division::Events,
            _ => {
                let table = self.table_input.format();
                self.from.map_or(Division::ByName(table), |format| format.division(table))
            }
        }
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
    printed_warnings: &mut PrintedWarnings,
) -> Result<()> {
    let failure_of = |error| Failure::Query(error, query.source().into());
    options.limits.run(|limits| {
        let scratch = Scratch::new();
        let outcome = document.run(&scratch, limits).map_err(failure_of)?;
        let checked = printed_warnings.check(query, document.graph(), outcome.value, limits);
        printed_warnings.add(merged(outcome.warnings.clone(), checked), query);
        if outcome.uses_graph {
            printed_warnings.print(graph_warnings(document.graph(), &outcome.warnings), query);
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

/// Warnings that were printed: each is printed once for all documents of a run.
#[derive(Default)]
struct PrintedWarnings {
    /// Code and subject.
    known: HashSet<(&'static str, String)>,
    /// Number of documents that were checked.
    checked: usize,
    /// Fields that no object of any document had, since the last time they were printed; `None` before a document.
    missing: Option<Vec<Warning>>,
}

/// Number of documents of a run that are checked if they give nothing.
const MAX_CHECKED: usize = 8;

impl PrintedWarnings {
    /// Checks the query against a document that gave nothing: a comparison of a number with text is never true, and so on.
    fn check(&mut self, query: &Query, document: &Graph, value: Value<'_>, limits: Limits<'_>) -> Vec<Warning> {
        if self.checked == MAX_CHECKED || !is_doubtful(value) {
            return Vec::new();
        }
        self.checked += 1;
        query.check_against(document, limits)
    }

    /// Prints the warnings of a document, except missing fields: another document may have them.
    fn add(&mut self, warnings: Vec<Warning>, query: &Query) {
        let (missing, others): (Vec<Warning>, _) = warnings.into_iter().partition(is_missing_field);
        self.print(others, query);
        self.missing = Some(match self.missing.take() {
            None => missing,
            Some(known) => {
                let is_still_missing =
                    |field: &Warning| missing.iter().any(|warning| subject(warning) == subject(field));
                known.into_iter().filter(is_still_missing).collect()
            }
        });
    }

    /// Prints the fields that are missing in all documents so far.
    fn print_missing(&mut self, query: &Query) {
        let missing = self.missing.take().unwrap_or_default();
        self.print(missing, query);
    }

    fn print(&mut self, warnings: Vec<Warning>, query: &Query) {
        let is_new = |warning: &Warning| self.known.insert((warning.code, subject(warning)));
        let warnings: Vec<Warning> = warnings.into_iter().filter(is_new).collect();
        warn(&warnings, query);
    }
}

/// Returns the warnings of a run and of a check of the same query. Both report a field that no object has, and the check
/// knows where other objects have it.
fn merged(mut warnings: Vec<Warning>, checked: Vec<Warning>) -> Vec<Warning> {
    for warning in checked {
        let is_same = |known: &&mut Warning| known.code == warning.code && subject(known) == subject(&warning);
        match warnings.iter_mut().find(is_same) {
            Some(known) => known.help = warning.help.or(known.help.take()),
            None => warnings.push(warning),
        }
    }
    warnings
}

/// Returns what a warning is about: the field that no object has, which may be in several places of the query, or a part of
/// the query.
fn subject(warning: &Warning) -> String {
    let field = warning.message.rsplit('`').nth(1).filter(|_| is_missing_field(warning));
    match (field, warning.span) {
        (Some(field), _) => field.to_owned(),
        (None, Some(span)) => format!("{span:?}"),
        (None, None) => warning.message.clone(),
    }
}

/// Returns true for the warning that no object had a field.
fn is_missing_field(warning: &Warning) -> bool {
    warning.code == "PQW01"
}

/// Returns true for a result that a mistake in the query may give: nothing, or the text of an object.
fn is_doubtful(value: Value<'_>) -> bool {
    match value {
        Value::Undefined | Value::Null => true,
        Value::Bool(is_true) => !is_true,
        Value::Number(_) => value.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty() || text.contains("[object Object]"),
        Value::Array(list) => {
            list.iter().all(|item| matches!(item, Value::Null | Value::Undefined | Value::Bool(false)))
        }
        Value::Object(object) => object.is_empty(),
    }
}

/// Prints warnings about the query.
pub fn warn(warnings: &[Warning], query: &Query) {
    let styles = failure::stderr_styles();
    for warning in warnings {
        failure::warn(&warning.render_with(query.source(), &styles));
    }
}

/// Largest result that the prompt keeps, in bytes of JSON.
const MAX_KEPT_RESULT: usize = 16 << 20;

/// Runs a query at the prompt and prints the result. Returns it as JSON, if it is small enough to keep. Data-quality
/// warnings are shown with the first query that uses the graph.
pub fn run_and_print(
    query: &Query,
    graph: &Graph,
    limits: Limits<'_>,
    graph_warnings_shown: &Cell<bool>,
    output: Output,
) -> Result<Option<String>> {
    let style = Style { indent: Some(Indent::Spaces(2)), colors: failure::wants_colors(&io::stdout()) };
    let failure_of = |error| Failure::Query(error, query.source().into());
    let scratch = Scratch::new();
    let outcome = query.run(graph, &scratch, limits).map_err(failure_of)?;
    warn(&outcome.warnings, query);
    if outcome.uses_graph && !graph_warnings_shown.replace(true) {
        warn(&graph_warnings(graph, &outcome.warnings), query);
    }
    let (mut formatter, mut kept) = (JsonFormatter::new(output, style), Some(String::new()));
    let is_cancelled = || limits.cancel.is_some_and(Cancel::is_cancelled);
    let written = write_json(outcome.value, KeyOrder::Input, limits.output, &mut |chunk| {
        if is_cancelled() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        kept = kept.take().filter(|kept| kept.len() + chunk.len() <= MAX_KEPT_RESULT).map(|kept| kept + chunk);
        formatter.push(chunk)
    });
    if is_cancelled() {
        formatter.finish()?;
        return Err(failure_of(Error::new(Code::Cancelled, "The output was cancelled")));
    }
    written.map_err(|error| error.into_failure(query, &outcome))?;
    formatter.finish()?;
    formatter.writer().show_and_continue()?;
    Ok(kept)
}
