//! Master credentials from the settings: a client and a user with the same name and secret.

use super::accounts::normalize_login;
use super::clients::{Client, GrantType, NewClient};
use super::{Identities, IdentityError, NewUser, Secret, Timestamp};

/// Master credentials.
#[derive(Clone, Copy)]
pub struct MasterCredentials<'a> {
    /// Client id and login of the user.
    pub key: &'a str,
    /// Client secret and password of the user.
    pub secret: &'a Secret,
    /// Tenant of both.
    pub tenant: &'a str,
}

/// Group that marks the users of master credentials.
pub(super) const GROUP: &str = "master-key";
/// Role of these users.
const ROLE: &str = "admin";
const SCOPES: &[&str] = &["read", "write"];
const GRANTS: &[GrantType] = &[GrantType::Password, GrantType::RefreshToken, GrantType::ClientCredentials];

/// Checks for unchanged credentials. The secret is compared by the client's fingerprint, which is cheap; hashing the
/// password at each start would cost as much as a login.
const IS_UNCHANGED: &str = "select cast(1 as bigint) from clients c join users u on u.login = $4
  where c.id = $1 and c.secret = $2 and c.grant_types = $3 and c.scopes = $8 and c.tenant = $7
  and u.member_of = $5 and u.role = $6 and u.tenant = $7";
/// Converts an existing user into the master user. A disabled master user stays disabled.
const TAKE_OVER: &str = "update users set member_of = $2, role = $3, tenant = $4, sso_only = 0, disabled_at = null
  where login = $1 and (member_of <> $2 or role <> $3 or tenant <> $4)";
const OTHER_CLIENTS: &str =
    "delete from clients where lower(id) in (select login from users where member_of = $1 and login <> $2)";
const OTHER_USERS: &str = "delete from users where member_of = $1 and login <> $2";

impl Identities {
    /// Creates the client and the user of the master credentials. A changed secret replaces the old one and revokes
    /// the tokens of the user; unchanged credentials have no effect. Other master credentials are deleted. An
    /// existing client or user with this name becomes that of the master credentials, since the settings take
    /// precedence.
    pub async fn ensure_master(&self, master: MasterCredentials<'_>, now: Timestamp) -> Result<(), IdentityError> {
        self.delete_other_masters(master).await?;
        if self.has_master(master).await? {
            return Ok(());
        }
        // The client last: its presence marks the setup as complete.
        self.ensure_user(master, now).await?;
        // Its tokens before, so that they are not left out if the start is interrupted; and after, because the old secret
        // was valid until then.
        self.revoke_client_tokens(master.key, now).await?;
        self.ensure_client(client(master), now).await?;
        self.revoke_client_tokens(master.key, now).await
    }

    async fn has_master(&self, master: MasterCredentials<'_>) -> Result<bool, IdentityError> {
        let (secret, login, grants) =
            (master.secret.fingerprint(), normalize_login(master.key), Client::grant_names(GRANTS));
        let scopes = SCOPES.join(" ");
        let args = [master.key, &secret, &grants, &login, GROUP, ROLE, master.tenant, &scopes].map(Into::into);
        Ok(self.database.row::<(i64,)>(IS_UNCHANGED, &args).await?.is_some())
    }

    async fn delete_other_masters(&self, master: MasterCredentials<'_>) -> Result<(), IdentityError> {
        let login = normalize_login(master.key);
        for sql in [OTHER_CLIENTS, OTHER_USERS] {
            self.execute_and_clear_cache(sql, &[GROUP.into(), (&login).into()]).await?;
        }
        Ok(())
    }

    async fn ensure_user(&self, master: MasterCredentials<'_>, now: Timestamp) -> Result<(), IdentityError> {
        let (login, password) = (master.key, master.secret.expose());
        let groups = &[GROUP];
        let user =
            NewUser { login, password: Some(password), tenant: master.tenant, role: ROLE, groups, sso_only: false };
        match self.create_user(user, now).await {
            Err(IdentityError::Exists(login)) => {
                // The password first: if the start is interrupted, the next one repeats the setup.
                self.set_password(&login, password, now).await?;
                self.take_over(master, &login).await
            }
            result => result.map(drop),
        }
    }

    async fn take_over(&self, master: MasterCredentials<'_>, login: &str) -> Result<(), IdentityError> {
        let args = [login, GROUP, ROLE, master.tenant].map(Into::into);
        if self.execute_and_clear_cache(TAKE_OVER, &args).await? > 0 {
            tracing::warn!(login, "an existing user was converted into the master user");
        }
        Ok(())
    }
}

fn client<'a>(master: MasterCredentials<'a>) -> NewClient<'a> {
    NewClient {
        id: Some(master.key),
        title: "The master key",
        tenant: Some(master.tenant),
        secret: Some(master.secret.expose()),
        grant_types: GRANTS,
        scopes: SCOPES,
    }
}
