//! Tests of webhooks: filtered by permission, in order, signed, and retried for a limited time.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, AtomicUsize, Ordering};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use pidq_http::auth::Timestamp;
use pidq_http::database::{Database, DatabaseKind};
use pidq_pipeline::webhooks::dispatcher;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::task::JoinHandle;

use crate::mock_server::{MockServer, ReceivedRequest, Step, raw, reply};
use crate::platform::{MASTER, SECRET, TestPlatform, TestResponse, on_each_url};

const APP: (&str, &str) = ("PIDQ_APP_SECRET", "a1b2c3d4e5f60718293a4b5c6d7e8f90");
const OTHER_APP: (&str, &str) = ("PIDQ_APP_SECRET", "ffb2c3d4e5f60718293a4b5c6d7e8f90");
const SHORT_TIMEOUT: (&str, &str) = ("PIDQ_WEBHOOK_TIMEOUT", "500ms");
const ROOT: [(&str, &str); 2] = [("PIDQ_APP_MASTER_KEY", MASTER), ("PIDQ_APP_MASTER_SECRET", SECRET)];
const WEBHOOKS: &str = "/api/webhooks";
const MANUAL: (&str, &str) = ("classification", "manual");

/// A platform that delivers events to webhooks.
struct WebhookPlatform {
    platform: TestPlatform,
    database: Database,
    tasks: Vec<JoinHandle<()>>,
}

impl std::ops::Deref for WebhookPlatform {
    type Target = TestPlatform;

    fn deref(&self) -> &TestPlatform {
        &self.platform
    }
}

impl Drop for WebhookPlatform {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

impl WebhookPlatform {
    async fn at(url: &str, settings: &[(&str, &str)]) -> WebhookPlatform {
        let defaults = [APP, SHORT_TIMEOUT];
        let platform = TestPlatform::at(url, &defaults.iter().chain(settings).copied().collect::<Vec<_>>()).await;
        let tasks = vec![platform.run_sequencer(), tokio::spawn(dispatcher::dispatch(Arc::clone(&platform.state)))];
        WebhookPlatform { platform, database: Database::open(url).await.unwrap(), tasks }
    }

    /// Creates a webhook and returns it with its secret.
    async fn create_webhook(&self, mock: &MockServer, types: &[&str]) -> Value {
        let url = format!("http://{}/hooks?plant=1", mock.address);
        let created = self.post(WEBHOOKS, &json!({"url": url, "types": types})).await;
        assert_eq!(created.status, 201, "{}", created.json());
        created.json()
    }

    async fn deliveries(&self, webhook: &Value) -> Vec<Value> {
        let listed = self.get(&format!("{}/deliveries", path(webhook))).await.json();
        listed["data"].as_array().unwrap_or_else(|| panic!("{listed}")).clone()
    }

