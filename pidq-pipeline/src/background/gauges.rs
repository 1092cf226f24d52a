//! Gauges that are computed periodically or when metrics are read: queued jobs, their age, and open indexes.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use pidq_http::prometheus_client::collector::Collector;
use pidq_http::prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use pidq_http::prometheus_client::metrics::counter::ConstCounter;
use pidq_http::prometheus_client::metrics::gauge::ConstGauge;
use pidq_store::StoreError;

use crate::metrics::{INDEX_BYTES, INDEX_PARTITIONS, SNAPSHOTS_INVALID, SNAPSHOTS_LOADED, SNAPSHOTS_WRITTEN};
use crate::platform::Platform;

/// Interval of counting the queued jobs.
const JOB_COUNT_INTERVAL: Duration = Duration::from_secs(5);

/// Counts the jobs periodically. Never returns.
pub(crate) async fn count_jobs_periodically(platform: Arc<Platform>) {
    loop {
        if let Err(error) = count_jobs(&platform).await {
            tracing::debug!(%error, "counting jobs failed");
        }
        tokio::time::sleep(JOB_COUNT_INTERVAL).await;
    }
}

/// Counts the jobs now.
///
/// # Errors
/// If the database query fails.
pub async fn count_jobs(platform: &Platform) -> Result<(), StoreError> {
    for (kind, jobs) in platform.store.count_jobs_by_kind().await? {
        platform.metrics.set_jobs(kind, jobs);
    }
    platform.metrics.set_oldest_job_age(platform.store.oldest_job_age().await?);
    Ok(())
}

/// Collector of the metrics of open indexes and their snapshots.
pub(crate) struct IndexCollector(pub Arc<Platform>);

impl fmt::Debug for IndexCollector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IndexCollector")
    }
}

impl Collector for IndexCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let indexes = &self.0.search.indexes;
        for (row, value) in [(&INDEX_BYTES, indexes.bytes()), (&INDEX_PARTITIONS, indexes.len())] {
            let gauge = ConstGauge::new(i64::try_from(value).unwrap_or(i64::MAX));
            gauge.encode(row.encode(&mut encoder)?)?;
        }
        let Some(snapshots) = indexes.snapshots() else { return Ok(()) };
        for (row, count) in [
            (&SNAPSHOTS_LOADED, &snapshots.loaded),
            (&SNAPSHOTS_WRITTEN, &snapshots.written),
            (&SNAPSHOTS_INVALID, &snapshots.invalid),
        ] {
            ConstCounter::new(count.load(Relaxed)).encode(row.encode(&mut encoder)?)?;
        }
        Ok(())
    }
}
