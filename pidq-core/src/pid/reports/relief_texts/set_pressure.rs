//! Set pressure in a text of a relief device: the pressure behind a word such as `set`, or the last one of a change:
//! `SP raised from 10 to 12 barg`.

use crate::graph::vocabulary;
use crate::pid::quantity;

/// Number of bytes of the words in no list between a word for the set pressure and the pressure.
const MAX_OTHER_WORDS: usize = 14;

/// A word in lower case or a number, with its place in the text. An arrow is a word.
struct Token {
    word: String,
    start: usize,
    end: usize,
}

impl Token {
    fn is_number(&self) -> bool {
        self.word.starts_with(|c: char| c.is_ascii_digit())
    }

    fn is_in(&self, words: &[&str]) -> bool {
        words.contains(&self.word.as_str())
    }
}

/// Returns the number and the unit of the set pressure in a text.
pub(super) fn in_text(text: &str) -> Option<&str> {
    let tokens = tokens(text);
    let of_setting = (0..tokens.len()).filter(|at| names_setting(&tokens, *at));
    of_setting.into_iter().find_map(|at| pressure_behind(text, &tokens[at + 1..]))
}

/// Returns whether a word of a text names the set pressure of the device, not that of a test bench or of another part.
fn names_setting(tokens: &[Token], at: usize) -> bool {
    let is_next = |words: &[&str]| tokens.get(at + 1).is_some_and(|next| next.is_in(words));
    let is_of_other = at.checked_sub(1).is_some_and(|before| tokens[before].is_in(vocabulary::OTHER_SETTING_WORDS));
    // The pressure at which a valve closes again.
    let is_reseat = tokens[at].is_in(&["reset"]) && is_next(&["pressure"]);
    let opens_at = tokens[at].is_in(vocabulary::OPENING_VERBS) && is_next(vocabulary::OPENING_PREPOSITIONS);
    (tokens[at].is_in(vocabulary::SET_PRESSURE_WORDS) || opens_at) && !is_of_other && !is_reseat
}

/// Returns the pressure at the start of a text behind words that add nothing, or the last one of a change. One of the past is
/// none.
fn pressure_behind<'t>(text: &'t str, tokens: &[Token]) -> Option<&'t str> {
    let (mut found, mut is_past, mut other_words) = (None, false, 0);
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        at += 1;
        if !token.is_number() {
            is_past |= token.is_in(vocabulary::PAST_WORDS);
            other_words += if token.is_in(vocabulary::SETTING_FILLERS) { 0 } else { token.word.len() + 1 };
            if other_words > MAX_OTHER_WORDS {
                break;
            }
            continue;
        }
        let pressure = with_unit(text, token);
        if let Some(pressure) = pressure {
            found = if is_past { found } else { Some(pressure) };
            is_past = false;
            at += tokens[at..].iter().take_while(|next| next.start < token.start + pressure.len()).count();
        }
        let goes_on = tokens.get(at).is_some_and(|next| {
            next.is_in(vocabulary::CHANGE_WORDS)
                || next.is_in(vocabulary::PAST_WORDS)
                || pressure.is_none() && next.is_number()
        });
        if !goes_on {
            break;
        }
    }
    found
}

/// Returns a number with the unit of pressure behind it.
fn with_unit<'t>(text: &'t str, number: &Token) -> Option<&'t str> {
    let is_end = |c: char| c.is_whitespace() || matches!(c, ',' | ';');
    let rest = &text[number.end..];
    let begin = rest.len() - rest.trim_start().len();
    let end_of_word = |from: usize| rest[from..].find(is_end).map_or(rest.len(), |length| from + length);
    let first = end_of_word(begin);
    // `bar (g)`
    let second = end_of_word(first + rest[first..].len() - rest[first..].trim_start().len());
    let unit = |end: usize| rest[begin..end].trim_end_matches('.');
    let is_unit = |end: usize| quantity::pressure_unit(unit(end)).is_some();
    let end = [second, first].into_iter().find(|end| is_unit(*end))?;
    let unit = unit(end);
    let unit = if unit.contains('(') { unit } else { unit.trim_end_matches(')') };
    Some(&text[number.start..number.end + begin + unit.len()])
}

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut chars = text.char_indices().peekable();
    while let Some((start, first)) = chars.next() {
        let mut end = start + first.len_utf8();
        let mut extend = |is_part: &dyn Fn(&str, char) -> bool| {
            while let Some((at, c)) = chars.next_if(|(at, c)| is_part(&text[at + c.len_utf8()..], *c)) {
                end = at + c.len_utf8();
            }
        };
        match first {
            '→' | '>' => {}
            first if first.is_ascii_digit() => {
                let is_digit = |c: char| c.is_ascii_digit();
                extend(&|rest, c| is_digit(c) || matches!(c, '.' | ',') && rest.starts_with(is_digit));
            }
            first if first.is_alphabetic() => extend(&|_, c| c.is_alphabetic()),
            _ => continue,
        }
        let word = if matches!(first, '→' | '>') { "to".into() } else { text[start..end].to_lowercase() };
        tokens.push(Token { word, start, end });
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::in_text;

    #[test]
    fn the_set_pressure_is_behind_a_word_for_it() {
        for (text, expected) in [
            ("set pressure 12 barg", "12 barg"),
            ("SP 12 barg", "12 barg"),
            ("Set: 12 barg", "12 barg"),
            ("set @ 12 barg", "12 barg"),
            ("Pset = 12 barg", "12 barg"),
            ("P_set=12barg", "12barg"),
            ("setpoint 1.2 MPag", "1.2 MPag"),
            ("popping pressure 12,5 barg", "12,5 barg"),
            ("opens at 12 barg", "12 barg"),
            ("new set pressure (12 barg)", "12 barg"),
            ("Ansprechdruck 12 bar", "12 bar"),
            ("Einstelldruck 12 bar(g)", "12 bar(g)"),
            ("Einstelldruck: 12 bar (g)", "12 bar (g)"),
            ("öffnet bei 12 bar ü", "12 bar ü"),
            ("Pression de tarage 12 bar", "12 bar"),
            ("tarée à 12 bar", "12 bar"),
            ("presión de tarado 12 barg", "12 barg"),
            ("presión de ajuste: 12 barg", "12 barg"),
            ("insteldruk 12 barg", "12 barg"),
            ("pressione di taratura 12 barg", "12 barg"),
            ("set pressure changed to 12 barg per MOC-17", "12 barg"),
            ("set pressure changed per MOC-17 to 12 barg", "12 barg"),
            ("SP raised from 10 to 12 barg", "12 barg"),
            ("SP raised from 10 barg to 12 barg", "12 barg"),
            ("set 10 → 12 barg", "12 barg"),
            ("Ansprechdruck von 10 auf 12 bar erhöht", "12 bar"),
            ("tarage modifié de 10 bar à 12 bar", "12 bar"),
            ("set pressure was 10 barg, now 12 barg", "12 barg"),
            ("set 12 barg (was 10 barg)", "12 barg"),
            ("set 10 barg at 20 °C, max. 12 barg", "10 barg"),
        ] {
            assert_eq!(in_text(text), Some(expected), "{text}");
        }
        for text in [
            "",
            "12 barg",
            "cold set pressure 12 barg",
            "cold set 12 barg",
            "spring set 12 barg",
            "reset pressure 9 barg",
            "set pressure was 8 barg",
            "set of 2 valves",
            "set 12",
            "set pressure as of data sheet, design 16 barg",
            "opens to flare at 2 barg",
        ] {
            assert_eq!(in_text(text), None, "{text}");
        }
    }
}
