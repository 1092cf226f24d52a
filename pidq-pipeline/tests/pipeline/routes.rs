//! Tests of authorization for every route of the table: without credentials, with a key without its scope, and with the
//! master key, which gets a documented reply or a specific problem. Requests are derived from the table, so new routes
//! are tested as well.

use http_body_util::BodyExt;
use hyper::Request;
use pidq_http::{Access, Reply, Route};
use pidq_pipeline::{Platform, ROUTES};
use serde_json::{Value, json};

use crate::mock_server::{KEY, MockServer, reply};
use crate::platform::{MASTER, SECRET, TestPlatform, TestResponse, form};

const SETTINGS: [(&str, &str); 3] = [
    ("PIDQ_APP_MASTER_KEY", MASTER),
    ("PIDQ_APP_MASTER_SECRET", SECRET),
    ("PIDQ_APP_SECRET", "a1b2c3d4e5f60718293a4b5c6d7e8f90"),
];

/// A platform with one resource of each kind that has an id in a path.
struct PopulatedPlatform {
    world: TestPlatform,
    root: String,
    /// Values of path parameters.
    names: Vec<(&'static str, String)>,
    _receiver: MockServer,
}

impl PopulatedPlatform {
    async fn start() -> PopulatedPlatform {
        let world = TestPlatform::sqlite(&SETTINGS).await;
        let root = format!("Bearer {}", text(&world.token(SECRET).await.json()["access_token"]));
        let receiver = MockServer::always(vec![reply(200, "", "")]).await;
        let mut filled = PopulatedPlatform { world, root, names: Vec::new(), _receiver: receiver };
        filled.fill().await;
        filled
    }

    async fn fill(&mut self) {
        let pipeline = json!({
            "name": "p", "embedding_model": "hash-512", "text_splitter": "token", "classifications": ["manual"],
        });
        self.make("{pipeline_id}", "/api/pipelines", pipeline).await;
        let pipeline = self.path("/api/pipelines/{pipeline_id}");
        let headers = [("authorization", self.root.as_str()), ("content-type", "multipart/form-data; boundary=x7x")];
        let sent = form("a.txt", b"a", &[("classification", "manual")]);
        let sent = self.world.send("POST", &format!("{pipeline}/documents"), &headers, sent).await;
        self.names.push(("{document_id}", text(&sent.json()["id"])));
        self.make("{operation_id}", &format!("{pipeline}/reindex"), json!({})).await;
        self.make("{key_id}", "/api/keys", json!({"name": "k", "scopes": ["query"]})).await;
        let connection = json!({"name": "c", "api_key": KEY, "model": "m", "base_url": "http://127.0.0.1:1/v1"});
        self.make("{connection_id}", "/api/llm-connections", connection).await;
        let hook = json!({"url": format!("http://{}/", self._receiver.address)});
        self.make("{webhook_id}", "/api/webhooks", hook).await;
        // A stored answer needs a model; these are tested in `stored_answers`.
        self.names.push(("{query_id}", "qry_0".to_owned()));
    }

    async fn make(&mut self, name: &'static str, path: &str, body: Value) {
        let made = self.ask("POST", path, &self.root, "application/json", body.to_string().into()).await;
        assert!((200..300).contains(&made.status), "{path}: {}", made.json());
        self.names.push((name, text(&made.json()["id"])));
    }

    /// Fills in the parameters of a path.
    fn path(&self, path: &str) -> String {
        let path = self.names.iter().fold(path.to_owned(), |path, (name, value)| path.replace(name, value));
        assert!(!path.contains('{'), "nothing stands for the parameter of {path}");
        path
    }

    /// Sends a request that the route accepts.
    async fn call(&self, row: &Route<Platform>, authorization: &str) -> TestResponse {
        let media = row.body.map_or("", |body| body.media[0]);
        let (media, body) = match media {
            "multipart/form-data" => ("multipart/form-data; boundary=x7x", form("b.txt", b"b", &[])),
            "application/json" => (media, b"{}".to_vec()),
            _ => (media, Vec::new()),
        };
        self.ask(row.method.as_str(), &self.path(row.path), authorization, media, body).await
    }

