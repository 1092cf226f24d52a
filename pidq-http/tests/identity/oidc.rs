//! Tokens of an identity provider: valid ones map to callers, invalid ones are rejected for the right reason.

use std::time::Duration;

use pidq_http::auth::{
    Algorithm, AuthError, Provider, ProviderSettings, TenantSource, Timestamp, TokenError, TokenError::*, TokenProfile,
};
use serde_json::{Value, json};

use crate::provider::{self, Signer, base64url};
use crate::world::{World, check};

const AUDIENCE: &str = "https://pidq.example";
const NOW: Timestamp = Timestamp(1_700_000_000_000);

struct Company {
    idp: provider::Provider,
    ours: Provider,
    signer: Signer,
}

impl Company {
    async fn new() -> Company {
        Company::with(|_| {}).await
    }

    async fn with(change: impl Fn(&mut ProviderSettings)) -> Company {
        let idp = provider::Provider::start().await;
        let signer = Signer::new("k1", "RS256", 0);
        idp.publish(&[signer.jwk()]);
        let mut settings = ProviderSettings::rfc9068(&idp.issuer, AUDIENCE, TenantSource::Fixed("acme".into()));
        change(&mut settings);
        Company { ours: Provider::new(settings).unwrap(), idp, signer }
    }

    fn claims(&self) -> Value {
        json!({
            "iss": self.idp.issuer, "aud": AUDIENCE, "sub": "42", "client_id": "tool", "jti": "1",
            "iat": 1_700_000_000, "exp": 1_700_000_300, "scope": "openid read",
        })
    }

    /// Returns claims with one change; `null` removes a claim.
    fn but(&self, name: &str, value: Value) -> Value {
        let mut claims = self.claims();
        claims[name] = value;
        if claims[name].is_null() {
            claims.as_object_mut().unwrap().remove(name);
        }
        claims
    }

    fn good(&self) -> String {
        self.signer.token(&self.claims())
    }

    fn with_header(&self, name: &str, value: Value) -> String {
        let mut header = self.signer.header();
        header[name] = value;
        if header[name].is_null() {
            header.as_object_mut().unwrap().remove(name);
        }
        self.signer.token_of(&header.to_string(), &self.claims().to_string())
    }

    async fn fault(&self, token: &str, now: Timestamp) -> Option<TokenError> {
        self.ours.verify(token, now).await.err()
    }
}

#[tokio::test]
async fn a_good_token_of_each_algorithm_is_a_caller() {
    let company = Company::new().await;
    let signers = [
        Signer::new("rs", "RS256", 0),
        Signer::new("ps", "PS256", 1),
        Signer::new("es", "ES256", 0),
        Signer::new("ed", "EdDSA", 0),
        Signer::new("new", "Ed25519", 0),
    ];
    company.idp.publish(&signers.iter().map(Signer::jwk).collect::<Vec<_>>());
    for signer in &signers {
        let caller = company.ours.verify(&signer.token(&company.claims()), NOW).await;
        let caller = caller.unwrap_or_else(|fault| panic!("{}: {fault:?}", signer.algorithm));
        assert_eq!(caller.subject.as_str(), format!("sso:{}#42", company.idp.issuer));
        assert_eq!((caller.tenant.as_str(), caller.client_id.as_deref()), ("acme", Some("tool")));
        assert_eq!(caller.scopes, ["read"]);
    }
    assert_eq!(company.idp.fetches(), 2);
}

