//! Single sign-on: verification of access tokens of an identity provider, and sign-in at the provider.
//!
//! pidq is a resource server and stores no login of these users: the token names the user, and the provider's keys
//! verify the token. See RFC 9068, section 4, and RFC 8725. The dashboard is a client of the provider
//! ([`RelyingParty`]), which gets such tokens.
//!
//! `ring` verifies the signatures. A JWT library would only split the token at its dots, and would bring its own
//! clock and a process-wide crypto provider.

mod claims;
mod discovery;
mod fetch;
mod id_token;
mod jwks;
mod jws;
mod relying_party;
#[cfg(test)]
mod signature_vectors;

use std::time::Duration;

use serde_json::{Map, Value};

use super::{AuthError, Caller, IdentityError, Timestamp};
use fetch::Fetcher;
use jwks::JwksCache;
use jws::Jws;

pub use jws::Algorithm;
pub use relying_party::{
    AuthorizationReply, LoginError, LoginSecrets, ProviderLogin, RelyingParty, RelyingPartySettings, TokenReply,
};

/// Settings of an identity provider.
#[derive(Clone, Debug)]
pub struct ProviderSettings {
    /// Issuer, exactly as in its tokens and its discovery document.
    pub issuer: String,
    /// Accepted audiences; a token must contain one of them.
    pub audiences: Vec<String>,
    /// URL of its keys. If absent, it is discovered.
    pub jwks_uri: Option<String>,
    /// Accepted signature algorithms.
    pub algorithms: Vec<Algorithm>,
    /// Token profile.
    pub profile: TokenProfile,
    /// Tolerated clock difference; at most a minute.
    pub clock_skew: Duration,
    /// Root certificates (PEM) to trust in addition to the public ones.
    pub root_certificates: Option<String>,
    /// Meaning of its claims.
    pub claims: ClaimMap,
}

/// Format of the tokens.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum TokenProfile {
    /// RFC 9068.
    Rfc9068,
    /// Microsoft Entra, version 2.0, for these directories. The type of all its tokens is `JWT`; `scp` or `roles`
    /// must be present, which excludes ID tokens.
    Entra {
        /// Accepted values of `tid`.
        directories: Vec<String>,
    },
    /// Custom format.
    Custom {
        /// Accepted values of `typ`; any if empty.
        types: Vec<String>,
    },
}

/// Mapping of claims.
#[derive(Clone, Debug)]
pub struct ClaimMap {
    /// Claim with the scopes: a space-separated string, or an array.
    pub scope: String,
    /// Scopes and roles of the provider, each with the local scope: `read` or `write`.
    pub scopes: Vec<(String, String)>,
    /// Claim with the roles; like the others, it may be inside of another one, as in `realm_access.roles`.
    pub roles: String,
    /// Roles with all rights in their tenant.
    pub admin_roles: Vec<String>,
    /// Claim with the groups.
    pub groups: String,
    /// Tenant of the callers.
    pub tenant: TenantSource,
}

/// Source of the tenant of a provider's callers.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum TenantSource {
    /// One tenant for all callers.
    Fixed(String),
    /// Value of a claim.
    Claim(String),
}

impl ProviderSettings {
    /// Returns the settings of a provider that follows RFC 9068 and uses the scopes `read` and `write`.
    pub fn rfc9068(issuer: &str, audience: &str, tenant: TenantSource) -> ProviderSettings {
        ProviderSettings {
            issuer: issuer.to_owned(),
            audiences: vec![audience.to_owned()],
            jwks_uri: None,
            algorithms: Algorithm::ALL.to_vec(),
            profile: TokenProfile::Rfc9068,
            clock_skew: Duration::from_secs(30),
            root_certificates: None,
            claims: ClaimMap {
                scope: "scope".to_owned(),
                scopes: ["read", "write"].map(|scope| (scope.to_owned(), scope.to_owned())).to_vec(),
                roles: "roles".to_owned(),
                admin_roles: Vec::new(),
                groups: "groups".to_owned(),
                tenant,
            },
        }
    }

    /// Returns the settings of Microsoft Entra for one directory.
    pub fn entra(directory: &str, audience: &str, tenant: TenantSource) -> ProviderSettings {
        let issuer = format!("https://login.microsoftonline.com/{directory}/v2.0");
        let mut settings = ProviderSettings::rfc9068(&issuer, audience, tenant);
        settings.algorithms = vec![Algorithm::Rs256];
        settings.profile = TokenProfile::Entra { directories: vec![directory.to_owned()] };
        settings.claims.scope = "scp".to_owned();
        settings
    }
}

/// Reason for rejecting a token of a provider, for the log and for tests. The caller does not learn it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TokenError {
    /// Longer than 16 KiB.
    Length,
    /// Not three parts of base64url.
    Malformed,
    /// The header is not a JSON object with unique names.
    Header,
    /// The algorithm is not accepted.
    Algorithm,
    /// Not an access token.
    Type,
    /// The header contains an unsupported critical parameter.
    Critical,
    /// Signed with an unknown key.
    Key,
    /// Invalid signature.
    Signature,
    /// The claims are not a JSON object with unique names.
    Claims,
    /// Wrong issuer.
    Issuer,
    /// Wrong audience.
    Audience,
    /// Expired.
    Expired,
    /// Not valid yet.
    NotYetValid,
    /// A claim is missing or has the wrong type.
    Claim(&'static str),
    /// Sender-constrained to a key. Accepting it as a plain bearer token would remove that protection.
    SenderConstrained,
    /// Unsupported version.
    Version,
    /// Directory not accepted.
    Directory,
    /// Not a token for an API.
    NoScope,
    /// No tenant.
    NoTenant,
    /// ID token of another sign-in.
    Nonce,
    /// ID token issued to another client.
    AuthorizedParty,
    /// ID token for another access token.
    AccessTokenHash,
    /// ID token of another user.
    Subject,
    /// The provider's keys are unavailable.
    Unavailable,
}

