//! Tests of the manual: the results in it are pidq's results, and its generated pages are up to date.

use std::fs;
use std::path::Path;
use std::process::Command;

use pidq::{Graph, Limits, Query};
use serde_json::Value;

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// An example of `docs/pid.md`: its heading, its drawings, the query and the printed result.
#[derive(Default)]
struct Example {
    heading: String,
    drawings: Vec<String>,
    query: String,
    result: String,
}

fn examples(text: &str) -> Vec<Example> {
    text.split("\n### ").skip(1).map(example).collect()
}

fn example(text: &str) -> Example {
    let heading = text.lines().next().unwrap_or_default().to_owned();
    let drawing_names = text.lines().find_map(|line| line.strip_prefix("Input: ")).unwrap_or("`plant.json`");
    let drawings = drawing_names.split('`').filter(|name| name.ends_with(".json")).map(String::from).collect();
    Example { heading, drawings, query: block(text, "jsonquery"), result: block(text, "json") }
}

fn block(text: &str, language: &str) -> String {
    let (_, rest) = text.split_once(&format!("```{language}\n")).unwrap_or_else(|| panic!("no {language} in {text}"));
    rest.split("```").next().unwrap_or_default().to_owned()
}

/// Returns one drawing as it is, several as an array.
fn document(drawings: &[String]) -> Graph {
    let texts: Vec<String> = drawings.iter().map(|name| read(&format!("examples/data/{name}"))).collect();
    let text = if texts.len() == 1 { texts.concat() } else { format!("[{}]", texts.join(",")) };
    Graph::from_json(text).expect("a drawing is JSON")
}

#[test]
fn every_example_has_the_printed_result() {
    let examples = examples(&read("docs/pid.md"));
    assert!(examples.len() >= 30, "{} examples", examples.len());
    let mut wrong = Vec::new();
    for example in &examples {
        let graph = document(&example.drawings);
        let result = Query::parse(&example.query).and_then(|query| query.to_json(&graph, Limits::default()));
        let result: Option<Value> = result.as_ref().ok().and_then(|text| serde_json::from_str(text).ok());
        let printed: Value = serde_json::from_str(&example.result).expect("a result is JSON");
        if result.as_ref() != Some(&printed) {
            wrong.push(format!("{}\n{}", example.heading, result.unwrap_or_default()));
        }
    }
    assert!(wrong.is_empty(), "these results differ:\n\n{}", wrong.join("\n\n"));
}

#[test]
fn queries_in_the_manual_can_be_copied() {
    for example in examples(&read("docs/pid.md")) {
        let warnings = Query::parse(&example.query).and_then(|query| query.check()).expect(&example.heading);
        assert!(warnings.is_empty(), "{}: {warnings:?}", example.heading);
        assert!(example.query.lines().all(|line| line.chars().count() <= 120), "{}: a long line", example.heading);
    }
}

#[test]
fn the_tests_that_the_security_page_cites_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = read("docs/SECURITY.md");
    let mut found = 0;
    for citation in page.split('`').filter(|name| name.starts_with("tests/") || name.starts_with("pidq-")) {
        let (name, test) = citation.split_once("::").unwrap_or((citation, ""));
        for path in alternatives(name) {
            assert!(root.join(&path).exists() || root.join(format!("{path}.rs")).exists(), "{path}");
            assert!(test.is_empty() || has_test(&read(&path), test), "{citation}");
            found += 1;
        }
    }
    assert!(found > 100, "{found}");
}

/// Returns true if a source has a test: in Rust a function with a test attribute, in Python a function.
fn has_test(source: &str, name: &str) -> bool {
    let lines: Vec<&str> = source.lines().map(str::trim_start).collect();
    let is_attribute = |line: &&str| line.starts_with("#[") && line.contains("test");
    let rust = [format!("fn {name}("), format!("async fn {name}(")];
    let begins = |line: &str| rust.iter().any(|start| line.starts_with(start.as_str()));
    let python = |line: &&str| name.starts_with("test_") && line.starts_with(&format!("def {name}("));
    lines.iter().any(python) || lines.windows(2).any(|pair| is_attribute(&pair[0]) && begins(pair[1]))
}