    /// Waits until the deliveries satisfy a condition and returns them, newest first.
    async fn until(&self, webhook: &Value, expected: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        for _ in 0..600 {
            let deliveries = self.deliveries(webhook).await;
            if expected(&deliveries) {
                return deliveries;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("{:#?}", self.deliveries(webhook).await);
    }

    /// Makes all pending deliveries due.
    async fn make_deliveries_due(&self) {
        self.run("update deliveries set run_at = 0 where state = 'waiting'").await;
        self.run("update webhooks set paused_until = 0").await;
    }

    async fn run(&self, sql: &'static str) {
        self.database.execute(sql, &[]).await.unwrap();
    }

    async fn as_root(&self, method: &str, path: &str, body: &Value) -> TestResponse {
        let root = self.root_authorization().await;
        self.as_caller(&root, method, path, body).await
    }

    async fn as_caller(&self, authorization: &str, method: &str, path: &str, body: &Value) -> TestResponse {
        let headers = [("authorization", authorization), ("content-type", "application/json")];
        let body = if body.is_null() { String::new() } else { body.to_string() };
        self.send(method, path, &headers, body).await
    }
}

fn path(webhook: &Value) -> String {
    format!("{WEBHOOKS}/{}", webhook["id"].as_str().unwrap())
}

fn states(deliveries: &[Value]) -> Vec<&str> {
    deliveries.iter().map(|delivery| delivery["state"].as_str().unwrap()).collect()
}

/// A receiver with its current response status.
async fn receiver(status: u16) -> (MockServer, Arc<AtomicU16>) {
    let status = Arc::new(AtomicU16::new(status));
    let current = status.clone();
    (MockServer::start(move |_, _| vec![reply(current.load(Ordering::SeqCst), "", "")]).await, status)
}

fn header(request: &ReceivedRequest, name: &str) -> String {
    let found = request.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ").map(str::to_owned));
    found.unwrap_or_else(|| panic!("no {name} in {}", request.head))
}

/// Computes the signature of Standard Webhooks: HMAC-SHA-256 (RFC 2104).
fn signature(secret: &str, request: &ReceivedRequest) -> String {
    let mut key = STANDARD.decode(secret.strip_prefix("whsec_").unwrap()).unwrap();
    assert!((24..=64).contains(&key.len()));
    key.resize(64, 0);
    let pad = |mask: u8| key.iter().map(|byte| byte ^ mask).collect::<Vec<u8>>();
    let mut content =
        format!("{}.{}.", header(request, "webhook-id"), header(request, "webhook-timestamp")).into_bytes();
    content.extend(&request.bytes);
    let inner = Sha256::digest([pad(0x36), content].concat());
    let outer = Sha256::digest([pad(0x5c), inner.to_vec()].concat());
    format!("v1,{}", STANDARD.encode(outer))
}

#[tokio::test(flavor = "multi_thread")]
async fn events_arrive_once_in_order_and_signed() {
    on_each_url(async |url| {
        let platform = WebhookPlatform::at(url, &[]).await;
        let (mock, _) = receiver(204).await;
        let webhook = platform.create_webhook(&mock, &["document.queued", "document.deleted"]).await;
        let everything = platform.create_webhook(&mock, &[]).await;
        let secret = webhook["secret"].as_str().unwrap();
        let id = platform.pipeline().await;
        for text in ["a", "b", "c"] {
            platform.upload(&id, "secret-plan.txt", text.as_bytes(), &[MANUAL]).await;
        }
        let delivered = platform.until(&webhook, |all| states(all) == ["delivered"; 3]).await;
        assert_eq!(platform.until(&everything, |all| states(all) == ["delivered"; 4]).await[3]["type"], "pipeline.created");
        let received: Vec<ReceivedRequest> = mock.requests().into_iter().filter(|request| signed(secret, request)).collect();
        let expected: Vec<Value> = platform.all_events().await[1..]
            .iter()
            .map(|event| event.to_json(&platform.state.licensing.system_id))
            .collect();
        assert_eq!(received.iter().map(|request| request.body.clone()).collect::<Vec<_>>(), expected, "the events in order");
        for (request, delivery) in received.iter().zip(delivered.iter().rev()) {
            assert!(request.head.starts_with("POST /hooks?plant=1 HTTP/1.1"), "{}", request.head);
            assert_eq!(header(request, "content-type"), "application/cloudevents+json");
            assert_eq!(header(request, "webhook-id"), request.body["id"].as_str().unwrap());
            let at: i64 = header(request, "webhook-timestamp").parse().unwrap();
            assert!((Timestamp::now().seconds() - at).abs() < 60);
            let row = json!({
                "event_id": request.body["id"], "type": "document.queued", "state": "delivered", "attempts": 1,
                "last_status": 204, "error": null, "last_attempt_at": delivery["last_attempt_at"], "next_attempt_at": null,
            });
            assert_eq!(delivery, &row);
        }
        let current = platform.get(&path(&webhook)).await.json();
        assert_eq!((&current["secret"], &current["status"], &current["failures"]), (&Value::Null, &json!("active"), &json!(0)));
        let listed = platform.get(WEBHOOKS).await;
        assert_eq!(listed.json()["data"].as_array().unwrap().len(), 2);
        assert!(!String::from_utf8_lossy(&listed.body).contains("whsec_"));
        let rows: Vec<(String,)> = platform.database.rows("select encrypted_secret from webhooks", &[]).await.unwrap();
        assert!(rows.iter().all(|row| !secret.contains(&row.0) && !row.0.contains(&secret[6..])), "the secret is encrypted");
        let first = platform.get(&format!("{}/deliveries?limit=2&state=delivered", path(&webhook))).await.json();
        let next = first["next_cursor"].as_str().unwrap();
        let second = platform.get(&format!("{}/deliveries?limit=2&state=delivered&cursor={next}", path(&webhook))).await.json();
        assert_eq!(second["data"], json!([delivered[2]]));
        assert_eq!(platform.get(&format!("{}/deliveries?state=lost", path(&webhook))).await.code(), "invalid-parameter");
        assert_eq!(platform.send("DELETE", &path(&webhook), &[], "").await.status, 204);
        assert_eq!(platform.get(&path(&webhook)).await.code(), "webhook-not-found");
    })
    .await;
}

fn signed(secret: &str, request: &ReceivedRequest) -> bool {
    header(request, "webhook-signature").split(' ').any(|candidate| candidate == signature(secret, request))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failing_receiver_gets_all_events_later_in_order() {
    on_each_url(async |url| {
        let platform = WebhookPlatform::at(url, &[]).await;
        let (mock, status) = receiver(503).await;
        let webhook = platform.create_webhook(&mock, &["document.queued"]).await;
        let id = platform.pipeline().await;
        for text in ["a", "b", "c"] {
            platform.upload(&id, "a.txt", text.as_bytes(), &[MANUAL]).await;
        }
        let pending = platform.until(&webhook, |all| all.len() == 3 && all[2]["attempts"] == 1).await;
        assert_eq!(states(&pending), ["waiting"; 3]);
        let oldest = &pending[2];
        assert_eq!((&oldest["last_status"], &oldest["error"]), (&json!(503), &json!("the URL responded with 503")));
        let delay = Timestamp::from_rfc3339(oldest["next_attempt_at"].as_str().unwrap()).unwrap().0
            - Timestamp::from_rfc3339(oldest["last_attempt_at"].as_str().unwrap()).unwrap().0;
        assert!((4000..=7000).contains(&delay), "{delay}");
        assert_eq!(pending[0]["attempts"], 0, "no repeated calls while the receiver is down");
        let current = platform.get(&path(&webhook)).await.json();
        assert_eq!((&current["status"], &current["failures"]), (&json!("active"), &json!(1)));
        assert!(current["failing_since"].is_string() && current["error"] == "the URL responded with 503", "{current}");
        platform.make_deliveries_due().await;
        platform.until(&webhook, |all| all[2]["attempts"] == 2).await;
        assert_eq!(mock.requests().len(), 2);
        status.store(200, Ordering::SeqCst);
        platform.make_deliveries_due().await;
        platform.until(&webhook, |all| states(all) == ["delivered"; 3]).await;
        let ids: Vec<Value> = mock.requests().iter().map(|request| request.body["id"].clone()).collect();
        assert_eq!(ids[..2], [ids[2].clone(), ids[2].clone()], "the same event with the same id");
        let events: Vec<Value> = platform.all_events().await[1..].iter().map(|event| json!(event.id)).collect();
        assert_eq!(ids[2..], events, "in their order");
        assert_eq!(platform.get(&path(&webhook)).await.json()["failing_since"], Value::Null);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_undeliverable_event_is_abandoned_and_does_not_block_others() {
    on_each_url(async |url| {
        let platform = WebhookPlatform::at(url, &[]).await;
        let mock = MockServer::start(|_, request| {
            let is_bad = request.body["type"] == "pipeline.created";
            vec![reply(if is_bad { 500 } else { 200 }, "Retry-After: 77\r\n", "")]
        })
        .await;
        let webhook = platform.create_webhook(&mock, &["pipeline.created", "document.queued"]).await;
        let id = platform.pipeline().await;
        platform.upload(&id, "a.txt", b"a", &[MANUAL]).await;
        let first = platform.until(&webhook, |all| all.len() == 2 && all[1]["attempts"] == 1).await;
        let next = Timestamp::from_rfc3339(first[1]["next_attempt_at"].as_str().unwrap()).unwrap();
        assert!((next.0 - Timestamp::now().0) > 60_000, "Retry-After is respected: {first:?}");
        platform.run("update webhooks set paused_until = 0").await;
        platform.until(&webhook, |all| states(all) == ["delivered", "waiting"]).await;
        platform.run("update deliveries set attempts = 10 where state = 'waiting'").await;
        platform.make_deliveries_due().await;
        let abandoned = platform.until(&webhook, |all| states(all) == ["delivered", "failed"]).await;
        assert_eq!((&abandoned[1]["attempts"], &abandoned[1]["next_attempt_at"]), (&json!(11), &Value::Null));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_call_times_out_and_follows_no_redirect() {
    let platform = TestPlatform::sqlite(&[APP, SHORT_TIMEOUT]).await;
    let (elsewhere, _) = receiver(200).await;
    let redirect = |status: u16| reply(status, &format!("Location: http://{}/\r\n", elsewhere.address), "");
    let endless_response = |part: &str| [raw("HTTP/1.1 200 OK\r\n"), raw(part.repeat(200_000)), Step::Hang].to_vec();
    let cases: Vec<(&str, Vec<Step>, Value, Option<&str>)> = vec![
        ("accepts it", vec![reply(202, "", "thanks")], json!(202), None),
        ("has an endless body", endless_response("\r\nand so on"), json!(200), None),
        ("hangs", vec![Step::Hang], Value::Null, Some("timed out")),
        ("hangs in the head", vec![raw("HTTP/1.1 200 OK\r\nX-"), Step::Hang], Value::Null, Some("timed out")),
        ("has an endless head", endless_response("X-Long: header\r\n"), Value::Null, Some("before a valid response")),
        (
            "sends endless interim responses",
            vec![raw("HTTP/1.1 100 C\r\n\r\n".repeat(50_000)), Step::Hang],
            Value::Null,
            Some("timed out"),
        ),
        ("closes the connection", vec![Step::Break], Value::Null, Some("before a valid response")),
        ("speaks another protocol", vec![raw("SSH-2.0-x\r\n")], Value::Null, Some("before a valid response")),
        ("redirects", vec![redirect(302)], json!(302), Some("redirects are not followed")),
        ("redirects with the body", vec![redirect(307)], json!(307), Some("redirects are not followed")),
        ("responds with 404", vec![reply(404, "", "")], json!(404), Some("responded with 404")),
        ("responds with 410", vec![reply(410, "", "")], json!(410), Some("410")),
    ];
    for (name, steps, status, error) in cases {
        let mock = MockServer::always(steps).await;
        let created = platform.post(WEBHOOKS, &json!({"url": format!("http://{}", mock.address)})).await;
        let path = created.header("location").to_owned();
        let tested = platform.send("POST", &format!("{path}/test"), &[], "").await;
        let received = tested.json();
        assert_eq!(
            (tested.status, &received["delivered"], &received["status"]),
            (200, &json!(error.is_none()), &status),
            "{name}: {received}"
        );
        assert!(
            error.map_or(received["error"].is_null(), |error| received["error"].as_str().unwrap().contains(error)),
            "{name}: {received}"
        );
        assert!(received["latency_ms"].as_u64().unwrap() < 5000, "{name}");
        let request = &mock.requests()[0];
        assert_eq!(
            (&request.body["type"], &request.body["id"]),
            (&json!("webhook.test"), &received["event_id"]),
            "{name}"
        );
        assert!(signed(created.json()["secret"].as_str().unwrap(), request));
        assert_eq!(platform.get(&path).await.json()["status"], "active", "{name}: a test changes nothing");
    }
    assert_eq!(elsewhere.requests().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn forbidden_addresses_are_rejected_on_creation_and_delivery() {
    on_each_url(async |url| {
        let local = WebhookPlatform::at(url, &[]).await;
        for address in ["http://169.254.169.254/latest", "http://metadata.google.internal/", "http://[fd00:ec2::254]/"]
        {
            let rejected = local.post(WEBHOOKS, &json!({"url": address})).await;
            assert_eq!((rejected.status, rejected.code().as_str()), (403, "webhook-url-forbidden"), "{address}");
        }
        let (mock, _) = receiver(200).await;
        let webhook = local.create_webhook(&mock, &["pipeline.created"]).await;
        drop(local);
        let public = WebhookPlatform::at(url, &[("PIDQ_WEBHOOK_EGRESS", "public")]).await;
        for address in
            ["http://127.0.0.1:1/", "http://10.0.0.7/", "http://0x7f.1/", "https://[::1]/", "http://localhost/"]
        {
            let rejected = public.post(WEBHOOKS, &json!({"url": address})).await;
            assert_eq!((rejected.status, rejected.code().as_str()), (403, "webhook-url-forbidden"), "{address}");
            let update_response = public
                .send(
                    "PATCH",
                    &path(&webhook),
                    &[("content-type", "application/json")],
                    json!({"url": address}).to_string(),
                )
                .await;
            assert_eq!(update_response.status, 403, "{address}");
        }
        public.pipeline().await;
        let attempted = public.until(&webhook, |all| all.len() == 1 && all[0]["attempts"] == 1).await;
        assert_eq!(attempted[0]["error"], "the address is not allowed");
        assert_eq!(mock.requests().len(), 0);
        let listed = TestPlatform::at(url, &[APP, ("PIDQ_WEBHOOK_ALLOW", "https://hooks.example/plant")]).await;
        assert_eq!(listed.post(WEBHOOKS, &json!({"url": "https://hooks.example/other"})).await.status, 403);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pending_deliveries_survive_a_restart() {
    on_each_url(async |url| {
        let calls = Arc::new(AtomicUsize::new(0));
        let count = calls.clone();
        let mock = MockServer::start(move |_, _| match count.fetch_add(1, Ordering::SeqCst) {
            0 => vec![Step::Hang],
            _ => vec![reply(200, "", "")],
        })
        .await;
        let first = WebhookPlatform::at(url, &[("PIDQ_WEBHOOK_TIMEOUT", "60s")]).await;
        let webhook = first.create_webhook(&mock, &[]).await;
        first.pipeline().await;
        while mock.requests().is_empty() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        // The process ends without a shutdown.
        drop(first);
        let second = WebhookPlatform::at(url, &[]).await;
        tokio::time::sleep(Duration::from_millis(1500)).await;
        assert_eq!(calls.load(Ordering::SeqCst), 1, "another replica may still hold the lease");
        second.run("update webhooks set lease_until = 1").await;
        let delivered = second.until(&webhook, |all| states(all) == ["delivered"]).await;
        assert_eq!(delivered[0]["attempts"], 1, "an unfinished call is not counted");
        let request = mock.requests();
        assert_eq!(request[0].body["id"], request[1].body["id"], "at least once, with the same id");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn replicas_deliver_each_event_once_and_sequentially() {
    on_each_url(async |url| {
        let in_progress = Arc::new(AtomicUsize::new(0));
        let (current, maximum) = (in_progress.clone(), Arc::new(AtomicUsize::new(0)));
        let peak = maximum.clone();
        let mock = MockServer::start(move |_, _| {
            peak.fetch_max(current.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(2));
            current.fetch_sub(1, Ordering::SeqCst);
            vec![reply(200, "", "")]
        })
        .await;
        let replicas = [
            WebhookPlatform::at(url, &[]).await,
            WebhookPlatform::at(url, &[]).await,
            WebhookPlatform::at(url, &[]).await,
        ];
        let webhook = replicas[0].create_webhook(&mock, &["document.queued"]).await;
        let id = replicas[0].pipeline().await;
        for number in 0..60 {
            replicas[number % 3].upload(&id, "a", format!("{number}").as_bytes(), &[MANUAL]).await;
        }
        // One page has the last fifty; events without a position are on no page.
        replicas[1].until(&webhook, |_| mock.requests().len() >= 60).await;
        replicas[1].until(&webhook, |all| all.len() == 50 && all.iter().all(|row| row["state"] == "delivered")).await;
        let ids: Vec<String> =
            mock.requests().iter().map(|request| request.body["id"].as_str().unwrap().to_owned()).collect();
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "once");
        let events: Vec<String> = replicas[0].all_events().await[1..].iter().map(|event| event.id.clone()).collect();
        assert_eq!((ids, maximum.load(Ordering::SeqCst)), (events, 1));
        assert_eq!(in_progress.load(Ordering::SeqCst), 0);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rotated_secret_overlaps_with_the_old_one() {
    on_each_url(async |url| {
        let platform = WebhookPlatform::at(url, &[]).await;
        let (mock, _) = receiver(200).await;
        let webhook = platform.create_webhook(&mock, &[]).await;
        let send_test = async |platform: &TestPlatform| {
            let received = platform.send("POST", &format!("{}/test", path(&webhook)), &[], "").await.json();
            assert_eq!(received["delivered"], true, "{received}");
            mock.requests().pop().unwrap()
        };
        let rotate = async |platform: &TestPlatform, overlap: &str| {
            let rotated = platform.send("POST", &format!("{}/rotate{overlap}", path(&webhook)), &[], "").await;
            assert_eq!(rotated.status, 200, "{}", rotated.json());
            rotated.json()["secret"].as_str().unwrap().to_owned()
        };
        let first = webhook["secret"].as_str().unwrap().to_owned();
        let second = rotate(&platform, "").await;
        let request = send_test(&platform).await;
        assert!(first != second && signed(&first, &request) && signed(&second, &request));
        let third = rotate(&platform, "?overlap=0").await;
        let request = send_test(&platform).await;
        assert!(signed(&third, &request) && !signed(&second, &request) && !signed(&first, &request));
        for invalid in ["?overlap=-1", "?overlap=604801", "?overlap=x"] {
            assert_eq!(
                platform.send("POST", &format!("{}/rotate{invalid}", path(&webhook)), &[], "").await.status,
                400
            );
        }
        // With another application secret nothing can be decrypted until the secret of the webhook is rotated.
        let other = TestPlatform::at(url, &[APP, OTHER_APP]).await;
        let undecryptable = other.send("POST", &format!("{}/test", path(&webhook)), &[], "").await;
        assert_eq!((undecryptable.status, undecryptable.code().as_str()), (409, "webhook-undecryptable"));
        let fourth = rotate(&other, "").await;
        assert!(signed(&fourth, &send_test(&other).await));
        // Write access to the database does not redirect events either.
        platform.run("update webhooks set url = 'http://127.0.0.1:2/'").await;
        assert_eq!(
            other.send("POST", &format!("{}/test", path(&webhook)), &[], "").await.code(),
            "webhook-undecryptable"
        );
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unreachable_webhook_is_disabled_with_a_reason() {
    on_each_url(async |url| {
        let platform = WebhookPlatform::at(url, &[]).await;
        let (mock, status) = receiver(500).await;
        let webhook = platform.create_webhook(&mock, &["pipeline.created", "document.queued"]).await;
        let id = platform.pipeline().await;
        platform.upload(&id, "a", b"a", &[MANUAL]).await;
        platform.until(&webhook, |all| all.len() == 2 && all[1]["attempts"] == 1).await;
        platform.run("update webhooks set failing_since = failing_since - 432000000").await;
        platform.make_deliveries_due().await;
        platform.until(&webhook, |all| states(all) == ["dropped", "failed"]).await;
        let current = platform.get(&path(&webhook)).await.json();
        assert_eq!((&current["status"], &current["error"]), (&json!("disabled"), &json!("the URL responded with 500")));
        let disabled_events: Vec<Value> = platform
            .all_events()
            .await
            .iter()
            .filter(|event| event.kind.name == "webhook.disabled")
            .map(|event| event.to_json("")["data"].clone())
            .collect();
        assert_eq!(
            disabled_events,
            [json!({"webhook_id": webhook["id"], "status": "disabled", "reason": "the URL responded with 500"})]
        );
        platform.upload(&id, "b", b"b", &[MANUAL]).await;
        assert_eq!(
            platform.all_events().await.last().unwrap().kind.name,
            "document.queued",
            "it has a position and no delivery"
        );
        status.store(200, Ordering::SeqCst);
        let patch = [("content-type", "application/json")];
        let enabled = platform.send("PATCH", &path(&webhook), &patch, r#"{"status": "active"}"#).await.json();
        assert_eq!(
            (&enabled["status"], &enabled["failures"], &enabled["failing_since"], &enabled["error"]),
            (&json!("active"), &json!(0), &Value::Null, &Value::Null)
        );
        platform.upload(&id, "c", b"c", &[MANUAL]).await;
        platform.until(&webhook, |all| states(all) == ["delivered", "dropped", "failed"]).await;
        status.store(410, Ordering::SeqCst);
        platform.upload(&id, "d", b"d", &[MANUAL]).await;
        platform.until(&webhook, |all| states(all)[0] == "failed").await;
        assert_eq!(
            platform.get(&path(&webhook)).await.json()["status"],
            "disabled",
            "410 disables the webhook at once"
        );
        platform.run("update events set happened_at = 1").await;
        platform.state.store.purge_deliveries(2).await.unwrap();
        assert_eq!(platform.deliveries(&webhook).await.len(), 0, "old deliveries are purged");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn webhooks_of_a_restricted_key_get_only_its_events() {
    on_each_url(async |url| {
        let platform = WebhookPlatform::at(url, &ROOT).await;
        let (mock, _) = receiver(200).await;
        let root = platform.root_authorization().await;
        let (id, other) =
            (platform.pipeline_as(&root, &["open", "secret"]).await, platform.pipeline_as(&root, &["open"]).await);
        let key = async |scopes: &[&str], restricted: bool| {
            let pipelines = json!({&id: {"classifications": ["open"], "verbs": ["read", "write"]}});
            let request_body =
                json!({"name": "k", "scopes": scopes, "pipelines": if restricted { pipelines } else { json!({}) }});
            let created = platform.as_root("POST", "/api/keys", &request_body).await.json();
            format!("Bearer {}", created["key"].as_str().unwrap())
        };
        let address = format!("http://{}/", mock.address);
        let writer =
            key(&["pipelines:read", "pipelines:write", "documents:read", "documents:write", "query"], false).await;
        for (method, path) in [
            ("POST", WEBHOOKS.to_owned()),
            ("GET", WEBHOOKS.to_owned()),
            ("GET", format!("{WEBHOOKS}/x/deliveries")),
            ("POST", format!("{WEBHOOKS}/x/rotate")),
        ] {
            let rejected = platform.as_caller(&writer, method, &path, &json!({"url": address})).await;
            assert_eq!(rejected.status, 403, "{method} {path}: webhooks require the admin scope");
        }
        assert_eq!(platform.send("GET", WEBHOOKS, &[], "").await.status, 401);
        let restricted = key(&["admin", "documents:read"], true).await;
        let admin = key(&["admin"], false).await;
        let unrestricted_webhook =
            platform.as_caller(&admin, "POST", WEBHOOKS, &json!({"url": address, "types": ["webhook.disabled"]})).await;
        assert_eq!((unrestricted_webhook.status, &unrestricted_webhook.json()["key_id"]), (201, &Value::Null));
        let restricted_webhook = platform.as_caller(&restricted, "POST", WEBHOOKS, &json!({"url": address})).await;
        assert_eq!(
            (restricted_webhook.status, &restricted_webhook.json()["pipelines"]),
            (201, &json!([id])),
            "{}",
            restricted_webhook.json()
        );
        for pipeline in [other.as_str(), "0199aaaa-0000-7000-8000-00000000000f"] {
            let request_body = json!({"url": address, "pipelines": [pipeline]});
            let rejected = platform.as_caller(&restricted, "POST", WEBHOOKS, &request_body).await;
            assert_eq!((rejected.status, &rejected.json()["errors"][0]["pointer"]), (422, &json!("/pipelines/0")));
            let update_response = platform
                .as_caller(&restricted, "PATCH", &path(&restricted_webhook.json()), &json!({"pipelines": [pipeline]}))
                .await;
            assert_eq!(update_response.status, 422);
        }
        let unrestricted_path = path(&unrestricted_webhook.json());
        for (method, path) in [
            ("GET", unrestricted_path.clone()),
            ("PATCH", unrestricted_path.clone()),
            ("DELETE", unrestricted_path.clone()),
            ("POST", format!("{unrestricted_path}/test")),
            ("POST", format!("{unrestricted_path}/rotate")),
            ("GET", format!("{unrestricted_path}/deliveries")),
        ] {
            let not_found = platform.as_caller(&restricted, method, &path, &json!({})).await;
            assert_eq!((not_found.status, not_found.code().as_str()), (404, "webhook-not-found"), "{method} {path}");
        }
        let list_length = |response: TestResponse| response.json()["data"].as_array().unwrap().len();
        assert_eq!(list_length(platform.as_caller(&restricted, "GET", WEBHOOKS, &Value::Null).await), 1);
        assert_eq!(list_length(platform.as_caller(&admin, "GET", WEBHOOKS, &Value::Null).await), 2);

        let root = [("authorization", root.as_str())];
        let upload = async |pipeline: &str, classification: &str, text: &str| {
            platform
                .upload_as(&root, pipeline, "a", text.as_bytes(), &[("classification", classification)])
                .await
                .json()
        };
        upload(&id, "secret", "1").await;
        upload(&other, "open", "2").await;
        let visible_document = upload(&id, "open", "3").await;
        let document = format!("/api/pipelines/{id}/documents/{}", visible_document["id"].as_str().unwrap());
        assert_eq!(platform.as_root("PATCH", &document, &json!({"classification": "secret"})).await.status, 200);
        let restricted_webhook = restricted_webhook.json();
        let received = async || {
            let response = platform
                .as_caller(&restricted, "GET", &format!("{}/deliveries", path(&restricted_webhook)), &Value::Null)
                .await;
            response.json()["data"].as_array().unwrap().clone()
        };
        while states(&received().await) != ["delivered"; 2] {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let types: Vec<Value> = mock.requests().iter().map(|request| request.body["type"].clone()).collect();
        assert_eq!(
            types,
            ["document.queued", "document.deleted"],
            "it appears and disappears, without its new classification"
        );
        assert!(!mock.requests().iter().any(|request| String::from_utf8_lossy(&request.bytes).contains("secret")));
        let key_id = restricted_webhook["key_id"].as_str().unwrap();
        assert_eq!(platform.as_root("DELETE", &format!("/api/keys/{key_id}"), &Value::Null).await.status, 204);
        upload(&id, "open", "4").await;
        let mut current = Value::Null;
        while current["status"] != "disabled" {
            tokio::time::sleep(Duration::from_millis(50)).await;
            current = platform.as_root("GET", &path(&restricted_webhook), &Value::Null).await.json();
        }
        assert_eq!(current["error"], "the API key that created it was deleted or has expired");
        while mock.requests().len() < 3 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert_eq!(
            mock.requests()[2].body["type"],
            "webhook.disabled",
            "the webhook of the administrator receives this event only"
        );
    })
    .await;
}

#[tokio::test]
async fn an_invalid_webhook_is_rejected() {
    let platform = TestPlatform::sqlite(&[APP]).await;
    for (request_body, pointer) in [
        (json!({}), "/url"),
        (json!({"url": 7}), "/url"),
        (json!({"url": "ftp://a/"}), "/url"),
        (json!({"url": "http://user:pw@a/"}), "/url"),
        (json!({"url": "http://127.0.0.1/", "types": ["document.read"]}), "/types/0"),
        (json!({"url": "http://127.0.0.1/", "pipelines": ["none"]}), "/pipelines/0"),
        (json!({"url": "http://127.0.0.1/", "secret": "mine"}), "/secret"),
        (json!({"url": "http://127.0.0.1/", "status": "active"}), "/status"),
    ] {
        let rejected = platform.post(WEBHOOKS, &request_body).await;
        assert_eq!(
            (rejected.status, &rejected.json()["errors"][0]["pointer"]),
            (422, &json!(pointer)),
            "{request_body}"
        );
    }
    let created = platform.post(WEBHOOKS, &json!({"url": "http://127.0.0.1:9/"})).await.json();
    let patch = [("content-type", "application/json")];
    for invalid in [json!({"status": "asleep"}), json!({"url": null}), json!({"types": "all"})] {
        assert_eq!(platform.send("PATCH", &path(&created), &patch, invalid.to_string()).await.status, 422, "{invalid}");
    }
    let update_response = platform
        .send("PATCH", &path(&created), &patch, r#"{"url": "http://127.0.0.1:10/", "types": ["document.ready"]}"#)
        .await
        .json();
    assert_eq!(
        (&update_response["url"], &update_response["types"], &update_response["secret"]),
        (&json!("http://127.0.0.1:10/"), &json!(["document.ready"]), &Value::Null)
    );
    for _ in 1..100 {
        assert_eq!(platform.post(WEBHOOKS, &json!({"url": "http://127.0.0.1:9/"})).await.status, 201);
    }
    assert_eq!(platform.post(WEBHOOKS, &json!({"url": "http://127.0.0.1:9/"})).await.code(), "too-many-webhooks");
    let without_secret = TestPlatform::sqlite(&[]).await;
    assert_eq!(
        without_secret.post(WEBHOOKS, &json!({"url": "http://127.0.0.1:9/"})).await.code(),
        "app-secret-missing"
    );
}

/// Table statistics of PostgreSQL, which count by statement.
const COUNTING: [&str; 3] = [
    "create table counted (statement bigint)",
    "create function count_it() returns trigger language plpgsql as
      $$ begin insert into counted values (1); return null; end $$",
    "create trigger counting after insert on deliveries for each statement execute function count_it()",
];

#[tokio::test]
async fn deliveries_of_all_webhooks_are_inserted_by_one_statement() {
    on_each_url(async |url| {
        let platform = TestPlatform::at(url, &[APP]).await;
        let database = Database::open(url).await.unwrap();
        let counts_statements = database.kind() == DatabaseKind::Postgres;
        for sql in COUNTING.iter().filter(|_| counts_statements) {
            database.execute(sql, &[]).await.unwrap();
        }
        for types in [json!([]), json!(["pipeline.created"])].iter().cycle().take(20) {
            let created = platform.post(WEBHOOKS, &json!({"url": "http://127.0.0.1:9/hook", "types": types})).await;
            assert_eq!(created.status, 201, "{}", created.json());
        }
        let id = platform.pipeline().await;
        for number in 0..5 {
            let text = format!("document {number}");
            assert_eq!(platform.upload(&id, "a.txt", text.as_bytes(), &[MANUAL]).await.status, 202);
        }
        assert_eq!(platform.state.store.assign_positions(500).await.unwrap(), 6);
        let count = async |sql: &'static str| database.row::<(i64,)>(sql, &[]).await.unwrap().unwrap().0;
        assert_eq!(count("select count(*) from deliveries").await, 10 * 6 + 10);
        assert_eq!(
            count("select count(*) from deliveries d join events e on e.id = d.event_id and e.position = d.position")
                .await,
            10 * 6 + 10
        );
        if counts_statements {
            assert_eq!(count("select count(*) from counted").await, 1);
        }
        assert_eq!(platform.state.store.assign_positions(500).await.unwrap(), 0, "each event has one position");
    })
    .await;
}
