//! Tests of quotas with concurrent requests of two tenants, on each database and several processes: no count exceeds its
//! limit, and the tenant that is within its quota is neither refused nor kept waiting by the other.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use pidq_http::auth::Timestamp;
use pidq_pipeline::ingest::worker;
use pidq_store::domain::license::{DAY, Issuer, License, LicenseLimits};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::backend_servers::Server;
use crate::databases;
use crate::mock_prompt_model::prompt_model;
use crate::mock_server::{MockServer, Step, json_reply};
use crate::platform::{MASTER, SECRET, TestPlatform, TestResponse, form, on_each_url};

/// Time in which a request succeeds on a busy machine, if it waits for nobody.
const PROMPT: Duration = Duration::from_secs(20);

/// Processes on one database, and a tenant for each of two pipelines.
struct Tenants {
    processes: Vec<Arc<TestPlatform>>,
    tenants: [Tenant; 2],
}

/// A pipeline with the `Authorization` header of the key that is limited to it.
struct Tenant {
    pipeline: String,
    authorization: String,
}

impl Tenants {
    /// Starts processes with a license of limits.
    async fn start(url: &str, processes: usize, limits: LicenseLimits, settings: &[(&str, &str)]) -> Tenants {
        let master = [("PIDQ_APP_MASTER_KEY", MASTER), ("PIDQ_APP_MASTER_SECRET", SECRET)];
        let issuer = Issuer::parse(&Issuer::generate().unwrap()).unwrap();
        let keys = format!("vendor:{}", issuer.public_key());
        let first = TestPlatform::at(url, &master).await;
        let root = first.root_authorization().await;
        let system = first.send("GET", "/api/license", &[("authorization", &root)], "").await.json();
        let sys = system["system_id"].as_str().unwrap().to_owned();
        let license =
            issuer.issue(&License { v: 1, sys, exp: Timestamp::now().seconds() + DAY, limits, ..License::default() });
        let enforced = [
            ("PIDQ_LICENSE_MODE", "enforce"),
            ("PIDQ_LICENSE_PUBLIC_KEYS", keys.as_str()),
            ("PIDQ_APP_LICENSE", license.as_str()),
        ];
        let settings = [&master[..], &enforced, settings].concat();
        let processes = join_all((0..processes).map(|_| TestPlatform::at(url, &settings))).await;
        let mut tenants = Vec::new();
        for _ in 0..2 {
            let pipeline = processes[0].pipeline_as(&root, &["manual"]).await;
            let body = json!({
                "name": "tenant", "scopes": ["pipelines:read", "documents:read", "documents:write", "query"],
                "pipelines": {pipeline.as_str(): {"classifications": ["manual"], "verbs": ["read", "write", "query"]}},
            });
            let headers = [("authorization", root.as_str()), ("content-type", "application/json")];
            let key = processes[0].send("POST", "/api/keys", &headers, body.to_string()).await.json();
            tenants.push(Tenant { pipeline, authorization: format!("Bearer {}", key["key"].as_str().unwrap()) });
        }
        let processes = processes.into_iter().map(Arc::new).collect();
        Tenants { processes, tenants: tenants.try_into().unwrap_or_else(|_| panic!("two tenants")) }
    }

    /// Starts requests of a tenant at the same time, in turn on each process.
    fn spawn_all(
        &self,
        tenant: usize,
        count: usize,
        request: impl Fn(usize) -> RequestParts,
    ) -> Vec<tokio::task::JoinHandle<TestResponse>> {
        let Tenant { pipeline, authorization } = &self.tenants[tenant];
        let spawn = |number: usize| {
            let process = self.processes[number % self.processes.len()].clone();
            let RequestParts { path, media_type, body } = request(number);
            let (path, authorization) = (format!("/api/pipelines/{pipeline}/{path}"), authorization.clone());
            tokio::spawn(async move {
                let headers = [("authorization", authorization.as_str()), ("content-type", media_type)];
                process.send("POST", &path, &headers, body).await
            })
        };
        (0..count).map(spawn).collect()
    }

