//! Token cache: revocations take effect after at most a second.

use std::time::Duration;

use pidq_http::auth::{AuthError, DefaultAccess, Grant, Right};

use crate::world::{LOGIN, World, check, check_with};

const JUST_BEFORE: Duration = Duration::from_millis(999);
const SECOND: Duration = Duration::from_secs(1);

#[tokio::test]
async fn a_revocation_by_this_process_is_immediate() {
    check(async |world: World| {
        let (first, second) = (world.log_in().await, world.log_in().await);
        assert!(world.is_good(&first.access()).await && world.is_good(&second.access()).await);
        world.revoke(&format!("token={}", first.access())).await;
        assert!(!world.is_good(&first.access()).await);
        assert!(world.is_good(&second.access()).await);
        world.identities.disable_user(LOGIN, world.now).await.unwrap();
        assert!(!world.is_good(&second.access()).await);
    })
    .await;
}

#[tokio::test]
async fn a_revocation_by_another_process_takes_effect_after_a_second() {
    check(async |world: World| {
        let other = world.replica().await;
        let token = world.log_in().await.access();
        assert!(world.is_good(&token).await);
        other.revoke(&format!("token={token}")).await;
        assert!(!other.is_good(&token).await);
        assert!(world.after(JUST_BEFORE).is_good(&token).await);
        assert!(!world.after(SECOND).is_good(&token).await);
    })
    .await;
}

#[tokio::test]
async fn an_account_deleted_elsewhere_is_rejected_after_a_second() {
    check(async |world: World| {
        let other = world.replica().await;
        let token = world.log_in().await.access();
        assert!(world.is_good(&token).await);
        other.identities.delete_user(LOGIN).await.unwrap();
        assert!(!world.after(SECOND).is_good(&token).await);
    })
    .await;
}

#[tokio::test]
async fn a_ttl_of_zero_verifies_every_request() {
    check_with(
        |options| options.token_cache_ttl = Duration::ZERO,
        async |world: World| {
            let other = world.replica().await;
            let token = world.log_in().await.access();
            assert!(world.is_good(&token).await);
            other.revoke(&format!("token={token}")).await;
            assert!(!world.is_good(&token).await);
        },
    )
    .await;
}

#[tokio::test]
async fn a_cached_token_expires_on_time() {
    check_with(
        |options| options.access_token_ttl = Duration::from_millis(500),
        async |world: World| {
            let token = world.log_in().await.access();
            assert!(world.after(Duration::from_millis(499)).is_good(&token).await);
            let refused = world.after(Duration::from_millis(500)).caller(&token).await;
            assert!(refused.is_err_and(|challenge| challenge.contains("has expired")));
        },
    )
    .await;
}

#[tokio::test]
async fn without_a_database_cached_tokens_expire_after_a_second() {
    check(async |world: World| {
        let token = world.log_in().await.access();
        assert!(world.is_good(&token).await);
        world.database.close().await;
        assert!(world.after(JUST_BEFORE).is_good(&token).await);
        let header = format!("Bearer {token}");
        let refused = world.identities.authenticate(&[&header], world.now + SECOND).await;
        assert!(matches!(refused, Err(AuthError::Unavailable(_))));
    })
    .await;
}

#[tokio::test]
async fn changed_rights_take_effect_here_at_once_and_elsewhere_after_a_second() {
    check_with(
        |options| options.default_access = DefaultAccess::Nothing,
        async |world: World| {
            let other = world.replica().await;
            let token = world.log_in().await.access();
            let may = async |world: &World| {
                let caller = world.caller(&token).await.unwrap();
                world.identities.is_allowed(&caller, "unit-7", Right::Read).await.unwrap()
            };
            let (pattern, subject) = ("unit-*".to_owned(), "everyone".to_owned());
            let grant = Grant { pattern, subject, right: Right::Read, is_creator: false };
            assert!(!may(&world).await);
            world.identities.grant("acme", &grant, world.now).await.unwrap();
            assert!(may(&world).await);
            other.identities.revoke_grant("acme", "unit-*", "everyone").await.unwrap();
            assert!(!may(&world.after(SECOND)).await);
        },
    )
    .await;
}
