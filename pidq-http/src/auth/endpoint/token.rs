//! Token endpoint: `POST /o/token/`.

use schemars::JsonSchema;
use serde::Serialize;

use super::form::OAuthForm;
use super::reply::OAuthError;
use super::{OAuthReply, OAuthRequest, client};
use crate::auth::accounts::{LoginUser, Role, account_key, normalize_login};
use crate::auth::clients::{Client, GrantType};
use crate::auth::login_throttle::{Attempt, NetworkTrust};
use crate::auth::tokens::{Login, RefreshError, Tokens};
use crate::auth::{ClientNetwork, Identities, IdentityError, Secret, Timestamp, audit};

/// Same text for every reason: wrong password, unknown or disabled user, single sign-on required.
const BAD_CREDENTIALS: OAuthError = OAuthError::Credentials("Invalid credentials given.");
const BAD_REFRESH_TOKEN: OAuthError = OAuthError::Credentials("The refresh token is invalid, expired or already used.");

/// Handles a token request.
pub async fn token_endpoint(identities: &Identities, request: OAuthRequest<'_>) -> OAuthReply {
    match issue(identities, &request).await {
        Ok(tokens) => OAuthReply::json(200, &body(&tokens, request.now)),
        Err(error) => error.reply(),
    }
}

async fn issue(identities: &Identities, request: &OAuthRequest<'_>) -> Result<Tokens, OAuthError> {
    let form = OAuthForm::parse(request)?;
    let grant = GrantType::from_name(form.required("grant_type")?).ok_or(OAuthError::GrantType)?;
    if grant == GrantType::Password && !identities.options().password_grant {
        return Err(OAuthError::GrantType);
    }
    let client = client::authenticate(identities, request, &form).await?;
    if !client.grant_types.contains(&grant) {
        return Err(OAuthError::Unauthorized);
    }
    match grant {
        GrantType::Password => by_password(identities, request, &form, &client).await,
        GrantType::RefreshToken => by_refresh_token(identities, request, &form, &client).await,
        GrantType::ClientCredentials => by_client_credentials(identities, request, &form, &client).await,
    }
}

async fn by_password(
    identities: &Identities,
    request: &OAuthRequest<'_>,
    form: &OAuthForm,
    client: &Client,
) -> Result<Tokens, OAuthError> {
    let login = normalize_login(form.required("username")?);
    form.required("password")?;
    let user = verified_user(identities, request, form, client, &login).await?;
    let role = Role::from_name(&user.role).ok_or(OAuthError::Scope)?;
    let allowed: Vec<&str> = client.scopes.iter().map(String::as_str).filter(|s| role.scopes.contains(s)).collect();
    let scope = granted_scope(&allowed, &requested_scopes(form)?)?;
    let is_renewable = client.grant_types.contains(&GrantType::RefreshToken);
    let login = Login { client: &client.id, user: Some(&user.id), scope: &scope, is_renewable };
    Ok(identities.log_in(login, request.now).await?)
}

/// Verifies the password. All failures take the same steps.
async fn verified_user(
    identities: &Identities,
    request: &OAuthRequest<'_>,
    form: &OAuthForm,
    client: &Client,
    login: &str,
) -> Result<LoginUser, OAuthError> {
    let (account, network) = (account_key(login), ClientNetwork::from_address(request.address));
    let attempt = identities.start_login_attempt(&account, network, request.now).await.inspect_err(|error| {
        if matches!(error, OAuthError::Throttled(_)) {
            audit::login("throttled", &client.id, None, network);
        }
    })?;
    let user = identities.user_for_login(login).await?;
    let usable = user.as_ref().filter(|user| may_log_in(user, client)).and_then(|user| user.password.clone());
    let password = form.required_secret("password")?;
    let is_right = match identities.passwords.verify(attempt.network_trust(), password.clone(), usable).await {
        Err(IdentityError::Busy) => {
            attempt.withdraw();
            return Err(OAuthError::Unavailable);
        }
        other => other?,
    };
    let Some(user) = user.as_ref().filter(|_| is_right) else {
        audit::login("refused", &client.id, user.as_ref().map(|user| user.id.as_str()), network);
        if let Some(first) =
            identities.first_password.as_ref().filter(|_| user.is_some_and(|user| user.may_use_password))
        {
            first.warn_if_used(login, &password);
        }
        return Err(BAD_CREDENTIALS);
    };
    attempt.succeed();
    audit::login("accepted", &client.id, Some(&user.id), network);
    identities.store_known_network(&account, network, request.now).await?;
    identities.rehash_if_outdated(user, password).await?;
    Ok(user.clone())
}

fn may_log_in(user: &LoginUser, client: &Client) -> bool {
    user.may_use_password && client.tenant.as_ref().is_none_or(|tenant| *tenant == user.tenant)
}

