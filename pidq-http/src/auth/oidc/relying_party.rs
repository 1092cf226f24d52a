//! Sign-in at a provider: authorization code flow with PKCE (OpenID Connect Core 1.0; RFC 7636, RFC 9207, RFC 9700).

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use form_urlencoded::Serializer;
use hyper::StatusCode;
use hyper::header::HeaderValue;
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

use super::discovery::Discovery;
use super::fetch::{Fetcher, is_secure_url};
use super::id_token::{self, Expected, ExpectedLogin, IdentifiedUser};
use super::jwks::JwksCache;
use super::{IdentityError, TokenError};
use crate::auth::secret::{constant_time_eq, digest, encode_digest, random};
use crate::auth::{Secret, Timestamp};

/// Time that the endpoints of a provider are kept.
const DISCOVERY_TTL: Duration = Duration::from_secs(5 * 60);
/// Minimum interval between attempts to discover the endpoints of a provider that does not respond.
const RETRY_INTERVAL: Duration = Duration::from_secs(5);
/// Maximum length of an error code of a provider in a message.
const ERROR_CODE_LENGTH: usize = 60;

/// Settings of a client of an identity provider.
#[derive(Clone, Debug)]
pub struct RelyingPartySettings {
    /// Issuer, exactly as in its tokens and its discovery document.
    pub issuer: String,
    /// Id of the client at the provider.
    pub client_id: String,
    /// Secret of the client; a public client has none.
    pub client_secret: Option<Secret>,
    /// URL that the provider sends the browser back to.
    pub redirect_uri: String,
    /// Requested scopes.
    pub scopes: Vec<String>,
    /// Service that the access tokens are for (RFC 8707), for providers that ask for it.
    pub resource: Option<String>,
    /// Root certificates (PEM) to trust in addition to the public ones.
    pub root_certificates: Option<String>,
}

/// Secrets of one sign-in, which stay with the browser that has started it.
#[derive(Clone, Deserialize, Serialize)]
pub struct LoginSecrets {
    state: String,
    nonce: String,
    verifier: String,
}

impl LoginSecrets {
    /// Creates the secrets of a sign-in.
    pub fn random() -> Result<LoginSecrets, IdentityError> {
        let secret = || Ok::<_, IdentityError>(URL_SAFE_NO_PAD.encode(random::<32>()?));
        Ok(LoginSecrets { state: secret()?, nonce: secret()?, verifier: secret()? })
    }
}

/// Parameters of the request by which the provider sends the browser back.
#[derive(Clone, Copy, Debug, Default)]
pub struct AuthorizationReply<'a> {
    /// State of the sign-in.
    pub state: Option<&'a str>,
    /// Authorization code.
    pub code: Option<&'a str>,
    /// Issuer (RFC 9207).
    pub issuer: Option<&'a str>,
    /// Error code instead of an authorization code.
    pub error: Option<&'a str>,
}

/// Tokens, as an OAuth server returns them.
#[derive(Clone, Deserialize)]
pub struct TokenReply {
    /// Access token.
    pub access_token: String,
    /// Type of the access token.
    #[serde(default)]
    pub token_type: String,
    /// Refresh token.
    #[serde(default)]
    pub refresh_token: Option<String>,
    /// Lifetime of the access token in seconds.
    #[serde(default)]
    pub expires_in: Option<i64>,
    /// Scopes, separated by spaces.
    #[serde(default)]
    pub scope: Option<String>,
    /// ID token.
    #[serde(default)]
    pub id_token: Option<String>,
}

/// User who has signed in at a provider.
pub struct ProviderLogin {
    /// Id of the user at the provider.
    pub subject: String,
    /// Name for people.
    pub name: String,
    /// Tokens, with a verified ID token.
    pub tokens: TokenReply,
}