#[test]
fn each_security_requirement_has_one_row() {
    let page = read("docs/SECURITY.md");
    let rows: Vec<&str> =
        page.lines().filter_map(|line| line.strip_prefix("| ")?.split_once(" (").map(|(numbers, _)| numbers)).collect();
    let named: Vec<&str> = rows.iter().flat_map(|numbers| numbers.split(", ")).collect();
    let passwords: Vec<String> = (1..=12).map(|number| format!("6.2.{number}")).collect();
    for number in [
        "4.1.1 4.1.3 4.1.4 4.2.1 4.2.2 4.2.3 4.2.4 4.3.1 5.2.1 5.2.2 5.2.3 5.3.2 6.1.1 6.3.1 6.3.2 6.3.3 6.3.8",
        "9.1.1 9.1.2 9.1.3 9.2.1 9.2.2 9.2.3 10.1.1 10.3.1 10.3.2 10.3.3 10.3.5 10.4.4 10.4.5 10.4.8 10.4.9",
        "10.4.10 10.4.11 10.4.14 10.5.1 10.5.2 10.5.3 10.5.4 10.5.5",
        &passwords.join(" "),
    ]
    .iter()
    .flat_map(|numbers| numbers.split(' '))
    {
        assert_eq!(named.iter().filter(|row| **row == number).count(), 1, "{number}");
    }
}

/// Expands `a/{b,c}.rs` to two file names.
fn alternatives(name: &str) -> Vec<String> {
    let Some((start, (inner, end))) =
        name.split_once('{').map(|(start, rest)| (start, rest.split_once('}').expect("a brace")))
    else {
        return vec![name.to_owned()];
    };
    inner.split(',').map(|part| format!("{start}{part}{end}")).collect()
}

#[test]
fn generated_pages_are_up_to_date() {
    let pages = ["language", "http", "operate", "pipeline", "dashboard", "problems", "deploy"];
    let mut files = pages.map(|page| (page, format!("docs/{page}.md"))).to_vec();
    files.push(("chart-schema", "deploy/helm/pidq/values.schema.json".to_owned()));
    files.push(("chart-settings", "deploy/helm/pidq/settings.json".to_owned()));
    for (page, file) in files {
        let output =
            Command::new(env!("CARGO_BIN_EXE_pidq")).args(["manual", page]).output().expect("the command runs");
        let printed = String::from_utf8(output.stdout).expect("text");
        assert!(printed == read(&file), "update it: pidq manual {page} > {file}");
    }
}

#[test]
fn queries_in_the_language_page_compile_and_its_error_matches() {
    let page = read("docs/language.md");
    let queries: Vec<&str> =
        page.split("```jsonquery\n").skip(1).filter_map(|rest| rest.split("\n```").next()).collect();
    assert!(queries.len() > 1);
    for query in queries {
        Query::parse(query).unwrap_or_else(|error| panic!("{query}: {error}"));
    }
    let query = ".pid_graph.nodes | length()";
    let error = Query::parse(query).expect_err("an error");
    assert!(page.contains(error.render(query).trim_end()), "{}", error.render(query));
}

#[test]
fn the_async_guide_has_the_code_of_its_example() {
    let guide = read("pidq-core/guide/async_code.md");
    let code = guide.split("```ignore\n").nth(1).and_then(|rest| rest.split("```").next()).expect("code");
    assert!(read("examples/11_async.rs").ends_with(code), "the guide differs from examples/11_async.rs");
}

#[test]
fn no_page_claims_safety() {
    // Kinds of loops and statements of a drawing.
    const TERMS: &[&str] = &["safety instrumented", "safety switching", "safety_fields", "`safety`", "\"safety\""];
    for (number, line) in read("docs/pid.md").lines().enumerate() {
        let without_terms = TERMS.iter().fold(line.to_lowercase(), |line, term| line.replace(term, ""));
        let claims_safety = without_terms.contains("safe") && !line.contains("safeguards") && !line.contains("service");
        assert!(!claims_safety, "line {}: {line}", number + 1);
    }
}
