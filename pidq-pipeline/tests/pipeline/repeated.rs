//! Requests that come again with the same `Idempotency-Key`.

use std::time::Duration;

use pidq_http::database::Database;
use pidq_pipeline::keeping;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::databases;
use crate::platform::{Answer, MASTER, SECRET, World, form, is_stored, on_each, on_each_url};

const APP: (&str, &str) = ("PIDQ_APP_SECRET", "a1b2c3d4e5f60718293a4b5c6d7e8f90");

fn wanted(name: &str) -> Value {
    json!({"name": name, "embedding_model": "hash-512", "text_splitter": "token", "classifications": ["manual"]})
}

async fn post(world: &World, path: &str, key: &str, body: &Value) -> Answer {
    let headers = [("content-type", "application/json"), ("idempotency-key", key)];
    world.send("POST", path, &headers, body.to_string()).await
}

fn is_replay(answer: &Answer) -> bool {
    answer.header("idempotency-replayed") == "true"
}

#[tokio::test]
async fn the_same_request_happens_once_and_has_the_same_answer() {
    on_each(async |world| {
        let first = post(&world, "/api/pipelines", "k-1", &wanted("p")).await;
        let again = post(&world, "/api/pipelines", "k-1", &wanted("p")).await;
        assert_eq!((first.status, again.status, &again.body), (201, 201, &first.body));
        for header in ["location", "etag", "content-type"] {
            assert_eq!(again.header(header), first.header(header), "{header}");
        }
        assert_eq!((is_replay(&first), is_replay(&again)), (false, true));
        assert_eq!(world.get("/api/pipelines").await.json()["total"], 1);
        let other = post(&world, "/api/pipelines", "k-2", &wanted("p")).await;
        assert_eq!((other.status, other.code().as_str()), (409, "name-taken"), "another key is another request");
    })
    .await;
}

#[tokio::test]
async fn a_key_names_one_request() {
    let world = World::sqlite(&[]).await;
    let made = post(&world, "/api/pipelines", "k", &wanted("p")).await.json();
    let preview = format!("/api/pipelines/{}/preview", made["id"].as_str().unwrap());
    let text = json!({"text": "The pump P-101A."});
    for (path, key, body) in [
        ("/api/pipelines", "k", &wanted("q")),
        ("/api/keys", "k", &wanted("p")),
        (&preview, "k", &text),
        (&format!("{preview}?limit=1"), "another", &text),
    ] {
        if key == "another" {
            assert_eq!(post(&world, &preview, key, body).await.status, 200);
        }
        let answer = post(&world, path, key, body).await;
        assert_eq!((answer.status, answer.code().as_str()), (422, "idempotency-key-reuse"), "{path} {body}");
    }
    for bad in ["", "a b", &"k".repeat(256)] {
        let answer = post(&world, "/api/pipelines", bad, &wanted("r")).await;
        assert_eq!((answer.status, answer.code().as_str()), (400, "invalid-idempotency-key"), "{bad}");
    }
    assert_eq!(post(&world, "/api/pipelines", &"k".repeat(255), &wanted("r")).await.status, 201);
    let read = world.send("GET", "/api/pipelines", &[("idempotency-key", "k")], "").await;
    assert_eq!((read.status, is_replay(&read)), (200, false), "only a POST is repeated");
}

