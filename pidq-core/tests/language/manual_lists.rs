//! The columns of lists that the manual names are those of their rows.

use std::fs;
use std::path::{Path, PathBuf};

use pidq_core::{Graph, Limits, Query};

/// Returns the path of a file of the repository.
fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

/// Returns the rows of the table of lists in the manual: the function and its columns.
fn documented_lists() -> Vec<(String, Vec<String>)> {
    let page =
        fs::read_to_string(repository("src/cli/commands/manual/language.md")).expect("the template of the manual");
    let (_, table) = page.split_once("| list | columns; ").expect("the manual has a table of lists");
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let words = |row: &str| row.split('`').skip(1).step_by(2).map(String::from).collect::<Vec<_>>();
    rows.map(words).map(|mut words| (words.remove(0), words)).collect()
}

#[test]
fn lists_have_the_columns_of_the_manual() {
    let graph = Graph::from_json(fs::read(repository("examples/data/plant.json")).expect("the plant")).expect("JSON");
    let lists = documented_lists();
    assert_eq!(lists.len(), 8, "{lists:?}");
    for (function, columns) in lists {
        let query = Query::parse(&format!("{function}() | first() | keys()")).expect("a list");
        let keys = query.to_json(&graph, Limits::default()).expect("a row");
        assert_eq!(keys, serde_json::to_string(&columns).expect("JSON"), "{function}");
    }
}
