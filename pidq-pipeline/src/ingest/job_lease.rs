//! Lease of a running job: its renewal, and the delay before a failed job is leased again.
//!
//! `PIDQ_JOB_LEASE_TTL` is the duration of a lease; the store grants and extends it.

use std::time::Duration;

use pidq_store::Job;

use crate::platform::Platform;

/// Maximum attempts per document.
pub(super) const MAX_ATTEMPTS: i64 = 5;

/// Renews the lease until it is lost.
pub(super) async fn renew_lease(platform: &Platform, job: &Job) {
    loop {
        tokio::time::sleep(platform.ingestion.job_lease / 3).await;
        match platform.store.renew_job_lease(job, platform.ingestion.job_lease).await {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) => tracing::warn!(job = job.id, %error, "renewing a job lease failed; retrying"),
        }
    }
}

/// Returns the delay before a retry: 1, 4, 16, 64 seconds.
pub(super) fn retry_delay(attempts: i64) -> Duration {
    let exponent = u32::try_from(attempts - 1).unwrap_or(0).min(8);
    Duration::from_secs(4u64.pow(exponent))
}
