//! Tests of validation: accepted and rejected graphs, filled-in metadata, and preserved bytes.

use pidq_server::store::validation::{GraphDraft, ValidationRules, VersionSource, WarningPolicy, validate};
use pidq_server::store::{Error, Result};

use crate::fixtures::{Random, graph_id};

fn validate_graph(body: &str) -> Result<GraphDraft> {
    validate(&graph_id("J-1"), body.to_owned().into(), &ValidationRules::default())
}

fn strict(body: &str) -> Result<GraphDraft> {
    validate(
        &graph_id("J-1"),
        body.to_owned().into(),
        &ValidationRules { warnings: WarningPolicy::Reject, ..ValidationRules::default() },
    )
}

/// Checks the stored form of a body as version 7.
#[track_caller]
fn check(body: &str, stored: &str) {
    let draft = validate_graph(body).unwrap_or_else(|error| panic!("{body}: {error}"));
    assert_eq!(std::str::from_utf8(&draft.to_json("7")), Ok(stored));
    // A returned graph is accepted again and does not change.
    let again = validate_graph(stored).unwrap_or_else(|error| panic!("{stored}: {error}"));
    assert_eq!(again.content_hash, draft.content_hash, "{stored}");
    assert_eq!(std::str::from_utf8(&again.to_json("7")), Ok(stored));
}

#[track_caller]
fn check_rejected(body: &str, code: &str) -> Error {
    let error = validate_graph(body).expect_err(body);
    assert_eq!(error.code(), code, "{body}: {error}");
    error
}

