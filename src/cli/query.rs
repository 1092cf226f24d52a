//! `pidq query`: runs a query on documents. The letters are jq's.

mod all;

use std::cell::Cell;
use std::io::{self, BufWriter, StdoutLock, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use pidq::error::{Code, Warning};
use pidq::{Error, Graph, Limits, Outcome, Query, Reading, Scratch, Value};

use super::budget::LimitOptions;
use super::failure::{self, Failure, Result, Status};
use super::layout::{Indent, Layout, Style};
use super::question::Writing;
use super::{input, sorted};

const EXAMPLES: &str = "\
Examples:
  pidq query '.pid_graph.nodes | map(.tag)' plant.json
  pidq query -c '.pid_graph.nodes | filter(.tag == $tag)' --arg tag P-101A plant.json
  pidq query -e '.pid_graph.nodes | size() > 100' plant.json && echo large
  pidq query -s 'map(.pid_graph.metadata.drawing_number)' unit-1.json unit-2.json
  pidq query --all drawings '.pid_graph.nodes | size()'
  pidq query -n '6 * 7'

Where a shell keeps `'` or takes `\"` away (cmd and PowerShell of Windows), write \"…\" around the query and \\\" in it, or put
it into a file: --from-file.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// The query; with --from-file, a document
    #[arg(required_unless_present = "from_file")]
    query: Option<String>,

    /// The documents, `.json.gz` and `.json.zst` too; `-` or none is the standard input
    files: Vec<PathBuf>,

    /// Read the query from a file
    #[arg(short, long, value_name = "FILE")]
    from_file: Option<PathBuf>,

    /// Ask every `*.json`, `*.json.gz` and `*.json.zst` in a folder and its folders: a line `{"file", "result" or "error"}` for each
    #[arg(long, value_name = "DIR", conflicts_with_all = [
        "null_input", "slurp", "raw_output", "tab", "indent", "color_output",
    ])]
    all: Option<PathBuf>,

    /// How many files are read at once
    #[arg(long, value_name = "N", default_value_t = 2, requires = "all", value_parser = clap::value_parser!(u8).range(1..=64))]
    jobs: u8,

    #[command(flatten)]
    writing: Writing,

    /// Run the query once, on null
    #[arg(short, long)]
    null_input: bool,

    /// Run the query once, on the list of all documents
    #[arg(short, long)]
    slurp: bool,

    /// Print a text without quotes
    #[arg(short, long)]
    raw_output: bool,

    /// Print each result in one line
    #[arg(short, long, conflicts_with_all = ["tab", "indent"])]
    compact_output: bool,

    /// Indent with tabulators
    #[arg(long, conflicts_with = "indent")]
    tab: bool,

    /// Indent with N blanks; 0 is one line
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(0..=16))]
    indent: u8,

    /// Sort the keys of objects
    #[arg(short = 'S', long)]
    sort_keys: bool,

    /// Colour the results even in a pipe
    #[arg(short = 'C', long, overrides_with = "monochrome_output")]
    color_output: bool,

    /// Do not colour the results
    #[arg(short = 'M', long, overrides_with = "color_output")]
    monochrome_output: bool,

    /// Exit with 1 when the last result is false or null, with 4 when there is none
    #[arg(short, long)]
    exit_status: bool,

    #[command(flatten)]
    limits: LimitOptions,
}

/// Runs the subcommand.
pub fn run(options: &Options) -> Result {
    let (text, files) = options.question()?;
    let query = options.writing.compile(&text).map_err(|failure| options.swapped(failure))?;
    match &options.all {
        None => ask(options, &query, &files),
        Some(_) if !files.is_empty() => {
            Err(Failure::Usage("with `--all` only the folder is read: leave the files out".into()))
        }
        Some(folder) => all::run(options, &query, folder),
    }
}

