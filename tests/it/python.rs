//! The Python package as its users get it: a wheel, installed, typed, tested, and used in a notebook.
//!
//! What is fetched stays under the target directory. Without Python or a package index the tests say so and pass.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The interpreters that the package is for.
const PYTHONS: [&str; 6] = ["3.9", "3.10", "3.11", "3.12", "3.13", "3.14"];

/// The built wheel, and an environment with it and everything that the tests need.
struct Workshop {
    wheel: PathBuf,
    python: PathBuf,
}

fn package() -> PathBuf {
    Path::new(ROOT).join("pidq-ffi/python")
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("python")
}

/// Runs a command; gives what it prints if it succeeds, and else says what went wrong.
fn run(command: &mut Command) -> Result<String, String> {
    // A tool of the environment must not find the packages of the machine, nor a library by the variable for developers.
    command.env_remove("PYTHONPATH").env_remove("PIDQ_LIBRARY").env("PYTHONDONTWRITEBYTECODE", "1");
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => Err(format!("{command:?}: {}\n{}\n{}", output.status, text(&output.stdout), text(&output.stderr))),
    }
}

fn done(command: &mut Command) -> String {
    run(command).unwrap_or_else(|problem| panic!("{problem}"))
}

fn workshop() -> Option<&'static Workshop> {
    static WORKSHOP: OnceLock<Option<Workshop>> = OnceLock::new();
    WORKSHOP.get_or_init(|| open_workshop().map_err(|problem| eprintln!("left out: {problem}")).ok()).as_ref()
}

/// The environment is made once and again when its list changes; the wheel is built each time. Only what has to be
/// fetched may be missing: a wheel that does not build is a failure.
fn open_workshop() -> Result<Workshop, String> {
    let place = folder().join("workshop");
    let python = place.join("bin/python");
    let wanted = fs::read_to_string(package().join("requirements-test.txt")).expect("there is a list");
    let known = place.join("requirements.txt");
    if fs::read_to_string(&known).ok().as_ref() != Some(&wanted) {
        run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&place))?;
        let mut pip = Command::new(&python);
        run(pip.args(["-m", "pip", "install", "-q", "-r"]).arg(package().join("requirements-test.txt")))?;
        fs::write(&known, &wanted).expect("the list can be kept");
    }
    let wheel = build_wheel(&place);
    let mut pip = Command::new(&python);
    done(pip.args(["-m", "pip", "install", "-q", "--no-deps", "--no-index", "--force-reinstall"]).arg(&wheel));
    Ok(Workshop { wheel, python })
}

/// The wheel of a debug build, which takes a tenth of the time of the one that people install.
fn build_wheel(place: &Path) -> PathBuf {
    let wheels = folder().join("wheels");
    drop(fs::remove_dir_all(&wheels));
    let mut maturin = Command::new(place.join("bin/maturin"));
    maturin.args(["build", "--profile", "dev", "--auditwheel", "skip", "--out"]).arg(&wheels).current_dir(package());
    // maturin looks for the Python that makes the bindings on the path.
    let path = format!("{}:{}", place.join("bin").display(), std::env::var("PATH").unwrap_or_default());
    done(maturin.env("PATH", path).env("CARGO_TARGET_DIR", target()));
    let entry = fs::read_dir(&wheels).expect("a folder").next().expect("a wheel").expect("an entry");
    entry.path()
}

/// The target directory that this test was built in.
fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("a folder").to_path_buf()
}

/// The blocks of Python of a page.
fn blocks(page: &str) -> String {
    let text = fs::read_to_string(Path::new(ROOT).join(page)).expect("a page");
    let blocks = text.split("```python\n").skip(1).filter_map(|rest| rest.split("```").next());
    blocks.collect::<Vec<_>>().join("\n")
}

/// A fresh environment with the wheel and nothing else.
fn bare(wheel: &Path, interpreter: &Path, name: &str) -> PathBuf {
    let place = folder().join(name);
    done(Command::new(interpreter).args(["-m", "venv", "--clear"]).arg(&place));
    let python = place.join("bin/python");
    done(Command::new(&python).args(["-m", "pip", "install", "-q", "--no-index"]).arg(wheel));
    python
}

/// The interpreters on this machine.
fn interpreters() -> Vec<(String, PathBuf)> {
    let pyenv = std::env::var("HOME").map(|home| Path::new(&home).join(".pyenv/versions")).unwrap_or_default();
    let kept: Vec<PathBuf> =
        fs::read_dir(pyenv).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())).collect();
    let find = |version: &str| {
        let is_this =
            |path: &&PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(version));
        let kept = kept.iter().find(is_this).map(|path| path.join("bin/python"));
        kept.unwrap_or_else(|| PathBuf::from(format!("python{version}")))
    };
    let found = PYTHONS.map(|version| (version.to_owned(), find(&format!("{version}.")))).into_iter();
    found.filter(|(_, python)| run(Command::new(python).args(["-c", "import venv, ensurepip"])).is_ok()).collect()
}

