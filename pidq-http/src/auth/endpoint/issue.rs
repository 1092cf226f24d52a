//! `POST /o/token/`: something for a token.

use serde::Serialize;

use super::form::Form;
use super::reply::Refusal;
use super::{OAuthReply, OAuthRequest, client};
use crate::auth::accounts::{Known, Role, account_key, lower};
use crate::auth::clients::{Client, GrantType};
use crate::auth::sessions::{Login, NotRefreshed, Tokens};
use crate::auth::throttle::{Acquaintance, Attempt};
use crate::auth::{Identities, IdentityError, Moment, Network, Secret, audit};

/// One text for every reason: a wrong password, no such user, one that is shut out, one that must use single sign-on.
const BAD_CREDENTIALS: Refusal = Refusal::Credentials("Invalid credentials given.");
const BAD_REFRESH_TOKEN: Refusal = Refusal::Credentials("The refresh token is invalid, expired or used.");

/// Answers a request for tokens.
pub async fn token_endpoint(identities: &Identities, request: OAuthRequest<'_>) -> OAuthReply {
    match issue(identities, &request).await {
        Ok(tokens) => OAuthReply::json(200, &body(&tokens, request.now)),
        Err(refusal) => refusal.reply(),
    }
}

async fn issue(identities: &Identities, request: &OAuthRequest<'_>) -> Result<Tokens, Refusal> {
    let form = Form::read(request)?;
    let grant = GrantType::named(form.required("grant_type")?).ok_or(Refusal::GrantType)?;
    if grant == GrantType::Password && !identities.options().password_grant {
        return Err(Refusal::GrantType);
    }
    let client = client::authenticated(identities, request, &form).await?;
    if !client.grant_types.contains(&grant) {
        return Err(Refusal::Unauthorized);
    }
    match grant {
        GrantType::Password => by_password(identities, request, &form, &client).await,
        GrantType::RefreshToken => by_refresh_token(identities, request, &form, &client).await,
        GrantType::ClientCredentials => by_client_alone(identities, request, &form, &client).await,
    }
}

async fn by_password(
    identities: &Identities,
    request: &OAuthRequest<'_>,
    form: &Form,
    client: &Client,
) -> Result<Tokens, Refusal> {
    let login = lower(form.required("username")?);
    form.required("password")?;
    let user = verified_user(identities, request, form, client, &login).await?;
    let role = Role::named(&user.role).ok_or(Refusal::Scope)?;
    let held: Vec<&str> = client.scopes.iter().map(String::as_str).filter(|s| role.scopes.contains(s)).collect();
    let scope = granted(&held, &asked(form)?)?;
    let is_renewable = client.grant_types.contains(&GrantType::RefreshToken);
    let login = Login { client: &client.id, user: Some(&user.id), scope: &scope, is_renewable };
    Ok(identities.log_in(login, request.now).await?)
}

/// The user, if the password is right. The steps are the same for every reason why it is not.
async fn verified_user(
    identities: &Identities,
    request: &OAuthRequest<'_>,
    form: &Form,
    client: &Client,
    login: &str,
) -> Result<Known, Refusal> {
    let (account, network) = (account_key(login), Network::of(request.address));
    let attempt = identities.admit(&account, network, request.now).await.inspect_err(|refusal| {
        if matches!(refusal, Refusal::TooMany(_)) {
            audit::login("throttled", &client.id, None, network);
        }
    })?;
    let user = identities.known_user(login).await?;
    let usable = user.as_ref().filter(|user| may_log_in(user, client)).and_then(|user| user.password.clone());
    let password = form.required_secret("password")?;
    let is_right = match identities.passwords.verify(attempt.acquaintance(), password.clone(), usable).await {
        Err(IdentityError::Busy) => {
            attempt.withdrawn();
            return Err(Refusal::Unavailable);
        }
        other => other?,
    };
    let Some(user) = user.as_ref().filter(|_| is_right) else {
        audit::login("refused", &client.id, user.as_ref().map(|user| user.id.as_str()), network);
        return Err(BAD_CREDENTIALS);
    };
    attempt.succeeded();
    audit::login("accepted", &client.id, Some(&user.id), network);
    identities.remember(&account, network, request.now).await?;
    identities.renew_hash(user, password).await?;
    Ok(user.clone())
}

fn may_log_in(user: &Known, client: &Client) -> bool {
    user.may_use_password && client.tenant.as_ref().is_none_or(|tenant| *tenant == user.tenant)
}

