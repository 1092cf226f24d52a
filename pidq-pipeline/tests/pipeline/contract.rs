//! The interface as its contract has it: keys, lists, downloads and the headers of all answers.

use std::process::Command;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use pidq_http::auth::Moment;
use pidq_http::{Floor, Settings};
use pidq_pipeline::{TABLES, open};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::databases;
use crate::doubles::{Double, Step, json_reply, reply};
use crate::platform::{Answer, MASTER, SECRET, World, on_each, on_each_url};

const MASTERED: &[(&str, &str)] = &[("PIDQ_APP_MASTER_KEY", MASTER), ("PIDQ_APP_MASTER_SECRET", SECRET)];

fn basic(secret: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("{MASTER}:{secret}")))
}

async fn key(world: &World, wanted: &Value) -> Answer {
    let authorization = basic(SECRET);
    let headers = [("authorization", authorization.as_str()), ("content-type", "application/json")];
    world.send("POST", "/api/keys", &headers, wanted.to_string()).await
}

#[tokio::test]
async fn the_first_key_is_made_with_the_master_key_itself() {
    let world = World::sqlite(MASTERED).await;
    let made = key(&world, &json!({"name": "first", "scopes": ["admin", "pipelines:read"]})).await;
    assert_eq!(made.status, 201, "{}", made.json());
    let wrong = basic("not-the-secret-0000000000000000000");
    let refused = world.send("GET", "/api/keys", &[("authorization", wrong.as_str())], "").await;
    assert_eq!(refused.status, 401);
    assert!(refused.headers.get_all("www-authenticate").iter().any(|challenge| challenge == "Basic realm=\"pidq\""));
    let elsewhere = world.send("GET", "/api/pipelines", &[("authorization", basic(SECRET).as_str())], "").await;
    assert_eq!(elsewhere.status, 401, "the master secret opens keys and nothing else");
    let elsewhere = world.send("GET", "/api/keysmith", &[("authorization", basic(SECRET).as_str())], "").await;
    assert_eq!(elsewhere.status, 404);
}

