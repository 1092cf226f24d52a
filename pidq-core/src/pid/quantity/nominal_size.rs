//! Nominal sizes of pipes: DN (ISO 6708), and NPS in inches (ASME B36.10M).

/// Sizes in inches, and the DN with the same pipe. A DN that is not listed has no size in inches.
const SIZES: &[(f64, f64)] = &[
    (0.125, 6.0),
    (0.25, 8.0),
    (0.375, 10.0),
    (0.5, 15.0),
    (0.75, 20.0),
    (1.0, 25.0),
    (1.25, 32.0),
    (1.5, 40.0),
    (2.0, 50.0),
    (2.5, 65.0),
    (3.0, 80.0),
    (3.5, 90.0),
    (4.0, 100.0),
    (5.0, 125.0),
    (6.0, 150.0),
    (8.0, 200.0),
    (10.0, 250.0),
    (12.0, 300.0),
    (14.0, 350.0),
    (16.0, 400.0),
    (18.0, 450.0),
    (20.0, 500.0),
    (22.0, 550.0),
    (24.0, 600.0),
    (26.0, 650.0),
    (28.0, 700.0),
    (30.0, 750.0),
    (32.0, 800.0),
    (34.0, 850.0),
    (36.0, 900.0),
    (38.0, 950.0),
    (40.0, 1000.0),
    (42.0, 1050.0),
    (44.0, 1100.0),
    (46.0, 1150.0),
    (48.0, 1200.0),
    (52.0, 1300.0),
    (56.0, 1400.0),
    (60.0, 1500.0),
    (64.0, 1600.0),
    (68.0, 1700.0),
    (72.0, 1800.0),
    (76.0, 1900.0),
    (80.0, 2000.0),
];

/// Marks of sizes in inches before and after the number, in upper case.
const INCH_PREFIX: &str = "NPS";
const INCH_SUFFIXES: &[&str] = &["\"", "''", "\u{2033}", "\u{201d}", "INCHES", "INCH", "IN"];

/// Fractions with a character of their own.
const FRACTIONS: &[(char, &str)] =
    &[('\u{bc}', "1/4"), ('\u{bd}', "1/2"), ('\u{be}', "3/4"), ('\u{215b}', "1/8"), ('\u{215c}', "3/8")];

/// Longest text in bytes that is read as a size.
const MAX_LENGTH: usize = 32;

/// Returns the DN of a size as written: `100`, `DN 100`, `100 mm`, `4"`, `NPS 4`, `1 1/2 in`. A bare number is a DN.
/// `None` if the text is no size, or a size in inches without a DN.
pub(crate) fn dn(text: &str) -> Option<f64> {
    if text.len() > MAX_LENGTH {
        return None;
    }
    let text = text.trim().to_uppercase();
    let inches = INCH_SUFFIXES.iter().find_map(|suffix| text.strip_suffix(suffix)).or(text.strip_prefix(INCH_PREFIX));
    if let Some(inches) = inches {
        let inches = fraction(inches.strip_prefix(INCH_PREFIX).unwrap_or(inches).trim())?;
        return SIZES.iter().find(|(size, _)| *size == inches).map(|(_, dn)| *dn);
    }
    let digits = text.strip_prefix("DN").unwrap_or(&text);
    decimal(digits.strip_suffix("MM").unwrap_or(digits).trim())
}

/// Returns the value of `1.5`, `1/2`, `1 1/2` or `1-1/2`.
fn fraction(text: &str) -> Option<f64> {
    if let Some((sign, digits)) = FRACTIONS.iter().find(|(sign, _)| text.ends_with(*sign)) {
        let whole = text.trim_end_matches(*sign).trim();
        return Some(if whole.is_empty() { 0.0 } else { decimal(whole)? } + fraction(digits)?);
    }
    let Some((rest, divisor)) = text.split_once('/') else { return decimal(text) };
    let (whole, dividend) = rest.rsplit_once([' ', '-']).unwrap_or(("0", rest));
    let divisor = decimal(divisor.trim()).filter(|divisor| *divisor > 0.0)?;
    Some(decimal(whole.trim())? + decimal(dividend.trim())? / divisor)
}

/// Returns a number of digits and a point only: `inf` and `1e3` are no sizes.
fn decimal(text: &str) -> Option<f64> {
    text.parse().ok().filter(|_| text.chars().all(|c| c.is_ascii_digit() || c == '.'))
}

#[cfg(test)]
mod tests {
    use super::dn;

    #[test]
    fn sizes_in_inches_and_millimeters_have_one_dn() {
        for (text, expected) in [
            ("100", Some(100.0)),
            ("DN 100", Some(100.0)),
            ("dn100.0", Some(100.0)),
            ("100 mm", Some(100.0)),
            ("4\"", Some(100.0)),
            ("NPS 4", Some(100.0)),
            ("4 in", Some(100.0)),
            ("4 inch", Some(100.0)),
            ("NPS 4\"", Some(100.0)),
            ("1/2\"", Some(15.0)),
            ("1 1/2\"", Some(40.0)),
            ("1-1/2 in", Some(40.0)),
            ("1.5\"", Some(40.0)),
            ("1½\"", Some(40.0)),
            ("NPS ¾", Some(20.0)),
            ("80\"", Some(2000.0)),
        ] {
            assert_eq!(dn(text), expected, "{text}");
        }
    }

    #[test]
    fn other_texts_are_no_sizes() {
        for text in ["", "DN", "\"", "4.1\"", "1/0\"", "x½\"", "-4\"", "inf", "1e2", "100x80", "4\" x 2\"", "SCH 40"] {
            assert_eq!(dn(text), None, "{text}");
        }
    }
}
