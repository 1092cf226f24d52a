//! Delay that a server requests: `retry-after-ms` or `Retry-After`.

use std::time::{Duration, SystemTime};

use hyper::HeaderMap;
use hyper::header::RETRY_AFTER;

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
}
