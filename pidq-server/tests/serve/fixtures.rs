//! Fixtures: a service with two tenants, and clients with different scopes.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use http_body_util::BodyExt;
use hyper::http::request::Builder;
use hyper::{HeaderMap, Method, StatusCode};
use pidq_http::auth::{
    GrantType, HashCost, Identities, IdentityOptions, NewClient, NewUser, OAuthRequest, Timestamp, token_endpoint,
};
use pidq_http::database::Database;
use pidq_http::{COMMON, Service, Settings};
use pidq_server::{SETTINGS, Server, open};
use serde_json::{Value, json};

pub const SECRET: &str = "pidq_cs_0123456789abcdefghijklmnopqrstuvwxyzABC";
pub const PASSWORD: &str = "blue-valve-open";
pub const FORM: &str = "application/x-www-form-urlencoded";

/// Cheap hash parameters; the real cost is tested elsewhere.
const CHEAP: HashCost = HashCost { memory: 64, passes: 1, lanes: 1, queue: 1000 };

/// Clients with client credentials: id, tenant and scopes.
const CLIENTS: &[(&str, &str, &[&str])] = &[
    ("desk", "main", &["read", "write"]),
    ("viewer", "main", &["read"]),
    ("pen", "main", &["write"]),
    ("rival", "other", &["read", "write"]),
];

/// Running service with its own directory.
pub struct TestService {
    pub service: Service<Server>,
    pub identities: Identities,
    /// Removed with the service.
    dir: TempDir,
}

/// Response with a complete body.
#[derive(Debug)]
pub struct TestResponse {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

struct TempDir(PathBuf);

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl TestService {
    pub async fn start() -> TestService {
        TestService::with(&[]).await
    }

    /// Starts a service with additional settings.
    pub async fn with(more: &[(&str, &str)]) -> TestService {
        TestService::changed(more, |_| {}).await
    }

    /// Starts a service with a changed state.
    pub async fn changed(more: &[(&str, &str)], change: impl FnOnce(&mut Server)) -> TestService {
        let dir = TempDir::new();
        let database = Database::open(&format!("sqlite:{}", dir.0.join("pidq.db").display())).await.expect("opens");
        let options = IdentityOptions { hash_cost: CHEAP, ..IdentityOptions::at("https://pidq.example") };
        let identities = Identities::open(database, options).await.expect("opens");
        for &(id, tenant, scopes) in CLIENTS {
            make_client(&identities, id, tenant, scopes).await;
        }
        make_user(&identities, "ann@example.com", "main", "admin").await;
        make_user(&identities, "eve@example.com", "other", "editor").await;
        let mut app = open(&settings(&dir.0, more)).await.expect("a service");
        change(Arc::get_mut(&mut app.state).expect("the only reference"));
        let service = app.build();
        TestService { service, identities, dir }
    }

    /// Returns the file of a graph version of the tenant `main`.
    pub fn file_of(&self, version: u64) -> PathBuf {
        let mut folders = vec![self.dir.0.join("graphs/graphs")];
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

    /// Returns a token for client credentials.
    pub async fn token(&self, client: &str) -> String {
        let form = format!("grant_type=client_credentials&client_id={client}&client_secret={SECRET}");
        self.token_by(&form).await
    }

    /// Returns a token for a token request.
    pub async fn token_by(&self, form: &str) -> String {
        let request = OAuthRequest {
            content_type: Some(FORM),
            authorization: &[],
            query: None,
            body: form.as_bytes(),
            address: [192, 0, 2, 1].into(),
            now: Timestamp::now(),
        };
        let reply = token_endpoint(&self.identities, request).await;
        let reply: Value = serde_json::from_slice(&reply.body).expect("JSON");
        reply["access_token"].as_str().unwrap_or_else(|| panic!("{reply}")).to_owned()
    }

    /// Returns a client with a token.
    pub async fn client(&self, client: &str) -> TestClient<'_> {
        TestClient { service: self, token: Some(self.token(client).await) }
    }

    /// Returns a client without a token.
    pub fn anonymous(&self) -> TestClient<'_> {
        TestClient { service: self, token: None }
    }

    /// Returns a client with this token.
    pub fn bearer(&self, token: &str) -> TestClient<'_> {
        TestClient { service: self, token: Some(token.into()) }
    }

    pub async fn call(&self, request: Builder, body: impl Into<Vec<u8>>) -> TestResponse {
        let request = request.body(bytes::Bytes::from(body.into())).expect("a request");
        let (head, body) = self.service.call(request).await.into_parts();
        let body = body.collect().await.expect("a whole body").to_bytes().to_vec();
        TestResponse { status: head.status.as_u16(), headers: head.headers, body }
    }
}

