//! Subcommand `pidq list`: lists of a drawing as a table or file.

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, ValueEnum};
use pidq::{Graph, Limits, Query, Scratch, Value};
use pidq_formats::Format as FileFormat;

use super::export;
use crate::cli::drawing;
use crate::cli::failure::{self, Failure, Result, Status};
use crate::cli::limits::LimitOptions;
use crate::cli::output::{self, JsonStyle, items};
use crate::cli::sorted_json::json;
use crate::cli::{drawing_files, input, table};

const EXAMPLES: &str = "\
Examples:
  pidq list lines plant.json
  pidq list valves plant.json --column manufacturer
  pidq list equipment drawing.xml -o equipment.xlsx
  pidq list instruments plant.json --format csv | head
  pidq list off-page plant.json --format json | pidq query 'filter(.direction == \"out\")'";

/// List: its name, the function that computes it, and a summary.
struct List {
    name: &'static str,
    function: &'static str,
    summary: &'static str,
}

const LISTS: &[List] = &[
    List { name: "lines", function: "lineList", summary: "pipe lines: fluid, class, sizes, from and to" },
    List { name: "segments", function: "segmentList", summary: "the segments of pipe lines" },
    List { name: "equipment", function: "equipmentList", summary: "equipment: class, nozzles, lines" },
    List { name: "nozzles", function: "nozzleList", summary: "nozzles: equipment, chamber, size, line" },
    List { name: "valves", function: "valveList", summary: "valves: role, size, line, fail action" },
    List {
        name: "instruments",
        function: "instrumentIndex",
        summary: "instruments: variable, loop, items they are attached to, set points, alarms",
    },
    List { name: "relief", function: "reliefList", summary: "relief devices: set pressure, sizes, lines, equipment" },
    List { name: "special-items", function: "specialItemList", summary: "strainers, traps and other special items" },
    List { name: "off-page", function: "offPageList", summary: "connectors to other sheets" },
];

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Name of the list
    #[arg(value_parser = names())]
    list: String,

    /// Drawing: pid_graph JSON or an importable format; `-` or none reads standard input
    #[arg(default_value = "-")]
    file: PathBuf,

    /// Additional column: a field or attribute of the items; repeatable
    #[arg(short, long, value_name = "NAME")]
    column: Vec<String>,

    /// Output format [default: by the extension of the output file, else table]
    #[arg(short, long, value_enum)]
    format: Option<Format>,

    /// Output file [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    limits: LimitOptions,
}

/// Output format of a list.
#[derive(Clone, Copy, Eq, PartialEq, ValueEnum)]
enum Format {
    /// Human-readable table
    Table,
    /// CSV
    Csv,
    /// JSON array of objects
    Json,
    /// Excel workbook
    Xlsx,
}

impl Format {
    /// Returns the name of the format.
    fn name(self) -> &'static str {
        match self {
            Format::Table => "table",
            Format::Csv => "csv",
            Format::Json => "json",
            Format::Xlsx => "xlsx",
        }
    }
}

fn names() -> PossibleValuesParser {
    LISTS.iter().map(|list| PossibleValue::new(list.name).help(list.summary)).collect::<Vec<_>>().into()
}

/// Runs the subcommand.
pub fn run(options: &Options) -> Result {
    let format = options.format()?;
    let query = options.query()?;
    let graph = drawing::open(&options.file)?;
    let bytes = options.rows(&query, &graph, format)?;
    match options.output_file() {
        Some(path) => drawing_files::write(path, &bytes)?,
        None => export::print(&bytes, format.name())?,
    }
    Ok(Status::Done)
}

impl Options {
    fn output_file(&self) -> Option<&Path> {
        self.output.as_deref().filter(|path| *path != Path::new("-"))
    }

