//! `pidq explain`: where a query spends its steps.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::budget::LimitOptions;
use super::failure::{Failure, Result, Status};
use super::input;
use super::question::Writing;

const EXAMPLES: &str = "\
Examples:
  pidq explain '.pid_graph.nodes | filter(.tag == \"P-101A\") | size()' plant.json";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// The query
    query: String,

    /// The document; `-` or none is the standard input
    #[arg(default_value = "-", hide_default_value = true)]
    file: PathBuf,

    /// How the table is written
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    #[command(flatten)]
    writing: Writing,

    #[command(flatten)]
    limits: LimitOptions,
}

#[derive(Clone, Copy, Default, ValueEnum)]
enum Format {
    /// A table for people
    #[default]
    Text,
    /// One JSON object
    Json,
}

/// Runs the subcommand.
pub fn run(options: &Options) -> Result {
    let query = options.writing.compile(&options.query)?;
    let graph = input::graph(&options.file)?;
    let plan = options.limits.within(|limits| query.explain(&graph, limits));
    let plan = plan.map_err(|error| Failure::Query(error, options.query.clone()))?;
    let mut out = io::stdout().lock();
    match options.format {
        Format::Json => writeln!(out, "{}", serde_json::to_string_pretty(&plan).map_err(io::Error::from)?)?,
        Format::Text => write!(out, "{plan}")?,
    }
    Ok(Status::Done)
}
