//! Numbers as people write them: 1,000 and 1 000 and 1000, 10.5 and 10,5, 2.5e5 and 2.5 × 10⁵.

use super::plain::Plain;

/// A number in a text. A spelling such as 1.234 has two readings.
#[derive(Clone, Debug, PartialEq)]
pub struct Number {
    /// Possible values, with the half of the last place that each states.
    pub readings: Vec<Reading>,
    /// Range of characters.
    pub start: usize,
    pub end: usize,
}

/// A reading of a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    pub value: f64,
    /// Half of a unit in the last place.
    pub half_place: f64,
}

/// Kind of a run of digits.
#[derive(Clone, Debug, PartialEq)]
pub enum Digits {
    /// A number.
    Number(Number),
    /// Digits with several points or colons: a section, a version, a time.
    Literal { text: String, end: usize },
}

/// Maximum number of digit groups; bounds the work on hostile text.
const MAX_GROUPS: usize = 12;
/// Maximum number of digits of a group that is read as a number; longer ones are serial numbers.
const MAX_DIGITS: usize = 18;

/// Reads the digits that begin at a character. With `spaced`, groups may be separated by spaces.
pub fn read(plain: &Plain, start: usize, spaced: bool) -> Option<Digits> {
    let groups = Groups::read(plain, start, spaced)?;
    let digits_end = groups.end;
    let Some(mut readings) = groups.readings() else {
        return Some(Digits::Literal { text: plain.text(start..digits_end), end: digits_end });
    };
    let (exponent, end) = exponent_at(plain, digits_end).unwrap_or((0, digits_end));
    let (sign, begin) = sign_before(plain, start);
    for reading in &mut readings {
        let scale = 10f64.powi(exponent);
        *reading = Reading { value: sign * reading.value * scale, half_place: reading.half_place * scale };
    }
    Some(Digits::Number(Number { readings, start: begin, end }))
}

/// Groups of digits with the separators between them.
struct Groups {
    groups: Vec<String>,
    separators: Vec<char>,
    end: usize,
}

impl Groups {
    fn read(plain: &Plain, start: usize, spaced: bool) -> Option<Groups> {
        let first_end = plain.run(start, |c| c.is_ascii_digit());
        if first_end == start {
            return None;
        }
        let mut groups = Groups { groups: vec![plain.text(start..first_end)], separators: Vec::new(), end: first_end };
        while groups.groups.len() < MAX_GROUPS {
            let separator = plain.at(groups.end);
            let next = groups.end + 1;
            let end = plain.run(next, |c| c.is_ascii_digit());
            let continues = match separator {
                '.' | ',' | '\'' | '’' | ':' => end > next,
                ' ' => spaced && groups.continues_spaced(end - next),
                _ => false,
            };
            if !continues {
                break;
            }
            groups.groups.push(plain.text(next..end));
            groups.separators.push(separator);
            groups.end = end;
        }
        Some(groups)
    }

    /// Returns whether a space before `digits` digits separates thousands.
    fn continues_spaced(&self, digits: usize) -> bool {
        let first = &self.groups[0];
        let is_first = first.len() <= 3 && !first.starts_with('0');
        digits == 3 && is_first && self.separators.iter().all(|separator| *separator == ' ')
    }

    /// Returns the possible readings; none of a text that is no number.
    fn readings(&self) -> Option<Vec<Reading>> {
        if self.groups.iter().any(|group| group.len() > MAX_DIGITS) || self.separators.contains(&':') {
            return None;
        }
        let Some(&last) = self.separators.last() else { return Some(vec![self.integer()]) };
        let count = self.separators.len();
        let mut readings = Vec::new();
        if self.are_thousands(count) {
            readings.push(self.integer());
        }
        let is_decimal_mark = matches!(last, '.' | ',');
        let is_single = self.separators.iter().filter(|separator| **separator == last).count() == 1;
        if is_decimal_mark && is_single && self.are_thousands(count - 1) {
            readings.push(self.decimal());
        }
        (!readings.is_empty()).then_some(readings)
    }

    /// Returns whether the first `count` separators separate thousands: they are equal, and three digits follow each.
    fn are_thousands(&self, count: usize) -> bool {
        let first = &self.groups[0];
        count == 0
            || (first.len() <= 3
                && !first.starts_with('0')
                && self.groups[1..=count].iter().all(|group| group.len() == 3)
                && self.separators[..count].windows(2).all(|pair| pair[0] == pair[1]))
    }

    /// An integer: of one that ends with zeros, these may be no stated places.
    fn integer(&self) -> Reading {
        let digits = self.groups.concat();
        let zeros = digits.len() - digits.trim_end_matches('0').len();
        let zeros = if zeros == digits.len() { 0 } else { zeros };
        Reading { value: digits.parse().unwrap_or(f64::INFINITY), half_place: 0.5 * 10f64.powi(zeros as i32) }
    }

