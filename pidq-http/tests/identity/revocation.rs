//! `POST /o/revoke_token/` and `POST /o/introspect/`.

use serde_json::json;

use crate::fixture::{ALL_GRANTS, CLIENT_FORM, Fixture, LOGIN, SECRET, check};

#[tokio::test]
async fn revoking_either_token_revokes_both() {
    check(async |fixture: Fixture| {
        for hint in ["", "&token_type_hint=access_token", "&token_type_hint=nonsense"] {
            for which in ["access_token", "refresh_token"] {
                let login = fixture.log_in().await;
                let reply = fixture.revoke(&format!("token={}{hint}", login.field(which))).await;
                assert_eq!((reply.status, reply.text.as_str()), (200, "{}"));
                assert_eq!(reply.header("Content-Type"), Some("application/json"));
                assert!(!fixture.is_valid(&login.access()).await);
                assert_eq!(fixture.refresh(&login.refresh()).await.error(), (400, "invalid_grant"));
            }
        }
    })
    .await;
}

#[tokio::test]
async fn unknown_and_foreign_tokens_get_the_same_response() {
    check(async |fixture: Fixture| {
        fixture.client("other", Some("acme"), ALL_GRANTS, &["read"]).await;
        let login = fixture.log_in().await;
        for token in ["x", "pidq_at_x", "pidq_rt_x"] {
            assert_eq!(fixture.revoke(&format!("token={token}")).await.text, "{}");
        }
        let form = format!("token={}&client_id=other&client_secret={SECRET}", login.access());
        let foreign = pidq_http::auth::revocation_endpoint(&fixture.identities, fixture.request(&form)).await;
        assert_eq!((foreign.status, foreign.body.as_slice()), (200, b"{}".as_slice()));
        assert!(fixture.is_valid(&login.access()).await);
        assert_eq!(fixture.revoke("token=").await.error(), (400, "invalid_request"));
        let unauthenticated =
            pidq_http::auth::revocation_endpoint(&fixture.identities, fixture.request("token=x")).await;
        assert_eq!(unauthenticated.status, 401);
    })
    .await;
}

#[tokio::test]
async fn a_client_introspects_its_own_tokens() {
    check(async |fixture: Fixture| {
        let login = fixture.log_in().await;
        let caller = fixture.caller(&login.access()).await.unwrap();
        let reply = fixture.introspect(&format!("token={}&{CLIENT_FORM}", login.access())).await;
        let expected = json!({
            "active": true, "scope": "read write", "client_id": "desk", "username": LOGIN, "token_type": "Bearer",
            "exp": 1_700_003_600, "iat": 1_700_000_000, "nbf": 1_700_000_000, "sub": caller.subject.as_str(),
            "aud": "https://pidq.example", "iss": "https://pidq.example",
        });
        assert_eq!(reply.json, expected);
        let refresh = fixture.introspect(&format!("token={}&{CLIENT_FORM}", login.refresh())).await;
        assert_eq!(refresh.json["active"], true);
        assert!(refresh.json.get("token_type").is_none());
        let client = fixture.token("grant_type=client_credentials").await.access();
        let client = fixture.introspect(&format!("token={client}&{CLIENT_FORM}")).await;
        assert_eq!(client.json["sub"], "client:desk");
        assert!(client.json.get("username").is_none());
    })
    .await;
}

#[tokio::test]
async fn an_invalid_token_is_only_inactive() {
    check(async |fixture: Fixture| {
        fixture.client("other", Some("acme"), ALL_GRANTS, &["read"]).await;
        fixture.client("gate", Some("acme"), &[], &["introspection"]).await;
        let login = fixture.log_in().await;
        let introspect = async |fixture: &Fixture, token: &str, client: &str| {
            let form = format!("token={token}&client_id={client}&client_secret={SECRET}");
            fixture.introspect(&form).await.text
        };
        let inactive = r#"{"active":false}"#;
        assert_eq!(introspect(&fixture, "x", "desk").await, inactive);
        assert_eq!(introspect(&fixture, &login.access(), "other").await, inactive);
        assert!(introspect(&fixture, &login.access(), "gate").await.starts_with(r#"{"active":true"#));
        assert_eq!(introspect(&fixture.later(3600), &login.access(), "desk").await, inactive);
        fixture.refresh(&login.refresh()).await;
        assert_eq!(introspect(&fixture, &login.refresh(), "desk").await, inactive);
        fixture.revoke(&format!("token={}", login.access())).await;
        assert_eq!(introspect(&fixture, &login.access(), "gate").await, inactive);
        assert_eq!(fixture.introspect("token=x").await.error(), (401, "invalid_client"));
    })
    .await;
}
