//! A service with two tenants, and clients of every kind that ask it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use http_body_util::BodyExt;
use hyper::http::request::Builder;
use hyper::{HeaderMap, Method, StatusCode};
use pidq_http::auth::{
    GrantType, HashCost, Identities, IdentityOptions, Moment, NewClient, NewUser, OAuthRequest, token_endpoint,
};
use pidq_http::database::Database;
use pidq_http::{COMMON, Settings, Site};
use pidq_server::{SETTINGS, Server, open};
use serde_json::{Value, json};

pub const SECRET: &str = "pidq_cs_0123456789abcdefghijklmnopqrstuvwxyzABC";
pub const PASSWORD: &str = "blue-valve-open";
pub const FORM: &str = "application/x-www-form-urlencoded";

/// Cheap hashes: how long one takes is another test's claim.
const CHEAP: HashCost = HashCost { memory: 64, passes: 1, lanes: 1, queue: 1000 };

/// Clients that ask for themselves: their name, tenant and scopes.
const CLIENTS: &[(&str, &str, &[&str])] = &[
    ("desk", "main", &["read", "write"]),
    ("viewer", "main", &["read"]),
    ("pen", "main", &["write"]),
    ("rival", "other", &["read", "write"]),
];

/// A running service and a place of its own on the disk.
pub struct Service {
    pub site: Site<Server>,
    pub identities: Identities,
    /// Removed when the service is.
    place: Place,
}

/// An answer as a test reads it.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

struct Place(PathBuf);

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Service {
    pub async fn start() -> Service {
        Service::with(&[]).await
    }

    /// With settings beside those that every test has.
    pub async fn with(more: &[(&str, &str)]) -> Service {
        Service::changed(more, |_| {}).await
    }

    /// With something that no setting decides.
    pub async fn changed(more: &[(&str, &str)], change: impl FnOnce(&mut Server)) -> Service {
        let place = Place::new();
        let database = Database::open(&format!("sqlite:{}", place.0.join("pidq.db").display())).await.expect("opens");
        let options = IdentityOptions { hash_cost: CHEAP, ..IdentityOptions::at("https://pidq.example") };
        let identities = Identities::open(database, options).await.expect("opens");
        for &(id, tenant, scopes) in CLIENTS {
            make_client(&identities, id, tenant, scopes).await;
        }
        make_user(&identities, "ann@example.com", "main", "admin").await;
        make_user(&identities, "eve@example.com", "other", "editor").await;
        let mut app = open(&settings(&place.0, more)).await.expect("a service");
        change(Arc::get_mut(&mut app.state).expect("nobody has it yet"));
        let site = app.build();
        Service { site, identities, place }
    }

    /// The file of a version of a graph of the tenant `main`.
    pub fn file_of(&self, version: u64) -> PathBuf {
        let mut folders = vec![self.place.0.join("graphs/graphs")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
                let name = entry.file_name().into_string().expect("a name");
                match entry.path() {
                    path if path.is_dir() => folders.push(path),
                    path if name.starts_with(&format!("{version}-")) => return path,
                    _ => {}
                }
            }
        }
        panic!("there is no version {version}");
    }

    /// A token of a client in its own name.
    pub async fn token(&self, client: &str) -> String {
        let form = format!("grant_type=client_credentials&client_id={client}&client_secret={SECRET}");
        self.token_by(&form).await
    }

    /// A token by any form.
    pub async fn token_by(&self, form: &str) -> String {
        let request = OAuthRequest {
            content_type: Some(FORM),
            authorization: &[],
            query: None,
            body: form.as_bytes(),
            address: [192, 0, 2, 1].into(),
            now: Moment::now(),
        };
        let reply = token_endpoint(&self.identities, request).await;
        let reply: Value = serde_json::from_slice(&reply.body).expect("JSON");
        reply["access_token"].as_str().unwrap_or_else(|| panic!("{reply}")).to_owned()
    }

    /// Somebody who asks with a client's token.
    pub async fn client(&self, client: &str) -> Asker<'_> {
        Asker { service: self, token: Some(self.token(client).await) }
    }

    /// Somebody who asks without a token.
    pub fn stranger(&self) -> Asker<'_> {
        Asker { service: self, token: None }
    }

    /// Somebody who asks with a text for a token.
    pub fn bearer(&self, token: &str) -> Asker<'_> {
        Asker { service: self, token: Some(token.into()) }
    }

    pub async fn call(&self, request: Builder, body: impl Into<Vec<u8>>) -> Answer {
        let request = request.body(bytes::Bytes::from(body.into())).expect("a request");
        let (head, body) = self.site.call(request).await.into_parts();
        let body = body.collect().await.ok().expect("a whole body").to_bytes().to_vec();
        Answer { status: head.status.as_u16(), headers: head.headers, body }
    }
}

