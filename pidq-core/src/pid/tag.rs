//! Instrument tags, parsed letter by letter according to ISA-5.1.

use regex::Regex;

use super::Datum;
use crate::error::{Code, Error, Result};

/// Measured variable of the first letter.
const VARIABLES: &[(char, &str)] = &[
    ('A', "analysis"),
    ('B', "burner, combustion"),
    ('C', "conductivity"),
    ('D', "density"),
    ('E', "voltage"),
    ('F', "flow"),
    ('G', "gauging, position"),
    ('H', "hand"),
    ('I', "current"),
    ('J', "power"),
    ('K', "time, schedule"),
    ('L', "level"),
    ('M', "moisture"),
    ('N', "user's choice"),
    ('O', "user's choice"),
    ('P', "pressure"),
    ('Q', "quantity"),
    ('R', "radiation"),
    ('S', "speed, frequency"),
    ('T', "temperature"),
    ('U', "multivariable"),
    ('V', "vibration"),
    ('W', "weight, force"),
    ('X', "unclassified"),
    ('Y', "event, state"),
    ('Z', "position, dimension"),
];

/// Modifiers of the variable by second letter.
const MODIFIERS: &[(char, &str)] =
    &[('D', "differential"), ('F', "ratio"), ('J', "scan"), ('K', "rate of change"), ('Q', "total"), ('S', "safety")];

/// Functions by the remaining letters.
const FUNCTIONS: &[(char, &str)] = &[
    ('A', "alarm"),
    ('C', "control"),
    ('E', "sensor"),
    ('G', "viewing device"),
    ('H', "high"),
    ('I', "indicate"),
    ('K', "control station"),
    ('L', "low, light"),
    ('M', "middle"),
    ('N', "user's choice"),
    ('O', "orifice, open"),
    ('P', "test point"),
    ('Q', "total"),
    ('R', "record"),
    ('S', "switch"),
    ('T', "transmit"),
    ('U', "multifunction"),
    ('V', "valve"),
    ('W', "well"),
    ('X', "unclassified"),
    ('Y', "compute, relay"),
    ('Z', "final element, drive"),
];

/// Parts of a tag.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Tag {
    pub prefix: String,
    pub letters: String,
    pub number: String,
    pub suffix: String,
}

impl Tag {
    /// Parses a tag, or letters alone: some exporters write `LT` and store the number elsewhere.
    pub fn parse_letters(text: &str) -> Option<Tag> {
        const MAX_LETTERS: usize = 5;
        let is_letters = (1..=MAX_LETTERS).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_uppercase());
        Tag::parse(text).or_else(|| is_letters.then(|| Tag { letters: text.into(), ..Tag::default() }))
    }

    /// Parses a tag such as `20-FIC-101A` or `20FIC101A`: area prefix, letters, a number, and a suffix that
    /// distinguishes equal tags. `None` without letters or a number.
    pub fn parse(text: &str) -> Option<Tag> {
        let text = text.trim();
        letter_offsets(text)
            .into_iter()
            .find_map(|at| Tag::parts(text[..at].trim_end_matches(is_separator), &text[at..]))
    }

    /// Parses a tag whose letters start a string.
    fn parts(prefix: &str, text: &str) -> Option<Tag> {
        const MAX_LETTERS: usize = 8;
        let (letters, rest) = text.split_at(text.bytes().take_while(u8::is_ascii_alphabetic).count());
        // Check the letters first: in `1.1.1.1`, each position would have to measure the number.
        if !(1..=MAX_LETTERS).contains(&letters.len()) {
            return None;
        }
        let rest = rest.trim_start_matches(is_separator);
        let (number, suffix) = rest.split_at(number_length(rest));
        (!number.is_empty()).then(|| Tag {
            prefix: prefix.into(),
            letters: letters.to_ascii_uppercase(),
            number: number.into(),
            suffix: suffix.trim_start_matches(is_separator).into(),
        })
    }

    /// Returns the loop of the tag: first letter and number.
    pub fn loop_id(&self) -> String {
        let first: String = self.letters.chars().take(1).collect();
        let prefix = if self.prefix.is_empty() { String::new() } else { format!("{}-", self.prefix) };
        format!("{prefix}{first}-{}", self.number)
    }

    /// Returns the modifier and the functions after the first letter.
    pub fn split(&self) -> (Option<char>, Vec<char>) {
        let mut letters: Vec<char> = self.letters.chars().skip(1).collect();
        let is_modifier = match letters.as_slice() {
            // A switch, except before the letters of safety equipment: PSV, PSE.
            ['S', next, ..] => matches!(next, 'V' | 'E' | 'Z'),
            [first, _, ..] => MODIFIERS.iter().any(|(letter, _)| letter == first),
            _ => false,
        };
        let modifier = is_modifier.then(|| letters.remove(0));
        (modifier, letters)
    }
}

/// Pattern for tags not written according to ISA-5.1, with the groups `prefix`, `letters`, `number` and `suffix`.
pub(crate) struct TagScheme(Regex);

impl TagScheme {
    /// Compiles a pattern.
    pub fn new(pattern: &str) -> Result<TagScheme> {
        // The compiled size is limited separately; this limits the parser of patterns.
        const MAX_LENGTH: usize = 4 << 10;
        if pattern.len() > MAX_LENGTH {
            let message = format!("invalid tag scheme: it is longer than {MAX_LENGTH} bytes");
            return Err(Error::new(Code::BadRegex, message));
        }
        let regex = regex::RegexBuilder::new(pattern).size_limit(crate::limits::MAX_REGEX_SIZE).build();
        regex.map(TagScheme).map_err(|error| {
            let reason = error.to_string();
            let last = reason.lines().last().unwrap_or_default();
            Error::new(Code::BadRegex, format!("invalid tag scheme: {last}"))
        })
    }

