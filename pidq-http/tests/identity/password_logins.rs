//! Password logins: one response for every failure, equal work, and limits before hashing.

use std::time::Duration;

use pidq_http::auth::{HashCost, Identities, NewUser, ThrottleLimits};

use crate::fixture::{CHEAP, CLIENT, Fixture, LOGIN, PASSWORD, PASSWORD_FORM, SECRET, check, check_with};

fn form(login: &str, password: &str) -> String {
    format!("grant_type=password&username={login}&password={password}")
}

const RIGHT: &str = "blue+valve%2C+open";

async fn special_users(fixture: &Fixture) {
    fixture.user("disabled", "acme", "editor", &[]).await;
    fixture.identities.disable_user("disabled", fixture.now).await.unwrap();
    let user =
        NewUser { login: "sso", password: Some(PASSWORD), tenant: "acme", role: "editor", groups: &[], sso_only: true };
    fixture.identities.create_user(user.clone(), fixture.now).await.unwrap();
    let user = NewUser { login: "nopassword", password: None, ..user };
    fixture.identities.create_user(user, fixture.now).await.unwrap();
    fixture.user("foreign", "globex", "editor", &[]).await;
}

#[tokio::test]
async fn every_failure_has_the_same_response_and_cost() {
    check(async |fixture: Fixture| {
        special_users(&fixture).await;
        let mut replies = Vec::new();
        for (login, password) in [
            (LOGIN, "wrong"),
            ("nobody", RIGHT),
            ("disabled", RIGHT),
            ("sso", RIGHT),
            ("nopassword", RIGHT),
            ("foreign", RIGHT),
            ("%20%C3%A4%00", "x"),
        ] {
            let before = fixture.identities.hash_count();
            let reply = fixture.token(&form(login, password)).await;
            assert_eq!(reply.error(), (400, "invalid_grant"), "{login}");
            assert_eq!(fixture.identities.hash_count() - before, 1, "{login}");
            replies.push((reply.status, reply.headers, reply.text));
        }
        assert!(replies.windows(2).all(|two| two[0] == two[1]), "{replies:?}");
        assert!(replies[0].2.contains("Invalid credentials given."));
    })
    .await;
}

#[tokio::test]
async fn logins_ignore_case_and_surrounding_spaces() {
    check(async |fixture: Fixture| {
        assert_eq!(fixture.token(&form("+ENGINEER%40Example.com+", RIGHT)).await.status, 200);
    })
    .await;
}

#[tokio::test]
async fn passwords_are_compared_exactly() {
    check(async |fixture: Fixture| {
        let longest = "Ä".repeat(511) + "xY";
        fixture.identities.set_password(LOGIN, &longest, fixture.now).await.unwrap();
        let letters = longest.replace('Ä', "%C3%84");
        let (shorter, lower) = (&letters[..letters.len() - 1], letters.replace('Y', "y"));
        let decomposed = longest.replace('Ä', "A%CC%88");
        let others =
            [shorter, &lower, &decomposed, &format!("{letters}+"), &format!("+{letters}"), &format!("{letters}%00")];
        for (n, other) in (1..).zip(others) {
            let reply = fixture.later(n * 60).token(&form(LOGIN, other)).await;
            assert_eq!(reply.error(), (400, "invalid_grant"), "{other}");
        }
        assert_eq!(fixture.later(600).token(&form(LOGIN, &letters)).await.status, 200);
    })
    .await;
}

#[tokio::test]
async fn passwords_do_not_expire() {
    check(async |fixture: Fixture| {
        assert_eq!(fixture.later(20 * 365 * 86_400).token(PASSWORD_FORM).await.status, 200);
    })
    .await;
}

#[tokio::test]
async fn throttled_attempts_are_rejected_before_hashing() {
    check(async |fixture: Fixture| {
        let mut statuses = Vec::new();
        for _ in 0..3 {
            statuses.push(fixture.token(&form(LOGIN, "wrong")).await.status);
        }
        assert_eq!(statuses, [400, 400, 429]);
        let before = fixture.identities.hash_count();
        let reply = fixture.token(PASSWORD_FORM).await;
        assert_eq!(reply.error(), (429, "temporarily_unavailable"));
        assert_eq!(reply.header("Retry-After"), Some("1"));
        assert_eq!(fixture.identities.hash_count(), before);
        assert_eq!(fixture.later(1).token(PASSWORD_FORM).await.status, 200);
    })
    .await;
}

#[tokio::test]
async fn simultaneous_correct_logins_of_one_account_all_get_a_token() {
    check(async |fixture: Fixture| {
        let mut logins = tokio::task::JoinSet::new();
        for _ in 0..20 {
            let fixture = fixture.clone();
            logins.spawn(async move { fixture.token(PASSWORD_FORM).await.status });
        }
        assert_eq!(logins.join_all().await, [200; 20]);
    })
    .await;
}

