//! The Python package as its users get it: a wheel, installed, typed, tested, and used in a notebook.
//!
//! Downloads stay below the target directory. Without Python or a package index the tests report that and pass.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The supported interpreters.
const PYTHONS: [&str; 6] = ["3.9", "3.10", "3.11", "3.12", "3.13", "3.14"];

/// Limit of crates in the source distribution.
const MAX_LIBRARY_CRATES: usize = 80;

/// The built wheel, and an environment with it and all test dependencies.
struct TestEnvironment {
    wheel: PathBuf,
    python: PathBuf,
}

fn package() -> PathBuf {
    Path::new(ROOT).join("pidq-ffi/python")
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("python")
}

/// Runs a command; returns its output, or an error message if it fails.
fn run(command: &mut Command) -> Result<String, String> {
    // A tool of the environment must not find the packages of the machine, nor a library named by the developers'
    // variable.
    command.env_remove("PYTHONPATH").env_remove("PIDQ_LIBRARY").env("PYTHONDONTWRITEBYTECODE", "1");
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => Err(format!("{command:?}: {}\n{}\n{}", output.status, text(&output.stdout), text(&output.stderr))),
    }
}

fn run_or_panic(command: &mut Command) -> String {
    run(command).unwrap_or_else(|problem| panic!("{problem}"))
}

fn test_environment() -> Option<&'static TestEnvironment> {
    static ENVIRONMENT: OnceLock<Option<TestEnvironment>> = OnceLock::new();
    ENVIRONMENT
        .get_or_init(|| create_test_environment().map_err(|problem| eprintln!("SKIPPED: {problem}")).ok())
        .as_ref()
}

/// Creates the environment once, and again when its requirements change; the wheel is built each time. Only downloads
/// may be missing: a wheel that does not build is a failure.
fn create_test_environment() -> Result<TestEnvironment, String> {
    let directory = folder().join("environment");
    let python = directory.join("bin/python");
    let requirements = fs::read_to_string(package().join("requirements-test.txt")).expect("there is a list");
    let known = directory.join("requirements.txt");
    if fs::read_to_string(&known).ok().as_ref() != Some(&requirements) {
        run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&directory))?;
        let mut pip = Command::new(&python);
        run(pip.args(["-m", "pip", "install", "-q", "-r"]).arg(package().join("requirements-test.txt")))?;
        fs::write(&known, &requirements).expect("the list can be kept");
    }
    let wheel = build_wheel(&directory);
    let mut pip = Command::new(&python);
    run_or_panic(pip.args(["-m", "pip", "install", "-q", "--no-deps", "--no-index", "--force-reinstall"]).arg(&wheel));
    Ok(TestEnvironment { wheel, python })
}

/// A build in debug mode, without the optimization of the tests in Rust: in a tenth of the time of a release build.
const WHEEL_BUILD: [&str; 10] = [
    "build",
    "--profile",
    "dev",
    "--config",
    "profile.dev.package.pidq-core.opt-level=0",
    "--config",
    "profile.dev.package.pidq-formats.opt-level=0",
    "--auditwheel",
    "skip",
    "--out",
];

/// Builds the wheel.
fn build_wheel(directory: &Path) -> PathBuf {
    let wheels = folder().join("wheels");
    drop(fs::remove_dir_all(&wheels));
    let mut maturin = Command::new(directory.join("bin/maturin"));
    maturin.args(WHEEL_BUILD).arg(&wheels).current_dir(package());
    // maturin looks on the path for the Python that generates the bindings.
    let path = format!("{}:{}", directory.join("bin").display(), std::env::var("PATH").unwrap_or_default());
    run_or_panic(maturin.env("PATH", path).env("CARGO_TARGET_DIR", target()));
    let entry = fs::read_dir(&wheels).expect("a folder").next().expect("a wheel").expect("an entry");
    entry.path()
}

/// The target directory that this test was built in.
fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("a folder").to_path_buf()
}

/// Returns the Python code blocks of a page.
fn blocks(page: &str) -> String {
    let text = fs::read_to_string(Path::new(ROOT).join(page)).expect("a page");
    let blocks = text.split("```python\n").skip(1).filter_map(|rest| rest.split("```").next());
    blocks.collect::<Vec<_>>().join("\n")
}

