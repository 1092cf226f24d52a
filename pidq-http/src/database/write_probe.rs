//! Check whether SQLite can write: the shortest write, at most once per second.

use std::time::Duration;

use sqlx::{Pool, Sqlite};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use super::DatabaseError;

/// Interval between writes, however often the database is checked; shorter while it cannot write.
const INTERVAL: Duration = Duration::from_secs(1);
const RETRY_INTERVAL: Duration = Duration::from_millis(250);
/// Wait for the writing connection. Whoever holds it longer is writing.
const WRITER_TIMEOUT: Duration = Duration::from_millis(500);
/// Statement that sets a number which nothing reads to the value it has: SQLite writes the first page of the file.
const WRITE: &str = "pragma user_version = 0";

/// Latest check.
#[derive(Default)]
pub(super) struct WriteProbe(Mutex<Option<(Instant, bool)>>);

impl WriteProbe {
    /// Returns false if the disk is full.
    pub async fn is_writable(&self, writer: &Pool<Sqlite>) -> Result<bool, DatabaseError> {
        // Concurrent checks wait for one write.
        let mut latest = self.0.lock().await;
        if let Some((checked_at, is_writable)) = *latest
            && checked_at.elapsed() < if is_writable { INTERVAL } else { RETRY_INTERVAL }
        {
            return Ok(is_writable);
        }
        let is_writable = match timeout(WRITER_TIMEOUT, sqlx::query(WRITE).execute(writer)).await {
            Err(_) => true,
            Ok(written) => match written.map_err(DatabaseError::from) {
                Ok(_) => true,
                Err(error) if error.is_full() => false,
                Err(error) => return Err(error),
            },
        };
        *latest = Some((Instant::now(), is_writable));
        Ok(is_writable)
    }
}
