//! Instrument tags, parsed letter by letter according to ISA-5.1, and what they state about protection.
//!
//! References: ANSI/ISA-5.1-2009, table of identification letters; IEC 62424 (DIN EN 62424), letters of process control
//! functions, which replaced DIN 19227. Tags of power plants (KKS) have letters of their own.

mod kks;

use regex::Regex;

use super::Datum;
use crate::error::{Code, Error, Result};
use crate::graph::vocabulary;

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

/// Modifiers of the variable by second letter. In ISA-5.1, `S` is for devices that act by themselves, such as relief
/// valves (`PSV`), and `Z` is for safety instrumented systems (`PZT`).
const MODIFIERS: &[(char, &str)] = &[
    ('D', "differential"),
    ('F', "ratio"),
    ('J', "scan"),
    ('K', "rate of change"),
    ('Q', "total"),
    ('S', "safety"),
    ('Z', "safety instrumented system"),
];

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
    ('Z', "final element, drive; safety switching in IEC 62424"),
];

/// Letters that are read as a word, the letters of the loop, and their meaning. They are common on drawings, but not
/// in ISA-5.1, where the first letter of `ESDV` would be a voltage.
const WORDS: &[(&str, &str, &str)] = &[
    ("BDV", "BD", "blowdown valve"),
    ("BPCS", "BPCS", "basic process control system"),
    ("DCS", "DCS", "distributed control system"),
    ("EBV", "EB", "emergency block valve"),
    ("EIV", "EI", "emergency isolation valve"),
    ("ESDV", "ESD", "emergency shutdown valve"),
    ("ESV", "ES", "emergency shutdown valve"),
    ("HIPPS", "HIPPS", "high-integrity pressure protection system"),
    ("SDV", "SD", "shutdown valve"),
    ("SIF", "SIF", "safety instrumented function"),
    ("SIS", "SIS", "safety instrumented system"),
];

/// First letters whose modifier `Z` may be an axis: gauging, vibration, weight or force, position.
const AXIS_VARIABLES: &str = "GVWZ";

/// A statement about protection, the weakest first.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Protection {
    /// The letters have different meanings in ISA-5.1 and IEC 62424.
    Unclear,
    /// A trip, a shutdown or an interlock; whether it is a safety instrumented function is not stated.
    Trip,
    /// A safety instrumented function.
    Safety,
}

impl Protection {
    /// Returns the word in results.
    pub fn word(self) -> &'static str {
        match self {
            Protection::Unclear => "unclear",
            Protection::Trip => "trip",
            Protection::Safety => "safety",
        }
    }
}

/// Parts of a tag.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Tag {
    pub prefix: String,
    pub letters: String,
    pub number: String,
    pub suffix: String,
    /// Signs of limits behind the letters, as in DIN 19227: `LSA++`.
    limits: String,
    /// The letters are those of a component in KKS.
    is_kks: bool,
}

impl Tag {
    /// Parses a tag, or letters alone: some exporters write `LT` and store the number elsewhere. Limits may follow the
    /// letters: `PZAHH`, `LZA-`.
    pub fn parse_letters(text: &str) -> Option<Tag> {
        const MAX_LETTERS: usize = 5;
        const MAX_LIMITS: usize = 4;
        let letters = text.trim_end_matches(is_limit_or_separator);
        let functions = letters.trim_end_matches(['H', 'L']);
        let is_letters = !letters.is_empty()
            && functions.len() <= MAX_LETTERS
            && letters.len() <= MAX_LETTERS + MAX_LIMITS
            && letters.bytes().all(|byte| byte.is_ascii_uppercase());
        let limits = limit_signs(&text[letters.len()..]);
        let tag = || Tag { letters: letters.into(), limits: limits.into(), ..Tag::default() };
        Tag::parse(text).or_else(|| is_letters.then(tag))
    }

