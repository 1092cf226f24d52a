//! libpidq from C and C++ programs: installed, compiled with all warnings, run under sanitizers and valgrind.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
const DRAWING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/plant.json");

/// Default number of create-delete cycles; `PIDQ_CYCLES` overrides it, and `make test-long` runs a million.
const CYCLES: &str = "100000";
/// Number of create-delete cycles under valgrind, which is slow.
const VALGRIND_CYCLES: &str = "500";

#[test]
fn the_header_matches_the_sources() {
    let folder = Path::new(ROOT).join("pidq-ffi");
    let config = cbindgen::Config::from_file(folder.join("header.toml")).expect("a valid configuration");
    let bindings = cbindgen::Builder::new().with_crate(&folder).with_config(config).generate().expect("a header");
    let mut generated = Vec::new();
    bindings.write(&mut generated);
    let path = folder.join("include/pidq.h");
    if std::env::var_os("PIDQ_WRITE").is_some() {
        fs::write(&path, &generated).expect("the header can be written");
    }
    let version = format!("#define PIDQ_VERSION \"{}\"\n", env!("CARGO_PKG_VERSION"));
    assert!(fs::read_to_string(folder.join("header.toml")).is_ok_and(|text| text.contains(&version)), "{version}");
    let committed = fs::read_to_string(&path).unwrap_or_default();
    let generated = String::from_utf8(generated).expect("a header is text");
    assert!(committed == generated, "pidq.h is out of date: PIDQ_WRITE=1 cargo test --test it the_header");
}

#[test]
fn every_function_is_in_the_header_and_in_the_c_manual() {
    let header = fs::read_to_string(Path::new(ROOT).join("pidq-ffi/include/pidq.h")).expect("there is a header");
    let manual = fs::read_to_string(Path::new(ROOT).join("docs/c.md")).expect("there is a manual");
    let sources = fs::read_to_string(Path::new(ROOT).join("pidq-ffi/src/lib.rs")).expect("there are sources");
    let words = sources.split(|c: char| !c.is_alphanumeric() && c != '_');
    let functions: Vec<&str> = words.filter(|word| word.starts_with("pidq_") && *word != "pidq_ffi").collect();
    assert!(functions.len() > 50, "the functions were found: {}", functions.len());
    for function in functions {
        assert!(header.contains(&format!("{function}(")), "{function} is not in the header");
        assert!(manual.contains(&format!("`{function}`")), "{function} is not in docs/c.md");
    }
}

#[test]
fn the_header_names_the_formats_of_each_function() {
    let header = fs::read_to_string(Path::new(ROOT).join("pidq-ffi/include/pidq.h")).expect("there is a header");
    let names = |start: &str| {
        let (_, comment) = header.split_once(start).expect("a comment");
        let (comment, _) = comment.split_once("PIDQ_API").expect("the end of the comment");
        let mut names: Vec<String> = comment.split('"').skip(1).step_by(2).map(str::to_owned).collect();
        names.sort();
        names
    };
    let formats = |has: fn(&pidq_formats::Format) -> bool| {
        let mut names: Vec<&str> = pidq_formats::FORMATS.iter().filter(|format| has(format)).map(|f| f.name).collect();
        names.sort();
        names
    };
    assert_eq!(names("// Imports a drawing from the files of a format"), formats(|format| format.read.is_some()));
    assert_eq!(names("// Exports the graph in a format"), formats(|format| format.write.is_some()));
}

/// Install prefix of the library for these tests; `None` without a compiler.
fn prefix() -> Option<&'static Path> {
    static PREFIX: OnceLock<Option<PathBuf>> = OnceLock::new();
    PREFIX.get_or_init(install).as_deref()
}

fn install() -> Option<PathBuf> {
    if !is_installed("cc") || !is_installed("pkg-config") {
        eprintln!("SKIPPED: C programs need `cc` and `pkg-config` (Debian: gcc pkg-config)");
        return None;
    }
    let prefix = Path::new(env!("CARGO_TARGET_TMPDIR")).join("c");
    let built = std::env::current_exe().expect("a path").parent().expect("a folder").to_path_buf();
    let mut installer = Command::new(Path::new(ROOT).join("pidq-ffi/install.sh"));
    run(installer.arg(&prefix).arg(built));
    // Valgrind reads the debug information of the engine for longer than the program runs.
    run(Command::new("strip").arg("-g").arg(prefix.join("lib/libpidq.so.1")));
    Some(prefix)
}

