//! Command-line interface: subcommands and their options.

#[cfg(feature = "pipeline")]
mod backup;
#[cfg(feature = "server")]
mod client_settings;
mod colors;
mod commands;
mod compressed;
mod documents;
mod drawing;
mod drawing_files;
#[cfg(feature = "server")]
mod environment;
mod failure;
#[cfg(feature = "server")]
mod graph_import;
mod input;
mod interrupt;
mod json_files;
mod json_formatter;
mod json_texts;
mod limits;
mod options;
mod output;
mod pager;
mod process_memory;
mod progress;
mod query_options;
mod sorted_json;
mod table;

use std::env;
use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, CommandFactory, Parser, Subcommand};
#[cfg(feature = "dashboard")]
use commands::dashboard;
use commands::{
    check, completions_and_man, conformance, diff, draw, explain, export, fmt, functions, import, join, list, manual,
    query, repl, validate,
};
#[cfg(feature = "server")]
use commands::{clients, graph, remote::health, serve, users};
#[cfg(feature = "pipeline")]
use commands::{
    pipeline,
    up::{self, backup as backup_command, migrate, restore},
};
use failure::{Result, Status};
use options::file::Parsed;
use pidq::Dialect;

const EXAMPLES: &str = "\
Examples:
  pidq query '.pid_graph.nodes | filter(.tag == \"P-101A\")' plant.json
  pidq query -r '.pid_graph.nodes | map(.tag) | join(\"\\n\")' plant.json
  curl -s https://example.com/plant.json | pidq query '.pid_graph.edges | size()'
  pidq query --all drawings '.pid_graph.nodes | size()'
  pidq list lines plant.json
  pidq validate plant.json
  pidq functions groupBy
  pidq repl plant.json

Exit status: 0 success · 1 with -e, the last output was false or null; diff found changes, validate found errors ·
2 usage error, unreadable file or invalid JSON · 3 the query does not compile · 4 with -e, no output ·
5 the query failed or exceeded a limit.

Default options are read from ~/.config/pidq/options, one per line, such as `query --indent 4`; on Windows from
%APPDATA%\\pidq\\options. PIDQ_OPTIONS names another file; empty, none is read.";

const CHECK_EXAMPLES: &str = "\
Examples:
  pidq check '.pid_graph.nodes | map(.tag)'
  pidq check --against plant.json '.pid_graph.nodes | map(.tga)'
  pidq check --format json --against plant.json '.pid_graph.nodes | map(.tga)'";

/// Query P&ID graphs and other JSON documents.
#[derive(Parser)]
#[command(name = "pidq", version, after_help = EXAMPLES, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a query on documents.
    Query(query::Options),
    /// Format a query, keeping its comments.
    Fmt(fmt::Options),
    /// Check a query without printing results.
    #[command(after_help = CHECK_EXAMPLES)]
    Check(check::Options),
    /// Show the plan or the profile of a query.
    Explain(explain::Options),
    /// List the functions, or describe one.
    Functions(functions::Options),
    /// Run queries interactively.
    Repl(repl::Options),
    /// Convert drawings from other programs to pid_graph JSON.
    Import(import::Options),
    /// Convert a graph or a query result to other formats.
    Export(export::Options),
    /// Draw a graph, or a part of it, as SVG.
    Draw(draw::Options),
    /// Print a list from a drawing: lines, equipment, valves, instruments.
    List(list::Options),
    /// Check drawings for errors.
    Validate(validate::Options),
    /// Compare two revisions of a drawing.
    Diff(diff::Options),
    /// Join sheets at their off-page connectors.
    Join(join::Options),
    /// Serve graphs and queries over HTTP.
    #[cfg(feature = "server")]
    Serve(serve::Serve),
    /// Manage stored graphs.
    #[cfg(feature = "server")]
    Graph(graph::Options),
    /// Manage users and their grants.
    #[cfg(feature = "server")]
    Users(users::Options),
    /// Manage OAuth clients.
    #[cfg(feature = "server")]
    Clients(clients::Options),
    /// Run the document platform.
    #[cfg(feature = "pipeline")]
    #[command(subcommand)]
    Pipeline(pipeline::Command),
    /// Serve graphs, documents and the dashboard in one process without other services.
    #[cfg(feature = "pipeline")]
    Up(up::Options),
    /// Back up an installation while it is running.
    #[cfg(feature = "pipeline")]
    Backup(backup_command::Options),
    /// Restore a backup, or verify it.
    #[cfg(feature = "pipeline")]
    Restore(restore::Options),
    /// Serve the web dashboard for an API elsewhere.
    #[cfg(feature = "dashboard")]
    Dashboard(dashboard::Options),
    /// Create or update the tables of all databases, before an upgrade.
    #[cfg(feature = "pipeline")]
    Migrate(migrate::Options),
    /// Check whether a running service is healthy.
    #[cfg(feature = "server")]
    Health(health::Options),
    /// Run the conformance protocol: one JSON request and one response per line.
    ConformanceStdio(conformance::Options),
    /// Print a shell completion script.
    Completions(completions_and_man::Completions),
    /// Print the manual page.
    Man(completions_and_man::Man),
    /// Print a page of the documentation, such as `language`.
    Manual {
        #[arg(value_enum, default_value_t)]
        page: manual::Page,
    },
}

