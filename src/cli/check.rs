//! `pidq check`: whether a query compiles, and with a document whether it fits.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use pidq::error::Warning;
use pidq::{Query, Scratch};

use super::budget::LimitOptions;
use super::failure::{self, Failure, Result, Status};
use super::input;
use super::question::Writing;

#[derive(Args)]
pub struct Options {
    /// The query
    query: String,

    /// Also check it against a document, and run it there
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,

    /// How errors and warnings are printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    #[command(flatten)]
    writing: Writing,

    #[command(flatten)]
    limits: LimitOptions,
}

#[derive(Clone, Copy, Default, ValueEnum)]
enum Format {
    /// For people, on the standard error
    #[default]
    Text,
    /// One JSON object a line, on the standard output
    Json,
}

/// Runs the subcommand.
pub fn run(options: &Options) -> Result {
    match check(options) {
        Err(Failure::ClosedPipe) => Err(Failure::ClosedPipe),
        Err(failure) if matches!(options.format, Format::Json) => {
            print_line(&failure.to_json())?;
            Ok(failure.status())
        }
        checked => checked,
    }
}

fn check(options: &Options) -> Result {
    let query = options.writing.compile(&options.query)?;
    let refused = |error| Failure::Query(error, query.source().into());
    let warnings = match &options.against {
        None => query.check().map_err(refused)?,
        Some(path) => try_out(options, &query, path)?,
    };
    for warning in warnings {
        tell(options.format, &warning, &query)?;
    }
    Ok(Status::Done)
}

/// The warnings of the kinds of values of the document in `path`, and of a run on it.
fn try_out(options: &Options, query: &Query, path: &std::path::Path) -> Result<Vec<Warning>> {
    let graph = input::graph(path)?;
    options.limits.within(|limits| {
        let scratch = Scratch::new();
        let outcome = query.run(&graph, &scratch, limits);
        let mut warnings = outcome.map_err(|error| Failure::Query(error, query.source().into()))?.warnings;
        // A field that no object had is found in both ways.
        let of_kinds = query.check_against(&graph, limits);
        // Who knows the document knows better what to do about a list.
        let is_better = |told: &Warning| of_kinds.iter().any(|new| new.code == told.code && new.span == told.span);
        warnings.retain(|told| told.code != "PQW07" || !is_better(told));
        let said: Vec<_> = warnings.iter().map(|warning| (warning.code, warning.span)).collect();
        warnings.extend(of_kinds.into_iter().filter(|warning| !said.contains(&(warning.code, warning.span))));
        Ok(warnings)
    })
}

fn tell(format: Format, warning: &Warning, query: &Query) -> Result<()> {
    match format {
        Format::Text => failure::warn(&warning.render_with(query.source(), &failure::stderr_styles())),
        Format::Json => print_line(&serde_json::json!(warning).to_string())?,
    }
    Ok(())
}

fn print_line(json: &str) -> Result<()> {
    Ok(writeln!(io::stdout().lock(), "{json}")?)
}
