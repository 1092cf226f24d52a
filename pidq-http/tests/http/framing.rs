//! Ambiguous requests are rejected, and the connection is closed.

use crate::server::{Server, app, body, header, status};

/// Sends bytes followed by a second request; returns the status of the first, and the number of responses.
async fn responses(server: &Server, bytes: &str) -> (u16, usize) {
    let response =
        server.raw(format!("{bytes}GET /things/smuggled HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")).await;
    (status(&response), response.matches("HTTP/1.1 ").count())
}

#[tokio::test]
async fn ambiguous_framing_is_rejected_and_closes_the_connection() {
    let server = Server::start(app());
    let heads = [
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: 5\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: +0\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 0, 0\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length : 0\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding\r\n : chunked\r\n\r\n0\r\n\r\n",
        "POST /echo HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "GET /things/1 HTTP/1.1\nHost: x\n\n",
        "GET /things/1 HTTP/1.1\r\nHost: x\nX: y\r\n\r\n",
        "GET /things/1 HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n",
        "GET /things/1 HTTP/1.1\r\n\r\n",
        "GET /things/1 HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
        "GET /things/1 HTTP/1.1\r\nHost: a@b\r\n\r\n",
        "GET /things/1 HTTP/1.1\r\nHost: a b\r\n\r\n",
        "GET /things/1\r\n\r\n",
        "GET  /things/1 HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /things/1 HTTP/1.2\r\nHost: x\r\n\r\n",
        "\u{16}\u{3}\u{1}\u{2}\r\n\r\n",
    ];
    for head in heads {
        let (status, responses) = responses(&server, head).await;
        assert!(status == 400 && responses == 1, "{status}, {responses} responses to {head:?}");
    }
}

#[tokio::test]
async fn pipelined_requests_are_served_in_order_up_to_the_first_ambiguous_one() {
    let server = Server::start(app());
    let good = "GET /things/1 HTTP/1.1\r\nHost: x\r\n\r\n";
    let chunked = "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n\
        2\r\n12\r\n1\r\n3\r\n0\r\n\r\n";
    let both = "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n";
    let response = server.raw([good, chunked, good, both, good].concat()).await;
    let statuses: Vec<u16> = response.split("HTTP/1.1").skip(1).map(|part| status(&format!("x{part}"))).collect();
    assert_eq!(statuses, [200, 200, 200, 400], "{response}");
}

/// RFC 9112, 7.1.1 allows blanks only before an extension; hyper, like most servers, accepts them at the end of the line.
#[tokio::test]
async fn a_chunk_size_may_be_followed_but_not_preceded_by_blanks() {
    let server = Server::start(app());
    let head = "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\
        Connection: close\r\n\r\n";
    for (chunks, expected) in [
        ("2  \r\n12\r\n0 \t\r\n\r\n", 200),
        ("2 ;x=y\r\n12\r\n0\r\n\r\n", 200),
        ("2;x=y \r\n12\r\n0\r\n\r\n", 200),
        (" 2\r\n12\r\n0\r\n\r\n", 400),
        ("2 2\r\n12\r\n0\r\n\r\n", 400),
    ] {
        assert_eq!(status(&server.raw([head, chunks].concat()).await), expected, "{chunks:?}");
    }
}

#[tokio::test]
async fn oversized_heads_are_rejected() {
    let server = Server::start(app());
    let fields = |count: usize| (0..count).map(|n| format!("X-{n}: y\r\n")).collect::<String>();
    let get = |rest: String| format!("GET /things/1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{rest}\r\n");
    assert_eq!(status(&server.raw(get(fields(60))).await), 200);
    assert_eq!(status(&server.raw(get(fields(300))).await), 431);
    assert_eq!(status(&server.raw(get(format!("X: {}\r\n", "y".repeat(20_000)))).await), 431);
    let long = format!("GET /{} HTTP/1.1\r\nHost: x\r\n\r\n", "y".repeat(9_000));
    assert_eq!(status(&server.raw(long).await), 414);
}

/// hyper sends these responses itself, without our body or headers.
#[tokio::test]
async fn an_invalid_request_gets_only_a_status() {
    let server = Server::start(app());
    let fields: String = (0..65).map(|n| format!("X-{n}: y\r\n")).collect();
    for (head, expected) in [
        (format!("GET / HTTP/1.1\r\nHost: x\r\n{fields}\r\n"), 431),
        (format!("GET / HTTP/1.1\r\nHost: x\r\nX: {}\r\n\r\n", "y".repeat(17_000)), 431),
        (format!("GET /{} HTTP/1.1\r\nHost: x\r\n\r\n", "y".repeat(17_000)), 431),
        ("GET / HTTP/1.2\r\nHost: x\r\n\r\n".to_owned(), 400),
        ("GET  / HTTP/1.1\r\nHost: x\r\n\r\n".to_owned(), 400),
        ("GET / HTTP/1.1\r\nHost : x\r\n\r\n".to_owned(), 400),
        ("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n".to_owned(), 400),
    ] {
        let response = server.raw(&head).await;
        assert_eq!(status(&response), expected, "{head}");
        let mut names: Vec<&str> = response.lines().filter_map(|line| Some(line.split_once(": ")?.0)).collect();
        names.sort_unstable();
        assert_eq!((names, body(&response)), (vec!["connection", "content-length", "date"], ""), "{head}");
    }
}

#[tokio::test]
async fn an_ambiguous_head_is_rejected_with_a_reason() {
    let server = Server::start(app());
    for (head, code) in [
        ("GET / HTTP/1.1\r\n\r\n".to_owned(), "invalid-request"),
        ("GET / HTTP/1.1\nHost: x\n\n".to_owned(), "invalid-request"),
        ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n".to_owned(), "invalid-request"),
        (format!("GET /{} HTTP/1.1\r\nHost: x\r\n\r\n", "y".repeat(9_000)), "uri-too-long"),
    ] {
        let response = server.raw(&head).await;
        assert_eq!(header(&response, "content-type"), Some("application/problem+json"), "{head}");
        assert!(
            header(&response, "x-request-id").is_some() && response.contains(&format!("\"code\":\"{code}\"")),
            "{response}"
        );
    }
}