    fn decimal(&self) -> Reading {
        let (fraction, integer) = self.groups.split_last().map_or(("", &[][..]), |(last, rest)| (last.as_str(), rest));
        let text = format!("{}.{fraction}", integer.concat());
        Reading { value: text.parse().unwrap_or(f64::INFINITY), half_place: 0.5 * 10f64.powi(-(fraction.len() as i32)) }
    }
}

/// Reads an exponent: `e5`, `E-3`, ` × 10^5`, `·10⁻³`.
fn exponent_at(plain: &Plain, end: usize) -> Option<(i32, usize)> {
    if matches!(plain.at(end), 'e' | 'E') {
        let (exponent, end) = signed_integer(plain, end + 1)?;
        return (!plain.at(end).is_alphanumeric()).then_some((exponent, end));
    }
    let times = plain.run(end, |c| c == ' ');
    if !matches!(plain.at(times), '×' | 'x' | '·' | '*') {
        return None;
    }
    let base = plain.run(times + 1, |c| c == ' ');
    if !plain.starts_with(base, "10") {
        return None;
    }
    match plain.at(base + 2) {
        '^' => signed_integer(plain, base + 3),
        _ => superscript(plain, base + 2),
    }
}

fn signed_integer(plain: &Plain, start: usize) -> Option<(i32, usize)> {
    let digits = start + usize::from(matches!(plain.at(start), '-' | '+'));
    let end = plain.run(digits, |c| c.is_ascii_digit());
    let value: i32 = plain.text(digits..end).parse().ok().filter(|value| *value <= 300)?;
    Some((if plain.at(start) == '-' { -value } else { value }, end))
}

fn superscript(plain: &Plain, start: usize) -> Option<(i32, usize)> {
    const DIGITS: &str = "⁰¹²³⁴⁵⁶⁷⁸⁹";
    let digits = start + usize::from(plain.at(start) == '⁻');
    let end = plain.run(digits, |c| DIGITS.contains(c));
    let digit =
        |c: char| DIGITS.chars().position(|digit| digit == c).and_then(|digit| char::from_digit(digit as u32, 10));
    let text: String = plain.text(digits..end).chars().filter_map(digit).collect();
    let value: i32 = text.parse().ok().filter(|value| *value <= 300)?;
    Some((if digits > start { -value } else { value }, end))
}

/// Returns the sign before a number and where it begins. The hyphen of a range or a name is no sign.
fn sign_before(plain: &Plain, start: usize) -> (f64, usize) {
    let before = start.checked_sub(2).map_or('\n', |index| plain.at(index));
    match plain.before(start) {
        '-' if !before.is_alphanumeric() && !matches!(before, ')' | ']' | '%' | '°' | '-' | '+' | '.') => {
            (-1.0, start - 1)
        }
        _ => (1.0, start),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<f64> {
        let plain = Plain::new(text);
        let start = plain.run(0, |c| !c.is_ascii_digit());
        match read(&plain, start, true) {
            Some(Digits::Number(number)) => number.readings.iter().map(|reading| reading.value).collect(),
            _ => Vec::new(),
        }
    }

    #[test]
    fn spellings_have_their_values() {
        let check = |text: &str, expected: &[f64]| assert_eq!(values(text), expected, "{text}");
        check("1000", &[1000.0]);
        check("1,000", &[1000.0, 1.0]);
        check("1.000", &[1000.0, 1.0]);
        check("1 000", &[1000.0]);
        check("1\u{202f}000 000", &[1_000_000.0]);
        check("1'000", &[1000.0]);
        check("1,000,000", &[1_000_000.0]);
        check("1.234.567,8", &[1_234_567.8]);
        check("1,234.5", &[1234.5]);
        check("1 234,5", &[1234.5]);
        check("10.5", &[10.5]);
        check("10,5", &[10.5]);
        check("0.125", &[0.125]);
        check("12 345 m", &[12_345.0]);
        check("1234 567", &[1234.0]);
        check("5 20", &[5.0]);
        check("-20 °C", &[-20.0]);
        check("(−20)", &[-20.0]);
        check("2.5e5", &[250_000.0]);
        check("2.5 × 10⁵", &[250_000.0]);
        check("2.5·10^-3", &[0.0025]);
        check("5.", &[5.0]);
        check("5, 6", &[5.0]);
    }

    #[test]
    fn ranges_and_names_have_no_sign() {
        let plain = Plain::new("10-20");
        assert!(matches!(read(&plain, 3, false), Some(Digits::Number(number)) if number.readings[0].value == 20.0));
        let plain = Plain::new("ISO-9001");
        assert!(matches!(read(&plain, 4, false), Some(Digits::Number(number)) if number.readings[0].value == 9001.0));
    }

    #[test]
    fn sections_times_and_serial_numbers_are_literal() {
        for text in ["3.2.1", "14:30", "10.0.0.1", "1,00,5", "12345678901234567890"] {
            let plain = Plain::new(text);
            let end = text.len();
            assert_eq!(read(&plain, 0, false), Some(Digits::Literal { text: text.to_owned(), end }), "{text}");
        }
    }
}
