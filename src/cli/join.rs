//! `pidq join`: several sheets as one drawing, joined at their off-page connectors.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use pidq::{Graph, JoinBy, Value};

use super::budget::LimitOptions;
use super::drawing::{self, field, items};
use super::failure::{self, Failure, Result, Status};
use super::{import, table};

const EXAMPLES: &str = "\
Examples:
  pidq join unit-1.json unit-2.json -o plant.json
  pidq join drawings/*.xml --by label -o plant.json
  pidq join unit-1.json unit-2.json -o - | pidq query '.pid_graph.metadata.joined.unmatched'

Ids become `drawing#id`, with the number of the drawing where it has one. Nothing is guessed: connectors without a partner, and those with several, are told and listed in
`metadata.joined`.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// The sheets: pid_graph JSON, or drawings that can be imported; `-` is the standard input
    #[arg(required = true, value_name = "SHEET")]
    sheets: Vec<PathBuf>,

    /// By what two connectors are found to be one
    #[arg(long, value_enum, default_value_t)]
    by: By,

    /// Where the drawing goes; without it, to the standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    limits: LimitOptions,
}

#[derive(Clone, Copy, Default, ValueEnum)]
enum By {
    /// By the id of the partner, else by drawing and label
    #[default]
    Any,
    /// By the id of the partner only
    Link,
    /// By drawing and label only
    Label,
}

impl By {
    fn what(self) -> JoinBy {
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
        return Err(Failure::Usage(format!("a join takes two sheets or more, and `{}` is one", alone.display())));
    }
    drawing::one_from_stdin(&options.sheets)?;
    let output = options.output.as_deref().filter(|path| *path != Path::new("-"));
    output.map_or(Ok(()), |output| spare_the_sheets(output, &options.sheets))?;
    let sheets = options.sheets.iter().map(|path| drawing::open_with_graph(path)).collect::<Result<Vec<Graph>>>()?;
    let sheets: Vec<&Graph> = sheets.iter().collect();
    let refused = |error| drawing::refused(error, Path::new("the sheets"), "joinSheets");
    let joined = options.limits.within(|limits| pidq::join_sheets(&sheets, options.by.what(), limits));
    let joined = drawing::answer(joined.map_err(refused)?)?;
    let text = format!("{}\n", joined.source());
    match output {
        Some(path) => import::write(path, text.as_bytes())?,
        None => drawing::even_unread(drawing::print(&text))?,
    }
    let report = ["pid_graph", "metadata", "joined"].into_iter().fold(joined.root(), field);
    tell(report, sheets.len());
    Ok(Status::Done)
}

/// A pattern of the shell may name the output of the last time among the sheets.
fn spare_the_sheets(output: &Path, sheets: &[PathBuf]) -> Result<()> {
    let real = |path: &Path| fs::canonicalize(path).ok();
    let is_sheet = real(output).is_some_and(|output| sheets.iter().any(|sheet| real(sheet).as_ref() == Some(&output)));
    match is_sheet {
        true => Err(Failure::Usage(format!("`{0}` is one of the sheets; give another --output", output.display()))),
        false => Ok(()),
    }
}

/// What could not be matched, and how many were.
fn tell(report: Value<'_>, sheets: usize) {
    let mut text = String::new();
    let lists = ["pairs", "unmatched", "ambiguous"].map(|list| items(field(report, list)).collect::<Vec<_>>());
    let [pairs, unmatched, ambiguous] = &lists;
    for row in unmatched {
        text.push_str(&format!("no partner for {}\n", connector(*row)));
    }
    for row in ambiguous {
        let candidates = table::cell(field(*row, "candidates"));
        text.push_str(&format!("no single partner for {}: it could be {candidates}\n", connector(*row)));
    }
    let [pairs, unmatched, ambiguous] = [pairs, unmatched, ambiguous].map(Vec::len);
    let pairs = table::count(pairs, "pair");
    let counts = format!("{pairs} of connectors joined, {unmatched} without a partner, {ambiguous} with several");
    failure::warn(&format!("{text}{sheets} sheets: {counts}\n"));
}

/// A connector, and the drawing and the label that it names.
fn connector(row: Value<'_>) -> String {
    let [id, drawing, label] = ["id", "drawing", "label"].map(|key| table::cell(field(row, key)));
    let said = [("to drawing", drawing), ("label", label)];
    let said = said.iter().filter(|(_, text)| !text.is_empty()).map(|(what, text)| format!("{what} {text}"));
    match said.collect::<Vec<_>>().join(", ") {
        nothing if nothing.is_empty() => id,
        place => format!("{id} ({place})"),
    }
}
