//! Paragraph numbering of Word: computes the displayed numbers (`3.2`, `a)`) from the numbering definitions.

use std::collections::HashMap;

use super::ExtractError;
use super::archive::Archive;
use super::list_numbers::NumberStyle;
use super::xml::{self, Attributes, XmlEvent};

/// Number of list levels.
const LEVELS: usize = 9;
/// Maximum number of lists and of styles that are kept.
const MAX_ENTRIES: usize = 10_000;

/// Numbering definitions of a document, and the counters of its lists.
#[derive(Default)]
pub struct Numbering {
    lists: HashMap<String, [Level; LEVELS]>,
    /// Numbering instances: the list of each, and the levels it restarts.
    numbers: HashMap<String, Number>,
    styles: HashMap<String, Style>,
    counters: HashMap<String, [Option<u32>; LEVELS]>,
}

#[derive(Clone, Debug)]
struct Level {
    start: u32,
    /// Number style; none for a bullet.
    number_style: Option<NumberStyle>,
    /// Template text, with `%1` to `%9` for the numbers of the levels.
    text: String,
    style: Option<String>,
}

impl Default for Level {
    fn default() -> Self {
        Level { start: 1, number_style: None, text: String::new(), style: None }
    }
}

#[derive(Default)]
struct Number {
    list: String,
    starts: [Option<u32>; LEVELS],
}

#[derive(Default)]
struct Style {
    number: Option<String>,
    level: Option<usize>,
    parent: Option<String>,
}

/// Numbering properties of a paragraph.
#[derive(Default)]
pub struct Paragraph {
    pub style: Option<String>,
    pub number: Option<String>,
    pub level: Option<usize>,
}

impl Numbering {
    /// Reads the definitions; a document without definitions has no numbers.
    pub fn load(archive: &mut Archive<'_>) -> Result<Numbering, ExtractError> {
        let mut numbering = Numbering::default();
        if archive.has("word/numbering.xml") {
            numbering.read_lists(archive)?;
            numbering.read_styles(archive)?;
        }
        Ok(numbering)
    }

    fn read_lists(&mut self, archive: &mut Archive<'_>) -> Result<(), ExtractError> {
        let (mut list, mut number, mut level) = (None, None, 0);
        xml::walk(archive.part("word/numbering.xml")?, |node| {
            match node {
                XmlEvent::Start("abstractNum", own) => list = own.get("abstractNumId"),
                XmlEvent::End("abstractNum") => list = None,
                XmlEvent::Start("num", own) => number = own.get("numId"),
                XmlEvent::End("num") => number = None,
                XmlEvent::Start("lvl" | "lvlOverride", own) => level = parse_level(&own, "ilvl").unwrap_or(0),
                XmlEvent::Start(name, own) => match (&list, &number) {
                    (Some(list), _) => self.set_level(list, level, name, &own),
                    (None, Some(number)) => self.set_instance(number, level, name, &own),
                    (None, None) => {}
                },
                _ => {}
            }
            Ok(())
        })
    }

    fn set_level(&mut self, list: &str, level: usize, name: &str, own: &Attributes<'_>) {
        if self.lists.len() >= MAX_ENTRIES {
            return;
        }
        let rule = &mut self.lists.entry(list.to_owned()).or_default()[level];
        let value = own.get("val").unwrap_or_default();
        match name {
            "start" => rule.start = value.parse().unwrap_or(1),
            "numFmt" => rule.number_style = parse_number_style(&value),
            "lvlText" => rule.text = value.chars().take(100).collect(),
            "pStyle" => rule.style = Some(value),
            _ => {}
        }
    }

    fn set_instance(&mut self, number: &str, level: usize, name: &str, own: &Attributes<'_>) {
        if self.numbers.len() >= MAX_ENTRIES {
            return;
        }
        let number = self.numbers.entry(number.to_owned()).or_default();
        let value = own.get("val").unwrap_or_default();
        match name {
            "abstractNumId" => number.list = value,
            "startOverride" => number.starts[level] = value.parse().ok(),
            _ => {}
        }
    }

