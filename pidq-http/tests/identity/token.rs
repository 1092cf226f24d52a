//! Token requests: validation and client authentication.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use pidq_http::auth::{GrantType, OAuthRequest};

use crate::fixture::{CLIENT, CLIENT_FORM, FORM, Fixture, PASSWORD_FORM, SECRET, check, check_with};

fn basic(id: &str, secret: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("{id}:{secret}")))
}

#[tokio::test]
async fn a_password_login_returns_a_pair_with_the_fields_in_order() {
    check(async |fixture: Fixture| {
        let reply = fixture.log_in().await;
        let (access, refresh) = (reply.access(), reply.refresh());
        let expected = format!(
            r#"{{"access_token":"{access}","token_type":"Bearer","expires_in":3600,"refresh_token":"{refresh}","scope":"read write"}}"#
        );
        assert_eq!(reply.text, expected);
        assert!(access.starts_with("pidq_at_") && access.len() == 8 + 43, "{access}");
        assert!(refresh.starts_with("pidq_rt_") && refresh.len() == 8 + 43, "{refresh}");
        assert_eq!(reply.header("Content-Type"), Some("application/json"));
        assert_eq!(reply.header("Cache-Control"), Some("no-store"));
        assert_eq!(reply.header("Pragma"), Some("no-cache"));
        assert_eq!(reply.headers.len(), 3);
    })
    .await;
}

