//! Facts of a text: values with their units, tags, dates and identifiers, each with what it is said of.

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

use super::date::{self, Date};
use super::number::{self, Digits, Number, Reading};
use super::plain::Plain;
use super::qualifiers::{self, Qualifier};
use super::sentences::list_marker;
use super::table::{Line, Tables};
use super::units::Measure;
use crate::analyzer;

/// Facts of a text.
pub struct Facts {
    /// In the order of the text.
    pub list: Vec<Fact>,
    /// Statements: sentences, and rows of tables.
    pub statements: Vec<Range<usize>>,
    /// Names of all tags.
    pub tags: BTreeSet<String>,
    /// Units that stand without a number, as in the heading of a column.
    pub units: Vec<Measure>,
    /// Words, also joined with their neighbors, in upper case without hyphens: `DN50` of DN 50.
    pub identifiers: HashSet<String>,
    /// First letters of the words, in lower case: an abbreviation consists of some.
    pub initials: String,
}

/// A fact.
#[derive(Clone, Debug)]
pub struct Fact {
    pub content: Content,
    /// Range of characters.
    pub range: Range<usize>,
}

/// Content of a fact.
#[derive(Clone, Debug)]
pub enum Content {
    Value(Value),
    Tag(String),
    /// Possible readings.
    Date(Vec<Date>),
    /// Digits with several points or colons.
    Literal(String),
    /// A word of letters and digits, in upper case: `316L`.
    Identifier(String),
}

/// A number with its unit.
#[derive(Clone, Debug, Default)]
pub struct Value {
    pub readings: Vec<Reading>,
    /// The unit that follows it.
    pub unit: Option<Measure>,
    /// Units of its row or column, if none follows it.
    pub table_units: Vec<Measure>,
    /// `true` after a word such as `about`.
    pub is_rounded: bool,
    /// Tags of which it is said.
    pub tags: BTreeSet<String>,
    /// Quantity that it is the value of: `design pressure`.
    pub qualifiers: BTreeSet<Qualifier>,
}

/// Words before a rounded number.
const ROUNDING: &[&str] = &[
    "about",
    "approx",
    "approximately",
    "around",
    "ca",
    "circa",
    "etwa",
    "nearly",
    "roughly",
    "rund",
    "ungefähr",
    "almost",
];

/// Words for numbers, English and German. They are read in passages, where "two" supports 2.
const NUMBER_WORDS: &[(&str, f64)] = &[
    ("one", 1.0),
    ("two", 2.0),
    ("three", 3.0),
    ("four", 4.0),
    ("five", 5.0),
    ("six", 6.0),
    ("seven", 7.0),
    ("eight", 8.0),
    ("nine", 9.0),
    ("ten", 10.0),
    ("eleven", 11.0),
    ("twelve", 12.0),
    ("zwei", 2.0),
    ("drei", 3.0),
    ("vier", 4.0),
    ("fünf", 5.0),
    ("sechs", 6.0),
    ("sieben", 7.0),
    ("acht", 8.0),
    ("neun", 9.0),
    ("zehn", 10.0),
    ("elf", 11.0),
    ("zwölf", 12.0),
    ("once", 1.0),
    ("twice", 2.0),
];

/// Connector of the numbers of a range or an enumeration, whose last number has the unit.
const CONNECTORS: &[&str] =
    &["-", "...", "…", "to", "bis", "x", "×", "±", "+/-", "/", "and", "und", "or", "oder", ",", "till", "through"];

/// Words before the number of a passage, which is no claim.
const REFERENCES: &[&str] = &[
    "passage",
    "passages",
    "document",
    "documents",
    "source",
    "sources",
    "context",
    "quelle",
    "dokument",
    "abschnitt",
];

/// Reader of a text: an answer or a passage.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Role {
    /// Numbers of items, of passages and of ordinals are no facts.
    Answer,
    /// 10 200 may be two numbers, and words may be numbers.
    Passage,
}

