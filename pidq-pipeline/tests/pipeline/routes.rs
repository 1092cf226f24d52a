//! Tests of authorization for every route of the table: without credentials, with a key without its scope, and with the
//! master key, which gets a documented reply or a specific problem. Requests are derived from the table, so new routes
//! are tested as well.

use http_body_util::BodyExt;
use hyper::Request;
use pidq_http::{Access, Reply, Route};
use pidq_pipeline::Platform;
use pidq_pipeline::ROUTES;
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
    platform: TestPlatform,
    root: String,
    /// Values of path parameters.
    parameters: Vec<(&'static str, String)>,
    _receiver: MockServer,
}

impl PopulatedPlatform {
    async fn start() -> PopulatedPlatform {
        let platform = TestPlatform::sqlite(&SETTINGS).await;
        let root = format!("Bearer {}", text(&platform.token(SECRET).await.json()["access_token"]));
        let receiver = MockServer::always(vec![reply(200, "", "")]).await;
        let mut populated = PopulatedPlatform { platform, root, parameters: Vec::new(), _receiver: receiver };
        populated.create_resources().await;
        populated
    }

    async fn create_resources(&mut self) {
        let pipeline = json!({
            "name": "p", "embedding_model": "hash-512", "text_splitter": "token", "classifications": ["manual"],
        });
        self.create("{pipeline_id}", "/api/pipelines", pipeline).await;
        let pipeline = self.path("/api/pipelines/{pipeline_id}");
        let headers = [("authorization", self.root.as_str()), ("content-type", "multipart/form-data; boundary=x7x")];
        let body = form("a.txt", b"a", &[("classification", "manual")]);
        let uploaded = self.platform.send("POST", &format!("{pipeline}/documents"), &headers, body).await;
        self.parameters.push(("{document_id}", text(&uploaded.json()["id"])));
        self.create("{operation_id}", &format!("{pipeline}/reindex"), json!({})).await;
        self.create("{key_id}", "/api/keys", json!({"name": "k", "scopes": ["query"]})).await;
        let connection = json!({"name": "c", "api_key": KEY, "model": "m", "base_url": "http://127.0.0.1:1/v1"});
        self.create("{connection_id}", "/api/llm-connections", connection).await;
        let webhook = json!({"url": format!("http://{}/", self._receiver.address)});
        self.create("{webhook_id}", "/api/webhooks", webhook).await;
        // A stored answer needs a model; these are tested in `stored_answers`.
        self.parameters.push(("{query_id}", "qry_0".to_owned()));
        self.parameters.push(("{account}", "sso:42".to_owned()));
        self.parameters.push(("{page}", "1".to_owned()));
    }

    async fn create(&mut self, name: &'static str, path: &str, body: Value) {
        let created = self.request("POST", path, &self.root, "application/json", body.to_string().into()).await;
        assert!((200..300).contains(&created.status), "{path}: {}", created.json());
        self.parameters.push((name, text(&created.json()["id"])));
    }

    /// Fills in the parameters of a path.
    fn path(&self, path: &str) -> String {
        let path = self.parameters.iter().fold(path.to_owned(), |path, (name, value)| path.replace(name, value));
        assert!(!path.contains('{'), "no value for the parameter of {path}");
        path
    }

    /// Sends a request that the route accepts.
    async fn call(&self, route: &Route<Platform>, authorization: &str) -> TestResponse {
        let media = route.body.map_or("", |body| body.media[0]);
        let (media, body) = match media {
            "multipart/form-data" => ("multipart/form-data; boundary=x7x", form("b.txt", b"b", &[])),
            "application/json" => (media, b"{}".to_vec()),
            _ => (media, Vec::new()),
        };
        self.request(route.method.as_str(), &self.path(route.path), authorization, media, body).await
    }

