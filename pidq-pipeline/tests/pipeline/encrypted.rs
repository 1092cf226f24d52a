//! TLS to a model server: the name that was asked for is the name that is checked, wherever the server is.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use pidq_http::{Fut, Secret};
use pidq_pipeline::egress::{Guard, Level, Policy, Reach, Resolver};
use pidq_pipeline::llm::{Chat, Client, Endpoint};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::doubles::{completion, hasty};

/// Every name is here.
struct Here;

impl Resolver for Here {
    fn resolve<'a>(&'a self, _: &'a str) -> Fut<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async { Ok(vec![Ipv4Addr::LOCALHOST.into()]) })
    }
}

/// What a server saw: the name that TLS asked for, and the head of the request.
type Seen = Arc<Mutex<HashMap<String, String>>>;

/// A model server with a certificate for `llm.plant.example`, and that certificate.
async fn server() -> (SocketAddr, String, Seen) {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["llm.plant.example".to_owned()]).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(signing_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_no_client_auth().with_single_cert(vec![cert.der().clone()], key).unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, seen) = (listener.local_addr().unwrap(), Seen::default());
    let saw = seen.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(mut stream) = acceptor.accept(stream).await else { continue };
            let name = stream.get_ref().1.server_name().unwrap_or("").to_owned();
            let mut head = vec![0; 4096];
            let length = stream.read(&mut head).await.unwrap();
            saw.lock().unwrap().insert(name, String::from_utf8_lossy(&head[..length]).into_owned());
            let body = completion("Hello").to_string();
            let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
            let _ = stream.write_all(answer.as_bytes()).await;
            let _ = stream.shutdown().await;
        }
    });
    (address, cert.pem(), seen)
}

async fn ask(port: u16, name: &str, authority: Option<&str>) -> Result<String, &'static str> {
    let policy = Policy { reach: Reach::Level(Level::Local), back_ends: Vec::new() };
    let guard = Guard::new(policy, authority).unwrap().with_resolver(Arc::new(Here));
    let endpoint = Endpoint::new(format!("https://{name}:{port}/v1"), Secret::new("k"), "m");
    let chat = Chat { system: "s".into(), user: "u".into(), ..Chat::default() };
    let answer = Client::new(guard, hasty()).chat(&endpoint, &chat).await;
    answer.map(|answer| answer.text).map_err(|error| error.code())
}

#[tokio::test]
async fn a_name_is_checked_and_told_wherever_it_leads() {
    let (address, certificate, seen) = server().await;
    let port = address.port();
    assert_eq!(ask(port, "llm.plant.example", Some(&certificate)).await.unwrap(), "Hello");
    let head = seen.lock().unwrap().remove("llm.plant.example").unwrap().to_lowercase();
    assert!(head.contains(&format!("host: llm.plant.example:{port}\r\n")), "{head}");
    assert_eq!(ask(port, "other.plant.example", Some(&certificate)).await, Err("llm-unreachable"));
    assert_eq!(ask(port, "llm.plant.example", None).await, Err("llm-unreachable"));
    assert_eq!(ask(port, "127.0.0.1", Some(&certificate)).await, Err("llm-unreachable"));
    assert!(seen.lock().unwrap().is_empty(), "nothing is sent to a server that is not the right one");
}
