//! Small API with real accounts, the dashboard in front of it, and a browser.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

use http_body_util::BodyExt;
use pidq_dashboard::{ClientCredentials, Dashboard, REMOTE_SETTINGS, SETTINGS, assets, open_local};
use pidq_http::auth::{
    BootstrapAccounts, GrantType, Identities, IdentityOptions, NewClient, Timestamp, authorization_server_metadata,
};
use pidq_http::database::Database;
use pidq_http::header::{HeaderMap, SET_COOKIE};
use pidq_http::{
    Accepts, Access, Action, App, Bytes, COMMON, Method, Problem, Reply, Request, Response, Route, Secret, Service,
    Settings, StatusCode, codes, oauth,
};
use serde_json::{Value, json};
use tempfile::TempDir;

pub const LOGIN: &str = "ann@plant.example";
pub const PASSWORD: &str = "blue valve 7";
pub const CLIENT_ID: &str = "desk";
pub const CLIENT_SECRET: &str = "0123456789abcdef0123456789abcdef";

/// State of the API.
pub struct Api {
    /// `None`: the API runs without accounts.
    pub identities: Option<Identities>,
    /// True once the client of an event stream has left.
    pub has_left: AtomicBool,
}

const ROUTES: &[Route<Api>] = &[
    row(Method::POST, "/o/token/", Access::Client, Some(oauth::TOKEN_FORM), |api, request| {
        Box::pin(async { oauth::token(api.identities()?, request).await })
    }),
    row(Method::POST, "/o/revoke_token/", Access::Client, Some(oauth::KNOWN_TOKEN_FORM), |api, request| {
        Box::pin(async { oauth::revoke(api.identities()?, request).await })
    }),
    row(Method::POST, "/o/introspect/", Access::Client, Some(oauth::KNOWN_TOKEN_FORM), |api, request| {
        Box::pin(async { oauth::introspect(api.identities()?, request).await })
    }),
    row(Method::GET, "/.well-known/oauth-authorization-server", Access::Public, None, |api, _| {
        Box::pin(async {
            Ok(Response::ok("application/json", authorization_server_metadata(api.identities()?.options())))
        })
    }),
    row(Method::GET, "/graph", Access::Public, None, |api, request| Box::pin(show(api, request))),
    row(Method::GET, "/graph/{id}", Access::Public, None, |_, _| {
        Box::pin(async { Ok(Response::ok("application/json", "[1,2,3,4]".repeat(500)).etag("7")) })
    }),
    row(Method::PUT, "/graph/{id}", Access::Public, Some(BYTES), |_, request| Box::pin(count(request))),
    row(Method::GET, "/api/events", Access::Public, None, |api, _| Box::pin(events(api))),
];

const BYTES: Accepts = Accepts::of::<String>(&["*/*"], 64 << 20);

const fn row(
    method: Method,
    path: &'static str,
    access: Access,
    body: Option<Accepts>,
    handler: pidq_http::Handler<Api>,
) -> Route<Api> {
    let replies: &[Reply] = &[];
    Route { method, path, access, action: Action::None, summary: "", parameters: &[], body, replies, handler }
}

impl Api {
    fn identities(&self) -> Result<&Identities, Problem> {
        self.identities.as_ref().ok_or_else(|| Problem::new(codes::ACCOUNTS_DISABLED))
    }
}

/// Returns what the API sees of a request: the user, the address and the headers.
async fn show(api: &Api, request: Request) -> Result<Response, Problem> {
    if let Some(identities) = &api.identities
        && !oauth::bearer(identities, &request.head).await?.has_scope("read")
    {
        return Err(Problem::new(codes::INSUFFICIENT_SCOPE));
    }
    let headers: BTreeMap<&str, &str> =
        request.head.headers.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap_or("?"))).collect();
    let response = Response::json(&json!({ "client": request.head.client.to_string(), "headers": headers }))?;
    Ok(response.header(SET_COOKIE, "from-api=1"))
}

/// Returns the number of bytes of the body.
async fn count(mut request: Request) -> Result<Response, Problem> {
    let mut chunks = request.chunks(u64::MAX)?;
    let mut bytes = 0;
    while let Some(chunk) = chunks.next().await? {
        bytes += chunk.len();
    }
    Response::json(&bytes)
}

/// Sends one event, and notices when the client leaves.
async fn events(api: &Arc<Api>) -> Result<Response, Problem> {
    let (mut events, response) = Response::events();
    let api = api.clone();
    tokio::spawn(async move {
        let _ = events.send("first", None, "1").await;
        events.closed().await;
        api.has_left.store(true, SeqCst);
    });
    Ok(response)
}

/// Returns an API with an account and a client, whose access tokens have this lifetime.
pub async fn api(access_token_ttl: Duration) -> App<Api> {
    app(Some(identities(access_token_ttl).await))
}

/// Returns an account and a client, whose access tokens have this lifetime.
pub async fn identities(access_token_ttl: Duration) -> Identities {
    let database = Database::open("sqlite::memory:").await.expect("a database");
    let options = IdentityOptions { access_token_ttl, ..IdentityOptions::at("http://api.example") };
    let identities = Identities::open(database, options).await.expect("it opens");
    let first = BootstrapAccounts {
        tenant: "main",
        login: LOGIN,
        password: Some(PASSWORD),
        client_id: "first",
        client_secret: Some(CLIENT_SECRET),
    };
    identities.bootstrap(first, Timestamp::now()).await.expect("no accounts yet");
    let client = NewClient {
        id: Some(CLIENT_ID),
        title: "",
        tenant: None,
        secret: Some(CLIENT_SECRET),
        grant_types: &[GrantType::Password, GrantType::RefreshToken],
        scopes: &["read", "write"],
    };
    identities.ensure_client(client, Timestamp::now()).await.expect("it is created");
    identities
}

