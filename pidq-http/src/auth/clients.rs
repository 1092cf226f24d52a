//! Clients: the programs that may ask for tokens.

use super::accounts::{exists_or, searchable, tenant_name, word};
use super::secret::{Secret, fingerprint, fresh_id, same};
use super::{Identities, IdentityError, Moment, audit};
use crate::database::Transaction;

/// All scopes that a client may hold. `introspection` lets it ask about the tokens of other clients.
pub const SCOPES: &[&str] = &["read", "write", "introspection"];

/// A way to get a token.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum GrantType {
    /// A user's name and password.
    Password,
    /// A refresh token.
    RefreshToken,
    /// The client for itself.
    ClientCredentials,
}

/// Each grant with its name on the wire.
pub(crate) const GRANT_TYPES: [(GrantType, &str); 3] = [
    (GrantType::Password, "password"),
    (GrantType::RefreshToken, "refresh_token"),
    (GrantType::ClientCredentials, "client_credentials"),
];

impl GrantType {
    /// The grant of this name.
    pub fn named(name: &str) -> Option<GrantType> {
        GRANT_TYPES.iter().find(|row| row.1 == name).map(|row| row.0)
    }

    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        GRANT_TYPES.iter().find(|row| row.0 == self).map_or("", |row| row.1)
    }
}

/// A client to be made.
#[derive(Clone)]
pub struct NewClient<'a> {
    /// Its id; a random one where none is given.
    pub id: Option<&'a str>,
    /// For people.
    pub title: &'a str,
    /// Whose users it serves; those of all tenants where none is given.
    pub tenant: Option<&'a str>,
    /// Its secret; a random one where none is given.
    pub secret: Option<&'a str>,
    /// The ways to a token that it may use.
    pub grant_types: &'a [GrantType],
    /// The most that its tokens are good for; of [`SCOPES`].
    pub scopes: &'a [&'a str],
}

/// A client as an administrator sees one.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Client {
    /// Never changes.
    pub id: String,
    /// For people.
    pub title: String,
    /// Whose users it serves.
    pub tenant: Option<String>,
    /// The ways to a token that it may use.
    pub grant_types: Vec<GrantType>,
    /// The most that its tokens are good for.
    pub scopes: Vec<String>,
    /// Whether it is shut out.
    pub is_disabled: bool,
}

impl Client {
    /// Ways to a token as they are stored.
    pub(super) fn words(grants: &[GrantType]) -> String {
        grants.iter().map(|grant| grant.name()).collect::<Vec<_>>().join(" ")
    }
}

const INSERT: &str = "insert into clients (id, title, tenant, secret, grant_types, scopes, created_at)
  values ($1, $2, $3, $4, $5, $6, $7)";
const LIST: &str = "select id, title, tenant, secret, grant_types, scopes, disabled_at from clients order by id";
const BY_ID: &str = "select id, title, tenant, secret, grant_types, scopes, disabled_at from clients where id = $1";
/// One row for every id, with a text of the same length: that there is no such client is not to be seen in the time.
const SECRET_OF: &str = "select coalesce((select secret from clients where id = $1), $2)";
const COUNT: &str = "select count(*) from clients";
const SET_SECRET: &str = "update clients set secret = $2 where id = $1";
const SET_SAID: &str = "update clients set secret = $2, grant_types = $3, tenant = $4, scopes = $5 where id = $1";
const SET_DISABLED: &str = "update clients set disabled_at = $2 where id = $1";
const DELETE: &str = "delete from clients where id = $1";

/// A secret of a client that was chosen by a person is refused below this: it is stored with a fast hash.
const SHORTEST_SECRET: usize = 32;
/// Compared with what is sent for a client that does not exist. No text has this fingerprint.
const NO_FINGERPRINT: &str = "-------------------------------------------";

type Row = (String, String, Option<String>, String, String, String, Option<i64>);

impl Identities {
    /// Makes a client and tells its secret, which is not stored.
    pub async fn create_client(&self, new: NewClient<'_>, now: Moment) -> Result<(Client, Secret), IdentityError> {
        let client = checked(&new)?;
        let secret = secret_of(&new)?;
        let mut tx = self.database.begin().await?;
        insert_client(&mut tx, &client, &secret, now).await?;
        tx.commit().await?;
        audit::changed("client-created", &client.id);
        Ok((client, secret))
    }

    /// Makes a client, or makes the one of its id what it should be: for a client that the settings name. Its tokens
    /// stay.
    pub(super) async fn ensure_client(&self, new: NewClient<'_>, now: Moment) -> Result<(), IdentityError> {
        match self.create_client(new.clone(), now).await {
            Err(IdentityError::Exists(id)) => {
                let (hash, grants) = (secret_of(&new)?.fingerprint(), Client::words(new.grant_types));
                let scopes = new.scopes.join(" ");
                let args = [(&id).into(), (&hash).into(), (&grants).into(), new.tenant.into(), (&scopes).into()];
                self.change(SET_SAID, &args).await?;
                Ok(())
            }
            made => made.map(drop),
        }
    }

    /// All clients, by id.
    pub async fn clients(&self) -> Result<Vec<Client>, IdentityError> {
        let rows = self.database.rows::<Row>(LIST, &[]).await?;
        Ok(rows.into_iter().map(|row| client(row).0).collect())
    }

    /// How many clients there are.
    pub async fn client_count(&self) -> Result<i64, IdentityError> {
        Ok(self.database.row::<(i64,)>(COUNT, &[]).await?.map_or(0, |row| row.0))
    }