#[test]
fn the_wheel_is_all_that_the_readme_needs() {
    let Some(workshop) = workshop() else { return };
    let python = bare(&workshop.wheel, Path::new("python3"), "bare");
    let lines = blocks("README.md");
    assert!(lines.contains("import pidq"), "the README has lines of Python");
    let printed = done(Command::new(python).arg("-c").arg(lines).current_dir(ROOT));
    assert!(printed.contains("F-1101"), "{printed}");
}

#[test]
fn the_wheel_has_its_licences() {
    let Some(workshop) = workshop() else { return };
    let program = "
from importlib.metadata import files
names = sorted(file.name for file in files('pidq') if 'licenses' in file.parts and file.read_text())
print(*names)";
    let printed = done(Command::new(&workshop.python).arg("-c").arg(program));
    assert_eq!(printed.trim(), "LICENSE-APACHE LICENSE-MIT NOTICE");
}

#[test]
fn the_wheel_works_on_every_python_that_is_here() {
    let Some(workshop) = workshop() else { return };
    let interpreters = interpreters();
    for (version, interpreter) in &interpreters {
        let python = bare(&workshop.wheel, interpreter, version);
        done(Command::new(python).arg(package().join("tests/test_pidq.py")));
    }
    let versions: Vec<&str> = interpreters.iter().map(|(version, _)| version.as_str()).collect();
    println!("CPython {}", versions.join(", "));
    assert!(!versions.is_empty(), "the interpreter that runs the other tests was found");
}

#[test]
fn the_package_does_what_its_tests_and_its_documentation_say() {
    let Some(workshop) = workshop() else { return };
    let installed = done(Command::new(&workshop.python).args(["-c", "import pidq; print(pidq.__path__[0])"]));
    let mut pytest = Command::new(&workshop.python);
    pytest.args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "--doctest-modules", installed.trim()]);
    pytest.arg(format!("--ignore={}/_native", installed.trim())).arg(package().join("tests"));
    // The service that the client is tested against.
    pytest.env("PIDQ_COMMAND", env!("CARGO_BIN_EXE_pidq"));
    // Elsewhere: beside its sources Python would take these for the package.
    println!("{}", done(pytest.current_dir(folder())));
}

#[test]
fn the_package_is_typed_and_tidy() {
    let Some(workshop) = workshop() else { return };
    let tool = |arguments: &[&str]| {
        done(Command::new(&workshop.python).arg("-m").args(arguments).current_dir(package()));
    };
    let cache = folder().join("mypy");
    tool(&["mypy", "--strict", "--cache-dir", cache.to_str().expect("a path in UTF-8"), "pidq"]);
    tool(&["ruff", "check", "--no-cache", "."]);
    tool(&["ruff", "format", "--no-cache", "--check", "."]);
    // What is installed has the types that its sources say.
    let mut stubtest = Command::new(&workshop.python);
    done(
        stubtest
            .args(["-m", "mypy.stubtest", "pidq", "--ignore-unused-allowlist", "--allowlist"])
            .arg(package().join("stubtest-allowlist.txt"))
            .current_dir(folder()),
    );
}

#[test]
fn the_manual_of_python_runs_from_top_to_bottom() {
    let Some(workshop) = workshop() else { return };
    let lines = blocks("docs/python.md");
    let place = folder().join("manual");
    fs::create_dir_all(&place).expect("a folder");
    for name in ["plant.json", "plant_b.json", "storage.json", "skid.xml"] {
        fs::copy(Path::new(ROOT).join("examples/data").join(name), place.join(name)).expect("a drawing");
    }
    done(Command::new(&workshop.python).arg("-c").arg(lines).current_dir(place));
}

#[test]
fn the_notebook_runs_from_top_to_bottom() {
    let Some(workshop) = workshop() else { return };
    let program = r#"
import sys, nbclient, nbformat
notebook = nbformat.read(sys.argv[1], as_version=4)
nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": sys.argv[2]}}).execute()
shown = [output for cell in notebook.cells for output in cell.get("outputs", [])]
assert not any(output.output_type == "stream" and output.name == "stderr" for output in shown), shown
assert any("image/svg+xml" in output.get("data", {}) for output in shown), "a drawing is shown"
"#;
    let notebook = Path::new(ROOT).join("examples/notebook.ipynb");
    let mut python = Command::new(&workshop.python);
    done(python.arg("-c").arg(program).arg(notebook).arg(Path::new(ROOT).join("examples")));
}
