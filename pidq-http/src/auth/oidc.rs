//! Sign-on through a company's own provider: its access tokens, verified and read as callers.
//!
//! pidq keeps no login of these users. It is a resource server: the token says who they are, and a provider's keys say
//! that the token is true. See RFC 9068, section 4, and RFC 8725.
//!
//! The signatures are checked by `ring`. What is left of a JWT library then is a split at two dots, and doing that here
//! spares a clock that tests cannot move and a provider that is global to the process.

mod claims;
mod fetch;
mod jws;
mod keys;

use std::time::Duration;

use serde_json::{Map, Value};

use super::{AuthError, Caller, IdentityError, Moment};
use fetch::Fetcher;
use jws::Jws;
use keys::KeyRing;

pub use jws::Algorithm;

/// One provider, as its administrator describes it.
#[derive(Clone, Debug)]
pub struct ProviderSettings {
    /// Exactly as its tokens and its discovery document spell it.
    pub issuer: String,
    /// What its tokens name us by; one of these has to be among a token's audiences.
    pub audiences: Vec<String>,
    /// Where its keys are. Without it, the discovery document says so.
    pub jwks_uri: Option<String>,
    /// The algorithms that its tokens may be signed with.
    pub algorithms: Vec<Algorithm>,
    /// What its tokens look like.
    pub profile: Profile,
    /// How far its clock may be off; a minute at most.
    pub clock_skew: Duration,
    /// Certificates (PEM) of authorities to trust besides the public ones.
    pub authorities: Option<String>,
    /// What its claims mean here.
    pub claims: ClaimMap,
}

/// What tokens look like.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Profile {
    /// As RFC 9068 describes them.
    Rfc9068,
    /// As Microsoft Entra issues them, version 2.0, for these directories. Their type is always `JWT`, so what keeps ID
    /// tokens out is that `scp` or `roles` must be there.
    Entra {
        /// The values of `tid` that are let in.
        directories: Vec<String>,
    },
    /// As the administrator says.
    Custom {
        /// The values of `typ` that are let in; any if there are none.
        types: Vec<String>,
    },
}

/// What claims mean here.
#[derive(Clone, Debug)]
pub struct ClaimMap {
    /// The claim with the scopes: a text with spaces, or a list.
    pub scope: String,
    /// Scopes and roles of the provider, and what each is worth here: `read` or `write`.
    pub scopes: Vec<(String, String)>,
    /// The claim with the roles.
    pub roles: String,
    /// The roles whose holders may do everything in their tenant.
    pub admin_roles: Vec<String>,
    /// The claim with the groups.
    pub groups: String,
    /// Whose jobs the callers see.
    pub tenant: TenantFrom,
}

/// Whose jobs the callers of a provider see.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum TenantFrom {
    /// One tenant for all of them.
    Fixed(String),
    /// The value of a claim.
    Claim(String),
}

