//! Events: one for each change and none without one, lost by nobody, and told to nobody who must not know.

use std::sync::Arc;
use std::time::Duration;

use http_body_util::BodyExt;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::Request;
use hyper::header::HeaderValue;
use pidq_http::Bytes;
use pidq_http::database::{Database, Transaction};
use pidq_pipeline::events::{self, Event};
use pidq_pipeline::keys::{ApiKey, Reach, Verb};
use pidq_pipeline::messages::{Heard, Message, Subscription};
use pidq_pipeline::store::Store;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::databases;
use crate::doubles::Double;
use crate::honest::honest;
use crate::platform::{MASTER, SECRET, World, on_each};
use crate::servers::Server;

const MANUAL: (&str, &str) = ("classification", "manual");

#[tokio::test]
async fn every_change_leaves_an_event_and_a_refused_one_leaves_none() {
    on_each(async |world| {
        let id = world.pipeline().await;
        let sent = world.upload(&id, "secret-plan.txt", b"a", &[MANUAL]).await.json();
        world.upload(&id, "b.txt", b"a", &[MANUAL]).await;
        world.upload(&id, "c.txt", b"c", &[("classification", "unknown")]).await;
        let path = format!("/api/pipelines/{id}/documents/{}", sent["id"].as_str().unwrap());
        world.send("POST", &format!("{path}/cancel"), &[], "").await;
        world.send("POST", &format!("{path}/cancel"), &[], "").await;
        world.send("POST", &format!("{path}/retry"), &[], "").await;
        let patch = [("content-type", "application/json")];
        world.send("PATCH", &path, &patch, r#"{"classification": "datasheet"}"#).await;
        world.send("PATCH", &path, &patch, r#"{"classification": "datasheet", "metadata": {"a": 1}}"#).await;
        world.send("DELETE", &path, &[], "").await;
        world.send("PATCH", &format!("/api/pipelines/{id}"), &patch, r#"{"description": "d"}"#).await;
        world.send("DELETE", &format!("/api/pipelines/{id}"), &[], "").await;
        let told = world.told().await;
        let names: Vec<&str> = told.iter().map(|event| event.kind.name).collect();
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
        let first = told[1].to_json("PIDQ-X");
        assert_eq!(first["specversion"], "1.0");
        assert_eq!(first["subject"], format!("pipelines/{id}/documents/{}", sent["id"].as_str().unwrap()));
        let data = json!({
            "pipeline_id": id, "document_id": sent["id"], "classification": "manual", "status": "queued", "revision": 1,
        });
        assert_eq!(first["data"], data, "ids, label and state");
        assert_eq!(told[4].to_json("")["data"]["previous_classification"], "manual");
        let all: String = told.iter().map(|event| event.to_json("").to_string()).collect();
        assert!(!all.contains("secret-plan"), "{all}");
    })
    .await;
}

#[tokio::test]
async fn names_of_files_are_told_where_an_administrator_wants_it() {
    let world = World::sqlite(&[("PIDQ_EVENTS_INCLUDE_NAMES", "on")]).await;
    let id = world.pipeline().await;
    world.upload(&id, "plan.txt", b"a", &[MANUAL]).await;
    assert_eq!(world.told().await[1].to_json("")["data"]["filename"], "plan.txt");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_tells_of_its_way() {
    crate::reading::on_each(async |world| {
        let id = world.pipeline().await;
        world.ready(&id, "a.txt", b"PSV-2015A is set at 38.5 barg.", &[MANUAL]).await;
        world.ready(&id, "b.bin", b"\x7fELF\x02\x01\x01\0\0\0\0\0", &[MANUAL]).await;
        let double = honest().await;
        let endpoint = endpoint(&double);
        let path = format!("/api/pipelines/{id}/query");
        let body = json!({"query": "What is PSV-2015A set at?", "classification": "manual", "llm_endpoint": endpoint});
        let answer = world.post(&path, &body).await.json();
        let mut nowhere = body.clone();
        nowhere["llm_endpoint"]["base_url"] = "http://169.254.169.254/".into();
        world.post(&path, &nowhere).await;
        let mut streamed = body;
        streamed["stream"] = true.into();
        world.post(&path, &streamed).await;
        let told = world.told().await;
        let way: Vec<String> = told[1..].iter().map(|event| format!("{} {}", event.kind.name, status(event))).collect();
        assert_eq!(
            way,
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
        let completed = told[10].to_json("")["data"].clone();
        assert_eq!((&completed["query_id"], &completed["answered"]), (&answer["id"], &json!(true)));
        assert_eq!(completed["usage"]["prompt_tokens"], answer["usage"]["prompt_tokens"]);
        assert_eq!(told[11].to_json("")["data"]["code"], "llm-endpoint-forbidden");
    })
    .await;
}

#[tokio::test]
async fn a_transaction_that_ends_late_is_told_of_late_and_not_lost() {
    let Some(url) = databases::fresh_postgres() else { return eprintln!("SKIPPED: no PostgreSQL") };
    let (database, store) = (databases::open(&url).await, Store::open(databases::open(&url).await).await.unwrap());
    let mut slow = database.begin().await.unwrap();
    insert(&mut slow, "slow", 1).await;
    for number in 0..3 {
        let mut quick = database.begin().await.unwrap();
        insert(&mut quick, &format!("quick {number}"), 10 + number).await;
        quick.commit().await.unwrap();
    }
    assert_eq!(store.place_events(100).await.unwrap(), 3, "what is not over has no place");
    let first = ids(&store, 0).await;
    assert_eq!(first, ["quick 0", "quick 1", "quick 2"]);
    slow.commit().await.unwrap();
    assert_eq!(store.place_events(100).await.unwrap(), 1);
    assert_eq!(ids(&store, 3).await, ["slow"], "whoever had the others gets it too");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn replicas_give_each_event_one_place_without_gaps() {
    databases::on_each(async |database: Database| {
        let stores = [Store::open(database.clone()).await.unwrap(), Store::open(database.clone()).await.unwrap()];
        let writer = tokio::spawn(async move {
            for number in 0..60 {
                let mut tx = database.begin().await.unwrap();
                insert(&mut tx, &format!("{number:02}"), number).await;
                tx.commit().await.unwrap();
            }
        });
        let placers: Vec<JoinHandle<usize>> = stores
            .iter()
            .cloned()
            .map(|store| {
                tokio::spawn(async move {
                    let mut placed = 0;
                    while store.last_position().await.unwrap() < 60 {
                        placed += store.place_events(7).await.unwrap();
                    }
                    placed
                })
            })
            .collect();
        // Whoever reads behind what it had sees all, in whatever steps it reads.
        let (mut position, mut seen) = (0, Vec::new());
        while seen.len() < 60 {
            for event in stores[0].events_after(position, 3).await.unwrap() {
                assert_eq!(event.position, position + 1, "no gaps");
                position = event.position;
                seen.push(event.id);
            }
        }
        writer.await.unwrap();
        let mut placed = 0;
        for placer in placers {
            placed += placer.await.unwrap();
        }
        assert_eq!(placed, 60);
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), 60, "each once");
    })
    .await;
}

#[tokio::test]
async fn old_events_are_forgotten_and_whoever_comes_back_late_gets_what_is_left() {
    on_each(async |world| {
        let id = world.pipeline().await;
        world.upload(&id, "a.txt", b"a", &[MANUAL]).await;
        let told = world.told().await;
        let store = &world.state.store;
        assert_eq!(store.forget_events(told[0].happened_at, 10).await.unwrap(), 0, "they are not that old");
        assert_eq!(store.forget_events(told[1].happened_at, 10).await.unwrap(), 1);
        assert_eq!(store.position_of_event(&told[0].id).await.unwrap(), None);
        let mut listener = world.listen("/api/events", &[("last-event-id", &told[0].id)]).await;
        assert_eq!(listener.next().await["id"], told[1].id);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listener_hears_what_happens_and_what_it_missed() {
    on_each(async |world| {
        let keeper = world.keep();
        let mut all = world.listen("/api/events", &[]).await;
        let id = world.pipeline().await;
        let mut documents = world.listen(&format!("/api/events?type=document.queued&pipeline={id}"), &[]).await;
        world.upload(&id, "a.txt", b"a", &[MANUAL]).await;
        world.upload(&id, "b.txt", b"b", &[MANUAL]).await;
        let types: Vec<Value> =
            [all.next().await, all.next().await].iter().map(|event| event["type"].clone()).collect();
        assert_eq!(types, ["pipeline.created", "document.queued"]);
        let (first, second) = (documents.next().await, documents.next().await);
        assert_eq!((&first["type"], &second["type"]), (&json!("document.queued"), &json!("document.queued")));
        let had = first["id"].as_str().unwrap();
        let mut again = world.listen("/api/events", &[("last-event-id", had)]).await;
        assert_eq!(again.next().await, second, "behind the one that it had");
        for bad in ["/api/events?type=document.read", "/api/events?type="] {
            assert_eq!(world.get(bad).await.code(), "invalid-parameter", "{bad}");
        }
        assert_eq!(all.next().await, second);
        world.state.feed.close();
        assert!(all.ended().await, "nobody is kept waiting at the end");
        keeper.abort();
    })
    .await;
}

#[tokio::test]
async fn a_licence_in_another_state_is_told_once() {
    on_each(async |world| {
        for state in ["missing", "missing", "valid", "valid", "expired"] {
            world.state.store.note_licence(state, "").await.unwrap();
        }
        let states: Vec<String> = world.told().await.iter().map(status).collect();
        assert_eq!(states, ["valid", "expired"], "the first state is no change");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn events_reach_nats_once_it_is_there_and_again_after_it_was_away() {
    let Some(mut server) = Server::jetstream() else { return };
    let world = World::sqlite(&[("PIDQ_NATS_URL", &server.url())]).await;
    let (keeper, publisher) = (world.keep(), tokio::spawn(events::publish(Arc::clone(&world.state))));
    // What is heard here was taken by the server before.
    let mut heard = world.state.messages.subscribe("pidq.v1.");
    let id = world.pipeline().await;
    let created = message(&mut heard, 60).await.expect("in time");
    assert_eq!(created.subject, "pidq.v1.pipeline.created");
    assert!(String::from_utf8_lossy(&created.bytes).contains(&id));
    server.kill();
    let sent = world.upload(&id, "plan.txt", b"a", &[MANUAL]).await.json();
    assert_eq!(message(&mut heard, 2).await, None, "nobody takes it");
    server.restart();
    let queued = message(&mut heard, 60).await.expect("in time");
    assert_eq!(queued.subject, "pidq.v1.document.queued", "no names in subjects");
    let body = String::from_utf8_lossy(&queued.bytes).into_owned();
    assert!(body.contains(sent["id"].as_str().unwrap()) && !body.contains("plan.txt"), "{body}");
    keeper.abort();
    publisher.abort();
}

/// The next message, if one comes in so many seconds.
async fn message(heard: &mut Subscription, seconds: u64) -> Option<Message> {
    let end = tokio::time::Instant::now() + Duration::from_secs(seconds);
    loop {
        match tokio::time::timeout_at(end, heard.next()).await {
            Ok(Some(Heard::Message(message))) => return Some(message),
            Ok(Some(Heard::Missed)) => {}
            _ => return None,
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_so_many_listen() {
    let world = World::sqlite(&[("PIDQ_EVENT_STREAMS", "1")]).await;
    let keeper = world.keep();
    let first = world.listen("/api/events", &[]).await;
    let refused = world.get("/api/events").await;
    assert_eq!((refused.status, refused.code().as_str()), (503, "too-many-streams"));
    drop(first);
    // The place is free when the listener was missed.
    let mut tries = 0;
    while world.state.feed.is_full() {
        tries += 1;
        assert!(tries < 500, "the place stays taken");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    keeper.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restricted_key_hears_what_it_would_if_there_were_nothing_else() {
    let heard = async |with_others: bool| {
        let world = World::sqlite(&[("PIDQ_APP_MASTER_KEY", MASTER), ("PIDQ_APP_MASTER_SECRET", SECRET)]).await;
        let keeper = world.keep();
        let root = world.root().await;
        let root = [("authorization", root.as_str())];
        let id = world.pipeline_as(root[0].1, &["open", "secret"]).await;
        let other = world.pipeline_as(root[0].1, &["open"]).await;
        let reader = world.key(root[0].1, &id, "open").await;
        let mut listener = world.listen("/api/events", &[("authorization", &reader)]).await;
        for number in 0..6 {
            let text = format!("text {number}");
            let upload = async |pipeline: &str, label: &str| {
                world.upload_as(&root, pipeline, "a", text.as_bytes(), &[("classification", label)]).await.json()
            };
            if with_others {
                upload(&id, "secret").await;
                upload(&other, "open").await;
            }
            let sent = upload(&id, "open").await;
            if number % 2 == 0 {
                let path = format!("/api/pipelines/{id}/documents/{}", sent["id"].as_str().unwrap());
                assert_eq!(world.send("DELETE", &path, &root, "").await.status, 204);
            }
        }
        let mut heard = Vec::new();
        for _ in 0..9 {
            heard.push(listener.raw().await);
        }
        keeper.abort();
        normal(&heard.concat().replace(&world.state.licensing.system_id, "system"))
    };
    let (alone, among_others) = (heard(false).await, heard(true).await);
    assert_eq!(alone, among_others, "bit for bit, but for ids and times");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_was_taken_away_hears_nothing_more() {
    let world = World::sqlite(&[("PIDQ_APP_MASTER_KEY", MASTER), ("PIDQ_APP_MASTER_SECRET", SECRET)]).await;
    let root = world.root().await;
    let id = world.pipeline_as(&root, &["open"]).await;
    let reader = world.key(&root, &id, "open").await;
    let keeper = world.keep();
    let mut listener = world.listen("/api/events", &[("authorization", &reader)]).await;
    let upload = async |text: &[u8]| {
        world.upload_as(&[("authorization", &root)], &id, "a", text, &[("classification", "open")]).await
    };
    upload(b"before").await;
    assert_eq!(listener.next().await["type"], "document.queued");
    let key = reader.strip_prefix("Bearer pidq_").unwrap().split('_').next().unwrap();
    let gone = world.send("DELETE", &format!("/api/keys/{key}"), &[("authorization", &root)], "").await;
    assert_eq!(gone.status, 204);
    upload(b"after").await;
    assert!(listener.ended().await, "the stream ends, and says nothing before");
    assert_eq!(world.send("GET", "/api/events", &[("authorization", &reader)], "").await.status, 401);
    keeper.abort();
}

#[test]
fn whoever_sees_one_of_two_labels_sees_a_document_come_or_go() {
    let event = Event {
        id: "e".into(),
        position: 1,
        kind: events::DOCUMENT_RECLASSIFIED,
        pipeline_id: Some("p".into()),
        document_id: Some("d".into()),
        classification: Some("new".into()),
        previous: Some("old".into()),
        details: json!({"status": "ready", "revision": 3}).as_object().unwrap().clone(),
        happened_at: 0,
    };
    let seen = |labels: &[&str]| {
        let reach = Reach {
            classifications: labels.iter().map(|label| (*label).to_owned()).collect(),
            verbs: vec![Verb::Read],
        };
        let key = ApiKey { pipelines: [("p".to_owned(), reach)].into(), ..ApiKey::default() };
        event.seen_by(&key, |scope| scope == "documents:read").map(|seen| seen.to_json("s"))
    };
    let both = seen(&["new", "old"]).unwrap();
    assert_eq!(
        (&both["type"], &both["data"]["previous_classification"]),
        (&json!("document.reclassified"), &json!("old"))
    );
    let (new, old) = (seen(&["new"]).unwrap(), seen(&["old"]).unwrap());
    assert_eq!((&new["type"], &old["type"]), (&json!("document.ready"), &json!("document.deleted")));
    assert!(!new.to_string().contains("old") && !old.to_string().contains("new"), "{new} {old}");
    assert!(seen(&["other"]).is_none() && seen(&[]).is_none());
    assert!(event.seen_by(&ApiKey::root(), |_| false).is_none(), "without the scope nobody sees anything");
}

/// Somebody who listens.
struct Listener {
    body: UnsyncBoxBody<Bytes, ()>,
    text: String,
}

impl Listener {
    /// The next event as it is sent.
    async fn raw(&mut self) -> String {
        loop {
            if let Some(end) = self.text.find("\n\n") {
                let rest = self.text.split_off(end + 2);
                let raw = std::mem::replace(&mut self.text, rest);
                if raw.starts_with(':') {
                    continue;
                }
                return raw;
            }
            assert!(self.more().await, "the stream ended");
        }
    }

    async fn next(&mut self) -> Value {
        let raw = self.raw().await;
        let data = raw.lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
        let event: Value = serde_json::from_str(data).unwrap();
        assert!(raw.starts_with(&format!(
            "id: {}\nevent: {}\n",
            event["id"].as_str().unwrap(),
            event["type"].as_str().unwrap()
        )));
        event
    }

    /// Whether the stream ends, and nothing comes before.
    async fn ended(mut self) -> bool {
        while self.more().await {}
        self.text.is_empty()
    }

    async fn more(&mut self) -> bool {
        let frame = tokio::time::timeout(Duration::from_secs(60), self.body.frame()).await.expect("something in time");
        let Some(Ok(frame)) = frame else { return false };
        self.text.push_str(&String::from_utf8_lossy(frame.data_ref().unwrap()));
        true
    }
}

impl World {
    /// All events so far, oldest first.
    pub async fn told(&self) -> Vec<Event> {
        while self.state.store.place_events(100).await.unwrap() > 0 {}
        self.state.store.events_after(0, 1000).await.unwrap()
    }

    /// Somebody who looks after events.
    pub fn keep(&self) -> JoinHandle<()> {
        tokio::spawn(events::keep(Arc::clone(&self.state)))
    }

    async fn listen(&self, path: &str, headers: &[(&str, &str)]) -> Listener {
        let mut request = Request::builder().uri(path).header("host", "localhost");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (head, body) = self.site.call(request.body(Bytes::new()).unwrap()).await.into_parts();
        assert_eq!(
            (head.status.as_u16(), &head.headers["content-type"]),
            (200, &HeaderValue::from_static("text/event-stream"))
        );
        Listener { body: body.map_err(drop).boxed_unsync(), text: String::new() }
    }

    /// What the holder of the master key sends as `Authorization`.
    pub async fn root(&self) -> String {
        format!("Bearer {}", self.token(SECRET).await.json()["access_token"].as_str().unwrap())
    }

    pub async fn pipeline_as(&self, authorization: &str, labels: &[&str]) -> String {
        let body = json!({
            "name": pidq_http::uuid_v7(), "embedding_model": "hash-512", "text_splitter": "recursive_character", "classifications": labels,
        });
        let headers = [("authorization", authorization), ("content-type", "application/json")];
        let made = self.send("POST", "/api/pipelines", &headers, body.to_string()).await;
        made.json()["id"].as_str().unwrap().to_owned()
    }

    /// What the holder of a key to one label sends as `Authorization`.
    async fn key(&self, authorization: &str, pipeline: &str, label: &str) -> String {
        let wanted = json!({
            "name": "reader", "scopes": ["pipelines:read", "documents:read", "query"],
            "pipelines": {pipeline: {"classifications": [label], "verbs": ["read", "query"]}},
        });
        let headers = [("authorization", authorization), ("content-type", "application/json")];
        let made = self.send("POST", "/api/keys", &headers, wanted.to_string()).await.json();
        format!("Bearer {}", made["key"].as_str().unwrap())
    }
}

const INSERT: &str = "insert into events (id, kind, details, happened_at) values ($1, 'license.changed', '{}', $2)";

async fn insert(tx: &mut Transaction, id: &str, happened_at: i64) {
    tx.execute(INSERT, &[id.into(), happened_at.into()]).await.unwrap();
}

async fn ids(store: &Store, after: i64) -> Vec<String> {
    store.events_after(after, 100).await.unwrap().into_iter().map(|event| event.id).collect()
}

fn status(event: &Event) -> String {
    event.to_json("")["data"]["status"].as_str().unwrap_or_default().to_owned()
}

/// The same without what differs from run to run: ids and times.
fn normal(text: &str) -> String {
    let mut known: Vec<String> = Vec::new();
    let mut normal = String::new();
    let is_part = |c: char| c.is_ascii_hexdigit() || c == '-';
    for word in text.split_inclusive(|c: char| !is_part(c)) {
        let (id, rest) =
            word.split_at(word.len() - word.chars().last().map_or(0, |c| if is_part(c) { 0 } else { c.len_utf8() }));
        if id.len() == 36 {
            let number = known.iter().position(|seen| seen == id).unwrap_or_else(|| {
                known.push(id.to_owned());
                known.len() - 1
            });
            normal.push_str(&format!("id{number}{rest}"));
        } else {
            normal.push_str(word);
        }
    }
    normal
        .lines()
        .map(|line| line.split("\"time\":").next().unwrap().to_owned() + line.split("Z\"").nth(1).unwrap_or("") + "\n")
        .collect()
}

fn endpoint(double: &Double) -> Value {
    let endpoint = double.endpoint();
    json!({"api_key": "none", "model": endpoint.model, "base_url": endpoint.base_url})
}
