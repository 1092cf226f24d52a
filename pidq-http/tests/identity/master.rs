//! Master credentials of the settings: a client and a user with the same name and secret.

use pidq_http::auth::{MasterCredentials, Secret, Timestamp};

use crate::world::{ALL_GRANTS, CHEAP, World, check_with};

const KEY: &str = "0199AAAA-0000-7000-8000-000000000001";
const FIRST: &str = "f3a9c1d7e5b2408c9d6a1e7f0b3c5d8e";
const SECOND: &str = "0f1e2d3c4b5a69788796a5b4c3d2e1f0";

async fn check(claim: impl AsyncFn(World)) {
    check_with(|options| options.hash_cost = CHEAP, claim).await;
}

impl World {
    async fn starts_with(&self, key: &str, secret: &str) {
        let master = MasterCredentials { key, secret: &Secret::new(secret), tenant: "acme" };
        self.identities.ensure_master(master, Timestamp(1_700_000_000_000)).await.unwrap();
    }

    async fn by(&self, key: &str, secret: &str, form: &str) -> crate::world::Reply {
        self.send(self.request(&format!("{form}&client_id={key}&client_secret={secret}"))).await
    }

    async fn by_password(&self, key: &str, secret: &str) -> crate::world::Reply {
        self.by(key, secret, &format!("grant_type=password&username={key}&password={secret}")).await
    }
}

#[tokio::test]
async fn a_master_key_gets_tokens_in_every_way() {
    check(async |world| {
        world.starts_with(KEY, FIRST).await;
        let alone = world.by(KEY, FIRST, "grant_type=client_credentials").await;
        assert_eq!(alone.field("scope"), "read write");
        let caller = world.caller(&alone.access()).await.unwrap();
        assert_eq!((caller.client_id.as_deref(), caller.is_admin), (Some(KEY), false), "it is the client");
        let tokens = world.by_password(KEY, FIRST).await;
        let caller = world.caller(&tokens.access()).await.unwrap();
        assert_eq!((caller.name.as_str(), caller.is_admin), (KEY.to_lowercase().as_str(), true));
        let form = format!("grant_type=refresh_token&refresh_token={}", tokens.refresh());
        assert!(world.is_good(&world.by(KEY, FIRST, &form).await.access()).await);
        let wrong = format!("grant_type=password&username={KEY}&password={SECOND}");
        assert_eq!(world.by(KEY, FIRST, &wrong).await.error(), (400, "invalid_grant"));
    })
    .await;
}

#[tokio::test]
async fn a_start_with_the_same_secret_hashes_nothing_and_ends_no_login() {
    check(async |world| {
        world.starts_with(KEY, FIRST).await;
        let token = world.by_password(KEY, FIRST).await.access();
        let again = world.replica().await;
        again.starts_with(KEY, FIRST).await;
        assert_eq!(again.identities.hash_count(), 0);
        assert!(again.is_good(&token).await);
    })
    .await;
}

#[tokio::test]
async fn a_changed_secret_revokes_tokens() {
    check(async |world| {
        world.starts_with(KEY, FIRST).await;
        let token = world.by_password(KEY, FIRST).await.access();
        let again = world.replica().await;
        again.starts_with(KEY, SECOND).await;
        assert!(!again.is_good(&token).await);
        assert_eq!(again.by_password(KEY, FIRST).await.error(), (401, "invalid_client"));
        let before = format!("grant_type=password&username={KEY}&password={FIRST}");
        assert_eq!(again.by(KEY, SECOND, &before).await.error(), (400, "invalid_grant"));
        assert_eq!(again.by_password(KEY, SECOND).await.status, 200);
    })
    .await;
}

#[tokio::test]
async fn a_changed_key_removes_the_old_accounts() {
    check(async |world| {
        world.starts_with(KEY, FIRST).await;
        let token = world.by_password(KEY, FIRST).await.access();
        let other = "0199aaaa-0000-7000-8000-000000000002";
        world.starts_with(other, FIRST).await;
        assert!(!world.is_good(&token).await);
        assert_eq!(world.by_password(KEY, FIRST).await.error(), (401, "invalid_client"));
        assert_eq!(world.by_password(other, FIRST).await.status, 200);
        assert_eq!(world.log_in().await.status, 200, "users and clients that somebody made stay");
    })
    .await;
}

#[tokio::test]
async fn existing_accounts_become_master_accounts() {
    check(async |world| {
        world.user(&KEY.to_lowercase(), "elsewhere", "viewer", &["readers"]).await;
        world.identities.disable_user(KEY, world.now).await.unwrap();
        world.client(KEY, Some("elsewhere"), ALL_GRANTS, &["read"]).await;
        world.starts_with(KEY, FIRST).await;
        let tokens = world.by_password(KEY, FIRST).await;
        assert_eq!(tokens.field("scope"), "read write");
        let caller = world.caller(&tokens.access()).await.unwrap();
        assert_eq!((caller.tenant.as_str(), caller.is_admin), ("acme", true));
        world.starts_with("0199aaaa-0000-7000-8000-000000000002", FIRST).await;
        assert!(!world.is_good(&tokens.access()).await, "nothing of them is left, as of any other key");
    })
    .await;
}

#[tokio::test]
async fn a_start_repairs_the_master_user_but_does_not_enable_it() {
    check(async |world| {
        world.starts_with(KEY, FIRST).await;
        world.identities.set_role(KEY, "viewer", world.now).await.unwrap();
        world.starts_with(KEY, FIRST).await;
        let token = world.by_password(KEY, FIRST).await.access();
        assert!(world.caller(&token).await.unwrap().is_admin);
        world.identities.disable_user(KEY, world.now).await.unwrap();
        world.starts_with(KEY, SECOND).await;
        assert_eq!(world.by_password(KEY, SECOND).await.error(), (400, "invalid_grant"));
    })
    .await;
}
