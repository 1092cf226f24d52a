//! Tests of access tokens: issuing, scopes, revocation and throttling.

use pidq_http::auth::{Identities, IdentityOptions, NewUser, Provider, ProviderSettings, TenantSource, Timestamp};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::databases;
use crate::platform::{MASTER, SECRET, TestPlatform, TestResponse};
use crate::provider::{self, Signer};

const FORM: &[(&str, &str)] = &[("content-type", "application/x-www-form-urlencoded")];
const WITH_MASTER_KEY: [(&str, &str); 2] = [("PIDQ_APP_MASTER_KEY", MASTER), ("PIDQ_APP_MASTER_SECRET", SECRET)];
const ANN: &str = "ann@plant.example";
const PASSWORD: &str = "blue valve, open";

impl TestPlatform {
    async fn post_form(&self, path: &str, form: &str) -> TestResponse {
        let form = format!("{form}&client_id={MASTER}&client_secret={SECRET}");
        self.send("POST", path, FORM, form).await
    }

    async fn request_token(&self, login: &str, password: &str, parameters: &str) -> TestResponse {
        let password = password.replace(' ', "+");
        self.post_form("/o/token/", &format!("grant_type=password&username={login}&password={password}{parameters}"))
            .await
    }

    async fn send_as(&self, token: &Value, method: &str, path: &str, body: &str) -> TestResponse {
        let bearer = format!("Bearer {}", token.as_str().unwrap_or_default());
        let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
        self.send(method, path, &headers, body).await
    }

    async fn create_pipeline(&self, token: &Value, name: &str) -> u16 {
        let body = json!({
            "name": name, "embedding_model": "hash-512", "text_splitter": "token", "classifications": ["a"],
        });
        self.send_as(token, "POST", "/api/pipelines", &body.to_string()).await.status
    }
}

#[tokio::test]
async fn the_master_key_gets_tokens_by_password_and_refresh() {
    let platform = TestPlatform::sqlite(&WITH_MASTER_KEY).await;
    let response = platform.request_token(MASTER, SECRET, "").await;
    let first = response.json();
    let fields: Vec<&String> = first.as_object().unwrap().keys().collect();
    assert_eq!(fields, ["access_token", "token_type", "expires_in", "refresh_token", "scope"]);
    assert_eq!((&first["token_type"], &first["scope"]), (&json!("Bearer"), &json!("read write")));
    assert_eq!((response.header("cache-control"), response.header("pragma")), ("no-store", "no-cache"));
    assert_eq!(
        platform.send_as(&first["access_token"], "GET", "/api/keys", "").await.status,
        200,
        "the token has full access"
    );
    let form = |token: &Value| format!("grant_type=refresh_token&refresh_token={}", token.as_str().unwrap());
    let second = platform.post_form("/o/token/", &form(&first["refresh_token"])).await.json();
    assert_eq!(platform.send_as(&second["access_token"], "GET", "/api/keys", "").await.status, 200);
    let repeated = platform.post_form("/o/token/", &form(&first["refresh_token"])).await.json();
    assert_eq!(repeated["access_token"], second["access_token"], "a response may have been lost");
    let third = platform.post_form("/o/token/", &form(&second["refresh_token"])).await.json();
    let reused = platform.post_form("/o/token/", &form(&first["refresh_token"])).await;
    assert_eq!((reused.status, &reused.json()["error"]), (400, &json!("invalid_grant")));
    let revoked = platform.send_as(&third["access_token"], "GET", "/api/keys", "").await;
    assert_eq!(revoked.status, 401, "reuse of a refresh token ends its family");
}

#[tokio::test]
async fn a_revoked_login_ends() {
    let platform = TestPlatform::sqlite(&WITH_MASTER_KEY).await;
    let tokens = platform.request_token(MASTER, SECRET, "").await.json();
    let form = format!("token={}", tokens["refresh_token"].as_str().unwrap());
    let revoked = platform.post_form("/o/revoke_token/", &form).await;
    assert_eq!((revoked.status, revoked.json()), (200, json!({})));
    assert_eq!(platform.send_as(&tokens["access_token"], "GET", "/api/pipelines", "").await.status, 401);
}

#[tokio::test]
async fn wrong_passwords_and_unknown_users_are_rejected_alike_and_throttled() {
    let platform = TestPlatform::sqlite(&WITH_MASTER_KEY).await;
    let wrong = platform.request_token(MASTER, "no such password", "").await;
    let unknown = platform.request_token("nobody@plant.example", "no such password", "").await;
    assert_eq!((wrong.status, &wrong.body), (400, &unknown.body));
    let mut rejected = wrong;
    for _ in 0..20 {
        rejected = platform.request_token(MASTER, "no such password", "").await;
    }
    assert_eq!((rejected.status, &rejected.json()["error"]), (429, &json!("temporarily_unavailable")));
    assert!(rejected.header("retry-after").parse::<u64>().is_ok());
}

#[tokio::test]
async fn clients_authenticate_by_form_or_basic() {
    let platform = TestPlatform::sqlite(&WITH_MASTER_KEY).await;
    let form = format!("grant_type=password&username={MASTER}&password={SECRET}");
    let unauthenticated = platform.send("POST", "/o/token/", FORM, form.clone()).await;
    assert_eq!((unauthenticated.status, &unauthenticated.json()["error"]), (401, &json!("invalid_client")));
    let basic = format!("Basic {}", base64(&format!("{MASTER}:{SECRET}")));
    let headers = [FORM[0], ("authorization", &*basic)];
    assert_eq!(platform.send("POST", "/o/token/", &headers, form).await.status, 200);
}

