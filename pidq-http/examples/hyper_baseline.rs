//! Minimal hyper server, as a baseline for benchmarks of the service: it sends the same bytes after checking the same
//! headers.
//!
//! `hyper_baseline PORT DIRECTORY [CERTIFICATE KEY]`: `GET /NAME` sends the file of that name; `POST /NAME` reads the body
//! first. With a certificate it serves TLS through `tokio-rustls`.

use std::collections::HashMap;
use std::convert::Infallible;
use std::error::Error;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use rustls::ServerConfig;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

type Files = HashMap<String, Bytes>;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let port: u16 = arguments.next().ok_or("a port is needed")?.parse()?;
    let files = Arc::new(load_files(&arguments.next().ok_or("a directory is needed")?)?);
    let tls = match (arguments.next(), arguments.next()) {
        (Some(certificate), Some(key)) => Some(acceptor(&certificate, &key)?),
        _ => None,
    };
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        match tls.clone() {
            None => drop(tokio::spawn(serve(files.clone(), stream))),
            Some(tls) => drop(tokio::spawn(serve_tls(files.clone(), tls.accept(stream)))),
        }
    }
}

fn acceptor(certificate: &str, key: &str) -> Result<TlsAcceptor, Box<dyn Error>> {
    let chain = CertificateDer::pem_file_iter(certificate)?.collect::<Result<_, _>>()?;
    let config =
        ServerConfig::builder_with_provider(default_provider().into()).with_safe_default_protocol_versions()?;
    let config = config.with_no_client_auth().with_single_cert(chain, PrivateKeyDer::from_pem_file(key)?)?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

async fn serve_tls<T>(files: Arc<Files>, handshake: tokio_rustls::Accept<T>)
where
    T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    if let Ok(stream) = handshake.await {
        serve(files, stream).await;
    }
}

async fn serve<T>(files: Arc<Files>, stream: T)
where
    T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let service = service_fn(move |request| respond(files.clone(), request));
    // A client may disconnect at any time.
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

fn load_files(directory: &str) -> std::io::Result<Files> {
    let mut files = Files::new();
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        files.insert(format!("/{}", entry.file_name().display()), std::fs::read(entry.path())?.into());
    }
    Ok(files)
}

async fn respond(files: Arc<Files>, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let has_authorization = request.headers().contains_key(AUTHORIZATION);
    let file = files.get(request.uri().path()).filter(|_| has_authorization).cloned();
    if request.method() == Method::POST {
        // The body is read and discarded.
        let _ = request.into_body().collect().await;
    }
    let mut response = Response::new(Full::new(file.clone().unwrap_or_default()));
    if file.is_none() {
        *response.status_mut() = StatusCode::NOT_FOUND;
    }
    response.headers_mut().insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static("application/json"));
    Ok(response)
}
