//! Drawings for subcommands that run a fixed query: loading, and parsing of results.

use std::path::{Path, PathBuf};

use pidq::error::{Code, Stage};
use pidq::limits::MAX_DOCUMENT_DEPTH;
use pidq::{Error, Graph, Limits, Query, Scratch};

use super::failure::{Failure, Result};
use super::{drawing_files, input};

/// Maximum additional nesting of a result compared to its document.
const EXTRA_RESULT_DEPTH: usize = 8;

/// Loads a drawing from a file: JSON, or an importable format.
pub fn open(path: &Path) -> Result<Graph> {
    if path.is_dir() {
        let name = path.display();
        return Err(Failure::Usage(format!("`{name}` is a directory; name its files, as in `{name}/*.json`")));
    }
    drawing_files::graph(path)
}

/// Loads a drawing, failing if the file contains none.
pub fn open_with_graph(path: &Path) -> Result<Graph> {
    let graph = open(path)?;
    let query_text = "nodes() | size()";
    let scratch = Scratch::new();
    let query = Query::parse(query_text).map_err(|error| Failure::Query(error, query_text.into()))?;
    // Only a missing graph is reported here; other errors are reported by the actual query.
    match query.run(&graph, &scratch, Limits::default()).err().filter(|error| error.code() == Code::NoGraph) {
        Some(error) => Err(drawing_failure(error, path, query_text)),
        None => Ok(graph),
    }
}

/// Fails if standard input is named more than once.
pub fn require_single_stdin(files: &[PathBuf]) -> Result<()> {
    match files.iter().filter(|file| *file == Path::new("-")).count() {
        0 | 1 => Ok(()),
        _ => Err(Failure::Usage("`-` was given twice; only one drawing can be read from standard input".into())),
    }
}

/// Converts an engine error about a drawing. A limit is not the file's fault and has the status of a query error.
pub fn drawing_failure(error: Error, path: &Path, query_text: &str) -> Failure {
    match error.code().stage() {
        Stage::Limit => Failure::Query(error, query_text.into()),
        _ => Failure::Input(error, input::name(path).into()),
    }
}

/// Parses a result of the engine.
pub fn parse_result(json: String) -> Result<Graph> {
    Graph::from_json_with_max_depth(json, MAX_DOCUMENT_DEPTH + EXTRA_RESULT_DEPTH)
        .map_err(|error| Failure::Input(error, "the result".to_owned().into()))
}