    /// Returns the parts of a tag; `None` if the pattern does not match.
    pub fn parse(&self, text: &str) -> Option<Tag> {
        let found = self.0.captures(text)?;
        let part = |name: &str| found.name(name).map_or("", |part| part.as_str());
        Some(Tag {
            prefix: part("prefix").into(),
            letters: part("letters").to_ascii_uppercase(),
            number: part("number").into(),
            suffix: part("suffix").into(),
        })
    }
}

/// Returns the length of the number at the start of a string. A number may contain points: 4712.01 and 4712.02 are two
/// loops.
fn number_length(text: &str) -> usize {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let mut length = digits(text);
    while length > 0 && text[length..].starts_with('.') {
        match digits(&text[length + 1..]) {
            0 => break,
            more => length += 1 + more,
        }
    }
    length
}

/// Hyphens exist in several code points.
fn is_separator(c: char) -> bool {
    matches!(c, '-' | '_' | ' ' | '.' | '/' | '\u{2010}'..='\u{2013}' | '\u{2212}')
}

/// Returns the offsets at which the letters of a tag may start: after all area prefixes, then after fewer; each
/// directly, or after adjacent digits.
fn letter_offsets(text: &str) -> Vec<usize> {
    let mut starts = vec![0];
    while let Some(start) = starts.last().copied() {
        let Some((_, rest)) = text[start..].split_once(is_separator).filter(|(area, _)| is_area(area)) else { break };
        starts.push(text.len() - rest.len());
    }
    let digits = |start: usize| text[start..].bytes().take_while(u8::is_ascii_digit).count();
    starts.into_iter().rev().flat_map(|start| [start, start + digits(start)]).collect()
}

/// Returns whether a string is an area code: digits, or starting with a digit; not the letters of an instrument.
fn is_area(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit()) && text.chars().all(|c| c.is_ascii_alphanumeric())
}

fn meaning(table: &'static [(char, &'static str)], letter: char) -> Option<&'static str> {
    table.iter().find(|(known, _)| *known == letter).map(|(_, meaning)| *meaning)
}

/// Converts a tag to a record; null for `None`.
pub(crate) fn to_datum<'a>(tag: Option<Tag>) -> Datum<'a> {
    const KEYS: &[&str] =
        &["prefix", "letters", "first", "variable", "modifier", "functions", "number", "suffix", "loop", "unknown"];
    const FUNCTION: &[&str] = &["letter", "meaning"];
    let Some(tag) = tag else { return Datum::Null };
    let first = tag.letters.chars().next().unwrap_or(' ');
    let (modifier, functions) = tag.split();
    let word = |word: Option<&'static str>| word.map_or(Datum::Null, Datum::Word);
    let row = |letter: &char| vec![Datum::String(letter.to_string()), word(meaning(FUNCTIONS, *letter))];
    let unknown = functions.iter().filter(|letter| meaning(FUNCTIONS, **letter).is_none()).map(char::to_string);
    Datum::Record(
        KEYS,
        vec![
            Datum::String(tag.prefix.clone()),
            Datum::String(tag.letters.clone()),
            Datum::String(first.to_string()),
            word(meaning(VARIABLES, first)),
            word(modifier.and_then(|modifier| meaning(MODIFIERS, modifier))),
            Datum::Table(FUNCTION, functions.iter().map(row).collect()),
            Datum::String(tag.number.clone()),
            Datum::String(tag.suffix.clone()),
            Datum::String(tag.loop_id()),
            Datum::strings(unknown),
        ],
    )
}

/// Measured variable of the first letter.
pub(crate) fn variable(tag: &Tag) -> Option<&'static str> {
    meaning(VARIABLES, tag.letters.chars().next()?)
}

#[cfg(test)]
mod tests {
    use super::Tag;

    fn check(text: &str, parts: &str) {
        let shown = Tag::parse(text).map(|tag| {
            let (modifier, functions) = tag.split();
            let functions: String = functions.into_iter().collect();
            let modifier = modifier.map_or(String::new(), String::from);
            let first: String = tag.letters.chars().take(1).collect();
            [tag.prefix, first, modifier, functions, tag.number, tag.suffix].join("|")
        });
        assert_eq!(shown.as_deref().unwrap_or("none"), parts, "{text}");
    }

    #[test]
    fn tags_are_split_according_to_isa_5_1() {
        check("FIC-101", "|F||IC|101|");
        check("20-PDT-1001A", "20|P|D|T|1001|A");
        check("PSV201", "|P|S|V|201|");
        check("PSH-7", "|P||SH|7|");
        check("FQI_3-1", "|F|Q|I|3|1");
        check("PICSA 4712.02", "|P||ICSA|4712.02|");
        check("TI-7.A", "|T||I|7|A");
        check("T-101", "|T|||101|");
        check("ti 5", "|T||I|5|");
        check("PIRCAHL 7", "|P||IRCAHL|7|");
        check("FT\u{2013}101", "|F||T|101|");
    }

    #[test]
    fn area_prefixes_may_be_attached_to_the_letters() {
        check("20FIC101", "20|F||IC|101|");
        check("20FIC-101", "20|F||IC|101|");
        check("10-20-FIC-101", "10-20|F||IC|101|");
        check("10-20LT5", "10-20|L||T|5|");
        check("3A-LT-5", "3A|L||T|5|");
        check("32-LT-101-1A", "32|L||T|101|1A");
    }

    #[test]
    fn a_tag_needs_letters_and_a_number() {
        for text in ["", "101", "FIC", "-", "ÄÖ-1", "20-30"] {
            check(text, "none");
        }
        // Many area prefixes: measuring the number after each would take minutes.
        check(&"1.".repeat(1 << 20), "none");
    }
}
