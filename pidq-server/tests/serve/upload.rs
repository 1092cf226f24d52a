//! Tests of uploaded drawings in other formats than JSON: their detection, findings and limits.

use std::path::Path;
use std::time::{Duration, Instant};

use pidq_formats::{FORMATS, Format};
use serde_json::{Value, json};

use crate::fixtures::{TestClient, TestResponse, TestService};

const XML: &str = "application/xml";

/// A tank, and a line that ends nowhere.
const PROTEUS: &str = r#"<PlantModel>
  <PlantInformation SchemaVersion="4.1" Units="mm"/>
  <Equipment ID="E1" TagName="T4711" ComponentClass="Tank"/>
  <PipingNetworkSystem ID="L1" TagName="80-W-101">
    <PipingNetworkSegment ID="S1"><Connection FromID="E1"/></PipingNetworkSegment>
  </PipingNetworkSystem>
</PlantModel>"#;

const GRAPHML: &str = r#"<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="directed">
  <node id="A"/><node id="B"/><edge source="A" target="B"/></graph></graphml>"#;

async fn put(client: &TestClient<'_>, path: &str, media: &str, body: impl Into<Vec<u8>>) -> TestResponse {
    client.send("PUT", path, &[&format!("content-type: {media}")], body).await
}

/// Returns a form with one part per file.
fn form(files: &[(&str, &[u8])]) -> (String, Vec<u8>) {
    let mut body = Vec::new();
    for (name, content) in files {
        body.extend(format!("--b\r\nContent-Disposition: form-data; name=\"{name}\"; filename=\"x\"\r\n\r\n").bytes());
        body.extend(*content);
        body.extend(b"\r\n");
    }
    body.extend(b"--b--\r\n");
    ("multipart/form-data; boundary=b".into(), body)
}

fn example(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/data").join(name)).expect(name)
}

#[tokio::test]
async fn a_drawing_is_stored_as_its_import() {
    let service = TestService::start().await;
    let desk = service.client("desk").await;
    let stored = put(&desk, "/graph/J-1", XML, PROTEUS).await.is(201).json();
    assert_eq!(
        (&stored["job_id"], &stored["format"], &stored["change_version"]),
        (&json!("J-1"), &json!("proteus"), &json!("1"))
    );
    let import = Format::find("proteus").and_then(|format| format.import(&[PROTEUS.as_bytes()])).expect("a drawing");
    assert_eq!((&stored["nodes"], &stored["edges"]), (&json!(import.nodes), &json!(import.edges)));
    let messages: Vec<&Value> =
        stored["findings"].as_array().expect("a list").iter().map(|row| &row["message"]).collect();
    assert_eq!(messages, import.diagnostics.iter().map(|found| found.message.as_str()).collect::<Vec<_>>());
    let open_end = stored["findings"].as_array().and_then(|rows| rows.iter().find(|row| row["code"] == "I004"));
    assert_eq!(open_end.map(|row| (&row["severity"], &row["count"])), Some((&json!("warning"), &json!(1))));
    let diagnostics = desk.query("J-1", ".pid_graph.metadata.diagnostics | size()").await.result();
    assert_eq!(diagnostics, json!([import.diagnostics.len()]));
    assert_eq!(desk.query("J-1", ".pid_graph.metadata.job_id").await.result(), json!(["J-1"]));
    let again = put(&desk, "/graph/J-1", XML, PROTEUS).await.is(200);
    assert_eq!(again.header("x-pidq-unchanged"), "true");
}

