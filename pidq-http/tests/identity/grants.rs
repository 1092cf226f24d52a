//! Rights to graphs.

use std::sync::Arc;

use pidq_http::auth::{Caller, DefaultAccess, Grant, Right};

use crate::world::{World, check, check_with};

const EACH: [Right; 3] = [Right::Read, Right::Write, Right::Admin];

fn to(subject: &str, pattern: &str, right: Right) -> Grant {
    Grant { pattern: pattern.to_owned(), subject: subject.to_owned(), right, is_creator: false }
}

async fn people(world: &World) -> [Arc<Caller>; 4] {
    world.user("ann", "acme", "editor", &["process"]).await;
    world.user("bob", "acme", "editor", &[]).await;
    world.user("boss", "acme", "admin", &[]).await;
    world.user("eve", "globex", "admin", &[]).await;
    world.client("all", None, crate::world::ALL_GRANTS[..1].as_ref(), &["read", "write"]).await;
    let caller = async |login: &str| {
        let body = format!(
            "grant_type=password&username={login}&password=blue+valve%2C+open&client_id=all&client_secret={}",
            crate::world::SECRET
        );
        world.caller(&world.send(world.request(&body)).await.access()).await.unwrap()
    };
    [caller("ann").await, caller("bob").await, caller("boss").await, caller("eve").await]
}

/// Returns the rights of a caller, checked for one graph and through a list: they must agree.
async fn rights(world: &World, caller: &Caller, job: &str) -> String {
    let list = world.identities.rights(caller).await.unwrap();
    let mut held = String::new();
    for right in EACH {
        let may = world.identities.is_allowed(caller, job, right).await.unwrap();
        assert_eq!(may, list.allows(job, right), "{job} {right:?}");
        held.push(if may { right.name().chars().next().unwrap() } else { '-' });
    }
    held
}

#[tokio::test]
async fn by_default_the_tenant_reads_and_the_creator_writes() {
    check(async |world: World| {
        let [ann, bob, boss, eve] = people(&world).await;
        assert!(world.identities.claim(&ann, "unit-7", world.now).await.unwrap());
        assert!(world.identities.claim(&ann, "unit-7", world.now).await.unwrap());
        assert!(!world.identities.claim(&bob, "unit-7", world.now).await.unwrap());
        assert_eq!(rights(&world, &ann, "unit-7").await, "rwa");
        assert_eq!(rights(&world, &bob, "unit-7").await, "r--");
        assert_eq!(rights(&world, &boss, "unit-7").await, "rwa");
        assert_eq!(rights(&world, &bob, "unit-8").await, "r--");
        // The same graph id in another tenant is another graph.
        assert!(world.identities.claim(&eve, "unit-7", world.now).await.unwrap());
    })
    .await;
}

#[tokio::test]
async fn a_grant_gives_a_subject_a_right_by_pattern() {
    check_with(
        |options| options.default_access = DefaultAccess::Nothing,
        async |world: World| {
            let [ann, bob, boss, eve] = people(&world).await;
            for (grant, job, expected) in [
                (to("everyone", "open", Right::Read), "open", ["r--", "r--"]),
                (to("group:process", "unit-*", Right::Write), "unit-7", ["rw-", "---"]),
                (to("group:process", "unit-*", Right::Write), "other", ["---", "---"]),
                (to(bob.subject.as_str(), "b", Right::Admin), "b", ["---", "rwa"]),
                (to("group:none", "*", Right::Admin), "b2", ["---", "---"]),
                (to("user:ann", "*", Right::Admin), "b3", ["---", "---"]),
            ] {
                world.identities.grant("acme", &grant, world.now).await.unwrap();
                assert_eq!(rights(&world, &ann, job).await, expected[0], "ann {job}");
                assert_eq!(rights(&world, &bob, job).await, expected[1], "bob {job}");
                assert_eq!(rights(&world, &boss, job).await, "rwa", "boss {job}");
                assert!(eve.is_admin && eve.tenant == "globex");
            }
            let all = world.identities.grants("acme").await.unwrap();
            assert_eq!(all.len(), 5);
            assert!(world.identities.grants("globex").await.unwrap().is_empty());
            assert!(world.identities.revoke_grant("acme", "unit-*", "group:process").await.unwrap());
            assert!(!world.identities.revoke_grant("acme", "unit-*", "group:process").await.unwrap());
            assert_eq!(rights(&world, &ann, "unit-7").await, "---");
        },
    )
    .await;
}

#[tokio::test]
async fn a_grantee_can_become_the_creator() {
    check(async |world: World| {
        let [ann, ..] = people(&world).await;
        world.identities.grant("acme", &to(ann.subject.as_str(), "new", Right::Read), world.now).await.unwrap();
        assert!(world.identities.claim(&ann, "new", world.now).await.unwrap());
        assert_eq!(rights(&world, &ann, "new").await, "rwa");
    })
    .await;
}

#[tokio::test]
async fn what_is_no_grant_is_refused() {
    check(async |world: World| {
        for bad in [
            to("ann", "a", Right::Read),
            to("user:", "a", Right::Read),
            to("everyone", "", Right::Read),
            to("everyone", "a b", Right::Read),
            to(&format!("user:{}", "x".repeat(600)), "a", Right::Read),
        ] {
            assert!(world.identities.grant("acme", &bad, world.now).await.is_err(), "{bad:?}");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_concurrent_claims_one_succeeds() {
    check(async |world: World| {
        let [ann, bob, ..] = people(&world).await;
        let claims = (0..40).map(|n| {
            let (world, caller) = (world.clone(), if n % 2 == 0 { ann.clone() } else { bob.clone() });
            tokio::spawn(async move { (n % 2, world.identities.claim(&caller, "raced", world.now).await.unwrap()) })
        });
        let mut winners = std::collections::BTreeSet::new();
        for claim in claims.collect::<Vec<_>>() {
            let (who, won) = claim.await.unwrap();
            winners.extend(won.then_some(who));
        }
        assert_eq!(winners.len(), 1);
    })
    .await;
}
