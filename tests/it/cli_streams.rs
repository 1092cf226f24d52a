//! The command on streams of documents and lines, and the formats of its results.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use crate::cli::{check, check_error, pidq, run_on_terminal, test_dir, write_file};

#[test]
fn documents_follow_one_another() {
    check(&["query", "-c", "."], "1 2\n{\"a\":1}{\"a\":2}[]\"x\"", "1\n2\n{\"a\":1}\n{\"a\":2}\n[]\n\"x\"\n", 0);
    check(&["query", ".a"], "{\"a\":1}\n\n{\"a\":2}\n", "1\n2\n", 0);
    check(&["query", "-c", "-s", "map(.a)"], "{\"a\":1}\n{\"a\":2}\n", "[1,2]\n", 0);
    check(&["query", "."], "\u{1E}1\n\u{1E}2\n", "1\n2\n", 0);
    check(&["query", "-e", "."], "true\nfalse\n", "true\nfalse\n", 1);
}

#[test]
fn files_have_one_or_more_documents() {
    let file = file_of("documents.ndjson", "{\"a\":1}\n{\"a\":2}\n");
    check(&["query", ".a", &file], "", "1\n2\n", 0);
    check(&["query", "-c", "$all", "-n", "--slurpfile", "all", &file], "", "[{\"a\":1},{\"a\":2}]\n", 0);
    check(&["query", "size()", "-n", "--rawfile", "text", &file], "", "", 5);
    check(&["query", "-r", "$text", "-n", "--rawfile", "text", &file], "", "{\"a\":1}\n{\"a\":2}\n\n", 0);
}

#[test]
fn a_warning_is_printed_once_for_all_documents() {
    let shown = String::from_utf8_lossy(&pidq(&["query", ".b"], &"{\"a\":1}\n".repeat(3)).stderr).into_owned();
    assert_eq!(shown.matches("PQW01").count(), 1, "{shown}");
    // A field that another document has is not missing.
    for (documents, warnings) in
        [("{\"a\":1}\n{\"a\":2,\"b\":3}\n", 0), ("{\"a\":2,\"b\":3}\n{\"a\":1}\n", 0), ("{\"a\":1}\n{\"c\":2}\n", 1)]
    {
        let shown = String::from_utf8_lossy(&pidq(&["query", ".b"], documents).stderr).into_owned();
        assert_eq!(shown.matches("PQW01").count(), warnings, "{documents}: {shown}");
    }
}

#[test]
fn a_field_that_no_object_has_is_reported_once() {
    let rows = r#"[{"tag":"a","node":{"kw":1}},{"tag":"b"}]"#;
    // The run reads only the second `.kw`, and the check finds both.
    let shown = String::from_utf8_lossy(&pidq(&["query", "map(if(.tag == 1, .kw, .kw))"], rows).stderr).into_owned();
    assert_eq!(shown.matches("PQW01").count(), 1, "{shown}");
    // The help is that of the check.
    assert!(shown.contains("did you mean `.node.kw`?"), "{shown}");
}