#[tokio::test]
async fn a_key_ends_when_it_was_said_and_is_read_without_its_secret() {
    let world = World::sqlite(MASTERED).await;
    let end = Moment(Moment::now().0 + 1500);
    let made = key(&world, &json!({"name": "k", "scopes": ["admin"], "expires_at": end.to_rfc3339()})).await.json();
    assert_eq!(made["expires_at"], json!(end.to_rfc3339()));
    let bearer = format!("Bearer {}", made["key"].as_str().unwrap());
    let path = format!("/api/keys/{}", made["id"].as_str().unwrap());
    let own = [("authorization", bearer.as_str())];
    let read = world.send("GET", &path, &own, "").await;
    assert_eq!((read.status, &read.json()["name"], read.json().get("key")), (200, &json!("k"), None));
    while Moment::now() <= end {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    let over = world.send("GET", &path, &own, "").await;
    assert_eq!((over.status, over.code().as_str()), (401, "token-expired"));
    assert!(over.header("www-authenticate").contains("error=\"invalid_token\""));
    let root = basic(SECRET);
    let missing = world.send("GET", "/api/keys/none", &[("authorization", root.as_str())], "").await;
    assert_eq!((missing.status, missing.code().as_str()), (404, "key-not-found"));
}

#[tokio::test]
async fn an_end_that_is_none_is_refused() {
    let world = World::sqlite(MASTERED).await;
    for (member, value, code) in [
        ("expires_at", json!("tomorrow"), "validation"),
        ("expires_at", json!("2020-01-01T00:00:00Z"), "validation"),
        ("scopes", json!(["everything"]), "validation"),
    ] {
        let mut wanted = json!({"name": "k", "scopes": ["query"]});
        wanted[member] = value;
        let answer = key(&world, &wanted).await;
        assert_eq!((answer.status, answer.code().as_str()), (422, code), "{wanted}");
        assert_eq!(
            answer.json()["errors"][0]["pointer"].as_str().map(|p| p.starts_with(&format!("/{member}"))),
            Some(true)
        );
    }
    let old = key(&world, &json!({"name": "k", "scopes": ["query"], "expires_in_days": 3})).await;
    assert!((400..=422).contains(&old.status), "the member of before is gone: {}", old.json());
}

#[tokio::test]
async fn a_restricted_key_sees_its_own_and_makes_no_others() {
    let world = World::sqlite(MASTERED).await;
    let token = format!("Bearer {}", world.token(SECRET).await.json()["access_token"].as_str().unwrap());
    let root = [("authorization", token.as_str()), ("content-type", "application/json")];
    let mut ids = Vec::new();
    for name in ["a", "b", "c"] {
        let body = json!({
            "name": name, "embedding_model": "hash-512", "text_splitter": "token", "classifications": ["open", "secret"],
            "policies": {"secret": {"llm_allow": ["https://secret.example"]}, "open": {"llm_allow": []}},
        });
        ids.push(world.send("POST", "/api/pipelines", &root, body.to_string()).await.json()["id"].clone());
    }
    let reach = json!({"classifications": ["open"], "verbs": ["read", "write", "query"]});
    let wanted = json!({
        "name": "r", "scopes": ["admin", "pipelines:read", "pipelines:write"],
        "pipelines": {ids[0].as_str().unwrap(): reach, ids[2].as_str().unwrap(): reach},
    });
    let bearer = format!("Bearer {}", key(&world, &wanted).await.json()["key"].as_str().unwrap());
    let own = [("authorization", bearer.as_str()), ("content-type", "application/json")];
    let listed = world.send("GET", "/api/pipelines", &own, "").await.json();
    let names: Vec<_> = listed["data"].as_array().unwrap().iter().map(|row| row["name"].clone()).collect();
    assert_eq!((names, &listed["total"]), (vec![json!("a"), json!("c")], &json!(2)));
    let first = world.send("GET", "/api/pipelines?limit=1", &own, "").await.json();
    let rest = format!("/api/pipelines?limit=1&cursor={}", first["next_cursor"].as_str().unwrap());
    let rest = world.send("GET", &rest, &own, "").await.json();
    assert_eq!((&rest["data"][0]["name"], &rest["next_cursor"]), (&json!("c"), &Value::Null));
    assert_eq!(
        listed["data"][0]["policies"],
        json!({"open": {"llm_allow": []}}),
        "policies of other labels are no news"
    );
    let path = format!("/api/pipelines/{}", ids[0].as_str().unwrap());
    for patch in [r#"{"classifications": ["open"]}"#, r#"{"policies": {"secret": null}}"#] {
        let answer = world.send("PATCH", &path, &own, patch).await;
        assert_eq!((answer.status, answer.code().as_str()), (403, "forbidden"), "{patch}");
    }
    let other = format!("/api/pipelines/{}", ids[1].as_str().unwrap());
    assert_eq!(world.send("GET", &other, &own, "").await.status, 404);
    for (method, path, body) in [
        ("POST", "/api/keys", r#"{"name": "more", "scopes": ["query"]}"#),
        ("GET", "/api/keys", ""),
        ("DELETE", "/api/keys/x", ""),
    ] {
        let answer = world.send(method, path, &own, body).await;
        assert_eq!((answer.status, answer.code().as_str()), (403, "forbidden"), "{method} {path}");
    }
}

#[tokio::test]
async fn documents_come_in_the_order_that_is_asked_for() {
    on_each(async |world| {
        let id = world.pipeline().await;
        for (name, bytes) in [("b.txt", "1"), ("a.txt", "4444"), ("c.txt", "22"), ("a.txt", "333")] {
            world.upload(&id, name, bytes.as_bytes(), &[("classification", "manual")]).await;
        }
        for (sort, expected) in [
            ("created_at", [1, 4, 2, 3]),
            ("-created_at", [3, 2, 4, 1]),
            ("size", [1, 2, 3, 4]),
            ("-size", [4, 3, 2, 1]),
            ("filename", [4, 3, 1, 2]),
            ("-filename", [2, 1, 3, 4]),
            ("updated_at", [1, 4, 2, 3]),
            ("-updated_at", [3, 2, 4, 1]),
        ] {
            for limit in [1, 2, 4] {
                assert_eq!(sizes(&world, &id, sort, limit).await, expected, "{sort} by {limit}");
            }
        }
        let path = format!("/api/pipelines/{id}/documents");
        let wrong = world.get(&format!("{path}?sort=colour")).await;
        assert_eq!((wrong.status, wrong.code().as_str()), (400, "invalid-parameter"));
        let page = world.get(&format!("{path}?sort=size&limit=1")).await.json();
        let crossed = format!("{path}?sort=-size&limit=1&cursor={}", page["next_cursor"].as_str().unwrap());
        assert_eq!(world.get(&crossed).await.code(), "invalid-cursor", "a place in one order is none in another");
    })
    .await;
}

/// The sizes of all documents, page by page.
async fn sizes(world: &World, pipeline: &str, sort: &str, limit: usize) -> Vec<u64> {
    let base = format!("/api/pipelines/{pipeline}/documents?sort={sort}&limit={limit}");
    let (mut sizes, mut path) = (Vec::new(), base.clone());
    loop {
        let page = world.get(&path).await.json();
        sizes.extend(page["data"].as_array().unwrap().iter().map(|row| row["size"].as_u64().unwrap()));
        let Some(cursor) = page["next_cursor"].as_str() else { return sizes };
        path = format!("{base}&cursor={cursor}");
    }
}

#[tokio::test]
async fn a_list_of_pipelines_says_how_many_there_are_and_what_each_has() {
    on_each(async |world| {
        let mut ids = Vec::new();
        for name in ["a", "b", "c"] {
            let body = json!({"name": name, "embedding_model": "hash-512", "text_splitter": "token", "classifications": ["m"]});
            ids.push(world.post("/api/pipelines", &body).await.json()["id"].as_str().unwrap().to_owned());
        }
        world.upload(&ids[1], "x", b"x", &[("classification", "m")]).await;
        world.upload(&ids[2], "y", b"y", &[("classification", "m")]).await;
        world.upload(&ids[2], "z", b"z", &[("classification", "m")]).await;
        let page = world.get("/api/pipelines?limit=2").await.json();
        let counts = |row: &Value| row["document_counts"]["total"].as_u64().unwrap();
        assert_eq!(page["data"].as_array().unwrap().iter().map(counts).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(page["total"], 3);
        let rest = world.get(&format!("/api/pipelines?limit=2&cursor={}", page["next_cursor"].as_str().unwrap())).await;
        assert_eq!((counts(&rest.json()["data"][0]), &rest.json()["total"]), (2, &json!(3)));
        let named = world.get("/api/pipelines?name=b").await.json();
        assert_eq!((&named["data"][0]["id"], &named["total"]), (&json!(ids[1]), &json!(1)));
        assert_eq!(world.get("/api/pipelines?name=z").await.json(), json!({"data": [], "next_cursor": null, "total": 0}));
    })
    .await;
}

#[tokio::test]
async fn a_list_of_documents_says_once_how_many_it_has() {
    on_each(async |world| {
        let id = world.pipeline().await;
        let path = format!("/api/pipelines/{id}/documents");
        assert_eq!(world.get(&path).await.json(), json!({"data": [], "next_cursor": null, "total": 0}));
        for (name, label) in [("a", "manual"), ("b", "manual"), ("c", "datasheet")] {
            world.upload(&id, name, name.as_bytes(), &[("classification", label)]).await;
        }
        for (wanted, total) in
            [("", 3), ("&classification=manual", 2), ("&filename=c", 1), ("&status=ready", 0), ("&external_id=x", 0)]
        {
            assert_eq!(world.get(&format!("{path}?limit=1{wanted}")).await.json()["total"], total, "{wanted}");
        }
        let first = world.get(&format!("{path}?limit=2")).await.json();
        let rest = world.get(&format!("{path}?limit=2&cursor={}", first["next_cursor"].as_str().unwrap())).await.json();
        assert_eq!((rest["data"].as_array().unwrap().len(), rest.get("total")), (1, None));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn chunks_are_a_list_with_pages_like_others() {
    let world = World::sqlite(&[]).await.working();
    let id = world.pipeline().await;
    let text = "V-201 is a vessel, and V-201 is a tag. ".repeat(100);
    let sent = world.ready(&id, "a.txt", text.as_bytes(), &[("classification", "manual")]).await;
    let mut path = format!("/api/pipelines/{id}/documents/{}/chunks?limit=1", sent["id"].as_str().unwrap());
    let mut indexes = Vec::new();
    loop {
        let page = world.get(&path).await;
        let chunk = page.json()["data"][0].clone();
        indexes.push(chunk["index"].as_u64().unwrap());
        assert_eq!(chunk["tags"], json!(["V-201"]), "each once");
        let link = page.header("link").to_owned();
        assert_eq!(link.is_empty(), page.json()["next_cursor"].is_null());
        let Some((next, _)) = link.strip_prefix('<').and_then(|link| link.split_once(">; rel=\"next\"")) else { break };
        path = next.to_owned();
    }
    assert_eq!(indexes, (0..sent["chunk_count"].as_u64().unwrap()).collect::<Vec<_>>());
    assert!(indexes.len() > 1);
}

#[tokio::test]
async fn models_and_splitters_say_what_can_be_chosen_and_set() {
    let service = ("PIDQ_EMBEDDINGS_URL", "http://127.0.0.1:1/v1");
    let settings: [(&[(&str, &str)], Value); 3] = [
        (&[], json!({"hash-512": true, "static": false, "openai": false})),
        (&[("PIDQ_MODELS", "models")], json!({"hash-512": true, "static": true, "openai": false})),
        (&[service], json!({"hash-512": true, "static": false, "openai": true})),
    ];
    for (more, expected) in settings {
        let world = World::sqlite(more).await;
        let models = world.get("/api/embedding-models").await.json()["data"].clone();
        let of = |name: &str| models.as_array().unwrap().iter().find(|model| model["name"] == name).unwrap().clone();
        for (name, available) in expected.as_object().unwrap() {
            assert_eq!(&of(name)["available"], available, "{name} with {more:?}");
        }
        assert_eq!(of("hash-512")["dimensions"], 512);
    }
    let world = World::sqlite(&[]).await;
    let splitters = world.get("/api/text-splitters").await.json()["data"].clone();
    let recursive = &splitters[0];
    assert_eq!(
        (&recursive["name"], &recursive["parameters"]["chunk_size"]["default"]),
        (&json!("recursive_character"), &json!(1000))
    );
}

#[tokio::test]
async fn a_download_goes_on_where_it_broke_off() {
    let world = World::sqlite(&[]).await;
    let id = world.pipeline().await;
    let sent = world.upload(&id, "Blatt 1.txt", b"0123456789", &[("classification", "manual")]).await.json();
    let path = format!("/api/pipelines/{id}/documents/{}/content", sent["id"].as_str().unwrap());
    let whole = world.get(&path).await;
    assert_eq!(
        (whole.status, whole.body.as_slice(), whole.header("accept-ranges")),
        (200, &b"0123456789"[..], "bytes")
    );
    assert_eq!(whole.header("content-disposition"), "attachment; filename*=UTF-8''Blatt%201.txt");
    assert_eq!(whole.header("x-content-type-options"), "nosniff");
    let part = world.send("GET", &path, &[("range", "bytes=4-"), ("if-range", whole.header("etag"))], "").await;
    assert_eq!(
        (part.status, part.body.as_slice(), part.header("content-range")),
        (206, &b"456789"[..], "bytes 4-9/10")
    );
    assert_eq!(part.header("content-disposition"), whole.header("content-disposition"));
    let other = world.send("GET", &path, &[("range", "bytes=4-"), ("if-range", "\"1-other\"")], "").await;
    assert_eq!((other.status, other.body.len()), (200, 10), "another version is not continued");
    let beyond = world.send("GET", &path, &[("range", "bytes=10-")], "").await;
    assert_eq!((beyond.status, beyond.code().as_str()), (416, "range-not-satisfiable"));
    assert_eq!(world.send("GET", &path, &[("range", "bytes=0-1,3-4")], "").await.status, 200);
}

#[tokio::test]
async fn every_answer_says_which_interface_it_is_of() {
    let world = World::sqlite(MASTERED).await;
    for path in ["/api/pipelines", "/nowhere", "/livez", "/openapi.json"] {
        assert_eq!(world.get(path).await.header("pidq-version"), "2026-11-01", "{path}");
    }
}

/// Set for the process whose log is read.
const ALONE: &str = "PIDQ_TEST_PLATFORM_LOG";

#[test]
fn a_line_of_the_log_says_of_which_request_it_is() {
    if std::env::var_os(ALONE).is_some() {
        return refuse_and_log();
    }
    let own = std::env::current_exe().unwrap();
    let name = "contract::a_line_of_the_log_says_of_which_request_it_is";
    let output = Command::new(own).args(["--exact", name, "--nocapture"]).env(ALONE, "1").output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    let lines: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let refusals = lines.iter().filter(|line| line["message"] == "an address of a model was refused");
    let refusals: Vec<&Value> =
        refusals.inspect(|line| assert_eq!(line["refusal"], r#"Never("an address of the link")"#)).collect();
    let requests: Vec<&Value> = refusals.iter().map(|line| &line["spans"][0]["request_id"]).collect();
    assert_eq!(requests, ["r-once", "r-keyed", "r-streamed"], "{text}");
}

/// Three questions to a model that must not be asked: the log alone says why.
#[tokio::main]
async fn refuse_and_log() {
    Floor(&Settings::read(TABLES, [], []).unwrap()).init_log().unwrap();
    let world = World::sqlite(&[]).await.working();
    let id = world.pipeline().await;
    world.ready(&id, "V-201.txt", b"PSV-2015A protects the vessel V-201.", &[("classification", "manual")]).await;
    let mut body = json!({
        "query": "What protects the vessel V-201?", "classification": "manual",
        "llm_endpoint": {"api_key": "k", "model": "m", "base_url": "http://169.254.169.254/v1"},
    });
    let path = format!("/api/pipelines/{id}/query");
    let json_body = ("content-type", "application/json");
    world.send("POST", &path, &[json_body, ("x-request-id", "r-once")], body.to_string()).await;
    let keyed = [json_body, ("x-request-id", "r-keyed"), ("idempotency-key", "1")];
    world.send("POST", &path, &keyed, body.to_string()).await;
    body["stream"] = true.into();
    world.send("POST", &path, &[json_body, ("x-request-id", "r-streamed")], body.to_string()).await;
}

#[tokio::test]
async fn a_master_secret_without_its_key_is_no_open_platform() {
    let folder = TempDir::new().unwrap();
    let url = databases::sqlite_url(&folder);
    let environment = [("PIDQ_APP_MASTER_SECRET", SECRET), ("PIDQ_DATABASE_URL", url.as_str())];
    let environment = environment.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let settings = Settings::read(TABLES, [], environment).unwrap();
    let refused = open(&settings).await.err().map(|error| error.to_string()).unwrap_or_default();
    assert!(refused.contains("PIDQ_APP_MASTER_KEY"), "{refused}");
}

#[tokio::test]
async fn a_token_that_is_over_says_so() {
    on_each_url(async |url| {
        let world = World::at(url, MASTERED).await;
        let token = format!("Bearer {}", world.token(SECRET).await.json()["access_token"].as_str().unwrap());
        let own = [("authorization", token.as_str())];
        // Not shown before: a token that was found good is believed for a second, whatever others do to the database.
        let database = pidq_http::database::Database::open(url).await.unwrap();
        database.execute("update access_tokens set expires_at = 1", &[]).await.unwrap();
        let over = world.send("GET", "/api/pipelines", &own, "").await;
        assert_eq!((over.status, over.code().as_str()), (401, "token-expired"));
        let unknown = world.send("GET", "/api/pipelines", &[("authorization", "Bearer pidq_at_x")], "").await;
        assert_eq!((unknown.status, unknown.code().as_str()), (401, "unauthenticated"));
        assert!(unknown.header("www-authenticate").contains("error=\"invalid_token\""), "programs look there");
        assert_eq!(world.get("/api/pipelines").await.code(), "unauthenticated");
    })
    .await;
}

#[tokio::test]
async fn a_key_to_a_pipeline_that_is_not_there_is_refused() {
    let world = World::sqlite(&[]).await;
    let id = world.pipeline().await;
    let reach = json!({"classifications": ["manual"], "verbs": ["read"]});
    let wanted =
        |other: &str| json!({"name": "k", "scopes": ["query"], "pipelines": {id.as_str(): reach, other: reach}});
    let refused = world.post("/api/keys", &wanted("a/b")).await;
    assert_eq!((refused.status, refused.code().as_str()), (422, "validation"));
    assert_eq!(refused.json()["errors"][0]["pointer"], "/pipelines/a~1b");
    assert_eq!(world.get("/api/keys").await.json()["data"], json!([]), "nothing was made");
    assert_eq!(world.post("/api/keys", &wanted(&id)).await.status, 201);
}

#[tokio::test]
async fn openapi_tells_the_limits_that_are_set() {
    let world = World::sqlite(&[("PIDQ_QUERY_CHARACTERS", "50"), ("PIDQ_MAX_CLASSIFICATIONS", "3")]).await;
    let told = world.get("/openapi.json").await.json();
    let of = |path: &str, member: &str| {
        let body = &told["paths"][path]["post"]["requestBody"]["content"]["application/json"];
        body["schema"]["properties"][member].clone()
    };
    for path in ["/api/pipelines/{pipeline_id}/query", "/api/pipelines/{pipeline_id}/search"] {
        assert_eq!(of(path, "query")["maxLength"], 50, "{path}");
    }
    assert_eq!(of("/api/pipelines", "classifications")["maxItems"], 3);
}

#[tokio::test]
async fn a_parameter_that_is_misspelt_filters_nothing_and_is_refused() {
    let world = World::sqlite(&[]).await;
    let documents = format!("/api/pipelines/{}/documents", world.pipeline().await);
    let refused = world.get(&format!("{documents}?limit=1&classifcation=manual")).await;
    assert_eq!((refused.status, refused.code().as_str()), (400, "invalid-parameter"));
    let problem = refused.json();
    assert_eq!(problem["parameter"], "classifcation");
    assert!(problem["allowed"].as_array().unwrap().contains(&json!("classification")), "{problem}");
    for method in ["GET", "HEAD"] {
        assert_eq!(world.send(method, &format!("{documents}?classification=manual"), &[], "").await.status, 200);
        assert_eq!(world.send(method, &format!("{documents}?x"), &[], "").await.status, 400);
    }
    assert_eq!(world.get(&format!("{documents}?")).await.status, 200);
}

#[tokio::test]
async fn what_is_refused_has_its_code_and_all_members_of_a_problem() {
    let world = World::sqlite(&[]).await;
    let id = world.pipeline().await;
    let (base, json_body) = (format!("/api/pipelines/{id}"), ("content-type", "application/json"));
    let documents = format!("{base}/documents");
    let large = format!("\"{}\"", "x".repeat(1 << 20));
    let good = json!({"query": "q", "classification": "manual", "llm_connection": "x"}).to_string();
    for (method, path, headers, body, status, code) in [
        ("POST", "/api/pipelines", &[json_body][..], "{", 400, "malformed-json"),
        ("POST", "/api/pipelines", &[json_body], &large, 413, "payload-too-large"),
        ("POST", "/api/pipelines", &[("content-type", "text/plain")], "{}", 415, "unsupported-media-type"),
        ("POST", &documents, &[("content-type", "multipart/form-data; boundary=x")], "--x", 400, "malformed-multipart"),
        ("GET", "/api/pipelines?cursor=00", &[], "", 400, "invalid-cursor"),
        ("GET", "/api/pipelines?limit=0", &[], "", 400, "invalid-parameter"),
        ("GET", &format!("{documents}?classifcation=manual"), &[], "", 400, "invalid-parameter"),
        ("GET", "/api/pipelines/none", &[], "", 404, "pipeline-not-found"),
        ("GET", &format!("{documents}/none"), &[], "", 404, "document-not-found"),
        ("GET", "/api/keys/none", &[], "", 404, "key-not-found"),
        ("GET", "/api/queries/none", &[], "", 404, "query-not-found"),
        ("GET", "/api/llm-connections/none", &[], "", 404, "llm-connection-not-found"),
        ("GET", "/api/nothing", &[], "", 404, "not-found"),
        ("PUT", "/api/pipelines", &[], "", 405, "method-not-allowed"),
        ("POST", &format!("{base}/query"), &[json_body, ("accept", "text/html")], &good, 406, "not-acceptable"),
        ("GET", &documents, &[("accept", "text/html, application/xml;q=0.9")], "", 406, "not-acceptable"),
        ("GET", "/api/events", &[("accept", "application/json")], "", 406, "not-acceptable"),
        ("GET", &format!("{documents}/none/content"), &[("accept", "application/pdf")], "", 404, "document-not-found"),
        ("DELETE", &format!("{documents}/none"), &[("accept", "text/html")], "", 404, "document-not-found"),
        ("POST", &format!("{base}/query"), &[json_body], &good, 422, "llm-connection-not-found"),
        ("PATCH", &base, &[json_body, ("if-match", "\"0\"")], "{}", 412, "precondition-failed"),
        ("DELETE", &base, &[("if-match", "\"0\"")], "", 412, "precondition-failed"),
    ] {
        let answer = world.send(method, path, headers, body).await;
        assert_eq!((answer.status, answer.code().as_str()), (status, code), "{method} {path}");
        assert_eq!(answer.header("content-type"), "application/problem+json", "{method} {path}");
        let problem = answer.json();
        assert_eq!(problem["type"], format!("https://pidq.dev/problems/{code}"));
        assert_eq!(
            (&problem["status"], &problem["request_id"]),
            (&json!(status), &json!(answer.header("x-request-id")))
        );
        for member in ["title", "detail", "instance"] {
            assert!(problem[member].is_string(), "{method} {path} {member}");
        }
        assert_eq!(!answer.header("allow").is_empty(), status == 405, "{method} {path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_goes_wrong_with_a_model_is_told_and_is_never_ours() {
    let world = World::sqlite(&[]).await.working();
    let id = world.pipeline().await;
    world.ready(&id, "V-201.txt", b"PSV-2015A protects the vessel V-201.", &[("classification", "manual")]).await;
    for (upstream, code, status) in [
        (401, json!({"message": "no"}), (502, "llm-auth-failed")),
        (404, json!({"message": "no model"}), (422, "llm-model-not-found")),
        (400, json!({"code": "context_length_exceeded"}), (422, "llm-context-exceeded")),
        (400, json!({"message": "no"}), (502, "llm-rejected-request")),
        (200, json!({"message": "no"}), (502, "llm-bad-response")),
    ] {
        let double = Double::start(move |_, _| vec![json_reply(upstream, &json!({"error": code.clone()}))]).await;
        let answer = asked(&world, &id, &format!("http://{}/v1", double.address), 10_000).await;
        assert_eq!((answer.status, answer.code().as_str()), status, "{upstream} {}", answer.json());
    }
    let busy = Double::always(vec![reply(429, "Retry-After: 300\r\n", "{}")]).await;
    let answer = asked(&world, &id, &format!("http://{}/v1", busy.address), 10_000).await;
    assert_eq!((answer.status, answer.code().as_str()), (503, "llm-rate-limited"));
    assert_eq!(answer.header("retry-after"), "300");
    let silent = Double::always(vec![Step::Stall]).await;
    let answer = asked(&world, &id, &format!("http://{}/v1", silent.address), 300).await;
    assert_eq!((answer.status, answer.code().as_str()), (504, "llm-timeout"));
    let nobody = asked(&world, &id, "http://127.0.0.1:1/v1", 300).await;
    assert!([(502, "llm-unreachable"), (504, "llm-timeout")].contains(&(nobody.status, nobody.code().as_str())));
}

async fn asked(world: &World, pipeline: &str, base_url: &str, timeout_ms: u64) -> Answer {
    let body = json!({
        "query": "What protects the vessel V-201?", "classification": "manual", "timeout_ms": timeout_ms,
        "llm_endpoint": {"api_key": "k", "model": "m", "base_url": base_url},
    });
    world.post(&format!("/api/pipelines/{pipeline}/query"), &body).await
}

#[tokio::test]
async fn too_much_in_a_minute_is_refused_for_a_while() {
    let world = World::sqlite(&[("PIDQ_RATE", "1")]).await;
    assert_eq!(world.get("/api/pipelines").await.status, 200);
    let refused = world.get("/api/pipelines").await;
    assert_eq!((refused.status, refused.code().as_str()), (429, "rate-limited"));
    for header in ["retry-after", "ratelimit", "ratelimit-policy"] {
        assert!(!refused.header(header).is_empty(), "{header}");
    }
}
