//! Subcommand `pidq diff`: compares two revisions of a drawing.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use pidq::{DiffOptions, Graph, Value};
use pidq_formats::ids_in;

use crate::cli::drawing;
use crate::cli::failure::{self, Result, Status};
use crate::cli::limits::LimitOptions;
use crate::cli::output::{self, JsonStyle, field, items};
use crate::cli::table;

const EXAMPLES: &str = "\
Examples:
  pidq diff rev-1.json rev-2.json
  pidq diff --format text --ignore revision,checked_by rev-1.json rev-2.json
  pidq diff --identity tag --tolerance 5 rev-1.xml rev-2.xml
  pidq diff rev-1.json rev-2.json | pidq query '.retagged'

Exit status, as with diff(1): 0 the drawings are equal · 1 they differ · 2 usage error or unreadable file.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Old drawing: pid_graph JSON or an importable format; `-` reads standard input
    old: PathBuf,

    /// New drawing
    new: PathBuf,

    /// Output format
    #[arg(short, long, value_enum, default_value_t)]
    format: Format,

    /// Print JSON on one line
    #[arg(short, long)]
    compact_output: bool,

    /// Match items by this field only [default: the first one that is present and unique on both sides]
    #[arg(long, value_parser = ["persistent_id", "id", "tag"])]
    identity: Option<String>,

    /// Fields and attributes to ignore
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    ignore: Vec<String>,

    /// Ignore movements up to this distance
    #[arg(long, value_name = "DISTANCE", default_value_t = 0.0, allow_negative_numbers = true, value_parser = distance)]
    tolerance: f64,

    #[command(flatten)]
    limits: LimitOptions,
}

#[derive(Clone, Copy, Default, ValueEnum)]
enum Format {
    /// Object with an array per kind of change
    #[default]
    Json,
    /// One line per change
    Text,
}

fn distance(text: &str) -> std::result::Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| "expected a number of at least 0".into())
}

/// Runs the subcommand.
pub fn run(options: &Options) -> Result {
    drawing::require_single_stdin(&[options.old.clone(), options.new.clone()])?;
    let changes = options.changes()?;
    let is_equal = field(changes.root(), "equal").is_truthy();
    output::ignore_closed_pipe(match options.format {
        Format::Json => output::print_json(changes.source(), JsonStyle::new(options.compact_output)),
        Format::Text => print_changes(changes.root()),
    })?;
    Ok(if is_equal { Status::Done } else { Status::Falsy })
}

impl Options {
    /// Computes the changes.
    fn changes(&self) -> Result<Graph> {
        let (old, new) = (drawing::open_with_graph(&self.old)?, drawing::open_with_graph(&self.new)?);
        let diff_options =
            DiffOptions { identity: self.identity.clone(), ignore: self.ignore.clone(), tolerance: self.tolerance };
        let failure_of = |error| drawing::drawing_failure(error, &self.new, "diff");
        drawing::parse_result(
            self.limits.run(|limits| pidq::diff(&old, &new, &diff_options, limits)).map_err(failure_of)?,
        )
    }
}

/// Kind of change: its field in the result, its label, and the columns of a row.
struct ChangeKind {
    field: &'static str,
    label: &'static str,
    columns: fn(Value<'_>) -> [String; 2],
}

const KINDS: &[ChangeKind] = &[
    ChangeKind { field: "added", label: "added", columns: |node| [item(node), class(node)] },
    ChangeKind { field: "removed", label: "removed", columns: |node| [item(node), class(node)] },
    ChangeKind {
        field: "changed",
        label: "changed",
        columns: |row| [item(row), format!("{}: {}", text(row, "field"), before_and_after(row))],
    },
    ChangeKind {
        field: "moved",
        label: "moved",
        columns: |row| [item(row), format!("by {}, {}", text(row, "dx"), text(row, "dy"))],
    },
    ChangeKind { field: "renamed", label: "renamed", columns: |row| [text(row, "tag"), before_and_after(row)] },
    ChangeKind { field: "retagged", label: "retagged", columns: |row| [text(row, "id"), before_and_after(row)] },
    ChangeKind {
        field: "rewired",
        label: "rewired",
        columns: |row| [item(row), format!("{}: {}", text(row, "side"), before_and_after(row))],
    },
    ChangeKind { field: "edges_added", label: "edge added", columns: |edge| [ends(edge), class(edge)] },
    ChangeKind { field: "edges_removed", label: "edge removed", columns: |edge| [ends(edge), class(edge)] },
    ChangeKind {
        field: "edges_changed",
        label: "edge changed",
        columns: |row| [ends(row), format!("{}: {}", text(row, "field"), before_and_after(row))],
    },
];

/// Prints one line per change, and totals on standard error.
fn print_changes(changes: Value<'_>) -> Result<()> {
    let mut rows = Vec::new();
    let mut counts = Vec::new();
    for kind in KINDS {
        let before = rows.len();
        rows.extend(items(field(changes, kind.field)).map(|row| {
            let [item, details] = (kind.columns)(row);
            vec![kind.label.to_owned(), item, details]
        }));
        match rows.len() - before {
            0 => {}
            count => counts.push(format!("{}: {count}", kind.label)),
        }
    }
    let printed = output::print(&table::text(&rows));
    let summary = if counts.is_empty() { "no differences".into() } else { counts.join(", ") };
    failure::warn(&format!("{summary}\n"));
    printed
}

fn text(row: Value<'_>, key: &str) -> String {
    table::cell(field(row, key))
}

/// Names an item by its tag and id, since tags repeat; else by its fields.
fn item(row: Value<'_>) -> String {
    match (text(row, "tag"), text(row, "id")) {
        (tag, id) if tag.is_empty() && id.is_empty() => table::escape_controls(&output::compact_json(row)),
        (tag, id) if tag.is_empty() || tag == id => id,
        (tag, id) if id.is_empty() => tag,
        (tag, id) => format!("{tag} ({id})"),
    }
}

/// Returns the first field that classifies an item.
fn class(row: Value<'_>) -> String {
    const KEYS: [&str; 6] =
        ["node_classification", "component_class", "class", "edge_classification", "edge_type", "node_type"];
    KEYS.iter().map(|key| text(row, key)).find(|text| !text.is_empty()).unwrap_or_default()
}

/// Formats the old and new value. Strings are quoted, so that a missing value and an empty string differ.
fn before_and_after(row: Value<'_>) -> String {
    let value = |key: &str| match field(row, key) {
        Value::Null => "nothing".into(),
        list @ Value::Array(_) if items(list).next().is_none() => "nothing".into(),
        list @ Value::Array(_) => table::cell(list),
        other => table::escape_controls(&output::compact_json(other)),
    };
    format!("{} -> {}", value("before"), value("after"))
}

/// Returns the ids that an edge connects; endpoints may be whole nodes.
fn ends(edge: Value<'_>) -> String {
    let end = |key: &str| ids_in(field(edge, key)).into_iter().next().map(|id| table::escape_controls(&id));
    let pairs = pidq::vocabulary::ENDPOINTS.iter();
    match pairs.filter_map(|[from, to]| Some((end(from)?, end(to)?))).next() {
        Some((from, to)) => format!("{from} -> {to}"),
        None => item(edge),
    }
}
