//! Values of two revisions that differ in their spelling only: `16 barg` and `16.0 barg`.

use crate::value::Value;

/// Returns whether two values say the same: texts that differ in blanks or in the decimals of a number at their start, texts
/// without a digit that differ in capitals, and a number and a text with just this number.
pub(super) fn is_only_spelling(before: Value<'_>, after: Value<'_>) -> bool {
    match (before, after) {
        (Value::String(before), Value::String(after)) => is_same_text(before, after),
        (Value::Number(number), Value::String(text)) | (Value::String(text), Value::Number(number)) => {
            plain(text).parse() == Ok(number.value())
        }
        _ => false,
    }
}

fn is_same_text(before: &str, after: &str) -> bool {
    let (before, after) = (plain(before), plain(after));
    let has_digit = |text: &str| text.contains(|c: char| c.is_numeric());
    // The case of letters makes units: mPa and MPa.
    before == after || !has_digit(&before) && !has_digit(&after) && before.to_lowercase() == after.to_lowercase()
}

/// Returns a text with a number at its start, if it has one, without decimals that are zero, and without blanks other than
/// those between words and between digits: `1 1/2` is not `11/2`.
fn plain(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut joined = String::with_capacity(text.len());
    for word in words {
        let ends_with = |is: fn(char) -> bool| joined.ends_with(is);
        let is_between_digits = ends_with(|c| c.is_numeric()) && word.starts_with(|c: char| c.is_numeric());
        let is_between_words = ends_with(char::is_alphabetic) && !starts_with_number(&joined);
        if is_between_digits || is_between_words {
            joined.push(' ');
        }
        joined.push_str(word);
    }
    without_zeros(joined)
}

fn starts_with_number(text: &str) -> bool {
    text.trim_start_matches(['+', '-']).starts_with(|c: char| c.is_ascii_digit())
}

/// Removes the zeros at the end of the decimals of a number at the start of a text. Three decimals may be thousands.
fn without_zeros(text: String) -> String {
    if !starts_with_number(&text) {
        return text;
    }
    let is_digit = |c: char| c.is_ascii_digit();
    let signed = text.len() - text.trim_start_matches(['+', '-']).len();
    let integer = signed + text[signed..].find(|c| !is_digit(c)).unwrap_or(text.len() - signed);
    let Some(rest) = text[integer..].strip_prefix(['.', ',']) else { return text };
    let length = rest.find(|c| !is_digit(c)).unwrap_or(rest.len());
    let (decimals, unit) = rest.split_at(length);
    // A second mark: a version or a date.
    if matches!(length, 0 | 3) || unit.starts_with(['.', ',']) {
        return text;
    }
    let decimals = decimals.trim_end_matches('0');
    let mark = if decimals.is_empty() { "" } else { "." };
    format!("{}{mark}{decimals}{unit}", &text[..integer])
}

#[cfg(test)]
mod tests {
    use super::is_same_text;

    #[test]
    fn texts_that_differ_in_their_spelling_only_are_the_same() {
        for (before, after) in [
            ("16 barg", "16.0 barg"),
            ("16 barg", "16barg"),
            ("16 barg", "16 bar g"),
            ("16 barg", "16 barg "),
            ("16,5 barg", "16.50 barg"),
            ("-0.10 barg", "-0.1 barg"),
            ("Relief valve", "RELIEF  VALVE"),
            ("", " "),
        ] {
            assert!(is_same_text(before, after), "{before:?} {after:?}");
        }
        for (before, after) in [
            ("16 barg", "16.5 barg"),
            ("16 barg", "16 bara"),
            ("16 barg", "16"),
            ("10 mPa", "10 MPa"),
            ("1.500 barg", "1.5 barg"),
            ("1 1/2", "11/2"),
            ("1.10.2", "1.1.2"),
            ("no relief", "norelief"),
            ("100 barg", "10 barg"),
            ("fails open", "fails closed"),
        ] {
            assert!(!is_same_text(before, after), "{before:?} {after:?}");
        }
    }
}
