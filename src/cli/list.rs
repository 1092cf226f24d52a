//! `pidq list`: the lists of a project, as a table or for a spreadsheet.

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, ValueEnum};
use pidq::{Graph, Limits, Query, Scratch, Value};
use pidq_formats::Format as FileFormat;

use super::budget::LimitOptions;
use super::drawing::{self, Shape, items};
use super::failure::{self, Failure, Result, Status};
use super::sorted::json;
use super::{export, import, input, table};

const EXAMPLES: &str = "\
Examples:
  pidq list lines plant.json
  pidq list valves plant.json --column manufacturer
  pidq list equipment drawing.xml -o equipment.xlsx
  pidq list instruments plant.json --format csv | head
  pidq list off-page plant.json --format json | pidq query 'filter(.direction == \"out\")'";

/// A list: what it is called here, the function that makes it, and what it is.
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
    List { name: "valves", function: "valveList", summary: "valves: role, size, line, how they fail" },
    List { name: "instruments", function: "instrumentIndex", summary: "instruments: variable, loop, what they sit on" },
    List { name: "off-page", function: "offPageList", summary: "connectors to other sheets" },
];

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Which list
    #[arg(value_parser = names())]
    list: String,

    /// The drawing: pid_graph JSON, or a drawing that can be imported; `-` or none is the standard input
    #[arg(default_value = "-")]
    file: PathBuf,

    /// One more column: a field or an attribute of the items. May be given several times
    #[arg(short, long, value_name = "NAME")]
    column: Vec<String>,

    /// The format; without it, what the output file ends with, or a table
    #[arg(short, long, value_enum)]
    format: Option<Format>,

    /// Where the list goes; without it, to the standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    limits: LimitOptions,
}

/// How a list is written.
#[derive(Clone, Copy, Eq, PartialEq, ValueEnum)]
enum Format {
    /// For people
    Table,
    /// For spreadsheets and databases
    Csv,
    /// A list of objects
    Json,
    /// A workbook
    Xlsx,
}

impl Format {
    /// What it is called.
    fn word(self) -> &'static str {
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
        Some(path) => import::write(path, &bytes)?,
        None => export::print(&bytes, format.word())?,
    }
    Ok(Status::Done)
}

impl Options {
    fn output_file(&self) -> Option<&Path> {
        self.output.as_deref().filter(|path| *path != Path::new("-"))
    }

    fn format(&self) -> Result<Format> {
        let ending = self.output_file().map(|path| path.extension().and_then(|ending| ending.to_str()).unwrap_or(""));
        match (self.format, ending) {
            (Some(format), _) => Ok(format),
            (None, None | Some("txt")) => Ok(Format::Table),
            (None, Some(ending)) => Format::from_str(ending, true).map_err(|_| {
                let names = Format::value_variants().iter().map(|format| format.word()).collect::<Vec<_>>();
                Failure::Usage(format!("give the format with --format: {}", names.join(", ")))
            }),
        }
    }

    fn query(&self) -> Result<Query> {
        let list = LISTS.iter().find(|list| list.name == self.list);
        let function = list.map_or("", |list| list.function);
        if function == "lineList" && !self.column.is_empty() {
            return Err(Failure::Usage(
                "the columns of `lines` are fixed; `pidq list segments --column NAME` has what is said of pipes".into(),
            ));
        }
        let columns: Vec<String> = self.column.iter().map(|name| json(Value::String(name))).collect();
        let text = format!("{function}({})", columns.join(", "));
        Query::parse(&text).map_err(|error| Failure::Query(error, text))
    }

    /// The list in a format.
    fn rows(&self, query: &Query, graph: &Graph, format: Format) -> Result<Vec<u8>> {
        self.limits.within(|limits| {
            let scratch = Scratch::new();
            let refused = |error| drawing::refused(error, &self.file, query.source());
            let rows = query.run(graph, &scratch, limits).map_err(refused)?.value;
            self.tell_what_is_missing(rows);
            match format {
                Format::Table => Ok(as_table(rows).into_bytes()),
                Format::Json => self.as_json(rows, limits, query.source()),
                Format::Csv | Format::Xlsx => self.as_file(rows, format.word()),
            }
        })
    }

    /// An empty list, and a column without a value: both may be a slip.
    fn tell_what_is_missing(&self, rows: Value<'_>) {
        let name = input::name(&self.file);
        if items(rows).next().is_none() {
            failure::warn(&format!("there are no {} in {name}\n", self.plural()));
            return;
        }
        let is_empty = |column: &&String| items(rows).all(|row| drawing::field(row, column).is_null());
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

    fn as_json(&self, rows: Value<'_>, limits: Limits<'_>, question: &str) -> Result<Vec<u8>> {
        let mut compact = String::new();
        let written = rows.write_json(limits.output, &mut |piece| {
            compact.push_str(piece);
            Ok(())
        });
        written.map_err(|error| Failure::Query(error, question.into()))?;
        let shape = Shape::Indented;
        let style = self.output_file().map_or_else(|| shape.on_stdout(), |_| shape.in_file());
        Ok(drawing::laid_out(&compact, style)?)
    }

    fn as_file(&self, rows: Value<'_>, name: &str) -> Result<Vec<u8>> {
        let parts = FileFormat::find(name).and_then(|format| format.export(rows)).map_err(import::refused)?;
        Ok(parts.into_iter().flat_map(|part| part.bytes).collect())
    }
}

/// The columns of the first row are those of all.
fn as_table(rows: Value<'_>) -> String {
    let first = items(rows).next().and_then(|row| row.as_object());
    let columns: Vec<&str> = first.map(|row| row.iter().map(|(key, _)| key).collect()).unwrap_or_default();
    let mut lines = vec![columns.iter().map(|column| table::clean(column)).collect::<Vec<_>>()];
    lines
        .extend(items(rows).map(|row| columns.iter().map(|column| table::cell(drawing::field(row, column))).collect()));
    if columns.is_empty() { String::new() } else { table::text(&lines) }
}
