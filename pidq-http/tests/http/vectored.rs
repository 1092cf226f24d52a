//! Vectored responses: the same bytes for every kind of client.

use std::io::Read;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::Method;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpSocket;

use crate::server::{Parted, Server, app, body, status};
use crate::{http2, tls};

const ASK: &[u8] = b"GET /parts HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

#[tokio::test]
async fn many_parts_are_one_response() {
    let server = Server::start(app());
    let answer = server.raw(ASK).await;
    assert_eq!(status(&answer), 200);
    assert!(body(&answer) == Parted::text());
}

#[tokio::test]
async fn a_client_with_a_small_buffer_gets_all_of_it() {
    let server = Server::start(app());
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.set_recv_buffer_size(4096).expect("a small one");
    let mut stream = socket.connect(server.address).await.expect("the server listens");
    stream.write_all(ASK).await.expect("it is open");
    let (mut answer, mut piece) = (Vec::new(), vec![0; 3001]);
    for turn in 0.. {
        match stream.read(&mut piece).await.expect("an answer") {
            0 => break,
            count => answer.extend_from_slice(&piece[..count]),
        }
        if turn % 100 == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
    assert!(body(&String::from_utf8_lossy(&answer)) == Parted::text());
}

#[tokio::test]
async fn pipelined_responses_stay_separate() {
    let server = Server::start(app());
    let again = "GET /parts HTTP/1.1\r\nHost: x\r\n\r\nGET /things/1 HTTP/1.1\r\nHost: x\r\n\r\n".repeat(3);
    let answer = server.raw([again.as_bytes(), ASK].concat()).await;
    let parts: Vec<&str> = answer.split("HTTP/1.1 200 OK\r\n").skip(1).map(body).collect();
    let (large, small) = (Parted::text(), "\"1\"".to_owned());
    assert!(parts == [&large, &small, &large, &small, &large, &small, &large]);
}

#[tokio::test]
async fn other_ways_bring_the_same() {
    let server = Server::start(app());
    let mut sender = http2::connect(&server).await;
    let answer = sender.send_request(http2::request(&server, Method::GET, "/parts", "")).await.expect("an answer");
    assert!(answer.into_body().collect().await.expect("a body").to_bytes() == Parted::text());

    let mut stream = server.connect().await;
    stream.write_all(b"GET /parts HTTP/1.0\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n").await.expect("it is open");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.expect("an answer");
    let head = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").expect("a head");
    let mut plain = String::new();
    let unpacked = flate2::read::GzDecoder::new(&answer[head + 4..]).read_to_string(&mut plain);
    assert!(unpacked.is_ok() && plain == Parted::text());
}

#[tokio::test]
async fn an_encrypted_connection_brings_the_same() {
    let directory = tempfile::tempdir().expect("a directory");
    let certificate = tls::certify(directory.path());
    let server = tls::start(&tls::open(directory.path(), pidq_http::TlsVersion::V1_2));
    let stream = tls::connect(&server, &certificate, &[&rustls::version::TLS13], &["http/1.1"]).await;
    let mut stream = stream.expect("a handshake");
    stream.write_all(ASK).await.expect("it is open");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("an answer");
    assert!(body(&answer) == Parted::text());
}

#[tokio::test]
async fn without_a_network_it_is_the_same() {
    let service: pidq_http::Service<_> = app().build();
    let request = hyper::Request::get("/parts").header("host", "x").body(Bytes::new()).expect("a request");
    let answer = service.call(request).await.into_body().collect().await;
    assert!(answer.is_ok_and(|body| body.to_bytes() == Parted::text()));
}
