//! Refresh tokens: valid once, bound to their client, and revoked with their family on reuse.

use crate::world::{ALL_GRANTS, AS_CLIENT, LOGIN, SECRET, World, check, check_with};

const DAY: u64 = 86_400;

#[tokio::test]
async fn a_refresh_token_gives_another_pair() {
    check(async |world: World| {
        let first = world.log_in().await;
        let second = world.refresh(&first.refresh()).await;
        assert_eq!(second.status, 200, "{}", second.text);
        assert_ne!(first.access(), second.access());
        assert_ne!(first.refresh(), second.refresh());
        assert_eq!(second.field("scope"), "read write");
        assert_eq!(second.json["expires_in"], 3600);
        assert!(world.is_good(&second.access()).await);
    })
    .await;
}

#[tokio::test]
async fn a_family_dies_when_a_token_is_used_again() {
    check(async |world: World| {
        let first = world.log_in().await;
        let second = world.refresh(&first.refresh()).await;
        let third = world.later(5).refresh(&second.refresh()).await;
        assert_eq!(world.later(6).refresh(&first.refresh()).await.error(), (400, "invalid_grant"));
        for token in [first.access(), second.access(), third.access()] {
            assert!(!world.later(7).is_good(&token).await);
        }
        assert_eq!(world.later(7).refresh(&third.refresh()).await.error(), (400, "invalid_grant"));
        // Another login of the same user stays valid.
        assert_eq!(world.later(7).log_in().await.status, 200);
    })
    .await;
}

#[tokio::test]
async fn a_lost_answer_can_be_fetched_again_for_ten_seconds() {
    check(async |world: World| {
        let first = world.log_in().await;
        let second = world.refresh(&first.refresh()).await;
        let again = world.later(9).refresh(&first.refresh()).await;
        assert_eq!((again.access(), again.refresh()), (second.access(), second.refresh()));
        assert_eq!(again.json["expires_in"], 3591);
        assert!(world.later(9).is_good(&second.access()).await);
        assert_eq!(world.later(10).refresh(&first.refresh()).await.error(), (400, "invalid_grant"));
        assert!(!world.later(10).is_good(&second.access()).await);
    })
    .await;
}

#[tokio::test]
async fn only_the_latest_answer_can_have_been_lost() {
    check(async |world: World| {
        let first = world.log_in().await;
        let second = world.refresh(&first.refresh()).await;
        let third = world.refresh(&second.refresh()).await;
        assert_eq!(world.refresh(&second.refresh()).await.access(), third.access());
        assert_eq!(world.refresh(&first.refresh()).await.error(), (400, "invalid_grant"));
        assert!(!world.is_good(&third.access()).await);
    })
    .await;
}

#[tokio::test]
async fn without_grace_each_repetition_ends_the_family() {
    check_with(
        |options| options.refresh_grace = std::time::Duration::ZERO,
        async |world: World| {
            let first = world.log_in().await;
            let second = world.refresh(&first.refresh()).await;
            assert_eq!(world.refresh(&first.refresh()).await.error(), (400, "invalid_grant"));
            assert!(!world.is_good(&second.access()).await);
        },
    )
    .await;
}

#[tokio::test]
async fn a_refresh_token_is_of_use_to_its_client_alone() {
    check(async |world: World| {
        world.client("thief", Some("acme"), ALL_GRANTS, &["read", "write"]).await;
        let first = world.log_in().await;
        let form = format!(
            "grant_type=refresh_token&refresh_token={}&client_id=thief&client_secret={SECRET}",
            first.refresh()
        );
        assert_eq!(world.send(world.request(&form)).await.error(), (400, "invalid_grant"));
        assert_eq!(world.refresh(&first.refresh()).await.status, 200);
        // The pair of the grace period is revoked too.
        assert_eq!(world.send(world.request(&form)).await.error(), (400, "invalid_grant"));
    })
    .await;
}

#[tokio::test]
async fn a_scope_can_shrink_for_one_access_token_but_not_grow() {
    check(async |world: World| {
        let first = world.log_in().await;
        let form = format!("grant_type=refresh_token&refresh_token={}&scope=read", first.refresh());
        let second = world.token(&form).await;
        assert_eq!(second.field("scope"), "read");
        assert_eq!(world.caller(&second.access()).await.unwrap().scopes, ["read"]);
        // RFC 6749, 6: the refresh token keeps its scope.
        let third = world.refresh(&second.refresh()).await;
        assert_eq!(third.field("scope"), "read write");
        let form = format!("grant_type=refresh_token&refresh_token={}&scope=read+admin", third.refresh());
        assert_eq!(world.token(&form).await.error(), (400, "invalid_scope"));
        // A rejected scope does not use the token up.
        assert_eq!(world.refresh(&third.refresh()).await.status, 200);
        // A repetition with another scope is rejected.
        let form = format!("grant_type=refresh_token&refresh_token={}&scope=read", third.refresh());
        assert_eq!(world.token(&form).await.error(), (400, "invalid_scope"));
    })
    .await;
}

