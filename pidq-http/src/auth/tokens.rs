//! Access and refresh tokens. All tokens of one login form a family, which is revoked as a whole.
//!
//! A token is 256 random bits; only its fingerprint is stored. A refresh token is valid once. Reuse may indicate
//! theft, so it revokes the family. If the response was lost, the same pair can be fetched again for a few seconds,
//! see [`token_pair_crypto`].

mod token_pair_crypto;

use super::clients::Client;
use super::secret::{Secret, fingerprint, random_id};
use super::{Identities, IdentityError, Timestamp, audit};
use crate::database::{Arg, Transaction};

/// Issued tokens.
pub(crate) struct Tokens {
    pub(crate) access: Secret,
    pub(crate) refresh: Option<Secret>,
    pub(crate) expires_at: Timestamp,
    pub(crate) scope: String,
}

/// Login to issue tokens for.
pub(crate) struct Login<'a> {
    pub(crate) client: &'a str,
    pub(crate) user: Option<&'a str>,
    pub(crate) scope: &'a str,
    pub(crate) is_renewable: bool,
}

/// Error of a refresh.
pub(crate) enum RefreshError {
    /// The token is unknown, expired, used, revoked or belongs to another client.
    InvalidToken,
    /// The requested scope exceeds that of the login.
    Scope,
    /// The look-up failed.
    Failed(IdentityError),
}

impl<E: Into<IdentityError>> From<E> for RefreshError {
    fn from(error: E) -> RefreshError {
        RefreshError::Failed(error.into())
    }
}

/// State of an access or refresh token.
pub(crate) struct TokenInfo {
    pub(crate) family: String,
    pub(crate) client: String,
    pub(crate) user: Option<(String, String)>,
    pub(crate) scope: String,
    pub(crate) issued_at: Timestamp,
    pub(crate) expires_at: Timestamp,
    pub(crate) is_access: bool,
    pub(crate) is_active: bool,
}

pub(crate) const ACCESS_PREFIX: &str = "pidq_at_";
const REFRESH_PREFIX: &str = "pidq_rt_";

const INSERT_FAMILY: &str = "insert into token_families (id, client_id, user_id, scope, created_at, expires_at)
  values ($1, $2, $3, $4, $5, $6)";
const INSERT_ACCESS: &str = "insert into access_tokens (hash, family_id, scope, issued_at, expires_at)
  values ($1, $2, $3, $4, $5)";
const INSERT_REFRESH: &str = "insert into refresh_tokens (hash, family_id, previous, issued_at, expires_at)
  values ($1, $2, $3, $4, $5)";
const REFRESH_TOKEN: &str = "select r.family_id, r.expires_at, r.used_at, r.next_pair, f.client_id, f.scope,
    f.expires_at, f.revoked_at, u.disabled_at
  from refresh_tokens r join token_families f on f.id = r.family_id left join users u on u.id = f.user_id
  where r.hash = $1";
// Of concurrent requests with the same token, the database lets one succeed.
const MARK_USED: &str = "update refresh_tokens set used_at = $2, next_pair = $3 where hash = $1 and used_at is null
  and exists (select 1 from token_families f where f.id = refresh_tokens.family_id and f.revoked_at is null)";
// Once a pair is used, the response to the previous token cannot have been lost.
const CLEAR_NEXT_PAIR: &str = "update refresh_tokens set next_pair = null
  where hash = (select t.previous from refresh_tokens t where t.hash = $1)";
const REVOKE_FAMILY: &str = "update token_families set revoked_at = $2 where id = $1 and revoked_at is null";
const REVOKE_BY_USER: &str = "update token_families set revoked_at = $2 where user_id = $1 and revoked_at is null";
const REVOKE_BY_CLIENT: &str = "update token_families set revoked_at = $2 where client_id = $1 and revoked_at is null";
const ACCESS_TOKEN_INFO: &str = "select f.id, f.client_id, u.id, u.login, a.scope, a.issued_at, a.expires_at,
    cast(case when f.revoked_at is null and u.disabled_at is null and c.disabled_at is null
      then 1 else 0 end as bigint)
  from access_tokens a join token_families f on f.id = a.family_id join clients c on c.id = f.client_id
    left join users u on u.id = f.user_id
  where a.hash = $1";
const REFRESH_TOKEN_INFO: &str = "select f.id, f.client_id, u.id, u.login, f.scope, r.issued_at, r.expires_at,
    cast(case when f.revoked_at is null and u.disabled_at is null and c.disabled_at is null and r.used_at is null
      then 1 else 0 end as bigint)
  from refresh_tokens r join token_families f on f.id = r.family_id join clients c on c.id = f.client_id
    left join users u on u.id = f.user_id
  where r.hash = $1";
const PURGE: [(&str, Retention); 5] = [
    ("update refresh_tokens set next_pair = null where next_pair is not null and used_at < $1", Retention::Grace),
    ("delete from access_tokens where expires_at < $1", Retention::Day),
    ("delete from token_families where expires_at < $1", Retention::Day),
    ("delete from token_families where revoked_at < $1", Retention::Month),
    ("delete from known_networks where seen_at < $1", Retention::Month),
];