#[tokio::test]
async fn the_requested_scope_is_granted_exactly() {
    check(async |fixture: Fixture| {
        for (requested, granted) in [
            ("", "read write"),
            ("&scope=", "read write"),
            ("&scope=read", "read"),
            ("&scope=write+read", "write read"),
            ("&scope=read++read", "read"),
        ] {
            assert_eq!(
                fixture.token(&format!("{PASSWORD_FORM}{requested}")).await.field("scope"),
                granted,
                "{requested}"
            );
        }
        for requested in ["admin", "read+admin", "introspection", "READ"] {
            let reply = fixture.token(&format!("{PASSWORD_FORM}&scope={requested}")).await;
            assert_eq!(reply.error(), (400, "invalid_scope"), "{requested}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_role_limits_the_scope() {
    check(async |fixture: Fixture| {
        fixture.user("guest", "acme", "viewer", &[]).await;
        let form = "grant_type=password&username=guest&password=blue+valve%2C+open";
        assert_eq!(fixture.token(form).await.field("scope"), "read");
        assert_eq!(fixture.token(&format!("{form}&scope=write")).await.error(), (400, "invalid_scope"));
    })
    .await;
}

#[tokio::test]
async fn invalid_requests_are_rejected_with_a_description() {
    check(async |fixture: Fixture| {
        let thirty_three: String = (0..33).map(|n| format!("&p{n}=1")).collect();
        for (form, description) in [
            ("", "Parameter grant_type is missing or empty."),
            ("grant_type=", "Parameter grant_type is missing or empty."),
            ("grant_type", "Parameter grant_type is missing or empty."),
            ("grant_type=password", "Parameter username is missing or empty."),
            ("grant_type=password&username=", "Parameter username is missing or empty."),
            ("grant_type=password&username=a", "Parameter password is missing or empty."),
            ("grant_type=refresh_token", "Parameter refresh_token is missing or empty."),
            ("grant_type=password&grant_type=password", "Parameter grant_type is repeated."),
            ("grant_type=password&scope=&scope=read", "Parameter scope is repeated."),
            ("grant_type=password&x-%3Cb%3E=1&x-%3Cb%3E=1", "Parameter (name not shown) is repeated."),
            ("grant_type=%zz", "The body is not a valid UTF-8 form."),
            ("grant_type=%f", "The body is not a valid UTF-8 form."),
            ("grant_type=%ff", "The body is not a valid UTF-8 form."),
            (&thirty_three[1..], "There are more than 32 parameters."),
        ] {
            let reply = fixture.token(form).await;
            assert_eq!(reply.error(), (400, "invalid_request"), "{form}");
            assert_eq!(reply.field("error_description"), description, "{form}");
        }
        for form in ["grant_type=authorization_code&code=1", "grant_type=Password"] {
            assert_eq!(fixture.token(form).await.error(), (400, "unsupported_grant_type"), "{form}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_form_must_be_in_the_body() {
    check(async |fixture: Fixture| {
        let body = format!("{PASSWORD_FORM}&{CLIENT_FORM}");
        let good = fixture.request(&body);
        let charset = "application/x-www-form-urlencoded; charset=UTF-8";
        let upper = "Application/X-WWW-Form-Urlencoded;charset=\"utf-8\"";
        for content_type in [FORM, charset, upper] {
            let reply = fixture.send(OAuthRequest { content_type: Some(content_type), ..good }).await;
            assert_eq!(reply.status, 200, "{content_type}");
        }
        let latin = "application/x-www-form-urlencoded; charset=latin1";
        for content_type in [None, Some("application/json"), Some("multipart/form-data; boundary=x"), Some(latin)] {
            let reply = fixture.send(OAuthRequest { content_type, ..good }).await;
            assert_eq!(reply.error(), (400, "invalid_request"), "{content_type:?}");
        }
        let reply = fixture.send(OAuthRequest { query: Some("client_id=desk"), ..good }).await;
        assert_eq!(reply.error(), (400, "invalid_request"));
        let reply = fixture.send(OAuthRequest { query: Some(""), ..good }).await;
        assert_eq!(reply.status, 200);
        let long = format!("{body}&x={}", "y".repeat(16 * 1024));
        assert_eq!(fixture.send(fixture.request(&long)).await.error(), (413, "invalid_request"));
    })
    .await;
}

#[tokio::test]
async fn a_client_authenticates_by_form_or_header() {
    check(async |fixture: Fixture| {
        let (plain, wrong) = (basic(CLIENT, SECRET), basic(CLIENT, "wrong"));
        let lower = plain.replacen("Basic", "bAsIc", 1);
        let unknown = basic("nobody", SECRET);
        let form = |rest: &str| format!("{PASSWORD_FORM}{rest}");
        let ok = (200, "");
        let (refused, twice) = ((401, "invalid_client"), (400, "invalid_request"));
        for (headers, rest, expected) in [
            (vec![plain.as_str()], "", ok),
            (vec![&lower], "", ok),
            (vec![&plain], "&client_id=desk", ok),
            (vec![&plain], &format!("&{CLIENT_FORM}"), ok),
            (vec![&plain], "&client_id=other", twice),
            (vec![&plain], "&client_id=desk&client_secret=other", twice),
            (vec![&plain, &plain], "", twice),
            (vec![&wrong], "", refused),
            (vec![&unknown], "", refused),
            (vec!["Basic %%%"], "", refused),
            (vec!["Basic"], "", refused),
            (vec!["Bearer abc"], "", refused),
            (vec![], "", refused),
            (vec![], "&client_id=desk", refused),
            (vec![], "&client_id=desk&client_secret=", refused),
            (vec![], "&client_id=desk&client_secret=wrong", refused),
            (vec![], &format!("&client_id=nobody&client_secret={SECRET}"), refused),
            (vec![], &format!("&client_id=%00&client_secret={SECRET}"), refused),
        ] {
            let body = form(rest);
            let reply = fixture.send(OAuthRequest { authorization: &headers, ..fixture.request(&body) }).await;
            let found = if reply.status == 200 { (200, "") } else { reply.error() };
            assert_eq!(found, expected, "{headers:?} {rest}");
            // Only a client that used the header gets a challenge.
            let challenge = (reply.status == 401 && !headers.is_empty()).then_some("Basic realm=\"pidq\"");
            assert_eq!(reply.header("WWW-Authenticate"), challenge, "{headers:?} {rest}");
        }
    })
    .await;
}

#[tokio::test]
async fn basic_credentials_may_be_encoded_or_raw() {
    check(async |fixture: Fixture| {
        let secret = "a+b%41c/d=e:f 0123456789012345678901234567890";
        let new = pidq_http::auth::NewClient {
            id: Some("odd"),
            title: "odd",
            tenant: None,
            secret: Some(secret),
            grant_types: &[GrantType::Password],
            scopes: &["read"],
        };
        fixture.identities.create_client(new, fixture.now).await.unwrap();
        let raw = basic("odd", secret);
        let encoded = basic("odd", "a%2Bb%2541c%2Fd%3De%3Af+0123456789012345678901234567890");
        for header in [&raw, &encoded] {
            let reply = fixture.send(OAuthRequest { authorization: &[header], ..fixture.request(PASSWORD_FORM) }).await;
            assert_eq!(reply.status, 200, "{}", reply.text);
        }
    })
    .await;
}

#[tokio::test]
async fn a_client_uses_only_its_own_grants() {
    check(async |fixture: Fixture| {
        fixture.client("robot", Some("acme"), &[GrantType::ClientCredentials], &["read"]).await;
        fixture.client("app", None, &[GrantType::Password], &["read", "write"]).await;
        let send = async |client: &str, form: &str| {
            fixture.send(fixture.request(&format!("{form}&client_id={client}&client_secret={SECRET}"))).await
        };
        assert_eq!(send("robot", PASSWORD_FORM).await.error(), (400, "unauthorized_client"));
        assert_eq!(
            send("robot", "grant_type=refresh_token&refresh_token=x").await.error(),
            (400, "unauthorized_client")
        );
        assert_eq!(send("app", "grant_type=client_credentials").await.error(), (400, "unauthorized_client"));
        let reply = send("robot", "grant_type=client_credentials").await;
        assert_eq!((reply.status, reply.field("scope")), (200, "read"));
        assert!(reply.json.get("refresh_token").is_none());
        // A client without the refresh grant gets no refresh token.
        assert!(send("app", PASSWORD_FORM).await.json.get("refresh_token").is_none());
    })
    .await;
}

#[tokio::test]
async fn the_password_grant_can_be_disabled() {
    check_with(
        |options| options.password_grant = false,
        async |fixture: Fixture| {
            assert_eq!(fixture.token(PASSWORD_FORM).await.error(), (400, "unsupported_grant_type"));
            assert_eq!(fixture.token("grant_type=client_credentials").await.status, 200);
        },
    )
    .await;
}

#[tokio::test]
async fn a_client_of_a_tenant_serves_its_users_only() {
    check(async |fixture: Fixture| {
        fixture.user("other@example.com", "globex", "editor", &[]).await;
        let form = "grant_type=password&username=other%40example.com&password=blue+valve%2C+open";
        assert_eq!(fixture.token(form).await.error(), (400, "invalid_grant"));
    })
    .await;
}

#[tokio::test]
async fn disabled_clients_and_old_secrets_are_rejected() {
    check(async |fixture: Fixture| {
        let token = fixture.log_in().await.access();
        fixture.identities.disable_client(CLIENT, fixture.now).await.unwrap();
        assert_eq!(fixture.token(PASSWORD_FORM).await.error(), (401, "invalid_client"));
        assert!(!fixture.is_valid(&token).await);
        fixture.identities.enable_client(CLIENT).await.unwrap();
        assert_eq!(fixture.token(PASSWORD_FORM).await.status, 200);
        assert!(!fixture.is_valid(&token).await);
        let secret = fixture.identities.rotate_secret(CLIENT).await.unwrap();
        assert_eq!(fixture.token(PASSWORD_FORM).await.error(), (401, "invalid_client"));
        let form = format!("{PASSWORD_FORM}&client_id={CLIENT}&client_secret={}", secret.expose());
        assert_eq!(fixture.send(fixture.request(&form)).await.status, 200);
    })
    .await;
}
