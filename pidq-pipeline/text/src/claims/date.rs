//! Dates: 2019-05-12, 12.05.2019, 12 May 2019, May 12, 2019, 12-MAY-2019, May 2019.

use super::plain::Plain;

/// A date; the day may be missing.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Date {
    pub year: u32,
    pub month: u32,
    pub day: Option<u32>,
}

impl Date {
    /// Returns whether another date states this one.
    pub fn is_stated_by(self, other: Date) -> bool {
        (self.year, self.month) == (other.year, other.month) && (self.day.is_none() || self.day == other.day)
    }
}

/// Beginnings of the names of months, English and German, in lower case.
const MONTHS: &[(&str, u32)] = &[
    ("jan", 1),
    ("feb", 2),
    ("mar", 3),
    ("mär", 3),
    ("apr", 4),
    ("may", 5),
    ("mai", 5),
    ("jun", 6),
    ("jul", 7),
    ("aug", 8),
    ("sep", 9),
    ("oct", 10),
    ("okt", 10),
    ("nov", 11),
    ("dec", 12),
    ("dez", 12),
];

/// Reads the date that begins at a character. 05/12/2019 has two readings.
pub fn read(plain: &Plain, start: usize) -> Option<(Vec<Date>, usize)> {
    let found = match plain.at(start) {
        c if c.is_ascii_digit() => numeric(plain, start).or_else(|| day_first(plain, start)),
        c if c.is_alphabetic() => month_first(plain, start),
        _ => None,
    };
    found.filter(|(_, end)| !plain.at(*end).is_alphanumeric())
}

/// `2019-05-12`, `12.05.2019`, `05/12/2019`.
fn numeric(plain: &Plain, start: usize) -> Option<(Vec<Date>, usize)> {
    let (first, end) = integer(plain, start)?;
    let separator = plain.at(end);
    let (second, end) = integer(plain, end + 1)?;
    if !matches!(separator, '-' | '.' | '/') || plain.at(end) != separator {
        return None;
    }
    let (third, end) = integer(plain, end + 1)?;
    let candidates = match separator {
        '-' => vec![date(first, second, Some(third)), date(third, second, Some(first))],
        '.' => vec![date(third, second, Some(first))],
        _ => vec![date(third, second, Some(first)), date(third, first, Some(second)), date(first, second, Some(third))],
    };
    let mut dates: Vec<Date> = candidates.into_iter().flatten().collect();
    dates.dedup();
    (!dates.is_empty()).then_some((dates, end))
}

/// `12 May 2019`, `12. Mai 2019`, `12-MAY-2019`.
fn day_first(plain: &Plain, start: usize) -> Option<(Vec<Date>, usize)> {
    let (day, end) = integer(plain, start)?;
    let month_start = plain.run(end, |c| matches!(c, ' ' | '.' | '-'));
    let (month, end) = month(plain, month_start)?;
    let (year, end) = integer(plain, plain.run(end, |c| matches!(c, ' ' | '.' | ',' | '-')))?;
    Some((vec![date(year, month, Some(day))?], end))
}

/// `May 12, 2019`, `May 2019`.
fn month_first(plain: &Plain, start: usize) -> Option<(Vec<Date>, usize)> {
    let (month, end) = month(plain, start)?;
    let is_gap = |c: char| matches!(c, ' ' | '.' | ',');
    let (first, end) = integer(plain, plain.run(end, is_gap))?;
    if let Some(date) = date(first, month, None) {
        return Some((vec![date], end));
    }
    let (year, end) = integer(plain, plain.run(end, is_gap))?;
    Some((vec![date(year, month, Some(first))?], end))
}

fn month(plain: &Plain, start: usize) -> Option<(u32, usize)> {
    let end = plain.run(start, char::is_alphabetic);
    let word = plain.text(start..end.min(start + 10)).to_lowercase();
    let row = MONTHS.iter().find(|(name, _)| word.starts_with(name))?;
    // "Marine 2019" is no date: only the abbreviation and the names of months.
    let is_month = word.chars().count() <= 4 || NAMES.contains(&word.as_str());
    is_month.then_some((row.1, end))
}

/// Names of months of more than four letters.
const NAMES: &[&str] = &[
    "january",
    "february",
    "march",
    "april",
    "august",
    "september",
    "october",
    "november",
    "december",
    "januar",
    "februar",
    "märz",
    "oktober",
    "dezember",
    "jänner",
];

fn date(year: u32, month: u32, day: Option<u32>) -> Option<Date> {
    let valid =
        (1900..2200).contains(&year) && (1..=12).contains(&month) && day.is_none_or(|day| (1..=31).contains(&day));
    valid.then_some(Date { year, month, day })
}

fn integer(plain: &Plain, start: usize) -> Option<(u32, usize)> {
    let end = plain.run(start, |c| c.is_ascii_digit());
    let value = plain.text(start..end.min(start + 9)).parse().ok()?;
    Some((value, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dates(text: &str) -> Vec<(u32, u32, Option<u32>)> {
        let found = read(&Plain::new(text), 0).map(|found| found.0).unwrap_or_default();
        found.iter().map(|date| (date.year, date.month, date.day)).collect()
    }

    #[test]
    fn dates_are_read_in_their_forms() {
        let may = [(2019, 5, Some(12))];
        for text in
            ["2019-05-12", "12.05.2019", "12 May 2019", "12. Mai 2019", "12-MAY-2019", "May 12, 2019", "12 May, 2019"]
        {
            assert_eq!(dates(text), may, "{text}");
        }
        assert_eq!(dates("05/12/2019"), [(2019, 12, Some(5)), (2019, 5, Some(12))]);
        assert_eq!(dates("May 2019"), [(2019, 5, None)]);
        assert_eq!(dates("September 2019."), [(2019, 9, None)]);
    }

    #[test]
    fn other_numbers_are_no_dates() {
        for text in
            ["2019", "10-20", "3.2.1", "12 maintenance 2019", "40.50.2019", "10.5", "12 mm", "1-2-3", "Marine 2019"]
        {
            assert_eq!(dates(text), [], "{text}");
        }
    }
}
