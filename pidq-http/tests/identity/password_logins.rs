//! Password logins: one response for every failure, equal work, and limits before hashing.

use std::time::Duration;

use pidq_http::auth::{HashCost, Identities, NewUser, ThrottleLimits};

use crate::world::{BY_PASSWORD, CHEAP, CLIENT, LOGIN, PASSWORD, SECRET, World, check, check_with};

fn form(login: &str, password: &str) -> String {
    format!("grant_type=password&username={login}&password={password}")
}

const RIGHT: &str = "blue+valve%2C+open";

async fn odd_users(world: &World) {
    world.user("disabled", "acme", "editor", &[]).await;
    world.identities.disable_user("disabled", world.now).await.unwrap();
    let user =
        NewUser { login: "sso", password: Some(PASSWORD), tenant: "acme", role: "editor", groups: &[], sso_only: true };
    world.identities.create_user(user.clone(), world.now).await.unwrap();
    let user = NewUser { login: "nopassword", password: None, ..user };
    world.identities.create_user(user, world.now).await.unwrap();
    world.user("foreign", "globex", "editor", &[]).await;
}

#[tokio::test]
async fn every_reason_gives_the_same_answer_after_the_same_work() {
    check(async |world: World| {
        odd_users(&world).await;
        let mut answers = Vec::new();
        for (login, password) in [
            (LOGIN, "wrong"),
            ("nobody", RIGHT),
            ("disabled", RIGHT),
            ("sso", RIGHT),
            ("nopassword", RIGHT),
            ("foreign", RIGHT),
            ("%20%C3%A4%00", "x"),
        ] {
            let before = world.identities.hash_count();
            let reply = world.token(&form(login, password)).await;
            assert_eq!(reply.error(), (400, "invalid_grant"), "{login}");
            assert_eq!(world.identities.hash_count() - before, 1, "{login}");
            answers.push((reply.status, reply.headers, reply.text));
        }
        assert!(answers.windows(2).all(|two| two[0] == two[1]), "{answers:?}");
        assert!(answers[0].2.contains("Invalid credentials given."));
    })
    .await;
}

#[tokio::test]
async fn a_login_has_no_case_and_no_blanks_around_it() {
    check(async |world: World| {
        assert_eq!(world.token(&form("+ENGINEER%40Example.com+", RIGHT)).await.status, 200);
    })
    .await;
}

#[tokio::test]
async fn a_password_is_taken_as_it_is_to_its_last_letter() {
    check(async |world: World| {
        let longest = "Ä".repeat(511) + "xY";
        world.identities.set_password(LOGIN, &longest, world.now).await.unwrap();
        let letters = longest.replace('Ä', "%C3%84");
        let (shorter, lower) = (&letters[..letters.len() - 1], letters.replace('Y', "y"));
        let decomposed = longest.replace('Ä', "A%CC%88");
        let others =
            [shorter, &lower, &decomposed, &format!("{letters}+"), &format!("+{letters}"), &format!("{letters}%00")];
        for (n, other) in (1..).zip(others) {
            let reply = world.later(n * 60).token(&form(LOGIN, other)).await;
            assert_eq!(reply.error(), (400, "invalid_grant"), "{other}");
        }
        assert_eq!(world.later(600).token(&form(LOGIN, &letters)).await.status, 200);
    })
    .await;
}

#[tokio::test]
async fn a_password_has_no_end() {
    check(async |world: World| {
        assert_eq!(world.later(20 * 365 * 86_400).token(BY_PASSWORD).await.status, 200);
    })
    .await;
}

#[tokio::test]
async fn a_try_too_many_is_refused_before_it_is_hashed() {
    check(async |world: World| {
        let mut statuses = Vec::new();
        for _ in 0..3 {
            statuses.push(world.token(&form(LOGIN, "wrong")).await.status);
        }
        assert_eq!(statuses, [400, 400, 429]);
        let before = world.identities.hash_count();
        let reply = world.token(BY_PASSWORD).await;
        assert_eq!(reply.error(), (429, "temporarily_unavailable"));
        assert_eq!(reply.header("Retry-After"), Some("1"));
        assert_eq!(world.identities.hash_count(), before);
        assert_eq!(world.later(1).token(BY_PASSWORD).await.status, 200);
    })
    .await;
}

