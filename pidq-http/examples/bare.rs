//! The least that hyper can do, to measure the service beside it: the same bytes, with a look at the same headers.
//!
//! `bare PORT FOLDER`: `GET /NAME` sends the file of that name; `POST /NAME` reads the body first.

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
use tokio::net::TcpListener;

type Files = HashMap<String, Bytes>;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let port: u16 = arguments.next().ok_or("a port is needed")?.parse()?;
    let files = Arc::new(read(&arguments.next().ok_or("a folder is needed")?)?);
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let files = files.clone();
        let service = service_fn(move |request| answer(files.clone(), request));
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}

fn read(folder: &str) -> std::io::Result<Files> {
    let mut files = Files::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        files.insert(format!("/{}", entry.file_name().display()), std::fs::read(entry.path())?.into());
    }
    Ok(files)
}

async fn answer(files: Arc<Files>, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let is_known = request.headers().contains_key(AUTHORIZATION);
    let file = files.get(request.uri().path()).filter(|_| is_known).cloned();
    if request.method() == Method::POST {
        // What is sent is read, and no more.
        let _ = request.into_body().collect().await;
    }
    let mut response = Response::new(Full::new(file.clone().unwrap_or_default()));
    if file.is_none() {
        *response.status_mut() = StatusCode::NOT_FOUND;
    }
    response.headers_mut().insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static("application/json"));
    Ok(response)
}
