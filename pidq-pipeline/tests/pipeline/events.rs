//! Tests of events: exactly one per change, none lost, and none visible without permission.

use std::sync::Arc;
use std::time::Duration;

use http_body_util::BodyExt;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::Request;
use hyper::header::HeaderValue;
use pidq_http::Bytes;
use pidq_http::database::{Database, Transaction};
use pidq_pipeline::cluster::pubsub::{Message, Received, Subscription};
use pidq_pipeline::events::{nats_publisher, sequencer};
use pidq_store::Store;
use pidq_store::domain::api_key::{AccessScope, ApiKey, Verb};
use pidq_store::domain::event::{self, Event};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::backend_servers::Server;
use crate::databases;
use crate::mock_prompt_model::prompt_model;
use crate::mock_server::MockServer;
use crate::platform::{MASTER, SECRET, TestPlatform, on_each};

const MANUAL: (&str, &str) = ("classification", "manual");

#[tokio::test]
async fn every_change_records_an_event_and_rejected_requests_record_none() {
    on_each(async |platform| {
        let id = platform.pipeline().await;
        let uploaded = platform.upload(&id, "secret-plan.txt", b"a", &[MANUAL]).await.json();
        platform.upload(&id, "b.txt", b"a", &[MANUAL]).await;
        platform.upload(&id, "c.txt", b"c", &[("classification", "unknown")]).await;
        let path = format!("/api/pipelines/{id}/documents/{}", uploaded["id"].as_str().unwrap());
        platform.send("POST", &format!("{path}/cancel"), &[], "").await;
        platform.send("POST", &format!("{path}/cancel"), &[], "").await;
        platform.send("POST", &format!("{path}/retry"), &[], "").await;
        let patch = [("content-type", "application/json")];
        platform.send("PATCH", &path, &patch, r#"{"classification": "datasheet"}"#).await;
        platform.send("PATCH", &path, &patch, r#"{"classification": "datasheet", "metadata": {"a": 1}}"#).await;
        platform.send("DELETE", &path, &[], "").await;
        platform.send("PATCH", &format!("/api/pipelines/{id}"), &patch, r#"{"description": "d"}"#).await;
        platform.send("DELETE", &format!("/api/pipelines/{id}"), &[], "").await;
        let recorded = platform.all_events().await;
        let names: Vec<&str> = recorded.iter().map(|event| event.kind.name).collect();
        assert_eq!(
            names,
            [
                "pipeline.created",
                "document.queued",
                "document.cancelled",
                "document.queued",
                "document.reclassified",
                "document.deleted",
                "pipeline.updated",
                "pipeline.deleted",
            ]
        );
        let first = recorded[1].to_json("PIDQ-X");
        assert_eq!(first["specversion"], "1.0");
        assert_eq!(first["subject"], format!("pipelines/{id}/documents/{}", uploaded["id"].as_str().unwrap()));
        let data = json!({
            "pipeline_id": id, "document_id": uploaded["id"], "classification": "manual", "status": "queued", "revision": 1,
        });
        assert_eq!(first["data"], data, "ids, classification and status");
        assert_eq!(recorded[4].to_json("")["data"]["previous_classification"], "manual");
        let all: String = recorded.iter().map(|event| event.to_json("").to_string()).collect();
        assert!(!all.contains("secret-plan"), "{all}");
    })
    .await;
}

#[tokio::test]
async fn file_names_are_in_events_if_configured() {
    let platform = TestPlatform::sqlite(&[("PIDQ_EVENTS_INCLUDE_NAMES", "on")]).await;
    let id = platform.pipeline().await;
    platform.upload(&id, "plan.txt", b"a", &[MANUAL]).await;
    assert_eq!(platform.all_events().await[1].to_json("")["data"]["filename"], "plan.txt");
}

#[tokio::test(flavor = "multi_thread")]
async fn ingestion_stages_are_events() {
    crate::ingestion::on_each(async |platform| {
        let id = platform.pipeline().await;
        platform.upload_and_wait(&id, "a.txt", b"PSV-2015A is set at 38.5 barg.", &[MANUAL]).await;
        platform.upload_and_wait(&id, "b.bin", b"\x7fELF\x02\x01\x01\0\0\0\0\0", &[MANUAL]).await;
        let mock = prompt_model().await;
        let endpoint = endpoint(&mock);
        let path = format!("/api/pipelines/{id}/query");
        let body = json!({"query": "What is PSV-2015A set at?", "classification": "manual", "llm_endpoint": endpoint});
        let answer = platform.post(&path, &body).await.json();
        let mut forbidden = body.clone();
        forbidden["llm_endpoint"]["base_url"] = "http://169.254.169.254/".into();
        platform.post(&path, &forbidden).await;
        let mut streamed = body;
        streamed["stream"] = true.into();
        platform.post(&path, &streamed).await;
        let recorded = platform.all_events().await;
        let stages: Vec<String> =
            recorded[1..].iter().map(|event| format!("{} {}", event.kind.name, status(event))).collect();
        assert_eq!(
            stages,
            [
                "document.queued queued",
                "document.stage parsing",
                "document.stage splitting",
                "document.stage embedding",
                "document.stage indexing",
                "document.ready ready",
                "document.queued queued",
                "document.stage parsing",
                "document.failed failed",
                "query.completed completed",
                "query.failed failed",
                "query.completed completed",
            ]
        );
        let completed = recorded[10].to_json("")["data"].clone();
        assert_eq!((&completed["query_id"], &completed["answered"]), (&answer["id"], &json!(true)));
        assert_eq!(completed["usage"]["prompt_tokens"], answer["usage"]["prompt_tokens"]);
        assert_eq!(recorded[11].to_json("")["data"]["code"], "llm-endpoint-forbidden");
    })
    .await;
}

#[tokio::test]
async fn an_event_of_a_late_commit_is_not_lost() {
    let Some(url) = databases::fresh_postgres() else { return eprintln!("SKIPPED: no PostgreSQL") };
    let (database, store) = (databases::open(&url).await, Store::open(databases::open(&url).await).await.unwrap());
    let mut slow = database.begin().await.unwrap();
    insert(&mut slow, "slow", 1).await;
    for number in 0..3 {
        let mut quick = database.begin().await.unwrap();
        insert(&mut quick, &format!("quick {number}"), 10 + number).await;
        quick.commit().await.unwrap();
    }
    assert_eq!(store.assign_positions(100).await.unwrap(), 3, "an uncommitted event has no position");
    let first = ids(&store, 0).await;
    assert_eq!(first, ["quick 0", "quick 1", "quick 2"]);
    slow.commit().await.unwrap();
    assert_eq!(store.assign_positions(100).await.unwrap(), 1);
    assert_eq!(ids(&store, 3).await, ["slow"], "clients that received the others get it too");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn replicas_assign_positions_without_gaps() {
    databases::on_each(async |database: Database| {
        let stores = [Store::open(database.clone()).await.unwrap(), Store::open(database.clone()).await.unwrap()];
        let writer = tokio::spawn(async move {
            for number in 0..60 {
                let mut tx = database.begin().await.unwrap();
                insert(&mut tx, &format!("{number:02}"), number).await;
                tx.commit().await.unwrap();
            }
        });
        let sequencers: Vec<JoinHandle<usize>> = stores
            .iter()
            .cloned()
            .map(|store| {
                tokio::spawn(async move {
                    let mut assigned = 0;
                    while store.last_position().await.unwrap() < 60 {
                        assigned += store.assign_positions(7).await.unwrap();
                    }
                    assigned
                })
            })
            .collect();
        // A client that reads from its last position sees all events, at any page size.
        let (mut position, mut received) = (0, Vec::new());
        while received.len() < 60 {
            for event in stores[0].events_after(position, 3).await.unwrap() {
                assert_eq!(event.position, position + 1, "no gaps");
                position = event.position;
                received.push(event.id);
            }
        }
        writer.await.unwrap();
        let mut assigned = 0;
        for sequencer_task in sequencers {
            assigned += sequencer_task.await.unwrap();
        }
        assert_eq!(assigned, 60);
        received.sort();
        received.dedup();
        assert_eq!(received.len(), 60, "each event once");
    })
    .await;
}

#[tokio::test]
async fn old_events_are_purged_and_late_clients_get_the_remaining_ones() {
    on_each(async |platform| {
        let id = platform.pipeline().await;
        platform.upload(&id, "a.txt", b"a", &[MANUAL]).await;
        let recorded = platform.all_events().await;
        let store = &platform.state.store;
        assert_eq!(
            store.purge_events(recorded[0].happened_at, 10).await.unwrap(),
            0,
            "the events are within the retention"
        );
        assert_eq!(store.purge_events(recorded[1].happened_at, 10).await.unwrap(), 1);
        assert_eq!(store.event_position(&recorded[0].id).await.unwrap(), None);
        let mut stream = platform.open_event_stream("/api/events", &[("last-event-id", &recorded[0].id)]).await;
        assert_eq!(stream.next().await["id"], recorded[1].id);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_sends_new_and_missed_events() {
    on_each(async |platform| {
        let sequencer = platform.run_sequencer();
        let mut all = platform.open_event_stream("/api/events", &[]).await;
        let id = platform.pipeline().await;
        let mut documents =
            platform.open_event_stream(&format!("/api/events?type=document.queued&pipeline={id}"), &[]).await;
        platform.upload(&id, "a.txt", b"a", &[MANUAL]).await;
        platform.upload(&id, "b.txt", b"b", &[MANUAL]).await;
        let types: Vec<Value> =
            [all.next().await, all.next().await].iter().map(|event| event["type"].clone()).collect();
        assert_eq!(types, ["pipeline.created", "document.queued"]);
        let (first, second) = (documents.next().await, documents.next().await);
        assert_eq!((&first["type"], &second["type"]), (&json!("document.queued"), &json!("document.queued")));
        let last_event_id = first["id"].as_str().unwrap();
        let mut again = platform.open_event_stream("/api/events", &[("last-event-id", last_event_id)]).await;
        assert_eq!(again.next().await, second, "after the last received event");
        for bad in ["/api/events?type=document.read", "/api/events?type="] {
            assert_eq!(platform.get(bad).await.code(), "invalid-parameter", "{bad}");
        }
        assert_eq!(all.next().await, second);
        platform.state.messaging.feed.close();
        assert!(all.ended().await, "streams end at shutdown");
        let late = platform.open_event_stream("/api/events", &[]).await;
        assert!(
            late.ended().await,
            "a late stream ends at once; an error would keep a browser from trying another replica"
        );
        sequencer.abort();
    })
    .await;
}

#[tokio::test]
async fn a_license_change_is_one_event() {
    on_each(async |platform| {
        for state in ["missing", "missing", "valid", "valid", "expired"] {
            platform.state.store.record_license_state(state, "").await.unwrap();
        }
        let states: Vec<String> = platform.all_events().await.iter().map(status).collect();
        assert_eq!(states, ["valid", "expired"], "the first state is no change");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn events_are_published_after_nats_outages() {
    let Some(mut server) = Server::jetstream() else { return };
    let platform = TestPlatform::sqlite(&[("PIDQ_NATS_URL", &server.url())]).await;
    let (sequencer_task, publisher) =
        (platform.run_sequencer(), tokio::spawn(nats_publisher::publish(Arc::clone(&platform.state))));
    // Received messages were accepted by the server before.
    let mut subscription = platform.state.messaging.pubsub.subscribe("pidq.v1.");
    let id = platform.pipeline().await;
    let created = message(&mut subscription, 60).await.expect("a message");
    assert_eq!(created.subject, "pidq.v1.pipeline.created");
    assert!(String::from_utf8_lossy(&created.bytes).contains(&id));
    server.kill();
    let uploaded = platform.upload(&id, "plan.txt", b"a", &[MANUAL]).await.json();
    assert_eq!(message(&mut subscription, 2).await, None, "no server accepts it");
    server.restart();
    let queued = message(&mut subscription, 60).await.expect("a message");
    assert_eq!(queued.subject, "pidq.v1.document.queued", "no names in subjects");
    let body = String::from_utf8_lossy(&queued.bytes).into_owned();
    assert!(body.contains(uploaded["id"].as_str().unwrap()) && !body.contains("plan.txt"), "{body}");
    sequencer_task.abort();
    publisher.abort();
}

/// Returns the next message, or `None` after a timeout.
async fn message(subscription: &mut Subscription, seconds: u64) -> Option<Message> {
    let end = tokio::time::Instant::now() + Duration::from_secs(seconds);
    loop {
        match tokio::time::timeout_at(end, subscription.next()).await {
            Ok(Some(Received::Message(message))) => return Some(message),
            Ok(Some(Received::Missed)) => {}
            _ => return None,
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_number_of_event_streams_is_limited() {
    let platform = TestPlatform::sqlite(&[("PIDQ_EVENT_STREAM_LIMIT", "1")]).await;
    let sequencer = platform.run_sequencer();
    let first = platform.open_event_stream("/api/events", &[]).await;
    let rejected = platform.get("/api/events").await;
    assert_eq!((rejected.status, rejected.code().as_str()), (503, "too-many-streams"));
    drop(first);
    // The slot is released once the disconnect is detected.
    let mut tries = 0;
    while platform.state.messaging.feed.is_full() {
        tries += 1;
        assert!(tries < 500, "the slot is not released");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    sequencer.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restricted_key_sees_only_events_of_its_classifications() {
    let received_events = async |with_others: bool| {
        let platform =
            TestPlatform::sqlite(&[("PIDQ_APP_MASTER_KEY", MASTER), ("PIDQ_APP_MASTER_SECRET", SECRET)]).await;
        let sequencer = platform.run_sequencer();
        let root = platform.root_authorization().await;
        let root = [("authorization", root.as_str())];
        let id = platform.pipeline_as(root[0].1, &["open", "secret"]).await;
        let other = platform.pipeline_as(root[0].1, &["open"]).await;
        let reader = platform.key(root[0].1, &id, "open").await;
        let mut stream = platform.open_event_stream("/api/events", &[("authorization", &reader)]).await;
        for number in 0..6 {
            let text = format!("text {number}");
            let upload = async |pipeline: &str, classification: &str| {
                platform
                    .upload_as(&root, pipeline, "a", text.as_bytes(), &[("classification", classification)])
                    .await
                    .json()
            };
            if with_others {
                upload(&id, "secret").await;
                upload(&other, "open").await;
            }
            let uploaded = upload(&id, "open").await;
            if number % 2 == 0 {
                let path = format!("/api/pipelines/{id}/documents/{}", uploaded["id"].as_str().unwrap());
                assert_eq!(platform.send("DELETE", &path, &root, "").await.status, 204);
            }
        }
        let mut events = Vec::new();
        for _ in 0..9 {
            events.push(stream.next_raw().await);
        }
        sequencer.abort();
        normalize(&events.concat().replace(&platform.state.licensing.system_id, "system"))
    };
    let (isolated, with_others) = (received_events(false).await, received_events(true).await);
    assert_eq!(isolated, with_others, "identical except for ids and times");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_key_ends_its_event_stream() {
    let platform = TestPlatform::sqlite(&[("PIDQ_APP_MASTER_KEY", MASTER), ("PIDQ_APP_MASTER_SECRET", SECRET)]).await;
    let root = platform.root_authorization().await;
    let id = platform.pipeline_as(&root, &["open"]).await;
    let reader = platform.key(&root, &id, "open").await;
    let sequencer = platform.run_sequencer();
    let mut stream = platform.open_event_stream("/api/events", &[("authorization", &reader)]).await;
    let upload = async |text: &[u8]| {
        platform.upload_as(&[("authorization", &root)], &id, "a", text, &[("classification", "open")]).await
    };
    upload(b"before").await;
    assert_eq!(stream.next().await["type"], "document.queued");
    let key = reader.strip_prefix("Bearer pidq_").unwrap().split('_').next().unwrap();
    let deleted = platform.send("DELETE", &format!("/api/keys/{key}"), &[("authorization", &root)], "").await;
    assert_eq!(deleted.status, 204);
    upload(b"after").await;
    assert!(stream.ended().await, "the stream ends without another event");
    assert_eq!(platform.send("GET", "/api/events", &[("authorization", &reader)], "").await.status, 401);
    sequencer.abort();
}

#[test]
fn a_reclassified_document_appears_or_disappears_for_restricted_keys() {
    let event = Event {
        id: "e".into(),
        position: 1,
        kind: event::DOCUMENT_RECLASSIFIED,
        pipeline_id: Some("p".into()),
        document_id: Some("d".into()),
        classification: Some("new".into()),
        previous_classification: Some("old".into()),
        details: json!({"status": "ready", "revision": 3}).as_object().unwrap().clone(),
        happened_at: 0,
    };
    let visible_event = |classifications: &[&str]| {
        let access = AccessScope {
            classifications: classifications.iter().map(|classification| (*classification).to_owned()).collect(),
            verbs: vec![Verb::Read],
        };
        let key = ApiKey { pipelines: [("p".to_owned(), access)].into(), ..ApiKey::default() };
        event.visible_to(&key, |scope| scope == "documents:read").map(|visible_event| visible_event.to_json("s"))
    };
    let both = visible_event(&["new", "old"]).unwrap();
    assert_eq!(
        (&both["type"], &both["data"]["previous_classification"]),
        (&json!("document.reclassified"), &json!("old"))
    );
    let (new, old) = (visible_event(&["new"]).unwrap(), visible_event(&["old"]).unwrap());
    assert_eq!((&new["type"], &old["type"]), (&json!("document.ready"), &json!("document.deleted")));
    assert!(!new.to_string().contains("old") && !old.to_string().contains("new"), "{new} {old}");
    assert!(visible_event(&["other"]).is_none() && visible_event(&[]).is_none());
    assert!(event.visible_to(&ApiKey::root(), |_| false).is_none(), "without the scope no event is visible");
}

/// A client of the event stream.
pub struct StreamClient {
    body: UnsyncBoxBody<Bytes, ()>,
    text: String,
}

impl StreamClient {
    /// Returns the next event as sent.
    async fn next_raw(&mut self) -> String {
        loop {
            if let Some(end) = self.text.find("\n\n") {
                let remaining = self.text.split_off(end + 2);
                let raw = std::mem::replace(&mut self.text, remaining);
                if raw.starts_with(':') {
                    continue;
                }
                return raw;
            }
            assert!(self.read_frame().await, "the stream ended");
        }
    }

    pub async fn next(&mut self) -> Value {
        let raw = self.next_raw().await;
        let data = raw.lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
        let event: Value = serde_json::from_str(data).unwrap();
        assert!(raw.starts_with(&format!(
            "id: {}\nevent: {}\n",
            event["id"].as_str().unwrap(),
            event["type"].as_str().unwrap()
        )));
        event
    }

    /// Returns `true` if the stream ends without another event.
    async fn ended(mut self) -> bool {
        while self.read_frame().await {}
        self.text.is_empty()
    }

    async fn read_frame(&mut self) -> bool {
        let frame =
            tokio::time::timeout(Duration::from_secs(60), self.body.frame()).await.expect("a frame within the timeout");
        let Some(Ok(frame)) = frame else { return false };
        self.text.push_str(&String::from_utf8_lossy(frame.data_ref().unwrap()));
        true
    }
}

impl TestPlatform {
    /// Returns all events, oldest first.
    pub async fn all_events(&self) -> Vec<Event> {
        while self.state.store.assign_positions(100).await.unwrap() > 0 {}
        self.state.store.events_after(0, 1000).await.unwrap()
    }

    /// Starts the event sequencer.
    pub fn run_sequencer(&self) -> JoinHandle<()> {
        tokio::spawn(sequencer::run_sequencer(Arc::clone(&self.state)))
    }

    pub async fn open_event_stream(&self, path: &str, headers: &[(&str, &str)]) -> StreamClient {
        let mut request = Request::builder().uri(path).header("host", "localhost");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (head, body) = self.service.call(request.body(Bytes::new()).unwrap()).await.into_parts();
        assert_eq!(
            (head.status.as_u16(), &head.headers["content-type"]),
            (200, &HeaderValue::from_static("text/event-stream"))
        );
        StreamClient { body: body.map_err(drop).boxed_unsync(), text: String::new() }
    }

    /// Returns the `Authorization` header of the master key.
    pub async fn root_authorization(&self) -> String {
        format!("Bearer {}", self.token(SECRET).await.json()["access_token"].as_str().unwrap())
    }

    pub async fn pipeline_as(&self, authorization: &str, classifications: &[&str]) -> String {
        let body = json!({
            "name": pidq_http::uuid_v7(), "embedding_model": "hash-512", "text_splitter": "recursive_character", "classifications": classifications,
        });
        let headers = [("authorization", authorization), ("content-type", "application/json")];
        let created = self.send("POST", "/api/pipelines", &headers, body.to_string()).await;
        created.json()["id"].as_str().unwrap().to_owned()
    }

    /// Returns the `Authorization` header of a key for one classification.
    pub async fn key(&self, authorization: &str, pipeline: &str, classification: &str) -> String {
        let key_body = json!({
            "name": "reader", "scopes": ["pipelines:read", "documents:read", "query"],
            "pipelines": {pipeline: {"classifications": [classification], "verbs": ["read", "query"]}},
        });
        let headers = [("authorization", authorization), ("content-type", "application/json")];
        let created = self.send("POST", "/api/keys", &headers, key_body.to_string()).await.json();
        format!("Bearer {}", created["key"].as_str().unwrap())
    }
}

const INSERT: &str =
    "insert into events (id, event_type, details, happened_at) values ($1, 'license.changed', '{}', $2)";

async fn insert(tx: &mut Transaction, id: &str, happened_at: i64) {
    tx.execute(INSERT, &[id.into(), happened_at.into()]).await.unwrap();
}

async fn ids(store: &Store, after: i64) -> Vec<String> {
    store.events_after(after, 100).await.unwrap().into_iter().map(|event| event.id).collect()
}

fn status(event: &Event) -> String {
    event.to_json("")["data"]["status"].as_str().unwrap_or_default().to_owned()
}

/// Replaces ids and times, which differ between runs.
fn normalize(text: &str) -> String {
    let mut ids: Vec<String> = Vec::new();
    let mut normalized = String::new();
    let is_id_char = |c: char| c.is_ascii_hexdigit() || c == '-';
    for word in text.split_inclusive(|c: char| !is_id_char(c)) {
        let (id, suffix) =
            word.split_at(word.len() - word.chars().last().map_or(0, |c| if is_id_char(c) { 0 } else { c.len_utf8() }));
        if id.len() == 36 {
            let number = ids.iter().position(|other| other == id).unwrap_or_else(|| {
                ids.push(id.to_owned());
                ids.len() - 1
            });
            normalized.push_str(&format!("id{number}{suffix}"));
        } else {
            normalized.push_str(word);
        }
    }
    normalized
        .lines()
        .map(|line| line.split("\"time\":").next().unwrap().to_owned() + line.split("Z\"").nth(1).unwrap_or("") + "\n")
        .collect()
}

fn endpoint(mock: &MockServer) -> Value {
    let endpoint = mock.endpoint();
    json!({"api_key": "none", "model": endpoint.model, "base_url": endpoint.base_url})
}