/// Runs the command and returns its exit status.
pub fn main() -> ExitCode {
    let given: Vec<OsString> = env::args_os().skip(1).collect();
    let status = options::file::with_defaults(given, |arguments| parsed(&parse(arguments))).and_then(|arguments| {
        match parse(&arguments) {
            Ok(command) => run(command),
            Err(message) => Ok(print_usage_error(&message)),
        }
    });
    let status = status.unwrap_or_else(|failure| {
        failure.report();
        failure.status()
    });
    ExitCode::from(status as u8)
}

/// Parses the arguments after the program name.
fn parse(arguments: &[OsString]) -> clap::error::Result<Command> {
    if let Some(command) = parse_short_command(arguments) {
        return Ok(command);
    }
    let name = OsString::from("pidq");
    Cli::try_parse_from([&name].into_iter().chain(arguments)).map(|cli| cli.command)
}

fn parsed(command: &clap::error::Result<Command>) -> Parsed {
    match command.as_ref().map_err(clap::Error::kind) {
        Ok(_) => Parsed::Valid,
        Err(ErrorKind::ArgumentConflict) => Parsed::Conflict,
        Err(_) => Parsed::Invalid,
    }
}

/// Returns the command with some options; `None` if they are not valid.
type ParseFn = fn(&[OsString]) -> Option<Command>;

/// Commands that scripts run thousands of times on small drawings.
const SHORT_COMMANDS: &[(&str, ParseFn)] = &[
    ("query", |arguments| parse_options(arguments).map(Command::Query)),
    ("fmt", |arguments| parse_options(arguments).map(Command::Fmt)),
    ("check", |arguments| parse_options(arguments).map(Command::Check)),
    ("explain", |arguments| parse_options(arguments).map(Command::Explain)),
    ("functions", |arguments| parse_options(arguments).map(Command::Functions)),
    ("import", |arguments| parse_options(arguments).map(Command::Import)),
    ("export", |arguments| parse_options(arguments).map(Command::Export)),
    ("draw", |arguments| parse_options(arguments).map(Command::Draw)),
    ("list", |arguments| parse_options(arguments).map(Command::List)),
    ("validate", |arguments| parse_options(arguments).map(Command::Validate)),
    ("diff", |arguments| parse_options(arguments).map(Command::Diff)),
    ("join", |arguments| parse_options(arguments).map(Command::Join)),
];

/// Parses the command if it is one of [`SHORT_COMMANDS`] and valid. Parsing only its options is much faster than building all
/// subcommands. Errors are reported by the full parser.
fn parse_short_command(arguments: &[OsString]) -> Option<Command> {
    let (name, arguments) = arguments.split_first()?;
    let (_, parse) = SHORT_COMMANDS.iter().find(|(known, _)| name == known)?;
    parse(arguments)
}

/// Parses the options of a command, without its name.
fn parse_options<T: Args>(arguments: &[OsString]) -> Option<T> {
    let parser = T::augment_args(clap::Command::new("pidq").no_binary_name(true));
    T::from_arg_matches(&parser.try_get_matches_from(arguments).ok()?).ok()
}

fn run(command: Command) -> Result {
    match command {
        Command::Query(options) => query::run(&options),
        Command::Fmt(options) => fmt::run(&options),
        Command::Check(options) => check::run(&options),
        Command::Explain(options) => explain::run(&options),
        Command::Functions(options) => functions::run(&options),
        Command::Repl(options) => repl::run(&options),
        Command::Import(options) => import::run(&options),
        Command::Export(options) => export::run(&options),
        Command::Draw(options) => draw::run(&options),
        Command::List(options) => list::run(&options),
        Command::Validate(options) => validate::run(&options),
        Command::Diff(options) => diff::run(&options),
        Command::Join(options) => join::run(&options),
        #[cfg(feature = "server")]
        Command::Serve(options) => serve::serve(&options),
        #[cfg(feature = "server")]
        Command::Graph(options) => graph::run(&options),
        #[cfg(feature = "server")]
        Command::Users(options) => users::run(&options),
        #[cfg(feature = "server")]
        Command::Clients(options) => clients::run(&options),
        #[cfg(feature = "pipeline")]
        Command::Pipeline(command) => pipeline::run(&command),
        #[cfg(feature = "pipeline")]
        Command::Up(options) => up::run(&options),
        #[cfg(feature = "pipeline")]
        Command::Backup(options) => backup_command::run(&options),
        #[cfg(feature = "pipeline")]
        Command::Restore(options) => restore::run(&options),
        #[cfg(feature = "dashboard")]
        Command::Dashboard(options) => dashboard::run(&options),
        #[cfg(feature = "pipeline")]
        Command::Migrate(options) => migrate::run(&options),
        #[cfg(feature = "server")]
        Command::Health(options) => health::run(&options),
        Command::ConformanceStdio(options) => conformance::run(&options),
        Command::Completions(options) => completions_and_man::completions(&options),
        Command::Man(options) => completions_and_man::man(&options),
        Command::Manual { page } => manual::run(page),
    }
}