#[tokio::test]
async fn unknown_accounts_are_throttled_like_known_ones() {
    check(async |fixture: Fixture| {
        for login in [LOGIN, "nobody"] {
            let mut statuses = Vec::new();
            for second in [0, 0, 0, 1, 1, 4] {
                statuses.push(fixture.later(second).token(&form(login, "wrong")).await.status);
            }
            assert_eq!(statuses, [400, 400, 429, 400, 429, 400], "{login}");
        }
    })
    .await;
}

#[tokio::test]
async fn at_most_a_hundred_guesses_a_day_are_hashed_and_the_owner_can_log_in() {
    check(async |fixture: Fixture| {
        fixture.log_in().await;
        let before = fixture.identities.hash_count();
        for n in 0..400 {
            let guess = fixture.later(n * 15).from(&format!("198.51.{}.{}", n / 200, n % 200));
            guess.token(&form(LOGIN, "wrong")).await;
        }
        assert_eq!(fixture.identities.hash_count() - before, 100);
        // The known network is not affected. Others are locked out.
        assert_eq!(fixture.later(6_000).token(PASSWORD_FORM).await.status, 200);
        assert_eq!(fixture.later(6_000).from("203.0.113.9").token(PASSWORD_FORM).await.status, 429);
        assert_eq!(fixture.later(25 * 3600).from("203.0.113.9").token(PASSWORD_FORM).await.status, 200);
    })
    .await;
}

#[tokio::test]
async fn successful_logins_from_one_network_are_not_throttled() {
    check(async |fixture: Fixture| {
        for _ in 0..60 {
            assert_eq!(fixture.token(PASSWORD_FORM).await.status, 200);
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_queue_is_503_and_costs_no_attempt() {
    let slow = |options: &mut pidq_http::auth::IdentityOptions| {
        options.hash_cost = HashCost { memory: 8 * 1024, queue: 0, ..CHEAP };
        options.throttle = ThrottleLimits { concurrent_attempts: 100, daily_failures: 3, ..ThrottleLimits::default() };
    };
    check_with(slow, async |fixture: Fixture| {
        let tries = (0..20).map(|n| {
            let fixture = fixture.from(&format!("198.51.100.{n}"));
            tokio::spawn(async move { fixture.token(PASSWORD_FORM).await })
        });
        let mut statuses = Vec::new();
        for attempt in tries.collect::<Vec<_>>() {
            let reply = attempt.await.unwrap();
            if reply.status == 503 {
                assert_eq!(reply.error(), (503, "temporarily_unavailable"));
                assert_eq!(reply.header("Retry-After"), Some("1"));
            }
            statuses.push(reply.status);
        }
        assert!(statuses.contains(&200) && statuses.contains(&503), "{statuses:?}");
        assert!(statuses.iter().all(|status| [200, 429, 503].contains(status)), "{statuses:?}");
        assert_eq!(fixture.from("203.0.113.9").token(PASSWORD_FORM).await.status, 200);
    })
    .await;
}

#[tokio::test]
async fn a_password_is_rehashed_when_the_cost_changes() {
    check(async |fixture: Fixture| {
        let mut options = fixture.identities.options().clone();
        options.hash_cost = HashCost { passes: 2, ..CHEAP };
        let identities = Identities::open(fixture.database.clone(), options).await.unwrap();
        let costlier = Fixture { identities: identities.into(), ..fixture.clone() };
        let mut runs = Vec::new();
        for _ in 0..3 {
            let before = costlier.identities.hash_count();
            costlier.log_in().await;
            runs.push(costlier.identities.hash_count() - before);
        }
        assert_eq!(runs, [2, 1, 1]);
    })
    .await;
}

#[tokio::test]
async fn a_network_is_known_for_thirty_days() {
    check(async |fixture: Fixture| {
        fixture.log_in().await;
        let block = async |fixture: &Fixture| {
            for n in 0..110u64 {
                let guess = Fixture { now: fixture.now - Duration::from_secs(2_000 - n * 15), ..fixture.clone() };
                guess.from(&format!("198.51.100.{n}")).token(&form(LOGIN, "wrong")).await;
            }
        };
        let day_29 = fixture.later(29 * 86_400);
        block(&day_29).await;
        assert_eq!(day_29.token(PASSWORD_FORM).await.status, 200);
        let day_60 = fixture.later(60 * 86_400);
        block(&day_60).await;
        assert_eq!(day_60.token(PASSWORD_FORM).await.status, 429);
    })
    .await;
}

#[tokio::test]
async fn unknown_clients_cost_no_hash() {
    check(async |fixture: Fixture| {
        let before = fixture.identities.hash_count();
        let form = format!("{PASSWORD_FORM}&client_id={CLIENT}&client_secret=x{SECRET}");
        assert_eq!(fixture.send(fixture.request(&form)).await.error(), (401, "invalid_client"));
        assert_eq!(fixture.identities.hash_count(), before);
    })
    .await;
}
