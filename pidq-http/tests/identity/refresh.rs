//! Refresh tokens: valid once, bound to their client, and revoked with their family on reuse.

use crate::fixture::{ALL_GRANTS, CLIENT_FORM, Fixture, LOGIN, SECRET, check, check_with};

const DAY: u64 = 86_400;

#[tokio::test]
async fn a_refresh_returns_a_new_pair() {
    check(async |fixture: Fixture| {
        let first = fixture.log_in().await;
        let second = fixture.refresh(&first.refresh()).await;
        assert_eq!(second.status, 200, "{}", second.text);
        assert_ne!(first.access(), second.access());
        assert_ne!(first.refresh(), second.refresh());
        assert_eq!(second.field("scope"), "read write");
        assert_eq!(second.json["expires_in"], 3600);
        assert!(fixture.is_valid(&second.access()).await);
    })
    .await;
}

#[tokio::test]
async fn reuse_of_a_token_revokes_the_family() {
    check(async |fixture: Fixture| {
        let first = fixture.log_in().await;
        let second = fixture.refresh(&first.refresh()).await;
        let third = fixture.later(5).refresh(&second.refresh()).await;
        assert_eq!(fixture.later(6).refresh(&first.refresh()).await.error(), (400, "invalid_grant"));
        for token in [first.access(), second.access(), third.access()] {
            assert!(!fixture.later(7).is_valid(&token).await);
        }
        assert_eq!(fixture.later(7).refresh(&third.refresh()).await.error(), (400, "invalid_grant"));
        // Another login of the same user stays valid.
        assert_eq!(fixture.later(7).log_in().await.status, 200);
    })
    .await;
}

#[tokio::test]
async fn a_lost_response_can_be_fetched_again_for_ten_seconds() {
    check(async |fixture: Fixture| {
        let first = fixture.log_in().await;
        let second = fixture.refresh(&first.refresh()).await;
        let again = fixture.later(9).refresh(&first.refresh()).await;
        assert_eq!((again.access(), again.refresh()), (second.access(), second.refresh()));
        assert_eq!(again.json["expires_in"], 3591);
        assert!(fixture.later(9).is_valid(&second.access()).await);
        assert_eq!(fixture.later(10).refresh(&first.refresh()).await.error(), (400, "invalid_grant"));
        assert!(!fixture.later(10).is_valid(&second.access()).await);
    })
    .await;
}

#[tokio::test]
async fn a_clock_that_is_set_back_allows_no_reuse_and_keeps_tokens_valid() {
    check(async |fixture: Fixture| {
        let first = fixture.log_in().await;
        let second = fixture.refresh(&first.refresh()).await;
        let day_before = Fixture { now: fixture.now - std::time::Duration::from_secs(86_400), ..fixture.clone() };
        assert!(day_before.is_valid(&second.access()).await);
        assert_eq!(day_before.refresh(&first.refresh()).await.error(), (400, "invalid_grant"));
    })
    .await;
}

#[tokio::test]
async fn only_the_latest_response_can_be_fetched_again() {
    check(async |fixture: Fixture| {
        let first = fixture.log_in().await;
        let second = fixture.refresh(&first.refresh()).await;
        let third = fixture.refresh(&second.refresh()).await;
        assert_eq!(fixture.refresh(&second.refresh()).await.access(), third.access());
        assert_eq!(fixture.refresh(&first.refresh()).await.error(), (400, "invalid_grant"));
        assert!(!fixture.is_valid(&third.access()).await);
    })
    .await;
}

#[tokio::test]
async fn without_grace_each_repetition_revokes_the_family() {
    check_with(
        |options| options.refresh_grace = std::time::Duration::ZERO,
        async |fixture: Fixture| {
            let first = fixture.log_in().await;
            let second = fixture.refresh(&first.refresh()).await;
            assert_eq!(fixture.refresh(&first.refresh()).await.error(), (400, "invalid_grant"));
            assert!(!fixture.is_valid(&second.access()).await);
        },
    )
    .await;
}

#[tokio::test]
async fn a_refresh_token_is_bound_to_its_client() {
    check(async |fixture: Fixture| {
        fixture.client("thief", Some("acme"), ALL_GRANTS, &["read", "write"]).await;
        let first = fixture.log_in().await;
        let form = format!(
            "grant_type=refresh_token&refresh_token={}&client_id=thief&client_secret={SECRET}",
            first.refresh()
        );
        assert_eq!(fixture.send(fixture.request(&form)).await.error(), (400, "invalid_grant"));
        assert_eq!(fixture.refresh(&first.refresh()).await.status, 200);
        // The pair of the grace period is revoked too.
        assert_eq!(fixture.send(fixture.request(&form)).await.error(), (400, "invalid_grant"));
    })
    .await;
}

