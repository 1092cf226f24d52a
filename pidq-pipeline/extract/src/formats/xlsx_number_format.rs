//! Number formats of spreadsheets: `0.0%`, `00000`, `0.00 "barg"`.
//!
//! Thousands separators are omitted, because the file does not define the character.

/// A parsed number format of a cell.
#[derive(Debug)]
pub struct NumberFormat {
    /// Sections for positive numbers, negative numbers and zero.
    sections: Vec<Section>,
}

#[derive(Debug, Default)]
struct Section {
    items: Vec<Item>,
    /// Number of percent signs, and of trailing commas (each divides by a thousand).
    percents: i32,
    thousands: i32,
}

#[derive(Debug, PartialEq)]
enum Item {
    /// A digit placeholder; `true` if it shows insignificant zeros.
    Digit(bool),
    Point,
    Text(String),
}

/// Maximum size of a format code in bytes.
const MAX_FORMAT_SIZE: usize = 255;

impl NumberFormat {
    /// Parses a format code; none for formats that keep a number unchanged, and for unsupported ones.
    pub fn parse(code: &str) -> Option<NumberFormat> {
        if code.len() > MAX_FORMAT_SIZE || code.eq_ignore_ascii_case("general") || code == "@" {
            return None;
        }
        Some(NumberFormat { sections: split_sections(code).into_iter().map(parse_section).collect::<Option<_>>()? })
    }

    /// Formats a number; none if the result is blank.
    pub fn format(&self, number: f64) -> Option<String> {
        let section = match (self.sections.as_slice(), number) {
            ([_, _, zero, ..], 0.0) => zero,
            ([_, negative, ..], ..0.0) => negative,
            ([first, ..], _) => first,
            ([], _) => return None,
        };
        let is_signed = number < 0.0 && self.sections.len() < 2;
        let text = section.format(number.abs());
        let text = text.trim();
        (!text.is_empty()).then(|| format!("{}{text}", if is_signed { "-" } else { "" }))
    }
}

/// Splits a format code at semicolons outside quotes.
fn split_sections(code: &str) -> Vec<&str> {
    let (mut quoted, mut escaped) = (false, false);
    code.split(|c: char| {
        let is_plain = !std::mem::take(&mut escaped);
        escaped = is_plain && !quoted && c == '\\';
        quoted ^= is_plain && c == '"';
        is_plain && !quoted && c == ';'
    })
    .collect()
}

/// Parses a section; none for exponents, fractions, conditions and dates, which are formatted as plain numbers.
fn parse_section(code: &str) -> Option<Section> {
    let mut section = Section::default();
    let mut chars = code.chars();
    while let Some(c) = chars.next() {
        match c {
            '0' => section.digit(true),
            '#' | '?' => section.digit(false),
            '.' => section.items.push(Item::Point),
            ',' => section.thousands += 1,
            '%' => {
                section.percents += 1;
                section.text('%');
            }
            '"' => chars.by_ref().take_while(|c| *c != '"').for_each(|c| section.text(c)),
            '\\' => section.text(chars.next()?),
            '_' => {
                chars.next();
                section.text(' ');
            }
            '*' => drop(chars.next()),
            '[' => section.bracket(&chars.by_ref().take_while(|c| *c != ']').collect::<String>())?,
            c if c.is_ascii_alphabetic() || matches!(c, '/' | '@') => return None,
            c => section.text(c),
        }
    }
    Some(section)
}

impl Section {
    fn digit(&mut self, shows_zero: bool) {
        // Commas between placeholders group digits; only trailing commas divide.
        self.thousands = 0;
        self.items.push(Item::Digit(shows_zero));
    }

    fn text(&mut self, c: char) {
        match self.items.last_mut() {
            Some(Item::Text(text)) => text.push(c),
            _ => self.items.push(Item::Text(c.into())),
        }
    }

    /// Parses brackets: `[$€-407]` is a currency, `[Red]` a color; conditions are not supported.
    fn bracket(&mut self, inside: &str) -> Option<()> {
        if let Some(currency) = inside.strip_prefix('$') {
            currency.chars().take_while(|c| *c != '-').for_each(|c| self.text(c));
        }
        (!inside.starts_with(['<', '>', '='])).then_some(())
    }

