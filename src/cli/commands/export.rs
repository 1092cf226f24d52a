//! Subcommand `pidq export`: converts a graph or a query result to other formats.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use pidq::{Graph, Scratch, Value};
use pidq_formats::{ExportedFile, FORMATS, Format};

use crate::cli::drawing_files;
use crate::cli::failure::{Failure, Result, Status};
use crate::cli::limits::LimitOptions;
use crate::cli::query_options::QueryOptions;

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
    /// Graph: pid_graph JSON or an importable format
    graph: PathBuf,

    /// Output format [default: by the extension of the output file]
    #[arg(short, long, value_name = "FORMAT", value_parser = format_names())]
    format: Option<String>,

    /// Export the result of this query instead of the whole graph
    #[arg(short, long, value_name = "QUERY")]
    query: Option<String>,

    /// Output file, or directory for formats with several files [default: standard output]
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,

    #[command(flatten)]
    query_options: QueryOptions,

    #[command(flatten)]
    limits: LimitOptions,
}

fn format_names() -> clap::builder::PossibleValuesParser {
    export_formats()
        .map(|format| clap::builder::PossibleValue::new(format.name).help(format.summary))
        .collect::<Vec<_>>()
        .into()
}

fn export_formats() -> impl Iterator<Item = &'static Format> {
    FORMATS.iter().filter(|format| format.write.is_some())
}

/// Runs the subcommand.
pub fn run(options: &Options) -> Result {
    let format = options.format()?;
    let graph = drawing_files::graph(&options.graph)?;
    let parts = match &options.query {
        Some(text) => options.run_query(text, &graph, format)?,
        None => export(graph.root(), format)?,
    };
    match (parts.as_slice(), &options.output) {
        ([part], Some(path)) if path != Path::new("-") => drawing_files::write(path, &part.bytes)?,
        ([part], _) => print(&part.bytes, format.name)?,
        (parts, Some(dir)) if dir != Path::new("-") => write_all(parts, dir)?,
        (parts, _) => return Err(multiple_files_failure(parts, format)),
    }
    Ok(Status::Done)
}

impl Options {
    fn format(&self) -> Result<&'static Format> {
        let by_name = self.format.as_deref().map(Format::find).transpose().map_err(drawing_files::format_failure)?;
        let extension = self.output.as_ref().and_then(|path| path.extension()).and_then(|extension| extension.to_str());
        // CSV has two formats; the extension selects the one with a single file.
        let has_one_file = |format: &&Format| format.write.as_ref().is_some_and(|writer| writer.files.len() == 1);
        let by_extension = || FORMATS.iter().filter(has_one_file).find(|format| Some(format.extension) == extension);
        by_name.or_else(by_extension).ok_or_else(|| {
            let names: Vec<&str> = export_formats().map(|format| format.name).collect();
            Failure::Usage(format!("specify the format with --format: {}", names.join(", ")))
        })
    }

    fn run_query(&self, text: &str, graph: &Graph, format: &Format) -> Result<Vec<ExportedFile>> {
        let query = self.query_options.compile(text)?;
        self.limits.run(|limits| {
            let scratch = Scratch::new();
            let outcome = query.run(graph, &scratch, limits).map_err(|error| Failure::Query(error, text.into()))?;
            super::query::warn(&outcome.warnings, &query);
            export(outcome.value, format)
        })
    }
}

/// Exports a value, and prints what the format leaves out.
fn export(value: Value<'_>, format: &Format) -> Result<Vec<ExportedFile>> {
    let files = format.export(value).map_err(drawing_files::format_failure)?;
    let losses = format.losses(value).map_err(drawing_files::format_failure)?;
    drawing_files::print_findings(&losses, format.name);
    Ok(files)
}

/// Prints bytes to standard output; refuses to print binary data to a terminal.
pub fn print(bytes: &[u8], format: &str) -> Result<()> {
    if io::stdout().is_terminal() && std::str::from_utf8(bytes).is_err() {
        return Err(Failure::Usage(format!("`{format}` is a binary format: specify a file with --output")));
    }
    Ok(io::stdout().lock().write_all(bytes)?)
}

fn write_all(parts: &[ExportedFile], dir: &Path) -> Result<()> {
    parts.iter().try_for_each(|part| drawing_files::write(&dir.join(part.name), &part.bytes))
}

fn multiple_files_failure(parts: &[ExportedFile], format: &Format) -> Failure {
    let names: Vec<&str> = parts.iter().map(|part| part.name).collect();
    Failure::Usage(format!("`{}` consists of {}; specify a directory with --output", format.name, names.join(" and ")))
}
