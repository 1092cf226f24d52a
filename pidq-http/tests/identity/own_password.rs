//! Change of the own password: proof of the current one, its limits, and the end of other logins.

use pidq_http::auth::{IdentityError, PasswordChange, PasswordChangeError};

use crate::fixture::{Fixture, LOGIN, PASSWORD, Reply, check};

const NEW: &str = "red valve, shut";

async fn change(fixture: &Fixture, login: &Reply, current: &str, new: &str) -> Result<(), PasswordChangeError> {
    let token = login.access();
    let caller = fixture.caller(&token).await.unwrap();
    let change = PasswordChange { current, new, token: &token, address: fixture.address };
    fixture.identities.change_own_password(&caller, change, fixture.now).await
}

async fn can_log_in(fixture: &Fixture, password: &str) -> bool {
    let password = password.replace(' ', "+").replace(',', "%2C");
    fixture.token(&format!("grant_type=password&username={LOGIN}&password={password}")).await.status == 200
}

#[tokio::test]
async fn the_new_password_replaces_the_current_one() {
    check(async |fixture: Fixture| {
        change(&fixture, &fixture.log_in().await, PASSWORD, NEW).await.unwrap();
        assert!(!can_log_in(&fixture, PASSWORD).await);
        assert!(can_log_in(&fixture, NEW).await);
    })
    .await;
}

#[tokio::test]
async fn all_logins_end_except_the_one_that_changes_the_password() {
    check(async |fixture: Fixture| {
        let (own, other) = (fixture.log_in().await, fixture.log_in().await);
        fixture.user("neighbor", "acme", "viewer", &[]).await;
        let neighbor = fixture.log_in_as("neighbor").await;
        change(&fixture, &own, PASSWORD, NEW).await.unwrap();
        assert!(!fixture.is_valid(&other.access()).await);
        assert_eq!(fixture.refresh(&other.refresh()).await.error(), (400, "invalid_grant"));
        assert!(fixture.is_valid(&own.access()).await);
        assert_eq!(fixture.refresh(&own.refresh()).await.status, 200);
        assert!(fixture.is_valid(&neighbor.access()).await);
    })
    .await;
}

#[tokio::test]
async fn a_rejected_change_changes_nothing() {
    check(async |fixture: Fixture| {
        let (own, other) = (fixture.log_in().await, fixture.log_in().await);
        assert!(matches!(change(&fixture, &own, "wrong", NEW).await, Err(PasswordChangeError::WrongPassword)));
        for invalid in ["short", "password", PASSWORD, &"x".repeat(1025)] {
            let error = change(&fixture, &own, PASSWORD, invalid).await.unwrap_err();
            assert!(matches!(error, PasswordChangeError::Failed(IdentityError::Invalid(_))), "{invalid}: {error}");
        }
        assert!(fixture.is_valid(&other.access()).await);
        assert!(can_log_in(&fixture, PASSWORD).await);
    })
    .await;
}

#[tokio::test]
async fn guesses_of_the_current_password_are_throttled_with_those_at_logins() {
    check(async |fixture: Fixture| {
        let own = fixture.log_in().await;
        let mut outcomes = Vec::new();
        for _ in 0..4 {
            let before = fixture.identities.hash_count();
            let throttled =
                matches!(change(&fixture, &own, "wrong", NEW).await, Err(PasswordChangeError::Throttled(_)));
            outcomes.push((throttled, fixture.identities.hash_count() - before));
        }
        assert_eq!(outcomes, [(false, 1), (false, 1), (true, 0), (true, 0)]);
        assert_eq!(fixture.token(crate::fixture::PASSWORD_FORM).await.status, 429, "a login waits as well");
        change(&fixture.later(60), &own, PASSWORD, NEW).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn callers_without_a_password_cannot_change_one() {
    check(async |fixture: Fixture| {
        let client = fixture.token("grant_type=client_credentials").await;
        let rejected = change(&fixture, &client, PASSWORD, NEW).await;
        assert!(matches!(rejected, Err(PasswordChangeError::NoPassword)), "a client");
        let own = fixture.log_in().await;
        let caller = fixture.caller(&own.access()).await.unwrap();
        assert!(fixture.identities.has_password(&caller).await.unwrap());
        fixture.database.execute("update users set sso_only = 1", &[]).await.unwrap();
        assert!(!fixture.identities.has_password(&caller).await.unwrap());
        let rejected = change(&fixture, &own, PASSWORD, NEW).await;
        assert!(matches!(rejected, Err(PasswordChangeError::NoPassword)), "a user of single sign-on");
    })
    .await;
}
