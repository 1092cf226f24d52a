//! Failures of subcommands: message and exit status.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use pidq::Error;
use pidq::error::{Code, Location, Stage, Styles};

use super::json_texts::Position;
use super::progress;

/// Exit status, in order of severity. The numbers are stable.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Status {
    /// Success, including a closed pipe.
    Done = 0,
    /// With `-e`: the last output was `false` or `null`. With `fmt --check`: a file is not formatted. With `diff`:
    /// there are changes. With `validate`: there are errors.
    Falsy = 1,
    /// Usage error, unreadable file, or input that is not JSON.
    Usage = 2,
    /// The query does not compile.
    Compile = 3,
    /// With `-e`: there was no output.
    NoOutput = 4,
    /// The query failed or exceeded a limit.
    Failed = 5,
}

/// Failure that ends a subcommand.
#[derive(Debug)]
pub enum Failure {
    /// The reader closed the output pipe. Not an error.
    ClosedPipe,
    /// Usage error, or a file that cannot be read or written.
    Usage(String),
    /// Query error, with the source text of its span.
    Query(Error, String),
    /// The same for a query that was read from a file.
    QueryFile(Error, String, PathBuf),
    /// Input error, and its input.
    Input(Error, InputPlace),
    /// Problem response of a service: rendered text and exit status.
    #[cfg(feature = "server")]
    Problem(String, Status),
}

/// Place of a document: its input and its start there.
#[derive(Clone, Debug)]
pub struct InputPlace {
    pub name: String,
    pub start: Position,
    /// The document, if it was kept to show the line of an error.
    pub text: Option<String>,
}

impl From<String> for InputPlace {
    /// Returns the place of an input that is one document.
    fn from(name: String) -> InputPlace {
        InputPlace { name, start: Position::START, text: None }
    }
}

/// Result of a subcommand.
pub type Result<T = Status> = std::result::Result<T, Failure>;

impl Failure {
    /// Creates a usage failure with the text of an error.
    #[cfg(feature = "server")]
    pub fn usage(error: impl std::fmt::Display) -> Failure {
        Failure::Usage(error.to_string())
    }

    /// Creates the failure of an unreadable file, with help.
    pub fn unreadable(path: &Path, error: &io::Error) -> Failure {
        let name = path.display();
        Failure::Usage(match error.kind() {
            io::ErrorKind::NotFound => format!("no such file `{name}`; check the path"),
            io::ErrorKind::IsADirectory => {
                format!("`{name}` is a directory; use `pidq query --all {name} QUERY` for every JSON file in it")
            }
            io::ErrorKind::NotADirectory => {
                format!("`{name}` is not a directory; use `pidq query QUERY {name}` for a file")
            }
            io::ErrorKind::PermissionDenied => {
                format!("permission denied for `{name}`; check its permissions with `ls -l`")
            }
            _ => format!("cannot read `{name}`: {error}"),
        })
    }

    /// Adds the file that the query was read from.
    pub fn of_query_file(self, path: Option<&Path>) -> Failure {
        match (self, path) {
            (Failure::Query(error, source), Some(path)) => Failure::QueryFile(error, source, path.to_owned()),
            (other, _) => other,
        }
    }

    /// Returns the exit status.
    pub fn status(&self) -> Status {
        match self {
            Failure::ClosedPipe => Status::Done,
            Failure::Usage(_) | Failure::Input(..) => Status::Usage,
            Failure::Query(error, _) | Failure::QueryFile(error, ..) => status_of(error),
            #[cfg(feature = "server")]
            Failure::Problem(_, status) => *status,
        }
    }

    /// Formats the failure as JSON on one line.
    pub fn to_json(&self) -> String {
        let json = match self {
            Failure::Query(error, _) | Failure::QueryFile(error, ..) | Failure::Input(error, _) => {
                serde_json::to_string(error)
            }
            Failure::Usage(message) => serde_json::to_string(&serde_json::json!({"message": message})),
            #[cfg(feature = "server")]
            Failure::Problem(text, _) => serde_json::to_string(&serde_json::json!({"message": text})),
            Failure::ClosedPipe => Ok("null".into()),
        };
        json.unwrap_or_else(|_| "null".into())
    }

