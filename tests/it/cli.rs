//! The command, as a shell sees it: what it prints, and how it exits.

use std::io::Write;
use std::process::{Command, Output, Stdio};

const PLANT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/plant.json");

/// Runs the command with an input.
fn pidq(args: &[&str], input: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pidq"));
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the command starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    // A command that needs no input may be gone already.
    drop(stdin.write_all(input.as_bytes()));
    drop(stdin);
    child.wait_with_output().expect("the command ends")
}

fn check(args: &[&str], input: &str, stdout: &str, code: i32) {
    let output = pidq(args, input);
    let shown = String::from_utf8_lossy(&output.stderr);
    assert_eq!(String::from_utf8_lossy(&output.stdout), stdout, "{args:?} {shown}");
    assert_eq!(output.status.code(), Some(code), "{args:?} {shown}");
}

fn check_error(args: &[&str], input: &str, message: &str, code: i32) {
    let output = pidq(args, input);
    let shown = String::from_utf8_lossy(&output.stderr);
    assert!(shown.contains(message), "{args:?} printed {shown}");
    assert_eq!(output.status.code(), Some(code), "{args:?} {shown}");
}

#[test]
fn results_are_indented_or_on_one_line() {
    check(&["query", "."], r#"{"a":[1,2.0]}"#, "", 3);
    check(&["query", "get()"], r#"{"a":[1,2.0]}"#, "{\n  \"a\": [\n    1,\n    2.0\n  ]\n}\n", 0);
    check(&["query", "--tab", "get()"], "[1]", "[\n\t1\n]\n", 0);
    check(&["query", "--indent", "1", "get()"], "[1]", "[\n 1\n]\n", 0);
    check(&["query", "-c", "get()"], "{ \"a\" : [1, 2] }", "{\"a\":[1,2]}\n", 0);
    check(&["query", "-r", ".a"], r#"{"a":"x \"y\""}"#, "x \"y\"\n", 0);
}

#[test]
fn a_drawing_answers() {
    let query = ".pid_graph.nodes | groupBy(.node_type) | mapValues(size())";
    check(&["query", "-c", query, PLANT], "", "{\"pid_component\":101,\"pipe_system\":14,\"loop\":5}\n", 0);
    check(&["query", ".pid_graph.nodes | size()", PLANT, PLANT], "", "120\n120\n", 0);
    check(&["query", "-s", "size()", PLANT, PLANT], "", "2\n", 0);
}

#[test]
fn parameters_are_bound() {
    check(
        &["query", "-n", "-c", "--arg", "a", "x\"y", "--argjson", "b", "[1.0]", "[$a, $b]"],
        "",
        "[\"x\\\"y\",[1.0]]\n",
        0,
    );
    check_error(&["query", "-n", "$c"], "", "PQ1005", 3);
}

#[test]
fn exit_codes_say_what_happened() {
    check(&["query", "-e", ".a"], r#"{"a":false}"#, "false\n", 1);
    check(&["query", "-e", ".a"], r#"{"a":0}"#, "0\n", 0);
    check_error(&["query", ".a"], "{", "PQ5001", 2);
    check_error(&["query", ".a", "no-such-file.json"], "", "no-such-file.json", 2);
    check_error(&["query", "fliter(.a)"], "[]", "did you mean `filter`?", 3);
    check_error(&["query", "sort()"], "1", "PQ2001", 5);
    check_error(&["query", "--limits", "fuel=10", "map(. + 1)"], "[1,2,3,4,5]", "PQ4001", 5);
    check_error(&["query", "--limits", "fuel=x", "."], "[1]", "is not an amount", 2);
    check_error(&["query", "--no-such-option"], "", "--no-such-option", 2);
}

#[test]
fn colours_are_for_terminals_or_on_request() {
    assert!(!pidq(&["query", "get()"], "[1]").stdout.contains(&0x1b));
    assert!(pidq(&["query", "-C", "get()"], "[1]").stdout.contains(&0x1b));
}

#[test]
fn misspelt_fields_are_named() {
    check_error(&["check", "--against", PLANT, ".pid_graph.nodes | map(.tga)"], "", "did you mean `.tag`?", 0);
    check_error(&["check", "map("], "", "PQ0001", 3);
}

#[test]
fn queries_are_laid_out_and_keep_their_comments() {
    check(&["fmt"], "filter( .a==1 ) // one", "filter(.a == 1) // one\n", 0);
    check(&["fmt", "--check"], "filter( .a==1 )", "", 1);
}

#[test]
fn functions_are_described() {
    check_error(&["functions", "lenght"], "", "no function `lenght`", 2);
    let listed = pidq(&["functions"], "").stdout;
    assert!(String::from_utf8_lossy(&listed).contains("groupBy(key)"));
}

#[test]
fn every_request_of_a_suite_has_one_answer() {
    let requests = [
        r#"{"id":1,"op":"parse","text":".a"}"#,
        r#"{"id":2,"op":"eval","text":"size()","input":[1,2]}"#,
        r#"{"id":3,"op":"stringify","query":["get","a"]}"#,
        r#"{"id":4,"op":"eval","query":["nope"],"input":null}"#,
        "nonsense",
    ];
    let answers = pidq(&["conformance-stdio"], &(requests.join("\n") + "\n")).stdout;
    let answers = String::from_utf8_lossy(&answers).into_owned();
    let answers: Vec<&str> = answers.lines().collect();
    assert_eq!(answers[..3], [r#"{"id":1,"ok":["get","a"]}"#, r#"{"id":2,"ok":2}"#, r#"{"id":3,"ok":".a"}"#]);
    assert!(answers[3].contains(r#""stage":"compile""#) && answers[4].contains("not JSON"), "{answers:?}");
    assert_eq!(answers.len(), 5);
}

#[test]
fn checks_tell_without_running() {
    check(&["check", "filter(.a == 1)"], "", "", 0);
    check_error(&["check", "{a: 1} | filter(.a)"], "", "PQ2001", 5);
    check_error(&["check", "filter([.a == 1])"], "", "PQW06", 0);
    let doubted = ".pid_graph.nodes | filter(.node_type == \"pid_componet\") | map(.tga)";
    check_error(&["check", doubted, "--against", PLANT], "", "did you mean \"pid_component\"?", 0);
    check_error(&["check", doubted, "--against", PLANT], "", "did you mean `.tag`?", 0);
}