    /// Parses a tag such as `20-FIC-101A` or `20FIC101A`: area prefix, letters, a number, and a suffix that
    /// distinguishes equal tags. `None` without letters or a number. The prefix may be that of a unit, a package or a
    /// machine: `U100-FT-101`, `K-101-PSHH-1`, `GTG-PSHH-101`.
    pub fn parse(text: &str) -> Option<Tag> {
        let text = text.trim().trim_start_matches('=');
        if let Some(tag) = kks::parse(text) {
            return Some(tag);
        }
        let offsets = letter_offsets(text);
        let parts = |at: usize| Tag::parts(text[..at].trim_end_matches(is_separator), &text[at..]);
        match offsets.iter().find_map(|at| parts(*at)) {
            Some(tag) => Some(Tag::behind_unit(text, &tag).unwrap_or(tag)),
            None => Tag::behind_word(text, offsets.first().copied().unwrap_or_default()),
        }
    }

    /// Returns the tag of an instrument behind that of a unit or a machine with a few letters: `PSHH-1` in `C-101-PSHH-1`.
    fn behind_unit(text: &str, unit: &Tag) -> Option<Tag> {
        const MAX_UNIT_LETTERS: usize = 3;
        let min_letters = if unit.letters.len() == 1 { 2 } else { 3 };
        let at = text.len() - unit.suffix.len();
        let before = text[..at].trim_end_matches(is_separator);
        let is_apart = matches!(text[before.len()..at].chars().next(), Some('-' | '_' | '.'));
        if !is_apart || unit.letters.len() > MAX_UNIT_LETTERS || unit.is_kks {
            return None;
        }
        let tag = Tag::parts(before, &text[at..])?;
        // The limit of an alarm is no tag: `LA-101-HH-80`.
        let is_limit = tag.letters.chars().all(|letter| matches!(letter, 'H' | 'L'));
        (tag.letters.len() >= min_letters && !is_limit && !is_valve_at(&unit.letters, &tag)).then_some(tag)
    }