fn settings(dir: &Path, more: &[(&str, &str)]) -> Settings {
    let defaults = [
        ("PIDQ_DATA_DIR", dir.to_str().expect("a path")),
        ("PIDQ_PUBLIC_URL", "https://pidq.example"),
        ("PIDQ_RATE_LIMIT", "0"),
        ("PIDQ_ADMIN_LISTEN", ""),
    ];
    let given = defaults.iter().chain(more).map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Settings::read(&[COMMON, SETTINGS], [], given).expect("settings")
}

async fn make_client(identities: &Identities, id: &str, tenant: &str, scopes: &[&str]) {
    let grant_types = &[GrantType::Password, GrantType::RefreshToken, GrantType::ClientCredentials];
    let client = NewClient { id: Some(id), title: id, tenant: Some(tenant), secret: Some(SECRET), grant_types, scopes };
    identities.create_client(client, Timestamp::now()).await.expect("a client");
}

async fn make_user(identities: &Identities, login: &str, tenant: &str, role: &str) {
    let user = NewUser { login, password: Some(PASSWORD), tenant, role, groups: &[], sso_only: false };
    identities.create_user(user, Timestamp::now()).await.expect("a user");
}

impl TempDir {
    fn new() -> TempDir {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("pidq-serve-{}-{count}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a directory");
        TempDir(path)
    }
}

/// Test client.
pub struct TestClient<'a> {
    service: &'a TestService,
    pub token: Option<String>,
}

impl TestClient<'_> {
    /// Sends a request with headers such as `name: value`.
    pub async fn send(&self, method: &str, path: &str, headers: &[&str], body: impl Into<Vec<u8>>) -> TestResponse {
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

    pub async fn get(&self, path: &str) -> TestResponse {
        self.send("GET", path, &[], "").await
    }

    pub async fn delete(&self, path: &str) -> TestResponse {
        self.send("DELETE", path, &[], "").await
    }

    pub async fn post(&self, path: &str, body: Value) -> TestResponse {
        self.send("POST", path, &["content-type: application/json"], body.to_string()).await
    }

    pub async fn put(&self, path: &str, body: &str) -> TestResponse {
        self.send("PUT", path, &["content-type: application/json"], body).await
    }

    pub async fn form(&self, path: &str, form: &str) -> TestResponse {
        self.send("POST", path, &[&format!("content-type: {FORM}")], form).await
    }

    /// Runs a query on a graph.
    pub async fn query(&self, graph_id: &str, query: &str) -> TestResponse {
        self.post(&format!("/graph/{graph_id}"), json!({"query": query})).await
    }
}

impl TestResponse {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Returns a header, or an empty string.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().expect("ASCII"))
    }

    /// Asserts the status.
    #[track_caller]
    pub fn is(self, status: u16) -> TestResponse {
        assert_eq!(self.status, status, "{}", self.text());
        self
    }

    /// Asserts a problem with this status and code, and the fields of every problem.
    #[track_caller]
    pub fn expect_problem(self, status: u16, code: &str) -> TestResponse {
        let response = self.is(status);
        let body = response.json();
        assert_eq!(body["code"], code, "{body}");
        assert_eq!(response.header("content-type"), "application/problem+json");
        assert_eq!(body["status"], status);
        assert_eq!(body["request_id"], "r-1");
        let has_text = |name: &str| body[name].as_str().is_some_and(|text| !text.is_empty());
        assert!(["type", "title", "instance"].into_iter().all(has_text), "{body}");
        assert!(response.header("cache-control").contains("no-store"));
        response
    }

    /// Returns the query result.
    #[track_caller]
    pub fn result(self) -> Value {
        self.is(StatusCode::OK.as_u16()).json()["result"].take()
    }
}

/// Small drawing: a tank, a valve, a pump.
pub const DRAWING: &str = r#"{"pid_graph": {"nodes": [
  {"id": "T-1", "node_type": "pid_component", "class": "tank", "dn": 53.0},
  {"id": "V-1", "node_type": "pid_component", "class": "valve"},
  {"id": "P-1", "node_type": "pid_component", "class": "pump"}
], "edges": [
  {"id": "e1", "source": "T-1", "target": "V-1", "edge_type": "piping"},
  {"id": "e2", "source": "V-1", "target": "P-1", "edge_type": "piping"}
], "metadata": {"drawing_name": "Unit 7"}}}"#;

/// Returns a drawing with one node.
pub fn drawing(node: &str) -> String {
    format!(r#"{{"pid_graph":{{"nodes":[{{"id":"{node}"}}],"edges":[]}}}}"#)
}
