//! Tests of the cache: equal in process and in Redis, where entries are encrypted.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use pidq_http::Secret;
use pidq_pipeline::cluster::cache::{Cache, CacheKind, PASSAGES, Redis, VECTORS};
use serde_json::json;

use crate::backend_servers::Server;
use crate::ingestion;
use crate::platform::TestPlatform;

const CAPACITY: usize = 1 << 20;
const SECRET: &str = "a secret of thirty-two characters";

/// Runs a test on one process, and on two processes with a shared Redis.
async fn on_each(test: impl AsyncFn(&Cache, &Cache)) {
    let local = Cache::in_process(CAPACITY);
    test(&local, &local).await;
    let Some(server) = Server::redis() else { return };
    test(&open_cache(&server, SECRET).await, &open_cache(&server, SECRET).await).await;
}

async fn open_cache(server: &Server, secret: &str) -> Cache {
    let redis = Arc::new(Redis::open(&server.url(), Duration::from_secs(10), None).unwrap());
    while !redis.health().is_up() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    Cache::with_redis(redis, &Secret::new(secret), "0199", CAPACITY)
}

fn bytes(text: &str) -> Bytes {
    Bytes::copy_from_slice(text.as_bytes())
}

#[tokio::test]
async fn a_value_is_found_only_by_its_key() {
    on_each(async |one, other| {
        one.put(&PASSAGES, &["ab", "c"], bytes("value")).await;
        assert_eq!(other.get(&PASSAGES, &["ab", "c"]).await, Some(bytes("value")));
        assert_eq!(one.get(&PASSAGES, &["ab", "c"]).await, Some(bytes("value")));
        for parts in [&["a", "bc"][..], &["abc"], &["ab", "c", ""], &["ab"], &["c", "ab"], &[]] {
            assert_eq!(other.get(&PASSAGES, parts).await, None, "{parts:?}");
        }
        assert_eq!(other.get(&VECTORS, &["ab", "c"]).await, None, "another kind");
        one.put(&PASSAGES, &["ab", "c"], bytes("")).await;
        assert_eq!(one.get(&PASSAGES, &["ab", "c"]).await, Some(bytes("")));
    })
    .await;
}

#[tokio::test]
async fn entries_expire_after_their_ttl() {
    const SHORT: CacheKind = CacheKind { name: "short", ttl: Duration::from_millis(100) };
    on_each(async |one, other| {
        one.put(&SHORT, &["a"], bytes("value")).await;
        tokio::time::sleep(Duration::from_millis(150)).await;
        assert_eq!((one.get(&SHORT, &["a"]).await, other.get(&SHORT, &["a"]).await), (None, None));
    })
    .await;
}

#[tokio::test]
async fn redis_entries_are_encrypted_and_authenticated() {
    let Some(server) = Server::redis() else { return };
    let parts = ["pipeline", "SECRET CLASSIFICATION", "question"];
    open_cache(&server, SECRET).await.put(&PASSAGES, &parts, bytes("SECRET PASSAGE")).await;
    let client = redis::Client::open(server.url()).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    let keys: Vec<String> = redis::cmd("KEYS").arg("*").query_async(&mut connection).await.unwrap();
    let [key] = keys.as_slice() else { panic!("{keys:?}") };
    let value: String = redis::cmd("GET").arg(key).query_async(&mut connection).await.unwrap();
    assert!(key.starts_with("pidq:0199:passages:"), "{key}");
    assert!(!format!("{key}{value}").contains("SECRET"));
    assert_eq!(open_cache(&server, "another").await.get(&PASSAGES, &parts).await, None);
    let mut other = key.clone().into_bytes();
    let last = other.last_mut().unwrap();
    *last = if *last == b'0' { b'1' } else { b'0' };
    let other = String::from_utf8(other).unwrap();
    for (key, value) in [(&other, value.clone()), (key, value[1..].to_owned()), (key, "nonsense".into())] {
        let _: () = redis::cmd("SET").arg(key).arg(value).query_async(&mut connection).await.unwrap();
    }
    assert_eq!(open_cache(&server, SECRET).await.get(&PASSAGES, &parts).await, None, "a modified entry is ignored");
}

#[tokio::test]
async fn without_redis_the_cache_is_local() {
    let Some(server) = Server::redis() else { return };
    let (one, other) = (open_cache(&server, SECRET).await, open_cache(&server, SECRET).await);
    server.kill();
    one.put(&PASSAGES, &["a"], bytes("value")).await;
    assert_eq!(one.get(&PASSAGES, &["a"]).await, Some(bytes("value")));
    assert_eq!(other.get(&PASSAGES, &["a"]).await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn cached_results_are_valid_until_the_classification_changes() {
    ingestion::on_each(async |platform: &TestPlatform| {
        let id = platform.pipeline().await;
        let parts = |classification| [("classification", classification)];
        platform.upload_and_wait(&id, "a.txt", b"The pump P-101A takes water.", &parts("manual")).await;
        let search = async |classification: &str, query: &str| {
            let request_body = json!({"query": query, "classification": classification});
            platform.post(&format!("/api/pipelines/{id}/search"), &request_body).await.json()["contexts"].clone()
        };
        let first = search("manual", "pump").await;
        assert_eq!(first.as_array().unwrap().len(), 1);
        assert_eq!(platform.state.search.cache.hits(&PASSAGES), 0);
        assert_eq!(search("manual", "pump").await, first, "the cached result is identical");
        assert_eq!(platform.state.search.cache.hits(&PASSAGES), 1);
        assert_eq!(search("datasheet", "pump").await, json!([]));
        assert_eq!(search("manual", "water").await.as_array().unwrap().len(), 1);
        platform.upload_and_wait(&id, "b.txt", b"The pump P-101B is its spare.", &parts("manual")).await;
        assert_eq!(search("manual", "pump").await.as_array().unwrap().len(), 2);
        assert_eq!(platform.state.search.cache.hits(&PASSAGES), 1, "the other searches were not cached");
    })
    .await;
}
