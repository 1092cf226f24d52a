//! Responses: statuses, headers and bodies, in the fixed order of checks.

use serde_json::Value;

use crate::server::{Server, app, body, header, status};

fn code(response: &str) -> String {
    let problem: Value = serde_json::from_str(body(response)).unwrap_or_default();
    problem["code"].as_str().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn a_response_has_the_common_headers() {
    let server = Server::start(app());
    let response = server.request("GET /things/V%2F1 HTTP/1.1\r\nX-Request-Id: r-7", "").await;
    assert_eq!((status(&response), body(&response)), (200, "\"V/1\""));
    assert_eq!(header(&response, "x-request-id"), Some("r-7"));
    assert_eq!(header(&response, "x-content-type-options"), Some("nosniff"));
    assert_eq!(header(&response, "etag"), Some("\"7\""));
    assert!(header(&response, "date").is_some() && header(&response, "vary").is_some());
    assert_eq!((header(&response, "server"), header(&response, "strict-transport-security")), (None, None));
}

#[tokio::test]
async fn unknown_paths_are_404_and_other_methods_405() {
    let server = Server::start(app());
    let response = server.request("GET /nowhere?token=secret HTTP/1.1", "").await;
    assert_eq!((status(&response), code(&response).as_str()), (404, "not-found"));
    assert_eq!(header(&response, "content-type"), Some("application/problem+json"));
    assert!(!response.contains("secret"), "a query string is never repeated: {response}");
    let response = server.request("DELETE /things/1 HTTP/1.1", "").await;
    assert_eq!((status(&response), header(&response, "allow")), (405, Some("GET, HEAD, OPTIONS")));
    let response = server.request("OPTIONS /things/1 HTTP/1.1", "").await;
    assert_eq!((status(&response), header(&response, "allow")), (204, Some("GET, HEAD, OPTIONS")));
    let response = server.request("HEAD /things/1 HTTP/1.1", "").await;
    assert_eq!((status(&response), header(&response, "content-length"), body(&response)), (200, Some("3"), ""));
}

#[tokio::test]
async fn a_matching_validator_is_304() {
    let server = Server::start(app());
    for tag in ["\"7\"", "\"6\", \"7-zstd\"", "*"] {
        let response = server.request(&format!("GET /things/1 HTTP/1.1\r\nIf-None-Match: {tag}"), "").await;
        assert_eq!((status(&response), body(&response), header(&response, "etag")), (304, "", Some("\"7\"")), "{tag}");
    }
    assert_eq!(status(&server.request("GET /things/1 HTTP/1.1\r\nIf-None-Match: \"8\"", "").await), 200);
}

#[tokio::test]
async fn a_validator_belongs_to_the_content_coding() {
    let server = Server::start(app());
    for (accepted, tag) in [("gzip", "\"8-gzip\""), ("zstd", "\"8-zstd\""), ("identity", "\"8\"")] {
        for path in ["/long", "/unsent"] {
            let known = format!("{path} HTTP/1.1\r\nAccept-Encoding: {accepted}\r\nIf-None-Match: \"8-gzip\"");
            for method in ["GET", "HEAD"] {
                let response = server.request(&format!("{method} {known}"), "").await;
                assert_eq!(
                    (status(&response), body(&response), header(&response, "etag")),
                    (304, "", Some(tag)),
                    "{known}"
                );
                for name in ["content-length", "content-encoding", "content-type"] {
                    assert_eq!(header(&response, name), None, "{method} {known}: {name}");
                }
            }
        }
        let fresh = format!("HEAD /long HTTP/1.1\r\nAccept-Encoding: {accepted}\r\nIf-None-Match: \"7\"");
        let fresh = server.request(&fresh, "").await;
        assert_eq!((status(&fresh), header(&fresh, "etag")), (200, Some(tag)));
    }
}

#[tokio::test]
async fn repeated_list_headers_are_joined() {
    let server = Server::start(app());
    let lines = "GET /things/1 HTTP/1.1\r\nIf-None-Match: \"zz\"\r\nIf-None-Match: \"7\"";
    assert_eq!(status(&server.request(lines, "").await), 304);
    let lines = "PUT /stored/1 HTTP/1.1\r\nIf-Match: \"zz\"\r\nIf-Match: \"7-abc\"";
    assert_eq!(status(&server.request(lines, "").await), 204);
}

#[tokio::test]
async fn a_failed_precondition_is_412_with_the_current_tag() {
    let server = Server::start(app());
    let response = server.request("PUT /stored/1 HTTP/1.1\r\nIf-Match: \"6\"", "").await;
    assert_eq!((status(&response), header(&response, "etag")), (412, Some("\"7-abc\"")));
    assert_eq!(status(&server.request("PUT /stored/1 HTTP/1.1\r\nIf-Match: \"7-abc-gzip\"", "").await), 204);
}

#[tokio::test]
async fn tokens_and_scopes_are_checked_first() {
    let server = Server::start(app());
    let get = async |path: &str, token: &str| {
        let response = server.request(&format!("GET {path} HTTP/1.1{token}"), "").await;
        (
            status(&response),
            header(&response, "www-authenticate").unwrap_or_default().to_owned(),
            body(&response).to_owned(),
        )
    };
    let (status, challenge, _) = get("/mine", "").await;
    assert_eq!((status, challenge.as_str()), (401, "Bearer realm=\"pidq\""));
    let (status, challenge, _) = get("/mine", "\r\nAuthorization: Bearer x").await;
    assert!(status == 401 && challenge.contains("error=\"invalid_token\""), "{challenge}");
    let (status, challenge, _) = get("/written", "\r\nAuthorization: Bearer a:read").await;
    assert!(status == 403 && challenge.contains("scope=\"write\""), "{challenge}");
    assert_eq!(get("/written", "\r\nAuthorization: bearer a:write").await.2, "\"a\"");
    assert_eq!(get("/mine", "\r\nAuthorization: Bearer a:b\r\nAuthorization: Bearer a:b").await.0, 400);
}

#[tokio::test]
async fn bodies_are_checked_for_type_size_and_syntax() {
    let server = Server::start(app());
    let json = "POST /echo HTTP/1.1\r\nContent-Type: application/json; charset=utf-8";
    assert_eq!(body(&server.request(json, "{\"a\":1}").await), "{\"a\":1}");
    let response = server.request(json, "{\"a\":").await;
    assert_eq!((status(&response), code(&response).as_str()), (400, "malformed-json"));
    let response = server.request("POST /echo HTTP/1.1\r\nContent-Type: text/plain", "{}").await;
    assert_eq!((status(&response), code(&response).as_str()), (415, "unsupported-media-type"));
    let response = server.request(json, &" ".repeat(70_000)).await;
    assert_eq!((status(&response), code(&response).as_str()), (413, "payload-too-large"));
}

#[tokio::test]
async fn an_early_response_reaches_a_client_that_is_still_sending() {
    let server = Server::start(app());
    let large = " ".repeat(20 << 20);
    for _ in 0..5 {
        let json = "POST /echo HTTP/1.1\r\nContent-Type: application/json";
        assert_eq!(status(&server.request(json, &large).await), 413);
        assert_eq!(status(&server.request("POST /written HTTP/1.1", &large).await), 405);
    }
}

#[tokio::test]
async fn expect_continue_is_checked_before_the_body() {
    let server = Server::start(app());
    let post = async |path: &str, length: usize, body: &str| {
        server
            .raw(format!(
                "POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n\
                 Expect: 100-continue\r\nContent-Length: {length}\r\n\r\n{body}"
            ))
            .await
    };
    assert_eq!(status(&post("/echo", 1 << 20, "").await), 413, "without 100 Continue");
    assert_eq!(status(&post("/nowhere", 10, "").await), 404);
    let response = post("/echo", 3, "[1]").await;
    assert!(response.starts_with("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK"), "{response}");
}

#[tokio::test]
async fn oauth_endpoints_report_all_errors_as_oauth() {
    let server = Server::start(app());
    let form = "POST /o/token HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded";
    let error = |response: &str| {
        let value: Value = serde_json::from_str(body(response)).unwrap_or_default();
        (status(response), value["error"].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(error(&server.request(form, "grant_type=x").await), (400, "unsupported_grant_type".into()));
    assert_eq!(error(&server.request(form, "grant_type=%").await), (400, "invalid_request".into()));
    assert_eq!(error(&server.request("POST /o/token/ HTTP/1.1", "x").await), (400, "invalid_request".into()));
    let response = server.request(&format!("{form}\r\nAccept-Encoding: gzip"), "grant_type=password").await;
    assert_eq!((status(&response), header(&response, "content-encoding")), (200, None), "never compressed");
}

#[tokio::test]
async fn a_stream_ends_properly_or_is_aborted() {
    let server = Server::start(app());
    let response = server.request("GET /stream HTTP/1.1", "").await;
    assert!(response.contains("999\n") && response.ends_with("0\r\n\r\n"), "the last chunk is there");
    let response = server.request("GET /abandoned HTTP/1.1", "").await;
    assert!(!response.ends_with("0\r\n\r\n"), "a partial response is not complete: {response:?}");
    let response = server.request("GET /events HTTP/1.1", "").await;
    assert_eq!(header(&response, "content-type"), Some("text/event-stream"));
    assert!(response.contains("id: 1\nevent: delta\ndata: one\ndata: two\n\n"), "{response}");
}

#[tokio::test]
async fn a_panic_of_a_handler_is_500() {
    let server = Server::start(app());
    let response = server.request("GET /panic HTTP/1.1", "").await;
    assert_eq!((status(&response), code(&response).as_str()), (500, "internal"));
    assert!(!response.contains("on purpose"), "the panic message is not shown");
}

#[tokio::test]
async fn builtin_routes_respond() {
    let server = Server::start(app());
    for (path, expected) in
        [("/livez", "ok\n"), ("/readyz", "ready\n"), ("/version", r#"{"name":"test","version":"1.2.3"}"#)]
    {
        assert_eq!(body(&server.request(&format!("GET {path} HTTP/1.1"), "").await), expected, "{path}");
    }
    let response = server.request("GET /openapi.json HTTP/1.1", "").await;
    let document: Value = serde_json::from_str(body(&response)).expect("the document is JSON");
    assert_eq!(document["openapi"], "3.1.0");
    assert_eq!(document["paths"]["/written"]["get"]["security"][0]["bearer"][0], "write");
    assert_eq!(document["paths"]["/things/{id}"]["get"]["parameters"][0]["name"], "id");
    let response = server.request("GET /docs HTTP/1.1", "").await;
    assert!(
        header(&response, "content-security-policy").is_some_and(|policy| policy.starts_with("default-src 'none'"))
    );
    assert!(body(&response).contains("<code>/things/{id}</code>") && !body(&response).contains("<script"));
    assert_eq!(
        status(&server.request("GET /metrics HTTP/1.1", "").await),
        404,
        "metrics are on the admin listener only"
    );
}

/// Routes that offer ranges: one in memory, one streamed.
const FILES: [&str; 2] = ["/file", "/streamed"];

#[tokio::test]
async fn a_range_is_a_part_of_the_same_bytes() {
    let server = Server::start(app());
    for path in FILES {
        ranges(&server, path).await;
    }
}

async fn ranges(server: &Server, path: &str) {
    let send =
        async |method: &str, headers: &str| server.request(&format!("{method} {path} HTTP/1.1{headers}"), "").await;
    let part = send("GET", "\r\nRange: bytes=8-11\r\nAccept-Encoding: gzip").await;
    assert_eq!((status(&part), body(&part)), (206, "8901"));
    assert_eq!(header(&part, "content-range"), Some("bytes 8-11/2000"));
    assert_eq!((header(&part, "content-length"), header(&part, "content-encoding")), (Some("4"), None));
    assert_eq!(body(&send("GET", "\r\nRange: bytes=-3").await), "789");
    assert_eq!(body(&send("GET", "\r\nRange: bytes=1998-\r\nIf-Range: \"v1\"").await), "89");
    let beyond = send("GET", "\r\nRange: bytes=2000-").await;
    assert_eq!((status(&beyond), code(&beyond).as_str()), (416, "range-not-satisfiable"));
    assert_eq!(header(&beyond, "content-range"), Some("bytes */2000"));
}

#[tokio::test]
async fn an_unusable_range_gets_the_full_body() {
    let server = Server::start(app());
    for path in FILES {
        no_ranges(&server, path).await;
    }
    let other = server.request("GET /things/1 HTTP/1.1\r\nRange: bytes=0-0", "").await;
    assert_eq!(status(&other), 200, "ranges are supported only if the handler offers them");
}

async fn no_ranges(server: &Server, path: &str) {
    for headers in [
        "",
        "\r\nRange: bytes=0-1,4-5",
        "\r\nRange: lines=0-1",
        "\r\nRange: bytes=0-1\r\nIf-Range: \"v0\"",
        "\r\nRange: bytes=0-1\r\nIf-Range: W/\"v1\"",
        "\r\nRange: bytes=0-1\r\nIf-Range: Sat, 21 Nov 2026 08:00:00 GMT",
        "\r\nRange: bytes=0-1\r\nRange: bytes=2-3",
    ] {
        let response = server.request(&format!("GET {path} HTTP/1.1{headers}"), "").await;
        assert_eq!((status(&response), body(&response).len()), (200, 2000), "{headers}");
        assert_eq!(header(&response, "accept-ranges"), Some("bytes"), "{headers}");
    }
    let known = format!("GET {path} HTTP/1.1\r\nRange: bytes=0-1\r\nIf-None-Match: \"v1\"");
    let known = server.request(&known, "").await;
    assert_eq!((status(&known), body(&known)), (304, ""), "a matching validator has precedence");
    let head = server.request(&format!("HEAD {path} HTTP/1.1\r\nRange: bytes=0-1"), "").await;
    assert_eq!((status(&head), header(&head, "content-length")), (200, Some("2000")));
}

#[tokio::test]
async fn a_body_shorter_than_announced_is_aborted() {
    let server = Server::start(app());
    let response = server.request("GET /short HTTP/1.1", "").await;
    assert_eq!((status(&response), header(&response, "content-length")), (200, Some("2000")));
    assert!(body(&response).len() < 2000, "the client detects the truncation");
}

#[tokio::test]
async fn middleware_observes_the_body_and_common_headers_are_set() {
    let mut app = app();
    app.headers = vec![("x-interface".parse().expect("a name"), "7")];
    app.middleware = |state, mut request, handler| {
        Box::pin(async move {
            let (sender, sizes) = std::sync::mpsc::sync_channel(64);
            let sender = std::sync::Mutex::new(sender);
            request.observe(move |piece| {
                sender.lock().expect("no panic").send(piece.len()).expect("the receiver is open")
            });
            let response = handler(state, request).await?;
            Ok(response.header("x-seen".parse().expect("a name"), sizes.iter().sum::<usize>().to_string()))
        })
    };
    let server = Server::start(app);
    let response = server.request("POST /echo HTTP/1.1\r\nContent-Type: application/json", "\"pump\" ").await;
    assert_eq!((body(&response), header(&response, "x-seen")), ("\"pump\"", Some("7")));
    assert_eq!(header(&response, "x-interface"), Some("7"));
    assert_eq!(header(&server.request("GET /nowhere HTTP/1.1", "").await, "x-interface"), Some("7"));
}
