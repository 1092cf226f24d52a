//! Sign-in at an identity provider: the request, every check of the reply and of the ID token, refresh and sign-out.

use std::collections::BTreeMap;

use pidq_http::auth::{
    AuthorizationReply, LoginError, LoginSecrets, ProviderLogin, RelyingParty, RelyingPartySettings, Secret, Timestamp,
    TokenError,
};
use ring::digest::{SHA256, SHA512, digest};
use serde_json::{Value, json};

use crate::provider::{self, Signer, base64url};

const NOW: Timestamp = Timestamp(1_700_000_000_000);
const CLIENT: &str = "dashboard";
const SECRET: &str = "a secret: with & and %";
const CALLBACK: &str = "https://pidq.example/session/callback";
const ACCESS_TOKEN: &str = "an access token";

/// Sign-in that a browser has started.
struct SignIn {
    idp: provider::Provider,
    signer: Signer,
    party: RelyingParty,
    secrets: LoginSecrets,
    /// Parameters of the authorization request, as the provider sees them.
    request: BTreeMap<String, String>,
}

fn settings(issuer: &str) -> RelyingPartySettings {
    RelyingPartySettings {
        issuer: issuer.to_owned(),
        client_id: CLIENT.to_owned(),
        client_secret: Some(Secret::new(SECRET)),
        redirect_uri: CALLBACK.to_owned(),
        scopes: vec!["openid".to_owned(), "read".to_owned()],
        resource: None,
        root_certificates: None,
    }
}

fn pairs(text: &str) -> BTreeMap<String, String> {
    form_urlencoded::parse(text.as_bytes()).into_owned().collect()
}

impl SignIn {
    async fn start() -> SignIn {
        SignIn::start_with(|_, _| {}).await
    }

    async fn start_with(change: impl Fn(&provider::Provider, &mut RelyingPartySettings)) -> SignIn {
        let idp = provider::Provider::start().await;
        let signer = Signer::new("k1", "RS256", 0);
        idp.publish(&[signer.jwk()]);
        let mut settings = settings(&idp.issuer);
        change(&idp, &mut settings);
        let party = RelyingParty::new(settings).unwrap();
        let secrets = LoginSecrets::random().unwrap();
        let url = party.authorization_url(&secrets, false).await.unwrap();
        let request = pairs(url.strip_prefix(&format!("{}/authorize?", idp.issuer)).unwrap());
        SignIn { idp, signer, party, secrets, request }
    }

    fn claims(&self) -> Value {
        json!({
            "iss": self.idp.issuer, "aud": CLIENT, "sub": "42", "preferred_username": "ann",
            "iat": 1_700_000_000, "exp": 1_700_000_300, "nonce": self.request["nonce"],
        })
    }

    /// Returns an ID token with one changed claim; `null` removes it.
    fn id_token_with(&self, name: &str, value: Value) -> String {
        let mut claims = self.claims();
        claims[name] = value;
        if claims[name].is_null() {
            claims.as_object_mut().unwrap().remove(name);
        }
        self.sign("JWT", &claims)
    }

    fn sign(&self, kind: &str, claims: &Value) -> String {
        let mut header = self.signer.header();
        header["typ"] = json!(kind);
        self.signer.sign_token(&header.to_string(), &claims.to_string())
    }

    /// Completes the sign-in with the reply of the provider that has the state of the request.
    async fn complete(&self) -> Result<ProviderLogin, LoginError> {
        let state = Some(&*self.request["state"]);
        let reply = AuthorizationReply { state, code: Some("the code"), ..AuthorizationReply::default() };
        self.party.log_in(&reply, &self.secrets, NOW).await
    }

    /// Completes the sign-in with these tokens.
    async fn complete_with(&self, tokens: &Value) -> Result<ProviderLogin, LoginError> {
        self.idp.set_token_reply(200, tokens);
        self.complete().await
    }

    /// Completes the sign-in with this ID token.
    async fn identify(&self, id_token: &str) -> Result<ProviderLogin, LoginError> {
        self.complete_with(&tokens(id_token)).await
    }
}

/// Returns the request to the endpoints for tokens since the last call.
fn only_token_request(sign_in: &SignIn) -> String {
    let mut requests = sign_in.idp.take_token_requests();
    assert_eq!(requests.len(), 1, "{requests:?}");
    requests.remove(0)
}

fn tokens(id_token: &str) -> Value {
    json!({
        "access_token": ACCESS_TOKEN, "token_type": "Bearer", "expires_in": 300, "refresh_token": "r1",
        "id_token": id_token,
    })
}

