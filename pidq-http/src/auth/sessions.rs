//! Tokens. All that came of one login are a family, which lives and dies as one.
//!
//! A token is 256 random bits; its fingerprint is stored. A refresh token is used once: whoever sends it again may be a
//! thief, so its family dies. Only an answer that got lost may be fetched again for a few seconds, see [`seal`].

mod seal;

use super::clients::Client;
use super::secret::{Secret, fingerprint, fresh_id};
use super::{Identities, IdentityError, Moment, audit};
use crate::database::{Arg, Transaction};

/// Tokens as they are handed out.
pub(crate) struct Tokens {
    pub(crate) access: Secret,
    pub(crate) refresh: Option<Secret>,
    pub(crate) expires_at: Moment,
    pub(crate) scope: String,
}

/// Who logs in, and for what.
pub(crate) struct Login<'a> {
    pub(crate) client: &'a str,
    pub(crate) user: Option<&'a str>,
    pub(crate) scope: &'a str,
    pub(crate) is_renewable: bool,
}

/// Why a refresh token gives nothing.
pub(crate) enum NotRefreshed {
    /// It is unknown, expired, used, revoked or somebody else's.
    Token,
    /// More was asked for than it stands for.
    Scope,
    /// It could not be looked at.
    Failed(IdentityError),
}

impl<E: Into<IdentityError>> From<E> for NotRefreshed {
    fn from(error: E) -> NotRefreshed {
        NotRefreshed::Failed(error.into())
    }
}

/// What is known of an access token or a refresh token.
pub(crate) struct TokenFacts {
    pub(crate) family: String,
    pub(crate) client: String,
    pub(crate) user: Option<(String, String)>,
    pub(crate) scope: String,
    pub(crate) issued_at: Moment,
    pub(crate) expires_at: Moment,
    pub(crate) is_access: bool,
    pub(crate) is_alive: bool,
}

pub(crate) const ACCESS_PREFIX: &str = "pidq_at_";
const REFRESH_PREFIX: &str = "pidq_rt_";

const INSERT_FAMILY: &str = "insert into families (id, client_id, user_id, scope, created_at, expires_at)
  values ($1, $2, $3, $4, $5, $6)";
const INSERT_ACCESS: &str = "insert into access_tokens (hash, family_id, scope, issued_at, expires_at)
  values ($1, $2, $3, $4, $5)";
const INSERT_REFRESH: &str = "insert into refresh_tokens (hash, family_id, previous, issued_at, expires_at)
  values ($1, $2, $3, $4, $5)";
const REFRESH_TOKEN: &str = "select r.family_id, r.expires_at, r.used_at, r.sealed, f.client_id, f.scope,
    f.expires_at, f.revoked_at, u.disabled_at
  from refresh_tokens r join families f on f.id = r.family_id left join users u on u.id = f.user_id
  where r.hash = $1";
// Of many that send the same token at once, the database lets one pass.
const USE: &str = "update refresh_tokens set used_at = $2, sealed = $3 where hash = $1 and used_at is null
  and exists (select 1 from families f where f.id = refresh_tokens.family_id and f.revoked_at is null)";
// Once a pair is used, the token before it cannot have lost its answer any more.
const FORGET_SEALED: &str = "update refresh_tokens set sealed = null
  where hash = (select t.previous from refresh_tokens t where t.hash = $1)";
const END_FAMILY: &str = "update families set revoked_at = $2 where id = $1 and revoked_at is null";
const END_OF_USER: &str = "update families set revoked_at = $2 where user_id = $1 and revoked_at is null";
const END_OF_CLIENT: &str = "update families set revoked_at = $2 where client_id = $1 and revoked_at is null";
const FACTS_OF_ACCESS: &str = "select f.id, f.client_id, u.id, u.login, a.scope, a.issued_at, a.expires_at,
    cast(case when f.revoked_at is null and u.disabled_at is null and c.disabled_at is null
      then 1 else 0 end as bigint)
  from access_tokens a join families f on f.id = a.family_id join clients c on c.id = f.client_id
    left join users u on u.id = f.user_id
  where a.hash = $1";
const FACTS_OF_REFRESH: &str = "select f.id, f.client_id, u.id, u.login, f.scope, r.issued_at, r.expires_at,
    cast(case when f.revoked_at is null and u.disabled_at is null and c.disabled_at is null and r.used_at is null
      then 1 else 0 end as bigint)
  from refresh_tokens r join families f on f.id = r.family_id join clients c on c.id = f.client_id
    left join users u on u.id = f.user_id
  where r.hash = $1";
const SWEEP: [(&str, Age); 5] = [
    ("update refresh_tokens set sealed = null where sealed is not null and used_at < $1", Age::Grace),
    ("delete from access_tokens where expires_at < $1", Age::Day),
    ("delete from families where expires_at < $1", Age::Day),
    ("delete from families where revoked_at < $1", Age::Month),
    ("delete from known_networks where seen_at < $1", Age::Month),
];

