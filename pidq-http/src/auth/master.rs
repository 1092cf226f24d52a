//! The master key: a client and a user of one name and one secret, which the settings say and nobody has to make.

use super::accounts::lower;
use super::clients::{Client, GrantType, NewClient};
use super::{Identities, IdentityError, Moment, NewUser, Secret};

/// A master key as the settings have it.
#[derive(Clone, Copy)]
pub struct Master<'a> {
    /// The id of the client, and the login of the user.
    pub key: &'a str,
    /// The secret of the client, and the password of the user.
    pub secret: &'a Secret,
    /// Whose jobs they see.
    pub tenant: &'a str,
}

/// What tells the users of master keys from others: the group that they are in, and nobody else.
const GROUP: &str = "master-key";
/// What these users may do.
const ROLE: &str = "admin";
const SCOPES: &[&str] = &["read", "write"];
const GRANTS: &[GrantType] = &[GrantType::Password, GrantType::RefreshToken, GrantType::ClientCredentials];

/// The secret of the client is compared by its fingerprint, which costs nothing; hashing the password at each start to
/// compare it would cost what a login does.
const IS_AS_SAID: &str = "select cast(1 as bigint) from clients c join users u on u.login = $4
  where c.id = $1 and c.secret = $2 and c.grant_types = $3 and c.scopes = $8 and c.tenant = $7
  and u.member_of = $5 and u.role = $6 and u.tenant = $7";
/// What a user of that login whom somebody made becomes. One of a master key who was shut out stays shut out.
const TAKE_OVER: &str = "update users set member_of = $2, role = $3, tenant = $4, sso_only = 0, disabled_at = null
  where login = $1 and (member_of <> $2 or role <> $3 or tenant <> $4)";
const OTHER_CLIENTS: &str =
    "delete from clients where lower(id) in (select login from users where member_of = $1 and login <> $2)";
const OTHER_USERS: &str = "delete from users where member_of = $1 and login <> $2";

impl Identities {
    /// Makes the client and the user of a master key. If they are there with another secret, they get this one, and the
    /// logins of the user end; if nothing has changed, nothing happens. What other master keys there were is gone. A
    /// client or a user of that name whom somebody made becomes the one of the master key: it is the settings that say
    /// what the key is good for.
    pub async fn ensure_master(&self, master: Master<'_>, now: Moment) -> Result<(), IdentityError> {
        self.forget_other_masters(master).await?;
        if self.has_master(master).await? {
            return Ok(());
        }
        // The client last: only with it everything is as said.
        self.ensure_user(master, now).await?;
        self.ensure_client(client(master), now).await
    }

    async fn has_master(&self, master: Master<'_>) -> Result<bool, IdentityError> {
        let (secret, login, grants) = (master.secret.fingerprint(), lower(master.key), Client::words(GRANTS));
        let scopes = SCOPES.join(" ");
        let args = [master.key, &secret, &grants, &login, GROUP, ROLE, master.tenant, &scopes].map(Into::into);
        Ok(self.database.row::<(i64,)>(IS_AS_SAID, &args).await?.is_some())
    }

    async fn forget_other_masters(&self, master: Master<'_>) -> Result<(), IdentityError> {
        let login = lower(master.key);
        for sql in [OTHER_CLIENTS, OTHER_USERS] {
            self.change(sql, &[GROUP.into(), (&login).into()]).await?;
        }
        Ok(())
    }

    async fn ensure_user(&self, master: Master<'_>, now: Moment) -> Result<(), IdentityError> {
        let (login, password) = (master.key, master.secret.expose());
        let groups = &[GROUP];
        let user =
            NewUser { login, password: Some(password), tenant: master.tenant, role: ROLE, groups, sso_only: false };
        match self.create_user(user, now).await {
            Err(IdentityError::Exists(login)) => {
                // The password first: a start that dies in between finds that not everything is as said.
                self.set_password(&login, password, now).await?;
                self.take_over(master, &login).await
            }
            made => made.map(drop),
        }
    }

    async fn take_over(&self, master: Master<'_>, login: &str) -> Result<(), IdentityError> {
        let args = [login, GROUP, ROLE, master.tenant].map(Into::into);
        if self.change(TAKE_OVER, &args).await? > 0 {
            tracing::warn!(login, "the user of this login was made by hand: now it is the one of the master key");
        }
        Ok(())
    }
}

fn client<'a>(master: Master<'a>) -> NewClient<'a> {
    NewClient {
        id: Some(master.key),
        title: "The master key",
        tenant: Some(master.tenant),
        secret: Some(master.secret.expose()),
        grant_types: GRANTS,
        scopes: SCOPES,
    }
}
