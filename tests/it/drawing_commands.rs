//! Subcommands for drawings: lists, checks, revisions, sheets.

use std::fs;

use crate::cli::{PLANT, check, check_error, check_shell, pidq, shell, test_dir, write_file};

/// A tank, a valve and a connector to another sheet.
const OLD: &str = r#"{"pid_graph": {
  "nodes": [
    {"id": "n1", "tag": "T-1", "node_classification": "equipment.tank", "orig_x": 10, "orig_y": 20},
    {"id": "n2", "tag": "V-1", "node_classification": "piping_component.gate_valve", "size": "50", "orig_x": 20, "orig_y": 20},
    {"id": "n3", "tag": "OUT-1", "node_classification": "reference.off_page_connector",
     "cross_page": {"drawing_name": "PID-2", "link_label": "50-W-1"}}],
  "edges": [
    {"id": "e1", "edge_type": "physically_connected_to", "from": "n1", "to": "n2"},
    {"id": "e2", "edge_type": "physically_connected_to", "from": "n2", "to": "n3"}],
  "metadata": {"drawing_name": "PID-1", "job_id": "j1", "schema_version": "1.0.0", "change_version": "1"}}}"#;

/// The sheet on which `OLD` continues.
const NEXT: &str = r#"{"pid_graph": {
  "nodes": [
    {"id": "n1", "tag": "IN-1", "node_classification": "reference.off_page_connector",
     "cross_page": {"drawing_name": "PID-1", "link_label": "50W1"}},
    {"id": "n2", "tag": "T-2", "node_classification": "equipment.tank"},
    {"id": "n3", "tag": "OUT-9", "node_classification": "reference.off_page_connector",
     "cross_page": {"drawing_name": "PID-9", "link_label": "80-W-9"}}],
  "edges": [
    {"id": "e1", "edge_type": "physically_connected_to", "from": "n1", "to": "n2"},
    {"id": "e2", "edge_type": "physically_connected_to", "from": "n2", "to": "n3"}],
  "metadata": {"drawing_name": "PID-2"}}}"#;

/// A drawing from another program.
const PROTEUS: &str = r#"<PlantModel>
  <PlantInformation SchemaVersion="4.1" Units="mm"/>
  <Equipment ID="E1" TagName="T4711" ComponentClass="Tank"/>
</PlantModel>"#;