impl Facts {
    /// Reads the facts of a text. `markers` are ranges of `plain` that are no text.
    pub fn read(text: &str, plain: &Plain, statements: Vec<Range<usize>>, role: Role) -> Facts {
        let tags = tags(text, plain);
        let tables = Tables::new(plain);
        let mut scanner = Scanner { plain, role, tags: &tags, list: Vec::new() };
        for statement in &statements {
            let first = scanner.list.len();
            scanner.scan(statement.clone());
            share_units(plain, &mut scanner.list[first..]);
            assign_subjects(plain, statement, tables.line(statement), &mut scanner.list[first..]);
        }
        let list = scanner.list;
        let identifiers = identifiers(plain);
        let names = tags.into_iter().map(|tag| tag.0).collect();
        let units = separate_units(plain, 0..plain.chars.len());
        Facts { list, statements, tags: names, units, identifiers, initials: initials(plain) }
    }

    /// Reads the facts of a passage.
    pub fn of_passage(text: &str) -> (Plain, Facts) {
        let plain = Plain::new(text);
        let statements = Tables::new(&plain).statements(&plain);
        let facts = Facts::read(text, &plain, statements, Role::Passage);
        (plain, facts)
    }
}

/// Returns the tags of a text with their ranges of characters. The letters of P-101 A/B name two pumps.
fn tags(text: &str, plain: &Plain) -> Vec<(String, Range<usize>)> {
    let mut tags = Vec::new();
    for tag in analyzer::tags(text) {
        let range = plain.index(tag.span.start)..plain.index(tag.span.end);
        if tag.name.ends_with(|c: char| c.is_ascii_digit()) && plain.at(range.end) == ' ' {
            let mut index = range.end + 1;
            while plain.at(index).is_ascii_uppercase()
                && !plain.at(index + 1).is_alphanumeric()
                && (plain.at(index + 1) == '/' || plain.at(index - 1) == '/')
            {
                tags.push((format!("{}{}", tag.name, plain.at(index)), index..index + 1));
                index += 1 + usize::from(plain.at(index + 1) == '/');
            }
        }
        tags.push((tag.name, range));
    }
    tags.sort_by_key(|(_, range)| (range.start, range.end));
    tags
}

struct Scanner<'a> {
    plain: &'a Plain,
    role: Role,
    /// Tags of the whole text, in order.
    tags: &'a [(String, Range<usize>)],
    list: Vec<Fact>,
}

