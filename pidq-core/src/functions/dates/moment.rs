//! A date as its text states it: with or without a time, with or without an offset from UTC.

use std::fmt;

use jiff::Span;
use jiff::civil::{Date, DateTime, Time};
use jiff::fmt::strtime::BrokenDownTime;
use jiff::fmt::temporal::{Pieces, PiecesOffset};
use jiff::tz::Offset;

use super::duration::{self, NANOSECONDS, Unit};

/// A date, optionally with a time and its offset from UTC.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    /// Local date and time; midnight if no time is stated.
    local: DateTime,
    has_time: bool,
    zone: Zone,
}

/// Offset from UTC as stated.
#[derive(Clone, Copy, Debug)]
enum Zone {
    Unstated,
    Utc,
    Offset(Offset),
}

impl Zone {
    fn offset(self) -> Option<Offset> {
        match self {
            Zone::Unstated => None,
            Zone::Utc => Some(Offset::UTC),
            Zone::Offset(offset) => Some(offset),
        }
    }
}

impl Moment {
    /// A date with all parts.
    pub const EXAMPLE: Moment =
        Moment { local: DateTime::constant(2026, 11, 26, 8, 30, 0, 0), has_time: true, zone: Zone::Utc };

    /// Reads a date in ISO 8601. The name of a time zone has no meaning without a database.
    pub fn parse(text: &str) -> Option<Moment> {
        let pieces = Pieces::parse(text).ok().filter(|pieces| pieces.time_zone_annotation().is_none())?;
        let zone = match pieces.offset() {
            None => Zone::Unstated,
            Some(PiecesOffset::Zulu) => Zone::Utc,
            Some(offset) => Zone::Offset(offset.to_numeric_offset()),
        };
        let time = pieces.time();
        Some(Moment {
            local: pieces.date().to_datetime(time.unwrap_or(Time::midnight())),
            has_time: time.is_some(),
            zone,
        })
    }

    /// Returns the date of parsed parts; `None` if they are no date. A year or a month is its first day, and a timestamp is
    /// in UTC.
    pub fn from_parts(mut parts: BrokenDownTime) -> Option<Moment> {
        if let Some(timestamp) = parts.timestamp() {
            return Moment::from_epoch(timestamp.as_second() as f64);
        }
        let day_parts = [parts.iso_week(), parts.sunday_based_week(), parts.monday_based_week(), parts.day()];
        if day_parts.iter().all(Option::is_none) && parts.day_of_year().is_none() && parts.year().is_some() {
            parts.set_month(parts.month().or(Some(1))).ok()?;
            parts.set_day(Some(1)).ok()?;
        }
        let date = parts.to_date().ok()?;
        let time = parts.hour().map(|_| parts.to_time()).transpose().ok()?;
        let zone = parts.offset().filter(|_| time.is_some()).map_or(Zone::Unstated, Zone::Offset);
        Some(Moment { local: date.to_datetime(time.unwrap_or(Time::midnight())), has_time: time.is_some(), zone })
    }

    /// Returns the date and time of a number of seconds since 1970.
    pub fn from_epoch(seconds: f64) -> Option<Moment> {
        /// Greater numbers are no dates. Also keeps the casts exact.
        const MAX: f64 = 1e13;
        if seconds.is_nan() || seconds.abs() > MAX {
            return None;
        }
        let nanoseconds = duration::nanoseconds(seconds);
        let (whole, part) = (nanoseconds.div_euclid(NANOSECONDS), nanoseconds.rem_euclid(NANOSECONDS));
        let local = EPOCH.checked_add(Span::new().try_seconds(whole as i64).ok()?).ok()?;
        let local = local.checked_add(Span::new().try_nanoseconds(part as i64).ok()?).ok()?;
        Some(Moment { local, has_time: true, zone: Zone::Utc })
    }

    pub fn has_offset(&self) -> bool {
        self.zone.offset().is_some()
    }

    /// Returns the nanoseconds since 1970; without an offset, of the time in UTC.
    fn since_epoch(&self) -> i128 {
        let offset = self.zone.offset().map_or(0, |offset| i64::from(offset.seconds()));
        self.local.duration_since(EPOCH).as_nanos() - i128::from(offset) * NANOSECONDS
    }

    pub fn to_epoch(self) -> f64 {
        Unit::Seconds.count(self.since_epoch()).unwrap_or(f64::NAN)
    }

    /// Returns the sum with a duration. A date without a time gets one if the duration has hours.
    pub fn plus(&self, span: Span) -> Option<Moment> {
        let local = self.local.checked_add(span).ok()?;
        let has_time = self.has_time || local.time() != Time::midnight();
        Some(Moment { local, has_time, zone: self.zone })
    }

    /// Returns the time to another date.
    pub fn until(&self, other: &Moment, unit: Unit) -> Option<f64> {
        let count = unit.count(other.since_epoch() - self.since_epoch());
        count.or_else(|| self.complete_months(other, unit))
    }

