//! `pidq diff`: what changed between two revisions of a drawing, as JSON or as a list to read.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use pidq::{DiffOptions, Graph, Value};
use pidq_formats::marked;

use super::budget::LimitOptions;
use super::drawing::{self, Shape, field, items};
use super::failure::{self, Result, Status};
use super::table;

const EXAMPLES: &str = "\
Examples:
  pidq diff rev-1.json rev-2.json
  pidq diff --format text --ignore revision,checked_by rev-1.json rev-2.json
  pidq diff --identity tag --tolerance 5 rev-1.xml rev-2.xml
  pidq diff rev-1.json rev-2.json | pidq query '.retagged'

Exit status, as with diff(1): 0 the drawings are equal · 1 they differ · 2 usage or files.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// The old drawing: pid_graph JSON, or a drawing that can be imported; `-` is the standard input
    old: PathBuf,

    /// The new drawing
    new: PathBuf,

    /// How the changes are printed
    #[arg(short, long, value_enum, default_value_t)]
    format: Format,

    /// Print JSON in one line
    #[arg(short, long)]
    compact_output: bool,

    /// Recognise items by this alone; without it, by the first of these that they have on both sides, once
    #[arg(long, value_parser = ["persistent_id", "id", "tag"])]
    identity: Option<String>,

    /// Fields and attributes that are not compared
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    ignore: Vec<String>,

    /// Items that moved no further than this have not moved
    #[arg(long, value_name = "DISTANCE", default_value_t = 0.0, allow_negative_numbers = true, value_parser = distance)]
    tolerance: f64,

    #[command(flatten)]
    limits: LimitOptions,
}

#[derive(Clone, Copy, Default, ValueEnum)]
enum Format {
    /// An object with a list for each kind of change
    #[default]
    Json,
    /// A line for each change
    Text,
}

fn distance(text: &str) -> std::result::Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| "not a number of at least zero".into())
}

/// Runs the subcommand.
pub fn run(options: &Options) -> Result {
    drawing::one_from_stdin(&[options.old.clone(), options.new.clone()])?;
    let changes = options.changes()?;
    let is_equal = field(changes.root(), "equal").is_truthy();
    drawing::even_unread(match options.format {
        Format::Json => drawing::print_json(changes.source(), Shape::of(options.compact_output)),
        Format::Text => tell(changes.root()),
    })?;
    Ok(if is_equal { Status::Done } else { Status::Falsy })
}

impl Options {
    /// The answer of the engine.
    fn changes(&self) -> Result<Graph> {
        let (old, new) = (drawing::open_with_graph(&self.old)?, drawing::open_with_graph(&self.new)?);
        let how =
            DiffOptions { identity: self.identity.clone(), ignore: self.ignore.clone(), tolerance: self.tolerance };
        let refused = |error| drawing::refused(error, &self.new, "diff");
        drawing::answer(self.limits.within(|limits| pidq::diff(&old, &new, &how, limits)).map_err(refused)?)
    }
}

/// A kind of change: its list in the answer, what it is called, and what a row says of which item.
struct Kind {
    list: &'static str,
    word: &'static str,
    tell: fn(Value<'_>) -> [String; 2],
}

const KINDS: &[Kind] = &[
    Kind { list: "added", word: "added", tell: |node| [item(node), class(node)] },
    Kind { list: "removed", word: "removed", tell: |node| [item(node), class(node)] },
    Kind {
        list: "changed",
        word: "changed",
        tell: |row| [item(row), format!("{}: {}", text(row, "field"), step(row))],
    },
    Kind {
        list: "moved",
        word: "moved",
        tell: |row| [item(row), format!("by {}, {}", text(row, "dx"), text(row, "dy"))],
    },
    Kind { list: "renamed", word: "renamed", tell: |row| [text(row, "tag"), step(row)] },
    Kind { list: "retagged", word: "retagged", tell: |row| [text(row, "id"), step(row)] },
    Kind { list: "rewired", word: "rewired", tell: |row| [item(row), format!("{}: {}", text(row, "side"), step(row))] },
    Kind { list: "edges_added", word: "edge added", tell: |edge| [ends(edge), class(edge)] },
    Kind { list: "edges_removed", word: "edge removed", tell: |edge| [ends(edge), class(edge)] },
    Kind {
        list: "edges_changed",
        word: "edge changed",
        tell: |row| [ends(row), format!("{}: {}", text(row, "field"), step(row))],
    },
];

/// A line for each change, and on the standard error how many there are.
fn tell(changes: Value<'_>) -> Result<()> {
    let mut rows = Vec::new();
    let mut counts = Vec::new();
    for kind in KINDS {
        let before = rows.len();
        rows.extend(items(field(changes, kind.list)).map(|row| {
            let [about, what] = (kind.tell)(row);
            vec![kind.word.to_owned(), about, what]
        }));
        match rows.len() - before {
            0 => {}
            count => counts.push(format!("{}: {count}", kind.word)),
        }
    }
    let printed = drawing::print(&table::text(&rows));
    let summary = if counts.is_empty() { "no differences".into() } else { counts.join(", ") };
    failure::warn(&format!("{summary}\n"));
    printed
}

fn text(row: Value<'_>, key: &str) -> String {
    table::cell(field(row, key))
}

/// What an item is called: its tag with its id, since tags repeat; else all that is known of it.
fn item(row: Value<'_>) -> String {
    match (text(row, "tag"), text(row, "id")) {
        (tag, id) if tag.is_empty() && id.is_empty() => table::clean(&drawing::in_one_line(row)),
        (tag, id) if tag.is_empty() || tag == id => id,
        (tag, id) if id.is_empty() => tag,
        (tag, id) => format!("{tag} ({id})"),
    }
}

/// The first field that says of what kind something is.
fn class(row: Value<'_>) -> String {
    const KEYS: [&str; 6] =
        ["node_classification", "component_class", "class", "edge_classification", "edge_type", "node_type"];
    KEYS.iter().map(|key| text(row, key)).find(|text| !text.is_empty()).unwrap_or_default()
}

/// From what to what. A text stands in quotes, so that nothing and an empty text differ.
fn step(row: Value<'_>) -> String {
    let side = |key: &str| match field(row, key) {
        Value::Null => "nothing".into(),
        list @ Value::Array(_) if items(list).next().is_none() => "nothing".into(),
        list @ Value::Array(_) => table::cell(list),
        other => table::clean(&drawing::in_one_line(other)),
    };
    format!("{} -> {}", side("before"), side("after"))
}

/// The ids that an edge joins, which may be written as whole nodes.
fn ends(edge: Value<'_>) -> String {
    let end = |key: &str| marked(field(edge, key)).into_iter().next().map(|id| table::clean(&id));
    let pairs = pidq::vocabulary::ENDPOINTS.iter();
    match pairs.filter_map(|[from, to]| Some((end(from)?, end(to)?))).next() {
        Some((from, to)) => format!("{from} -> {to}"),
        None => item(edge),
    }
}