async fn by_refresh_token(
    identities: &Identities,
    request: &OAuthRequest<'_>,
    form: &Form,
    client: &Client,
) -> Result<Tokens, Refusal> {
    let token = form.required("refresh_token")?;
    let asked = asked(form)?;
    let scope = (!asked.is_empty()).then_some(asked.as_slice());
    identities.refresh(client, token, scope, request.now).await.map_err(|reason| match reason {
        NotRefreshed::Token => BAD_REFRESH_TOKEN,
        NotRefreshed::Scope => Refusal::Scope,
        NotRefreshed::Failed(error) => error.into(),
    })
}

async fn by_client_alone(
    identities: &Identities,
    request: &OAuthRequest<'_>,
    form: &Form,
    client: &Client,
) -> Result<Tokens, Refusal> {
    let held: Vec<&str> = client.scopes.iter().map(String::as_str).collect();
    let scope = granted(&held, &asked(form)?)?;
    let login = Login { client: &client.id, user: None, scope: &scope, is_renewable: false };
    Ok(identities.log_in(login, request.now).await?)
}

/// The scopes that were asked for, each once, in their order. Some libraries complain about any other set.
fn asked(form: &Form) -> Result<Vec<&str>, Refusal> {
    let mut asked: Vec<&str> = Vec::new();
    for scope in form.optional("scope").unwrap_or("").split(' ').filter(|scope| !scope.is_empty()) {
        if !asked.contains(&scope) {
            asked.push(scope);
        }
    }
    Ok(asked)
}

fn granted(held: &[&str], asked: &[&str]) -> Result<String, Refusal> {
    if held.is_empty() || !asked.iter().all(|scope| held.contains(scope)) {
        return Err(Refusal::Scope);
    }
    Ok(if asked.is_empty() { held.join(" ") } else { asked.join(" ") })
}

/// The fields in the order of the contract.
#[derive(Serialize)]
struct Body<'a> {
    access_token: &'a str,
    token_type: &'static str,
    expires_in: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    refresh_token: Option<&'a str>,
    scope: &'a str,
}

fn body(tokens: &Tokens, now: Moment) -> Body<'_> {
    Body {
        access_token: tokens.access.expose(),
        token_type: "Bearer",
        expires_in: i64::try_from(tokens.expires_at.since(now).as_secs()).unwrap_or(0),
        refresh_token: tokens.refresh.as_ref().map(Secret::expose),
        scope: &tokens.scope,
    }
}

const IS_KNOWN: &str = "select seen_at from known_networks where account = $1 and network = $2 and seen_at > $3";
const REMEMBER: &str = "insert into known_networks (account, network, seen_at) values ($1, $2, $3)
  on conflict (account, network) do update set seen_at = excluded.seen_at";
const REMEMBERED_FOR: std::time::Duration = std::time::Duration::from_secs(30 * 24 * 60 * 60);

impl Identities {
    async fn admit(&self, account: &str, network: Network, now: Moment) -> Result<Attempt<'_>, Refusal> {
        let acquaintance = self.acquaintance(account, network, now).await?;
        Ok(self.throttle.admit(account, network, acquaintance, now)?)
    }

    async fn acquaintance(&self, account: &str, network: Network, now: Moment) -> Result<Acquaintance, IdentityError> {
        let (network, since) = (network.to_string(), (now - REMEMBERED_FOR).0);
        let args = [account.into(), (&network).into(), since.into()];
        let row = self.database.row::<(i64,)>(IS_KNOWN, &args).await?;
        Ok(if row.is_some() { Acquaintance::Known } else { Acquaintance::Stranger })
    }

    async fn remember(&self, account: &str, network: Network, now: Moment) -> Result<(), IdentityError> {
        self.database.execute(REMEMBER, &[account.into(), (&network.to_string()).into(), now.0.into()]).await?;
        Ok(())
    }

    /// Hashes a password anew that was hashed at another cost. If the server is busy, the next login will do it.
    async fn renew_hash(&self, user: &Known, password: zeroize::Zeroizing<String>) -> Result<(), IdentityError> {
        let is_outdated = user.password.as_deref().is_some_and(|hash| self.passwords.is_outdated(hash));
        if !is_outdated {
            return Ok(());
        }
        match self.passwords.hash(password).await {
            Err(IdentityError::Busy) => Ok(()),
            hash => self.keep_hash(&user.id, &hash?).await,
        }
    }
}
