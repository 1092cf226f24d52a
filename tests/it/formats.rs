//! Import and export by the command: output files, directories, exit codes, highlights.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const DRAWING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/skid.xml");
const PLANT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/plant.json");

/// Temporary directory of a test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("pidq-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).expect("a folder");
        Folder(path)
    }

    fn with(self, name: &str, text: &str) -> Folder {
        fs::write(self.0.join(name), text).expect("a file");
        self
    }

    fn run(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_pidq")).args(args).current_dir(&self.0).output().expect("the command runs")
    }

    #[track_caller]
    fn check(&self, args: &[&str], code: i32, expected: &str) -> String {
        let output = self.run(args);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{args:?} {stderr}");
        assert!(stderr.contains(expected), "{args:?} printed {stderr}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn has(&self, name: &str) -> bool {
        self.0.join(name).is_file()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

fn drawing() -> String {
    fs::read_to_string(DRAWING).expect("the drawing")
}

#[test]
fn an_import_writes_next_to_its_file_or_to_the_given_path() {
    let folder = Folder::new("next-to").with("a.xml", &drawing());
    folder.check(&["import", "a.xml"], 0, "1 of 1 file: 20 nodes, 27 edges, 2 warnings");
    assert!(folder.has("a.json"));
    folder.check(&["import", "a.xml", "-o", "new/b.json"], 0, "");
    assert!(folder.has("new/b.json"));
    let json = folder.check(&["import", "a.xml", "-o", "-"], 0, "");
    assert!(json.starts_with("{\"pid_graph\":{\"nodes\":["));
}

#[test]
fn a_directory_is_imported_and_only_unreadable_files_are_failures() {
    let folder = Folder::new("folder").with("a.xml", &drawing()).with("a.XML", &drawing()).with("notes.txt", "x");
    folder.check(&["import", ".", "-o", "out"], 0, "2 of 2 files");
    assert!(folder.has("out/a.json") && folder.has("out/a.xml.json"), "no drawing is written over another");
    let folder = folder.with("bad.xml", "<PlantModel>");
    folder.check(&["import", "."], 2, "PQ6001");
    folder.check(&["import", "."], 2, "2 of 3 files");
    folder.check(&["import", "nothing.xml"], 2, "no such file `nothing.xml`");
    folder.check(&["import", "notes.txt"], 2, "unknown format");
    folder.check(&["import", "--from", "dwg", "a.xml"], 2, "PQ6009");
    let folder = folder.with("sheet.dwg", "AC1032").with("sheet.zip", "PK\u{3}\u{4}");
    folder.check(&["import", "sheet.dwg"], 2, "it is an AutoCAD drawing (DWG)");
    folder.check(&["import", "sheet.zip"], 2, "unpack it");
    fs::create_dir(folder.0.join("empty")).expect("a folder");
    folder.check(&["import", "empty"], 2, "no drawings");
}

#[test]
fn a_dexpi_drawing_is_imported_with_the_symbols_of_a_profile() {
    let symbol = "<Object name='CheckValve' type='Profile/Symbol'><Components property='Variants'>\
        <Object type='Profile/SymbolVariant'/></Components></Object>";
    let folder = Folder::new("dexpi").with("profile.xml", &format!("<Model name='Own' uri='u'>{symbol}</Model>"));
    let dexpi = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/skid_dexpi.xml");
    folder.check(&["import", "-v", dexpi, "-o", "a.json"], 0, "info[I040]: CheckValve");
    let json = folder.check(&["import", dexpi, "--profile", "profile.xml", "-o", "-"], 0, "1 warning;");
    assert!(!json.contains("I040"));
    folder.check(&["import", "profile.xml"], 2, "an information model or a profile, not a drawing");
    let valves = folder.check(&["query", "-c", "downstream(\"T_1_N1\") | map(.id)", "a.json"], 0, "");
    assert!(valves.starts_with("[\"V_1\",\"C_1\",\"P_1_N1\""), "{valves}");
}

#[test]
fn findings_are_printed_on_request() {
    let folder = Folder::new("findings");
    folder.check(
        &["import", "-v", DRAWING, "-o", "-"],
        0,
        "warning[I004]: the end of the segment `S-2` is not connected",
    );
}

#[test]
fn a_drawing_is_queried_after_its_import() {
    let folder = Folder::new("queried");
    folder.check(&["import", DRAWING, "-o", "a.json"], 0, "");
    let query = ".pid_graph.edges | filter(.line == \"80-W-101\") | map(.from + \" > \" + .to)";
    let result = folder.check(&["query", "-c", query, "a.json"], 0, "");
    assert_eq!(result, "[\"T-1-N1 > V-1\",\"V-1 > C-1\",\"C-1 > P-1-N1\",\"P-1-N2 > S-2-end\"]\n");
}

#[test]
fn a_graph_is_exported_by_format_by_extension_and_as_a_result() {
    let folder = Folder::new("export");
    assert!(folder.check(&["export", PLANT, "-f", "dot"], 0, "").starts_with("digraph pid {"));
    folder.check(&["export", PLANT, "-o", "plant.xlsx"], 0, "");
    assert!(folder.has("plant.xlsx"));
    folder.check(&["export", PLANT, "-f", "neo4j", "-o", "tables"], 0, "");
    assert!(folder.has("tables/nodes.csv") && folder.has("tables/rels.csv"));
    folder.check(&["export", PLANT, "-f", "neo4j"], 2, "specify a directory with --output");
    folder.check(&["export", PLANT], 2, "specify the format with --format");
    folder.check(&["export", PLANT, "-f", "dwg"], 2, "possible values");
    let loops = ".pid_graph.nodes | filter(.node_type == \"loop\") | pick(.tag, .unit)";
    let csv = folder.check(&["export", PLANT, "-f", "csv", "-q", loops], 0, "");
    assert_eq!(csv, "tag,unit\nF-1101,m³/h\nF-1102,m³/h\nL-1103,%\nP-1104,bar g\nT-1105,°C\n");
    folder.check(&["export", PLANT, "-f", "csv", "-q", "fliter(.a)"], 3, "PQ1001");
    let (all, nodes) = (["export", PLANT, "-f", "csv"], ["export", PLANT, "-f", "csv", "-q", "nodes()"]);
    assert_eq!(folder.check(&all, 0, ""), folder.check(&nodes, 0, ""));
    folder.check(&["export", PLANT, "-f", "graphml", "-q", "1 + 1"], 2, "PQ6003");
}

#[test]
fn a_drawing_in_another_format_is_exported_as_json_and_as_statements() {
    let folder = Folder::new("json");
    let imported = folder.check(&["import", DRAWING, "-o", "-"], 0, "");
    assert_eq!(folder.check(&["export", DRAWING, "-f", "json"], 0, "").trim_end(), imported.trim_end());
    folder.check(&["export", DRAWING, "-o", "drawing.json"], 0, "");
    assert_eq!(folder.check(&["query", "nodes() | size()", "drawing.json"], 0, ""), "20\n");
    assert_eq!(folder.check(&["export", PLANT, "-f", "json", "-q", "nodes() | size()"], 0, ""), "120\n");
    folder.check(&["export", DRAWING, "-o", "drawing.cypher"], 0, "");
    let statements = fs::read_to_string(folder.0.join("drawing.cypher")).expect("the statements");
    assert!(statements.starts_with("CREATE CONSTRAINT ") && statements.contains("'T-1'"), "{statements}");
}

#[test]
fn tables_are_exported_and_imported_again() {
    let folder = Folder::new("tables");
    folder.check(&["export", PLANT, "-f", "csv-graph", "-o", "t"], 0, "");
    let files = ["import", "--from", "csv-graph", "t/nodes.csv", "t/edges.csv", "-o", "back.json"];
    folder.check(&files, 0, "120 nodes");
    let count =
        folder.check(&["query", ".pid_graph.nodes | filter(.node_type == \"loop\") | size()", "back.json"], 0, "");
    assert_eq!(count, "5\n");
}

/// The same plant in the vocabulary of another vendor.
const VENDOR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/plant_vendor.json");

#[test]
fn a_drawing_in_vendor_terms_is_exported_in_standard_terms() {
    let folder = Folder::new("vendor");
    for (format, ends) in [("dot", " -> "), ("mermaid", "-->")] {
        let [plant, vendor] = [PLANT, VENDOR].map(|file| folder.check(&["export", file, "-f", format], 0, ""));
        assert!(plant.matches(ends).count() > 50, "{format}");
        assert_eq!(plant.matches(ends).count(), vendor.matches(ends).count(), "{format}");
        assert!(vendor.contains("HV-1001"), "{format}");
    }
    let svg = folder.check(&["draw", VENDOR, "--highlight", r#"node("T-101")"#], 0, "");
    assert_eq!(svg.matches("class=\"hit\"").count(), 1);
    assert_eq!(svg.matches("<g class=\"off_page\"").count(), 6);
    assert!(svg.contains("data-id=\"1001\"") && svg.contains(">T-101<"));
    folder.check(&["export", VENDOR, "-f", "neo4j", "-o", "tables"], 0, "");
    let nodes = fs::read_to_string(folder.0.join("tables/nodes.csv")).expect("nodes");
    assert!(nodes.contains("\n1001,Item;Tank,"), "{nodes}");
    let rels = fs::read_to_string(folder.0.join("tables/rels.csv")).expect("edges");
    assert!(rels.contains("\n1082,1035,PIPE,"), "{rels}");
    let link = folder.check(&["export", VENDOR, "-f", "node-link"], 0, "");
    assert!(link.contains(r#""source":"1082","target":"1035""#), "{link}");
    for (format, file) in [("graphml", "v.graphml"), ("node-link", "v.json")] {
        folder.check(&["export", VENDOR, "-f", format, "-o", file], 0, "");
        let query = r#"downstream("T-101") | map(.itemTag)"#;
        let all = folder.check(&["query", query, VENDOR], 0, "");
        folder.check(&["import", file, "-o", "back.json"], 0, "");
        assert_eq!(folder.check(&["query", query, "back.json"], 0, ""), all, "{format}");
    }
    folder.check(&["export", VENDOR, "-f", "csv-graph", "-o", "pair"], 0, "");
    let nodes = fs::read_to_string(folder.0.join("pair/nodes.csv")).expect("nodes");
    assert!(nodes.starts_with("id,oid,"), "{nodes}");
}

#[test]
fn an_exported_part_in_vendor_terms_can_be_queried() {
    let folder = Folder::new("vendor-part");
    let part = folder.check(&["query", r#"node("P-101A") | expand(2) | subgraph()"#, VENDOR], 0, "");
    let folder = folder.with("part.json", &part);
    assert_ne!(folder.check(&["query", "nodes() | size()", "part.json"], 0, "").trim(), "0");
    assert!(folder.check(&["export", "part.json", "-f", "dot"], 0, "").contains("P-101A"));
}

#[test]
fn a_drawing_is_rendered_in_full_in_part_and_with_highlights() {
    let folder = Folder::new("draw");
    let svg = folder.check(&["draw", PLANT], 0, "");
    assert!(svg.starts_with("<svg ") && svg.contains("data-id=\"V-101\"") && !svg.contains("class=\"hit\""));
    let tanks = ".pid_graph.nodes | filter(.tag == \"T-101\")";
    folder.check(&["draw", PLANT, "--dark", "--highlight", tanks, "-o", "marked.svg"], 0, "");
    let marked = fs::read_to_string(folder.0.join("marked.svg")).expect("the drawing");
    assert_eq!(marked.matches("class=\"hit\"").count(), 1);
    let line = ".pid_graph.nodes | filter(.line == \"50-PL-10109-B1B\")";
    let part = folder.check(&["draw", PLANT, "--select", line], 0, "");
    assert!(part.contains("data-id=\"HV-1006\"") && !part.contains("data-id=\"V-101\""));
    assert!(
        folder.check(&["draw", DRAWING], 0, "").contains("data-id=\"T-1\""),
        "a drawing in another format is imported first"
    );
    folder.check(&["draw", PLANT, "--highlight", "fliter(.a)"], 3, "PQ1001");
    let symbols = folder.check(&["draw", "--symbols"], 0, "");
    let documented = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/images/symbols.svg");
    let documented = fs::read_to_string(documented).expect("the sheet in the documentation");
    assert!(symbols == documented, "update it: pidq draw --symbols -o docs/images/symbols.svg");
    folder.check(&["draw", "--symbols", PLANT], 2, "cannot be used with");
    folder.check(&["draw"], 2, "required");
}