impl Scanner<'_> {
    fn scan(&mut self, statement: Range<usize>) {
        let mut index = list_marker(self.plain, statement.start).min(statement.end);
        while index < statement.end {
            let end = self.read_at(index);
            index = end.max(index + 1);
        }
    }

    /// Reads the word that begins at a character. Returns its end.
    fn read_at(&mut self, index: usize) -> usize {
        let position = self.tags.partition_point(|(_, range)| range.start < index);
        if let Some((name, range)) = self.tags.get(position).filter(|(_, range)| range.start == index) {
            let (name, range) = (name.clone(), range.clone());
            return self.push(Content::Tag(name), range);
        }
        let c = self.plain.at(index);
        if !c.is_alphanumeric() {
            return index + 1;
        }
        if let Some((dates, end)) = date::read(self.plain, index) {
            return self.push(Content::Date(dates), index..end);
        }
        match c.is_ascii_digit() {
            true => self.read_digits(index),
            false => self.read_word(index),
        }
    }

    fn push(&mut self, content: Content, range: Range<usize>) -> usize {
        let end = range.end;
        self.list.push(Fact { content, range });
        end
    }

    fn read_digits(&mut self, start: usize) -> usize {
        match number::read(self.plain, start, true) {
            Some(Digits::Literal { text, end }) => self.push(Content::Literal(text), start..end),
            Some(Digits::Number(number)) => self.read_number(start, number),
            None => start + 1,
        }
    }

    fn read_number(&mut self, start: usize, number: Number) -> usize {
        let (measure, end) = match unit_after(self.plain, number.end) {
            Some((measure, end)) => (Some(measure), end),
            None => (None, number.end),
        };
        let is_joined = self.plain.at(number.end).is_alphanumeric();
        if measure.is_none() && is_joined {
            return self.read_identifier(start);
        }
        if self.role == Role::Answer && measure.is_none() && self.is_label(&number) {
            return end;
        }
        if self.role == Role::Passage && self.plain.chars[start..number.end].contains(&' ') {
            self.push_parts(start);
        }
        self.push_value(number.readings, measure, number.start..end)
    }

    /// Adds the groups of a number such as 10 200 as numbers of their own: they may be two columns.
    fn push_parts(&mut self, start: usize) {
        let mut index = start;
        while let Some(Digits::Number(part)) = number::read(self.plain, index, false) {
            let unit = unit_after(self.plain, part.end).map(|found| found.0);
            let end = part.end;
            self.push_value(part.readings, unit, part.start..end);
            if self.plain.at(end) != ' ' {
                break;
            }
            index = end + 1;
        }
    }

    fn push_value(&mut self, readings: Vec<Reading>, unit: Option<Measure>, range: Range<usize>) -> usize {
        let is_rounded = self.is_rounded(range.start);
        self.push(Content::Value(Value { readings, unit, is_rounded, ..Value::default() }), range)
    }

    /// Returns whether a number is that of an item or of a passage.
    fn is_label(&self, number: &Number) -> bool {
        let is_bracketed = self.plain.before(number.start) == '(' && self.plain.at(number.end) == ')';
        let is_small = number.end - number.start <= 2;
        let word = self.word_before(number.start);
        (is_bracketed && is_small) || REFERENCES.contains(&word.as_str())
    }

    fn is_rounded(&self, start: usize) -> bool {
        let mut index = start;
        while index > 0 && self.plain.at(index - 1) == ' ' {
            index -= 1;
        }
        matches!(self.plain.before(index), '~' | '≈') || ROUNDING.contains(&self.word_before(start).as_str())
    }

    /// Returns the word before a character, in lower case.
    fn word_before(&self, start: usize) -> String {
        let mut end = start;
        while end > 0 && matches!(self.plain.at(end - 1), ' ' | '.' | '(') {
            end -= 1;
        }
        let mut begin = end;
        while begin > 0 && self.plain.at(begin - 1).is_alphabetic() && end - begin < 20 {
            begin -= 1;
        }
        self.plain.text(begin..end).to_lowercase()
    }

    fn read_identifier(&mut self, start: usize) -> usize {
        let end = self.plain.run(start, char::is_alphanumeric);
        let word = self.plain.text(start..end);
        let is_ordinal = ["st", "nd", "rd", "th"]
            .iter()
            .any(|suffix| word.strip_suffix(suffix).is_some_and(|digits| digits.chars().all(|c| c.is_ascii_digit())));
        match is_ordinal {
            true => end,
            false => self.push(Content::Identifier(word.to_uppercase()), start..end),
        }
    }

    fn read_word(&mut self, start: usize) -> usize {
        let end = self.plain.run(start, char::is_alphanumeric);
        let word = self.plain.text(start..end);
        if word.chars().any(|c| c.is_ascii_digit()) {
            return self.push(Content::Identifier(word.to_uppercase()), start..end);
        }
        if self.role == Role::Answer {
            return end;
        }
        let word = word.to_lowercase();
        let Some(&(_, value)) = NUMBER_WORDS.iter().find(|(name, _)| word == *name) else { return end };
        let (unit, value_end) = match unit_after(self.plain, end) {
            Some((measure, end)) => (Some(measure), end),
            None => (None, end),
        };
        self.push_value(vec![Reading { value, half_place: 0.5 }], unit, start..value_end);
        value_end
    }
}

/// Reads the unit after a number: after a space or a hyphen, or without either.
fn unit_after(plain: &Plain, end: usize) -> Option<(Measure, usize)> {
    let start = match plain.at(end) {
        ' ' if plain.at(end + 1) == ' ' => end + 2,
        ' ' => end + 1,
        '-' if plain.at(end + 1).is_alphabetic() => end + 1,
        '_' | '[' => return None,
        _ => end,
    };
    let start = start + usize::from(plain.at(start) == '[');
    Measure::at(plain, start)
}