/// How long something is kept that is of no more use.
#[derive(Clone, Copy)]
enum Age {
    Grace,
    Day,
    Month,
}

type RefreshRow = (String, i64, Option<i64>, Option<String>, String, String, i64, Option<i64>, Option<i64>);
type FactsRow = (String, String, Option<String>, Option<String>, String, i64, i64, i64);

struct RefreshToken {
    family: String,
    expires_at: Moment,
    used_at: Option<Moment>,
    sealed: Option<String>,
    client: String,
    scope: String,
    login_ends_at: Moment,
    is_ended: bool,
}

impl Identities {
    /// Begins a family.
    pub(crate) async fn log_in(&self, login: Login<'_>, now: Moment) -> Result<Tokens, IdentityError> {
        let family = fresh_id("f_")?;
        let ends_at = now + self.options.login_life;
        let tokens = self.mint(login.scope.to_owned(), login.is_renewable, ends_at, now)?;
        let mut tx = self.database.begin().await?;
        let args = [
            (&family).into(),
            login.client.into(),
            login.user.into(),
            login.scope.into(),
            now.0.into(),
            ends_at.0.into(),
        ];
        tx.execute(INSERT_FAMILY, &args).await?;
        self.store(&mut tx, &tokens, &family, None, ends_at, now).await?;
        tx.commit().await?;
        Ok(tokens)
    }

    /// Exchanges a refresh token for the pair that follows it. `scope` is what was asked for, if anything was.
    pub(crate) async fn refresh(
        &self,
        client: &Client,
        token: &str,
        scope: Option<&[&str]>,
        now: Moment,
    ) -> Result<Tokens, NotRefreshed> {
        // Whoever loses the race for a token finds it used the next time, and is served from what the winner sealed.
        for _ in 0..3 {
            let found = self.refresh_token(token).await?.ok_or(NotRefreshed::Token)?;
            if found.client != client.id || found.is_ended || found.login_ends_at <= now {
                return Err(NotRefreshed::Token);
            }
            if found.used_at.is_some() {
                return self.repeat(&found, token, scope, now).await;
            }
            if found.expires_at <= now {
                return Err(NotRefreshed::Token);
            }
            let scope = narrowed(&found.scope, scope).ok_or(NotRefreshed::Scope)?;
            if let Some(tokens) = self.rotate(&found, token, scope, now).await? {
                return Ok(tokens);
            }
        }
        Err(NotRefreshed::Token)
    }

    async fn refresh_token(&self, token: &str) -> Result<Option<RefreshToken>, IdentityError> {
        let row = self.database.row::<RefreshRow>(REFRESH_TOKEN, &[(&fingerprint(token)).into()]).await?;
        Ok(row.map(refresh_token))
    }

    /// The same answer again, if it may have been lost on its way. Otherwise the token was stolen, and nobody can tell
    /// from whom: the thief and the owner both have to log in.
    async fn repeat(
        &self,
        found: &RefreshToken,
        token: &str,
        scope: Option<&[&str]>,
        now: Moment,
    ) -> Result<Tokens, NotRefreshed> {
        let is_in_time = found.used_at.is_some_and(|used_at| now.since(used_at) < self.options.refresh_grace);
        let sealed = found.sealed.as_deref().filter(|_| is_in_time);
        let Some(tokens) = sealed.and_then(|sealed| seal::open(sealed, token, &found.family)) else {
            audit::tokens("refresh-token-reused", &found.client, &found.family);
            self.end_family(&found.family, now).await?;
            return Err(NotRefreshed::Token);
        };
        let is_same = scope.is_none_or(|scope| has_exactly(&tokens.scope, scope));
        if is_same { Ok(tokens) } else { Err(NotRefreshed::Scope) }
    }

