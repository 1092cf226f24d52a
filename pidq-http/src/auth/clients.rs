//! OAuth clients.

use super::accounts::{check_name, check_tenant, insert_error, replace_nul};
use super::secret::{Secret, constant_time_eq, fingerprint, random_id};
use super::{Identities, IdentityError, Timestamp, audit};
use crate::database::Transaction;

/// All scopes that a client may hold. `introspection` allows introspecting the tokens of other clients.
pub const SCOPES: &[&str] = &["read", "write", "introspection"];

/// OAuth grant type.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum GrantType {
    /// Resource owner password credentials.
    Password,
    /// Refresh token.
    RefreshToken,
    /// Client credentials.
    ClientCredentials,
}

/// Grant types with their names on the wire.
pub(crate) const GRANT_TYPES: [(GrantType, &str); 3] = [
    (GrantType::Password, "password"),
    (GrantType::RefreshToken, "refresh_token"),
    (GrantType::ClientCredentials, "client_credentials"),
];

impl GrantType {
    /// Returns the grant type of this name.
    pub fn from_name(name: &str) -> Option<GrantType> {
        GRANT_TYPES.iter().find(|row| row.1 == name).map(|row| row.0)
    }

    /// Returns the name on the wire.
    pub fn name(self) -> &'static str {
        GRANT_TYPES.iter().find(|row| row.0 == self).map_or("", |row| row.1)
    }
}

/// Client to create.
#[derive(Clone)]
pub struct NewClient<'a> {
    /// Id; generated if absent.
    pub id: Option<&'a str>,
    /// Title, for display.
    pub title: &'a str,
    /// Tenant whose users the client serves; all tenants if absent.
    pub tenant: Option<&'a str>,
    /// Secret; generated if absent.
    pub secret: Option<&'a str>,
    /// Allowed grant types.
    pub grant_types: &'a [GrantType],
    /// Maximum scopes of its tokens; from [`SCOPES`].
    pub scopes: &'a [&'a str],
}

/// OAuth client.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Client {
    /// Id; never changes.
    pub id: String,
    /// Title, for display.
    pub title: String,
    /// Tenant whose users the client serves.
    pub tenant: Option<String>,
    /// Allowed grant types.
    pub grant_types: Vec<GrantType>,
    /// Maximum scopes of its tokens.
    pub scopes: Vec<String>,
    /// True if the client is disabled.
    pub is_disabled: bool,
}

impl Client {
    /// Returns grant types as they are stored.
    pub(super) fn grant_names(grants: &[GrantType]) -> String {
        grants.iter().map(|grant| grant.name()).collect::<Vec<_>>().join(" ")
    }
}

const INSERT: &str = "insert into clients (id, title, tenant, secret, grant_types, scopes, created_at)
  values ($1, $2, $3, $4, $5, $6, $7)";
const LIST: &str = "select id, title, tenant, secret, grant_types, scopes, disabled_at from clients order by id";
const BY_ID: &str = "select id, title, tenant, secret, grant_types, scopes, disabled_at from clients where id = $1";
/// Returns one row for every id, with a string of constant length, so that timing does not reveal unknown clients.
const SECRET_BY_ID: &str = "select coalesce((select secret from clients where id = $1), $2)";
const COUNT: &str = "select count(*) from clients";
const SET_SECRET: &str = "update clients set secret = $2 where id = $1";
const SET_CONFIGURED: &str = "update clients set secret = $2, grant_types = $3, tenant = $4, scopes = $5 where id = $1";
const SET_DISABLED: &str = "update clients set disabled_at = $2 where id = $1";
const DELETE: &str = "delete from clients where id = $1";

/// Minimum size of a chosen secret, which is stored with a fast hash.
const MIN_SECRET_SIZE: usize = 32;
/// Compared for an unknown client. No secret has this fingerprint.
const DUMMY_FINGERPRINT: &str = "-------------------------------------------";

type Row = (String, String, Option<String>, String, String, String, Option<i64>);

