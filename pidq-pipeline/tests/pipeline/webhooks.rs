//! Webhooks: told of what they may know, in order, signed, again until they take it, and not for ever.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, AtomicUsize, Ordering};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use pidq_http::auth::Moment;
use pidq_http::database::{Database, Kind};
use pidq_pipeline::webhooks;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::task::JoinHandle;

use crate::doubles::{Asked, Double, Step, raw, reply};
use crate::platform::{Answer, MASTER, SECRET, World, on_each_url};

const APP: (&str, &str) = ("PIDQ_APP_SECRET", "a1b2c3d4e5f60718293a4b5c6d7e8f90");
const OTHER_APP: (&str, &str) = ("PIDQ_APP_SECRET", "ffb2c3d4e5f60718293a4b5c6d7e8f90");
const HASTY: (&str, &str) = ("PIDQ_WEBHOOK_TIME", "500ms");
const ROOT: [(&str, &str); 2] = [("PIDQ_APP_MASTER_KEY", MASTER), ("PIDQ_APP_MASTER_SECRET", SECRET)];
const WEBHOOKS: &str = "/api/webhooks";
const MANUAL: (&str, &str) = ("classification", "manual");

/// A platform that looks after events and webhooks.
struct Sending {
    world: World,
    database: Database,
    tasks: Vec<JoinHandle<()>>,
}

impl std::ops::Deref for Sending {
    type Target = World;