/// Retention of expired rows.
#[derive(Clone, Copy)]
enum Retention {
    Grace,
    Day,
    Month,
}

type RefreshRow = (String, i64, Option<i64>, Option<String>, String, String, i64, Option<i64>, Option<i64>);
type TokenInfoRow = (String, String, Option<String>, Option<String>, String, i64, i64, i64);

struct RefreshToken {
    family: String,
    expires_at: Timestamp,
    used_at: Option<Timestamp>,
    next_pair: Option<String>,
    client: String,
    scope: String,
    login_expires_at: Timestamp,
    is_revoked: bool,
}

impl Identities {
    /// Creates a token family and issues its first tokens.
    pub(crate) async fn log_in(&self, login: Login<'_>, now: Timestamp) -> Result<Tokens, IdentityError> {
        let family = random_id("f_")?;
        let expires_at = now + self.options.login_ttl;
        let tokens = self.mint(login.scope.to_owned(), login.is_renewable, expires_at, now)?;
        let mut tx = self.database.begin().await?;
        let args = [
            (&family).into(),
            login.client.into(),
            login.user.into(),
            login.scope.into(),
            now.0.into(),
            expires_at.0.into(),
        ];
        tx.execute(INSERT_FAMILY, &args).await?;
        self.store(&mut tx, &tokens, &family, None, expires_at, now).await?;
        tx.commit().await?;
        Ok(tokens)
    }

    /// Exchanges a refresh token for the next pair. `scope` is the requested scope, if any.
    pub(crate) async fn refresh(
        &self,
        client: &Client,
        token: &str,
        scope: Option<&[&str]>,
        now: Timestamp,
    ) -> Result<Tokens, RefreshError> {
        // A request that loses the race finds the token used on the next iteration, and gets the pair of the winner.
        for _ in 0..3 {
            let found = self.refresh_token(token).await?.ok_or(RefreshError::InvalidToken)?;
            if found.client != client.id || found.is_revoked || found.login_expires_at <= now {
                return Err(RefreshError::InvalidToken);
            }
            if found.used_at.is_some() {
                return self.replay(&found, token, scope, now).await;
            }
            if found.expires_at <= now {
                return Err(RefreshError::InvalidToken);
            }
            let scope = narrow_scope(&found.scope, scope).ok_or(RefreshError::Scope)?;
            if let Some(tokens) = self.rotate(&found, token, scope, now).await? {
                return Ok(tokens);
            }
        }
        Err(RefreshError::InvalidToken)
    }

    async fn refresh_token(&self, token: &str) -> Result<Option<RefreshToken>, IdentityError> {
        let row = self.database.row::<RefreshRow>(REFRESH_TOKEN, &[(&fingerprint(token)).into()]).await?;
        Ok(row.map(refresh_token))
    }

    /// Returns the same pair again if its response may have been lost. Otherwise the token was reused, possibly by a
    /// thief: the family is revoked, and the user must log in again.
    async fn replay(
        &self,
        found: &RefreshToken,
        token: &str,
        scope: Option<&[&str]>,
        now: Timestamp,
    ) -> Result<Tokens, RefreshError> {
        let is_in_time = found.used_at.is_some_and(|used_at| now.distance(used_at) < self.options.refresh_grace);
        let next_pair = found.next_pair.as_deref().filter(|_| is_in_time);
        let Some(tokens) = next_pair.and_then(|next_pair| token_pair_crypto::decrypt(next_pair, token, &found.family))
        else {
            audit::tokens("refresh-token-reused", &found.client, &found.family);
            self.revoke_family(&found.family, now).await?;
            return Err(RefreshError::InvalidToken);
        };
        let is_same = scope.is_none_or(|scope| is_same_scope(&tokens.scope, scope));
        if is_same { Ok(tokens) } else { Err(RefreshError::Scope) }
    }