    /// Returns the response; of an endless one, only the head.
    async fn ask(&self, method: &str, path: &str, authorization: &str, media: &str, body: Vec<u8>) -> TestResponse {
        let mut request = Request::builder().method(method).uri(path).header("host", "localhost");
        for (name, value) in [("authorization", authorization), ("content-type", media)] {
            if !value.is_empty() {
                request = request.header(name, value);
            }
        }
        let (head, body) = self.world.site.call(request.body(body.into()).unwrap()).await.into_parts();
        let is_endless = head.headers.get("content-type").is_some_and(|media| media == "text/event-stream");
        let body = match is_endless {
            true => Vec::new(),
            false => body.collect().await.unwrap_or_else(|_| panic!("the answer ends early")).to_bytes().to_vec(),
        };
        TestResponse { status: head.status.as_u16(), headers: head.headers, body }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_owned()
}

/// Returns the routes in an order in which every resource still exists: deletions come last, the deepest paths first.
fn ordered_routes() -> Vec<&'static Route<Platform>> {
    let mut rows: Vec<_> = ROUTES.iter().collect();
    rows.sort_by_key(|row| (row.method == "DELETE").then_some(usize::MAX - row.path.len()));
    rows
}

#[tokio::test]
async fn every_route_requires_authentication() {
    let filled = PopulatedPlatform::start().await;
    for row in ordered_routes() {
        let answer = filled.call(row, "").await;
        let (name, details) = (format!("{} {}", row.method, row.path), answer.json());
        match row.access {
            Access::Public => panic!("{name}: nothing of the platform is for everybody"),
            Access::Client => assert!(is_oauth_error(&answer), "{name}: {details}"),
            Access::Bearer | Access::Scope(_) | Access::Admin => {
                assert_eq!((answer.status, answer.code().as_str()), (401, "unauthenticated"), "{name}: {details}");
                assert!(answer.header("www-authenticate").starts_with("Bearer"), "{name}");
            }
        }
    }
}

#[tokio::test]
async fn every_route_with_a_scope_rejects_a_key_without_it() {
    let filled = PopulatedPlatform::start().await;
    for row in ordered_routes() {
        let Some(scope) = row.access.scope() else { continue };
        let other = if scope == "query" { "pipelines:read" } else { "query" };
        let key = json!({"name": format!("{} {}", row.method, row.path), "scopes": [other]}).to_string();
        let key = filled.ask("POST", "/api/keys", &filled.root, "application/json", key.into()).await.json();
        let answer = filled.call(row, &format!("Bearer {}", text(&key["key"]))).await;
        let name = format!("{} {}", row.method, row.path);
        assert_eq!((answer.status, answer.code().as_str()), (403, "insufficient-scope"), "{name}");
        assert!(answer.header("www-authenticate").ends_with(&format!("scope=\"{scope}\"")), "{name}");
    }
}

#[tokio::test]
async fn every_route_returns_a_documented_reply_to_the_master_key() {
    let filled = PopulatedPlatform::start().await;
    for row in ordered_routes() {
        let answer = filled.call(row, &filled.root).await;
        let details = format!("{} {}: {} {}", row.method, row.path, answer.status, answer.json());
        if answer.status < 400 {
            assert!(row.replies.iter().any(|reply| matches_reply(reply, &answer)), "not in its row: {details}");
        } else if row.access == Access::Client {
            assert!(is_oauth_error(&answer), "{details}");
        } else {
            assert!([400, 404, 409, 422, 428, 502].contains(&answer.status), "{details}");
            assert!(!answer.code().is_empty() && answer.code() != "not-found", "{details}");
            let is_unknown = answer.status == 404;
            assert_eq!(is_unknown, row.path.contains("{query_id}"), "{details}");
        }
    }
}

/// Returns `true` for an OAuth error (RFC 6749) for a request without parameters or client authentication.
fn is_oauth_error(answer: &TestResponse) -> bool {
    let details = answer.json()["error"].clone();
    [(400, json!("invalid_request")), (401, json!("invalid_client"))].contains(&(answer.status, details))
}

/// Returns `true` if a response matches a documented reply.
fn matches_reply(reply: &Reply, answer: &TestResponse) -> bool {
    reply.status == answer.status && reply.media.unwrap_or_default() == answer.header("content-type")
}

#[tokio::test]
async fn every_path_reports_its_methods() {
    let filled = PopulatedPlatform::start().await;
    for row in ordered_routes() {
        let path = filled.path(row.path);
        for (method, status) in [("OPTIONS", 204), ("TRACE", 405)] {
            let answer = filled.ask(method, &path, "", "", Vec::new()).await;
            let allow: Vec<_> = answer.header("allow").split(", ").collect();
            assert_eq!(answer.status, status, "{method} {path}");
            assert!(allow.contains(&row.method.as_str()), "{path}: {allow:?}");
        }
    }
}
