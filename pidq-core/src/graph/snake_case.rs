//! Conversion of class words to snake_case, for comparison.

/// Converts `PlateHeatExchanger` and `plate heat-exchanger` to `plate_heat_exchanger`. Keeps dots and other separators.
pub(crate) fn snake_case(text: &str) -> String {
    let mut words = String::with_capacity(text.len() + 4);
    let mut before = ' ';
    for c in text.chars() {
        let begins_word = c.is_uppercase() && (before.is_lowercase() || before.is_ascii_digit());
        if begins_word {
            words.push('_');
        }
        match c {
            ' ' | '-' | '\t' => words.push('_'),
            // Several times as fast as the general case; every class of a drawing is converted.
            c if c.is_ascii() => words.push(c.to_ascii_lowercase()),
            c => words.extend(c.to_lowercase()),
        }
        before = c;
    }
    words
}
