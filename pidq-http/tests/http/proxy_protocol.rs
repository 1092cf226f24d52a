//! PROXY protocol: required from trusted proxies, and ignored from all others.

use std::time::{Duration, Instant};

use pidq_http::Limits;
use pidq_http::ProxyProtocol;
use tokio::io::AsyncWriteExt;
use tokio::time::sleep;

use crate::server::{Server, app, body, rest, status};

const CLIENT_REQUEST: &[u8] = b"GET /client HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
const V1: &[u8] = b"PROXY TCP4 192.0.2.7 198.51.100.1 56324 443\r\n";

/// Starts a server with trusted proxies in `trusted`.
fn server_behind_proxy(trusted: &str) -> Server {
    let mut app = app();
    app.proxies = vec![trusted.parse().expect("a network")];
    app.proxy_protocol = ProxyProtocol::Proxy;
    app.limits = Limits { first_byte_timeout: Duration::from_millis(500), ..app.limits };
    Server::start(app)
}

/// Builds a version 2 header for a client at 2001:db8::7, with or without TLS.
fn v2(tls: bool) -> Vec<u8> {
    let mut header = b"\r\n\r\n\0\r\nQUIT\n\x21\x21\x00\x2c".to_vec();
    header.extend("2001:db8::7".parse::<std::net::Ipv6Addr>().expect("an address").octets());
    header.extend([0; 16]);
    header.extend([220, 4, 1, 187, 0x20, 0, 5, u8::from(tls), 0, 0, 0, 0]);
    header
}

async fn client(server: &Server, header: &[u8]) -> String {
    let response = server.raw([header, CLIENT_REQUEST].concat()).await;
    assert_eq!(status(&response), 200, "{response}");
    body(&response).to_owned()
}

#[tokio::test]
async fn a_trusted_proxy_names_the_client() {
    let server = server_behind_proxy("127.0.0.0/8");
    assert_eq!(client(&server, V1).await, r#"["192.0.2.7",false]"#);
    assert_eq!(client(&server, &v2(false)).await, r#"["2001:db8::7",false]"#);
    assert_eq!(client(&server, &v2(true)).await, r#"["2001:db8::7",true]"#);
    assert_eq!(client(&server, b"PROXY UNKNOWN\r\n").await, r#"["0.0.0.0",false]"#);
    assert_eq!(client(&server, b"\r\n\r\n\0\r\nQUIT\n\x20\x00\x00\x00").await, r#"["127.0.0.1",false]"#);
}

#[tokio::test]
async fn the_named_client_is_not_trusted_as_a_proxy() {
    let server = server_behind_proxy("127.0.0.0/8");
    let claim = b"GET /client HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 203.0.113.9\r\nX-Forwarded-Proto: https\r\n";
    for (header, expected) in [
        (V1, r#"["192.0.2.7",false]"#),
        // A client without a known address is not the proxy, and its forwarding headers are not trusted.
        (b"PROXY UNKNOWN\r\n", r#"["0.0.0.0",false]"#),
        (b"\r\n\r\n\0\r\nQUIT\n\x21\x00\x00\x00", r#"["0.0.0.0",false]"#),
        // Those of the proxy itself are.
        (b"\r\n\r\n\0\r\nQUIT\n\x20\x00\x00\x00", r#"["203.0.113.9",true]"#),
    ] {
        let response = server.raw([header, claim, b"Connection: close\r\n\r\n"].concat()).await;
        assert_eq!(body(&response), expected);
    }
}

#[tokio::test]
async fn a_header_from_an_untrusted_address_is_rejected() {
    let server = server_behind_proxy("10.0.0.0/8");
    assert_eq!(client(&server, b"").await, r#"["127.0.0.1",false]"#);
    let response = server.raw([V1, CLIENT_REQUEST].concat()).await;
    assert!(response.is_empty() || status(&response) == 400, "{response}");
    let response = server.raw([&v2(true), CLIENT_REQUEST].concat()).await;
    assert!(response.is_empty() || status(&response) == 400, "{response}");
}

#[tokio::test]
async fn a_trusted_proxy_without_a_header_is_rejected() {
    let server = server_behind_proxy("127.0.0.0/8");
    let oversized = [b"\r\n\r\n\0\r\nQUIT\n\x21\x11\xff\xff".as_slice(), &[0; 70_000]].concat();
    let long = [b"PROXY TCP4 ".as_slice(), &[b'1'; 200], b"\r\n"].concat();
    for header in [
        b"".as_slice(),
        b"PROXY TCP4 192.0.2.7 198.51.100.1 56324\r\n",
        b"PROXY TCP4 192.0.2.7 198.51.100.1 56324 443\n",
        b"PROXY\r\n\r\n",
        b"proxy TCP4 192.0.2.7 198.51.100.1 56324 443\r\n",
        b"\r\n\r\n\0\r\nQUIT\n\x11\x11\x00\x0c000000000000",
        b"\r\n\r\n\0\r\nQUIT\n\x21\x11\x00\x0400000000",
        &long,
        &oversized,
    ] {
        assert_eq!(server.raw([header, CLIENT_REQUEST].concat()).await, "", "{:?}", String::from_utf8_lossy(header));
    }
    assert_eq!(client(&server, V1).await, r#"["192.0.2.7",false]"#, "the next connection is served");
}

#[tokio::test]
async fn a_header_may_arrive_in_pieces_but_within_the_timeout() {
    let server = server_behind_proxy("127.0.0.0/8");
    for header in [V1, &v2(false)] {
        let mut stream = server.connect().await;
        stream.set_nodelay(true).expect("an option");
        for piece in header.chunks(5) {
            stream.write_all(piece).await.expect("it is open");
            sleep(Duration::from_millis(1)).await;
        }
        stream.write_all(CLIENT_REQUEST).await.expect("it is open");
        assert_eq!(status(&rest(stream).await), 200);
    }
    for part in [&V1[..20], &v2(false)[..20], b"", b"P"] {
        let started = Instant::now();
        assert_eq!(server.raw(part).await, "");
        assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
    }
}