/// Results that the reference gives, too.
#[test]
fn results_of_likely_mistakes_come_with_a_warning() {
    let rows = r#"[{"kw":5,"tag":"a"},{"kw":10,"tag":"b"}]"#;
    for (query, warning) in [
        ("sort(.kw, \"descending\")", "PQW17"),
        ("limit(\"2\")", "PQW18"),
        ("limit(1.5)", "PQW18"),
        ("sum()", "PQW05"),
        ("filter(.kw > \"5\")", "PQW02"),
        ("map(.tag == 5)", "PQW02"),
        ("map(1.2.3)", "PQW07"),
        ("map(format(\"{tag}: {kv}\"))", "no object had a field `kv`"),
        ("map((.kw > 5).tag)", "has no fields"),
        ("map(.kw) | reduce(.result + .item, 0)", "PQW20"),
        ("map(.kw) | scan(.result + .item, 0)", "the first value comes before"),
    ] {
        check_error(&["query", query], rows, warning, 0);
    }
    check_error(&["query", "map(upper(get()))"], r#"["\ud83d\ude00", "\ud83d"]"#, "PQ5004", 2);
    check_error(&["query", "-n", r#"upper("\ud83d")"#], "", "Lone surrogate in string", 3);
    check_error(&["query", "sortBy(.kw)"], rows, "one key: `sort(.a)`", 5);
    for query in [
        "map(format(\"{tag}: {kw}, {.}\"))",
        "map(.kw) | reduce(0, .item)",
        "sort(.kw, \"desc\")",
        "filter(.kw > 5)",
        "filter(.kw > 50)",
        "map(.kw) | sum()",
        "map(1.2)",
        "limit(0)",
    ] {
        let output = pidq(&["query", query], rows);
        assert!(output.stderr.is_empty(), "{query}: {output:?}");
    }
}

#[test]
fn a_malformed_document_ends_its_input_and_is_shown() {
    let message = "error[PQ5001]: The input is not JSON: expected a value, not `]`\n  --> <stdin>:2:6\n  | [20,]\n  \
                   |     ^\n";
    let output = pidq(&["query", "-c", "."], "1\n [20,]\n3\n");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "1\n");
    assert!(String::from_utf8_lossy(&output.stderr).starts_with(message), "{output:?}");
    assert_eq!(output.status.code(), Some(2));
    let file = file_of("malformed.json", "{\"a\":\n  [1 2]}\n");
    check_error(&["query", ".", &file], "", ":2:6\n  |   [1 2]}\n  |      ^\n", 2);
    check_error(&["list", "lines", &file], "", ":2:6\n  |   [1 2]}\n  |      ^\n", 2);
    check_error(&["query", "."], "[1", "expected `,` or `]`, not the end of the input\n  --> <stdin>:1:3\n", 2);
}

#[test]
fn a_long_line_is_shown_around_the_error() {
    let zeros = "0, ".repeat(1000);
    let output = pidq(&["query", "."], &format!("[{zeros}x, {zeros}]"));
    let shown = String::from_utf8_lossy(&output.stderr).into_owned();
    let lines: Vec<&str> = shown.lines().collect();
    let caret = lines[3].find('^').expect("a caret");
    assert_eq!(lines[2].as_bytes()[caret], b'x', "{shown}");
    assert!(lines[2].len() < 100, "{shown}");
}

#[test]
fn a_byte_order_mark_is_read_over() {
    check(&["query", ".a"], "\u{FEFF}{\"a\":1}", "1\n", 0);
    let file = file_of("mark.json", "\u{FEFF}{\"a\":1}");
    check(&["query", ".a", &file], "", "1\n", 0);
    let query = file_of("mark.jq", "\u{FEFF}.a");
    check(&["query", "-f", &query, &file], "", "1\n", 0);
}

#[test]
fn results_come_before_the_input_ends() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pidq"));
    command.args(["query", ".a"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("the command starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    for number in 1..4 {
        // The start of the next document is there already.
        stdin.write_all(format!("{{\"a\":{number}}}\n{{").as_bytes()).expect("it reads");
        assert_eq!(lines.next().expect("a line").expect("text"), number.to_string());
        stdin.write_all(b"\"b\":0}\n").expect("it reads");
        assert_eq!(lines.next().expect("a line").expect("text"), "null");
    }
    drop(stdin);
    assert!(child.wait().expect("it ends").success());
}

#[test]
fn lines_are_strings() {
    check(
        &["query", "-R", "-c", "{line: .}"],
        "a\nb \"c\"\r\n\nd",
        "{\"line\":\"a\"}\n{\"line\":\"b \\\"c\\\"\"}\n{\"line\":\"\"}\n{\"line\":\"d\"}\n",
        0,
    );
    check(&["query", "-R", "-s", "."], "a\nb\n", "\"a\\nb\\n\"\n", 0);
    check(&["query", "-R", "."], "", "", 0);
}

#[test]
fn lists_are_printed_as_lines() {
    check(&["query", "-l", "."], "[1, \"x\", {\"a\": [2]}]", "1\n\"x\"\n{\"a\":[2]}\n", 0);
    check(&["query", "-lr", "."], "[\"x\", \"y\"] \"z\"", "x\ny\nz\n", 0);
    check(&["query", "--lines", "."], "[]", "", 0);
}

#[test]
fn lists_are_printed_as_tables() {
    let rows = r#"[{"a":1,"b":"x,\"y\""},{"a":null,"c":[1,{"d":2}]}]"#;
    check(&["query", "--csv", "."], rows, "a,b,c\n1,\"x,\"\"y\"\"\",\n,,\"[1,{\"\"d\"\":2}]\"\n", 0);
    check(&["query", "--tsv", "."], r#"[[1,"a\tb\\"],["c\nd",true,null]]"#, "1\ta\\tb\\\\\nc\\nd\ttrue\t\n", 0);
    check(&["query", "--csv", "."], "[1,\"x\"] 2", "1\nx\n2\n", 0);
    check(&["query", "--csv", "."], "[]", "", 0);
}

#[test]
fn texts_of_tables_are_written_and_read_as_they_are() {
    let texts = r#"["=1+1", "-", "+49", "@ana", "'-5"]"#;
    check(&["query", "--csv", "."], texts, "=1+1\n-\n+49\n@ana\n'-5\n", 0);
    check(&["query", "--tsv", "[.]"], texts, "=1+1\t-\t+49\t@ana\t'-5\n", 0);
    check(&["query", "--from", "csv", "-c", ".a"], "a\n'-5\n", "\"'-5\"\n", 0);
    check(
        &["query", "--csv", "--guard-formulas", "."],
        "[{\"tag\":\"=1+1\"}, {\"tag\":\"a=b\"}]",
        "tag\n'=1+1\na=b\n",
        0,
    );
}

#[test]
fn a_result_without_a_line_is_no_output() {
    for (options, input, status) in
        [("-el", "[]", 4), ("-el", "[1, false]", 1), ("-el", "[false, 1] []", 0), ("-e", "[]", 0), ("-el", "null", 1)]
    {
        let output = pidq(&["query", options, "."], input);
        assert_eq!(output.status.code(), Some(status), "{options} {input}");
    }
    assert_eq!(pidq(&["query", "-e", "--csv", "."], "[]").status.code(), Some(4));
}

/// Results that are seldom meant, with what to write instead.
#[test]
fn an_aggregate_of_what_is_no_number_is_reported() {
    for (query, input, message) in [
        ("min()", "[null, 5]", "counts an item that is null as 0"),
        ("map(.a) | average()", r#"[{"a": 1}, {}]"#, "counts an item that is null as 0"),
        ("map(prod())", "[[null, 2], [1]]", "counts an item that is null as 0"),
        ("max()", r#"["2026-01-02", "2026-01-01"]"#, "`sort() | last()`"),
        ("min()", r#"[1, "n/a"]"#, "`sort() | first()`"),
        ("prod()", r#"[1, "n/a", null]"#, "takes numbers"),
        ("sum()", r#"[1, "n/a", 3]"#, "joins its items as texts"),
        ("average()", r#"["1", "2"]"#, "joins its items as texts"),
        ("sum()", r#"[1, [2]]"#, "an item is an array or an object"),
        ("max()", r#"[1, {"a": 2}]"#, "an item is an array or an object"),
    ] {
        check_error(&["query", query], input, message, 0);
    }
    for (query, input) in [
        ("sum()", "[1, null, true]"),
        ("max()", r#"["1", "2.5", true]"#),
        ("min()", "[null]"),
        ("max()", r#"["a"]"#),
        ("average()", "[1, 2]"),
        ("map(get() * 2) | max()", "[1, 2]"),
        ("max()", "[]"),
    ] {
        let output = pidq(&["query", query], input);
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{query} {input}");
    }
}

#[test]
fn tables_and_parameters_are_read_by_name() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("customers.csv");
    std::fs::write(&path, "id,name\n1,Ana\n").expect("it is written");
    let path = path.to_str().expect("a path");
    check(&["query", "-nc", "--slurpfile", "c", path, "$c"], "", "[{\"id\":1,\"name\":\"Ana\"}]\n", 0);
    let output = pidq(&["query", "-nc", "--arg", "x", "1", "$ARGS.named"], "");
    assert_eq!((&*output.stdout, &*output.stderr), (&b"{\"x\":\"1\"}\n"[..], &b""[..]));
    check_error(&["query", "-n", "--arg", "x", "1", "2"], "", "PQW15", 0);
}

#[test]
fn the_rows_of_several_results_have_one_header() {
    check(&["query", "--csv", "{a: .a, b: .b}"], "{\"a\":1,\"b\":2}\n{\"b\":4,\"a\":3}\n", "a,b\n1,2\n3,4\n", 0);
    let output = pidq(&["query", "--csv", "."], "{\"a\":1}\n{\"a\":2,\"b\":3}\n{\"b\":4}\n");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "a\n1\n2\n\"\"\n");
    let shown = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(shown.matches("warning: a result has the field `b`, which the header lacks").count(), 1, "{shown}");
}

#[test]
fn strings_are_printed_in_every_form_of_jq() {
    check(&["query", "-j", "."], "\"a\" [1] \"b\"", "a[\n  1\n]b", 0);
    check(&["query", "--raw-output0", "."], "\"a\\nb\" \"c\"", "a\nb\0c\0", 0);
    check_error(&["query", "--raw-output0", "."], "\"a\\u0000b\"", "NUL", 2);
    check(&["query", "-a", "-c", "."], "{\"é\":\"😀\"}", "{\"\\u00e9\":\"\\ud83d\\ude00\"}\n", 0);
    check(&["query", "--seq", "."], "1 2", "\u{1E}1\n\u{1E}2\n", 0);
    check(&["query", "--unbuffered", "."], "1 2", "1\n2\n", 0);
}

#[test]
fn arguments_and_the_environment_are_parameters() {
    let query = "[$ARGS.positional, $ARGS.named, $x]";
    check(
        &["query", "-nc", query, "--arg", "x", "1", "--args", "a", "b"],
        "",
        "[[\"a\",\"b\"],{\"x\":\"1\"},\"1\"]\n",
        0,
    );
    check(&["query", "-nc", "--args", "$ARGS.positional", "a"], "", "[\"a\"]\n", 0);
    check(&["query", "-nc", "--jsonargs", "$ARGS.positional", "1", "{\"a\":[]}"], "", "[1,{\"a\":[]}]\n", 0);
    check_error(&["query", "-nc", "$ARGS", "--jsonargs", "{\"a\":"], "", "--> --jsonargs:1:6\n  | {\"a\":\n", 2);
    check_error(&["query", "-nc", "$ARGS", "--jsonargs", "a.json"], "", "files come before it", 2);
    check(&["query", "-n", "$ENV.CARGO_PKG_NAME"], "", "\"pidq\"\n", 0);
    check(&["query", "-n", "--arg", "ENV", "mine", "$ENV"], "", "\"mine\"\n", 0);
}

#[test]
fn colors_follow_jq_colors() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pidq"));
    let output =
        command.args(["query", "-C", "-c", "-n", "[null]"]).env("JQ_COLORS", "0;31").output().expect("it runs");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "\x1b[1;39m[\x1b[0m\x1b[0;31mnull\x1b[0m\x1b[1;39m]\x1b[0m\n");
}

#[test]
fn events_have_the_paths_of_their_values() {
    let text = "{\"a\":[1,{}],\"é\":null} 2\n";
    let events = "[[\"a\",0],1]\n[[\"a\",1],{}]\n[[\"a\",1]]\n[[\"é\"],null]\n[[\"é\"]]\n[[],2]\n";
    check(&["query", "-c", "--stream", "."], text, events, 0);
    check(&["query", "-c", "--stream", "-s", "size()"], text, "6\n", 0);
    let file = file_of("events.json", text);
    check(&["query", "--stream", "if(size() == 2, get(1), null)", &file], "", "1\n{}\nnull\nnull\nnull\n2\n", 0);
    check(&["query", "-c", "--stream", "."], "[1]\n[2,]\n[3]\n", "[[0],1]\n[[0]]\n", 2);
    check_error(&["query", "--stream", "."], "[1]\n[2,]\n", "--> <stdin>:2:4", 2);
}

#[test]
fn default_options_come_from_a_file() {
    let folder = test_dir("options");
    let run = |options: &str, args: &[&str]| {
        let file = write_file(&folder, "options", options);
        let mut command = Command::new(env!("CARGO_BIN_EXE_pidq"));
        command.args(args).env("PIDQ_OPTIONS", file).output().expect("it runs")
    };
    let check = |options: &str, args: &[&str], expected: &str| {
        let output = run(options, args);
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{options:?} {args:?} {output:?}");
    };
    let (options, query) = ("# defaults\nquery --sort-keys\nquery --indent 1\n", "{b: 1, a: [2]}");
    check(options, &["query", "-n", query], "{\n \"a\": [\n  2\n ],\n \"b\": 1\n}\n");
    check(options, &["query", "-n", "-c", query], "{\"a\":[2],\"b\":1}\n");
    check(options, &["query", "-n", "--indent", "0", query], "{\"a\":[2],\"b\":1}\n");
    check("functions --sort-keys", &["query", "-n", "-c", "[1]"], "[1]\n");
    for (options, message) in [
        ("\nquery --sortkeys", "line 2 of `"),
        ("query", "is not a subcommand with one option"),
        ("query --indent many", "has no valid option"),
    ] {
        let output = run(options, &["query", "-n", "1"]);
        assert!(String::from_utf8_lossy(&output.stderr).contains(message), "{options:?} {output:?}");
        assert_eq!(output.status.code(), Some(2), "{options:?}");
    }
}

#[test]
fn a_file_of_default_options_that_is_named_must_exist() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pidq"));
    let output = command.args(["query", "-n", "1"]).env("PIDQ_OPTIONS", "missing/options").output().expect("it runs");
    assert!(String::from_utf8_lossy(&output.stderr).contains("no such file `missing/options`"), "{output:?}");
    assert_eq!(output.status.code(), Some(2));
}

#[cfg(unix)]
#[test]
fn long_results_on_a_terminal_go_to_the_pager() {
    let folder = test_dir("pager");
    write_file(&folder, "list.json", &format!("[{}1]", "1,".repeat(40)));
    let on_terminal = |options: &str, file: &str| {
        let line = format!("PAGER='wc -l' '{}' query {options} {file}; echo exit $?", env!("CARGO_BIN_EXE_pidq"));
        run_on_terminal(&line, &[], &folder).map(|seen| seen.replace('\r', ""))
    };
    let Some(seen) = on_terminal(".", "list.json") else { return };
    assert_eq!(seen, "43\nexit 0\n");
    for (options, file) in
        [("-c .", "list.json"), ("--no-pager .", "list.json"), ("--unbuffered .", "list.json"), (".", "< list.json")]
    {
        let seen = on_terminal(options, file).expect("a terminal");
        assert!(seen.contains('[') && seen.ends_with("exit 0\n"), "{options}: {seen}");
    }
    let seen = on_terminal("-e 'map(null) | get(99)'", "list.json").expect("a terminal");
    assert!(seen.ends_with("exit 1\n"), "{seen}");
    write_file(&folder, "bad.json", "[1,");
    let seen = on_terminal(".", "list.json bad.json").expect("a terminal");
    assert!(seen.contains("PQ5001") && seen.ends_with("exit 2\n"), "{seen}");
    assert!(seen.find('1') < seen.find("PQ5001"), "{seen}");
}

#[cfg(unix)]
#[test]
fn a_prompt_continues_after_the_pager() {
    let folder = test_dir("prompt-pager");
    write_file(&folder, "list.json", &format!("[{}1]", "1,".repeat(40)));
    let line = format!("PAGER='echo first pager' '{}' repl list.json", env!("CARGO_BIN_EXE_pidq"));
    // Input that is typed before the next prompt may be lost.
    let prompt_after = |text: &str| format!("{text}\r\n\x1b[?2004h\x1b[?2026h\r\x1b[Kpidq> ");
    let steps = [
        ("pidq> ".into(), "get()\r"),
        (prompt_after("\nfirst pager"), ":set pager echo second pager\r"),
        (prompt_after("\x1b[?2004l"), "get()\r"),
        (prompt_after("\nsecond pager"), ":set pager missing-pager\r"),
        (prompt_after("\x1b[?2004l"), "map(7)\r"),
        (prompt_after("  \x1b[0;39m7\x1b[0m\r\n\x1b[1;39m]\x1b[0m"), ":set pager off\r"),
        (prompt_after("\x1b[?2004l"), "map(8)\r"),
        (prompt_after("  \x1b[0;39m8\x1b[0m\r\n\x1b[1;39m]\x1b[0m"), ":quit\r"),
    ];
    let steps: Vec<(&str, &str)> = steps.iter().map(|(awaited, input)| (&**awaited, *input)).collect();
    run_on_terminal(&line, &steps, &folder);
}

#[test]
fn files_of_text_are_explained() {
    let folder = test_dir("text-files");
    write_file(&folder, "server.log", "started");
    check_error(&["query", ".", &folder.join("server.log").to_string_lossy()], "", "`-R` reads each line", 2);
    let table = write_file(&folder, "pumps.csv", "tag,kw\nP-1,15\n");
    check_error(&["explain", ".", &table], "", "`pidq query` reads each row of a table", 2);
}

#[test]
fn the_rows_of_a_table_are_objects() {
    let table = "tag,kw,note\nP-1,15.0,\"a, \"\"b\"\"\"\nP-2,,007\n";
    let objects =
        "{\"tag\":\"P-1\",\"kw\":15.0,\"note\":\"a, \\\"b\\\"\"}\n{\"tag\":\"P-2\",\"kw\":null,\"note\":\"007\"}\n";
    check(&["query", "-c", "--from", "csv", "."], table, objects, 0);
    check(&["query", "--from", "csv", "--csv", "."], table, table, 0);
    check(&["query", "-c", "--from", "tsv", "."], "a\tb\n1\t\"x\\ty\n", "{\"a\":1,\"b\":\"\\\"x\\ty\"}\n", 0);
    check(&["query", "--from", "csv", "-s", "-l", "filter(.kw > 10) | map(.tag)"], table, "\"P-1\"\n", 0);
    let file = file_of("rows.CSV", table);
    check(&["query", "-c", ".", &file], "", objects, 0);
    check(&["query", "-r", ".tag", &file, &file_of("more.tsv", "tag\nP-3\n")], "", "P-1\nP-2\nP-3\n", 0);
    check_error(&["query", ".", "--from", "json", &file], "", "PQ5001", 2);
}

#[test]
fn a_malformed_row_is_named_by_its_line() {
    let table = "a,b\n1,2,3\n4,5\n";
    check_error(&["query", "--from", "csv", "."], table, "line 2 of `<stdin>` has 3 cells, but the first row has 2", 2);
    assert_eq!(String::from_utf8_lossy(&pidq(&["query", "--from", "csv", ".b"], table).stdout), "5\n");
    check_error(&["query", "--from", "csv", "."], "a\n\n\"1\n2\n", "line 3 of `<stdin>` has a cell whose quotes", 2);
}

#[test]
fn rows_are_answered_as_they_come() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_pidq"))
        .args(["query", "-c", "--from", "csv", "."])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("pidq starts");
    let (mut stdin, stdout) = (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
    let mut answers = BufReader::new(stdout).lines();
    for row in ["a,b\r\n1,x\r\n", "2,\"y\nz\"\r\n", "3,\n"] {
        stdin.write_all(row.as_bytes()).expect("it reads");
        let answer = answers.next().expect("an answer").expect("UTF-8");
        let digit = row.chars().find(char::is_ascii_digit).expect("a digit");
        assert!(answer.starts_with(&format!("{{\"a\":{digit},")), "{answer}");
    }
    drop(stdin);
    assert!(child.wait().expect("it ends").success());
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_query_of_the_prompt_and_not_the_prompt() {
    let folder = test_dir("interrupted-query");
    let line = format!("'{}' repl", env!("CARGO_BIN_EXE_pidq"));
    let long = ":set limits fuel=100G,rows=1G,time=20s\r";
    let query = "range(100000) | map(range(100000) | sum()) | size()\r";
    // The line has been read: the terminal turns Ctrl-C into a signal.
    let prompt_left = "\x1b[?2004l";
    // The prompt reads keys: what is typed before may be lost with the line that Ctrl-C ends.
    let prompt = "\r\n\x1b[?2004h\x1b[?2026h\r\x1b[Kpidq> ";
    let steps = [
        ("pidq> ", long),
        (prompt, query),
        (prompt_left, "\x03"),
        (prompt, "40 + 2\r"),
        (prompt, "\x03"),
        ("pidq> ", "40 + 3\r"),
        ("43", ":quit\r"),
    ];
    let Some(seen) = run_on_terminal(&line, &steps, &folder) else { return };
    assert!(seen.contains("PQ4008") && seen.contains("42"), "{seen}");
}

#[cfg(unix)]
#[test]
fn ctrl_c_in_the_pager_does_not_end_the_prompt() {
    let folder = test_dir("interrupted-pager");
    write_file(&folder, "list.json", &format!("[{}1]", "1,".repeat(40)));
    write_file(&folder, "pager", "#!/bin/sh\ntrap 'echo interrupted; exit 0' INT\necho waiting\nsleep 30 &\nwait\n");
    let line = format!("PAGER='sh ./pager' '{}' repl list.json", env!("CARGO_BIN_EXE_pidq"));
    let prompt = "interrupted\r\n\x1b[?2004h\x1b[?2026h\r\x1b[Kpidq> ";
    let steps = [("pidq> ", "get()\r"), ("waiting", "\x03"), (prompt, "40 + 2\r"), ("42", ":quit\r")];
    run_on_terminal(&line, &steps, &folder);
}

#[cfg(unix)]
#[test]
fn progress_is_shown_on_a_terminal() {
    let folder = test_dir("progress");
    for name in ["a.json", "b.json"] {
        write_file(&folder, name, "1");
    }
    let line = |output: &str| format!("'{}' query --all . . {output}", env!("CARGO_BIN_EXE_pidq"));
    let Some(seen) = run_on_terminal(&line("> rows"), &[], &folder) else { return };
    assert!(seen.contains("2/2"), "{seen}");
    let seen = run_on_terminal(&line(""), &[], &folder).expect("a terminal");
    assert!(!seen.contains("2/2") && seen.contains("\"result\":1"), "{seen}");
    assert_eq!(pidq(&["query", "--all", &folder.to_string_lossy(), "."], "").stderr, b"");
}

/// The default limit of the memory is below what the operating system grants.
#[cfg(target_os = "linux")]
#[test]
fn a_run_that_needs_too_much_memory_fails_with_a_code() {
    let query = format!("get(){}", " | [get(), get()] | flatten()".repeat(40));
    let mut command = Command::new("bash");
    command.args(["-c", "ulimit -v 1048576; echo '[1,2,3]' | \"$0\" query \"$1\"", env!("CARGO_BIN_EXE_pidq"), &query]);
    let output = command.output().expect("bash runs");
    assert!(String::from_utf8_lossy(&output.stderr).contains("error[PQ4007]"), "{output:?}");
    assert_eq!(output.status.code(), Some(5), "{output:?}");
}

fn file_of(name: &str, text: &str) -> String {
    write_file(&test_dir(&format!("streams-{name}")), name, text)
}

#[test]
fn the_format_of_tables_can_be_given() {
    let plain = "n|zip\n1|01234\n2|5\n";
    check(
        &["query", "-c", "--from", "csv", "--delimiter", "|", "."],
        plain,
        "{\"n\":1,\"zip\":\"01234\"}\n{\"n\":2,\"zip\":5}\n",
        0,
    );
    check(
        &["query", "-c", "--from", "csv", "--delimiter", "|", "--text-cells", ".zip"],
        plain,
        "\"01234\"\n\"5\"\n",
        0,
    );
    check(
        &["query", "--from", "csv", "--no-input-header", "--csv", "--no-output-header", "."],
        "1,2\n3,4\n",
        "1,2\n3,4\n",
        0,
    );
    check(&["query", "-c", "--from", "csv", "--no-input-header", "."], "1,2\n", "{\"column_1\":1,\"column_2\":2}\n", 0);
    check(&["query", "--csv", "--no-output-header", "."], "{\"a\":1}\n[{\"a\":2}]\n", "1\n2\n", 0);
    check(&["query", "--csv", "--output-delimiter", ";", "."], "[{\"a\":1.5,\"b\":\"x;y\"}]", "a;b\n1.5;\"x;y\"\n", 0);
    check_error(&["query", "--output-delimiter", ";", "."], "1", "--csv", 2);
    check_error(
        &["query", "--delimiter", ";", "--csv", "."],
        "[{\"a\":1}]",
        "`--output-delimiter` separates printed cells",
        0,
    );
    check_error(&["query", "--delimiter", "ab", "."], "", "one ASCII character is expected", 2);
    check_error(&["query", "--delimiter", "\"", "."], "", "cannot separate cells", 2);
}

#[test]
fn results_that_do_not_fit_a_table_are_reported() {
    for (query, input, message) in [
        (".", "{\"a\":1}\n{\"b\":2}\n", "warning: a result has the field `b`, which the header lacks"),
        (".", "{\"a\":1}\n[5]\n", "warning: a result is no object"),
        ("[{a: 1}, 2]", "null", "warning: a list has objects and other values"),
    ] {
        check_error(&["query", "--csv", query], input, message, 0);
    }
    for (query, input) in [(".", "{\"a\":1}\n{\"a\":2}\n{}\nnull\n"), ("[[1], [2]]", "null"), ("[1, 2]", "null")] {
        let output = pidq(&["query", "--csv", query], input);
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{query} {input}");
    }
}
