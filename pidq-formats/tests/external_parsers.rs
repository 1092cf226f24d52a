//! Exports read by the parsers of others: Mermaid, Neo4j's Cypher parser, and the reference implementation of SFILES.
//!
//! Packages are installed below the target directory. Without Node.js, Python or a package registry, a test prints that
//! it is skipped.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use pidq_core::Graph;
use pidq_formats::Format;
use serde_json::{Value, json};

/// Packages with exact versions, so that a new release does not change the result.
const MERMAID: &[&str] = &["mermaid@11.17.2", "jsdom@26.1.0"];
const CYPHER: &[&str] = &["@neo4j-cypher/language-support@2.0.0-next.38"];
const SFILES: &[&str] = &["SFILES2==1.2.0"];

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// Runs a command; returns its output, or an error message if it fails.
fn run(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => Err(format!("{command:?}: {}\n{}", output.status, text(&output.stderr))),
    }
}

/// One installation at a time: two tests share a folder.
static INSTALLATION: Mutex<()> = Mutex::new(());

/// Installs packages once; again when the list changes.
fn install(folder: &Path, packages: &[&str], install: impl Fn() -> Result<String, String>) -> Result<(), String> {
    let _installation = INSTALLATION.lock().unwrap_or_else(PoisonError::into_inner);
    let (known, list) = (folder.join("installed.txt"), packages.join("\n"));
    if fs::read_to_string(&known).ok().as_ref() != Some(&list) {
        install()?;
        fs::write(&known, &list).expect("the list can be kept");
    }
    Ok(())
}

/// Runs a script of `tests/external` with Node.js on a JSON document; `None` if the packages cannot be installed.
fn node(name: &str, packages: &[&str], script: &str, input: &Value) -> Option<String> {
    let folder = folder(name);
    let npm = || {
        run(Command::new("npm").args(["install", "--no-audit", "--no-fund", "--prefix"]).arg(&folder).args(packages))
    };
    if let Err(problem) = install(&folder, packages, npm) {
        eprintln!("SKIPPED: {problem}");
        return None;
    }
    // Node.js looks for packages next to the script.
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/external").join(script);
    fs::copy(source, folder.join(script)).expect("the script");
    fs::write(folder.join("input.json"), input.to_string()).expect("the input");
    Some(run(Command::new("node").args([script, "input.json"]).current_dir(&folder)).expect("the script runs"))
}

/// Runs the reference implementation of SFILES; `None` if it cannot be installed.
fn reference(arguments: &[&str], input: &Value) -> Option<String> {
    let folder = folder("sfiles");
    let python = folder.join("venv/bin/python");
    let pip = || {
        run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(folder.join("venv")))?;
        run(Command::new(&python).args(["-m", "pip", "install", "-q"]).args(SFILES))
    };
    if let Err(problem) = install(&folder, SFILES, pip) {
        eprintln!("SKIPPED: {problem}");
        return None;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/external/check_sfiles.py");
    fs::write(folder.join(arguments[0]), input.to_string()).expect("the input");
    let mut command = Command::new(&python);
    command.arg(script).args(arguments).current_dir(&folder).env("MPLBACKEND", "Agg");
    Some(run(&mut command).expect("the script runs"))
}

fn export(format: &str, json: &str) -> String {
    let graph = Graph::from_json(json).expect("valid JSON");
    let files = Format::find(format).and_then(|format| format.export(graph.root())).expect("it can be written");
    String::from_utf8(files[0].bytes.clone()).expect("it is text")
}

