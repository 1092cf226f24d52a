//! Count limits, checked under a lock so that concurrent insertions cannot exceed them.

use pidq_http::database::Transaction;

use super::{Result, StoreError};

/// Locks a row until the transaction ends, so that processes count one after the other.
const LOCK_COUNTER: &str = "insert into daily_counters (day, kind, used) values (0, $1, 0)
  on conflict (day, kind) do update set used = 0";

/// Name of a limit, and the statement that counts its rows.
pub(super) type CountQuery = (&'static str, &'static str);

/// Limit on the number of documents in all pipelines.
pub(super) const DOCUMENTS: CountQuery = ("documents", COUNT_DOCUMENTS);
const COUNT_DOCUMENTS: &str = "select count(*) from documents where status <> 'deleting'";

/// Fails if the limit is reached. Takes no lock without a limit.
pub(super) async fn check(tx: &mut Transaction, query: CountQuery, limit: Option<u64>) -> Result<()> {
    let Some(limit) = limit else { return Ok(()) };
    let current = count(tx, query).await?;
    if current < limit { Ok(()) } else { Err(StoreError::LimitReached(current)) }
}

/// Returns how many rows may be added. Takes no lock without a limit.
pub(super) async fn remaining(tx: &mut Transaction, query: CountQuery, limit: Option<u64>) -> Result<u64> {
    let Some(limit) = limit else { return Ok(u64::MAX) };
    Ok(limit.saturating_sub(count(tx, query).await?))
}

async fn count(tx: &mut Transaction, (kind, count): CountQuery) -> Result<u64> {
    tx.execute(LOCK_COUNTER, &[kind.into()]).await?;
    Ok(tx.row::<(i64,)>(count, &[]).await?.and_then(|row| u64::try_from(row.0).ok()).unwrap_or(0))
}
