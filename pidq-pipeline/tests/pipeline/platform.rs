//! A platform in this process, and callers that ask it.

use std::path::Path;
use std::sync::Arc;

use http_body_util::BodyExt;
use hyper::{HeaderMap, Request};
use pidq_http::{Settings, Site};
use pidq_pipeline::{Platform, TABLES, ingest, open};
use serde_json::Value;
use tempfile::TempDir;

use crate::{databases, servers};

pub const MASTER: &str = "0199aaaa-0000-7000-8000-000000000001";
pub const SECRET: &str = "f3a9c1d7e5b2408c9d6a1e7f0b3c5d8e";

/// A platform on a database of its own.
pub struct World {
    pub site: Site<Platform>,
    pub state: Arc<Platform>,
    _folder: Option<TempDir>,
}

/// An answer as a test reads it.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Answer {
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
pub async fn on_each(test: impl AsyncFn(World)) {
    on_each_url(async |url| test(World::at(url, &[]).await).await).await;
    let (Some(url), Some((redis, nats))) = (databases::fresh_postgres(), servers::shared()) else { return };
    let servers = [("PIDQ_REDIS_URL", redis.as_str()), ("PIDQ_NATS_URL", &nats), ("PIDQ_APP_SECRET", SECRET)];
    let world = World::at(&url, &servers).await;
    world.until_degraded(&[]).await;
    test(world).await;
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

impl World {
    pub async fn sqlite(more: &[(&str, &str)]) -> World {
        let folder = TempDir::new().unwrap();
        World::open(&databases::sqlite_url(&folder), Some(folder), more).await
    }

    /// On a database that somebody else looks after.
    pub async fn at(url: &str, more: &[(&str, &str)]) -> World {
        World::open(url, None, more).await
    }

    async fn open(url: &str, folder: Option<TempDir>, more: &[(&str, &str)]) -> World {
        let own = [
            ("PIDQ_DATABASE_URL", url),
            ("PIDQ_RATE", "0"),
            ("PIDQ_UPLOAD_RATE", "0"),
            ("PIDQ_QUERY_RATE", "0"),
            ("PIDQ_READER", env!("CARGO_BIN_EXE_pidq-pipeline")),
        ];
        let environment = own.iter().chain(more).map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let settings = Settings::read(TABLES, [], environment).unwrap();
        let app = open(&settings).await.unwrap_or_else(|error| panic!("{error}"));
        World { state: app.state.clone(), site: app.build(), _folder: folder }
    }

    /// The same platform, with workers as long as the test runs.
    pub fn working(self) -> World {
        for _ in 0..2 {
            tokio::spawn(ingest::work(Arc::clone(&self.state)));
        }
        self
    }

    /// Sends a request with headers and a body.
    pub async fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: impl Into<Vec<u8>>) -> Answer {
        let mut request = Request::builder().method(method).uri(path).header("host", "localhost");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (head, body) = self.site.call(request.body(body.into().into()).unwrap()).await.into_parts();
        let body = body.collect().await.unwrap_or_else(|_| panic!("the answer ends early")).to_bytes().to_vec();
        Answer { status: head.status.as_u16(), headers: head.headers, body }
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], "").await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send("POST", path, &[("content-type", "application/json")], body.to_string()).await
    }

    /// Asks for a token with the master key.
    pub async fn token(&self, secret: &str) -> Answer {
        let form = format!("grant_type=client_credentials&client_id={MASTER}&client_secret={secret}");
        self.send("POST", "/o/token/", &[("content-type", "application/x-www-form-urlencoded")], form).await
    }

    /// Makes the pipeline of most tests and gives its id.
    pub async fn pipeline(&self) -> String {
        let body = serde_json::json!({
            "name": "Unit 20 manuals", "embedding_model": "hash-512", "text_splitter": "recursive_character",
            "classifications": ["manual", "datasheet"],
        });
        let made = self.post("/api/pipelines", &body).await;
        assert_eq!(made.status, 201, "{}", String::from_utf8_lossy(&made.body));
        made.json()["id"].as_str().unwrap().to_owned()
    }

    /// Uploads a file with other parts beside it.
    pub async fn upload(&self, pipeline: &str, name: &str, bytes: &[u8], parts: &[(&str, &str)]) -> Answer {
        self.upload_as(&[], pipeline, name, bytes, parts).await
    }

    pub async fn upload_as(
        &self,
        headers: &[(&str, &str)],
        pipeline: &str,
        name: &str,
        bytes: &[u8],
        parts: &[(&str, &str)],
    ) -> Answer {
        let headers: Vec<_> =
            [("content-type", "multipart/form-data; boundary=x7x")].iter().chain(headers).copied().collect();
        self.send("POST", &format!("/api/pipelines/{pipeline}/documents"), &headers, form(name, bytes, parts)).await
    }
}

/// Whether a text is anywhere in the files of a folder. A database that is closed just now takes its log away.
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

/// A form with a file and other parts.
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
