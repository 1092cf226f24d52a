//! Administration of users and clients.

use pidq_http::auth::{BootstrapAccounts, GrantType, IdentityError, NewClient, NewUser, Secret, check_password};

use crate::fixture::{CLIENT, Fixture, LOGIN, PASSWORD, PASSWORD_FORM, SECRET, check};

fn user(login: &str) -> NewUser<'_> {
    NewUser { login, password: Some(PASSWORD), tenant: "acme", role: "editor", groups: &[], sso_only: false }
}

fn client(id: &str) -> NewClient<'_> {
    NewClient { id: Some(id), title: id, tenant: None, secret: None, grant_types: &[], scopes: &["read"] }
}

#[test]
fn a_password_has_a_minimum_length_and_is_not_common() {
    let sentence = "x".repeat(1024);
    for good in ["blue valve", "äöüßäöüß", "        ", &sentence] {
        assert!(check_password(good).is_ok(), "{good}");
    }
    let too_long = "x".repeat(1025);
    for bad in ["", "1234567", "äöüßäöü", "password", "PassWord", "123456789", "qwertyuiop", "trustno1", &too_long]
    {
        assert!(check_password(bad).is_err(), "{bad}");
    }
}

#[tokio::test]
async fn users_are_listed_by_login() {
    check(async |fixture: Fixture| {
        fixture.user("Zoe@Example.com", "globex", "admin", &["a", "b"]).await;
        fixture.identities.disable_user("zoe@example.com", fixture.now).await.unwrap();
        let users = fixture.identities.users().await.unwrap();
        let seen: Vec<_> =
            users.iter().map(|user| (user.login.as_str(), user.role.as_str(), user.is_disabled)).collect();
        assert_eq!(seen, [(LOGIN, "editor", false), ("zoe@example.com", "admin", true)]);
        assert_eq!(users[1].groups, ["a", "b"]);
        fixture.identities.delete_user("zoe@example.com").await.unwrap();
        assert_eq!(fixture.identities.user_count().await.unwrap(), 1);
    })
    .await;
}

