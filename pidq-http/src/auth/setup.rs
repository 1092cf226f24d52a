//! The first start: a service without any account gets an administrator and a client, so that there is a way in.

use super::clients::{GrantType, NewClient};
use super::secret::Secret;
use super::{Identities, IdentityError, Moment, NewUser, accounts, audit, clients};

/// What the settings say about the first account and the first client.
#[derive(Clone, Copy)]
pub struct FirstStart<'a> {
    /// Whose jobs they see.
    pub tenant: &'a str,
    /// The administrator's login.
    pub login: &'a str,
    /// The administrator's password; a random one where none is given.
    pub password: Option<&'a str>,
    /// The client's id.
    pub client_id: &'a str,
    /// The client's secret; a random one where none is given.
    pub client_secret: Option<&'a str>,
}

/// What the first start made.
#[derive(Clone)]
pub struct Made {
    /// The administrator's login.
    pub login: String,
    /// The password, if it was made up: to be shown once.
    pub password: Option<Secret>,
    /// The client's id.
    pub client_id: String,
    /// The secret, if it was made up: to be shown once.
    pub client_secret: Option<Secret>,
}

impl Identities {
    /// Makes an administrator and a client if there is neither a user nor a client. Of several replicas that start
    /// together one makes them.
    pub async fn first_start(&self, first: FirstStart<'_>, now: Moment) -> Result<Option<Made>, IdentityError> {
        if self.user_count().await? > 0 || self.client_count().await? > 0 {
            return Ok(None);
        }
        let made_up = if first.password.is_none() { Some(Secret::mint("")?) } else { None };
        let user = user(&first, made_up.as_ref());
        let client_secret = match self.make_first(&user, &client(&first), now).await {
            Err(IdentityError::Exists(_)) => return Ok(None),
            made => made?,
        };
        Ok(Some(Made {
            login: first.login.to_owned(),
            password: made_up,
            client_id: first.client_id.to_owned(),
            client_secret: first.client_secret.is_none().then_some(client_secret),
        }))
    }

    /// Both or none: with half of them there would be no way in, and no first start any more.
    async fn make_first(&self, user: &NewUser<'_>, new: &NewClient<'_>, now: Moment) -> Result<Secret, IdentityError> {
        let (account, client, secret) =
            (accounts::checked(user, now)?, clients::checked(new)?, clients::secret_of(new)?);
        let hash = self.hash_new(user.password.unwrap_or_default()).await?;
        let mut tx = self.database.begin().await?;
        // The client first: its id is taken by whoever comes first, and the others go away.
        clients::insert_client(&mut tx, &client, &secret, now).await?;
        accounts::insert_user(&mut tx, &account, Some(&hash), now).await?;
        tx.commit().await?;
        audit::changed("client-created", &client.id);
        audit::changed("user-created", &account.id);
        Ok(secret)
    }
}

fn user<'a>(first: &FirstStart<'a>, made_up: Option<&'a Secret>) -> NewUser<'a> {
    NewUser {
        login: first.login,
        password: made_up.map(Secret::expose).or(first.password),
        tenant: first.tenant,
        role: "admin",
        groups: &[],
        sso_only: false,
    }
}

fn client<'a>(first: &FirstStart<'a>) -> NewClient<'a> {
    NewClient {
        id: Some(first.client_id),
        title: "The first client",
        tenant: Some(first.tenant),
        secret: first.client_secret,
        grant_types: &[GrantType::Password, GrantType::RefreshToken, GrantType::ClientCredentials],
        scopes: &["read", "write"],
    }
}