impl ProviderSettings {
    /// The settings of a provider that keeps to RFC 9068 and calls our scopes `read` and `write`.
    pub fn rfc9068(issuer: &str, audience: &str, tenant: TenantFrom) -> ProviderSettings {
        ProviderSettings {
            issuer: issuer.to_owned(),
            audiences: vec![audience.to_owned()],
            jwks_uri: None,
            algorithms: Algorithm::ALL.to_vec(),
            profile: Profile::Rfc9068,
            clock_skew: Duration::from_secs(30),
            authorities: None,
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

    /// The settings of Microsoft Entra for one directory.
    pub fn entra(directory: &str, audience: &str, tenant: TenantFrom) -> ProviderSettings {
        let issuer = format!("https://login.microsoftonline.com/{directory}/v2.0");
        let mut settings = ProviderSettings::rfc9068(&issuer, audience, tenant);
        settings.algorithms = vec![Algorithm::Rs256];
        settings.profile = Profile::Entra { directories: vec![directory.to_owned()] };
        settings.claims.scope = "scp".to_owned();
        settings
    }
}

/// Why a token of a provider is not accepted. For the log and for tests: the caller is told nothing of it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TokenFault {
    /// It has more than 16 KiB.
    Length,
    /// It is not three parts of base64url.
    Shape,
    /// Its header is not an object of JSON with each name once.
    Header,
    /// Its algorithm is not one of those listed.
    Algorithm,
    /// Its type is not that of an access token.
    Type,
    /// Its header demands something that we do not know.
    Critical,
    /// It is signed with a key that the provider does not have.
    Key,
    /// Its signature is wrong.
    Signature,
    /// Its claims are not an object of JSON with each name once.
    Claims,
    /// It is of another issuer.
    Issuer,
    /// It is for somebody else.
    Audience,
    /// It has expired.
    Expired,
    /// It is not valid yet.
    NotYet,
    /// A claim is missing or is of the wrong kind.
    Claim(&'static str),
    /// It is bound to a key that only its owner has. As a plain bearer token it would lose that protection.
    Bound,
    /// It is of a version that the profile does not know.
    Version,
    /// It is of a directory that is not let in.
    Directory,
    /// It is not for an API.
    NoScope,
    /// It belongs to no tenant.
    NoTenant,
    /// The provider's keys cannot be had.
    Unavailable,
}

const LONGEST_TOKEN: usize = 16 * 1024;
const MOST_SKEW: Duration = Duration::from_secs(60);

/// A provider whose tokens are accepted.
pub struct Provider {
    settings: ProviderSettings,
    keys: KeyRing,
}

impl Provider {
    /// Checks the settings. Asks the provider nothing before its first token comes.
    pub fn new(settings: ProviderSettings) -> Result<Provider, IdentityError> {
        check(&settings)?;
        let fetcher = Fetcher::new(settings.authorities.as_deref())?;
        let keys = KeyRing::new(fetcher, &settings);
        Ok(Provider { settings, keys })
    }

    /// How its tokens spell it.
    pub fn issuer(&self) -> &str {
        &self.settings.issuer
    }

    /// Whether a token says that it comes from here. That proves nothing yet.
    pub(crate) fn is_named_by(&self, token: &str) -> bool {
        let claims = sized(token).and_then(Jws::read).and_then(|jws| jws.claims());
        claims.is_ok_and(|claims| claims.get("iss").and_then(Value::as_str) == Some(self.issuer()))
    }

    /// Who a token stands for.
    pub async fn verify(&self, token: &str, now: Moment) -> Result<Caller, TokenFault> {
        Ok(self.verify_until(token, now).await?.0)
    }

    /// The same, and when the token ends.
    pub(crate) async fn verify_until(&self, token: &str, now: Moment) -> Result<(Caller, Moment), TokenFault> {
        let claims = self.verified_claims(token, now).await?;
        claims::check(&self.settings, &claims, now)?;
        Ok((claims::caller(&self.settings, &claims)?, claims::ends_at(&self.settings, &claims)?))
    }

    async fn verified_claims(&self, token: &str, now: Moment) -> Result<Map<String, Value>, TokenFault> {
        let jws = Jws::read(sized(token)?)?;
        let algorithm = jws.algorithm(&self.settings.algorithms)?;
        jws.refuse_demands()?;
        claims::check_type(&self.settings.profile, jws.kind())?;
        let candidates = self.keys.candidates(jws.key_id(), algorithm, now).await?;
        // Several keys may share an id; no provider has many of them.
        let is_signed = candidates.iter().take(4).any(|key| jws.is_signed_by(key, algorithm));
        if is_signed { jws.claims() } else { Err(TokenFault::Signature) }
    }
}

fn sized(token: &str) -> Result<&str, TokenFault> {
    if token.len() > LONGEST_TOKEN { Err(TokenFault::Length) } else { Ok(token) }
}

impl From<TokenFault> for AuthError {
    fn from(fault: TokenFault) -> AuthError {
        match fault {
            TokenFault::Expired => AuthError::Expired,
            TokenFault::Unavailable => AuthError::Unavailable(IdentityError::NoKeys),
            _ => AuthError::Invalid,
        }
    }
}

fn check(settings: &ProviderSettings) -> Result<(), IdentityError> {
    let refuse = |what: &str| Err(IdentityError::Refused(format!("single sign-on: {what}")));
    let urls = std::iter::once(&settings.issuer).chain(&settings.jwks_uri);
    if !urls.into_iter().all(|url| fetch::is_safe(url)) {
        return refuse("issuer and keys need `https:`; `http:` is for this machine alone");
    }
    if settings.audiences.is_empty() || settings.audiences.iter().any(String::is_empty) {
        return refuse("without an audience, tokens for other services would be let in");
    }
    if settings.algorithms.is_empty() {
        return refuse("no algorithm is listed");
    }
    if settings.clock_skew > MOST_SKEW {
        return refuse("the clock may be off by a minute at most");
    }
    if matches!(&settings.profile, Profile::Entra { directories } if directories.is_empty()) {
        return refuse("no directory is listed");
    }
    let is_ours = |scope: &str| ["read", "write"].contains(&scope);
    if !settings.claims.scopes.iter().all(|(_, ours)| is_ours(ours)) {
        return refuse("a scope can be worth `read` or `write`");
    }
    Ok(())
}