/// Creates a fresh environment with only the wheel.
fn clean_environment(wheel: &Path, interpreter: &Path, name: &str) -> PathBuf {
    let directory = folder().join(name);
    run_or_panic(Command::new(interpreter).args(["-m", "venv", "--clear"]).arg(&directory));
    let python = directory.join("bin/python");
    run_or_panic(Command::new(&python).args(["-m", "pip", "install", "-q", "--no-index"]).arg(wheel));
    python
}

/// Returns the interpreters on this machine.
fn interpreters() -> Vec<(String, PathBuf)> {
    let pyenv = std::env::var("HOME").map(|home| Path::new(&home).join(".pyenv/versions")).unwrap_or_default();
    let installed: Vec<PathBuf> =
        fs::read_dir(pyenv).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())).collect();
    let find = |version: &str| {
        let is_this =
            |path: &&PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(version));
        let installed = installed.iter().find(is_this).map(|path| path.join("bin/python"));
        installed.unwrap_or_else(|| PathBuf::from(format!("python{version}")))
    };
    let found = PYTHONS.map(|version| (version.to_owned(), find(&format!("{version}.")))).into_iter();
    found.filter(|(_, python)| run(Command::new(python).args(["-c", "import venv, ensurepip"])).is_ok()).collect()
}

#[test]
fn the_wheel_is_sufficient_for_the_readme() {
    let Some(environment) = test_environment() else { return };
    let python = clean_environment(&environment.wheel, Path::new("python3"), "bare");
    let lines = blocks("README.md");
    assert!(lines.contains("import pidq"), "the README has lines of Python");
    let printed = run_or_panic(Command::new(python).arg("-c").arg(lines).current_dir(ROOT));
    assert!(printed.contains("F-1101"), "{printed}");
}

#[test]
fn the_wheel_has_its_licenses() {
    let Some(environment) = test_environment() else { return };
    let program = "
from importlib.metadata import files
names = sorted(file.name for file in files('pidq') if 'licenses' in file.parts and file.read_text())
print(*names)";
    let printed = run_or_panic(Command::new(&environment.python).arg("-c").arg(program));
    assert_eq!(printed.trim(), "LICENSE-APACHE LICENSE-MIT NOTICE");
}

/// Newest glibc that the library of a release may need, as in `scripts/dist.sh`.
const GLIBC: &str = "2.28";

/// Replaces the library of a wheel: WHEEL LIBRARY NEW_WHEEL.
const REPACK: &str = "
import sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as old, zipfile.ZipFile(sys.argv[3], 'w') as new:
    libraries = [name for name in old.namelist() if name.endswith('.so')]
    assert len(libraries) == 1, libraries
    for name in old.namelist():
        new.writestr(name, open(sys.argv[2], 'rb').read() if name in libraries else old.read(name))
";

/// One wheel serves all versions of Python, and all systems with the glibc of `manylinux_2_28` or a newer one. A library
/// that is linked on this machine needs the glibc of this machine, so it is linked as in a release.
#[test]
fn the_wheel_fits_every_python_and_manylinux_2_28() {
    let Some(environment) = test_environment() else { return };
    let name = environment.wheel.file_name().expect("a name").to_string_lossy();
    assert!(name.contains("-py3-none-"), "{name}");
    if !host().ends_with("-linux-gnu") {
        return eprintln!("SKIPPED: manylinux is for Linux with glibc");
    }
    let directory = folder().join("manylinux");
    fs::create_dir_all(&directory).expect("a folder");
    let built = std::env::current_exe().expect("a path").parent().expect("a folder").join("libpidq_ffi.a");
    let (library, wheel) = (directory.join("libpidq.so"), directory.join(&*name));
    let python = || Command::new(&environment.python);
    let target = format!("{}-linux-gnu.{GLIBC}", std::env::consts::ARCH);
    let mut linker = python();
    linker.args(["-m", "ziglang", "cc", "-target", &target, "-shared", "-Wl,--whole-archive"]).arg(built);
    run_or_panic(linker.args(["-Wl,--no-whole-archive", "-lunwind", "-o"]).arg(&library));
    // It loads and runs.
    let program = "import ctypes, sys; sys.exit(ctypes.CDLL(sys.argv[1]).pidq_abi_version() != 1)";
    run_or_panic(python().args(["-c", program]).arg(&library));
    run_or_panic(python().args(["-c", REPACK]).arg(&environment.wheel).arg(&library).arg(&wheel));
    let report = run_or_panic(python().args(["-m", "auditwheel", "show"]).arg(&wheel));
    let report = report.split_whitespace().collect::<Vec<_>>().join(" ");
    let tag = format!("platform tag: \"manylinux_{}_", GLIBC.replace('.', "_"));
    assert!(report.contains(&tag) || report.contains("platform tag: \"manylinux_2_17_"), "{report}");
}

