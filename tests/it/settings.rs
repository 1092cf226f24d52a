//! Tests of the settings tables of the services and the dashboard: names, defaults, and that every setting is read.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use pidq_http::{AnySetting, COMMON, Settings};

/// Returns the rows of the graph service, of the document platform and of the dashboard in a process of its own.
fn services() -> [Vec<&'static dyn AnySetting>; 3] {
    let dashboard = [COMMON, pidq_dashboard::SETTINGS, pidq_dashboard::REMOTE_SETTINGS].concat();
    [[COMMON, pidq_server::SETTINGS].concat(), pidq_pipeline::TABLES.concat(), dashboard]
}

#[test]
fn names_are_unique_and_have_the_prefix() {
    for rows in services() {
        let mut names = BTreeMap::<&str, Vec<&str>>::new();
        for row in &rows {
            assert!(row.env().starts_with("PIDQ_") && !row.env().ends_with("_FILE"), "{}", row.env());
            names.entry(row.env()).or_default().push(row.config_key());
            names.entry(row.config_key()).or_default().push(row.env());
        }
        // The platform listens on another port by default.
        names.retain(|name, others| others.len() > 1 && !["PIDQ_LISTEN", "config.listen"].contains(name));
        assert_eq!(names, BTreeMap::new(), "names of several settings");
    }
}

#[test]
fn settings_of_several_services_have_the_same_type() {
    let [graphs, documents, dashboard] = services();
    for row in graphs.iter().chain(&documents) {
        for other in documents.iter().chain(&dashboard).filter(|other| other.env() == row.env()) {
            let form = |row: &dyn AnySetting| (row.config_key(), row.expected(), row.is_secret());
            assert_eq!(form(*row), form(*other), "{}", row.env());
        }
    }
}

#[test]
fn defaults_are_valid() {
    assert!(Settings::read(&[COMMON, pidq_server::SETTINGS], [], []).is_ok());
    assert!(Settings::read(pidq_pipeline::TABLES, [], []).is_ok());
    for row in services().concat() {
        if let Some(default) = row.default() {
            assert_eq!(row.check(default), Ok(()), "{}", row.env());
        }
    }
}

/// The constant of a setting is its name without the prefix. The compiler reports private constants that are not used;
/// this test covers the public ones too.
#[test]
fn every_setting_is_read() {
    let folders = ["pidq-http/src", "pidq-dashboard/src", "pidq-server/src", "pidq-pipeline/src", "src"];
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let source: String = folders.iter().map(|folder| rust_text(&root.join(folder))).collect();
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    for row in services().concat() {
        let name = row.env().trim_start_matches("PIDQ_");
        let is_read = source.match_indices(name).any(|(at, _)| {
            let rest = &source[at + name.len()..];
            !source[..at].ends_with(is_name) && rest.starts_with(".env()")
                || source[..at].ends_with('&') && !rest.starts_with(is_name)
        });
        assert!(is_read, "`{}` is not read: no `&{name}` in {folders:?}", row.env());
    }
}

/// Returns the text of all Rust files of a folder.
fn rust_text(folder: &Path) -> String {
    let mut text = String::new();
    for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        if entry.is_dir() {
            text.push_str(&rust_text(&entry));
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            text.push_str(&fs::read_to_string(&entry).expect("a text"));
        }
    }
    text
}
