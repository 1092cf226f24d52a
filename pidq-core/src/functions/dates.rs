//! Functions of dates and durations, which are texts in ISO 8601.
//!
//! There is neither a clock nor a time zone database: the present is a parameter of the query, and a time has the offset
//! from UTC that its text states, or none.

mod duration;
mod moment;

use std::fmt::Write;

use jiff::fmt::strtime::BrokenDownTime;

use super::array::optional;
use super::helpers::{expect_number, string_args};
use super::nested::invalid;
use super::string::expect_text;
use crate::error::{Error, Result};
use crate::eval::EvalContext;
use crate::eval::option_spec::OptionSpec;
use crate::eval::plan::Plan;
use crate::eval::plan::function::{Body, Function, Param};
use crate::value::Value;
use duration::Unit;
use moment::Moment;

const UNIT: OptionSpec = OptionSpec::plural_keyword("unit", duration::UNITS);
const PART: OptionSpec = OptionSpec::keyword("part", PARTS);
const NUMBER: OptionSpec = OptionSpec::any_number("number");

/// Parts of a date, in the order of [`moment::Moment::part`].
const PARTS: &[&str] = &[
    "year",
    "quarter",
    "month",
    "week",
    "day",
    "hour",
    "minute",
    "second",
    "weekday",
    "dayOfYear",
    "daysInMonth",
    "weekYear",
];

pub(crate) const FUNCTIONS: &[Function] = &[
    Function {
        name: "dateAdd",
        params: &[Param::query("date"), Param::query("duration")],
        summary: "A date plus a duration such as `P1M` or `-PT12H`; a day that the month does not have becomes its last one.",
        example: r#"[dateAdd("2026-01-31", "P1M"), dateAdd("2026-03-01T08:00:00Z", "-PT12H")] => ["2026-02-28","2026-02-28T20:00:00Z"]"#,
        body: Body::Lazy(date_add),
    },
    Function {
        name: "dateDiff",
        params: &[Param::query("from"), Param::query("to"), Param::checked(&UNIT)],
        summary: "The time from one date to another: complete months, quarters or years; other units, from weeks to milliseconds, with fractions.",
        example: r#"[dateDiff("2026-01-31", "2026-03-01", "days"), dateDiff("2026-01-31", "2026-03-01", "months")] => [29,1]"#,
        body: Body::Lazy(date_diff),
    },
    Function {
        name: "dateFormat",
        params: &[Param::query("date"), Param::query("format")],
        summary: "A date as a text in a format of `strftime`: `%Y` year, `%m` month, `%d` day, `%H:%M:%S` time, `%V` week, `%b` and `%a` names.",
        example: r#"dateFormat("2026-11-26T09:05:00", "%d.%m.%Y %H:%M") => "26.11.2026 09:05""#,
        body: Body::Lazy(date_format),
    },
    Function {
        name: "dateFromEpoch",
        params: &[Param::checked(&NUMBER)],
        summary: "The date of a number of seconds since 1970 in UTC; one of milliseconds is divided by 1000.",
        example: r#"[dateFromEpoch(1792972800), dateFromEpoch(1792972800123 / 1000)] => ["2026-10-26T00:00:00Z","2026-10-26T00:00:00.123Z"]"#,
        body: Body::Lazy(date_from_epoch),
    },
    Function {
        name: "dateParse",
        params: &[Param::query("text"), Param::query("format")],
        summary: "The date, in ISO 8601, of a text in a format of `strptime`; null if the text is no such date. A year or a month is its first day.",
        example: r#"[dateParse("26.11.2026", "%d.%m.%Y"), dateParse("31.11.2026", "%d.%m.%Y")] => ["2026-11-26",null]"#,
        body: Body::Lazy(date_parse),
    },
    Function {
        name: "datePart",
        params: &[Param::query("date"), Param::checked(&PART)],
        summary: "A part of a date as a number: year, quarter, month, week, day, hour, minute, second, weekday (Monday is 1) and more.",
        example: r#"[datePart("2026-11-26", "quarter"), datePart("2026-11-26", "weekday")] => [4,4]"#,
        body: Body::Lazy(date_part),
    },
    Function {
        name: "dateToEpoch",
        params: &[Param::query("date")],
        summary: "The seconds from 1970 to a date; a date without an offset is in UTC.",
        example: r#"dateToEpoch("1970-01-02T01:00:00+01:00") => 86400"#,
        body: Body::Lazy(date_to_epoch),
    },
    Function {
        name: "dateToOffset",
        params: &[Param::query("date"), Param::query("offset")],
        summary: "The same moment at another offset from UTC, such as `+01:00` or `Z`; the date must state its own. Names of time zones are not known.",
        example: r#"dateToOffset("2026-11-26T23:30:00Z", "+01:00") => "2026-11-27T00:30:00+01:00""#,
        body: Body::Lazy(date_to_offset),
    },
    Function {
        name: "dateTrunc",
        params: &[Param::query("date"), Param::checked(&UNIT)],
        summary: "The start of the year, quarter, month, week, day, hour, minute, second or millisecond of a date; weeks begin on Monday.",
        example: r#"[dateTrunc("2026-11-26", "month"), dateTrunc("2026-11-26", "week")] => ["2026-11-01","2026-11-23"]"#,
        body: Body::Lazy(date_trunc),
    },
    Function {
        name: "durationFrom",
        params: &[Param::query("number"), Param::checked(&UNIT)],
        summary: "The duration of a number of units, in ISO 8601.",
        example: r#"[durationFrom(90, "minutes"), durationFrom(18, "months")] => ["PT1H30M","P18M"]"#,
        body: Body::Lazy(duration_from),
    },
    Function {
        name: "durationTo",
        params: &[Param::query("duration"), Param::checked(&UNIT)],
        summary: "A duration as a number of units; months and years, which vary in length, only in months and years.",
        example: r#"[durationTo("PT1H30M", "minutes"), durationTo("P1Y6M", "years")] => [90,1.5]"#,
        body: Body::Lazy(duration_to),
    },
];