    /// Returns the tag behind a word without a number: `PSHH-101` in `GTG-PSHH-101`, where `from` is behind the area prefixes.
    fn behind_word(text: &str, from: usize) -> Option<Tag> {
        const MAX_WORD: usize = 4;
        let (word, rest) = text[from..].split_once(['-', '_', '.'])?;
        let is_word = (1..=MAX_WORD).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_uppercase());
        let at = text.len() - rest.len();
        let tag = Tag::parts(text[..at].trim_end_matches(is_separator), rest).filter(|_| is_word)?;
        (tag.letters.len() >= 2 && !is_valve_at(word, &tag)).then_some(tag)
    }

    /// Parses a tag whose letters start a string.
    fn parts(prefix: &str, text: &str) -> Option<Tag> {
        const MAX_LETTERS: usize = 8;
        let (letters, rest) = text.split_at(text.bytes().take_while(u8::is_ascii_alphabetic).count());
        // Check the letters first: in `1.1.1.1`, each position would have to measure the number.
        if !(1..=MAX_LETTERS).contains(&letters.len()) {
            return None;
        }
        let limits = limit_signs(rest);
        let rest = rest.trim_start_matches(is_limit_or_separator);
        let (number, suffix) = rest.split_at(number_length(rest));
        (!number.is_empty()).then(|| Tag {
            prefix: prefix.into(),
            letters: letters.to_ascii_uppercase(),
            number: number.into(),
            suffix: suffix.trim_start_matches(is_separator).into(),
            limits: limits.into(),
            is_kks: false,
        })
    }

    /// Returns the loop of the tag: measured variable and number, with the `Z` of a safety instrumented system.
    pub fn loop_id(&self) -> String {
        let is_safety = self.word().is_none() && self.letters.chars().skip(1).any(|letter| letter == 'Z');
        self.loop_of(if is_safety { "Z" } else { "" })
    }

    /// Returns the measured variable and the number, whether of a safety instrumented system or not. A difference is a
    /// variable of its own: `PDIC-1` does not belong to the loop of `PIC-1`.
    pub fn variable_id(&self) -> String {
        self.loop_of("")
    }

    fn loop_of(&self, modifier: &str) -> String {
        let length = if self.measures_difference() { 2 } else { 1 };
        let first: String = self.letters.chars().take(length).collect();
        let letters = self.word().map_or(&*first, |(_, letters, _)| letters);
        let prefix = if self.prefix.is_empty() { String::new() } else { format!("{}-", self.prefix) };
        format!("{prefix}{letters}{modifier}-{}", self.number)
    }

    /// Returns whether the measured variable is a difference: `PDT`, `TDIC`.
    pub fn measures_difference(&self) -> bool {
        self.split().0 == Some('D')
    }

    /// Returns the direction of the limit at which an instrument switches: `LSHH`, `LZLL`.
    pub fn switched_limit(&self) -> Option<&'static str> {
        let (modifier, functions) = self.split();
        let switches = self.measures() && (modifier == Some('Z') || functions.contains(&'S'));
        let has_sign = |sign: &str| self.limits.contains(sign);
        let (is_above, is_both) = (has_sign("+"), has_sign("\u{b1}"));
        let is_below = has_sign("--") || is_above && has_sign("-");
        let has = |letter: char, has_sign: bool| functions.contains(&letter) || has_sign || is_both;
        match (has('H', is_above), has('L', is_below)) {
            (true, false) if switches => Some("H"),
            (false, true) if switches => Some("L"),
            _ => None,
        }
    }

    /// Returns the same tag with the letter of a difference: the loop of `PDIC-1` for `PV-1`; `None` for letters that are
    /// a word or that have a modifier.
    pub fn with_difference(&self) -> Option<Tag> {
        let is_plain = self.word().is_none() && self.split().0.is_none();
        let (first, rest) = Some(&self.letters).filter(|_| is_plain)?.split_at_checked(1)?;
        Some(Tag { letters: format!("{first}D{rest}"), ..self.clone() })
    }

    /// Returns the same tag without the letter of a difference: the loop of `PT-1` for `PDT-1`.
    pub fn without_difference(&self) -> Tag {
        let letters = self.letters.chars().take(1).chain(self.letters.chars().skip(2)).collect();
        Tag { letters, ..self.clone() }
    }

    /// Returns whether the first letter is that of a measured variable: not by hand, several variables, unclassified,
    /// an event or time, or the `I` of an interlock.
    pub fn measures(&self) -> bool {
        if self.is_kks {
            return kks::variable(&self.letters).is_some_and(|variable| !["hand", "time"].contains(&variable));
        }
        self.word().is_none() && self.letters != "I" && !self.letters.starts_with(['H', 'U', 'X', 'Y', 'K'])
    }

    /// Returns whether the variable is a position, by its first letter: `Z` in ISA-5.1, `G` in IEC 62424.
    pub fn is_position(&self) -> bool {
        if self.is_kks {
            return kks::variable(&self.letters) == Some("position");
        }
        self.word().is_none() && self.letters.starts_with(['Z', 'G'])
    }

    /// Returns the row of letters that are a word.
    fn word(&self) -> Option<(&'static str, &'static str, &'static str)> {
        if self.is_kks {
            return kks::component(&self.letters).map(|(of_loop, meaning)| (of_loop, of_loop, meaning));
        }
        let codes = vocabulary::SHUTDOWN_CODES.iter().map(|(code, meaning)| (*code, *code, *meaning));
        WORDS.iter().copied().chain(codes).find(|(word, ..)| *word == self.letters)
    }

    /// Returns what the letters state about protection: a safety instrumented function by `Z`, or a trip by a word such
    /// as `ESDV`, a switch at the second limit such as `PSHH`, or the `I` of an interlock.
    ///
    /// `Z` as the only letter after the first is unclear: safety switching in IEC 62424, any drive or final element in
    /// ISA-5.1. So is `Z` after a variable that has axes.
    pub fn protection(&self) -> Option<Protection> {
        if self.is_kks {
            return kks::protects(&self.letters).then_some(Protection::Trip);
        }
        if let Some((word, ..)) = self.word() {
            return match word {
                word if vocabulary::CONTROL_SYSTEMS.contains(&word) => None,
                word if word.starts_with("SI") || word == "HIPPS" => Some(Protection::Safety),
                _ => Some(Protection::Trip),
            };
        }
        let (modifier, functions) = self.split();
        let first = self.letters.chars().next()?;
        let has_axes = modifier == Some('Z') && AXIS_VARIABLES.contains(first);
        let is_second_limit = functions.windows(2).any(|pair| matches!(pair, ['H', 'H'] | ['L', 'L']))
            || ["++", "--"].iter().any(|signs| self.limits.contains(signs));
        match () {
            () if has_axes || functions == ['Z'] => Some(Protection::Unclear),
            () if modifier == Some('Z') || functions.contains(&'Z') => Some(Protection::Safety),
            () if functions.contains(&'S') && is_second_limit => Some(Protection::Trip),
            () if self.letters == "I" => Some(Protection::Trip),
            () => None,
        }
    }

    /// Returns the modifier and the functions after the first letter. Letters that are a word have only the function of
    /// a valve, if they are one.
    pub fn split(&self) -> (Option<char>, Vec<char>) {
        if self.is_kks {
            return (None, if kks::controls(&self.letters) { vec!['C'] } else { Vec::new() });
        }
        if let Some((word, ..)) = self.word() {
            return (None, word.chars().filter(|letter| *letter == 'V').collect());
        }
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
            ..Tag::default()
        })
    }
}

