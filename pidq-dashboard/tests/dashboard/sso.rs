//! Single sign-on: from the sign-in page to the provider and back, and everything that can go wrong on the way.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use pidq_dashboard::{Dashboard, assets, open_local};
use pidq_http::auth::{Provider, ProviderSettings, TenantSource};
use pidq_http::{Secret, Service};
use serde_json::{Value, json};

use crate::api::{Answer, api, app, dashboard_with, identities, send, settings};
use crate::provider::{self, Signer};

const URL: &str = "http://127.0.0.1:3000";
const CLIENT: &str = "dashboard-at-provider";
const AUDIENCE: &str = "https://pidq.example";
const SESSION: &str = "__Host-pidq-session";
const ATTEMPT: &str = "__Host-pidq-sso";
const HOUR: Duration = Duration::from_secs(3600);

/// Provider, a dashboard whose API accepts its tokens, and one whose API does not.
struct Plant {
    idp: provider::Provider,
    signer: Signer,
    dashboard: Service<Dashboard>,
    stranger: Service<Dashboard>,
}

/// Sign-in that a browser has started: its cookie, and the request to the provider.
struct Started {
    cookie: String,
    request: BTreeMap<String, String>,
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs()
}

fn pairs(text: &str) -> BTreeMap<String, String> {
    form_urlencoded::parse(text.as_bytes()).into_owned().collect()
}

impl Plant {
    async fn new() -> Plant {
        let idp = provider::Provider::start().await;
        let signer = Signer::new("k1", "ES256", 0);
        idp.publish(&[signer.jwk()]);
        let verifier = ProviderSettings::rfc9068(&idp.issuer, AUDIENCE, TenantSource::Fixed("main".into()));
        let verifier = Provider::new(verifier).expect("valid settings");
        let accepting = app(Some(identities(HOUR).await.with_provider(verifier)));
        let arguments = [
            ["--sso-issuer", &idp.issuer],
            ["--dashboard-sso-client-id", CLIENT],
            ["--dashboard-url", URL],
            ["--dashboard-sso-name", "Plant ID"],
        ]
        .concat();
        let dashboard = dashboard_with(accepting.build(), "one", &arguments);
        let stranger = dashboard_with(api(HOUR).await.build(), "one", &arguments);
        Plant { idp, signer, dashboard, stranger }
    }

    async fn start(&self, return_to: &str) -> Started {
        let query = form_urlencoded::Serializer::new(String::new()).append_pair("return_to", return_to).finish();
        let answer = send(&self.dashboard, "GET", &format!("/session/sso?{query}"), &[], "").await;
        assert_eq!(answer.status, 303, "{:?}", answer.body);
        let request = answer.header("location").strip_prefix(&format!("{}/authorize?", self.idp.issuer));
        let request = pairs(request.expect("the provider"));
        Started { cookie: answer.cookie_of(ATTEMPT).expect("a cookie").0, request }
    }

    /// Returns the access token of the provider for a scope and an audience.
    fn access_token(&self, audience: &str, scope: &str) -> String {
        self.signer.token(&json!({
            "iss": self.idp.issuer, "aud": audience, "sub": "42", "client_id": CLIENT, "jti": "1",
            "iat": now(), "exp": now() + 300, "scope": scope,
        }))
    }

    /// Returns an ID token with one changed claim.
    fn id_token(&self, started: &Started, name: &str, value: Value) -> String {
        let mut claims = json!({
            "iss": self.idp.issuer, "aud": CLIENT, "sub": "42", "preferred_username": "ann@plant.example",
            "iat": now(), "exp": now() + 300, "nonce": started.request["nonce"],
        });
        claims[name] = value;
        let mut header = self.signer.header();
        header["typ"] = json!("JWT");
        self.signer.sign_token(&header.to_string(), &claims.to_string())
    }

    /// Sets the tokens that the provider issues.
    fn issue(&self, access_token: &str, id_token: &str, expires_in: u64) {
        self.idp.set_token_reply(
            200,
            json!({
                "access_token": access_token, "token_type": "Bearer", "expires_in": expires_in, "refresh_token": "r1",
                "id_token": id_token,
            }),
        );
    }

    fn issue_valid(&self, started: &Started, expires_in: u64) {
        let access_token = self.access_token(AUDIENCE, "openid read write");
        self.issue(&access_token, &self.id_token(started, "x", json!(1)), expires_in);
    }