fn settings(place: &Path, more: &[(&str, &str)]) -> Settings {
    let own = [
        ("PIDQ_DATA_DIR", place.to_str().expect("a path")),
        ("PIDQ_PUBLIC_URL", "https://pidq.example"),
        ("PIDQ_RATE", "0"),
        ("PIDQ_ADMIN_LISTEN", ""),
    ];
    let given = own.iter().chain(more).map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Settings::read(&[COMMON, SETTINGS], [], given).expect("settings")
}

async fn make_client(identities: &Identities, id: &str, tenant: &str, scopes: &[&str]) {
    let grant_types = &[GrantType::Password, GrantType::RefreshToken, GrantType::ClientCredentials];
    let client = NewClient { id: Some(id), title: id, tenant: Some(tenant), secret: Some(SECRET), grant_types, scopes };
    identities.create_client(client, Moment::now()).await.expect("a client");
}

async fn make_user(identities: &Identities, login: &str, tenant: &str, role: &str) {
    let user = NewUser { login, password: Some(PASSWORD), tenant, role, groups: &[], sso_only: false };
    identities.create_user(user, Moment::now()).await.expect("a user");
}

impl Place {
    fn new() -> Place {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("pidq-serve-{}-{count}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a place to write");
        Place(path)
    }
}

/// Somebody who sends requests.
pub struct Asker<'a> {
    service: &'a Service,
    pub token: Option<String>,
}

impl Asker<'_> {
    /// A request with headers: `name: value`.
    pub async fn send(&self, method: &str, path: &str, headers: &[&str], body: impl Into<Vec<u8>>) -> Answer {
        let mut request = hyper::Request::builder().method(Method::from_bytes(method.as_bytes()).expect("a method"));
        request = request.uri(path).header("host", "pidq.example").header("x-request-id", "r-1");
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        for header in headers {
            let (name, value) = header.split_once(": ").expect("a header");
            request = request.header(name, value);
        }
        self.service.call(request, body).await
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], "").await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        self.send("DELETE", path, &[], "").await
    }

    pub async fn post(&self, path: &str, body: Value) -> Answer {
        self.send("POST", path, &["content-type: application/json"], body.to_string()).await
    }

    pub async fn put(&self, path: &str, body: &str) -> Answer {
        self.send("PUT", path, &["content-type: application/json"], body).await
    }

    pub async fn form(&self, path: &str, form: &str) -> Answer {
        self.send("POST", path, &[&format!("content-type: {FORM}")], form).await
    }

    /// Asks a query of a graph.
    pub async fn ask(&self, job: &str, query: &str) -> Answer {
        self.post(&format!("/graph/{job}"), json!({"query": query})).await
    }
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// A header; empty where there is none.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().expect("ASCII"))
    }

    /// The same answer, if it has this status.
    #[track_caller]
    pub fn is(self, status: u16) -> Answer {
        assert_eq!(self.status, status, "{}", self.text());
        self
    }

    /// The same answer, if it is a problem with this status and code, in the form that all problems have.
    #[track_caller]
    pub fn refuses(self, status: u16, code: &str) -> Answer {
        let answer = self.is(status);
        let body = answer.json();
        assert_eq!(body["code"], code, "{body}");
        assert_eq!(answer.header("content-type"), "application/problem+json");
        assert_eq!(body["status"], status);
        assert_eq!(body["request_id"], "r-1");
        let has_words = |name: &str| body[name].as_str().is_some_and(|text| !text.is_empty());
        assert!(["type", "title", "instance"].into_iter().all(has_words), "{body}");
        assert!(answer.header("cache-control").contains("no-store"));
        answer
    }

    /// What the query selected.
    #[track_caller]
    pub fn result(self) -> Value {
        self.is(StatusCode::OK.as_u16()).json()["result"].take()
    }
}

/// A small drawing: a tank, a valve, a pump.
pub const DRAWING: &str = r#"{"pid_graph": {"nodes": [
  {"id": "T-1", "node_type": "pid_component", "class": "tank", "dn": 53.0},
  {"id": "V-1", "node_type": "pid_component", "class": "valve"},
  {"id": "P-1", "node_type": "pid_component", "class": "pump"}
], "edges": [
  {"id": "e1", "source": "T-1", "target": "V-1", "edge_type": "piping"},
  {"id": "e2", "source": "V-1", "target": "P-1", "edge_type": "piping"}
], "metadata": {"drawing_name": "Unit 7"}}}"#;

/// A drawing of one node, that differs by its name.
pub fn drawing(node: &str) -> String {
    format!(r#"{{"pid_graph":{{"nodes":[{{"id":"{node}"}}],"edges":[]}}}}"#)
}