#[tokio::test]
async fn an_idle_login_lives_two_weeks_and_any_login_a_month() {
    check(async |world: World| {
        let idle = world.log_in().await;
        assert_eq!(world.later(14 * DAY).refresh(&idle.refresh()).await.error(), (400, "invalid_grant"));
        assert_eq!(world.later(14 * DAY - 1).refresh(&idle.refresh()).await.status, 200);

        let mut last = world.log_in().await;
        for day in (1..30).chain([30]) {
            let at = world.later(day * DAY - 1);
            last = at.refresh(&last.refresh()).await;
            assert_eq!(last.status, 200, "day {day}");
        }
        // The last access token expires with the login.
        assert_eq!(last.json["expires_in"], 1);
        assert!(!world.later(30 * DAY).is_good(&last.access()).await);
        assert_eq!(world.later(30 * DAY).refresh(&last.refresh()).await.error(), (400, "invalid_grant"));
    })
    .await;
}

#[tokio::test]
async fn what_is_no_refresh_token_is_refused() {
    check(async |world: World| {
        let login = world.log_in().await;
        for token in ["x", "pidq_rt_", &login.access(), &login.refresh()[1..], &format!("{}x", login.refresh())] {
            assert_eq!(world.refresh(token).await.error(), (400, "invalid_grant"), "{token}");
        }
    })
    .await;
}

#[tokio::test]
async fn disabling_and_a_new_password_revoke_tokens() {
    check(async |world: World| {
        let login = world.log_in().await;
        world.identities.disable_user(LOGIN, world.now).await.unwrap();
        assert!(!world.is_good(&login.access()).await);
        assert_eq!(world.refresh(&login.refresh()).await.error(), (400, "invalid_grant"));
        world.identities.enable_user(LOGIN).await.unwrap();
        assert!(!world.is_good(&login.access()).await);

        let login = world.log_in().await;
        world.identities.set_password(LOGIN, "another good one", world.now).await.unwrap();
        assert!(!world.is_good(&login.access()).await);
        assert_eq!(world.refresh(&login.refresh()).await.error(), (400, "invalid_grant"));
    })
    .await;
}

async fn refresh_together(world: &World, token: &str, times: usize) -> Vec<(u16, String)> {
    let tries = (0..times).map(|_| {
        let (world, token) = (world.clone(), token.to_owned());
        tokio::spawn(async move {
            let body = format!("grant_type=refresh_token&refresh_token={token}&{AS_CLIENT}");
            let reply = world.send(world.request(&body)).await;
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
async fn of_a_hundred_refreshes_at_once_one_passes_and_all_get_its_pair() {
    check(async |world: World| {
        let first = world.log_in().await;
        let replies = refresh_together(&world, &first.refresh(), 100).await;
        assert!(replies.iter().all(|reply| *reply == replies[0]), "{replies:?}");
        assert_eq!(replies[0].0, 200);
        let alive = "select count(*) from refresh_tokens where used_at is null";
        assert_eq!(world.database.row::<(i64,)>(alive, &[]).await.unwrap(), Some((1,)));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn without_grace_a_hundred_refreshes_at_once_leave_nothing_alive() {
    check_with(
        |options| options.refresh_grace = std::time::Duration::ZERO,
        async |world: World| {
            let first = world.log_in().await;
            let replies = refresh_together(&world, &first.refresh(), 100).await;
            assert_eq!(replies.iter().filter(|reply| reply.0 == 200).count(), 1);
            let alive = "select count(*) from token_families where revoked_at is null";
            assert_eq!(world.database.row::<(i64,)>(alive, &[]).await.unwrap(), Some((0,)));
        },
    )
    .await;
}

#[tokio::test]
async fn a_purge_removes_only_expired_rows() {
    check(async |world: World| {
        let first = world.log_in().await;
        let second = world.refresh(&first.refresh()).await;
        world.identities.purge_expired(world.later(5).now).await.unwrap();
        assert_eq!(world.later(5).refresh(&first.refresh()).await.access(), second.access());
        world.identities.purge_expired(world.later(60).now).await.unwrap();
        let count = async |sql| world.database.row::<(i64,)>(sql, &[]).await.unwrap().unwrap().0;
        assert_eq!(count("select count(*) from refresh_tokens where next_pair is not null").await, 0);
        assert!(world.later(60).is_good(&second.access()).await);
        world.identities.purge_expired(world.later(32 * DAY).now).await.unwrap();
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
