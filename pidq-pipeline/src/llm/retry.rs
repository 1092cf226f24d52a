//! When a request is repeated: after the pause that the server asks for, or after one that doubles.

use std::time::{Duration, SystemTime};

use hyper::HeaderMap;
use hyper::header::RETRY_AFTER;

use super::Patience;
use super::error::LlmError;
use super::exchange::Clock;

/// The longest pause that a server is granted.
const GRANTED: Duration = Duration::from_secs(120);

/// The longest pause of our own.
const LONGEST: Duration = Duration::from_secs(8);

/// The pause before the next try. None: there is none.
pub(super) fn pause(error: &LlmError, repetitions: u32, patience: &Patience, clock: &Clock) -> Option<Duration> {
    if !error.may_repeat() || repetitions >= patience.retries {
        return None;
    }
    let wanted = error.retry_after().filter(|pause| *pause <= GRANTED);
    let pause = wanted.unwrap_or_else(|| own(patience.pause, repetitions));
    // Waiting beyond the end of the call helps nobody: better to say so now, and for how long.
    (pause < clock.left()).then_some(pause)
}

/// Twice as long each time, less up to a quarter, so that callers who failed together do not come back together.
fn own(first: Duration, repetitions: u32) -> Duration {
    let pause = first.saturating_mul(1 << repetitions.min(10)).min(LONGEST);
    pause.mul_f64(1.0 - 0.25 * chance())
}

/// From 0 to 1. Without randomness, callers come back together: no reason to fail.
fn chance() -> f64 {
    f64::from(getrandom::u32().unwrap_or(0)) / f64::from(u32::MAX)
}

/// `retry-after-ms`, or `Retry-After` as seconds or as a date.
pub(super) fn wanted(headers: &HeaderMap) -> Option<Duration> {
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
        assert_eq!(wanted(&headers), expected, "{name}: {value}");
    }

    #[test]
    fn servers_say_in_three_ways_when_to_come_back() {
        check("retry-after-ms", "1500", Some(Duration::from_millis(1500)));
        check("retry-after", "7", Some(Duration::from_secs(7)));
        check("retry-after", "0.5", Some(Duration::from_millis(500)));
        check("retry-after", "-1", None);
        check("retry-after", "NaN", None);
        check("retry-after", "soon", None);
        check("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT", None);
        let date = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(60));
        let headers = HeaderMap::from_iter([(RETRY_AFTER, date.parse().expect("a date"))]);
        assert!((58..=60).contains(&wanted(&headers).expect("a pause").as_secs()));
    }

    #[test]
    fn pauses_double_up_to_eight_seconds_and_lose_up_to_a_quarter() {
        for (repetitions, most) in [(0, 500), (1, 1000), (2, 2000), (4, 8000), (9, 8000), (u32::MAX, 8000)] {
            let pause = own(Duration::from_millis(500), repetitions).as_millis() as u64;
            assert!((most * 3 / 4..=most).contains(&pause), "{repetitions}: {pause}");
        }
    }
}
