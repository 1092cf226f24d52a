//! Tests of several processes with and without Redis and NATS, and of a database outage: nothing is lost, and no restart
//! is needed.

use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::time::Duration;

use pidq_http::Settings;
use pidq_pipeline::Platform;
use pidq_pipeline::TABLES;
use pidq_pipeline::background::partition_refresh;
use pidq_pipeline::ingest::worker;
use pidq_pipeline::open;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::backend_servers::{Server, free_port};
use crate::databases;
use crate::platform::TestPlatform;

const MANUAL: &[(&str, &str)] = &[("classification", "manual")];

fn workers(platform: &Arc<Platform>, count: usize) -> JoinSet<()> {
    (0..count).map(|_| worker::run_worker(Arc::clone(platform))).collect()
}

#[tokio::test]
async fn missing_dependencies_are_reported_as_degraded() {
    let (redis, nats) = (format!("redis://127.0.0.1:{}", free_port()), format!("nats://127.0.0.1:{}", free_port()));
    let platform = TestPlatform::sqlite(&[("PIDQ_REDIS_URL", &redis), ("PIDQ_NATS_URL", &nats)]).await;
    let _workers = workers(&platform.state, 1);
    let ready = platform.get("/readyz").await;
    assert_eq!((ready.status, ready.body), (200, b"ready\ndegraded: [\"redis\", \"nats\"]\n".to_vec()));
    let id = platform.pipeline().await;
    let uploaded = platform.upload_and_wait(&id, "a.txt", b"The pump P-101A.", MANUAL).await;
    assert_eq!(uploaded["status"], "ready");
}

#[tokio::test]
async fn an_invalid_url_prevents_the_start_without_showing_passwords() {
    for (name, url) in [
        ("PIDQ_REDIS_URL", "http://user:hunter2@host"),
        ("PIDQ_REDIS_URL", "redis://user:hunter2@:x"),
        ("PIDQ_NATS_URL", "redis://user:hunter2@host"),
        ("PIDQ_NATS_URL", "nats://host,user:hunter2@other"),
    ] {
        let values = [(name, url), ("PIDQ_DATABASE_URL", "sqlite::memory:")];
        let values = values.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let error = match open(&Settings::read(TABLES, [], values).unwrap()).await {
            Ok(_) => panic!("{url}"),
            Err(error) => error.to_string(),
        };
        assert!(error.contains(name) && !error.contains("hunter2"), "{error}");
    }
}

#[tokio::test]
async fn urls_may_be_read_from_files() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("redis");
    std::fs::write(&path, "nonsense\n").unwrap();
    let values = [("PIDQ_REDIS_URL_FILE", path.to_str().unwrap()), ("PIDQ_DATABASE_URL", "sqlite::memory:")];
    let values = values.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let error = open(&Settings::read(TABLES, [], values).unwrap()).await.err().unwrap().to_string();
    assert!(error.contains("redis://host"), "{error}");
}

