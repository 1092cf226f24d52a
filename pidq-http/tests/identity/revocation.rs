//! `POST /o/revoke_token/` and `POST /o/introspect/`.

use serde_json::json;

use crate::world::{ALL_GRANTS, AS_CLIENT, LOGIN, SECRET, World, check};

#[tokio::test]
async fn revoking_either_token_ends_both() {
    check(async |world: World| {
        for hint in ["", "&token_type_hint=access_token", "&token_type_hint=nonsense"] {
            for which in ["access_token", "refresh_token"] {
                let login = world.log_in().await;
                let reply = world.revoke(&format!("token={}{hint}", login.field(which))).await;
                assert_eq!((reply.status, reply.text.as_str()), (200, "{}"));
                assert_eq!(reply.header("Content-Type"), Some("application/json"));
                assert!(!world.is_good(&login.access()).await);
                assert_eq!(world.refresh(&login.refresh()).await.error(), (400, "invalid_grant"));
            }
        }
    })
    .await;
}

#[tokio::test]
async fn what_cannot_be_revoked_is_answered_alike() {
    check(async |world: World| {
        world.client("other", Some("acme"), ALL_GRANTS, &["read"]).await;
        let login = world.log_in().await;
        for token in ["x", "pidq_at_x", "pidq_rt_x"] {
            assert_eq!(world.revoke(&format!("token={token}")).await.text, "{}");
        }
        let form = format!("token={}&client_id=other&client_secret={SECRET}", login.access());
        let foreign = pidq_http::auth::revocation_endpoint(&world.identities, world.request(&form)).await;
        assert_eq!((foreign.status, foreign.body.as_slice()), (200, b"{}".as_slice()));
        assert!(world.is_good(&login.access()).await);
        assert_eq!(world.revoke("token=").await.error(), (400, "invalid_request"));
        let stranger = pidq_http::auth::revocation_endpoint(&world.identities, world.request("token=x")).await;
        assert_eq!(stranger.status, 401);
    })
    .await;
}

#[tokio::test]
async fn a_client_introspects_its_own_tokens() {
    check(async |world: World| {
        let login = world.log_in().await;
        let caller = world.caller(&login.access()).await.unwrap();
        let reply = world.introspect(&format!("token={}&{AS_CLIENT}", login.access())).await;
        let expected = json!({
            "active": true, "scope": "read write", "client_id": "desk", "username": LOGIN, "token_type": "Bearer",
            "exp": 1_700_003_600, "iat": 1_700_000_000, "nbf": 1_700_000_000, "sub": caller.subject.as_str(),
            "aud": "https://pidq.example", "iss": "https://pidq.example",
        });
        assert_eq!(reply.json, expected);
        let refresh = world.introspect(&format!("token={}&{AS_CLIENT}", login.refresh())).await;
        assert_eq!(refresh.json["active"], true);
        assert!(refresh.json.get("token_type").is_none());
        let alone = world.token("grant_type=client_credentials").await.access();
        let alone = world.introspect(&format!("token={alone}&{AS_CLIENT}")).await;
        assert_eq!(alone.json["sub"], "client:desk");
        assert!(alone.json.get("username").is_none());
    })
    .await;
}

#[tokio::test]
async fn a_token_that_is_not_good_is_only_inactive() {
    check(async |world: World| {
        world.client("other", Some("acme"), ALL_GRANTS, &["read"]).await;
        world.client("gate", Some("acme"), &[], &["introspection"]).await;
        let login = world.log_in().await;
        let ask = async |world: &World, token: &str, client: &str| {
            let form = format!("token={token}&client_id={client}&client_secret={SECRET}");
            world.introspect(&form).await.text
        };
        let inactive = r#"{"active":false}"#;
        assert_eq!(ask(&world, "x", "desk").await, inactive);
        assert_eq!(ask(&world, &login.access(), "other").await, inactive);
        assert!(ask(&world, &login.access(), "gate").await.starts_with(r#"{"active":true"#));
        assert_eq!(ask(&world.later(3600), &login.access(), "desk").await, inactive);
        world.refresh(&login.refresh()).await;
        assert_eq!(ask(&world, &login.refresh(), "desk").await, inactive);
        world.revoke(&format!("token={}", login.access())).await;
        assert_eq!(ask(&world, &login.access(), "gate").await, inactive);
        assert_eq!(world.introspect("token=x").await.error(), (401, "invalid_client"));
    })
    .await;
}