/// Returns the error of a sign-in, which must fail.
fn error(login: Result<ProviderLogin, LoginError>) -> LoginError {
    login.err().expect("a failure")
}

#[tokio::test]
async fn a_code_is_exchanged_for_the_tokens_of_a_user() {
    let sign_in = SignIn::start().await;
    for (name, value) in [
        ("response_type", "code"),
        ("client_id", CLIENT),
        ("redirect_uri", CALLBACK),
        ("scope", "openid read"),
        ("code_challenge_method", "S256"),
    ] {
        assert_eq!(sign_in.request[name], value, "{name}");
    }
    let id_token = sign_in.id_token_with("azp", json!(CLIENT));
    let login = sign_in.identify(&id_token).await.unwrap();
    assert_eq!((&*login.subject, &*login.name), ("42", "ann"));
    assert_eq!((&*login.tokens.access_token, login.tokens.refresh_token.as_deref()), (ACCESS_TOKEN, Some("r1")));

    let request = only_token_request(&sign_in);
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    let form = pairs(body);
    assert_eq!(
        (&*form["grant_type"], &*form["code"], &*form["redirect_uri"]),
        ("authorization_code", "the code", CALLBACK)
    );
    let verifier = &form["code_verifier"];
    assert_eq!(verifier.len(), 43, "RFC 7636 demands 43 characters");
    assert_eq!(base64url(digest(&SHA256, verifier.as_bytes())), sign_in.request["code_challenge"]);
    // `client_secret_basic` is the default. Id and secret are URL-encoded (RFC 6749, 2.3.1).
    let pair = "dashboard:a+secret%3A+with+%26+and+%25";
    let basic = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, pair);
    assert!(
        head.to_ascii_lowercase().contains(&format!("authorization: basic {basic}").to_ascii_lowercase()),
        "{head}"
    );
    assert!(!form.contains_key("client_secret"));
}

#[tokio::test]
async fn secrets_of_two_sign_ins_differ() {
    let (one, other) = (SignIn::start().await, SignIn::start().await);
    for name in ["state", "nonce", "code_challenge"] {
        assert_eq!(one.request[name].len(), 43, "{name}");
        assert_ne!(one.request[name], other.request[name], "{name}");
    }
}