/// Asks one document after another.
fn ask(options: &Options, query: &Query, files: &[PathBuf]) -> Result {
    let mut printer = Printer::new(options);
    let mut first_failure = None;
    for document in options.documents(query, files)? {
        // One bad document does not hide the others.
        if let Err(failure) =
            document.and_then(|found| found.map_or(Ok(()), |found| answer(options, query, &found, &mut printer)))
        {
            if matches!(failure, Failure::ClosedPipe) {
                return Err(failure);
            }
            printer.layout.flush()?;
            failure.report();
            first_failure.get_or_insert(failure.status());
        }
    }
    printer.layout.flush()?;
    Ok(first_failure.unwrap_or_else(|| options.status(printer.last)))
}

/// The documents one by one, as they are read; nothing for an empty file.
type Documents<'f> = Box<dyn Iterator<Item = Result<Option<Reading<'f>>>> + 'f>;

impl Options {
    /// The query text and the files.
    fn question(&self) -> Result<(String, Vec<PathBuf>)> {
        let Some(path) = &self.from_file else {
            return Ok((self.query.clone().unwrap_or_default(), self.files.clone()));
        };
        let first = self.query.iter().map(PathBuf::from);
        Ok((input::text(path)?, first.chain(self.files.iter().cloned()).collect()))
    }

    fn documents<'f>(&self, query: &'f Query, files: &'f [PathBuf]) -> Result<Documents<'f>> {
        if self.null_input {
            if !files.is_empty() {
                return Err(Failure::Usage("with `--null-input` no document is read: leave the files out".into()));
            }
            let null = query.read("null").map_err(|error| Failure::Input(error, "null".into()));
            return Ok(Box::new([null.map(Some)].into_iter()));
        }
        let files = input::files(files);
        if self.slurp {
            let all = input::slurp(&files).map(|graph| Some(Reading::of(query, graph)));
            return Ok(Box::new([all].into_iter()));
        }
        Ok(Box::new(files.into_iter().map(|path| input::reading(&path, query))))
    }

    /// A file where the query should be is a habit from other commands.
    fn swapped(&self, failure: Failure) -> Failure {
        match failure {
            Failure::Query(error, text) if self.from_file.is_none() && Path::new(&text).is_file() => {
                let help = format!("`{text}` is a file: the query comes first, as in `pidq query QUERY {text}`");
                Failure::Query(error.with_help(help), text)
            }
            other => other,
        }
    }

    fn keys(&self) -> Keys {
        if self.sort_keys { Keys::Sorted } else { Keys::AsTheyCome }
    }

    fn style(&self) -> Style {
        let indent = match self.indent {
            _ if self.tab => Some(Indent::Tab),
            0 => None,
            _ if self.compact_output => None,
            width => Some(Indent::Blanks(width.into())),
        };
        let colours = self.color_output || !self.monochrome_output && failure::wants_colours(&io::stdout());
        Style { indent, colours }
    }

    fn status(&self, last: Last) -> Status {
        match last {
            _ if !self.exit_status => Status::Done,
            Last::None => Status::NoOutput,
            Last::Falsy => Status::Falsy,
            Last::Truthy => Status::Done,
        }
    }
}

/// Runs the query on one document and prints the result.
fn answer(options: &Options, query: &Query, document: &Reading<'_>, printer: &mut Printer) -> Result<()> {
    let refused = |error| Failure::Query(error, query.source().into());
    options.limits.within(|limits| {
        let scratch = Scratch::new();
        let outcome = document.run(&scratch, limits).map_err(refused)?;
        warn(&outcome.warnings, query);
        if outcome.asked_graph {
            warn(&doubts(document.graph(), &outcome.warnings), query);
        }
        printer.print(outcome.value, limits).map_err(|stop| stop.of(query, &outcome))
    })
}

/// What is doubtful about the drawing that was asked, and was not told yet.
pub fn doubts(graph: &Graph, told: &[Warning]) -> Vec<Warning> {
    let mut doubts = graph.warnings();
    doubts.retain(|doubt| told.iter().all(|told| told.code != doubt.code));
    point_to_validate(&mut doubts);
    doubts
}

fn point_to_validate(doubts: &mut [Warning]) {
    if let Some(last) = doubts.last_mut() {
        last.help = Some("`pidq validate` lists every case".into());
    }
}

