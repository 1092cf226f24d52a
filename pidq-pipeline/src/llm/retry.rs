//! Delay before a retry: as requested by the server, else exponential backoff with jitter.

use std::time::Duration;

use super::ClientOptions;
use super::deadline::Deadline;
use super::error::LlmError;

/// Maximum delay requested by a server that is honored.
const MAX_SERVER_DELAY: Duration = Duration::from_secs(120);

/// Maximum backoff.
const MAX_BACKOFF: Duration = Duration::from_secs(8);

/// Returns the delay before the next attempt; `None` if there is none.
pub(super) fn delay(error: &LlmError, retries: u32, options: &ClientOptions, deadline: &Deadline) -> Option<Duration> {
    if !error.is_retryable() || retries >= options.max_retries {
        return None;
    }
    let requested = error.retry_after().filter(|delay| *delay <= MAX_SERVER_DELAY);
    let delay = requested.unwrap_or_else(|| backoff(options.retry_delay, retries));
    // A delay beyond the deadline is useless: return the error now, with the delay.
    (delay < deadline.remaining()).then_some(delay)
}

/// Exponential backoff minus up to 25 % jitter, so that callers who failed together do not retry together.
fn backoff(first: Duration, retries: u32) -> Duration {
    let delay = first.saturating_mul(1 << retries.min(10)).min(MAX_BACKOFF);
    delay.mul_f64(1.0 - 0.25 * jitter())
}

/// Returns a random number from 0 to 1; 0 if the random number generator fails, which is no reason to fail the call.
fn jitter() -> f64 {
    f64::from(getrandom::u32().unwrap_or(0)) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_up_to_eight_seconds_minus_at_most_a_quarter() {
        for (retries, limit) in [(0, 500), (1, 1000), (2, 2000), (4, 8000), (9, 8000), (u32::MAX, 8000)] {
            let delay = backoff(Duration::from_millis(500), retries).as_millis() as u64;
            assert!((limit * 3 / 4..=limit).contains(&delay), "{retries}: {delay}");
        }
    }
}
