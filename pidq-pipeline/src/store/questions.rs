//! How much was used on a day, counted for all replicas together: one row, one statement.

use pidq_http::auth::Moment;

use super::{Result, Store};

/// What is counted.
const QUERIES: &str = "queries";

const TAKE: &str = "insert into usage_of_days (day, kind, used) values ($1, $2, 1)
  on conflict (day, kind) do update set used = usage_of_days.used + 1 where usage_of_days.used < $3";
const GIVE_BACK: &str = "update usage_of_days set used = used - 1 where day = $1 and kind = $2 and used > 0";
const USED: &str = "select used from usage_of_days where day = $1 and kind = $2";

/// A question that was counted.
#[derive(Clone, Copy, Debug)]
pub struct Counted {
    day: i64,
}

impl Store {
    /// Counts a question of today, unless there are as many already. None: there are.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn count_query(&self, limit: Option<u64>) -> Result<Option<Counted>> {
        let day = today();
        let most = limit.map_or(i64::MAX, |limit| i64::try_from(limit).unwrap_or(i64::MAX));
        let is_taken = most > 0 && self.database.execute(TAKE, &[day.into(), QUERIES.into(), most.into()]).await? > 0;
        Ok(is_taken.then_some(Counted { day }))
    }

    /// Takes a question back that nobody answered.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn uncount_query(&self, counted: Counted) -> Result<()> {
        self.database.execute(GIVE_BACK, &[counted.day.into(), QUERIES.into()]).await?;
        Ok(())
    }

    /// How many questions were answered today.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn queries_today(&self) -> Result<u64> {
        let row = self.database.row::<(i64,)>(USED, &[today().into(), QUERIES.into()]).await?;
        Ok(row.and_then(|row| u64::try_from(row.0).ok()).unwrap_or(0))
    }
}

/// Days begin at midnight in UTC, wherever a replica runs.
fn today() -> i64 {
    Moment::now().day()
}
