//! The JSON files of a folder and of the folders in it, packed ones too, in the order of their paths.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::failure::{Failure, Result};
use super::packed;

/// A file to read, or a place that is not read and why.
pub struct Entry {
    pub path: PathBuf,
    pub refused: Option<String>,
}

/// A folder that is being read.
struct Open {
    /// Without links, to notice a folder inside of itself.
    real: PathBuf,
    /// What is left, the next one last.
    rest: Vec<PathBuf>,
}

impl Open {
    fn new(path: &Path) -> io::Result<Open> {
        let entries: io::Result<Vec<PathBuf>> = fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect();
        let mut rest = entries?;
        rest.sort_unstable_by(|a, b| b.cmp(a));
        Ok(Open { real: path.canonicalize()?, rest })
    }
}

/// The documents in `root`. Links are followed, but not back to a folder around them.
pub fn json_files(root: &Path) -> Result<Vec<Entry>> {
    let mut found = Vec::new();
    let mut open = vec![Open::new(root).map_err(|error| Failure::unreadable(root, &error))?];
    while let Some(folder) = open.last_mut() {
        let Some(path) = folder.rest.pop() else {
            open.pop();
            continue;
        };
        if path.is_dir() {
            match enter(&path, &open) {
                Ok(inner) => open.push(inner),
                Err(reason) => found.push(Entry { path, refused: Some(reason) }),
            }
        } else if packed::is_document(&path) {
            found.push(Entry { refused: refusal(&path), path });
        }
    }
    Ok(found)
}

fn enter(path: &Path, open: &[Open]) -> std::result::Result<Open, String> {
    let inner = Open::new(path).map_err(|error| format!("cannot read the folder: {error}"))?;
    match open.iter().any(|outer| outer.real == inner.real) {
        true => Err("a link back to a folder around it is not followed".into()),
        false => Ok(inner),
    }
}

/// Reading a pipe or a device might never end. What is missing is told when it is read.
fn refusal(path: &Path) -> Option<String> {
    let is_special = path.metadata().is_ok_and(|data| !data.is_file());
    is_special.then(|| "neither a file nor a folder".into())
}