    /// Returns the complete months, quarters or years to another date, at the offset of this one.
    fn complete_months(&self, other: &Moment, unit: Unit) -> Option<f64> {
        let other_local = match (self.zone.offset(), other.zone.offset()) {
            (Some(here), Some(there)) => {
                let shift = i64::from(here.seconds()) - i64::from(there.seconds());
                other.local.checked_add(Span::new().try_seconds(shift).ok()?).ok()?
            }
            _ => other.local,
        };
        let (from, to) = (self.local.date(), other_local.date());
        let months = 12 * (i64::from(to.year()) - i64::from(from.year())) + i64::from(to.month() - from.month());
        // The sum with the complete months does not go past the other date: the inverse of `plus`.
        let sum = Span::new().try_months(months).ok().and_then(|span| self.local.checked_add(span).ok());
        let is_past = |sum: DateTime| if other_local >= self.local { sum > other_local } else { sum < other_local };
        let complete = if sum.is_none_or(is_past) { months - months.signum() } else { months };
        Some((complete / unit.months().max(1)) as f64)
    }

    /// Returns the start of the unit that the date is in.
    pub fn start_of(&self, unit: Unit) -> Option<Moment> {
        let (date, time) = (self.local.date(), self.local.time());
        let at = |hour, minute, second| Time::new(hour, minute, second, 0).ok();
        let milliseconds = time.subsec_nanosecond() / 1_000_000 * 1_000_000;
        let (date, time) = match unit {
            Unit::Years => (date.first_of_year(), Time::midnight()),
            Unit::Quarters => {
                let month = (date.month() - 1) / 3 * 3 + 1;
                (Date::new(date.year(), month, 1).ok()?, Time::midnight())
            }
            Unit::Months => (date.first_of_month(), Time::midnight()),
            Unit::Weeks => {
                let days = i64::from(date.weekday().to_monday_zero_offset());
                (date.checked_sub(Span::new().try_days(days).ok()?).ok()?, Time::midnight())
            }
            Unit::Days => (date, Time::midnight()),
            Unit::Hours => (date, at(time.hour(), 0, 0)?),
            Unit::Minutes => (date, at(time.hour(), time.minute(), 0)?),
            Unit::Seconds => (date, at(time.hour(), time.minute(), time.second())?),
            Unit::Milliseconds => (date, Time::new(time.hour(), time.minute(), time.second(), milliseconds).ok()?),
        };
        Some(Moment { local: date.to_datetime(time), ..*self })
    }

    /// Returns the same moment at another offset from UTC; `None` if the date has no offset.
    pub fn at_offset_of(&self, other: &Moment) -> Option<Moment> {
        let shift = i64::from(other.zone.offset()?.seconds()) - i64::from(self.zone.offset()?.seconds());
        let local = self.local.checked_add(Span::new().try_seconds(shift).ok()?).ok()?;
        Some(Moment { local, has_time: true, zone: other.zone })
    }

    /// Returns a part by its name.
    pub fn part(&self, name: &str) -> Option<f64> {
        let (date, time) = (self.local.date(), self.local.time());
        let week = || date.iso_week_date();
        Some(match name {
            "year" => f64::from(date.year()),
            "quarter" => f64::from((date.month() + 2) / 3),
            "month" => f64::from(date.month()),
            "week" => f64::from(week().week()),
            "day" => f64::from(date.day()),
            "hour" => f64::from(time.hour()),
            "minute" => f64::from(time.minute()),
            "second" => {
                let whole = i128::from(time.second()) * NANOSECONDS;
                Unit::Seconds.count(whole + i128::from(time.subsec_nanosecond()))?
            }
            "weekday" => f64::from(date.weekday().to_monday_one_offset()),
            "dayOfYear" => f64::from(date.day_of_year()),
            "daysInMonth" => f64::from(date.days_in_month()),
            "weekYear" => f64::from(week().year()),
            _ => return None,
        })
    }

    /// Returns the parts for a format.
    pub fn broken_down(&self) -> BrokenDownTime {
        let mut parts = BrokenDownTime::from(self.local);
        parts.set_offset(self.zone.offset());
        parts
    }
}

/// The start of 1970.
const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);

impl fmt::Display for Moment {
    /// Writes ISO 8601, with the parts that the date has.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let date: Date = self.local.date();
        if !self.has_time {
            return write!(f, "{date}");
        }
        write!(f, "{}", self.local)?;
        match self.zone {
            Zone::Unstated => Ok(()),
            Zone::Utc => f.write_str("Z"),
            Zone::Offset(offset) => write_offset(offset.seconds(), f),
        }
    }
}

/// Writes hours and minutes; seconds, which only old local times have, if there are any.
fn write_offset(seconds: i32, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let sign = if seconds < 0 { '-' } else { '+' };
    let (minutes, rest) = (seconds.abs() / 60, seconds.abs() % 60);
    write!(f, "{sign}{:02}:{:02}", minutes / 60, minutes % 60)?;
    if rest == 0 { Ok(()) } else { write!(f, ":{rest:02}") }
}