#[tokio::test]
async fn a_refresh_can_narrow_the_scope_but_not_widen_it() {
    check(async |fixture: Fixture| {
        let first = fixture.log_in().await;
        let form = format!("grant_type=refresh_token&refresh_token={}&scope=read", first.refresh());
        let second = fixture.token(&form).await;
        assert_eq!(second.field("scope"), "read");
        assert_eq!(fixture.caller(&second.access()).await.unwrap().scopes, ["read"]);
        // RFC 6749, 6: the refresh token keeps its scope.
        let third = fixture.refresh(&second.refresh()).await;
        assert_eq!(third.field("scope"), "read write");
        let form = format!("grant_type=refresh_token&refresh_token={}&scope=read+admin", third.refresh());
        assert_eq!(fixture.token(&form).await.error(), (400, "invalid_scope"));
        // A rejected scope does not use the token up.
        assert_eq!(fixture.refresh(&third.refresh()).await.status, 200);
        // A repetition with another scope is rejected.
        let form = format!("grant_type=refresh_token&refresh_token={}&scope=read", third.refresh());
        assert_eq!(fixture.token(&form).await.error(), (400, "invalid_scope"));
    })
    .await;
}

#[tokio::test]
async fn an_idle_login_expires_after_two_weeks_and_any_login_after_a_month() {
    check(async |fixture: Fixture| {
        let idle = fixture.log_in().await;
        assert_eq!(fixture.later(14 * DAY).refresh(&idle.refresh()).await.error(), (400, "invalid_grant"));
        assert_eq!(fixture.later(14 * DAY - 1).refresh(&idle.refresh()).await.status, 200);

        let mut last = fixture.log_in().await;
        for day in (1..30).chain([30]) {
            let at = fixture.later(day * DAY - 1);
            last = at.refresh(&last.refresh()).await;
            assert_eq!(last.status, 200, "day {day}");
        }
        // The last access token expires with the login.
        assert_eq!(last.json["expires_in"], 1);
        assert!(!fixture.later(30 * DAY).is_valid(&last.access()).await);
        assert_eq!(fixture.later(30 * DAY).refresh(&last.refresh()).await.error(), (400, "invalid_grant"));
    })
    .await;
}

#[tokio::test]
async fn invalid_refresh_tokens_are_rejected() {
    check(async |fixture: Fixture| {
        let login = fixture.log_in().await;
        for token in ["x", "pidq_rt_", &login.access(), &login.refresh()[1..], &format!("{}x", login.refresh())] {
            assert_eq!(fixture.refresh(token).await.error(), (400, "invalid_grant"), "{token}");
        }
    })
    .await;
}

#[tokio::test]
async fn disabling_and_a_new_password_revoke_tokens() {
    check(async |fixture: Fixture| {
        let login = fixture.log_in().await;
        fixture.identities.disable_user(LOGIN, fixture.now).await.unwrap();
        assert!(!fixture.is_valid(&login.access()).await);
        assert_eq!(fixture.refresh(&login.refresh()).await.error(), (400, "invalid_grant"));
        fixture.identities.enable_user(LOGIN).await.unwrap();
        assert!(!fixture.is_valid(&login.access()).await);

        let login = fixture.log_in().await;
        fixture.identities.set_password(LOGIN, "another good one", fixture.now).await.unwrap();
        assert!(!fixture.is_valid(&login.access()).await);
        assert_eq!(fixture.refresh(&login.refresh()).await.error(), (400, "invalid_grant"));
    })
    .await;
}

#[tokio::test]
async fn a_lost_response_cannot_be_fetched_after_a_revocation() {
    check(async |fixture: Fixture| {
        let first = fixture.log_in().await;
        let second = fixture.refresh(&first.refresh()).await;
        assert_eq!(fixture.refresh(&first.refresh()).await.access(), second.access());
        fixture.revoke(&format!("token={}", second.access())).await;
        assert_eq!(fixture.refresh(&first.refresh()).await.error(), (400, "invalid_grant"));
    })
    .await;
}

