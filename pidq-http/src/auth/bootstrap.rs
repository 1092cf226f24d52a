//! Bootstrap: the first administrator and client of a service without accounts.

use super::clients::{GrantType, NewClient};
use super::secret::{Secret, constant_time_eq};
use super::{Identities, IdentityError, NewUser, Timestamp, accounts, audit, clients, master_credentials, shared_keys};

/// Row of the shared keys that says that the first accounts were created, even if they were deleted since.
const DONE: &str = "first-accounts";
const SELECT_DONE: &str = "select cast(1 as bigint) from shared_keys where name = $1";
/// Users and clients besides those of master credentials.
const OTHER_ACCOUNTS: &str = "select (select count(*) from users where member_of <> $1)
  + (select count(*) from clients where lower(id) not in (select login from users where member_of = $1))";

/// First account and client, from the settings.
#[derive(Clone, Copy)]
pub struct BootstrapAccounts<'a> {
    /// Tenant of both.
    pub tenant: &'a str,
    /// Login of the administrator.
    pub login: &'a str,
    /// Password of the administrator; generated if absent.
    pub password: Option<&'a str>,
    /// Client id.
    pub client_id: &'a str,
    /// Client secret; generated if absent.
    pub client_secret: Option<&'a str>,
}

/// Created credentials.
#[derive(Clone)]
pub struct CreatedCredentials {
    /// Login of the administrator.
    pub login: String,
    /// Password, if it was generated; shown once.
    pub password: Option<Secret>,
    /// Client id.
    pub client_id: String,
    /// Secret, if it was generated; shown once.
    pub client_secret: Option<Secret>,
}

/// Password of the first account as the settings have it. Only the first start reads it: a login with a changed one fails,
/// and the log says why.
pub struct FirstPassword {
    /// Login of the account.
    pub login: String,
    /// Password in the settings.
    pub password: Secret,
    /// Name of the setting.
    pub setting: &'static str,
}

impl FirstPassword {
    /// Logs a warning if a rejected login used the password of the settings. Comparing them at the start instead would take
    /// a password hash, with its time and memory, and a fast fingerprint would help to guess the password.
    pub(crate) fn warn_if_used(&self, login: &str, password: &str) {
        if login != accounts::normalize_login(&self.login) || !constant_time_eq(password, self.password.expose()) {
            return;
        }
        let setting = self.setting;
        tracing::warn!(
            login,
            "`{setting}` has no effect: the account has another password, and only the first start reads the setting; \
             change the password with `pidq users passwd {login}`"
        );
    }
}

impl Identities {
    /// Returns true if there are users or clients.
    pub async fn has_accounts(&self) -> Result<bool, IdentityError> {
        Ok(self.user_count().await? > 0 || self.client_count().await? > 0)
    }

    /// Creates an administrator and a client if there are no users and no clients. Of several replicas that start
    /// together, one creates them.
    ///
    /// The account of master credentials suffices, unless a secret of the first ones is given: a process of the platform
    /// may have started before, and people sign in with the first account.
    pub async fn bootstrap(
        &self,
        first: BootstrapAccounts<'_>,
        now: Timestamp,
    ) -> Result<Option<CreatedCredentials>, IdentityError> {
        if self.has_first_accounts(&first).await? {
            return Ok(None);
        }
        let generated = if first.password.is_none() { Some(Secret::mint("")?) } else { None };
        let user = user(&first, generated.as_ref());
        let client_secret = match self.create_first_accounts(&user, &client(&first), now).await {
            Err(IdentityError::Exists(_)) => return Ok(None),
            result => result?,
        };
        Ok(Some(CreatedCredentials {
            login: first.login.to_owned(),
            password: generated,
            client_id: first.client_id.to_owned(),
            client_secret: first.client_secret.is_none().then_some(client_secret),
        }))
    }

    async fn has_first_accounts(&self, first: &BootstrapAccounts<'_>) -> Result<bool, IdentityError> {
        if !self.has_accounts().await? {
            return Ok(false);
        }
        let is_given = first.password.is_some() || first.client_secret.is_some();
        Ok(!is_given || self.has_other_accounts().await? || self.is_done().await?)
    }

    async fn has_other_accounts(&self) -> Result<bool, IdentityError> {
        let row = self.database.row::<(i64,)>(OTHER_ACCOUNTS, &[master_credentials::GROUP.into()]).await?;
        Ok(row.is_some_and(|row| row.0 > 0))
    }

    async fn is_done(&self) -> Result<bool, IdentityError> {
        Ok(self.database.row::<(i64,)>(SELECT_DONE, &[DONE.into()]).await?.is_some())
    }

    /// Creates both in one transaction: with only one of them there would be neither access nor another bootstrap.
    async fn create_first_accounts(
        &self,
        user: &NewUser<'_>,
        new: &NewClient<'_>,
        now: Timestamp,
    ) -> Result<Secret, IdentityError> {
        let (account, client, secret) =
            (accounts::checked_account(user, now)?, clients::checked_client(new)?, clients::initial_secret(new)?);
        let hash = self.hash_new_password(user.password.unwrap_or_default()).await?;
        let mut tx = self.database.begin().await?;
        // The client first: its unique id decides which replica creates the accounts.
        clients::insert_client(&mut tx, &client, &secret, now).await?;
        accounts::insert_user(&mut tx, &account, Some(&hash), now).await?;
        tx.execute(shared_keys::INSERT_IF_ABSENT, &[DONE.into(), "".into()]).await?;
        tx.commit().await?;
        audit::account_changed("client-created", &client.id);
        audit::account_changed("user-created", &account.id);
        Ok(secret)
    }
}

fn user<'a>(first: &BootstrapAccounts<'a>, generated: Option<&'a Secret>) -> NewUser<'a> {
    NewUser {
        login: first.login,
        password: generated.map(Secret::expose).or(first.password),
        tenant: first.tenant,
        role: "admin",
        groups: &[],
        sso_only: false,
    }
}

fn client<'a>(first: &BootstrapAccounts<'a>) -> NewClient<'a> {
    NewClient {
        id: Some(first.client_id),
        title: "The first client",
        tenant: Some(first.tenant),
        secret: first.client_secret,
        grant_types: &[GrantType::Password, GrantType::RefreshToken, GrantType::ClientCredentials],
        scopes: &["read", "write"],
    }
}
