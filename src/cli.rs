//! The command line: its subcommands and options, and what they share.

mod budget;
mod check;
#[cfg(feature = "server")]
mod clients;
mod conformance;
mod diff;
mod draw;
mod drawing;
mod explain;
mod export;
mod failure;
mod fmt;
mod folder;
mod functions;
mod generate;
mod import;
mod input;
mod join;
mod layout;
#[cfg(feature = "pipeline")]
mod license;
mod list;
mod manual;
mod packed;
#[cfg(feature = "pipeline")]
mod pipeline;
mod query;
mod question;
#[cfg(feature = "server")]
mod remote;
mod repl;
#[cfg(feature = "server")]
mod service;
mod sorted;
#[cfg(feature = "server")]
mod store;
mod table;
#[cfg(feature = "pipeline")]
mod up;
#[cfg(feature = "server")]
mod users;
mod validate;

use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue};
use clap::{Args, FromArgMatches, Parser, Subcommand};

use failure::{Result, Status};

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

Exit status: 0 done · 1 with -e, the last output was false or null; diff found changes, validate errors ·
2 usage, files or input JSON · 3 the query does not compile · 4 with -e, no output · 5 the query failed or
met a limit.";

const CHECK: &str = "\
Examples:
  pidq check '.pid_graph.nodes | map(.tag)'
  pidq check --against plant.json '.pid_graph.nodes | map(.tga)'
  pidq check --format json --against plant.json '.pid_graph.nodes | map(.tga)'";

/// Asks questions of P&ID graphs and other JSON documents.
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
    /// Lay a query out; comments are kept.
    Fmt(fmt::Options),
    /// Check a query without printing results.
    #[command(after_help = CHECK)]
    Check(check::Options),
    /// Show the calls of a query with their rows and fuel.
    Explain(explain::Options),
    /// List the functions, or describe one.
    Functions(functions::Options),
    /// Try queries at a prompt.
    Repl(repl::Options),
    /// Read drawings of other programs into pid_graph JSON.
    Import(import::Options),
    /// Write a graph or the result of a query for other programs.
    Export(export::Options),
    /// Draw a graph, or a part of it, as SVG.
    Draw(draw::Options),
    /// Print a list of a drawing: lines, equipment, valves, instruments.
    List(list::Options),
    /// Check drawings, and tell what looks wrong.
    Validate(validate::Options),
    /// Tell what changed between two revisions of a drawing.
    Diff(diff::Options),
    /// Join sheets at their off-page connectors.
    Join(join::Options),
    /// Serve graphs, and queries on them, over HTTP.
    #[cfg(feature = "server")]
    Serve(service::Serve),
    /// Look after the graphs that a service keeps.
    #[cfg(feature = "server")]
    Graph(store::Options),
    /// Look after the users of a service, and their rights.
    #[cfg(feature = "server")]
    Users(users::Options),
    /// Look after the programs that may get tokens.
    #[cfg(feature = "server")]
    Clients(clients::Options),
    /// The document platform.
    #[cfg(feature = "pipeline")]
    #[command(subcommand)]
    Pipeline(pipeline::Command),
    /// Serve graphs and documents in one process that needs nothing else.
    #[cfg(feature = "pipeline")]
    Up(up::Options),
    /// Answer the conformance protocol: one JSON request and one answer a line.
    ConformanceStdio(conformance::Options),
    /// Print completions for a shell.
    Completions(generate::Completions),
    /// Print the manual page.
    Man(generate::Man),
    /// Print a page of `docs/`.
    #[command(hide = true)]
    Manual {
        #[arg(value_enum, default_value_t)]
        page: manual::Page,
    },
}

/// Runs the command and gives its exit status.
pub fn main() -> ExitCode {
    let command = query_alone().map_or_else(|| Cli::try_parse().map(|cli| cli.command), Ok);
    let status = match command {
        Ok(command) => run(command).unwrap_or_else(|failure| {
            failure.report();
            failure.status()
        }),
        Err(message) => explain_usage(&message),
    };
    ExitCode::from(status as u8)
}

/// The command, if it is a query with nothing wrong in its options: to read these alone takes a small part of the time that
/// all subcommands take, which is felt where a script asks a thousand small drawings. What is wrong is told by all.
fn query_alone() -> Option<Command> {
    let mut arguments = std::env::args_os().skip(1);
    arguments.next().filter(|name| name == "query")?;
    let reader = query::Options::augment_args(clap::Command::new("query").no_binary_name(true));
    let found = reader.try_get_matches_from(arguments).ok()?;
    query::Options::from_arg_matches(&found).ok().map(Command::Query)
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
        Command::Serve(options) => service::serve(&options),
        #[cfg(feature = "server")]
        Command::Graph(options) => store::run(&options),
        #[cfg(feature = "server")]
        Command::Users(options) => users::run(&options),
        #[cfg(feature = "server")]
        Command::Clients(options) => clients::run(&options),
        #[cfg(feature = "pipeline")]
        Command::Pipeline(command) => pipeline::run(&command),
        #[cfg(feature = "pipeline")]
        Command::Up(options) => up::run(&options),
        Command::ConformanceStdio(options) => conformance::run(&options),
        Command::Completions(options) => generate::completions(&options),
        Command::Man(options) => generate::man(&options),
        Command::Manual { page } => manual::run(page),
    }
}

/// Prints help, version or what is wrong with the options. A closed pipe does not matter here either.
fn explain_usage(message: &clap::Error) -> Status {
    drop(message.print());
    if let Some(ContextValue::String(word)) = message.get(ContextKind::InvalidSubcommand) {
        tell_of_query(word);
    }
    if message.use_stderr() { Status::Usage } else { Status::Done }
}

/// A query or a file in place of the subcommand is a habit from jq.
fn tell_of_query(word: &str) {
    let is_query = word.contains(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    if is_query || std::path::Path::new(word).exists() {
        failure::warn("`pidq query QUERY FILE` asks a question of a file\n");
    }
}
