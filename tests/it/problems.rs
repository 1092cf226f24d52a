//! The table of problem codes: used in full, documented in full.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn sources(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => sources(&path, files),
            false => files.extend(path.extension().is_some_and(|extension| extension == "rs").then_some(path)),
        }
    }
}

/// Constants and codes of the table.
fn rows() -> Vec<(String, String)> {
    let text = fs::read_to_string(root().join("pidq-http/src/problem/codes.rs")).expect("the table");
    let rows = text.lines().filter_map(|line| {
        let (constant, rest) = line.strip_prefix("    ")?.split_once(" \"")?;
        let is_constant = constant.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
        let code = rest.split_once("\" [")?.0;
        is_constant.then(|| (constant.to_owned(), code.to_owned()))
    });
    rows.collect()
}

#[test]
fn every_problem_code_is_used() {
    let mut files = Vec::new();
    for folder in [
        "pidq-http/src",
        "pidq-dashboard/src",
        "pidq-server/src",
        "pidq-pipeline/src",
        "pidq-pipeline/extract/src",
        "pidq-pipeline/store/src",
    ] {
        sources(&root().join(folder), &mut files);
    }
    files.retain(|file| !file.ends_with("problem/codes.rs"));
    let texts: Vec<String> = files.iter().map(|file| fs::read_to_string(file).expect("a source file")).collect();
    let rows = rows();
    assert!(rows.len() > 80, "{} rows", rows.len());
    for (constant, code) in rows {
        // Errors of stores and documents have their codes as strings, which are looked up in the table.
        let (by_name, by_text) = (format!("codes::{constant}"), format!("\"{code}\""));
        let is_used = texts.iter().any(|text| text.contains(&by_name) || text.contains(&by_text));
        assert!(is_used, "no source uses {code}");
    }
}

#[test]
fn the_documentation_lists_every_problem_code() {
    let page = fs::read_to_string(root().join("docs/problems.md")).expect("docs/problems.md");
    for (_, code) in rows() {
        assert!(page.contains(&format!("\n| `{code}` | ")), "{code}");
    }
}
