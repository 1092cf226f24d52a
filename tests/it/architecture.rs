//! The module tables of ARCHITECTURE.md repeat the first lines of the modules.

use std::fs;
use std::path::Path;

const CRATES: &[&str] = &[
    "pidq-core",
    "pidq-formats",
    "pidq-http",
    "pidq-dashboard",
    "pidq-server",
    "pidq-pipeline/extract",
    "pidq-pipeline/text",
    "pidq-pipeline/store",
    "pidq-pipeline",
    "pidq-ffi",
];

#[test]
fn the_module_tables_are_the_headers_of_the_modules() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    for name in CRATES {
        let table = module_table(&root.join(name).join("src"));
        assert!(page.contains(&table), "the table of {name} in ARCHITECTURE.md has to be:\n{table}");
    }
}

/// One row per module on the first level: its name and the first sentence of its header.
fn module_table(folder: &Path) -> String {
    let mut rows: Vec<String> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .filter(|path| !path.ends_with("lib.rs") && !path.ends_with("main.rs"))
        .map(|path| {
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            let text = fs::read_to_string(&path).expect("a source file");
            format!("| `{name}` | {} |\n", first_sentence(&text))
        })
        .collect();
    rows.sort();
    format!("| module | content |\n|---|---|\n{}", rows.concat())
}

fn first_sentence(text: &str) -> String {
    let lines = text.lines().map_while(|line| line.strip_prefix("//! "));
    let header = lines.collect::<Vec<_>>().join(" ");
    let end = header.find(". ").unwrap_or(header.trim_end_matches('.').len());
    header[..end].replace('|', "\\|")
}