#[test]
fn the_source_distribution_builds_only_the_library() {
    let Some(environment) = test_environment() else { return };
    let directory = folder().join("sdist");
    drop(fs::remove_dir_all(&directory));
    let tools = environment.python.parent().expect("a folder");
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap_or_default());
    run_or_panic(Command::new(Path::new(ROOT).join("scripts/sdist.sh")).arg(&directory).env("PATH", &path));
    let archive = directory.join(format!("pidq-{}.tar.gz", env!("CARGO_PKG_VERSION")));
    run_or_panic(Command::new("tar").arg("-C").arg(&directory).arg("-xzf").arg(archive));
    let sources = directory.join(format!("pidq-{}", env!("CARGO_PKG_VERSION")));
    // The lock file is complete, and has nothing of the services.
    let mut cargo = Command::new(env!("CARGO"));
    let metadata = run_or_panic(
        cargo
            .args(["metadata", "--offline", "--locked", "--format-version", "1", "--filter-platform"])
            .arg(host())
            .current_dir(&sources),
    );
    let metadata: Value = serde_json::from_str(&metadata).expect("JSON");
    let names: Vec<&str> = metadata["packages"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|package| package["name"].as_str())
        .collect();
    let ours: Vec<&&str> = names.iter().filter(|name| name.starts_with("pidq")).collect();
    assert_eq!(ours, [&"pidq-core", &"pidq-ffi", &"pidq-formats"]);
    assert!(names.len() < MAX_LIBRARY_CRATES && !names.contains(&"tokio"), "{names:?}");
    // It builds, with the dependencies that the wheel has compiled already.
    let wheels = directory.join("wheels");
    let mut maturin = Command::new(tools.join("maturin"));
    maturin.args(WHEEL_BUILD).arg(&wheels).arg("--locked");
    run_or_panic(maturin.current_dir(&sources).env("PATH", path).env("CARGO_TARGET_DIR", target()));
    assert_eq!(fs::read_dir(wheels).expect("a folder").count(), 1);
}

/// Returns the target triple of this machine.
fn host() -> String {
    let version = run_or_panic(Command::new("rustc").arg("-vV"));
    version.lines().find_map(|line| line.strip_prefix("host: ")).expect("a host").to_owned()
}

#[test]
fn the_wheel_works_on_every_installed_python() {
    let Some(environment) = test_environment() else { return };
    let interpreters = interpreters();
    for (version, interpreter) in &interpreters {
        let python = clean_environment(&environment.wheel, interpreter, version);
        for tests in ["test_pidq.py", "test_values.py"] {
            run_or_panic(Command::new(&python).arg(package().join("tests").join(tests)));
        }
    }
    let versions: Vec<&str> = interpreters.iter().map(|(version, _)| version.as_str()).collect();
    println!("CPython {}", versions.join(", "));
    assert!(!versions.is_empty(), "the interpreter that runs the other tests was found");
}

#[test]
fn the_package_passes_its_tests_and_doctests() {
    let Some(environment) = test_environment() else { return };
    let installed =
        run_or_panic(Command::new(&environment.python).args(["-c", "import pidq; print(pidq.__path__[0])"]));
    let mut pytest = Command::new(&environment.python);
    pytest.args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "--doctest-modules", installed.trim()]);
    pytest.arg(format!("--ignore={}/_native", installed.trim())).arg(package().join("tests"));
    // The service for the tests of the client.
    pytest.env("PIDQ_COMMAND", env!("CARGO_BIN_EXE_pidq"));
    // In another directory: next to its sources Python would import these as the package.
    println!("{}", run_or_panic(pytest.current_dir(folder())));
}

/// The part of the Spark integration that needs no Spark; `scripts/integrations.sh spark` also tests it on a cluster.
#[test]
fn the_functions_for_fleets_pass_their_tests_without_spark() {
    let Some(environment) = test_environment() else { return };
    let tests = Path::new(ROOT).join("integrations/spark/tests");
    let mut pytest = Command::new(&environment.python);
    pytest.args(["-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider"]).arg(&tests);
    pytest.arg(format!("--ignore={}", tests.join("test_cluster.py").display()));
    println!("{}", run_or_panic(pytest.current_dir(folder())));
}

