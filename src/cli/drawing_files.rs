//! Drawing files: reading in any importable format, and writing.

use std::fs;
use std::io;
use std::path::Path;

use pidq::Graph;
use pidq_formats::{Diagnostic, Format, Import};

use super::compressed;
use super::failure::{self, Failure, Result};
use super::input;

/// Imports one drawing in a given or detected format. An error names the file that it is about.
pub fn read(files: &[Vec<u8>], from: Option<&str>, names: &[String]) -> Result<Import> {
    let name = names.first().map_or("", String::as_str);
    let format = match (from, files.first()) {
        (Some(from), _) => Format::find(from).map_err(format_failure)?,
        (None, first) => first.and_then(|bytes| Format::sniff(bytes)).ok_or_else(|| unknown(first, name))?,
    };
    let files: Vec<&[u8]> = files.iter().map(Vec::as_slice).collect();
    format.import(&files).map_err(|error| {
        let name = names.get(error.file()).map_or(name, String::as_str);
        Failure::Usage(format!("{name}: {error}"))
    })
}

fn unknown(first: Option<&Vec<u8>>, name: &str) -> Failure {
    if let Some(text) = first.and_then(|bytes| Format::unreadable(bytes)) {
        return Failure::Usage(format!("{name}: {text}"));
    }
    Failure::Usage(format!("{name}: unknown format; specify it with --from {}", Format::readable_names().join("|")))
}

/// Converts a format error into a failure.
pub fn format_failure(error: pidq_formats::Error) -> Failure {
    Failure::Usage(error.to_string())
}

/// Writes a file, creating its directory.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    let created = dir.map_or(Ok(()), fs::create_dir_all);
    created.and_then(|()| fs::write(path, bytes)).map_err(|error| unwritable(path, dir, &error))
}

fn unwritable(path: &Path, dir: Option<&Path>, error: &io::Error) -> Failure {
    Failure::Usage(match dir.filter(|dir| dir.is_file()) {
        Some(dir) => format!("`{}` is a file; the output of several files needs a directory", dir.display()),
        None => format!("cannot write `{}`: {error}", path.display()),
    })
}

/// Loads a graph from a file: JSON, or a drawing in an importable format.
pub fn graph(path: &Path) -> Result<Graph> {
    let bytes = compressed::decompress_if_needed(path, input::bytes(path)?)?;
    let name = input::name(path);
    let json = match drawing_format(&bytes) {
        Some(format) => read(&[bytes], Some(format.name), &[name.to_string()])?.json.into_bytes(),
        None => return input::parse(path, bytes),
    };
    Graph::from_json(json).map_err(|error| Failure::Input(error, name.into()))
}

/// Detects the format of a drawing that is not JSON.
pub fn drawing_format(bytes: &[u8]) -> Option<&'static Format> {
    Format::sniff(bytes).filter(|format| format.name != "node-link")
}

/// Prints the findings of an import or an export to standard error.
pub fn print_findings(diagnostics: &[Diagnostic], name: &str) {
    for diagnostic in diagnostics {
        let times = if diagnostic.count > 1 { format!(" ({} times)", diagnostic.count) } else { String::new() };
        let (code, severity) = (diagnostic.finding.code(), diagnostic.finding.severity().as_str());
        failure::warn(&format!("{name}: {severity}[{code}]: {}{times}\n", diagnostic.message));
    }
}
