//! Tokens are believed for a second: what that means for those that are taken back.

use std::time::Duration;

use pidq_http::auth::{AuthError, DefaultAccess, Grant, Right};

use crate::world::{LOGIN, World, check, check_with};

const JUST_BEFORE: Duration = Duration::from_millis(999);
const SECOND: Duration = Duration::from_secs(1);

#[tokio::test]
async fn what_this_process_takes_back_is_worth_nothing_at_once() {
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
async fn what_another_process_takes_back_is_worth_nothing_after_a_second() {
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
async fn an_account_that_is_shut_out_elsewhere_is_out_after_a_second() {
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
async fn with_a_time_of_zero_every_request_asks() {
    check_with(
        |options| options.token_cache = Duration::ZERO,
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
async fn a_token_that_is_believed_still_expires_to_the_millisecond() {
    check_with(
        |options| options.access_life = Duration::from_millis(500),
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
async fn without_its_database_a_service_lets_nobody_in_after_a_second() {
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
async fn rights_that_change_count_at_once_here_and_after_a_second_elsewhere() {
    check_with(
        |options| options.default_access = DefaultAccess::Nothing,
        async |world: World| {
            let other = world.replica().await;
            let token = world.log_in().await.access();
            let may = async |world: &World| {
                let caller = world.caller(&token).await.unwrap();
                world.identities.may(&caller, "unit-7", Right::Read).await.unwrap()
            };
            let (pattern, subject) = ("unit-*".to_owned(), "everyone".to_owned());
            let grant = Grant { pattern, subject, right: Right::Read, is_creator: false };
            assert!(!may(&world).await);
            world.identities.grant("acme", &grant, world.now).await.unwrap();
            assert!(may(&world).await);
            other.identities.ungrant("acme", "unit-*", "everyone").await.unwrap();
            assert!(!may(&world.after(SECOND)).await);
        },
    )
    .await;
}
