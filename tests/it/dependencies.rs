//! Dependencies of pidq: permissive licenses, one registry, no banned crates, and a limit on their number.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use toml::Table;

/// Limit of crates in the graph query service.
const MAX_CRATES: usize = 350;
/// Limit of crates in the command without the services.
const MAX_COMMAND_CRATES: usize = 94;

/// The packages found by cargo, and their dependencies.
struct Tree {
    packages: BTreeMap<String, Value>,
    edges: BTreeMap<String, Vec<String>>,
}

impl Tree {
    /// Reads the tree for all systems, or only for this one if only its crates were fetched.
    fn read(features: &[&str]) -> Tree {
        let host = host();
        let all = metadata(features).or_else(|| metadata(&[features, &["--filter-platform", &host]].concat()));
        let all = all.expect("cargo knows the crates of the lock file");
        let packages = list(&all["packages"]).map(|package| (text(&package["id"]), package.clone())).collect();
        let edges = list(&all["resolve"]["nodes"]).map(|node| (text(&node["id"]), build_dependencies(node))).collect();
        Tree { packages, edges }
    }

    /// Returns a package and its dependencies.
    fn dependencies_of(&self, name: &str) -> Vec<&Value> {
        let root = self.packages.iter().find(|(_, package)| package["name"] == name && package["source"].is_null());
        let mut left = vec![root.expect("a package of the workspace").0];
        let mut seen = BTreeSet::new();
        while let Some(id) = left.pop() {
            if seen.insert(id) {
                left.extend(&self.edges[id]);
            }
        }
        seen.into_iter().map(|id| &self.packages[id]).collect()
    }

    /// Returns the packages needed to build the workspace without its tests.
    fn shipped(&self) -> Vec<&Value> {
        let ours = self.packages.values().filter(|package| package["source"].is_null());
        let all = ours.flat_map(|package| self.dependencies_of(package["name"].as_str().expect("a name")));
        all.map(|package| (text(&package["id"]), package)).collect::<BTreeMap<_, _>>().into_values().collect()
    }
}

fn metadata(options: &[&str]) -> Option<Value> {
    let cargo = Command::new(env!("CARGO"))
        .args(["metadata", "--offline", "--locked", "--format-version", "1"])
        .args(options)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    cargo.status.success().then(|| serde_json::from_slice(&cargo.stdout).expect("JSON"))
}

fn host() -> String {
    let output = Command::new(env!("CARGO")).arg("-vV").output().expect("cargo runs").stdout;
    let output = String::from_utf8(output).expect("text");
    output.lines().find_map(|line| line.strip_prefix("host: ")).expect("a host").to_owned()
}

/// Returns the dependencies that are needed to build a package, without those of its tests.
fn build_dependencies(node: &Value) -> Vec<String> {
    let is_shipped = |dependency: &&Value| list(&dependency["dep_kinds"]).any(|kind| kind["kind"] != "dev");
    list(&node["deps"]).filter(is_shipped).map(|dependency| text(&dependency["pkg"])).collect()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().expect("a list").iter()
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

/// The rules of `deny.toml`.
struct Rules(Table);

impl Rules {
    fn read() -> Rules {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("deny.toml");
        Rules(std::fs::read_to_string(path).expect("deny.toml").parse().expect("TOML"))
    }

    fn rows(&self, table: &str, name: &str) -> &[toml::Value] {
        self.0[table][name].as_array().expect("a list")
    }

    /// Returns true if a crate may be used under one of its licenses.
    fn allows(&self, name: &str, license: &str) -> bool {
        let excepted = self.rows("licenses", "exceptions").iter().filter(|row| row["crate"].as_str() == Some(name));
        let excepted = excepted.flat_map(|row| row["allow"].as_array().expect("a list"));
        let allowed: Vec<&str> =
            self.rows("licenses", "allow").iter().chain(excepted).filter_map(toml::Value::as_str).collect();
        evaluate_spdx(license, &|name| allowed.contains(&name))
    }

    /// Returns true if a crate is banned, in all versions or below a version.
    fn bans(&self, name: &str, version: &str) -> bool {
        let major = version.split('.').next().and_then(|number| number.parse::<u64>().ok()).expect("a version");
        self.rows("bans", "deny").iter().any(|row| match row["crate"].as_str().expect("a name").split_once("@<") {
            Some((banned, before)) => banned == name && major < before.parse().expect("a number"),
            None => row["crate"].as_str() == Some(name),
        })
    }
}

/// Evaluates an SPDX expression: `OR` binds looser than `AND`, parentheses tightest, and `/` is an old form of `OR`.
fn evaluate_spdx(expression: &str, is_allowed: &dyn Fn(&str) -> bool) -> bool {
    let expression = expression.replace('/', " OR ");
    let any = split_outside_parentheses(&expression, " OR ");
    if any.len() > 1 {
        return any.into_iter().any(|part| evaluate_spdx(part, is_allowed));
    }
    let all = split_outside_parentheses(&expression, " AND ");
    if all.len() > 1 {
        return all.into_iter().all(|part| evaluate_spdx(part, is_allowed));
    }
    let term = expression.trim();
    match term.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        Some(inner) => evaluate_spdx(inner, is_allowed),
        None => is_allowed(term),
    }
}

