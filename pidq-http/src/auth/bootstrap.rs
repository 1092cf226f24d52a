//! Bootstrap: the first administrator and client of a service without accounts.

use zeroize::Zeroizing;

use super::clients::{GrantType, NewClient};
use super::secret::Secret;
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

/// Secret of the settings that has no effect, because the account or client exists and has another one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum IneffectiveSecret {
    /// Password of the first account.
    Password,
    /// Secret of the first client.
    ClientSecret,
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

    /// Returns the secrets of the settings that are not those of the existing accounts, which keep theirs. Unknown accounts
    /// and accounts without a password are left out.
    ///
    /// It costs one password hash, with low priority and with memory that is freed afterwards. A fast fingerprint of the
    /// password would avoid it, but whoever has the database could guess the password with it.
    pub async fn ineffective_secrets(
        &self,
        first: BootstrapAccounts<'_>,
    ) -> Result<Vec<IneffectiveSecret>, IdentityError> {
        let mut ineffective = Vec::new();
        if let Some(password) = first.password
            && let Some(user) = self.user_for_login(&accounts::normalize_login(first.login)).await?
            && let Some(hash) = user.password.filter(|_| user.may_use_password)
            && !self.passwords.verify_once(Zeroizing::new(password.to_owned()), hash).await?
        {
            ineffective.push(IneffectiveSecret::Password);
        }
        if let Some(secret) = first.client_secret
            && self.has_other_secret(first.client_id, secret).await?
        {
            ineffective.push(IneffectiveSecret::ClientSecret);
        }
        Ok(ineffective)
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
