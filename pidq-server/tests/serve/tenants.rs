//! Tenants and grants: what somebody may not see does not exist for them, byte for byte.

use pidq_http::auth::{Grant, Moment, Right};
use serde_json::json;

use crate::service::{Answer, Asker, DRAWING, Service, drawing};

/// Asks everything about a job.
async fn everything(asker: &Asker<'_>, job: &str) -> Vec<Answer> {
    let path = format!("/graph/{job}");
    let json = "content-type: application/json";
    vec![
        asker.get(&path).await,
        asker.send("HEAD", &path, &[], "").await,
        asker.get(&format!("{path}?format=svg")).await,
        asker.send("GET", &path, &["x-change-version: 1"], "").await,
        asker.send("GET", &path, &["x-change-version: 7"], "").await,
        asker.send("GET", &path, &["if-none-match: *"], "").await,
        asker.get(&format!("{path}/versions")).await,
        asker.ask(job, "get()").await,
        asker.send("POST", &path, &[json], "{").await,
        asker.send("POST", &path, &[json, "x-change-version: 7"], r#"{"query":"get()"}"#).await,
        asker.delete(&path).await,
        asker.send("DELETE", &path, &["if-match: *"], "").await,
        asker.send("DELETE", &path, &["if-match: \"x\""], "").await,
        asker.post("/graph", json!({"query": "get()", "jobs": {"ids": [job]}})).await,
        asker.post("/graph", json!({"query": "get()", "jobs": {"prefix": job}})).await,
        asker.get(&format!("/graph?prefix={job}")).await,
    ]
}

/// All of an answer but the name of the job and the time.
fn seen(answer: &Answer, job: &str) -> (u16, Vec<(String, String)>, String) {
    let headers = answer.headers.iter().map(|(name, value)| (name.to_string(), value.to_str().expect("ASCII").into()));
    (answer.status, headers.collect(), answer.text().replace(job, "JOB"))
}

async fn check_unseen(asker: &Asker<'_>, hidden: &str, absent: &str) {
    let pairs = everything(asker, hidden).await.into_iter().zip(everything(asker, absent).await);
    for (at, (hidden_answer, absent_answer)) in pairs.enumerate() {
        assert_eq!(seen(&hidden_answer, hidden), seen(&absent_answer, absent), "question {at}");
    }
}

#[tokio::test]
async fn the_jobs_of_another_tenant_do_not_exist() {
    let service = Service::start().await;
    let (desk, rival) = (service.client("desk").await, service.client("rival").await);
    desk.put("/graph/J-1", DRAWING).await.is(201);
    desk.put("/graph/J-1", &drawing("A")).await.is(200);
    check_unseen(&rival, "J-1", "J-2").await;
    assert_eq!(desk.get("/graph/J-1").await.is(200).header("x-change-version"), "2");
}

#[tokio::test]
async fn the_same_name_is_another_job_in_another_tenant() {
    let service = Service::start().await;
    let (desk, rival) = (service.client("desk").await, service.client("rival").await);
    desk.put("/graph/J-1", &drawing("ours")).await.is(201);
    rival.put("/graph/J-1", &drawing("theirs")).await.is(201);
    assert_eq!(desk.ask("J-1", ".pid_graph.nodes | map(.id)").await.result(), json!(["ours"]));
    assert_eq!(rival.ask("J-1", ".pid_graph.nodes | map(.id)").await.result(), json!(["theirs"]));
    rival.delete("/graph/J-1").await.is(204);
    desk.get("/graph/J-1").await.is(200);
}

#[tokio::test]
async fn without_a_grant_there_is_nothing_where_nothing_is_the_default() {
    // Grants are given by another process here: nothing is believed, so that they count at once.
    let service = Service::with(&[("PIDQ_DEFAULT_ACCESS", "none"), ("PIDQ_TOKEN_CACHE", "0s")]).await;
    let (desk, viewer) = (service.client("desk").await, service.client("viewer").await);
    desk.put("/graph/J-1", DRAWING).await.is(201);
    check_unseen(&viewer, "J-1", "J-2").await;
    let grant = Grant { pattern: "J-*".into(), subject: "client:viewer".into(), right: Right::Read, is_creator: false };
    service.identities.grant("main", &grant, Moment::now()).await.expect("a grant");
    viewer.get("/graph/J-1").await.is(200);
    assert_eq!(viewer.get("/graph").await.json()["graphs"].as_array().map(Vec::len), Some(1));
    service.identities.ungrant("main", "J-*", "client:viewer").await.expect("taken back");
    viewer.get("/graph/J-1").await.refuses(404, "graph-not-found");
}

#[tokio::test]
async fn who_made_a_job_may_write_it_and_others_may_not() {
    let service = Service::start().await;
    let (desk, pen) = (service.client("desk").await, service.client("pen").await);
    desk.put("/graph/J-1", DRAWING).await.is(201);
    pen.put("/graph/J-1", &drawing("A")).await.refuses(404, "graph-not-found");
    pen.delete("/graph/J-1").await.refuses(404, "graph-not-found");
    pen.put("/graph/J-2", &drawing("A")).await.is(201);
    desk.put("/graph/J-2", &drawing("B")).await.refuses(404, "graph-not-found");
    desk.get("/graph/J-2").await.is(200);
}

#[tokio::test]
async fn what_was_refused_makes_a_job_nobodys() {
    let service = Service::start().await;
    let (desk, pen) = (service.client("desk").await, service.client("pen").await);
    let json = "content-type: application/json";
    pen.put("/graph/J-1", "{").await.refuses(400, "malformed-json");
    pen.put("/graph/J-1", "{}").await.refuses(422, "invalid-graph");
    pen.send("PUT", "/graph/J-1", &[json, "if-match: *"], DRAWING).await.refuses(412, "precondition-failed");
    pen.send("PUT", "/graph/J-1", &["content-type: text/plain"], DRAWING).await.refuses(415, "unsupported-media-type");
    pen.delete("/graph/J-1").await.refuses(404, "graph-not-found");
    desk.put("/graph/J-1", DRAWING).await.is(201);
    pen.put("/graph/J-1", DRAWING).await.refuses(404, "graph-not-found");
}

#[tokio::test]
async fn an_administrator_of_a_tenant_rules_that_tenant_only() {
    let service = Service::start().await;
    service.client("desk").await.put("/graph/J-1", DRAWING).await.is(201);
    service.client("rival").await.put("/graph/J-9", DRAWING).await.is(201);
    let (password, secret) = (crate::service::PASSWORD, crate::service::SECRET);
    let form = format!(
        "grant_type=password&username=ann@example.com&password={password}&client_id=desk&client_secret={secret}"
    );
    let token = service.token_by(&form).await;
    let admin = service.bearer(&token);
    admin.put("/graph/J-1", &drawing("A")).await.is(200);
    check_unseen(&admin, "J-9", "J-8").await;
}