/// Returns invalid tokens with the reason for their rejection.
async fn bad_tokens(company: &Company) -> Vec<(&'static str, String, TokenError)> {
    let (good, signer) = (company.good(), &company.signer);
    let parts: Vec<&str> = good.split('.').collect();
    let (header, claims) = (signer.header().to_string(), company.claims().to_string());
    let twisted = |signature: &[u8]| format!("{}.{}.{}", parts[0], parts[1], base64url(signature));
    let hmac = |key: &[u8]| {
        let signed = format!("{}.{}", base64url(r#"{"alg":"HS256","typ":"at+jwt","kid":"k1"}"#), parts[1]);
        let tag = ring::hmac::sign(&ring::hmac::Key::new(ring::hmac::HMAC_SHA256, key), signed.as_bytes());
        format!("{signed}.{}", base64url(tag.as_ref()))
    };
    let stranger = Signer::new("k1", "RS256", 1);
    let elliptic = Signer::new("k1", "ES256", 0);
    let pss = Signer::new("k1", "PS256", 0);
    let other_claims = base64url(company.but("sub", json!("43")).to_string());
    let modulus = company.signer.plain_jwk()["n"].as_str().unwrap().to_owned();
    let mut wrong = signer.sign(b"x");
    wrong[0] ^= 1;
    let claim = |name: &str, value: Value| signer.token(&company.but(name, value));
    let head = |name: &str, value: Value| company.with_header(name, value);
    let none = |alg: &str| format!("{}.{}.", base64url(format!(r#"{{"alg":"{alg}","typ":"at+jwt"}}"#)), parts[1]);
    let twice = claims.replacen('{', r#"{"sub":"1","#, 1);
    vec![
        ("nothing", String::new(), Malformed),
        ("one part", parts[0].to_owned(), Malformed),
        ("two parts", format!("{}.{}", parts[0], parts[1]), Malformed),
        ("four parts", format!("{good}.{}", parts[2]), Malformed),
        ("five parts, as if encrypted", "a.b.c.d.e".to_owned(), Malformed),
        ("padding", format!("{good}="), Malformed),
        ("the other base64", good.replace('_', "/").replace('-', "+") + "/", Malformed),
        ("a blank", good.replacen('.', " .", 1), Malformed),
        ("too long", format!("{good}{}", "A".repeat(16 * 1024)), Length),
        ("no header", format!(".{}.{}", parts[1], parts[2]), Header),
        ("a header that is no JSON", signer.token_of("{", &claims), Header),
        ("a header that is a list", signer.token_of("[]", &claims), Header),
        ("a header with alg twice", signer.token_of(&header.replacen('{', r#"{"alg":"none","#, 1), &claims), Header),
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
        ("a demand", head("crit", json!(["exp"])), Critical),
        ("an unencoded payload", head("b64", json!(false)), Critical),
        ("compression", head("zip", json!("DEF")), Critical),
        ("an unknown key", head("kid", json!("k2")), Key),
        ("a key id that is a path", head("kid", json!("../../dev/null")), Key),
        ("a key of another kind", elliptic.token(&company.claims()), Key),
        ("another padding than the key is for", pss.token(&company.claims()), Key),
        ("a stranger's key", stranger.token(&company.claims()), Signature),
        ("no signature", twisted(b""), Signature),
        ("a signature of something else", twisted(&signer.sign(b"x")), Signature),
        ("a signature with a bit changed", twisted(&wrong), Signature),
        ("half a signature", twisted(&signer.sign(b"x")[..128]), Signature),
        ("other claims under a good signature", format!("{}.{other_claims}.{}", parts[0], parts[2]), Signature),
        (
            "its own key in the header",
            {
                let mut header = stranger.header();
                header["jwk"] = stranger.jwk();
                stranger.token_of(&header.to_string(), &claims)
            },
            Signature,
        ),
        (
            "the address of its own keys in the header",
            {
                let mut header = stranger.header();
                header["jku"] = json!("https://evil.example/jwks");
                header["x5u"] = json!("https://evil.example/cert");
                stranger.token_of(&header.to_string(), &claims)
            },
            Signature,
        ),
        ("claims that are no JSON", signer.token_of(&header, "{"), Claims),
        ("claims that are a text", signer.token_of(&header, "\"x\""), Claims),
        ("claims with a name twice", signer.token_of(&header, &twice), Claims),
        ("claims too deep", signer.token_of(&header, &format!(r#"{{"a":{}"#, "[".repeat(5000))), Claims),
        ("another issuer", claim("iss", json!("https://evil.example")), Issuer),
        ("the issuer with a slash", claim("iss", json!(format!("{}/", company.idp.issuer))), Issuer),
        ("no issuer", claim("iss", Value::Null), Issuer),
        ("two issuers", claim("iss", json!([company.idp.issuer])), Issuer),
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
        ("bound to nothing", signer.token_of(&header, &claims.replacen('{', r#"{"cnf":null,"#, 1)), SenderConstrained),
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
async fn each_bad_token_is_refused_for_its_own_reason() {
    let company = Company::new().await;
    let tokens = bad_tokens(&company).await;
    assert!(tokens.len() >= 40, "{}", tokens.len());
    for (what, token, reason) in tokens {
        assert_eq!(company.fault(&token, NOW).await, Some(reason), "{what}");
    }
    assert_eq!(company.fault(&company.good(), NOW).await, None);
}

#[tokio::test]
async fn a_rejected_token_reveals_no_reason() {
    check(async |world: World| {
        let company = Company::new().await;
        let settings = ProviderSettings::rfc9068(&company.idp.issuer, AUDIENCE, TenantSource::Fixed("acme".into()));
        let mut options = world.identities.options().clone();
        options.base_url = AUDIENCE.to_owned();
        let identities = pidq_http::auth::Identities::open(world.database.clone(), options).await.unwrap();
        let identities = identities.with_provider(Provider::new(settings).unwrap());
        assert_eq!(identities.issuers(), [company.idp.issuer.as_str()]);
        let ask = async |token: &str| {
            let header = format!("Bearer {token}");
            identities.authenticate(&[&header], world.now).await
        };
        assert_eq!(ask(&company.good()).await.unwrap().tenant, "acme");
        // Local tokens stay valid.
        assert!(ask(&world.log_in().await.access()).await.is_ok());
        for (what, token, reason) in bad_tokens(&company).await {
            let error = ask(&token).await.unwrap_err();
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
async fn clocks_may_differ_a_little() {
    let company = Company::new().await;
    for (name, value) in [
        ("exp", json!(1_699_999_971)),
        ("exp", json!(1_700_000_000.5)),
        ("exp", json!(1e300)),
        ("nbf", json!(1_700_000_030)),
        ("iat", json!(1_700_000_030)),
    ] {
        let token = company.signer.token(&company.but(name, value.clone()));
        assert_eq!(company.fault(&token, NOW).await, None, "{name} {value}");
    }
}

#[tokio::test]
async fn a_new_key_works_without_a_restart_after_one_fetch() {
    let company = Company::new().await;
    assert_eq!(company.fault(&company.good(), NOW).await, None);
    let new = Signer::new("k2", "ES256", 0);
    company.idp.publish(&[new.jwk()]);
    let before = company.idp.fetches();
    let later = NOW + Duration::from_secs(61);
    assert_eq!(company.fault(&new.token(&company.claims()), later).await, None);
    assert_eq!(company.idp.fetches() - before, 1);
    // The old key is removed by the fetch.
    assert_eq!(company.fault(&company.good(), later).await, Some(Key));
}

#[tokio::test]
async fn a_key_that_was_dropped_stops_working_within_minutes() {
    let company = Company::new().await;
    assert_eq!(company.fault(&company.good(), NOW).await, None);
    company.idp.publish(&[]);
    assert_eq!(company.fault(&company.good(), NOW + Duration::from_secs(240)).await, None);
    assert_eq!(company.fault(&company.good(), NOW + Duration::from_secs(300)).await, Some(Key));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_unknown_keys_does_not_reach_the_provider() {
    let company = std::sync::Arc::new(Company::new().await);
    assert_eq!(company.fault(&company.good(), NOW).await, None);
    let before = company.idp.fetches();
    let later = NOW + Duration::from_secs(61);
    let floods = (0..10).map(|flood| {
        let company = company.clone();
        tokio::spawn(async move {
            for n in 0..1000 {
                let header = json!({"alg": "RS256", "typ": "at+jwt", "kid": format!("{flood}-{n}")}).to_string();
                let token = format!("{}.{}.AAAA", base64url(header), base64url(company.claims().to_string()));
                assert_eq!(company.fault(&token, later).await, Some(Key));
            }
        })
    });
    for flood in floods.collect::<Vec<_>>() {
        flood.await.unwrap();
    }
    assert_eq!(company.idp.fetches() - before, 1);
    assert_eq!(company.fault(&company.good(), later).await, None);
}

#[tokio::test]
async fn known_keys_survive_a_provider_that_is_away() {
    let company = Company::new().await;
    assert_eq!(company.fault(&company.good(), NOW).await, None);
    company.idp.go_away(true);
    let long = company.signer.token(&company.but("exp", json!(1_800_000_000)));
    for hours in [1, 12, 23] {
        assert_eq!(company.fault(&long, NOW + Duration::from_secs(hours * 3600)).await, None, "{hours} h");
    }
    let day = NOW + Duration::from_secs(24 * 3600);
    assert_eq!(company.fault(&long, day).await, Some(Unavailable));
    company.idp.go_away(false);
    assert_eq!(company.fault(&long, day + Duration::from_secs(6)).await, None);
}

#[tokio::test]
async fn cached_keys_are_used_while_a_refresh_is_slow() {
    let company = Company::new().await;
    assert_eq!(company.fault(&company.good(), NOW).await, None);
    company.idp.fall_silent();
    let started = std::time::Instant::now();
    assert_eq!(company.fault(&company.good(), NOW + Duration::from_secs(301)).await, None);
    assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
}

#[tokio::test]
async fn a_type_is_the_same_with_and_without_its_first_part() {
    for listed in ["at+jwt", "application/at+jwt", "AT+JWT"] {
        let types = vec![listed.to_owned()];
        let company = Company::with(|settings| settings.profile = TokenProfile::Custom { types: types.clone() }).await;
        for (kind, expected) in [("at+jwt", None), ("application/at+jwt", None), ("JWT", Some(Type))] {
            assert_eq!(company.fault(&company.with_header("typ", json!(kind)), NOW).await, expected, "{listed} {kind}");
        }
    }
}

#[tokio::test]
async fn a_disconnect_does_not_cancel_a_key_refresh() {
    let company = Company::new().await;
    let token = company.good();
    // Polled once and dropped: the keys are still in transit, however quick the provider is.
    let has_hung_up = tokio::select! {
        biased;
        _ = company.ours.verify(&token, NOW) => false,
        () = std::future::ready(()) => true,
    };
    assert!(has_hung_up);
    assert_eq!(company.fault(&token, NOW).await, None);
}

#[tokio::test]
async fn a_discovery_document_speaks_for_its_own_issuer() {
    for (issuer, keys) in [
        (json!("https://evil.example"), "/jwks"),
        (json!(null), "/jwks"),
        (json!("SELF/"), "/jwks"),
        (json!("SELF"), "elsewhere"),
        (json!("SELF"), "/moved"),
    ] {
        let company = Company::new().await;
        let issuer = issuer.as_str().map(|text| text.replace("SELF", &company.idp.issuer));
        let keys = match keys {
            "elsewhere" => "http://192.0.2.1/jwks".to_owned(),
            path => format!("{}{path}", company.idp.issuer),
        };
        company.idp.describe(json!({"issuer": issuer, "jwks_uri": keys}));
        assert_eq!(company.fault(&company.good(), NOW).await, Some(Unavailable), "{issuer:?} {keys}");
    }
}

#[tokio::test]
async fn keys_for_other_ends_are_passed_over() {
    let company = Company::new().await;
    let plain = |change: &dyn Fn(&mut Value)| {
        let mut jwk = company.signer.plain_jwk();
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
        company.idp.publish(&[json!(null), json!([]), jwk]);
        let settings = ProviderSettings::rfc9068(&company.idp.issuer, AUDIENCE, TenantSource::Fixed("acme".into()));
        let fresh = Provider::new(settings).unwrap();
        assert_eq!(fresh.verify(&company.good(), NOW).await.err(), expected, "{what}");
    }
    for document in [json!([]), json!({"keys": 1}), json!({"keys": [{"x": "y".repeat(300_000)}]})] {
        company.idp.publish_anything(document);
        let settings = ProviderSettings::rfc9068(&company.idp.issuer, AUDIENCE, TenantSource::Fixed("acme".into()));
        let fresh = Provider::new(settings).unwrap();
        assert_eq!(fresh.verify(&company.good(), NOW).await.err(), Some(Unavailable));
    }
}

#[tokio::test]
async fn a_token_that_names_no_key_is_for_a_provider_with_one() {
    let company = Company::new().await;
    let token = company.with_header("kid", Value::Null);
    assert_eq!(company.fault(&token, NOW).await, None);
    company.idp.publish(&[company.signer.jwk(), Signer::new("k2", "RS256", 1).jwk()]);
    assert_eq!(company.fault(&token, NOW + Duration::from_secs(301)).await, Some(Key));
}

#[tokio::test]
async fn entra_access_tokens_are_recognized_by_their_scope() {
    let company = Company::with(|settings| {
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
            "iss": company.idp.issuer, "aud": AUDIENCE, "sub": "s", "oid": "o", "tid": "dir-1", "ver": "2.0",
            "iat": 1_700_000_000, "nbf": 1_700_000_000, "exp": 1_700_000_300, "azp": "tool",
        });
        claims.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        let header = json!({"alg": "RS256", "typ": "JWT", "kid": "k1"}).to_string();
        company.signer.token_of(&header, &claims.to_string())
    };
    let person = company.ours.verify(&token(json!({"scp": "Graph.Read other"})), NOW).await.unwrap();
    assert_eq!((person.scopes.join(" ").as_str(), person.tenant.as_str(), person.is_admin), ("read", "dir-1", false));
    let robot = company.ours.verify(&token(json!({"roles": ["Graph.Write", "Admin"]})), NOW).await.unwrap();
    assert_eq!((robot.scopes.join(" ").as_str(), robot.is_admin), ("read write", true));
    for (changes, reason) in [
        (json!({}), NoScope),
        (json!({"scp": "Graph.Read", "ver": "1.0"}), Version),
        (json!({"scp": "Graph.Read", "tid": "dir-2"}), Directory),
        (json!({"scp": "Graph.Read", "cnf": {}}), SenderConstrained),
    ] {
        assert_eq!(company.fault(&token(changes), NOW).await, Some(reason));
    }
    assert_eq!(company.fault(&company.good(), NOW).await, Some(Type));
}

#[tokio::test]
async fn a_custom_profile_maps_claims_as_configured() {
    let company = Company::with(|settings| {
        settings.profile = TokenProfile::Custom { types: vec!["JWT".into(), "at+jwt".into()] };
        settings.algorithms = vec![Algorithm::Rs256];
        settings.claims.scopes = vec![("pidq:all".into(), "read".into()), ("pidq:all".into(), "write".into())];
        settings.claims.tenant = TenantSource::Claim("org".into());
    })
    .await;
    let mut claims = company.claims();
    claims["scope"] = json!(["pidq:all", 7]);
    claims["org"] = json!("globex");
    claims["groups"] = json!(["a b", "", "c\n", 7, "c"]);
    claims["preferred_username"] = json!("ann");
    for kind in ["jwt", "application/at+jwt"] {
        let header = json!({"alg": "RS256", "typ": kind, "kid": "k1"}).to_string();
        let caller = company.ours.verify(&company.signer.token_of(&header, &claims.to_string()), NOW).await.unwrap();
        assert_eq!((caller.tenant.as_str(), caller.name.as_str()), ("globex", "ann"));
        assert_eq!(caller.scopes, ["read", "write"]);
        assert_eq!(caller.groups, ["a b", "c"]);
    }
    assert_eq!(company.fault(&company.good(), NOW).await, Some(NoTenant));
    let header = json!({"alg": "RS256", "typ": "dpop+jwt", "kid": "k1"}).to_string();
    assert_eq!(company.fault(&company.signer.token_of(&header, &claims.to_string()), NOW).await, Some(Type));
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
        ProviderSettings {
            root_certificates: Some("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----".into()),
            ..good.clone()
        },
    ] {
        assert!(Provider::new(bad.clone()).is_err(), "{bad:?}");
    }
}