    /// Uses a token up. `None` if somebody else did so at the same time.
    async fn rotate(
        &self,
        found: &RefreshToken,
        token: &str,
        scope: String,
        now: Moment,
    ) -> Result<Option<Tokens>, IdentityError> {
        let hash = fingerprint(token);
        let tokens = self.mint(scope, true, found.login_ends_at, now)?;
        let has_grace = !self.options.refresh_grace.is_zero();
        let sealed = has_grace.then(|| seal::close(&tokens, token, &found.family)).transpose()?;
        let mut tx = self.database.begin().await?;
        let args: [Arg<'_>; 3] = [(&hash).into(), now.0.into(), sealed.as_deref().into()];
        if tx.execute(USE, &args).await? == 0 {
            return Ok(None);
        }
        tx.execute(FORGET_SEALED, &args[..1]).await?;
        self.store(&mut tx, &tokens, &found.family, Some(&hash), found.login_ends_at, now).await?;
        tx.commit().await?;
        Ok(Some(tokens))
    }

    fn mint(
        &self,
        scope: String,
        is_renewable: bool,
        login_ends_at: Moment,
        now: Moment,
    ) -> Result<Tokens, IdentityError> {
        Ok(Tokens {
            access: Secret::mint(ACCESS_PREFIX)?,
            refresh: is_renewable.then(|| Secret::mint(REFRESH_PREFIX)).transpose()?,
            expires_at: (now + self.options.access_life).min(login_ends_at),
            scope,
        })
    }

    async fn store(
        &self,
        tx: &mut Transaction,
        tokens: &Tokens,
        family: &str,
        previous: Option<&str>,
        login_ends_at: Moment,
        now: Moment,
    ) -> Result<(), IdentityError> {
        let hash = tokens.access.fingerprint();
        let expires_at = tokens.expires_at.0;
        let args = [(&hash).into(), family.into(), (&tokens.scope).into(), now.0.into(), expires_at.into()];
        tx.execute(INSERT_ACCESS, &args).await?;
        if let Some(refresh) = &tokens.refresh {
            let hash = refresh.fingerprint();
            let expires_at = (now + self.options.refresh_idle).min(login_ends_at).0;
            let args = [(&hash).into(), family.into(), previous.into(), now.0.into(), expires_at.into()];
            tx.execute(INSERT_REFRESH, &args).await?;
        }
        Ok(())
    }

    /// What is known of a token of either kind.
    pub(crate) async fn token_facts(&self, token: &str, now: Moment) -> Result<Option<TokenFacts>, IdentityError> {
        let is_access = token.starts_with(ACCESS_PREFIX);
        let sql = if is_access { FACTS_OF_ACCESS } else { FACTS_OF_REFRESH };
        let row = self.database.row::<FactsRow>(sql, &[(&fingerprint(token)).into()]).await?;
        Ok(row.map(|row| facts(row, is_access, now)))
    }

    /// Ends all tokens of one login.
    pub(crate) async fn end_family(&self, family: &str, now: Moment) -> Result<(), IdentityError> {
        self.change(END_FAMILY, &[family.into(), now.0.into()]).await?;
        Ok(())
    }

    pub(crate) async fn end_logins_of_user(&self, id: &str, now: Moment) -> Result<(), IdentityError> {
        self.change(END_OF_USER, &[id.into(), now.0.into()]).await?;
        Ok(())
    }

    pub(crate) async fn end_logins_of_client(&self, id: &str, now: Moment) -> Result<(), IdentityError> {
        self.change(END_OF_CLIENT, &[id.into(), now.0.into()]).await?;
        Ok(())
    }

    /// Throws away what is of no more use. To be called now and then, once an hour for instance.
    pub async fn sweep(&self, now: Moment) -> Result<u64, IdentityError> {
        let mut swept = 0;
        for (sql, age) in SWEEP {
            let before = now - self.kept_for(age);
            swept += self.database.execute(sql, &[before.0.into()]).await?;
        }
        Ok(swept)
    }

    fn kept_for(&self, age: Age) -> std::time::Duration {
        const DAY: std::time::Duration = std::time::Duration::from_secs(24 * 60 * 60);
        match age {
            Age::Grace => self.options.refresh_grace,
            Age::Day => DAY,
            Age::Month => 30 * DAY,
        }
    }
}

/// The scope of an access token: all of the login's, or that part of it which was asked for.
fn narrowed(held: &str, asked: Option<&[&str]>) -> Option<String> {
    let Some(asked) = asked else { return Some(held.to_owned()) };
    let is_held = |scope: &&str| held.split(' ').any(|other| other == *scope);
    asked.iter().all(is_held).then(|| asked.join(" "))
}

fn has_exactly(held: &str, asked: &[&str]) -> bool {
    let held: Vec<&str> = held.split(' ').collect();
    held.len() == asked.len() && asked.iter().all(|scope| held.contains(scope))
}

fn refresh_token(row: RefreshRow) -> RefreshToken {
    let (family, expires_at, used_at, sealed, client, scope, login_ends_at, revoked_at, disabled_at) = row;
    RefreshToken {
        family,
        expires_at: Moment(expires_at),
        used_at: used_at.map(Moment),
        sealed,
        client,
        scope,
        login_ends_at: Moment(login_ends_at),
        is_ended: revoked_at.is_some() || disabled_at.is_some(),
    }
}

fn facts(row: FactsRow, is_access: bool, now: Moment) -> TokenFacts {
    let (family, client, user, login, scope, issued_at, expires_at, is_alive) = row;
    TokenFacts {
        family,
        client,
        user: user.zip(login),
        scope,
        issued_at: Moment(issued_at),
        expires_at: Moment(expires_at),
        is_access,
        is_alive: is_alive != 0 && expires_at > now.0,
    }
}