#[track_caller]
fn findings(error: Error) -> Vec<(String, String)> {
    match error {
        Error::InvalidGraph(findings) => {
            findings.into_iter().map(|finding| (finding.pointer, finding.detail)).collect()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn metadata_is_filled_in_and_other_bytes_are_preserved() {
    check(
        r#"{"pid_graph":{"nodes":[],"edges":[]}}"#,
        r#"{"pid_graph":{"nodes":[],"edges":[],"metadata":{"job_id":"J-1","schema_version":"1","change_version":"7"}}}"#,
    );
    check(
        r#"{"pid_graph":{"metadata":{},"nodes":[{"x":1.0,"y":1e3,"z":12345678901234567890}],"edges":[]}}"#,
        r#"{"pid_graph":{"metadata":{"job_id":"J-1","schema_version":"1","change_version":"7"},"nodes":[{"x":1.0,"y":1e3,"z":12345678901234567890}],"edges":[]}}"#,
    );
    check(
        "{\n \"pid_graph\": {\n  \"nodes\": [ ],\n  \"edges\": [ ],\n  \"metadata\": {\n   \"change_version\": \"99\",\n   \"drawing_name\": \"\\u00c4\"\n  }\n }\n}\n",
        "{\n \"pid_graph\": {\n  \"nodes\": [ ],\n  \"edges\": [ ],\n  \"metadata\": {\n   \"change_version\": \"7\",\n   \"drawing_name\": \"\\u00c4\",\"job_id\":\"J-1\",\"schema_version\":\"1\"\n  }\n }\n}\n",
    );
}

#[test]
fn the_value_of_pid_graph_may_be_sent_alone() {
    check(
        " {\"edges\":[],\"nodes\":[]} ",
        " {\"pid_graph\":{\"edges\":[],\"nodes\":[],\"metadata\":{\"job_id\":\"J-1\",\"schema_version\":\"1\",\"change_version\":\"7\"}}} ",
    );
    check(
        r#"{"edges":[],"metadata":{"schema_version":"1.2"},"nodes":[]}"#,
        r#"{"pid_graph":{"edges":[],"metadata":{"schema_version":"1.2","job_id":"J-1","change_version":"7"},"nodes":[]}}"#,
    );
}

#[test]
fn unknown_fields_and_escaped_keys_are_preserved() {
    check(
        r#"{"v":1,"pid\u005fgraph":{"nodes":[],"edges":[],"metadata":{"job\u005fid":"J-1","schema_version":"1","change_version":3}},"w":[]}"#,
        r#"{"v":1,"pid\u005fgraph":{"nodes":[],"edges":[],"metadata":{"job\u005fid":"J-1","schema_version":"1","change_version":"7"}},"w":[]}"#,
    );
}

#[test]
fn the_last_duplicate_key_counts_and_all_are_preserved() {
    check(
        r#"{"pid_graph":1,"pid_graph":{"nodes":[],"edges":[],"metadata":{"change_version":"1","change_version":"2"}}}"#,
        r#"{"pid_graph":1,"pid_graph":{"nodes":[],"edges":[],"metadata":{"change_version":"7","change_version":"7","job_id":"J-1","schema_version":"1"}}}"#,
    );
    let draft = validate_graph(r#"{"nodes":[{"id":"a","id":"b"}],"edges":[]}"#).expect("let through");
    assert_eq!((draft.warnings[0].code, draft.warnings[0].count), ("duplicate-key", 1));
    let refused = findings(strict(r#"{"nodes":[{"id":"a","id":"b"}],"edges":[]}"#).expect_err("strict"));
    assert_eq!(refused[0].0, "/nodes/0/id");
}

#[test]
fn a_draft_has_counts_and_names() {
    let draft = validate_graph(
        r#"{"pid_graph":{"nodes":[{"id":"a"},{"id":"b"}],"edges":[{"source":"a","target":"b"}],
        "metadata":{"drawing_name":"PID-1","schema_version":"1.4.2"}}}"#,
    )
    .expect("a drawing");
    assert_eq!((draft.nodes, draft.edges), (2, 1));
    assert_eq!(draft.drawing_name.as_deref(), Some("PID-1"));
    assert_eq!(draft.schema_version, "1.4.2");
    assert_eq!(draft.warnings, []);
}

#[test]
fn invalid_json_is_rejected() {
    for body in ["", "{", "nodes", "{} {}", "\u{feff}{}", "[1,]", r#"{"nodes":["\ud800"],"edges":[]}"#] {
        check_rejected(body, "malformed-json");
    }
    let body = b"{\"nodes\":[\"\xff\"],\"edges\":[]}".to_vec();
    assert_eq!(
        validate(&graph_id("J-1"), body.into(), &ValidationRules::default()).expect_err("not UTF-8").code(),
        "malformed-json"
    );
    assert!(matches!(check_rejected(r#"{"a":"\udc00"}"#, "malformed-json"), Error::MalformedJson { offset: 6, .. }));
}

#[test]
fn an_invalid_graph_is_rejected_with_pointers() {
    let check = |body: &str, expected: &[(&str, &str)]| {
        let found = findings(check_rejected(body, "invalid-graph"));
        let found: Vec<(&str, &str)> = found.iter().map(|(pointer, detail)| (&**pointer, &**detail)).collect();
        assert_eq!(found, expected, "{body}");
    };
    check("[]", &[("", "expected an object, found array")]);
    check("{}", &[("/nodes", "expected an array, found nothing")]);
    check(r#"{"pid_graph":null}"#, &[("/pid_graph", "expected an object, found null")]);
    check(r#"{"pid_graph":{"nodes":[]}}"#, &[("/pid_graph/edges", "expected an array, found nothing")]);
    check(r#"{"nodes":{},"edges":[]}"#, &[("/nodes", "expected an array, found object")]);
    check(
        r#"{"nodes":[{},1,"x"],"edges":[]}"#,
        &[("/nodes/1", "expected an object, found number"), ("/nodes/2", "expected an object, found string")],
    );
    check(r#"{"nodes":[],"edges":[],"metadata":[]}"#, &[("/metadata", "expected an object, found array")]);
    let many = format!(r#"{{"nodes":[{}0],"edges":[]}}"#, "1,".repeat(100));
    assert_eq!(findings(check_rejected(&many, "invalid-graph")).len(), 20);
}

#[test]
fn limits_are_enforced() {
    let deep = |levels: usize| format!(r#"{{"nodes":[],"edges":[],"x":{}{}}}"#, "[".repeat(levels), "]".repeat(levels));
    assert!(validate_graph(&deep(127)).is_ok());
    check_rejected(&deep(128), "invalid-graph");
    check_rejected(&deep(1_000_000), "invalid-graph");
    let small = ValidationRules { bytes: 30, nodes: 1, edges: 1, ..ValidationRules::default() };
    let code = |body: &str| validate(&graph_id("J-1"), body.to_owned().into(), &small).map_err(|error| error.code());
    assert!(code(r#"{"nodes":[{}],"edges":[{}]}"#).is_ok());
    for body in [r#"{"nodes":[{},{}],"edges":[]}"#, r#"{"nodes":[],"edges":[{},{}]}"#, &" ".repeat(31)] {
        assert_eq!(code(body).expect_err("too large"), "graph-too-large", "{body}");
    }
}

#[test]
fn another_graph_id_and_another_schema_are_rejected() {
    check_rejected(r#"{"nodes":[],"edges":[],"metadata":{"job_id":"J-2"}}"#, "job-id-mismatch");
    check_rejected(r#"{"nodes":[],"edges":[],"metadata":{"job_id":1}}"#, "job-id-mismatch");
    for version in [r#""2""#, r#""1.0.0.0""#, r#""1.x""#, r#""""#, "1", "null", r#""01""#, r#""1.""#] {
        let body = format!(r#"{{"nodes":[],"edges":[],"metadata":{{"schema_version":{version}}}}}"#);
        check_rejected(&body, "unsupported-schema-version");
    }
}

#[test]
fn warnings_are_reported_or_rejected() {
    let body = r#"{"pid_graph":{"nodes":[{"id":"a"},{"id":"a"},{"x":0},{"id":1},{"id":"1"}],
        "edges":[{"source":"a","target":"zz"},{"id":"e2","source":"a","target":"a"}]}}"#;
    let draft = validate_graph(body).expect("let through");
    let listed: Vec<(&str, u64, &str)> =
        draft.warnings.iter().map(|warning| (warning.code, warning.count, warning.pointer.as_str())).collect();
    let expected = [
        ("G010", 1, "/pid_graph/nodes/2"),
        ("G011", 1, "/pid_graph/nodes/1"),
        ("G013", 1, "/pid_graph/nodes/3"),
        ("G020", 1, "/pid_graph/edges/0"),
    ];
    assert_eq!(listed, expected);
    let refused = findings(strict(body).expect_err("strict"));
    let pointers: Vec<&str> = refused.iter().map(|(pointer, _)| pointer.as_str()).collect();
    assert_eq!(pointers, ["/pid_graph/nodes/2", "/pid_graph/nodes/1", "/pid_graph/edges/0"]);
    assert!(refused[2].1.contains("zz"), "{refused:?}");
    assert!(strict(r#"{"nodes":[{"id":1},{"id":"1"}],"edges":[]}"#).is_ok());
}

#[test]
fn the_id_field_is_configurable_in_the_metadata() {
    let drawing = |second: &str| {
        let nodes = format!(r#"[{{"Kennung":"a"}},{{"Kennung":"{second}"}}]"#);
        format!(r#"{{"nodes":{nodes},"edges":[],"metadata":{{"topology":{{"node_id":"Kennung"}}}}}}"#)
    };
    assert_eq!(strict(&drawing("b")).expect("no warnings").warnings, []);
    let pointers: Vec<(String, String)> = findings(strict(&drawing("a")).expect_err("the same id"));
    assert_eq!(pointers, [("/nodes/1".into(), "G011: another node has the id \"a\"".into())]);
}

#[test]
fn edge_and_containment_errors_are_warnings_too() {
    let check = |nodes: &str, edges: &str, expected: &[(&str, u64, &str)]| {
        let body = format!(r#"{{"nodes":[{nodes}],"edges":[{edges}]}}"#);
        let draft = validate_graph(&body).expect("let through");
        let listed = draft.warnings.iter().map(|warning| (warning.code, warning.count, warning.pointer.as_str()));
        assert_eq!(listed.collect::<Vec<_>>(), expected, "{body}");
        let refused = findings(strict(&body).expect_err("strict"));
        assert_eq!(refused.len(), expected.len(), "{body}");
    };
    let two = r#"{"id":"a"},{"id":"b"}"#;
    let edge = |id: &str| format!(r#"{{"id":"{id}","source":"a","target":"b"}}"#);
    check(two, &[edge("e"), edge("e"), edge("f"), edge("e")].join(","), &[("G012", 2, "/edges/1")]);
    check(two, r#"{"id":"e"},{"id":"f","source":"a"}"#, &[("G021", 2, "/edges/0")]);
    let both = r#"{"source":"a","target":"b"},{"source":"a","target":"z"},{"target":"a"}"#;
    check(two, both, &[("G020", 1, "/edges/1"), ("G021", 1, "/edges/2")]);
    let within = r#"{"id":"a","parent_id":"b"},{"id":"b","parent_id":"a"},{"id":"c","parent_id":"a"}"#;
    check(within, "", &[("G030", 1, "/nodes/0")]);
}

#[test]
fn a_document_may_define_its_version() {
    let rules = ValidationRules { version_source: VersionSource::Document, ..ValidationRules::default() };
    let check = |metadata: &str, shown: &str| {
        let body = format!(r#"{{"nodes":[],"edges":[],"metadata":{metadata}}}"#);
        let draft = validate(&graph_id("J-1"), body.into(), &rules).expect("a drawing");
        let json = draft.to_json("ignored");
        let json = std::str::from_utf8(&json).expect("UTF-8");
        assert!(json.contains(shown), "{json}");
    };
    check(r#"{"change_version":"rev B"}"#, r#""change_version":"rev B""#);
    check(r#"{"change_version":12.50}"#, r#""change_version":"12.50""#);
    check(r#"{"change_version":null}"#, r#""change_version":"1""#);
    check("{}", r#""change_version":"1""#);
}

/// Returns a value with numbers, escapes and spaces that a serializer would change.
fn random_json(random: &mut Random, depth: u64) -> String {
    const SCALARS: [&str; 12] = [
        "1.0",
        "-0",
        "1e400",
        "12345678901234567890",
        "0.10",
        "1E+2",
        "null",
        "true",
        r#""\u0041\/\n""#,
        r#""\ud83d\ude00""#,
        r#""ä,}]\"{[:""#,
        r#""""#,
    ];
    let space = [" ", "\n", "\t", "", "", "\r\n "][random.below(6) as usize];
    let kinds = if depth == 0 { 1 } else { 3 };
    let items = random.below(4);
    match random.below(kinds) {
        0 => SCALARS[random.below(12) as usize].into(),
        1 => {
            let items: Vec<String> = (0..items).map(|_| random_json(random, depth - 1)).collect();
            format!("[{space}{}{space}]", items.join(&format!("{space},")))
        }
        _ => {
            let mut field = |at| {
                format!(
                    r#"{space}"k\u00{:02x}{at}"{space}:{}"#,
                    0x40 + random.below(40),
                    random_json(random, depth - 1)
                )
            };
            let fields: Vec<String> = (0..items).map(&mut field).collect();
            format!("{{{}{space}}}", fields.join(&format!("{space},")))
        }
    }
}

#[test]
fn documents_are_preserved_byte_for_byte() {
    let mut random = Random(1);
    for round in 0..500 {
        let mut value = || random_json(&mut random, 4);
        let body = format!(
            r#"{{"x":{}, "pid_graph" :{{"y":{},"nodes":[ {{"v":{}}} ],"metadata":{{"z":{},"change_version" : "7" ,"job_id":"J-1","schema_version":"1","w":{}}},"edges":[]}} }}"#,
            value(),
            value(),
            value(),
            value(),
            value()
        );
        let draft = validate_graph(&body).unwrap_or_else(|error| panic!("round {round}: {body}: {error}"));
        assert_eq!(std::str::from_utf8(&draft.to_json("7")), Ok(body.as_str()), "round {round}");
        let bare = format!(r#"{{"nodes":[ {{"v":{}}} ],"edges":[],"y":{}}}"#, value(), value());
        let stored = validate_graph(&bare).expect("a drawing").to_json("7");
        assert!(
            std::str::from_utf8(&stored)
                .is_ok_and(|stored| stored.starts_with(&format!(r#"{{"pid_graph":{}"#, &bare[..bare.len() - 1])))
        );
        check(&bare, std::str::from_utf8(&stored).expect("UTF-8"));
    }
}