/// Methods that the provider supports, change of the settings, whether the header has the secret, and the secret in the form.
type ClientAuthenticationRow = (Value, fn(&mut RelyingPartySettings), bool, Option<&'static str>);

#[tokio::test]
async fn a_client_authenticates_as_the_provider_asks() {
    let public = |settings: &mut RelyingPartySettings| settings.client_secret = None;
    let secret = |_: &mut RelyingPartySettings| {};
    let methods = |methods: &[&str]| json!(methods);
    let rows: [ClientAuthenticationRow; 5] = [
        (Value::Null, secret, true, None),
        (methods(&["client_secret_post", "client_secret_basic"]), secret, true, None),
        (methods(&["client_secret_post"]), secret, false, Some(SECRET)),
        (methods(&["none"]), public, false, None),
        (Value::Null, public, false, None),
    ];
    for (supported, change, has_header, in_form) in rows {
        let sign_in = SignIn::start_with(|idp, settings| {
            idp.change_discovery("token_endpoint_auth_methods_supported", supported.clone());
            change(settings);
        })
        .await;
        sign_in.identify(&sign_in.id_token_with("x", json!(1))).await.unwrap();
        let request = only_token_request(&sign_in);
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        let form = pairs(body);
        assert_eq!(head.to_ascii_lowercase().contains("authorization: basic "), has_header, "{supported}");
        assert_eq!(form.get("client_secret").map(String::as_str), in_form, "{supported}");
        assert_eq!(form.contains_key("client_id"), !has_header, "{supported}");
    }
}

#[tokio::test]
async fn a_resource_is_named_in_both_requests() {
    let sign_in = SignIn::start_with(|_, settings| settings.resource = Some("https://pidq.example".to_owned())).await;
    assert_eq!(sign_in.request["resource"], "https://pidq.example");
    sign_in.identify(&sign_in.id_token_with("x", json!(1))).await.unwrap();
    let request = only_token_request(&sign_in);
    assert_eq!(pairs(request.split_once("\r\n\r\n").unwrap().1)["resource"], "https://pidq.example");
}

#[tokio::test]
async fn each_reply_that_is_not_for_this_sign_in_is_rejected_without_asking_for_tokens() {
    let sign_in = SignIn::start().await;
    let other = SignIn::start().await;
    let (state, issuer) = (Some(&*sign_in.request["state"]), Some(&*sign_in.idp.issuer));
    let reply = AuthorizationReply { state, code: Some("c"), issuer, error: None };
    let longer = format!("{}A", sign_in.request["state"]);
    let slash = format!("{}/", sign_in.idp.issuer);
    let refused = |code: &str| LoginError::Refused(code.to_owned());
    for (what, reply, expected) in [
        ("no state", AuthorizationReply { state: None, ..reply }, LoginError::State),
        ("an empty state", AuthorizationReply { state: Some(""), ..reply }, LoginError::State),
        ("a longer state", AuthorizationReply { state: Some(&longer), ..reply }, LoginError::State),
        (
            "the state of another sign-in",
            AuthorizationReply { state: Some(&other.request["state"]), ..reply },
            LoginError::State,
        ),
        (
            "an error with the state of another sign-in",
            AuthorizationReply { state: Some(&other.request["state"]), error: Some("access_denied"), ..reply },
            LoginError::State,
        ),
        (
            "another issuer",
            AuthorizationReply { issuer: Some("https://evil.example"), ..reply },
            LoginError::Protocol("it is of another issuer"),
        ),
        (
            "the issuer with a slash",
            AuthorizationReply { issuer: Some(&slash), ..reply },
            LoginError::Protocol("it is of another issuer"),
        ),
        ("no code", AuthorizationReply { code: None, ..reply }, LoginError::Protocol("it has no code")),
        ("denied", AuthorizationReply { error: Some("access_denied"), ..reply }, LoginError::Denied),
        ("an error", AuthorizationReply { error: Some("server_error"), ..reply }, refused("server_error")),
        ("an error of hostile text", AuthorizationReply { error: Some("a\r\nb <c>"), ..reply }, refused("abc")),
    ] {
        assert_eq!(error(sign_in.party.log_in(&reply, &sign_in.secrets, NOW).await), expected, "{what}");
    }
    assert_eq!(sign_in.idp.take_token_requests(), [""; 0]);
    assert_eq!(error(sign_in.party.log_in(&reply, &other.secrets, NOW).await), LoginError::State);
    sign_in.idp.set_token_reply(200, tokens(&sign_in.id_token_with("x", json!(1))));
    assert!(sign_in.party.log_in(&reply, &sign_in.secrets, NOW).await.is_ok());
}

#[tokio::test]
async fn a_provider_that_names_itself_in_replies_has_to_do_so() {
    let flag = "authorization_response_iss_parameter_supported";
    let sign_in = SignIn::start_with(|idp, _| idp.change_discovery(flag, json!(true))).await;
    assert_eq!(error(sign_in.complete().await), LoginError::Protocol("it has no issuer"));
}

#[tokio::test]
async fn each_wrong_id_token_is_rejected_for_its_own_reason() {
    let sign_in = SignIn::start().await;
    let with = |name: &str, value: Value| sign_in.id_token_with(name, value);
    let valid = with("x", json!(1));
    let parts: Vec<&str> = valid.split('.').collect();
    let stranger = Signer::new("k1", "RS256", 1);
    let other = SignIn::start().await;
    let none = format!("{}.{}.", base64url(r#"{"alg":"none","typ":"JWT"}"#), parts[1]);
    let other_claims = base64url(json!({"sub": "43"}).to_string());
    for (what, token, expected) in [
        ("no token", String::new(), TokenError::Malformed),
        ("no signature", format!("{}.{}.", parts[0], parts[1]), TokenError::Signature),
        ("alg none", none, TokenError::Algorithm),
        (
            "the key of a stranger",
            stranger.sign_token(&header(&stranger), &sign_in.claims().to_string()),
            TokenError::Signature,
        ),
        ("other claims", format!("{}.{other_claims}.{}", parts[0], parts[2]), TokenError::Signature),
        ("an access token", sign_in.sign("at+jwt", &sign_in.claims()), TokenError::Type),
        ("a logout token", sign_in.sign("logout+jwt", &sign_in.claims()), TokenError::Type),
        ("another issuer", with("iss", json!("https://evil.example")), TokenError::Issuer),
        ("no issuer", with("iss", Value::Null), TokenError::Issuer),
        ("another audience", with("aud", json!("other")), TokenError::Audience),
        ("no audience", with("aud", Value::Null), TokenError::Audience),
        ("the client among words", with("aud", json!("dashboard x")), TokenError::Audience),
        ("two audiences and no party", with("aud", json!([CLIENT, "other"])), TokenError::AuthorizedParty),
        ("another party", with("azp", json!("other")), TokenError::AuthorizedParty),
        ("a party of the wrong type", with("azp", json!([CLIENT])), TokenError::AuthorizedParty),
        ("expired", with("exp", json!(1_699_999_970)), TokenError::Expired),
        ("no end", with("exp", Value::Null), TokenError::Claim("exp")),
        ("issued in the future", with("iat", json!(1_700_000_031)), TokenError::NotYetValid),
        ("not valid yet", with("nbf", json!(1_700_000_031)), TokenError::NotYetValid),
        ("no time of issue", with("iat", Value::Null), TokenError::Claim("iat")),
        ("no nonce", with("nonce", Value::Null), TokenError::Nonce),
        ("an empty nonce", with("nonce", json!("")), TokenError::Nonce),
        ("the nonce of another sign-in", with("nonce", json!(other.request["nonce"])), TokenError::Nonce),
        ("no subject", with("sub", Value::Null), TokenError::Claim("sub")),
        ("a subject with a line break", with("sub", json!("4\n2")), TokenError::Claim("sub")),
        (
            "the hash of another access token",
            with("at_hash", json!("AAAAAAAAAAAAAAAAAAAAAA")),
            TokenError::AccessTokenHash,
        ),
        ("the whole hash", with("at_hash", json!(at_hash(&SHA256, 32))), TokenError::AccessTokenHash),
        ("a hash that is no text", with("at_hash", json!(7)), TokenError::AccessTokenHash),
    ] {
        assert_eq!(error(sign_in.identify(&token).await), LoginError::IdToken(expected), "{what}");
    }
    for (what, token) in [
        ("a list of one audience", with("aud", json!([CLIENT]))),
        ("the right hash", with("at_hash", json!(at_hash(&SHA256, 16)))),
        ("a name that is no text", with("preferred_username", json!(7))),
    ] {
        assert!(sign_in.identify(&token).await.is_ok(), "{what}");
    }
}

fn header(signer: &Signer) -> String {
    let mut header = signer.header();
    header["typ"] = json!("JWT");
    header.to_string()
}

fn at_hash(algorithm: &'static ring::digest::Algorithm, size: usize) -> String {
    base64url(&digest(algorithm, ACCESS_TOKEN.as_bytes()).as_ref()[..size])
}

#[tokio::test]
async fn the_hash_of_the_access_token_is_that_of_the_signature_algorithm() {
    for (algorithm, digest_algorithm, size) in
        [("RS256", &SHA256, 16), ("PS256", &SHA256, 16), ("ES256", &SHA256, 16), ("EdDSA", &SHA512, 32)]
    {
        let mut sign_in = SignIn::start().await;
        sign_in.signer = Signer::new("k1", algorithm, 0);
        sign_in.idp.publish(&[sign_in.signer.jwk()]);
        let token = sign_in.id_token_with("at_hash", json!(at_hash(digest_algorithm, size)));
        assert!(sign_in.identify(&token).await.is_ok(), "{algorithm}");
        let wrong = if size == 16 { at_hash(&SHA512, 32) } else { at_hash(&SHA256, 16) };
        let login = sign_in.identify(&sign_in.id_token_with("at_hash", json!(wrong))).await;
        assert_eq!(error(login), LoginError::IdToken(TokenError::AccessTokenHash), "{algorithm}");
    }
}

#[tokio::test]
async fn each_wrong_token_reply_is_rejected() {
    let sign_in = SignIn::start().await;
    let refused = |code: &str| LoginError::Refused(code.to_owned());
    let no_token = LoginError::Protocol("it has no access token");
    let no_bearer = LoginError::Protocol("its access token is no bearer token");
    for (status, body, expected) in [
        (400, r#"{"error": "invalid_grant"}"#, LoginError::Rejected),
        (401, r#"{"error": "invalid_client"}"#, refused("invalid_client")),
        (404, "<html>", refused("404")),
        (302, "", refused("302")),
        (500, "", LoginError::Unavailable("it reports an internal error")),
        (200, "", no_token.clone()),
        (200, "<html>", no_token.clone()),
        (200, r#"{"id_token": "x", "token_type": "Bearer"}"#, no_token),
        (200, r#"{"access_token": "x"}"#, no_bearer.clone()),
        (200, r#"{"access_token": "x", "token_type": "DPoP"}"#, no_bearer),
        (200, r#"{"access_token": "x", "token_type": "bearer"}"#, LoginError::Protocol("it has no ID token")),
    ] {
        sign_in.idp.set_token_reply(status, body);
        assert_eq!(error(sign_in.complete().await), expected, "{status} {body}");
    }
}

#[tokio::test]
async fn a_refresh_keeps_the_user() {
    let sign_in = SignIn::start().await;
    let refresh = async |tokens: &Value| {
        sign_in.idp.set_token_reply(200, tokens);
        sign_in.party.refresh("r1", "42", NOW).await
    };
    let without = json!({"access_token": "a2", "token_type": "Bearer", "refresh_token": "r2"});
    let refreshed = refresh(&without).await.unwrap();
    assert_eq!((&*refreshed.access_token, refreshed.refresh_token.as_deref()), ("a2", Some("r2")));
    let request = only_token_request(&sign_in);
    let form = pairs(request.split_once("\r\n\r\n").unwrap().1);
    assert_eq!((&*form["grant_type"], &*form["refresh_token"]), ("refresh_token", "r1"));

    assert!(refresh(&tokens(&sign_in.id_token_with("nonce", Value::Null))).await.is_ok());
    for (name, value, expected) in [
        ("sub", json!("43"), TokenError::Subject),
        ("aud", json!("other"), TokenError::Audience),
        ("iss", json!("https://evil.example"), TokenError::Issuer),
        ("at_hash", json!("AAAA"), TokenError::AccessTokenHash),
    ] {
        let refreshed = refresh(&tokens(&sign_in.id_token_with(name, value))).await;
        assert_eq!(refreshed.err(), Some(LoginError::IdToken(expected)), "{name}");
    }
    sign_in.idp.set_token_reply(400, r#"{"error": "invalid_grant"}"#);
    assert_eq!(sign_in.party.refresh("r1", "42", NOW).await.err(), Some(LoginError::Rejected));
}

#[tokio::test]
async fn a_provider_that_does_not_respond_is_not_asked_again_at_once() {
    let idp = provider::Provider::start().await;
    let party = RelyingParty::new(settings(&idp.issuer)).unwrap();
    let secrets = LoginSecrets::random().unwrap();
    idp.set_unavailable(true);
    let url = party.authorization_url(&secrets, false).await;
    assert_eq!(url.err(), Some(LoginError::Unavailable("the connection failed")));
    let fetches = idp.fetches();
    assert!(matches!(party.authorization_url(&secrets, false).await, Err(LoginError::Unavailable(_))));
    assert_eq!(idp.fetches(), fetches);
}

#[tokio::test]
async fn a_discovery_document_must_be_of_the_issuer_and_name_protected_endpoints() {
    for (name, value) in [
        ("issuer", json!("https://evil.example")),
        ("issuer", Value::Null),
        ("authorization_endpoint", Value::Null),
        ("authorization_endpoint", json!("http://192.0.2.1/authorize")),
        ("authorization_endpoint", json!("javascript:alert(1)")),
    ] {
        let idp = provider::Provider::start().await;
        idp.change_discovery(name, value.clone());
        let party = RelyingParty::new(settings(&idp.issuer)).unwrap();
        let url = party.authorization_url(&LoginSecrets::random().unwrap(), false).await;
        assert!(matches!(url, Err(LoginError::Unavailable(_))), "{name} {value} {url:?}");
    }
    assert!(RelyingParty::new(settings("http://provider.example")).is_err());
}

#[tokio::test]
async fn a_person_can_be_asked_again() {
    let sign_in = SignIn::start().await;
    assert!(!sign_in.request.contains_key("prompt"));
    let url = sign_in.party.authorization_url(&sign_in.secrets, true).await.unwrap();
    assert!(url.ends_with("&prompt=login"), "{url}");
}

#[tokio::test]
async fn a_sign_out_revokes_the_token_and_ends_the_session_at_the_provider() {
    let sign_in = SignIn::start().await;
    assert_eq!(sign_in.party.revoke("r1").await, Ok(true));
    let request = only_token_request(&sign_in);
    assert!(request.starts_with("POST /revoke ") && request.ends_with("token=r1"), "{request}");
    let url = sign_in.party.end_session_url("https://pidq.example/sign-in").await.unwrap();
    let query = pairs(url.strip_prefix(&format!("{}/logout?", sign_in.idp.issuer)).unwrap());
    let expected = [("client_id", CLIENT), ("post_logout_redirect_uri", "https://pidq.example/sign-in")];
    assert_eq!(query, expected.map(|(name, value)| (name.to_owned(), value.to_owned())).into(), "no token");

    let sign_in = SignIn::start_with(|idp, _| {
        idp.change_discovery("revocation_endpoint", Value::Null);
        idp.change_discovery("end_session_endpoint", Value::Null);
    })
    .await;
    assert_eq!(sign_in.party.revoke("r1").await, Ok(false));
    assert_eq!(sign_in.party.end_session_url("https://pidq.example/sign-in").await, None);
}