    fn format(&self, number: f64) -> String {
        let point = self.items.iter().position(|item| *item == Item::Point).unwrap_or(self.items.len());
        let (integer, fraction) = self.items.split_at(point);
        let decimals = fraction.iter().filter(|item| matches!(item, Item::Digit(_))).count();
        let scaled = number * 10f64.powi(2 * self.percents - 3 * self.thousands);
        let digits = format!("{scaled:.decimals$}");
        let (integer_digits, fraction_digits) = digits.split_once('.').unwrap_or((&digits, ""));
        let has_digits = self.items.iter().any(|item| matches!(item, Item::Digit(_)));
        [
            format_integer(integer, if has_digits { integer_digits } else { "" }),
            format_fraction(fraction, fraction_digits),
        ]
        .concat()
    }
}

/// Fills the integer digits into their placeholders from the right; excess digits precede the first placeholder.
fn format_integer(items: &[Item], digits: &str) -> String {
    let digits = digits.trim_start_matches('0');
    let mut placeholders = items.iter().filter(|item| matches!(item, Item::Digit(_))).count();
    let mut remaining = digits;
    let mut out = String::new();
    for item in items {
        match item {
            Item::Text(text) => out.push_str(text),
            Item::Point => {}
            Item::Digit(shows_zero) => {
                let count = (remaining.len() + 1).saturating_sub(placeholders);
                out.push_str(if count == 0 && *shows_zero { "0" } else { &remaining[..count] });
                remaining = &remaining[count..];
                placeholders -= 1;
            }
        }
    }
    // A format that starts with the decimal point has no integer placeholders.
    out + remaining
}

/// Fills the decimals into their placeholders; trailing zeros are shown where the format requires them.
fn format_fraction(items: &[Item], digits: &str) -> String {
    let mut out = String::new();
    let mut remaining = digits;
    for item in items {
        match item {
            Item::Text(text) => out.push_str(text),
            Item::Point => {}
            Item::Digit(shows_zero) => {
                let (digit, after) = remaining.split_at(remaining.len().min(1));
                let is_last = remaining.bytes().all(|digit| digit == b'0');
                if *shows_zero || !is_last {
                    let point = if remaining.len() == digits.len() { "." } else { "" };
                    out.push_str(point);
                    out.push_str(digit);
                }
                remaining = after;
            }
        }
    }
    out
}

/// Formats a number without a number format, with the 15 digits that a spreadsheet keeps.
pub fn general(number: f64) -> String {
    format!("{number:.14e}").parse::<f64>().unwrap_or(number).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_numbers() {
        for (code, number, expected) in [
            ("0.0%", 0.125, "12.5%"),
            ("0%", 0.5, "50%"),
            ("00000", 42.0, "00042"),
            ("0 \"barg\"", 12.0, "12 barg"),
            ("0.00", 38.456, "38.46"),
            ("0.00", 12.5, "12.50"),
            ("0.##", 12.0, "12"),
            ("0.0#", 12.0, "12.0"),
            ("#,##0.00 \"EUR\"", 1234567.891, "1234567.89 EUR"),
            ("\"P-\"000", 7.0, "P-007"),
            ("000\\-0000", 1234567.0, "123-4567"),
            ("0;(0)", -3.0, "(3)"),
            ("0.0", -3.25, "-3.2"),
            ("0;-0;\"none\"", 0.0, "none"),
            ("[Red]0.0;[Blue]-0.0", -1.0, "-1.0"),
            ("[$€-407] 0.00", 5.0, "€ 5.00"),
            ("0.0,", 12345.0, "12.3"),
            ("0,,\"M\"", 12_000_000.0, "12M"),
            ("_(* #,##0_)", 12.0, "12"),
            ("#", 0.0, ""),
            (";;;", 5.0, ""),
            (".00", 12.5, "12.50"),
            ("\"a;b\"0", 1.0, "a;b1"),
        ] {
            let format = NumberFormat::parse(code).unwrap_or_else(|| panic!("{code}"));
            assert_eq!(format.format(number).unwrap_or_default(), expected, "{code}");
        }
    }

    #[test]
    fn unsupported_formats_are_rejected() {
        for code in ["General", "@", "0.00E+00", "# ?/?", "[>100]0;0.0", "yyyy", &"0".repeat(300), "0\\"] {
            assert!(NumberFormat::parse(code).is_none(), "{code}");
        }
        assert_eq!(general(0.1 + 0.2), "0.3");
        assert_eq!(general(38.5), "38.5");
        assert_eq!(general(1e21), "1000000000000000000000");
    }
}
