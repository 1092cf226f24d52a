//! Subcommand `pidq check`: checks that a query compiles and fits a document.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use pidq::error::Warning;
use pidq::{Query, Scratch};

use crate::cli::failure::{self, Failure, Result, Status};
use crate::cli::input;
use crate::cli::limits::LimitOptions;
use crate::cli::query_options::QueryOptions;

#[derive(Args)]
pub struct Options {
    /// The query
    #[arg(required_unless_present = "from_file")]
    query: Option<String>,

    /// Read the query from a file
    #[arg(short, long, value_name = "FILE", conflicts_with = "query")]
    from_file: Option<PathBuf>,

    /// Also check the query against a document, and run it on the document
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,

    /// Output format of errors and warnings
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    #[command(flatten)]
    query_options: QueryOptions,

    #[command(flatten)]
    limits: LimitOptions,
}

#[derive(Clone, Copy, Default, ValueEnum)]
enum Format {
    /// Text on standard error
    #[default]
    Text,
    /// One JSON object per line on standard output
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
    let text = match &options.from_file {
        Some(path) => input::text(path)?,
        None => options.query.clone().unwrap_or_default(),
    };
    check_text(options, &text).map_err(|failure| failure.of_query_file(options.from_file.as_deref()))
}

fn check_text(options: &Options, text: &str) -> Result {
    let query = options.query_options.compile(text)?;
    let query_failure = |error| Failure::Query(error, query.source().into());
    let warnings = match &options.against {
        None => query.check().map_err(query_failure)?,
        Some(path) => check_on_document(options, &query, path)?,
    };
    for warning in warnings {
        print_warning(options.format, &warning, &query)?;
    }
    Ok(Status::Done)
}

/// Returns the warnings from the schema of the document in `path` and from a run on it.
fn check_on_document(options: &Options, query: &Query, path: &std::path::Path) -> Result<Vec<Warning>> {
    let graph = input::graph(path)?;
    options.limits.run(|limits| {
        let scratch = Scratch::new();
        let outcome = query.run(&graph, &scratch, limits);
        let mut warnings = outcome.map_err(|error| Failure::Query(error, query.source().into()))?.warnings;
        // Both checks report a field that no object has.
        let schema_warnings = query.check_against(&graph, limits);
        // The check against the document gives better help for arrays.
        let is_better =
            |warning: &Warning| schema_warnings.iter().any(|new| new.code == warning.code && new.span == warning.span);
        warnings.retain(|warning| warning.code != "PQW07" || !is_better(warning));
        let reported: Vec<_> = warnings.iter().map(|warning| (warning.code, warning.span)).collect();
        warnings
            .extend(schema_warnings.into_iter().filter(|warning| !reported.contains(&(warning.code, warning.span))));
        Ok(warnings)
    })
}

fn print_warning(format: Format, warning: &Warning, query: &Query) -> Result<()> {
    match format {
        Format::Text => failure::warn(&warning.render_with(query.source(), &failure::stderr_styles())),
        Format::Json => print_line(&serde_json::json!(warning).to_string())?,
    }
    Ok(())
}

fn print_line(json: &str) -> Result<()> {
    Ok(writeln!(io::stdout().lock(), "{json}")?)
}
