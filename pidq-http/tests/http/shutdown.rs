//! Graceful shutdown: no response is truncated, and accepted connections are served.

use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};

use pidq_http::{Listener, Shutdown, serve};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{sleep, timeout};

use crate::server::{Server, app, body, header, rest, status};

#[tokio::test]
async fn running_requests_complete_before_shutdown() {
    let server = Server::start(app());
    let mut stream = server.connect().await;
    stream.write_all(b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n").await.expect("it is open");
    server.wait_until_busy().await;
    server.stop.stop();
    let response = rest(stream).await;
    assert_eq!((status(&response), body(&response)), (200, "slow"));
    assert!(response.to_lowercase().contains("connection: close"), "{response}");
    assert!(server.done.await.is_ok_and(|ended| ended.is_ok()));
    assert!(tokio::net::TcpStream::connect(server.address).await.is_err(), "the listener is closed");
}

#[tokio::test]
async fn a_request_in_transit_is_served() {
    let mut app = app();
    app.limits.shutdown_delay = Duration::ZERO;
    let server = Server::start(app);
    let mut stream = server.connect().await;
    stream.write_all(b"GET /things/1 HTTP/1.1\r\nHost: ").await.expect("it is open");
    sleep(Duration::from_millis(100)).await;
    server.stop.stop();
    sleep(Duration::from_millis(100)).await;
    stream.write_all(b"x\r\n\r\n").await.expect("it is still open");
    assert_eq!(status(&rest(stream).await), 200);
    assert!(server.done.await.is_ok_and(|ended| ended.is_ok()));
}

#[tokio::test]
async fn requests_in_the_backlog_are_served() {
    let mut app = app();
    app.limits.shutdown_delay = Duration::ZERO;
    let server = Server::start(app);
    assert_eq!(status(&server.request("GET /things/1 HTTP/1.1", "").await), 200);
    // The runtime of this test has one thread, so the server does not run in between.
    let connect = || {
        let mut stream = std::net::TcpStream::connect(server.address).expect("the kernel accepts it");
        let request = b"GET /things/1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        std::io::Write::write_all(&mut stream, request).expect("it is open");
        stream.set_nonblocking(true).and_then(|()| tokio::net::TcpStream::from_std(stream)).expect("a runtime")
    };
    let streams: Vec<_> = (0..300).map(|_| connect()).collect();
    server.stop.stop();
    for stream in streams {
        assert_eq!(status(&rest(stream).await), 200);
    }
    assert!(server.done.await.is_ok_and(|ended| ended.is_ok()));
}

#[tokio::test]
async fn the_second_stop_is_immediate() {
    let mut app = app();
    app.limits.shutdown_delay = Duration::from_secs(60);
    let server = Server::start(app);
    let mut stream = server.connect().await;
    stream.write_all(b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n").await.expect("it is open");
    server.wait_until_busy().await;
    server.stop.stop();
    server.stop.stop();
    assert!(timeout(Duration::from_secs(10), server.done).await.is_ok(), "it waits for the request");
    assert_eq!(rest(stream).await, "", "before the request is done");
}

#[tokio::test]
async fn open_admin_connections_do_not_delay_shutdown() {
    let mut app = app();
    app.limits.shutdown_delay = Duration::ZERO;
    let [public, admin] =
        [Listener::plain, Listener::admin].map(|listener| listener(([127, 0, 0, 1], 0).into()).expect("a port"));
    let address = admin.address().expect("it is bound");
    let server = Server::on(app, vec![public, admin]);
    let _open = tokio::net::TcpStream::connect(address).await.expect("it listens");
    server.stop.stop();
    let ended = timeout(Duration::from_secs(5), server.done).await.expect("it waits for no connection");
    assert!(ended.is_ok_and(|ended| ended.is_ok()));
}

#[tokio::test]
async fn a_draining_server_is_not_ready_but_still_serves() {
    let mut app = app();
    app.limits.shutdown_delay = Duration::from_secs(60);
    let server = Server::start(app);
    assert_eq!(status(&server.request("GET /readyz HTTP/1.1", "").await), 200);
    server.stop.stop();
    let mut ready = String::new();
    while status(&ready) != 503 {
        ready = server.request("GET /readyz HTTP/1.1", "").await;
    }
    assert_eq!(header(&ready, "retry-after"), Some("60"));
    assert_eq!(status(&server.request("GET /things/1 HTTP/1.1", "").await), 200);
    server.stop.stop();
    assert!(server.done.await.is_ok_and(|ended| ended.is_ok()));
}

#[tokio::test]
async fn a_draining_server_keeps_no_connection_for_a_later_request() {
    let mut app = app();
    app.limits.shutdown_delay = Duration::from_secs(60);
    let server = Server::start(app);
    let request = b"GET /things/1 HTTP/1.1\r\nHost: x\r\n\r\n";
    let mut kept = server.connect().await;
    kept.write_all(request).await.expect("it is open");
    let mut head = [0; 4096];
    let length = kept.read(&mut head).await.expect("a response");
    let head = String::from_utf8_lossy(&head[..length]).into_owned();
    assert_eq!((status(&head), header(&head, "connection")), (200, None));
    server.stop.stop();
    while status(&server.request("GET /readyz HTTP/1.1", "").await) != 503 {}
    kept.write_all(request).await.expect("an idle connection stays open: a request may be in transit");
    let last = rest(kept).await;
    assert_eq!((status(&last), header(&last, "connection")), (200, Some("close")), "{last}");
    server.stop.stop();
    assert!(server.done.await.is_ok_and(|ended| ended.is_ok()));
}

#[tokio::test]
async fn connections_are_refused_after_the_delay_and_not_before() {
    let mut app = app();
    app.limits.shutdown_delay = Duration::from_secs(60);
    let listener = Listener::plain(([127, 0, 0, 1], 0).into()).expect("a free port");
    let address = listener.address().expect("it is bound");
    let (stop, shutdown) = Shutdown::manual();
    let mut refused = tokio::spawn(shutdown.clone().connections_refused());
    let done = tokio::spawn(serve(app, vec![listener], shutdown));
    // Without a client, there is no delay.
    let mut client = tokio::net::TcpStream::connect(address).await.expect("it listens");
    client.write_all(b"GET /things/1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await.expect("it is open");
    assert_eq!(status(&rest(client).await), 200);
    stop.stop();
    assert!(timeout(Duration::from_millis(200), &mut refused).await.is_err(), "balancers may not have noticed");
    stop.stop();
    assert!(timeout(Duration::from_secs(10), refused).await.is_ok(), "it tells when connections are refused");
    assert!(done.await.is_ok_and(|ended| ended.is_ok()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn under_load_no_response_is_truncated() {
    for _ in 0..5 {
        let server = Server::start(app());
        let clients: Vec<_> = (0..16)
            .map(|_| {
                let address = server.address;
                tokio::spawn(async move {
                    let mut responses = 0;
                    while let Ok(mut stream) = tokio::net::TcpStream::connect(address).await {
                        let _ = stream.write_all(b"GET /big HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await;
                        let mut response = Vec::new();
                        let _ = stream.read_to_end(&mut response).await;
                        if response.is_empty() {
                            // Connected at the moment the socket was closed: refused, not truncated.
                            break;
                        }
                        assert!(response.len() > 8 << 20, "a response was truncated after {} bytes", response.len());
                        responses += 1;
                    }
                    responses
                })
            })
            .collect();
        sleep(Duration::from_millis(150)).await;
        server.stop.stop();
        assert!(server.done.await.is_ok_and(|ended| ended.is_ok()));
        for client in clients {
            assert!(client.await.is_ok(), "a client got a partial response");
        }
    }
}

#[tokio::test]
async fn a_handler_is_cancelled_when_its_client_disconnects() {
    let server = Server::start(app());
    let mut stream = server.connect().await;
    stream.write_all(b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n").await.expect("it is open");
    server.wait_until_busy().await;
    drop(stream);
    let started = Instant::now();
    while server.state.cancelled.load(SeqCst) == 0 {
        assert!(started.elapsed() < Duration::from_secs(10), "the handler was not cancelled");
        sleep(Duration::from_millis(1)).await;
    }
}
