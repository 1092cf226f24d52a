//! Tests of `GET /graph`: pages, prefixes, and signed cursors.

use serde_json::{Value, json};

use crate::fixtures::{DRAWING, TestService, drawing};

#[tokio::test]
async fn an_entry_describes_a_graph() {
    let service = TestService::start().await;
    let desk = service.client("desk").await;
    assert_eq!(desk.get("/graph").await.is(200).json(), json!({"graphs": [], "next": null}));
    let tag = desk.put("/graph/J-1", DRAWING).await.is(201).header("etag").to_owned();
    let response = desk.get("/graph").await.is(200);
    assert_eq!(response.header("link"), "");
    let mut row = response.json()["graphs"][0].take();
    assert!(row["updated_on"].take().as_str().is_some_and(|time| time.ends_with('Z')));
    let expected = json!({
        "job_id": "J-1", "drawing_name": "Unit 7", "schema_version": "1", "change_version": "1",
        "nodes": 3, "edges": 2, "updated_on": null, "etag": tag,
    });
    assert_eq!(row, expected);
}

#[tokio::test]
async fn pages_are_contiguous() {
    let service = TestService::start().await;
    let desk = service.client("desk").await;
    for graph_id in ["A-1", "A-2", "A-3", "A-4", "A-5", "B-1"] {
        desk.put(&format!("/graph/{graph_id}"), &drawing(graph_id)).await.is(201);
    }
    let (mut path, mut ids, mut pages) = ("/graph?limit=2&prefix=A-".to_owned(), Vec::new(), 0);
    loop {
        let response = desk.get(&path).await.is(200);
        let page = response.json();
        ids.extend(page["graphs"].as_array().expect("a list").iter().map(|row| row["job_id"].clone()));
        pages += 1;
        let Some(next) = page["next"].as_str() else {
            assert_eq!(response.header("link"), "");
            break;
        };
        let link = response.header("link").strip_prefix('<').and_then(|link| link.split_once(">; rel=\"next\""));
        path = link.expect("a link").0.to_owned();
        assert!(path.contains(next) && path.contains("limit=2") && path.contains("prefix=A-"), "{path}");
    }
    assert_eq!((json!(ids), pages), (json!(["A-1", "A-2", "A-3", "A-4", "A-5"]), 3));
}

#[tokio::test]
async fn a_cursor_belongs_to_its_list_and_its_tenant() {
    let service = TestService::start().await;
    let desk = service.client("desk").await;
    for graph_id in ["A-1", "A-2", "A-3"] {
        desk.put(&format!("/graph/{graph_id}"), &drawing(graph_id)).await.is(201);
    }
    let cursor = desk.get("/graph?limit=1").await.json()["next"].as_str().expect("a cursor").to_owned();
    desk.get(&format!("/graph?limit=1&cursor={cursor}")).await.is(200);
    desk.get(&format!("/graph?prefix=A&cursor={cursor}")).await.expect_problem(400, "invalid-cursor");
    service.client("rival").await.get(&format!("/graph?cursor={cursor}")).await.expect_problem(400, "invalid-cursor");
    for made_up in ["", "x", "00", "%00", &cursor[1..]] {
        desk.get(&format!("/graph?cursor={made_up}")).await.expect_problem(400, "invalid-cursor");
    }
}

#[tokio::test]
async fn invalid_parameters_are_rejected() {
    let service = TestService::start().await;
    let desk = service.client("desk").await;
    for query in ["limit=0", "limit=1001", "limit=-1", "limit=x", "limit=", "limit=1&limit=2", "prefix=%ff"] {
        desk.get(&format!("/graph?{query}")).await.expect_problem(400, "invalid-parameter");
    }
    let misspelt = desk.get("/graph?limit=1000&perfix=A").await.expect_problem(400, "invalid-parameter").json();
    assert_eq!(
        (&misspelt["parameter"], &misspelt["allowed"]),
        (&json!("perfix"), &json!(["prefix", "limit", "cursor"]))
    );
    desk.get("/graph/J-1?chnage_version=1").await.expect_problem(400, "invalid-parameter");
    service.anonymous().get("/livez?cache=1").await.is(200);
    let all: Value = desk.get("/graph?prefix=..%2F").await.is(200).json();
    assert_eq!(all["graphs"], json!([]));
}
