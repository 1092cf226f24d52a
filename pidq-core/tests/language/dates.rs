//! Dates and durations: the ends of months, offsets, formats, ranges.

use serde_json::{Value, json};

use crate::{Random, check, check_error, value};

/// Computed by `datetime` and `calendar` of Python: a date, months, the date after them, days, the date after them, the
/// complete months to it, the parts of the first date, its Monday, and the date by `strftime`.
const DATES_BY_PYTHON: &[&str] = &[
    r#"["2023-01-31", -14, "2021-11-30", 2076, "2028-10-07", 68, [2023, 1, 1, 5, 31, 2, 31, 31, 2023], "2023-01-30", "31.01.23 Tue Jan 031 05"]"#,
    r#"["2024-02-29", 20, "2025-10-29", 1656, "2028-09-11", 54, [2024, 1, 2, 9, 29, 4, 60, 29, 2024], "2024-02-26", "29.02.24 Thu Feb 060 09"]"#,
    r#"["2025-03-31", 29, "2027-08-31", 342, "2026-03-08", 11, [2025, 1, 3, 14, 31, 1, 90, 31, 2025], "2025-03-31", "31.03.25 Mon Mar 090 14"]"#,
    r#"["2023-04-30", 23, "2025-03-30", -186, "2022-10-26", -6, [2023, 2, 4, 17, 30, 7, 120, 30, 2023], "2023-04-24", "30.04.23 Sun Apr 120 17"]"#,
    r#"["2024-05-31", 11, "2025-04-30", -3576, "2014-08-16", -117, [2024, 2, 5, 22, 31, 5, 152, 31, 2024], "2024-05-27", "31.05.24 Fri May 152 22"]"#,
    r#"["2025-06-30", -23, "2023-07-30", -955, "2022-11-18", -31, [2025, 2, 6, 27, 30, 1, 181, 30, 2025], "2025-06-30", "30.06.25 Mon Jun 181 27"]"#,
    r#"["2023-07-31", 25, "2025-08-31", -1981, "2018-02-26", -65, [2023, 3, 7, 31, 31, 1, 212, 31, 2023], "2023-07-31", "31.07.23 Mon Jul 212 31"]"#,
    r#"["2024-08-31", 4, "2024-12-31", -3165, "2016-01-01", -103, [2024, 3, 8, 35, 31, 6, 244, 31, 2024], "2024-08-26", "31.08.24 Sat Aug 244 35"]"#,
    r#"["2025-09-30", -15, "2024-06-30", -3893, "2015-02-02", -127, [2025, 3, 9, 40, 30, 2, 273, 30, 2025], "2025-09-29", "30.09.25 Tue Sep 273 40"]"#,
    r#"["2023-10-31", -4, "2023-06-30", -1711, "2019-02-23", -56, [2023, 4, 10, 44, 31, 2, 304, 31, 2023], "2023-10-30", "31.10.23 Tue Oct 304 44"]"#,
    r#"["2024-11-30", 28, "2027-03-30", 3106, "2033-06-02", 102, [2024, 4, 11, 48, 30, 6, 335, 30, 2024], "2024-11-25", "30.11.24 Sat Nov 335 48"]"#,
    r#"["2025-12-31", -20, "2024-04-30", 2241, "2032-02-19", 73, [2025, 4, 12, 1, 31, 3, 365, 31, 2026], "2025-12-29", "31.12.25 Wed Dec 365 01"]"#,
    r#"["2024-01-31", -22, "2022-03-31", 1062, "2026-12-28", 34, [2024, 1, 1, 5, 31, 3, 31, 31, 2024], "2024-01-29", "31.01.24 Wed Jan 031 05"]"#,
    r#"["2025-02-28", -2, "2024-12-28", -2963, "2017-01-18", -97, [2025, 1, 2, 9, 28, 5, 59, 28, 2025], "2025-02-24", "28.02.25 Fri Feb 059 09"]"#,
    r#"["2026-03-31", -30, "2023-09-30", 3965, "2037-02-06", 130, [2026, 1, 3, 14, 31, 2, 90, 31, 2026], "2026-03-30", "31.03.26 Tue Mar 090 14"]"#,
    r#"["2024-04-30", -17, "2022-11-30", 2337, "2030-09-23", 76, [2024, 2, 4, 18, 30, 2, 121, 30, 2024], "2024-04-29", "30.04.24 Tue Apr 121 18"]"#,
    r#"["2025-05-31", -20, "2023-09-30", 3146, "2034-01-10", 103, [2025, 2, 5, 22, 31, 6, 151, 31, 2025], "2025-05-26", "31.05.25 Sat May 151 22"]"#,
    r#"["2026-06-30", -12, "2025-06-30", -1431, "2022-07-30", -47, [2026, 2, 6, 27, 30, 2, 181, 30, 2026], "2026-06-29", "30.06.26 Tue Jun 181 27"]"#,
    r#"["2024-07-31", 4, "2024-11-30", 3177, "2033-04-12", 104, [2024, 3, 7, 31, 31, 3, 213, 31, 2024], "2024-07-29", "31.07.24 Wed Jul 213 31"]"#,
    r#"["2025-08-31", 10, "2026-06-30", -2323, "2019-04-22", -76, [2025, 3, 8, 35, 31, 7, 243, 31, 2025], "2025-08-25", "31.08.25 Sun Aug 243 35"]"#,
    r#"["1955-03-13", 14, "1956-05-13", -2388, "1948-08-28", -78, [1955, 1, 3, 10, 13, 7, 72, 31, 1955], "1955-03-07", "13.03.55 Sun Mar 072 10"]"#,
    r#"["2027-07-11", -11, "2026-08-11", -3824, "2017-01-20", -125, [2027, 3, 7, 27, 11, 7, 192, 31, 2027], "2027-07-05", "11.07.27 Sun Jul 192 27"]"#,
    r#"["2019-08-14", -4, "2019-04-14", -2641, "2012-05-21", -86, [2019, 3, 8, 33, 14, 3, 226, 31, 2019], "2019-08-12", "14.08.19 Wed Aug 226 33"]"#,
    r#"["1942-04-16", -14, "1941-02-16", -3467, "1932-10-18", -113, [1942, 2, 4, 16, 16, 4, 106, 30, 1942], "1942-04-13", "16.04.42 Thu Apr 106 16"]"#,
    r#"["2009-02-02", -11, "2008-03-02", 2696, "2016-06-21", 88, [2009, 1, 2, 6, 2, 1, 33, 28, 2009], "2009-02-02", "02.02.09 Mon Feb 033 06"]"#,
    r#"["2106-06-08", 7, "2107-01-08", -3973, "2095-07-22", -130, [2106, 2, 6, 23, 8, 2, 159, 30, 2106], "2106-06-07", "08.06.06 Tue Jun 159 23"]"#,
    r#"["2103-11-17", 13, "2104-12-17", 1797, "2108-10-18", 59, [2103, 4, 11, 46, 17, 6, 321, 30, 2103], "2103-11-12", "17.11.03 Sat Nov 321 46"]"#,
    r#"["2011-04-05", -26, "2009-02-05", -1461, "2007-04-05", -48, [2011, 2, 4, 14, 5, 2, 95, 30, 2011], "2011-04-04", "05.04.11 Tue Apr 095 14"]"#,
    r#"["2017-07-10", 22, "2019-05-10", -1493, "2013-06-08", -49, [2017, 3, 7, 28, 10, 1, 191, 31, 2017], "2017-07-10", "10.07.17 Mon Jul 191 28"]"#,
    r#"["2062-07-10", 14, "2063-09-10", -1414, "2058-08-26", -46, [2062, 3, 7, 28, 10, 1, 191, 31, 2062], "2062-07-10", "10.07.62 Mon Jul 191 28"]"#,
    r#"["1956-04-23", 0, "1956-04-23", -129, "1955-12-16", -4, [1956, 2, 4, 17, 23, 1, 114, 30, 1956], "1956-04-23", "23.04.56 Mon Apr 114 17"]"#,
    r#"["1953-03-16", -27, "1950-12-16", -1902, "1947-12-31", -62, [1953, 1, 3, 12, 16, 1, 75, 31, 1953], "1953-03-16", "16.03.53 Mon Mar 075 12"]"#,
    r#"["1898-03-17", 17, "1899-08-17", -1071, "1895-04-11", -35, [1898, 1, 3, 11, 17, 4, 76, 31, 1898], "1898-03-14", "17.03.98 Thu Mar 076 11"]"#,
    r#"["2035-02-01", -29, "2032-09-01", 497, "2036-06-12", 16, [2035, 1, 2, 5, 1, 4, 32, 28, 2035], "2035-01-29", "01.02.35 Thu Feb 032 05"]"#,
    r#"["2040-04-20", -7, "2039-09-20", -917, "2037-10-16", -30, [2040, 2, 4, 16, 20, 5, 111, 30, 2040], "2040-04-16", "20.04.40 Fri Apr 111 16"]"#,
    r#"["2097-08-10", 23, "2099-07-10", -3926, "2086-11-10", -129, [2097, 3, 8, 32, 10, 6, 222, 31, 2097], "2097-08-05", "10.08.97 Sat Aug 222 32"]"#,
    r#"["2052-07-02", -28, "2050-03-02", 1797, "2057-06-03", 59, [2052, 3, 7, 27, 2, 2, 184, 31, 2052], "2052-07-01", "02.07.52 Tue Jul 184 27"]"#,
    r#"["1954-12-05", 9, "1955-09-05", 3824, "1965-05-25", 125, [1954, 4, 12, 48, 5, 7, 339, 31, 1954], "1954-11-29", "05.12.54 Sun Dec 339 48"]"#,
    r#"["1960-07-11", -23, "1958-08-11", 2190, "1966-07-10", 71, [1960, 3, 7, 28, 11, 1, 193, 31, 1960], "1960-07-11", "11.07.60 Mon Jul 193 28"]"#,
    r#"["1978-04-25", 29, "1980-09-25", 2713, "1985-09-28", 89, [1978, 2, 4, 17, 25, 2, 115, 30, 1978], "1978-04-24", "25.04.78 Tue Apr 115 17"]"#,
];

