//! Example drawings: the scripts that generate them, one plant in two vocabularies, and results verified with networkx.

use std::path::PathBuf;
use std::process::{Command, Output};

use pidq::{Graph, Limits, Query};
use serde_json::{Value, json};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn drawing(name: &str) -> Graph {
    let path = root().join("examples/data").join(name).with_extension("json");
    Graph::from_json(std::fs::read(&path).expect("a drawing")).expect("JSON")
}

/// Runs a Python script. Returns `None` and prints a notice if Python or a module is missing.
fn run_python(script: &str, args: &[&str]) -> Option<Output> {
    const MISSING: i32 = 77;
    let mut command = Command::new("python3");
    command.arg("-B").arg(script).args(args).env("PYTHONIOENCODING", "utf-8").current_dir(root());
    let Ok(output) = command.output() else {
        eprintln!("SKIPPED: there is no python3, so {script} was not run");
        return None;
    };
    if output.status.code() == Some(MISSING) {
        eprintln!("SKIPPED: {script}: {}", String::from_utf8_lossy(&output.stderr));
        return None;
    }
    let [printed, errors] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    assert!(output.status.success(), "{script} {args:?}: {printed}{errors}");
    Some(output)
}

fn evaluate(graph: &Graph, query: &str) -> Value {
    let result = Query::parse(query).and_then(|query| query.to_json(graph, Limits::default()));
    let result = result.unwrap_or_else(|error| panic!("{query}: {error}"));
    serde_json::from_str(&result).expect("JSON")
}

#[test]
fn scripts_reproduce_the_example_files() {
    for name in ["plant", "plant_b", "storage", "plant_vendor"] {
        let script = format!("examples/data/{name}.py");
        let Some(output) = run_python(&script, &[]) else { return };
        let committed = std::fs::read(root().join(&script).with_extension("json")).expect("a drawing");
        // Python on Windows prints CRLF line ends.
        let printed: Vec<u8> = output.stdout.into_iter().filter(|byte| *byte != b'\r').collect();
        assert!(printed == committed, "{script} does not reproduce {name}.json");
    }
}

/// Returns the real drawings of these folders, if there are any.
fn real_drawings(folders: &[&str]) -> Vec<PathBuf> {
    let shared = std::env::var_os("PIDQ_TEST_DRAWINGS").map_or(root().join("../shared/data"), PathBuf::from);
    let entries = folders.iter().filter_map(|folder| std::fs::read_dir(shared.join(folder)).ok()).flatten();
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let found: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|end| end.eq_ignore_ascii_case("xml"))).collect();
    if found.is_empty() {
        eprintln!("SKIPPED: no drawings in ../shared/data and none in PIDQ_TEST_DRAWINGS");
    }
    found
}

#[test]
fn imports_keep_the_content_of_drawings() {
    for (script, sample, folders) in [
        ("scripts/proteus_losses.py", "examples/data/skid.xml", &["proteus", "proteus-4.1.1"][..]),
        ("scripts/dexpi_losses.py", "examples/data/skid_dexpi.xml", &["dexpi2"]),
    ] {
        for drawing in [root().join(sample)].into_iter().chain(real_drawings(folders)) {
            let graph = std::env::temp_dir().join(format!("pidq-{}-losses.json", std::process::id()));
            let mut import = Command::new(env!("CARGO_BIN_EXE_pidq"));
            let imported = import.arg("import").arg(&drawing).arg("-o").arg(&graph).output().expect("the command runs");
            assert!(imported.status.success(), "{}", String::from_utf8_lossy(&imported.stderr));
            let paths = [&drawing, &graph].map(|path| path.display().to_string());
            let account = run_python(script, &paths.each_ref().map(String::as_str));
            let _ = std::fs::remove_file(&graph);
            let Some(_) = account else { return };
        }
    }
}

