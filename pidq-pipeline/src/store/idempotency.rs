//! Requests that may come again: who works on one, and the answer that it had.

use pidq_http::auth::Moment;

use super::{Result, Store};

/// How long an answer is kept, in milliseconds.
const KEPT: i64 = 24 * 60 * 60 * 1000;

/// How long whoever works on a request holds it without a sign of life, in milliseconds.
pub(crate) const HOLD: i64 = 30_000;

/// A request as its sender names it.
#[derive(Clone, Debug)]
pub struct Repeatable {
    /// Who sent it.
    pub caller: String,
    /// The fingerprint of its key.
    pub name: String,
    /// Who works on it.
    pub holder: String,
}

/// What is known of a request when it comes.
#[derive(Debug)]
pub enum Claimed {
    /// It is new: whoever asked works on it now.
    Ours,
    /// Somebody works on it.
    Running,
    /// It was answered, and this is what is stored of the answer.
    Answered(String),
}

const CLAIM: &str = "insert into idempotency (caller, name, holder, held_until, created_at) values ($1, $2, $3, $4, $5)
  on conflict (caller, name) do update set holder = $3, held_until = $4, answer = null, created_at = $5
  where idempotency.created_at <= $6 or (idempotency.answer is null and idempotency.held_until <= $5)";
const ANSWER: &str = "select answer from idempotency where caller = $1 and name = $2";
const HOLD_ON: &str = "update idempotency set held_until = $4
  where caller = $1 and name = $2 and holder = $3 and answer is null";
const KEEP: &str = "update idempotency set answer = $4
  where caller = $1 and name = $2 and holder = $3 and answer is null";
const RELEASE: &str = "delete from idempotency where caller = $1 and name = $2 and holder = $3 and answer is null";
const PURGE: &str = "delete from idempotency where created_at <= $1 and held_until <= $2";

impl Store {
    /// Takes a request that nobody works on and that has no answer. Whoever died at it holds it for a while, and no longer.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn claim(&self, what: &Repeatable) -> Result<Claimed> {
        let now = Moment::now().0;
        let arguments = [
            (&what.caller).into(),
            (&what.name).into(),
            (&what.holder).into(),
            (now + HOLD).into(),
            now.into(),
            (now - KEPT).into(),
        ];
        if self.database.execute(CLAIM, &arguments).await? > 0 {
            return Ok(Claimed::Ours);
        }
        let row = self.database.row::<(Option<String>,)>(ANSWER, &arguments[..2]).await?;
        Ok(row.and_then(|row| row.0).map_or(Claimed::Running, Claimed::Answered))
    }

    /// Holds a request for another while.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn hold_on(&self, what: &Repeatable) -> Result<()> {
        self.of_holder(HOLD_ON, what, Some((Moment::now().0 + HOLD).into())).await
    }

    /// Keeps the answer of a request that is still held.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn keep_answer(&self, what: &Repeatable, answer: &str) -> Result<()> {
        self.of_holder(KEEP, what, Some(answer.into())).await
    }

    /// Forgets a request that came to nothing.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn release(&self, what: &Repeatable) -> Result<()> {
        self.of_holder(RELEASE, what, None).await
    }

    async fn of_holder(
        &self,
        statement: &'static str,
        what: &Repeatable,
        value: Option<pidq_http::database::Arg<'_>>,
    ) -> Result<()> {
        let of_it = [(&what.caller).into(), (&what.name).into(), (&what.holder).into()];
        let arguments: Vec<_> = of_it.into_iter().chain(value).collect();
        self.database.execute(statement, &arguments).await?;
        Ok(())
    }

    /// Removes answers that are older than a day.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn purge_answers(&self) -> Result<u64> {
        let now = Moment::now().0;
        Ok(self.database.execute(PURGE, &[(now - KEPT).into(), now.into()]).await?)
    }
}