#[tokio::test]
async fn the_password_grant_can_be_disabled() {
    let platform =
        TestPlatform::sqlite(&[WITH_MASTER_KEY[0], WITH_MASTER_KEY[1], ("PIDQ_PASSWORD_GRANT", "off")]).await;
    let response = platform.request_token(MASTER, SECRET, "").await;
    assert_eq!((response.status, &response.json()["error"]), (400, &json!("unsupported_grant_type")));
    assert_eq!(platform.token(SECRET).await.status, 200);
}

#[tokio::test]
async fn permissions_follow_the_role_and_the_token_scopes() {
    let folder = TempDir::new().unwrap();
    let url = databases::sqlite_url(&folder);
    let database = databases::open(&url).await;
    let identities = Identities::open(database, IdentityOptions::at("https://pidq.example")).await.unwrap();
    for (login, tenant, role) in
        [(ANN, "main", "editor"), ("bob", "main", "viewer"), ("eve", "other", "admin"), ("zoe", "main", "admin")]
    {
        let user = NewUser { login, password: Some(PASSWORD), tenant, role, groups: &[], sso_only: false };
        identities.create_user(user, Timestamp::now()).await.unwrap();
    }
    let platform = TestPlatform::at(&url, &WITH_MASTER_KEY).await;
    let token = async |login: &str, parameters: &str| {
        platform.request_token(login, PASSWORD, parameters).await.json()["access_token"].clone()
    };
    let (editor, viewer, admin) = (token(ANN, "").await, token("bob", "").await, token("zoe", "").await);
    assert_eq!(platform.create_pipeline(&editor, "by an editor").await, 201);
    assert_eq!(platform.create_pipeline(&viewer, "by a viewer").await, 403);
    assert_eq!(platform.create_pipeline(&token(ANN, "&scope=read").await, "by a read scope").await, 403);
    for (token, pipelines, keys) in [(&editor, 200, 403), (&viewer, 200, 403), (&admin, 200, 200)] {
        assert_eq!(platform.send_as(token, "GET", "/api/pipelines", "").await.status, pipelines);
        assert_eq!(platform.send_as(token, "GET", "/api/keys", "").await.status, keys);
    }
    let stranger = platform.request_token("eve", PASSWORD, "").await;
    assert_eq!(
        (stranger.status, &stranger.json()["error"]),
        (400, &json!("invalid_grant")),
        "a user of another tenant"
    );
    let audited = platform.send_as(&admin, "GET", "/api/audit?action=pipeline.create&result=done", "").await.json();
    assert!(audited["data"][0]["actor"].as_str().unwrap().starts_with("user:u_"), "{audited}");
}

#[tokio::test]
async fn only_the_master_key_manages_keys() {
    use pidq_http::auth::{GrantType, NewClient};
    let folder = TempDir::new().unwrap();
    let url = databases::sqlite_url(&folder);
    let database = databases::open(&url).await;
    let identities = Identities::open(database, IdentityOptions::at("https://pidq.example")).await.unwrap();
    for (id, tenant) in [("desk", "main"), ("elsewhere", "other")] {
        let client = NewClient {
            id: Some(id),
            title: id,
            tenant: Some(tenant),
            secret: Some(SECRET),
            grant_types: &[GrantType::ClientCredentials],
            scopes: &["read", "write"],
        };
        identities.create_client(client, Timestamp::now()).await.unwrap();
    }
    let platform = TestPlatform::at(&url, &WITH_MASTER_KEY).await;
    let token = async |id: &str| {
        let form = format!("grant_type=client_credentials&client_id={id}&client_secret={SECRET}");
        platform.send("POST", "/o/token/", FORM, form).await.json()["access_token"].clone()
    };
    let desk = token("desk").await;
    assert_eq!(platform.create_pipeline(&desk, "by a desk").await, 201);
    assert_eq!(platform.send_as(&desk, "GET", "/api/keys", "").await.status, 403);
    assert_eq!(platform.send_as(&token("elsewhere").await, "GET", "/api/pipelines", "").await.status, 401);
    let basic = format!("Basic {}", base64(&format!("desk:{SECRET}")));
    assert_eq!(platform.send("GET", "/api/keys", &[("authorization", &*basic)], "").await.status, 401);
}

fn base64(text: &str) -> String {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.encode(text)
}

#[tokio::test]
async fn a_token_of_an_identity_provider_grants_its_scopes_in_the_tenant_of_the_platform() {
    let (idp, signer) = (provider::Provider::start().await, Signer::new("k1", "ES256", 0));
    idp.publish(&[signer.jwk()]);
    let settings = ProviderSettings::rfc9068(&idp.issuer, "https://pidq.example", TenantSource::Claim("plant".into()));
    let (folder, provider) = (TempDir::new().unwrap(), Provider::new(settings).unwrap());
    let url = databases::sqlite_url(&folder);
    let platform = TestPlatform::open_with_accounts(&url, Some(folder), &WITH_MASTER_KEY, Some(provider), None).await;
    let now = Timestamp::now().seconds();
    for (scope, plant, read, write) in [
        ("read", "main", 200, 403),
        ("read write", "main", 200, 201),
        ("openid", "main", 403, 403),
        ("read write", "other", 401, 401),
    ] {
        let token = json!(signer.token(&json!({
            "iss": idp.issuer, "aud": "https://pidq.example", "sub": "42", "client_id": "dashboard", "jti": "1",
            "iat": now, "exp": now + 300, "scope": scope, "plant": plant,
        })));
        assert_eq!(platform.send_as(&token, "GET", "/api/pipelines", "").await.status, read, "{scope} {plant}");
        assert_eq!(platform.create_pipeline(&token, scope).await, write, "{scope} {plant}");
    }
}
