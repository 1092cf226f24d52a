//! HTTP/2: the same responses, and abusive clients.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http2::{Builder, SendRequest, handshake};
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use pidq_http::Limits;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use crate::server::{Server, app, status};

type Body = Full<Bytes>;

pub async fn connect(server: &Server) -> SendRequest<Body> {
    let io = TokioIo::new(server.connect().await);
    let (sender, connection) = handshake(TokioExecutor::new(), io).await.expect("an HTTP/2 connection");
    tokio::spawn(connection);
    sender
}

pub fn request(server: &Server, method: Method, path: &str, body: &'static str) -> Request<Body> {
    let uri = format!("http://{}{path}", server.address);
    let request = Request::builder().method(method).uri(uri).header("content-type", "application/json");
    request.body(Full::from(body)).expect("a request")
}

async fn text(response: hyper::Response<hyper::body::Incoming>) -> (StatusCode, String) {
    let status = response.status();
    let body = response.into_body().collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    (status, String::from_utf8_lossy(&body).into_owned())
}

#[tokio::test]
async fn streams_of_one_connection_are_served_concurrently() {
    let server = Server::start(app());
    let mut sender = connect(&server).await;
    let slow = sender.send_request(request(&server, Method::GET, "/slow", ""));
    let quick = sender.send_request(request(&server, Method::POST, "/echo", "[1,2]"));
    let (slow, quick) = tokio::join!(slow, quick);
    assert_eq!(text(quick.expect("a response")).await, (StatusCode::OK, "[1,2]".into()));
    assert_eq!(text(slow.expect("a response")).await, (StatusCode::OK, "slow".into()));
    let big = sender.send_request(request(&server, Method::GET, "/big", "")).await.expect("a response");
    assert_eq!(text(big).await.1.len(), 8 << 20);
}

#[tokio::test]
async fn a_panic_ends_only_its_stream() {
    let server = Server::start(app());
    let mut sender = connect(&server).await;
    let slow = sender.send_request(request(&server, Method::GET, "/slow", ""));
    let panic = sender.send_request(request(&server, Method::GET, "/panic", ""));
    let (slow, panic) = tokio::join!(slow, panic);
    assert_eq!(panic.map(|response| response.status()).ok(), Some(StatusCode::INTERNAL_SERVER_ERROR));
    assert_eq!(text(slow.expect("a response")).await.1, "slow");
}

