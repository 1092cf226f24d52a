//! Sign-in, sign-out, refresh of tokens, and requests of other sites.

use std::time::Duration;

use pidq_http::header::SET_COOKIE;

use crate::api::{LOGIN, PASSWORD, api, dashboard, dashboard_with_secret, send, sign_in, try_sign_in};

const HOUR: Duration = Duration::from_secs(3600);

#[tokio::test]
async fn a_session_lasts_from_sign_in_to_sign_out() {
    let dashboard = dashboard(api(HOUR).await);
    let session = async |cookie: &str| send(&dashboard, "GET", "/session", &[("cookie", cookie)], "").await;
    let before = session("").await;
    assert_eq!((before.status, &before.json()["signed_in"], before.cookie()), (200, &false.into(), None));
    assert_eq!(before.json()["methods"], serde_json::json!({ "password": true, "sso": null }));

    let signed_in = try_sign_in(&dashboard, LOGIN, PASSWORD).await;
    let attributes = signed_in.header(SET_COOKIE.as_str()).split_once("; ").expect("attributes").1.to_owned();
    assert_eq!(attributes, "Path=/; Secure; HttpOnly; SameSite=Lax");
    assert_eq!(signed_in.header("cache-control"), "no-store");
    let cookie = signed_in.cookie().expect("a cookie");
    let now = session(&cookie).await.json();
    assert_eq!(now, signed_in.json());
    assert_eq!((&now["signed_in"], &now["login"], &now["auth"]), (&true.into(), &LOGIN.into(), &"tokens".into()));
    assert_eq!(now["scopes"], serde_json::json!(["read", "write"]));
    assert_eq!(send(&dashboard, "GET", "/graph", &[("cookie", &cookie)], "").await.status, 200);

    let signed_out = send(&dashboard, "DELETE", "/session", &[("cookie", &cookie)], "").await;
    assert_eq!((signed_out.status, signed_out.cookie().as_deref()), (204, Some("__Host-pidq-session=")));
    let after = session(&cookie).await;
    assert_eq!((&after.json()["signed_in"], after.cookie().as_deref()), (&false.into(), Some("__Host-pidq-session=")));
    let revoked = send(&dashboard, "GET", "/graph", &[("cookie", &cookie)], "").await;
    assert_eq!(revoked.status, 401, "a copy of the cookie is of no use: the tokens are revoked");
}

#[tokio::test]
async fn wrong_credentials_do_not_tell_what_is_wrong() {
    let dashboard = dashboard(api(HOUR).await);
    let mut texts = Vec::new();
    for (login, password) in [(LOGIN, "wrong"), ("nobody", PASSWORD)] {
        let answer = try_sign_in(&dashboard, login, password).await;
        assert_eq!((answer.status, answer.cookie()), (401, None), "{login}");
        let mut problem = answer.json();
        assert_eq!(problem["code"], "invalid-credentials");
        for field in ["instance", "request_id"] {
            problem.as_object_mut().and_then(|fields| fields.remove(field)).expect(field);
        }
        texts.push(problem);
    }
    assert_eq!(texts[0], texts[1]);
}

#[tokio::test]
async fn only_json_is_accepted() {
    let dashboard = dashboard(api(HOUR).await);
    for media in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""] {
        let body = format!(r#"{{"login": "{LOGIN}", "password": "{PASSWORD}"}}"#);
        assert_eq!(send(&dashboard, "POST", "/session", &[("content-type", media)], body).await.status, 415, "{media}");
    }
}

