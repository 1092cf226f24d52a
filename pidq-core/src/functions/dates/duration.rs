//! Durations and their units.

use jiff::Span;

use crate::error::Result;
use crate::functions::nested::invalid;
use crate::functions::string::expect_text;
use crate::value::Value;

/// Names of the units, in the order of [`Unit::from_index`].
pub(super) const UNITS: &[&str] =
    &["years", "quarters", "months", "weeks", "days", "hours", "minutes", "seconds", "milliseconds"];

/// Unit of time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Unit {
    Years,
    Quarters,
    Months,
    Weeks,
    Days,
    Hours,
    Minutes,
    Seconds,
    Milliseconds,
}

impl Unit {
    /// Returns the unit at an index of [`UNITS`].
    pub fn from_index(index: usize) -> Unit {
        const ALL: [Unit; 9] = [
            Unit::Years,
            Unit::Quarters,
            Unit::Months,
            Unit::Weeks,
            Unit::Days,
            Unit::Hours,
            Unit::Minutes,
            Unit::Seconds,
            Unit::Milliseconds,
        ];
        ALL[index.min(ALL.len() - 1)]
    }

    /// Returns the length in months; zero for weeks and shorter units.
    pub fn months(self) -> i64 {
        match self {
            Unit::Years => 12,
            Unit::Quarters => 3,
            Unit::Months => 1,
            _ => 0,
        }
    }

    /// Returns the length in seconds, of days without a change of the clock; `None` for months and longer units.
    pub fn seconds(self) -> Option<f64> {
        match self {
            Unit::Years | Unit::Quarters | Unit::Months => None,
            Unit::Weeks => Some(604_800.0),
            Unit::Days => Some(86_400.0),
            Unit::Hours => Some(3600.0),
            Unit::Minutes => Some(60.0),
            Unit::Seconds => Some(1.0),
            Unit::Milliseconds => Some(1e-3),
        }
    }

    /// Returns the number of units in some nanoseconds; `None` for months and longer units. The decimal is rounded once:
    /// 1792972800.123 seconds are the double that is written so.
    pub fn count(self, nanoseconds: i128) -> Option<f64> {
        let in_unit = |exponent: i32| format!("{nanoseconds}e{exponent}").parse::<f64>().ok();
        let length = self.seconds()?;
        match self {
            Unit::Milliseconds => in_unit(-6),
            _ if nanoseconds % NANOSECONDS == 0 => Some((nanoseconds / NANOSECONDS) as f64 / length),
            _ => Some(in_unit(-9)? / length),
        }
    }
}

/// Nanoseconds in a second.
pub(super) const NANOSECONDS: i128 = 1_000_000_000;

/// Returns the nanoseconds in a number of seconds below 10^14, those of its shortest decimal: the double for
/// 1792972800.123 is 93 nanoseconds less.
pub(super) fn nanoseconds(seconds: f64) -> i128 {
    let decimal = seconds.abs().to_string();
    let (whole, fraction) = decimal.split_once('.').unwrap_or((&decimal, ""));
    let digit = |at: usize| fraction.as_bytes().get(at).map_or(0, |digit| i128::from(digit - b'0'));
    let total = (0..9).fold(whole.parse().unwrap_or(0), |total, at| total * 10 + digit(at));
    let rounded = total + i128::from(digit(9) >= 5);
    if seconds < 0.0 { -rounded } else { rounded }
}

/// Reads a duration in ISO 8601, or in words such as `3 days`.
pub(super) fn parse(value: Value<'_>) -> Result<Span> {
    let text = expect_text(value).map_err(|error| match value {
        Value::Number(_) => error.with_help("a duration has a unit: `durationFrom(30, \"days\")`, or `\"P30D\"`"),
        _ => error,
    })?;
    text.parse().map_err(|_| {
        let error = invalid("Duration expected in ISO 8601", value);
        error.with_help("`P1Y2M3D`, `PT1H30M`, `-P7D`; `durationFrom(90, \"minutes\")` writes one")
    })
}

/// Returns the duration of a number of units, in days, hours, minutes and seconds.
pub(super) fn from_number(number: f64, unit: Unit) -> Option<Span> {
    /// More does not fit into the years of a date.
    const MAX_SECONDS: f64 = 6.3e11;
    let Some(length) = unit.seconds() else {
        let count = Some(number as i64).filter(|count| *count as f64 == number)?;
        let span = Span::new();
        return match unit {
            Unit::Years => span.try_years(count),
            _ => span.try_months(count.checked_mul(unit.months())?),
        }
        .ok();
    };
    let total = if length < 1.0 { number / (1.0 / length).round() } else { number * length };
    if total.is_nan() || total.abs() > MAX_SECONDS {
        return None;
    }
    let total = nanoseconds(total);
    let (seconds, rest) = ((total / NANOSECONDS) as i64, (total % NANOSECONDS) as i64);
    let span = Span::new().try_days(seconds / 86_400).ok()?;
    let span = span.try_hours(seconds % 86_400 / 3600).ok()?;
    let span = span.try_minutes(seconds % 3600 / 60).ok()?;
    span.try_seconds(seconds % 60).ok()?.try_nanoseconds(rest).ok()
}

/// Returns the number of units of a duration; `None` if months would have to be converted to days, or days to months.
pub(super) fn to_number(span: &Span, unit: Unit) -> Option<f64> {
    let months = f64::from(span.get_years()) * 12.0 + f64::from(span.get_months());
    let total = total_nanoseconds(span);
    match unit.count(total) {
        Some(count) => (months == 0.0).then_some(count),
        None if total != 0 => None,
        None => Some(months / unit.months() as f64),
    }
}

/// Returns the nanoseconds of the units up to weeks.
fn total_nanoseconds(span: &Span) -> i128 {
    let days = i128::from(span.get_weeks()) * 7 + i128::from(span.get_days());
    let hours = days * 24 + i128::from(span.get_hours());
    let seconds = (hours * 60 + i128::from(span.get_minutes())) * 60 + i128::from(span.get_seconds());
    let microseconds = i128::from(span.get_milliseconds()) * 1000 + i128::from(span.get_microseconds());
    seconds * NANOSECONDS + microseconds * 1000 + i128::from(span.get_nanoseconds())
}