/// Returns whether letters in front of the tag of a valve are those of another valve, which stands at it: `HV-PSV-101`.
fn is_valve_at(letters: &str, tag: &Tag) -> bool {
    letters.ends_with('V') && tag.letters.ends_with('V')
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

/// Hyphens exist in several code points, and the text of a bubble may have two lines.
fn is_separator(c: char) -> bool {
    matches!(c, '-' | '_' | ' ' | '.' | '/' | ':' | '\n' | '\r' | '\t' | '\u{2010}'..='\u{2013}' | '\u{2212}')
}

/// IEC 62424 and DIN 19227 mark the limits of a function with a sign: `LZA- 101`, `PZA+ 101`.
fn is_limit_or_separator(c: char) -> bool {
    is_separator(c) || matches!(c, '+' | '\u{b1}')
}

/// Returns the signs of limits at the start of a string. A single hyphen is a separator.
fn limit_signs(text: &str) -> &str {
    let end = text.find(|c: char| !matches!(c, '+' | '-' | '/' | ' ' | '\u{b1}')).unwrap_or(text.len());
    text[..end].trim()
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
    const KEYS: &[&str] = &[
        "prefix",
        "letters",
        "first",
        "variable",
        "modifier",
        "functions",
        "protection",
        "number",
        "suffix",
        "loop",
        "unknown",
    ];
    const FUNCTION: &[&str] = &["letter", "meaning"];
    let Some(tag) = tag else { return Datum::Null };
    let first = tag.letters.chars().next().unwrap_or(' ');
    let (modifier, functions) = tag.split();
    let word = |word: Option<&'static str>| word.map_or(Datum::Null, Datum::Word);
    let row = |letter: &char| vec![Datum::String(letter.to_string()), word(meaning(FUNCTIONS, *letter))];
    let rows = match tag.word() {
        Some((letters, _, meaning)) => vec![vec![Datum::Word(letters), Datum::Word(meaning)]],
        None => functions.iter().map(row).collect(),
    };
    let unknown = functions.iter().filter(|letter| meaning(FUNCTIONS, **letter).is_none()).map(char::to_string);
    Datum::Record(
        KEYS,
        vec![
            Datum::String(tag.prefix.clone()),
            Datum::String(tag.letters.clone()),
            Datum::String(first.to_string()),
            word(variable(&tag)),
            word(modifier.and_then(|modifier| meaning(MODIFIERS, modifier))),
            Datum::Table(FUNCTION, rows),
            word(tag.protection().map(Protection::word)),
            Datum::String(tag.number.clone()),
            Datum::String(tag.suffix.clone()),
            Datum::String(tag.loop_id()),
            Datum::strings(unknown),
        ],
    )
}

/// Measured variable of the first letter; `None` for letters that are a word.
pub(crate) fn variable(tag: &Tag) -> Option<&'static str> {
    if tag.is_kks {
        return kks::variable(&tag.letters);
    }
    if tag.word().is_some() {
        return None;
    }
    meaning(VARIABLES, tag.letters.chars().next()?)
}