/// Returns an API with these accounts.
pub fn app(identities: Option<Identities>) -> App<Api> {
    App::new("api", "1.0.0", Api { identities, has_left: AtomicBool::new(false) }, ROUTES)
}

/// Front end: a page, and a script whose name contains a hash.
pub fn front_end() -> TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::create_dir(dir.path().join("assets")).expect("it is new");
    let script = "console.log(1);".repeat(200);
    for (name, content) in [
        ("index.html", "<!doctype html>"),
        ("icon.svg", "<svg/>"),
        ("assets/a-1f2e.js", &script),
        ("assets/a-1f2e.js.br", "br"),
        ("assets/a-1f2e.js.gz", "gzip"),
    ] {
        std::fs::write(dir.path().join(name), content).expect("it is written");
    }
    dir
}

/// Returns the settings of a dashboard.
pub fn settings(arguments: &[&str]) -> (TempDir, Settings) {
    let dir = front_end();
    let path = dir.path().to_str().expect("a path");
    let arguments = [&["--dashboard-dir", path], arguments].concat();
    let arguments = arguments.into_iter().map(str::to_owned);
    let secret = ("PIDQ_APP_SECRET".to_owned(), "a secret of thirty-two characters or more".to_owned());
    let client = [("PIDQ_CLIENT_ID", CLIENT_ID), ("PIDQ_CLIENT_SECRET", CLIENT_SECRET)];
    let client = client.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let environment = client.into_iter().chain([secret]);
    let settings = Settings::read(&[COMMON, SETTINGS, REMOTE_SETTINGS], arguments, environment).expect("no mistake");
    (dir, settings)
}

/// Returns the dashboard of an API in this process.
pub fn dashboard(api: App<Api>) -> Service<Dashboard> {
    dashboard_with_secret(api.build(), "one")
}

/// Returns the dashboard with a secret of its own.
pub fn dashboard_with_secret(api: Service<Api>, secret: &str) -> Service<Dashboard> {
    dashboard_with(api, secret, &[])
}

/// Returns the dashboard with a secret and settings of its own.
pub fn dashboard_with(api: Service<Api>, secret: &str, arguments: &[&str]) -> Service<Dashboard> {
    let client = ClientCredentials { id: CLIENT_ID.into(), secret: Secret::new(CLIENT_SECRET) };
    let (_dir, settings) = settings(arguments);
    open_local(&settings, assets(&settings).expect("a front end"), api, Some(client), &Secret::new(secret))
        .expect("it opens")
        .build()
}

/// Response with its body.
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("no JSON: {:?}", self.body))
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().expect("ASCII"))
    }

    /// Returns the cookie with this name as the browser sends it back, with its attributes; `None` if it is not set.
    pub fn cookie_of(&self, name: &str) -> Option<(String, String)> {
        let mut cookies = self.headers.get_all(SET_COOKIE).iter().map(|cookie| cookie.to_str().expect("ASCII"));
        let cookie = cookies.find(|cookie| cookie.split('=').next() == Some(name))?;
        let (pair, attributes) = cookie.split_once("; ").expect("attributes");
        Some((pair.to_owned(), attributes.to_owned()))
    }

    /// Returns the cookies as the browser sends them back; `None` if the response sets none.
    pub fn cookie(&self) -> Option<String> {
        let cookies = self.headers.get_all(SET_COOKIE).iter().map(|cookie| cookie.to_str().expect("ASCII"));
        let pairs: Vec<&str> = cookies.filter_map(|cookie| cookie.split(';').next()).collect();
        (!pairs.is_empty()).then(|| pairs.join("; "))
    }
}

/// Sends a request as a page of the dashboard does. Headers with the same name replace the defaults.
pub async fn send(
    dashboard: &Service<Dashboard>,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: impl Into<Bytes>,
) -> Answer {
    let mut request = hyper::Request::builder().method(method).uri(path);
    for (name, value) in [("host", "127.0.0.1:3000"), ("sec-fetch-site", "same-origin")] {
        if !headers.iter().any(|(other, _)| *other == name) {
            request = request.header(name, value);
        }
    }
    for (name, value) in headers.iter().filter(|(_, value)| !value.is_empty()) {
        request = request.header(*name, *value);
    }
    let response = dashboard.call(request.body(body.into()).expect("a request")).await;
    let (head, body) = response.into_parts();
    let body = body.collect().await.expect("a complete body").to_bytes();
    Answer { status: head.status.as_u16(), headers: head.headers, body }
}

/// Signs in and returns the cookie.
pub async fn sign_in(dashboard: &Service<Dashboard>) -> String {
    let answer = try_sign_in(dashboard, LOGIN, PASSWORD).await;
    assert_eq!(answer.status, StatusCode::OK.as_u16(), "{:?}", answer.body);
    answer.cookie().expect("a cookie")
}

/// Tries to sign in.
pub async fn try_sign_in(dashboard: &Service<Dashboard>, login: &str, password: &str) -> Answer {
    let body = json!({ "login": login, "password": password }).to_string();
    send(dashboard, "POST", "/session", &[("content-type", "application/json")], body).await
}
