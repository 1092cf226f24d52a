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
}

/// Reads a duration in ISO 8601, or in words such as `3 days`.
pub(super) fn parse(value: Value<'_>) -> Result<Span> {
    expect_text(value)?.parse().map_err(|_| {
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
    let total = number * length;
    if total.is_nan() || total.abs() > MAX_SECONDS {
        return None;
    }
    let (seconds, nanoseconds) = (total.trunc() as i64, (total.fract() * 1e9).round() as i64);
    let span = Span::new().try_days(seconds / 86_400).ok()?;
    let span = span.try_hours(seconds % 86_400 / 3600).ok()?;
    let span = span.try_minutes(seconds % 3600 / 60).ok()?;
    span.try_seconds(seconds % 60).ok()?.try_nanoseconds(nanoseconds).ok()
}

/// Returns the number of units of a duration; `None` if months would have to be converted to days, or days to months.
pub(super) fn to_number(span: &Span, unit: Unit) -> Option<f64> {
    let months = f64::from(span.get_years()) * 12.0 + f64::from(span.get_months());
    let seconds = seconds(span);
    match unit.seconds() {
        Some(length) => (months == 0.0).then_some(seconds / length),
        None if seconds != 0.0 => None,
        None => Some(months / unit.months() as f64),
    }
}

/// Returns the seconds of the units up to weeks.
fn seconds(span: &Span) -> f64 {
    let days = f64::from(span.get_weeks()) * 7.0 + f64::from(span.get_days());
    let hours = days * 24.0 + f64::from(span.get_hours());
    let seconds = (hours * 60.0 + span.get_minutes() as f64) * 60.0 + span.get_seconds() as f64;
    let milliseconds = span.get_milliseconds() as f64;
    seconds + milliseconds / 1e3 + span.get_microseconds() as f64 / 1e6 + span.get_nanoseconds() as f64 / 1e9
}
