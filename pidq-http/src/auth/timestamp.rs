//! Timestamps in milliseconds. The functions of `auth` take the current time as a parameter, so that tests control it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

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
    /// 1970.
    pub fn to_rfc3339(self) -> String {
        let milliseconds = u64::try_from(self.0).unwrap_or(0);
        let (days, rest) = (milliseconds / 86_400_000, milliseconds % 86_400_000);
        let (year, month, day) = civil_from_days(days);
        let (seconds, thousandths) = (rest / 1000, rest % 1000);
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{thousandths:03}Z")
    }

    /// Parses RFC 3339 with any offset; digits after the milliseconds are ignored. `None` if the text is invalid or
    /// before 1970.
    pub fn from_rfc3339(text: &str) -> Option<Timestamp> {
        let (date, rest) = text.split_at_checked(10)?;
        let (clock, rest) = rest.strip_prefix(['T', 't', ' '])?.split_at_checked(8)?;
        let days = days_from_civil(numbers(date, "-", &[4, 2, 2])?)?;
        let [hour, minute, second] = numbers(clock, ":", &[2, 2, 2])?;
        let is_time = hour < 24 && minute < 60 && second <= 60;
        let (fraction, zone) = rest.split_at(rest.find(['Z', 'z', '+', '-'])?);
        let thousandths = thousandths(fraction)?;
        let seconds = ((days * 24 + hour) * 60 + minute - offset(zone)?) * 60 + second;
        (is_time && seconds >= 0).then_some(Timestamp(seconds * 1000 + thousandths))
    }

    /// Returns the time since an earlier timestamp; zero if that one is later.
    pub fn since(self, earlier: Timestamp) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
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

/// Parses separated numbers with a fixed number of digits each.
fn numbers<const N: usize>(text: &str, between: &str, digits: &[usize; N]) -> Option<[i64; N]> {
    let mut parts = text.split(between);
    let mut numbers = [0; N];
    for (number, &digits) in numbers.iter_mut().zip(digits) {
        let part =
            parts.next().filter(|part| part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit()))?;
        *number = part.parse().ok()?;
    }
    parts.next().is_none().then_some(numbers)
}

/// Parses `.5` as 500. An empty text is 0.
fn thousandths(fraction: &str) -> Option<i64> {
    if fraction.is_empty() {
        return Some(0);
    }
    let digits = fraction.strip_prefix('.').filter(|digits| !digits.is_empty())?;
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    format!("{digits:0<3}").get(..3).filter(|_| is_number)?.parse().ok()
}

/// Parses `+02:00` as 120 minutes ahead of UTC.
fn offset(zone: &str) -> Option<i64> {
    let sign = match zone.chars().next()? {
        'Z' | 'z' => return (zone.len() == 1).then_some(0),
        '-' => -1,
        _ => 1,
    };
    let [hours, minutes] = numbers(&zone[1..], ":", &[2, 2])?;
    (hours < 24 && minutes < 60).then_some(sign * (hours * 60 + minutes))
}

/// Returns the days between 1970 and a date. `None` if the date does not exist.
fn days_from_civil([year, month, day]: [i64; 3]) -> Option<i64> {
    let (march_year, march_month) = (year - i64::from(month <= 2), (month + 9) % 12);
    let (era, year_of_era) = (march_year.div_euclid(400), march_year.rem_euclid(400));
    let day_of_year = (153 * march_month + 2) / 5 + day - 1;
    let days = era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468;
    ((1..=12).contains(&month) && (1..=days_in_month(year, month)).contains(&day)).then_some(days)
}

fn days_in_month(year: i64, month: i64) -> i64 {
    let is_leap_year = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => 28 + i64::from(is_leap_year),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Returns year, month and day of a day since 1970, computed in eras of 400 years that begin in March.
fn civil_from_days(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let (day, month) = (day - (153 * month + 2) / 5 + 1, if month < 10 { month + 3 } else { month - 9 });
    (era * 400 + year + u64::from(month <= 2), month, day)
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
    fn other_rfc_3339_forms_are_parsed_and_invalid_ones_rejected() {
        let check = |text: &str, expected: Option<i64>| {
            assert_eq!(Timestamp::from_rfc3339(text).map(|m| m.0), expected, "{text}")
        };
        check("1970-01-01T00:00:01Z", Some(1000));
        check("1970-01-01t02:00:01.5+02:00", Some(1500));
        check("1969-12-31 23:00:00.1239-01:00", Some(123));
        check("2026-11-21T08:00:00Z", Some(1_795_248_000_000));
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
        ] {
            check(wrong, None);
        }
    }
}