#[tokio::test]
async fn a_cookie_that_cannot_be_opened_counts_as_none() {
    let service = api(HOUR).await.build();
    let dashboard = dashboard_with_secret(service.clone(), "one");
    let replica = dashboard_with_secret(service.clone(), "one");
    let stranger = dashboard_with_secret(service, "two");
    let cookie = sign_in(&dashboard).await;
    assert_eq!(
        send(&replica, "GET", "/graph", &[("cookie", &cookie)], "").await.status,
        200,
        "replicas share sessions"
    );
    let mut changed = cookie.clone();
    changed.replace_range(40..41, if &cookie[40..41] == "A" { "B" } else { "A" });
    for (dashboard, cookie) in [(&stranger, &*cookie), (&dashboard, &changed), (&dashboard, &cookie[..60])] {
        let answer = send(dashboard, "GET", "/graph", &[("cookie", cookie)], "").await;
        assert_eq!(answer.status, 401, "{cookie}");
        assert_eq!(send(dashboard, "GET", "/session", &[("cookie", cookie)], "").await.json()["signed_in"], false);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_requests_share_the_refresh_of_an_expired_token() {
    let service = api(Duration::from_secs(1)).await.build();
    let dashboard = dashboard_with_secret(service.clone(), "one");
    let replica = dashboard_with_secret(service, "one");
    let mut cookie = sign_in(&dashboard).await;
    for _ in 0..2 {
        tokio::time::sleep(Duration::from_millis(1100)).await;
        let requests = (0..16).map(|index| {
            let (dashboard, cookie) = (if index % 2 == 0 { &dashboard } else { &replica }.clone(), cookie.clone());
            tokio::spawn(async move { send(&dashboard, "GET", "/graph", &[("cookie", &cookie)], "").await })
        });
        let mut renewed = None;
        for request in requests.collect::<Vec<_>>() {
            let answer = request.await.expect("no panic");
            assert_eq!(answer.status, 200, "{:?}", answer.body);
            renewed = Some(answer.cookie().expect("the new tokens"));
        }
        cookie = renewed.expect("a response");
    }
}

#[tokio::test]
async fn a_refresh_token_that_was_revoked_ends_the_session() {
    let app = api(Duration::from_secs(1)).await;
    let state = app.state.clone();
    let dashboard = dashboard(app);
    let cookie = sign_in(&dashboard).await;
    let identities = state.identities.as_ref().expect("accounts");
    identities.disable_client("desk", pidq_http::auth::Timestamp::now()).await.expect("it exists");
    identities.enable_client("desk").await.expect("it exists");
    tokio::time::sleep(Duration::from_millis(1100)).await;
    let answer = send(&dashboard, "GET", "/graph", &[("cookie", &cookie)], "").await;
    assert_eq!((answer.status, answer.cookie().as_deref()), (401, Some("__Host-pidq-session=")));
}

#[tokio::test]
async fn requests_of_other_sites_change_nothing() {
    let dashboard = dashboard(api(HOUR).await);
    let cookie = sign_in(&dashboard).await;
    // The values of `Sec-Fetch-Site` and `Origin`; empty if the header is missing.
    for (site, origin, is_allowed) in [
        ("same-origin", "", true),
        ("same-origin", "http://127.0.0.1:3000", true),
        ("same-site", "http://127.0.0.1:3000", false),
        ("cross-site", "http://127.0.0.1:3000", false),
        ("none", "", false),
        ("", "http://127.0.0.1:3000", true),
        ("", "https://127.0.0.1:3000", true),
        ("", "HTTP://127.0.0.1:3000", false),
        ("", "http://127.0.0.1:3001", false),
        ("", "http://127.0.0.1", false),
        ("", "http://127.0.0.1:3000.evil.example", false),
        ("", "https://evil.example", false),
        ("", "null", false),
        ("", "", false),
    ] {
        let headers = [("cookie", &*cookie), ("sec-fetch-site", site), ("origin", origin)];
        for (method, path) in [("PUT", "/graph/7"), ("POST", "/session"), ("DELETE", "/api/keys/7")] {
            let answer = send(&dashboard, method, path, &headers, "").await;
            assert_eq!(answer.status != 403, is_allowed, "{method} {path} {site} {origin}");
        }
        assert_eq!(send(&dashboard, "GET", "/graph", &headers, "").await.status, 200, "reading is safe: {site}");
    }
}