/// Splits a text at a word, outside parentheses.
fn split_outside_parentheses<'a>(text: &'a str, word: &str) -> Vec<&'a str> {
    let (mut found, mut from, mut depth) = (Vec::new(), 0, 0);
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ if depth == 0 && at >= from && text[at..].starts_with(word) => {
                found.push(&text[from..at]);
                from = at + word.len();
            }
            _ => {}
        }
    }
    found.push(&text[from..]);
    found
}

#[test]
fn every_crate_is_permitted_and_from_the_registry() {
    let rules = Rules::read();
    // With all features if all crates were fetched, otherwise with those of a plain build.
    let tree = if metadata(&["--all-features"]).is_some() { Tree::read(&["--all-features"]) } else { Tree::read(&[]) };
    let shipped = tree.shipped();
    assert!(shipped.len() > 100, "{}", shipped.len());
    let registries: BTreeSet<&str> = shipped.iter().filter_map(|package| package["source"].as_str()).collect();
    assert_eq!(registries.len(), 1, "{registries:?}");
    let wrong: Vec<String> = shipped.into_iter().filter_map(|package| violation(&rules, package)).collect();
    assert!(wrong.is_empty(), "see deny.toml:\n{}", wrong.join("\n"));
}

/// Returns the rule that a package violates.
fn violation(rules: &Rules, package: &Value) -> Option<String> {
    let (name, version) = (text(&package["name"]), text(&package["version"]));
    let license = package["license"].as_str().unwrap_or("none");
    let is_ours =
        package["source"].is_null() && package["manifest_path"].as_str()?.starts_with(env!("CARGO_MANIFEST_DIR"));
    let is_registered = package["source"].as_str().is_some_and(|source| source.starts_with("registry+"));
    let problem = if rules.bans(&name, &version) {
        "is banned".to_owned()
    } else if !is_ours && !is_registered {
        format!("is from {}", package["source"])
    } else if !rules.allows(&name, license) {
        format!("has the license {license}")
    } else {
        return None;
    };
    Some(format!("{name} {version} {problem}"))
}

#[test]
fn the_service_has_a_limited_number_of_dependencies() {
    let tree = Tree::read(&[]);
    let found = tree.dependencies_of("pidq-server").len();
    assert!((50..=MAX_CRATES).contains(&found), "pidq-server is {found} crates");
}

#[test]
fn the_command_has_few_dependencies() {
    let tree = Tree::read(&["--filter-platform", &host()]);
    let found = tree.dependencies_of("pidq").len();
    assert!((20..=MAX_COMMAND_CRATES).contains(&found), "pidq is {found} crates");
}

#[test]
fn every_direct_dependency_has_a_reason() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("ARCHITECTURE.md");
    let page = std::fs::read_to_string(page).expect("ARCHITECTURE.md");
    let tree = Tree::read(&[]);
    for package in tree.packages.values().filter(|package| package["source"].is_null()) {
        let used = list(&package["dependencies"]).filter(|used| used["kind"].is_null() && used["source"].is_string());
        for name in used.map(|used| text(&used["name"])) {
            assert!(page.contains(&format!("`{name}`")), "{} uses {name}", package["name"]);
        }
    }
}

#[test]
fn or_needs_one_license_and_and_needs_all() {
    let rules = Rules::read();
    for good in [
        "MIT",
        "MIT/Apache-2.0",
        "Apache-2.0 / MIT",
        "LGPL-2.1-or-later OR MIT",
        "(MIT OR Apache-2.0) AND Unicode-3.0",
        "GPL-3.0-only AND MIT OR ISC",
        "Apache-2.0 WITH LLVM-exception",
    ] {
        assert!(rules.allows("a", good), "{good}");
    }
    for bad in ["none", "", "GPL-3.0-only", "MIT AND GPL-3.0-only", "MIT AND (GPL-3.0-only OR MPL-2.0)", "CC0-1.0"] {
        assert!(!rules.allows("a", bad), "{bad}");
    }
    assert!(rules.allows("notify", "CC0-1.0"));
    assert!(rules.bans("rsa", "0.9.10") && rules.bans("bincode", "1.3.3"));
    assert!(!rules.bans("bincode", "2.0.1") && !rules.bans("rsa-like", "1.0.0"));
}
