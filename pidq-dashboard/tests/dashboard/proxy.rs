//! Requests that the dashboard forwards to an API in the same process.

use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use http_body_util::BodyExt;
use pidq_http::{Bytes, RequestBody};

use crate::api::{api, app, dashboard, send, sign_in};

const HOUR: Duration = Duration::from_secs(3600);

#[tokio::test]
async fn only_the_paths_of_the_api_that_need_no_token_are_open() {
    let dashboard = dashboard(api(HOUR).await);
    for path in ["/graph", "/graph/plant", "/graph/plant/versions", "/api", "/api/pipelines", "/api/events"] {
        let answer = send(&dashboard, "GET", path, &[], "").await;
        assert_eq!((answer.status, answer.json()["code"].as_str()), (401, Some("unauthenticated")), "{path}");
    }
    for path in ["/openapi.json", "/docs", "/problems", "/problems/not-found", "/version", "/readyz"] {
        assert_eq!(send(&dashboard, "GET", path, &[], "").await.status, 200, "{path}");
    }
    for path in ["/o/token/", "/metrics", "/.well-known/oauth-authorization-server"] {
        let answer = send(&dashboard, "GET", path, &[], "").await;
        assert!(answer.status == 404 || answer.body == "<!doctype html>", "{path}: the API is not reached");
    }
}

#[tokio::test]
async fn the_token_replaces_the_cookie_and_headers_of_the_connection_stay() {
    let dashboard = dashboard(api(HOUR).await);
    let cookie = sign_in(&dashboard).await;
    let headers = [
        ("cookie", &*cookie),
        ("authorization", "Bearer of-the-browser"),
        ("x-forwarded-for", "203.0.113.9"),
        ("connection", "keep-alive, x-hop"),
        ("x-hop", "1"),
        ("x-request-id", "r-1"),
        ("accept-language", "de"),
    ];
    let answer = send(&dashboard, "GET", "/graph", &headers, "").await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.cookie(), None, "cookies of the API are not passed");
    let seen = answer.json();
    let names: Vec<&str> = seen["headers"].as_object().expect("headers").keys().map(String::as_str).collect();
    assert_eq!(names, ["accept-language", "authorization", "host", "sec-fetch-site", "x-request-id"]);
    let token = seen["headers"]["authorization"].as_str().expect("a token");
    assert!(token.starts_with("Bearer pidq_at_"), "{token}");
    assert!(!cookie.contains(&token[7..]), "the cookie does not show the token");
    assert_eq!((&seen["headers"]["host"], &seen["client"]), (&"127.0.0.1:3000".into(), &"127.0.0.1".into()));
}

#[tokio::test]
async fn codings_validators_and_problems_of_the_api_pass_unchanged() {
    let dashboard = dashboard(api(HOUR).await);
    let cookie = sign_in(&dashboard).await;
    let get = async |method, path, extra: &[(&str, &str)]| {
        send(&dashboard, method, path, &[&[("cookie", &*cookie)], extra].concat(), "").await
    };
    let gzip = get("GET", "/graph/7", &[("accept-encoding", "gzip")]).await;
    assert_eq!((gzip.header("content-encoding"), gzip.header("etag")), ("gzip", "\"7-gzip\""));
    assert!(gzip.body.starts_with(&[0x1f, 0x8b]), "compressed once");
    assert_eq!(get("GET", "/graph/7", &[("if-none-match", "\"7-gzip\"")]).await.status, 304);
    let head = get("HEAD", "/graph/7", &[]).await;
    assert_eq!((head.status, head.header("content-length"), head.body.len()), (200, "4500", 0));
    assert_eq!(head.header("content-security-policy"), "default-src 'none'; frame-ancestors 'none'; sandbox");
    let missing = get("GET", "/api/nothing", &[]).await;
    assert_eq!(
        (missing.status, missing.json()["instance"].as_str().expect("text").starts_with("/api/nothing#")),
        (404, true)
    );
    assert_eq!(get("DELETE", "/graph/7", &[]).await.status, 405);
}

#[tokio::test]
async fn large_bodies_are_forwarded() {
    let dashboard = dashboard(api(HOUR).await);
    let cookie = sign_in(&dashboard).await;
    let body = Bytes::from(vec![7; 20 << 20]);
    let headers = [("cookie", &*cookie), ("content-type", "application/octet-stream")];
    let answer = send(&dashboard, "PUT", "/graph/7", &headers, body).await;
    assert_eq!((answer.status, &*answer.body), (200, &b"20971520"[..]));
}

#[tokio::test]
async fn events_arrive_at_once_and_the_api_notices_that_the_browser_left() {
    let app = api(HOUR).await;
    let state = app.state.clone();
    let dashboard = dashboard(app);
    let cookie = sign_in(&dashboard).await;
    let request = hyper::Request::get("/api/events").header("host", "127.0.0.1:3000").header("cookie", cookie);
    let mut response = dashboard.call(request.body(Bytes::new()).expect("a request")).await;
    let frame = response.body_mut().frame().await.expect("a frame").expect("it is complete");
    assert_eq!(frame.into_data().ok().as_deref(), Some(&b"event: first\ndata: 1\n\n"[..]), "before the stream ends");
    assert!(!state.has_left.load(SeqCst));
    drop(response);
    tokio::time::timeout(Duration::from_secs(5), async {
        while !state.has_left.load(SeqCst) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await
    .expect("the API notices");
}

#[tokio::test]
async fn without_accounts_everyone_on_this_machine_is_signed_in() {
    let dashboard = dashboard(app(None));
    let session = send(&dashboard, "GET", "/session", &[], "").await.json();
    assert_eq!((&session["signed_in"], &session["login"], &session["auth"]), (&true.into(), &().into(), &"off".into()));
    assert_eq!(session["methods"]["password"], false);
    assert_eq!(send(&dashboard, "GET", "/graph", &[], "").await.status, 200);
    for path in ["/session", "/graph"] {
        let rebound = send(&dashboard, "GET", path, &[("host", "evil.example:3000")], "").await;
        assert_eq!(rebound.status, 400, "{path}: protection against DNS rebinding");
        let request = hyper::Request::get(path).header("host", "127.0.0.1:3000").body(RequestBody::from(Bytes::new()));
        let other_machine = "192.0.2.1".parse().expect("an address");
        let response = dashboard.forward(request.expect("a request"), other_machine, true).await;
        assert_eq!(response.status(), 403, "{path}: another machine");
    }
}
