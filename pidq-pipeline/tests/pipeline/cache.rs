//! What is remembered: the same in one process and in Redis, where nobody can read it.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use pidq_http::Secret;
use pidq_pipeline::cache::{Cache, Kind, PASSAGES, Redis, VECTORS};
use serde_json::json;

use crate::platform::World;
use crate::reading;
use crate::servers::Server;

const ROOM: usize = 1 << 20;
const SECRET: &str = "a secret of thirty-two characters";

/// Runs a test on one process, and on two that share a Redis.
async fn on_each(test: impl AsyncFn(&Cache, &Cache)) {
    let alone = Cache::in_process(ROOM);
    test(&alone, &alone).await;
    let Some(server) = Server::redis() else { return };
    test(&over(&server, SECRET).await, &over(&server, SECRET).await).await;
}

async fn over(server: &Server, secret: &str) -> Cache {
    let redis = Arc::new(Redis::open(&server.url(), Duration::from_secs(10), None).unwrap());
    while !redis.health().is_up() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    Cache::over(redis, &Secret::new(secret), "0199", ROOM)
}

fn bytes(text: &str) -> Bytes {
    Bytes::copy_from_slice(text.as_bytes())
}

#[tokio::test]
async fn a_value_is_found_by_what_it_is_of_and_by_nothing_else() {
    on_each(async |one, other| {
        one.put(&PASSAGES, &["ab", "c"], bytes("value")).await;
        assert_eq!(other.get(&PASSAGES, &["ab", "c"]).await, Some(bytes("value")));
        assert_eq!(one.get(&PASSAGES, &["ab", "c"]).await, Some(bytes("value")));
        for of in [&["a", "bc"][..], &["abc"], &["ab", "c", ""], &["ab"], &["c", "ab"], &[]] {
            assert_eq!(other.get(&PASSAGES, of).await, None, "{of:?}");
        }
        assert_eq!(other.get(&VECTORS, &["ab", "c"]).await, None, "another kind");
        one.put(&PASSAGES, &["ab", "c"], bytes("")).await;
        assert_eq!(one.get(&PASSAGES, &["ab", "c"]).await, Some(bytes("")));
    })
    .await;
}

#[tokio::test]
async fn nothing_is_remembered_for_longer_than_its_kind() {
    const SHORT: Kind = Kind { name: "short", lasts: Duration::from_millis(100) };
    on_each(async |one, other| {
        one.put(&SHORT, &["a"], bytes("value")).await;
        tokio::time::sleep(Duration::from_millis(150)).await;
        assert_eq!((one.get(&SHORT, &["a"]).await, other.get(&SHORT, &["a"]).await), (None, None));
    })
    .await;
}

#[tokio::test]
async fn redis_sees_neither_names_nor_values_and_cannot_change_them() {
    let Some(server) = Server::redis() else { return };
    let of = ["pipeline", "SECRET LABEL", "question"];
    over(&server, SECRET).await.put(&PASSAGES, &of, bytes("SECRET PASSAGE")).await;
    let client = redis::Client::open(server.url()).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    let keys: Vec<String> = redis::cmd("KEYS").arg("*").query_async(&mut connection).await.unwrap();
    let [key] = keys.as_slice() else { panic!("{keys:?}") };
    let value: String = redis::cmd("GET").arg(key).query_async(&mut connection).await.unwrap();
    assert!(key.starts_with("pidq:0199:passages:"), "{key}");
    assert!(!format!("{key}{value}").contains("SECRET"));
    assert_eq!(over(&server, "another").await.get(&PASSAGES, &of).await, None);
    let mut other = key.clone().into_bytes();
    let last = other.last_mut().unwrap();
    *last = if *last == b'0' { b'1' } else { b'0' };
    let other = String::from_utf8(other).unwrap();
    for (at, put) in [(&other, value.clone()), (key, value[1..].to_owned()), (key, "nonsense".into())] {
        let _: () = redis::cmd("SET").arg(at).arg(put).query_async(&mut connection).await.unwrap();
    }
    assert_eq!(over(&server, SECRET).await.get(&PASSAGES, &of).await, None, "what was changed is nothing");
}

#[tokio::test]
async fn without_redis_a_process_remembers_for_itself() {
    let Some(server) = Server::redis() else { return };
    let (one, other) = (over(&server, SECRET).await, over(&server, SECRET).await);
    server.kill();
    one.put(&PASSAGES, &["a"], bytes("value")).await;
    assert_eq!(one.get(&PASSAGES, &["a"]).await, Some(bytes("value")));
    assert_eq!(other.get(&PASSAGES, &["a"]).await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_answered_as_before_until_something_changes_under_its_label() {
    reading::on_each(async |world: &World| {
        let id = world.pipeline().await;
        let label = |label| [("classification", label)];
        world.ready(&id, "a.txt", b"The pump P-101A takes water.", &label("manual")).await;
        let search = async |label: &str, query: &str| {
            let asked = json!({"query": query, "classification": label});
            world.post(&format!("/api/pipelines/{id}/search"), &asked).await.json()["contexts"].clone()
        };
        let first = search("manual", "pump").await;
        assert_eq!(first.as_array().unwrap().len(), 1);
        assert_eq!(world.state.cache.found(&PASSAGES), 0);
        assert_eq!(search("manual", "pump").await, first, "bit for bit");
        assert_eq!(world.state.cache.found(&PASSAGES), 1);
        assert_eq!(search("datasheet", "pump").await, json!([]));
        assert_eq!(search("manual", "water").await.as_array().unwrap().len(), 1);
        world.ready(&id, "b.txt", b"The pump P-101B is its spare.", &label("manual")).await;
        assert_eq!(search("manual", "pump").await.as_array().unwrap().len(), 2);
        assert_eq!(world.state.cache.found(&PASSAGES), 1, "all others were asked for the first time");
    })
    .await;
}
