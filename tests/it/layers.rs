//! Layering test: imports only go to lower layers of ARCHITECTURE.md.

use std::fs;
use std::path::{Path, PathBuf};

/// Modules of the engine by layer, lowest first. A module imports from itself and from lower layers.
const LAYERS: &[&[&str]] = &[
    &["error", "limits", "arena", "suggest"],
    &["value", "regex", "syntax"],
    &["graph"],
    &["pid"],
    &["eval"],
    &["functions", "check"],
    &["query"],
];

#[test]
fn imports_go_to_lower_layers() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("pidq-core/src");
    let mut files = Vec::new();
    collect(&root, &mut files);
    assert!(files.len() > 20, "the modules were found");
    for file in files {
        let relative = file.strip_prefix(&root).expect("a file of the crate").with_extension("");
        let module = relative.iter().next().and_then(|module| module.to_str()).expect("a module has a name");
        let text = fs::read_to_string(&file).expect("a source file");
        for import in text.split("crate::").skip(1).map(|rest| rest.split(|c: char| !c.is_alphanumeric()).next()) {
            let import = import.unwrap_or_default();
            let (Some(from), Some(to)) = (layer(module), layer(import)) else { continue };
            let is_same_layer = from == to && (module == import || from == 0);
            assert!(to < from || is_same_layer, "{} imports {import}, which is not below it", relative.display());
        }
    }
}

fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|modules| modules.contains(&module))
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => collect(&path, files),
            false => files.push(path),
        }
    }
}
