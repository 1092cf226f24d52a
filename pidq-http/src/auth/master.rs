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
const GRANTS: &[GrantType] = &[GrantType::Password, GrantType::RefreshToken, GrantType::ClientCredentials];

/// The secret of the client is compared by its fingerprint, which costs nothing; hashing the password at each start to
/// compare it would cost what a login does.
const IS_AS_SAID: &str = "select cast(1 as bigint) from clients c join users u on u.login = $4
  where c.id = $1 and c.secret = $2 and c.grant_types = $3";
const OTHER_CLIENTS: &str =
    "delete from clients where lower(id) in (select login from users where member_of = $1 and login <> $2)";
const OTHER_USERS: &str = "delete from users where member_of = $1 and login <> $2";

impl Identities {
    /// Makes the client and the user of a master key. If they are there with another secret, they get this one, and the
    /// logins of the user end; if nothing has changed, nothing happens. What other master keys there were is gone.
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
        let args = [master.key.into(), (&secret).into(), (&grants).into(), (&login).into()];
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
            NewUser { login, password: Some(password), tenant: master.tenant, role: "admin", groups, sso_only: false };
        match self.create_user(user, now).await {
            Err(IdentityError::Exists(_)) => self.set_password(login, password, now).await,
            made => made.map(drop),
        }
    }
}

fn client<'a>(master: Master<'a>) -> NewClient<'a> {
    NewClient {
        id: Some(master.key),
        title: "The master key",
        tenant: Some(master.tenant),
        secret: Some(master.secret.expose()),
        grant_types: GRANTS,
        scopes: &["read", "write"],
    }
}
