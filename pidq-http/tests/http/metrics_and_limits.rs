//! Metrics, rate limits, concurrency limits, compression, and CORS.

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use pidq_http::Listener;
use pidq_http::RateLimiter;
use pidq_http::Service;
use tokio::net::TcpStream;

use crate::server::{Server, app, body, header, rest, status};

#[tokio::test]
async fn metrics_are_on_the_admin_listener() {
    let public = Listener::plain(([127, 0, 0, 1], 0).into()).expect("a free port");
    let admin = Listener::admin(([127, 0, 0, 1], 0).into()).expect("a free port");
    let address = admin.address().expect("it is bound");
    let server = Server::on(app(), vec![public, admin]);
    server.request("GET /things/1 HTTP/1.1", "").await;
    server.request("GET /nowhere HTTP/1.1", "").await;
    let get_as = async |path: &str, accept: &str| {
        let mut stream = TcpStream::connect(address).await.expect("it listens");
        let head = format!("GET {path} HTTP/1.1\r\nHost: x\r\nAccept: {accept}\r\nConnection: close\r\n\r\n");
        tokio::io::AsyncWriteExt::write_all(&mut stream, head.as_bytes()).await.expect("it is open");
        rest(stream).await
    };
    let get = async |path: &str| get_as(path, "*/*").await;
    let response = get_as("/metrics", "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.3").await;
    assert!(header(&response, "content-type").is_some_and(|media| media.starts_with("application/openmetrics-text")));
    let row = "pidq_http_requests_total{method=\"GET\",route=\"/things/{id}\",status=\"200\"} 1";
    assert!(response.contains(row) && response.ends_with("# EOF\n"), "{response}");
    assert!(response.contains("route=\"\",status=\"404\""), "unknown paths create no labels: {response}");
    let older = get("/metrics").await;
    assert!(header(&older, "content-type").is_some_and(|media| media.starts_with("text/plain; version=0.0.4")));
    for (sample, _) in older.lines().skip_while(|line| !line.is_empty()).filter_map(|line| line.split_once('{')) {
        let name =
            ["_bucket", "_sum", "_count"].iter().find_map(|suffix| sample.strip_suffix(suffix)).unwrap_or(sample);
        assert!(older.contains(&format!("# HELP {name} ")), "{sample} has a description");
    }
    assert_eq!(status(&get("/livez").await), 200);
    assert_eq!(status(&get("/things/1").await), 404, "no routes of the service");
}

#[test]
fn plain_http_and_metrics_are_limited_to_loopback() {
    assert!(Listener::plain(([0, 0, 0, 0], 0).into()).is_err());
    assert!(Listener::admin(([0, 0, 0, 0], 0).into()).is_err());
    assert!(Listener::insecure_admin(([0, 0, 0, 0], 0).into()).is_ok());
}

#[tokio::test]
async fn a_rate_limited_request_has_retry_after() {
    let mut app = app();
    app.rate_limit = Some(RateLimiter::new("user", 3, Duration::from_secs(60)));
    let server = Server::start(app);
    let get_as =
        async |token: &str| server.request(&format!("GET /mine HTTP/1.1\r\nAuthorization: Bearer {token}:x"), "").await;
    for remaining in ["2", "1", "0"] {
        let response = get_as("a").await;
        assert_eq!(header(&response, "ratelimit-policy"), Some("\"user\";q=3;w=60"));
        assert!(header(&response, "ratelimit").is_some_and(|now| now.starts_with(&format!("\"user\";r={remaining};"))));
    }
    let response = get_as("a").await;
    assert_eq!((status(&response), header(&response, "retry-after")), (429, Some("20")));
    assert_eq!(status(&get_as("b").await), 200, "other principals are not limited");
    let guess = async || status(&server.request("GET /mine HTTP/1.1\r\nAuthorization: Bearer x", "").await);
    assert_eq!(
        [guess().await, guess().await, guess().await, guess().await],
        [401, 401, 401, 429],
        "guesses are counted"
    );
    assert_eq!(status(&server.request("GET /livez HTTP/1.1", "").await), 200, "probes are not limited");
}