/// The next revision of `OLD`: one change of each kind.
fn revised() -> String {
    OLD.replace(r#""size": "50", "orig_x": 20"#, r#""size": "80", "orig_x": 25"#)
        .replace(r#""tag": "T-1""#, r#""tag": "T-1A""#)
        .replace(r#"{"id": "n3", "tag": "OUT-1""#, r#"{"id": "n4", "tag": "OUT-2""#)
        .replace(r#""to": "n3""#, r#""to": "n4""#)
}

#[test]
fn the_exit_status_of_diff_is_1_for_differences() {
    let folder = test_dir("diff");
    let (old, new) = (write_file(&folder, "old.json", OLD), write_file(&folder, "new.json", &revised()));
    let equal = "{\"added\":[],\"removed\":[],\"changed\":[],\"moved\":[],\"renamed\":[],\"retagged\":[],\
                 \"rewired\":[],\"edges_added\":[],\"edges_removed\":[],\"edges_changed\":[],\"equal\":true}\n";
    check(&["diff", "-c", &old, &old], "", equal, 0);
    check(&["diff", "-c", "-", &old], OLD, equal, 0);
    check(&["diff", "--format", "text", &old, &old], "", "", 0);
    let changes = pidq(&["diff", &old, &new], "");
    assert_eq!(changes.status.code(), Some(1));
    let changed =
        pidq(&["query", "-c", ".changed | map([.tag, .before, .after])"], &String::from_utf8_lossy(&changes.stdout));
    assert_eq!(String::from_utf8_lossy(&changed.stdout), "[[\"V-1\",\"50\",\"80\"]]\n");
}

#[test]
fn changes_are_printed_as_text() {
    let folder = test_dir("diff-text");
    let (old, new) = (write_file(&folder, "old.json", OLD), write_file(&folder, "new.json", &revised()));
    let expected = "\
added         OUT-2 (n4)  reference.off_page_connector
removed       OUT-1 (n3)  reference.off_page_connector
changed       V-1 (n2)    size: \"50\" -> \"80\"
moved         V-1 (n2)    by 5, 0
retagged      n1          \"T-1\" -> \"T-1A\"
rewired       V-1 (n2)    out: OUT-1 -> OUT-2
edge added    n2 -> n4    physically_connected_to
edge removed  n2 -> n3    physically_connected_to
";
    check(&["diff", "--format", "text", &old, &new], "", expected, 1);
    check_error(&["diff", "--format", "text", &old, &new], "", "added: 1, removed: 1, changed: 1, moved: 1", 1);
    check_error(&["diff", "--format", "text", &old, &old], "", "no differences", 0);
}

#[test]
fn the_compared_fields_can_be_chosen() {
    let folder = test_dir("diff-options");
    let old = write_file(&folder, "old.json", OLD);
    let moved = write_file(&folder, "moved.json", &OLD.replace("\"50\", \"orig_x\": 20", "\"80\", \"orig_x\": 24"));
    let exit_status = |options: &[&str]| pidq(&[&["diff", &old, &moved], options].concat(), "").status.code();
    assert_eq!(exit_status(&[]), Some(1));
    assert_eq!(exit_status(&["--ignore", "size"]), Some(1));
    assert_eq!(exit_status(&["--tolerance", "4"]), Some(1));
    assert_eq!(exit_status(&["--ignore", "name,size", "--tolerance", "4"]), Some(0));
    let renamed = write_file(&folder, "renamed.json", &OLD.replace("\"n1\"", "\"m1\""));
    check(&["diff", "--identity", "tag", "--format", "text", &old, &renamed], "", "", 0);
    assert_eq!(pidq(&["diff", "--identity", "id", &old, &renamed], "").status.code(), Some(1));
    check(&["diff", "--format", "text", &old, &renamed], "", "renamed  T-1  \"n1\" -> \"m1\"\n", 1);
    check_error(&["diff", "--limits", "fuel=3", &old, &moved], "", "PQ4001", 5);
}

#[test]
fn sheets_are_joined_and_unmatched_connectors_reported() {
    let folder = test_dir("join");
    let (first, next) = (write_file(&folder, "1.json", OLD), write_file(&folder, "2.json", NEXT));
    let out = folder.join("out/plant.json").display().to_string();
    let joined = pidq(&["join", &first, &next, "-o", &out], "");
    assert_eq!((joined.stdout.len(), joined.status.code()), (0, Some(0)));
    assert_eq!(
        String::from_utf8_lossy(&joined.stderr),
        "no partner for PID-2#n3 (to drawing PID-9, label 80-W-9)\n\
         2 sheets: 1 pair of connectors joined, 1 without a partner, 0 with several\n"
    );
    check(&["query", "-c", "downstream(\"T-1\") | map(.tag)", &out], "", "[\"V-1\",\"OUT-1\",\"IN-1\",\"T-2\"]\n", 0);
    check(
        &["query", "-c", ".pid_graph.metadata.joined.pairs | size()"],
        &fs::read_to_string(&out).expect("it was written"),
        "1\n",
        0,
    );
    check_error(&["join", &first, &next, "--by", "link"], "", "0 pairs of connectors joined, 3 without", 0);
    check_error(&["join", &first, &out, "-o", &out], "", "is one of the sheets", 2);
}

#[test]
fn an_ambiguous_connector_is_not_joined() {
    let folder = test_dir("join-several");
    let (first, next) = (write_file(&folder, "1.json", OLD), write_file(&folder, "2.json", NEXT));
    let twice = write_file(&folder, "3.json", &NEXT.replace("\"PID-2\"}", "\"PID 2\"}"));
    let stderr = "several partners for PID-1#n3 (to drawing PID-2, label 50-W-1): PID-2#n1, PID 2#n1\n";
    check_error(&["join", &first, &next, &twice], "", stderr, 0);
}

#[test]
fn findings_are_a_table() {
    let dangling = OLD.replace(r#""to": "n3""#, r#""to": "n9""#);
    let expected = "\
error    G020  dangling_edge          no node has the id \"n9\"  n2
warning  P101  non_terminating_line   a line has an open end at V-1 (free_port)  n2
warning  P102  unconnected_component  OUT-1 is not connected   n3
";
    check(&["validate"], &dangling, expected, 1);
    check_error(&["validate", "-"], &dangling, "<stdin>: 1 error, 2 warnings, 0 notes", 1);
    check(&["validate", "--severity", "error", "--rules", "P1"], &dangling, "", 0);
    check(&["validate"], OLD, "", 0);
}

#[test]
fn errors_fail_a_validation_and_warnings_on_request() {
    let without_metadata = OLD.replace("\"job_id\"", "\"job\"");
    let status = |args: &[&str]| pidq(&[&["validate"], args].concat(), &without_metadata).status.code();
    assert_eq!(status(&[]), Some(0));
    assert_eq!(status(&["--strict"]), Some(1));
    assert_eq!(status(&["--strict", "--severity", "error"]), Some(0));
    assert_eq!(status(&["--strict", "--rules", "G02,non_terminating_line"]), Some(0));
}

#[test]
fn a_file_without_a_drawing_is_a_finding() {
    let found = "[{\"file\":\"<stdin>\",\"code\":\"G002\",\"name\":\"no_nodes_array\",\"severity\":\"error\"";
    let compact = |input: &str| {
        let printed = String::from_utf8_lossy(&pidq(&["validate", "--format", "json"], input).stdout).into_owned();
        String::from_utf8_lossy(&pidq(&["query", "-c", "get()"], &printed).stdout).into_owned()
    };
    assert!(compact("{\"a\": 1}").starts_with(found), "{}", compact("{\"a\": 1}"));
    assert!(compact("{").contains("\"code\":\"G001\""), "{}", compact("{"));
    assert!(compact(&"[".repeat(1000)).contains("\"code\":\"G060\""));
    assert_eq!(compact(OLD), "[]\n");
    check_error(&["validate"], "id,tag\n", "1 error", 1);
}

#[test]
fn every_file_is_checked_and_named() {
    let folder = test_dir("validate");
    let (good, bad) = (write_file(&folder, "good.json", OLD), write_file(&folder, "bad.json", "{"));
    let output = pidq(&["validate", "no.json", &bad, &good], "");
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(stdout.starts_with(&bad) && stderr.contains("good.json: 0 errors"), "{stdout} {stderr}");
    assert!(stderr.contains("no such file `no.json`"), "{stderr}");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn lists_are_tables() {
    let valves = "\
id  tag  class                        role     size  line  normal_position  fail_action
n2  V-1  piping_component.gate_valve  barrier  50
";
    check(&["list", "valves"], OLD, valves, 0);
    check(
        &["list", "valves", "--format", "csv", "-c", "orig_x"],
        OLD,
        "id,tag,class,role,size,line,normal_position,fail_action,orig_x\nn2,V-1,piping_component.gate_valve,barrier,50,,,,20\n",
        0,
    );
    for list in ["lines", "equipment", "nozzles", "valves", "instruments", "off-page"] {
        let rows = String::from_utf8_lossy(&pidq(&["list", list, PLANT], "").stdout).lines().count();
        let json = pidq(&["list", list, PLANT, "--format", "json"], "");
        let count = pidq(&["query", "size()"], &String::from_utf8_lossy(&json.stdout));
        assert_eq!(String::from_utf8_lossy(&count.stdout), format!("{}\n", rows - 1), "{list}");
        assert!(rows > 1, "{list}");
    }
    check(&["list", "segments", PLANT], "", "", 0);
    check_error(&["list", "segments", PLANT], "", "no segments", 0);
    check_error(
        &["list", "valves", "-c", "size", "-c", "sise"],
        OLD,
        "none of the valves in <stdin> has a value for `sise`",
        0,
    );
}

#[test]
fn a_list_is_written_to_its_output_file() {
    let folder = test_dir("list");
    let first_bytes = |name: &str| {
        let path = folder.join(name).display().to_string();
        check(&["list", "equipment", PLANT, "-o", &path], "", "", 0);
        fs::read(&path).expect("it was written")[..2].to_vec()
    };
    assert_eq!(first_bytes("list.csv"), b"id");
    assert_eq!(first_bytes("list.json"), b"[\n");
    assert_eq!(first_bytes("list.XLSX"), b"PK");
    assert_eq!(first_bytes("list.txt"), b"id");
    check_error(&["list", "lines", PLANT, "-o", "list.pdf"], "", "table, csv, json, xlsx", 2);
}

#[test]
fn drawings_of_other_programs_are_imported_on_the_fly() {
    let folder = test_dir("proteus");
    let drawing = write_file(&folder, "drawing.xml", PROTEUS);
    check(
        &["list", "equipment", &drawing],
        "",
        "id  tag    class           nozzles  lines\nE1  T4711  equipment.tank  0\n",
        0,
    );
    check(&["diff", "--format", "text", &drawing, &drawing], "", "", 0);
    check(&["validate", "--severity", "error"], PROTEUS, "", 0);
    check_error(&["join", &drawing, &drawing], "", "2 sheets: 0 pairs", 0);
}

#[test]
fn findings_name_their_file() {
    let folder = test_dir("wrong");
    let (good, other) = (write_file(&folder, "good.json", OLD), write_file(&folder, "other.json", "[1]"));
    let name = folder.display().to_string();
    for args in
        [&["diff", &good, &other], &["diff", &other, &good], &["join", &good, &other], &["list", "lines", &other][..]]
    {
        check_error(args, "", "PQ3006", 2);
        check_error(args, "", "other.json", 2);
    }
    for args in [&["diff", &good, &name], &["join", &good, &name], &["list", "lines", &name], &["validate", &name][..]]
    {
        check_error(args, "", "name its files", 2);
    }
    check_error(&["diff", "-", "-"], OLD, "`-` was given twice", 2);
    check_error(&["diff", &good], "", "<NEW>", 2);
    check_error(&["diff", "--tolerance", "-1", &good, &good], "", "expected a number of at least 0", 2);
    check_error(&["join", &good], "", "at least two sheets", 2);
    check_error(&["join", &good, "-o", "-", &good], "", "2 sheets: 0 pairs", 0);
    check_error(&["list", &good, "lines"], "", "possible values: lines, segments", 2);
    check_error(&["list", "lines", &good, "--column", "x"], "", "fixed columns", 2);
    check_error(&["list", "valves", &good, "--limits", "fuel=1"], "", "PQ4001", 5);
    check_error(&["validate", &good, "--rules", "X1"], "", "not \"X1\"", 2);
}

#[test]
fn control_characters_of_a_drawing_are_escaped() {
    let hostile = OLD.replace("V-1", "V\\u001b[2J\\n");
    for args in [&["list", "valves"][..], &["validate", "--rules", "G,P"]] {
        assert!(!pidq(args, &hostile).stdout.contains(&0x1b), "{args:?}");
    }
    let folder = test_dir("hostile-tag");
    let (old, new) = (write_file(&folder, "old.json", OLD), write_file(&folder, "new.json", &hostile));
    assert!(!pidq(&["diff", "--format", "text", &old, &new], "").stdout.contains(&0x1b));
}

#[test]
fn a_closed_pipe_does_not_change_the_exit_status() {
    let folder = test_dir("commands-closed-pipe");
    let node = |at: usize| format!(r#"{{"id": "n{at}", "tag": "V-{at}", "class": "gate_valve"}}"#);
    let nodes: Vec<String> = (0..3000).map(node).collect();
    write_file(&folder, "big.json", &format!(r#"{{"nodes": [{}], "edges": []}}"#, nodes.join(",")));
    write_file(&folder, "none.json", r#"{"nodes": [], "edges": []}"#);
    check_shell("pidq list valves big.json | head -1 | cut -c1-2", &folder, "id\n");
    check_shell("pidq validate big.json 2>/dev/null | head -1 | cut -c1-7", &folder, "warning\n");
    check_shell("pidq join big.json none.json 2>/dev/null | head -c 1", &folder, "{");
    for line in [
        "pidq validate --strict big.json",
        "pidq diff none.json big.json",
        "pidq diff --format text none.json big.json",
    ] {
        let output = shell(&format!("{line} | head -1"), &folder);
        assert_eq!(output.status.code(), Some(1), "{line}");
    }
    for line in ["list valves big.json", "validate big.json", "diff none.json big.json", "join big.json none.json"] {
        if fs::metadata("/dev/full").is_ok() {
            let output = shell(&format!("pidq {line} >/dev/full"), &folder);
            assert_eq!(output.status.code(), Some(2), "{line}");
        }
    }
}
