//! Set point in a text of an instrument: `SP 85 %`, `Sollwert: 3,5 barg`.

/// Words before the value of a set point, in lower case.
const SETTINGS: &[&str] = &[
    "alarm point",
    "alarm setting",
    "consigna",
    "consigne",
    "grenzwert",
    "point de consigne",
    "punto de consigna",
    "schaltpunkt",
    "set at",
    "set point",
    "set value",
    "setpoint",
    "setpunt",
    "sollwert",
    "sp",
    "switch point",
    "trip point",
    "trip setting",
];

/// Words between them and the value.
const FILLERS: &[&str] = &["at", "auf", "bei", "de", "is", "of", "to", "à"];

/// The letters that may also begin a tag, such as that of a sample point: their value has a unit or a mark before it.
const LETTERS: &str = "sp";

/// Returns the set point that a text states, with its unit.
pub(crate) fn in_text(text: &str) -> Option<&str> {
    let starts = text.char_indices().filter(|(at, c)| {
        c.is_alphabetic() && !text[..*at].ends_with(|before: char| before.is_alphanumeric() || before == '-')
    });
    starts.into_iter().find_map(|(at, _)| {
        let mut words = SETTINGS.iter().filter_map(|words| Some((*words, after_words(&text[at..], words)?)));
        words.find_map(|(words, rest)| value_behind(words, rest))
    })
}

/// Returns what follows some words at the start of a text; `None` if it does not start with them.
fn after_words<'t>(text: &'t str, words: &str) -> Option<&'t str> {
    let mut rest = text;
    for word in words.split(' ') {
        rest = rest.trim_start();
        let end = rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len());
        (rest[..end].to_lowercase() == word).then_some(())?;
        rest = &rest[end..];
    }
    Some(rest)
}

/// Returns the value at the start of a text, behind marks and words that add nothing.
fn value_behind<'t>(words: &str, text: &'t str) -> Option<&'t str> {
    let is_mark = |c: char| matches!(c, ':' | '=' | '@');
    let rest = text.trim_start_matches(|c: char| c.is_whitespace() || is_mark(c));
    let skipped = &text[..text.len() - rest.len()];
    let filler = FILLERS.iter().find_map(|word| after_words(rest, word));
    let value = filler.unwrap_or(rest).trim_start();
    let is_number = value.trim_start_matches(['+', '-']).starts_with(|c: char| c.is_ascii_digit());
    if skipped.is_empty() || !is_number {
        return None;
    }
    let is_end = |c: char| matches!(c, ',' | ';' | ')');
    let is_part = |at: usize| value[at..].starts_with(',') && value[at + 1..].starts_with(|c: char| c.is_ascii_digit());
    let number = value.find(|c: char| c.is_alphabetic() || c.is_whitespace() || matches!(c, '%' | '°' | ';' | ')'));
    let number = number.unwrap_or(value.len());
    let number = value[..number].match_indices(',').map(|(at, _)| at).find(|at| !is_part(*at)).unwrap_or(number);
    let rest = &value[number..];
    let unit_start = rest.len() - rest.trim_start().len();
    let unit =
        rest[unit_start..].find(|c: char| c.is_whitespace() || is_end(c)).map_or(rest.len(), |end| unit_start + end);
    let has_unit = unit > unit_start && !rest[unit_start..].starts_with(|c: char| c.is_ascii_digit());
    if words == LETTERS && !has_unit && !skipped.contains(is_mark) {
        return None;
    }
    Some(if has_unit { value[..number + unit].trim_end_matches('.') } else { &value[..number] })
}

#[cfg(test)]
mod tests {
    use super::in_text;

    #[test]
    fn a_set_point_is_behind_a_word_for_it() {
        for (text, expected) in [
            ("SP 85 %", "85 %"),
            ("SP=85", "85"),
            ("high level, SP: 85%, see note", "85%"),
            ("Set point 3.5 barg", "3.5 barg"),
            ("setpoint at 3,5 barg, delayed", "3,5 barg"),
            ("trip setting 120 °C", "120 °C"),
            ("Sollwert: -10 °C", "-10 °C"),
            ("consigne 40 m3/h (max)", "40 m3/h"),
            ("set at 12 barg.", "12 barg"),
            ("Grenzwert 95", "95"),
        ] {
            assert_eq!(in_text(text), Some(expected), "{text}");
        }
        for text in [
            "",
            "SP-101",
            "SP 101",
            "SP101",
            "near SP-12 barg",
            "crisp 85 %",
            "set of 2 valves",
            "SP",
            "setpoint by vendor",
        ] {
            assert_eq!(in_text(text), None, "{text}");
        }
    }
}
