//! Tests of `/o/…` as seen by OAuth client libraries. The logic is tested in pidq-http.

use serde_json::json;

use crate::fixtures::{FORM, PASSWORD, SECRET, TestResponse, TestService};

fn client() -> String {
    format!("client_id=desk&client_secret={SECRET}")
}

fn password(value: &str) -> String {
    format!("grant_type=password&username=ann@example.com&password={value}&{}", client())
}

#[track_caller]
fn check_oauth_error(response: TestResponse, status: u16, error: &str) -> TestResponse {
    let response = response.is(status);
    assert_eq!(response.json()["error"], error, "{}", response.text());
    assert_eq!((response.header("content-type"), response.header("cache-control")), ("application/json", "no-store"));
    response
}

#[tokio::test]
async fn token_fields_are_in_the_specified_order() {
    let service = TestService::start().await;
    for path in ["/o/token/", "/o/token"] {
        let response = service.anonymous().form(path, &password(PASSWORD)).await.is(200);
        let body = response.json();
        let names: Vec<_> = body.as_object().expect("an object").keys().cloned().collect();
        assert_eq!(names, ["access_token", "token_type", "expires_in", "refresh_token", "scope"]);
        assert_eq!(
            (&body["token_type"], &body["expires_in"], &body["scope"]),
            (&json!("Bearer"), &json!(3600), &json!("read write"))
        );
        assert_eq!((response.header("cache-control"), response.header("pragma")), ("no-store", "no-cache"));
        assert_eq!(response.header("content-encoding"), "");
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
    check_oauth_error(token(&password("wrong")).await, 400, "invalid_grant");
    check_oauth_error(token(&format!("grant_type=code&{}", client())).await, 400, "unsupported_grant_type");
    check_oauth_error(
        token(&format!("grant_type=client_credentials&scope=all&{}", client())).await,
        400,
        "invalid_scope",
    );
    check_oauth_error(token(&client()).await, 400, "invalid_request");
    let unknown = check_oauth_error(
        token("grant_type=password&username=a&password=b&client_id=x&client_secret=y").await,
        401,
        "invalid_client",
    );
    assert_eq!(unknown.header("www-authenticate"), "");
    check_oauth_error(token("").await, 400, "invalid_request");
    let large = format!("{}&x={}", password(PASSWORD), "x".repeat(16 << 10));
    assert!([400, 413].contains(&token(&large).await.status));
    let json = anonymous.post("/o/token/", json!({"grant_type": "password"})).await;
    check_oauth_error(json, 400, "invalid_request");
    let in_url = format!("/o/token/?{}", password(PASSWORD));
    check_oauth_error(anonymous.form(&in_url, "").await, 400, "invalid_request");
    let get = anonymous.get("/o/token/").await.is(405);
    assert!(get.header("allow").contains("POST"));
}

#[tokio::test]
async fn basic_authentication_is_challenged_with_basic() {
    let service = TestService::start().await;
    let media = format!("content-type: {FORM}");
    let send = async |header: &str| {
        service.anonymous().send("POST", "/o/token/", &[&media, header], "grant_type=client_credentials").await
    };
    // desk:wrong
    let wrong = check_oauth_error(send("authorization: Basic ZGVzazp3cm9uZw==").await, 401, "invalid_client");
    assert!(wrong.header("www-authenticate").starts_with("Basic realm=\"pidq\""));
}

#[tokio::test]
async fn a_revoked_token_is_invalid_immediately() {
    let service = TestService::start().await;
    let anonymous = service.anonymous();
    let tokens = anonymous.form("/o/token/", &password(PASSWORD)).await.is(200).json();
    let (access, refresh) =
        (tokens["access_token"].as_str().expect("one"), tokens["refresh_token"].as_str().expect("one"));
    let post_token =
        async |path: &str, token: &str| anonymous.form(path, &format!("token={token}&{}", client())).await.is(200);
    let introspected = post_token("/o/introspect/", access).await.json();
    assert_eq!(
        (&introspected["active"], &introspected["client_id"], &introspected["iss"]),
        (&json!(true), &json!("desk"), &json!("https://pidq.example"))
    );
    let revoked = post_token("/o/revoke_token/", access).await;
    assert_eq!((revoked.text().as_str(), revoked.header("content-type")), ("{}", "application/json"));
    assert_eq!(post_token("/o/introspect/", access).await.json(), json!({"active": false}));
    assert_eq!(post_token("/o/introspect/", refresh).await.json(), json!({"active": false}));
    service.bearer(access).get("/graph").await.expect_problem(401, "invalid-token");
    let refresh = format!("grant_type=refresh_token&refresh_token={refresh}&{}", client());
    check_oauth_error(anonymous.form("/o/token/", &refresh).await, 400, "invalid_grant");
}

#[tokio::test]
async fn metadata_documents_list_the_endpoints() {
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
async fn a_service_without_accounts_accepts_only_its_own_host_names() {
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
async fn a_service_without_accounts_needs_no_token_and_issues_none() {
    let service = TestService::with(&[("PIDQ_AUTH", "off")]).await;
    let anonymous = service.anonymous();
    anonymous.put("/graph/J-1", crate::fixtures::DRAWING).await.is(201);
    assert_eq!(anonymous.query("J-1", "1 + 1").await.result(), json!([2]));
    service.bearer("anything").get("/graph/J-1").await.is(200);
    anonymous.form("/o/token/", &password(PASSWORD)).await.is(404);
}
