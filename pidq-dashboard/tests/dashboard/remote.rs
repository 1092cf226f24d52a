//! Dashboard in a process of its own, in front of an API at a URL.

use std::time::Duration;

use pidq_dashboard::open_remote;
use pidq_http::{Bytes, Listener, Shutdown, serve};

use crate::api::{api, send, settings, sign_in, try_sign_in};

#[tokio::test]
async fn an_api_at_a_url_is_called_over_http() {
    let mut app = api(Duration::from_secs(3600)).await;
    app.proxies = vec!["127.0.0.1".parse().expect("a network")];
    let listener = Listener::plain(([127, 0, 0, 1], 0).into()).expect("a free port");
    let url = format!("http://{}", listener.address().expect("it is bound"));
    let (_stop, shutdown) = Shutdown::manual();
    tokio::spawn(serve(app, vec![listener], shutdown));

    let (_dir, settings) = settings(&["--api-url", &url]);
    let dashboard = open_remote(&settings).expect("it opens").build();
    let cookie = sign_in(&dashboard).await;
    let seen = send(&dashboard, "GET", "/graph", &[("cookie", &cookie)], "").await.json();
    assert_eq!(seen["headers"]["x-forwarded-for"], "127.0.0.1");
    assert_eq!(seen["headers"]["host"], url.trim_start_matches("http://"));
    assert_eq!(seen["headers"].get("cookie"), None);
    let headers = [("cookie", &*cookie), ("content-type", "application/octet-stream")];
    let stored = send(&dashboard, "PUT", "/graph/7", &headers, Bytes::from(vec![7; 5 << 20])).await;
    assert_eq!(stored.body, "5242880");
    let gzip = [("cookie", &*cookie), ("accept-encoding", "gzip")];
    assert_eq!(send(&dashboard, "GET", "/graph/7", &gzip, "").await.header("content-encoding"), "gzip");
    assert_eq!(send(&dashboard, "GET", "/readyz", &[], "").await.body, "ready\n");
}

#[tokio::test]
async fn an_api_that_does_not_respond_is_a_bad_gateway() {
    // The port is free again when the listener is dropped.
    let listener = Listener::plain(([127, 0, 0, 1], 0).into()).expect("a free port");
    let url = format!("http://{}", listener.address().expect("it is bound"));
    drop(listener);
    let (_dir, settings) = settings(&["--api-url", &url]);
    let dashboard = open_remote(&settings).expect("it opens").build();
    for path in ["/readyz", "/graph"] {
        let answer = send(&dashboard, "GET", path, &[], "").await;
        assert_eq!((answer.status, answer.json()["code"].as_str()), (502, Some("api-unavailable")), "{path}");
    }
    assert_eq!(try_sign_in(&dashboard, "a", "b").await.status, 502);
    let session = send(&dashboard, "GET", "/session", &[], "").await;
    assert_eq!((session.status, &session.json()["signed_in"]), (200, &false.into()));
    assert_eq!(send(&dashboard, "GET", "/livez", &[], "").await.status, 200);
}
