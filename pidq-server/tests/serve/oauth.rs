//! Tests of `/o/…` as seen by OAuth client libraries. The logic is tested in pidq-http.

use serde_json::json;

use crate::fixtures::{Answer, FORM, PASSWORD, SECRET, TestService};

fn client() -> String {
    format!("client_id=desk&client_secret={SECRET}")
}

fn password(word: &str) -> String {
    format!("grant_type=password&username=ann@example.com&password={word}&{}", client())
}

#[track_caller]
fn refused(answer: Answer, status: u16, error: &str) -> Answer {
    let answer = answer.is(status);
    assert_eq!(answer.json()["error"], error, "{}", answer.text());
    assert_eq!((answer.header("content-type"), answer.header("cache-control")), ("application/json", "no-store"));
    answer
}

#[tokio::test]
async fn a_token_comes_in_the_order_of_the_contract() {
    let service = TestService::start().await;
    for path in ["/o/token/", "/o/token"] {
        let answer = service.anonymous().form(path, &password(PASSWORD)).await.is(200);
        let body = answer.json();
        let names: Vec<_> = body.as_object().expect("an object").keys().cloned().collect();
        assert_eq!(names, ["access_token", "token_type", "expires_in", "refresh_token", "scope"]);
        assert_eq!(
            (&body["token_type"], &body["expires_in"], &body["scope"]),
            (&json!("Bearer"), &json!(3600), &json!("read write"))
        );
        assert_eq!((answer.header("cache-control"), answer.header("pragma")), ("no-store", "no-cache"));
        assert_eq!(answer.header("content-encoding"), "");
        let token = body["access_token"].as_str().expect("a token");
        assert!(token.starts_with("pidq_at_"));
        service.bearer(token).get("/graph").await.is(200);
    }
}

#[tokio::test]
async fn errors_follow_rfc_6749() {
    let service = TestService::start().await;
    let anonymous = service.anonymous();
    let token = async |form: &str| anonymous.form("/o/token/", form).await;
    refused(token(&password("wrong")).await, 400, "invalid_grant");
    refused(token(&format!("grant_type=code&{}", client())).await, 400, "unsupported_grant_type");
    refused(token(&format!("grant_type=client_credentials&scope=all&{}", client())).await, 400, "invalid_scope");
    refused(token(&client()).await, 400, "invalid_request");
    let unknown = refused(
        token("grant_type=password&username=a&password=b&client_id=x&client_secret=y").await,
        401,
        "invalid_client",
    );
    assert_eq!(unknown.header("www-authenticate"), "");
    refused(token("").await, 400, "invalid_request");
    let large = format!("{}&x={}", password(PASSWORD), "x".repeat(16 << 10));
    assert!([400, 413].contains(&token(&large).await.status));
    let json = anonymous.post("/o/token/", json!({"grant_type": "password"})).await;
    refused(json, 400, "invalid_request");
    let in_url = format!("/o/token/?{}", password(PASSWORD));
    refused(anonymous.form(&in_url, "").await, 400, "invalid_request");
    let get = anonymous.get("/o/token/").await.is(405);
    assert!(get.header("allow").contains("POST"));
}

#[tokio::test]
async fn basic_is_answered_by_basic() {
    let service = TestService::start().await;
    let media = format!("content-type: {FORM}");
    let send = async |header: &str| {
        service.anonymous().send("POST", "/o/token/", &[&media, header], "grant_type=client_credentials").await
    };
    // desk:wrong
    let wrong = refused(send("authorization: Basic ZGVzazp3cm9uZw==").await, 401, "invalid_client");
    assert!(wrong.header("www-authenticate").starts_with("Basic realm=\"pidq\""));
}

#[tokio::test]
async fn a_token_that_was_taken_back_is_worth_nothing_at_once() {
    let service = TestService::start().await;
    let anonymous = service.anonymous();
    let tokens = anonymous.form("/o/token/", &password(PASSWORD)).await.is(200).json();
    let (access, refresh) =
        (tokens["access_token"].as_str().expect("one"), tokens["refresh_token"].as_str().expect("one"));
    let about =
        async |path: &str, token: &str| anonymous.form(path, &format!("token={token}&{}", client())).await.is(200);
    let facts = about("/o/introspect/", access).await.json();
    assert_eq!(
        (&facts["active"], &facts["client_id"], &facts["iss"]),
        (&json!(true), &json!("desk"), &json!("https://pidq.example"))
    );
    let revoked = about("/o/revoke_token/", access).await;
    assert_eq!((revoked.text().as_str(), revoked.header("content-type")), ("{}", "application/json"));
    assert_eq!(about("/o/introspect/", access).await.json(), json!({"active": false}));
    assert_eq!(about("/o/introspect/", refresh).await.json(), json!({"active": false}));
    service.bearer(access).get("/graph").await.refuses(401, "invalid-token");
    let refresh = format!("grant_type=refresh_token&refresh_token={refresh}&{}", client());
    refused(anonymous.form("/o/token/", &refresh).await, 400, "invalid_grant");
}

#[tokio::test]
async fn a_client_finds_out_where_to_ask() {
    let service = TestService::start().await;
    let server = service.anonymous().get("/.well-known/oauth-authorization-server").await.is(200).json();
    assert_eq!(server["issuer"], "https://pidq.example");
    assert_eq!(server["token_endpoint"], "https://pidq.example/o/token/");
    assert_eq!(server["revocation_endpoint"], "https://pidq.example/o/revoke_token/");
    assert_eq!(server["introspection_endpoint"], "https://pidq.example/o/introspect/");
    assert_eq!(server["response_types_supported"], json!([]));
    let resource = service.anonymous().get("/.well-known/oauth-protected-resource").await.is(200).json();
    assert_eq!(resource["resource"], "https://pidq.example");
    assert_eq!(resource["authorization_servers"], json!(["https://pidq.example"]));
    assert_eq!(resource["bearer_methods_supported"], json!(["header"]));
}

#[tokio::test]
async fn a_service_without_accounts_goes_by_its_own_names() {
    let service = TestService::with(&[("PIDQ_AUTH", "off")]).await;
    let status = async |host: &str| {
        let request = hyper::Request::get("/graph").header("host", host).body(Default::default()).expect("a request");
        service.service.call(request).await.status().as_u16()
    };
    // The public URL in these tests is `https://pidq.example`.
    for host in
        ["localhost", "LOCALHOST:8080", "a.localhost", "127.0.0.1:8080", "127.1.2.3", "[::1]:8080", "Pidq.Example"]
    {
        assert_eq!(status(host).await, 200, "{host}");
    }
    for host in ["evil.example", "evil.example:8080", "localhost.evil.example", "192.0.2.1", "127.0.0.1.evil.example"] {
        assert_eq!(status(host).await, 400, "{host}");
    }
}

#[tokio::test]
async fn a_service_without_accounts_lets_everybody_in_and_gives_no_tokens() {
    let service = TestService::with(&[("PIDQ_AUTH", "off")]).await;
    let anonymous = service.anonymous();
    anonymous.put("/graph/J-1", crate::fixtures::DRAWING).await.is(201);
    assert_eq!(anonymous.query("J-1", "1 + 1").await.result(), json!([2]));
    service.bearer("anything").get("/graph/J-1").await.is(200);
    anonymous.form("/o/token/", &password(PASSWORD)).await.is(404);
}
