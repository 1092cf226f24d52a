//! Test fixture: a service with one user and one client, and a controllable clock.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use pidq_http::auth::{
    Caller, GrantType, HashCost, Identities, IdentityOptions, NewClient, NewUser, OAuthReply, OAuthRequest, Timestamp,
    introspection_endpoint, revocation_endpoint, token_endpoint,
};
use pidq_http::database::Database;
use serde_json::Value;

use crate::databases::on_each;

pub const LOGIN: &str = "engineer@example.com";
pub const PASSWORD: &str = "blue valve, open";
pub const CLIENT: &str = "desk";
pub const SECRET: &str = "pidq_cs_0123456789abcdefghijklmnopqrstuvwxyzABC";
pub const FORM: &str = "application/x-www-form-urlencoded";
pub const HOME: &str = "192.0.2.1";

pub const PASSWORD_FORM: &str = "grant_type=password&username=engineer%40example.com&password=blue+valve%2C+open";
pub const CLIENT_FORM: &str = "client_id=desk&client_secret=pidq_cs_0123456789abcdefghijklmnopqrstuvwxyzABC";

/// Cheap hashes: tests check that they are computed, not their duration.
pub const CHEAP: HashCost = HashCost { memory: 64, passes: 1, lanes: 1, queue: 1000 };

pub const ALL_GRANTS: &[GrantType] = &[GrantType::Password, GrantType::RefreshToken, GrantType::ClientCredentials];

#[derive(Clone)]
pub struct Fixture {
    pub identities: Arc<Identities>,
    pub database: Database,
    pub now: Timestamp,
    pub address: IpAddr,
}

/// Reply with its parsed body.
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub json: Value,
    pub text: String,
}

/// Runs a test with the fixture on each database.
pub async fn check(test: impl AsyncFn(Fixture)) {
    check_with(|_| {}, test).await;
}

/// Runs a test with changed options.
pub async fn check_with(change: impl Fn(&mut IdentityOptions), test: impl AsyncFn(Fixture)) {
    on_each(async |database| test(Fixture::new(database, &change).await).await).await;
}

impl Fixture {
    /// Creates the fixture with default options.
    pub async fn on(database: Database) -> Fixture {
        Fixture::new(database, |_| {}).await
    }

    async fn new(database: Database, change: impl Fn(&mut IdentityOptions)) -> Fixture {
        let mut options = IdentityOptions::at("https://pidq.example/");
        options.hash_cost = CHEAP;
        change(&mut options);
        let identities = Arc::new(Identities::open(database.clone(), options).await.unwrap());
        let fixture =
            Fixture { identities, database, now: Timestamp(1_700_000_000_000), address: HOME.parse().unwrap() };
        fixture.client(CLIENT, Some("acme"), ALL_GRANTS, &["read", "write"]).await;
        fixture.user(LOGIN, "acme", "editor", &[]).await;
        fixture
    }

    pub async fn user(&self, login: &str, tenant: &str, role: &str, groups: &[&str]) {
        let user = NewUser { login, password: Some(PASSWORD), tenant, role, groups, sso_only: false };
        self.identities.create_user(user, self.now).await.unwrap();
    }

    pub async fn client(&self, id: &str, tenant: Option<&str>, grant_types: &[GrantType], scopes: &[&str]) {
        let client = NewClient { id: Some(id), title: id, tenant, secret: Some(SECRET), grant_types, scopes };
        self.identities.create_client(client, self.now).await.unwrap();
    }

    pub fn later(&self, seconds: u64) -> Fixture {
        self.after(Duration::from_secs(seconds))
    }

    pub fn after(&self, time: Duration) -> Fixture {
        Fixture { now: self.now + time, ..self.clone() }
    }

    /// Returns another replica on the same database.
    pub async fn replica(&self) -> Fixture {
        let identities = Identities::open(self.database.clone(), self.identities.options().clone()).await.unwrap();
        Fixture { identities: Arc::new(identities), ..self.clone() }
    }

    pub fn from(&self, address: &str) -> Fixture {
        Fixture { address: address.parse().unwrap(), ..self.clone() }
    }

    pub fn request<'a>(&self, body: &'a str) -> OAuthRequest<'a> {
        OAuthRequest {
            content_type: Some(FORM),
            authorization: &[],
            query: None,
            body: body.as_bytes(),
            address: self.address,
            now: self.now,
        }
    }

    pub async fn send(&self, request: OAuthRequest<'_>) -> Reply {
        Reply::from(token_endpoint(&self.identities, request).await)
    }

    /// Sends a request with the client's credentials in its form.
    pub async fn token(&self, form: &str) -> Reply {
        self.send(self.request(&format!("{form}&{CLIENT_FORM}"))).await
    }

    pub async fn log_in(&self) -> Reply {
        let reply = self.token(PASSWORD_FORM).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        reply
    }

    pub async fn log_in_as(&self, login: &str) -> Reply {
        let reply = self.token(&format!("grant_type=password&username={login}&password=blue+valve%2C+open")).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        reply
    }

    pub async fn refresh(&self, token: &str) -> Reply {
        self.token(&format!("grant_type=refresh_token&refresh_token={token}")).await
    }

    pub async fn revoke(&self, form: &str) -> Reply {
        let body = format!("{form}&{CLIENT_FORM}");
        Reply::from(revocation_endpoint(&self.identities, self.request(&body)).await)
    }

    pub async fn introspect(&self, form: &str) -> Reply {
        Reply::from(introspection_endpoint(&self.identities, self.request(form)).await)
    }

    pub async fn caller(&self, token: &str) -> Result<Arc<Caller>, String> {
        let header = format!("Bearer {token}");
        self.identities.authenticate(&[&header], self.now).await.map_err(|error| error.challenge(None).unwrap())
    }

    pub async fn is_valid(&self, token: &str) -> bool {
        self.caller(token).await.is_ok()
    }

    pub async fn caller_as(&self, login: &str) -> Arc<Caller> {
        self.caller(&self.log_in_as(login).await.access()).await.unwrap()
    }
}

impl From<OAuthReply> for Reply {
    fn from(reply: OAuthReply) -> Reply {
        let text = String::from_utf8(reply.body).unwrap();
        let json = serde_json::from_str(&text).unwrap();
        Reply { status: reply.status, headers: reply.headers, json, text }
    }
}

impl Reply {
    pub fn field(&self, name: &str) -> &str {
        self.json[name].as_str().unwrap_or_else(|| panic!("no {name} in {}", self.text))
    }

    pub fn access(&self) -> String {
        self.field("access_token").to_owned()
    }

    pub fn refresh(&self) -> String {
        self.field("refresh_token").to_owned()
    }

    pub fn error(&self) -> (u16, &str) {
        (self.status, self.field("error"))
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|header| header.0 == name).map(|header| header.1.as_str())
    }
}