async fn by_refresh_token(
    identities: &Identities,
    request: &OAuthRequest<'_>,
    form: &OAuthForm,
    client: &Client,
) -> Result<Tokens, OAuthError> {
    let token = form.required("refresh_token")?;
    let requested_scopes = requested_scopes(form)?;
    let scope = (!requested_scopes.is_empty()).then_some(requested_scopes.as_slice());
    identities.refresh(client, token, scope, request.now).await.map_err(|reason| match reason {
        RefreshError::InvalidToken => BAD_REFRESH_TOKEN,
        RefreshError::Scope => OAuthError::Scope,
        RefreshError::Failed(error) => error.into(),
    })
}

async fn by_client_credentials(
    identities: &Identities,
    request: &OAuthRequest<'_>,
    form: &OAuthForm,
    client: &Client,
) -> Result<Tokens, OAuthError> {
    let allowed: Vec<&str> = client.scopes.iter().map(String::as_str).collect();
    let scope = granted_scope(&allowed, &requested_scopes(form)?)?;
    let login = Login { client: &client.id, user: None, scope: &scope, is_renewable: false };
    Ok(identities.log_in(login, request.now).await?)
}

/// Returns the requested scopes without duplicates, in order. Some libraries reject any other set.
fn requested_scopes(form: &OAuthForm) -> Result<Vec<&str>, OAuthError> {
    let mut requested_scopes: Vec<&str> = Vec::new();
    for scope in form.optional("scope").unwrap_or("").split(' ').filter(|scope| !scope.is_empty()) {
        if !requested_scopes.contains(&scope) {
            requested_scopes.push(scope);
        }
    }
    Ok(requested_scopes)
}

fn granted_scope(allowed: &[&str], requested_scopes: &[&str]) -> Result<String, OAuthError> {
    if allowed.is_empty() || !requested_scopes.iter().all(|scope| allowed.contains(scope)) {
        return Err(OAuthError::Scope);
    }
    Ok(if requested_scopes.is_empty() { allowed.join(" ") } else { requested_scopes.join(" ") })
}

/// Issued token (RFC 6749, 5.1).
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Token")]
pub struct TokenResponse<'a> {
    /// Access token, for the header `Authorization: Bearer`.
    access_token: &'a str,
    /// Token type (RFC 6750).
    #[schemars(extend("const" = "Bearer"))]
    token_type: &'static str,
    /// Lifetime of the access token, in seconds.
    #[schemars(range(min = 0))]
    expires_in: i64,
    /// Token for the grant `refresh_token`. Absent if the client does not have this grant.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    refresh_token: Option<&'a str>,
    /// Granted scopes, separated by spaces.
    scope: &'a str,
}

fn body(tokens: &Tokens, now: Timestamp) -> TokenResponse<'_> {
    TokenResponse {
        access_token: tokens.access.expose(),
        token_type: "Bearer",
        expires_in: i64::try_from(tokens.expires_at.since(now).as_secs()).unwrap_or(0),
        refresh_token: tokens.refresh.as_ref().map(Secret::expose),
        scope: &tokens.scope,
    }
}

const FIND_KNOWN_NETWORK: &str =
    "select seen_at from known_networks where account = $1 and network = $2 and seen_at > $3";
const STORE_KNOWN_NETWORK: &str = "insert into known_networks (account, network, seen_at) values ($1, $2, $3)
  on conflict (account, network) do update set seen_at = excluded.seen_at";
const KNOWN_NETWORK_RETENTION: std::time::Duration = std::time::Duration::from_secs(30 * 24 * 60 * 60);

impl Identities {
    async fn start_login_attempt(
        &self,
        account: &str,
        network: ClientNetwork,
        now: Timestamp,
    ) -> Result<Attempt<'_>, OAuthError> {
        let network_trust = self.network_trust(account, network, now).await?;
        Ok(self.throttle.start_attempt(account, network, network_trust, now).await?)
    }

    /// Returns whether the account logged in from the network before.
    pub(in crate::auth) async fn network_trust(
        &self,
        account: &str,
        network: ClientNetwork,
        now: Timestamp,
    ) -> Result<NetworkTrust, IdentityError> {
        let (network, since) = (network.to_string(), (now - KNOWN_NETWORK_RETENTION).0);
        let args = [account.into(), (&network).into(), since.into()];
        let row = self.database.row::<(i64,)>(FIND_KNOWN_NETWORK, &args).await?;
        Ok(if row.is_some() { NetworkTrust::Known } else { NetworkTrust::Unknown })
    }

    async fn store_known_network(
        &self,
        account: &str,
        network: ClientNetwork,
        now: Timestamp,
    ) -> Result<(), IdentityError> {
        self.database
            .execute(STORE_KNOWN_NETWORK, &[account.into(), (&network.to_string()).into(), now.0.into()])
            .await?;
        Ok(())
    }

    /// Rehashes a password whose hash has another cost. If the server is busy, the next login does it.
    async fn rehash_if_outdated(
        &self,
        user: &LoginUser,
        password: zeroize::Zeroizing<String>,
    ) -> Result<(), IdentityError> {
        let is_outdated = user.password.as_deref().is_some_and(|hash| self.passwords.is_outdated(hash));
        if !is_outdated {
            return Ok(());
        }
        match self.passwords.hash(password).await {
            Err(IdentityError::Busy) => Ok(()),
            hash => self.store_password_hash(&user.id, &hash?).await,
        }
    }
}