/// Maximum length of what connects two numbers, in characters.
const MAX_CONNECTOR: usize = 12;

/// Gives the numbers of a range or an enumeration the unit of the last one: 10 to 20 bar.
fn share_units(plain: &Plain, list: &mut [Fact]) {
    for index in (1..list.len()).rev() {
        let gap = list[index - 1].range.end..list[index].range.start;
        let Content::Value(Value { unit: Some(unit), .. }) = list[index].content else { continue };
        if let Content::Value(previous) = &mut list[index - 1].content
            && previous.unit.is_none()
            && gap.len() <= MAX_CONNECTOR
            && CONNECTORS.contains(&plain.text(gap).trim())
        {
            previous.unit = Some(unit);
        }
    }
}

/// Maximum number of tags of which a value can be said; of more, nothing is concluded.
const MAX_SUBJECTS: usize = 16;

/// Assigns to each value the tags and qualifiers of which it is said, and the units of its row and column.
fn assign_subjects(plain: &Plain, statement: &Range<usize>, line: Option<&Line>, list: &mut [Fact]) {
    let values: Vec<usize> =
        (0..list.len()).filter(|&index| matches!(list[index].content, Content::Value(_))).collect();
    let ranges: Vec<Range<usize>> = values.iter().map(|&index| list[index].range.clone()).collect();
    let tags = StatementTags::new(list);
    let row = line.map(|line| Row::new(plain, line, tags.within(statement)));
    let (mut subject, mut column, mut position) = (BTreeSet::new(), 0, statement.start);
    for (&index, (before, after)) in values.iter().zip(gaps(plain, statement, &ranges)) {
        let start = list[index].range.start;
        let Content::Value(value) = &mut list[index].content else { continue };
        let named = tags.within(&before);
        if !named.is_empty() {
            subject = named;
        }
        value.tags = subject.union(&tags.within(&after)).cloned().collect();
        value.qualifiers = qualifiers::read(&plain.text(before));
        if let Some(row) = &row {
            column += row.line.cells_in(plain, position.min(start)..start);
            position = start;
            row.add_to(plain, column, value);
        }
    }
}

/// Tags of a statement, in order.
struct StatementTags(Vec<(usize, String)>);

impl StatementTags {
    fn new(list: &[Fact]) -> StatementTags {
        let tag = |fact: &Fact| match &fact.content {
            Content::Tag(name) => Some((fact.range.start, name.clone())),
            _ => None,
        };
        StatementTags(list.iter().filter_map(tag).collect())
    }

    /// Returns the tags in a range; none if there are too many.
    fn within(&self, range: &Range<usize>) -> BTreeSet<String> {
        let first = self.0.partition_point(|(start, _)| *start < range.start);
        let last = self.0.partition_point(|(start, _)| *start < range.end).max(first);
        match last - first {
            0..=MAX_SUBJECTS => self.0[first..last].iter().map(|(_, name)| name.clone()).collect(),
            _ => BTreeSet::new(),
        }
    }
}

/// Qualifiers that the cells of a row give its values.
struct Row<'a> {
    line: &'a Line,
    tags: BTreeSet<String>,
    qualifiers: BTreeSet<Qualifier>,
    units: Vec<Measure>,
}

/// Characters of a row in which units are looked for.
const MAX_ROW: usize = 2000;

impl Row<'_> {
    fn new<'a>(plain: &Plain, line: &'a Line, tags: BTreeSet<String>) -> Row<'a> {
        let range = line.range.start..line.range.end.min(line.range.start + MAX_ROW);
        let (qualifiers, units) = (qualifiers::read(&plain.text(line.label(plain))), separate_units(plain, range));
        Row { line, tags, qualifiers, units }
    }

    /// Adds the tags, qualifiers and units of the row and the column to a value.
    fn add_to(&self, plain: &Plain, column: usize, value: &mut Value) {
        value.tags.extend(self.tags.iter().cloned());
        value.qualifiers.extend(self.qualifiers.iter().copied());
        value.table_units.clone_from(&self.units);
        let Some(cell) = self.line.header_cell(column) else { return };
        let text = plain.text(cell.clone());
        value.tags.extend(analyzer::tags(&text).into_iter().map(|tag| tag.name));
        value.qualifiers.extend(qualifiers::read(&text));
        let units = separate_units(plain, cell);
        if !units.is_empty() {
            value.table_units = units;
        }
    }
}

