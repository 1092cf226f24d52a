//! Why a subcommand ends early: what it says and with which status the command exits.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use pidq::Error;
use pidq::error::{Code, Stage, Styles};

/// The exit status of the command, in the order of severity. Scripts rely on the numbers.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Status {
    /// All is well. A closed pipe is too.
    Done = 0,
    /// With `-e`: the last output was `false` or `null`. With `fmt --check`: a file is not formatted. With `diff`: there
    /// are changes. With `validate`: there are errors.
    Falsy = 1,
    /// Wrong usage, unreadable files, input that is not JSON.
    Usage = 2,
    /// The query does not compile.
    Compile = 3,
    /// With `-e`: there was no output.
    NoOutput = 4,
    /// The query failed, or met a limit.
    Failed = 5,
}

/// Why a subcommand ends early.
#[derive(Debug)]
pub enum Failure {
    /// Nobody reads the output any more. Not an error.
    ClosedPipe,
    /// Wrong usage, or a file that cannot be read or written.
    Usage(String),
    /// The engine refused the query, with the text that its span points into.
    Query(Error, String),
    /// The engine refused an input, with the name of where it came from.
    Input(Error, String),
    /// A service refused: what it said, written out for people, and the status that this ends with.
    #[cfg(feature = "server")]
    Refused(String, Status),
}

/// What a subcommand gives.
pub type Result<T = Status> = std::result::Result<T, Failure>;

impl Failure {
    /// A file that cannot be read, and what to do about it.
    pub fn unreadable(path: &Path, error: &io::Error) -> Failure {
        let name = path.display();
        Failure::Usage(match error.kind() {
            io::ErrorKind::NotFound => format!("there is no file `{name}`; is the path complete?"),
            io::ErrorKind::IsADirectory => {
                format!("`{name}` is a folder, not a file; `pidq query --all {name} QUERY` asks every JSON file in it")
            }
            io::ErrorKind::NotADirectory => {
                format!("`{name}` is not a folder; `pidq query QUERY {name}` asks one file")
            }
            io::ErrorKind::PermissionDenied => format!("you may not read `{name}`; `ls -l` shows who may"),
            _ => format!("cannot read `{name}`: {error}"),
        })
    }

    /// The exit status.
    pub fn status(&self) -> Status {
        match self {
            Failure::ClosedPipe => Status::Done,
            Failure::Usage(_) | Failure::Input(..) => Status::Usage,
            Failure::Query(error, _) => status_of(error),
            #[cfg(feature = "server")]
            Failure::Refused(_, status) => *status,
        }
    }

    /// In one line, for programs.
    pub fn to_json(&self) -> String {
        let described = match self {
            Failure::Query(error, _) | Failure::Input(error, _) => serde_json::to_string(error),
            Failure::Usage(message) => serde_json::to_string(&serde_json::json!({"message": message})),
            #[cfg(feature = "server")]
            Failure::Refused(text, _) => serde_json::to_string(&serde_json::json!({"message": text})),
            Failure::ClosedPipe => Ok("null".into()),
        };
        described.unwrap_or_else(|_| "null".into())
    }

    /// Tells the person at the terminal, in colour where they see it.
    pub fn report(&self) {
        let styles = stderr_styles();
        let text = match self {
            Failure::ClosedPipe => return,
            Failure::Usage(message) => format!("{}error:{} {message}\n", styles.error, styles.reset),
            Failure::Query(error, source) => error.render_with(source, &styles),
            Failure::Input(error, name) => render_input(error, name, &styles),
            #[cfg(feature = "server")]
            Failure::Refused(text, _) => text.clone(),
        };
        warn(&text);
    }
}

impl From<io::Error> for Failure {
    /// An error of writing the output.
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

/// An input may be long: its place is told, not shown.
fn render_input(error: &Error, name: &str, styles: &Styles) -> String {
    let place = error.location().map(|place| format!(":{}:{}", place.line, place.column)).unwrap_or_default();
    let first = format!("{}error[{}]:{} {}\n", styles.error, error.code().as_str(), styles.reset, error.message());
    let help = error.help().map(|help| format!("  {}= help:{} {help}\n", styles.help, styles.reset));
    format!("{first}  --> {name}{place}\n{}", help.unwrap_or_default())
}

/// Whether colours are wanted where nobody said so: on a terminal, unless `NO_COLOR` is set.
pub fn wants_colours(stream: &impl IsTerminal) -> bool {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    stream.is_terminal() && !refused
}

/// The styles of messages.
pub fn stderr_styles() -> Styles {
    if wants_colours(&io::stderr()) { Styles::ANSI } else { Styles::PLAIN }
}

/// Writes a message. When even that fails there is nobody to tell.
pub fn warn(text: &str) {
    drop(io::stderr().write_all(text.as_bytes()));
}