    fn deref(&self) -> &World {
        &self.world
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

impl Sending {
    async fn at(url: &str, more: &[(&str, &str)]) -> Sending {
        let own = [APP, HASTY];
        let world = World::at(url, &own.iter().chain(more).copied().collect::<Vec<_>>()).await;
        let tasks = vec![world.keep(), tokio::spawn(webhooks::send(Arc::clone(&world.state)))];
        Sending { world, database: Database::open(url).await.unwrap(), tasks }
    }

    /// What a webhook is, with its secret.
    async fn hook(&self, double: &Double, types: &[&str]) -> Value {
        let url = format!("http://{}/hooks?plant=1", double.address);
        let made = self.post(WEBHOOKS, &json!({"url": url, "types": types})).await;
        assert_eq!(made.status, 201, "{}", made.json());
        made.json()
    }

    async fn deliveries(&self, hook: &Value) -> Vec<Value> {
        let listed = self.get(&format!("{}/deliveries", path(hook))).await.json();
        listed["data"].as_array().unwrap_or_else(|| panic!("{listed}")).clone()
    }

    /// The deliveries, newest first, once they are as somebody expects.
    async fn until(&self, hook: &Value, expected: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        for _ in 0..600 {
            let deliveries = self.deliveries(hook).await;
            if expected(&deliveries) {
                return deliveries;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("{:#?}", self.deliveries(hook).await);
    }

    /// All that waits is due now.
    async fn time_passes(&self) {
        self.run("update deliveries set run_at = 0 where state = 'waiting'").await;
        self.run("update webhooks set rests_until = 0").await;
    }

    async fn run(&self, sql: &'static str) {
        self.database.execute(sql, &[]).await.unwrap();
    }

    async fn as_root(&self, method: &str, path: &str, body: &Value) -> Answer {
        let root = self.root().await;
        self.as_somebody(&root, method, path, body).await
    }

    async fn as_somebody(&self, authorization: &str, method: &str, path: &str, body: &Value) -> Answer {
        let headers = [("authorization", authorization), ("content-type", "application/json")];
        let body = if body.is_null() { String::new() } else { body.to_string() };
        self.send(method, path, &headers, body).await
    }
}

fn path(hook: &Value) -> String {
    format!("{WEBHOOKS}/{}", hook["id"].as_str().unwrap())
}

fn states(deliveries: &[Value]) -> Vec<&str> {
    deliveries.iter().map(|delivery| delivery["state"].as_str().unwrap()).collect()
}

/// A receiver with the status that it answers now.
async fn receiver(status: u16) -> (Double, Arc<AtomicU16>) {
    let status = Arc::new(AtomicU16::new(status));
    let now = status.clone();
    (Double::start(move |_, _| vec![reply(now.load(Ordering::SeqCst), "", "")]).await, status)
}

fn header(asked: &Asked, name: &str) -> String {
    let found = asked.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ").map(str::to_owned));
    found.unwrap_or_else(|| panic!("no {name} in {}", asked.head))
}

/// The signature of Standard Webhooks as it is written down: HMAC by RFC 2104, over SHA-256.
fn signature(secret: &str, asked: &Asked) -> String {
    let mut key = STANDARD.decode(secret.strip_prefix("whsec_").unwrap()).unwrap();
    assert!((24..=64).contains(&key.len()));
    key.resize(64, 0);
    let pad = |with: u8| key.iter().map(|byte| byte ^ with).collect::<Vec<u8>>();
    let mut content = format!("{}.{}.", header(asked, "webhook-id"), header(asked, "webhook-timestamp")).into_bytes();
    content.extend(&asked.bytes);
    let inner = Sha256::digest([pad(0x36), content].concat());
    let outer = Sha256::digest([pad(0x5c), inner.to_vec()].concat());
    format!("v1,{}", STANDARD.encode(outer))
}

#[tokio::test(flavor = "multi_thread")]
async fn events_arrive_once_in_order_and_signed() {
    on_each_url(async |url| {
        let world = Sending::at(url, &[]).await;
        let (double, _) = receiver(204).await;
        let hook = world.hook(&double, &["document.queued", "document.deleted"]).await;
        let everything = world.hook(&double, &[]).await;
        let secret = hook["secret"].as_str().unwrap();
        let id = world.pipeline().await;
        for text in ["a", "b", "c"] {
            world.upload(&id, "secret-plan.txt", text.as_bytes(), &[MANUAL]).await;
        }
        let delivered = world.until(&hook, |all| states(all) == ["delivered"; 3]).await;
        assert_eq!(world.until(&everything, |all| states(all) == ["delivered"; 4]).await[3]["type"], "pipeline.created");
        let told: Vec<Asked> = double.asked().into_iter().filter(|asked| signed(secret, asked)).collect();
        let expected: Vec<Value> = world.told().await[1..]
            .iter()
            .map(|event| event.to_json(&world.state.licensing.system_id))
            .collect();
        assert_eq!(told.iter().map(|asked| asked.body.clone()).collect::<Vec<_>>(), expected, "what NATS has, in order");
        for (asked, delivery) in told.iter().zip(delivered.iter().rev()) {
            assert!(asked.head.starts_with("POST /hooks?plant=1 HTTP/1.1"), "{}", asked.head);
            assert_eq!(header(asked, "content-type"), "application/cloudevents+json");
            assert_eq!(header(asked, "webhook-id"), asked.body["id"].as_str().unwrap());
            let at: i64 = header(asked, "webhook-timestamp").parse().unwrap();
            assert!((Moment::now().seconds() - at).abs() < 60);
            let row = json!({
                "event_id": asked.body["id"], "type": "document.queued", "state": "delivered", "attempts": 1,
                "last_status": 204, "error": null, "last_attempt_at": delivery["last_attempt_at"], "next_attempt_at": null,
            });
            assert_eq!(delivery, &row);
        }
        let shown = world.get(&path(&hook)).await.json();
        assert_eq!((&shown["secret"], &shown["status"], &shown["failures"]), (&Value::Null, &json!("active"), &json!(0)));
        let listed = world.get(WEBHOOKS).await;
        assert_eq!(listed.json()["data"].as_array().unwrap().len(), 2);
        assert!(!String::from_utf8_lossy(&listed.body).contains("whsec_"));
        let rows: Vec<(String,)> = world.database.rows("select secret from webhooks", &[]).await.unwrap();
        assert!(rows.iter().all(|row| !secret.contains(&row.0) && !row.0.contains(&secret[6..])), "sealed");
        let first = world.get(&format!("{}/deliveries?limit=2&state=delivered", path(&hook))).await.json();
        let next = first["next_cursor"].as_str().unwrap();
        let second = world.get(&format!("{}/deliveries?limit=2&state=delivered&cursor={next}", path(&hook))).await.json();
        assert_eq!(second["data"], json!([delivered[2]]));
        assert_eq!(world.get(&format!("{}/deliveries?state=lost", path(&hook))).await.code(), "invalid-parameter");
        assert_eq!(world.send("DELETE", &path(&hook), &[], "").await.status, 204);
        assert_eq!(world.get(&path(&hook)).await.code(), "webhook-not-found");
    })
    .await;
}

fn signed(secret: &str, asked: &Asked) -> bool {
    header(asked, "webhook-signature").split(' ').any(|given| given == signature(secret, asked))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_that_fails_gets_everything_later_and_in_order() {
    on_each_url(async |url| {
        let world = Sending::at(url, &[]).await;
        let (double, status) = receiver(503).await;
        let hook = world.hook(&double, &["document.queued"]).await;
        let id = world.pipeline().await;
        for text in ["a", "b", "c"] {
            world.upload(&id, "a.txt", text.as_bytes(), &[MANUAL]).await;
        }
        let waiting = world.until(&hook, |all| all.len() == 3 && all[2]["attempts"] == 1).await;
        assert_eq!(states(&waiting), ["waiting"; 3]);
        let oldest = &waiting[2];
        assert_eq!((&oldest["last_status"], &oldest["error"]), (&json!(503), &json!("the address answered 503")));
        let wait = Moment::from_rfc3339(oldest["next_attempt_at"].as_str().unwrap()).unwrap().0
            - Moment::from_rfc3339(oldest["last_attempt_at"].as_str().unwrap()).unwrap().0;
        assert!((4000..=7000).contains(&wait), "{wait}");
        assert_eq!(waiting[0]["attempts"], 0, "nobody is asked again and again while it is down");
        let shown = world.get(&path(&hook)).await.json();
        assert_eq!((&shown["status"], &shown["failures"]), (&json!("active"), &json!(1)));
        assert!(shown["failing_since"].is_string() && shown["error"] == "the address answered 503", "{shown}");
        world.time_passes().await;
        world.until(&hook, |all| all[2]["attempts"] == 2).await;
        assert_eq!(double.asked().len(), 2);
        status.store(200, Ordering::SeqCst);
        world.time_passes().await;
        world.until(&hook, |all| states(all) == ["delivered"; 3]).await;
        let ids: Vec<Value> = double.asked().iter().map(|asked| asked.body["id"].clone()).collect();
        assert_eq!(ids[..2], [ids[2].clone(), ids[2].clone()], "the same event with the same id");
        let events: Vec<Value> = world.told().await[1..].iter().map(|event| json!(event.id)).collect();
        assert_eq!(ids[2..], events, "in their order");
        assert_eq!(world.get(&path(&hook)).await.json()["failing_since"], Value::Null);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_that_is_never_taken_does_not_keep_back_the_others_and_is_given_up() {
    on_each_url(async |url| {
        let world = Sending::at(url, &[]).await;
        let double = Double::start(|_, asked| {
            let is_bad = asked.body["type"] == "pipeline.created";
            vec![reply(if is_bad { 500 } else { 200 }, "Retry-After: 77\r\n", "")]
        })
        .await;
        let hook = world.hook(&double, &["pipeline.created", "document.queued"]).await;
        let id = world.pipeline().await;
        world.upload(&id, "a.txt", b"a", &[MANUAL]).await;
        let first = world.until(&hook, |all| all.len() == 2 && all[1]["attempts"] == 1).await;
        let next = Moment::from_rfc3339(first[1]["next_attempt_at"].as_str().unwrap()).unwrap();
        assert!((next.0 - Moment::now().0) > 60_000, "as long as the receiver asks for: {first:?}");
        world.run("update webhooks set rests_until = 0").await;
        world.until(&hook, |all| states(all) == ["delivered", "waiting"]).await;
        world.run("update deliveries set attempts = 10 where state = 'waiting'").await;
        world.time_passes().await;
        let given_up = world.until(&hook, |all| states(all) == ["delivered", "failed"]).await;
        assert_eq!((&given_up[1]["attempts"], &given_up[1]["next_attempt_at"]), (&json!(11), &Value::Null));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_a_receiver_does_a_call_ends_soon_and_goes_nowhere_else() {
    let world = World::sqlite(&[APP, HASTY]).await;
    let (elsewhere, _) = receiver(200).await;
    let to = |status: u16| reply(status, &format!("Location: http://{}/\r\n", elsewhere.address), "");
    let endless = |piece: &str| [raw("HTTP/1.1 200 OK\r\n"), raw(piece.repeat(200_000)), Step::Stall].to_vec();
    let cases: Vec<(&str, Vec<Step>, Value, Option<&str>)> = vec![
        ("takes it", vec![reply(202, "", "thanks")], json!(202), None),
        ("answers without end", endless("\r\nand so on"), json!(200), None),
        ("hangs", vec![Step::Stall], Value::Null, Some("in time")),
        ("hangs in the head", vec![raw("HTTP/1.1 200 OK\r\nX-"), Step::Stall], Value::Null, Some("in time")),
        ("has a head without end", endless("X-Long: header\r\n"), Value::Null, Some("can be read")),
        (
            "continues without end",
            vec![raw("HTTP/1.1 100 C\r\n\r\n".repeat(50_000)), Step::Stall],
            Value::Null,
            Some("in time"),
        ),
        ("breaks off", vec![Step::Break], Value::Null, Some("broke off")),
        ("speaks something else", vec![raw("SSH-2.0-x\r\n")], Value::Null, Some("can be read")),
        ("sends elsewhere", vec![to(302)], json!(302), Some("redirects are not followed")),
        ("sends elsewhere with the body", vec![to(307)], json!(307), Some("redirects are not followed")),
        ("does not find it", vec![reply(404, "", "")], json!(404), Some("answered 404")),
        ("wants nothing more", vec![reply(410, "", "")], json!(410), Some("410")),
    ];
    for (name, steps, status, fault) in cases {
        let double = Double::always(steps).await;
        let made = world.post(WEBHOOKS, &json!({"url": format!("http://{}", double.address)})).await;
        let path = made.header("location").to_owned();
        let tested = world.send("POST", &format!("{path}/test"), &[], "").await;
        let told = tested.json();
        assert_eq!(
            (tested.status, &told["delivered"], &told["status"]),
            (200, &json!(fault.is_none()), &status),
            "{name}: {told}"
        );
        assert!(
            fault.map_or(told["error"].is_null(), |fault| told["error"].as_str().unwrap().contains(fault)),
            "{name}: {told}"
        );
        assert!(told["latency_ms"].as_u64().unwrap() < 5000, "{name}");
        let asked = &double.asked()[0];
        assert_eq!((&asked.body["type"], &asked.body["id"]), (&json!("webhook.test"), &told["event_id"]), "{name}");
        assert!(signed(made.json()["secret"].as_str().unwrap(), asked));
        assert_eq!(world.get(&path).await.json()["status"], "active", "{name}: a test changes nothing");
    }
    assert_eq!(elsewhere.asked().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn addresses_that_are_not_to_be_called_are_refused_when_they_are_given_and_when_they_are_called() {
    on_each_url(async |url| {
        let local = Sending::at(url, &[]).await;
        for address in ["http://169.254.169.254/latest", "http://metadata.google.internal/", "http://[fd00:ec2::254]/"]
        {
            let refused = local.post(WEBHOOKS, &json!({"url": address})).await;
            assert_eq!((refused.status, refused.code().as_str()), (403, "webhook-url-forbidden"), "{address}");
        }
        let (double, _) = receiver(200).await;
        let hook = local.hook(&double, &["pipeline.created"]).await;
        drop(local);
        let public = Sending::at(url, &[("PIDQ_WEBHOOK_EGRESS", "public")]).await;
        for address in
            ["http://127.0.0.1:1/", "http://10.0.0.7/", "http://0x7f.1/", "https://[::1]/", "http://localhost/"]
        {
            let refused = public.post(WEBHOOKS, &json!({"url": address})).await;
            assert_eq!((refused.status, refused.code().as_str()), (403, "webhook-url-forbidden"), "{address}");
            let moved = public
                .send(
                    "PATCH",
                    &path(&hook),
                    &[("content-type", "application/json")],
                    json!({"url": address}).to_string(),
                )
                .await;
            assert_eq!(moved.status, 403, "{address}");
        }
        public.pipeline().await;
        let missed = public.until(&hook, |all| all.len() == 1 && all[0]["attempts"] == 1).await;
        assert_eq!(missed[0]["error"], "this service does not call that address");
        assert_eq!(double.asked().len(), 0);
        let listed = World::at(url, &[APP, ("PIDQ_WEBHOOK_ALLOW", "https://hooks.example/plant")]).await;
        assert_eq!(listed.post(WEBHOOKS, &json!({"url": "https://hooks.example/other"})).await.status, 403);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_not_delivered_is_delivered_after_a_restart_in_the_middle_of_a_call() {
    on_each_url(async |url| {
        let calls = Arc::new(AtomicUsize::new(0));
        let count = calls.clone();
        let double = Double::start(move |_, _| match count.fetch_add(1, Ordering::SeqCst) {
            0 => vec![Step::Stall],
            _ => vec![reply(200, "", "")],
        })
        .await;
        let first = Sending::at(url, &[("PIDQ_WEBHOOK_TIME", "60s")]).await;
        let hook = first.hook(&double, &[]).await;
        first.pipeline().await;
        while double.asked().is_empty() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        // Nobody says good-bye.
        drop(first);
        let second = Sending::at(url, &[]).await;
        tokio::time::sleep(Duration::from_millis(1500)).await;
        assert_eq!(calls.load(Ordering::SeqCst), 1, "somebody may hold it still");
        second.run("update webhooks set held_until = 1").await;
        let delivered = second.until(&hook, |all| states(all) == ["delivered"]).await;
        assert_eq!(delivered[0]["attempts"], 1, "a call that nobody saw the end of is none");
        let asked = double.asked();
        assert_eq!(asked[0].body["id"], asked[1].body["id"], "at least once, and known by its id");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn replicas_send_each_event_once_and_one_after_the_other() {
    on_each_url(async |url| {
        let open = Arc::new(AtomicUsize::new(0));
        let (now, most) = (open.clone(), Arc::new(AtomicUsize::new(0)));
        let peak = most.clone();
        let double = Double::start(move |_, _| {
            peak.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(2));
            now.fetch_sub(1, Ordering::SeqCst);
            vec![reply(200, "", "")]
        })
        .await;
        let replicas = [Sending::at(url, &[]).await, Sending::at(url, &[]).await, Sending::at(url, &[]).await];
        let hook = replicas[0].hook(&double, &["document.queued"]).await;
        let id = replicas[0].pipeline().await;
        for number in 0..60 {
            replicas[number % 3].upload(&id, "a", format!("{number}").as_bytes(), &[MANUAL]).await;
        }
        // One page shows the last fifty; what was not given its place yet is on none.
        replicas[1].until(&hook, |_| double.asked().len() >= 60).await;
        replicas[1].until(&hook, |all| all.len() == 50 && all.iter().all(|row| row["state"] == "delivered")).await;
        let ids: Vec<String> =
            double.asked().iter().map(|asked| asked.body["id"].as_str().unwrap().to_owned()).collect();
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "once");
        let events: Vec<String> = replicas[0].told().await[1..].iter().map(|event| event.id.clone()).collect();
        assert_eq!((ids, most.load(Ordering::SeqCst)), (events, 1));
        assert_eq!(open.load(Ordering::SeqCst), 0);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_is_replaced_by_another_with_both_good_for_a_while() {
    on_each_url(async |url| {
        let world = Sending::at(url, &[]).await;
        let (double, _) = receiver(200).await;
        let hook = world.hook(&double, &[]).await;
        let try_it = async |world: &World| {
            let told = world.send("POST", &format!("{}/test", path(&hook)), &[], "").await.json();
            assert_eq!(told["delivered"], true, "{told}");
            double.asked().pop().unwrap()
        };
        let rotate = async |world: &World, overlap: &str| {
            let rotated = world.send("POST", &format!("{}/rotate{overlap}", path(&hook)), &[], "").await;
            assert_eq!(rotated.status, 200, "{}", rotated.json());
            rotated.json()["secret"].as_str().unwrap().to_owned()
        };
        let first = hook["secret"].as_str().unwrap().to_owned();
        let second = rotate(&world, "").await;
        let asked = try_it(&world).await;
        assert!(first != second && signed(&first, &asked) && signed(&second, &asked));
        let third = rotate(&world, "?overlap=0").await;
        let asked = try_it(&world).await;
        assert!(signed(&third, &asked) && !signed(&second, &asked) && !signed(&first, &asked));
        for wrong in ["?overlap=-1", "?overlap=604801", "?overlap=x"] {
            assert_eq!(world.send("POST", &format!("{}/rotate{wrong}", path(&hook)), &[], "").await.status, 400);
        }
        // With another application secret nothing opens, until the secret of the webhook is another one too.
        let other = World::at(url, &[APP, OTHER_APP]).await;
        let sealed = other.send("POST", &format!("{}/test", path(&hook)), &[], "").await;
        assert_eq!((sealed.status, sealed.code().as_str()), (409, "webhook-sealed"));
        let fourth = rotate(&other, "").await;
        assert!(signed(&fourth, &try_it(&other).await));
        // Nor does whoever writes into the database have events sent elsewhere.
        world.run("update webhooks set url = 'http://127.0.0.1:2/'").await;
        assert_eq!(other.send("POST", &format!("{}/test", path(&hook)), &[], "").await.code(), "webhook-sealed");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_that_is_not_reached_for_days_is_switched_off_and_says_so() {
    on_each_url(async |url| {
        let world = Sending::at(url, &[]).await;
        let (double, status) = receiver(500).await;
        let hook = world.hook(&double, &["pipeline.created", "document.queued"]).await;
        let id = world.pipeline().await;
        world.upload(&id, "a", b"a", &[MANUAL]).await;
        world.until(&hook, |all| all.len() == 2 && all[1]["attempts"] == 1).await;
        world.run("update webhooks set failing_since = failing_since - 432000000").await;
        world.time_passes().await;
        world.until(&hook, |all| states(all) == ["dropped", "failed"]).await;
        let shown = world.get(&path(&hook)).await.json();
        assert_eq!((&shown["status"], &shown["error"]), (&json!("disabled"), &json!("the address answered 500")));
        let ends: Vec<Value> = world
            .told()
            .await
            .iter()
            .filter(|event| event.kind.name == "webhook.disabled")
            .map(|event| event.to_json("")["data"].clone())
            .collect();
        assert_eq!(
            ends,
            [json!({"webhook_id": hook["id"], "status": "disabled", "reason": "the address answered 500"})]
        );
        world.upload(&id, "b", b"b", &[MANUAL]).await;
        assert_eq!(
            world.told().await.last().unwrap().kind.name,
            "document.queued",
            "it has its place, and nobody is told"
        );
        status.store(200, Ordering::SeqCst);
        let patch = [("content-type", "application/json")];
        let on = world.send("PATCH", &path(&hook), &patch, r#"{"status": "active"}"#).await.json();
        assert_eq!(
            (&on["status"], &on["failures"], &on["failing_since"], &on["error"]),
            (&json!("active"), &json!(0), &Value::Null, &Value::Null)
        );
        world.upload(&id, "c", b"c", &[MANUAL]).await;
        world.until(&hook, |all| states(all) == ["delivered", "dropped", "failed"]).await;
        status.store(410, Ordering::SeqCst);
        world.upload(&id, "d", b"d", &[MANUAL]).await;
        world.until(&hook, |all| states(all)[0] == "failed").await;
        assert_eq!(world.get(&path(&hook)).await.json()["status"], "disabled", "gone is gone at once");
        world.run("update events set happened_at = 1").await;
        world.state.store.forget_deliveries(2).await.unwrap();
        assert_eq!(world.deliveries(&hook).await.len(), 0, "and nothing stays for ever");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_to_some_pipelines_has_webhooks_of_its_own_that_know_what_it_may_know() {
    on_each_url(async |url| {
        let world = Sending::at(url, &ROOT).await;
        let (double, _) = receiver(200).await;
        let root = world.root().await;
        let (id, other) =
            (world.pipeline_as(&root, &["open", "secret"]).await, world.pipeline_as(&root, &["open"]).await);
        let key = async |scopes: &[&str], bound: bool| {
            let pipelines = json!({&id: {"classifications": ["open"], "verbs": ["read", "write"]}});
            let wanted = json!({"name": "k", "scopes": scopes, "pipelines": if bound { pipelines } else { json!({}) }});
            let made = world.as_root("POST", "/api/keys", &wanted).await.json();
            format!("Bearer {}", made["key"].as_str().unwrap())
        };
        let address = format!("http://{}/", double.address);
        let writer =
            key(&["pipelines:read", "pipelines:write", "documents:read", "documents:write", "query"], false).await;
        for (method, path) in [
            ("POST", WEBHOOKS.to_owned()),
            ("GET", WEBHOOKS.to_owned()),
            ("GET", format!("{WEBHOOKS}/x/deliveries")),
            ("POST", format!("{WEBHOOKS}/x/rotate")),
        ] {
            let refused = world.as_somebody(&writer, method, &path, &json!({"url": address})).await;
            assert_eq!(refused.status, 403, "{method} {path}: only administrators have events sent out");
        }
        assert_eq!(world.send("GET", WEBHOOKS, &[], "").await.status, 401);
        let bound = key(&["admin", "documents:read"], true).await;
        let admin = key(&["admin"], false).await;
        let of_all =
            world.as_somebody(&admin, "POST", WEBHOOKS, &json!({"url": address, "types": ["webhook.disabled"]})).await;
        assert_eq!((of_all.status, &of_all.json()["key_id"]), (201, &Value::Null));
        let own = world.as_somebody(&bound, "POST", WEBHOOKS, &json!({"url": address})).await;
        assert_eq!((own.status, &own.json()["pipelines"]), (201, &json!([id])), "{}", own.json());
        for pipeline in [other.as_str(), "0199aaaa-0000-7000-8000-00000000000f"] {
            let wanted = json!({"url": address, "pipelines": [pipeline]});
            let refused = world.as_somebody(&bound, "POST", WEBHOOKS, &wanted).await;
            assert_eq!((refused.status, &refused.json()["errors"][0]["pointer"]), (422, &json!("/pipelines/0")));
            let moved = world.as_somebody(&bound, "PATCH", &path(&own.json()), &json!({"pipelines": [pipeline]})).await;
            assert_eq!(moved.status, 422);
        }
        let all = path(&of_all.json());
        for (method, path) in [
            ("GET", all.clone()),
            ("PATCH", all.clone()),
            ("DELETE", all.clone()),
            ("POST", format!("{all}/test")),
            ("POST", format!("{all}/rotate")),
            ("GET", format!("{all}/deliveries")),
        ] {
            let hidden = world.as_somebody(&bound, method, &path, &json!({})).await;
            assert_eq!((hidden.status, hidden.code().as_str()), (404, "webhook-not-found"), "{method} {path}");
        }
        let listed = |answer: Answer| answer.json()["data"].as_array().unwrap().len();
        assert_eq!(listed(world.as_somebody(&bound, "GET", WEBHOOKS, &Value::Null).await), 1);
        assert_eq!(listed(world.as_somebody(&admin, "GET", WEBHOOKS, &Value::Null).await), 2);

        let root = [("authorization", root.as_str())];
        let upload = async |pipeline: &str, label: &str, text: &str| {
            world.upload_as(&root, pipeline, "a", text.as_bytes(), &[("classification", label)]).await.json()
        };
        upload(&id, "secret", "1").await;
        upload(&other, "open", "2").await;
        let seen = upload(&id, "open", "3").await;
        let document = format!("/api/pipelines/{id}/documents/{}", seen["id"].as_str().unwrap());
        assert_eq!(world.as_root("PATCH", &document, &json!({"classification": "secret"})).await.status, 200);
        let own = own.json();
        let told = async || {
            let answer = world.as_somebody(&bound, "GET", &format!("{}/deliveries", path(&own)), &Value::Null).await;
            answer.json()["data"].as_array().unwrap().clone()
        };
        while states(&told().await) != ["delivered"; 2] {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let types: Vec<Value> = double.asked().iter().map(|asked| asked.body["type"].clone()).collect();
        assert_eq!(types, ["document.queued", "document.deleted"], "it comes and goes, and where to is not told");
        assert!(!double.asked().iter().any(|asked| String::from_utf8_lossy(&asked.bytes).contains("secret")));
        let key_id = own["key_id"].as_str().unwrap();
        assert_eq!(world.as_root("DELETE", &format!("/api/keys/{key_id}"), &Value::Null).await.status, 204);
        upload(&id, "open", "4").await;
        let mut shown = Value::Null;
        while shown["status"] != "disabled" {
            tokio::time::sleep(Duration::from_millis(50)).await;
            shown = world.as_root("GET", &path(&own), &Value::Null).await.json();
        }
        assert_eq!(shown["error"], "the API key that made it is gone or has expired");
        while double.asked().len() < 3 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert_eq!(
            double.asked()[2].body["type"],
            "webhook.disabled",
            "the administrators hear of it, and nobody of the document"
        );
    })
    .await;
}

#[tokio::test]
async fn a_webhook_that_is_not_right_is_refused() {
    let world = World::sqlite(&[APP]).await;
    for (wanted, pointer) in [
        (json!({}), "/url"),
        (json!({"url": 7}), "/url"),
        (json!({"url": "ftp://a/"}), "/url"),
        (json!({"url": "http://user:pw@a/"}), "/url"),
        (json!({"url": "http://127.0.0.1/", "types": ["document.read"]}), "/types/0"),
        (json!({"url": "http://127.0.0.1/", "pipelines": ["none"]}), "/pipelines/0"),
        (json!({"url": "http://127.0.0.1/", "secret": "mine"}), "/secret"),
        (json!({"url": "http://127.0.0.1/", "status": "active"}), "/status"),
    ] {
        let refused = world.post(WEBHOOKS, &wanted).await;
        assert_eq!((refused.status, &refused.json()["errors"][0]["pointer"]), (422, &json!(pointer)), "{wanted}");
    }
    let made = world.post(WEBHOOKS, &json!({"url": "http://127.0.0.1:9/"})).await.json();
    let patch = [("content-type", "application/json")];
    for wrong in [json!({"status": "asleep"}), json!({"url": null}), json!({"types": "all"})] {
        assert_eq!(world.send("PATCH", &path(&made), &patch, wrong.to_string()).await.status, 422, "{wrong}");
    }
    let moved = world
        .send("PATCH", &path(&made), &patch, r#"{"url": "http://127.0.0.1:10/", "types": ["document.ready"]}"#)
        .await
        .json();
    assert_eq!(
        (&moved["url"], &moved["types"], &moved["secret"]),
        (&json!("http://127.0.0.1:10/"), &json!(["document.ready"]), &Value::Null)
    );
    for _ in 1..100 {
        assert_eq!(world.post(WEBHOOKS, &json!({"url": "http://127.0.0.1:9/"})).await.status, 201);
    }
    assert_eq!(world.post(WEBHOOKS, &json!({"url": "http://127.0.0.1:9/"})).await.code(), "too-many-webhooks");
    let keyless = World::sqlite(&[]).await;
    assert_eq!(keyless.post(WEBHOOKS, &json!({"url": "http://127.0.0.1:9/"})).await.code(), "app-secret-missing");
}

/// PostgreSQL counts what is done to a table by statements.
const COUNTING: [&str; 3] = [
    "create table counted (statement bigint)",
    "create function count_it() returns trigger language plpgsql as
      $$ begin insert into counted values (1); return null; end $$",
    "create trigger counting after insert on deliveries for each statement execute function count_it()",
];

#[tokio::test]
async fn all_webhooks_are_told_of_all_events_by_one_statement() {
    on_each_url(async |url| {
        let world = World::at(url, &[APP]).await;
        let database = Database::open(url).await.unwrap();
        let is_counted = database.kind() == Kind::Postgres;
        for sql in COUNTING.iter().filter(|_| is_counted) {
            database.execute(sql, &[]).await.unwrap();
        }
        for types in [json!([]), json!(["pipeline.created"])].iter().cycle().take(20) {
            let made = world.post(WEBHOOKS, &json!({"url": "http://127.0.0.1:9/hook", "types": types})).await;
            assert_eq!(made.status, 201, "{}", made.json());
        }
        let id = world.pipeline().await;
        for number in 0..5 {
            let text = format!("document {number}");
            assert_eq!(world.upload(&id, "a.txt", text.as_bytes(), &[MANUAL]).await.status, 202);
        }
        assert_eq!(world.state.store.place_events(500).await.unwrap(), 6);
        let one = async |sql: &'static str| database.row::<(i64,)>(sql, &[]).await.unwrap().unwrap().0;
        assert_eq!(one("select count(*) from deliveries").await, 10 * 6 + 10);
        assert_eq!(
            one("select count(*) from deliveries d join events e on e.id = d.event_id and e.position = d.position")
                .await,
            10 * 6 + 10
        );
        if is_counted {
            assert_eq!(one("select count(*) from counted").await, 1);
        }
        assert_eq!(world.state.store.place_events(500).await.unwrap(), 0, "each event once");
    })
    .await;
}
