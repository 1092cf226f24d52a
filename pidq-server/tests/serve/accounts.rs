//! Tests of the endpoints of accounts and clients.

use pidq_http::auth::{GrantType, NewClient, Timestamp};
use serde_json::{Value, json};

use crate::fixtures::{PASSWORD, SECRET, TestClient, TestResponse, TestService};

/// Logs a user in with the password grant.
async fn login(service: &TestService, login: &str, password: &str) -> Option<String> {
    let form =
        format!("grant_type=password&username={login}&password={password}&client_id=desk-login&client_secret={SECRET}");
    let reply = service.anonymous().form("/o/token/", &form).await;
    reply.json()["access_token"].as_str().map(str::to_owned)
}

/// Returns a client with the token of a user with the role `admin`.
pub async fn administrator(service: &TestService) -> TestClient<'_> {
    let client = NewClient {
        id: Some("desk-login"),
        title: "",
        tenant: None,
        secret: Some(SECRET),
        grant_types: &[GrantType::Password],
        scopes: &["read", "write"],
    };
    service.identities.create_client(client, Timestamp::now()).await.expect("a client");
    service.bearer(&login(service, "ann@example.com", PASSWORD).await.expect("a token"))
}

async fn patch(client: &TestClient<'_>, path: &str, body: Value) -> TestResponse {
    client.send("PATCH", path, &["content-type: application/json"], body.to_string()).await
}

fn logins(list: &Value) -> Vec<&str> {
    list["accounts"].as_array().expect("a list").iter().filter_map(|account| account["login"].as_str()).collect()
}

#[tokio::test]
async fn an_administrator_manages_the_accounts_of_the_tenant() {
    let service = TestService::start().await;
    let admin = administrator(&service).await;
    let new = json!({"login": "Max@example.com", "role": "editor", "groups": ["process"]});
    let created = admin.post("/accounts", new.clone()).await.is(201).json();
    let password = created["password"].as_str().expect("a generated password").to_owned();
    let token = login(&service, "max@example.com", &password).await.expect("a token");
    admin.post("/accounts", new).await.expect_problem(409, "name-taken");
    let list = admin.get("/accounts").await.is(200).json();
    assert_eq!(logins(&list), ["ann@example.com", "max@example.com"], "not those of the other tenant");
    assert_eq!(list["accounts"][1]["groups"], json!(["process"]));
    assert_eq!(list["accounts"][1]["password"], Value::Null, "shown only once");
    let path = "/accounts/max@example.com";
    let changed = patch(&admin, path, json!({"role": "viewer", "groups": []})).await.is(200).json();
    assert_eq!((&changed["role"], &changed["groups"]), (&json!("viewer"), &json!([])));
    service.bearer(&token).get("/graph").await.expect_problem(401, "invalid-token");
    patch(&admin, path, json!({"disabled": true})).await.is(200);
    assert_eq!(login(&service, "max@example.com", &password).await, None);
    patch(&admin, path, json!({"disabled": false, "password": "another-password-1"})).await.is(200);
    assert!(login(&service, "max@example.com", "another-password-1").await.is_some());
    admin.delete(path).await.is(204);
    admin.delete(path).await.expect_problem(404, "account-not-found");
}

#[tokio::test]
async fn a_user_of_single_sign_on_has_no_password() {
    let service = TestService::start().await;
    let admin = administrator(&service).await;
    let user = json!({"login": "sam", "role": "viewer", "sso_only": true});
    assert_eq!(admin.post("/accounts", user).await.is(201).json()["password"], Value::Null);
    let user = json!({"login": "kim", "role": "viewer", "sso_only": true, "password": PASSWORD});
    admin.post("/accounts", user).await.expect_problem(422, "validation");
    patch(&admin, "/accounts/sam", json!({"password": PASSWORD})).await.expect_problem(422, "validation");
}

#[tokio::test]
async fn invalid_accounts_are_rejected_and_change_nothing() {
    let service = TestService::start().await;
    let admin = administrator(&service).await;
    for body in [
        json!({"login": "a b", "role": "viewer"}),
        json!({"login": "a", "role": "king"}),
        json!({"login": "a", "role": "viewer", "password": "short"}),
        json!({"login": "a", "role": "viewer", "groups": ["a b"]}),
    ] {
        admin.post("/accounts", body).await.expect_problem(422, "validation");
    }
    admin.post("/accounts", json!({"role": "viewer"})).await.expect_problem(400, "invalid-request");
    admin.post("/accounts", json!({"login": "max", "role": "viewer"})).await.is(201);
    for invalid in [
        json!({"role": "king", "groups": ["process"]}),
        json!({"password": "short", "groups": ["process"]}),
        json!({"role": "editor", "groups": ["a b"]}),
    ] {
        patch(&admin, "/accounts/max", invalid).await.expect_problem(422, "validation");
    }
    let list = admin.get("/accounts").await.json();
    assert_eq!((logins(&list), &list["accounts"][1]["groups"]), (vec!["ann@example.com", "max"], &json!([])));
    assert_eq!(list["accounts"][1]["role"], "viewer");
}

