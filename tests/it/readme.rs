//! Tests of the README: its commands run, and its results are pidq's results.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Commands that this test does not run: they build in release mode, install something, take minutes, or have their own
/// test.
const SKIPPED: [&str; 9] = [
    "make test",
    "make demo",
    "make compare",
    "cargo install",
    "pidq repl",
    "pidq serve",
    "curl",
    "pidq-ffi/install.sh",
    "pip install",
];

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Returns the code blocks of a language.
fn blocks<'t>(text: &'t str, language: &str) -> Vec<&'t str> {
    let opening = format!("```{language}\n");
    text.split(&opening).skip(1).filter_map(|rest| rest.split("\n```").next()).collect()
}

/// Creates a directory that looks like the project root to the commands, so that their output is not left in it.
fn working_copy() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("readme");
    fs::create_dir_all(&folder).expect("a folder for the test");
    for name in ["examples", "scripts"] {
        // Tests run concurrently: another one may have created it.
        drop(symlink(Path::new(ROOT).join(name), folder.join(name)));
    }
    folder
}

/// Runs lines in a shell and returns their success and output. `cargo run --profile quick --` is replaced with the command
/// that is already built.
fn shell(lines: &str) -> (bool, String, String) {
    let commands = Path::new(env!("CARGO_BIN_EXE_pidq")).parent().expect("a folder");
    let path = format!("{}:{}", commands.display(), env!("PATH"));
    let lines = lines.replace("cargo run --profile quick --", "pidq");
    let mut command = Command::new("bash");
    command.args(["-o", "pipefail", "-c", &lines]).current_dir(working_copy()).env("PATH", path);
    command.env("PIDQ", env!("CARGO_BIN_EXE_pidq")).stdin(Stdio::null());
    let output = command.output().expect("bash runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("it is UTF-8");
    (output.status.success(), text(output.stdout), text(output.stderr))
}

fn readme() -> String {
    fs::read_to_string(Path::new(ROOT).join("README.md")).expect("there is a README")
}

#[test]
fn every_command_of_the_readme_works() {
    let readme = readme();
    let mut ran = 0;
    for block in blocks(&readme, "sh") {
        // A command of several lines has its own block.
        let is_multiline = block.starts_with("cargo run");
        let commands: Vec<&str> = if is_multiline { vec![block] } else { block.lines().collect() };
        for command in commands.iter().filter(|line| !line.is_empty()) {
            if SKIPPED.iter().any(|skipped| command.starts_with(skipped)) {
                continue;
            }
            let command = command.replace("make run", "scripts/example_queries.sh");
            let (succeeds, out, err) = shell(&command);
            let is_invalid = command.contains("fliter");
            // As diff(1): 1 means that there are differences.
            let fails = is_invalid || command.starts_with("pidq diff");
            assert_eq!(succeeds, !fails, "{command}: {out} {err}");
            assert!(!is_invalid || err.contains("PQ1001"), "{command}: {err}");
            assert!(!(out.is_empty() && err.is_empty()) || command.contains(" -o "), "{command} prints nothing");
            ran += 1;
        }
    }
    assert!(ran > 6, "the commands were found: {ran}");
}

#[test]
fn the_results_in_the_readme_are_printed() {
    let readme = readme();
    let commands: Vec<&str> =
        blocks(&readme, "sh").into_iter().filter(|block| block.starts_with("cargo run")).collect();
    let [query, invalid] = commands[..] else { panic!("two commands have a result: {commands:?}") };
    assert_eq!(shell(query).1.trim_end(), blocks(&readme, "json")[0]);
    assert_eq!(shell(invalid).2.trim_end(), blocks(&readme, "text")[0]);
}

#[test]
fn make_targets_in_the_readme_exist() {
    let makefile = fs::read_to_string(Path::new(ROOT).join("Makefile")).expect("there is a Makefile");
    for block in blocks(&readme(), "sh") {
        for target in block.lines().filter_map(|line| line.strip_prefix("make ")?.split(' ').next()) {
            assert!(makefile.contains(&format!("\n{target}: ")), "make {target}");
        }
    }
}

/// Runs the Rust program of the README and compares its output.
#[test]
fn the_program_of_the_readme_prints_its_documented_output() {
    use pidq::{Graph, Limits, Query};

    let readme = readme();
    let program = blocks(&readme, "rust")[0];
    let query = program.split("Query::parse(\"").nth(1).and_then(|rest| rest.split("\")?").next()).expect("a query");
    let file = program.split("fs::read(\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a file");
    let graph = Graph::from_json(fs::read(Path::new(ROOT).join(file)).expect("the drawing")).expect("valid JSON");
    let result = Query::parse(query).and_then(|query| query.to_json(&graph, Limits::default())).expect("it runs");
    assert!(readme.contains(&format!("It prints `{result}`")), "{result}");
}

#[test]
fn the_image_of_the_readme_is_up_to_date() {
    let (succeeds, svg, message) = shell(r#"pidq draw examples/data/plant.json --highlight 'isolate("P-101A")'"#);
    assert!(succeeds, "{message}");
    let image = fs::read_to_string(Path::new(ROOT).join("docs/images/isolation.svg")).expect("the image");
    assert!(svg == image, "update it: pidq draw … -o docs/images/isolation.svg");
}
