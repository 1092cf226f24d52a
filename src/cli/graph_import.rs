//! Import and listing of stored graphs, in the store or through a service: conditions, results, ids.

use std::path::Path;

use pidq_server::store::{Error, GraphId};

use super::failure::{Failure, Result};
use super::table;

/// Column headings of a listing.
pub const COLUMNS: [&str; 7] = ["graph_id", "version", "nodes", "edges", "stored", "etag", "drawing"];

/// Precondition of an import.
pub enum Condition {
    None,
    /// The graph does not exist.
    New,
    /// The graph has the version with this ETag.
    Replaces(String),
}

/// Result of an import.
pub struct ImportResult<'a> {
    pub graph_id: &'a str,
    pub version: &'a str,
    pub is_unchanged: bool,
    pub nodes: u64,
    pub edges: u64,
    pub warnings: usize,
}

/// Returns the graph id of a file: the given one, else that of its metadata, else the file name.
pub fn graph_id_of(body: &[u8], file: &Path, explicit: Option<&str>) -> Result<GraphId> {
    let from_metadata = pidq::Graph::from_json(body).ok().and_then(|graph| {
        let metadata = graph.root().as_object()?.get("pid_graph")?.as_object()?.get("metadata")?;
        metadata.as_object()?.get("job_id")?.as_str().map(str::to_owned)
    });
    let from_file_name = file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let name = explicit.map(str::to_owned).or(from_metadata).or(from_file_name).unwrap_or_default();
    GraphId::parse(&name).map_err(|error| file_failure(file, &error))
}

impl ImportResult<'_> {
    /// Formats the result as a line.
    pub fn line(&self) -> String {
        let action = if self.is_unchanged { "unchanged" } else { "stored" };
        let ImportResult { graph_id, version, warnings, .. } = self;
        let [nodes, edges] =
            [(self.nodes, "node"), (self.edges, "edge")].map(|(count, noun)| table::count(count as usize, noun));
        let warnings = match *warnings {
            0 => String::new(),
            kinds => format!(", {} of warning", table::count(kinds, "kind")),
        };
        format!("{graph_id} version {version} {action}: {nodes}, {edges}{warnings}\n")
    }
}

/// Usage failure about a file.
pub fn file_failure(file: &Path, error: &Error) -> Failure {
    Failure::Usage(format!("{}: {error}", file.display()))
}