#[tokio::test]
async fn invalid_users_and_clients_are_rejected() {
    check(async |fixture: Fixture| {
        let create = async |user| fixture.identities.create_user(user, fixture.now).await;
        assert!(matches!(create(user("Engineer@Example.com")).await, Err(IdentityError::Exists(_))));
        for bad in [
            user(""),
            user("two words"),
            NewUser { role: "king", ..user("a") },
            NewUser { tenant: "", ..user("a") },
            NewUser { groups: &["two words"], ..user("a") },
            NewUser { password: Some("short"), ..user("a") },
        ] {
            assert!(matches!(create(bad).await, Err(IdentityError::Invalid(_))));
        }
        let create = async |client| fixture.identities.create_client(client, fixture.now).await.map(drop);
        assert!(matches!(create(client(CLIENT)).await, Err(IdentityError::Exists(_))));
        for bad in [
            client("two words"),
            NewClient { scopes: &["everything"], ..client("a") },
            NewClient { secret: Some("short"), ..client("a") },
            NewClient { grant_types: &[GrantType::ClientCredentials], ..client("a") },
        ] {
            assert!(matches!(create(bad).await, Err(IdentityError::Invalid(_))));
        }
        for gone in [
            fixture.identities.disable_user("nobody", fixture.now).await,
            fixture.identities.set_password("nobody", PASSWORD, fixture.now).await,
            fixture.identities.disable_client("nobody", fixture.now).await,
            fixture.identities.delete_client("nobody").await,
        ] {
            assert!(matches!(gone, Err(IdentityError::Unknown(_))), "{gone:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_secret_is_returned_once_and_generated_if_absent() {
    check(async |fixture: Fixture| {
        let (first, secret) = fixture.identities.create_client(client("a"), fixture.now).await.unwrap();
        assert!(secret.expose().starts_with("pidq_cs_") && secret.expose().len() == 8 + 43);
        let other = NewClient { id: None, ..client("b") };
        let (other, _) = fixture.identities.create_client(other, fixture.now).await.unwrap();
        assert!(other.id.starts_with("c_"));
        let ids: Vec<_> = fixture.identities.clients().await.unwrap().into_iter().map(|client| client.id).collect();
        assert!(ids.contains(&first.id) && ids.contains(&other.id) && ids.contains(&CLIENT.to_owned()));
    })
    .await;
}

#[tokio::test]
async fn a_role_change_revokes_tokens() {
    check(async |fixture: Fixture| {
        let login = fixture.log_in().await;
        fixture.identities.set_role(LOGIN, "viewer", fixture.now).await.unwrap();
        assert!(!fixture.is_valid(&login.access()).await);
        assert_eq!(fixture.log_in().await.field("scope"), "read");
        assert!(fixture.identities.set_role(LOGIN, "king", fixture.now).await.is_err());
    })
    .await;
}

#[tokio::test]
async fn a_deleted_user_has_no_tokens() {
    check(async |fixture: Fixture| {
        let login = fixture.log_in().await;
        fixture.identities.delete_user(LOGIN).await.unwrap();
        assert!(!fixture.is_valid(&login.access()).await);
        assert_eq!(fixture.token(PASSWORD_FORM).await.error(), (400, "invalid_grant"));
        let left = fixture.database.row::<(i64,)>("select count(*) from token_families", &[]).await.unwrap();
        assert_eq!(left, Some((0,)));
    })
    .await;
}

#[tokio::test]
async fn a_rejected_bootstrap_creates_nothing() {
    let good = BootstrapAccounts {
        tenant: "acme",
        login: "admin@example.com",
        password: Some("blue valve, open"),
        client_id: "first",
        client_secret: Some(SECRET),
    };
    crate::databases::on_each(async |database| {
        let mut options = pidq_http::auth::IdentityOptions::at("https://pidq.example");
        options.hash_cost = crate::fixture::CHEAP;
        let identities = pidq_http::auth::Identities::open(database, options).await.unwrap();
        let now = pidq_http::auth::Timestamp::now();
        let short = BootstrapAccounts { password: Some("short"), ..good };
        let spaced = BootstrapAccounts { login: "the boss", ..good };
        let guessed = BootstrapAccounts { client_secret: Some("guess"), ..good };
        for wrong in [short, spaced, guessed] {
            assert!(matches!(identities.bootstrap(wrong, now).await, Err(IdentityError::Invalid(_))));
        }
        assert!(identities.bootstrap(good, now).await.unwrap().is_some(), "it is still the first one");
        assert_eq!(identities.users().await.unwrap().len(), 1);
    })
    .await;
}

#[tokio::test]
async fn replicas_share_a_key() {
    check(async |fixture: Fixture| {
        let key = async |fixture: &Fixture, name: &str| {
            fixture.identities.shared_key(name).await.unwrap().expose().to_owned()
        };
        let (first, second) = (key(&fixture, "cursors").await, key(&fixture.replica().await, "cursors").await);
        assert!(first == second && first.len() >= 32);
        assert_ne!(first, key(&fixture, "something else").await);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_bootstrap_creates_accounts_once() {
    let first = BootstrapAccounts {
        tenant: "acme",
        login: "admin@example.com",
        password: None,
        client_id: "first",
        client_secret: Some(SECRET),
    };
    crate::databases::on_each(async |database| {
        let mut options = pidq_http::auth::IdentityOptions::at("https://pidq.example");
        options.hash_cost = crate::fixture::CHEAP;
        let identities = std::sync::Arc::new(pidq_http::auth::Identities::open(database, options).await.unwrap());
        let now = pidq_http::auth::Timestamp::now();
        let starts = (0..5).map(|_| {
            let identities = identities.clone();
            tokio::spawn(async move { identities.bootstrap(first, now).await.unwrap() })
        });
        let mut created = Vec::new();
        for start in starts.collect::<Vec<_>>() {
            created.extend(start.await.unwrap());
        }
        assert_eq!(created.len(), 1);
        assert!(created[0].client_secret.is_none());
        let password = created[0].password.as_ref().unwrap().expose();
        let body = format!(
            "grant_type=password&username=admin@example.com&password={password}&client_id=first&client_secret={SECRET}"
        );
        let request = pidq_http::auth::OAuthRequest {
            content_type: Some(crate::fixture::FORM),
            authorization: &[],
            query: None,
            body: body.as_bytes(),
            address: crate::fixture::HOME.parse().unwrap(),
            now,
        };
        assert_eq!(pidq_http::auth::token_endpoint(&identities, request).await.status, 200);
        assert!(identities.bootstrap(first, now).await.unwrap().is_none());
    })
    .await;
}

const FIRST: BootstrapAccounts<'_> = BootstrapAccounts {
    tenant: "acme",
    login: "Admin@example.com",
    password: Some("blue valve, open"),
    client_id: "first",
    client_secret: Some(SECRET),
};

async fn on_each_service(test: impl AsyncFn(pidq_http::auth::Identities)) {
    crate::databases::on_each(async |database| {
        let mut options = pidq_http::auth::IdentityOptions::at("https://pidq.example");
        options.hash_cost = crate::fixture::CHEAP;
        test(pidq_http::auth::Identities::open(database, options).await.unwrap()).await;
    })
    .await;
}

#[tokio::test]
async fn another_secret_of_the_first_client_is_noticed_without_a_password_hash() {
    on_each_service(async |identities| {
        let now = pidq_http::auth::Timestamp::now();
        let (same, other) = (Secret::new(SECRET), Secret::new("x"));
        assert!(!identities.has_other_secret("first", &other).await.unwrap(), "there is no client");
        identities.bootstrap(FIRST, now).await.unwrap().unwrap();
        let hashes = identities.hash_count();
        assert!(!identities.has_other_secret("first", &same).await.unwrap());
        assert!(identities.has_other_secret("first", &other).await.unwrap());
        assert_eq!(identities.hash_count(), hashes);
    })
    .await;
}

#[tokio::test]
async fn the_account_of_a_master_key_replaces_the_first_account_only_if_none_is_named() {
    on_each_service(async |identities| {
        let now = pidq_http::auth::Timestamp::now();
        let secret = Secret::new("f3a9c1d7e5b2408c9d6a1e7f0b3c5d8e");
        let key = "0199AAAA-0000-7000-8000-000000000001";
        let master = pidq_http::auth::MasterCredentials { key, secret: &secret, tenant: "acme" };
        identities.ensure_master(master, now).await.unwrap();
        let unnamed = BootstrapAccounts { password: None, client_secret: None, ..FIRST };
        assert!(identities.bootstrap(unnamed, now).await.unwrap().is_none());
        assert!(identities.bootstrap(FIRST, now).await.unwrap().is_some());
        // Deleted accounts do not come back.
        identities.delete_user("admin@example.com").await.unwrap();
        assert!(identities.bootstrap(FIRST, now).await.unwrap().is_none());
        identities.delete_client("first").await.unwrap();
        assert!(identities.bootstrap(FIRST, now).await.unwrap().is_none());
        assert_eq!(identities.users().await.unwrap().len(), 1);
    })
    .await;
}
