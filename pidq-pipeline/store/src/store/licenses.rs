//! License set through the API, and the latest clock reading of any process.

use super::{Result, Store};

const SELECT_LICENSE: &str = "select value from installation where name = 'license'";
const UPSERT_LICENSE: &str = "insert into installation (name, value) values ('license', $1)
  on conflict (name) do update set value = excluded.value";
const CLOCK: &str = "select value from installation where name = 'clock'";
const INSERT_CLOCK: &str = "insert into installation (name, value) values ('clock', $1) on conflict (name) do nothing";
const ADVANCE_CLOCK: &str = "update installation set value = $1
  where name = 'clock' and cast(value as bigint) < cast($1 as bigint)";

/// Interval between writes of the clock reading, in seconds.
const CLOCK_RESOLUTION: i64 = 60 * 60;

impl Store {
    /// Returns the license that was set last.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn license(&self) -> Result<Option<String>> {
        Ok(self.database.row::<(String,)>(SELECT_LICENSE, &[]).await?.map(|row| row.0))
    }

    /// Replaces the license.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn set_license(&self, license: &str) -> Result<()> {
        let mut tx = self.database.begin().await?;
        tx.execute(UPSERT_LICENSE, &[license.into()]).await?;
        Ok(self.outbox.commit(tx).await?)
    }

    /// Returns the latest clock reading, including `now`, in seconds since 1970.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn latest_clock(&self, now: i64) -> Result<i64> {
        let text = now.to_string();
        let Some((latest,)) = self.database.row::<(String,)>(CLOCK, &[]).await? else {
            self.database.execute(INSERT_CLOCK, &[(&text).into()]).await?;
            return Ok(now);
        };
        let latest = latest.parse().unwrap_or(now);
        if now - latest > CLOCK_RESOLUTION {
            self.database.execute(ADVANCE_CLOCK, &[(&text).into()]).await?;
        }
        Ok(latest.max(now))
    }
}