#[tokio::test]
async fn a_lost_response_is_fetched_with_its_own_scope() {
    check(async |fixture: Fixture| {
        let first = fixture.log_in().await;
        let refresh = async |scope: &str| {
            fixture.token(&format!("grant_type=refresh_token&refresh_token={}{scope}", first.refresh())).await
        };
        let second = refresh("&scope=read").await;
        assert_eq!(refresh("&scope=write").await.error(), (400, "invalid_scope"));
        assert_eq!(refresh("&scope=read+write").await.error(), (400, "invalid_scope"));
        assert_eq!(refresh("&scope=read").await.access(), second.access());
        assert_eq!(refresh("").await.access(), second.access());
    })
    .await;
}

/// A login that is in progress while its account or client is disabled is stored after the others were revoked.
#[tokio::test]
async fn tokens_of_a_disabled_account_or_client_are_rejected_without_a_revocation() {
    check(async |fixture: Fixture| {
        fixture.client("auditor", Some("acme"), &[], &["introspection"]).await;
        let form = format!("&client_id=auditor&client_secret={SECRET}");
        for (name, disable) in [
            ("account", "update users set disabled_at = 1"),
            ("client", "update clients set disabled_at = 1 where id = 'desk'"),
        ] {
            let login = fixture.log_in().await;
            fixture.database.execute(disable, &[]).await.unwrap();
            assert!(!fixture.is_valid(&login.access()).await, "{name}");
            assert_ne!(fixture.refresh(&login.refresh()).await.status, 200, "{name}");
            for token in [login.access(), login.refresh()] {
                assert_eq!(fixture.introspect(&format!("token={token}{form}")).await.json["active"], false, "{name}");
            }
            fixture.database.execute("update users set disabled_at = null", &[]).await.unwrap();
        }
    })
    .await;
}

async fn refresh_concurrently(fixture: &Fixture, token: &str, times: usize) -> Vec<(u16, String)> {
    let tries = (0..times).map(|_| {
        let (fixture, token) = (fixture.clone(), token.to_owned());
        tokio::spawn(async move {
            let body = format!("grant_type=refresh_token&refresh_token={token}&{CLIENT_FORM}");
            let reply = fixture.send(fixture.request(&body)).await;
            (reply.status, reply.text)
        })
    });
    let mut replies = Vec::new();
    for reply in tries.collect::<Vec<_>>() {
        replies.push(reply.await.unwrap());
    }
    replies
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_hundred_concurrent_refreshes_get_the_same_pair() {
    check(async |fixture: Fixture| {
        let first = fixture.log_in().await;
        let replies = refresh_concurrently(&fixture, &first.refresh(), 100).await;
        assert!(replies.iter().all(|reply| *reply == replies[0]), "{replies:?}");
        assert_eq!(replies[0].0, 200);
        let active = "select count(*) from refresh_tokens where used_at is null";
        assert_eq!(fixture.database.row::<(i64,)>(active, &[]).await.unwrap(), Some((1,)));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn without_grace_concurrent_refreshes_revoke_the_family() {
    check_with(
        |options| options.refresh_grace = std::time::Duration::ZERO,
        async |fixture: Fixture| {
            let first = fixture.log_in().await;
            let replies = refresh_concurrently(&fixture, &first.refresh(), 100).await;
            assert_eq!(replies.iter().filter(|reply| reply.0 == 200).count(), 1);
            let active = "select count(*) from token_families where revoked_at is null";
            assert_eq!(fixture.database.row::<(i64,)>(active, &[]).await.unwrap(), Some((0,)));
        },
    )
    .await;
}

#[tokio::test]
async fn a_purge_removes_only_expired_rows() {
    check(async |fixture: Fixture| {
        let first = fixture.log_in().await;
        let second = fixture.refresh(&first.refresh()).await;
        fixture.identities.purge_expired(fixture.later(5).now).await.unwrap();
        assert_eq!(fixture.later(5).refresh(&first.refresh()).await.access(), second.access());
        fixture.identities.purge_expired(fixture.later(60).now).await.unwrap();
        let count = async |sql| fixture.database.row::<(i64,)>(sql, &[]).await.unwrap().unwrap().0;
        assert_eq!(count("select count(*) from refresh_tokens where next_pair is not null").await, 0);
        assert!(fixture.later(60).is_valid(&second.access()).await);
        fixture.identities.purge_expired(fixture.later(32 * DAY).now).await.unwrap();
        for table in [
            "select count(*) from token_families",
            "select count(*) from access_tokens",
            "select count(*) from refresh_tokens",
        ] {
            assert_eq!(count(table).await, 0, "{table}");
        }
    })
    .await;
}
