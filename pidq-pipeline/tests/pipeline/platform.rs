//! Test helpers: a platform in this process and requests to it.

use std::path::Path;
use std::sync::Arc;

use http_body_util::BodyExt;
use hyper::{HeaderMap, Request};
use pidq_http::auth::{Identities, Provider};
use pidq_http::{Service, Settings};
use pidq_pipeline::Platform;
use pidq_pipeline::TABLES;
use pidq_pipeline::ingest::worker;
use pidq_pipeline::open_with_accounts;
use serde_json::Value;
use tempfile::TempDir;

use crate::{backend_servers, databases};

pub const MASTER: &str = "0199aaaa-0000-7000-8000-000000000001";
pub const SECRET: &str = "f3a9c1d7e5b2408c9d6a1e7f0b3c5d8e";

/// A platform with its own database.
pub struct TestPlatform {
    pub service: Service<Platform>,
    pub state: Arc<Platform>,
    _folder: Option<TempDir>,
}

/// A response.
#[derive(Debug)]
pub struct TestResponse {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl TestResponse {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    pub fn code(&self) -> String {
        self.json()["code"].as_str().unwrap_or_default().to_owned()
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

/// Runs a test on SQLite alone, on PostgreSQL alone, and on PostgreSQL with Redis and NATS.
pub async fn on_each(test: impl AsyncFn(TestPlatform)) {
    on_each_url(async |url| test(TestPlatform::at(url, &[]).await).await).await;
    let (Some(url), Some((redis, nats))) = (databases::fresh_postgres(), backend_servers::shared()) else { return };
    let servers = [("PIDQ_REDIS_URL", redis.as_str()), ("PIDQ_NATS_URL", &nats), ("PIDQ_APP_SECRET", SECRET)];
    let platform = TestPlatform::at(&url, &servers).await;
    platform.wait_until_degraded(&[]).await;
    test(platform).await;
}

/// Runs a test once for each kind of database, each of them new.
pub async fn on_each_url(test: impl AsyncFn(&str)) {
    let folder = TempDir::new().unwrap();
    test(&databases::sqlite_url(&folder)).await;
    match databases::fresh_postgres() {
        Some(url) => test(&url).await,
        None => eprintln!("SKIPPED on PostgreSQL: no server found under /usr/lib/postgresql"),
    }
}

impl TestPlatform {
    pub async fn sqlite(settings: &[(&str, &str)]) -> TestPlatform {
        let folder = TempDir::new().unwrap();
        TestPlatform::open(&databases::sqlite_url(&folder), Some(folder), settings).await
    }

    /// Opens a platform on an existing database.
    pub async fn at(url: &str, settings: &[(&str, &str)]) -> TestPlatform {
        TestPlatform::open(url, None, settings).await
    }

    async fn open(url: &str, folder: Option<TempDir>, settings: &[(&str, &str)]) -> TestPlatform {
        TestPlatform::open_with_accounts(url, folder, settings, None, None).await
    }

    /// Opens a platform that accepts the tokens of an identity provider, or of the accounts of the process around it.
    pub async fn open_with_accounts(
        url: &str,
        folder: Option<TempDir>,
        settings: &[(&str, &str)],
        provider: Option<Provider>,
        host_accounts: Option<Identities>,
    ) -> TestPlatform {
        let defaults = [
            ("PIDQ_DATABASE_URL", url),
            ("PIDQ_RATE_LIMIT", "0"),
            ("PIDQ_UPLOAD_RATE_LIMIT", "0"),
            ("PIDQ_ASK_RATE_LIMIT", "0"),
            ("PIDQ_EXTRACTOR", env!("CARGO_BIN_EXE_pidq-pipeline")),
        ];
        let environment =
            defaults.iter().chain(settings).map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let settings = Settings::read(TABLES, [], environment).unwrap();
        let app =
            open_with_accounts(&settings, provider, host_accounts).await.unwrap_or_else(|error| panic!("{error}"));
        TestPlatform { state: app.state.clone(), service: app.build(), _folder: folder }
    }

