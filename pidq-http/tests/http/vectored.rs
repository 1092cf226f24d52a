//! Vectored responses: the same bytes for every kind of client.

use std::io::Read;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::Method;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpSocket;

use crate::server::{ManyParts, Server, app, body, status};
use crate::{http2, tls};

const REQUEST: &[u8] = b"GET /parts HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

#[tokio::test]
async fn many_parts_are_one_response() {
    let server = Server::start(app());
    let response = server.raw(REQUEST).await;
    assert_eq!(status(&response), 200);
    assert!(body(&response) == ManyParts::text());
}

#[tokio::test]
async fn a_client_with_a_small_buffer_gets_the_full_body() {
    let server = Server::start(app());
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.set_recv_buffer_size(4096).expect("a small one");
    let mut stream = socket.connect(server.address).await.expect("the server listens");
    stream.write_all(REQUEST).await.expect("it is open");
    let (mut response, mut piece) = (Vec::new(), vec![0; 3001]);
    for turn in 0.. {
        match stream.read(&mut piece).await.expect("a response") {
            0 => break,
            count => response.extend_from_slice(&piece[..count]),
        }
        if turn % 100 == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
    assert!(body(&String::from_utf8_lossy(&response)) == ManyParts::text());
}

#[tokio::test]
async fn pipelined_responses_stay_separate() {
    let server = Server::start(app());
    let again = "GET /parts HTTP/1.1\r\nHost: x\r\n\r\nGET /things/1 HTTP/1.1\r\nHost: x\r\n\r\n".repeat(3);
    let response = server.raw([again.as_bytes(), REQUEST].concat()).await;
    let parts: Vec<&str> = response.split("HTTP/1.1 200 OK\r\n").skip(1).map(body).collect();
    let (large, small) = (ManyParts::text(), "\"1\"".to_owned());
    assert!(parts == [&large, &small, &large, &small, &large, &small, &large]);
}

#[tokio::test]
async fn http2_and_compression_give_the_same_bytes() {
    let server = Server::start(app());
    let mut sender = http2::connect(&server).await;
    let response = sender.send_request(http2::request(&server, Method::GET, "/parts", "")).await.expect("a response");
    assert!(response.into_body().collect().await.expect("a body").to_bytes() == ManyParts::text());

    let mut stream = server.connect().await;
    stream.write_all(b"GET /parts HTTP/1.0\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n").await.expect("it is open");
    let mut response = Vec::new();
    stream.read_to_end(&mut response).await.expect("a response");
    let head = response.windows(4).position(|bytes| bytes == b"\r\n\r\n").expect("a head");
    let mut plain = String::new();
    let decompressed = flate2::read::GzDecoder::new(&response[head + 4..]).read_to_string(&mut plain);
    assert!(decompressed.is_ok() && plain == ManyParts::text());
}

#[tokio::test]
async fn tls_gives_the_same_bytes() {
    let directory = tempfile::tempdir().expect("a directory");
    let certificate = tls::certify(directory.path());
    let server = tls::start(&tls::open(directory.path(), pidq_http::TlsVersion::V1_2));
    let stream = tls::connect(&server, &certificate, &[&rustls::version::TLS13], &["http/1.1"]).await;
    let mut stream = stream.expect("a handshake");
    stream.write_all(REQUEST).await.expect("it is open");
    let mut response = String::new();
    stream.read_to_string(&mut response).await.expect("a response");
    assert!(body(&response) == ManyParts::text());
}

#[tokio::test]
async fn an_in_process_call_gives_the_same_bytes() {
    let service: pidq_http::Service<_> = app().build();
    let request = hyper::Request::get("/parts").header("host", "x").body(Bytes::new()).expect("a request");
    let response = service.call(request).await.into_body().collect().await;
    assert!(response.is_ok_and(|body| body.to_bytes() == ManyParts::text()));
}