#[test]
fn the_package_is_typed_and_formatted() {
    let Some(environment) = test_environment() else { return };
    let tool = |arguments: &[&str]| {
        run_or_panic(Command::new(&environment.python).arg("-m").args(arguments).current_dir(package()));
    };
    let cache = folder().join("mypy");
    let cache = cache.to_str().expect("a path in UTF-8");
    tool(&["mypy", "--strict", "--cache-dir", cache, "pidq", "tests/typed_program.py"]);
    tool(&["ruff", "check", "--no-cache", "."]);
    tool(&["ruff", "format", "--no-cache", "--check", "."]);
    // The installed package has the types that its sources declare.
    let mut stubtest = Command::new(&environment.python);
    run_or_panic(
        stubtest
            .args(["-m", "mypy.stubtest", "pidq", "--ignore-unused-allowlist", "--allowlist"])
            .arg(package().join("stubtest-allowlist.txt"))
            .current_dir(folder()),
    );
}

#[test]
fn programs_are_typed_in_the_strict_mode_of_pyright() {
    let Some(environment) = test_environment() else { return };
    let directory = folder().join("pyright");
    fs::create_dir_all(&directory).expect("a folder");
    fs::copy(package().join("tests/typed_program.py"), directory.join("typed_program.py")).expect("the program");
    fs::write(directory.join("pyrightconfig.json"), r#"{"typeCheckingMode": "strict"}"#).expect("a configuration");
    let pyright = |arguments: &[&str]| {
        let mut command = Command::new(&environment.python);
        command.args(["-m", "pyright"]).args(arguments);
        // pyright finds the packages of the Python on the path.
        let scripts = environment.python.parent().expect("a folder").display();
        command.env("PATH", format!("{scripts}:{}", std::env::var("PATH").unwrap_or_default()));
        run_or_panic(command.current_dir(&directory))
    };
    pyright(&["."]);
    // All of the public interface has types, as far as it is not that of other packages.
    let report = pyright(&["--verifytypes", "pidq", "--ignoreexternal"]);
    assert!(report.contains("Type completeness score: 100%"), "{report}");
    // It also runs.
    let mut program = Command::new(&environment.python);
    run_or_panic(program.arg(package().join("tests/typed_program.py")));
}

#[test]
fn the_python_manual_runs_from_top_to_bottom() {
    let Some(environment) = test_environment() else { return };
    let lines = blocks("docs/python.md");
    let directory = folder().join("manual");
    fs::create_dir_all(&directory).expect("a folder");
    for name in ["plant.json", "plant_b.json", "storage.json", "skid.xml"] {
        fs::copy(Path::new(ROOT).join("examples/data").join(name), directory.join(name)).expect("a drawing");
    }
    run_or_panic(Command::new(&environment.python).arg("-c").arg(lines).current_dir(directory));
}

#[test]
fn the_python_of_the_tutorials_prints_the_documented_output() {
    let Some(environment) = test_environment() else { return };
    for page in ["docs/start.md", "docs/tutorials/isolate_pump.md"] {
        let text = fs::read_to_string(Path::new(ROOT).join(page)).expect("a page");
        let (_, rest) = text.split_once("```python\n").expect("a program");
        let (program, rest) = rest.split_once("```").expect("its end");
        let output = rest.trim_start().strip_prefix("```text\n").and_then(|rest| rest.split("```").next());
        let mut python = Command::new(&environment.python);
        let printed =
            run_or_panic(python.arg("-c").arg(program).current_dir(Path::new(ROOT).join("examples/tutorial")));
        assert_eq!(Some(printed.as_str()), output, "{page}");
    }
}

#[test]
fn the_notebook_runs_from_top_to_bottom() {
    let Some(environment) = test_environment() else { return };
    let program = r#"
import sys, nbclient, nbformat
notebook = nbformat.read(sys.argv[1], as_version=4)
nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": sys.argv[2]}}).execute()
shown = [output for cell in notebook.cells for output in cell.get("outputs", [])]
assert not any(output.output_type == "stream" and output.name == "stderr" for output in shown), shown
assert any("image/svg+xml" in output.get("data", {}) for output in shown), "a drawing is shown"
"#;
    let notebook = Path::new(ROOT).join("examples/notebook.ipynb");
    let mut python = Command::new(&environment.python);
    run_or_panic(python.arg("-c").arg(program).arg(notebook).arg(Path::new(ROOT).join("examples")));
}
