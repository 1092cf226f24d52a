//! Daily quota of questions, counted across all replicas in one row.

use pidq_http::auth::Timestamp;

use super::{Result, Store};

/// Counter of questions.
const QUESTIONS: &str = "questions";

const INCREMENT: &str = "insert into daily_counters (day, kind, used) values ($1, $2, 1)
  on conflict (day, kind) do update set used = daily_counters.used + 1 where daily_counters.used < $3";
const DECREMENT: &str = "update daily_counters set used = used - 1 where day = $1 and kind = $2 and used > 0";
const CURRENT: &str = "select used from daily_counters where day = $1 and kind = $2";

/// A counted question, for undoing the count.
#[derive(Clone, Copy, Debug)]
pub struct CountedQuestion {
    day: i64,
}

impl Store {
    /// Counts a question for today; none if the limit is reached.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn count_question(&self, limit: Option<u64>) -> Result<Option<CountedQuestion>> {
        let day = today();
        let limit = limit.map_or(i64::MAX, |limit| i64::try_from(limit).unwrap_or(i64::MAX));
        let is_counted =
            limit > 0 && self.database.execute(INCREMENT, &[day.into(), QUESTIONS.into(), limit.into()]).await? > 0;
        Ok(is_counted.then_some(CountedQuestion { day }))
    }

    /// Undoes the count of a question that was not answered.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn uncount_question(&self, counted: CountedQuestion) -> Result<()> {
        self.database.execute(DECREMENT, &[counted.day.into(), QUESTIONS.into()]).await?;
        Ok(())
    }

    /// Returns the number of questions today.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn questions_today(&self) -> Result<u64> {
        let row = self.database.row::<(i64,)>(CURRENT, &[today().into(), QUESTIONS.into()]).await?;
        Ok(row.and_then(|row| u64::try_from(row.0).ok()).unwrap_or(0))
    }
}

/// Returns the current day; days begin at midnight UTC on all replicas.
fn today() -> i64 {
    Timestamp::now().day()
}