#[tokio::test]
async fn unknown_accounts_are_throttled_as_known_ones_are() {
    check(async |world: World| {
        for login in [LOGIN, "nobody"] {
            let mut statuses = Vec::new();
            for second in [0, 0, 0, 1, 1, 4] {
                statuses.push(world.later(second).token(&form(login, "wrong")).await.status);
            }
            assert_eq!(statuses, [400, 400, 429, 400, 429, 400], "{login}");
        }
    })
    .await;
}

#[tokio::test]
async fn at_most_a_hundred_guesses_a_day_reach_the_hash_and_the_owner_gets_in() {
    check(async |world: World| {
        world.log_in().await;
        let before = world.identities.hash_count();
        for n in 0..400 {
            let guess = world.later(n * 15).from(&format!("198.51.{}.{}", n / 200, n % 200));
            guess.token(&form(LOGIN, "wrong")).await;
        }
        assert_eq!(world.identities.hash_count() - before, 100);
        // The known network is not affected. Others are locked out.
        assert_eq!(world.later(6_000).token(BY_PASSWORD).await.status, 200);
        assert_eq!(world.later(6_000).from("203.0.113.9").token(BY_PASSWORD).await.status, 429);
        assert_eq!(world.later(25 * 3600).from("203.0.113.9").token(BY_PASSWORD).await.status, 200);
    })
    .await;
}

#[tokio::test]
async fn many_right_logins_from_one_office_are_not_throttled() {
    check(async |world: World| {
        for _ in 0..60 {
            assert_eq!(world.token(BY_PASSWORD).await.status, 200);
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
    check_with(slow, async |world: World| {
        let tries = (0..20).map(|n| {
            let world = world.from(&format!("198.51.100.{n}"));
            tokio::spawn(async move { world.token(BY_PASSWORD).await })
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
        assert_eq!(world.from("203.0.113.9").token(BY_PASSWORD).await.status, 200);
    })
    .await;
}

#[tokio::test]
async fn a_password_is_hashed_anew_when_the_cost_changes() {
    check(async |world: World| {
        let mut options = world.identities.options().clone();
        options.hash_cost = HashCost { passes: 2, ..CHEAP };
        let identities = Identities::open(world.database.clone(), options).await.unwrap();
        let dearer = World { identities: identities.into(), ..world.clone() };
        let mut runs = Vec::new();
        for _ in 0..3 {
            let before = dearer.identities.hash_count();
            dearer.log_in().await;
            runs.push(dearer.identities.hash_count() - before);
        }
        assert_eq!(runs, [2, 1, 1]);
    })
    .await;
}

#[tokio::test]
async fn a_network_is_known_for_thirty_days() {
    check(async |world: World| {
        world.log_in().await;
        let block = async |world: &World| {
            for n in 0..110u64 {
                let guess = World { now: world.now - Duration::from_secs(2_000 - n * 15), ..world.clone() };
                guess.from(&format!("198.51.100.{n}")).token(&form(LOGIN, "wrong")).await;
            }
        };
        let day_29 = world.later(29 * 86_400);
        block(&day_29).await;
        assert_eq!(day_29.token(BY_PASSWORD).await.status, 200);
        let day_60 = world.later(60 * 86_400);
        block(&day_60).await;
        assert_eq!(day_60.token(BY_PASSWORD).await.status, 429);
    })
    .await;
}

#[tokio::test]
async fn unknown_clients_cost_no_hash() {
    check(async |world: World| {
        let before = world.identities.hash_count();
        let form = format!("{BY_PASSWORD}&client_id={CLIENT}&client_secret=x{SECRET}");
        assert_eq!(world.send(world.request(&form)).await.error(), (401, "invalid_client"));
        assert_eq!(world.identities.hash_count(), before);
    })
    .await;
}