/// Reason for a sign-in or a refresh that failed. Contains no secret.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum LoginError {
    /// The provider does not respond, or not as it has to.
    Unavailable(&'static str),
    /// The browser has not started this sign-in.
    State,
    /// The user or the provider denied access.
    Denied,
    /// The provider rejected the code or the refresh token.
    Rejected,
    /// The provider reports another error, with its code.
    Refused(String),
    /// The reply violates the protocol.
    Protocol(&'static str),
    /// The ID token is invalid.
    IdToken(TokenError),
}

impl fmt::Display for LoginError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoginError::Unavailable(reason) => write!(f, "the identity provider is unavailable: {reason}"),
            LoginError::State => f.write_str("the browser has not started this sign-in"),
            LoginError::Denied => f.write_str("access was denied"),
            LoginError::Rejected => f.write_str("the identity provider rejected the code or the refresh token"),
            LoginError::Refused(code) => write!(f, "the identity provider reports the error `{code}`"),
            LoginError::Protocol(reason) => write!(f, "the reply of the identity provider is invalid: {reason}"),
            LoginError::IdToken(error) => write!(f, "the ID token is invalid: {error:?}"),
        }
    }
}

impl From<TokenError> for LoginError {
    fn from(error: TokenError) -> LoginError {
        match error {
            TokenError::Unavailable => LoginError::Unavailable("its keys cannot be fetched"),
            error => LoginError::IdToken(error),
        }
    }
}

/// Client of an identity provider, at which users sign in.
pub struct RelyingParty {
    settings: RelyingPartySettings,
    fetcher: Fetcher,
    keys: JwksCache,
    discovered: Mutex<Discovered>,
}

/// Discovery document, and the time of the last attempt to fetch it.
#[derive(Default)]
struct Discovered {
    document: Option<(Arc<Discovery>, Instant)>,
    tried_at: Option<Instant>,
}

impl RelyingParty {
    /// Validates the settings. The provider is not contacted before the first sign-in.
    pub fn new(settings: RelyingPartySettings) -> Result<RelyingParty, IdentityError> {
        if !is_secure_url(&settings.issuer) {
            let reason = "the URL of the issuer must use `https:`; `http:` is allowed only on loopback";
            return Err(IdentityError::Invalid(format!("single sign-on: {reason}")));
        }
        let fetcher = Fetcher::new(settings.root_certificates.as_deref())?;
        let keys = JwksCache::new(fetcher.clone(), &settings.issuer, None);
        Ok(RelyingParty { settings, fetcher, keys, discovered: Mutex::default() })
    }

    /// Returns the URL at which a user signs in. `asks_again` asks for the user even if the provider knows who it is.
    pub async fn authorization_url(&self, secrets: &LoginSecrets, asks_again: bool) -> Result<String, LoginError> {
        let discovery = self.discovery().await?;
        let mut query = Serializer::new(String::new());
        query
            .append_pair("response_type", "code")
            .append_pair("client_id", &self.settings.client_id)
            .append_pair("redirect_uri", &self.settings.redirect_uri)
            .append_pair("scope", &self.settings.scopes.join(" "))
            .append_pair("state", &secrets.state)
            .append_pair("nonce", &secrets.nonce)
            .append_pair("code_challenge", &encode_digest(&digest(&secrets.verifier)))
            .append_pair("code_challenge_method", "S256");
        if asks_again {
            query.append_pair("prompt", "login");
        }
        self.add_resource(&mut query);
        Ok(with_query(endpoint(&discovery, "authorization_endpoint")?, &query.finish()))
    }

    /// Completes a sign-in: checks the reply against its secrets, exchanges the code, and verifies the ID token.
    pub async fn log_in(
        &self,
        reply: &AuthorizationReply<'_>,
        secrets: &LoginSecrets,
        now: Timestamp,
    ) -> Result<ProviderLogin, LoginError> {
        if !reply.state.is_some_and(|state| constant_time_eq(state, &secrets.state)) {
            return Err(LoginError::State);
        }
        let discovery = self.discovery().await?;
        self.check_issuer(&discovery, reply.issuer)?;
        let code = match (reply.error, reply.code) {
            (Some("access_denied"), _) => return Err(LoginError::Denied),
            (Some(error), _) => return Err(LoginError::Refused(error_code(error))),
            (None, Some(code)) => code,
            (None, None) => return Err(LoginError::Protocol("it has no code")),
        };
        let redirect_uri = &self.settings.redirect_uri;
        let grant = [
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", redirect_uri),
            ("code_verifier", &secrets.verifier),
        ];
        let tokens = self.tokens(&discovery, &grant).await?;
        let user = self.identify(&tokens, ExpectedLogin::Nonce(&secrets.nonce), now).await?;
        let user = user.ok_or(LoginError::Protocol("it has no ID token"))?;
        Ok(ProviderLogin { subject: user.subject, name: user.name, tokens })
    }

