//! TLS: both protocols, old clients, and certificate reloads.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pidq_http::Limits;
use pidq_http::Listener;
use pidq_http::Tls;
use pidq_http::TlsVersion;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::server::{Server, app, header, rest, status};

/// Writes a new certificate for `localhost` into a directory and returns it.
pub fn certify(directory: &Path) -> CertificateDer<'static> {
    let pair = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).expect("a certificate");
    fs::write(directory.join("cert.pem"), pair.cert.pem()).expect("a file");
    fs::write(directory.join("key.pem"), pair.signing_key.serialize_pem()).expect("a file");
    pair.cert.der().clone()
}

pub fn open(directory: &Path, min_version: TlsVersion) -> Tls {
    Tls::open(directory.join("cert.pem"), directory.join("key.pem"), min_version).expect("a good pair")
}

pub fn start(tls: &Tls) -> Server {
    let mut app = app();
    app.limits = Limits {
        first_byte_timeout: Duration::from_millis(300),
        handshake_timeout: Duration::from_millis(500),
        ..app.limits
    };
    let listener = Listener::tls(([127, 0, 0, 1], 0).into(), tls.clone()).expect("a free port");
    Server::on(app, vec![listener])
}

pub async fn connect(
    server: &Server,
    trusted: &CertificateDer<'static>,
    versions: &[&'static rustls::SupportedProtocolVersion],
    alpn: &[&str],
) -> std::io::Result<TlsStream<tokio::net::TcpStream>> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.clone()).expect("a certificate");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_protocol_versions(versions).expect("versions");
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
    let name = ServerName::try_from("localhost").expect("a name");
    TlsConnector::from(Arc::new(config)).connect(name, server.connect().await).await
}

async fn get(mut stream: TlsStream<tokio::net::TcpStream>) -> String {
    let request = b"GET /things/1 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    stream.write_all(request).await.expect("it is open");
    let mut response = String::new();
    stream.read_to_string(&mut response).await.expect("the connection is closed with close_notify");
    response
}

#[tokio::test]
async fn both_versions_and_both_protocols_are_supported() {
    let directory = tempfile::tempdir().expect("a directory");
    let certificate = certify(directory.path());
    let server = start(&open(directory.path(), TlsVersion::V1_2));
    for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
        let stream = connect(&server, &certificate, &[version], &["http/1.1"]).await.expect("a handshake");
        let response = get(stream).await;
        assert_eq!(status(&response), 200);
        assert!(header(&response, "strict-transport-security").is_some());
    }
    let stream = connect(&server, &certificate, rustls::ALL_VERSIONS, &["h2", "http/1.1"]).await.expect("a handshake");
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
}

#[tokio::test]
async fn old_versions_can_be_disabled() {
    let directory = tempfile::tempdir().expect("a directory");
    let certificate = certify(directory.path());
    let server = start(&open(directory.path(), TlsVersion::V1_3));
    assert!(connect(&server, &certificate, &[&rustls::version::TLS12], &[]).await.is_err());
    assert!(connect(&server, &certificate, &[&rustls::version::TLS13], &[]).await.is_ok());
}

#[tokio::test]
async fn a_new_certificate_is_used_without_a_restart() {
    let directory = tempfile::tempdir().expect("a directory");
    let old = certify(directory.path());
    let tls = open(directory.path(), TlsVersion::V1_2);
    let server = start(&tls);
    let kept = connect(&server, &old, rustls::ALL_VERSIONS, &[]).await.expect("a handshake");
    assert_eq!(tls.reload().ok(), Some(false), "nothing has changed");
    assert!(tls.expires_at().is_some_and(|expires_at| expires_at > 2_000_000_000));
    let new = certify(directory.path());
    // The server also loads the files at start, which on a busy machine may be now.
    tls.reload().expect("a good pair");
    assert!(connect(&server, &new, rustls::ALL_VERSIONS, &[]).await.is_ok());
    assert!(connect(&server, &old, rustls::ALL_VERSIONS, &[]).await.is_err());
    assert_eq!(status(&get(kept).await), 200, "open connections stay open");
}

#[tokio::test]
async fn a_mismatched_key_is_rejected() {
    let directory = tempfile::tempdir().expect("a directory");
    let certificate = certify(directory.path());
    let tls = open(directory.path(), TlsVersion::V1_2);
    let server = start(&tls);
    let key = fs::read(directory.path().join("key.pem")).expect("a file");
    certify(directory.path());
    fs::write(directory.path().join("key.pem"), key).expect("a file");
    assert!(tls.reload().is_err());
    fs::write(directory.path().join("cert.pem"), "nonsense").expect("a file");
    assert!(tls.reload().is_err());
    fs::remove_file(directory.path().join("key.pem")).expect("a file");
    assert!(tls.reload().is_err());
    assert!(connect(&server, &certificate, rustls::ALL_VERSIONS, &[]).await.is_ok(), "the old pair stays");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reloads_under_load_fail_no_handshake() {
    let directory = tempfile::tempdir().expect("a directory");
    let certificate = certify(directory.path());
    let tls = open(directory.path(), TlsVersion::V1_2);
    let server = Arc::new(start(&tls));
    let clients: Vec<_> = (0..4)
        .map(|_| {
            let (server, certificate) = (server.clone(), certificate.clone());
            tokio::spawn(async move {
                for _ in 0..10 {
                    connect(&server, &certificate, rustls::ALL_VERSIONS, &[]).await.expect("a handshake");
                }
            })
        })
        .collect();
    let text = fs::read_to_string(directory.path().join("cert.pem")).expect("a file");
    for round in 0..100 {
        fs::write(directory.path().join("cert.pem"), format!("{text}{}", "\n".repeat(round % 2))).expect("a file");
        assert!(tls.reload().is_ok());
        tokio::task::yield_now().await;
    }
    for client in clients {
        client.await.expect("no handshake fails");
    }
}

#[tokio::test]
async fn silent_handshakes_time_out_and_delay_no_other_client() {
    let directory = tempfile::tempdir().expect("a directory");
    let certificate = certify(directory.path());
    let server = start(&open(directory.path(), TlsVersion::V1_2));
    let mut silent = Vec::new();
    for _ in 0..300 {
        silent.push(server.connect().await);
    }
    let started = Instant::now();
    assert!(connect(&server, &certificate, rustls::ALL_VERSIONS, &[]).await.is_ok());
    for stream in silent {
        rest(stream).await;
    }
    let mut half = server.connect().await;
    half.write_all(b"\x16\x03\x01\x02").await.expect("it is open");
    rest(half).await;
    assert!(started.elapsed() < Duration::from_secs(5));
}
