//! Tokens of an identity provider: valid ones map to callers, invalid ones are rejected for the right reason.

use std::time::Duration;

use pidq_http::auth::{
    Algorithm, AuthError, Provider, ProviderSettings, TenantSource, Timestamp, TokenError, TokenError::*, TokenProfile,
};
use serde_json::{Value, json};

use crate::fixture::{Fixture, check};
use crate::provider::{self, Signer, base64url};

const AUDIENCE: &str = "https://pidq.example";
const NOW: Timestamp = Timestamp(1_700_000_000_000);

struct SsoFixture {
    idp: provider::Provider,
    verifier: Provider,
    signer: Signer,
}

impl SsoFixture {
    async fn new() -> SsoFixture {
        SsoFixture::with(|_| {}).await
    }

    async fn with(change: impl Fn(&mut ProviderSettings)) -> SsoFixture {
        let idp = provider::Provider::start().await;
        let signer = Signer::new("k1", "RS256", 0);
        idp.publish(&[signer.jwk()]);
        let mut settings = ProviderSettings::rfc9068(&idp.issuer, AUDIENCE, TenantSource::Fixed("acme".into()));
        change(&mut settings);
        SsoFixture { verifier: Provider::new(settings).unwrap(), idp, signer }
    }

    fn claims(&self) -> Value {
        json!({
            "iss": self.idp.issuer, "aud": AUDIENCE, "sub": "42", "client_id": "tool", "jti": "1",
            "iat": 1_700_000_000, "exp": 1_700_000_300, "scope": "openid read",
        })
    }

    /// Returns claims with one change; `null` removes a claim.
    fn claims_with(&self, name: &str, value: Value) -> Value {
        let mut claims = self.claims();
        claims[name] = value;
        if claims[name].is_null() {
            claims.as_object_mut().unwrap().remove(name);
        }
        claims
    }

    fn valid_token(&self) -> String {
        self.signer.token(&self.claims())
    }

    fn with_header(&self, name: &str, value: Value) -> String {
        let mut header = self.signer.header();
        header[name] = value;
        if header[name].is_null() {
            header.as_object_mut().unwrap().remove(name);
        }
        self.signer.sign_token(&header.to_string(), &self.claims().to_string())
    }

    async fn verify_error(&self, token: &str, now: Timestamp) -> Option<TokenError> {
        self.verifier.verify(token, now).await.err()
    }
}

#[tokio::test]
async fn a_valid_token_of_each_algorithm_maps_to_a_caller() {
    let sso = SsoFixture::new().await;
    let signers = [
        Signer::new("rs", "RS256", 0),
        Signer::new("ps", "PS256", 1),
        Signer::new("es", "ES256", 0),
        Signer::new("ed", "EdDSA", 0),
        Signer::new("new", "Ed25519", 0),
    ];
    sso.idp.publish(&signers.iter().map(Signer::jwk).collect::<Vec<_>>());
    for signer in &signers {
        let caller = sso.verifier.verify(&signer.token(&sso.claims()), NOW).await;
        let caller = caller.unwrap_or_else(|error| panic!("{}: {error:?}", signer.algorithm));
        assert_eq!(caller.subject.as_str(), format!("sso:{}#42", sso.idp.issuer));
        assert_eq!((caller.tenant.as_str(), caller.client_id.as_deref()), ("acme", Some("tool")));
        assert_eq!(caller.scopes, ["read"]);
    }
    assert_eq!(sso.idp.fetches(), 2);
}

#[tokio::test]
async fn only_the_configured_algorithms_are_accepted() {
    let signers = [
        Signer::new("rs", "RS256", 0),
        Signer::new("ps", "PS256", 1),
        Signer::new("es", "ES256", 0),
        Signer::new("ed", "EdDSA", 0),
    ];
    for allowed in Algorithm::ALL {
        let sso = SsoFixture::with(|settings| settings.algorithms = vec![allowed]).await;
        sso.idp.publish(&signers.iter().map(Signer::jwk).collect::<Vec<_>>());
        for signer in &signers {
            let is_allowed = Algorithm::from_name(signer.algorithm) == Some(allowed);
            let error = sso.verify_error(&signer.token(&sso.claims()), NOW).await;
            assert_eq!(error, (!is_allowed).then_some(Algorithm), "{} for {allowed:?}", signer.algorithm);
        }
    }
}