    /// Prints the failure to standard error, in color on a terminal.
    pub fn report(&self) {
        let styles = stderr_styles();
        let text = match self {
            Failure::ClosedPipe => return,
            Failure::Usage(message) => format!("{}error:{} {message}\n", styles.error, styles.reset),
            Failure::Query(error, source) => error.render_with(source, &styles),
            Failure::QueryFile(error, source, path) => render_query_file(error, source, path, &styles),
            Failure::Input(error, place) => render_input(error, place, &styles),
            #[cfg(feature = "server")]
            Failure::Problem(text, _) => text.clone(),
        };
        warn(&text);
    }
}

impl From<io::Error> for Failure {
    /// Converts an error of writing the output.
    fn from(error: io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::ClosedPipe,
            _ => Failure::Usage(format!("cannot write the output: {error}")),
        }
    }
}

fn status_of(error: &Error) -> Status {
    match error.code().stage() {
        Stage::Parse | Stage::Compile => Status::Compile,
        Stage::Eval | Stage::Limit => Status::Failed,
        Stage::Input if error.code() == Code::Panic => Status::Failed,
        Stage::Input => Status::Usage,
    }
}

/// Renders a query error with its location in a file, below the heading.
fn render_query_file(error: &Error, source: &str, path: &Path, styles: &Styles) -> String {
    let text = error.render_with(source, styles);
    let position = error.location().map(|at| format!(":{}:{}", at.line, at.column)).unwrap_or_default();
    let (heading, rest) = text.split_once('\n').unwrap_or((&text, ""));
    format!("{heading}\n  --> {}{position}\n{rest}", path.display())
}

/// Renders an input error with its location, and with its line if the document was kept.
fn render_input(error: &Error, place: &InputPlace, styles: &Styles) -> String {
    let (mut message, mut position, mut excerpt) = (error.message(), String::new(), String::new());
    if let Some(at) = error.location() {
        // The position in the message is that in the document, which may start later in its input.
        message = message.strip_suffix(&format!(" (line {}, column {})", at.line, at.column)).unwrap_or(message);
        let start = place.start.offset(at.line, at.column);
        position = format!(":{}:{}", start.line, start.column);
        excerpt = place.text.as_deref().map(|text| excerpt_of(text, &at, styles)).unwrap_or_default();
    }
    let first = format!("{}error[{}]:{} {message}\n", styles.error, error.code().as_str(), styles.reset);
    let help = error.help().or_else(|| help_for_text(error, &place.name));
    let help = help.map(|help| format!("  {}= help:{} {help}\n", styles.help, styles.reset));
    format!("{first}  --> {}{position}\n{excerpt}{}", place.name, help.unwrap_or_default())
}

/// Returns help for files that are text and not JSON.
fn help_for_text(error: &Error, name: &str) -> Option<&'static str> {
    let is_named = |extension: &str| name.to_ascii_lowercase().ends_with(extension);
    match error.code() {
        Code::NotJson if name == "--jsonargs" => {
            Some("all arguments after `--jsonargs` are values; files come before it")
        }
        Code::NotJson if is_named(".csv") || is_named(".tsv") => {
            Some("`pidq query` reads each row of a table as an object, and `pidq import` a drawing from tables")
        }
        Code::NotJson if is_named(".txt") || is_named(".log") => Some("`-R` reads each line as a string"),
        _ => None,
    }
}

/// Characters of a line that are shown before and after the column of an error.
const EXCERPT_WIDTH: usize = 40;

/// Returns the part of a line around an error, and a line with a caret below it.
fn excerpt_of(text: &str, at: &Location, styles: &Styles) -> String {
    let line = text.lines().nth(at.line - 1).unwrap_or_default();
    let start = at.column.saturating_sub(1 + EXCERPT_WIDTH);
    let shown: String = line
        .chars()
        .skip(start)
        .take(2 * EXCERPT_WIDTH)
        .map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c })
        .collect();
    let margin = " ".repeat(at.column - 1 - start);
    format!("  | {}\n  | {margin}{}^{}\n", shown.trim_end(), styles.caret, styles.reset)
}

/// Returns true if colors are the default: on a terminal, unless `NO_COLOR` is set.
pub fn wants_colors(stream: &impl IsTerminal) -> bool {
    let is_disabled = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    stream.is_terminal() && !is_disabled
}

/// Returns the styles of messages.
pub fn stderr_styles() -> Styles {
    if wants_colors(&io::stderr()) { Styles::ANSI } else { Styles::PLAIN }
}

/// Prints a message to standard error, ignoring errors.
pub fn warn(text: &str) {
    progress::suspend(|| drop(io::stderr().write_all(text.as_bytes())));
}