impl Identities {
    /// Creates a client and returns its secret, which is not stored.
    pub async fn create_client(&self, new: NewClient<'_>, now: Timestamp) -> Result<(Client, Secret), IdentityError> {
        let client = checked_client(&new)?;
        let secret = initial_secret(&new)?;
        let mut tx = self.database.begin().await?;
        insert_client(&mut tx, &client, &secret, now).await?;
        tx.commit().await?;
        audit::account_changed("client-created", &client.id);
        Ok((client, secret))
    }

    /// Creates a client, or updates an existing one, for a client configured in the settings. Its tokens stay valid.
    pub async fn ensure_client(&self, new: NewClient<'_>, now: Timestamp) -> Result<(), IdentityError> {
        match self.create_client(new.clone(), now).await {
            Err(IdentityError::Exists(id)) => {
                let (hash, grants) = (initial_secret(&new)?.fingerprint(), Client::grant_names(new.grant_types));
                let scopes = new.scopes.join(" ");
                let args = [(&id).into(), (&hash).into(), (&grants).into(), new.tenant.into(), (&scopes).into()];
                self.execute_and_clear_cache(SET_CONFIGURED, &args).await?;
                Ok(())
            }
            result => result.map(drop),
        }
    }

    /// Returns all clients, by id.
    pub async fn clients(&self) -> Result<Vec<Client>, IdentityError> {
        let rows = self.database.rows::<Row>(LIST, &[]).await?;
        Ok(rows.into_iter().map(|row| client(row).0).collect())
    }

    /// Returns the client with this id.
    pub async fn client(&self, id: &str) -> Result<Option<Client>, IdentityError> {
        let row = self.database.row::<Row>(BY_ID, &[(&replace_nul(id)).into()]).await?;
        Ok(row.map(|row| client(row).0))
    }

    /// Returns the number of clients.
    pub async fn client_count(&self) -> Result<i64, IdentityError> {
        Ok(self.database.row::<(i64,)>(COUNT, &[]).await?.map_or(0, |row| row.0))
    }

    /// Replaces the secret of a client and returns the new one. The old secret is invalid at once; tokens stay valid.
    pub async fn rotate_secret(&self, id: &str) -> Result<Secret, IdentityError> {
        let secret = Secret::mint(SECRET_PREFIX)?;
        let changed = self.database.execute(SET_SECRET, &[id.into(), (&secret.fingerprint()).into()]).await?;
        audit_change(changed, id, "secret-rotated")?;
        Ok(secret)
    }

    /// Disables a client and revokes all its tokens.
    pub async fn disable_client(&self, id: &str, now: Timestamp) -> Result<(), IdentityError> {
        let changed = self.execute_and_clear_cache(SET_DISABLED, &[id.into(), now.0.into()]).await?;
        audit_change(changed, id, "client-disabled")?;
        self.revoke_client_tokens(id, now).await
    }

    /// Enables a client. Revoked tokens stay revoked.
    pub async fn enable_client(&self, id: &str) -> Result<(), IdentityError> {
        let changed = self.execute_and_clear_cache(SET_DISABLED, &[id.into(), None::<i64>.into()]).await?;
        audit_change(changed, id, "client-enabled")
    }

    /// Deletes a client and all its tokens.
    pub async fn delete_client(&self, id: &str) -> Result<(), IdentityError> {
        audit_change(self.execute_and_clear_cache(DELETE, &[id.into()]).await?, id, "client-deleted")
    }

    /// Returns true if the client exists and has another secret.
    pub async fn has_other_secret(&self, id: &str, secret: &Secret) -> Result<bool, IdentityError> {
        let row = self.database.row::<Row>(BY_ID, &[(&replace_nul(id)).into()]).await?.map(client);
        Ok(row.is_some_and(|(_, stored)| !constant_time_eq(&stored, &secret.fingerprint())))
    }

