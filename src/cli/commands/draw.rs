//! Subcommand `pidq draw`: draws a graph, or the selection of a query, as SVG.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use pidq::{DiffOptions, Graph, Limits, Scratch};
use pidq_formats::{Changes, DrawOptions, Isolation, Style, ids_in_document, symbol_sheet};

use crate::cli::drawing;
use crate::cli::drawing_files;
use crate::cli::failure::{self, Failure, Result, Status};
use crate::cli::limits::LimitOptions;
use crate::cli::query_options::QueryOptions;

const EXAMPLES: &str = "\
Examples:
  pidq draw plant.json -o plant.svg
  pidq draw plant.json --dark --highlight '.pid_graph.nodes | filter(.line == \"150-PL-10102-A1A\")' -o line.svg
  pidq draw plant.json --since older.json -o changes.svg
  pidq draw --symbols -o symbols.svg
  pidq draw plant.json --select '.pid_graph.nodes | filter(.fluid_code == \"PL\")' > liquid.svg";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Graph: pid_graph JSON or an importable format
    #[arg(required_unless_present = "symbols")]
    graph: Option<PathBuf>,

    /// Draw a sheet of all symbols, with their names and the words of classes that select them, instead of a graph
    #[arg(long, conflicts_with_all = ["graph", "highlight", "since", "select", "title"])]
    symbols: bool,

    /// Highlight the result of this query: nodes, edges, ids, or anything that contains them
    #[arg(long, value_name = "QUERY")]
    highlight: Option<String>,

    /// Color what was added, removed and changed since this older revision, as `diff` lists it
    #[arg(long, value_name = "OLD")]
    since: Option<PathBuf>,

    /// Draw only the result of this query and the edges between its items
    #[arg(long, value_name = "QUERY")]
    select: Option<String>,

    /// Light lines on a dark background
    #[arg(long)]
    dark: bool,

    /// Title in the corner [default: name of the drawing]
    #[arg(long)]
    title: Option<String>,

    /// Output file [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    query_options: QueryOptions,

    #[command(flatten)]
    limits: LimitOptions,
}

/// Runs the subcommand.
pub fn run(options: &Options) -> Result {
    options.output.as_deref().map_or(Ok(()), reject_raster_formats)?;
    let style = if options.dark { Style::Dark } else { Style::Light };
    let svg = match &options.graph {
        Some(path) => draw(options, path, style)?,
        None => symbol_sheet(style),
    };
    match &options.output {
        Some(path) if path != Path::new("-") => drawing_files::write(path, svg.as_bytes())?,
        _ => io::stdout().lock().write_all(svg.as_bytes())?,
    }
    Ok(Status::Done)
}

/// Draws a graph.
fn draw(options: &Options, path: &Path, style: Style) -> Result<String> {
    let graph = drawing_files::graph(path)?;
    let select = |query: &Option<String>| query.as_deref().map(|text| selection(options, text, &graph)).transpose();
    let highlight = select(&options.highlight)?.unwrap_or_default();
    let older = options.since.as_deref().map(drawing_files::graph).transpose()?;
    let changes = older.as_ref().map(|older| changes(options, older, (path, &graph))).transpose()?;
    let drawing = DrawOptions {
        style,
        highlight: highlight.ids,
        isolation: highlight.isolation,
        changes: changes.or(highlight.changes),
        only: select(&options.select)?.map(|selection| selection.ids),
        title: options.title.clone(),
    };
    let svg = match &older {
        Some(older) => drawing.draw_with_removed(graph.root(), older.root()),
        None => drawing.draw(graph.root()),
    };
    svg.map_err(drawing_files::format_failure)
}

/// Rejects extensions of raster and CAD formats: the output is always SVG.
fn reject_raster_formats(path: &Path) -> Result<()> {
    const UNSUPPORTED_EXTENSIONS: &[&str] = &["png", "pdf", "jpg", "jpeg", "gif", "webp", "dwg", "dxf"];
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default().to_ascii_lowercase();
    match UNSUPPORTED_EXTENSIONS.contains(&&*extension) {
        true => Err(Failure::Usage(format!(
            "the output is always SVG: write it to `{}`, then convert that file with a browser or Inkscape",
            path.with_extension("svg").display()
        ))),
        false => Ok(()),
    }
}

/// Selection of a query on a drawing.
#[derive(Default)]
struct Selection {
    ids: BTreeSet<String>,
    /// The parts of an isolation, if the query is one.
    isolation: Option<Isolation>,
    /// The changes since an older revision, if the query is a comparison.
    changes: Option<Changes>,
}

/// Compares the drawing with an older revision.
fn changes(options: &Options, older: &Graph, (path, graph): (&Path, &Graph)) -> Result<Changes> {
    let compare = |limits: Limits<'_>| pidq::diff(older, graph, &DiffOptions::default(), limits);
    let failure_of = |error| drawing::drawing_failure(error, path, "diff");
    let result = drawing::parse_result(options.limits.run(compare).map_err(failure_of)?)?;
    let changes = Changes::in_document(graph.root(), result.root()).unwrap_or_default();
    if changes == Changes::default() {
        failure::warn("the revisions are equal\n");
    }
    Ok(changes)
}

/// Returns what the result of a query selects.
fn selection(options: &Options, text: &str, graph: &Graph) -> Result<Selection> {
    let query = options.query_options.compile(text)?;
    options.limits.run(|limits| {
        let scratch = Scratch::new();
        let outcome = query.run(graph, &scratch, limits).map_err(|error| Failure::Query(error, text.into()))?;
        super::query::warn(&outcome.warnings, &query);
        let ids = ids_in_document(graph.root(), outcome.value);
        let known = ids_in_document(graph.root(), graph.root());
        // A document with an id of its own hides those below it.
        if ids.is_empty() || known.len() > 1 && ids.is_disjoint(&known) {
            let is_text = outcome.value.as_str().is_some();
            let help = if is_text { "; `node(\"P-101\")` selects an item by its tag" } else { "" };
            failure::warn(&format!("`{text}` selects no nodes or edges{help}\n"));
        }
        Ok(Selection {
            ids,
            isolation: Isolation::in_document(graph.root(), outcome.value),
            changes: Changes::in_document(graph.root(), outcome.value),
        })
    })
}