/// Returns, for each value, the text before it that speaks of it, and the text after it.
fn gaps(plain: &Plain, statement: &Range<usize>, values: &[Range<usize>]) -> Vec<(Range<usize>, Range<usize>)> {
    let mut gaps = Vec::with_capacity(values.len());
    let mut before = statement.start;
    for (index, value) in values.iter().enumerate() {
        let next = values.get(index + 1).map_or(statement.end, |next| next.start.max(value.end));
        let boundary = boundary(plain, value.end..next);
        let after_end = match values.get(index + 1) {
            None => next,
            Some(_) => boundary.unwrap_or(value.end),
        };
        gaps.push((before..value.start.max(before), value.end..after_end));
        before = boundary.unwrap_or(value.end);
    }
    gaps
}

/// Returns where the text between two values passes from one to the other: at a comma, a bracket, a cell, or `and`.
fn boundary(plain: &Plain, gap: Range<usize>) -> Option<usize> {
    gap.clone().find(|&index| match plain.at(index) {
        ',' | ';' | ')' | '|' | '\t' => true,
        ' ' => ["and ", "und ", "or ", "but ", "while ", "oder "].iter().any(|word| plain.starts_with(index + 1, word)),
        _ => false,
    })
}

/// Returns the units in a range that follow no number.
fn separate_units(plain: &Plain, range: Range<usize>) -> Vec<Measure> {
    let mut units: Vec<Measure> = Vec::new();
    let mut index = range.start;
    while index < range.end {
        let is_start = !plain.before(index).is_alphanumeric() && !plain.at(index).is_whitespace();
        let found = is_start.then(|| Measure::at(plain, index)).flatten();
        let Some((measure, end)) = found else {
            index += 1;
            continue;
        };
        let follows_number = (range.start..index).rev().map(|index| plain.at(index)).find(|c| *c != ' ');
        let is_bracketed =
            matches!(follows_number, Some('[' | '(' | '|' | '\t' | ',' | '/')) || follows_number.is_none();
        let is_free = end - index > 1 || (is_bracketed && !plain.at(plain.run(end, |c| c == ' ')).is_alphabetic());
        if is_free && !follows_number.is_some_and(|c| c.is_ascii_digit()) && !units.contains(&measure) {
            units.push(measure);
        }
        index = end;
    }
    units
}

/// Maximum length of a joined identifier.
const IDENTIFIER_WORDS: usize = 3;

/// Returns the words with a digit in upper case, alone and joined with the words before.
fn identifiers(plain: &Plain) -> HashSet<String> {
    let mut identifiers = HashSet::new();
    let mut recent: Vec<(String, usize)> = Vec::new();
    let mut index = 0;
    while index < plain.chars.len() {
        let end = plain.run(index, char::is_alphanumeric);
        if end == index {
            index += 1;
            continue;
        }
        if recent.last().is_some_and(|(_, last)| index - last > 1) {
            recent.clear();
        }
        recent.push((plain.text(index..end).to_uppercase(), end));
        if recent.len() > IDENTIFIER_WORDS {
            recent.remove(0);
        }
        for first in 0..recent.len() {
            let joined: String = recent[first..].iter().map(|(word, _)| word.as_str()).collect();
            if joined.chars().any(|c| c.is_ascii_digit()) && joined.chars().count() <= 40 {
                identifiers.insert(joined);
            }
        }
        index = end;
    }
    identifiers
}

fn initials(plain: &Plain) -> String {
    let starts = (0..plain.chars.len())
        .filter(|&index| plain.at(index).is_alphabetic() && !plain.before(index).is_alphanumeric());
    starts.flat_map(|index| plain.at(index).to_lowercase()).collect()
}