#[tokio::test]
async fn a_host_that_differs_from_the_authority_is_rejected() {
    let server = Server::start(app());
    let mut sender = connect(&server).await;
    let mut contradicting = request(&server, Method::GET, "/things/1", "");
    contradicting.headers_mut().insert("host", "other".parse().expect("a value"));
    let response = sender.send_request(contradicting).await.expect("a response");
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn running_streams_complete_before_shutdown() {
    let server = Server::start(app());
    let mut sender = connect(&server).await;
    let slow = tokio::spawn(sender.send_request(request(&server, Method::GET, "/slow", "")));
    server.wait_until_busy().await;
    server.stop.stop();
    let response = slow.await.expect("no panic").expect("a response");
    assert_eq!(text(response).await.1, "slow");
    assert!(server.done.await.is_ok_and(|ended| ended.is_ok()));
}

#[tokio::test]
async fn a_client_without_flow_control_window_is_disconnected() {
    let mut app = app();
    app.limits = Limits { write_timeout: Duration::from_millis(400), ..app.limits };
    let server = Server::start(app);
    let io = TokioIo::new(server.connect().await);
    let mut builder = Builder::new(TokioExecutor::new());
    builder.initial_stream_window_size(0).initial_connection_window_size(0);
    let (mut sender, connection) = builder.handshake::<_, Body>(io).await.expect("an HTTP/2 connection");
    let connection = tokio::spawn(connection);
    let response = sender.send_request(request(&server, Method::GET, "/big", "")).await.expect("a head");
    assert_eq!(response.status(), StatusCode::OK);
    assert!(timeout(Duration::from_secs(3), connection).await.is_ok(), "the server waits forever");
}

#[tokio::test]
async fn a_flood_of_resets_ends_only_its_connection() {
    let server = Server::start(app());
    let mut stream = server.connect().await;
    stream
        .write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00")
        .await
        .expect("it is open");
    let mut flood = Vec::new();
    for id in (1_u32..100_000).step_by(2) {
        // :method GET, :scheme http, :path /, :authority x; then RST_STREAM.
        flood.extend_from_slice(&[0, 0, 6, 1, 5]);
        flood.extend_from_slice(&id.to_be_bytes());
        flood.extend_from_slice(&[0x82, 0x86, 0x84, 0x41, 1, b'x']);
        flood.extend_from_slice(&[0, 0, 4, 3, 0]);
        flood.extend_from_slice(&id.to_be_bytes());
        flood.extend_from_slice(&8_u32.to_be_bytes());
    }
    let (mut reader, mut writer) = stream.into_split();
    let written = tokio::spawn(async move { writer.write_all(&flood).await });
    let mut response = Vec::new();
    let ended = timeout(Duration::from_secs(10), reader.read_to_end(&mut response)).await;
    assert!(ended.is_ok(), "the connection stays open");
    let _ = written.await;
    assert_eq!(status(&server.request("GET /things/1 HTTP/1.1", "").await), 200);
}

#[tokio::test]
async fn an_endless_head_is_rejected() {
    let server = Server::start(app());
    let mut stream = server.connect().await;
    stream
        .write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00")
        .await
        .expect("it is open");
    // HEADERS without END_HEADERS, then CONTINUATION frames without end.
    let mut flood = vec![0, 0, 1, 1, 0, 0, 0, 0, 1, 0x82];
    for _ in 0..10_000 {
        flood.extend_from_slice(&[0, 0, 64, 9, 0, 0, 0, 0, 1]);
        flood.extend_from_slice(&[0x82; 64]);
    }
    let (mut reader, mut writer) = stream.into_split();
    let written = tokio::spawn(async move { writer.write_all(&flood).await });
    let mut response = Vec::new();
    let ended = timeout(Duration::from_secs(10), reader.read_to_end(&mut response)).await;
    assert!(ended.is_ok(), "the connection stays open");
    let _ = written.await;
}

#[tokio::test]
async fn too_many_headers_are_rejected() {
    let server = Server::start(app());
    let mut sender = connect(&server).await;
    let mut large = request(&server, Method::GET, "/things/1", "");
    for number in 0..300 {
        let name: hyper::header::HeaderName = format!("x-{number}").parse().expect("a name");
        large.headers_mut().insert(name, "y".repeat(100).parse().expect("a value"));
    }
    let response = sender.send_request(large).await;
    let refused = response.map_or(true, |response| response.status() == StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE);
    assert!(refused, "30 KiB of headers are too much");
}

/// Encodes a header field as a literal, without a table.
fn field((name, value): &(&str, &str)) -> Vec<u8> {
    let text = |text: &str| [&[text.len() as u8], text.as_bytes()].concat();
    [vec![0], text(name), text(value)].concat()
}

fn frame(kind: u8, flags: u8, payload: &[u8]) -> Vec<u8> {
    [&[0, 0, payload.len() as u8, kind, flags, 0, 0, 0, 1], payload].concat()
}

/// Returns the first reaction to the only stream: `answered`, `reset`, or `closed` for the end of the connection.
async fn reaction_to(server: &Server, fields: &[(&str, &str)], data: &[u8]) -> &'static str {
    // :method POST, :scheme http, :path /echo, :authority x.
    let mut head = b"\x83\x86\x04\x05/echo\x01\x01x".to_vec();
    head.extend([("content-type", "application/json")].iter().chain(fields).flat_map(field));
    let opening = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00";
    let mut stream = server.connect().await;
    let request = [opening, frame(1, 4, &head).as_slice(), &frame(0, 1, data)].concat();
    stream.write_all(&request).await.expect("it is open");
    loop {
        let mut frame = [0; 9];
        stream.read_exact(&mut frame).await.expect("the stream has an end");
        let length = u32::from_be_bytes([0, frame[0], frame[1], frame[2]]) as usize;
        stream.read_exact(&mut vec![0; length]).await.expect("a frame is whole");
        match frame[3] {
            1 => return "answered",
            3 => return "reset",
            7 => return "closed",
            _ => {}
        }
    }
}

#[tokio::test]
async fn requests_that_a_proxy_could_split_are_rejected() {
    let server = Server::start(app());
    for fields in [&[][..], &[("content-length", "3")], &[("te", "trailers")], &[("x", "a b")]] {
        assert_eq!(reaction_to(&server, fields, b"[1]").await, "answered", "{fields:?}");
    }
    for field in [
        ("content-length", "2"),
        ("content-length", "4"),
        ("content-length", "+3"),
        ("transfer-encoding", "chunked"),
        ("connection", "close"),
        ("keep-alive", "timeout=5"),
        ("proxy-connection", "close"),
        ("upgrade", "h2c"),
        ("te", "gzip"),
        ("x", "a\r\nb: c"),
        ("x", "a\nb"),
        ("x", "a\rb"),
        ("x", "a\0b"),
        ("x\r\ny", "a"),
        ("x: y", "a"),
        ("X", "a"),
    ] {
        let reaction = reaction_to(&server, &[field], b"[1]").await;
        assert!(["reset", "closed"].contains(&reaction), "{field:?} is {reaction}");
    }
}
