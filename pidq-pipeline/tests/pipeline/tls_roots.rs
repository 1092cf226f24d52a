//! Tests of Redis and NATS over TLS: only servers with a certificate of the configured authority are used.

use std::sync::Arc;
use std::time::Duration;

use pidq_http::Settings;
use pidq_pipeline::cache::Redis;
use pidq_pipeline::health::DependencyHealth;
use pidq_pipeline::pubsub::PubSub;
use pidq_pipeline::{TABLES, open};
use rcgen::generate_simple_self_signed;
use tempfile::TempDir;

use crate::backend_servers::{CertifiedKey, Server};
use crate::platform::{SECRET, TestPlatform};

/// Returns a self-signed certificate for `localhost` and its key.
fn pair() -> CertifiedKey {
    let made = generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    CertifiedKey { certificate: made.cert.pem(), key: made.signing_key.serialize_pem() }
}

/// Files with the certificate of the servers and an unrelated one.
struct Files {
    _folder: TempDir,
    right: String,
    wrong: String,
}

fn files(pair: &CertifiedKey) -> Files {
    let folder = TempDir::new().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (right, wrong) = (write("right.pem", &pair.certificate), write("wrong.pem", &self::pair().certificate));
    Files { _folder: folder, right, wrong }
}

/// Waits for the reason why a server is unreachable. It never becomes reachable.
async fn why(health: &DependencyHealth) -> String {
    for _ in 0..400 {
        assert!(!health.is_up(), "{health:?}");
        let why = health.failure_reason();
        if !why.is_empty() {
            return why;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("no reason is reported: {health:?}");
}

async fn why_no_redis(url: &str, authority: Option<&str>) -> String {
    let pem = authority.map(|path| std::fs::read(path).unwrap());
    let redis = Redis::open(url, Duration::from_millis(50), pem.as_deref()).unwrap();
    why(redis.health()).await
}

async fn why_no_nats(url: &str, authority: Option<&str>) -> String {
    let messages = PubSub::over_nats(url, authority.map(std::path::Path::new)).unwrap();
    why(messages.health().unwrap()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_with_a_trusted_certificate_are_used() {
    let pair = pair();
    let (Some(redis), Some(nats)) = (Server::redis_over_tls(&pair), Server::nats_over_tls(&pair)) else { return };
    let files = files(&pair);
    let (redis, nats) = (redis.url(), nats.url());
    let settings = [
        ("PIDQ_REDIS_URL", redis.as_str()),
        ("PIDQ_NATS_URL", &nats),
        ("PIDQ_BACKEND_CA", &files.right),
        ("PIDQ_APP_SECRET", SECRET),
    ];
    let world = TestPlatform::sqlite(&settings).await.working();
    world.until_degraded(&[]).await;
    let id = world.pipeline().await;
    let sent = world.ready(&id, "a.txt", b"The pump P-101A.", &[("classification", "manual")]).await;
    assert_eq!(sent["status"], "ready");
    let counted = Arc::clone(world.state.redis.as_ref().unwrap());
    assert_eq!(counted.query::<String>(&redis::cmd("PING")).await.as_deref(), Some("PONG"));
    assert_eq!(world.get("/readyz").await.body, b"ready\n", "and it stays so");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_untrusted_redis_is_rejected_with_the_reason() {
    let pair = pair();
    let Some(server) = Server::redis_over_tls(&pair) else { return };
    let files = files(&pair);
    let other_name = server.url().replace("localhost", "127.0.0.1");
    for (url, authority) in [(server.url(), Some(&files.wrong)), (server.url(), None), (other_name, Some(&files.right))]
    {
        let why = why_no_redis(&url, authority.map(String::as_str)).await;
        assert!(why.contains("certificate"), "{url} {authority:?}: {why}");
    }
    why_no_redis(&server.url().replace("rediss://", "redis://"), None).await;
    if let Some(plain) = Server::redis() {
        why_no_redis(&plain.url().replace("redis://127.0.0.1", "rediss://localhost"), Some(&files.right)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_untrusted_nats_is_rejected_with_the_reason() {
    let pair = pair();
    let Some(server) = Server::nats_over_tls(&pair) else { return };
    let files = files(&pair);
    let other_name = server.url().replace("localhost", "127.0.0.1");
    let asked_by_the_server = server.url().replace("tls://", "nats://");
    for (url, authority) in [
        (server.url(), Some(&files.wrong)),
        (server.url(), None),
        (other_name, Some(&files.right)),
        (asked_by_the_server, Some(&files.wrong)),
    ] {
        let why = why_no_nats(&url, authority.map(String::as_str)).await;
        assert!(why.contains("certificate"), "{url} {authority:?}: {why}");
    }
    if let Some(plain) = Server::nats() {
        why_no_nats(&plain.url().replace("nats://127.0.0.1", "tls://localhost"), Some(&files.right)).await;
    }
}

#[tokio::test]
async fn unreadable_ca_files_prevent_the_start() {
    let folder = TempDir::new().unwrap();
    let file = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).unwrap();
        folder.path().join(name).to_str().unwrap().to_owned()
    };
    let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    for path in [file("empty", ""), file("broken", broken), folder.path().join("none").to_str().unwrap().to_owned()] {
        let values = [
            ("PIDQ_REDIS_URL", "rediss://localhost:1"),
            ("PIDQ_BACKEND_CA", path.as_str()),
            ("PIDQ_DATABASE_URL", "sqlite::memory:"),
        ];
        let values = values.map(|(name, value)| (name.to_owned(), value.to_owned()));
        match open(&Settings::read(TABLES, [], values).unwrap()).await {
            Ok(_) => panic!("{path}"),
            Err(error) => assert!(error.to_string().contains("PIDQ_BACKEND_CA"), "{error}"),
        }
    }
}
