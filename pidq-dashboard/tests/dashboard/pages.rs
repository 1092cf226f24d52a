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
        ("/assets/a-1f2e.js.gz", missing),
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

const SCRIPT: &str = "/assets/a-1f2e.js";

#[tokio::test]
async fn a_file_is_sent_in_the_coding_that_the_browser_prefers_and_is_encoded_once() {
    let dashboard = dashboard(api(HOUR).await);
    // The compressed files of the build are texts here, which shows that they are sent as they are.
    for (accepted, coding, body) in [
        ("gzip, deflate, br, zstd", "br", "br"),
        ("br;q=0.5, gzip", "gzip", "gzip"),
        ("gzip", "gzip", "gzip"),
        ("br;q=0, *", "gzip", "gzip"),
    ] {
        let answer = send(&dashboard, "GET", SCRIPT, &[("accept-encoding", accepted)], "").await;
        assert_eq!((answer.header("content-encoding"), &*answer.body), (coding, body.as_bytes()), "{accepted}");
        assert_eq!(answer.header("vary"), "Accept-Encoding");
    }
    for (accepted, coding) in [("zstd", "zstd"), ("identity", ""), ("gzip;q=0, br;q=0", ""), ("", "")] {
        let answer = send(&dashboard, "GET", SCRIPT, &[("accept-encoding", accepted)], "").await;
        assert_eq!(answer.header("content-encoding"), coding, "{accepted}");
        assert_eq!(answer.header("vary"), "Accept-Encoding", "{accepted}");
        assert_eq!(answer.body.len() == 3000, coding.is_empty(), "{accepted}");
    }
}

#[tokio::test]
async fn each_coding_of_a_file_has_its_own_tag_and_all_are_the_same_version() {
    let dashboard = dashboard(api(HOUR).await);
    let mut tags = Vec::new();
    for accepted in ["br", "gzip", ""] {
        let answer = send(&dashboard, "GET", SCRIPT, &[("accept-encoding", accepted)], "").await;
        tags.push(answer.header("etag").to_owned());
    }
    let plain = tags[2].trim_matches('"');
    assert_eq!(tags[..2], [format!("\"{plain}-br\""), format!("\"{plain}-gzip\"")]);
    for tag in &tags {
        let headers = [("accept-encoding", "br"), ("if-none-match", tag)];
        let cached = send(&dashboard, "GET", SCRIPT, &headers, "").await;
        assert_eq!((cached.status, cached.body.len(), cached.header("etag")), (304, 0, &*tags[0]));
    }
    let changed = send(&dashboard, "GET", SCRIPT, &[("if-none-match", "\"other-br\"")], "").await;
    assert_eq!(changed.status, 200);
}

#[tokio::test]
async fn head_has_the_headers_of_get_and_a_range_is_ignored() {
    let dashboard = dashboard(api(HOUR).await);
    for accepted in ["br", "gzip", ""] {
        let headers = [("accept-encoding", accepted)];
        let get = send(&dashboard, "GET", SCRIPT, &headers, "").await;
        let head = send(&dashboard, "HEAD", SCRIPT, &headers, "").await;
        assert_eq!((head.status, head.body.len()), (200, 0));
        assert_eq!(head.header("content-length"), get.body.len().to_string(), "{accepted}");
        for name in ["content-encoding", "content-type", "etag", "vary", "cache-control"] {
            assert_eq!(head.header(name), get.header(name), "{name}");
        }
        // A part of an encoded file is of no use, and the files are small: no ranges are offered.
        let range = [("accept-encoding", accepted), ("range", "bytes=0-0"), ("if-range", get.header("etag"))];
        let ranged = send(&dashboard, "GET", SCRIPT, &range, "").await;
        assert_eq!((ranged.status, ranged.header("content-range"), &ranged.body), (200, "", &get.body));
    }
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
