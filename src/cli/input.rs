//! Input files and standard input.

use std::fs;
use std::io::{self, BufReader, Cursor, IsTerminal, Read};
use std::path::{Path, PathBuf};

use pidq::{Graph, ProjectedDocument, Query};

use super::compressed::{self, MaybeCompressed};
use super::failure::{self, Failure, InputPlace, Result};
use super::json_texts::BYTE_ORDER_MARK;
use super::progress;

/// File name of standard input.
pub const STDIN: &str = "-";

/// Size of a file, in bytes, from which its progress is shown.
const LONG_FILE: u64 = 64 << 20;

/// Returns the named files, or standard input.
pub fn files(named: &[PathBuf]) -> Vec<PathBuf> {
    if named.is_empty() { vec![STDIN.into()] } else { named.to_vec() }
}

/// Reads a file.
pub fn bytes(path: &Path) -> Result<Vec<u8>> {
    let read = if path == Path::new(STDIN) {
        warn_about_terminal();
        read_to_limit(MaybeCompressed::new(io::stdin().lock()), 0)
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
        let end = if cfg!(windows) { "Ctrl-Z and Enter" } else { "Ctrl-D" };
        failure::warn(&format!("reading the document from the terminal; end it with {end}\n"));
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
    String::from_utf8(without_byte_order_mark(bytes(path)?))
        .map_err(|_| Failure::Usage(format!("`{}` is not UTF-8", path.display())))
}

/// Loads a document.
pub fn graph(path: &Path) -> Result<Graph> {
    parse(path, json(path)?)
}

/// Parses the bytes of a document.
pub fn parse(path: &Path, bytes: Vec<u8>) -> Result<Graph> {
    Graph::from_json(without_byte_order_mark(bytes)).map_err(|error| Failure::Input(error, place(path)))
}

/// Loads a document for one query.
pub fn require_projected<'q>(path: &Path, query: &'q Query) -> Result<ProjectedDocument<'q>> {
    query.load(json(path)?).map_err(|error| Failure::Input(error, place(path)))
}

/// Reads and decompresses a document, without a byte order mark.
pub fn json(path: &Path) -> Result<Vec<u8>> {
    Ok(without_byte_order_mark(compressed::decompress_if_needed(path, bytes(path)?)?))
}

fn without_byte_order_mark(mut bytes: Vec<u8>) -> Vec<u8> {
    if bytes.starts_with(BYTE_ORDER_MARK) {
        bytes.drain(..BYTE_ORDER_MARK.len());
    }
    bytes
}

/// Opens a file or standard input; a compressed file is decompressed first.
pub fn reader(path: &Path) -> Result<Box<dyn Read>> {
    if path == Path::new(STDIN) {
        warn_about_terminal();
        return Ok(Box::new(MaybeCompressed::new(io::stdin().lock())));
    }
    if compressed::is_compressed(path) {
        return Ok(Box::new(Cursor::new(json(path)?)));
    }
    let file = fs::File::open(path).map_err(|error| Failure::unreadable(path, &error))?;
    let size = file.metadata().map_or(0, |data| data.len());
    Ok(match size {
        LONG_FILE.. if !io::stdout().is_terminal() => {
            let file = BufReader::new(progress::bytes(size).wrap_read(file));
            Box::new(MaybeCompressed::new(file))
        }
        _ => Box::new(MaybeCompressed::new(BufReader::new(file))),
    })
}

/// Returns the place of a document that is a whole file, for an error in it. The file is read again for its lines.
pub fn place(path: &Path) -> InputPlace {
    let bytes = (path != Path::new(STDIN)).then(|| json(path).ok()).flatten();
    let text = bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    InputPlace { text, ..InputPlace::from(name(path)) }
}

/// Returns the name of a file in messages.
pub fn name(path: &Path) -> String {
    if path == Path::new(STDIN) { "<stdin>".into() } else { path.display().to_string() }
}