    /// Returns the client if the secret matches. An unknown client costs the same work.
    pub(crate) async fn verify_client(&self, id: &str, secret: &str) -> Result<Option<Client>, IdentityError> {
        let (id, presented) = (replace_nul(id), fingerprint(secret));
        let stored: Option<(String,)> =
            self.database.row(SECRET_BY_ID, &[(&id).into(), DUMMY_FINGERPRINT.into()]).await?;
        if !stored.is_some_and(|(stored,)| constant_time_eq(&stored, &presented)) {
            return Ok(None);
        }
        let row = self.database.row::<Row>(BY_ID, &[(&id).into()]).await?.map(client);
        Ok(row
            .filter(|(client, stored)| constant_time_eq(stored, &presented) && !client.is_disabled)
            .map(|(client, _)| client))
    }
}

const SECRET_PREFIX: &str = "pidq_cs_";

/// Inserts a validated client.
pub(super) async fn insert_client(
    tx: &mut Transaction,
    client: &Client,
    secret: &Secret,
    now: Timestamp,
) -> Result<(), IdentityError> {
    let (hash, grants) = (secret.fingerprint(), Client::grant_names(&client.grant_types));
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
    tx.execute(INSERT, &args).await.map_err(|error| insert_error(error, &client.id))?;
    Ok(())
}

fn audit_change(changed: u64, id: &str, event: &'static str) -> Result<(), IdentityError> {
    if changed == 0 {
        return Err(IdentityError::Unknown(id.to_owned()));
    }
    audit::account_changed(event, id);
    Ok(())
}

pub(super) fn initial_secret(new: &NewClient<'_>) -> Result<Secret, IdentityError> {
    match new.secret {
        None => Secret::mint(SECRET_PREFIX),
        Some(secret) if secret.len() < MIN_SECRET_SIZE || secret.len() > 1024 => Err(IdentityError::Invalid(format!(
            "a client secret must have {MIN_SECRET_SIZE} to 1024 random characters"
        ))),
        Some(secret) => Ok(Secret::new(secret)),
    }
}

pub(super) fn checked_client(new: &NewClient<'_>) -> Result<Client, IdentityError> {
    let id = match new.id {
        Some(id) => check_name("client id", id)?.to_owned(),
        None => random_id("c_")?,
    };
    let tenant = new.tenant.map(|tenant| check_tenant(tenant).map(str::to_owned)).transpose()?;
    if new.title.len() > 254 || new.title.chars().any(char::is_control) {
        return Err(IdentityError::Invalid("a title must be one line of at most 254 bytes".into()));
    }
    if tenant.is_none() && new.grant_types.contains(&GrantType::ClientCredentials) {
        return Err(IdentityError::Invalid("the grant type `client_credentials` requires a tenant".into()));
    }
    Ok(Client {
        id,
        title: new.title.to_owned(),
        tenant,
        grant_types: dedup(new.grant_types.iter().copied()),
        scopes: dedup(new.scopes.iter().map(|scope| known_scope(scope)).collect::<Result<Vec<_>, _>>()?.into_iter()),
        is_disabled: false,
    })
}

/// Removes duplicates, keeping the order.
fn dedup<T: PartialEq>(items: impl Iterator<Item = T>) -> Vec<T> {
    items.fold(Vec::new(), |mut unique, item| {
        if !unique.contains(&item) {
            unique.push(item);
        }
        unique
    })
}

fn known_scope(scope: &str) -> Result<String, IdentityError> {
    if SCOPES.contains(&scope) {
        return Ok(scope.to_owned());
    }
    Err(IdentityError::Invalid(format!("unknown scope `{scope}`; known scopes: {}", SCOPES.join(", "))))
}

fn client((id, title, tenant, secret, grants, scopes, disabled_at): Row) -> (Client, String) {
    let client = Client {
        id,
        title,
        tenant,
        grant_types: grants.split_whitespace().filter_map(GrantType::from_name).collect(),
        scopes: scopes.split_whitespace().map(str::to_owned).collect(),
        is_disabled: disabled_at.is_some(),
    };
    (client, secret)
}
