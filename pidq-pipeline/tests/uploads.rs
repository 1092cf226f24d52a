//! Tests of concurrent large uploads: they use disk and little memory, and aborted ones leave no data. A separate test
//! program, because the memory of the process is measured.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use pidq_http::{Listener, Settings, Shutdown, Stop, serve};
use pidq_pipeline::Platform;
use pidq_pipeline::TABLES;
use pidq_pipeline::ingest::worker;
use pidq_pipeline::open;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Mutex;

/// Lock that serializes the tests, whose measurements would interfere.
static TEST_LOCK: Mutex<()> = Mutex::const_new(());

/// A listening platform without workers.
struct Server {
    address: SocketAddr,
    platform: Arc<Platform>,
    folder: TempDir,
    _stop: Stop,
}

impl Server {
    async fn start(settings: &[(&str, &str)]) -> Server {
        let folder = TempDir::new().unwrap();
        let data = folder.path().to_str().unwrap().to_owned();
        let defaults = [
            ("PIDQ_DATA_DIR", data.as_str()),
            ("PIDQ_RATE_LIMIT", "0"),
            ("PIDQ_UPLOAD_RATE_LIMIT", "0"),
            ("PIDQ_EXTRACTOR", env!("CARGO_BIN_EXE_pidq-pipeline")),
        ];
        let all = defaults.iter().chain(settings);
        let environment = all.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let app = open(&Settings::read(TABLES, [], environment).unwrap()).await.unwrap();
        let listener = Listener::plain(([127, 0, 0, 1], 0).into()).unwrap();
        let (address, (stop, shutdown)) = (listener.address().unwrap(), Shutdown::manual());
        let platform = app.state.clone();
        tokio::spawn(serve(app, vec![listener], shutdown));
        Server { address, platform, folder, _stop: stop }
    }

    fn uploads(&self) -> PathBuf {
        self.folder.path().join("uploads")
    }

    /// Sends a request with a body in memory; returns the status and the response body.
    async fn request(&self, head: &str, body: &str) -> (u16, Value) {
        let mut stream = self.send_head(head, body.len()).await;
        stream.write_all(body.as_bytes()).await.unwrap();
        read_response(stream).await
    }

    /// Opens a connection and sends a request head.
    async fn send_head(&self, head: &str, length: usize) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let head = format!("{head}\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        stream
    }

    async fn pipeline(&self) -> String {
        let body =
            json!({"name": "p", "embedding_model": "hash-512", "text_splitter": "token", "classifications": ["a"]});
        let head = "POST /api/pipelines HTTP/1.1\r\nContent-Type: application/json";
        self.request(head, &body.to_string()).await.1["id"].as_str().unwrap().to_owned()
    }

    /// Opens a connection and starts the upload of a document with the given number of blocks.
    async fn upload(&self, pipeline: &str, blocks: usize) -> TcpStream {
        let path = format!("/api/pipelines/{pipeline}/documents");
        let head = format!("POST {path} HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=x7x");
        let mut stream = self.send_head(&head, FORM.len() + blocks * BLOCK_SIZE + END.len()).await;
        stream.write_all(FORM.as_bytes()).await.unwrap();
        stream
    }

    /// Uploads a page with the given number of invisible blocks, and waits until its visible text is found.
    async fn upload_page(&self, pipeline: &str, title: &str, blocks: usize) -> Value {
        let (prefix, suffix) = (format!("<html><body><p>{title}</p><!-- "), " --></body></html>");
        let path = format!("/api/pipelines/{pipeline}/documents?wait=120");
        let head = format!("POST {path} HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=x7x");
        let form = FORM.replace("a.txt", "a.html");
        let length = form.len() + prefix.len() + blocks * BLOCK_SIZE + suffix.len() + END.len();
        let (mut stream, block) = (self.send_head(&head, length).await, block(title));
        stream.write_all((form + &prefix).as_bytes()).await.unwrap();
        for _ in 0..blocks {
            stream.write_all(&block).await.unwrap();
        }
        stream.write_all((suffix.to_owned() + END).as_bytes()).await.unwrap();
        read_response(stream).await.1
    }

    async fn documents(&self, pipeline: &str) -> Value {
        let list = self.request(&format!("GET /api/pipelines/{pipeline}/documents HTTP/1.1"), "").await.1;
        list["data"].clone()
    }
}

const BLOCK_SIZE: usize = 64 << 10;
const FORM: &str = "--x7x\r\nContent-Disposition: form-data; name=\"classification\"\r\n\r\na\r\n--x7x\r\n\
    Content-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\n";
const END: &str = "\r\n--x7x--\r\n";

/// Returns a block of text that is unique to a document.
fn block(name: &str) -> Vec<u8> {
    name.bytes().cycle().take(BLOCK_SIZE).collect()
}

async fn read_response(mut stream: TcpStream) -> (u16, Value) {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).await.unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text.as_str(), ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    (status, serde_json::from_str(body).unwrap_or(Value::Null))
}

