//! A point in time. Nothing in `auth` reads the clock by itself, so a test can live through a month in a second.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Moment(pub i64);

impl Moment {
    /// The time of the system's clock.
    pub fn now() -> Moment {
        Moment(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, whole_milliseconds))
    }

    /// Seconds since 1970, as tokens say it.
    pub fn seconds(self) -> i64 {
        self.0.div_euclid(1000)
    }

    /// RFC 3339 in UTC, such as `2026-11-21T08:00:00.000Z`. Moments before 1970 are shown as its beginning.
    pub fn to_rfc3339(self) -> String {
        let milliseconds = u64::try_from(self.0).unwrap_or(0);
        let (days, rest) = (milliseconds / 86_400_000, milliseconds % 86_400_000);
        let (year, month, day) = civil(days);
        let (seconds, thousandths) = (rest / 1000, rest % 1000);
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{thousandths:03}Z")
    }

    /// The time between an earlier moment and this one; zero if that one is later.
    pub fn since(self, earlier: Moment) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

impl std::ops::Add<Duration> for Moment {
    type Output = Moment;

    fn add(self, span: Duration) -> Moment {
        Moment(self.0.saturating_add(whole_milliseconds(span)))
    }
}

impl std::ops::Sub<Duration> for Moment {
    type Output = Moment;

    fn sub(self, span: Duration) -> Moment {
        Moment(self.0.saturating_sub(whole_milliseconds(span)))
    }
}

fn whole_milliseconds(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
}

/// Year, month and day of a day since 1970, by eras of 400 years that begin in March.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let (day, month) = (day - (153 * month + 2) / 5 + 1, if month < 10 { month + 3 } else { month - 9 });
    (era * 400 + year + u64::from(month <= 2), month, day)
}