fn is_installed(command: &str) -> bool {
    Command::new(command).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Runs a command that must succeed.
fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{out}\n{err}", output.status);
    output
}

fn text(output: Output) -> String {
    String::from_utf8(output.stdout).expect("it prints UTF-8")
}

/// Returns what pkg-config prints about the installed library.
fn pkg_config(prefix: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("pkg-config");
    text(run(command.args(arguments).env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig"))))
}

/// Compiles a program against the installed library and returns its path.
fn compile_program(prefix: &Path, source: &str, name: &str, flags: &[&str]) -> PathBuf {
    compile_program_with(if source.ends_with(".cpp") { "c++" } else { "cc" }, prefix, source, name, flags)
}

fn compile_program_with(compiler: &str, prefix: &Path, source: &str, name: &str, flags: &[&str]) -> PathBuf {
    let program = prefix.join(name);
    let pkg_config = |option: &str| pkg_config(prefix, &[option, "pidq"]);
    let is_cpp = source.ends_with(".cpp");
    let mut compiler = Command::new(compiler);
    compiler.args(["-Wall", "-Wextra", "-Werror", "-pedantic", "-g"]);
    compiler.arg(if is_cpp { "-std=c++17" } else { "-std=c99" }).arg("-D_POSIX_C_SOURCE=200809L").args(flags);
    compiler.args(pkg_config("--cflags").split_whitespace());
    compiler.arg(Path::new(ROOT).join("pidq-ffi").join(source)).args(pkg_config("--libs").split_whitespace());
    compiler.arg("-lpthread").arg(format!("-Wl,-rpath,{}", prefix.join("lib").display())).arg("-o").arg(&program);
    run(&mut compiler);
    program
}

#[test]
fn the_example_query_prints_its_results() {
    let Some(prefix) = prefix() else { return };
    let program = compile_program(prefix, "examples/c/query.c", "query", &[]);
    let printed = text(run(Command::new(program).arg(DRAWING)));
    insta::assert_snapshot!(printed);
}

#[test]
fn the_example_errors_prints_every_error() {
    let Some(prefix) = prefix() else { return };
    let program = compile_program(prefix, "examples/c/errors.c", "errors", &[]);
    insta::assert_snapshot!(text(run(&mut Command::new(program))));
}

#[test]
fn the_program_of_the_manual_prints_the_loops() {
    let Some(prefix) = prefix() else { return };
    let manual = fs::read_to_string(Path::new(ROOT).join("docs/c.md")).expect("there is a manual");
    let program = manual.split("```c\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a program");
    let source = prefix.join("manual.c");
    fs::write(&source, program).expect("it can be written");
    let program = compile_program(prefix, source.to_str().expect("a path in UTF-8"), "manual", &[]);
    let printed = text(run(Command::new(program).current_dir(Path::new(ROOT).join("examples/data"))));
    assert_eq!(printed, "[\"F-1101\",\"F-1102\",\"L-1103\",\"P-1104\",\"T-1105\"]\n");
    if !is_installed("c++") {
        return eprintln!("SKIPPED: C++ needs `c++` (Debian: g++)");
    }
    let program = manual.split("```cpp\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a program in C++");
    let source = prefix.join("manual.cpp");
    fs::write(&source, program).expect("it can be written");
    let program = compile_program(prefix, source.to_str().expect("a path in UTF-8"), "manual-cpp", &[]);
    let printed = text(run(Command::new(program).current_dir(Path::new(ROOT).join("examples/data"))));
    assert!(printed.starts_with("F-1101 40\n") && printed.lines().count() == 5, "{printed}");
}

#[test]
fn the_fragments_of_the_manual_compile() {
    let Some(prefix) = prefix() else { return };
    let manual = fs::read_to_string(Path::new(ROOT).join("docs/c.md")).expect("there is a manual");
    let fragments = [
        (
            "c",
            "pidq_params_t *params",
            "void run(const char *tags[], size_t count, pidq_graph_t *graph);\n\
             void run(const char *tags[], size_t count, pidq_graph_t *graph) {\n\
             pidq_error_t *error = NULL; pidq_query_t *query = NULL;",
        ),
        (
            "cpp",
            "pidq_graph_t *imported",
            "void run(const std::string &nodes, const std::string &edges, const pidq::Result &result) {",
        ),
    ];
    for (language, start, head) in fragments {
        let fence = format!("```{language}\n{start}");
        let (_, fragment) = manual.split_once(&fence).expect("a fragment");
        let fragment = fragment.split("```").next().expect("its end");
        let (compiler, header) = if language == "c" { ("cc", "pidq.h") } else { ("c++", "pidq.hpp") };
        if !is_installed(compiler) {
            return eprintln!("SKIPPED: C++ needs `c++` (Debian: g++)");
        }
        let source = prefix.join(format!("fragment.{language}"));
        let program = format!("#include <stdio.h>\n#include <{header}>\n{head}\n{start}{fragment}}}\n");
        fs::write(&source, program).expect("it can be written");
        let mut compiler = Command::new(compiler);
        compiler.args(["-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only"]);
        compiler.arg(if language == "c" { "-std=c99" } else { "-std=c++17" });
        run(compiler.args(pkg_config(prefix, &["--cflags", "pidq"]).split_whitespace()).arg(&source));
    }
}

#[test]
fn the_example_values_reads_a_result_without_json() {
    let Some(prefix) = prefix() else { return };
    let program = compile_program(prefix, "examples/c/values.c", "values", &[]);
    insta::assert_snapshot!(text(run(Command::new(program).arg(DRAWING))));
}

#[test]
fn the_example_in_cpp_prints_its_results_with_every_compiler() {
    let Some(prefix) = prefix() else { return };
    for compiler in ["g++", "clang++"] {
        if !is_installed(compiler) {
            eprintln!("SKIPPED: {compiler} is not installed (Debian: g++ clang)");
            continue;
        }
        let name = format!("query-{compiler}");
        let program = compile_program_with(compiler, prefix, "examples/c/query.cpp", &name, &["-Wextra-semi"]);
        insta::assert_snapshot!("the_example_in_cpp", text(run(Command::new(program).arg(DRAWING))));
        let program =
            compile_program_with(compiler, prefix, "tests/c/handles.cpp", &format!("handles-{compiler}"), &[]);
        assert_eq!(text(run(&mut Command::new(program))), "ok\n");
        // Also without exceptions.
        let flags = ["-fno-exceptions", "-fno-rtti"];
        let name = format!("no-exceptions-{compiler}");
        let program = compile_program_with(compiler, prefix, "tests/c/no_exceptions.cpp", &name, &flags);
        assert_eq!(text(run(&mut Command::new(program))), "PQ1001 1\n");
    }
}

#[test]
fn values_and_numbers_of_errors_are_exact() {
    let Some(prefix) = prefix() else { return };
    let program = compile_program(prefix, "tests/c/values.c", "values-test", &["-O2"]);
    assert_eq!(text(run(&mut Command::new(program))), "ok\n");
}

#[test]
fn functions_of_the_program_are_called() {
    let Some(prefix) = prefix() else { return };
    let program = compile_program(prefix, "tests/c/functions.c", "functions-test", &["-O2"]);
    assert_eq!(text(run(&mut Command::new(program))), "ok\n");
}

#[test]
fn the_example_parameters_runs_a_prepared_query() {
    let Some(prefix) = prefix() else { return };
    let program = compile_program(prefix, "examples/c/parameters.c", "parameters", &[]);
    insta::assert_snapshot!(text(run(Command::new(program).arg(DRAWING))));
}

#[test]
fn parameters_are_bound_at_each_run() {
    let Some(prefix) = prefix() else { return };
    let program = compile_program(prefix, "tests/c/parameters.c", "parameters-test", &["-O2"]);
    assert_eq!(text(run(&mut Command::new(program))), "ok\n");
}

#[test]
fn the_example_functions_prints_results_and_an_error() {
    let Some(prefix) = prefix() else { return };
    let program = compile_program(prefix, "examples/c/functions.c", "functions", &[]);
    insta::assert_snapshot!(text(run(Command::new(program).arg(DRAWING))));
}

#[test]
fn an_ignored_error_does_not_compile() {
    let Some(prefix) = prefix() else { return };
    let source = prefix.join("ignored.c");
    let program =
        "#include <pidq.h>\nint main(void) { pidq_graph_t *graph; pidq_graph_open(\"x\", &graph); return 0; }\n";
    fs::write(&source, program).expect("it can be written");
    let mut compiler = Command::new("cc");
    compiler
        .args(["-Wall", "-Werror", "-c", "-o", "/dev/null"])
        .args(pkg_config(prefix, &["--cflags", "pidq"]).split_whitespace());
    let output = compiler.arg(&source).env("LC_ALL", "C").output().expect("a compiler");
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && message.contains("unused-result"), "{message}");
}

#[test]
fn mistakes_in_cpp_do_not_compile() {
    let Some(prefix) = prefix() else { return };
    if !is_installed("c++") {
        return eprintln!("SKIPPED: C++ needs `c++` (Debian: g++)");
    }
    let cases = [
        (
            "const auto result = query.run(graph); for (auto [name, value] : result.value().fields()) use(name, value);",
            "",
        ),
        ("for (auto row : query.run(graph)) use(row);", ""),
        ("for (auto [name, value] : query.run(graph).value().fields()) use(name, value);", "deleted"),
        ("for (auto item : query.run(graph).value()) use(item);", "deleted"),
        ("for (auto item : query.try_run(graph)->value()) use(item);", "deleted"),
        ("use(query.run(graph)[0]);", "deleted"),
        ("use(pidq::Query::parse(\"1\").text());", "deleted"),
        ("pidq::Limits limits; limits.cancel = pidq::Cancel().handle();", "deleted"),
        ("pidq::Params().set(\"a\", static_cast<unsigned char>(1)).set(\"b\", \"c\");", ""),
        ("pidq::Params().set(\"a\", 'c');", "pass a string"),
        ("pidq::Params().set(\"a\", std::vector<char>{'c'});", "pass a string"),
        ("pidq::Params().set(\"a\", std::optional<wchar_t>(L'c'));", "pass a string"),
        ("pidq::Dialect dialect; dialect.function(\"a\", [](const pidq::Call &) { return 'c'; });", "return a string"),
        ("const auto result = query.run(graph); use(result[0].value_or('c'));", "use std::string_view"),
    ];
    for (statements, message) in cases {
        let source = prefix.join("mistake.cpp");
        let program = format!(
            "#include <pidq.hpp>\ntemplate <typename... T> void use(const T &...) {{}}\n\
             void program(const pidq::Query &query, const pidq::Graph &graph) {{\n\
             use(query, graph);\n{statements}\n}}\n"
        );
        fs::write(&source, program).expect("it can be written");
        let mut compiler = Command::new("c++");
        compiler.args(["-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]);
        compiler.args(pkg_config(prefix, &["--cflags", "pidq"]).split_whitespace());
        let output = compiler.arg(&source).env("LC_ALL", "C").output().expect("a compiler");
        let printed = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.success(), message.is_empty(), "{statements}\n{printed}");
        assert!(printed.contains(message), "{statements}\n{printed}");
    }
}

#[test]
fn the_example_threads_gets_correct_results() {
    let Some(prefix) = prefix() else { return };
    let program = compile_program(prefix, "examples/c/threads.c", "threads", &["-O2"]);
    assert_eq!(text(run(Command::new(program).arg(DRAWING))), "1600 correct results of 1600\n");
}

#[test]
fn the_example_cancel_is_stopped_by_another_thread_and_by_a_timeout() {
    let Some(prefix) = prefix() else { return };
    let program = compile_program(prefix, "examples/c/cancel.c", "cancel", &[]);
    let printed = text(run(&mut Command::new(program)));
    let codes: Vec<&str> = printed.lines().filter_map(|line| line.split(':').next()).collect();
    assert_eq!(codes, ["PQ4008", "PQ4005"], "{printed}");
}

#[test]
fn the_header_compiles_as_cpp() {
    let Some(prefix) = prefix() else { return };
    if !is_installed("c++") {
        return eprintln!("SKIPPED: C++ needs `c++` (Debian: g++)");
    }
    let program = compile_program(prefix, "tests/c/program.cpp", "program", &[]);
    assert_eq!(text(run(&mut Command::new(program))), "1\n");
}

/// Compiles a program with the flags that pkg-config prints, and returns the shared libraries that it loads.
fn shared_libraries(prefix: &Path, name: &str, flags: &[&str], query: &[&str]) -> String {
    let program = prefix.join(name);
    let mut compiler = Command::new("cc");
    compiler.args(["-std=c99"]).args(flags).arg(Path::new(ROOT).join("pidq-ffi/examples/c/errors.c"));
    run(compiler.args(pkg_config(prefix, query).split_whitespace()).arg("-o").arg(&program));
    // The installed library is not on the search path: a program that needs it would not start.
    assert!(text(run(&mut Command::new(&program))).contains("PQ1001"));
    text(run(Command::new("readelf").arg("-d").arg(program))).lines().filter(|line| line.contains("NEEDED")).collect()
}

#[test]
fn a_static_program_is_linked_with_the_flags_of_pkg_config() {
    let Some(prefix) = prefix() else { return };
    let libraries = shared_libraries(prefix, "static", &["-static"], &["--static", "--cflags", "--libs", "pidq"]);
    assert_eq!(libraries, "");
}

#[test]
fn a_dynamic_program_can_contain_the_library() {
    let Some(prefix) = prefix() else { return };
    let libraries = shared_libraries(prefix, "contained", &[], &["--cflags", "--libs", "pidq-static"]);
    assert!(libraries.contains("libc.so") && !libraries.contains("pidq"), "{libraries}");
}

#[test]
fn misuse_is_reported_and_nothing_leaks() {
    let Some(prefix) = prefix() else { return };
    let program = compile_program(prefix, "tests/c/misuse.c", "misuse", &["-O2"]);
    let cycles = std::env::var("PIDQ_CYCLES").unwrap_or(CYCLES.into());
    println!("{}", text(run(Command::new(program).args([&cycles, DRAWING]))));
}

#[test]
fn misuse_is_clean_under_the_address_sanitizer() {
    let Some(prefix) = prefix() else { return };
    let flags = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    let program = compile_program(prefix, "tests/c/misuse.c", "misuse-asan", &flags);
    // Freed memory is quarantined, which looks like growth.
    let mut checked = Command::new(program);
    checked.args(["10", DRAWING]).env("ASAN_OPTIONS", "detect_leaks=1:quarantine_size_mb=1");
    run(&mut checked);
    let sources = [
        "examples/c/query.c",
        "examples/c/errors.c",
        "examples/c/threads.c",
        "examples/c/values.c",
        "examples/c/query.cpp",
        "examples/c/functions.c",
        "examples/c/parameters.c",
        "tests/c/values.c",
        "tests/c/parameters.c",
        "tests/c/functions.c",
        "tests/c/handles.cpp",
    ];
    for source in sources {
        let name = format!("{}-asan", source.replace(['/', '.'], "-"));
        let program = compile_program(prefix, source, &name, &flags);
        run(Command::new(program).arg(DRAWING));
    }
}

#[test]
fn misuse_is_clean_under_valgrind() {
    let Some(prefix) = prefix() else { return };
    if !is_installed("valgrind") {
        return eprintln!("SKIPPED: valgrind is not installed (Debian: valgrind)");
    }
    let program = compile_program(prefix, "tests/c/misuse.c", "misuse-valgrind", &[]);
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--error-exitcode=9", "--leak-check=full", "--errors-for-leak-kinds=definite,indirect"]);
    run(valgrind.arg(program).args([VALGRIND_CYCLES, DRAWING]));
    for source in ["tests/c/values.c", "tests/c/parameters.c", "tests/c/functions.c", "tests/c/handles.cpp"] {
        let program = compile_program(prefix, source, &format!("{}-valgrind", source.replace(['/', '.'], "-")), &[]);
        let mut valgrind = Command::new("valgrind");
        valgrind.args(["--error-exitcode=9", "--leak-check=full", "--errors-for-leak-kinds=definite,indirect"]);
        run(valgrind.arg(program));
    }
}
