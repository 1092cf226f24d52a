//! Token cache: revocations take effect after at most a second.

use std::time::Duration;

use pidq_http::auth::{AuthError, DefaultAccess, Grant, Right};

use crate::fixture::{Fixture, LOGIN, check, check_with};

const JUST_BEFORE: Duration = Duration::from_millis(999);
const SECOND: Duration = Duration::from_secs(1);

#[tokio::test]
async fn a_revocation_by_this_process_is_immediate() {
    check(async |fixture: Fixture| {
        let (first, second) = (fixture.log_in().await, fixture.log_in().await);
        assert!(fixture.is_valid(&first.access()).await && fixture.is_valid(&second.access()).await);
        fixture.revoke(&format!("token={}", first.access())).await;
        assert!(!fixture.is_valid(&first.access()).await);
        assert!(fixture.is_valid(&second.access()).await);
        fixture.identities.disable_user(LOGIN, fixture.now).await.unwrap();
        assert!(!fixture.is_valid(&second.access()).await);
    })
    .await;
}

#[tokio::test]
async fn a_revocation_by_another_process_takes_effect_after_a_second() {
    check(async |fixture: Fixture| {
        let other = fixture.replica().await;
        let token = fixture.log_in().await.access();
        assert!(fixture.is_valid(&token).await);
        other.revoke(&format!("token={token}")).await;
        assert!(!other.is_valid(&token).await);
        assert!(fixture.after(JUST_BEFORE).is_valid(&token).await);
        assert!(!fixture.after(SECOND).is_valid(&token).await);
    })
    .await;
}

#[tokio::test]
async fn an_account_deleted_elsewhere_is_rejected_after_a_second() {
    check(async |fixture: Fixture| {
        let other = fixture.replica().await;
        let token = fixture.log_in().await.access();
        assert!(fixture.is_valid(&token).await);
        other.identities.delete_user(LOGIN).await.unwrap();
        assert!(!fixture.after(SECOND).is_valid(&token).await);
    })
    .await;
}

#[tokio::test]
async fn a_ttl_of_zero_verifies_every_request() {
    check_with(
        |options| options.token_cache_ttl = Duration::ZERO,
        async |fixture: Fixture| {
            let other = fixture.replica().await;
            let token = fixture.log_in().await.access();
            assert!(fixture.is_valid(&token).await);
            other.revoke(&format!("token={token}")).await;
            assert!(!fixture.is_valid(&token).await);
        },
    )
    .await;
}

#[tokio::test]
async fn a_cached_token_expires_on_time() {
    check_with(
        |options| options.access_token_ttl = Duration::from_millis(500),
        async |fixture: Fixture| {
            let token = fixture.log_in().await.access();
            assert!(fixture.after(Duration::from_millis(499)).is_valid(&token).await);
            let result = fixture.after(Duration::from_millis(500)).caller(&token).await;
            assert!(result.is_err_and(|challenge| challenge.contains("has expired")));
        },
    )
    .await;
}

#[tokio::test]
async fn without_a_database_cached_tokens_expire_after_a_second() {
    check(async |fixture: Fixture| {
        let token = fixture.log_in().await.access();
        assert!(fixture.is_valid(&token).await);
        fixture.database.close().await;
        assert!(fixture.after(JUST_BEFORE).is_valid(&token).await);
        let header = format!("Bearer {token}");
        let result = fixture.identities.authenticate(&[&header], fixture.now + SECOND).await;
        assert!(matches!(result, Err(AuthError::Unavailable(_))));
    })
    .await;
}

#[tokio::test]
async fn changed_rights_take_effect_here_at_once_and_elsewhere_after_a_second() {
    check_with(
        |options| options.default_access = DefaultAccess::None,
        async |fixture: Fixture| {
            let other = fixture.replica().await;
            let token = fixture.log_in().await.access();
            let may = async |fixture: &Fixture| {
                let caller = fixture.caller(&token).await.unwrap();
                fixture.identities.is_allowed(&caller, "unit-7", Right::Read).await.unwrap()
            };
            let (pattern, subject) = ("unit-*".to_owned(), "everyone".to_owned());
            let grant = Grant { pattern, subject, right: Right::Read, is_creator: false };
            assert!(!may(&fixture).await);
            fixture.identities.grant("acme", &grant, fixture.now).await.unwrap();
            assert!(may(&fixture).await);
            other.identities.revoke_grant("acme", "unit-*", "everyone").await.unwrap();
            assert!(!may(&fixture.after(SECOND)).await);
        },
    )
    .await;
}