    /// Requests new tokens for a user. A new ID token has to be for the same user.
    pub async fn refresh(&self, token: &str, subject: &str, now: Timestamp) -> Result<TokenReply, LoginError> {
        let discovery = self.discovery().await?;
        let grant = [("grant_type", "refresh_token"), ("refresh_token", token)];
        let tokens = self.tokens(&discovery, &grant).await?;
        self.identify(&tokens, ExpectedLogin::Subject(subject), now).await?;
        Ok(tokens)
    }

    /// Revokes a token (RFC 7009). Returns `false` if the provider has no endpoint for it.
    pub async fn revoke(&self, token: &str) -> Result<bool, LoginError> {
        let discovery = self.discovery().await?;
        let Some(url) = discovery.url("revocation_endpoint") else { return Ok(false) };
        let (status, body) = self.post(&discovery, url, &[("token", token)]).await?;
        if status.is_success() { Ok(true) } else { Err(refusal(status, &body)) }
    }

    /// Returns the URL that ends the session at the provider (OpenID Connect RP-Initiated Logout 1.0), and then
    /// returns to `return_to`; `None` if the provider has none. It names the client and contains no token, since the
    /// browser opens it; therefore a provider may ask the user first.
    pub async fn end_session_url(&self, return_to: &str) -> Option<String> {
        let discovery = self.discovery().await.ok()?;
        let mut query = Serializer::new(String::new());
        query.append_pair("client_id", &self.settings.client_id).append_pair("post_logout_redirect_uri", return_to);
        Some(with_query(discovery.url("end_session_endpoint")?, &query.finish()))
    }

    /// Checks the issuer of a reply, against replies of another provider (RFC 9207).
    fn check_issuer(&self, discovery: &Discovery, issuer: Option<&str>) -> Result<(), LoginError> {
        match issuer {
            Some(issuer) if issuer != self.settings.issuer => Err(LoginError::Protocol("it is of another issuer")),
            None if discovery.is_set("authorization_response_iss_parameter_supported") => {
                Err(LoginError::Protocol("it has no issuer"))
            }
            _ => Ok(()),
        }
    }

    /// Requests tokens with the parameters of a grant.
    async fn tokens(&self, discovery: &Discovery, grant: &[(&str, &str)]) -> Result<TokenReply, LoginError> {
        let url = endpoint(discovery, "token_endpoint")?;
        let (status, body) = self.post(discovery, url, grant).await?;
        if !status.is_success() {
            return Err(refusal(status, &body));
        }
        let tokens: TokenReply =
            serde_json::from_slice(&body).map_err(|_| LoginError::Protocol("it has no access token"))?;
        if !tokens.token_type.eq_ignore_ascii_case("bearer") {
            return Err(LoginError::Protocol("its access token is no bearer token"));
        }
        Ok(tokens)
    }

    /// Verifies the ID token of a reply, if it has one.
    async fn identify(
        &self,
        tokens: &TokenReply,
        login: ExpectedLogin<'_>,
        now: Timestamp,
    ) -> Result<Option<IdentifiedUser>, LoginError> {
        let Some(token) = &tokens.id_token else { return Ok(None) };
        let (issuer, client_id) = (&*self.settings.issuer, &*self.settings.client_id);
        let expected = Expected { issuer, client_id, access_token: &tokens.access_token, login };
        Ok(Some(id_token::verify(token, &self.keys, &expected, now).await?))
    }

    /// Sends a form with the credentials of the client.
    async fn post(
        &self,
        discovery: &Discovery,
        url: &str,
        parameters: &[(&str, &str)],
    ) -> Result<(StatusCode, hyper::body::Bytes), LoginError> {
        let (form, authorization) = self.form(discovery, parameters)?;
        self.fetcher.post(url, form, authorization).await.map_err(LoginError::Unavailable)
    }