#[tokio::test]
async fn overload_is_503_except_for_health_checks() {
    let mut app = app();
    app.limits.request_limit = 1;
    let server = Server::start(app);
    let slow = server.request("GET /slow HTTP/1.1", "");
    let other = async {
        server.wait_until_busy().await;
        (server.request("GET /things/1 HTTP/1.1", "").await, server.request("GET /livez HTTP/1.1", "").await)
    };
    let (slow, (other, alive)) = tokio::join!(slow, other);
    assert_eq!((status(&slow), status(&other), header(&other, "retry-after")), (200, 503, Some("1")));
    assert_eq!(status(&alive), 200, "health checks work under overload");
}

#[tokio::test]
async fn concurrent_requests_per_principal_are_limited() {
    let mut app = app();
    app.limits.requests_per_principal_limit = 1;
    let server = Server::start(app);
    let get_as = async |path: &str, id: &str| {
        if path == "/mine" {
            server.wait_until_busy().await;
        }
        status(&server.request(&format!("GET {path} HTTP/1.1\r\nAuthorization: Bearer {id}:x"), "").await)
    };
    let responses = tokio::join!(get_as("/mine/slow", "a"), get_as("/mine", "a"), get_as("/mine", "b"));
    assert_eq!(responses, (200, 429, 200));
    assert_eq!(get_as("/mine", "a").await, 200, "the permit was released");
}

#[tokio::test]
async fn large_responses_are_compressed_on_request() {
    let server = Server::start(app());
    let address = server.address;
    for coding in ["br", "gzip", "zstd"] {
        let head = format!("GET /big HTTP/1.0\r\nHost: x\r\nAccept-Encoding: {coding}\r\n\r\n");
        let read = tokio::task::spawn_blocking(move || {
            let mut stream = std::net::TcpStream::connect(address)?;
            std::io::Write::write_all(&mut stream, head.as_bytes())?;
            let mut response = Vec::new();
            stream.read_to_end(&mut response).map(|_| response)
        });
        let response = read.await.expect("no panic").expect("a response");
        let end = response.windows(4).position(|window| window == b"\r\n\r\n").expect("a head");
        let head = String::from_utf8_lossy(&response[..end + 4]).into_owned();
        assert_eq!(header(&head, "content-encoding"), Some(coding));
        assert!(header(&head, "vary").is_some_and(|vary| vary.contains("Accept-Encoding")));
        let mut plain = Vec::new();
        let bytes = &response[end + 4..];
        let read = match coding {
            "br" => brotli::Decompressor::new(bytes, 4096).read_to_end(&mut plain),
            "gzip" => flate2::read::GzDecoder::new(bytes).read_to_end(&mut plain),
            _ => zstd::Decoder::new(bytes).and_then(|mut decoder| decoder.read_to_end(&mut plain)),
        };
        assert_eq!(read.ok(), Some(8 << 20), "{coding}");
    }
}

#[tokio::test]
async fn listed_origins_may_make_cross_origin_requests() {
    let mut app = app();
    app.origins = vec!["https://plant.example".into()];
    let server = Server::start(app);
    let preflight = async |origin: &str| {
        let head = format!("OPTIONS /mine HTTP/1.1\r\nOrigin: {origin}\r\nAccess-Control-Request-Method: GET");
        server.request(&head, "").await
    };
    let response = preflight("https://plant.example").await;
    assert_eq!(header(&response, "access-control-allow-origin"), Some("https://plant.example"));
    assert!(header(&response, "access-control-allow-headers").is_some_and(|names| names.contains("Authorization")));
    assert_eq!(header(&response, "access-control-allow-credentials"), None);
    for other in ["https://evil.example", "https://plant.example.evil", "null"] {
        assert_eq!(header(&preflight(other).await, "access-control-allow-origin"), None, "{other}");
    }
}

