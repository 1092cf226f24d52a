//! Imports go down the floors of ARCHITECTURE.md, never up.

use std::fs;
use std::path::{Path, PathBuf};

/// The rooms of the engine, lowest first. A room imports from itself and from lower floors.
const FLOORS: &[&[&str]] = &[
    &["error", "limits", "arena", "suggest"],
    &["value", "regex", "syntax"],
    &["graph"],
    &["pid"],
    &["eval"],
    &["functions", "check"],
    &["query"],
];

#[test]
fn imports_go_down() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("pidq-core/src");
    let mut files = Vec::new();
    collect(&root, &mut files);
    assert!(files.len() > 20, "the rooms were found");
    for file in files {
        let relative = file.strip_prefix(&root).expect("a file of the crate").with_extension("");
        let room = relative.iter().next().and_then(|room| room.to_str()).expect("a room has a name");
        let text = fs::read_to_string(&file).expect("a source file");
        for import in text.split("crate::").skip(1).map(|rest| rest.split(|c: char| !c.is_alphanumeric()).next()) {
            let import = import.unwrap_or_default();
            let (Some(from), Some(to)) = (floor(room), floor(import)) else { continue };
            let same_floor = from == to && (room == import || from == 0);
            assert!(to < from || same_floor, "{} imports {import}, which is not below it", relative.display());
        }
    }
}

fn floor(room: &str) -> Option<usize> {
    FLOORS.iter().position(|rooms| rooms.contains(&room))
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => collect(&path, files),
            false => files.push(path),
        }
    }
}
