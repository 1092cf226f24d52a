//! Timestamps in milliseconds. The functions of `auth` take the current time as a parameter, so that tests control it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use time::format_description::BorrowedFormatItem;
use time::format_description::well_known::Rfc3339;
use time::macros::format_description;
use time::{OffsetDateTime, UtcDateTime};

/// Last millisecond of the year 9999, the last year of RFC 3339.
const LAST: i64 = 253_402_300_799_999;
/// Nanoseconds in a millisecond.
const NANOSECONDS: i128 = 1_000_000;

/// Milliseconds since 1970, UTC.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// Returns the current time of the system clock.
    pub fn now() -> Timestamp {
        Timestamp(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, whole_milliseconds))
    }

    /// Returns seconds since 1970, as tokens have them.
    pub fn seconds(self) -> i64 {
        self.0.div_euclid(1000)
    }

    /// Returns days since 1970, UTC.
    pub fn day(self) -> i64 {
        self.0.div_euclid(86_400_000)
    }

    /// Formats as RFC 3339 in UTC, such as `2026-11-21T08:00:00.000Z`. A time before 1970 is formatted as the start of
    /// 1970, and a time after the year 9999 as its end.
    pub fn to_rfc3339(self) -> String {
        const FORMAT: &[BorrowedFormatItem<'_>] =
            format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:3]Z");
        let nanoseconds = i128::from(self.0.clamp(0, LAST)) * NANOSECONDS;
        let formatted = UtcDateTime::from_unix_timestamp_nanos(nanoseconds).map(|time| time.format(FORMAT));
        formatted.expect("the time is within its range").expect("the time has all parts of the format")
    }

    /// Parses RFC 3339 with any offset; digits after the milliseconds are ignored. `None` if the text is invalid or
    /// before 1970.
    pub fn from_rfc3339(text: &str) -> Option<Timestamp> {
        // The crate accepts any separator; RFC 3339 has `T`, and mentions the space.
        text.get(10..11).filter(|separator| ["T", "t", " "].contains(separator))?;
        let nanoseconds = OffsetDateTime::parse(text, &Rfc3339).ok()?.unix_timestamp_nanos();
        i64::try_from(nanoseconds.div_euclid(NANOSECONDS)).ok().filter(|time| *time >= 0).map(Timestamp)
    }

    /// Returns the time since an earlier timestamp; zero if that one is later.
    pub fn since(self, earlier: Timestamp) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// Returns the time between two timestamps in any order: one that was recorded before the clock was set back is
    /// later than now.
    pub(crate) fn distance(self, other: Timestamp) -> Duration {
        self.since(other).max(other.since(self))
    }
}

impl std::ops::Add<Duration> for Timestamp {
    type Output = Timestamp;

    fn add(self, span: Duration) -> Timestamp {
        Timestamp(self.0.saturating_add(whole_milliseconds(span)))
    }
}

impl std::ops::Sub<Duration> for Timestamp {
    type Output = Timestamp;

    fn sub(self, span: Duration) -> Timestamp {
        Timestamp(self.0.saturating_sub(whole_milliseconds(span)))
    }
}

fn whole_milliseconds(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc3339_round_trips() {
        for moment in [0, 999, 951_782_400_000, 1_709_164_799_123, 4_102_444_800_000, 253_402_300_799_999] {
            let text = Timestamp(moment).to_rfc3339();
            assert_eq!(Timestamp::from_rfc3339(&text), Some(Timestamp(moment)), "{text}");
        }
    }

    #[test]
    fn times_outside_of_rfc_3339_are_formatted_as_its_first_and_last() {
        assert_eq!(Timestamp(-1).to_rfc3339(), "1970-01-01T00:00:00.000Z");
        assert_eq!(Timestamp(i64::MAX).to_rfc3339(), "9999-12-31T23:59:59.999Z");
    }

    #[test]
    fn other_rfc_3339_forms_are_parsed_and_invalid_ones_rejected() {
        let check = |text: &str, expected: Option<i64>| {
            assert_eq!(Timestamp::from_rfc3339(text).map(|m| m.0), expected, "{text}")
        };
        check("1970-01-01T00:00:01Z", Some(1000));
        check("1970-01-01t02:00:01.5+02:00", Some(1500));
        check("1969-12-31 23:00:00.1239-01:00", Some(123));
        check("2026-11-21T08:00:00Z", Some(1_795_248_000_000));
        check("2026-01-01T00:00:00.1234567890123Z", Some(1_767_225_600_123));
        for wrong in [
            "",
            "2026-11-21",
            "2026-11-21T08:00:00",
            "2026-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-00-10T00:00:00Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01T00:61:00Z",
            "2026-01-01T00:00:00.Z",
            "2026-01-01T00:00:00+2",
            "1969-12-31T23:59:59Z",
            "2026-1-01T00:00:00Z",
            "2026-01-01T00:00:00Zz",
            "2026-01-01T00:00:00ä",
            "+026-01-01T00:00:00Z",
            "2026-11-21T08Z",
            "2026-11-21T08:00Z",
            "20261121T080000Z",
            "2026-11-21_08:00:00Z",
            "2026-11-21T08:00:00+02",
            "2026-11-21T08:00:00,5Z",
        ] {
            check(wrong, None);
        }
    }
}