    /// Signs in and returns the cookie of the session.
    async fn sign_in(&self, expires_in: u64) -> String {
        let started = self.start("/").await;
        self.issue_valid(&started, expires_in);
        let answer = call_back(&self.dashboard, &started.cookie, &started.reply()).await;
        answer.cookie_of(SESSION).expect("a session").0
    }
}

impl Started {
    /// Returns the query by which the provider sends the browser back.
    fn reply(&self) -> String {
        format!("state={}&code=c1", self.request["state"])
    }
}

async fn call_back(dashboard: &Service<Dashboard>, cookie: &str, query: &str) -> Answer {
    let headers = [("cookie", cookie), ("sec-fetch-site", "cross-site")];
    send(dashboard, "GET", &format!("/session/callback?{query}"), &headers, "").await
}

/// Checks that a failure ends on the sign-in page, without a session, and with the end of the sign-in.
fn assert_failed(answer: &Answer, location: &str, what: &str) {
    assert_eq!((answer.status, answer.header("location")), (303, location), "{what}");
    assert_eq!(answer.cookie_of(SESSION), None, "{what}");
    assert!(answer.body.is_empty(), "{what}");
}

fn assert_attempt_deleted(answer: &Answer, what: &str) {
    let (pair, attributes) = answer.cookie_of(ATTEMPT).unwrap_or_else(|| panic!("{what}: the cookie stays"));
    assert_eq!(pair, format!("{ATTEMPT}="), "{what}");
    assert!(attributes.starts_with("Max-Age=0; "), "{what}");
}

#[tokio::test]
async fn a_person_signs_in_at_the_provider_and_out() {
    let plant = Plant::new().await;
    let session = async |cookie: &str| send(&plant.dashboard, "GET", "/session", &[("cookie", cookie)], "").await;
    assert_eq!(session("").await.json()["methods"], json!({ "password": true, "sso": { "name": "Plant ID" } }));

    let started = plant.start("/drawings/7?node=P-101").await;
    assert_eq!(started.request["redirect_uri"], format!("{URL}/session/callback"));
    assert_eq!(started.request["scope"], "openid profile read write");
    plant.issue_valid(&started, 300);
    let answer = call_back(&plant.dashboard, &started.cookie, &started.reply()).await;
    assert_eq!((answer.status, answer.header("location")), (303, "/drawings/7?node=P-101"), "{:?}", answer.body);
    assert_attempt_deleted(&answer, "a sign-in");
    let (cookie, attributes) = answer.cookie_of(SESSION).expect("a session");
    assert_eq!(attributes, "Path=/; Secure; HttpOnly; SameSite=Lax");
    plant.idp.take_token_requests();

    let state = session(&cookie).await.json();
    assert_eq!((&state["signed_in"], &state["login"]), (&true.into(), &"ann@plant.example".into()));
    assert_eq!(send(&plant.dashboard, "GET", "/graph", &[("cookie", &cookie)], "").await.status, 200);

    let answer = send(&plant.dashboard, "DELETE", "/session", &[("cookie", &cookie)], "").await;
    assert_eq!((answer.status, &*answer.cookie_of(SESSION).expect("its end").0), (200, "__Host-pidq-session="));
    let url = answer.json()["end_session_url"].as_str().expect("a URL").to_owned();
    let query = pairs(url.strip_prefix(&format!("{}/logout?", plant.idp.issuer)).expect("the provider"));
    assert_eq!(query["post_logout_redirect_uri"], format!("{URL}/sign-in"));
    assert_eq!(query.len(), 2, "a URL contains no token: {url}");
    let revoked = plant.idp.take_token_requests();
    assert!(matches!(&*revoked, [request] if request.starts_with("POST /revoke ") && request.contains("token=r1")));
}

#[tokio::test]
async fn the_cookie_of_a_sign_in_lasts_for_minutes_and_reveals_nothing() {
    let plant = Plant::new().await;
    let answer = send(&plant.dashboard, "GET", "/session/sso", &[], "").await;
    let (cookie, attributes) = answer.cookie_of(ATTEMPT).expect("a cookie");
    assert_eq!(attributes, "Max-Age=600; Path=/; Secure; HttpOnly; SameSite=Lax");
    assert_eq!(answer.header("cache-control"), "no-store");
    let request = pairs(answer.header("location").split_once('?').expect("a query").1);
    assert!(!cookie.contains(&request["state"]) && !cookie.contains(&request["nonce"]));
    assert_eq!(send(&plant.dashboard, "GET", "/graph", &[("cookie", &cookie)], "").await.status, 401);
}

