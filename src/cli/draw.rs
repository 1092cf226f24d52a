//! `pidq draw`: a graph, or what a query selects of it, as SVG.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use pidq::{Graph, Scratch};
use pidq_formats::{Drawing, Style, marked_in};

use super::budget::LimitOptions;
use super::failure::{self, Failure, Result, Status};
use super::import;
use super::question::Writing;

const EXAMPLES: &str = "\
Examples:
  pidq draw plant.json -o plant.svg
  pidq draw plant.json --dark --highlight '.pid_graph.nodes | filter(.line == \"150-PL-10102-A1A\")' -o line.svg
  pidq draw plant.json --select '.pid_graph.nodes | filter(.fluid_code == \"PL\")' > liquid.svg";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// The graph: pid_graph JSON, or a drawing that can be imported
    graph: PathBuf,

    /// Mark what this query gives: nodes, edges, ids, or anything that holds them
    #[arg(long, value_name = "QUERY")]
    highlight: Option<String>,

    /// Draw only what this query gives, and the edges between
    #[arg(long, value_name = "QUERY")]
    select: Option<String>,

    /// Light lines on a dark ground
    #[arg(long)]
    dark: bool,

    /// What stands in the corner; without it, the name of the drawing
    #[arg(long)]
    title: Option<String>,

    /// Where the drawing goes; without it, to the standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    writing: Writing,

    #[command(flatten)]
    limits: LimitOptions,
}

/// Runs the subcommand.
pub fn run(options: &Options) -> Result {
    options.output.as_deref().map_or(Ok(()), refuse_pictures)?;
    let graph = import::graph(&options.graph)?;
    let ids = |query: &Option<String>| query.as_deref().map(|text| ids(options, text, &graph)).transpose();
    let drawing = Drawing {
        style: if options.dark { Style::Dark } else { Style::Light },
        highlight: ids(&options.highlight)?.unwrap_or_default(),
        only: ids(&options.select)?,
        title: options.title.clone(),
    };
    let svg = drawing.draw(graph.root()).map_err(import::refused)?;
    match &options.output {
        Some(path) if path != Path::new("-") => import::write(path, svg.as_bytes())?,
        _ => io::stdout().lock().write_all(svg.as_bytes())?,
    }
    Ok(Status::Done)
}

/// A drawing is SVG whatever its file is called, and other programs go by the name.
fn refuse_pictures(path: &Path) -> Result<()> {
    const PICTURES: &[&str] = &["png", "pdf", "jpg", "jpeg", "gif", "webp", "dwg", "dxf"];
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase();
    match PICTURES.contains(&&*ending) {
        true => Err(Failure::Usage(format!(
            "a drawing is SVG: name it `{}`; browsers and Inkscape make other pictures of it",
            path.with_extension("svg").display()
        ))),
        false => Ok(()),
    }
}

/// The ids that a query gives.
fn ids(options: &Options, text: &str, graph: &Graph) -> Result<BTreeSet<String>> {
    let query = options.writing.compile(text)?;
    options.limits.within(|limits| {
        let scratch = Scratch::new();
        let outcome = query.run(graph, &scratch, limits).map_err(|error| Failure::Query(error, text.into()))?;
        super::query::warn(&outcome.warnings, &query);
        let ids = marked_in(graph.root(), outcome.value);
        if ids.is_empty() {
            failure::warn(&format!("nothing to draw or to mark: `{text}` gives no node and no edge\n"));
        }
        Ok(ids)
    })
}