#[tokio::test]
async fn a_refusal_changed_nothing_and_may_be_sent_again_corrected() {
    let world = World::sqlite(&[]).await;
    let mut wrong = wanted("p");
    wrong["text_splitter"] = "magic".into();
    assert_eq!(post(&world, "/api/pipelines", "k", &wrong).await.status, 422);
    assert_eq!(post(&world, "/api/pipelines", "k", &wanted("p")).await.status, 201);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_is_the_same_whatever_stands_between_its_parts() {
    on_each(async |world| {
        let id = world.pipeline().await;
        let path = format!("/api/pipelines/{id}/documents");
        let body = form("a.txt", b"pump", &[("classification", "manual")]);
        let send = async |boundary: &str, body: Vec<u8>| {
            let media = format!("multipart/form-data; boundary={boundary}");
            let headers = [("content-type", media.as_str()), ("idempotency-key", "k")];
            world.send("POST", &path, &headers, body).await
        };
        let first = send("x7x", body.clone()).await;
        assert_eq!(first.status, 202, "{}", first.json());
        let other = String::from_utf8(body).unwrap().replace("x7x", "another-boundary");
        let again = send("another-boundary", other.clone().into_bytes()).await;
        assert_eq!((again.status, is_replay(&again), &again.body), (202, true, &first.body));
        let changed = send("another-boundary", other.replace("pump", "pumq").into_bytes()).await;
        assert_eq!((changed.status, changed.code().as_str()), (422, "idempotency-key-reuse"));
        let listed = world.get(&path).await.json();
        assert_eq!(listed["data"].as_array().unwrap().len(), 1);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_at_once_are_one_and_a_conflict() {
    on_each(async |world| {
        let id = world.pipeline().await;
        let path = format!("/api/pipelines/{id}/documents?wait=1");
        let headers = [("content-type", "multipart/form-data; boundary=x7x"), ("idempotency-key", "k")];
        let send = async || world.send("POST", &path, &headers, form("a", b"a", &[("classification", "manual")])).await;
        let later = async {
            tokio::time::sleep(Duration::from_millis(300)).await;
            send().await
        };
        let (first, second) = tokio::join!(send(), later);
        assert_eq!((first.status, second.status, second.code().as_str()), (202, 409, "idempotency-conflict"));
        assert!(!second.header("retry-after").is_empty());
        assert!(is_replay(&send().await));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_begun_ends_though_nobody_waits_for_it() {
    let world = World::sqlite(&[]).await;
    let id = world.pipeline().await;
    let path = format!("/api/pipelines/{id}/documents?wait=1");
    let headers = [("content-type", "multipart/form-data; boundary=x7x"), ("idempotency-key", "k")];
    let send = || world.send("POST", &path, &headers, form("a", b"a", &[("classification", "manual")]));
    assert!(tokio::time::timeout(Duration::from_millis(300), send()).await.is_err(), "the sender goes away");
    let mut answer = send().await;
    while answer.status == 409 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        answer = send().await;
    }
    assert_eq!((answer.status, is_replay(&answer)), (202, true));
}

#[tokio::test]
async fn callers_are_strangers_to_each_other() {
    let world = World::sqlite(&[("PIDQ_APP_MASTER_KEY", MASTER), ("PIDQ_APP_MASTER_SECRET", SECRET)]).await;
    let root = format!("Bearer {}", world.token(SECRET).await.json()["access_token"].as_str().unwrap());
    let made = async |name: &str, authorization: &str, key: &str| {
        let headers =
            [("content-type", "application/json"), ("authorization", authorization), ("idempotency-key", key)];
        let wanted = json!({"name": name, "scopes": ["admin", "pipelines:write"]});
        world.send("POST", "/api/keys", &headers, wanted.to_string()).await
    };
    let first = made("a", &root, "k").await;
    let own = format!("Bearer {}", first.json()["key"].as_str().unwrap());
    let second = made("a", &own, "k").await;
    assert_eq!((second.status, is_replay(&second)), (201, false));
    assert_ne!(second.json()["key"], first.json()["key"]);
    let again = made("a", &root, "k").await;
    assert_eq!((is_replay(&again), &again.json()["key"]), (true, &first.json()["key"]), "its owner is shown it again");
}

#[tokio::test]
async fn who_dies_at_a_request_does_not_block_it_for_ever() {
    on_each_url(async |url| {
        let world = World::at(url, &[]).await;
        let database = Database::open(url).await.unwrap();
        let held =
            "insert into idempotency (caller, name, holder, held_until, created_at) values ($1, $2, 'dead', $3, $4)";
        let now = pidq_http::auth::Moment::now().0;
        for (key, until) in [("held", now + 30_000), ("over", now - 1)] {
            let name = pidq_http::Secret::new(key).fingerprint();
            let arguments = ["main/anyone".into(), (&name).into(), until.into(), (now - 31_000).into()];
            database.execute(held, &arguments).await.unwrap();
        }
        let answer = post(&world, "/api/pipelines", "held", &wanted("p")).await;
        assert_eq!((answer.status, answer.code().as_str()), (409, "idempotency-conflict"));
        assert_eq!(post(&world, "/api/pipelines", "over", &wanted("p")).await.status, 201);
        assert!(is_replay(&post(&world, "/api/pipelines", "over", &wanted("p")).await));
    })
    .await;
}

#[tokio::test]
async fn an_answer_is_kept_for_a_day() {
    on_each_url(async |url| {
        let world = World::at(url, &[]).await;
        post(&world, "/api/pipelines", "k", &wanted("p")).await;
        let database = Database::open(url).await.unwrap();
        let age = "update idempotency set created_at = created_at - 86400000, held_until = held_until - 86400000";
        database.execute(age, &[]).await.unwrap();
        let late = post(&world, "/api/pipelines", "k", &wanted("p")).await;
        assert_eq!(
            (late.status, late.code().as_str()),
            (409, "name-taken"),
            "it happens again, and is refused as itself"
        );
        post(&world, "/api/pipelines", "k", &wanted("q")).await;
        database.execute(age, &[]).await.unwrap();
        keeping::once(&world.state).await.unwrap();
        let left = database.row::<(i64,)>("select count(*) from idempotency", &[]).await.unwrap();
        assert_eq!(left, Some((0,)));
    })
    .await;
}

#[tokio::test]
async fn a_secret_that_is_shown_again_is_nowhere_in_the_clear() {
    let folder = TempDir::new().unwrap();
    let url = databases::sqlite_url(&folder);
    let world = World::at(&url, &[APP]).await;
    let wanted = json!({"name": "k", "scopes": ["query"]});
    let made = post(&world, "/api/keys", "my-idempotency-key", &wanted).await;
    drop(world);
    // A secret may have underscores itself.
    let secret = made.json()["key"].as_str().unwrap().splitn(3, '_').nth(2).unwrap().to_owned();
    for text in [secret.as_str(), "my-idempotency-key"] {
        assert!(!is_stored(folder.path(), text), "{text}");
    }
    let world = World::at(&url, &[APP]).await;
    let again = post(&world, "/api/keys", "my-idempotency-key", &wanted).await;
    assert_eq!((is_replay(&again), &again.body), (true, &made.body), "it opens after a restart");
    let world = World::at(&url, &[("PIDQ_APP_SECRET", "ffffffffffffffffffffffffffffffff")]).await;
    let other = post(&world, "/api/keys", "my-idempotency-key", &wanted).await;
    assert_eq!((other.status, other.code().as_str()), (409, "idempotency-conflict"), "and with no other secret");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_nobody_may_store_is_not_stored_for_a_repetition_either() {
    on_each_url(async |url| {
        let world = World::at(url, &[]).await.working();
        let id = world.pipeline().await;
        let patch = r#"{"policies": {"datasheet": {"retain_queries": false}}}"#;
        let json_body = [("content-type", "application/json")];
        assert_eq!(world.send("PATCH", &format!("/api/pipelines/{id}"), &json_body, patch).await.status, 200);
        for (label, replayed) in [("manual", true), ("datasheet", false)] {
            let body = json!({"query": "pump", "classification": label});
            let path = format!("/api/pipelines/{id}/search");
            post(&world, &path, label, &body).await;
            assert_eq!(is_replay(&post(&world, &path, label, &body).await), replayed, "{label}");
        }
        let database = Database::open(url).await.unwrap();
        let left = database.row::<(i64,)>("select count(*) from idempotency", &[]).await.unwrap();
        assert_eq!(left, Some((1,)));
    })
    .await;
}