/// Returns the resident memory of the process in bytes.
fn memory() -> usize {
    let pages = fs::read_to_string("/proc/self/statm").unwrap();
    pages.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

/// Samples the memory until it is dropped.
struct MemoryPeak(Arc<(AtomicBool, AtomicUsize)>);

impl MemoryPeak {
    fn start() -> MemoryPeak {
        let peak = Arc::new((AtomicBool::new(false), AtomicUsize::new(memory())));
        let (samples, is_stopped) = (peak.clone(), peak.clone());
        std::thread::spawn(move || {
            while !is_stopped.0.load(Ordering::Relaxed) {
                samples.1.fetch_max(memory(), Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(2));
            }
        });
        MemoryPeak(peak)
    }

    fn bytes(&self) -> usize {
        self.0.1.load(Ordering::Relaxed)
    }
}

impl Drop for MemoryPeak {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

/// Returns the number of open files in a folder, including unlinked ones.
fn open_file_count(folder: &Path) -> usize {
    let links = fs::read_dir("/proc/self/fd").unwrap().flatten();
    links.filter(|link| fs::read_link(link.path()).is_ok_and(|target| target.starts_with(folder))).count()
}

/// Number of blocks of a large document: 64 MiB.
const BLOCKS: usize = 1024;
/// Allowed memory growth by uploads: four documents in memory would be 256 MiB.
const UPLOAD_GROWTH: usize = 16 << 20;
/// Allowed memory growth by ingestion, which buffers some dozens of blocks of 256 KiB.
const INGESTION_GROWTH: usize = 32 << 20;

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_large_uploads_use_little_memory() {
    let _guard = TEST_LOCK.lock().await;
    let server = Arc::new(Server::start(&[]).await);
    let id = server.pipeline().await;
    // One-time allocations happen before the measurement.
    let mut first = server.upload(&id, 16).await;
    for _ in 0..16 {
        first.write_all(&block("first")).await.unwrap();
    }
    first.write_all(END.as_bytes()).await.unwrap();
    assert_eq!(read_response(first).await.0, 202);
    let (before, peak) = (memory(), MemoryPeak::start());
    let uploads = ["one ", "two ", "three ", "four "].map(|name| {
        let (server, id) = (server.clone(), id.clone());
        tokio::spawn(async move {
            let (mut stream, block) = (server.upload(&id, BLOCKS).await, block(name));
            for _ in 0..BLOCKS {
                stream.write_all(&block).await.unwrap();
            }
            stream.write_all(END.as_bytes()).await.unwrap();
            read_response(stream).await
        })
    });
    for upload in uploads {
        let (status, document) = upload.await.unwrap();
        assert_eq!((status, &document["size"]), (202, &json!(BLOCKS * BLOCK_SIZE)), "{document}");
    }
    let growth = peak.bytes().saturating_sub(before);
    println!("four documents of 64 MiB at once: {} KiB more memory", growth >> 10);
    assert!(growth < UPLOAD_GROWTH, "{} MiB", growth >> 20);
    assert_eq!(open_file_count(&server.uploads()), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_document_is_ingested_in_blocks() {
    let _guard = TEST_LOCK.lock().await;
    let server = Server::start(&[]).await;
    let worker = tokio::spawn(worker::run_worker(server.platform.clone()));
    let id = server.pipeline().await;
    let first = server.upload_page(&id, "first page", 16).await;
    assert_eq!((&first["status"], &first["chunk_count"]), (&json!("ready"), &json!(1)), "{first}");
    let (before, peak) = (memory(), MemoryPeak::start());
    let large = server.upload_page(&id, "large page", BLOCKS).await;
    assert_eq!((&large["status"], &large["chunk_count"]), (&json!("ready"), &json!(1)), "{large}");
    let growth = peak.bytes().saturating_sub(before);
    println!("ingestion of a document of 64 MiB: {} KiB more memory", growth >> 10);
    assert!(growth < INGESTION_GROWTH, "{} MiB", growth >> 20);
    worker.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_aborted_or_stalled_upload_leaves_no_data() {
    let _guard = TEST_LOCK.lock().await;
    let server = Server::start(&[("PIDQ_BODY_IDLE_TIMEOUT", "2s")]).await;
    let id = server.pipeline().await;
    let (mut aborted, mut stalled) = (server.upload(&id, 64).await, server.upload(&id, 64).await);
    for stream in [&mut aborted, &mut stalled] {
        for _ in 0..32 {
            stream.write_all(&block("half ")).await.unwrap();
        }
    }
    wait_until("both uploads are in files", || open_file_count(&server.uploads()) == 2).await;
    assert_eq!(fs::read_dir(server.uploads()).unwrap().count(), 0, "the files are unlinked");
    drop(aborted);
    wait_until("the aborted upload is deleted", || open_file_count(&server.uploads()) == 1).await;
    assert_eq!(read_response(stalled).await.0, 408);
    wait_until("the stalled upload is deleted", || open_file_count(&server.uploads()) == 0).await;
    assert_eq!(server.documents(&id).await, json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_classification_removed_during_an_upload_gets_no_document() {
    let _guard = TEST_LOCK.lock().await;
    let server = Server::start(&[]).await;
    let id = server.pipeline().await;
    let mut slow = server.upload(&id, 16).await;
    for _ in 0..8 {
        slow.write_all(&block("slow ")).await.unwrap();
    }
    wait_until("the upload has started", || open_file_count(&server.uploads()) == 1).await;
    let patch = format!("PATCH /api/pipelines/{id} HTTP/1.1\r\nContent-Type: application/json");
    assert_eq!(server.request(&patch, r#"{"classifications": ["b"]}"#).await.0, 200);
    for _ in 0..8 {
        slow.write_all(&block("slow ")).await.unwrap();
    }
    slow.write_all(END.as_bytes()).await.unwrap();
    let (status, problem) = read_response(slow).await;
    assert_eq!((status, &problem["code"], &problem["allowed"]), (422, &json!("unknown-classification"), &json!(["b"])));
    assert_eq!(server.documents(&id).await, json!([]));
}

async fn wait_until(description: &str, condition: impl Fn() -> bool) {
    for _ in 0..600 {
        if condition() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("timeout: {description}");
}