    fn format(&self) -> Result<Format> {
        let extension =
            self.output_file().map(|path| path.extension().and_then(|extension| extension.to_str()).unwrap_or(""));
        match (self.format, extension) {
            (Some(format), _) => Ok(format),
            (None, None | Some("txt")) => Ok(Format::Table),
            (None, Some(extension)) => Format::from_str(extension, true).map_err(|_| {
                let names = Format::value_variants().iter().map(|format| format.name()).collect::<Vec<_>>();
                Failure::Usage(format!("specify the format with --format: {}", names.join(", ")))
            }),
        }
    }

    fn query(&self) -> Result<Query> {
        let list = LISTS.iter().find(|list| list.name == self.list);
        let function = list.map_or("", |list| list.function);
        if function == "lineList" && !self.column.is_empty() {
            return Err(Failure::Usage(
                "`lines` has fixed columns; use `pidq list segments --column NAME` for pipe attributes".into(),
            ));
        }
        let columns: Vec<String> = self.column.iter().map(|name| json(Value::String(name))).collect();
        let text = format!("{function}({})", columns.join(", "));
        Query::parse(&text).map_err(|error| Failure::Query(error, text))
    }

    /// Runs the query and formats the list.
    fn rows(&self, query: &Query, graph: &Graph, format: Format) -> Result<Vec<u8>> {
        self.limits.run(|limits| {
            let scratch = Scratch::new();
            let failure_of = |error| drawing::drawing_failure(error, &self.file, query.source());
            let rows = query.run(graph, &scratch, limits).map_err(failure_of)?.value;
            self.warn_about_empty(rows);
            match format {
                Format::Table => Ok(as_table(rows).into_bytes()),
                Format::Json => self.as_json(rows, limits, query.source()),
                Format::Csv | Format::Xlsx => self.as_file(rows, format.name()),
            }
        })
    }

    /// Warns about an empty list and about columns without values, which may be typos.
    fn warn_about_empty(&self, rows: Value<'_>) {
        let name = input::name(&self.file);
        if items(rows).next().is_none() {
            failure::warn(&format!("no {} in {name}\n", self.plural()));
            return;
        }
        let is_empty = |column: &&String| items(rows).all(|row| output::field(row, column).is_null());
        for column in self.column.iter().filter(is_empty) {
            failure::warn(&format!("none of the {} in {name} has a value for `{column}`\n", self.plural()));
        }
    }

    fn plural(&self) -> &str {
        match self.list.as_str() {
            "equipment" => "items of equipment",
            "off-page" => "off-page connectors",
            other => other,
        }
    }

    fn as_json(&self, rows: Value<'_>, limits: Limits<'_>, query_text: &str) -> Result<Vec<u8>> {
        let mut compact = String::new();
        let written = rows.write_json(limits.output, &mut |chunk| {
            compact.push_str(chunk);
            Ok(())
        });
        written.map_err(|error| Failure::Query(error, query_text.into()))?;
        let indented = JsonStyle::Indented;
        let style = self.output_file().map_or_else(|| indented.on_stdout(), |_| indented.in_file());
        Ok(output::format_json(&compact, style)?)
    }

    fn as_file(&self, rows: Value<'_>, name: &str) -> Result<Vec<u8>> {
        let parts =
            FileFormat::find(name).and_then(|format| format.export(rows)).map_err(drawing_files::format_failure)?;
        Ok(parts.into_iter().flat_map(|part| part.bytes).collect())
    }
}

/// Formats rows as a table. The first row defines the columns.
fn as_table(rows: Value<'_>) -> String {
    let first = items(rows).next().and_then(|row| row.as_object());
    let columns: Vec<&str> = first.map(|row| row.iter().map(|(key, _)| key).collect()).unwrap_or_default();
    let mut lines = vec![columns.iter().map(|column| table::escape_controls(column)).collect::<Vec<_>>()];
    lines.extend(items(rows).map(|row| columns.iter().map(|column| table::cell(output::field(row, column))).collect()));
    if columns.is_empty() { String::new() } else { table::text(&lines) }
}
