//! Files of the front end, client-side routes, and the headers of all responses.

use std::time::Duration;

use crate::api::{api, dashboard, send};

const HOUR: Duration = Duration::from_secs(3600);

#[tokio::test]
async fn a_path_is_a_file_a_client_side_route_or_not_found() {
    let dashboard = dashboard(api(HOUR).await);
    let page = (200, "text/html; charset=utf-8", "no-cache");
    let missing = (404, "application/problem+json", "no-store");
    for (path, expected) in [
        ("/", page),
        ("/index.html", page),
        ("/drawings/plant", page),
        ("/ask", page),
        ("/sessions", page),
        ("/icon.svg", (200, "image/svg+xml; charset=utf-8", "no-cache")),
        ("/assets/a-1f2e.js", (200, "text/javascript; charset=utf-8", "public, max-age=31536000, immutable")),
        ("/assets/a-1f2e.js.br", missing),
        ("/assets/b.js", missing),
        ("/favicon.ico", missing),
        ("/api/", missing),
        ("/graph/", missing),
        ("/../etc/passwd.txt", missing),
    ] {
        let answer = send(&dashboard, "GET", path, &[("accept", "*/*")], "").await;
        let found = (answer.status, answer.header("content-type"), answer.header("cache-control"));
        assert_eq!(found, expected, "{path}");
    }
}

#[tokio::test]
async fn a_browser_gets_the_page_of_a_graph_whose_id_has_a_dot() {
    let dashboard = dashboard(api(HOUR).await);
    let status = async |path, media| send(&dashboard, "GET", path, &[("accept", media)], "").await.status;
    assert_eq!(status("/drawings/plant-100.rev-b", "text/html,application/xhtml+xml,*/*;q=0.8").await, 200);
    assert_eq!(status("/drawings/plant-100.rev-b", "*/*").await, 404);
    assert_eq!(status("/assets/b.js", "text/html,*/*;q=0.8").await, 404);
}

#[tokio::test]
async fn a_file_is_sent_in_the_coding_that_the_browser_accepts_and_once() {
    let dashboard = dashboard(api(HOUR).await);
    let get = async |headers| send(&dashboard, "GET", "/assets/a-1f2e.js", headers, "").await;
    let brotli = get(&[("accept-encoding", "gzip, br")]).await;
    assert_eq!((&*brotli.body, brotli.header("content-encoding")), (&b"br"[..], "br"), "compressed by the build");
    let gzip = get(&[("accept-encoding", "gzip")]).await;
    assert_eq!(gzip.header("content-encoding"), "gzip", "compressed by the server");
    let plain = get(&[]).await;
    assert_eq!((plain.body.len(), plain.header("content-encoding")), (3000, ""));
    let cached = get(&[("accept-encoding", "br"), ("if-none-match", brotli.header("etag"))]).await;
    assert_eq!((cached.status, cached.body.len()), (304, 0));
}

#[tokio::test]
async fn all_responses_have_the_security_headers() {
    let dashboard = dashboard(api(HOUR).await);
    for path in ["/", "/drawings/plant", "/missing.js", "/session", "/graph", "/assets/a-1f2e.js"] {
        let answer = send(&dashboard, "GET", path, &[], "").await;
        for (name, expected) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
        ] {
            assert_eq!(answer.header(name), expected, "{path}");
        }
        let policy = answer.header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; script-src 'self'; "), "{path}: {policy}");
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
    }
    let docs = send(&dashboard, "GET", "/docs", &[], "").await;
    assert!(docs.header("content-security-policy").contains("sha256-"), "the API's own policy");
}