    /// Marks a token as used and issues the next pair. `None` if another request did so at the same time.
    async fn rotate(
        &self,
        found: &RefreshToken,
        token: &str,
        scope: String,
        now: Timestamp,
    ) -> Result<Option<Tokens>, IdentityError> {
        let hash = fingerprint(token);
        let tokens = self.mint(scope, true, found.login_expires_at, now)?;
        let has_grace = !self.options.refresh_grace.is_zero();
        let next_pair = has_grace.then(|| token_pair_crypto::encrypt(&tokens, token, &found.family)).transpose()?;
        let mut tx = self.database.begin().await?;
        let args: [Arg<'_>; 3] = [(&hash).into(), now.0.into(), next_pair.as_deref().into()];
        if tx.execute(MARK_USED, &args).await? == 0 {
            return Ok(None);
        }
        tx.execute(CLEAR_NEXT_PAIR, &args[..1]).await?;
        self.store(&mut tx, &tokens, &found.family, Some(&hash), found.login_expires_at, now).await?;
        tx.commit().await?;
        Ok(Some(tokens))
    }

    fn mint(
        &self,
        scope: String,
        is_renewable: bool,
        login_expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<Tokens, IdentityError> {
        Ok(Tokens {
            access: Secret::mint(ACCESS_PREFIX)?,
            refresh: is_renewable.then(|| Secret::mint(REFRESH_PREFIX)).transpose()?,
            expires_at: (now + self.options.access_token_ttl).min(login_expires_at),
            scope,
        })
    }

    async fn store(
        &self,
        tx: &mut Transaction,
        tokens: &Tokens,
        family: &str,
        previous: Option<&str>,
        login_expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<(), IdentityError> {
        let hash = tokens.access.fingerprint();
        let expires_at = tokens.expires_at.0;
        let args = [(&hash).into(), family.into(), (&tokens.scope).into(), now.0.into(), expires_at.into()];
        tx.execute(INSERT_ACCESS, &args).await?;
        if let Some(refresh) = &tokens.refresh {
            let hash = refresh.fingerprint();
            let expires_at = (now + self.options.refresh_token_idle_ttl).min(login_expires_at).0;
            let args = [(&hash).into(), family.into(), previous.into(), now.0.into(), expires_at.into()];
            tx.execute(INSERT_REFRESH, &args).await?;
        }
        Ok(())
    }

    /// Returns the state of a token of either kind.
    pub(crate) async fn token_info(&self, token: &str, now: Timestamp) -> Result<Option<TokenInfo>, IdentityError> {
        let is_access = token.starts_with(ACCESS_PREFIX);
        let sql = if is_access { ACCESS_TOKEN_INFO } else { REFRESH_TOKEN_INFO };
        let row = self.database.row::<TokenInfoRow>(sql, &[(&fingerprint(token)).into()]).await?;
        Ok(row.map(|row| token_info(row, is_access, now)))
    }

    /// Revokes all tokens of one login.
    pub(crate) async fn revoke_family(&self, family: &str, now: Timestamp) -> Result<(), IdentityError> {
        self.execute_and_clear_cache(REVOKE_FAMILY, &[family.into(), now.0.into()]).await?;
        Ok(())
    }

    pub(crate) async fn revoke_user_tokens(&self, id: &str, now: Timestamp) -> Result<(), IdentityError> {
        self.execute_and_clear_cache(REVOKE_BY_USER, &[id.into(), now.0.into()]).await?;
        Ok(())
    }

    pub(crate) async fn revoke_client_tokens(&self, id: &str, now: Timestamp) -> Result<(), IdentityError> {
        self.execute_and_clear_cache(REVOKE_BY_CLIENT, &[id.into(), now.0.into()]).await?;
        Ok(())
    }

    /// Purges expired rows. Call it periodically, for example hourly.
    pub async fn purge_expired(&self, now: Timestamp) -> Result<u64, IdentityError> {
        let mut purged = 0;
        for (sql, age) in PURGE {
            let before = now - self.retention(age);
            purged += self.database.execute(sql, &[before.0.into()]).await?;
        }
        Ok(purged)
    }

    fn retention(&self, age: Retention) -> std::time::Duration {
        const DAY: std::time::Duration = std::time::Duration::from_secs(24 * 60 * 60);
        match age {
            Retention::Grace => self.options.refresh_grace,
            Retention::Day => DAY,
            Retention::Month => 30 * DAY,
        }
    }
}

/// Returns the scope of an access token: that of the login, or the requested part of it.
fn narrow_scope(granted: &str, requested: Option<&[&str]>) -> Option<String> {
    let Some(requested) = requested else { return Some(granted.to_owned()) };
    let is_held = |scope: &&str| granted.split(' ').any(|other| other == *scope);
    requested.iter().all(is_held).then(|| requested.join(" "))
}

fn is_same_scope(granted: &str, requested: &[&str]) -> bool {
    let granted: Vec<&str> = granted.split(' ').collect();
    granted.len() == requested.len() && requested.iter().all(|scope| granted.contains(scope))
}

fn refresh_token(row: RefreshRow) -> RefreshToken {
    let (family, expires_at, used_at, next_pair, client, scope, login_expires_at, revoked_at, disabled_at) = row;
    RefreshToken {
        family,
        expires_at: Timestamp(expires_at),
        used_at: used_at.map(Timestamp),
        next_pair,
        client,
        scope,
        login_expires_at: Timestamp(login_expires_at),
        is_revoked: revoked_at.is_some() || disabled_at.is_some(),
    }
}

fn token_info(row: TokenInfoRow, is_access: bool, now: Timestamp) -> TokenInfo {
    let (family, client, user, login, scope, issued_at, expires_at, is_active) = row;
    TokenInfo {
        family,
        client,
        user: user.zip(login),
        scope,
        issued_at: Timestamp(issued_at),
        expires_at: Timestamp(expires_at),
        is_access,
        is_active: is_active != 0 && expires_at > now.0,
    }
}
