//! Master credentials of the settings: a client and a user with the same name and secret.

use pidq_http::auth::{MasterCredentials, Secret, Timestamp};

use crate::fixture::{ALL_GRANTS, CHEAP, Fixture, check_with};

const KEY: &str = "0199AAAA-0000-7000-8000-000000000001";
const FIRST: &str = "f3a9c1d7e5b2408c9d6a1e7f0b3c5d8e";
const SECOND: &str = "0f1e2d3c4b5a69788796a5b4c3d2e1f0";

async fn check(test: impl AsyncFn(Fixture)) {
    check_with(|options| options.hash_cost = CHEAP, test).await;
}

impl Fixture {
    async fn ensure_master(&self, key: &str, secret: &str) {
        let master = MasterCredentials { key, secret: &Secret::new(secret), tenant: "acme" };
        self.identities.ensure_master(master, Timestamp(1_700_000_000_000)).await.unwrap();
    }

    async fn request_token(&self, key: &str, secret: &str, form: &str) -> crate::fixture::Reply {
        self.send(self.request(&format!("{form}&client_id={key}&client_secret={secret}"))).await
    }

    async fn log_in_with_password(&self, key: &str, secret: &str) -> crate::fixture::Reply {
        self.request_token(key, secret, &format!("grant_type=password&username={key}&password={secret}")).await
    }
}

#[tokio::test]
async fn master_credentials_work_with_every_grant_type() {
    check(async |fixture| {
        fixture.ensure_master(KEY, FIRST).await;
        let reply = fixture.request_token(KEY, FIRST, "grant_type=client_credentials").await;
        assert_eq!(reply.field("scope"), "read write");
        let caller = fixture.caller(&reply.access()).await.unwrap();
        assert_eq!((caller.client_id.as_deref(), caller.is_admin), (Some(KEY), false), "it is the client");
        let tokens = fixture.log_in_with_password(KEY, FIRST).await;
        let caller = fixture.caller(&tokens.access()).await.unwrap();
        assert_eq!((caller.name.as_str(), caller.is_admin), (KEY.to_lowercase().as_str(), true));
        let form = format!("grant_type=refresh_token&refresh_token={}", tokens.refresh());
        assert!(fixture.is_valid(&fixture.request_token(KEY, FIRST, &form).await.access()).await);
        let wrong = format!("grant_type=password&username={KEY}&password={SECOND}");
        assert_eq!(fixture.request_token(KEY, FIRST, &wrong).await.error(), (400, "invalid_grant"));
    })
    .await;
}

#[tokio::test]
async fn unchanged_credentials_hash_nothing_and_revoke_nothing() {
    check(async |fixture| {
        fixture.ensure_master(KEY, FIRST).await;
        let token = fixture.log_in_with_password(KEY, FIRST).await.access();
        let again = fixture.replica().await;
        again.ensure_master(KEY, FIRST).await;
        assert_eq!(again.identities.hash_count(), 0);
        assert!(again.is_valid(&token).await);
    })
    .await;
}

#[tokio::test]
async fn a_changed_secret_revokes_tokens() {
    check(async |fixture| {
        fixture.ensure_master(KEY, FIRST).await;
        let user_token = fixture.log_in_with_password(KEY, FIRST).await.access();
        let client_token = fixture.request_token(KEY, FIRST, "grant_type=client_credentials").await.access();
        let other_token = fixture.log_in().await.access();
        let again = fixture.replica().await;
        again.ensure_master(KEY, SECOND).await;
        assert!(!again.is_valid(&user_token).await);
        assert!(!again.is_valid(&client_token).await);
        assert!(again.is_valid(&other_token).await, "the tokens of others stay");
        assert_eq!(again.log_in_with_password(KEY, FIRST).await.error(), (401, "invalid_client"));
        let before = format!("grant_type=password&username={KEY}&password={FIRST}");
        assert_eq!(again.request_token(KEY, SECOND, &before).await.error(), (400, "invalid_grant"));
        assert_eq!(again.log_in_with_password(KEY, SECOND).await.status, 200);
    })
    .await;
}

#[tokio::test]
async fn a_changed_key_removes_the_old_accounts() {
    check(async |fixture| {
        fixture.ensure_master(KEY, FIRST).await;
        let token = fixture.log_in_with_password(KEY, FIRST).await.access();
        let other = "0199aaaa-0000-7000-8000-000000000002";
        fixture.ensure_master(other, FIRST).await;
        assert!(!fixture.is_valid(&token).await);
        assert_eq!(fixture.log_in_with_password(KEY, FIRST).await.error(), (401, "invalid_client"));
        assert_eq!(fixture.log_in_with_password(other, FIRST).await.status, 200);
        assert_eq!(fixture.log_in().await.status, 200, "other users and clients stay");
    })
    .await;
}

#[tokio::test]
async fn existing_accounts_become_master_accounts() {
    check(async |fixture| {
        fixture.user(&KEY.to_lowercase(), "elsewhere", "viewer", &["readers"]).await;
        fixture.identities.disable_user(KEY, fixture.now).await.unwrap();
        fixture.client(KEY, Some("elsewhere"), ALL_GRANTS, &["read"]).await;
        fixture.ensure_master(KEY, FIRST).await;
        let tokens = fixture.log_in_with_password(KEY, FIRST).await;
        assert_eq!(tokens.field("scope"), "read write");
        let caller = fixture.caller(&tokens.access()).await.unwrap();
        assert_eq!((caller.tenant.as_str(), caller.is_admin), ("acme", true));
        fixture.ensure_master("0199aaaa-0000-7000-8000-000000000002", FIRST).await;
        assert!(!fixture.is_valid(&tokens.access()).await, "the accounts of the old key are removed");
    })
    .await;
}

#[tokio::test]
async fn a_start_repairs_the_master_user_but_does_not_enable_it() {
    check(async |fixture| {
        fixture.ensure_master(KEY, FIRST).await;
        fixture.identities.set_role(KEY, "viewer", fixture.now).await.unwrap();
        fixture.ensure_master(KEY, FIRST).await;
        let token = fixture.log_in_with_password(KEY, FIRST).await.access();
        assert!(fixture.caller(&token).await.unwrap().is_admin);
        fixture.identities.disable_user(KEY, fixture.now).await.unwrap();
        fixture.ensure_master(KEY, SECOND).await;
        assert_eq!(fixture.log_in_with_password(KEY, SECOND).await.error(), (400, "invalid_grant"));
    })
    .await;
}