/// Returns drawings: the examples, none, and one for each difficult text.
fn drawings() -> Vec<String> {
    const TEXTS: &[&str] = &[
        "a`b",
        "``",
        "'; x",
        "a\\",
        "\\'",
        "\\u0027",
        "\\\\u0060",
        "line\nbreak\r\n\t",
        "\u{1}\u{7f}\u{85}",
        "ünï\u{1F600}\u{2028}",
        "$x",
        "{y}",
        "a b",
        ":param",
        "\"",
        "end",
        "subgraph",
        "a\"]; click <b>",
        "%% x",
        "-->",
        "#35;",
        "[x](y)",
        "**b**",
        "`md`",
    ];
    let example = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/data").join(name);
        fs::read_to_string(path).expect("the example")
    };
    let difficult = |text: &&str| {
        json!({
            "nodes": [{"id": text, "tag": text, "line": text, "node_type": text, "class": "pump.gear", *text: text, "n": 1.5e300}],
            "edges": [{"from": text, "to": text, "type": text, *text: {"deep": text}}, {"from": text, "to": "gone"}],
        })
        .to_string()
    };
    let all = ["plant.json", "plant_vendor.json", "storage.json"].into_iter().map(example);
    all.chain(TEXTS.iter().map(difficult)).chain([r#"{"nodes": [], "edges": []}"#.to_owned()]).collect()
}

#[test]
fn mermaid_parses_every_chart() {
    let mut texts: Vec<String> = drawings().iter().map(|drawing| export("mermaid", drawing)).collect();
    let count = texts.len() + 1;
    texts.push("flowchart LR\n  a[\"b\"c\"]".into());
    let Some(found) = node("mermaid", MERMAID, "check_mermaid.mjs", &json!(texts)) else { return };
    let lines: Vec<&str> = found.lines().collect();
    assert_eq!((lines.len(), lines.last().copied()), (2, Some(format!("parsed {count}").as_str())), "{found}");
    assert!(lines[0].contains("flowchart LR"), "only the broken chart is rejected: {found}");
}

#[test]
fn neo4j_parses_every_statement() {
    let mut texts: Vec<String> = drawings().iter().map(|drawing| export("cypher", drawing)).collect();
    let count = texts.len() + 1;
    texts.push("CREATE (n SETT n = 1;".into());
    let Some(found) = node("cypher", CYPHER, "check_cypher.cjs", &json!(texts)) else { return };
    let is_own = |line: &&str| line.contains("SETT");
    let lines: Vec<&str> = found.lines().filter(|line| !is_own(line)).collect();
    assert!(found.lines().any(|line| is_own(&line)), "the broken statement is rejected");
    assert_eq!(lines, [format!("parsed {count}")], "{found}");
}

/// Reads a text and returns the graph with it.
fn case(text: &str) -> Value {
    let imported = Format::find("sfiles").and_then(|format| format.import(&[text.as_bytes()]));
    let imported = imported.unwrap_or_else(|error| panic!("{error}: {text}"));
    let document: Value = serde_json::from_str(&imported.json).expect("valid JSON");
    json!({"text": text, "graph": document["pid_graph"]})
}

#[test]
fn the_reference_implementation_reads_the_same_flowsheets() {
    let mut cases = Vec::new();
    for seed in 0..200_usize {
        cases.push(case(export("sfiles", &random_flowsheet(seed)).trim()));
    }
    cases.push(case(export("sfiles", &drawings()[0]).trim()));
    let Some(found) = reference(&["ours.json"], &json!(cases)) else { return };
    assert_eq!(found.trim(), format!("compared {}", cases.len()), "{found}");
}

#[test]
fn texts_of_the_reference_implementation_are_read() {
    let Some(texts) = reference(&["write", "200"], &Value::Null) else { return };
    let texts: Vec<String> = serde_json::from_str(&texts).expect("a list of texts");
    assert!(texts.len() > 100, "the reference implementation writes most flowsheets: {}", texts.len());
    let cases: Vec<Value> = texts.iter().map(|text| case(text)).collect();
    let Some(found) = reference(&["theirs.json"], &json!(cases)) else { return };
    assert_eq!(found.trim(), format!("compared {}", cases.len()), "{found}");
}

/// Returns a connected flowsheet of a seed, with recycles, tags and control units.
fn random_flowsheet(seed: usize) -> String {
    let mut state = seed as u64 * 2 + 1;
    let mut below = |end: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % end
    };
    let count = 2 + below(8);
    let classes = ["tank", "pump", "valve", "reactor", "column"];
    let mut nodes: Vec<Value> = (0..count).map(|id| json!({"id": id, "class": classes[below(5)]})).collect();
    let mut pairs = Vec::new();
    for to in 1..count {
        let from = below(to);
        pairs.push(if below(4) == 0 { (to, from) } else { (from, to) });
    }
    for _ in 0..below(4) {
        let (from, to) = (below(count), below(count));
        if from != to && !pairs.contains(&(from, to)) {
            pairs.push((from, to));
        }
    }
    let mut edges: Vec<Value> =
        pairs.iter().map(|(from, to)| json!({"from": from, "to": to, "edge_type": "flow"})).collect();
    for edge in &mut edges {
        if below(4) == 0 {
            let tag = ["tout", "bout"][below(2)];
            edge["stream_tags"] = json!([tag]);
        }
    }
    if below(2) == 0 {
        nodes.push(json!({"id": "c", "class": "instrument", "tag": "FIC-1"}));
        edges.push(json!({"from": below(count), "to": "c", "edge_type": "signal"}));
        edges.push(json!({"from": "c", "to": below(count), "edge_type": "signal"}));
    }
    json!({"nodes": nodes, "edges": edges}).to_string()
}