/// Returns a date argument; `None` for null.
fn date<'a>(cx: &mut EvalContext<'a>, args: &'a [Plan], at: usize, input: Value<'a>) -> Result<Option<Moment>> {
    let value = optional(cx, args, at, input)?;
    if value.is_null() {
        return Ok(None);
    }
    let text = expect_text(value)?;
    cx.charge(4)?;
    Moment::parse(text).map(Some).ok_or_else(|| {
        let error = invalid("Date expected in ISO 8601", value);
        error.with_help(match text.contains('[') {
            true => "names of time zones are not known: `replaceRegex(.date, \"\\\\[.*\", \"\")` leaves the offset",
            false => "`2026-11-26`, `2026-11-26T08:30:00Z`; `dateParse(text, format)` reads other forms",
        })
    })
}

const NO_ZONE_NAMES: &str = "names of time zones are not known: give the offset that holds at that moment, such as `+01:00` in winter and `+02:00` in summer";

/// Maximum length of an offset from UTC, in bytes.
const MAX_OFFSET: usize = 9;

/// Returns the unit that is the last argument.
fn unit<'a>(cx: &mut EvalContext<'a>, args: &'a [Plan], at: usize, input: Value<'a>) -> Result<Unit> {
    let value = optional(cx, args, at, input)?;
    let index = UNIT.as_keyword(value)?;
    index.map(Unit::from_index).ok_or_else(|| crate::eval::option_spec::bad_option("unit", value, &UNIT.expects()))
}

fn out_of_range(value: Value<'_>) -> Error {
    invalid("Years are from -9999 to 9999: the result is out of range", value)
}

fn date_text<'a>(cx: &mut EvalContext<'a>, moment: &Moment) -> Result<Value<'a>> {
    cx.build_text(|out| write!(out, "{moment}")).map(Value::String)
}

fn date_add<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let Some(moment) = date(cx, args, 0, input)? else { return Ok(Value::Null) };
    let value = optional(cx, args, 1, input)?;
    if value.is_null() {
        return Ok(Value::Null);
    }
    let span = duration::parse(value)?;
    let sum = moment.plus(span).ok_or_else(|| out_of_range(value))?;
    date_text(cx, &sum)
}

fn date_diff<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let unit = unit(cx, args, 2, input)?;
    let (Some(from), Some(to)) = (date(cx, args, 0, input)?, date(cx, args, 1, input)?) else {
        return Ok(Value::Null);
    };
    if from.has_offset() != to.has_offset() {
        let error = invalid("Only one of the two dates states its offset from UTC", optional(cx, args, 1, input)?);
        return Err(error.with_help("write both with an offset, such as `Z`, or both without"));
    }
    Ok(from.until(&to, unit).map_or(Value::Null, Value::number))
}

fn date_format<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let Some(moment) = date(cx, args, 0, input)? else { return Ok(Value::Null) };
    let value = optional(cx, args, 1, input)?;
    if value.is_null() {
        return Ok(Value::Null);
    }
    let text = formatted(cx, &moment, value)?;
    cx.make_string(&text)
}

