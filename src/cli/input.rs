//! Input documents from files and standard input.

use std::fs;
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};

use pidq::limits::MAX_DOCUMENT_DEPTH;
use pidq::{Graph, ProjectedDocument, Query};

use super::compressed;
use super::failure::{self, Failure, Result};

/// File name of standard input.
const STDIN: &str = "-";

/// Returns the named files, or standard input.
pub fn files(named: &[PathBuf]) -> Vec<PathBuf> {
    if named.is_empty() { vec![STDIN.into()] } else { named.to_vec() }
}

/// Reads a file.
pub fn bytes(path: &Path) -> Result<Vec<u8>> {
    let read = if path == Path::new(STDIN) {
        warn_about_terminal();
        read_to_limit(io::stdin().lock(), 0)
    } else {
        fs::File::open(path).and_then(|file| {
            let size = file.metadata()?.len();
            read_to_limit(file, size)
        })
    };
    read.map_err(|error| Failure::unreadable(path, &error))
}

/// Prints a hint when reading from a terminal, which would look like a hang.
fn warn_about_terminal() {
    if io::stdin().is_terminal() {
        failure::warn("reading the document from the terminal; end it with Ctrl-D\n");
    }
}

/// Reads up to one byte more than the engine accepts: a device may never end.
fn read_to_limit(source: impl Read, size: u64) -> io::Result<Vec<u8>> {
    let limit = u64::from(u32::MAX);
    let mut bytes = Vec::with_capacity(usize::try_from(size.min(limit)).unwrap_or(0));
    source.take(limit + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a query file.
pub fn text(path: &Path) -> Result<String> {
    String::from_utf8(bytes(path)?).map_err(|_| Failure::Usage(format!("`{}` is not UTF-8", path.display())))
}

/// Loads a document.
pub fn graph(path: &Path) -> Result<Graph> {
    parse(path, json(path)?)
}

fn parse(path: &Path, bytes: Vec<u8>) -> Result<Graph> {
    Graph::from_json(bytes).map_err(|error| Failure::Input(error, name(path)))
}

/// Loads a document, or returns `None` for an empty file.
fn document(path: &Path) -> Result<Option<Graph>> {
    non_empty_json(path)?.map(|bytes| parse(path, bytes)).transpose()
}

/// Loads a document for one query, or returns `None` for an empty file.
pub fn load_projected<'q>(path: &Path, query: &'q Query) -> Result<Option<ProjectedDocument<'q>>> {
    non_empty_json(path)?.map(|bytes| project(path, query, bytes)).transpose()
}

/// Loads a document for one query.
pub fn require_projected<'q>(path: &Path, query: &'q Query) -> Result<ProjectedDocument<'q>> {
    project(path, query, json(path)?)
}

fn project<'q>(path: &Path, query: &'q Query, bytes: Vec<u8>) -> Result<ProjectedDocument<'q>> {
    query.load(bytes).map_err(|error| Failure::Input(error, name(path)))
}

/// Reads a document, or returns `None` for an empty file.
fn non_empty_json(path: &Path) -> Result<Option<Vec<u8>>> {
    Ok(Some(json(path)?).filter(|bytes| !bytes.trim_ascii().is_empty()))
}

/// Reads and decompresses a document.
fn json(path: &Path) -> Result<Vec<u8>> {
    compressed::decompress_if_needed(path, bytes(path)?)
}

/// Loads all documents as the items of one array.
pub fn slurp(paths: &[PathBuf]) -> Result<Graph> {
    let mut array = String::from("[");
    for path in paths {
        // Parsed separately first, so that an error names its file.
        let Some(graph) = document(path)? else { continue };
        if array.len() > 1 {
            array.push(',');
        }
        array.push_str(graph.source());
    }
    array.push(']');
    Graph::from_json_with_max_depth(array, MAX_DOCUMENT_DEPTH + 1)
        .map_err(|error| Failure::Input(error, "--slurp".into()))
}

/// Returns the name of a file in messages.
pub fn name(path: &Path) -> String {
    if path == Path::new(STDIN) { "<stdin>".into() } else { path.display().to_string() }
}