const TOKEN_SIZE_LIMIT: usize = 16 * 1024;
const CLOCK_SKEW_LIMIT: Duration = Duration::from_secs(60);

/// Identity provider whose tokens are accepted.
pub struct Provider {
    settings: ProviderSettings,
    keys: JwksCache,
}

impl Provider {
    /// Validates the settings. The provider is contacted for its first token, or by [`Provider::prefetch_keys`].
    pub fn new(settings: ProviderSettings) -> Result<Provider, IdentityError> {
        check(&settings)?;
        let fetcher = Fetcher::new(settings.root_certificates.as_deref())?;
        let keys = JwksCache::new(fetcher, &settings.issuer, settings.jwks_uri.as_deref());
        Ok(Provider { settings, keys })
    }

    /// Fetches the keys before the first token, and logs why if that fails.
    pub async fn prefetch_keys(&self, now: Timestamp) {
        self.keys.prefetch(now).await;
    }

    /// Returns the issuer.
    pub fn issuer(&self) -> &str {
        &self.settings.issuer
    }

    /// Returns whether a token names this issuer. It is not verified yet.
    pub(crate) fn is_issuer_of(&self, token: &str) -> bool {
        let claims = check_size(token).and_then(Jws::parse).and_then(|jws| jws.claims());
        claims.is_ok_and(|claims| claims.get("iss").and_then(Value::as_str) == Some(self.issuer()))
    }

    /// Verifies a token and returns its caller.
    pub async fn verify(&self, token: &str, now: Timestamp) -> Result<Caller, TokenError> {
        Ok(self.verify_until(token, now).await?.0)
    }

    /// Verifies a token and returns its caller and expiry.
    pub(crate) async fn verify_until(&self, token: &str, now: Timestamp) -> Result<(Caller, Timestamp), TokenError> {
        let check_type = |kind: Option<&str>| claims::check_type(&self.settings.profile, kind);
        let (_, claims) = verified_claims(token, &self.settings.algorithms, &self.keys, check_type, now).await?;
        claims::check(&self.settings, &claims, now)?;
        Ok((claims::caller(&self.settings, &claims)?, claims::expires_at(&claims, self.settings.clock_skew)?))
    }
}

/// Verifies the signature of a token, and returns its algorithm and claims.
async fn verified_claims(
    token: &str,
    algorithms: &[Algorithm],
    keys: &JwksCache,
    check_type: impl Fn(Option<&str>) -> Result<(), TokenError>,
    now: Timestamp,
) -> Result<(Algorithm, Map<String, Value>), TokenError> {
    let jws = Jws::parse(check_size(token)?)?;
    let algorithm = jws.algorithm(algorithms)?;
    jws.reject_critical_headers()?;
    check_type(jws.kind())?;
    let candidates = keys.candidates(jws.key_id(), algorithm, now).await?;
    // Several keys may share an id, but not many.
    let is_signed = candidates.iter().take(4).any(|key| jws.is_signed_by(key, algorithm));
    if is_signed { Ok((algorithm, jws.claims()?)) } else { Err(TokenError::Signature) }
}

fn check_size(token: &str) -> Result<&str, TokenError> {
    if token.len() > TOKEN_SIZE_LIMIT { Err(TokenError::Length) } else { Ok(token) }
}

impl From<TokenError> for AuthError {
    fn from(error: TokenError) -> AuthError {
        match error {
            TokenError::Expired => AuthError::Expired,
            TokenError::Unavailable => AuthError::Unavailable(IdentityError::KeysUnavailable),
            _ => AuthError::Invalid,
        }
    }
}

fn check(settings: &ProviderSettings) -> Result<(), IdentityError> {
    let refuse = |what: &str| Err(IdentityError::Invalid(format!("single sign-on: {what}")));
    let urls = std::iter::once(&settings.issuer).chain(&settings.jwks_uri);
    if !urls.into_iter().all(|url| fetch::is_secure_url(url)) {
        return refuse("the URLs of the issuer and its keys must use `https:`; `http:` is allowed only on loopback");
    }
    if settings.audiences.is_empty() || settings.audiences.iter().any(String::is_empty) {
        return refuse("no audience is listed: tokens for other services would be accepted");
    }
    if settings.algorithms.is_empty() {
        return refuse("no algorithm is listed");
    }
    if settings.clock_skew > CLOCK_SKEW_LIMIT {
        return refuse("the clock skew must be at most one minute");
    }
    if matches!(&settings.profile, TokenProfile::Entra { directories } if directories.is_empty()) {
        return refuse("no Entra directory (tenant) is listed");
    }
    let is_for_several = |part: &str| ["common", "organizations", "consumers", "{tenantid}"].contains(&part);
    if matches!(settings.profile, TokenProfile::Entra { .. }) && settings.issuer.split('/').any(is_for_several) {
        return refuse(
            "the issuer must name one Entra directory, as its tokens do: `https://login.microsoftonline.com/DIRECTORY/v2.0`; \
             people of other directories are invited as guests",
        );
    }
    let is_local_scope = |scope: &str| ["read", "write"].contains(&scope);
    if !settings.claims.scopes.iter().all(|(_, scope)| is_local_scope(scope)) {
        return refuse("a scope must map to `read` or `write`");
    }
    Ok(())
}
