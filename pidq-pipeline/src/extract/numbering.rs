//! Numbers of paragraphs of Word, which the file has as rules and a reader sees as text: `3.2`, `a)`.

use std::collections::HashMap;

use super::Failure;
use super::archive::Archive;
use super::ordinals::Count;
use super::xml::{self, Attributes, Node};

/// Levels of a list.
const LEVELS: usize = 9;
/// Lists and styles that are remembered.
const MOST: usize = 10_000;

/// The rules of a document, and how far its lists have counted.
#[derive(Default)]
pub struct Numbering {
    lists: HashMap<String, [Level; LEVELS]>,
    /// The list of a number, and levels that it begins anew.
    numbers: HashMap<String, Number>,
    styles: HashMap<String, Style>,
    counted: HashMap<String, [Option<u32>; LEVELS]>,
}

#[derive(Clone, Debug)]
struct Level {
    start: u32,
    /// How it counts; nothing for a bullet.
    count: Option<Count>,
    /// The text with `%1` to `%9` for the numbers of the levels.
    text: String,
    style: Option<String>,
}

impl Default for Level {
    fn default() -> Self {
        Level { start: 1, count: None, text: String::new(), style: None }
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

/// What a paragraph says of its number.
#[derive(Default)]
pub struct Paragraph {
    pub style: Option<String>,
    pub number: Option<String>,
    pub level: Option<usize>,
}

impl Numbering {
    /// Reads the rules; a document without any has no numbers.
    pub fn of(archive: &mut Archive<'_>) -> Result<Numbering, Failure> {
        let mut numbering = Numbering::default();
        if archive.has("word/numbering.xml") {
            numbering.lists_of(archive)?;
            numbering.styles_of(archive)?;
        }
        Ok(numbering)
    }

    fn lists_of(&mut self, archive: &mut Archive<'_>) -> Result<(), Failure> {
        let (mut list, mut number, mut level) = (None, None, 0);
        xml::walk(archive.part("word/numbering.xml")?, |node| {
            match node {
                Node::Start("abstractNum", own) => list = own.get("abstractNumId"),
                Node::End("abstractNum") => list = None,
                Node::Start("num", own) => number = own.get("numId"),
                Node::End("num") => number = None,
                Node::Start("lvl" | "lvlOverride", own) => level = level_of(&own, "ilvl").unwrap_or(0),
                Node::Start(name, own) => match (&list, &number) {
                    (Some(list), _) => self.rule(list, level, name, &own),
                    (None, Some(number)) => self.number(number, level, name, &own),
                    (None, None) => {}
                },
                _ => {}
            }
            Ok(())
        })
    }

    fn rule(&mut self, list: &str, level: usize, name: &str, own: &Attributes<'_>) {
        if self.lists.len() >= MOST {
            return;
        }
        let rule = &mut self.lists.entry(list.to_owned()).or_default()[level];
        let value = own.get("val").unwrap_or_default();
        match name {
            "start" => rule.start = value.parse().unwrap_or(1),
            "numFmt" => rule.count = count(&value),
            "lvlText" => rule.text = value.chars().take(100).collect(),
            "pStyle" => rule.style = Some(value),
            _ => {}
        }
    }

    fn number(&mut self, number: &str, level: usize, name: &str, own: &Attributes<'_>) {
        if self.numbers.len() >= MOST {
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

    fn styles_of(&mut self, archive: &mut Archive<'_>) -> Result<(), Failure> {
        if !archive.has("word/styles.xml") {
            return Ok(());
        }
        let (mut id, mut style) = (None, Style::default());
        xml::walk(archive.part("word/styles.xml")?, |node| {
            match node {
                Node::Start("style", own) => (id, style) = (own.get("styleId"), Style::default()),
                Node::Start("numId", own) => style.number = own.get("val"),
                Node::Start("ilvl", own) => style.level = level_of(&own, "val"),
                Node::Start("basedOn", own) => style.parent = own.get("val"),
                Node::End("style") if self.styles.len() < MOST => {
                    if let Some(id) = id.take() {
                        self.styles.insert(id, std::mem::take(&mut style));
                    }
                }
                _ => {}
            }
            Ok(())
        })
    }

    /// Counts a paragraph, and says what stands before it.
    pub fn next(&mut self, paragraph: &Paragraph) -> Option<String> {
        let (id, level) = self.place(paragraph)?;
        let number = self.numbers.get_mut(&id)?;
        let rules = self.lists.get(&number.list)?;
        let counted = self.counted.entry(number.list.clone()).or_default();
        // A list that begins anew does so once.
        counted[level] = match (number.starts[level].take(), counted[level]) {
            (Some(start), _) => Some(start),
            (None, Some(last)) => Some(last.saturating_add(1)),
            (None, None) => Some(rules[level].start),
        };
        counted[level + 1..].fill(None);
        rules[level].count?;
        Some(shown(rules, counted, level)).filter(|text| !text.trim().is_empty())
    }

    /// The number and the level of a paragraph: its own, or those of its style.
    fn place(&self, paragraph: &Paragraph) -> Option<(String, usize)> {
        let of_style = paragraph.style.as_deref().and_then(|style| self.of_style(style));
        let (number, level) = match (&paragraph.number, of_style) {
            (Some(number), of_style) => (number.clone(), of_style.map(|(_, level)| level)),
            (None, Some((number, level))) => (number, Some(level)),
            (None, None) => return None,
        };
        let level = paragraph.level.or(level).unwrap_or(0);
        (level < LEVELS && number != "0").then_some((number, level))
    }

    /// The number of a style or of one that it is based on, and the level that the list has for the style.
    fn of_style(&self, style: &str) -> Option<(String, usize)> {
        let mut name = style;
        for _ in 0..LEVELS {
            let known = self.styles.get(name)?;
            if let Some(number) = &known.number {
                let list = self.numbers.get(number).and_then(|number| self.lists.get(&number.list));
                let of_list = list.and_then(|rules| rules.iter().position(|rule| rule.style.as_deref() == Some(style)));
                return Some((number.clone(), of_list.or(known.level).unwrap_or(0)));
            }
            name = known.parent.as_deref()?;
        }
        None
    }
}

/// The text of a level with the numbers of all levels down to it.
fn shown(rules: &[Level; LEVELS], counted: &[Option<u32>; LEVELS], level: usize) -> String {
    let mut text = rules[level].text.clone();
    for (at, rule) in rules.iter().enumerate() {
        let number = rule.count.map(|count| count.show(counted[at].unwrap_or(rule.start))).unwrap_or_default();
        text = text.replace(&format!("%{}", at + 1), &number);
    }
    text
}

fn level_of(own: &Attributes<'_>, name: &str) -> Option<usize> {
    own.get(name).and_then(|level| level.parse().ok()).filter(|level| *level < LEVELS)
}

/// How a list counts; nothing for bullets and for what has no number.
fn count(name: &str) -> Option<Count> {
    match name {
        "bullet" | "none" => None,
        "decimalZero" => Some(Count::Padded),
        "lowerLetter" => Some(Count::LowerLetter),
        "upperLetter" => Some(Count::UpperLetter),
        "lowerRoman" => Some(Count::LowerRoman),
        "upperRoman" => Some(Count::UpperRoman),
        _ => Some(Count::Decimal),
    }
}
