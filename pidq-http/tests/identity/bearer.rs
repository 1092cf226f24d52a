//! Bearer authentication: callers and challenges.

use pidq_http::auth::AuthError;

use crate::fixture::{Fixture, LOGIN, check};

const INVALID: &str = r#"Bearer realm="pidq", error="invalid_token", error_description="The access token is invalid.""#;

#[tokio::test]
async fn a_token_names_its_caller() {
    check(async |fixture: Fixture| {
        fixture.identities.set_groups(LOGIN, &["process", "unit-7"]).await.unwrap();
        let caller = fixture.caller(&fixture.log_in().await.access()).await.unwrap();
        assert!(caller.subject.as_str().starts_with("user:u_"));
        assert_eq!(caller.tenant, "acme");
        assert_eq!(caller.scopes, ["read", "write"]);
        assert_eq!(caller.groups, ["process", "unit-7"]);
        assert_eq!(caller.name, LOGIN);
        assert_eq!(caller.client_id.as_deref(), Some("desk"));
        assert!(!caller.is_admin);
        let client = fixture.token("grant_type=client_credentials").await.access();
        let client = fixture.caller(&client).await.unwrap();
        assert_eq!((client.subject.as_str(), client.tenant.as_str()), ("client:desk", "acme"));
    })
    .await;
}

#[tokio::test]
async fn headers_are_parsed_as_rfc_6750_defines() {
    check(async |fixture: Fixture| {
        let token = fixture.log_in().await.access();
        let bare = r#"Bearer realm="pidq""#;
        let authenticate = async |headers: &[&str]| {
            let found = fixture.identities.authenticate(headers, fixture.now).await;
            found.map(drop).map_err(|error| (error.status(), error.challenge(None)))
        };
        for scheme in ["Bearer", "bearer", "BEARER"] {
            assert_eq!(authenticate(&[&format!("{scheme} {token}")]).await, Ok(()), "{scheme}");
        }
        for (header, status, challenge) in [
            ("Basic abc".to_owned(), 401, bare),
            (token.clone(), 401, bare),
            (String::new(), 401, bare),
            ("Bearer".to_owned(), 401, INVALID),
            (format!("Bearer {token} x"), 401, INVALID),
            (format!("Bearer {token}x"), 401, INVALID),
            (format!("Bearer {}", &token[1..]), 401, INVALID),
            ("Bearer a.b.c".to_owned(), 401, INVALID),
        ] {
            let expected = Err((status, Some(challenge.to_owned())));
            assert_eq!(authenticate(&[&header]).await, expected, "{header}");
        }
        assert_eq!(authenticate(&[]).await, Err((401, Some(bare.to_owned()))));
        let twice = format!("Bearer {token}");
        assert_eq!(authenticate(&[&twice, &twice]).await, Err((400, None)));
    })
    .await;
}

#[tokio::test]
async fn a_token_expires_after_an_hour() {
    check(async |fixture: Fixture| {
        let token = fixture.log_in().await.access();
        assert!(fixture.later(3599).is_valid(&token).await);
        let expired =
            r#"Bearer realm="pidq", error="invalid_token", error_description="The access token has expired.""#;
        assert_eq!(fixture.later(3600).caller(&token).await, Err(expired.to_owned()));
    })
    .await;
}

#[tokio::test]
async fn a_caller_needs_the_scope() {
    check(async |fixture: Fixture| {
        fixture.user("guest", "acme", "viewer", &[]).await;
        let caller = fixture.caller_as("guest").await;
        caller.require("read").unwrap();
        let error = caller.require("write").unwrap_err();
        assert_eq!((error.status(), error.code().name), (403, "insufficient-scope"));
        let metadata = "https://pidq.example/.well-known/oauth-protected-resource";
        let challenge = format!(
            r#"Bearer realm="pidq", error="insufficient_scope", scope="write", resource_metadata="{metadata}""#
        );
        assert_eq!(error.challenge(Some(metadata)), Some(challenge));
    })
    .await;
}

#[tokio::test]
async fn an_unreachable_database_is_503_and_not_401() {
    check(async |fixture: Fixture| {
        let token = fixture.log_in().await.access();
        fixture.database.close().await;
        let found = fixture.identities.authenticate(&[&format!("Bearer {token}")], fixture.now).await;
        let error = found.unwrap_err();
        assert!(matches!(error, AuthError::Unavailable(_)), "{error:?}");
        assert_eq!((error.status(), error.challenge(None)), (503, None));
        let reply = fixture.token("grant_type=client_credentials").await;
        assert_eq!(reply.error(), (503, "temporarily_unavailable"));
    })
    .await;
}
