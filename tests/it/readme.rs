//! What the README says works: every command in it is run.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Commands of other tests and of people: they build in release, install, or take minutes.
/// The service and the package for Python have tests of their own.
const LEFT_OUT: [&str; 8] = [
    "make test",
    "make compare",
    "cargo install",
    "pidq repl",
    "pidq serve",
    "curl",
    "pidq-ffi/install.sh",
    "pip install",
];

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The blocks of a language.
fn blocks<'t>(text: &'t str, language: &str) -> Vec<&'t str> {
    let opening = format!("```{language}\n");
    text.split(&opening).skip(1).filter_map(|rest| rest.split("\n```").next()).collect()
}

/// A folder that looks like the root of the project to the commands, so that what they write is not left in it.
fn workplace() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("readme");
    fs::create_dir_all(&folder).expect("a folder for the test");
    for name in ["examples", "scripts"] {
        // Tests run side by side: another one may have made it.
        drop(symlink(Path::new(ROOT).join(name), folder.join(name)));
    }
    folder
}

/// Runs lines of a shell; gives what they print, if they succeed. `cargo run --release --` is the command that is built
/// already.
fn shell(lines: &str) -> (bool, String, String) {
    let commands = Path::new(env!("CARGO_BIN_EXE_pidq")).parent().expect("a folder");
    let path = format!("{}:{}", commands.display(), env!("PATH"));
    let lines = lines.replace("cargo run --release --", "pidq");
    let mut command = Command::new("bash");
    command.args(["-o", "pipefail", "-c", &lines]).current_dir(workplace()).env("PATH", path);
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
        // A command of several lines has a block of its own.
        let is_one = block.starts_with("cargo run");
        let commands: Vec<&str> = if is_one { vec![block] } else { block.lines().collect() };
        for command in commands.iter().filter(|line| !line.is_empty()) {
            if LEFT_OUT.iter().any(|left_out| command.starts_with(left_out)) {
                continue;
            }
            let command = command.replace("make run", "scripts/show.sh");
            let (succeeds, out, err) = shell(&command);
            let is_mistaken = command.contains("fliter");
            // As diff(1): 1 says that there are differences.
            let fails = is_mistaken || command.starts_with("pidq diff");
            assert_eq!(succeeds, !fails, "{command}: {out} {err}");
            assert!(!is_mistaken || err.contains("PQ1001"), "{command}: {err}");
            assert!(!(out.is_empty() && err.is_empty()) || command.contains(" -o "), "{command} says nothing");
            ran += 1;
        }
    }
    assert!(ran > 6, "the commands were found: {ran}");
}

#[test]
fn the_answers_of_the_readme_are_what_is_printed() {
    let readme = readme();
    let commands: Vec<&str> =
        blocks(&readme, "sh").into_iter().filter(|block| block.starts_with("cargo run")).collect();
    let [question, mistake] = commands[..] else { panic!("two commands have an answer: {commands:?}") };
    assert_eq!(shell(question).1.trim_end(), blocks(&readme, "json")[0]);
    assert_eq!(shell(mistake).2.trim_end(), blocks(&readme, "text")[0]);
}

#[test]
fn the_targets_that_the_readme_names_exist() {
    let makefile = fs::read_to_string(Path::new(ROOT).join("Makefile")).expect("there is a Makefile");
    for block in blocks(&readme(), "sh") {
        for target in block.lines().filter_map(|line| line.strip_prefix("make ")?.split(' ').next()) {
            assert!(makefile.contains(&format!("\n{target}: ")), "make {target}");
        }
    }
}

/// The Rust of the README, with the answer that it promises.
#[test]
fn the_program_of_the_readme_prints_what_it_says() {
    use pidq::{Graph, Limits, Query};

    let readme = readme();
    let program = blocks(&readme, "rust")[0];
    let query = program.split("Query::parse(\"").nth(1).and_then(|rest| rest.split("\")?").next()).expect("a query");
    let file = program.split("fs::read(\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a file");
    let graph = Graph::from_json(fs::read(Path::new(ROOT).join(file)).expect("the drawing")).expect("it is JSON");
    let answer = Query::parse(query).and_then(|query| query.to_json(&graph, Limits::default())).expect("it runs");
    assert!(readme.contains(&format!("It prints `{answer}`")), "{answer}");
}
