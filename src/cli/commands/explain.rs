//! Subcommand `pidq explain`: prints the plan or the profile of a query.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use pidq::{Graph, Limits, Query, QueryPlan, RunProfile};

use super::query;
use crate::cli::failure::{Failure, Result, Status};
use crate::cli::input;
use crate::cli::limits::{LimitOptions, RunLimits};
use crate::cli::query_options::QueryOptions;

const EXAMPLES: &str = "\
Examples:
  pidq explain '.pid_graph.nodes | filter(.tag == \"P-101A\") | size()' plant.json
  pidq explain --plan 'nodes() | filter(.kw > 5) | size()'";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Query; with --from-file, the document
    #[arg(required_unless_present = "from_file")]
    query: Option<String>,

    /// Document; `-` or none reads standard input
    file: Option<PathBuf>,

    /// Read the query from a file
    #[arg(short, long, value_name = "FILE", conflicts_with = "file")]
    from_file: Option<PathBuf>,

    /// Print the static plan, without a document
    #[arg(long, conflicts_with = "file")]
    plan: bool,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    #[command(flatten)]
    query_options: QueryOptions,

    #[command(flatten)]
    limits: LimitOptions,
}

#[derive(Clone, Copy, Default, ValueEnum)]
enum Format {
    /// Human-readable table
    #[default]
    Text,
    /// JSON object
    Json,
}

/// Runs the subcommand.
pub fn run(options: &Options) -> Result {
    match &options.from_file {
        None => explain(options, options.query.as_deref().unwrap_or_default(), options.file.as_deref()),
        Some(_) if options.plan && options.query.is_some() => {
            Err(Failure::Usage("`--plan` cannot be combined with a document".into()))
        }
        Some(path) => explain(options, &input::text(path)?, options.query.as_deref().map(Path::new))
            .map_err(|failure| failure.of_query_file(Some(path))),
    }
}

fn explain(options: &Options, text: &str, document: Option<&Path>) -> Result {
    let query = options.query_options.compile(text)?;
    if options.plan {
        return print_plan(&query.plan(), options.format);
    }
    let graph = input::graph(document.unwrap_or(Path::new("-")))?;
    let (profile, time) = options.limits.run(|limits| profile(&query, &graph, limits))?;
    match options.format {
        Format::Json => print_json(&profile, time)?,
        Format::Text => print_text(&query, &profile, time)?,
    }
    Ok(Status::Done)
}

/// Runs a query, which Ctrl-C cancels, and prints its profile.
pub fn print_profile(query: &Query, graph: &Graph, limits: RunLimits) -> Result<()> {
    let (profile, time) = limits.run_interruptibly(|limits| profile(query, graph, limits))?;
    print_text(query, &profile, time)
}

fn profile(query: &Query, graph: &Graph, limits: Limits<'_>) -> Result<(RunProfile, Duration)> {
    let start = Instant::now();
    let profile = query.explain(graph, limits);
    let time = start.elapsed();
    let mut profile = profile.map_err(|error| Failure::Query(error, query.source().into()))?;
    if profile.uses_graph {
        profile.warnings.extend(query::graph_warnings(graph, &profile.warnings));
    }
    Ok((profile, time))
}

fn print_text(query: &Query, profile: &RunProfile, time: Duration) -> Result<()> {
    query::warn(&profile.warnings, query);
    Ok(writeln!(io::stdout().lock(), "{profile}milliseconds: {:.3}", milliseconds(time))?)
}

fn print_plan(plan: &QueryPlan, format: Format) -> Result {
    match format {
        Format::Json => writeln!(io::stdout().lock(), "{:#}", serde_json::json!(plan))?,
        Format::Text => write!(io::stdout().lock(), "{plan}")?,
    }
    Ok(Status::Done)
}

fn print_json(profile: &RunProfile, time: Duration) -> Result<()> {
    let mut json = serde_json::json!(profile);
    json["milliseconds"] = milliseconds(time).into();
    Ok(writeln!(io::stdout().lock(), "{json:#}")?)
}

/// Returns milliseconds with microsecond precision.
fn milliseconds(time: Duration) -> f64 {
    time.as_micros() as f64 / 1000.0
}