/// Prints help, version or a usage error. A closed pipe is not an error.
fn print_usage_error(message: &clap::Error) -> Status {
    drop(message.print());
    if let Some(ContextValue::String(word)) = message.get(ContextKind::InvalidSubcommand) {
        match missing_feature(word) {
            Some(feature) => failure::warn(&format!(
                "this program was built without `pidq {word}`; install it with `cargo install pidq --features {feature}`\n"
            )),
            None => {
                suggest_query_command(word);
                suggest_function(word);
            }
        }
    }
    if let Some(hint) = options::hint::hint(message, &Cli::command()) {
        failure::warn(&hint);
    }
    if message.kind() == ErrorKind::UnknownArgument && is_top_level_option() {
        failure::warn(QUERY_HINT);
    }
    if message.use_stderr() { Status::Usage } else { Status::Done }
}

/// Subcommands of the services, with the feature that builds them.
const SERVICE_COMMANDS: &[(&str, &str)] = &[
    ("serve", "server"),
    ("graph", "server"),
    ("users", "server"),
    ("clients", "server"),
    ("pipeline", "full"),
    ("up", "full"),
    ("backup", "full"),
    ("restore", "full"),
    ("dashboard", "full"),
    ("migrate", "full"),
    ("health", "server"),
];

/// Returns the feature that adds a subcommand to the program.
fn missing_feature(word: &str) -> Option<&'static str> {
    SERVICE_COMMANDS.iter().find(|(name, _)| *name == word).map(|(_, feature)| *feature)
}

/// Names the description of a function of the language whose name is given as a subcommand, as in `pidq help isolate`.
fn suggest_function(word: &str) {
    if Dialect::standard().functions().any(|function| function.name() == word) {
        failure::warn(&format!("`{word}` is a function of the query language: `pidq functions {word}` describes it\n"));
    }
}

const QUERY_HINT: &str = "to run a query on a file, use `pidq query QUERY FILE`\n";

/// Returns true if the first argument is an option such as `-r` of jq.
fn is_top_level_option() -> bool {
    env::args_os().nth(1).is_some_and(|first| first.as_encoded_bytes().starts_with(b"-"))
}

/// Suggests `pidq query` if the subcommand is a query or a file, as with jq.
fn suggest_query_command(word: &str) {
    let is_query = word.contains(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    if is_query || std::path::Path::new(word).exists() {
        failure::warn(QUERY_HINT);
    }
}

#[cfg(all(test, feature = "dashboard"))]
mod tests {
    use super::*;

    #[test]
    fn a_short_command_parses_as_by_the_full_parser() {
        const ARGUMENTS: &[&[&str]] =
            &[&[], &["a"], &["a", "b"], &["lines", "a"], &["--to", "graphml", "a"], &["--no"]];
        for (name, parse) in SHORT_COMMANDS {
            let mut valid = 0;
            for arguments in ARGUMENTS {
                let given: Vec<OsString> = arguments.iter().map(OsString::from).collect();
                let all = ["pidq", *name].into_iter().map(OsString::from).chain(given.iter().cloned());
                let expected = Cli::try_parse_from(all).ok().map(|cli| std::mem::discriminant(&cli.command));
                let found = parse(&given).map(|command| std::mem::discriminant(&command));
                assert_eq!(found, expected, "{name} {arguments:?}");
                valid += usize::from(found.is_some());
            }
            assert!(valid > 0, "{name}");
            assert!(parse(&[OsString::from("--help")]).is_none(), "{name}: the full parser prints the help");
        }
    }

    #[test]
    fn the_service_commands_exist_in_a_full_build() {
        let cli = Cli::command();
        for (name, _) in SERVICE_COMMANDS {
            assert!(cli.find_subcommand(name).is_some(), "{name}");
        }
    }
}
