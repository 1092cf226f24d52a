//! Tests of Redis and NATS over TLS: only servers with a certificate of the configured authority are used.

use std::sync::Arc;
use std::time::Duration;

use pidq_http::Settings;
use pidq_pipeline::TABLES;
use pidq_pipeline::cluster::cache::Redis;
use pidq_pipeline::cluster::health::DependencyHealth;
use pidq_pipeline::cluster::pubsub::PubSub;
use pidq_pipeline::open;
use rcgen::generate_simple_self_signed;
use tempfile::TempDir;

use crate::backend_servers::{CertifiedKey, Server};
use crate::platform::{SECRET, TestPlatform};

/// Returns a self-signed certificate for `localhost` and its key.
fn generate_certified_key() -> CertifiedKey {
    let created = generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    CertifiedKey { certificate: created.cert.pem(), key: created.signing_key.serialize_pem() }
}

/// Files with the certificate of the servers and an unrelated one.
struct Files {
    _folder: TempDir,
    trusted: String,
    untrusted: String,
}

fn files(certified_key: &CertifiedKey) -> Files {
    let folder = TempDir::new().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (trusted, untrusted) = (
        write("trusted.pem", &certified_key.certificate),
        write("untrusted.pem", &generate_certified_key().certificate),
    );
    Files { _folder: folder, trusted, untrusted }
}

/// Returns the reported reason why a server is unreachable. The server never becomes reachable.
async fn wait_for_failure_reason(health: &DependencyHealth) -> String {
    for _ in 0..400 {
        assert!(!health.is_up(), "{health:?}");
        let reason = health.failure_reason();
        if !reason.is_empty() {
            return reason;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("no reason is reported: {health:?}");
}

async fn redis_failure_reason(url: &str, ca_file: Option<&str>) -> String {
    let pem = ca_file.map(|path| std::fs::read(path).unwrap());
    let redis = Redis::open(url, Duration::from_millis(50), pem.as_deref()).unwrap();
    wait_for_failure_reason(redis.health()).await
}

async fn nats_failure_reason(url: &str, ca_file: Option<&str>) -> String {
    let pubsub = PubSub::over_nats(url, ca_file.map(std::path::Path::new)).unwrap();
    wait_for_failure_reason(pubsub.health().unwrap()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_with_a_trusted_certificate_are_used() {
    let certified_key = generate_certified_key();
    let (Some(redis), Some(nats)) = (Server::redis_over_tls(&certified_key), Server::nats_over_tls(&certified_key))
    else {
        return;
    };
    let files = files(&certified_key);
    let (redis, nats) = (redis.url(), nats.url());
    let settings = [
        ("PIDQ_REDIS_URL", redis.as_str()),
        ("PIDQ_NATS_URL", &nats),
        ("PIDQ_BACKEND_CA", &files.trusted),
        ("PIDQ_APP_SECRET", SECRET),
    ];
    let platform = TestPlatform::sqlite(&settings).await.with_workers();
    platform.wait_until_degraded(&[]).await;
    let id = platform.pipeline().await;
    let uploaded = platform.upload_and_wait(&id, "a.txt", b"The pump P-101A.", &[("classification", "manual")]).await;
    assert_eq!(uploaded["status"], "ready");
    let redis_client = Arc::clone(platform.state.messaging.redis.as_ref().unwrap());
    assert_eq!(redis_client.get("none").await, Some(None));
    assert_eq!(platform.get("/readyz").await.body, b"ready\n", "the platform stays ready");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_untrusted_redis_is_rejected_with_the_reason() {
    let certified_key = generate_certified_key();
    let Some(server) = Server::redis_over_tls(&certified_key) else { return };
    let files = files(&certified_key);
    let other_name = server.url().replace("localhost", "127.0.0.1");
    for (url, ca_file) in
        [(server.url(), Some(&files.untrusted)), (server.url(), None), (other_name, Some(&files.trusted))]
    {
        let reason = redis_failure_reason(&url, ca_file.map(String::as_str)).await;
        assert!(reason.contains("certificate"), "{url} {ca_file:?}: {reason}");
    }
    redis_failure_reason(&server.url().replace("rediss://", "redis://"), None).await;
    if let Some(plain) = Server::redis() {
        redis_failure_reason(&plain.url().replace("redis://127.0.0.1", "rediss://localhost"), Some(&files.trusted))
            .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_untrusted_nats_is_rejected_with_the_reason() {
    let certified_key = generate_certified_key();
    let Some(server) = Server::nats_over_tls(&certified_key) else { return };
    let files = files(&certified_key);
    let other_name = server.url().replace("localhost", "127.0.0.1");
    let without_tls_scheme = server.url().replace("tls://", "nats://");
    for (url, ca_file) in [
        (server.url(), Some(&files.untrusted)),
        (server.url(), None),
        (other_name, Some(&files.trusted)),
        (without_tls_scheme, Some(&files.untrusted)),
    ] {
        let reason = nats_failure_reason(&url, ca_file.map(String::as_str)).await;
        assert!(reason.contains("certificate"), "{url} {ca_file:?}: {reason}");
    }
    if let Some(plain) = Server::nats() {
        nats_failure_reason(&plain.url().replace("nats://127.0.0.1", "tls://localhost"), Some(&files.trusted)).await;
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