#[tokio::test]
async fn an_upload_wakes_workers_of_other_processes() {
    let Some((one, other, _folder, _nats)) = start_replicas(&[]).await else { return };
    other.state.messaging.job_notifier.notify_all();
    timeout(Duration::from_secs(5), one.state.messaging.job_notifier.notified()).await.expect("a notification");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_remote_cancellation_stops_the_worker_at_once() {
    let folder = TempDir::new().unwrap();
    let extractor = folder.path().join("extractor");
    std::fs::write(&extractor, "#!/bin/sh\nexec sleep 60\n").unwrap();
    std::fs::set_permissions(&extractor, PermissionsExt::from_mode(0o755)).unwrap();
    let settings = [("PIDQ_EXTRACTOR", extractor.to_str().unwrap()), ("PIDQ_JOB_LEASE_TTL", "60s")];
    let Some((server, worker, _folder, _nats)) = start_replicas(&settings).await else { return };
    let _workers = workers(&worker.state, 1);
    let id = server.pipeline().await;
    let send = async |text: &[u8]| server.upload(&id, "a.txt", text, MANUAL).await.json();
    let (first, second) = (send(b"first").await, send(b"second").await);
    let path = |document: &Value| format!("/api/pipelines/{id}/documents/{}", document["id"].as_str().unwrap());
    wait_for_status(&server, &path(&first), "parsing").await;
    assert_eq!(server.post(&format!("{}/cancel", path(&first)), &json!({})).await.status, 200);
    // Without the signal, the worker would notice when it renews its lease, in twenty seconds.
    timeout(Duration::from_secs(10), wait_for_status(&server, &path(&second), "parsing"))
        .await
        .expect("the worker is available");
    assert_eq!(server.get(&path(&first)).await.json()["status"], "cancelled");
}

#[tokio::test(flavor = "multi_thread")]
async fn open_partitions_are_refreshed_before_a_search() {
    let Some((server, worker, _folder, _nats)) = start_replicas(&[]).await else { return };
    let _workers = workers(&worker.state, 1);
    let _invalidation = tokio::spawn(partition_refresh::run(Arc::clone(&server.state)));
    let id = server.pipeline().await;
    let question = json!({"query": "pump", "classification": "manual"});
    assert_eq!(server.post(&format!("/api/pipelines/{id}/search"), &question).await.json()["contexts"], json!([]));
    let before = server.state.search.indexes.bytes();
    server.upload_and_wait(&id, "a.txt", b"The pump P-101A takes water from the tank.", MANUAL).await;
    for _ in 0..400 {
        if server.state.search.indexes.bytes() > before {
            return;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("the partition is not refreshed");
}

#[tokio::test(flavor = "multi_thread")]
async fn ingestion_survives_redis_and_nats_outages() {
    let Some(mut redis) = Server::redis() else { return };
    let url = redis.url();
    let Some((server, worker, _folder, mut nats)) =
        start_replicas(&[("PIDQ_REDIS_URL", &url), ("PIDQ_RATE_LIMIT", "6000")]).await
    else {
        return;
    };
    let _workers = workers(&worker.state, 2);
    let id = server.pipeline().await;
    for number in 0..30 {
        match number {
            10 => (nats.kill(), redis.kill()),
            20 => (nats.restart(), redis.restart()),
            _ => ((), ()),
        };
        let text = format!("The valve HV-{number:03} is closed.");
        assert_eq!(server.upload(&id, &format!("{number}.txt"), text.as_bytes(), MANUAL).await.status, 202);
    }
    server.wait_until_degraded(&[]).await;
    worker.wait_until_degraded(&[]).await;
    for _ in 0..600 {
        let counts = server.get(&format!("/api/pipelines/{id}")).await.json()["document_counts"].clone();
        if counts["ready"] == 30 {
            assert_eq!(counts, json!({"total": 30, "ready": 30, "processing": 0, "failed": 0}));
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("documents are still queued");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_platform_recovers_from_a_database_outage() {
    let Some(mut postgres) = Server::postgres() else { return };
    let platform = TestPlatform::at(&postgres.url(), &[("PIDQ_JOB_LEASE_TTL", "1s")]).await;
    let _workers = workers(&platform.state, 1);
    let id = platform.pipeline().await;
    platform.upload_and_wait(&id, "a.txt", b"The pump P-101A.", MANUAL).await;
    postgres.kill();
    let path = format!("/api/pipelines/{id}");
    let unavailable = platform.get(&path).await;
    assert_eq!((unavailable.status, unavailable.code().as_str()), (503, "unavailable"));
    assert!(!unavailable.header("retry-after").is_empty());
    // Once the outage is known, requests fail without waiting.
    let started = std::time::Instant::now();
    for _ in 0..20 {
        assert_eq!(platform.get(&path).await.status, 503);
    }
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
    assert_eq!(platform.get("/readyz").await.status, 503);
    assert_eq!(platform.get("/livez").await.status, 200);
    postgres.restart();
    for _ in 0..200 {
        if platform.get(&path).await.status == 200 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let uploaded = platform.upload_and_wait(&id, "b.txt", b"The pump P-101B.", MANUAL).await;
    assert_eq!(uploaded["status"], "ready", "the worker continues");
    assert_eq!(platform.get("/readyz").await.body, b"ready\n");
}

/// Starts two platforms on one database, connected over NATS. Prints a notice and returns `None` if NATS is missing.
async fn start_replicas(settings: &[(&str, &str)]) -> Option<(TestPlatform, TestPlatform, TempDir, Server)> {
    let nats = Server::nats()?;
    let folder = TempDir::new().unwrap();
    let (url, nats_url) = (databases::sqlite_url(&folder), nats.url());
    let settings = [&[("PIDQ_NATS_URL", nats_url.as_str())], settings].concat();
    let (one, other) = (TestPlatform::at(&url, &settings).await, TestPlatform::at(&url, &settings).await);
    one.wait_until_degraded(&[]).await;
    other.wait_until_degraded(&[]).await;
    Some((one, other, folder, nats))
}

async fn wait_for_status(platform: &TestPlatform, path: &str, status: &str) {
    while platform.get(path).await.json()["status"] != status {
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
}

impl TestPlatform {
    /// Waits until exactly these dependencies are down.
    pub async fn wait_until_degraded(&self, missing: &[&str]) {
        for _ in 0..800 {
            let servers = self.state.dependencies();
            if servers.iter().filter(|server| !server.is_up()).map(|server| server.name()).eq(missing.iter().copied()) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        panic!("{:?}", self.state.dependencies());
    }
}
