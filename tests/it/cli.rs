//! The command in a shell: its output and exit codes.

use std::fs;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

pub const PLANT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/plant.json");

/// Runs the command with an input.
pub fn pidq(args: &[&str], input: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pidq"));
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // Without default options of the user.
    command.env("PIDQ_OPTIONS", "");
    let mut child = command.spawn().expect("the command starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    // A command that needs no input may have exited already.
    drop(stdin.write_all(input.as_bytes()));
    drop(stdin);
    child.wait_with_output().expect("the command ends")
}

pub fn check(args: &[&str], input: &str, stdout: &str, code: i32) {
    let output = pidq(args, input);
    let shown = String::from_utf8_lossy(&output.stderr);
    assert_eq!(String::from_utf8_lossy(&output.stdout), stdout, "{args:?} {shown}");
    assert_eq!(output.status.code(), Some(code), "{args:?} {shown}");
}

pub fn check_error(args: &[&str], input: &str, message: &str, code: i32) {
    let output = pidq(args, input);
    let shown = String::from_utf8_lossy(&output.stderr);
    assert!(shown.contains(message), "{args:?} printed {shown}");
    assert_eq!(output.status.code(), Some(code), "{args:?} {shown}");
}

#[test]
fn results_are_indented_or_on_one_line() {
    check(&["query", ".a."], r#"{"a":[1,2.0]}"#, "", 3);
    check(&["query", "-c", "."], r#"{"a":[1,2.0]}"#, "{\"a\":[1,2.0]}\n", 0);
    check(&["query", "get()"], r#"{"a":[1,2.0]}"#, "{\n  \"a\": [\n    1,\n    2.0\n  ]\n}\n", 0);
    check(&["query", "--tab", "get()"], "[1]", "[\n\t1\n]\n", 0);
    check(&["query", "--indent", "1", "get()"], "[1]", "[\n 1\n]\n", 0);
    check(&["query", "-c", "get()"], "{ \"a\" : [1, 2] }", "{\"a\":[1,2]}\n", 0);
    check(&["query", "-r", ".a"], r#"{"a":"x \"y\""}"#, "x \"y\"\n", 0);
}

#[test]
fn a_drawing_is_queried() {
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
fn exit_codes_distinguish_failures() {
    check(&["query", "-e", ".a"], r#"{"a":false}"#, "false\n", 1);
    check(&["query", "-e", ".a"], r#"{"a":0}"#, "0\n", 0);
    check_error(&["query", ".a"], "{", "PQ5001", 2);
    check_error(&["query", ".a", "no-such-file.json"], "", "no-such-file.json", 2);
    check_error(&["query", "fliter(.a)"], "[]", "did you mean `filter`?", 3);
    check_error(&["query", "sort()"], "1", "PQ2001", 5);
    check_error(&["query", "--limits", "fuel=10", "map(. + 1)"], "[1,2,3,4,5]", "PQ4001", 5);
    check_error(&["query", "--limits", "fuel=x", "."], "[1]", "expected an amount", 2);
    check_error(&["query", "--no-such-option"], "", "--no-such-option", 2);
}

#[test]
fn colors_are_for_terminals_or_on_request() {
    assert!(!pidq(&["query", "get()"], "[1]").stdout.contains(&0x1b));
    assert!(pidq(&["query", "-C", "get()"], "[1]").stdout.contains(&0x1b));
}

#[test]
fn misspelled_fields_are_reported() {
    check_error(&["check", "--against", PLANT, ".pid_graph.nodes | map(.tga)"], "", "did you mean `.tag`?", 0);
    check_error(&["check", "map("], "", "PQ0001", 3);
}

#[test]
fn queries_are_formatted_and_keep_their_comments() {
    check(&["fmt"], "filter( .a==1 ) // one", "filter(.a == 1) // one\n", 0);
    check(&["fmt", "--check"], "filter( .a==1 )", "", 1);
}

#[test]
fn functions_are_described() {
    check_error(&["functions", "lenght"], "", "no function `lenght`", 2);
    let listed = pidq(&["functions"], "").stdout;
    assert!(String::from_utf8_lossy(&listed).contains("groupBy(key)"));
    let json = |args: &[&str]| -> serde_json::Value { serde_json::from_slice(&pidq(args, "").stdout).expect("JSON") };
    let all = json(&["functions", "--format", "json"]);
    let one = json(&["functions", "groupBy", "--format", "json"]);
    assert_eq!(one["signature"], "groupBy(key)");
    let expand = String::from_utf8(pidq(&["functions", "expand"], "").stdout).expect("UTF-8");
    assert!(
        expand.contains("\nOptions:\n")
            && expand.contains("\n  pass    \"none\", \"zone\" or \"any\": other equipment"),
        "{expand}"
    );
    assert!(all["functions"].as_array().is_some_and(|rows| rows.contains(&one)));
}

#[test]
fn every_request_of_a_batch_has_one_response() {
    let requests = [
        r#"{"id":1,"op":"parse","text":".a"}"#,
        r#"{"id":2,"op":"eval","text":"size()","input":[1,2]}"#,
        r#"{"id":3,"op":"stringify","query":["get","a"]}"#,
        r#"{"id":4,"op":"eval","query":["nope"],"input":null}"#,
        "nonsense",
    ];
    let responses = pidq(&["conformance-stdio"], &(requests.join("\n") + "\n")).stdout;
    let responses = String::from_utf8_lossy(&responses).into_owned();
    let responses: Vec<&str> = responses.lines().collect();
    assert_eq!(responses[..3], [r#"{"id":1,"ok":["get","a"]}"#, r#"{"id":2,"ok":2}"#, r#"{"id":3,"ok":".a"}"#]);
    assert!(responses[3].contains(r#""stage":"compile""#) && responses[4].contains("not JSON"), "{responses:?}");
    assert_eq!(responses.len(), 5);
}

#[test]
fn checks_report_without_running() {
    check(&["check", "filter(.a == 1)"], "", "", 0);
    check_error(&["check", "{a: 1} | filter(.a)"], "", "PQ2001", 5);
    check_error(&["check", "filter([.a == 1])"], "", "PQW06", 0);
    let query = ".pid_graph.nodes | filter(.node_type == \"pid_componet\") | map(.tga)";
    check_error(&["check", query, "--against", PLANT], "", "did you mean \"pid_component\"?", 0);
    check_error(&["check", query, "--against", PLANT], "", "did you mean `.tag`?", 0);
}

/// Creates an empty directory for one test.
pub fn test_dir(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    drop(fs::remove_dir_all(&folder));
    fs::create_dir_all(&folder).expect("a folder for the test");
    folder
}

/// Writes a file into a directory, and creates the directories on its path.
pub fn write_file(folder: &std::path::Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().expect("it is in the folder")).expect("a folder for the file");
    fs::write(&path, text).expect("a file for the test");
    path.to_str().expect("a name in UTF-8").to_owned()
}

/// Runs a line in a shell in a directory, with `pidq` on the path.
pub fn shell(line: &str, folder: &std::path::Path) -> Output {
    let commands = PathBuf::from(env!("CARGO_BIN_EXE_pidq"));
    let path = format!("{}:{}", commands.parent().expect("a folder").display(), env!("PATH"));
    let mut command = Command::new("bash");
    command.args(["-o", "pipefail", "-c", line]).current_dir(folder).env("PATH", path).stdin(Stdio::null());
    command.output().expect("bash runs")
}

#[track_caller]
pub fn check_shell(line: &str, folder: &std::path::Path, stdout: &str) {
    let output = shell(line, folder);
    let shown = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{line}: {:?} {shown}", output.status);
    assert_eq!(String::from_utf8_lossy(&output.stdout), stdout, "{line} {shown}");
}

/// Runs a command on a terminal and returns its output. Each step is a text to wait for and the input to type then.
/// Returns `None` without the program `script`.
pub fn run_on_terminal(line: &str, steps: &[(&str, &str)], folder: &std::path::Path) -> Option<String> {
    let version = Command::new("script").arg("--version").output();
    if !version.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("util-linux")) {
        println!("SKIPPED: `script` of util-linux is not installed");
        return None;
    }
    let mut command = Command::new("script");
    command.args(["-q", "-e", "-c", line, "/dev/null"]).current_dir(folder);
    command.env("TERM", "xterm").env_remove("NO_COLOR").env("HOME", folder).env_remove("XDG_STATE_HOME");
    command.env("PIDQ_OPTIONS", "");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("script runs");
    let chunks = chunks_of(child.stdout.take().expect("a pipe"));
    let mut stdin = child.stdin.take().expect("a pipe");
    let mut seen = String::new();
    let mut checked = 0;
    for (awaited, input) in steps {
        while !seen[checked..].contains(awaited) {
            match chunks.recv_timeout(Duration::from_secs(30)) {
                Ok(chunk) => seen.push_str(&chunk),
                Err(_) => {
                    drop(child.kill());
                    panic!("`{awaited}` is missing in {seen:?}");
                }
            }
        }
        checked = seen.len();
        stdin.write_all(input.as_bytes()).expect("it reads");
    }
    seen.extend(chunks);
    child.wait().expect("it ends");
    Some(seen)
}

/// Returns the chunks of a pipe as they arrive.
fn chunks_of(mut pipe: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut chunk = [0; 4096];
        while let Ok(length @ 1..) = pipe.read(&mut chunk) {
            if sender.send(String::from_utf8_lossy(&chunk[..length]).into_owned()).is_err() {
                return;
            }
        }
    });
    receiver
}

#[test]
fn a_closed_pipe_is_success() {
    let folder = test_dir("closed-pipe");
    write_file(&folder, "big.json", &format!("[{}0]", "12345678,".repeat(200_000)));
    for line in [
        "pidq query 'get()' big.json | head -1",
        "pidq query -S 'get()' big.json | head -1",
        "for i in 1 2 3; do echo big.json; done | xargs pidq query 'get()' | head -1",
        "mkdir -p d; cp big.json d/1.json; cp big.json d/2.json; cp big.json d/3.json; pidq query --all d 'get()' | head -c 1 >/dev/null; echo '['",
    ] {
        check_shell(line, &folder, "[\n");
        assert_eq!(shell(line, &folder).stderr.first(), None, "{line}");
    }
    check_shell(
        "pidq functions | head -1 >/dev/null; pidq man | head -1 >/dev/null; pidq --help | head -0",
        &folder,
        "",
    );
    for command in ["serve --help", "pipeline serve --help", "pipeline license key"] {
        // Give the reader time to exit before the write.
        let line = format!("(sleep 0.1; pidq {command}; echo $? >&2) | true");
        let shown = shell(&line, &folder).stderr;
        let shown = String::from_utf8_lossy(&shown).into_owned();
        // The command may be built without the service.
        assert!(!shown.contains("panicked"), "{line}: {shown}");
    }
}

#[test]
fn a_full_disk_is_reported() {
    if fs::metadata("/dev/full").is_err() {
        println!("SKIPPED: there is no /dev/full");
        return;
    }
    for line in
        ["pidq query -n 1", "pidq functions", "pidq man", "mkdir -p d; echo 1 >d/a.json; pidq query --all d 'get()'"]
    {
        let output = shell(&format!("{line} >/dev/full"), &test_dir("full-disk"));
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("cannot write the output"), "{line}");
    }
}

#[test]
fn keys_are_sorted_on_request_and_a_query_may_come_from_a_file() {
    let folder = test_dir("sorted");
    let query = write_file(&folder, "tags.pidq", "// Tags.\r\n.a\r\n  | map(.tag)\r\n");
    check(
        &["query", "-c", "-S", "get()"],
        r#"{"b":{"d":1,"c":2},"a":3.0}"#,
        "{\"a\":3.0,\"b\":{\"c\":2,\"d\":1}}\n",
        0,
    );
    check(&["query", "-c", "-f", &query], r#"{"a":[{"tag":"P-1"}]}"#, "[\"P-1\"]\n", 0);
    let document = write_file(&folder, "a.json", r#"{"a":[]}"#);
    check(&["query", "-c", "-f", &query, &document, "-"], r#"{"a":[{"tag":1}]}"#, "[]\n[1]\n", 0);
    check_error(&["query", "-f", "no-such-query"], "", "no such file `no-such-query`", 2);
    let wrong = write_file(&folder, "wrong.pidq", ".a\n| map(.b)\n| sort(.c ? 1)\n| size()\n");
    let heading = format!("Character ',' expected (pos: 23)\n  --> {wrong}:3:11\n3 | | sort(.c ? 1)\n");
    check_error(&["query", "-f", &wrong], "{}", &heading, 3);
    let failing = write_file(&folder, "failing.pidq", ".a\n| sum()\n");
    check_error(&["query", "-f", &failing], r#"{"a":1}"#, &format!("  --> {failing}:2:3\n"), 5);
    let trailing = write_file(&folder, "trailing.pidq", ".a\n| size()\n.b == 1\n| size()\n");
    check_error(
        &["query", "-f", &trailing],
        "{}",
        &format!("Unexpected part '== 1 | size() ' (pos: 15)\n  --> {trailing}:3:4\n"),
        3,
    );
    check_error(&["fmt", &trailing], "", &format!("  --> {trailing}:3:4\n"), 3);
    check_error(&["check", "-f", &trailing], "", &format!("  --> {trailing}:3:4\n"), 3);
    check(&["check", "--from-file", &query], "", "", 0);
    check_error(&["check", "-f", &query, ".a"], "", "cannot be used with", 2);
    check_error(&["explain", "-f", &wrong, PLANT], "", &format!("  --> {wrong}:3:11\n"), 3);
    check_error(&["explain", "-f", &query, "--plan", PLANT], "", "`--plan` cannot be combined with a document", 2);
    for arguments in [["explain", "-f", &query, &document].as_slice(), &["explain", "--plan", "-f", &query]] {
        let output = pidq(arguments, "");
        assert_eq!((output.status.code(), output.stdout.is_empty()), (Some(0), false), "{arguments:?}");
    }
}

#[test]
fn every_exit_code_of_the_manual_occurs() {
    let cases: [(&[&str], &str, i32); 12] = [
        (&["query", "get()"], "1", 0),
        (&["query", "-e", "get()"], "null", 1),
        (&["query", "-e", "get()"], "false", 1),
        (&["query", "-e", "get()"], "", 4),
        (&["query", "get()"], "", 0),
        (&["query"], "", 2),
        (&["query", "get()"], "[1", 2),
        (&["query", "get("], "1", 3),
        (&["query", "sort()"], "1", 5),
        (&["query", "--limits", "time=0s", "map(get() + 1)"], "[]", 0),
        (&["fmt", "--check"], "1+1", 1),
        (&["no-such-command"], "", 2),
    ];
    for (args, input, code) in cases {
        assert_eq!(pidq(args, input).status.code(), Some(code), "{args:?} {input}");
    }
    let text = String::from_utf8_lossy(&pidq(&["--help"], "").stdout).into_owned();
    let manual = String::from_utf8_lossy(&pidq(&["man"], "").stdout).into_owned();
    for code in 0..=5 {
        assert!(text.contains(&format!("{code} ")) && manual.contains(&format!("{code} ")), "{code} is explained");
    }
}

#[test]
fn one_bad_file_does_not_hide_the_others() {
    let folder = test_dir("several");
    let names =
        [("1.json", "{\"a\":1}"), ("2.json", "{"), ("3.json", ""), ("4.json", "\u{FEFF}}"), ("5.json", "{\"a\":5}")];
    let paths: Vec<String> = names.iter().map(|(name, text)| write_file(&folder, name, text)).collect();
    let missing = folder.join("6.json").display().to_string();
    let args: Vec<&str> =
        ["query", ".a"].into_iter().chain(paths.iter().map(String::as_str)).chain([&*missing]).collect();
    let output = pidq(&args, "");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((String::from_utf8_lossy(&output.stdout).as_ref(), output.status.code()), ("1\n5\n", Some(2)));
    for name in ["2.json:1:2", "4.json:1:1", "no such file"] {
        assert!(stderr.contains(name), "{name} in {stderr}");
    }
}

#[test]
fn errors_about_files_suggest_a_fix() {
    let folder = test_dir("files");
    let document = write_file(&folder, "plant.json", "{}");
    let folder = folder.to_str().expect("a name in UTF-8");
    check_error(&["query", "get()", folder], "", "for every JSON file in it", 2);
    check_error(&["query", "get()", "plnt.json"], "", "no such file `plnt.json`; check the path", 2);
    check_error(&["query", "--all", &document, "get()"], "", "is not a directory", 2);
    check_error(&["query", "--all", folder, "get()", &document], "", "cannot be combined with files", 2);
    check_error(&["query", &document, ".a"], "", "the query comes first", 3);
    check_error(&["query", "-n", "1", &document], "", "cannot be combined with files", 2);
    check_error(&["check", "--against", folder, ".a"], "", "is a directory", 2);
    check_error(&["explain", "get()", "no.json"], "", "no such file", 2);
    check_error(&["fmt", "no.pidq"], "", "no such file", 2);
    check_error(&["repl", "no.json"], "", "no such file", 2);
}

#[test]
fn common_mistakes_get_a_suggestion() {
    let wrong = |args: &[&str], message: &str| check_error(args, "", message, 2);
    wrong(&[".a", PLANT], "`pidq query QUERY FILE`");
    wrong(&[PLANT], "`pidq query QUERY FILE`");
    wrong(&["query", "--arg", "$x", "1", "$x"], "as in `--arg x VALUE`");
    wrong(&["query", "--arg", "x=1", "$x", PLANT], "the value as the next word");
    wrong(&["functions", "=>"], "`pidq functions` lists all functions");
    wrong(&["man", "nosuch"], "`pidq --help`");
    wrong(&["help", "isolate"], "`pidq functions isolate` describes it");
    wrong(&["isolate", PLANT], "`pidq functions isolate` describes it");
    wrong(&["export", PLANT], "--format: proteus, dexpi, json, node-link, graphml");
    wrong(
        &["export", PLANT, "--format", "csv-graph", "-o", PLANT],
        "is a file; the output of several files needs a directory",
    );
    wrong(&["draw", PLANT, "-o", "plant.PNG"], "write it to `plant.svg`");
    check_error(&["draw", PLANT, "--highlight", "[]", "-o", "/dev/null"], "", "selects no nodes or edges", 0);
    check_error(&["query", "--json", ".a", PLANT], "", "in JSON format a call is an array", 3);
}

#[test]
fn an_operator_is_described_as_its_function() {
    let eq = pidq(&["functions", "eq"], "").stdout;
    assert!(!eq.is_empty());
    for name in ["==", "eq()"] {
        assert_eq!(pidq(&["functions", name], "").stdout, eq, "{name}");
    }
}

#[test]
fn windows_line_ends_are_white_space() {
    check(&["query", "-c", ".a\r\n| map(.b)\r\n"], "{\r\n\"a\": [\r\n{\"b\": 1}]\r\n}\r\n", "[1]\n", 0);
    check(&["query", "-c", "get()"], "[1,\r\n2]\r\n", "[1,2]\n", 0);
    check(&["fmt"], ".a\r\n// one\r\n|size()\r\n", ".a\n  // one\n  | size()\n", 0);
}

#[test]
fn empty_input_gives_nothing() {
    check(&["query", ".a"], " \n", "", 0);
    check(&["query", "-s", "size()"], "", "0\n", 0);
    check(&["query", "-c", "-s", "get()"], " 1 ", "[ 1 ]\n".replace(' ', "").as_str(), 0);
    check_error(&["query", ""], "1", "PQ0001", 3);
    check_error(&["explain", "get()"], "", "PQ5001", 2);
    check(&["fmt"], "", "", 3);
}

#[test]
fn errors_are_available_as_json() {
    let output = pidq(&["check", "--format", "json", ".nodes | lenght()"], "");
    let error: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    assert_eq!(
        (error["code"].as_str(), error["stage"].as_str(), output.status.code()),
        (Some("PQ1001"), Some("compile"), Some(3))
    );
    assert_eq!(error["span"]["start"], 9);
    let output = pidq(&["check", "--format", "json", "--against", PLANT, ".pid_graph.nodes | map(.tga)"], "");
    let warning: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    assert_eq!((warning["code"].as_str(), output.status.code()), (Some("PQW01"), Some(0)));
    check(&["check", "--format", "json", "--against", PLANT, ".pid_graph.nodes | map(.tag)"], "", "", 0);
}

#[test]
fn errors_of_the_checked_document_are_json_too() {
    let json_error = |against: &str, input: &str| {
        let output = pidq(&["check", "--format", "json", "--against", against, "1"], input);
        assert_eq!((output.status.code(), output.stderr.is_empty()), (Some(2), true), "{against}");
        serde_json::from_slice::<serde_json::Value>(&output.stdout).expect("one JSON object")
    };
    assert_eq!(json_error("-", "[1,")["code"], "PQ5001");
    let output = json_error("no.json", "");
    assert!(output["message"].as_str().is_some_and(|message| message.contains("no such file `no.json`")), "{output}");
    check_error(&["check", "--against", "no.json", "1"], "", "no such file `no.json`", 2);
}

#[test]
fn profiles_show_strategies_time_and_warnings() {
    let output = pidq(&["explain", ".pid_graph.nodes | map(.tga)", PLANT], "");
    let (table, output) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.contains("warning[PQW01]") && output.contains("did you mean `.tag`?"), "{output}");
    let last = table.lines().last().and_then(|line| line.strip_prefix("milliseconds: "));
    assert!(last.is_some_and(|time| time.parse::<f64>().is_ok()), "{table}");
    let output = explain("map(.a) | filter(.b > 1)", r#"[{"a": {"b": 2}}, {"a": {"b": 1}}]"#);
    assert_eq!(output["warnings"], serde_json::json!([]));
    assert!(output["milliseconds"].as_f64().is_some_and(|time| time >= 0.0), "{output}");
    assert_eq!(output["steps"][0]["how"], "scan");
    let output = explain("map(.b)", r#"[{"a": 1}]"#);
    assert_eq!((&output["warnings"][0]["code"], &output["warnings"][0]["stage"]), (&"PQW01".into(), &"warning".into()));
}

#[test]
fn a_plan_needs_no_document() {
    let query = "{a: nodes(.x == 1) | map(.a), b: nodes(.x == 1) | filter(.b > 1) | size(), c: sort(.d) | limit(2)}";
    let shown = [
        "step            how",
        "nodes(.x == 1)",
        "  .x == 1",
        "map(.a)",
        "nodes(.x == 1)  common subexpression",
        "  .x == 1       common subexpression",
        "filter(.b > 1)  count only",
        "  .b > 1",
        "size()          count only",
        "sort(.d)        top-k",
        "limit(2)",
    ];
    check(&["explain", "--plan", query], "", &(shown.join("\n") + "\n"), 0);
    let output = pidq(&["explain", "--plan", "--format", "json", "groupBy(.a) | mapValues(size())"], "");
    let output: serde_json::Value = serde_json::from_slice(&output.stdout).expect("valid JSON");
    assert_eq!(output["steps"][0], serde_json::json!({"text": "groupBy(.a)", "depth": 0, "how": "count only"}));
    check_error(&["explain", "--plan", "get()", PLANT], "", "--plan", 2);
    check_error(&["explain", "--plan", "fliter(.a)"], "", "PQ1001", 3);
}

fn explain(query: &str, input: &str) -> serde_json::Value {
    let output = pidq(&["explain", "--format", "json", query], input);
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("one JSON object")
}

#[test]
fn a_terminal_has_colors_unless_disabled() {
    let folder = test_dir("terminal");
    let on_terminal = |line: &str| run_on_terminal(line, &[], &folder);
    let Some(colored) = on_terminal("pidq query -n '[1]'".replace("pidq", env!("CARGO_BIN_EXE_pidq")).as_str()) else {
        return;
    };
    assert!(colored.contains("\x1b[1;39m[\x1b[0m"), "{colored:?}");
    for plain in ["NO_COLOR=1 pidq query -n '[1]'", "pidq query -n -M '[1]'", "pidq query -n '[1]' | cat"] {
        let shown = on_terminal(&plain.replace("pidq", env!("CARGO_BIN_EXE_pidq"))).expect("there is a terminal");
        assert!(shown.contains("[") && !shown.contains('\x1b'), "{plain}: {shown:?}");
    }
    let empty =
        on_terminal(&"NO_COLOR= pidq query -n '[1]'".replace("pidq", env!("CARGO_BIN_EXE_pidq"))).expect("a terminal");
    assert!(empty.contains('\x1b'), "an empty NO_COLOR does not count");
}

#[test]
fn a_repl_completes_keeps_history_and_continues_after_errors() {
    let folder = test_dir("prompt");
    write_file(&folder, "plant.json", r#"{"nodes": [{"tag": "P-101"}, {"tag": "V-7"}]}"#);
    let command = format!("{} repl plant.json", env!("CARGO_BIN_EXE_pidq"));
    let steps = [
        ("pidq> ", ".no\t | siz\t)\r"),
        ("\x1b[0;39m2\x1b[0m", "map(\r.tag)\r"),
        ("PQ2001", "nope()\r"),
        ("Unknown function 'nope'", ":load none.json\r"),
        ("no such file `none.json`", ":quit\r"),
    ];
    if run_on_terminal(&command, &steps, &folder).is_none() {
        return;
    }
    let history = fs::read_to_string(folder.join(".local/state/pidq/history")).expect("there is a history");
    assert!(history.contains(".nodes | size()"), "{history}");
    // Five lines up is the first line of the other session; one of them has two lines.
    let up = "\x1b[A".repeat(6) + "\r";
    let steps = [("pidq> ", &*up), ("\x1b[0;39m2\x1b[0m", ":quit\r")];
    run_on_terminal(&command, &steps, &folder).expect("there is a terminal");
}

#[test]
fn a_repl_reads_series_of_documents_and_tables() {
    let directory = tempfile::tempdir().expect("a directory");
    for (name, text, expected) in [
        ("log.ndjson", "{\"a\":1}\n{\"a\":2}\n", "2\n"),
        ("table.csv", "a\n1\n", "1\n"),
        ("one.json", "[1, 2, 3]", "3\n"),
    ] {
        let path = directory.path().join(name);
        fs::write(&path, text).expect("it is written");
        check(&["repl", path.to_str().expect("a path")], "size()\n", expected, 0);
    }
    let path = directory.path().join("broken.json");
    fs::write(&path, "{\"a\": [1}").expect("it is written");
    check_error(&["repl", path.to_str().expect("a path")], "", "PQ5001", 2);
    fs::write(&path, "{\"a\":1}\n{\"a\":2\n").expect("it is written");
    check_error(&["repl", path.to_str().expect("a path")], "", "broken.json:3:1", 2);
}

#[test]
fn strings_after_args_may_begin_with_a_hyphen() {
    check(&["query", "-n", "-c", "$ARGS.positional", "--args=-x", "--args=--y"], "", "[\"-x\",\"--y\"]\n", 0);
    check_error(&["query", "-n", "$ARGS.positional", "--args", "--", "-x"], "", "`--args=-x` adds a string", 2);
}

#[test]
fn arguments_of_another_command_or_misspelled_ones_are_explained() {
    check_error(&["query", "--cvs", "."], "", "did you mean `--csv`?", 2);
    check_error(&["check", ".a", "plant.json"], "", "pidq check QUERY --against plant.json", 2);
    check_error(&["fmt", "map( .a )"], "", "a query is read from standard input", 2);
    check_error(&["fmt", "no-such-file"], "", "no such file", 2);
}

#[test]
fn a_repl_reads_a_pipe_too() {
    check(&["repl", PLANT], ".pid_graph.nodes | size()\n", "120\n", 0);
    check(&["repl", PLANT], "(.pid_graph.nodes\n| size(\n))", "120\n", 0);
    check_error(&["repl", PLANT], ".pid_graph.nodes | size(\n", "PQ0", 0);
    check(&["repl", PLANT], ".pid_graph.nodes | size()\n$last + 1\n$last + 1\n", "120\n121\n122\n", 0);
    check_error(&["repl", PLANT], "$last\n", "Unknown variable '$last'", 0);
    check_error(&["repl", PLANT], ":set limits fuel=1\n.pid_graph.nodes | size()\n", "fuel", 0);
    check_error(&["repl", PLANT], ":set limits fast\n", "expected NAME=AMOUNT", 0);
    for (line, shown) in
        [(":help groupBy", "groupBy("), (":functions off-page", "joinSheets("), (":explain 1 + 1", "milliseconds")]
    {
        let output = pidq(&["repl", PLANT], line);
        assert!(String::from_utf8_lossy(&output.stdout).contains(shown), "{line}: {output:?}");
    }
}

/// Runs the lines of `--help` that begin with `pidq`, for every subcommand.
#[test]
fn every_example_of_the_help_works() {
    let folder = test_dir("help");
    fs::copy(PLANT, folder.join("plant.json")).expect("the drawing is there");
    for name in ["unit-1.json", "unit-2.json", "drawings/a.json"] {
        write_file(&folder, name, &fs::read_to_string(PLANT).expect("the drawing"));
    }
    write_file(&folder, "valves.pidq", ".a | map(.b)\n");
    write_file(&folder, "events.ndjson", "{\"message\":\"started\"}\n{\"message\":\"stopped\"}\n");
    write_file(&folder, "pumps.csv", "tag,kw\nP-101,15\nP-102,7.5\n");
    let commands =
        ["", "query", "fmt", "check", "explain", "functions", "repl", "conformance-stdio", "completions", "man"];
    for command in commands {
        let args: Vec<&str> = [command, "--help"].into_iter().filter(|arg| !arg.is_empty()).collect();
        let help = String::from_utf8_lossy(&pidq(&args, "").stdout).into_owned();
        let examples = help.split_once("Examples:\n").map(|(_, examples)| examples).unwrap_or_default();
        let examples: Vec<&str> = examples.lines().take_while(|line| line.starts_with("  ")).map(str::trim).collect();
        assert!(!examples.is_empty(), "`{command}` has an example");
        for example in examples.iter().filter(|example| !example.starts_with("curl")) {
            let output = shell(example, &folder);
            assert!(output.status.success(), "{example}: {}", String::from_utf8_lossy(&output.stderr));
        }
    }
}

#[test]
fn completions_and_man_pages_exist_for_every_shell_and_subcommand() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh", "nushell"] {
        let script = pidq(&["completions", shell], "").stdout;
        assert!(String::from_utf8_lossy(&script).contains("conformance-stdio"), "{shell}");
    }
    for page in ["query", "fmt", "check", "explain", "functions", "repl", "conformance-stdio", "completions", "man"] {
        let output = pidq(&["man", page], "");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.contains(".SH SYNOPSIS") && text.contains("Examples"), "{page}: {text}");
    }
    check_error(&["man", "nope"], "", "no subcommand `nope`", 2);
    check_error(&["man", "query-nope"], "", "no subcommand `query-nope`", 2);
}

#[test]
fn all_files_of_a_directory_are_queried_in_order() {
    let folder = test_dir("all");
    for at in 0..30 {
        write_file(&folder, &format!("d/{at:02}/plant.json"), &format!("{{\n \"n\": [{at}.0, {at}]\n}}"));
    }
    write_file(&folder, "d/readme.txt", "not queried");
    let expected: String =
        (0..30).map(|at| format!("{{\"file\":\"d/{at:02}/plant.json\",\"result\":[{at}.0,{at}]}}\n")).collect();
    for threads in ["1", "2", "7", "64"] {
        check_shell(&format!("pidq query --all d --threads {threads} .n"), &folder, &expected);
    }
    check_shell(
        "pidq query --all d -S '{b: .n.0, a: 1}' | head -1",
        &folder,
        "{\"file\":\"d/00/plant.json\",\"result\":{\"a\":1,\"b\":0.0}}\n",
    );
    check_error(&["query", "--all", "d", "--threads", "0", ".n"], "", "0 is not in 1..=64", 2);
    check_error(&["query", "--threads", "2", ".n"], "", "--all", 2);
}

/// Compresses with gzip.
fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text).and_then(|()| encoder.finish()).expect("memory")
}

/// Compresses with Zstandard, with a checksum.
fn zstd(text: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(text, ruzstd::encoding::CompressionLevel::Fastest)
}

#[test]
fn compressed_files_are_queried_by_their_contents() {
    let folder = test_dir("all-packed");
    let write = |name: &str, bytes: Vec<u8>| fs::write(folder.join(name), bytes).expect("a file");
    write_file(&folder, "d/1.json", "{\"a\": 1.0}");
    write("d/2.json.gz", gzip(b"{\"a\": 2.0}"));
    write("d/3.json.zst", zstd(b"{\"a\": 3.0}"));
    for other in ["d/4.gz", "d/5.zst", "d/json.gz", "d/6.json.br", "d/7.jsonx.gz"] {
        write_file(&folder, other, "not queried");
    }
    let row = |name: &str, a: &str| format!("{{\"file\":\"d/{name}\",\"result\":{a}}}\n");
    let expected = row("1.json", "1.0") + &row("2.json.gz", "2.0") + &row("3.json.zst", "3.0");
    check_shell("pidq query --all d .a", &folder, &expected);
    check_shell("pidq query .a d/1.json d/2.json.gz d/3.json.zst", &folder, "1.0\n2.0\n3.0\n");
    check_shell("pidq query -c -s 'map(.a)' d/2.json.gz d/1.json", &folder, "[2.0,1.0]\n");

    // The contents count, whatever the name is.
    write("d.data", gzip(b"{\"a\": 4.0}"));
    write("d.ndjson", zstd(b"{\"a\": 5.0}\n{\"a\": 6.0}"));
    check_shell("pidq query .a d.data d.ndjson", &folder, "4.0\n5.0\n6.0\n");
    check_shell("pidq query -c -s 'map(.a)' d.data d.ndjson", &folder, "[4.0,5.0,6.0]\n");

    fs::create_dir(folder.join("e")).expect("a folder");
    write("e/cut.json.gz", gzip(b"{\"a\": 2.0}")[..9].to_vec());
    write("e/cut.json.zst", zstd(b"{\"a\": 2.0}")[..14].to_vec());
    write_file(&folder, "e/plain.json.zst", "{}");
    let output = shell("pidq query --all e .a", &folder);
    assert_eq!(output.status.code(), Some(2));
    let rows = String::from_utf8_lossy(&output.stdout).into_owned();
    for (row, name) in rows.lines().zip(["e/cut.json.gz", "e/cut.json.zst", "e/plain.json.zst"]) {
        assert!(row.contains(&format!("cannot decompress `{name}`: ")), "{row}");
    }
    assert_eq!(rows.lines().count(), 3, "{rows}");
    assert!(rows.contains("it is not compressed") && rows.contains("it is cut off"), "{rows}");
}

#[cfg(unix)]
#[test]
fn an_invalid_file_of_a_directory_is_a_row() {
    let folder = test_dir("all-bad");
    write_file(&folder, "d/1.json", "{\"a\":[1]}");
    write_file(&folder, "d/2.json", "{");
    write_file(&folder, "d/3.json", "");
    write_file(&folder, "d/4.json", "{\"a\":1}");
    write_file(&folder, "d/z.json", "{\"a\":[2]}");
    std::os::unix::fs::symlink("../d", folder.join("d/loop")).expect("a link");
    std::os::unix::fs::symlink("nowhere", folder.join("d/gone.json")).expect("a link");
    std::os::unix::fs::symlink("1.json", folder.join("d/link.json")).expect("a link");
    let output = shell("pidq query --all d '.a | sum()'", &folder);
    assert_eq!(output.status.code(), Some(5), "the worst of 0, 2 and 5");
    let rows = String::from_utf8_lossy(&output.stdout).into_owned();
    let rows: Vec<serde_json::Value> =
        rows.lines().map(|row| serde_json::from_str(row).expect("a row is JSON")).collect();
    let shown = |row: &serde_json::Value| match &row["error"] {
        serde_json::Value::Null => format!("{} {}", row["file"], row["result"]),
        error => format!("{} {}", row["file"], error.get("code").unwrap_or(&error["message"])),
    };
    let shown: Vec<String> = rows.iter().map(shown).map(|row| row.replace('"', "")).collect();
    let expected = [
        "d/1.json 1",
        "d/2.json PQ5001",
        "d/3.json PQ5001",
        "d/4.json PQ2001",
        "d/gone.json no such file `d/gone.json`; check the path",
        "d/link.json 1",
        "d/loop a link to an enclosing directory is not followed",
        "d/z.json 2",
    ];
    assert_eq!(shown, expected);
    assert_eq!(shell("rm d/4.json; pidq query --all d '.a'", &folder).status.code(), Some(2));
    assert_eq!(
        shell("rm d/2.json d/3.json d/gone.json d/loop; pidq query -e --all d '.b'", &folder).status.code(),
        Some(1)
    );
    assert_eq!(shell("mkdir e; pidq query -e --all e '.b'", &folder).status.code(), Some(4));
    assert_eq!(shell("pidq query --all d 'nope()'", &folder).status.code(), Some(3));
}
