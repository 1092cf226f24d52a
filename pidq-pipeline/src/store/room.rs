//! How many of something there may be: whoever adds one looks, when nobody else adds one.

use pidq_http::database::Transaction;

use super::{Result, StoreError};

/// A row that is held until the end of the transaction, so that all processes count one after the other.
const IN_TURN: &str = "insert into usage_of_days (day, kind, used) values (0, $1, 0)
  on conflict (day, kind) do update set used = 0";

/// What there may be some of: a name, and how they are counted.
pub(super) type Counted = (&'static str, &'static str);

/// Goes on if there are fewer than the most. Where there is no most, nobody waits.
pub(super) async fn for_one(tx: &mut Transaction, (kind, count): Counted, most: Option<u64>) -> Result<()> {
    let Some(most) = most else { return Ok(()) };
    tx.execute(IN_TURN, &[kind.into()]).await?;
    let there = tx.row::<(i64,)>(count, &[]).await?.and_then(|row| u64::try_from(row.0).ok()).unwrap_or(0);
    if there < most { Ok(()) } else { Err(StoreError::AsManyAsMayBe(there)) }
}
