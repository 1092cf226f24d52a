//! Subcommand `pidq functions`: lists the functions of the language.

use std::fmt::Write as _;
use std::io::{self, Write};

use clap::{Args, ValueEnum};
use pidq::{Dialect, Function, Param};

use crate::cli::failure::{Failure, Result, Status};
use crate::cli::query_options::Profile;

const EXAMPLES: &str = "\
Examples:
  pidq functions
  pidq functions groupBy
  pidq functions --format json";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Function to describe
    name: Option<String>,

    /// Query language
    #[arg(long, value_enum, default_value_t)]
    profile: Profile,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Clone, Copy, Default, ValueEnum)]
enum Format {
    /// Human-readable text
    #[default]
    Text,
    /// JSON object for editors: all functions and operators, or the one function
    Json,
}

/// Runs the subcommand.
pub fn run(options: &Options) -> Result {
    let dialect = options.profile.dialect();
    let found = options.name.as_deref().map(|name| find(&dialect, name)).transpose()?;
    let text = match (options.format, found) {
        (Format::Text, None) => list(&dialect, ""),
        (Format::Text, Some(function)) => details(function),
        (Format::Json, None) => line(serde_json::to_string_pretty(&dialect))?,
        (Format::Json, Some(function)) => line(serde_json::to_string_pretty(function))?,
    };
    io::stdout().lock().write_all(text.as_bytes())?;
    Ok(Status::Done)
}

fn line(json: serde_json::Result<String>) -> Result<String> {
    Ok(json.map_err(io::Error::from)? + "\n")
}

/// Describes a function.
pub fn description(dialect: &Dialect, name: &str) -> Result<String> {
    find(dialect, name).map(details)
}

/// Lists the functions whose name or description contains a text, one per line, grouped as in the manual.
pub fn list(dialect: &Dialect, text: &str) -> String {
    let text = text.to_lowercase();
    let contains = |row: &(String, &str)| format!("{} {}", row.0, row.1).to_lowercase().contains(&text);
    let rows = dialect.functions().map(|row| (row.signature(), row.summary())).filter(contains);
    let rows: Vec<(String, &str)> = rows.collect();
    let width = rows.iter().map(|(signature, _)| signature.chars().count()).filter(|width| *width <= 40).max();
    let width = width.unwrap_or(0);
    rows.iter().fold(String::new(), |mut text, (signature, summary)| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{signature:<width$}  {summary}");
        text
    })
}

fn find<'a>(dialect: &'a Dialect, name: &str) -> Result<&'a Function> {
    let named = name.trim_end_matches("()");
    let operator = dialect.operators().flatten().find(|(text, _)| &**text == name).map(|(_, function)| function);
    let named = operator.map_or(named, |function| function);
    let found = dialect.functions().find(|function| function.name() == named);
    found.ok_or_else(|| unknown(dialect, named))
}

fn details(function: &Function) -> String {
    let example =
        if function.example().is_empty() { String::new() } else { format!("\nExample:\n  {}\n", function.example()) };
    format!("{}\n  {}\n{}{example}", function.signature(), function.summary(), options(function))
}

/// Lists the options of a function with the kinds of their values, one per line.
fn options(function: &Function) -> String {
    let kinds: Vec<_> = function.params().iter().flat_map(Param::option_kinds).collect();
    let width = kinds.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let head = if kinds.is_empty() { "" } else { "\nOptions:\n" };
    kinds.iter().fold(head.to_owned(), |mut text, (name, kind)| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {name:<width$}  {kind}");
        text
    })
}

/// Creates the failure of an unknown function, with the compiler's suggestion.
fn unknown(dialect: &Dialect, name: &str) -> Failure {
    let is_word = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let error = dialect.parse(&format!("{name}()")).err().filter(|_| is_word);
    let help = error.as_ref().and_then(|error| error.help()).map(|help| format!("; {help}"));
    let help = help.unwrap_or_else(|| "; `pidq functions` lists all functions".into());
    Failure::Usage(format!("no function `{name}`{help}"))
}