#[tokio::test]
async fn an_app_can_be_called_without_a_network() {
    let service: Service<_> = app().build();
    let request =
        hyper::Request::get("/things/7").header("host", "x").body(pidq_http::Bytes::new()).expect("a request");
    let response = service.call(request).await;
    assert_eq!(response.status(), 200);
    let whole = http_body_util::BodyExt::collect(response.into_body()).await.map(|body| body.to_bytes());
    assert_eq!(whole.ok().as_deref(), Some(&b"\"7\""[..]));
}

#[tokio::test]
async fn other_tasks_run_while_a_response_is_compressed() {
    let service: Service<_> = app().build();
    let runs = Arc::new(AtomicUsize::new(0));
    let counter = runs.clone();
    tokio::spawn(async move {
        loop {
            counter.fetch_add(1, Relaxed);
            tokio::task::yield_now().await;
        }
    });
    for coding in ["br", "gzip", "zstd"] {
        let request = hyper::Request::get("/big").header("host", "x").header("accept-encoding", coding);
        let response = service.call(request.body(pidq_http::Bytes::new()).expect("a request")).await;
        assert_eq!(response.headers()["content-encoding"], coding);
        let before = runs.load(Relaxed);
        assert!(http_body_util::BodyExt::collect(response.into_body()).await.is_ok());
        // The body of 8 MiB is compressed in chunks of 64 KiB.
        let during = runs.load(Relaxed) - before;
        assert!(during >= 100, "{coding}: {during}");
    }
}

#[tokio::test]
async fn compressed_bodies_are_accepted_and_bombs_rejected() {
    let server = Server::start(app());
    let send = async |bytes: Vec<u8>| {
        let head = format!(
            "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n\
             Connection: close\r\nContent-Length: {}\r\n\r\n",
            bytes.len()
        );
        server.raw([head.into_bytes(), bytes].concat()).await
    };
    let gzip = |text: &str| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        std::io::Write::write_all(&mut encoder, text.as_bytes()).and_then(|()| encoder.finish()).expect("memory")
    };
    assert_eq!(body(&send(gzip("[1]")).await), "[1]");
    assert_eq!(status(&send(gzip(&" ".repeat(10 << 20))).await), 413);
    assert_eq!(status(&send(b"no gzip".to_vec()).await), 400);
}

#[tokio::test]
async fn the_type_of_a_problem_is_the_url_of_its_page() {
    let server = Server::start(app());
    let problem = server.request("GET /nowhere HTTP/1.1", "").await;
    let problem: serde_json::Value = serde_json::from_str(body(&problem)).expect("a problem is JSON");
    assert_eq!((&problem["type"], &problem["title"]), (&"/problems/not-found".into(), &"Not found".into()));

    let path = problem["type"].as_str().expect("a path");
    let page = server.request(&format!("GET {path} HTTP/1.1"), "").await;
    assert_eq!((status(&page), header(&page, "content-type")), (200, Some("application/json")));
    let row: serde_json::Value = serde_json::from_str(body(&page)).expect("JSON");
    assert_eq!((&row["code"], &row["statuses"][0]), (&"not-found".into(), &404.into()));
    assert!(row["remedy"].as_str().is_some_and(|remedy| remedy.ends_with('.')), "{row}");

    let page = server.request(&format!("GET {path} HTTP/1.1\r\nAccept: text/html"), "").await;
    assert!(header(&page, "content-type").is_some_and(|media| media.starts_with("text/html")));
    assert!(body(&page).contains("<h1>Not found</h1>"), "{page}");
    let list = server.request("GET /problems HTTP/1.1\r\nAccept: text/html", "").await;
    assert!(body(&list).contains("<a href=\"problems/not-found\">"), "{list}");
    assert!(body(&list).contains("<th>Code</th><th>Title</th><th>Status</th>"), "{list}");
    assert_eq!(status(&server.request("GET /problems/none HTTP/1.1", "").await), 404);
}
