//! Subcommand `pidq join`: joins sheets at their off-page connectors.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use pidq::{Graph, JoinBy, Value};

use crate::cli::drawing;
use crate::cli::drawing_files;
use crate::cli::failure::{self, Failure, Result, Status};
use crate::cli::limits::LimitOptions;
use crate::cli::output::{self, field, items};
use crate::cli::table;

const EXAMPLES: &str = "\
Examples:
  pidq join unit-1.json unit-2.json -o plant.json
  pidq join drawings/*.xml --by label -o plant.json
  pidq join unit-1.json unit-2.json -o - | pidq query '.pid_graph.metadata.joined.unmatched'

Ids become `drawing#id`, with the drawing number if there is one. Connectors without a partner or with several are not
joined; they are reported and listed in `metadata.joined`.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Sheets: pid_graph JSON or an importable format; `-` reads standard input
    #[arg(required = true, value_name = "SHEET")]
    sheets: Vec<PathBuf>,

    /// Match connectors by this criterion
    #[arg(long, value_enum, default_value_t)]
    by: By,

    /// Output file [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    limits: LimitOptions,
}

#[derive(Clone, Copy, Default, ValueEnum)]
enum By {
    /// Partner id, else drawing and label
    #[default]
    Any,
    /// Partner id only
    Link,
    /// Drawing and label only
    Label,
}

impl By {
    fn to_join_by(self) -> JoinBy {
        match self {
            By::Any => JoinBy::Any,
            By::Link => JoinBy::Link,
            By::Label => JoinBy::Label,
        }
    }
}

/// Runs the subcommand.
pub fn run(options: &Options) -> Result {
    if let [alone] = &options.sheets[..] {
        return Err(Failure::Usage(format!("a join needs at least two sheets, found only `{}`", alone.display())));
    }
    drawing::require_single_stdin(&options.sheets)?;
    let output = options.output.as_deref().filter(|path| *path != Path::new("-"));
    output.map_or(Ok(()), |output| reject_sheet_as_output(output, &options.sheets))?;
    let sheets = options.sheets.iter().map(|path| drawing::open_with_graph(path)).collect::<Result<Vec<Graph>>>()?;
    let sheets: Vec<&Graph> = sheets.iter().collect();
    let failure_of = |error| drawing::drawing_failure(error, Path::new("the sheets"), "joinSheets");
    let joined = options.limits.run(|limits| pidq::join_sheets(&sheets, options.by.to_join_by(), limits));
    let joined = drawing::parse_result(joined.map_err(failure_of)?)?;
    let text = format!("{}\n", joined.source());
    match output {
        Some(path) => drawing_files::write(path, text.as_bytes())?,
        None => output::ignore_closed_pipe(output::print(&text))?,
    }
    let report = ["pid_graph", "metadata", "joined"].into_iter().fold(joined.root(), field);
    print_report(report, sheets.len());
    Ok(Status::Done)
}

/// Fails if the output file is one of the sheets, as with a shell pattern that matches earlier output.
fn reject_sheet_as_output(output: &Path, sheets: &[PathBuf]) -> Result<()> {
    let real = |path: &Path| fs::canonicalize(path).ok();
    let is_sheet = real(output).is_some_and(|output| sheets.iter().any(|sheet| real(sheet).as_ref() == Some(&output)));
    match is_sheet {
        true => Err(Failure::Usage(format!("`{0}` is one of the sheets; choose another --output", output.display()))),
        false => Ok(()),
    }
}

/// Prints unmatched connectors, pairs of different pipes and totals.
fn print_report(report: Value<'_>, sheets: usize) {
    let mut text = String::new();
    let lists = ["pairs", "unmatched", "ambiguous"].map(|list| items(field(report, list)).collect::<Vec<_>>());
    let [pairs, unmatched, ambiguous] = &lists;
    for row in unmatched {
        text.push_str(&format!("no partner for {}\n", connector(*row)));
    }
    for row in ambiguous {
        let candidates = table::cell(field(*row, "candidates"));
        text.push_str(&format!("several partners for {}: {candidates}\n", connector(*row)));
    }
    for row in items(field(report, "missing_partners")) {
        let [id, sheet, reason] = ["id", "sheet", "reason"].map(|key| table::cell(field(row, key)));
        text.push_str(&format!("{id} names the sheet {sheet}, which lacks its partner: {reason}\n"));
    }
    for row in items(field(report, "differences")) {
        let cells = ["from", "to", "property", "from_value", "to_value"].map(|key| table::cell(field(row, key)));
        let [from, to, property, from_value, to_value] = cells;
        text.push_str(&format!("{from} and {to} are joined, but {property} is {from_value} and {to_value}\n"));
    }
    let [pairs, unmatched, ambiguous] = [pairs, unmatched, ambiguous].map(Vec::len);
    let pairs = table::count(pairs, "pair");
    let counts = format!("{pairs} of connectors joined, {unmatched} without a partner, {ambiguous} with several");
    failure::warn(&format!("{text}{sheets} sheets: {counts}\n"));
}

/// Formats a connector with the drawing and label it refers to.
fn connector(row: Value<'_>) -> String {
    let [id, drawing, label] = ["id", "drawing", "label"].map(|key| table::cell(field(row, key)));
    let details = [("to drawing", drawing), ("label", label)];
    let details = details.iter().filter(|(_, text)| !text.is_empty()).map(|(name, text)| format!("{name} {text}"));
    match details.collect::<Vec<_>>().join(", ") {
        details if details.is_empty() => id,
        details => format!("{id} ({details})"),
    }
}