/// Formats a date. The length of the format is limited, because a directive can ask for many digits.
fn formatted(cx: &mut EvalContext<'_>, moment: &Moment, format: Value<'_>) -> Result<String> {
    /// Length of a format in bytes.
    const MAX_FORMAT: usize = 1 << 10;
    let text = expect_text(format)?;
    cx.charge(4 + text.len() as u64)?;
    if text.len() > MAX_FORMAT {
        return Err(invalid(format!("Format of at most {MAX_FORMAT} bytes expected"), format));
    }
    if !text.contains('%') {
        let help = "`%d.%m.%Y` is day, month and year, `%H:%M:%S` the time";
        return Err(invalid("Format of a date expected: no part of it begins with `%`", format).with_help(help));
    }
    moment.broken_down().to_string(text).map_err(|error| {
        let help = match text.contains("%Z") {
            true => "there are no names of time zones: `%z` is an offset, and `GMT` stands for itself",
            false => "`%Y-%m-%d` is year, month and day",
        };
        invalid(format!("Format of a date expected: {error}"), format).with_help(help)
    })
}

fn date_parse<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let [text, format] = [optional(cx, args, 0, input)?, optional(cx, args, 1, input)?];
    let Some([text, format_text]) = string_args(cx, &[text, format])? else { return Ok(Value::Null) };
    // A wrong format is an error, not a text that is no date.
    formatted(cx, &Moment::EXAMPLE, format)?;
    let parsed = BrokenDownTime::parse(format_text, text).ok().and_then(Moment::from_parts);
    match parsed {
        Some(moment) => date_text(cx, &moment),
        None => Ok(Value::Null),
    }
}

fn date_part<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let value = optional(cx, args, 1, input)?;
    let part = PART.as_keyword(value)?.and_then(|index| PARTS.get(index));
    let part = part.ok_or_else(|| crate::eval::option_spec::bad_option("part", value, &PART.expects()))?;
    let moment = date(cx, args, 0, input)?;
    Ok(moment.and_then(|moment| moment.part(part)).map_or(Value::Null, Value::number))
}

fn date_trunc<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let unit = unit(cx, args, 1, input)?;
    let Some(moment) = date(cx, args, 0, input)? else { return Ok(Value::Null) };
    let start = moment.start_of(unit).ok_or_else(|| out_of_range(Value::Null))?;
    date_text(cx, &start)
}

fn date_to_offset<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let Some(moment) = date(cx, args, 0, input)? else { return Ok(Value::Null) };
    let value = optional(cx, args, 1, input)?;
    if value.is_null() {
        return Ok(Value::Null);
    }
    let text = expect_text(value)?;
    // An offset is what may follow a time.
    let is_offset = text.len() <= MAX_OFFSET && text.starts_with(['+', '-', 'Z', 'z']);
    let offset = Some(text).filter(|_| is_offset).and_then(|text| Moment::parse(&format!("2026-01-01T00:00{text}")));
    let Some(offset) = offset.filter(Moment::has_offset) else {
        let is_name = text.len() > 1 && text.starts_with(|c: char| c.is_ascii_alphabetic());
        return Err(invalid("Offset from UTC expected", value).with_help(match is_name {
            true => NO_ZONE_NAMES,
            false => "`+01:00`, `-0330`, `Z`",
        }));
    };
    if !moment.has_offset() {
        let error = invalid("The date does not state its offset from UTC", optional(cx, args, 0, input)?);
        return Err(error.with_help("add it to the text, such as `.date + \"Z\"`"));
    }
    let moved = moment.at_offset_of(&offset).ok_or_else(|| out_of_range(value))?;
    date_text(cx, &moved)
}

fn date_to_epoch<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    Ok(date(cx, args, 0, input)?.map_or(Value::Null, |moment| Value::number(moment.to_epoch())))
}

fn date_from_epoch<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let value = optional(cx, args, 0, input)?;
    if value.is_null() {
        return Ok(Value::Null);
    }
    let moment = Moment::from_epoch(expect_number(value)?)
        .ok_or_else(|| out_of_range(value).with_help("the number is seconds; divide one of milliseconds by 1000"))?;
    date_text(cx, &moment)
}

fn duration_from<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let unit = unit(cx, args, 1, input)?;
    let value = optional(cx, args, 0, input)?;
    if value.is_null() {
        return Ok(Value::Null);
    }
    let span = duration::from_number(expect_number(value)?, unit).ok_or_else(|| {
        let error = invalid("The number is too large for a duration, or no integer of months or years", value);
        error.with_help("a part of a month has no fixed length: use days")
    })?;
    cx.build_text(|out| write!(out, "{span}")).map(Value::String)
}

fn duration_to<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let unit = unit(cx, args, 1, input)?;
    let value = optional(cx, args, 0, input)?;
    if value.is_null() {
        return Ok(Value::Null);
    }
    let number = duration::to_number(&duration::parse(value)?, unit).ok_or_else(|| {
        let error =
            invalid("Months and years vary in length: they do not convert to shorter units or from them", value);
        error.with_help("add the duration to a date, and take `dateDiff` of the two")
    })?;
    Ok(Value::number(number))
}
