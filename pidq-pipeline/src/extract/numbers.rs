//! Numbers of spreadsheets as their cells show them: `0.0%`, `00000`, `0.00 "barg"`.
//!
//! Groups of thousands are not shown, since which sign stands between them is not in the file.

/// What a cell does with a number.
#[derive(Debug)]
pub struct NumberFormat {
    /// For numbers that are positive, negative, nought.
    sections: Vec<Section>,
}

#[derive(Debug, Default)]
struct Section {
    items: Vec<Item>,
    /// How many times a hundred, and by how many thousands less.
    percents: i32,
    thousands: i32,
}

#[derive(Debug, PartialEq)]
enum Item {
    /// A place for a digit, and whether it shows a nought.
    Digit(bool),
    Point,
    Text(String),
}

/// Bytes of a format that is looked at.
const LONGEST: usize = 255;

impl NumberFormat {
    /// Reads a format; nothing for those that show a number as it is, and for those that are not known.
    pub fn of(code: &str) -> Option<NumberFormat> {
        if code.len() > LONGEST || code.eq_ignore_ascii_case("general") || code == "@" {
            return None;
        }
        Some(NumberFormat { sections: split(code).into_iter().map(section).collect::<Option<_>>()? })
    }

    /// A number as it is shown; nothing if it is shown as nothing.
    pub fn show(&self, number: f64) -> Option<String> {
        let section = match (self.sections.as_slice(), number) {
            ([_, _, zero, ..], 0.0) => zero,
            ([_, negative, ..], ..0.0) => negative,
            ([first, ..], _) => first,
            ([], _) => return None,
        };
        let is_signed = number < 0.0 && self.sections.len() < 2;
        let shown = section.show(number.abs());
        let shown = shown.trim();
        (!shown.is_empty()).then(|| format!("{}{shown}", if is_signed { "-" } else { "" }))
    }
}

/// The sections of a format, which semicolons separate outside of quotes.
fn split(code: &str) -> Vec<&str> {
    let (mut quoted, mut escaped) = (false, false);
    code.split(|c: char| {
        let is_plain = !std::mem::take(&mut escaped);
        escaped = is_plain && !quoted && c == '\\';
        quoted ^= is_plain && c == '"';
        is_plain && !quoted && c == ';'
    })
    .collect()
}

/// A section; nothing for exponents, fractions, conditions and dates, which are shown as plain numbers.
fn section(code: &str) -> Option<Section> {
    let mut section = Section::default();
    let mut rest = code.chars();
    while let Some(c) = rest.next() {
        match c {
            '0' => section.digit(true),
            '#' | '?' => section.digit(false),
            '.' => section.items.push(Item::Point),
            ',' => section.thousands += 1,
            '%' => {
                section.percents += 1;
                section.text('%');
            }
            '"' => rest.by_ref().take_while(|c| *c != '"').for_each(|c| section.text(c)),
            '\\' => section.text(rest.next()?),
            '_' => {
                rest.next();
                section.text(' ');
            }
            '*' => drop(rest.next()),
            '[' => section.bracket(&rest.by_ref().take_while(|c| *c != ']').collect::<String>())?,
            c if c.is_ascii_alphabetic() || matches!(c, '/' | '@') => return None,
            c => section.text(c),
        }
    }
    Some(section)
}

impl Section {
    fn digit(&mut self, shows_nought: bool) {
        // Commas between places group; only those behind the last one divide.
        self.thousands = 0;
        self.items.push(Item::Digit(shows_nought));
    }

    fn text(&mut self, c: char) {
        match self.items.last_mut() {
            Some(Item::Text(text)) => text.push(c),
            _ => self.items.push(Item::Text(c.into())),
        }
    }

    /// `[$€-407]` is a currency, `[Red]` a colour; a condition is not understood.
    fn bracket(&mut self, inside: &str) -> Option<()> {
        if let Some(currency) = inside.strip_prefix('$') {
            currency.chars().take_while(|c| *c != '-').for_each(|c| self.text(c));
        }
        (!inside.starts_with(['<', '>', '='])).then_some(())
    }

    fn show(&self, number: f64) -> String {
        let point = self.items.iter().position(|item| *item == Item::Point).unwrap_or(self.items.len());
        let (whole, part) = self.items.split_at(point);
        let places = part.iter().filter(|item| matches!(item, Item::Digit(_))).count();
        let scaled = number * 10f64.powi(2 * self.percents - 3 * self.thousands);
        let digits = format!("{scaled:.places$}");
        let (before, after) = digits.split_once('.').unwrap_or((&digits, ""));
        let is_shown = self.items.iter().any(|item| matches!(item, Item::Digit(_)));
        [whole_part(whole, if is_shown { before } else { "" }), decimals(part, after)].concat()
    }
}

/// Digits from the right into their places; those for which there is none stand before the first.
fn whole_part(items: &[Item], digits: &str) -> String {
    let digits = digits.trim_start_matches('0');
    let mut places = items.iter().filter(|item| matches!(item, Item::Digit(_))).count();
    let mut rest = digits;
    let mut shown = String::new();
    for item in items {
        match item {
            Item::Text(text) => shown.push_str(text),
            Item::Point => {}
            Item::Digit(shows_nought) => {
                let taken = (rest.len() + 1).saturating_sub(places);
                shown.push_str(if taken == 0 && *shows_nought { "0" } else { &rest[..taken] });
                rest = &rest[taken..];
                places -= 1;
            }
        }
    }
    // A format that begins with its point.
    shown + rest
}

/// Decimals into their places; noughts at the end are shown where the format says so.
fn decimals(items: &[Item], digits: &str) -> String {
    let mut shown = String::new();
    let mut rest = digits;
    for item in items {
        match item {
            Item::Text(text) => shown.push_str(text),
            Item::Point => {}
            Item::Digit(shows_nought) => {
                let (digit, after) = rest.split_at(rest.len().min(1));
                let is_last = rest.bytes().all(|digit| digit == b'0');
                if *shows_nought || !is_last {
                    let point = if rest.len() == digits.len() { "." } else { "" };
                    shown.push_str(point);
                    shown.push_str(digit);
                }
                rest = after;
            }
        }
    }
    shown
}

/// A number that has no format, with as many digits as a spreadsheet keeps.
pub fn plain(number: f64) -> String {
    format!("{number:.14e}").parse::<f64>().unwrap_or(number).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_as_their_cells_show_them() {
        for (code, number, shown) in [
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
            let format = NumberFormat::of(code).unwrap_or_else(|| panic!("{code}"));
            assert_eq!(format.show(number).unwrap_or_default(), shown, "{code}");
        }
    }

    #[test]
    fn other_formats_show_numbers_as_they_are() {
        for code in ["General", "@", "0.00E+00", "# ?/?", "[>100]0;0.0", "yyyy", &"0".repeat(300), "0\\"] {
            assert!(NumberFormat::of(code).is_none(), "{code}");
        }
        assert_eq!(plain(0.1 + 0.2), "0.3");
        assert_eq!(plain(38.5), "38.5");
        assert_eq!(plain(1e21), "1000000000000000000000");
    }
}
