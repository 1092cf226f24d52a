//! LLM connections in the database. Their keys are sealed before they come here.

use pidq_http::auth::Moment;

use super::{Result, Store, StoreError, structure, text};
use crate::connections::Connection;

type Row = (String, String, i64, String, String, String, Option<i64>, String, String, i64, i64);

macro_rules! columns {
    () => {
        "id, name, revision, provider, model, base_url, context_window, header_names, sealed, created_at, updated_at"
    };
}

const INSERT: &str =
    concat!("insert into llm_connections (", columns!(), ") values ($1, $2, 1, $3, $4, $5, $6, $7, $8, $9, $9)");
const BY_ID: &str = concat!("select ", columns!(), " from llm_connections where id = $1");
const LIST: &str = concat!("select ", columns!(), " from llm_connections where id > $1 order by id limit $2");
const UPDATE: &str = "update llm_connections set name = $3, provider = $4, model = $5, base_url = $6,
  context_window = $7, header_names = $8, sealed = $9, revision = revision + 1, updated_at = $10
  where id = $1 and revision = $2";
const DELETE: &str = "delete from llm_connections where id = $1";

impl Store {
    /// Stores a connection.
    ///
    /// # Errors
    /// If its name is taken.
    pub async fn add_connection(&self, connection: &Connection) -> Result<()> {
        let names = text(&connection.header_names)?;
        let arguments = [
            (&connection.id).into(),
            (&connection.name).into(),
            (&connection.provider).into(),
            (&connection.model).into(),
            (&connection.base_url).into(),
            connection.context_window.into(),
            (&names).into(),
            (&connection.sealed).into(),
            connection.created_at.into(),
        ];
        let mut tx = self.database.begin().await?;
        tx.execute(INSERT, &arguments).await.map_err(name_taken)?;
        crate::audit::made(&connection.id);
        Ok(self.outbox.commit(tx).await?)
    }

    /// The connection of an id.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn connection(&self, id: &str) -> Result<Option<Connection>> {
        self.database.row::<Row>(BY_ID, &[id.into()]).await?.map(connection).transpose()
    }

    /// Connections after one, in the order in which they were made.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn connections(&self, after: &str, limit: usize) -> Result<Vec<Connection>> {
        let rows = self.database.rows::<Row>(LIST, &[after.into(), (limit as i64).into()]).await?;
        rows.into_iter().map(connection).collect()
    }

    /// Stores a connection that is still as it was read.
    ///
    /// # Errors
    /// If it was changed in between, or the name is taken.
    pub async fn update_connection(&self, connection: &Connection) -> Result<Connection> {
        let (names, now) = (text(&connection.header_names)?, Moment::now().0);
        let arguments = [
            (&connection.id).into(),
            connection.revision.into(),
            (&connection.name).into(),
            (&connection.provider).into(),
            (&connection.model).into(),
            (&connection.base_url).into(),
            connection.context_window.into(),
            (&names).into(),
            (&connection.sealed).into(),
            now.into(),
        ];
        let mut tx = self.database.begin().await?;
        if tx.execute(UPDATE, &arguments).await.map_err(name_taken)? == 0 {
            return Err(StoreError::Changed);
        }
        self.outbox.commit(tx).await?;
        Ok(Connection { revision: connection.revision + 1, updated_at: now, ..connection.clone() })
    }

    /// Deletes a connection. Says whether there was one.
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

fn connection(row: Row) -> Result<Connection> {
    Ok(Connection {
        header_names: structure("header_names", &row.7)?,
        id: row.0,
        name: row.1,
        revision: row.2,
        provider: row.3,
        model: row.4,
        base_url: row.5,
        context_window: row.6,
        sealed: row.8,
        created_at: row.9,
        updated_at: row.10,
    })
}