/// Tells what looks like a mistake in the query.
pub fn warn(warnings: &[Warning], query: &Query) {
    let styles = failure::stderr_styles();
    for warning in warnings {
        failure::warn(&warning.render_with(query.source(), &styles));
    }
}

/// Prints results one after another.
pub struct Printer {
    layout: Layout<BufWriter<StdoutLock<'static>>>,
    keys: Keys,
    texts: Texts,
    last: Last,
}

/// The order of keys.
#[derive(Clone, Copy)]
enum Keys {
    AsTheyCome,
    Sorted,
}

/// How a result that is a text is printed.
#[derive(Clone, Copy)]
enum Texts {
    Quoted,
    Raw,
}

/// What the last result was.
#[derive(Clone, Copy)]
enum Last {
    None,
    Falsy,
    Truthy,
}

impl Last {
    fn of(value: Value<'_>) -> Last {
        match value {
            Value::Undefined | Value::Null | Value::Bool(false) => Last::Falsy,
            _ => Last::Truthy,
        }
    }
}

/// Why printing ended early.
enum Stop {
    Output(io::Error),
    Engine(Error),
}

impl Stop {
    fn of(self, query: &Query, outcome: &Outcome<'_>) -> Failure {
        match self {
            Stop::Output(error) => Failure::from(error),
            Stop::Engine(error) => Failure::Query(outcome.explain_error(error), query.source().into()),
        }
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Stop {
        Stop::Output(error)
    }
}

impl Printer {
    fn new(options: &Options) -> Printer {
        Printer {
            keys: options.keys(),
            texts: if options.raw_output { Texts::Raw } else { Texts::Quoted },
            ..Printer::plain(options.style())
        }
    }

    fn plain(style: Style) -> Printer {
        let layout = Layout::new(BufWriter::new(io::stdout().lock()), style);
        Printer { layout, keys: Keys::AsTheyCome, texts: Texts::Quoted, last: Last::None }
    }

    fn print(&mut self, value: Value<'_>, limits: Limits<'_>) -> std::result::Result<(), Stop> {
        self.last = Last::of(value);
        match (self.texts, value) {
            (Texts::Raw, Value::String(text)) => self.layout.raw(text)?,
            _ => write_json(value, self.keys, limits.output, &mut self.layout)?,
        }
        Ok(self.layout.finish()?)
    }
}

/// Lays out a value.
fn write_json<W: Write>(
    value: Value<'_>,
    keys: Keys,
    limit: usize,
    layout: &mut Layout<W>,
) -> std::result::Result<(), Stop> {
    let mut unwritable = None;
    let mut sink = |piece: &str| {
        layout.push(piece).map_err(|error| {
            unwritable = Some(error);
            // The engine must stop; the reason it is told does not matter.
            Error::new(Code::Cancelled, "The output is closed")
        })
    };
    let written = match keys {
        Keys::AsTheyCome => value.write_json(limit, &mut sink),
        Keys::Sorted => sorted::write(value, limit, &mut sink),
    };
    written.map_err(|error| unwritable.map_or(Stop::Engine(error), Stop::Output))
}

/// Runs a query at the prompt and prints the result. What is doubtful about the drawing is told with the first query that
/// asks it.
pub fn show(query: &Query, graph: &Graph, limits: Limits<'_>, doubts_told: &Cell<bool>) -> Result<()> {
    let style = Style { indent: Some(Indent::Blanks(2)), colours: failure::wants_colours(&io::stdout()) };
    let refused = |error| Failure::Query(error, query.source().into());
    let scratch = Scratch::new();
    let outcome = query.run(graph, &scratch, limits).map_err(refused)?;
    warn(&outcome.warnings, query);
    if outcome.asked_graph && !doubts_told.replace(true) {
        warn(&doubts(graph, &outcome.warnings), query);
    }
    let mut printer = Printer::plain(style);
    printer.print(outcome.value, limits).map_err(|stop| stop.of(query, &outcome))?;
    Ok(printer.layout.flush()?)
}
