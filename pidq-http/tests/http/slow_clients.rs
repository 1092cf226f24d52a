//! Slow clients: silent, slow to send heads or bodies, slow to read. All time out.

use std::time::{Duration, Instant};

use pidq_http::Limits;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::sleep;

use crate::server::{Server, app, rest, status};

/// Starts a server with timeouts below half a second.
fn server_with_short_timeouts() -> Server {
    let mut app = app();
    app.limits = Limits {
        first_byte_timeout: Duration::from_millis(300),
        head_timeout: Duration::from_millis(300),
        body_grace: Duration::from_millis(300),
        body_rate: 1 << 20,
        write_timeout: Duration::from_millis(400),
        ..app.limits
    };
    Server::start(app)
}

/// Sends one byte at a time until the server closes; returns the response and the duration.
async fn drip(server: &Server, start: &str, then: u8) -> (String, Duration) {
    let mut stream = server.connect().await;
    stream.write_all(start.as_bytes()).await.expect("it is open");
    let started = Instant::now();
    let (mut reader, mut writer) = stream.into_split();
    let dripping = tokio::spawn(async move {
        while writer.write_all(&[then]).await.is_ok() {
            sleep(Duration::from_millis(20)).await;
        }
    });
    let mut response = Vec::new();
    let read = tokio::time::timeout(Duration::from_secs(10), reader.read_to_end(&mut response)).await;
    dripping.abort();
    assert!(read.is_ok(), "the server does not time out");
    (String::from_utf8_lossy(&response).into_owned(), started.elapsed())
}

#[tokio::test]
async fn silent_clients_are_disconnected() {
    let server = server_with_short_timeouts();
    let started = Instant::now();
    assert_eq!(rest(server.connect().await).await, "");
    assert!(started.elapsed() < Duration::from_secs(2));
}

#[tokio::test]
async fn a_partial_preface_times_out() {
    let server = server_with_short_timeouts();
    let mut stream = server.connect().await;
    stream.write_all(b"PRI * HT").await.expect("it is open");
    let started = Instant::now();
    rest(stream).await;
    assert!(started.elapsed() < Duration::from_secs(2));
}

#[tokio::test]
async fn an_idle_connection_is_closed() {
    let server = server_with_short_timeouts();
    let mut stream = server.connect().await;
    stream.write_all(b"GET /things/1 HTTP/1.1\r\nHost: x\r\n\r\n").await.expect("it is open");
    assert_eq!(status(&rest(stream).await), 200);
}

#[tokio::test]
async fn slow_heads_time_out() {
    let (_, duration) = drip(&server_with_short_timeouts(), "GET /things/1 HTTP/1.1\r\nHost: x\r\nX: ", b'y').await;
    assert!(duration < Duration::from_secs(2), "{duration:?}");
}

#[tokio::test]
async fn the_head_of_a_second_request_times_out() {
    let start = "GET /things/1 HTTP/1.1\r\nHost: x\r\n\r\nGET /things/1 HTTP/1.1\r\nHost: x\r\nX: ";
    let (response, duration) = drip(&server_with_short_timeouts(), start, b'y').await;
    assert_eq!((status(&response), response.matches("HTTP/1.1").count()), (200, 1));
    assert!(duration < Duration::from_secs(2), "{duration:?}");
}

/// The time of a head runs neither while a handler works nor while the client reads.
#[tokio::test]
async fn responses_may_take_longer_than_a_head() {
    let mut app = app();
    app.limits.head_timeout = Duration::from_millis(300);
    let server = Server::start(app);
    let slow = "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n";
    assert_eq!(server.raw(slow.repeat(2)).await.matches("200 OK").count(), 2);
    let mut stream = TcpStream::from_std(socket(&server, 64 << 10)).expect("a socket");
    stream.write_all(b"GET /big HTTP/1.1\r\nHost: x\r\n\r\n").await.expect("it is open");
    let (mut total, mut part) = (0, vec![0; 32 << 10]);
    while total < 8 << 20 {
        sleep(Duration::from_millis(3)).await;
        let read = stream.read(&mut part).await.expect("it is open");
        assert_ne!(read, 0, "closed after {total} bytes");
        total += read;
    }
}

#[tokio::test]
async fn slow_bodies_time_out_with_408() {
    let head = "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n";
    let (response, duration) = drip(&server_with_short_timeouts(), head, b' ').await;
    assert_eq!(status(&response), 408);
    assert!(duration < Duration::from_secs(2), "{duration:?}");
}

#[tokio::test]
async fn clients_that_stop_reading_are_disconnected() {
    let server = server_with_short_timeouts();
    let socket = socket(&server, 4096);
    let mut stream = TcpStream::from_std(socket).expect("a socket");
    stream.write_all(b"GET /big HTTP/1.1\r\nHost: x\r\n\r\n").await.expect("it is open");
    sleep(Duration::from_millis(1500)).await;
    let mut response = Vec::new();
    let _ = stream.read_to_end(&mut response).await;
    assert!(response.len() < 8 << 20, "the server disconnected before the end: {} bytes", response.len());
}

/// Returns a socket with a small receive buffer.
fn socket(server: &Server, buffer_size: usize) -> std::net::TcpStream {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).expect("a socket");
    socket.set_recv_buffer_size(buffer_size).expect("an option");
    socket.connect(&server.address.into()).expect("the server listens");
    socket.set_nonblocking(true).expect("an option");
    socket.into()
}

#[tokio::test]
async fn many_slow_clients_do_not_delay_others() {
    let server = server_with_short_timeouts();
    let mut slow = Vec::new();
    for _ in 0..300 {
        let mut stream = server.connect().await;
        stream.write_all(b"GET /things/1 HTTP/1.1\r\nHo").await.expect("it is open");
        slow.push(stream);
    }
    let started = Instant::now();
    assert_eq!(status(&server.request("GET /things/1 HTTP/1.1", "").await), 200);
    assert!(started.elapsed() < Duration::from_secs(1));
}