    /// Returns a form with the credentials of the client, which may be in a header instead.
    fn form(
        &self,
        discovery: &Discovery,
        parameters: &[(&str, &str)],
    ) -> Result<(String, Option<HeaderValue>), LoginError> {
        let mut form = Serializer::new(String::new());
        form.extend_pairs(parameters);
        let authorization = self.authenticate(discovery, &mut form)?;
        self.add_resource(&mut form);
        Ok((form.finish(), authorization))
    }

    /// Adds the credentials of the client to a form, or returns them as a header.
    fn authenticate(
        &self,
        discovery: &Discovery,
        form: &mut Serializer<'_, String>,
    ) -> Result<Option<HeaderValue>, LoginError> {
        let id = &self.settings.client_id;
        let Some(secret) = &self.settings.client_secret else {
            form.append_pair("client_id", id);
            return Ok(None);
        };
        // The default of OpenID Connect Discovery.
        if discovery.lists("token_endpoint_auth_methods_supported", "client_secret_basic").unwrap_or(true) {
            return basic(id, secret).map(Some);
        }
        form.append_pair("client_id", id).append_pair("client_secret", secret.expose());
        Ok(None)
    }

    fn add_resource(&self, form: &mut Serializer<'_, String>) {
        if let Some(resource) = &self.settings.resource {
            form.append_pair("resource", resource);
        }
    }

    /// Returns the discovery document. An old one is used while the provider does not respond.
    async fn discovery(&self) -> Result<Arc<Discovery>, LoginError> {
        let mut discovered = self.discovered.lock().await;
        let is_recent = |at: Instant, interval| at.elapsed() < interval;
        if let Some((document, fetched_at)) = &discovered.document
            && is_recent(*fetched_at, DISCOVERY_TTL)
        {
            return Ok(document.clone());
        }
        let old = discovered.document.as_ref().map(|(document, _)| document.clone());
        if discovered.tried_at.is_some_and(|at| is_recent(at, RETRY_INTERVAL)) {
            return old.ok_or(LoginError::Unavailable("it did not respond some seconds ago"));
        }
        match Discovery::fetch(&self.fetcher, &self.settings.issuer).await {
            Ok(document) => {
                let document = Arc::new(document);
                *discovered = Discovered { document: Some((document.clone(), Instant::now())), tried_at: None };
                Ok(document)
            }
            Err(reason) => {
                discovered.tried_at = Some(Instant::now());
                old.ok_or(LoginError::Unavailable(reason))
            }
        }
    }
}

fn endpoint<'a>(discovery: &'a Discovery, name: &'static str) -> Result<&'a str, LoginError> {
    discovery.url(name).ok_or(LoginError::Unavailable("its discovery document lacks an endpoint with `https:`"))
}

/// Returns the reason for an error response of an OAuth endpoint.
fn refusal(status: StatusCode, body: &[u8]) -> LoginError {
    #[derive(Default, Deserialize)]
    struct Refusal {
        #[serde(default)]
        error: String,
    }
    let Refusal { error } = serde_json::from_slice(body).unwrap_or_default();
    match &*error {
        "invalid_grant" => LoginError::Rejected,
        "" if status.is_server_error() => LoginError::Unavailable("it reports an internal error"),
        "" => LoginError::Refused(status.as_str().to_owned()),
        code => LoginError::Refused(error_code(code)),
    }
}

/// Returns an error code that is safe to log.
fn error_code(code: &str) -> String {
    code.chars()
        .filter(|letter| letter.is_ascii_alphanumeric() || "_-".contains(*letter))
        .take(ERROR_CODE_LENGTH)
        .collect()
}

/// Returns `Authorization: Basic` with the credentials of a client (RFC 6749, 2.3.1).
fn basic(id: &str, secret: &Secret) -> Result<HeaderValue, LoginError> {
    let encode = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    let pair = STANDARD.encode(format!("{}:{}", encode(id), encode(secret.expose())));
    let value = HeaderValue::try_from(format!("Basic {pair}"));
    let mut value = value.map_err(|_| LoginError::Protocol("the credentials cannot be sent"))?;
    value.set_sensitive(true);
    Ok(value)
}

fn with_query(url: &str, query: &str) -> String {
    let separator = if url.contains('?') { '&' } else { '?' };
    format!("{url}{separator}{query}")
}