#[cfg(test)]
mod tests {
    use super::{Protection, Tag};

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
    fn the_switch_of_a_time_schedule_is_a_sequence_controller() {
        check("KS-101", "|K||S|101|");
        let tag = Tag::parse("KS-101").expect("a tag");
        assert_eq!((super::variable(&tag), tag.measures(), tag.protection()), (Some("time, schedule"), false, None));
    }

    #[test]
    fn signs_behind_the_letters_are_limits() {
        let read = |text: &str| Tag::parse_letters(text).map(|tag| (tag.switched_limit(), tag.protection()));
        for (text, expected) in [
            ("LSA++ 101", (Some("H"), Some(Protection::Trip))),
            ("LSA++", (Some("H"), Some(Protection::Trip))),
            ("LSA--101", (Some("L"), Some(Protection::Trip))),
            ("LSA+ 101", (Some("H"), None)),
            ("LSA+/- 101", (None, None)),
            ("LSA\u{b1} 101", (None, None)),
            ("LSA-101", (None, None)),
            ("PDICA+ 101", (None, None)),
            ("PDICA++", (None, None)),
            ("LSHH-101", (Some("H"), Some(Protection::Trip))),
            ("LZA++ 101", (Some("H"), Some(Protection::Safety))),
        ] {
            assert_eq!(read(text), Some(expected), "{text}");
        }
        check("LSA++ 101", "|L||SA|101|");
        check("PDICA+101", "|P|D|ICA|101|");
    }

    #[test]
    fn tags_of_power_plants_have_letters_of_their_own() {
        let read = |text: &str| {
            let tag = Tag::parse(text).expect("a tag");
            (tag.loop_id(), super::variable(&tag), tag.measures())
        };
        check("10LAB10CP001", "10LAB10|C|||001|");
        check("=1LAB10 CP001-B01", "1LAB10|C|||001|B01");
        check("10LAB10-CP001", "10LAB10|C|||001|");
        assert_eq!(read("10LAB10CP001"), ("10LAB10-CP-001".into(), Some("pressure"), true));
        assert_eq!(read("10LAB10CT501A"), ("10LAB10-CT-501".into(), Some("temperature"), true));
        assert_eq!(read("10LAB10AA001"), ("10LAB10-AA-001".into(), None, false));
        assert_eq!(read("10LAB10DP001"), ("10LAB10-CP-001".into(), Some("pressure"), true));
        assert_eq!(read("10LAB10EZ001"), ("10LAB10-EZ-001".into(), None, false));
        assert_eq!(Tag::parse("10LAB10EZ001").and_then(|tag| tag.protection()), Some(Protection::Trip));
        assert_eq!(read("LAB10CG001").1, Some("position"));
        // Not KKS: other counts of letters and digits.
        check("10LAB10C001", "10|L||AB|10|C001");
        check("20FIC10", "20|F||IC|10|");
        check("10PSV101", "10|P|S|V|101|");
    }

    #[test]
    fn z_is_the_modifier_of_safety_instrumented_systems() {
        check("PZT-101", "|P|Z|T|101|");
        check("XZV 7", "|X|Z|V|7|");
        check("PZAHH-101", "|P|Z|AHH|101|");
        check("LZA- 101", "|L|Z|A|101|");
        check("PZA+ 101", "|P|Z|A|101|");
        check("PICZA 101", "|P||ICZA|101|");
        check("FZ-101", "|F||Z|101|");
        check("ZSO-101", "|Z||SO|101|");
    }

