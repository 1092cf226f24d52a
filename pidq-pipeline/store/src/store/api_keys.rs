//! API keys in the database: access scopes and fingerprints of secrets.

use std::collections::HashMap;

use pidq_http::database::Transaction;

use super::{Result, Store, from_json, to_json};
use crate::domain::api_key::ApiKey;

type Row = (String, String, String, String, String, i64, Option<i64>);

macro_rules! columns {
    () => {
        "id, name, fingerprint, scopes, pipelines, created_at, expires_at"
    };
}

const INSERT: &str = concat!("insert into api_keys (", columns!(), ") values ($1, $2, $3, $4, $5, $6, $7)");
const BY_ID: &str = concat!("select ", columns!(), " from api_keys where id = $1");
const LIST: &str = concat!("select ", columns!(), " from api_keys where id > $1 order by id limit $2");
const OWNERS_OF_ACTIVE_WEBHOOKS: &str =
    concat!("select ", columns!(), " from api_keys where id in (select owner from webhooks where status = 'active')");
const DELETE: &str = "delete from api_keys where id = $1";

impl Store {
    /// Inserts a key.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn add_key(&self, key: &ApiKey, fingerprint: &str) -> Result<()> {
        let (scopes, pipelines) = (to_json(&key.scopes)?, to_json(&key.pipelines)?);
        let arguments = [
            (&key.id).into(),
            (&key.name).into(),
            fingerprint.into(),
            (&scopes).into(),
            (&pipelines).into(),
            key.created_at.into(),
            key.expires_at.into(),
        ];
        let mut tx = self.database.begin().await?;
        tx.execute(INSERT, &arguments).await?;
        crate::domain::audit_context::set_resource(&key.id);
        Ok(self.outbox.commit(tx).await?)
    }

    /// Returns a key and the fingerprint of its secret.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn key(&self, id: &str) -> Result<Option<(ApiKey, String)>> {
        self.database.row::<Row>(BY_ID, &[id.into()]).await?.map(key).transpose()
    }

    /// Returns the keys after an id, in creation order.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn keys(&self, after: &str, limit: usize) -> Result<Vec<ApiKey>> {
        let rows = self.database.rows::<Row>(LIST, &[after.into(), (limit as i64).into()]).await?;
        rows.into_iter().map(|row| key(row).map(|(key, _)| key)).collect()
    }

    /// Deletes a key; returns false if it does not exist.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn delete_key(&self, id: &str) -> Result<bool> {
        let mut tx = self.database.begin().await?;
        let deleted = tx.execute(DELETE, &[id.into()]).await? > 0;
        if deleted {
            self.outbox.commit(tx).await?;
        }
        Ok(deleted)
    }
}

/// Returns the owner keys of active webhooks by id, as this transaction sees them.
pub(super) async fn active_webhook_owners(tx: &mut Transaction) -> Result<HashMap<String, ApiKey>> {
    let keys = tx.rows::<Row>(OWNERS_OF_ACTIVE_WEBHOOKS, &[]).await?.into_iter().map(key);
    keys.map(|key| key.map(|(key, _)| (key.id.clone(), key))).collect()
}

fn key(row: Row) -> Result<(ApiKey, String)> {
    let key = ApiKey {
        scopes: from_json("scopes", &row.3)?,
        pipelines: from_json("pipelines", &row.4)?,
        id: row.0,
        name: row.1,
        created_at: row.5,
        expires_at: row.6,
    };
    Ok((key, row.2))
}
