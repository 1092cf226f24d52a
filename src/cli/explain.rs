//! `pidq explain`: where a query spends its steps.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use pidq::{Explanation, Outline};

use super::budget::LimitOptions;
use super::failure::{Failure, Result, Status};
use super::question::Writing;
use super::{input, query};

const EXAMPLES: &str = "\
Examples:
  pidq explain '.pid_graph.nodes | filter(.tag == \"P-101A\") | size()' plant.json
  pidq explain --plan 'nodes() | filter(.kw > 5) | size()'";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// The query
    query: String,

    /// The document; `-` or none is the standard input
    #[arg(default_value = "-", hide_default_value = true)]
    file: PathBuf,

    /// Only what is known without a document: the calls, and which of them run as one step
    #[arg(long, conflicts_with = "file")]
    plan: bool,

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
    if options.plan {
        return print_outline(&query.outline(), options.format);
    }
    let graph = input::graph(&options.file)?;
    let start = Instant::now();
    let explanation = options.limits.within(|limits| query.explain(&graph, limits));
    let time = start.elapsed();
    let mut explanation = explanation.map_err(|error| Failure::Query(error, options.query.clone()))?;
    if explanation.asked_graph {
        explanation.warnings.extend(query::doubts(&graph, &explanation.warnings));
    }
    match options.format {
        Format::Json => print_json(&explanation, time)?,
        Format::Text => {
            query::warn(&explanation.warnings, &query);
            writeln!(io::stdout().lock(), "{explanation}milliseconds: {:.3}", milliseconds(time))?;
        }
    }
    Ok(Status::Done)
}

fn print_outline(outline: &Outline, format: Format) -> Result {
    match format {
        Format::Json => writeln!(io::stdout().lock(), "{:#}", serde_json::json!(outline))?,
        Format::Text => write!(io::stdout().lock(), "{outline}")?,
    }
    Ok(Status::Done)
}

fn print_json(explanation: &Explanation, time: Duration) -> Result<()> {
    let mut told = serde_json::json!(explanation);
    told["milliseconds"] = milliseconds(time).into();
    Ok(writeln!(io::stdout().lock(), "{told:#}")?)
}

/// With the microseconds; what is behind them is noise.
fn milliseconds(time: Duration) -> f64 {
    time.as_micros() as f64 / 1000.0
}
