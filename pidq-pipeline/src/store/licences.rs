//! The licence that came over the interface, and the latest time that any process saw.

use super::{Result, Store};

const GIVEN: &str = "select value from installation where name = 'given_licence'";
const KEEP: &str = "insert into installation (name, value) values ('given_licence', $1)
  on conflict (name) do update set value = excluded.value";
const CLOCK: &str = "select value from installation where name = 'clock'";
const FIRST_CLOCK: &str = "insert into installation (name, value) values ('clock', $1) on conflict (name) do nothing";
const LATER: &str = "update installation set value = $1
  where name = 'clock' and cast(value as bigint) < cast($1 as bigint)";

/// How much later it is before that is noted, in seconds.
const HOUR: i64 = 60 * 60;

impl Store {
    /// The licence that came last.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn licence(&self) -> Result<Option<String>> {
        Ok(self.database.row::<(String,)>(GIVEN, &[]).await?.map(|row| row.0))
    }

    /// Keeps a licence in place of the one before.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn keep_licence(&self, licence: &str) -> Result<()> {
        let mut tx = self.database.begin().await?;
        tx.execute(KEEP, &[licence.into()]).await?;
        Ok(self.outbox.commit(tx).await?)
    }

    /// The latest time that was seen by now, in seconds since 1970.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn latest_clock(&self, now: i64) -> Result<i64> {
        let text = now.to_string();
        let Some((seen,)) = self.database.row::<(String,)>(CLOCK, &[]).await? else {
            self.database.execute(FIRST_CLOCK, &[(&text).into()]).await?;
            return Ok(now);
        };
        let seen = seen.parse().unwrap_or(now);
        if now - seen > HOUR {
            self.database.execute(LATER, &[(&text).into()]).await?;
        }
        Ok(seen.max(now))
    }
}
