//! Documents from files and from the standard input.

use std::fs;
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};

use pidq::limits::MAX_DEPTH;
use pidq::{Graph, Query, Reading};

use super::failure::{self, Failure, Result};
use super::packed;

/// The file name that stands for the standard input.
const STDIN: &str = "-";

/// The files to read: those named, or the standard input.
pub fn files(named: &[PathBuf]) -> Vec<PathBuf> {
    if named.is_empty() { vec![STDIN.into()] } else { named.to_vec() }
}

/// The bytes of a file.
pub fn bytes(path: &Path) -> Result<Vec<u8>> {
    let read = if path == Path::new(STDIN) {
        tell_who_waits();
        up_to_the_limit(io::stdin().lock(), 0)
    } else {
        fs::File::open(path).and_then(|file| {
            let size = file.metadata()?.len();
            up_to_the_limit(file, size)
        })
    };
    read.map_err(|error| Failure::unreadable(path, &error))
}

/// At a terminal a command that reads looks as if it hangs.
fn tell_who_waits() {
    if io::stdin().is_terminal() {
        failure::warn("reading the document from the terminal; Ctrl-D ends it\n");
    }
}

/// What the engine takes, and a byte more, which it refuses: a device may never end.
fn up_to_the_limit(source: impl Read, size: u64) -> io::Result<Vec<u8>> {
    let limit = u64::from(u32::MAX);
    let mut bytes = Vec::with_capacity(usize::try_from(size.min(limit)).unwrap_or(0));
    source.take(limit + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The text of a file with a query.
pub fn text(path: &Path) -> Result<String> {
    String::from_utf8(bytes(path)?).map_err(|_| Failure::Usage(format!("`{}` is not UTF-8", path.display())))
}

/// The document in a file.
pub fn graph(path: &Path) -> Result<Graph> {
    parsed(path, json(path)?)
}

fn parsed(path: &Path, bytes: Vec<u8>) -> Result<Graph> {
    Graph::from_json(bytes).map_err(|error| Failure::Input(error, name(path)))
}

/// The document in a file, or nothing where the file is empty.
fn document(path: &Path) -> Result<Option<Graph>> {
    filled(path)?.map(|bytes| parsed(path, bytes)).transpose()
}

/// The same for one query alone.
pub fn reading<'q>(path: &Path, query: &'q Query) -> Result<Option<Reading<'q>>> {
    filled(path)?.map(|bytes| read(path, query, bytes)).transpose()
}

/// The document in a file, for one query alone.
pub fn for_query<'q>(path: &Path, query: &'q Query) -> Result<Reading<'q>> {
    read(path, query, json(path)?)
}

fn read<'q>(path: &Path, query: &'q Query, bytes: Vec<u8>) -> Result<Reading<'q>> {
    query.read(bytes).map_err(|error| Failure::Input(error, name(path)))
}

/// The bytes of a document, or nothing where the file is empty.
fn filled(path: &Path) -> Result<Option<Vec<u8>>> {
    Ok(Some(json(path)?).filter(|bytes| !bytes.trim_ascii().is_empty()))
}

/// The bytes of a document.
fn json(path: &Path) -> Result<Vec<u8>> {
    packed::opened(path, bytes(path)?)
}

/// All documents as the items of one list.
pub fn slurp(paths: &[PathBuf]) -> Result<Graph> {
    let mut list = String::from("[");
    for path in paths {
        // Read alone first, so that an error names its file.
        let Some(graph) = document(path)? else { continue };
        if list.len() > 1 {
            list.push(',');
        }
        list.push_str(graph.source());
    }
    list.push(']');
    Graph::from_json_within(list, MAX_DEPTH + 1).map_err(|error| Failure::Input(error, "--slurp".into()))
}

/// What a file is called in messages.
pub fn name(path: &Path) -> String {
    if path == Path::new(STDIN) { "<stdin>".into() } else { path.display().to_string() }
}