#[test]
fn calendar_arithmetic_agrees_with_python() {
    for row in DATES_BY_PYTHON {
        let row: Vec<Value> = serde_json::from_str(row).expect("a row");
        let [date, months, after_months, days, after_days, complete, parts, monday, formatted] = &row[..] else {
            panic!("a row: {row:?}")
        };
        let input = json!({"d": date, "m": format!("P{months}M").replace("P-", "-P"), "n": format!("P{days}D").replace("P-", "-P"), "e": after_days});
        let query = r#"[dateAdd(.d, .m), dateAdd(.d, .n), dateDiff(.d, .e, "days"), dateDiff(.d, .e, "months"), dateTrunc(.d, "weeks"),
            dateFormat(.d, "%d.%m.%y %a %b %j %V")]"#;
        let expected = json!([after_months, after_days, days, complete, monday, formatted]);
        assert_eq!(value(query, &input.to_string()), expected, "{input}");
        let names = ["year", "quarter", "month", "week", "day", "weekday", "dayOfYear", "daysInMonth", "weekYear"];
        let query = names.map(|name| format!("datePart(.d, \"{name}\")")).join(", ");
        assert_eq!(&value(&format!("[{query}]"), &input.to_string()), parts, "{input}");
    }
}

#[test]
fn a_month_without_the_day_ends_with_its_last_one() {
    check(
        r#"map(dateAdd("2024-01-31", get()))"#,
        r#"["P1M", "P13M", "P1Y1M", "-P2M", "P1M1D", "P0D"]"#,
        r#"["2024-02-29","2025-02-28","2025-02-28","2023-11-30","2024-03-01","2024-01-31"]"#,
    );
    check(r#"[dateAdd("2024-02-29", "P1Y"), dateAdd("2024-02-29", "P4Y")]"#, "null", r#"["2025-02-28","2028-02-29"]"#);
    check(
        r#"[dateDiff("2024-01-31", "2024-02-29", "months"), dateDiff("2024-02-29", "2024-01-31", "months"), dateDiff("2024-02-29", "2025-02-28", "years")]"#,
        "null",
        "[1,0,1]",
    );
}

#[test]
fn a_date_keeps_the_form_in_which_it_is_stated() {
    check(
        r#"map(dateAdd(get(), "PT90M"))"#,
        r#"["2026-01-01", "2026-01-01T23:00", "2026-01-01T23:00:00.250Z", "2026-01-01T23:00:00+05:30", "2026-01-01T23:00:00-03:00"]"#,
        r#"["2026-01-01T01:30:00","2026-01-02T00:30:00","2026-01-02T00:30:00.25Z","2026-01-02T00:30:00+05:30","2026-01-02T00:30:00-03:00"]"#,
    );
    check(
        r#"map(dateTrunc(get(), "hours"))"#,
        r#"["2026-01-01T23:59:59Z", "2026-01-01"]"#,
        r#"["2026-01-01T23:00:00Z","2026-01-01"]"#,
    );
    check(r#"map(dateTrunc(get(), "years"))"#, r#"["2026-11-26T23:59:59+02:00"]"#, r#"["2026-01-01T00:00:00+02:00"]"#);
}

#[test]
fn differences_respect_offsets_and_do_not_guess_them() {
    let dates = r#"{"a": "2026-03-01T00:00:00+02:00", "b": "2026-02-28T22:00:00Z", "c": "2026-03-01T00:00:00"}"#;
    check(
        r#"[dateDiff(.a, .b, "seconds"), dateDiff(.b, .a, "hours"), dateDiff(.c, "2026-03-01T18:00", "days")]"#,
        dates,
        "[0,0,0.75]",
    );
    check(
        r#"[dateDiff("2026-01-01", "2026-01-01T12:00", "days"), dateDiff("2026-01-02", "2026-01-01", "weeks") * 7]"#,
        "null",
        "[0.5,-1]",
    );
    check_error(r#"dateDiff(.a, .c, "days")"#, dates, "PQ2008", "both with an offset");
    check_error(r#"dateDiff(.a, .b, "fortnights")"#, dates, "PQ1012", "\"weeks\"");
    // The end of March where it is still February in UTC.
    check(r#"dateDiff("2026-02-28T23:00:00Z", "2026-04-01T00:30:00+01:00", "months")"#, "null", "1");
}

#[test]
fn null_is_no_date_and_a_text_that_is_none_is_an_error() {
    check(
        r#"[dateAdd(null, "P1D"), dateAdd("2026-01-01", null), dateDiff(null, "2026-01-01", "days"), dateFormat(null, "%Y"), datePart(null, "year"), dateToEpoch(null), dateFromEpoch(get()), dateParse(null, "%Y"), durationTo(null, "days"), durationFrom(null, "days"), dateTrunc(null, "days")]"#,
        "null",
        "[null,null,null,null,null,null,null,null,null,null,null]",
    );
    for text in [
        "2026-02-29",
        "2026-13-01",
        "26.11.2026",
        "",
        "today",
        "2026-11-26T25:00",
        "2026-11-26T08:00[Europe/Berlin]",
        "2026-11-26T08:00Z[UTC]",
    ] {
        check_error(&format!("dateAdd({}, \"P1D\")", json!(text)), "null", "PQ2008", "ISO 8601");
    }
    check_error("dateAdd(20261126, \"P1D\")", "null", "PQ2002", "string");
    for text in ["1 moon", "P", "P1.5M", ""] {
        check_error(&format!("dateAdd(\"2026-01-01\", {})", json!(text)), "null", "PQ2008", "Duration expected");
    }
}

#[test]
fn dates_outside_of_the_calendar_are_errors() {
    check_error(r#"dateAdd("9999-12-31", "P1D")"#, "null", "PQ2008", "out of range");
    check_error(r#"dateAdd("2026-01-01", "P19000Y")"#, "null", "PQ2008", "out of range");
    check_error("dateFromEpoch(1e300)", "null", "PQ2008", "out of range");
    check_error("dateFromEpoch(0 / 0)", "null", "PQ2008", "out of range");
    check_error(r#"durationFrom(1e300, "seconds")"#, "null", "PQ2008", "too large");
    check_error(r#"durationFrom(1.5, "months")"#, "null", "PQ2008", "no fixed length");
}

#[test]
fn seconds_since_1970_lead_back_to_their_date() {
    check(
        "map(dateFromEpoch(get()))",
        "[0, -1, 1792972800.5, -0.25]",
        r#"["1970-01-01T00:00:00Z","1969-12-31T23:59:59Z","2026-10-26T00:00:00.5Z","1969-12-31T23:59:59.75Z"]"#,
    );
    check(
        "map(dateToEpoch(dateFromEpoch(get())))",
        "[0, -1, 1792972800.5, -0.25, -62135596800]",
        "[0,-1,1792972800.5,-0.25,-62135596800]",
    );
    check(r#"[dateToEpoch("1970-01-01"), dateToEpoch("1970-01-01T00:00:00-01:00")]"#, "null", "[0,3600]");
}

#[test]
fn fractions_of_a_second_are_those_of_the_decimal() {
    check(
        "map(dateFromEpoch(get() / 1000))",
        "[1792972800123, 1792972800001, -1, -1792972800123, 999, 253402300799999]",
        r#"["2026-10-26T00:00:00.123Z","2026-10-26T00:00:00.001Z","1969-12-31T23:59:59.999Z","1913-03-08T23:59:59.877Z","1970-01-01T00:00:00.999Z","9999-12-31T23:59:59.999Z"]"#,
    );
    // Nine digits are kept; the last one is rounded.
    check(
        "map(dateFromEpoch(get()))",
        "[1e-9, 1.0000000016]",
        r#"["1970-01-01T00:00:00.000000001Z","1970-01-01T00:00:01.000000002Z"]"#,
    );
    check(
        r#"map([dateToEpoch(get()), datePart(get(), "second"), dateDiff("2026-10-26T00:00:00.1Z", get(), "seconds")])"#,
        r#"["2026-10-26T00:00:00.123Z", "2026-10-26T00:00:05.3Z"]"#,
        "[[1792972800.123,0.123,0.023],[1792972805.3,5.3,5.2]]",
    );
    check(
        r#"[dateDiff("2026-01-01T00:00:00.1Z", "2026-01-01T00:00:00.4Z", "milliseconds"), durationTo("PT0.3S", "milliseconds"), durationTo("PT1792972800.123S", "seconds")]"#,
        "null",
        "[300,300,1792972800.123]",
    );
    check(
        r#"[durationFrom(1792972800123, "milliseconds"), durationFrom(0.123, "seconds"), durationFrom(-1.1, "minutes")]"#,
        "null",
        r#"["P20752DT0.123S","PT0.123S","-PT1M6S"]"#,
    );
    let mut random = Random(5);
    for _ in 0..200 {
        let milliseconds = 1_500_000_000_000 + random.below(500_000_000_000);
        let query = "dateFromEpoch(get() / 1000) | [dateToEpoch(get()) * 1000 == $root, size() <= 24]";
        check(query, &milliseconds.to_string(), "[true,true]");
    }
}

#[test]
fn a_format_of_a_date_has_a_part_and_a_duration_a_unit() {
    for query in [r#"dateFormat("2026-11-29", "dd.MM.yyyy")"#, r#"dateParse("29.11.2026", "dd.MM.yyyy")"#] {
        check_error(query, "null", "PQ2008", "`%d.%m.%Y` is day");
    }
    for query in [r#"dateAdd("2026-01-01", 30)"#, r#"durationTo(90, "hours")"#] {
        check_error(query, "null", "PQ2002", "`durationFrom(30, \"days\")`");
    }
}

#[test]
fn names_of_time_zones_are_explained() {
    for zone in ["Europe/Berlin", "CET", "UTC+1"] {
        let query = format!("dateToOffset(\"2026-11-26T10:00:00Z\", {zone:?})");
        check_error(&query, "null", "PQ2008", "`+02:00` in summer");
    }
    check_error(r#"dateToOffset("2026-11-26T10:00:00Z", "+1")"#, "null", "PQ2008", "`-0330`");
    check_error(r#"dateAdd("2026-11-26T10:00+01:00[Europe/Berlin]", "P1D")"#, "null", "PQ2008", "replaceRegex");
    check(
        r#"replaceRegex(get(), "\\[.*", "") | dateToEpoch(get())"#,
        r#""1970-01-01T01:00+01:00[Europe/Berlin]""#,
        "0",
    );
}

#[test]
fn other_forms_of_dates_are_read_by_a_format() {
    check(
        r#"map(dateParse(get(), "%d.%m.%Y"))"#,
        r#"["26.11.2026", "1.2.2026", "31.02.2026", "x", "26.11.2026 10:00"]"#,
        r#"["2026-11-26","2026-02-01",null,null,null]"#,
    );
    check(
        r#"[dateParse("26-Nov-26 17:05", "%d-%b-%y %H:%M"), dateParse("2026-11-26 08:00 +0130", "%Y-%m-%d %H:%M %z"), dateParse("10:00", "%H:%M")]"#,
        "null",
        r#"["2026-11-26T17:05:00","2026-11-26T08:00:00+01:30",null]"#,
    );
    check_error(r#"dateParse("26", "%J")"#, "null", "PQ2008", "Format of a date");
    check_error(r#"dateFormat("2026-11-26", "%")"#, "null", "PQ2008", "Format of a date");
    check_error(r#"dateFormat("2026-11-26", range(2000) | map("%Y") | join(""))"#, "null", "PQ2008", "1024 bytes");
}

#[test]
fn durations_convert_where_their_length_is_fixed() {
    check(
        r#"map(durationTo(get(), "hours"))"#,
        r#"["P1W", "P1DT12H", "PT45M", "-PT1H30M", "PT0.5H", "PT0S"]"#,
        "[168,36,0.75,-1.5,0.5,0]",
    );
    check(r#"[durationTo("P2Y3M", "months"), durationTo("-P18M", "years")]"#, "null", "[27,-1.5]");
    check(
        r#"[durationFrom(2.5, "days"), durationFrom(-0.001, "seconds"), durationFrom(0, "days"), durationFrom(3, "weeks"), durationFrom(2, "years")]"#,
        "null",
        r#"["P2DT12H","-PT0.001S","PT0S","P21D","P2Y"]"#,
    );
    check_error(r#"durationTo("P1M", "days")"#, "null", "PQ2008", "vary in length");
    check_error(r#"durationTo("P1M1D", "months")"#, "null", "PQ2008", "vary in length");
}

#[test]
fn a_unit_of_time_may_be_in_the_singular() {
    check(
        r#"[dateTrunc(.d, "minute"), dateDiff(.d, "2026-03-01T11:00:00Z", "hour"), durationFrom(2, "day")]"#,
        r#"{"d": "2026-03-01T10:00:31Z"}"#,
        r#"["2026-03-01T10:00:00Z",0.9913888888888889,"P2D"]"#,
    );
    check_error(r#"dateTrunc("2026-03-01", "second of a day")"#, "null", "PQ1012", "\"seconds\" or \"milliseconds\"");
}

#[test]
fn quarters_and_milliseconds_are_units() {
    check(
        r#"map(dateTrunc(get(), "quarter"))"#,
        r#"["2026-01-31", "2026-06-30T10:00:00Z", "2026-07-01", "2026-12-31"]"#,
        r#"["2026-01-01","2026-04-01T00:00:00Z","2026-07-01","2026-10-01"]"#,
    );
    check(r#"dateTrunc(get(), "milliseconds")"#, r#""2026-01-31T10:00:00.123456Z""#, r#""2026-01-31T10:00:00.123Z""#);
    check(
        r#"[dateDiff(.a, .b, "quarters"), dateDiff(.b, .a, "quarter"), dateDiff(.a, "2026-01-01T00:00:00.25Z", "milliseconds")]"#,
        r#"{"a": "2026-01-01T00:00:00Z", "b": "2026-09-30T00:00:00Z"}"#,
        "[2,-2,250]",
    );
    check(
        r#"[durationFrom(2, "quarters"), durationFrom(1500, "milliseconds"), durationTo("P1Y6M", "quarters"), durationTo("PT0.5S", "milliseconds")]"#,
        "null",
        r#"["P6M","PT1.5S",6,500]"#,
    );
    check_error(r#"durationFrom(1e300, "quarters")"#, "null", "PQ2008", "no integer of months");
}

#[test]
fn a_moment_is_shown_at_another_offset() {
    check(
        r#"map(dateToOffset(.d, .o))"#,
        r#"[{"d": "2026-11-26T23:30:00Z", "o": "+01:00"}, {"d": "2026-01-01T01:00:00+05:30", "o": "Z"},
            {"d": "2026-03-01T00:00:00.5+01:00", "o": "-0330"}, {"d": null, "o": "Z"}, {"d": "2026-01-01T00:00:00Z", "o": null}]"#,
        r#"["2026-11-27T00:30:00+01:00","2025-12-31T19:30:00Z","2026-02-28T19:30:00.5-03:30",null,null]"#,
    );
    check(r#"map(dateToOffset(get(), "-08:00") | dateToEpoch(get()))"#, r#"["1970-01-02T00:00:00Z"]"#, "[86400]");
    check_error(r#"dateToOffset("2026-11-26T10:00:00", "Z")"#, "null", "PQ2008", "does not state its offset");
    check_error(r#"dateToOffset("9999-12-31T23:00:00Z", "+02:00")"#, "null", "PQ2008", "out of range");
    for offset in ["", "CET", "1", "+1:00:00:00:00", "Europe/Berlin", "+99:00"] {
        check_error(
            &format!("dateToOffset(\"2026-11-26T10:00:00Z\", {offset:?})"),
            "null",
            "PQ2008",
            "Offset from UTC",
        );
    }
    check_error(r#"dateParse("9:00 GMT", "%H:%M %Z")"#, "null", "PQ2008", "names of time zones");
    check_error("dateFromEpoch(get())", "1792972800000", "PQ2008", "divide one of milliseconds by 1000");
}
