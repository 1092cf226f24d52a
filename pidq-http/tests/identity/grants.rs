//! Rights to graphs.

use std::sync::Arc;

use pidq_http::auth::{Caller, DefaultAccess, Grant, Right};

use crate::fixture::{Fixture, check, check_with};

const RIGHTS: [Right; 3] = [Right::Read, Right::Write, Right::Admin];

fn to(subject: &str, pattern: &str, right: Right) -> Grant {
    Grant { pattern: pattern.to_owned(), subject: subject.to_owned(), right, is_creator: false }
}

async fn callers(fixture: &Fixture) -> [Arc<Caller>; 4] {
    fixture.user("ann", "acme", "editor", &["process"]).await;
    fixture.user("bob", "acme", "editor", &[]).await;
    fixture.user("boss", "acme", "admin", &[]).await;
    fixture.user("eve", "globex", "admin", &[]).await;
    fixture.client("all", None, crate::fixture::ALL_GRANTS[..1].as_ref(), &["read", "write"]).await;
    let caller = async |login: &str| {
        let body = format!(
            "grant_type=password&username={login}&password=blue+valve%2C+open&client_id=all&client_secret={}",
            crate::fixture::SECRET
        );
        fixture.caller(&fixture.send(fixture.request(&body)).await.access()).await.unwrap()
    };
    [caller("ann").await, caller("bob").await, caller("boss").await, caller("eve").await]
}

/// Returns the rights of a caller, checked for one graph and through a list; both must be equal.
async fn rights(fixture: &Fixture, caller: &Caller, graph_id: &str) -> String {
    let list = fixture.identities.rights(caller).await.unwrap();
    let mut held = String::new();
    for right in RIGHTS {
        let may = fixture.identities.is_allowed(caller, graph_id, right).await.unwrap();
        assert_eq!(may, list.allows(graph_id, right), "{graph_id} {right:?}");
        held.push(if may { right.name().chars().next().unwrap() } else { '-' });
    }
    held
}

#[tokio::test]
async fn by_default_the_tenant_reads_and_the_creator_writes() {
    check(async |fixture: Fixture| {
        let [ann, bob, boss, eve] = callers(&fixture).await;
        assert!(fixture.identities.claim(&ann, "unit-7", fixture.now).await.unwrap());
        assert!(fixture.identities.claim(&ann, "unit-7", fixture.now).await.unwrap());
        assert!(!fixture.identities.claim(&bob, "unit-7", fixture.now).await.unwrap());
        assert_eq!(rights(&fixture, &ann, "unit-7").await, "rwa");
        assert_eq!(rights(&fixture, &bob, "unit-7").await, "r--");
        assert_eq!(rights(&fixture, &boss, "unit-7").await, "rwa");
        assert_eq!(rights(&fixture, &bob, "unit-8").await, "r--");
        // The same graph id in another tenant is another graph.
        assert!(fixture.identities.claim(&eve, "unit-7", fixture.now).await.unwrap());
    })
    .await;
}

#[tokio::test]
async fn a_grant_gives_rights_by_subject_and_pattern() {
    check_with(
        |options| options.default_access = DefaultAccess::None,
        async |fixture: Fixture| {
            let [ann, bob, boss, eve] = callers(&fixture).await;
            for (grant, graph_id, expected) in [
                (to("everyone", "open", Right::Read), "open", ["r--", "r--"]),
                (to("group:process", "unit-*", Right::Write), "unit-7", ["rw-", "---"]),
                (to("group:process", "unit-*", Right::Write), "other", ["---", "---"]),
                (to(bob.subject.as_str(), "b", Right::Admin), "b", ["---", "rwa"]),
                (to("group:none", "*", Right::Admin), "b2", ["---", "---"]),
                (to("user:ann", "*", Right::Admin), "b3", ["---", "---"]),
            ] {
                fixture.identities.grant("acme", &grant, fixture.now).await.unwrap();
                assert_eq!(rights(&fixture, &ann, graph_id).await, expected[0], "ann {graph_id}");
                assert_eq!(rights(&fixture, &bob, graph_id).await, expected[1], "bob {graph_id}");
                assert_eq!(rights(&fixture, &boss, graph_id).await, "rwa", "boss {graph_id}");
                assert!(eve.is_admin && eve.tenant == "globex");
            }
            let all = fixture.identities.grants("acme").await.unwrap();
            assert_eq!(all.len(), 5);
            assert!(fixture.identities.grants("globex").await.unwrap().is_empty());
            assert!(fixture.identities.revoke_grant("acme", "unit-*", "group:process").await.unwrap());
            assert!(!fixture.identities.revoke_grant("acme", "unit-*", "group:process").await.unwrap());
            assert_eq!(rights(&fixture, &ann, "unit-7").await, "---");
        },
    )
    .await;
}

#[tokio::test]
async fn a_grantee_can_become_the_creator() {
    check(async |fixture: Fixture| {
        let [ann, ..] = callers(&fixture).await;
        fixture.identities.grant("acme", &to(ann.subject.as_str(), "new", Right::Read), fixture.now).await.unwrap();
        assert!(fixture.identities.claim(&ann, "new", fixture.now).await.unwrap());
        assert_eq!(rights(&fixture, &ann, "new").await, "rwa");
    })
    .await;
}

#[tokio::test]
async fn invalid_grants_are_rejected() {
    check(async |fixture: Fixture| {
        for bad in [
            to("ann", "a", Right::Read),
            to("user:", "a", Right::Read),
            to("everyone", "", Right::Read),
            to("everyone", "a b", Right::Read),
            to(&format!("user:{}", "x".repeat(600)), "a", Right::Read),
        ] {
            assert!(fixture.identities.grant("acme", &bad, fixture.now).await.is_err(), "{bad:?}");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_concurrent_claims_one_succeeds() {
    check(async |fixture: Fixture| {
        let [ann, bob, ..] = callers(&fixture).await;
        let claims = (0..40).map(|n| {
            let (fixture, caller) = (fixture.clone(), if n % 2 == 0 { ann.clone() } else { bob.clone() });
            tokio::spawn(async move { (n % 2, fixture.identities.claim(&caller, "raced", fixture.now).await.unwrap()) })
        });
        let mut winners = std::collections::BTreeSet::new();
        for claim in claims.collect::<Vec<_>>() {
            let (caller_index, won) = claim.await.unwrap();
            winners.extend(won.then_some(caller_index));
        }
        assert_eq!(winners.len(), 1);
    })
    .await;
}
