//! Redis and NATS over TLS: whoever has a certificate that the right authority vouches for is spoken to, and nobody else.

use std::sync::Arc;
use std::time::Duration;

use pidq_http::Settings;
use pidq_pipeline::cache::Redis;
use pidq_pipeline::health::Health;
use pidq_pipeline::messages::Messages;
use pidq_pipeline::{TABLES, open};
use rcgen::generate_simple_self_signed;
use tempfile::TempDir;

use crate::platform::{SECRET, World};
use crate::servers::{Pair, Server};

/// A certificate of our own for `localhost`, with its key.
fn pair() -> Pair {
    let made = generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    Pair { certificate: made.cert.pem(), key: made.signing_key.serialize_pem() }
}

/// Files with the certificate of the servers, and with one of somebody else.
struct Files {
    _folder: TempDir,
    right: String,
    wrong: String,
}

fn files(pair: &Pair) -> Files {
    let folder = TempDir::new().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (right, wrong) = (write("right.pem", &pair.certificate), write("wrong.pem", &self::pair().certificate));
    Files { _folder: folder, right, wrong }
}

/// Why a server is not reached, once that is known. It never is reached.
async fn why(health: &Health) -> String {
    for _ in 0..400 {
        assert!(!health.is_up(), "{health:?}");
        let why = health.why();
        if !why.is_empty() {
            return why;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("nothing is said of {health:?}");
}

async fn why_no_redis(url: &str, authority: Option<&str>) -> String {
    let pem = authority.map(|path| std::fs::read(path).unwrap());
    let redis = Redis::open(url, Duration::from_millis(50), pem.as_deref()).unwrap();
    why(redis.health()).await
}

async fn why_no_nats(url: &str, authority: Option<&str>) -> String {
    let messages = Messages::over_nats(url, authority.map(std::path::Path::new)).unwrap();
    why(messages.health().unwrap()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_platform_speaks_to_servers_that_the_right_authority_vouches_for() {
    let pair = pair();
    let (Some(redis), Some(nats)) = (Server::redis_over_tls(&pair), Server::nats_over_tls(&pair)) else { return };
    let files = files(&pair);
    let (redis, nats) = (redis.url(), nats.url());
    let settings = [
        ("PIDQ_REDIS_URL", redis.as_str()),
        ("PIDQ_NATS_URL", &nats),
        ("PIDQ_SERVERS_CA", &files.right),
        ("PIDQ_APP_SECRET", SECRET),
    ];
    let world = World::sqlite(&settings).await.working();
    world.until_degraded(&[]).await;
    let id = world.pipeline().await;
    let sent = world.ready(&id, "a.txt", b"The pump P-101A.", &[("classification", "manual")]).await;
    assert_eq!(sent["status"], "ready");
    let counted = Arc::clone(world.state.redis.as_ref().unwrap());
    assert_eq!(counted.ask::<String>(&redis::cmd("PING")).await.as_deref(), Some("PONG"));
    assert_eq!(world.get("/readyz").await.body, b"ready\n", "and it stays so");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redis_that_nobody_vouches_for_is_not_spoken_to_and_the_reason_is_said() {
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
async fn a_nats_that_nobody_vouches_for_is_not_spoken_to_and_the_reason_is_said() {
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
async fn authorities_that_cannot_be_read_end_the_start() {
    let folder = TempDir::new().unwrap();
    let file = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).unwrap();
        folder.path().join(name).to_str().unwrap().to_owned()
    };
    let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    for path in [file("empty", ""), file("broken", broken), folder.path().join("none").to_str().unwrap().to_owned()] {
        let values = [
            ("PIDQ_REDIS_URL", "rediss://localhost:1"),
            ("PIDQ_SERVERS_CA", path.as_str()),
            ("PIDQ_DATABASE_URL", "sqlite::memory:"),
        ];
        let values = values.map(|(name, value)| (name.to_owned(), value.to_owned()));
        match open(&Settings::read(TABLES, [], values).unwrap()).await {
            Ok(_) => panic!("{path}"),
            Err(error) => assert!(error.to_string().contains("PIDQ_SERVERS_CA"), "{error}"),
        }
    }
}