    /// Starts a worker in each process.
    fn start_workers(&self) -> Vec<tokio::task::JoinHandle<()>> {
        self.processes.iter().map(|process| tokio::spawn(worker::run_worker(process.state.clone()))).collect()
    }

    /// Ingests the documents that are queued.
    async fn ingest(&self) {
        let workers = self.start_workers();
        self.wait_until_ingested().await;
        workers.into_iter().for_each(|worker| worker.abort());
    }

    async fn wait_until_ingested(&self) {
        for _ in 0..1200 {
            let mut pending = 0;
            for Tenant { pipeline, authorization } in &self.tenants {
                let path = format!("/api/pipelines/{pipeline}/documents?limit=200");
                let headers = [("authorization", authorization.as_str())];
                let list = self.processes[0].send("GET", &path, &headers, "").await.json();
                pending +=
                    list["data"].as_array().unwrap().iter().filter(|document| document["terminal"] == false).count();
            }
            if pending == 0 {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("timeout: documents are still queued");
    }

    /// Returns a number of `GET /api/license`.
    async fn usage(&self, name: &str) -> Value {
        let root = self.processes[0].root_authorization().await;
        let headers = [("authorization", root.as_str())];
        self.processes[0].send("GET", "/api/license", &headers, "").await.json()["usage"][name].clone()
    }
}

struct RequestParts {
    path: String,
    media_type: &'static str,
    body: Vec<u8>,
}

/// Returns an upload of a text that no other number has.
fn upload(name: &str, text: &str) -> RequestParts {
    RequestParts {
        path: "documents".into(),
        media_type: "multipart/form-data; boundary=x7x",
        body: form(name, text.as_bytes(), &[("classification", "manual")]),
    }
}

fn preview(text: &str) -> RequestParts {
    RequestParts { path: "preview".into(), body: form("a.txt", text.as_bytes(), &[]), ..upload("", "") }
}

fn question(model: &MockServer, stream: bool) -> RequestParts {
    let endpoint = model.endpoint();
    let llm = json!({"api_key": "none", "model": endpoint.model, "base_url": endpoint.base_url});
    let body = json!({"query": "PSV-2015A?", "classification": "manual", "llm_endpoint": llm, "stream": stream});
    RequestParts { path: "query".into(), media_type: "application/json", body: body.to_string().into_bytes() }
}

async fn finished(tasks: Vec<tokio::task::JoinHandle<TestResponse>>) -> Vec<TestResponse> {
    join_all(tasks).await.into_iter().map(|response| response.unwrap()).collect()
}

/// Returns how many responses have each status, and checks that the refused ones have a code.
fn count(responses: &[TestResponse], accepted: u16, refused: (u16, &str)) -> (usize, usize) {
    for response in responses {
        let is_refused = (response.status, response.code().as_str()) == refused;
        assert!(response.status == accepted || is_refused, "{}: {}", response.status, response.json());
    }
    let accepted = responses.iter().filter(|response| response.status == accepted).count();
    (accepted, responses.len() - accepted)
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_of_two_tenants_stay_within_the_daily_limit() {
    on_each_url(async |url| {
        let limits = LicenseLimits { questions_per_day: Some(7), ..LicenseLimits::default() };
        let tenants = Tenants::start(url, 2, limits, &[]).await;
        let model = prompt_model().await;
        let both = [0, 1].map(|tenant| tenants.spawn_all(tenant, 15, |_| question(&model, false)));
        let mut responses = Vec::new();
        for tasks in both {
            responses.extend(finished(tasks).await);
        }
        assert_eq!(count(&responses, 200, (402, "license-limit")), (7, 23));
        assert_eq!(tenants.usage("questions_today").await, 7);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limit_of_no_questions_refuses_the_first_one() {
    on_each_url(async |url| {
        let limits = LicenseLimits { questions_per_day: Some(0), ..LicenseLimits::default() };
        let tenants = Tenants::start(url, 1, limits, &[]).await;
        let model = prompt_model().await;
        let responses = finished(tenants.spawn_all(0, 2, |_| question(&model, false))).await;
        assert_eq!(count(&responses, 200, (402, "license-limit")), (0, 2));
        assert_eq!(tenants.usage("questions_today").await, 0);
    })
    .await;
}

/// A question that the model does not answer is not counted; its place may be taken by another one, but only once.
#[tokio::test(flavor = "multi_thread")]
async fn failed_questions_do_not_extend_the_daily_limit() {
    on_each_url(async |url| {
        let limits = LicenseLimits { questions_per_day: Some(4), ..LicenseLimits::default() };
        let tenants = Tenants::start(url, 2, limits, &[]).await;
        let stored = finished(tenants.spawn_all(0, 1, |_| upload("a.txt", "PSV-2015A is set at 38.5 barg."))).await;
        assert_eq!(stored[0].status, 202);
        tenants.ingest().await;
        let failing = MockServer::always(vec![json_reply(400, &json!({"error": {"message": "no"}}))]).await;
        let model = prompt_model().await;
        let mut answered = 0;
        for _ in 0..3 {
            let tasks =
                tenants.spawn_all(0, 16, |number| question(if number % 4 < 2 { &failing } else { &model }, false));
            let responses = finished(tasks).await;
            assert!(responses.iter().all(|response| [200, 402, 422, 502].contains(&response.status)), "{responses:?}");
            answered += responses.iter().filter(|response| response.status == 200).count();
        }
        assert_eq!(tenants.usage("questions_today").await, answered, "failed questions are not counted");
        // One after the other, the rest of the limit can be used up.
        for _ in answered..4 {
            assert_eq!(finished(tenants.spawn_all(1, 1, |_| question(&model, false))).await[0].status, 200);
        }
        assert_eq!(finished(tenants.spawn_all(1, 1, |_| question(&model, false))).await[0].status, 402);
        assert_eq!(tenants.usage("questions_today").await, 4);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn uploads_and_attachments_of_two_tenants_stay_within_the_document_limit() {
    on_each_url(async |url| {
        let limits = LicenseLimits { documents: Some(9), ..LicenseLimits::default() };
        let tenants = Tenants::start(url, 2, limits, &[]).await;
        // Three mails of three attachments each fill the limit while they are read; with the uploads they would exceed it.
        let mails = finished(tenants.spawn_all(0, 3, |number| upload("a.eml", &mail(number)))).await;
        assert_eq!(count(&mails, 202, (402, "license-limit")), (3, 0));
        let workers = tenants.start_workers();
        let both = [0, 1].map(|tenant| {
            tenants.spawn_all(tenant, 10, |number| upload("a.txt", &format!("text {number} of tenant {tenant}")))
        });
        let mut responses = Vec::new();
        for tasks in both {
            responses.extend(finished(tasks).await);
        }
        tenants.wait_until_ingested().await;
        workers.into_iter().for_each(|worker| worker.abort());
        let (accepted, refused) = count(&responses, 202, (402, "license-limit"));
        assert!(accepted <= 6 && refused >= 14, "{accepted} accepted, {refused} refused");
        assert_eq!(tenants.usage("documents").await, 9, "the limit is reached and not exceeded");
    })
    .await;
}

/// Returns a mail with three attachments.
fn mail(number: usize) -> String {
    let mut mail = format!(
        "From: a@example.com\r\nSubject: Mail {number}\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n\
         --b\r\nContent-Type: text/plain\r\n\r\nThree files.\r\n"
    );
    for part in 0..3 {
        mail += &format!(
            "--b\r\nContent-Type: text/plain\r\nContent-Disposition: attachment; filename=\"f{part}.txt\"\r\n\r\n\
             file {part} of mail {number}\r\n"
        );
    }
    mail + "--b--\r\n"
}

/// One process counts on its own; several count together in Redis.
#[tokio::test(flavor = "multi_thread")]
async fn a_tenant_at_its_rate_of_uploads_does_not_refuse_the_other() {
    let redis = Server::redis();
    let shared = redis.as_ref().map(|redis| (redis.url(), 2));
    for (redis, processes) in [Some((String::new(), 1)), shared].into_iter().flatten() {
        let folder = TempDir::new().unwrap();
        let mut settings = vec![("PIDQ_UPLOAD_RATE_LIMIT", "6")];
        if !redis.is_empty() {
            settings.extend([("PIDQ_REDIS_URL", redis.as_str()), ("PIDQ_REDIS_TIMEOUT", "10s")]);
        }
        let url = databases::sqlite_url(&folder);
        let tenants = Tenants::start(&url, processes, LicenseLimits::default(), &settings).await;
        for process in &tenants.processes {
            process.wait_until_degraded(&[]).await;
        }
        let started = Instant::now();
        let flood = tenants.spawn_all(0, 60, |number| upload("a.txt", &format!("flood {number}")));
        let others = finished(tenants.spawn_all(1, 6, |number| upload("a.txt", &format!("other {number}")))).await;
        assert_eq!(count(&others, 202, (429, "rate-limited")), (6, 0), "within its own limit");
        let (accepted, refused) = count(&finished(flood).await, 202, (429, "rate-limited"));
        // A bucket of six gets a further upload every ten seconds.
        let refilled = usize::try_from(started.elapsed().as_secs() / 10).unwrap();
        assert!((6..=6 + refilled).contains(&accepted), "{accepted} accepted, {refused} refused, {refilled} refilled");
    }
}

/// The model answers no question of the first tenant, who asks as many as it may.
#[tokio::test(flavor = "multi_thread")]
async fn a_tenant_with_all_its_questions_pending_does_not_delay_the_other() {
    on_each_url(async |url| {
        let settings = [("PIDQ_ASK_RATE_LIMIT", "40"), ("PIDQ_ANSWER_STREAM_LIMIT", "8")];
        let tenants = Tenants::start(url, 1, LicenseLimits::default(), &settings).await;
        for tenant in [0, 1] {
            let stored =
                finished(tenants.spawn_all(tenant, 1, |_| upload("a.txt", "PSV-2015A is set at 38.5 barg."))).await;
            assert_eq!(stored[0].status, 202);
        }
        tenants.ingest().await;
        let (hanging, model) = (MockServer::always(vec![Step::Hang]).await, prompt_model().await);
        let pending = tenants.spawn_all(0, 50, |number| question(&hanging, number % 2 == 0));
        wait_until("the model has all its questions", || hanging.requests().len() >= 4 + 15).await;
        let free = tenants.processes[0].state.generation.answer_streams.available();
        assert_eq!(free, 4, "a tenant has half of the streams");
        let started = Instant::now();
        let answered = finished(tenants.spawn_all(1, 2, |number| question(&model, number == 0))).await;
        let uploaded = finished(tenants.spawn_all(1, 4, |number| upload("b.txt", &format!("other {number}")))).await;
        assert!(started.elapsed() < PROMPT, "{:?}", started.elapsed());
        assert!(answered.iter().all(|response| response.status == 200), "{answered:?}");
        assert_eq!(count(&uploaded, 202, (429, "rate-limited")), (4, 0));
        let refused = pending.iter().filter(|task| task.is_finished()).count();
        assert!(refused >= 10, "{refused} questions are refused at once");
        pending.into_iter().for_each(|task| task.abort());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn previews_of_a_tenant_do_not_keep_the_other_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let url = databases::sqlite_url(&folder);
    let tenants = Tenants::start(&url, 1, LicenseLimits::default(), &[]).await;
    let previews = &tenants.processes[0].state.ingestion.previews;
    let mut held = Vec::new();
    for caller in ["another", "a third one"] {
        held.push(previews.acquire(caller, PROMPT).await.expect("free"));
    }
    let flood = tenants.spawn_all(0, 40, |number| preview(&format!("flood {number}")));
    tokio::time::sleep(Duration::from_secs(1)).await;
    let other = tenants.spawn_all(1, 1, |_| preview("other"));
    tokio::time::sleep(Duration::from_secs(1)).await;
    // The previews run one after another.
    held.pop();
    assert_eq!(count(&finished(other).await, 200, (503, "unavailable")), (1, 0));
    let before = flood.iter().filter(|task| task.is_finished()).count();
    assert!(before < 20, "{before} of the other tenant were first");
    assert_eq!(count(&finished(flood).await, 200, (503, "unavailable")), (40, 0));
}

async fn wait_until(description: &str, condition: impl Fn() -> bool) {
    for _ in 0..600 {
        if condition() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("timeout: {description}");
}
