//! Delay before a retry: as requested by the server, else exponential backoff with jitter.

use std::time::{Duration, SystemTime};

use hyper::HeaderMap;
use hyper::header::RETRY_AFTER;

use super::ClientOptions;
use super::error::LlmError;
use super::http::Deadline;

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

/// Parses `retry-after-ms`, or `Retry-After` as seconds or a date.
pub(super) fn server_delay(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| (0.0..=1e9).contains(number));
    if let Some(millis) = text("retry-after-ms").and_then(number) {
        return Some(Duration::from_secs_f64(millis / 1000.0));
    }
    let after = text(RETRY_AFTER.as_str())?;
    let seconds = number(after).map(Duration::from_secs_f64);
    seconds.or_else(|| httpdate::parse_http_date(after).ok()?.duration_since(SystemTime::now()).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &'static str, value: &str, expected: Option<Duration>) {
        let headers = HeaderMap::from_iter([(name.parse().expect("a name"), value.parse().expect("a value"))]);
        assert_eq!(server_delay(&headers), expected, "{name}: {value}");
    }

    #[test]
    fn the_delay_of_a_server_has_three_formats() {
        check("retry-after-ms", "1500", Some(Duration::from_millis(1500)));
        check("retry-after", "7", Some(Duration::from_secs(7)));
        check("retry-after", "0.5", Some(Duration::from_millis(500)));
        check("retry-after", "-1", None);
        check("retry-after", "NaN", None);
        check("retry-after", "soon", None);
        check("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT", None);
        let date = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(60));
        let headers = HeaderMap::from_iter([(RETRY_AFTER, date.parse().expect("a date"))]);
        assert!((58..=60).contains(&server_delay(&headers).expect("a delay").as_secs()));
    }

    #[test]
    fn delays_double_up_to_eight_seconds_minus_at_most_a_quarter() {
        for (retries, limit) in [(0, 500), (1, 1000), (2, 2000), (4, 8000), (9, 8000), (u32::MAX, 8000)] {
            let delay = backoff(Duration::from_millis(500), retries).as_millis() as u64;
            assert!((limit * 3 / 4..=limit).contains(&delay), "{retries}: {delay}");
        }
    }
}
