//! Recursive listing of the JSON files in a directory, including compressed ones, in path order.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::compressed;
use super::failure::{Failure, Result};

/// File to read, or the reason why it is skipped.
pub struct FileEntry {
    pub path: PathBuf,
    pub skip_reason: Option<String>,
}

/// Directory being read.
struct OpenDir {
    /// Canonical path, to detect cycles.
    real: PathBuf,
    /// Remaining entries in reverse order.
    rest: Vec<PathBuf>,
}

impl OpenDir {
    fn new(path: &Path) -> io::Result<OpenDir> {
        let entries: io::Result<Vec<PathBuf>> = fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect();
        let mut rest = entries?;
        rest.sort_unstable_by(|a, b| b.cmp(a));
        Ok(OpenDir { real: path.canonicalize()?, rest })
    }
}

/// Lists the documents below `root`. Symbolic links are followed, except to an enclosing directory.
pub fn json_files(root: &Path) -> Result<Vec<FileEntry>> {
    let mut found = Vec::new();
    let mut open = vec![OpenDir::new(root).map_err(|error| Failure::unreadable(root, &error))?];
    while let Some(dir) = open.last_mut() {
        let Some(path) = dir.rest.pop() else {
            open.pop();
            continue;
        };
        if path.is_dir() {
            match enter(&path, &open) {
                Ok(inner) => open.push(inner),
                Err(reason) => found.push(FileEntry { path, skip_reason: Some(reason) }),
            }
        } else if compressed::is_document(&path) {
            found.push(FileEntry { skip_reason: skip_reason_of(&path), path });
        }
    }
    Ok(found)
}

fn enter(path: &Path, open: &[OpenDir]) -> std::result::Result<OpenDir, String> {
    let inner = OpenDir::new(path).map_err(|error| format!("cannot read the directory: {error}"))?;
    match open.iter().any(|outer| outer.real == inner.real) {
        true => Err("a link to an enclosing directory is not followed".into()),
        false => Ok(inner),
    }
}

/// Returns the reason to skip a pipe or device, which might never end. Missing files are reported when read.
fn skip_reason_of(path: &Path) -> Option<String> {
    let is_special = path.metadata().is_ok_and(|data| !data.is_file());
    is_special.then(|| "neither a file nor a directory".into())
}