#[tokio::test]
async fn a_callback_belongs_to_one_sign_in_of_one_browser() {
    let plant = Plant::new().await;
    let (one, other) = (plant.start("/").await, plant.start("/").await);
    plant.issue_valid(&one, 300);
    let reply = one.reply();
    let twice = format!("{reply}&state={}", one.request["state"]);
    let as_session = one.cookie.replace(ATTEMPT, SESSION);
    let changed = format!("{}A", one.cookie);
    for (what, cookie, query) in [
        ("no cookie", "", &*reply),
        ("the cookie of another browser", &other.cookie, &reply),
        ("the reply to another browser", &one.cookie, &other.reply()),
        ("a changed cookie", &changed, &reply),
        ("the cookie as that of a session", &as_session, &reply),
        ("no parameters", &one.cookie, ""),
        ("two states", &one.cookie, &twice),
        ("a malformed query", &one.cookie, "state=%ff"),
    ] {
        let answer = call_back(&plant.dashboard, cookie, query).await;
        assert_failed(&answer, "/sign-in?error=sso-state", what);
        assert_attempt_deleted(&answer, what);
    }
    assert_eq!(plant.idp.take_token_requests(), [""; 0]);

    let answer = call_back(&plant.dashboard, &one.cookie, &reply).await;
    assert!(answer.cookie_of(SESSION).is_some());
    // The browser has no cookie of the sign-in any more; the code of a stolen one is of no use.
    assert_failed(&call_back(&plant.dashboard, "", &reply).await, "/sign-in?error=sso-state", "a replay");
    plant.idp.set_token_reply(400, r#"{"error": "invalid_grant"}"#);
    let replay = call_back(&plant.dashboard, &one.cookie, &reply).await;
    assert_failed(&replay, "/sign-in?error=sso-refused", "a replay with the cookie");
}

#[tokio::test]
async fn every_failure_ends_on_the_sign_in_page_with_its_code() {
    let plant = Plant::new().await;
    let valid = plant.access_token(AUDIENCE, "read");
    let other_api = plant.access_token("https://other.example", "read");
    let no_scope = plant.access_token(AUDIENCE, "openid");
    for (code, access_token, claim, parameters) in [
        ("sso-denied", &valid, ("x", json!(1)), "&error=access_denied"),
        ("sso-refused", &valid, ("x", json!(1)), "&error=temporarily_unavailable"),
        ("sso-invalid", &valid, ("x", json!(1)), "&iss=https://evil.example"),
        ("sso-invalid", &valid, ("nonce", json!("other")), ""),
        ("sso-invalid", &valid, ("aud", json!("other")), ""),
        ("sso-invalid", &valid, ("iss", json!("https://evil.example")), ""),
        ("sso-rejected", &other_api, ("x", json!(1)), ""),
        ("sso-rejected", &no_scope, ("x", json!(1)), ""),
        ("sso-rejected", &"opaque".to_owned(), ("x", json!(1)), ""),
        ("sso-too-large", &plant.access_token(AUDIENCE, &format!("read {}", "x".repeat(8000))), ("x", json!(1)), ""),
    ] {
        let started = plant.start("/query?q=1").await;
        plant.issue(access_token, &plant.id_token(&started, claim.0, claim.1), 300);
        let answer = call_back(&plant.dashboard, &started.cookie, &format!("{}{parameters}", started.reply())).await;
        assert_failed(&answer, &format!("/sign-in?error={code}&return_to=%2Fquery%3Fq%3D1"), code);
        assert_attempt_deleted(&answer, code);
        let requests = plant.idp.take_token_requests();
        let has_revoked = requests.iter().any(|request| request.starts_with("POST /revoke "));
        assert_eq!(has_revoked, ["sso-rejected", "sso-too-large"].contains(&code), "{code}");
    }
}

#[tokio::test]
async fn a_provider_that_does_not_respond_leaves_the_password() {
    let plant = Plant::new().await;
    plant.idp.set_unavailable(true);
    for _ in 0..2 {
        let answer = send(&plant.dashboard, "GET", "/session/sso?return_to=/query", &[], "").await;
        assert_failed(&answer, "/sign-in?error=sso-unavailable&return_to=%2Fquery", "no provider");
        assert_eq!(answer.cookie_of(ATTEMPT), None);
    }
    crate::api::sign_in(&plant.dashboard).await;
}

#[tokio::test]
async fn single_sign_on_that_is_off_says_so() {
    let dashboard = dashboard_with(api(HOUR).await.build(), "one", &[]);
    for path in ["/session/sso", "/session/callback?state=s&code=c"] {
        assert_failed(&send(&dashboard, "GET", path, &[], "").await, "/sign-in?error=sso-off", path);
    }
}

#[tokio::test]
async fn a_sign_in_never_returns_to_another_site() {
    let plant = Plant::new().await;
    for (return_to, expected) in [
        ("/documents/a/b?start=1&end=9", "/documents/a/b?start=1&end=9"),
        ("//evil.example", "/"),
        ("/\\evil.example", "/"),
        ("https://evil.example/", "/"),
        ("/\t/evil.example", "/"),
        ("/session/sso", "/"),
        ("", "/"),
    ] {
        let started = plant.start(return_to).await;
        plant.issue_valid(&started, 300);
        let answer = call_back(&plant.dashboard, &started.cookie, &started.reply()).await;
        assert_eq!((answer.status, answer.header("location")), (303, expected), "{return_to}");
    }
}

#[tokio::test]
async fn expired_tokens_are_refreshed_at_the_provider() {
    let plant = Plant::new().await;
    let cookie = plant.sign_in(1).await;
    plant.idp.take_token_requests();
    tokio::time::sleep(Duration::from_millis(1100)).await;
    plant.idp.set_token_reply(
        200,
        json!({
            "access_token": plant.access_token(AUDIENCE, "read"), "token_type": "Bearer", "expires_in": 1,
            "refresh_token": "r2",
        }),
    );
    let answer = send(&plant.dashboard, "GET", "/graph", &[("cookie", &cookie)], "").await;
    assert_eq!(answer.status, 200, "{:?}", answer.body);
    let requests = plant.idp.take_token_requests();
    assert!(matches!(&*requests, [request] if request.contains("grant_type=refresh_token&refresh_token=r1")));
    let cookie = answer.cookie_of(SESSION).expect("the new tokens").0;

    tokio::time::sleep(Duration::from_millis(1100)).await;
    plant.idp.set_token_reply(500, "");
    let answer = send(&plant.dashboard, "GET", "/graph", &[("cookie", &cookie)], "").await;
    assert_eq!((answer.status, answer.cookie_of(SESSION)), (503, None), "the session waits for the provider");
    plant.idp.set_token_reply(400, r#"{"error": "invalid_grant"}"#);
    let answer = send(&plant.dashboard, "GET", "/graph", &[("cookie", &cookie)], "").await;
    assert_eq!((answer.status, &*answer.cookie_of(SESSION).expect("its end").0), (401, "__Host-pidq-session="));
}

#[tokio::test]
async fn a_session_ends_when_the_api_no_longer_accepts_its_token() {
    let plant = Plant::new().await;
    let cookie = plant.sign_in(300).await;
    let answer = send(&plant.stranger, "GET", "/session", &[("cookie", &cookie)], "").await;
    assert_eq!(answer.json()["signed_in"], false);
    assert_eq!(answer.cookie_of(SESSION).expect("its end").0, "__Host-pidq-session=");
}

#[tokio::test]
async fn settings_that_cannot_work_are_rejected_at_the_start() {
    let service = api(HOUR).await.build();
    let client: &[&str] = &["--dashboard-sso-client-id", CLIENT];
    let url: &[&str] = &["--dashboard-url", URL];
    let issuer: &[&str] = &["--sso-issuer", "https://login.example"];
    for (arguments, expected) in [
        ([client, url, &[]], "requires `PIDQ_SSO_ISSUER`"),
        ([client, issuer, &[]], "requires `PIDQ_DASHBOARD_URL`"),
        ([client, url, &["--sso-issuer", "http://login.example"]], "must use `https:`"),
        ([&[client, url].concat(), issuer, &["--dashboard-sso-scopes", "read"]], "`openid` is required"),
        ([&[client, url].concat(), issuer, &["--sso-ca", "/missing.pem"]], "`/missing.pem`"),
    ] {
        let (_dir, settings) = settings(&arguments.concat());
        let files = assets(&settings).expect("a front end");
        let opened = open_local(&settings, files, service.clone(), None, &Secret::new("one"));
        let error = opened.err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains(expected), "{error}");
    }
}