    #[test]
    fn letters_state_safety_functions_trips_or_neither() {
        let protection = |text: &str| Tag::parse(text).and_then(|tag| tag.protection());
        let all = |tags: &str, expected: Option<Protection>| {
            for tag in tags.split(' ') {
                assert_eq!(protection(tag), expected, "{tag}");
            }
        };
        all("XZV-1 UZV-1 LZT-1 PZT-1 PZSHH-1 PZAHH-1 LZA-1 LZA-+1 PICZA-1 20-TZE-1A SIF-1", Some(Protection::Safety));
        all("PSHH-1 LSLL-1 TSHH-1 PDSHH-1 ESDV-1 SDV-1 ESD-1 BDV-1 20-ESDV-101A I-1", Some(Protection::Trip));
        all("HZ-1 FZ-1 UZ-1 VZT-1", Some(Protection::Unclear));
        all("XV-1 HS-1 PT-1 PSV-1 PSE-1 PSH-1 PAHH-1 ZSO-1 ZT-1 ZIC-1 FV-1 PICSA-1 II-1 T-1", None);
    }

    #[test]
    fn letters_without_a_number_may_have_limits() {
        let letters = |text: &str| Tag::parse_letters(text).map(|tag| (tag.letters.clone(), tag.protection()));
        for (text, expected) in [("LZA-", "LZA"), ("PZAHH", "PZAHH"), ("PICZA+", "PICZA"), ("PDICZAHHLL", "")] {
            let expected =
                Some((String::from(expected), Some(Protection::Safety))).filter(|(text, _)| !text.is_empty());
            assert_eq!(letters(text), expected, "{text}");
        }
        assert_eq!(letters("-"), None);
        assert_eq!(letters("PSHH"), Some(("PSHH".into(), Some(Protection::Trip))));
    }

    #[test]
    fn a_safety_function_has_a_loop_of_its_own() {
        let loops = |text: &str| Tag::parse(text).map(|tag| [tag.loop_id(), tag.variable_id()]);
        let check = |text: &str, ids: [&str; 2]| assert_eq!(loops(text), Some(ids.map(String::from)), "{text}");
        check("20-PZT-101A", ["20-PZ-101", "20-P-101"]);
        check("PSHH-101", ["P-101", "P-101"]);
        check("ESDV-101", ["ESD-101", "ESD-101"]);
        check("ZSO-101", ["Z-101", "Z-101"]);
    }

    #[test]
    fn a_difference_is_a_variable_of_its_own() {
        let loops = |text: &str| Tag::parse(text).map(|tag| [tag.loop_id(), tag.variable_id()]);
        for (text, ids) in [
            ("PDT-7", ["PD-7", "PD-7"]),
            ("100-PDIC-7A", ["100-PD-7", "100-PD-7"]),
            ("PDZT-7", ["PDZ-7", "PD-7"]),
            ("SDV-7", ["SD-7", "SD-7"]),
            ("PD-7", ["P-7", "P-7"]),
            ("FFIC-7", ["F-7", "F-7"]),
        ] {
            assert_eq!(loops(text), Some(ids.map(String::from)), "{text}");
        }
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
    fn a_unit_or_a_machine_may_be_before_the_tag() {
        check("U100-FT-101", "U100|F||T|101|");
        check("U100-PIC-205", "U100|P||IC|205|");
        check("A1-PAHH-205", "A1|P||AHH|205|");
        check("C-101-PSHH-1", "C-101|P||SHH|1|");
        check("K101-PSHH-1", "K101|P||SHH|1|");
        check("TK1_LSHH_101", "TK1|L||SHH|101|");
        check("GTG-PSHH-101", "GTG|P||SHH|101|");
        check("SIS-PSHH-101", "SIS|P||SHH|101|");
        check("100-A-PSHH-101", "100-A|P||SHH|101|");
        check("=U1.PSHH101", "U1|P||SHH|101|");
        check("PSHH\n101", "|P||SHH|101|");
        check("PSHH:101", "|P||SHH|101|");
        // The suffix of an item, a nozzle, a second tag, a limit.
        check("V-101-N2", "|V|||101|N2");
        check("V1-PSV-101", "|V|||1|PSV-101");
        check("HV-PSV-1", "none");
        check("P-101-A/B", "|P|||101|A/B");
        check("FIC-101-XV2", "|F||IC|101|XV2");
        check("FIC-101/FV-101", "|F||IC|101|FV-101");
        check("L-101-HH-80", "|L|||101|HH-80");
        check("STEAM-DN-50", "none");
        check("DN50", "|D||N|50|");
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