#[tokio::test]
async fn the_format_is_found_by_content_type_and_content() {
    let service = TestService::start().await;
    let desk = service.client("desk").await;
    let (skid, skid_dexpi) = (example("skid.xml"), example("skid_dexpi.xml"));
    for (media, body, format) in [
        (XML, PROTEUS.as_bytes(), "proteus"),
        ("text/xml; charset=utf-8", PROTEUS.as_bytes(), "proteus"),
        (XML, &skid, "proteus"),
        (XML, &skid_dexpi, "dexpi"),
        (XML, GRAPHML.as_bytes(), "graphml"),
        ("application/graphml+xml", GRAPHML.as_bytes(), "graphml"),
        ("text/x-sfiles", b"(raw)(hex)(prod)", "sfiles"),
        ("application/json", br#"{"nodes":[{"id":"A"}],"edges":[]}"#, "json"),
    ] {
        let stored = put(&desk, "/graph/J-1", media, body).await.json();
        assert_eq!(stored["format"], format, "{media}: {stored}");
        assert!(stored["nodes"].as_u64() > Some(0), "{stored}");
    }
}

#[tokio::test]
async fn the_parameter_names_the_format() {
    let service = TestService::start().await;
    let desk = service.client("desk").await;
    let node_link =
        r#"{"directed": true, "graph": {}, "nodes": [{"id": 1}, {"id": 2}], "links": [{"source": 1, "target": 2}]}"#;
    desk.put("/graph/J-1", node_link).await.expect_problem(422, "invalid-graph");
    let stored = desk.put("/graph/J-1?format=node-link", node_link).await.is(201).json();
    assert_eq!((&stored["format"], &stored["edges"]), (&json!("node-link"), &json!(1)));
    for name in ["svg", "dwg", ""] {
        let problem =
            desk.put(&format!("/graph/J-1?format={name}"), "{}").await.expect_problem(400, "invalid-parameter");
        let allowed = problem.json()["allowed"].take();
        let readable = FORMATS.iter().filter(|format| format.read.is_some()).map(|format| format.name);
        assert_eq!(allowed, json!(["json"].into_iter().chain(readable).collect::<Vec<_>>()));
    }
}

#[tokio::test]
async fn a_drawing_of_several_files_is_sent_as_a_form() {
    let service = TestService::start().await;
    let desk = service.client("desk").await;
    let (nodes, edges) = (b"id,tag\nA,P-1\nB,V-1\n".as_slice(), b"from,to\nA,B\n".as_slice());
    let rels = b":START_ID,:END_ID,:TYPE\nA,B,PIPE\n".as_slice();
    let skid_dexpi = example("skid_dexpi.xml");
    type Files<'a> = &'a [(&'a str, &'a [u8])];
    let cases: [(Files<'_>, &str); 5] = [
        (&[("edges.csv", edges), ("nodes.csv", nodes)], "csv-graph"),
        (&[("nodes.csv", b"id:ID,:LABEL\nA,Pump\nB,Valve\n"), ("rels.csv", rels)], "neo4j"),
        (
            &[("nodes.ndjson", b"{\"id\":\"A\"}\n"), ("edges.ndjson", b"{\"source\":\"A\",\"target\":\"A\"}\n")],
            "ndjson",
        ),
        (&[("drawing.xml", PROTEUS.as_bytes())], "proteus"),
        (&[("drawing.xml", &skid_dexpi)], "dexpi"),
    ];
    for (files, format) in cases {
        let (media, body) = form(files);
        let stored = put(&desk, "/graph/J-1", &media, body).await.json();
        assert_eq!(stored["format"], format, "{stored}");
        assert!(stored["nodes"].as_u64() > Some(0), "{stored}");
    }
    for files in
        [&[("nodes.csv", nodes)][..], &[("nodes.csv", nodes), ("edges.csv", edges), ("x", edges)], &[("x", edges)], &[]]
    {
        let (media, body) = form(files);
        let problem = put(&desk, "/graph/J-1", &media, body).await.expect_problem(422, "missing-part").json();
        assert!(problem["allowed"].as_array().is_some_and(|files| files.contains(&json!("nodes.csv, edges.csv"))));
    }
    put(&desk, "/graph/J-1", "multipart/form-data", "").await.expect_problem(400, "malformed-multipart");
}

#[tokio::test]
async fn other_content_types_are_refused_with_the_list_of_accepted_ones() {
    let service = TestService::start().await;
    let desk = service.client("desk").await;
    for media in ["text/plain", "application/pdf", "image/svg+xml", "text/csv", "application/zip"] {
        let problem = put(&desk, "/graph/J-1", media, PROTEUS).await.expect_problem(415, "unsupported-media-type");
        let allowed = problem.json()["allowed"].take();
        for accepted in ["application/json", XML, "application/graphml+xml", "text/x-sfiles", "multipart/form-data"] {
            assert!(allowed.as_array().is_some_and(|list| list.contains(&json!(accepted))), "{allowed}");
        }
    }
}

#[tokio::test]
async fn an_unreadable_drawing_is_refused_with_its_line() {
    let service = TestService::start().await;
    let desk = service.client("desk").await;
    let refuse =
        async |body: &[u8]| put(&desk, "/graph/J-1", XML, body).await.expect_problem(422, "unreadable-drawing").json();
    let problem = refuse(b"<PlantModel>\n<Equipment ID='1'>\n</PlantModel>").await;
    assert_eq!(
        (&problem["format"], &problem["pq_code"], &problem["line"]),
        (&json!("proteus"), &json!("PQ6001"), &json!(3))
    );
    for (body, part) in [
        (b"".as_slice(), "none of the formats proteus, dexpi, graphml"),
        (b"<svg/>", "none of the formats proteus, dexpi, graphml"),
        (b"PK\x03\x04 zip", "zip"),
        (b"AC1032\0\0", "DWG"),
        (b"%PDF-1.7", "PDF"),
        (b"<PlantModel>\xFF</PlantModel>", "UTF-8"),
    ] {
        let problem = refuse(body).await;
        assert!(problem["detail"].as_str().is_some_and(|detail| detail.contains(part)), "{problem}");
    }
    desk.get("/graph/J-1").await.expect_problem(404, "graph-not-found");
}

#[tokio::test]
async fn strict_mode_rejects_a_drawing_that_is_imported_with_changes() {
    let service = TestService::start().await;
    let desk = service.client("desk").await;
    let problem = put(&desk, "/graph/J-1?strict=true", XML, PROTEUS).await.expect_problem(422, "invalid-graph").json();
    assert!(problem["errors"][0]["detail"].as_str().is_some_and(|detail| detail.starts_with("I004: ")), "{problem}");
    put(&desk, "/graph/J-1?strict=true", XML, GRAPHML).await.is(201);
}

#[tokio::test]
async fn hostile_files_are_refused_in_little_time() {
    let service = TestService::start().await;
    let desk = service.client("desk").await;
    let secret = "<!DOCTYPE PlantModel [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><PlantModel a='&x;'/>";
    let laughs = "<!DOCTYPE PlantModel [<!ENTITY a 'ha'><!ENTITY b '&a;&a;'>]><PlantModel>&b;</PlantModel>";
    let external = "<!DOCTYPE PlantModel SYSTEM 'http://127.0.0.1:1/x.dtd'><PlantModel>&x;</PlantModel>";
    let deep = format!("<PlantModel>{}", "<a>".repeat(100_000));
    let attributes: String = (0..2_000).map(|at| format!(" a{at}=''")).collect();
    for (body, pq_code) in [
        (secret.to_owned(), "PQ6006"),
        (laughs.to_owned(), "PQ6006"),
        (external.to_owned(), "PQ6006"),
        (deep, "PQ6008"),
        (format!("<PlantModel{attributes}/>"), "PQ6007"),
    ] {
        let start = Instant::now();
        let problem = put(&desk, "/graph/J-1", XML, body).await.expect_problem(422, "unreadable-drawing");
        assert_eq!(problem.json()["pq_code"], pq_code);
        assert!(!problem.text().contains("root:"), "{}", problem.text());
        assert!(start.elapsed() < Duration::from_secs(5), "{pq_code}: {:?}", start.elapsed());
    }
    let elements = format!("<PlantModel>{}</PlantModel>", "<a/>".repeat(420_000));
    let flowsheet = "(raw)".repeat(84_000);
    for (media, body) in [(XML, elements), ("text/x-sfiles", flowsheet)] {
        let problem = put(&desk, "/graph/J-1", media, body).await.expect_problem(413, "graph-too-large");
        assert_eq!((&problem.json()["what"], &problem.json()["limit"]), (&json!("values"), &json!((64 << 20) / 160)));
    }
    desk.get("/graph/J-1").await.expect_problem(404, "graph-not-found");
}

#[tokio::test]
async fn files_have_the_maximum_size_of_a_graph() {
    let service = TestService::with(&[("PIDQ_MAX_GRAPH_SIZE", "100KiB")]).await;
    let desk = service.client("desk").await;
    let comment = format!("<!--{}-->{PROTEUS}", "x".repeat(200 << 10));
    put(&desk, "/graph/J-1", XML, comment.clone()).await.expect_problem(413, "graph-too-large");
    let (media, body) = form(&[("drawing.xml", comment.as_bytes())]);
    put(&desk, "/graph/J-1", &media, body).await.expect_problem(413, "graph-too-large");
    // A short file may become a large graph.
    let quotes = "\"".repeat(70 << 10);
    let graphml = format!("<graphml><graph edgedefault='directed'><node id='{quotes}'/></graph></graphml>");
    let problem = put(&desk, "/graph/J-1", XML, graphml).await.expect_problem(413, "graph-too-large");
    assert_eq!(problem.json()["what"], "bytes");
    let many = "<node id='a'/>".repeat(400);
    let problem = put(&desk, "/graph/J-1", XML, format!("<graphml><graph>{many}</graph></graphml>")).await;
    assert_eq!(problem.expect_problem(413, "graph-too-large").json()["what"], "values");
}

#[tokio::test]
async fn a_drawing_is_written_with_the_rights_and_conditions_of_a_graph() {
    let service = TestService::start().await;
    let (desk, pen, viewer) =
        (service.client("desk").await, service.client("pen").await, service.client("viewer").await);
    put(&viewer, "/graph/J-1", XML, PROTEUS).await.expect_problem(403, "insufficient-scope");
    put(&pen, "/graph/J-1", XML, "<PlantModel>").await.expect_problem(422, "unreadable-drawing");
    put(&desk, "/graph/J-1", XML, PROTEUS).await.is(201);
    put(&pen, "/graph/J-1", XML, PROTEUS).await.expect_problem(404, "graph-not-found");
    let conditional = [&*format!("content-type: {XML}"), "if-none-match: *"];
    desk.send("PUT", "/graph/J-1", &conditional, PROTEUS).await.expect_problem(412, "precondition-failed");
}

#[tokio::test]
async fn an_exported_drawing_can_be_stored_under_another_id() {
    let service = TestService::start().await;
    let desk = service.client("desk").await;
    put(&desk, "/graph/J-1", XML, example("skid.xml")).await.is(201);
    for (at, format) in FORMATS.iter().filter(|format| format.read.is_some() && format.write.is_some()).enumerate() {
        let is_one_file = format.write.as_ref().is_some_and(|writer| writer.files.len() == 1);
        if is_one_file {
            let exported = desk.get(&format!("/graph/J-1?format={}", format.name)).await.is(200);
            let path = format!("/graph/copy-{at}?format={}", format.name);
            let stored = put(&desk, &path, exported.header("content-type"), exported.body.clone()).await.is(201).json();
            assert_eq!(stored["format"], format.name);
        }
    }
}

#[tokio::test]
async fn real_drawings_are_stored_as_they_are_imported() {
    let neighbor_dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    let data = std::env::var_os("PIDQ_TEST_DRAWINGS").map_or(neighbor_dir, Into::into);
    let service = TestService::start().await;
    let desk = service.client("desk").await;
    let mut count = 0;
    for folder in ["proteus", "proteus-4.1.1", "dexpi2"] {
        let Ok(files) = std::fs::read_dir(data.join(folder)) else { continue };
        for file in
            files.flatten().map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "xml"))
        {
            let bytes = std::fs::read(&file).expect("a file");
            let Some(import) = Format::sniff(&bytes).and_then(|format| format.import(&[&bytes]).ok()) else { continue };
            let stored = put(&desk, &format!("/graph/D-{count}"), XML, bytes).await.is(201).json();
            assert_eq!((&stored["nodes"], &stored["edges"]), (&json!(import.nodes), &json!(import.edges)), "{file:?}");
            let findings = stored["findings"].as_array().map(Vec::len);
            assert_eq!(findings, Some(import.diagnostics.len().min(1_000)), "{file:?}");
            count += 1;
        }
    }
    if count == 0 {
        eprintln!("SKIPPED: no drawings in ../shared/data and none in PIDQ_TEST_DRAWINGS");
    }
}