    /// Starts workers, which run until the end of the test.
    pub fn with_workers(self) -> TestPlatform {
        for _ in 0..2 {
            tokio::spawn(worker::run_worker(Arc::clone(&self.state)));
        }
        self
    }

    /// Sends a request with headers and a body.
    pub async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Vec<u8>>,
    ) -> TestResponse {
        let mut request = Request::builder().method(method).uri(path).header("host", "localhost");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (head, body) = self.service.call(request.body(body.into().into()).unwrap()).await.into_parts();
        let body = body.collect().await.unwrap_or_else(|_| panic!("the response ends early")).to_bytes().to_vec();
        TestResponse { status: head.status.as_u16(), headers: head.headers, body }
    }

    pub async fn get(&self, path: &str) -> TestResponse {
        self.send("GET", path, &[], "").await
    }

    pub async fn post(&self, path: &str, body: &Value) -> TestResponse {
        self.send("POST", path, &[("content-type", "application/json")], body.to_string()).await
    }

    /// Requests a token with the master key.
    pub async fn token(&self, secret: &str) -> TestResponse {
        let form = format!("grant_type=client_credentials&client_id={MASTER}&client_secret={secret}");
        self.send("POST", "/o/token/", &[("content-type", "application/x-www-form-urlencoded")], form).await
    }

    /// Creates the default pipeline of tests and returns its id.
    pub async fn pipeline(&self) -> String {
        let body = serde_json::json!({
            "name": "Unit 20 manuals", "embedding_model": "hash-512", "text_splitter": "recursive_character",
            "classifications": ["manual", "datasheet"],
        });
        let created = self.post("/api/pipelines", &body).await;
        assert_eq!(created.status, 201, "{}", String::from_utf8_lossy(&created.body));
        created.json()["id"].as_str().unwrap().to_owned()
    }

    /// Uploads a file with additional form fields.
    pub async fn upload(&self, pipeline: &str, name: &str, bytes: &[u8], parts: &[(&str, &str)]) -> TestResponse {
        self.upload_as(&[], pipeline, name, bytes, parts).await
    }

    pub async fn upload_as(
        &self,
        headers: &[(&str, &str)],
        pipeline: &str,
        name: &str,
        bytes: &[u8],
        parts: &[(&str, &str)],
    ) -> TestResponse {
        let headers: Vec<_> =
            [("content-type", "multipart/form-data; boundary=x7x")].iter().chain(headers).copied().collect();
        self.send("POST", &format!("/api/pipelines/{pipeline}/documents"), &headers, form(name, bytes, parts)).await
    }
}

/// Returns `true` if a text is in any file of a folder. Tolerates the log file of a database that is being closed.
pub fn is_stored(folder: &Path, text: &str) -> bool {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).any(|path| {
        if path.is_dir() {
            return is_stored(&path, text);
        }
        match std::fs::read(&path) {
            Ok(bytes) => bytes.windows(text.len()).any(|window| window == text.as_bytes()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => false,
            Err(error) => panic!("{}: {error}", path.display()),
        }
    })
}

/// Returns a multipart form with a file and additional fields.
pub fn form(name: &str, bytes: &[u8], parts: &[(&str, &str)]) -> Vec<u8> {
    let mut body = Vec::new();
    for (part, value) in parts {
        let head = format!("--x7x\r\nContent-Disposition: form-data; name=\"{part}\"\r\n\r\n{value}\r\n");
        body.extend_from_slice(head.as_bytes());
    }
    let head = format!(
        "--x7x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\nContent-Type: text/plain\r\n\r\n"
    );
    body.extend_from_slice(head.as_bytes());
    body.extend_from_slice(bytes);
    body.extend_from_slice(b"\r\n--x7x--\r\n");
    body
}
