//! What pidq is built upon: permissive licences, one registry, nothing that is banned, and not too much of it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use toml::Table;

/// How many crates the graph query service may consist of.
const MOST: usize = 350;

/// The packages that cargo has found, and who depends on whom.
struct Tree {
    packages: BTreeMap<String, Value>,
    edges: BTreeMap<String, Vec<String>>,
}

impl Tree {
    /// For all systems; where only the crates for this one were ever fetched, for this one.
    fn read(features: &[&str]) -> Tree {
        let host = host();
        let all = metadata(features).or_else(|| metadata(&[features, &["--filter-platform", &host]].concat()));
        let all = all.expect("cargo knows the crates of the lock file");
        let packages = list(&all["packages"]).map(|package| (text(&package["id"]), package.clone())).collect();
        let edges = list(&all["resolve"]["nodes"]).map(|node| (text(&node["id"]), uses(node))).collect();
        Tree { packages, edges }
    }

    /// A package with all that it needs.
    fn below(&self, name: &str) -> Vec<&Value> {
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

    /// All that somebody needs who builds the workspace without its tests.
    fn shipped(&self) -> Vec<&Value> {
        let ours = self.packages.values().filter(|package| package["source"].is_null());
        let all = ours.flat_map(|package| self.below(package["name"].as_str().expect("a name")));
        all.map(|package| (text(&package["id"]), package)).collect::<BTreeMap<_, _>>().into_values().collect()
    }
}

fn metadata(more: &[&str]) -> Option<Value> {
    let cargo = Command::new(env!("CARGO"))
        .args(["metadata", "--offline", "--locked", "--format-version", "1"])
        .args(more)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    cargo.status.success().then(|| serde_json::from_slice(&cargo.stdout).expect("JSON"))
}

fn host() -> String {
    let output = Command::new(env!("CARGO")).arg("-vV").output().expect("cargo runs").stdout;
    let told = String::from_utf8(output).expect("text");
    told.lines().find_map(|line| line.strip_prefix("host: ")).expect("a host").to_owned()
}

/// The packages that a node needs to be built: tests may need more.
fn uses(node: &Value) -> Vec<String> {
    let is_shipped = |dependency: &&Value| list(&dependency["dep_kinds"]).any(|kind| kind["kind"] != "dev");
    list(&node["deps"]).filter(is_shipped).map(|dependency| text(&dependency["pkg"])).collect()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().expect("a list").iter()
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

/// What `deny.toml` says.
struct Rules(Table);

impl Rules {
    fn read() -> Rules {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("deny.toml");
        Rules(std::fs::read_to_string(path).expect("deny.toml").parse().expect("TOML"))
    }

    fn rows(&self, table: &str, name: &str) -> &[toml::Value] {
        self.0[table][name].as_array().expect("a list")
    }

    /// Whether somebody may take a crate under one of the licences that it offers.
    fn allows(&self, name: &str, licence: &str) -> bool {
        let excepted = self.rows("licenses", "exceptions").iter().filter(|row| row["crate"].as_str() == Some(name));
        let excepted = excepted.flat_map(|row| row["allow"].as_array().expect("a list"));
        let allowed: Vec<&str> =
            self.rows("licenses", "allow").iter().chain(excepted).filter_map(toml::Value::as_str).collect();
        holds(licence, &|name| allowed.contains(&name))
    }

    /// Whether a crate is banned, in all its versions or in those before a number.
    fn bans(&self, name: &str, version: &str) -> bool {
        let major = version.split('.').next().and_then(|number| number.parse::<u64>().ok()).expect("a version");
        self.rows("bans", "deny").iter().any(|row| match row["crate"].as_str().expect("a name").split_once("@<") {
            Some((banned, before)) => banned == name && major < before.parse().expect("a number"),
            None => row["crate"].as_str() == Some(name),
        })
    }
}

/// An expression of SPDX: `OR` binds less than `AND`, parentheses more, and `/` is an old form of `OR`.
fn holds(expression: &str, is_allowed: &dyn Fn(&str) -> bool) -> bool {
    let expression = expression.replace('/', " OR ");
    let any = parts(&expression, " OR ");
    if any.len() > 1 {
        return any.into_iter().any(|part| holds(part, is_allowed));
    }
    let all = parts(&expression, " AND ");
    if all.len() > 1 {
        return all.into_iter().all(|part| holds(part, is_allowed));
    }
    let term = expression.trim();
    match term.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        Some(inner) => holds(inner, is_allowed),
        None => is_allowed(term),
    }
}

/// What stands between the words of a kind, outside of parentheses.
fn parts<'a>(text: &'a str, word: &str) -> Vec<&'a str> {
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
    // With all features where all crates were fetched; otherwise those of a plain build are what there is.
    let tree = if metadata(&["--all-features"]).is_some() { Tree::read(&["--all-features"]) } else { Tree::read(&[]) };
    let shipped = tree.shipped();
    assert!(shipped.len() > 100, "{}", shipped.len());
    let registries: BTreeSet<&str> = shipped.iter().filter_map(|package| package["source"].as_str()).collect();
    assert_eq!(registries.len(), 1, "{registries:?}");
    let wrong: Vec<String> = shipped.into_iter().filter_map(|package| fault(&rules, package)).collect();
    assert!(wrong.is_empty(), "see deny.toml:\n{}", wrong.join("\n"));
}

/// What speaks against a package.
fn fault(rules: &Rules, package: &Value) -> Option<String> {
    let (name, version) = (text(&package["name"]), text(&package["version"]));
    let licence = package["license"].as_str().unwrap_or("none");
    let is_ours =
        package["source"].is_null() && package["manifest_path"].as_str()?.starts_with(env!("CARGO_MANIFEST_DIR"));
    let is_registered = package["source"].as_str().is_some_and(|source| source.starts_with("registry+"));
    let what = if rules.bans(&name, &version) {
        "is banned".to_owned()
    } else if !is_ours && !is_registered {
        format!("is from {}", package["source"])
    } else if !rules.allows(&name, licence) {
        format!("has the licence {licence}")
    } else {
        return None;
    };
    Some(format!("{name} {version} {what}"))
}

#[test]
fn the_service_stays_small_enough_to_be_looked_through() {
    let tree = Tree::read(&[]);
    let found = tree.below("pidq-server").len();
    assert!((50..=MOST).contains(&found), "pidq-server is {found} crates");
}

#[test]
fn every_crate_that_is_used_has_its_reason() {
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
fn a_choice_of_licences_needs_one_and_a_sum_needs_all() {
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
