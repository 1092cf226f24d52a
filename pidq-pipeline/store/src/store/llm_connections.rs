//! LLM connections in the database. API keys and header values are encrypted before they are passed to the store.

use pidq_http::auth::Timestamp;

use super::{Result, Store, StoreError, from_json, to_json};
use crate::domain::llm_connection::LlmConnection;

type Row = (String, String, i64, String, String, String, Option<i64>, String, String, i64, i64);

macro_rules! columns {
    () => {
        "id, name, revision, provider, model, base_url, context_window, header_names, encrypted_secrets, created_at, updated_at"
    };
}

const INSERT: &str =
    concat!("insert into llm_connections (", columns!(), ") values ($1, $2, 1, $3, $4, $5, $6, $7, $8, $9, $9)");
const BY_ID: &str = concat!("select ", columns!(), " from llm_connections where id = $1");
const LIST: &str = concat!("select ", columns!(), " from llm_connections where id > $1 order by id limit $2");
const UPDATE: &str = "update llm_connections set name = $3, provider = $4, model = $5, base_url = $6,
  context_window = $7, header_names = $8, encrypted_secrets = $9, revision = revision + 1, updated_at = $10
  where id = $1 and revision = $2";
const DELETE: &str = "delete from llm_connections where id = $1";

impl Store {
    /// Inserts a connection.
    ///
    /// # Errors
    /// If its name is taken.
    pub async fn add_connection(&self, connection: &LlmConnection) -> Result<()> {
        let names = to_json(&connection.header_names)?;
        let arguments = [
            (&connection.id).into(),
            (&connection.name).into(),
            (&connection.provider).into(),
            (&connection.model).into(),
            (&connection.base_url).into(),
            connection.context_window.into(),
            (&names).into(),
            (&connection.encrypted_secrets).into(),
            connection.created_at.into(),
        ];
        let mut tx = self.database.begin().await?;
        tx.execute(INSERT, &arguments).await.map_err(name_taken)?;
        crate::domain::audit_context::set_resource(&connection.id);
        Ok(self.outbox.commit(tx).await?)
    }

    /// Returns a connection by id.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn connection(&self, id: &str) -> Result<Option<LlmConnection>> {
        self.database.row::<Row>(BY_ID, &[id.into()]).await?.map(connection).transpose()
    }

    /// Returns the connections after an id, in creation order.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn connections(&self, after: &str, limit: usize) -> Result<Vec<LlmConnection>> {
        let rows = self.database.rows::<Row>(LIST, &[after.into(), (limit as i64).into()]).await?;
        rows.into_iter().map(connection).collect()
    }

    /// Updates a connection if its revision is unchanged.
    ///
    /// # Errors
    /// If it was modified concurrently or the name is taken.
    pub async fn update_connection(&self, connection: &LlmConnection) -> Result<LlmConnection> {
        let (names, now) = (to_json(&connection.header_names)?, Timestamp::now().0);
        let arguments = [
            (&connection.id).into(),
            connection.revision.into(),
            (&connection.name).into(),
            (&connection.provider).into(),
            (&connection.model).into(),
            (&connection.base_url).into(),
            connection.context_window.into(),
            (&names).into(),
            (&connection.encrypted_secrets).into(),
            now.into(),
        ];
        let mut tx = self.database.begin().await?;
        if tx.execute(UPDATE, &arguments).await.map_err(name_taken)? == 0 {
            return Err(StoreError::Conflict);
        }
        self.outbox.commit(tx).await?;
        Ok(LlmConnection { revision: connection.revision + 1, updated_at: now, ..connection.clone() })
    }

    /// Deletes a connection; returns false if it does not exist.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn delete_connection(&self, id: &str) -> Result<bool> {
        let mut tx = self.database.begin().await?;
        let deleted = tx.execute(DELETE, &[id.into()]).await? > 0;
        if deleted {
            self.outbox.commit(tx).await?;
        }
        Ok(deleted)
    }
}

fn name_taken(error: pidq_http::database::DatabaseError) -> StoreError {
    if error.is_duplicate() { StoreError::NameTaken } else { error.into() }
}

fn connection(row: Row) -> Result<LlmConnection> {
    Ok(LlmConnection {
        header_names: from_json("header_names", &row.7)?,
        id: row.0,
        name: row.1,
        revision: row.2,
        provider: row.3,
        model: row.4,
        base_url: row.5,
        context_window: row.6,
        encrypted_secrets: row.8,
        created_at: row.9,
        updated_at: row.10,
    })
}
