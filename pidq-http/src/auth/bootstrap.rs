//! Bootstrap: the first administrator and client of a service without accounts.

use super::clients::{GrantType, NewClient};
use super::secret::Secret;
use super::{Identities, IdentityError, NewUser, Timestamp, accounts, audit, clients};

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

impl Identities {
    /// Returns true if there are users or clients.
    pub async fn has_accounts(&self) -> Result<bool, IdentityError> {
        Ok(self.user_count().await? > 0 || self.client_count().await? > 0)
    }

    /// Creates an administrator and a client if there are no users and no clients. Of several replicas that start
    /// together, one creates them.
    pub async fn bootstrap(
        &self,
        first: BootstrapAccounts<'_>,
        now: Timestamp,
    ) -> Result<Option<CreatedCredentials>, IdentityError> {
        if self.has_accounts().await? {
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