    fn read_styles(&mut self, archive: &mut Archive<'_>) -> Result<(), ExtractError> {
        if !archive.has("word/styles.xml") {
            return Ok(());
        }
        let (mut id, mut style) = (None, Style::default());
        xml::walk(archive.part("word/styles.xml")?, |node| {
            match node {
                XmlEvent::Start("style", own) => (id, style) = (own.get("styleId"), Style::default()),
                XmlEvent::Start("numId", own) => style.number = own.get("val"),
                XmlEvent::Start("ilvl", own) => style.level = parse_level(&own, "val"),
                XmlEvent::Start("basedOn", own) => style.parent = own.get("val"),
                XmlEvent::End("style") if self.styles.len() < MAX_ENTRIES => {
                    if let Some(id) = id.take() {
                        self.styles.insert(id, std::mem::take(&mut style));
                    }
                }
                _ => {}
            }
            Ok(())
        })
    }

    /// Advances the counter of a paragraph's list and returns the number text.
    pub fn next(&mut self, paragraph: &Paragraph) -> Option<String> {
        let (id, level) = self.resolve(paragraph)?;
        let number = self.numbers.get_mut(&id)?;
        let rules = self.lists.get(&number.list)?;
        let counters = self.counters.entry(number.list.clone()).or_default();
        // A restart applies only once.
        counters[level] = match (number.starts[level].take(), counters[level]) {
            (Some(start), _) => Some(start),
            (None, Some(last)) => Some(last.saturating_add(1)),
            (None, None) => Some(rules[level].start),
        };
        counters[level + 1..].fill(None);
        rules[level].number_style?;
        Some(level_text(rules, counters, level)).filter(|text| !text.trim().is_empty())
    }

    /// Returns the numbering instance and level of a paragraph: its own, or those of its style.
    fn resolve(&self, paragraph: &Paragraph) -> Option<(String, usize)> {
        let inherited = paragraph.style.as_deref().and_then(|style| self.style_numbering(style));
        let (number, level) = match (&paragraph.number, inherited) {
            (Some(number), inherited) => (number.clone(), inherited.map(|(_, level)| level)),
            (None, Some((number, level))) => (number, Some(level)),
            (None, None) => return None,
        };
        let level = paragraph.level.or(level).unwrap_or(0);
        (level < LEVELS && number != "0").then_some((number, level))
    }

    /// Returns the numbering instance of a style or its base style, and the level that the list assigns to the style.
    fn style_numbering(&self, style: &str) -> Option<(String, usize)> {
        let mut name = style;
        for _ in 0..LEVELS {
            let known = self.styles.get(name)?;
            if let Some(number) = &known.number {
                let list = self.numbers.get(number).and_then(|number| self.lists.get(&number.list));
                let list_level =
                    list.and_then(|rules| rules.iter().position(|rule| rule.style.as_deref() == Some(style)));
                return Some((number.clone(), list_level.or(known.level).unwrap_or(0)));
            }
            name = known.parent.as_deref()?;
        }
        None
    }
}

/// Formats the text of a level with the numbers of all levels up to it.
fn level_text(rules: &[Level; LEVELS], counters: &[Option<u32>; LEVELS], level: usize) -> String {
    let mut text = rules[level].text.clone();
    for (at, rule) in rules.iter().enumerate() {
        let number =
            rule.number_style.map(|style| style.format(counters[at].unwrap_or(rule.start))).unwrap_or_default();
        text = text.replace(&format!("%{}", at + 1), &number);
    }
    text
}

fn parse_level(own: &Attributes<'_>, name: &str) -> Option<usize> {
    own.get(name).and_then(|level| level.parse().ok()).filter(|level| *level < LEVELS)
}

/// Parses a number format; none for bullets and unnumbered levels.
fn parse_number_style(name: &str) -> Option<NumberStyle> {
    match name {
        "bullet" | "none" => None,
        "decimalZero" => Some(NumberStyle::Padded),
        "lowerLetter" => Some(NumberStyle::LowerLetter),
        "upperLetter" => Some(NumberStyle::UpperLetter),
        "lowerRoman" => Some(NumberStyle::LowerRoman),
        "upperRoman" => Some(NumberStyle::UpperRoman),
        _ => Some(NumberStyle::Decimal),
    }
}