/// Returns invalid tokens with the reason for their rejection.
async fn invalid_tokens(sso: &SsoFixture) -> Vec<(&'static str, String, TokenError)> {
    let (valid, signer) = (sso.valid_token(), &sso.signer);
    let parts: Vec<&str> = valid.split('.').collect();
    let (header, claims) = (signer.header().to_string(), sso.claims().to_string());
    let with_signature = |signature: &[u8]| format!("{}.{}.{}", parts[0], parts[1], base64url(signature));
    let hmac = |key: &[u8]| {
        let signed = format!("{}.{}", base64url(r#"{"alg":"HS256","typ":"at+jwt","kid":"k1"}"#), parts[1]);
        let tag = ring::hmac::sign(&ring::hmac::Key::new(ring::hmac::HMAC_SHA256, key), signed.as_bytes());
        format!("{signed}.{}", base64url(tag.as_ref()))
    };
    let other_signer = Signer::new("k1", "RS256", 1);
    let elliptic = Signer::new("k1", "ES256", 0);
    let pss = Signer::new("k1", "PS256", 0);
    let other_claims = base64url(sso.claims_with("sub", json!("43")).to_string());
    let modulus = sso.signer.plain_jwk()["n"].as_str().unwrap().to_owned();
    let mut wrong = signer.sign(b"x");
    wrong[0] ^= 1;
    let claim = |name: &str, value: Value| signer.token(&sso.claims_with(name, value));
    let head = |name: &str, value: Value| sso.with_header(name, value);
    let none = |alg: &str| format!("{}.{}.", base64url(format!(r#"{{"alg":"{alg}","typ":"at+jwt"}}"#)), parts[1]);
    let twice = claims.replacen('{', r#"{"sub":"1","#, 1);
    vec![
        ("an empty token", String::new(), Malformed),
        ("one part", parts[0].to_owned(), Malformed),
        ("two parts", format!("{}.{}", parts[0], parts[1]), Malformed),
        ("four parts", format!("{valid}.{}", parts[2]), Malformed),
        ("five parts, as if encrypted", "a.b.c.d.e".to_owned(), Malformed),
        ("padding", format!("{valid}="), Malformed),
        ("the other base64", valid.replace('_', "/").replace('-', "+") + "/", Malformed),
        ("a blank", valid.replacen('.', " .", 1), Malformed),
        ("too long", format!("{valid}{}", "A".repeat(16 * 1024)), Length),
        ("no header", format!(".{}.{}", parts[1], parts[2]), Header),
        ("a header that is no JSON", signer.sign_token("{", &claims), Header),
        ("a header that is a list", signer.sign_token("[]", &claims), Header),
        ("a header with alg twice", signer.sign_token(&header.replacen('{', r#"{"alg":"none","#, 1), &claims), Header),
        ("no algorithm", head("alg", Value::Null), Algorithm),
        ("alg none", none("none"), Algorithm),
        ("alg None", none("None"), Algorithm),
        ("alg nOnE", none("nOnE"), Algorithm),
        ("alg empty", head("alg", json!("")), Algorithm),
        ("alg a number", head("alg", json!(1)), Algorithm),
        ("alg HS256 with the public key as the secret", hmac(modulus.as_bytes()), Algorithm),
        ("alg HS256 with the empty secret", hmac(b""), Algorithm),
        ("alg RS512, which is not listed", head("alg", json!("RS512")), Algorithm),
        ("alg ES256K", head("alg", json!("ES256K")), Algorithm),
        ("no type", head("typ", Value::Null), Type),
        ("the type of an ID token", head("typ", json!("JWT")), Type),
        ("the type of a logout token", head("typ", json!("logout+jwt")), Type),
        ("a critical header", head("crit", json!(["exp"])), Critical),
        ("an unencoded payload", head("b64", json!(false)), Critical),
        ("compression", head("zip", json!("DEF")), Critical),
        ("an unknown key", head("kid", json!("k2")), Key),
        ("a key id that is a path", head("kid", json!("../../dev/null")), Key),
        ("a key of another kind", elliptic.token(&sso.claims()), Key),
        ("a padding that the key does not permit", pss.token(&sso.claims()), Key),
        ("the key of another signer", other_signer.token(&sso.claims()), Signature),
        ("no signature", with_signature(b""), Signature),
        ("a signature of something else", with_signature(&signer.sign(b"x")), Signature),
        ("a signature with a bit changed", with_signature(&wrong), Signature),
        ("half a signature", with_signature(&signer.sign(b"x")[..128]), Signature),
        ("other claims under a valid signature", format!("{}.{other_claims}.{}", parts[0], parts[2]), Signature),
        (
            "its own key in the header",
            {
                let mut header = other_signer.header();
                header["jwk"] = other_signer.jwk();
                other_signer.sign_token(&header.to_string(), &claims)
            },
            Signature,
        ),
        (
            "the address of its own keys in the header",
            {
                let mut header = other_signer.header();
                header["jku"] = json!("https://evil.example/jwks");
                header["x5u"] = json!("https://evil.example/cert");
                other_signer.sign_token(&header.to_string(), &claims)
            },
            Signature,
        ),
        ("claims that are no JSON", signer.sign_token(&header, "{"), Claims),
        ("claims that are a text", signer.sign_token(&header, "\"x\""), Claims),
        ("claims with a name twice", signer.sign_token(&header, &twice), Claims),
        ("claims too deep", signer.sign_token(&header, &format!(r#"{{"a":{}"#, "[".repeat(5000))), Claims),
        ("another issuer", claim("iss", json!("https://evil.example")), Issuer),
        ("the issuer with a slash", claim("iss", json!(format!("{}/", sso.idp.issuer))), Issuer),
        ("no issuer", claim("iss", Value::Null), Issuer),
        ("two issuers", claim("iss", json!([sso.idp.issuer])), Issuer),
        ("another audience", claim("aud", json!("https://other.example")), Audience),
        ("an audience that begins like ours", claim("aud", json!("https://pidq.example.evil.example")), Audience),
        ("our audience among words", claim("aud", json!("https://pidq.example x")), Audience),
        ("no audience", claim("aud", Value::Null), Audience),
        ("an empty list of audiences", claim("aud", json!([])), Audience),
        ("expired", claim("exp", json!(1_699_999_970)), Expired),
        ("expired long ago", claim("exp", json!(0)), Expired),
        ("no end", claim("exp", Value::Null), Claim("exp")),
        ("an end that is a text", claim("exp", json!("1700000300")), Claim("exp")),
        ("an end that is negative", claim("exp", json!(-1)), Claim("exp")),
        ("not valid yet", claim("nbf", json!(1_700_000_031)), NotYetValid),
        ("a beginning that is a text", claim("nbf", json!("now")), Claim("nbf")),
        ("issued in the future", claim("iat", json!(1_700_000_031)), NotYetValid),
        ("bound to a key", claim("cnf", json!({"jkt": "x"})), SenderConstrained),
        (
            "bound to nothing",
            signer.sign_token(&header, &claims.replacen('{', r#"{"cnf":null,"#, 1)),
            SenderConstrained,
        ),
        ("no subject", claim("sub", Value::Null), Claim("sub")),
        ("an empty subject", claim("sub", json!("")), Claim("sub")),
        ("a subject that is a number", claim("sub", json!(42)), Claim("sub")),
        ("a subject with a NUL", claim("sub", json!("4\u{0}2")), Claim("sub")),
        ("a subject that is too long", claim("sub", json!("4".repeat(256))), Claim("sub")),
        ("no client", claim("client_id", Value::Null), Claim("client_id")),
        ("no id", claim("jti", Value::Null), Claim("jti")),
        ("no time of issue", claim("iat", Value::Null), Claim("iat")),
    ]
}

#[tokio::test]
async fn each_invalid_token_is_rejected_for_its_own_reason() {
    let sso = SsoFixture::new().await;
    let tokens = invalid_tokens(&sso).await;
    assert!(tokens.len() >= 40, "{}", tokens.len());
    for (what, token, reason) in tokens {
        assert_eq!(sso.verify_error(&token, NOW).await, Some(reason), "{what}");
    }
    assert_eq!(sso.verify_error(&sso.valid_token(), NOW).await, None);
}

#[tokio::test]
async fn a_rejected_token_reveals_no_reason() {
    check(async |fixture: Fixture| {
        let sso = SsoFixture::new().await;
        let settings = ProviderSettings::rfc9068(&sso.idp.issuer, AUDIENCE, TenantSource::Fixed("acme".into()));
        let mut options = fixture.identities.options().clone();
        options.base_url = AUDIENCE.to_owned();
        let identities = pidq_http::auth::Identities::open(fixture.database.clone(), options).await.unwrap();
        let identities = identities.with_provider(Provider::new(settings).unwrap());
        assert_eq!(identities.issuers(), [sso.idp.issuer.as_str()]);
        let authenticate = async |token: &str| {
            let header = format!("Bearer {token}");
            identities.authenticate(&[&header], fixture.now).await
        };
        assert_eq!(authenticate(&sso.valid_token()).await.unwrap().tenant, "acme");
        // Local tokens stay valid.
        assert!(authenticate(&fixture.log_in().await.access()).await.is_ok());
        for (what, token, reason) in invalid_tokens(&sso).await {
            let error = authenticate(&token).await.unwrap_err();
            let is_expected = match reason {
                Expired => matches!(error, AuthError::Expired),
                _ => matches!(error, AuthError::Invalid),
            };
            assert!(is_expected, "{what}: {error:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn clock_skew_is_tolerated() {
    let sso = SsoFixture::new().await;
    for (name, value) in [
        ("exp", json!(1_699_999_971)),
        ("exp", json!(1_700_000_000.5)),
        ("exp", json!(1e300)),
        ("nbf", json!(1_700_000_030)),
        ("iat", json!(1_700_000_030)),
    ] {
        let token = sso.signer.token(&sso.claims_with(name, value.clone()));
        assert_eq!(sso.verify_error(&token, NOW).await, None, "{name} {value}");
    }
}

#[tokio::test]
async fn a_new_key_works_without_a_restart_after_one_fetch() {
    let sso = SsoFixture::new().await;
    assert_eq!(sso.verify_error(&sso.valid_token(), NOW).await, None);
    let new = Signer::new("k2", "ES256", 0);
    sso.idp.publish(&[new.jwk()]);
    let before = sso.idp.fetches();
    let later = NOW + Duration::from_secs(61);
    assert_eq!(sso.verify_error(&new.token(&sso.claims()), later).await, None);
    assert_eq!(sso.idp.fetches() - before, 1);
    // The old key is removed by the fetch.
    assert_eq!(sso.verify_error(&sso.valid_token(), later).await, Some(Key));
}

#[tokio::test]
async fn keys_fetched_at_the_start_are_used_and_fetched_again_for_an_unknown_key() {
    let sso = SsoFixture::new().await;
    sso.verifier.prefetch_keys(NOW).await;
    let before = sso.idp.fetches();
    assert_eq!(sso.verify_error(&sso.valid_token(), NOW).await, None);
    assert_eq!(sso.idp.fetches(), before);
    let new = Signer::new("k2", "ES256", 0);
    sso.idp.publish(&[new.jwk()]);
    assert_eq!(sso.verify_error(&new.token(&sso.claims()), NOW).await, None);
}

#[tokio::test]
async fn keys_that_were_unavailable_at_the_start_are_fetched_for_the_first_token() {
    let sso = SsoFixture::new().await;
    sso.idp.set_unavailable(true);
    sso.verifier.prefetch_keys(NOW).await;
    sso.idp.set_unavailable(false);
    assert_eq!(sso.verify_error(&sso.valid_token(), NOW).await, None);
}

#[tokio::test]
async fn a_new_key_works_after_the_clock_was_set_back() {
    let sso = SsoFixture::new().await;
    let day = Duration::from_secs(86_400);
    assert!(
        sso.verify_error(&sso.valid_token(), NOW + day).await.is_some(),
        "the keys were fetched, the token has expired"
    );
    let new = Signer::new("k2", "ES256", 0);
    sso.idp.publish(&[new.jwk()]);
    assert_eq!(sso.verify_error(&new.token(&sso.claims()), NOW).await, None);
}

#[tokio::test]
async fn a_removed_key_stops_working_within_minutes() {
    let sso = SsoFixture::new().await;
    assert_eq!(sso.verify_error(&sso.valid_token(), NOW).await, None);
    sso.idp.publish(&[]);
    assert_eq!(sso.verify_error(&sso.valid_token(), NOW + Duration::from_secs(240)).await, None);
    assert_eq!(sso.verify_error(&sso.valid_token(), NOW + Duration::from_secs(300)).await, Some(Key));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_unknown_keys_does_not_reach_the_provider() {
    let sso = std::sync::Arc::new(SsoFixture::new().await);
    assert_eq!(sso.verify_error(&sso.valid_token(), NOW).await, None);
    let before = sso.idp.fetches();
    let later = NOW + Duration::from_secs(61);
    let floods = (0..10).map(|flood| {
        let sso = sso.clone();
        tokio::spawn(async move {
            for n in 0..1000 {
                let header = json!({"alg": "RS256", "typ": "at+jwt", "kid": format!("{flood}-{n}")}).to_string();
                let token = format!("{}.{}.AAAA", base64url(header), base64url(sso.claims().to_string()));
                assert_eq!(sso.verify_error(&token, later).await, Some(Key));
            }
        })
    });
    for flood in floods.collect::<Vec<_>>() {
        flood.await.unwrap();
    }
    assert_eq!(sso.idp.fetches() - before, 1);
    assert_eq!(sso.verify_error(&sso.valid_token(), later).await, None);
}

#[tokio::test]
async fn cached_keys_survive_an_outage_of_the_provider() {
    let sso = SsoFixture::new().await;
    assert_eq!(sso.verify_error(&sso.valid_token(), NOW).await, None);
    sso.idp.set_unavailable(true);
    let long = sso.signer.token(&sso.claims_with("exp", json!(1_800_000_000)));
    for hours in [1, 12, 23] {
        assert_eq!(sso.verify_error(&long, NOW + Duration::from_secs(hours * 3600)).await, None, "{hours} h");
    }
    let day = NOW + Duration::from_secs(24 * 3600);
    assert_eq!(sso.verify_error(&long, day).await, Some(Unavailable));
    sso.idp.set_unavailable(false);
    assert_eq!(sso.verify_error(&long, day + Duration::from_secs(6)).await, None);
}

#[tokio::test]
async fn cached_keys_are_used_while_a_refresh_is_slow() {
    let sso = SsoFixture::new().await;
    assert_eq!(sso.verify_error(&sso.valid_token(), NOW).await, None);
    sso.idp.stop_responding();
    let started = std::time::Instant::now();
    assert_eq!(sso.verify_error(&sso.valid_token(), NOW + Duration::from_secs(301)).await, None);
    assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
}

#[tokio::test]
async fn the_application_prefix_of_a_type_is_optional() {
    for listed in ["at+jwt", "application/at+jwt", "AT+JWT"] {
        let types = vec![listed.to_owned()];
        let sso = SsoFixture::with(|settings| settings.profile = TokenProfile::Custom { types: types.clone() }).await;
        for (kind, expected) in [("at+jwt", None), ("application/at+jwt", None), ("JWT", Some(Type))] {
            assert_eq!(sso.verify_error(&sso.with_header("typ", json!(kind)), NOW).await, expected, "{listed} {kind}");
        }
    }
}

#[tokio::test]
async fn a_disconnect_does_not_cancel_a_key_refresh() {
    let sso = SsoFixture::new().await;
    let token = sso.valid_token();
    // Polled once and dropped: the keys are still in transit.
    let is_dropped = tokio::select! {
        biased;
        _ = sso.verifier.verify(&token, NOW) => false,
        () = std::future::ready(()) => true,
    };
    assert!(is_dropped);
    assert_eq!(sso.verify_error(&token, NOW).await, None);
}

#[tokio::test]
async fn a_discovery_document_must_name_its_own_issuer() {
    for (issuer, keys) in [
        (json!("https://evil.example"), "/jwks"),
        (json!(null), "/jwks"),
        (json!("SELF/"), "/jwks"),
        (json!("SELF"), "elsewhere"),
        (json!("SELF"), "/moved"),
    ] {
        let sso = SsoFixture::new().await;
        let issuer = issuer.as_str().map(|text| text.replace("SELF", &sso.idp.issuer));
        let keys = match keys {
            "elsewhere" => "http://192.0.2.1/jwks".to_owned(),
            path => format!("{}{path}", sso.idp.issuer),
        };
        sso.idp.set_discovery(json!({"issuer": issuer, "jwks_uri": keys}));
        assert_eq!(sso.verify_error(&sso.valid_token(), NOW).await, Some(Unavailable), "{issuer:?} {keys}");
    }
}

#[tokio::test]
async fn keys_for_other_uses_are_ignored() {
    let sso = SsoFixture::new().await;
    let plain = |change: &dyn Fn(&mut Value)| {
        let mut jwk = sso.signer.plain_jwk();
        jwk["kid"] = json!("k1");
        change(&mut jwk);
        jwk
    };
    for (what, jwk, expected) in [
        ("plain", plain(&|_| {}), None),
        ("to verify", plain(&|jwk| jwk["key_ops"] = json!(["verify"])), None),
        ("with a leading zero", plain(&|jwk| jwk["e"] = json!("AAEAAQ")), None),
        ("to encrypt", plain(&|jwk| jwk["use"] = json!("enc")), Some(Key)),
        ("to sign", plain(&|jwk| jwk["key_ops"] = json!(["sign"])), Some(Key)),
        ("another algorithm", plain(&|jwk| jwk["alg"] = json!("PS256")), Some(Key)),
        ("another kind", plain(&|jwk| jwk["kty"] = json!("oct")), Some(Key)),
        ("no number", plain(&|jwk| jwk["n"] = json!(7)), Some(Key)),
        ("a small number", plain(&|jwk| jwk["n"] = json!("AQAB")), Some(Signature)),
    ] {
        sso.idp.publish(&[json!(null), json!([]), jwk]);
        let settings = ProviderSettings::rfc9068(&sso.idp.issuer, AUDIENCE, TenantSource::Fixed("acme".into()));
        let fresh = Provider::new(settings).unwrap();
        assert_eq!(fresh.verify(&sso.valid_token(), NOW).await.err(), expected, "{what}");
    }
    for document in [json!([]), json!({"keys": 1}), json!({"keys": [{"x": "y".repeat(300_000)}]})] {
        sso.idp.publish_document(document);
        let settings = ProviderSettings::rfc9068(&sso.idp.issuer, AUDIENCE, TenantSource::Fixed("acme".into()));
        let fresh = Provider::new(settings).unwrap();
        assert_eq!(fresh.verify(&sso.valid_token(), NOW).await.err(), Some(Unavailable));
    }
}

#[tokio::test]
async fn a_token_without_key_id_requires_a_provider_with_one_key() {
    let sso = SsoFixture::new().await;
    let token = sso.with_header("kid", Value::Null);
    assert_eq!(sso.verify_error(&token, NOW).await, None);
    sso.idp.publish(&[sso.signer.jwk(), Signer::new("k2", "RS256", 1).jwk()]);
    assert_eq!(sso.verify_error(&token, NOW + Duration::from_secs(301)).await, Some(Key));
}

#[tokio::test]
async fn entra_access_tokens_are_recognized_by_their_scope() {
    let sso = SsoFixture::with(|settings| {
        settings.profile = TokenProfile::Entra { directories: vec!["dir-1".into()] };
        settings.claims.scope = "scp".into();
        settings.claims.scopes = vec![
            ("Graph.Read".into(), "read".into()),
            ("Graph.Write".into(), "read".into()),
            ("Graph.Write".into(), "write".into()),
        ];
        settings.claims.admin_roles = vec!["Admin".into()];
        settings.claims.tenant = TenantSource::Claim("tid".into());
    })
    .await;
    let token = |changes: Value| {
        let mut claims = json!({
            "iss": sso.idp.issuer, "aud": AUDIENCE, "sub": "s", "oid": "o", "tid": "dir-1", "ver": "2.0",
            "iat": 1_700_000_000, "nbf": 1_700_000_000, "exp": 1_700_000_300, "azp": "tool",
        });
        claims.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        let header = json!({"alg": "RS256", "typ": "JWT", "kid": "k1"}).to_string();
        sso.signer.sign_token(&header, &claims.to_string())
    };
    let person = sso.verifier.verify(&token(json!({"scp": "Graph.Read other"})), NOW).await.unwrap();
    assert_eq!((person.scopes.join(" ").as_str(), person.tenant.as_str(), person.is_admin), ("read", "dir-1", false));
    let robot = sso.verifier.verify(&token(json!({"roles": ["Graph.Write", "Admin"]})), NOW).await.unwrap();
    assert_eq!((robot.scopes.join(" ").as_str(), robot.is_admin), ("read write", true));
    for (changes, reason) in [
        (json!({}), NoScope),
        (json!({"scp": "Graph.Read", "ver": "1.0"}), Version),
        (json!({"scp": "Graph.Read", "tid": "dir-2"}), Directory),
        (json!({"scp": "Graph.Read", "cnf": {}}), SenderConstrained),
    ] {
        assert_eq!(sso.verify_error(&token(changes), NOW).await, Some(reason));
    }
    assert_eq!(sso.verify_error(&sso.valid_token(), NOW).await, Some(Type));
}

#[tokio::test]
async fn a_custom_profile_maps_claims_as_configured() {
    let sso = SsoFixture::with(|settings| {
        settings.profile = TokenProfile::Custom { types: vec!["JWT".into(), "at+jwt".into()] };
        settings.algorithms = vec![Algorithm::Rs256];
        settings.claims.scopes = vec![("pidq:all".into(), "read".into()), ("pidq:all".into(), "write".into())];
        settings.claims.tenant = TenantSource::Claim("org".into());
    })
    .await;
    let mut claims = sso.claims();
    claims["scope"] = json!(["pidq:all", 7]);
    claims["org"] = json!("globex");
    claims["groups"] = json!(["a b", "", "c\n", 7, "c"]);
    claims["preferred_username"] = json!("ann");
    for kind in ["jwt", "application/at+jwt"] {
        let header = json!({"alg": "RS256", "typ": kind, "kid": "k1"}).to_string();
        let caller = sso.verifier.verify(&sso.signer.sign_token(&header, &claims.to_string()), NOW).await.unwrap();
        assert_eq!((caller.tenant.as_str(), caller.name.as_str()), ("globex", "ann"));
        assert_eq!(caller.scopes, ["read", "write"]);
        assert_eq!(caller.groups, ["a b", "c"]);
    }
    assert_eq!(sso.verify_error(&sso.valid_token(), NOW).await, Some(NoTenant));
    let header = json!({"alg": "RS256", "typ": "dpop+jwt", "kid": "k1"}).to_string();
    assert_eq!(sso.verify_error(&sso.signer.sign_token(&header, &claims.to_string()), NOW).await, Some(Type));
}

#[tokio::test]
async fn keycloak_access_tokens_differ_from_id_tokens_and_have_nested_roles() {
    let sso = SsoFixture::with(|settings| {
        settings.profile = TokenProfile::Custom { types: vec!["JWT".into()] };
        settings.claims.roles = "realm_access.roles".into();
        settings.claims.groups = "resource_access.pidq.v1.roles".into();
        settings.claims.admin_roles = vec!["pidq-admin".into()];
    })
    .await;
    let token = |changes: Value| {
        let mut claims = json!({
            "iss": sso.idp.issuer, "aud": [AUDIENCE, "account"], "sub": "s", "typ": "Bearer", "azp": "pidq-dashboard",
            "iat": 1_700_000_000, "exp": 1_700_000_300, "jti": "onrtac:1", "scope": "openid read profile",
            "realm_access": {"roles": ["default-roles-plant", "pidq-admin"]},
            "resource_access": {"pidq.v1": {"roles": ["safety"]}, "account": {"roles": ["view-profile"]}},
            "preferred_username": "ann",
        });
        claims.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        sso.signer.sign_token(&json!({"alg": "RS256", "typ": "JWT", "kid": "k1"}).to_string(), &claims.to_string())
    };
    let caller = sso.verifier.verify(&token(json!({})), NOW).await.unwrap();
    assert_eq!((caller.name.as_str(), caller.is_admin, caller.scopes.join(" ")), ("ann", true, "read".to_owned()));
    assert_eq!((caller.groups, caller.client_id.as_deref()), (vec!["safety".to_owned()], Some("pidq-dashboard")));
    for roles in [json!({"roles": ["other"]}), json!(["pidq-admin"]), json!("pidq-admin"), Value::Null] {
        let caller = sso.verifier.verify(&token(json!({"realm_access": roles})), NOW).await.unwrap();
        assert!(!caller.is_admin, "{roles}");
    }
    for purpose in ["ID", "Refresh", "Offline", "Logout"] {
        assert_eq!(sso.verify_error(&token(json!({"typ": purpose})), NOW).await, Some(Type), "{purpose}");
    }
}

#[test]
fn insecure_provider_settings_are_rejected() {
    let good = ProviderSettings::rfc9068("https://login.example", AUDIENCE, TenantSource::Fixed("acme".into()));
    assert!(Provider::new(good.clone()).is_ok());
    assert!(Provider::new(ProviderSettings::entra("dir", AUDIENCE, TenantSource::Claim("tid".into()))).is_ok());
    for bad in [
        ProviderSettings { issuer: "http://login.example".into(), ..good.clone() },
        ProviderSettings { issuer: "login.example".into(), ..good.clone() },
        ProviderSettings { jwks_uri: Some("http://login.example/jwks".into()), ..good.clone() },
        ProviderSettings { jwks_uri: Some("http://127.0.0.1.evil.example/jwks".into()), ..good.clone() },
        ProviderSettings { jwks_uri: Some("file:///etc/keys".into()), ..good.clone() },
        ProviderSettings { audiences: vec![], ..good.clone() },
        ProviderSettings { audiences: vec![String::new()], ..good.clone() },
        ProviderSettings { algorithms: vec![], ..good.clone() },
        ProviderSettings { clock_skew: Duration::from_secs(61), ..good.clone() },
        ProviderSettings { profile: TokenProfile::Entra { directories: vec![] }, ..good.clone() },
        ProviderSettings::entra("organizations", AUDIENCE, TenantSource::Claim("tid".into())),
        ProviderSettings {
            root_certificates: Some("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----".into()),
            ..good.clone()
        },
    ] {
        assert!(Provider::new(bad.clone()).is_err(), "{bad:?}");
    }
}
