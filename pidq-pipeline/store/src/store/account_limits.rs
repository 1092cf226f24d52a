//! Limits of accounts in the database: the pipelines, classifications and permissions of a person.

use std::collections::BTreeMap;

use super::{Result, Store, from_json, to_json};
use crate::domain::api_key::AccessScope;

type Row = (String, String, i64);

const SET: &str = "insert into account_limits (account, pipelines, updated_at) values ($1, $2, $3)
  on conflict (account) do update set pipelines = excluded.pipelines, updated_at = excluded.updated_at";
const BY_ACCOUNT: &str = "select account, pipelines, updated_at from account_limits where account = $1";
const LIST: &str =
    "select account, pipelines, updated_at from account_limits where account > $1 order by account limit $2";
const DELETE: &str = "delete from account_limits where account = $1";

/// Limit of an account.
#[derive(Clone, Debug, PartialEq)]
pub struct AccountLimit {
    /// `user:ID`, or `sso:ISSUER#ID` for a person of an identity provider.
    pub account: String,
    /// Access by pipeline; not empty.
    pub pipelines: BTreeMap<String, AccessScope>,
    /// Milliseconds since 1970.
    pub updated_at: i64,
}

impl Store {
    /// Sets or replaces the limit of an account.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn set_account_limit(&self, limit: &AccountLimit) -> Result<()> {
        let pipelines = to_json(&limit.pipelines)?;
        let arguments = [(&limit.account).into(), (&pipelines).into(), limit.updated_at.into()];
        let mut tx = self.database.begin().await?;
        tx.execute(SET, &arguments).await?;
        Ok(self.outbox.commit(tx).await?)
    }

    /// Returns the limit of an account, if it has one.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn account_limit(&self, account: &str) -> Result<Option<AccountLimit>> {
        self.database.row::<Row>(BY_ACCOUNT, &[account.into()]).await?.map(account_limit).transpose()
    }

    /// Returns the limits after an account, in the order of the accounts.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn account_limits(&self, after: &str, limit: usize) -> Result<Vec<AccountLimit>> {
        let rows = self.database.rows::<Row>(LIST, &[after.into(), (limit as i64).into()]).await?;
        rows.into_iter().map(account_limit).collect()
    }

    /// Deletes the limit of an account, which is unrestricted from then on. Returns false if it has none.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn delete_account_limit(&self, account: &str) -> Result<bool> {
        let mut tx = self.database.begin().await?;
        let deleted = tx.execute(DELETE, &[account.into()]).await? > 0;
        if deleted {
            self.outbox.commit(tx).await?;
        }
        Ok(deleted)
    }
}

fn account_limit((account, pipelines, updated_at): Row) -> Result<AccountLimit> {
    Ok(AccountLimit { account, pipelines: from_json("pipelines", &pipelines)?, updated_at })
}