/// Queries that refer to items by their tags. Placeholders such as `{tag}` are replaced by the field names of a
/// vocabulary.
const QUERIES: &[&str] = &[
    "componentCount(\"role\")",
    "downstream(\"T-101\") | map({name})",
    "downstream(\"P-101A\", {pass: \"zone\"}) | map({name})",
    "upstream(\"V-101\", {pass: \"zone\", avoid: .{position} == \"closed\"}) | map({name})",
    "connected(\"TEE-104\") | map({name})",
    "trace(\"T-101\") | map([.node | {name}, .depth, .stop])",
    "reachable(\"V-101\", \"OPC-106\")",
    "shortestPath(\"T-101\", \"OPC-103\", {pass: \"zone\"}) | .nodes | map({name})",
    "paths(\"TEE-101\", \"TEE-102\") | map(.nodes | map({name}))",
    "between(\"P-101A\", \"V-101\") | map({name})",
    "isolate(\"P-101A\") | [.barriers | map([.node.{tag}, .method, .closed]), .inside | map({name}), .complete]",
    "isolate(\"V-101\") | [.barriers | map(.node.{tag}), .unresolved | map([.kind, .at | {name}]), .relief | map(.node.{tag})]",
    "isolate(\"E-101\", {acceptConditional: true}) | .barriers | map([.node.{tag}, .kind, .fail_action])",
    "isolate(\"V-101\", {scope: \"grow\"}) | [.swallowed | map(.{tag}), .barriers | map(.node.{tag})]",
    "lineList() | map([.line, .nominal_diameter, .fluid_code, .piping_class, .insulation, .from, .to, .components])",
    "equipmentList() | pick(.tag, .nozzles, .lines)",
    "nozzleList() | pick(.qualified_tag, .equipment, .chamber, .size, .line, .connected_to)",
    "valveList() | pick(.tag, .role, .size, .line, .normal_position, .fail_action)",
    "instrumentIndex() | pick(.tag, .variable, .loop, .attached_to)",
    "offPageList() | pick(.tag, .direction, .drawing, .label, .connected_to)",
    "loops() | map([.loop, .closed, .sensors | map(.{tag}), .final_elements | map(.{tag}), .fail_action])",
    "loop(\"TIC-1105\") | [.sensing_points | map(.{tag}), .functions | map(.{tag}), .lines]",
    "deadEnds() | map([.at | {name}, .items | map(.{tag})])",
    "cycles({pass: \"zone\"}) | map(.nodes | map({name}))",
    "recycles() | map(.equipment | map(.{tag}))",
    "components() | map(size())",
    "cutPoints() | map({name})",
    "bypasses(\"FV-1101\") | map(.valves | map(.{tag}))",
    "breaks(\"{size}\") | map([.item.{tag}, .values, .legal])",
    "hazopNodes() | map([.section, .from | map({name}), .lines, .instruments | map(.{tag}), .design_limits])",
    "run(\"100-PL-10103-B1B\") | map({name})",
    "group(\"F-1101\") | .nodes | map(.{tag})",
    "validate({severity: \"warning\"}) | map([.code, .ids | map(node(get()) | {name})])",
];

#[test]
fn queries_give_the_same_results_in_another_vocabulary() {
    let substitute = |query: &str, names: &[(&str, &str)]| {
        names.iter().fold(query.to_owned(), |text, (key, name)| text.replace(&format!("{{{key}}}"), name))
    };
    let default_names = [
        ("name", "coalesce(.qualified_tag, .tag)"),
        ("tag", "tag"),
        ("position", "normal_position"),
        ("size", "nominal_diameter"),
    ];
    let vendor_names =
        [("name", "coalesce(.fullTag, .itemTag)"), ("tag", "itemTag"), ("position", "usualState"), ("size", "DN")];
    let (plant, vendor) = (drawing("plant"), drawing("plant_vendor"));
    let mut wrong = Vec::new();
    for query in QUERIES {
        let expected = evaluate(&plant, &substitute(query, &default_names));
        let result = evaluate(&vendor, &substitute(query, &vendor_names));
        assert!(expected != json!([]) && !expected.is_null(), "{query} returns nothing");
        if result != expected {
            wrong.push(format!("{query}\n  {expected}\n  {result}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_nozzle_with_an_instrument_is_not_a_gap() {
    assert_eq!(evaluate(&drawing("plant"), "isolate(\"V-101\").data_gaps"), json!([]));
    let gaps = evaluate(&drawing("storage"), "isolate(\"T-201B\").data_gaps | map(.at.id)");
    assert_eq!(gaps, json!([]), "neither a manhole nor a spare nozzle is a gap");
}

#[test]
fn results_equal_those_of_networkx() {
    let Some(output) =
        run_python("tests/networkx_oracle.py", &["examples/data/plant.json", "examples/data/storage.json"])
    else {
        return;
    };
    let lines = String::from_utf8(output.stdout).expect("text");
    let (plant, storage) = (drawing("plant"), drawing("storage"));
    let mut count = 0;
    for row in lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("a row of JSON")) {
        let text = |key: &str| row[key].as_str().expect(key);
        let graph = if text("drawing") == "plant" { &plant } else { &storage };
        let found = evaluate(graph, text("query"));
        assert_eq!(sorted(&found, &row), row["expected"], "{} of {}", text("query"), text("drawing"));
        count += 1;
    }
    assert!(count > 1000, "only {count} queries were compared");
}

/// Sorts a result without a defined order like the expected one.
fn sorted(found: &Value, row: &Value) -> Value {
    let Value::Array(items) = found else { return found.clone() };
    let mut items = items.clone();
    if row["sorted"] == json!(true) {
        items.sort_by_key(Value::to_string);
    }
    Value::Array(items)
}
