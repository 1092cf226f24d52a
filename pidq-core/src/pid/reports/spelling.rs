//! Values of two revisions that differ in their spelling only: `16 barg` and `16.0 barg`, `FC` and `fail_closed`.

use crate::graph::config::{Names, TopologyConfig};
use crate::pid::quantity::{self, PressureDefaults, Stated};
use crate::pid::stated_values::is_called;
use crate::pid::valve_state::fail_action::fail_mark;
use crate::value::Value;

/// Lists of names of fields with a position, and of those with a pressure and a temperature.
const POSITIONS: &[&str] = &["normal_position", "lock", "blind_position"];
const PRESSURES: &[&str] = &["set_pressure", "design_pressure", "operating_pressure"];
const TEMPERATURES: &[&str] = &["design_temperature", "operating_temperature"];

/// Returns whether two values of a field say the same in other words or other units: fail positions, positions, pressures and
/// temperatures.
pub(super) fn says_the_same(config: &TopologyConfig, field: &str, before: Value<'_>, after: Value<'_>) -> bool {
    let (Some(old), Some(new)) = (before.as_str(), after.as_str()) else { return false };
    let is_in = |lists: &[&str]| lists.iter().any(|list| is_called(config, field, list));
    match () {
        () if is_called(config, field, "fail_action") => {
            fail_mark(old).is_some_and(|mark| mark != "FI" && fail_mark(new) == Some(mark))
        }
        () if is_in(POSITIONS) => {
            const LISTS: [Names; 4] = [Names::Open, Names::Closed, Names::LockedOpen, Names::LockedClosed];
            let lists = |text: &str| LISTS.map(|names| config.is_spelling(names, text));
            lists(old).contains(&true) && lists(old) == lists(new)
        }
        () if is_in(PRESSURES) => is_same_pressure(before, after),
        () if is_in(TEMPERATURES) => {
            let [old, new] = [before, after].map(|value| quantity::temperature(Some(&Stated::new(value, None))));
            matches!((old, new), (Ok((old, true)), Ok((new, true))) if is_near(old, new))
        }
        () => false,
    }
}

/// Returns whether two texts state the same pressure in two units.
fn is_same_pressure(before: Value<'_>, after: Value<'_>) -> bool {
    let [old, new] = [before, after].map(|value| Stated::new(value, None));
    let unit = |stated: &Stated<'_>| quantity::number_and_unit(stated).ok()?.1.map(str::to_owned);
    // In one unit, other digits are another value: `1.500 barg` may be 1500.
    if unit(&old) == unit(&new) {
        return false;
    }
    let read = |stated: &Stated<'_>| quantity::pressure(Some(stated), PressureDefaults::default());
    matches!((read(&old), read(&new)), (Ok(old), Ok(new))
        if old.has_unit && new.has_unit && old.reference == new.reference && is_near(old.value, new.value))
}

/// Returns whether two numbers differ by no more than the rounding of a conversion to three digits and more.
fn is_near(a: f64, b: f64) -> bool {
    const ROUNDING: f64 = 5e-4;
    (a - b).abs() <= ROUNDING * a.abs().max(b.abs())
}

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