#[tokio::test]
async fn administrators_cannot_lock_themselves_out() {
    let service = TestService::start().await;
    let admin = administrator(&service).await;
    let own = "/accounts/ann@example.com";
    admin.delete(own).await.expect_problem(409, "own-account");
    patch(&admin, own, json!({"disabled": true})).await.expect_problem(409, "own-account");
    patch(&admin, own, json!({"role": "viewer"})).await.expect_problem(409, "own-account");
    patch(&admin, own, json!({"role": "admin", "groups": ["safety"]})).await.is(200);
}

#[tokio::test]
async fn an_administrator_manages_the_clients_of_the_tenant() {
    let service = TestService::start().await;
    let admin = administrator(&service).await;
    let new = json!({"id": "historian", "title": "Historian", "scopes": ["read"]});
    let created = admin.post("/clients", new.clone()).await.is(201).json();
    admin.post("/clients", new).await.expect_problem(409, "name-taken");
    admin.post("/clients", json!({"scopes": ["everything"]})).await.expect_problem(422, "validation");
    let form = |secret: &Value| {
        format!(
            "grant_type=client_credentials&client_id=historian&client_secret={}",
            secret.as_str().expect("a secret")
        )
    };
    let token = service.token_by(&form(&created["secret"])).await;
    service.bearer(&token).get("/graph").await.is(200);
    let list = admin.get("/clients").await.is(200).json();
    let row = |id: &str| list["clients"].as_array().expect("a list").iter().find(|client| client["id"] == id).cloned();
    assert_eq!(row("historian").expect("the client")["secret"], Value::Null, "shown only once");
    assert_eq!(row("desk-login").expect("the client")["shared"], true);
    assert_eq!(row("rival"), None, "not those of the other tenant");
    let rotated = admin.post("/clients/historian/rotate", json!({})).await.is(200).json();
    assert_ne!(rotated["secret"], created["secret"]);
    service.token_by(&form(&rotated["secret"])).await;
    patch(&admin, "/clients/historian", json!({"disabled": true})).await.is(200);
    service.bearer(&token).get("/graph").await.expect_problem(401, "invalid-token");
    admin.delete("/clients/historian").await.is(204);
    admin.delete("/clients/historian").await.expect_problem(404, "client-not-found");
    admin.delete("/clients/rival").await.expect_problem(404, "client-not-found");
    admin.delete("/clients/desk-login").await.expect_problem(403, "forbidden");
}

#[tokio::test]
async fn others_manage_nothing() {
    let service = TestService::start().await;
    for client in [service.client("desk").await, service.client("viewer").await] {
        client.get("/accounts").await.expect_problem(403, "forbidden");
        client.get("/clients").await.expect_problem(403, "forbidden");
    }
    let desk = service.client("desk").await;
    desk.post("/accounts", json!({"login": "max", "role": "admin"})).await.expect_problem(403, "forbidden");
    desk.delete("/accounts/ann@example.com").await.expect_problem(403, "forbidden");
    desk.delete("/clients/viewer").await.expect_problem(403, "forbidden");
    service.anonymous().get("/accounts").await.expect_problem(401, "unauthenticated");
}

#[tokio::test]
async fn a_viewer_changes_the_own_password() {
    let service = TestService::start().await;
    let admin = administrator(&service).await;
    let user = json!({"login": "vic", "role": "viewer", "groups": ["safety"], "password": PASSWORD});
    admin.post("/accounts", user).await.is(201);
    let (own, other) = (login(&service, "vic", PASSWORD).await, login(&service, "vic", PASSWORD).await);
    let (own, other) = (service.bearer(&own.expect("a token")), service.bearer(&other.expect("a token")));
    let account = own.get("/account").await.is(200).json();
    assert_eq!((&account["name"], &account["groups"]), (&json!("vic"), &json!(["safety"])));
    assert_eq!((&account["admin"], &account["has_password"]), (&json!(false), &json!(true)));

    let change = async |current: &str, new: &str| {
        own.put("/account/password", &json!({"current_password": current, "new_password": new}).to_string()).await
    };
    change("wrong", "red-valve-shut").await.expect_problem(403, "wrong-password");
    let short = change(PASSWORD, "short").await.expect_problem(422, "validation").json();
    assert_eq!(short["errors"][0]["pointer"], "/new_password");
    own.put("/account/password", r#"{"new_password": "red-valve-shut"}"#).await.expect_problem(400, "invalid-request");
    assert!(other.get("/graph").await.status == 200, "rejected changes end no session");

    change(PASSWORD, "red-valve-shut").await.is(204);
    own.get("/graph").await.is(200);
    other.get("/graph").await.expect_problem(401, "invalid-token");
    assert!(login(&service, "vic", "red-valve-shut").await.is_some());
    let wrong = [change("wrong", PASSWORD).await, change("wrong", PASSWORD).await, change("wrong", PASSWORD).await];
    let [.., throttled] = wrong;
    throttled.expect_problem(429, "rate-limited").header("retry-after").parse::<u64>().expect("seconds");
}

#[tokio::test]
async fn a_client_has_no_password_to_change() {
    let service = TestService::start().await;
    let desk = service.client("desk").await;
    let account = desk.get("/account").await.is(200).json();
    assert_eq!((&account["account"], &account["has_password"]), (&json!("client:desk"), &json!(false)));
    let body = json!({"current_password": PASSWORD, "new_password": "red-valve-shut"}).to_string();
    desk.put("/account/password", &body).await.expect_problem(409, "no-password");
    service.anonymous().get("/account").await.expect_problem(401, "unauthenticated");
}