    /// Gives a client another secret and tells it. The old one is worth nothing at once; tokens stay.
    pub async fn rotate_secret(&self, id: &str) -> Result<Secret, IdentityError> {
        let secret = Secret::mint(SECRET_PREFIX)?;
        let changed = self.database.execute(SET_SECRET, &[id.into(), (&secret.fingerprint()).into()]).await?;
        found(changed, id, "secret-rotated")?;
        Ok(secret)
    }

    /// Shuts a client and all its tokens out at once.
    pub async fn disable_client(&self, id: &str, now: Moment) -> Result<(), IdentityError> {
        let changed = self.change(SET_DISABLED, &[id.into(), now.0.into()]).await?;
        found(changed, id, "client-disabled")?;
        self.end_logins_of_client(id, now).await
    }

    /// Lets a client in again. Its old tokens stay dead.
    pub async fn enable_client(&self, id: &str) -> Result<(), IdentityError> {
        let changed = self.change(SET_DISABLED, &[id.into(), None::<i64>.into()]).await?;
        found(changed, id, "client-enabled")
    }

    /// Removes a client and all its tokens.
    pub async fn delete_client(&self, id: &str) -> Result<(), IdentityError> {
        found(self.change(DELETE, &[id.into()]).await?, id, "client-deleted")
    }

    /// The client, if the secret is its own. One that does not exist costs the same work.
    pub(crate) async fn client_with(&self, id: &str, secret: &str) -> Result<Option<Client>, IdentityError> {
        let (id, shown) = (searchable(id), fingerprint(secret));
        let stored: Option<(String,)> = self.database.row(SECRET_OF, &[(&id).into(), NO_FINGERPRINT.into()]).await?;
        if !stored.is_some_and(|(stored,)| same(&stored, &shown)) {
            return Ok(None);
        }
        let row = self.database.row::<Row>(BY_ID, &[(&id).into()]).await?.map(client);
        Ok(row.filter(|(client, stored)| same(stored, &shown) && !client.is_disabled).map(|(client, _)| client))
    }
}

const SECRET_PREFIX: &str = "pidq_cs_";

/// Makes a row of a client that was checked.
pub(super) async fn insert_client(
    tx: &mut Transaction,
    client: &Client,
    secret: &Secret,
    now: Moment,
) -> Result<(), IdentityError> {
    let (hash, grants) = (secret.fingerprint(), Client::words(&client.grant_types));
    let scopes = client.scopes.join(" ");
    let args = [
        (&client.id).into(),
        (&client.title).into(),
        client.tenant.as_deref().into(),
        (&hash).into(),
        (&grants).into(),
        (&scopes).into(),
        now.0.into(),
    ];
    tx.execute(INSERT, &args).await.map_err(|error| exists_or(error, &client.id))?;
    Ok(())
}

fn found(changed: u64, id: &str, event: &'static str) -> Result<(), IdentityError> {
    if changed == 0 {
        return Err(IdentityError::Unknown(id.to_owned()));
    }
    audit::changed(event, id);
    Ok(())
}

pub(super) fn secret_of(new: &NewClient<'_>) -> Result<Secret, IdentityError> {
    match new.secret {
        None => Secret::mint(SECRET_PREFIX),
        Some(secret) if secret.len() < SHORTEST_SECRET || secret.len() > 1024 => {
            Err(IdentityError::Refused(format!("a client secret has {SHORTEST_SECRET} to 1024 random characters")))
        }
        Some(secret) => Ok(Secret::new(secret)),
    }
}

pub(super) fn checked(new: &NewClient<'_>) -> Result<Client, IdentityError> {
    let id = match new.id {
        Some(id) => word("client id", id)?.to_owned(),
        None => fresh_id("c_")?,
    };
    let tenant = new.tenant.map(|tenant| tenant_name(tenant).map(str::to_owned)).transpose()?;
    if new.title.len() > 254 || new.title.chars().any(char::is_control) {
        return Err(IdentityError::Refused("a title is a line of at most 254 bytes".into()));
    }
    if tenant.is_none() && new.grant_types.contains(&GrantType::ClientCredentials) {
        return Err(IdentityError::Refused("`client_credentials` needs a tenant: whose jobs would it see?".into()));
    }
    Ok(Client {
        id,
        title: new.title.to_owned(),
        tenant,
        grant_types: once(new.grant_types.iter().copied()),
        scopes: once(new.scopes.iter().map(|scope| known_scope(scope)).collect::<Result<Vec<_>, _>>()?.into_iter()),
        is_disabled: false,
    })
}

/// Each once, in the order in which they came.
fn once<T: PartialEq>(items: impl Iterator<Item = T>) -> Vec<T> {
    items.fold(Vec::new(), |mut kept, item| {
        if !kept.contains(&item) {
            kept.push(item);
        }
        kept
    })
}

fn known_scope(scope: &str) -> Result<String, IdentityError> {
    if SCOPES.contains(&scope) {
        return Ok(scope.to_owned());
    }
    Err(IdentityError::Refused(format!("`{scope}` is no scope: use some of {}", SCOPES.join(", "))))
}

fn client((id, title, tenant, secret, grants, scopes, disabled_at): Row) -> (Client, String) {
    let client = Client {
        id,
        title,
        tenant,
        grant_types: grants.split_whitespace().filter_map(GrantType::named).collect(),
        scopes: scopes.split_whitespace().map(str::to_owned).collect(),
        is_disabled: disabled_at.is_some(),
    };
    (client, secret)
}
