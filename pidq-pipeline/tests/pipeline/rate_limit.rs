//! Tests of rate limits, counted in one process or in Redis for all processes, with the same results.

use std::time::{Duration, Instant};

use serde_json::json;
use tempfile::TempDir;

use crate::backend_servers::Server;
use crate::databases;
use crate::platform::{TestPlatform, TestResponse};

/// Starts two replicas on one database, with rate limits.
async fn replicas(folder: &TempDir, settings: &[(&str, &str)]) -> (TestPlatform, TestPlatform) {
    let url = databases::sqlite_url(folder);
    let rates = [&[("PIDQ_RATE_LIMIT", "6"), ("PIDQ_ASK_RATE_LIMIT", "2")], settings].concat();
    (TestPlatform::at(&url, &rates).await, TestPlatform::at(&url, &rates).await)
}

/// Runs a test on one process and on two processes with shared counters.
async fn on_each(test: impl AsyncFn(&TestPlatform, &TestPlatform)) {
    let folder = TempDir::new().unwrap();
    let (one, _) = replicas(&folder, &[]).await;
    test(&one, &one).await;
    let Some(redis) = Server::redis() else { return };
    let folder = TempDir::new().unwrap();
    // A long timeout, so that Redis counts even on a busy machine.
    let (one, other) = replicas(&folder, &[("PIDQ_REDIS_URL", &redis.url()), ("PIDQ_REDIS_TIMEOUT", "10s")]).await;
    one.wait_until_degraded(&[]).await;
    other.wait_until_degraded(&[]).await;
    test(&one, &other).await;
}

async fn request_limits(platform: &TestPlatform) -> TestResponse {
    platform.get("/api/limits").await
}

#[tokio::test]
async fn all_replicas_share_one_bucket() {
    on_each(async |one, other| {
        for platform in [one, other, one, other, one, other] {
            assert_eq!(request_limits(platform).await.status, 200);
        }
        for platform in [one, other] {
            let rejected = request_limits(platform).await;
            assert_eq!((rejected.status, rejected.code().as_str()), (429, "rate-limited"));
            assert!((1..=10).contains(&rejected.header("retry-after").parse::<u32>().unwrap()));
            assert_eq!(rejected.header("ratelimit-policy"), "\"user\";q=6;w=60");
            assert!(rejected.header("ratelimit").starts_with("\"user\";r=0;t="), "{}", rejected.header("ratelimit"));
        }
    })
    .await;
}

#[tokio::test]
async fn questions_have_their_own_rate_limit() {
    on_each(async |one, other| {
        let search = async |platform: &TestPlatform| platform.post("/api/pipelines/none/search", &json!({})).await;
        let first = search(one).await;
        assert_eq!(first.status, 404);
        assert_eq!(first.header("ratelimit-policy"), "\"questions\";q=2;w=60, \"user\";q=6;w=60");
        assert!(first.header("ratelimit").starts_with("\"questions\";r=1;t="), "{}", first.header("ratelimit"));
        assert!(first.header("ratelimit").contains("\"user\";r=5;t="), "{}", first.header("ratelimit"));
        assert_eq!(search(other).await.status, 404);
        assert_eq!(search(one).await.status, 429);
        assert_eq!(request_limits(other).await.status, 200, "only questions exceed their limit");
        let limits = request_limits(one).await.json();
        assert_eq!(limits["requests_per_minute"], json!({"questions": 2, "user": 6}));
    })
    .await;
}

#[tokio::test]
async fn without_redis_each_process_counts_locally() {
    let Some(mut redis) = Server::redis() else { return };
    let folder = TempDir::new().unwrap();
    let (one, other) = replicas(&folder, &[("PIDQ_REDIS_URL", &redis.url()), ("PIDQ_REDIS_TIMEOUT", "10s")]).await;
    one.wait_until_degraded(&[]).await;
    other.wait_until_degraded(&[]).await;
    assert_eq!(request_limits(&one).await.status, 200);
    redis.kill();
    one.wait_until_degraded(&["redis"]).await;
    for _ in 0..6 {
        assert_eq!(request_limits(&one).await.status, 200, "the local bucket is full");
    }
    assert_eq!((request_limits(&one).await.status, request_limits(&other).await.status), (429, 200));
    redis.restart();
    one.wait_until_degraded(&[]).await;
    other.wait_until_degraded(&[]).await;
    for platform in [&one, &other, &one, &other, &one, &other] {
        assert_eq!(request_limits(platform).await.status, 200, "Redis starts with empty counters");
    }
    assert_eq!((request_limits(&one).await.status, request_limits(&other).await.status), (429, 429));
}

#[tokio::test]
async fn an_unresponsive_redis_does_not_delay_requests() {
    let Some(redis) = Server::redis() else { return };
    let platform = TestPlatform::sqlite(&[("PIDQ_RATE_LIMIT", "1000"), ("PIDQ_REDIS_URL", &redis.url())]).await;
    platform.wait_until_degraded(&[]).await;
    redis.pause();
    let started = Instant::now();
    for _ in 0..200 {
        assert_eq!(request_limits(&platform).await.status, 200);
    }
    // If each request waited for 50 ms, it would take ten seconds in all.
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    platform.wait_until_degraded(&["redis"]).await;
    redis.resume();
    platform.wait_until_degraded(&[]).await;
}
