//! `pidq export`: a graph, or the result of a query, in a format of other programs.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use pidq::{Graph, Scratch};
use pidq_formats::{FORMATS, Format, Part};

use super::budget::LimitOptions;
use super::failure::{Failure, Result, Status};
use super::import;
use super::question::Writing;

const EXAMPLES: &str = "\
Examples:
  pidq export plant.json --format graphml -o plant.graphml
  pidq export plant.json --format dot | dot -Tsvg > plant.svg
  pidq export plant.json --query '.pid_graph.nodes | filter(.node_type == \"loop\")' --format csv
  pidq export plant.json -o plant.xlsx
  pidq export plant.json --format neo4j -o tables/
  pidq export plant.json --format cypher | cypher-shell -u neo4j";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// The graph: pid_graph JSON, or a drawing that can be imported
    graph: PathBuf,

    /// The format; without it, what the output file ends with
    #[arg(short, long, value_name = "FORMAT", value_parser = names())]
    format: Option<String>,

    /// Export what this query gives instead of the whole graph
    #[arg(short, long, value_name = "QUERY")]
    query: Option<String>,

    /// Where it goes: a file, or a folder for formats of several files; without it, to the standard output
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,

    #[command(flatten)]
    writing: Writing,

    #[command(flatten)]
    limits: LimitOptions,
}

fn names() -> clap::builder::PossibleValuesParser {
    written()
        .map(|format| clap::builder::PossibleValue::new(format.name).help(format.summary))
        .collect::<Vec<_>>()
        .into()
}

fn written() -> impl Iterator<Item = &'static Format> {
    FORMATS.iter().filter(|format| format.write.is_some())
}

/// Runs the subcommand.
pub fn run(options: &Options) -> Result {
    let format = options.format()?;
    let graph = import::graph(&options.graph)?;
    let parts = match &options.query {
        Some(text) => options.ask(text, &graph, format)?,
        None => format.export(graph.root()).map_err(import::refused)?,
    };
    match (parts.as_slice(), &options.output) {
        ([part], Some(path)) if path != Path::new("-") => import::write(path, &part.bytes)?,
        ([part], _) => print(&part.bytes, format.name)?,
        (parts, Some(folder)) if folder != Path::new("-") => write_all(parts, folder)?,
        (parts, _) => return Err(several(parts, format)),
    }
    Ok(Status::Done)
}

impl Options {
    fn format(&self) -> Result<&'static Format> {
        let by_name = self.format.as_deref().map(Format::find).transpose().map_err(import::refused)?;
        let ending = self.output.as_ref().and_then(|path| path.extension()).and_then(|ending| ending.to_str());
        // A file is one table, so that `.csv` means the format of one file.
        let writes_one = |format: &&Format| format.write.as_ref().is_some_and(|writer| writer.files.len() == 1);
        let by_ending = || FORMATS.iter().filter(writes_one).find(|format| Some(format.extension) == ending);
        by_name.or_else(by_ending).ok_or_else(|| {
            let names: Vec<&str> = written().map(|format| format.name).collect();
            Failure::Usage(format!("give the format with --format: {}", names.join(", ")))
        })
    }

    fn ask(&self, text: &str, graph: &Graph, format: &Format) -> Result<Vec<Part>> {
        let query = self.writing.compile(text)?;
        self.limits.within(|limits| {
            let scratch = Scratch::new();
            let outcome = query.run(graph, &scratch, limits).map_err(|error| Failure::Query(error, text.into()))?;
            super::query::warn(&outcome.warnings, &query);
            format.export(outcome.value).map_err(import::refused)
        })
    }
}

/// A workbook is no text: a terminal would not survive it.
pub fn print(bytes: &[u8], format: &str) -> Result<()> {
    if io::stdout().is_terminal() && std::str::from_utf8(bytes).is_err() {
        return Err(Failure::Usage(format!("`{format}` is not text: give a file with --output")));
    }
    Ok(io::stdout().lock().write_all(bytes)?)
}

fn write_all(parts: &[Part], folder: &Path) -> Result<()> {
    parts.iter().try_for_each(|part| import::write(&folder.join(part.name), &part.bytes))
}

fn several(parts: &[Part], format: &Format) -> Failure {
    let names: Vec<&str> = parts.iter().map(|part| part.name).collect();
    Failure::Usage(format!("`{}` is {}: give a folder with --output", format.name, names.join(" and ")))
}