    /// Returns the response; of an endless one, only the head.
    async fn request(&self, method: &str, path: &str, authorization: &str, media: &str, body: Vec<u8>) -> TestResponse {
        let mut request = Request::builder().method(method).uri(path).header("host", "localhost");
        for (name, value) in [("authorization", authorization), ("content-type", media)] {
            if !value.is_empty() {
                request = request.header(name, value);
            }
        }
        let (head, body) = self.platform.service.call(request.body(body.into()).unwrap()).await.into_parts();
        let is_endless = head.headers.get("content-type").is_some_and(|media| media == "text/event-stream");
        let body = match is_endless {
            true => Vec::new(),
            false => body.collect().await.unwrap_or_else(|_| panic!("the response ends early")).to_bytes().to_vec(),
        };
        TestResponse { status: head.status.as_u16(), headers: head.headers, body }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_owned()
}

/// Returns the routes in an order in which every resource still exists: deletions come last, the deepest paths first.
fn ordered_routes() -> Vec<&'static Route<Platform>> {
    let mut routes: Vec<_> = ROUTES.iter().collect();
    routes.sort_by_key(|route| (route.method == "DELETE").then_some(usize::MAX - route.path.len()));
    routes
}

#[tokio::test]
async fn every_route_requires_authentication() {
    let populated = PopulatedPlatform::start().await;
    for route in ordered_routes() {
        let response = populated.call(route, "").await;
        let (name, details) = (format!("{} {}", route.method, route.path), response.json());
        match route.access {
            Access::Public => panic!("{name}: no route of the platform is public"),
            Access::Client => assert!(is_oauth_error(&response), "{name}: {details}"),
            Access::Bearer | Access::Scope(_) | Access::Admin => {
                assert_eq!((response.status, response.code().as_str()), (401, "unauthenticated"), "{name}: {details}");
                assert!(response.header("www-authenticate").starts_with("Bearer"), "{name}");
            }
        }
    }
}

#[tokio::test]
async fn every_route_with_a_scope_rejects_a_key_without_it() {
    let populated = PopulatedPlatform::start().await;
    for route in ordered_routes() {
        let Some(scope) = route.access.scope() else { continue };
        let other = if scope == "query" { "pipelines:read" } else { "query" };
        let key = json!({"name": format!("{} {}", route.method, route.path), "scopes": [other]}).to_string();
        let key = populated.request("POST", "/api/keys", &populated.root, "application/json", key.into()).await.json();
        let response = populated.call(route, &format!("Bearer {}", text(&key["key"]))).await;
        let name = format!("{} {}", route.method, route.path);
        assert_eq!((response.status, response.code().as_str()), (403, "insufficient-scope"), "{name}");
        assert!(response.header("www-authenticate").ends_with(&format!("scope=\"{scope}\"")), "{name}");
    }
}

#[tokio::test]
async fn every_route_returns_a_documented_reply_to_the_master_key() {
    let populated = PopulatedPlatform::start().await;
    for route in ordered_routes() {
        let response = populated.call(route, &populated.root).await;
        let details = format!("{} {}: {} {}", route.method, route.path, response.status, response.json());
        if response.status < 400 {
            assert!(
                route.replies.iter().any(|reply| matches_reply(reply, &response)),
                "not a documented reply: {details}"
            );
        } else if route.access == Access::Client {
            assert!(is_oauth_error(&response), "{details}");
        } else {
            assert!([400, 404, 409, 422, 428, 502].contains(&response.status), "{details}");
            assert!(!response.code().is_empty() && response.code() != "not-found", "{details}");
            let is_unknown = response.status == 404;
            assert_eq!(is_unknown, route.path.contains("{query_id}"), "{details}");
        }
    }
}

/// Returns `true` for an OAuth error (RFC 6749) for a request without parameters or client authentication.
fn is_oauth_error(response: &TestResponse) -> bool {
    let details = response.json()["error"].clone();
    [(400, json!("invalid_request")), (401, json!("invalid_client"))].contains(&(response.status, details))
}

/// Returns `true` if a response matches a documented reply.
fn matches_reply(reply: &Reply, response: &TestResponse) -> bool {
    reply.status == response.status && reply.media().unwrap_or_default() == response.header("content-type")
}

#[tokio::test]
async fn every_path_reports_its_methods() {
    let populated = PopulatedPlatform::start().await;
    for route in ordered_routes() {
        let path = populated.path(route.path);
        for (method, status) in [("OPTIONS", 204), ("TRACE", 405)] {
            let response = populated.request(method, &path, "", "", Vec::new()).await;
            let allow: Vec<_> = response.header("allow").split(", ").collect();
            assert_eq!(response.status, status, "{method} {path}");
            assert!(allow.contains(&route.method.as_str()), "{path}: {allow:?}");
        }
    }
}
