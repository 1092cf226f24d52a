//! Tests of TLS to a model server: the certificate must match the host name of the URL, whatever its address.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use pidq_http::{Fut, Secret};
use pidq_pipeline::llm::{Chat, Client, Endpoint};
use pidq_pipeline::net::egress::{EgressScope, Guard, Level, Policy, Resolver};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::mock_server::{completion, short_timeouts};

/// A resolver that maps every name to this machine.
struct LoopbackResolver;

impl Resolver for LoopbackResolver {
    fn resolve<'a>(&'a self, _: &'a str) -> Fut<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async { Ok(vec![Ipv4Addr::LOCALHOST.into()]) })
    }
}

/// Server names (SNI) and request heads that a server received.
type Received = Arc<Mutex<HashMap<String, String>>>;

/// Starts a model server with a certificate for `llm.plant.example`; returns that certificate as well.
async fn server() -> (SocketAddr, String, Received) {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["llm.plant.example".to_owned()]).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(signing_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_no_client_auth().with_single_cert(vec![cert.der().clone()], key).unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, received) = (listener.local_addr().unwrap(), Received::default());
    let log = received.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(mut stream) = acceptor.accept(stream).await else { continue };
            let name = stream.get_ref().1.server_name().unwrap_or("").to_owned();
            let mut head = vec![0; 4096];
            let length = stream.read(&mut head).await.unwrap();
            log.lock().unwrap().insert(name, String::from_utf8_lossy(&head[..length]).into_owned());
            let body = completion("Hello").to_string();
            let response = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
            let _ = stream.write_all(response.as_bytes()).await;
            let _ = stream.shutdown().await;
        }
    });
    (address, cert.pem(), received)
}

async fn ask(port: u16, name: &str, ca_certificate: Option<&str>) -> Result<String, &'static str> {
    let policy = Policy { scope: EgressScope::Level(Level::Local), backends: Vec::new() };
    let guard = Guard::new(policy, ca_certificate).unwrap().with_resolver(Arc::new(LoopbackResolver));
    let endpoint = Endpoint::new(format!("https://{name}:{port}/v1"), Secret::new("k"), "m");
    let chat = Chat { system: "s".into(), user: "u".into(), ..Chat::default() };
    let answer = Client::new(guard, short_timeouts()).chat(&endpoint, &chat).await;
    answer.map(|answer| answer.text).map_err(|error| error.code())
}

#[tokio::test]
async fn the_certificate_is_checked_against_the_host_name() {
    let (address, certificate, received) = server().await;
    let port = address.port();
    assert_eq!(ask(port, "llm.plant.example", Some(&certificate)).await.unwrap(), "Hello");
    let head = received.lock().unwrap().remove("llm.plant.example").unwrap().to_lowercase();
    assert!(head.contains(&format!("host: llm.plant.example:{port}\r\n")), "{head}");
    assert_eq!(ask(port, "other.plant.example", Some(&certificate)).await, Err("llm-unreachable"));
    assert_eq!(ask(port, "llm.plant.example", None).await, Err("llm-unreachable"));
    assert_eq!(ask(port, "127.0.0.1", Some(&certificate)).await, Err("llm-unreachable"));
    assert!(received.lock().unwrap().is_empty(), "no request is sent to a server with another name");
}
