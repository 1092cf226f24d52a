//! The manual: every answer in it is what pidq answers, and its tables are those of the engine.

use std::fs;
use std::path::Path;
use std::process::Command;

use pidq::{Graph, Limits, Query};
use serde_json::Value;

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A question of `docs/pid.md`: its heading, whom it is asked of, the query and the answer that is printed.
#[derive(Default)]
struct Question {
    heading: String,
    drawings: Vec<String>,
    query: String,
    answer: String,
}

fn questions(text: &str) -> Vec<Question> {
    text.split("\n### ").skip(1).map(question).collect()
}

fn question(text: &str) -> Question {
    let heading = text.lines().next().unwrap_or_default().to_owned();
    let asked_of = text.lines().find_map(|line| line.strip_prefix("Asked of ")).unwrap_or("`plant.json`");
    let drawings = asked_of.split('`').filter(|name| name.ends_with(".json")).map(String::from).collect();
    Question { heading, drawings, query: block(text, "jsonquery"), answer: block(text, "json") }
}

fn block(text: &str, language: &str) -> String {
    let (_, rest) = text.split_once(&format!("```{language}\n")).unwrap_or_else(|| panic!("no {language} in {text}"));
    rest.split("```").next().unwrap_or_default().to_owned()
}

/// One drawing as it is, several as a list.
fn document(drawings: &[String]) -> Graph {
    let texts: Vec<String> = drawings.iter().map(|name| read(&format!("examples/data/{name}"))).collect();
    let text = if texts.len() == 1 { texts.concat() } else { format!("[{}]", texts.join(",")) };
    Graph::from_json(text).expect("a drawing is JSON")
}

#[test]
fn every_question_has_the_answer_that_is_printed() {
    let questions = questions(&read("docs/pid.md"));
    assert!(questions.len() >= 30, "{} questions", questions.len());
    let mut wrong = Vec::new();
    for question in &questions {
        let graph = document(&question.drawings);
        let answer = Query::parse(&question.query).and_then(|query| query.to_json(&graph, Limits::default()));
        let answer: Option<Value> = answer.as_ref().ok().and_then(|text| serde_json::from_str(text).ok());
        let printed: Value = serde_json::from_str(&question.answer).expect("an answer is JSON");
        if answer.as_ref() != Some(&printed) {
            wrong.push(format!("{}\n{}", question.heading, answer.unwrap_or_default()));
        }
    }
    assert!(wrong.is_empty(), "these answers are others:\n\n{}", wrong.join("\n\n"));
}

#[test]
fn queries_in_the_manual_are_fit_to_be_copied() {
    for question in questions(&read("docs/pid.md")) {
        let notes = Query::parse(&question.query).and_then(|query| query.check()).expect(&question.heading);
        assert!(notes.is_empty(), "{}: {notes:?}", question.heading);
        assert!(question.query.lines().all(|line| line.chars().count() <= 120), "{}: a long line", question.heading);
    }
}

/// A page that says what shows a claim must not point into the void.
#[test]
fn the_proofs_that_the_page_about_security_names_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = read("docs/SECURITY.md");
    let mut found = 0;
    for proof in page.split('`').filter(|name| name.starts_with("tests/") || name.starts_with("pidq-")) {
        let (name, test) = proof.split_once("::").unwrap_or((proof, ""));
        for path in alternatives(name) {
            assert!(root.join(&path).exists() || root.join(format!("{path}.rs")).exists(), "{path}");
            assert!(test.is_empty() || has_test(&read(&path), test), "{proof}");
            found += 1;
        }
    }
    assert!(found > 100, "{found}");
}

/// A test of Rust stands below its attribute, and one of Python is known by its name.
fn has_test(source: &str, name: &str) -> bool {
    let lines: Vec<&str> = source.lines().map(str::trim_start).collect();
    let is_attribute = |line: &&str| line.starts_with("#[") && line.contains("test");
    let rust = [format!("fn {name}("), format!("async fn {name}(")];
    let begins = |line: &str| rust.iter().any(|start| line.starts_with(start.as_str()));
    let python = |line: &&str| name.starts_with("test_") && line.starts_with(&format!("def {name}("));
    lines.iter().any(python) || lines.windows(2).any(|two| is_attribute(&two[0]) && begins(two[1]))
}

/// The numbers that the aim for this service names.
#[test]
fn each_requirement_of_the_map_has_a_row() {
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

/// `a/{b,c}.rs` names two files.
fn alternatives(name: &str) -> Vec<String> {
    let Some((start, (inner, end))) =
        name.split_once('{').map(|(start, rest)| (start, rest.split_once('}').expect("a brace")))
    else {
        return vec![name.to_owned()];
    };
    inner.split(',').map(|part| format!("{start}{part}{end}")).collect()
}

#[test]
fn pages_are_made_from_the_tables() {
    for page in ["language", "http", "operate", "pipeline"] {
        let output =
            Command::new(env!("CARGO_BIN_EXE_pidq")).args(["manual", page]).output().expect("the command runs");
        let printed = String::from_utf8(output.stdout).expect("text");
        assert!(printed == read(&format!("docs/{page}.md")), "write it again: pidq manual {page} > docs/{page}.md");
    }
}

#[test]
fn queries_about_the_language_compile_and_its_error_looks_so() {
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
fn nothing_is_called_safe() {
    for (number, line) in read("docs/pid.md").lines().enumerate() {
        let says_so = line.to_lowercase().contains("safe") && !line.contains("safeguards") && !line.contains("service");
        assert!(!says_so, "line {}: {line}", number + 1);
    }
}
